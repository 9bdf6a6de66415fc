// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cables: training, queues and delivery; see cable.h.
 */
#include "cable.h"
#include "fault.h"
#include "../model/crc.h"
#include "../model/wire.h"

static void arm(struct fabric *fab, u64 deadline)
{
	if (fab->firing || deadline >= fab->armed)
		return;
	fab->armed = deadline;
	fab->host.ops->timer(fab->host.ctx, deadline);
}

void fabric_kick(struct fabric *fab)
{
	arm(fab, cx3_host_now(&fab->host));
}

/* Links */

static void flush(struct fab_end *end)
{
	ring_clear(&end->data);
	ring_clear(&end->smp);
	end->blocked_since = CX3_NEVER;
}

static void end_down(struct fab_end *end, bool tell)
{
	end->train_at = CX3_NEVER;
	if (!end->up)
		return;
	end->up = false;
	end->starved = false;
	end->tell_down = tell;
	flush(end);
}

static void cable_down(struct fab_end *by)
{
	end_down(by, false);
	if (by->peer)
		end_down(by->peer, true);
	fabric_kick(by->fab);
}

static void cable_train(struct fab_end *end, u64 delay)
{
	u64 at = cx3_host_now(&end->fab->host) + delay;

	if (!end->peer || !end->polling || !end->peer->polling || end->up)
		return;
	if (end->pulled || end->peer->pulled)
		return;
	if (end->train_at <= at)
		return;
	end->train_at = at;
	end->peer->train_at = at;
	arm(end->fab, at);
}

static void end_enable(struct link_end *link, bool on)
{
	struct fab_end *end = to_end(link);

	if (end->polling == on)
		return;
	end->polling = on;
	if (end->peer && end->peer->polled)
		end->peer->polled(end->peer->link.owner, on);
	if (on)
		cable_train(end, LINK_TRAIN_NS);
	else
		cable_down(end);
}

static void tell_up(struct fab_end *end, enum link_speed speed)
{
	if (end->up)
		end->link.owner_ops->state(end->link.owner, true, WIDTH_4X, speed);
}

static void links_fire(struct fabric *fab, u64 now)
{
	unsigned int i;

	for (i = 0; i < fab->nends; i++) {
		struct fab_end *end = fab->end[i], *peer = end->peer;
		enum link_speed speed;

		if (end->tell_down && !end->dead) {
			end->tell_down = false;
			end->link.owner_ops->state(end->link.owner, false, 0, 0);
		}
		if (end->train_at > now || end->dead)
			continue;
		end->train_at = CX3_NEVER;
		peer->train_at = CX3_NEVER;
		if (peer->tell_down) {
			peer->tell_down = false;
			peer->link.owner_ops->state(peer->link.owner, false, 0, 0);
		}
		end->up = true;
		peer->up = true;
		speed = end->link.max_speed < peer->link.max_speed ? end->link.max_speed :
								     peer->link.max_speed;
		tell_up(end, speed);
		tell_up(peer, speed);
	}
}

/* Packets */

static void tap(struct fab_end *end, const u8 *pkt, u32 len)
{
	struct fabric *fab = end->fab;

	if (!fab->tap)
		return;
	if (end->is_switch && fsw_relays(fab->sw))
		return;
	memcpy(fab->scratch, pkt, len);
	packet_put_crcs(fab->scratch, len);
	fab->tap(fab->tap_arg, cx3_host_now(&fab->host), fab->scratch, len);
}

static bool is_smp(const u8 *pkt)
{
	return pkt[0] >> 4 == WIRE_VL_SMP;
}

void end_arrive(struct fab_end *end, const u8 *pkt, u32 len)
{
	if (end->up)
		ring_push(is_smp(pkt) ? &end->smp : &end->data, pkt, len);
}

static enum link_result end_send(struct link_end *link, const u8 *pkt, u32 len)
{
	struct fab_end *end = to_end(link), *to = end->peer;
	struct packet_ring *ring;
	unsigned int copies;

