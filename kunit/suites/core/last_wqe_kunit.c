// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event for the last receive that a QP takes from its SRQ: once for each QP that has left
 * RESET, from the hardware or from the flush, whichever is first.
 */
#include <linux/module.h>

#include "bench.h"

#define QPS 4

/**
 * struct last_bench - QPs on an SRQ
 * @b: the bench
 * @pd: their PD
 * @cq: their CQ
 * @srq: their SRQ
 * @qp: themselves; the last one has a receive queue of its own
 * @last: how often each was told
 * @fatal: how often it had another event
 * @inside: a modify is inside the gate
 * @go_on: let it go on
 */
struct last_bench {
	struct bench *b;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp[QPS];
	atomic_t last[QPS];
	atomic_t fatal[QPS];
	bool inside;
	struct completion go_on;
};

static void count_event(struct ib_qp *qp, enum ib_event_type type)
{
	struct last_bench *l = qp->priv;
	unsigned int i;

	for (i = 0; i < QPS; i++) {
		if (l->qp[i] != qp)
			continue;
		atomic_inc(type == IB_EVENT_QP_LAST_WQE_REACHED ? &l->last[i] : &l->fatal[i]);
	}
}

static struct last_bench *last_create(struct kunit *test)
{
	struct last_bench *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	struct ib_srq_init srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ib_qp_init init = {
		.type = IB_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.event = count_event,
		.priv = l,
	};
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->b = bench_up(test, "lr-last");
	init_completion(&l->go_on);
	l->pd = ib_pd_create(l->b->attachment, NULL);
	l->cq = bench_cq(l->b, IB_CQ_WORKQUEUE);
	l->srq = ib_srq_create(l->pd, &srq, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(l->srq));
	init.send_cq = l->cq;
	init.recv_cq = l->cq;
	for (i = 0; i < QPS; i++) {
		init.srq = i < QPS - 1 ? l->srq : NULL;
		l->qp[i] = ib_qp_create(l->b->attachment, l->pd, &init, NULL);
		KUNIT_ASSERT_FALSE(test, IS_ERR(l->qp[i]));
	}
	return l;
}

/* The HCA is lost, flushed, taken down, and what was left behind has been reaped. */
static void lose(struct last_bench *l)
{
	bench_gone(l->b);
	ib_hca_settle(l->b->fake->hca);
	KUNIT_EXPECT_EQ(l->b->test, vfake_calls(&l->b->vf, VFAKE_FLUSH), 1);
	KUNIT_EXPECT_EQ(l->b->test, l->b->removes, 1);
}

static void last_destroy(struct last_bench *l)
{
	unsigned int i;

	for (i = 0; i < QPS; i++)
		ib_qp_destroy(l->qp[i]);
	ib_srq_destroy(l->srq);
	ib_cq_destroy(l->cq);
	ib_pd_destroy(l->pd);
}

static int to_reset(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_RESET };

	return ib_qp_modify(qp, &attr, IB_QP_STATE, NULL);
}

static int to_init(void *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_INIT, .port = 1, .qkey = 1 };

	return ib_qp_modify(qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY, NULL);
}

/* In RTS, in INIT, in RESET, and without an SRQ. */
static void loss_tells_each_once(struct kunit *test)
{
	struct last_bench *l = last_create(test);

	KUNIT_ASSERT_EQ(test, bench_to_rts(l->qp[0]), 0);
	KUNIT_ASSERT_EQ(test, to_init(l->qp[1]), 0);
	KUNIT_ASSERT_EQ(test, bench_to_rts(l->qp[3]), 0);
	lose(l);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[0]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[1]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[2]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[3]), 0);
	last_destroy(l);
}

/* What the hardware has said is not said again; other events are not counted. */
static void hardware_was_first(struct kunit *test)
{
	struct last_bench *l = last_create(test);

	KUNIT_ASSERT_EQ(test, bench_to_rts(l->qp[0]), 0);
	ib_qp_event(l->qp[0], IB_EVENT_QP_FATAL);
	ib_qp_event(l->qp[0], IB_EVENT_QP_LAST_WQE_REACHED);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[0]), 1);
	ib_qp_event(l->qp[0], IB_EVENT_QP_LAST_WQE_REACHED);
	ib_qp_event(l->qp[0], IB_EVENT_QP_FATAL);
	lose(l);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[0]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->fatal[0]), 2);
	last_destroy(l);
}

/* A QP that was reset begins anew, for the hardware and for the flush. */
static void reset_begins_anew(struct kunit *test)
{
	struct last_bench *l = last_create(test);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, bench_to_rts(l->qp[i]), 0);
		ib_qp_event(l->qp[i], IB_EVENT_QP_LAST_WQE_REACHED);
		KUNIT_ASSERT_EQ(test, to_reset(l->qp[i]), 0);
	}
	KUNIT_ASSERT_EQ(test, bench_to_rts(l->qp[0]), 0);
	lose(l);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[0]), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[1]), 1);
	last_destroy(l);
}

static void hold_modify(struct vfake *vf, enum vfake_op op)
{
	struct last_bench *l = vf->data;

	if (op != VFAKE_MODIFY_QP)
		return;
	WRITE_ONCE(l->inside, true);
	wait_for_completion(&l->go_on);
}

/* It leaves RESET while the HCA is lost: the flush waits for it, and misses it or not. */
static void leaves_reset_meanwhile(struct kunit *test)
{
	struct last_bench *l = last_create(test);
	struct fake_flow flow;

	l->b->vf.data = l;
	l->b->vf.hook = hold_modify;
	fake_flow_start(&flow, to_init, l->qp[0]);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(l->inside), 1000));
	ib_hca_gone(l->b->fake->hca, "the test says so");
	KUNIT_EXPECT_FALSE(test, LR_WAIT(vfake_calls(&l->b->vf, VFAKE_FLUSH), 100));
	complete_all(&l->go_on);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	l->b->vf.hook = NULL;
	ib_hca_settle(l->b->fake->hca);
	KUNIT_EXPECT_EQ(test, vfake_calls(&l->b->vf, VFAKE_FLUSH), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->last[0]), 1);
	last_destroy(l);
}

static struct kunit_case last_cases[] = {
	KUNIT_CASE(loss_tells_each_once),
	KUNIT_CASE(hardware_was_first),
	KUNIT_CASE(reset_begins_anew),
	KUNIT_CASE(leaves_reset_meanwhile),
	{}
};

static struct kunit_suite last_suite = {
	.name = "last_wqe",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = last_cases,
};

kunit_test_suite(last_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the event for the last receive from an SRQ");
