// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues: arming and events of CQs, moderation, resizing under traffic, overrun; SRQ order,
 * limit and last-WQE event; XRC; unreliable connections; memory windows, fast registration and
 * invalidation.
 */
#include "lib/tap.h"
#include "lib/verbs.h"

static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;

static void setup_with(u8 service, struct v_srq *srq, u32 cq_log)
{
	struct v_attr at;

	rig_up(&rig);
	v_cq_init(&scq, &rig.h[0], cq_log);
	v_cq_init(&rcq, &rig.h[1], cq_log);
	v_mr_init(&ma, &rig.h[0], 50000, V_ACCESS_ALL);
	v_mr_init(&mb, &rig.h[1], 50000, V_ACCESS_ALL);
	if (srq)
		v_srq_init(srq, &rig.h[1], 4, 0, NULL);
	v_attr_init(&at, service, &scq, &scq);
	at.sq_log = 6;
	at.rq_log = 6;
	v_qp_init(&a, &rig.h[0], &at);
	at.scq = &rcq;
	at.rcq = &rcq;
	at.srq = srq;
	v_qp_init(&b, &rig.h[1], &at);
	v_connect(&a, &b, 1);
}

static void setup(void)
{
	setup_with(QPT_RC, NULL, 6);
}

static void post_send(u32 len, bool solicited)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1, .solicited = solicited };

	wr.s[0] = v_sge(&ma, 0, len);
	v_send(&a, &wr);
}

static void post_recv(u32 off, u32 len)
{
	struct v_sge r = v_sge(&mb, off, len);

	v_recv(&b, &r, 1);
}

static unsigned int events(struct v_cq *cq)
{
	rig_events(cq->h);
	return cq->h->completions[cq->cqn & 0xff];
}

static void one(bool solicited)
{
	post_recv(0, 10);
	post_send(10, solicited);
	rig_run(&rig, 100000);
}

static void test_arming(void)
{
	struct cqe e;

	setup();
	one(false);
	tap_eq(events(&rcq), 0, "no event from a CQ that was never armed");
	v_cq_arm(&rcq, false);
	tap_eq(events(&rcq), 1, "arming with a completion behind the index fires at once");
	one(false);
	tap_eq(events(&rcq), 1, "one event per arm");
	while (v_cq_poll(&rcq, &e))
		;
	v_cq_arm(&rcq, false);
	tap_eq(events(&rcq), 1, "arming an empty CQ fires nothing");
	one(false);
	tap_eq(events(&rcq), 2, "the next completion does");
	while (v_cq_poll(&rcq, &e))
		;
	v_cq_arm(&rcq, true);
	one(false);
	tap_eq(events(&rcq), 2, "solicited arm: a plain completion does not");
	one(true);
	tap_eq(events(&rcq), 3, "a solicited one does");
	while (v_cq_poll(&rcq, &e))
		;
	v_cq_arm(&rcq, true);
	tap_eq(events(&rcq), 3, "nothing solicited behind the index");
	v_qp_modify_try(&b, 0x1e, 0, 0);
	post_recv(0, 10);
	rig_run(&rig, 20000000);
	tap_eq(events(&rcq), 4, "an error counts as solicited");
	rig_down(&rig);
}

static void test_moderation(void)
{
	struct cqc c = { .period = 50, .max_count = 4 };
	u8 raw[64] = { 0 };
	u32 i;

	setup();
	layout_pack(&cqc_layout, raw, &c);
	rig_cmd(&rig.h[1], 0x02c, 1, rcq.cqn, raw, sizeof(raw), 0);
	v_cq_arm(&rcq, false);
	for (i = 0; i < 3; i++) {
		post_recv(0, 10);
		post_send(10, false);
	}
	rig_run(&rig, 20000);
	tap_eq(events(&rcq), 0, "three completions within the period wait");
	rig_run(&rig, 100000);
	tap_eq(events(&rcq), 1, "the period brings the event");
	rig_down(&rig);
}

