// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths: from a GID to an address handle, by asking the SA.
 *
 * The table is the interface's own: nothing hangs from the network stack's neighbours, so that
 * their life is none of ours.  The QPN of a destination comes with each packet; what is remembered
 * is how to reach the port.
 *
 * A packet without a path leaves a note; the work item asks the SA, and the answer is another note.
 * A path whose question failed is forgotten, so that the next packet asks anew.  Only the work item
 * removes paths, and it alone owns their queries.
 */
#include <linux/slab.h>

#include "ipoib.h"

/* More peers than a subnet has ports. */
#define IPOIB_PATHS_MAX 65536

static const struct rhashtable_params ipoib_path_params = {
	.key_len = sizeof(union ib_gid),
	.key_offset = offsetof(struct ipoib_path, gid),
	.head_offset = offsetof(struct ipoib_path, node),
	.automatic_shrinking = true,
};

int ipoib_paths_init(struct ipoib_iface *iface)
{
	return rhashtable_init(&iface->paths, &ipoib_path_params);
}

void ipoib_paths_exit(struct ipoib_iface *iface)
{
	rhashtable_destroy(&iface->paths);
}

static void ipoib_path_drop(struct ipoib_iface *iface, struct sk_buff *skb)
{
	atomic_long_inc(&iface->counts.tx_dropped_waiting);
	dev_core_stats_tx_dropped_inc(iface->netdev);
	dev_kfree_skb_any(skb);
}

/* With the path's lock held. */
static void ipoib_path_note(struct ipoib_path *path, unsigned long note)
{
	struct ipoib_iface *iface = path->iface;

	if (path->notes & IPOIB_NOTE_DEAD)
		return;
	if (!path->notes) {
		spin_lock(&iface->note_lock);
		list_add_tail(&path->todo, &iface->path_notes);
		spin_unlock(&iface->note_lock);
	}
	path->notes |= note;
	ipoib_kick(iface);
}

static struct ipoib_path *ipoib_path_add(struct ipoib_iface *iface, const union ib_gid *gid)
{
	struct ipoib_path *path, *other;

	if (atomic_read(&iface->npaths) >= IPOIB_PATHS_MAX)
		return NULL;
	path = kzalloc(sizeof(*path), GFP_ATOMIC);
	if (!path)
		return NULL;
	path->gid = *gid;
	path->iface = iface;
	path->used = jiffies;
	spin_lock_init(&path->lock);
	__skb_queue_head_init(&path->queue);
	INIT_LIST_HEAD(&path->todo);
	/* Whoever finds it in the table finds it in the list. */
	spin_lock_bh(&iface->note_lock);
	other = rhashtable_lookup_get_insert_fast(&iface->paths, &path->node, ipoib_path_params);
	if (!other)
		list_add_tail(&path->all, &iface->path_list);
	spin_unlock_bh(&iface->note_lock);
	if (other) {
		kfree(path);
		return IS_ERR(other) ? NULL : other;
	}
	atomic_inc(&iface->npaths);
	return path;
}

/* No address handle yet: let the packet wait, and ask. */
static void ipoib_path_wait(struct ipoib_path *path, struct sk_buff *skb)
{
	bool room;

	spin_lock_bh(&path->lock);
	room = skb_queue_len(&path->queue) < IPOIB_PATH_QUEUE && !(path->notes & IPOIB_NOTE_DEAD);
	if (room) {
		__skb_queue_tail(&path->queue, skb);
		ipoib_path_note(path, IPOIB_NOTE_ASK);
	}
	spin_unlock_bh(&path->lock);
	if (!room)
		ipoib_path_drop(path->iface, skb);
}

static void ipoib_path_ask_again(struct ipoib_path *path)
{
	spin_lock_bh(&path->lock);
	/* While one query is under way it stays stale: that answer may be older than the event. */
	if (path->stale && !READ_ONCE(path->query)) {
		WRITE_ONCE(path->stale, false);
		ipoib_path_note(path, IPOIB_NOTE_ASK);
	}
	spin_unlock_bh(&path->lock);
}

/**
 * ipoib_path_xmit() - send to one port
 * @iface: the interface
 * @skb: the packet, from its struct ipoib_header on
 *
 * Whatever comes of it, the packet is dealt with.  Context: under the transmit lock and RCU.
 */
