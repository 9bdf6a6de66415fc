// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake PCI host bridge: slots, trapping MMIO, DMA. See <lastref/pci.h>.
 *
 * UML's logic_iomem gives each ioremap() of our window a region whose accesses call us. A region
 * cannot be taken away again, and a driver may keep a mapping after its device left, so window,
 * bridge and slots stay for the life of the kernel and an access to an empty slot is counted.
 */
#include <linux/delay.h>
#include <linux/logic_iomem.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>

#include <lastref/clock.h>
#include <lastref/fault.h>

#include "slot.h"

/* Above any memory that UML can have here. */
#define WINDOW_START (8ULL * SZ_1G)
#define WINDOW_SIZE SZ_512M

static struct resource window = {
	.name = "fake PCI memory",
	.start = WINDOW_START,
	.end = WINDOW_START + WINDOW_SIZE - 1,
	.flags = IORESOURCE_MEM | IORESOURCE_MEM_64,
};

static struct resource numbers = {
	.name = "fake PCI buses",
	.start = BUS_NUMBER,
	.end = BUS_NUMBER,
	.flags = IORESOURCE_BUS,
};

static DEFINE_SPINLOCK(models);
static struct lr_fault_hold fault_hold;
/* Protects the making of the bridge and the choice of slots. */
static DEFINE_MUTEX(setup);
static struct pci_host_bridge *host;
static struct fake_pci *slots[SLOTS];

/* A model allocates for itself; an allocation that is to fail is the driver's. */
unsigned long fake_pci_lock(void)
{
	unsigned long flags;

	spin_lock_irqsave(&models, flags);
	lr_fault_pause(&fault_hold);
	return flags;
}

void fake_pci_unlock(unsigned long flags)
{
	lr_fault_resume(&fault_hold);
	spin_unlock_irqrestore(&models, flags);
}

struct fake_pci *fake_slot(unsigned int n)
{
	return n < SLOTS ? slots[n] : NULL;
}

/* ---- MMIO ---- */

/*
 * Time passes for whoever may be interrupted, so that polling with a deadline ends. A driver that
 * reads one register over and over waits for something: virtual time then goes faster and faster,
 * or a minute of it would be 300 million reads.
 */
static void access_time(struct fake_pci *fp, const void *where)
{
	unsigned int ns = FAKE_PCI_ACCESS_NS;

	if (irqs_disabled() || in_interrupt())
		return;
	fp->repeated = where && where == fp->polled ? fp->repeated + 1 : 0;
	fp->polled = where;
	if (lr_time_is_virtual())
		ns <<= min(fp->repeated / 64, 10U);
	ndelay(ns);
}

static bool decodes(struct fake_pci *fp)
{
	if (fp->presence == SLOT_PLUGGED && fake_config_memory_on(fp))
		return true;
	if (fp->presence != SLOT_GONE)
		fp->stats.stray++;
	return false;
}

static bool in_page(u32 off, u32 page)
{
	return off >= page && off < page + SZ_4K;
}

static unsigned long mmio_read(void *priv, unsigned int off, int size)
{
	const struct fake_bar *b = priv;
	struct fake_pci *fp = b->fp;
	unsigned long flags = fake_pci_lock();
	u64 val = ~0ULL;

	if (decodes(fp)) {
		fp->stats.reads++;
		if (!b->bar && fp->desc.vectors && in_page(off, fp->desc.msix_table))
			val = fake_msix_read(fp, off - fp->desc.msix_table);
		else if (!b->bar && fp->desc.vectors && in_page(off, fp->desc.msix_pba))
			val = fake_msix_pending(fp, off - fp->desc.msix_pba);
		else
			val = fp->ops->read(fp->ctx, b->bar, off, size);
	}
	fake_pci_unlock(flags);
	access_time(fp, (const u8 *)b + off);
	return size == 8 ? val : val & (BIT_ULL(size * 8) - 1);
}

static void mmio_write(void *priv, unsigned int off, int size, unsigned long val)
{
	const struct fake_bar *b = priv;
	struct fake_pci *fp = b->fp;
	unsigned long flags = fake_pci_lock();

	if (decodes(fp)) {
		fp->stats.writes++;
		if (!b->bar && fp->desc.vectors && in_page(off, fp->desc.msix_table))
			fake_msix_write(fp, off - fp->desc.msix_table, val);
		else if (b->bar || !fp->desc.vectors || !in_page(off, fp->desc.msix_pba))
			fp->ops->write(fp->ctx, b->bar, off, val, size);
	}
	fake_pci_unlock(flags);
	access_time(fp, NULL);
}

