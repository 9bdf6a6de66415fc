// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of QP attributes and of addresses: the last one that the specification knows is accepted,
 * the next one refused, before the provider hears of it.
 */
#include <linux/module.h>

#include <lastref/kunit.h>

#include "bench.h"

/* Of a QP in SQD whose port is 1, one of two. */
static const struct {
	const char *what;
	u32 mask;
	struct ib_qp_attr attr;
	int err;
} values[] = {
	{ "port 1", IB_QP_PORT, { .port = 1 } },
	{ "port 0", IB_QP_PORT, { .port = 0 }, -EINVAL },
	{ "a port that is not there", IB_QP_PORT, { .port = 3 }, -EINVAL },
	{ "timeout 31", IB_QP_TIMEOUT, { .timeout = 31 } },
	{ "timeout 32", IB_QP_TIMEOUT, { .timeout = 32 }, -EINVAL },
	{ "7 retries", IB_QP_RETRY_CNT, { .retry_cnt = 7 } },
	{ "8 retries", IB_QP_RETRY_CNT, { .retry_cnt = 8 }, -EINVAL },
	{ "7 RNR retries", IB_QP_RNR_RETRY, { .rnr_retry = 7 } },
	{ "8 RNR retries", IB_QP_RNR_RETRY, { .rnr_retry = 8 }, -EINVAL },
	{ "RNR timer 31", IB_QP_MIN_RNR_TIMER, { .min_rnr_timer = 31 } },
	{ "RNR timer 32", IB_QP_MIN_RNR_TIMER, { .min_rnr_timer = 32 }, -EINVAL },
	{ "to be armed", IB_QP_PATH_MIG_STATE, { .path_mig_state = IB_MIG_REARM } },
	{ "no migration state", IB_QP_PATH_MIG_STATE, { .path_mig_state = 3 }, -EINVAL },
	{ "SL 15", IB_QP_AV, { .ah = { .port = 1, .sl = 15 } } },
	{ "SL 16", IB_QP_AV, { .ah = { .port = 1, .sl = 16 } }, -EINVAL },
	{ "path bits 127", IB_QP_AV, { .ah = { .port = 1, .path_bits = 127 } } },
	{ "path bits 128", IB_QP_AV, { .ah = { .port = 1, .path_bits = 128 } }, -EINVAL },
	{ "rate 2", IB_QP_AV, { .ah = { .port = 1, .static_rate = 2 } } },
	{ "rate 23", IB_QP_AV, { .ah = { .port = 1, .static_rate = 23 } } },
	{ "rate 1", IB_QP_AV, { .ah = { .port = 1, .static_rate = 1 } }, -EINVAL },
	{ "rate 24", IB_QP_AV, { .ah = { .port = 1, .static_rate = 24 } }, -EINVAL },
	{ "GID 0", IB_QP_AV, { .ah = { .port = 1, .has_grh = true } } },
	{ "a GID that is not there", IB_QP_AV,
	  { .ah = { .port = 1, .has_grh = true, .grh = { .sgid_index = 1000 } } }, -EINVAL },
	{ "a GID that is empty", IB_QP_AV,
	  { .ah = { .port = 1, .has_grh = true, .grh = { .sgid_index = 1 } } }, -EINVAL },
	{ "path from no port", IB_QP_AV, { .ah = { .port = 0 } }, -EINVAL },
	{ "path from a port that is not there", IB_QP_AV, { .ah = { .port = 3 } }, -EINVAL },
	{ "path from another port than given", IB_QP_AV | IB_QP_PORT,
	  { .port = 1, .ah = { .port = 2 } }, -EINVAL },
	{ "path from the port given", IB_QP_AV | IB_QP_PORT, { .port = 1, .ah = { .port = 1 } } },
	{ "alternate path", IB_QP_ALT_PATH,
	  { .alt_port = 2, .alt_ah = { .port = 2 }, .alt_timeout = 31 } },
	{ "alternate timeout 32", IB_QP_ALT_PATH,
	  { .alt_port = 2, .alt_ah = { .port = 2 }, .alt_timeout = 32 }, -EINVAL },
	{ "alternate SL 16", IB_QP_ALT_PATH,
	  { .alt_port = 2, .alt_ah = { .port = 2, .sl = 16 } }, -EINVAL },
	{ "alternate path from no port", IB_QP_ALT_PATH, { .alt_port = 0 }, -EINVAL },
	{ "alternate path from another port than said", IB_QP_ALT_PATH,
	  { .alt_port = 2, .alt_ah = { .port = 1 } }, -EINVAL },
};

