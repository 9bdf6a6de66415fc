// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends, from post to done.
 *
 *   IDLE -> SENDING -> WAITING -> ENDED -> IDLE      and back to SENDING for a retry
 *        \-> LOCAL --/    \-> JOINING -/
 *
 * One word decides who ends a send: whoever moves it to ENDED, under the port's lock, be it the
 * response, the timer, a cancel or the end of the hardware.  What comes later finds it ended.  Then
 * the work item calls done, once.  A send that is over may still be in a slot; the slot is made to
 * forget it (ib_mad_disown()).
 */
#include <linux/slab.h>

#include "mad.h"
#include "objects.h"

#define IB_MAD_SEND_MAX (16 << 20)
#define IB_MAD_SEND_FLAGS (IB_MAD_SEND_RMPP | IB_MAD_SEND_BUSY | IB_MAD_SEND_REDIRECT)

static struct ib_mad_qp *ib_mad_send_qp(struct ib_mad_sending *sending)
{
	struct ib_mad_owner *owner = ib_mad_sender(sending);

	return &owner->mad.port->qps[owner->mad.init.qpn];
}

struct ib_mad_send *ib_mad_send_alloc(struct ib_mad_agent *agent, u32 length, gfp_t gfp)
{
	struct ib_mad_sending *sending;

	if (!length || length > IB_MAD_SEND_MAX)
		return ERR_PTR(-EINVAL);
	sending = kvzalloc(sizeof(*sending) + max_t(size_t, length, IB_MAD_SIZE), gfp);
	if (!sending)
		return ERR_PTR(-ENOMEM);
	sending->send.agent = agent;
	sending->send.length = length;
	sending->send.mad = (u8 *)(sending + 1);
	INIT_LIST_HEAD(&sending->agent_node);
	INIT_LIST_HEAD(&sending->node);
	INIT_LIST_HEAD(&sending->msg.node);
	INIT_HLIST_NODE(&sending->hash);
	INIT_HLIST_NODE(&sending->by_id);
	return &sending->send;
}
EXPORT_SYMBOL_GPL(ib_mad_send_alloc);

void ib_mad_send_free(struct ib_mad_send *send)
{
	if (!send)
		return;
	WARN_ON_ONCE(ib_mad_sending_of(send)->state != IB_MAD_IDLE);
	kvfree(ib_mad_sending_of(send));
}
EXPORT_SYMBOL_GPL(ib_mad_send_free);

/* ---- the end of a send ---- */

/**
 * ib_mad_send_end() - a send is over; the work item calls done
 * @port: the port; its lock is held
 * @sending: if it is over already nothing happens
 * @status: for done
 */
void ib_mad_send_end(struct ib_mad_port *port, struct ib_mad_sending *sending, int status)
{
	if (sending->state == IB_MAD_ENDED || sending->state == IB_MAD_IDLE)
		return;
	sending->state = IB_MAD_ENDED;
	sending->status = status;
	ib_mad_timer_clear(port, &sending->timer);
	hash_del(&sending->hash);
	hash_del(&sending->by_id);
	ib_mad_disown(ib_mad_send_qp(sending), sending, false);
	list_move_tail(&sending->node, &port->done);
	ib_mad_kick(port);
}

/**
 * ib_mad_send_take() - take a send from an agent that is destroyed
 * @owner: the agent; nobody else calls its done
 *
 * What has not left yet goes out all the same.
 *
 * Return: one whose done has not been called, with its status, or NULL.
 */
struct ib_mad_sending *ib_mad_send_take(struct ib_mad_owner *owner)
{
	struct ib_mad_port *port = owner->mad.port;
	struct ib_mad_sending *sending;

	spin_lock_bh(&port->lock);
	sending = list_first_entry_or_null(&owner->sends, struct ib_mad_sending, agent_node);
	if (sending) {
		ib_mad_disown(ib_mad_send_qp(sending), sending, true);
		if (sending->state == IB_MAD_LOCAL && !list_empty(&sending->node))
			ib_mad_local_leave(port, sending->send.mad);
		ib_mad_send_end(port, sending, -ECANCELED);
		list_del_init(&sending->node);
		list_del_init(&sending->agent_node);
		owner->nsends--;
		sending->state = IB_MAD_IDLE;
	}
	spin_unlock_bh(&port->lock);
	return sending;
}

/**
 * ib_mad_send_deliver() - give a send back to its owner
 * @sending: the send; the agent's callback has begun
 * @result: what done returned
 */
void ib_mad_send_deliver(struct ib_mad_sending *sending, enum ib_cb_result *result)
{
	struct ib_mad_recv *response = sending->response;

	sending->response = NULL;
	*result = sending->send.done(&sending->send, sending->status, response);
}

