// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kind of packet it is; see pktclass.h.
 */
#include "pktclass.h"
#include "wire.h"

const char *const cx3_pkt_name[CX3_NPKT] = {
	[CX3_PKT_SMP] = "smp", [CX3_PKT_GMP] = "gmp",	[CX3_PKT_UD] = "ud",
	[CX3_PKT_MCAST] = "mcast", [CX3_PKT_RC] = "rc", [CX3_PKT_RC_ACK] = "ack",
	[CX3_PKT_UC] = "uc",   [CX3_PKT_XRC] = "xrc",	[CX3_PKT_OTHER] = "other",
};

bool cx3_pkt_is_multicast(const u8 *pkt)
{
	u16 dlid = get16(pkt + 2);

	return dlid >= WIRE_LID_MULTICAST && dlid != WIRE_LID_PERMISSIVE;
}

enum cx3_pkt_class cx3_pkt_class(const u8 *pkt, u32 len)
{
	u32 bth = (pkt[1] & 3) == WIRE_LNH_GRH ? WIRE_LRH_LEN + WIRE_GRH_LEN : WIRE_LRH_LEN;
	u8 op;

	if (pkt[0] >> 4 == WIRE_VL_SMP)
		return CX3_PKT_SMP;
	if (!(pkt[1] & 2) || len < bth + WIRE_BTH_LEN)
		return CX3_PKT_OTHER;
	op = pkt[bth];
	switch (wire_service(op)) {
	case WIRE_RC:
		return wire_op(op) == OP_ACK ? CX3_PKT_RC_ACK : CX3_PKT_RC;
	case WIRE_UC:
		return CX3_PKT_UC;
	case WIRE_UD:
		if (get24(pkt + bth + 5) == 1)
			return CX3_PKT_GMP;
		return cx3_pkt_is_multicast(pkt) ? CX3_PKT_MCAST : CX3_PKT_UD;
	case WIRE_XRC:
		return CX3_PKT_XRC;
	default:
		return CX3_PKT_OTHER;
	}
}
