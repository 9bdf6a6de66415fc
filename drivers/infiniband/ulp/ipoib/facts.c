// SPDX-License-Identifier: GPL-2.0-only
/* What an interface finds at its port, read from the caches: no lock, no hardware. */
#include "ipoib.h"

/* The partition: a child's own, a port's first. */
static void ipoib_look_pkey(struct ipoib_iface *iface, struct ipoib_facts *facts)
{
	struct ib_device *ib = iface->dev->ib;
	u16 pkey;

	if (iface->child_pkey) {
		facts->pkey = iface->child_pkey;
		facts->has_pkey = !ib_pkey_find(ib, iface->port, iface->child_pkey,
						&facts->pkey_index);
		return;
	}
	facts->pkey = IB_PKEY_DEFAULT;
	if (ib_pkey_cached(ib, iface->port, 0, &pkey) || !(pkey & IB_PKEY_PARTITION))
		return;
	facts->pkey = pkey | IB_PKEY_FULL_MEMBER;
	facts->has_pkey = true;
}

static void ipoib_look_gid(struct ipoib_iface *iface, struct ipoib_facts *facts)
{
	struct ib_device *ib = iface->dev->ib;
	__be64 guid = READ_ONCE(iface->user_guid);

	if (ib_gid_cached(ib, iface->port, 0, &facts->gid) || !facts->gid.global.interface_id)
		return;
	facts->has_gid = true;
	if (!guid)
		return;
	facts->gid.global.interface_id = guid;
	facts->has_gid = !ib_gid_find(ib, iface->port, &facts->gid, NULL, NULL);
}

/**
 * ipoib_look() - find out what an interface wants and finds
 * @iface: the interface; &ipoib_iface.dev may be NULL
 * @facts: filled in
 *
 * Context: the work item, or before there is one.
 */
void ipoib_look(struct ipoib_iface *iface, struct ipoib_facts *facts)
{
	struct ib_port_attr attr;

	*facts = (struct ipoib_facts){
		.pkey = iface->facts.pkey,
		.gid = iface->facts.gid,
		.present = READ_ONCE(iface->present),
		.up = READ_ONCE(iface->up),
		.joined = iface->broadcast && iface->broadcast->attached,
		.worn = iface->queues && iface->queues->kept,
	};
	if (!iface->dev)
		return;
	ipoib_look_pkey(iface, facts);
	ipoib_look_gid(iface, facts);
	facts->active = !ib_port_cached(iface->dev->ib, iface->port, &attr) &&
			attr.state == IB_PORT_ACTIVE;
}
