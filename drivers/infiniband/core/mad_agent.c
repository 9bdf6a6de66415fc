// SPDX-License-Identifier: GPL-2.0-only
/*
 * MAD agents: made, found, destroyed.
 *
 * An agent has a number, the upper half of the TIDs of its requests, by which responses find it;
 * numbers are given out in turn, from a random one on, so that an answer to somebody long gone
 * finds nobody.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "mad.h"

/* 24 bits; a device may keep the upper byte for itself. */
#define IB_MAD_HI_TID_MAX 0xffffff
#define IB_MAD_VERSION_MAX 0x83
#define IB_MAD_CLASS_MAX 0x50
#define IB_MAD_MESSAGE_MAX (16 << 20)
#define IB_OUI_MAX 0xffffff

static int ib_mad_check_class(const struct ib_mad_agent_init *init)
{
	if (init->class_version >= IB_MAD_VERSION_MAX)
		return -EINVAL;
	if (init->class >= IB_MAD_CLASS_MAX && init->class != IB_CLASS_SMP_DR)
		return -EINVAL;
	if (ib_class_is_smp(init->class) != !init->qpn)
		return -EINVAL;
	if (ib_class_has_oui(init->class) && (!init->oui || init->oui > IB_OUI_MAX))
		return -EINVAL;
	return 0;
}

static int ib_mad_check(const struct ib_mad_agent_init *init)
{
	bool wants = !bitmap_empty(init->methods, IB_METHODS);

	if (init->qpn > 1 || init->rmpp > 1)
		return -EINVAL;
	if ((wants || init->user_rmpp) && !init->recv)
		return -EINVAL;
	if (!init->class)
		return wants || init->user_rmpp ? -EINVAL : 0;
	if (init->rmpp && !ib_class_has_rmpp(init->class))
		return -EINVAL;
	return ib_mad_check_class(init);
}

static void ib_mad_agent_undo(struct ib_agent *agent)
{
	struct ib_mad_owner *owner = container_of(agent, struct ib_mad_owner, mad.agent);
	struct ib_mad_port *port = owner->mad.port;
	struct ib_mad_sending *sending;

	spin_lock_bh(&port->lock);
	owner->leaving = true;
	ib_mad_match_del(&port->match, owner);
	xa_erase_bh(&port->hi_tids, owner->mad.hi_tid);
	list_del_init(&owner->node);
	ib_rmpp_forget(port, owner);
	spin_unlock_bh(&port->lock);
	/* Its owner has forgotten it, and with it these. */
	while ((sending = ib_mad_send_take(owner))) {
		if (sending->response)
			ib_mad_recv_free(sending->response);
		ib_mad_send_free(&sending->send);
	}
	ib_mad_kick(port);
}

static void ib_mad_agent_describe(struct ib_agent *agent, char *text, size_t size)
{
	struct ib_mad_owner *owner = container_of(agent, struct ib_mad_owner, mad.agent);

	scnprintf(text, size, "port %u QP%u class 0x%02x, %u sends", owner->mad.init.port,
		  owner->mad.init.qpn, owner->mad.init.class, owner->nsends);
}

static void ib_mad_agent_free(struct ib_agent *agent)
{
	kfree(container_of(agent, struct ib_mad_owner, mad.agent));
}

static const struct ib_agent_ops ib_mad_agent_ops = {
	.what = "MAD agent",
	.destroy = ib_mad_agent_undo,
	.describe = ib_mad_agent_describe,
	.free = ib_mad_agent_free,
};

static struct ib_mad_port *ib_mad_port_of(struct ib_service_instance *instance, u8 port)
{
	struct ib_mad_device *mads = instance->context;

	return port && port <= mads->nports ? mads->ports[port - 1] : NULL;
}

static struct ib_mad_owner *ib_mad_owner_alloc(struct ib_mad_port *port,
					       const struct ib_mad_agent_init *init)
{
	struct ib_mad_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL);

	if (!owner)
		return NULL;
	owner->mad.port = port;
	owner->mad.init = *init;
	owner->mad.context = init->context;
	if (!owner->mad.init.max_message)
		owner->mad.init.max_message = IB_MAD_MESSAGE_MAX;
	INIT_LIST_HEAD(&owner->node);
	INIT_LIST_HEAD(&owner->sends);
	INIT_LIST_HEAD(&owner->joins);
	ib_mad_queue_init(&owner->queue);
	atomic_set(&owner->tid, get_random_u32());
	return owner;
}

static int ib_mad_agent_number(struct ib_mad_owner *owner)
{
	struct ib_mad_port *port = owner->mad.port;
	int err;

	/* Found from now on, but not begun before ib_agent_init(): see ib_mad_agent_begin(). */
	err = xa_alloc_cyclic_bh(&port->hi_tids, &owner->mad.hi_tid, NULL,
				 XA_LIMIT(1, IB_MAD_HI_TID_MAX), &port->next_hi_tid, GFP_KERNEL);
	return err < 0 ? err : 0;
}

/* Make it known to everybody; the last step, after which it may be reaped at any moment. */
static int ib_mad_agent_publish(struct ib_mad_owner *owner, struct ib_attachment *attachment,
				struct ib_service_instance *instance)
{
	struct ib_mad_port *port = owner->mad.port;
	int err;

	spin_lock_bh(&port->lock);
	err = ib_agent_init(&owner->mad.agent, attachment, instance, &ib_mad_agent_ops);
	if (!err) {
		list_add_tail(&owner->node, &port->agents);
		xa_store_bh(&port->hi_tids, owner->mad.hi_tid, owner, GFP_ATOMIC);
	}
	spin_unlock_bh(&port->lock);
	return err;
}

