// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs for the rig; see verbs.h.
 */
#include <stdlib.h>

#include "tap.h"
#include "verbs.h"

/**
 * v_mr_init - register memory
 * @mr: filled
 * @h: device
 * @len: bytes
 * @access: MPT access bits, V_ACCESS_ALL for all of them
 */
void v_mr_init(struct v_mr *mr, struct rig_hca *h, u32 len, u32 access)
{
	u8 e[64] = { 0 };
	u32 index = h->next_key++;

	mr->h = h;
	mr->len = len;
	mr->key = index << 8 | (0x40 + index % 16);
	mr->va = 0x7f0000000000ull + ((u64)index << 24) + 0x123;
	rig_buf_init(h, &mr->buf, len + 0x123);
	put32(e, 0xf0000000 | 1 << 17 | 1 << 8 | access << 10);
	put32(e + 8, mr->key >> 8 | mr->key << 24);
	put32(e + 12, V_PD);
	put64(e + 16, mr->va);
	put64(e + 24, len);
	put64(e + 44, mr->buf.mtt);
	put32(e + 52, mr->buf.pages);
	put32(e + 56, 12);
	rig_cmd(h, 0x00d, 0, index, e, sizeof(e), 0);
}

/**
 * v_mr_dereg_try - HW2SW_MPT
 * @mr: region
 */
u8 v_mr_dereg_try(struct v_mr *mr)
{
	return rig_cmd_try(mr->h, 0x00f, 1, mr->key >> 8, NULL, 0, 0, NULL);
}

/**
 * v_mr_at - a byte of the region
 * @mr: region
 * @off: offset
 */
u8 *v_mr_at(struct v_mr *mr, u32 off)
{
	return rig_buf_at(mr->h, &mr->buf, 0x123 + off);
}

static u8 pattern(u32 i, u32 seed)
{
	return (i * 2654435761u + seed * 40503u) >> 11;
}

/**
 * v_mr_fill - write a pattern
 * @mr: region
 * @off: offset
 * @len: bytes
 * @seed: which pattern; it starts anew at @off
 */
void v_mr_fill(struct v_mr *mr, u32 off, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		*v_mr_at(mr, off + i) = pattern(i, seed);
}

/**
 * v_mr_holds - is the pattern there?
 * @mr: region
 * @off: offset
 * @len: bytes
 * @seed: which
 */
bool v_mr_holds(struct v_mr *mr, u32 off, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (*v_mr_at(mr, off + i) != pattern(i, seed))
			return false;
	return true;
}

/**
 * v_sge - part of a region as an element
 * @mr: region
 * @off: offset
 * @len: bytes
 */
struct v_sge v_sge(struct v_mr *mr, u32 off, u32 len)
{
	struct v_sge s = { mr->va + off, len, mr->key };

	return s;
}

/**
 * v_cq_init - make a CQ that completes to the rig's EQ
 * @cq: filled
 * @h: device
 * @log: log2 entries
 */
void v_cq_init(struct v_cq *cq, struct rig_hca *h, u32 log)
{
	struct cqc c = { 0 };
	u8 raw[64] = { 0 };

	memset(cq, 0, sizeof(*cq));
	cq->h = h;
	cq->log = log;
	cq->size = rig_cqe_size;
	cq->cqn = h->next_cqn++;
	cq->db = rig_alloc(h, 8, 8);
	rig_buf_init(h, &cq->buf, cq->size << log);
	c.log_size = log;
	c.uar = RIG_UAR;
	c.eqn = RIG_EQN;
	c.mtt_lo = (u32)cq->buf.mtt;
	c.db = cq->db;
	layout_pack(&cqc_layout, raw, &c);
	rig_cmd(h, 0x016, 0, cq->cqn, raw, sizeof(raw), 0);
}

/**
 * v_cq_poll - take one completion
 * @cq: queue
 * @e: filled
 *
 * Return: false if there is none.
 */
bool v_cq_poll(struct v_cq *cq, struct cqe *e)
{
	u8 *raw = rig_buf_at(cq->h, &cq->buf, (u64)(cq->ci & ((1u << cq->log) - 1)) * cq->size);

	raw += cq->size - 32;
	if (raw[31] >> 7 != (cq->ci >> cq->log & 1))
		return false;
	memset(e, 0, sizeof(*e));
	if ((raw[31] & 0x1f) == CQE_ERROR)
		layout_unpack(&cqe_error_layout, raw, e);
	else
		layout_unpack(&cqe_layout, raw, e);
	cq->ci++;
	put32(rig_mem(cq->h, cq->db, 4), cq->ci & 0xffffff);
	return true;
}

