// SPDX-License-Identifier: GPL-2.0-only
/*
 * Down: a device, then the hardware under it.
 *
 *   CLOSING      every entry point refuses: no new reference, user files revoked, class device
 *   gone;
 *                clients are told, then leave one by one
 *   DRAINING     services close one by one from the top
 *   STOPPED      the device's gate has drained, the provider has let go
 *   RELEASED     the last named reference was dropped; or QUARANTINED, it was not
 *
 * Each step closes first and waits afterwards.  All of it is right for a device whose bring-up
 * failed half-way, and right when the hardware is lost at any moment; and it is left where it is,
 * with nothing freed, when the machine shuts down (-ESHUTDOWN from a wait).
 */
#include "core.h"
#include "trace.h"

/* From here on everybody outside is refused; nobody has been waited for yet. */
static void ib_teardown_refuse(struct ib_device *device)
{
	ib_revoke_all(device);
	if (device->visible) {
		ib_nldev_notify(device, false);
		ib_sysfs_del(device);
	}
	device->visible = false;
}

static int ib_teardown_clients(struct ib_device *device)
{
	return ib_attachments_close(device) ?: ib_attachments_remove(device);
}

/* Nobody of this device touches the hardware after this. */
static int ib_teardown_quiesce(struct ib_hca *hca, struct ib_device *device)
{
	int err;

	ib_events_stop(device);
	ib_cache_stop(device);
	ib_gate_close(&device->gate);
	/* What GONE flushes is still polled by clients that were left behind. */
	if (list_empty(&device->attachments))
		ib_verbs_close(device);
	ib_gate_sync(&device->gate);
	err = ib_thread_wait(hca, "sections inside the device's gate", IB_UNTIL_NEVER,
			     ib_gate_drained, &device->gate);
	if (err)
		return err;
	ib_revoke_zap(device);
	/* GONE may have come since the last wait: completions end before the provider goes. */
	ib_life_attend(hca);
	err = ib_verbs_quiesce(device);
	if (err)
		return err;
	device->ops->stop(device);
	ib_device_kill(device);
	return 0;
}

static int ib_teardown_release(struct ib_hca *hca, struct ib_device *device)
{
	int err;

	ib_lockmap_wait(&device->ref_map);
	if (device->initial.device)
		ib_device_drop(&device->initial);
	err = ib_thread_wait(hca, "the last device reference", IB_UNTIL_QUARANTINE,
			     ib_device_unheld, device);
	if (err == -ESHUTDOWN)
		return err;
	ib_debugfs_del_device(device);
	spin_lock_irq(&hca->lock);
	hca->device = NULL;
	spin_unlock_irq(&hca->lock);
	if (err) {
		ib_quarantine_add(device, "references are left");
		return 0;
	}
	if (!ib_device_move(device, IB_DEVICE_RELEASED))
		return -EINVAL;
	ib_device_name_release(device);
	/* Items that have dropped their reference may still be returning, and hold memory. */
	destroy_workqueue(device->wq);
	device->wq = NULL;
	put_device(&device->dev);
	return 0;
}

/* CLOSING and DRAINING, from wherever the device stands. */
static int ib_teardown_stop(struct ib_hca *hca, struct ib_device *device)
{
	int err;

	if (device->state < IB_DEVICE_CLOSING && !ib_device_move(device, IB_DEVICE_CLOSING))
		return -EINVAL;
	ib_teardown_refuse(device);
	err = ib_teardown_clients(device);
	if (err)
		return err;
	if (device->state < IB_DEVICE_DRAINING && !ib_device_move(device, IB_DEVICE_DRAINING))
		return -EINVAL;
	err = ib_services_stop(device);
	if (err)
		return err;
	/* A polite stop ends only what the hardware has given back; a reset ends the rest. */
	if (ib_verbs_owed(device))
		ib_hca_gone(hca, "objects that it has not given back");
	/* A loss in the very last step of a service was met by no wait yet. */
	ib_life_attend(hca);
	err = ib_teardown_quiesce(hca, device);
	if (err)
		return err;
	return ib_device_move(device, IB_DEVICE_STOPPED) ? 0 : -EINVAL;
}

/**
 * ib_teardown_device() - take the device of an HCA through all of it
 * @hca: the HCA; has a device, in any state
 *
 * Context: the lifecycle thread.
 * Return: 0: there is no device any more; -ESHUTDOWN: it was left where it was.
 */
int ib_teardown_device(struct ib_hca *hca)
{
	struct ib_device *device = hca->device;
	int err = 0;

	spin_lock_irq(&hca->lock);
	device->reason_reset = !hca->provider_leaving && hca->goal != IB_GOAL_REMOVE;
	spin_unlock_irq(&hca->lock);
	/* What a shutdown has stopped completes nothing: work requests end by software. */
	if (hca->halted)
		ib_hca_gone(hca, "the machine is going down");
	ib_teardown_begin(hca, IB_TIMED_DEVICE);
	if (device->state < IB_DEVICE_STOPPED)
		err = ib_teardown_stop(hca, device);
	if (!err)
		err = ib_teardown_release(hca, device);
	/* The stop of the hardware, if it follows, belongs to the same teardown and its clock. */
	if (err || !ib_life_hca_goes(hca))
		ib_teardown_end(hca);
	return err;
}

