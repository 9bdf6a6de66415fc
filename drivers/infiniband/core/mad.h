/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the MAD service tell each other.
 *
 *   mad.c        the service, its devices and ports, and the one work item of a port
 *   mad_qp.c     QP0 and QP1: buffers, slots, what waits for one
 *   mad_agent.c  agents: made, found, destroyed
 *   mad_match.c  who wants which unsolicited MAD
 *   mad_send.c   sends, from post to done
 *   mad_timer.c  the one timer of a port
 *   mad_recv.c   where a received MAD goes
 *   mad_local.c  what the device itself answers, and the events that follow from it
 *   smi.c        directed routes
 *   rmpp_send.c, rmpp_recv.c  long messages
 *
 * A port has one lock and one work item.  The lock protects lists and states and is held over no
 * callback, no firmware command and no allocation that sleeps.  Whatever takes longer, callbacks
 * of owners above all, runs on the work item, which therefore sees one thing at a time; only
 * ib_mad_agent_destroy() calls back elsewhere.
 *
 * Lock order: &ib_mad_port.lock, then the HCA's, then what verbs take.
 */
#ifndef IB_CORE_MAD_H
#define IB_CORE_MAD_H

#include <linux/hashtable.h>
#include <linux/timerqueue.h>
#include <linux/xarray.h>

#include <ib/mad.h>

#include "core.h"
#include "smi.h"

/* Most sends of an agent that are under way. */
#define IB_MAD_AGENT_SENDS 16384
/*
 * Most received MADs of a port that wait to be looked at, own answers that wait for a slot, and
 * MADs for the device that agents have left behind.
 */
#define IB_MAD_BACKLOG 4096
/* What the work item does before others get their turn. */
#define IB_MAD_BATCH 64

struct ib_mad_owner;
struct ib_mad_qp;
struct ib_mad_sending;

/* ---- timers ---- */

/**
 * struct ib_mad_timer - something of a port that happens later; under the port's lock
 * @node: in &ib_mad_port.timers, while @armed; its time counts milliseconds of the HCA's clock
 * @armed: it is set
 * @fn: called on the work item, with the port's lock held
 */
struct ib_mad_timer {
	struct timerqueue_node node;
	bool armed;
	void (*fn)(struct ib_mad_port *port, struct ib_mad_timer *timer);
};

/* ---- the way to the wire ---- */

/**
 * struct ib_mad_queue - what one agent, or the service itself, has to send by a QP
 * @msgs: &ib_mad_msg.node
 * @count: how many
 * @ready: in &ib_mad_qp.ready while there are any: the agents take turns
 */
struct ib_mad_queue {
	struct list_head msgs;
	unsigned int count;
	struct list_head ready;
};

/**
 * struct ib_mad_msg - a MAD, or a message that RMPP cuts, on its way to a slot
 * @node: in a queue; empty if in none
 * @queue: that queue
 * @to: where to
 * @mad: IB_MAD_SIZE bytes; unused for RMPP
 * @sending: whose, or NULL: nobody waits for it, and it is freed when it has left
 */
struct ib_mad_msg {
	struct list_head node;
	struct ib_mad_queue *queue;
	struct ib_mad_addr to;
	u8 *mad;
	struct ib_mad_sending *sending;
};

/**
 * struct ib_mad_slot - a place in a send queue with a buffer of its own
 * @cqe: what the completion finds it by
 * @qp: whose
 * @node: in &ib_mad_qp.free or &ib_mad_qp.again
 * @ah: of the MAD under way
 * @qkey: for it
 * @qpn: for it
 * @pkey_index: for it
 * @sending: whose it is, or NULL; cleared when the send ends early
 */
struct ib_mad_slot {
	struct ib_cqe cqe;
	struct ib_mad_qp *qp;
	struct list_head node;
	struct ib_ah *ah;
	u32 qkey;
	u32 qpn;
	u16 pkey_index;
	struct ib_mad_sending *sending;
};

