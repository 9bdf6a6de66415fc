// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake PCI bridge under a trivial device and an ordinary driver.
 *
 * The device has a mailbox address and a doorbell in BAR 0: a ring makes it read one word from the
 * mailbox, write the complement behind it, and raise vector 0. Any store to BAR 2 raises vector 1.
 */
#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include <lastref/clock.h>
#include <lastref/kunit.h>
#include <lastref/pci.h>

#define VENDOR 0x15b3
#define DEVICE 0xfa4e

enum {
	REG_ID = 0x0,
	REG_MAILBOX = 0x8,
	REG_RING = 0x10,
	REG_ACK = 0x14,
	ID = 0x4c520001,
};

/* ---- the device ---- */

/**
 * struct toy - the device
 * @slot: where it is plugged
 * @mailbox: bus address that the driver wrote
 * @master: bus master enable
 * @error: result of the last DMA
 * @resets: function level resets
 */
struct toy {
	struct fake_pci *slot;
	u64 mailbox;
	bool master;
	int error;
	unsigned int resets;
};

static u64 toy_read(void *ctx, unsigned int bar, u64 off, unsigned int size)
{
	return !bar && off == REG_ID ? ID : 0;
}

static void toy_ring(struct toy *t)
{
	u32 word = 0;

	t->error = -EACCES;
	if (t->master)
		t->error = fake_pci_dma_read(t->slot, t->mailbox, &word, sizeof(word));
	word = ~word;
	if (!t->error)
		t->error = fake_pci_dma_write(t->slot, t->mailbox + 4, &word, sizeof(word));
	fake_pci_raise(t->slot, 0);
	fake_pci_intx(t->slot, true);
}

static void toy_write(void *ctx, unsigned int bar, u64 off, u64 val, unsigned int size)
{
	struct toy *t = ctx;

	if (bar)
		fake_pci_raise(t->slot, 1);
	else if (off == REG_MAILBOX)
		t->mailbox = val;
	else if (off == REG_RING)
		toy_ring(t);
	else if (off == REG_ACK)
		fake_pci_intx(t->slot, false);
}

static void toy_master(void *ctx, bool on)
{
	struct toy *t = ctx;

	t->master = on;
}

static void toy_reset(void *ctx)
{
	struct toy *t = ctx;

	t->resets++;
	t->mailbox = 0;
}

static const struct fake_pci_ops toy_ops = {
	.read = toy_read,
	.write = toy_write,
	.bus_master = toy_master,
	.reset = toy_reset,
};

static const struct fake_pci_desc toy_desc = {
	.vendor = VENDOR,
	.device = DEVICE,
	.class = 0x020700,
	.bar_size = { 0x100000, 0x400000 },
	.prefetch = BIT(1),
	.vectors = 4,
	.msix_table = 0x7c000,
	.msix_pba = 0x7d000,
};

/* ---- the driver ---- */

/**
 * struct drv - a bound device
 * @pdev: PCI device
 * @regs: BAR 0
 * @bell: a page of BAR 2
 * @mailbox: memory
 * @dma: its bus address
 * @done: an interrupt came
 * @irqs: how many, by vector
 * @line: Linux number of vector 0
 */
struct drv {
	struct pci_dev *pdev;
	u8 __iomem *regs;
	u8 __iomem *bell;
	u32 *mailbox;
	dma_addr_t dma;
	struct completion done;
	atomic_t irqs[2];
	int line;
};

/* Interrupt types the driver asks for; the tests set it before they plug. */
static unsigned int irq_types = PCI_IRQ_MSIX;

static irqreturn_t drv_irq(int irq, void *arg)
{
	struct drv *d = arg;

	if (!d->pdev->msix_enabled)
		writel(1, d->regs + REG_ACK);
	atomic_inc(&d->irqs[irq != d->line]);
	complete(&d->done);
	return IRQ_HANDLED;
}

static int drv_map(struct drv *d)
{
	d->regs = pcim_iomap(d->pdev, 0, 0);
	d->bell = devm_ioremap(&d->pdev->dev, pci_resource_start(d->pdev, 2), PAGE_SIZE);
	d->mailbox = dmam_alloc_coherent(&d->pdev->dev, PAGE_SIZE, &d->dma, GFP_KERNEL);
	if (!d->regs || !d->bell || !d->mailbox)
		return -ENOMEM;
	return readl(d->regs + REG_ID) == ID ? 0 : -ENODEV;
}

static int drv_irqs(struct drv *d)
{
	int n = pci_alloc_irq_vectors(d->pdev, 1, 2, irq_types), err = 0;

	if (n < 0)
		return n;
	d->line = pci_irq_vector(d->pdev, 0);
	for (int i = 0; i < n; i++)
		err = err ?: request_irq(pci_irq_vector(d->pdev, i), drv_irq, 0, "toy", d);
	return err;
}

