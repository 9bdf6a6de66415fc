// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events of a device, in order.
 *
 *   closed -> queueing -> open -> closed
 *
 * From the first step of registration events are queued; when the device is LIVE the queue is
 * opened and a work item delivers: refresh the caches, then call each subscriber. Before a client
 * is added nobody can have subscribed, so nothing is lost by waiting.
 *
 * Raising allocates nothing: the queue is a ring, and an event that finds it full is noted as one
 * bit for its type and port. All these events say "look again", so merging equal ones loses nothing
 * but their number; noted ones are delivered after what was queued before them.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "objects.h"

#define IB_EVENT_RING 128

/**
 * enum ib_event_phase - what happens to an event
 * @IB_EVENTS_CLOSED: it is forgotten
 * @IB_EVENTS_QUEUEING: it is kept
 * @IB_EVENTS_OPEN: it is delivered
 */
enum ib_event_phase {
	IB_EVENTS_CLOSED,
	IB_EVENTS_QUEUEING,
	IB_EVENTS_OPEN,
};

/**
 * struct ib_event_queue - the events of a device
 * @device: whose
 * @lock: protects all below; taken in interrupts; nests in the HCA's
 * @phase: see enum ib_event_phase
 * @head: where the next one is taken from
 * @count: how many wait in @ring
 * @ring: those that wait
 * @handlers: &ib_event_handler.device_node, oldest first
 * @work: delivers
 * @busy: @work is queued or runs; it keeps the memory of the device
 * @nmerged: bits in @merged
 * @merged: for each port, and the device at 0, the types that found @ring full
 */
struct ib_event_queue {
	struct ib_device *device;
	spinlock_t lock; /* protects what follows */
	enum ib_event_phase phase;
	unsigned int head;
	unsigned int count;
	struct ib_event ring[IB_EVENT_RING];
	struct list_head handlers;
	struct work_struct work;
	bool busy;
	unsigned int nmerged;
	u32 merged[U8_MAX + 1];
};

static const char *const ib_event_names[] = {
	[IB_EVENT_CQ_ERR] = "CQ error",
	[IB_EVENT_QP_FATAL] = "QP fatal error",
	[IB_EVENT_QP_REQ_ERR] = "QP request error",
	[IB_EVENT_QP_ACCESS_ERR] = "QP access error",
	[IB_EVENT_COMM_EST] = "communication established",
	[IB_EVENT_SQ_DRAINED] = "send queue drained",
	[IB_EVENT_PATH_MIG] = "path migrated",
	[IB_EVENT_PATH_MIG_ERR] = "path migration failed",
	[IB_EVENT_DEVICE_FATAL] = "device fatal error",
	[IB_EVENT_PORT_ACTIVE] = "port active",
	[IB_EVENT_PORT_ERR] = "port error",
	[IB_EVENT_LID_CHANGE] = "LID change",
	[IB_EVENT_PKEY_CHANGE] = "P_Key change",
	[IB_EVENT_SM_CHANGE] = "SM change",
	[IB_EVENT_SRQ_ERR] = "SRQ error",
	[IB_EVENT_SRQ_LIMIT_REACHED] = "SRQ limit reached",
	[IB_EVENT_QP_LAST_WQE_REACHED] = "last WQE reached",
	[IB_EVENT_CLIENT_REREGISTER] = "client reregistration",
	[IB_EVENT_GID_CHANGE] = "GID change",
};

const char *ib_event_name(enum ib_event_type type)
{
	return type < ARRAY_SIZE(ib_event_names) ? ib_event_names[type] : "unknown";
}
EXPORT_SYMBOL_GPL(ib_event_name);

/* With the lock held: the next event, or false. */
static bool ib_event_take(struct ib_event_queue *queue, struct ib_event *event)
{
	unsigned int port;

	if (queue->count) {
		*event = queue->ring[queue->head];
		queue->head = (queue->head + 1) % IB_EVENT_RING;
		queue->count--;
		return true;
	}
	if (!queue->nmerged)
		return false;
	for (port = 0; !queue->merged[port]; port++)
		;
	event->port = port;
	event->type = __ffs(queue->merged[port]);
	queue->merged[port] &= ~BIT(event->type);
	queue->nmerged--;
	return true;
}

static void ib_event_keep(struct ib_event_queue *queue, const struct ib_event *event)
{
	unsigned int tail = (queue->head + queue->count) % IB_EVENT_RING;
	u32 bit = BIT(event->type);

	/* Once something is merged everything later is, so that the order holds between the two. */
	if (queue->nmerged || queue->count == IB_EVENT_RING) {
		queue->nmerged += !(queue->merged[event->port] & bit);
		queue->merged[event->port] |= bit;
		return;
	}
	queue->ring[tail] = *event;
	queue->count++;
}

