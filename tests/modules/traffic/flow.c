// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flow: one QP, its requests, and what is in them.
 *
 * A message begins with its number and the number of its sender; the rest follows from these, so
 * the receiver can check all of it.  A connection loses and reorders nothing; datagrams may get
 * lost.  A page is written and read back in turns.
 */
#include <linux/dma-mapping.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include <ib/compat.h>
#include <ib/hca.h>

#include "traffic.h"

#define RECVS		TRAFFIC_DEPTH
#define SENDS		TRAFFIC_DEPTH
#define WRITE_SLOT	(RECVS + SENDS)
#define READ_SLOT	(WRITE_SLOT + 1)
#define TARGET_SLOT	(READ_SLOT + 1)	/* no request: what the other writes and reads */
#define SLOTS		(TARGET_SLOT + 1)
#define SLOT_BYTES	4096
#define QKEY		0x1ee7
#define PSN		0x0ffff0	/* wraps soon */
#define HEAD		8

struct traffic_totals traffic_totals;

/* As fast as they can they leave nothing of a slow machine to anybody else. */
static unsigned int pace;
module_param(pace, uint, 0444);
MODULE_PARM_DESC(pace, "milliseconds between the end of a request and the next (0)");

static void fill(u8 *at, u32 seq, u32 from, unsigned int bytes)
{
	u32 x = seq * 2654435761u ^ from;
	unsigned int i;

	put_unaligned_be32(seq, at);
	put_unaligned_be32(from, at + 4);
	for (i = HEAD; i + 4 <= bytes; i += 4) {
		x = x * 1664525 + 1013904223;
		put_unaligned_be32(x, at + i);
	}
}

static bool is_right(const u8 *at, u32 seq, u32 from, unsigned int bytes)
{
	u32 x = seq * 2654435761u ^ from;
	unsigned int i;

	for (i = HEAD; i + 4 <= bytes; i += 4) {
		x = x * 1664525 + 1013904223;
		if (get_unaligned_be32(at + i) != x)
			return false;
	}
	return get_unaligned_be32(at) == seq && get_unaligned_be32(at + 4) == from;
}

static void bad(struct traffic_flow *flow, const char *what, u32 value)
{
	if (atomic_inc_return(&traffic_totals.bad) <= 20)
		pr_err("lastref_traffic: port %u %s: %s (%#x)\n", flow->port->number,
		       flow->type == IB_QPT_RC ? "RC" : "UD", what, value);
}

static void break_(struct traffic_flow *flow)
{
	WRITE_ONCE(flow->broken, true);
}

