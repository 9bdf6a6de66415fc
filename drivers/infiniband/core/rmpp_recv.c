// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMPP, the receiver (IBA 13.6.6): segments become a message.
 *
 * The data are written to where they belong as they come, in any order inside the window; what a
 * segment says of the length of the whole is not believed, the memory grows with what is there.
 * A message is bounded, what an agent has in the making is bounded, and so is the number of
 * messages that others have begun with it.  A finished one is remembered for a while, to confirm
 * again what the other side repeats.
 *
 * All of it runs on the port's work item while a callback of the agent has begun, so nothing here
 * needs a lock but timers and the end of the agent.
 */
#include <linux/slab.h>

#include "mad.h"

#define IB_RMPP_WINDOW_MAX 64
#define IB_RMPP_JOINS 256
#define IB_RMPP_BYTES_FIRST 4096
/* A message that takes longer is given up; a finished one is remembered so long; milliseconds. */
#define IB_RMPP_WHOLE_MS 40000
#define IB_RMPP_REMEMBER_MS 10000

/**
 * struct ib_rmpp_join - a message that comes in
 * @node: in &ib_mad_owner.joins
 * @timer: for the whole message, then for its memory
 * @owner: the agent
 * @from: the other side
 * @head: the first segment's headers
 * @rx: the message as far as it is there; NULL: finished
 * @room: bytes in @rx
 * @header: bytes of the class header
 * @data: bytes of user data in a segment
 * @have: everything up to this segment is there
 * @ahead: bit n: segment @have + 2 + n is there as well
 * @window: the last that may be sent
 * @acked: the last that was confirmed
 * @last: number of the last segment; 0: not known
 * @in_last: bytes of data in that
 */
struct ib_rmpp_join {
	struct list_head node;
	struct ib_mad_timer timer;
	struct ib_mad_owner *owner;
	struct ib_mad_addr from;
	u8 head[IB_RMPP_HEADER];
	struct ib_mad_rx *rx;
	u32 room;
	u32 header;
	u32 data;
	u32 have;
	u64 ahead;
	u32 window;
	u32 acked;
	u32 last;
	u32 in_last;
};

static struct ib_mad_qp *ib_rmpp_qp(struct ib_mad_port *port, const struct ib_mad_owner *owner)
{
	return &port->qps[owner->mad.init.qpn];
}

static u32 ib_rmpp_window(struct ib_mad_qp *qp)
{
	return clamp(qp->nbuffers / 8, 1U, (unsigned int)IB_RMPP_WINDOW_MAX);
}

/* ---- the list ---- */

/*
 * As much of the address as ib_mad_is_from_peer() looks at, or a segment that belongs to no request
 * would belong to its answer.
 */
static bool ib_rmpp_is_of(const struct ib_rmpp_join *join, const struct ib_mad_recv *recv)
{
	const u8 *head = join->head, *mad = recv->mad;

	return ib_get(head, IB_MAD_TID) == ib_get(mad, IB_MAD_TID) &&
	       ib_get(head, IB_MAD_CLASS) == ib_get(mad, IB_MAD_CLASS) &&
	       ib_get(head, IB_MAD_CLASS_VERSION) == ib_get(mad, IB_MAD_CLASS_VERSION) &&
	       ib_get(head, IB_MAD_METHOD) == ib_get(mad, IB_MAD_METHOD) &&
	       join->from.qpn == recv->from.qpn && join->from.lid == recv->from.lid &&
	       join->from.path_bits == recv->from.path_bits &&
	       join->from.has_grh == recv->from.has_grh &&
	       join->from.grh.sgid_index == recv->from.grh.sgid_index &&
	       !memcmp(&join->from.grh.dgid, &recv->from.grh.dgid, sizeof(union ib_gid));
}

static struct ib_rmpp_join *ib_rmpp_find(struct ib_mad_owner *owner, const struct ib_mad_recv *recv)
{
	struct ib_rmpp_join *join;

	list_for_each_entry(join, &owner->joins, node)
		if (ib_rmpp_is_of(join, recv))
			return join;
	return NULL;
}

