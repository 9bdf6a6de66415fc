// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast: groups.
 *
 * What the SA has us joined to and what the members want are two sets of ways of being in a group
 * (IBA calls them join states).  A work item of the group brings the first in line with the second,
 * one question to the SA at a time:
 *
 *   the SA may have forgotten what is wanted   ask for it again
 *   a member waits for ways that are joined    compare, and it is in or refused
 *   a member waits for others                  join
 *   ways are joined that nobody wants          leave
 *   nothing of all this, and no members        the group goes
 *
 * Whatever changes a group kicks the item, and the end of a question does, too.
 *
 * A join that was not answered may have arrived.  If nobody wants it any more the SA is told to
 * forget it, once.
 */
#include <linux/jhash.h>
#include <linux/slab.h>

#include "mcast.h"

/* A leave is asked for often enough to survive a lost packet; nobody waits for it. */
#define MCAST_LEAVE_TIMEOUT_MS 300
#define MCAST_LEAVE_RETRIES 3

static void mcast_group_work(struct work_struct *work);

/**
 * mcast_group_alloc() - make a group that nobody is in
 * @port: the port
 *
 * Context: may sleep, without the lock.
 * Return: the group, with one reference, or NULL.
 */
struct mcast_group *mcast_group_alloc(struct mcast_port *port)
{
	struct mcast_group *group = kzalloc(sizeof(*group), GFP_KERNEL);

	if (!group)
		return NULL;
	kref_init(&group->ref);
	group->port = port;
	INIT_WORK(&group->work, mcast_group_work);
	INIT_HLIST_NODE(&group->node);
	INIT_LIST_HEAD(&group->members);
	return group;
}

/** mcast_group_free() - for kref_put(); context: any */
void mcast_group_free(struct kref *ref)
{
	kfree(container_of(ref, struct mcast_group, ref));
}

static struct hlist_head *mcast_bucket(struct mcast_port *port, const union ib_gid *mgid)
{
	return &port->groups[jhash(mgid->raw, sizeof(mgid->raw), 0) % MCAST_BUCKETS];
}

/**
 * mcast_group_find() - look a group up
 * @port: the port
 * @mgid: the group
 * @partition: the partition; 0: any
 *
 * Return: the group or NULL.
 */
struct mcast_group *mcast_group_find(struct mcast_port *port, const union ib_gid *mgid,
				     u16 partition)
{
	struct mcast_group *group;

	hlist_for_each_entry(group, mcast_bucket(port, mgid), node)
		if (!memcmp(&group->mgid, mgid, sizeof(*mgid)) &&
		    (!partition || group->partition == partition))
			return group;
	return NULL;
}

/**
 * mcast_group_add() - let a group be found
 * @group: the group
 * @mgid: its MGID; zero: the SA will choose
 * @partition: its partition; 0: not known
 */
void mcast_group_add(struct mcast_group *group, const union ib_gid *mgid, u16 partition)
{
	group->mgid = *mgid;
	group->partition = partition;
	kref_get(&group->ref);
	hlist_add_head(&group->node, mcast_bucket(group->port, mgid));
}

/**
 * mcast_group_kick() - something about the group has changed
 * @group: the group
 */
void mcast_group_kick(struct mcast_group *group)
{
	struct ib_service_instance *instance = mcast_instance(group->port);

	kref_get(&group->ref);
	ib_service_get(instance);
	if (queue_work(instance->device->wq, &group->work))
		return;
	/* It is queued already; neither reference is the last. */
	kref_put(&group->ref, mcast_group_free);
	ib_service_put(instance);
}

/* Without the lock: what a work, or a query that was under way, has kept. */
void mcast_group_put_op(struct mcast_group *group)
{
	struct ib_service_instance *instance = mcast_instance(group->port);

	kref_put(&group->ref, mcast_group_free);
	ib_service_put(instance);
}

/**
 * mcast_group_wanted() - in which ways do its members want to be in it?
 * @group: the group
 *
 * Return: IB_SA_JOIN_*.
 */
u8 mcast_group_wanted(const struct mcast_group *group)
{
	struct ib_mcast_member *member;
	u8 bits = 0;

	list_for_each_entry(member, &group->members, node)
		bits |= member->wish.record.join_state;
	return bits;
}

/*
 * To the SA there is one membership for a MGID.  If a second group has the same one (its partition
 * was not named, or is another), what that wants is not to be left for this one.
 */