static int post_recv(struct traffic_flow *flow, struct traffic_slot *slot)
{
	struct ib_sge sge = {
		.addr = slot->dma,
		.length = TRAFFIC_GRH + TRAFFIC_BYTES,
		.lkey = flow->port->hca->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .cqe = &slot->cqe, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *first_bad;
	int err;

	atomic_inc(&flow->posted);
	err = ib_qp_post_recv(flow->qp, &wr, &first_bad);
	if (err)
		atomic_dec(&flow->posted);
	return err;
}

static int post_send(struct traffic_flow *flow, struct traffic_slot *slot)
{
	struct ib_sge sge = {
		.addr = slot->dma,
		.length = slot->kind == TRAFFIC_SEND ? TRAFFIC_BYTES : SLOT_BYTES,
		.lkey = flow->port->hca->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.cqe = &slot->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.flags = IB_SEND_SIGNALED,
		.opcode = IB_WR_SEND,
	};
	const struct ib_send_wr *first_bad;
	unsigned long irq;
	int err;

	/* The first ones are posted while completions of others post again. */
	spin_lock_irqsave(&flow->numbering, irq);
	if (slot->kind == TRAFFIC_SEND) {
		fill(slot->buf, flow->send_seq, flow->qp->qpn, TRAFFIC_BYTES);
	} else {
		wr.opcode = slot->kind == TRAFFIC_WRITE ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ;
		wr.rdma.addr = flow->peer_addr;
		wr.rdma.rkey = flow->peer_rkey;
	}
	if (slot->kind == TRAFFIC_WRITE)
		fill(slot->buf, flow->send_seq, flow->qp->qpn, SLOT_BYTES);
	if (flow->type == IB_QPT_UD) {
		wr.ud.ah = flow->ah;
		wr.ud.qpn = flow->peer_qpn;
		wr.ud.qkey = QKEY;
	}
	atomic_inc(&flow->posted);
	err = ib_qp_post_send(flow->qp, &wr, &first_bad);
	if (err)
		atomic_dec(&flow->posted);
	else if (slot->kind == TRAFFIC_SEND)
		flow->send_seq++;
	spin_unlock_irqrestore(&flow->numbering, irq);
	return err;
}

static void check_message(struct traffic_flow *flow, struct traffic_slot *slot, struct ib_wc *wc)
{
	bool ud = flow->type == IB_QPT_UD;
	const u8 *data = slot->buf + (ud ? TRAFFIC_GRH : 0);
	u32 want = TRAFFIC_BYTES + (ud ? TRAFFIC_GRH : 0);
	u32 seq;

	dma_sync_single_for_cpu(traffic_device(flow->port)->hca->parent, slot->dma, SLOT_BYTES,
				DMA_BIDIRECTIONAL);
	seq = get_unaligned_be32(data);
	if (wc->byte_len != want)
		bad(flow, "wrong length", wc->byte_len);
	else if (wc->opcode != IB_WC_RECV)
		bad(flow, "wrong opcode", wc->opcode);
	else if (ud && wc->src_qp != flow->peer_qpn)
		bad(flow, "wrong source", wc->src_qp);
	else if (!ud && seq != flow->recv_seq)
		bad(flow, "wrong number", seq - flow->recv_seq);
	else if (!is_right(data, seq, flow->peer_qpn, TRAFFIC_BYTES))
		bad(flow, "wrong bytes", seq);
	else
		atomic64_inc(&traffic_totals.messages[!ud]);
	flow->recv_seq = seq + 1;
}

/* The page that was read is the one that was written before. */
static void check_page(struct traffic_flow *flow, struct traffic_slot *slot)
{
	const u8 *wrote = flow->slots[WRITE_SLOT].buf;

	if (memcmp(slot->buf, wrote, SLOT_BYTES))
		bad(flow, "wrong page", get_unaligned_be32(slot->buf));
	else
		atomic64_inc(&traffic_totals.rdma);
}

static void send_again(struct work_struct *work)
{
	struct traffic_slot *slot = container_of(to_delayed_work(work), struct traffic_slot, again);

	if (READ_ONCE(slot->flow->running) && post_send(slot->flow, slot))
		break_(slot->flow);
}

/* At once, or by and by. */
static int send_next(struct traffic_flow *flow, struct traffic_slot *slot)
{
	if (!pace)
		return post_send(flow, slot);
	queue_delayed_work(system_wq, &slot->again, msecs_to_jiffies(pace));
	return 0;
}

static void done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct traffic_slot *slot = container_of(wc->cqe, struct traffic_slot, cqe);
	struct traffic_flow *flow = slot->flow;
	int err = 0;

	atomic_inc(&flow->completed);
	if (wc->qp != flow->qp)
		bad(flow, "wrong QP", wc->qp ? wc->qp->qpn : 0);
	if (wc->status != IB_WC_SUCCESS) {
		atomic_inc(wc->status == IB_WC_WR_FLUSH_ERR ? &traffic_totals.flushed :
							      &traffic_totals.errors);
		break_(flow);
		return;
	}
	if (slot->kind == TRAFFIC_RECV)
		check_message(flow, slot, wc);
	else if (slot->kind == TRAFFIC_READ)
		check_page(flow, slot);
	if (!READ_ONCE(flow->running))
		return;
	switch (slot->kind) {
	case TRAFFIC_RECV:
		err = post_recv(flow, slot);
		break;
	case TRAFFIC_SEND:
		err = send_next(flow, slot);
		break;
	case TRAFFIC_WRITE:
		memset(flow->slots[READ_SLOT].buf, 0xee, SLOT_BYTES);
		err = post_send(flow, &flow->slots[READ_SLOT]);
		break;
	case TRAFFIC_READ:
		err = send_next(flow, &flow->slots[WRITE_SLOT]);
		break;
	}
	if (err)
		break_(flow);
}

