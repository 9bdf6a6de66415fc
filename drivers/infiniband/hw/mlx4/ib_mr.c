// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions, and what they share with windows: entries of the memory protection table.
 *
 * A key is the number of its entry and a byte that differs from one owner of the entry to the next,
 * so that a key which somebody has kept opens nothing.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "ib_qp.h"

static const enum mlx4_table_id mpt_tables[] = { MLX4_DMPT, MLX4_TABLES };

#define LIST_ALIGN	64	/* of the page list of a fast registration */

u32 mlx4_ib_access(u32 access)
{
	static const struct {
		u32 ib;
		u32 hw;
	} table[] = {
		{ IB_ACCESS_LOCAL_WRITE, MLX4_ACCESS_LOCAL_WRITE },
		{ IB_ACCESS_REMOTE_WRITE, MLX4_ACCESS_REMOTE_WRITE },
		{ IB_ACCESS_REMOTE_READ, MLX4_ACCESS_REMOTE_READ },
		{ IB_ACCESS_REMOTE_ATOMIC, MLX4_ACCESS_ATOMIC },
		{ IB_ACCESS_MW_BIND, MLX4_ACCESS_BIND },
	};
	u32 hw = MLX4_ACCESS_LOCAL_READ;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (access & table[i].ib)
			hw |= table[i].hw;
	return hw;
}

int mlx4_ib_mpt_take(struct mlx4_ib_dev *dev, struct ib_pd *pd, u32 *index, u32 *key)
{
	u32 pdn = mlx4_ib_pd(pd)->pdn;
	static atomic_t variant;
	int err;

	err = mlx4_ib_number_alloc(dev, &dev->mpts, &dev->next_mpt, mpt_tables,
				   dev->core->icm.tables[MLX4_DMPT].reserved, index);
	if (err)
		return err;
	mlx4_ib_number_publish(&dev->mpts, *index, xa_mk_value(pdn));
	mlx4_ib_pdn_get(dev, pdn);
	*key = *index << 8 | (atomic_inc_return(&variant) & 0xff);
	return 0;
}

/* The owner's PD may be gone by now. */
void mlx4_ib_mpt_give_back(struct mlx4_ib_dev *dev, u32 index)
{
	mlx4_ib_pdn_put(dev, xa_to_value(xa_load(&dev->mpts, index)));
	mlx4_ib_number_free(dev, &dev->mpts, mpt_tables, index);
}

/* The entry holds the key with its last byte in front. */
static u32 key_in_entry(u32 key)
{
	return ror32(key, 8);
}

/* Without an answer nothing is to be feared: nobody has got the key. */
int mlx4_ib_mpt_to_hardware(struct mlx4_ib_dev *dev, u32 index, struct mlx4_mailbox *entry)
{
	struct mlx4_call call = { .op = MLX4_SW2HW_MPT, .in_mod = index, .in = entry };

	return mlx4_cmd(dev->core, &call);
}

int mlx4_ib_mpt_to_software(struct mlx4_ib_dev *dev, u32 index)
{
	struct mlx4_call call = { .op = MLX4_HW2SW_MPT, .op_mod = 1, .in_mod = index };

	return mlx4_ib_closed(dev, &call);
}

void mlx4_ib_mpt_fill(void *entry, u32 key, u32 pdn, u32 status)
{
	mlx4_put(entry, MLX4_MPT_STATUS, status);
	mlx4_put(entry, MLX4_MPT_KEY, key_in_entry(key));
	mlx4_put(entry, MLX4_MPT_PD, pdn);
}

/* What is given back when nobody can use it any more. */
static void mr_free(struct mlx4_ib_dev *dev, struct mlx4_ib_mr *mr)
{
	if (mr->list)
		dma_free_coherent(dev->core->dev, mr->list_bytes, mr->list, mr->list_dma);
	if (mr->ib.max_pages)
		mlx4_mtt_free(dev->core, mr->mtt, mr->ib.max_pages);
	mlx4_ib_mpt_give_back(dev, mr->index);
}