/**
 * struct ib_mad_buffer - a place in a receive queue
 * @cqe: what the completion finds it by
 * @qp: whose
 */
struct ib_mad_buffer {
	struct ib_cqe cqe;
	struct ib_mad_qp *qp;
};

/**
 * struct ib_mad_page - a page that slots or buffers share: memory in one piece may be scarce
 * @memory: the page
 * @dma: its address for the device
 */
struct ib_mad_page {
	void *memory;
	dma_addr_t dma;
};

/**
 * struct ib_mad_qp - QP0 or QP1 of a port; under the port's lock
 * @port: the port
 * @qp: the QP
 * @qpn: 0 or 1
 * @slots: send queue
 * @buffers: receive queue
 * @nslots: entries of @slots
 * @nbuffers: entries of @buffers
 * @pages: what all of them write to and read from, buffers first
 * @npages: entries of @pages
 * @free: &ib_mad_slot.node
 * @in_flight: slots that are with the hardware
 * @again: slots that were flushed because one before them failed
 * @broken: the send queue is in error, to be repaired by the work item
 * @ready: &ib_mad_queue.ready
 * @own: what the service itself sends
 */
struct ib_mad_qp {
	struct ib_mad_port *port;
	struct ib_qp *qp;
	u8 qpn;
	struct ib_mad_slot *slots;
	struct ib_mad_buffer *buffers;
	unsigned int nslots;
	unsigned int nbuffers;
	struct ib_mad_page *pages;
	unsigned int npages;
	struct list_head free;
	unsigned int in_flight;
	struct list_head again;
	bool broken;
	struct list_head ready;
	struct ib_mad_queue own;
};

/* ---- received ---- */

/**
 * struct ib_mad_rx - a received message with what only the service needs
 * @node: in &ib_mad_port.rx or &ib_mad_port.trash
 * @grh: of the packet, if there was one
 * @recv: what the owner sees; last
 */
struct ib_mad_rx {
	struct list_head node;
	u8 grh[IB_GRH_SIZE];
	struct ib_mad_recv recv;
};

/* ---- sends ---- */

/**
 * enum ib_mad_send_state - where a send stands
 * @IB_MAD_IDLE: with its owner
 * @IB_MAD_SENDING: waits for a slot, or is in one
 * @IB_MAD_WAITING: for the response
 * @IB_MAD_JOINING: the response is coming in, in segments
 * @IB_MAD_LOCAL: it goes to the device itself
 * @IB_MAD_ENDED: done has to be called
 */
enum ib_mad_send_state {
	IB_MAD_IDLE,
	IB_MAD_SENDING,
	IB_MAD_WAITING,
	IB_MAD_JOINING,
	IB_MAD_LOCAL,
	IB_MAD_ENDED,
};

/**
 * struct ib_rmpp_tx - a message being sent in segments
 * @total: how many
 * @data: bytes of user data in each
 * @sent: the last that was given to a slot
 * @top: the highest of those ever given to a slot
 * @acked: the last that the other side has confirmed
 * @window: the last it will take
 */
struct ib_rmpp_tx {
	u32 total;
	u32 data;
	u32 sent;
	u32 top;
	u32 acked;
	u32 window;
};

/**
 * struct ib_mad_sending - a send; under the port's lock while it is posted
 * @send: what the owner sees
 * @state: see enum ib_mad_send_state
 * @agent_node: in &ib_mad_owner.sends, from post until done is called
 * @node: in &ib_mad_port.done or &ib_mad_port.local
 * @hash: in &ib_mad_port.sends
 * @by_id: in &ib_mad_port.ids
 * @timer: in WAITING for the response, in JOINING for the rest of it; in SENDING with RMPP only,
 *	for the ACK, when all that the window allows has left: before that the hardware keeps time
 * @msg: on its way to a slot
 * @slots: slots that carry it
 * @tries: how often it may still be repeated
 * @redirected: it has followed a redirection
 * @local: it goes to the device itself, and so do its repetitions
 * @status: how it ended
 * @response: the response
 * @tx: RMPP
 */
