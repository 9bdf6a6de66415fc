// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory keys: registration, checks, re-registration by editing the entry, fast registration,
 * invalidation and windows.
 */
#include "../model/mpt.h"
#include "lib/bare.h"
#include "lib/tap.h"

#define PD 5u
#define QPN 0x123u
#define VA 0x70000123456ull
#define PAGES 4u
#define LEN (PAGES * 4096u - 0x456u)

static struct rig rig;
static struct rig_hca *p;
static struct rig_buf pages;
static struct cx3_mr mr;

static u32 key_of(u32 index, u8 variant)
{
	return index << 8 | variant;
}

/* An entry as a driver writes it: region of scattered pages with all rights. */
static void entry_of(u8 *e, u32 key, u64 va, u64 len)
{
	memset(e, 0, 64);
	put32(e + MPT_FLAGS, 0xf0000000 | 1 << 17 | MPT_REGION | 0x3f << 10);
	put32(e + MPT_KEY, mpt_rotate(key));
	put32(e + MPT_PD, PD);
	put64(e + MPT_START, va);
	put64(e + MPT_LENGTH, len);
	put64(e + MPT_MTT, pages.mtt);
	put32(e + MPT_ENTITY, 12);
}

static void setup(void)
{
	u8 e[64];

	rig_up(&rig);
	p = &rig.h[0];
	rig_buf_init(p, &pages, PAGES * 4096);
	entry_of(e, key_of(40, 0x11), VA, LEN);
	rig_cmd(p, OP_SW2HW_MPT, 0, 40, e, 64, 0);
}

static int check(u32 key, u64 va, u64 len, u32 access)
{
	return cx3_mr_check(p->hca, key, PD, QPN, va, len, access, false, &mr);
}

static u8 *dmpt(u32 index)
{
	return rig_mem(p, p->icm[CX3_ICM_DMPT] + index * 64, 64);
}

static void test_check(void)
{
	u32 key = key_of(40, 0x11);

	setup();
	tap_eq(dmpt(40)[0] >> 4, 0, "the entry in memory is the hardware's");
	tap_eq(check(key, VA, LEN, CX3_ACC_LOCAL_WRITE), 0, "the whole region");
	tap_eq(check(key, VA + LEN, 0, CX3_ACC_REMOTE_READ), 0, "nothing at its end");
	tap_eq(check(key, VA + 1, LEN, CX3_ACC_LOCAL_READ), CX3_E_RANGE, "a byte too many");
	tap_eq(check(key, VA - 1, 1, CX3_ACC_LOCAL_READ), CX3_E_RANGE, "a byte before");
	tap_eq(check(key, VA, ~0ull, CX3_ACC_LOCAL_READ), CX3_E_RANGE, "running round");
	tap_eq(check(key ^ 1, VA, 1, CX3_ACC_LOCAL_READ), CX3_E_KEY, "another variant byte");
	tap_eq(check(key_of(41, 0x11), VA, 1, 1), CX3_E_KEY, "another index");
	tap_eq(cx3_mr_check(p->hca, key, PD + 1, QPN, VA, 1, 1, false, &mr), CX3_E_KEY,
	       "another PD");
	tap_eq(cx3_mr_check(p->hca, CX3_RESERVED_LKEY, PD, QPN, VA, 1, 1, false, &mr), CX3_E_KEY,
	       "reserved L_Key, and the QP may not use it");
	tap_eq(cx3_mr_check(p->hca, CX3_RESERVED_LKEY, PD, QPN, VA, 1, 1, true, &mr), 0,
	       "and if it may");
	tap_eq(cx3_mr_check(p->hca, CX3_RESERVED_LKEY, PD, QPN, VA, 1, CX3_ACC_REMOTE_READ, true,
			    &mr), CX3_E_KEY, "but never from outside");
	rig_down(&rig);
}

