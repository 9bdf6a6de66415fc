/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NETLINK_RDMA socket and what answers on it.
 */
#ifndef IB_CORE_NETLINK_H
#define IB_CORE_NETLINK_H

#include <linux/netlink.h>
#include <net/netlink.h>
#include <uapi/rdma/rdma_netlink.h>

#include <ib/netlink.h>

#include "objects.h"

/**
 * struct ib_netlink_op - an operation of client NLDEV
 * @doit: answer one request; the socket acknowledges
 * @dump: fill a part of a dump; as &netlink_dump_control.dump
 * @admin: needs CAP_NET_ADMIN
 */
struct ib_netlink_op {
	int (*doit)(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
	int (*dump)(struct sk_buff *skb, struct netlink_callback *cb);
	bool admin;
};

/* By operation; RDMA_NLDEV_NUM_OPS of them. */
extern const struct ib_netlink_op ib_nldev_ops[RDMA_NLDEV_NUM_OPS];

/* ---- netlink.c ---- */
int ib_netlink_reply(struct sk_buff *request, struct sk_buff *answer);
void ib_netlink_multicast(struct net *namespace, struct sk_buff *skb, unsigned int group);
int ib_chardev_find(const char *type, struct ib_device *device, u8 port,
		    struct ib_chardev_info *info);

/* ---- nldev.c ---- */
int ib_nldev_parse(struct nlmsghdr *nlh, struct nlattr **tb, struct netlink_ext_ack *extack);
struct ib_device *ib_nldev_device(struct nlattr **tb);
int ib_nldev_put_handle(struct sk_buff *skb, struct ib_device *device);
struct sk_buff *ib_nldev_answer(struct sk_buff *request, struct nlmsghdr *nlh,
				struct nlmsghdr **header);
int ib_nldev_send(struct sk_buff *request, struct sk_buff *answer, struct nlmsghdr *header,
		  int err);
int ib_nldev_do_device(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack,
		       int (*put)(struct sk_buff *skb, struct ib_device *device));
int ib_nldev_dump_devices(struct sk_buff *skb, struct netlink_callback *cb,
			  int (*put)(struct sk_buff *skb, struct ib_device *device));

/* ---- nldev_res.c ---- */
int ib_nldev_res_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int ib_nldev_res_get_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ib_nldev_res_one(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int ib_nldev_res_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* IB_CORE_NETLINK_H */