struct ib_mad_sending {
	struct ib_mad_send send;
	enum ib_mad_send_state state;
	struct list_head agent_node;
	struct list_head node;
	struct hlist_node hash;
	struct hlist_node by_id;
	struct ib_mad_timer timer;
	struct ib_mad_msg msg;
	unsigned int slots;
	u32 tries;
	bool redirected;
	bool local;
	int status;
	struct ib_mad_recv *response;
	struct ib_rmpp_tx tx;
};

/* ---- agents ---- */

/**
 * struct ib_mad_owner - an agent, the service's view
 * @mad: what the owner sees
 * @node: in &ib_mad_port.agents
 * @queue: what it has to send
 * @sends: &ib_mad_sending.agent_node
 * @nsends: how many
 * @leaving: ib_mad_agent_destroy() has begun: no more posts
 * @tid: the last lower half of a TID that was handed out
 * @joins: messages that come in segments; of the work item, once the agent was begun
 * @njoins: how many
 * @buffered: bytes they take
 */
struct ib_mad_owner {
	struct ib_mad_agent mad;
	struct list_head node;
	struct ib_mad_queue queue;
	struct list_head sends;
	unsigned int nsends;
	bool leaving;
	atomic_t tid;
	struct list_head joins;
	unsigned int njoins;
	size_t buffered;
};

/* ---- ports ---- */

/**
 * struct ib_mad_match - who wants which unsolicited MAD
 * @table: an agent for each class version, class, OUI and method that somebody wants
 */
struct ib_mad_match {
	struct xarray table;
};

/**
 * struct ib_mad_seen - what an SM has set in a port, as last seen
 * @known: it has been asked for
 * @lid: LID
 * @lmc: LMC
 * @sm_lid: LID of the SM
 * @sm_sl: SL to the SM
 * @prefix: GID prefix
 */
struct ib_mad_seen {
	bool known;
	u64 prefix;
	u16 lid;
	u8 lmc;
	u16 sm_lid;
	u8 sm_sl;
};

/**
 * struct ib_mad_port - a port
 * @instance: the service on its device
 * @device: the device
 * @num: from 1
 * @lock: see above
 * @registering: one registration at a time; @match changes under it and @lock
 * @match: see there
 * @hi_tids: agents by number
 * @next_hi_tid: where the search for the next number begins
 * @agents: &ib_mad_owner.node
 * @sends: by TID
 * @ids: the same by &ib_mad_send.id
 * @last_id: &ib_mad_send.id of the last
 * @timers: see mad_timer.c
 * @tick: wakes @work for them
 * @tick_at: when, in milliseconds of the HCA's clock; 0: it is not queued
 * @clock_wait: wakes @work when a test moves its clock
 * @wq: what @work runs on
 * @work: the work item
 * @rx: &ib_mad_rx.node
 * @nrx: how many
 * @local: &ib_mad_sending.node
 * @errands: &ib_mad_errand.node: for the device, of agents that have gone
 * @nerrands: how many
 * @errand_turn: one of @errands is next, if there is one of @local as well
 * @done: &ib_mad_sending.node
 * @trash: &ib_mad_rx.node: to be freed by @work
 * @pd: protection domain
 * @cq: of both QPs
 * @qps: QP0 and QP1
 * @stopping: nothing is sent and nothing looked at any more
 * @dead: the hardware has given everything back: it is gone
 * @buried: what was under way then has ended
 * @lost: received MADs that were dropped for want of room or memory
 * @seen: see there; of the work item
 */
