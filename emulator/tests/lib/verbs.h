/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs for the rig: memory regions, completion queues, queue pairs and shared receive queues
 * of one device, as a user program with its driver would have them.
 */
#ifndef CX3_TESTS_VERBS_H
#define CX3_TESTS_VERBS_H

#include "rig.h"

#define V_PD 1u
#define V_QKEY 0x11111111u
#define V_ACCESS_ALL 0x3fu

/**
 * struct v_mr - a memory region of scattered pages at a virtual address that is no bus address
 * @h: device
 * @buf: its pages
 * @va: virtual address
 * @len: bytes
 * @key: L_Key and R_Key
 */
struct v_mr {
	struct rig_hca *h;
	struct rig_buf buf;
	u64 va;
	u32 len;
	u32 key;
};

/**
 * struct v_cq - a completion queue
 * @h: device
 * @buf: ring
 * @cqn: number
 * @log: log2 entries
 * @db: doorbell record
 * @ci: consumer index
 * @size: bytes per entry
 */
struct v_cq {
	struct rig_hca *h;
	struct rig_buf buf;
	u32 cqn, log;
	u64 db;
	u32 ci, size;
};

/**
 * struct v_srq - a shared receive queue
 * @h: device
 * @buf: ring
 * @srqn: number
 * @log: log2 entries
 * @db: doorbell record
 * @head: first free entry
 * @tail: last free entry
 * @posted: counter
 */
struct v_srq {
	struct rig_hca *h;
	struct rig_buf buf;
	u32 srqn, log;
	u64 db;
	u16 head, tail, posted;
};

/**
 * struct v_attr - properties of a QP; v_attr_init() sets the usual ones
 * @service: enum qp_service
 * @scq: send completions
 * @rcq: receive completions
 * @srq: SRQ, or NULL
 * @qpn: number to use, 0 = next free
 * @sq_log: log2 send WQEs
 * @rq_log: log2 receive WQEs
 * @sq_stride: log2 bytes of a send WQE
 * @rq_stride: log2 bytes of a receive WQE
 * @mtu: IBA code
 * @timeout: ACK timeout
 * @retry: retry count
 * @rnr_retry: RNR retry count
 * @min_rnr: RNR timer code
 * @rd_log: log2 of reads and atomics in flight, both ways
 * @access: RRE 4, RWE 2, RAE 1
 * @xrcd: XRC domain
 * @pkey_index: P_Key
 * @port: 1 based
 * @inline_scatter: param3 bit 25
 * @grh: connect with a GRH
 * @msg_max: log2 of longest message
 * @pd: protection domain
 */
struct v_attr {
	u8 service;
	struct v_cq *scq, *rcq;
	struct v_srq *srq;
	u32 qpn;
	u8 sq_log, rq_log, sq_stride, rq_stride, mtu, timeout, retry, rnr_retry, min_rnr, rd_log;
	u8 access;
	u16 xrcd;
	u8 pkey_index, port, inline_scatter, grh, msg_max;
	u32 pd;
};

/**
 * struct v_qp - a queue pair
 * @h: device
 * @a: properties
 * @qpn: number
 * @buf: work queues
 * @sq_at: offset of the SQ
 * @rq_at: offset of the RQ
 * @db: doorbell record of the RQ
 * @sq_head: send WQEs written
 * @rq_head: receive WQEs written
 * @c: context as last given
 */
struct v_qp {
	struct rig_hca *h;
	struct v_attr a;
	u32 qpn;
	struct rig_buf buf;
	u32 sq_at, rq_at;
	u64 db;
	u16 sq_head, rq_head;
	struct qpc c;
};

/* One element of a scatter/gather list. */
struct v_sge {
	u64 va;
	u32 len, key;
};

