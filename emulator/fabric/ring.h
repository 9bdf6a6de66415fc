/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded first-in first-out queue of packets in one block of memory.
 *
 * Each record is a length and the packet, contiguous, so that the reader gets
 * a plain pointer. A record that would not fit before the end of the block
 * starts again at its beginning; a length of zero marks the gap.
 */
#ifndef FABRIC_RING_H
#define FABRIC_RING_H

#include "../model/types.h"

/**
 * struct packet_ring - the queue
 * @buf: memory of the owner
 * @size: its size, a multiple of 4
 * @head: where the oldest record starts
 * @tail: where the next record goes
 * @used: bytes between @head and @tail, gaps included
 * @packets: records in the queue
 */
struct packet_ring {
	u8 *buf;
	u32 size;
	u32 head;
	u32 tail;
	u32 used;
	u32 packets;
};

static inline void ring_init(struct packet_ring *r, void *buf, u32 size)
{
	memset(r, 0, sizeof(*r));
	r->buf = buf;
	r->size = size & ~3u;
}

static inline void ring_clear(struct packet_ring *r)
{
	ring_init(r, r->buf, r->size);
}

static inline u32 ring_record(u32 len)
{
	return (len + 4 + 3) & ~3u;
}

/* Bytes that a packet of @len takes, with the gap it forces at the end. */
static inline u32 ring_need(const struct packet_ring *r, u32 len)
{
	u32 need = ring_record(len);

	return r->tail + need > r->size ? need + r->size - r->tail : need;
}

/* Would a packet of @len bytes fit now? */
static inline bool ring_room(const struct packet_ring *r, u32 len)
{
	return ring_need(r, len) <= r->size - r->used;
}

/* Append a copy of a packet; false if there is no room. */
static inline bool ring_push(struct packet_ring *r, const u8 *pkt, u32 len)
{
	u32 need = ring_need(r, len);

	if (!len || need > r->size - r->used)
		return false;
	if (need != ring_record(len)) {
		put32(r->buf + r->tail, 0);
		r->tail = 0;
	}
	put32(r->buf + r->tail, len);
	memcpy(r->buf + r->tail + 4, pkt, len);
	r->tail = (r->tail + ring_record(len)) % r->size;
	r->used += need;
	r->packets++;
	return true;
}

/* The oldest packet, or NULL; it stays valid until the ring is written to. */
static inline const u8 *ring_peek(struct packet_ring *r, u32 *len)
{
	if (!r->packets)
		return NULL;
	if (!get32(r->buf + r->head)) {
		r->used -= r->size - r->head;
		r->head = 0;
	}
	*len = get32(r->buf + r->head);
	return r->buf + r->head + 4;
}

/* Drop the packet that ring_peek() returned. */
static inline void ring_pop(struct packet_ring *r)
{
	u32 record = ring_record(get32(r->buf + r->head));

	r->head = (r->head + record) % r->size;
	r->used -= record;
	r->packets--;
	if (!r->packets)
		ring_clear(r);
}

#endif /* FABRIC_RING_H */