void ipoib_path_xmit(struct ipoib_iface *iface, struct sk_buff *skb)
{
	const struct ipoib_header *header = (const struct ipoib_header *)skb->data;
	u32 qpn = ipoib_addr_qpn(header->daddr);
	struct ipoib_path *path;
	union ib_gid gid;
	struct ipoib_ah *ah;

	memcpy(gid.raw, header->daddr + IPOIB_ADDR_GID, sizeof(gid.raw));
	path = rhashtable_lookup(&iface->paths, &gid, ipoib_path_params);
	if (unlikely(!path))
		path = ipoib_path_add(iface, &gid);
	if (unlikely(!path)) {
		ipoib_path_drop(iface, skb);
		return;
	}
	ipoib_touch(&path->used);
	ah = rcu_dereference(path->ah);
	if (likely(ah && ipoib_ah_get(ah))) {
		if (unlikely(READ_ONCE(path->stale)))
			ipoib_path_ask_again(path);
		ipoib_post(iface, skb, ah, qpn);
	} else {
		ipoib_path_wait(path, skb);
	}
}

/* Replace the address handle; takes over the caller's reference. */
static void ipoib_path_set_ah(struct ipoib_path *path, struct ipoib_ah *ah)
{
	struct ipoib_ah *old = rcu_replace_pointer(path->ah, ah, true);

	if (old)
		ipoib_ah_put(old);
}

static enum ib_cb_result ipoib_path_done(struct ib_sa_query *query,
					 const struct ib_sa_result *result, void *context)
{
	struct ipoib_path *path = context;
	union ib_sa_record record;
	int err = result->error;

	if (!err)
		err = ipoib_sa->result_record(result, 0, &record);
	spin_lock_bh(&path->lock);
	path->error = err;
	if (!err)
		path->record = record.path;
	ipoib_path_note(path, IPOIB_NOTE_ANSWER);
	spin_unlock_bh(&path->lock);
	/* The work item frees it. */
	return IB_CB_DONE;
}

static void ipoib_path_send_queue(struct ipoib_path *path)
{
	struct sk_buff_head queue;
	struct sk_buff *skb;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&path->lock);
	skb_queue_splice_init(&path->queue, &queue);
	spin_unlock_bh(&path->lock);
	while ((skb = __skb_dequeue(&queue))) {
		skb->dev = path->iface->netdev;
		dev_queue_xmit(skb);
	}
}

/* Take a path out of the table and free it.  It is in no list any more. */
static void ipoib_path_remove(struct ipoib_path *path)
{
	struct ipoib_iface *iface = path->iface;
	struct sk_buff *skb;

	rhashtable_remove_fast(&iface->paths, &path->node, ipoib_path_params);
	atomic_dec(&iface->npaths);
	spin_lock_bh(&path->lock);
	path->notes |= IPOIB_NOTE_DEAD;
	spin_lock(&iface->note_lock);
	list_del_init(&path->todo);
	spin_unlock(&iface->note_lock);
	spin_unlock_bh(&path->lock);
	if (path->query)
		ipoib_sa->query_cancel(path->query);
	while ((skb = __skb_dequeue(&path->queue)))
		ipoib_path_drop(iface, skb);
	ipoib_path_set_ah(path, NULL);
	kfree_rcu(path, rcu);
}

static void ipoib_path_forget(struct ipoib_path *path)
{
	spin_lock_bh(&path->iface->note_lock);
	list_del(&path->all);
	spin_unlock_bh(&path->iface->note_lock);
	ipoib_path_remove(path);
}

static void ipoib_path_ask(struct ipoib_path *path)
{
	struct ipoib_iface *iface = path->iface;
	struct ib_sa_request request = {
		.port = iface->port,
		.method = IB_SA_GET,
		.attr = IB_SA_PATH,
		.mask = IB_SA_PATH_DGID | IB_SA_PATH_SGID | IB_SA_PATH_NUMB_PATH |
			IB_SA_PATH_TRAFFIC_CLASS | IB_SA_PATH_PKEY,
		.done = ipoib_path_done,
		.context = path,
	};

	request.record.path.dgid = path->gid;
	request.record.path.sgid = iface->facts.gid;
	request.record.path.numb_path = 1;
	request.record.path.traffic_class = iface->broadcast->record.traffic_class;
	request.record.path.pkey = iface->facts.pkey;
	atomic_long_inc(&iface->counts.path_queries);
	if (ipoib_sa->query_start(iface->dev->attachment, &request, &path->query)) {
		path->query = NULL;
		atomic_long_inc(&iface->counts.path_errors);
		if (!rcu_access_pointer(path->ah))
			ipoib_path_forget(path);
		else
			WRITE_ONCE(path->stale, true);
	}
}

