/* SPDX-License-Identifier: GPL-2.0-only */
/* See bare.h. */
#include <linux/slab.h>
#include <linux/xarray.h>

#include "bare_mailbox.h"

u64 mlx4_mtt_addr(struct mlx4_dev *dev, u32 index)
{
	return index * 8ULL;
}

u32 mlx4_comp_eqn(const struct mlx4_dev *dev, u32 vector)
{
	return vector;
}

int mlx4_icm_get(struct mlx4_dev *dev, enum mlx4_table_id id, u32 index, u32 count)
{
	return 0;
}

void mlx4_icm_put(struct mlx4_dev *dev, enum mlx4_table_id id, u32 index, u32 count)
{
}

static void *bare_ring; /* the memory of the buffer that was made last */

/* One piece. */
int mlx4_ib_buf_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf, size_t size)
{
	memset(buf, 0, sizeof(*buf));
	buf->pieces = kzalloc(sizeof(*buf->pieces), GFP_KERNEL);
	if (!buf->pieces)
		return -ENOMEM;
	buf->pieces->cpu = kzalloc(size, GFP_KERNEL);
	if (!buf->pieces->cpu) {
		kfree(buf->pieces);
		buf->pieces = NULL;
		return -ENOMEM;
	}
	buf->count = 1;
	buf->shift = 31;
	bare_ring = buf->pieces->cpu;
	return 0;
}

void mlx4_ib_buf_free(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf)
{
	if (buf->pieces)
		kfree(buf->pieces->cpu);
	kfree(buf->pieces);
	memset(buf, 0, sizeof(*buf));
}

int mlx4_ib_record_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record)
{
	record->at = kzalloc(2 * sizeof(*record->at), GFP_KERNEL);
	return record->at ? 0 : -ENOMEM;
}

void mlx4_ib_record_free(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record)
{
	kfree(record->at);
	record->at = NULL;
}

void mlx4_ib_buf_end(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf,
		     struct mlx4_ib_record *record, bool unanswered)
{
	mlx4_ib_buf_free(dev, buf);
	if (record)
		mlx4_ib_record_free(dev, record);
}

int mlx4_ib_number_alloc(struct mlx4_ib_dev *dev, struct xarray *table, u32 *next,
			 const enum mlx4_table_id *icm, u32 first, u32 *number)
{
	int err = xa_alloc_cyclic_irq(table, number, NULL, XA_LIMIT(max(first, 1u), 1023), next,
				      GFP_KERNEL);

	return min(err, 0);
}

void mlx4_ib_number_free(struct mlx4_ib_dev *dev, struct xarray *table,
			 const enum mlx4_table_id *icm, u32 number)
{
	xa_erase_irq(table, number);
}

void mlx4_ib_number_publish(struct xarray *table, u32 number, void *object)
{
	xa_store_irq(table, number, object, GFP_KERNEL);
}

void mlx4_ib_number_hide(struct xarray *table, u32 number)
{
	xa_store_irq(table, number, NULL, GFP_KERNEL);
}
