// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: the client of ib_core. An interface for each port when a device comes; when it goes,
 * every IB object is given back before remove_one returns, and the interfaces follow, or are parked
 * if another incarnation is on its way.
 */
#include <linux/export.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include <ib/hca.h>

#include "ipoib.h"

static const struct ipoib_sa_ops ipoib_sa_services = {
	.query_start = ib_sa_query_start,
	.query_cancel = ib_sa_query_cancel,
	.result_record = ib_sa_result_record,
	.join = ib_mcast_join,
	.leave = ib_mcast_leave,
	.find = ib_mcast_find,
};

const struct ipoib_sa_ops *ipoib_sa = &ipoib_sa_services;
EXPORT_SYMBOL_GPL(ipoib_sa);

static void ipoib_dev_free(struct kref *ref)
{
	struct ipoib_dev *dev = container_of(ref, struct ipoib_dev, ref);

	ib_attachment_put(dev->attachment);
	mutex_destroy(&dev->lock);
	kfree(dev);
}

/** ipoib_dev_put() - give the memory of a device back; any context */
void ipoib_dev_put(struct ipoib_dev *dev)
{
	kref_put(&dev->ref, ipoib_dev_free);
}

/**
 * ipoib_dev_of() - the device that an interface stands on
 * @iface: the interface
 *
 * Context: any.
 * Return: the device, whose memory is to be given back with ipoib_dev_put(), or NULL.
 */
struct ipoib_dev *ipoib_dev_of(struct ipoib_iface *iface)
{
	struct ipoib_dev *dev;
	unsigned long flags;

	spin_lock_irqsave(&iface->lock, flags);
	dev = iface->dev;
	if (dev)
		kref_get(&dev->ref);
	spin_unlock_irqrestore(&iface->lock, flags);
	return dev;
}

static void ipoib_event(struct ib_event_handler *handler, const struct ib_event *event)
{
	enum ipoib_flush flush = ipoib_flush_of(event->type);
	struct ipoib_dev *dev = handler->context;
	struct ipoib_iface *iface;

	if (flush == IPOIB_FLUSH_NONE)
		return;
	mutex_lock(&dev->lock);
	list_for_each_entry(iface, &dev->ifaces, dev_node)
		if (!event->port || event->port == iface->port)
			ipoib_ask(iface, flush);
	mutex_unlock(&dev->lock);
}

static struct ipoib_dev *ipoib_dev_alloc(struct ib_attachment *attachment)
{
	struct ib_device *ib = attachment->device;
	struct ipoib_dev *dev;

	dev = kzalloc(struct_size(dev, ports, ib->phys_port_cnt), GFP_KERNEL);
	if (!dev)
		return NULL;
	kref_init(&dev->ref);
	ib_attachment_get(attachment);
	dev->attachment = attachment;
	dev->ib = ib;
	dev->dma = ib->hca->parent;
	dev->nports = ib->phys_port_cnt;
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->ifaces);
	init_waitqueue_head(&dev->empty);
	return dev;
}

static int ipoib_dev_verbs(struct ipoib_dev *dev)
{
	char name[IB_DEVICE_NAME_MAX];
	int err;

	dev->wq = alloc_workqueue("ipoib_%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
				  ib_device_name(dev->ib, name));
	if (!dev->wq)
		return -ENOMEM;
	dev->pd = ib_pd_create(dev->attachment, NULL);
	if (IS_ERR(dev->pd)) {
		err = PTR_ERR(dev->pd);
		goto destroy_wq;
	}
	/* Before anything is read, so that no change is missed. */
	dev->events = ib_event_subscribe(dev->attachment, ipoib_event, dev);
	if (IS_ERR(dev->events)) {
		err = PTR_ERR(dev->events);
		goto destroy_pd;
	}
	return 0;

destroy_pd:
	ib_pd_destroy(dev->pd);
destroy_wq:
	destroy_workqueue(dev->wq);
	return err;
}

/* The interfaces of a former incarnation, and their children. */
static int ipoib_port_adopt(struct ipoib_dev *dev, struct ipoib_iface *iface)
{
	struct ipoib_iface *child;
	int err;

	rtnl_lock();
	err = ipoib_attach(iface, dev);
	list_for_each_entry(child, &iface->children, sibling)
		if (!err)
			err = ipoib_attach(child, dev);
	rtnl_unlock();
	return err;
}

