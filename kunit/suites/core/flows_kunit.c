// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any flows at once make one teardown and end with the highest goal.
 *
 * Every ordered pair of the flows that can hit an HCA runs at the same time on a device with three
 * services and three clients. Afterwards the HCA is where the higher goal of the two puts it, every
 * add has exactly one remove, and no promise was broken (fake.c counts).
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

#define PARTS 3

/**
 * struct arena - what the flows meet in
 * @hca: the HCA
 * @fs: mad, sa, multicast
 * @fc: three clients
 * @late_fs: registered by a flow
 * @late_fc: registered by a flow
 */
struct arena {
	struct fake_hca *hca;
	struct fake_service *fs[PARTS];
	struct fake_client *fc[PARTS];
	struct fake_service *late_fs;
	struct fake_client *late_fc;
};

static struct arena *arena_create(struct kunit *test)
{
	struct arena *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, a);
	a->fs[0] = fake_service_create(test, "mad", NULL, NULL);
	a->fs[1] = fake_service_create(test, "sa", a->fs[0], NULL);
	a->fs[2] = fake_service_create(test, "multicast", a->fs[1], NULL);
	a->late_fs = fake_service_create(test, "cm", a->fs[1], NULL);
	a->fc[0] = fake_client_create(test, "umad");
	a->fc[1] = fake_client_create(test, "ipoib");
	a->fc[2] = fake_client_create(test, "uverbs");
	a->late_fc = fake_client_create(test, "late");
	fake_client_needs(a->fc[0], a->fs[0]);
	fake_client_needs(a->fc[1], a->fs[1]);
	fake_client_needs(a->fc[1], a->fs[2]);
	fake_client_needs(a->late_fc, a->fs[0]);
	a->hca = fake_hca_create(test, "lr-flows");
	for (i = 0; i < PARTS; i++) {
		KUNIT_ASSERT_EQ(test, fake_service_register(a->fs[i]), 0);
		KUNIT_ASSERT_EQ(test, fake_client_register(a->fc[i]), 0);
	}
	KUNIT_ASSERT_EQ(test, fake_hca_up(a->hca), 0);
	for (i = 0; i < PARTS; i++)
		KUNIT_ASSERT_EQ(test, atomic_read(&a->fc[i]->adds), 1);
	return a;
}

/* ---- the flows ---- */

static int flow_remove(void *arg)
{
	struct arena *a = arg;

	return fake_hca_remove(a->hca);
}

static int flow_unbind(void *arg)
{
	struct arena *a = arg;

	return fake_hca_unbind(a->hca);
}

static int flow_fatal(void *arg)
{
	struct arena *a = arg;

	ib_hca_gone(a->hca->hca, "a fatal error");
	return 0;
}

static int flow_reset(void *arg)
{
	struct arena *a = arg;

	ib_hca_raise(a->hca->hca, IB_GOAL_RESET);
	ib_hca_settle(a->hca->hca);
	return 0;
}

/* error_detected, then resume */
static int flow_aer(void *arg)
{
	struct arena *a = arg;

	ib_hca_hold(a->hca->hca, IB_HOLD_ERROR);
	ib_hca_gone(a->hca->hca, "a PCI error");
	cond_resched();
	ib_hca_permit(a->hca->hca, IB_HOLD_ERROR);
	return 0;
}

/* PREPARE, .suspend, POST */
static int flow_sleep(void *arg)
{
	struct arena *a = arg;

	ib_hca_hold(a->hca->hca, IB_HOLD_SLEEP);
	ib_hca_raise(a->hca->hca, IB_GOAL_SUSPEND);
	ib_hca_settle(a->hca->hca);
	ib_hca_permit(a->hca->hca, IB_HOLD_SLEEP);
	return 0;
}

static int flow_shutdown(void *arg)
{
	struct arena *a = arg;

	ib_hca_shutdown(a->hca->hca);
	return 0;
}

static int flow_client_leaves(void *arg)
{
	struct arena *a = arg;

	fake_client_unregister(a->fc[1]);
	return 0;
}

static int flow_client_comes(void *arg)
{
	struct arena *a = arg;

	return fake_client_register(a->late_fc);
}

