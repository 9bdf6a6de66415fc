// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs (IBA 10.2.4): made in RESET, moved by the state table, posted to, destroyed.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "objects.h"

static struct ib_qp *ib_qp_of(struct ib_object *object)
{
	return container_of(object, struct ib_qp, object);
}

static int ib_qp_destroy_op(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	struct ib_qp *qp = ib_qp_of(object);

	ib_qp_leave_groups(ops, qp);
	return ops->destroy_qp ? ops->destroy_qp(qp) : 0;
}

static void ib_qp_detach_op(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->detach_qp)
		ops->detach_qp(ib_qp_of(object));
}

static void ib_qp_release_op(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_qp)
		ops->release_qp(ib_qp_of(object));
}

static void ib_qp_free(struct ib_object *object)
{
	struct ib_qp *qp = ib_qp_of(object);

	ib_qp_free_groups(qp);
	kfree(qp->drains);
	mutex_destroy(&qp->lock);
}

static void ib_qp_describe(const struct ib_object *object, char *text, size_t size)
{
	scnprintf(text, size, "QPN 0x%06x", container_of(object, struct ib_qp, object)->qpn);
}

static const struct ib_object_class ib_qp_class = {
	.name = "QP",
	.type = IB_OBJECT_QP,
	.numbered = true,
	.destroy = ib_qp_destroy_op,
	.detach = ib_qp_detach_op,
	.release = ib_qp_release_op,
	.free = ib_qp_free,
	.describe = ib_qp_describe,
};

/* What goes with what (IBA 10.2.4, A14). */
static int ib_qp_check_init(struct ib_device *device, struct ib_pd *pd,
			    const struct ib_qp_init *init)
{
	bool target = init->type == IB_QPT_XRC_TGT;
	bool initiator = init->type == IB_QPT_XRC_INI;

	if (!ib_qp_rule(init->type, IB_QPS_RESET, IB_QPS_RESET).valid)
		return -EINVAL;
	if (!pd != target || !init->xrcd != !target || !init->send_cq != target)
		return -EINVAL;
	if (!init->recv_cq != (target || initiator))
		return -EINVAL;
	if (init->srq && (target || initiator || init->srq->xrcd))
		return -EINVAL;
	if (init->type == IB_QPT_SMI || init->type == IB_QPT_GSI) {
		if (!ib_device_has_port(device, init->port) || init->srq)
			return -EINVAL;
	}
	return 0;
}

/* An entry more in each queue, for the marker that ends a drain. */
static void ib_qp_make_room(struct ib_device *device, struct ib_qp_cap *cap)
{
	u32 max = ib_device_attr(device)->max_qp_wr;

	if (cap->max_send_wr && cap->max_send_wr < max)
		cap->max_send_wr++;
	if (cap->max_recv_wr && cap->max_recv_wr < max)
		cap->max_recv_wr++;
}

static void ib_qp_prepare(struct ib_qp *qp, struct ib_pd *pd, const struct ib_qp_init *init)
{
	mutex_init(&qp->lock);
	INIT_LIST_HEAD(&qp->groups);
	qp->pd = pd;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->srq = init->srq;
	qp->xrcd = init->xrcd;
	qp->type = init->type;
	qp->port = init->port;
	qp->cap = init->cap;
	qp->event = init->event;
	qp->priv = init->priv;
	qp->known.state = IB_QPS_RESET;
	ib_object_parent(&qp->object, pd ? &pd->object : NULL);
	ib_object_parent(&qp->object, init->send_cq ? &init->send_cq->object : NULL);
	ib_object_parent(&qp->object, init->recv_cq ? &init->recv_cq->object : NULL);
	ib_object_parent(&qp->object, init->srq ? &init->srq->object : NULL);
	ib_object_parent(&qp->object, init->xrcd ? &init->xrcd->object : NULL);
}

struct ib_qp *ib_qp_create(struct ib_attachment *attachment, struct ib_pd *pd,
			   const struct ib_qp_init *init, struct ib_udata *udata)
{
	struct ib_qp_init wanted = *init;
	struct ib_object *object;
	struct ib_qp *qp;
	int err;

	err = ib_qp_check_init(attachment->device, pd, init);
	if (err)
		return ERR_PTR(err);
	object = ib_object_new(attachment, &ib_qp_class, GFP_KERNEL);
	if (IS_ERR(object))
		return ERR_CAST(object);
	qp = ib_qp_of(object);
	if (!udata)
		ib_qp_make_room(attachment->device, &wanted.cap);
	ib_qp_prepare(qp, pd, &wanted);
	if (ib_drains_alloc(qp)) {
		ib_object_put(object);
		return ERR_PTR(-ENOMEM);
	}
	err = ib_object_make(object, GFP_KERNEL, ops->create_qp, qp, &wanted, udata);
	return err ? ERR_PTR(err) : qp;
}
EXPORT_SYMBOL_GPL(ib_qp_create);

