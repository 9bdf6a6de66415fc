// SPDX-License-Identifier: GPL-2.0-only
/* Cases of connected QPs: every operation, its errors, the state machine. */
#include <linux/string.h>

#include <ib/compat.h>

#include "cases.h"

#define MESSAGE	5000	/* five packets */
#define HALF	(OBJ_BYTES / 2)
#define IMM	0xdeadbeef
#define RING	32

/* The sender's data in the first half of its memory, the receiver's in the second half. */
static int send_and_check(struct obj_pair *p, struct ib_send_wr *wr, u32 seed, u32 bytes,
			  struct ib_wc *wc)
{
	enum ib_wc_opcode opcode = wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM ? IB_WC_RDMA_WRITE :
									     IB_WC_SEND;
	struct ib_sge inside = { .addr = (uintptr_t)p->a.buf, .length = bytes };
	struct ib_sge sge[2] = {
		obj_sge(&p->a, 0, bytes / 3), obj_sge(&p->a, bytes / 3, bytes - bytes / 3),
	};

	obj_fill(p->a.buf, seed, bytes);
	memset(p->b.buf + HALF, 0xcc, HALF);
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, seed, HALF, wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM ?
			0 : bytes)))
		return -EINVAL;
	wr->wr_id = seed + 1000;
	wr->flags |= IB_SEND_SIGNALED;
	wr->sg_list = wr->flags & IB_SEND_INLINE ? &inside : sge;
	wr->num_sge = wr->flags & IB_SEND_INLINE ? 1 : 2;
	if (TRY(p, obj_send(p->a.qp[0], wr)))
		return -EINVAL;
	/* Inline data has been taken by now. */
	if (wr->flags & IB_SEND_INLINE)
		memset(p->a.buf, 0, bytes);
	if (WANT(p, obj_good(&p->b, seed, wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM ?
			 IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV, wc)))
		return -EINVAL;
	if (WANT(p, wc->qp == p->b.qp[0]))
		return -EINVAL;
	if (WANT(p, wc->byte_len == bytes))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, seed + 1000, opcode, NULL)))
		return -EINVAL;
	if (WANT(p, obj_is(p->b.buf + HALF, seed, bytes)))
		return -EINVAL;
	if (WANT(p, p->b.buf[HALF + bytes] == 0xcc))
		return -EINVAL;
	return 0;
}

static int sends(struct obj_pair *p)
{
	struct ib_send_wr imm = { .opcode = IB_WR_SEND_WITH_IMM, .imm_data = cpu_to_be32(IMM) };
	struct ib_send_wr plain = { .opcode = IB_WR_SEND, .flags = IB_SEND_SOLICITED };
	static const u32 inlines[] = { 1, 43, 44, 45, 59, 60, 61, 104, 105, 200, 300 };
	struct ib_wc wc;
	unsigned int i;

	if (TRY(p, send_and_check(p, &plain, 1, MESSAGE, &wc)))
		return -EINVAL;
	if (WANT(p, !(wc.flags & IB_WC_WITH_IMM)))
		return -EINVAL;
	if (TRY(p, send_and_check(p, &plain, 2, 1, &wc)))
		return -EINVAL;
	if (TRY(p, send_and_check(p, &plain, 3, 0, &wc)))
		return -EINVAL;
	if (TRY(p, send_and_check(p, &imm, 4, MESSAGE, &wc)))
		return -EINVAL;
	if (WANT(p, wc.flags & IB_WC_WITH_IMM && wc.imm_data == cpu_to_be32(IMM)))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(inlines); i++) {
		struct ib_send_wr inside = { .opcode = IB_WR_SEND, .flags = IB_SEND_INLINE };

		if (TRY(p, send_and_check(p, &inside, 10 + i, inlines[i], &wc)))
			return -EINVAL;
	}
	return 0;
}