static u8 mcast_group_others(const struct mcast_group *group)
{
	struct mcast_group *other;
	u8 bits = 0;

	hlist_for_each_entry(other, mcast_bucket(group->port, &group->mgid), node)
		if (other != group && !memcmp(&other->mgid, &group->mgid, sizeof(group->mgid)))
			bits |= other->joined | mcast_group_wanted(other);
	return bits;
}

/* ---- questions to the SA ---- */

static enum ib_cb_result mcast_asked(struct ib_sa_query *query, const struct ib_sa_result *result,
				     void *context);

static void mcast_request(struct mcast_group *group, enum ib_sa_method method, u8 bits,
			  const struct mcast_wish *wish, struct ib_sa_request *request)
{
	struct mcast_port *port = group->port;

	*request = (struct ib_sa_request) {
		.port = port->number,
		.method = method,
		.attr = IB_SA_MCMEMBER,
		.mask = wish->mask | IB_SA_MCMEMBER_MGID | IB_SA_MCMEMBER_PORT_GID |
			IB_SA_MCMEMBER_JOIN_STATE,
		.record.mcmember = wish->record,
		.timeout_ms = wish->timeout_ms,
		.retries = wish->retries,
		.done = mcast_asked,
		.context = group,
	};
	request->record.mcmember.mgid = group->mgid;
	request->record.mcmember.join_state = bits;
}

static void mcast_join_request(struct mcast_group *group, const struct mcast_wish *wish,
			       struct ib_sa_request *request)
{
	struct mcast_port *port = group->port;

	mcast_request(group, IB_SA_SET, group->op_bits, wish, request);
	/* Somebody may name the port; else it is ours, as it is called now. */
	if (!(wish->mask & IB_SA_MCMEMBER_PORT_GID))
		ib_gid_cached(mcast_instance(port)->device, port->number, 0,
			      &request->record.mcmember.port_gid);
	group->port_gid = request->record.mcmember.port_gid;
}

static void mcast_leave_request(struct mcast_group *group, u8 bits,
				struct ib_sa_request *request)
{
	const struct mcast_wish wish = {
		.mask = IB_SA_MCMEMBER_PORT_GID,
		.record.port_gid = group->port_gid,
		.timeout_ms = MCAST_LEAVE_TIMEOUT_MS,
		.retries = MCAST_LEAVE_RETRIES,
	};

	mcast_request(group, IB_SA_DELETE, bits, &wish, request);
}

/**
 * mcast_group_tell() - tell the SA, once and without waiting, that we are not in a group
 * @group: the group; the caller keeps it
 * @bits: the ways
 *
 * Context: may sleep, without the lock.
 * Return: as ib_sa_tell().
 */
int mcast_group_tell(struct mcast_group *group, u8 bits)
{
	struct mcast_port *port = group->port;
	struct ib_sa_request request;
	bool named;

	spin_lock_bh(&port->lock);
	named = !mcast_gid_is_zero(&group->mgid);
	mcast_leave_request(group, bits, &request);
	spin_unlock_bh(&port->lock);
	/* One that the SA has not named to us cannot be named to it. */
	if (!named)
		return -EINVAL;
	return ib_sa_tell(mcast_instance(port)->attachment, &request);
}

/* With the lock held: the members that wait for what is joined are in, or it is not for them. */
static void mcast_group_serve(struct mcast_group *group)
{
	struct ib_mcast_member *member, *next;

	list_for_each_entry_safe(member, next, &group->members, node) {
		if (member->state != MCAST_MEMBER_WAITS ||
		    member->wish.record.join_state & ~group->joined)
			continue;
		if (!mcast_wish_granted(&member->wish, &group->record)) {
			mcast_member_lose(member, -EINVAL, 0);
			continue;
		}
		member->state = MCAST_MEMBER_IN;
		mcast_member_tell(member, IB_MCAST_JOINED, 0, 0);
	}
}

static struct ib_mcast_member *mcast_group_waiter(struct mcast_group *group)
{
	struct ib_mcast_member *member;

	list_for_each_entry(member, &group->members, node)
		if (member->state == MCAST_MEMBER_WAITS)
			return member;
	return NULL;
}

static void mcast_group_begin(struct mcast_group *group, enum mcast_op op, u8 bits)
{
	group->op = op;
	group->op_bits = bits;
	group->starting = true;
	kref_get(&group->ref);
	ib_service_get(mcast_instance(group->port));
}

