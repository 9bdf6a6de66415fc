// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sending half of a QP: starts the WQEs that software has handed over, cuts messages into
 * packets, and completes what needs no answer.
 *
 * RC and XRC keep a ring of requests in flight. A request is in it from its start until all of
 * it is acknowledged and every older one is complete; local operations are in it too, with no
 * PSN, so that completions come in order. Sending again means to set the cursor back and to
 * fetch the WQE again.
 */
#include "xport.h"

/* With the longest message on top this stays below half of the circle of PSNs. */
#define PSN_WINDOW 0x200000

/**
 * sq_error_cqe - complete a send WQE with an error
 * @qp: queue pair
 * @wqe: its counter
 * @syndrome: enum cqe_syndrome
 */
void sq_error_cqe(struct cx3_qp *qp, u16 wqe, u8 syndrome)
{
	struct cqe e = {
		.send = 1, .opcode = CQE_ERROR, .wqe = wqe, .syndrome = syndrome,
	};

	cq_post(qp, qp->c.scqn, &e, true);
}

/**
 * sq_complete - complete a send WQE well
 * @qp: queue pair
 * @wqe: its counter
 * @opcode: its opcode
 * @bytes: reads and atomics: bytes received
 */
void sq_complete(struct cx3_qp *qp, u16 wqe, u8 opcode, u32 bytes)
{
	struct cqe e = { .send = 1, .opcode = opcode, .wqe = wqe, .bytes = bytes };

	cq_post(qp, qp->c.scqn, &e, false);
}

/**
 * sq_local_error - a WQE failed at this side
 * @qp: queue pair
 * @wqe: its counter; everything before it is complete
 * @syndrome: enum cqe_syndrome
 *
 * Reliable QPs go to ERR, the others to SQER, where their receive queue goes on.
 */
void sq_local_error(struct cx3_qp *qp, u16 wqe, u8 syndrome)
{
	sq_error_cqe(qp, wqe, syndrome);
	if (qp->c.state == QPS_ERR)
		return;
	if (qp_is_reliable(qp)) {
		qp_enter_error(qp);
		qp->sq.next = wqe + 1;
		return;
	}
	qp->c.state = QPS_SQER;
	qp->sq.next = wqe + 1;
	qp->sq.ud_off = 0;
	xport_ready(qp);
}

/**
 * sq_flush_one - complete one posted send WQE with "flushed"
 * @qp: queue pair in ERR or SQER
 *
 * Return: true if there was one.
 */
bool sq_flush_one(struct cx3_qp *qp)
{
	struct wqe_ctrl ctrl;

	if (!qp->has_sq || wqe_peek(qp, qp->sq.next, &ctrl) != WQE_OK)
		return false;
	sq_error_cqe(qp, qp->sq.next++, SYN_FLUSH);
	return true;
}

static bool is_local(u8 opcode)
{
	return opcode == WQE_NOP || opcode == WQE_BIND_MW || opcode == WQE_FAST_REG ||
	       opcode == WQE_LOCAL_INV;
}

/* May a QP of this service send this at all? */
static bool opcode_fits(const struct cx3_qp *qp, u8 opcode)
{
	switch (opcode) {
	case WQE_SEND:
		return true;
	case WQE_NOP:
		return qp->c.service != QPT_MLX;
	case WQE_SEND_IMM:
		return qp->c.service != QPT_MLX;
	case WQE_LSO:
		return qp->c.service == QPT_UD;
	case WQE_WRITE:
	case WQE_WRITE_IMM:
	case WQE_BIND_MW:
	case WQE_FAST_REG:
	case WQE_LOCAL_INV:
		return qp_is_reliable(qp) || qp->c.service == QPT_UC;
	case WQE_SEND_INVAL:
	case WQE_READ:
		return qp_is_reliable(qp);
	default:
		return sq_is_atomic(opcode) && qp_is_reliable(qp);
	}
}

static u32 packets(const struct cx3_qp *qp, u64 len)
{
	u32 mtu = qp_mtu(qp);

	return len ? (u32)((len + mtu - 1) / mtu) : 1;
}

