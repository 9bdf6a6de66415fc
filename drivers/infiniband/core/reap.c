// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of objects: what every one goes through, what is done for owners who forgot, and what
 * happens to memory that the hardware has not provably forgotten.
 *
 * Such an object is a zombie: its owner is rid of it, its tables know it no more, but the memory
 * whose address the hardware has stays until the HCA is proven quiet.  If that never happens it
 * stays for ever, is counted, and said so in the log.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "objects.h"

static bool ib_object_is_unused(void *object)
{
	return !((struct ib_object *)object)->users;
}

/** ib_object_is_tombstone() - has the reaper finished with it?  With the HCA's lock held */
bool ib_object_is_tombstone(void *object)
{
	return ((struct ib_object *)object)->state == IB_OBJECT_TOMBSTONE;
}

/* Step one: take it from the hardware.  Is it proven that the hardware has forgotten it? */
static bool ib_object_take(struct ib_object *object)
{
	struct ib_device *device = ib_object_device(object);
	int err;

	err = ib_device_enter(device);
	if (err)
		return false;
	if (object->class->destroy)
		err = object->class->destroy(ib_verbs_of(device), object);
	ib_device_exit(device);
	if (err && !ib_hca_is_gone(device->hca)) {
		struct ib_object_label label;

		dev_err(device->hca->parent,
			"%s of %s is not given back by the hardware (%d): its memory is kept\n",
			ib_object_label(object, &label), object->attachment->name, err);
	}
	return !err;
}

/* Step three, for an object of which the hardware knows nothing any more. */
static void ib_object_release(struct ib_object *object)
{
	struct ib_device *device = ib_object_device(object);

	if (!object->class->release || ib_gate_enter(&device->objects->soft))
		return;
	object->class->release(ib_verbs_of(device), object);
	ib_gate_exit(&device->objects->soft);
}

/* Under the HCA's lock.  Is the memory the hardware knew of to be kept for now? */
static bool ib_object_bite(struct ib_object *object)
{
	struct ib_device *device = ib_object_device(object);
	struct ib_objects *objects = device->objects;

	if (objects->dead || (objects->flushed && READ_ONCE(device->hca->quiet)))
		return false;
	kref_get(&object->memory);
	list_add_tail(&object->zombie_node, &objects->zombies);
	return true;
}

/**
 * ib_object_end() - end an object
 * @object: claimed: state DYING, no users
 *
 * The owner's callbacks first, then readers, then the hardware, then its tables, then memory.
 * Unlinking and freeing the object itself is left to the caller.
 *
 * Return: 0; -ESHUTDOWN: nothing was done and nothing is to be freed.
 */
int ib_object_end(struct ib_object *object)
{
	struct ib_device *device = ib_object_device(object);
	struct ib_hca *hca = device->hca;
	unsigned long flags;
	bool taken, kept = false;
	int err;

	err = ib_object_fence(object);
	if (err)
		return err;
	taken = object->class->destroy ? ib_object_take(object) : true;
	if (object->class->detach && !ib_gate_enter(&device->objects->soft)) {
		object->class->detach(ib_verbs_of(device), object);
		ib_gate_exit(&device->objects->soft);
	}
	object->forgotten = true;
	if (!taken) {
		spin_lock_irqsave(&hca->lock, flags);
		kept = ib_object_bite(object);
		spin_unlock_irqrestore(&hca->lock, flags);
	}
	if (!kept)
		ib_object_release(object);
	return 0;
}

/* Claim every live object of an attachment; gives their number. */
static unsigned int ib_reap_claim(struct ib_attachment *attachment, struct list_head *mine)
{
	struct ib_objects *objects = attachment->device->objects;
	struct ib_hca *hca = attachment->device->hca;
	struct ib_object *object, *next;
	unsigned int n = 0;

	spin_lock_irq(&hca->lock);
	list_for_each_entry_safe(object, next, &attachment->objects, node) {
		if (object->state != IB_OBJECT_LIVE)
			continue;
		WRITE_ONCE(object->state, IB_OBJECT_DYING);
		objects->count[object->class->type]--;
		list_move_tail(&object->node, mine);
		n++;
	}
	spin_unlock_irq(&hca->lock);
	return n;
}

