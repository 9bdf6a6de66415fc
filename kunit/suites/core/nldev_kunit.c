// SPDX-License-Identifier: GPL-2.0-only
/*
 * NLDEV over a real socket, as the rdma tool and libibverbs speak it: answers, ACKs, errors,
 * dumps, and readers while the device is renamed or leaves.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/socket.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <uapi/rdma/rdma_netlink.h>

#include <ib/compat.h>
#include <ib/netlink.h>

#include "bench.h"

#define TYPE(op) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op)
#define ROOM 16384

struct client_socket {
	struct socket *socket;
	struct nlmsghdr request;
	u8 attrs[256];
	char answer[ROOM];
	int length;
	u32 seq;
};

static void socket_close(void *arg)
{
	sock_release(((struct client_socket *)arg)->socket);
}

static struct client_socket *socket_open(struct kunit *test)
{
	struct client_socket *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_RDMA,
					       &c->socket), 0);
	c->socket->sk->sk_rcvtimeo = 5 * HZ;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, socket_close, c), 0);
	return c;
}

static void begin(struct client_socket *c, int op, u16 flags)
{
	memset(&c->request, 0, sizeof(c->request));
	c->request.nlmsg_len = NLMSG_HDRLEN;
	c->request.nlmsg_type = TYPE(op);
	c->request.nlmsg_flags = NLM_F_REQUEST | flags;
	c->request.nlmsg_seq = ++c->seq;
}

static void add(struct client_socket *c, u16 type, const void *data, u16 len)
{
	struct nlattr *attr = (void *)c->attrs + c->request.nlmsg_len - NLMSG_HDRLEN;

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy(nla_data(attr), data, len);
	c->request.nlmsg_len += NLA_ALIGN(attr->nla_len);
}

static void add_u32(struct client_socket *c, u16 type, u32 value)
{
	add(c, type, &value, sizeof(value));
}

/* Send what was built; one datagram of answers is received. */
static int exchange(struct client_socket *c)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vec[2] = {
		{ &c->request, NLMSG_HDRLEN },
		{ c->attrs, c->request.nlmsg_len - NLMSG_HDRLEN },
	};
	struct kvec in = { c->answer, ROOM };
	int err;

	err = kernel_sendmsg(c->socket, &msg, vec, 2, c->request.nlmsg_len);
	if (err < 0)
		return err;
	memset(&msg, 0, sizeof(msg));
	c->length = kernel_recvmsg(c->socket, &msg, &in, 1, ROOM, 0);
	return c->length < 0 ? c->length : 0;
}

static int more(struct client_socket *c)
{
	struct msghdr msg = {};
	struct kvec in = { c->answer, ROOM };

	c->length = kernel_recvmsg(c->socket, &msg, &in, 1, ROOM, 0);
	return c->length < 0 ? c->length : 0;
}

static struct nlmsghdr *first(struct client_socket *c)
{
	return (struct nlmsghdr *)c->answer;
}

/* The errno of an error message or an ACK; 1 if it is something else. */
static int error_of(struct client_socket *c)
{
	struct nlmsghdr *nlh = first(c);

	return nlh->nlmsg_type == NLMSG_ERROR ? ((struct nlmsgerr *)nlmsg_data(nlh))->error : 1;
}

static struct nlattr *find(struct nlmsghdr *nlh, u16 type)
{
	return nlmsg_find_attr(nlh, 0, type);
}

static struct nlattr *find_in(struct nlattr *nest, u16 type)
{
	return nest ? nla_find_nested(nest, type) : NULL;
}

static u32 u32_of(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : U32_MAX;
}

static const char *text_of(struct nlattr *attr)
{
	return attr ? nla_data(attr) : "nothing";
}

