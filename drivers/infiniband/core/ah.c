// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address handles (IBA 11.2.2).
 *
 * Memory and nothing else: the hardware knows nothing of one between two sends, so creating and
 * destroying never sleeps and goes on when the HCA is gone.
 */
#include <linux/export.h>

#include "objects.h"

/* Unicast and multicast LIDs (IBA 4.1.2); the permissive one is for QP0's directed routes. */
#define IB_LID_NONE 0

static struct ib_ah *ib_ah_of(struct ib_object *object)
{
	return container_of(object, struct ib_ah, object);
}

static void ib_ah_release(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_ah)
		ops->release_ah(ib_ah_of(object));
}

static void ib_ah_describe(const struct ib_object *object, char *text, size_t size)
{
	const struct ib_ah_attr *attr = &container_of(object, struct ib_ah, object)->attr;

	scnprintf(text, size, "port %u, LID 0x%04x", attr->port, attr->dlid);
}

static const struct ib_object_class ib_ah_class = {
	.name = "AH",
	.type = IB_OBJECT_AH,
	.release = ib_ah_release,
	.describe = ib_ah_describe,
};

/**
 * ib_ah_check() - could there be an AH like this?
 * @device: the device
 * @attr: what it shall be like
 *
 * Context: any; reads the port's cache.
 * Return: 0; -EINVAL: no such LID; or what ib_address_check() says.
 */
int ib_ah_check(struct ib_device *device, const struct ib_ah_attr *attr)
{
	if (attr->dlid == IB_LID_NONE && !attr->has_grh)
		return -EINVAL;
	return ib_address_check(device, attr);
}

struct ib_ah *ib_ah_create(struct ib_pd *pd, const struct ib_ah_attr *attr, gfp_t gfp)
{
	struct ib_object *object;
	struct ib_ah *ah;
	int err;

	err = ib_ah_check(ib_object_device(&pd->object), attr);
	if (err)
		return ERR_PTR(err);
	object = ib_object_new(pd->object.attachment, &ib_ah_class, gfp);
	if (IS_ERR(object))
		return ERR_CAST(object);
	ah = ib_ah_of(object);
	ah->pd = pd;
	ah->attr = *attr;
	ib_object_parent(object, &pd->object);
	err = ib_object_make(object, gfp, ops->create_ah, ah);
	return err ? ERR_PTR(err) : ah;
}
EXPORT_SYMBOL_GPL(ib_ah_create);

void ib_ah_destroy(struct ib_ah *ah)
{
	ib_object_destroy(&ah->object);
}
EXPORT_SYMBOL_GPL(ib_ah_destroy);
