// SPDX-License-Identifier: GPL-2.0-only
/*
 * DMA memory lent to the HCA, and the tables that are mapped with it on demand.
 *
 * A chunk stays allocated from the moment the firmware may have heard of it until either UNMAP has
 * succeeded or the hardware is quiet; a failed UNMAP leaves it to mlx4_icm_free().
 */
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "mlx4.h"

int mlx4_chunk_alloc(struct mlx4_dev *dev, struct mlx4_chunk *chunk, u32 pages)
{
	unsigned int order = MLX4_CHUNK_SHIFT - MLX4_PAGE_SHIFT, max = pages;
	u32 left = pages;

	chunk->runs = kvcalloc(max, sizeof(*chunk->runs), GFP_KERNEL);
	if (!chunk->runs)
		return -ENOMEM;
	chunk->pages = pages;
	while (left) {
		struct mlx4_run *run = &chunk->runs[chunk->count];
		gfp_t gfp = GFP_KERNEL;

		while (left < 1u << order)
			order--;
		if (order)
			gfp |= __GFP_NOWARN | __GFP_NORETRY;
		run->cpu = dma_alloc_coherent(dev->dev, (size_t)MLX4_PAGE << order, &run->dma, gfp);
		if (!run->cpu && order) {
			order--;
			continue;
		}
		if (!run->cpu) {
			mlx4_chunk_free(dev, chunk);
			return -ENOMEM;
		}
		run->order = order;
		chunk->count++;
		left -= 1u << order;
	}
	return 0;
}

void mlx4_chunk_free(struct mlx4_dev *dev, struct mlx4_chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < chunk->count; i++)
		dma_free_coherent(dev->dev, (size_t)MLX4_PAGE << chunk->runs[i].order,
				  chunk->runs[i].cpu, chunk->runs[i].dma);
	kvfree(chunk->runs);
	memset(chunk, 0, sizeof(*chunk));
}

int mlx4_chunk_map(struct mlx4_dev *dev, struct mlx4_chunk *chunk, enum mlx4_op op, u64 virt)
{
	struct mlx4_call call = { .op = op };
	unsigned int i = 0, n;
	int err = 0;

	call.in = mlx4_mailbox_alloc(dev);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	while (i < chunk->count && !err) {
		for (n = 0; n < MLX4_MAP_MAX && i < chunk->count; n++, i++) {
			void *entry = call.in->buf + n * MLX4_MAP_ENTRY;

			mlx4_put(entry, MLX4_MAP_VIRT, op == MLX4_MAP_ICM ? virt : 0);
			mlx4_put(entry, MLX4_MAP_PHYS, chunk->runs[i].dma | chunk->runs[i].order);
			virt += (u64)MLX4_PAGE << chunk->runs[i].order;
		}
		call.in_mod = n;
		chunk->mapped = true;
		err = mlx4_cmd(dev, &call);
	}
	mlx4_mailbox_free(dev, call.in);
	return err;
}

static unsigned int table_shift(const struct mlx4_table *table)
{
	u64 bytes = (u64)table->entry * table->count;

	return max_t(unsigned int, MLX4_PAGE_SHIFT,
		     min_t(unsigned int, MLX4_CHUNK_SHIFT, ilog2(bytes)));
}

static int chunk_up(struct mlx4_dev *dev, struct mlx4_table *table, unsigned int i)
{
	unsigned int shift = table_shift(table);
	struct mlx4_chunk *chunk = &table->chunks[i];
	int err;

	if (!chunk->runs) {
		err = mlx4_chunk_alloc(dev, chunk, 1u << (shift - MLX4_PAGE_SHIFT));
		if (err)
			return err;
	}
	return mlx4_chunk_map(dev, chunk, MLX4_MAP_ICM, table->virt + ((u64)i << shift));
}

/* The firmware no longer needs it; if it does not say so, the memory waits for the end. */
static void chunk_down(struct mlx4_dev *dev, struct mlx4_table *table, unsigned int i)
{
	struct mlx4_chunk *chunk = &table->chunks[i];
	struct mlx4_call call = {
		.op = MLX4_UNMAP_ICM,
		.in_imm = table->virt + ((u64)i << table_shift(table)),
		.in_mod = chunk->pages,
	};

	if (mlx4_cmd(dev, &call) || ib_hca_is_over(dev->hca))
		return;
	mlx4_chunk_free(dev, chunk);
}

