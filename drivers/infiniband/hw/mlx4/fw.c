// SPDX-License-Identifier: GPL-2.0-only
/*
 * The firmware: the memory it runs in, starting it, and asking what the HCA is.
 */
#include <linux/pci.h>

#include <ib/hca.h>

#include "mlx4.h"

#define CMD_REV_MIN	2
#define CMD_REV_MAX	3
#define MAX_PDS		BIT(15)	/* a memory region has room for 17 bits; so many are plenty */
#define MAX_LOG_CQ_SIZE	22
#define MIN_RSVD_UARS	128	/* the first pages hold the doorbells of the event queues */

/* Run a query and hand its output to a function. */
static int query(struct mlx4_dev *dev, enum mlx4_op op, u32 in_mod,
		 int (*read)(struct mlx4_dev *dev, const void *out, u32 in_mod))
{
	struct mlx4_call call = { .op = op, .in_mod = in_mod };
	int err;

	call.out = mlx4_mailbox_alloc(dev);
	if (IS_ERR(call.out))
		return PTR_ERR(call.out);
	err = mlx4_cmd(dev, &call);
	if (err)
		dev_err(dev->dev, "%s failed: %d\n", mlx4_cmd_name(op), err);
	else
		err = read(dev, call.out->buf, in_mod);
	mlx4_mailbox_free(dev, call.out);
	return err;
}

static int read_fw(struct mlx4_dev *dev, const void *out, u32 unused)
{
	struct mlx4_caps *caps = &dev->caps;

	caps->fw_ver = mlx4_get(out, MLX4_FW_MAJOR) << 32 | mlx4_get(out, MLX4_FW_MINOR) << 16 |
		       mlx4_get(out, MLX4_FW_SUBMINOR);
	caps->fw_pages = mlx4_get(out, MLX4_FW_PAGES);
	caps->cmd_rev = mlx4_get(out, MLX4_FW_CMD_REV);
	caps->clr_int = mlx4_get(out, MLX4_FW_CLR_INT);
	caps->clr_int_bar = mlx4_get(out, MLX4_FW_CLR_INT_BAR) * 2;
	caps->err_buf = mlx4_get(out, MLX4_FW_ERR_BUF);
	caps->err_bar = mlx4_get(out, MLX4_FW_ERR_BAR) * 2;
	caps->err_words = mlx4_get(out, MLX4_FW_ERR_WORDS);
	dev->cmd.slot_count = min_t(u64, MLX4_CMD_SLOTS, 1ull << mlx4_get(out, MLX4_FW_LOG_CMDS));
	sema_init(&dev->cmd.limit, dev->cmd.slot_count);

	if (caps->cmd_rev < CMD_REV_MIN || caps->cmd_rev > CMD_REV_MAX) {
		dev_err(dev->dev, "firmware speaks revision %u of the command interface, this driver %u to %u\n",
			caps->cmd_rev, CMD_REV_MIN, CMD_REV_MAX);
		return -ENODEV;
	}
	if (!caps->fw_pages) {
		dev_err(dev->dev, "firmware wants no memory\n");
		return -EIO;
	}
	return 0;
}

int mlx4_fw_start(struct mlx4_dev *dev)
{
	struct mlx4_call run = { .op = MLX4_RUN_FW };
	int err;

	err = query(dev, MLX4_QUERY_FW, 0, read_fw);
	if (err)
		return err;
	err = mlx4_chunk_alloc(dev, &dev->fa, dev->caps.fw_pages);
	if (err)
		return err;
	err = mlx4_chunk_map(dev, &dev->fa, MLX4_MAP_FA, 0);
	if (!err)
		err = mlx4_cmd(dev, &run);
	if (err) {
		dev_err(dev->dev, "cannot start the firmware: %d\n", err);
		return err;
	}
	dev_info(dev->dev, "firmware %llu.%llu.%llu\n", dev->caps.fw_ver >> 32,
		 dev->caps.fw_ver >> 16 & 0xffff, dev->caps.fw_ver & 0xffff);
	return 0;
}

void mlx4_fw_stop(struct mlx4_dev *dev)
{
	struct mlx4_call call = { .op = MLX4_UNMAP_FA };

	if (dev->fa.mapped)
		mlx4_cmd(dev, &call);
}

void mlx4_fw_free(struct mlx4_dev *dev)
{
	mlx4_chunk_free(dev, &dev->fa);
}

static int read_port(struct mlx4_dev *dev, const void *out, u32 port)
{
	struct mlx4_caps *caps = &dev->caps;

	caps->port_type[port] = mlx4_get(out, MLX4_PORT_TYPES);
	/* One of both kinds that nobody has set yet. */
	caps->port_eth[port] = caps->port_type[port] & MLX4_PORT_TYPE_ETH &&
			       (mlx4_get(out, MLX4_PORT_SUGGEST_ETH) ||
				mlx4_get(out, MLX4_PORT_SENSES));
	caps->log_gids[port] = mlx4_get(out, MLX4_PORT_LOG_GIDS);
	caps->log_pkeys[port] = mlx4_get(out, MLX4_PORT_LOG_PKEYS);
	caps->mtu[port] = mlx4_get(out, MLX4_PORT_MTU);
	caps->vls[port] = mlx4_get(out, MLX4_PORT_VLS);
	return 0;
}

