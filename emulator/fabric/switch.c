// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch's ports and its forwarding; see switch.h.
 */
#include "fabric.h"
#include "switch.h"
#include "../model/wire.h"

/* LRH of a packet and nothing else; false for a packet that cannot be one. */
static bool read_lrh(const u8 *pkt, u32 len, struct wire_pkt *w)
{
	if (len < WIRE_LRH_LEN + WIRE_CRC_LEN)
		return false;
	layout_unpack(&wire_lrh_layout, pkt, w);
	return !w->lver && w->words * 4u + 2 == len;
}

static bool is_multicast(u16 dlid)
{
	return dlid >= LID_FIRST_MULTICAST && dlid != LID_PERMISSIVE;
}

static void count_packet(struct fsw_port *port, bool sent, const struct wire_pkt *w)
{
	bool many = is_multicast(w->dlid);

	port->count[sent ? CNT_XMIT_PKTS : CNT_RCV_PKTS]++;
	port->count[sent ? CNT_XMIT_WORDS : CNT_RCV_WORDS] += w->words;
	if (many)
		port->count[sent ? CNT_MULTICAST_XMIT : CNT_MULTICAST_RCV]++;
	else
		port->count[sent ? CNT_UNICAST_XMIT : CNT_UNICAST_RCV]++;
}

/* May a packet leave by this port in the link state it is in (IBA 7.2)? */
static bool may_send(const struct fsw_port *port, bool smp)
{
	unsigned int state = fsw_port_state(port);

	if (!port->num || !port->end)
		return false;
	return smp ? state >= PORT_INIT : state == PORT_ACTIVE;
}

void fsw_output(struct fsw *sw, unsigned int num, const u8 *pkt, u32 len)
{
	struct fsw_port *port = &sw->port[num];
	struct wire_pkt w;
	bool smp;

	if (!read_lrh(pkt, len, &w))
		return;
	smp = w.vl == WIRE_VL_SMP;
	if (!may_send(port, smp)) {
		port->count[CNT_XMIT_DISCARDS]++;
		return;
	}
	switch (link_send(port->end, pkt, len)) {
	case LINK_OK:
		count_packet(port, true, &w);
		break;
	case LINK_BUSY:
		port->count[smp ? CNT_VL15_DROPPED : CNT_XMIT_DISCARDS]++;
		break;
	default:
		port->count[CNT_XMIT_DISCARDS]++;
	}
}

unsigned int fsw_route(const struct fsw *sw, u16 dlid)
{
	unsigned int port;

	if (!dlid || dlid >= FSW_LINEAR_CAP)
		return FSW_NO_PORT;
	if (dlid == fsw_lid(sw))
		return 0;
	if (dlid > mad_get(sw->info, SI_LINEAR_TOP))
		return FSW_NO_PORT;
	port = sw->lft[dlid];
	return port <= FSW_PORTS ? port : FSW_NO_PORT;
}

/*
 * Ports a multicast packet goes to, bit n for port n. A LID above the table
 * takes the default route (IBA 18.2.4.3.3).
 */
static u64 multicast_ports(const struct fsw *sw, unsigned int in, u16 dlid)
{
	u32 top = (u32)mad_get(sw->info, SI_MULTICAST_TOP);
	u32 index = dlid - LID_FIRST_MULTICAST;
	u32 port, p;
	u64 mask = 0;

	if (index < FSW_MULTICAST_CAP && (!top || dlid <= top)) {
		for (p = 0; p < FSW_MULTICAST_POSITIONS; p++)
			mask |= (u64)sw->mft[index][p] << 16 * p;
	} else {
		port = (u32)mad_get(sw->info, SI_DEFAULT_MC_PRIMARY);
		if (port == in)
			port = (u32)mad_get(sw->info, SI_DEFAULT_MC_NOT_PRIMARY);
		if (port <= FSW_PORTS)
			mask = 1ull << port;
	}
	mask &= (1ull << (FSW_PORTS + 1)) - 1;
	return mask & ~(1ull << in) & ~1ull;
}

static void relay(struct fsw *sw, unsigned int out, const u8 *pkt, u32 len)
{
	sw->relaying = true;
	fsw_output(sw, out, pkt, len);
	sw->relaying = false;
}

static void relay_multicast(struct fsw_port *port, const u8 *pkt, u32 len, u16 dlid)
{
	u64 mask = multicast_ports(port->sw, port->num, dlid);
	unsigned int out;

	if (!mask)
		port->count[CNT_RELAY_ERRORS]++;
	for (out = 1; out <= FSW_PORTS; out++)
		if (mask >> out & 1)
			relay(port->sw, out, pkt, len);
}

/*
 * Is the port in a state to take a data packet? An armed port becomes active
 * with its first one: the neighbour would not send it if it were not
 * (IBA 7.2.7).
 */
static bool accept_data(struct fsw_port *port)
{
	if (fsw_port_state(port) == PORT_ARMED)
		mad_put(port->info, PI_PORT_STATE, PORT_ACTIVE);
	return fsw_port_state(port) == PORT_ACTIVE;
}

