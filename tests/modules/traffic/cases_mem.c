// SPDX-License-Identifier: GPL-2.0-only
/* Cases of shared queues, and of memory that is registered and opened by requests. */
#include <linux/scatterlist.h>
#include <linux/string.h>

#include <ib/compat.h>

#include "cases.h"

#define HALF	(OBJ_BYTES / 2)
#define SRQ_WRS	30

static void srq_event(struct ib_srq *srq, enum ib_event_type type)
{
	struct obj_side *side = srq->priv;

	atomic_inc(&side->events[type]);
}

static int make_srq(struct obj_side *side, struct ib_xrcd *xrcd)
{
	struct ib_srq_init init = {
		.attr = { .max_wr = SRQ_WRS, .max_sge = 2 },
		.event = srq_event,
		.priv = side,
		.xrcd = xrcd,
		.cq = xrcd ? side->cq : NULL,
	};

	side->srq = ib_srq_create(side->pd, &init, NULL);
	return PTR_ERR_OR_ZERO(side->srq);
}

static int post_srq(struct obj_side *side, u64 id)
{
	struct ib_sge sge = obj_sge(side, HALF + id * 1024, 1024);
	struct ib_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	return ib_srq_post(side->srq, &wr, &bad);
}

static int send_to_srq(struct obj_pair *p, struct ib_qp *qp, u32 srqn, u32 seed)
{
	struct ib_sge sge = obj_sge(&p->a, 0, 700);
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .wr_id = seed, .flags = IB_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1, .xrc_srqn = srqn,
	};

	obj_fill(p->a.buf, seed, 700);
	if (TRY(p, obj_send(qp, &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, seed, IB_WC_SEND, NULL)))
		return -EINVAL;
	return 0;
}

/* Two QPs take turns; entries come back in the order of use, more often than there are entries. */
static int rounds(struct obj_pair *p, unsigned int qps, u32 srqn)
{
	struct ib_wc wc;
	u32 n;

	for (n = 0; n < 100; n++) {
		if (TRY(p, send_to_srq(p, p->a.qp[n % qps], srqn, n)))
			return -EINVAL;
		if (TRY(p, obj_poll(&p->b, &wc)))
			return -EINVAL;
		if (WANT(p, wc.status == IB_WC_SUCCESS && wc.byte_len == 700))
			return -EINVAL;
		if (WANT(p, wc.qp == p->b.qp[n % qps]))
			return -EINVAL;
		if (WANT(p, obj_is(p->b.buf + HALF + wc.wr_id * 1024, n, 700)))
			return -EINVAL;
		if (TRY(p, post_srq(&p->b, wc.wr_id)))
			return -EINVAL;
	}
	return 0;
}

static int limit(struct obj_pair *p)
{
	struct ib_srq_attr attr = { .limit = 5 };
	u32 n;

	if (TRY(p, ib_srq_modify(p->b.srq, &attr, IB_SRQ_LIMIT, NULL)))
		return -EINVAL;
	if (TRY(p, ib_srq_query(p->b.srq, &attr)))
		return -EINVAL;
	if (WANT(p, attr.limit == 5 && attr.max_wr >= SRQ_WRS && attr.max_sge >= 2))
		return -EINVAL;
	for (n = 0; n < 3; n++)
		if (TRY(p, send_to_srq(p, p->a.qp[0], 0, n)))
			return -EINVAL;
	if (WANT(p, !atomic_read(&p->b.events[IB_EVENT_SRQ_LIMIT_REACHED])))
		return -EINVAL;
	if (TRY(p, send_to_srq(p, p->a.qp[0], 0, n)))
		return -EINVAL;
	if (WANT(p, obj_event(&p->b, IB_EVENT_SRQ_LIMIT_REACHED)))
		return -EINVAL;
	if (TRY(p, ib_srq_query(p->b.srq, &attr)))
		return -EINVAL;
	if (WANT(p, !attr.limit))
		return -EINVAL;
	return 0;
}

