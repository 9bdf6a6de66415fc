// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory windows (IBA 10.6.7).
 */
#include <linux/export.h>

#include "objects.h"

static struct ib_mw *ib_mw_of(struct ib_object *object)
{
	return container_of(object, struct ib_mw, object);
}

static int ib_mw_take(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	return ops->destroy_mw ? ops->destroy_mw(ib_mw_of(object)) : 0;
}

static void ib_mw_release(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_mw)
		ops->release_mw(ib_mw_of(object));
}

static const struct ib_object_class ib_mw_class = {
	.name = "MW",
	.type = IB_OBJECT_MW,
	.numbered = true,
	.destroy = ib_mw_take,
	.release = ib_mw_release,
};

struct ib_mw *ib_mw_create(struct ib_pd *pd, u8 type, struct ib_udata *udata)
{
	struct ib_object *object;
	struct ib_mw *mw;
	int err;

	if (type != 1 && type != 2)
		return ERR_PTR(-EINVAL);
	object = ib_object_new(pd->object.attachment, &ib_mw_class, GFP_KERNEL);
	if (IS_ERR(object))
		return ERR_CAST(object);
	mw = ib_mw_of(object);
	mw->pd = pd;
	mw->type = type;
	ib_object_parent(object, &pd->object);
	err = ib_object_make(object, GFP_KERNEL, ops->create_mw, mw, udata);
	return err ? ERR_PTR(err) : mw;
}
EXPORT_SYMBOL_GPL(ib_mw_create);

void ib_mw_destroy(struct ib_mw *mw)
{
	ib_object_destroy(&mw->object);
}
EXPORT_SYMBOL_GPL(ib_mw_destroy);
