// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reliable connection over a cable that loses, repeats and delays packets: every message
 * arrives once, whole and in order, and atomics are done exactly once.
 */
#include "lib/tap.h"
#include "lib/verbs.h"

static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };
static unsigned long long seed;
static unsigned int lose, twice, late;
static bool tardy = true;

static u32 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (u32)(seed >> 11);
}

static struct lossy_verdict dice(void *arg, int from, const struct wire_pkt *w)
{
	struct lossy_verdict v = { 1, 0 };

	if (rnd() % 100 < lose)
		v.copies = 0;
	else if (rnd() % 100 < twice)
		v.copies = 2;
	if (rnd() % 100 < late)
		v.delay = rnd() % 20000;
	return v;
}

static void setup(u32 psn)
{
	struct v_attr at;

	v_attr_init(&at, QPT_RC, NULL, NULL);
	at.timeout = 8;
	at.retry = 7;
	at.rnr_retry = 7;
	at.min_rnr = 1;
	v_pair_up(&rig, &pair, &at, 100000, 8, psn);
	rig.cable.judge = dice;
}

/* One round: send, write, read and add, posted together; the receive comes late now and then. */
static bool round_trip(u32 i)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };
	u32 at = 8 - (u32)(mb.va & 7), good = 0, got, spins;
	struct v_sge r = v_sge(&mb, 1000, 5000);
	struct cqe e;
	u64 sum;

	v_mr_fill(&ma, 0, 5000, i);
	v_mr_fill(&ma, 10000, 7000, i + 1);
	v_mr_fill(&mb, 60000, 9000, i + 2);
	wr.s[0] = v_sge(&ma, 0, 5000);
	v_put_send(&a, &wr);
	wr.op = WQE_WRITE;
	wr.s[0] = v_sge(&ma, 10000, 7000);
	wr.raddr = mb.va + 20000;
	wr.rkey = mb.key;
	v_put_send(&a, &wr);
	wr.op = WQE_READ;
	wr.s[0] = v_sge(&ma, 20000, 9000);
	wr.raddr = mb.va + 60000;
	v_put_send(&a, &wr);
	wr.op = WQE_FETCH_ADD;
	wr.s[0] = v_sge(&ma, 50000, 8);
	wr.raddr = mb.va + at;
	wr.atomic.swap = 1;
	v_put_send(&a, &wr);
	v_ring(&a);
	if (tardy && i % 4 == 0)
		rig_run(&rig, 50000);
	v_recv(&b, &r, 1);
	for (got = 0, spins = 0; got < 4 && spins < 3000; spins++) {
		rig_run(&rig, 1000000);
		while (v_cq_poll(&scq, &e)) {
			good += e.opcode != CQE_ERROR && e.wqe == (u16)(i * 4 + got);
			got++;
		}
	}
	memcpy(&sum, v_mr_at(&mb, at), sizeof(sum));
	good += v_cq_poll(&rcq, &e) && e.bytes == 5000 && !v_cq_poll(&rcq, &e);
	good += v_mr_holds(&mb, 1000, 5000, i) && v_mr_holds(&mb, 20000, 7000, i + 1) &&
		v_mr_holds(&ma, 20000, 9000, i + 2);
	memcpy(&sum, v_mr_at(&ma, 50000), sizeof(sum));
	return good + (sum == i) == 7;
}

static void run(const char *what, unsigned int l, unsigned int d, unsigned int s, u32 rounds)
{
	u32 i, good = 0;

	lose = l;
	twice = d;
	late = s;
	seed = 0x1234567 + l * 1000 + d * 100 + s;
	setup(0xffff00);
	for (i = 0; i < rounds; i++) {
		if (!round_trip(i)) {
			tap_note("round %u, state %u", i, v_qp_state(&a));
			break;
		}
		good++;
	}
	tap_eq(good, rounds, "%s: %u rounds of send, write, read and add", what, rounds);
	tap_note("%u packets, %llu sent again", rig.cable.sent,
		 rig.h[0].hca->count[CX3_C_RETRANSMIT]);
	tap_eq(rig.h[0].host.violations + rig.h[1].host.violations, 0, "%s: no violation", what);
	rig_down(&rig);
}

/* A link that takes few packets at a time: nothing is lost, everything waits. */
static void test_narrow(void)
{
	u32 i, good = 0;

	lose = 0;
	twice = 0;
	late = 0;
	tardy = false;
	setup(0);
	rig.cable.limit = 3;
	for (i = 0; i < 50; i++)
		good += round_trip(i);
	tap_eq(good, 50, "a link that holds three packets");
	tap_eq(rig.h[0].hca->count[CX3_C_RETRANSMIT], 0, "nothing had to be sent again");
	rig_down(&rig);
}

int main(void)
{
	run("no loss", 0, 0, 0, 50);
	run("loss of 5 %", 5, 0, 0, 200);
	run("20 % twice", 0, 20, 0, 200);
	run("20 % late", 0, 0, 20, 200);
	run("all of it", 3, 10, 10, 200);
	test_narrow();
	return tap_done();
}
