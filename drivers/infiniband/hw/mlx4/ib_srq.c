// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues.
 *
 * Entries come back in any order, so they are linked into a list: free ones in front of each other,
 * and posted ones in the order of their posting, since posting takes the first free entry and
 * leaves its link alone.  The HCA follows the same links, as far as the doorbell record counts, and
 * reads the link of an entry when it takes it: an entry that has completed may be linked anew.  The
 * last free entry is never posted: its link is written when another one comes behind it.
 */
#include <linux/log2.h>

#include "ib_qp.h"

static const enum mlx4_table_id srq_tables[] = { MLX4_SRQC, MLX4_CMPT_SRQ, MLX4_TABLES };

static u16 link_get(const struct mlx4_ib_srq *srq, u16 index)
{
	return mlx4_get(mlx4_ib_wq_at(&srq->wq, index), MLX4_SRQ_NEXT);
}

static void link_put(struct mlx4_ib_srq *srq, u16 index, u16 next)
{
	mlx4_put(mlx4_ib_wq_at(&srq->wq, index), MLX4_SRQ_NEXT, next);
}

static int srq_lay_out(struct mlx4_ib_dev *dev, struct mlx4_ib_srq *srq,
		       const struct ib_srq_attr *attr)
{
	const struct mlx4_caps *caps = &dev->core->caps;
	struct mlx4_ib_wq *wq = &srq->wq;
	u32 bytes;

	if (!attr->max_wr || attr->max_wr >= 1u << caps->log_srq_size ||
	    attr->max_sge > caps->rq_sg)
		return -EINVAL;
	bytes = roundup_pow_of_two((1 + max(attr->max_sge, 1u)) * MLX4_WQE_SEG);
	if (bytes > caps->rq_desc)
		return -EINVAL;
	wq->log_stride = ilog2(bytes);
	wq->count = roundup_pow_of_two(attr->max_wr + 1);
	wq->room = wq->count - 1;
	wq->max_sge = bytes / MLX4_WQE_SEG - 1;
	return 0;
}

/* All entries are free and none has any memory. */
static void srq_link_up(struct mlx4_ib_srq *srq)
{
	u32 i, at;

	for (i = 0; i < srq->wq.count; i++) {
		u8 *entry = mlx4_ib_wq_at(&srq->wq, i);

		link_put(srq, i, (i + 1) & (srq->wq.count - 1));
		for (at = MLX4_WQE_SEG; at < 1u << srq->wq.log_stride; at += MLX4_WQE_SEG)
			mlx4_put(entry + at, MLX4_DATA_LKEY, MLX4_INVALID_LKEY);
	}
	srq->free = 0;
	srq->last = srq->wq.count - 1;
}

static void srq_free(struct mlx4_ib_dev *dev, struct mlx4_ib_srq *srq)
{
	mlx4_ib_wq_destroy(&srq->wq);
	mlx4_ib_record_free(dev, &srq->record);
	mlx4_ib_buf_free(dev, &srq->buf);
	mlx4_ib_number_free(dev, &dev->srqs, srq_tables, srq->ib.srqn);
}

static void put_context(struct mlx4_ib_dev *dev, const struct mlx4_ib_srq *srq, void *context)
{
	u64 mtt = mlx4_mtt_addr(dev->core, srq->buf.mtt);
	const struct ib_srq *ib = &srq->ib;

	mlx4_put(context, MLX4_SRQC_LOG_SIZE, ilog2(srq->wq.count));
	mlx4_put(context, MLX4_SRQC_SRQN, ib->srqn);
	mlx4_put(context, MLX4_SRQC_LOG_STRIDE, srq->wq.log_stride - 4);
	/* The first domain that nobody can have is that of an SRQ that is in none. */
	mlx4_put(context, MLX4_SRQC_XRCD, ib->xrcd ? mlx4_ib_xrcd(ib->xrcd)->xrcdn :
						     dev->core->caps.reserved_xrcds);
	mlx4_put(context, MLX4_SRQC_CQN, ib->cq ? mlx4_ib_cq(ib->cq)->cqn : 0);
	mlx4_put(context, MLX4_SRQC_PD, mlx4_ib_pd(ib->pd)->pdn);
	mlx4_put(context, MLX4_SRQC_MTT_HI, mtt >> 32);
	mlx4_put(context, MLX4_SRQC_MTT_LO, mtt & U32_MAX);
	mlx4_put(context, MLX4_SRQC_RECORD, srq->record.dma);
}

