// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receiving half of a connection: takes requests in PSN order, moves their data, and notes
 * what answer is owed (IB specification volume 1, chapters 9.7.4 and 9.8.3 for unreliable
 * connections).
 *
 * An unreliable connection answers nothing; what does not fit is dropped up to the next message.
 */
#include "xport.h"

static bool reliable(const struct cx3_qp *qp)
{
	return qp_is_reliable(qp);
}

/**
 * resp_owe - note a response to be sent
 * @qp: queue pair
 * @o: response; dropped if there is no room (the peer will ask again)
 *
 * An acknowledge takes the place of one that is last in line.
 */
void resp_owe(struct cx3_qp *qp, const struct owed *o)
{
	struct responder *rs = &qp->rs;
	struct owed *last;

	if (!rs->owed)
		return;
	if (o->kind == OWE_ACK && rs->otail != rs->ohead) {
		last = &rs->owed[(rs->otail - 1) % rs->nowed];
		if (last->kind == OWE_ACK) {
			*last = *o;
			return;
		}
	}
	if (rs->otail - rs->ohead >= rs->nowed)
		return;
	rs->owed[rs->otail++ % rs->nowed] = *o;
	if ((o->kind == OWE_READ || o->kind == OWE_ATOMIC) && !o->again)
		rs->reading++;
	xport_ready(qp);
}

static void owe_ack(struct cx3_qp *qp, u32 psn)
{
	struct owed o = {
		.kind = OWE_ACK, .psn = psn, .msn = qp->rs.msn,
		.syndrome = AETH_ACK | AETH_NO_CREDIT,
	};

	resp_owe(qp, &o);
}

static void owe_nak(struct cx3_qp *qp, u32 psn, u8 syndrome)
{
	struct owed o = {
		.kind = OWE_NAK, .psn = psn, .msn = qp->rs.msn, .syndrome = syndrome,
	};

	resp_owe(qp, &o);
}

/* The packet at the expected PSN cannot be taken: tell it and go to error, or drop the message. */
static void refuse(struct cx3_qp *qp, enum aeth_nak nak)
{
	u8 event = 0;

	qp->rs.msg = 0;
	if (!reliable(qp))
		return;
	owe_nak(qp, qp->rs.epsn, AETH_NAK | nak);
	if (nak == NAK_INVALID_REQUEST)
		event = CX3_EV_WQ_INVALID;
	else if (nak == NAK_REMOTE_ACCESS)
		event = CX3_EV_WQ_ACCESS;
	qp_error(qp, event);
}

/* A receive WQE failed: its completion tells why, so there is no event. */
static void refuse_receive(struct cx3_qp *qp, u8 syndrome)
{
	rq_fail(qp, syndrome);
	qp->rs.msg = 0;
	if (reliable(qp) && qp->c.state != QPS_ERR)
		owe_nak(qp, qp->rs.epsn, AETH_NAK | (syndrome == SYN_LOCAL_LENGTH ?
						     NAK_INVALID_REQUEST : NAK_REMOTE_OPERATION));
	qp_error(qp, 0);
}

/* A receive WQE for the message at hand. Return: false if there is none; all is said then. */
static bool need_wqe(struct cx3_qp *qp, const struct wire_pkt *w)
{
	if (qp->rs.wqe.have)
		return true;
	switch (rq_take(qp, w->xsrqn)) {
	case RQ_OK:
		return true;
	case RQ_EMPTY:
		if (reliable(qp)) {
			qp->rs.nak_sent = true;
			owe_nak(qp, qp->rs.epsn, AETH_RNR | qp->c.min_rnr);
		} else {
			qp->rs.msg = 0;
		}
		return false;
	case RQ_NO_SRQ:
		refuse(qp, NAK_INVALID_REQUEST);
		return false;
	default:
		if (reliable(qp))
			owe_nak(qp, qp->rs.epsn, AETH_NAK | NAK_REMOTE_OPERATION);
		qp_error(qp, CX3_EV_WQ_CATAS);
		return false;
	}
}

static void fill_cqe(struct cx3_qp *qp, const struct wire_pkt *w, struct cqe *e)
{
	e->rqpn = qp->c.rqpn;
	e->slid = w->slid;
	e->sl = w->sl;
	e->path_bits = w->dlid & 0x7f;
	e->grh = w->lnh == WIRE_LNH_GRH;
	e->imm = w->info & WOP_INV ? w->ieth : w->imm;
}