/* With the lock held: what is to be asked next?  Nothing, if false. */
static bool mcast_group_next(struct mcast_group *group, struct ib_sa_request *request)
{
	u8 wanted = mcast_group_wanted(group);
	struct ib_mcast_member *waiter;

	if (group->op != MCAST_IDLE || group->farewell)
		return false;
	if (group->stale && group->joined & wanted) {
		group->stale = false;
		mcast_group_begin(group, MCAST_REJOIN, group->joined & wanted);
		mcast_join_request(group, &group->again, request);
		return true;
	}
	mcast_group_serve(group);
	waiter = mcast_group_waiter(group);
	if (waiter) {
		group->op_wish = waiter->wish;
		mcast_group_begin(group, MCAST_JOIN, waiter->wish.record.join_state);
		mcast_join_request(group, &group->op_wish, request);
		return true;
	}
	/* Those that were refused above want nothing any more. */
	wanted = mcast_group_wanted(group) | mcast_group_others(group);
	if (group->joined & ~wanted) {
		mcast_group_begin(group, MCAST_LEAVE, group->joined & ~wanted);
		mcast_leave_request(group, group->op_bits, request);
		return true;
	}
	return false;
}

/* With the lock held: take it off the port if nobody needs it. */
static void mcast_group_retire(struct mcast_group *group)
{
	if (group->op != MCAST_IDLE || !list_empty(&group->members) || group->unsure ||
	    hlist_unhashed(&group->node))
		return;
	hlist_del_init(&group->node);
	kref_put(&group->ref, mcast_group_free);
}

/* ---- answers ---- */

/* With the lock held: the SA has described the group. */
static void mcast_group_learn(struct mcast_group *group, const struct ib_sa_mcmember *record)
{
	struct ib_mcast_member *member, *next;
	bool differs = mcast_record_differs(&group->record, record);

	group->record = *record;
	if (!differs)
		return;
	list_for_each_entry_safe(member, next, &group->members, node) {
		if (member->state != MCAST_MEMBER_IN)
			continue;
		if (mcast_wish_granted(&member->wish, record))
			mcast_member_tell(member, IB_MCAST_CHANGED, 0, 0);
		else
			mcast_member_lose(member, -ENETRESET, 0);
	}
}

/* With the lock held: the SA has said what the group is called, or in which partition it is. */
static void mcast_group_name(struct mcast_group *group)
{
	u16 partition = group->record.pkey & IB_PKEY_PARTITION;

	if (!memcmp(&group->mgid, &group->record.mgid, sizeof(group->mgid)) && group->partition)
		return;
	/* One that has this name already keeps it for those who look. */
	if (mcast_group_find(group->port, &group->record.mgid, partition) || group->farewell)
		partition = 0;
	hlist_del_init(&group->node);
	kref_put(&group->ref, mcast_group_free);
	mcast_group_add(group, &group->record.mgid, partition);
}

static void mcast_group_joined(struct mcast_group *group, const struct ib_sa_mcmember *record)
{
	const struct mcast_wish *wish = &group->op_wish;
	bool first = !group->joined;

	if (first)
		group->record = *record;
	else
		mcast_group_learn(group, record);
	group->joined |= group->op_bits;
	if (first || hweight64(wish->mask) > hweight64(group->again.mask))
		group->again = *wish;
	mcast_group_name(group);
}

static void mcast_group_refused(struct mcast_group *group, const struct ib_sa_result *result)
{
	struct ib_mcast_member *member, *next;

	list_for_each_entry_safe(member, next, &group->members, node)
		if (member->state == MCAST_MEMBER_WAITS &&
		    mcast_wish_same(&member->wish, &group->op_wish))
			mcast_member_lose(member, result->error, result->status);
}

static void mcast_group_lost(struct mcast_group *group, const struct ib_sa_result *result)
{
	int error = result->error == -ECANCELED ? -ECANCELED : -ENETRESET;
	struct ib_mcast_member *member, *next;

	group->joined = 0;
	list_for_each_entry_safe(member, next, &group->members, node)
		if (member->state == MCAST_MEMBER_IN)
			mcast_member_lose(member, error, result->status);
}

/* With the lock held: what was asked is answered, or will not be. */
static void mcast_group_answer(struct mcast_group *group, const struct ib_sa_result *result,
			       const struct ib_sa_mcmember *record)
{
	enum mcast_op op = group->op;

	group->op = MCAST_IDLE;
	group->query = NULL;
	mcast_group_kick(group);
	if (op == MCAST_LEAVE) {
		group->joined &= ~group->op_bits;
		return;
	}
	/* Nor does a SM that refuses to have us again have to have forgotten us. */
	if (group->farewell || result->error == -ETIMEDOUT || result->error == -ECANCELED ||
	    (result->error && op == MCAST_REJOIN))
		group->unsure |= group->op_bits | group->joined;
	if (group->farewell)
		return;
	if (op == MCAST_JOIN && !result->error)
		mcast_group_joined(group, record);
	else if (op == MCAST_JOIN)
		mcast_group_refused(group, result);
	else if (!result->error)
		mcast_group_learn(group, record);
	else
		mcast_group_lost(group, result);
}