static void test_access_bits(void)
{
	static const u32 bits[] = { 1, 2, 4, 8, 0x10 };
	u32 i, j, good = 0;
	u8 e[64];

	setup();
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		entry_of(e, key_of(50 + i, 1), VA, LEN);
		put32(e, 0xf0000000 | 1 << 17 | MPT_REGION | bits[i] << 10);
		rig_cmd(p, OP_SW2HW_MPT, 0, 50 + i, e, 64, 0);
		for (j = 0; j < ARRAY_SIZE(bits); j++)
			good += check(key_of(50 + i, 1), VA, 8, bits[j]) ==
				(i == j ? 0 : CX3_E_ACCESS);
	}
	tap_eq(good, 25, "each right grants itself and nothing else");
	rig_down(&rig);
}

static void test_copy(void)
{
	static u8 data[LEN], back[LEN];
	u32 key = key_of(40, 0x11), i;

	setup();
	for (i = 0; i < LEN; i++)
		data[i] = (u8)(i * 7 + (i >> 8));
	tap_eq(check(key, VA, LEN, CX3_ACC_LOCAL_WRITE), 0, "allowed");
	tap_eq(cx3_mr_write(p->hca, &mr, VA, data, LEN), 0, "written over four pages");
	tap_eq(rig_buf_at(p, &pages, 0x456)[0], data[0], "the first byte is in its place");
	tap_eq(rig_buf_at(p, &pages, 2 * 4096)[0], data[2 * 4096 - 0x456], "so is the third page");
	tap_eq(cx3_mr_read(p->hca, &mr, VA, back, LEN), 0, "read");
	tap_ok(!memcmp(data, back, LEN), "the same bytes");
	put64(rig_mem(p, p->icm[CX3_ICM_MTT] + pages.mtt + 8, 8), 0);
	check(key, VA, LEN, CX3_ACC_LOCAL_READ);
	tap_eq(cx3_mr_read(p->hca, &mr, VA, back, LEN), CX3_E_MTT, "a page without MTT entry");
	tap_ok(bare_violated(p, "dead-object"), "is a violation");
	rig_down(&rig);
}

static void test_states(void)
{
	u32 key = key_of(40, 0x11);
	u8 e[64];

	setup();
	entry_of(e, key, VA, LEN);
	tap_eq(rig_cmd_try(p, OP_SW2HW_MPT, 0, 40, e, 64, 0, NULL), CX3_BAD_RES_STATE, "twice");
	tap_eq(rig_cmd_try(p, OP_SW2HW_MPT, 0, 41, e, 64, 0, NULL), CX3_BAD_PARAM,
	       "a key of another index");
	tap_eq(rig_cmd_try(p, OP_SW2HW_MPT, 0, 5000, e, 64, 0, NULL), CX3_BAD_INDEX,
	       "beyond the table");
	tap_ok(bare_violated(p, "bad-number"), "is a violation");
	p->host.violations = 0;
	put32(e + MPT_KEY, mpt_rotate(key_of(41, 1)));
	put32(e + MPT_ENTITY, 3);
	tap_eq(rig_cmd_try(p, OP_SW2HW_MPT, 0, 41, e, 64, 0, NULL), CX3_BAD_PARAM, "8-byte pages");
	tap_eq(rig_cmd_try(p, OP_HW2SW_MPT, 0, 40, NULL, 0, 0, NULL), 0, "HW2SW");
	tap_eq(rig_out(p)[0] >> 4, 0xf, "gives the entry back to software");
	tap_eq(get64(rig_out(p) + MPT_START), VA, "with its content");
	tap_eq(rig_cmd_try(p, OP_HW2SW_MPT, 1, 40, NULL, 0, 0, NULL), CX3_BAD_RES_STATE, "once");
	tap_eq(check(key, VA, 1, CX3_ACC_REMOTE_READ), CX3_E_KEY, "the key is dead");
	tap_eq(p->host.violations, 0, "which a peer may find out");
	check(key, VA, 1, CX3_ACC_LOCAL_READ);
	tap_ok(bare_violated(p, "dead-object"), "but its own side must know");
	rig_down(&rig);
}

