// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: a client on a device.
 *
 * All code of a client runs on the one work item of its attachment.  Whoever wants something of it
 * (add, closing, remove) sets a flag under the HCA's lock and queues the item; the item looks at
 * the flags and does what is due.  A work item does not run twice at once, so add_one and
 * remove_one cannot overlap or repeat, however many flows ask, and they all wait for the same state
 * REMOVED.
 *
 * After remove_one the item takes away what the client forgot: creating is refused, no callback
 * begins any more and the running ones have returned, each leftover is named and destroyed, and
 * only then the client's context is freed.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"
#include "trace.h"

#define IB_RETRY_FIRST_MS 1000
#define IB_RETRY_LAST_MS 60000

static void ib_attachment_work(struct work_struct *work);
static void ib_attachment_queue(struct ib_attachment *attachment);

static struct ib_attachment *ib_attachment_alloc(struct ib_device *device, const char *name)
{
	struct ib_attachment *attachment = kzalloc(sizeof(*attachment), GFP_KERNEL);

	if (!attachment)
		return NULL;
	attachment->device = device;
	strscpy(attachment->name, name, sizeof(attachment->name));
	kref_init(&attachment->ref);
	INIT_LIST_HEAD(&attachment->objects);
	INIT_LIST_HEAD(&attachment->agents);
	INIT_LIST_HEAD(&attachment->device_node);
	INIT_LIST_HEAD(&attachment->client_node);
	INIT_WORK(&attachment->work, ib_attachment_work);
	get_device(&device->dev);
	return attachment;
}

static void ib_attachment_free(struct kref *ref)
{
	struct ib_attachment *attachment = container_of(ref, struct ib_attachment, ref);

	put_device(&attachment->device->dev);
	kfree(attachment);
}

void ib_attachment_get(struct ib_attachment *attachment)
{
	kref_get(&attachment->ref);
}
EXPORT_SYMBOL_GPL(ib_attachment_get);

void ib_attachment_put(struct ib_attachment *attachment)
{
	kref_put(&attachment->ref, ib_attachment_free);
}
EXPORT_SYMBOL_GPL(ib_attachment_put);

bool ib_attachment_is_open(const struct ib_attachment *attachment)
{
	lockdep_assert_held(&attachment->device->hca->lock);
	return !attachment->closed;
}
EXPORT_SYMBOL_GPL(ib_attachment_is_open);

/**
 * ib_attachment_create() - offer a device to a client
 * @device: the device
 * @client: the client; not leaving
 *
 * Queues its add_one.
 *
 * Context: the lifecycle thread, with the registry's lock held.
 * Return: the attachment (which belongs to its item) or NULL.
 */
struct ib_attachment *ib_attachment_create(struct ib_device *device, struct ib_client *client)
{
	struct ib_attachment *attachment = ib_attachment_alloc(device, client->name);

	if (!attachment)
		return NULL;
	attachment->client = client;
	ib_holder_take(device, &attachment->holder, attachment->name);
	list_add_tail(&attachment->client_node, &client->attachments);
	spin_lock_irq(&device->hca->lock);
	list_add_tail(&attachment->device_node, &device->attachments);
	spin_unlock_irq(&device->hca->lock);
	ib_attachment_queue(attachment);
	return attachment;
}

/**
 * ib_attachment_of_service() - the attachment through which a service instance creates things
 * @device: the device
 * @service: the service
 *
 * Return: the attachment or NULL.
 */
struct ib_attachment *ib_attachment_of_service(struct ib_device *device,
					       struct ib_service *service)
{
	struct ib_attachment *attachment = ib_attachment_alloc(device, service->name);

	if (!attachment)
		return NULL;
	attachment->service = service;
	attachment->state = IB_ATTACHMENT_ATTACHED;
	ib_holder_take(device, &attachment->holder, attachment->name);
	return attachment;
}

static void ib_attachment_doing(struct ib_attachment *attachment, const char *what)
{
	spin_lock_irq(&attachment->device->hca->lock);
	attachment->doing = what;
	attachment->doing_since = ib_hca_now(attachment->device->hca);
	spin_unlock_irq(&attachment->device->hca->lock);
}

static void ib_attachment_set_state(struct ib_attachment *attachment,
				    enum ib_attachment_state state)
{
	struct ib_hca *hca = attachment->device->hca;

	spin_lock_irq(&hca->lock);
	attachment->state = state;
	attachment->doing = NULL;
	wake_up_all(&hca->wait);
	spin_unlock_irq(&hca->lock);
}

