/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asynchronous events (IBA 11.6.3).
 *
 * Those of a device and its ports are queued, one queue per device, and delivered in order from a
 * work item: first the caches are refreshed (<ib/port.h>), then the subscribers are called.  Events
 * that come before the device is ready are kept until it is.  If the queue is full an event is
 * merged with an equal one that waits, never lost.
 *
 * Those of a CQ, QP or SRQ go straight to its owner, in the provider's context.
 */
#ifndef IB_EVENT_H
#define IB_EVENT_H

#include <ib/object.h>

struct ib_cq;
struct ib_qp;
struct ib_srq;

/**
 * enum ib_event_type - what happened; the numbers are those of the user interface
 * @IB_EVENT_CQ_ERR: CQ overrun or error
 * @IB_EVENT_QP_FATAL: local catastrophic error of a QP
 * @IB_EVENT_QP_REQ_ERR: local invalid request error
 * @IB_EVENT_QP_ACCESS_ERR: local access violation
 * @IB_EVENT_COMM_EST: first packet in RTR
 * @IB_EVENT_SQ_DRAINED: send queue drained in SQD
 * @IB_EVENT_PATH_MIG: path migrated
 * @IB_EVENT_PATH_MIG_ERR: path migration failed
 * @IB_EVENT_DEVICE_FATAL: the HCA is lost
 * @IB_EVENT_PORT_ACTIVE: port became active
 * @IB_EVENT_PORT_ERR: port left active
 * @IB_EVENT_LID_CHANGE: the SM gave the port another LID
 * @IB_EVENT_PKEY_CHANGE: the P_Key table changed
 * @IB_EVENT_SM_CHANGE: another SM, or the SM moved
 * @IB_EVENT_SRQ_ERR: SRQ error
 * @IB_EVENT_SRQ_LIMIT_REACHED: SRQ below its limit
 * @IB_EVENT_QP_LAST_WQE_REACHED: a QP in error has taken its last WQE from its SRQ
 * @IB_EVENT_CLIENT_REREGISTER: the SM asks for all registrations again
 * @IB_EVENT_GID_CHANGE: the GID table changed
 * @IB_EVENT_TYPES: how many there are
 */
enum ib_event_type {
	IB_EVENT_CQ_ERR,
	IB_EVENT_QP_FATAL,
	IB_EVENT_QP_REQ_ERR,
	IB_EVENT_QP_ACCESS_ERR,
	IB_EVENT_COMM_EST,
	IB_EVENT_SQ_DRAINED,
	IB_EVENT_PATH_MIG,
	IB_EVENT_PATH_MIG_ERR,
	IB_EVENT_DEVICE_FATAL,
	IB_EVENT_PORT_ACTIVE,
	IB_EVENT_PORT_ERR,
	IB_EVENT_LID_CHANGE,
	IB_EVENT_PKEY_CHANGE,
	IB_EVENT_SM_CHANGE,
	IB_EVENT_SRQ_ERR,
	IB_EVENT_SRQ_LIMIT_REACHED,
	IB_EVENT_QP_LAST_WQE_REACHED,
	IB_EVENT_CLIENT_REREGISTER,
	IB_EVENT_GID_CHANGE,
	IB_EVENT_TYPES,
};

/**
 * struct ib_event - an event of a device or a port
 * @type: what
 * @port: the port, or 0 for the whole device
 */
struct ib_event {
	enum ib_event_type type;
	u8 port;
};

struct ib_event_handler;

/* A subscriber's function: process context, one call at a time, may sleep, must not take RTNL and
 * must not unsubscribe itself.
 */
typedef void (*ib_event_fn)(struct ib_event_handler *handler, const struct ib_event *event);

/**
 * struct ib_event_handler - a subscription
 * @object: common part
 * @fn: called for each event
 * @context: the owner's
 * @device_node: private to event.c
 */
struct ib_event_handler {
	struct ib_object object;
	ib_event_fn fn;
	void *context;
	struct list_head device_node;
};

/**
 * ib_event_subscribe() - hear of the events of a device
 * @attachment: the owner
 * @fn: called for each event that is delivered from now on
 * @context: kept in the handler
 *
 * Subscribe first and read what you want to know afterwards: then no change is missed.
 *
 * Context: may sleep.
 * Return: the subscription, or ERR_PTR(-ENODEV), ERR_PTR(-ENOMEM).
 */
struct ib_event_handler *ib_event_subscribe(struct ib_attachment *attachment, ib_event_fn fn,
					    void *context);

/**
 * ib_event_unsubscribe() - end it
 * @handler: the subscription; freed
 *
 * The function does not run when this returns.  Context: may sleep; not in the function itself.
 */
void ib_event_unsubscribe(struct ib_event_handler *handler);

/**
 * ib_event_raise() - for providers: something happened to a device or a port
 * @device: the device
 * @type: an event of a port or of the device
 * @port: the port, or 0
 *
 * Context: any.  Allocates nothing.
 */
void ib_event_raise(struct ib_device *device, enum ib_event_type type, u8 port);

/**
 * ib_cq_event() - for providers: something happened to a CQ
 * @cq: the CQ
 * @type: IB_EVENT_CQ_ERR
 *
 * Context: any.
 */
void ib_cq_event(struct ib_cq *cq, enum ib_event_type type);

/** ib_qp_event() - for providers: the same for a QP */
void ib_qp_event(struct ib_qp *qp, enum ib_event_type type);

/** ib_srq_event() - for providers: the same for an SRQ */
void ib_srq_event(struct ib_srq *srq, enum ib_event_type type);

/**
 * ib_event_name() - the word for an event, for the log
 * @type: the event
 *
 * Return: a literal.
 */
const char *ib_event_name(enum ib_event_type type);

#endif /* IB_EVENT_H */
