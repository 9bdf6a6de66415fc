// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the device itself answers: SMPs and performance queries to the port, from the wire or from
 * an agent here (a directed route without hops).  The provider asks its firmware, which may take
 * long, so no lock is held; the service counts as used meanwhile.
 *
 * What an SM sets in the port changes what others know of it.  Where the firmware does not tell,
 * the answer to a Set does: the events are raised here, and reach their subscribers after the
 * caches have been refreshed (<ib/event.h>).
 */
#include <linux/slab.h>

#include "mad.h"
#include "objects.h"

/* ---- what follows from a Set ---- */

static void ib_mad_see_first(struct ib_mad_port *port)
{
	struct ib_port_attr attr;

	if (port->seen.known || ib_port_cached(port->device, port->num, &attr))
		return;
	port->seen = (struct ib_mad_seen) {
		.known = true,
		.prefix = attr.subnet_prefix,
		.lid = attr.lid,
		.lmc = attr.lmc,
		.sm_lid = attr.sm_lid,
		.sm_sl = attr.sm_sl,
	};
}

static void ib_mad_raise(struct ib_mad_port *port, enum ib_event_type type)
{
	ib_event_raise(port->device, type, port->num);
}

static void ib_mad_see_port_info(struct ib_mad_port *port, const u8 *query, const u8 *answer)
{
	struct ib_mad_seen was = port->seen;
	struct ib_mad_seen now = {
		.known = true,
		.prefix = ib_get(answer, IB_PORT_INFO_PREFIX),
		.lid = ib_get(answer, IB_PORT_INFO_LID),
		.lmc = ib_get(answer, IB_PORT_INFO_LMC),
		.sm_lid = ib_get(answer, IB_PORT_INFO_SM_LID),
		.sm_sl = ib_get(answer, IB_PORT_INFO_SM_SL),
	};

	port->seen = now;
	if (now.lid != was.lid || now.lmc != was.lmc)
		ib_mad_raise(port, IB_EVENT_LID_CHANGE);
	if (now.sm_lid != was.sm_lid || now.sm_sl != was.sm_sl)
		ib_mad_raise(port, IB_EVENT_SM_CHANGE);
	if (now.prefix != was.prefix)
		ib_mad_raise(port, IB_EVENT_GID_CHANGE);
	if (ib_get(query, IB_PORT_INFO_REREGISTER))
		ib_mad_raise(port, IB_EVENT_CLIENT_REREGISTER);
}

/* A Set was answered well: what has changed? */
static void ib_mad_snoop(struct ib_mad_port *port, const u8 *query, const u8 *answer)
{
	if (!ib_class_is_smp(ib_get(query, IB_MAD_CLASS)) ||
	    ib_get(query, IB_MAD_METHOD) != IB_METHOD_SET ||
	    ib_get(answer, IB_MAD_STATUS) & ~IB_STATUS_SMP_D)
		return;
	switch (ib_get(query, IB_MAD_ATTRIBUTE)) {
	case IB_ATTR_PORT_INFO:
		ib_mad_see_port_info(port, query, answer);
		break;
	case IB_ATTR_PKEY_TABLE:
		ib_mad_raise(port, IB_EVENT_PKEY_CHANGE);
		break;
	case IB_ATTR_GUID_INFO:
		ib_mad_raise(port, IB_EVENT_GID_CHANGE);
		break;
	default:
		break;
	}
}

/* ---- asking the device ---- */

static struct ib_wc ib_mad_wc_of(struct ib_mad_port *port, const struct ib_mad_recv *recv)
{
	return (struct ib_wc) {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = IB_GRH_SIZE + IB_MAD_SIZE,
		.qp = port->qps[recv->qpn].qp,
		.src_qp = recv->from.qpn,
		.slid = recv->from.lid,
		.flags = recv->from.has_grh ? IB_WC_GRH : 0,
		.pkey_index = recv->from.pkey_index,
		.sl = recv->from.sl,
		.dlid_path_bits = recv->from.path_bits,
		.port = port->num,
	};
}

