// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICM: mapping, unmapping, garbage in fresh pages, access to what is not mapped; and event queues,
 * which are the simplest user of it.
 */
#include "../model/core.h"
#include "lib/bare.h"
#include "lib/tap.h"

static struct fake_world world;
static struct rig_hca h;
static struct rig rig;

static unsigned int lines;

static void count_line(void *arg, const char *line)
{
	if (strstr(line, arg))
		lines++;
}

static unsigned int audit_says(struct rig_hca *p, char *text)
{
	lines = 0;
	cx3_audit(p->hca, count_line, text);
	return lines;
}

static void test_map(void)
{
	bare_up(&world, &h, NULL);
	bare_fw(&h);
	rig_cmd(&h, OP_SET_ICM_SIZE, 0, 0, NULL, 0, 1 << 20);
	tap_eq(bare_map(&h, OP_MAP_ICM, 0x100000000, 0x3000000, 6), 0, "64 pages");
	tap_eq(audit_says(&h, "ICM 100000000: 64 pages"), 1, "the audit lists them as one run");
	tap_eq(cx3_icm_addr(h.hca, 0x10003f123), 0x303f123, "the last page leads there");
	tap_eq(cx3_icm_addr(h.hca, 0x100040000), 0, "the next one nowhere");
	tap_eq(bare_map(&h, OP_MAP_ICM, 0x100000000, 0x4000000, 0), 0, "mapped again");
	tap_ok(bare_violated(&h, "mapped twice"), "is a violation");
	tap_eq(cx3_icm_addr(h.hca, 0x100000000), 0x4000000, "and counts");
	tap_eq(rig_cmd_try(&h, OP_UNMAP_ICM, 0, 128, NULL, 0, 0x100020000, NULL), 0,
	       "unmapping more than there is succeeds");
	tap_eq(cx3_icm_addr(h.hca, 0x100020000), 0, "those are gone");
	tap_eq(cx3_icm_addr(h.hca, 0x10001f000), 0x301f000, "the page before is not");
	tap_eq(h.hca->core->icm.pages, 32, "32 pages are left");
	rig_cmd(&h, OP_UNMAP_ICM, 0, 64, NULL, 0, 0x100000000);
	tap_eq(h.hca->core->icm.pages, 0, "then none");
	bare_down(&h);
}

static void test_map_nonsense(void)
{
	u64 top = CX3_BIT(36);
	u64 dummy;

	bare_up(&world, &h, NULL);
	bare_fw(&h);
	tap_eq(bare_map(&h, OP_MAP_ICM, top, 0x3000000, 0), CX3_BAD_PARAM, "beyond ICM space");
	tap_eq(bare_map(&h, OP_MAP_ICM, top - 4096, 0x3000000, 1), CX3_BAD_PARAM,
	       "running over its end");
	tap_eq(bare_map(&h, OP_MAP_ICM, ~0xfffull, 0x3000000, 1), CX3_BAD_PARAM, "running round");
	tap_eq(bare_map(&h, OP_MAP_ICM, 0x800, 0x3000000, 0), CX3_BAD_PARAM, "not on a page");
	tap_eq(bare_map(&h, OP_MAP_ICM, 0, 0, 40), CX3_BAD_PARAM, "a chunk of 4 PiB");
	tap_eq(rig_cmd_try(&h, OP_MAP_ICM, 0, 0, (u8 *)"", 1, 0, NULL), CX3_BAD_PARAM, "no entry");
	tap_eq(rig_cmd_try(&h, OP_MAP_ICM, 0, 257, (u8 *)"", 1, 0, NULL), CX3_BAD_PARAM,
	       "more entries than a mailbox holds");
	tap_eq(rig_cmd_try(&h, OP_UNMAP_ICM, 0, ~0u, NULL, 0, 0, NULL), CX3_BAD_PARAM,
	       "unmapping 16 TiB");
	tap_eq(rig_cmd_try(&h, OP_SET_ICM_SIZE, 0, 0, NULL, 0, top + 1, &dummy), CX3_EXCEED_LIM,
	       "more than the card has");
	tap_eq(h.hca->core->icm.pages, 0, "nothing was mapped");
	bare_down(&h);
}

static void test_unmap_below_objects(void)
{
	struct rig_hca *p = &rig.h[0];
	u64 va;

	rig_up(&rig);
	va = p->hca->core->base[CX3_ICM_EQC];
	rig_cmd(p, OP_UNMAP_ICM, 0, 64, NULL, 0, va);
	tap_ok(bare_violated(p, "below live EQ 4"), "unmapping the context of a live EQ");
	p->host.violations = 0;
	tap_eq(rig_cmd_try(p, OP_QUERY_EQ, 0, RIG_EQN, NULL, 0, 0, NULL), CX3_ICM_ERROR,
	       "its context cannot be read then");
	tap_ok(bare_violated(p, "icm-unmapped: EQC entry 4"), "and that is a violation");
	rig_down(&rig);
}