static int slots_make(struct traffic_flow *flow)
{
	struct device *dma = traffic_device(flow->port)->hca->parent;
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		struct traffic_slot *slot = &flow->slots[i];

		slot->flow = flow;
		slot->cqe.done = done;
		INIT_DELAYED_WORK(&slot->again, send_again);
		slot->kind = i < RECVS ? TRAFFIC_RECV : i < WRITE_SLOT ? TRAFFIC_SEND :
			     i == WRITE_SLOT ? TRAFFIC_WRITE : TRAFFIC_READ;
		slot->buf = kzalloc(SLOT_BYTES, GFP_KERNEL);
		if (!slot->buf)
			return -ENOMEM;
		slot->dma = dma_map_single(dma, slot->buf, SLOT_BYTES, DMA_BIDIRECTIONAL);
		if (dma_mapping_error(dma, slot->dma)) {
			kfree(slot->buf);
			return -ENOMEM;
		}
		flow->dma_slots++;
	}
	return 0;
}

static void slots_unmake(struct traffic_flow *flow)
{
	struct device *dma = traffic_device(flow->port)->hca->parent;

	while (flow->dma_slots) {
		struct traffic_slot *slot = &flow->slots[--flow->dma_slots];

		dma_unmap_single(dma, slot->dma, SLOT_BYTES, DMA_BIDIRECTIONAL);
		kfree(slot->buf);
	}
}

/* After a drain nothing is put off any more; what was may have been posted meanwhile. */
static void drain_paced(struct traffic_flow *flow)
{
	unsigned int i;

	for (i = 0; i < flow->dma_slots; i++)
		cancel_delayed_work_sync(&flow->slots[i].again);
	ib_qp_drain(flow->qp);
}

static void flow_unmake(struct traffic_flow *flow)
{
	int left;

	WRITE_ONCE(flow->running, false);
	if (flow->qp) {
		ib_qp_drain(flow->qp);
		if (pace)
			drain_paced(flow);
		left = atomic_read(&flow->posted) - atomic_read(&flow->completed);
		if (left > 0)
			atomic_add(left, &traffic_totals.lost);
		else if (left < 0)
			atomic_sub(left, &traffic_totals.double_);
		ib_qp_destroy(flow->qp);
	}
	if (flow->ah)
		ib_ah_destroy(flow->ah);
	if (flow->recv_cq)
		ib_cq_destroy(flow->recv_cq);
	if (flow->send_cq)
		ib_cq_destroy(flow->send_cq);
	flow->qp = NULL;
	flow->ah = NULL;
	flow->recv_cq = NULL;
	flow->send_cq = NULL;
	slots_unmake(flow);
}

static struct ib_cq *make_cq(struct traffic_flow *flow, enum ib_cq_context context)
{
	struct ib_cq_init init = {
		.cqe = SLOTS + 2,
		.vector = flow->port->number,
		.context = context,
	};
	struct ib_cq *cq = ib_cq_create(flow->port->hca->attachment, &init, NULL);

	return IS_ERR(cq) ? NULL : cq;
}

static int to_init(struct traffic_flow *flow)
{
	struct ib_qp_attr attr = {
		.state = IB_QPS_INIT,
		.port = flow->port->number,
		.qkey = QKEY,
		.access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};

	return ib_qp_modify(flow->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    (flow->type == IB_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS), NULL);
}