static void test_edit_in_place(void)
{
	u32 key = key_of(40, 0x11);

	setup();
	rig_cmd(p, OP_HW2SW_MPT, 1, 40, NULL, 0, 0);
	put64(dmpt(40) + MPT_START, VA + 4096);
	dmpt(40)[0] = 0;
	tap_eq(check(key, VA + 4096, 1, CX3_ACC_REMOTE_READ), CX3_E_KEY, "edited, not yet synced");
	rig_cmd(p, OP_SYNC_TPT, 0, 0, NULL, 0, 0);
	tap_eq(check(key, VA + 4096, 1, CX3_ACC_REMOTE_READ), 0, "after SYNC_TPT it is valid");
	tap_eq(check(key, VA, 1, CX3_ACC_REMOTE_READ), CX3_E_RANGE, "with its new start");
	tap_eq(cx3_audit_objects(p->hca, NULL, NULL), 3, "the audit counts it");
	tap_eq(rig_cmd_try(p, OP_HW2SW_MPT, 1, 40, NULL, 0, 0, NULL), 0, "and it can be destroyed");
	tap_eq(cx3_audit_objects(p->hca, NULL, NULL), 2, "then no more");
	rig_down(&rig);
}

static u64 page_list(u32 n)
{
	u64 list = rig_alloc(p, n * 8, 64);
	u32 i;

	for (i = 0; i < n; i++)
		put64(rig_mem(p, list + i * 8, 8), rig_alloc(p, 4096, 4096) | 1);
	return list;
}

static void test_fast_register(void)
{
	struct rig_buf list;
	struct cx3_fast_reg fr = { .log_page = 12 };
	u8 e[64];
	u8 b[4] = { 1, 2, 3, 4 }, c[4];

	setup();
	rig_buf_init(p, &list, 8 * 4096);
	entry_of(e, key_of(44, 1), 0, 0);
	put32(e, 0x30000000 | 1 << 17 | MPT_REGION);
	put32(e + MPT_PD, PD | MPT_PD_FAST_REG | 1 << 28 | MPT_PD_INVALIDATE);
	put64(e + MPT_MTT, list.mtt);
	put32(e + MPT_MTT_SIZE, 8);
	put32(e + MPT_ENTITY, 0);
	tap_eq(rig_cmd_try(p, OP_SW2HW_MPT, 0, 44, e, 64, 0, NULL), 0, "a region handed over free");
	tap_eq(dmpt(44)[0] >> 4, 3, "stays so");
	tap_eq(check(key_of(44, 1), 0, 0, 1), CX3_E_KEY, "and cannot be used");
	fr.key = key_of(44, 2);
	fr.flags = 0x1fu << 27;
	fr.list = page_list(8);
	fr.start = 0x1000800;
	fr.len = 8 * 4096 - 0x800;
	fr.key = key_of(45, 2);
	tap_eq(cx3_mpt_fast_reg(p->hca, PD, &fr), CX3_E_KEY, "no such region");
	fr.key = key_of(44, 2);
	tap_eq(cx3_mpt_fast_reg(p->hca, PD + 1, &fr), CX3_E_KEY, "another PD");
	fr.len++;
	tap_eq(cx3_mpt_fast_reg(p->hca, PD, &fr), CX3_E_RANGE, "more pages than it has room for");
	fr.len--;
	tap_eq(cx3_mpt_fast_reg(p->hca, PD, &fr), 0, "registered");
	tap_eq(cx3_mpt_fast_reg(p->hca, PD, &fr), CX3_E_ACCESS, "twice");
	tap_eq(check(key_of(44, 1), fr.start, 4, 1), CX3_E_KEY, "the old key is dead");
	tap_eq(check(key_of(44, 2), fr.start + 5 * 4096, 4, CX3_ACC_REMOTE_WRITE), 0, "the new");
	tap_eq(cx3_mr_write(p->hca, &mr, fr.start + 5 * 4096, b, 4), 0, "written");
	memcpy(c, rig_mem(p, (get64(rig_mem(p, fr.list + 5 * 8, 8)) & ~1ull) + 0x800, 4), 4);
	tap_ok(!memcmp(b, c, 4), "into the page of the list");
	tap_eq(get64(dmpt(44) + MPT_START), fr.start, "the entry in memory says where");
	tap_eq(cx3_mpt_invalidate(p->hca, key_of(44, 1), PD, QPN, false), CX3_E_KEY,
	       "invalidate with the old key");
	tap_eq(cx3_mpt_invalidate(p->hca, key_of(44, 2), PD, QPN, false), 0, "invalidate");
	tap_eq(dmpt(44)[0] >> 4, 3, "free again");
	tap_eq(check(key_of(44, 2), fr.start, 4, 1), CX3_E_KEY, "and dead");
	tap_eq(cx3_mpt_invalidate(p->hca, key_of(40, 0x11), PD, QPN, false), CX3_E_ACCESS,
	       "an ordinary region cannot be invalidated");
	rig_down(&rig);
}