static void eq_context(struct rig_hca *p, struct rig_buf *b, u8 *c, u8 log, u8 state, u16 vector)
{
	rig_buf_init(p, b, 32u << log);
	memset(rig_mem(p, b->base, 32u << log), 0, 32u << log);
	memset(c, 0, 64);
	put32(c, (u32)state << 8);
	c[0x0c] = log;
	put16(c + 0x16, vector);
	put32(c + 0x1c, (u32)b->mtt);
}

static void test_eq_create(void)
{
	struct rig_hca *p = &rig.h[0];
	struct rig_buf b;
	u8 c[64];
	u32 i, good = 0;

	rig_up(&rig);
	eq_context(p, &b, c, 8, 9, 1);
	memset(rig_mem(p, p->icm[CX3_ICM_EQC], 4096), 0xee, 4096);
	tap_eq(rig_cmd_try(p, OP_HW2SW_EQ, 1, 6, NULL, 0, 0, NULL), CX3_BAD_RES_STATE,
	       "garbage in ICM makes no EQ");
	tap_eq(rig_cmd_try(p, OP_MAP_EQ, 0, 6, NULL, 0, 2, NULL), CX3_BAD_RES_STATE,
	       "nor takes it events");
	tap_eq(rig_cmd_try(p, OP_SW2HW_EQ, 0, 6, c, 64, 0, NULL), 0, "SW2HW_EQ");
	for (i = 0; i < 256; i++)
		good += rig_buf_at(p, &b, i * 32)[31] == 0x80;
	tap_eq(good, 256, "every entry is the device's");
	tap_eq(get32(rig_mem(p, p->icm[CX3_ICM_EQC] + 6 * 128, 4)), 0x01000900,
	       "the context in ICM says so");
	tap_eq(get32(rig_mem(p, p->icm[CX3_ICM_CMPT], 1 << 16) + 6 * 64), 0,
	       "and the entry of another region is not touched");
	tap_eq(rig_cmd_try(p, OP_SW2HW_EQ, 0, 6, c, 64, 0, NULL), CX3_BAD_RES_STATE, "twice");
	c[0x0c] = 31;
	tap_eq(rig_cmd_try(p, OP_SW2HW_EQ, 0, 7, c, 64, 0, NULL), CX3_BAD_PARAM, "2^31 entries");
	c[0x0c] = 8;
	put16(c + 0x16, 200);
	tap_eq(rig_cmd_try(p, OP_SW2HW_EQ, 0, 7, c, 64, 0, NULL), CX3_BAD_PARAM, "vector 200");
	tap_eq(rig_cmd_try(p, OP_SW2HW_EQ, 0, 1000, c, 64, 0, NULL), CX3_BAD_INDEX, "EQ 1000");
	put16(c + 0x16, 1);
	put32(c + 0x1c, 0xfffff8);
	tap_eq(rig_cmd_try(p, OP_SW2HW_EQ, 0, 7, c, 64, 0, NULL), CX3_ICM_ERROR, "MTT not mapped");
	tap_eq(rig_cmd_try(p, OP_HW2SW_EQ, 1, 6, NULL, 0, 0, NULL), 0, "HW2SW_EQ");
	tap_eq(rig_cmd_try(p, OP_HW2SW_EQ, 1, 6, NULL, 0, 0, NULL), CX3_BAD_RES_STATE, "once");
	rig_down(&rig);
}

static void doorbell(struct rig_hca *p, u32 eqn, u32 ci, bool arm)
{
	rig_mmio32(p, 2, eqn / 4 * 4096 + 0x800 + eqn % 4 * 8, (arm ? 1u << 31 : 0) | ci);
}

static void test_eq_arm(void)
{
	struct rig_hca *p = &rig.h[0];
	unsigned int *fired = &p->host.msix[3];
	struct rig_buf b;
	u32 i, good = 0;
	u8 c[64];

	rig_up(&rig);
	eq_context(p, &b, c, 2, 10, 3);
	rig_cmd(p, OP_SW2HW_EQ, 0, 6, c, 64, 0);
	rig_cmd(p, OP_MAP_EQ, 0, 6, NULL, 0, CX3_BIT(CX3_EV_COMM_EST));
	cx3_enter(p->hca);
	cx3_event_num(p->hca, CX3_EV_COMM_EST, 0x123456);
	cx3_leave(p->hca);
	tap_eq(*fired, 0, "an EQ handed over as FIRED is silent");
	tap_eq(rig_buf_at(p, &b, 0)[1], CX3_EV_COMM_EST, "but the entry is there");
	tap_eq(get32(rig_buf_at(p, &b, 4)), 0x123456, "with the object's number");
	doorbell(p, 6, 0, true);
	tap_eq(*fired, 1, "arming with an entry pending fires at once");
	cx3_event_num(p->hca, CX3_EV_COMM_EST, 2);
	tap_eq(*fired, 1, "one shot");
	doorbell(p, 6, 2, false);
	tap_eq(*fired, 1, "a consumer index alone does nothing");
	doorbell(p, 6, 2, true);
	tap_eq(*fired, 1, "arming an empty EQ neither");
	cx3_enter(p->hca);
	cx3_event_num(p->hca, CX3_EV_COMM_EST, 3);
	cx3_leave(p->hca);
	tap_eq(*fired, 2, "the next entry fires");
	doorbell(p, 6, 3, false);
	for (i = 0; i < 5; i++)
		cx3_event_num(p->hca, CX3_EV_COMM_EST, 100 + i);
	for (i = 3; i < 7; i++)
		good += rig_buf_at(p, &b, (i & 3) * 32)[31] == (i >> 2 & 1 ? 0x80 : 0) &&
			get32(rig_buf_at(p, &b, (i & 3) * 32 + 4)) == 97 + i;
	tap_eq(good, 4, "the owner bit turns with each pass, and nothing is overwritten");
	rig_cmd(p, OP_QUERY_EQ, 0, 6, NULL, 0, 0);
	tap_eq(rig_out(p)[0] >> 4, 9, "the fifth entry overflowed: the context says so");
	doorbell(p, 6, 99, false);
	tap_ok(bare_violated(p, "passes producer"), "a consumer ahead of the producer");
	doorbell(p, 9, 0, true);
	tap_ok(bare_violated(p, "EQ 9, which is not alive"), "doorbell of a dead EQ");
	rig_down(&rig);
}

