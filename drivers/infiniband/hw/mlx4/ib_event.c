// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the HCA, as they come out of its event queues: in interrupts, outside every gate.
 */
#include "ib_qp.h"
#include "mad_layout.h"

/* The CQ with that number, or NULL; it is not detached before ib_object_end_callback(). */
static struct mlx4_ib_cq *cq_begin(struct mlx4_ib_dev *dev, u32 cqn)
{
	struct mlx4_ib_cq *cq;
	unsigned long flags;

	xa_lock_irqsave(&dev->cqs, flags);
	cq = xa_load(&dev->cqs, cqn);
	if (cq && !ib_object_begin_callback(&cq->ib.object))
		cq = NULL;
	xa_unlock_irqrestore(&dev->cqs, flags);
	return cq;
}

void mlx4_ib_completed(struct mlx4_sink *sink, u32 cqn)
{
	struct mlx4_ib_dev *dev = container_of(sink, struct mlx4_ib_dev, sink);
	struct mlx4_ib_cq *cq = cq_begin(dev, cqn);

	if (!cq)
		return;
	WRITE_ONCE(cq->arm_sn, cq->arm_sn + 1);
	ib_cq_tell(&cq->ib);
	ib_object_end_callback(&cq->ib.object);
}

static void cq_error(struct mlx4_ib_dev *dev, u32 cqn, unsigned int syndrome)
{
	struct mlx4_ib_cq *cq = cq_begin(dev, cqn);

	if (!cq)
		return;
	dev_err_ratelimited(dev->core->dev, "CQ %#x: %s\n", cqn,
			    syndrome == 1 ? "overrun" : "access violation");
	ib_cq_event(&cq->ib, IB_EVENT_CQ_ERR);
	ib_object_end_callback(&cq->ib.object);
}

static void port_changed(struct mlx4_ib_dev *dev, const void *eqe)
{
	u8 port = mlx4_get(eqe, MLX4_EQE_PORT);

	if (!ib_device_has_port(&dev->ib, port))
		return;
	switch (mlx4_get(eqe, MLX4_EQE_SUBTYPE)) {
	case MLX4_PORT_WENT_UP:
		ib_event_raise(&dev->ib, IB_EVENT_PORT_ACTIVE, port);
		break;
	case MLX4_PORT_WENT_DOWN:
		ib_event_raise(&dev->ib, IB_EVENT_PORT_ERR, port);
		break;
	}
}

/* What changes together is told in the order in which its users can make sense of it. */
static const struct {
	u32 changed;
	enum ib_event_type type;
} port_info_events[] = {
	{ MLX4_PME_LID, IB_EVENT_LID_CHANGE },
	{ MLX4_PME_PREFIX, IB_EVENT_GID_CHANGE },
	{ MLX4_PME_SM_LID | MLX4_PME_SM_SL, IB_EVENT_SM_CHANGE },
	{ MLX4_PME_REREGISTER, IB_EVENT_CLIENT_REREGISTER },
};

static void port_managed(struct mlx4_ib_dev *dev, const void *eqe)
{
	u32 changed = mlx4_get(eqe, MLX4_PME_CHANGED);
	u8 port = mlx4_get(eqe, MLX4_PME_PORT);
	unsigned int i;

	if (!ib_device_has_port(&dev->ib, port))
		return;
	switch (mlx4_get(eqe, MLX4_EQE_SUBTYPE)) {
	case MLX4_PME_PORT_INFO:
		for (i = 0; i < ARRAY_SIZE(port_info_events); i++)
			if (changed & port_info_events[i].changed)
				ib_event_raise(&dev->ib, port_info_events[i].type, port);
		break;
	case MLX4_PME_GUID_INFO:
		ib_event_raise(&dev->ib, IB_EVENT_GID_CHANGE, port);
		break;
	case MLX4_PME_PKEY_TABLE:
		ib_event_raise(&dev->ib, IB_EVENT_PKEY_CHANGE, port);
		break;
	case MLX4_PME_SL_TO_VL:
		mlx4_ib_set_vls(dev, port, mlx4_get(eqe, MLX4_PME_SL2VL));
		break;
	}
}

