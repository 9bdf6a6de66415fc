// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address handles.  A path or a group has a reference, and so has each send until it has completed:
 * the last one destroys the handle, in whatever context that is.
 */
#include <linux/slab.h>

#include "ipoib.h"

static void ipoib_ah_free(struct kref *ref)
{
	struct ipoib_ah *ah = container_of(ref, struct ipoib_ah, ref);

	ib_ah_destroy(ah->ah);
	/* Who is looking it up under RCU finds the count at zero. */
	kfree_rcu(ah, rcu);
}

/**
 * ipoib_ah_create() - an address handle with one reference
 * @iface: the interface; stands on MADE or higher
 * @attr: the address
 *
 * Context: the work item.
 * Return: the handle or an ERR_PTR().
 */
struct ipoib_ah *ipoib_ah_create(struct ipoib_iface *iface, const struct ib_ah_attr *attr)
{
	struct ipoib_ah *ah = kmalloc(sizeof(*ah), GFP_KERNEL);
	struct ib_ah *verbs;

	if (!ah)
		return ERR_PTR(-ENOMEM);
	verbs = ib_ah_create(iface->dev->pd, attr, GFP_KERNEL);
	if (IS_ERR(verbs)) {
		kfree(ah);
		return ERR_CAST(verbs);
	}
	kref_init(&ah->ref);
	ah->ah = verbs;
	return ah;
}

/**
 * ipoib_ah_put() - give a reference back
 * @ah: the handle
 *
 * Context: any but hard interrupts.
 */
void ipoib_ah_put(struct ipoib_ah *ah)
{
	kref_put(&ah->ref, ipoib_ah_free);
}
