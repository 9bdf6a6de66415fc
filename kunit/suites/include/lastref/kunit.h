/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every suite includes: the hooks that fail a test on a report KUnit does not look at, and
 * the parts of KUnit's API that 6.1 lacks, in the newer spelling.
 */
#ifndef LASTREF_KUNIT_H
#define LASTREF_KUNIT_H

#include <kunit/test.h>
#if __has_include("kunit/device.h")
#define LR_KUNIT_HAS_ACTIONS
#else	/* 6.1 */
#include <kunit/resource.h>
#endif

struct device;

/**
 * lr_test_init() - first half of the hooks: refuse to test on a kernel that has complained already
 * @test: the test about to run
 *
 * After the first report lockdep and KASAN are off, so that a test could only pass for the wrong
 * reason. A suite with an init of its own calls this first and returns its error.
 *
 * Return: 0, or -EIO with the test marked as failed.
 */
int lr_test_init(struct kunit *test);

/**
 * lr_test_exit() - second half: fail the test whose run made the kernel complain
 * @test: the test that ran
 *
 * Sees lockdep (which switches itself off), WARN and might_sleep() (a taint), KASAN and bad
 * pages (another). A suite with an exit of its own calls this last.
 */
void lr_test_exit(struct kunit *test);

/* For the initialiser of a struct kunit_suite that has no hooks of its own. */
#define LR_SUITE_HOOKS .init = lr_test_init, .exit = lr_test_exit

/**
 * lr_test_device() - a device without a driver, for code that needs a parent or a name to log
 * @test: owner; the device is unregistered when it ends
 * @name: name of the device
 *
 * Return: the device. The test ends here if there is none.
 */
struct device *lr_test_device(struct kunit *test, const char *name);

#ifndef LR_KUNIT_HAS_ACTIONS
typedef void (kunit_action_t)(void *ctx);

/* A wrapper whose type is exactly kunit_action_t, as newer kernels want it under CFI. */
#define KUNIT_DEFINE_ACTION_WRAPPER(wrapper, orig, arg_type) \
	static void wrapper(void *in) \
	{ \
		orig((arg_type)in); \
	}

int kunit_add_action(struct kunit *test, kunit_action_t *action, void *ctx);
int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *action, void *ctx);
void kunit_remove_action(struct kunit *test, kunit_action_t *action, void *ctx);
void kunit_release_action(struct kunit *test, kunit_action_t *action, void *ctx);
#endif

#ifndef KUNIT_EXPECT_MEMEQ
#define KUNIT_EXPECT_MEMEQ(test, left, right, size) \
	KUNIT_EXPECT_EQ(test, memcmp(left, right, size), 0)
#endif

#ifndef KUNIT_EXPECT_NULL
#define KUNIT_EXPECT_NULL(test, ptr) KUNIT_EXPECT_PTR_EQ(test, (void *)(ptr), NULL)
#endif

#endif
