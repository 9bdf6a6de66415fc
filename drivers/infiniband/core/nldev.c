// SPDX-License-Identifier: GPL-2.0-only
/*
 * NLDEV: devices, ports, char devices and names for the rdma tool, libibverbs and udev.
 *
 * Every answer is a snapshot. Of a device only the memory is kept while it is written, and where
 * the hardware is asked (ports), the gate is entered for that call alone.
 */
#include "netlink.h"

#define IB_NLDEV_SHARED_NAMESPACES 1
#define IB_NLDEV_NODE_CA 1

/* Read liberally: attributes that nobody knows are passed over. */
static const struct nla_policy ib_nldev_policy[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[RDMA_NLDEV_ATTR_PORT_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_CHARDEV_TYPE] = { .type = NLA_NUL_STRING, .len = 127 },
	[RDMA_NLDEV_ATTR_RES_LQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_PDN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_MRN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_SRQN] = { .type = NLA_U32 },
};

/** ib_nldev_parse() - the attributes of a request into @tb, of RDMA_NLDEV_ATTR_MAX entries */
int ib_nldev_parse(struct nlmsghdr *nlh, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	return nlmsg_parse_deprecated(nlh, 0, tb, RDMA_NLDEV_ATTR_MAX - 1, ib_nldev_policy,
				      extack);
}

/**
 * ib_nldev_device() - the device that a request names
 * @tb: its attributes
 *
 * Return: the device, its memory kept, or ERR_PTR(-EINVAL).
 */
struct ib_device *ib_nldev_device(struct nlattr **tb)
{
	struct ib_device *device = NULL;

	if (tb[RDMA_NLDEV_ATTR_DEV_INDEX])
		device = ib_device_find(nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]));
	return device ?: ERR_PTR(-EINVAL);
}

/**
 * ib_nldev_answer() - begin an answer
 * @request: the request
 * @nlh: its header
 * @header: that of the answer
 *
 * Return: the answer, or ERR_PTR(-ENOMEM).
 */
struct sk_buff *ib_nldev_answer(struct sk_buff *request, struct nlmsghdr *nlh,
				struct nlmsghdr **header)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return ERR_PTR(-ENOMEM);
	*header = nlmsg_put(skb, NETLINK_CB(request).portid, nlh->nlmsg_seq, nlh->nlmsg_type, 0, 0);
	if (*header)
		return skb;
	nlmsg_free(skb);
	return ERR_PTR(-EMSGSIZE);
}

/**
 * ib_nldev_send() - end an answer: send it, or throw it away
 * @request: the request
 * @answer: from ib_nldev_answer()
 * @header: from there
 * @err: whether it could be filled
 *
 * Return: @err, or what sending gave.
 */
int ib_nldev_send(struct sk_buff *request, struct sk_buff *answer, struct nlmsghdr *header,
		  int err)
{
	if (err) {
		nlmsg_free(answer);
		return err;
	}
	nlmsg_end(answer, header);
	return ib_netlink_reply(request, answer);
}

/** ib_nldev_put_handle() - index and name of a device */
int ib_nldev_put_handle(struct sk_buff *skb, struct ib_device *device)
{
	char name[IB_DEVICE_NAME_MAX];

	if (nla_put_u32(skb, RDMA_NLDEV_ATTR_DEV_INDEX, device->index) ||
	    nla_put_string(skb, RDMA_NLDEV_ATTR_DEV_NAME, ib_device_name(device, name)))
		return -EMSGSIZE;
	return 0;
}

static int ib_nldev_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, RDMA_NLDEV_ATTR_PAD);
}

