// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of work requests, and how a request gets there.
 *
 * The hardware fetches a send queue in blocks of 64 bytes and may do so ahead of what was posted.
 * Whatever it finds in an entry that is not posted must look invalid: the first word of the entry
 * by its owner bit, which changes with each pass over the ring, the first word of every further
 * block by a stamp.  So a request is put together elsewhere and copied in an order that leaves the
 * first words to the end; and a few entries ahead of the head are stamped and never posted.
 */
#include <linux/slab.h>

#include "ib_qp.h"

int mlx4_ib_wq_init(struct mlx4_ib_wq *wq, struct mlx4_ib_buf *buf)
{
	spin_lock_init(&wq->lock);
	wq->buf = buf;
	wq->head = 0;
	wq->tail = 0;
	if (!wq->count)
		return 0;
	wq->ids = kvcalloc(wq->count, sizeof(*wq->ids), GFP_KERNEL);
	return wq->ids ? 0 : -ENOMEM;
}

void mlx4_ib_wq_destroy(struct mlx4_ib_wq *wq)
{
	kvfree(wq->ids);
	wq->ids = NULL;
}

void mlx4_ib_wq_close(struct mlx4_ib_wq *wq)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	wq->closed = true;
	spin_unlock_irqrestore(&wq->lock, flags);
}

static void stamp_blocks(u8 *entry, unsigned int from, unsigned int to)
{
	for (; from < to; from += MLX4_WQE_BLOCK)
		put_unaligned(cpu_to_be32(MLX4_WQE_STAMP), (__be32 *)(entry + from));
}

void mlx4_ib_sq_stamp(struct mlx4_ib_wq *sq)
{
	u32 i;

	for (i = 0; i < sq->count; i++)
		stamp_blocks(mlx4_ib_wq_at(sq, i), 0, 1u << sq->log_stride);
}

/* The entry that comes into the reach of what is fetched ahead. */
static void stamp_ahead(struct mlx4_ib_wq *sq)
{
	u8 *entry = mlx4_ib_wq_at(sq, sq->head + mlx4_ib_sq_spare(sq->log_stride));
	unsigned int bytes = mlx4_get(entry, MLX4_CTRL_SIZE) * MLX4_WQE_SEG;

	/* One that was never used has kept its stamps. */
	stamp_blocks(entry, MLX4_WQE_BLOCK, min(bytes, 1u << sq->log_stride));
}

void mlx4_ib_sq_commit(struct mlx4_ib_wq *sq, const u8 *wqe, unsigned int bytes)
{
	u8 *entry = mlx4_ib_wq_at(sq, sq->head);
	u32 owner = sq->head & sq->count ? BIT(31) : 0;
	unsigned int at;

	for (at = 0; at < bytes; at += MLX4_WQE_BLOCK)
		memcpy(entry + at + 4, wqe + at + 4,
		       min_t(unsigned int, bytes - at, MLX4_WQE_BLOCK) - 4);
	wmb(); /* a block is valid when its first word is */
	for (at = MLX4_WQE_BLOCK; at < bytes; at += MLX4_WQE_BLOCK)
		memcpy(entry + at, wqe + at, 4);
	wmb(); /* the request is when its own first word is */
	WRITE_ONCE(*(__be32 *)entry, *(const __be32 *)wqe | cpu_to_be32(owner));
	stamp_ahead(sq);
	sq->head++;
}

void mlx4_ib_put_sges(u8 *at, const struct mlx4_ib_wq *wq, const struct ib_recv_wr *wr)
{
	u32 segments = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		/* To the hardware a segment of no bytes is one of 2 GiB. */
		if (!wr->sg_list[i].length)
			continue;
		mlx4_put(at, MLX4_DATA_BYTES, wr->sg_list[i].length);
		mlx4_put(at, MLX4_DATA_LKEY, wr->sg_list[i].lkey);
		mlx4_put(at, MLX4_DATA_VA, wr->sg_list[i].addr);
		at += MLX4_WQE_SEG;
		segments++;
	}
	if (segments == wq->max_sge)
		return;
	mlx4_put(at, MLX4_DATA_BYTES, 0);
	mlx4_put(at, MLX4_DATA_LKEY, MLX4_INVALID_LKEY);
	mlx4_put(at, MLX4_DATA_VA, 0);
}
