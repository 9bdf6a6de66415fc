// SPDX-License-Identifier: GPL-2.0-only
/*
 * QP0 and QP1 of a port: how MADs get to the wire and from it.
 *
 * Each place in a send queue is a slot with memory of its own, into which a MAD is copied: so what
 * becomes of the send it belongs to does not depend on when, or whether, the hardware is done with
 * it.  What finds no slot waits in a queue of its agent, and the agents take turns: an agent that
 * sends a flood waits for itself, and the others for one MAD of it.
 *
 * Received MADs are copied out of their buffers, which go back at once.
 *
 * A send that fails leaves the send queue in error, and those behind it are flushed (IBA 10.3.1).
 * The work item brings the queue back and sends them again.  When receives are flushed as well the
 * hardware is gone, or the QP for good, and so is everything under way.
 */
#include <linux/dma-mapping.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "mad.h"

/* A GRH and a MAD; rounded up, so that no two share a cache line. */
#define IB_MAD_RECV_BYTES (IB_GRH_SIZE + IB_MAD_SIZE)
#define IB_MAD_RECV_STRIDE 320
#define IB_MAD_BUFFERS_PER_PAGE (PAGE_SIZE / IB_MAD_RECV_STRIDE)
#define IB_MAD_SLOTS_PER_PAGE (PAGE_SIZE / IB_MAD_SIZE)
#define IB_MAD_QUEUE_MIN 64
#define IB_MAD_QUEUE_MAX 8192

static unsigned int send_queue_size = 128;
module_param(send_queue_size, uint, 0444);
MODULE_PARM_DESC(send_queue_size, "MADs that QP0 and QP1 of a port may each be sending, 64 to 8192");

static unsigned int recv_queue_size = 512;
module_param(recv_queue_size, uint, 0444);
MODULE_PARM_DESC(recv_queue_size, "MADs that QP0 and QP1 of a port can each receive at once, 64 to 8192");

/* Where a buffer or a slot is, for us and for the device. */
static struct ib_mad_page ib_mad_buffer_place(const struct ib_mad_buffer *buffer)
{
	size_t n = buffer - buffer->qp->buffers;
	struct ib_mad_page at = buffer->qp->pages[n / IB_MAD_BUFFERS_PER_PAGE];

	at.memory += n % IB_MAD_BUFFERS_PER_PAGE * IB_MAD_RECV_STRIDE;
	at.dma += n % IB_MAD_BUFFERS_PER_PAGE * IB_MAD_RECV_STRIDE;
	return at;
}

static struct ib_mad_page ib_mad_slot_place(const struct ib_mad_slot *slot)
{
	const struct ib_mad_qp *qp = slot->qp;
	size_t before = DIV_ROUND_UP(qp->nbuffers, IB_MAD_BUFFERS_PER_PAGE);
	size_t n = slot - qp->slots;
	struct ib_mad_page at = qp->pages[before + n / IB_MAD_SLOTS_PER_PAGE];

	at.memory += n % IB_MAD_SLOTS_PER_PAGE * IB_MAD_SIZE;
	at.dma += n % IB_MAD_SLOTS_PER_PAGE * IB_MAD_SIZE;
	return at;
}

/* ---- sending ---- */

/** ib_mad_queue_init() - an empty queue */
void ib_mad_queue_init(struct ib_mad_queue *queue)
{
	INIT_LIST_HEAD(&queue->msgs);
	INIT_LIST_HEAD(&queue->ready);
	queue->count = 0;
}

/**
 * ib_mad_queue_add() - something waits for a slot
 * @qp: of which QP
 * @queue: in whose turn
 * @msg: in no queue
 */
void ib_mad_queue_add(struct ib_mad_qp *qp, struct ib_mad_queue *queue, struct ib_mad_msg *msg)
{
	list_add_tail(&msg->node, &queue->msgs);
	msg->queue = queue;
	queue->count++;
	if (list_empty(&queue->ready))
		list_add_tail(&queue->ready, &qp->ready);
}

