// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device and its ports are, and the few things of them that can be changed.
 *
 * Almost everything is asked of the HCA's own subnet management agent.
 */
#include <linux/pci.h>

#include <uapi/rdma/ib_user_verbs.h>

#include "ib_qp.h"
#include "mad_layout.h"

/* Capability bits of the HCA, and of its memory management extensions */
#define FLAG_XRC		BIT_ULL(3)
#define FLAG_IPOIB_CSUM		BIT_ULL(7)
#define FLAG_BAD_PKEYS		BIT_ULL(8)
#define FLAG_BAD_QKEYS		BIT_ULL(9)
#define FLAG_WINDOWS		BIT_ULL(16)
#define FLAG_AV_PORT		BIT_ULL(20)
#define BMME_TYPE_2B		BIT(1)
#define BMME_LOCAL_INV		BIT(6)
#define BMME_REMOTE_INV		BIT(7)
#define BMME_TYPE_2		BIT(9)
#define BMME_RESERVED_LKEY	BIT(10)
#define BMME_FAST_REG		BIT(11)
#define BMME_EXTENSIONS		(BMME_LOCAL_INV | BMME_REMOTE_INV | BMME_FAST_REG)

#define MAX_READ_SGES	30	/* pieces that an RDMA read of the largest entry has room for */
#define FAST_REG_PAGES	511	/* a page of addresses, less the one that must not be reached */
#define SPEED_QDR	4
#define PHYS_DISABLED	3

static u64 cap_flags(const struct mlx4_caps *caps)
{
	u64 flags = IB_UVERBS_DEVICE_CHANGE_PHY_PORT | IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
		    IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN;

	if (caps->flags & FLAG_BAD_PKEYS)
		flags |= IB_UVERBS_DEVICE_BAD_PKEY_CNTR;
	if (caps->flags & FLAG_BAD_QKEYS)
		flags |= IB_UVERBS_DEVICE_BAD_QKEY_CNTR;
	if (caps->flags & MLX4_FLAG_APM)
		flags |= IB_UVERBS_DEVICE_AUTO_PATH_MIG;
	if (caps->flags & FLAG_AV_PORT)
		flags |= IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE;
	if (caps->flags & FLAG_IPOIB_CSUM)
		flags |= IB_UVERBS_DEVICE_UD_IP_CSUM;
	if (caps->flags & FLAG_XRC)
		flags |= IB_UVERBS_DEVICE_XRC;
	if ((caps->bmme & BMME_EXTENSIONS) == BMME_EXTENSIONS)
		flags |= IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS;
	if (caps->flags & FLAG_WINDOWS) {
		flags |= IB_UVERBS_DEVICE_MEM_WINDOW;
		if (caps->bmme & BMME_TYPE_2)
			flags |= caps->bmme & BMME_TYPE_2B ? IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B :
							     IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A;
	}
	return flags;
}

static u32 objects_of(struct mlx4_ib_dev *dev, enum mlx4_table_id id)
{
	const struct mlx4_table *table = &dev->core->icm.tables[id];

	return table->count - table->reserved;
}

static void query_limits(struct mlx4_ib_dev *dev, struct ib_device_attr *attr)
{
	const struct mlx4_caps *caps = &dev->core->caps;

	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = 0xfffff000;
	attr->max_qp = objects_of(dev, MLX4_QPC);
	attr->max_qp_wr = BIT(caps->log_qp_size) - MLX4_IB_SQ_SPARE;
	attr->max_send_sge = min(caps->sq_sg, caps->rq_sg);
	attr->max_recv_sge = attr->max_send_sge;
	attr->max_sge_rd = min_t(u32, attr->max_send_sge, MAX_READ_SGES);
	attr->max_cq = objects_of(dev, MLX4_CQC);
	attr->max_cqe = BIT(caps->log_cq_size) - 1;
	attr->max_mr = objects_of(dev, MLX4_DMPT);
	attr->max_pd = caps->pds - caps->reserved_pds;
	attr->max_qp_rd_atom = min_t(u32, BIT(caps->log_rd_resp),
				     dev->core->icm.tables[MLX4_RDMARC].entry / caps->rdmarc_size);
	attr->max_qp_init_rd_atom = BIT(caps->log_rd_req);
	attr->max_res_rd_atom = attr->max_qp_rd_atom * attr->max_qp;
	attr->max_ah = INT_MAX;
	attr->max_mcast_grp = dev->core->icm.tables[MLX4_MCG].count;
	attr->max_mcast_qp_attach = caps->mcg_qps;
	attr->max_total_mcast_qp_attach = attr->max_mcast_grp * attr->max_mcast_qp_attach;
	attr->max_srq = objects_of(dev, MLX4_SRQC);
	attr->max_srq_wr = BIT(caps->log_srq_size) - 1;
	attr->max_srq_sge = attr->max_recv_sge;
	attr->max_pkeys = BIT(caps->log_pkeys[1]);
	attr->max_fast_reg_page_list_len = FAST_REG_PAGES;
	attr->local_ca_ack_delay = caps->ack_delay;
}

