// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performance management agent of the switch (IBA volume 1, 16.1).
 *
 * A counter runs since power-on; what a manager "clears" is only the zero
 * point of the attribute it used, so both attributes keep their own.
 */
#include "switch.h"

/**
 * struct pma_counter - one counter of an attribute
 * @field: where
 * @select: its bit in CounterSelect
 * @source: enum fsw_count, or CNT_COUNT for one that never moves here
 */
struct pma_counter {
	u32 field;
	u8 select;
	u8 source;
};

static const struct pma_counter short_counters[] = {
	{ PC_SYMBOL_ERRORS, 0, CNT_SYMBOL_ERRORS },
	{ PC_LINK_DOWNED, 2, CNT_LINK_DOWNED },
	{ PC_RCV_ERRORS, 3, CNT_RCV_ERRORS },
	{ PC_RCV_SWITCH_ERRORS, 5, CNT_RELAY_ERRORS },
	{ PC_XMIT_DISCARDS, 6, CNT_XMIT_DISCARDS },
	{ PC_VL15_DROPPED, 11, CNT_VL15_DROPPED },
	{ PC_XMIT_DATA, 12, CNT_XMIT_WORDS },
	{ PC_RCV_DATA, 13, CNT_RCV_WORDS },
	{ PC_XMIT_PKTS, 14, CNT_XMIT_PKTS },
	{ PC_RCV_PKTS, 15, CNT_RCV_PKTS },
};

static const struct pma_counter long_counters[] = {
	{ PCX_XMIT_DATA, 0, CNT_XMIT_WORDS },
	{ PCX_RCV_DATA, 1, CNT_RCV_WORDS },
	{ PCX_XMIT_PKTS, 2, CNT_XMIT_PKTS },
	{ PCX_RCV_PKTS, 3, CNT_RCV_PKTS },
	{ PCX_UNICAST_XMIT, 4, CNT_UNICAST_XMIT },
	{ PCX_UNICAST_RCV, 5, CNT_UNICAST_RCV },
	{ PCX_MULTICAST_XMIT, 6, CNT_MULTICAST_XMIT },
	{ PCX_MULTICAST_RCV, 7, CNT_MULTICAST_RCV },
};

static u64 counter_max(u32 field)
{
	u32 width = field & 0xff;

	return width == 64 ? ~0ull : (1ull << width) - 1;
}

/* The values go where the counters stand in @d; PortCounters stick at their maximum. */
static void counters_get(const struct fsw_port *port, bool ext, u8 *d)
{
	const struct pma_counter *c = ext ? long_counters : short_counters;
	unsigned int n = ext ? ARRAY_SIZE(long_counters) : ARRAY_SIZE(short_counters);

	for (; n--; c++) {
		u64 v = port->count[c->source] - port->base[ext][c->source];

		if (v > counter_max(c->field))
			v = counter_max(c->field);
		mad_put(d, c->field, v);
	}
}

/* A selected counter takes the value written, which is zero as a rule. */
static void counters_set(struct fsw_port *port, bool ext, const u8 *d)
{
	const struct pma_counter *c = ext ? long_counters : short_counters;
	unsigned int n = ext ? ARRAY_SIZE(long_counters) : ARRAY_SIZE(short_counters);
	u64 select = mad_get(d, ext ? PCX_SELECT : PC_SELECT);

	for (; n--; c++)
		if (select >> c->select & 1)
			port->base[ext][c->source] = port->count[c->source] - mad_get(d, c->field);
}

static u16 counters(struct fsw *sw, bool ext, bool set, u8 *d)
{
	u64 num = mad_get(d, ext ? PCX_PORT : PC_PORT);
	u64 select = mad_get(d, ext ? PCX_SELECT : PC_SELECT);

	if (num > FSW_PORTS)
		return MAD_BAD_VALUE;
	if (set)
		counters_set(&sw->port[num], ext, d);
	memset(d, 0, PMA_DATA_SIZE);
	mad_put(d, ext ? PCX_PORT : PC_PORT, num);
	mad_put(d, ext ? PCX_SELECT : PC_SELECT, select);
	counters_get(&sw->port[num], ext, d);
	return MAD_OK;
}

static u16 class_port_info(bool set, u8 *d)
{
	if (set)
		return MAD_BAD_ATTRIBUTE;
	memset(d, 0, PMA_DATA_SIZE);
	mad_put(d, CPI_BASE_VERSION, 1);
	mad_put(d, CPI_CLASS_VERSION, 1);
	mad_put(d, CPI_CAPABILITY, PERF_CAP_EXT_WIDTH);
	mad_put(d, CPI_RESP_TIME, 18);
	return MAD_OK;
}

static u16 execute(struct fsw *sw, u8 *mad, bool set)
{
	u8 *d = mad + PMA_DATA;

	switch (mad_get(mad, MAD_ATTR_ID)) {
	case ATTR_CLASS_PORT_INFO:
		return class_port_info(set, d);
	case ATTR_PERF_COUNTERS:
		return counters(sw, false, set, d);
	case ATTR_PERF_COUNTERS_EXT:
		return counters(sw, true, set, d);
	default:
		return MAD_BAD_ATTRIBUTE;
	}
}

bool fsw_pma(struct fsw *sw, u8 *mad)
{
	u64 method = mad_get(mad, MAD_METHOD);
	u16 status;

	if (mad_get(mad, MAD_BASE_VERSION) != 1 || method >= 0x80)
		return false;
	if (mad_get(mad, MAD_CLASS_VERSION) != 1)
		status = MAD_BAD_VERSION;
	else if (method != METHOD_GET && method != METHOD_SET)
		status = MAD_BAD_METHOD;
	else
		status = execute(sw, mad, method == METHOD_SET);
	mad_put(mad, MAD_METHOD, METHOD_GET_RESP);
	mad_put(mad, MAD_STATUS, status);
	return true;
}