/** ib_mad_queue_del() - it does no longer, if it did */
void ib_mad_queue_del(struct ib_mad_msg *msg)
{
	if (list_empty(&msg->node))
		return;
	list_del_init(&msg->node);
	if (!--msg->queue->count)
		list_del_init(&msg->queue->ready);
	msg->queue = NULL;
}

/* The message whose turn it is, taken from its queue, which goes to the end. */
static struct ib_mad_msg *ib_mad_queue_next(struct ib_mad_qp *qp)
{
	struct ib_mad_queue *queue = list_first_entry(&qp->ready, struct ib_mad_queue, ready);
	struct ib_mad_msg *msg = list_first_entry(&queue->msgs, struct ib_mad_msg, node);

	list_move_tail(&queue->ready, &qp->ready);
	ib_mad_queue_del(msg);
	return msg;
}

static void ib_mad_slot_free(struct ib_mad_slot *slot)
{
	if (slot->ah)
		ib_ah_destroy(slot->ah);
	slot->ah = NULL;
	slot->sending = NULL;
	list_add(&slot->node, &slot->qp->free);
}

static int ib_mad_slot_post(struct ib_mad_slot *slot)
{
	struct ib_mad_qp *qp = slot->qp;
	struct ib_sge sge = {
		.addr = ib_mad_slot_place(slot).dma,
		.length = IB_MAD_SIZE,
		.lkey = qp->port->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.cqe = &slot->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.flags = IB_SEND_SIGNALED,
		.ud = {
			.ah = slot->ah,
			.qpn = slot->qpn,
			.qkey = slot->qkey,
			.pkey_index = slot->pkey_index,
			.port = qp->port->num,
		},
	};
	const struct ib_send_wr *bad;
	int err = ib_qp_post_send(qp->qp, &wr, &bad);

	if (!err)
		qp->in_flight++;
	return err;
}

static int ib_mad_slot_address(struct ib_mad_slot *slot, const struct ib_mad_addr *to)
{
	struct ib_ah_attr attr;
	struct ib_ah *ah;

	ib_mad_addr_attr(to, slot->qp->port->num, &attr);
	ah = ib_ah_create(slot->qp->port->pd, &attr, GFP_ATOMIC);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	slot->ah = ah;
	slot->qpn = to->qpn;
	slot->pkey_index = to->pkey_index;
	slot->qkey = slot->qp->qpn ? to->qkey ?: IB_QP1_QKEY : 0;
	return 0;
}

/* Copy a message, or its next segment, into a slot. */
static void ib_mad_slot_fill(struct ib_mad_slot *slot, struct ib_mad_msg *msg)
{
	struct ib_mad_qp *qp = slot->qp;
	u8 *memory = ib_mad_slot_place(slot).memory;
	struct ib_mad_sending *sending = msg->sending;

	if (!sending || !ib_rmpp_tx_next(sending, memory)) {
		memcpy(memory, msg->mad, IB_MAD_SIZE);
		return;
	}
	if (ib_rmpp_tx_more(sending))
		ib_mad_queue_add(qp, &ib_mad_sender(sending)->queue, msg);
}

static void ib_mad_msg_to_slot(struct ib_mad_qp *qp, struct ib_mad_msg *msg)
{
	struct ib_mad_slot *slot = list_first_entry(&qp->free, struct ib_mad_slot, node);
	struct ib_mad_sending *sending = msg->sending;
	int err;

	list_del_init(&slot->node);
	err = ib_mad_slot_address(slot, &msg->to);
	if (!err) {
		ib_mad_slot_fill(slot, msg);
		err = ib_mad_slot_post(slot);
	}
	if (err)
		ib_mad_slot_free(slot);
	else
		slot->sending = sending;
	if (!sending) {
		kfree(msg);
		return;
	}
	if (!err)
		sending->slots++;
	else
		ib_mad_send_end(qp->port, sending, err == -EINVAL ? err : -EIO);
}

/**
 * ib_mad_pump() - give slots to what waits for them
 * @qp: the QP; its port's lock is held
 */
void ib_mad_pump(struct ib_mad_qp *qp)
{
	while (!qp->broken && !list_empty(&qp->ready) && !list_empty(&qp->free))
		ib_mad_msg_to_slot(qp, ib_mad_queue_next(qp));
}

