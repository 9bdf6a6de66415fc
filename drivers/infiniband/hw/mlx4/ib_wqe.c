// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a send request looks like to the hardware: a control segment, then by opcode and kind of QP
 * address, remote address, operands, then data, each a multiple of 16 bytes.
 */
#include "ib_qp.h"

/* Kinds of QPs that know an operation. */
#define RC	BIT(IB_QPT_RC)
#define UC	BIT(IB_QPT_UC)
#define UD	BIT(IB_QPT_UD)
#define INI	BIT(IB_QPT_XRC_INI)
#define ANY	(RC | UC | UD | INI)

/**
 * struct mlx4_ib_op - an operation
 * @types: kinds of QPs that know it, one bit each
 * @opcode: the hardware's
 * @put: writes what stands between the control segment (and the address of a datagram) and the
 *	data; NULL: nothing
 * @data: data follows
 * @ordered: it must not be overtaken by what comes after it
 */
struct mlx4_ib_op {
	u16 types;
	u8 opcode;
	int (*put)(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr);
	bool data;
	bool ordered;
};

unsigned int mlx4_ib_inline_end(unsigned int at, unsigned int bytes)
{
	while (bytes) {
		unsigned int room = MLX4_WQE_BLOCK - at % MLX4_WQE_BLOCK - MLX4_INLINE_HEADER;
		unsigned int now = min(room, bytes);

		at += MLX4_INLINE_HEADER + now;
		bytes -= now;
	}
	return round_up(at, MLX4_WQE_SEG);
}

/**
 * struct inliner - inline data on its way into a request
 * @c: the request
 * @header: of the piece that is being written; NULL: none
 * @bytes: of data in it
 */
struct inliner {
	struct mlx4_ib_cursor *c;
	u8 *header;
	unsigned int bytes;
};

/* A piece ends with its block, or with the data. */
static void inline_close(struct inliner *in)
{
	if (in->header)
		mlx4_put(in->header, MLX4_DATA_BYTES, MLX4_INLINE | in->bytes);
	in->header = NULL;
	in->bytes = 0;
}

static void inline_add(struct inliner *in, const u8 *from, unsigned int left)
{
	struct mlx4_ib_cursor *c = in->c;

	while (left) {
		unsigned int now;
		u8 *to;

		if (!in->header) {
			in->header = mlx4_ib_segment(c, MLX4_INLINE_HEADER);
			if (!in->header)
				return;
		}
		now = min(left, MLX4_WQE_BLOCK - c->at % MLX4_WQE_BLOCK);
		to = mlx4_ib_segment(c, now);
		if (!to)
			return;
		memcpy(to, from, now);
		in->bytes += now;
		from += now;
		left -= now;
		if (!(c->at % MLX4_WQE_BLOCK))
			inline_close(in);
	}
}

void mlx4_ib_put_inline(struct mlx4_ib_cursor *c, const struct ib_sge *sge, int count)
{
	struct inliner in = { .c = c };
	int i;

	for (i = 0; i < count; i++)
		inline_add(&in, (const u8 *)(uintptr_t)sge[i].addr, sge[i].length);
	inline_close(&in);
	if (c->at % MLX4_WQE_SEG)
		mlx4_ib_segment(c, MLX4_WQE_SEG - c->at % MLX4_WQE_SEG);
}

void mlx4_ib_put_data(struct mlx4_ib_cursor *c, const struct ib_sge *sge, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		u8 *segment;

		/* To the hardware a segment of no bytes is one of 2 GiB. */
		if (!sge[i].length)
			continue;
		segment = mlx4_ib_segment(c, MLX4_WQE_SEG);
		if (!segment)
			return;
		mlx4_put(segment, MLX4_DATA_BYTES, sge[i].length);
		mlx4_put(segment, MLX4_DATA_LKEY, sge[i].lkey);
		mlx4_put(segment, MLX4_DATA_VA, sge[i].addr);
	}
}

static int put_remote(struct mlx4_ib_cursor *c, u64 addr, u32 rkey)
{
	u8 *segment = mlx4_ib_segment(c, MLX4_WQE_SEG);

	if (!segment)
		return -EINVAL;
	mlx4_put(segment, MLX4_RADDR_VA, addr);
	mlx4_put(segment, MLX4_RADDR_RKEY, rkey);
	return 0;
}

static int put_rdma(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr)
{
	return put_remote(c, wr->rdma.addr, wr->rdma.rkey);
}

