// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes wrong on a reliable connection: the syndrome at the requester, the completion and
 * event at the responder, the state both QPs end in, and the flushing of everything else that
 * was posted.
 */
#include "lib/tap.h"
#include "lib/verbs.h"

static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };

static void setup(void (*adjust)(struct v_attr *at))
{
	struct v_attr at;

	v_attr_init(&at, QPT_RC, NULL, NULL);
	if (adjust)
		adjust(&at);
	v_pair_up(&rig, &pair, &at, 20000, 6, 1);
}

static struct v_wr send_of(u8 op, u32 len)
{
	struct v_wr wr = { .op = op, .n = 1 };

	wr.s[0] = v_sge(&ma, 0, len);
	wr.raddr = mb.va;
	wr.rkey = mb.key;
	return wr;
}

/* The next completion of @cq is an error of this kind for this WQE. */
static void expect(struct v_cq *cq, u8 syndrome, u16 wqe, const char *what)
{
	struct cqe e;

	if (!v_cq_poll(cq, &e))
		tap_ok(false, "%s: no completion", what);
	else if (!tap_ok(e.opcode == CQE_ERROR && e.syndrome == syndrome && e.wqe == wqe,
			 "%s: syndrome 0x%02x", what, syndrome))
		tap_note("opcode 0x%02x syndrome 0x%02x WQE %u", e.opcode, e.syndrome, e.wqe);
}

/* A failing send with one more behind it, which is flushed. */
static void fails(const struct v_wr *wr, u8 syndrome, const char *what)
{
	struct v_wr more = send_of(WQE_SEND, 4);

	v_put_send(&a, wr);
	v_put_send(&a, &more);
	v_ring(&a);
	rig_run(&rig, 3000000000ull);
	expect(&scq, syndrome, 0, what);
	expect(&scq, SYN_FLUSH, 1, what);
	tap_eq(v_qp_state(&a), QPS_ERR, "%s: requester in ERR", what);
}

static void test_remote_access(void)
{
	struct v_wr wr;

	setup(NULL);
	wr = send_of(WQE_WRITE, 100);
	wr.rkey ^= 1;
	fails(&wr, SYN_REMOTE_ACCESS, "write with a bad key");
	tap_eq(rig_saw(&rig.h[1], CX3_EV_WQ_ACCESS, b.qpn), 1, "access event at the responder");
	tap_eq(v_qp_state(&b), QPS_ERR, "responder in ERR");
	rig_down(&rig);

	setup(NULL);
	wr = send_of(WQE_READ, 200);
	wr.raddr += 20000 - 100;
	fails(&wr, SYN_REMOTE_ACCESS, "read past the end of the region");
	rig_down(&rig);

	setup(NULL);
	wr = send_of(WQE_FETCH_ADD, 8);
	wr.raddr = (mb.va + 7) & ~7ull;
	b.c.rae = 0;
	tap_eq(v_qp_modify_try(&b, 0x1c, 1 << 2, 0), 0, "atomics forbidden in RTS");
	fails(&wr, SYN_REMOTE_ACCESS, "atomic that the QP forbids");
	rig_down(&rig);
}

static void test_invalid_request(void)
{
	struct v_wr wr;

	setup(NULL);
	wr = send_of(WQE_FETCH_ADD, 8);
	wr.raddr = ((mb.va + 7) & ~7ull) + 4;
	fails(&wr, SYN_REMOTE_INVALID, "atomic at an odd address");
	tap_eq(rig_saw(&rig.h[1], CX3_EV_WQ_INVALID, b.qpn), 1, "request event at the responder");
	rig_down(&rig);
}

static void test_length(void)
{
	struct v_sge r;
	struct v_wr wr;

	setup(NULL);
	r = v_sge(&mb, 0, 10);
	v_recv(&b, &r, 1);
	v_recv(&b, &r, 1);
	wr = send_of(WQE_SEND, 11);
	fails(&wr, SYN_REMOTE_INVALID, "send too long for the receive");
	expect(&rcq, SYN_LOCAL_LENGTH, 0, "its receive");
	expect(&rcq, SYN_FLUSH, 1, "the receive behind");
	rig_down(&rig);
}

static void short_messages(struct v_attr *at)
{
	at->msg_max = 10;
}

