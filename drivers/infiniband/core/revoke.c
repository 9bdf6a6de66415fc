// SPDX-License-Identifier: GPL-2.0-only
/*
 * User files of a device, and how all of them are taken away at once.
 *
 * Every open file points its page cache mapping at an anonymous inode of the device, so that one
 * unmap_mapping_range() reaches the mappings of all processes without a look at any of them.  Pages
 * are inserted by the fault handler alone, inside the device's gate, after a look at "revoked":
 *
 *   revoke: set revoked, wake, zap;  ... the gate drains ...;  zap again
 *
 * The second zap catches a fault that had passed its look when the first one came; after the drain
 * there is none.  A revoked mapping faults in a page of zeros, one for each mapping, so what a
 * process then writes there is seen by itself alone.
 */
#include <linux/export.h>
#include <linux/fs_context.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>

#include "core.h"

#define IB_FS_MAGIC 0x6c617374 /* "last" */

/**
 * struct ib_revoke_list - the files of a device
 * @lock: protects @files and @revoked; held while files are told, which does not wait
 * @files: &ib_file.node
 * @revoked: no file is let in any more
 * @inode: what all mappings are of
 */
struct ib_revoke_list {
	struct mutex lock; /* protects the members */
	struct list_head files;
	bool revoked;
	struct inode *inode;
};

/*
 * One user mapping.  Shared by the pieces into which the kernel may split it, and by the copies a
 * fork makes.
 */
struct ib_mapping {
	struct kref ref;
	struct mutex lock; /* protects dummy */
	struct page *dummy;
	struct ib_file *file;
	unsigned long pfn;
	unsigned long pgoff;
};

/* There is a mount while there are devices; a mount keeps ib_core's text, so not for longer. */
static struct vfsmount *ib_fs_mount;
static int ib_fs_users;

static int ib_fs_init_context(struct fs_context *context)
{
	return init_pseudo(context, IB_FS_MAGIC) ? 0 : -ENOMEM;
}

static struct file_system_type ib_fs = {
	.name = "ib_core",
	.owner = THIS_MODULE,
	.init_fs_context = ib_fs_init_context,
	.kill_sb = kill_anon_super,
};

struct ib_revoke_list *ib_revoke_list_alloc(void)
{
	struct ib_revoke_list *list = kzalloc(sizeof(*list), GFP_KERNEL);
	struct inode *inode;
	int err;

	if (!list)
		return ERR_PTR(-ENOMEM);
	err = simple_pin_fs(&ib_fs, &ib_fs_mount, &ib_fs_users);
	if (err)
		goto free;
	inode = alloc_anon_inode(ib_fs_mount->mnt_sb);
	if (IS_ERR(inode)) {
		err = PTR_ERR(inode);
		goto unpin;
	}
	mutex_init(&list->lock);
	INIT_LIST_HEAD(&list->files);
	list->inode = inode;
	return list;

unpin:
	simple_release_fs(&ib_fs_mount, &ib_fs_users);
free:
	kfree(list);
	return ERR_PTR(err);
}

void ib_revoke_list_free(struct ib_revoke_list *list)
{
	iput(list->inode);
	simple_release_fs(&ib_fs_mount, &ib_fs_users);
	kfree(list);
}

int ib_file_open(struct ib_file *file, struct ib_device *device, struct file *filp,
		 void (*on_revoke)(struct ib_file *file))
{
	struct ib_revoke_list *list = device->files;
	int err = 0;

	init_waitqueue_head(&file->wait);
	file->on_revoke = on_revoke;
	mutex_lock(&list->lock);
	if (list->revoked) {
		err = -ENODEV;
	} else {
		file->device = device;
		get_device(&device->dev);
		list_add_tail(&file->node, &list->files);
		if (filp)
			filp->f_mapping = list->inode->i_mapping;
	}
	mutex_unlock(&list->lock);
	return err;
}
EXPORT_SYMBOL_GPL(ib_file_open);

void ib_file_close(struct ib_file *file)
{
	struct ib_revoke_list *list = file->device->files;

	mutex_lock(&list->lock);
	list_del(&file->node);
	mutex_unlock(&list->lock);
	put_device(&file->device->dev);
}
EXPORT_SYMBOL_GPL(ib_file_close);

/* With the list's lock held. */
static void ib_file_revoke_locked(struct ib_file *file)
{
	if (file->revoked)
		return;
	spin_lock_irq(&file->device->hca->lock);
	WRITE_ONCE(file->revoked, true);
	spin_unlock_irq(&file->device->hca->lock);
	if (file->on_revoke)
		file->on_revoke(file);
	wake_up_all(&file->wait);
}

static bool ib_file_is_empty(void *arg)
{
	return !((struct ib_file *)arg)->inside;
}

void ib_file_revoke(struct ib_file *file)
{
	struct ib_device *device = file->device;

	mutex_lock(&device->files->lock);
	ib_file_revoke_locked(file);
	mutex_unlock(&device->files->lock);
	/* A call inside is also inside the device's gate. */
	ib_gate_sync(&device->gate);
	ib_flow_wait(device->hca, "calls inside", "a user's file", 0, ib_file_is_empty, file);
	/* The mappings of the other files fault in again. */
	ib_revoke_zap(device);
}
EXPORT_SYMBOL_GPL(ib_file_revoke);

