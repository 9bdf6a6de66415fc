/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IP over InfiniBand (RFC 4391, RFC 4392), datagram mode.
 *
 * Two lifetimes.  An interface (struct ipoib_iface, the private area of a net_device) is what users
 * see; a port of an HCA (struct ipoib_dev, one for each attachment) is what it stands on.  An
 * interface may be without one: between two incarnations of the HCA, or on its way out.
 *
 * Who may do what:
 *
 *   work.c    owns every IB object of an interface and is the only one that creates and destroys
 *             them; one work item for each interface, on the queue of its device, without RTNL
 *   RTNL      what the network stack shows: addresses, MTU, children; never waits for the SM, and
 *             for hardware at most IPOIB_RTNL_WAIT
 *   softirq   the data path: looks paths and groups up under RCU, leaves notes for the work item
 */
#ifndef IPOIB_H
#define IPOIB_H

#include <linux/kref.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <ib/client.h>
#include <ib/compat.h>
#include <ib/multicast.h>

#include "addr.h"
#include "ladder.h"

/* How long those who hold RTNL wait for hardware, all interfaces of one hold together. */
#define IPOIB_RTNL_WAIT HZ
/* How long a netdev waits for the next incarnation of its HCA. */
#define IPOIB_PARKED_SECONDS 60
/* Paths and send-only groups that nobody used for two of these go. */
#define IPOIB_GC_INTERVAL (30 * HZ)
/* What is not used for so long goes; senders' groups sooner when many, not before the latter. */
#define IPOIB_AGE_MAX (2 * IPOIB_GC_INTERVAL)
#define IPOIB_AGE_MIN (6 * HZ)
/* Packets that wait for a path, and for a group. */
#define IPOIB_PATH_QUEUE 3
#define IPOIB_GROUP_QUEUE 64
/* Groups of an interface that there are because somebody sends to them. */
#define IPOIB_SENT_GROUPS_MAX 4096
/* Completions taken at a time. */
#define IPOIB_BATCH 16

/* The bit of &ib_device_attr.device_cap_flags that promises checksums for datagrams. */
#define IPOIB_CAP_UD_CSUM BIT_ULL(18)

#define IPOIB_RING_MIN 16
#define IPOIB_RING_MAX 8192
#define IPOIB_TX_DEFAULT 128
#define IPOIB_RX_DEFAULT 256

/**
 * struct ipoib_sa_ops - what is asked of the SA client and the multicast service
 * @query_start: ib_sa_query_start()
 * @query_cancel: ib_sa_query_cancel()
 * @result_record: ib_sa_result_record()
 * @join: ib_mcast_join()
 * @leave: ib_mcast_leave()
 * @find: ib_mcast_find()
 *
 * Here, so that a test can be the subnet.
 */
struct ipoib_sa_ops {
	int (*query_start)(struct ib_attachment *attachment, const struct ib_sa_request *request,
			   struct ib_sa_query **query);
	void (*query_cancel)(struct ib_sa_query *query);
	int (*result_record)(const struct ib_sa_result *result, unsigned int index,
			     union ib_sa_record *record);
	int (*join)(struct ib_attachment *attachment, const struct ib_mcast_request *request,
		    struct ib_mcast_member **member);
	void (*leave)(struct ib_mcast_member *member);
	int (*find)(struct ib_attachment *attachment, u8 port, const union ib_gid *mgid,
		    struct ib_sa_mcmember *record);
};

/* Those of the services, unless a test has put others there. */
extern const struct ipoib_sa_ops *ipoib_sa;

/**
 * struct ipoib_dev - a device that interfaces stand on
 * @ref: memory
 * @attachment: the pair; its memory is kept
 * @ib: the device
 * @dma: what memory is mapped for
 * @pd: of all interfaces
 * @events: the subscription
 * @wq: the interfaces' work items
 * @lock: protects @ifaces and @closed; inside RTNL, never the other way round
 * @ifaces: &ipoib_iface.dev_node
 * @closed: no interface may come any more
 * @empty: woken when @ifaces has become empty
 * @nports: entries of @ports
 * @ports: the interface of each port; index 0 is port 1; NULL: none
 */
