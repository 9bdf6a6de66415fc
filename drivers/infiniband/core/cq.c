// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues (IBA 10.2.6) and who polls them.
 *
 * Polling touches no hardware, so it goes through the software gate and still works when the HCA is
 * gone: that is how flushed requests come back to who posted them. Arming does touch it; when it is
 * refused nobody has to be armed any more, since the flush tells every CQ (ib_cq_kick()).
 *
 * Disarming a CQ stops the interrupt side first (ib_object_disarm()), then waits for its polling
 * context: done callbacks are callbacks of the owner like any other.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>

#include "objects.h"

/* Completions taken at a time: on the stack, so few. */
#define IB_CQ_BATCH 8
/* Completions in one run of a polling context, before others get their turn. */
#define IB_CQ_BUDGET 256

static struct ib_cq *ib_cq_of(struct ib_object *object)
{
	return container_of(object, struct ib_cq, object);
}

static int ib_cq_destroy_op(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	return ops->destroy_cq ? ops->destroy_cq(ib_cq_of(object)) : 0;
}

static void ib_cq_detach_op(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->detach_cq)
		ops->detach_cq(ib_cq_of(object));
}

static void ib_cq_release_op(const struct ib_verbs_ops *ops, struct ib_object *object)
{
	if (ops->release_cq)
		ops->release_cq(ib_cq_of(object));
}

static void ib_cq_queue(struct ib_cq *cq)
{
	queue_work(ib_object_device(&cq->object)->objects->poll_wq, &cq->work);
}

/* Nothing schedules the polling context any more: wait for it. */
static void ib_cq_stop(struct ib_object *object)
{
	struct ib_cq *cq = ib_cq_of(object);

	if (cq->stopped)
		return;
	cq->stopped = true;
	if (cq->context == IB_CQ_SOFTIRQ)
		irq_poll_disable(&cq->iop);
	else if (cq->context == IB_CQ_WORKQUEUE)
		cancel_work_sync(&cq->work);
}

static const struct ib_object_class ib_cq_class = {
	.name = "CQ",
	.type = IB_OBJECT_CQ,
	.numbered = true,
	.destroy = ib_cq_destroy_op,
	.detach = ib_cq_detach_op,
	.release = ib_cq_release_op,
	.disarm = ib_cq_stop,
};

/* Under RCU, which is the section of the gate. */
static int ib_cq_take(struct ib_cq *cq, int count, struct ib_wc *wc)
{
	struct ib_device *device = ib_object_device(&cq->object);

	return ib_gate_pass(&device->objects->soft) ?:
	       ib_verbs_of(device)->poll_cq(cq, count, wc);
}

int ib_cq_poll(struct ib_cq *cq, int count, struct ib_wc *wc)
{
	int n = -ENODEV;

	rcu_read_lock();
	if (likely(ib_object_is_live(&cq->object)))
		n = ib_cq_take(cq, count, wc);
	rcu_read_unlock();
	return n;
}
EXPORT_SYMBOL_GPL(ib_cq_poll);

/* Take at most @budget completions (-1: all) and hand them to who posted. */
static int ib_cq_run(struct ib_cq *cq, int budget)
{
	struct ib_wc wc[IB_CQ_BATCH];
	int total = 0;
	int i, n;

	while (budget < 0 || total < budget) {
		int want = budget < 0 ? IB_CQ_BATCH : min(budget - total, IB_CQ_BATCH);

		rcu_read_lock();
		n = ib_cq_take(cq, want, wc);
		rcu_read_unlock();
		for (i = 0; i < n; i++)
			if (wc[i].cqe)
				wc[i].cqe->done(cq, &wc[i]);
		if (n > 0)
			total += n;
		if (n < want)
			break;
	}
	return total;
}

int ib_cq_process(struct ib_cq *cq, int budget)
{
	int n = 0;

	if (WARN_ON_ONCE(cq->context != IB_CQ_DIRECT))
		return 0;
	/* Whoever destroys it waits. No callback to lockdep: it may destroy all but the CQ. */
	if (!ib_object_pin(&cq->object))
		return 0;
	if (!READ_ONCE(cq->object.disarmed))
		n = ib_cq_run(cq, budget);
	ib_object_unpin(&cq->object);
	return n;
}
EXPORT_SYMBOL_GPL(ib_cq_process);

