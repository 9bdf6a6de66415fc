// SPDX-License-Identifier: GPL-2.0-only
/*
 * The class "infiniband" in sysfs: the device and its own attributes.
 *
 * The class device appears last, with everything below it, and its add event is sent when all is
 * there: udev's rules and libibverbs find a finished device. A reader keeps memory and enters the
 * gate for the length of one call; removing the directory waits for readers that are inside a call,
 * which GONE ends.
 */
#include <linux/device/class.h>
#include <linux/sysfs.h>

#include <ib/compat.h>

#include "objects.h"

/* NodeInfo:NodeType (IBA 14.2.5.3) of everything there is here. */
#define IB_NODE_CA 1

static struct ib_device *ib_device_of(struct device *dev)
{
	return container_of(dev, struct ib_device, dev);
}

static ssize_t node_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d: CA\n", IB_NODE_CA);
}
static DEVICE_ATTR_RO(node_type);

static ssize_t ib_emit_guid(char *buf, __be64 guid)
{
	u64 v = be64_to_cpu(guid);

	return sysfs_emit(buf, "%04llx:%04llx:%04llx:%04llx\n", v >> 48, v >> 32 & 0xffff,
			  v >> 16 & 0xffff, v & 0xffff);
}

static ssize_t node_guid_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return ib_emit_guid(buf, ib_device_of(dev)->node_guid);
}
static DEVICE_ATTR_RO(node_guid);

static ssize_t sys_image_guid_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return ib_emit_guid(buf, ib_device_attr(ib_device_of(dev))->sys_image_guid);
}
static DEVICE_ATTR_RO(sys_image_guid);

static ssize_t fw_ver_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", ib_device_of(dev)->fw_ver);
}
static DEVICE_ATTR_RO(fw_ver);

static ssize_t node_desc_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct ib_device *device = ib_device_of(dev);
	char desc[IB_NODE_DESC_MAX];

	spin_lock_irq(&device->hca->lock);
	memcpy(desc, device->node_desc, sizeof(desc));
	spin_unlock_irq(&device->hca->lock);
	return sysfs_emit(buf, "%.*s\n", IB_NODE_DESC_MAX, desc);
}

static ssize_t node_desc_store(struct device *dev, struct device_attribute *attr, const char *buf,
			       size_t count)
{
	struct ib_node_modify modify = {};
	int err;

	memcpy(modify.desc, buf, min_t(size_t, count, sizeof(modify.desc)));
	err = ib_node_modify(ib_device_of(dev), IB_NODE_MODIFY_DESC, &modify);
	return err ?: count;
}
static DEVICE_ATTR_RW(node_desc);

/* As user programs know these HCAs: MT and the PCI device number in decimal. */
static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "MT%u\n", ib_device_attr(ib_device_of(dev))->vendor_part_id);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%x\n", ib_device_attr(ib_device_of(dev))->hw_ver);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct ib_device_attr *device = ib_device_attr(ib_device_of(dev));

	return sysfs_emit(buf, "%.*s\n", (int)sizeof(device->board_id), device->board_id);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *ib_device_attrs[] = {
	&dev_attr_node_type.attr,
	&dev_attr_node_guid.attr,
	&dev_attr_sys_image_guid.attr,
	&dev_attr_fw_ver.attr,
	&dev_attr_node_desc.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_board_id.attr,
	NULL,
};
ATTRIBUTE_GROUPS(ib_device);

/* A copy of the name: renaming frees the one that the driver core knows. */
static int ib_class_uevent(ib_const_device *dev, struct kobj_uevent_env *env)
{
	struct ib_device *device = container_of((struct device *)dev, struct ib_device, dev);
	char name[IB_DEVICE_NAME_MAX];

	return add_uevent_var(env, "NAME=%s", ib_device_name(device, name));
}

/*
 * Not a variable of ours: the driver core reads it once more when it gives back the last reference
 * to the class, which may be after this module has left (a kernel with DEBUG_KOBJECT_RELEASE makes
 * it so).  Open files are no reason, they keep none.
 */
struct class *ib_class;

int ib_sysfs_init(void)
{
	ib_class = ib_class_create("infiniband");
	if (IS_ERR(ib_class))
		return PTR_ERR(ib_class);
	ib_class->dev_uevent = ib_class_uevent;
	return 0;
}

void ib_sysfs_exit(void)
{
	class_destroy(ib_class);
}

int ib_sysfs_add(struct ib_device *device)
{
	char name[IB_DEVICE_NAME_MAX];
	struct device *dev = &device->dev;
	int err;

	dev->class = ib_class;
	dev->groups = ib_device_groups;
	err = dev_set_name(dev, "%s", ib_device_name(device, name));
	if (err)
		return err;
	dev_set_uevent_suppress(dev, true);
	err = device_add(dev);
	if (err)
		return err;
	err = ib_sysfs_add_ports(device);
	if (err) {
		device_del(dev);
		return err;
	}
	dev_set_uevent_suppress(dev, false);
	kobject_uevent(&dev->kobj, KOBJ_ADD);
	return 0;
}

void ib_sysfs_del(struct ib_device *device)
{
	if (!device_is_registered(&device->dev))
		return;
	ib_sysfs_del_ports(device);
	mutex_lock(&device->objects->naming);
	device_del(&device->dev);
	mutex_unlock(&device->objects->naming);
}

int ib_sysfs_rename(struct ib_device *device, const char *name)
{
	int err = -ENODEV;

	/* The caller holds the registry's lock: nobody may wait here for a device that leaves. */
	if (!mutex_trylock(&device->objects->naming))
		return -ENODEV;
	if (device_is_registered(&device->dev))
		err = device_rename(&device->dev, name);
	mutex_unlock(&device->objects->naming);
	return err;
}