struct ipoib_dev {
	struct kref ref;
	struct ib_attachment *attachment;
	struct ib_device *ib;
	struct device *dma;
	struct ib_pd *pd;
	struct ib_event_handler *events;
	struct workqueue_struct *wq;
	struct mutex lock; /* protects ifaces and closed */
	struct list_head ifaces;
	bool closed;
	wait_queue_head_t empty;
	unsigned int nports;
	struct ipoib_iface *ports[];
};

/**
 * struct ipoib_ah - an address handle, shared by its path or group and by the sends that use it
 * @ref: how many
 * @ah: the verbs object
 * @rcu: frees it
 */
struct ipoib_ah {
	struct kref ref;
	struct ib_ah *ah;
	struct rcu_head rcu;
};

/* A path or a group waits for the work item because of: */
#define IPOIB_NOTE_ASK BIT(0)
#define IPOIB_NOTE_ANSWER BIT(1)
/* It has left the table: nobody may leave a note or a packet any more. */
#define IPOIB_NOTE_DEAD BIT(2)

/**
 * struct ipoib_path - the way to a GID; see path.c
 * @node: in &ipoib_iface.paths
 * @gid: where to
 * @ah: how; NULL while not known; RCU
 * @used: when a packet last looked for it, in jiffies
 * @stale: @ah is used, but the next packet asks anew
 * @lock: protects @queue, @notes, @error, @record
 * @queue: packets that wait for @ah, at most IPOIB_PATH_QUEUE
 * @notes: IPOIB_NOTE_*
 * @error: of the answer
 * @record: the answer
 * @todo: in &ipoib_iface.path_notes while there are notes
 * @all: in &ipoib_iface.path_list; under the list's lock
 * @iface: whose
 * @query: the work item's
 * @rcu: frees it
 */
struct ipoib_path {
	struct rhash_head node;
	union ib_gid gid;
	struct ipoib_ah __rcu *ah;
	unsigned long used;
	bool stale;
	spinlock_t lock; /* protects what follows, up to todo */
	struct sk_buff_head queue;
	unsigned long notes;
	int error;
	struct ib_sa_path record;
	struct list_head todo;
	struct list_head all;
	struct ipoib_iface *iface;
	struct ib_sa_query *query;
	struct rcu_head rcu;
};

/**
 * struct ipoib_group - a multicast group; see group.c
 * @node: in &ipoib_iface.groups
 * @mgid: the group
 * @ah: how to send to it; NULL while not joined; RCU
 * @used: when a packet was last sent to it, in jiffies
 * @lock: protects @queue, @notes, @report
 * @queue: packets that wait for @ah, at most IPOIB_GROUP_QUEUE
 * @notes: IPOIB_NOTE_*
 * @report: the last that was heard
 * @todo: in &ipoib_iface.group_notes while there are notes
 * @all: in &ipoib_iface.group_list; under the list's lock
 * @iface: whose
 *
 * The rest is the work item's:
 * @member: the membership
 * @record: what the group is like, once joined
 * @full: receives too; else send-only
 * @wanted: it is in the interface's multicast list (or is the broadcast group)
 * @sent: it counts among the &ipoib_iface.sent_groups
 * @seen: &ipoib_iface.list_round in which it was in the list
 * @joined: the join has succeeded
 * @attached: the QP receives its packets
 * @mlid: which it was attached with
 * @failures: failed joins in a row
 * @retry_at: when to try again, in jiffies; 0: not waiting
 * @rcu: frees it
 */
struct ipoib_group {
	struct rhash_head node;
	union ib_gid mgid;
	struct ipoib_ah __rcu *ah;
	unsigned long used;
	spinlock_t lock; /* protects what follows, up to todo */
	struct sk_buff_head queue;
	unsigned long notes;
	struct ib_mcast_report report;
	struct list_head todo;
	struct list_head all;
	struct ipoib_iface *iface;

	struct ib_mcast_member *member;
	struct ib_sa_mcmember record;
	bool full;
	bool wanted;
	bool sent;
	u32 seen;
	bool joined;
	bool attached;
	u16 mlid;
	unsigned int failures;
	unsigned long retry_at;
	struct rcu_head rcu;
};

/**
 * struct ipoib_tx - a send that has not completed
 * @skb: the packet
 * @ah: where to
 * @count: entries of @dma
 * @linear: bytes of the linear part that are mapped, in the first entry; 0: none
 * @dma: where its pieces are mapped
 */
