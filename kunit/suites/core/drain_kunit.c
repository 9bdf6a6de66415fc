// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining a QP and polling a CQ, in each polling context, with hardware that answers, hardware
 * that stopped to answer, and hardware that is gone before, while and after.
 */
#include <linux/module.h>

#include "bench.h"

/* A request of the test: how often it came back, and how. */
struct request {
	struct ib_cqe cqe;
	int done;
	enum ib_wc_status status;
};

struct drain_bench {
	struct bench *b;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct request send[3];
	struct request recv[3];
	struct completion drained;
};

static const enum ib_cq_context contexts[] = { IB_CQ_DIRECT, IB_CQ_SOFTIRQ, IB_CQ_WORKQUEUE };

static void context_name(const enum ib_cq_context *context, char *desc)
{
	static const char *const names[] = { "owner", "direct", "softirq", "workqueue" };

	strscpy(desc, names[*context], KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(contexts, contexts, context_name);

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *request = container_of(wc->cqe, struct request, cqe);

	request->status = wc->status;
	WRITE_ONCE(request->done, request->done + 1);
}

static struct drain_bench *drain_create_in(struct kunit *test, enum ib_cq_context context)
{
	struct drain_bench *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	d->b = bench_up(test, "lr-drain");
	d->pd = ib_pd_create(d->b->attachment, NULL);
	d->cq = bench_cq(d->b, context);
	d->qp = bench_qp(d->b, d->pd, d->cq, IB_QPT_UD);
	KUNIT_ASSERT_EQ(test, bench_to_rts(d->qp), 0);
	return d;
}

static struct drain_bench *drain_create(struct kunit *test)
{
	return drain_create_in(test, *(const enum ib_cq_context *)test->param_value);
}

static void drain_destroy(struct drain_bench *d)
{
	ib_qp_destroy(d->qp);
	ib_cq_destroy(d->cq);
	ib_pd_destroy(d->pd);
}

static void post_all(struct kunit *test, struct drain_bench *d)
{
	const struct ib_recv_wr *bad_recv;
	const struct ib_send_wr *bad_send;
	int i;

	for (i = 0; i < ARRAY_SIZE(d->send); i++) {
		struct ib_recv_wr recv = { .cqe = &d->recv[i].cqe };
		struct ib_send_wr send = { .cqe = &d->send[i].cqe };

		d->send[i].cqe.done = request_done;
		d->recv[i].cqe.done = request_done;
		KUNIT_ASSERT_EQ(test, ib_qp_post_send(d->qp, &send, &bad_send), 0);
		KUNIT_ASSERT_EQ(test, ib_qp_post_recv(d->qp, &recv, &bad_recv), 0);
	}
}

/* Exactly once each, and in the state the hardware leaves them in. */
static void expect_all(struct kunit *test, struct drain_bench *d, enum ib_wc_status status)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(d->send); i++) {
		KUNIT_EXPECT_EQ(test, d->send[i].done, 1);
		KUNIT_EXPECT_EQ(test, d->recv[i].done, 1);
		KUNIT_EXPECT_EQ(test, (int)d->send[i].status, (int)status);
		KUNIT_EXPECT_EQ(test, (int)d->recv[i].status, (int)status);
	}
}

static void hardware_answers(struct kunit *test)
{
	struct drain_bench *d = drain_create(test);

	post_all(test, d);
	ib_qp_drain(d->qp);
	expect_all(test, d, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, (int)d->qp->known.state, (int)IB_QPS_ERR);
	/* What is posted now comes back flushed; so does what follows. */
	memset(d->send, 0, sizeof(d->send));
	memset(d->recv, 0, sizeof(d->recv));
	post_all(test, d);
	ib_qp_drain(d->qp);
	expect_all(test, d, IB_WC_WR_FLUSH_ERR);
	drain_destroy(d);
}

static void qp_in_reset_has_nothing_to_drain(struct kunit *test)
{
	const enum ib_cq_context *context = test->param_value;
	struct bench *b = bench_up(test, "lr-drain");
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_cq *cq = bench_cq(b, *context);
	struct ib_qp *qp = bench_qp(b, pd, cq, IB_QPT_UD);

	ib_qp_drain(qp);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_MODIFY_QP), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_POST_SEND), 0);
	ib_qp_destroy(qp);
	ib_cq_destroy(cq);
	ib_pd_destroy(pd);
}

static int run_drain(void *arg)
{
	struct drain_bench *d = arg;

	ib_qp_drain(d->qp);
	complete(&d->drained);
	return 0;
}

/* A client waits for its own drain before its objects are taken from it. */
static void wait_in_remove(struct bench *b)
{
	struct drain_bench *d = b->data;

	wait_for_completion(&d->drained);
}