int ib_cq_arm(struct ib_cq *cq, u32 flags)
{
	struct ib_device *device = ib_object_device(&cq->object);
	int err = -ENODEV;

	rcu_read_lock();
	if (likely(ib_object_is_live(&cq->object)))
		err = ib_gate_pass(&device->gate);
	if (likely(!err))
		err = ib_verbs_of(device)->arm_cq(cq, flags);
	rcu_read_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(ib_cq_arm);

static int ib_cq_poll_softirq(struct irq_poll *iop, int budget)
{
	struct ib_cq *cq = container_of(iop, struct ib_cq, iop);
	int done = ib_cq_run(cq, budget);

	if (done < budget) {
		irq_poll_complete(iop);
		if (ib_cq_arm(cq, IB_CQ_NEXT_COMP) > 0)
			irq_poll_sched(iop);
	}
	return done;
}

static void ib_cq_poll_work(struct work_struct *work)
{
	struct ib_cq *cq = container_of(work, struct ib_cq, work);

	if (ib_cq_run(cq, IB_CQ_BUDGET) >= IB_CQ_BUDGET || ib_cq_arm(cq, IB_CQ_NEXT_COMP) > 0)
		ib_cq_queue(cq);
}

/**
 * ib_cq_kick() - let whoever polls a CQ look, in its own context
 * @cq: the CQ
 *
 * Context: any.
 */
void ib_cq_kick(struct ib_cq *cq)
{
	if (!ib_object_begin_callback(&cq->object))
		return;
	ib_cq_tell(cq);
	ib_object_end_callback(&cq->object);
}

void ib_cq_tell(struct ib_cq *cq)
{
	switch (cq->context) {
	case IB_CQ_OWNER:
		cq->notify(cq);
		break;
	case IB_CQ_SOFTIRQ:
		irq_poll_sched(&cq->iop);
		break;
	case IB_CQ_WORKQUEUE:
		ib_cq_queue(cq);
		break;
	case IB_CQ_DIRECT:
		break;
	}
}
EXPORT_SYMBOL_GPL(ib_cq_tell);

void ib_cq_completed(struct ib_cq *cq)
{
	ib_cq_kick(cq);
}
EXPORT_SYMBOL_GPL(ib_cq_completed);

/**
 * ib_cq_settle() - everything that is in a CQ has been handed out when this returns
 * @cq: not of context OWNER
 *
 * For the end of a drain, where nothing new comes.  Context: may sleep.
 */
void ib_cq_settle(struct ib_cq *cq)
{
	if (cq->stopped)
		return;
	switch (cq->context) {
	case IB_CQ_SOFTIRQ:
		/* Takes the place of the polling context, which is waited for. */
		irq_poll_disable(&cq->iop);
		local_bh_disable();
		ib_cq_run(cq, -1);
		local_bh_enable();
		irq_poll_enable(&cq->iop);
		break;
	case IB_CQ_WORKQUEUE:
		do {
			ib_cq_queue(cq);
			flush_work(&cq->work);
		} while (work_pending(&cq->work));
		break;
	case IB_CQ_DIRECT:
		ib_cq_run(cq, -1);
		break;
	case IB_CQ_OWNER:
		break;
	}
}

static void ib_cq_prepare(struct ib_cq *cq, const struct ib_cq_init *init)
{
	cq->context = init->context;
	cq->notify = init->notify;
	cq->event = init->event;
	cq->priv = init->priv;
	INIT_WORK(&cq->work, ib_cq_poll_work);
	irq_poll_init(&cq->iop, IB_CQ_BUDGET, ib_cq_poll_softirq);
}

struct ib_cq *ib_cq_create(struct ib_attachment *attachment, const struct ib_cq_init *init,
			   struct ib_udata *udata)
{
	struct ib_object *object;
	struct ib_cq *cq;
	int err;

	if (!init->cqe || (init->context == IB_CQ_OWNER && !init->notify))
		return ERR_PTR(-EINVAL);
	object = ib_object_new(attachment, &ib_cq_class, GFP_KERNEL);
	if (IS_ERR(object))
		return ERR_CAST(object);
	cq = ib_cq_of(object);
	ib_cq_prepare(cq, init);
	err = ib_object_make(object, GFP_KERNEL, ops->create_cq, cq, init, udata);
	if (err)
		return ERR_PTR(err);
	/* Nothing was posted to it yet, so there is nothing to be missed; GONE tells it anyway. */
	if (cq->context == IB_CQ_SOFTIRQ || cq->context == IB_CQ_WORKQUEUE)
		ib_cq_arm(cq, IB_CQ_NEXT_COMP);
	return cq;
}
EXPORT_SYMBOL_GPL(ib_cq_create);

void ib_cq_destroy(struct ib_cq *cq)
{
	ib_object_destroy(&cq->object);
}
EXPORT_SYMBOL_GPL(ib_cq_destroy);

int ib_cq_resize(struct ib_cq *cq, u32 cqe, struct ib_udata *udata)
{
	if (!cqe)
		return -EINVAL;
	return ib_object_call(&cq->object, ops->resize_cq, cq, cqe, udata);
}
EXPORT_SYMBOL_GPL(ib_cq_resize);

int ib_cq_moderate(struct ib_cq *cq, u16 count, u16 period)
{
	return ib_object_call(&cq->object, ops->moderate_cq, cq, count, period);
}
EXPORT_SYMBOL_GPL(ib_cq_moderate);

void ib_cq_event(struct ib_cq *cq, enum ib_event_type type)
{
	if (!ib_object_begin_callback(&cq->object))
		return;
	if (cq->event)
		cq->event(cq, type);
	ib_object_end_callback(&cq->object);
}
EXPORT_SYMBOL_GPL(ib_cq_event);
