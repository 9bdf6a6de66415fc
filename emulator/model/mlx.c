// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw sends of QP0 and QP1: software builds all headers and leaves four bytes for the invariant
 * CRC; the device puts in the source LID, the virtual lane of SMPs, and the packet length.
 */
#include "xport.h"

#define MLX_MIN (WIRE_LRH_LEN + WIRE_BTH_LEN + 8 + 4)

/**
 * mlx_send - send a raw WQE
 * @qp: QP0 or QP1
 * @w: WQE
 * @syndrome: set if it fails
 *
 * Return: LINK_BUSY if nothing was sent and it has to be tried again.
 */
enum link_result mlx_send(struct cx3_qp *qp, struct swqe *w, u8 *syndrome)
{
	struct cx3_port *p = qp_port(qp);
	u8 *pkt = qp->hca->xport->pkt;
	struct wire_pkt lrh = { 0 };
	u32 len = (u32)w->len;

	if (!p) {
		*syndrome = SYN_LOCAL_QP_OP;
		return LINK_OK;
	}
	if (w->len < MLX_MIN || w->len > LINK_MAX_PACKET - 2 || w->len % 4) {
		*syndrome = SYN_LOCAL_LENGTH;
		return LINK_OK;
	}
	*syndrome = wqe_gather(qp, w, 0, pkt, len);
	if (*syndrome)
		return LINK_OK;
	layout_unpack(&wire_lrh_layout, pkt, &lrh);
	lrh.words = len / 4;
	if (w->mlx.vl15)
		lrh.vl = WIRE_VL_SMP;
	if (w->mlx.slr)
		lrh.slid = WIRE_LID_PERMISSIVE;
	else
		lrh.slid = p->lid | (lrh.slid & ((1u << p->lmc) - 1));
	layout_pack(&wire_lrh_layout, pkt, &lrh);
	return tx_datagram(p, pkt, len + 2, w->mlx.rlid, w->mlx.force_loop);
}
