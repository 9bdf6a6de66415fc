// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients that never return, references that are never put, callbacks that hang: each is named at
 * its threshold, remove() returns in 15 seconds of the clock, what is left is listed, the hardware
 * is quiet, another HCA is untouched, and the HCA comes back beside what was left.
 *
 * Time is the fake clock of the HCA; no test sleeps for a second.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

struct pit {
	struct fake_service *mad;
	struct fake_client *bad;
	struct fake_client *good;
	struct fake_hca *hca;
	struct fake_hca *other;
};

static struct pit *pit_create(struct kunit *test, const char *stuck_in)
{
	struct pit *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->mad = fake_service_create(test, "mad", NULL, NULL);
	p->bad = fake_client_create(test, "bad");
	p->good = fake_client_create(test, "good");
	fake_client_needs(p->bad, p->mad);
	fake_client_needs(p->good, p->mad);
	p->hca = fake_hca_create(test, "lr-pit");
	p->other = fake_hca_create(test, "lr-other");
	KUNIT_ASSERT_EQ(test, fake_service_register(p->mad), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(p->good), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(p->other), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(p->hca), 0);
	p->bad->stuck_in = stuck_in;
	return p;
}

static u64 age(struct fake_hca *fake, u64 start)
{
	return atomic64_read(&fake->now) - start;
}

/* Run a flow with the clock going; returns how many milliseconds of it the flow took. */
static u64 timed(struct kunit *test, struct fake_hca *fake, int (*run)(void *arg), int *result)
{
	u64 start = atomic64_read(&fake->now);
	struct fake_flow flow;

	fake_flow_start(&flow, run, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 60000));
	*result = fake_flow_join(&flow);
	return age(fake, start);
}

static void expect_other_untouched(struct kunit *test, struct pit *p)
{
	KUNIT_EXPECT_TRUE(test, fake_is_live(p->other));
	KUNIT_EXPECT_EQ(test, atomic_read(&p->other->aborts), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->other->device_stops), 0);
	KUNIT_EXPECT_EQ(test, p->other->hca->quarantined, 0U);
}

/* A reset takes its time, in which the thread looks at no clock. */
static void slow_reset(struct fake_hca *fake, const char *where)
{
	if (!strcmp(where, "reset"))
		atomic64_add(3000, &fake->now);
}

/*
 * Whoever waits for its work requests gets them after the reset that follows GONE, at 13 s here; it
 * still has the time that was meant for it, and nobody is left behind.
 */
static void deadline_slow_reset(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct fake_flow flow;

	KUNIT_ASSERT_EQ(test, fake_client_register(p->bad), 0);
	p->bad->stuck_in = "remove_one";
	p->hca->hook = slow_reset;
	fake_flow_start(&flow, fake_run_remove, p->hca);
	FAKE_PASS_UNTIL(p->hca, atomic_read(&p->hca->flushes), 250, 15000);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca->flushes), 1);
	KUNIT_EXPECT_GE(test, age(p->hca, p->hca->hca->teardown.start), 13000ULL);
	fake_advance(p->hca, 1000);
	complete_all(&p->bad->hold);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(p->hca, &flow.done, 5000));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ(test, p->bad->client.stuck, 0U);
	KUNIT_EXPECT_EQ(test, p->hca->hca->quarantined, 0U);
	expect_other_untouched(test, p);
}

/* And if it does not return even so, the end is where it always is. */
static void deadline_slow_reset_in_vain(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	int result;
	u64 took;

	KUNIT_ASSERT_EQ(test, fake_client_register(p->bad), 0);
	p->bad->stuck_in = "remove_one";
	p->hca->hook = slow_reset;
	took = timed(test, p->hca, fake_run_remove, &result);
	KUNIT_EXPECT_EQ(test, result, -EBUSY);
	KUNIT_EXPECT_GE(test, took, 15000ULL);
	KUNIT_EXPECT_LE(test, took, 15500ULL);
	complete_all(&p->bad->hold);
	fake_client_unregister(p->bad);
}

