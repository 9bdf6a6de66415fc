/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct ib_device: one incarnation of an InfiniBand device on an HCA.
 *
 * Registered once, torn down once, never registered again; recovery makes a new one.  Three ways to
 * hold one, never to be mixed up:
 *
 *   struct ib_holder   the device itself: remove() waits for it, and names who has it
 *   ib_device_enter()  the hardware, for the length of one section
 *   get_device()       the memory, nothing else: for open files and readers of sysfs
 */
#ifndef IB_DEVICE_H
#define IB_DEVICE_H

#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/types.h>

#include <ib/gate.h>

struct dentry;
struct ib_attachment;
struct ib_cache;
struct ib_device;
struct ib_event_queue;
struct ib_client;
struct ib_hca;
struct ib_objects;
struct ib_revoke_list;
struct ib_verbs_ops;
struct module;
struct seq_file;
struct workqueue_struct;

/* The kernel's user interface has room for this much, the NUL included. */
#define IB_DEVICE_NAME_MAX 64
#define IB_NODE_DESC_MAX 64

/**
 * enum ib_device_state - see docs/teardown.md for what may be done in each
 * @IB_DEVICE_NEW: allocated by the provider
 * @IB_DEVICE_REGISTERING: services, then clients, are being added
 * @IB_DEVICE_LIVE: visible
 * @IB_DEVICE_CLOSING: removal has begun; clients leave one by one
 * @IB_DEVICE_DRAINING: the last remove_one has returned (or was given up); services close from the
 *	top
 * @IB_DEVICE_STOPPED: no code of this device touches hardware any more
 * @IB_DEVICE_RELEASED: the last device reference was dropped
 * @IB_DEVICE_QUARANTINED: it was not dropped in time
 * @IB_DEVICE_STATES: how many there are
 */
enum ib_device_state {
	IB_DEVICE_NEW,
	IB_DEVICE_REGISTERING,
	IB_DEVICE_LIVE,
	IB_DEVICE_CLOSING,
	IB_DEVICE_DRAINING,
	IB_DEVICE_STOPPED,
	IB_DEVICE_RELEASED,
	IB_DEVICE_QUARANTINED,
	IB_DEVICE_STATES,
};

/**
 * struct ib_device_ops - what the provider does for one device
 * @owner: the provider's module
 * @verbs: the verbs (<ib/verbs.h>); called only inside the device's gate
 * @flush: GONE: complete every posted work request by software, exactly once each, after the
 *	completions the hardware has already written; the hardware is quiet, or was given up on.
 *	Process context, may sleep; called by the lifecycle thread at most once, and before @stop.
 * @stop: unsubscribe from the HCA's events and synchronise with their handlers, give back what the
 *	provider's create took.  Verbs can no longer run.  May send commands (which fail when the
 *	HCA is gone).  Process context, may sleep, cannot fail; called exactly once.
 * @offer: may this client be offered the device?  For devices that a test makes, which the clients
 *	of the running system are not to meet.  Any answer must stay the same.  NULL: every client.
 *	Process context, must not sleep.
 *
 * After @stop has returned nothing of the provider is called for this device.
 */
struct ib_device_ops {
	struct module *owner;
	const struct ib_verbs_ops *verbs;
	void (*flush)(struct ib_device *device);
	void (*stop)(struct ib_device *device);
	bool (*offer)(const struct ib_device *device, const struct ib_client *client);
};

/**
 * struct ib_holder - one reference to a device, with a name on it
 * @node: in the device's list
 * @device: what is held, NULL if nothing
 * @name: who, a literal or a string that lives as long as the reference
 * @since: when it was taken, in milliseconds of the HCA's clock
 * @caller: the code that took it
 *
 * Embedded in the object that needs the device.  Zero before the first use.
 */
struct ib_holder {
	struct list_head node;
	struct ib_device *device;
	const char *name;
	u64 since;
	unsigned long caller;
};

