// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up of the two HCAs; see rig.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rig.h"
#include "tap.h"

#define HCR 0x80680u
#define HCR_GO 0x800000u
#define ICM_WINDOW (16ull << 20)
#define ICM_BYTES (256u << 10)

enum {
	LOG_QPS = 10, LOG_SRQS = 8, LOG_CQS = 8, LOG_EQS = 5, LOG_MPTS = 10, LOG_MCG_SIZE = 8,
	LOG_MCG_HASH = 5, LOG_MCGS = 6,
};

u32 rig_cqe_size = 32;

/**
 * rig_mmio32 - a 32-bit store of a big-endian register
 * @h: device
 * @bar: 0 or 2
 * @addr: offset
 * @val: value in host order
 */
void rig_mmio32(struct rig_hca *h, unsigned int bar, u64 addr, u32 val)
{
	cx3_bar_write(h->hca, bar, addr, __builtin_bswap32(val), 4);
}

static u32 read32(struct rig_hca *h, u64 addr)
{
	return __builtin_bswap32((u32)cx3_bar_read(h->hca, 0, addr, 4));
}

/**
 * rig_alloc - zeroed guest memory, never given back
 * @h: device
 * @len: bytes
 * @align: power of two
 *
 * Return: bus address.
 */
u64 rig_alloc(struct rig_hca *h, u32 len, u32 align)
{
	u64 at = (h->brk + align - 1) & ~(u64)(align - 1);

	h->brk = at + len;
	fake_ram(&h->host, at, len);
	return at;
}

/**
 * rig_mem - guest memory
 * @h: device
 * @addr: bus address
 * @len: bytes that will be touched
 */
u8 *rig_mem(struct rig_hca *h, u64 addr, u32 len)
{
	return fake_ram(&h->host, addr, len);
}

/**
 * rig_out - output mailbox of the last command
 * @h: device
 */
u8 *rig_out(struct rig_hca *h)
{
	return rig_mem(h, h->mbox_out, 4096);
}

/**
 * rig_cmd_try - run a command in polled mode
 * @h: device
 * @opcode: command
 * @op_mod: opcode modifier
 * @in_mod: input modifier
 * @in: input mailbox, or NULL for an immediate
 * @in_len: its length
 * @imm: immediate input when @in is NULL
 * @out_imm: set to the immediate output; may be NULL. Otherwise the output mailbox is given.
 *
 * Return: status byte.
 */
u8 rig_cmd_try(struct rig_hca *h, u16 opcode, u8 op_mod, u32 in_mod, const u8 *in, u32 in_len,
	       u64 imm, u64 *out_imm)
{
	u64 out = out_imm ? 0 : h->mbox_out;
	u32 word;

	if (in) {
		memset(rig_mem(h, h->mbox_in, 4096), 0, 4096);
		memcpy(rig_mem(h, h->mbox_in, 4096), in, in_len);
		imm = h->mbox_in;
	}
	rig_mmio32(h, 0, HCR + 0x00, (u32)(imm >> 32));
	rig_mmio32(h, 0, HCR + 0x04, (u32)imm);
	rig_mmio32(h, 0, HCR + 0x08, in_mod);
	rig_mmio32(h, 0, HCR + 0x0c, (u32)(out >> 32));
	rig_mmio32(h, 0, HCR + 0x10, (u32)out);
	rig_mmio32(h, 0, HCR + 0x14, 0xffff0000);
	h->toggle ^= 1;
	rig_mmio32(h, 0, HCR + 0x18, HCR_GO | h->toggle << 21 | (u32)op_mod << 12 | opcode);
	word = read32(h, HCR + 0x18);
	if (word & HCR_GO) {
		tap_note("command 0x%03x is not answered", opcode);
		abort();
	}
	if (out_imm)
		*out_imm = (u64)read32(h, HCR + 0x0c) << 32 | read32(h, HCR + 0x10);
	return word >> 24;
}