static void test_local(void)
{
	struct v_sge r;
	struct v_wr wr;

	setup(NULL);
	wr = send_of(WQE_SEND, 100);
	wr.s[0].key ^= 1;
	fails(&wr, SYN_LOCAL_PROT, "bad L_Key");
	rig_down(&rig);

	setup(NULL);
	wr = send_of(WQE_READ, 100);
	wr.s[0].key ^= 1;
	fails(&wr, SYN_LOCAL_PROT, "bad L_Key for read data");
	rig_down(&rig);

	setup(NULL);
	r = v_sge(&mb, 0, 100);
	r.key ^= 1;
	v_recv(&b, &r, 1);
	wr = send_of(WQE_SEND, 100);
	fails(&wr, SYN_REMOTE_OP, "bad L_Key of the receive");
	expect(&rcq, SYN_LOCAL_PROT, 0, "that receive");
	rig_down(&rig);

	setup(short_messages);
	wr = send_of(WQE_WRITE, 1025);
	fails(&wr, SYN_LOCAL_LENGTH, "message longer than the context allows");
	rig_down(&rig);

	setup(NULL);
	wr = send_of(WQE_SEND, 0);
	wr.op = 0x1f;
	fails(&wr, SYN_LOCAL_QP_OP, "opcode that does not exist");
	rig_down(&rig);
}

static void impatient(struct v_attr *at)
{
	at->rnr_retry = 2;
	at->retry = 3;
	at->timeout = 10;
	at->min_rnr = 1;
}

static unsigned int lost, seen;

static struct lossy_verdict lose_all(void *arg, int from, const struct wire_pkt *w)
{
	struct lossy_verdict v = { 0, 0 };

	lost++;
	return v;
}

static struct lossy_verdict watch(void *arg, int from, const struct wire_pkt *w)
{
	struct lossy_verdict v = { 1, 0 };

	seen += from == 0;
	return v;
}

static void test_retries(void)
{
	struct v_wr wr;

	setup(impatient);
	rig.cable.judge = watch;
	seen = 0;
	wr = send_of(WQE_SEND, 4);
	fails(&wr, SYN_RNR_EXCEEDED, "no receive posted");
	/* the send behind it goes out too, once per try */
	tap_ok(seen >= 3 && seen <= 6, "RNR retry count 2: first packet is sent three times (%u)",
	       seen);
	tap_eq(v_qp_state(&b), QPS_RTS, "responder stays in RTS");
	rig_down(&rig);

	setup(impatient);
	rig.cable.judge = lose_all;
	lost = 0;
	wr = send_of(WQE_WRITE, 4);
	fails(&wr, SYN_RETRY_EXCEEDED, "no answer");
	tap_eq(lost, 2 * 4, "retry count 3: two packets are sent four times");
	rig_down(&rig);
}

/*
 * The driver makes another request of a WQE that has been sent and is to be sent again: an atomic,
 * of which a packet holds all, becomes a message of several packets.
 */
static void test_wqe_becomes_another_request(void)
{
	struct v_wr atomic, small, large;

	setup(impatient);
	rig.cable.judge = lose_all;
	atomic = send_of(WQE_FETCH_ADD, 8);
	small = send_of(WQE_SEND, 4);
	large = send_of(WQE_SEND, 20000);
	v_put_send(&a, &atomic);
	v_put_send(&a, &small);
	v_ring(&a);
	rig_run(&rig, 100000);
	a.sq_head -= 2;
	v_put_send(&a, &large);
	a.sq_head++;
	rig_run(&rig, 3000000000ull);
	expect(&scq, SYN_LOCAL_QP_OP, 0, "an atomic that became a long send");
	expect(&scq, SYN_FLUSH, 1, "and the one behind it");
	rig_down(&rig);
}

static void never_tires(struct v_attr *at)
{
	at->rnr_retry = 7;
	at->min_rnr = 10;
}

static void test_rnr_recovers(void)
{
	struct v_wr wr;
	struct v_sge r;
	struct cqe e;

	setup(never_tires);
	v_mr_fill(&ma, 0, 100, 3);
	wr = send_of(WQE_SEND, 100);
	v_send(&a, &wr);
	rig_run(&rig, 100000000);
	tap_ok(!v_cq_poll(&scq, &e), "RNR retry for ever: still trying after 0.1 s");
	r = v_sge(&mb, 0, 100);
	v_recv(&b, &r, 1);
	rig_run(&rig, 10000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_SEND && v_mr_holds(&mb, 0, 100, 3),
	       "a receive ends it");
	rig_down(&rig);
}

