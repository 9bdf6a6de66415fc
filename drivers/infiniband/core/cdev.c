// SPDX-License-Identifier: GPL-2.0-only
/*
 * Char devices of a device: memory, and the way into sysfs and /dev.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include <ib/cdev.h>

#include "core.h"

static void ib_cdev_release(struct device *dev)
{
	struct ib_cdev *cdev = container_of(dev, struct ib_cdev, dev);
	struct ib_device *device = cdev->device;

	kfree(cdev);
	put_device(&device->dev);
}

struct ib_cdev *ib_cdev_alloc_size(struct ib_device *device, size_t size)
{
	struct ib_cdev *cdev = kzalloc(size, GFP_KERNEL);

	if (!cdev)
		return NULL;
	get_device(&device->dev);
	cdev->device = device;
	device_initialize(&cdev->dev);
	cdev->dev.release = ib_cdev_release;
	return cdev;
}
EXPORT_SYMBOL_GPL(ib_cdev_alloc_size);

int ib_cdev_add(struct ib_cdev *cdev, struct class *class, const struct attribute_group **groups,
		dev_t number, const struct file_operations *fops, const char *name)
{
	int err;

	cdev->dev.parent = cdev->device->hca->parent;
	cdev->dev.class = class;
	cdev->dev.groups = groups;
	cdev->dev.devt = number;
	err = dev_set_name(&cdev->dev, "%s", name);
	if (err)
		return err;
	cdev_init(&cdev->cdev, fops);
	cdev->cdev.owner = fops->owner;
	err = cdev_device_add(&cdev->cdev, &cdev->dev);
	cdev->added = !err;
	return err;
}
EXPORT_SYMBOL_GPL(ib_cdev_add);

void ib_cdev_del(struct ib_cdev *cdev)
{
	if (cdev->added)
		cdev_device_del(&cdev->cdev, &cdev->dev);
	cdev->added = false;
}
EXPORT_SYMBOL_GPL(ib_cdev_del);