int case_srq(struct obj_pair *p)
{
	struct ib_qp_init a = obj_init(&p->a, IB_QPT_RC), b = obj_init(&p->b, IB_QPT_RC);
	unsigned int i, room;

	if (TRY(p, make_srq(&p->b, NULL)))
		return -EINVAL;
	b.srq = p->b.srq;
	for (i = 0; i < 2; i++) {
		if (TRY(p, obj_qp(&p->a, i, &a)))
			return -EINVAL;
		if (TRY(p, obj_qp(&p->b, i, &b)))
			return -EINVAL;
		if (TRY(p, obj_connect(p->a.qp[i], &p->a, &p->b, p->b.qp[i]->qpn)))
			return -EINVAL;
		if (TRY(p, obj_connect(p->b.qp[i], &p->b, &p->a, p->a.qp[i]->qpn)))
			return -EINVAL;
	}
	for (i = 0; i < 8; i++)
		if (TRY(p, post_srq(&p->b, i)))
			return -EINVAL;
	if (TRY(p, rounds(p, 2, 0)))
		return -EINVAL;
	if (TRY(p, limit(p)))
		return -EINVAL;
	/* Four are posted, and four completions wait; what is destroyed gives its entries back. */
	ib_qp_destroy(p->b.qp[0]);
	p->b.qp[0] = NULL;
	if (WANT(p, obj_none(&p->b)))
		return -EINVAL;
	for (room = 0; !post_srq(&p->b, 0); room++)
		;
	if (WANT(p, room >= SRQ_WRS - 4))
		return -EINVAL;
	if (TRY(p, obj_move(p->b.qp[1], IB_QPS_ERR)))
		return -EINVAL;
	if (WANT(p, obj_event(&p->b, IB_EVENT_QP_LAST_WQE_REACHED)))
		return -EINVAL;
	return 0;
}

int case_xrc(struct obj_pair *p)
{
	struct ib_qp_init a = obj_init(&p->a, IB_QPT_XRC_INI);
	struct ib_qp_init b = obj_init(&p->b, IB_QPT_XRC_TGT);
	unsigned int i;

	p->b.xrcd = ib_xrcd_create(p->b.attachment, NULL);
	if (TRY(p, PTR_ERR_OR_ZERO(p->b.xrcd)))
		return -EINVAL;
	if (TRY(p, make_srq(&p->b, p->b.xrcd)))
		return -EINVAL;
	a.recv_cq = NULL;
	b.send_cq = NULL;
	b.recv_cq = NULL;
	b.xrcd = p->b.xrcd;
	if (TRY(p, obj_qp(&p->a, 0, &a)))
		return -EINVAL;
	if (TRY(p, obj_qp(&p->b, 0, &b)))
		return -EINVAL;
	if (TRY(p, obj_connect(p->a.qp[0], &p->a, &p->b, p->b.qp[0]->qpn)))
		return -EINVAL;
	if (TRY(p, obj_connect(p->b.qp[0], &p->b, &p->a, p->a.qp[0]->qpn)))
		return -EINVAL;
	for (i = 0; i < 8; i++)
		if (TRY(p, post_srq(&p->b, i)))
			return -EINVAL;
	return rounds(p, 1, p->b.srq->srqn);
}

static int local(struct obj_pair *p, struct obj_side *side, struct ib_send_wr *wr, u64 id,
		 enum ib_wc_opcode opcode)
{
	wr->wr_id = id;
	wr->flags = IB_SEND_SIGNALED;
	if (TRY(p, obj_send(side->qp[0], wr)))
		return -EINVAL;
	if (WANT(p, obj_good(side, id, opcode, NULL)))
		return -EINVAL;
	return 0;
}

