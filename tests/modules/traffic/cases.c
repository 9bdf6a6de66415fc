// SPDX-License-Identifier: GPL-2.0-only
/* What the cases of cases.h are made with, and who runs them. */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include <ib/compat.h>
#include <ib/hca.h>

#include "cases.h"

#define PSN_BASE	0xfffff0	/* wraps soon */
#define POLL_US		100
#define POLLS		50000		/* five seconds; the machine may be slow */
#define QUIET_POLLS	500

bool obj_wrong(struct obj_pair *pair, int err, const char *why, int line)
{
	/* Called through by those who called what failed: the innermost says it best. */
	if (!pair->why) {
		pair->err = err;
		pair->why = why;
		pair->line = line;
	}
	return true;
}

void obj_fill(u8 *at, u32 seed, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		at[i] = (i * 7 + seed * 13 + (i >> 8)) & 0xff;
}

bool obj_is(const u8 *at, u32 seed, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (at[i] != ((i * 7 + seed * 13 + (i >> 8)) & 0xff))
			return false;
	return true;
}

/* Polled, so that a case reads from top to bottom. */
static void nothing(struct ib_cq *cq)
{
}

static int side_open(struct obj_side *side, struct traffic_port *port)
{
	struct ib_cq_init init = { .cqe = 1000, .context = IB_CQ_OWNER, .notify = nothing };
	int err;

	side->port = port;
	side->attachment = port->hca->attachment;
	side->buf = dma_alloc_coherent(traffic_device(port)->hca->parent, OBJ_BYTES, &side->dma,
				       GFP_KERNEL);
	if (!side->buf)
		return -ENOMEM;
	side->pd = ib_pd_create(side->attachment, NULL);
	err = PTR_ERR_OR_ZERO(side->pd);
	if (!err) {
		side->cq = ib_cq_create(side->attachment, &init, NULL);
		err = PTR_ERR_OR_ZERO(side->cq);
	}
	if (!err) {
		side->mr = ib_mr_create_dma(side->pd, IB_ACCESS_LOCAL_WRITE |
					    IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
					    IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND);
		err = PTR_ERR_OR_ZERO(side->mr);
	}
	return err;
}

int obj_open(struct obj_pair *pair, struct traffic_port *a, struct traffic_port *b)
{
	int err = side_open(&pair->a, a);

	return err ?: side_open(&pair->b, b);
}

static void side_close(struct obj_side *side)
{
	unsigned int i;

	if (!IS_ERR_OR_NULL(side->mw))
		ib_mw_destroy(side->mw);
	for (i = 0; i < OBJ_QPS; i++)
		if (!IS_ERR_OR_NULL(side->qp[i]))
			ib_qp_destroy(side->qp[i]);
	if (!IS_ERR_OR_NULL(side->ah))
		ib_ah_destroy(side->ah);
	if (!IS_ERR_OR_NULL(side->srq))
		ib_srq_destroy(side->srq);
	if (!IS_ERR_OR_NULL(side->fast))
		ib_mr_destroy(side->fast);
	if (!IS_ERR_OR_NULL(side->mr))
		ib_mr_destroy(side->mr);
	if (!IS_ERR_OR_NULL(side->cq))
		ib_cq_destroy(side->cq);
	if (!IS_ERR_OR_NULL(side->xrcd))
		ib_xrcd_destroy(side->xrcd);
	if (!IS_ERR_OR_NULL(side->pd))
		ib_pd_destroy(side->pd);
	if (side->buf)
		dma_free_coherent(traffic_device(side->port)->hca->parent, OBJ_BYTES, side->buf,
				  side->dma);
}

void obj_close(struct obj_pair *pair)
{
	side_close(&pair->a);
	side_close(&pair->b);
}

static void qp_event(struct ib_qp *qp, enum ib_event_type type)
{
	struct obj_side *side = qp->priv;

	if (type < ARRAY_SIZE(side->events))
		atomic_inc(&side->events[type]);
}