static int flow_service_leaves(void *arg)
{
	struct arena *a = arg;

	fake_service_unregister(a->fs[2]);
	return 0;
}

static int flow_service_comes(void *arg)
{
	struct arena *a = arg;

	return fake_service_register(a->late_fs);
}

static const struct flow {
	const char *name;
	int (*run)(void *arg);
	bool removes;
	bool unbinds;
	bool halts;
} flows[] = {
	{ "remove", flow_remove, .removes = true },
	{ "unbind", flow_unbind, .unbinds = true },
	{ "fatal", flow_fatal },
	{ "reset", flow_reset },
	{ "aer", flow_aer },
	{ "sleep", flow_sleep },
	{ "shutdown", flow_shutdown, .halts = true },
	{ "client_leaves", flow_client_leaves },
	{ "client_comes", flow_client_comes },
	{ "service_leaves", flow_service_leaves },
	{ "service_comes", flow_service_comes },
};

struct pair {
	const struct flow *first;
	const struct flow *second;
};

static struct pair pair_of(unsigned int n)
{
	return (struct pair){ &flows[n / ARRAY_SIZE(flows)], &flows[n % ARRAY_SIZE(flows)] };
}

/* Parameters are numbers from 1; one flow twice makes sense only where a second caller may come. */
static bool pair_makes_sense(unsigned int n)
{
	struct pair p = pair_of(n);

	return p.first != p.second || p.first->halts ||
	       (p.first - flows >= 2 && p.first - flows <= 5);
}

static const void *pair_gen(const void *prev, char *desc)
{
	unsigned int n = (uintptr_t)prev;

	for (; n < ARRAY_SIZE(flows) * ARRAY_SIZE(flows); n++) {
		if (!pair_makes_sense(n))
			continue;
		snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s and %s", pair_of(n).first->name,
			 pair_of(n).second->name);
		return (void *)(uintptr_t)(n + 1);
	}
	return NULL;
}

static bool is_where(struct arena *a, bool halted, bool removed, bool unbound)
{
	struct ib_hca *hca = a->hca->hca;

	if (removed)
		return !hca->device && !hca->up && hca->ended;
	if (halted)
		return hca->halted && !a->hca->alive && (!unbound || !hca->device);
	if (unbound)
		return !hca->device && hca->up && !hca->provider;
	return hca->idle && fake_is_live(a->hca);
}

static void expect_once(struct kunit *test, struct fake_client *fc, bool there)
{
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&fc->adds), atomic_read(&fc->removes) + there, "%s",
			    fc->client.name);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&fc->removes), atomic_read(&fc->frees), "%s",
			    fc->client.name);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->refused), 0);
}

static void flows_pair(struct kunit *test)
{
	struct pair p = pair_of((uintptr_t)test->param_value - 1);
	struct arena *a = arena_create(test);
	struct fake_flow one, two;
	bool halted, removed, unbound, there;

	halted = p.first->halts || p.second->halts;
	removed = p.first->removes || p.second->removes;
	unbound = p.first->unbinds || p.second->unbinds;
	fake_flow_start(&one, p.first->run, a);
	fake_flow_start(&two, p.second->run, a);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(a->hca, &one.done, 30000));
	KUNIT_EXPECT_TRUE(test, fake_advance_to(a->hca, &two.done, 30000));
	fake_flow_join(&one);
	fake_flow_join(&two);
	KUNIT_EXPECT_TRUE(test, FAKE_PASS_UNTIL(a->hca, is_where(a, halted, removed, unbound), 250,
						10000));
	KUNIT_EXPECT_EQ(test, a->hca->hca->quarantined, 0U);
	there = !removed && !unbound;
	if (halted && there)
		return;
	expect_once(test, a->fc[0], there);
	expect_once(test, a->fc[2], there);
	KUNIT_EXPECT_EQ(test, atomic_read(&a->hca->creates),
			atomic_read(&a->hca->device_stops) + there);
}

static struct kunit_case flows_cases[] = {
	KUNIT_CASE_PARAM(flows_pair, pair_gen),
	{}
};

static struct kunit_suite flows_suite = {
	.name = "ib_flows_at_once_are_one_teardown",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = flows_cases,
};

kunit_test_suite(flows_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Every pair of flows at once");