/*
 * Nothing is created through it from now on, and nothing that was is left when this returns 0.
 * Only the thread may give up.
 */
static int ib_attachment_reap(struct ib_attachment *attachment)
{
	struct ib_device *device = attachment->device;
	unsigned int count;
	int err;

	spin_lock_irq(&device->hca->lock);
	attachment->closed = true;
	spin_unlock_irq(&device->hca->lock);
	ib_objects_disarm(attachment);
	err = ib_agents_reap_owner(attachment);
	if (err)
		return err;
	count = ib_objects_reap(attachment);
	if (count)
		trace_ib_teardown_reap(device, attachment->name, count);
	return 0;
}

/* 1, 2, 4 ... 60 seconds, as long as the device is there: what was missing may turn up. */
static void ib_attachment_failed(struct ib_attachment *attachment, int err)
{
	struct ib_device *device = attachment->device;
	struct ib_hca *hca = device->hca;

	dev_warn(hca->parent, "%s: %s could not be added: %d\n", device->name,
		 attachment->name, err);
	ib_attachment_reap(attachment);
	spin_lock_irq(&hca->lock);
	attachment->context = NULL;
	attachment->error = err;
	attachment->retry_at = ib_hca_now(hca) +
		min_t(u64, IB_RETRY_FIRST_MS << min(attachment->tries, 10u), IB_RETRY_LAST_MS);
	attachment->tries++;
	hca->roster_dirty = true;
	spin_unlock_irq(&hca->lock);
	ib_attachment_set_state(attachment, IB_ATTACHMENT_FAILED);
}

static void ib_attachment_add(struct ib_attachment *attachment)
{
	struct ib_client *client = attachment->client;
	int err;

	ib_attachment_doing(attachment, "add_one");
	trace_ib_teardown_add_begin(attachment->device, client->name, 0);
	lock_map_acquire(&client->map);
	err = client->add_one(attachment);
	lock_map_release(&client->map);
	trace_ib_teardown_add_end(attachment->device, client->name, err);
	if (err)
		ib_attachment_failed(attachment, err);
	else
		ib_attachment_set_state(attachment, IB_ATTACHMENT_ATTACHED);
}

static void ib_attachment_closing(struct ib_attachment *attachment)
{
	struct ib_client *client = attachment->client;

	if (client->closing) {
		ib_attachment_doing(attachment, "closing");
		lock_map_acquire(&client->map);
		client->closing(attachment);
		lock_map_release(&client->map);
	}
	ib_attachment_set_state(attachment, IB_ATTACHMENT_CLOSED);
}

static void ib_attachment_remove(struct ib_attachment *attachment)
{
	struct ib_client *client = attachment->client;
	struct ib_device *device = attachment->device;

	ib_attachment_set_state(attachment, IB_ATTACHMENT_REMOVING);
	ib_attachment_doing(attachment, "remove_one");
	trace_ib_teardown_remove_begin(device, client->name, attachment->reason);
	lock_map_acquire(&client->map);
	client->remove_one(attachment, attachment->reason);
	lock_map_release(&client->map);
	ib_attachment_doing(attachment, "reaping");
	ib_attachment_reap(attachment);
	if (client->free && attachment->context) {
		ib_attachment_doing(attachment, "free");
		lock_map_acquire(&client->map);
		client->free(attachment->context);
		lock_map_release(&client->map);
	}
	attachment->context = NULL;
	trace_ib_teardown_remove_end(device, client->name, attachment->reason);
}

/*
 * The end: once the state REMOVED can be seen nothing of the client runs and nothing carries its
 * name, so its module may go; the reference ends in the same moment.
 */
static void ib_attachment_end(struct ib_attachment *attachment)
{
	struct ib_device *device = attachment->device;
	struct ib_hca *hca = device->hca;
	struct module *pinned;

	mutex_lock(&ib_registry.lock);
	if (attachment->abandoned)
		dev_warn(hca->parent, "%s: %s has returned at last\n", device->name,
			 attachment->name);
	spin_lock_irq(&hca->lock);
	pinned = attachment->pinned;
	if (attachment->abandoned)
		attachment->client->stuck--;
	list_del_init(&attachment->client_node);
	list_del_init(&attachment->device_node);
	attachment->state = IB_ATTACHMENT_REMOVED;
	attachment->doing = NULL;
	hca->roster_dirty = true;
	ib_holder_drop(&attachment->holder);
	ib_hca_stir(hca);
	spin_unlock_irq(&hca->lock);
	if (attachment->abandoned)
		ib_registry_changed();
	mutex_unlock(&ib_registry.lock);
	module_put(pinned);
	ib_attachment_put(attachment);
}

