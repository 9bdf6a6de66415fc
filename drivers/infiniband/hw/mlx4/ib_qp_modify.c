// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state machine of a QP, as commands with a context each, and the way back: asking for it.
 *
 * A context is always filled in whole; which of the optional parameters the HCA takes from it says
 * a mask, one bit for each attribute that was given.  What it takes in every case is what the
 * specification requires for that transition.
 */
#include <linux/log2.h>

#include "ib_qp.h"

#define ACK_REQUEST_FREQ	8	/* log2 of packets between requests for an acknowledge */
#define LOG_MSG_SPECIAL		11
#define LOG_MSG_UD		13

static const struct {
	u8 from;
	u8 to;
	u16 op;
} moves[] = {
	{ IB_QPS_RESET, IB_QPS_INIT, MLX4_RST2INIT_QP },
	{ IB_QPS_INIT, IB_QPS_INIT, MLX4_INIT2INIT_QP },
	{ IB_QPS_INIT, IB_QPS_RTR, MLX4_INIT2RTR_QP },
	{ IB_QPS_RTR, IB_QPS_RTS, MLX4_RTR2RTS_QP },
	{ IB_QPS_RTS, IB_QPS_RTS, MLX4_RTS2RTS_QP },
	{ IB_QPS_RTS, IB_QPS_SQD, MLX4_RTS2SQD_QP },
	{ IB_QPS_SQD, IB_QPS_SQD, MLX4_SQD2SQD_QP },
	{ IB_QPS_SQD, IB_QPS_RTS, MLX4_SQD2RTS_QP },
	{ IB_QPS_SQE, IB_QPS_RTS, MLX4_SQERR2RTS_QP },
};

/* To ERR and to RESET there is one command from everywhere. */
static int move_op(enum ib_qp_state from, enum ib_qp_state to)
{
	unsigned int i;

	if (to == IB_QPS_ERR)
		return MLX4_2ERR_QP;
	if (to == IB_QPS_RESET)
		return MLX4_2RST_QP;
	for (i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].from == from && moves[i].to == to)
			return moves[i].op;
	return -EINVAL;
}

static const u8 states[IB_QP_STATES] = {
	[IB_QPS_RESET] = MLX4_STATE_RESET,
	[IB_QPS_INIT] = MLX4_STATE_INIT,
	[IB_QPS_RTR] = MLX4_STATE_RTR,
	[IB_QPS_RTS] = MLX4_STATE_RTS,
	[IB_QPS_SQD] = MLX4_STATE_SQD,
	[IB_QPS_SQE] = MLX4_STATE_SQE,
	[IB_QPS_ERR] = MLX4_STATE_ERR,
};

static const u8 services[IB_QPT_COUNT] = {
	[IB_QPT_SMI] = MLX4_SERVICE_MLX,
	[IB_QPT_GSI] = MLX4_SERVICE_MLX,
	[IB_QPT_RC] = MLX4_SERVICE_RC,
	[IB_QPT_UC] = MLX4_SERVICE_UC,
	[IB_QPT_UD] = MLX4_SERVICE_UD,
	[IB_QPT_XRC_INI] = MLX4_SERVICE_XRC,
	[IB_QPT_XRC_TGT] = MLX4_SERVICE_XRC,
};

/* Path migration: the specification's number is the place in this table. */
static const u8 migration[] = {
	[IB_MIG_MIGRATED] = MLX4_PM_MIGRATED,
	[IB_MIG_REARM] = MLX4_PM_REARM,
	[IB_MIG_ARMED] = MLX4_PM_ARMED,
};

/* Which bits of the mask an attribute sets. */
static const struct {
	u32 attr;
	u32 opt;
} optional[] = {
	{ IB_QP_ACCESS_FLAGS, MLX4_OPT_RRE | MLX4_OPT_RAE | MLX4_OPT_RWE },
	{ IB_QP_MAX_DEST_RD_ATOMIC, MLX4_OPT_RRE | MLX4_OPT_RAE | MLX4_OPT_RWE | MLX4_OPT_RRA },
	{ IB_QP_PKEY_INDEX, MLX4_OPT_PKEY_INDEX },
	{ IB_QP_QKEY, MLX4_OPT_QKEY },
	{ IB_QP_AV, MLX4_OPT_PATH | MLX4_OPT_SCHED },
	{ IB_QP_TIMEOUT, MLX4_OPT_ACK_TIMEOUT },
	{ IB_QP_RETRY_CNT, MLX4_OPT_RETRY },
	{ IB_QP_RNR_RETRY, MLX4_OPT_RNR_RETRY },
	{ IB_QP_MAX_QP_RD_ATOMIC, MLX4_OPT_SRA },
	{ IB_QP_ALT_PATH, MLX4_OPT_ALT_PATH },
	{ IB_QP_MIN_RNR_TIMER, MLX4_OPT_RNR_TIMER },
	{ IB_QP_PATH_MIG_STATE, MLX4_OPT_PM_STATE },
};

