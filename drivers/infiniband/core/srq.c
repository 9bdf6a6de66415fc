// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues (IBA 10.2.9).
 */
#include <linux/export.h>
#include <linux/rcupdate.h>

#include "objects.h"

static struct ib_srq *ib_srq_of(struct ib_object *object)
{
	return container_of(object, struct ib_srq, object);
}

static int ib_srq_take(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	return ops->destroy_srq ? ops->destroy_srq(ib_srq_of(object)) : 0;
}

static void ib_srq_leave(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->detach_srq)
		ops->detach_srq(ib_srq_of(object));
}

static void ib_srq_release(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_srq)
		ops->release_srq(ib_srq_of(object));
}

static void ib_srq_describe(const struct ib_object *object, char *text, size_t size)
{
	scnprintf(text, size, "SRQN 0x%06x", container_of(object, struct ib_srq, object)->srqn);
}

static const struct ib_object_class ib_srq_class = {
	.name = "SRQ",
	.type = IB_OBJECT_SRQ,
	.numbered = true,
	.destroy = ib_srq_take,
	.detach = ib_srq_leave,
	.release = ib_srq_release,
	.describe = ib_srq_describe,
};

struct ib_srq *ib_srq_create(struct ib_pd *pd, const struct ib_srq_init *init,
			     struct ib_udata *udata)
{
	struct ib_object *object;
	struct ib_srq *srq;
	int err;

	if (!init->xrcd != !init->cq || !init->attr.max_wr)
		return ERR_PTR(-EINVAL);
	object = ib_object_new(pd->object.attachment, &ib_srq_class, GFP_KERNEL);
	if (IS_ERR(object))
		return ERR_CAST(object);
	srq = ib_srq_of(object);
	srq->pd = pd;
	srq->event = init->event;
	srq->priv = init->priv;
	ib_object_parent(object, &pd->object);
	if (init->xrcd) {
		srq->xrcd = init->xrcd;
		srq->cq = init->cq;
		ib_object_parent(object, &init->xrcd->object);
		ib_object_parent(object, &init->cq->object);
	}
	err = ib_object_make(object, GFP_KERNEL, ops->create_srq, srq, init, udata);
	return err ? ERR_PTR(err) : srq;
}
EXPORT_SYMBOL_GPL(ib_srq_create);

void ib_srq_destroy(struct ib_srq *srq)
{
	ib_object_destroy(&srq->object);
}
EXPORT_SYMBOL_GPL(ib_srq_destroy);

int ib_srq_modify(struct ib_srq *srq, const struct ib_srq_attr *attr, u32 mask,
		  struct ib_udata *udata)
{
	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	return ib_object_call(&srq->object, ops->modify_srq, srq, attr, mask, udata);
}
EXPORT_SYMBOL_GPL(ib_srq_modify);

int ib_srq_query(struct ib_srq *srq, struct ib_srq_attr *attr)
{
	return ib_object_call(&srq->object, ops->query_srq, srq, attr);
}
EXPORT_SYMBOL_GPL(ib_srq_query);

int ib_srq_post(struct ib_srq *srq, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct ib_device *device = ib_object_device(&srq->object);
	int err = -ENODEV;

	*bad = wr;
	rcu_read_lock();
	if (likely(ib_object_is_live(&srq->object)))
		err = ib_gate_pass(&device->gate);
	if (likely(!err))
		err = ib_verbs_of(device)->post_srq(srq, wr, bad);
	rcu_read_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(ib_srq_post);

void ib_srq_event(struct ib_srq *srq, enum ib_event_type type)
{
	if (!ib_object_begin_callback(&srq->object))
		return;
	if (srq->event)
		srq->event(srq, type);
	ib_object_end_callback(&srq->object);
}
EXPORT_SYMBOL_GPL(ib_srq_event);
