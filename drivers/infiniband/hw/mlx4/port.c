// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ports, as far as the function's driver is concerned: InfiniBand, and with which limits.
 */
#include <linux/export.h>
#include <linux/moduleparam.h>

#include "mad_layout.h"
#include "mlx4.h"

enum { PORT_NONE, PORT_IB, PORT_ETH };

static int port_type_array[MLX4_MAX_PORTS] = { PORT_IB, PORT_IB };
static int port_types;
module_param_array(port_type_array, int, &port_types, 0444);
MODULE_PARM_DESC(port_type_array, "type of each port: 1 InfiniBand (default); other types are left alone");

/* Which capability mask does the port have?  The firmware wants it repeated. */
static int port_cap_mask(struct mlx4_dev *dev, u32 port, u32 *mask)
{
	u8 info[MLX4_SMP_DATA_SIZE];
	int err;

	err = mlx4_smp_get(dev, port, MLX4_ATTR_PORT_INFO, port, info);
	if (!err)
		*mask = mlx4_get(info, MLX4_PI_CAP_MASK);
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

bool mlx4_port_is_ours(const struct mlx4_dev *dev, u32 port)
{
	return port_type_array[port - 1] == PORT_IB &&
	       dev->caps.port_type[port] & MLX4_PORT_TYPE_IB;
}
EXPORT_SYMBOL_GPL(mlx4_port_is_ours);

int mlx4_ports_start(struct mlx4_dev *dev)
{
	u32 port, mask, ours = 0;
	int err;

	for (port = 1; port <= dev->caps.ports; port++) {
		if (!mlx4_port_is_ours(dev, port)) {
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
		if (!mlx4_port_is_ours(dev, port))
			continue;
		call.in_mod = port;
		mlx4_cmd(dev, &call);
	}
}
