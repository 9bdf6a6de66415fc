// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NETLINK_RDMA socket: one in each network namespace, one client, NLDEV.
 *
 * A do is answered and then acknowledged if the request asked for it, which netlink_rcv_skb() does;
 * user programs wait for that.
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "netlink.h"

MODULE_ALIAS_NET_PF_PROTO(PF_NETLINK, NETLINK_RDMA);
MODULE_ALIAS("rdma-netlink-subsys-" __stringify(5));
static_assert(RDMA_NL_NLDEV == 5);

static unsigned int ib_netlink_id;

/**
 * struct ib_netlink_net - what a network namespace has
 * @socket: its kernel socket
 */
struct ib_netlink_net {
	struct sock *socket;
};

static DEFINE_MUTEX(ib_chardev_lock); /* protects the list, held over calls of find */
static LIST_HEAD(ib_chardevs);

void ib_chardev_register(struct ib_chardev *chardev)
{
	mutex_lock(&ib_chardev_lock);
	list_add_tail(&chardev->node, &ib_chardevs);
	mutex_unlock(&ib_chardev_lock);
}
EXPORT_SYMBOL_GPL(ib_chardev_register);

void ib_chardev_unregister(struct ib_chardev *chardev)
{
	mutex_lock(&ib_chardev_lock);
	list_del(&chardev->node);
	mutex_unlock(&ib_chardev_lock);
}
EXPORT_SYMBOL_GPL(ib_chardev_unregister);

static int ib_chardev_ask(const char *type, struct ib_device *device, u8 port,
			  struct ib_chardev_info *info)
{
	struct ib_chardev *chardev;
	int err = -EOPNOTSUPP;

	mutex_lock(&ib_chardev_lock);
	list_for_each_entry(chardev, &ib_chardevs, node) {
		if (strcmp(chardev->type, type))
			continue;
		err = chardev->per_port && !port ? -EINVAL : chardev->find(device, port, info);
		break;
	}
	mutex_unlock(&ib_chardev_lock);
	return err;
}

/**
 * ib_chardev_find() - where is the char device of a device?
 * @type: kind
 * @device: the device, or NULL
 * @port: its port, or 0
 * @info: filled in
 *
 * Loads the module of an unknown kind, once.
 *
 * Return: 0, -EOPNOTSUPP: no such kind, or what its module says.
 */
int ib_chardev_find(const char *type, struct ib_device *device, u8 port,
		    struct ib_chardev_info *info)
{
	int err = ib_chardev_ask(type, device, port, info);

	if (err != -EOPNOTSUPP)
		return err;
	request_module("rdma-client-%s", type);
	return ib_chardev_ask(type, device, port, info);
}

/** ib_netlink_reply() - send an answer to whoever asked; consumes @answer */
int ib_netlink_reply(struct sk_buff *request, struct sk_buff *answer)
{
	struct ib_netlink_net *net = net_generic(sock_net(request->sk), ib_netlink_id);

	return nlmsg_unicast(net->socket, answer, NETLINK_CB(request).portid);
}

/** ib_netlink_multicast() - send to all who have joined a group; consumes @skb */
void ib_netlink_multicast(struct net *namespace, struct sk_buff *skb, unsigned int group)
{
	struct ib_netlink_net *net = net_generic(namespace, ib_netlink_id);

	nlmsg_multicast(net->socket, skb, 0, group, GFP_KERNEL);
}

static int ib_netlink_receive_one(struct sk_buff *skb, struct nlmsghdr *nlh,
				  struct netlink_ext_ack *extack)
{
	struct ib_netlink_net *net = net_generic(sock_net(skb->sk), ib_netlink_id);
	unsigned int op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	const struct ib_netlink_op *what;

	if (RDMA_NL_GET_CLIENT(nlh->nlmsg_type) != RDMA_NL_NLDEV || op >= RDMA_NLDEV_NUM_OPS)
		return -EINVAL;
	what = &ib_nldev_ops[array_index_nospec(op, RDMA_NLDEV_NUM_OPS)];
	if (what->admin && !netlink_capable(skb, CAP_NET_ADMIN))
		return -EPERM;
	if (nlh->nlmsg_flags & NLM_F_DUMP) {
		struct netlink_dump_control control = {
			.dump = what->dump,
			.module = THIS_MODULE,
		};

		return what->dump ? netlink_dump_start(net->socket, skb, nlh, &control) : -EINVAL;
	}
	return what->doit ? what->doit(skb, nlh, extack) : -EINVAL;
}

static void ib_netlink_receive(struct sk_buff *skb)
{
	netlink_rcv_skb(skb, ib_netlink_receive_one);
}

static int __net_init ib_netlink_net_init(struct net *net)
{
	struct ib_netlink_net *mine = net_generic(net, ib_netlink_id);
	struct netlink_kernel_cfg cfg = {
		.flags = NL_CFG_F_NONROOT_RECV,
		.input = ib_netlink_receive,
	};

	mine->socket = netlink_kernel_create(net, NETLINK_RDMA, &cfg);
	return mine->socket ? 0 : -ENOMEM;
}

static void __net_exit ib_netlink_net_exit(struct net *net)
{
	struct ib_netlink_net *mine = net_generic(net, ib_netlink_id);

	netlink_kernel_release(mine->socket);
}

static struct pernet_operations ib_netlink_net_ops = {
	.init = ib_netlink_net_init,
	.exit = ib_netlink_net_exit,
	.id = &ib_netlink_id,
	.size = sizeof(struct ib_netlink_net),
};

/** ib_netlink_init() - open the sockets; from ib_core's module init */
int ib_netlink_init(void)
{
	return register_pernet_subsys(&ib_netlink_net_ops);
}

/** ib_netlink_exit() - its mirror */
void ib_netlink_exit(void)
{
	unregister_pernet_subsys(&ib_netlink_net_ops);
}
