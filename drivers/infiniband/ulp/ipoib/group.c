// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast groups: from an MGID to an address handle, by joining (RFC 4391 5, 6).
 *
 * The broadcast group comes first, and what it is like (Q_Key, MTU, SL, ...) every other group of
 * the interface is made like.  Groups of the interface's multicast list are joined as full member
 * and received; a group that is only sent to is joined as send-only member when the first packet
 * comes, and left when none came for a while; there are IPOIB_SENT_GROUPS_MAX of those at most,
 * since anybody who may send can make them.
 *
 * As with paths, senders and callbacks leave notes, and the work item, alone, joins, leaves,
 * attaches, and removes.  That the SM has forgotten us is no matter of this file: the multicast
 * service joins again by itself and says so only if the group has changed or was lost.
 */
#include <linux/slab.h>

#include "ipoib.h"

static const struct rhashtable_params ipoib_group_params = {
	.key_len = sizeof(union ib_gid),
	.key_offset = offsetof(struct ipoib_group, mgid),
	.head_offset = offsetof(struct ipoib_group, node),
	.automatic_shrinking = true,
};

int ipoib_groups_init(struct ipoib_iface *iface)
{
	return rhashtable_init(&iface->groups, &ipoib_group_params);
}

void ipoib_groups_exit(struct ipoib_iface *iface)
{
	rhashtable_destroy(&iface->groups);
}

static void ipoib_group_drop(struct ipoib_iface *iface, struct sk_buff *skb)
{
	atomic_long_inc(&iface->counts.tx_dropped_waiting);
	dev_core_stats_tx_dropped_inc(iface->netdev);
	dev_kfree_skb_any(skb);
}

/* With the group's lock held. */
static void ipoib_group_note(struct ipoib_group *group, unsigned long note)
{
	struct ipoib_iface *iface = group->iface;

	if (group->notes & IPOIB_NOTE_DEAD)
		return;
	if (!group->notes) {
		spin_lock(&iface->note_lock);
		list_add_tail(&group->todo, &iface->group_notes);
		spin_unlock(&iface->note_lock);
	}
	group->notes |= note;
	ipoib_kick(iface);
}

static struct ipoib_group *ipoib_group_add(struct ipoib_iface *iface, const union ib_gid *mgid,
					   bool sent, gfp_t gfp)
{
	struct ipoib_group *group = kzalloc(sizeof(*group), gfp), *other;

	if (!group)
		return NULL;
	group->mgid = *mgid;
	group->iface = iface;
	group->used = jiffies;
	group->sent = sent;
	spin_lock_init(&group->lock);
	__skb_queue_head_init(&group->queue);
	INIT_LIST_HEAD(&group->todo);
	spin_lock_bh(&iface->note_lock);
	other = rhashtable_lookup_get_insert_fast(&iface->groups, &group->node,
						  ipoib_group_params);
	if (!other) {
		list_add_tail(&group->all, &iface->group_list);
		atomic_add(sent, &iface->sent_groups);
	}
	spin_unlock_bh(&iface->note_lock);
	if (!other)
		return group;
	kfree(group);
	return IS_ERR(other) ? NULL : other;
}

/* There is somebody who sends to it. */
static struct ipoib_group *ipoib_group_add_sent(struct ipoib_iface *iface, const union ib_gid *mgid)
{
	if (atomic_read(&iface->sent_groups) >= READ_ONCE(iface->sent_groups_max))
		return NULL;
	return ipoib_group_add(iface, mgid, true, GFP_ATOMIC);
}

/* It is there for another reason now, or not at all. */
static void ipoib_group_unsend(struct ipoib_group *group)
{
	atomic_sub(group->sent, &group->iface->sent_groups);
	group->sent = false;
}

/* Not joined: let the packet wait, unless a join has failed just now. */
static void ipoib_group_wait(struct ipoib_group *group, struct sk_buff *skb)
{
	unsigned long retry_at = READ_ONCE(group->retry_at);
	bool room;

	spin_lock_bh(&group->lock);
	room = skb_queue_len(&group->queue) < IPOIB_GROUP_QUEUE &&
	       !(group->notes & IPOIB_NOTE_DEAD) && !(retry_at && time_before(jiffies, retry_at));
	if (room) {
		__skb_queue_tail(&group->queue, skb);
		ipoib_group_note(group, IPOIB_NOTE_ASK);
	}
	spin_unlock_bh(&group->lock);
	if (!room)
		ipoib_group_drop(group->iface, skb);
}

