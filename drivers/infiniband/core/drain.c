// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining: wait until everything that was posted to a QP has completed.
 *
 * The QP is moved to ERR and a marker is posted behind the last request: completions come in order,
 * so when the marker is back everything is. When the HCA goes, before or meanwhile, nothing comes
 * back by itself: then the provider's flush does it, and the drain ends when that has been done and
 * the CQs have been read to the end. When the machine goes down it ends too: nobody waits any more.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "objects.h"

/* A CQ that its owner polls is looked at this often; it has no other way to tell. */
#define IB_DRAIN_LOOK_MS 1

/**
 * struct ib_drain - the marker of a queue
 * @cqe: what its completion finds it by
 * @qp: the QP
 * @posted: it is on its way
 * @done: it came back
 */
struct ib_drain {
	struct ib_cqe cqe;
	struct ib_qp *qp;
	bool posted;
	bool done;
};

enum { IB_DRAIN_SEND, IB_DRAIN_RECV, IB_DRAINS };

/** ib_drains_alloc() - memory for the markers of a QP; they are freed with it */
int ib_drains_alloc(struct ib_qp *qp)
{
	qp->drains = kcalloc(IB_DRAINS, sizeof(*qp->drains), GFP_KERNEL);
	return qp->drains ? 0 : -ENOMEM;
}

static void ib_drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ib_drain *drain = container_of(wc->cqe, struct ib_drain, cqe);
	struct ib_hca *hca = ib_object_hca(&drain->qp->object);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	drain->done = true;
	wake_up_all(&hca->wait);
	spin_unlock_irqrestore(&hca->lock, flags);
}

static void ib_drain_prepare(struct ib_qp *qp, struct ib_drain *drain)
{
	drain->cqe.done = ib_drain_done;
	drain->qp = qp;
	drain->done = false;
}

static int ib_drain_post_send(struct ib_qp *qp, struct ib_drain *drain)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_DRAIN,
		.flags = IB_SEND_SIGNALED,
		.cqe = &drain->cqe,
	};
	const struct ib_send_wr *bad;

	ib_drain_prepare(qp, drain);
	return ib_qp_post_send(qp, &wr, &bad);
}

static int ib_drain_post_recv(struct ib_qp *qp, struct ib_drain *drain)
{
	struct ib_recv_wr wr = { .cqe = &drain->cqe };
	const struct ib_recv_wr *bad;

	ib_drain_prepare(qp, drain);
	return ib_qp_post_recv(qp, &wr, &bad);
}

/* Nothing more will come from the hardware; what was posted has been flushed by software. */
static bool ib_drain_is_flushed(const struct ib_qp *qp)
{
	const struct ib_objects *objects = ib_object_device(&qp->object)->objects;

	return READ_ONCE(objects->flushed) || READ_ONCE(objects->dead) ||
	       READ_ONCE(ib_object_hca(&qp->object)->halted);
}

static bool ib_drain_is_over(void *arg)
{
	const struct ib_drain *drain = arg;

	return drain->done || ib_drain_is_flushed(drain->qp);
}

/* Nobody else polls such a CQ, so this does. */
static void ib_drain_poll(struct ib_drain *drain, struct ib_cq *cq)
{
	while (!ib_drain_is_over(drain)) {
		ib_cq_settle(cq);
		if (!ib_drain_is_over(drain))
			msleep(IB_DRAIN_LOOK_MS);
		if (current == ib_object_hca(&drain->qp->object)->thread)
			ib_life_attend(ib_object_hca(&drain->qp->object));
	}
}

static void ib_drain_wait(struct ib_drain *drain, struct ib_cq *cq)
{
	struct ib_hca *hca = ib_object_hca(&drain->qp->object);
	struct ib_object_label label;

	if (cq->context == IB_CQ_DIRECT)
		ib_drain_poll(drain, cq);
	else
		ib_object_wait(&drain->qp->object, "a queue to drain", ib_drain_is_over, drain);
	if (drain->done || !ib_drain_is_flushed(drain->qp))
		return;
	ib_cq_settle(cq);
	if (drain->posted && !drain->done && !READ_ONCE(hca->halted))
		dev_err(hca->parent, "%s: its last request was not flushed\n",
			ib_object_label(&drain->qp->object, &label));
}

/* A refusal of the gate: then a flush will come, or the end of the machine. */
static bool ib_drain_is_refused(const struct ib_qp *qp, int err)
{
	const struct ib_hca *hca = ib_object_hca(&qp->object);

	return err == -EIO && (ib_hca_is_gone(hca) || READ_ONCE(hca->shutdown));
}

/* Does it make sense to wait for a marker that perhaps could not be posted? */
static bool ib_drain_must_wait(struct ib_drain *drain, int err)
{
	struct ib_object_label label;

	drain->posted = !err;
	if (!err || ib_drain_is_refused(drain->qp, err))
		return true;
	if (err != -ENODEV)
		dev_err(ib_object_hca(&drain->qp->object)->parent, "%s cannot be drained: %d\n",
			ib_object_label(&drain->qp->object, &label), err);
	return false;
}

/* Gives false if there is nothing to wait for. */
static bool ib_drain_to_error(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_ERR };
	struct ib_object_label label;
	int err;

	if (READ_ONCE(qp->known.state) == IB_QPS_RESET)
		return false;
	err = ib_qp_modify(qp, &attr, IB_QP_STATE, NULL);
	if (!err || ib_drain_is_refused(qp, err))
		return true;
	if (err != -ENODEV)
		dev_err(ib_object_hca(&qp->object)->parent, "%s cannot be moved to ERR: %d\n",
			ib_object_label(&qp->object, &label), err);
	return false;
}

static void ib_drain_queues(struct ib_qp *qp, bool send, bool recv)
{
	struct ib_drain *sq = &qp->drains[IB_DRAIN_SEND];
	struct ib_drain *rq = &qp->drains[IB_DRAIN_RECV];

	send = send && qp->send_cq && qp->send_cq->context != IB_CQ_OWNER;
	recv = recv && qp->recv_cq && qp->recv_cq->context != IB_CQ_OWNER && !qp->srq;
	if ((!send && !recv) || !ib_drain_to_error(qp))
		return;
	send = send && ib_drain_must_wait(sq, ib_drain_post_send(qp, sq));
	recv = recv && ib_drain_must_wait(rq, ib_drain_post_recv(qp, rq));
	if (send)
		ib_drain_wait(sq, qp->send_cq);
	if (recv)
		ib_drain_wait(rq, qp->recv_cq);
}

void ib_qp_drain(struct ib_qp *qp)
{
	ib_drain_queues(qp, true, true);
}
EXPORT_SYMBOL_GPL(ib_qp_drain);

void ib_qp_drain_send(struct ib_qp *qp)
{
	ib_drain_queues(qp, true, false);
}
EXPORT_SYMBOL_GPL(ib_qp_drain_send);

void ib_qp_drain_recv(struct ib_qp *qp)
{
	ib_drain_queues(qp, false, true);
}
EXPORT_SYMBOL_GPL(ib_qp_drain_recv);
