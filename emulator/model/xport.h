/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the transport: QPs, CQs, SRQs and the packets between them.
 *
 *   sched.c     doorbells, the list of QPs with work, the budget of one step
 *   ctx.c       contexts;  wqe.c: work queue entries;  wire.c, crc.c, fields.c: packets
 *   qp.c        QP commands;  qp_state.c: what a transition takes, error state, flushing
 *   cq.c, cq_resize.c, srq.c: completion queues and shared receive queues
 *   sq.c        requester: starts WQEs and sends their packets;  sq_ack.c: takes the responses
 *   local.c     WQEs that send nothing: fast register, invalidate, bind
 *   rq.c        receive WQEs and where payload goes
 *   resp.c      responder: takes requests;  resp_tx.c: sends acknowledges and read data
 *   ud.c, lso.c, csum.c, mlx.c: datagrams;  rx.c, tx.c: packets in and out
 *   apm.c       path migration
 *
 * Nothing recurses: a received packet changes state and puts QPs on the ready list; packets leave
 * only from xport_run(). The one exception is loopback, where sending calls the receiver, which
 * does not send. So after sending, the state of any QP may have changed.
 */
#ifndef CX3_MODEL_XPORT_H
#define CX3_MODEL_XPORT_H

#include "ctx.h"
#include "hca.h"
#include "wire.h"
#include "wqe.h"

/* Requests a QP may have in flight; a power of two. */
#define SQ_WINDOW 128u
/* Work of one entry from outside. */
#define STEP_PACKETS 64
/* Then the rest follows after this virtual time. */
#define STEP_NS 1000u
/* How often a QP in error looks for receives posted later (there is no doorbell for them). */
#define FLUSH_POLL_NS 100000u
#define FLUSH_POLL_MAX_NS 10000000u

/* Syndromes of error completions. */
enum cqe_syndrome {
	SYN_OK = 0,
	SYN_LOCAL_LENGTH = 0x01,
	SYN_LOCAL_QP_OP = 0x02,
	SYN_LOCAL_PROT = 0x04,
	SYN_FLUSH = 0x05,
	SYN_MW_BIND = 0x06,
	SYN_BAD_RESPONSE = 0x10,
	SYN_LOCAL_ACCESS = 0x11,
	SYN_REMOTE_INVALID = 0x12,
	SYN_REMOTE_ACCESS = 0x13,
	SYN_REMOTE_OP = 0x14,
	SYN_RETRY_EXCEEDED = 0x15,
	SYN_RNR_EXCEEDED = 0x16,
	SYN_REMOTE_ABORT = 0x22,
};

/* Opcodes of send WQEs; send CQEs repeat them. */
enum wqe_opcode {
	WQE_NOP = 0x00,
	WQE_SEND_INVAL = 0x01,
	WQE_WRITE = 0x08,
	WQE_WRITE_IMM = 0x09,
	WQE_SEND = 0x0a,
	WQE_SEND_IMM = 0x0b,
	WQE_LSO = 0x0e,
	WQE_READ = 0x10,
	WQE_CMP_SWAP = 0x11,
	WQE_FETCH_ADD = 0x12,
	WQE_MASKED_CS = 0x14,
	WQE_MASKED_FA = 0x15,
	WQE_BIND_MW = 0x18,
	WQE_FAST_REG = 0x19,
	WQE_LOCAL_INV = 0x1b,
};

/* Opcodes of receive CQEs, and the two special ones. */
#define CQE_RECV_WRITE_IMM 0x00
#define CQE_RECV_SEND 0x01
#define CQE_RECV_SEND_IMM 0x02
#define CQE_RECV_SEND_INVAL 0x03
#define CQE_RESIZE 0x16
#define CQE_ERROR 0x1e

/**
 * struct cqe - a completion queue entry in host order
 * @qpn: local QPN
 * @imm: immediate, invalidated key, or P_Key index
 * @grh: a GRH came with it
 * @path_bits: low bits of the destination LID
 * @rqpn: remote QPN, or SRQN for XRC
 * @sl: service level
 * @slid: source LID
 * @ip_status: IPoIB checksum status bits
 * @l4_ok: TCP or UDP checksum is right
 * @bytes: byte count
 * @wqe: WQE counter or index
 * @checksum: 0xffff when the IP checksum is right
 * @send: completion of a send
 * @inline_scatter: payload is in the WQE
 * @opcode: as above
 * @vendor: error entries: vendor syndrome
 * @syndrome: error entries
 */
