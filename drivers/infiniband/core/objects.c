// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a verbs object: owner, parents, number, callbacks; how it is made and destroyed.
 *
 * Everything is under the HCA's lock but the data path, which looks at the state under RCU only.
 * That keeps the object for a call that has begun, whatever its owner does meanwhile, but not what
 * the provider releases: the provider closes the object first, under a lock that the call takes.
 * An owner that posts while it is reaped is fenced by the one grace period that the reaper waits
 * (reap.c).
 *
 * Waiting for callbacks costs no grace period: each object counts its own.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "objects.h"

/* What lockdep takes a callback of an owner for, in all objects alike. */
static struct lock_class_key ib_callback_key;
static struct lockdep_map ib_callback_map __maybe_unused;

/** ib_objects_init() - from ib_core's module init */
void ib_objects_init(void)
{
	lockdep_init_map(&ib_callback_map, "ib_object_callback", &ib_callback_key, 0);
}

bool ib_object_is_used(const struct ib_object *object)
{
	return READ_ONCE(object->users);
}
EXPORT_SYMBOL_GPL(ib_object_is_used);

/**
 * ib_object_new() - memory for an object, known to nobody
 * @attachment: the owner
 * @class: what it is
 * @gfp: how to allocate
 *
 * Return: the object, ERR_PTR(-ENOMEM) or ERR_PTR(-EOPNOTSUPP): the provider has no verbs.
 */
struct ib_object *ib_object_new(struct ib_attachment *attachment,
				const struct ib_object_class *class, gfp_t gfp)
{
	struct ib_device *device = attachment->device;
	struct ib_object *object;

	if (!device->ops->verbs)
		return ERR_PTR(-EOPNOTSUPP);
	object = kzalloc(device->objects->size[class->type], gfp);
	if (!object)
		return ERR_PTR(-ENOMEM);
	ib_attachment_get(attachment);
	object->attachment = attachment;
	object->class = class;
	object->state = IB_OBJECT_NEW;
	kref_init(&object->memory);
	INIT_LIST_HEAD(&object->node);
	INIT_LIST_HEAD(&object->zombie_node);
	return object;
}

/**
 * ib_object_parent() - say what an object refers to
 * @object: from ib_object_new()
 * @parent: NULL is left out
 */
void ib_object_parent(struct ib_object *object, struct ib_object *parent)
{
	unsigned int i = 0;

	if (!parent)
		return;
	while (i < IB_OBJECT_PARENTS - 1 && object->parents[i])
		i++;
	object->parents[i] = parent;
}

static void ib_object_free(struct kref *memory)
{
	struct ib_object *object = container_of(memory, struct ib_object, memory);
	struct ib_attachment *attachment = object->attachment;

	if (object->class->free)
		object->class->free(object);
	/* The end of a callback looks at it once more, see ib_object_end_callback(). */
	kfree_rcu(object, rcu);
	ib_attachment_put(attachment);
}

/** ib_object_put() - drop a reference to the memory of an object; any context */
void ib_object_put(struct ib_object *object)
{
	kref_put(&object->memory, ib_object_free);
}

/* Under the HCA's lock: only live parents, of the same owner. */
static int ib_object_count_parents(struct ib_object *object)
{
	unsigned int i;

	for (i = 0; i < IB_OBJECT_PARENTS && object->parents[i]; i++) {
		struct ib_object *parent = object->parents[i];

		if (parent->attachment != object->attachment)
			return -EINVAL;
		if (parent->state != IB_OBJECT_LIVE || parent->orphan)
			return -ENODEV;
	}
	while (i--)
		object->parents[i]->users++;
	return 0;
}

static int ib_object_link(struct ib_object *object)
{
	struct ib_attachment *attachment = object->attachment;
	struct ib_hca *hca = ib_object_hca(object);
	unsigned long flags;
	int err = -ENODEV;

	spin_lock_irqsave(&hca->lock, flags);
	if (ib_attachment_is_open(attachment))
		err = ib_object_count_parents(object);
	if (!err)
		list_add_tail(&object->node, &attachment->objects);
	spin_unlock_irqrestore(&hca->lock, flags);
	return err;
}

static void ib_object_number_release(struct ib_object *object)
{
	struct ib_objects *objects = ib_object_device(object)->objects;

	if (object->id)
		__xa_erase(&objects->ids[object->class->type], object->id);
}

/*
 * With the HCA's lock held: can anybody be waiting for what becomes of an object? Who reaps its
 * owner's leftovers is, and who ends a parent. Else nobody is woken: address handles come and go
 * with every MAD, and the lifecycle thread, which always waits, would have to look each time.
 */
