// SPDX-License-Identifier: GPL-2.0-only
/*
 * XRC domains (IBA Annex A14).
 */
#include <linux/export.h>

#include "objects.h"

static struct ib_xrcd *ib_xrcd_of(struct ib_object *object)
{
	return container_of(object, struct ib_xrcd, object);
}

static int ib_xrcd_take(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	return ops->destroy_xrcd ? ops->destroy_xrcd(ib_xrcd_of(object)) : 0;
}

static void ib_xrcd_release(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_xrcd)
		ops->release_xrcd(ib_xrcd_of(object));
}

static const struct ib_object_class ib_xrcd_class = {
	.name = "XRC domain",
	.type = IB_OBJECT_XRCD,
	.numbered = true,
	.destroy = ib_xrcd_take,
	.release = ib_xrcd_release,
};

struct ib_xrcd *ib_xrcd_create(struct ib_attachment *attachment, struct ib_udata *udata)
{
	struct ib_object *object = ib_object_new(attachment, &ib_xrcd_class, GFP_KERNEL);
	int err;

	if (IS_ERR(object))
		return ERR_CAST(object);
	err = ib_object_make(object, GFP_KERNEL, ops->create_xrcd, ib_xrcd_of(object), udata);
	return err ? ERR_PTR(err) : ib_xrcd_of(object);
}
EXPORT_SYMBOL_GPL(ib_xrcd_create);

void ib_xrcd_destroy(struct ib_xrcd *xrcd)
{
	ib_object_destroy(&xrcd->object);
}
EXPORT_SYMBOL_GPL(ib_xrcd_destroy);
