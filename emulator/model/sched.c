// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scheduling: which QP works next, how much is done in one step, and the doorbells that start it.
 *
 * A QP with work is on the ready list, one that waits for room on its link on the list of that
 * port. Each entry from outside works off the ready list until its budget of packets is used
 * up; the rest follows from a timer, so that no doorbell keeps a guest's CPU for long.
 */
#include "xport.h"

#define UAR_SEND_DB 0x14
#define UAR_CQ_DB 0x20
#define BF_HALF (1u << (CX3_LOG_BF_REG - 1))

static void queue_add(struct qp_list *l, struct cx3_qp *qp)
{
	qp->next = NULL;
	qp->on = l;
	if (l->last)
		l->last->next = qp;
	else
		l->first = qp;
	l->last = qp;
}

static struct cx3_qp *queue_pop(struct qp_list *l)
{
	struct cx3_qp *qp = l->first;

	if (!qp)
		return NULL;
	l->first = qp->next;
	if (!l->first)
		l->last = NULL;
	qp->on = NULL;
	return qp;
}

static void queue_del(struct qp_list *l, struct cx3_qp *qp)
{
	struct cx3_qp *prev = NULL, *p;

	for (p = l->first; p && p != qp; p = p->next)
		prev = p;
	if (!p)
		return;
	if (prev)
		prev->next = qp->next;
	else
		l->first = qp->next;
	if (l->last == qp)
		l->last = prev;
	qp->on = NULL;
}

/**
 * xport_ready - a QP has work
 * @qp: queue pair; nothing happens if it is ready already or waits for its link
 */
void xport_ready(struct cx3_qp *qp)
{
	if (!qp->on)
		queue_add(&qp->hca->xport->ready, qp);
}

/**
 * xport_block - a QP has work, but the link of a port takes no more packets
 * @qp: queue pair, being served, on no list
 * @port: 1 based
 */
void xport_block(struct cx3_qp *qp, unsigned int port)
{
	if (qp->on)
		queue_del(qp->on, qp);
	queue_add(&qp->hca->xport->blocked[port - 1], qp);
}

/**
 * xport_forget - take a QP off whatever list it is on
 * @qp: queue pair
 */
void xport_forget(struct cx3_qp *qp)
{
	if (qp->on)
		queue_del(qp->on, qp);
}

/* One turn of one QP. Return: it has more to do now. */
static bool serve(struct cx3_qp *qp)
{
	bool more = false;

	if (qp->rs.ohead != qp->rs.otail)
		more = resp_service(qp);
	if (qp->on)
		return false;
	switch (qp->c.state) {
	case QPS_RTS:
	case QPS_DRAINING:
		return sq_service(qp) || more;
	case QPS_SQER:
	case QPS_ERR:
		return qp_flush(qp) || more;
	default:
		return more;
	}
}

static void step(struct cx3_hca *hca)
{
	struct cx3_transport *xp = hca->xport;
	struct cx3_qp *qp;

	xp->budget = STEP_PACKETS;
	while (xp->budget > 0 && (qp = queue_pop(&xp->ready))) {
		xp->budget--;
		if (serve(qp))
			xport_ready(qp);
	}
	if (xp->ready.first && !xp->work.armed)
		cx3_timer_arm(hca, &xp->work, cx3_now(hca) + STEP_NS);
}

/**
 * xport_run - serve ready QPs within the budget of one step
 * @hca: device; called at the end of each entry from outside
 */
void xport_run(struct cx3_hca *hca)
{
	if (!hca->xport->work.armed)
		step(hca);
}

static void work_timer(struct cx3_hca *hca, struct cx3_timer *t)
{
	(void)t;
	step(hca);
}

/**
 * cx3_transport_tx_ready - the link of a port takes packets again
 * @p: port
 */
void cx3_transport_tx_ready(struct cx3_port *p)
{
	struct cx3_transport *xp = p->hca->xport;
	struct cx3_qp *qp;

	while ((qp = queue_pop(&xp->blocked[p->num - 1])))
		xport_ready(qp);
	xport_run(p->hca);
}

/**
 * cx3_transport_port_change - link or logical state of a port changed
 * @p: port
 *
 * What waited for the link goes on: its packets are sent, or dropped as the state now asks.
 */
void cx3_transport_port_change(struct cx3_port *p)
{
	cx3_transport_tx_ready(p);
}

/*
 * A doorbell is told about a WQE that has been handed over. The WQE may be done already, by the
 * doorbell of another that came before; but there are never more doorbells than WQEs.
 */
static void check_handed_over(struct cx3_qp *qp)
{
	struct wqe_ctrl ctrl;

	qp->sq.rung++;
	/* One doorbell may tell of many, so it falls behind: not so far that it looks ahead. */
	if ((u16)(qp->sq.next - qp->sq.rung) < 0x8000 &&
	    (u16)(qp->sq.next - qp->sq.rung) > 0x4000)
		qp->sq.rung = qp->sq.next - 0x4000;
	if ((s16)(qp->sq.rung - qp->sq.next) <= 0 ||
	    wqe_peek(qp, qp->sq.next, &ctrl) != WQE_NONE)
		return;
	cx3_violation(qp->hca, CX3_V_WQE,
		      "QP 0x%06x: doorbell, and WQE %u is not the hardware's", qp->obj.num,
		      qp->sq.next);
	qp->sq.rung = qp->sq.next;
}

