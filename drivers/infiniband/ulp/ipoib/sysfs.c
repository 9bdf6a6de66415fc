// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of an interface.
 *
 * Whoever writes keeps the attribute in use, and who unregisters the interface waits for that with
 * RTNL held: so RTNL is only tried here, and the call is started again if it is taken.
 */
#include <linux/capability.h>
#include <linux/rtnetlink.h>

#include "ipoib.h"

static struct ipoib_iface *ipoib_of(struct device *d)
{
	return netdev_priv(to_net_dev(d));
}

static ssize_t mode_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "datagram\n");
}

static ssize_t mode_store(struct device *d, struct device_attribute *attr, const char *buf,
			  size_t count)
{
	int err;

	if (strcmp(buf, "datagram\n") && strcmp(buf, "connected\n"))
		return -EINVAL;
	if (!rtnl_trylock())
		return restart_syscall();
	err = ipoib_mode_set(ipoib_of(d), buf[0] == 'c', NULL);
	rtnl_unlock();
	return err ?: count;
}
static DEVICE_ATTR_RW(mode);

static ssize_t pkey_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%04x\n", ipoib_pkey_shown(ipoib_of(d)));
}
static DEVICE_ATTR_RO(pkey);

static ssize_t umcast_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(ipoib_of(d)->umcast));
}

static ssize_t umcast_store(struct device *d, struct device_attribute *attr, const char *buf,
			    size_t count)
{
	unsigned long on;
	int err = kstrtoul(buf, 0, &on);

	if (err)
		return err;
	if (!rtnl_trylock())
		return restart_syscall();
	ipoib_umcast_set(ipoib_of(d), on);
	rtnl_unlock();
	return count;
}
static DEVICE_ATTR_RW(umcast);

static ssize_t child_store(struct device *d, const char *buf, size_t count,
			   int (*change)(struct ipoib_iface *parent, unsigned long value))
{
	struct ipoib_iface *iface = ipoib_of(d);
	unsigned long value;
	int err;

	if (!ns_capable(dev_net(iface->netdev)->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	err = kstrtoul(buf, 0, &value);
	if (err)
		return -EINVAL;
	if (!rtnl_trylock())
		return restart_syscall();
	err = iface->netdev->reg_state == NETREG_REGISTERED ? change(iface, value) : -ENODEV;
	rtnl_unlock();
	return err ?: count;
}

static ssize_t create_child_store(struct device *d, struct device_attribute *attr, const char *buf,
				  size_t count)
{
	return child_store(d, buf, count, ipoib_child_create);
}
static DEVICE_ATTR_WO(create_child);

static ssize_t delete_child_store(struct device *d, struct device_attribute *attr, const char *buf,
				  size_t count)
{
	return child_store(d, buf, count, ipoib_child_delete);
}
static DEVICE_ATTR_WO(delete_child);

/* The parent stays as long as the child is registered, and this as long as it is in use. */
static ssize_t parent_show(struct device *d, struct device_attribute *attr, char *buf)
{
	struct ipoib_iface *iface = ipoib_of(d);
	ssize_t len = -ENODEV;

	if (!rtnl_trylock())
		return restart_syscall();
	if (iface->parent)
		len = sysfs_emit(buf, "%s\n", iface->parent->netdev->name);
	rtnl_unlock();
	return len;
}
static DEVICE_ATTR_RO(parent);

static struct attribute *ipoib_port_list[] = {
	&dev_attr_mode.attr,
	&dev_attr_pkey.attr,
	&dev_attr_umcast.attr,
	&dev_attr_create_child.attr,
	&dev_attr_delete_child.attr,
	NULL,
};

static struct attribute *ipoib_child_list[] = {
	&dev_attr_mode.attr,
	&dev_attr_pkey.attr,
	&dev_attr_umcast.attr,
	&dev_attr_parent.attr,
	NULL,
};

const struct attribute_group ipoib_port_attrs = {
	.attrs = ipoib_port_list,
};

const struct attribute_group ipoib_child_attrs = {
	.attrs = ipoib_child_list,
};
