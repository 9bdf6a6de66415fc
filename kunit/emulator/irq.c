// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the fake bridge: an interrupt domain for MSI-X, the vector tables, and the timer
 * that carries a message to the processor.
 *
 * The timer runs in hard interrupt context, so drivers' handlers and lockdep see what they would
 * see on hardware. A message carries the Linux interrupt number as its data.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/msi.h>

#include "slot.h"

#define LINES 56	/* UML has 64 interrupt numbers beyond its own; leave it some */
#define FLIGHT_NS 1000

static DECLARE_BITMAP(lines, LINES);
/* Interrupts that came while disabled; Linux asks for them again when they are enabled. */
static DECLARE_BITMAP(again, LINES);
static struct irq_domain *wires;
static struct hrtimer flight;

/* ---- the domain ---- */

static void compose(struct irq_data *d, struct msi_msg *msg)
{
	msg->address_hi = 0;
	msg->address_lo = MSI_ADDRESS;
	msg->data = d->irq;
}

static void edge_ack(struct irq_data *d)
{
}

static int retrigger(struct irq_data *d)
{
	set_bit(d->hwirq, again);
	fake_irq_kick();
	return 1;
}

static void level_mask(struct irq_data *d)
{
}

static void level_unmask(struct irq_data *d)
{
	fake_irq_kick();
}

static struct irq_chip wire_chip = {
	.name = "fake-pci",
	.irq_compose_msi_msg = compose,
	.irq_ack = edge_ack,
	.irq_retrigger = retrigger,
};

static struct irq_chip level_chip = {
	.name = "fake-pci-intx",
	.irq_mask = level_mask,
	.irq_unmask = level_unmask,
};

static int wire_alloc(struct irq_domain *domain, unsigned int virq, unsigned int n, void *arg)
{
	unsigned int first = bitmap_find_next_zero_area(lines, LINES, 0, n, 0);

	if (first >= LINES)
		return -ENOSPC;
	bitmap_set(lines, first, n);
	for (unsigned int i = 0; i < n; i++)
		irq_domain_set_info(domain, virq + i, first + i, &wire_chip, NULL,
				    handle_edge_irq, NULL, NULL);
	return 0;
}

static void wire_free(struct irq_domain *domain, unsigned int virq, unsigned int n)
{
	bitmap_clear(lines, irq_domain_get_irq_data(domain, virq)->hwirq, n);
}

static const struct irq_domain_ops wire_ops = { .alloc = wire_alloc, .free = wire_free };

static struct irq_chip msi_chip = {
	.name = "fake-pci-msi",
	.irq_mask = pci_msi_mask_irq,
	.irq_unmask = pci_msi_unmask_irq,
	.irq_ack = irq_chip_ack_parent,
	.irq_retrigger = irq_chip_retrigger_hierarchy,
};

static struct msi_domain_info msi_info = {
	.flags = MSI_FLAG_USE_DEF_DOM_OPS | MSI_FLAG_USE_DEF_CHIP_OPS | MSI_FLAG_PCI_MSIX,
	.chip = &msi_chip,
};

/* ---- the vector table and the pending bits ---- */

static bool vector_masked(const struct fake_pci *fp, unsigned int v)
{
	return fake_config_msix_masked(fp) ||
	       (fp->table[v * 4 + 3] & PCI_MSIX_ENTRY_CTRL_MASKBIT);
}

u32 fake_msix_read(struct fake_pci *fp, u32 off)
{
	return off / 4 < fp->desc.vectors * 4 ? fp->table[off / 4] : 0;
}

void fake_msix_write(struct fake_pci *fp, u32 off, u32 val)
{
	if (off / 4 >= fp->desc.vectors * 4)
		return;
	fp->table[off / 4] = val;
	if (off % 16 == PCI_MSIX_ENTRY_VECTOR_CTRL && !(val & PCI_MSIX_ENTRY_CTRL_MASKBIT))
		fake_irq_kick();
}

u32 fake_msix_pending(struct fake_pci *fp, u32 off)
{
	u32 bits = 0;

	for (unsigned int i = 0; i < 32; i++)
		if (off * 8 + i < fp->desc.vectors && test_bit(off * 8 + i, fp->pending) &&
		    vector_masked(fp, off * 8 + i))
			bits |= BIT(i);
	return bits;
}

