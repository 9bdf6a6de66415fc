// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removal of an idle device waits for at most two grace periods, whatever the number of clients and
 * services.
 *
 * Counted, not timed: probes on the functions by which one can wait for RCU count the calls made by
 * the HCA's lifecycle thread, by the items of its clients and by whoever called remove().  The
 * counts behind a gate are switched over by call_rcu(); those that drain together are one wait.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "fake.h"

#ifdef CONFIG_KPROBES

#define GRACE_SERVICES 4
#define GRACE_CLIENTS 6

static const char *const names[GRACE_SERVICES] = { "mad", "sa", "multicast", "cm" };

static atomic_t waits;
static atomic_t closings;

/* Other tasks of the machine wait for RCU too. */
static bool ours(void)
{
	return !strncmp(current->comm, "ib/", 3) || !strncmp(current->comm, "kunit", 5) ||
	       (current->flags & PF_WQ_WORKER && strstr(current->comm, "ib/"));
}

static int count_wait(struct kprobe *probe, struct pt_regs *regs)
{
	if (ours())
		atomic_inc(&waits);
	return 0;
}

static int count_closing(struct kprobe *probe, struct pt_regs *regs)
{
	if (ours())
		atomic_inc(&closings);
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "synchronize_rcu", .pre_handler = count_wait },
	{ .symbol_name = "synchronize_rcu_expedited", .pre_handler = count_wait },
	{ .symbol_name = "synchronize_srcu", .pre_handler = count_wait },
	{ .symbol_name = "rcu_barrier", .pre_handler = count_wait },
	{ .symbol_name = "percpu_ref_kill_and_confirm", .pre_handler = count_closing },
};

static void unprobe(void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].addr)
			unregister_kprobe(&probes[i]);
}

static void probe(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		probes[i].addr = NULL;
		KUNIT_ASSERT_EQ(test, register_kprobe(&probes[i]), 0);
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unprobe, NULL), 0);
	atomic_set(&waits, 0);
	atomic_set(&closings, 0);
}

static void grace_periods(struct kunit *test)
{
	struct fake_service *fs[GRACE_SERVICES];
	struct fake_client *fc;
	struct fake_hca *fake;
	int i, j;

	for (i = 0; i < GRACE_SERVICES; i++) {
		fs[i] = fake_service_create(test, names[i], i ? fs[i - 1] : NULL, NULL);
		KUNIT_ASSERT_EQ(test, fake_service_register(fs[i]), 0);
	}
	for (i = 0; i < GRACE_CLIENTS; i++) {
		fc = fake_client_create(test, "grace");
		for (j = 0; j < GRACE_SERVICES; j++)
			fake_client_needs(fc, fs[j]);
		KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	}
	fake = fake_hca_create(test, "lr-grace");
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	probe(test);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(fake), 0);
	kunit_info(test, "%d waits for RCU, %d gates closed\n", atomic_read(&waits),
		   atomic_read(&closings));
	/* The device's two gates drain together, then the HCA's. */
	KUNIT_EXPECT_EQ(test, atomic_read(&waits), 0);
	KUNIT_EXPECT_LE(test, atomic_read(&closings), 3);
	KUNIT_EXPECT_GE(test, atomic_read(&closings), 2);
}

static struct kunit_case grace_cases[] = {
	KUNIT_CASE(grace_periods),
	{}
};

static struct kunit_suite grace_suite = {
	.name = "ib_removal_waits_for_two_grace_periods",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = grace_cases,
};

kunit_test_suite(grace_suite);

#endif /* CONFIG_KPROBES */

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Grace periods of a removal, counted");