/* Has a WQE to wait for older ones? */
static bool must_wait(const struct cx3_qp *qp, const struct swqe *w)
{
	const struct requester *sq = &qp->sq;
	u8 op = w->ctrl.opcode;

	if (sq->tail - sq->head >= SQ_WINDOW || psn_diff(sq->psn, sq->una) > PSN_WINDOW)
		return true;
	if (w->ctrl.fence && sq->reads)
		return true;
	/* an invalidated key may be in use by a request that has to be sent again */
	if (op == WQE_LOCAL_INV && sq->head != sq->tail)
		return true;
	return (sq_is_read(op) || sq_is_atomic(op)) && sq->reads >= 1u << qp->c.sra;
}

/* Puts the WQE at hand into the ring. A local operation is done here and now. */
static void start_request(struct cx3_qp *qp, struct swqe *w, u8 syndrome)
{
	struct requester *sq = &qp->sq;
	struct sq_req *r = sq_req(qp, sq->tail);
	u8 op = w->ctrl.opcode;

	memset(r, 0, sizeof(*r));
	r->wqe = sq->next++;
	r->opcode = op;
	r->signaled = w->ctrl.cq_update == 3;
	r->psn = sq->psn;
	r->syndrome = syndrome;
	if (!syndrome && is_local(op)) {
		r->syndrome = local_execute(qp, w);
	} else if (!syndrome) {
		r->len = sq_is_atomic(op) ? 8 : (u32)w->len;
		r->npsn = sq_is_atomic(op) ? 1 : packets(qp, w->len);
		if (sq_is_read(op) || sq_is_atomic(op))
			sq->reads++;
	}
	if (r->syndrome)
		sq->stop = true;
	sq->psn = psn_add(sq->psn, r->npsn);
	sq->tail++;
	cx3_count(qp->hca, CX3_C_WQE_SEND, 1);
}

static u8 check_request(const struct cx3_qp *qp, const struct swqe *w)
{
	if (!opcode_fits(qp, w->ctrl.opcode))
		return SYN_LOCAL_QP_OP;
	if (is_local(w->ctrl.opcode))
		return SYN_OK;
	if (w->len > 1ull << (qp->c.msg_max > 31 ? 31 : qp->c.msg_max))
		return SYN_LOCAL_LENGTH;
	if (sq_is_atomic(w->ctrl.opcode) && w->len < 8)
		return SYN_LOCAL_LENGTH;
	return SYN_OK;
}

/* Fetches and starts the next WQE of a reliable QP. Return: one was started. */
static bool start_next(struct cx3_qp *qp)
{
	struct swqe *w;
	u8 syndrome = SYN_OK;

	if (qp->sq.stop || qp->c.state != QPS_RTS)
		return false;
	switch (wqe_fetch(qp, qp->sq.next, &w)) {
	case WQE_OK:
		syndrome = check_request(qp, w);
		break;
	case WQE_MALFORMED:
		syndrome = SYN_LOCAL_QP_OP;
		break;
	case WQE_UNREADABLE:
		qp_error(qp, CX3_EV_WQ_CATAS);
		return false;
	default:
		return false;
	}
	if (must_wait(qp, w))
		return false;
	start_request(qp, w, syndrome);
	return true;
}

static u8 packet_op(u8 wqe_op, bool first, bool last)
{
	switch (wqe_op) {
	case WQE_WRITE:
	case WQE_WRITE_IMM:
		if (!last)
			return first ? OP_WRITE_FIRST : OP_WRITE_MIDDLE;
		if (wqe_op == WQE_WRITE)
			return first ? OP_WRITE_ONLY : OP_WRITE_LAST;
		return first ? OP_WRITE_ONLY_IMM : OP_WRITE_LAST_IMM;
	case WQE_READ:
		return OP_READ_REQUEST;
	case WQE_CMP_SWAP:
	case WQE_MASKED_CS:
		return OP_CMP_SWAP;
	case WQE_FETCH_ADD:
	case WQE_MASKED_FA:
		return OP_FETCH_ADD;
	}
	if (!last)
		return first ? OP_SEND_FIRST : OP_SEND_MIDDLE;
	if (wqe_op == WQE_SEND_INVAL)
		return first ? OP_SEND_ONLY_INV : OP_SEND_LAST_INV;
	if (wqe_op == WQE_SEND_IMM)
		return first ? OP_SEND_ONLY_IMM : OP_SEND_LAST_IMM;
	return first ? OP_SEND_ONLY : OP_SEND_LAST;
}