static struct ib_qp_attr to_rtr = {
	.state = IB_QPS_RTR, .path_mtu = IB_MTU_1024, .dest_qpn = 0xffffff,
	.ah = { .port = 1, .dlid = 5 },
};

#define TO_RTR	(IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |	\
		 IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)

/* What the way to SQD takes, and what it does not. */
static void go_to_sqd(struct kunit *test, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_INIT, .port = 1 };

	KUNIT_ASSERT_EQ(test, ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
					   IB_QP_ACCESS_FLAGS, NULL), 0);
	attr = to_rtr;
	attr.dest_qpn = 0x1000000;
	KUNIT_EXPECT_EQ(test, ib_qp_modify(qp, &attr, TO_RTR, NULL), -EINVAL);
	attr = to_rtr;
	attr.path_mtu = 0;
	KUNIT_EXPECT_EQ(test, ib_qp_modify(qp, &attr, TO_RTR, NULL), -EINVAL);
	attr.path_mtu = IB_MTU_4096 + 1;
	KUNIT_EXPECT_EQ(test, ib_qp_modify(qp, &attr, TO_RTR, NULL), -EINVAL);
	attr = to_rtr;
	attr.ah.port = 2;
	KUNIT_EXPECT_EQ(test, ib_qp_modify(qp, &attr, TO_RTR, NULL), -EINVAL);
	KUNIT_ASSERT_EQ(test, ib_qp_modify(qp, &to_rtr, TO_RTR, NULL), 0);
	attr = (struct ib_qp_attr){ .state = IB_QPS_RTS };
	KUNIT_ASSERT_EQ(test, ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |
					   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
					   IB_QP_MAX_QP_RD_ATOMIC, NULL), 0);
	attr.state = IB_QPS_SQD;
	KUNIT_ASSERT_EQ(test, ib_qp_modify(qp, &attr, IB_QP_STATE, NULL), 0);
}

static void qp_values_are_checked(struct kunit *test)
{
	struct bench *b = bench_up(test, "values");
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_cq *cq = bench_cq(b, IB_CQ_DIRECT);
	struct ib_qp_attr attr = { .ah = { .port = 2, .dlid = 5 } };
	unsigned int i;
	struct ib_qp *qp;
	int calls, err;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	qp = bench_qp(b, pd, cq, IB_QPT_RC);
	go_to_sqd(test, qp);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		calls = vfake_calls(&b->vf, VFAKE_MODIFY_QP);
		err = ib_qp_modify(qp, &values[i].attr, values[i].mask, NULL);
		KUNIT_EXPECT_EQ_MSG(test, err, values[i].err, "%s", values[i].what);
		KUNIT_EXPECT_EQ_MSG(test, vfake_calls(&b->vf, VFAKE_MODIFY_QP), calls + !err, "%s",
				    values[i].what);
	}
	/* In SQD a path alone says the port too: after a migration nobody else knows it. */
	KUNIT_EXPECT_EQ(test, qp->port, 1);
	KUNIT_EXPECT_EQ(test, ib_qp_modify(qp, &attr, IB_QP_AV, NULL), 0);
	KUNIT_EXPECT_EQ(test, qp->port, 2);
	ib_qp_destroy(qp);
	ib_cq_destroy(cq);
	ib_pd_destroy(pd);
	bench_unregister(b);
}

/* The codes against the names that links have. */
static void rates(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ib_rate(0), 0);
	KUNIT_EXPECT_EQ(test, ib_rate(1), 0);
	KUNIT_EXPECT_EQ(test, ib_rate(2), 25);		/* 1X SDR */
	KUNIT_EXPECT_EQ(test, ib_rate(3), 4 * 25);	/* 4X SDR */
	KUNIT_EXPECT_EQ(test, ib_rate(5), 50);		/* 1X DDR */
	KUNIT_EXPECT_EQ(test, ib_rate(7), 4 * 100);	/* 4X QDR */
	KUNIT_EXPECT_EQ(test, ib_rate(12), 4 * 140);	/* 4X FDR */
	KUNIT_EXPECT_EQ(test, ib_rate(16), 4 * 250);	/* 4X EDR */
	KUNIT_EXPECT_EQ(test, ib_rate(255), 0);
}

static struct kunit_case qp_values_cases[] = {
	KUNIT_CASE(qp_values_are_checked),
	KUNIT_CASE(rates),
	{}
};

static struct kunit_suite qp_values_suite = {
	.name = "qp_values",
	LR_SUITE_HOOKS,
	.test_cases = qp_values_cases,
};

kunit_test_suite(qp_values_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the values of QP attributes");