/* Which event of a QP or SRQ each type is. */
static const struct {
	u8 type;
	u8 event;
} object_events[] = {
	{ MLX4_EVENT_PATH_MIG, IB_EVENT_PATH_MIG },
	{ MLX4_EVENT_MIG_FAILED, IB_EVENT_PATH_MIG_ERR },
	{ MLX4_EVENT_COMM_EST, IB_EVENT_COMM_EST },
	{ MLX4_EVENT_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ MLX4_EVENT_WQ_CATAS, IB_EVENT_QP_FATAL },
	{ MLX4_EVENT_WQ_INVAL, IB_EVENT_QP_REQ_ERR },
	{ MLX4_EVENT_WQ_ACCESS, IB_EVENT_QP_ACCESS_ERR },
	{ MLX4_EVENT_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
	{ MLX4_EVENT_SRQ_CATAS, IB_EVENT_SRQ_ERR },
	{ MLX4_EVENT_SRQ_LIMIT, IB_EVENT_SRQ_LIMIT_REACHED },
};

static void qp_event(struct mlx4_ib_dev *dev, u32 qpn, enum ib_event_type event)
{
	u32 mask = dev->core->icm.tables[MLX4_QPC].count - 1;
	struct mlx4_ib_qp *qp;
	unsigned long flags;

	xa_lock_irqsave(&dev->qps, flags);
	qp = xa_load(&dev->qps, qpn & mask);
	if (qp && !ib_object_begin_callback(&qp->ib.object))
		qp = NULL;
	xa_unlock_irqrestore(&dev->qps, flags);
	if (!qp)
		return;
	ib_qp_event(&qp->ib, event);
	ib_object_end_callback(&qp->ib.object);
}

static void srq_event(struct mlx4_ib_dev *dev, u32 srqn, enum ib_event_type event)
{
	struct mlx4_ib_srq *srq;
	unsigned long flags;

	xa_lock_irqsave(&dev->srqs, flags);
	srq = xa_load(&dev->srqs, srqn);
	if (srq && !ib_object_begin_callback(&srq->ib.object))
		srq = NULL;
	xa_unlock_irqrestore(&dev->srqs, flags);
	if (!srq)
		return;
	ib_srq_event(&srq->ib, event);
	ib_object_end_callback(&srq->ib.object);
}

static void object_event(struct mlx4_ib_dev *dev, unsigned int type, u32 number)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(object_events); i++) {
		if (object_events[i].type != type)
			continue;
		if (type == MLX4_EVENT_SRQ_CATAS || type == MLX4_EVENT_SRQ_LIMIT)
			srq_event(dev, number, object_events[i].event);
		else
			qp_event(dev, number, object_events[i].event);
		return;
	}
	dev_dbg_ratelimited(dev->core->dev, "event %#x of %#x\n", type, number);
}

void mlx4_ib_event(struct mlx4_sink *sink, const void *eqe)
{
	struct mlx4_ib_dev *dev = container_of(sink, struct mlx4_ib_dev, sink);
	unsigned int type = mlx4_get(eqe, MLX4_EQE_TYPE);
	u32 number = mlx4_get(eqe, MLX4_EQE_NUMBER);

	switch (type) {
	case MLX4_EVENT_CQ_ERROR:
		cq_error(dev, number, mlx4_get(eqe, MLX4_EQE_CQ_SYNDROME));
		break;
	case MLX4_EVENT_PORT_CHANGE:
		port_changed(dev, eqe);
		break;
	case MLX4_EVENT_PORT_MGMT:
		port_managed(dev, eqe);
		break;
	default:
		object_event(dev, type, number);
		break;
	}
}