static int put_atomic(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr)
{
	bool swap = wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP;
	u8 *segment;
	int err;

	err = put_remote(c, wr->atomic.addr, wr->atomic.rkey);
	segment = mlx4_ib_segment(c, MLX4_WQE_SEG);
	if (err || !segment)
		return -EINVAL;
	mlx4_put(segment, MLX4_ATOMIC_SWAP_ADD, swap ? wr->atomic.swap : wr->atomic.compare_add);
	mlx4_put(segment, MLX4_ATOMIC_COMPARE, swap ? wr->atomic.compare_add : 0);
	return 0;
}

/* The headers that the hardware repeats in each packet it cuts. */
static int put_lso(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr)
{
	unsigned int bytes = MLX4_INLINE_HEADER + wr->ud.hlen;
	u8 *segment;

	if (!wr->ud.mss || wr->ud.mss > U16_MAX || !wr->ud.hlen || wr->ud.hlen > MLX4_WQE_MAX)
		return -EINVAL;
	segment = mlx4_ib_segment(c, round_up(bytes, MLX4_WQE_SEG));
	if (!segment)
		return -EINVAL;
	mlx4_put(segment, MLX4_LSO_MSS, wr->ud.mss);
	mlx4_put(segment, MLX4_LSO_HEADER, wr->ud.hlen);
	memcpy(segment + MLX4_INLINE_HEADER, wr->ud.header, wr->ud.hlen);
	mlx4_put(c->wqe, MLX4_CTRL_BIG_LSO, bytes > MLX4_WQE_BLOCK);
	return 0;
}

static int put_invalidate(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr)
{
	u8 *segment = mlx4_ib_segment(c, MLX4_INVAL_SIZE);

	if (!segment)
		return -EINVAL;
	mlx4_put(segment, MLX4_INVAL_KEY, wr->invalidate_rkey);
	return 0;
}

/* The page list is written here: until now an older registration may have used it. */
static int put_register(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr)
{
	struct mlx4_ib_mr *mr = mlx4_ib_mr(wr->reg.mr);
	u8 *segment = mlx4_ib_segment(c, MLX4_REG_SIZE);
	u32 i;

	if (!segment || !mr->list || !mr->ib.npages)
		return -EINVAL;
	for (i = 0; i < mr->ib.npages; i++)
		mr->list[i] = cpu_to_be64(mr->ib.pages[i] | MLX4_MTT_PRESENT);
	mlx4_put(segment, MLX4_REG_ACCESS, mlx4_ib_access(wr->reg.access & ~IB_ACCESS_MW_BIND));
	mlx4_put(segment, MLX4_REG_KEY, wr->reg.key);
	mlx4_put(segment, MLX4_REG_LIST, mr->list_dma);
	mlx4_put(segment, MLX4_REG_START, mr->ib.iova);
	mlx4_put(segment, MLX4_REG_LENGTH, mr->ib.length);
	mlx4_put(segment, MLX4_REG_LOG_PAGE, ilog2(mr->ib.page_size));
	return 0;
}

static int put_bind(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr)
{
	u32 access = mlx4_ib_access(wr->bind.access) &
		     (MLX4_ACCESS_REMOTE_READ | MLX4_ACCESS_REMOTE_WRITE | MLX4_ACCESS_ATOMIC);
	u8 *segment = mlx4_ib_segment(c, MLX4_BIND_SIZE);

	if (!segment)
		return -EINVAL;
	mlx4_put(segment, MLX4_BIND_ACCESS, access);
	mlx4_put(segment, MLX4_BIND_TYPE2, wr->bind.mw->type == 2);
	mlx4_put(segment, MLX4_BIND_RKEY, wr->bind.rkey);
	mlx4_put(segment, MLX4_BIND_LKEY, wr->bind.length ? wr->bind.mr->lkey : 0);
	mlx4_put(segment, MLX4_BIND_ADDR, wr->bind.addr);
	mlx4_put(segment, MLX4_BIND_LENGTH, wr->bind.length);
	return 0;
}