/**
 * ib_mad_ask_device() - let the device deal with a MAD, if it is for the device
 * @port: the port
 * @mad: the MAD; not a response
 * @rx: as what it was received, or NULL: it is our own
 * @answer: IB_MAD_SIZE bytes for the answer
 *
 * Context: the work item; may take as long as a firmware command.
 * Return: what became of it.
 */
enum ib_mad_result ib_mad_ask_device(struct ib_mad_port *port, const u8 *mad,
				     const struct ib_mad_rx *rx, u8 *answer)
{
	struct ib_mad_request request = { .mad = mad, .port = port->num };
	const struct ib_verbs_ops *ops = ib_verbs_of(port->device);
	enum ib_mad_result result = IB_MAD_NOTHING;
	struct ib_wc wc;

	if (rx) {
		wc = ib_mad_wc_of(port, &rx->recv);
		request.wc = &wc;
		request.grh = rx->recv.from.has_grh ? rx->grh : NULL;
	}
	memset(answer, 0, IB_MAD_SIZE);
	ib_mad_see_first(port);
	ib_service_get(port->instance);
	if (!ib_device_enter(port->device)) {
		if (ops->process_mad)
			result = ops->process_mad(port->device, &request, answer);
		ib_device_exit(port->device);
	}
	ib_service_put(port->instance);
	if (result == IB_MAD_ANSWERED && !port->device->raises_port_events)
		ib_mad_snoop(port, mad, answer);
	return result;
}

/**
 * ib_mad_forward_trap() - send a trap of the device itself to the SM
 * @port: the port
 * @rx: the trap
 *
 * Return: true: it has been dealt with.
 */
bool ib_mad_forward_trap(struct ib_mad_port *port, const struct ib_mad_rx *rx)
{
	struct ib_mad_addr to = { .qpn = rx->recv.qpn };
	struct ib_port_attr attr;

	if (ib_port_cached(port->device, port->num, &attr) || !attr.sm_lid)
		return true;
	to.lid = attr.sm_lid;
	to.sl = attr.sm_sl;
	spin_lock_bh(&port->lock);
	ib_mad_send_own(&port->qps[rx->recv.qpn], &to, rx->recv.mad);
	spin_unlock_bh(&port->lock);
	return true;
}

/* ---- an agent's own SMPs to its port ---- */

/**
 * struct ib_mad_errand - a local send that was taken from the list
 * @node: in &ib_mad_port.errands, of one that nobody waits for
 * @id: &ib_mad_send.id; 0: nobody waits for it
 * @mad: what it says
 */
struct ib_mad_errand {
	struct list_head node;
	u64 id;
	u8 mad[IB_MAD_SIZE];
};

/**
 * ib_mad_local_leave() - an agent goes, and leaves a MAD for the device behind
 * @port: the port; its lock is held
 * @mad: the MAD; copied
 *
 * Dropped when memory is short, or IB_MAD_BACKLOG of them wait: programs that come, ask and go
 * shall not fill memory faster than the firmware answers.
 */
void ib_mad_local_leave(struct ib_mad_port *port, const u8 *mad)
{
	struct ib_mad_errand *errand;

	if (port->nerrands >= IB_MAD_BACKLOG || port->dead || port->stopping)
		return;
	errand = kzalloc(sizeof(*errand), GFP_ATOMIC);
	if (!errand)
		return;
	memcpy(errand->mad, mad, IB_MAD_SIZE);
	list_add_tail(&errand->node, &port->errands);
	port->nerrands++;
	ib_mad_kick(port);
}

/** ib_mad_local_drop() - what was left behind and not dealt with in time; the work item rests */
void ib_mad_local_drop(struct ib_mad_port *port)
{
	struct ib_mad_errand *errand, *next;

	list_for_each_entry_safe(errand, next, &port->errands, node) {
		list_del(&errand->node);
		kfree(errand);
	}
	port->nerrands = 0;
}