int case_rc_sends(struct obj_pair *p)
{
	struct ib_sge sge[3] = {
		obj_sge(&p->a, 0, 8), obj_sge(&p->a, 8, 8), obj_sge(&p->a, 16, 8),
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 3, .flags = IB_SEND_INLINE,
	};

	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	if (WANT(p, p->a.qp[0]->cap.max_send_wr >= 32 && p->a.qp[0]->cap.max_recv_wr >= 32))
		return -EINVAL;
	if (WANT(p, p->a.qp[0]->cap.max_send_sge >= 3 && p->a.qp[0]->cap.max_inline_data >= 300))
		return -EINVAL;
	if (TRY(p, sends(p)))
		return -EINVAL;
	/* What does not fit is refused, and the ring is none the worse. */
	sge[0] = (struct ib_sge){ .addr = (uintptr_t)p->a.buf, .length = 2000 };
	wr.num_sge = 1;
	if (WANT(p, obj_send(p->a.qp[0], &wr) == -EINVAL))
		return -EINVAL;
	wr.opcode = IB_WR_LSO;
	if (WANT(p, obj_send(p->a.qp[0], &wr) == -EINVAL))
		return -EINVAL;
	return sends(p);
}

static struct ib_send_wr rdma(struct obj_pair *p, enum ib_wr_opcode opcode, struct ib_sge *sge,
			      u64 id)
{
	return (struct ib_send_wr){
		.opcode = opcode,
		.flags = IB_SEND_SIGNALED,
		.wr_id = id,
		.sg_list = sge,
		.num_sge = 1,
		.imm_data = cpu_to_be32(IMM),
		.rdma = { .addr = p->b.dma + HALF, .rkey = p->b.mr->rkey },
	};
}

static int writes(struct obj_pair *p)
{
	struct ib_sge sge = obj_sge(&p->a, 0, MESSAGE);
	struct ib_send_wr wr = rdma(p, IB_WR_RDMA_WRITE, &sge, 1);
	struct ib_wc wc;

	obj_fill(p->a.buf, 50, MESSAGE);
	memset(p->b.buf, 0, OBJ_BYTES);
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_RDMA_WRITE, NULL)))
		return -EINVAL;
	/* A connection that is not acknowledged may complete before the data is there. */
	wr = rdma(p, IB_WR_RDMA_WRITE_WITH_IMM, &sge, 2);
	wr.rdma.addr += MESSAGE;
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 3, 0, 0)))
		return -EINVAL;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->b, 3, IB_WC_RECV_RDMA_WITH_IMM, &wc)))
		return -EINVAL;
	if (WANT(p, wc.imm_data == cpu_to_be32(IMM) && wc.byte_len == MESSAGE))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 2, IB_WC_RDMA_WRITE, NULL)))
		return -EINVAL;
	if (WANT(p, obj_is(p->b.buf + HALF, 50, MESSAGE)))
		return -EINVAL;
	if (WANT(p, obj_is(p->b.buf + HALF + MESSAGE, 50, MESSAGE)))
		return -EINVAL;
	return 0;
}

int case_rc_rdma(struct obj_pair *p)
{
	struct ib_sge sge = obj_sge(&p->a, 0, MESSAGE);
	struct ib_send_wr wr;
	struct ib_wc wc;

	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	if (TRY(p, writes(p)))
		return -EINVAL;
	wr = rdma(p, IB_WR_RDMA_READ, &sge, 4);
	obj_fill(p->b.buf + HALF, 51, MESSAGE);
	memset(p->a.buf, 0, MESSAGE);
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 4, IB_WC_RDMA_READ, &wc)))
		return -EINVAL;
	if (WANT(p, wc.byte_len == MESSAGE))
		return -EINVAL;
	if (WANT(p, obj_is(p->a.buf, 51, MESSAGE)))
		return -EINVAL;
	return 0;
}

