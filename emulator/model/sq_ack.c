// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers to a reliable QP's requests: acknowledges, data of reads and atomics, NAKs, and the
 * absence of any of them (IB specification volume 1, chapters 9.7.5 and 9.7.6).
 *
 * A response acknowledges every request before it. If one of those is a read or atomic whose
 * data has not come, that data was lost and is asked for again, as after a NAK.
 */
#include "xport.h"

#define RNR_UNIT_NS 10000ull
#define RNR_FOREVER 7
#define ACK_UNIT_NS 4096ull
/* The specification lets a timeout take up to four times its value; this much is used. */
#define GRACE_NS 10000000ull

static u32 req_end(const struct sq_req *r)
{
	return psn_add(r->psn, r->npsn);
}

static bool wants_data(const struct sq_req *r)
{
	return r->npsn && (sq_is_read(r->opcode) || sq_is_atomic(r->opcode));
}

/**
 * sq_arm_timer - the oldest packet in flight is timed from now on
 * @qp: queue pair
 *
 * The timer itself is only armed if it is idle; when it fires too early it looks at the deadline.
 */
void sq_arm_timer(struct cx3_qp *qp)
{
	u64 ns = ACK_UNIT_NS << qp->c.path[0].ack_timeout;

	qp->sq.timing = qp->c.path[0].ack_timeout != 0;
	if (!qp->sq.timing)
		return;
	if (ns < qp->hca->cfg.ack_timeout_min)
		ns = qp->hca->cfg.ack_timeout_min;
	qp->sq.grace = false;
	qp->sq.deadline = cx3_now(qp->hca) + ns;
	if (!qp->sq.timer.armed)
		cx3_timer_arm(qp->hca, &qp->sq.timer, qp->sq.deadline);
}

/**
 * sq_go_back - send again from a PSN on
 * @qp: queue pair
 * @psn: a PSN in flight, or the next new one
 */
void sq_go_back(struct cx3_qp *qp, u32 psn)
{
	struct requester *sq = &qp->sq;
	u32 n;

	for (n = sq->head; n != sq->tail; n++) {
		struct sq_req *r = sq_req(qp, n);

		if (psn_diff(psn, req_end(r)) < 0)
			break;
	}
	sq->cur = n;
	sq->pkt = 0;
	if (n == sq->tail)
		return;
	if (sq_is_read(sq_req(qp, n)->opcode))
		sq->pkt = sq_req(qp, n)->done;
	else if (psn_diff(psn, sq_req(qp, n)->psn) > 0)
		sq->pkt = psn_diff(psn, sq_req(qp, n)->psn);
}

static void fail_head(struct cx3_qp *qp, u8 syndrome)
{
	if (qp->sq.head != qp->sq.tail)
		sq_local_error(qp, sq_req(qp, qp->sq.head)->wqe, syndrome);
}

static void retry(struct cx3_qp *qp, u32 psn)
{
	qp->sq.timing = false;
	if (qp->c.cur_retry) {
		qp->c.cur_retry--;
	} else if (apm_migrate(qp)) {
		qp->c.cur_retry = qp->c.retry;
	} else {
		fail_head(qp, SYN_RETRY_EXCEEDED);
		return;
	}
	sq_go_back(qp, psn);
	xport_ready(qp);
}

static bool req_done(const struct requester *sq, const struct sq_req *r)
{
	if (wants_data(r))
		return r->done == r->npsn;
	return psn_diff(sq->una, req_end(r)) >= 0;
}

/**
 * sq_retire - complete requests that are done, oldest first
 * @qp: queue pair
 */
void sq_retire(struct cx3_qp *qp)
{
	struct requester *sq = &qp->sq;

	while (sq->head != sq->tail) {
		struct sq_req *r = sq_req(qp, sq->head);

		if (r->syndrome) {
			fail_head(qp, r->syndrome);
			return;
		}
		if (!req_done(sq, r))
			break;
		sq->head++;
		if ((s32)(sq->cur - sq->head) < 0) {
			sq->cur = sq->head;
			sq->pkt = 0;
		}
		if (r->signaled)
			sq_complete(qp, r->wqe, r->opcode, wants_data(r) ? r->len : 0);
		if (qp->c.state == QPS_ERR)
			return;
	}
	if (sq->head == sq->tail)
		sq->timing = false;
	qp_check_drained(qp);
	xport_ready(qp);
}