/* The packet is taken: sequence numbers move on, and an answer is owed if asked for. */
static void accept(struct cx3_qp *qp, const struct wire_pkt *w, u32 npsn)
{
	struct responder *rs = &qp->rs;

	rs->epsn = psn_add(rs->epsn, npsn);
	if (w->info & WOP_LAST) {
		rs->msg = 0;
		rs->msn = psn_add(rs->msn, 1);
	}
	if (reliable(qp) && w->ackreq && !(w->info & (WOP_READ | WOP_ATOMIC)))
		owe_ack(qp, w->psn);
}

static void take_send(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload)
{
	struct responder *rs = &qp->rs;
	struct cqe e = { .opcode = CQE_RECV_SEND };
	u8 syndrome;

	if (w->info & WOP_FIRST)
		rs->got = 0;
	if (!need_wqe(qp, w))
		return;
	rs->msg = WOP_SEND;
	if ((w->info & WOP_FIRST) && (w->info & WOP_LAST) && w->len <= rs->wqe.room &&
	    rq_inline(qp, payload, w->len)) {
		e.inline_scatter = 1;
	} else {
		syndrome = rq_scatter(qp, rs->got, payload, w->len);
		if (syndrome) {
			refuse_receive(qp, syndrome);
			return;
		}
	}
	rs->got += w->len;
	if ((w->info & WOP_INV) &&
	    cx3_mpt_invalidate(qp->hca, w->ieth, qp->rs.pd, qp->obj.num, true)) {
		refuse(qp, NAK_REMOTE_ACCESS);
		return;
	}
	accept(qp, w, 1);
	if (!(w->info & WOP_LAST))
		return;
	if (w->info & WOP_IMM)
		e.opcode = CQE_RECV_SEND_IMM;
	if (w->info & WOP_INV)
		e.opcode = CQE_RECV_SEND_INVAL;
	fill_cqe(qp, w, &e);
	e.bytes = rs->got;
	rq_complete(qp, &e, w->se);
}

/* Begins a write: rights and key for the whole of it. Return: false if it was refused. */
static bool begin_write(struct cx3_qp *qp, const struct wire_pkt *w)
{
	struct responder *rs = &qp->rs;
	struct cx3_mr mr;

	if (!qp->c.rwe ||
	    (w->dmalen && cx3_mr_check(qp->hca, w->rkey, qp->rs.pd, qp->obj.num, w->va, w->dmalen,
				       CX3_ACC_REMOTE_WRITE, false, &mr))) {
		refuse(qp, NAK_REMOTE_ACCESS);
		return false;
	}
	rs->va = w->va;
	rs->rkey = w->rkey;
	rs->total = w->dmalen;
	rs->left = w->dmalen;
	return true;
}

static void take_write(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload)
{
	struct responder *rs = &qp->rs;
	struct cqe e = { .opcode = CQE_RECV_WRITE_IMM };
	struct cx3_mr mr;

	if ((w->info & WOP_FIRST) && !begin_write(qp, w))
		return;
	if (w->len > rs->left || ((w->info & WOP_LAST) && w->len != rs->left)) {
		refuse(qp, NAK_INVALID_REQUEST);
		return;
	}
	if ((w->info & WOP_IMM) && !need_wqe(qp, w))
		return;
	if (w->len &&
	    (cx3_mr_check(qp->hca, rs->rkey, qp->rs.pd, qp->obj.num, rs->va, w->len,
			  CX3_ACC_REMOTE_WRITE, false, &mr) ||
	     cx3_mr_write(qp->hca, &mr, rs->va, payload, w->len))) {
		refuse(qp, NAK_REMOTE_ACCESS);
		return;
	}
	rs->msg = WOP_WRITE;
	rs->va += w->len;
	rs->left -= w->len;
	accept(qp, w, 1);
	if (!(w->info & WOP_IMM))
		return;
	fill_cqe(qp, w, &e);
	e.bytes = rs->total;
	rq_complete(qp, &e, w->se);
}

static u32 read_packets(const struct cx3_qp *qp, u32 len)
{
	return len ? (len - 1) / qp_mtu(qp) + 1 : 1;
}

