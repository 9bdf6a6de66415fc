/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Services: what the core offers to clients, per device: MAD, SA, multicast, CM, RDMA CM.
 *
 * Services are below clients and are not clients.  They start on a device before any client that
 * needs them is added, and stay usable until the last client's remove_one has returned.  Among
 * themselves they start and stop in the order of what they need, whatever the order in which they
 * were registered.  One that is registered late is started on the devices that are LIVE, and the
 * clients that waited for it are added then.  One that leaves is a fence: the clients and services
 * that need it leave first.
 *
 * A service instance (service, device) has a service gate: a plain counter, on the control path of
 * that service.  Handles it gives out are agents (<ib/agent.h>).
 */
#ifndef IB_SERVICE_H
#define IB_SERVICE_H

#include <ib/client.h>

struct ib_service_instance;

/**
 * struct ib_service_ops - what a service does on one device; all on the lifecycle thread
 * @start: begin on a device; may sleep and send commands.  An error is logged, and clients that
 *	need the service wait for a better time on that device.  Required.
 * @start_port: begin on a port (1 ...), after @start; optional.  If it fails, the ports begun are
 *	stopped again, then @stop.
 * @close: the gate has just been shut: nobody comes from above any more.  Cancel what is under way,
 *	by means of the services below, which still work; leave and disconnect once, do not wait for
 *	the answer.  Must not wait.  Optional.
 * @cancel: the polite time of a teardown is over: end every query and wait that is under way, also
 *	when the gate is still open.  Must not wait.  Optional.
 * @stop_port: mirror of @start_port; nobody is inside the gate.  May sleep.
 * @stop: mirror of @start; nobody is inside the gate and every agent is reaped.  May sleep.
 *	Required.
 *
 * Between @close and @stop_port the framework drains: it reaps the agents that are left and waits
 * until the gate is empty.  What an instance has running (a query, a work item) therefore counts as
 * inside: ib_service_get() and ib_service_put().
 */
struct ib_service_ops {
	int (*start)(struct ib_service_instance *instance);
	int (*start_port)(struct ib_service_instance *instance, u8 port);
	void (*close)(struct ib_service_instance *instance);
	void (*cancel)(struct ib_service_instance *instance);
	void (*stop_port)(struct ib_service_instance *instance, u8 port);
	void (*stop)(struct ib_service_instance *instance);
};

/**
 * struct ib_service - a service; the exported descriptor
 * @name: for messages; a literal
 * @owner: THIS_MODULE
 * @needs: the services below it that it uses, ended by NULL, or NULL
 * @ops: its callbacks
 *
 * The rest is private to service.c, under the registry's mutex:
 * @node: in the registry
 * @leaving: ib_service_unregister() has begun
 * @instances: how many there are, on all devices
 * @graveyard: tombstones of agents that its instances have not destroyed
 */
struct ib_service {
	const char *name;
	struct module *owner;
	struct ib_service *const *needs;
	const struct ib_service_ops *ops;

	struct list_head node;
	bool leaving;
	unsigned int instances;
	struct ib_graveyard graveyard;
};

/**
 * enum ib_service_state - where an instance stands
 * @IB_SERVICE_STARTING: start runs
 * @IB_SERVICE_FAILED: start failed; there is nothing to stop
 * @IB_SERVICE_UP: the gate is open
 * @IB_SERVICE_CLOSING: the gate is shut, people are leaving
 * @IB_SERVICE_STOPPED: stop has returned
 * @IB_SERVICE_LEFT: the deadline passed before the gate was empty; its memory stays
 */
enum ib_service_state {
	IB_SERVICE_STARTING,
	IB_SERVICE_FAILED,
	IB_SERVICE_UP,
	IB_SERVICE_CLOSING,
	IB_SERVICE_STOPPED,
	IB_SERVICE_LEFT,
};

/**
 * struct ib_service_instance - a service on a device
 * @service: the service
 * @device: the device
 * @context: the service's, set in its start
 * @attachment: the owner of what the service itself creates: objects, agents of services below
 *
 * The rest is private to service.c, under the HCA's lock:
 * @state: see enum ib_service_state
 * @inside: the service gate: how many are inside
 * @agents: what it has handed out
 * @node: in &ib_device.services
 * @error: of start
 * @ports: how many ports have been started
 * @tried_gen: the generation of the registry at which start was last tried
 * @map: what lockdep takes the gate for
 */
struct ib_service_instance {
	struct ib_service *service;
	struct ib_device *device;
	void *context;
	struct ib_attachment *attachment;

	enum ib_service_state state;
	unsigned int inside;
	struct list_head agents;
	struct list_head node;
	int error;
	u8 ports;
	unsigned long tried_gen;
	struct lockdep_map map;
};

/**
 * ib_service_register() - offer a service on every device, present and future
 * @service: statically allocated
 *
 * Waits until it has been started (or has failed) on the devices present.
 *
 * Context: module init; may sleep; no RTNL.
 * Return: 0, -EINVAL: a callback is missing, -ELOOP: it needs itself, or -EEXIST.
 */
int ib_service_register(struct ib_service *service);

/**
 * ib_service_unregister() - take a service off every device
 * @service: a registered service
 *
 * Clients and services that need it go first, device by device.  Returns when no code of the
 * service can run any more.  What is waited for is named in the log every ten seconds.
 *
 * Context: module exit; may sleep; no RTNL.
 */
void ib_service_unregister(struct ib_service *service);

/**
 * ib_service_enter() - begin a call into a service
 * @attachment: on whose behalf; its device is meant
 * @service: the service, one of those the caller needs
 *
 * Context: any but hard interrupts.  Sections nest.
 * Return: the instance, and the caller owes ib_service_exit(); ERR_PTR(-ENODEV): not there, closed,
 * or the attachment is closed.
 */
struct ib_service_instance *ib_service_enter(struct ib_attachment *attachment,
					     struct ib_service *service);

/**
 * ib_service_exit() - end such a call, in the same task
 * @instance: from ib_service_enter()
 */
void ib_service_exit(struct ib_service_instance *instance);

/**
 * ib_service_get() - count something that runs beyond the call as inside the gate
 * @instance: an instance the caller is inside of
 *
 * For queries and work items of the service.  Context: any.
 */
void ib_service_get(struct ib_service_instance *instance);

/**
 * ib_service_put() - it has ended
 * @instance: the instance; may be stopped and freed when this returns
 *
 * Context: any.
 */
void ib_service_put(struct ib_service_instance *instance);

#endif /* IB_SERVICE_H */
