// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strict mode only looks: with it and without it a device does the same. What it costs is printed,
 * as a ratio of CPU time on the shortest requests there are, where it costs most.
 */
#include <time.h>

#include "lib/tap.h"
#include "lib/verbs.h"

enum { WRITES = 20000, BATCH = 32, ROUNDS = 3 };

static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };

/* Seconds of CPU for a number of writes; @sent is set to the packets they took. */
static double work(bool strict, u64 *sent)
{
	struct v_wr wr = { .op = WQE_WRITE, .n = 1, .unsignaled = true };
	struct v_attr at;
	clock_t start;
	u32 i, j;

	v_attr_init(&at, QPT_RC, NULL, NULL);
	at.sq_log = 6;
	v_pair_up(&rig, &pair, &at, 8192, 8, 1);
	for (i = 0; i < RIG_HCAS; i++)
		rig.h[i].hca->cfg.strict = strict;
	wr.s[0] = v_sge(&ma, 0, 8);
	wr.raddr = mb.va;
	wr.rkey = mb.key;
	start = clock();
	for (i = 0; i < WRITES / BATCH; i++) {
		for (j = 0; j < BATCH; j++)
			v_put_send(&a, &wr);
		v_ring(&a);
		rig_run(&rig, 1000000);
	}
	start = clock() - start;
	*sent = rig.h[0].hca->count[CX3_C_TX + CX3_PKT_RC];
	tap_eq(rig.h[0].host.violations, 0, "%s: no violation", strict ? "strict" : "lax");
	rig_down(&rig);
	return (double)start / CLOCKS_PER_SEC;
}

int main(void)
{
	double with = 0, without = 0;
	u64 one, other;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		with += work(true, &one);
		without += work(false, &other);
		tap_eq(one, other, "the same packets with it and without");
	}
	tap_ok(one >= WRITES, "%llu packets", one);
	tap_note("strict mode: %.2f s of CPU, without %.2f s: ratio %.2f", with, without,
		 without > 0 ? with / without : 0);
	return tap_done();
}