static void get_answers_and_acknowledges(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	struct nlmsghdr *nlh;

	begin(c, RDMA_NLDEV_CMD_GET, NLM_F_ACK);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	nlh = first(c);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_seq, c->seq);
	KUNIT_EXPECT_EQ(test, u32_of(find(nlh, RDMA_NLDEV_ATTR_DEV_INDEX)),
			bench_device(b)->index);
	KUNIT_ASSERT_NOT_NULL(test, find(nlh, RDMA_NLDEV_ATTR_DEV_NAME));
	KUNIT_EXPECT_STREQ(test, text_of(find(nlh, RDMA_NLDEV_ATTR_DEV_NAME)), "vfake_0");
	KUNIT_EXPECT_EQ(test, u32_of(find(nlh, RDMA_NLDEV_ATTR_PORT_INDEX)), VFAKE_PORTS);
	KUNIT_EXPECT_EQ(test, nla_get_u64(find(nlh, RDMA_NLDEV_ATTR_NODE_GUID)), VFAKE_NODE_GUID);
	KUNIT_EXPECT_EQ(test, nla_get_u64(find(nlh, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID)),
			VFAKE_NODE_GUID + 3);
	KUNIT_EXPECT_EQ(test, nla_get_u8(find(nlh, RDMA_NLDEV_ATTR_DEV_NODE_TYPE)), 1);
	KUNIT_EXPECT_STREQ(test, text_of(find(nlh, RDMA_NLDEV_ATTR_FW_VERSION)),
			   "2.42.5000");
	KUNIT_EXPECT_STREQ(test, text_of(find(nlh, RDMA_NLDEV_ATTR_DEV_PROTOCOL)), "ib");
	KUNIT_ASSERT_EQ(test, more(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), 0);
}

/* Without NLM_F_ACK nothing follows an answer. */
static void get_without_ack_gives_one_message(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);

	begin(c, RDMA_NLDEV_CMD_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	c->socket->sk->sk_rcvtimeo = 1;
	KUNIT_EXPECT_EQ(test, more(c), -EAGAIN);
}

static void dump_lists_every_device(struct kunit *test)
{
	struct client_socket *c = socket_open(test);
	struct nlmsghdr *nlh;
	int left, devices = 0;

	bench_up(test, "lr-nldev");
	bench_up(test, "lr-nldev-b");
	begin(c, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	do {
		left = c->length;
		for (nlh = first(c); nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left)) {
			if (nlh->nlmsg_type == NLMSG_DONE)
				goto done;
			KUNIT_EXPECT_TRUE(test, nlh->nlmsg_flags & NLM_F_MULTI);
			KUNIT_EXPECT_NOT_NULL(test, find(nlh, RDMA_NLDEV_ATTR_DEV_NAME));
			devices++;
		}
	} while (!more(c));
done:
	KUNIT_EXPECT_EQ(test, devices, 2);
}