static u32 optional_mask(u32 mask)
{
	unsigned int i;
	u32 opt = 0;

	for (i = 0; i < ARRAY_SIZE(optional); i++)
		if (mask & optional[i].attr)
			opt |= optional[i].opt;
	return opt;
}

/* How many at once, as a power of two. */
static unsigned int log_depth(unsigned int depth)
{
	return depth ? order_base_2(depth) : 0;
}

static void put_queues(struct mlx4_ib_dev *dev, const struct mlx4_ib_qp *qp, void *context)
{
	const struct ib_qp *ib = &qp->ib;
	struct ib_cq *send_cq = ib->send_cq, *recv_cq = ib->recv_cq;

	if (qp->rq.count) {
		mlx4_put(context, MLX4_QPC_RQ_LOG_SIZE, ilog2(qp->rq.count));
		mlx4_put(context, MLX4_QPC_RQ_LOG_STRIDE, qp->rq.log_stride - 4);
	}
	if (qp->sq.count) {
		mlx4_put(context, MLX4_QPC_SQ_LOG_SIZE, ilog2(qp->sq.count));
		mlx4_put(context, MLX4_QPC_SQ_LOG_STRIDE, qp->sq.log_stride - 4);
	}
	mlx4_put(context, MLX4_QPC_UAR, dev->uar_index);
	if (ib->type == IB_QPT_XRC_TGT) {
		mlx4_put(context, MLX4_QPC_SEND_CQN, mlx4_ib_xrcd(ib->xrcd)->cqn);
		mlx4_put(context, MLX4_QPC_RECV_CQN, mlx4_ib_xrcd(ib->xrcd)->cqn);
	} else {
		mlx4_put(context, MLX4_QPC_SEND_CQN, mlx4_ib_cq(send_cq)->cqn);
		mlx4_put(context, MLX4_QPC_RECV_CQN, mlx4_ib_cq(recv_cq ?: send_cq)->cqn);
	}
}

/* What belongs to a QP from beginning to end. */
static void put_nature(struct mlx4_ib_dev *dev, const struct mlx4_ib_qp *qp, void *context)
{
	const struct ib_qp *ib = &qp->ib;
	u64 mtt = mlx4_mtt_addr(dev->core, qp->buf.mtt);

	if (ib->pd)
		mlx4_put(context, MLX4_QPC_PD, mlx4_ib_pd(ib->pd)->pdn);
	if (ib->xrcd)
		mlx4_put(context, MLX4_QPC_XRCD, mlx4_ib_xrcd(ib->xrcd)->xrcdn);
	if (ib->srq) {
		mlx4_put(context, MLX4_QPC_SRQ, 1);
		mlx4_put(context, MLX4_QPC_SRQN, ib->srq->srqn);
		mlx4_put(context, MLX4_QPC_NO_CREDIT, 1);
	}
	mlx4_put(context, MLX4_QPC_LOCAL_QPN, qp->number);
	mlx4_put(context, MLX4_QPC_RESERVED_LKEY, 1);
	mlx4_put(context, MLX4_QPC_FAST_REG, 1);
	mlx4_put(context, MLX4_QPC_RQ_RECORD, qp->record.dma);
	mlx4_put(context, MLX4_QPC_MTT_HI, mtt >> 32);
	mlx4_put(context, MLX4_QPC_MTT_LO, mtt & U32_MAX);
}

static void put_message(struct mlx4_ib_dev *dev, const struct mlx4_ib_qp *qp, void *context,
			const struct ib_qp_attr *attr, u32 mask)
{
	const struct mlx4_caps *caps = &dev->core->caps;
	unsigned int mtu = IB_MTU_4096, log_msg = caps->log_msg;

	if (mlx4_ib_is_special(qp))
		log_msg = LOG_MSG_SPECIAL;
	else if (qp->ib.type == IB_QPT_UD)
		log_msg = qp->create_flags & IB_QP_CREATE_IPOIB_LSO ? caps->log_gso : LOG_MSG_UD;
	else if (mask & IB_QP_PATH_MTU)
		mtu = attr->path_mtu;
	mlx4_put(context, MLX4_QPC_MTU, mtu);
	mlx4_put(context, MLX4_QPC_LOG_MSG, log_msg);
}