/* A MAD that nobody waits for. */
static struct ib_mad_msg *ib_mad_msg_alloc(const struct ib_mad_addr *to, const u8 *mad)
{
	struct ib_mad_msg *msg = kzalloc(sizeof(*msg) + IB_MAD_SIZE, GFP_ATOMIC);

	if (!msg)
		return NULL;
	INIT_LIST_HEAD(&msg->node);
	msg->to = *to;
	msg->mad = (u8 *)(msg + 1);
	memcpy(msg->mad, mad, IB_MAD_SIZE);
	return msg;
}

/**
 * ib_mad_send_own() - send a MAD that nobody waits for
 * @qp: by which QP; its port's lock is held
 * @to: where to
 * @mad: IB_MAD_SIZE bytes; copied
 *
 * Dropped when memory or patience is short: whoever needs it asks again.
 */
void ib_mad_send_own(struct ib_mad_qp *qp, const struct ib_mad_addr *to, const u8 *mad)
{
	struct ib_mad_msg *msg;

	if (qp->own.count >= IB_MAD_BACKLOG || qp->port->stopping || qp->port->dead)
		return;
	msg = ib_mad_msg_alloc(to, mad);
	if (!msg)
		return;
	ib_mad_queue_add(qp, &qp->own, msg);
	ib_mad_pump(qp);
}

/**
 * ib_mad_disown() - a send ends while it is on its way
 * @qp: the QP; its port's lock is held
 * @sending: the send
 * @deliver: what still waits for a slot goes out all the same (not so with RMPP, which would need
 *	an ACK)
 */
void ib_mad_disown(struct ib_mad_qp *qp, struct ib_mad_sending *sending, bool deliver)
{
	unsigned int i;

	if (!list_empty(&sending->msg.node)) {
		ib_mad_queue_del(&sending->msg);
		if (deliver && !sending->tx.total)
			ib_mad_send_own(qp, &sending->msg.to, sending->msg.mad);
	}
	for (i = 0; sending->slots && i < qp->nslots; i++) {
		if (qp->slots[i].sending != sending)
			continue;
		qp->slots[i].sending = NULL;
		sending->slots--;
	}
}

/* With the HCA's lock held, or for a hint; a moment's reading of the port's state is enough. */
static bool ib_mad_port_is_empty(void *arg)
{
	struct ib_mad_port *port = arg;
	const struct ib_mad_qp *qp;

	if (READ_ONCE(port->dead) || ib_hca_is_gone(port->device->hca))
		return true;
	/* What was flushed behind a failed one is with us, and goes out yet. */
	for (qp = port->qps; qp < port->qps + ARRAY_SIZE(port->qps); qp++)
		if (READ_ONCE(qp->in_flight) || READ_ONCE(qp->broken) || !list_empty(&qp->ready))
			return false;
	return list_empty(&port->errands);
}

/**
 * ib_mad_tell_waiter() - something may have been the last that leaves: ib_mad_qps_stop() waits
 * @port: the port
 *
 * Context: any; not with the port's lock held.
 */
void ib_mad_tell_waiter(struct ib_mad_port *port)
{
	if (READ_ONCE(port->instance->state) != IB_SERVICE_UP && ib_mad_port_is_empty(port))
		ib_hca_wake(port->device->hca);
}

static void ib_mad_slot_failed(struct ib_mad_slot *slot, enum ib_wc_status status)
{
	struct ib_mad_qp *qp = slot->qp;
	struct ib_mad_port *port = qp->port;
	struct ib_mad_sending *sending = slot->sending;

	if (port->stopping || port->dead || ib_hca_is_gone(port->device->hca)) {
		ib_mad_slot_free(slot);
		if (sending)
			ib_mad_send_left(port, sending, -EIO);
		return;
	}
	qp->broken = true;
	if (status == IB_WC_WR_FLUSH_ERR) {
		list_add_tail(&slot->node, &qp->again);
	} else {
		dev_warn_ratelimited(port->device->hca->parent,
				     "port %u: a MAD from QP%u could not be sent: %s\n", port->num,
				     qp->qpn, ib_wc_status_name(status));
		ib_mad_slot_free(slot);
		if (sending)
			ib_mad_send_left(port, sending, -EIO);
	}
}

