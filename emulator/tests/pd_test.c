// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection domains that software says to have destroyed: what still lives in one, and what comes
 * to name one, is a violation.
 */
#include "../model/mpt.h"
#include "lib/bare.h"
#include "lib/tap.h"
#include "lib/verbs.h"

#define OTHER 7u

static struct rig rig;
static struct v_cq cq;
static struct v_mr mr;
static struct v_srq srq;
static struct v_qp ud;

static u64 dead(void)
{
	return rig.h[0].hca->viol[CX3_V_DEAD_OBJECT];
}

static void setup(void)
{
	struct v_attr at;

	rig_up(&rig);
	v_cq_init(&cq, &rig.h[0], 6);
	v_mr_init(&mr, &rig.h[0], 8192, V_ACCESS_ALL);
	v_srq_init(&srq, &rig.h[0], 4, 0, NULL);
	v_attr_init(&at, QPT_UD, &cq, &cq);
	v_qp_init(&ud, &rig.h[0], &at);
	v_qp_rtr(&ud, 0, 0, 0);
	v_qp_rts(&ud, 0);
}

static void send_by(u32 pd)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };

	wr.s[0] = v_sge(&mr, 0, 10);
	wr.ud.pd = pd;
	wr.ud.port = 1;
	wr.ud.dlid = 2;
	wr.ud.dqpn = 0x99;
	v_send(&ud, &wr);
	rig_run(&rig, 1000000);
}

int main(void)
{
	struct v_mr more;
	struct v_attr at;
	struct v_qp qp;
	struct v_srq s;

	setup();
	tap_eq(cx3_pd_tell(rig.h[0].hca, OTHER, false), 0, "a PD in which nothing is");
	tap_eq(dead(), 0, "may be destroyed");
	cx3_pd_tell(rig.h[0].hca, V_PD, false);
	tap_ok(dead() >= 3, "the QP, the SRQ and the keys of another are told: %llu", dead());
	cx3_pd_tell(rig.h[0].hca, V_PD, true);
	rig.h[0].hca->viol[CX3_V_DEAD_OBJECT] = 0;
	v_mr_init(&more, &rig.h[0], 4096, V_ACCESS_ALL);
	send_by(V_PD);
	tap_eq(dead(), 0, "one that was made again may be used");
	cx3_pd_tell(rig.h[0].hca, V_PD, false);
	rig.h[0].hca->viol[CX3_V_DEAD_OBJECT] = 0;
	v_mr_init(&more, &rig.h[0], 4096, V_ACCESS_ALL);
	tap_eq(dead(), 1, "a new key in a destroyed PD");
	v_srq_init(&s, &rig.h[0], 4, 0, NULL);
	tap_eq(dead(), 2, "a new SRQ");
	v_attr_init(&at, QPT_UD, &cq, &cq);
	v_qp_init(&qp, &rig.h[0], &at);
	tap_eq(dead(), 3, "a new QP");
	send_by(V_PD);
	tap_eq(dead(), 4, "an address vector");
	tap_ok(cx3_pd_tell(rig.h[0].hca, MPT_PD_MASK + 1, false) < 0, "no such PD");
	rig_down(&rig);
	return tap_done();
}