void fake_irq_reset(struct fake_pci *fp)
{
	bitmap_zero(fp->pending, FAKE_PCI_VECTORS);
	memset(fp->table, 0, sizeof(fp->table));
	for (unsigned int v = 0; v < fp->desc.vectors; v++)
		fp->table[v * 4 + 3] = PCI_MSIX_ENTRY_CTRL_MASKBIT;
	fp->level = false;
}

/* ---- delivery ---- */

/* Take one deliverable interrupt off slot @fp. Returns its Linux number, or 0. */
static unsigned int take(struct fake_pci *fp)
{
	unsigned int v;

	if (fp->presence != SLOT_PLUGGED)
		return 0;
	if (!fake_config_msix_on(fp))
		return 0;
	for_each_set_bit(v, fp->pending, FAKE_PCI_VECTORS) {
		if (vector_masked(fp, v))
			continue;
		clear_bit(v, fp->pending);
		if (fp->table[v * 4] != MSI_ADDRESS || !fp->table[v * 4 + 2]) {
			fp->stats.bad_msi++;
			continue;
		}
		fp->stats.interrupts++;
		return fp->table[v * 4 + 2];
	}
	return 0;
}

static unsigned int next_message(void)
{
	unsigned long flags = fake_pci_lock();
	unsigned int irq = 0;

	for (unsigned int i = 0; !irq && i < SLOTS; i++)
		if (fake_slot(i))
			irq = take(fake_slot(i));
	fake_pci_unlock(flags);
	return irq;
}

/* The line of slot @i if it is high and anything would hear it. */
static unsigned int asserted(unsigned int i)
{
	struct fake_pci *fp = fake_slot(i);
	unsigned long flags = fake_pci_lock();
	unsigned int irq = 0;

	if (fp && fp->presence == SLOT_PLUGGED && fp->level && !fake_config_msix_on(fp) &&
	    !(fp->cfg[PCI_COMMAND + 1] & (PCI_COMMAND_INTX_DISABLE >> 8)) &&
	    irq_has_action(fp->intx_irq) &&
	    !irqd_irq_disabled(irq_get_irq_data(fp->intx_irq))) {
		fp->stats.interrupts++;
		irq = fp->intx_irq;
	}
	fake_pci_unlock(flags);
	return irq;
}

static enum hrtimer_restart land(struct hrtimer *timer)
{
	bool still = false;
	unsigned int irq;

	for_each_set_bit(irq, again, LINES)
		if (test_and_clear_bit(irq, again))
			generic_handle_domain_irq(wires, irq);
	while ((irq = next_message()))
		generic_handle_irq(irq);
	for (unsigned int i = 0; i < SLOTS; i++) {
		irq = asserted(i);
		if (irq) {
			generic_handle_irq(irq);
			still |= !!asserted(i);
		}
	}
	if (!still)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, FLIGHT_NS);
	return HRTIMER_RESTART;
}

void fake_irq_kick(void)
{
	if (!hrtimer_active(&flight))
		hrtimer_start(&flight, FLIGHT_NS, HRTIMER_MODE_REL);
}

void fake_pci_raise(struct fake_pci *fp, unsigned int vector)
{
	if (fp->presence != SLOT_PLUGGED || vector >= fp->desc.vectors ||
	    !fake_config_msix_on(fp))
		return;
	if (vector_masked(fp, vector))
		fp->stats.held++;
	set_bit(vector, fp->pending);
	fake_irq_kick();
}

void fake_pci_intx(struct fake_pci *fp, bool level)
{
	fp->level = level;
	if (level)
		fake_irq_kick();
}

unsigned int fake_irq_intx(void)
{
	int irq = irq_domain_alloc_irqs(wires, 1, NUMA_NO_NODE, NULL);

	if (irq <= 0)
		return 0;
	irq_set_chip_and_handler(irq, &level_chip, handle_simple_irq);
	return irq;
}

int fake_irq_init(struct pci_host_bridge *bridge)
{
	struct fwnode_handle *node = irq_domain_alloc_named_fwnode("fake-pci");
	struct irq_domain *msi;

	hrtimer_init(&flight, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	flight.function = land;
	if (!node)
		return -ENOMEM;
	wires = irq_domain_create_linear(node, LINES, &wire_ops, NULL);
	if (!wires)
		return -ENOMEM;
	msi = pci_msi_create_irq_domain(node, &msi_info, wires);
	if (!msi)
		return -ENOMEM;
	dev_set_msi_domain(&bridge->dev, msi);
	return 0;
}