/* Rights for a read. Return: OWE_READ noted, or false. */
static bool owe_read(struct cx3_qp *qp, const struct wire_pkt *w, bool again)
{
	struct owed o = {
		.kind = OWE_READ, .psn = w->psn, .msn = psn_add(qp->rs.msn, 1),
		.syndrome = AETH_ACK | AETH_NO_CREDIT,
		.va = w->va, .rkey = w->rkey, .len = w->dmalen, .again = again,
		.pd = qp->rs.pd,
	};
	struct cx3_mr mr;

	if (!qp->c.rre ||
	    (w->dmalen && cx3_mr_check(qp->hca, w->rkey, qp->rs.pd, qp->obj.num, w->va, w->dmalen,
				       CX3_ACC_REMOTE_READ, false, &mr)))
		return false;
	resp_owe(qp, &o);
	return true;
}

static void take_read(struct cx3_qp *qp, const struct wire_pkt *w)
{
	if (w->dmalen > 1u << 31 || qp->rs.reading >= qp->rs.nold) {
		refuse(qp, NAK_INVALID_REQUEST);
		return;
	}
	if (!owe_read(qp, w, false)) {
		refuse(qp, NAK_REMOTE_ACCESS);
		return;
	}
	accept(qp, w, read_packets(qp, w->dmalen));
}

static u64 load(const struct cx3_hca *hca, const u8 *b)
{
	u64 v = 0;
	u32 i;

	if (hca->geo.flags & 2)
		return get64(b);
	for (i = 0; i < 8; i++)
		v |= (u64)b[i] << 8 * i;
	return v;
}

static void store(const struct cx3_hca *hca, u8 *b, u64 v)
{
	u32 i;

	if (hca->geo.flags & 2) {
		put64(b, v);
		return;
	}
	for (i = 0; i < 8; i++)
		b[i] = v >> 8 * i;
}

/* Adds with no carry out of a field; a set bit of @edges marks the highest bit of a field. */
static u64 masked_add(u64 a, u64 b, u64 edges)
{
	u64 sum = 0, carry = 0, bit;
	u32 i;

	for (i = 0; i < 64; i++) {
		bit = (a >> i & 1) + (b >> i & 1) + carry;
		sum |= (bit & 1) << i;
		carry = edges >> i & 1 ? 0 : bit >> 1;
	}
	return sum;
}

static u64 atomic_result(const struct wire_pkt *w, u64 orig)
{
	bool masked = wire_service(w->opcode) == WIRE_MASKED;
	u64 cmp_mask = masked ? w->cmp_mask : ~0ull, swap_mask = masked ? w->swap_mask : ~0ull;

	if (wire_op(w->opcode) == OP_FETCH_ADD)
		return masked ? masked_add(orig, w->swap, w->cmp_mask) : orig + w->swap;
	if ((orig ^ w->cmp) & cmp_mask)
		return orig;
	return (orig & ~swap_mask) | (w->swap & swap_mask);
}

static void owe_atomic(struct cx3_qp *qp, u32 psn, u64 orig, bool again)
{
	struct owed o = {
		.kind = OWE_ATOMIC, .psn = psn, .msn = qp->rs.msn, .orig = orig, .again = again,
		.syndrome = AETH_ACK | AETH_NO_CREDIT,
	};

	resp_owe(qp, &o);
}

static void take_atomic(struct cx3_qp *qp, const struct wire_pkt *w)
{
	struct responder *rs = &qp->rs;
	struct done_atomic *d;
	struct cx3_mr mr;
	u8 b[8];
	u64 orig;

	if (w->va & 7 || rs->reading >= rs->nold) {
		refuse(qp, NAK_INVALID_REQUEST);
		return;
	}
	if (!qp->c.rae || cx3_mr_check(qp->hca, w->rkey, qp->rs.pd, qp->obj.num, w->va, 8,
				       CX3_ACC_ATOMIC, false, &mr) ||
	    cx3_mr_read(qp->hca, &mr, w->va, b, sizeof(b))) {
		refuse(qp, NAK_REMOTE_ACCESS);
		return;
	}
	orig = load(qp->hca, b);
	store(qp->hca, b, atomic_result(w, orig));
	if (cx3_mr_write(qp->hca, &mr, w->va, b, sizeof(b))) {
		refuse(qp, NAK_REMOTE_ACCESS);
		return;
	}
	d = &rs->old[rs->oldpos++ % rs->nold];
	d->psn = w->psn;
	d->orig = orig;
	d->valid = true;
	accept(qp, w, 1);
	owe_atomic(qp, w->psn, orig, false);
}