/* Those who left and those who are there take turns. */
static bool ib_mad_local_take(struct ib_mad_port *port, struct ib_mad_errand *errand)
{
	struct ib_mad_sending *sending;
	struct ib_mad_errand *left;

	spin_lock_bh(&port->lock);
	left = list_first_entry_or_null(&port->errands, struct ib_mad_errand, node);
	sending = list_first_entry_or_null(&port->local, struct ib_mad_sending, node);
	if (left && sending) {
		port->errand_turn = !port->errand_turn;
		if (!port->errand_turn)
			left = NULL;
	}
	if (left) {
		list_del(&left->node);
		port->nerrands--;
		*errand = *left;
	} else if (sending) {
		list_del_init(&sending->node);
		errand->id = sending->send.id;
		memcpy(errand->mad, sending->send.mad, IB_MAD_SIZE);
	}
	spin_unlock_bh(&port->lock);
	kfree(left);
	return left || sending;
}

/* With the lock held: the send, if it has not ended meanwhile. */
static struct ib_mad_sending *ib_mad_local_find(struct ib_mad_port *port,
						const struct ib_mad_errand *errand)
{
	struct ib_mad_sending *sending;

	hash_for_each_possible(port->sends, sending, hash, ib_get(errand->mad, IB_MAD_TID))
		if (sending->send.id == errand->id && sending->state == IB_MAD_LOCAL)
			return sending;
	return NULL;
}

/* A MAD that never left the port. */
static struct ib_mad_rx *ib_mad_rx_of_local(struct ib_mad_port *port, const u8 *mad)
{
	struct ib_mad_rx *rx = ib_mad_rx_alloc(IB_MAD_SIZE, GFP_NOIO);

	if (!rx)
		return NULL;
	memcpy(rx->recv.mad, mad, IB_MAD_SIZE);
	rx->recv.from.lid = IB_LID_PERMISSIVE;
	rx->recv.port = port->num;
	return rx;
}

/* The device has answered, or has nothing to say. */
static void ib_mad_local_end(struct ib_mad_port *port, const struct ib_mad_errand *errand,
			     struct ib_mad_rx *rx)
{
	struct ib_mad_sending *sending;

	spin_lock_bh(&port->lock);
	sending = ib_mad_local_find(port, errand);
	if (sending && rx && sending->send.timeout_ms) {
		sending->response = &rx->recv;
		rx = NULL;
	}
	if (sending)
		ib_mad_send_end(port, sending, 0);
	spin_unlock_bh(&port->lock);
	if (rx)
		ib_mad_rx_free(rx);
}

/* It is for an agent here: who asked waits as if it had gone over the wire. */
static void ib_mad_local_pass_on(struct ib_mad_port *port, const struct ib_mad_errand *errand)
{
	struct ib_mad_rx *rx = ib_mad_rx_of_local(port, errand->mad);
	struct ib_mad_sending *sending;

	spin_lock_bh(&port->lock);
	sending = ib_mad_local_find(port, errand);
	if (sending && sending->send.timeout_ms)
		ib_mad_send_wait(port, sending);
	else if (sending)
		ib_mad_send_end(port, sending, 0);
	spin_unlock_bh(&port->lock);
	if (rx && !ib_mad_hand_over(port, rx))
		ib_mad_rx_free(rx);
}

/**
 * ib_mad_local_run() - deal with one MAD of an agent to its own port
 * @port: the port
 *
 * Context: the work item.
 * Return: true if there was one.
 */
bool ib_mad_local_run(struct ib_mad_port *port)
{
	enum ib_mad_result result = IB_MAD_NOTHING;
	struct ib_mad_errand errand;
	struct ib_mad_rx *rx = NULL;
	u8 answer[IB_MAD_SIZE];

	if (!ib_mad_local_take(port, &errand))
		return false;
	if (!ib_get(errand.mad, IB_MAD_RESPONSE))
		result = ib_mad_ask_device(port, errand.mad, NULL, answer);
	switch (result) {
	case IB_MAD_ANSWERED:
		/* Back over no hop at all. */
		ib_smi_send(answer, port->num);
		rx = ib_mad_rx_of_local(port, answer);
		fallthrough;
	case IB_MAD_CONSUMED:
		ib_mad_local_end(port, &errand, rx);
		break;
	default:
		ib_mad_local_pass_on(port, &errand);
		break;
	}
	ib_mad_tell_waiter(port);
	return true;
}
