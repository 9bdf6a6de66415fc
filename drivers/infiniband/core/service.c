// SPDX-License-Identifier: GPL-2.0-only
/*
 * Services on a device: the gate, start and stop.
 *
 * The list of a device's instances is kept in the order of depth (a service is deeper than what it
 * needs) and, at one depth, of name.  So starting along the list and stopping against it is right
 * for every order of registration, and the same for all of them.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"
#include "trace.h"

#define IB_SERVICE_DEPTH_MAX 16

static unsigned int ib_depth_below(const struct ib_service *service, unsigned int level)
{
	struct ib_service *const *need;
	unsigned int depth = 0;

	if (level >= IB_SERVICE_DEPTH_MAX)
		return IB_SERVICE_DEPTH_MAX;
	for (need = service->needs; need && *need; need++)
		depth = max(depth, 1 + ib_depth_below(*need, level + 1));
	return depth;
}

/**
 * ib_service_depth() - how many services stand below this one, one upon the other
 * @service: the service
 *
 * Return: 0 for one that needs none; IB_SERVICE_DEPTH_MAX or more for one that needs itself.
 */
unsigned int ib_service_depth(const struct ib_service *service)
{
	return ib_depth_below(service, 0);
}

/**
 * ib_needs() - does somebody need a service, by itself or through another?
 * @needs: what he names, ended by NULL, or NULL
 * @service: the service
 *
 * Return: yes, if so.
 */
bool ib_needs(struct ib_service *const *needs, const struct ib_service *service)
{
	for (; needs && *needs; needs++)
		if (*needs == service || ib_needs((*needs)->needs, service))
			return true;
	return false;
}

/**
 * ib_service_find() - the instance of a service on a device
 * @device: the device; its HCA's lock is held, or the caller is the lifecycle thread
 * @service: the service
 *
 * Return: the instance, in whatever state, or NULL.
 */
struct ib_service_instance *ib_service_find(struct ib_device *device,
					    const struct ib_service *service)
{
	struct ib_service_instance *instance;

	list_for_each_entry(instance, &device->services, node)
		if (instance->service == service)
			return instance;
	return NULL;
}

/**
 * ib_services_up() - is everything somebody needs up on a device?
 * @device: the device
 * @needs: what he names, ended by NULL, or NULL
 *
 * Context: the lifecycle thread.
 * Return: yes, if so.
 */
bool ib_services_up(struct ib_device *device, struct ib_service *const *needs)
{
	struct ib_service_instance *instance;

	for (; needs && *needs; needs++) {
		instance = ib_service_find(device, *needs);
		if (!instance || instance->state != IB_SERVICE_UP)
			return false;
	}
	return true;
}

struct ib_service_instance *ib_service_enter(struct ib_attachment *attachment,
					     struct ib_service *service)
{
	struct ib_device *device = attachment->device;
	struct ib_service_instance *instance = NULL;
	unsigned long flags;

	spin_lock_irqsave(&device->hca->lock, flags);
	if (!attachment->closed)
		instance = ib_service_find(device, service);
	if (instance && instance->state != IB_SERVICE_UP)
		instance = NULL;
	if (instance)
		instance->inside++;
	spin_unlock_irqrestore(&device->hca->lock, flags);
	if (!instance)
		return ERR_PTR(-ENODEV);
	rwsem_acquire_read(&instance->map, 0, 1, _RET_IP_);
	return instance;
}
EXPORT_SYMBOL_GPL(ib_service_enter);

void ib_service_exit(struct ib_service_instance *instance)
{
	rwsem_release(&instance->map, _RET_IP_);
	ib_service_put(instance);
}
EXPORT_SYMBOL_GPL(ib_service_exit);

void ib_service_get(struct ib_service_instance *instance)
{
	struct ib_hca *hca = instance->device->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	instance->inside++;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_service_get);

void ib_service_put(struct ib_service_instance *instance)
{
	struct ib_hca *hca = instance->device->hca;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	if (!--instance->inside && instance->state != IB_SERVICE_UP)
		wake_up_all(&hca->wait);
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_service_put);