struct ib_mad_port {
	struct ib_service_instance *instance;
	struct ib_device *device;
	u8 num;
	spinlock_t lock; /* protects lists and states */
	struct mutex registering; /* one registration at a time */
	struct ib_mad_match match;
	struct xarray hi_tids;
	u32 next_hi_tid;
	struct list_head agents;
	DECLARE_HASHTABLE(sends, 8);
	DECLARE_HASHTABLE(ids, 10);
	u64 last_id;
	struct timerqueue_head timers;
	struct delayed_work tick;
	u64 tick_at;
	struct wait_queue_entry clock_wait;
	struct workqueue_struct *wq;
	struct work_struct work;
	struct list_head rx;
	unsigned int nrx;
	struct list_head local;
	struct list_head errands;
	unsigned int nerrands;
	bool errand_turn;
	struct list_head done;
	struct list_head trash;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_mad_qp qps[2];
	bool stopping;
	bool dead;
	bool buried;
	unsigned long lost;
	struct ib_mad_seen seen;
};

/**
 * struct ib_mad_device - the service on a device
 * @wq: for the work items of its ports
 * @ports: by number less one; NULL: not started, or it has no QPs
 * @nports: how many
 */
struct ib_mad_device {
	struct workqueue_struct *wq;
	unsigned int nports;
	struct ib_mad_port *ports[];
};

/* Who does RMPP himself may name a version as well, as programs do: the service keeps out of it. */
static inline bool ib_mad_does_rmpp(const struct ib_mad_agent_init *init)
{
	return init->rmpp && !init->user_rmpp;
}

static inline struct ib_mad_owner *ib_mad_owner_of(struct ib_mad_agent *mad)
{
	return container_of(mad, struct ib_mad_owner, mad);
}

static inline struct ib_mad_sending *ib_mad_sending_of(struct ib_mad_send *send)
{
	return container_of(send, struct ib_mad_sending, send);
}

static inline struct ib_mad_owner *ib_mad_sender(const struct ib_mad_sending *sending)
{
	return ib_mad_owner_of(sending->send.agent);
}

static inline struct ib_mad_rx *ib_mad_rx_of(struct ib_mad_recv *recv)
{
	return container_of(recv, struct ib_mad_rx, recv);
}

/* ---- mad.c ---- */
int ib_mad_init(void);
void ib_mad_exit(void);
void ib_mad_kick(struct ib_mad_port *port);

/* ---- mad_timer.c ---- */
void ib_mad_timers_init(struct ib_mad_port *port);
void ib_mad_timers_stop(struct ib_mad_port *port);
void ib_mad_timer_set(struct ib_mad_port *port, struct ib_mad_timer *timer, u32 ms);
void ib_mad_timer_clear(struct ib_mad_port *port, struct ib_mad_timer *timer);
bool ib_mad_timers_run(struct ib_mad_port *port);

/* ---- mad_qp.c ---- */
int ib_mad_qps_start(struct ib_mad_port *port);
void ib_mad_qps_stop(struct ib_mad_port *port);
void ib_mad_queue_init(struct ib_mad_queue *queue);
void ib_mad_queue_add(struct ib_mad_qp *qp, struct ib_mad_queue *queue, struct ib_mad_msg *msg);
void ib_mad_queue_del(struct ib_mad_msg *msg);
void ib_mad_pump(struct ib_mad_qp *qp);
void ib_mad_disown(struct ib_mad_qp *qp, struct ib_mad_sending *sending, bool deliver);
void ib_mad_send_own(struct ib_mad_qp *qp, const struct ib_mad_addr *to, const u8 *mad);
bool ib_mad_repair(struct ib_mad_qp *qp);
void ib_mad_tell_waiter(struct ib_mad_port *port);

/* ---- mad_agent.c, mad_match.c ---- */
struct ib_mad_owner *ib_mad_agent_begin(struct ib_mad_port *port, const struct ib_mad_recv *recv);
void ib_mad_agents_end_sends(struct ib_mad_port *port, int status);
void ib_mad_match_init(struct ib_mad_match *match);
void ib_mad_match_exit(struct ib_mad_match *match);
int ib_mad_match_add(struct ib_mad_match *match, struct ib_mad_owner *owner);
void ib_mad_match_del(struct ib_mad_match *match, struct ib_mad_owner *owner);
struct ib_mad_owner *ib_mad_match_find(struct ib_mad_match *match, const u8 *mad);