static int srq_to_hardware(struct mlx4_ib_dev *dev, struct mlx4_ib_srq *srq, bool *unanswered)
{
	struct mlx4_call call = { .op = MLX4_SW2HW_SRQ, .in_mod = srq->ib.srqn };
	int err;

	call.in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	put_context(dev, srq, call.in->buf);
	err = mlx4_cmd(dev->core, &call);
	*unanswered = err && !call.status;
	mlx4_mailbox_free(dev->core, call.in);
	return err;
}

static int srq_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_srq *srq, bool *unanswered)
{
	int err;

	err = mlx4_ib_buf_alloc(dev, &srq->buf, (size_t)srq->wq.count << srq->wq.log_stride);
	if (!err)
		err = mlx4_ib_record_alloc(dev, &srq->record);
	if (!err)
		err = mlx4_ib_wq_init(&srq->wq, &srq->buf);
	if (err)
		return err;
	srq_link_up(srq);
	return srq_to_hardware(dev, srq, unanswered);
}

/* The domain's targets may complete into its CQ from now on. */
static void srq_join_domain(struct mlx4_ib_srq *srq, struct mlx4_ib_xrcd *xrcd)
{
	mutex_lock(&xrcd->lock);
	list_add_tail(&srq->xrc_node, &xrcd->srqs);
	mutex_unlock(&xrcd->lock);
}

int mlx4_ib_create_srq(struct ib_srq *ib, const struct ib_srq_init *init, struct ib_udata *udata)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_srq *srq = mlx4_ib_srq(ib);
	bool unanswered = false;
	int err;

	if (udata)
		return -EOPNOTSUPP;
	err = srq_lay_out(dev, srq, &init->attr);
	if (!err)
		err = mlx4_ib_number_alloc(dev, &dev->srqs, &dev->next_srqn, srq_tables,
					   dev->core->icm.tables[MLX4_SRQC].reserved, &ib->srqn);
	if (err)
		return err;
	err = srq_alloc(dev, srq, &unanswered);
	if (err) {
		mlx4_ib_buf_end(dev, &srq->buf, &srq->record, unanswered);
		srq_free(dev, srq);
		return err;
	}
	INIT_LIST_HEAD(&srq->xrc_node);
	if (ib->xrcd)
		srq_join_domain(srq, mlx4_ib_xrcd(ib->xrcd));
	mlx4_ib_number_publish(&dev->srqs, ib->srqn, srq);
	return 0;
}

int mlx4_ib_destroy_srq(struct ib_srq *ib)
{
	struct mlx4_call call = { .op = MLX4_HW2SW_SRQ, .op_mod = 1, .in_mod = ib->srqn };

	mlx4_ib_wq_close(&mlx4_ib_srq(ib)->wq);
	return mlx4_ib_closed(mlx4_ib_dev_of(&ib->object), &call);
}

/* Its CQ is an XRC SRQ's alone: who polls it meets the SRQ there. */
void mlx4_ib_detach_srq(struct ib_srq *ib)
{
	struct mlx4_ib_xrcd *xrcd = ib->xrcd ? mlx4_ib_xrcd(ib->xrcd) : NULL;
	struct mlx4_ib_cq *cq = ib->cq ? mlx4_ib_cq(ib->cq) : NULL;
	unsigned long flags;

	mlx4_ib_wq_close(&mlx4_ib_srq(ib)->wq);
	mlx4_ib_number_hide(&mlx4_ib_dev_of(&ib->object)->srqs, ib->srqn);
	if (!cq || !xrcd)
		return;
	/* A target that goes looks into this CQ as long as it may be found there. */
	mutex_lock(&xrcd->lock);
	mutex_lock(&cq->resizing);
	spin_lock_irqsave(&cq->lock, flags);
	mlx4_ib_cq_clean_srq(cq, ib->srqn);
	spin_unlock_irqrestore(&cq->lock, flags);
	mutex_unlock(&cq->resizing);
	list_del_init(&mlx4_ib_srq(ib)->xrc_node);
	mutex_unlock(&xrcd->lock);
}

