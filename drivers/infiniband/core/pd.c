// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection domains (IBA 10.2.3).
 *
 * A kernel PD comes with a key that is good for all memory: the device's own, or that of a region
 * which is made with the PD and goes with it.
 */
#include <linux/export.h>

#include "objects.h"

static struct ib_pd *ib_pd_of(struct ib_object *object)
{
	return container_of(object, struct ib_pd, object);
}

static int ib_pd_take(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	return ops->destroy_pd ? ops->destroy_pd(ib_pd_of(object)) : 0;
}

static void ib_pd_release(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_pd)
		ops->release_pd(ib_pd_of(object));
}

static const struct ib_object_class ib_pd_class = {
	.name = "PD",
	.type = IB_OBJECT_PD,
	.numbered = true,
	.destroy = ib_pd_take,
	.release = ib_pd_release,
};

/* The key a kernel PD works with. */
static int ib_pd_key(struct ib_pd *pd)
{
	const struct ib_device_attr *attr = ib_device_attr(ib_object_device(&pd->object));
	struct ib_mr *mr;

	if (attr->has_local_dma_lkey) {
		pd->local_dma_lkey = attr->local_dma_lkey;
		return 0;
	}
	mr = ib_mr_create_dma(pd, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	pd->internal_mr = mr;
	pd->local_dma_lkey = mr->lkey;
	return 0;
}

struct ib_pd *ib_pd_create(struct ib_attachment *attachment, struct ib_udata *udata)
{
	struct ib_object *object = ib_object_new(attachment, &ib_pd_class, GFP_KERNEL);
	struct ib_pd *pd;
	int err;

	if (IS_ERR(object))
		return ERR_CAST(object);
	pd = ib_pd_of(object);
	err = ib_object_make(object, GFP_KERNEL, ops->create_pd, pd, udata);
	if (err)
		return ERR_PTR(err);
	err = udata ? 0 : ib_pd_key(pd);
	if (err) {
		ib_pd_destroy(pd);
		return ERR_PTR(err);
	}
	return pd;
}
EXPORT_SYMBOL_GPL(ib_pd_create);

void ib_pd_destroy(struct ib_pd *pd)
{
	/* Reaped with the PD, if it was: then this ends its tombstone. */
	if (pd->internal_mr)
		ib_mr_destroy(pd->internal_mr);
	ib_object_destroy(&pd->object);
}
EXPORT_SYMBOL_GPL(ib_pd_destroy);