/*
 * Everything up to @psn is acknowledged, unless response data is missing on the way.
 *
 * Return: false if so; what is missing has been asked for again.
 */
static bool acknowledge(struct cx3_qp *qp, u32 psn)
{
	struct requester *sq = &qp->sq;
	u32 n, una = psn_add(psn, 1);
	bool whole = true;

	for (n = sq->head; n != sq->tail; n++) {
		struct sq_req *r = sq_req(qp, n);

		if (psn_diff(r->psn, una) >= 0)
			break;
		if (wants_data(r) && r->done < r->npsn &&
		    psn_diff(una, psn_add(r->psn, r->done)) > 0) {
			una = psn_add(r->psn, r->done);
			whole = false;
			break;
		}
	}
	if (psn_diff(una, sq->una) > 0) {
		sq->una = una;
		sq->lost = false;
		qp->c.cur_retry = qp->c.retry;
		qp->c.cur_rnr = qp->c.rnr_retry;
		if (sq->timing)
			sq_arm_timer(qp);
	}
	sq_retire(qp);
	if (!whole && !sq->lost && qp->c.state != QPS_ERR) {
		sq->lost = true;
		retry(qp, una);
	}
	return whole && qp->c.state != QPS_ERR;
}

static u64 rnr_ns(u8 code)
{
	code &= 31;
	if (!code)
		return 65536 * RNR_UNIT_NS;
	if (code == 1)
		return RNR_UNIT_NS;
	return (code & 1 ? 3ull << (code - 3) / 2 : 1ull << code / 2) * RNR_UNIT_NS;
}

static void take_rnr(struct cx3_qp *qp, const struct wire_pkt *w)
{
	struct requester *sq = &qp->sq;

	if (!qp->c.cur_rnr) {
		fail_head(qp, SYN_RNR_EXCEEDED);
		return;
	}
	if (qp->c.rnr_retry != RNR_FOREVER)
		qp->c.cur_rnr--;
	sq->timing = false;
	sq->rnr_wait = true;
	sq_go_back(qp, w->psn);
	cx3_timer_arm(qp->hca, &sq->rnr_timer, cx3_now(qp->hca) + rnr_ns(w->syndrome));
}

static void take_nak(struct cx3_qp *qp, const struct wire_pkt *w)
{
	switch (w->syndrome & ~AETH_KIND) {
	case NAK_SEQUENCE:
		retry(qp, w->psn);
		break;
	case NAK_INVALID_REQUEST:
		fail_head(qp, SYN_REMOTE_INVALID);
		break;
	case NAK_REMOTE_ACCESS:
		fail_head(qp, SYN_REMOTE_ACCESS);
		break;
	case NAK_REMOTE_OPERATION:
		fail_head(qp, SYN_REMOTE_OP);
		break;
	default:
		fail_head(qp, SYN_BAD_RESPONSE);
	}
}

static void take_ack(struct cx3_qp *qp, const struct wire_pkt *w)
{
	switch (w->syndrome & AETH_KIND) {
	case AETH_ACK:
		acknowledge(qp, w->psn);
		break;
	case AETH_RNR:
		if (acknowledge(qp, psn_add(w->psn, WIRE_PSN_MASK)))
			take_rnr(qp, w);
		break;
	case AETH_NAK:
		if (acknowledge(qp, psn_add(w->psn, WIRE_PSN_MASK)))
			take_nak(qp, w);
		break;
	}
}

/* Original value of an atomic, in the byte order of the host (INIT_HCA told which). */
static void host_order(const struct cx3_hca *hca, u64 val, u8 *b)
{
	u32 i;

	if (hca->geo.flags & 2)
		put64(b, val);
	else
		for (i = 0; i < 8; i++)
			b[i] = val >> 8 * i;
}