static int flow_make(struct traffic_flow *flow)
{
	struct ib_qp_init init = {
		.type = flow->type,
		.cap = { SENDS + 2, RECVS, 1, 1, 0 },
	};
	unsigned int i;
	int err;

	spin_lock_init(&flow->numbering);
	flow->broken = false;
	flow->send_seq = 0;
	flow->recv_seq = 0;
	atomic_set(&flow->posted, 0);
	atomic_set(&flow->completed, 0);
	err = slots_make(flow);
	if (err)
		return err;
	flow->send_cq = make_cq(flow, IB_CQ_SOFTIRQ);
	flow->recv_cq = make_cq(flow, IB_CQ_WORKQUEUE);
	if (!flow->send_cq || !flow->recv_cq)
		return -ENOMEM;
	init.send_cq = flow->send_cq;
	init.recv_cq = flow->recv_cq;
	flow->qp = ib_qp_create(flow->port->hca->attachment, flow->port->hca->pd, &init, NULL);
	if (IS_ERR(flow->qp)) {
		err = PTR_ERR(flow->qp);
		flow->qp = NULL;
		return err;
	}
	err = to_init(flow);
	for (i = 0; !err && i < RECVS; i++)
		err = post_recv(flow, &flow->slots[i]);
	return err;
}

int traffic_port_make(struct traffic_port *port)
{
	unsigned int i;
	int err = 0;

	port->flows[0].type = IB_QPT_UD;
	port->flows[1].type = IB_QPT_RC;
	port->made = true;
	for (i = 0; !err && i < ARRAY_SIZE(port->flows); i++) {
		port->flows[i].port = port;
		err = flow_make(&port->flows[i]);
	}
	if (err)
		traffic_port_unmake(port);
	return err;
}

static int connect_ud(struct traffic_flow *flow, const struct ib_ah_attr *address)
{
	struct ib_qp_attr attr = { .state = IB_QPS_RTR };
	int err;

	err = ib_qp_modify(flow->qp, &attr, IB_QP_STATE, NULL);
	attr.state = IB_QPS_RTS;
	if (!err)
		err = ib_qp_modify(flow->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN, NULL);
	if (err)
		return err;
	flow->ah = ib_ah_create(flow->port->hca->pd, address, GFP_KERNEL);
	if (IS_ERR(flow->ah)) {
		err = PTR_ERR(flow->ah);
		flow->ah = NULL;
	}
	return err;
}

static int connect_rc(struct traffic_flow *flow, const struct ib_ah_attr *address)
{
	struct ib_qp_attr attr = {
		.state = IB_QPS_RTR,
		.ah = *address,
		.path_mtu = IB_MTU_1024,	/* messages of several packets */
		.dest_qpn = flow->peer_qpn,
		.rq_psn = PSN,
		.sq_psn = PSN,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 12,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	int err;

	err = ib_qp_modify(flow->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			   IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			   IB_QP_MIN_RNR_TIMER, NULL);
	attr.state = IB_QPS_RTS;
	if (!err)
		err = ib_qp_modify(flow->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				   IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC, NULL);
	return err;
}

int traffic_port_connect(struct traffic_port *port, struct traffic_port *peer)
{
	struct ib_ah_attr address = { .dlid = peer->lid, .port = port->number };
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(port->flows); i++) {
		struct traffic_flow *flow = &port->flows[i];

		flow->peer_qpn = peer->flows[i].qp->qpn;
		flow->peer_addr = peer->flows[i].slots[TARGET_SLOT].dma;
		flow->peer_rkey = peer->hca->mr->rkey;
		err = flow->type == IB_QPT_UD ? connect_ud(flow, &address) :
						connect_rc(flow, &address);
	}
	return err;
}

void traffic_port_start(struct traffic_port *port)
{
	unsigned int i, f;
	int err;

	for (f = 0; f < ARRAY_SIZE(port->flows); f++) {
		struct traffic_flow *flow = &port->flows[f];

		WRITE_ONCE(flow->running, true);
		for (i = RECVS, err = 0; !err && i < WRITE_SLOT; i++)
			err = post_send(flow, &flow->slots[i]);
		if (!err && flow->type == IB_QPT_RC)
			err = post_send(flow, &flow->slots[WRITE_SLOT]);
		if (err)
			break_(flow);
	}
}

bool traffic_port_broken(const struct traffic_port *port)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(port->flows); i++)
		if (READ_ONCE(port->flows[i].broken))
			return true;
	return false;
}

void traffic_port_unmake(struct traffic_port *port)
{
	unsigned int i;

	for (i = 0; port->made && i < ARRAY_SIZE(port->flows); i++)
		if (port->flows[i].port)
			flow_unmake(&port->flows[i]);
	port->made = false;
}
