/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port in sysfs, for the files that fill its directory.
 */
#ifndef IB_CORE_SYSFS_PORT_H
#define IB_CORE_SYSFS_PORT_H

#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "objects.h"

struct ib_gid_attrs;
struct ib_port_file;
struct ib_stats;
struct ib_sysfs_port;

typedef ssize_t (*ib_port_show)(struct ib_sysfs_port *port, struct ib_port_file *file, char *buf);

/**
 * struct ib_port_file - a file of a port
 * @attr: the kernel's
 * @show: fills the page
 * @emit: for files that show one value of the port's attributes
 * @index: for files of a table: which entry; for counters: which counter
 * @name: for files of a table
 */
struct ib_port_file {
	struct attribute attr;
	ib_port_show show;
	ssize_t (*emit)(const struct ib_port_attr *attr, char *buf);
	unsigned int index;
	char name[12];
};

/**
 * struct ib_port_table - a folder with a file for each entry of a table
 * @group: the kernel's
 * @list: for @group
 * @files: the files
 */
struct ib_port_table {
	struct attribute_group group;
	struct attribute **list;
	struct ib_port_file *files;
};

/**
 * struct ib_sysfs_port - a port
 * @kobj: its directory; owns the memory
 * @device: its memory is kept, and with it this module, whose code frees a port
 * @port: its number, from 1
 * @gids: folder "gids"
 * @pkeys: folder "pkeys"
 * @gid_attrs: folder "gid_attrs", or NULL
 * @stats: folder "hw_counters", or NULL
 */
struct ib_sysfs_port {
	struct kobject kobj;
	struct ib_device *device;
	u8 port;
	struct ib_port_table gids;
	struct ib_port_table pkeys;
	struct ib_gid_attrs *gid_attrs;
	struct ib_stats *stats;
};

int ib_port_counters_add(struct ib_sysfs_port *port);

#endif /* IB_CORE_SYSFS_PORT_H */
