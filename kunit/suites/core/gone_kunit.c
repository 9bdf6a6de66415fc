// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hardware is lost at each step of a life: while it comes up, while it is there, while it goes.
 *
 * Each step is a callback of the HCA, of a service or of a client; ib_hca_gone() is called from its
 * first line.  Whatever the step: the flow that was under way ends, gates refuse from that line on,
 * work requests are flushed at most once and after the hardware was made quiet, every add has one
 * remove, and the HCA comes back unless it was being removed.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

static const char *const steps[] = {
	"hca start", "hca create", "hca flush", "hca device_stop", "hca stop", "hca quiet",
	"hca release",
	"service start", "service start_port", "service close", "service stop_port",
	"service stop",
	"client add_one", "client closing", "client remove_one",
};

/* What goes on when it happens. */
static const char *const scenes[] = { "comes up", "unbinds", "resets", "leaves" };

struct moment {
	struct ib_hca *hca;
	const char *step;
	bool armed;
	unsigned int hits;
};

static void strike(struct moment *m, const char *who, const char *where)
{
	char step[32];

	snprintf(step, sizeof(step), "%s %s", who, where);
	if (!m->armed || strcmp(step, m->step))
		return;
	m->armed = false;
	m->hits++;
	ib_hca_gone(m->hca, "the test says so");
	if (!ib_hca_enter(m->hca)) {
		if (m->hca->active)
			fake_breach("the gate lets in after GONE");
		ib_hca_exit(m->hca);
	}
}

static void hca_hook(struct fake_hca *fake, const char *where)
{
	strike(fake->data, "hca", where);
}

static void service_hook(struct fake_service *fs, struct ib_service_instance *instance,
			 const char *where)
{
	strike(fs->data, "service", where);
}

static void client_hook(struct fake_client *fc, struct ib_attachment *attachment,
			const char *where)
{
	strike(fc->data, "client", where);
}

static const void *moment_gen(const void *prev, char *desc)
{
	unsigned int n = (uintptr_t)prev;

	if (n >= ARRAY_SIZE(steps) * ARRAY_SIZE(scenes))
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "in %s while it %s", steps[n / ARRAY_SIZE(scenes)],
		 scenes[n % ARRAY_SIZE(scenes)]);
	return (void *)(uintptr_t)(n + 1);
}

static bool settled(struct fake_hca *fake)
{
	bool idle;

	spin_lock_irq(&fake->hca->lock);
	idle = fake->hca->idle && !fake->hca->retry_at;
	spin_unlock_irq(&fake->hca->lock);
	return idle;
}

static void let_settle(struct fake_hca *fake)
{
	FAKE_PASS_UNTIL(fake, settled(fake), 250, 100000);
}