/**
 * rig_cmd - the same for a command that must succeed
 * @h: device
 * @opcode: command
 * @op_mod: opcode modifier
 * @in_mod: input modifier
 * @in: input mailbox, or NULL for an immediate
 * @in_len: its length
 * @imm: immediate input when @in is NULL
 *
 * Return: immediate output of SET_ICM_SIZE and MGID_HASH; the others fill rig_out().
 */
u64 rig_cmd(struct rig_hca *h, u16 opcode, u8 op_mod, u32 in_mod, const u8 *in, u32 in_len,
	    u64 imm)
{
	bool immediate = opcode == 0xffd || opcode == 0x027;
	u64 out = 0;
	u8 st = rig_cmd_try(h, opcode, op_mod, in_mod, in, in_len, imm, immediate ? &out : NULL);

	if (st) {
		tap_note("command 0x%03x mod 0x%x: status 0x%02x", opcode, in_mod, st);
		abort();
	}
	return out;
}

/**
 * rig_buf_init - memory for a queue, with its MTT entries
 * @h: device
 * @b: filled
 * @len: bytes
 */
void rig_buf_init(struct rig_hca *h, struct rig_buf *b, u32 len)
{
	u32 i;

	b->pages = (len + 4095) / 4096;
	b->base = rig_alloc(h, b->pages * 4096, 4096);
	b->mtt = h->next_mtt * 8ull;
	for (i = 0; i < b->pages; i++)
		put64(rig_mem(h, h->icm[CX3_ICM_MTT] + b->mtt + i * 8, 8),
		      (b->base + (u64)(b->pages - 1 - i) * 4096) | 1);
	h->next_mtt += b->pages;
}

/**
 * rig_buf_at - a place in a queue, as the CPU sees it
 * @h: device
 * @b: queue memory
 * @pos: byte offset
 */
u8 *rig_buf_at(struct rig_hca *h, struct rig_buf *b, u64 pos)
{
	u32 page = (u32)(pos >> 12);

	return rig_mem(h, b->base + (u64)(b->pages - 1 - page) * 4096 + (pos & 4095), 1);
}

static void map(struct rig_hca *h, u16 opcode, u64 va, u64 pa, u32 pages)
{
	u8 entry[16];
	u32 log = 0;

	while (1u << log < pages)
		log++;
	put64(entry, va);
	put64(entry + 8, pa | log);
	rig_cmd(h, opcode, 0, 1, entry, sizeof(entry), 0);
}

static void init_hca(struct rig_hca *h)
{
	static const struct {
		u8 table;
		u16 base, log_at;
		u8 log;
	} t[] = {
		{ CX3_ICM_QPC, 0x30, 0x37, LOG_QPS }, { CX3_ICM_SRQC, 0x48, 0x4f, LOG_SRQS },
		{ CX3_ICM_CQC, 0x50, 0x57, LOG_CQS }, { CX3_ICM_EQC, 0x80, 0x87, LOG_EQS },
		{ CX3_ICM_ALTC, 0x60, 0, 0 }, { CX3_ICM_AUXC, 0x70, 0, 0 },
		{ CX3_ICM_RDMARC, 0x90, 0x97, 4 }, { CX3_ICM_MCG, 0xc0, 0, 0 },
		{ CX3_ICM_DMPT, 0xf0, 0xfb, LOG_MPTS }, { CX3_ICM_MTT, 0x100, 0, 0 },
		{ CX3_ICM_CMPT, 0x108, 0, 0 },
	};
	u8 m[1024] = { 2 };
	u32 i;

	rig_cmd(h, 0xffd, 0, 0, NULL, 0, 8ull << 30);
	map(h, 0xffc, 0, rig_alloc(h, 1 << 20, 4096), 256);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		u64 va = ICM_WINDOW * i;

		h->icm[t[i].table] = rig_alloc(h, ICM_BYTES, 4096);
		map(h, 0xffa, va, h->icm[t[i].table], ICM_BYTES / 4096);
		put64(m + t[i].base, va);
		if (t[i].log_at)
			m[t[i].log_at] |= t[i].log;
	}
	/* the loop maps the cMPT region of QPs, the other three lie above it */
	for (i = 1; i < 4; i++)
		map(h, 0xffa, ICM_WINDOW * (ARRAY_SIZE(t) - 1) + ((u64)i << 30),
		    rig_alloc(h, 16384, 4096), 4);
	put32(m + 0x14, 1 | 8);
	if (rig_cqe_size == 64)
		put32(m + 0x58, 0x40000000);
	m[0xd3] = LOG_MCG_SIZE;
	m[0xd7] = LOG_MCG_HASH;
	m[0xdb] = LOG_MCGS;
	m[0x12a] = 11;
	rig_cmd(h, 0x007, 0, 0, m, sizeof(m), 0);
}

