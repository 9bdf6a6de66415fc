// SPDX-License-Identifier: GPL-2.0-only
/* Child interfaces: partitions on the port of a parent. All under RTNL, which is outermost. */
#include <linux/export.h>
#include <linux/rtnetlink.h>

#include "ipoib.h"

/* How much of the parent's name a child made by create_child keeps. */
#define IPOIB_CHILD_NAME 10

/**
 * ipoib_child_add() - register a child
 * @parent: the parent; of a port
 * @netdev: the child's, after ipoib_setup()
 * @pkey: its partition, with the full member bit
 * @kind: how it comes to be
 *
 * Its queues are waited for, but not for long: if the HCA is slow the address follows later.
 *
 * Context: RTNL.
 * Return: 0 or an error, and free_netdev() is all that is owed.
 */
int ipoib_child_add(struct ipoib_iface *parent, struct net_device *netdev, u16 pkey,
		    enum ipoib_kind kind)
{
	struct ipoib_iface *child = netdev_priv(netdev);
	struct ipoib_dev *dev;
	int err;

	ASSERT_RTNL();
	dev = ipoib_dev_of(parent);
	if (!dev)
		return -ENODEV;
	err = ipoib_iface_prepare(netdev, dev, parent->port, pkey, kind);
	if (err)
		goto put_dev;
	child->umcast = parent->umcast;
	if (kind == IPOIB_CHILD)
		netdev->sysfs_groups[0] = &ipoib_child_attrs;
	/* From here on the end is ndo_uninit's. */
	child->parent = parent;
	dev_hold(parent->netdev);
	list_add_tail(&child->sibling, &parent->children);
	err = register_netdevice(netdev);
	if (err) {
		if (child->parent)
			netdev->netdev_ops->ndo_uninit(netdev);
		if (netdev->priv_destructor)
			netdev->priv_destructor(netdev);
		goto put_dev;
	}
	if (!ipoib_attach(child, dev))
		ipoib_rtnl_wait(ipoib_settle(child, IPOIB_MADE, IPOIB_UP, ipoib_rtnl_left()));
	ipoib_netdev_sync(child);
put_dev:
	ipoib_dev_put(dev);
	return err;
}

/* A child of create_child with this partition. */
static struct ipoib_iface *ipoib_child_find(struct ipoib_iface *parent, u16 pkey)
{
	struct ipoib_iface *child;

	list_for_each_entry(child, &parent->children, sibling)
		if (child->kind == IPOIB_CHILD && child->child_pkey == pkey)
			return child;
	return NULL;
}

/**
 * ipoib_child_create() - what is written to create_child
 * @parent: the parent
 * @value: what was written
 *
 * Context: RTNL.
 * Return: 0; -EINVAL: no partition; -ENOTUNIQ: the parent or another child has it; or an error.
 */
int ipoib_child_create(struct ipoib_iface *parent, unsigned long value)
{
	struct net_device *netdev;
	char name[IFNAMSIZ];
	u16 pkey;
	int err;

	err = ipoib_pkey_of_user(value, &pkey);
	if (err)
		return err;
	if (pkey == ipoib_pkey_shown(parent) || ipoib_child_find(parent, pkey))
		return -ENOTUNIQ;
	snprintf(name, sizeof(name), "%.*s.%04lx", IPOIB_CHILD_NAME, parent->netdev->name, value);
	netdev = alloc_netdev(sizeof(struct ipoib_iface), name, NET_NAME_ENUM, ipoib_setup);
	if (!netdev)
		return -ENOMEM;
	dev_net_set(netdev, dev_net(parent->netdev));
	err = ipoib_child_add(parent, netdev, pkey, IPOIB_CHILD);
	if (err)
		free_netdev(netdev);
	return err;
}
EXPORT_SYMBOL_GPL(ipoib_child_create);

/**
 * ipoib_child_delete() - what is written to delete_child
 * @parent: the parent
 * @value: what was written
 *
 * The child is unregistered later: its foreign references are not to be waited for in a call that
 * keeps the parent's attributes in use.
 *
 * Context: RTNL.
 * Return: 0; -EINVAL: no partition; -ENODEV: no such child.
 */
int ipoib_child_delete(struct ipoib_iface *parent, unsigned long value)
{
	struct ipoib_iface *child;
	u16 pkey;
	int err;

	err = ipoib_pkey_of_user(value, &pkey);
	if (err)
		return err;
	child = ipoib_child_find(parent, pkey);
	if (!child)
		return -ENODEV;
	/* The name of the partition is free for the next child at once. */
	child->kind = IPOIB_LINK;
	ipoib_reap(child);
	return 0;
}
EXPORT_SYMBOL_GPL(ipoib_child_delete);

/**
 * ipoib_mode_set() - datagram or connected mode
 * @iface: the interface
 * @connected: what is wanted
 * @extack: for the reason; may be NULL
 *
 * Return: 0; -EOPNOTSUPP: connected mode is not offered.
 */
int ipoib_mode_set(struct ipoib_iface *iface, bool connected, struct netlink_ext_ack *extack)
{
	if (!connected)
		return 0;
	NL_SET_ERR_MSG(extack, "connected mode is not supported, only datagram mode is");
	ipoib_warn(iface, "connected mode is not supported, only datagram mode is\n");
	return -EOPNOTSUPP;
}

/**
 * ipoib_umcast_set() - leave groups that a user program has joined to that program, or not
 * @iface: the interface
 * @on: leave them to it
 */
void ipoib_umcast_set(struct ipoib_iface *iface, bool on)
{
	WRITE_ONCE(iface->umcast, on);
	WRITE_ONCE(iface->list_changed, true);
	ipoib_kick(iface);
}
