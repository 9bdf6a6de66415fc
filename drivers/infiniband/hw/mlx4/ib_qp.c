// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs: how large their rings are, what they are called, how they begin and end.
 *
 * Nothing is told to the HCA before a QP leaves RESET.  Both rings lie in one buffer, the one with
 * the larger entries first, so that no entry crosses a page.
 */
#include <linux/log2.h>

#include "ib_qp.h"

static const enum mlx4_table_id qp_tables[] = {
	MLX4_QPC, MLX4_AUXC, MLX4_ALTC, MLX4_RDMARC, MLX4_CMPT_QP, MLX4_TABLES
};

#define SPECIAL_QPS	8	/* numbers that mlx4_core has set apart */
#define SPECIAL_QP1	2	/* the first QP1 among them; QP0s come first */
#define LSO_HEADER	128	/* of IPoIB: its own, IP and TCP, with options */

/* What stands in a request before the data, at most; the end of QP0's and QP1's included. */
static unsigned int sq_overhead(const struct ib_qp_init *init)
{
	switch (init->type) {
	case IB_QPT_SMI:
	case IB_QPT_GSI:
		return mlx4_ib_inline_end(MLX4_WQE_SEG, MLX4_UD_HEADERS) + MLX4_WQE_SEG;
	case IB_QPT_UD:
		return MLX4_WQE_SEG + MLX4_UD_SIZE +
		       (init->create_flags & IB_QP_CREATE_IPOIB_LSO ? LSO_HEADER : 0);
	case IB_QPT_UC:
		return 2 * MLX4_WQE_SEG;
	default:
		return 3 * MLX4_WQE_SEG;	/* remote address and operands of an atomic */
	}
}

static int sq_lay_out(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp,
		      const struct ib_qp_init *init)
{
	const struct mlx4_caps *caps = &dev->core->caps;
	unsigned int overhead = sq_overhead(init), bytes, spare;
	struct mlx4_ib_wq *sq = &qp->sq;

	if (init->cap.max_send_sge > caps->sq_sg || init->cap.max_inline_data > MLX4_WQE_MAX ||
	    init->cap.max_send_wr > (1u << caps->log_qp_size) - MLX4_IB_SQ_SPARE)
		return -EINVAL;
	bytes = max(overhead + init->cap.max_send_sge * MLX4_WQE_SEG,
		    mlx4_ib_inline_end(overhead, init->cap.max_inline_data));
	if (bytes > min_t(unsigned int, caps->sq_desc, MLX4_WQE_MAX))
		return -EINVAL;
	sq->log_stride = order_base_2(max_t(unsigned int, bytes, MLX4_WQE_BLOCK));
	spare = mlx4_ib_sq_spare(sq->log_stride);
	sq->count = roundup_pow_of_two(max(init->cap.max_send_wr, 1u) + spare);
	sq->room = sq->count - spare;
	sq->max_sge = min_t(u32, caps->sq_sg,
			    (min_t(u32, caps->sq_desc, 1u << sq->log_stride) - overhead) /
			    MLX4_WQE_SEG);
	qp->max_inline = init->cap.max_inline_data;
	qp->ib.cap.max_send_wr = sq->room;
	qp->ib.cap.max_send_sge = sq->max_sge;
	return 0;
}

static int rq_lay_out(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp,
		      const struct ib_qp_init *init)
{
	const struct mlx4_caps *caps = &dev->core->caps;
	struct mlx4_ib_wq *rq = &qp->rq;

	if (init->cap.max_recv_sge > caps->rq_sg ||
	    init->cap.max_recv_wr > 1u << caps->log_qp_size)
		return -EINVAL;
	rq->count = roundup_pow_of_two(max(init->cap.max_recv_wr, 1u));
	rq->room = rq->count;
	rq->max_sge = roundup_pow_of_two(max(init->cap.max_recv_sge, 1u));
	rq->log_stride = ilog2(rq->max_sge * MLX4_WQE_SEG);
	qp->ib.cap.max_recv_wr = rq->room;
	qp->ib.cap.max_recv_sge = min_t(u32, rq->max_sge, caps->rq_sg);
	return 0;
}

static size_t wq_bytes(const struct mlx4_ib_wq *wq)
{
	return (size_t)wq->count << wq->log_stride;
}

/* Which queues there are, and where. */
static int qp_lay_out(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp,
		      const struct ib_qp_init *init)
{
	bool target = init->type == IB_QPT_XRC_TGT;
	int err = 0;

	qp->ib.cap = (struct ib_qp_cap){ .max_inline_data = init->cap.max_inline_data };
	if (!target)
		err = sq_lay_out(dev, qp, init);
	if (!err && !target && init->type != IB_QPT_XRC_INI && !init->srq)
		err = rq_lay_out(dev, qp, init);
	if (err)
		return err;
	if (qp->rq.log_stride > qp->sq.log_stride)
		qp->sq.offset = wq_bytes(&qp->rq);
	else
		qp->rq.offset = wq_bytes(&qp->sq);
	return 0;
}