/* A client that never returns from its callback. */
static void stuck_client(struct kunit *test, const char *where)
{
	struct pit *p = pit_create(test, NULL);
	int result;
	u64 took;

	KUNIT_ASSERT_EQ(test, fake_client_register(p->bad), 0);
	p->bad->stuck_in = where;
	took = timed(test, p->hca, fake_run_remove, &result);
	KUNIT_EXPECT_EQ(test, result, -EBUSY);
	KUNIT_EXPECT_GE(test, took, 15000ULL);
	KUNIT_EXPECT_LE(test, took, 15500ULL);
	KUNIT_EXPECT_FALSE(test, p->hca->alive);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca->aborts), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->good->removes), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->mad->stops), 1);
	KUNIT_EXPECT_EQ(test, p->hca->hca->quarantined, 1U);
	expect_other_untouched(test, p);
	complete_all(&p->bad->hold);
	fake_client_unregister(p->bad);
}

static void deadline_stuck_remove_one(struct kunit *test)
{
	stuck_client(test, "remove_one");
}

static void deadline_stuck_closing(struct kunit *test)
{
	stuck_client(test, "closing");
}

/* Stuck in add_one: the device becomes LIVE without it, and goes without it. */
static void deadline_stuck_add_one(struct kunit *test)
{
	struct pit *p = pit_create(test, "add_one");
	struct fake_flow flow;
	int result;
	u64 took;

	fake_flow_start(&flow, fake_run_client_register, p->bad);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&p->bad->entered) == 2, 1000));
	KUNIT_EXPECT_TRUE(test, fake_is_live(p->hca));
	took = timed(test, p->hca, fake_run_remove, &result);
	KUNIT_EXPECT_EQ(test, result, -EBUSY);
	KUNIT_EXPECT_LE(test, took, 15500ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->good->removes), 1);
	complete_all(&p->bad->hold);
	fake_flow_join(&flow);
	KUNIT_EXPECT_TRUE(test, fake_is_live(p->other));
}

/* One slow client does not make the others wait for longer than the polite time. */
static void deadline_others_are_asked(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct fake_flow flow;
	u64 start;

	/* The newest attachment is asked first: the bad one. */
	KUNIT_ASSERT_EQ(test, fake_client_register(p->bad), 0);
	p->bad->stuck_in = "remove_one";
	fake_flow_start(&flow, fake_run_remove, p->hca);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&p->bad->removes) == 1, 1000));
	start = atomic64_read(&p->hca->now);
	FAKE_PASS_UNTIL(p->hca, atomic_read(&p->good->removes), 250, 15000);
	KUNIT_EXPECT_GE(test, age(p->hca, start), 2750ULL);
	KUNIT_EXPECT_LE(test, age(p->hca, start), 3500ULL);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&p->mad->cancels) == 1, 1000));
	complete_all(&p->bad->hold);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
}

/* It returns after it was given up: its remains are reaped, and it gets other devices again. */
static void deadline_client_returns_late(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	int result;

	KUNIT_ASSERT_EQ(test, fake_client_register(p->bad), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->bad->adds), 2);
	p->bad->stuck_in = "remove_one";
	timed(test, p->hca, fake_run_unbind, &result);
	KUNIT_EXPECT_EQ(test, result, -EBUSY);
	/* The provider is bound again at once: another device, another name, without the client. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(p->hca->hca->idle, 1000));
	KUNIT_ASSERT_EQ(test, fake_hca_bind(p->hca), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(fake_is_live(p->hca), 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&p->bad->adds), 2);
	p->bad->stuck_in = NULL;
	complete_all(&p->bad->hold);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&p->bad->adds) == 3, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&p->bad->frees), 1);
	KUNIT_EXPECT_EQ(test, p->bad->client.stuck, 0U);
}

static int run_unregister_held(void *fc)
{
	ib_client_unregister(&((struct fake_client *)fc)->client);
	return 0;
}

/* The client's module leaves while its remove_one hangs: not bounded, but nothing else waits. */
static void deadline_stuck_unregister(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct fake_flow flow;
	int result, i;

	KUNIT_ASSERT_EQ(test, fake_client_register(p->bad), 0);
	p->bad->stuck_in = "remove_one";
	/* Without what fake_client_unregister() does for the end of a test: let the client go. */
	p->bad->registered = false;
	fake_flow_start(&flow, run_unregister_held, p->bad);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&p->bad->removes) == 2, 1000));
	timed(test, p->hca, fake_run_remove, &result);
	KUNIT_EXPECT_EQ(test, result, -EBUSY);
	for (i = 0; i < 20; i++)
		fake_advance(p->other, 1000);
	KUNIT_EXPECT_FALSE(test, completion_done(&flow.done));
	expect_other_untouched(test, p);
	complete_all(&p->bad->hold);
	fake_flow_join(&flow);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->bad->removes), 2);
}