/**
 * v_cq_arm - ask for an event
 * @cq: queue
 * @solicited: only for solicited completions
 */
void v_cq_arm(struct v_cq *cq, bool solicited)
{
	u8 b[8];
	u64 v;

	put32(b, (solicited ? 1u : 2u) << 24 | cq->cqn);
	put32(b + 4, cq->ci & 0xffffff);
	memcpy(&v, b, sizeof(v));
	cx3_bar_write(cq->h->hca, 2, RIG_UAR * 4096ull + 0x20, v, 8);
}

/**
 * v_cq_resize_try - MODIFY_CQ, then move what is left in the old ring as software has to
 * @cq: queue
 * @log: new log2 entries
 *
 * Return: status of the command.
 */
u8 v_cq_resize_try(struct v_cq *cq, u32 log)
{
	struct rig_buf ring;
	struct cqc c = { 0 };
	u8 raw[64] = { 0 }, st, *from, *to;
	u32 i;

	rig_buf_init(cq->h, &ring, cq->size << log);
	c.log_size = log;
	c.mtt_lo = (u32)ring.mtt;
	layout_pack(&cqc_layout, raw, &c);
	st = rig_cmd_try(cq->h, 0x02c, 0, cq->cqn, raw, sizeof(raw), 0, NULL);
	if (st)
		return st;
	for (i = cq->ci;; i++) {
		from = rig_buf_at(cq->h, &cq->buf, (u64)(i & ((1u << cq->log) - 1)) * cq->size);
		if ((from[31] & 0x1f) == CQE_RESIZE)
			break;
		to = rig_buf_at(cq->h, &ring, (u64)((i + 1) & ((1u << log) - 1)) * cq->size);
		memcpy(to, from, 32);
		to[31] = (from[31] & 0x7f) | ((i + 1) >> log & 1) << 7;
	}
	cq->ci++;
	cq->buf = ring;
	cq->log = log;
	return 0;
}

static u64 srq_pos(struct v_srq *srq, u16 index)
{
	return (u64)(index & ((1u << srq->log) - 1)) * 64;
}

/**
 * v_srq_init - make an SRQ with entries of up to three elements
 * @srq: filled
 * @h: device
 * @log: log2 entries
 * @xrcd: XRC domain
 * @cq: XRC: its CQ; may be NULL
 */
void v_srq_init(struct v_srq *srq, struct rig_hca *h, u32 log, u16 xrcd, struct v_cq *cq)
{
	struct srqc c = { 0 };
	u8 raw[64] = { 0 };
	u32 i;

	memset(srq, 0, sizeof(*srq));
	srq->h = h;
	srq->log = log;
	srq->srqn = h->next_srqn++;
	srq->db = rig_alloc(h, 4, 8);
	rig_buf_init(h, &srq->buf, 64u << log);
	for (i = 0; i < 1u << log; i++)
		put16(rig_buf_at(h, &srq->buf, srq_pos(srq, i)) + 2, (i + 1) & ((1u << log) - 1));
	srq->tail = (1u << log) - 1;
	c.log_size = log;
	c.srqn = srq->srqn;
	c.stride = 2;
	c.xrcd = xrcd;
	c.cqn = cq ? cq->cqn : 0;
	c.mtt_lo = (u32)srq->buf.mtt;
	c.pd = V_PD;
	c.db = srq->db;
	layout_pack(&srqc_layout, raw, &c);
	rig_cmd(h, 0x035, 0, srq->srqn, raw, sizeof(raw), 0);
}

static void put_elements(u8 *at, u32 room, const struct v_sge *s, u32 n)
{
	u32 i;

	for (i = 0; i < room; i++) {
		struct wqe_data d = { 0, CX3_INVALID_LKEY, 0 };

		if (i < n) {
			d.bytes = s[i].len;
			d.key = s[i].key;
			d.va = s[i].va;
		}
		layout_pack(&wqe_data_layout, at + i * 16, &d);
	}
}

/**
 * v_srq_post - post a receive
 * @srq: queue
 * @s: elements
 * @n: how many, at most 3
 */
void v_srq_post(struct v_srq *srq, const struct v_sge *s, u32 n)
{
	u8 *at = rig_buf_at(srq->h, &srq->buf, srq_pos(srq, srq->head));

	put_elements(at + 16, 3, s, n);
	srq->head = get16(at + 2);
	put32(rig_mem(srq->h, srq->db, 4), ++srq->posted);
}

/**
 * v_srq_free - give a completed entry back to the list
 * @srq: queue
 * @index: from the CQE
 */