static void gone_at_step(struct kunit *test)
{
	unsigned int n = (uintptr_t)test->param_value - 1, scene = n % ARRAY_SIZE(scenes);
	struct moment *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct fake_service *mad = fake_service_create(test, "mad", NULL, NULL);
	struct fake_service *sa = fake_service_create(test, "sa", mad, NULL);
	struct fake_client *fc = fake_client_create(test, "ipoib");
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");
	struct fake_flow flow;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->hca = fake->hca;
	m->step = steps[n / ARRAY_SIZE(scenes)];
	m->armed = !scene;
	fake->data = m;
	mad->data = m;
	sa->data = m;
	fc->data = m;
	fake->hook = hca_hook;
	mad->hook = service_hook;
	sa->hook = service_hook;
	fc->hook = client_hook;
	fake_client_needs(fc, sa);
	KUNIT_ASSERT_EQ(test, fake_service_register(mad), 0);
	KUNIT_ASSERT_EQ(test, fake_service_register(sa), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	err = fake_hca_add(fake);
	if (!err)
		err = fake_hca_bind(fake);
	if (scene)
		KUNIT_ASSERT_EQ(test, err, 0);
	m->armed = m->armed || scene;

	if (scene == 1)
		fake_flow_start(&flow, fake_run_unbind, fake);
	else if (scene == 3)
		fake_flow_start(&flow, fake_run_remove, fake);
	else if (scene == 2)
		ib_hca_raise(fake->hca, IB_GOAL_RESET);
	if (scene & 1) {
		KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 15000));
		fake_flow_join(&flow);
	}
	let_settle(fake);

	KUNIT_EXPECT_LE(test, atomic_read(&fake->flushes), 1);
	if (scene == 3) {
		KUNIT_EXPECT_EQ(test, fake->result, 0);
		KUNIT_EXPECT_TRUE(test, fake->hca->ended);
	} else if (scene == 1) {
		KUNIT_EXPECT_NULL(test, fake_device(fake));
		KUNIT_EXPECT_TRUE(test, fake->hca->up);
	} else if (fake->bound) {
		KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
		KUNIT_EXPECT_EQ(test, atomic_read(&fc->adds), atomic_read(&fc->removes) + 1);
	}
	KUNIT_EXPECT_EQ(test, fake->hca->quarantined, 0U);
	if (!m->hits)
		kunit_info(test, "the step does not occur in this scene\n");
}

/* Outside of any step: nothing but the flag, the gate and one abort; twice is once. */
static void gone_in_peace(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_ASSERT_EQ(test, ib_hca_enter(fake->hca), 0);
	KUNIT_EXPECT_FALSE(test, ib_hca_is_gone(fake->hca));
	ib_hca_gone(fake->hca, "all-ones");
	ib_hca_gone(fake->hca, "again");
	KUNIT_EXPECT_TRUE(test, ib_hca_is_gone(fake->hca));
	KUNIT_EXPECT_STREQ(test, fake->hca->gone_cause, "all-ones");
	KUNIT_EXPECT_EQ(test, ib_hca_enter(fake->hca), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->aborts), 1);
	ib_hca_exit(fake->hca);
	let_settle(fake);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->flushes), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->starts), 2);
	KUNIT_EXPECT_EQ(test, fake->hca->incarnations, 2U);
}

/* Bus mastering cannot be switched off: the function is reset. */
static void gone_quiet_by_reset(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	fake->quiet_fails = 1;
	ib_hca_gone(fake->hca, "all-ones");
	let_settle(fake);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->resets), 1);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

/* Nor that: flushes are delivered, memory is not given back, the driver is told. */
static void gone_never_quiet(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");
	struct fake_flow flow;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	fake->quiet_fails = 100;
	fake->reset_fails = 100;
	ib_hca_hold(fake->hca, IB_HOLD_ERROR);
	ib_hca_gone(fake->hca, "all-ones");
	let_settle(fake);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->flushes), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->releases), 1);
	KUNIT_EXPECT_FALSE(test, fake->released_quiet);
	KUNIT_EXPECT_NULL(test, fake_device(fake));
	fake_flow_start(&flow, fake_run_remove, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 15000));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), -EIO);
}

/* ---- the reset of a function that its firmware has not stopped ---- */

/* Words, each with its blank, in the order in which the callbacks came. */
static void record(struct fake_hca *fake, const char *where)
{
	char *words = fake->data;
	size_t have = strlen(words);

	snprintf(words + have, 64 - have, "%s ", where);
}

static struct fake_hca *recorded(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");

	fake->data = kunit_kzalloc(test, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->data);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	fake->hook = record;
	return fake;
}

static void remove_recorded(struct kunit *test, struct fake_hca *fake, int result)
{
	struct fake_flow flow;

	fake_flow_start(&flow, fake_run_remove, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 15000));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), result);
	fake->hook = NULL;
}

