// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows (IBA 10.6.7): keys that a work request binds to a part of a region.
 *
 * Type 1 is there to be bound again and again; type 2 belongs to a QP while it is bound, and can be
 * invalidated like a fast registration.
 */
#include "ib_qp.h"

int mlx4_ib_create_mw(struct ib_mw *ib, struct ib_udata *udata)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_mw *mw = mlx4_ib_mw(ib);
	bool type2 = ib->type == 2;
	struct mlx4_mailbox *box;
	int err;

	if (udata)
		return -EOPNOTSUPP;
	box = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(box))
		return PTR_ERR(box);
	err = mlx4_ib_mpt_take(dev, ib->pd, &mw->index, &ib->rkey);
	if (err)
		goto free_box;
	mlx4_ib_mpt_fill(box->buf, ib->rkey, mlx4_ib_pd(ib->pd)->pdn,
			 type2 ? MLX4_MPT_FREE : MLX4_MPT_SOFTWARE);
	/* Type 2 is bound to a QP too, and can be invalidated. */
	mlx4_put(box->buf, MLX4_MPT_BOUND_TO_QP, type2);
	mlx4_put(box->buf, MLX4_MPT_INVALIDATE, type2 ? 3 : 0);
	err = mlx4_ib_mpt_to_hardware(dev, mw->index, box);
	if (err)
		mlx4_ib_mpt_give_back(dev, mw->index);
free_box:
	mlx4_mailbox_free(dev->core, box);
	return err;
}

int mlx4_ib_destroy_mw(struct ib_mw *ib)
{
	return mlx4_ib_mpt_to_software(mlx4_ib_dev_of(&ib->object), mlx4_ib_mw(ib)->index);
}

void mlx4_ib_release_mw(struct ib_mw *ib)
{
	mlx4_ib_mpt_give_back(mlx4_ib_dev_of(&ib->object), mlx4_ib_mw(ib)->index);
}