/* With the lock held. */
static void ib_rmpp_drop(struct ib_mad_port *port, struct ib_rmpp_join *join)
{
	ib_mad_timer_clear(port, &join->timer);
	list_del(&join->node);
	join->owner->njoins--;
	if (join->rx) {
		join->owner->buffered -= join->room;
		ib_mad_rx_trash(port, join->rx);
	}
	kfree(join);
}

/** ib_rmpp_forget() - the agent goes: forget what was coming in for it; with the lock held */
void ib_rmpp_forget(struct ib_mad_port *port, struct ib_mad_owner *owner)
{
	struct ib_rmpp_join *join, *next;

	list_for_each_entry_safe(join, next, &owner->joins, node)
		ib_rmpp_drop(port, join);
}

/**
 * ib_rmpp_forget_answer() - a whole answer does not count: another will come with the same TID
 * @port: the port; its lock is held
 * @owner: the agent
 * @recv: the answer
 */
void ib_rmpp_forget_answer(struct ib_mad_port *port, struct ib_mad_owner *owner,
			   const struct ib_mad_recv *recv)
{
	struct ib_rmpp_join *join = ib_rmpp_find(owner, recv);

	if (join && !join->rx)
		ib_rmpp_drop(port, join);
}

/* ---- the end of one that does not come to its end ---- */

/* With the lock held: nobody answers the request any more. */
static void ib_rmpp_end_request(struct ib_mad_port *port, struct ib_mad_owner *owner,
				const struct ib_mad_recv *recv, int status)
{
	struct ib_mad_sending *sending;

	if (!ib_mad_is_response(recv->mad))
		return;
	sending = ib_mad_send_find(port, owner, recv);
	if (sending)
		ib_mad_send_end(port, sending, status);
}

/* The other side is told, and what there was of the message is dropped. */
static void ib_rmpp_refuse(struct ib_mad_port *port, struct ib_mad_owner *owner,
			   const struct ib_mad_recv *recv, u8 why, int status)
{
	struct ib_rmpp_control control = {
		.type = why == IB_RMPP_RESX ? IB_RMPP_STOP : IB_RMPP_ABORT,
		.status = why,
		.flip = true,
	};
	struct ib_rmpp_join *join = ib_rmpp_find(owner, recv);

	spin_lock_bh(&port->lock);
	ib_rmpp_say(ib_rmpp_qp(port, owner), &recv->from, recv->mad, &control);
	ib_rmpp_end_request(port, owner, recv, status);
	if (join && join->rx)
		ib_rmpp_drop(port, join);
	spin_unlock_bh(&port->lock);
}

/* It took too long, or has been remembered long enough. */
static void ib_rmpp_expired(struct ib_mad_port *port, struct ib_mad_timer *timer)
{
	struct ib_rmpp_join *join = container_of(timer, struct ib_rmpp_join, timer);
	struct ib_rmpp_control late = {
		.type = IB_RMPP_ABORT,
		.status = IB_RMPP_T2L,
		.flip = true,
	};

	if (join->rx) {
		ib_rmpp_say(ib_rmpp_qp(port, join->owner), &join->from, join->rx->recv.mad, &late);
		ib_rmpp_end_request(port, join->owner, &join->rx->recv, -ETIMEDOUT);
	}
	ib_rmpp_drop(port, join);
}

static void ib_rmpp_confirm(struct ib_mad_port *port, struct ib_rmpp_join *join, const u8 *mad)
{
	struct ib_rmpp_control ack = {
		.type = IB_RMPP_ACK,
		.segment = join->have,
		.window = join->window,
		.flip = true,
	};

	join->acked = join->have;
	spin_lock_bh(&port->lock);
	ib_rmpp_say(ib_rmpp_qp(port, join->owner), &join->from, mad, &ack);
	spin_unlock_bh(&port->lock);
}

/* ---- memory ---- */

/* A finished one makes room for a new one; those that others began do not. */
static bool ib_rmpp_make_room(struct ib_mad_port *port, struct ib_mad_owner *owner)
{
	struct ib_rmpp_join *join;

	if (owner->njoins < IB_RMPP_JOINS)
		return true;
	list_for_each_entry(join, &owner->joins, node) {
		if (join->rx)
			continue;
		spin_lock_bh(&port->lock);
		ib_rmpp_drop(port, join);
		spin_unlock_bh(&port->lock);
		return true;
	}
	return false;
}