/* Do what is due; returns whether to look again. */
static bool ib_attachment_turn(struct ib_attachment *attachment)
{
	struct ib_hca *hca = attachment->device->hca;
	enum ib_attachment_state state;
	bool remove, close;

	spin_lock_irq(&hca->lock);
	state = attachment->state;
	remove = attachment->want_remove;
	close = attachment->want_closing || remove;
	spin_unlock_irq(&hca->lock);

	switch (state) {
	case IB_ATTACHMENT_ADDING:
		if (!close)
			ib_attachment_add(attachment);
		else if (remove)
			ib_attachment_end(attachment);
		return !close;
	case IB_ATTACHMENT_ATTACHED:
		if (close)
			ib_attachment_closing(attachment);
		return close;
	case IB_ATTACHMENT_CLOSED:
		if (!remove)
			return false;
		ib_attachment_remove(attachment);
		ib_attachment_end(attachment);
		return false;
	case IB_ATTACHMENT_FAILED:
		if (remove)
			ib_attachment_end(attachment);
		return false;
	case IB_ATTACHMENT_REMOVING:
	case IB_ATTACHMENT_REMOVED:
		break;
	}
	return false;
}

static void ib_attachment_work(struct work_struct *work)
{
	struct ib_attachment *attachment = container_of(work, struct ib_attachment, work);

	while (ib_attachment_turn(attachment))
		cond_resched();
	ib_attachment_put(attachment);
}

/*
 * Queue the item.  It may be running at this moment, and about to end: then it runs once more,
 * finds nothing to do, and must find its memory, so being queued is a reference.
 */
static void ib_attachment_queue(struct ib_attachment *attachment)
{
	ib_attachment_get(attachment);
	if (!queue_work(attachment->device->wq, &attachment->work))
		ib_attachment_put(attachment);
}

/**
 * ib_attachment_retry() - call a failed add_one again
 * @attachment: in state FAILED
 *
 * Context: the lifecycle thread.
 */
void ib_attachment_retry(struct ib_attachment *attachment)
{
	struct ib_device *device = attachment->device;

	spin_lock_irq(&device->hca->lock);
	attachment->closed = false;
	attachment->state = IB_ATTACHMENT_ADDING;
	spin_unlock_irq(&device->hca->lock);
	ib_attachment_queue(attachment);
}

/**
 * ib_attachment_go() - ask an attachment to go; somebody else may have asked before
 * @attachment: the attachment; its HCA's lock is held
 * @reason: for remove_one; the first one counts
 *
 * Context: any that may take the HCA's lock; does not wait.
 */
void ib_attachment_go(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	lockdep_assert_held(&attachment->device->hca->lock);
	if (!attachment->want_remove)
		attachment->reason = reason;
	attachment->want_remove = true;
	if (attachment->state < IB_ATTACHMENT_REMOVING)
		ib_attachment_queue(attachment);
}

/**
 * ib_attachment_is_removed() - has it gone?
 * @attachment: struct ib_attachment *, its memory kept; the HCA's lock is held
 *
 * Return: yes, if so.
 */
bool ib_attachment_is_removed(void *attachment)
{
	return ((struct ib_attachment *)attachment)->state == IB_ATTACHMENT_REMOVED;
}

/**
 * ib_attachment_close_service() - give back the attachment of a service instance
 * @attachment: from ib_attachment_of_service(); the instance has stopped
 *
 * Context: the lifecycle thread.
 * Return: 0, and it is gone; -ETIME, -ESHUTDOWN: a callback into the service still runs.
 */
int ib_attachment_close_service(struct ib_attachment *attachment)
{
	int err = ib_attachment_reap(attachment);

	if (err)
		return err;
	ib_attachment_set_state(attachment, IB_ATTACHMENT_REMOVED);
	ib_device_drop(&attachment->holder);
	ib_attachment_put(attachment);
	return 0;
}

static bool ib_attachments_none_in(struct ib_device *device, enum ib_attachment_state first,
				   enum ib_attachment_state last)
{
	struct ib_attachment *attachment;

