// SPDX-License-Identifier: GPL-2.0-only
/*
 * Up: the hardware, then a device on it.
 *
 * Whatever fails half-way is undone by the ordinary teardown, which works on half a device, so
 * there is one way down and not two.  A device becomes visible last: services, then clients, then
 * the class device.  A client whose add_one takes long does not delay the others for longer than
 * the polite time; and when the HCA gets another goal meanwhile, bringing up ends at once.
 */
#include "core.h"
#include "trace.h"

/**
 * ib_bringup_hca() - start the hardware
 * @hca: the HCA; down
 *
 * Context: the lifecycle thread.
 */
void ib_bringup_hca(struct ib_hca *hca)
{
	int err;

	spin_lock_irq(&hca->lock);
	hca->active = true;
	hca->started_at = ib_hca_now(hca);
	WRITE_ONCE(hca->quiet, false);
	hca->subdued = false;
	spin_unlock_irq(&hca->lock);
	ib_gate_open(&hca->gate);
	err = hca->ops->start(hca);
	trace_ib_teardown_hardware(hca, "start", err);
	if (!err) {
		spin_lock_irq(&hca->lock);
		hca->up = true;
		hca->tries = 0;
		hca->retry_at = 0;
		hca->start_error = 0;
		spin_unlock_irq(&hca->lock);
		return;
	}
	ib_teardown_hca(hca);
	ib_life_retry_later(hca, err);
}

/* Services and clients, as far as they are there; then wait for the clients, politely. */
static int ib_bringup_roster(struct ib_hca *hca, struct ib_device *device)
{
	int err;

	ib_roster_update(device);
	ib_teardown_begin(hca, IB_TIMED_BRINGUP);
	err = ib_thread_wait(hca, "clients to be added", IB_UNTIL_ADDED, ib_attachments_none_adding,
			     device);
	ib_teardown_end(hca);
	if (err == -ETIME)
		dev_warn(hca->parent, "%s goes on without a client that is still being added\n",
			 device->name);
	return err == -ETIME ? 0 : err;
}

static int ib_bringup_register(struct ib_hca *hca, struct ib_device *device)
{
	int err;

	ib_gate_open(&device->gate);
	if (!ib_device_move(device, IB_DEVICE_REGISTERING))
		return -EINVAL;
	err = ib_device_name_assign(device);
	if (!err)
		err = ib_cache_start(device);
	if (err)
		return err;
	ib_debugfs_add_device(device);
	err = ib_bringup_roster(hca, device);
	if (!err)
		err = ib_sysfs_add(device);
	if (err)
		return err;
	device->visible = true;
	if (!ib_device_move(device, IB_DEVICE_LIVE))
		return -EINVAL;
	ib_events_ready(device);
	ib_nldev_notify(device, true);
	return 0;
}

/**
 * ib_bringup_device() - make the next incarnation and register it
 * @hca: the HCA; up, without a device
 *
 * Context: the lifecycle thread.
 */
void ib_bringup_device(struct ib_hca *hca)
{
	struct ib_device *device = hca->provider->create(hca, hca->provider_priv);
	int err;

	if (IS_ERR(device)) {
		ib_life_retry_later(hca, PTR_ERR(device));
		return;
	}
	spin_lock_irq(&hca->lock);
	hca->device = device;
	spin_unlock_irq(&hca->lock);
	err = ib_bringup_register(hca, device);
	if (!err) {
		spin_lock_irq(&hca->lock);
		hca->incarnations++;
		hca->started_at = ib_hca_now(hca);
		hca->tries = 0;
		hca->retry_at = 0;
		hca->start_error = 0;
		spin_unlock_irq(&hca->lock);
		return;
	}
	if (err == -ESHUTDOWN)
		return;
	ib_teardown_device(hca);
	if (err != -EINTR)
		ib_life_retry_later(hca, err);
}
