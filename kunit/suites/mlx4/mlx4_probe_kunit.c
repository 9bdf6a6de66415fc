// SPDX-License-Identifier: GPL-2.0-only
/*
 * mlx4_core as a PCI driver on the emulated HCA: whatever fails while it binds or unbinds, the HCA
 * holds nothing afterwards, no rule of the hardware is broken, the error is the right one, and the
 * next probe works.
 *
 * Commands of one kind are a test each.  In each of them one command after the other (or, of a kind
 * that is sent often, some of them) fails, is never answered, or takes the HCA away.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include <ib/hca.h>

#include <lastref/clock.h>
#include <lastref/fault.h>
#include <lastref/hca.h>
#include <lastref/kunit.h>

#include "mlx4.h"
#include "model/cx3.h"

static unsigned int windows = 1;
module_param(windows, uint, 0400);
MODULE_PARM_DESC(windows, "of 20: as many twentieths of all allocations and repeated commands fail");

#define STRIDE		20U
#define RESET_SEMAPHORE	0xf03fc	/* in BAR 0; reading takes it, writing zero gives it back */
#define OWNER		0x8069c	/* the same for the card */
#define REMOVAL_MS	15000	/* design: a removal returns by then, whatever happens */

/* The firmware commands that binding and unbinding send. */
static const struct command {
	const char *name;
	u16 opcode;
	bool removal;
} commands[] = {
	{ "QUERY_FW", 0x004 }, { "MAP_FA", 0xfff }, { "RUN_FW", 0xff6 },
	{ "QUERY_DEV_CAP", 0x003 }, { "QUERY_PORT", 0x043 }, { "SET_ICM_SIZE", 0xffd },
	{ "MAP_ICM_AUX", 0xffc }, { "MAP_ICM", 0xffa }, { "INIT_HCA", 0x007 },
	{ "QUERY_ADAPTER", 0x006 }, { "SW2HW_EQ", 0x013 }, { "MAP_EQ", 0x012 },
	{ "NOP", 0x031 }, { "CONF_SPECIAL_QP", 0x023 }, { "MAD_IFC", 0x024 },
	{ "SET_PORT", 0x00c },
	{ "CLOSE_PORT", 0x00a, true }, { "CONF_SPECIAL_QP", 0x023, true },
	{ "MAP_EQ", 0x012, true }, { "HW2SW_EQ", 0x014, true }, { "CLOSE_HCA", 0x008, true },
	{ "UNMAP_ICM", 0xff9, true }, { "UNMAP_ICM_AUX", 0xffb, true }, { "UNMAP_FA", 0xffe, true },
};

static void command_desc(const struct command *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s in %s", c->name, c->removal ? "remove" : "probe");
}

KUNIT_ARRAY_PARAM(command, commands, command_desc);

static u64 sent(struct lr_hca *h, const struct command *c)
{
	char name[32];

	snprintf(name, sizeof(name), "cmd.%s", c->name);
	return lr_hca_count(h, name);
}

static int bind(struct lr_hca *h)
{
	struct device_driver *driver = driver_find("mlx4_core", &pci_bus_type);

	return driver ? device_driver_attach(driver, &lr_hca_pdev(h)->dev) : -ENOENT;
}

static void unbind(struct lr_hca *h)
{
	device_release_driver(&lr_hca_pdev(h)->dev);
}

/* An HCA in its slot, without a driver. */
static struct lr_hca *unbound(struct kunit *test, const struct cx3_config *config)
{
	struct lr_hca *h = lr_hca_new(test, config);

	KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
	unbind(h);
	return h;
}

static void expect_clean(struct kunit *test, struct lr_hca *h, const char *what, u64 nth)
{
	KUNIT_EXPECT_EQ_MSG(test, lr_hca_live(h), 0U, "left after %s %llu", what, nth);
	KUNIT_EXPECT_EQ_MSG(test, lr_hca_violations(h), 0ULL, "broken after %s %llu", what, nth);
}

static void expect_works(struct kunit *test, struct lr_hca *h, const char *what, u64 nth)
{
	KUNIT_EXPECT_EQ_MSG(test, bind(h), 0, "the probe after %s %llu", what, nth);
	unbind(h);
	expect_clean(test, h, what, nth);
}

static void probe_and_remove(struct kunit *test)
{
	struct lr_hca *h = lr_hca_new(test, NULL);

	for (unsigned int i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, lr_hca_plug(h), 0);
		KUNIT_EXPECT_TRUE(test, lr_hca_bound(h));
		KUNIT_EXPECT_GT(test, lr_hca_live(h), 0U);
		lr_hca_unplug(h);
		expect_clean(test, h, "round", i);
	}
}

