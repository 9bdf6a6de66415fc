/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Char devices of a device: umadN, issmN, uverbsN.
 *
 * Such a node outlives the device it belongs to: a process may keep it open, or a reader of sysfs
 * may hold it, for as long as they like.  So its memory is freed by ib_core, whatever has become of
 * the module that made it, and what is embedded around it must own nothing that needs that module.
 * It keeps the memory of its device and nothing else.
 *
 * ib_cdev_del() takes the visible part away: the file in /dev, the folder in sysfs (no reader of
 * which is left when it returns), the number.  A process that still has the node open, or that
 * finds it by an inode which it had open before, reaches the file operations as before: open() has
 * to look whether the node is dead.
 */
#ifndef IB_CDEV_H
#define IB_CDEV_H

#include <linux/cdev.h>
#include <linux/device.h>

struct ib_device;

/**
 * struct ib_cdev - a char device
 * @dev: the class device; a child of the HCA's parent
 * @cdev: what the kernel finds by the number; open files keep it, and it keeps @dev
 * @device: whose it is; the memory is kept
 * @added: it is visible; changed by ib_cdev_add() and ib_cdev_del() alone
 */
struct ib_cdev {
	struct device dev;
	struct cdev cdev;
	struct ib_device *device;
	bool added;
};

/* For ib_cdev_alloc(). */
struct ib_cdev *ib_cdev_alloc_size(struct ib_device *device, size_t size);

/**
 * ib_cdev_alloc() - allocate a char device inside a structure of the caller
 * @device: the device
 * @type: the structure
 * @member: the struct ib_cdev in it, which must be its first member
 *
 * The memory is zeroed, and freed after ib_cdev_put() when its last user is gone.
 *
 * Context: may sleep.
 * Return: a pointer to @type, or NULL.
 */
#define ib_cdev_alloc(device, type, member)							\
({												\
	static_assert(offsetof(type, member) == 0);						\
	(type *)ib_cdev_alloc_size(device, sizeof(type));					\
})

/**
 * ib_cdev_add() - make it visible
 * @cdev: from ib_cdev_alloc()
 * @class: its class
 * @groups: attributes, there before user space hears of the device; or NULL
 * @number: its number, of the caller's region
 * @fops: its file operations; their module is kept by open files
 * @name: its name below the class, and in /dev if the class says nothing else
 *
 * Context: may sleep.
 * Return: 0 or an error; then it is as it was.
 */
int ib_cdev_add(struct ib_cdev *cdev, struct class *class, const struct attribute_group **groups,
		dev_t number, const struct file_operations *fops, const char *name);

/**
 * ib_cdev_del() - its mirror; idempotent
 * @cdev: a char device
 *
 * Context: may sleep; waits for readers of its attributes.
 */
void ib_cdev_del(struct ib_cdev *cdev);

/**
 * ib_cdev_put() - the caller is done with it
 * @cdev: not visible
 */
static inline void ib_cdev_put(struct ib_cdev *cdev)
{
	put_device(&cdev->dev);
}

#endif /* IB_CDEV_H */