/* Is this response what the request asks for next? */
static bool response_fits(struct cx3_qp *qp, const struct sq_req *r, const struct wire_pkt *w)
{
	u8 op = wire_op(w->opcode);
	bool last = r->done + 1 == r->npsn;

	if (sq_is_atomic(r->opcode))
		return op == OP_ATOMIC_ACK;
	if (!sq_is_read(r->opcode) || op == OP_ATOMIC_ACK)
		return false;
	if (last != ((w->info & WOP_LAST) != 0))
		return false;
	return w->len == (last ? r->len - r->done * qp_mtu(qp) : qp_mtu(qp));
}

/* Data of a read or atomic for the oldest request. */
static void take_data(struct cx3_qp *qp, struct sq_req *r, const struct wire_pkt *w,
		      const u8 *payload)
{
	u8 value[8], syndrome;
	struct swqe *wqe;
	u32 off = r->done * qp_mtu(qp), len = w->len;

	if (!response_fits(qp, r, w)) {
		fail_head(qp, SYN_BAD_RESPONSE);
		return;
	}
	if (wqe_fetch(qp, r->wqe, &wqe) != WQE_OK) {
		fail_head(qp, SYN_LOCAL_QP_OP);
		return;
	}
	if (sq_is_atomic(r->opcode)) {
		host_order(qp->hca, w->orig, value);
		payload = value;
		len = sizeof(value);
	}
	syndrome = wqe_scatter(qp, wqe, off, payload, len);
	if (syndrome) {
		fail_head(qp, syndrome);
		return;
	}
	r->done++;
	if (r->done == r->npsn)
		qp->sq.reads--;
	acknowledge(qp, w->psn);
}

/**
 * sq_response - a response packet for a reliable QP
 * @qp: queue pair
 * @w: packet
 * @payload: its payload
 */
void sq_response(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *payload)
{
	struct requester *sq = &qp->sq;
	struct sq_req *r;

	if (!sq->req || qp->c.state < QPS_RTS || qp->c.state == QPS_ERR)
		return;
	/* a ghost of the past, or of a connection before this one */
	if (psn_diff(w->psn, sq->una) < 0 || psn_diff(w->psn, sq->top) >= 0)
		return;
	if (wire_op(w->opcode) == OP_ACK) {
		take_ack(qp, w);
		return;
	}
	if (!acknowledge(qp, psn_add(w->psn, WIRE_PSN_MASK)) || sq->head == sq->tail)
		return;
	r = sq_req(qp, sq->head);
	if (!wants_data(r) || psn_diff(w->psn, psn_add(r->psn, r->done)) != 0) {
		if (!wants_data(r))
			fail_head(qp, SYN_BAD_RESPONSE);
		return;
	}
	take_data(qp, r, w, payload);
}

/**
 * sq_timeout - the timer of a requester
 * @hca: device
 * @t: the QP's timer
 *
 * On a host that was kept from running, this timer and those that carry the answer are all due at
 * once. So the first time it only waits a little longer.
 */
void sq_timeout(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct cx3_qp *qp = container_of(t, struct cx3_qp, sq.timer);

	if (!qp->sq.timing || qp->sq.head == qp->sq.tail)
		return;
	if (cx3_now(hca) < qp->sq.deadline) {
		cx3_timer_arm(hca, t, qp->sq.deadline);
		return;
	}
	if (!qp->sq.grace) {
		qp->sq.grace = true;
		qp->sq.deadline = cx3_now(hca) + GRACE_NS;
		cx3_timer_arm(hca, t, qp->sq.deadline);
		return;
	}
	qp->sq.lost = false;
	retry(qp, qp->sq.una);
	xport_run(hca);
}

/**
 * sq_rnr_over - the peer should be ready again
 * @hca: device
 * @t: the QP's timer
 */
void sq_rnr_over(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct cx3_qp *qp = container_of(t, struct cx3_qp, sq.rnr_timer);

	qp->sq.rnr_wait = false;
	xport_ready(qp);
	xport_run(hca);
}