/**
 * ipoib_group_xmit() - send to a group
 * @iface: the interface
 * @skb: the packet, from its struct ipoib_header on
 *
 * Whatever comes of it, the packet is dealt with.  Context: as ipoib_path_xmit().
 */
void ipoib_group_xmit(struct ipoib_iface *iface, struct sk_buff *skb)
{
	const struct ipoib_header *header = (const struct ipoib_header *)skb->data;
	struct ipoib_group *group;
	struct ipoib_ah *ah;
	union ib_gid mgid;

	ipoib_group_of(&mgid, header->daddr, READ_ONCE(iface->pkey));
	group = rhashtable_lookup(&iface->groups, &mgid, ipoib_group_params);
	if (unlikely(!group))
		group = ipoib_group_add_sent(iface, &mgid);
	if (unlikely(!group)) {
		ipoib_group_drop(iface, skb);
		return;
	}
	ipoib_touch(&group->used);
	ah = rcu_dereference(group->ah);
	if (likely(ah && ipoib_ah_get(ah)))
		ipoib_post(iface, skb, ah, IPOIB_QPN_MULTICAST);
	else
		ipoib_group_wait(group, skb);
}

static enum ib_cb_result ipoib_group_heard(struct ib_mcast_member *member,
					   const struct ib_mcast_report *report, void *context)
{
	struct ipoib_group *group = context;

	/* Each report tells the whole story, so the last one is enough. */
	spin_lock_bh(&group->lock);
	group->report = *report;
	ipoib_group_note(group, IPOIB_NOTE_ANSWER);
	spin_unlock_bh(&group->lock);
	return IB_CB_DONE;
}

/* What a group other than the broadcast group has to be like. */
static void ipoib_group_like_broadcast(struct ib_mcast_request *request,
				       const struct ib_sa_mcmember *like)
{
	struct ib_sa_mcmember *record = &request->record;

	request->mask |= IB_SA_MCMEMBER_QKEY | IB_SA_MCMEMBER_MTU_SELECTOR | IB_SA_MCMEMBER_MTU |
			 IB_SA_MCMEMBER_TRAFFIC_CLASS | IB_SA_MCMEMBER_RATE_SELECTOR |
			 IB_SA_MCMEMBER_RATE | IB_SA_MCMEMBER_SL | IB_SA_MCMEMBER_FLOW_LABEL |
			 IB_SA_MCMEMBER_HOP_LIMIT;
	record->qkey = like->qkey;
	record->mtu_selector = IB_SA_EQUAL;
	record->mtu = like->mtu;
	record->traffic_class = like->traffic_class;
	record->rate_selector = IB_SA_EQUAL;
	record->rate = like->rate;
	record->sl = like->sl;
	record->flow_label = like->flow_label;
	record->hop_limit = like->hop_limit;
}

static int ipoib_group_join(struct ipoib_group *group)
{
	struct ipoib_iface *iface = group->iface;
	struct ib_mcast_request request = {
		.port = iface->port,
		.mask = IB_SA_MCMEMBER_MGID | IB_SA_MCMEMBER_PORT_GID | IB_SA_MCMEMBER_PKEY |
			IB_SA_MCMEMBER_JOIN_STATE,
		.callback = ipoib_group_heard,
		.context = group,
	};

	request.record.mgid = group->mgid;
	request.record.port_gid = iface->facts.gid;
	request.record.pkey = iface->facts.pkey;
	request.record.join_state = group->full ? IB_SA_JOIN_FULL : IB_SA_JOIN_SEND_ONLY_FULL;
	if (group != iface->broadcast)
		ipoib_group_like_broadcast(&request, &iface->broadcast->record);
	WRITE_ONCE(group->retry_at, 0);
	return ipoib_sa->join(iface->dev->attachment, &request, &group->member);
}