struct cqe {
	u32 qpn, imm;
	u8 grh, path_bits;
	u32 rqpn;
	u8 sl;
	u16 slid, ip_status;
	u8 l4_ok;
	u32 bytes;
	u16 wqe, checksum;
	u8 send, inline_scatter, opcode, vendor, syndrome;
};

/**
 * struct cx3_cq - a live CQ
 * @obj: head
 * @c: context; c.pi runs on in 32 bits
 * @buf: ring
 * @timer: moderation
 * @held: CQEs since the event was held back
 * @fire: an event is held back
 * @broken: overrun or unwritable: takes no CQE
 */
struct cx3_cq {
	struct cx3_obj obj;
	struct cqc c;
	struct cx3_buf buf;
	struct cx3_timer timer;
	u32 held;
	bool fire;
	bool broken;
};

/**
 * struct cx3_srq - a live SRQ
 * @obj: head
 * @c: context; c.wqe_counter is what was taken
 * @buf: ring
 * @next: entry to be taken next
 * @broken: ring unreadable
 */
struct cx3_srq {
	struct cx3_obj obj;
	struct srqc c;
	struct cx3_buf buf;
	u16 next;
	bool broken;
};

/* One scatter/gather element; inline data of a send WQE has @inl and @va as offset in the WQE. */
struct sge {
	u64 va;
	u32 len;
	u32 key;
	bool inl;
};

/**
 * struct sge_list - the memory of a message, as sge_copy() takes it
 * @qp: whose
 * @pd: PD that the keys must have
 * @s: elements
 * @n: how many
 * @raw: the WQE, for inline data
 */
struct sge_list {
	struct cx3_qp *qp;
	u32 pd;
	const struct sge *s;
	u32 n;
	const u8 *raw;
};

/**
 * struct rwqe - a receive WQE taken from RQ or SRQ
 * @have: one is taken
 * @index: ring index or free-running counter for the CQE
 * @n: elements
 * @room: sum of their lengths
 * @pd: PD that the keys must have
 * @srqn: SRQ it came from, XRC only
 * @s: elements
 */
struct rwqe {
	bool have;
	u32 srqn;
	u16 index;
	u8 n;
	u64 room;
	u32 pd;
	struct sge s[CX3_MAX_SG_RQ];
};

/**
 * struct swqe - a send WQE taken apart
 * @qpn: whose
 * @index: its counter
 * @gen: its QP's generation; 0 = empty
 * @ctrl: control segment
 * @mlx: raw QPs: rest of the control segment
 * @ud: datagrams
 * @raddr: RDMA and atomics
 * @atomic: atomics
 * @lso: LSO
 * @hdr: LSO: offset of the header in @raw
 * @seg: local operations: offset of their segment in @raw
 * @n: elements
 * @len: sum of their lengths
 * @s: elements
 * @bytes: size of the WQE
 * @raw: the WQE
 */
struct swqe {
	u32 qpn;
	u16 index;
	u32 gen;
	struct wqe_ctrl ctrl;
	struct wqe_mlx mlx;
	struct wqe_dgram ud;
	struct wqe_raddr raddr;
	struct wqe_atomic atomic;
	struct wqe_lso lso;
	u32 hdr, seg;
	u16 n;
	u64 len;
	struct sge s[CX3_MAX_SG_SQ + 2];
	u32 bytes;
	u8 raw[1024];
};

/**
 * struct sq_req - a request in flight
 * @psn: first PSN
 * @npsn: PSNs it takes; 0 = local operation
 * @len: bytes
 * @done: response packets taken (reads and atomics)
 * @wqe: WQE counter
 * @opcode: enum wqe_opcode
 * @signaled: CQE wanted
 * @syndrome: it failed at the sending side; completes so when its turn comes
 */
struct sq_req {
	u32 psn, npsn, len, done;
	u16 wqe;
	u8 opcode;
	bool signaled;
	u8 syndrome;
};

/* What a responder owes. */
enum owed_kind {
	OWE_ACK,
	OWE_NAK,	/* ACK packet with RNR or NAK syndrome */
	OWE_READ,
	OWE_ATOMIC,
};

