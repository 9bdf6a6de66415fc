// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space of a slot: header, power management, PCI Express and MSI-X capabilities,
 * advanced error reporting, as plain bytes with a mask of what can be written (PCI Express Base
 * Specification, chapter 7). The capability offsets are those of a ConnectX-3.
 */
#include <linux/pci.h>

#include "slot.h"

#define CAP_PM 0x40
#define CAP_EXP 0x60
#define CAP_MSIX 0x9c
#define CAP_AER 0x100

#define COMMAND_BITS (PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | \
		      PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE)
#define MSIX_BITS (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL)
/* maximum payload and read request, relaxed order, no snoop, error reporting enables */
#define DEVCTL_BITS 0x7fff

static void put16(u8 *where, unsigned int off, u16 val)
{
	put_unaligned_le16(val, where + off);
}

static void put32(u8 *where, unsigned int off, u32 val)
{
	put_unaligned_le32(val, where + off);
}

static u16 command(const struct fake_pci *fp)
{
	return get_unaligned_le16(&fp->cfg[PCI_COMMAND]);
}

static u16 msix_flags(const struct fake_pci *fp)
{
	return get_unaligned_le16(&fp->cfg[CAP_MSIX + PCI_MSIX_FLAGS]);
}

bool fake_config_memory_on(const struct fake_pci *fp)
{
	return command(fp) & PCI_COMMAND_MEMORY;
}

bool fake_config_msix_on(const struct fake_pci *fp)
{
	return fp->desc.vectors && (msix_flags(fp) & PCI_MSIX_FLAGS_ENABLE);
}

bool fake_config_msix_masked(const struct fake_pci *fp)
{
	return msix_flags(fp) & PCI_MSIX_FLAGS_MASKALL;
}

u64 fake_config_bar(const struct fake_pci *fp, unsigned int n)
{
	return get_unaligned_le64(&fp->cfg[PCI_BASE_ADDRESS_0 + n * 8]) &
	       PCI_BASE_ADDRESS_MEM_MASK;
}

static void init_bars(struct fake_pci *fp)
{
	for (unsigned int n = 0; n < ARRAY_SIZE(fp->desc.bar_size); n++) {
		unsigned int at = PCI_BASE_ADDRESS_0 + n * 8;
		u64 size = fp->desc.bar_size[n];

		if (!size)
			continue;
		put32(fp->cfg, at, PCI_BASE_ADDRESS_MEM_TYPE_64 |
		      (fp->desc.prefetch & BIT(n) ? PCI_BASE_ADDRESS_MEM_PREFETCH : 0));
		put_unaligned_le64(~(size - 1), &fp->wmask[at]);
	}
}

