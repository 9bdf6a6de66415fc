// SPDX-License-Identifier: GPL-2.0-only
/*
 * ib_core: the registry, and the module's beginning and end.
 */
#include <linux/module.h>

#include "core.h"
#include "mad.h"

/* Devices that are busy are told about new clients and services when they are not. */
#define IB_ATTENDED_MS 15000

struct ib_registry ib_registry = {
	.lock = __MUTEX_INITIALIZER(ib_registry.lock),
	.hcas = LIST_HEAD_INIT(ib_registry.hcas),
	.clients = LIST_HEAD_INIT(ib_registry.clients),
	.services = LIST_HEAD_INIT(ib_registry.services),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(ib_registry.wait),
	.devices = XARRAY_INIT(ib_registry.devices, XA_FLAGS_ALLOC),
};

void ib_registry_changed(void)
{
	struct ib_hca *hca;

	lockdep_assert_held(&ib_registry.lock);
	WRITE_ONCE(ib_registry.gen, ib_registry.gen + 1);
	list_for_each_entry(hca, &ib_registry.hcas, node) {
		spin_lock_irq(&hca->lock);
		ib_hca_stir(hca);
		spin_unlock_irq(&hca->lock);
	}
}

struct ib_hca *ib_registry_next_hca(struct ib_hca *hca)
{
	struct ib_hca *next, *found = NULL;

	mutex_lock(&ib_registry.lock);
	list_for_each_entry(next, &ib_registry.hcas, node) {
		if (hca && next->serial <= hca->serial)
			continue;
		ib_hca_get(next);
		found = next;
		break;
	}
	mutex_unlock(&ib_registry.lock);
	if (hca)
		ib_hca_put(hca);
	return found;
}

struct ib_registry_look {
	struct ib_hca *hca;
	unsigned long gen;
};

static bool ib_registry_seen(void *arg)
{
	struct ib_registry_look *look = arg;
	struct ib_hca *hca = look->hca;

	return !hca->device || hca->device->state > IB_DEVICE_LIVE || hca->halted ||
	       (long)(hca->seen_gen - look->gen) >= 0;
}

void ib_registry_attended(void)
{
	struct ib_registry_look look = { .gen = READ_ONCE(ib_registry.gen) };
	struct ib_hca *hca;

	for (hca = ib_registry_next_hca(NULL); hca; hca = ib_registry_next_hca(hca)) {
		look.hca = hca;
		ib_flow_wait(hca, "the lifecycle thread", "a new client or service",
			     IB_ATTENDED_MS, ib_registry_seen, &look);
	}
}

static int __init ib_core_init(void)
{
	int err;

	ib_lockmaps_init();
	ib_debugfs_init();
	err = ib_verbs_init();
	if (err)
		goto exit_debugfs;
	err = ib_power_init();
	if (err)
		goto exit_verbs;
	err = ib_mad_init();
	if (err)
		goto exit_power;
	err = ib_sa_init();
	if (err)
		goto exit_mad;
	return 0;

exit_mad:
	ib_mad_exit();
exit_power:
	ib_power_exit();
exit_verbs:
	ib_verbs_exit();
exit_debugfs:
	ib_debugfs_exit();
	return err;
}

static void __exit ib_core_exit(void)
{
	ib_sa_exit();
	ib_mad_exit();
	ib_power_exit();
	ib_verbs_exit();
	ib_debugfs_exit();
	ib_quarantine_exit();
	xa_destroy(&ib_registry.devices);
}

/* Before every driver and client, also where all of them are built in. */
subsys_initcall(ib_core_init);
module_exit(ib_core_exit);

MODULE_DESCRIPTION("LastRef InfiniBand core");
MODULE_LICENSE("GPL");
#ifdef LASTREF_VERSION
MODULE_VERSION(LASTREF_VERSION);
#endif