static void test_overrun(void)
{
	u32 i;

	setup_with(QPT_RC, NULL, 2);
	for (i = 0; i < 5; i++) {
		post_recv(0, 10);
		post_send(10, false);
	}
	rig_run(&rig, 1000000);
	tap_eq(rig_saw(&rig.h[1], CX3_EV_CQ_ERR, rcq.cqn), 1, "CQ error event on overrun");
	tap_eq(rig.h[1].event[0].syndrome, 1, "with syndrome 1");
	tap_eq(rig_saw(&rig.h[1], CX3_EV_WQ_CATAS, b.qpn), 1, "catastrophic event of its QP");
	tap_eq(v_qp_state(&b), QPS_ERR, "QP in ERR");
	rig_down(&rig);
}

/* Completions keep their order while the ring moves from 64 to 16 and 256 entries. */
static void test_resize(void)
{
	static const u32 logs[] = { 4, 8, 5, 6 };
	struct cqe e;
	u32 i, n = 0, good = 0, sent = 0, k;

	setup();
	for (k = 0; k < 40; k++) {
		for (i = 0; i < 10; i++) {
			v_mr_fill(&ma, 0, 10, 0);
			post_recv(0, 100);
			post_send(sent++ % 90, false);
		}
		rig_run(&rig, 300000);
		/* some are left in the ring when it moves */
		for (i = 0; i < 4 && v_cq_poll(&rcq, &e); i++)
			good += e.bytes == n++ % 90;
		if (v_cq_resize_try(&rcq, logs[k % 4]))
			break;
		while (v_cq_poll(&rcq, &e))
			good += e.opcode == CQE_RECV_SEND && e.bytes == n++ % 90;
		while (v_cq_poll(&scq, &e))
			;
	}
	tap_eq(good, 400, "400 completions in order over 40 resizes");
	for (i = 0; i < 10; i++) {
		post_recv(0, 100);
		post_send(1, false);
	}
	rig_run(&rig, 300000);
	tap_eq(v_cq_resize_try(&rcq, 3), CX3_BAD_SIZE, "a ring too small for it is refused");
	rig_down(&rig);
}

static void test_srq(void)
{
	struct v_srq srq;
	struct v_sge r;
	struct cqe e;
	u32 i, good = 0;

	setup_with(QPT_RC, &srq, 6);
	for (i = 0; i < 8; i++) {
		r = v_sge(&mb, i * 100, 100);
		v_srq_post(&srq, &r, 1);
	}
	rig_cmd(&rig.h[1], 0x040, 0, srq.srqn, NULL, 0, 6);
	for (i = 0; i < 200; i++) {
		v_mr_fill(&ma, 0, 50, i);
		post_send(50, false);
		rig_run(&rig, 100000);
		if (!v_cq_poll(&rcq, &e))
			break;
		good += v_mr_holds(&mb, (i < 8 ? i : e.wqe) * 100, 50, i);
		/* entries come back and are posted again, their place in memory by their index */
		v_srq_free(&srq, e.wqe);
		r = v_sge(&mb, srq.head * 100, 100);
		if (i >= 3)
			v_srq_post(&srq, &r, 1);
		while (v_cq_poll(&scq, &e))
			;
	}
	tap_eq(good, 200, "an SRQ of 16 wraps, its list in any order");
	tap_eq(rig_saw(&rig.h[1], CX3_EV_SRQ_LIMIT, srq.srqn), 1, "one limit event");
	rig_cmd(&rig.h[1], 0x037, 0, srq.srqn, NULL, 0, 0);
	tap_eq(get16(rig_out(&rig.h[1]) + 28), 0, "then the limit reads 0");
	rig_cmd(&rig.h[1], 0x040, 0, srq.srqn, NULL, 0, 14);
	tap_eq(rig_saw(&rig.h[1], CX3_EV_SRQ_LIMIT, srq.srqn), 2, "armed too high: at once");
	v_qp_modify_try(&b, 0x1e, 0, 0);
	rig_run(&rig, 100000);
	tap_eq(rig_saw(&rig.h[1], CX3_EV_SRQ_LAST_WQE, b.qpn), 1, "last WQE event in ERR");
	tap_ok(!v_cq_poll(&rcq, &e), "the SRQ's receives are not flushed");
	rig_down(&rig);
}

