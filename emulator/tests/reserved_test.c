// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved bits: in strict mode each that a driver sets in a context or work request violates.
 */
#include "lib/tap.h"
#include "lib/verbs.h"

#define CTRL_BIT 4u		/* byte of the control segment in which bit 7 means nothing here */

static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };

static bool blueflame;

static u64 reserved(void)
{
	return rig.h[0].hca->viol[CX3_V_RESERVED];
}

/* One transition with one more bit in the mailbox. */
static void qp_bit(u32 byte, u8 bit, const char *what)
{
	u8 m[264] = { 0 };
	u64 before = reserved();

	qpc_pack(m + 8, &a.c);
	m[byte] |= bit;
	rig_cmd(&rig.h[0], 0x1c, 0, a.qpn, m, sizeof(m), 0);
	tap_eq(reserved() - before, 1, "QP context: %s", what);
}

static void test_contexts(void)
{
	u8 m[256] = { 0 };

	tap_eq(reserved(), 0, "none while the objects were made");
	qp_bit(4, 1, "the word behind the mask");
	qp_bit(0, 0x80, "a parameter that there is not");
	qp_bit(8 + 2, 0x20, "the first word");
	qp_bit(8 + 0x18 + 1, 1, "the primary path");
	qp_bit(8 + 0x44 + 38, 2, "the alternate path");
	qp_bit(8 + 0xd0, 0x40, "its end");
	put32(m, 0xf0000000u | 0x10000u);
	rig_cmd_try(&rig.h[0], 0x00d, 0, 0x55, m, 64, 0, NULL);
	tap_eq(reserved(), 7, "an MPT entry");
	memset(m, 0, sizeof(m));
	m[0x24] = 1;
	rig_cmd_try(&rig.h[0], 0x013, 0, RIG_EQN + 1, m, 64, 0, NULL);
	tap_eq(reserved(), 8, "an EQ context");
	memset(m, 0, sizeof(m));
	m[1] = 0x80;
	rig_cmd_try(&rig.h[0], 0x016, 0, 0x77, m, 64, 0, NULL);
	tap_eq(reserved(), 9, "a CQ context");
}

static u8 *last_wqe(void)
{
	u32 slot = (u32)(a.sq_head - 1) & ((1u << a.a.sq_log) - 1);

	return rig_buf_at(&rig.h[0], &a.buf, a.sq_at + ((u64)slot << a.a.sq_stride));
}

/* A write whose WQE has one more bit; it is carried out all the same. */
static void wqe_bit(u32 byte, u8 bit, u64 want, const char *what)
{
	struct v_wr wr = { .op = WQE_WRITE, .n = 1 };
	u64 before = reserved();
	struct cqe e;

	wr.s[0] = v_sge(&ma, 0, 100);
	wr.raddr = mb.va;
	wr.rkey = mb.key;
	v_put_send(&a, &wr);
	if (blueflame) {
		put16(last_wqe() + 1, a.sq_head - 1);
		put24(last_wqe() + 4, a.qpn);
	}
	last_wqe()[byte] |= bit;
	v_ring(&a);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_WRITE && reserved() - before == want,
	       "write: %s", what);
}

static void test_requests(void)
{
	wqe_bit(0, 0, 0, "nothing more");
	wqe_bit(1, 1, 1, "a bit beside the opcode");
	wqe_bit(CTRL_BIT, 0x80, 1, "a bit before the size");
	wqe_bit(28, 1, 1, "a bit behind the key");
	blueflame = true;
	wqe_bit(0, 0, 0, "index and QPN, as for BlueFlame");
	wqe_bit(4, 0x80, 1, "another QPN");
	blueflame = false;
}

static void test_lax(void)
{
	rig.h[0].hca->cfg.strict = false;
	wqe_bit(1, 1, 0, "not looked at when not strict");
}

int main(void)
{
	struct v_attr at;

	v_attr_init(&at, QPT_RC, NULL, NULL);
	v_pair_up(&rig, &pair, &at, 20000, 6, 1);
	test_contexts();
	test_requests();
	test_lax();
	rig_down(&rig);
	return tap_done();
}