/**
 * struct v_wr - a send work request; what its opcode does not use is 0
 * @op: enum wqe_opcode
 * @unsignaled: no CQE
 * @solicited: solicited event
 * @fence: fence
 * @force_loop: control segment bit 0
 * @ip_csum: IPoIB: IP header checksum
 * @l4_csum: IPoIB: TCP or UDP checksum
 * @imm: immediate or key
 * @raddr: remote address
 * @rkey: remote key
 * @atomic: operands
 * @s: elements
 * @n: how many
 * @data: inline data instead
 * @data_len: its length
 * @ud: datagrams: address
 * @srqn: XRC: remote SRQN
 * @bind: window bind
 * @freg: fast register
 * @inval: local invalidate
 * @mss: LSO: payload per packet; @data is the header then
 * @mlx: raw QPs: flags
 */
struct v_wr {
	u8 op;
	bool unsignaled, solicited, fence, force_loop, ip_csum, l4_csum;
	u32 imm;
	u64 raddr;
	u32 rkey;
	struct wqe_atomic atomic;
	struct v_sge s[8];
	u32 n;
	const u8 *data;
	u32 data_len;
	struct wqe_dgram ud;
	u32 srqn;
	struct wqe_bind bind;
	struct wqe_freg freg;
	u32 inval;
	u16 mss;
	struct wqe_mlx mlx;
};

/**
 * struct v_pair - the objects of two connected QPs, one on each HCA
 * @scq: CQ of @a
 * @rcq: CQ of @b
 * @a: QP of HCA 0
 * @b: QP of HCA 1
 * @ma: memory of HCA 0
 * @mb: memory of HCA 1
 */
struct v_pair {
	struct v_cq *scq, *rcq;
	struct v_qp *a, *b;
	struct v_mr *ma, *mb;
};

void v_mr_init(struct v_mr *mr, struct rig_hca *h, u32 len, u32 access);
u8 v_mr_dereg_try(struct v_mr *mr);
u8 *v_mr_at(struct v_mr *mr, u32 off);
void v_mr_fill(struct v_mr *mr, u32 off, u32 len, u32 seed);
bool v_mr_holds(struct v_mr *mr, u32 off, u32 len, u32 seed);
struct v_sge v_sge(struct v_mr *mr, u32 off, u32 len);

void v_cq_init(struct v_cq *cq, struct rig_hca *h, u32 log);
bool v_cq_poll(struct v_cq *cq, struct cqe *e);
void v_cq_arm(struct v_cq *cq, bool solicited);
u8 v_cq_resize_try(struct v_cq *cq, u32 log);

void v_srq_init(struct v_srq *srq, struct rig_hca *h, u32 log, u16 xrcd, struct v_cq *cq);
void v_srq_post(struct v_srq *srq, const struct v_sge *s, u32 n);
void v_srq_free(struct v_srq *srq, u16 index);

void v_attr_init(struct v_attr *a, u8 service, struct v_cq *scq, struct v_cq *rcq);
void v_qp_init(struct v_qp *qp, struct rig_hca *h, const struct v_attr *a);
u8 v_qp_modify_try(struct v_qp *qp, u16 opcode, u32 mask, u32 mod);
void v_qp_rtr(struct v_qp *qp, u16 dlid, u32 rqpn, u32 psn);
void v_qp_rts(struct v_qp *qp, u32 psn);
void v_connect(struct v_qp *a, struct v_qp *b, u32 psn);
void v_pair_up(struct rig *r, const struct v_pair *p, struct v_attr *at, u32 bytes, u32 cq_log,
	       u32 psn);
void v_qp_query(struct v_qp *qp, struct qpc *c);
void v_qp_reset(struct v_qp *qp);
u8 v_qp_state(struct v_qp *qp);

void v_put_send(struct v_qp *qp, const struct v_wr *wr);
void v_ring(struct v_qp *qp);
void v_send(struct v_qp *qp, const struct v_wr *wr);
void v_recv(struct v_qp *qp, const struct v_sge *s, u32 n);

#endif