	if (!end->up || !to || !to->up)
		return LINK_DOWN;
	if (len < WIRE_LRH_LEN + WIRE_CRC_LEN || len > LINK_MAX_PACKET)
		return LINK_DOWN;
	ring = is_smp(pkt) ? &to->smp : &to->data;
	if (!ring_room(ring, len)) {
		end->starved = true;
		fabric_kick(end->fab);
		return LINK_BUSY;
	}
	for (copies = fab_fault_copies(end, pkt, len); copies; copies--)
		ring_push(ring, pkt, len);
	tap(end, pkt, len);
	fabric_kick(end->fab);
	return LINK_OK;
}

bool fabric_end_room(const struct link_end *link, u32 len)
{
	const struct fab_end *end = container_of(link, const struct fab_end, link);

	return !end->up || !end->peer || ring_room(&end->peer->data, len);
}

/* May the oldest data packet be given to the owner? */
static bool unblocked(struct fab_end *end, const u8 *pkt, u32 len, u64 now)
{
	if (!end->ready || end->ready(end->link.owner, pkt, len)) {
		end->blocked_since = CX3_NEVER;
		return true;
	}
	if (end->blocked_since == CX3_NEVER)
		end->blocked_since = now;
	if (now - end->blocked_since < FABRIC_HOQ_NS)
		return false;
	end->blocked_since = CX3_NEVER;
	return true;
}

/* Give the owner of an end one packet, SMPs first. False: nothing could be done. */
static bool deliver(struct fab_end *end, u64 now)
{
	struct fab_end *peer = end->peer;
	struct packet_ring *ring = &end->smp;
	const u8 *pkt;
	u32 len = 0;

	if (end->dead || !end->up)
		return false;
	pkt = ring_peek(ring, &len);
	if (!pkt) {
		ring = &end->data;
		pkt = ring_peek(ring, &len);
		if (!pkt || !unblocked(end, pkt, len, now))
			return false;
	}
	/* The bytes stay: only the peer writes to this ring, and it is not running. */
	ring_pop(ring);
	end->link.owner_ops->rx(end->link.owner, pkt, len);
	if (peer && !peer->dead && peer->starved && peer->up) {
		peer->starved = false;
		peer->link.owner_ops->tx_ready(peer->link.owner);
	}
	return true;
}

/* Deliver in rounds, one packet for each end. True: the budget ran out before the packets. */
static bool deliver_all(struct fabric *fab, u64 now)
{
	unsigned int budget = FABRIC_BUDGET, i;
	bool progress;

	do {
		progress = false;
		for (i = 0; i < fab->nends; i++) {
			if (!deliver(fab->end[i], now))
				continue;
			progress = true;
			if (!--budget)
				return true;
		}
	} while (progress);
	return false;
}

/* Free what was detached, and find out when to come back. */
static u64 settle(struct fabric *fab, u64 now)
{
	u64 next = fab->sw ? fsw_deadline(fab->sw) : CX3_NEVER;
	u64 fault = fab_fault_deadline(fab);
	unsigned int i, n = 0;

	if (fault < next)
		next = fault;

	for (i = 0; i < fab->nends; i++) {
		struct fab_end *end = fab->end[i];
		u64 at = end->train_at;

		if (end->dead) {
			cx3_host_free(&fab->host, end);
			continue;
		}
		fab->end[n++] = end;
		if (end->tell_down)
			at = now;
		else if ((end->data.packets || end->smp.packets) && now + BLOCKED_RETRY_NS < at)
			at = now + BLOCKED_RETRY_NS;
		if (at < next)
			next = at;
	}
	fab->nends = n;
	return next;
}

void fabric_fire(struct fabric *fab)
{
	u64 now = cx3_host_now(&fab->host), next;
	bool more;

	fab->armed = CX3_NEVER;
	fab->firing = true;
	fab_fault_fire(fab, now);
	links_fire(fab, now);
	if (fab->sw && fsw_deadline(fab->sw) <= now)
		fsw_fire(fab->sw);
	more = deliver_all(fab, now);
	fab->firing = false;
	next = settle(fab, now);
	if (more)
		next = now;
	if (next != CX3_NEVER)
		arm(fab, next);
}

