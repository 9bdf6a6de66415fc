// SPDX-License-Identifier: GPL-2.0-only
/*
 * MAD_IFC: a management datagram in, the agent's answer out.
 */
#include "port.h"

#define OP_IGNORE_MKEY 0x1u

enum cx3_status cx3_cmd_mad_ifc(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_port *p = cx3_port(hca, cmd->in_mod & 0xff);
	u8 *mad = cmd->out;
	int status;

	if (!p)
		return CX3_BAD_INDEX;
	if (p->ethernet)
		return CX3_BAD_PARAM;
	memcpy(mad, cmd->in, MAD_BYTES);
	if (mad[0] != 1)
		return CX3_BAD_PKT;
	switch (mad[MAD_CLASS]) {
	case MAD_CLASS_SMP:
	case MAD_CLASS_SMP_DR:
		if (mad[MAD_METHOD] == MAD_TRAP_REPRESS)
			return CX3_OK;	/* has no answer */
		status = cx3_sma(p, mad, !(cmd->op_mod & OP_IGNORE_MKEY), cmd->in_mod >> 16);
		break;
	case MAD_CLASS_PMA:
		status = cx3_pma(p, mad);
		break;
	default:
		/* vendor and congestion classes come here too: none of their attributes */
		status = mad[MAD_METHOD] == MAD_GET || mad[MAD_METHOD] == MAD_SET ?
			 MAD_BAD_ATTR : -1;
	}
	if (status < 0)
		return CX3_BAD_PKT;
	mad[MAD_METHOD] = MAD_GET_RESP;
	/* without the D bit of directed routes: the driver adds it */
	put16(mad + MAD_STATUS, (u16)status);
	return CX3_OK;
}
