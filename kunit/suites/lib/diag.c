// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hooks of <lastref/kunit.h>, a device for tests, the clock, and KUnit's actions for 6.1.
 */
#include <linux/debug_locks.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/slab.h>
#ifdef CONFIG_UML_TIME_TRAVEL_SUPPORT
#include <linux/time-internal.h>
#endif

#include <lastref/clock.h>
#include <lastref/kunit.h>

#include "lib.h"

/* For kunit/selftest only: let a report pass here, to see that the next net catches it. */
static bool diag = true;
module_param(diag, bool, 0400);
MODULE_PARM_DESC(diag, "look at lockdep and taints after each test");

static const char *complaint(void)
{
	if (IS_ENABLED(CONFIG_LOCKDEP) && !debug_locks)
		return "lockdep has switched itself off";
	if (test_taint(TAINT_WARN))
		return "a WARN or sleep-in-atomic report";
	if (test_taint(TAINT_BAD_PAGE))
		return "a KASAN or bad page report";
	return NULL;
}

int lr_test_init(struct kunit *test)
{
	const char *what = diag ? complaint() : NULL;

	if (!what)
		return 0;
	KUNIT_FAIL(test, "before the test: %s", what);
	return -EIO;
}
EXPORT_SYMBOL_GPL(lr_test_init);

void lr_test_exit(struct kunit *test)
{
	const char *what = diag ? complaint() : NULL;

	if (what)
		KUNIT_FAIL(test, "after the test: %s", what);
}
EXPORT_SYMBOL_GPL(lr_test_exit);

bool lr_time_is_virtual(void)
{
#ifdef CONFIG_UML_TIME_TRAVEL_SUPPORT
	return time_travel_mode != TT_MODE_OFF;
#else
	return false;
#endif
}
EXPORT_SYMBOL_GPL(lr_time_is_virtual);

void lr_expect_ms(struct kunit *test, const struct lr_clock *c, s64 lo, s64 hi)
{
	s64 ms = lr_clock_ms(c);

	if (lr_time_is_virtual() && (ms < lo || ms > hi))
		KUNIT_FAIL(test, "took %lld ms, expected %lld to %lld", ms, lo, hi);
}
EXPORT_SYMBOL_GPL(lr_expect_ms);

KUNIT_DEFINE_ACTION_WRAPPER(unregister_device, root_device_unregister, struct device *);

struct device *lr_test_device(struct kunit *test, const char *name)
{
	struct device *dev = root_device_register(name);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_device, dev), 0);
	return dev;
}
EXPORT_SYMBOL_GPL(lr_test_device);

#ifndef LR_KUNIT_HAS_ACTIONS
/**
 * struct action - a deferred call as a KUnit resource
 * @res: the resource, which KUnit releases last in, first out; first, since KUnit frees it: after
 *	its release it still looks at it
 * @fn: what to call; NULL once it is to be forgotten
 * @ctx: its argument
 */
struct action {
	struct kunit_resource res;
	kunit_action_t *fn;
	void *ctx;
};

static void run_action(struct kunit_resource *res)
{
	struct action *a = container_of(res, struct action, res);

	if (a->fn)
		a->fn(a->ctx);
}

static bool match_action(struct kunit *test, struct kunit_resource *res, void *want)
{
	const struct action *a = container_of(res, struct action, res), *w = want;

	return res->free == run_action && a->fn == w->fn && a->ctx == w->ctx;
}

int kunit_add_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	struct action *a = kzalloc(sizeof(*a), GFP_KERNEL);

	if (!a)
		return -ENOMEM;
	a->fn = fn;
	a->ctx = ctx;
	a->res.should_kfree = true;
	return __kunit_add_resource(test, NULL, run_action, &a->res, NULL);
}
EXPORT_SYMBOL_GPL(kunit_add_action);

int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	int err = kunit_add_action(test, fn, ctx);

	if (err)
		fn(ctx);
	return err;
}
EXPORT_SYMBOL_GPL(kunit_add_action_or_reset);

/* Take the action off the list; @run decides whether it is called or forgotten. */
static void drop_action(struct kunit *test, kunit_action_t *fn, void *ctx, bool run)
{
	struct action want = { .fn = fn, .ctx = ctx };
	struct kunit_resource *res = kunit_find_resource(test, match_action, &want);

	if (!res)
		return;
	if (!run)
		container_of(res, struct action, res)->fn = NULL;
	kunit_remove_resource(test, res);
	kunit_put_resource(res);
}

void kunit_remove_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	drop_action(test, fn, ctx, false);
}
EXPORT_SYMBOL_GPL(kunit_remove_action);

void kunit_release_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	drop_action(test, fn, ctx, true);
}
EXPORT_SYMBOL_GPL(kunit_release_action);
#endif

static int __init lib_init(void)
{
	return 0;
}
module_init(lib_init);

static void __exit lib_exit(void)
{
	lr_fault_exit();
}
module_exit(lib_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What LastRef's KUnit suites have in common");