/* ---- references ---- */

static void deadline_lost_reference(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct ib_holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL);
	struct ib_device *device = fake_device(p->hca);
	char old[IB_DEVICE_NAME_MAX], new[IB_DEVICE_NAME_MAX];
	int result;
	u64 took;

	KUNIT_ASSERT_EQ(test, ib_device_hold(device, holder, "a lost reference"), 0);
	ib_device_name(device, old);
	took = timed(test, p->hca, fake_run_unbind, &result);
	KUNIT_EXPECT_EQ(test, result, -EBUSY);
	KUNIT_EXPECT_GE(test, took, 15000ULL);
	KUNIT_EXPECT_LE(test, took, 15500ULL);
	KUNIT_EXPECT_EQ(test, (int)ib_device_state(device), (int)IB_DEVICE_QUARANTINED);
	KUNIT_EXPECT_EQ(test, p->hca->hca->quarantined, 1U);
	KUNIT_EXPECT_FALSE(test, list_empty(&device->quarantine_node));
	KUNIT_EXPECT_EQ(test, ib_device_enter(device), -EIO);
	expect_other_untouched(test, p);

	/* It comes back beside it, under another name; the late put is harmless. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(p->hca->hca->idle, 1000));
	KUNIT_ASSERT_EQ(test, fake_hca_bind(p->hca), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(fake_is_live(p->hca), 1000));
	ib_device_name(fake_device(p->hca), new);
	KUNIT_EXPECT_STRNEQ(test, old, new);
	ib_device_drop(holder);
	kfree(holder);
	KUNIT_EXPECT_EQ(test, (int)ib_device_state(device), (int)IB_DEVICE_QUARANTINED);
}

/* Given back in time: nobody hears of it. */
static void deadline_slow_reference(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct ib_device *device = fake_device(p->hca);
	struct ib_holder holder = {};
	struct fake_flow flow;
	int i;

	KUNIT_ASSERT_EQ(test, ib_device_hold(device, &holder, "slow"), 0);
	fake_flow_start(&flow, fake_run_unbind, p->hca);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(ib_device_state(device) == IB_DEVICE_STOPPED, 1000));
	KUNIT_EXPECT_EQ(test, ib_device_hold(device, &holder, "too late"), -ENODEV);
	for (i = 0; i < 8; i++)
		fake_advance(p->hca, 1000);
	KUNIT_EXPECT_FALSE(test, completion_done(&flow.done));
	ib_device_drop(&holder);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca->aborts), 0);
}

/* Every threshold at its time: polite 3 s, names 5 s, GONE 10 s, quarantine 15 s. */
static void deadline_thresholds(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct ib_holder *holder = kzalloc(sizeof(*holder), GFP_KERNEL);
	struct ib_hca *hca = p->hca->hca;
	struct fake_flow flow;
	u64 named = 0, gone = 0, end = 0, start;

	KUNIT_ASSERT_EQ(test, ib_device_hold(fake_device(p->hca), holder, "for the clock"), 0);
	fake_flow_start(&flow, fake_run_unbind, p->hca);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(hca->teardown.timed == IB_TIMED_DEVICE, 1000));
	start = hca->teardown.start;
	while (!end && age(p->hca, start) < 20000) {
		fake_settle(p->hca);
		if (!named && hca->teardown.named)
			named = age(p->hca, start);
		if (!gone && ib_hca_is_gone(hca))
			gone = age(p->hca, start);
		if (hca->quarantined)
			end = age(p->hca, start);
		else
			fake_advance(p->hca, 250);
	}
	KUNIT_EXPECT_EQ(test, named, 5000ULL);
	KUNIT_EXPECT_EQ(test, gone, 10000ULL);
	KUNIT_EXPECT_EQ(test, end, 15000ULL);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(p->hca, &flow.done, 5000));
	fake_flow_join(&flow);
	ib_device_drop(holder);
	kfree(holder);
}

/* ---- services ---- */