static void ipoib_group_set_ah(struct ipoib_group *group, struct ipoib_ah *ah)
{
	struct ipoib_ah *old = rcu_replace_pointer(group->ah, ah, true);

	if (old)
		ipoib_ah_put(old);
}

static void ipoib_group_detach(struct ipoib_group *group)
{
	if (group->attached)
		ib_qp_detach(group->iface->queues->qp, &group->mgid, group->mlid);
	group->attached = false;
}

/* What was heard of a membership that has ended is not about the next one. */
static void ipoib_group_unhear(struct ipoib_group *group)
{
	spin_lock_bh(&group->lock);
	group->notes &= ~IPOIB_NOTE_ANSWER;
	if (!group->notes) {
		spin_lock(&group->iface->note_lock);
		list_del_init(&group->todo);
		spin_unlock(&group->iface->note_lock);
	}
	spin_unlock_bh(&group->lock);
}

/* Not in the group any more, for whatever reason.  The packets that wait stay. */
static void ipoib_group_leave(struct ipoib_group *group)
{
	ipoib_group_detach(group);
	ipoib_group_set_ah(group, NULL);
	group->joined = false;
	if (!group->member)
		return;
	ipoib_sa->leave(group->member);
	group->member = NULL;
	ipoib_group_unhear(group);
}

static void ipoib_group_purge(struct ipoib_group *group)
{
	struct sk_buff_head queue;
	struct sk_buff *skb;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&group->lock);
	skb_queue_splice_init(&group->queue, &queue);
	spin_unlock_bh(&group->lock);
	while ((skb = __skb_dequeue(&queue)))
		ipoib_group_drop(group->iface, skb);
}

/* Take a group out of the table and free it.  It is in no list of all groups any more. */
static void ipoib_group_remove(struct ipoib_group *group)
{
	struct ipoib_iface *iface = group->iface;

	rhashtable_remove_fast(&iface->groups, &group->node, ipoib_group_params);
	spin_lock_bh(&group->lock);
	group->notes |= IPOIB_NOTE_DEAD;
	spin_lock(&iface->note_lock);
	list_del_init(&group->todo);
	spin_unlock(&iface->note_lock);
	spin_unlock_bh(&group->lock);
	ipoib_group_leave(group);
	ipoib_group_purge(group);
	ipoib_group_unsend(group);
	if (group == iface->broadcast)
		iface->broadcast = NULL;
	kfree_rcu(group, rcu);
}

static void ipoib_group_forget(struct ipoib_group *group)
{
	spin_lock_bh(&group->iface->note_lock);
	list_del(&group->all);
	spin_unlock_bh(&group->iface->note_lock);
	ipoib_group_remove(group);
}

static void ipoib_groups_wake_at(struct ipoib_iface *iface, unsigned long at)
{
	if (!iface->groups_at || time_before(at, iface->groups_at))
		iface->groups_at = at ?: 1;
}

static void ipoib_group_failed(struct ipoib_group *group, int err, u16 status)
{
	struct ipoib_iface *iface = group->iface;
	bool reset = err == -ENETRESET;
	unsigned long at;

	ipoib_group_leave(group);
	group->failures = reset ? 0 : group->failures + 1;
	atomic_long_inc(&iface->counts.join_errors);
	if (err == -ECANCELED || err == -ENODEV)
		return;
	/* Once is no news: at a boot the SM may not be ready. */
	if (group->failures == 2)
		ipoib_warn(iface, "joining group %pI6 failed (%d, status 0x%x), will try again\n",
			   group->mgid.raw, err, status);
	at = jiffies + (reset ? 0 : ipoib_backoff(group->failures) * HZ);
	WRITE_ONCE(group->retry_at, at ?: 1);
	if (group->wanted || group->failures == 1)
		ipoib_groups_wake_at(iface, at);
	if (group->failures != 1)
		ipoib_group_purge(group);
}

/* Have every group looked at. */
static void ipoib_groups_ask_all(struct ipoib_iface *iface)
{
	iface->groups_at = jiffies ?: 1;
}