static int drv_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct drv *d = devm_kzalloc(&pdev->dev, sizeof(*d), GFP_KERNEL);
	int err;

	if (!d)
		return -ENOMEM;
	d->pdev = pdev;
	init_completion(&d->done);
	pci_set_drvdata(pdev, d);
	err = pcim_enable_device(pdev) ?: dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		return err;
	pci_set_master(pdev);
	return drv_map(d) ?: drv_irqs(d);
}

static void drv_remove(struct pci_dev *pdev)
{
	struct drv *d = pci_get_drvdata(pdev);

	for (int i = 0; i < (pdev->msix_enabled ? 2 : 1); i++)
		free_irq(pci_irq_vector(pdev, i), d);
	pci_free_irq_vectors(pdev);
}

static const struct pci_device_id drv_ids[] = {
	{ PCI_DEVICE(VENDOR, DEVICE) },
	{}
};

static struct pci_driver drv = {
	.name = "fake-pci-toy",
	.id_table = drv_ids,
	.probe = drv_probe,
	.remove = drv_remove,
};

/* One mailbox command. Returns whether the answer came and is right. */
static bool drv_command(struct drv *d, u32 word)
{
	reinit_completion(&d->done);
	d->mailbox[0] = word;
	writeq(d->dma, d->regs + REG_MAILBOX);
	writel(1, d->regs + REG_RING);
	return wait_for_completion_timeout(&d->done, HZ) && d->mailbox[1] == ~word;
}

/* ---- the tests ---- */

KUNIT_DEFINE_ACTION_WRAPPER(destroy_slot, fake_pci_destroy, struct fake_pci *);
KUNIT_DEFINE_ACTION_WRAPPER(unregister_driver, pci_unregister_driver, struct pci_driver *);

static struct toy *new_toy(struct kunit *test)
{
	struct toy *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->slot = fake_pci_create(&toy_desc, &toy_ops, t);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t->slot));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_slot, t->slot), 0);
	return t;
}

/* Plug it in; the driver has bound when this returns. */
static struct drv *plug(struct kunit *test, struct toy *t)
{
	struct drv *d;

	KUNIT_ASSERT_EQ(test, fake_pci_plug(t->slot), 0);
	d = pci_get_drvdata(fake_pci_dev(t->slot));
	KUNIT_ASSERT_NOT_NULL(test, d);
	return d;
}

static void expect_no_mistakes(struct kunit *test, struct toy *t)
{
	struct fake_pci_stats s;

	fake_pci_stats(t->slot, &s);
	KUNIT_EXPECT_EQ(test, s.stray, 0UL);
	KUNIT_EXPECT_EQ(test, s.bad_dma, 0UL);
	KUNIT_EXPECT_EQ(test, s.bad_msi, 0UL);
}

static int bridge_init(struct kunit *test)
{
	int err = lr_test_init(test);

	if (err)
		return err;
	irq_types = PCI_IRQ_MSIX;
	err = pci_register_driver(&drv);
	return err ?: kunit_add_action_or_reset(test, unregister_driver, &drv);
}

static void bridge_probe(struct kunit *test)
{
	struct toy *t = new_toy(test);
	struct drv *d = plug(test, t);

	KUNIT_EXPECT_TRUE(test, drv_command(d, 0x12345678));
	KUNIT_EXPECT_EQ(test, atomic_read(&d->irqs[0]), 1);
	reinit_completion(&d->done);
	writel(7, d->bell + 0x20);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&d->done, HZ), 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&d->irqs[1]), 1);
	fake_pci_unplug(t->slot);
	KUNIT_EXPECT_NULL(test, fake_pci_dev(t->slot));
	expect_no_mistakes(test, t);
}

/* The same slot again and again: nothing of the former life is left. */
static void bridge_replug(struct kunit *test)
{
	struct toy *t = new_toy(test);

	for (unsigned int i = 0; i < 20; i++) {
		struct drv *d = plug(test, t);

		KUNIT_EXPECT_TRUE(test, drv_command(d, i));
		fake_pci_unplug(t->slot);
	}
	expect_no_mistakes(test, t);
}

static void bridge_two(struct kunit *test)
{
	struct toy *t[2] = { new_toy(test), new_toy(test) };
	struct drv *d[2] = { plug(test, t[0]), plug(test, t[1]) };

	KUNIT_EXPECT_TRUE(test, drv_command(d[0], 1));
	KUNIT_EXPECT_TRUE(test, drv_command(d[1], 2));
	fake_pci_unplug(t[0]->slot);
	KUNIT_EXPECT_TRUE(test, drv_command(d[1], 3));
	d[0] = plug(test, t[0]);
	fake_pci_unplug(t[1]->slot);
	KUNIT_EXPECT_TRUE(test, drv_command(d[0], 4));
	expect_no_mistakes(test, t[0]);
	expect_no_mistakes(test, t[1]);
}

