// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has completed: by the hardware, or by software when it has gone.
 *
 * After GONE each request that was posted to a QP completes exactly once: those whose completions
 * the hardware had written, then, since the tail tells which they were, the others as flushed.
 * Requests of an SRQ belong to no QP before the hardware takes them; they end with the SRQ (IBA
 * 10.2.9).
 */
#include "ib_qp.h"

int mlx4_ib_closed(struct mlx4_ib_dev *dev, struct mlx4_call *call)
{
	int err = mlx4_cmd(dev->core, call);

	/* A closing command that is refused after GONE counts as done, but nobody has done it. */
	return err ?: ib_hca_is_over(dev->core->hca) ? -EIO : 0;
}

u64 mlx4_ib_qp_sent(struct mlx4_ib_qp *qp, u16 counter)
{
	mlx4_ib_wq_skip(&qp->sq, counter);
	return mlx4_ib_wq_retire(&qp->sq);
}

u64 mlx4_ib_qp_received(struct mlx4_ib_qp *qp)
{
	return mlx4_ib_wq_retire(&qp->rq);
}

static void wq_flush(struct mlx4_ib_wq *wq)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	wq->flushed = true;
	spin_unlock_irqrestore(&wq->lock, flags);
}

void mlx4_ib_qp_flush(struct mlx4_ib_qp *qp)
{
	wq_flush(&qp->sq);
	wq_flush(&qp->rq);
}

void mlx4_ib_srq_flush(struct mlx4_ib_srq *srq)
{
	wq_flush(&srq->wq);
}

int mlx4_ib_qp_take_flushed(struct mlx4_ib_qp *qp, bool send, int count, struct ib_wc *wc)
{
	struct mlx4_ib_wq *wq = send ? &qp->sq : &qp->rq;
	int n = 0;

	/* A QP that was made while the flush went by was not told; nothing was posted to it. */
	if (!wq->flushed)
		return 0;
	for (; n < count && wq->tail != wq->head; n++) {
		memset(&wc[n], 0, sizeof(wc[n]));
		wc[n].wr_id = mlx4_ib_wq_retire(wq);
		wc[n].status = IB_WC_WR_FLUSH_ERR;
		wc[n].opcode = send ? IB_WC_SEND : IB_WC_RECV;
		wc[n].qp = &qp->ib;
	}
	return n;
}