static bool ib_object_is_awaited(const struct ib_object *object)
{
	unsigned int i;

	for (i = 0; i < IB_OBJECT_PARENTS && object->parents[i]; i++)
		if (object->parents[i]->state != IB_OBJECT_LIVE)
			return true;
	return !ib_attachment_is_open(object->attachment);
}

/**
 * ib_object_retire() - an object is out of everybody's reach: unlink it, let its parents go
 * @object: NEW or DYING; the HCA's lock is held
 *
 * Wakes whoever waits for it or for its parents.
 */
void ib_object_retire(struct ib_object *object)
{
	struct ib_objects *objects = ib_object_device(object)->objects;
	unsigned int i;

	list_del_init(&object->node);

	for (i = 0; i < IB_OBJECT_PARENTS && object->parents[i]; i++)
		object->parents[i]->users--;
	if (object->class->numbered) {
		xa_lock(&objects->ids[object->class->type]);
		ib_object_number_release(object);
		xa_unlock(&objects->ids[object->class->type]);
	}
	if (ib_object_is_awaited(object))
		wake_up_all(&ib_object_hca(object)->wait);
}

static void ib_object_abandon(struct ib_object *object)
{
	struct ib_hca *hca = ib_object_hca(object);
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	ib_object_retire(object);
	spin_unlock_irqrestore(&hca->lock, flags);
	ib_object_put(object);
}

/**
 * ib_object_begin() - first half of creating: link it, enter the gate
 * @object: from ib_object_new(), its parents set; freed on an error
 * @gfp: how to allocate
 *
 * Return: 0, and the caller owes ib_object_finish(); -ENODEV: owner closed, parent dying or device
 * stopped; -EINVAL: a parent of another owner; -EIO: gone; -ENOMEM.
 */
int ib_object_begin(struct ib_object *object, gfp_t gfp)
{
	struct ib_objects *objects = ib_object_device(object)->objects;
	enum ib_object_type type = object->class->type;
	int err = 0;

	if (object->class->numbered) {
		/* Reserved, not yet to be found. */
		err = xa_alloc_cyclic_irq(&objects->ids[type], &object->id, NULL, xa_limit_31b,
					  &objects->next[type], gfp);
		if (err < 0) {
			object->id = 0;
			ib_object_put(object);
			return err;
		}
	}
	err = ib_object_link(object);
	if (err) {
		if (object->id)
			xa_erase_irq(&objects->ids[type], object->id);
		ib_object_put(object);
		return err;
	}
	err = ib_device_enter(ib_object_device(object));
	if (err)
		ib_object_abandon(object);
	return err;
}

/**
 * ib_object_finish() - second half: leave the gate and publish, or undo the first half
 * @object: after ib_object_begin(); freed on an error
 * @err: what the provider's create returned
 *
 * Return: @err.
 */
int ib_object_finish(struct ib_object *object, int err)
{
	struct ib_objects *objects = ib_object_device(object)->objects;
	struct ib_hca *hca = ib_object_hca(object);
	enum ib_object_type type = object->class->type;
	unsigned long flags;

	ib_device_exit(ib_object_device(object));
	if (err) {
		ib_object_abandon(object);
		return err;
	}
	spin_lock_irqsave(&hca->lock, flags);
	WRITE_ONCE(object->state, IB_OBJECT_LIVE);
	objects->count[type]++;
	if (object->id) {
		/* The slot was reserved, so this needs no memory. */
		xa_lock(&objects->ids[type]);
		__xa_store(&objects->ids[type], object->id, object, GFP_NOWAIT);
		xa_unlock(&objects->ids[type]);
	}
	if (ib_object_is_awaited(object))
		wake_up_all(&hca->wait);
	spin_unlock_irqrestore(&hca->lock, flags);
	return 0;
}

/**
 * ib_object_wait() - wait for something of an object
 * @object: the object
 * @what: what for, a literal
 * @cond: looks at things that change with a wake-up of the HCA
 * @arg: for @cond
 *
 * The lifecycle thread deals with GONE while it waits; nobody else could.
 *
 * Return: 0, or -ESHUTDOWN on the lifecycle thread only.
 */
int ib_object_wait(struct ib_object *object, const char *what, ib_condition cond, void *arg)
{
	struct ib_hca *hca = ib_object_hca(object);

	if (current == hca->thread)
		return ib_thread_wait(hca, what, IB_UNTIL_NEVER, cond, arg);
	return ib_flow_wait(hca, what, object->attachment->name, 0, cond, arg);
}

