// SPDX-License-Identifier: GPL-2.0-only
/*
 * SA client: the service on a device.
 *
 * It has a MAD agent for each port, which only sends, and a subscription to events, which tells
 * that the SM has changed.  Both are its own, made through the attachment of the instance, and go
 * in reverse order: when the subscription has ended, nobody starts the pump any more; when the pump
 * has ended, nobody uses the MAD agents.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <ib/multicast.h>

#include "sa_client.h"

/* After these the address of the SA, or whether it can be reached, may be another. */
static bool sa_event_matters(enum ib_event_type type)
{
	switch (type) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
	case IB_EVENT_DEVICE_FATAL:
		return true;
	default:
		return false;
	}
}

static void sa_event(struct ib_event_handler *handler, const struct ib_event *event)
{
	struct sa *sa = handler->context;
	unsigned int i;

	if (!sa_event_matters(event->type))
		return;
	for (i = 0; i < sa->ports; i++)
		if (!event->port || event->port == i + 1)
			sa_queries_readdress(&sa->port[i]);
}

static int sa_port_start(struct sa_port *port)
{
	const struct ib_mad_agent_init init = { .port = port->number, .qpn = 1, .rmpp = 1 };

	struct ib_mad_agent *mad;

	mad = ib_mad_agent_create(port->sa->instance->attachment, &init);
	/* A port without QP1 has no SA. */
	if (IS_ERR(mad))
		return PTR_ERR(mad) == -EPROTONOSUPPORT ? 0 : PTR_ERR(mad);
	port->mad = mad;
	return 0;
}

static void sa_port_stop(struct sa_port *port)
{
	sa_queries_forget(port);
	ib_hca_timer_exit(&port->timer);
	cancel_work_sync(&port->pump);
	/* What was released is with the MAD service, and goes out. */
	if (port->mad)
		ib_mad_agent_destroy(port->mad);
}

static void sa_stop(struct ib_service_instance *instance)
{
	struct sa *sa = instance->context;
	unsigned int i;

	if (!IS_ERR_OR_NULL(sa->events))
		ib_event_unsubscribe(sa->events);
	for (i = 0; i < sa->ports; i++)
		sa_port_stop(&sa->port[i]);
	kfree(sa);
}

static int sa_start(struct ib_service_instance *instance)
{
	unsigned int i, ports = instance->device->phys_port_cnt;
	struct sa *sa = kzalloc(struct_size(sa, port, ports), GFP_KERNEL);
	int err = 0;

	if (!sa)
		return -ENOMEM;
	sa->instance = instance;
	sa->ports = ports;
	instance->context = sa;
	for (i = 0; i < ports; i++) {
		sa->port[i].sa = sa;
		sa->port[i].number = i + 1;
		sa_port_init(&sa->port[i]);
	}
	for (i = 0; i < ports && !err; i++)
		if (ib_device_has_port(instance->device, i + 1))
			err = sa_port_start(&sa->port[i]);
	if (!err) {
		sa->events = ib_event_subscribe(instance->attachment, sa_event, sa);
		err = PTR_ERR_OR_ZERO(sa->events);
	}
	if (err)
		sa_stop(instance);
	return err;
}

static void sa_flush(struct ib_service_instance *instance)
{
	struct sa *sa = instance->context;
	unsigned int i;

	WRITE_ONCE(sa->hurry, true);
	for (i = 0; i < sa->ports; i++)
		sa_queries_flush(&sa->port[i]);
}

/* What was released by a service above and has not been sent: now or never. */
static void sa_close(struct ib_service_instance *instance)
{
	struct sa *sa = instance->context;
	unsigned int i;

	sa_flush(instance);
	for (i = 0; i < sa->ports; i++)
		sa_queries_pump(&sa->port[i]);
}

static const struct ib_service_ops sa_ops = {
	.start = sa_start,
	.close = sa_close,
	.cancel = sa_flush,
	.stop = sa_stop,
};

static struct ib_service *const sa_needs[] = { &ib_mad_service, NULL };

struct ib_service ib_sa = {
	.name = "sa",
	.owner = THIS_MODULE,
	.needs = sa_needs,
	.ops = &sa_ops,
};
EXPORT_SYMBOL_GPL(ib_sa);

/** ib_sa_init() - offer the SA client and multicast; from ib_core's module init */
int ib_sa_init(void)
{
	int err = ib_service_register(&ib_sa);

	if (err)
		return err;
	err = ib_service_register(&ib_multicast);
	if (err)
		ib_service_unregister(&ib_sa);
	return err;
}

/** ib_sa_exit() - its mirror */
void ib_sa_exit(void)
{
	ib_service_unregister(&ib_multicast);
	ib_service_unregister(&ib_sa);
}
