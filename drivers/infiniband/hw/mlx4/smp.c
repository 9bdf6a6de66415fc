// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions to the HCA's own subnet management agent.
 */
#include <linux/export.h>

#include "mad_layout.h"
#include "mlx4.h"

int mlx4_smp_get(struct mlx4_dev *dev, u32 port, u16 attribute, u32 modifier, void *data)
{
	struct mlx4_call call = {
		.op = MLX4_MAD_IFC,
		.op_mod = MLX4_MAD_IFC_NO_MKEY | MLX4_MAD_IFC_NO_BKEY,
		.in_mod = port,
	};
	int err;

	call.in = mlx4_mailbox_alloc(dev);
	call.out = mlx4_mailbox_alloc(dev);
	err = PTR_ERR_OR_ZERO(call.in) ?: PTR_ERR_OR_ZERO(call.out);
	if (err)
		goto out;
	mlx4_put(call.in->buf, MLX4_MAD_BASE_VERSION, 1);
	mlx4_put(call.in->buf, MLX4_MAD_CLASS, MLX4_CLASS_SMP);
	mlx4_put(call.in->buf, MLX4_MAD_CLASS_VERSION, 1);
	mlx4_put(call.in->buf, MLX4_MAD_METHOD, MLX4_METHOD_GET);
	mlx4_put(call.in->buf, MLX4_MAD_ATTRIBUTE, attribute);
	mlx4_put(call.in->buf, MLX4_MAD_MODIFIER, modifier);
	err = mlx4_cmd(dev, &call);
	if (!err && mlx4_get(call.out->buf, MLX4_MAD_STATUS))
		err = -EIO;
	if (!err)
		memcpy(data, call.out->buf + MLX4_SMP_DATA, MLX4_SMP_DATA_SIZE);
out:
	mlx4_mailbox_free(dev, call.out);
	mlx4_mailbox_free(dev, call.in);
	return err;
}
EXPORT_SYMBOL_GPL(mlx4_smp_get);
