// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends what a responder owes, in order: acknowledges, NAKs, the data of reads, results of atomics.
 */
#include "xport.h"

static void pop(struct cx3_qp *qp, const struct owed *o)
{
	struct responder *rs = &qp->rs;

	if ((o->kind == OWE_READ || o->kind == OWE_ATOMIC) && !o->again)
		rs->reading--;
	rs->ohead++;
}

/* The memory of a read is gone since the request came: the answer turns into a NAK. */
static void spoil(struct cx3_qp *qp, struct owed *o)
{
	o->kind = OWE_NAK;
	o->syndrome = AETH_NAK | NAK_REMOTE_ACCESS;
	qp->rs.otail = qp->rs.ohead + 1;
	qp->rs.reading = 0;
	qp_error(qp, CX3_EV_WQ_ACCESS);
}

/* Fills in the next packet of read data. Return: false if the memory cannot be read. */
static bool read_packet(struct cx3_qp *qp, const struct owed *o, struct wire_pkt *p)
{
	u32 left = o->len - o->off, mtu = qp_mtu(qp);
	bool first = o->off == 0, last = left <= mtu;
	struct cx3_mr mr;
	u8 op;

	if (first)
		op = last ? OP_READ_ONLY : OP_READ_FIRST;
	else
		op = last ? OP_READ_LAST : OP_READ_MIDDLE;
	p->opcode |= op;
	p->len = last ? left : mtu;
	if (!p->len)
		return true;
	return !cx3_mr_check(qp->hca, o->rkey, o->pd, qp->obj.num, o->va + o->off, p->len,
			     CX3_ACC_REMOTE_READ, false, &mr) &&
	       !cx3_mr_read(qp->hca, &mr, o->va + o->off,
			    qp->hca->xport->pkt + wire_header_len(p), p->len);
}

/* Sends one packet of @o. Return: LINK_BUSY if it has to be tried again later. */
static enum link_result send_owed(struct cx3_qp *qp, struct owed *o)
{
	struct wire_pkt p = {
		.lnh = qp->c.path[0].grh ? WIRE_LNH_GRH : WIRE_LNH_IBA,
		.opcode = (qp->c.service == QPT_XRC ? WIRE_XRC : WIRE_RC) << 5,
		.psn = o->psn, .msn = o->msn, .syndrome = o->syndrome, .orig = o->orig,
	};
	enum link_result res;

	switch (o->kind) {
	case OWE_READ:
		if (!read_packet(qp, o, &p)) {
			spoil(qp, o);
			return LINK_OK;
		}
		break;
	case OWE_ATOMIC:
		p.opcode |= OP_ATOMIC_ACK;
		break;
	default:
		p.opcode |= OP_ACK;
	}
	res = tx_connected(qp, &p);
	if (res == LINK_BUSY)
		return res;
	o->off += p.len;
	o->psn = psn_add(o->psn, 1);
	if (o->kind != OWE_READ || o->off >= o->len)
		pop(qp, o);
	return res;
}

/**
 * resp_service - one turn of the receiving half's answers
 * @qp: queue pair in any state
 *
 * Return: true if it can go on right away.
 */
bool resp_service(struct cx3_qp *qp)
{
	struct responder *rs = &qp->rs;

	while (rs->ohead != rs->otail) {
		if (qp->hca->xport->budget <= 0)
			return true;
		if (send_owed(qp, &rs->owed[rs->ohead % rs->nowed]) == LINK_BUSY) {
			xport_block(qp, qp->c.path[0].port + 1u);
			return false;
		}
	}
	return false;
}
