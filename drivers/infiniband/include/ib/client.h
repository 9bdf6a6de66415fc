/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clients and attachments.
 *
 * A client is something that wants to hear of every InfiniBand device: IPoIB, the user interfaces,
 * kernel protocols.  An attachment is the pair (client, device) that it is given, and the owner of
 * everything it creates on that device.
 *
 * Promises, for each pair: at most one add_one that succeeds, and exactly one remove_one for it,
 * whoever asks (the device leaves, the client's module leaves, a service leaves, all at once).
 * From the return of remove_one no callback of the pair runs.  Everybody who needs the removal done
 * waits for that same remove_one.  Client code runs on a work item of the attachment, under no lock
 * of the framework.
 */
#ifndef IB_CLIENT_H
#define IB_CLIENT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/workqueue.h>

#include <ib/device.h>

struct ib_attachment;
struct ib_client;
struct ib_service;
struct module;

/**
 * struct ib_graveyard - reaped agents and objects whose owner has not destroyed them yet
 * @lock: protects @tombstones and @objects; a leaf
 * @tombstones: &ib_agent.owner_node
 * @objects: &ib_object.node
 */
struct ib_graveyard {
	spinlock_t lock; /* protects @tombstones and @objects */
	struct list_head tombstones;
	struct list_head objects;
};

/**
 * enum ib_remove_reason - why an attachment goes
 * @IB_REMOVED: the device, the client or a service it needs is leaving
 * @IB_RESET: another incarnation of the same HCA will follow; what users see may be kept for it
 */
enum ib_remove_reason {
	IB_REMOVED,
	IB_RESET,
};

/**
 * enum ib_attachment_state - where an attachment stands; moves only forward, save FAILED to ADDING
 * @IB_ATTACHMENT_ADDING: its item will call, or is calling, add_one
 * @IB_ATTACHMENT_FAILED: add_one returned an error; it is tried again
 * @IB_ATTACHMENT_ATTACHED: add_one succeeded
 * @IB_ATTACHMENT_CLOSED: closing was called
 * @IB_ATTACHMENT_REMOVING: remove_one, the reaping and free are under way
 * @IB_ATTACHMENT_REMOVED: done; nothing of the client runs any more
 */
enum ib_attachment_state {
	IB_ATTACHMENT_ADDING,
	IB_ATTACHMENT_FAILED,
	IB_ATTACHMENT_ATTACHED,
	IB_ATTACHMENT_CLOSED,
	IB_ATTACHMENT_REMOVING,
	IB_ATTACHMENT_REMOVED,
};

/**
 * struct ib_client - a client
 * @name: for messages; a literal
 * @owner: THIS_MODULE
 * @needs: the services it uses, ended by NULL, or NULL.  The pointers are to exported descriptors,
 *	so that the symbols make the module dependency.  add_one is called only where all are up.
 * @add_one: begin to use a device.  What it keeps goes to ib_attachment_set_context().  An error is
 *	logged and retried later; what was created through the attachment until then is reaped, the
 *	rest is the client's to undo.  Required.
 * @closing: the device will leave: start to end what takes time.  Must not wait.  Optional.
 * @remove_one: stop using the device; destroys what was created.  May wait only for objects of this
 *	attachment and for services, never for another client or a user.  Required.
 * @free: free what ib_attachment_set_context() was given.  Called after remove_one, when no
 *	callback of the pair can run any more.  Optional.
 *
 * All are called on the attachment's work item, may sleep, and run under no lock.
 *
 * The rest is private to client.c:
 * @node: in the registry; under its mutex
 * @attachments: &ib_attachment.client_node; under the registry's mutex
 * @leaving: ib_client_unregister() has begun; under the registry's mutex
 * @stuck: attachments whose item was given up on; the client is offered nothing until they return;
 *	under the registry's mutex
 * @graveyard: tombstones of agents it has not destroyed
 * @map: what lockdep takes a callback for
 */
struct ib_client {
	const char *name;
	struct module *owner;
	struct ib_service *const *needs;
	int (*add_one)(struct ib_attachment *attachment);
	void (*closing)(struct ib_attachment *attachment);
	void (*remove_one)(struct ib_attachment *attachment, enum ib_remove_reason reason);
	void (*free)(void *context);

	struct list_head node;
	struct list_head attachments;
	bool leaving;
	unsigned int stuck;
	struct ib_graveyard graveyard;
	struct lockdep_map map;
};

/**
 * struct ib_attachment - a client on a device, or a service on a device
 * @device: the device; its memory is kept as long as that of the attachment
 * @client: the client, or NULL for the attachment of a service instance
 * @name: of the client or service, for messages; a copy, since whoever has this memory may still
 *	say it when that module has gone
 * @context: the client's; see ib_attachment_set_context()
 * @objects: verbs objects created through it; belongs to objects.c, initialised empty
 *
 * The rest is private to the framework; under the HCA's lock unless said otherwise:
 * @ref: memory
 * @holder: its device reference, until REMOVED
 * @state: see enum ib_attachment_state
 * @service: the service, for the attachment of a service instance
 * @closed: creating through it is refused
 * @hushed: no callback of what it has begins but on the thread: its service is about to stop
 * @want_closing: closing is to be called
 * @want_remove: remove_one is to be called
 * @asked: the thread has asked it to go (others may have, too)
 * @reason: for remove_one
 * @abandoned: the thread has stopped waiting for the item; its module is pinned
 * @pinned: the module kept in memory because of that, or NULL
 * @waited_for: ib_client_register() has waited for its add_one
 * @error: of the last add_one
 * @tries: how often add_one failed
 * @retry_at: when it is to be tried again, in milliseconds of the HCA's clock
 * @agents: what services handed out through it (<ib/agent.h>)
 * @device_node: in &ib_device.attachments
 * @client_node: in &ib_client.attachments; under the registry's mutex
 * @work: the item all client code runs on
 * @doing: what the item is in ("add_one", "remove_one", ...), or NULL
 * @doing_since: since when, in milliseconds of the HCA's clock
 */
struct ib_attachment {
	struct ib_device *device;
	struct ib_client *client;
	char name[IB_DEVICE_NAME_MAX];
	void *context;
	struct list_head objects;

	struct kref ref;
	struct ib_holder holder;
	enum ib_attachment_state state;
	struct ib_service *service;
	bool closed;
	bool hushed;
	bool want_closing;
	bool want_remove;
	bool asked;
	enum ib_remove_reason reason;
	bool abandoned;
	struct module *pinned;
	bool waited_for;
	int error;
	unsigned int tries;
	u64 retry_at;
	struct list_head agents;
	struct list_head device_node;
	struct list_head client_node;
	struct work_struct work;
	const char *doing;
	u64 doing_since;
};

/**
 * ib_client_register() - offer a client every device, present and future
 * @client: statically allocated or kept until ib_client_unregister() has returned
 *
 * Devices are offered when every service the client needs is up on them.  Waits for the add_one of
 * the devices present, for at most 15 seconds: one that takes longer goes on without the caller.
 *
 * Context: module init; may sleep; no RTNL and no lock that add_one takes.
 * Return: 0, -EINVAL: a callback is missing, or -EEXIST: registered already.
 */
int ib_client_register(struct ib_client *client);

/**
 * ib_client_unregister() - take a client off every device
 * @client: a registered client
 *
 * Calls remove_one (reason REMOVED) for every attachment, merges with removals under way, and
 * returns when the last callback of the client has returned: the one wait of the framework that
 * code of the client itself can make long.  What is waited for is named in the log every ten
 * seconds.
 *
 * Context: module exit; may sleep; no RTNL and no lock that remove_one takes.
 */
void ib_client_unregister(struct ib_client *client);

/**
 * ib_attachment_set_context() - keep a pointer with an attachment
 * @attachment: the attachment, in its add_one
 * @context: the client's structure for this device; handed to &ib_client.free in the end
 */
static inline void ib_attachment_set_context(struct ib_attachment *attachment, void *context)
{
	WRITE_ONCE(attachment->context, context);
}

/**
 * ib_attachment_context() - that pointer
 * @attachment: the attachment
 *
 * Return: what was set, or NULL.
 */
static inline void *ib_attachment_context(const struct ib_attachment *attachment)
{
	return READ_ONCE(attachment->context);
}

/**
 * ib_attachment_get() - keep the memory of an attachment (and of its device and HCA)
 * @attachment: the attachment
 */
void ib_attachment_get(struct ib_attachment *attachment);

/**
 * ib_attachment_put() - give it back
 * @attachment: the attachment
 *
 * Context: any.
 */
void ib_attachment_put(struct ib_attachment *attachment);

/**
 * ib_attachment_is_open() - may something be created through this attachment?
 * @attachment: the attachment
 *
 * Context: the caller holds the HCA's lock (&ib_hca.lock) over this and over putting the new object
 * on its list, so that reaping sees it or it is refused.
 * Return: yes, if so.
 */
bool ib_attachment_is_open(const struct ib_attachment *attachment);

/**
 * ib_client_for_each() - call a function for every device a client is attached to
 * @client: the client
 * @fn: the function; may sleep; the memory of the attachment is kept; a non-zero result ends the
 *	walk
 * @data: handed to @fn
 *
 * Return: the last result of @fn, or 0.
 */
int ib_client_for_each(struct ib_client *client,
		       int (*fn)(struct ib_attachment *attachment, void *data), void *data);

#endif /* IB_CLIENT_H */