static void ib_mad_log_refused(struct ib_mad_port *port, struct ib_attachment *attachment,
			       const struct ib_mad_agent_init *init)
{
	dev_warn(port->device->hca->parent,
		 "port %u: %s is refused class 0x%02x version %u on QP%u: another agent has it\n",
		 port->num, attachment->name, init->class, init->class_version, init->qpn);
}

static struct ib_mad_owner *ib_mad_agent_make(struct ib_service_instance *instance,
					      struct ib_attachment *attachment,
					      const struct ib_mad_agent_init *init)
{
	struct ib_mad_port *port = ib_mad_port_of(instance, init->port);
	struct ib_mad_owner *owner;
	int err;

	if (!port)
		return ERR_PTR(-EPROTONOSUPPORT);
	owner = ib_mad_owner_alloc(port, init);
	if (!owner)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&port->registering);
	err = ib_mad_agent_number(owner);
	if (err)
		goto unlock;
	err = ib_mad_match_add(&port->match, owner);
	if (err == -EEXIST) {
		ib_mad_log_refused(port, attachment, init);
		err = -EINVAL;
	}
	if (err)
		goto erase;
	err = ib_mad_agent_publish(owner, attachment, instance);
	if (err)
		goto unmatch;
	mutex_unlock(&port->registering);
	return owner;

unmatch:
	spin_lock_bh(&port->lock);
	ib_mad_match_del(&port->match, owner);
	spin_unlock_bh(&port->lock);
erase:
	xa_erase_bh(&port->hi_tids, owner->mad.hi_tid);
unlock:
	mutex_unlock(&port->registering);
	/* The work item may be looking at it, under the lock. */
	spin_lock_bh(&port->lock);
	spin_unlock_bh(&port->lock);
	kfree(owner);
	return ERR_PTR(err);
}

struct ib_mad_agent *ib_mad_agent_create(struct ib_attachment *attachment,
					 const struct ib_mad_agent_init *init)
{
	struct ib_service_instance *instance;
	struct ib_mad_owner *owner;
	int err = ib_mad_check(init);

	if (err)
		return ERR_PTR(err);
	instance = ib_service_enter(attachment, &ib_mad_service);
	if (IS_ERR(instance))
		return ERR_CAST(instance);
	owner = ib_mad_agent_make(instance, attachment, init);
	ib_service_exit(instance);
	return IS_ERR(owner) ? ERR_CAST(owner) : &owner->mad;
}
EXPORT_SYMBOL_GPL(ib_mad_agent_create);

/* Call done for what is left; the callbacks begin, so no reaper is at work meanwhile. */
static void ib_mad_agent_end_here(struct ib_mad_owner *owner)
{
	struct ib_mad_sending *sending = NULL;
	enum ib_cb_result ignored;

	do {
		if (!ib_agent_begin(&owner->mad.agent))
			return;
		sending = ib_mad_send_take(owner);
		if (sending)
			ib_mad_send_deliver(sending, &ignored);
		ib_agent_end(&owner->mad.agent, IB_CB_DONE);
	} while (sending);
}

void ib_mad_agent_destroy(struct ib_mad_agent *mad)
{
	struct ib_mad_owner *owner = ib_mad_owner_of(mad);

	/* One that has been reaped has no port any more, and no sends. */
	if (!ib_agent_enter(&mad->agent)) {
		spin_lock_bh(&mad->port->lock);
		owner->leaving = true;
		spin_unlock_bh(&mad->port->lock);
		ib_mad_agent_end_here(owner);
		ib_agent_exit(&mad->agent);
	}
	ib_agent_destroy(&mad->agent);
}
EXPORT_SYMBOL_GPL(ib_mad_agent_destroy);

u32 ib_mad_tid(struct ib_mad_agent *mad)
{
	u32 tid;

	do {
		tid = atomic_inc_return(&ib_mad_owner_of(mad)->tid);
	} while (!tid);
	return tid;
}
EXPORT_SYMBOL_GPL(ib_mad_tid);

/**
 * ib_mad_agent_begin() - whose is a received MAD? His callback has begun then
 * @port: the port
 * @recv: the MAD; not for the device
 *
 * Context: the work item.
 * Return: the agent, and the caller owes ib_agent_end(); NULL: nobody's.
 */
struct ib_mad_owner *ib_mad_agent_begin(struct ib_mad_port *port, const struct ib_mad_recv *recv)
{
	struct ib_mad_owner *owner;

	spin_lock_bh(&port->lock);
	if (ib_mad_is_response(recv->mad))
		owner = xa_load(&port->hi_tids, ib_get(recv->mad, IB_MAD_TID_HI));
	else
		owner = ib_mad_match_find(&port->match, recv->mad);
	/* One that is in the making is in no list yet. */
	if (owner && (list_empty(&owner->node) || owner->mad.init.qpn != recv->qpn ||
		      owner->leaving || !ib_agent_begin(&owner->mad.agent)))
		owner = NULL;
	spin_unlock_bh(&port->lock);
	return owner;
}

/**
 * ib_mad_agents_end_sends() - end every send of every agent; the work item calls done
 * @port: the port; its lock is held
 * @status: how they end
 */
void ib_mad_agents_end_sends(struct ib_mad_port *port, int status)
{
	struct ib_mad_owner *owner;
	struct ib_mad_sending *sending;

	list_for_each_entry(owner, &port->agents, node)
		list_for_each_entry(sending, &owner->sends, agent_node)
			ib_mad_send_end(port, sending, status);
}