static void ib_reap_to_graveyard(struct ib_object *object)
{
	struct ib_attachment *owner = object->attachment;
	struct ib_graveyard *graveyard = owner->client ? &owner->client->graveyard :
							 &owner->service->graveyard;
	struct ib_hca *hca = ib_object_hca(object);
	unsigned long flags;
	bool orphan;

	spin_lock_irqsave(&hca->lock, flags);
	ib_object_retire(object);
	orphan = object->orphan;
	if (!orphan) {
		spin_lock(&graveyard->lock);
		list_add_tail(&object->node, &graveyard->objects);
		spin_unlock(&graveyard->lock);
		WRITE_ONCE(object->state, IB_OBJECT_TOMBSTONE);
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (orphan)
		ib_object_put(object);
}

static int ib_reap_one(struct ib_object *object)
{
	struct ib_object_label label;
	int err;

	dev_warn(ib_object_hca(object)->parent, "%s was left behind by %s, destroying it\n",
		 ib_object_label(object, &label), object->attachment->name);
	/* A child that its owner is destroying at this moment is ahead of us. */
	err = ib_object_wait(object, "children of an object", ib_object_is_unused, object);
	if (!err)
		err = ib_object_end(object);
	if (!err)
		ib_reap_to_graveyard(object);
	return err;
}

/* In the order that their references ask for. */
static int ib_reap_all(struct list_head *mine)
{
	struct ib_object *object, *next;
	int type, err = 0;

	for (type = 0; type < IB_OBJECT_TYPES; type++)
		list_for_each_entry_safe(object, next, mine, node)
			if (!err && object->class->type == type)
				err = ib_reap_one(object);
	return err;
}

static bool ib_reap_has_news(void *attachment)
{
	struct list_head *objects = &((struct ib_attachment *)attachment)->objects;
	struct ib_object *object;

	list_for_each_entry(object, objects, node)
		if (object->state == IB_OBJECT_LIVE)
			return true;
	return list_empty(objects);
}

static int ib_reap_wait(struct ib_attachment *attachment)
{
	struct ib_hca *hca = attachment->device->hca;
	const char *what = "objects being made or destroyed";

	if (current == hca->thread)
		return ib_thread_wait(hca, what, IB_UNTIL_NEVER, ib_reap_has_news, attachment);
	return ib_flow_wait(hca, what, attachment->name, 0, ib_reap_has_news, attachment);
}

unsigned int ib_objects_reap(struct ib_attachment *attachment)
{
	struct ib_hca *hca = attachment->device->hca;
	unsigned int n, total = 0;
	LIST_HEAD(mine);

	/* What other threads of the owner are creating or destroying ends by itself. */
	while (!ib_reap_wait(attachment)) {
		n = ib_reap_claim(attachment, &mine);
		if (!n)
			break;
		total += n;
		/* Posts and polls that found them live have ended. */
		synchronize_rcu();
		if (ib_reap_all(&mine)) {
			/* The machine goes down: they stay, DYING, where they were. */
			spin_lock_irq(&hca->lock);
			list_splice(&mine, &attachment->objects);
			spin_unlock_irq(&hca->lock);
			break;
		}
	}
	return total;
}

void ib_objects_disarm(struct ib_attachment *attachment)
{
	struct ib_hca *hca = attachment->device->hca;
	struct ib_object *object, *found;
	int err = 0;

	do {
		found = NULL;
		spin_lock_irq(&hca->lock);
		list_for_each_entry(object, &attachment->objects, node) {
			if (object->state != IB_OBJECT_LIVE || object->disarmed)
				continue;
			found = object;
			found->pins++;
			break;
		}
		spin_unlock_irq(&hca->lock);
		if (found) {
			err = ib_object_disarm(found);
			ib_object_unpin(found);
		}
	} while (found && !err);
}

/**
 * ib_objects_bury() - free tombstones whose owner will never come back
 * @graveyard: of a client or service that is unregistered
 */
void ib_objects_bury(struct ib_graveyard *graveyard)
{
	struct ib_object *object, *next;
	LIST_HEAD(dead);

	spin_lock_irq(&graveyard->lock);
	list_splice_init(&graveyard->objects, &dead);
	spin_unlock_irq(&graveyard->lock);
	list_for_each_entry_safe(object, next, &dead, node) {
		list_del_init(&object->node);
		ib_object_put(object);
	}
}

/* Every CQ looks once more: the provider has flushed without interrupts. */
static void ib_objects_kick(struct ib_device *device)
{
	struct ib_object *object;
	u32 id;

	for (id = 0; (object = ib_object_next(device, IB_OBJECT_CQ, &id)); id++) {
		ib_cq_kick(container_of(object, struct ib_cq, object));
		ib_object_unpin(object);
	}
	for (id = 0; (object = ib_object_next(device, IB_OBJECT_QP, &id)); id++) {
		ib_qp_last_wqe(container_of(object, struct ib_qp, object));
		ib_object_unpin(object);
	}
}

void ib_objects_flush(struct ib_device *device)
{
	struct ib_objects *objects = device->objects;
	struct ib_object *object, *next;
	LIST_HEAD(mine);

	if (!objects)
		return;
	spin_lock_irq(&device->hca->lock);
	objects->flushed = true;
	if (device->hca->quiet)
		list_splice_init(&objects->zombies, &mine);
	spin_unlock_irq(&device->hca->lock);
	list_for_each_entry_safe(object, next, &mine, zombie_node) {
		list_del_init(&object->zombie_node);
		ib_object_release(object);
		ib_object_put(object);
	}
	/* Pairs with the one in ib_qp_look_behind(). */
	smp_mb();
	ib_objects_kick(device);
	ib_hca_wake(device->hca);
}

/**
 * ib_verbs_close() - begin to count out who runs code of the provider for an object
 * @device: its hardware gate has just been closed, and no client is left to poll a CQ
 *
 * So that both gates drain within one grace period.  Context: the lifecycle thread.
 */
void ib_verbs_close(struct ib_device *device)
{
	if (device->objects)
		ib_gate_close(&device->objects->soft);
}

/**
 * ib_verbs_owed() - has the hardware kept something that nobody will ask it for any more?
 * @device: its clients and services have left, and their objects have ended
 *
 * A region with windows bound to it, say.  Its owner was told that it is gone and may have freed
 * what it covers.
 *
 * Return: yes, if so.
 */
bool ib_verbs_owed(struct ib_device *device)
{
	bool owed;

	if (!device->objects)
		return false;
	spin_lock_irq(&device->hca->lock);
	owed = !list_empty(&device->objects->zombies);
	spin_unlock_irq(&device->hca->lock);
	return owed;
}

/**
 * ib_verbs_quiesce() - no code of the provider runs for an object from now on
 * @device: its hardware gate is drained; its provider is about to stop
 *
 * What the hardware may still write to stays allocated for ever: said here, once.
 *
 * Context: the lifecycle thread.
 * Return: 0 or -ESHUTDOWN.
 */
int ib_verbs_quiesce(struct ib_device *device)
{
	struct ib_objects *objects = device->objects;
	struct ib_object *object, *next;
	struct ib_hca *hca = device->hca;
	char name[IB_DEVICE_NAME_MAX];
	unsigned int kept = 0;
	LIST_HEAD(mine);
	int err;

	if (!objects)
		return 0;
	ib_gate_close(&objects->soft);
	ib_gate_sync(&objects->soft);
	err = ib_thread_wait(hca, "the gate of its software", IB_UNTIL_NEVER, ib_gate_drained,
			     &objects->soft);
	if (err)
		return err;
	spin_lock_irq(&hca->lock);
	objects->dead = true;
	list_splice_init(&objects->zombies, &mine);
	spin_unlock_irq(&hca->lock);
	if (!list_empty(&mine))
		ib_quarantine_keep(device, &mine);
	list_for_each_entry_safe(object, next, &mine, zombie_node) {
		list_del_init(&object->zombie_node);
		kept += !!object->class->release;
		ib_object_put(object);
	}
	if (kept)
		dev_err(hca->parent, "%s: memory of %u objects is kept, the hardware may use it\n",
			ib_device_name(device, name), kept);
	return 0;
}