static void put_path(struct mlx4_ib_dev *dev, u8 *path, const struct ib_ah_attr *ah)
{
	mlx4_put(path, MLX4_PATH_BITS, ah->path_bits);
	mlx4_put(path, MLX4_PATH_DLID, ah->dlid);
	mlx4_put(path, MLX4_PATH_RATE, mlx4_ib_rate(dev, ah->port, ah->static_rate));
	if (!ah->has_grh)
		return;
	mlx4_put(path, MLX4_PATH_GRH, 1);
	mlx4_put(path, MLX4_PATH_SGID_INDEX, ah->grh.sgid_index);
	mlx4_put(path, MLX4_PATH_HOP_LIMIT, ah->grh.hop_limit);
	mlx4_put(path, MLX4_PATH_TCLASS, ah->grh.traffic_class);
	mlx4_put(path, MLX4_PATH_FLOW, ah->grh.flow_label & 0xfffff);
	memcpy(path + MLX4_PATH_DGID, ah->grh.dgid.raw, sizeof(ah->grh.dgid.raw));
}

/* The HCA learns the port with the scheduling queue: there is a set of them for each. */
static u8 sched_queue(const struct mlx4_ib_qp *qp, u8 port, u8 sl)
{
	u8 queue = qp->ib.type == IB_QPT_SMI ? MLX4_SCHED_QP0 : MLX4_SCHED_DEFAULT;

	return queue | (port == 2 ? MLX4_SCHED_PORT : 0) | sl << MLX4_SCHED_SL_SHIFT;
}

/* The port of the primary path that is meant: ib_core has seen to it that they agree. */
static u8 path_port(const struct mlx4_ib_qp *qp, const struct ib_qp_attr *attr, u32 mask)
{
	if (mask & IB_QP_PORT)
		return attr->port;
	return mask & IB_QP_AV ? attr->ah.port : qp->ib.port;
}

static void put_paths(struct mlx4_ib_dev *dev, const struct mlx4_ib_qp *qp, void *context,
		      const struct ib_qp_attr *attr, u32 mask)
{
	u8 port = path_port(qp, attr, mask);
	u8 *path = context + MLX4_QPC_PATH, *alt = context + MLX4_QPC_ALT_PATH;

	mlx4_put(path, MLX4_PATH_COUNTER, MLX4_COUNTER_NONE);
	if (mask & IB_QP_PKEY_INDEX)
		mlx4_put(path, MLX4_PATH_PKEY_INDEX, attr->pkey_index);
	if (mask & IB_QP_TIMEOUT)
		mlx4_put(path, MLX4_PATH_ACK_TIMEOUT, attr->timeout);
	if (mask & IB_QP_AV)
		put_path(dev, path, &attr->ah);
	mlx4_put(path, MLX4_PATH_SCHED, sched_queue(qp, port, mask & IB_QP_AV ? attr->ah.sl : 0));
	if (!(mask & IB_QP_ALT_PATH))
		return;
	put_path(dev, alt, &attr->alt_ah);
	mlx4_put(alt, MLX4_PATH_COUNTER, MLX4_COUNTER_NONE);
	mlx4_put(alt, MLX4_PATH_PKEY_INDEX, attr->alt_pkey_index);
	mlx4_put(alt, MLX4_PATH_ACK_TIMEOUT, attr->alt_timeout);
	mlx4_put(alt, MLX4_PATH_SCHED, sched_queue(qp, attr->alt_port, attr->alt_ah.sl));
}

/* Reads and atomics are only let in by a QP that can answer some. */
static void put_rights(const struct mlx4_ib_qp *qp, void *context, const struct ib_qp_attr *attr,
		       u32 mask)
{
	u32 access = mask & IB_QP_ACCESS_FLAGS ? attr->access_flags : qp->access;
	u8 depth = mask & IB_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : qp->responders;

	mlx4_put(context, MLX4_QPC_RWE, !!(access & IB_ACCESS_REMOTE_WRITE));
	mlx4_put(context, MLX4_QPC_RRE, depth && access & IB_ACCESS_REMOTE_READ);
	mlx4_put(context, MLX4_QPC_RAE, depth && access & IB_ACCESS_REMOTE_ATOMIC);
	mlx4_put(context, MLX4_QPC_RRA_MAX, log_depth(depth));
}