struct ipoib_tx {
	struct sk_buff *skb;
	struct ipoib_ah *ah;
	u16 linear;
	u8 count;
	dma_addr_t dma[MAX_SKB_FRAGS + 1];
};

/**
 * struct ipoib_rx - a receive buffer
 * @skb: the buffer; NULL: none
 * @dma: where it is mapped
 */
struct ipoib_rx {
	struct sk_buff *skb;
	dma_addr_t dma;
};

/**
 * struct ipoib_queues - the queues of an interface from MADE to BARE; see queues.c
 * @qp: the UD QP
 * @rx_cq: receives
 * @tx_cq: sends
 * @rx_size: receives that are posted
 * @tx_size: sends that may be outstanding, a power of two
 * @buf_size: bytes of a receive buffer
 * @max_sge: pieces of a send
 * @lso: the QP can cut large packets
 * @posting: receives are posted again; written while the poll functions may run
 * @kept: the hardware may still use the buffers: nothing more happens with these queues
 * @kept_node: in the list of those, where they stay for ever
 * @epoch: how often the QP was started; the upper half of each wr_id
 * @rx: receive buffers
 * @tx: sends
 * @tx_head: next slot of @tx; under the transmit lock
 * @tx_done: next slot of @tx that completes; of the poll function
 * @tx_tail: oldest slot that is in use, behind @tx_done from the first flush on; the same
 * @rx_posted: receives that have not completed
 * @wc: room for completions of @rx_cq
 * @tx_wc: room for completions of @tx_cq
 */
struct ipoib_queues {
	struct ib_qp *qp;
	struct ib_cq *rx_cq;
	struct ib_cq *tx_cq;
	unsigned int rx_size;
	unsigned int tx_size;
	unsigned int buf_size;
	unsigned int max_sge;
	bool lso;
	bool posting;
	bool kept;
	struct list_head kept_node;
	u32 epoch;
	struct ipoib_rx *rx;
	struct ipoib_tx *tx;
	unsigned int tx_head;
	unsigned int tx_done;
	unsigned int tx_tail;
	atomic_t rx_posted;
	struct ib_wc wc[IPOIB_BATCH];
	struct ib_wc tx_wc[IPOIB_BATCH];
};

/**
 * struct ipoib_moderation - one interrupt for so many completions or so long, whichever is first
 * @usecs: how long, in microseconds; 0: at once
 * @frames: how many; 0: each
 */
struct ipoib_moderation {
	u16 usecs;
	u16 frames;
};

/**
 * struct ipoib_shown - what the network stack has to show of an interface
 * @qpn: number of the QP, 0 while there is none
 * @pkey: partition
 * @gid: GID
 * @group_mtu: most that the broadcast group carries in a packet; 0: not known
 * @max_mtu: most that the port carries
 * @lso: the HCA cuts large packets
 * @csum: the HCA knows checksums
 * @up: there is carrier
 */
struct ipoib_shown {
	u32 qpn;
	u16 pkey;
	union ib_gid gid;
	unsigned int group_mtu;
	unsigned int max_mtu;
	bool lso;
	bool csum;
	bool up;
};

/**
 * struct ipoib_counts - what `ethtool -S` shows beside the usual
 * @path_queries: paths asked for
 * @path_errors: answers that were none
 * @joins: groups joined
 * @join_errors: joins that failed
 * @flush_light: flushes, by level
 * @flush_normal: the same
 * @flush_heavy: the same
 * @restarts: how often the QP was set up again
 * @tx_dropped_unknown: packets of protocols that IPoIB does not carry
 * @tx_dropped_waiting: packets for which there was no room to wait, or no answer
 * @tx_linearized: packets of too many pieces
 * @tx_tso: packets that the HCA cut
 * @rx_copied: small packets that were copied
 */
struct ipoib_counts {
	atomic_long_t path_queries;
	atomic_long_t path_errors;
	atomic_long_t joins;
	atomic_long_t join_errors;
	atomic_long_t flush_light;
	atomic_long_t flush_normal;
	atomic_long_t flush_heavy;
	atomic_long_t restarts;
	atomic_long_t tx_dropped_unknown;
	atomic_long_t tx_dropped_waiting;
	atomic_long_t tx_linearized;
	atomic_long_t tx_tso;
	atomic_long_t rx_copied;
};

