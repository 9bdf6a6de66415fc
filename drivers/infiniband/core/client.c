// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients: coming and leaving.
 */
#include <linux/export.h>

#include "core.h"

/* Adding goes on without the caller after this. */
#define IB_REGISTER_MS 15000

/* The first attachment of a client for which @pick holds, its memory kept. */
static struct ib_attachment *ib_client_attachment(struct ib_client *client, ib_condition pick)
{
	struct ib_attachment *attachment, *found = NULL;
	struct ib_hca *hca;

	mutex_lock(&ib_registry.lock);
	list_for_each_entry(attachment, &client->attachments, client_node) {
		hca = attachment->device->hca;
		spin_lock_irq(&hca->lock);
		if (pick(attachment)) {
			ib_attachment_get(attachment);
			found = attachment;
		}
		spin_unlock_irq(&hca->lock);
		if (found)
			break;
	}
	mutex_unlock(&ib_registry.lock);
	return found;
}

static bool ib_client_is_adding(void *arg)
{
	struct ib_attachment *attachment = arg;

	return attachment->state == IB_ATTACHMENT_ADDING && !attachment->want_remove &&
	       !attachment->waited_for;
}

static bool ib_client_has_been_added(void *arg)
{
	struct ib_attachment *attachment = arg;

	return attachment->state != IB_ATTACHMENT_ADDING;
}

static bool ib_client_any(void *arg)
{
	return true;
}

int ib_client_register(struct ib_client *client)
{
	struct ib_attachment *attachment;
	struct ib_client *other;
	int err = 0;

	if (!client->name || !client->add_one || !client->remove_one)
		return -EINVAL;
	ib_assert_may_wait();
	mutex_lock(&ib_registry.lock);
	list_for_each_entry(other, &ib_registry.clients, node)
		if (other == client)
			err = -EEXIST;
	if (!err) {
		client->leaving = false;
		client->stuck = 0;
		INIT_LIST_HEAD(&client->attachments);
		ib_graveyard_init(&client->graveyard);
		ib_lockmap_init(&client->map, IB_LOCKMAP_CLIENT);
		list_add_tail(&client->node, &ib_registry.clients);
		ib_registry_changed();
	}
	mutex_unlock(&ib_registry.lock);
	if (err)
		return err;

	ib_registry_attended();
	while ((attachment = ib_client_attachment(client, ib_client_is_adding))) {
		ib_flow_wait(attachment->device->hca, "add_one", client->name, IB_REGISTER_MS,
			     ib_client_has_been_added, attachment);
		attachment->waited_for = true;
		ib_attachment_put(attachment);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(ib_client_register);

/* With the registry's lock held: nobody is asked twice, and everybody is asked before any wait. */
static void ib_client_dismiss(struct ib_client *client)
{
	struct ib_attachment *attachment, *next;
	struct ib_hca *hca;

	list_for_each_entry_safe(attachment, next, &client->attachments, client_node) {
		hca = attachment->device->hca;
		spin_lock_irq(&hca->lock);
		ib_attachment_go(attachment, IB_REMOVED);
		spin_unlock_irq(&hca->lock);
	}
}

void ib_client_unregister(struct ib_client *client)
{
	struct ib_attachment *attachment;

	ib_assert_may_wait();
	mutex_lock(&ib_registry.lock);
	client->leaving = true;
	ib_client_dismiss(client);
	mutex_unlock(&ib_registry.lock);

	while ((attachment = ib_client_attachment(client, ib_client_any))) {
		ib_flow_wait(attachment->device->hca, "remove_one", client->name, 0,
			     ib_attachment_is_removed, attachment);
		ib_attachment_put(attachment);
	}
	mutex_lock(&ib_registry.lock);
	list_del(&client->node);
	mutex_unlock(&ib_registry.lock);
	ib_graveyard_clear(&client->graveyard);
}
EXPORT_SYMBOL_GPL(ib_client_unregister);

/* The attachment after @after (NULL: the first) that add_one has succeeded on, its memory kept. */
static struct ib_attachment *ib_client_next(struct ib_client *client, unsigned int skip)
{
	struct ib_attachment *attachment, *found = NULL;

	mutex_lock(&ib_registry.lock);
	list_for_each_entry(attachment, &client->attachments, client_node) {
		if (READ_ONCE(attachment->state) != IB_ATTACHMENT_ATTACHED || skip--)
			continue;
		ib_attachment_get(attachment);
		found = attachment;
		break;
	}
	mutex_unlock(&ib_registry.lock);
	return found;
}

int ib_client_for_each(struct ib_client *client,
		       int (*fn)(struct ib_attachment *attachment, void *data), void *data)
{
	struct ib_attachment *attachment;
	unsigned int done = 0;
	int ret = 0;

	while (!ret && (attachment = ib_client_next(client, done++))) {
		ret = fn(attachment, data);
		ib_attachment_put(attachment);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(ib_client_for_each);