void ib_qp_destroy(struct ib_qp *qp)
{
	ib_object_destroy(&qp->object);
}
EXPORT_SYMBOL_GPL(ib_qp_destroy);

/*
 * After GONE a QP that takes its receives from an SRQ takes no more of them, whatever state it is
 * in, and its owner may wait to hear of that (IBA 11.6.3.1).  In RESET there was nothing to take.
 */
void ib_qp_last_wqe(struct ib_qp *qp)
{
	if (qp->srq && READ_ONCE(qp->known.state) != IB_QPS_RESET)
		ib_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* The state was learned after the gate had been left, so GONE may have gone by before. */
static void ib_qp_look_behind(struct ib_qp *qp)
{
	/* Pairs with the barrier in ib_objects_flush(): it sees the state, or this sees it. */
	smp_mb();
	if (unlikely(READ_ONCE(ib_object_device(&qp->object)->objects->flushed)))
		ib_qp_last_wqe(qp);
}

/* Remember what was set. */
static void ib_qp_learn(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
			enum ib_qp_state from, enum ib_qp_state state)
{
	struct ib_qp_attr *known = &qp->known;

	qp->port = ib_qp_port(qp, attr, mask, from);
	if (mask & IB_QP_RQ_PSN)
		known->rq_psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		known->sq_psn = attr->sq_psn;
	if (mask & IB_QP_DEST_QPN)
		known->dest_qpn = attr->dest_qpn;
	if (mask & IB_QP_PATH_MIG_STATE)
		known->path_mig_state = attr->path_mig_state;
	if (mask & IB_QP_QKEY)
		known->qkey = attr->qkey;
	if (state == IB_QPS_RESET) {
		memset(known, 0, sizeof(*known));
		atomic_set(&qp->last_wqe, 0);
	}
	WRITE_ONCE(known->state, state);
}

int ib_qp_modify(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
		 struct ib_udata *udata)
{
	enum ib_qp_state from, to;
	int err;

	mutex_lock(&qp->lock);
	from = mask & IB_QP_CUR_STATE ? attr->cur_state : READ_ONCE(qp->known.state);
	to = mask & IB_QP_STATE ? attr->state : from;
	err = -EINVAL;
	if (ib_qp_may(qp->type, from, to, mask))
		err = ib_qp_check_values(qp, attr, mask, from);
	if (!err)
		err = ib_object_call(&qp->object, ops->modify_qp, qp, attr, mask, from, to, udata);
	if (!err)
		ib_qp_learn(qp, attr, mask, from, to);
	mutex_unlock(&qp->lock);
	if (!err)
		ib_qp_look_behind(qp);
	return err;
}
EXPORT_SYMBOL_GPL(ib_qp_modify);

int ib_qp_query(struct ib_qp *qp, struct ib_qp_attr *attr, u32 mask)
{
	memset(attr, 0, sizeof(*attr));
	return ib_object_call(&qp->object, ops->query_qp, qp, attr, mask);
}
EXPORT_SYMBOL_GPL(ib_qp_query);

/* May it be posted to?  Under RCU, which keeps the QP, and the device's gate undrained. */
static int ib_qp_pass(struct ib_qp *qp)
{
	if (unlikely(!ib_object_is_live(&qp->object)))
		return -ENODEV;
	return ib_gate_pass(&ib_object_device(&qp->object)->gate);
}

int ib_qp_post_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	int err;

	*bad = wr;
	rcu_read_lock();
	err = ib_qp_pass(qp);
	if (likely(!err))
		err = ib_verbs_of(ib_object_device(&qp->object))->post_send(qp, wr, bad);
	rcu_read_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(ib_qp_post_send);

int ib_qp_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	int err;

	*bad = wr;
	rcu_read_lock();
	err = ib_qp_pass(qp);
	if (likely(!err))
		err = ib_verbs_of(ib_object_device(&qp->object))->post_recv(qp, wr, bad);
	rcu_read_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(ib_qp_post_recv);

/* These leave a QP in the error state, and nobody has modified it (IBA 11.6.3.2). */
static bool ib_event_is_fatal_to_qp(enum ib_event_type type)
{
	return type == IB_EVENT_QP_FATAL || type == IB_EVENT_QP_REQ_ERR ||
	       type == IB_EVENT_QP_ACCESS_ERR;
}

void ib_qp_event(struct ib_qp *qp, enum ib_event_type type)
{
	bool again = false;

	if (!ib_object_begin_callback(&qp->object))
		return;
	if (ib_event_is_fatal_to_qp(type))
		WRITE_ONCE(qp->known.state, IB_QPS_ERR);
	/* The hardware may have said it already when GONE comes, or say it late. */
	if (type == IB_EVENT_QP_LAST_WQE_REACHED && atomic_xchg(&qp->last_wqe, 1))
		again = true;
	if (qp->event && !again)
		qp->event(qp, type);
	ib_object_end_callback(&qp->object);
}
EXPORT_SYMBOL_GPL(ib_qp_event);