/* The entry taken last comes back before one that was taken earlier: its link changes. */
static void test_srq_order(void)
{
	struct v_srq srq;
	struct cx3_srq *taken;
	struct rwqe w;
	struct v_sge r;
	u32 i;

	setup_with(QPT_RC, &srq, 6);
	r = v_sge(&mb, 0, 100);
	for (i = 0; i < 8; i++)
		v_srq_post(&srq, &r, 1);
	taken = srq_find(rig.h[1].hca, srq.srqn);
	tap_ok(!srq_take(rig.h[1].hca, taken, &w) && w.index == 0, "entry 0 is taken");
	tap_ok(!srq_take(rig.h[1].hca, taken, &w) && w.index == 1, "then entry 1");
	v_srq_free(&srq, 1);
	v_srq_free(&srq, 0);
	tap_ok(!srq_take(rig.h[1].hca, taken, &w) && w.index == 2,
	       "given back as 1 and 0, they are followed by 2");
	rig_down(&rig);
}

static void test_srq_empty(void)
{
	struct v_srq srq;
	struct v_sge r;
	struct cqe e;

	setup_with(QPT_RC, &srq, 6);
	post_send(50, false);
	rig_run(&rig, 50000);
	tap_ok(!v_cq_poll(&scq, &e), "empty SRQ: the sender waits");
	r = v_sge(&mb, 0, 100);
	v_srq_post(&srq, &r, 1);
	rig_run(&rig, 10000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_SEND && v_cq_poll(&rcq, &e),
	       "until a receive is posted");
	rig_down(&rig);
}

static void test_xrc(void)
{
	struct v_attr at;
	struct v_cq xcq;
	struct v_srq srq;
	struct v_qp ini, tgt;
	struct v_wr wr = { .op = WQE_SEND_IMM, .n = 1, .imm = 77 };
	struct v_sge r;
	struct cqe e;

	setup();
	v_cq_init(&xcq, &rig.h[1], 6);
	v_srq_init(&srq, &rig.h[1], 4, 5, &xcq);
	v_attr_init(&at, QPT_XRC, &scq, NULL);
	v_qp_init(&ini, &rig.h[0], &at);
	at.scq = &rcq;
	at.xrcd = 5;
	at.qpn = rig.h[1].next_qpn++ | 0x800000;
	at.pd = V_PD + 7;
	v_qp_init(&tgt, &rig.h[1], &at);
	/* a target has no send queue, whatever stands in its buffer */
	put32(rig_buf_at(&rig.h[1], &tgt.buf, tgt.sq_at), WQE_SEND);
	v_connect(&ini, &tgt, 9);
	tap_eq(rig.h[1].host.violations, 0, "nobody takes the target's buffer for a send queue");
	r = v_sge(&mb, 0, 3000);
	v_srq_post(&srq, &r, 1);
	v_mr_fill(&ma, 0, 2500, 5);
	wr.s[0] = v_sge(&ma, 0, 2500);
	wr.srqn = srq.srqn;
	v_send(&ini, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_SEND_IMM && e.qpn == ini.qpn, "XRC send");
	tap_ok(v_cq_poll(&xcq, &e) && e.qpn == tgt.qpn && e.rqpn == srq.srqn && e.bytes == 2500 &&
	       e.imm == 77 && v_mr_holds(&mb, 0, 2500, 5), "completes to the CQ of the SRQ");
	/* rights are those of the SRQ's PD, not of the target's */
	wr.op = WQE_READ;
	wr.raddr = mb.va;
	wr.rkey = mb.key;
	wr.s[0] = v_sge(&ma, 10000, 2500);
	v_send(&ini, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_READ && v_mr_holds(&ma, 10000, 2500, 5),
	       "XRC read through a target of another PD");
	wr.op = WQE_SEND_IMM;
	wr.srqn = srq.srqn + 1;
	v_send(&ini, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.syndrome == SYN_REMOTE_INVALID, "an SRQN that is none");
	rig_down(&rig);
}

static unsigned int drop_from;

static struct lossy_verdict drop_third(void *arg, int from, const struct wire_pkt *w)
{
	struct lossy_verdict v = { ++drop_from != 3, 0 };

	return v;
}