/**
 * struct owed - one response to be sent, in order
 * @kind: what
 * @psn: of the next packet
 * @msn: message sequence number for its AETH
 * @syndrome: AETH syndrome
 * @va: read: address
 * @rkey: read: key
 * @pd: read: PD of the key
 * @len: read: bytes in all
 * @off: read: bytes sent
 * @orig: atomic: value
 * @again: it was asked for before
 */
struct owed {
	u8 kind;
	u32 psn, msn;
	u8 syndrome;
	u64 va;
	u32 rkey, pd, len, off;
	u64 orig;
	bool again;
};

/* An atomic that was done, for the case that it is asked again. */
struct done_atomic {
	u32 psn;
	u64 orig;
	bool valid;
};

/**
 * struct requester - sending half of a QP
 * @next: WQE counter of the next one to start
 * @rung: doorbells, free running as @next; each stands for one WQE at least
 * @req: ring of SQ_WINDOW requests (RC and XRC), NULL for other services
 * @head: oldest in flight, free running
 * @tail: next free
 * @cur: request being sent; == @tail when none is
 * @pkt: its packets sent
 * @psn: PSN after the last one given to a request
 * @una: oldest unacknowledged PSN
 * @top: PSN after the highest one sent; below it a packet is sent again
 * @reads: reads and atomics started and not done
 * @stop: a request failed locally: start nothing more
 * @rnr_wait: waiting for the RNR timer
 * @lost: a response was missed and asked for again; more out of order mean nothing new
 * @timing: deadline is meaningful
 * @grace: the deadline is past, this is the time added to it
 * @deadline: when the oldest request is to be sent again
 * @timer: for @deadline
 * @rnr_timer: for the RNR wait
 * @ud_off: bytes of an LSO or UC message sent so far
 * @drain_event: SQD wants an event
 */
struct requester {
	u16 next;
	u16 rung;
	struct sq_req *req;
	u32 head, tail, cur, pkt;
	u32 psn, una, top;
	u32 reads;
	bool stop, rnr_wait, lost, timing, grace;
	u64 deadline;
	struct cx3_timer timer, rnr_timer;
	u64 ud_off;
	bool drain_event;
};

/**
 * struct responder - receiving half of a QP
 * @taken: receive WQEs taken from the own RQ, free running
 * @epsn: PSN expected
 * @msn: messages completed
 * @pd: PD that the keys of the request at hand must have
 * @msg: 0, or WOP_SEND or WOP_WRITE of the message being received
 * @got: bytes of it
 * @va: write: address of the next byte
 * @rkey: write
 * @total: write: bytes announced
 * @left: write: bytes still to come
 * @wqe: receive WQE in use
 * @nak_sent: sequence error told; quiet until the expected PSN arrives
 * @owed: ring of @nowed responses to send
 * @nowed: its size
 * @ohead: first, free running
 * @otail: behind the last
 * @reading: reads and atomics among them
 * @old: ring of atomics done
 * @nold: its size
 * @oldpos: next slot
 * @poll: looks for receives posted in error state
 * @poll_ns: its interval
 * @comm_est: event was sent
 */
struct responder {
	u32 taken;
	u32 epsn, msn, pd;
	u16 msg;
	u32 got;
	u64 va;
	u32 rkey, total, left;
	struct rwqe wqe;
	bool nak_sent;
	struct owed *owed;
	u32 nowed, ohead, otail, reading;
	struct done_atomic *old;
	u32 nold, oldpos;
	struct cx3_timer poll;
	u64 poll_ns;
	bool comm_est;
};

/**
 * struct cx3_qp - a live QP (any state but RESET)
 * @obj: head; obj.num has all 24 bits
 * @hca: device
 * @c: context
 * @buf: work queues
 * @sq_at: offset of the SQ in @buf
 * @rq_at: offset of the RQ
 * @has_sq: there is an SQ (not after a move from RESET to ERR)
 * @has_rq: there is an RQ of its own
 * @gen: differs for each incarnation
 * @sq: requester
 * @rs: responder
 * @next: list it is on
 * @on: which list
 * @last_wqe_told: "last WQE reached" was sent
 */