/* What the SA does not know is not used any more; if it did not answer the old way may do. */
static void ipoib_path_failed(struct ipoib_path *path, int err)
{
	atomic_long_inc(&path->iface->counts.path_errors);
	if (rcu_access_pointer(path->ah) && err == -ETIMEDOUT)
		WRITE_ONCE(path->stale, true);
	else
		ipoib_path_forget(path);
}

static void ipoib_path_answered(struct ipoib_path *path)
{
	struct ipoib_iface *iface = path->iface;
	struct ib_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	ipoib_sa->query_cancel(path->query);
	path->query = NULL;
	err = path->error;
	if (!err)
		err = ib_sa_path_to_ah(iface->dev->ib, iface->port, &path->record, &attr);
	if (!err) {
		ah = ipoib_ah_create(iface, &attr);
		err = PTR_ERR_OR_ZERO(ah);
	}
	if (err) {
		ipoib_path_failed(path, err);
		return;
	}
	ipoib_path_set_ah(path, ah);
	ipoib_path_send_queue(path);
}

static struct ipoib_path *ipoib_path_next_note(struct ipoib_iface *iface)
{
	struct ipoib_path *path;

	spin_lock_bh(&iface->note_lock);
	path = list_first_entry_or_null(&iface->path_notes, struct ipoib_path, todo);
	spin_unlock_bh(&iface->note_lock);
	return path;
}

/* Read the notes, and take the path off the list of those that have some. */
static unsigned long ipoib_path_take_notes(struct ipoib_path *path)
{
	unsigned long notes;

	spin_lock_bh(&path->lock);
	notes = path->notes;
	path->notes = 0;
	spin_lock(&path->iface->note_lock);
	list_del_init(&path->todo);
	spin_unlock(&path->iface->note_lock);
	spin_unlock_bh(&path->lock);
	return notes;
}

/**
 * ipoib_paths_work() - deal with the notes
 * @iface: the interface; stands on JOINING or higher
 *
 * Context: the work item, as all that follow.
 */
void ipoib_paths_work(struct ipoib_iface *iface)
{
	struct ipoib_path *path;
	unsigned long notes;

	while ((path = ipoib_path_next_note(iface))) {
		notes = ipoib_path_take_notes(path);
		if (notes & IPOIB_NOTE_ANSWER)
			ipoib_path_answered(path);
		else if (!path->query)
			ipoib_path_ask(path);
	}
}

/**
 * ipoib_paths_stale() - ask for every path again when it is next used
 * @iface: the interface
 */
void ipoib_paths_stale(struct ipoib_iface *iface)
{
	struct ipoib_path *path;

	spin_lock_bh(&iface->note_lock);
	list_for_each_entry(path, &iface->path_list, all)
		WRITE_ONCE(path->stale, true);
	spin_unlock_bh(&iface->note_lock);
}

static void ipoib_paths_remove(struct list_head *mine)
{
	struct ipoib_path *path, *next;

	list_for_each_entry_safe(path, next, mine, all)
		ipoib_path_remove(path);
}

/**
 * ipoib_paths_flush() - forget every path
 * @iface: the interface
 */
void ipoib_paths_flush(struct ipoib_iface *iface)
{
	LIST_HEAD(mine);

	spin_lock_bh(&iface->note_lock);
	list_splice_init(&iface->path_list, &mine);
	spin_unlock_bh(&iface->note_lock);
	ipoib_paths_remove(&mine);
}

/**
 * ipoib_paths_gc() - forget the paths that are not used
 * @iface: the interface
 */
void ipoib_paths_gc(struct ipoib_iface *iface)
{
	struct ipoib_path *path, *next;
	LIST_HEAD(mine);

	spin_lock_bh(&iface->note_lock);
	list_for_each_entry_safe(path, next, &iface->path_list, all)
		if (time_after(jiffies, READ_ONCE(path->used) + IPOIB_AGE_MAX))
			list_move_tail(&path->all, &mine);
	spin_unlock_bh(&iface->note_lock);
	ipoib_paths_remove(&mine);
}