static void test_uc(void)
{
	struct v_wr wr = { .op = WQE_WRITE_IMM, .n = 1, .imm = 5 };
	struct cqe e;

	setup_with(QPT_UC, NULL, 6);
	v_mr_fill(&ma, 0, 4000, 6);
	post_recv(0, 5000);
	post_send(4000, false);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && v_cq_poll(&rcq, &e) && e.bytes == 4000 &&
	       v_mr_holds(&mb, 0, 4000, 6), "UC send of four packets");
	wr.s[0] = v_sge(&ma, 0, 4000);
	wr.raddr = mb.va + 10000;
	wr.rkey = mb.key;
	post_recv(0, 5000);
	v_send(&a, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && v_cq_poll(&rcq, &e) && e.imm == 5 &&
	       v_mr_holds(&mb, 10000, 4000, 6), "UC write with immediate");
	rig.cable.judge = drop_third;
	post_recv(0, 5000);
	post_send(4000, false);
	post_send(4000, false);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && v_cq_poll(&scq, &e) && v_cq_poll(&rcq, &e) &&
	       e.bytes == 4000 && !v_cq_poll(&rcq, &e),
	       "a lost packet loses its message, the next one gets its receive");
	rig_down(&rig);
}

/* A fast-register region: free, registered by work request, used, invalidated by the peer. */
static void test_fast_reg(void)
{
	struct rig_buf pages;
	struct v_wr wr = { .op = WQE_FAST_REG };
	struct rig_hca *h = &rig.h[1];
	struct cqe e;
	u32 index, key, i;
	u64 list;
	u8 m[64] = { 0 };

	setup();
	index = h->next_key++;
	key = index << 8 | 0x11;
	rig_buf_init(h, &pages, 4 * 4096);
	put32(m, 0x30000000 | 1 << 17 | 1 << 8 | 3 << 10);
	put32(m + 8, key >> 8 | key << 24);
	put32(m + 12, V_PD | 1 << 27 | 1 << 26 | 3 << 24);
	put64(m + 44, h->next_mtt * 8ull);
	put32(m + 52, 4);
	h->next_mtt += 4;
	rig_cmd(h, 0x00d, 0, index, m, sizeof(m), 0);
	list = rig_alloc(h, 64, 64);
	for (i = 0; i < 4; i++)
		put64(rig_mem(h, list + i * 8, 8), (pages.base + i * 4096) | 1);
	key += 1;
	wr.freg.flags = 1u << 27 | 1u << 28 | 1u << 29 | 1u << 30;
	wr.freg.key = key;
	wr.freg.list = list;
	wr.freg.start = 0x100000;
	wr.freg.len = 4 * 4096;
	wr.freg.log_page = 12;
	v_send(&b, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&rcq, &e) && e.opcode == WQE_FAST_REG, "fast register");
	v_mr_fill(&ma, 0, 10000, 9);
	memset(&wr, 0, sizeof(wr));
	wr.op = WQE_WRITE;
	wr.n = 1;
	wr.s[0] = v_sge(&ma, 0, 10000);
	wr.raddr = 0x100000 + 50;
	wr.rkey = key;
	v_send(&a, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_WRITE &&
	       *rig_mem(h, pages.base + 50, 1) == *v_mr_at(&ma, 0) &&
	       *rig_mem(h, pages.base + 50 + 9999, 1) == *v_mr_at(&ma, 9999),
	       "the peer writes through the new key");
	memset(&wr, 0, sizeof(wr));
	wr.op = WQE_SEND_INVAL;
	wr.imm = key;
	post_recv(0, 10);
	v_send(&a, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && v_cq_poll(&rcq, &e) && e.opcode == CQE_RECV_SEND_INVAL &&
	       e.imm == key, "send with invalidate");
	wr.op = WQE_WRITE;
	wr.n = 1;
	wr.s[0] = v_sge(&ma, 0, 100);
	wr.raddr = 0x100000;
	wr.rkey = key;
	v_send(&a, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.syndrome == SYN_REMOTE_ACCESS, "after it the key is dead");
	rig_down(&rig);
}

