// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program writes: MADs to be sent.
 *
 * User memory is read first, all of it; then the agent is kept, and the MAD service called.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "umad.h"

/**
 * struct umad_message - what a write() consists of
 * @hdr: the header
 * @length: bytes of @mad
 * @mad: the message, as the user wrote it
 */
struct umad_message {
	struct ib_user_mad_hdr hdr;
	size_t length;
	u8 mad[];
};

static struct umad_message *umad_message_read(struct umad_file *file, struct iov_iter *from)
{
	size_t count = iov_iter_count(from), size = umad_hdr_size(file);
	struct umad_message *message;

	if (count < size + IB_RMPP_HEADER || count > size + UMAD_SEND_MAX)
		return ERR_PTR(-EINVAL);
	message = kvmalloc(struct_size(message, mad, count - size), GFP_KERNEL_ACCOUNT);
	if (!message)
		return ERR_PTR(-ENOMEM);
	memset(&message->hdr, 0, sizeof(message->hdr));
	message->length = count - size;
	if (copy_from_iter_full(&message->hdr, size, from) &&
	    copy_from_iter_full(message->mad, message->length, from))
		return message;
	kvfree(message);
	return ERR_PTR(-EFAULT);
}

static bool umad_rmpp_is_active(const u8 *mad)
{
	return ib_class_has_rmpp(ib_get(mad, IB_MAD_CLASS)) &&
	       ib_get(mad, IB_RMPP_FLAGS) & IB_RMPP_ACTIVE;
}

/* A send has ended: what there is to read of it is the response, or that there was none. */
static enum ib_cb_result umad_done(struct ib_mad_send *send, int status,
				   struct ib_mad_recv *response)
{
	struct umad_packet *packet = send->context;
	struct umad_agent *agent = packet->agent;
	bool unanswered = status && send->timeout_ms;
	struct umad_file *file = agent->file;

	spin_lock(&file->lock);
	list_del(&packet->node);
	spin_unlock(&file->lock);
	if (response) {
		umad_hdr_of_recv(&packet->hdr, agent->id, response);
		packet->recv = response;
	} else {
		packet->hdr.status = ETIMEDOUT;
		memcpy(packet->head, send->mad, sizeof(packet->head));
	}
	ib_mad_send_free(send);
	/* Who waits for an answer hears that none comes, whatever the reason; unless it leaves. */
	if (response || status == -ETIMEDOUT || (unanswered && status != -ECANCELED))
		umad_packet_queue(file, packet);
	else
		umad_packet_free(packet);
	return IB_CB_DONE;
}

/* Do both go to the same port?  With a GRH on both sides it is the GID that says. */
static bool umad_same_target(const struct ib_user_mad_hdr *a, const struct ib_user_mad_hdr *b)
{
	if (!a->grh_present != !b->grh_present)
		return false;
	return a->grh_present ? !memcmp(a->gid, b->gid, sizeof(a->gid)) : a->lid == b->lid;
}

/* With the file's lock held: its answer could not be told from that of one under way. */
static bool umad_is_duplicate(struct umad_file *file, const struct umad_packet *packet)
{
	struct umad_packet *other;

	list_for_each_entry(other, &file->sends, node) {
		if (other->tid != packet->tid || other->class != packet->class ||
		    other->response != packet->response)
			continue;
		if (!packet->response || umad_same_target(&other->hdr, &packet->hdr))
			return true;
	}
	return false;
}

/* Segments of a program's own RMPP share a TID. */
static int umad_packet_sends(struct umad_file *file, struct umad_packet *packet, bool check)
{
	int err = 0;

	spin_lock(&file->lock);
	if (check && umad_is_duplicate(file, packet))
		err = -EINVAL;
	else
		list_add_tail(&packet->node, &file->sends);
	spin_unlock(&file->lock);
	return err;
}

static struct umad_packet *umad_packet_of(struct umad_agent *agent,
					  const struct umad_message *message)
{
	struct umad_packet *packet = kzalloc(sizeof(*packet), GFP_KERNEL_ACCOUNT);

	if (!packet)
		return NULL;
	packet->hdr = message->hdr;
	packet->agent = agent;
	packet->class = ib_get(message->mad, IB_MAD_CLASS);
	packet->response = ib_mad_is_response(message->mad);
	packet->tid = ib_get(message->mad, IB_MAD_TID);
	if (!packet->response)
		packet->tid = (u64)agent->mad->hi_tid << 32 | lower_32_bits(packet->tid);
	return packet;
}

static int umad_post(struct umad_agent *agent, struct ib_mad_send *send,
		     const struct umad_message *message, bool active)
{
	struct umad_packet *packet = umad_packet_of(agent, message);
	struct umad_file *file = agent->file;
	int err;

	if (!packet)
		return -ENOMEM;
	err = umad_packet_sends(file, packet, !(active && agent->mad->init.user_rmpp));
	if (err) {
		umad_packet_free(packet);
		return err;
	}
	send->context = packet;
	send->done = umad_done;
	err = ib_mad_post(send);
	if (err) {
		spin_lock(&file->lock);
		list_del(&packet->node);
		spin_unlock(&file->lock);
		umad_packet_free(packet);
	}
	return err;
}

static int umad_send(struct umad_agent *agent, const struct umad_message *message)
{
	bool active = umad_rmpp_is_active(message->mad);
	struct ib_mad_send *send;
	int err;

	if (message->length < ib_class_header(ib_get(message->mad, IB_MAD_CLASS)))
		return -EINVAL;
	/* Not active in an agent with RMPP: a message of one MAD that is sent as it is. */
	send = ib_mad_send_alloc(agent->mad, message->length, GFP_KERNEL);
	if (IS_ERR(send))
		return PTR_ERR(send);
	memcpy(send->mad, message->mad, message->length);
	umad_hdr_to_addr(&message->hdr, &send->to);
	send->timeout_ms = message->hdr.timeout_ms;
	send->retries = message->hdr.retries;
	if (active && agent->mad->init.rmpp && !agent->mad->init.user_rmpp)
		send->flags = IB_MAD_SEND_RMPP;
	err = umad_post(agent, send, message, active);
	if (err)
		ib_mad_send_free(send);
	return err == -ENODEV ? -EIO : err;
}

/**
 * umad_write_iter() - write(2) of umadN: one MAD, or one message for the kernel's RMPP
 * @iocb: the call
 * @from: header and message
 *
 * Return: bytes; -EINVAL: too short, too long, no such agent id, a TID that is under way, or what
 * the MAD service does not take; -EIO: no such agent, or the device is gone; -EAGAIN: the agent has
 * too many sends under way; -ENOMEM, -EFAULT.
 */
ssize_t umad_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct umad_file *file = iocb->ki_filp->private_data;
	size_t count = iov_iter_count(from);
	struct umad_message *message;
	struct umad_agent *agent;
	int err;

	message = umad_message_read(file, from);
	if (IS_ERR(message))
		return PTR_ERR(message);
	agent = umad_agent_get(file, message->hdr.id);
	err = PTR_ERR_OR_ZERO(agent);
	if (!err) {
		err = umad_send(agent, message);
		umad_agent_put(agent);
	}
	kvfree(message);
	return err ?: count;
}