static void ib_service_set_state(struct ib_service_instance *instance, enum ib_service_state state)
{
	struct ib_hca *hca = instance->device->hca;

	spin_lock_irq(&hca->lock);
	instance->state = state;
	trace_ib_teardown_service(instance->device, instance->service->name, state);
	wake_up_all(&hca->wait);
	spin_unlock_irq(&hca->lock);
}

static bool ib_service_before(const struct ib_service *a, const struct ib_service *b)
{
	unsigned int deep_a = ib_service_depth(a), deep_b = ib_service_depth(b);

	return deep_a != deep_b ? deep_a < deep_b : strcmp(a->name, b->name) < 0;
}

static void ib_service_link(struct ib_service_instance *instance)
{
	struct ib_device *device = instance->device;
	struct ib_service_instance *other;
	struct list_head *before = &device->services;

	list_for_each_entry(other, &device->services, node) {
		if (!ib_service_before(instance->service, other->service))
			continue;
		before = &other->node;
		break;
	}
	spin_lock_irq(&device->hca->lock);
	list_add_tail(&instance->node, before);
	spin_unlock_irq(&device->hca->lock);
}

/**
 * ib_service_create() - make the instance of a service on a device, not yet started
 * @device: the device
 * @service: the service; not leaving, everything it needs is up
 *
 * Context: the lifecycle thread, with the registry's lock held.
 * Return: the instance or NULL.
 */
struct ib_service_instance *ib_service_create(struct ib_device *device,
					      struct ib_service *service)
{
	struct ib_service_instance *instance = kzalloc(sizeof(*instance), GFP_KERNEL);

	if (!instance)
		return NULL;
	instance->attachment = ib_attachment_of_service(device, service);
	if (!instance->attachment) {
		kfree(instance);
		return NULL;
	}
	instance->service = service;
	instance->device = device;
	INIT_LIST_HEAD(&instance->agents);
	ib_lockmap_init(&instance->map, IB_LOCKMAP_SERVICE_GATE);
	service->instances++;
	ib_service_link(instance);
	return instance;
}

/* Take an instance off its device and free it, unless a callback into the service still runs. */
static int ib_service_free(struct ib_service_instance *instance)
{
	struct ib_device *device = instance->device;
	int err = ib_attachment_close_service(instance->attachment);

	if (err)
		return err;
	mutex_lock(&ib_registry.lock);
	spin_lock_irq(&device->hca->lock);
	list_del(&instance->node);
	instance->service->instances--;
	wake_up_all(&device->hca->wait);
	wake_up_all(&ib_registry.wait);
	spin_unlock_irq(&device->hca->lock);
	mutex_unlock(&ib_registry.lock);
	kfree(instance);
	return 0;
}

static void ib_service_stop_ports(struct ib_service_instance *instance)
{
	const struct ib_service_ops *ops = instance->service->ops;

	for (; instance->ports; instance->ports--)
		if (ops->stop_port && ib_device_has_port(instance->device, instance->ports))
			ops->stop_port(instance, instance->ports);
}

static int ib_service_start_ports(struct ib_service_instance *instance)
{
	const struct ib_service_ops *ops = instance->service->ops;
	int err = 0;

	while (instance->ports < instance->device->phys_port_cnt) {
		if (ops->start_port && ib_device_has_port(instance->device, instance->ports + 1))
			err = ops->start_port(instance, instance->ports + 1);
		if (err)
			return err;
		instance->ports++;
	}
	return 0;
}

/* Does no callback of the agents run that the service itself has of those below it? */
static bool ib_service_is_silent(void *arg)
{
	struct ib_service_instance *instance = arg;
	struct ib_agent *agent;

	list_for_each_entry(agent, &instance->attachment->agents, owner_node)
		if (agent->running)
			return false;
	return true;
}

static void ib_service_set_hushed(struct ib_service_instance *instance, bool hushed)
{
	struct ib_hca *hca = instance->device->hca;

	spin_lock_irq(&hca->lock);
	instance->attachment->hushed = hushed;
	spin_unlock_irq(&hca->lock);
}

