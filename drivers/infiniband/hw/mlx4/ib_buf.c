// SPDX-License-Identifier: GPL-2.0-only
/*
 * What every object of the hardware needs: a number with its contexts, a ring, a doorbell record.
 */
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/slab.h>

#include "mlx4_ib.h"

/* Bytes that one record takes: what two processors write does not share a cache line. */
#define RECORD_SIZE	64

/**
 * struct mlx4_ib_kept - memory that the HCA may still write to, though no object has it any more
 * @node: in &mlx4_ib_dev.kept
 * @buf: a ring
 * @record: its doorbell record
 */
struct mlx4_ib_kept {
	struct list_head node;
	struct mlx4_ib_buf buf;
	struct mlx4_ib_record record;
};

static void pieces_free(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf)
{
	while (buf->count) {
		struct mlx4_ib_piece *piece = &buf->pieces[--buf->count];

		dma_free_coherent(dev->core->dev, BIT(buf->shift), piece->cpu, piece->dma);
	}
	kvfree(buf->pieces);
	memset(buf, 0, sizeof(*buf));
}

/* Memory in pieces of one size. */
static int pieces_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf, size_t size, gfp_t gfp)
{
	unsigned int want = DIV_ROUND_UP(size, BIT(buf->shift));

	buf->pieces = kvcalloc(want, sizeof(*buf->pieces), GFP_KERNEL);
	if (!buf->pieces)
		return -ENOMEM;
	while (buf->count < want) {
		struct mlx4_ib_piece *piece = &buf->pieces[buf->count];

		piece->cpu = dma_alloc_coherent(dev->core->dev, BIT(buf->shift), &piece->dma, gfp);
		if (!piece->cpu) {
			unsigned int shift = buf->shift;

			pieces_free(dev, buf);
			buf->shift = shift;
			return -ENOMEM;
		}
		buf->count++;
	}
	return 0;
}

/* The page table: entries of 4 KiB, whatever the pieces are. */
static int pages_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf)
{
	unsigned int per_piece = buf->shift - MLX4_PAGE_SHIFT;
	dma_addr_t *list;
	u32 i;
	int err;

	buf->pages = buf->count << per_piece;
	list = kvmalloc_array(buf->pages, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	for (i = 0; i < buf->pages; i++)
		list[i] = buf->pieces[i >> per_piece].dma +
			  ((dma_addr_t)(i & (BIT(per_piece) - 1)) << MLX4_PAGE_SHIFT);
	err = mlx4_mtt_alloc(dev->core, list, buf->pages, &buf->mtt);
	kvfree(list);
	return err;
}

int mlx4_ib_buf_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf, size_t size)
{
	int err = -ENOMEM;

	memset(buf, 0, sizeof(*buf));
	buf->shift = max_t(unsigned int, PAGE_SHIFT, order_base_2(size));
	while (err && buf->shift > PAGE_SHIFT) {
		err = pieces_alloc(dev, buf, size, GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
		if (err)
			buf->shift--;
	}
	if (err)
		err = pieces_alloc(dev, buf, size, GFP_KERNEL);
	if (err)
		return err;
	err = pages_alloc(dev, buf);
	if (err)
		pieces_free(dev, buf);
	return err;
}

void mlx4_ib_buf_free(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf)
{
	if (!buf->pieces)
		return;
	mlx4_mtt_free(dev->core, buf->mtt, buf->pages);
	pieces_free(dev, buf);
}

int mlx4_ib_record_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record)
{
	record->at = dma_pool_zalloc(dev->records, GFP_KERNEL, &record->dma);
	return record->at ? 0 : -ENOMEM;
}

void mlx4_ib_record_free(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record)
{
	if (record->at)
		dma_pool_free(dev->records, record->at, record->dma);
	record->at = NULL;
}

void mlx4_ib_buf_end(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf,
		     struct mlx4_ib_record *record, bool unanswered)
{
	struct mlx4_ib_kept *kept;

	if (!unanswered) {
		mlx4_ib_buf_free(dev, buf);
		if (record)
			mlx4_ib_record_free(dev, record);
		return;
	}
	/* Without memory to remember it by it is lost, which is better than written to. */
	kept = kzalloc(sizeof(*kept), GFP_KERNEL);
	if (!kept)
		return;
	kept->buf = *buf;
	memset(buf, 0, sizeof(*buf));
	if (record) {
		kept->record = *record;
		record->at = NULL;
	}
	spin_lock_irq(&dev->kept_lock);
	list_add(&kept->node, &dev->kept);
	spin_unlock_irq(&dev->kept_lock);
}

int mlx4_ib_memory_init(struct mlx4_ib_dev *dev)
{
	spin_lock_init(&dev->kept_lock);
	INIT_LIST_HEAD(&dev->kept);
	dev->records = dma_pool_create("mlx4_record", dev->core->dev, RECORD_SIZE, RECORD_SIZE, 0);
	return dev->records ? 0 : -ENOMEM;
}

void mlx4_ib_memory_destroy(struct mlx4_ib_dev *dev, bool quiet)
{
	struct mlx4_ib_kept *kept, *next;

	/* Objects that the hardware has not forgotten keep their records, and so the pool. */
	if (!quiet)
		return;
	list_for_each_entry_safe(kept, next, &dev->kept, node) {
		list_del(&kept->node);
		mlx4_ib_buf_free(dev, &kept->buf);
		mlx4_ib_record_free(dev, &kept->record);
		kfree(kept);
	}
	dma_pool_destroy(dev->records);
}

int mlx4_ib_number_alloc(struct mlx4_ib_dev *dev, struct xarray *table, u32 *next,
			 const enum mlx4_table_id *icm, u32 first, u32 *number)
{
	u32 last = dev->core->icm.tables[icm[0]].count - 1;
	unsigned int i;
	int err;

	err = xa_alloc_cyclic_irq(table, number, NULL, XA_LIMIT(first, last), next, GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	for (i = 0, err = 0; icm[i] != MLX4_TABLES && !err; i++)
		err = mlx4_icm_get(dev->core, icm[i], *number, 1);
	if (!err)
		return 0;
	for (i--; i--;)
		mlx4_icm_put(dev->core, icm[i], *number, 1);
	xa_erase_irq(table, *number);
	return err;
}

void mlx4_ib_number_free(struct mlx4_ib_dev *dev, struct xarray *table,
			 const enum mlx4_table_id *icm, u32 number)
{
	unsigned int i;

	for (i = 0; icm[i] != MLX4_TABLES; i++)
		mlx4_icm_put(dev->core, icm[i], number, 1);
	xa_erase_irq(table, number);
}

void mlx4_ib_number_publish(struct xarray *table, u32 number, void *object)
{
	/* The slot is reserved, so this needs no memory. */
	xa_store_irq(table, number, object, GFP_KERNEL);
}

void mlx4_ib_number_hide(struct xarray *table, u32 number)
{
	xa_store_irq(table, number, NULL, GFP_KERNEL);
}
