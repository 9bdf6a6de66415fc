/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the fake PCI host bridge: a slot, and what its parts (bridge.c, config.c, irq.c)
 * call of each other. Everything here is under fake_pci_lock() unless it says otherwise.
 */
#ifndef KUNIT_EMULATOR_SLOT_H
#define KUNIT_EMULATOR_SLOT_H

#include <linux/bitmap.h>
#include <linux/pci.h>
#if __has_include("linux/unaligned.h")
#include <linux/unaligned.h>
#else	/* 6.1 */
#include <asm/unaligned.h>
#endif

#include <lastref/pci.h>

#define SLOTS 8
#define BUS_NUMBER 1		/* bus 0 is that of UML's own virtio bridge */
#define CFG_SIZE 4096
/* Where messages go; never touched as memory. */
#define MSI_ADDRESS 0xfee00000u

enum presence {
	SLOT_EMPTY,
	SLOT_PLUGGED,
	SLOT_GONE,
};

/**
 * struct fake_pci - a slot of the bus
 * @index: device number
 * @used: belongs to a fake_pci_create()
 * @presence: what the bus sees
 * @desc: see struct fake_pci_desc
 * @ops: the device
 * @ctx: its context
 * @cfg: configuration space
 * @wmask: bits of it that can be written
 * @w1c: bits of it that a written 1 clears
 * @table: MSI-X table, four words a vector
 * @pending: vectors to deliver, or masked and pending
 * @level: of the legacy interrupt
 * @intx_irq: Linux interrupt number of the legacy interrupt
 * @stats: counters
 * @polled: register that was read last, as a number to compare with
 * @repeated: reads of it in a row
 * @bar: argument of the MMIO operations, one a BAR
 */
struct fake_pci {
	unsigned int index;
	bool used;
	enum presence presence;
	struct fake_pci_desc desc;
	const struct fake_pci_ops *ops;
	void *ctx;
	u8 cfg[CFG_SIZE];
	u8 wmask[CFG_SIZE];
	u8 w1c[CFG_SIZE];
	u32 table[FAKE_PCI_VECTORS * 4];
	DECLARE_BITMAP(pending, FAKE_PCI_VECTORS);
	bool level;
	unsigned int intx_irq;
	struct fake_pci_stats stats;
	const void *polled;
	unsigned int repeated;
	struct fake_bar {
		struct fake_pci *fp;
		unsigned int bar;
	} bar[3];
};

/* config.c */
void fake_config_init(struct fake_pci *fp);
bool fake_config_memory_on(const struct fake_pci *fp);
bool fake_config_msix_on(const struct fake_pci *fp);
bool fake_config_msix_masked(const struct fake_pci *fp);
u64 fake_config_bar(const struct fake_pci *fp, unsigned int n);
extern struct pci_ops fake_config_ops;

/* irq.c */
int fake_irq_init(struct pci_host_bridge *bridge);
unsigned int fake_irq_intx(void);
void fake_irq_kick(void);
u32 fake_msix_read(struct fake_pci *fp, u32 off);
void fake_msix_write(struct fake_pci *fp, u32 off, u32 val);
u32 fake_msix_pending(struct fake_pci *fp, u32 off);
void fake_irq_reset(struct fake_pci *fp);

/* bridge.c: slot n, or NULL */
struct fake_pci *fake_slot(unsigned int n);

#endif
