// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams: sending with the address vector of the WQE, large sends cut into packets, and
 * receiving with the 40 bytes in front that hold a GRH or nothing.
 */
#include "core.h"
#include "xport.h"

#define QKEY_OF_QP 0x80000000u
#define INIT_HCA_UD_AV_PORT 0x1u
#define INIT_HCA_IPOIB_CSUM 0x8u

static void address(struct cx3_qp *qp, struct cx3_port *p, const struct wqe_dgram *ud,
		    struct wire_pkt *w)
{
	w->sl = ud->sl;
	w->vl = cx3_port_vl(p, ud->sl);
	w->dlid = ud->dlid;
	w->slid = p->lid | (ud->path_bits & ((1u << p->lmc) - 1));
	w->lnh = ud->grh ? WIRE_LNH_GRH : WIRE_LNH_IBA;
	if (ud->grh) {
		w->tclass = ud->tclass;
		w->flow = ud->flow;
		w->hoplmt = ud->hop_limit;
		cx3_port_gid(p, ud->sgid_index, w->sgid);
		memcpy(w->dgid, ud->dgid, sizeof(w->dgid));
	}
	w->pkey = cx3_port_pkey(p, qp->c.path[0].pkey_index);
	w->dqpn = ud->dqpn;
	w->qkey = ud->qkey & QKEY_OF_QP ? qp->c.qkey : ud->qkey;
	w->sqpn = qp->obj.num;
}

/* Payload of the next packet of @w, from message offset @off, to @dst. */
static u8 payload(struct cx3_qp *qp, const struct swqe *w, u64 off, u8 *dst, u32 len)
{
	u32 hdr = 0;
	u8 syndrome;

	if (w->ctrl.opcode == WQE_LSO) {
		hdr = w->lso.hdr_len;
		lso_header(w, off, len - hdr, dst);
	}
	syndrome = wqe_gather(qp, w, off, dst + hdr, len - hdr);
	if (!syndrome && (w->ctrl.ip_csum || w->ctrl.l4_csum))
		csum_fill(dst, len, w->ctrl.ip_csum, w->ctrl.l4_csum);
	return syndrome;
}

/* Length of the next packet's payload; 0xffffffff if it would not fit a packet. */
static u32 next_len(struct cx3_qp *qp, struct cx3_port *p, const struct swqe *w, u64 off)
{
	u64 len = w->len;
	u32 mtu = qp_mtu(qp), port_mtu = 128u << (p->mtu < 1 ? 1 : p->mtu > 5 ? 5 : p->mtu);

	if (w->ctrl.opcode == WQE_LSO) {
		len = w->len - off;
		if (len > w->lso.mss)
			len = w->lso.mss;
		len += w->lso.hdr_len;
	}
	if (len > mtu || len > port_mtu)
		return ~0u;
	return (u32)len;
}

/**
 * ud_send - send the next packet of a datagram WQE
 * @qp: queue pair
 * @w: WQE
 * @done: set to whether it was the last packet
 * @syndrome: set if the WQE fails
 *
 * Return: LINK_BUSY if nothing was sent and it has to be tried again.
 */
enum link_result ud_send(struct cx3_qp *qp, struct swqe *w, bool *done, u8 *syndrome)
{
	struct cx3_port *p = qp_port(qp);
	struct wire_pkt pkt = { 0 };
	u8 *buf = qp->hca->xport->pkt;
	enum link_result res;
	u64 off = qp->sq.ud_off;

	*done = true;
	if (!p || w->ud.pd != (qp->c.pd & 0xffffff) ||
	    ((qp->hca->geo.flags & INIT_HCA_UD_AV_PORT) && w->ud.port != p->num)) {
		*syndrome = SYN_LOCAL_QP_OP;
		return LINK_OK;
	}
	cx3_pd_use(qp->hca, w->ud.pd, "address vector of QP", qp->obj.num);
	pkt.len = next_len(qp, p, w, off);
	if (pkt.len == ~0u) {
		*syndrome = SYN_LOCAL_LENGTH;
		return LINK_OK;
	}
	pkt.opcode = WIRE_UD << 5 |
		     (w->ctrl.opcode == WQE_SEND_IMM ? OP_SEND_ONLY_IMM : OP_SEND_ONLY);
	address(qp, p, &w->ud, &pkt);
	pkt.se = w->ctrl.solicited;
	pkt.imm = w->ctrl.imm;
	pkt.psn = qp->sq.psn;
	*syndrome = payload(qp, w, off, buf + wire_header_len(&pkt), pkt.len);
	if (*syndrome || pkt.vl == WIRE_VL_SMP)
		return LINK_OK;
	res = tx_datagram(p, buf, wire_build(buf, &pkt), pkt.dlid,
			  w->ud.force_loop || w->ctrl.force_loop);
	if (res == LINK_BUSY)
		return res;
	qp->sq.psn = psn_add(qp->sq.psn, 1);
	if (w->ctrl.opcode == WQE_LSO) {
		qp->sq.ud_off = off + pkt.len - w->lso.hdr_len;
		*done = qp->sq.ud_off >= w->len;
	}
	return res;
}

/**
 * ud_receive - a datagram that passed all checks
 * @qp: queue pair that gets it
 * @w: packet taken apart
 * @pkt: its bytes
 * @pkey_index: table index of the P_Key that matched
 */
void ud_receive(struct cx3_qp *qp, const struct wire_pkt *w, const u8 *pkt, u16 pkey_index)
{
	struct cqe e = { .opcode = CQE_RECV_SEND };
	u8 syndrome = SYN_OK;

	switch (rq_take(qp, 0)) {
	case RQ_OK:
		break;
	case RQ_EMPTY:
		if (w->vl == WIRE_VL_SMP)
			qp_port(qp)->cnt.vl15_dropped++;
		return;
	default:
		qp_error(qp, CX3_EV_WQ_CATAS);
		return;
	}
	if (qp->rs.wqe.room < WIRE_GRH_LEN + w->len)
		syndrome = SYN_LOCAL_LENGTH;
	if (!syndrome && w->lnh == WIRE_LNH_GRH)
		syndrome = rq_scatter(qp, 0, pkt + WIRE_LRH_LEN, WIRE_GRH_LEN);
	if (!syndrome)
		syndrome = rq_scatter(qp, WIRE_GRH_LEN, pkt + w->hdr, w->len);
	if (syndrome) {
		rq_fail(qp, syndrome);
		qp_error(qp, 0);
		return;
	}
	if (w->info & WOP_IMM)
		e.opcode = CQE_RECV_SEND_IMM;
	e.imm = w->info & WOP_IMM ? w->imm : pkey_index;
	e.grh = w->lnh == WIRE_LNH_GRH;
	e.path_bits = w->dlid & ((1u << qp_port(qp)->lmc) - 1);
	e.rqpn = w->sqpn;
	e.sl = w->sl;
	e.slid = w->slid;
	e.bytes = WIRE_GRH_LEN + w->len;
	if (qp->hca->geo.flags & INIT_HCA_IPOIB_CSUM)
		csum_report(pkt + w->hdr, w->len, &e);
	rq_complete(qp, &e, w->se);
}
