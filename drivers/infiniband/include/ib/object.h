/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The common part of every verbs object: PD, CQ, QP, SRQ, MR, MW, AH, XRCD, event subscription.
 *
 * An object is created through an attachment and belongs to it.  The objects that it refers to, its
 * parents, belong to the same attachment: so no client ever has to wait for another's objects.
 * Its memory is ib_core's, sized for the provider, and outlives the provider:
 *
 *   NEW        being created; the provider may know it already
 *   LIVE       created
 *   DYING      claimed by one destroyer, the owner or the reaper
 *   TOMBSTONE  reaped: calls of the owner return -ENODEV, and its late destroy frees the memory
 *
 * A destroy never fails from the owner's view.  What the hardware has not provably forgotten keeps
 * the memory the hardware knows of: until the HCA is quiet, or for ever.
 */
#ifndef IB_OBJECT_H
#define IB_OBJECT_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

#include <ib/client.h>

struct ib_device;
struct ib_object_class;

/* More than any class needs: PD, two CQs, SRQ and XRCD of a QP. */
#define IB_OBJECT_PARENTS 5

/**
 * enum ib_object_type - what there is, in the order in which leftovers are destroyed
 * @IB_OBJECT_HANDLER: subscription to asynchronous events
 * @IB_OBJECT_MW: memory window
 * @IB_OBJECT_QP: queue pair
 * @IB_OBJECT_AH: address handle
 * @IB_OBJECT_SRQ: shared receive queue
 * @IB_OBJECT_MR: memory region
 * @IB_OBJECT_CQ: completion queue
 * @IB_OBJECT_XRCD: XRC domain
 * @IB_OBJECT_PD: protection domain
 * @IB_OBJECT_TYPES: how many there are
 *
 * Nothing in this list has a parent that stands before it.
 */
enum ib_object_type {
	IB_OBJECT_HANDLER,
	IB_OBJECT_MW,
	IB_OBJECT_QP,
	IB_OBJECT_AH,
	IB_OBJECT_SRQ,
	IB_OBJECT_MR,
	IB_OBJECT_CQ,
	IB_OBJECT_XRCD,
	IB_OBJECT_PD,
	IB_OBJECT_TYPES,
};

/**
 * enum ib_object_state - see above
 * @IB_OBJECT_NEW: being created
 * @IB_OBJECT_LIVE: created
 * @IB_OBJECT_DYING: being destroyed
 * @IB_OBJECT_TOMBSTONE: reaped
 */
enum ib_object_state {
	IB_OBJECT_NEW,
	IB_OBJECT_LIVE,
	IB_OBJECT_DYING,
	IB_OBJECT_TOMBSTONE,
};

/**
 * struct ib_object - the common part; the first member of each object
 * @attachment: the owner; its memory is kept as long as that of the object
 * @class: what kind of object this is (private to ib_core)
 * @parents: the objects it refers to; unused ones are NULL
 * @id: what netlink calls it: counted from 1 for each type on each device; 0 for types without
 * @user: process id of the user process it was made for, 0 for the kernel's own
 *
 * The rest is private to objects.c; under the HCA's lock unless said otherwise:
 * @state: see enum ib_object_state; written under the lock, read on the data path under RCU
 * @users: how many objects have it for a parent
 * @pins: how many readers look at it; ending it waits for them
 * @orphan: its owner destroyed it while @users was not zero: nobody will do so again
 * @forgotten: its provider was told to detach it: no event and no completion names it any more
 * @disarmed: no callback of its owner begins any more
 * @running: callbacks of its owner that run; atomic, not under the lock
 * @memory: one for the owner, one for the provider
 * @node: in &ib_attachment.objects, then in a graveyard
 * @zombie_node: in the device's list of objects whose memory the hardware may still write to
 * @rcu: frees it
 */
struct ib_object {
	struct ib_attachment *attachment;
	const struct ib_object_class *class;
	struct ib_object *parents[IB_OBJECT_PARENTS];
	u32 id;
	pid_t user;

	enum ib_object_state state;
	unsigned int users;
	unsigned int pins;
	bool orphan;
	bool forgotten;
	bool disarmed;
	atomic_t running;
	struct kref memory;
	struct list_head node;
	struct list_head zombie_node;
	struct rcu_head rcu;
};

/**
 * ib_object_device() - the device of an object
 * @object: the object
 *
 * Return: the device; its memory is kept as long as that of the object.
 */
static inline struct ib_device *ib_object_device(const struct ib_object *object)
{
	return object->attachment->device;
}

/**
 * ib_object_is_used() - is it a parent of other objects?
 * @object: the object
 *
 * For user interfaces, whose destroy calls may be refused; they serialise creating and destroying
 * themselves.
 *
 * Return: yes, if so.
 */
bool ib_object_is_used(const struct ib_object *object);

/**
 * ib_object_begin_callback() - may the owner of this object be called back?
 * @object: an object the provider has found in its own tables, under a lock that its detach takes
 *
 * For providers and for ib_core.
 *
 * Context: any.
 * Return: true, and the caller owes ib_object_end_callback(); false: do not call.
 */
bool __must_check ib_object_begin_callback(struct ib_object *object);

/**
 * ib_object_end_callback() - the callback has returned
 * @object: the object; not to be touched afterwards
 *
 * Context: any.
 */
void ib_object_end_callback(struct ib_object *object);

#endif /* IB_OBJECT_H */