static void init_express(struct fake_pci *fp)
{
	u8 *cap = &fp->cfg[CAP_EXP];

	cap[PCI_CAP_LIST_ID] = PCI_CAP_ID_EXP;
	cap[PCI_CAP_LIST_NEXT] = fp->desc.vectors ? CAP_MSIX : 0;
	put16(cap, PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	put32(cap, PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER | 1);
	put32(cap, PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_8_0GB | 8 << 4);
	put16(cap, PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_8_0GB | 8 << 4);
	put32(cap, PCI_EXP_DEVCAP2, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
	put16(&fp->wmask[CAP_EXP], PCI_EXP_DEVCTL, DEVCTL_BITS);
	put16(&fp->w1c[CAP_EXP], PCI_EXP_DEVSTA, 0xf);
	put16(&fp->wmask[CAP_EXP], PCI_EXP_LNKCTL, 0x1c3);
	put16(&fp->wmask[CAP_EXP], PCI_EXP_DEVCTL2, 0x1f);
}

static void init_msix(struct fake_pci *fp)
{
	u8 *cap = &fp->cfg[CAP_MSIX];

	if (!fp->desc.vectors)
		return;
	cap[PCI_CAP_LIST_ID] = PCI_CAP_ID_MSIX;
	put16(cap, PCI_MSIX_FLAGS, fp->desc.vectors - 1);
	put32(cap, PCI_MSIX_TABLE, fp->desc.msix_table);
	put32(cap, PCI_MSIX_PBA, fp->desc.msix_pba);
	put16(&fp->wmask[CAP_MSIX], PCI_MSIX_FLAGS, MSIX_BITS);
}

static void init_aer(struct fake_pci *fp)
{
	put32(fp->cfg, CAP_AER, PCI_EXT_CAP_ID_ERR | 2 << 16);
	put32(&fp->wmask[CAP_AER], PCI_ERR_UNCOR_MASK, ~0u);
	put32(&fp->wmask[CAP_AER], PCI_ERR_UNCOR_SEVER, ~0u);
	put32(&fp->wmask[CAP_AER], PCI_ERR_COR_MASK, ~0u);
	put32(&fp->w1c[CAP_AER], PCI_ERR_UNCOR_STATUS, ~0u);
	put32(&fp->w1c[CAP_AER], PCI_ERR_COR_STATUS, ~0u);
}

/* The state after power up; the description is in place. */
void fake_config_init(struct fake_pci *fp)
{
	memset(fp->cfg, 0, sizeof(fp->cfg));
	memset(fp->wmask, 0, sizeof(fp->wmask));
	memset(fp->w1c, 0, sizeof(fp->w1c));
	put16(fp->cfg, PCI_VENDOR_ID, fp->desc.vendor);
	put16(fp->cfg, PCI_DEVICE_ID, fp->desc.device);
	put16(fp->cfg, PCI_SUBSYSTEM_VENDOR_ID, fp->desc.vendor);
	put16(fp->cfg, PCI_SUBSYSTEM_ID, fp->desc.device);
	put32(fp->cfg, PCI_CLASS_REVISION, fp->desc.class << 8 | fp->desc.revision);
	put16(fp->cfg, PCI_STATUS, PCI_STATUS_CAP_LIST);
	fp->cfg[PCI_INTERRUPT_PIN] = 1;
	fp->cfg[PCI_CAPABILITY_LIST] = CAP_PM;
	put16(fp->wmask, PCI_COMMAND, COMMAND_BITS);
	put16(fp->w1c, PCI_STATUS, 0xf900);
	fp->wmask[PCI_INTERRUPT_LINE] = 0xff;
	fp->wmask[PCI_CACHE_LINE_SIZE] = 0xff;
	init_bars(fp);

	fp->cfg[CAP_PM] = PCI_CAP_ID_PM;
	fp->cfg[CAP_PM + PCI_CAP_LIST_NEXT] = CAP_EXP;
	put16(&fp->cfg[CAP_PM], PCI_PM_PMC, 3);
	put16(&fp->cfg[CAP_PM], PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
	put16(&fp->wmask[CAP_PM], PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
	init_express(fp);
	init_msix(fp);
	init_aer(fp);
}

static bool absent(const struct fake_pci *fp, int where, int size)
{
	return !fp || fp->presence != SLOT_PLUGGED || where < 0 || where + size > CFG_SIZE;
}

static struct fake_pci *at(const struct pci_bus *bus, unsigned int devfn)
{
	return bus->number == BUS_NUMBER && !PCI_FUNC(devfn) ? fake_slot(PCI_SLOT(devfn)) : NULL;
}

static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *val)
{
	struct fake_pci *fp = at(bus, devfn);
	unsigned long flags = fake_pci_lock();
	int ret = PCIBIOS_DEVICE_NOT_FOUND;

	*val = ~0u;
	if (!absent(fp, where, size)) {
		*val = 0;
		memcpy(val, &fp->cfg[where], size);
		ret = PCIBIOS_SUCCESSFUL;
	}
	fake_pci_unlock(flags);
	return ret;
}

/* Tell the device what the write changed. */
static void config_changed(struct fake_pci *fp, u16 old_command, bool old_msix)
{
	u16 devctl = get_unaligned_le16(&fp->cfg[CAP_EXP + PCI_EXP_DEVCTL]);

	if (devctl & PCI_EXP_DEVCTL_BCR_FLR) {
		fake_config_init(fp);
		fake_irq_reset(fp);
		if (fp->ops->reset)
			fp->ops->reset(fp->ctx);
	}
	if (((command(fp) ^ old_command) & PCI_COMMAND_MASTER) && fp->ops->bus_master)
		fp->ops->bus_master(fp->ctx, command(fp) & PCI_COMMAND_MASTER);
	if (fake_config_msix_on(fp) != old_msix && fp->ops->msix)
		fp->ops->msix(fp->ctx, fake_config_msix_on(fp));
	fake_irq_kick();	/* an unmasked function may have something pending */
}

static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 val)
{
	struct fake_pci *fp = at(bus, devfn);
	unsigned long flags = fake_pci_lock();
	int ret = PCIBIOS_DEVICE_NOT_FOUND;

	if (!absent(fp, where, size)) {
		u16 old_command = command(fp);
		bool old_msix = fake_config_msix_on(fp);

		/* initiating a function level reset reads as 0 but has to be seen once */
		fp->wmask[CAP_EXP + PCI_EXP_DEVCTL + 1] |= PCI_EXP_DEVCTL_BCR_FLR >> 8;
		for (int i = where; i < where + size; i++, val >>= 8) {
			fp->cfg[i] = (fp->cfg[i] & ~fp->wmask[i]) | ((u8)val & fp->wmask[i]);
			fp->cfg[i] &= ~((u8)val & fp->w1c[i]);
		}
		config_changed(fp, old_command, old_msix);
		ret = PCIBIOS_SUCCESSFUL;
	}
	fake_pci_unlock(flags);
	return ret;
}

struct pci_ops fake_config_ops = { .read = config_read, .write = config_write };
