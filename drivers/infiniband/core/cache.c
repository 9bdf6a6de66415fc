// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caches: what a device and its ports were like when they were last asked.
 *
 * Of each port there is one snapshot: never changed, replaced as a whole, read under RCU. So a
 * reader sees LID, GIDs and P_Keys that belong together, and needs no lock and no hardware.
 * Snapshots are made by one writer at a time: the lifecycle thread at the beginning, then the event
 * queue, which refreshes before it tells anybody.
 *
 * A refresh that fails keeps the old snapshot: the tables of a port do not become empty because the
 * HCA is leaving.
 */
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "objects.h"

/**
 * struct ib_port_snapshot - a port at a moment
 * @rcu: frees it
 * @attr: its attributes
 * @pkeys: its P_Key table, behind the GIDs
 * @gids: its GID table
 */
struct ib_port_snapshot {
	struct rcu_head rcu;
	struct ib_port_attr attr;
	u16 *pkeys;
	union ib_gid gids[];
};

/**
 * struct ib_cache - the caches of a device
 * @attr: what the device is; constant once read
 * @ports: the snapshots, port 1 first; NULL when closed
 */
struct ib_cache {
	struct ib_device_attr attr;
	struct ib_port_snapshot __rcu *ports[U8_MAX];
};

/** ib_cache_alloc() - memory for the caches of a device */
int ib_cache_alloc(struct ib_device *device)
{
	device->cache = kzalloc(sizeof(*device->cache), GFP_KERNEL);
	return device->cache ? 0 : -ENOMEM;
}

/** ib_cache_free() - its mirror; nobody knows the device any more */
void ib_cache_free(struct ib_device *device)
{
	kfree(device->cache);
	device->cache = NULL;
}

const struct ib_device_attr *ib_device_attr(const struct ib_device *device)
{
	return &device->cache->attr;
}
EXPORT_SYMBOL_GPL(ib_device_attr);

/* Give a port another snapshot, or none. */
static void ib_cache_publish(struct ib_device *device, u8 port, struct ib_port_snapshot *snap)
{
	struct ib_port_snapshot *old;

	old = rcu_replace_pointer(device->cache->ports[port - 1], snap, true);
	if (old)
		kfree_rcu(old, rcu);
}

static int ib_cache_read_tables(struct ib_device *device, u8 port, struct ib_port_snapshot *snap)
{
	const struct ib_verbs_ops *ops;
	int err;

	err = ib_device_enter(device);
	if (err)
		return err;
	ops = ib_verbs_of(device);
	if (snap->attr.gid_tbl_len)
		err = ops->query_gids(device, port, snap->gids, snap->attr.gid_tbl_len);
	if (!err && snap->attr.pkey_tbl_len)
		err = ops->query_pkeys(device, port, snap->pkeys, snap->attr.pkey_tbl_len);
	ib_device_exit(device);
	return err;
}

static struct ib_port_snapshot *ib_cache_read(struct ib_device *device, u8 port)
{
	struct ib_port_snapshot *snap;
	struct ib_port_attr attr;
	size_t gids, size;
	int err;

	err = ib_port_query(device, port, &attr);
	if (err)
		return ERR_PTR(err);
	if (attr.gid_tbl_len < 0)
		return ERR_PTR(-EINVAL);
	gids = struct_size(snap, gids, attr.gid_tbl_len);
	size = size_add(gids, array_size(attr.pkey_tbl_len, sizeof(*snap->pkeys)));
	snap = kzalloc(size, GFP_KERNEL);
	if (!snap)
		return ERR_PTR(-ENOMEM);
	snap->attr = attr;
	snap->pkeys = (void *)snap + gids;
	err = ib_cache_read_tables(device, port, snap);
	if (err) {
		kfree(snap);
		return ERR_PTR(err);
	}
	if (attr.gid_tbl_len)
		snap->attr.subnet_prefix = be64_to_cpu(snap->gids[0].global.subnet_prefix);
	return snap;
}

