// SPDX-License-Identifier: GPL-2.0-only
/*
 * QP0 and QP1: software builds the headers of each packet (IBA 5.2), the hardware adds the base of
 * the source LID and the CRCs.
 */
#include <ib/port.h>

#include "ib_qp.h"

/* Local route header, 8 bytes (IBA 7.7) */
#define LRH_SIZE		8
#define LRH_VL			MLX4_BITS(0, MLX4_W8, 7, 4)
#define LRH_SL			MLX4_BITS(1, MLX4_W8, 7, 4)
#define LRH_LNH			MLX4_BITS(1, MLX4_W8, 1, 0)
#define LNH_LOCAL		2	/* a BTH follows */
#define LNH_GLOBAL		3	/* a GRH follows */
#define LRH_DLID		MLX4_U16(2)
#define LRH_WORDS		MLX4_BITS(4, MLX4_W16, 10, 0)
#define LRH_SLID		MLX4_U16(6)

/* Global route header, 40 bytes (IBA 8.3) */
#define GRH_SIZE		40
#define GRH_VERSION		MLX4_BITS(0, MLX4_W32, 31, 28)
#define GRH_TCLASS		MLX4_BITS(0, MLX4_W32, 27, 20)
#define GRH_FLOW		MLX4_BITS(0, MLX4_W32, 19, 0)
#define GRH_BYTES		MLX4_U16(4)
#define GRH_NEXT		MLX4_U8(6)
#define GRH_NEXT_IBA		0x1b
#define GRH_HOP_LIMIT		MLX4_U8(7)
#define GRH_SGID		8
#define GRH_DGID		24

/* Base transport header, 12 bytes (IBA 9.2), and that of datagrams, 8 bytes (IBA 9.3.2) */
#define BTH_SIZE		12
#define BTH_OPCODE		MLX4_U8(0)
#define UD_SEND_ONLY		0x64
#define BTH_SOLICITED		MLX4_BIT(1, MLX4_W8, 7)
#define BTH_MIGRATED		MLX4_BIT(1, MLX4_W8, 6)
#define BTH_PKEY		MLX4_U16(2)
#define BTH_QPN			MLX4_BITS(4, MLX4_W32, 23, 0)
#define BTH_PSN			MLX4_BITS(8, MLX4_W32, 23, 0)
#define DETH_SIZE		8
#define DETH_QKEY		MLX4_U32(0)
#define DETH_QPN		MLX4_BITS(4, MLX4_W32, 23, 0)

#define ICRC_SIZE		4
#define LID_PERMISSIVE		0xffff
#define VL_MANAGEMENT		15
#define QKEY_OF_QP		BIT(31)	/* in a request: send the QP's own */

#define HEADERS_MAX (LRH_SIZE + GRH_SIZE + BTH_SIZE + DETH_SIZE)
static_assert(HEADERS_MAX <= MLX4_UD_HEADERS);

/* A packet has a number of words, so its payload has; management datagrams do. */
static int payload_bytes(const struct ib_send_wr *wr, u32 *bytes)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		sum += wr->sg_list[i].length;
	*bytes = sum;
	return sum > ib_mtu_bytes(IB_MTU_4096) || sum % 4 ? -EINVAL : 0;
}

static int put_grh(u8 *grh, struct ib_device *device, const struct ib_ah_attr *to, u32 payload)
{
	union ib_gid sgid;
	int err;

	err = ib_gid_cached(device, to->port, to->grh.sgid_index, &sgid);
	if (err)
		return err;
	mlx4_put(grh, GRH_VERSION, 6);
	mlx4_put(grh, GRH_TCLASS, to->grh.traffic_class);
	mlx4_put(grh, GRH_FLOW, to->grh.flow_label & 0xfffff);
	mlx4_put(grh, GRH_BYTES, BTH_SIZE + DETH_SIZE + payload + ICRC_SIZE);
	mlx4_put(grh, GRH_NEXT, GRH_NEXT_IBA);
	mlx4_put(grh, GRH_HOP_LIMIT, to->grh.hop_limit);
	memcpy(grh + GRH_SGID, sgid.raw, sizeof(sgid.raw));
	memcpy(grh + GRH_DGID, to->grh.dgid.raw, sizeof(to->grh.dgid.raw));
	return 0;
}

/*
 * Lane 15 is for subnet management alone: QP0's packets travel there whatever their service level,
 * nobody else's do.  A service level that the table gives lane 15 has none (IBA 7.6.6).
 */
static int packet_lane(const struct mlx4_ib_qp *qp, const struct ib_ah_attr *to)
{
	u8 lane;

	if (qp->ib.type == IB_QPT_SMI)
		return VL_MANAGEMENT;
	lane = mlx4_ib_vl(mlx4_ib_dev_of(&qp->ib.object), qp->ib.port, to->sl);
	return lane == VL_MANAGEMENT ? -EINVAL : lane;
}

