// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMPP, the sender (IBA 13.6.5): a long message goes out in segments.
 *
 * Each segment repeats the class header, has an RMPP header and a share of the data.  The receiver
 * says by ACKs up to where it has everything, and up to where it will take more.  One segment is in
 * a slot or in the queue for one at a time, unless slots are plenty: a message waits for its turn
 * after each, like any other MAD.  When everything that may be sent has left, the timer runs; when
 * it expires the sender goes back to the first segment that was not confirmed.
 */
#include <linux/math.h>

#include "mad.h"

/* How long to wait for an ACK, in milliseconds. */
#define IB_RMPP_ACK_MS 2000

/** ib_rmpp_tx_init() - begin with the first segment */
void ib_rmpp_tx_init(struct ib_mad_sending *sending)
{
	unsigned int header = ib_class_header(ib_get(sending->send.mad, IB_MAD_CLASS));
	struct ib_rmpp_tx *tx = &sending->tx;

	*tx = (struct ib_rmpp_tx) { .data = IB_MAD_SIZE - header, .window = 1 };
	tx->total = max_t(u32, 1, DIV_ROUND_UP(sending->send.length - header, tx->data));
}

/** ib_rmpp_tx_more() - is there a segment that may be sent now? */
bool ib_rmpp_tx_more(const struct ib_mad_sending *sending)
{
	const struct ib_rmpp_tx *tx = &sending->tx;

	return tx->sent < min(tx->window, tx->total);
}

/*
 * The payload length of the first segment counts the whole message, as if each segment repeated
 * the class header in its payload, which it does; that of the last counts itself.
 */
static u32 ib_rmpp_length(const struct ib_mad_sending *sending, u32 segment, u32 in_last)
{
	const struct ib_rmpp_tx *tx = &sending->tx;
	u32 pad = tx->data - in_last;

	if (segment == tx->total)
		return IB_RMPP_PAYLOAD - pad;
	return segment == 1 ? tx->total * IB_RMPP_PAYLOAD - pad : 0;
}

/**
 * ib_rmpp_tx_next() - write the next segment
 * @sending: the message
 * @mad: IB_MAD_SIZE bytes
 *
 * Return: false: it is none for RMPP, nothing was done.
 */
bool ib_rmpp_tx_next(struct ib_mad_sending *sending, u8 *mad)
{
	const struct ib_mad_send *send = &sending->send;
	struct ib_rmpp_tx *tx = &sending->tx;
	unsigned int header = IB_MAD_SIZE - tx->data;
	u32 in_last, bytes, segment;

	if (!tx->total)
		return false;
	segment = ++tx->sent;
	tx->top = max(tx->top, segment);
	in_last = send->length - header - (tx->total - 1) * tx->data;
	bytes = segment == tx->total ? in_last : tx->data;
	memset(mad, 0, IB_MAD_SIZE);
	memcpy(mad, send->mad, header);
	memcpy(mad + header, send->mad + header + (segment - 1) * tx->data, bytes);
	ib_put(mad, IB_RMPP_VERSION, IB_RMPP_VERSION_1);
	ib_put(mad, IB_RMPP_TYPE, IB_RMPP_DATA);
	ib_put(mad, IB_RMPP_RESP_TIME, IB_RMPP_NO_RESP_TIME);
	ib_put(mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE | (segment == 1 ? IB_RMPP_FIRST : 0) |
	       (segment == tx->total ? IB_RMPP_LAST : 0));
	ib_put(mad, IB_RMPP_STATUS, IB_RMPP_NORMAL);
	ib_put(mad, IB_RMPP_SEGMENT, segment);
	ib_put(mad, IB_RMPP_LENGTH, ib_rmpp_length(sending, segment, in_last));
	return true;
}

static void ib_rmpp_tx_wait(struct ib_mad_port *port, struct ib_mad_sending *sending)
{
	u32 ms = sending->send.timeout_ms;

	ib_mad_timer_set(port, &sending->timer,
			 ms && ms < IB_RMPP_ACK_MS ? ms : IB_RMPP_ACK_MS);
}

/** ib_rmpp_tx_left() - a segment has left; with the lock held */
void ib_rmpp_tx_left(struct ib_mad_port *port, struct ib_mad_sending *sending)
{
	if (!sending->slots && list_empty(&sending->msg.node))
		ib_rmpp_tx_wait(port, sending);
}

/* Go on with what may be sent now, or wait. */
static void ib_rmpp_tx_go_on(struct ib_mad_port *port, struct ib_mad_sending *sending)
{
	struct ib_mad_owner *owner = ib_mad_sender(sending);
	struct ib_mad_qp *qp = &port->qps[owner->mad.init.qpn];

	if (!list_empty(&sending->msg.node))
		return;
	if (!ib_rmpp_tx_more(sending)) {
		ib_rmpp_tx_wait(port, sending);
		return;
	}
	ib_mad_timer_clear(port, &sending->timer);
	ib_mad_queue_add(qp, &owner->queue, &sending->msg);
	ib_mad_pump(qp);
}

