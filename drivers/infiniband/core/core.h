/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of ib_core tell each other, and nobody else.
 */
#ifndef IB_CORE_H
#define IB_CORE_H

#include <ib/agent.h>
#include <ib/client.h>
#include <ib/compat.h>
#include <ib/device.h>
#include <ib/hca.h>
#include <ib/revoke.h>
#include <ib/service.h>

struct seq_file;

/*
 * ---- what the framework asks of the verbs part (objects.c, cache.c, event.c, sysfs.c)
 * -------------
 *
 * Order over the life of a device, all on the lifecycle thread:
 *   ib_verbs_begin, ib_cache_start, [services, clients], ib_sysfs_add, LIVE, ib_events_ready,
 *   ib_sysfs_del, [clients leave: ib_objects_reap(attachment) each], [services stop, the same],
 *   ib_events_stop, ib_cache_stop, gate closed, provider's stop, STOPPED, ..., ib_verbs_end.
 * After GONE: ib_objects_flush once, when the hardware is quiet or was given up on.
 */

/**
 * ib_verbs_begin() - allocate &ib_device.objects, .cache and .events
 * @device: in state NEW; the gate is open
 *
 * Return: 0 or an error, nothing left behind.
 */
int ib_verbs_begin(struct ib_device *device);

/**
 * ib_verbs_end() - free what ib_verbs_begin() allocated
 * @device: its last memory reference was dropped, or ib_verbs_begin() was the last thing that
 *	worked
 *
 * Context: process.  Nobody knows the device any more.
 */
void ib_verbs_end(struct ib_device *device);

/** ib_cache_start() - read ports, GID, P_Key and LMC tables; events are queued from here on */
int ib_cache_start(struct ib_device *device);

/** ib_cache_stop() - mirror; no event is handled after the return */
void ib_cache_stop(struct ib_device *device);

/** ib_events_ready() - the device is LIVE: deliver what was queued, and from now on at once */
void ib_events_ready(struct ib_device *device);

/** ib_events_stop() - refuse and forget events; the handler that runs is waited for */
void ib_events_stop(struct ib_device *device);

/** ib_sysfs_add() - device_add() of the class device, ports and attributes, then the uevent */
int ib_sysfs_add(struct ib_device *device);

/** ib_sysfs_del() - mirror; also right if ib_sysfs_add() failed half-way or never ran */
void ib_sysfs_del(struct ib_device *device);

/**
 * ib_objects_reap() - destroy every verbs object left in an attachment
 * @attachment: closed: nothing is added any more, and no callback of its owner runs
 *
 * In the order that their references to each other ask for, with one line of the log for each that
 * names owner and object.  Objects become tombstones for a late destroy of their owner.  Works
 * after GONE too.
 *
 * Return: how many there were.
 */
unsigned int ib_objects_reap(struct ib_attachment *attachment);

/**
 * ib_objects_disarm() - no completion or event callback of these objects from now on
 * @attachment: the attachment
 *
 * Waits for the callbacks that run.
 */
void ib_objects_disarm(struct ib_attachment *attachment);

/** ib_objects_flush() - GONE: end the drains that wait for completions; the provider has flushed */
void ib_objects_flush(struct ib_device *device);

/** ib_objects_show() - for debugfs: a line for each object of the device */
void ib_objects_show(struct ib_device *device, struct seq_file *seq);

/** ib_verbs_init() - sysfs class, netlink; from ib_core's module init */
int ib_verbs_init(void);

/** ib_verbs_exit() - mirror of ib_verbs_init() */
void ib_verbs_exit(void);

#endif /* IB_CORE_H */