static int ib_nldev_put_device(struct sk_buff *skb, struct ib_device *device)
{
	const struct ib_device_attr *attr = ib_device_attr(device);

	if (ib_nldev_put_handle(skb, device) ||
	    nla_put_u32(skb, RDMA_NLDEV_ATTR_PORT_INDEX, device->phys_port_cnt) ||
	    ib_nldev_put_u64(skb, RDMA_NLDEV_ATTR_CAP_FLAGS, attr->device_cap_flags) ||
	    nla_put_string(skb, RDMA_NLDEV_ATTR_FW_VERSION, device->fw_ver) ||
	    ib_nldev_put_u64(skb, RDMA_NLDEV_ATTR_NODE_GUID, be64_to_cpu(device->node_guid)) ||
	    ib_nldev_put_u64(skb, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID,
			     be64_to_cpu(attr->sys_image_guid)) ||
	    nla_put_u8(skb, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, IB_NLDEV_NODE_CA) ||
	    nla_put_u8(skb, RDMA_NLDEV_ATTR_DEV_DIM, 0) ||
	    nla_put_string(skb, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "ib"))
		return -EMSGSIZE;
	return 0;
}

/**
 * ib_nldev_do_device() - answer a request about one device
 * @skb: the request
 * @nlh: its header
 * @extack: for what is wrong with it
 * @put: writes the device
 *
 * Return: 0, -EINVAL: no such device, or an error.
 */
int ib_nldev_do_device(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack,
		       int (*put)(struct sk_buff *skb, struct ib_device *device))
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct nlmsghdr *header;
	struct ib_device *device;
	struct sk_buff *answer;
	int err;

	err = ib_nldev_parse(nlh, tb, extack);
	if (err)
		return err;
	device = ib_nldev_device(tb);
	if (IS_ERR(device))
		return PTR_ERR(device);
	answer = ib_nldev_answer(skb, nlh, &header);
	err = PTR_ERR_OR_ZERO(answer);
	if (!err)
		err = ib_nldev_send(skb, answer, header, put(answer, device));
	put_device(&device->dev);
	return err;
}

static int ib_nldev_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	return ib_nldev_do_device(skb, nlh, extack, ib_nldev_put_device);
}

/**
 * struct ib_nldev_walk - a dump over devices
 * @skb: the part being filled
 * @cb: of the dump; args[0] is the index of the first device that is still to be written
 * @put: writes one device
 */
struct ib_nldev_walk {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	int (*put)(struct sk_buff *skb, struct ib_device *device);
};

static int ib_nldev_dump_next(struct ib_device *device, void *data)
{
	struct ib_nldev_walk *walk = data;
	struct nlmsghdr *header;

	if (device->index < walk->cb->args[0])
		return 0;
	header = nlmsg_put(walk->skb, NETLINK_CB(walk->cb->skb).portid, walk->cb->nlh->nlmsg_seq,
			   walk->cb->nlh->nlmsg_type, 0, NLM_F_MULTI);
	if (!header)
		return -EMSGSIZE;
	if (walk->put(walk->skb, device)) {
		nlmsg_cancel(walk->skb, header);
		return -EMSGSIZE;
	}
	nlmsg_end(walk->skb, header);
	walk->cb->args[0] = device->index + 1;
	return 0;
}

/**
 * ib_nldev_dump_devices() - a message for each device
 * @skb: the part to fill
 * @cb: of the dump
 * @put: writes one device
 *
 * A device that does not fit comes first in the next part.
 *
 * Return: what a dump returns.
 */
int ib_nldev_dump_devices(struct sk_buff *skb, struct netlink_callback *cb,
			  int (*put)(struct sk_buff *skb, struct ib_device *device))
{
	struct ib_nldev_walk walk = { .skb = skb, .cb = cb, .put = put };

	ib_device_for_each(ib_nldev_dump_next, &walk);
	return skb->len;
}

static int ib_nldev_get_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ib_nldev_dump_devices(skb, cb, ib_nldev_put_device);
}

