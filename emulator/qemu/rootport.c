// SPDX-License-Identifier: GPL-2.0-only
/*
 * cx3-root-port: a PCIe root port whose slot knows surprise removal.
 *
 * QEMU's own port never reports "data link layer state changed", and answers
 * zeros where no device decodes. Here the link state follows the device, both
 * the bit and its event, and an empty address reads all-ones as on real PCI.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pci_bus.h"
#include "hw/hotplug.h"
#include "hw/pci/pcie.h"
#include "plugin.h"

static DeviceRealize parent_realize;
static void (*parent_unplug_request)(HotplugHandler *handler, DeviceState *dev, Error **errp);

/* Slot control bits that let a slot event interrupt, beside the master enable. */
#define SLOT_EVENTS (PCI_EXP_SLTSTA_ABP | PCI_EXP_SLTSTA_PFD | PCI_EXP_SLTSTA_MRLSC | \
		     PCI_EXP_SLTSTA_PDC | PCI_EXP_SLTSTA_CC)

static uint64_t ones_read(void *opaque, hwaddr addr, unsigned int size)
{
	return ~0ull;
}

static void ones_write(void *opaque, hwaddr addr, uint64_t val, unsigned int size)
{
}

static const MemoryRegionOps ones_ops = {
	.read = ones_read,
	.write = ones_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid.min_access_size = 1,
	.valid.max_access_size = 8,
	.impl.min_access_size = 1,
	.impl.max_access_size = 8,
};

static bool is_root_port(PCIDevice *port)
{
	return port && object_dynamic_cast(OBJECT(port), TYPE_CX3_ROOT_PORT);
}

static void port_realize(DeviceState *dev, Error **errp)
{
	PCIDevice *port = PCI_DEVICE(dev);
	MemoryRegion *ones, *bus;
	Error *err = NULL;
	uint8_t cap;

	parent_realize(dev, &err);
	if (err) {
		error_propagate(errp, err);
		return;
	}
	ones = g_new0(MemoryRegion, 1);
	memory_region_init_io(ones, OBJECT(dev), &ones_ops, NULL, "cx3-nobody", UINT64_MAX);
	bus = pci_bridge_get_sec_bus(PCI_BRIDGE(dev))->address_space_mem;
	memory_region_add_subregion_overlap(bus, 0, ones, -1000);
	cap = port->exp.exp_cap;
	pci_long_test_and_set_mask(port->config + cap + PCI_EXP_SLTCAP, PCI_EXP_SLTCAP_HPS);
	pci_word_test_and_set_mask(port->wmask + cap + PCI_EXP_SLTCTL, PCI_EXP_SLTCTL_DLLSCE);
	pci_word_test_and_set_mask(port->w1cmask + cap + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_DLLSC);
}

/* The link is active as long as somebody is there: a link reset waits for that. */
static uint32_t port_config_read(PCIDevice *port, uint32_t addr, int len)
{
	uint8_t *cap = port->config + port->exp.exp_cap;

	if (port->exp.exp_cap && (pci_get_word(cap + PCI_EXP_SLTSTA) & PCI_EXP_SLTSTA_PDS))
		pci_word_test_and_set_mask(cap + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA);
	return pci_default_read_config(port, addr, len);
}

static void port_interrupt(PCIDevice *port, unsigned int vector)
{
	if (msix_enabled(port))
		msix_notify(port, vector);
	else if (msi_enabled(port))
		msi_notify(port, vector);
}

bool cx3_root_port_surprise(PCIDevice *dev)
{
	PCIDevice *port = pci_bridge_get_device(pci_get_bus(dev));
	uint16_t control, raised;
	uint8_t *cap;

	if (!is_root_port(port))
		return false;
	cap = port->config + port->exp.exp_cap;
	pci_word_test_and_clear_mask(cap + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS);
	pci_word_test_and_clear_mask(cap + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA);
	pci_word_test_and_set_mask(cap + PCI_EXP_SLTSTA,
				   PCI_EXP_SLTSTA_PDC | PCI_EXP_SLTSTA_DLLSC);
	control = pci_get_word(cap + PCI_EXP_SLTCTL);
	raised = control & SLOT_EVENTS & PCI_EXP_SLTSTA_PDC;
	if (control & PCI_EXP_SLTCTL_DLLSCE)
		raised |= PCI_EXP_SLTSTA_DLLSC;
	if ((control & PCI_EXP_SLTCTL_HPIE) && raised) {
		port->exp.hpev_notified = true;
		port_interrupt(port, pcie_cap_flags_get_vector(port));
	}
	return true;
}

/* Nobody is asked about a card that has left already. */
static void port_unplug_request(HotplugHandler *handler, DeviceState *dev, Error **errp)
{
	Error *err = NULL;

	if (!cx3_hca_is_gone(PCI_DEVICE(dev))) {
		parent_unplug_request(handler, dev, errp);
		return;
	}
	hotplug_handler_unplug(handler, dev, &err);
	if (err)
		error_propagate(errp, err);
	else
		object_unparent(OBJECT(dev));
}

/* ----------------------------------------------------------------------- AER */

/* One severity: how the device and the root port write it down. */
struct severity {
	const char *name;
	uint32_t status_off;	/* in the device's AER capability */
	uint32_t status_bit;	/* default error */
	uint16_t devctl;	/* reporting enable */
	uint16_t devsta;	/* error detected */
	uint32_t root_cmd;	/* interrupt enable in the root port */
	uint32_t root_status;	/* message received */
	bool uncorrectable;
};