/* It cannot be stopped under those who are inside: its memory and its module stay for ever. */
static void ib_service_leave(struct ib_service_instance *instance)
{
	struct ib_device *device = instance->device;
	bool pinned = try_module_get(instance->service->owner);
	bool silent;

	mutex_lock(&ib_registry.lock);
	instance->service->instances -= pinned;
	wake_up_all(&ib_registry.wait);
	mutex_unlock(&ib_registry.lock);
	spin_lock_irq(&device->hca->lock);
	silent = ib_service_is_silent(instance);
	spin_unlock_irq(&device->hca->lock);
	dev_err(device->hca->parent, "%s: service %s is left behind with %u inside%s%s%s\n",
		device->name, instance->service->name, instance->inside,
		list_empty(&instance->agents) ? "" : ", callbacks of its agents run",
		silent ? "" : ", callbacks into it run",
		pinned ? "" : ", and its module is leaving");
	ib_service_set_state(instance, IB_SERVICE_LEFT);
}

/*
 * Stopping it frees what callbacks into it use: none begins any more, and those that run end first.
 * Returns an error if one does not, and it cannot be stopped.
 */
static int ib_service_halt(struct ib_service_instance *instance, enum ib_until until)
{
	int err;

	ib_service_set_hushed(instance, true);
	err = ib_thread_wait(instance->device->hca, "a callback", until, ib_service_is_silent,
			     instance);
	if (err)
		return err;
	ib_service_stop_ports(instance);
	instance->service->ops->stop(instance);
	return 0;
}

/**
 * ib_service_start() - start an instance, for the first time or again
 * @instance: STARTING or FAILED
 *
 * A failure is logged; the instance stays in the list as FAILED.
 *
 * Context: the lifecycle thread.
 */
void ib_service_start(struct ib_service_instance *instance)
{
	const struct ib_service_ops *ops = instance->service->ops;
	struct ib_device *device = instance->device;
	int err;

	instance->tried_gen = READ_ONCE(ib_registry.gen);
	ib_service_set_hushed(instance, false);
	err = ops->start(instance);
	if (!err) {
		err = ib_service_start_ports(instance);
		if (err && ib_service_halt(instance, IB_UNTIL_QUARANTINE)) {
			ib_service_leave(instance);
			return;
		}
	}
	instance->error = err;
	if (err)
		dev_warn(device->hca->parent, "%s: service %s could not be started: %d\n",
			 device->name, instance->service->name, err);
	ib_service_set_state(instance, err ? IB_SERVICE_FAILED : IB_SERVICE_UP);
}

static bool ib_service_is_empty(void *arg)
{
	struct ib_service_instance *instance = arg;

	return !instance->inside && list_empty(&instance->agents);
}

/* Nobody is inside any more, and no callback of an agent runs: what of the service is left? */
static int ib_service_end(struct ib_service_instance *instance, enum ib_until until)
{
	int err;

	if (instance->state == IB_SERVICE_FAILED || instance->state == IB_SERVICE_STOPPED)
		return 0;
	err = ib_service_halt(instance, until);
	if (!err)
		ib_service_set_state(instance, IB_SERVICE_STOPPED);
	return err;
}

/* Refuse, end what the agents' owners forgot, and wait for those inside. */
static int ib_service_drain(struct ib_service_instance *instance, enum ib_until until)
{
	const struct ib_service_ops *ops = instance->service->ops;
	struct ib_hca *hca = instance->device->hca;

	if (instance->state == IB_SERVICE_UP) {
		ib_service_set_state(instance, IB_SERVICE_CLOSING);
		if (ops->close)
			ops->close(instance);
	}
	ib_lockmap_wait(&instance->map);
	return ib_agents_reap_service(instance, until) ?:
	       ib_thread_wait(hca, instance->service->name, until, ib_service_is_empty, instance);
}

/**
 * ib_service_stop() - close an instance, drain it, stop and free it
 * @instance: the instance; those that need it have stopped (or were left behind)
 * @until: when to give up: IB_UNTIL_QUARANTINE, or IB_UNTIL_GOAL if the device stays
 *
 * May be called again after -EINTR.
 *
 * Context: the lifecycle thread.
 * Return: 0: gone, or left behind; -EINTR; -ESHUTDOWN.
 */