static void ib_mad_slot_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ib_mad_slot *slot = container_of(wc->cqe, struct ib_mad_slot, cqe);
	struct ib_mad_qp *qp = slot->qp;
	struct ib_mad_port *port = qp->port;
	struct ib_mad_sending *sending;

	spin_lock_bh(&port->lock);
	qp->in_flight--;
	if (wc->status == IB_WC_SUCCESS) {
		sending = slot->sending;
		ib_mad_slot_free(slot);
		if (sending)
			ib_mad_send_left(port, sending, 0);
		ib_mad_pump(qp);
	} else {
		ib_mad_slot_failed(slot, wc->status);
	}
	/* The last of those that were flushed lets the repair begin. */
	if (qp->broken)
		ib_mad_kick(port);
	spin_unlock_bh(&port->lock);
	ib_mad_tell_waiter(port);
}

/**
 * ib_mad_repair() - bring a send queue back that a failed send has left in error
 * @qp: the QP
 *
 * Context: the work item.
 * Return: true if there was something to do.
 */
bool ib_mad_repair(struct ib_mad_qp *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_RTS, .cur_state = IB_QPS_SQE };
	struct ib_mad_port *port = qp->port;
	struct ib_mad_slot *slot, *next;
	int err;

	/* Those behind the failed one are still coming back. */
	if (!READ_ONCE(qp->broken) || READ_ONCE(qp->in_flight))
		return false;
	err = ib_qp_modify(qp->qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE, NULL);
	if (err)
		dev_err(port->device->hca->parent, "port %u: QP%u cannot be repaired: %d\n",
			port->num, qp->qpn, err);
	spin_lock_bh(&port->lock);
	qp->broken = false;
	list_for_each_entry_safe(slot, next, &qp->again, node) {
		struct ib_mad_sending *sending = slot->sending;

		list_del_init(&slot->node);
		if (!err && !ib_mad_slot_post(slot))
			continue;
		ib_mad_slot_free(slot);
		if (sending)
			ib_mad_send_left(port, sending, -EIO);
	}
	ib_mad_pump(qp);
	spin_unlock_bh(&port->lock);
	ib_mad_tell_waiter(port);
	return true;
}

/* ---- receiving ---- */

static int ib_mad_buffer_post(struct ib_mad_buffer *buffer)
{
	struct ib_mad_qp *qp = buffer->qp;
	struct ib_sge sge[] = { {
		.addr = ib_mad_buffer_place(buffer).dma,
		.length = IB_MAD_RECV_BYTES,
		.lkey = qp->port->pd->local_dma_lkey,
	}, {
		.addr = qp->pages[qp->npages - 1].dma,
		.length = PAGE_SIZE,
		.lkey = qp->port->pd->local_dma_lkey,
	} };
	struct ib_recv_wr wr = {
		.cqe = &buffer->cqe, .sg_list = sge, .num_sge = ARRAY_SIZE(sge)
	};
	const struct ib_recv_wr *bad;

	return ib_qp_post_recv(qp->qp, &wr, &bad);
}

/* Where a MAD came from, so that an answer to it finds its way. */
static void ib_mad_addr_of_wc(struct ib_mad_port *port, const struct ib_wc *wc, const u8 *grh,
			      struct ib_mad_addr *from)
{
	union ib_gid dgid;
	u16 index = 0;

	*from = (struct ib_mad_addr) {
		.lid = wc->slid,
		.sl = wc->sl,
		.path_bits = wc->dlid_path_bits,
		.pkey_index = wc->pkey_index,
		.qpn = wc->src_qp,
	};
	if (!(wc->flags & IB_WC_GRH))
		return;
	memcpy(&dgid, grh + IB_GRH_DGID, sizeof(dgid));
	from->has_grh = true;
	if (!ib_gid_find(port->device, port->num, &dgid, NULL, &index))
		from->grh.sgid_index = index;
	memcpy(&from->grh.dgid, grh + IB_GRH_SGID, sizeof(from->grh.dgid));
	from->grh.flow_label = ib_get(grh, IB_GRH_FLOW_LABEL);
	from->grh.traffic_class = ib_get(grh, IB_GRH_TCLASS);
	from->grh.hop_limit = 0xff;
}

