// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a received MAD goes: to the device, to the agent whose request it answers, to the agent
 * that wants such, or, when nobody does and the other side expects an answer, back with a status.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "mad.h"

/** ib_mad_rx_alloc() - a message of so many bytes, zeroed */
struct ib_mad_rx *ib_mad_rx_alloc(u32 length, gfp_t gfp)
{
	struct ib_mad_rx *rx = kvzalloc(sizeof(*rx) + length, gfp);

	if (!rx)
		return NULL;
	INIT_LIST_HEAD(&rx->node);
	rx->recv.length = length;
	return rx;
}

/** ib_mad_rx_free() - its mirror; may sleep */
void ib_mad_rx_free(struct ib_mad_rx *rx)
{
	kvfree(rx);
}

/** ib_mad_rx_trash() - the same with the port's lock held; the work item frees it */
void ib_mad_rx_trash(struct ib_mad_port *port, struct ib_mad_rx *rx)
{
	list_add_tail(&rx->node, &port->trash);
	ib_mad_kick(port);
}

void ib_mad_recv_free(struct ib_mad_recv *recv)
{
	if (recv)
		ib_mad_rx_free(ib_mad_rx_of(recv));
}
EXPORT_SYMBOL_GPL(ib_mad_recv_free);

/* IBA 13.5.2: what a port takes at all; the rest is dropped without a word. */
static bool ib_mad_is_acceptable(const struct ib_mad_recv *recv)
{
	u8 class = ib_get(recv->mad, IB_MAD_CLASS);

	if (ib_get(recv->mad, IB_MAD_BASE) != IB_MAD_BASE_1)
		return false;
	if (class == IB_CLASS_CM && ib_get(recv->mad, IB_MAD_METHOD) != IB_METHOD_SEND &&
	    ib_get(recv->mad, IB_MAD_ATTRIBUTE) != IB_ATTR_CLASS_PORT_INFO)
		return false;
	return ib_class_is_smp(class) == (recv->qpn == 0);
}

static bool ib_mad_has_rmpp(const struct ib_mad_recv *recv)
{
	return ib_class_has_rmpp(ib_get(recv->mad, IB_MAD_CLASS)) &&
	       ib_get(recv->mad, IB_RMPP_FLAGS) & IB_RMPP_ACTIVE;
}

static enum ib_cb_result ib_mad_to_agent(struct ib_mad_port *port, struct ib_mad_owner *owner,
					 struct ib_mad_rx *rx)
{
	const struct ib_mad_agent_init *init = &owner->mad.init;
	bool segmented = ib_mad_has_rmpp(&rx->recv);

	if (segmented && ib_mad_does_rmpp(init)) {
		rx = ib_rmpp_rx(port, owner, rx);
		if (!rx)
			return IB_CB_DONE;
	}
	if (ib_mad_is_response(rx->recv.mad)) {
		if (ib_mad_send_answer(port, owner, rx))
			return IB_CB_DONE;
		if (!segmented || !init->user_rmpp) {
			ib_mad_rx_free(rx);
			return IB_CB_DONE;
		}
	}
	return init->recv(&owner->mad, &rx->recv);
}

/**
 * ib_mad_hand_over() - give a MAD to the agent it is for
 * @port: the port
 * @rx: the MAD; taken if true is returned
 *
 * Context: the work item, in no callback.
 * Return: false: there is no such agent.
 */
bool ib_mad_hand_over(struct ib_mad_port *port, struct ib_mad_rx *rx)
{
	struct ib_mad_owner *owner = ib_mad_agent_begin(port, &rx->recv);

	if (!owner)
		return false;
	ib_agent_end(&owner->mad.agent, ib_mad_to_agent(port, owner, rx));
	return true;
}

static void ib_mad_reply(struct ib_mad_port *port, const struct ib_mad_recv *recv, u8 *answer)
{
	if (ib_get(answer, IB_MAD_CLASS) == IB_CLASS_SMP_DR &&
	    ib_smi_send(answer, port->num) != IB_SMI_WIRE)
		return;
	spin_lock_bh(&port->lock);
	ib_mad_send_own(&port->qps[recv->qpn], &recv->from, answer);
	spin_unlock_bh(&port->lock);
}

/* Nobody here speaks that (IBA 13.4.7): say so to who waits for an answer. */
static void ib_mad_refuse(struct ib_mad_port *port, struct ib_mad_recv *recv)
{
	u8 method = ib_get(recv->mad, IB_MAD_METHOD);
	u16 status = IB_STATUS_BAD_METHOD_ATTRIBUTE;

	if (method != IB_METHOD_GET && method != IB_METHOD_SET)
		return;
	if (ib_get(recv->mad, IB_MAD_CLASS) == IB_CLASS_SMP_DR)
		status |= IB_STATUS_SMP_D;
	ib_put(recv->mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	ib_put(recv->mad, IB_MAD_STATUS, status);
	ib_mad_reply(port, recv, recv->mad);
}

/* Gives false if the MAD goes on to an agent. */
static bool ib_mad_to_device(struct ib_mad_port *port, struct ib_mad_rx *rx)
{
	u8 answer[IB_MAD_SIZE];

	/* The device itself speaks up, and leaves it to us to know where the SM is. */
	if (ib_get(rx->recv.mad, IB_MAD_METHOD) == IB_METHOD_TRAP && !rx->recv.from.lid)
		return ib_mad_forward_trap(port, rx);
	switch (ib_mad_ask_device(port, rx->recv.mad, rx, answer)) {
	case IB_MAD_ANSWERED:
		ib_mad_reply(port, &rx->recv, answer);
		return true;
	case IB_MAD_CONSUMED:
		return true;
	default:
		return false;
	}
}

/* Gives true if somebody has taken the memory. */
static bool ib_mad_dispatch(struct ib_mad_port *port, struct ib_mad_rx *rx)
{
	u8 *mad = rx->recv.mad;
	enum ib_smi way = IB_SMI_DEVICE;

	if (!ib_mad_is_acceptable(&rx->recv))
		return false;
	if (ib_get(mad, IB_MAD_CLASS) == IB_CLASS_SMP_DR)
		way = ib_smi_receive(mad, port->num);
	if (way == IB_SMI_DROP)
		return false;
	if (way == IB_SMI_DEVICE && !ib_get(mad, IB_MAD_RESPONSE) && ib_mad_to_device(port, rx))
		return false;
	if (ib_mad_hand_over(port, rx))
		return true;
	ib_mad_refuse(port, &rx->recv);
	return false;
}

/**
 * ib_mad_rx_run() - look at one received MAD
 * @port: the port
 *
 * Context: the work item.
 * Return: true if there was one.
 */
bool ib_mad_rx_run(struct ib_mad_port *port)
{
	struct ib_mad_rx *rx;

	spin_lock_bh(&port->lock);
	rx = list_first_entry_or_null(&port->rx, struct ib_mad_rx, node);
	if (rx) {
		list_del_init(&rx->node);
		port->nrx--;
	}
	spin_unlock_bh(&port->lock);
	if (rx && !ib_mad_dispatch(port, rx))
		ib_mad_rx_free(rx);
	return rx;
}