/**
 * enum ipoib_kind - how an interface came to be
 * @IPOIB_PORT: with the port
 * @IPOIB_CHILD: by create_child
 * @IPOIB_LINK: by `ip link add`
 */
enum ipoib_kind {
	IPOIB_PORT,
	IPOIB_CHILD,
	IPOIB_LINK,
};

/**
 * struct ipoib_iface - an interface
 * @netdev: its net_device, whose private area this is
 * @tracker: of the reference that is held while the interface stands on a device
 * @kind: how it came to be
 * @port: of the HCA, from 1
 * @child_pkey: partition of a child, with the full member bit; 0: what the port has at index 0
 * @ready: the tables exist
 *
 * Under RTNL:
 * @parent: of a child
 * @children: &ipoib_iface.sibling
 * @sibling: in @children of the parent
 * @user_guid: what the user has set for the interface part of the GID, or 0
 * @admin_mtu: what the user wants
 * @peers_know: nobody has to be told of another address
 * @group_limits: the MTU is being set because of the group, not by the user
 * @umcast: groups that a user program has joined are left to it
 * @netdev_work: brings what the stack shows up to date; takes RTNL, nobody waits for it
 * @reap_work: unregisters it
 * @unlisted: it has been unregistered; @moved is woken
 *
 * Parking (parking.c):
 * @parked_node: in the list of the parked
 * @parked_parent: the function it waits for
 * @parked_until: when it has waited long enough, in jiffies
 * @parked_work: looks then
 *
 * Wishes, from anywhere:
 * @lock: protects @dev, @present, @shown; a leaf
 * @dev: what it stands on, or NULL
 * @dev_node: in &ipoib_dev.ifaces
 * @present: it shall stand on it
 * @shown: written by the work item for @netdev_work
 * @up: the user wants it up
 * @flush: highest enum ipoib_flush that was asked for
 * @list_changed: the multicast list is not the one that was looked at
 * @moderate: interrupt moderation is not what the user wants
 * @rx_moderation: of receives
 * @tx_moderation: of sends
 * @rx_wanted: size of the receive queue, the next time it is made
 * @tx_wanted: of the send queue
 * @note_lock: protects the four lists; inside the locks of paths and groups
 * @path_notes: &ipoib_path.todo
 * @group_notes: &ipoib_group.todo
 * @path_list: &ipoib_path.all
 * @group_list: &ipoib_group.all
 * @work: runs the machine
 *
 * The work item's; others only look:
 * @rung: where it stands
 * @moved: woken when that changes
 * @facts: those of the present rung
 * @error: why it does not stand higher, if something failed
 * @failures: in a row
 * @retry_at: when the machine tries again, in jiffies
 * @gc_last: when the tables were last looked through, in jiffies
 * @groups_at: when a group is next to be joined, in jiffies; 0: none waits
 * @list_round: how often the multicast list was looked at
 * @broadcast: the broadcast group
 * @qkey: of all packets
 * @group_mtu: of packets, by the broadcast group; 0: not known
 * @max_mtu: what the port can
 * @drained: woken when the last posted request has completed
 *
 * The data path's:
 * @queues: what is used from MADE on
 * @running: packets may be posted; written under the transmit lock
 * @pkey: partition of the groups that are sent to
 * @paths: &ipoib_path.node
 * @groups: &ipoib_group.node
 * @npaths: entries of @paths
 * @sent_groups: entries of @groups that senders made
 * @sent_groups_max: how many those may be
 * @rx_napi: polls receives
 * @tx_napi: polls sends
 * @counts: for `ethtool -S`
 */
struct ipoib_iface {
	struct net_device *netdev;
	netdevice_tracker tracker;
	enum ipoib_kind kind;
	u8 port;
	u16 child_pkey;
	bool ready;

	struct ipoib_iface *parent;
	struct list_head children;
	struct list_head sibling;
	__be64 user_guid;
	unsigned int admin_mtu;
	bool peers_know;
	bool group_limits;
	bool umcast;
	struct work_struct netdev_work;
	struct work_struct reap_work;
	bool unlisted;

	struct list_head parked_node;
	struct device *parked_parent;
	unsigned long parked_until;
	struct delayed_work parked_work;