static void window(u32 index, bool type2)
{
	u8 e[64] = { 0 };

	put32(e, type2 ? 0x30000000 : 0xf0000000);
	put32(e + MPT_KEY, mpt_rotate(key_of(index, 1)));
	put32(e + MPT_PD, PD | (type2 ? MPT_PD_INVALIDATE : 0));
	put32(e + MPT_QPN, type2 ? MPT_QPN_BOUND : 0);
	rig_cmd(p, OP_SW2HW_MPT, 0, index, e, 64, 0);
}

static void test_window_type1(void)
{
	u32 key = key_of(60, 2);
	struct cx3_bind b = {
		.flags1 = 8u << 27, .new_rkey = key, .lkey = key_of(40, 0x11), .addr = VA + 16,
		.len = 32,
	};

	setup();
	window(60, false);
	tap_eq(check(key_of(60, 1), VA, 1, CX3_ACC_REMOTE_WRITE), CX3_E_ACCESS, "not bound yet");
	b.addr = VA + LEN;
	tap_eq(cx3_mpt_bind(p->hca, PD, QPN, &b), CX3_E_ACCESS, "outside of the region");
	b.addr = VA + 16;
	tap_eq(cx3_mpt_bind(p->hca, PD, QPN, &b), 0, "bound");
	tap_eq(check(key, VA + 16, 32, CX3_ACC_REMOTE_WRITE), 0, "grants its range");
	tap_eq(check(key, VA + 15, 1, CX3_ACC_REMOTE_WRITE), CX3_E_RANGE, "and no more");
	tap_eq(check(key, VA + 16, 1, CX3_ACC_REMOTE_READ), CX3_E_ACCESS, "no other right");
	tap_eq(check(key, VA + 16, 1, CX3_ACC_LOCAL_WRITE), CX3_E_ACCESS, "nothing locally");
	tap_eq(rig_cmd_try(p, OP_HW2SW_MPT, 1, 40, NULL, 0, 0, NULL), CX3_REG_BOUND,
	       "the region cannot go");
	b.len = 0;
	b.new_rkey = key_of(60, 3);
	tap_eq(cx3_mpt_bind(p->hca, PD, QPN, &b), 0, "length 0 unbinds");
	tap_eq(check(key, VA + 16, 1, CX3_ACC_REMOTE_WRITE), CX3_E_KEY, "the key is dead");
	tap_eq(rig_cmd_try(p, OP_HW2SW_MPT, 1, 40, NULL, 0, 0, NULL), 0, "now the region can");
	rig_down(&rig);
}

static void test_window_type2(void)
{
	u32 key = key_of(61, 2);
	struct cx3_bind b = {
		.flags1 = 4u << 27, .flags2 = 3u << 30, .new_rkey = key, .lkey = key_of(40, 0x11),
		.addr = VA + 4096, .len = 8,
	};
	u8 c[4] = { 0 };

	setup();
	memcpy(rig_buf_at(p, &pages, 0x456 + 4096), "wind", 4);
	window(61, true);
	tap_eq(cx3_mpt_bind(p->hca, PD, QPN, &b), 0, "bound, zero based");
	tap_eq(check(key, 0, 8, CX3_ACC_REMOTE_READ), 0, "address 0 is its start");
	tap_eq(cx3_mr_read(p->hca, &mr, 0, c, 4), 0, "read");
	tap_ok(!memcmp(c, "wind", 4), "the region's bytes");
	tap_eq(cx3_mr_check(p->hca, key, PD, QPN + 1, 0, 8, CX3_ACC_REMOTE_READ, false, &mr),
	       CX3_E_KEY, "another QP may not");
	tap_eq(cx3_mpt_bind(p->hca, PD, QPN, &b), CX3_E_ACCESS, "bound twice");
	tap_eq(cx3_mpt_invalidate(p->hca, key, PD, QPN + 1, true), CX3_E_ACCESS,
	       "invalidated by another QP");
	tap_eq(cx3_mpt_invalidate(p->hca, key, PD, QPN, true), 0, "by its own");
	tap_eq(check(key, 0, 8, CX3_ACC_REMOTE_READ), CX3_E_KEY, "dead");
	tap_eq(rig_cmd_try(p, OP_HW2SW_MPT, 1, 40, NULL, 0, 0, NULL), 0, "and the region is free");
	rig_down(&rig);
}