int case_rc_atomics(struct obj_pair *p)
{
	struct ib_sge sge = obj_sge(&p->a, 0, 8);
	u64 *there = (u64 *)(p->b.buf + HALF), *here = (u64 *)p->a.buf;
	struct ib_send_wr wr = {
		.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.flags = IB_SEND_SIGNALED,
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.atomic = {
			.addr = p->b.dma + HALF, .rkey = p->b.mr->rkey,
			.compare_add = 0x1111111122222222,
		},
	};

	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	*there = 0x0123456789abcdef;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_FETCH_ADD, NULL)))
		return -EINVAL;
	if (WANT(p, READ_ONCE(*here) == 0x0123456789abcdef))
		return -EINVAL;
	if (WANT(p, READ_ONCE(*there) == 0x0123456789abcdef + 0x1111111122222222))
		return -EINVAL;
	wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
	wr.atomic.compare_add = 1;
	wr.atomic.swap = 42;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_COMP_SWAP, NULL)))
		return -EINVAL;
	if (WANT(p, READ_ONCE(*here) == READ_ONCE(*there) && *there != 42))
		return -EINVAL;
	wr.atomic.compare_add = *there;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_COMP_SWAP, NULL)))
		return -EINVAL;
	if (WANT(p, READ_ONCE(*there) == 42))
		return -EINVAL;
	return 0;
}

/* A request that is refused, others behind it; then both QPs begin anew. */
static int refused(struct obj_pair *p)
{
	struct ib_sge sge = obj_sge(&p->a, 0, 64);
	struct ib_send_wr wr = rdma(p, IB_WR_RDMA_WRITE, &sge, 1);
	struct ib_wc wc;
	u64 id;

	wr.rdma.rkey ^= 0x55;
	for (id = 100; id < 104; id++)
		if (TRY(p, obj_recv(p->b.qp[0], &p->b, id, HALF, 64)))
			return -EINVAL;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	for (wr.wr_id = 2, wr.flags = 0; wr.wr_id < 6; wr.wr_id++)
		if (TRY(p, obj_send(p->a.qp[0], &wr)))
			return -EINVAL;
	if (TRY(p, obj_poll(&p->a, &wc)))
		return -EINVAL;
	if (WANT(p, wc.wr_id == 1 && wc.status == IB_WC_REM_ACCESS_ERR))
		return -EINVAL;
	for (id = 2; id < 6; id++) {
		if (TRY(p, obj_poll(&p->a, &wc)))
			return -EINVAL;
		if (WANT(p, wc.wr_id == id && wc.status == IB_WC_WR_FLUSH_ERR))
			return -EINVAL;
	}
	if (WANT(p, obj_event(&p->b, IB_EVENT_QP_ACCESS_ERR)))
		return -EINVAL;
	for (id = 100; id < 104; id++) {
		if (TRY(p, obj_poll(&p->b, &wc)))
			return -EINVAL;
		if (WANT(p, wc.wr_id == id && wc.status == IB_WC_WR_FLUSH_ERR))
			return -EINVAL;
	}
	return 0;
}

int case_rc_errors(struct obj_pair *p)
{
	struct ib_qp_attr attr;
	struct ib_wc wc;
	u64 id;

	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	if (TRY(p, refused(p)))
		return -EINVAL;
	if (TRY(p, ib_qp_query(p->a.qp[0], &attr, IB_QP_STATE)))
		return -EINVAL;
	if (WANT(p, attr.state == IB_QPS_ERR))
		return -EINVAL;
	/* Also what is posted in ERR comes back. */
	if (TRY(p, obj_recv(p->a.qp[0], &p->a, 7, 0, 8)))
		return -EINVAL;
	if (TRY(p, obj_poll(&p->a, &wc)))
		return -EINVAL;
	if (WANT(p, wc.wr_id == 7 && wc.status == IB_WC_WR_FLUSH_ERR))
		return -EINVAL;
	/* What has not been polled when a QP is reset is never seen. */
	for (id = 0; id < 8; id++)
		if (TRY(p, obj_recv(p->b.qp[0], &p->b, id, 0, 8)))
			return -EINVAL;
	if (TRY(p, obj_move(p->a.qp[0], IB_QPS_RESET)))
		return -EINVAL;
	if (TRY(p, obj_move(p->b.qp[0], IB_QPS_RESET)))
		return -EINVAL;
	if (WANT(p, obj_none(&p->b)))
		return -EINVAL;
	if (WANT(p, obj_recv(p->b.qp[0], &p->b, 1, 0, 8) == -EINVAL))
		return -EINVAL;
	if (TRY(p, obj_connect(p->a.qp[0], &p->a, &p->b, p->b.qp[0]->qpn)))
		return -EINVAL;
	if (TRY(p, obj_connect(p->b.qp[0], &p->b, &p->a, p->a.qp[0]->qpn)))
		return -EINVAL;
	return sends(p);
}