static const struct severity severities[] = {
	{ "correctable", PCI_ERR_COR_STATUS, PCI_ERR_COR_RCVR, PCI_EXP_DEVCTL_CERE,
	  PCI_EXP_DEVSTA_CED, PCI_ERR_ROOT_CMD_COR_EN, PCI_ERR_ROOT_COR_RCV, false },
	{ "nonfatal", PCI_ERR_UNCOR_STATUS, PCI_ERR_UNC_COMP_TIME, PCI_EXP_DEVCTL_NFERE,
	  PCI_EXP_DEVSTA_NFED, PCI_ERR_ROOT_CMD_NONFATAL_EN, PCI_ERR_ROOT_NONFATAL_RCV, true },
	{ "fatal", PCI_ERR_UNCOR_STATUS, PCI_ERR_UNC_MALF_TLP, PCI_EXP_DEVCTL_FERE,
	  PCI_EXP_DEVSTA_FED, PCI_ERR_ROOT_CMD_FATAL_EN, PCI_ERR_ROOT_FATAL_RCV, true },
};

/* An error message arrived at the root port (PCIe base spec, 6.2.4.1). */
static void root_receive(PCIDevice *port, const struct severity *sev, uint16_t source)
{
	uint8_t *aer = port->config + port->exp.aer_cap;
	uint32_t status = pci_get_long(aer + PCI_ERR_ROOT_STATUS);
	uint32_t got = sev->uncorrectable ? PCI_ERR_ROOT_UNCOR_RCV : PCI_ERR_ROOT_COR_RCV;
	uint32_t multiple = sev->uncorrectable ? PCI_ERR_ROOT_MULTI_UNCOR_RCV :
						 PCI_ERR_ROOT_MULTI_COR_RCV;

	if (status & got)
		status |= multiple;
	else
		pci_set_word(aer + PCI_ERR_ROOT_ERR_SRC + (sev->uncorrectable ? 2 : 0), source);
	if (sev->root_cmd == PCI_ERR_ROOT_CMD_FATAL_EN && !(status & got))
		status |= PCI_ERR_ROOT_FIRST_FATAL;
	status |= got | sev->root_status;
	pci_set_long(aer + PCI_ERR_ROOT_STATUS, status);
	if (pci_get_long(aer + PCI_ERR_ROOT_COMMAND) & sev->root_cmd)
		port_interrupt(port, status >> 27);
}

static const struct severity *parse_severity(const char *text, uint32_t *bit, Error **errp)
{
	const char *colon = strchrnul(text, ':');
	size_t i;

	for (i = 0; i < ARRAY_SIZE(severities); i++) {
		const struct severity *sev = &severities[i];

		if (strncmp(text, sev->name, colon - text) || sev->name[colon - text])
			continue;
		*bit = *colon ? strtoul(colon + 1, NULL, 0) : sev->status_bit;
		return sev;
	}
	error_setg(errp, "an error is correctable, nonfatal or fatal, not '%s'", text);
	return NULL;
}

void cx3_aer_inject(PCIDevice *dev, const char *text, Error **errp)
{
	PCIDevice *port = pci_bridge_get_device(pci_get_bus(dev));
	const struct severity *sev;
	uint8_t *exp = dev->config + dev->exp.exp_cap;
	uint8_t *aer = dev->config + dev->exp.aer_cap;
	uint32_t bit, mask;

	sev = parse_severity(text, &bit, errp);
	if (!sev)
		return;
	if (!is_root_port(port) || !port->exp.aer_cap || !dev->exp.aer_cap) {
		error_setg(errp, "errors are reported below a " TYPE_CX3_ROOT_PORT " only");
		return;
	}
	pci_long_test_and_set_mask(aer + sev->status_off, bit);
	pci_word_test_and_set_mask(exp + PCI_EXP_DEVSTA, sev->devsta);
	mask = pci_get_long(aer + (sev->uncorrectable ? PCI_ERR_UNCOR_MASK : PCI_ERR_COR_MASK));
	if (mask & bit)
		return;
	if (sev->uncorrectable) {
		/* the guest decides by the severity register which message this is */
		pci_long_test_and_clear_mask(aer + PCI_ERR_UNCOR_SEVER, bit);
		if (sev->root_cmd == PCI_ERR_ROOT_CMD_FATAL_EN)
			pci_long_test_and_set_mask(aer + PCI_ERR_UNCOR_SEVER, bit);
	}
	if (pci_get_word(exp + PCI_EXP_DEVCTL) & sev->devctl)
		root_receive(port, sev, pci_requester_id(dev));
}

/* ---------------------------------------------------------------------- type */

static void port_class_init(ObjectClass *class, void *data)
{
	HotplugHandlerClass *hotplug = HOTPLUG_HANDLER_CLASS(class);

	device_class_set_parent_realize(DEVICE_CLASS(class), port_realize, &parent_realize);
	PCI_DEVICE_CLASS(class)->config_read = port_config_read;
	parent_unplug_request = hotplug->unplug_request;
	hotplug->unplug_request = port_unplug_request;
}

static const TypeInfo port_info = {
	.name = TYPE_CX3_ROOT_PORT,
	.parent = "pcie-root-port",
	.class_init = port_class_init,
};

void cx3_root_port_register(void)
{
	type_register_static(&port_info);
}