/*
 * The PD that the keys of a request must have: that of the QP, for XRC that of the SRQ which each
 * request names (IB specification, annex A14): several processes share a target QP.
 */
static bool choose_pd(struct cx3_qp *qp, const struct wire_pkt *w)
{
	struct cx3_srq *srq;

	qp->rs.pd = qp->c.pd;
	if (qp->c.service != QPT_XRC)
		return true;
	srq = srq_find(qp->hca, w->xsrqn);
	if (!srq || srq->c.xrcd != qp->c.xrcd)
		return false;
	qp->rs.pd = srq->c.pd;
	return true;
}

/* A request that was taken before: its answer may have been lost, so it is given again. */
static void duplicate(struct cx3_qp *qp, const struct wire_pkt *w)
{
	struct responder *rs = &qp->rs;
	u32 i;

	if (w->info & WOP_READ) {
		if (psn_diff(psn_add(w->psn, read_packets(qp, w->dmalen)), rs->epsn) <= 0 &&
		    choose_pd(qp, w))
			owe_read(qp, w, true);
		return;
	}
	if (w->info & WOP_ATOMIC) {
		for (i = 0; i < rs->nold; i++)
			if (rs->old[i].valid && rs->old[i].psn == w->psn)
				owe_atomic(qp, w->psn, rs->old[i].orig, true);
		return;
	}
	if (w->ackreq)
		owe_ack(qp, psn_add(rs->epsn, WIRE_PSN_MASK));
}

/* Does this operation follow the one before, and is its payload as long as it must be? */
static bool in_sequence(const struct cx3_qp *qp, const struct wire_pkt *w)
{
	u16 kind = w->info & (WOP_SEND | WOP_WRITE);

	if (w->info & WOP_FIRST ? qp->rs.msg != 0 : qp->rs.msg != kind)
		return false;
	if (!kind)
		return true;
	if (!(w->info & WOP_LAST))
		return w->len == qp_mtu(qp);
	if (!(w->info & WOP_FIRST) && !w->len)
		return false;
	return w->len <= qp_mtu(qp);
}

static void dispatch(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload)
{
	if (!in_sequence(qp, w) || !choose_pd(qp, w))
		refuse(qp, NAK_INVALID_REQUEST);
	else if (w->info & WOP_SEND)
		take_send(qp, w, payload);
	else if (w->info & WOP_WRITE)
		take_write(qp, w, payload);
	else if (w->info & WOP_READ)
		take_read(qp, w);
	else
		take_atomic(qp, w);
}

/* No answers, no repeats: a gap drops what is left of a message. */
static void unreliable_request(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload)
{
	struct responder *rs = &qp->rs;

	if (w->psn != rs->epsn)
		rs->msg = 0;
	if (w->info & WOP_FIRST)
		rs->msg = 0;
	rs->epsn = w->psn;
	if (in_sequence(qp, w))
		dispatch(qp, w, payload);
	else
		rs->msg = 0;
	rs->epsn = psn_add(w->psn, 1);
}

/**
 * resp_request - a request packet for a connection
 * @qp: queue pair that receives
 * @w: packet
 * @payload: its payload
 */
void resp_request(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload)
{
	struct responder *rs = &qp->rs;
	s32 ahead = psn_diff(w->psn, rs->epsn);

	if (qp->c.state == QPS_RTR && !rs->comm_est) {
		rs->comm_est = true;
		cx3_event_num(qp->hca, CX3_EV_COMM_EST, qp->obj.num);
	}
	if (!reliable(qp)) {
		unreliable_request(qp, w, payload);
		return;
	}
	if (ahead < 0) {
		duplicate(qp, w);
		return;
	}
	if (ahead > 0) {
		if (!rs->nak_sent)
			owe_nak(qp, rs->epsn, AETH_NAK | NAK_SEQUENCE);
		rs->nak_sent = true;
		return;
	}
	rs->nak_sent = false;
	dispatch(qp, w, payload);
}