/**
 * ib_revoke_all() - revoke every file of a device, and refuse new ones
 * @device: the device
 *
 * Waits for nobody.  Context: may sleep.
 */
void ib_revoke_all(struct ib_device *device)
{
	struct ib_revoke_list *list = device->files;
	struct ib_file *file;

	mutex_lock(&list->lock);
	list->revoked = true;
	list_for_each_entry(file, &list->files, node)
		ib_file_revoke_locked(file);
	mutex_unlock(&list->lock);
	ib_revoke_zap(device);
}

/**
 * ib_revoke_zap() - take the device's pages out of every process
 * @device: the device
 *
 * Context: may sleep.
 */
void ib_revoke_zap(struct ib_device *device)
{
	unmap_mapping_range(device->files->inode->i_mapping, 0, 0, 1);
}

/* In one hold of the lock: a revocation sees the count, or this sees the revocation. */
static bool ib_file_count(struct ib_file *file)
{
	struct ib_hca *hca = file->device->hca;
	unsigned long flags;
	bool in;

	spin_lock_irqsave(&hca->lock, flags);
	in = !READ_ONCE(file->revoked);
	file->inside += in;
	spin_unlock_irqrestore(&hca->lock, flags);
	return in;
}

int ib_file_enter(struct ib_file *file)
{
	int err = ib_device_enter(file->device);

	if (err)
		return err;
	if (ib_file_count(file))
		return 0;
	ib_device_exit(file->device);
	return -EIO;
}
EXPORT_SYMBOL_GPL(ib_file_enter);

void ib_file_exit(struct ib_file *file)
{
	struct ib_hca *hca = file->device->hca;
	unsigned long flags;

	ib_device_exit(file->device);
	/* After this the file may be closed and freed, but the HCA's memory is its device's. */
	spin_lock_irqsave(&hca->lock, flags);
	if (!--file->inside && READ_ONCE(file->revoked))
		wake_up_all(&hca->wait);
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_file_exit);

__poll_t ib_file_poll(struct ib_file *file, struct file *filp, poll_table *table, __poll_t ready)
{
	poll_wait(filp, &file->wait, table);
	if (ib_file_revoked(file))
		return ready | EPOLLERR | EPOLLHUP | EPOLLIN | EPOLLRDNORM;
	return ready;
}
EXPORT_SYMBOL_GPL(ib_file_poll);

static void ib_mapping_free(struct kref *ref)
{
	struct ib_mapping *mapping = container_of(ref, struct ib_mapping, ref);

	if (mapping->dummy)
		__free_page(mapping->dummy);
	kfree(mapping);
}

static void ib_mapping_open(struct vm_area_struct *vma)
{
	struct ib_mapping *mapping = vma->vm_private_data;

	kref_get(&mapping->ref);
}

static void ib_mapping_close(struct vm_area_struct *vma)
{
	struct ib_mapping *mapping = vma->vm_private_data;

	kref_put(&mapping->ref, ib_mapping_free);
}

static vm_fault_t ib_mapping_fault_dummy(struct ib_mapping *mapping, struct vm_fault *vmf)
{
	struct page *page;

	mutex_lock(&mapping->lock);
	if (!mapping->dummy)
		mapping->dummy = alloc_page(GFP_KERNEL | __GFP_ZERO);
	page = mapping->dummy;
	mutex_unlock(&mapping->lock);
	if (!page)
		return VM_FAULT_OOM;
	return vmf_insert_pfn_prot(vmf->vma, vmf->address, page_to_pfn(page),
				   vm_get_page_prot(vmf->vma->vm_flags));
}

static vm_fault_t ib_mapping_fault(struct vm_fault *vmf)
{
	struct ib_mapping *mapping = vmf->vma->vm_private_data;
	vm_fault_t fault;

	if (ib_file_enter(mapping->file))
		return ib_mapping_fault_dummy(mapping, vmf);
	fault = vmf_insert_pfn(vmf->vma, vmf->address,
			       mapping->pfn + vmf->pgoff - mapping->pgoff);
	ib_file_exit(mapping->file);
	return fault;
}

static const struct vm_operations_struct ib_mapping_ops = {
	.open = ib_mapping_open,
	.close = ib_mapping_close,
	.fault = ib_mapping_fault,
};

int ib_file_mmap(struct ib_file *file, struct vm_area_struct *vma, unsigned long pfn,
		 pgprot_t prot)
{
	struct ib_mapping *mapping;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (ib_file_revoked(file))
		return -EIO;
	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return -ENOMEM;
	kref_init(&mapping->ref);
	mutex_init(&mapping->lock);
	mapping->file = file;
	mapping->pfn = pfn;
	mapping->pgoff = vma->vm_pgoff;
	vma->vm_private_data = mapping;
	vma->vm_ops = &ib_mapping_ops;
	vma->vm_page_prot = prot;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}
EXPORT_SYMBOL_GPL(ib_file_mmap);
