// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quarantine: where a device goes whose references were not given back in time.
 *
 * Its gate has drained and the hardware is quiet, so what is left is memory that somebody may still
 * look at.  That memory is leaked on purpose and listed; the device keeps its name so that nobody
 * else gets it, its callbacks are dead ones, and ib_core stays loaded, since late callers run its
 * text.  The PCI core gets everything of its own back, and the HCA may come up again beside it.
 *
 * The other thing that is left behind is memory of objects that the hardware may still write to, of
 * a device that is RELEASED otherwise.  It is listed, too.
 */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <ib/verbs.h>

#include "objects.h"
#include "trace.h"

static DEFINE_MUTEX(ib_quarantine_lock);
static LIST_HEAD(ib_quarantine);

/* Objects of one device that are named; the rest is counted. */
#define IB_KEPT_NAMED 32U
#define IB_KEPT_TEXT 80

/**
 * struct ib_kept - memory of objects of one device that is kept for ever
 * @node: in ib_quarantine_kept
 * @serial: of the HCA, which may be gone
 * @device: its name
 * @parent: of its PCI function
 * @objects: how many
 * @named: how many of them have a line
 * @lines: what they are and whose
 */
struct ib_kept {
	struct list_head node;
	u64 serial;
	char device[IB_DEVICE_NAME_MAX];
	char parent[32];
	unsigned int objects;
	unsigned int named;
	char lines[][IB_KEPT_TEXT];
};

static LIST_HEAD(ib_quarantine_kept);

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

static void ib_kept_add_object(struct ib_kept *kept, const struct ib_object *object)
{
	char *line;
	int n;

	kept->objects++;
	if (kept->named == IB_KEPT_NAMED)
		return;
	line = kept->lines[kept->named++];
	ib_object_describe(object, line, IB_KEPT_TEXT);
	n = strlen(line);
	scnprintf(line + n, IB_KEPT_TEXT - n, " of %s", object->attachment->name);
}

/**
 * ib_quarantine_keep() - list objects whose memory is never given back
 * @device: STOPPED, and its hardware may still write to that memory
 * @objects: they, by &ib_object.zombie_node; those without memory that hardware knows are left out
 *
 * Without memory for the list nothing happens but what the log says anyway.
 *
 * Context: the lifecycle thread.
 */
void ib_quarantine_keep(struct ib_device *device, const struct list_head *objects)
{
	const struct ib_object *object;
	struct ib_kept *kept;

	kept = kzalloc(struct_size(kept, lines, IB_KEPT_NAMED), GFP_KERNEL);
	if (!kept)
		return;
	list_for_each_entry(object, objects, zombie_node)
		if (object->class->release)
			ib_kept_add_object(kept, object);
	if (!kept->objects) {
		kfree(kept);
		return;
	}
	kept->serial = device->hca->serial;
	ib_device_name(device, kept->device);
	strscpy(kept->parent, dev_name(device->hca->parent), sizeof(kept->parent));
	mutex_lock(&ib_quarantine_lock);
	list_add_tail(&kept->node, &ib_quarantine_kept);
	mutex_unlock(&ib_quarantine_lock);
}

/** ib_quarantine_exit() - forget what was kept; it stays allocated */
void ib_quarantine_exit(void)
{
	struct ib_kept *kept, *next;

	list_for_each_entry_safe(kept, next, &ib_quarantine_kept, node)
		kfree(kept);
	INIT_LIST_HEAD(&ib_quarantine_kept);
}

static void ib_quarantine_show_kept(struct seq_file *seq, const struct ib_kept *kept)
{
	unsigned int i;

	seq_printf(seq, "%s on %s: memory of %u objects, which the hardware may use\n",
		   kept->device, kept->parent, kept->objects);
	for (i = 0; i < kept->named; i++)
		seq_printf(seq, "  %s\n", kept->lines[i]);
	if (kept->objects > kept->named)
		seq_printf(seq, "  and %u more\n", kept->objects - kept->named);
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
	struct ib_kept *kept;

	mutex_lock(&ib_quarantine_lock);
	list_for_each_entry(device, &ib_quarantine, quarantine_node)
		if (!only || device->hca == only)
			ib_quarantine_show_one(seq, device);
	list_for_each_entry(kept, &ib_quarantine_kept, node)
		if (!only || kept->serial == only->serial)
			ib_quarantine_show_kept(seq, kept);
	mutex_unlock(&ib_quarantine_lock);
}
EXPORT_SYMBOL_GPL(ib_quarantine_show);