static void test_map_eq(void)
{
	struct rig_hca *p = &rig.h[0];
	struct rig_buf b;
	u8 c[64];

	rig_up(&rig);
	eq_context(p, &b, c, 4, 9, 3);
	rig_cmd(p, OP_SW2HW_EQ, 0, 6, c, 64, 0);
	rig_cmd(p, OP_MAP_EQ, 0, 6, NULL, 0, CX3_BIT(CX3_EV_COMM_EST) | CX3_BIT(CX3_EV_SRQ_LIMIT));
	rig_cmd(p, OP_MAP_EQ, 0, RIG_EQN, NULL, 0, CX3_BIT(CX3_EV_SRQ_LIMIT));
	rig_cmd(p, OP_MAP_EQ, 0, 6 | 1u << 31, NULL, 0, CX3_BIT(CX3_EV_SRQ_LIMIT));
	cx3_event_num(p->hca, CX3_EV_SRQ_LIMIT, 7);
	tap_eq(rig_saw(p, CX3_EV_SRQ_LIMIT, 7), 1, "a type belongs to the EQ that mapped it last");
	tap_eq(rig_buf_at(p, &b, 0)[31], 0x80, "and to no other");
	tap_eq(rig_cmd_try(p, OP_HW2SW_EQ, 1, 6, NULL, 0, 0, NULL), 0, "HW2SW with a type mapped");
	tap_ok(bare_violated(p, "event type 2 mapped"), "is a violation");
	cx3_event_num(p->hca, CX3_EV_COMM_EST, 7);
	tap_eq(rig_buf_at(p, &b, 0)[31], 0x80, "nothing is written to it any more");
	rig_down(&rig);
}

static void test_intx(void)
{
	struct rig_hca *p = &rig.h[0];

	rig_up(&rig);
	cx3_set_msix(p->hca, false);
	rig_events(p);
	cx3_enter(p->hca);
	cx3_event_num(p->hca, CX3_EV_COMM_EST, 1);
	cx3_leave(p->hca);
	tap_ok(p->host.intx, "without MSI-X the line rises");
	rig_mmio32(p, 0, 0xf00dc, 1);
	tap_ok(!p->host.intx, "and falls by the clear register");
	doorbell(p, RIG_EQN, p->eq_ci, true);
	tap_ok(p->host.intx, "arming with the entry still there raises it again");
	rig_mmio32(p, 0, 0xf00dc, 1);
	rig_events(p);
	tap_ok(!p->host.intx, "not once it is consumed");
	rig_down(&rig);
}

static void test_mtt_commands(void)
{
	struct rig_hca *p = &rig.h[0];
	u8 m[32] = { 0 };
	u64 addr;

	rig_up(&rig);
	put64(m, 0x2000);
	put64(m + 16, 0x1234000 | 1);
	put64(m + 24, 0x1235000);
	tap_eq(rig_cmd_try(p, OP_WRITE_MTT, 0, 2, m, 32, 0, NULL), 0, "WRITE_MTT");
	tap_ok(!cx3_mtt_get(p->hca, 0x2000, &addr) && addr == 0x1234000, "an entry translates");
	tap_eq(cx3_mtt_get(p->hca, 0x2008, &addr), CX3_E_MTT, "one that is not present does not");
	rig_cmd(p, OP_READ_MTT, 0, 2, NULL, 0, 0x2000);
	tap_eq(get64(rig_out(p) + 8), 0x1235000, "READ_MTT gives back what was written");
	tap_eq(rig_cmd_try(p, OP_WRITE_MTT, 0, 511, m, 32, 0, NULL), CX3_BAD_PARAM,
	       "more than a mailbox");
	rig_down(&rig);
}

int main(void)
{
	test_map();
	test_map_nonsense();
	test_unmap_below_objects();
	test_eq_create();
	test_eq_arm();
	test_map_eq();
	test_intx();
	test_mtt_commands();
	return tap_done();
}
