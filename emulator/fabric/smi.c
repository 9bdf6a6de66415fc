// SPDX-License-Identifier: GPL-2.0-only
/*
 * How management packets reach port 0 of the switch and how the answers leave:
 * LID routed, or along the path in a directed-route SMP (IBA volume 1, 14.2.2),
 * whose hop pointer says at each node what to do.
 */
#include "switch.h"
#include "../model/wire.h"

/* LRH, BTH and DETH of an SMP: never a GRH. */
#define SMP_HEADERS 28
#define SMP_PACKET (SMP_HEADERS + MAD_SIZE + WIRE_CRC_LEN)

/* A directed-route SMP being moved on, as bytes and as the fields that move it. */
struct dr_smp {
	struct fsw *sw;
	unsigned int in;
	u8 pkt[SMP_PACKET];
	u8 *mad;
	u32 pointer;
	u32 count;
};

static void set_lids(u8 *pkt, u16 slid, u16 dlid)
{
	struct wire_pkt w;

	layout_unpack(&wire_lrh_layout, pkt, &w);
	w.slid = slid;
	w.dlid = dlid;
	layout_pack(&wire_lrh_layout, pkt, &w);
}

/* Out along the path that @path (SMP_INITIAL_PATH or SMP_RETURN_PATH) has at the hop pointer. */
static void dr_step(struct dr_smp *s, u32 path)
{
	unsigned int out = s->mad[path + s->pointer];

	mad_put(s->mad, SMP_HOP_POINTER, s->pointer);
	if (!out || out > FSW_PORTS)
		return;
	set_lids(s->pkt, LID_PERMISSIVE, LID_PERMISSIVE);
	fsw_output(s->sw, out, s->pkt, SMP_PACKET);
}

/* The directed part ends here and a LID-routed part begins. */
static void dr_leave(struct dr_smp *s, u16 dlid)
{
	unsigned int out = fsw_route(s->sw, dlid);

	mad_put(s->mad, SMP_HOP_POINTER, s->pointer);
	if (!out || out == FSW_NO_PORT)
		return;
	set_lids(s->pkt, fsw_lid(s->sw), dlid);
	fsw_output(s->sw, out, s->pkt, SMP_PACKET);
}

/* A returning SMP leaves the node it is at (14.2.2.3 and 14.2.2.4). */
static void dr_return(struct dr_smp *s)
{
	u16 slid = (u16)mad_get(s->mad, SMP_DR_SLID);

	if (s->count && s->pointer >= 2 && s->pointer <= s->count + 1) {
		s->pointer--;
		dr_step(s, SMP_RETURN_PATH);
	} else if (s->pointer == 1 && slid != LID_PERMISSIVE) {
		s->pointer = 0;
		dr_leave(s, slid);
	}
	/* Else it is for a requester on this switch, and there is none. */
}

static void dr_execute(struct dr_smp *s)
{
	mad_put(s->mad, SMP_HOP_POINTER, s->pointer);
	if (!fsw_sma(s->sw, s->in, s->mad))
		return;
	s->sw->relaying = false;
	mad_put(s->mad, SMP_DIRECTION, 1);
	dr_return(s);
}

/* An outgoing SMP arrived (14.2.2.1 and 14.2.2.2). */
static void dr_outgoing(struct dr_smp *s)
{
	u16 dlid = (u16)mad_get(s->mad, SMP_DR_DLID);

	if (s->count && s->pointer && s->pointer < s->count) {
		s->mad[SMP_RETURN_PATH + s->pointer] = (u8)s->in;
		s->pointer++;
		dr_step(s, SMP_INITIAL_PATH);
	} else if (s->pointer == s->count) {
		if (s->count)
			s->mad[SMP_RETURN_PATH + s->pointer] = (u8)s->in;
		s->pointer++;
		if (dlid == LID_PERMISSIVE)
			dr_execute(s);
		else
			dr_leave(s, dlid);
	} else if (s->pointer == s->count + 1) {
		dr_execute(s);
	}
}

static void dr_smp(struct fsw *sw, unsigned int in, const u8 *pkt)
{
	struct dr_smp s;

	s.sw = sw;
	s.in = in;
	memcpy(s.pkt, pkt, SMP_PACKET);
	s.mad = s.pkt + SMP_HEADERS;
	s.pointer = (u32)mad_get(s.mad, SMP_HOP_POINTER);
	s.count = (u32)mad_get(s.mad, SMP_HOP_COUNT);
	if (s.count >= SMP_MAX_HOPS)
		return;
	/* Unless the agent makes a response of it. */
	sw->relaying = true;
	if (mad_get(s.mad, SMP_DIRECTION))
		dr_return(&s);
	else
		dr_outgoing(&s);
	sw->relaying = false;
}

/* Answer a MAD that came with the headers @req to where it came from. */
static void respond(struct fsw *sw, unsigned int in, const struct wire_pkt *req, const u8 *mad)
{
	struct wire_pkt w = {
		.vl = req->vl,
		.sl = req->sl,
		.lnh = req->lnh,
		.dlid = req->slid,
		.slid = fsw_lid(sw),
		.tclass = req->tclass,
		.flow = req->flow,
		.hoplmt = 0xff,
		.opcode = WIRE_UD << 5 | OP_SEND_ONLY,
		.pkey = req->pkey,
		.dqpn = req->sqpn,
		.qkey = req->dqpn ? (u32)QKEY_GSI : 0,
		.sqpn = req->dqpn,
		.len = MAD_SIZE,
	};
	u8 pkt[WIRE_HEADERS_MAX + MAD_SIZE];
	unsigned int out = fsw_route(sw, w.dlid);
	u32 len;

	/* A requester that has no entry yet (or no LID) sits behind the port it used. */
	if (!out || out == FSW_NO_PORT)
		out = in;
	memcpy(w.dgid, req->sgid, sizeof(w.dgid));
	memcpy(w.sgid, req->dgid, sizeof(w.sgid));
	len = wire_build(pkt, &w);
	memcpy(pkt + w.hdr, mad, MAD_SIZE);
	fsw_output(sw, out, pkt, len);
}

/* QP0 is reached on VL15 and QP1 on all others, both by datagrams of one size. */
static bool is_mad(const struct wire_pkt *w)
{
	if (wire_service(w->opcode) != WIRE_UD || w->len != MAD_SIZE)
		return false;
	return w->vl == WIRE_VL_SMP ? w->dqpn == 0 : w->dqpn == 1;
}

void fsw_local(struct fsw *sw, unsigned int in, const u8 *pkt, u32 len)
{
	struct fsw_port *port = &sw->port[in];
	struct wire_pkt w;
	u8 mad[MAD_SIZE];

	if (wire_parse(pkt, len, &w) != WIRE_OK || !is_mad(&w)) {
		port->count[CNT_RCV_ERRORS]++;
		return;
	}
	if (sw->mute)
		return;
	memcpy(mad, pkt + w.hdr, MAD_SIZE);
	if (!w.dqpn && mad_get(mad, MAD_CLASS) == CLASS_SMP_DR && w.hdr == SMP_HEADERS) {
		dr_smp(sw, in, pkt);
	} else if (!w.dqpn && mad_get(mad, MAD_CLASS) == CLASS_SMP_LID &&
		   w.dlid != LID_PERMISSIVE) {
		if (fsw_sma(sw, in, mad))
			respond(sw, in, &w, mad);
	} else if (w.dqpn && mad_get(mad, MAD_CLASS) == CLASS_PERF && w.qkey == QKEY_GSI) {
		if (fsw_pma(sw, mad))
			respond(sw, in, &w, mad);
	}
}