/**
 * ib_mad_done_run() - call the done of one send that is over
 * @port: the port
 *
 * Context: the work item.
 * Return: true if there was one.
 */
bool ib_mad_done_run(struct ib_mad_port *port)
{
	struct ib_mad_sending *sending;
	struct ib_mad_owner *owner = NULL;
	enum ib_cb_result result;

	spin_lock_bh(&port->lock);
	sending = list_first_entry_or_null(&port->done, struct ib_mad_sending, node);
	if (sending) {
		list_del_init(&sending->node);
		owner = ib_mad_sender(sending);
		/* Otherwise whoever ends the agent finds it in the agent's list. */
		if (ib_agent_begin(&owner->mad.agent)) {
			list_del_init(&sending->agent_node);
			owner->nsends--;
			sending->state = IB_MAD_IDLE;
		} else {
			owner = NULL;
		}
	}
	spin_unlock_bh(&port->lock);
	if (owner) {
		ib_mad_send_deliver(sending, &result);
		ib_agent_end(&owner->mad.agent, result);
	}
	return sending;
}

bool ib_mad_cancel(struct ib_mad_agent *mad, u64 id)
{
	struct ib_mad_owner *owner = ib_mad_owner_of(mad);
	struct ib_mad_sending *sending;
	bool canceled = false;

	if (ib_agent_enter(&mad->agent))
		return false;
	spin_lock_bh(&mad->port->lock);
	/* Those that have ended are not found any more. */
	hash_for_each_possible(mad->port->ids, sending, by_id, id) {
		if (sending->send.id != id || ib_mad_sender(sending) != owner)
			continue;
		ib_mad_send_end(mad->port, sending, -ECANCELED);
		canceled = true;
		break;
	}
	spin_unlock_bh(&mad->port->lock);
	ib_agent_exit(&mad->agent);
	return canceled;
}
EXPORT_SYMBOL_GPL(ib_mad_cancel);

/* ---- on the way ---- */

/**
 * ib_mad_send_again() - send it, for the first time or again
 * @port: the port; its lock is held
 * @sending: not over, and not waiting for a slot
 */
void ib_mad_send_again(struct ib_mad_port *port, struct ib_mad_sending *sending)
{
	struct ib_mad_qp *qp = ib_mad_send_qp(sending);

	if (sending->local) {
		sending->state = IB_MAD_LOCAL;
		list_move_tail(&sending->node, &port->local);
		ib_mad_kick(port);
		return;
	}
	sending->state = IB_MAD_SENDING;
	sending->msg.to = sending->send.to;
	sending->msg.mad = sending->send.mad;
	sending->msg.sending = sending;
	ib_mad_queue_add(qp, &ib_mad_sender(sending)->queue, &sending->msg);
	ib_mad_pump(qp);
}

static void ib_mad_send_expired(struct ib_mad_port *port, struct ib_mad_timer *timer)
{
	struct ib_mad_sending *sending = container_of(timer, struct ib_mad_sending, timer);

	if (sending->state == IB_MAD_SENDING && sending->tx.total) {
		ib_rmpp_tx_expired(port, sending);
		return;
	}
	/* A response that does not end has been waited for long enough: no other try. */
	if (!sending->tries || sending->state == IB_MAD_JOINING) {
		ib_mad_send_end(port, sending, -ETIMEDOUT);
		return;
	}
	sending->tries--;
	/* A message that has been acknowledged arrived: there is no sense in another. */
	if (sending->tx.total)
		ib_mad_send_wait(port, sending);
	else
		ib_mad_send_again(port, sending);
}

/** ib_mad_send_wait() - it has left: wait for the response; with the lock held */
void ib_mad_send_wait(struct ib_mad_port *port, struct ib_mad_sending *sending)
{
	sending->state = IB_MAD_WAITING;
	ib_mad_timer_set(port, &sending->timer, sending->send.timeout_ms);
}

/**
 * ib_mad_send_left() - the hardware is done with a slot of a send
 * @port: the port; its lock is held
 * @sending: the send
 * @status: 0 or how the slot failed
 */
void ib_mad_send_left(struct ib_mad_port *port, struct ib_mad_sending *sending, int status)
{
	sending->slots--;
	if (sending->state != IB_MAD_SENDING)
		return;
	if (status)
		ib_mad_send_end(port, sending, status);
	else if (sending->tx.total)
		ib_rmpp_tx_left(port, sending);
	else if (sending->send.timeout_ms)
		ib_mad_send_wait(port, sending);
	else
		ib_mad_send_end(port, sending, 0);
}

/* ---- post ---- */