static bool ib_event_is_of_port(enum ib_event_type type)
{
	switch (type) {
	case IB_EVENT_DEVICE_FATAL:
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
	case IB_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

/* With the lock held: let the work item look. */
static void ib_event_schedule(struct ib_event_queue *queue)
{
	if (queue->phase != IB_EVENTS_OPEN || queue->busy)
		return;
	queue->busy = true;
	get_device(&queue->device->dev);
	queue_work(queue->device->wq, &queue->work);
}

void ib_event_raise(struct ib_device *device, enum ib_event_type type, u8 port)
{
	struct ib_event event = { .type = type, .port = port };
	struct ib_event_queue *queue = device->events;
	unsigned long flags;

	if (!queue || !ib_event_is_of_port(type) || port > device->phys_port_cnt)
		return;
	spin_lock_irqsave(&queue->lock, flags);
	if (queue->phase != IB_EVENTS_CLOSED)
		ib_event_keep(queue, &event);
	ib_event_schedule(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_event_raise);

/*
 * The subscriber after @last (NULL: the first) that may be called; its callback has begun. @last
 * has not ended its own yet, so it is still in the list.
 */
static struct ib_event_handler *ib_event_next(struct ib_event_queue *queue,
					      struct ib_event_handler *last)
{
	struct list_head *at = last ? &last->device_node : &queue->handlers;
	struct ib_event_handler *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	for (at = at->next; at != &queue->handlers && !found; at = at->next) {
		found = list_entry(at, struct ib_event_handler, device_node);
		if (!ib_object_begin_callback(&found->object))
			found = NULL;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return found;
}

static void ib_event_deliver(struct ib_event_queue *queue, const struct ib_event *event)
{
	struct ib_event_handler *handler, *last = NULL;

	ib_cache_refresh(queue->device, event);
	while ((handler = ib_event_next(queue, last))) {
		if (last)
			ib_object_end_callback(&last->object);
		handler->fn(handler, event);
		last = handler;
	}
	if (last)
		ib_object_end_callback(&last->object);
}

static void ib_event_work(struct work_struct *work)
{
	struct ib_event_queue *queue = container_of(work, struct ib_event_queue, work);
	struct ib_device *device = queue->device;
	struct ib_event event;
	bool more;

	do {
		spin_lock_irq(&queue->lock);
		more = queue->phase == IB_EVENTS_OPEN && ib_event_take(queue, &event);
		if (!more)
			queue->busy = false;
		spin_unlock_irq(&queue->lock);
		if (more)
			ib_event_deliver(queue, &event);
	} while (more);
	ib_hca_wake(device->hca);
	put_device(&device->dev);
}

/** ib_event_queue_alloc() - memory for the events of a device; closed */
int ib_event_queue_alloc(struct ib_device *device)
{
	struct ib_event_queue *queue;

	queue = kzalloc(sizeof(*queue), GFP_KERNEL);
	if (!queue)
		return -ENOMEM;
	queue->device = device;
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->handlers);
	INIT_WORK(&queue->work, ib_event_work);
	device->events = queue;
	return 0;
}

/** ib_event_queue_free() - its mirror; the memory of the device goes, so nothing runs */
void ib_event_queue_free(struct ib_device *device)
{
	kfree(device->events);
	device->events = NULL;
}

/** ib_event_queue_open() - keep events from now on */
void ib_event_queue_open(struct ib_device *device)
{
	struct ib_event_queue *queue = device->events;

	spin_lock_irq(&queue->lock);
	queue->phase = IB_EVENTS_QUEUEING;
	spin_unlock_irq(&queue->lock);
}

void ib_events_ready(struct ib_device *device)
{
	struct ib_event_queue *queue = device->events;

	spin_lock_irq(&queue->lock);
	queue->phase = IB_EVENTS_OPEN;
	ib_event_schedule(queue);
	spin_unlock_irq(&queue->lock);
}

static bool ib_event_is_idle(void *arg)
{
	return !READ_ONCE(((struct ib_event_queue *)arg)->busy);
}

void ib_events_stop(struct ib_device *device)
{
	struct ib_event_queue *queue = device->events;

	if (!queue)
		return;
	spin_lock_irq(&queue->lock);
	queue->phase = IB_EVENTS_CLOSED;
	queue->count = 0;
	queue->nmerged = 0;
	memset(queue->merged, 0, sizeof(queue->merged));
	spin_unlock_irq(&queue->lock);
	/* A subscriber that never returns belongs to a client that was left behind: so is it. */
	ib_thread_wait(device->hca, "event handlers", IB_UNTIL_QUARANTINE, ib_event_is_idle, queue);
}

static struct ib_event_handler *ib_event_handler_of(struct ib_object *object)
{
	return container_of(object, struct ib_event_handler, object);
}

/* Disarmed, and no callback runs: so the delivery does not stand on it. */
static void ib_event_unlink(struct ib_object *object)
{
	struct ib_event_queue *queue = ib_object_device(object)->events;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_del_init(&ib_event_handler_of(object)->device_node);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static void ib_event_describe(const struct ib_object *object, char *text, size_t size)
{
	scnprintf(text, size, "%ps", container_of(object, struct ib_event_handler, object)->fn);
}

static const struct ib_object_class ib_event_handler_class = {
	.name = "event subscription",
	.type = IB_OBJECT_HANDLER,
	.disarm = ib_event_unlink,
	.describe = ib_event_describe,
};

struct ib_event_handler *ib_event_subscribe(struct ib_attachment *attachment, ib_event_fn fn,
					    void *context)
{
	struct ib_event_queue *queue = attachment->device->events;
	struct ib_event_handler *handler;
	struct ib_object *object;
	int err;

	object = ib_object_new(attachment, &ib_event_handler_class, GFP_KERNEL);
	if (IS_ERR(object))
		return ERR_CAST(object);
	handler = ib_event_handler_of(object);
	handler->fn = fn;
	handler->context = context;
	INIT_LIST_HEAD(&handler->device_node);
	err = ib_object_begin(object, GFP_KERNEL);
	if (err)
		return ERR_PTR(err);
	/* Linked before anybody can destroy it. */
	spin_lock_irq(&queue->lock);
	list_add_tail(&handler->device_node, &queue->handlers);
	spin_unlock_irq(&queue->lock);
	err = ib_object_finish(object, 0);
	return err ? ERR_PTR(err) : handler;
}
EXPORT_SYMBOL_GPL(ib_event_subscribe);

void ib_event_unsubscribe(struct ib_event_handler *handler)
{
	ib_object_destroy(&handler->object);
}
EXPORT_SYMBOL_GPL(ib_event_unsubscribe);