static int access(struct obj_pair *p, enum ib_wr_opcode opcode, u64 addr, u32 rkey, u32 bytes)
{
	bool read = opcode == IB_WR_RDMA_READ;
	struct ib_sge sge = obj_sge(&p->a, 0, bytes);
	struct ib_send_wr wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.rdma = { .addr = addr, .rkey = rkey },
	};

	return local(p, &p->a, &wr, 77, read ? IB_WC_RDMA_READ : IB_WC_RDMA_WRITE);
}

static int is_refused(struct obj_pair *p, u64 addr, u32 rkey)
{
	struct ib_sge sge = obj_sge(&p->a, 0, 8);
	struct ib_send_wr wr = {
		.opcode = IB_WR_RDMA_WRITE, .wr_id = 78, .flags = IB_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1, .rdma = { .addr = addr, .rkey = rkey },
	};
	struct ib_wc wc;

	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (TRY(p, obj_poll(&p->a, &wc)))
		return -EINVAL;
	if (WANT(p, wc.status == IB_WC_REM_ACCESS_ERR && wc.wr_id == 78))
		return -EINVAL;
	return 0;
}

/* Three pages of the memory, in another order than they lie. */
static int map_pages(struct obj_pair *p, u32 *bytes)
{
	static const u32 pages[] = { 9, 3, 5 };
	struct scatterlist sg[3];
	unsigned int i;

	sg_init_table(sg, 3);
	for (i = 0; i < 3; i++) {
		sg_dma_address(&sg[i]) = p->b.dma + pages[i] * 4096 + (i ? 0 : 100);
		sg_dma_len(&sg[i]) = i ? 4096 : 3996;
	}
	sg_dma_len(&sg[2]) = 50;
	*bytes = 3996 + 4096 + 50;
	if (WANT(p, ib_mr_map(p->b.fast, sg, 3, NULL, 4096) == 3))
		return -EINVAL;
	if (WANT(p, p->b.fast->npages == 3 && p->b.fast->length == *bytes))
		return -EINVAL;
	return 0;
}

static int fast_use(struct obj_pair *p, u32 key)
{
	u32 bytes = 0;
	struct ib_send_wr reg = {
		.opcode = IB_WR_REG_MR,
		.reg = {
			.mr = p->b.fast, .key = key,
			.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_READ,
		},
	};
	u64 addr;

	if (TRY(p, map_pages(p, &bytes)))
		return -EINVAL;
	if (TRY(p, local(p, &p->b, &reg, 1, IB_WC_REG_MR)))
		return -EINVAL;
	addr = p->b.fast->iova;
	obj_fill(p->a.buf, key, bytes);
	memset(p->b.buf, 0, OBJ_BYTES);
	if (TRY(p, access(p, IB_WR_RDMA_WRITE, addr, key, bytes)))
		return -EINVAL;
	memset(p->a.buf, 0, bytes);
	if (TRY(p, access(p, IB_WR_RDMA_READ, addr, key, bytes)))
		return -EINVAL;
	if (WANT(p, obj_is(p->a.buf, key, bytes)))
		return -EINVAL;
	if (WANT(p, !memcmp(p->b.buf + 9 * 4096 + 100, p->a.buf, 3996)))
		return -EINVAL;
	if (WANT(p, !memcmp(p->b.buf + 3 * 4096, p->a.buf + 3996, 4096)))
		return -EINVAL;
	if (WANT(p, !memcmp(p->b.buf + 5 * 4096, p->a.buf + 3996 + 4096, 50)))
		return -EINVAL;
	if (WANT(p, !p->b.buf[5 * 4096 + 50] && !p->b.buf[9 * 4096 + 99]))
		return -EINVAL;
	return 0;
}

