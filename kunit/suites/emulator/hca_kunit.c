// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own mlx4_core on the emulated HCA: a driver that was not written here judges the
 * front-end and the model.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include <lastref/clock.h>
#include <lastref/hca.h>
#include <lastref/kunit.h>

#define SEND_DOORBELL 0x14	/* in each page of the UAR area */

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

/* Again and again on one device, which keeps its memory of violations. */
static void hca_intree_replug(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);

	for (unsigned int i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
		KUNIT_EXPECT_TRUE(test, lr_hca_bound(h));
		lr_hca_unplug(h);
		KUNIT_EXPECT_EQ(test, lr_hca_live(h), 0U);
	}
}

/* Two on one fabric; the one that stays does not notice. */
static void hca_intree_two(struct kunit *test)
{
	struct lr_fabric *f = lr_fabric_new(test, true);
	struct lr_hca *h[2] = { lr_hca_new(test, NULL), lr_hca_new(test, NULL) };
	unsigned int live;

	for (unsigned int i = 0; i < 2; i++) {
		lr_hca_connect(h[i], 1, f);
		KUNIT_ASSERT_EQ(test, lr_hca_plug(h[i]), 0);
		KUNIT_EXPECT_TRUE(test, lr_hca_bound(h[i]));
	}
	live = lr_hca_live(h[1]);
	lr_hca_unplug(h[0]);
	KUNIT_EXPECT_TRUE(test, lr_hca_bound(h[1]));
	KUNIT_EXPECT_EQ(test, lr_hca_live(h[1]), live);
}

/* A failing firmware command: probe gives up, and gives everything back. */
static void hca_intree_command_fails(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);

	lr_hca_fault(h, "cmd:0x7 status=0x1");		/* INIT_HCA: internal error */
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	KUNIT_EXPECT_FALSE(test, lr_hca_bound(h));
	KUNIT_EXPECT_EQ(test, lr_hca_count(h, "faults"), 1ULL);
	KUNIT_EXPECT_EQ(test, lr_hca_live(h), 0U);
	lr_hca_unplug(h);
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	KUNIT_EXPECT_TRUE(test, lr_hca_bound(h));
}

/* Firmware that never answers: minutes of waiting in the driver, none on the wall. */
static void hca_intree_silent(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);
	struct lr_clock c;

	lr_hca_fault(h, "cmd:0x3 silent");		/* QUERY_DEV_CAP */
	lr_clock_start(&c);
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	KUNIT_EXPECT_FALSE(test, lr_hca_bound(h));
	lr_expect_ms(test, &c, 10000, 200000);
}

/* A doorbell for a queue pair that never was: seen, and then a count to read. */
static void hca_violation(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);
	u8 __iomem *uar;

	lr_hca_expect_violations(h);
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	KUNIT_ASSERT_TRUE(test, lr_hca_bound(h));
	KUNIT_EXPECT_EQ(test, lr_hca_violations(h), 0ULL);
	uar = ioremap(pci_resource_start(lr_hca_pdev(h), 2), PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, uar);
	iowrite32be(0x123 << 8, uar + SEND_DOORBELL);
	iounmap(uar);
	KUNIT_EXPECT_EQ(test, lr_hca_violations(h), 1ULL);
}

/* A PD in which the driver has nothing may be called destroyed. */
static void hca_destroyed_pd(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);

	lr_hca_expect_violations(h);
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	lr_hca_pd(h, 0x1ffff, false);
	KUNIT_EXPECT_EQ(test, lr_hca_violations(h), 0ULL);
	lr_hca_pd(h, 0x1ffff, true);
	lr_hca_unplug(h);
	KUNIT_EXPECT_EQ(test, lr_hca_violations(h), 0ULL);
}

/* The language of the fabric's rules is checked here too; nothing strikes without traffic. */
static void hca_fabric_fault(struct kunit *test)
{
	struct lr_fabric *f = lr_fabric_new(test, true);
	struct lr_hca *h = lr_hca_new(test, NULL);

	lr_hca_connect(h, 1, f);
	lr_fabric_fault(test, f, "in:1/smp times=0 drop");
	lr_fabric_fault(test, f, "time at=1000000 flap=1");
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	KUNIT_EXPECT_TRUE(test, lr_hca_bound(h));
	lr_fabric_fault(test, f, "clear");
}

/* Pulled out by a fault rule in the middle of probe. The driver has to give up, no more. */
static void hca_intree_vanishes(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);

	lr_hca_fault(h, "cmd:0x7 gone");		/* at INIT_HCA */
	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	KUNIT_EXPECT_FALSE(test, lr_hca_bound(h));
	lr_hca_unplug(h);
	KUNIT_EXPECT_NULL(test, lr_hca_pdev(h));
}

static struct kunit_case hca_cases[] = {
	KUNIT_CASE(hca_intree_probe),
	KUNIT_CASE(hca_intree_replug),
	KUNIT_CASE(hca_intree_two),
	KUNIT_CASE(hca_intree_command_fails),
	KUNIT_CASE(hca_intree_silent),
	KUNIT_CASE(hca_violation),
	KUNIT_CASE(hca_destroyed_pd),
	KUNIT_CASE(hca_fabric_fault),
	KUNIT_CASE(hca_intree_vanishes),
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
