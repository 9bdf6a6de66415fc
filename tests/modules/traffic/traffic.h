/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lastref_traffic: two HCAs whose ports are cabled to each other talk, from the kernel.
 *
 * A conductor, one thread, plays the subnet manager for every port that comes up (manager.c), and
 * for each two ports that face each other keeps a pair of flows going (flow.c): datagrams, and a
 * connection that sends, writes and reads back.  Every byte that arrives is checked, and of every
 * request that is posted the completion is counted, in good times and when an HCA goes.
 */
#ifndef LASTREF_TRAFFIC_H
#define LASTREF_TRAFFIC_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <ib/client.h>
#include <ib/verbs.h>

#define TRAFFIC_DEPTH	16	/* requests of a queue that are under way */
#define TRAFFIC_BYTES	2048	/* of a message */
#define TRAFFIC_GRH	40
#define TRAFFIC_PORTS	2

struct traffic_flow;
struct traffic_port;

/**
 * enum traffic_kind - what a request is
 * @TRAFFIC_RECV: a receive
 * @TRAFFIC_SEND: a send
 * @TRAFFIC_WRITE: an RDMA write of a page
 * @TRAFFIC_READ: an RDMA read of the same page, to be compared
 */
enum traffic_kind {
	TRAFFIC_RECV,
	TRAFFIC_SEND,
	TRAFFIC_WRITE,
	TRAFFIC_READ,
};

/**
 * struct traffic_slot - a request and its memory
 * @cqe: what its completion finds it by
 * @flow: whose
 * @kind: what it is
 * @buf: its memory
 * @dma: its bus address
 * @again: posts it again, when there is a pace
 */
struct traffic_slot {
	struct ib_cqe cqe;
	struct traffic_flow *flow;
	enum traffic_kind kind;
	u8 *buf;
	dma_addr_t dma;
	struct delayed_work again;
};

/**
 * struct traffic_flow - one QP of a port and what goes through it
 * @port: the port
 * @type: IB_QPT_UD or IB_QPT_RC
 * @send_cq: polled in softirq
 * @recv_cq: polled on a work item
 * @qp: the QP
 * @ah: UD: to the other port
 * @peer_qpn: the other QP
 * @peer_addr: RC: the page of the other that is written and read
 * @peer_rkey: RC: its key
 * @slots: receives first, then sends, the RDMA write, the read, and what the other's go to
 * @dma_slots: how many have been mapped
 * @running: requests are posted again when they have completed
 * @broken: a request ended badly, or could not be posted
 * @numbering: a send is numbered and posted in one
 * @send_seq: of the next send
 * @recv_seq: RC: of the next receive
 * @posted: requests
 * @completed: completions
 */
struct traffic_flow {
	struct traffic_port *port;
	enum ib_qp_type type;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_qp *qp;
	struct ib_ah *ah;
	u32 peer_qpn;
	u64 peer_addr;
	u32 peer_rkey;
	struct traffic_slot slots[2 * TRAFFIC_DEPTH + 3];
	unsigned int dma_slots;
	bool running;
	bool broken;
	spinlock_t numbering; /* a send is numbered and posted in one */
	u32 send_seq;
	u32 recv_seq;
	atomic_t posted;
	atomic_t completed;
};

/**
 * struct traffic_port - a port
 * @hca: its HCA
 * @number: from 1
 * @lid: what the manager gives it
 * @qp0_cq: of @qp0
 * @qp0: holds the link up, where no MAD service does it
 * @link_done: @qp0 has been tried
 * @active: the manager has brought it to ACTIVE
 * @made: its flows exist
 * @flows: UD and RC
 */
struct traffic_port {
	struct traffic_hca *hca;
	u8 number;
	u16 lid;
	struct ib_cq *qp0_cq;
	struct ib_qp *qp0;
	bool link_done;
	bool active;
	bool made;
	struct traffic_flow flows[2];
};

/**
 * struct traffic_hca - a device that the client has been given
 * @node: in the conductor's list; under its lock
 * @attachment: the client's
 * @pd: protection domain
 * @mr: all memory
 * @events: subscription
 * @port_events: how many events of ports there were
 * @ports: its ports
 */
struct traffic_hca {
	struct list_head node;
	struct ib_attachment *attachment;
	struct ib_pd *pd;
	struct ib_mr *mr;
	struct ib_event_handler *events;
	atomic_t port_events;
	struct traffic_port ports[TRAFFIC_PORTS];
};

/**
 * struct traffic_totals - what is shown in debugfs; of all HCAs, for ever
 * @messages: received and found right, UD and RC
 * @rdma: pages written, read back and found right
 * @bad: bytes or numbers that were wrong
 * @flushed: requests that came back flushed
 * @errors: requests that ended otherwise badly
 * @lost: requests whose completion never came
 * @double_: completions too many
 * @adds: add_one that succeeded
 * @removes: remove_one
 * @resets: of them with reason RESET
 * @pairs: pairs of ports that were connected
 * @actives: ports that the manager has brought up
 * @cases: how often the cases of cases.c have been run
 * @cases_failed: how many of them failed
 */
struct traffic_totals {
	atomic64_t messages[2];
	atomic64_t rdma;
	atomic_t bad;
	atomic_t flushed;
	atomic_t errors;
	atomic_t lost;
	atomic_t double_;
	atomic_t adds;
	atomic_t removes;
	atomic_t resets;
	atomic_t pairs;
	atomic_t actives;
	atomic_t cases;
	atomic_t cases_failed;
};

extern struct traffic_totals traffic_totals;

static inline struct ib_device *traffic_device(const struct traffic_port *port)
{
	return port->hca->attachment->device;
}

/* manager.c */

/** traffic_port_link() - let the link come up: a QP0 of our own, if nobody else has one */
void traffic_port_link(struct traffic_port *port);

/** traffic_port_unlink() - its mirror */
void traffic_port_unlink(struct traffic_port *port);

/** traffic_port_manage() - one look at a port: a step towards ACTIVE, if it is not there */
void traffic_port_manage(struct traffic_port *port);

/* flow.c */

/** traffic_port_make() - the flows of a port; 0 or an error, with nothing left */
int traffic_port_make(struct traffic_port *port);

/** traffic_port_connect() - towards another port; both have been made */
int traffic_port_connect(struct traffic_port *port, struct traffic_port *peer);

/** traffic_port_start() - the first requests */
void traffic_port_start(struct traffic_port *port);

/** traffic_port_broken() - has something ended badly? */
bool traffic_port_broken(const struct traffic_port *port);

/** traffic_port_unmake() - drain and destroy the flows of a port; idempotent */
void traffic_port_unmake(struct traffic_port *port);

/* cases.c */

/**
 * traffic_cases() - every kind of object once, between two ports that are ACTIVE
 * @a: a port
 * @b: the port it is cabled to
 *
 * Return: how many cases failed; each has said so in the log.
 */
int traffic_cases(struct traffic_port *a, struct traffic_port *b);

#endif /* LASTREF_TRAFFIC_H */