struct ib_qp_init obj_init(struct obj_side *side, enum ib_qp_type type)
{
	return (struct ib_qp_init){
		.type = type,
		.cap = { 32, 32, 3, 3, 300 },
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.event = qp_event,
		.priv = side,
	};
}

int obj_qp(struct obj_side *side, unsigned int i, const struct ib_qp_init *init)
{
	struct ib_pd *pd = init->type == IB_QPT_XRC_TGT ? NULL : side->pd;

	side->qp[i] = ib_qp_create(side->attachment, pd, init, NULL);
	return PTR_ERR_OR_ZERO(side->qp[i]);
}

int obj_move(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .state = state };

	return ib_qp_modify(qp, &attr, IB_QP_STATE, NULL);
}

int obj_ready_ud(struct ib_qp *qp, struct obj_side *side)
{
	struct ib_qp_attr attr = {
		.state = IB_QPS_INIT, .port = side->port->number, .qkey = OBJ_QKEY,
	};
	int err;

	err = ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_QKEY | IB_QP_PKEY_INDEX,
			   NULL);
	if (!err)
		err = obj_move(qp, IB_QPS_RTR);
	attr.state = IB_QPS_RTS;
	return err ?: ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN, NULL);
}

int obj_address(struct obj_side *from, struct obj_side *to, const union ib_gid *gid, u16 lid)
{
	struct ib_ah_attr attr = {
		.dlid = lid ?: to->port->lid, .port = from->port->number,
	};

	if (!IS_ERR_OR_NULL(from->ah))
		ib_ah_destroy(from->ah);
	if (gid) {
		attr.has_grh = true;
		attr.grh.dgid = *gid;
		attr.grh.hop_limit = 1;
		attr.grh.flow_label = 0x54321;
		attr.grh.traffic_class = 0x77;
	}
	from->ah = ib_ah_create(from->pd, &attr, GFP_KERNEL);
	return PTR_ERR_OR_ZERO(from->ah);
}

/* What each kind needs to get from INIT on. */
static u32 rtr_mask(enum ib_qp_type type)
{
	u32 mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;

	if (type == IB_QPT_RC || type == IB_QPT_XRC_TGT)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	return mask;
}

static u32 rts_mask(enum ib_qp_type type)
{
	u32 mask = IB_QP_STATE | IB_QP_SQ_PSN;

	if (type != IB_QPT_UC)
		mask |= IB_QP_TIMEOUT;
	if (type == IB_QPT_RC || type == IB_QPT_XRC_INI)
		mask |= IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

int obj_connect(struct ib_qp *qp, struct obj_side *from, struct obj_side *to, u32 qpn)
{
	struct ib_qp_attr attr = {
		.state = IB_QPS_INIT,
		.port = from->port->number,
		.access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
				IB_ACCESS_REMOTE_ATOMIC,
		.ah = { .dlid = to->port->lid, .port = from->port->number },
		.path_mtu = IB_MTU_1024,
		.dest_qpn = qpn,
		.rq_psn = PSN_BASE,
		.sq_psn = PSN_BASE,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 12,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	int err;

	err = ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX |
			   IB_QP_ACCESS_FLAGS, NULL);
	attr.state = IB_QPS_RTR;
	if (!err)
		err = ib_qp_modify(qp, &attr, rtr_mask(qp->type), NULL);
	attr.state = IB_QPS_RTS;
	return err ?: ib_qp_modify(qp, &attr, rts_mask(qp->type), NULL);
}

int obj_pairs(struct obj_pair *pair, enum ib_qp_type type)
{
	struct ib_qp_init a = obj_init(&pair->a, type), b = obj_init(&pair->b, type);
	int err;

	err = obj_qp(&pair->a, 0, &a) ?: obj_qp(&pair->b, 0, &b);
	if (err)
		return err;
	if (type == IB_QPT_UD)
		return obj_ready_ud(pair->a.qp[0], &pair->a) ?:
		       obj_ready_ud(pair->b.qp[0], &pair->b) ?:
		       obj_address(&pair->a, &pair->b, NULL, 0);
	return obj_connect(pair->a.qp[0], &pair->a, &pair->b, pair->b.qp[0]->qpn) ?:
	       obj_connect(pair->b.qp[0], &pair->b, &pair->a, pair->a.qp[0]->qpn);
}

int obj_recv(struct ib_qp *qp, struct obj_side *side, u64 id, u32 offset, u32 length)
{
	/* In three pieces, the second of them empty. */
	struct ib_sge sge[3] = {
		obj_sge(side, offset, length / 2),
		obj_sge(side, offset, 0),
		obj_sge(side, offset + length / 2, length - length / 2),
	};
	struct ib_recv_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = 3 };
	const struct ib_recv_wr *bad;

	return ib_qp_post_recv(qp, &wr, &bad);
}

