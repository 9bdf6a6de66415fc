// SPDX-License-Identifier: GPL-2.0-only
/*
 * Agents: who may end one, and when its callbacks have ended.
 *
 * An agent has an owner that may destroy it and two reapers that may have to: the owner's
 * attachment after remove_one, and its service when that closes.  Whoever moves it from ARMED to
 * DYING, under the HCA's lock, is the one who undoes it; the others wait for that.  No callback
 * begins after that move.  The destroyer waits for those that run, calls the service, and leaves a
 * tombstone unless he is the owner.  Only the lifecycle thread may tire of that wait: then the
 * agent is ARMED again, whoever waited for the thread has it, and nothing was undone under the
 * callback.
 */
#include <linux/export.h>
#include <linux/sched.h>

#include "core.h"
#include "trace.h"

#define IB_AGENT_TEXT 64

static struct ib_hca *ib_agent_hca(const struct ib_agent *agent)
{
	return agent->attachment->device->hca;
}

static struct ib_graveyard *ib_agent_graveyard(const struct ib_agent *agent)
{
	struct ib_attachment *attachment = agent->attachment;

	return attachment->client ? &attachment->client->graveyard :
				    &attachment->service->graveyard;
}

void ib_graveyard_init(struct ib_graveyard *graveyard)
{
	spin_lock_init(&graveyard->lock);
	INIT_LIST_HEAD(&graveyard->tombstones);
	INIT_LIST_HEAD(&graveyard->objects);
}

static void ib_agent_free(struct ib_agent *agent)
{
	struct ib_attachment *attachment = agent->attachment;

	agent->ops->free(agent);
	ib_attachment_put(attachment);
}

/**
 * ib_graveyard_clear() - free the tombstones of an owner that no longer has any code
 * @graveyard: of a client or service that has been unregistered
 */
void ib_graveyard_clear(struct ib_graveyard *graveyard)
{
	struct ib_agent *agent, *next;
	LIST_HEAD(list);

	spin_lock_irq(&graveyard->lock);
	list_splice_init(&graveyard->tombstones, &list);
	spin_unlock_irq(&graveyard->lock);
	list_for_each_entry_safe(agent, next, &list, owner_node)
		ib_agent_free(agent);
	ib_objects_bury(graveyard);
}

static void ib_agent_work(struct work_struct *work);

int ib_agent_init(struct ib_agent *agent, struct ib_attachment *attachment,
		  struct ib_service_instance *instance, const struct ib_agent_ops *ops)
{
	struct ib_hca *hca = attachment->device->hca;
	unsigned long flags;
	int err = -ENODEV;