/* Several times round the rings: chains, most of them without a completion of their own. */
int case_rc_wrap(struct obj_pair *p)
{
	u32 round, i, left, rings = 5 * p->a.port->number + 40;
	struct ib_send_wr wr[4];
	struct ib_sge sge[4];
	struct ib_wc wc;

	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	for (round = 0; round < rings * RING / 4; round++) {
		for (i = 0; i < 4; i++) {
			u32 seq = round * 4 + i, bytes = 4 + seq % 120;

			obj_fill(p->a.buf + i * 128, seq, bytes);
			sge[i] = obj_sge(&p->a, i * 128, bytes);
			wr[i] = (struct ib_send_wr){
				.opcode = IB_WR_SEND, .wr_id = seq, .sg_list = &sge[i],
				.num_sge = 1, .next = i < 3 ? &wr[i + 1] : NULL,
				.flags = i == 3 ? IB_SEND_SIGNALED : 0,
			};
			if (TRY(p, obj_recv(p->b.qp[0], &p->b, seq, HALF + i * 128, 128)))
				return -EINVAL;
		}
		if (TRY(p, obj_send(p->a.qp[0], wr)))
			return -EINVAL;
		for (i = 0; i < 4; i++) {
			u32 seq = round * 4 + i, bytes = 4 + seq % 120;

			if (WANT(p, obj_good(&p->b, seq, IB_WC_RECV, &wc)))
				return -EINVAL;
			if (WANT(p, wc.byte_len == bytes))
				return -EINVAL;
			if (WANT(p, obj_is(p->b.buf + HALF + i * 128, seq, bytes)))
				return -EINVAL;
		}
		if (WANT(p, obj_good(&p->a, round * 4 + 3, IB_WC_SEND, NULL)))
			return -EINVAL;
	}
	/* Full is full. */
	left = p->b.qp[0]->cap.max_recv_wr;
	for (i = 0; i < left; i++)
		if (TRY(p, obj_recv(p->b.qp[0], &p->b, i, HALF, 128)))
			return -EINVAL;
	if (WANT(p, obj_recv(p->b.qp[0], &p->b, i, HALF, 128) == -ENOMEM))
		return -EINVAL;
	return 0;
}

static int is_state(struct obj_pair *p, struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr;

	if (TRY(p, ib_qp_query(qp, &attr, IB_QP_STATE)))
		return -EINVAL;
	if (WANT(p, attr.state == state))
		return -EINVAL;
	return 0;
}

/* What was set is what is found. */
static int query_all(struct obj_pair *p, struct ib_qp *qp)
{
	struct ib_qp_attr attr;

	if (TRY(p, ib_qp_query(qp, &attr, ~0u)))
		return -EINVAL;
	if (WANT(p, attr.state == IB_QPS_RTS && attr.path_mtu == IB_MTU_1024))
		return -EINVAL;
	if (WANT(p, attr.dest_qpn == p->b.qp[0]->qpn && attr.ah.dlid == p->b.port->lid))
		return -EINVAL;
	if (WANT(p, attr.port == p->a.port->number && attr.timeout == 17))
		return -EINVAL;
	if (WANT(p, attr.retry_cnt == 7 && attr.rnr_retry == 7 && attr.min_rnr_timer == 12))
		return -EINVAL;
	if (WANT(p, attr.max_rd_atomic == 4 && attr.max_dest_rd_atomic == 4))
		return -EINVAL;
	if (WANT(p, attr.access_flags == (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
				      IB_ACCESS_REMOTE_ATOMIC)))
		return -EINVAL;
	if (WANT(p, attr.path_mig_state == IB_MIG_MIGRATED && !attr.ah.has_grh))
		return -EINVAL;
	if (WANT(p, attr.cap.max_send_wr == qp->cap.max_send_wr))
		return -EINVAL;
	return 0;
}

