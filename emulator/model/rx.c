// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets in: from the wire or looped back, to the QP they are for, with the checks that come
 * before any transport state is looked at (IB specification volume 1, chapter 9.6).
 */
#include "xport.h"

/* Full or limited membership is in bit 15; two limited members must not talk (10.9.3). */
static bool pkey_match(u16 a, u16 b)
{
	return ((a ^ b) & 0x7fff) == 0 && (a & 0x7fff) && ((a | b) & 0x8000);
}

/**
 * special_qp - the QP that stands for wire QPN 0 or 1 of a port
 * @p: port
 * @qpn: 0 or 1
 *
 * Return: the QP or NULL.
 */
static struct cx3_qp *special_qp(struct cx3_port *p, u32 qpn)
{
	if (!p->hca->special_base)
		return NULL;
	return qp_find(p->hca, p->hca->special_base + qpn * 2 + p->num - 1);
}

static bool service_fits(const struct cx3_qp *qp, u8 opcode)
{
	switch (qp->c.service) {
	case QPT_RC:
		return wire_service(opcode) == WIRE_RC || wire_service(opcode) == WIRE_MASKED;
	case QPT_UC:
		return wire_service(opcode) == WIRE_UC;
	case QPT_XRC:
		return wire_service(opcode) == WIRE_XRC;
	default:
		return wire_service(opcode) == WIRE_UD;
	}
}

/* Does a packet that came in by @p belong to this path? */
static bool by_path(const struct cx3_port *p, const struct qp_path *path, const struct wire_pkt *w)
{
	return path->port + 1u == p->num && path->rlid == w->slid && path->grh == (w->lnh & 1) &&
	       (!path->grh || !memcmp(path->rgid, w->sgid, sizeof(w->sgid)));
}

static void connected(struct cx3_port *p, struct cx3_qp *qp, const struct wire_pkt *w,
		      const u8 *pkt, u32 len)
{
	const struct qp_path *path = &qp->c.path[0];
	bool alternate = apm_has_alternate(qp) && !by_path(p, path, w);

	if (alternate)
		path = &qp->c.path[1];
	if (!path->pkey_off && !pkey_match(w->pkey, cx3_port_pkey(p, path->pkey_index))) {
		cx3_port_bad_pkey(p, pkt, len);
		return;
	}
	if (!by_path(p, path, w) || !apm_received(qp, alternate, w->migreq))
		return;
	if (w->info & WOP_RESPONSE)
		sq_response(qp, w, pkt + w->hdr);
	else
		resp_request(qp, w, pkt + w->hdr);
}

/* Datagrams: P_Key (QP1: any of the table), Q_Key (QP0: neither). */
static void datagram(struct cx3_port *p, struct cx3_qp *qp, struct wire_pkt *w, const u8 *pkt,
		     u32 len)
{
	int index;

	if (w->dqpn == 0) {
		ud_receive(qp, w, pkt, 0);
		return;
	}
	if (qp->c.service == QPT_MLX) {
		index = cx3_port_find_pkey(p, w->pkey);
	} else {
		index = qp->c.path[0].pkey_index;
		if (!pkey_match(w->pkey, cx3_port_pkey(p, index)))
			index = -1;
	}
	if (index < 0) {
		cx3_port_bad_pkey(p, pkt, len);
		return;
	}
	if (w->qkey != (w->dqpn == 1 ? 0x80010000 : qp->c.qkey)) {
		cx3_port_bad_qkey(p, pkt, len);
		return;
	}
	ud_receive(qp, w, pkt, index);
}

struct mcast {
	struct cx3_port *p;
	struct wire_pkt *w;
	const u8 *pkt;
	u32 len;
};

static void mcast_one(void *arg, u32 qpn, bool block_loopback)
{
	struct mcast *m = arg;
	struct cx3_qp *qp = qp_find(m->p->hca, qpn);

	if (!qp || !qp_receives(qp) || qp->c.path[0].port + 1u != m->p->num)
		return;
	if (qp->c.service != QPT_UD && qp->c.service != QPT_MLX)
		return;
	/* the sender's own copy, when its entry says that it wants none */
	if (block_loopback && m->w->sqpn == qpn && cx3_port_is_mine(m->p, m->w->slid))
		return;
	datagram(m->p, qp, m->w, m->pkt, m->len);
}

/**
 * rx_packet - deliver one packet to its QPs
 * @p: port
 * @pkt: whole packet, content of the CRC bytes undefined; any bytes
 * @len: its length
 *
 * Sends nothing: answers are owed by the QP and go out in its turn.
 */
void rx_packet(struct cx3_port *p, const u8 *pkt, u32 len)
{
	struct cx3_hca *hca = p->hca;
	struct wire_pkt w;
	struct cx3_qp *qp;
	bool smp;

	if (wire_parse(pkt, len, &w) != WIRE_OK) {
		p->cnt.rcv_errors++;
		return;
	}
	if (w.dqpn == WIRE_QPN_MULTICAST) {
		struct mcast m = { p, &w, pkt, len };

		if (w.lnh == WIRE_LNH_GRH && wire_service(w.opcode) == WIRE_UD)
			cx3_mcg_walk(hca, w.dgid, mcast_one, &m);
		return;
	}
	/* QP0 is for VL15, and VL15 for QP0 */
	smp = w.vl == WIRE_VL_SMP;
	if (smp != !w.dqpn)
		return;
	qp = w.dqpn < 2 ? special_qp(p, w.dqpn) : qp_find(hca, w.dqpn);
	if (!qp || !service_fits(qp, w.opcode)) {
		if (w.dqpn == 0)
			p->cnt.vl15_dropped++;
		return;
	}
	if (!qp_receives(qp) || (qp->c.path[0].port + 1u != p->num && !apm_has_alternate(qp)))
		return;
	if (wire_service(w.opcode) != WIRE_UD)
		connected(p, qp, &w, pkt, len);
	else
		datagram(p, qp, &w, pkt, len);
}

/**
 * cx3_transport_rx - a packet from the wire
 * @p: port
 * @pkt: packet
 * @len: its length
 */
void cx3_transport_rx(struct cx3_port *p, const u8 *pkt, u32 len)
{
	rx_packet(p, pkt, len);
	xport_run(p->hca);
}
