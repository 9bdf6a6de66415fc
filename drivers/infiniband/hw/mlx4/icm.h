/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the HCA borrows from the host: the firmware area and the tables of the ICM (its
 * virtual address space for contexts), mapped on demand and given back.
 */
#ifndef MLX4_ICM_H
#define MLX4_ICM_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "cmd.h"

struct mlx4_dev;

#define MLX4_PAGE_SHIFT		12
#define MLX4_PAGE		BIT(MLX4_PAGE_SHIFT)
#define MLX4_CHUNK_SHIFT	18	/* a table is mapped in pieces of 256 KiB */

/**
 * struct mlx4_run - DMA memory in one piece
 * @cpu: where the host sees it
 * @dma: where the HCA sees it
 * @order: log2 of its pages of 4 KiB
 */
struct mlx4_run {
	void *cpu;
	dma_addr_t dma;
	unsigned int order;
};

/**
 * struct mlx4_chunk - DMA memory in as few pieces as there were
 * @runs: the pieces, largest first; NULL: none
 * @count: how many
 * @pages: pages of 4 KiB in all
 * @mapped: the firmware has been told
 * @users: references of mlx4_icm_get()
 */
struct mlx4_chunk {
	struct mlx4_run *runs;
	unsigned int count;
	u32 pages;
	bool mapped;
	unsigned int users;
};

/* The tables, in the order of their names in the hardware's interface. */
enum mlx4_table_id {
	MLX4_QPC, MLX4_AUXC, MLX4_ALTC, MLX4_RDMARC, MLX4_SRQC, MLX4_CQC, MLX4_EQC, MLX4_DMPT,
	MLX4_CMPT_QP, MLX4_CMPT_SRQ, MLX4_CMPT_CQ, MLX4_CMPT_EQ, MLX4_MTT, MLX4_MCG,
	MLX4_TABLES,
};

/**
 * struct mlx4_table - one table in the ICM
 * @virt: its address there
 * @entry: bytes of an entry, a power of two
 * @count: entries, a power of two
 * @reserved: the first ones, which stay mapped from start to stop
 * @lock: protects @chunks and their reference counts; held across commands
 * @chunks: pieces of 256 KiB (or of the whole table if it is smaller)
 * @chunk_count: how many there could be
 */
struct mlx4_table {
	u64 virt;
	u32 entry;
	u32 count;
	u32 reserved;
	struct mutex lock; /* chunks and their users */
	struct mlx4_chunk *chunks;
	unsigned int chunk_count;
};

/**
 * struct mlx4_icm - all of it
 * @size: bytes of address space that the firmware is told of
 * @mcg_hash: entries of the multicast table that are found by hash
 * @tables: the tables
 */
struct mlx4_icm {
	u64 size;
	u32 mcg_hash;
	struct mlx4_table tables[MLX4_TABLES];
};

/**
 * mlx4_chunk_alloc() - allocate DMA memory, zeroed
 * @dev: the HCA
 * @chunk: filled in
 * @pages: pages of 4 KiB wanted
 *
 * Return: 0 or -ENOMEM.
 */
int mlx4_chunk_alloc(struct mlx4_dev *dev, struct mlx4_chunk *chunk, u32 pages);

/**
 * mlx4_chunk_free() - free it
 * @dev: the HCA, which no longer knows it
 * @chunk: may be empty
 */
void mlx4_chunk_free(struct mlx4_dev *dev, struct mlx4_chunk *chunk);

/**
 * mlx4_chunk_map() - tell the firmware of DMA memory
 * @dev: the HCA
 * @chunk: the memory
 * @op: MAP_FA, MAP_ICM or MAP_ICM_AUX
 * @virt: where in the ICM; unused otherwise
 *
 * Return: 0 or what mlx4_cmd() says.  After an error part of it may be mapped.
 */
int mlx4_chunk_map(struct mlx4_dev *dev, struct mlx4_chunk *chunk, enum mlx4_op op, u64 virt);

/**
 * mlx4_icm_layout() - decide which tables there are and where
 * @dev: the HCA
 * @cap: what QUERY_DEV_CAP gave
 *
 * Return: 0; -ENOSPC: it does not fit; -EIO: sizes that make no sense.
 */
int mlx4_icm_layout(struct mlx4_dev *dev, const void *cap);

int mlx4_icm_start(struct mlx4_dev *dev);
void mlx4_icm_stop(struct mlx4_dev *dev);
void mlx4_icm_aux_free(struct mlx4_dev *dev);
void mlx4_icm_free(struct mlx4_dev *dev);
int mlx4_icm_reserve(struct mlx4_dev *dev);
void mlx4_icm_unreserve(struct mlx4_dev *dev);

/**
 * mlx4_icm_get() - make sure that entries of a table are backed by memory
 * @dev: the HCA
 * @id: the table
 * @first: first entry
 * @count: how many
 *
 * Context: may sleep, sends commands.
 * Return: 0, -EINVAL: out of the table, -ENOMEM, or what mlx4_cmd() says.
 */
int mlx4_icm_get(struct mlx4_dev *dev, enum mlx4_table_id id, u32 first, u32 count);

/**
 * mlx4_icm_put() - they are not needed any more
 * @dev: the HCA
 * @id: the table
 * @first: first entry
 * @count: as in mlx4_icm_get()
 */
void mlx4_icm_put(struct mlx4_dev *dev, enum mlx4_table_id id, u32 first, u32 count);

/**
 * mlx4_icm_entry() - where the host sees an entry
 * @dev: the HCA
 * @id: the table
 * @index: an entry that mlx4_icm_get() has backed
 *
 * Return: its address.  Entries of a page are contiguous.
 */
void *mlx4_icm_entry(struct mlx4_dev *dev, enum mlx4_table_id id, u32 index);

/**
 * mlx4_mtt_alloc() - allocate and fill a run of MTT entries
 * @dev: the HCA
 * @pages: bus addresses, aligned to their page size; NULL: who uses the entries fills them
 * @count: how many
 * @first: the first entry; filled in
 *
 * Return: 0 or a negative errno.
 */
int mlx4_mtt_alloc(struct mlx4_dev *dev, const dma_addr_t *pages, u32 count, u32 *first);

/**
 * mlx4_mtt_free() - free it
 * @dev: the HCA
 * @first: the first entry
 * @count: as in mlx4_mtt_alloc()
 */
void mlx4_mtt_free(struct mlx4_dev *dev, u32 first, u32 count);

/**
 * mlx4_mtt_forget() - give back the numbers only, in a stop: the HCA may still look at the entries
 * @dev: the HCA; allocates no entries any more before its next start
 * @first: as for mlx4_mtt_free()
 * @count: the same
 */
void mlx4_mtt_forget(struct mlx4_dev *dev, u32 first, u32 count);

/**
 * mlx4_mtt_addr() - how contexts name an MTT entry
 * @dev: the HCA
 * @index: the entry
 *
 * Return: byte offset from the base of the table.
 */
u64 mlx4_mtt_addr(struct mlx4_dev *dev, u32 index);

int mlx4_mtt_start(struct mlx4_dev *dev);
void mlx4_mtt_stop(struct mlx4_dev *dev);

#endif /* MLX4_ICM_H */