static void put_lrh(u8 *lrh, const struct ib_ah_attr *to, u8 lane, u32 bytes)
{
	mlx4_put(lrh, LRH_VL, lane);
	mlx4_put(lrh, LRH_SL, to->sl);
	mlx4_put(lrh, LRH_LNH, to->has_grh ? LNH_GLOBAL : LNH_LOCAL);
	mlx4_put(lrh, LRH_DLID, to->dlid);
	mlx4_put(lrh, LRH_WORDS, bytes / 4);
	/* The hardware puts the base in, unless the port has none yet. */
	mlx4_put(lrh, LRH_SLID, to->dlid == LID_PERMISSIVE ? LID_PERMISSIVE : to->path_bits);
}

static int put_transport(struct mlx4_ib_qp *qp, u8 *bth, const struct ib_send_wr *wr)
{
	struct ib_device *device = ib_object_device(&qp->ib.object);
	bool smi = qp->ib.type == IB_QPT_SMI;
	u8 *deth = bth + BTH_SIZE;
	u16 pkey = IB_PKEY_DEFAULT;
	int err = 0;

	/* QP0 is in no partition. */
	if (!smi)
		err = ib_pkey_cached(device, qp->ib.port, wr->ud.pkey_index, &pkey);
	if (err)
		return err;
	mlx4_put(bth, BTH_OPCODE, UD_SEND_ONLY);
	mlx4_put(bth, BTH_SOLICITED, !!(wr->flags & IB_SEND_SOLICITED));
	mlx4_put(bth, BTH_MIGRATED, 1);
	mlx4_put(bth, BTH_PKEY, pkey);
	mlx4_put(bth, BTH_QPN, wr->ud.qpn & 0xffffff);
	mlx4_put(bth, BTH_PSN, qp->psn & 0xffffff);
	mlx4_put(deth, DETH_QKEY, wr->ud.qkey & QKEY_OF_QP ? qp->qkey : wr->ud.qkey);
	mlx4_put(deth, DETH_QPN, smi ? 0 : 1);
	return 0;
}

/* All headers, from the local route header on.  Gives their length. */
static int put_headers(struct mlx4_ib_qp *qp, u8 *at, const struct ib_send_wr *wr, u32 payload)
{
	const struct ib_ah_attr *to = &wr->ud.ah->attr;
	unsigned int grh = to->has_grh ? GRH_SIZE : 0;
	unsigned int bytes = LRH_SIZE + grh + BTH_SIZE + DETH_SIZE;
	int lane = packet_lane(qp, to), err = 0;

	if (lane < 0)
		return lane;
	put_lrh(at, to, lane, bytes + payload + ICRC_SIZE);
	if (grh)
		err = put_grh(at + LRH_SIZE, ib_object_device(&qp->ib.object), to, payload);
	if (!err)
		err = put_transport(qp, at + LRH_SIZE + grh, wr);
	return err ?: bytes;
}

int mlx4_ib_build_special(struct mlx4_ib_qp *qp, const struct ib_send_wr *wr)
{
	struct mlx4_ib_cursor c = { .wqe = qp->wqe, .end = 1u << qp->sq.log_stride };
	u8 headers[HEADERS_MAX] = {};
	struct ib_sge sge = { .addr = (uintptr_t)headers };
	u8 *ctrl, *icrc;
	u32 payload;
	int bytes;

	if (wr->opcode != IB_WR_SEND || wr->num_sge > (int)qp->sq.max_sge ||
	    wr->flags & IB_SEND_INLINE || payload_bytes(wr, &payload))
		return -EINVAL;
	/* It leaves by the QP's port, where the address has to begin. */
	if (wr->ud.ah->attr.port != qp->ib.port)
		return -EINVAL;
	bytes = put_headers(qp, headers, wr, payload);
	if (bytes < 0)
		return bytes;
	sge.length = bytes;

	ctrl = mlx4_ib_segment(&c, MLX4_WQE_SEG);
	mlx4_ib_put_inline(&c, &sge, 1);
	mlx4_ib_put_data(&c, wr->sg_list, wr->num_sge);
	/* Room that the hardware fills. */
	icrc = mlx4_ib_segment(&c, MLX4_WQE_SEG);
	if (!icrc)
		return -EINVAL;
	mlx4_put(icrc, MLX4_DATA_BYTES, MLX4_INLINE | ICRC_SIZE);

	mlx4_put(ctrl, MLX4_CTRL_OPCODE, MLX4_WQE_SEND);
	mlx4_put(ctrl, MLX4_CTRL_SIZE, c.at / MLX4_WQE_SEG);
	if (qp->signal_all || wr->flags & IB_SEND_SIGNALED)
		mlx4_put(ctrl, MLX4_CTRL_CQ_UPDATE, MLX4_CQ_ALWAYS);
	mlx4_put(ctrl, MLX4_MLX_VL15, qp->ib.type == IB_QPT_SMI);
	mlx4_put(ctrl, MLX4_MLX_SLR, wr->ud.ah->attr.dlid == LID_PERMISSIVE);
	mlx4_put(ctrl, MLX4_MLX_SL, wr->ud.ah->attr.sl);
	mlx4_put(ctrl, MLX4_MLX_DLID, wr->ud.ah->attr.dlid);
	qp->psn++;
	return c.at;
}