/* Its queues are made before it is registered, so that it is never seen without its address. */
static int ipoib_port_register(struct ipoib_dev *dev, struct ipoib_iface *iface)
{
	int err;

	err = ipoib_attach(iface, dev);
	if (err)
		return err;
	if (!ipoib_settle(iface, IPOIB_MADE, IPOIB_UP, MAX_SCHEDULE_TIMEOUT)) {
		err = READ_ONCE(iface->error) ?: -ENODEV;
		goto detach;
	}
	rtnl_lock();
	ipoib_netdev_sync(iface);
	iface->netdev->sysfs_groups[0] = &ipoib_port_attrs;
	err = register_netdevice(iface->netdev);
	rtnl_unlock();
	if (!err)
		return 0;
detach:
	ipoib_detach(iface);
	ipoib_detach_wait(iface, MAX_SCHEDULE_TIMEOUT);
	return err;
}

static int ipoib_port_add(struct ipoib_dev *dev, u8 port)
{
	struct ipoib_iface *iface = ipoib_unpark(dev->dma, port);
	struct net_device *netdev;
	int err;

	if (iface) {
		dev->ports[port - 1] = iface;
		return ipoib_port_adopt(dev, iface);
	}
	netdev = alloc_netdev(sizeof(*iface), "ib%d", NET_NAME_UNKNOWN, ipoib_setup);
	if (!netdev)
		return -ENOMEM;
	err = ipoib_iface_prepare(netdev, dev, port, 0, IPOIB_PORT);
	if (err) {
		free_netdev(netdev);
		return err;
	}
	iface = netdev_priv(netdev);
	err = ipoib_port_register(dev, iface);
	if (err) {
		/* The item may still be on its way out. */
		flush_workqueue(dev->wq);
		ipoib_iface_discard(iface);
		return err;
	}
	dev->ports[port - 1] = iface;
	return 0;
}

/* No interface stands on the device any more, and none will. */
static void ipoib_dev_clear(struct ipoib_dev *dev)
{
	struct ipoib_iface *iface;

	ib_event_unsubscribe(dev->events);
	mutex_lock(&dev->lock);
	dev->closed = true;
	list_for_each_entry(iface, &dev->ifaces, dev_node)
		ipoib_detach(iface);
	mutex_unlock(&dev->lock);
	wait_event(dev->empty, list_empty_careful(&dev->ifaces));
	/* The last one has left the list; with the lock, it has finished with the queue, too. */
	mutex_lock(&dev->lock);
	mutex_unlock(&dev->lock);
	/* Waits for the last item, which has nothing more to do. */
	destroy_workqueue(dev->wq);
	ib_pd_destroy(dev->pd);
}

static void ipoib_ports_park(struct ipoib_dev *dev)
{
	unsigned int i;

	for (i = 0; i < dev->nports; i++)
		if (dev->ports[i])
			ipoib_park(dev->ports[i], dev->dma);
}

/* All at once, and none is waited for longer than until it is out of the list. */
static void ipoib_ports_reap(struct ipoib_dev *dev)
{
	unsigned int i;

	for (i = 0; i < dev->nports; i++) {
		if (!dev->ports[i])
			continue;
		dev_hold(dev->ports[i]->netdev);
		ipoib_reap(dev->ports[i]);
	}
	for (i = 0; i < dev->nports; i++) {
		if (!dev->ports[i])
			continue;
		ipoib_reap_wait(dev->ports[i]);
		dev_put(dev->ports[i]->netdev);
	}
}

static int ipoib_add_one(struct ib_attachment *attachment)
{
	struct ipoib_dev *dev = ipoib_dev_alloc(attachment);
	int err;
	u8 port;

	if (!dev)
		return -ENOMEM;
	err = ipoib_dev_verbs(dev);
	if (err) {
		ipoib_dev_put(dev);
		return err;
	}
	for (port = 1; port <= dev->nports && !err; port++)
		if (ib_device_has_port(dev->ib, port))
			err = ipoib_port_add(dev, port);
	if (!err) {
		ib_attachment_set_context(attachment, dev);
		return 0;
	}
	/* It is tried again: the interfaces that there are wait for that. */
	ipoib_dev_clear(dev);
	ipoib_ports_park(dev);
	ipoib_dev_put(dev);
	return err;
}

static void ipoib_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct ipoib_dev *dev = ib_attachment_context(attachment);

	ipoib_dev_clear(dev);
	if (reason == IB_RESET)
		ipoib_ports_park(dev);
	else
		ipoib_ports_reap(dev);
}

static void ipoib_free(void *context)
{
	ipoib_dev_put(context);
}

static struct ib_service *const ipoib_needs[] = { &ib_sa, &ib_multicast, NULL };

struct ib_client ipoib_client = {
	.name = "ib_ipoib",
	.owner = THIS_MODULE,
	.needs = ipoib_needs,
	.add_one = ipoib_add_one,
	.remove_one = ipoib_remove_one,
	.free = ipoib_free,
};
EXPORT_SYMBOL_GPL(ipoib_client);