static void init_eq(struct rig_hca *h)
{
	u8 c[64] = { 0 };

	rig_buf_init(h, &h->eq, 1024 * 32);
	put32(c, 9 << 8);
	c[0x0c] = 10;
	put32(c + 0x1c, (u32)h->eq.mtt);
	rig_cmd(h, 0x013, 0, RIG_EQN, c, sizeof(c), 0);
	rig_cmd(h, 0x012, 0, RIG_EQN, NULL, 0, ~0ull & ~CX3_BIT(CX3_EV_CMD));
}

static void init_dma_key(struct rig_hca *h)
{
	u8 e[64] = { 0 };
	u32 index = h->next_key++;

	h->dma_key = index << 8 | 0x5a;
	put32(e, 0xf0000000 | 1 << 17 | 1 << 9 | 1 << 8 | 0x3f << 10);
	put32(e + 8, h->dma_key >> 8 | h->dma_key << 24);
	put32(e + 12, 1);
	put64(e + 24, ~0ull);
	rig_cmd(h, 0x00d, 0, index, e, sizeof(e), 0);
}

static void fire(void *arg)
{
	struct rig_hca *h = arg;

	cx3_timer_fire(h->hca);
}

static void hca_up(struct rig *r, unsigned int i, void (*adjust)(struct cx3_config *cfg))
{
	struct rig_hca *h = &r->h[i];
	struct cx3_config cfg;
	const char *why = "";

	h->rig = r;
	fake_host_init(&h->host, &r->world, RIG_RAM);
	h->host.verbose = !!getenv("RIG_VERBOSE");
	cx3_config_init(&cfg);
	cfg.node_guid += i << 8;
	if (adjust)
		adjust(&cfg);
	h->hca = cx3_create(&h->host.host, &cfg, &why);
	if (!h->hca) {
		tap_note("no device: %s", why);
		abort();
	}
	h->host.fire = fire;
	h->host.arg = h;
	cx3_port_attach(h->hca, 1, &r->cable.end[i].end);
	cx3_set_bus_master(h->hca, true);
	cx3_set_msix(h->hca, true);
	h->brk = h->host.ram_base;
	h->next_key = 8;
	h->next_cqn = 8;
	h->next_qpn = 0x80;
	h->next_srqn = 8;
	h->mbox_in = rig_alloc(h, 4096, 4096);
	h->mbox_out = rig_alloc(h, 4096, 4096);
	map(h, 0xfff, 0, rig_alloc(h, 1 << 20, 4096), 256);
	rig_cmd(h, 0xff6, 0, 0, NULL, 0, 0);
	init_hca(h);
	init_eq(h);
	init_dma_key(h);
	rig_cmd(h, 0x023, 0, RIG_SPECIAL, NULL, 0, 0);
	rig_cmd(h, 0x009, 0, 1, NULL, 0, 0);
}