void v_srq_free(struct v_srq *srq, u16 index)
{
	put16(rig_buf_at(srq->h, &srq->buf, srq_pos(srq, srq->tail)) + 2, index);
	srq->tail = index;
}

/**
 * v_attr_init - usual properties
 * @a: filled
 * @service: enum qp_service
 * @scq: send completions
 * @rcq: receive completions
 */
void v_attr_init(struct v_attr *a, u8 service, struct v_cq *scq, struct v_cq *rcq)
{
	memset(a, 0, sizeof(*a));
	a->service = service;
	a->scq = scq;
	a->rcq = rcq;
	a->sq_log = 4;
	a->rq_log = 4;
	a->sq_stride = 8;
	a->rq_stride = 6;
	a->mtu = 3;
	a->timeout = 14;
	a->retry = 5;
	a->rnr_retry = 5;
	a->min_rnr = 5;
	a->rd_log = 2;
	a->access = 7;
	a->port = 1;
	a->msg_max = 30;
	a->pd = V_PD;
}

static bool has_rq(const struct v_attr *a)
{
	return !a->srq && a->service != QPT_XRC;
}

static void context(struct v_qp *qp)
{
	struct v_attr *a = &qp->a;
	struct qpc *c = &qp->c;

	c->service = a->service;
	c->pm = 3;
	c->pd = a->pd;
	c->mtu = a->service == QPT_UD || a->service == QPT_MLX ? 5 : a->mtu;
	c->msg_max = a->msg_max;
	c->rq_log = has_rq(a) ? a->rq_log : 15;
	c->rq_stride = has_rq(a) ? a->rq_stride - 4 : 4;
	c->sq_log = a->sq_log;
	c->sq_stride = a->sq_stride - 4;
	c->uar = RIG_UAR;
	c->lqpn = qp->qpn;
	c->scqn = a->scq->cqn;
	c->rcqn = a->rcq ? a->rcq->cqn : 0;
	c->frwr = 1;
	c->rlkey = 1;
	c->rre = a->access >> 2 & 1;
	c->rwe = a->access >> 1 & 1;
	c->rae = a->access & 1;
	c->qkey = V_QKEY;
	c->has_srq = !!a->srq;
	c->srqn = a->srq ? a->srq->srqn : 0;
	c->xrcd = a->xrcd;
	c->db = qp->db;
	c->mtt_lo = (u32)qp->buf.mtt;
	c->inline_scatter = a->inline_scatter;
	c->path[0].pkey_index = a->pkey_index;
	c->path[0].port = a->port - 1;
	c->ack_freq = 8;
}

/**
 * v_qp_init - make a QP and bring it to INIT
 * @qp: filled
 * @h: device
 * @a: properties; copied
 */
void v_qp_init(struct v_qp *qp, struct rig_hca *h, const struct v_attr *a)
{
	u32 sq_bytes = 1u << (a->sq_log + a->sq_stride);
	u32 rq_bytes = has_rq(a) ? 1u << (a->rq_log + a->rq_stride) : 0, i;

	memset(qp, 0, sizeof(*qp));
	qp->h = h;
	qp->a = *a;
	qp->qpn = a->qpn ? a->qpn : h->next_qpn++;
	qp->db = rig_alloc(h, 4, 8);
	rig_buf_init(h, &qp->buf, sq_bytes + rq_bytes);
	if (rq_bytes && a->rq_stride > a->sq_stride)
		qp->sq_at = rq_bytes;
	else
		qp->rq_at = sq_bytes;
	for (i = 0; i < 1u << a->sq_log; i++)
		put32(rig_buf_at(h, &qp->buf, qp->sq_at + ((u64)i << a->sq_stride)), 1u << 31);
	context(qp);
	if (v_qp_modify_try(qp, 0x19, 0, 0)) {
		tap_note("QP 0x%x does not go to INIT", qp->qpn);
		abort();
	}
}

/**
 * v_qp_modify_try - a transition with the context as it stands in @qp->c
 * @qp: queue pair
 * @opcode: command
 * @mask: optional parameters
 * @mod: bits to add to the input modifier
 *
 * Return: status of the command.
 */
u8 v_qp_modify_try(struct v_qp *qp, u16 opcode, u32 mask, u32 mod)
{
	u8 m[264] = { 0 };

	put32(m, mask);
	qpc_pack(m + 8, &qp->c);
	return rig_cmd_try(qp->h, opcode, 0, qp->qpn | mod, m, sizeof(m), 0, NULL);
}

static void must(struct v_qp *qp, u16 opcode, u8 st)
{
	if (!st)
		return;
	tap_note("QP 0x%x: command 0x%03x has status 0x%02x", qp->qpn, opcode, st);
	abort();
}