/**
 * struct ib_device - an InfiniBand device
 * @dev: the class device: memory, sysfs.  Its name is not the device's; use ib_device_name().
 * @hca: whose incarnation this is; the memory of the HCA is kept as long as that of the device
 * @ops: the provider's callbacks, or dead ones after STOPPED
 * @gate: the hardware gate of this incarnation
 * @node_guid: network byte order; filled in by the provider
 * @phys_port_cnt: number of ports, counted from 1; filled in by the provider
 * @away: numbers among them that are another protocol's ports, one bit each from bit 1 on: they are
 *	shown, and nobody uses them; filled in by the provider
 * @node_desc: NodeDescription, not necessarily NUL-terminated; under the HCA's lock after
 *	registration
 * @fw_ver: firmware version as text; filled in by the provider
 * @has_mads: the ports have a QP0 and a QP1 which the MAD service shall drive; filled in by the
 *	provider
 * @raises_port_events: the provider hears from its firmware of what an SM changes in a port (LID,
 *	SM, P_Keys, GIDs, reregistration) and raises the events; filled in by the provider.  Where
 *	not, the MAD service raises them for the SMPs it hands to the device.
 * @name: under the HCA's lock (it can be renamed at any time): read with ib_device_name()
 * @index: what netlink calls the device; unique while in use
 * @state: written by lifecycle.c alone, under the HCA's lock
 * @reason_reset: this teardown is to be followed by another incarnation
 * @flushed: &ib_device_ops.flush has been called
 * @stop_done: &ib_device_ops.stop has been called
 * @visible: the class device has been added
 * @named: it has a name and an index
 * @ref: the device reference count
 * @ref_zero: it has reached zero
 * @initial: the framework's own reference, from allocation to STOPPED
 * @holders: all of them; under the HCA's lock
 * @ref_map: what lockdep takes a device reference for
 * @attachments: of clients, &ib_attachment.device_node; under the HCA's lock
 * @services: instances on this device, bottom first; under the HCA's lock
 * @wq: what attachments' items run on; unbound, of this device alone
 * @files: user files to be revoked (revoke.c)
 * @objects: verbs objects (objects.c)
 * @cache: GID, P_Key and LMC caches
 * @events: asynchronous events, in order
 * @debugfs: the device's folder
 * @quarantine_node: in the list of the quarantined
 * @quarantine_since: when it went there, in milliseconds of the HCA's clock
 */
struct ib_device {
	struct device dev;
	struct ib_hca *hca;
	const struct ib_device_ops *ops;
	struct ib_gate gate;

	__be64 node_guid;
	u8 phys_port_cnt;
	u32 away;
	u8 node_desc[IB_NODE_DESC_MAX];
	char fw_ver[32];
	bool has_mads;
	bool raises_port_events;

	char name[IB_DEVICE_NAME_MAX];
	u32 index;
	enum ib_device_state state;
	bool reason_reset;
	bool flushed;
	bool stop_done;
	bool visible;
	bool named;

	struct kref ref;
	bool ref_zero;
	struct ib_holder initial;
	struct list_head holders;
	struct lockdep_map ref_map;

	struct list_head attachments;
	struct list_head services;
	struct workqueue_struct *wq;

	struct ib_revoke_list *files;
	struct ib_objects *objects;
	struct ib_cache *cache;
	struct ib_event_queue *events;

	struct dentry *debugfs;
	struct list_head quarantine_node;
	u64 quarantine_since;
};

/** ib_device_has_port() - is @port, from 1, an InfiniBand port of the device? */
static inline bool ib_device_has_port(const struct ib_device *device, unsigned int port)
{
	return port && port <= device->phys_port_cnt && (port >= 32 || !(device->away & BIT(port)));
}

/* For ib_device_alloc(). */
struct ib_device *ib_device_alloc_size(struct ib_hca *hca, const struct ib_device_ops *ops,
				       const char *name_format, size_t size);

/**
 * ib_device_alloc() - allocate a device inside a provider's structure
 * @hca: the HCA
 * @ops: the provider's callbacks
 * @name_format: such as "mlx4_%d"; the lowest free number is taken when it is registered
 * @type: the provider's structure
 * @member: the struct ib_device in it, which must be its first member
 *
 * The memory is zeroed and belongs to the framework, which frees it, in its own text, when the last
 * file that knows the device is closed: the provider's structure must own nothing that needs code
 * of the provider to be given back after &ib_device_ops.stop.
 *
 * Context: &ib_provider.create; may sleep.
 * Return: a pointer to @type or an ERR_PTR().
 */
