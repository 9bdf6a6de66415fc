// SPDX-License-Identifier: GPL-2.0-only
/*
 * NLDEV: the verbs objects of a device, for `rdma resource`.
 *
 * An object is pinned while its entry is written, so that it is not ended meanwhile; only a QP is
 * asked about in the hardware, inside the gate, and when that is refused, what was set last is
 * shown.
 */
#include "netlink.h"

/**
 * struct ib_nldev_res - how the objects of one type are shown
 * @op: the operation that asks for them
 * @type: the objects; IB_OBJECT_TYPES for those that do not exist here
 * @table: attribute that holds the list; that of an entry is the next number
 * @id: attribute that asks for one of them
 * @put: writes what is special to the type
 */
struct ib_nldev_res {
	u8 op;
	u8 type;
	u16 table;
	u16 id;
	int (*put)(struct sk_buff *skb, struct ib_object *object, bool admin);
};

static int ib_res_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, RDMA_NLDEV_ATTR_PAD);
}

static void ib_res_ask_qp(struct ib_qp *qp, struct ib_qp_attr *attr)
{
	if (!ib_qp_query(qp, attr, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_RQ_PSN | IB_QP_DEST_QPN |
			 IB_QP_PATH_MIG_STATE))
		return;
	*attr = qp->known;
	attr->state = READ_ONCE(qp->known.state);
}

static bool ib_qp_is_connected(const struct ib_qp *qp)
{
	return qp->type == IB_QPT_RC || qp->type == IB_QPT_UC || qp->type == IB_QPT_XRC_INI ||
	       qp->type == IB_QPT_XRC_TGT;
}

static int ib_res_put_path(struct sk_buff *skb, const struct ib_qp_attr *attr)
{
	return nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_RQPN, attr->dest_qpn) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_RQ_PSN, attr->rq_psn) ||
	       nla_put_u8(skb, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, attr->path_mig_state);
}

static int ib_res_put_qp(struct sk_buff *skb, struct ib_object *object, bool admin)
{
	struct ib_qp *qp = container_of(object, struct ib_qp, object);
	struct ib_qp_attr attr;

	ib_res_ask_qp(qp, &attr);
	return (qp->port && nla_put_u32(skb, RDMA_NLDEV_ATTR_PORT_INDEX, qp->port)) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_LQPN, qp->qpn) ||
	       (ib_qp_is_connected(qp) && ib_res_put_path(skb, &attr)) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_SQ_PSN, attr.sq_psn) ||
	       nla_put_u8(skb, RDMA_NLDEV_ATTR_RES_TYPE, qp->type) ||
	       nla_put_u8(skb, RDMA_NLDEV_ATTR_RES_STATE, attr.state) ||
	       (qp->pd && nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_PDN, qp->pd->object.id));
}

/* The user interface's numbers for who polls: direct, softirq, work queue. */
static int ib_res_put_cq(struct sk_buff *skb, struct ib_object *object, bool admin)
{
	struct ib_cq *cq = container_of(object, struct ib_cq, object);

	return nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_CQE, cq->cqe) ||
	       ib_res_put_u64(skb, RDMA_NLDEV_ATTR_RES_USECNT, READ_ONCE(object->users)) ||
	       (cq->context != IB_CQ_OWNER &&
		nla_put_u8(skb, RDMA_NLDEV_ATTR_RES_POLL_CTX, cq->context - IB_CQ_DIRECT)) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_CQN, object->id);
}

static int ib_res_put_mr(struct sk_buff *skb, struct ib_object *object, bool admin)
{
	struct ib_mr *mr = container_of(object, struct ib_mr, object);

	return (admin && (nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_RKEY, mr->rkey) ||
			  nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_LKEY, mr->lkey))) ||
	       ib_res_put_u64(skb, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_MRN, object->id) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_PDN, mr->pd->object.id);
}

static int ib_res_put_pd(struct sk_buff *skb, struct ib_object *object, bool admin)
{
	struct ib_pd *pd = container_of(object, struct ib_pd, object);

	return (admin && nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY,
				     pd->local_dma_lkey)) ||
	       ib_res_put_u64(skb, RDMA_NLDEV_ATTR_RES_USECNT, READ_ONCE(object->users)) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_PDN, object->id);
}

/* The user interface tells basic (0) from XRC (1). */
static int ib_res_put_srq(struct sk_buff *skb, struct ib_object *object, bool admin)
{
	struct ib_srq *srq = container_of(object, struct ib_srq, object);

	return nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_SRQN, object->id) ||
	       nla_put_u8(skb, RDMA_NLDEV_ATTR_RES_TYPE, srq->xrcd ? 1 : 0) ||
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_PDN, srq->pd->object.id) ||
	       (srq->cq && nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_CQN, srq->cq->object.id));
}