static int ib_nldev_put_port(struct sk_buff *skb, struct ib_device *device, u8 port)
{
	struct ib_port_attr attr, cached;
	int err;

	err = ib_port_query(device, port, &attr);
	if (err)
		return err;
	if (!ib_port_cached(device, port, &cached))
		attr.subnet_prefix = cached.subnet_prefix;
	if (ib_nldev_put_handle(skb, device) ||
	    nla_put_u32(skb, RDMA_NLDEV_ATTR_PORT_INDEX, port) ||
	    ib_nldev_put_u64(skb, RDMA_NLDEV_ATTR_CAP_FLAGS,
			     attr.cap_mask | (u64)attr.cap_mask2 << 32) ||
	    ib_nldev_put_u64(skb, RDMA_NLDEV_ATTR_SUBNET_PREFIX, attr.subnet_prefix) ||
	    nla_put_u32(skb, RDMA_NLDEV_ATTR_LID, attr.lid) ||
	    nla_put_u32(skb, RDMA_NLDEV_ATTR_SM_LID, attr.sm_lid) ||
	    nla_put_u8(skb, RDMA_NLDEV_ATTR_LMC, attr.lmc) ||
	    nla_put_u8(skb, RDMA_NLDEV_ATTR_PORT_STATE, attr.state) ||
	    nla_put_u8(skb, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, attr.phys_state))
		return -EMSGSIZE;
	return 0;
}

static int ib_nldev_port_get(struct sk_buff *skb, struct nlmsghdr *nlh,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct nlmsghdr *header;
	struct ib_device *device;
	struct sk_buff *answer;
	u32 port;
	int err;

	err = ib_nldev_parse(nlh, tb, extack);
	if (err)
		return err;
	if (!tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		return -EINVAL;
	device = ib_nldev_device(tb);
	if (IS_ERR(device))
		return PTR_ERR(device);
	port = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	err = -EINVAL;
	if (!port || port > device->phys_port_cnt)
		goto out;
	answer = ib_nldev_answer(skb, nlh, &header);
	err = PTR_ERR_OR_ZERO(answer);
	if (!err)
		err = ib_nldev_send(skb, answer, header,
				    ib_nldev_put_port(answer, device, port));
out:
	put_device(&device->dev);
	return err;
}

/* The ports of one device; args[0] counts those that were written. */
static int ib_nldev_port_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct nlmsghdr *header;
	struct ib_device *device;
	int err;

	err = ib_nldev_parse((struct nlmsghdr *)cb->nlh, tb, NULL);
	if (err)
		return err;
	device = ib_nldev_device(tb);
	if (IS_ERR(device))
		return PTR_ERR(device);
	for (; cb->args[0] < device->phys_port_cnt; cb->args[0]++) {
		header = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   cb->nlh->nlmsg_type, 0, NLM_F_MULTI);
		if (!header)
			break;
		err = ib_nldev_put_port(skb, device, cb->args[0] + 1);
		if (err == -EMSGSIZE) {
			nlmsg_cancel(skb, header);
			break;
		}
		/* A port that cannot be asked any more is left out. */
		if (err)
			nlmsg_cancel(skb, header);
		else
			nlmsg_end(skb, header);
	}
	put_device(&device->dev);
	return skb->len;
}

static int ib_nldev_sys_get(struct sk_buff *skb, struct nlmsghdr *nlh,
			    struct netlink_ext_ack *extack)
{
	struct nlmsghdr *header;
	struct sk_buff *answer;
	int err = 0;

	answer = ib_nldev_answer(skb, nlh, &header);
	if (IS_ERR(answer))
		return PTR_ERR(answer);
	/* Pinned pages are copied on fork, so user programs need no special care. */
	if (nla_put_u8(answer, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, IB_NLDEV_SHARED_NAMESPACES) ||
	    nla_put_u8(answer, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1))
		err = -EMSGSIZE;
#if IB_NLDEV_HAS_MONITOR
	if (nla_put_u8(answer, RDMA_NLDEV_SYS_ATTR_MONITOR_MODE, 1))
		err = -EMSGSIZE;
#endif
	return ib_nldev_send(skb, answer, header, err);
}

static int ib_nldev_put_chardev(struct sk_buff *skb, const struct ib_chardev_info *info)
{
	if (ib_nldev_put_u64(skb, RDMA_NLDEV_ATTR_CHARDEV, huge_encode_dev(info->dev->devt)) ||
	    ib_nldev_put_u64(skb, RDMA_NLDEV_ATTR_CHARDEV_ABI, info->abi) ||
	    nla_put_string(skb, RDMA_NLDEV_ATTR_CHARDEV_NAME, dev_name(info->dev)))
		return -EMSGSIZE;
	if (info->has_driver_id &&
	    nla_put_u32(skb, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, info->driver_id))
		return -EMSGSIZE;
	return 0;
}

