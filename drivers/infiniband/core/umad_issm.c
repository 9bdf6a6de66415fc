// SPDX-License-Identifier: GPL-2.0-only
/*
 * issmN: whoever has it open is the subnet manager of the port, and the port says so.
 *
 * One at a time; the next one waits.  The bit is PortInfo:CapabilityMask.IsSM (IBA 14.2.5.6).  When
 * the device leaves, those who wait get -ENXIO and the one who has it keeps a dead file.
 */
#include <linux/export.h>

#include <ib/port.h>

#include "umad.h"

static struct umad_node *issm_node(struct inode *inode)
{
	return container_of(inode->i_cdev, struct umad_node, cdev.cdev);
}

/* Return: 0; -EBUSY: somebody has it; -ENXIO: the device leaves. */
static int issm_try(struct umad_node *node)
{
	int err = 0;

	mutex_lock(&node->lock);
	if (node->dead)
		err = -ENXIO;
	else if (node->taken)
		err = -EBUSY;
	else
		WRITE_ONCE(node->taken, true);
	mutex_unlock(&node->lock);
	return err;
}

static int issm_take(struct umad_node *node, bool wait)
{
	int err;

	while ((err = issm_try(node)) == -EBUSY) {
		if (!wait)
			return -EAGAIN;
		if (wait_event_interruptible(node->wait, READ_ONCE(node->dead) ||
					     !READ_ONCE(node->taken)))
			return -ERESTARTSYS;
	}
	return err;
}

static void issm_give(struct umad_node *node)
{
	mutex_lock(&node->lock);
	WRITE_ONCE(node->taken, false);
	mutex_unlock(&node->lock);
	wake_up_all(&node->wait);
}

/* The device refuses by itself when it is on its way out. */
static int issm_say(struct umad_node *node, bool sm)
{
	struct ib_port_modify modify = {
		.set_cap_mask = sm ? IB_PORT_CAP_SM : 0,
		.clr_cap_mask = sm ? 0 : IB_PORT_CAP_SM,
	};

	return ib_port_modify(node->cdev.device, node->port, 0, &modify);
}

static int issm_open(struct inode *inode, struct file *filp)
{
	struct umad_node *node = issm_node(inode);
	int err = issm_take(node, !(filp->f_flags & O_NONBLOCK));

	if (err)
		return err;
	err = issm_say(node, true);
	if (err) {
		issm_give(node);
		return READ_ONCE(node->dead) ? -ENXIO : err;
	}
	filp->private_data = node;
	return nonseekable_open(inode, filp);
}

static int issm_release(struct inode *inode, struct file *filp)
{
	struct umad_node *node = filp->private_data;
	int err = issm_say(node, false);

	if (err && !READ_ONCE(node->dead))
		dev_warn(&node->cdev.dev, "the port still says that it has an SM (%d)\n", err);
	issm_give(node);
	return 0;
}

const struct file_operations issm_fops = {
	.owner = THIS_MODULE,
	.open = issm_open,
	.release = issm_release,
};
