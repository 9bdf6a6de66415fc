// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bringing a device in line with the registry.
 *
 * Services and clients come and go while devices are there.  The lifecycle thread of each HCA
 * compares the registry with what its device has and does what is due: takes off what is leaving,
 * starts what can be started, offers the device to the clients that can have it.  Since nobody else
 * makes an attachment or an instance, a pair is never made twice.  A pass does not wait for
 * clients: one that goes or comes stirs the thread when it is done, and the next pass goes on from
 * there.
 */
#include "core.h"

/* Is this service leaving, or one of those below it? */
static bool ib_roster_must_go(struct ib_service *service)
{
	struct ib_service *const *need;

	if (READ_ONCE(service->leaving))
		return true;
	for (need = service->needs; need && *need; need++)
		if (ib_roster_must_go(*need))
			return true;
	return false;
}

static bool ib_roster_client_must_go(const struct ib_client *client)
{
	struct ib_service *const *need;

	for (need = client->needs; need && *need; need++)
		if (ib_roster_must_go(*need))
			return true;
	return false;
}

/* Ask the clients of leaving services to go.  Returns whether none of them is left. */
static bool ib_roster_dismiss(struct ib_device *device)
{
	struct ib_attachment *attachment, *next;
	struct ib_hca *hca = device->hca;
	bool none = true;

	mutex_lock(&ib_registry.lock);
	spin_lock_irq(&hca->lock);
	list_for_each_entry_safe(attachment, next, &device->attachments, device_node) {
		if (!ib_roster_client_must_go(attachment->client))
			continue;
		none = false;
		ib_attachment_go(attachment, IB_REMOVED);
	}
	spin_unlock_irq(&hca->lock);
	mutex_unlock(&ib_registry.lock);
	return none;
}

/* Take off the services that are leaving and those that need them, from the top. */
static int ib_roster_fence(struct ib_device *device)
{
	struct ib_service_instance *instance, *next;
	struct ib_hca *hca = device->hca;
	int err = 0;

	if (!ib_roster_dismiss(device))
		return 0;
	list_for_each_entry_safe_reverse(instance, next, &device->services, node) {
		if (!ib_roster_must_go(instance->service))
			continue;
		ib_teardown_begin(hca, IB_TIMED_SERVICE);
		err = ib_service_stop(instance, IB_UNTIL_GOAL);
		ib_teardown_end(hca);
		if (err)
			break;
	}
	return err;
}

/* The next service to start: not there, or failed before the registry changed to @gen. */
static struct ib_service_instance *ib_roster_startable(struct ib_device *device,
						       unsigned long gen)
{
	struct ib_service_instance *instance = NULL;
	struct ib_service *service;

	mutex_lock(&ib_registry.lock);
	list_for_each_entry(service, &ib_registry.services, node) {
		if (ib_roster_must_go(service) || !ib_services_up(device, service->needs))
			continue;
		instance = ib_service_find(device, service);
		if (!instance)
			instance = ib_service_create(device, service);
		else if (instance->state != IB_SERVICE_FAILED ||
			 (long)(instance->tried_gen - gen) >= 0)
			instance = NULL;
		if (instance)
			break;
	}
	mutex_unlock(&ib_registry.lock);
	return instance;
}

/* A pair has at most one attachment at a time; with the registry's lock held. */
static struct ib_attachment *ib_roster_pair(struct ib_device *device, struct ib_client *client)
{
	struct ib_attachment *attachment;

	list_for_each_entry(attachment, &client->attachments, client_node)
		if (attachment->device == device)
			return attachment;
	return NULL;
}

static bool ib_roster_retry_due(struct ib_attachment *attachment)
{
	struct ib_hca *hca = attachment->device->hca;
	bool due;

	spin_lock_irq(&hca->lock);
	due = attachment->state == IB_ATTACHMENT_FAILED && !attachment->want_remove &&
	      ib_hca_now(hca) >= attachment->retry_at;
	spin_unlock_irq(&hca->lock);
	return due;
}

static bool ib_roster_is_for(struct ib_device *device, struct ib_client *client)
{
	return !device->ops->offer || device->ops->offer(device, client);
}

static void ib_roster_offer(struct ib_device *device)
{
	struct ib_attachment *attachment;
	struct ib_client *client;

	mutex_lock(&ib_registry.lock);
	list_for_each_entry(client, &ib_registry.clients, node) {
		if (client->leaving || client->stuck || ib_roster_client_must_go(client) ||
		    !ib_services_up(device, client->needs) || !ib_roster_is_for(device, client))
			continue;
		attachment = ib_roster_pair(device, client);
		if (attachment) {
			if (ib_roster_retry_due(attachment))
				ib_attachment_retry(attachment);
			continue;
		}
		if (!ib_attachment_create(device, client))
			dev_err(device->hca->parent, "%s: no memory to add %s\n", device->name,
				client->name);
	}
	mutex_unlock(&ib_registry.lock);
}

/* When the first failed client is to be tried again; 0 for never. */
static u64 ib_roster_retry_at(struct ib_device *device)
{
	struct ib_attachment *attachment;
	u64 first = 0;

	list_for_each_entry(attachment, &device->attachments, device_node)
		if (attachment->state == IB_ATTACHMENT_FAILED &&
		    (!first || attachment->retry_at < first))
			first = attachment->retry_at;
	return first;
}

static bool ib_roster_may_grow(const struct ib_hca *hca)
{
	return !ib_life_disturbed(hca) && !READ_ONCE(hca->shutdown);
}

/**
 * ib_roster_update() - one pass
 * @device: REGISTERING or LIVE
 *
 * Context: the lifecycle thread.
 */
void ib_roster_update(struct ib_device *device)
{
	unsigned long gen = READ_ONCE(ib_registry.gen);
	struct ib_service_instance *instance;
	struct ib_hca *hca = device->hca;

	spin_lock_irq(&hca->lock);
	hca->roster_dirty = false;
	spin_unlock_irq(&hca->lock);

	if (ib_roster_fence(device))
		return;
	while (ib_roster_may_grow(hca) && (instance = ib_roster_startable(device, gen)))
		ib_service_start(instance);
	if (ib_roster_may_grow(hca))
		ib_roster_offer(device);

	spin_lock_irq(&hca->lock);
	hca->seen_gen = gen;
	hca->retry_at = ib_roster_retry_at(device);
	wake_up_all(&hca->wait);
	spin_unlock_irq(&hca->lock);
}