	spin_lock_irqsave(&hca->lock, flags);
	if (!attachment->closed && instance->state == IB_SERVICE_UP) {
		agent->attachment = attachment;
		agent->instance = instance;
		agent->ops = ops;
		agent->state = IB_AGENT_ARMED;
		INIT_WORK(&agent->work, ib_agent_work);
		ib_lockmap_init(&agent->map, IB_LOCKMAP_AGENT);
		list_add_tail(&agent->owner_node, &attachment->agents);
		list_add_tail(&agent->service_node, &instance->agents);
		ib_attachment_get(attachment);
		err = 0;
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	return err;
}
EXPORT_SYMBOL_GPL(ib_agent_init);

/* With the HCA's lock held: exactly one caller gets true. */
static bool ib_agent_claim(struct ib_agent *agent)
{
	if (agent->state != IB_AGENT_ARMED)
		return false;
	agent->state = IB_AGENT_DYING;
	return true;
}

static bool ib_agent_is_silent(void *arg)
{
	return !((struct ib_agent *)arg)->running;
}

/**
 * struct ib_agent_late - an owner who comes after another has claimed his agent
 * @agent: the agent
 * @claimed: it was given back, and is his now
 */
struct ib_agent_late {
	struct ib_agent *agent;
	bool claimed;
};

/* Has its claimant buried it, or given it back? */
static bool ib_agent_take_over(void *arg)
{
	struct ib_agent_late *late = arg;

	if (!late->claimed)
		late->claimed = ib_agent_claim(late->agent);
	return late->claimed || late->agent->state == IB_AGENT_TOMBSTONE;
}

/*
 * The claimant has tired of its callback, so nobody may undo it now; an @orphan's owner will not
 * either.  Returns false if the callback has returned in the meantime: the claim is as good as new,
 * and nobody else would come, since a callback that ends its agent has found it claimed.
 */
static bool ib_agent_give_back(struct ib_agent *agent, bool orphan)
{
	struct ib_hca *hca = ib_agent_hca(agent);
	bool runs;

	spin_lock_irq(&hca->lock);
	runs = agent->running;
	if (runs) {
		agent->state = IB_AGENT_ARMED;
		agent->orphan |= orphan;
		wake_up_all(&hca->wait);
	}
	spin_unlock_irq(&hca->lock);
	return runs;
}

/* With the HCA's lock held: nobody finds it any more. */
static void ib_agent_unlink(struct ib_agent *agent)
{
	list_del_init(&agent->owner_node);
	list_del_init(&agent->service_node);
	wake_up_all(&ib_agent_hca(agent)->wait);
}

/*
 * The claimant's last act.  A reaper leaves the memory to the owner: to one who waits already, or
 * to one who may come.  After the lock is given back the agent belongs to whoever frees it.
 *
 * Freeing is code of the service, and from the moment that the agent is off its lists nobody waits
 * for it: neither the service nor, through its clients, that module.  So whoever frees is inside.
 */
static void ib_agent_bury(struct ib_agent *agent, bool owner)
{
	struct ib_service_instance *instance = agent->instance;
	struct ib_graveyard *graveyard = ib_agent_graveyard(agent);
	struct ib_hca *hca = ib_agent_hca(agent);
	bool free;

	spin_lock_irq(&hca->lock);
	ib_agent_unlink(agent);
	free = (owner || agent->orphan) && !agent->running;
	if (free) {
		instance->inside++;
	} else {
		agent->state = IB_AGENT_TOMBSTONE;
		if (!agent->owner_waits) {
			spin_lock(&graveyard->lock);
			list_add_tail(&agent->owner_node, &graveyard->tombstones);
			spin_unlock(&graveyard->lock);
		}
	}
	spin_unlock_irq(&hca->lock);
	if (!free)
		return;
	ib_agent_free(agent);
	ib_service_put(instance);
}

/*
 * The claimant undoes it: callbacks first, then the service's part.  Only the thread may fail, and
 * has then given it back.
 */
static int ib_agent_undo(struct ib_agent *agent, bool orphan)
{
	int err = ib_flow_wait(ib_agent_hca(agent), "a callback", agent->attachment->name, 0,
			       ib_agent_is_silent, agent);

	if (err && ib_agent_give_back(agent, orphan))
		return err;
	agent->ops->destroy(agent);
	return 0;
}

static void ib_agent_work(struct work_struct *work)
{
	struct ib_agent *agent = container_of(work, struct ib_agent, work);

	ib_agent_undo(agent, true);
	ib_agent_bury(agent, true);
}

/*
 * The owner no longer waits for who has claimed his agent.  Returns whether it is buried and
 * silent, and so the caller's to free; else whoever buries it frees it, or it is kept until its
 * owner's code has gone.
 */
static bool ib_agent_inherit(struct ib_agent *agent)
{
	struct ib_graveyard *graveyard = ib_agent_graveyard(agent);
	struct ib_hca *hca = ib_agent_hca(agent);
	bool mine = false;

	spin_lock_irq(&hca->lock);
	if (agent->state == IB_AGENT_TOMBSTONE) {
		mine = !agent->running;
		spin_lock(&graveyard->lock);
		list_del_init(&agent->owner_node);
		if (!mine)
			list_add_tail(&agent->owner_node, &graveyard->tombstones);
		spin_unlock(&graveyard->lock);
	} else {
		agent->owner_waits = false;
		agent->orphan = true;
	}
	spin_unlock_irq(&hca->lock);
	return mine;
}

/*
 * The owner comes late: somebody else has claimed it, or has long been done.  Returns whether that
 * was all; if not, the claim was given back and is the caller's.
 */
static bool ib_agent_destroy_late(struct ib_agent *agent)
{
	struct ib_agent_late late = { .agent = agent };
	struct ib_hca *hca = ib_agent_hca(agent);

	ib_flow_wait(hca, "a reaper", agent->attachment->name, 0, ib_agent_take_over, &late);
	if (late.claimed)
		return false;
	ib_flow_wait(hca, "a callback", agent->attachment->name, 0, ib_agent_is_silent, agent);
	if (ib_agent_inherit(agent))
		ib_agent_free(agent);
	return true;
}

void ib_agent_destroy(struct ib_agent *agent)
{
	struct ib_hca *hca = ib_agent_hca(agent);
	bool own, mine;

	ib_lockmap_wait(&agent->map);
	spin_lock_irq(&hca->lock);
	own = agent->running && agent->caller == current;
	mine = !own && ib_agent_claim(agent);
	if (own)
		agent->destroy_at_end = true;
	else if (!mine)
		agent->owner_waits = true;
	spin_unlock_irq(&hca->lock);
	if (WARN_ONCE(own, "ib_core: %s destroys its %s in the callback of it\n",
		      agent->attachment->name, agent->ops->what))
		return;
	if (!mine && ib_agent_destroy_late(agent))
		return;
	if (!ib_agent_undo(agent, true))
		ib_agent_bury(agent, true);
}
EXPORT_SYMBOL_GPL(ib_agent_destroy);

int ib_agent_enter(struct ib_agent *agent)
{
	struct ib_hca *hca = ib_agent_hca(agent);
	unsigned long flags;
	int err = -ENODEV;

	spin_lock_irqsave(&hca->lock, flags);
	if (agent->state == IB_AGENT_ARMED && agent->instance->state == IB_SERVICE_UP) {
		agent->instance->inside++;
		err = 0;
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (!err)
		rwsem_acquire_read(&agent->instance->map, 0, 1, _RET_IP_);
	return err;
}
EXPORT_SYMBOL_GPL(ib_agent_enter);

void ib_agent_exit(struct ib_agent *agent)
{
	ib_service_exit(agent->instance);
}
EXPORT_SYMBOL_GPL(ib_agent_exit);

bool ib_agent_begin(struct ib_agent *agent)
{
	struct ib_hca *hca = ib_agent_hca(agent);
	unsigned long flags;
	bool armed;

	spin_lock_irqsave(&hca->lock, flags);
	armed = agent->state == IB_AGENT_ARMED && !agent->destroy_at_end && !agent->orphan &&
		agent->instance->state != IB_SERVICE_LEFT;
	/* A service that stops, on the thread, still ends what its agents have begun. */
	armed &= !agent->attachment->hushed || current == hca->thread;
	if (armed) {
		agent->running++;
		agent->caller = current;
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (armed)
		rwsem_acquire_read(&agent->map, 0, 1, _RET_IP_);
	return armed;
}
EXPORT_SYMBOL_GPL(ib_agent_begin);

void ib_agent_end(struct ib_agent *agent, enum ib_cb_result result)
{
	struct ib_hca *hca = ib_agent_hca(agent);
	unsigned long flags;

	rwsem_release(&agent->map, _RET_IP_);
	spin_lock_irqsave(&hca->lock, flags);
	if (agent->caller == current)
		agent->caller = NULL;
	if (result == IB_CB_DESTROY || agent->destroy_at_end) {
		agent->orphan = true;
		/* The agent is on its service's list until it is undone, so the queue is there. */
		if (ib_agent_claim(agent))
			queue_work(agent->attachment->device->wq, &agent->work);
	}
	if (!--agent->running && agent->state != IB_AGENT_ARMED)
		wake_up_all(&hca->wait);
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_agent_end);

static void ib_agent_log_reaped(struct ib_agent *agent)
{
	char text[IB_AGENT_TEXT] = "";

	if (agent->ops->describe)
		agent->ops->describe(agent, text, sizeof(text));
	dev_warn(ib_agent_hca(agent)->parent, "%s: %s forgot its %s%s%s, reaped\n",
		 agent->attachment->device->name, agent->attachment->name, agent->ops->what,
		 *text ? " " : "", text);
	trace_ib_teardown_reap(agent->attachment->device, agent->attachment->name, 1);
}

/* Is there one to claim, or none at all? */
static bool ib_owner_has_news(void *arg)
{
	struct list_head *agents = &((struct ib_attachment *)arg)->agents;
	struct ib_agent *agent;

	list_for_each_entry(agent, agents, owner_node)
		if (agent->state == IB_AGENT_ARMED)
			return true;
	return list_empty(agents);
}

/* The first that nobody has claimed, of an owner's agents or of a service's. */
static struct ib_agent *ib_agent_claim_first(struct ib_hca *hca, struct list_head *agents,
					     size_t node)
{
	struct ib_agent *agent, *claimed = NULL;
	struct list_head *at;

	spin_lock_irq(&hca->lock);
	list_for_each(at, agents) {
		agent = (void *)at - node;
		if (!ib_agent_claim(agent))
			continue;
		claimed = agent;
		break;
	}
	spin_unlock_irq(&hca->lock);
	return claimed;
}

/**
 * ib_agents_reap_owner() - end every agent of an attachment
 * @attachment: closed, so none is added
 *
 * No callback of any of them runs when this returns 0.
 *
 * Context: the attachment's item, or the lifecycle thread for a service's.
 * Return: 0; on the thread also -ETIME, -ESHUTDOWN: a callback still runs, nothing was undone
 * under it.
 */
int ib_agents_reap_owner(struct ib_attachment *attachment)
{
	struct ib_hca *hca = attachment->device->hca;
	struct ib_agent *agent;
	int err;

	do {
		agent = ib_agent_claim_first(hca, &attachment->agents,
					     offsetof(struct ib_agent, owner_node));
		if (!agent) {
			/* Those that somebody else has claimed. */
			err = ib_flow_wait(hca, "agents", attachment->name, 0, ib_owner_has_news,
					   attachment);
			continue;
		}
		ib_lockmap_wait(&agent->map);
		ib_agent_log_reaped(agent);
		err = ib_agent_undo(agent, false);
		if (!err)
			ib_agent_bury(agent, false);
	} while (!err && !list_empty(&attachment->agents));
	return err;
}

/**
 * ib_agents_reap_service() - end every agent of a service that closes
 * @instance: CLOSING, so none is added
 * @until: when to give up on a callback
 *
 * Context: the lifecycle thread.
 * Return: 0; or, as from ib_thread_wait(), -ETIME, -EINTR, -ESHUTDOWN: somebody else's callback
 * still runs, and the service must not be stopped under it.  What is left its owner ends.
 */
int ib_agents_reap_service(struct ib_service_instance *instance, enum ib_until until)
{
	struct ib_hca *hca = instance->device->hca;
	struct ib_agent *agent;
	int err;

	while ((agent = ib_agent_claim_first(hca, &instance->agents,
					     offsetof(struct ib_agent, service_node)))) {
		err = ib_thread_wait(hca, "a callback", until, ib_agent_is_silent, agent);
		if (err && ib_agent_give_back(agent, false))
			return err;
		ib_agent_log_reaped(agent);
		agent->ops->destroy(agent);
		ib_agent_bury(agent, false);
	}
	return 0;
}