static int ipoib_group_attach(struct ipoib_group *group)
{
	int err;

	if (!group->full)
		return 0;
	if (group->attached && group->mlid == group->record.mlid)
		return 0;
	ipoib_group_detach(group);
	err = ib_qp_attach(group->iface->queues->qp, &group->mgid, group->record.mlid);
	group->attached = !err;
	group->mlid = group->record.mlid;
	return err;
}

/* The broadcast group says what the interface is like. */
static int ipoib_group_rule(struct ipoib_iface *iface, const struct ib_sa_mcmember *record)
{
	int err = ipoib_queues_set_qkey(iface, record->qkey);

	if (err)
		return err;
	WRITE_ONCE(iface->group_mtu, ib_mtu_bytes(record->mtu) - IPOIB_ENCAP_LEN);
	ipoib_groups_ask_all(iface);
	return 0;
}

static void ipoib_group_send_queue(struct ipoib_group *group)
{
	struct sk_buff_head queue;
	struct sk_buff *skb;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&group->lock);
	skb_queue_splice_init(&group->queue, &queue);
	spin_unlock_bh(&group->lock);
	while ((skb = __skb_dequeue(&queue))) {
		skb->dev = group->iface->netdev;
		dev_queue_xmit(skb);
	}
}

static int ipoib_group_enter(struct ipoib_group *group)
{
	struct ipoib_iface *iface = group->iface;
	struct ib_ah_attr attr;
	struct ipoib_ah *ah;
	int err;

	err = ib_sa_mcmember_to_ah(iface->dev->ib, iface->port, &group->record, &attr);
	if (err)
		return err;
	ah = ipoib_ah_create(iface, &attr);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	if (group == iface->broadcast)
		err = ipoib_group_rule(iface, &group->record);
	if (!err)
		err = ipoib_group_attach(group);
	if (err) {
		ipoib_ah_put(ah);
		return err;
	}
	ipoib_group_set_ah(group, ah);
	group->joined = true;
	group->failures = 0;
	atomic_long_inc(&iface->counts.joins);
	ipoib_group_send_queue(group);
	return 0;
}

static void ipoib_group_answered(struct ipoib_group *group)
{
	struct ib_mcast_report report;
	int err;

	spin_lock_bh(&group->lock);
	report = group->report;
	spin_unlock_bh(&group->lock);
	/* It may be about a membership that was given up since. */
	if (!group->member)
		return;
	err = report.error ?: report.news == IB_MCAST_LOST ? -EIO : 0;
	if (!err) {
		group->record = report.record;
		err = ipoib_group_enter(group);
	}
	if (err)
		ipoib_group_failed(group, err, report.status);
}

/* Join if there is a reason and nothing speaks against it. */
static void ipoib_group_try(struct ipoib_group *group, bool asked)
{
	struct ipoib_iface *iface = group->iface;
	int err;

	if (group->member || !(group->wanted || asked || !skb_queue_empty_lockless(&group->queue)))
		return;
	if (group != iface->broadcast && !(iface->broadcast && iface->broadcast->joined))
		return;
	if (group->retry_at && time_before(jiffies, group->retry_at)) {
		if (group->wanted)
			ipoib_groups_wake_at(iface, group->retry_at);
		return;
	}
	err = ipoib_group_join(group);
	if (err) {
		group->member = NULL;
		ipoib_group_failed(group, err, 0);
	}
}

static void ipoib_group_step(struct ipoib_group *group, unsigned long notes)
{
	if (notes & IPOIB_NOTE_ANSWER)
		ipoib_group_answered(group);
	if (group->wanted && !group->full) {
		ipoib_group_leave(group);
		group->full = true;
	}
	if (!group->wanted && group->full)
		ipoib_group_forget(group);
	else
		ipoib_group_try(group, notes & IPOIB_NOTE_ASK);
}

static unsigned long ipoib_group_take_notes(struct ipoib_group *group)
{
	unsigned long notes;

	spin_lock_bh(&group->lock);
	notes = group->notes;
	group->notes = 0;
	spin_lock(&group->iface->note_lock);
	list_del_init(&group->todo);
	spin_unlock(&group->iface->note_lock);
	spin_unlock_bh(&group->lock);
	return notes;
}

