// SPDX-License-Identifier: GPL-2.0-only
/* Multicast: comparing what is asked for with what there is (IBA 15.2.5.17). */
#include <linux/string.h>

#include "mcast.h"

#define MCAST_WIRE_LEN 52

/* A bound counts if both the value and the way to compare it are given. */
static bool mcast_within(u64 mask, u64 bits, u8 selector, u8 wanted, u8 value)
{
	if ((mask & bits) != bits)
		return true;
	switch (selector) {
	case IB_SA_GREATER:
		return value > wanted;
	case IB_SA_LESS:
		return value < wanted;
	case IB_SA_EQUAL:
		return value == wanted;
	default:
		return true;
	}
}

static bool mcast_bounds_hold(const struct mcast_wish *wish, const struct ib_sa_mcmember *record)
{
	const struct ib_sa_mcmember *w = &wish->record;

	return mcast_within(wish->mask, IB_SA_MCMEMBER_MTU_SELECTOR | IB_SA_MCMEMBER_MTU,
			    w->mtu_selector, w->mtu, record->mtu) &&
	       mcast_within(wish->mask, IB_SA_MCMEMBER_RATE_SELECTOR | IB_SA_MCMEMBER_RATE,
			    w->rate_selector, w->rate, record->rate) &&
	       mcast_within(wish->mask, IB_SA_MCMEMBER_LIFETIME_SELECTOR | IB_SA_MCMEMBER_LIFETIME,
			    w->lifetime_selector, w->lifetime, record->lifetime);
}

/**
 * mcast_wish_granted() - is a group what somebody asked for?
 * @wish: what he asked for
 * @record: the group
 *
 * Return: yes, if so; the ways of being in it are not looked at.
 */
bool mcast_wish_granted(const struct mcast_wish *wish, const struct ib_sa_mcmember *record)
{
	const struct ib_sa_mcmember *w = &wish->record;
	u64 mask = wish->mask;

	if (mask & IB_SA_MCMEMBER_QKEY && w->qkey != record->qkey)
		return false;
	if (mask & IB_SA_MCMEMBER_MLID && w->mlid != record->mlid)
		return false;
	if (mask & IB_SA_MCMEMBER_TRAFFIC_CLASS && w->traffic_class != record->traffic_class)
		return false;
	if (mask & IB_SA_MCMEMBER_PKEY && (w->pkey ^ record->pkey) & IB_PKEY_PARTITION)
		return false;
	if (mask & IB_SA_MCMEMBER_SL && w->sl != record->sl)
		return false;
	if (mask & IB_SA_MCMEMBER_FLOW_LABEL && w->flow_label != record->flow_label)
		return false;
	if (mask & IB_SA_MCMEMBER_HOP_LIMIT && w->hop_limit != record->hop_limit)
		return false;
	if (mask & IB_SA_MCMEMBER_SCOPE && w->scope != record->scope)
		return false;
	return mcast_bounds_hold(wish, record);
}

/**
 * mcast_wish_same() - would the SA give two the same answer?
 * @a: a wish
 * @b: another
 *
 * Return: yes, if so.
 */
bool mcast_wish_same(const struct mcast_wish *a, const struct mcast_wish *b)
{
	u8 wire_a[MCAST_WIRE_LEN], wire_b[MCAST_WIRE_LEN];
	union ib_sa_record record = {};

	record.mcmember = a->record;
	ib_sa_record_pack(IB_SA_MCMEMBER, &record, wire_a);
	record.mcmember = b->record;
	ib_sa_record_pack(IB_SA_MCMEMBER, &record, wire_b);
	return a->mask == b->mask && !memcmp(wire_a, wire_b, MCAST_WIRE_LEN);
}

/**
 * mcast_record_differs() - has a group changed in what its members have to know?
 * @a: what it was
 * @b: what it is
 *
 * Return: yes, if so.
 */
bool mcast_record_differs(const struct ib_sa_mcmember *a, const struct ib_sa_mcmember *b)
{
	return a->qkey != b->qkey || a->mlid != b->mlid || a->mtu != b->mtu ||
	       a->traffic_class != b->traffic_class || a->pkey != b->pkey ||
	       a->rate != b->rate || a->sl != b->sl || a->flow_label != b->flow_label ||
	       a->hop_limit != b->hop_limit || a->scope != b->scope;
}