struct cx3_qp {
	struct cx3_obj obj;
	struct cx3_hca *hca;
	struct qpc c;
	struct cx3_buf buf;
	u32 sq_at, rq_at;
	bool has_sq, has_rq;
	u32 gen;
	struct requester sq;
	struct responder rs;
	struct cx3_qp *next;
	struct qp_list *on;
	bool last_wqe_told;
};

/**
 * struct qp_list - first in, first out
 * @first: head
 * @last: tail
 */
struct qp_list {
	struct cx3_qp *first, *last;
};

/**
 * struct cx3_transport - state of the whole transport
 * @ready: QPs with work
 * @blocked: QPs that wait for room on the link of a port
 * @work: goes on with the ready ones
 * @gen: counter for cx3_qp.gen
 * @budget: packets left in this step
 * @db_page: UAR page of a CQ doorbell whose first half was written
 * @db_high: that half
 * @db_half: it is there
 * @swqe: the send WQE at hand
 * @pkt: packet being built
 * @bounce: payload and pages in transit
 */
struct cx3_transport {
	struct qp_list ready, blocked[CX3_MAX_PORTS];
	struct cx3_timer work;
	u32 gen;
	int budget;
	u32 db_page, db_high;
	bool db_half;
	struct swqe swqe;
	u8 pkt[LINK_MAX_PACKET];
	u8 bounce[CX3_PAGE * 2];
};

/* sched.c */
void xport_ready(struct cx3_qp *qp);
void xport_block(struct cx3_qp *qp, unsigned int port);
void xport_forget(struct cx3_qp *qp);
void xport_run(struct cx3_hca *hca);

/* qp.c, qp_state.c */
struct cx3_qp *qp_find(struct cx3_hca *hca, u32 qpn);
void qp_free(struct cx3_hca *hca, struct cx3_qp *qp);
void qp_error(struct cx3_qp *qp, u8 event);
void qp_enter_error(struct cx3_qp *qp);
bool qp_flush(struct cx3_qp *qp);
void qp_check_drained(struct cx3_qp *qp);
bool qp_move_allowed(u16 opcode, u8 from, u8 *to);
void qp_take(struct qpc *c, u16 opcode, u32 mask, const struct qpc *n);

static inline struct cx3_port *qp_port(struct cx3_qp *qp)
{
	return cx3_port(qp->hca, qp->c.path[0].port + 1u);
}

static inline bool qp_is_reliable(const struct cx3_qp *qp)
{
	return qp->c.service == QPT_RC || qp->c.service == QPT_XRC;
}

static inline u32 qp_mtu(const struct cx3_qp *qp)
{
	return 128u << (qp->c.mtu < 1 ? 1 : qp->c.mtu > 5 ? 5 : qp->c.mtu);
}

static inline bool qp_receives(const struct cx3_qp *qp)
{
	u8 s = qp->c.state;

	return s == QPS_RTR || s == QPS_RTS || s == QPS_SQD || s == QPS_DRAINING || s == QPS_SQER;
}

/* apm.c */
bool apm_has_alternate(const struct cx3_qp *qp);
bool apm_migrate(struct cx3_qp *qp);
bool apm_received(struct cx3_qp *qp, bool alternate, bool migreq);

/* cq.c, cq_resize.c */
extern const struct layout cqe_layout, cqe_error_layout;

struct cx3_cq *cq_find(struct cx3_hca *hca, u32 cqn);
void cq_post(struct cx3_qp *qp, u32 cqn, struct cqe *e, bool solicited);
int cq_write(struct cx3_hca *hca, struct cx3_cq *cq, const struct cqe *e);
void cq_hurry(struct cx3_hca *hca);
void cq_doorbell(struct cx3_hca *hca, u32 page, u32 high, u32 low);
u32 cq_consumer(struct cx3_hca *hca, struct cx3_cq *cq);
void cq_free(struct cx3_hca *hca, struct cx3_cq *cq);
enum cx3_status cq_resize(struct cx3_hca *hca, struct cx3_cq *cq, const struct cqc *n);

/* srq.c */
struct cx3_srq *srq_find(struct cx3_hca *hca, u32 srqn);
int srq_take(struct cx3_hca *hca, struct cx3_srq *srq, struct rwqe *w);
void srq_free(struct cx3_hca *hca, struct cx3_srq *srq);

