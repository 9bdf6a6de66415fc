/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Agents: handles that a service gives to a client.
 *
 * A MAD agent, an SA query, a group membership, a CM id: each embeds a struct ib_agent, has an
 * attachment for an owner, and calls the owner back.  The life of one:
 *
 *   ARMED      callbacks come
 *   DYING      claimed, by its owner's destroy or by the reaper, whoever was first; no callback
 *              begins any more, the running ones are waited for, then the service undoes it
 *   TOMBSTONE  reaped: the memory is all that is left.  Calls of the owner return -ENODEV, and its
 *              late destroy frees the memory.  What the owner never destroys is freed with the
 *              client.
 *
 * A callback never destroys its own agent.  It returns IB_CB_DESTROY instead.
 */
#ifndef IB_AGENT_H
#define IB_AGENT_H

#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/workqueue.h>

#include <ib/service.h>

struct ib_agent;

/**
 * enum ib_cb_result - what a callback of an agent returns
 * @IB_CB_DONE: nothing more
 * @IB_CB_DESTROY: destroy this agent; the owner will not touch it again
 */
enum ib_cb_result {
	IB_CB_DONE,
	IB_CB_DESTROY,
};

/**
 * enum ib_agent_state - see above
 * @IB_AGENT_ARMED: callbacks come
 * @IB_AGENT_DYING: claimed by one destroyer
 * @IB_AGENT_TOMBSTONE: reaped, the memory waits for the owner
 */
enum ib_agent_state {
	IB_AGENT_ARMED,
	IB_AGENT_DYING,
	IB_AGENT_TOMBSTONE,
};

/**
 * struct ib_agent_ops - what a service does with its agents
 * @what: the word for one in messages: "MAD agent", "group membership"
 * @destroy: undo the agent's creation: unlink it, cancel its queries, leave its group, once,
 *	without waiting for the answer.  No callback runs and none will.  Process context, may
 *	sleep, bounded by the service itself; called exactly once; must not free the memory.
 * @describe: add what tells this one from others ("QPN 1", the MGID) to a line of the log; optional
 * @free: free the memory.  Called once, last.  Context: any that may sleep.
 */
struct ib_agent_ops {
	const char *what;
	void (*destroy)(struct ib_agent *agent);
	void (*describe)(struct ib_agent *agent, char *text, size_t size);
	void (*free)(struct ib_agent *agent);
};

/**
 * struct ib_agent - a handle; embedded in the service's own structure
 * @attachment: the owner; its memory is kept as long as that of the agent
 * @instance: the service instance; not to be touched once the agent is a tombstone
 * @ops: the service's callbacks
 *
 * The rest is private to agent.c; under the HCA's lock:
 * @state: see enum ib_agent_state
 * @running: how many callbacks run
 * @owner_waits: an owner's destroy has met a reaper at work and will free the memory itself
 * @orphan: the owner has given it up (IB_CB_DESTROY): whoever ends it frees the memory
 * @destroy_at_end: the callback that runs did what it must not: it is destroyed when that returns
 * @caller: the task that runs a callback, if it is one only; to catch self-destruction
 * @owner_node: in &ib_attachment.agents, or as a tombstone in a graveyard
 * @service_node: in &ib_service_instance.agents
 * @work: destroys it after IB_CB_DESTROY
 * @map: what lockdep takes a callback for
 */
struct ib_agent {
	struct ib_attachment *attachment;
	struct ib_service_instance *instance;
	const struct ib_agent_ops *ops;

	enum ib_agent_state state;
	unsigned int running;
	bool owner_waits;
	bool orphan;
	bool destroy_at_end;
	struct task_struct *caller;
	struct list_head owner_node;
	struct list_head service_node;
	struct work_struct work;
	struct lockdep_map map;
};

/**
 * ib_agent_init() - make an agent known to its owner and its service
 * @agent: zeroed
 * @attachment: the owner
 * @instance: the service instance, which the caller has entered
 * @ops: the service's callbacks
 *
 * From now on it can be reaped at any moment.
 *
 * Context: any.
 * Return: 0; -ENODEV: the attachment or the service is closed, and the agent is as it was.
 */
int __must_check ib_agent_init(struct ib_agent *agent, struct ib_attachment *attachment,
			       struct ib_service_instance *instance,
			       const struct ib_agent_ops *ops);

/**
 * ib_agent_destroy() - the owner's destroy
 * @agent: an agent of the caller's; not to be touched afterwards, whatever happened
 *
 * No callback of it runs when this returns.  Also right for a tombstone.
 *
 * Context: process, may sleep; not in a callback of the same agent.
 */
void ib_agent_destroy(struct ib_agent *agent);

/**
 * ib_agent_enter() - begin a call of the owner into the service by way of its agent
 * @agent: the agent
 *
 * Return: 0, and the caller owes ib_agent_exit(); -ENODEV: reaped, or its service closes.
 */
int __must_check ib_agent_enter(struct ib_agent *agent);

/**
 * ib_agent_exit() - end such a call, in the same task
 * @agent: the agent
 */
void ib_agent_exit(struct ib_agent *agent);

/**
 * ib_agent_begin() - may this agent's owner be called back?
 * @agent: an agent that the service has found alive on a list of its own, under a lock that
 *	&ib_agent_ops.destroy takes to unlink it
 *
 * Context: any.
 * Return: true, and the caller owes ib_agent_end(); false: disarmed, do not call.
 */
bool __must_check ib_agent_begin(struct ib_agent *agent);

/**
 * ib_agent_end() - the callback has returned
 * @agent: the agent; not to be touched afterwards
 * @result: what the callback returned
 *
 * Context: as ib_agent_begin(), in the same task.
 */
void ib_agent_end(struct ib_agent *agent, enum ib_cb_result result);

#endif /* IB_AGENT_H */
