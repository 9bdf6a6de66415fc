// SPDX-License-Identifier: GPL-2.0-only
/* The bench of bench.h. */
#include <linux/module.h>

#include "bench.h"

static struct bench *bench_of(struct ib_client *client)
{
	return container_of(client, struct bench, client);
}

static int bench_add_one(struct ib_attachment *attachment)
{
	struct bench *b = bench_of(attachment->client);

	/* Other HCAs belong to other benches. */
	if (attachment->device->hca != b->fake->hca)
		return 0;
	if (b->attachment)
		ib_attachment_put(b->attachment);
	ib_attachment_get(attachment);
	b->attachment = attachment;
	return 0;
}

static void bench_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct bench *b = bench_of(attachment->client);

	if (attachment->device->hca != b->fake->hca)
		return;
	b->removes++;
	if (b->remove)
		b->remove(b);
}

void bench_unregister(struct bench *b)
{
	if (b->registered)
		ib_client_unregister(&b->client);
	b->registered = false;
}
EXPORT_SYMBOL_GPL(bench_unregister);

static void bench_end(void *arg)
{
	struct bench *b = arg;

	bench_unregister(b);
	if (b->attachment)
		ib_attachment_put(b->attachment);
}

/* Run last: the HCA has been removed. */
static void bench_check(void *arg)
{
	struct bench *b = arg;

	vfake_wire_clear(&b->vf);
	KUNIT_EXPECT_EQ(b->test, atomic_read(&b->vf.breaches), 0);
	KUNIT_EXPECT_EQ(b->test, atomic_read(&b->vf.buffers), b->kept);
}

struct bench *bench_create(struct kunit *test, const char *name)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->test = test;
	vfake_init(&b->vf);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, bench_check, b), 0);
	b->fake = fake_hca_create(test, name);
	b->client.name = "bench";
	b->client.owner = THIS_MODULE;
	b->client.add_one = bench_add_one;
	b->client.remove_one = bench_remove_one;
	KUNIT_ASSERT_EQ(test, ib_client_register(&b->client), 0);
	b->registered = true;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, bench_end, b), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_add(b->fake), 0);
	return b;
}
EXPORT_SYMBOL_GPL(bench_create);

void bench_bind(struct bench *b)
{
	KUNIT_ASSERT_EQ(b->test, ib_provider_bind(b->fake->hca, &vfake_provider, &b->vf), 0);
	b->fake->bound = true;
	KUNIT_ASSERT_NOT_NULL(b->test, b->attachment);
}
EXPORT_SYMBOL_GPL(bench_bind);

struct bench *bench_up(struct kunit *test, const char *name)
{
	struct bench *b = bench_create(test, name);

	bench_bind(b);
	return b;
}
EXPORT_SYMBOL_GPL(bench_up);

struct ib_device *bench_device(struct bench *b)
{
	return b->attachment->device;
}
EXPORT_SYMBOL_GPL(bench_device);

static bool bench_gone_done(struct bench *b)
{
	return READ_ONCE(b->fake->hca->gone_done) || !READ_ONCE(b->fake->hca->gone);
}

/* The hardware is lost, and the thread has dealt with it as far as it can. */
void bench_gone(struct bench *b)
{
	ib_hca_gone(b->fake->hca, "the test says so");
	KUNIT_EXPECT_TRUE(b->test, LR_WAIT(bench_gone_done(b), 10000));
}
EXPORT_SYMBOL_GPL(bench_gone);

static void bench_notify(struct ib_cq *cq)
{
}

struct ib_cq *bench_cq(struct bench *b, enum ib_cq_context context)
{
	struct ib_cq_init init = { .cqe = 64, .context = context, .notify = bench_notify };
	struct ib_cq *cq = ib_cq_create(b->attachment, &init, NULL);

	KUNIT_ASSERT_FALSE(b->test, IS_ERR(cq));
	return cq;
}
EXPORT_SYMBOL_GPL(bench_cq);

struct ib_qp *bench_qp(struct bench *b, struct ib_pd *pd, struct ib_cq *cq, enum ib_qp_type type)
{
	struct ib_qp_init init = {
		.type = type,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.send_cq = cq,
		.recv_cq = cq,
		.port = 1,
	};
	struct ib_qp *qp = ib_qp_create(b->attachment, pd, &init, NULL);

	KUNIT_ASSERT_FALSE(b->test, IS_ERR(qp));
	return qp;
}
EXPORT_SYMBOL_GPL(bench_qp);

/* The parents first. */
void bench_make_all(struct bench *b, struct bench_objects *o)
{
	struct ib_srq_init srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ib_ah_attr ah = { .dlid = 5, .port = 1 };

	o->pd = ib_pd_create(b->attachment, NULL);
	KUNIT_ASSERT_FALSE(b->test, IS_ERR(o->pd));
	o->xrcd = ib_xrcd_create(b->attachment, NULL);
	KUNIT_ASSERT_FALSE(b->test, IS_ERR(o->xrcd));
	o->cq = bench_cq(b, IB_CQ_WORKQUEUE);
	o->srq = ib_srq_create(o->pd, &srq, NULL);
	KUNIT_ASSERT_FALSE(b->test, IS_ERR(o->srq));
	o->mr = ib_mr_create_fast(o->pd, 4);
	KUNIT_ASSERT_FALSE(b->test, IS_ERR(o->mr));
	o->mw = ib_mw_create(o->pd, 2, NULL);
	KUNIT_ASSERT_FALSE(b->test, IS_ERR(o->mw));
	o->ah = ib_ah_create(o->pd, &ah, GFP_ATOMIC);
	KUNIT_ASSERT_FALSE(b->test, IS_ERR(o->ah));
	o->qp = bench_qp(b, o->pd, o->cq, IB_QPT_UD);
}
EXPORT_SYMBOL_GPL(bench_make_all);

/* The mirror. */
void bench_destroy_all(struct bench_objects *o)
{
	ib_qp_destroy(o->qp);
	ib_ah_destroy(o->ah);
	ib_mw_destroy(o->mw);
	ib_mr_destroy(o->mr);
	ib_srq_destroy(o->srq);
	ib_cq_destroy(o->cq);
	ib_xrcd_destroy(o->xrcd);
	ib_pd_destroy(o->pd);
}
EXPORT_SYMBOL_GPL(bench_destroy_all);

/* A UD QP to RTS. */
int bench_to_rts(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_INIT, .port = 1, .qkey = 0x11111111 };
	int err;

	err = ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY,
			   NULL);
	attr.state = IB_QPS_RTR;
	err = err ?: ib_qp_modify(qp, &attr, IB_QP_STATE, NULL);
	attr.state = IB_QPS_RTS;
	return err ?: ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN, NULL);
}
EXPORT_SYMBOL_GPL(bench_to_rts);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A provider with verbs and a bench for tests of ib_core");
