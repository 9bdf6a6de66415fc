// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traps of an HCA port: they arrive on QP0 as if from LID 0, and say what happened.
 */
#include "../model/port.h"
#include "lib/bare.h"
#include "lib/tap.h"
#include "lib/verbs.h"

#define SM_LID 9
#define OP_SET_PORT 0x00c

static struct rig rig;
static struct v_cq cq[2], qp0_cq;
static struct v_qp q[2], qp0;
static struct v_mr m[2];
static u8 mad[256];

static void set_sm(u8 mkey)
{
	u8 d[256] = { 1, 1, 1, 1 };

	put16(d + 16, 0x15);
	put32(d + 20, 1);
	rig_cmd(&rig.h[1], OP_MAD_IFC, 3, 1, d, sizeof(d), 0);
	memcpy(d, rig_out(&rig.h[1]), sizeof(d));
	d[3] = 2;
	put16(d + MAD_DATA + 18, SM_LID);
	d[MAD_DATA + 32] &= 0xf0;
	d[MAD_DATA + 33] &= 0x0f;
	d[MAD_DATA + 7] = mkey;
	d[MAD_DATA + 34] |= 0x80;		/* M_Key protection 2 */
	d[MAD_DATA + 51] = 8;			/* subnet timeout: about a millisecond */
	rig_cmd(&rig.h[1], OP_MAD_IFC, 3, 1, d, sizeof(d), 0);
}

static void setup(void)
{
	struct v_attr at;
	u32 i;

	rig_up(&rig);
	set_sm(0);
	for (i = 0; i < 2; i++) {
		v_cq_init(&cq[i], &rig.h[i], 6);
		v_mr_init(&m[i], &rig.h[i], 20000, V_ACCESS_ALL);
		v_attr_init(&at, QPT_UD, &cq[i], &cq[i]);
		v_qp_init(&q[i], &rig.h[i], &at);
		v_qp_rtr(&q[i], 0, 0, 0);
		v_qp_rts(&q[i], 0);
	}
	v_cq_init(&qp0_cq, &rig.h[1], 6);
	v_attr_init(&at, QPT_MLX, &qp0_cq, &qp0_cq);
	at.sq_stride = 9;
	at.qpn = RIG_SPECIAL;
	v_qp_init(&qp0, &rig.h[1], &at);
	v_qp_rtr(&qp0, 0, 0, 0);
	v_qp_rts(&qp0, 0);
	for (i = 0; i < 8; i++) {
		struct v_sge s = v_sge(&m[1], 8000 + 400 * i, 400);

		v_recv(&qp0, &s, 1);
	}
}

/* The next trap, in mad[]; its number, 0 if none has come. */
static u16 next_trap(u32 n)
{
	struct cqe e;

	rig_run(&rig, 1000000);
	if (!v_cq_poll(&qp0_cq, &e))
		return 0;
	tap_ok(e.slid == 0 && e.bytes == 296 && e.rqpn == 0 && e.opcode == CQE_RECV_SEND,
	       "a MAD on QP0, from LID 0");
	memcpy(mad, v_mr_at(&m[1], 8000 + 400 * n + 40), sizeof(mad));
	tap_ok(mad[1] == 1 && mad[3] == 5 && get16(mad + 16) == 2 && get64(mad + 8),
	       "method Trap, attribute Notice, with a transaction");
	tap_ok(get24(mad + MAD_DATA + 1) == 1 && get16(mad + MAD_DATA + 6) == 2,
	       "of a channel adapter, issued by its LID");
	return get16(mad + MAD_DATA + 4);
}

static void send_ud(u32 qkey)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };

	wr.s[0] = v_sge(&m[0], 0, 100);
	wr.ud.pd = V_PD;
	wr.ud.port = 1;
	wr.ud.dlid = 2;
	wr.ud.dqpn = q[1].qpn;
	wr.ud.qkey = qkey;
	v_send(&q[0], &wr);
}

static void test_keys(void)
{
	const u8 *d = mad + MAD_DATA + 10;
	u32 i;

	setup();
	send_ud(V_QKEY);
	tap_eq(next_trap(0), 0, "no trap for a good datagram");
	send_ud(0x1234);
	tap_eq(next_trap(0), 258, "a bad Q_Key");
	tap_ok(get16(d + 2) == 1 && get16(d + 4) == 2 && get32(d + 6) == 0x1234 &&
	       get24(d + 11) == q[0].qpn && get24(d + 15) == q[1].qpn,
	       "both LIDs, the key, both QPs");
	rig_run(&rig, 10000000);
	for (i = 0; i < 3; i++)
		send_ud(0x1234);
	tap_eq(next_trap(1), 258, "three at once");
	tap_eq(next_trap(2), 0, "are one trap");
	rig.h[1].hca->port[0].pkey[0] = 0x7fff;
	rig.h[0].hca->port[0].pkey[0] = 0x7fff;
	send_ud(V_QKEY);
	tap_eq(next_trap(2), 257, "two limited members: a bad P_Key");
	tap_eq(get32(d + 6), 0x7fff, "which one");
	rig_down(&rig);
}

static void test_capability(void)
{
	u8 sp[32] = { 0 };

	setup();
	put32(sp + 4, rig.h[1].hca->port[0].cap_mask);
	rig_cmd(&rig.h[1], OP_SET_PORT, 0, 1, sp, sizeof(sp), 0);
	tap_eq(next_trap(0), 0, "the same capability mask again");
	put32(sp + 4, get32(sp + 4) | 2);
	rig_cmd(&rig.h[1], OP_SET_PORT, 0, 1, sp, sizeof(sp), 0);
	tap_eq(next_trap(0), 144, "another one");
	tap_eq(get32(mad + MAD_DATA + 10 + 6), get32(sp + 4), "the trap has it");
	put32(sp + 4, get32(sp + 4) & ~8u);
	rig_cmd(&rig.h[1], OP_SET_PORT, 0, 1, sp, sizeof(sp), 0);
	tap_eq(next_trap(1), 0, "a port that has no traps tells none");
	rig_down(&rig);
}

static void test_mkey(void)
{
	u8 get[256] = { 1, 1, 1, 1 };

	setup();
	set_sm(7);
	put16(get + 16, 0x15);
	get[31] = 6;
	rig_cmd_try(&rig.h[1], OP_MAD_IFC, 0, 1 | 5 << 16, get, sizeof(get), 0, NULL);
	tap_eq(next_trap(0), 256, "a bad M_Key");
	tap_ok(get16(mad + MAD_DATA + 12) == 5 && get16(mad + MAD_DATA + 18) == 0x15 &&
	       get64(mad + MAD_DATA + 24) == 6, "who asked, for what, by which key");
	get[3] = 7;
	tap_eq(rig_cmd_try(&rig.h[1], OP_MAD_IFC, 0, 1 | 9 << 16, get, sizeof(get), 0, NULL), 0,
	       "TrapRepress is taken");
	rig_down(&rig);
}

int main(void)
{
	test_keys();
	test_capability();
	test_mkey();
	return tap_done();
}
