// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reliable connections between two HCAs: each operation with data checked, rings that wrap,
 * PSNs that wrap, and a queue deeper than the window of requests in flight.
 */
#include "lib/tap.h"
#include "lib/verbs.h"

static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };

static void setup(void (*adjust)(struct v_attr *at), u32 psn)
{
	struct v_attr at;

	v_attr_init(&at, QPT_RC, NULL, NULL);
	if (adjust)
		adjust(&at);
	v_pair_up(&rig, &pair, &at, 300000, 9, psn);
}

static void teardown(const char *what)
{
	unsigned int i;

	for (i = 0; i < RIG_HCAS; i++)
		if (!tap_eq(rig.h[i].host.violations, 0, "%s: HCA %u sees no violation", what, i))
			tap_note("%s", rig.h[i].host.violation[0]);
	rig_down(&rig);
}

static bool completes(struct v_cq *cq, struct cqe *e)
{
	rig_run(&rig, 1000000);
	return v_cq_poll(cq, e);
}

static void test_send(void)
{
	static const u32 sizes[] = { 0, 1, 63, 512, 513, 4096, 100001 };
	struct v_sge s[3], r[2];
	struct v_wr wr = { .op = WQE_SEND };
	struct cqe e, f;
	u32 i, good = 0;

	setup(NULL, 0xfffff0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 n = sizes[i];

		v_mr_fill(&ma, 7, n, i);
		v_mr_fill(&mb, 0, n + 8, 99);
		s[0] = v_sge(&ma, 7, n / 3);
		s[1] = v_sge(&ma, 7 + n / 3, n / 3);
		s[2] = v_sge(&ma, 7 + 2 * (n / 3), n - 2 * (n / 3));
		memcpy(wr.s, s, sizeof(s));
		wr.n = 3;
		r[0] = v_sge(&mb, 5, n / 2);
		r[1] = v_sge(&mb, 5 + n / 2, n - n / 2);
		v_recv(&b, r, 2);
		wr.op = i & 1 ? WQE_SEND_IMM : WQE_SEND;
		wr.imm = 0xabcd0000 + i;
		v_send(&a, &wr);
		if (!completes(&scq, &e) || !v_cq_poll(&rcq, &f))
			break;
		good += e.opcode == wr.op && e.send && e.qpn == a.qpn && e.wqe == i &&
			f.bytes == n && f.qpn == b.qpn && f.rqpn == a.qpn && f.slid == 1 &&
			f.opcode == (i & 1 ? CQE_RECV_SEND_IMM : CQE_RECV_SEND) && !f.send &&
			(!(i & 1) || f.imm == wr.imm) && v_mr_holds(&mb, 5, n, i);
	}
	tap_eq(good, ARRAY_SIZE(sizes), "SEND of %u sizes arrives whole, PSN wraps",
	       (u32)ARRAY_SIZE(sizes));
	tap_eq(rig_saw(&rig.h[1], CX3_EV_COMM_EST, b.qpn), 0, "no event in RTS");
	teardown("send");
}

static void test_rdma(void)
{
	struct v_wr wr = { .op = WQE_WRITE, .n = 1 };
	struct v_sge r;
	struct cqe e, f;

	setup(NULL, 100);
	v_mr_fill(&ma, 0, 200000, 1);
	wr.s[0] = v_sge(&ma, 0, 200000);
	wr.raddr = mb.va + 13;
	wr.rkey = mb.key;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && e.opcode == WQE_WRITE && v_mr_holds(&mb, 13, 200000, 1),
	       "RDMA WRITE of 200000 bytes");
	tap_ok(!v_cq_poll(&rcq, &f), "RDMA WRITE is silent at the target");
	wr.op = WQE_WRITE_IMM;
	wr.imm = 0x12345678;
	wr.s[0].len = 3000;
	r = v_sge(&mb, 0, 0);
	v_recv(&b, &r, 1);
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && v_cq_poll(&rcq, &f) && f.opcode == CQE_RECV_WRITE_IMM &&
	       f.imm == 0x12345678 && f.bytes == 3000, "RDMA WRITE with immediate");
	v_mr_fill(&mb, 50, 150000, 2);
	wr.op = WQE_READ;
	wr.raddr = mb.va + 50;
	wr.s[0] = v_sge(&ma, 3, 100000);
	wr.s[1] = v_sge(&ma, 100003, 50000);
	wr.n = 2;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && e.opcode == WQE_READ && e.bytes == 150000 &&
	       v_mr_holds(&ma, 3, 150000, 2), "RDMA READ of 150000 bytes into two elements");
	wr.s[0].len = 0;
	wr.n = 1;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && e.opcode == WQE_READ && e.bytes == 0, "RDMA READ of nothing");
	teardown("rdma");
}

