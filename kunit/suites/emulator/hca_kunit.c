// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own mlx4_core on the emulated HCA: a driver that was not written here judges the
 * front-end and the model.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include <lastref/clock.h>
#include <lastref/hca.h>
#include <lastref/kunit.h>

/* Probe and unbind, with the device and the driver empty again at the end. */
static void hca_intree_probe(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);
	struct lr_clock c;

	lr_clock_start(&c);
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	KUNIT_EXPECT_TRUE(test, lr_hca_bound(h));
	kunit_info(test, "probed in %lld virtual ms\n", lr_clock_ms(&c));
	KUNIT_EXPECT_GT(test, lr_hca_live(h), 0U);
	lr_hca_unplug(h);
	KUNIT_EXPECT_EQ(test, lr_hca_live(h), 0U);
	KUNIT_EXPECT_EQ(test, lr_hca_violations(h), 0ULL);
}

static struct kunit_case hca_cases[] = {
	KUNIT_CASE(hca_intree_probe),
	{}
};

static struct kunit_suite hca_suite = {
	.name = "hca_intree",
	LR_SUITE_HOOKS,
	.test_cases = hca_cases,
};

kunit_test_suite(hca_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The in-tree mlx4_core on the emulated HCA");