static const struct mlx4_ib_op ops[IB_WR_OPCODES] = {
	[IB_WR_RDMA_WRITE] = { RC | UC | INI, MLX4_WQE_WRITE, put_rdma, true },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { RC | UC | INI, MLX4_WQE_WRITE_IMM, put_rdma, true },
	[IB_WR_SEND] = { ANY, MLX4_WQE_SEND, NULL, true },
	[IB_WR_SEND_WITH_IMM] = { ANY, MLX4_WQE_SEND_IMM, NULL, true },
	[IB_WR_RDMA_READ] = { RC | INI, MLX4_WQE_READ, put_rdma, true },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { RC | INI, MLX4_WQE_CMP_SWAP, put_atomic, true },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { RC | INI, MLX4_WQE_FETCH_ADD, put_atomic, true },
	[IB_WR_LOCAL_INV] = { RC | UC | INI, MLX4_WQE_LOCAL_INV, put_invalidate, false, true },
	[IB_WR_SEND_WITH_INV] = { RC | INI, MLX4_WQE_SEND_INVAL, NULL, true },
	[IB_WR_LSO] = { UD, MLX4_WQE_LSO, put_lso, true },
	[IB_WR_REG_MR] = { RC | UC | INI, MLX4_WQE_FAST_REG, put_register, false, true },
	[IB_WR_BIND_MW] = { RC | UC | INI, MLX4_WQE_BIND_MW, put_bind, false, true },
	/* Comes back flushed before anybody looks what it is. */
	[IB_WR_DRAIN] = { U16_MAX, MLX4_WQE_NOP },
};

/* Into a segment of zeros, in which only what is not zero is written. */
static void put_control(struct mlx4_ib_qp *qp, u8 *ctrl, const struct ib_send_wr *wr,
			const struct mlx4_ib_op *op)
{
	mlx4_put(ctrl, MLX4_CTRL_OPCODE, op->opcode);
	if (wr->flags & IB_SEND_FENCE)
		mlx4_put(ctrl, MLX4_CTRL_FENCE, 1);
	if (op->ordered)
		mlx4_put(ctrl, MLX4_CTRL_STRONG_ORDER, 1);
	if (qp->signal_all || wr->flags & IB_SEND_SIGNALED)
		mlx4_put(ctrl, MLX4_CTRL_CQ_UPDATE, MLX4_CQ_ALWAYS);
	if (wr->flags & IB_SEND_SOLICITED)
		mlx4_put(ctrl, MLX4_CTRL_SOLICITED, 1);
	if (wr->flags & IB_SEND_IP_CSUM) {
		mlx4_put(ctrl, MLX4_CTRL_IP_CSUM, 1);
		mlx4_put(ctrl, MLX4_CTRL_L4_CSUM, 1);
	}
	if (qp->ib.type == IB_QPT_XRC_INI)
		mlx4_put(ctrl, MLX4_CTRL_XRC_SRQN, wr->xrc_srqn);
	if (wr->opcode == IB_WR_SEND_WITH_INV)
		mlx4_put(ctrl, MLX4_CTRL_IMM, wr->invalidate_rkey);
	else if (wr->opcode == IB_WR_SEND_WITH_IMM || wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		mlx4_put(ctrl, MLX4_CTRL_IMM, be32_to_cpu(wr->imm_data));
}

static void put_address(struct mlx4_ib_cursor *c, const struct ib_send_wr *wr)
{
	u8 *segment = mlx4_ib_segment(c, MLX4_UD_SIZE);

	if (!segment)
		return;
	memcpy(segment, mlx4_ib_ah(wr->ud.ah)->av, MLX4_UD_AV_SIZE);
	mlx4_put(segment, MLX4_UD_QPN, wr->ud.qpn & 0xffffff);
	mlx4_put(segment, MLX4_UD_QKEY, wr->ud.qkey);
}

int mlx4_ib_build(struct mlx4_ib_qp *qp, const struct ib_send_wr *wr)
{
	struct mlx4_ib_cursor c = { .wqe = qp->wqe, .end = 1u << qp->sq.log_stride };
	const struct mlx4_ib_op *op;
	u8 *ctrl;

	if (wr->opcode >= IB_WR_OPCODES || wr->num_sge > (int)qp->sq.max_sge)
		return -EINVAL;
	op = &ops[wr->opcode];
	if (!(op->types & BIT(qp->ib.type)))
		return -EINVAL;
	ctrl = mlx4_ib_segment(&c, MLX4_WQE_SEG);
	put_control(qp, ctrl, wr, op);
	if (qp->ib.type == IB_QPT_UD && op->data)
		put_address(&c, wr);
	if (op->put && op->put(&c, wr))
		return -EINVAL;
	if (op->data && wr->flags & IB_SEND_INLINE)
		mlx4_ib_put_inline(&c, wr->sg_list, wr->num_sge);
	else if (op->data)
		mlx4_ib_put_data(&c, wr->sg_list, wr->num_sge);
	/* The size field has six bits. */
	if (c.overrun || c.at > 63 * MLX4_WQE_SEG)
		return -EINVAL;
	mlx4_put(ctrl, MLX4_CTRL_SIZE, c.at / MLX4_WQE_SEG);
	return c.at;
}