/* Most bytes of a message, and of all of an agent that are in the making. */
static bool ib_rmpp_may_take(const struct ib_mad_owner *owner, size_t more)
{
	return owner->buffered + more <= 2 * (size_t)owner->mad.init.max_message +
					 IB_RMPP_BYTES_FIRST;
}

/* Make room for a segment; 0, -EMSGSIZE or -ENOMEM. */
static int ib_rmpp_grow(struct ib_rmpp_join *join, u32 segment)
{
	struct ib_mad_owner *owner = join->owner;
	u64 needed = join->header + (u64)segment * join->data;
	struct ib_mad_rx *rx;
	u32 room;

	if (needed <= join->room)
		return 0;
	/* The last segment may be padded. */
	if (needed > (u64)owner->mad.init.max_message + join->data)
		return -EMSGSIZE;
	room = max_t(u64, needed, min_t(u64, 2ULL * join->room,
					(u64)owner->mad.init.max_message + join->data));
	if (!ib_rmpp_may_take(owner, room - join->room))
		return -ENOMEM;
	rx = ib_mad_rx_alloc(room, GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (!rx)
		return -ENOMEM;
	rx->recv = join->rx->recv;
	memcpy(rx->grh, join->rx->grh, sizeof(rx->grh));
	memcpy(rx->recv.mad, join->rx->recv.mad, join->room);
	ib_mad_rx_free(join->rx);
	join->rx = rx;
	owner->buffered += room - join->room;
	join->room = room;
	return 0;
}

/* ---- segments ---- */

/* With the lock held: from now on the segments keep the time, not the request. */
static void ib_rmpp_answering(struct ib_mad_port *port, struct ib_mad_owner *owner,
			      const struct ib_mad_recv *recv)
{
	struct ib_mad_sending *sending = ib_mad_send_find(port, owner, recv);

	if (!sending)
		return;
	ib_mad_disown(ib_rmpp_qp(port, owner), sending, false);
	sending->state = IB_MAD_JOINING;
	/* The message's own timer is set already, and first; this is for when they lose touch. */
	ib_mad_timer_set(port, &sending->timer, IB_RMPP_WHOLE_MS);
}

static struct ib_rmpp_join *ib_rmpp_begin(struct ib_mad_port *port, struct ib_mad_owner *owner,
					  const struct ib_mad_rx *rx)
{
	struct ib_rmpp_join *join = NULL;
	const u8 *mad = rx->recv.mad;
	bool response = ib_mad_is_response(mad);

	/* Responses are bounded by what the agent itself has asked. */
	if ((ib_rmpp_make_room(port, owner) || response) &&
	    ib_rmpp_may_take(owner, IB_RMPP_BYTES_FIRST))
		join = kzalloc(sizeof(*join), GFP_KERNEL);
	if (!join)
		return NULL;
	join->rx = ib_mad_rx_alloc(IB_RMPP_BYTES_FIRST, GFP_KERNEL);
	if (!join->rx) {
		kfree(join);
		return NULL;
	}
	join->owner = owner;
	join->room = IB_RMPP_BYTES_FIRST;
	join->from = rx->recv.from;
	join->header = ib_class_header(ib_get(mad, IB_MAD_CLASS));
	join->data = IB_MAD_SIZE - join->header;
	join->window = 1;
	join->timer.fn = ib_rmpp_expired;
	memcpy(join->head, mad, sizeof(join->head));
	join->rx->recv = rx->recv;
	memcpy(join->rx->grh, rx->grh, sizeof(rx->grh));
	memcpy(join->rx->recv.mad, mad, join->header);
	owner->buffered += join->room;
	spin_lock_bh(&port->lock);
	list_add_tail(&join->node, &owner->joins);
	owner->njoins++;
	ib_mad_timer_set(port, &join->timer, IB_RMPP_WHOLE_MS);
	if (response)
		ib_rmpp_answering(port, owner, &rx->recv);
	spin_unlock_bh(&port->lock);
	return join;
}

/* Does what a segment says of itself agree with what is known? 0, or why not. */
static u8 ib_rmpp_check_last(struct ib_rmpp_join *join, const u8 *mad, u32 segment)
{
	u32 repeated = join->header - IB_RMPP_HEADER;
	u32 length = ib_get(mad, IB_RMPP_LENGTH);

	if (!(ib_get(mad, IB_RMPP_FLAGS) & IB_RMPP_LAST))
		return join->last && segment >= join->last ? IB_RMPP_BAD_SEG : 0;
	if (join->last && segment != join->last)
		return IB_RMPP_BAD_SEG;
	/* Something behind the last is there already. */
	if (join->ahead >> (segment - join->have - 1))
		return IB_RMPP_BAD_SEG;
	if (length < repeated || length > IB_RMPP_PAYLOAD)
		return IB_RMPP_BAD_LEN;
	join->last = segment;
	join->in_last = length - repeated;
	return 0;
}

static void ib_rmpp_mark(struct ib_rmpp_join *join, u32 segment)
{
	if (segment > join->have + 1) {
		join->ahead |= BIT_ULL(segment - join->have - 2);
		return;
	}
	join->have++;
	while (join->ahead & 1) {
		join->ahead >>= 1;
		join->have++;
	}
	join->ahead >>= 1;
}

/* The whole message is there. */
static struct ib_mad_rx *ib_rmpp_finish(struct ib_mad_port *port, struct ib_rmpp_join *join)
{
	struct ib_mad_rx *rx = join->rx;

	rx->recv.length = join->header + (join->last - 1) * join->data + join->in_last;
	join->owner->buffered -= join->room;
	join->rx = NULL;
	spin_lock_bh(&port->lock);
	ib_mad_timer_set(port, &join->timer, IB_RMPP_REMEMBER_MS);
	spin_unlock_bh(&port->lock);
	if (rx->recv.length > join->owner->mad.init.max_message) {
		spin_lock_bh(&port->lock);
		ib_rmpp_end_request(port, join->owner, &rx->recv, -EMSGSIZE);
		spin_unlock_bh(&port->lock);
		ib_mad_rx_free(rx);
		return NULL;
	}
	return rx;
}

/* A segment in the window; gives the message if it was the one that was missing. */
static struct ib_mad_rx *ib_rmpp_take(struct ib_mad_port *port, struct ib_rmpp_join *join,
				      const struct ib_mad_recv *recv, u32 segment)
{
	struct ib_mad_owner *owner = join->owner;
	u8 why = ib_rmpp_check_last(join, recv->mad, segment);
	int err;

	if (why) {
		ib_rmpp_refuse(port, owner, recv, why, -ECONNABORTED);
		return NULL;
	}
	err = ib_rmpp_grow(join, segment);
	if (err) {
		ib_rmpp_refuse(port, owner, recv, IB_RMPP_RESX, err);
		return NULL;
	}
	memcpy(join->rx->recv.mad + join->header + (segment - 1) * join->data,
	       recv->mad + join->header, join->data);
	ib_rmpp_mark(join, segment);
	if (join->have != join->window && join->have != join->last)
		return NULL;
	join->window = join->have + ib_rmpp_window(ib_rmpp_qp(port, owner));
	ib_rmpp_confirm(port, join, recv->mad);
	return join->have == join->last ? ib_rmpp_finish(port, join) : NULL;
}

static bool ib_rmpp_is_wanted(struct ib_mad_port *port, struct ib_mad_owner *owner,
			      const struct ib_mad_recv *recv)
{
	struct ib_mad_sending *sending;

	if (!ib_mad_is_response(recv->mad))
		return true;
	spin_lock_bh(&port->lock);
	sending = ib_mad_send_find(port, owner, recv);
	if (sending && !sending->send.timeout_ms)
		sending = NULL;
	spin_unlock_bh(&port->lock);
	return sending;
}

static struct ib_mad_rx *ib_rmpp_segment(struct ib_mad_port *port, struct ib_mad_owner *owner,
					 const struct ib_mad_rx *rx)
{
	const struct ib_mad_recv *recv = &rx->recv;
	u32 segment = ib_get(recv->mad, IB_RMPP_SEGMENT);
	struct ib_rmpp_join *join = ib_rmpp_find(owner, recv);
	u8 flags = ib_get(recv->mad, IB_RMPP_FLAGS);
	bool first = flags & IB_RMPP_FIRST;
	bool lies = first != (segment == 1);

	if (join && !join->rx) {
		/* It is all there, but the other side does not know. */
		if (segment && segment <= join->have)
			ib_rmpp_confirm(port, join, recv->mad);
		return NULL;
	}
	if (!ib_rmpp_is_wanted(port, owner, recv)) {
		spin_lock_bh(&port->lock);
		if (join)
			ib_rmpp_drop(port, join);
		spin_unlock_bh(&port->lock);
		return NULL;
	}
	if (!segment || lies) {
		ib_rmpp_refuse(port, owner, recv, IB_RMPP_BAD_SEG, -ECONNABORTED);
		return NULL;
	}
	if (!join && !first)
		return NULL;
	if (!join)
		join = ib_rmpp_begin(port, owner, rx);
	if (!join) {
		ib_rmpp_refuse(port, owner, recv, IB_RMPP_RESX, -ENOMEM);
		return NULL;
	}
	if (segment <= join->have) {
		if (segment <= join->acked)
			ib_rmpp_confirm(port, join, recv->mad);
		return NULL;
	}
	if (segment > join->window ||
	    (segment > join->have + 1 && join->ahead & BIT_ULL(segment - join->have - 2)))
		return NULL;
	return ib_rmpp_take(port, join, recv, segment);
}

/* The other side gives up: what it has sent of a message is worth nothing. */
static void ib_rmpp_given_up(struct ib_mad_port *port, struct ib_mad_owner *owner,
			     const struct ib_mad_recv *recv)
{
	struct ib_rmpp_join *join = ib_rmpp_find(owner, recv);

	if (!join || !join->rx)
		return;
	spin_lock_bh(&port->lock);
	ib_rmpp_end_request(port, owner, recv, -ECONNABORTED);
	ib_rmpp_drop(port, join);
	spin_unlock_bh(&port->lock);
}

/**
 * ib_rmpp_rx() - a MAD with an active RMPP header has come for an agent that leaves RMPP to us
 * @port: the port
 * @owner: the agent, begun
 * @rx: the MAD; taken
 *
 * Context: the work item.
 * Return: a whole message, or NULL.
 */
struct ib_mad_rx *ib_rmpp_rx(struct ib_mad_port *port, struct ib_mad_owner *owner,
			     struct ib_mad_rx *rx)
{
	const struct ib_mad_recv *recv = &rx->recv;
	u8 type = ib_get(recv->mad, IB_RMPP_TYPE);
	struct ib_mad_rx *whole = NULL;

	/* An ABORT or STOP is never answered, or two that disagree would go on for ever. */
	if (type == IB_RMPP_ABORT || type == IB_RMPP_STOP) {
		ib_rmpp_given_up(port, owner, recv);
		ib_rmpp_tx_reply(port, owner, recv);
	} else if (ib_get(recv->mad, IB_RMPP_VERSION) != IB_RMPP_VERSION_1) {
		ib_rmpp_refuse(port, owner, recv, IB_RMPP_UNV, -ECONNABORTED);
	} else if (type == IB_RMPP_ACK) {
		ib_rmpp_tx_reply(port, owner, recv);
	} else if (type != IB_RMPP_DATA) {
		ib_rmpp_refuse(port, owner, recv, IB_RMPP_BADT, -ECONNABORTED);
	} else if (ib_get(recv->mad, IB_RMPP_STATUS)) {
		ib_rmpp_refuse(port, owner, recv, IB_RMPP_BAD_STATUS, -ECONNABORTED);
	} else {
		whole = ib_rmpp_segment(port, owner, rx);
	}
	ib_mad_rx_free(rx);
	return whole;
}