static enum wire_service packet_service(const struct cx3_qp *qp, u8 wqe_op)
{
	if (qp->c.service == QPT_UC)
		return WIRE_UC;
	if (qp->c.service == QPT_XRC)
		return WIRE_XRC;
	return wqe_op == WQE_MASKED_CS || wqe_op == WQE_MASKED_FA ? WIRE_MASKED : WIRE_RC;
}

static void fill_operands(const struct swqe *w, struct wire_pkt *p)
{
	p->va = w->raddr.va;
	p->rkey = w->raddr.rkey;
	p->swap = w->atomic.swap;
	p->cmp = w->atomic.cmp;
	p->swap_mask = w->atomic.swap_mask;
	p->cmp_mask = w->atomic.cmp_mask;
	if (w->ctrl.opcode == WQE_MASKED_FA) {
		/* second operand is the field boundary mask */
		p->cmp_mask = w->atomic.cmp;
		p->cmp = 0;
	}
}

/**
 * send_packet - build and send packet @n of @total of the WQE at hand
 * @qp: queue pair
 * @w: WQE
 * @n: packet; for reads the response packets already taken
 * @total: packets of the message
 * @psn: PSN
 * @syndrome: set when the payload cannot be read
 *
 * Return: what became of it; LINK_OK also when @syndrome was set.
 */
static enum link_result send_packet(struct cx3_qp *qp, const struct swqe *w, u32 n, u32 total,
				    u32 psn, u8 *syndrome)
{
	struct wire_pkt p = { .lnh = qp->c.path[0].grh ? WIRE_LNH_GRH : WIRE_LNH_IBA };
	bool read = sq_is_read(w->ctrl.opcode), last = read || n + 1 == total;
	u64 off = (u64)n * qp_mtu(qp);

	p.opcode = packet_service(qp, w->ctrl.opcode) << 5 |
		   packet_op(w->ctrl.opcode, n == 0, last);
	p.psn = psn;
	p.se = last && w->ctrl.solicited;
	p.ackreq = qp_is_reliable(qp) &&
		   (last || !(psn & ((1u << qp->c.ack_freq) - 1)));
	p.imm = w->ctrl.imm;
	p.ieth = w->ctrl.imm;
	p.xsrqn = w->ctrl.srcrb;
	p.dmalen = (u32)w->len;
	fill_operands(w, &p);
	if (read) {
		p.va += off;
		p.dmalen -= (u32)off;
	} else if (!sq_is_atomic(w->ctrl.opcode)) {
		p.len = last ? (u32)(w->len - off) : qp_mtu(qp);
		*syndrome = wqe_gather(qp, w, off, qp->hca->xport->pkt + wire_header_len(&p),
				       p.len);
		if (*syndrome)
			return LINK_OK;
	}
	return tx_connected(qp, &p);
}

/* The request at the cursor cannot go on: it fails when its turn comes, and no newer one starts. */
static void fail_request(struct cx3_qp *qp, struct sq_req *r, u8 syndrome)
{
	r->syndrome = syndrome;
	qp->sq.stop = true;
	qp->sq.cur = qp->sq.tail;
	qp->sq.pkt = 0;
	sq_retire(qp);
}

/* Sends one packet of the request at the cursor. Return: LINK_OK, or why it cannot be sent. */
static enum link_result advance(struct cx3_qp *qp)
{
	struct requester *sq = &qp->sq;
	struct sq_req *r = sq_req(qp, sq->cur);
	enum link_result res;
	struct swqe *w;
	u8 syndrome = SYN_OK;
	u32 psn;

	if (r->npsn == 0 || r->syndrome) {
		sq->cur++;
		sq->pkt = 0;
		return LINK_OK;
	}
	/* read again for each packet: the driver must not have made another request of it */
	if (wqe_fetch(qp, r->wqe, &w) != WQE_OK || w->ctrl.opcode != r->opcode ||
	    (!sq_is_atomic(r->opcode) && w->len != r->len)) {
		fail_request(qp, r, SYN_LOCAL_QP_OP);
		return LINK_OK;
	}
	psn = psn_add(r->psn, sq->pkt);
	if (psn_diff(psn, sq->top) < 0)
		cx3_count(qp->hca, CX3_C_RETRANSMIT, 1);
	if (sq_is_read(r->opcode) || sq->pkt + 1 == r->npsn) {
		sq->cur++;
		sq->pkt = 0;
	} else {
		sq->pkt++;
	}
	res = send_packet(qp, w, psn_diff(psn, r->psn), r->npsn, psn, &syndrome);
	/* the packet may have come back to this QP and broken it */
	if (qp->c.state == QPS_ERR)
		return LINK_OK;
	if (res == LINK_BUSY) {
		sq_go_back(qp, psn);
		return LINK_BUSY;
	}
	if (syndrome) {
		fail_request(qp, r, syndrome);
		return LINK_OK;
	}
	psn = psn_add(psn, sq_is_read(r->opcode) ? r->npsn - psn_diff(psn, r->psn) : 1);
	if (psn_diff(psn, sq->top) > 0)
		sq->top = psn;
	if (!sq->timing)
		sq_arm_timer(qp);
	return LINK_OK;
}

