// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that are a number, or not even that: protection domains, XRC domains, address handles.
 */
#include "mlx4_ib.h"

static int number(struct ida *ida, u32 first, u32 count, u32 *number)
{
	int n = ida_alloc_range(ida, first, count - 1, GFP_KERNEL);

	if (n < 0)
		return n;
	*number = n;
	return 0;
}

/*
 * The number of a PD stays taken as long as something in the hardware names it, which may be longer
 * than the PD lives: a region that the hardware did not give back would open memory of one PD to
 * the next one of its number.  So the table of numbers counts who names each, the PD first.
 */
int mlx4_ib_create_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&pd->object);
	const struct mlx4_caps *caps = &dev->core->caps;
	int err;

	if (udata)
		return -EOPNOTSUPP;
	err = xa_alloc_cyclic_irq(&dev->pdns, &mlx4_ib_pd(pd)->pdn, xa_mk_value(1),
				  XA_LIMIT(caps->reserved_pds, caps->pds - 1), &dev->next_pdn,
				  GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	return 0;
}

/* The slot is there, and a value needs no memory. */
static void pdn_count(struct mlx4_ib_dev *dev, u32 pdn, int more)
{
	unsigned long users;

	xa_lock_irq(&dev->pdns);
	users = xa_to_value(xa_load(&dev->pdns, pdn)) + more;
	if (users)
		__xa_store(&dev->pdns, pdn, xa_mk_value(users), GFP_ATOMIC);
	else
		__xa_erase(&dev->pdns, pdn);
	xa_unlock_irq(&dev->pdns);
}

void mlx4_ib_pdn_get(struct mlx4_ib_dev *dev, u32 pdn)
{
	pdn_count(dev, pdn, 1);
}

void mlx4_ib_pdn_put(struct mlx4_ib_dev *dev, u32 pdn)
{
	pdn_count(dev, pdn, -1);
}

void mlx4_ib_release_pd(struct ib_pd *pd)
{
	mlx4_ib_pdn_put(mlx4_ib_dev_of(&pd->object), mlx4_ib_pd(pd)->pdn);
}

int mlx4_ib_create_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	const struct mlx4_caps *caps = &dev->core->caps;
	struct mlx4_ib_xrcd *xrcd = mlx4_ib_xrcd(ib);
	int err;

	if (udata)
		return -EOPNOTSUPP;
	/* The first one that is not reserved means "none" in the context of an SRQ. */
	err = number(&dev->xrcdns, caps->reserved_xrcds + 1, caps->xrcds, &xrcd->xrcdn);
	if (err)
		return err;
	err = mlx4_ib_cq_make(dev, &xrcd->hidden, 1, 0);
	if (err)
		ida_free(&dev->xrcdns, xrcd->xrcdn);
	xrcd->cqn = xrcd->hidden.cqn;
	mutex_init(&xrcd->lock);
	INIT_LIST_HEAD(&xrcd->srqs);
	return err;
}

int mlx4_ib_destroy_xrcd(struct ib_xrcd *ib)
{
	return mlx4_ib_cq_take(mlx4_ib_dev_of(&ib->object), &mlx4_ib_xrcd(ib)->hidden);
}

void mlx4_ib_release_xrcd(struct ib_xrcd *ib)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_xrcd *xrcd = mlx4_ib_xrcd(ib);

	mlx4_ib_cq_unmake(dev, &xrcd->hidden);
	ida_free(&dev->xrcdns, xrcd->xrcdn);
}

/* The vector is packed once; a send copies it. */
int mlx4_ib_create_ah(struct ib_ah *ah)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ah->object);
	const struct ib_ah_attr *attr = &ah->attr;
	void *av = mlx4_ib_ah(ah)->av;

	if (!mlx4_port_is_ours(dev->core, attr->port))
		return -EINVAL;
	mlx4_put(av, MLX4_AV_PORT, attr->port);
	mlx4_put(av, MLX4_AV_PD, mlx4_ib_pd(ah->pd)->pdn);
	mlx4_put(av, MLX4_AV_PATH_BITS, attr->path_bits);
	mlx4_put(av, MLX4_AV_DLID, attr->dlid);
	mlx4_put(av, MLX4_AV_SL, attr->sl);
	mlx4_put(av, MLX4_AV_RATE, mlx4_ib_rate(dev, attr->port, attr->static_rate));
	if (!attr->has_grh)
		return 0;
	if (attr->grh.sgid_index > 0x7f)
		return -EINVAL;
	mlx4_put(av, MLX4_AV_GRH, 1);
	mlx4_put(av, MLX4_AV_GID_INDEX, attr->grh.sgid_index);
	mlx4_put(av, MLX4_AV_HOP_LIMIT, attr->grh.hop_limit);
	mlx4_put(av, MLX4_AV_TCLASS, attr->grh.traffic_class);
	mlx4_put(av, MLX4_AV_FLOW, attr->grh.flow_label & 0xfffff);
	memcpy(av + MLX4_AV_DGID, attr->grh.dgid.raw, sizeof(attr->grh.dgid));
	return 0;
}
