// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trap 128 of the switch: "the state of one of my links changed".
 *
 * Sent to the subnet manager whose LID is in port 0's PortInfo, and again
 * after each subnet timeout until a TrapRepress comes (IBA volume 1, 13.4.9
 * and 14.3.4), but not for ever: the sweep of a manager that lost them all
 * finds SwitchInfo:PortStateChange.
 */
#include "switch.h"
#include "../model/wire.h"

enum { REPETITIONS = 8 };

void fsw_trap_raise(struct fsw *sw)
{
	if (!fsw_lid(sw) || !mad_get(sw->port[0].info, PI_SM_LID))
		return;
	sw->trap_left = REPETITIONS;
	if (sw->trap_next != CX3_NEVER)
		return;
	sw->trap_tid++;
	sw->trap_next = cx3_host_now(&sw->host);
}

void fsw_trap_repress(struct fsw *sw, u64 tid)
{
	if (tid == sw->trap_tid)
		sw->trap_next = CX3_NEVER;
}

u64 fsw_deadline(const struct fsw *sw)
{
	return sw->trap_next;
}

static void build_trap(const struct fsw *sw, u8 *mad)
{
	u8 *notice = mad + SMP_DATA;

	memset(mad, 0, MAD_SIZE);
	mad_put(mad, MAD_BASE_VERSION, 1);
	mad_put(mad, MAD_CLASS, CLASS_SMP_LID);
	mad_put(mad, MAD_CLASS_VERSION, 1);
	mad_put(mad, MAD_METHOD, METHOD_TRAP);
	mad_put(mad, MAD_TID, sw->trap_tid);
	mad_put(mad, MAD_ATTR_ID, ATTR_NOTICE);
	mad_put(notice, NOTICE_GENERIC, 1);
	mad_put(notice, NOTICE_TYPE, NOTICE_URGENT);
	mad_put(notice, NOTICE_PRODUCER, NODE_SWITCH);
	mad_put(notice, NOTICE_TRAP, TRAP_LINK_STATE);
	mad_put(notice, NOTICE_ISSUER, fsw_lid(sw));
	mad_put(notice, NOTICE_LID, fsw_lid(sw));
}

void fsw_fire(struct fsw *sw)
{
	const u8 *info = sw->port[0].info;
	struct wire_pkt w = {
		.vl = WIRE_VL_SMP,
		.lnh = WIRE_LNH_IBA,
		.dlid = (u16)mad_get(info, PI_SM_LID),
		.slid = fsw_lid(sw),
		.opcode = WIRE_UD << 5 | OP_SEND_ONLY,
		.pkey = 0xffff,
		.len = MAD_SIZE,
	};
	u8 pkt[WIRE_HEADERS_MAX + MAD_SIZE];
	unsigned int out;
	u32 len;

	if (!sw->trap_left || !w.dlid) {
		sw->trap_next = CX3_NEVER;
		return;
	}
	sw->trap_left--;
	/* The subnet timeout is 4.096 us << n. */
	sw->trap_next = cx3_host_now(&sw->host) + (4096ull << mad_get(info, PI_SUBNET_TIMEOUT));
	out = fsw_route(sw, w.dlid);
	if (!out || out == FSW_NO_PORT)
		return;
	len = wire_build(pkt, &w);
	build_trap(sw, pkt + w.hdr);
	fsw_output(sw, out, pkt, len);
}