void fabric_tap(struct fabric *fab, void (*fn)(void *arg, u64 now, const u8 *pkt, u32 len),
		void *arg)
{
	fab->tap = fn;
	fab->tap_arg = arg;
}

/* Cables */

void end_free(struct fab_end *end)
{
	struct fabric *fab = end->fab;
	unsigned int i;

	fab_fault_forget(end);
	end->dead = true;
	end->peer = NULL;
	end->train_at = CX3_NEVER;
	if (fab->firing)
		return;
	for (i = 0; i < fab->nends && fab->end[i] != end; i++)
		;
	if (i < fab->nends)
		fab->end[i] = fab->end[--fab->nends];
	cx3_host_free(&fab->host, end);
}

void cable_cut(struct fab_end *end)
{
	struct fab_end *peer = end->peer;

	if (!peer)
		return;
	end->polling = false;
	cable_down(end);
	if (peer->polled)
		peer->polled(peer->link.owner, false);
	peer->train_at = CX3_NEVER;
	peer->peer = NULL;
	end->peer = NULL;
}

void cable_unjoin(struct fab_end *end)
{
	struct fab_end *peer = end->peer;

	end_down(end, true);
	end_down(peer, true);
	end->peer = NULL;
	peer->peer = NULL;
	fabric_kick(end->fab);
}

void cable_pull(struct fab_end *end, bool pulled)
{
	end->pulled = pulled;
	if (!end->peer)
		return;
	if (!pulled) {
		cable_train(end, LINK_TRAIN_NS);
		return;
	}
	end->train_at = CX3_NEVER;
	end->peer->train_at = CX3_NEVER;
	end_down(end, true);
	end_down(end->peer, true);
	fabric_kick(end->fab);
}

void cable_join(struct fab_end *a, struct fab_end *b)
{
	a->peer = b;
	b->peer = a;
	cable_train(a, LINK_TRAIN_NS);
}

void cable_train_now(struct fab_end *end)
{
	cable_train(end, 0);
}

static void end_detach(struct link_end *link)
{
	struct fab_end *end = to_end(link);

	if (end->dead)
		return;
	cable_cut(end);
	fabric_unplug(end->fab, end);
	end_free(end);
}

static const struct link_ops end_ops = {
	.send = end_send,
	.enable = end_enable,
	.detach = end_detach,
};

/* Callbacks of an end that nobody has claimed yet. */
static void nobody_rx(void *owner, const u8 *pkt, u32 len)
{
}

static void nobody_state(void *owner, bool up, u8 width, enum link_speed speed)
{
}

static void nobody_tx_ready(void *owner)
{
}

static const struct link_owner_ops nobody = {
	.rx = nobody_rx,
	.state = nobody_state,
	.tx_ready = nobody_tx_ready,
};

struct fab_end *end_create(struct fabric *fab)
{
	struct fab_end *end;

	if (fab->nends == MAX_ENDS)
		return NULL;
	end = cx3_host_alloc(&fab->host, sizeof(*end) + DATA_RING + SMP_RING);
	if (!end)
		return NULL;
	end->link.ops = &end_ops;
	link_claim(&end->link, &nobody, NULL, LINK_FDR);
	end->fab = fab;
	ring_init(&end->data, end + 1, DATA_RING);
	ring_init(&end->smp, (u8 *)(end + 1) + DATA_RING, SMP_RING);
	end->train_at = CX3_NEVER;
	end->blocked_since = CX3_NEVER;
	fab->end[fab->nends++] = end;
	return end;
}

bool fabric_cable(struct fabric *fab, struct link_end **a, struct link_end **b)
{
	struct fab_end *one = end_create(fab), *other = end_create(fab);

	if (!one || !other) {
		if (one)
			end_free(one);
		if (other)
			end_free(other);
		return false;
	}
	cable_join(one, other);
	*a = &one->link;
	*b = &other->link;
	return true;
}
