// SPDX-License-Identifier: GPL-2.0-only
/*
 * Path migration: two HCAs with both of their ports cabled, a connection on the first pair that can
 * go to the second.
 */
#include "../model/port.h"
#include "lib/tap.h"
#include "lib/verbs.h"

/* Bits of the mask of optional parameters. */
#define ALTERNATE 0x001u
#define PM_STATE 0x400u
#define OP_RTS2RTS 0x1c
#define ALT_LID 0x20u

static struct rig rig;
static struct lossy second;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };
static unsigned int set_bits, clear_bits;
static int blocked = -1;

/* The first cable: counts MigReq, and may lose what one side or both (2) send. */
static struct lossy_verdict watch(void *arg, int from, const struct wire_pkt *w)
{
	struct lossy_verdict v = { blocked != 2 && from != blocked, 0 };

	if (wire_service(w->opcode) == WIRE_RC) {
		set_bits += w->migreq;
		clear_bits += !w->migreq;
	}
	return v;
}

static void setup(u8 service)
{
	struct v_attr at;
	u32 i;

	v_attr_init(&at, service, NULL, NULL);
	at.timeout = 8;
	at.retry = 2;
	blocked = -1;
	v_pair_up(&rig, &pair, &at, 20000, 6, 100);
	rig.cable.judge = watch;
	lossy_init(&second, &rig.world);
	for (i = 0; i < RIG_HCAS; i++) {
		cx3_port_attach(rig.h[i].hca, 2, &second.end[i].end);
		rig_cmd(&rig.h[i], 0x009, 0, 2, NULL, 0, 0);
	}
	rig_run(&rig, 50000000);
	for (i = 0; i < RIG_HCAS; i++) {
		rig_set_port(&rig.h[i], 2, ALT_LID + i, 3);
		rig_set_port(&rig.h[i], 2, ALT_LID + i, 4);
	}
	set_bits = 0;
	clear_bits = 0;
}

static void finish(void)
{
	tap_eq(rig.h[0].host.violations + rig.h[1].host.violations, 0, "no violation");
	rig_down(&rig);
	lossy_fini(&second);
}

static bool send_one(u32 n)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };
	struct v_sge r = v_sge(&mb, 0, 5000);
	struct cqe e;

	v_mr_fill(&ma, 0, 5000, n);
	v_recv(&b, &r, 1);
	wr.s[0] = v_sge(&ma, 0, 5000);
	v_send(&a, &wr);
	rig_run(&rig, 200000000);
	return v_cq_poll(&rcq, &e) && e.bytes == 5000 && e.opcode != CQE_ERROR &&
	       v_mr_holds(&mb, 0, 5000, n) && v_cq_poll(&scq, &e) && e.opcode != CQE_ERROR;
}

static void load_alternate(struct v_qp *qp, u16 rlid)
{
	qp->c.path[1] = qp->c.path[0];
	qp->c.path[1].port = 1;
	qp->c.path[1].rlid = rlid;
	qp->c.pm = PM_REARM;
	if (v_qp_modify_try(qp, OP_RTS2RTS, ALTERNATE | PM_STATE, 0))
		tap_ok(false, "the alternate path is taken");
}

static u8 pm_of(struct v_qp *qp)
{
	struct qpc c;

	v_qp_query(qp, &c);
	return c.pm;
}

static void arm_both(void)
{
	load_alternate(&a, ALT_LID + 1);
	load_alternate(&b, ALT_LID);
}

static unsigned int told(int side, u8 type)
{
	return rig_saw(&rig.h[side], type, side ? b.qpn : a.qpn);
}

static void test_arming(void)
{
	setup(QPT_RC);
	a.c.pm = PM_MIGRATED;
	b.c.pm = PM_MIGRATED;
	v_qp_modify_try(&a, OP_RTS2RTS, PM_STATE, 0);
	v_qp_modify_try(&b, OP_RTS2RTS, PM_STATE, 0);
	tap_ok(send_one(1), "a message between migrated QPs");
	tap_ok(set_bits && !clear_bits, "all packets have MigReq set");
	load_alternate(&a, ALT_LID + 1);
	set_bits = 0;
	tap_ok(send_one(2), "one end is rearmed");
	tap_ok(set_bits && clear_bits, "its packets have it clear, the peer's not");
	tap_eq(pm_of(&a), PM_REARM, "it waits for the peer");
	load_alternate(&b, ALT_LID);
	tap_ok(send_one(3), "both are rearmed");
	tap_ok(pm_of(&a) == PM_ARMED && pm_of(&b) == PM_ARMED, "and by that armed");
	tap_eq(second.sent, 0, "nothing went by the second cable");
	finish();
}