static struct ipoib_group *ipoib_group_next_note(struct ipoib_iface *iface)
{
	struct ipoib_group *group;

	spin_lock_bh(&iface->note_lock);
	group = list_first_entry_or_null(&iface->group_notes, struct ipoib_group, todo);
	spin_unlock_bh(&iface->note_lock);
	return group;
}

/* The multicast list at this moment; the caller frees it. */
static u8 *ipoib_groups_snapshot(struct net_device *netdev, int *count)
{
	struct netdev_hw_addr *ha;
	int room;
	u8 *list;

	do {
		room = READ_ONCE(netdev->mc.count) + 8;
		list = kvmalloc_array(room, INFINIBAND_ALEN, GFP_KERNEL);
		if (!list)
			return NULL;
		*count = 0;
		netif_addr_lock_bh(netdev);
		netdev_for_each_mc_addr(ha, netdev) {
			if (*count < room)
				memcpy(list + *count * INFINIBAND_ALEN, ha->addr, INFINIBAND_ALEN);
			(*count)++;
		}
		netif_addr_unlock_bh(netdev);
		if (*count <= room)
			return list;
		kvfree(list);
	} while (true);
}

/* Make sure that the group of a hardware address is there, and marked as seen. */
static void ipoib_group_want(struct ipoib_iface *iface, const u8 *addr)
{
	u8 broadcast[INFINIBAND_ALEN];
	struct ipoib_group *group;
	union ib_gid mgid;

	ipoib_broadcast_pack(broadcast, iface->facts.pkey);
	if (!ipoib_group_fits(addr, broadcast))
		return;
	ipoib_group_of(&mgid, addr, iface->facts.pkey);
	rcu_read_lock();
	group = rhashtable_lookup(&iface->groups, &mgid, ipoib_group_params);
	rcu_read_unlock();
	/* A user program that has joined receives by itself, if it shall. */
	if (!(group && group->full) && READ_ONCE(iface->umcast) &&
	    !ipoib_sa->find(iface->dev->attachment, iface->port, &mgid, NULL))
		return;
	if (!group)
		group = ipoib_group_add(iface, &mgid, false, GFP_KERNEL);
	if (!group) {
		WRITE_ONCE(iface->list_changed, true);
		ipoib_groups_wake_at(iface, jiffies + HZ);
		return;
	}
	ipoib_group_unsend(group);
	group->wanted = true;
	group->seen = iface->list_round;
}

/* Compare the groups with the multicast list. */
static void ipoib_groups_compare(struct ipoib_iface *iface)
{
	struct ipoib_group *group;
	int count, i;
	u8 *list;

	WRITE_ONCE(iface->list_changed, false);
	list = ipoib_groups_snapshot(iface->netdev, &count);
	if (!list) {
		WRITE_ONCE(iface->list_changed, true);
		ipoib_groups_wake_at(iface, jiffies + HZ);
		return;
	}
	iface->list_round++;
	for (i = 0; i < count; i++)
		ipoib_group_want(iface, list + i * INFINIBAND_ALEN);
	kvfree(list);
	spin_lock_bh(&iface->note_lock);
	list_for_each_entry(group, &iface->group_list, all)
		if (group->wanted && group != iface->broadcast && group->seen != iface->list_round)
			group->wanted = false;
	spin_unlock_bh(&iface->note_lock);
	ipoib_groups_ask_all(iface);
}

/* Look at every group: one may have waited for its time, or for the broadcast group. */
static void ipoib_groups_due(struct ipoib_iface *iface)
{
	struct ipoib_group *group, *next;
	LIST_HEAD(all);

	iface->groups_at = 0;
	/* Those that are put on the list meanwhile leave notes of their own. */
	spin_lock_bh(&iface->note_lock);
	list_splice_init(&iface->group_list, &all);
	spin_unlock_bh(&iface->note_lock);
	list_for_each_entry_safe(group, next, &all, all) {
		spin_lock_bh(&iface->note_lock);
		list_move_tail(&group->all, &iface->group_list);
		spin_unlock_bh(&iface->note_lock);
		ipoib_group_step(group, 0);
	}
}

