// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets out: to the wire or back to the own port, and the headers that all packets of a
 * connection have in common.
 */
#include "core.h"
#include "port.h"
#include "xport.h"

static enum cx3_pkt_class loop_class(const u8 *pkt)
{
	u8 opcode = pkt[WIRE_LRH_LEN + ((pkt[1] & 3) == WIRE_LNH_GRH ? WIRE_GRH_LEN : 0)];

	switch (wire_service(opcode)) {
	case WIRE_RC:
		return wire_opcode_info(opcode) & WOP_RESPONSE ? CX3_PKT_RC_ACK : CX3_PKT_RC;
	case WIRE_UC:
		return CX3_PKT_UC;
	case WIRE_XRC:
		return CX3_PKT_XRC;
	case WIRE_UD:
		return CX3_PKT_UD;
	default:
		return CX3_PKT_OTHER;
	}
}

/**
 * tx_packet - send one packet
 * @p: port
 * @pkt: whole packet with room for its CRCs
 * @len: its length
 * @loop: deliver to the own port instead of the wire
 *
 * Return: as cx3_port_tx(). With LINK_BUSY the packet was not taken.
 */
enum link_result tx_packet(struct cx3_port *p, const u8 *pkt, u32 len, bool loop)
{
	enum cx3_fault_act act;
	u64 arg = 0;

	p->hca->xport->budget--;
	if (!loop)
		return cx3_port_tx(p, pkt, len);
	act = cx3_fault(p->hca, CX3_FP_TX, loop_class(pkt), &arg);
	if (act == CX3_FA_DROP || act == CX3_FA_CORRUPT)
		return LINK_OK;
	cx3_count(p->hca, CX3_C_TX + loop_class(pkt), 1);
	if (act == CX3_FA_DELAY) {
		cx3_keep(p->hca, cx3_now(p->hca) + arg, cx3_port_late_rx, p->num, pkt, len);
		return LINK_OK;
	}
	rx_packet(p, pkt, len);
	if (act == CX3_FA_DUP)
		rx_packet(p, pkt, len);
	return LINK_OK;
}

/**
 * tx_datagram - send a datagram where its DLID says
 * @p: port
 * @pkt: whole packet
 * @len: its length
 * @dlid: destination LID
 * @force_loop: deliver to the own port, whatever the DLID
 *
 * Multicast goes to the wire and to the QPs attached on the own port; the permissive LID always
 * goes to the wire.
 *
 * Return: as cx3_port_tx(); with LINK_BUSY the packet went nowhere.
 */
enum link_result tx_datagram(struct cx3_port *p, const u8 *pkt, u32 len, u16 dlid, bool force_loop)
{
	enum link_result res;

	if (dlid == WIRE_LID_PERMISSIVE)
		return tx_packet(p, pkt, len, force_loop);
	if (dlid < WIRE_LID_MULTICAST)
		return tx_packet(p, pkt, len, force_loop || cx3_port_is_mine(p, dlid));
	if (!force_loop) {
		res = tx_packet(p, pkt, len, false);
		if (res == LINK_BUSY)
			return res;
	}
	return tx_packet(p, pkt, len, true);
}

/**
 * tx_connected - complete and send a packet of a connection
 * @qp: whose
 * @w: transport headers filled; payload stands behind the headers in xport->pkt
 *
 * Link and global headers, P_Key and destination come from the primary path.
 *
 * Return: as cx3_port_tx().
 */
enum link_result tx_connected(struct cx3_qp *qp, struct wire_pkt *w)
{
	struct cx3_port *p = qp_port(qp);
	const struct qp_path *path = &qp->c.path[0];
	u32 len;

	if (!p)
		return LINK_DOWN;
	w->sl = path->sl;
	w->vl = cx3_port_vl(p, path->sl);
	if (w->vl == WIRE_VL_SMP)
		return LINK_DOWN;
	w->dlid = path->rlid;
	w->slid = p->lid | (path->path_bits & ((1u << p->lmc) - 1));
	w->pkey = cx3_port_pkey(p, path->pkey_index);
	w->dqpn = qp->c.rqpn;
	w->migreq = qp->c.pm == PM_MIGRATED;
	if (path->grh) {
		w->tclass = path->tclass;
		w->flow = path->flow;
		w->hoplmt = path->hop_limit;
		cx3_port_gid(p, path->sgid_index, w->sgid);
		memcpy(w->dgid, path->rgid, sizeof(w->dgid));
	}
	len = wire_build(qp->hca->xport->pkt, w);
	return tx_packet(p, qp->hca->xport->pkt, len,
			 path->force_loop || cx3_port_is_mine(p, path->rlid));
}