static int ib_cache_update(struct ib_device *device, u8 port)
{
	struct ib_port_snapshot *snap = ib_cache_read(device, port);

	if (IS_ERR(snap))
		return PTR_ERR(snap);
	ib_cache_publish(device, port, snap);
	return 0;
}

static int ib_cache_read_device(struct ib_device *device)
{
	int err;

	err = ib_device_enter(device);
	if (err)
		return err;
	err = ib_verbs_of(device)->query_device(device, &device->cache->attr);
	ib_device_exit(device);
	return err;
}

static void ib_cache_clear(struct ib_device *device)
{
	u8 port;

	for (port = 1; port <= device->phys_port_cnt; port++)
		ib_cache_publish(device, port, NULL);
}

int ib_cache_start(struct ib_device *device)
{
	const struct ib_verbs_ops *ops = device->ops->verbs;
	u8 port;
	int err;

	if (ops && (!ops->query_device || !ops->query_port || device->phys_port_cnt == U8_MAX))
		return -EINVAL;
	ib_gate_open(&device->objects->soft);
	/* Events first: what changes while the ports are read is refreshed again. */
	ib_event_queue_open(device);
	if (!ops)
		return 0;
	err = ib_cache_read_device(device);
	for (port = 1; !err && port <= device->phys_port_cnt; port++)
		err = ib_cache_update(device, port);
	if (err) {
		dev_err(device->hca->parent, "cannot read the ports of the device: %d\n", err);
		ib_events_stop(device);
		ib_cache_clear(device);
	}
	return err;
}

void ib_cache_stop(struct ib_device *device)
{
	if (device->cache)
		ib_cache_clear(device);
}