/**
 * ipoib_groups_work() - deal with the notes, the multicast list and what is due
 * @iface: the interface; stands on JOINING or higher
 *
 * Context: the work item, as all that follow.
 */
void ipoib_groups_work(struct ipoib_iface *iface)
{
	struct ipoib_group *group;

	while ((group = ipoib_group_next_note(iface)))
		ipoib_group_step(group, ipoib_group_take_notes(group));
	if (READ_ONCE(iface->list_changed) && iface->broadcast->joined)
		ipoib_groups_compare(iface);
	if (iface->groups_at && time_after_eq(jiffies, iface->groups_at))
		ipoib_groups_due(iface);
}

/**
 * ipoib_groups_begin() - want the broadcast group
 * @iface: the interface, on its way to JOINING
 *
 * Return: 0 or -ENOMEM.
 */
int ipoib_groups_begin(struct ipoib_iface *iface)
{
	u8 addr[INFINIBAND_ALEN];
	union ib_gid mgid;

	ipoib_broadcast_pack(addr, iface->facts.pkey);
	ipoib_group_of(&mgid, addr, iface->facts.pkey);
	iface->broadcast = ipoib_group_add(iface, &mgid, false, GFP_KERNEL);
	if (!iface->broadcast)
		return -ENOMEM;
	iface->broadcast->full = true;
	iface->broadcast->wanted = true;
	WRITE_ONCE(iface->list_changed, true);
	ipoib_groups_ask_all(iface);
	return 0;
}

/**
 * ipoib_groups_flush() - leave every group
 * @iface: the interface, on its way down from JOINING
 */
void ipoib_groups_flush(struct ipoib_iface *iface)
{
	struct ipoib_group *group, *next;
	LIST_HEAD(mine);

	spin_lock_bh(&iface->note_lock);
	list_splice_init(&iface->group_list, &mine);
	spin_unlock_bh(&iface->note_lock);
	/* The broadcast group came first and goes last. */
	if (iface->broadcast)
		list_move_tail(&iface->broadcast->all, &mine);
	list_for_each_entry_safe(group, next, &mine, all)
		ipoib_group_remove(group);
	iface->groups_at = 0;
}

/* A group may rest long while half of the places are free; the fewer there are, the shorter. */
static unsigned long ipoib_age_of_groups(unsigned int groups, unsigned int max)
{
	unsigned int free = max > groups ? max - groups : 0;

	if (groups <= max / 2)
		return IPOIB_AGE_MAX;
	return max_t(unsigned long, free * IPOIB_AGE_MAX / (max - max / 2), IPOIB_AGE_MIN);
}

/**
 * ipoib_groups_age() - how long a group may rest that only senders want
 * @iface: the interface
 *
 * Return: jiffies, between IPOIB_AGE_MIN and IPOIB_AGE_MAX.
 */
unsigned long ipoib_groups_age(struct ipoib_iface *iface)
{
	return ipoib_age_of_groups(atomic_read(&iface->sent_groups),
				   READ_ONCE(iface->sent_groups_max));
}

/**
 * ipoib_groups_gc() - leave the send-only groups that are not used
 * @iface: the interface
 *
 * Those that go make room, and so the others may rest longer.
 */
void ipoib_groups_gc(struct ipoib_iface *iface)
{
	unsigned int left = atomic_read(&iface->sent_groups);
	unsigned int max = READ_ONCE(iface->sent_groups_max);
	struct ipoib_group *group, *next;
	LIST_HEAD(mine);

	spin_lock_bh(&iface->note_lock);
	list_for_each_entry_safe(group, next, &iface->group_list, all) {
		if (group->full || group->wanted ||
		    !time_after(jiffies, READ_ONCE(group->used) + ipoib_age_of_groups(left, max)))
			continue;
		list_move_tail(&group->all, &mine);
		left -= group->sent;
	}
	spin_unlock_bh(&iface->note_lock);
	list_for_each_entry_safe(group, next, &mine, all)
		ipoib_group_remove(group);
}