void mlx4_ib_release_srq(struct ib_srq *ib)
{
	srq_free(mlx4_ib_dev_of(&ib->object), mlx4_ib_srq(ib));
}

int mlx4_ib_modify_srq(struct ib_srq *ib, const struct ib_srq_attr *attr, u32 mask,
		       struct ib_udata *udata)
{
	struct mlx4_call call = { .op = MLX4_ARM_SRQ, .in_mod = ib->srqn, .in_imm = attr->limit };

	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->limit > mlx4_ib_srq(ib)->wq.room)
		return -EINVAL;
	return mlx4_cmd(mlx4_ib_dev_of(&ib->object)->core, &call);
}

int mlx4_ib_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_call call = { .op = MLX4_QUERY_SRQ, .in_mod = ib->srqn };
	struct mlx4_ib_srq *srq = mlx4_ib_srq(ib);
	int err;

	call.out = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.out))
		return PTR_ERR(call.out);
	err = mlx4_cmd(dev->core, &call);
	if (!err) {
		attr->max_wr = srq->wq.room;
		attr->max_sge = srq->wq.max_sge;
		attr->limit = mlx4_get(call.out->buf, MLX4_SRQC_LIMIT);
	}
	mlx4_mailbox_free(dev->core, call.out);
	return err;
}

/* Under the lock.  The list keeps one entry, so that it always has an end. */
static int srq_post_one(struct mlx4_ib_srq *srq, const struct ib_recv_wr *wr)
{
	struct mlx4_ib_wq *wq = &srq->wq;
	u16 index = srq->free;

	if (wr->num_sge > (int)wq->max_sge)
		return -EINVAL;
	if (index == srq->last)
		return -ENOMEM;
	mlx4_ib_put_sges(mlx4_ib_wq_at(wq, index) + MLX4_WQE_SEG, wq, wr);
	wq->ids[index] = wr->wr_id;
	srq->free = link_get(srq, index);
	wq->head++;
	return 0;
}

int mlx4_ib_post_srq(struct ib_srq *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct mlx4_ib_srq *srq = mlx4_ib_srq(ib);
	struct mlx4_ib_wq *wq = &srq->wq;
	unsigned long flags;
	u32 head;
	int err;

	spin_lock_irqsave(&wq->lock, flags);
	head = wq->head;
	err = mlx4_ib_wq_refuses(wq);
	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		err = srq_post_one(srq, wr);
	}
	if (wq->head != head) {
		wmb(); /* the requests are in the ring before they are counted */
		WRITE_ONCE(*srq->record.at, cpu_to_be32(wq->head & U16_MAX));
	}
	spin_unlock_irqrestore(&wq->lock, flags);
	return err;
}

struct mlx4_ib_srq *mlx4_ib_srq_find(struct mlx4_ib_dev *dev, u32 srqn)
{
	return xa_load(&dev->srqs, srqn);
}

void mlx4_ib_srq_give_back(struct mlx4_ib_srq *srq, u16 index)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->wq.lock, flags);
	link_put(srq, srq->last, index);
	srq->last = index;
	spin_unlock_irqrestore(&srq->wq.lock, flags);
}

u64 mlx4_ib_srq_received(struct mlx4_ib_srq *srq, u16 index)
{
	u64 id;

	index &= srq->wq.count - 1;
	id = srq->wq.ids[index];
	mlx4_ib_srq_give_back(srq, index);
	return id;
}
