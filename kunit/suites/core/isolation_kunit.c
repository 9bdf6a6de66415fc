// SPDX-License-Identifier: GPL-2.0-only
/*
 * First report: "HCA 0 was disabled and the interfaces of HCA 1 vanished; tools bound to the first
 * HCA stopped working; two removal flows ran at once". Removal of one HCA touches what is on it, in
 * either order and by any number of flows; the other one works on, even if the first is stuck; and
 * the same HCA comes back.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

struct two {
	struct fake_hca *hca[2];
	struct fake_service *mad;
	struct fake_client *ipoib;
	struct fake_client *umad;
	struct ib_hca *second;
	unsigned int seen[2];
};

/* Which HCA's device did the client leave? */
static void count_hook(struct fake_client *fc, struct ib_attachment *attachment, const char *where)
{
	struct two *t = fc->data;

	if (!strcmp(where, "remove_one"))
		t->seen[attachment->device->hca == t->second]++;
}

static struct two *two_create(struct kunit *test)
{
	struct two *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->mad = fake_service_create(test, "mad", NULL, NULL);
	t->ipoib = fake_client_create(test, "ipoib");
	t->umad = fake_client_create(test, "umad");
	fake_client_needs(t->ipoib, t->mad);
	fake_client_needs(t->umad, t->mad);
	t->ipoib->data = t;
	t->ipoib->hook = count_hook;
	t->hca[0] = fake_hca_create(test, "lr-hca0");
	t->hca[1] = fake_hca_create(test, "lr-hca1");
	t->second = t->hca[1]->hca;
	KUNIT_ASSERT_EQ(test, fake_service_register(t->mad), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(t->ipoib), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(t->umad), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(t->hca[0]), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(t->hca[1]), 0);
	KUNIT_ASSERT_EQ(test, atomic_read(&t->ipoib->adds), 2);
	return t;
}

static void expect_works(struct kunit *test, struct two *t, int which)
{
	struct ib_device *device = fake_device(t->hca[which]);

	KUNIT_ASSERT_NOT_NULL(test, device);
	KUNIT_EXPECT_TRUE(test, fake_is_live(t->hca[which]));
	KUNIT_ASSERT_EQ(test, ib_device_enter(device), 0);
	ib_device_exit(device);
	KUNIT_EXPECT_EQ(test, t->seen[which], 0U);
}

static void remove_one_keep_other(struct kunit *test, int gone)
{
	struct two *t = two_create(test);

	KUNIT_EXPECT_EQ(test, fake_hca_remove(t->hca[gone]), 0);
	KUNIT_EXPECT_EQ(test, t->seen[gone], 1U);
	expect_works(test, t, !gone);
	/* Both clients' agents on the other one are called back still. */
	KUNIT_EXPECT_EQ(test, fake_service_deliver(t->mad), 2U);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(t->hca[!gone]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->ipoib->removes), 2);
}

static void isolation_first_leaves(struct kunit *test)
{
	remove_one_keep_other(test, 0);
}

static void isolation_second_leaves(struct kunit *test)
{
	remove_one_keep_other(test, 1);
}

/* Both leave at once: two teardowns, each of its own. */
static void isolation_both_at_once(struct kunit *test)
{
	struct two *t = two_create(test);
	struct fake_flow a, b;

	fake_flow_start(&a, fake_run_remove, t->hca[0]);
	fake_flow_start(&b, fake_run_remove, t->hca[1]);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&a), 0);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&b), 0);
	KUNIT_EXPECT_EQ(test, t->seen[0], 1U);
	KUNIT_EXPECT_EQ(test, t->seen[1], 1U);
}

/* One HCA leaves by two flows: one teardown, both return when it is over. */
static void isolation_two_flows_one_hca(struct kunit *test)
{
	struct two *t = two_create(test);
	struct fake_flow a, b;

	fake_flow_start(&a, fake_run_unbind, t->hca[0]);
	fake_flow_start(&b, fake_run_remove, t->hca[0]);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&a), 0);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&b), 0);
	KUNIT_EXPECT_EQ(test, t->seen[0], 1U);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->hca[0]->device_stops), 1);
	expect_works(test, t, 1);
}

/* The same HCA comes back, under the same name, and its clients with it. */
static void isolation_comes_back(struct kunit *test)
{
	struct two *t = two_create(test);
	char before[IB_DEVICE_NAME_MAX], after[IB_DEVICE_NAME_MAX];
	int i;

	ib_device_name(fake_device(t->hca[0]), before);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, fake_hca_unbind(t->hca[0]), 0);
		KUNIT_ASSERT_EQ(test, fake_hca_bind(t->hca[0]), 0);
		ib_device_name(fake_device(t->hca[0]), after);
		KUNIT_EXPECT_STREQ(test, before, after);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&t->ipoib->adds), 12);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->ipoib->removes), 10);
	KUNIT_EXPECT_EQ(test, t->seen[1], 0U);
}

/* The first HCA's teardown hangs on a client: the second one's does not. */
static void isolation_stuck_one_other_leaves(struct kunit *test)
{
	struct two *t = two_create(test);
	struct fake_flow a, b;

	t->umad->stuck_in = "remove_one";
	fake_flow_start(&a, fake_run_remove, t->hca[0]);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&t->umad->removes) == 1, 1000));
	t->umad->stuck_in = NULL;
	fake_flow_start(&b, fake_run_remove, t->hca[1]);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&b), 0);
	KUNIT_EXPECT_FALSE(test, completion_done(&a.done));
	complete(&t->umad->hold);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&a), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->umad->removes), 2);
}

/* One is lost: the other is not told. */
static void isolation_one_is_lost(struct kunit *test)
{
	struct two *t = two_create(test);

	ib_hca_hold(t->hca[0]->hca, IB_HOLD_ERROR);
	ib_hca_gone(t->hca[0]->hca, "unplugged");
	ib_hca_settle(t->hca[0]->hca);
	KUNIT_EXPECT_NULL(test, fake_device(t->hca[0]));
	KUNIT_EXPECT_EQ(test, (int)t->ipoib->last_reason, (int)IB_RESET);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->hca[1]->aborts), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->hca[1]->quiets), 0);
	expect_works(test, t, 1);
}

static struct kunit_case isolation_cases[] = {
	KUNIT_CASE(isolation_first_leaves),
	KUNIT_CASE(isolation_second_leaves),
	KUNIT_CASE(isolation_both_at_once),
	KUNIT_CASE(isolation_two_flows_one_hca),
	KUNIT_CASE(isolation_comes_back),
	KUNIT_CASE(isolation_stuck_one_other_leaves),
	KUNIT_CASE(isolation_one_is_lost),
	{}
};

static struct kunit_suite isolation_suite = {
	.name = "ib_removal_touches_one_hca_only",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = isolation_cases,
};

kunit_test_suite(isolation_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Removal of one HCA leaves the others alone");