/* ---- mad_send.c ---- */
void ib_mad_send_end(struct ib_mad_port *port, struct ib_mad_sending *sending, int status);
void ib_mad_send_left(struct ib_mad_port *port, struct ib_mad_sending *sending, int status);
void ib_mad_send_wait(struct ib_mad_port *port, struct ib_mad_sending *sending);
void ib_mad_send_again(struct ib_mad_port *port, struct ib_mad_sending *sending);
struct ib_mad_sending *ib_mad_send_find(struct ib_mad_port *port, struct ib_mad_owner *owner,
					const struct ib_mad_recv *recv);
bool ib_mad_send_answer(struct ib_mad_port *port, struct ib_mad_owner *owner,
			struct ib_mad_rx *rx);
struct ib_mad_sending *ib_mad_send_take(struct ib_mad_owner *owner);
void ib_mad_send_deliver(struct ib_mad_sending *sending, enum ib_cb_result *result);
bool ib_mad_done_run(struct ib_mad_port *port);

/* ---- mad_recv.c, mad_local.c ---- */
struct ib_mad_rx *ib_mad_rx_alloc(u32 length, gfp_t gfp);
void ib_mad_rx_free(struct ib_mad_rx *rx);
void ib_mad_rx_trash(struct ib_mad_port *port, struct ib_mad_rx *rx);
bool ib_mad_rx_run(struct ib_mad_port *port);
bool ib_mad_hand_over(struct ib_mad_port *port, struct ib_mad_rx *rx);
void ib_mad_local_leave(struct ib_mad_port *port, const u8 *mad);
void ib_mad_local_drop(struct ib_mad_port *port);
bool ib_mad_local_run(struct ib_mad_port *port);
enum ib_mad_result ib_mad_ask_device(struct ib_mad_port *port, const u8 *mad,
				     const struct ib_mad_rx *rx, u8 *answer);
bool ib_mad_forward_trap(struct ib_mad_port *port, const struct ib_mad_rx *rx);

/* ---- rmpp_send.c, rmpp_recv.c ---- */
void ib_rmpp_tx_init(struct ib_mad_sending *sending);
bool ib_rmpp_tx_next(struct ib_mad_sending *sending, u8 *mad);
bool ib_rmpp_tx_more(const struct ib_mad_sending *sending);
void ib_rmpp_tx_left(struct ib_mad_port *port, struct ib_mad_sending *sending);
void ib_rmpp_tx_expired(struct ib_mad_port *port, struct ib_mad_sending *sending);
void ib_rmpp_tx_reply(struct ib_mad_port *port, struct ib_mad_owner *owner,
		      const struct ib_mad_recv *recv);

/**
 * struct ib_rmpp_control - what an ACK, STOP or ABORT says
 * @type: IB_RMPP_ACK, ...
 * @status: IB_RMPP_NORMAL, ...
 * @segment: ACK: the last that has come
 * @window: ACK: the last that may be sent
 * @flip: the MAD that is answered goes the other way: its response bit is turned round
 */
struct ib_rmpp_control {
	u8 type;
	u8 status;
	u32 segment;
	u32 window;
	bool flip;
};

void ib_rmpp_say(struct ib_mad_qp *qp, const struct ib_mad_addr *to, const u8 *mad,
		 const struct ib_rmpp_control *control);
struct ib_mad_rx *ib_rmpp_rx(struct ib_mad_port *port, struct ib_mad_owner *owner,
			     struct ib_mad_rx *rx);
void ib_rmpp_forget(struct ib_mad_port *port, struct ib_mad_owner *owner);
void ib_rmpp_forget_answer(struct ib_mad_port *port, struct ib_mad_owner *owner,
			   const struct ib_mad_recv *recv);

#endif /* IB_CORE_MAD_H */