static void put_connection(void *context, const struct ib_qp_attr *attr, u32 mask)
{
	mlx4_put(context, MLX4_QPC_ACK_FREQ, ACK_REQUEST_FREQ);
	if (mask & IB_QP_DEST_QPN)
		mlx4_put(context, MLX4_QPC_REMOTE_QPN, attr->dest_qpn);
	if (mask & IB_QP_SQ_PSN)
		mlx4_put(context, MLX4_QPC_SEND_PSN, attr->sq_psn & 0xffffff);
	if (mask & IB_QP_RQ_PSN)
		mlx4_put(context, MLX4_QPC_RECV_PSN, attr->rq_psn & 0xffffff);
	if (mask & IB_QP_RETRY_CNT)
		mlx4_put(context, MLX4_QPC_RETRY, attr->retry_cnt);
	if (mask & IB_QP_RNR_RETRY)
		mlx4_put(context, MLX4_QPC_RNR_RETRY, attr->rnr_retry);
	if (mask & IB_QP_MIN_RNR_TIMER)
		mlx4_put(context, MLX4_QPC_RNR_TIMER, attr->min_rnr_timer);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		mlx4_put(context, MLX4_QPC_SRA_MAX, log_depth(attr->max_rd_atomic));
	if (mask & IB_QP_QKEY)
		mlx4_put(context, MLX4_QPC_QKEY, attr->qkey);
	mlx4_put(context, MLX4_QPC_PM_STATE, mask & IB_QP_PATH_MIG_STATE ?
		 migration[attr->path_mig_state] : MLX4_PM_MIGRATED);
}

static int check_depths(struct mlx4_ib_dev *dev, const struct ib_qp_attr *attr, u32 mask)
{
	const struct mlx4_caps *caps = &dev->core->caps;

	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > 1u << caps->log_rd_req)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > dev->core->icm.tables[MLX4_RDMARC].entry / caps->rdmarc_size)
		return -EINVAL;
	return 0;
}

/* A port of ours, which has a P_Key there? */
static int check_pkey(struct mlx4_ib_dev *dev, u8 port, u16 pkey_index)
{
	if (!port || port > dev->core->caps.ports || !mlx4_port_is_ours(dev->core, port))
		return -EINVAL;
	return pkey_index < 1u << dev->core->caps.log_pkeys[port] ? 0 : -EINVAL;
}

/*
 * What this HCA and its ports cannot do; what none could has been refused by ib_core.  A hardware
 * field would cut off what does not fit and mean something else.
 */
static int check_attr(struct mlx4_ib_dev *dev, const struct mlx4_ib_qp *qp,
		      const struct ib_qp_attr *attr, u32 mask)
{
	const struct mlx4_caps *caps = &dev->core->caps;
	u8 port = path_port(qp, attr, mask);
	int err;

	if (mask & IB_QP_RATE_LIMIT)
		return -EOPNOTSUPP;
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE) && !(caps->flags & MLX4_FLAG_APM))
		return -EOPNOTSUPP;
	err = check_depths(dev, attr, mask);
	if (!err && mask & (IB_QP_PORT | IB_QP_AV | IB_QP_PKEY_INDEX))
		err = check_pkey(dev, port, mask & IB_QP_PKEY_INDEX ? attr->pkey_index : 0);
	if (!err && mask & IB_QP_ALT_PATH)
		err = check_pkey(dev, attr->alt_port, attr->alt_pkey_index);
	if (!err && mask & IB_QP_PATH_MTU && attr->path_mtu > caps->mtu[port])
		err = -EINVAL;
	return err;
}

static int send_context(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp, struct mlx4_call *call,
			const struct ib_qp_attr *attr, u32 mask, enum ib_qp_state to)
{
	void *context;
	int err;

	call->in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call->in))
		return PTR_ERR(call->in);
	context = call->in->buf + MLX4_QP_CONTEXT;
	mlx4_put(call->in->buf, MLX4_QP_OPT_MASK, optional_mask(mask) |
		 (call->op == MLX4_SQD2SQD_QP && mask & IB_QP_PORT ? MLX4_OPT_SCHED : 0));
	mlx4_put(context, MLX4_QPC_STATE, states[to]);
	mlx4_put(context, MLX4_QPC_SERVICE, services[qp->ib.type]);
	put_queues(dev, qp, context);
	put_nature(dev, qp, context);
	put_message(dev, qp, context, attr, mask);
	put_paths(dev, qp, context, attr, mask);
	put_rights(qp, context, attr, mask);
	put_connection(context, attr, mask);
	/* From the moment it is sent the HCA may know the QP, whatever it answers. */
	qp->hardware = true;
	err = mlx4_cmd(dev->core, call);
	mlx4_mailbox_free(dev->core, call->in);
	return err;
}