	list_for_each_entry(attachment, &device->attachments, device_node)
		if (attachment->state >= first && attachment->state <= last)
			return false;
	return true;
}

/**
 * ib_attachments_none_adding() - has every add_one of a device returned?
 * @device: struct ib_device *; its HCA's lock is held
 *
 * Return: yes, if so.
 */
bool ib_attachments_none_adding(void *device)
{
	return ib_attachments_none_in(device, IB_ATTACHMENT_ADDING, IB_ATTACHMENT_ADDING);
}

static bool ib_attachments_all_closed(void *device)
{
	return ib_attachments_none_in(device, IB_ATTACHMENT_ATTACHED, IB_ATTACHMENT_ATTACHED);
}

static bool ib_attachments_all_removed(void *device)
{
	return list_empty(&((struct ib_device *)device)->attachments);
}

/**
 * ib_attachments_close() - call closing() of every client of a device
 * @device: the device
 *
 * One that does not return is waited for until the polite time is over.
 *
 * Context: the lifecycle thread.
 * Return: 0 or -ESHUTDOWN.
 */
int ib_attachments_close(struct ib_device *device)
{
	struct ib_hca *hca = device->hca;
	struct ib_attachment *attachment;
	int err;

	spin_lock_irq(&hca->lock);
	list_for_each_entry(attachment, &device->attachments, device_node) {
		attachment->want_closing = true;
		if (attachment->state < IB_ATTACHMENT_REMOVING)
			ib_attachment_queue(attachment);
	}
	spin_unlock_irq(&hca->lock);
	err = ib_thread_wait(hca, "closing of the clients", IB_UNTIL_POLITE,
			     ib_attachments_all_closed, device);
	return err == -ETIME ? 0 : err;
}

/* Ask one that has not been asked yet, the newest first, to go; its memory is kept. */
static struct ib_attachment *ib_attachments_ask(struct ib_device *device,
						enum ib_remove_reason reason)
{
	struct ib_attachment *attachment, *found = NULL;

	spin_lock_irq(&device->hca->lock);
	list_for_each_entry_reverse(attachment, &device->attachments, device_node) {
		if (attachment->asked)
			continue;
		attachment->asked = true;
		ib_attachment_get(attachment);
		ib_attachment_go(attachment, reason);
		found = attachment;
		break;
	}
	spin_unlock_irq(&device->hca->lock);
	return found;
}

/* Leave behind what has not returned: it keeps its module, its memory and a device reference. */
static void ib_attachments_abandon(struct ib_device *device)
{
	struct ib_hca *hca = device->hca;
	struct ib_attachment *attachment;

	mutex_lock(&ib_registry.lock);
	spin_lock_irq(&hca->lock);
	list_for_each_entry(attachment, &device->attachments, device_node) {
		attachment->closed = true;
		attachment->abandoned = true;
		attachment->client->stuck++;
		if (try_module_get(attachment->client->owner))
			attachment->pinned = attachment->client->owner;
		dev_err(hca->parent, "%s: %s has not returned from %s for %llu ms, left behind\n",
			device->name, attachment->name, attachment->doing ?: "its item",
			ib_hca_now(hca) - attachment->doing_since);
		trace_ib_teardown_escalate(hca, attachment->name, 0);
	}
	spin_unlock_irq(&hca->lock);
	mutex_unlock(&ib_registry.lock);
}

/**
 * ib_attachments_remove() - call remove_one of every client of a device
 * @device: the device
 *
 * One after the other while the polite time lasts; then all that are left at once.
 *
 * Context: the lifecycle thread.
 * Return: 0: all gone or left behind, or -ESHUTDOWN.
 */
int ib_attachments_remove(struct ib_device *device)
{
	enum ib_remove_reason reason = device->reason_reset ? IB_RESET : IB_REMOVED;
	struct ib_hca *hca = device->hca;
	struct ib_attachment *attachment;
	int err;

	while ((attachment = ib_attachments_ask(device, reason))) {
		err = ib_thread_wait(hca, attachment->name, IB_UNTIL_POLITE,
				     ib_attachment_is_removed, attachment);
		ib_attachment_put(attachment);
		if (err == -ESHUTDOWN)
			return err;
	}
	err = ib_thread_wait(hca, "clients to leave", IB_UNTIL_ABANDON, ib_attachments_all_removed,
			     device);
	if (err == -ETIME)
		ib_attachments_abandon(device);
	return err == -ESHUTDOWN ? err : 0;
}
