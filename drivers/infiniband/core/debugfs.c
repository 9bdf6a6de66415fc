// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be seen: debugfs/infiniband/quarantine, and for each HCA (by the name of its PCI
 * function) state, quarantine, and a folder for its device with state, holders, attachments,
 * agents, objects and waits.  Read-only; nothing works less without it.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "core.h"

static struct dentry *ib_debugfs_root;

static const char *const ib_attachment_words[] = {
	[IB_ATTACHMENT_ADDING] = "ADDING",
	[IB_ATTACHMENT_FAILED] = "FAILED",
	[IB_ATTACHMENT_ATTACHED] = "ATTACHED",
	[IB_ATTACHMENT_CLOSED] = "CLOSED",
	[IB_ATTACHMENT_REMOVING] = "REMOVING",
	[IB_ATTACHMENT_REMOVED] = "REMOVED",
};

static const char *const ib_service_words[] = {
	[IB_SERVICE_STARTING] = "STARTING",
	[IB_SERVICE_FAILED] = "FAILED",
	[IB_SERVICE_UP] = "UP",
	[IB_SERVICE_CLOSING] = "CLOSING",
	[IB_SERVICE_STOPPED] = "STOPPED",
	[IB_SERVICE_LEFT] = "LEFT",
};

static const char *const ib_agent_words[] = {
	[IB_AGENT_ARMED] = "ARMED",
	[IB_AGENT_DYING] = "DYING",
	[IB_AGENT_TOMBSTONE] = "TOMBSTONE",
};

static const char *ib_hardware_word(const struct ib_hca *hca)
{
	if (!hca->active)
		return "down";
	if (hca->up)
		return "up";
	return hca->goal == IB_GOAL_RUN ? "starting" : "stopping";
}