/**
 * v_qp_rtr - to RTR
 * @qp: queue pair in INIT
 * @dlid: peer
 * @rqpn: peer
 * @psn: first PSN to expect
 */
void v_qp_rtr(struct v_qp *qp, u16 dlid, u32 rqpn, u32 psn)
{
	struct qp_path *p = &qp->c.path[0];

	qp->c.rqpn = rqpn;
	qp->c.recv_psn = psn;
	qp->c.rra = qp->a.rd_log;
	qp->c.min_rnr = qp->a.min_rnr;
	p->rlid = dlid;
	p->sched = 3;
	if (qp->a.grh) {
		p->grh = 1;
		p->hop_limit = 1;
		cx3_port_gid(cx3_port(qp->h->rig->h[dlid - 1].hca, 1), 0, p->rgid);
	}
	must(qp, 0x1a, v_qp_modify_try(qp, 0x1a, 0, 0));
}

/**
 * v_qp_rts - to RTS
 * @qp: queue pair in RTR
 * @psn: first PSN to send
 */
void v_qp_rts(struct v_qp *qp, u32 psn)
{
	qp->c.send_psn = psn;
	qp->c.retry = qp->a.retry;
	qp->c.rnr_retry = qp->a.rnr_retry;
	qp->c.sra = qp->a.rd_log;
	qp->c.path[0].ack_timeout = qp->a.timeout;
	must(qp, 0x1b, v_qp_modify_try(qp, 0x1b, 0, 0));
}

/**
 * v_connect - bring two QPs in INIT to RTS with each other
 * @a: queue pair
 * @b: queue pair
 * @psn: first PSN of @a; @b starts 1000 later
 */
void v_connect(struct v_qp *a, struct v_qp *b, u32 psn)
{
	v_qp_rtr(a, b->h->lid, b->qpn, psn_add(psn, 1000));
	v_qp_rtr(b, a->h->lid, a->qpn, psn);
	v_qp_rts(a, psn);
	v_qp_rts(b, psn_add(psn, 1000));
}

/**
 * v_pair_up - bring up a rig and two connected QPs in it
 * @r: rig, not up
 * @p: where the objects are
 * @at: properties of both QPs; its CQs are set here
 * @bytes: of each memory region
 * @cq_log: log2 of the CQs' entries
 * @psn: first PSN
 */
void v_pair_up(struct rig *r, const struct v_pair *p, struct v_attr *at, u32 bytes, u32 cq_log,
	       u32 psn)
{
	rig_up(r);
	v_cq_init(p->scq, &r->h[0], cq_log);
	v_cq_init(p->rcq, &r->h[1], cq_log);
	v_mr_init(p->ma, &r->h[0], bytes, V_ACCESS_ALL);
	v_mr_init(p->mb, &r->h[1], bytes, V_ACCESS_ALL);
	at->scq = p->scq;
	at->rcq = p->scq;
	v_qp_init(p->a, &r->h[0], at);
	at->scq = p->rcq;
	at->rcq = p->rcq;
	v_qp_init(p->b, &r->h[1], at);
	v_connect(p->a, p->b, psn);
}

/**
 * v_qp_query - QUERY_QP
 * @qp: queue pair
 * @c: filled
 */
void v_qp_query(struct v_qp *qp, struct qpc *c)
{
	rig_cmd(qp->h, 0x022, 0, qp->qpn, NULL, 0, 0);
	memset(c, 0, sizeof(*c));
	qpc_unpack(rig_out(qp->h) + 8, c);
}

/**
 * v_qp_state - state by QUERY_QP
 * @qp: queue pair
 */
u8 v_qp_state(struct v_qp *qp)
{
	struct qpc c;

	v_qp_query(qp, &c);
	return c.state;
}

/**
 * v_qp_reset - 2RST_QP
 * @qp: queue pair
 */
void v_qp_reset(struct v_qp *qp)
{
	rig_cmd(qp->h, 0x021, 2, qp->qpn, NULL, 0, 0);
}

/* Inline data, one segment up to each 64-byte boundary. Return: bytes of the WQE after it. */
static u32 put_inline(u8 *wqe, u32 at, const u8 *data, u32 len)
{
	while (len) {
		u32 room = 64 - at % 64 - 4, n = len < room ? len : room;

		put32(wqe + at, WQE_INLINE | n);
		memcpy(wqe + at + 4, data, n);
		data += n;
		len -= n;
		at = (at + 4 + n + 15) & ~15u;
	}
	return at;
}

