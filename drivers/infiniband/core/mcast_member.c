// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast: members.
 *
 * A member is in the list of its group until it is out: it was left or reaped, its join failed, or
 * the group was lost.  Each has a work item of its own for what it is told, so that an owner who
 * takes his time keeps nobody but himself from hearing.  The item counts as inside the service.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "mcast.h"

/* Eleven requests in 3.3 s: a SM that takes over gets its chance, and users do not wait longer. */
#define MCAST_TIMEOUT_MS 300
#define MCAST_RETRIES 10

static void mcast_member_free(struct kref *ref)
{
	kfree(container_of(ref, struct ib_mcast_member, ref));
}

static void mcast_member_work(struct work_struct *work)
{
	struct ib_mcast_member *member = container_of(work, struct ib_mcast_member, work);
	struct ib_service_instance *instance = mcast_instance(member->port);
	struct mcast_port *port = member->port;
	struct ib_mcast_report report;
	enum ib_cb_result result;

	spin_lock_bh(&port->lock);
	while (member->news && ib_agent_begin(&member->agent)) {
		member->news = false;
		report = member->report;
		spin_unlock_bh(&port->lock);
		result = member->callback(member, &report, member->context);
		ib_agent_end(&member->agent, result);
		spin_lock_bh(&port->lock);
	}
	spin_unlock_bh(&port->lock);
	kref_put(&member->ref, mcast_member_free);
	ib_service_put(instance);
}

/**
 * mcast_member_tell() - let a member hear something
 * @member: the member
 * @news: what; a change that comes before the join was reported is part of the join
 * @error: for IB_MCAST_LOST
 * @status: of the SA's answer
 *
 * The record is that of the group, unless the member is out.
 */
void mcast_member_tell(struct ib_mcast_member *member, enum ib_mcast_news news, int error,
		       u16 status)
{
	struct ib_service_instance *instance = mcast_instance(member->port);
	struct ib_mcast_report *report = &member->report;

	if (news == IB_MCAST_CHANGED && member->news)
		news = report->news;
	*report = (struct ib_mcast_report) { .news = news, .error = error, .status = status };
	if (news != IB_MCAST_LOST) {
		report->record = member->group->record;
		report->record.join_state = member->wish.record.join_state;
	}
	member->news = true;
	kref_get(&member->ref);
	ib_service_get(instance);
	if (queue_work(instance->device->wq, &member->work))
		return;
	/* It is queued already; neither reference is the last. */
	kref_put(&member->ref, mcast_member_free);
	ib_service_put(instance);
}

static void mcast_member_out(struct ib_mcast_member *member)
{
	struct mcast_group *group = member->group;

	if (!group)
		return;
	member->state = MCAST_MEMBER_OUT;
	member->group = NULL;
	list_del_init(&member->node);
	mcast_group_kick(group);
	kref_put(&group->ref, mcast_group_free);
}

/**
 * mcast_member_lose() - a join has failed, or the group was lost
 * @member: a member that waits or is in
 * @error: why
 * @status: of the SA's answer
 */
void mcast_member_lose(struct ib_mcast_member *member, int error, u16 status)
{
	mcast_member_out(member);
	mcast_member_tell(member, IB_MCAST_LOST, error, status);
}

/* ---- the agent ---- */

static void mcast_agent_destroy(struct ib_agent *agent)
{
	struct ib_mcast_member *member = container_of(agent, struct ib_mcast_member, agent);
	struct mcast_port *port = member->port;

	spin_lock_bh(&port->lock);
	mcast_member_out(member);
	spin_unlock_bh(&port->lock);
}

static void mcast_agent_describe(struct ib_agent *agent, char *text, size_t size)
{
	struct ib_mcast_member *member = container_of(agent, struct ib_mcast_member, agent);

	scnprintf(text, size, "%pI6 on port %u", member->wish.record.mgid.raw,
		  member->port->number);
}

static void mcast_agent_free(struct ib_agent *agent)
{
	kref_put(&container_of(agent, struct ib_mcast_member, agent)->ref, mcast_member_free);
}

static const struct ib_agent_ops mcast_agent_ops = {
	.what = "group membership",
	.destroy = mcast_agent_destroy,
	.describe = mcast_agent_describe,
	.free = mcast_agent_free,
};