static int ib_hca_state_show(struct seq_file *seq, void *unused)
{
	struct ib_hca *hca = seq->private;

	spin_lock_irq(&hca->lock);
	seq_printf(seq, "goal %s\n", ib_goal_name(hca->goal));
	seq_printf(seq, "hardware %s%s%s\n", ib_hardware_word(hca),
		   hca->quiet ? ", quiet" : "", hca->halted ? ", halted" : "");
	if (hca->gone)
		seq_printf(seq, "gone %s\n", hca->gone_cause);
	seq_printf(seq, "holds %#x\n", hca->holds);
	seq_printf(seq, "thread %s\n", hca->idle ? "idle" : "busy");
	seq_printf(seq, "provider %s\n", hca->provider ? hca->provider->name : "none");
	seq_printf(seq, "incarnations %u\n", hca->incarnations);
	seq_printf(seq, "losses %u%s\n", hca->losses,
		   hca->rest_until > ib_hca_now(hca) ? ", resting" : "");
	seq_printf(seq, "quarantined %u\n", hca->quarantined);
	spin_unlock_irq(&hca->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_hca_state);

static int ib_hca_quarantine_show(struct seq_file *seq, void *unused)
{
	ib_quarantine_show(seq, seq->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_hca_quarantine);

static int ib_device_state_show(struct seq_file *seq, void *unused)
{
	struct ib_device *device = seq->private;

	seq_printf(seq, "%s\n", ib_device_state_name(ib_device_state(device)));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_device_state);

static int ib_device_holders_show(struct seq_file *seq, void *unused)
{
	struct ib_device *device = seq->private;
	u64 now = ib_hca_now(device->hca);
	struct ib_holder *holder;

	spin_lock_irq(&device->hca->lock);
	list_for_each_entry(holder, &device->holders, node)
		seq_printf(seq, "%s %llu ms %pS\n", holder->name, now - holder->since,
			   (void *)holder->caller);
	spin_unlock_irq(&device->hca->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_device_holders);

static int ib_device_attachments_show(struct seq_file *seq, void *unused)
{
	struct ib_device *device = seq->private;
	u64 now = ib_hca_now(device->hca);
	struct ib_service_instance *instance;
	struct ib_attachment *at;

	spin_lock_irq(&device->hca->lock);
	list_for_each_entry(at, &device->attachments, device_node) {
		seq_printf(seq, "client %s %s", at->name, ib_attachment_words[at->state]);
		if (at->doing)
			seq_printf(seq, " in %s for %llu ms", at->doing, now - at->doing_since);
		if (at->state == IB_ATTACHMENT_FAILED)
			seq_printf(seq, " error %d after %u tries", at->error, at->tries);
		seq_puts(seq, at->abandoned ? " abandoned\n" : "\n");
	}
	list_for_each_entry(instance, &device->services, node)
		seq_printf(seq, "service %s %s inside %u error %d\n", instance->service->name,
			   ib_service_words[instance->state], instance->inside, instance->error);
	spin_unlock_irq(&device->hca->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_device_attachments);

static int ib_device_agents_show(struct seq_file *seq, void *unused)
{
	struct ib_device *device = seq->private;
	struct ib_service_instance *instance;
	struct ib_agent *agent;

	spin_lock_irq(&device->hca->lock);
	list_for_each_entry(instance, &device->services, node)
		list_for_each_entry(agent, &instance->agents, service_node)
			seq_printf(seq, "%s of %s on %s %s running %u\n", agent->ops->what,
				   agent->attachment->name, instance->service->name,
				   ib_agent_words[agent->state], agent->running);
	spin_unlock_irq(&device->hca->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_device_agents);

static int ib_device_objects_show(struct seq_file *seq, void *unused)
{
	ib_objects_show(seq->private, seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_device_objects);

static int ib_device_waits_show(struct seq_file *seq, void *unused)
{
	struct ib_device *device = seq->private;
	struct ib_hca *hca = device->hca;

	spin_lock_irq(&hca->lock);
	if (hca->waiting_for)
		seq_printf(seq, "lifecycle thread waits for %s since %llu ms\n", hca->waiting_for,
			   ib_hca_now(hca) - hca->waiting_since);
	spin_unlock_irq(&hca->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_device_waits);

static int ib_all_quarantine_show(struct seq_file *seq, void *unused)
{
	ib_quarantine_show(seq, NULL);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ib_all_quarantine);

void ib_debugfs_add_hca(struct ib_hca *hca)
{
	struct dentry *dir = debugfs_create_dir(dev_name(hca->parent), ib_debugfs_root);

	debugfs_create_file("state", 0400, dir, hca, &ib_hca_state_fops);
	debugfs_create_file("quarantine", 0400, dir, hca, &ib_hca_quarantine_fops);
	hca->debugfs = dir;
}

void ib_debugfs_del_hca(struct ib_hca *hca)
{
	debugfs_remove_recursive(hca->debugfs);
	hca->debugfs = NULL;
}

void ib_debugfs_add_device(struct ib_device *device)
{
	struct dentry *dir = debugfs_create_dir(device->name, device->hca->debugfs);

	debugfs_create_file("state", 0400, dir, device, &ib_device_state_fops);
	debugfs_create_file("holders", 0400, dir, device, &ib_device_holders_fops);
	debugfs_create_file("attachments", 0400, dir, device, &ib_device_attachments_fops);
	debugfs_create_file("agents", 0400, dir, device, &ib_device_agents_fops);
	debugfs_create_file("objects", 0400, dir, device, &ib_device_objects_fops);
	debugfs_create_file("waits", 0400, dir, device, &ib_device_waits_fops);
	debugfs_create_file("quarantine", 0400, dir, device->hca, &ib_hca_quarantine_fops);
	device->debugfs = dir;
}

void ib_debugfs_del_device(struct ib_device *device)
{
	debugfs_remove_recursive(device->debugfs);
	device->debugfs = NULL;
}

void ib_debugfs_init(void)
{
	ib_debugfs_root = debugfs_create_dir("infiniband", NULL);
	debugfs_create_file("quarantine", 0400, ib_debugfs_root, NULL, &ib_all_quarantine_fops);
}

void ib_debugfs_exit(void)
{
	debugfs_remove_recursive(ib_debugfs_root);
}