static int drained(struct obj_pair *p, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_SQD, .en_sqd_async_notify = true };
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .wr_id = 9, .flags = IB_SEND_SIGNALED };

	if (TRY(p, ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY, NULL)))
		return -EINVAL;
	if (WANT(p, obj_event(&p->a, IB_EVENT_SQ_DRAINED)))
		return -EINVAL;
	if (TRY(p, is_state(p, qp, IB_QPS_SQD)))
		return -EINVAL;
	/* It waits until the QP goes on. */
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 8, HALF, 8)))
		return -EINVAL;
	if (TRY(p, obj_send(qp, &wr)))
		return -EINVAL;
	if (WANT(p, obj_none(&p->a)))
		return -EINVAL;
	attr.min_rnr_timer = 3;
	attr.retry_cnt = 5;
	if (TRY(p, ib_qp_modify(qp, &attr, IB_QP_MIN_RNR_TIMER | IB_QP_RETRY_CNT, NULL)))
		return -EINVAL;
	if (TRY(p, obj_move(qp, IB_QPS_RTS)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 9, IB_WC_SEND, NULL)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->b, 8, IB_WC_RECV, NULL)))
		return -EINVAL;
	if (TRY(p, ib_qp_query(qp, &attr, ~0u)))
		return -EINVAL;
	if (WANT(p, attr.min_rnr_timer == 3 && attr.retry_cnt == 5 && attr.rnr_retry == 7))
		return -EINVAL;
	return 0;
}

int case_states(struct obj_pair *p)
{
	struct ib_qp_init init = obj_init(&p->a, IB_QPT_RC);
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct ib_qp_attr attr;

	if (TRY(p, obj_qp(&p->a, 1, &init)))
		return -EINVAL;
	if (TRY(p, is_state(p, p->a.qp[1], IB_QPS_RESET)))
		return -EINVAL;
	if (WANT(p, obj_send(p->a.qp[1], &wr) == -EINVAL))
		return -EINVAL;
	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	if (TRY(p, query_all(p, p->a.qp[0])))
		return -EINVAL;
	if (TRY(p, drained(p, p->a.qp[0])))
		return -EINVAL;
	attr.access_flags = IB_ACCESS_REMOTE_READ;
	if (TRY(p, ib_qp_modify(p->a.qp[0], &attr, IB_QP_ACCESS_FLAGS, NULL)))
		return -EINVAL;
	if (TRY(p, ib_qp_query(p->a.qp[0], &attr, ~0u)))
		return -EINVAL;
	if (WANT(p, attr.access_flags == IB_ACCESS_REMOTE_READ && attr.max_dest_rd_atomic == 4))
		return -EINVAL;
	if (TRY(p, obj_move(p->a.qp[0], IB_QPS_ERR)))
		return -EINVAL;
	if (TRY(p, is_state(p, p->a.qp[0], IB_QPS_ERR)))
		return -EINVAL;
	if (TRY(p, obj_move(p->a.qp[0], IB_QPS_RESET)))
		return -EINVAL;
	if (TRY(p, is_state(p, p->a.qp[0], IB_QPS_RESET)))
		return -EINVAL;
	return 0;
}

int case_uc(struct obj_pair *p)
{
	struct ib_send_wr read = { .opcode = IB_WR_RDMA_READ };

	if (TRY(p, obj_pairs(p, IB_QPT_UC)))
		return -EINVAL;
	if (TRY(p, sends(p)))
		return -EINVAL;
	if (TRY(p, writes(p)))
		return -EINVAL;
	if (WANT(p, obj_send(p->a.qp[0], &read) == -EINVAL))
		return -EINVAL;
	return 0;
}
