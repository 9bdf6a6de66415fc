// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine goes to sleep, or down: what the notifiers of ib_core do to all HCAs.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <ib/power.h>

#include "fake.h"

#define POWER_HCAS 2

struct plant {
	struct fake_service *mad;
	struct fake_client *umad;
	struct fake_hca *hca[POWER_HCAS];
};

static void power_restore(void *unused)
{
	ib_power_wake();
	ib_power_down_undone();
}

static struct plant *plant_create(struct kunit *test)
{
	struct plant *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, power_restore, NULL), 0);
	p->mad = fake_service_create(test, "mad", NULL, NULL);
	p->umad = fake_client_create(test, "umad");
	fake_client_needs(p->umad, p->mad);
	KUNIT_ASSERT_EQ(test, fake_service_register(p->mad), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(p->umad), 0);
	for (i = 0; i < POWER_HCAS; i++) {
		p->hca[i] = fake_hca_create(test, i ? "lr-power-1" : "lr-power-0");
		KUNIT_ASSERT_EQ(test, fake_hca_up(p->hca[i]), 0);
	}
	return p;
}

static bool power_all_live(struct plant *p)
{
	return fake_is_live(p->hca[0]) && fake_is_live(p->hca[1]);
}

static int run_sleep(void *unused)
{
	ib_power_sleep();
	return 0;
}

static int run_down(void *unused)
{
	ib_power_down();
	return 0;
}

/* Before it sleeps everything is down, hardware included, and stays down until it has woken. */
static void power_sleep_takes_all_down(struct kunit *test)
{
	struct plant *p = plant_create(test);
	int i;

	ib_power_sleep();
	for (i = 0; i < POWER_HCAS; i++) {
		KUNIT_EXPECT_NULL(test, fake_device(p->hca[i]));
		KUNIT_EXPECT_FALSE(test, p->hca[i]->alive);
		KUNIT_EXPECT_EQ(test, atomic_read(&p->hca[i]->releases), 1);
		/* What .suspend asks then has been done already. */
		KUNIT_EXPECT_EQ(test, ib_hca_ensure_stopped(p->hca[i]->hca), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&p->hca[i]->aborts), 0);
	}
	KUNIT_EXPECT_EQ(test, (int)p->umad->last_reason, (int)IB_RESET);
	fake_advance(p->hca[0], 60000);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca[0]->starts), 1);
	ib_power_wake();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(power_all_live(p), 10000));
	KUNIT_EXPECT_EQ(test, atomic_read(&p->umad->adds), 2 * POWER_HCAS);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->umad->removes), POWER_HCAS);
}

/* One that is plugged in meanwhile waits like the others. */
static void power_added_while_asleep(struct kunit *test)
{
	struct plant *p = plant_create(test);
	struct fake_hca *late = fake_hca_create(test, "lr-power-late");

	ib_power_sleep();
	KUNIT_ASSERT_EQ(test, fake_hca_up(late), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&late->starts), 0);
	ib_power_wake();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(fake_is_live(late) && power_all_live(p), 10000));
}

/* One that is pulled out while the others sleep leaves for good. */
static void power_removed_while_asleep(struct kunit *test)
{
	struct plant *p = plant_create(test);

	ib_power_sleep();
	KUNIT_EXPECT_EQ(test, fake_hca_remove(p->hca[0]), 0);
	ib_power_wake();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(fake_is_live(p->hca[1]), 10000));
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca[0]->starts), 1);
}

/* A client that does not return keeps the machine from sleeping for 15 seconds, not for ever. */
static void power_sleep_is_bounded(struct kunit *test)
{
	struct plant *p = plant_create(test);
	struct fake_client *bad = fake_client_create(test, "bad");
	struct fake_flow flow;

	KUNIT_ASSERT_EQ(test, fake_client_register(bad), 0);
	bad->stuck_in = "remove_one";
	fake_flow_start(&flow, run_sleep, NULL);
	KUNIT_EXPECT_TRUE(test, FAKE_PASS_UNTIL(p->hca[0], p->hca[0]->hca->quarantined, 250,
						15500));
	KUNIT_EXPECT_TRUE(test, fake_advance_to(p->hca[1], &flow.done, 15500));
	fake_flow_join(&flow);
	KUNIT_EXPECT_FALSE(test, p->hca[0]->alive || p->hca[1]->alive);
	bad->stuck_in = NULL;
	complete_all(&bad->hold);
}

/* All at once: one that is kept up does not keep the others up. */
static void power_down_in_parallel(struct kunit *test)
{
	struct plant *p = plant_create(test);
	struct fake_flow flow;

	KUNIT_ASSERT_EQ(test, ib_device_enter(fake_device(p->hca[0])), 0);
	fake_flow_start(&flow, run_down, NULL);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(p->hca[1]->hca->halted), 10000));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(p->hca[0]->hca->halted));
	KUNIT_EXPECT_FALSE(test, p->hca[1]->alive);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(p->hca[0], &flow.done, 2000));
	ib_device_exit(fake_device(p->hca[0]));
	fake_flow_join(&flow);
	KUNIT_EXPECT_FALSE(test, p->hca[0]->alive);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->umad->closings) + atomic_read(&p->umad->removes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca[0]->releases), 0);
}

/* Nothing comes up any more: neither a new HCA nor one that was being recovered. */
static void power_down_is_for_good(struct kunit *test)
{
	struct plant *p = plant_create(test);
	struct fake_hca *late = fake_hca_create(test, "lr-power-late");

	ib_hca_hold(p->hca[0]->hca, IB_HOLD_ERROR);
	ib_hca_gone(p->hca[0]->hca, "the test says so");
	ib_hca_settle(p->hca[0]->hca);
	ib_power_down();
	ib_hca_permit(p->hca[0]->hca, IB_HOLD_ERROR);
	fake_advance(p->hca[0], 60000);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca[0]->starts), 1);
	KUNIT_EXPECT_FALSE(test, p->hca[0]->alive || p->hca[1]->alive);
	KUNIT_EXPECT_EQ(test, fake_hca_add(late), -ESHUTDOWN);
}

static struct kunit_case power_cases[] = {
	KUNIT_CASE(power_sleep_takes_all_down),
	KUNIT_CASE(power_added_while_asleep),
	KUNIT_CASE(power_removed_while_asleep),
	KUNIT_CASE(power_sleep_is_bounded),
	KUNIT_CASE(power_down_in_parallel),
	KUNIT_CASE(power_down_is_for_good),
	{}
};

static struct kunit_suite power_suite = {
	.name = "ib_machine_sleeps_or_goes_down",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = power_cases,
};

kunit_test_suite(power_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What the machine does to all HCAs at once");