/* What an SM changes shows in one of these; a request for reregistration can mean all of it. */
static bool ib_cache_is_touched(enum ib_event_type type)
{
	switch (type) {
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

/**
 * ib_cache_refresh() - before an event is told: read what it may have changed
 * @device: the device
 * @event: the event
 *
 * Context: the event queue only.
 */
void ib_cache_refresh(struct ib_device *device, const struct ib_event *event)
{
	u8 first = event->port ?: 1;
	u8 last = event->port ?: device->phys_port_cnt;
	int err;
	u8 port;

	if (!ib_cache_is_touched(event->type) || last > device->phys_port_cnt)
		return;
	for (port = first; port && port <= last; port++) {
		err = ib_cache_update(device, port);
		if (err && err != -EIO && err != -ENODEV)
			dev_warn(device->hca->parent, "port %u: cannot be read after %s: %d\n",
				 port, ib_event_name(event->type), err);
	}
}

/* The snapshot of a port, under RCU, or the error why there is none. */
static struct ib_port_snapshot *ib_cache_look(struct ib_device *device, u8 port)
{
	struct ib_port_snapshot *snap;

	if (!port || port > device->phys_port_cnt)
		return ERR_PTR(-EINVAL);
	snap = rcu_dereference(device->cache->ports[port - 1]);
	return snap ?: ERR_PTR(-ENODEV);
}

int ib_port_cached(struct ib_device *device, u8 port, struct ib_port_attr *attr)
{
	struct ib_port_snapshot *snap;
	int err = 0;

	rcu_read_lock();
	snap = ib_cache_look(device, port);
	if (IS_ERR(snap))
		err = PTR_ERR(snap);
	else
		*attr = snap->attr;
	rcu_read_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(ib_port_cached);

/* The tables of a snapshot. */
enum ib_cache_table {
	IB_CACHE_GIDS,
	IB_CACHE_PKEYS,
};

/* With RCU: copy entry @index to @value.  -EINVAL: the table has none of that number. */
static int ib_snapshot_copy(const struct ib_port_snapshot *snap, enum ib_cache_table table,
			    unsigned int index, void *value)
{
	if (index >= (table == IB_CACHE_GIDS ? snap->attr.gid_tbl_len : snap->attr.pkey_tbl_len))
		return -EINVAL;
	if (table == IB_CACHE_GIDS)
		*(union ib_gid *)value = snap->gids[index];
	else
		*(u16 *)value = snap->pkeys[index];
	return 0;
}

static int ib_cache_copy(struct ib_device *device, u8 port, enum ib_cache_table table,
			 unsigned int index, void *value)
{
	struct ib_port_snapshot *snap;
	int err;

	rcu_read_lock();
	snap = ib_cache_look(device, port);
	err = IS_ERR(snap) ? PTR_ERR(snap) : ib_snapshot_copy(snap, table, index, value);
	rcu_read_unlock();
	return err;
}

int ib_gid_cached(struct ib_device *device, u8 port, unsigned int index, union ib_gid *gid)
{
	return ib_cache_copy(device, port, IB_CACHE_GIDS, index, gid);
}
EXPORT_SYMBOL_GPL(ib_gid_cached);

static int ib_gid_find_on(struct ib_device *device, u8 port, const union ib_gid *gid)
{
	struct ib_port_snapshot *snap;
	int found = -ENOENT;
	int i;

	rcu_read_lock();
	snap = ib_cache_look(device, port);
	if (IS_ERR(snap))
		found = PTR_ERR(snap);
	else
		for (i = 0; i < snap->attr.gid_tbl_len && found < 0; i++)
			if (!memcmp(&snap->gids[i], gid, sizeof(*gid)))
				found = i;
	rcu_read_unlock();
	return found;
}

int ib_gid_find(struct ib_device *device, u8 port, const union ib_gid *gid, u8 *found_port,
		u16 *index)
{
	u8 first = port ?: 1;
	u8 last = port ?: device->phys_port_cnt;
	int i = -ENOENT;

	if (!memchr_inv(gid, 0, sizeof(*gid)))
		return -EINVAL;
	for (port = first; port && port <= last; port++) {
		i = ib_gid_find_on(device, port, gid);
		if (i != -ENOENT)
			break;
	}
	if (i < 0)
		return i;
	if (found_port)
		*found_port = port;
	if (index)
		*index = i;
	return 0;
}
EXPORT_SYMBOL_GPL(ib_gid_find);

int ib_pkey_cached(struct ib_device *device, u8 port, unsigned int index, u16 *pkey)
{
	return ib_cache_copy(device, port, IB_CACHE_PKEYS, index, pkey);
}
EXPORT_SYMBOL_GPL(ib_pkey_cached);

/* Full membership wins over limited; an empty entry has partition 0 and is never meant. */
static int ib_pkey_best(const struct ib_port_snapshot *snap, u16 pkey)
{
	int best = -ENOENT;
	int i;

	for (i = 0; i < snap->attr.pkey_tbl_len; i++) {
		u16 entry = snap->pkeys[i];

		if ((entry ^ pkey) & IB_PKEY_PARTITION)
			continue;
		if (entry & IB_PKEY_FULL_MEMBER)
			return i;
		if (best < 0)
			best = i;
	}
	return best;
}

int ib_pkey_find(struct ib_device *device, u8 port, u16 pkey, u16 *index)
{
	struct ib_port_snapshot *snap;
	int found;

	if (!(pkey & IB_PKEY_PARTITION))
		return -EINVAL;
	rcu_read_lock();
	snap = ib_cache_look(device, port);
	found = IS_ERR(snap) ? PTR_ERR(snap) : ib_pkey_best(snap, pkey);
	rcu_read_unlock();
	if (found < 0)
		return found;
	*index = found;
	return 0;
}
EXPORT_SYMBOL_GPL(ib_pkey_find);

u8 ib_lmc_cached(struct ib_device *device, u8 port)
{
	struct ib_port_attr attr;

	return ib_port_cached(device, port, &attr) ? 0 : attr.lmc;
}
EXPORT_SYMBOL_GPL(ib_lmc_cached);
