// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive WQEs: from the QP's own queue or from an SRQ, where payload goes, and their
 * completions. Receives are posted by raising a counter in memory, so the device reads it
 * whenever it needs a WQE.
 */
#include "xport.h"

static enum rq_result take_own(struct cx3_qp *qp)
{
	struct rwqe *w = &qp->rs.wqe;
	u32 slot = qp->rs.taken & ((1u << qp->c.rq_log) - 1);
	u32 bytes = 16u << qp->c.rq_stride;
	u8 raw[CX3_MAX_RQ_DESC];
	u8 b[4];

	if (cx3_dma_read(qp->hca, qp->c.db, b, sizeof(b)))
		return RQ_BROKEN;
	if ((u16)(get32(b) - qp->rs.taken) == 0)
		return RQ_EMPTY;
	if ((u16)(get32(b) - qp->rs.taken) > 1u << qp->c.rq_log) {
		cx3_violation(qp->hca, CX3_V_WQE, "QP 0x%06x: %u receives posted, ring of %u",
			      qp->obj.num, (u16)(get32(b) - qp->rs.taken), 1u << qp->c.rq_log);
		return RQ_BROKEN;
	}
	if (bytes > sizeof(raw))
		bytes = sizeof(raw);
	if (cx3_buf_read(qp->hca, &qp->buf,
			 qp->rq_at + ((u64)slot << (qp->c.rq_stride + 4)), raw, bytes))
		return RQ_BROKEN;
	wqe_parse_receive(raw, bytes, w);
	w->have = true;
	w->index = qp->rs.taken++;
	w->pd = qp->c.pd;
	cx3_count(qp->hca, CX3_C_WQE_RECV, 1);
	return RQ_OK;
}

static enum rq_result take_shared(struct cx3_qp *qp, u32 srqn)
{
	struct cx3_srq *srq = srq_find(qp->hca, srqn);
	int r;

	if (!srq) {
		if (qp->c.service != QPT_XRC)
			cx3_violation(qp->hca, CX3_V_DEAD_OBJECT, "QP 0x%06x uses dead SRQ 0x%06x",
				      qp->obj.num, srqn);
		return qp->c.service == QPT_XRC ? RQ_NO_SRQ : RQ_BROKEN;
	}
	if (qp->c.service == QPT_XRC && srq->c.xrcd != qp->c.xrcd)
		return RQ_NO_SRQ;
	r = srq_take(qp->hca, srq, &qp->rs.wqe);
	if (r)
		return r > 0 ? RQ_EMPTY : RQ_BROKEN;
	qp->rs.wqe.srqn = srqn;
	return RQ_OK;
}

/**
 * rq_take - take a receive WQE into qp->rs.wqe
 * @qp: queue pair with none in use
 * @xsrqn: XRC: SRQN from the packet
 *
 * Return: RQ_OK if one was taken, or why not.
 */
enum rq_result rq_take(struct cx3_qp *qp, u32 xsrqn)
{
	if (qp->c.service == QPT_XRC)
		return take_shared(qp, xsrqn);
	if (qp->c.has_srq)
		return take_shared(qp, qp->c.srqn);
	return qp->has_rq ? take_own(qp) : RQ_EMPTY;
}

/**
 * rq_scatter - put payload where the receive WQE in use says
 * @qp: queue pair
 * @off: offset in the message
 * @src: payload
 * @len: bytes
 *
 * Return: SYN_OK or the syndrome to complete with.
 */
u8 rq_scatter(struct cx3_qp *qp, u64 off, const u8 *src, u32 len)
{
	struct rwqe *w = &qp->rs.wqe;
	struct sge_list l = { qp, w->pd, w->s, w->n, NULL };

	return sge_copy(&l, off, NULL, src, len);
}

/**
 * rq_inline - put a short message into the receive WQE itself
 * @qp: queue pair with a WQE of its own RQ in use
 * @src: message
 * @len: bytes
 *
 * Return: false if the context does not ask for it, the message is too long, or the ring cannot
 * be written; then it has to be scattered.
 */
bool rq_inline(struct cx3_qp *qp, const u8 *src, u32 len)
{
	u32 stride = 16u << qp->c.rq_stride;
	u64 slot = qp->rs.wqe.index & ((1u << qp->c.rq_log) - 1);

	if (!qp->c.inline_scatter || !qp->has_rq || !len || len > stride)
		return false;
	return !cx3_buf_write(qp->hca, &qp->buf, qp->rq_at + slot * stride, src, len);
}

/* The CQ of receives: for XRC that of the SRQ. */
static u32 receive_cqn(struct cx3_qp *qp)
{
	struct cx3_srq *srq;

	if (qp->c.service != QPT_XRC)
		return qp->c.rcqn;
	srq = srq_find(qp->hca, qp->rs.wqe.srqn);
	return srq ? srq->c.cqn : 0xffffff;
}

/**
 * rq_complete - complete the receive WQE in use
 * @qp: queue pair
 * @e: entry; the WQE's index, and for XRC the SRQN, are filled in here
 * @solicited: the sender asked for an event
 */
void rq_complete(struct cx3_qp *qp, struct cqe *e, bool solicited)
{
	u32 cqn = receive_cqn(qp);

	e->wqe = qp->rs.wqe.index;
	if (qp->c.service == QPT_XRC)
		e->rqpn = qp->rs.wqe.srqn;
	qp->rs.wqe.have = false;
	cq_post(qp, cqn, e, solicited);
}

/**
 * rq_fail - complete the receive WQE in use with an error
 * @qp: queue pair; nothing happens if it has none in use
 * @syndrome: enum cqe_syndrome
 */
void rq_fail(struct cx3_qp *qp, u8 syndrome)
{
	struct cqe e = { .opcode = CQE_ERROR, .syndrome = syndrome };

	if (qp->rs.wqe.have)
		rq_complete(qp, &e, true);
}

/**
 * rq_flush_one - complete one receive WQE with "flushed"
 * @qp: queue pair in ERR
 *
 * An SRQ's WQEs are not flushed, only the one this QP had taken.
 *
 * Return: true if there was one.
 */
bool rq_flush_one(struct cx3_qp *qp)
{
	if (!qp->rs.wqe.have && (!qp->has_rq || take_own(qp) != RQ_OK))
		return false;
	rq_fail(qp, SYN_FLUSH);
	return true;
}

/**
 * resp_poll - look for receives posted to a QP in error
 * @hca: device
 * @t: the QP's timer
 */
void resp_poll(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct cx3_qp *qp = container_of(t, struct cx3_qp, rs.poll);

	if (qp->c.state != QPS_ERR)
		return;
	if (qp->rs.poll_ns < FLUSH_POLL_MAX_NS)
		qp->rs.poll_ns *= 2;
	xport_ready(qp);
	xport_run(hca);
}