int mlx4_ib_query_device(struct ib_device *device, struct ib_device_attr *attr)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev(device);
	const struct mlx4_caps *caps = &dev->core->caps;

	memcpy(&attr->sys_image_guid, dev->node_info + MLX4_NODE_SYS_GUID,
	       sizeof(attr->sys_image_guid));
	attr->fw_ver = caps->fw_ver;
	attr->vendor_id = mlx4_get(dev->node_info, MLX4_NODE_VENDOR);
	attr->vendor_part_id = dev->core->pdev->device;
	attr->hw_ver = mlx4_get(dev->node_info, MLX4_NODE_REVISION);
	strscpy(attr->board_id, caps->board_id, sizeof(attr->board_id));
	attr->has_local_dma_lkey = caps->bmme & BMME_RESERVED_LKEY;
	attr->local_dma_lkey = caps->reserved_lkey;
	attr->device_cap_flags = cap_flags(caps);
	query_limits(dev, attr);
	return 0;
}

/* FDR10 is the vendor's own and is told as QDR elsewhere. */
static int query_speed(struct mlx4_ib_dev *dev, u8 port, const u8 *info, u16 *speed)
{
	unsigned int extended = mlx4_get(info, MLX4_PI_EXT_SPEED);
	u8 own[MLX4_SMP_DATA_SIZE];
	int err;

	*speed = mlx4_get(info, MLX4_PI_SPEED);
	if (extended == 1)
		*speed = IB_SPEED_FDR;
	else if (extended == 2)
		*speed = IB_SPEED_EDR;
	if (*speed != SPEED_QDR)
		return 0;
	err = mlx4_smp_get(dev->core, port, MLX4_ATTR_EXT_PORT_INFO, port, own);
	if (!err && mlx4_get(own, MLX4_XPI_FDR10))
		*speed = IB_SPEED_FDR10;
	/* An agent that does not know the attribute knows no FDR10 either. */
	return err == -EIO && !ib_hca_is_gone(dev->core->hca) ? 0 : err;
}

/* Another protocol's: down.  User programs want tables with something in them, and a rate. */
static void foreign_port(struct ib_port_attr *attr)
{
	attr->is_ethernet = true;
	attr->state = IB_PORT_DOWN;
	attr->phys_state = PHYS_DISABLED;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
}

int mlx4_ib_query_port(struct ib_device *device, u8 port, struct ib_port_attr *attr)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev(device);
	const struct mlx4_caps *caps = &dev->core->caps;
	u8 info[MLX4_SMP_DATA_SIZE];
	int err;

	if (!ib_device_has_port(device, port)) {
		foreign_port(attr);
		return 0;
	}
	err = mlx4_smp_get(dev->core, port, MLX4_ATTR_PORT_INFO, port, info);
	if (!err)
		err = query_speed(dev, port, info, &attr->active_speed);
	if (err)
		return err;
	attr->subnet_prefix = mlx4_get(info, MLX4_PI_PREFIX);
	attr->state = mlx4_get(info, MLX4_PI_STATE);
	attr->max_mtu = mlx4_get(info, MLX4_PI_MAX_MTU);
	attr->active_mtu = mlx4_get(info, MLX4_PI_ACTIVE_MTU);
	attr->phys_mtu = ib_mtu_bytes(attr->active_mtu);
	attr->gid_tbl_len = BIT(caps->log_gids[port]);
	attr->pkey_tbl_len = BIT(caps->log_pkeys[port]);
	attr->cap_mask = mlx4_get(info, MLX4_PI_CAP_MASK);
	attr->cap_mask2 = mlx4_get(info, MLX4_PI_CAP_MASK2);
	attr->max_msg_sz = BIT(caps->log_msg);
	attr->bad_pkey_cntr = mlx4_get(info, MLX4_PI_BAD_PKEYS);
	attr->qkey_viol_cntr = mlx4_get(info, MLX4_PI_BAD_QKEYS);
	attr->lid = mlx4_get(info, MLX4_PI_LID);
	attr->sm_lid = mlx4_get(info, MLX4_PI_SM_LID);
	attr->lmc = mlx4_get(info, MLX4_PI_LMC);
	attr->max_vl_num = mlx4_get(info, MLX4_PI_VLS);
	attr->sm_sl = mlx4_get(info, MLX4_PI_SM_SL);
	attr->subnet_timeout = mlx4_get(info, MLX4_PI_TIMEOUT);
	attr->init_type_reply = mlx4_get(info, MLX4_PI_INIT_REPLY);
	attr->active_width = mlx4_get(info, MLX4_PI_WIDTH);
	attr->phys_state = mlx4_get(info, MLX4_PI_PHYS_STATE);
	return 0;
}