static int ib_reset(struct ib_hca *hca)
{
	int err = hca->ops->reset(hca);

	trace_ib_teardown_hardware(hca, "reset", err);
	hca->subdued = true;
	return err;
}

/*
 * Can the hardware still write to memory?  Asks the driver to end it, the softer way first; the
 * answer is in &ib_hca.quiet.
 */
static void ib_prove_quiet(struct ib_hca *hca)
{
	int err = hca->ops->quiet(hca);

	trace_ib_teardown_hardware(hca, "quiet", err);
	if (err)
		err = ib_reset(hca);
	WRITE_ONCE(hca->quiet, !err);
	if (err)
		dev_err(hca->parent,
			"not proven quiet (%d): memory it may write to is kept for ever\n", err);
}

static bool ib_gates_drained(void *arg)
{
	struct ib_hca *hca = arg;

	return hca->gate.drained && (!hca->device || hca->device->gate.drained);
}

/* Will the PCI core reset the function, or may its registers not be touched until it has? */
static bool ib_others_reset(const struct ib_hca *hca)
{
	return READ_ONCE(hca->holds) & (IB_HOLD_ERROR | IB_HOLD_RESET);
}

/*
 * After GONE and at a shutdown the function is cut off from memory but knows nothing of that: it
 * goes on, in vain, with what its ports receive and with what was posted.  So it is reset, if the
 * proof was not a reset already, and once: should that fail, the proof stands, and the next start
 * tries it again.
 */
static void ib_subdue(struct ib_hca *hca)
{
	int err;

	if (!ib_hca_is_over(hca) || !hca->quiet || hca->subdued || ib_others_reset(hca))
		return;
	err = ib_reset(hca);
	if (err)
		dev_warn(hca->parent, "cut off from memory but not reset (%d): goes on in vain\n",
			 err);
}

/**
 * ib_teardown_cut_off() - stop hardware that its firmware does not stop
 * @hca: the HCA; GONE or SHUTDOWN, and its gates refuse
 *
 * Bus mastering goes off at once, whoever is inside.  Those who are inside find dead hardware and
 * are given a second to leave, so that none of them touches a register during the reset that
 * follows.
 *
 * Context: the lifecycle thread.
 */
void ib_teardown_cut_off(struct ib_hca *hca)
{
	ib_prove_quiet(hca);
	ib_gate_close(&hca->gate);
	if (hca->device)
		ib_gate_close(&hca->device->gate);
	if (ib_halt_wait(hca, "sections inside the gates", ib_gates_drained))
		dev_err(hca->parent, "stopped with somebody inside the gate\n");
	ib_subdue(hca);
}

/**
 * ib_teardown_hca() - stop the hardware
 * @hca: the HCA; no device on it
 *
 * Also after a start that failed.
 *
 * Context: the lifecycle thread.
 * Return: 0 or -ESHUTDOWN.
 */
int ib_teardown_hca(struct ib_hca *hca)
{
	int err;

	if (hca->teardown.timed != IB_TIMED_DEVICE)
		ib_teardown_begin(hca, IB_TIMED_DEVICE);
	if (hca->up) {
		hca->ops->stop(hca);
		trace_ib_teardown_hardware(hca, "stop", 0);
		/* At once: a shutdown may end what is below, and it is begun again. */
		spin_lock_irq(&hca->lock);
		hca->up = false;
		spin_unlock_irq(&hca->lock);
	}
	ib_gate_close(&hca->gate);
	ib_gate_sync(&hca->gate);
	err = ib_thread_wait(hca, "sections inside the HCA's gate", IB_UNTIL_NEVER,
			     ib_gate_drained, &hca->gate);
	ib_teardown_end(hca);
	if (err)
		return err;
	ib_prove_quiet(hca);
	ib_subdue(hca);
	/* From here on nobody can declare it lost; a last abort() may still be running. */
	spin_lock_irq(&hca->lock);
	hca->active = false;
	wake_up_all(&hca->wait);
	spin_unlock_irq(&hca->lock);
	if (ib_halt_wait(hca, "a last abort", ib_aborts_over))
		hca->quiet = false;
	hca->ops->release(hca, hca->quiet);
	trace_ib_teardown_hardware(hca, "release", hca->quiet);
	return 0;
}

/**
 * ib_halt() - the machine is going down: stop the hardware and nothing else
 * @hca: the HCA, in any condition
 *
 * The gates have refused since the goal was raised, so transmits and verbs fail softly.  The order
 * is that of GONE.  Nothing is freed: clients are still there and will run until the power goes.
 *
 * Context: the lifecycle thread.
 */
void ib_halt(struct ib_hca *hca)
{
	if (hca->active)
		ib_teardown_cut_off(hca);
	spin_lock_irq(&hca->lock);
	hca->halted = true;
	wake_up_all(&hca->wait);
	spin_unlock_irq(&hca->lock);
}
