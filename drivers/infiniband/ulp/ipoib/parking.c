// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parked interfaces: their HCA is being reset or the machine sleeps, and the next incarnation is
 * expected. Addresses, routes and sockets of the users stay; there is no carrier.
 *
 * Who takes an interface out of the list decides what becomes of it: a new device of the same
 * function adopts it; the clock, the end of the driver's binding, or that of the module reaps it.
 */
#include <linux/pci.h>

#include "ipoib.h"

static DEFINE_MUTEX(ipoib_parking_lock);
static LIST_HEAD(ipoib_parked);

/* With the lock held.  Its work item, if it is under way, finds that it is not in the list. */
static void ipoib_parked_take(struct ipoib_iface *iface)
{
	list_del_init(&iface->parked_node);
	put_device(iface->parked_parent);
	iface->parked_parent = NULL;
}

static void ipoib_parked_expired(struct work_struct *work)
{
	struct ipoib_iface *iface = container_of(to_delayed_work(work), struct ipoib_iface,
						 parked_work);
	struct net_device *netdev = iface->netdev;
	bool mine;

	mutex_lock(&ipoib_parking_lock);
	/* It may have been adopted and parked again since this item was queued. */
	mine = !list_empty(&iface->parked_node) && time_after_eq(jiffies, iface->parked_until);
	if (mine)
		ipoib_parked_take(iface);
	mutex_unlock(&ipoib_parking_lock);
	if (mine) {
		ipoib_warn(iface, "its HCA did not come back within %d s, removing it\n",
			   IPOIB_PARKED_SECONDS);
		ipoib_reap(iface);
	}
	dev_put(netdev);
}

void ipoib_parking_prepare(struct ipoib_iface *iface)
{
	INIT_LIST_HEAD(&iface->parked_node);
	INIT_DELAYED_WORK(&iface->parked_work, ipoib_parked_expired);
}

/**
 * ipoib_park() - let an interface wait for the next incarnation of its HCA
 * @iface: the interface of a port; stands on no device
 * @parent: the HCA's function
 *
 * Context: may sleep.
 */
void ipoib_park(struct ipoib_iface *iface, struct device *parent)
{
	dev_hold(iface->netdev);
	mutex_lock(&ipoib_parking_lock);
	iface->parked_parent = get_device(parent);
	iface->parked_until = jiffies + IPOIB_PARKED_SECONDS * HZ;
	list_add_tail(&iface->parked_node, &ipoib_parked);
	queue_delayed_work(ipoib_rtnl_wq, &iface->parked_work, IPOIB_PARKED_SECONDS * HZ);
	mutex_unlock(&ipoib_parking_lock);
}

/* Also gives the reference of the work item back, if that will not run. */
static struct ipoib_iface *ipoib_unpark_if(struct device *parent, u8 port)
{
	struct ipoib_iface *iface, *found = NULL;

	mutex_lock(&ipoib_parking_lock);
	list_for_each_entry(iface, &ipoib_parked, parked_node) {
		if ((parent && iface->parked_parent != parent) || (port && iface->port != port))
			continue;
		found = iface;
		break;
	}
	if (found) {
		ipoib_parked_take(found);
		if (cancel_delayed_work(&found->parked_work))
			dev_put(found->netdev);
	}
	mutex_unlock(&ipoib_parking_lock);
	return found;
}

/**
 * ipoib_unpark() - take the interface of a port back
 * @parent: the HCA's function
 * @port: the port
 *
 * Return: the interface, which is the caller's now, or NULL.
 */
struct ipoib_iface *ipoib_unpark(struct device *parent, u8 port)
{
	return ipoib_unpark_if(parent, port);
}

/* Everything that waits for @parent (NULL: for anything) is not to wait any longer. */
static void ipoib_parking_clear(struct device *parent)
{
	struct ipoib_iface *iface;

	while ((iface = ipoib_unpark_if(parent, 0))) {
		struct net_device *netdev = iface->netdev;

		dev_hold(netdev);
		ipoib_reap(iface);
		ipoib_reap_wait(iface);
		dev_put(netdev);
	}
}

/* No client is told when a HCA is removed between two incarnations; the function's bus knows. */
static int ipoib_bus_event(struct notifier_block *nb, unsigned long action, void *data)
{
	if (action == BUS_NOTIFY_UNBOUND_DRIVER || action == BUS_NOTIFY_DEL_DEVICE)
		ipoib_parking_clear(data);
	return NOTIFY_DONE;
}

static struct notifier_block ipoib_bus_notifier = {
	.notifier_call = ipoib_bus_event,
};

int ipoib_parking_init(void)
{
	return bus_register_notifier(&pci_bus_type, &ipoib_bus_notifier);
}

void ipoib_parking_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &ipoib_bus_notifier);
	ipoib_parking_clear(NULL);
}