static void mmio_copy_from(void *priv, void *buf, unsigned int off, int size)
{
	u8 *to = buf;

	for (; size >= 8; size -= 8, off += 8, to += 8) {
		u64 v = mmio_read(priv, off, 8);

		memcpy(to, &v, 8);
	}
	for (; size; size--, off++)
		*to++ = mmio_read(priv, off, 1);
}

static void mmio_copy_to(void *priv, unsigned int off, const void *buf, int size)
{
	const u8 *from = buf;

	for (; size >= 8; size -= 8, off += 8, from += 8) {
		u64 v;

		memcpy(&v, from, 8);
		mmio_write(priv, off, 8, v);
	}
	for (; size; size--, off++)
		mmio_write(priv, off, 1, *from++);
}

static void mmio_set(void *priv, unsigned int off, u8 value, int size)
{
	for (; size; size--, off++)
		mmio_write(priv, off, 1, value);
}

static const struct logic_iomem_ops mmio_ops = {
	.read = mmio_read,
	.write = mmio_write,
	.copy_from = mmio_copy_from,
	.copy_to = mmio_copy_to,
	.set = mmio_set,
};

/*
 * Which BAR of which slot decodes [@offset, @offset + @size) of the window? One that is gone by
 * surprise counts: its addresses can be mapped still, and read as ones.
 */
static long mmio_map(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
		     void **priv)
{
	u64 addr = WINDOW_START + offset;

	for (unsigned int i = 0; i < SLOTS * 3; i++) {
		struct fake_pci *fp = slots[i / 3];
		u64 base, len;

		if (!fp || fp->presence == SLOT_EMPTY)
			continue;
		base = fake_config_bar(fp, i % 3);
		len = fp->desc.bar_size[i % 3];
		if (!len || addr < base || addr + size > base + len)
			continue;
		*ops = &mmio_ops;
		*priv = &fp->bar[i % 3];
		return addr - base;
	}
	return -ENXIO;
}

static const struct logic_iomem_region_ops window_ops = { .map = mmio_map };

/* ---- DMA: UML's bus addresses are physical ---- */

static bool is_memory(u64 addr, u32 len)
{
	return len && addr + len > addr && pfn_valid(PHYS_PFN(addr)) &&
	       pfn_valid(PHYS_PFN(addr + len - 1));
}

static bool dma_refused(struct fake_pci *fp, u64 addr, u32 len)
{
	if (fp->presence != SLOT_PLUGGED)
		return true;
	if (is_memory(addr, len))
		return false;
	fp->stats.bad_dma++;
	return true;
}

int fake_pci_dma_read(struct fake_pci *fp, u64 addr, void *buf, u32 len)
{
	if (dma_refused(fp, addr, len))
		return -EFAULT;
	memcpy(buf, phys_to_virt(addr), len);
	return 0;
}

int fake_pci_dma_write(struct fake_pci *fp, u64 addr, const void *buf, u32 len)
{
	if (dma_refused(fp, addr, len))
		return -EFAULT;
	memcpy(phys_to_virt(addr), buf, len);
	return 0;
}

/* ---- slots ---- */

static int map_intx(const struct pci_dev *pdev, u8 slot, u8 pin)
{
	struct fake_pci *fp = fake_slot(PCI_SLOT(pdev->devfn));

	return fp ? fp->intx_irq : 0;
}

static int make_bridge(void)
{
	struct pci_host_bridge *b;
	int err;

	if (host)
		return 0;
	b = pci_alloc_host_bridge(0);
	if (!b)
		return -ENOMEM;
	err = logic_iomem_add_region(&window, &window_ops);
	if (!err)
		err = fake_irq_init(b);
	if (err)
		return err;
	pci_add_resource(&b->windows, &window);
	pci_add_resource(&b->windows, &numbers);
	b->busnr = BUS_NUMBER;
	b->ops = &fake_config_ops;
	b->map_irq = map_intx;
	err = pci_host_probe(b);
	if (!err)
		host = b;
	return err;
}