static void put_region(struct mlx4_ib_dev *dev, const struct mlx4_ib_mr *mr, void *entry,
		       u32 access)
{
	mlx4_put(entry, MLX4_MPT_MIO, 1);
	mlx4_put(entry, MLX4_MPT_REGION, 1);
	mlx4_put(entry, MLX4_MPT_ACCESS, access);
	if (mr->ib.type == IB_MR_DMA) {
		mlx4_put(entry, MLX4_MPT_PHYSICAL, 1);
		mlx4_put(entry, MLX4_MPT_LENGTH, U64_MAX);
		return;
	}
	/* Not valid before a work request says so; that one brings range and rights. */
	mlx4_put(entry, MLX4_MPT_FAST_REG, 1);
	mlx4_put(entry, MLX4_MPT_RAE, 1);
	mlx4_put(entry, MLX4_MPT_INVALIDATE, 3);
	mlx4_put(entry, MLX4_MPT_MTT, mlx4_mtt_addr(dev->core, mr->mtt));
	mlx4_put(entry, MLX4_MPT_MTT_SIZE, mr->ib.max_pages);
}

static int mr_make(struct mlx4_ib_dev *dev, struct mlx4_ib_mr *mr, u32 access, u32 status)
{
	struct mlx4_mailbox *box;
	int err;

	box = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(box))
		return PTR_ERR(box);
	mlx4_ib_mpt_fill(box->buf, mr->ib.lkey, mlx4_ib_pd(mr->ib.pd)->pdn, status);
	put_region(dev, mr, box->buf, access);
	err = mlx4_ib_mpt_to_hardware(dev, mr->index, box);
	mlx4_mailbox_free(dev->core, box);
	mr->ib.rkey = mr->ib.lkey;
	return err;
}

int mlx4_ib_create_dma_mr(struct ib_mr *ib, u32 access)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_mr *mr = mlx4_ib_mr(ib);
	int err;

	err = mlx4_ib_mpt_take(dev, ib->pd, &mr->index, &ib->lkey);
	if (err)
		return err;
	err = mr_make(dev, mr, mlx4_ib_access(access), MLX4_MPT_SOFTWARE);
	if (err)
		mr_free(dev, mr);
	return err;
}

static int fast_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_mr *mr)
{
	int err;

	err = mlx4_mtt_alloc(dev->core, NULL, mr->ib.max_pages, &mr->mtt);
	if (err)
		return err;
	mr->list_bytes = round_up(mr->ib.max_pages * sizeof(*mr->list), LIST_ALIGN);
	mr->list = dma_alloc_coherent(dev->core->dev, mr->list_bytes, &mr->list_dma, GFP_KERNEL);
	if (mr->list)
		return 0;
	mlx4_mtt_free(dev->core, mr->mtt, mr->ib.max_pages);
	return -ENOMEM;
}

int mlx4_ib_create_fast_mr(struct ib_mr *ib)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_mr *mr = mlx4_ib_mr(ib);
	int err;

	err = mlx4_ib_mpt_take(dev, ib->pd, &mr->index, &ib->lkey);
	if (err)
		return err;
	err = fast_alloc(dev, mr);
	if (err) {
		mlx4_ib_mpt_give_back(dev, mr->index);
		return err;
	}
	err = mr_make(dev, mr, 0, MLX4_MPT_FREE);
	if (err)
		mr_free(dev, mr);
	return err;
}

int mlx4_ib_destroy_mr(struct ib_mr *ib)
{
	return mlx4_ib_mpt_to_software(mlx4_ib_dev_of(&ib->object), mlx4_ib_mr(ib)->index);
}

void mlx4_ib_release_mr(struct ib_mr *ib)
{
	mr_free(mlx4_ib_dev_of(&ib->object), mlx4_ib_mr(ib));
}