/* The drain waits; then the HCA is lost, and the flush ends it. */
static void gone_while_draining(struct kunit *test)
{
	struct drain_bench *d = drain_create(test);
	struct fake_flow flow;

	d->b->vf.silent = true;
	init_completion(&d->drained);
	d->b->remove = wait_in_remove;
	d->b->data = d;
	post_all(test, d);
	fake_flow_start(&flow, run_drain, d);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(vfake_calls(&d->b->vf, VFAKE_POST_RECV) == 4, 10000));
	KUNIT_EXPECT_FALSE(test, completion_done(&flow.done));
	bench_gone(d->b);
	KUNIT_EXPECT_GT(test, wait_for_completion_timeout(&flow.done, 10 * HZ), 0UL);
	fake_flow_join(&flow);
	expect_all(test, d, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, vfake_calls(&d->b->vf, VFAKE_FLUSH), 1);
	ib_hca_settle(d->b->fake->hca);
	d->b->remove = NULL;
	/* The attachment is being reset; what is left is destroyed there or here. */
	drain_destroy(d);
}

static void drain_in_remove(struct bench *b)
{
	struct drain_bench *d = b->data;

	ib_qp_drain(d->qp);
	drain_destroy(d);
}

/* The usual way: the client hears of the loss in remove_one, and drains there. */
static void gone_before_draining(struct kunit *test)
{
	struct drain_bench *d = drain_create(test);

	d->b->vf.silent = true;
	d->b->remove = drain_in_remove;
	d->b->data = d;
	post_all(test, d);
	bench_gone(d->b);
	ib_hca_settle(d->b->fake->hca);
	KUNIT_EXPECT_EQ(test, d->b->removes, 1);
	d->b->remove = NULL;
	expect_all(test, d, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, list_empty(&d->b->client.graveyard.objects), true);
}

static void marker_cannot_be_posted(struct kunit *test)
{
	struct drain_bench *d = drain_create(test);

	d->b->vf.fails[VFAKE_POST_SEND] = -ENOMEM;
	d->b->vf.fails[VFAKE_POST_RECV] = -ENOMEM;
	ib_qp_drain(d->qp);
	d->b->vf.fails[VFAKE_MODIFY_QP] = -EIO;
	/* An error of the command with the HCA alive is not the end of the HCA: no wait. */
	ib_qp_drain(d->qp);
	drain_destroy(d);
}

/* ---- a CQ that its owner polls, against its destroy ---- */

/**
 * struct held - a request whose owner keeps the completion's callback
 * @cqe: its completion
 * @hold: let the callback return
 * @inside: it is inside
 */
struct held {
	struct ib_cqe cqe;
	struct completion hold;
	bool inside;
};

static void held_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct held *held = container_of(wc->cqe, struct held, cqe);

	WRITE_ONCE(held->inside, true);
	wait_for_completion(&held->hold);
}

static int run_process(void *cq)
{
	return ib_cq_process(cq, -1);
}

static int run_destroy(void *cq)
{
	ib_cq_destroy(cq);
	return 0;
}

static void destroy_beside_process(struct kunit *test, bool used)
{
	struct drain_bench *d = drain_create_in(test, IB_CQ_DIRECT);
	struct held held = { .cqe.done = held_done };
	struct ib_send_wr send = { .cqe = &held.cqe };
	const struct ib_send_wr *bad;
	struct fake_flow poll, end;

	init_completion(&held.hold);
	KUNIT_ASSERT_EQ(test, ib_qp_post_send(d->qp, &send, &bad), 0);
	fake_flow_start(&poll, run_process, d->cq);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(held.inside), 1000));
	if (!used)
		ib_qp_destroy(d->qp);
	fake_flow_start(&end, run_destroy, d->cq);
	KUNIT_EXPECT_FALSE(test, LR_WAIT(completion_done(&end.done), 100));
	KUNIT_EXPECT_EQ(test, vfake_calls(&d->b->vf, VFAKE_DESTROY_CQ), 0);
	complete_all(&held.hold);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&poll), 1);
	fake_flow_join(&end);
	if (used)
		ib_qp_destroy(d->qp);
	ib_pd_destroy(d->pd);
}

/* The destroy of a CQ waits for its owner's polling, and for the callbacks in it. */
static void destroy_waits_for_process(struct kunit *test)
{
	destroy_beside_process(test, false);
}

/* Also one that is only put aside, since a QP still uses the CQ. */
static void destroy_of_used_waits_for_process(struct kunit *test)
{
	destroy_beside_process(test, true);
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE_PARAM(hardware_answers, contexts_gen_params),
	KUNIT_CASE_PARAM(qp_in_reset_has_nothing_to_drain, contexts_gen_params),
	KUNIT_CASE_PARAM(gone_while_draining, contexts_gen_params),
	KUNIT_CASE_PARAM(gone_before_draining, contexts_gen_params),
	KUNIT_CASE_PARAM(marker_cannot_be_posted, contexts_gen_params),
	KUNIT_CASE(destroy_waits_for_process),
	KUNIT_CASE(destroy_of_used_waits_for_process),
	{}
};

static struct kunit_suite drain_suite = {
	.name = "drain",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = drain_cases,
};

kunit_test_suite(drain_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of draining and polling");