/* Copy a MAD out of its buffer; NULL when there is no room. */
static struct ib_mad_rx *ib_mad_copy_out(struct ib_mad_buffer *buffer, const struct ib_wc *wc)
{
	struct ib_mad_port *port = buffer->qp->port;
	const u8 *memory = ib_mad_buffer_place(buffer).memory;
	struct ib_mad_rx *rx;

	if (READ_ONCE(port->nrx) >= IB_MAD_BACKLOG)
		return NULL;
	rx = ib_mad_rx_alloc(IB_MAD_SIZE, GFP_NOIO | __GFP_NOWARN);
	if (!rx)
		return NULL;
	/* What a short packet left unwritten is an older one's. */
	memcpy(rx->recv.mad, memory + IB_GRH_SIZE,
	       min_t(size_t, IB_MAD_SIZE, wc->byte_len - IB_GRH_SIZE));
	memcpy(rx->grh, memory, IB_GRH_SIZE);
	ib_mad_addr_of_wc(port, wc, memory, &rx->recv.from);
	rx->recv.port = port->num;
	rx->recv.qpn = buffer->qp->qpn;
	return rx;
}

static void ib_mad_received(struct ib_mad_buffer *buffer, const struct ib_wc *wc)
{
	struct ib_mad_port *port = buffer->qp->port;
	struct ib_mad_rx *rx = NULL;

	if (wc->byte_len >= IB_GRH_SIZE + IB_MAD_HEADER && wc->byte_len <= IB_MAD_RECV_BYTES)
		rx = ib_mad_copy_out(buffer, wc);
	spin_lock_bh(&port->lock);
	if (rx) {
		list_add_tail(&rx->node, &port->rx);
		port->nrx++;
	} else {
		port->lost++;
	}
	spin_unlock_bh(&port->lock);
	if (rx)
		ib_mad_kick(port);
	ib_mad_buffer_post(buffer);
}

static void ib_mad_buffer_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ib_mad_buffer *buffer = container_of(wc->cqe, struct ib_mad_buffer, cqe);
	struct ib_mad_port *port = buffer->qp->port;

	if (wc->status == IB_WC_SUCCESS) {
		ib_mad_received(buffer, wc);
		return;
	}
	if (READ_ONCE(port->stopping) || READ_ONCE(port->dead))
		return;
	spin_lock_bh(&port->lock);
	port->dead = true;
	spin_unlock_bh(&port->lock);
	ib_mad_kick(port);
}

/* ---- begin and end ---- */

static unsigned int ib_mad_queue_size(struct ib_mad_port *port, unsigned int wanted)
{
	u32 most = ib_device_attr(port->device)->max_qp_wr;

	wanted = clamp(wanted, IB_MAD_QUEUE_MIN, IB_MAD_QUEUE_MAX);
	return most > 1 ? min(wanted, most - 1) : wanted;
}

static int ib_mad_pages_alloc(struct ib_mad_qp *qp)
{
	/* The last page takes what is longer than a MAD, from all of them: nobody reads it. */
	unsigned int n = DIV_ROUND_UP(qp->nbuffers, IB_MAD_BUFFERS_PER_PAGE) +
			 DIV_ROUND_UP(qp->nslots, IB_MAD_SLOTS_PER_PAGE) + 1;
	struct ib_mad_page *page;

	qp->pages = kvcalloc(n, sizeof(*qp->pages), GFP_KERNEL);
	if (!qp->pages)
		return -ENOMEM;
	for (; qp->npages < n; qp->npages++) {
		page = &qp->pages[qp->npages];
		page->memory = dma_alloc_coherent(qp->port->device->hca->parent, PAGE_SIZE,
						  &page->dma, GFP_KERNEL);
		if (!page->memory)
			return -ENOMEM;
	}
	return 0;
}