static int check_init(struct mlx4_ib_dev *dev, const struct ib_qp_init *init)
{
	const u32 known = IB_QP_CREATE_IPOIB_LSO | IB_QP_CREATE_BLOCK_LOOPBACK;

	if (init->create_flags & ~known || init->type == IB_QPT_RAW_PACKET)
		return -EOPNOTSUPP;
	if (init->create_flags && init->type != IB_QPT_UD)
		return -EINVAL;
	if (init->create_flags & IB_QP_CREATE_IPOIB_LSO && !dev->core->caps.log_gso)
		return -EOPNOTSUPP;
	return 0;
}

/* QP0 and QP1 of a port have fixed places; nobody else may have them at the same time. */
static int special_number(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp)
{
	u32 number = dev->core->special_qpn + qp->ib.port - 1;
	unsigned int i;
	int err;

	if (qp->ib.type == IB_QPT_GSI)
		number += SPECIAL_QP1;
	err = xa_insert_irq(&dev->qps, number, NULL, GFP_KERNEL);
	if (err)
		return err;
	for (i = 0; qp_tables[i] != MLX4_TABLES && !err; i++)
		err = mlx4_icm_get(dev->core, qp_tables[i], number, 1);
	if (!err) {
		qp->number = number;
		qp->ib.qpn = qp->ib.type == IB_QPT_GSI;
		return 0;
	}
	for (i--; i--;)
		mlx4_icm_put(dev->core, qp_tables[i], number, 1);
	xa_erase_irq(&dev->qps, number);
	return err;
}

static int ordinary_number(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp)
{
	u32 number;
	int err;

	err = mlx4_ib_number_alloc(dev, &dev->qps, &dev->next_qpn, qp_tables,
				   dev->core->special_qpn + SPECIAL_QPS, &number);
	if (err)
		return err;
	qp->number = number | (qp->ib.type == IB_QPT_XRC_TGT ? MLX4_QPN_XRC : 0);
	qp->ib.qpn = qp->number;
	return 0;
}

/* Where the tables have it. */
static u32 qp_index(const struct mlx4_ib_qp *qp)
{
	return qp->number & ~MLX4_QPN_XRC;
}

static void qp_free(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp)
{
	mlx4_ib_wq_destroy(&qp->rq);
	mlx4_ib_wq_destroy(&qp->sq);
	mlx4_ib_record_free(dev, &qp->record);
	mlx4_ib_buf_free(dev, &qp->buf);
	mlx4_ib_number_free(dev, &dev->qps, qp_tables, qp_index(qp));
}

static int qp_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp)
{
	size_t bytes = wq_bytes(&qp->sq) + wq_bytes(&qp->rq);
	int err = 0;

	if (bytes)
		err = mlx4_ib_buf_alloc(dev, &qp->buf, bytes);
	if (!err)
		err = mlx4_ib_record_alloc(dev, &qp->record);
	if (!err)
		err = mlx4_ib_wq_init(&qp->sq, &qp->buf);
	if (!err)
		err = mlx4_ib_wq_init(&qp->rq, &qp->buf);
	return err;
}

static void cq_add(struct ib_cq *cq, struct list_head *node, size_t list)
{
	unsigned long flags;

	INIT_LIST_HEAD(node);
	if (!cq)
		return;
	spin_lock_irqsave(&mlx4_ib_cq(cq)->lock, flags);
	list_add_tail(node, (void *)mlx4_ib_cq(cq) + list);
	spin_unlock_irqrestore(&mlx4_ib_cq(cq)->lock, flags);
}

int mlx4_ib_create_qp(struct ib_qp *ib, const struct ib_qp_init *init, struct ib_udata *udata)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib);
	int err;

	if (udata)
		return -EOPNOTSUPP;
	err = check_init(dev, init);
	if (!err)
		err = qp_lay_out(dev, qp, init);
	if (err)
		return err;
	qp->signal_all = init->signal_all;
	qp->create_flags = init->create_flags;
	err = mlx4_ib_is_special(qp) ? special_number(dev, qp) : ordinary_number(dev, qp);
	if (err)
		return err;
	err = qp_alloc(dev, qp);
	if (err) {
		qp_free(dev, qp);
		return err;
	}
	mlx4_ib_sq_stamp(&qp->sq);
	cq_add(ib->send_cq, &qp->send_node, offsetof(struct mlx4_ib_cq, send_qps));
	cq_add(ib->recv_cq, &qp->recv_node, offsetof(struct mlx4_ib_cq, recv_qps));
	mlx4_ib_number_publish(&dev->qps, qp_index(qp), qp);
	return 0;
}