/**
 * rig_set_port - what a subnet manager sets
 * @h: device
 * @port: port number
 * @lid: base LID
 * @state: IBA port state, 0 = as it is
 */
void rig_set_port(struct rig_hca *h, unsigned int port, u16 lid, u8 state)
{
	u8 mad[256] = { 1, 1, 1, 1 };
	u8 *info;

	put16(mad + 16, 0x15);
	put32(mad + 20, port);
	rig_cmd(h, 0x024, 3, port, mad, sizeof(mad), 0);
	memcpy(mad, rig_out(h), sizeof(mad));
	info = mad + 64;
	mad[3] = 2;
	put16(mad + 4, 0);
	put16(info + 16, lid);
	put16(info + 18, 1);
	info[32] = (info[32] & 0xf0) | state;
	info[33] &= 0x0f;
	rig_cmd(h, 0x024, 3, port, mad, sizeof(mad), 0);
}

/**
 * rig_up_with - both devices up, cabled, ports active, LIDs 1 and 2
 * @r: filled
 * @adjust: changes properties before the devices are made; may be NULL
 */
void rig_up_with(struct rig *r, void (*adjust)(struct cx3_config *cfg))
{
	unsigned int i;

	memset(r, 0, sizeof(*r));
	lossy_init(&r->cable, &r->world);
	for (i = 0; i < RIG_HCAS; i++)
		hca_up(r, i, adjust);
	rig_run(r, 10000000);
	for (i = 0; i < RIG_HCAS; i++) {
		r->h[i].lid = i + 1;
		rig_set_port(&r->h[i], 1, i + 1, 3);
		rig_set_port(&r->h[i], 1, i + 1, 4);
		rig_events(&r->h[i]);
		r->h[i].nevents = 0;
	}
}

/**
 * rig_up - as rig_up_with(), default properties
 * @r: filled
 */
void rig_up(struct rig *r)
{
	rig_up_with(r, NULL);
}

/**
 * rig_down - free everything
 * @r: the rig
 */
void rig_down(struct rig *r)
{
	unsigned int i;

	for (i = 0; i < RIG_HCAS; i++) {
		cx3_destroy(r->h[i].hca);
		if (r->h[i].host.live)
			tap_ok(false, "HCA %u: %u allocations left", i, r->h[i].host.live);
		fake_host_fini(&r->h[i].host);
	}
	lossy_fini(&r->cable);
}

/**
 * rig_run - let virtual time pass
 * @r: the rig
 * @ns: how much
 */
void rig_run(struct rig *r, u64 ns)
{
	fake_run(&r->world, ns);
}

/**
 * rig_events - take what is in the EQ
 * @h: device; asynchronous events go to @h->event, completions are counted
 */
void rig_events(struct rig_hca *h)
{
	for (;;) {
		u8 *e = rig_buf_at(h, &h->eq, (h->eq_ci & 1023) * 32);

		if (e[31] >> 7 != (h->eq_ci >> 10 & 1))
			break;
		h->eq_ci++;
		if (e[1] == CX3_EV_COMP) {
			h->completions[e[7]]++;
		} else if (h->nevents < RIG_EVENTS) {
			struct rig_event *v = &h->event[h->nevents++];

			v->type = e[1];
			v->subtype = e[3];
			v->num = get32(e + 4) & 0xffffff;
			v->syndrome = e[15];
		}
	}
	rig_mmio32(h, 2, (RIG_EQN / 4) * 4096ull + 0x800 + 8 * (RIG_EQN % 4),
		   1u << 31 | (h->eq_ci & 0xffffff));
}

/**
 * rig_saw - how often did an event come?
 * @h: device
 * @type: event type
 * @num: object number
 */
unsigned int rig_saw(struct rig_hca *h, u8 type, u32 num)
{
	unsigned int i, n = 0;

	rig_events(h);
	for (i = 0; i < h->nevents; i++)
		n += h->event[i].type == type && h->event[i].num == num;
	return n;
}