static int ib_mad_qp_alloc(struct ib_mad_qp *qp)
{
	unsigned int i;

	qp->nslots = ib_mad_queue_size(qp->port, send_queue_size);
	qp->nbuffers = ib_mad_queue_size(qp->port, recv_queue_size);
	qp->slots = kvcalloc(qp->nslots, sizeof(*qp->slots), GFP_KERNEL);
	qp->buffers = kvcalloc(qp->nbuffers, sizeof(*qp->buffers), GFP_KERNEL);
	if (!qp->slots || !qp->buffers || ib_mad_pages_alloc(qp))
		return -ENOMEM;
	for (i = 0; i < qp->nslots; i++) {
		qp->slots[i].cqe.done = ib_mad_slot_done;
		qp->slots[i].qp = qp;
		list_add_tail(&qp->slots[i].node, &qp->free);
	}
	for (i = 0; i < qp->nbuffers; i++) {
		qp->buffers[i].cqe.done = ib_mad_buffer_done;
		qp->buffers[i].qp = qp;
	}
	return 0;
}

/* The hardware may still write to what it has not provably let go of. */
static bool ib_mad_is_quiet(struct ib_mad_port *port)
{
	struct ib_hca *hca = port->device->hca;

	if (!ib_hca_is_gone(hca))
		return true;
	ib_life_attend(hca);
	return READ_ONCE(hca->quiet);
}

static void ib_mad_qp_free(struct ib_mad_qp *qp)
{
	struct ib_mad_port *port = qp->port;

	kvfree(qp->slots);
	kvfree(qp->buffers);
	qp->slots = NULL;
	qp->buffers = NULL;
	if (qp->npages && !ib_mad_is_quiet(port)) {
		dev_err(port->device->hca->parent,
			"port %u: %u pages of QP%u are left to hardware that is not quiet\n",
			port->num, qp->npages, qp->qpn);
		qp->npages = 0;
	}
	while (qp->npages) {
		struct ib_mad_page *page = &qp->pages[--qp->npages];

		dma_free_coherent(port->device->hca->parent, PAGE_SIZE, page->memory, page->dma);
	}
	kvfree(qp->pages);
	qp->pages = NULL;
}

static int ib_mad_qp_to_rts(struct ib_mad_qp *qp)
{
	struct ib_qp_attr attr = {
		.state = IB_QPS_INIT,
		.qkey = qp->qpn ? IB_QP1_QKEY : 0,
		.port = qp->port->num,
	};
	unsigned int i;
	int err;

	err = ib_qp_modify(qp->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_QKEY, NULL);
	for (i = 0; !err && i < qp->nbuffers; i++)
		err = ib_mad_buffer_post(&qp->buffers[i]);
	attr.state = IB_QPS_RTR;
	err = err ?: ib_qp_modify(qp->qp, &attr, IB_QP_STATE, NULL);
	attr.state = IB_QPS_RTS;
	return err ?: ib_qp_modify(qp->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN, NULL);
}

static int ib_mad_qp_start(struct ib_mad_qp *qp)
{
	struct ib_mad_port *port = qp->port;
	struct ib_qp_init init = {
		.type = qp->qpn ? IB_QPT_GSI : IB_QPT_SMI,
		.cap = {
			.max_send_wr = qp->nslots,
			.max_recv_wr = qp->nbuffers,
			.max_send_sge = 1,
			.max_recv_sge = 2,
		},
		.send_cq = port->cq,
		.recv_cq = port->cq,
		.port = port->num,
	};
	struct ib_qp *made;

	made = ib_qp_create(port->instance->attachment, port->pd, &init, NULL);
	if (IS_ERR(made))
		return PTR_ERR(made);
	qp->qp = made;
	return ib_mad_qp_to_rts(qp);
}

static void ib_mad_qp_init(struct ib_mad_port *port, u8 qpn)
{
	struct ib_mad_qp *qp = &port->qps[qpn];

	qp->port = port;
	qp->qpn = qpn;
	INIT_LIST_HEAD(&qp->free);
	INIT_LIST_HEAD(&qp->again);
	INIT_LIST_HEAD(&qp->ready);
	ib_mad_queue_init(&qp->own);
}