int obj_send(struct ib_qp *qp, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad;

	return ib_qp_post_send(qp, wr, &bad);
}

int obj_poll(struct obj_side *side, struct ib_wc *wc)
{
	unsigned int i;
	int n;

	for (i = 0; i < POLLS; i++) {
		n = ib_cq_poll(side->cq, 1, wc);
		if (n)
			return n < 0 ? n : 0;
		usleep_range(POLL_US, 2 * POLL_US);
	}
	return -ETIMEDOUT;
}

bool obj_none(struct obj_side *side)
{
	struct ib_wc wc;
	unsigned int i;

	for (i = 0; i < QUIET_POLLS; i++) {
		if (ib_cq_poll(side->cq, 1, &wc))
			return false;
		usleep_range(POLL_US, 2 * POLL_US);
	}
	return true;
}

bool obj_good(struct obj_side *side, u64 id, enum ib_wc_opcode opcode, struct ib_wc *wc)
{
	struct ib_wc none;
	int err;

	wc = wc ?: &none;
	err = obj_poll(side, wc);
	if (!err && wc->status == IB_WC_SUCCESS && wc->wr_id == id && wc->opcode == opcode)
		return true;
	pr_err("lastref_traffic: wanted request %llu, opcode %u: %d, request %llu, %s, opcode %u\n",
	       id, opcode, err, err ? 0 : wc->wr_id, err ? "" : ib_wc_status_name(wc->status),
	       err ? 0 : wc->opcode);
	return false;
}

bool obj_event(struct obj_side *side, enum ib_event_type type)
{
	unsigned int i;

	for (i = 0; i < POLLS && !atomic_read(&side->events[type]); i++)
		usleep_range(POLL_US, 2 * POLL_US);
	return atomic_read(&side->events[type]);
}

static const struct {
	const char *name;
	int (*run)(struct obj_pair *pair);
} cases[] = {
	{ "ud", case_ud },
	{ "lso", case_lso },
	{ "mcast", case_mcast },
	{ "groups", case_groups },
	{ "rc-sends", case_rc_sends },
	{ "rc-rdma", case_rc_rdma },
	{ "rc-atomics", case_rc_atomics },
	{ "rc-errors", case_rc_errors },
	{ "rc-wrap", case_rc_wrap },
	{ "states", case_states },
	{ "uc", case_uc },
	{ "srq", case_srq },
	{ "xrc", case_xrc },
	{ "fast", case_fast },
	{ "mw1", case_mw1 },
	{ "mw2", case_mw2 },
};

int traffic_cases(struct traffic_port *a, struct traffic_port *b)
{
	struct obj_pair *pair;
	unsigned int i;
	int failed = 0;
	int err;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pair = kzalloc(sizeof(*pair), GFP_KERNEL);
		if (!pair)
			return failed + 1;
		err = obj_open(pair, a, b);
		if (!err)
			err = cases[i].run(pair);
		if (err)
			pr_err("verbs: %s: line %d: %s: %d\n", cases[i].name, pair->line,
			       pair->why ?: "cannot begin", pair->err ?: err);
		else
			pr_info("verbs: %s: ok\n", cases[i].name);
		failed += !!err;
		obj_close(pair);
		kfree(pair);
	}
	return failed;
}