static void test_lost_path(void)
{
	struct qpc c;

	setup(QPT_RC);
	arm_both();
	tap_ok(send_one(1), "armed by a message");
	blocked = 2;
	tap_ok(send_one(2), "the first cable loses everything: the message arrives");
	tap_ok(second.sent, "by the second cable");
	tap_eq(told(0, CX3_EV_PATH_MIG), 1, "the requester's software hears of it");
	tap_eq(told(1, CX3_EV_PATH_MIG), 1, "so does the responder's");
	v_qp_query(&a, &c);
	tap_ok(c.pm == PM_MIGRATED && c.path[0].rlid == ALT_LID + 1 && c.path[0].port == 1,
	       "the query shows the new primary path");
	tap_eq(pm_of(&b), PM_MIGRATED, "both are migrated");
	tap_ok(send_one(3), "and go on there");
	tap_eq(told(0, CX3_EV_PATH_MIG_FAIL) + told(1, CX3_EV_PATH_MIG_FAIL), 0, "nothing failed");
	finish();
}

/* Only the acknowledges are lost: the responder learns by the requests that come again. */
static void test_lost_answers(void)
{
	setup(QPT_RC);
	arm_both();
	send_one(1);
	blocked = 1;
	tap_ok(send_one(2), "answers lost: delivered once, acknowledged by the other path");
	tap_eq(told(0, CX3_EV_PATH_MIG) + told(1, CX3_EV_PATH_MIG), 2, "both ends have moved");
	finish();
}

static void test_by_software(void)
{
	setup(QPT_RC);
	arm_both();
	send_one(1);
	a.c.pm = PM_MIGRATED;
	tap_eq(v_qp_modify_try(&a, OP_RTS2RTS, PM_STATE, 0), 0, "software asks for it");
	tap_eq(told(0, CX3_EV_PATH_MIG), 1, "it happens at once");
	tap_ok(send_one(2) && second.sent, "traffic goes by the second cable");
	tap_eq(told(1, CX3_EV_PATH_MIG), 1, "and takes the peer along");
	finish();
}

static void test_nowhere_to_go(void)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };
	struct cqe e;

	setup(QPT_RC);
	a.c.pm = PM_ARMED;
	v_qp_modify_try(&a, OP_RTS2RTS, PM_STATE, 0);
	blocked = 2;
	wr.s[0] = v_sge(&ma, 0, 100);
	v_send(&a, &wr);
	rig_run(&rig, 200000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == CQE_ERROR && e.syndrome == SYN_RETRY_EXCEEDED,
	       "armed without an alternate path: retries exceeded");
	tap_eq(told(0, CX3_EV_PATH_MIG_FAIL), 1, "after the news that migration failed");
	finish();
}

static void test_unreliable(void)
{
	setup(QPT_UC);
	arm_both();
	tap_ok(send_one(1), "UC: a message");
	tap_eq(pm_of(&b), PM_ARMED, "UC: the receiver is armed by it");
	load_alternate(&a, ALT_LID + 1);
	a.c.pm = PM_ARMED;
	v_qp_modify_try(&a, OP_RTS2RTS, PM_STATE, 0);
	a.c.pm = PM_MIGRATED;
	v_qp_modify_try(&a, OP_RTS2RTS, PM_STATE, 0);
	tap_ok(send_one(2) && second.sent, "UC: the sender moves, and the message arrives");
	tap_eq(told(1, CX3_EV_PATH_MIG), 1, "UC: the receiver has moved with it");
	finish();
}

int main(void)
{
	test_arming();
	test_lost_path();
	test_lost_answers();
	test_by_software();
	test_nowhere_to_go();
	test_unreliable();
	return tap_done();
}