/* The answer names the device again, if one was asked about. */
static int ib_nldev_answer_chardev(struct sk_buff *skb, struct nlmsghdr *nlh, const char *type,
				   struct ib_device *device, u8 port)
{
	struct ib_chardev_info info = {};
	struct nlmsghdr *header;
	struct sk_buff *answer;
	int err;

	err = ib_chardev_find(type, device, port, &info);
	if (err)
		return err;
	answer = ib_nldev_answer(skb, nlh, &header);
	err = PTR_ERR_OR_ZERO(answer);
	if (!err) {
		err = ib_nldev_put_chardev(answer, &info);
		if (!err && device)
			err = ib_nldev_put_handle(answer, device);
		err = ib_nldev_send(skb, answer, header, err);
	}
	put_device(info.dev);
	return err;
}

static int ib_nldev_get_chardev(struct sk_buff *skb, struct nlmsghdr *nlh,
				struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct ib_device *device = NULL;
	char type[128];
	u32 port = 0;
	int err;

	err = ib_nldev_parse(nlh, tb, extack);
	if (err)
		return err;
	if (!tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE])
		return -EINVAL;
	nla_strscpy(type, tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE], sizeof(type));
	if (tb[RDMA_NLDEV_ATTR_DEV_INDEX]) {
		device = ib_nldev_device(tb);
		if (IS_ERR(device))
			return PTR_ERR(device);
	}
	if (tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		port = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	err = -EINVAL;
	if (!port || (device && port <= device->phys_port_cnt))
		err = ib_nldev_answer_chardev(skb, nlh, type, device, port);
	if (device)
		put_device(&device->dev);
	return err;
}

static int ib_nldev_set(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	char name[IB_DEVICE_NAME_MAX];
	struct ib_device *device;
	int err;

	err = ib_nldev_parse(nlh, tb, extack);
	if (err)
		return err;
	device = ib_nldev_device(tb);
	if (IS_ERR(device))
		return PTR_ERR(device);
	/* Namespaces are shared, and completions are not moderated by the core. */
	err = -EOPNOTSUPP;
	if (tb[RDMA_NLDEV_ATTR_DEV_NAME]) {
		nla_strscpy(name, tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(name));
		err = ib_device_rename(device, name);
	}
	put_device(&device->dev);
	return err;
}

const struct ib_netlink_op ib_nldev_ops[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = { .doit = ib_nldev_get, .dump = ib_nldev_get_dump },
	[RDMA_NLDEV_CMD_SET] = { .doit = ib_nldev_set, .admin = true },
	[RDMA_NLDEV_CMD_PORT_GET] = { .doit = ib_nldev_port_get, .dump = ib_nldev_port_dump },
	[RDMA_NLDEV_CMD_SYS_GET] = { .doit = ib_nldev_sys_get },
	[RDMA_NLDEV_CMD_GET_CHARDEV] = { .doit = ib_nldev_get_chardev },
	[RDMA_NLDEV_CMD_RES_GET] = { .doit = ib_nldev_res_get, .dump = ib_nldev_res_get_dump },
	[RDMA_NLDEV_CMD_RES_QP_GET] = { .doit = ib_nldev_res_one, .dump = ib_nldev_res_dump },
	[RDMA_NLDEV_CMD_RES_CQ_GET] = { .doit = ib_nldev_res_one, .dump = ib_nldev_res_dump },
	[RDMA_NLDEV_CMD_RES_MR_GET] = { .doit = ib_nldev_res_one, .dump = ib_nldev_res_dump },
	[RDMA_NLDEV_CMD_RES_PD_GET] = { .doit = ib_nldev_res_one, .dump = ib_nldev_res_dump },
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = { .doit = ib_nldev_res_one, .dump = ib_nldev_res_dump },
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = { .doit = ib_nldev_res_one, .dump = ib_nldev_res_dump },
	[RDMA_NLDEV_CMD_RES_CTX_GET] = { .doit = ib_nldev_res_one, .dump = ib_nldev_res_dump },
};
