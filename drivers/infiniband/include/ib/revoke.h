/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User files of a device, and how they are taken away.
 *
 * A user interface (umad, uverbs) embeds a struct ib_file in what it keeps per open file.  The file
 * holds memory of the device and nothing else.  When the device closes, every file is revoked at
 * once: sleepers and pollers wake and see it, new calls get -EIO, mappings of the hardware
 * disappear from every process (they live on an inode of the device's own) and later accesses find
 * a page of zeros.  Nothing waits for the user.
 */
#ifndef IB_REVOKE_H
#define IB_REVOKE_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include <ib/device.h>

struct vm_area_struct;

/**
 * struct ib_file - an open file on a device
 * @device: the device; its memory is kept until ib_file_close()
 * @wait: for the readers and pollers of the file; woken by the owner for data, by a revocation
 *	always
 * @revoked: the device is gone for this file
 * @inside: how many calls are between ib_file_enter() and ib_file_exit(); under the HCA's lock
 * @node: in the device's list
 * @on_revoke: called once when the file is revoked, before the sleepers are woken; must not wait;
 *	may be NULL.  Runs under no spinlock, on the lifecycle thread or on a work item.
 */
struct ib_file {
	struct ib_device *device;
	wait_queue_head_t wait;
	bool revoked;
	unsigned int inside;
	struct list_head node;
	void (*on_revoke)(struct ib_file *file);
};

/**
 * ib_file_open() - bind a file to a device
 * @file: zeroed
 * @device: the device; the caller keeps its memory
 * @filp: the kernel's file; its mappings are moved to the device's inode
 * @on_revoke: see &ib_file.on_revoke
 *
 * Return: 0, or -ENODEV when the device is closing.
 */
int __must_check ib_file_open(struct ib_file *file, struct ib_device *device, struct file *filp,
			      void (*on_revoke)(struct ib_file *file));

/**
 * ib_file_close() - undo ib_file_open()
 * @file: the file
 *
 * For release(); right for a revoked file too; waits for a revocation of it that is under way.
 */
void ib_file_close(struct ib_file *file);

/**
 * ib_file_revoke() - revoke one file, and wait for the calls that are inside
 * @file: the file
 *
 * A fence: after the return no call of this file is between ib_file_enter() and ib_file_exit(), so
 * what those use can be destroyed.  A client calls it in its remove_one for each of its files, also
 * when the device has revoked them already, before it frees what they use.  Calls inside touch no
 * user memory and wait for the hardware alone, which GONE ends; so this is bounded.
 *
 * Idempotent.  Context: may sleep; not between ib_file_enter() and ib_file_exit().
 */
void ib_file_revoke(struct ib_file *file);

/**
 * ib_file_revoked() - the condition every sleeper of the file includes
 * @file: the file
 *
 * Return: yes, if it was revoked.
 */
static inline bool ib_file_revoked(const struct ib_file *file)
{
	return READ_ONCE(file->revoked);
}

/**
 * ib_file_enter() - begin the part of a user's call that touches hardware
 * @file: the file
 *
 * Copy in and pin before, copy out after.
 *
 * Return: 0, and the caller owes ib_file_exit(); -EIO: revoked or gone; -ENODEV.
 */
int __must_check ib_file_enter(struct ib_file *file);

/**
 * ib_file_exit() - end that part
 * @file: the file
 */
void ib_file_exit(struct ib_file *file);

/**
 * ib_file_poll() - poll() of a file
 * @file: the file
 * @filp: the kernel's
 * @table: the kernel's
 * @ready: what the owner found ready
 *
 * Return: @ready, or EPOLLERR and EPOLLHUP with what can be read when the file is revoked.
 */
__poll_t ib_file_poll(struct ib_file *file, struct file *filp, poll_table *table, __poll_t ready);

/**
 * ib_file_mmap() - map pages of the device into a process
 * @file: the file
 * @vma: what the user asked for; must be shared
 * @pfn: the first page frame; must be of this device for as long as the device is not STOPPED
 * @prot: protection, as from pgprot_noncached()
 *
 * Nothing is inserted here: pages come by faults, which enter the gate.
 *
 * Return: 0, -EINVAL: not shared, -EIO: revoked, -ENOMEM.
 */
int ib_file_mmap(struct ib_file *file, struct vm_area_struct *vma, unsigned long pfn,
		 pgprot_t prot);

#endif /* IB_REVOKE_H */
