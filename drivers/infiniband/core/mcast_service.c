// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast: the service on a device.
 *
 * When it closes it leaves every group that the SA still has us in: by the SA service below, once,
 * without waiting.  Every client's remove_one has returned then, so that is what somebody forgot.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "mcast.h"

/*
 * After these the SM may have forgotten what we are in: it says so itself, or it may have taken the
 * port for another one.  That the SM has changed is none of them.
 */
static bool mcast_event_matters(enum ib_event_type type)
{
	return type == IB_EVENT_CLIENT_REREGISTER || type == IB_EVENT_LID_CHANGE ||
	       type == IB_EVENT_PORT_ACTIVE;
}

static void mcast_port_stale(struct mcast_port *port)
{
	struct mcast_group *group;
	unsigned int i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < MCAST_BUCKETS; i++) {
		hlist_for_each_entry(group, &port->groups[i], node) {
			/* What is being asked now may have been asked before the SM forgot. */
			if (!group->joined && group->op == MCAST_IDLE)
				continue;
			group->stale = true;
			mcast_group_kick(group);
		}
	}
	spin_unlock_bh(&port->lock);
}

static void mcast_event(struct ib_event_handler *handler, const struct ib_event *event)
{
	struct mcast *mcast = handler->context;

	if (mcast_event_matters(event->type) && event->port && event->port <= mcast->ports)
		mcast_port_stale(&mcast->port[event->port - 1]);
}

static int mcast_start(struct ib_service_instance *instance)
{
	unsigned int i, ports = instance->device->phys_port_cnt;
	struct mcast *mcast = kzalloc(struct_size(mcast, port, ports), GFP_KERNEL);
	int err;

	if (!mcast)
		return -ENOMEM;
	mcast->instance = instance;
	mcast->ports = ports;
	for (i = 0; i < ports; i++) {
		mcast->port[i].mcast = mcast;
		mcast->port[i].number = i + 1;
		spin_lock_init(&mcast->port[i].lock);
	}
	mcast->events = ib_event_subscribe(instance->attachment, mcast_event, mcast);
	if (IS_ERR(mcast->events)) {
		err = PTR_ERR(mcast->events);
		kfree(mcast);
		return err;
	}
	instance->context = mcast;
	return 0;
}

/* A group that has not been left yet, its memory kept; or NULL. */
static struct mcast_group *mcast_port_remaining(struct mcast_port *port, bool *forgotten)
{
	struct mcast_group *group, *found = NULL;
	unsigned int i;

	spin_lock_bh(&port->lock);
	port->closing = true;
	for (i = 0; i < MCAST_BUCKETS && !found; i++) {
		hlist_for_each_entry(group, &port->groups[i], node) {
			if (group->farewell)
				continue;
			found = group;
			kref_get(&found->ref);
			*forgotten = !list_empty(&found->members);
			break;
		}
	}
	spin_unlock_bh(&port->lock);
	return found;
}

static void mcast_port_close(struct mcast_port *port)
{
	struct ib_device *device = mcast_instance(port)->device;
	struct mcast_group *group;
	bool forgotten;

	/* From the beginning each time: the list changes under us. */
	while ((group = mcast_port_remaining(port, &forgotten))) {
		if (forgotten)
			dev_warn(device->hca->parent,
				 "%s: port %u: group %pI6 has members nobody ended, left\n",
				 device->name, port->number, group->mgid.raw);
		mcast_group_farewell(group);
		kref_put(&group->ref, mcast_group_free);
	}
}

static void mcast_close(struct ib_service_instance *instance)
{
	struct mcast *mcast = instance->context;
	unsigned int i;

	for (i = 0; i < mcast->ports; i++)
		mcast_port_close(&mcast->port[i]);
}

static void mcast_stop(struct ib_service_instance *instance)
{
	struct mcast *mcast = instance->context;
	unsigned int i, n;

	ib_event_unsubscribe(mcast->events);
	/* The last member's item took each group away. */
	for (i = 0; i < mcast->ports; i++)
		for (n = 0; n < MCAST_BUCKETS; n++)
			WARN_ON(!hlist_empty(&mcast->port[i].groups[n]));
	kfree(mcast);
}

static const struct ib_service_ops mcast_ops = {
	.start = mcast_start,
	.close = mcast_close,
	.stop = mcast_stop,
};

static struct ib_service *const mcast_needs[] = { &ib_sa, NULL };

struct ib_service ib_multicast = {
	.name = "multicast",
	.owner = THIS_MODULE,
	.needs = mcast_needs,
	.ops = &mcast_ops,
};
EXPORT_SYMBOL_GPL(ib_multicast);

static int mcast_find(struct mcast_port *port, const union ib_gid *mgid,
		      struct ib_sa_mcmember *record)
{
	struct mcast_group *group;
	int err = -ENOENT;

	spin_lock_bh(&port->lock);
	group = mcast_group_find(port, mgid, 0);
	if (group && group->joined) {
		if (record)
			*record = group->record;
		err = 0;
	}
	spin_unlock_bh(&port->lock);
	return err;
}

int ib_mcast_find(struct ib_attachment *attachment, u8 port, const union ib_gid *mgid,
		  struct ib_sa_mcmember *record)
{
	struct ib_service_instance *instance = ib_service_enter(attachment, &ib_multicast);
	struct mcast *mcast;
	int err = -EINVAL;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	mcast = instance->context;
	if (port && port <= mcast->ports)
		err = mcast_find(&mcast->port[port - 1], mgid, record);
	ib_service_exit(instance);
	return err;
}
EXPORT_SYMBOL_GPL(ib_mcast_find);