/* wqe.c */
enum wqe_result {
	WQE_OK = 0,
	WQE_NONE,		/* not the hardware's */
	WQE_UNREADABLE,		/* ring or its MTT cannot be read */
	WQE_MALFORMED,		/* reported as violation */
};

enum wqe_result wqe_fetch(struct cx3_qp *qp, u16 index, struct swqe **wqe);
enum wqe_result wqe_peek(struct cx3_qp *qp, u16 index, struct wqe_ctrl *ctrl);
u8 sge_copy(const struct sge_list *l, u64 off, u8 *dst, const u8 *src, u32 len);
u8 wqe_gather(struct cx3_qp *qp, const struct swqe *w, u64 off, u8 *dst, u32 len);
u8 wqe_scatter(struct cx3_qp *qp, const struct swqe *w, u64 off, const u8 *src, u32 len);
void wqe_parse_receive(const u8 *raw, u32 bytes, struct rwqe *w);

/* rq.c */
enum rq_result {
	RQ_OK,
	RQ_EMPTY,
	RQ_BROKEN,
	RQ_NO_SRQ,		/* XRC: no such SRQ in the QP's domain */
};

enum rq_result rq_take(struct cx3_qp *qp, u32 xsrqn);
u8 rq_scatter(struct cx3_qp *qp, u64 off, const u8 *src, u32 len);
bool rq_flush_one(struct cx3_qp *qp);
void rq_complete(struct cx3_qp *qp, struct cqe *e, bool solicited);
void rq_fail(struct cx3_qp *qp, u8 syndrome);
bool rq_inline(struct cx3_qp *qp, const u8 *src, u32 len);

/* sq.c, sq_ack.c, local.c */
bool sq_service(struct cx3_qp *qp);
void sq_complete(struct cx3_qp *qp, u16 wqe, u8 opcode, u32 bytes);
void sq_error_cqe(struct cx3_qp *qp, u16 wqe, u8 syndrome);
void sq_local_error(struct cx3_qp *qp, u16 wqe, u8 syndrome);
bool sq_flush_one(struct cx3_qp *qp);
void sq_go_back(struct cx3_qp *qp, u32 psn);
void sq_retire(struct cx3_qp *qp);
void sq_arm_timer(struct cx3_qp *qp);
void sq_timeout(struct cx3_hca *hca, struct cx3_timer *t);
void sq_rnr_over(struct cx3_hca *hca, struct cx3_timer *t);
void sq_response(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload);
u8 local_execute(struct cx3_qp *qp, const struct swqe *w);

static inline bool sq_is_read(u8 opcode)
{
	return opcode == WQE_READ;
}

static inline bool sq_is_atomic(u8 opcode)
{
	return opcode == WQE_CMP_SWAP || opcode == WQE_FETCH_ADD || opcode == WQE_MASKED_CS ||
	       opcode == WQE_MASKED_FA;
}

static inline struct sq_req *sq_req(struct cx3_qp *qp, u32 n)
{
	return &qp->sq.req[n % SQ_WINDOW];
}

/* resp.c, resp_tx.c */
void resp_request(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload);
bool resp_service(struct cx3_qp *qp);
void resp_owe(struct cx3_qp *qp, const struct owed *o);
void resp_poll(struct cx3_hca *hca, struct cx3_timer *t);

/* ud.c, lso.c, csum.c, mlx.c */
enum link_result ud_send(struct cx3_qp *qp, struct swqe *w, bool *done, u8 *syndrome);
void ud_receive(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *pkt, u16 pkey_index);
enum link_result mlx_send(struct cx3_qp *qp, struct swqe *w, u8 *syndrome);
void lso_header(const struct swqe *w, u64 off, u32 len, u8 *dst);
void csum_fill(u8 *payload, u32 len, bool ip_csum, bool l4_csum);
void csum_report(const u8 *payload, u32 len, struct cqe *e);

/* rx.c, tx.c */
void rx_packet(struct cx3_port *p, const u8 *pkt, u32 len);
enum link_result tx_packet(struct cx3_port *p, const u8 *pkt, u32 len, bool loop);
enum link_result tx_datagram(struct cx3_port *p, const u8 *pkt, u32 len, u16 dlid, bool force_loop);
enum link_result tx_connected(struct cx3_qp *qp, struct wire_pkt *w);

#endif