/* Two of them; the one that stays does not notice that the other leaves, politely or not. */
static void two_hcas(struct kunit *test)
{
	struct lr_fabric *f = lr_fabric_new(test, true);
	struct lr_hca *h[3];
	unsigned int live;

	for (unsigned int i = 0; i < 3; i++) {
		h[i] = lr_hca_new(test, NULL);
		lr_hca_connect(h[i], 1, f);
		KUNIT_ASSERT_EQ(test, lr_hca_plug(h[i]), 0);
		KUNIT_EXPECT_TRUE(test, lr_hca_bound(h[i]));
	}
	live = lr_hca_live(h[1]);
	lr_hca_unplug(h[0]);
	lr_hca_vanish(h[2]);
	lr_hca_unplug(h[2]);
	KUNIT_EXPECT_TRUE(test, lr_hca_bound(h[1]));
	KUNIT_EXPECT_EQ(test, lr_hca_live(h[1]), live);
}

/* How often is this command sent in the half of a life that it belongs to? */
static u64 occurrences(struct kunit *test, const struct command *c)
{
	struct lr_hca *h = unbound(test, NULL);
	u64 before = sent(h, c), bound;

	KUNIT_ASSERT_EQ(test, bind(h), 0);
	bound = sent(h, c);
	unbind(h);
	before = c->removal ? sent(h, c) - bound : bound - before;
	lr_hca_free(h);
	return before;
}

/* The numbers of a repeated command: the first, and then some of the rest. */
static u64 next_nth(u64 nth)
{
	u64 next = nth + 1;

	while (next > 2 && next % STRIDE >= windows)
		next++;
	return next;
}

static void set_rule(struct lr_hca *h, const struct command *c, u64 nth, const char *action)
{
	char rule[48];

	snprintf(rule, sizeof(rule), "cmd:%#x nth=%llu %s", c->opcode, nth, action);
	lr_hca_fault(h, rule);
}

static void struck(struct kunit *test, struct lr_hca *h, u64 before, u64 nth)
{
	KUNIT_EXPECT_EQ_MSG(test, lr_hca_count(h, "faults"), before + 1, "number %llu", nth);
	lr_hca_fault(h, "clear");
}

/* A removal of which one command goes wrong: it returns in time. */
static void expect_removal(struct kunit *test, struct lr_hca *h, const struct command *c, u64 nth,
			   const char *action)
{
	u64 before = lr_hca_count(h, "faults");
	struct lr_clock clock;

	KUNIT_ASSERT_EQ(test, bind(h), 0);
	set_rule(h, c, nth, action);
	lr_clock_start(&clock);
	unbind(h);
	KUNIT_EXPECT_LE(test, lr_clock_ms(&clock), (s64)REMOVAL_MS);
	struck(test, h, before, nth);
}

static void command_fails(struct kunit *test)
{
	const struct command *c = test->param_value;
	u64 last = occurrences(test, c), nth;
	struct lr_hca *h = unbound(test, NULL);

	KUNIT_EXPECT_GE(test, last, 1ULL);
	for (nth = 1; nth <= last; nth = next_nth(nth)) {
		u64 before = lr_hca_count(h, "faults");

		if (c->removal) {
			expect_removal(test, h, c, nth, "status=0x1");
		} else {
			set_rule(h, c, nth, "status=0x1");
			KUNIT_EXPECT_EQ_MSG(test, bind(h), -EIO, "number %llu", nth);
			struck(test, h, before, nth);
		}
		expect_clean(test, h, "failure", nth);
	}
	expect_works(test, h, "failure", last);
}

/* The first and the last of them. */
static void command_silent(struct kunit *test)
{
	const struct command *c = test->param_value;
	u64 last = occurrences(test, c), nth;
	struct lr_hca *h = unbound(test, NULL);
	/* The answer to a NOP is the test of the interrupts: there are other kinds of those. */
	int want = c->opcode == 0x031 ? 0 : -EIO;

	for (nth = 1; nth <= last; nth += max(last - 1, 1ULL)) {
		u64 before = lr_hca_count(h, "faults");

		if (c->removal) {
			expect_removal(test, h, c, nth, "silent");
		} else {
			set_rule(h, c, nth, "silent");
			KUNIT_EXPECT_EQ_MSG(test, bind(h), want, "number %llu", nth);
			struck(test, h, before, nth);
			unbind(h);
		}
		expect_clean(test, h, "silence", nth);
	}
	expect_works(test, h, "silence", last);
}

