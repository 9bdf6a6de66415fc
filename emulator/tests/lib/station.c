// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports and SMPs for fabric tests; see station.h.
 */
#include <stdlib.h>

#include "station.h"

static void station_rx(void *owner, const u8 *pkt, u32 len)
{
	struct station *s = owner;

	s->count++;
	if (s->nkept < STATION_KEEP && len <= LINK_MAX_PACKET) {
		s->kept[s->nkept].len = len;
		memcpy(s->kept[s->nkept].pkt, pkt, len);
		s->nkept++;
	}
	if (s->on_rx)
		s->on_rx(s, pkt, len);
}

static void station_state(void *owner, bool up, u8 width, enum link_speed speed)
{
	struct station *s = owner;

	s->up = up;
	s->width = width;
	s->speed = speed;
	if (up)
		s->ups++;
	else
		s->downs++;
}

static void station_tx_ready(void *owner)
{
	struct station *s = owner;

	s->ready++;
}

static const struct link_owner_ops station_ops = {
	.rx = station_rx,
	.state = station_state,
	.tx_ready = station_tx_ready,
};

void station_init(struct station *s, struct link_end *end)
{
	memset(s, 0, sizeof(*s));
	s->end = end;
	s->kept = calloc(STATION_KEEP, sizeof(*s->kept));
	if (!s->kept)
		abort();
	if (end)
		link_claim(end, &station_ops, s, LINK_FDR);
}

void station_fini(struct station *s)
{
	link_detach(s->end);
	s->end = NULL;
	free(s->kept);
	s->kept = NULL;
}

void station_forget(struct station *s)
{
	s->nkept = 0;
}

u32 build_ud(u8 *pkt, u16 slid, u16 dlid, u32 len, u8 fill)
{
	struct wire_pkt w = {
		.lnh = WIRE_LNH_IBA,
		.dlid = dlid,
		.slid = slid,
		.opcode = WIRE_UD << 5 | OP_SEND_ONLY,
		.pkey = 0xffff,
		.dqpn = 0x48,
		.sqpn = 0x49,
		.qkey = 0x11111111,
		.len = len,
	};
	u32 total = wire_build(pkt, &w);

	memset(pkt + w.hdr, fill, len);
	memset(pkt + w.hdr + len, 0, total - w.hdr - len);
	return total;
}

void build_mad(u8 *mad, u8 class, u8 method, u16 attr, u32 mod, u64 tid)
{
	memset(mad, 0, MAD_SIZE);
	mad_put(mad, MAD_BASE_VERSION, 1);
	mad_put(mad, MAD_CLASS, class);
	mad_put(mad, MAD_CLASS_VERSION, 1);
	mad_put(mad, MAD_METHOD, method);
	mad_put(mad, MAD_TID, tid);
	mad_put(mad, MAD_ATTR_ID, attr);
	mad_put(mad, MAD_ATTR_MOD, mod);
}

u32 build_smp(u8 *pkt, const struct smp_path *path, const u8 *mad)
{
	struct wire_pkt w = {
		.vl = WIRE_VL_SMP,
		.lnh = WIRE_LNH_IBA,
		.dlid = path->dlid ? path->dlid : LID_PERMISSIVE,
		.slid = path->dlid ? path->slid : LID_PERMISSIVE,
		.opcode = WIRE_UD << 5 | OP_SEND_ONLY,
		.pkey = 0xffff,
		.len = MAD_SIZE,
	};
	u32 total = wire_build(pkt, &w);
	u8 *m = pkt + w.hdr;

	memcpy(m, mad, MAD_SIZE);
	memset(m + MAD_SIZE, 0, total - w.hdr - MAD_SIZE);
	if (mad_get(m, MAD_CLASS) == CLASS_SMP_DR && !path->dlid) {
		mad_put(m, SMP_HOP_POINTER, 1);
		mad_put(m, SMP_HOP_COUNT, path->hops);
		mad_put(m, SMP_DR_SLID, LID_PERMISSIVE);
		mad_put(m, SMP_DR_DLID, LID_PERMISSIVE);
		memcpy(m + SMP_INITIAL_PATH, path->port, SMP_MAX_HOPS);
	}
	return total;
}

const u8 *smp_of(const struct station_packet *p)
{
	struct wire_pkt w;

	if (wire_parse(p->pkt, p->len, &w) != WIRE_OK || w.len != MAD_SIZE)
		return NULL;
	return p->pkt + w.hdr;
}

const u8 *smp_ask(struct fake_world *w, struct station *s, const struct smp_path *path,
		  u8 method, u16 attr, u32 mod, const u8 *data)
{
	static u64 tid = 0x100;
	u8 pkt[LINK_MAX_PACKET], mad[MAD_SIZE];
	u64 until = w->now + 10000000;
	unsigned int i = s->nkept;
	u32 len;

	build_mad(mad, path->dlid ? CLASS_SMP_LID : CLASS_SMP_DR, method, attr, mod, ++tid);
	if (data)
		memcpy(mad + SMP_DATA, data, SMP_DATA_SIZE);
	len = build_smp(pkt, path, mad);
	if (link_send(s->end, pkt, len) != LINK_OK)
		return NULL;
	while (fake_next(w, until - w->now)) {
		for (; i < s->nkept; i++) {
			const u8 *m = smp_of(&s->kept[i]);

			if (m && mad_get(m, MAD_TID) == tid && mad_get(m, MAD_METHOD) & 0x80)
				return m;
		}
	}
	return NULL;
}