static u32 heard[8], nheard, blocked;

static void hear(void *arg, u32 qpn, bool block)
{
	if (nheard < ARRAY_SIZE(heard))
		heard[nheard++] = qpn;
	blocked += block;
}

/* Entries as a driver chains them: hash slot, then overflow. */
static void test_multicast(void)
{
	u8 gid[16] = { 0xff, 0x12, 0, 1 }, gid2[16] = { 0xff, 0x12, 0, 2 }, e[256] = { 0 };
	u64 hash = 99;

	rig_up(&rig);
	p = &rig.h[0];
	memset(rig_mem(p, p->icm[CX3_ICM_MCG], 16384), 0xee, 16384);
	rig_cmd_try(p, OP_MGID_HASH, 0, 0, gid, 16, 0, &hash);
	tap_ok(hash < 32, "the hash lies in the hash region");
	rig_cmd(p, OP_READ_MCG, 0, (u32)hash, NULL, 0, 0);
	tap_eq(get32(rig_out(p) + 4), 0, "a fresh entry has no members, whatever the page holds");
	tap_eq(cx3_mcg_walk(p->hca, gid, hear, NULL), 0, "and nobody hears");
	put32(e, 40 << 6);
	put32(e + 4, 1);
	memcpy(e + 16, gid2, 16);
	put32(e + 32, 0x111);
	rig_cmd(p, OP_WRITE_MCG, 0, (u32)hash, e, 256, 0);
	put32(e, 0);
	put32(e + 4, 2);
	memcpy(e + 16, gid, 16);
	put32(e + 32, 0x222);
	put32(e + 36, 0x333 | 1 << 30);
	rig_cmd(p, OP_WRITE_MCG, 0, 40, e, 256, 0);
	rig_cmd(p, OP_READ_MCG, 0, 40, NULL, 0, 0);
	tap_ok(!memcmp(rig_out(p), e, 256), "READ_MCG gives back what was written");
	tap_eq(cx3_mcg_walk(p->hca, gid, hear, NULL), 2, "the chain is followed");
	tap_ok(heard[0] == 0x222 && heard[1] == 0x333 && blocked == 1, "to the right QPs");
	put32(e, 40 << 6);
	rig_cmd(p, OP_WRITE_MCG, 0, 40, e, 256, 0);
	tap_ok(cx3_mcg_walk(p->hca, gid2, hear, NULL) <= 1100, "a chain that bites its tail ends");
	put32(e + 4, 57);
	tap_eq(rig_cmd_try(p, OP_WRITE_MCG, 0, 41, e, 256, 0, NULL), CX3_BAD_PARAM,
	       "more members than fit");
	tap_eq(rig_cmd_try(p, OP_READ_MCG, 0, 64, NULL, 0, 0, NULL), CX3_BAD_INDEX,
	       "beyond the table");
	memset(e, 0, sizeof(e));
	rig_cmd(p, OP_WRITE_MCG, 0, (u32)hash, e, 256, 0);
	tap_eq(cx3_audit_objects(p->hca, NULL, NULL), 2, "an emptied head leaves nothing");
	rig_down(&rig);
}

int main(void)
{
	test_check();
	test_access_bits();
	test_copy();
	test_states();
	test_edit_in_place();
	test_fast_register();
	test_window_type1();
	test_window_type2();
	test_multicast();
	return tap_done();
}