/* Pulled out at the first, and at the last of them. */
static void command_vanishes(struct kunit *test)
{
	const struct command *c = test->param_value;
	u64 last = occurrences(test, c), nth;

	for (nth = 1; nth <= last; nth += max(last - 1, 1ULL)) {
		struct lr_hca *h = unbound(test, NULL);

		if (c->removal) {
			expect_removal(test, h, c, nth, "gone");
		} else {
			set_rule(h, c, nth, "gone");
			KUNIT_EXPECT_EQ_MSG(test, bind(h), -EIO, "number %llu", nth);
		}
		KUNIT_EXPECT_EQ(test, lr_hca_violations(h), 0ULL);
		lr_hca_free(h);
	}
}

static const void *window_gen(const void *prev, char *desc)
{
	uintptr_t n = (uintptr_t)prev;

	if (n >= min(windows, STRIDE))
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "every %uth from %lu", STRIDE, n + 1);
	return (void *)(n + 1);
}

/* Every twentieth allocation of those tasks, from the number that is the test's parameter. */
static void allocations_fail(struct kunit *test, const char *who)
{
	struct lr_hca *h = unbound(test, NULL);
	unsigned int failed = 0;
	struct lr_fault f;

	lr_fault_begin(&f, test, who);
	f.nth = (uintptr_t)test->param_value - 1;
	f.hit = true;
	while (lr_fault_next(&f)) {
		int err = bind(h);
		bool hit = lr_fault_stop(&f);

		if (!hit)
			KUNIT_EXPECT_EQ(test, err, 0);
		/* What the kernel's resources have no memory for they call busy. */
		else
			KUNIT_EXPECT_TRUE_MSG(test, !err || err == -ENOMEM || err == -EBUSY,
					      "allocation %u: %d", f.nth, err);
		failed += err < 0;
		unbind(h);
		expect_clean(test, h, "allocation", f.nth);
		f.nth += STRIDE - 1;
	}
	kunit_info(test, "%u allocations failed, %u probes with them\n", f.hits, failed);
	/* For large pieces of ICM smaller ones serve as well; the rest must count. */
	KUNIT_EXPECT_GE(test, f.hits, 1U);
	KUNIT_EXPECT_GE(test, failed, 1U);
	expect_works(test, h, "allocation", f.nth);
}

static void start_without_memory(struct kunit *test)
{
	allocations_fail(test, "ib/");
}

static void probe_without_memory(struct kunit *test)
{
	allocations_fail(test, NULL);
}

/* However many vectors the function has, down to none: it works by what it gets. */
static void vectors_granted(struct kunit *test)
{
	struct cx3_config config;

	cx3_config_init(&config);
	for (unsigned int n = 0; n <= 4; n++) {
		struct lr_hca *h;

		config.nvectors = n;
		h = unbound(test, &config);
		KUNIT_EXPECT_EQ_MSG(test, bind(h), 0, "%u vectors", n);
		KUNIT_EXPECT_GT(test, lr_hca_count(h, "irq"), 0ULL);
		unbind(h);
		expect_clean(test, h, "vectors", n);
		lr_hca_free(h);
	}
}

/*
 * Cut off from memory, but somebody else has the reset semaphore: the removal ends, memory goes
 * back all the same, and the reset of the next start makes up for it.
 */
static void reset_refused(struct kunit *test)
{
	struct lr_hca *h = unbound(test, NULL);
	void __iomem *semaphore;

	KUNIT_ASSERT_EQ(test, bind(h), 0);
	semaphore = ioremap(pci_resource_start(lr_hca_pdev(h), 0) + RESET_SEMAPHORE, 4);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)semaphore);
	KUNIT_EXPECT_EQ(test, ioread32(semaphore), 0U);
	lr_hca_fault(h, "cmd:0x14 silent");
	unbind(h);
	KUNIT_EXPECT_GT(test, lr_hca_live(h), 0U);
	KUNIT_EXPECT_EQ(test, lr_hca_violations(h), 0ULL);
	iowrite32(0, semaphore);
	iounmap(semaphore);
	expect_works(test, h, "refused reset", 1);
}

static void expect_master_off(struct kunit *test, struct pci_dev *pdev)
{
	u16 command;

	pci_read_config_word(pdev, PCI_COMMAND, &command);
	KUNIT_EXPECT_EQ(test, command & PCI_COMMAND_MASTER, 0);
}

/*
 * The PM callback finds it still up, cuts it off and resets it, which saves the configuration. The
 * PCI core must not take that for a driver that powers the function down itself.
 */
