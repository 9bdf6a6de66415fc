// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quarantine: where a device goes whose references were not given back in time.
 *
 * Its gate has drained and the hardware is quiet, so what is left is memory that somebody may still
 * look at.  That memory is leaked on purpose and listed; the device keeps its name so that nobody
 * else gets it, its callbacks are dead ones, and ib_core stays loaded, since late callers run its
 * text.  The PCI core gets everything of its own back, and the HCA may come up again beside it.
 */
#include <linux/module.h>
#include <linux/seq_file.h>

#include <ib/verbs.h>

#include "core.h"
#include "trace.h"

static DEFINE_MUTEX(ib_quarantine_lock);
static LIST_HEAD(ib_quarantine);

static const struct ib_verbs_ops ib_dead_verbs = {};

static void ib_dead_callback(struct ib_device *device)
{
}

/* What a device has after STOPPED.  The gate keeps everybody from the verbs; these are NULL. */
static const struct ib_device_ops ib_dead_ops = {
	.verbs = &ib_dead_verbs,
	.flush = ib_dead_callback,
	.stop = ib_dead_callback,
};

/**
 * ib_device_kill() - take the provider's callbacks from a device
 * @device: its gate has drained and &ib_device_ops.stop has returned
 *
 * Context: the lifecycle thread.
 */
void ib_device_kill(struct ib_device *device)
{
	spin_lock_irq(&device->hca->lock);
	device->stop_done = true;
	WRITE_ONCE(device->ops, &ib_dead_ops);
	ib_gate_refuse(&device->gate, -EIO);
	spin_unlock_irq(&device->hca->lock);
}

/**
 * ib_quarantine_add() - leave a device behind
 * @device: STOPPED; no longer its HCA's device
 * @cause: a literal for the log
 *
 * The memory reference of the device stays with the list for ever.
 *
 * Context: the lifecycle thread.
 */
void ib_quarantine_add(struct ib_device *device, const char *cause)
{
	struct ib_hca *hca = device->hca;

	if (!ib_device_move(device, IB_DEVICE_QUARANTINED))
		return;
	__module_get(THIS_MODULE);
	device->quarantine_since = ib_hca_now(hca);
	mutex_lock(&ib_quarantine_lock);
	list_add_tail(&device->quarantine_node, &ib_quarantine);
	mutex_unlock(&ib_quarantine_lock);
	spin_lock_irq(&hca->lock);
	hca->quarantined++;
	spin_unlock_irq(&hca->lock);
	dev_err(hca->parent, "%s is left in quarantine: %s\n", device->name, cause);
	trace_ib_teardown_escalate(hca, "quarantine", hca->quarantined);
	ib_holders_log(device);
}

static void ib_quarantine_show_one(struct seq_file *seq, struct ib_device *device)
{
	struct ib_hca *hca = device->hca;
	u64 now = ib_hca_now(hca);
	struct ib_holder *holder;

	seq_printf(seq, "%s on %s for %llu ms\n", device->name, dev_name(hca->parent),
		   now - device->quarantine_since);
	spin_lock_irq(&hca->lock);
	list_for_each_entry(holder, &device->holders, node)
		seq_printf(seq, "  held by %s for %llu ms, taken at %pS\n", holder->name,
			   now - holder->since, (void *)holder->caller);
	spin_unlock_irq(&hca->lock);
}

/**
 * ib_quarantine_show() - list what was left behind
 * @seq: where to
 * @only: the HCA whose devices are meant, or NULL for all
 */
void ib_quarantine_show(struct seq_file *seq, const struct ib_hca *only)
{
	struct ib_device *device;

	mutex_lock(&ib_quarantine_lock);
	list_for_each_entry(device, &ib_quarantine, quarantine_node)
		if (!only || device->hca == only)
			ib_quarantine_show_one(seq, device);
	mutex_unlock(&ib_quarantine_lock);
}