static void port_get(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	struct nlmsghdr *nlh;

	begin(c, RDMA_NLDEV_CMD_PORT_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	add_u32(c, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	nlh = first(c);
	KUNIT_ASSERT_NE(test, (int)nlh->nlmsg_type, NLMSG_ERROR);
	KUNIT_EXPECT_EQ(test, u32_of(find(nlh, RDMA_NLDEV_ATTR_PORT_INDEX)), 2U);
	KUNIT_EXPECT_EQ(test, u32_of(find(nlh, RDMA_NLDEV_ATTR_LID)), 0x12U);
	KUNIT_EXPECT_EQ(test, u32_of(find(nlh, RDMA_NLDEV_ATTR_SM_LID)), 1U);
	KUNIT_EXPECT_EQ(test, nla_get_u8(find(nlh, RDMA_NLDEV_ATTR_LMC)), 1);
	KUNIT_EXPECT_EQ(test, nla_get_u8(find(nlh, RDMA_NLDEV_ATTR_PORT_STATE)), 4);
	KUNIT_EXPECT_EQ(test, nla_get_u8(find(nlh, RDMA_NLDEV_ATTR_PORT_PHYS_STATE)), 5);
	KUNIT_EXPECT_EQ(test, nla_get_u64(find(nlh, RDMA_NLDEV_ATTR_SUBNET_PREFIX)),
			IB_GID_DEFAULT_PREFIX);
	begin(c, RDMA_NLDEV_CMD_PORT_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	add_u32(c, RDMA_NLDEV_ATTR_PORT_INDEX, 3);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
	/* A dump of ports is of one device. */
	begin(c, RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), 1);
	KUNIT_EXPECT_EQ(test, (int)first(c)->nlmsg_type, NLMSG_DONE);
	KUNIT_EXPECT_EQ(test, *(int *)nlmsg_data(first(c)), -EINVAL);
}

static void wrong_requests_are_refused(struct kunit *test)
{
	struct client_socket *c = socket_open(test);

	bench_up(test, "lr-nldev");
	begin(c, RDMA_NLDEV_CMD_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, 0x7fffffff);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
	begin(c, RDMA_NLDEV_CMD_GET, 0);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
	begin(c, RDMA_NLDEV_NUM_OPS, 0);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
	begin(c, RDMA_NLDEV_CMD_NEWLINK, 0);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
	begin(c, RDMA_NLDEV_CMD_GET, 0);
	c->request.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_LS, 0);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
}

static void sys_get(struct kunit *test)
{
	struct client_socket *c = socket_open(test);

	begin(c, RDMA_NLDEV_CMD_SYS_GET, 0);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_ASSERT_NOT_NULL(test, find(first(c), RDMA_NLDEV_SYS_ATTR_NETNS_MODE));
	KUNIT_EXPECT_EQ(test, nla_get_u8(find(first(c), RDMA_NLDEV_SYS_ATTR_NETNS_MODE)), 1);
	KUNIT_ASSERT_NOT_NULL(test, find(first(c), RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK));
	KUNIT_EXPECT_EQ(test, nla_get_u8(find(first(c), RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK)), 1);
}

static int rename(struct client_socket *c, struct ib_device *device, const char *name)
{
	int err;

	begin(c, RDMA_NLDEV_CMD_SET, NLM_F_ACK);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, device->index);
	add(c, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	err = exchange(c);
	return err ?: error_of(c);
}

static void set_renames(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct bench *other = bench_up(test, "lr-nldev-b");
	struct client_socket *c = socket_open(test);
	char name[IB_DEVICE_NAME_MAX];

	KUNIT_EXPECT_EQ(test, rename(c, bench_device(b), "ibp0s5"), 0);
	KUNIT_EXPECT_STREQ(test, ib_device_name(bench_device(b), name), "ibp0s5");
	KUNIT_EXPECT_EQ(test, rename(c, bench_device(b), "ibp0s5"), 0);
	KUNIT_EXPECT_EQ(test, rename(c, bench_device(other), "ibp0s5"), -EEXIST);
	KUNIT_EXPECT_EQ(test, rename(c, bench_device(b), ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, rename(c, bench_device(b), "a/b"), -EINVAL);
	begin(c, RDMA_NLDEV_CMD_SET, NLM_F_ACK);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EOPNOTSUPP);
}

static void resources_are_counted_and_listed(struct kunit *test)
{
	static const u64 want[] = { 1, 1, 1, 0, 2, 0, 1 };
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	struct nlattr *table, *entry, *count;
	struct bench_objects o;
	int left, i = 0;

	bench_make_all(b, &o);
	begin(c, RDMA_NLDEV_CMD_RES_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	table = find(first(c), RDMA_NLDEV_ATTR_RES_SUMMARY);
	KUNIT_ASSERT_NOT_NULL(test, table);
	nla_for_each_nested(entry, table, left) {
		KUNIT_ASSERT_LT(test, i, (int)ARRAY_SIZE(want));
		count = find_in(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
		KUNIT_EXPECT_EQ(test, nla_get_u64(count), want[i]);
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, (int)ARRAY_SIZE(want));

	begin(c, RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	table = find(first(c), RDMA_NLDEV_ATTR_RES_QP);
	KUNIT_ASSERT_NOT_NULL(test, table);
	entry = find_in(table, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_EQ(test, u32_of(find_in(entry, RDMA_NLDEV_ATTR_RES_LQPN)), o.qp->qpn);
	KUNIT_EXPECT_EQ(test, u32_of(find_in(entry, RDMA_NLDEV_ATTR_RES_SQ_PSN)), 0x123456U);
	KUNIT_EXPECT_EQ(test, nla_get_u8(find_in(entry, RDMA_NLDEV_ATTR_RES_TYPE)),
			(u8)IB_QPT_UD);
	KUNIT_EXPECT_STREQ(test, text_of(find_in(entry, RDMA_NLDEV_ATTR_RES_KERN_NAME)), "bench");
	bench_destroy_all(&o);
}

/* The entry of a dump's answer that has this number, or NULL. */
static struct nlattr *entry_of(struct client_socket *c, u16 table, u16 id, u32 number)
{
	struct nlattr *list = find(first(c), table), *entry;
	int left;

	if (!list)
		return NULL;
	nla_for_each_nested(entry, list, left)
		if (u32_of(find_in(entry, id)) == number)
			return entry;
	return NULL;
}

struct kind {
	int op;
	u16 table;
	u16 id;
	u32 number;
	bool has_pd;
};

/* In the list of its kind, once the only part of it has come. */
static void expect_listed(struct kunit *test, struct bench *b, struct client_socket *c,
			  const struct kind *k)
{
	struct nlattr *entry;

	begin(c, k->op, NLM_F_DUMP);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	entry = entry_of(c, k->table, k->id, k->number);
	KUNIT_EXPECT_NOT_NULL_MSG(test, entry, "operation %d", k->op);
	KUNIT_EXPECT_STREQ(test, text_of(find_in(entry, RDMA_NLDEV_ATTR_RES_KERN_NAME)), "bench");
	KUNIT_ASSERT_EQ(test, more(c), 0);
	KUNIT_EXPECT_EQ(test, (int)first(c)->nlmsg_type, NLMSG_DONE);
}

static void expect_found(struct kunit *test, struct bench *b, struct client_socket *c,
			 const struct kind *k, u32 pdn)
{
	begin(c, k->op, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	add_u32(c, k->id, k->number);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, u32_of(find(first(c), k->id)), k->number);
	KUNIT_EXPECT_STREQ(test, text_of(find(first(c), RDMA_NLDEV_ATTR_RES_KERN_NAME)), "bench");
	if (k->has_pd)
		KUNIT_EXPECT_EQ(test, u32_of(find(first(c), RDMA_NLDEV_ATTR_RES_PDN)), pdn);
}

/* Each kind of object there is: in its list, and by its number, with its owner and its PD. */
static void each_kind_is_listed_and_found(struct kunit *test)
{
	struct kind kinds[] = {
		{ RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_LQPN },
		{ RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQN },
		{ RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MRN },
		{ RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PDN },
		{ RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQN },
	};
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	struct bench_objects o;
	int i;

	bench_make_all(b, &o);
	kinds[0].number = o.qp->qpn;
	kinds[1].number = o.cq->object.id;
	kinds[2].number = o.mr->object.id;
	kinds[3].number = o.pd->object.id;
	kinds[4].number = o.srq->object.id;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		kinds[i].has_pd = i != 1;
		expect_listed(test, b, c, &kinds[i]);
		expect_found(test, b, c, &kinds[i], o.pd->object.id);
	}
	bench_destroy_all(&o);
}

/* When the hardware does not answer, what was set last is shown. */
static void qp_of_a_gone_hca_is_shown_from_memory(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	struct bench_objects o;

	bench_make_all(b, &o);
	b->vf.fails[VFAKE_QUERY_QP] = -EIO;
	begin(c, RDMA_NLDEV_CMD_RES_QP_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	add_u32(c, RDMA_NLDEV_ATTR_RES_LQPN, o.qp->qpn);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, u32_of(find(first(c), RDMA_NLDEV_ATTR_RES_SQ_PSN)), 0U);
	begin(c, RDMA_NLDEV_CMD_RES_QP_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	add_u32(c, RDMA_NLDEV_ATTR_RES_LQPN, 0xabcdef);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -ENOENT);
	bench_destroy_all(&o);
}

/* More objects than fit into one part. */
static void long_dump_comes_in_parts(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	int i, left, parts = 0, entries = 0;
	struct nlattr *table, *entry;
	struct ib_mr **mr;
	struct nlmsghdr *nlh;

	mr = kunit_kcalloc(test, 500, sizeof(*mr), GFP_KERNEL);
	for (i = 0; i < 500; i++)
		mr[i] = ib_mr_create_fast(pd, 1);
	begin(c, RDMA_NLDEV_CMD_RES_MR_GET, NLM_F_DUMP);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	do {
		nlh = first(c);
		if (nlh->nlmsg_type == NLMSG_DONE)
			break;
		table = find(nlh, RDMA_NLDEV_ATTR_RES_MR);
		KUNIT_ASSERT_NOT_NULL(test, table);
		nla_for_each_nested(entry, table, left)
			entries++;
		parts++;
	} while (!more(c));
	KUNIT_EXPECT_GT(test, parts, 1);
	KUNIT_EXPECT_EQ(test, entries, 501);
	for (i = 0; i < 500; i++)
		ib_mr_destroy(mr[i]);
	ib_pd_destroy(pd);
}

static struct device *chardev;

static int find_chardev(struct ib_device *device, u8 port, struct ib_chardev_info *info)
{
	if (!device)
		return -ENODEV;
	info->dev = get_device(chardev);
	info->abi = 4;
	info->driver_id = 2;
	info->has_driver_id = true;
	return 0;
}

static void chardev_is_found(struct kunit *test)
{
	struct ib_chardev verbs = { .type = "lrverbs", .owner = THIS_MODULE, .find = find_chardev };
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);

	chardev = lr_test_device(test, "lrverbs0");
	ib_chardev_register(&verbs);
	begin(c, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	add(c, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "lrverbs", 8);
	KUNIT_EXPECT_EQ(test, exchange(c), 0);
	if (find(first(c), RDMA_NLDEV_ATTR_CHARDEV_NAME)) {
		KUNIT_EXPECT_STREQ(test, text_of(find(first(c), RDMA_NLDEV_ATTR_CHARDEV_NAME)),
				   "lrverbs0");
		KUNIT_EXPECT_EQ(test, nla_get_u64(find(first(c), RDMA_NLDEV_ATTR_CHARDEV_ABI)),
				4ULL);
		KUNIT_EXPECT_EQ(test, u32_of(find(first(c), RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID)),
				2U);
	} else {
		KUNIT_FAIL(test, "no char device: %d", error_of(c));
	}
	begin(c, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	add_u32(c, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	add(c, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "lrverbs", 8);
	KUNIT_EXPECT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
	ib_chardev_unregister(&verbs);
	begin(c, RDMA_NLDEV_CMD_GET_CHARDEV, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	add(c, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "lrverbs", 8);
	KUNIT_EXPECT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EOPNOTSUPP);
}

/* Objects have no format of their own to dump, as with the kernel's driver of this card. */
static void raw_resources_are_refused(struct kunit *test)
{
	static const int ops[] = {
		RDMA_NLDEV_CMD_RES_QP_GET_RAW, RDMA_NLDEV_CMD_RES_CQ_GET_RAW,
		RDMA_NLDEV_CMD_RES_MR_GET_RAW,
	};
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		begin(c, ops[i], i % 2 ? NLM_F_DUMP : 0);
		add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
		KUNIT_ASSERT_EQ(test, exchange(c), 0);
		KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
	}
}

/* There is no user context yet: an empty list, and none of them by number. */
static void contexts_are_an_empty_list(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);

	begin(c, RDMA_NLDEV_CMD_RES_CTX_GET, NLM_F_DUMP);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, (int)first(c)->nlmsg_type, NLMSG_DONE);
	begin(c, RDMA_NLDEV_CMD_RES_CTX_GET, 0);
	add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, bench_device(b)->index);
	KUNIT_ASSERT_EQ(test, exchange(c), 0);
	KUNIT_EXPECT_EQ(test, error_of(c), -EINVAL);
}

#if IB_NLDEV_HAS_MONITOR
static void expect_event(struct kunit *test, struct client_socket *c, const char *name, u8 type)
{
	struct nlattr *event;

	KUNIT_ASSERT_EQ(test, more(c), 0);
	KUNIT_EXPECT_EQ(test, (int)first(c)->nlmsg_type, TYPE(RDMA_NLDEV_CMD_MONITOR));
	KUNIT_EXPECT_STREQ(test, text_of(find(first(c), RDMA_NLDEV_ATTR_DEV_NAME)), name);
	event = find(first(c), RDMA_NLDEV_ATTR_EVENT_TYPE);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, nla_get_u8(event), type);
}
#endif

/* Who has joined the group hears of each device that comes and that goes, once. */
static void monitor_hears_of_devices(struct kunit *test)
{
#if IB_NLDEV_HAS_MONITOR
	struct sockaddr_nl group = {
		.nl_family = AF_NETLINK, .nl_groups = BIT(RDMA_NL_GROUP_NOTIFY - 1),
	};
	struct bench *b = bench_create(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	char name[IB_DEVICE_NAME_MAX];
	int i;

	KUNIT_ASSERT_EQ(test, kernel_bind(c->socket, (struct sockaddr *)&group, sizeof(group)),
			0);
	for (i = 0; i < 2; i++) {
		bench_bind(b);
		ib_device_name(bench_device(b), name);
		expect_event(test, c, name, RDMA_REGISTER_EVENT);
		KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
		expect_event(test, c, name, RDMA_UNREGISTER_EVENT);
	}
	c->socket->sk->sk_rcvtimeo = 1;
	KUNIT_EXPECT_EQ(test, more(c), -EAGAIN);
#else
	kunit_skip(test, "the user interface of this kernel has no notifications");
#endif
}

struct renamer {
	struct ib_device *device;
	bool stop;
	int renames;
};

static int rename_for_ever(void *arg)
{
	struct renamer *r = arg;

	while (!READ_ONCE(r->stop)) {
		if (!ib_device_rename(r->device, r->renames % 2 ? "vfake_a" : "vfake_name_b"))
			r->renames++;
		usleep_range(5, 10);
	}
	return 0;
}

/* Names read while they change and while the device leaves: one of the two, whole, or nothing. */
static void names_are_whole_while_renamed(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-nldev");
	struct client_socket *c = socket_open(test);
	struct renamer r = { .device = bench_device(b) };
	struct fake_flow flow;
	struct nlattr *name;
	int i, seen = 0;

	fake_flow_start(&flow, rename_for_ever, &r);
	for (i = 0; i < 200; i++) {
		if (i == 150)
			KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
		begin(c, RDMA_NLDEV_CMD_GET, 0);
		add_u32(c, RDMA_NLDEV_ATTR_DEV_INDEX, r.device->index);
		KUNIT_ASSERT_EQ(test, exchange(c), 0);
		name = find(first(c), RDMA_NLDEV_ATTR_DEV_NAME);
		if (first(c)->nlmsg_type == NLMSG_ERROR || !name)
			continue;
		seen++;
		KUNIT_EXPECT_TRUE(test, !strcmp(nla_data(name), "vfake_a") ||
				  !strcmp(nla_data(name), "vfake_name_b") ||
				  !strcmp(nla_data(name), "vfake_0"));
		usleep_range(10, 20);
	}
	WRITE_ONCE(r.stop, true);
	fake_flow_join(&flow);
	KUNIT_EXPECT_GE(test, seen, 100);
	KUNIT_EXPECT_GT(test, r.renames, 10);
}

static struct kunit_case nldev_cases[] = {
	KUNIT_CASE(get_answers_and_acknowledges),
	KUNIT_CASE(get_without_ack_gives_one_message),
	KUNIT_CASE(dump_lists_every_device),
	KUNIT_CASE(port_get),
	KUNIT_CASE(wrong_requests_are_refused),
	KUNIT_CASE(sys_get),
	KUNIT_CASE(set_renames),
	KUNIT_CASE(resources_are_counted_and_listed),
	KUNIT_CASE(each_kind_is_listed_and_found),
	KUNIT_CASE(qp_of_a_gone_hca_is_shown_from_memory),
	KUNIT_CASE(long_dump_comes_in_parts),
	KUNIT_CASE(chardev_is_found),
	KUNIT_CASE(raw_resources_are_refused),
	KUNIT_CASE(contexts_are_an_empty_list),
	KUNIT_CASE(monitor_hears_of_devices),
	KUNIT_CASE(names_are_whole_while_renamed),
	{}
};

static struct kunit_suite nldev_suite = {
	.name = "nldev",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = nldev_cases,
};

kunit_test_suite(nldev_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of NLDEV");