/* What limits objects and work requests. */
static void read_limits(struct mlx4_caps *caps, const void *cap)
{
	caps->reserved_pds = mlx4_get(cap, MLX4_CAP_RSVD_PD);
	caps->pds = min_t(u32, MAX_PDS, 1u << min_t(u64, 31, mlx4_get(cap, MLX4_CAP_LOG_PD)));
	caps->reserved_xrcds = mlx4_get(cap, MLX4_CAP_RSVD_XRCD);
	caps->xrcds = 1u << min_t(u64, 16, mlx4_get(cap, MLX4_CAP_LOG_XRCD));
	caps->log_qp_size = mlx4_get(cap, MLX4_CAP_LOG_QP_SIZE);
	caps->log_srq_size = mlx4_get(cap, MLX4_CAP_LOG_SRQ_SIZE);
	caps->log_cq_size = min_t(u64, MAX_LOG_CQ_SIZE, mlx4_get(cap, MLX4_CAP_LOG_CQ_SIZE));
	caps->log_msg = mlx4_get(cap, MLX4_CAP_LOG_MSG);
	caps->log_gso = mlx4_get(cap, MLX4_CAP_LOG_GSO);
	caps->log_rd_req = mlx4_get(cap, MLX4_CAP_LOG_RD_REQ);
	caps->log_rd_resp = mlx4_get(cap, MLX4_CAP_LOG_RD_RESP);
	caps->sq_sg = mlx4_get(cap, MLX4_CAP_SQ_SG);
	caps->rq_sg = mlx4_get(cap, MLX4_CAP_RQ_SG);
	caps->sq_desc = mlx4_get(cap, MLX4_CAP_SQ_DESC);
	caps->rq_desc = mlx4_get(cap, MLX4_CAP_RQ_DESC);
	caps->rates = mlx4_get(cap, MLX4_CAP_RATES);
	caps->ack_delay = mlx4_get(cap, MLX4_CAP_ACK_DELAY);
	caps->mcg_qps = MLX4_MCG_QPS;
}

static int read_caps(struct mlx4_dev *dev, const void *cap, u32 unused)
{
	struct mlx4_caps *caps = &dev->caps;
	u64 uar_bytes = BIT_ULL(20 + mlx4_get(cap, MLX4_CAP_LOG_UAR_MIB));

	caps->ports = mlx4_get(cap, MLX4_CAP_PORTS);
	caps->flags = mlx4_get(cap, MLX4_CAP_FLAGS);
	caps->bmme = mlx4_get(cap, MLX4_CAP_BMME);
	caps->rdmarc_size = mlx4_get(cap, MLX4_CAP_RDMARC_SIZE);
	read_limits(caps, cap);
	caps->reserved_lkey = mlx4_get(cap, MLX4_CAP_RSVD_LKEY);
	caps->reserved_uars = max_t(u32, MIN_RSVD_UARS, mlx4_get(cap, MLX4_CAP_RSVD_UAR));
	/* Doorbells of event queues must not lie in UARs that are the firmware's own. */
	caps->reserved_eqs = max_t(u32, BIT(mlx4_get(cap, MLX4_CAP_LOG_RSVD_EQ)),
				   MLX4_EQS_PER_UAR * mlx4_get(cap, MLX4_CAP_RSVD_UAR));

	if (!caps->ports || caps->ports > MLX4_MAX_PORTS) {
		dev_err(dev->dev, "an HCA with %u ports is not supported\n", caps->ports);
		return -ENODEV;
	}
	if (mlx4_get(cap, MLX4_CAP_LOG_PAGE) > PAGE_SHIFT) {
		dev_err(dev->dev, "the HCA's smallest page is larger than the machine's\n");
		return -ENODEV;
	}
	if (uar_bytes > pci_resource_len(dev->pdev, 2)) {
		dev_err(dev->dev, "UAR area of %#llx bytes does not fit BAR 2\n", uar_bytes);
		return -ENODEV;
	}
	caps->uars = uar_bytes / MLX4_UAR_SIZE;
	if (caps->uars <= caps->reserved_uars) {
		dev_err(dev->dev, "only %u UARs, %u of them reserved\n", caps->uars,
			caps->reserved_uars);
		return -ENODEV;
	}
	return mlx4_icm_layout(dev, cap);
}

int mlx4_caps_read(struct mlx4_dev *dev)
{
	unsigned int port;
	int err;

	err = query(dev, MLX4_QUERY_DEV_CAP, 0, read_caps);
	for (port = 1; !err && port <= dev->caps.ports; port++)
		err = query(dev, MLX4_QUERY_PORT, port, read_port);
	return err;
}

/* The board's name is text where a certain maker signed, else each of its words is reversed. */
static int read_adapter(struct mlx4_dev *dev, const void *out, u32 unused)
{
	char *id = dev->caps.board_id;
	unsigned int i;

	dev->caps.inta_pin = mlx4_get(out, MLX4_ADAPTER_INTA);
	if (mlx4_get(out, MLX4_VSD_SIG_HEAD) == MLX4_VSD_SIGNATURE &&
	    mlx4_get(out, MLX4_VSD_SIG_TAIL) == MLX4_VSD_SIGNATURE) {
		memcpy(id, out + MLX4_VSD_TEXT, MLX4_BOARD_ID_LEN);
	} else {
		for (i = 0; i < MLX4_BOARD_ID_LEN; i += 4)
			put_unaligned_le32(get_unaligned_be32(out + MLX4_VSD_BOARD_ID + i), id + i);
	}
	id[MLX4_BOARD_ID_LEN] = '\0';
	return 0;
}

int mlx4_adapter_read(struct mlx4_dev *dev)
{
	return query(dev, MLX4_QUERY_ADAPTER, 0, read_adapter);
}