static struct fake_pci *new_slot(unsigned int i)
{
	struct fake_pci *fp = kzalloc(sizeof(*fp), GFP_KERNEL);

	if (!fp)
		return NULL;
	fp->index = i;
	fp->intx_irq = fake_irq_intx();
	for (unsigned int n = 0; n < ARRAY_SIZE(fp->bar); n++)
		fp->bar[n] = (struct fake_bar){ .fp = fp, .bar = n * 2 };
	slots[i] = fp;
	return fp;
}

static struct fake_pci *free_slot(void)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct fake_pci *fp = slots[i] ?: new_slot(i);

		if (!fp)
			return ERR_PTR(-ENOMEM);
		if (!fp->used)
			return fp;
	}
	return ERR_PTR(-ENOSPC);
}

struct fake_pci *fake_pci_create(const struct fake_pci_desc *desc,
				 const struct fake_pci_ops *ops, void *ctx)
{
	struct fake_pci *fp;
	int err;

	if (desc->vectors > FAKE_PCI_VECTORS)
		return ERR_PTR(-EINVAL);
	mutex_lock(&setup);
	err = make_bridge();
	fp = err ? ERR_PTR(err) : free_slot();
	if (!IS_ERR(fp)) {
		fp->used = true;
		fp->desc = *desc;
		fp->ops = ops;
		fp->ctx = ctx;
		memset(&fp->stats, 0, sizeof(fp->stats));
	}
	mutex_unlock(&setup);
	return fp;
}
EXPORT_SYMBOL_GPL(fake_pci_create);

void fake_pci_destroy(struct fake_pci *fp)
{
	unsigned long flags;

	fake_pci_unplug(fp);
	flags = fake_pci_lock();
	fp->ops = NULL;
	fp->ctx = NULL;
	fp->used = false;
	fake_pci_unlock(flags);
}
EXPORT_SYMBOL_GPL(fake_pci_destroy);

static void set_presence(struct fake_pci *fp, enum presence presence)
{
	unsigned long flags = fake_pci_lock();

	fp->presence = presence;
	if (presence == SLOT_PLUGGED) {
		fake_config_init(fp);
		fake_irq_reset(fp);
	}
	fake_pci_unlock(flags);
}

int fake_pci_plug(struct fake_pci *fp)
{
	set_presence(fp, SLOT_PLUGGED);
	pci_lock_rescan_remove();
	pci_rescan_bus(host->bus);
	pci_unlock_rescan_remove();
	return fake_pci_dev(fp) ? 0 : -ENODEV;
}
EXPORT_SYMBOL_GPL(fake_pci_plug);

void fake_pci_unplug(struct fake_pci *fp)
{
	struct pci_dev *pdev = fake_pci_dev(fp);

	if (pdev)
		pci_stop_and_remove_bus_device_locked(pdev);
	set_presence(fp, SLOT_EMPTY);
}
EXPORT_SYMBOL_GPL(fake_pci_unplug);

void fake_pci_vanish_locked(struct fake_pci *fp)
{
	if (fp->presence == SLOT_PLUGGED)
		fp->presence = SLOT_GONE;
}
EXPORT_SYMBOL_GPL(fake_pci_vanish_locked);

void fake_pci_vanish(struct fake_pci *fp)
{
	unsigned long flags = fake_pci_lock();

	fake_pci_vanish_locked(fp);
	fake_pci_unlock(flags);
}
EXPORT_SYMBOL_GPL(fake_pci_vanish);

bool fake_pci_gone(const struct fake_pci *fp)
{
	return fp->presence == SLOT_GONE;
}
EXPORT_SYMBOL_GPL(fake_pci_gone);

struct pci_dev *fake_pci_dev(struct fake_pci *fp)
{
	struct pci_dev *pdev = pci_get_slot(host->bus, PCI_DEVFN(fp->index, 0));

	pci_dev_put(pdev);
	return pdev;
}
EXPORT_SYMBOL_GPL(fake_pci_dev);

void fake_pci_stats(struct fake_pci *fp, struct fake_pci_stats *stats)
{
	unsigned long flags = fake_pci_lock();

	*stats = fp->stats;
	fake_pci_unlock(flags);
}
EXPORT_SYMBOL_GPL(fake_pci_stats);