int mlx4_ib_query_gids(struct ib_device *device, u8 port, union ib_gid *gids, unsigned int len)
{
	struct mlx4_dev *core = mlx4_ib_dev(device)->core;
	u8 info[MLX4_SMP_DATA_SIZE], guids[MLX4_SMP_DATA_SIZE];
	unsigned int i, at;
	int err;

	if (!ib_device_has_port(device, port)) {
		memset(gids, 0, len * sizeof(*gids));
		return 0;
	}
	err = mlx4_smp_get(core, port, MLX4_ATTR_PORT_INFO, port, info);
	for (i = 0; !err && i < len; i++) {
		at = i % MLX4_GUIDS_PER_MAD;
		if (!at)
			err = mlx4_smp_get(core, port, MLX4_ATTR_GUID_INFO, i / MLX4_GUIDS_PER_MAD,
					   guids);
		if (err)
			break;
		memcpy(&gids[i].global.interface_id, guids + at * sizeof(__be64), sizeof(__be64));
		/* An entry without a GUID is empty, whatever the subnet is. */
		gids[i].global.subnet_prefix = gids[i].global.interface_id ?
			cpu_to_be64(mlx4_get(info, MLX4_PI_PREFIX)) : 0;
	}
	return err;
}

int mlx4_ib_query_pkeys(struct ib_device *device, u8 port, u16 *pkeys, unsigned int len)
{
	struct mlx4_dev *core = mlx4_ib_dev(device)->core;
	__be16 block[MLX4_PKEYS_PER_MAD];
	unsigned int i, at;
	int err = 0;

	static_assert(sizeof(block) == MLX4_SMP_DATA_SIZE);
	if (!ib_device_has_port(device, port)) {
		memset(pkeys, 0xff, len * sizeof(*pkeys));
		return 0;
	}
	for (i = 0; !err && i < len; i++) {
		at = i % MLX4_PKEYS_PER_MAD;
		if (!at)
			err = mlx4_smp_get(core, port, MLX4_ATTR_PKEY_TABLE,
					   i / MLX4_PKEYS_PER_MAD, block);
		if (!err)
			pkeys[i] = be16_to_cpu(block[at]);
	}
	return err;
}

/* The capability mask is replaced as a whole, so one change at a time. */
static int port_change(struct mlx4_ib_dev *dev, u8 port, bool reset_qkeys,
		       const struct ib_port_modify *modify)
{
	struct mlx4_call call = { .op = MLX4_SET_PORT, .in_mod = port };
	u8 info[MLX4_SMP_DATA_SIZE];
	u32 mask;
	int err;

	call.in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	mutex_lock(&dev->port_lock);
	err = mlx4_smp_get(dev->core, port, MLX4_ATTR_PORT_INFO, port, info);
	if (!err) {
		mask = mlx4_get(info, MLX4_PI_CAP_MASK);
		mask = (mask | modify->set_cap_mask) & ~modify->clr_cap_mask;
		mlx4_put(call.in->buf, MLX4_SETP_CAP_MASK, mask);
		mlx4_put(call.in->buf, MLX4_SETP_RESET_QKEYS, reset_qkeys);
		err = mlx4_cmd(dev->core, &call);
	}
	mutex_unlock(&dev->port_lock);
	mlx4_mailbox_free(dev->core, call.in);
	return err;
}

int mlx4_ib_modify_port(struct ib_device *device, u8 port, u32 mask,
			const struct ib_port_modify *modify)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev(device);
	bool reset_qkeys = mask & IB_PORT_MODIFY_RESET_QKEY_CNTR;
	int err = 0;

	if (mask & ~(IB_PORT_MODIFY_SHUTDOWN | IB_PORT_MODIFY_RESET_QKEY_CNTR) ||
	    !ib_device_has_port(device, port))
		return -EOPNOTSUPP;
	if (reset_qkeys || modify->set_cap_mask || modify->clr_cap_mask)
		err = port_change(dev, port, reset_qkeys, modify);
	if (!err && mask & IB_PORT_MODIFY_SHUTDOWN)
		err = mlx4_ib_port_close(dev, port);
	return err;
}

int mlx4_ib_modify_node(struct ib_device *device, u32 mask, const struct ib_node_modify *modify)
{
	struct mlx4_dev *core = mlx4_ib_dev(device)->core;
	struct mlx4_call call = { .op = MLX4_SET_NODE, .in_mod = MLX4_SET_NODE_DESC };
	int err;

	if (mask & ~IB_NODE_MODIFY_DESC)
		return -EOPNOTSUPP;
	if (!mask)
		return 0;
	call.in = mlx4_mailbox_alloc(core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	memcpy(call.in->buf, modify->desc, sizeof(modify->desc));
	err = mlx4_cmd(core, &call);
	mlx4_mailbox_free(core, call.in);
	return err;
}

int mlx4_ib_port_open(struct mlx4_ib_dev *dev, u8 port)
{
	struct mlx4_call call = { .op = MLX4_INIT_PORT, .in_mod = port };

	return mlx4_cmd(dev->core, &call);
}

int mlx4_ib_port_close(struct mlx4_ib_dev *dev, u8 port)
{
	struct mlx4_call call = { .op = MLX4_CLOSE_PORT, .in_mod = port };

	return mlx4_cmd(dev->core, &call);
}
