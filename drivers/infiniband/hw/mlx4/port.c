// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ports, as far as the function's driver is concerned: InfiniBand, and with which limits.
 */
#include <linux/moduleparam.h>

#include "mlx4.h"

#define SMP_CLASS		0x01	/* subnet management, LID routed */
#define SMP_GET			0x01
#define ATTR_PORT_INFO		0x15

enum { PORT_NONE, PORT_IB, PORT_ETH };

static int port_type_array[MLX4_MAX_PORTS] = { PORT_IB, PORT_IB };
static int port_types;
module_param_array(port_type_array, int, &port_types, 0444);
MODULE_PARM_DESC(port_type_array, "type of each port: 1 InfiniBand (default); other types are left alone");

/* Which capability mask does the port have?  The firmware wants it repeated. */
static int port_cap_mask(struct mlx4_dev *dev, u32 port, u32 *mask)
{
	struct mlx4_call call = {
		.op = MLX4_MAD_IFC,
		.op_mod = MLX4_MAD_IFC_LOCAL,
		.in_mod = port,
	};
	int err;

	call.in = mlx4_mailbox_alloc(dev);
	call.out = mlx4_mailbox_alloc(dev);
	err = PTR_ERR_OR_ZERO(call.in) ?: PTR_ERR_OR_ZERO(call.out);
	if (err)
		goto out;
	mlx4_put(call.in->buf, MLX4_MAD_BASE_VERSION, 1);
	mlx4_put(call.in->buf, MLX4_MAD_CLASS, SMP_CLASS);
	mlx4_put(call.in->buf, MLX4_MAD_CLASS_VERSION, 1);
	mlx4_put(call.in->buf, MLX4_MAD_METHOD, SMP_GET);
	mlx4_put(call.in->buf, MLX4_MAD_ATTRIBUTE, ATTR_PORT_INFO);
	mlx4_put(call.in->buf, MLX4_MAD_MODIFIER, port);
	err = mlx4_cmd(dev, &call);
	if (err)
		goto out;
	if (mlx4_get(call.out->buf, MLX4_MAD_STATUS))
		err = -EIO;
	*mask = mlx4_get(call.out->buf, MLX4_PORTINFO_CAP_MASK);
out:
	mlx4_mailbox_free(dev, call.out);
	mlx4_mailbox_free(dev, call.in);
	return err;
}

/* As many virtual lanes as the port can have at its largest MTU: ask for fewer until it agrees. */
static int port_set(struct mlx4_dev *dev, u32 port, u32 cap_mask)
{
	struct mlx4_call call = { .op = MLX4_SET_PORT, .in_mod = port };
	unsigned int vls;
	int err = -EINVAL;

	call.in = mlx4_mailbox_alloc(dev);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	mlx4_put(call.in->buf, MLX4_SETP_CAP_MASK, cap_mask);
	mlx4_put(call.in->buf, MLX4_SETP_CHANGE_MTU, 1);
	mlx4_put(call.in->buf, MLX4_SETP_CHANGE_VL, 1);
	mlx4_put(call.in->buf, MLX4_SETP_MTU, dev->caps.mtu[port]);
	for (vls = 8; vls; vls /= 2) {
		mlx4_put(call.in->buf, MLX4_SETP_VLS, vls);
		err = mlx4_cmd(dev, &call);
		if (err != -ENOMEM)
			break;
	}
	mlx4_mailbox_free(dev, call.in);
	return err;
}

static bool port_is_ours(struct mlx4_dev *dev, u32 port)
{
	return port_type_array[port - 1] == PORT_IB &&
	       dev->caps.port_type[port] & MLX4_PORT_TYPE_IB;
}

int mlx4_ports_start(struct mlx4_dev *dev)
{
	u32 port, mask, ours = 0;
	int err;

	for (port = 1; port <= dev->caps.ports; port++) {
		if (!port_is_ours(dev, port)) {
			dev_info(dev->dev, "port %u is no InfiniBand port and is left alone\n",
				 port);
			continue;
		}
		ours++;
		err = port_cap_mask(dev, port, &mask);
		if (!err)
			err = port_set(dev, port, mask);
		if (err) {
			dev_err(dev->dev, "cannot set up port %u: %d\n", port, err);
			return err;
		}
	}
	return ours ? 0 : -ENODEV;
}

void mlx4_ports_stop(struct mlx4_dev *dev)
{
	struct mlx4_call call = { .op = MLX4_CLOSE_PORT };
	u32 port;

	for (port = 1; port <= dev->caps.ports; port++) {
		if (!port_is_ours(dev, port))
			continue;
		call.in_mod = port;
		mlx4_cmd(dev, &call);
	}
}
