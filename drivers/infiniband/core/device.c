// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: memory, name and index, finding them.
 *
 * The memory of a device is that of its struct device and ends with the last open file or reader of
 * sysfs, long after the hardware may have gone; everything it needs for that is in ib_core's text.
 * The name belongs to the device from registration until RELEASED, so the next incarnation gets the
 * same one; a device in quarantine keeps its own.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"

static void ib_device_memory_free(struct device *dev)
{
	struct ib_device *device = container_of(dev, struct ib_device, dev);
	struct ib_hca *hca = device->hca;

	ib_verbs_end(device);
	ib_revoke_list_free(device->files);
	ib_gate_exit_memory(&device->gate);
	if (device->wq)
		destroy_workqueue(device->wq);
	kfree(device);
	ib_hca_put(hca);
	module_put(THIS_MODULE);
}

struct ib_device *ib_device_alloc_size(struct ib_hca *hca, const struct ib_device_ops *ops,
				       const char *name_format, size_t size)
{
	struct ib_device *device;
	int err = -ENOMEM;

	if (!ops->stop || !ops->flush)
		return ERR_PTR(-EINVAL);
	device = kzalloc(size, GFP_KERNEL);
	if (!device)
		return ERR_PTR(-ENOMEM);
	err = ib_gate_init(&device->gate, hca);
	if (err)
		goto free_memory;
	err = -ENOMEM;
	device->wq = alloc_workqueue("ib/%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
				     dev_name(hca->parent));
	if (!device->wq)
		goto exit_gate;
	device->files = ib_revoke_list_alloc();
	if (IS_ERR(device->files)) {
		err = PTR_ERR(device->files);
		goto destroy_queue;
	}
	device->hca = hca;
	device->ops = ops;
	strscpy(device->name, name_format, sizeof(device->name));
	INIT_LIST_HEAD(&device->attachments);
	INIT_LIST_HEAD(&device->services);
	INIT_LIST_HEAD(&device->quarantine_node);
	err = ib_verbs_begin(device);
	if (err)
		goto free_files;
	ib_holder_init(device);
	device_initialize(&device->dev);
	device->dev.parent = hca->parent;
	device->dev.release = ib_device_memory_free;
	ib_hca_get(hca);
	__module_get(THIS_MODULE);
	return device;

free_files:
	ib_revoke_list_free(device->files);
destroy_queue:
	destroy_workqueue(device->wq);
exit_gate:
	ib_gate_exit_memory(&device->gate);
free_memory:
	kfree(device);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(ib_device_alloc_size);

void ib_device_free(struct ib_device *device)
{
	WARN_ON(device->state != IB_DEVICE_NEW);
	put_device(&device->dev);
}
EXPORT_SYMBOL_GPL(ib_device_free);

/* With the registry's lock held. */
static struct ib_device *ib_device_by_name(const char *name)
{
	struct ib_device *device;
	unsigned long index;

	xa_for_each(&ib_registry.devices, index, device)
		if (!strcmp(device->name, name))
			return device;
	return NULL;
}

/* With the registry's lock held: the lowest number for which the name is free. */
static void ib_device_name_choose(struct ib_device *device, const char *format)
{
	char name[IB_DEVICE_NAME_MAX];
	unsigned int number = 0;

	do {
		snprintf(name, sizeof(name), format, number++);
	} while (ib_device_by_name(name));
	spin_lock_irq(&device->hca->lock);
	strscpy(device->name, name, sizeof(device->name));
	spin_unlock_irq(&device->hca->lock);
}

/**
 * ib_device_name_assign() - give a device its name and its index
 * @device: its name is still the format
 *
 * Return: 0 or an error.
 */
int ib_device_name_assign(struct ib_device *device)
{
	char format[IB_DEVICE_NAME_MAX];
	int err;

	mutex_lock(&ib_registry.lock);
	strscpy(format, device->name, sizeof(format));
	ib_device_name_choose(device, format);
	err = xa_alloc_cyclic(&ib_registry.devices, &device->index, device, xa_limit_31b,
			      &ib_registry.next_index, GFP_KERNEL);
	device->named = err >= 0;
	mutex_unlock(&ib_registry.lock);
	return min(err, 0);
}

/**
 * ib_device_name_release() - take them back
 * @device: RELEASED
 */
void ib_device_name_release(struct ib_device *device)
{
	mutex_lock(&ib_registry.lock);
	if (device->named)
		xa_erase(&ib_registry.devices, device->index);
	device->named = false;
	mutex_unlock(&ib_registry.lock);
}

char *ib_device_name(struct ib_device *device, char *name)
{
	unsigned long flags;

	spin_lock_irqsave(&device->hca->lock, flags);
	strscpy(name, device->name, IB_DEVICE_NAME_MAX);
	spin_unlock_irqrestore(&device->hca->lock, flags);
	return name;
}
EXPORT_SYMBOL_GPL(ib_device_name);

static bool ib_device_name_is_legal(const char *name)
{
	size_t len = strnlen(name, IB_DEVICE_NAME_MAX);

	return len && len < IB_DEVICE_NAME_MAX && !strpbrk(name, "/%") && strcmp(name, ".") &&
	       strcmp(name, "..");
}

static void ib_device_set_name(struct ib_device *device, const char *name)
{
	spin_lock_irq(&device->hca->lock);
	strscpy(device->name, name, sizeof(device->name));
	spin_unlock_irq(&device->hca->lock);
}

int ib_device_rename(struct ib_device *device, const char *name)
{
	char old[IB_DEVICE_NAME_MAX];
	int err = 0;

	if (!ib_device_name_is_legal(name))
		return -EINVAL;
	mutex_lock(&ib_registry.lock);
	if (ib_device_state(device) != IB_DEVICE_LIVE)
		err = -ENODEV;
	else if (!strcmp(device->name, name))
		goto out;
	else if (ib_device_by_name(name))
		err = -EEXIST;
	if (err)
		goto out;
	/* Before the driver core: the event that it sends carries the new name. */
	strscpy(old, device->name, sizeof(old));
	ib_device_set_name(device, name);
	err = ib_sysfs_rename(device, name);
	if (err)
		ib_device_set_name(device, old);
out:
	mutex_unlock(&ib_registry.lock);
	return err;
}
EXPORT_SYMBOL_GPL(ib_device_rename);

static bool ib_device_is_listed(struct ib_device *device)
{
	return ib_device_state(device) == IB_DEVICE_LIVE;
}

struct ib_device *ib_device_find(u32 index)
{
	struct ib_device *device;

	mutex_lock(&ib_registry.lock);
	device = xa_load(&ib_registry.devices, index);
	if (device && ib_device_is_listed(device))
		get_device(&device->dev);
	else
		device = NULL;
	mutex_unlock(&ib_registry.lock);
	return device;
}
EXPORT_SYMBOL_GPL(ib_device_find);

static struct ib_device *ib_device_next(unsigned long *index)
{
	struct ib_device *device;

	mutex_lock(&ib_registry.lock);
	device = xa_find(&ib_registry.devices, index, ULONG_MAX, XA_PRESENT);
	while (device && !ib_device_is_listed(device))
		device = xa_find_after(&ib_registry.devices, index, ULONG_MAX, XA_PRESENT);
	if (device)
		get_device(&device->dev);
	mutex_unlock(&ib_registry.lock);
	return device;
}

int ib_device_for_each(int (*fn)(struct ib_device *device, void *data), void *data)
{
	struct ib_device *device;
	unsigned long index = 0;
	int ret = 0;

	while (!ret && (device = ib_device_next(&index))) {
		ret = fn(device, data);
		put_device(&device->dev);
		index++;
	}
	return ret;
}
EXPORT_SYMBOL_GPL(ib_device_for_each);