int ib_service_stop(struct ib_service_instance *instance, enum ib_until until)
{
	int err = 0;

	if (instance->state == IB_SERVICE_LEFT)
		return 0;
	if (instance->state == IB_SERVICE_UP || instance->state == IB_SERVICE_CLOSING)
		err = ib_service_drain(instance, until);
	if (!err)
		err = ib_service_end(instance, until);
	if (!err)
		err = ib_service_free(instance);
	if (err == -ETIME)
		ib_service_leave(instance);
	return err == -ETIME ? 0 : err;
}

static struct ib_service_instance *ib_service_topmost(struct ib_device *device)
{
	struct ib_service_instance *instance;

	list_for_each_entry_reverse(instance, &device->services, node)
		if (instance->state != IB_SERVICE_LEFT)
			return instance;
	return NULL;
}

/**
 * ib_services_stop() - the drain barrier: stop every service of a device, from the top
 * @device: DRAINING
 *
 * Context: the lifecycle thread.
 * Return: 0 or -ESHUTDOWN.
 */
int ib_services_stop(struct ib_device *device)
{
	struct ib_service_instance *instance;
	int err = 0;

	while (!err && (instance = ib_service_topmost(device)))
		err = ib_service_stop(instance, IB_UNTIL_QUARANTINE);
	return err;
}

/**
 * ib_services_cancel() - tell every service of a device that the polite time is over
 * @device: the device
 *
 * Context: the lifecycle thread, inside a wait.
 */
void ib_services_cancel(struct ib_device *device)
{
	struct ib_service_instance *instance;

	list_for_each_entry_reverse(instance, &device->services, node)
		if (instance->service->ops->cancel &&
		    (instance->state == IB_SERVICE_UP || instance->state == IB_SERVICE_CLOSING))
			instance->service->ops->cancel(instance);
}

int ib_service_register(struct ib_service *service)
{
	struct ib_service *other;
	int err = 0;

	if (!service->name || !service->ops || !service->ops->start || !service->ops->stop)
		return -EINVAL;
	if (ib_service_depth(service) >= IB_SERVICE_DEPTH_MAX)
		return -ELOOP;
	ib_assert_may_wait();
	mutex_lock(&ib_registry.lock);
	list_for_each_entry(other, &ib_registry.services, node)
		if (other == service || !strcmp(other->name, service->name))
			err = -EEXIST;
	if (!err) {
		service->leaving = false;
		service->instances = 0;
		ib_graveyard_init(&service->graveyard);
		list_for_each_entry(other, &ib_registry.services, node)
			if (ib_service_before(service, other))
				break;
		list_add_tail(&service->node, &other->node);
		ib_registry_changed();
	}
	mutex_unlock(&ib_registry.lock);
	if (!err)
		ib_registry_attended();
	return err;
}
EXPORT_SYMBOL_GPL(ib_service_register);

struct ib_service_on_hca {
	struct ib_hca *hca;
	struct ib_service *service;
};

static bool ib_service_is_off_hca(void *arg)
{
	struct ib_service_on_hca *on = arg;

	return !on->hca->device || !ib_service_find(on->hca->device, on->service);
}

void ib_service_unregister(struct ib_service *service)
{
	struct ib_service_on_hca on = { .service = service };
	struct ib_hca *hca;

	ib_assert_may_wait();
	mutex_lock(&ib_registry.lock);
	service->leaving = true;
	ib_registry_changed();
	mutex_unlock(&ib_registry.lock);

	for (hca = ib_registry_next_hca(NULL); hca; hca = ib_registry_next_hca(hca)) {
		on.hca = hca;
		ib_flow_wait(hca, "a service's end", service->name, 0, ib_service_is_off_hca, &on);
	}
	/* An instance that was left behind while the module was leaving: not bounded, and named. */
	while (!wait_event_timeout(ib_registry.wait, !READ_ONCE(service->instances), 10 * HZ))
		pr_warn("ib_core: service %s still has %u instances, its module cannot go\n",
			service->name, service->instances);
	mutex_lock(&ib_registry.lock);
	list_del(&service->node);
	mutex_unlock(&ib_registry.lock);
	ib_graveyard_clear(&service->graveyard);
}
EXPORT_SYMBOL_GPL(ib_service_unregister);
