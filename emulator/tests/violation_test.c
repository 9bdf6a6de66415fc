// SPDX-License-Identifier: GPL-2.0-only
/*
 * Violations: each kind, provoked by hand, is counted as that kind and as no other.
 */
#include "../model/core.h"
#include "lib/bare.h"
#include "lib/tap.h"
#include "lib/verbs.h"

static struct fake_world world;
static struct rig_hca box;
static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };
static u64 before[CX3_NVIOLS];

static void look(struct rig_hca *h)
{
	memcpy(before, h->hca->viol, sizeof(before));
}

/* Since look() there was a violation of @kind, and of no other. */
static void only(struct rig_hca *h, enum cx3_viol kind, const char *what)
{
	u64 more = h->hca->viol[kind] - before[kind], all = 0;
	unsigned int i;

	for (i = 0; i < CX3_NVIOLS; i++)
		all += h->hca->viol[i] - before[i];
	tap_ok(more && all == more, "%s: %llu of its kind, %llu in all", what, more, all);
	look(h);
}

static void up(void)
{
	struct v_attr at;

	v_attr_init(&at, QPT_RC, NULL, NULL);
	v_pair_up(&rig, &pair, &at, 20000, 6, 1);
	look(&rig.h[0]);
}

static u8 try(u16 opcode, u8 op_mod, u32 in_mod, const u8 *in, u32 len)
{
	return rig_cmd_try(&rig.h[0], opcode, op_mod, in_mod, in, len, 0, NULL);
}

static void send(u32 key)
{
	struct v_sge to = v_sge(&mb, 0, 100);
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };

	wr.s[0] = v_sge(&ma, 0, 100);
	wr.s[0].key = key;
	v_recv(&b, &to, 1);
	v_send(&a, &wr);
	rig_run(&rig, 1000000);
}

static void test_doorbells(void)
{
	struct rig_hca *h = &rig.h[0];
	struct cqe e;

	up();
	send(ma.key);
	send(ma.key);
	tap_ok(v_cq_poll(&scq, &e) && v_cq_poll(&scq, &e) && e.opcode == WQE_SEND &&
	       !cx3_violations(h->hca, NULL, NULL), "two sends, and nothing to complain of");
	v_ring(&a);
	only(h, CX3_V_WQE, "a doorbell and no WQE in the hardware's hands");
	a.qpn += 5;
	v_ring(&a);
	a.qpn -= 5;
	only(h, CX3_V_DB_DEAD, "a doorbell for a dead QP");
	scq.cqn += 50;
	v_cq_arm(&scq, false);
	scq.cqn -= 50;
	only(h, CX3_V_DB_DEAD, "for a dead CQ");
	rig_mmio32(h, 2, 2 * 4096 + 0x800 + 8 * 1, 0);
	only(h, CX3_V_DB_DEAD, "for a dead EQ");
	rig_mmio32(h, 2, (RIG_UAR + 1) * 4096ull + 0x14, a.qpn << 8);
	only(h, CX3_V_DB_BAD, "in the UAR of somebody else");
	cx3_bar_write(h->hca, 0, 0x1230, 0, 8);
	only(h, CX3_V_MMIO, "eight bytes at a register");
	rig_down(&rig);
}

static void test_objects(void)
{
	struct rig_hca *h = &rig.h[0];
	u8 m[256] = { 0 };
	u32 key;

	up();
	try(0x016, 0, 0xffffff, m, sizeof(m));
	only(h, CX3_V_BAD_NUMBER, "a CQ with a number out of range");
	m[1] = 0x80;
	try(0x016, 0, 0x77, m, sizeof(m));
	only(h, CX3_V_RESERVED, "a reserved field of a CQ context");
	key = ma.key;
	v_mr_dereg_try(&ma);
	send(key);
	only(h, CX3_V_DEAD_OBJECT, "the key of a destroyed region");
	rig_down(&rig);
}

static void test_size(void)
{
	up();
	put32(rig_buf_at(&rig.h[0], &a.buf, a.sq_at), WQE_SEND);
	put32(rig_buf_at(&rig.h[0], &a.buf, a.sq_at) + 4, 60);
	v_ring(&a);
	only(&rig.h[0], CX3_V_WQE, "a WQE larger than its place");
	rig_down(&rig);
}

static void test_pages(void)
{
	struct rig_hca *h = &rig.h[0];

	up();
	rig_cmd(h, OP_UNMAP_ICM, 0, 64, NULL, 0, h->hca->core->base[CX3_ICM_EQC]);
	only(h, CX3_V_ICM_BUSY, "the context of a live EQ loses its page");
	try(OP_QUERY_EQ, 0, RIG_EQN, NULL, 0);
	only(h, CX3_V_ICM_UNMAPPED, "a context is wanted where no page is");
	rig_down(&rig);
}

static void test_bus(void)
{
	struct rig_hca *h = &rig.h[0];

	up();
	cx3_set_bus_master(h->hca, false);
	try(0x022, 0, a.qpn, NULL, 0);
	only(h, CX3_V_DMA_NO_MASTER, "DMA while bus mastering is off");
	cx3_set_bus_master(h->hca, true);
	bare_post(h, 0x800000u | 0x022, a.qpn, 0, 0x10, 0);
	only(h, CX3_V_DMA_FAULT, "DMA to where no memory is");
	rig_down(&rig);
}

static void test_end(void)
{
	struct rig_hca *h = &rig.h[0];

	up();
	rig_cmd(h, OP_CLOSE_HCA, 0, 0, NULL, 0, 0);
	only(h, CX3_V_LEFT_OVER, "CLOSE_HCA, and there are objects");
	v_ring(&a);
	only(h, CX3_V_AFTER_END, "a doorbell after the driver was finished");
	rig_down(&rig);
	up();
	rig_mmio32(h, 0, 0xf0010, 1);
	only(h, CX3_V_LEFT_OVER, "a reset, and there are objects");
	rig_down(&rig);
}

static void test_commands(void)
{
	bare_up(&world, &box, NULL);
	look(&box);
	rig_cmd_try(&box, OP_RUN_FW, 0, 0, NULL, 0, 0, NULL);
	only(&box, CX3_V_CMD_STATE, "RUN_FW before there is memory for it");
	bare_map(&box, OP_MAP_FA, 0, 0x2000000, 8);
	rig_cmd(&box, OP_RUN_FW, 0, 0, NULL, 0, 0);
	bare_map(&box, OP_MAP_ICM_AUX, 0, 0x2100000, 0);
	rig_cmd(&box, OP_UNMAP_FA, 0, 0, NULL, 0, 0);
	only(&box, CX3_V_LEFT_OVER, "UNMAP_FA, and there are pages");
	bare_down(&box);
	bare_up(&world, &box, NULL);
	look(&box);
	cx3_fault_add(box.hca, "cmd:0x4 delay=1000000", &(const char *){ NULL });
	bare_post(&box, 0x800000u | OP_QUERY_FW, 0, 0, box.mbox_out, 0);
	rig_mmio32(&box, 0, BARE_HCR, 1);
	only(&box, CX3_V_CMD_BUSY, "the command register written while a command runs");
	bare_down(&box);
}

int main(void)
{
	test_doorbells();
	test_objects();
	test_size();
	test_pages();
	test_bus();
	test_end();
	test_commands();
	return tap_done();
}
