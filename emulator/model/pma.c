// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performance management agent (IBA vol. 1, 16.1): port counters.
 *
 * The counters run on for ever in 64 bits. A Set moves a base that is taken
 * off on reading; the two attributes have a base each.
 */
#include "port.h"

#define PMA_CLASS_PORT_INFO 0x0001
#define PMA_PORT_COUNTERS 0x0012
#define PMA_PORT_COUNTERS_EXT 0x001d

#define ALL_PORTS 0xff
#define CAP_ALL_PORT_SELECT 0x0100
#define CAP_EXTENDED 0x0200

struct field {
	u8 off;		/* byte offset in the attribute */
	u8 bits;
	s8 select;	/* bit of CounterSelect, -1 = none */
	u8 counter;	/* index into struct cx3_port_counters */
};

#define C(name) (offsetof(struct cx3_port_counters, name) / sizeof(u64))

static const struct field counters[] = {
	{ 4, 16, 0, C(symbol) },	{ 6, 8, 1, C(link_recovers) },
	{ 7, 8, 2, C(link_downed) },	{ 8, 16, 3, C(rcv_errors) },
	{ 14, 16, 6, C(xmit_discards) }, { 17, 8, 8, C(rcv_constraint) },
	{ 22, 16, 11, C(vl15_dropped) }, { 24, 32, 12, C(xmit_data) },
	{ 28, 32, 13, C(rcv_data) },	{ 32, 32, 14, C(xmit_pkts) },
	{ 36, 32, 15, C(rcv_pkts) },
};

static const struct field counters_ext[] = {
	{ 8, 64, 0, C(xmit_data) },  { 16, 64, 1, C(rcv_data) },  { 24, 64, 2, C(xmit_pkts) },
	{ 32, 64, 3, C(rcv_pkts) },  { 40, 64, 4, C(uni_xmit) },  { 48, 64, 5, C(uni_rcv) },
	{ 56, 64, 6, C(multi_xmit) }, { 64, 64, 7, C(multi_rcv) },
};

static u64 get_field(const u8 *d, u8 bits)
{
	return bits == 8 ? d[0] : bits == 16 ? get16(d) : bits == 32 ? get32(d) : get64(d);
}

static void put_field(u8 *d, u8 bits, u64 v)
{
	/* counters stop at their largest value */
	if (bits < 64 && v >> bits)
		v = CX3_BIT(bits) - 1;
	if (bits == 8)
		d[0] = (u8)v;
	else if (bits == 16)
		put16(d, (u16)v);
	else if (bits == 32)
		put32(d, (u32)v);
	else
		put64(d, v);
}

static int serve(struct cx3_port *p, u8 *d, bool set, const struct field *f, unsigned int n,
		 struct cx3_port_counters *base)
{
	const u64 *value = (const u64 *)&p->cnt;
	u64 *off = (u64 *)base;
	u16 select = get16(d + 2);
	unsigned int i;

	if (d[1] != p->num && d[1] != ALL_PORTS)
		return MAD_BAD_FIELD;
	for (i = 0; i < n; i++) {
		u8 c = f[i].counter;

		if (set && select >> f[i].select & 1)
			off[c] = value[c] - get_field(d + f[i].off, f[i].bits);
		put_field(d + f[i].off, f[i].bits, value[c] - off[c]);
	}
	return MAD_OK;
}

static int class_port_info(u8 *d, bool set)
{
	if (set)
		return MAD_OK;
	memset(d, 0, 72);
	d[0] = 1;
	d[1] = 1;
	put16(d + 2, CAP_ALL_PORT_SELECT | CAP_EXTENDED);
	d[7] = 0x12; /* response time 4.096 us << 18 */
	return MAD_OK;
}

int cx3_pma(struct cx3_port *p, u8 *mad)
{
	bool set = mad[MAD_METHOD] == MAD_SET;
	u8 *d = mad + MAD_DATA;

	if (mad[2] != 1)
		return MAD_BAD_VERSION;
	if (!set && mad[MAD_METHOD] != MAD_GET)
		return MAD_BAD_METHOD;
	switch (get16(mad + MAD_ATTR)) {
	case PMA_CLASS_PORT_INFO:
		return class_port_info(d, set);
	case PMA_PORT_COUNTERS:
		return serve(p, d, set, counters, ARRAY_SIZE(counters), &p->sma->base);
	case PMA_PORT_COUNTERS_EXT:
		return serve(p, d, set, counters_ext, ARRAY_SIZE(counters_ext),
			     &p->sma->base_ext);
	default:
		return MAD_BAD_ATTR;
	}
}
