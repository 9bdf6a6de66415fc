// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to the whole machine: it goes down, or it goes to sleep.
 *
 * At a shutdown device_shutdown() takes the lock of each device and may never reach ours, so the
 * hardware of all HCAs is stopped from a reboot notifier, all at once.  Before a sleep, the PM
 * notifier takes the devices down while tasks still run: the .suspend callbacks come when nothing
 * that a teardown waits for can make progress.
 */
#include <linux/export.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include <ib/power.h>

#include "core.h"

static void ib_power_may_add(bool may)
{
	mutex_lock(&ib_registry.lock);
	ib_registry.shutdown = !may;
	mutex_unlock(&ib_registry.lock);
}

void ib_power_down(void)
{
	struct ib_hca *hca;

	ib_power_may_add(false);
	/* First tell all of them, then wait for each. */
	for (hca = ib_registry_next_hca(NULL); hca; hca = ib_registry_next_hca(hca))
		ib_hca_raise(hca, IB_GOAL_SHUTDOWN);
	for (hca = ib_registry_next_hca(NULL); hca; hca = ib_registry_next_hca(hca))
		ib_hca_shutdown(hca);
}
EXPORT_SYMBOL_GPL(ib_power_down);

void ib_power_down_undone(void)
{
	ib_power_may_add(true);
}
EXPORT_SYMBOL_GPL(ib_power_down_undone);

void ib_power_sleep(void)
{
	struct ib_hca *hca;

	mutex_lock(&ib_registry.lock);
	ib_registry.holds |= IB_HOLD_SLEEP;
	list_for_each_entry(hca, &ib_registry.hcas, node)
		ib_hca_hold(hca, IB_HOLD_SLEEP);
	mutex_unlock(&ib_registry.lock);
	for (hca = ib_registry_next_hca(NULL); hca; hca = ib_registry_next_hca(hca))
		ib_hca_raise(hca, IB_GOAL_SUSPEND);
	for (hca = ib_registry_next_hca(NULL); hca; hca = ib_registry_next_hca(hca))
		ib_hca_settle(hca);
}
EXPORT_SYMBOL_GPL(ib_power_sleep);

void ib_power_wake(void)
{
	struct ib_hca *hca;

	mutex_lock(&ib_registry.lock);
	ib_registry.holds &= ~IB_HOLD_SLEEP;
	mutex_unlock(&ib_registry.lock);
	for (hca = ib_registry_next_hca(NULL); hca; hca = ib_registry_next_hca(hca))
		ib_hca_permit(hca, IB_HOLD_SLEEP);
}
EXPORT_SYMBOL_GPL(ib_power_wake);

static int ib_reboot(struct notifier_block *block, unsigned long event, void *data)
{
	ib_power_down();
	return NOTIFY_DONE;
}

static int ib_sleep(struct notifier_block *block, unsigned long event, void *data)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		ib_power_sleep();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		ib_power_wake();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block ib_reboot_block = {
	.notifier_call = ib_reboot,
	.priority = INT_MAX,
};

static struct notifier_block ib_sleep_block = {
	.notifier_call = ib_sleep,
};

/**
 * ib_power_init() - subscribe
 *
 * Return: 0 or an error.
 */
int ib_power_init(void)
{
	int err = register_reboot_notifier(&ib_reboot_block);

	if (err)
		return err;
	err = register_pm_notifier(&ib_sleep_block);
	if (err)
		unregister_reboot_notifier(&ib_reboot_block);
	return err;
}

/**
 * ib_power_exit() - unsubscribe
 */
void ib_power_exit(void)
{
	unregister_pm_notifier(&ib_sleep_block);
	unregister_reboot_notifier(&ib_reboot_block);
}
