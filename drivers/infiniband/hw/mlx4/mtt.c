// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of MTT entries: the page tables of everything the HCA finds by virtual offset.
 *
 * Which entries are free is known to a genalloc pool; a pool's address 0 would look like "none", so
 * the pool counts from MTT_BASE.
 */
#include <linux/export.h>
#include <linux/genalloc.h>

#include <ib/hca.h>

#include "mlx4.h"

#define MTT_BASE	BIT(31)

int mlx4_mtt_start(struct mlx4_dev *dev)
{
	struct mlx4_table *table = &dev->icm.tables[MLX4_MTT];
	int err;

	dev->mtts = gen_pool_create(0, NUMA_NO_NODE);
	if (!dev->mtts)
		return -ENOMEM;
	err = gen_pool_add(dev->mtts, MTT_BASE + table->reserved, table->count - table->reserved,
			   NUMA_NO_NODE);
	if (err) {
		gen_pool_destroy(dev->mtts);
		dev->mtts = NULL;
	}
	return err;
}

void mlx4_mtt_stop(struct mlx4_dev *dev)
{
	size_t used;

	if (!dev->mtts)
		return;
	used = gen_pool_size(dev->mtts) - gen_pool_avail(dev->mtts);
	if (used) {
		/* A pool with something out cannot be destroyed; its bitmap is all that is lost. */
		dev_err(dev->dev, "%zu MTT entries were not given back\n", used);
		dev->mtts = NULL;
		return;
	}
	gen_pool_destroy(dev->mtts);
	dev->mtts = NULL;
}

int mlx4_mtt_alloc(struct mlx4_dev *dev, const dma_addr_t *pages, u32 count, u32 *first)
{
	unsigned long at;
	u32 i;
	int err;

	at = gen_pool_alloc(dev->mtts, count);
	if (!at)
		return -ENOMEM;
	*first = at - MTT_BASE;
	err = mlx4_icm_get(dev, MLX4_MTT, *first, count);
	if (err) {
		gen_pool_free(dev->mtts, at, count);
		return err;
	}
	for (i = 0; pages && i < count; i++)
		put_unaligned_be64(pages[i] | MLX4_MTT_PRESENT,
				   mlx4_icm_entry(dev, MLX4_MTT, *first + i));
	return 0;
}
EXPORT_SYMBOL_GPL(mlx4_mtt_alloc);

void mlx4_mtt_free(struct mlx4_dev *dev, u32 first, u32 count)
{
	mlx4_icm_put(dev, MLX4_MTT, first, count);
	gen_pool_free(dev->mtts, MTT_BASE + first, count);
}
EXPORT_SYMBOL_GPL(mlx4_mtt_free);

void mlx4_mtt_forget(struct mlx4_dev *dev, u32 first, u32 count)
{
	gen_pool_free(dev->mtts, MTT_BASE + first, count);
}

u64 mlx4_mtt_addr(struct mlx4_dev *dev, u32 index)
{
	return (u64)index * dev->icm.tables[MLX4_MTT].entry;
}
EXPORT_SYMBOL_GPL(mlx4_mtt_addr);