/* Bus mastering off, reset, work requests end, memory goes back; the reset once. */
static void gone_then_reset(struct kunit *test)
{
	struct fake_hca *fake = recorded(test);

	ib_hca_raise(fake->hca, IB_GOAL_REMOVE);
	ib_hca_gone(fake->hca, "no answer to a command");
	remove_recorded(test, fake, 0);
	KUNIT_EXPECT_STREQ(test, (char *)fake->data,
			   "quiet reset flush device_stop stop quiet release ");
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->resets), 1);
}

/* A polite end needs none: the firmware has stopped the function. */
static void polite_without_reset(struct kunit *test)
{
	struct fake_hca *fake = recorded(test);

	remove_recorded(test, fake, 0);
	KUNIT_EXPECT_STREQ(test, (char *)fake->data, "device_stop stop quiet release ");
}

/* The reset fails: bus mastering was off all the same, so memory goes back. */
static void gone_reset_fails(struct kunit *test)
{
	struct fake_hca *fake = recorded(test);

	fake->reset_fails = 100;
	ib_hca_gone(fake->hca, "no answer to a command");
	remove_recorded(test, fake, 0);
	KUNIT_EXPECT_TRUE(test, fake->released_quiet);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->resets), 1);
}

static const enum ib_hold others_holds[] = { IB_HOLD_ERROR, IB_HOLD_RESET };

static void holds_desc(const enum ib_hold *hold, char *desc)
{
	strscpy(desc, *hold == IB_HOLD_ERROR ? "PCI error" : "function reset",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(holds, others_holds, holds_desc);

/* The PCI core is resetting it: nobody else does. */
static void gone_others_reset(struct kunit *test)
{
	const enum ib_hold *hold = test->param_value;
	struct fake_hca *fake = recorded(test);

	ib_hca_hold(fake->hca, *hold);
	ib_hca_gone(fake->hca, "PCI error");
	let_settle(fake);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->resets), 0);
	KUNIT_EXPECT_TRUE(test, fake->released_quiet);
	ib_hca_permit(fake->hca, *hold);
	let_settle(fake);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
	fake->hook = NULL;
}

/* Somebody is inside: bus mastering goes off at once, the reset waits, but not for ever. */
static void reset_after_insiders(struct kunit *test, bool leaves)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_ASSERT_EQ(test, ib_hca_enter(fake->hca), 0);
	ib_hca_gone(fake->hca, "no answer to a command");
	/* The clock stands. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&fake->quiets) == 1, 1000));
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->resets), 0);
	if (leaves)
		ib_hca_exit(fake->hca);
	else
		fake_advance(fake, fake->hca->limits.gate);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&fake->resets) == 1, 1000));
	if (!leaves)
		ib_hca_exit(fake->hca);
	let_settle(fake);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->resets), 1);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

static void gone_reset_after_insiders(struct kunit *test)
{
	reset_after_insiders(test, true);
}

static void gone_reset_beside_insiders(struct kunit *test)
{
	reset_after_insiders(test, false);
}

/* ---- hardware that starts well and does not last ---- */

/* It is lost. Does it come back after so many milliseconds, and not before? */
static void expect_back_after(struct kunit *test, struct fake_hca *fake, unsigned int ms)
{
	int starts = atomic_read(&fake->starts);

	ib_hca_gone(fake->hca, "all-ones");
	fake_settle(fake);
	if (ms) {
		fake_advance(fake, ms - 1);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&fake->starts), starts, "rests %u ms", ms);
		KUNIT_EXPECT_FALSE(test, fake_is_live(fake));
		fake_advance(fake, 1);
	}
	KUNIT_EXPECT_TRUE_MSG(test, fake_is_live(fake), "after %u ms", ms);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->starts), starts + 1);
}

static struct fake_hca *worn_out(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");
	int i;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	for (i = 0; i < 3; i++)
		expect_back_after(test, fake, 0);
	return fake;
}