static void suspend_leaves_the_rest_to_pci(struct kunit *test)
{
	struct lr_hca *h = unbound(test, NULL);
	struct pci_dev *pdev = lr_hca_pdev(h);
	struct mlx4_dev *dev;

	KUNIT_ASSERT_EQ(test, bind(h), 0);
	dev = pci_get_drvdata(pdev);
	ib_hca_hold(dev->hca, IB_HOLD_SLEEP);
	/* As the PCI core does before it calls the driver. */
	pdev->state_saved = false;
	KUNIT_EXPECT_EQ(test, pdev->dev.driver->pm->suspend(&pdev->dev), 0);
	KUNIT_EXPECT_TRUE(test, dev->hca->subdued);
	KUNIT_EXPECT_FALSE(test, pdev->state_saved);
	expect_master_off(test, pdev);
	expect_clean(test, h, "suspend", 1);
	ib_hca_permit(dev->hca, IB_HOLD_SLEEP);
	unbind(h);
	expect_works(test, h, "suspend", 1);
}

/* The next kernel, which may come without a power cycle, finds a card that nobody owns. */
static void shutdown_gives_the_card_back(struct kunit *test)
{
	struct lr_hca *h = unbound(test, NULL);
	struct pci_dev *pdev = lr_hca_pdev(h);
	void __iomem *owner;

	KUNIT_ASSERT_EQ(test, bind(h), 0);
	owner = ioremap(pci_resource_start(pdev, 0) + OWNER, 4);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)owner);
	KUNIT_EXPECT_NE(test, ioread32be(owner), 0U);
	to_pci_driver(pdev->dev.driver)->shutdown(pdev);
	KUNIT_EXPECT_EQ(test, ioread32be(owner), 0U);
	iowrite32be(0, owner);
	iounmap(owner);
	expect_clean(test, h, "shutdown", 1);
	unbind(h);
	expect_works(test, h, "shutdown", 1);
}

static bool is_up(struct mlx4_dev *dev)
{
	ib_hca_settle(dev->hca);
	return dev->hca->up && !ib_hca_is_gone(dev->hca);
}

/* While the PCI core resets the function nobody here touches it, nor has anything to restore. */
static void function_reset_finds_it_down(struct kunit *test)
{
	struct lr_hca *h = unbound(test, NULL);
	const struct pci_error_handlers *handlers;
	struct pci_dev *pdev = lr_hca_pdev(h);
	struct mlx4_dev *dev;

	KUNIT_ASSERT_EQ(test, bind(h), 0);
	dev = pci_get_drvdata(pdev);
	handlers = to_pci_driver(pdev->dev.driver)->err_handler;
	for (unsigned int i = 0; i < 3; i++) {
		handlers->reset_prepare(pdev);
		KUNIT_EXPECT_FALSE(test, dev->hca->active);
		KUNIT_EXPECT_FALSE(test, pdev->msix_enabled);
		expect_master_off(test, pdev);
		handlers->reset_done(pdev);
		/* The second finds it up, the third in the midst of its start. */
		if (!i)
			KUNIT_EXPECT_TRUE(test, is_up(dev));
		else
			msleep(100);
	}
	KUNIT_EXPECT_TRUE(test, is_up(dev));
	unbind(h);
	expect_works(test, h, "prepared reset", 1);
}

/* The real thing: it comes back, also when the next reset does not wait for that. */
static void function_reset_comes_back(struct kunit *test)
{
	struct lr_hca *h = unbound(test, NULL);
	struct pci_dev *pdev = lr_hca_pdev(h);
	struct mlx4_dev *dev;

	KUNIT_ASSERT_EQ(test, bind(h), 0);
	dev = pci_get_drvdata(pdev);
	for (unsigned int ms = 0; ms < 3000; ms += 170) {
		KUNIT_EXPECT_EQ(test, pci_reset_function(pdev), 0);
		msleep(ms);
	}
	KUNIT_EXPECT_TRUE(test, is_up(dev));
	KUNIT_EXPECT_EQ(test, pci_reset_function(pdev), 0);
	unbind(h);
	expect_works(test, h, "function reset", 1);
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(probe_and_remove),
	KUNIT_CASE(two_hcas),
	KUNIT_CASE(vectors_granted),
	KUNIT_CASE(reset_refused),
	KUNIT_CASE(suspend_leaves_the_rest_to_pci),
	KUNIT_CASE(shutdown_gives_the_card_back),
	KUNIT_CASE(function_reset_finds_it_down),
	KUNIT_CASE(function_reset_comes_back),
	KUNIT_CASE_PARAM(command_fails, command_gen_params),
	KUNIT_CASE_PARAM(command_silent, command_gen_params),
	KUNIT_CASE_PARAM(command_vanishes, command_gen_params),
	KUNIT_CASE_PARAM(start_without_memory, window_gen),
	KUNIT_CASE_PARAM(probe_without_memory, window_gen),
	{}
};

static struct kunit_suite probe_suite = {
	.name = "mlx4_probe",
	LR_SUITE_HOOKS,
	.test_cases = probe_cases,
};

kunit_test_suite(probe_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("mlx4_core on the emulated HCA");