static u64 le64(const u8 *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void test_atomics(void)
{
	struct v_wr wr = { .op = WQE_FETCH_ADD, .n = 1 };
	struct cqe e;
	u64 v = 40;
	/* an aligned place in the region */
	u32 at = 8 - (mb.va & 7);

	setup(NULL, 5);
	at = 8 - (u32)(mb.va & 7);
	memcpy(v_mr_at(&mb, at), &v, 8);
	wr.raddr = mb.va + at;
	wr.rkey = mb.key;
	wr.s[0] = v_sge(&ma, 0, 8);
	wr.atomic.swap = 2;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && e.bytes == 8 && le64(v_mr_at(&ma, 0)) == 40 &&
	       le64(v_mr_at(&mb, at)) == 42, "fetch and add");
	wr.op = WQE_CMP_SWAP;
	wr.atomic.cmp = 42;
	wr.atomic.swap = 77;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && le64(v_mr_at(&ma, 0)) == 42 &&
	       le64(v_mr_at(&mb, at)) == 77, "compare and swap that fits");
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && le64(v_mr_at(&ma, 0)) == 77 &&
	       le64(v_mr_at(&mb, at)) == 77, "compare and swap that does not");
	wr.op = WQE_MASKED_CS;
	wr.atomic.cmp = 0x7d;
	wr.atomic.cmp_mask = 0x0f;
	wr.atomic.swap = 0xff00;
	wr.atomic.swap_mask = 0xff00;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && le64(v_mr_at(&ma, 0)) == 77 &&
	       le64(v_mr_at(&mb, at)) == 0xff00 + 77, "masked compare and swap");
	wr.op = WQE_MASKED_FA;
	wr.atomic.swap = 0x101;
	wr.atomic.cmp = 0x8000;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && le64(v_mr_at(&mb, at)) == 0x004e,
	       "masked fetch and add keeps carries in the field");
	teardown("atomics");
}

static void small_rings(struct v_attr *at)
{
	at->sq_log = 2;
	at->rq_log = 2;
	at->rq_stride = 9;
}

/* The rings wrap many times, the RQ with the larger entries first in the buffer. */
static void test_wrap(void)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };
	struct v_sge r;
	struct cqe e, f;
	u32 i, good = 0;

	setup(small_rings, 0);
	for (i = 0; i < 1000; i++) {
		v_mr_fill(&ma, 0, 100, i);
		wr.s[0] = v_sge(&ma, 0, 100);
		r = v_sge(&mb, 200, 100);
		v_recv(&b, &r, 1);
		v_send(&a, &wr);
		rig_run(&rig, 20000);
		good += v_cq_poll(&scq, &e) && v_cq_poll(&rcq, &f) && e.wqe == (u16)i &&
			v_mr_holds(&mb, 200, 100, i);
	}
	tap_eq(good, 1000, "rings of 4 wrap 250 times, CQs of 512 wrap");
	teardown("wrap");
}

static void deep(struct v_attr *at)
{
	at->sq_log = 9;
	at->rq_log = 9;
	at->sq_stride = 6;
}

/* More requests than the device keeps in flight, unsignaled but the last, inline data. */
static void test_deep(void)
{
	struct v_wr wr = { .op = WQE_SEND, .unsignaled = true };
	struct v_sge r;
	struct cqe e;
	u8 data[24];
	u32 i, good = 0, n = 0;

	setup(deep, 77);
	for (i = 0; i < 400; i++) {
		r = v_sge(&mb, i * 32, 32);
		v_recv(&b, &r, 1);
	}
	for (i = 0; i < 400; i++) {
		memset(data, i, sizeof(data));
		wr.data = data;
		wr.data_len = sizeof(data);
		wr.unsignaled = i != 399;
		v_put_send(&a, &wr);
	}
	v_ring(&a);
	for (i = 0; i < 100; i++) {
		rig_run(&rig, 100000);
		while (v_cq_poll(&rcq, &e)) {
			good += e.bytes == 24 && *v_mr_at(&mb, n * 32 + 23) == (u8)n;
			n++;
		}
	}
	tap_eq(good, 400, "400 inline sends in one doorbell arrive in order");
	tap_ok(v_cq_poll(&scq, &e) && e.wqe == 399 && !v_cq_poll(&scq, &e),
	       "one completion for all of them");
	teardown("deep");
}