static int ib_mad_send_check(struct ib_mad_sending *sending)
{
	const struct ib_mad_send *send = &sending->send;
	const struct ib_mad_agent_init *init = &send->agent->init;
	u8 class = ib_get(send->mad, IB_MAD_CLASS);

	if (!send->done || send->flags & ~IB_MAD_SEND_FLAGS ||
	    ib_class_is_smp(class) != !init->qpn)
		return -EINVAL;
	if (init->rmpp && !ib_class_has_rmpp(class))
		return -EINVAL;
	if (!(send->flags & IB_MAD_SEND_RMPP))
		return send->length > IB_MAD_SIZE ? -EINVAL : 0;
	if (!ib_mad_does_rmpp(init) || send->length < ib_class_header(class))
		return -EINVAL;
	return 0;
}

/* What makes no sense now is said now. It may make none later, when the tables have changed. */
static int ib_mad_send_check_to(const struct ib_mad_send *send)
{
	const struct ib_mad_port *port = send->agent->port;
	struct ib_ah_attr attr;
	int err = 0;
	u16 pkey;

	ib_mad_addr_attr(&send->to, port->num, &attr);
	if (send->agent->init.qpn)
		err = ib_pkey_cached(port->device, port->num, send->to.pkey_index, &pkey);
	return err ?: ib_ah_check(port->device, &attr);
}