	spinlock_t lock; /* protects dev, present and shown */
	struct ipoib_dev *dev;
	struct list_head dev_node;
	bool present;
	struct ipoib_shown shown;
	bool up;
	atomic_t flush;
	bool list_changed;
	bool moderate;
	struct ipoib_moderation rx_moderation;
	struct ipoib_moderation tx_moderation;
	unsigned int rx_wanted;
	unsigned int tx_wanted;
	spinlock_t note_lock; /* protects the lists that follow */
	struct list_head path_notes;
	struct list_head group_notes;
	struct list_head path_list;
	struct list_head group_list;
	struct delayed_work work;

	enum ipoib_rung rung;
	wait_queue_head_t moved;
	struct ipoib_facts facts;
	int error;
	unsigned int failures;
	unsigned long retry_at;
	unsigned long gc_last;
	unsigned long groups_at;
	u32 list_round;
	struct ipoib_group *broadcast;
	u32 qkey;
	unsigned int group_mtu;
	unsigned int max_mtu;
	wait_queue_head_t drained;

	struct ipoib_queues *queues;
	bool running;
	u16 pkey;
	struct rhashtable paths;
	struct rhashtable groups;
	atomic_t npaths;
	atomic_t sent_groups;
	int sent_groups_max;
	struct napi_struct rx_napi;
	struct napi_struct tx_napi;
	struct ipoib_counts counts;
};

extern unsigned int ipoib_send_queue_size;
extern unsigned int ipoib_recv_queue_size;
extern struct ib_client ipoib_client;
extern struct rtnl_link_ops ipoib_link_ops;
extern const struct ethtool_ops ipoib_ethtool_ops;
extern const struct attribute_group ipoib_port_attrs;
extern const struct attribute_group ipoib_child_attrs;

/* What is written into the log is written by the interface's name. */
#define ipoib_info(iface, ...) netdev_info((iface)->netdev, __VA_ARGS__)
#define ipoib_warn(iface, ...) netdev_warn((iface)->netdev, __VA_ARGS__)
#define ipoib_err(iface, ...) netdev_err((iface)->netdev, __VA_ARGS__)
#define ipoib_dbg(iface, ...) netdev_dbg((iface)->netdev, __VA_ARGS__)

/* port.c: devices, and interfaces that come and go with them */
void ipoib_dev_put(struct ipoib_dev *dev);
struct ipoib_dev *ipoib_dev_of(struct ipoib_iface *iface);

/* parking.c: netdevs that wait for the next incarnation of their HCA */
void ipoib_parking_prepare(struct ipoib_iface *iface);
void ipoib_park(struct ipoib_iface *iface, struct device *parent);
struct ipoib_iface *ipoib_unpark(struct device *parent, u8 port);
int ipoib_parking_init(void);
void ipoib_parking_exit(void);

/* reaper.c: work that takes RTNL and waits for foreign references */
void ipoib_reap_prepare(struct ipoib_iface *iface);
void ipoib_reap(struct ipoib_iface *iface);
void ipoib_reap_wait(struct ipoib_iface *iface);
int ipoib_reaper_init(void);
void ipoib_reaper_exit(void);
extern struct workqueue_struct *ipoib_rtnl_wq;

/* budget.c: how long those who hold RTNL wait */
long ipoib_rtnl_left(void);
void ipoib_rtnl_spent(long spent);
#define ipoib_rtnl_wait(wait) \
	({ \
		unsigned long __begin = jiffies; \
		bool __ok = (wait); \
		\
		ipoib_rtnl_spent(jiffies - __begin); \
		__ok; \
	})

/* netdev.c */
void ipoib_setup(struct net_device *netdev);
int ipoib_iface_prepare(struct net_device *netdev, struct ipoib_dev *dev, u8 port, u16 child_pkey,
			enum ipoib_kind kind);
void ipoib_iface_discard(struct ipoib_iface *iface);
void ipoib_netdev_sync(struct ipoib_iface *iface);
void ipoib_netdev_tell(struct ipoib_iface *iface);
bool ipoib_is_ours(const struct net_device *netdev);

