// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of a provider in sysfs: the folder "hw_counters" of a device and of each port, with a
 * file for each figure and the file "lifespan".
 *
 * Providers read all their figures by one command, and a monitor reads all the files one after the
 * other. So what was read is shown again for a while: as many milliseconds as "lifespan" says.
 */
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "core.h"
#include "objects.h"

/* Milliseconds; as user programs know them. */
#define IB_STATS_LIFESPAN 10
#define IB_STATS_LIFESPAN_MAX 10000

/**
 * struct ib_stats_file - a figure's file
 * @attr: the kernel's
 * @index: which figure
 */
struct ib_stats_file {
	struct attribute attr;
	unsigned int index;
};

/**
 * struct ib_stats - a folder "hw_counters"
 * @kobj: the folder; owns the memory
 * @device: its memory is kept, and with it this module, whose code frees the folder
 * @port: of this port, 0: of the device
 * @list: which figures, the provider's
 * @lock: protects what follows, but for @files
 * @lifespan: how long figures are good for, in milliseconds
 * @read_at: when they were read, in milliseconds of the HCA's clock
 * @valid: they were ever read
 * @values: the figures
 * @files: a file for each
 */
struct ib_stats {
	struct kobject kobj;
	struct ib_device *device;
	u8 port;
	const struct ib_stats_list *list;
	struct mutex lock; /* see above */
	u32 lifespan;
	u64 read_at;
	bool valid;
	u64 *values;
	struct ib_stats_file files[];
};

static struct ib_stats *ib_stats_of(struct kobject *kobj)
{
	return container_of(kobj, struct ib_stats, kobj);
}

static int ib_stats_read(struct ib_stats *stats)
{
	struct ib_device *device = stats->device;
	u64 now = ib_hca_now(device->hca);
	int err;

	lockdep_assert_held(&stats->lock);
	err = ib_device_enter(device);
	if (err)
		return err;
	if (!stats->valid || now - stats->read_at >= stats->lifespan) {
		err = ib_verbs_of(device)->read_stats(device, stats->port, stats->values);
		stats->valid = !err;
		stats->read_at = now;
	}
	ib_device_exit(device);
	return err;
}

/* One of the figures, or, for the attribute that is in no file of ours, how long they are good. */
static struct attribute ib_stats_lifespan = { .name = "lifespan", .mode = 0644 };

static ssize_t ib_stats_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct ib_stats *stats = ib_stats_of(kobj);
	u64 value = 0;
	int err = 0;

	mutex_lock(&stats->lock);
	if (attr == &ib_stats_lifespan) {
		value = stats->lifespan;
	} else {
		err = ib_stats_read(stats);
		if (!err)
			value = stats->values[container_of(attr, struct ib_stats_file,
							   attr)->index];
	}
	mutex_unlock(&stats->lock);
	return err ?: sysfs_emit(buf, "%llu\n", value);
}

static ssize_t ib_stats_store(struct kobject *kobj, struct attribute *attr, const char *buf,
			      size_t count)
{
	struct ib_stats *stats = ib_stats_of(kobj);
	unsigned int lifespan;
	int err;

	err = kstrtouint(buf, 10, &lifespan);
	if (err)
		return err;
	if (lifespan > IB_STATS_LIFESPAN_MAX)
		return -EINVAL;
	mutex_lock(&stats->lock);
	stats->lifespan = lifespan;
	mutex_unlock(&stats->lock);
	return count;
}

static const struct sysfs_ops ib_stats_sysfs_ops = {
	.show = ib_stats_show,
	.store = ib_stats_store,
};

static void ib_stats_release(struct kobject *kobj)
{
	struct ib_stats *stats = ib_stats_of(kobj);
	struct ib_device *device = stats->device;

	mutex_destroy(&stats->lock);
	kfree(stats->values);
	kfree(stats);
	put_device(&device->dev);
}

static const struct kobj_type ib_stats_type = {
	.release = ib_stats_release,
	.sysfs_ops = &ib_stats_sysfs_ops,
};

static struct ib_stats *ib_stats_alloc(struct ib_device *device, u8 port,
				       const struct ib_stats_list *list)
{
	struct ib_stats *stats = kzalloc(struct_size(stats, files, list->count), GFP_KERNEL);

	if (!stats)
		return NULL;
	stats->values = kcalloc(list->count, sizeof(*stats->values), GFP_KERNEL);
	if (!stats->values) {
		kfree(stats);
		return NULL;
	}
	mutex_init(&stats->lock);
	stats->device = device;
	get_device(&device->dev);
	stats->port = port;
	stats->list = list;
	stats->lifespan = IB_STATS_LIFESPAN;
	return stats;
}

static int ib_stats_add_files(struct ib_stats *stats)
{
	unsigned int i;
	int err;

	err = sysfs_create_file(&stats->kobj, &ib_stats_lifespan);
	for (i = 0; i < stats->list->count && !err; i++) {
		struct ib_stats_file *file = &stats->files[i];

		sysfs_attr_init(&file->attr);
		file->attr.name = stats->list->stat[i].name;
		file->attr.mode = 0444;
		file->index = i;
		err = sysfs_create_file(&stats->kobj, &file->attr);
	}
	return err;
}

/* What the provider offers, or NULL; an error if it cannot be asked any more. */
static const struct ib_stats_list *ib_stats_ask(struct ib_device *device, u8 port)
{
	const struct ib_stats_list *list = NULL;
	int err;

	err = ib_device_enter(device);
	if (err)
		return ERR_PTR(err);
	if (ib_verbs_of(device)->stats && ib_verbs_of(device)->read_stats)
		list = ib_verbs_of(device)->stats(device, port);
	ib_device_exit(device);
	return list;
}

/**
 * ib_stats_add() - the folder "hw_counters", if the provider offers statistics
 * @device: whose
 * @port: a port, or 0 for the device
 * @parent: its directory, which has been added
 * @stats: the folder for ib_stats_del(), NULL if there is none
 *
 * Return: 0 or an error.
 */
int ib_stats_add(struct ib_device *device, u8 port, struct kobject *parent,
		 struct ib_stats **stats)
{
	const struct ib_stats_list *list = ib_stats_ask(device, port);
	int err;

	*stats = NULL;
	if (IS_ERR_OR_NULL(list))
		return PTR_ERR_OR_ZERO(list);
	*stats = ib_stats_alloc(device, port, list);
	if (!*stats)
		return -ENOMEM;
	err = kobject_init_and_add(&(*stats)->kobj, &ib_stats_type, parent, "hw_counters");
	if (!err)
		err = ib_stats_add_files(*stats);
	if (err) {
		ib_stats_del(*stats);
		*stats = NULL;
	}
	return err;
}

/**
 * ib_stats_del() - the folder goes; readers that are inside a file are waited for
 * @stats: from ib_stats_add(), or NULL
 */
void ib_stats_del(struct ib_stats *stats)
{
	if (!stats)
		return;
	if (stats->kobj.state_in_sysfs)
		kobject_del(&stats->kobj);
	kobject_put(&stats->kobj);
}
