// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wait that could deadlock is reported when the code first runs: one for each count and callback.
 *
 * Each test lets a section take a mutex and, apart from it and without any contention, lets
 * somebody wait for a teardown with that mutex held. Nothing hangs, yet lockdep has to object. It
 * is asked to do so silently, since a run of the suites fails on its reports; and in a thread of
 * its own, whose list of held locks is out of step after an objection.
 */
#include <linux/completion.h>
#include <linux/debug_locks.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "fake.h"

#ifdef CONFIG_PROVE_LOCKING

/**
 * struct trial - what a test lets its thread do
 * @fake: the HCA, up
 * @mad: a service
 * @fc: a client attached to it
 * @mutex: taken inside and held outside
 * @run: the wait
 * @objected: lockdep did
 * @done: the thread is through
 */
struct trial {
	struct fake_hca *fake;
	struct fake_service *mad;
	struct fake_client *fc;
	struct mutex *mutex; /* see above */
	void (*run)(struct trial *trial);
	bool objected;
	struct completion done;
};

static int trial_thread(void *arg)
{
	struct trial *t = arg;
	u64 chain = current->curr_chain_key;
	int depth = current->lockdep_depth;

	debug_locks_silent = 1;
	t->run(t);
	t->objected = !debug_locks;
	current->lockdep_depth = depth;
	current->curr_chain_key = chain;
	debug_locks = 1;
	debug_locks_silent = 0;
	complete(&t->done);
	return 0;
}

static struct trial *trial_create(struct kunit *test, struct mutex *mutex)
{
	struct trial *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	/* Another processor may take a lock while lockdep is off, and release it later. */
	if (num_online_cpus() > 1)
		kunit_skip(test, "lockdep can be asked in private on one processor only");
	KUNIT_ASSERT_NOT_NULL(test, t);
	t->mutex = mutex;
	init_completion(&t->done);
	t->mad = fake_service_create(test, "mad", NULL, NULL);
	t->fc = fake_client_create(test, "ipoib");
	fake_client_needs(t->fc, t->mad);
	t->fake = fake_hca_create(test, "lr-lockdep");
	t->fc->data = t;
	return t;
}

static void trial_up(struct kunit *test, struct trial *t)
{
	KUNIT_ASSERT_EQ(test, fake_service_register(t->mad), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(t->fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(t->fake), 0);
}

static bool objects(struct kunit *test, struct trial *t, void (*run)(struct trial *trial))
{
	struct task_struct *task;

	t->run = run;
	task = kthread_run(trial_thread, t, "lr-trial");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&t->done);
	return t->objected;
}

static void take(struct mutex *mutex)
{
	mutex_lock(mutex);
	mutex_unlock(mutex);
}

/* A flow that waits, with the mutex held; there is nothing to wait for. */
static void wait_held(struct trial *t)
{
	mutex_lock(t->mutex);
	ib_hca_settle(t->fake->hca);
	mutex_unlock(t->mutex);
}

static void wait_free(struct trial *t)
{
	take(t->mutex);
	ib_hca_settle(t->fake->hca);
}

static void lockdep_hardware_gate(struct kunit *test)
{
	static DEFINE_MUTEX(mutex);
	struct trial *t = trial_create(test, &mutex);

	trial_up(test, t);
	KUNIT_ASSERT_EQ(test, ib_device_enter(fake_device(t->fake)), 0);
	take(&mutex);
	ib_device_exit(fake_device(t->fake));
	KUNIT_EXPECT_TRUE(test, objects(test, t, wait_held));
}

static void lockdep_service_gate(struct kunit *test)
{
	static DEFINE_MUTEX(mutex);
	struct trial *t = trial_create(test, &mutex);
	struct ib_service_instance *instance;

	trial_up(test, t);
	instance = ib_service_enter(t->fc->context->attachment, &t->mad->service);
	KUNIT_ASSERT_FALSE(test, IS_ERR(instance));
	take(&mutex);
	ib_service_exit(instance);
	KUNIT_EXPECT_TRUE(test, objects(test, t, wait_held));
}

static void lockdep_reference(struct kunit *test)
{
	static DEFINE_MUTEX(mutex);
	struct trial *t = trial_create(test, &mutex);
	struct ib_holder holder = {};

	trial_up(test, t);
	KUNIT_ASSERT_EQ(test, ib_device_lookup_begin(fake_device(t->fake), &holder, "lookup"), 0);
	take(&mutex);
	ib_device_lookup_end(&holder);
	KUNIT_EXPECT_TRUE(test, objects(test, t, wait_held));
}

static void take_in_callback(struct fake_client *fc, struct ib_attachment *attachment,
			     const char *where)
{
	take(((struct trial *)fc->data)->mutex);
}

static void lockdep_client_callback(struct kunit *test)
{
	static DEFINE_MUTEX(mutex);
	struct trial *t = trial_create(test, &mutex);

	t->fc->hook = take_in_callback;
	trial_up(test, t);
	KUNIT_EXPECT_TRUE(test, objects(test, t, wait_held));
}

static enum ib_cb_result taking_callback(struct fake_agent *fa)
{
	take(fa->context);
	return IB_CB_DONE;
}

static void lockdep_agent_callback(struct kunit *test)
{
	static DEFINE_MUTEX(mutex);
	struct trial *t = trial_create(test, &mutex);
	struct fake_agent *fa;

	trial_up(test, t);
	fa = fake_agent_create(t->fc->context->attachment, t->mad, taking_callback, &mutex);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fa));
	KUNIT_EXPECT_EQ(test, fake_service_deliver(t->mad), 2U);
	KUNIT_EXPECT_TRUE(test, objects(test, t, wait_held));
}

/* Waiting for a teardown from inside a section needs no mutex to be wrong. */
static void wait_inside(struct trial *t)
{
	struct ib_device *device = fake_device(t->fake);

	if (ib_device_enter(device))
		return;
	ib_hca_settle(t->fake->hca);
	ib_device_exit(device);
}

static void lockdep_waits_for_itself(struct kunit *test)
{
	static DEFINE_MUTEX(mutex);
	struct trial *t = trial_create(test, &mutex);

	trial_up(test, t);
	KUNIT_EXPECT_TRUE(test, objects(test, t, wait_inside));
}

/* The same mutex, not held while waiting: no objection. */
static void lockdep_is_content(struct kunit *test)
{
	static DEFINE_MUTEX(mutex);
	struct trial *t = trial_create(test, &mutex);

	t->fc->hook = take_in_callback;
	trial_up(test, t);
	KUNIT_ASSERT_EQ(test, ib_device_enter(fake_device(t->fake)), 0);
	take(&mutex);
	ib_device_exit(fake_device(t->fake));
	KUNIT_EXPECT_FALSE(test, objects(test, t, wait_free));
}

static struct kunit_case lockdep_cases[] = {
	KUNIT_CASE(lockdep_is_content),
	KUNIT_CASE(lockdep_hardware_gate),
	KUNIT_CASE(lockdep_service_gate),
	KUNIT_CASE(lockdep_reference),
	KUNIT_CASE(lockdep_client_callback),
	KUNIT_CASE(lockdep_agent_callback),
	KUNIT_CASE(lockdep_waits_for_itself),
	{}
};

static struct kunit_suite lockdep_suite = {
	.name = "ib_lockdep_knows_every_count",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = lockdep_cases,
};

kunit_test_suite(lockdep_suite);

#endif /* CONFIG_PROVE_LOCKING */

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A wait that could deadlock is reported at once");