/* ---- joining and leaving ---- */

static struct ib_mcast_member *mcast_member_make(struct mcast_port *port,
						 const struct ib_mcast_request *request)
{
	struct ib_mcast_member *member = kzalloc(sizeof(*member), GFP_KERNEL);

	if (!member)
		return NULL;
	kref_init(&member->ref);
	member->port = port;
	member->wish.mask = request->mask;
	member->wish.record = request->record;
	member->wish.timeout_ms = request->timeout_ms ?: MCAST_TIMEOUT_MS;
	member->wish.retries = request->timeout_ms ? request->retries : MCAST_RETRIES;
	member->callback = request->callback;
	member->context = request->context;
	INIT_LIST_HEAD(&member->node);
	INIT_WORK(&member->work, mcast_member_work);
	return member;
}

static u16 mcast_partition(const struct mcast_wish *wish)
{
	return wish->mask & IB_SA_MCMEMBER_PKEY ? wish->record.pkey & IB_PKEY_PARTITION : 0;
}

/*
 * Put a member into its group, or into @spare if there is none yet.  It can be reaped as soon as
 * the lock is given back.
 */
static int mcast_member_enter(struct ib_mcast_member *member, struct ib_attachment *attachment,
			      struct mcast_group *spare)
{
	const union ib_gid *mgid = &member->wish.record.mgid;
	u16 partition = mcast_partition(&member->wish);
	struct mcast_port *port = member->port;
	struct mcast_group *group = NULL;
	int err = -ENODEV;

	spin_lock_bh(&port->lock);
	if (!port->closing)
		err = ib_agent_init(&member->agent, attachment, mcast_instance(port),
				    &mcast_agent_ops);
	if (!err) {
		if (!mcast_gid_is_zero(mgid))
			group = mcast_group_find(port, mgid, partition);
		if (!group) {
			group = spare;
			mcast_group_add(group, mgid, partition);
		}
		kref_get(&group->ref);
		member->group = group;
		list_add_tail(&member->node, &group->members);
		mcast_group_kick(group);
	}
	spin_unlock_bh(&port->lock);
	return err;
}

static bool mcast_request_is_valid(struct ib_service_instance *instance,
				   const struct ib_mcast_request *request)
{
	u64 needed = IB_SA_MCMEMBER_MGID | IB_SA_MCMEMBER_JOIN_STATE;
	struct mcast *mcast = instance->context;

	return request->port && request->port <= mcast->ports && request->callback &&
	       (request->mask & needed) == needed && request->record.join_state &&
	       !(request->record.join_state & ~IB_SA_JOIN_ALL);
}

static int mcast_join(struct ib_service_instance *instance, struct ib_attachment *attachment,
		      const struct ib_mcast_request *request, struct ib_mcast_member **member)
{
	struct mcast *mcast = instance->context;
	struct ib_mcast_member *made;
	struct mcast_port *port;
	struct mcast_group *spare;
	int err = -ENOMEM;

	if (!mcast_request_is_valid(instance, request))
		return -EINVAL;
	port = &mcast->port[request->port - 1];
	spare = mcast_group_alloc(port);
	if (!spare)
		return err;
	made = mcast_member_make(port, request);
	if (made) {
		WRITE_ONCE(*member, made);
		err = mcast_member_enter(made, attachment, spare);
		if (err) {
			WRITE_ONCE(*member, NULL);
			kref_put(&made->ref, mcast_member_free);
		}
	}
	kref_put(&spare->ref, mcast_group_free);
	return err;
}

int ib_mcast_join(struct ib_attachment *attachment, const struct ib_mcast_request *request,
		  struct ib_mcast_member **member)
{
	struct ib_service_instance *instance = ib_service_enter(attachment, &ib_multicast);
	int err;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	err = mcast_join(instance, attachment, request, member);
	ib_service_exit(instance);
	return err;
}
EXPORT_SYMBOL_GPL(ib_mcast_join);

void ib_mcast_leave(struct ib_mcast_member *member)
{
	ib_agent_destroy(&member->agent);
}
EXPORT_SYMBOL_GPL(ib_mcast_leave);
