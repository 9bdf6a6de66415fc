// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files of umadN: their life, poll, and how they are killed.
 *
 * Two may end a file: the process that closes it, and remove_one.  Both call umad_file_kill(), at
 * the same time if it has to be; each agent is taken out of the file's table by one of them, who
 * then destroys it.  The memory goes with the last of the two.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "umad.h"

static void umad_file_free(struct kref *ref)
{
	struct umad_file *file = container_of(ref, struct umad_file, ref);

	struct umad_packet *packet, *next;

	list_for_each_entry_safe(packet, next, &file->recv, node)
		umad_packet_free(packet);
	/* Sends of agents that were reaped while the file was being closed. */
	list_for_each_entry_safe(packet, next, &file->sends, node)
		umad_packet_free(packet);
	ib_attachment_put(file->attachment);
	kfree(file);
}

/**
 * umad_file_put() - give the memory of a file back
 * @file: the file
 *
 * Context: may sleep.
 */
void umad_file_put(struct umad_file *file)
{
	kref_put(&file->ref, umad_file_free);
}

/* The framework keeps the memory of an attachment as long as its node is not dead. */
static int umad_file_bind(struct umad_file *file, struct umad_node *node)
{
	int err = -ENXIO;

	mutex_lock(&node->lock);
	if (!node->dead)
		err = ib_file_open(&file->ib, node->cdev.device, NULL, NULL);
	if (!err) {
		file->umad = node;
		file->attachment = node->attachment;
		ib_attachment_get(file->attachment);
		list_add_tail(&file->node, &node->files);
	}
	mutex_unlock(&node->lock);
	return err == -ENODEV ? -ENXIO : err;
}

static int umad_open(struct inode *inode, struct file *filp)
{
	struct umad_node *node = container_of(inode->i_cdev, struct umad_node, cdev.cdev);
	struct umad_file *file = kzalloc(sizeof(*file), GFP_KERNEL);
	int err;

	if (!file)
		return -ENOMEM;
	kref_init(&file->ref);
	mutex_init(&file->mutex);
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->recv);
	INIT_LIST_HEAD(&file->sends);
	err = umad_file_bind(file, node);
	if (err) {
		kfree(file);
		return err;
	}
	filp->private_data = file;
	return stream_open(inode, filp);
}

/*
 * No agent of the file is left when this returns, save those that somebody else is destroying, and
 * none is made any more.
 */
static void umad_file_kill(struct umad_file *file)
{
	unsigned int id;

	spin_lock(&file->lock);
	file->dead = true;
	spin_unlock(&file->lock);
	/* A registration that had not seen this. */
	mutex_lock(&file->mutex);
	mutex_unlock(&file->mutex);
	for (id = 0; id < UMAD_AGENTS; id++)
		umad_agent_end(file, id);
}

static struct umad_file *umad_node_first(struct umad_node *node)
{
	struct umad_file *file;

	mutex_lock(&node->lock);
	file = list_first_entry_or_null(&node->files, struct umad_file, node);
	if (file) {
		list_del_init(&file->node);
		kref_get(&file->ref);
	}
	mutex_unlock(&node->lock);
	return file;
}

/**
 * umad_node_kill() - end every open file of a node, for remove_one
 * @node: dead, so there will be no more
 *
 * The files stay open and answer -EIO.
 *
 * Context: may sleep; waits for calls that are inside the MAD service, not for processes.
 */
void umad_node_kill(struct umad_node *node)
{
	struct umad_file *file;

	while ((file = umad_node_first(node))) {
		ib_file_revoke(&file->ib);
		umad_file_kill(file);
		umad_file_put(file);
	}
}

static int umad_release(struct inode *inode, struct file *filp)
{
	struct umad_file *file = filp->private_data;
	struct umad_node *node = file->umad;

	mutex_lock(&node->lock);
	list_del_init(&file->node);
	mutex_unlock(&node->lock);
	umad_file_kill(file);
	ib_file_close(&file->ib);
	umad_file_put(file);
	return 0;
}

/* A file whose device is gone says so and nothing else: programs then read, and get -EIO. */
static __poll_t umad_poll(struct file *filp, poll_table *table)
{
	struct umad_file *file = filp->private_data;

	poll_wait(filp, &file->ib.wait, table);
	if (ib_file_revoked(&file->ib))
		return EPOLLERR;
	return EPOLLOUT | EPOLLWRNORM |
	       (READ_ONCE(file->recv_count) ? EPOLLIN | EPOLLRDNORM : 0);
}

const struct file_operations umad_fops = {
	.owner = THIS_MODULE,
	.open = umad_open,
	.release = umad_release,
	.read_iter = umad_read_iter,
	.write_iter = umad_write_iter,
	.poll = umad_poll,
	.unlocked_ioctl = umad_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