/**
 * ib_rmpp_say() - send an ACK, STOP or ABORT
 * @qp: by which QP; its port's lock is held
 * @to: where to
 * @mad: the MAD that it is about; its class header is repeated
 * @control: what to say
 */
void ib_rmpp_say(struct ib_mad_qp *qp, const struct ib_mad_addr *to, const u8 *mad,
		 const struct ib_rmpp_control *control)
{
	u8 say[IB_MAD_SIZE] = {};

	memcpy(say, mad, ib_class_header(ib_get(mad, IB_MAD_CLASS)));
	if (control->flip)
		ib_put(say, IB_MAD_METHOD, ib_get(mad, IB_MAD_METHOD) ^ IB_METHOD_RESPONSE);
	ib_put(say, IB_RMPP_VERSION, IB_RMPP_VERSION_1);
	ib_put(say, IB_RMPP_TYPE, control->type);
	ib_put(say, IB_RMPP_RESP_TIME, IB_RMPP_NO_RESP_TIME);
	ib_put(say, IB_RMPP_FLAGS, IB_RMPP_ACTIVE);
	ib_put(say, IB_RMPP_STATUS, control->status);
	ib_put(say, IB_RMPP_SEGMENT, control->segment);
	ib_put(say, IB_RMPP_WINDOW, control->window);
	ib_mad_send_own(qp, to, say);
}

/* End it, and tell the other side why. */
static void ib_rmpp_tx_abort(struct ib_mad_port *port, struct ib_mad_sending *sending, u8 why,
			     int status)
{
	struct ib_rmpp_control abort = { .type = IB_RMPP_ABORT, .status = why };

	ib_rmpp_say(&port->qps[ib_mad_sender(sending)->mad.init.qpn], &sending->send.to,
		    sending->send.mad, &abort);
	ib_mad_send_end(port, sending, status);
}

/** ib_rmpp_tx_expired() - no ACK has come; with the lock held */
void ib_rmpp_tx_expired(struct ib_mad_port *port, struct ib_mad_sending *sending)
{
	if (!sending->tries) {
		ib_rmpp_tx_abort(port, sending, IB_RMPP_TMR, -ETIMEDOUT);
		return;
	}
	sending->tries--;
	sending->tx.sent = sending->tx.acked;
	ib_rmpp_tx_go_on(port, sending);
}

/* Everything has arrived. */
static void ib_rmpp_tx_complete(struct ib_mad_port *port, struct ib_mad_sending *sending)
{
	struct ib_mad_qp *qp = &port->qps[ib_mad_sender(sending)->mad.init.qpn];
	struct ib_rmpp_control ready = { .type = IB_RMPP_ACK, .window = 1 };

	if (!sending->send.timeout_ms) {
		ib_mad_send_end(port, sending, 0);
		return;
	}
	/* The other side may turn round now and send as many segments (IBA 13.6.6.2). */
	ib_mad_disown(qp, sending, false);
	ib_rmpp_say(qp, &sending->send.to, sending->send.mad, &ready);
	ib_mad_send_wait(port, sending);
}

static void ib_rmpp_tx_ack(struct ib_mad_port *port, struct ib_mad_sending *sending,
			   const u8 *mad)
{
	struct ib_rmpp_tx *tx = &sending->tx;
	u32 segment = ib_get(mad, IB_RMPP_SEGMENT);
	u32 window = ib_get(mad, IB_RMPP_WINDOW);

	if (ib_get(mad, IB_RMPP_STATUS)) {
		ib_rmpp_tx_abort(port, sending, IB_RMPP_BAD_STATUS, -ECONNABORTED);
	} else if (window < segment) {
		ib_rmpp_tx_abort(port, sending, IB_RMPP_W2S, -ECONNABORTED);
	} else if (segment > tx->top) {
		ib_rmpp_tx_abort(port, sending, IB_RMPP_S2B, -ECONNABORTED);
	} else if (segment >= tx->acked) {
		if (segment > tx->acked)
			sending->tries = sending->send.retries;
		tx->acked = segment;
		tx->sent = max(tx->sent, segment);
		tx->window = max(tx->window, min(window, tx->total));
		if (tx->acked == tx->total)
			ib_rmpp_tx_complete(port, sending);
		else if (ib_rmpp_tx_more(sending))
			ib_rmpp_tx_go_on(port, sending);
	}
}

/**
 * ib_rmpp_tx_reply() - an ACK, STOP or ABORT has come
 * @port: the port
 * @owner: the agent that it is for, begun
 * @recv: the MAD; kept by the caller
 *
 * Context: the work item.
 */
void ib_rmpp_tx_reply(struct ib_mad_port *port, struct ib_mad_owner *owner,
		      const struct ib_mad_recv *recv)
{
	struct ib_mad_sending *sending;

	spin_lock_bh(&port->lock);
	sending = ib_mad_send_find(port, owner, recv);
	if (sending && sending->state == IB_MAD_SENDING && sending->tx.total) {
		if (ib_get(recv->mad, IB_RMPP_TYPE) == IB_RMPP_ACK)
			ib_rmpp_tx_ack(port, sending, recv->mad);
		else
			ib_mad_send_end(port, sending, -ECONNABORTED);
	}
	spin_unlock_bh(&port->lock);
}