static const struct ib_nldev_res ib_nldev_resources[] = {
	{ RDMA_NLDEV_CMD_RES_QP_GET, IB_OBJECT_QP, RDMA_NLDEV_ATTR_RES_QP,
	  RDMA_NLDEV_ATTR_RES_LQPN, ib_res_put_qp },
	{ RDMA_NLDEV_CMD_RES_CQ_GET, IB_OBJECT_CQ, RDMA_NLDEV_ATTR_RES_CQ,
	  RDMA_NLDEV_ATTR_RES_CQN, ib_res_put_cq },
	{ RDMA_NLDEV_CMD_RES_MR_GET, IB_OBJECT_MR, RDMA_NLDEV_ATTR_RES_MR,
	  RDMA_NLDEV_ATTR_RES_MRN, ib_res_put_mr },
	{ RDMA_NLDEV_CMD_RES_PD_GET, IB_OBJECT_PD, RDMA_NLDEV_ATTR_RES_PD,
	  RDMA_NLDEV_ATTR_RES_PDN, ib_res_put_pd },
	{ RDMA_NLDEV_CMD_RES_SRQ_GET, IB_OBJECT_SRQ, RDMA_NLDEV_ATTR_RES_SRQ,
	  RDMA_NLDEV_ATTR_RES_SRQN, ib_res_put_srq },
	{ RDMA_NLDEV_CMD_RES_CM_ID_GET, IB_OBJECT_TYPES, RDMA_NLDEV_ATTR_RES_CM_ID, 0, NULL },
	{ RDMA_NLDEV_CMD_RES_CTX_GET, IB_OBJECT_TYPES, RDMA_NLDEV_ATTR_RES_CTX, 0, NULL },
};

static const struct ib_nldev_res *ib_nldev_res(const struct nlmsghdr *nlh)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ib_nldev_resources); i++)
		if (ib_nldev_resources[i].op == RDMA_NL_GET_OP(nlh->nlmsg_type))
			return &ib_nldev_resources[i];
	return NULL;
}

static int ib_res_put_owner(struct sk_buff *skb, const struct ib_object *object)
{
	if (object->user)
		return nla_put_u32(skb, RDMA_NLDEV_ATTR_RES_PID, object->user);
	return nla_put_string(skb, RDMA_NLDEV_ATTR_RES_KERN_NAME, object->attachment->name);
}

static int ib_res_put(struct sk_buff *skb, const struct ib_nldev_res *res,
		      struct ib_object *object, bool admin)
{
	return res->put(skb, object, admin) || ib_res_put_owner(skb, object) ? -EMSGSIZE : 0;
}

static int ib_res_put_entry(struct sk_buff *skb, const struct ib_nldev_res *res,
			    struct ib_object *object, bool admin)
{
	struct nlattr *entry = nla_nest_start_noflag(skb, res->table + 1);

	if (!entry)
		return -EMSGSIZE;
	if (ib_res_put(skb, res, object, admin)) {
		nla_nest_cancel(skb, entry);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, entry);
	return 0;
}

/* Does an object belong to the port that was asked about? */
static bool ib_res_is_wanted(const struct ib_object *object, u32 port)
{
	if (!port || object->class->type != IB_OBJECT_QP)
		return true;
	return container_of(object, struct ib_qp, object)->port == port;
}

/* As many entries as fit, from number *@id on; gives how many, and moves *@id on. */
static unsigned int ib_res_fill(struct sk_buff *skb, const struct ib_nldev_res *res,
				struct ib_device *device, u32 port, bool admin, u32 *id)
{
	struct ib_object *object;
	unsigned int n = 0;
	int err = 0;

	while (!err && (object = ib_object_next(device, res->type, id))) {
		if (ib_res_is_wanted(object, port)) {
			err = ib_res_put_entry(skb, res, object, admin);
			n += !err;
		}
		ib_object_unpin(object);
		if (!err)
			++*id;
	}
	return n;
}

static int ib_res_dump_device(struct sk_buff *skb, struct netlink_callback *cb,
			      const struct ib_nldev_res *res, struct ib_device *device, u32 port)
{
	bool admin = netlink_capable(cb->skb, CAP_NET_ADMIN);
	struct nlmsghdr *header;
	struct nlattr *table;
	u32 id = cb->args[0];
	unsigned int n;

	header = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   cb->nlh->nlmsg_type, 0, NLM_F_MULTI);
	if (!header)
		return -EMSGSIZE;
	table = ib_nldev_put_handle(skb, device) ? NULL : nla_nest_start_noflag(skb, res->table);
	if (!table) {
		nlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	n = ib_res_fill(skb, res, device, port, admin, &id);
	cb->args[0] = id;
	if (!n) {
		nlmsg_cancel(skb, header);
		return 0;
	}
	nla_nest_end(skb, table);
	nlmsg_end(skb, header);
	return skb->len;
}