#define ib_device_alloc(hca, ops, name_format, type, member)					\
({												\
	static_assert(offsetof(type, member) == 0);						\
	(type *)ib_device_alloc_size(hca, ops, name_format, sizeof(type));			\
})

/**
 * ib_device_free() - undo ib_device_alloc() before the device was given to the framework
 * @device: a device in state NEW
 *
 * For the error path of &ib_provider.create only.
 */
void ib_device_free(struct ib_device *device);

/**
 * ib_device_enter() - begin a section that touches the device's hardware
 * @device: the device; the caller keeps at least its memory
 *
 * Context: any.
 * Return: 0, and the caller owes ib_device_exit(); -EIO: gone, quarantined or shutting down;
 * -ENODEV: stopped.
 */
int __must_check ib_device_enter(struct ib_device *device);

/**
 * ib_device_exit() - end a section begun with ib_device_enter()
 * @device: the device
 */
void ib_device_exit(struct ib_device *device);

/**
 * ib_device_hold() - take a named device reference
 * @device: the device; the caller keeps at least its memory
 * @holder: zeroed or unused; must not move or be freed until ib_device_drop()
 * @name: who; lives at least as long as the reference
 *
 * For things with a lifetime of their own.  No user file, mapping, netdev, sysfs file or pinned
 * page may have one: they keep memory and enter the gate for each call.
 *
 * Context: any.
 * Return: 0, or -ENODEV when the removal of the device has begun.
 */
int __must_check ib_device_hold(struct ib_device *device, struct ib_holder *holder,
				const char *name);

/**
 * ib_device_drop() - give a named device reference back
 * @holder: one that holds
 *
 * Context: any.  The device is not freed here: the last drop wakes the lifecycle thread.
 */
void ib_device_drop(struct ib_holder *holder);

/**
 * ib_device_lookup_begin() - like ib_device_hold(), for a section of one task
 * @device: the device
 * @holder: on the caller's stack
 * @name: who
 *
 * Lockdep is told that the section holds the device, so that waiting inside it for something that
 * waits for the device is reported.
 *
 * Return: 0, or -ENODEV.
 */
int __must_check ib_device_lookup_begin(struct ib_device *device, struct ib_holder *holder,
					const char *name);

/**
 * ib_device_lookup_end() - end such a section, in the same task
 * @holder: the holder
 */
void ib_device_lookup_end(struct ib_holder *holder);

/**
 * ib_device_name() - a copy of the device's present name
 * @device: the device
 * @name: IB_DEVICE_NAME_MAX bytes
 *
 * Context: any.
 * Return: @name.
 */
char *ib_device_name(struct ib_device *device, char *name);

/**
 * ib_device_rename() - give a device another name
 * @device: a device whose class device has been added
 * @name: the name; not empty, no '/' and no '%', shorter than IB_DEVICE_NAME_MAX
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, -EEXIST: taken, -ENODEV: not LIVE, or what device_rename() said.
 */
int ib_device_rename(struct ib_device *device, const char *name);

/**
 * ib_device_find() - find a LIVE device by its index and keep its memory
 * @index: see &ib_device.index
 *
 * Context: may sleep.
 * Return: the device, to be given back with put_device(&device->dev), or NULL.
 */
struct ib_device *ib_device_find(u32 index);

/**
 * ib_device_for_each() - call a function for every LIVE device
 * @fn: the function; may sleep; a non-zero result ends the walk
 * @data: handed to @fn
 *
 * @fn runs without a lock and with the memory of the device kept.
 *
 * Return: the last result of @fn, or 0.
 */
int ib_device_for_each(int (*fn)(struct ib_device *device, void *data), void *data);

/**
 * ib_device_state() - the state at this moment
 * @device: the device
 *
 * For display, and for tests.
 *
 * Return: the state; it is old when it arrives.
 */
static inline enum ib_device_state ib_device_state(const struct ib_device *device)
{
	return READ_ONCE(device->state);
}

bool ib_device_may_move(enum ib_device_state from, enum ib_device_state to);

/**
 * ib_device_state_name() - the word for a state, as debugfs, the log and the trace use it
 * @state: the state
 *
 * Return: a literal.
 */
const char *ib_device_state_name(enum ib_device_state state);

#endif /* IB_DEVICE_H */