/* 2ERR flushes both queues in order, and what is posted afterwards. */
static void test_flush(void)
{
	struct v_wr wr;
	struct v_sge r;
	u32 i;

	setup(NULL);
	r = v_sge(&ma, 0, 10);
	for (i = 0; i < 3; i++)
		v_recv(&a, &r, 1);
	tap_eq(v_qp_modify_try(&a, 0x1e, 0, 0), 0, "2ERR");
	rig_run(&rig, 100000);
	for (i = 0; i < 3; i++)
		expect(&scq, SYN_FLUSH, i, "posted receive");
	wr = send_of(WQE_SEND, 4);
	wr.unsignaled = true;
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	expect(&scq, SYN_FLUSH, 0, "send posted in ERR, unsignaled");
	v_recv(&a, &r, 1);
	rig_run(&rig, 20000000);
	expect(&scq, SYN_FLUSH, 3, "receive posted in ERR, no doorbell");
	v_qp_reset(&a);
	rig_down(&rig);
}

static void test_drain(void)
{
	struct v_wr wr;
	struct v_sge r;
	struct cqe e;

	setup(NULL);
	wr = send_of(WQE_SEND, 9000);
	v_send(&a, &wr);
	tap_eq(v_qp_modify_try(&a, 0x1f, 0, 1u << 31), 0, "RTS2SQD with event");
	tap_eq(v_qp_state(&a), QPS_DRAINING, "draining while a send is in flight");
	v_send(&a, &wr);
	r = v_sge(&mb, 0, 9000);
	v_recv(&b, &r, 1);
	v_recv(&b, &r, 1);
	rig_run(&rig, 1000000000);
	tap_eq(rig_saw(&rig.h[0], CX3_EV_SQ_DRAINED, a.qpn), 1, "SQ drained event");
	tap_eq(v_qp_state(&a), QPS_SQD, "drained");
	tap_ok(v_cq_poll(&scq, &e) && !v_cq_poll(&scq, &e), "only the first send was done");
	tap_eq(v_qp_modify_try(&a, 0x20, 0, 0), 0, "SQD2RTS");
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.wqe == 1, "the second one follows in RTS");
	rig_down(&rig);
}

static void test_illegal_moves(void)
{
	static const u16 all[] = { 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1f, 0x20, 0x2d, 0x38 };
	u32 i, refused = 0;

	setup(NULL);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		refused += v_qp_modify_try(&a, all[i], 0, 0) == CX3_BAD_QP_STATE;
	/* RTS has RTS2RTS and RTS2SQD; after the latter the QP is in SQD: SQD2RTS is legal */
	tap_eq(refused, ARRAY_SIZE(all) - 3, "illegal moves are refused");
	tap_eq(rig_cmd_try(&rig.h[0], 0x1a, 0, 0x3f0, (const u8 *)"", 1, 0, NULL), CX3_BAD_QP_STATE,
	       "a QP in RESET does not go to RTR");
	rig_down(&rig);
}

static void test_violations(void)
{
	unsigned int before;

	setup(NULL);
	before = rig.h[0].host.violations;
	a.qpn += 5;
	v_ring(&a);
	a.qpn -= 5;
	tap_eq(rig.h[0].host.violations - before, 1, "doorbell of a dead QP is a violation");
	rig_mmio32(&rig.h[0], 2, (RIG_UAR + 1) * 4096ull + 0x14, a.qpn << 8);
	tap_eq(rig.h[0].host.violations - before, 2, "doorbell in a strange UAR is one");
	scq.cqn += 50;
	v_cq_arm(&scq, false);
	scq.cqn -= 50;
	tap_eq(rig.h[0].host.violations - before, 3, "arming a dead CQ is one");
	put32(rig_buf_at(&rig.h[0], &a.buf, a.sq_at), WQE_SEND);
	put32(rig_buf_at(&rig.h[0], &a.buf, a.sq_at) + 4, 60);
	v_ring(&a);
	tap_eq(rig.h[0].host.violations - before, 4, "a WQE larger than its place is one");
	expect(&scq, SYN_LOCAL_QP_OP, 0, "and completes with an error");
	rig_down(&rig);
}

int main(void)
{
	test_remote_access();
	test_invalid_request();
	test_length();
	test_local();
	test_retries();
	test_wqe_becomes_another_request();
	test_rnr_recovers();
	test_flush();
	test_drain();
	test_illegal_moves();
	test_violations();
	return tap_done();
}