static int ib_mad_send_route(struct ib_mad_sending *sending)
{
	struct ib_mad_send *send = &sending->send;

	sending->local = false;
	if (ib_get(send->mad, IB_MAD_CLASS) != IB_CLASS_SMP_DR)
		return 0;
	switch (ib_smi_send(send->mad, send->agent->port->num)) {
	case IB_SMI_WIRE:
		return 0;
	case IB_SMI_DEVICE:
	case IB_SMI_AGENT:
		sending->local = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static void ib_mad_send_prepare(struct ib_mad_sending *sending)
{
	struct ib_mad_send *send = &sending->send;

	if (!ib_mad_is_response(send->mad))
		ib_put(send->mad, IB_MAD_TID_HI, send->agent->hi_tid);
	sending->timer.fn = ib_mad_send_expired;
	sending->tries = send->retries;
	sending->redirected = false;
	sending->slots = 0;
	memset(&sending->tx, 0, sizeof(sending->tx));
	if (send->flags & IB_MAD_SEND_RMPP)
		ib_rmpp_tx_init(sending);
}

static int ib_mad_send_link(struct ib_mad_sending *sending)
{
	struct ib_mad_owner *owner = ib_mad_sender(sending);
	struct ib_mad_port *port = owner->mad.port;

	if (owner->leaving || port->stopping)
		return -ENODEV;
	if (port->dead || ib_hca_is_gone(port->device->hca))
		return -EIO;
	if (owner->nsends >= IB_MAD_AGENT_SENDS)
		return -EAGAIN;
	sending->send.id = ++port->last_id;
	list_add_tail(&sending->agent_node, &owner->sends);
	owner->nsends++;
	hash_add(port->sends, &sending->hash, ib_get(sending->send.mad, IB_MAD_TID));
	hash_add(port->ids, &sending->by_id, sending->send.id);
	ib_mad_send_again(port, sending);
	return 0;
}

int ib_mad_post(struct ib_mad_send *send)
{
	struct ib_mad_sending *sending = ib_mad_sending_of(send);
	struct ib_mad_agent *mad = send->agent;
	int err;

	err = ib_agent_enter(&mad->agent);
	if (err)
		return err;
	err = ib_mad_send_check(sending) ?: ib_mad_send_check_to(send) ?:
	      ib_mad_send_route(sending);
	if (!err) {
		ib_mad_send_prepare(sending);
		spin_lock_bh(&mad->port->lock);
		err = ib_mad_send_link(sending);
		spin_unlock_bh(&mad->port->lock);
	}
	ib_agent_exit(&mad->agent);
	return err;
}
EXPORT_SYMBOL_GPL(ib_mad_post);

/* ---- the response ---- */

/*
 * Is it from whom the send went to? A response comes from another LID than was asked, where the
 * other side has several, so for one only our own side is compared.
 */
static bool ib_mad_is_from_peer(const struct ib_mad_sending *sending,
				const struct ib_mad_recv *recv)
{
	const struct ib_mad_addr *to = &sending->send.to, *from = &recv->from;
	u8 mask;

	if (ib_get(recv->mad, IB_MAD_CLASS) == IB_CLASS_SMP_DR)
		return true;
	if (from->has_grh != to->has_grh)
		return false;
	if (!ib_mad_is_response(recv->mad)) {
		if (from->qpn != to->qpn)
			return false;
		return to->has_grh ? !memcmp(&from->grh.dgid, &to->grh.dgid, sizeof(union ib_gid)) :
				     from->lid == to->lid;
	}
	if (to->has_grh)
		return from->grh.sgid_index == to->grh.sgid_index;
	mask = BIT(ib_lmc_cached(sending->send.agent->port->device, recv->port)) - 1;
	return !((from->path_bits ^ to->path_bits) & mask);
}

/**
 * ib_mad_send_find() - the send that a received MAD answers or acknowledges
 * @port: the port; its lock is held
 * @owner: the agent
 * @recv: the MAD
 *
 * Return: the send, not over, or NULL.
 */
struct ib_mad_sending *ib_mad_send_find(struct ib_mad_port *port, struct ib_mad_owner *owner,
					const struct ib_mad_recv *recv)
{
	u64 tid = ib_get(recv->mad, IB_MAD_TID);
	struct ib_mad_sending *sending;

	hash_for_each_possible(port->sends, sending, hash, tid) {
		const u8 *sent = sending->send.mad;

		if (ib_mad_sender(sending) == owner && ib_get(sent, IB_MAD_TID) == tid &&
		    ib_get(sent, IB_MAD_CLASS) == ib_get(recv->mad, IB_MAD_CLASS) &&
		    ib_mad_is_response(sent) != ib_mad_is_response(recv->mad) &&
		    ib_mad_is_from_peer(sending, recv))
			return sending;
	}
	return NULL;
}

/* The other side names somebody else (IBA 13.4.8.1): ask that one. */
static bool ib_mad_send_redirect(struct ib_mad_port *port, struct ib_mad_sending *sending,
				 const struct ib_mad_recv *recv)
{
	u8 class = ib_get(recv->mad, IB_MAD_CLASS);
	struct ib_mad_addr *to = &sending->send.to;
	const u8 *info = recv->mad + IB_MAD_DATA;
	u16 index;

	if (ib_class_has_rmpp(class))
		info = recv->mad + ib_class_header(class);
	if (sending->redirected || !ib_get(info, IB_CPI_REDIRECT_LID) || !to->qpn ||
	    ib_pkey_find(port->device, port->num, ib_get(info, IB_CPI_REDIRECT_PKEY), &index))
		return false;
	sending->redirected = true;
	to->lid = ib_get(info, IB_CPI_REDIRECT_LID);
	to->sl = ib_get(info, IB_CPI_REDIRECT_SL);
	to->qpn = ib_get(info, IB_CPI_REDIRECT_QPN);
	to->qkey = ib_get(info, IB_CPI_REDIRECT_QKEY);
	to->pkey_index = index;
	to->has_grh = false;
	ib_mad_timer_clear(port, &sending->timer);
	ib_mad_disown(ib_mad_send_qp(sending), sending, false);
	if (sending->tx.total)
		ib_rmpp_tx_init(sending);
	ib_mad_send_again(port, sending);
	return true;
}

/**
 * ib_mad_send_answer() - a whole response has come
 * @port: the port
 * @owner: the agent it is for, begun
 * @rx: the response; taken if true is returned
 *
 * Context: the work item.
 * Return: false: nobody waits for it.
 */
bool ib_mad_send_answer(struct ib_mad_port *port, struct ib_mad_owner *owner, struct ib_mad_rx *rx)
{
	struct ib_mad_recv *recv = &rx->recv;
	u16 status = ib_get(recv->mad, IB_MAD_STATUS);
	struct ib_mad_sending *sending;
	bool keep = false;

	spin_lock_bh(&port->lock);
	sending = ib_mad_send_find(port, owner, recv);
	if (sending && !sending->send.timeout_ms)
		sending = NULL;
	if (sending) {
		u32 flags = sending->send.flags;

		/* A late answer to a busy one's first try is as good as one to the last. */
		keep = !(flags & IB_MAD_SEND_BUSY && status & IB_STATUS_BUSY && sending->tries);
		/* One that came in segments has stopped the timer of the next try. */
		if (!keep && sending->state == IB_MAD_JOINING) {
			ib_mad_send_wait(port, sending);
			ib_rmpp_forget_answer(port, owner, recv);
		}
		if (keep && flags & IB_MAD_SEND_REDIRECT && status & IB_STATUS_REDIRECT &&
		    ib_mad_send_redirect(port, sending, recv))
			keep = false;
		if (keep) {
			sending->response = recv;
			ib_mad_send_end(port, sending, 0);
		}
	}
	spin_unlock_bh(&port->lock);
	if (sending && !keep)
		ib_mad_rx_free(rx);
	return sending;
}