static void test_query(void)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };
	struct v_sge r;
	struct qpc c;
	struct cqe e;

	setup(NULL, 500);
	wr.s[0] = v_sge(&ma, 0, 2500);
	r = v_sge(&mb, 0, 2500);
	v_recv(&b, &r, 1);
	v_send(&a, &wr);
	completes(&scq, &e);
	v_qp_query(&a, &c);
	tap_ok(c.state == QPS_RTS && c.send_psn == 503 && c.acked_psn == 502 && c.rqpn == b.qpn &&
	       c.sq_count == 1 && c.path[0].rlid == 2 && c.qkey == V_QKEY && c.mtu == 3,
	       "QUERY_QP of the sender: PSN 503, 502 acknowledged");
	v_qp_query(&b, &c);
	tap_ok(c.recv_psn == 503 && c.msn == 1 && c.rq_count == 1,
	       "QUERY_QP of the receiver: PSN 503 expected, one message");
	v_qp_reset(&a);
	tap_eq(rig_cmd_try(&rig.h[0], 0x022, 0, a.qpn, NULL, 0, 0, NULL), CX3_BAD_RES_STATE,
	       "QUERY_QP in RESET is refused");
	teardown("query");
}

/* Two QPs of one port, and a QP that is its own peer: packets never reach the wire. */
static void test_loopback(void)
{
	struct v_attr at;
	struct v_qp x, y;
	struct v_wr wr = { .op = WQE_WRITE, .n = 1 };
	struct v_sge r;
	struct cqe e;
	unsigned int sent;
	u32 i, n = 0;

	setup(NULL, 5);
	v_attr_init(&at, QPT_RC, &scq, &scq);
	v_qp_init(&x, &rig.h[0], &at);
	v_qp_init(&y, &rig.h[0], &at);
	v_connect(&x, &y, 0xfffffe);
	sent = rig.cable.sent;
	v_mr_fill(&ma, 0, 90000, 3);
	wr.s[0] = v_sge(&ma, 0, 90000);
	wr.raddr = ma.va + 100000;
	wr.rkey = ma.key;
	v_send(&x, &wr);
	tap_ok(completes(&scq, &e) && e.opcode == WQE_WRITE && v_mr_holds(&ma, 100000, 90000, 3),
	       "write to a QP of the own port");
	wr.op = WQE_READ;
	wr.s[0] = v_sge(&ma, 200000, 90000);
	v_send(&y, &wr);
	tap_ok(completes(&scq, &e) && v_mr_holds(&ma, 200000, 90000, 3), "and a read back");
	v_qp_init(&x, &rig.h[0], &at);
	v_qp_rtr(&x, 1, x.qpn, 9);
	v_qp_rts(&x, 9);
	memset(&wr, 0, sizeof(wr));
	for (i = 0; i < 5; i++) {
		r = v_sge(&ma, i * 5000, 5000);
		v_recv(&x, &r, 1);
		wr.op = WQE_SEND;
		wr.n = 1;
		wr.s[0] = v_sge(&ma, 100000, 5000);
		v_put_send(&x, &wr);
	}
	v_ring(&x);
	rig_run(&rig, 1000000);
	while (v_cq_poll(&scq, &e))
		n += e.opcode != CQE_ERROR;
	tap_eq(n, 10, "a QP connected to itself: five sends, five receives");
	wr.s[0].key ^= 1;
	v_send(&x, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.syndrome == SYN_LOCAL_PROT && v_qp_state(&x) == QPS_ERR,
	       "and it breaks as others do");
	tap_eq(rig.cable.sent, sent, "nothing of it is on the wire");
	teardown("loopback");
}

static void with_grh(struct v_attr *at)
{
	at->grh = 1;
}

static void test_grh(void)
{
	struct v_wr wr = { .op = WQE_READ, .n = 1 };
	struct cqe e;

	setup(with_grh, 5);
	v_mr_fill(&mb, 0, 5000, 3);
	wr.s[0] = v_sge(&ma, 0, 5000);
	wr.raddr = mb.va;
	wr.rkey = mb.key;
	v_send(&a, &wr);
	tap_ok(completes(&scq, &e) && e.opcode == WQE_READ && v_mr_holds(&ma, 0, 5000, 3),
	       "a connection with GRH");
	teardown("grh");
}

/* Completion entries of 64 bytes: the data is in the second half. */
static void test_large_cqe(void)
{
	rig_cqe_size = 64;
	test_send();
	test_wrap();
	rig_cqe_size = 32;
}

int main(void)
{
	test_send();
	test_rdma();
	test_atomics();
	test_wrap();
	test_deep();
	test_query();
	test_loopback();
	test_grh();
	test_large_cqe();
	return tap_done();
}