/* A masked vector stays pending and arrives when it is unmasked. */
static void bridge_mask(struct kunit *test)
{
	struct toy *t = new_toy(test);
	struct drv *d = plug(test, t);
	struct fake_pci_stats s;

	disable_irq(pci_irq_vector(d->pdev, 0));
	KUNIT_EXPECT_FALSE(test, drv_command(d, 5));
	fake_pci_stats(t->slot, &s);
	KUNIT_EXPECT_EQ(test, atomic_read(&d->irqs[0]), 0);
	enable_irq(pci_irq_vector(d->pdev, 0));
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&d->done, HZ), 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&d->irqs[0]), 1);
	KUNIT_EXPECT_EQ(test, d->mailbox[1], ~5U);
}

static void bridge_intx(struct kunit *test)
{
	struct toy *t = new_toy(test);
	struct drv *d;

#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif
	irq_types = PCI_IRQ_INTX;
	d = plug(test, t);
	KUNIT_EXPECT_TRUE(test, drv_command(d, 6));
	KUNIT_EXPECT_TRUE(test, drv_command(d, 7));
	KUNIT_EXPECT_EQ(test, atomic_read(&d->irqs[0]), 2);
	fake_pci_unplug(t->slot);
	expect_no_mistakes(test, t);
}

/* Gone under the driver: ones, silence, no DMA; the removal that follows works. */
static void bridge_vanish(struct kunit *test)
{
	struct toy *t = new_toy(test);
	struct drv *d = plug(test, t);
	u16 vendor;

	d->mailbox[1] = 0;
	fake_pci_vanish(t->slot);
	KUNIT_EXPECT_TRUE(test, fake_pci_gone(t->slot));
	KUNIT_EXPECT_EQ(test, readl(d->regs + REG_ID), ~0U);
	pci_read_config_word(d->pdev, PCI_VENDOR_ID, &vendor);
	KUNIT_EXPECT_EQ(test, vendor, 0xffff);
	KUNIT_EXPECT_FALSE(test, drv_command(d, 8));
	KUNIT_EXPECT_EQ(test, d->mailbox[1], 0U);
	fake_pci_unplug(t->slot);
	expect_no_mistakes(test, t);
	d = plug(test, t);
	KUNIT_EXPECT_TRUE(test, drv_command(d, 9));
}

/* What a wrong driver does is counted, not executed. */
static void bridge_mistakes(struct kunit *test)
{
	struct toy *t = new_toy(test);
	struct drv *d = plug(test, t);
	struct fake_pci_stats s;

	writeq(1ULL << 40, d->regs + REG_MAILBOX);
	writel(1, d->regs + REG_RING);
	KUNIT_EXPECT_EQ(test, t->error, -EFAULT);
	pci_clear_master(d->pdev);
	writel(1, d->regs + REG_RING);
	KUNIT_EXPECT_EQ(test, t->error, -EACCES);
	pci_write_config_word(d->pdev, PCI_COMMAND, 0);
	KUNIT_EXPECT_EQ(test, readl(d->regs + REG_ID), ~0U);
	fake_pci_stats(t->slot, &s);
	KUNIT_EXPECT_EQ(test, s.bad_dma, 1UL);
	KUNIT_EXPECT_EQ(test, s.stray, 1UL);
}

static void bridge_reset(struct kunit *test)
{
	struct toy *t = new_toy(test);
	struct drv *d = plug(test, t);

	KUNIT_EXPECT_TRUE(test, drv_command(d, 10));
	KUNIT_EXPECT_EQ(test, pci_reset_function(d->pdev), 0);
	KUNIT_EXPECT_EQ(test, t->resets, 1U);
	KUNIT_EXPECT_TRUE(test, drv_command(d, 11));
	expect_no_mistakes(test, t);
}

/* Every width, and the big-endian accessors that drivers of this hardware use. */
static void bridge_widths(struct kunit *test)
{
	struct toy *t = new_toy(test);
	struct drv *d = plug(test, t);

	KUNIT_EXPECT_EQ(test, readl(d->regs + REG_ID), (u32)ID);
	KUNIT_EXPECT_EQ(test, ioread32be(d->regs + REG_ID), swab32(ID));
	KUNIT_EXPECT_EQ(test, readw(d->regs + REG_ID), (u16)ID);
	KUNIT_EXPECT_EQ(test, readb(d->regs + REG_ID), (u8)ID);
	KUNIT_EXPECT_EQ(test, readq(d->regs + REG_ID), (u64)ID);
	expect_no_mistakes(test, t);
}

static struct kunit_case bridge_cases[] = {
	KUNIT_CASE(bridge_probe),
	KUNIT_CASE(bridge_replug),
	KUNIT_CASE(bridge_two),
	KUNIT_CASE(bridge_mask),
	KUNIT_CASE(bridge_intx),
	KUNIT_CASE(bridge_vanish),
	KUNIT_CASE(bridge_mistakes),
	KUNIT_CASE(bridge_reset),
	KUNIT_CASE(bridge_widths),
	{}
};

static struct kunit_suite bridge_suite = {
	.name = "bridge",
	.init = bridge_init,
	.exit = lr_test_exit,
	.test_cases = bridge_cases,
};

kunit_test_suite(bridge_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the fake PCI bridge");
