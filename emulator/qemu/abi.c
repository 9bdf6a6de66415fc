// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the running QEMU have the structures that our headers describe?
 *
 * QEMU promises nothing to code outside its tree. What can be asked at run
 * time is asked: the sizes of the types we embed or derive from, and the place
 * of a field with a known value.
 */
#include "qemu/osdep.h"
#include <malloc.h>
#include "hw/pci/pci_bus.h"
#include "exec/memory.h"
#include "plugin.h"

struct known_size {
	const char *type;
	size_t size;
};

static const struct known_size instances[] = {
	{ TYPE_OBJECT, sizeof(Object) },
	{ TYPE_DEVICE, sizeof(DeviceState) },
	{ TYPE_PCI_DEVICE, sizeof(PCIDevice) },
	{ TYPE_MEMORY_REGION, sizeof(MemoryRegion) },
	{ TYPE_PCI_BUS, sizeof(PCIBus) },
};

static const struct known_size classes[] = {
	{ TYPE_DEVICE, sizeof(DeviceClass) },
	{ TYPE_PCI_DEVICE, sizeof(PCIDeviceClass) },
};

static bool differs(const char *what, const char *type, size_t theirs, size_t ours, size_t slack)
{
	if (theirs >= ours && theirs <= ours + slack)
		return false;
	fprintf(stderr, "cx3: %s %s: %zu bytes in this QEMU, %zu in its headers\n", what, type,
		theirs, ours);
	return true;
}

/* The malloc block behind a class: its size and up to 23 bytes of rounding. */
static size_t class_size(const char *type)
{
	ObjectClass *class = object_class_by_name(type);

	return class ? malloc_usable_size(class) : 0;
}

/* The edu device's ids are documented: 1234:11e8. */
static bool ids_misplaced(void)
{
	ObjectClass *class = object_class_by_name("edu");
	PCIDeviceClass *pci = (PCIDeviceClass *)class;

	if (pci && pci->vendor_id == 0x1234 && pci->device_id == 0x11e8)
		return false;
	fprintf(stderr, "cx3: PCI ids are not where the headers have them\n");
	return true;
}

void cx3_abi_check(void)
{
	bool bad = ids_misplaced();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(instances); i++) {
		const char *type = instances[i].type;
		size_t size = object_class_by_name(type) ? object_type_get_instance_size(type) : 0;

		bad |= differs("object", type, size, instances[i].size, 0);
	}
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		bad |= differs("class", classes[i].type, class_size(classes[i].type),
			       classes[i].size, 23);
	if (!bad)
		return;
	fprintf(stderr, "cx3: built for QEMU " QEMU_VERSION ", which this one is not\n");
	exit(1);
}
