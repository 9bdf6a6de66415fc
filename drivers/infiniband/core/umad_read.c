// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program reads: MADs that were received, and sends that nobody answered.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "umad.h"

/**
 * umad_packet_free() - free a packet
 * @packet: on no list, and not being sent
 */
void umad_packet_free(struct umad_packet *packet)
{
	ib_mad_recv_free(packet->recv);
	kfree(packet);
}

/**
 * umad_packet_queue() - give a packet to the reader
 * @file: the file
 * @packet: the packet; dropped if nobody reads what is there
 *
 * Context: may sleep.
 */
void umad_packet_queue(struct umad_file *file, struct umad_packet *packet)
{
	bool queued = false;

	spin_lock(&file->lock);
	if (!file->dead && file->recv_count < UMAD_RECV_MAX) {
		list_add_tail(&packet->node, &file->recv);
		WRITE_ONCE(file->recv_count, file->recv_count + 1);
		queued = true;
	}
	spin_unlock(&file->lock);
	if (queued)
		wake_up_interruptible(&file->ib.wait);
	else
		umad_packet_free(packet);
}

/**
 * umad_received() - &ib_mad_agent_init.recv of every agent here
 * @mad: the agent
 * @recv: the message, ours now
 *
 * Return: IB_CB_DONE.
 */
enum ib_cb_result umad_received(struct ib_mad_agent *mad, struct ib_mad_recv *recv)
{
	struct umad_agent *agent = mad->context;
	struct umad_packet *packet = kzalloc(sizeof(*packet), GFP_KERNEL);

	if (!packet) {
		ib_mad_recv_free(recv);
		return IB_CB_DONE;
	}
	umad_hdr_of_recv(&packet->hdr, agent->id, recv);
	packet->recv = recv;
	umad_packet_queue(agent->file, packet);
	return IB_CB_DONE;
}

/* Return: the first packet, the reader's now; NULL: there is none; -EIO: the device is gone. */
static struct umad_packet *umad_packet_take(struct umad_file *file)
{
	struct umad_packet *packet;

	if (ib_file_revoked(&file->ib))
		return ERR_PTR(-EIO);
	spin_lock(&file->lock);
	packet = list_first_entry_or_null(&file->recv, struct umad_packet, node);
	if (packet) {
		list_del(&packet->node);
		WRITE_ONCE(file->recv_count, file->recv_count - 1);
	}
	spin_unlock(&file->lock);
	return packet;
}

/* The reader could not have it: it is the next one's. */
static void umad_packet_return(struct umad_file *file, struct umad_packet *packet)
{
	spin_lock(&file->lock);
	list_add(&packet->node, &file->recv);
	WRITE_ONCE(file->recv_count, file->recv_count + 1);
	spin_unlock(&file->lock);
	wake_up_interruptible(&file->ib.wait);
}

static struct umad_packet *umad_packet_wait(struct umad_file *file, bool wait)
{
	struct umad_packet *packet;

	while (!(packet = umad_packet_take(file))) {
		if (!wait)
			return ERR_PTR(-EAGAIN);
		if (wait_event_interruptible(file->ib.wait, READ_ONCE(file->recv_count) ||
					     ib_file_revoked(&file->ib)))
			return ERR_PTR(-ERESTARTSYS);
	}
	return packet;
}

static bool umad_give(struct iov_iter *to, const void *data, size_t size)
{
	return copy_to_iter(data, size, to) == size;
}

/*
 * The begin of a message that is longer than the reader has room for is given as well, with the
 * length that it needs; the message stays.
 */
static ssize_t umad_copy_recv(struct umad_packet *packet, size_t size, struct iov_iter *to)
{
	struct ib_mad_recv *recv = packet->recv;
	size_t room = iov_iter_count(to);
	bool whole = room >= size + recv->length;

	if (room < size + min_t(size_t, recv->length, IB_MAD_SIZE))
		return -EINVAL;
	packet->hdr.length = size + recv->length;
	if (!umad_give(to, &packet->hdr, size) ||
	    !umad_give(to, recv->mad, whole ? recv->length : IB_MAD_SIZE))
		return -EFAULT;
	return whole ? size + recv->length : -ENOSPC;
}

static ssize_t umad_copy_send(struct umad_packet *packet, size_t size, struct iov_iter *to)
{
	if (iov_iter_count(to) < size + sizeof(packet->head))
		return -EINVAL;
	if (!umad_give(to, &packet->hdr, size) ||
	    !umad_give(to, packet->head, sizeof(packet->head)))
		return -EFAULT;
	return size + sizeof(packet->head);
}

/**
 * umad_read_iter() - read(2) of umadN: one packet
 * @iocb: the call
 * @to: where to
 *
 * Return: bytes, or -EINVAL: no room for one segment; -ENOSPC: room for one, but not for all;
 * -EAGAIN: nothing is there; -EIO: the device is gone; -ERESTARTSYS, -EFAULT.
 */
ssize_t umad_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct umad_file *file = iocb->ki_filp->private_data;
	size_t size = umad_hdr_size(file);
	struct umad_packet *packet;
	ssize_t ret;

	if (iov_iter_count(to) < size)
		return -EINVAL;
	packet = umad_packet_wait(file, !(iocb->ki_filp->f_flags & O_NONBLOCK));
	if (IS_ERR(packet))
		return PTR_ERR(packet);
	if (packet->recv)
		ret = umad_copy_recv(packet, size, to);
	else
		ret = umad_copy_send(packet, size, to);
	if (ret < 0)
		umad_packet_return(file, packet);
	else
		umad_packet_free(packet);
	return ret;
}