static int ib_mad_cq_start(struct ib_mad_port *port)
{
	struct ib_cq_init init = { .context = IB_CQ_WORKQUEUE };
	struct ib_cq *cq;
	int i;

	/* Each queue can be drained, which takes one more. */
	for (i = 0; i < ARRAY_SIZE(port->qps); i++)
		init.cqe += port->qps[i].nslots + port->qps[i].nbuffers + 2;
	cq = ib_cq_create(port->instance->attachment, &init, NULL);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	port->cq = cq;
	return 0;
}

/**
 * ib_mad_qps_start() - make the QPs of a port, ready to send and receive
 * @port: the port
 *
 * Return: 0, or an error after which ib_mad_qps_stop() is owed all the same.
 */
int ib_mad_qps_start(struct ib_mad_port *port)
{
	struct ib_pd *pd;
	int err = 0;
	u8 qpn;

	for (qpn = 0; qpn < ARRAY_SIZE(port->qps); qpn++)
		ib_mad_qp_init(port, qpn);
	pd = ib_pd_create(port->instance->attachment, NULL);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	port->pd = pd;
	for (qpn = 0; !err && qpn < ARRAY_SIZE(port->qps); qpn++)
		err = ib_mad_qp_alloc(&port->qps[qpn]);
	err = err ?: ib_mad_cq_start(port);
	for (qpn = 0; !err && qpn < ARRAY_SIZE(port->qps); qpn++)
		err = ib_mad_qp_start(&port->qps[qpn]);
	return err;
}

static void ib_mad_qp_drop_queued(struct ib_mad_qp *qp)
{
	struct ib_mad_slot *slot, *next;
	struct ib_mad_msg *msg;

	spin_lock_bh(&qp->port->lock);
	while (!list_empty(&qp->own.msgs)) {
		msg = list_first_entry(&qp->own.msgs, struct ib_mad_msg, node);
		ib_mad_queue_del(msg);
		kfree(msg);
	}
	list_for_each_entry_safe(slot, next, &qp->again, node) {
		list_del_init(&slot->node);
		ib_mad_slot_free(slot);
	}
	WARN_ON_ONCE(!list_empty(&qp->ready));
	spin_unlock_bh(&qp->port->lock);
}

/* Completions that never came: their AHs have to go before the PD. */
static void ib_mad_qp_free_ahs(struct ib_mad_qp *qp)
{
	unsigned int i;

	for (i = 0; qp->slots && i < qp->nslots; i++) {
		if (qp->slots[i].ah)
			ib_ah_destroy(qp->slots[i].ah);
		qp->slots[i].ah = NULL;
	}
}

/**
 * ib_mad_qps_stop() - the mirror
 * @port: the port; it has no agents any more
 *
 * What agents have left behind to be sent goes out first, as long as the teardown is polite.
 *
 * Context: the lifecycle thread.
 */
void ib_mad_qps_stop(struct ib_mad_port *port)
{
	struct ib_mad_qp *qp;

	ib_thread_wait(port->device->hca, "the last MADs", IB_UNTIL_POLITE, ib_mad_port_is_empty,
		       port);
	spin_lock_bh(&port->lock);
	port->stopping = true;
	spin_unlock_bh(&port->lock);
	cancel_work_sync(&port->work);
	ib_mad_local_drop(port);
	for (qp = port->qps; qp < port->qps + ARRAY_SIZE(port->qps); qp++) {
		if (!qp->port)
			continue;
		if (qp->qp)
			ib_qp_drain(qp->qp);
		ib_mad_qp_drop_queued(qp);
		if (qp->qp)
			ib_qp_destroy(qp->qp);
		ib_mad_qp_free_ahs(qp);
		qp->qp = NULL;
	}
	if (port->cq)
		ib_cq_destroy(port->cq);
	port->cq = NULL;
	for (qp = port->qps; qp < port->qps + ARRAY_SIZE(port->qps); qp++)
		if (qp->port)
			ib_mad_qp_free(qp);
	if (port->pd)
		ib_pd_destroy(port->pd);
	port->pd = NULL;
}
