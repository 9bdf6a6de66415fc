// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of net_devices.
 *
 * Unregistering one waits until everybody who has a reference to it has let go: routes, sockets,
 * whatever. That may take for ever and is none of the HCA's business. So it is done on a work item
 * that belongs to no device. Whoever wants an interface gone waits only until it has left the list
 * of interfaces, when its IB objects are back and its name is free.
 */
#include <linux/rtnetlink.h>

#include "ipoib.h"

/* For items that take RTNL; nobody waits for it, save the end of the module. */
struct workqueue_struct *ipoib_rtnl_wq;

static void ipoib_reap_run(struct work_struct *work)
{
	struct ipoib_iface *iface = container_of(work, struct ipoib_iface, reap_work);
	struct net_device *netdev = iface->netdev;
	struct ipoib_iface *child;
	LIST_HEAD(list);

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED) {
		list_for_each_entry(child, &iface->children, sibling)
			unregister_netdevice_queue(child->netdev, &list);
		unregister_netdevice_queue(netdev, &list);
		unregister_netdevice_many(&list);
	}
	WRITE_ONCE(iface->unlisted, true);
	wake_up_all(&iface->moved);
	dev_put(netdev);
	/* This is where the waiting is done, without RTNL, and the memory freed. */
	rtnl_unlock();
}

void ipoib_reap_prepare(struct ipoib_iface *iface)
{
	INIT_WORK(&iface->reap_work, ipoib_reap_run);
}

/**
 * ipoib_reap() - have an interface and its children unregistered
 * @iface: the interface; the caller has a reference to its net_device, or knows it registered
 *
 * Context: any that may hold RTNL.
 */
void ipoib_reap(struct ipoib_iface *iface)
{
	dev_hold(iface->netdev);
	if (!queue_work(ipoib_rtnl_wq, &iface->reap_work))
		dev_put(iface->netdev);
}

/**
 * ipoib_reap_wait() - wait until it is no longer listed
 * @iface: the interface, after ipoib_reap(); the caller has a reference to its net_device
 *
 * Context: may sleep; no RTNL.
 */
void ipoib_reap_wait(struct ipoib_iface *iface)
{
	wait_event(iface->moved, READ_ONCE(iface->unlisted));
}

int ipoib_reaper_init(void)
{
	/* Each item may wait for ever, so there is room for many; none depends on another. */
	ipoib_rtnl_wq = alloc_workqueue("ipoib_rtnl", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return ipoib_rtnl_wq ? 0 : -ENOMEM;
}

void ipoib_reaper_exit(void)
{
	destroy_workqueue(ipoib_rtnl_wq);
}
