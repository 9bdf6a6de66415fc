/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What other modules add to ib_core's netlink: where their char devices are.
 */
#ifndef IB_NETLINK_H
#define IB_NETLINK_H

#include <linux/list.h>
#include <linux/types.h>

struct device;
struct ib_device;
struct module;

/**
 * struct ib_chardev_info - an answer
 * @dev: the char device; a reference to it is handed over
 * @abi: version of its interface
 * @driver_id: enum rdma_driver_id of the user interface, if @has_driver_id
 * @has_driver_id: see there
 */
struct ib_chardev_info {
	struct device *dev;
	u64 abi;
	u32 driver_id;
	bool has_driver_id;
};

/**
 * struct ib_chardev - a kind of char device
 * @type: what user programs ask for: "uverbs", "umad", "issm", "rdma_cm"
 * @owner: the module
 * @per_port: a port has to be named
 * @find: fill in where it is.  @device is NULL for kinds that belong to no device; its memory is
 *	kept by the caller; may sleep.  Returns 0, or -ENODEV.
 * @node: private to netlink.c
 */
struct ib_chardev {
	const char *type;
	struct module *owner;
	bool per_port;
	int (*find)(struct ib_device *device, u8 port, struct ib_chardev_info *info);
	struct list_head node;
};

/**
 * ib_chardev_register() - answer user programs that look for a kind of char device
 * @chardev: statically allocated
 *
 * The module also carries MODULE_ALIAS("rdma-client-<type>"), so that it is loaded when asked for.
 */
void ib_chardev_register(struct ib_chardev *chardev);

/**
 * ib_chardev_unregister() - its mirror
 * @chardev: no call of @find is under way when this returns
 */
void ib_chardev_unregister(struct ib_chardev *chardev);

#endif /* IB_NETLINK_H */