static bool is_ready(enum ib_qp_state state)
{
	return state != IB_QPS_RESET && state != IB_QPS_INIT && state != IB_QPS_ERR;
}

/*
 * The link of a port is up as long as its QP0 receives.  The QP has changed its state, whatever
 * becomes of the link; one that did not come up is tried again when the QP goes on.
 */
static void follow_link(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp, enum ib_qp_state to)
{
	u8 port = qp->ib.port;
	int err;

	if (qp->ib.type != IB_QPT_SMI || is_ready(to) == qp->open)
		return;
	if (!is_ready(to)) {
		mlx4_ib_port_close(dev, port);
		qp->open = false;
		return;
	}
	err = mlx4_ib_port_open(dev, port);
	qp->open = !err;
	if (err)
		dev_warn(dev->core->dev, "port %u: its link cannot be taken up: %d\n", port, err);
}

static void remember(struct mlx4_ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
		     enum ib_qp_state to)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->access_flags;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->responders = attr->max_dest_rd_atomic;
	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (to == IB_QPS_RESET) {
		qp->access = 0;
		qp->responders = 0;
	}
	mlx4_ib_qp_state(qp, to);
}

/* Nobody posts any more when the HCA is told, and when the rings are emptied. */
static int to_reset(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp, struct mlx4_call *call,
		    enum ib_qp_state from)
{
	int err = 0;

	call->op_mod = MLX4_2RST_DESTROY;
	mlx4_ib_qp_state(qp, IB_QPS_RESET);
	if (qp->hardware)
		err = mlx4_ib_closed(dev, call);
	if (err) {
		/* It is where it was, as far as anybody knows. */
		mlx4_ib_qp_state(qp, from);
		return err;
	}
	qp->hardware = false;
	mlx4_ib_qp_reset(qp);
	return 0;
}

int mlx4_ib_modify_qp(struct ib_qp *ib, const struct ib_qp_attr *attr, u32 mask,
		      enum ib_qp_state from, enum ib_qp_state to, struct ib_udata *udata)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib);
	struct mlx4_call call = { .in_mod = qp->number };
	int op = move_op(from, to), err;

	if (op < 0)
		return op;
	err = check_attr(dev, qp, attr, mask);
	if (err)
		return err;
	call.op = op;
	if (to == IB_QPS_RESET) {
		err = to_reset(dev, qp, &call, from);
	} else {
		if (to == IB_QPS_SQD && mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
		    attr->en_sqd_async_notify)
			call.in_mod |= MLX4_SQD_EVENT;
		err = send_context(dev, qp, &call, attr, mask, to);
	}
	if (err)
		return err;
	remember(qp, attr, mask, to);
	follow_link(dev, qp, to);
	return 0;
}

static enum ib_qp_state state_of(unsigned int state)
{
	unsigned int i;

	if (state == MLX4_STATE_DRAINING)
		return IB_QPS_SQD;
	for (i = 0; i < IB_QP_STATES; i++)
		if (states[i] == state)
			return i;
	return IB_QPS_ERR;
}

static enum ib_mig_state migration_of(unsigned int state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(migration); i++)
		if (migration[i] == state)
			return i;
	return IB_MIG_MIGRATED;
}

static void get_path(const u8 *path, struct ib_ah_attr *ah)
{
	u8 queue = mlx4_get(path, MLX4_PATH_SCHED), rate = mlx4_get(path, MLX4_PATH_RATE);

	ah->port = queue & MLX4_SCHED_PORT ? 2 : 1;
	ah->sl = queue >> MLX4_SCHED_SL_SHIFT & 0xf;
	ah->dlid = mlx4_get(path, MLX4_PATH_DLID);
	ah->path_bits = mlx4_get(path, MLX4_PATH_BITS);
	ah->static_rate = rate ? rate - MLX4_RATE_OFFSET : 0;
	ah->has_grh = mlx4_get(path, MLX4_PATH_GRH);
	if (!ah->has_grh)
		return;
	ah->grh.sgid_index = mlx4_get(path, MLX4_PATH_SGID_INDEX);
	ah->grh.hop_limit = mlx4_get(path, MLX4_PATH_HOP_LIMIT);
	ah->grh.traffic_class = mlx4_get(path, MLX4_PATH_TCLASS);
	ah->grh.flow_label = mlx4_get(path, MLX4_PATH_FLOW);
	memcpy(ah->grh.dgid.raw, path + MLX4_PATH_DGID, sizeof(ah->grh.dgid.raw));
}

