// SPDX-License-Identifier: GPL-2.0-only
/* `ip link ... type ipoib`. */
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/rtnetlink.h>
#include <uapi/linux/if_link.h>

#include "ipoib.h"

static const struct nla_policy ipoib_policy[IFLA_IPOIB_MAX + 1] = {
	[IFLA_IPOIB_PKEY] = { .type = NLA_U16 },
	[IFLA_IPOIB_MODE] = { .type = NLA_U16 },
	[IFLA_IPOIB_UMCAST] = { .type = NLA_U16 },
};

static int ipoib_link_change(struct net_device *netdev, struct nlattr *tb[], struct nlattr *data[],
			     struct netlink_ext_ack *extack)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	int err;

	if (!data)
		return 0;
	if (data[IFLA_IPOIB_MODE]) {
		u16 mode = nla_get_u16(data[IFLA_IPOIB_MODE]);

		if (mode > IPOIB_MODE_CONNECTED) {
			NL_SET_ERR_MSG(extack, "no such mode");
			return -EINVAL;
		}
		err = ipoib_mode_set(iface, mode == IPOIB_MODE_CONNECTED, extack);
		if (err)
			return err;
	}
	if (data[IFLA_IPOIB_UMCAST])
		ipoib_umcast_set(iface, nla_get_u16(data[IFLA_IPOIB_UMCAST]));
	return 0;
}

static int ipoib_link_parent(struct net *net, struct nlattr *tb[], struct ipoib_iface **parent,
			     struct netlink_ext_ack *extack)
{
	struct net_device *netdev;

	if (!tb[IFLA_LINK]) {
		NL_SET_ERR_MSG(extack, "a parent interface is needed (link DEV)");
		return -EINVAL;
	}
	netdev = __dev_get_by_index(net, nla_get_u32(tb[IFLA_LINK]));
	if (!netdev || !ipoib_is_ours(netdev)) {
		NL_SET_ERR_MSG(extack, "the parent is not an IPoIB interface");
		return -ENODEV;
	}
	*parent = netdev_priv(netdev);
	if ((*parent)->kind == IPOIB_PORT)
		return 0;
	NL_SET_ERR_MSG(extack, "the parent is a child itself");
	return -EINVAL;
}

static int ipoib_link_new(struct net *net, struct net_device *netdev, struct nlattr *tb[],
			  struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct ipoib_iface *parent;
	u16 pkey;
	int err;

	err = ipoib_link_parent(net, tb, &parent, extack);
	if (err)
		return err;
	pkey = ipoib_pkey_shown(parent);
	if (data && data[IFLA_IPOIB_PKEY] &&
	    ipoib_pkey_of_user(nla_get_u16(data[IFLA_IPOIB_PKEY]), &pkey)) {
		NL_SET_ERR_MSG(extack, "0 and 0x8000 are no partitions");
		return -EINVAL;
	}
	if (data && data[IFLA_IPOIB_MODE] &&
	    nla_get_u16(data[IFLA_IPOIB_MODE]) != IPOIB_MODE_DATAGRAM)
		return ipoib_mode_set(parent, true, extack);
	err = ipoib_child_add(parent, netdev, pkey, IPOIB_LINK);
	return err ?: ipoib_link_change(netdev, tb, data, extack);
}

/* The interface of a port goes with the port. */
static void ipoib_link_delete(struct net_device *netdev, struct list_head *head)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	if (iface->parent)
		unregister_netdevice_queue(netdev, head);
}

static size_t ipoib_link_size(const struct net_device *netdev)
{
	return 3 * nla_total_size(sizeof(u16));
}

static int ipoib_link_fill(struct sk_buff *skb, const struct net_device *netdev)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	if (nla_put_u16(skb, IFLA_IPOIB_PKEY, ipoib_pkey_shown(iface)) ||
	    nla_put_u16(skb, IFLA_IPOIB_MODE, IPOIB_MODE_DATAGRAM) ||
	    nla_put_u16(skb, IFLA_IPOIB_UMCAST, iface->umcast))
		return -EMSGSIZE;
	return 0;
}

struct rtnl_link_ops ipoib_link_ops __read_mostly = {
	.kind = "ipoib",
	.netns_refund = true,
	.maxtype = IFLA_IPOIB_MAX,
	.policy = ipoib_policy,
	.priv_size = sizeof(struct ipoib_iface),
	.setup = ipoib_setup,
	.newlink = ipoib_link_new,
	.changelink = ipoib_link_change,
	.dellink = ipoib_link_delete,
	.get_size = ipoib_link_size,
	.fill_info = ipoib_link_fill,
};

/*
 * A namespace ends: ports' interfaces return to the first one, which the core sees to
 * (netns_refund), children end with it, as those of other kinds do.
 */
static void __net_exit ipoib_net_exit(struct list_head *nets)
{
	struct net_device *netdev;
	struct net *net;
	LIST_HEAD(list);

	rtnl_lock();
	list_for_each_entry(net, nets, exit_list)
		for_each_netdev(net, netdev)
			if (ipoib_is_ours(netdev))
				ipoib_link_delete(netdev, &list);
	unregister_netdevice_many(&list);
	rtnl_unlock();
}

static struct pernet_operations ipoib_net_ops = {
	.exit_batch = ipoib_net_exit,
};

/** ipoib_netlink_init() - make the kind known */
int ipoib_netlink_init(void)
{
	int err = register_pernet_device(&ipoib_net_ops);

	if (err)
		return err;
	err = rtnl_link_register(&ipoib_link_ops);
	if (err)
		unregister_pernet_device(&ipoib_net_ops);
	return err;
}

/** ipoib_netlink_exit() - its mirror; removes all children */
void ipoib_netlink_exit(void)
{
	rtnl_link_unregister(&ipoib_link_ops);
	unregister_pernet_device(&ipoib_net_ops);
}
