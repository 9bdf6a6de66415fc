// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the framework does about verbs objects, events and sysfs in a build without them.
 *
 * core.h says what each of these is to do.  A file that implements one takes it out of here.
 */
#include "core.h"

int __weak ib_verbs_begin(struct ib_device *device)
{
	return 0;
}

void __weak ib_verbs_end(struct ib_device *device)
{
}

int __weak ib_cache_start(struct ib_device *device)
{
	return 0;
}

void __weak ib_cache_stop(struct ib_device *device)
{
}

void __weak ib_events_ready(struct ib_device *device)
{
}

void __weak ib_events_stop(struct ib_device *device)
{
}

int __weak ib_sysfs_add(struct ib_device *device)
{
	return 0;
}

void __weak ib_sysfs_del(struct ib_device *device)
{
}

unsigned int __weak ib_objects_reap(struct ib_attachment *attachment)
{
	return 0;
}

void __weak ib_objects_disarm(struct ib_attachment *attachment)
{
}

void __weak ib_objects_flush(struct ib_device *device)
{
}

void __weak ib_objects_show(struct ib_device *device, struct seq_file *seq)
{
}

int __weak ib_verbs_init(void)
{
	return 0;
}

void __weak ib_verbs_exit(void)
{
}