static void get_paths(const struct mlx4_ib_qp *qp, const void *context, struct ib_qp_attr *attr)
{
	const u8 *path = context + MLX4_QPC_PATH, *alt = context + MLX4_QPC_ALT_PATH;

	attr->pkey_index = mlx4_get(path, MLX4_PATH_PKEY_INDEX);
	attr->timeout = mlx4_get(path, MLX4_PATH_ACK_TIMEOUT);
	attr->port = attr->state == IB_QPS_INIT || mlx4_ib_is_special(qp) ? qp->ib.port : 0;
	if (!attr->port)
		attr->port = mlx4_get(path, MLX4_PATH_SCHED) & MLX4_SCHED_PORT ? 2 : 1;
	if (qp->ib.type == IB_QPT_UD || mlx4_ib_is_special(qp))
		return;
	get_path(path, &attr->ah);
	get_path(alt, &attr->alt_ah);
	attr->alt_pkey_index = mlx4_get(alt, MLX4_PATH_PKEY_INDEX);
	attr->alt_timeout = mlx4_get(alt, MLX4_PATH_ACK_TIMEOUT);
	attr->alt_port = attr->alt_ah.port;
}

static void get_context(const struct mlx4_ib_qp *qp, const void *context, struct ib_qp_attr *attr)
{
	unsigned int state = mlx4_get(context, MLX4_QPC_STATE);

	attr->state = state_of(state);
	attr->sq_draining = state == MLX4_STATE_DRAINING;
	attr->path_mtu = mlx4_get(context, MLX4_QPC_MTU);
	attr->path_mig_state = migration_of(mlx4_get(context, MLX4_QPC_PM_STATE));
	attr->qkey = mlx4_get(context, MLX4_QPC_QKEY);
	attr->rq_psn = mlx4_get(context, MLX4_QPC_RECV_PSN);
	attr->sq_psn = mlx4_get(context, MLX4_QPC_SEND_PSN);
	attr->dest_qpn = mlx4_get(context, MLX4_QPC_REMOTE_QPN);
	attr->access_flags = (mlx4_get(context, MLX4_QPC_RRE) ? IB_ACCESS_REMOTE_READ : 0) |
			     (mlx4_get(context, MLX4_QPC_RWE) ? IB_ACCESS_REMOTE_WRITE : 0) |
			     (mlx4_get(context, MLX4_QPC_RAE) ? IB_ACCESS_REMOTE_ATOMIC : 0);
	attr->max_rd_atomic = 1 << mlx4_get(context, MLX4_QPC_SRA_MAX);
	attr->max_dest_rd_atomic = 1 << mlx4_get(context, MLX4_QPC_RRA_MAX);
	attr->min_rnr_timer = mlx4_get(context, MLX4_QPC_RNR_TIMER);
	attr->retry_cnt = mlx4_get(context, MLX4_QPC_RETRY);
	attr->rnr_retry = mlx4_get(context, MLX4_QPC_RNR_RETRY);
	get_paths(qp, context, attr);
}

int mlx4_ib_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, u32 mask)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib);
	struct mlx4_call call = { .op = MLX4_QUERY_QP, .in_mod = qp->number };
	int err = 0;

	/* The HCA has never heard of it. */
	attr->state = IB_QPS_RESET;
	if (READ_ONCE(qp->state) != IB_QPS_RESET) {
		call.out = mlx4_mailbox_alloc(dev->core);
		if (IS_ERR(call.out))
			return PTR_ERR(call.out);
		err = mlx4_cmd(dev->core, &call);
		if (!err)
			get_context(qp, call.out->buf + MLX4_QP_CONTEXT, attr);
		mlx4_mailbox_free(dev->core, call.out);
	}
	attr->cur_state = attr->state;
	attr->cap = ib->cap;
	return err;
}