/* work.c: the machine */
int ipoib_attach(struct ipoib_iface *iface, struct ipoib_dev *dev);
void ipoib_detach(struct ipoib_iface *iface);
bool ipoib_detach_wait(struct ipoib_iface *iface, unsigned long timeout);
void ipoib_kick(struct ipoib_iface *iface);
void ipoib_ask(struct ipoib_iface *iface, enum ipoib_flush flush);
bool ipoib_settle(struct ipoib_iface *iface, enum ipoib_rung lowest, enum ipoib_rung highest,
		  unsigned long timeout);
void ipoib_work_init(struct ipoib_iface *iface);

/* facts.c */
void ipoib_look(struct ipoib_iface *iface, struct ipoib_facts *facts);

/* queues.c */
int ipoib_queues_make(struct ipoib_iface *iface);
void ipoib_queues_unmake(struct ipoib_iface *iface);
int ipoib_queues_start(struct ipoib_iface *iface);
void ipoib_queues_stop(struct ipoib_iface *iface);
int ipoib_queues_set_qkey(struct ipoib_iface *iface, u32 qkey);
void ipoib_queues_moderate(struct ipoib_iface *iface);

/* rx.c, tx.c */
int ipoib_rx_fill(struct ipoib_iface *iface);
void ipoib_rx_release(struct ipoib_iface *iface);
int ipoib_rx_poll(struct napi_struct *napi, int budget);
void ipoib_tx_release(struct ipoib_iface *iface);
unsigned int ipoib_tx_keep(struct ipoib_iface *iface);
int ipoib_tx_poll(struct napi_struct *napi, int budget);
netdev_tx_t ipoib_xmit(struct sk_buff *skb, struct net_device *netdev);
void ipoib_post(struct ipoib_iface *iface, struct sk_buff *skb, struct ipoib_ah *ah, u32 qpn);
bool ipoib_is_drained(struct ipoib_iface *iface);

/* When something was last used; written only if that changes, for the sake of the cache. */
static inline void ipoib_touch(unsigned long *used)
{
	unsigned long now = READ_ONCE(jiffies);

	if (READ_ONCE(*used) != now)
		WRITE_ONCE(*used, now);
}

/* path.c */
int ipoib_paths_init(struct ipoib_iface *iface);
void ipoib_paths_exit(struct ipoib_iface *iface);
void ipoib_path_xmit(struct ipoib_iface *iface, struct sk_buff *skb);
void ipoib_paths_work(struct ipoib_iface *iface);
void ipoib_paths_stale(struct ipoib_iface *iface);
void ipoib_paths_flush(struct ipoib_iface *iface);
void ipoib_paths_gc(struct ipoib_iface *iface);

/* group.c */
int ipoib_groups_init(struct ipoib_iface *iface);
void ipoib_groups_exit(struct ipoib_iface *iface);
void ipoib_group_xmit(struct ipoib_iface *iface, struct sk_buff *skb);
void ipoib_groups_work(struct ipoib_iface *iface);
int ipoib_groups_begin(struct ipoib_iface *iface);
void ipoib_groups_flush(struct ipoib_iface *iface);
void ipoib_groups_gc(struct ipoib_iface *iface);
unsigned long ipoib_groups_age(struct ipoib_iface *iface);

/* ah.c */
struct ipoib_ah *ipoib_ah_create(struct ipoib_iface *iface, const struct ib_ah_attr *attr);
void ipoib_ah_put(struct ipoib_ah *ah);

/* Take a reference for a send; under RCU, on what was found in a path or group. */
static inline bool ipoib_ah_get(struct ipoib_ah *ah)
{
	return kref_get_unless_zero(&ah->ref);
}

/* netlink.c */
int ipoib_netlink_init(void);
void ipoib_netlink_exit(void);

/* Its partition, with the full member bit, as the network stack sees it. */
static inline u16 ipoib_pkey_shown(struct ipoib_iface *iface)
{
	return READ_ONCE(iface->shown.pkey);
}

/* child.c */
int ipoib_child_add(struct ipoib_iface *parent, struct net_device *netdev, u16 pkey,
		    enum ipoib_kind kind);
int ipoib_child_create(struct ipoib_iface *parent, unsigned long value);
int ipoib_child_delete(struct ipoib_iface *parent, unsigned long value);
int ipoib_mode_set(struct ipoib_iface *iface, bool connected, struct netlink_ext_ack *extack);
void ipoib_umcast_set(struct ipoib_iface *iface, bool on);

#endif /* IPOIB_H */