int mlx4_icm_get(struct mlx4_dev *dev, enum mlx4_table_id id, u32 first, u32 count)
{
	struct mlx4_table *table = &dev->icm.tables[id];
	unsigned int shift, i, lo, hi;
	int err = 0;

	if (!count || first >= table->count || count > table->count - first)
		return -EINVAL;
	shift = table_shift(table);
	lo = (u64)first * table->entry >> shift;
	hi = ((u64)(first + count) * table->entry - 1) >> shift;

	guard(mutex)(&table->lock);
	for (i = lo; i <= hi; i++) {
		if (!table->chunks[i].users)
			err = chunk_up(dev, table, i);
		if (err)
			break;
		table->chunks[i].users++;
	}
	if (!err)
		return 0;
	if (table->chunks[i].mapped)
		chunk_down(dev, table, i);
	else
		mlx4_chunk_free(dev, &table->chunks[i]);
	while (i-- > lo)
		if (!--table->chunks[i].users)
			chunk_down(dev, table, i);
	return err;
}
EXPORT_SYMBOL_GPL(mlx4_icm_get);

void mlx4_icm_put(struct mlx4_dev *dev, enum mlx4_table_id id, u32 first, u32 count)
{
	struct mlx4_table *table = &dev->icm.tables[id];
	unsigned int shift = table_shift(table), i, hi;

	i = (u64)first * table->entry >> shift;
	hi = ((u64)(first + count) * table->entry - 1) >> shift;
	guard(mutex)(&table->lock);
	for (; i <= hi; i++)
		if (!WARN_ON_ONCE(!table->chunks[i].users) && !--table->chunks[i].users)
			chunk_down(dev, table, i);
}
EXPORT_SYMBOL_GPL(mlx4_icm_put);

void *mlx4_icm_entry(struct mlx4_dev *dev, enum mlx4_table_id id, u32 index)
{
	struct mlx4_table *table = &dev->icm.tables[id];
	u64 at = (u64)index * table->entry;
	unsigned int shift = table_shift(table), i;
	struct mlx4_chunk *chunk = &table->chunks[at >> shift];

	at &= BIT_ULL(shift) - 1;
	for (i = 0; i < chunk->count; i++) {
		size_t size = (size_t)MLX4_PAGE << chunk->runs[i].order;

		if (at < size)
			return chunk->runs[i].cpu + at;
		at -= size;
	}
	WARN_ON_ONCE(1);
	return NULL;
}
EXPORT_SYMBOL_GPL(mlx4_icm_entry);

/* The address space and the auxiliary memory that the firmware wants for managing it. */
int mlx4_icm_start(struct mlx4_dev *dev)
{
	struct mlx4_call call = { .op = MLX4_SET_ICM_SIZE, .in_imm = dev->icm.size };
	int err;

	err = mlx4_cmd(dev, &call);
	if (err)
		return err;
	if (!call.result || call.result > SZ_1G >> MLX4_PAGE_SHIFT) {
		dev_err(dev->dev, "the firmware wants %llu auxiliary pages\n", call.result);
		return -EIO;
	}
	err = mlx4_chunk_alloc(dev, &dev->aux, call.result);
	if (err)
		return err;
	return mlx4_chunk_map(dev, &dev->aux, MLX4_MAP_ICM_AUX, 0);
}

void mlx4_icm_stop(struct mlx4_dev *dev)
{
	struct mlx4_call call = { .op = MLX4_UNMAP_ICM_AUX };

	if (dev->aux.mapped)
		mlx4_cmd(dev, &call);
}

void mlx4_icm_aux_free(struct mlx4_dev *dev)
{
	mlx4_chunk_free(dev, &dev->aux);
}

/* What lies at the start of each table belongs to the firmware and is mapped for good. */
int mlx4_icm_reserve(struct mlx4_dev *dev)
{
	unsigned int id;
	int err;

	for (id = 0; id < MLX4_TABLES; id++) {
		struct mlx4_table *table = &dev->icm.tables[id];

		mutex_init(&table->lock);
		table->chunk_count = max_t(u64, 1, (u64)table->entry * table->count >>
						   table_shift(table));
		table->chunks = kvcalloc(table->chunk_count, sizeof(*table->chunks), GFP_KERNEL);
		if (!table->chunks)
			return -ENOMEM;
		if (!table->reserved)
			continue;
		err = mlx4_icm_get(dev, id, 0, table->reserved);
		if (err) {
			table->reserved = 0;
			return err;
		}
	}
	return 0;
}

void mlx4_icm_unreserve(struct mlx4_dev *dev)
{
	unsigned int id = MLX4_TABLES;

	while (id--) {
		struct mlx4_table *table = &dev->icm.tables[id];

		if (table->chunks && table->reserved)
			mlx4_icm_put(dev, id, 0, table->reserved);
	}
}

void mlx4_icm_free(struct mlx4_dev *dev)
{
	unsigned int id, i;

	for (id = 0; id < MLX4_TABLES; id++) {
		struct mlx4_table *table = &dev->icm.tables[id];

		for (i = 0; table->chunks && i < table->chunk_count; i++)
			mlx4_chunk_free(dev, &table->chunks[i]);
		kvfree(table->chunks);
		table->chunks = NULL;
	}
}