/* A type 2 window on part of a region: the peer writes through it until it is invalidated. */
static void test_window(void)
{
	struct v_wr bind = { .op = WQE_BIND_MW }, wr = { .op = WQE_WRITE, .n = 1 };
	struct rig_hca *h = &rig.h[1];
	u32 index, key;
	u8 m[64] = { 0 };
	struct cqe e;

	setup();
	index = h->next_key++;
	key = index << 8 | 0x21;
	put32(m, 0x30000000);
	put32(m + 4, 0x80);
	put32(m + 8, key >> 8 | key << 24);
	put32(m + 12, V_PD | 3 << 24);
	rig_cmd(h, 0x00d, 0, index, m, sizeof(m), 0);
	key += 3;
	bind.bind.flags1 = 1u << 30;
	bind.bind.flags2 = 1u << 31;
	bind.bind.new_rkey = key;
	bind.bind.lkey = mb.key;
	bind.bind.addr = mb.va + 4000;
	bind.bind.len = 1000;
	v_send(&b, &bind);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&rcq, &e) && e.opcode == WQE_BIND_MW, "bind of a type 2 window");
	tap_eq(v_mr_dereg_try(&mb), CX3_REG_BOUND, "a region with a window is not given back");
	v_mr_fill(&ma, 0, 1000, 4);
	wr.s[0] = v_sge(&ma, 0, 1000);
	wr.raddr = mb.va + 4000;
	wr.rkey = key;
	v_send(&a, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_WRITE && v_mr_holds(&mb, 4000, 1000, 4),
	       "the peer writes through it");
	bind.op = WQE_LOCAL_INV;
	bind.inval = key;
	v_send(&b, &bind);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&rcq, &e) && e.opcode == WQE_LOCAL_INV, "local invalidate of the window");
	tap_eq(v_mr_dereg_try(&mb), CX3_OK, "then the region is free");
	v_send(&a, &wr);
	rig_run(&rig, 1000000);
	tap_ok(v_cq_poll(&scq, &e) && e.syndrome == SYN_REMOTE_ACCESS, "and the window's key dead");
	tap_eq(v_qp_state(&b), QPS_ERR, "which the responder takes as an access error");
	rig_down(&rig);
}

static void test_bad_bind(void)
{
	struct v_wr bind = { .op = WQE_BIND_MW };
	struct cqe e;

	setup();
	bind.bind.new_rkey = 0x77700;
	bind.bind.lkey = ma.key;
	bind.bind.addr = ma.va;
	bind.bind.len = 10;
	v_send(&a, &bind);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&scq, &e) && e.syndrome == SYN_MW_BIND, "binding no window: bind error");
	rig_down(&rig);
}

static void test_local_inv(void)
{
	struct v_wr wr = { .op = WQE_LOCAL_INV };
	struct cqe e;

	setup();
	wr.inval = 0xdead00;
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == CQE_ERROR, "invalidating no key fails");
	tap_eq(v_qp_state(&a), QPS_ERR, "and the QP is in ERR");
	rig_down(&rig);
}

static void test_inline_receive(void)
{
	struct v_attr at;
	struct v_qp q;
	struct cqe e;

	setup();
	v_attr_init(&at, QPT_RC, &rcq, &rcq);
	at.inline_scatter = 1;
	v_qp_init(&q, &rig.h[1], &at);
	v_qp_reset(&a);
	a.c.path[0].rlid = 0;
	v_attr_init(&at, QPT_RC, &scq, &scq);
	v_qp_init(&a, &rig.h[0], &at);
	v_connect(&a, &q, 3);
	b = q;
	v_mr_fill(&ma, 0, 40, 2);
	post_recv(0, 100);
	post_send(40, false);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&rcq, &e) && e.inline_scatter && e.bytes == 40 &&
	       !memcmp(rig_buf_at(&rig.h[1], &q.buf, q.rq_at), v_mr_at(&ma, 0), 40),
	       "a short message lands in the receive WQE");
	post_recv(0, 100);
	post_send(90, false);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&rcq, &e) && !e.inline_scatter && e.bytes == 90, "a longer one does not");
	rig_down(&rig);
}

int main(void)
{
	test_arming();
	test_moderation();
	test_overrun();
	test_resize();
	test_srq();
	test_srq_order();
	test_srq_empty();
	test_xrc();
	test_uc();
	test_fast_reg();
	test_window();
	test_bad_bind();
	test_local_inv();
	test_inline_receive();
	return tap_done();
}