static void qp_close(struct mlx4_ib_qp *qp)
{
	mlx4_ib_wq_close(&qp->sq);
	mlx4_ib_wq_close(&qp->rq);
}

int mlx4_ib_destroy_qp(struct ib_qp *ib)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib);
	struct mlx4_call call = {
		.op = MLX4_2RST_QP,
		.op_mod = MLX4_2RST_DESTROY,
		.in_mod = qp->number,
	};
	int err = 0;

	qp_close(qp);
	if (qp->open)
		mlx4_ib_port_close(dev, ib->port);
	qp->open = false;
	if (qp->hardware)
		err = mlx4_ib_closed(dev, &call);
	if (err)
		return err;
	qp->hardware = false;
	if (!qp->groups)
		return 0;
	/* A group that it could not be taken out of still names it: as with a closing command. */
	ib_hca_gone(dev->core->hca, "a QP stays in a multicast group");
	return -EIO;
}

/* Both ends of a queue begin anew: its poster's and, under the lock of its CQ, its poller's. */
static void wq_reset(struct mlx4_ib_wq *wq)
{
	spin_lock(&wq->lock);
	wq->head = 0;
	wq->tail = 0;
	spin_unlock(&wq->lock);
}

/* Nothing of a QP is in a CQ any more.  What is under way into another ring comes there first. */
static void cq_leave(struct mlx4_ib_qp *qp, struct mlx4_ib_cq *cq, bool for_good)
{
	bool send = qp->ib.send_cq == &cq->ib, recv = qp->ib.recv_cq == &cq->ib;
	unsigned long flags;

	mutex_lock(&cq->resizing);
	spin_lock_irqsave(&cq->lock, flags);
	mlx4_ib_cq_clean(cq, qp->number, mlx4_ib_qp_srq(qp));
	if (for_good && cq->last == qp)
		cq->last = NULL;
	if (send && for_good)
		list_del_init(&qp->send_node);
	else if (send)
		wq_reset(&qp->sq);
	if (recv && for_good)
		list_del_init(&qp->recv_node);
	else if (recv)
		wq_reset(&qp->rq);
	spin_unlock_irqrestore(&cq->lock, flags);
	mutex_unlock(&cq->resizing);
}

/* A target has no CQ of its own: it completes where the SRQs of its domain do. */
static void target_leave_cqs(struct mlx4_ib_qp *qp, bool for_good)
{
	struct mlx4_ib_xrcd *xrcd = mlx4_ib_xrcd(qp->ib.xrcd);
	struct mlx4_ib_srq *srq;

	mutex_lock(&xrcd->lock);
	list_for_each_entry(srq, &xrcd->srqs, xrc_node)
		cq_leave(qp, mlx4_ib_cq(srq->ib.cq), for_good);
	mutex_unlock(&xrcd->lock);
}

static void qp_leave_cqs(struct mlx4_ib_qp *qp, bool for_good)
{
	struct ib_cq *send_cq = qp->ib.send_cq, *recv_cq = qp->ib.recv_cq;

	if (qp->ib.type == IB_QPT_XRC_TGT)
		target_leave_cqs(qp, for_good);
	if (send_cq)
		cq_leave(qp, mlx4_ib_cq(send_cq), for_good);
	if (recv_cq && recv_cq != send_cq)
		cq_leave(qp, mlx4_ib_cq(recv_cq), for_good);
}

void mlx4_ib_detach_qp(struct ib_qp *ib)
{
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib);

	qp_close(qp);
	mlx4_ib_number_hide(&mlx4_ib_dev_of(&ib->object)->qps, qp_index(qp));
	qp_leave_cqs(qp, true);
}

void mlx4_ib_release_qp(struct ib_qp *ib)
{
	qp_free(mlx4_ib_dev_of(&ib->object), mlx4_ib_qp(ib));
}

/* A poster holds the lock of its queue from when it looks at the state until it has posted. */
void mlx4_ib_qp_state(struct mlx4_ib_qp *qp, enum ib_qp_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->sq.lock, flags);
	WRITE_ONCE(qp->state, state);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	spin_lock_irqsave(&qp->rq.lock, flags);
	spin_unlock_irqrestore(&qp->rq.lock, flags);
}

void mlx4_ib_qp_reset(struct mlx4_ib_qp *qp)
{
	qp_leave_cqs(qp, false);
	mlx4_ib_sq_stamp(&qp->sq);
	WRITE_ONCE(*qp->record.at, 0);
	qp->psn = 0;
}