static u32 put_special(u8 *wqe, const struct v_wr *wr)
{
	struct wqe_inval inv = { wr->inval };

	switch (wr->op) {
	case WQE_BIND_MW:
		layout_pack(&wqe_bind_layout, wqe + 16, &wr->bind);
		return 16 + 32;
	case WQE_FAST_REG:
		layout_pack(&wqe_freg_layout, wqe + 16, &wr->freg);
		return 16 + 48;
	case WQE_LOCAL_INV:
		layout_pack(&wqe_inval_layout, wqe + 16, &inv);
		return 16 + 32;
	default:
		return 16;
	}
}

static u32 put_address(struct v_qp *qp, u8 *wqe, const struct v_wr *wr)
{
	struct wqe_raddr ra = { wr->raddr, wr->rkey };

	if (qp->a.service == QPT_UD) {
		layout_pack(&wqe_dgram_layout, wqe + 16, &wr->ud);
		return 16 + 48;
	}
	switch (wr->op) {
	case WQE_WRITE:
	case WQE_WRITE_IMM:
	case WQE_READ:
		layout_pack(&wqe_raddr_layout, wqe + 16, &ra);
		return 16 + 16;
	case WQE_CMP_SWAP:
	case WQE_FETCH_ADD:
	case WQE_MASKED_FA:
		layout_pack(&wqe_raddr_layout, wqe + 16, &ra);
		layout_pack(&wqe_atomic_layout, wqe + 32, &wr->atomic);
		return 16 + 32;
	case WQE_MASKED_CS:
		layout_pack(&wqe_raddr_layout, wqe + 16, &ra);
		layout_pack(&wqe_masked_layout, wqe + 32, &wr->atomic);
		return 16 + 48;
	default:
		return put_special(wqe, wr);
	}
}

/**
 * v_put_send - write a send WQE and hand it over, without doorbell
 * @qp: queue pair
 * @wr: request
 */
void v_put_send(struct v_qp *qp, const struct v_wr *wr)
{
	u16 slot = qp->sq_head & ((1u << qp->a.sq_log) - 1);
	u8 *at = rig_buf_at(qp->h, &qp->buf, qp->sq_at + ((u64)slot << qp->a.sq_stride));
	struct wqe_ctrl c = {
		.opcode = wr->op, .cq_update = wr->unsignaled ? 0 : 3,
		.solicited = wr->solicited, .fence = wr->fence, .force_loop = wr->force_loop,
		.ip_csum = wr->ip_csum, .l4_csum = wr->l4_csum, .imm = wr->imm, .srcrb = wr->srqn,
		.owner = qp->sq_head >> qp->a.sq_log & 1,
	};
	u8 wqe[1024] = { 0 };
	u32 len = put_address(qp, wqe, wr);

	if (wr->mss) {
		put32(wqe + len, (u32)wr->mss << 16 | wr->data_len);
		memcpy(wqe + len + 4, wr->data, wr->data_len);
		len = (len + 4 + wr->data_len + 15) & ~15u;
	} else if (wr->data) {
		len = put_inline(wqe, len, wr->data, wr->data_len);
	}
	put_elements(wqe + len, wr->n, wr->s, wr->n);
	len += wr->n * 16;
	c.size = len / 16;
	layout_pack(&wqe_ctrl_layout, wqe, &c);
	if (qp->a.service == QPT_MLX) {
		memset(wqe + 8, 0, 8);
		layout_pack(&wqe_mlx_layout, wqe, &wr->mlx);
	}
	memcpy(at, wqe, len);
	qp->sq_head++;
}

/**
 * v_ring - send doorbell
 * @qp: queue pair
 */
void v_ring(struct v_qp *qp)
{
	rig_mmio32(qp->h, 2, RIG_UAR * 4096ull + 0x14, qp->qpn << 8);
}

/**
 * v_send - post one send
 * @qp: queue pair
 * @wr: request
 */
void v_send(struct v_qp *qp, const struct v_wr *wr)
{
	v_put_send(qp, wr);
	v_ring(qp);
}

/**
 * v_recv - post one receive
 * @qp: queue pair with an RQ
 * @s: elements
 * @n: how many
 */
void v_recv(struct v_qp *qp, const struct v_sge *s, u32 n)
{
	u16 slot = qp->rq_head & ((1u << qp->a.rq_log) - 1);
	u8 *at = rig_buf_at(qp->h, &qp->buf, qp->rq_at + ((u64)slot << qp->a.rq_stride));

	put_elements(at, (1u << qp->a.rq_stride) / 16, s, n);
	put32(rig_mem(qp->h, qp->db, 4), ++qp->rq_head);
}
