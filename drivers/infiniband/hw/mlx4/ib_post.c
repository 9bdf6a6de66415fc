// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting to QPs.
 *
 * A chain of sends is put into the ring one by one and announced by one doorbell.  Receives are
 * announced by a counter in memory.
 */
#include <linux/io.h>

#include "ib_qp.h"

static int send_one(struct mlx4_ib_qp *qp, const struct ib_send_wr *wr)
{
	struct mlx4_ib_wq *sq = &qp->sq;
	int bytes;

	if (mlx4_ib_wq_full(sq))
		return -ENOMEM;
	if (mlx4_ib_is_special(qp) && wr->opcode != IB_WR_DRAIN)
		bytes = mlx4_ib_build_special(qp, wr);
	else
		bytes = mlx4_ib_build(qp, wr);
	if (bytes < 0)
		return bytes;
	sq->ids[sq->head & (sq->count - 1)] = wr->wr_id;
	mlx4_ib_sq_commit(sq, qp->wqe, bytes);
	return 0;
}

/* May sends be posted in this state (IBA 10.3.1)? */
static int may_send(const struct mlx4_ib_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	if (!qp->sq.count || state == IB_QPS_RESET || state == IB_QPS_INIT || state == IB_QPS_RTR)
		return -EINVAL;
	return 0;
}

int mlx4_ib_post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad)
{
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib_qp);
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib_qp->object);
	unsigned long flags;
	u32 head;
	int err;

	spin_lock_irqsave(&qp->sq.lock, flags);
	head = qp->sq.head;
	err = mlx4_ib_wq_refuses(&qp->sq) ?: may_send(qp);
	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		err = send_one(qp, wr);
	}
	if (qp->sq.head != head) {
		wmb(); /* the requests are in the ring before the hardware looks there */
		iowrite32be(qp->number << 8, dev->uar + MLX4_UAR_SEND_DB);
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	return err;
}

int mlx4_ib_post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib_qp);
	struct mlx4_ib_wq *rq = &qp->rq;
	unsigned long flags;
	u32 head;
	int err;

	spin_lock_irqsave(&rq->lock, flags);
	head = rq->head;
	err = mlx4_ib_wq_refuses(rq);
	if (!err && (!rq->count || READ_ONCE(qp->state) == IB_QPS_RESET))
		err = -EINVAL;
	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		if (mlx4_ib_wq_full(rq)) {
			err = -ENOMEM;
		} else if (wr->num_sge > (int)rq->max_sge) {
			err = -EINVAL;
		} else {
			mlx4_ib_put_sges(mlx4_ib_wq_at(rq, rq->head), rq, wr);
			rq->ids[rq->head++ & (rq->count - 1)] = wr->wr_id;
		}
	}
	if (rq->head != head) {
		wmb(); /* the requests are in the ring before they are counted */
		WRITE_ONCE(*qp->record.at, cpu_to_be32(rq->head & U16_MAX));
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return err;
}