/* Three times it comes back at once; then it rests, longer each time, until it has lasted. */
static void gone_again_and_again(struct kunit *test)
{
	static const unsigned int rests[] = { 1000, 2000, 4000, 8000, 16000, 32000, 32000 };
	struct fake_hca *fake = worn_out(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rests); i++)
		expect_back_after(test, fake, rests[i]);
	fake_advance(fake, 9999);
	expect_back_after(test, fake, 32000);
	fake_advance(fake, 10000);
	expect_back_after(test, fake, 0);
}

/* Lost before its device was there: that is no better. */
static void lost_in_create(struct fake_hca *fake, const char *where)
{
	if (!strcmp(where, "create"))
		ib_hca_gone(fake->hca, "all-ones");
}

static void gone_before_it_is_live(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	fake->hook = lost_in_create;
	ib_hca_gone(fake->hca, "all-ones");
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->starts), 4);
	fake_advance(fake, 1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->starts), 5);
	fake->hook = NULL;
	fake_advance(fake, 2000);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

/* One that was lost once more, and rests. */
static struct fake_hca *resting(struct kunit *test)
{
	struct fake_hca *fake = worn_out(test);

	ib_hca_gone(fake->hca, "all-ones");
	fake_settle(fake);
	KUNIT_EXPECT_FALSE(test, fake_is_live(fake));
	return fake;
}

/* Who asks for it anew does not wait for that. */
static void gone_rest_ends_when_asked(struct kunit *test)
{
	struct fake_hca *fake = resting(test);

	ib_hca_raise(fake->hca, IB_GOAL_RESET);
	fake_settle(fake);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
	expect_back_after(test, fake, 0);
}

/* Nor does a provider that is bound meanwhile. */
static void gone_rest_ends_with_a_provider(struct kunit *test)
{
	struct fake_hca *fake = resting(test);

	KUNIT_EXPECT_EQ(test, fake_hca_unbind(fake), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_bind(fake), 0);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

/* Nor does who removes it. */
static void gone_rest_ends_with_removal(struct kunit *test)
{
	struct fake_hca *fake = resting(test);

	KUNIT_EXPECT_EQ(test, fake_hca_remove(fake), 0);
}

/* A reading of all-ones after the hardware was stopped means nothing. */
static void gone_when_down(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gone");

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	ib_hca_hold(fake->hca, IB_HOLD_RESET);
	ib_hca_raise(fake->hca, IB_GOAL_RESET);
	ib_hca_settle(fake->hca);
	ib_hca_gone(fake->hca, "too late");
	KUNIT_EXPECT_FALSE(test, ib_hca_is_gone(fake->hca));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->aborts), 0);
	KUNIT_EXPECT_EQ(test, ib_hca_enter(fake->hca), -ENODEV);
	ib_hca_permit(fake->hca, IB_HOLD_RESET);
	let_settle(fake);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

static struct kunit_case gone_cases[] = {
	KUNIT_CASE(gone_in_peace),
	KUNIT_CASE(gone_quiet_by_reset),
	KUNIT_CASE(gone_never_quiet),
	KUNIT_CASE(gone_then_reset),
	KUNIT_CASE(polite_without_reset),
	KUNIT_CASE(gone_reset_fails),
	KUNIT_CASE_PARAM(gone_others_reset, holds_gen_params),
	KUNIT_CASE(gone_reset_after_insiders),
	KUNIT_CASE(gone_reset_beside_insiders),
	KUNIT_CASE(gone_again_and_again),
	KUNIT_CASE(gone_before_it_is_live),
	KUNIT_CASE(gone_rest_ends_when_asked),
	KUNIT_CASE(gone_rest_ends_with_a_provider),
	KUNIT_CASE(gone_rest_ends_with_removal),
	KUNIT_CASE(gone_when_down),
	KUNIT_CASE_PARAM(gone_at_step, moment_gen),
	{}
};

static struct kunit_suite gone_suite = {
	.name = "ib_hardware_lost_at_each_step",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = gone_cases,
};

kunit_test_suite(gone_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("GONE at each step");
