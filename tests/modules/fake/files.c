// SPDX-License-Identifier: GPL-2.0-only
/*
 * User files of fake HCAs: one char device for each, /dev/lastref_<device>, with which a program
 * can do what it does with umad and uverbs: map a page of the hardware, sleep in read(), poll, and
 * make calls that touch it. The page is ordinary memory that stands for a BAR.
 *
 * The page is counted as hardware: it may be in a page table only while its device lives. What a
 * program reads tells whether that is so, since it is full of FILES_PATTERN.
 */
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <ib/client.h>
#include <ib/revoke.h>

#include "files.h"

#define FILES_PATTERN 0xa5

/**
 * struct files_node - the char device of a device
 * @ref: held by the attachment and by each open file
 * @misc: the kernel's
 * @device: the InfiniBand device; its memory is kept
 * @bar: what stands for its hardware
 * @lock: protects @opens and &files_open.node
 * @opens: open files
 * @name: of @misc
 */
struct files_node {
	struct kref ref;
	struct miscdevice misc;
	struct ib_device *device;
	struct page *bar;
	struct mutex lock; /* protects opens */
	struct list_head opens;
	char name[IB_DEVICE_NAME_MAX];
};

/**
 * struct files_open - an open file
 * @file: ib_core's
 * @node: in &files_node.opens
 * @of: its char device
 */
struct files_open {
	struct ib_file file;
	struct list_head node;
	struct files_node *of;
};

static void files_node_free(struct kref *ref)
{
	struct files_node *node = container_of(ref, struct files_node, ref);

	put_device(&node->device->dev);
	__free_page(node->bar);
	kfree(node);
}

static int files_do_open(struct inode *inode, struct file *filp)
{
	struct files_node *node = container_of(filp->private_data, struct files_node, misc);
	struct files_open *open = kzalloc(sizeof(*open), GFP_KERNEL);
	int err;

	if (!open)
		return -ENOMEM;
	open->of = node;
	mutex_lock(&node->lock);
	err = ib_file_open(&open->file, node->device, filp, NULL);
	if (!err)
		list_add_tail(&open->node, &node->opens);
	mutex_unlock(&node->lock);
	if (err) {
		kfree(open);
		return err;
	}
	kref_get(&node->ref);
	filp->private_data = open;
	return 0;
}

static int files_do_release(struct inode *inode, struct file *filp)
{
	struct files_open *open = filp->private_data;
	struct files_node *node = open->of;

	mutex_lock(&node->lock);
	list_del(&open->node);
	mutex_unlock(&node->lock);
	ib_file_close(&open->file);
	kfree(open);
	kref_put(&node->ref, files_node_free);
	return 0;
}

/* Nothing ever comes: a sleeper of which only a revocation makes an end. */
static ssize_t files_do_read(struct file *filp, char __user *to, size_t size, loff_t *at)
{
	struct files_open *open = filp->private_data;

	return wait_event_interruptible(open->file.wait, ib_file_revoked(&open->file)) ?: -EIO;
}

/* A call that touches the hardware: the first byte goes to its first register. */
static ssize_t files_do_write(struct file *filp, const char __user *from, size_t size, loff_t *at)
{
	struct files_open *open = filp->private_data;
	u8 value;
	int err;

	if (!size || get_user(value, from))
		return -EFAULT;
	err = ib_file_enter(&open->file);
	if (err)
		return err;
	*(u8 *)page_address(open->of->bar) = value;
	ib_file_exit(&open->file);
	return 1;
}

static __poll_t files_do_poll(struct file *filp, poll_table *table)
{
	struct files_open *open = filp->private_data;

	return ib_file_poll(&open->file, filp, table, 0);
}

static int files_do_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct files_open *open = filp->private_data;

	if (vma->vm_pgoff || vma_pages(vma) != 1)
		return -EINVAL;
	return ib_file_mmap(&open->file, vma, page_to_pfn(open->of->bar), vma->vm_page_prot);
}

static const struct file_operations files_ops = {
	.owner = THIS_MODULE,
	.open = files_do_open,
	.release = files_do_release,
	.read = files_do_read,
	.write = files_do_write,
	.poll = files_do_poll,
	.mmap = files_do_mmap,
};

static struct files_node *files_node_alloc(struct ib_device *device)
{
	struct files_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	char name[IB_DEVICE_NAME_MAX];

	if (!node)
		return NULL;
	node->bar = alloc_page(GFP_KERNEL);
	if (!node->bar) {
		kfree(node);
		return NULL;
	}
	memset(page_address(node->bar), FILES_PATTERN, PAGE_SIZE);
	kref_init(&node->ref);
	mutex_init(&node->lock);
	INIT_LIST_HEAD(&node->opens);
	get_device(&device->dev);
	node->device = device;
	snprintf(node->name, sizeof(node->name), "lastref_%.32s", ib_device_name(device, name));
	node->misc.minor = MISC_DYNAMIC_MINOR;
	node->misc.name = node->name;
	node->misc.fops = &files_ops;
	return node;
}

static int files_add_one(struct ib_attachment *attachment)
{
	struct files_node *node = files_node_alloc(attachment->device);
	int err;

	if (!node)
		return -ENOMEM;
	err = misc_register(&node->misc);
	if (err) {
		kref_put(&node->ref, files_node_free);
		return err;
	}
	ib_attachment_set_context(attachment, node);
	return 0;
}

/* As umad and uverbs do it: no new opens, then a fence for the calls of each open file. */
static void files_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct files_node *node = ib_attachment_context(attachment);
	struct files_open *open;

	misc_deregister(&node->misc);
	mutex_lock(&node->lock);
	list_for_each_entry(open, &node->opens, node)
		ib_file_revoke(&open->file);
	mutex_unlock(&node->lock);
}

static void files_free(void *context)
{
	struct files_node *node = context;

	kref_put(&node->ref, files_node_free);
}

static struct ib_client files_client = {
	.name = "files",
	.owner = THIS_MODULE,
	.add_one = files_add_one,
	.remove_one = files_remove_one,
	.free = files_free,
};

int files_register(void)
{
	return ib_client_register(&files_client);
}

void files_unregister(void)
{
	ib_client_unregister(&files_client);
}