static void port_rx(void *owner, const u8 *pkt, u32 len)
{
	struct fsw_port *port = owner;
	struct fsw *sw = port->sw;
	struct wire_pkt w;
	unsigned int out;

	if (!read_lrh(pkt, len, &w)) {
		port->count[CNT_RCV_ERRORS]++;
		return;
	}
	if (w.vl != WIRE_VL_SMP && !accept_data(port))
		return;
	count_packet(port, false, &w);
	if (w.dlid == LID_PERMISSIVE) {
		if (w.vl == WIRE_VL_SMP)
			fsw_local(sw, port->num, pkt, len);
		else
			port->count[CNT_RELAY_ERRORS]++;
	} else if (is_multicast(w.dlid)) {
		relay_multicast(port, pkt, len, w.dlid);
	} else {
		out = fsw_route(sw, w.dlid);
		if (out == FSW_NO_PORT)
			port->count[CNT_RELAY_ERRORS]++;
		else if (out)
			relay(sw, out, pkt, len);
		else
			fsw_local(sw, port->num, pkt, len);
	}
}

static bool has_room(const struct fsw *sw, unsigned int out, u32 len)
{
	const struct fsw_port *port = &sw->port[out];

	return !may_send(port, false) || fabric_end_room(port->end, len);
}

bool fsw_ready(void *owner, const u8 *pkt, u32 len)
{
	struct fsw_port *port = owner;
	unsigned int out;
	struct wire_pkt w;
	u64 mask;

	if (!read_lrh(pkt, len, &w) || w.vl == WIRE_VL_SMP || w.dlid == LID_PERMISSIVE)
		return true;
	if (!is_multicast(w.dlid)) {
		out = fsw_route(port->sw, w.dlid);
		return out == FSW_NO_PORT || has_room(port->sw, out, len);
	}
	mask = multicast_ports(port->sw, port->num, w.dlid);
	for (out = 1; out <= FSW_PORTS; out++)
		if (mask >> out & 1 && !has_room(port->sw, out, len))
			return false;
	return true;
}

bool fsw_relays(const struct fsw *sw)
{
	return sw->relaying;
}

static void port_state(void *owner, bool up, u8 width, enum link_speed speed)
{
	fsw_port_link(owner, up, width, speed);
}

static void port_tx_ready(void *owner)
{
	/* Nothing waits in the switch: the fabric asks fsw_ready() before each packet. */
}

static const struct link_owner_ops port_ops = {
	.rx = port_rx,
	.state = port_state,
	.tx_ready = port_tx_ready,
};

void fsw_plug(struct fsw *sw, unsigned int num, struct link_end *end)
{
	struct fsw_port *port = &sw->port[num];

	port->end = end;
	link_claim(end, &port_ops, port, LINK_FDR);
	if (mad_get(port->info, PI_PHYS_STATE) != PHYS_DISABLED)
		link_enable(end, true);
}

void fsw_unplug(struct fsw *sw, unsigned int num)
{
	struct fsw_port *port = &sw->port[num];
	struct link_end *end = port->end;

	if (!end)
		return;
	fsw_port_link(port, false, 0, 0);
	port->end = NULL;
	link_detach(end);
}

/* What the switch knows when its power comes on. */
static void power_on(struct fsw *sw)
{
	unsigned int i;

	sw->trap_next = CX3_NEVER;
	memset(sw->info, 0, sizeof(sw->info));
	mad_put(sw->info, SI_LINEAR_CAP, FSW_LINEAR_CAP);
	mad_put(sw->info, SI_MULTICAST_CAP, FSW_MULTICAST_CAP);
	mad_put(sw->info, SI_LIFE_TIME, 18);
	memset(sw->lft, FSW_NO_PORT, sizeof(sw->lft));
	memset(sw->mft, 0, sizeof(sw->mft));
	memset(sw->pkeys, 0, sizeof(sw->pkeys));
	put16(sw->pkeys, 0xffff);
	for (i = 0; i <= FSW_PORTS; i++) {
		struct link_end *end = sw->port[i].end;

		memset(&sw->port[i], 0, sizeof(sw->port[i]));
		sw->port[i].sw = sw;
		sw->port[i].num = (u8)i;
		sw->port[i].end = end;
		fsw_port_init(&sw->port[i]);
	}
}

struct fsw *fsw_create(const struct cx3_host *host, u64 guid, const char *name)
{
	struct fsw *sw = cx3_host_alloc(host, sizeof(*sw));

	if (!sw)
		return NULL;
	sw->host = *host;
	sw->guid = guid;
	snprintf((char *)sw->description, sizeof(sw->description), "emulated switch %s", name);
	power_on(sw);
	return sw;
}

void fsw_restart(struct fsw *sw)
{
	unsigned int i;

	for (i = 1; i <= FSW_PORTS; i++)
		if (sw->port[i].end)
			link_enable(sw->port[i].end, false);
	power_on(sw);
	for (i = 1; i <= FSW_PORTS; i++) {
		if (!sw->port[i].end)
			continue;
		sw->port[i].end->max_speed = LINK_FDR;
		link_enable(sw->port[i].end, true);
	}
}

void fsw_destroy(struct fsw *sw)
{
	unsigned int i;

	if (!sw)
		return;
	for (i = 1; i <= FSW_PORTS; i++)
		fsw_unplug(sw, i);
	cx3_host_free(&sw->host, sw);
}
