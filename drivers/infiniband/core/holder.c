// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device references, each with a name.
 *
 * A device reference delays the return of remove(), so it is never anonymous: whoever takes one
 * embeds a struct ib_holder, and when the wait for the last one becomes long the log says who has
 * them.  Dropping the last one frees nothing, it wakes the lifecycle thread, which alone releases.
 */
#include <linux/export.h>

#include "core.h"
#include "trace.h"

static void ib_device_ref_zero(struct kref *ref)
{
	container_of(ref, struct ib_device, ref)->ref_zero = true;
}

/* With the HCA's lock held. */
static void ib_holder_link(struct ib_device *device, struct ib_holder *holder, const char *name,
			   unsigned long caller)
{
	holder->device = device;
	holder->name = name;
	holder->caller = caller;
	holder->since = ib_hca_now(device->hca);
	list_add_tail(&holder->node, &device->holders);
	trace_ib_teardown_hold(device, name, kref_read(&device->ref));
}

static int ib_holder_try(struct ib_device *device, struct ib_holder *holder, const char *name,
			 unsigned long caller)
{
	unsigned long flags;
	int err = -ENODEV;

	spin_lock_irqsave(&device->hca->lock, flags);
	if (device->state == IB_DEVICE_REGISTERING || device->state == IB_DEVICE_LIVE) {
		kref_get(&device->ref);
		ib_holder_link(device, holder, name, caller);
		err = 0;
	}
	spin_unlock_irqrestore(&device->hca->lock, flags);
	return err;
}

int ib_device_hold(struct ib_device *device, struct ib_holder *holder, const char *name)
{
	return ib_holder_try(device, holder, name, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ib_device_hold);

/**
 * ib_holder_drop() - give a reference back
 * @holder: the holder; the lock of its HCA is held
 *
 * The thread looks at ref_zero under that lock, so the device and the HCA are there until it is
 * given back; after that only who keeps their memory may touch them.
 */
void ib_holder_drop(struct ib_holder *holder)
{
	struct ib_device *device = holder->device;

	lockdep_assert_held(&device->hca->lock);
	list_del(&holder->node);
	holder->device = NULL;
	trace_ib_teardown_drop(device, holder->name, kref_read(&device->ref) - 1);
	if (kref_put(&device->ref, ib_device_ref_zero))
		wake_up_all(&device->hca->wait);
}

void ib_device_drop(struct ib_holder *holder)
{
	struct ib_hca *hca = holder->device->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	ib_holder_drop(holder);
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_device_drop);

int ib_device_lookup_begin(struct ib_device *device, struct ib_holder *holder, const char *name)
{
	int err = ib_holder_try(device, holder, name, _RET_IP_);

	if (!err)
		rwsem_acquire_read(&device->ref_map, 0, 1, _RET_IP_);
	return err;
}
EXPORT_SYMBOL_GPL(ib_device_lookup_begin);

void ib_device_lookup_end(struct ib_holder *holder)
{
	rwsem_release(&holder->device->ref_map, _RET_IP_);
	ib_device_drop(holder);
}
EXPORT_SYMBOL_GPL(ib_device_lookup_end);

/**
 * ib_holder_init() - give a device its first reference, the framework's own
 * @device: being allocated
 */
void ib_holder_init(struct ib_device *device)
{
	kref_init(&device->ref);
	INIT_LIST_HEAD(&device->holders);
	ib_lockmap_init(&device->ref_map, IB_LOCKMAP_REFERENCE);
	spin_lock_irq(&device->hca->lock);
	ib_holder_link(device, &device->initial, "framework", _RET_IP_);
	spin_unlock_irq(&device->hca->lock);
}

/**
 * ib_holder_take() - take a reference for an attachment or a service instance
 * @device: in any state before STOPPED, its own reference not yet dropped
 * @holder: zeroed
 * @name: who
 *
 * Context: the lifecycle thread.
 */
void ib_holder_take(struct ib_device *device, struct ib_holder *holder, const char *name)
{
	spin_lock_irq(&device->hca->lock);
	kref_get(&device->ref);
	ib_holder_link(device, holder, name, _RET_IP_);
	spin_unlock_irq(&device->hca->lock);
}

/**
 * ib_device_unheld() - has the last device reference been dropped?
 * @device: struct ib_device *; its HCA's lock is held
 *
 * Return: yes, if so.
 */
bool ib_device_unheld(void *device)
{
	return ((struct ib_device *)device)->ref_zero;
}

/**
 * ib_holders_log() - one line of the log for each reference
 * @device: the device
 *
 * Context: process.
 */
void ib_holders_log(struct ib_device *device)
{
	struct ib_hca *hca = device->hca;
	u64 now = ib_hca_now(hca);
	struct ib_holder *holder;

	spin_lock_irq(&hca->lock);
	list_for_each_entry(holder, &device->holders, node)
		dev_warn(hca->parent, "%s is held by %s for %llu ms, taken at %pS\n", device->name,
			 holder->name, now - holder->since, (void *)holder->caller);
	spin_unlock_irq(&hca->lock);
}