bool ib_object_begin_callback(struct ib_object *object)
{
	atomic_inc(&object->running);
	/* Pairs with the barrier in ib_object_disarm(): either it sees us, or we see it. */
	smp_mb__after_atomic();
	if (likely(!READ_ONCE(object->disarmed))) {
		rwsem_acquire_read(&ib_callback_map, 0, 1, _RET_IP_);
		return true;
	}
	if (atomic_dec_and_test(&object->running))
		ib_hca_wake(ib_object_hca(object));
	return false;
}
EXPORT_SYMBOL_GPL(ib_object_begin_callback);

void ib_object_end_callback(struct ib_object *object)
{
	struct ib_hca *hca = ib_object_hca(object);

	rwsem_release(&ib_callback_map, _RET_IP_);
	/* Whoever waits for zero may free the object at once, but not before a grace period. */
	rcu_read_lock();
	if (atomic_dec_and_test(&object->running) && READ_ONCE(object->disarmed))
		ib_hca_wake(hca);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(ib_object_end_callback);

static bool ib_object_is_silent(void *object)
{
	return !atomic_read(&((struct ib_object *)object)->running);
}

/**
 * ib_object_disarm() - no callback of the owner runs or begins when this returns
 * @object: the object
 *
 * Idempotent.  Context: may sleep, unless no callback can run (address handles).
 * Return: 0; -ESHUTDOWN, on the lifecycle thread only.
 */
int ib_object_disarm(struct ib_object *object)
{
	int err;

	WRITE_ONCE(object->disarmed, true);
	/* Pairs with the barrier in ib_object_begin_callback(). */
	smp_mb();
	if (object->class->type == IB_OBJECT_AH)
		return 0;
	lock_map_acquire(&ib_callback_map);
	lock_map_release(&ib_callback_map);
	err = ib_object_wait(object, "callbacks to return", ib_object_is_silent, object);
	if (!err && object->class->disarm)
		object->class->disarm(object);
	return err;
}

static bool ib_object_is_unpinned(void *object)
{
	return !((struct ib_object *)object)->pins;
}

/**
 * ib_object_fence() - the same, and no call that has pinned the object is under way
 * @object: the object; not pinned by the caller
 *
 * Return: as ib_object_disarm().
 */
int ib_object_fence(struct ib_object *object)
{
	int err = ib_object_disarm(object);

	if (err || object->class->type == IB_OBJECT_AH)
		return err;
	return ib_object_wait(object, "readers of an object", ib_object_is_unpinned, object);
}

/**
 * ib_object_enter() - begin a call of the owner that touches hardware
 * @object: the object
 *
 * The object is pinned for the length of the call, so that a reaper waits for it.
 *
 * Return: 0, and the caller owes ib_object_exit(); -ENODEV: reaped or stopped; -EIO: gone.
 */
int ib_object_enter(struct ib_object *object)
{
	int err;

	if (!ib_object_pin(object))
		return -ENODEV;
	err = ib_device_enter(ib_object_device(object));
	if (err)
		ib_object_unpin(object);
	return err;
}

/** ib_object_exit() - end such a call */
void ib_object_exit(struct ib_object *object)
{
	ib_device_exit(ib_object_device(object));
	ib_object_unpin(object);
}

/**
 * ib_object_pin() - keep an object from being ended
 * @object: the object; the caller keeps its memory
 *
 * For the length of a verb: whoever ends the object waits.  Context: any.
 *
 * Return: false: it is not live.
 */
bool ib_object_pin(struct ib_object *object)
{
	struct ib_hca *hca = ib_object_hca(object);
	unsigned long flags;
	bool live;

	spin_lock_irqsave(&hca->lock, flags);
	live = object->state == IB_OBJECT_LIVE;
	object->pins += live;
	spin_unlock_irqrestore(&hca->lock, flags);
	return live;
}

/** ib_object_unpin() - its mirror; the object may be gone afterwards */
void ib_object_unpin(struct ib_object *object)
{
	struct ib_hca *hca = ib_object_hca(object);
	unsigned long flags;

	/* Woken under the lock: with the object the waiter may end what keeps the HCA's memory. */
	spin_lock_irqsave(&hca->lock, flags);
	if (!--object->pins && (object->state != IB_OBJECT_LIVE || READ_ONCE(object->disarmed)))
		wake_up_all(&hca->wait);
	spin_unlock_irqrestore(&hca->lock, flags);
}

/**
 * ib_object_next() - walk the live objects of one type
 * @device: the device; the caller keeps its memory
 * @type: a numbered type
 * @id: in: the lowest number wanted; out: the number found
 *
 * Return: the object, pinned, or NULL at the end.
 */
struct ib_object *ib_object_next(struct ib_device *device, enum ib_object_type type, u32 *id)
{
	struct ib_objects *objects = device->objects;
	struct ib_hca *hca = device->hca;
	struct ib_object *object;
	unsigned long index = *id;
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	for (object = xa_find(&objects->ids[type], &index, ULONG_MAX, XA_PRESENT); object;
	     object = xa_find_after(&objects->ids[type], &index, ULONG_MAX, XA_PRESENT))
		if (object->state == IB_OBJECT_LIVE)
			break;
	if (object)
		object->pins++;
	spin_unlock_irqrestore(&hca->lock, flags);
	*id = index;
	return object;
}

/** ib_object_find() - the live object with that number, pinned, or NULL */
struct ib_object *ib_object_find(struct ib_device *device, enum ib_object_type type, u32 id)
{
	u32 found = id;
	struct ib_object *object = id ? ib_object_next(device, type, &found) : NULL;

	if (object && found != id) {
		ib_object_unpin(object);
		return NULL;
	}
	return object;
}

/** ib_object_describe() - class, number and what else tells it from others, for the log */
void ib_object_describe(const struct ib_object *object, char *text, size_t size)
{
	int n = scnprintf(text, size, "%s", object->class->name);

	if (object->id)
		n += scnprintf(text + n, size - n, " %u", object->id);
	if (object->class->describe) {
		n += scnprintf(text + n, size - n, " (");
		object->class->describe(object, text + n, size - n);
		n = strlen(text);
		scnprintf(text + n, size - n, ")");
	}
}

/**
 * ib_object_label() - the same behind the name of its device
 * @object: the object; the HCA's lock is not held
 * @label: filled in
 *
 * Return: its text.
 */
const char *ib_object_label(const struct ib_object *object, struct ib_object_label *label)
{
	int n;

	ib_device_name(ib_object_device(object), label->text);
	n = strlen(label->text);
	n += scnprintf(label->text + n, sizeof(label->text) - n, ": ");
	ib_object_describe(object, label->text + n, sizeof(label->text) - n);
	return label->text;
}

/* Claimed by the owner: to the very end. */
static void ib_object_destroy_claimed(struct ib_object *object)
{
	struct ib_hca *hca = ib_object_hca(object);
	unsigned long flags;

	if (ib_object_end(object))
		return;
	spin_lock_irqsave(&hca->lock, flags);
	ib_object_retire(object);
	spin_unlock_irqrestore(&hca->lock, flags);
	ib_object_put(object);
}

static void ib_object_destroy_tombstone(struct ib_object *object)
{
	struct ib_attachment *owner = object->attachment;
	struct ib_graveyard *graveyard = owner->client ? &owner->client->graveyard :
							 &owner->service->graveyard;
	unsigned long flags;

	spin_lock_irqsave(&graveyard->lock, flags);
	list_del_init(&object->node);
	spin_unlock_irqrestore(&graveyard->lock, flags);
	ib_object_put(object);
}

static void ib_object_complain(struct ib_object *object, unsigned int users)
{
	struct ib_object_label label;

	dev_err(ib_object_hca(object)->parent,
		"%s destroyed by %s while %u objects use it: it stays until they are reaped\n",
		ib_object_label(object, &label), object->attachment->name, users);
}

/**
 * ib_object_destroy() - the owner's destroy, of all types
 * @object: not to be touched afterwards
 *
 * One that is still a parent of others is disarmed and kept until its owner's leftovers are reaped.
 *
 * Context: may sleep; for address handles any but hard interrupts.
 */
void ib_object_destroy(struct ib_object *object)
{
	struct ib_objects *objects = ib_object_device(object)->objects;
	struct ib_hca *hca = ib_object_hca(object);
	unsigned int users = 0;
	unsigned long flags;
	bool mine = false;

	spin_lock_irqsave(&hca->lock, flags);
	if (object->state == IB_OBJECT_LIVE) {
		users = object->users;
		mine = true;
		if (users) {
			object->orphan = true;
		} else {
			WRITE_ONCE(object->state, IB_OBJECT_DYING);
			objects->count[object->class->type]--;
		}
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (!mine) {
		/* The reaper has it, or had it. */
		ib_object_wait(object, "the reaper", ib_object_is_tombstone, object);
		ib_object_destroy_tombstone(object);
	} else if (users) {
		ib_object_complain(object, users);
		if (ib_object_fence(object))
			return;
	} else {
		ib_object_destroy_claimed(object);
	}
}