static void send_doorbell(struct cx3_hca *hca, u32 page, u32 qpn)
{
	struct cx3_qp *qp = qp_find(hca, qpn);

	if (!qp) {
		cx3_violation(hca, CX3_V_DB_DEAD, "send doorbell for dead QP 0x%06x", qpn);
		return;
	}
	if (page != qp->c.uar) {
		cx3_violation(hca, CX3_V_DB_BAD, "send doorbell of QP 0x%06x in UAR %u, not %u",
			      qpn, page, qp->c.uar);
		return;
	}
	if (qp->c.state < QPS_RTS) {
		cx3_violation(hca, CX3_V_DB_BAD, "send doorbell of QP 0x%06x in state %u", qpn,
			      qp->c.state);
		return;
	}
	if (hca->cfg.strict)
		check_handed_over(qp);
	xport_ready(qp);
	xport_run(hca);
}

/**
 * cx3_transport_uar_write - a store to a UAR page; see hca.h
 * @hca: device
 * @page: UAR number
 * @off: offset in the page
 * @b: bytes in memory order
 * @size: how many
 *
 * The CQ doorbell comes as one 64-bit store, or as two 32-bit ones, high word first.
 */
void cx3_transport_uar_write(struct cx3_hca *hca, u32 page, u32 off, const u8 *b,
			     unsigned int size)
{
	struct cx3_transport *xp = hca->xport;

	if (off == UAR_SEND_DB && size == 4) {
		cx3_count(hca, CX3_C_DB_SEND, 1);
		send_doorbell(hca, page, get32(b) >> 8);
	} else if (off == UAR_CQ_DB && size == 8) {
		cq_doorbell(hca, page, get32(b), get32(b + 4));
	} else if (off == UAR_CQ_DB && size == 4) {
		xp->db_page = page;
		xp->db_high = get32(b);
		xp->db_half = true;
	} else if (off == UAR_CQ_DB + 4 && size == 4 && xp->db_half && xp->db_page == page) {
		xp->db_half = false;
		cq_doorbell(hca, page, xp->db_high, get32(b));
	} else {
		cx3_violation(hca, CX3_V_DB_BAD, "UAR %u: %u bytes at 0x%03x are no doorbell",
			      page, size, off);
	}
}

/**
 * cx3_transport_bf_write - a store to a BlueFlame page; see hca.h
 * @hca: device
 * @page: BlueFlame page, numbered as its UAR
 * @off: offset in the page
 * @b: bytes in memory order
 * @size: how many
 *
 * The WQE stands in memory too, so the store of its second word at the start of half a register
 * does for a doorbell and the other stores mean nothing.
 */
void cx3_transport_bf_write(struct cx3_hca *hca, u32 page, u32 off, const u8 *b,
			    unsigned int size)
{
	u32 at = off % BF_HALF;

	if (at <= 4 && at + size >= 8) {
		cx3_count(hca, CX3_C_BLUEFLAME, 1);
		send_doorbell(hca, page, get32(b + 4 - at) >> 8);
	}
}

/**
 * cx3_transport_create - make the transport's state
 * @hca: device
 *
 * Return: 0 or CX3_E_NOMEM.
 */
int cx3_transport_create(struct cx3_hca *hca)
{
	hca->xport = cx3_alloc(hca, sizeof(*hca->xport));
	if (!hca->xport)
		return CX3_E_NOMEM;
	hca->xport->work.fn = work_timer;
	return 0;
}

/**
 * cx3_transport_reset - forget every QP, SRQ and CQ; no DMA
 * @hca: device
 */
void cx3_transport_reset(struct cx3_hca *hca)
{
	struct cx3_obj *o;
	u32 slot;

	if (!hca->xport)
		return;
	for (slot = 0; (o = cx3_obj_next(hca, CX3_QP, &slot));)
		qp_free(hca, (struct cx3_qp *)o);
	for (slot = 0; (o = cx3_obj_next(hca, CX3_SRQ, &slot));)
		srq_free(hca, (struct cx3_srq *)o);
	for (slot = 0; (o = cx3_obj_next(hca, CX3_CQ, &slot));)
		cq_free(hca, (struct cx3_cq *)o);
	cx3_timer_cancel(hca, &hca->xport->work);
	hca->xport->db_half = false;
	hca->xport->swqe.gen = 0;
}

/**
 * cx3_transport_destroy - reset and free the transport's state
 * @hca: device
 */
void cx3_transport_destroy(struct cx3_hca *hca)
{
	cx3_transport_reset(hca);
	cx3_free(hca, hca->xport);
	hca->xport = NULL;
}

/**
 * cx3_transport_describe - one line about a live object
 * @hca: device
 * @kind: CX3_QP, CX3_SRQ or CX3_CQ
 * @obj: the object
 * @buf: text goes here
 * @len: its size
 */
void cx3_transport_describe(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj,
			    char *buf, size_t len)
{
	struct cx3_qp *qp = (struct cx3_qp *)obj;
	struct cx3_cq *cq = (struct cx3_cq *)obj;
	struct cx3_srq *srq = (struct cx3_srq *)obj;

	(void)hca;
	switch (kind) {
	case CX3_QP:
		snprintf(buf, len, "QP 0x%06x PD %u service %u state %u CQs 0x%x 0x%x", obj->num,
			 qp->c.pd, qp->c.service, qp->c.state, qp->c.scqn, qp->c.rcqn);
		break;
	case CX3_SRQ:
		snprintf(buf, len, "SRQ 0x%06x PD %u taken %u limit %u", obj->num, srq->c.pd,
			 srq->c.wqe_counter, srq->c.limit);
		break;
	default:
		snprintf(buf, len, "CQ 0x%06x producer %u state %u EQ %u", obj->num, cq->c.pi,
			 cq->c.state, cq->c.eqn);
	}
}
