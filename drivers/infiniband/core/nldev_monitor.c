// SPDX-License-Identifier: GPL-2.0-only
/*
 * NLDEV: notifications of devices that come and go, for whoever joined the group.
 *
 * A notification that cannot be sent is lost, like any of netlink's; nothing else fails by it.
 */
#include <net/net_namespace.h>

#include "netlink.h"

#if IB_NLDEV_HAS_MONITOR

static struct sk_buff *ib_nldev_event(struct ib_device *device, u8 type)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlmsghdr *header;

	if (!skb)
		return NULL;
	header = nlmsg_put(skb, 0, 0, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR), 0,
			   0);
	if (!header || ib_nldev_put_handle(skb, device) ||
	    nla_put_u8(skb, RDMA_NLDEV_ATTR_EVENT_TYPE, type)) {
		nlmsg_free(skb);
		return NULL;
	}
	nlmsg_end(skb, header);
	return skb;
}

void ib_nldev_notify(struct ib_device *device, bool there)
{
	struct sk_buff *skb = ib_nldev_event(device, there ? RDMA_REGISTER_EVENT :
						     RDMA_UNREGISTER_EVENT);

	/* Namespaces are shared: a device belongs to the first. */
	if (skb)
		ib_netlink_multicast(&init_net, skb, RDMA_NL_GROUP_NOTIFY);
}

#else

void ib_nldev_notify(struct ib_device *device, bool there)
{
}

#endif /* IB_NLDEV_HAS_MONITOR */