static enum ib_cb_result mcast_asked(struct ib_sa_query *query, const struct ib_sa_result *result,
				     void *context)
{
	struct mcast_group *group = context;
	struct mcast_port *port = group->port;
	struct ib_sa_result end = *result;
	union ib_sa_record record;
	bool mine;

	if (!end.error)
		end.error = ib_sa_result_record(result, 0, &record);
	spin_lock_bh(&port->lock);
	/* Who has taken the query away destroys it, and answers for what it kept. */
	mine = group->starting || group->query == query;
	if (mine)
		mcast_group_answer(group, &end, &record.mcmember);
	spin_unlock_bh(&port->lock);
	if (mine)
		mcast_group_put_op(group);
	return mine ? IB_CB_DESTROY : IB_CB_DONE;
}

/*
 * Without the lock: the service closes.  A leave goes on without us.  A join is taken back; as it
 * may have arrived the SA is to be told so.
 */
static void mcast_group_part(struct ib_sa_query *query, enum mcast_op op)
{
	if (op == MCAST_LEAVE)
		ib_sa_query_release(query);
	else
		ib_sa_query_cancel(query);
}

static void mcast_group_ask(struct mcast_group *group, const struct ib_sa_request *request)
{
	struct mcast_port *port = group->port;
	struct ib_sa_query *query, *part = NULL;
	enum mcast_op op;
	int err;
	u8 bits;

	err = ib_sa_query_start(mcast_instance(port)->attachment, request, &query);
	spin_lock_bh(&port->lock);
	op = group->op;
	bits = group->op_bits;
	group->starting = false;
	if (err) {
		const struct ib_sa_result end = {
			.error = err == -ENODEV ? -ECANCELED : err,
		};

		mcast_group_answer(group, &end, NULL);
	} else if (op != MCAST_IDLE && group->farewell) {
		part = query;
		group->op = MCAST_IDLE;
		mcast_group_kick(group);
	} else if (op != MCAST_IDLE) {
		group->query = query;
	}
	spin_unlock_bh(&port->lock);
	if (part)
		mcast_group_part(part, op);
	if (part && op != MCAST_LEAVE)
		mcast_group_tell(group, bits);
	if (part || err)
		mcast_group_put_op(group);
}

static void mcast_group_work(struct work_struct *work)
{
	struct mcast_group *group = container_of(work, struct mcast_group, work);
	struct mcast_port *port = group->port;
	struct ib_sa_request request;
	u8 unsure, keep;
	bool ask;

	spin_lock_bh(&port->lock);
	keep = group->farewell ? 0 : group->joined | mcast_group_wanted(group);
	unsure = group->unsure & ~(keep | mcast_group_others(group));
	group->unsure = 0;
	spin_unlock_bh(&port->lock);
	if (unsure)
		mcast_group_tell(group, unsure);

	spin_lock_bh(&port->lock);
	ask = mcast_group_next(group, &request);
	mcast_group_retire(group);
	spin_unlock_bh(&port->lock);
	if (ask)
		mcast_group_ask(group, &request);
	mcast_group_put_op(group);
}

/**
 * mcast_group_farewell() - the service closes: leave, whatever is under way
 * @group: the group; the caller keeps it
 *
 * Members that wait are told; what is left of the others is reaped afterwards.
 *
 * Context: may sleep, without the lock; waits for nothing but our own code.
 */
void mcast_group_farewell(struct mcast_group *group)
{
	struct mcast_port *port = group->port;
	struct ib_mcast_member *member, *next;
	struct ib_sa_query *query;
	enum mcast_op op;
	u8 left;

	spin_lock_bh(&port->lock);
	group->farewell = true;
	query = group->query;
	op = group->op;
	left = group->joined;
	if (op == MCAST_LEAVE)
		left &= ~group->op_bits;
	else if (query)
		left |= group->op_bits;
	left &= ~mcast_group_others(group);
	group->joined = 0;
	group->query = NULL;
	if (query)
		group->op = MCAST_IDLE;
	list_for_each_entry_safe(member, next, &group->members, node)
		if (member->state == MCAST_MEMBER_WAITS)
			mcast_member_lose(member, -ECANCELED, 0);
	mcast_group_kick(group);
	spin_unlock_bh(&port->lock);
	if (query) {
		mcast_group_part(query, op);
		mcast_group_put_op(group);
	}
	if (left)
		mcast_group_tell(group, left);
}