static bool serve_reliable(struct cx3_qp *qp)
{
	struct requester *sq = &qp->sq;

	while (qp->hca->xport->budget > 0) {
		if (qp->c.state != QPS_RTS && qp->c.state != QPS_DRAINING)
			break;
		if (sq->rnr_wait)
			return false;
		if (sq->cur == sq->tail) {
			if (!start_next(qp))
				return false;
			qp->hca->xport->budget--;
			sq_retire(qp);
			continue;
		}
		if (advance(qp) == LINK_BUSY) {
			xport_block(qp, qp->c.path[0].port + 1u);
			return false;
		}
	}
	return true;
}

/* One packet of an unreliable connection or datagram WQE. Return: what became of it. */
static enum link_result send_unreliable(struct cx3_qp *qp, struct swqe *w, bool *done, u8 *syn)
{
	u32 total, n;
	enum link_result res;

	*done = true;
	*syn = check_request(qp, w);
	if (*syn)
		return LINK_OK;
	if (is_local(w->ctrl.opcode)) {
		*syn = local_execute(qp, w);
		return LINK_OK;
	}
	if (qp->c.service == QPT_MLX)
		return mlx_send(qp, w, syn);
	if (qp->c.service == QPT_UD)
		return ud_send(qp, w, done, syn);
	total = packets(qp, w->len);
	n = (u32)qp->sq.ud_off;
	res = send_packet(qp, w, n, total, qp->sq.psn, syn);
	if (res == LINK_BUSY || *syn)
		return res;
	qp->sq.psn = psn_add(qp->sq.psn, 1);
	qp->sq.ud_off++;
	*done = n + 1 >= total;
	return res;
}

static bool serve_unreliable(struct cx3_qp *qp)
{
	struct cx3_transport *xp = qp->hca->xport;
	struct requester *sq = &qp->sq;
	struct swqe *w;
	u8 syn, opcode;
	bool done, signaled;

	while (xp->budget > 0) {
		if (qp->c.state == QPS_DRAINING && !sq->ud_off) {
			qp_check_drained(qp);
			return false;
		}
		if (qp->c.state != QPS_RTS && qp->c.state != QPS_DRAINING)
			return true;
		switch (wqe_fetch(qp, sq->next, &w)) {
		case WQE_OK:
			break;
		case WQE_MALFORMED:
			sq_local_error(qp, sq->next, SYN_LOCAL_QP_OP);
			return true;
		case WQE_UNREADABLE:
			qp_error(qp, CX3_EV_WQ_CATAS);
			return true;
		default:
			return false;
		}
		opcode = w->ctrl.opcode;
		signaled = qp->c.service == QPT_MLX ? w->mlx.cq_update : w->ctrl.cq_update;
		xp->budget--;
		if (send_unreliable(qp, w, &done, &syn) == LINK_BUSY) {
			xport_block(qp, qp->c.path[0].port + 1u);
			return false;
		}
		if (syn) {
			sq_local_error(qp, sq->next, syn);
			return true;
		}
		if (!done)
			continue;
		sq->ud_off = 0;
		cx3_count(qp->hca, CX3_C_WQE_SEND, 1);
		sq->next++;
		if (signaled)
			sq_complete(qp, sq->next - 1, opcode, 0);
	}
	return true;
}

/**
 * sq_service - one turn of the sending half
 * @qp: queue pair in RTS or draining
 *
 * Return: true if it can go on right away.
 */
bool sq_service(struct cx3_qp *qp)
{
	if (!qp->has_sq)
		return false;
	if (qp_is_reliable(qp))
		return serve_reliable(qp);
	return serve_unreliable(qp);
}