/** ib_nldev_res_dump() - the objects of one type; args[0] is the number to go on from */
int ib_nldev_res_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct ib_nldev_res *res = ib_nldev_res(cb->nlh);
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct ib_device *device;
	u32 port = 0;
	int ret;

	ret = ib_nldev_parse((struct nlmsghdr *)cb->nlh, tb, NULL);
	if (ret)
		return ret;
	device = ib_nldev_device(tb);
	if (IS_ERR(device))
		return PTR_ERR(device);
	if (tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		port = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	ret = -EINVAL;
	if (port <= device->phys_port_cnt)
		ret = res->type == IB_OBJECT_TYPES ? 0 :
		      ib_res_dump_device(skb, cb, res, device, port);
	put_device(&device->dev);
	return ret;
}

/* QPs are asked for by their QPN, everything else by our number.  Pinned, or NULL. */
static struct ib_object *ib_res_lookup(const struct ib_nldev_res *res, struct ib_device *device,
				       u32 wanted)
{
	struct ib_object *object;
	u32 id = 0;

	if (res->type != IB_OBJECT_QP)
		return ib_object_find(device, res->type, wanted);
	while ((object = ib_object_next(device, res->type, &id))) {
		if (container_of(object, struct ib_qp, object)->qpn == wanted)
			break;
		ib_object_unpin(object);
		id++;
	}
	return object;
}

static int ib_res_answer(struct sk_buff *skb, struct nlmsghdr *nlh, struct ib_device *device,
			 const struct ib_nldev_res *res, u32 wanted)
{
	struct ib_object *object = ib_res_lookup(res, device, wanted);
	struct nlmsghdr *header;
	struct sk_buff *answer;
	int err;

	if (!object)
		return -ENOENT;
	answer = ib_nldev_answer(skb, nlh, &header);
	err = PTR_ERR_OR_ZERO(answer);
	if (!err) {
		err = ib_nldev_put_handle(answer, device);
		if (!err)
			err = ib_res_put(answer, res, object,
					 netlink_capable(skb, CAP_NET_ADMIN));
	}
	ib_object_unpin(object);
	return IS_ERR(answer) ? err : ib_nldev_send(skb, answer, header, err);
}

/** ib_nldev_res_one() - one object, by number */
int ib_nldev_res_one(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct ib_nldev_res *res = ib_nldev_res(nlh);
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
	struct ib_device *device;
	int err;

	err = ib_nldev_parse(nlh, tb, extack);
	if (err)
		return err;
	if (res->type == IB_OBJECT_TYPES || !tb[res->id])
		return -EINVAL;
	device = ib_nldev_device(tb);
	if (IS_ERR(device))
		return PTR_ERR(device);
	err = ib_res_answer(skb, nlh, device, res, nla_get_u32(tb[res->id]));
	put_device(&device->dev);
	return err;
}

/**
 * struct ib_res_word - a line of the summary
 * @word: what the rdma tool prints
 * @type: the objects; IB_OBJECT_TYPES: there are none of these here
 */
struct ib_res_word {
	const char *word;
	u8 type;
};

static const struct ib_res_word ib_res_words[] = {
	{ "pd", IB_OBJECT_PD },
	{ "cq", IB_OBJECT_CQ },
	{ "qp", IB_OBJECT_QP },
	{ "cm_id", IB_OBJECT_TYPES },
	{ "mr", IB_OBJECT_MR },
	{ "ctx", IB_OBJECT_TYPES },
	{ "srq", IB_OBJECT_SRQ },
};

static int ib_res_put_word(struct sk_buff *skb, struct ib_device *device,
			   const struct ib_res_word *word)
{
	struct nlattr *entry = nla_nest_start_noflag(skb, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
	u64 count = 0;

	if (!entry)
		return -EMSGSIZE;
	if (word->type != IB_OBJECT_TYPES)
		count = READ_ONCE(device->objects->count[word->type]);
	if (nla_put_string(skb, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, word->word) ||
	    ib_res_put_u64(skb, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count))
		return -EMSGSIZE;
	nla_nest_end(skb, entry);
	return 0;
}

static int ib_res_put_summary(struct sk_buff *skb, struct ib_device *device)
{
	struct nlattr *table;
	unsigned int i;
	int err = 0;

	if (ib_nldev_put_handle(skb, device))
		return -EMSGSIZE;
	table = nla_nest_start_noflag(skb, RDMA_NLDEV_ATTR_RES_SUMMARY);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(ib_res_words) && !err; i++)
		err = ib_res_put_word(skb, device, &ib_res_words[i]);
	nla_nest_end(skb, table);
	return err;
}

/** ib_nldev_res_get() - how many objects of each type a device has */
int ib_nldev_res_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	return ib_nldev_do_device(skb, nlh, extack, ib_res_put_summary);
}

/** ib_nldev_res_get_dump() - the same of every device */
int ib_nldev_res_get_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ib_nldev_dump_devices(skb, cb, ib_res_put_summary);
}