/* Registered by a request, used, made invalid by the owner and by the peer. */
int case_fast(struct obj_pair *p)
{
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct ib_send_wr remote = { .opcode = IB_WR_SEND_WITH_INV };
	struct ib_wc wc;
	u32 key;

	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	p->b.fast = ib_mr_create_fast(p->b.pd, 3);
	if (TRY(p, PTR_ERR_OR_ZERO(p->b.fast)))
		return -EINVAL;
	key = p->b.fast->rkey;
	if (TRY(p, fast_use(p, key)))
		return -EINVAL;
	inv.invalidate_rkey = key;
	if (TRY(p, local(p, &p->b, &inv, 2, IB_WC_LOCAL_INV)))
		return -EINVAL;
	key = (key & ~0xffu) | ((key + 1) & 0xff);
	if (TRY(p, fast_use(p, key)))
		return -EINVAL;
	remote.invalidate_rkey = key;
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 3, 0, 8)))
		return -EINVAL;
	if (TRY(p, local(p, &p->a, &remote, 4, IB_WC_SEND)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->b, 3, IB_WC_RECV, &wc)))
		return -EINVAL;
	if (WANT(p, wc.flags & IB_WC_WITH_INVALIDATE && wc.invalidate_rkey == key))
		return -EINVAL;
	return is_refused(p, p->b.fast->iova, key);
}

static struct ib_send_wr bind(struct obj_pair *p, u32 key, u64 length)
{
	return (struct ib_send_wr){
		.opcode = IB_WR_BIND_MW,
		.bind = {
			.mw = p->b.mw, .mr = p->b.mr, .addr = p->b.dma + HALF + 64,
			.length = length, .rkey = key,
			.access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
		},
	};
}

static int window_use(struct obj_pair *p, u32 key)
{
	struct ib_send_wr wr = bind(p, key, 2000);

	if (TRY(p, local(p, &p->b, &wr, 1, IB_WC_BIND_MW)))
		return -EINVAL;
	obj_fill(p->a.buf, key, 2000);
	memset(p->b.buf, 0, OBJ_BYTES);
	if (TRY(p, access(p, IB_WR_RDMA_WRITE, p->b.dma + HALF + 64, key, 2000)))
		return -EINVAL;
	if (WANT(p, obj_is(p->b.buf + HALF + 64, key, 2000)))
		return -EINVAL;
	memset(p->a.buf, 0, 2000);
	if (TRY(p, access(p, IB_WR_RDMA_READ, p->b.dma + HALF + 64, key, 2000)))
		return -EINVAL;
	if (WANT(p, obj_is(p->a.buf, key, 2000)))
		return -EINVAL;
	return 0;
}

static int window(struct obj_pair *p, u8 type)
{
	if (TRY(p, obj_pairs(p, IB_QPT_RC)))
		return -EINVAL;
	p->b.mw = ib_mw_create(p->b.pd, type, NULL);
	return PTR_ERR_OR_ZERO(p->b.mw);
}

int case_mw1(struct obj_pair *p)
{
	struct ib_send_wr unbind;
	u32 key;

	if (TRY(p, window(p, 1)))
		return -EINVAL;
	key = p->b.mw->rkey;
	if (TRY(p, window_use(p, key)))
		return -EINVAL;
	/* Bound again, under another key. */
	key = (key & ~0xffu) | ((key + 1) & 0xff);
	if (TRY(p, window_use(p, key)))
		return -EINVAL;
	unbind = bind(p, key, 0);
	if (TRY(p, local(p, &p->b, &unbind, 2, IB_WC_BIND_MW)))
		return -EINVAL;
	return is_refused(p, p->b.dma + HALF + 64, key);
}

int case_mw2(struct obj_pair *p)
{
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	u32 key;

	if (TRY(p, window(p, 2)))
		return -EINVAL;
	key = p->b.mw->rkey;
	if (TRY(p, window_use(p, key)))
		return -EINVAL;
	inv.invalidate_rkey = key;
	if (TRY(p, local(p, &p->b, &inv, 2, IB_WC_LOCAL_INV)))
		return -EINVAL;
	key = (key & ~0xffu) | ((key + 1) & 0xff);
	if (TRY(p, window_use(p, key)))
		return -EINVAL;
	/* Outside of the window there is nothing. */
	return is_refused(p, p->b.dma + HALF, key);
}
