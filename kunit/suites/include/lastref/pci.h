/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCI devices in software, for KUnit on user mode Linux: a host bridge with slots, whose devices
 * have a configuration space, BARs that trap, MSI-X, INTx and DMA. A driver cannot tell; it is
 * found and bound by the PCI core as any other.
 *
 * Slots are for the life of the kernel and are used again. All models are run under one lock, with
 * interrupts off: register accesses enter in the driver's context, timers in hard interrupt
 * context. Interrupts of a device arrive a microsecond after it raised them, never inside the
 * access that caused them.
 */
#ifndef LASTREF_PCI_H
#define LASTREF_PCI_H

#include <linux/types.h>

struct pci_dev;
struct fake_pci;

#define FAKE_PCI_VECTORS 32
/* Virtual nanoseconds that an access costs, so that a loop which polls a register ends. */
#define FAKE_PCI_ACCESS_NS 200

/**
 * struct fake_pci_desc - what the configuration space of a device says
 * @vendor: vendor ID
 * @device: device ID
 * @revision: revision
 * @class: class code, 24 bits
 * @bar_size: bytes of BAR 0, 2 and 4, each a power of two or 0; all are 64-bit
 * @prefetch: bit n set: that BAR is prefetchable
 * @vectors: MSI-X vectors, 0 to FAKE_PCI_VECTORS
 * @msix_table: offset of their table in BAR 0; of the size of a page
 * @msix_pba: offset of the pending bits in BAR 0
 */
struct fake_pci_desc {
	u16 vendor;
	u16 device;
	u8 revision;
	u32 class;
	u64 bar_size[3];
	unsigned int prefetch;
	unsigned int vectors;
	u32 msix_table;
	u32 msix_pba;
};

/**
 * struct fake_pci_ops - the device behind the configuration space
 * @read: load of @size bytes from BAR @bar (0, 2, 4); the MSI-X table is the bridge's own
 * @write: store
 * @bus_master: the command register's bus master bit changed
 * @msix: MSI-X was enabled or disabled
 * @reset: function level reset; the configuration space has been reset already
 *
 * Called under the lock, interrupts off. Nothing here may be called back but fake_pci_raise(),
 * fake_pci_intx(), fake_pci_dma_*() and fake_pci_vanish_locked().
 */
struct fake_pci_ops {
	u64 (*read)(void *ctx, unsigned int bar, u64 off, unsigned int size);
	void (*write)(void *ctx, unsigned int bar, u64 off, u64 val, unsigned int size);
	void (*bus_master)(void *ctx, bool on);
	void (*msix)(void *ctx, bool on);
	void (*reset)(void *ctx);
};

/**
 * struct fake_pci_stats - what the bridge saw
 * @reads: loads that reached the device
 * @writes: stores that reached the device
 * @interrupts: interrupts delivered
 * @held: interrupts that met a mask and are, or were, pending
 * @stray: accesses through a mapping to a device that was not there or did not decode memory, and
 *	was not gone by surprise either: the driver's mistake
 * @bad_dma: DMA to addresses without memory
 * @bad_msi: interrupts whose table entry no driver had set up
 */
struct fake_pci_stats {
	unsigned long reads;
	unsigned long writes;
	unsigned long interrupts;
	unsigned long held;
	unsigned long stray;
	unsigned long bad_dma;
	unsigned long bad_msi;
};

/**
 * fake_pci_create() - put a device into a free slot, not yet visible
 * @desc: its configuration space; copied
 * @ops: the device
 * @ctx: first argument of @ops
 *
 * Context: may sleep. The first call makes the bridge.
 * Return: the slot, or an error pointer: -ENOSPC without a free slot.
 */
struct fake_pci *fake_pci_create(const struct fake_pci_desc *desc,
				 const struct fake_pci_ops *ops, void *ctx);

/**
 * fake_pci_destroy() - free the slot
 * @fp: from fake_pci_create(); unplugged
 */
void fake_pci_destroy(struct fake_pci *fp);

/**
 * fake_pci_plug() - the device appears, the bus is scanned, drivers probe before this returns
 * @fp: not plugged
 *
 * Return: 0, or -ENODEV if the PCI core did not find it. Whether a driver bound is not part of it.
 */
int fake_pci_plug(struct fake_pci *fp);

/**
 * fake_pci_unplug() - removal in order: the driver unbinds, then the device disappears
 * @fp: plugged or not
 */
void fake_pci_unplug(struct fake_pci *fp);

/**
 * fake_pci_vanish() - the device is gone by surprise: all-ones from now on, no interrupt, no DMA
 * @fp: plugged
 *
 * Nobody is told. fake_pci_unplug() afterwards is what a hotplug driver does when it notices.
 * Context: any.
 */
void fake_pci_vanish(struct fake_pci *fp);

/** fake_pci_vanish_locked() - the same. Context: under the lock. */
void fake_pci_vanish_locked(struct fake_pci *fp);

/** fake_pci_dev() - the PCI device while plugged, no reference taken; NULL otherwise */
struct pci_dev *fake_pci_dev(struct fake_pci *fp);

/** fake_pci_gone() - has fake_pci_vanish() been called since it was plugged? */
bool fake_pci_gone(const struct fake_pci *fp);

/** fake_pci_stats() - copy the counters */
void fake_pci_stats(struct fake_pci *fp, struct fake_pci_stats *stats);

/** fake_pci_raise() - send the message of vector @vector. Context: under the lock. */
void fake_pci_raise(struct fake_pci *fp, unsigned int vector);

/** fake_pci_intx() - set the level of the legacy interrupt. Context: under the lock. */
void fake_pci_intx(struct fake_pci *fp, bool level);

/**
 * fake_pci_dma_read() - the device reads memory
 * @fp: slot
 * @addr: bus address
 * @buf: destination
 * @len: bytes
 *
 * KASAN sees the access, so DMA from memory that was freed is reported as the use after free it is.
 * Bus mastering is the model's to check.
 *
 * Return: 0, or -EFAULT if any byte is not memory.
 */
int fake_pci_dma_read(struct fake_pci *fp, u64 addr, void *buf, u32 len);
/** fake_pci_dma_write() - the other direction */
int fake_pci_dma_write(struct fake_pci *fp, u64 addr, const void *buf, u32 len);

/** fake_pci_lock() - enter the models from outside of an access */
unsigned long fake_pci_lock(void);
/** fake_pci_unlock() - leave them; @flags as returned by fake_pci_lock() */
void fake_pci_unlock(unsigned long flags);

#endif
