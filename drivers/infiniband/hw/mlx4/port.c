// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ports, as far as the function's driver is concerned: InfiniBand, and with which limits.
 */
#include <linux/export.h>
#include <linux/moduleparam.h>

#include <ib/hca.h>

#include "mad_layout.h"
#include "mlx4.h"

enum { PORT_DEFAULT, PORT_IB, PORT_ETH };

static int port_type_array[MLX4_MAX_PORTS] = { PORT_IB, PORT_IB };
static int port_types;
module_param_array(port_type_array, int, &port_types, 0444);
MODULE_PARM_DESC(port_type_array, "type of each port: 0 or 1 InfiniBand (default), 2 Ethernet (the port is left alone)");

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
static int port_set(struct mlx4_dev *dev, u32 port, u32 cap_mask, bool *refused)
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
	*refused = err && call.status;
	mlx4_mailbox_free(dev, call.in);
	return err;
}

bool mlx4_port_is_ours(const struct mlx4_dev *dev, u32 port)
{
	return dev->ib_ports & BIT(port);
}
EXPORT_SYMBOL_GPL(mlx4_port_is_ours);

/* SET_PORT of the InfiniBand kind is also what makes a port of both kinds an InfiniBand port. */
static int port_start(struct mlx4_dev *dev, u32 port)
{
	bool ethernet = dev->caps.port_eth[port], refused = false;
	u32 mask = 0;
	int err;

	err = port_cap_mask(dev, port, &mask);
	/* As an Ethernet port it may have no agent that could be asked. */
	if (err && ethernet && !ib_hca_is_over(dev->hca))
		err = 0;
	if (!err)
		err = port_set(dev, port, mask, &refused);
	if (refused && ethernet) {
		dev_warn(dev->dev,
			 "port %u comes up as Ethernet, cannot be set to InfiniBand (%d) and is left alone\n",
			 port, err);
		return 0;
	}
	if (err) {
		dev_err(dev->dev, "cannot set up port %u: %d\n", port, err);
		return err;
	}
	if (ethernet)
		dev_info(dev->dev, "port %u came up as Ethernet and is set to InfiniBand\n", port);
	dev->ib_ports |= BIT(port);
	return 0;
}

int mlx4_ports_start(struct mlx4_dev *dev)
{
	u32 port;
	int err;

	dev->ib_ports = 0;
	for (port = 1; port <= dev->caps.ports; port++) {
		if (port_type_array[port - 1] == PORT_ETH ||
		    !(dev->caps.port_type[port] & MLX4_PORT_TYPE_IB)) {
			dev_info(dev->dev, "port %u is an Ethernet port and is left alone\n", port);
			continue;
		}
		err = port_start(dev, port);
		if (err)
			return err;
	}
	if (dev->ib_ports)
		return 0;
	dev_err(dev->dev, "no port is an InfiniBand port\n");
	return -ENODEV;
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