/* Somebody never leaves a service: it is left behind, what is below it stops. */
static void deadline_inside_service(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct fake_service *sa = fake_service_create(test, "sa", p->mad, NULL);
	struct ib_attachment *attachment = p->good->context->attachment;
	struct ib_service_instance *instance;
	int result;
	u64 took;

	KUNIT_ASSERT_EQ(test, fake_service_register(sa), 0);
	instance = ib_service_enter(attachment, &sa->service);
	KUNIT_ASSERT_FALSE(test, IS_ERR(instance));
	ib_service_get(instance);
	ib_service_exit(instance);
	took = timed(test, p->hca, fake_run_unbind, &result);
	KUNIT_EXPECT_EQ(test, result, -EBUSY);
	KUNIT_EXPECT_LE(test, took, 15500ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->closes), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->stops), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->mad->stops), 1);
	KUNIT_EXPECT_EQ(test, (int)instance->state, (int)IB_SERVICE_LEFT);
	atomic_dec(&sa->up);
	ib_service_put(instance);
}

/* It leaves in time after the service was told to cancel. */
static void cancel_hook(struct fake_service *fs, struct ib_service_instance *instance,
			const char *where)
{
	if (!strcmp(where, "cancel") && fs->data == instance) {
		fs->data = NULL;
		ib_service_put(instance);
	}
}

static void deadline_service_cancels(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);
	struct ib_service_instance *instance;
	int result;
	u64 took;

	instance = ib_service_enter(p->good->context->attachment, &p->mad->service);
	KUNIT_ASSERT_FALSE(test, IS_ERR(instance));
	ib_service_get(instance);
	ib_service_exit(instance);
	/* The last attachment of the good client is that of the second HCA brought up. */
	KUNIT_ASSERT_PTR_EQ(test, instance->device, fake_device(p->hca));
	p->mad->data = instance;
	p->mad->hook = cancel_hook;
	took = timed(test, p->hca, fake_run_unbind, &result);
	KUNIT_EXPECT_EQ(test, result, 0);
	KUNIT_EXPECT_GE(test, took, 3000ULL);
	KUNIT_EXPECT_LE(test, took, 3500ULL);
}

/* ---- the watchdog ---- */

/* The thread itself is inside a callback that waits for hardware: only GONE from outside helps. */
static void wait_for_gone(struct fake_service *fs, struct ib_service_instance *instance,
			  const char *where)
{
	struct ib_hca *hca = instance->device->hca;

	if (strcmp(where, "stop") || hca != fs->data)
		return;
	if (!LR_WAIT(ib_hca_is_gone(hca), 10000))
		fake_breach("nobody declared the hardware lost");
}

static void deadline_thread_in_callback(struct kunit *test)
{
	struct pit *p = pit_create(test, NULL);

	/* The kernel's clock with short limits: the watchdog is a timer. */
	p->hca->hca->clock = &ib_clock_real;
	p->hca->hca->limits.polite = 20;
	p->hca->hca->limits.name = 20;
	p->hca->hca->limits.gone = 50;
	p->mad->data = p->hca->hca;
	p->mad->hook = wait_for_gone;
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(p->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->hca->aborts), 1);
	p->hca->hca->limits.gone = 10000;
}

static struct kunit_case deadline_cases[] = {
	KUNIT_CASE(deadline_slow_reset),
	KUNIT_CASE(deadline_slow_reset_in_vain),
	KUNIT_CASE(deadline_stuck_remove_one),
	KUNIT_CASE(deadline_stuck_closing),
	KUNIT_CASE(deadline_stuck_add_one),
	KUNIT_CASE(deadline_others_are_asked),
	KUNIT_CASE(deadline_client_returns_late),
	KUNIT_CASE(deadline_stuck_unregister),
	KUNIT_CASE(deadline_lost_reference),
	KUNIT_CASE(deadline_slow_reference),
	KUNIT_CASE(deadline_thresholds),
	KUNIT_CASE(deadline_inside_service),
	KUNIT_CASE(deadline_service_cancels),
	KUNIT_CASE(deadline_thread_in_callback),
	{}
};

static struct kunit_suite deadline_suite = {
	.name = "ib_nothing_waits_for_ever",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = deadline_cases,
};

kunit_test_suite(deadline_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stuck clients, lost references, deadlines");
