// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cable of lossy.h.
 */
#include <stdlib.h>

#include "lossy.h"

struct lossy_packet {
	struct lossy_packet *next;
	u64 at;
	int to;
	u32 len;
	u8 bytes[];
};

static void enqueue(struct lossy *l, int to, const u8 *pkt, u32 len, u64 at)
{
	struct lossy_packet *p = malloc(sizeof(*p) + len), **pos = &l->queue;

	if (!p)
		abort();
	p->at = at;
	p->to = to;
	p->len = len;
	memcpy(p->bytes, pkt, len);
	while (*pos && (*pos)->at <= at)
		pos = &(*pos)->next;
	p->next = *pos;
	*pos = p;
	l->queued++;
	l->host.deadline = l->queue->at;
}

static enum link_result lossy_send(struct link_end *end, const u8 *pkt, u32 len)
{
	struct lossy_end *e = container_of(end, struct lossy_end, end);
	struct lossy *l = e->cable;
	struct lossy_verdict v = { 1, 0 };
	struct wire_pkt w;

	if (!l->up)
		return LINK_DOWN;
	if (l->queued >= l->limit) {
		l->busy[e->side] = true;
		return LINK_BUSY;
	}
	l->sent++;
	if (l->judge && wire_parse(pkt, len, &w) == WIRE_OK)
		v = l->judge(l->arg, e->side, &w);
	while (v.copies--)
		enqueue(l, !e->side, pkt, len, l->host.world->now + LOSSY_DELAY_NS + v.delay);
	return LINK_OK;
}

static void tell(struct lossy *l, bool up)
{
	int i;

	l->up = up;
	for (i = 0; i < 2; i++)
		if (l->end[i].end.owner_ops)
			l->end[i].end.owner_ops->state(l->end[i].end.owner, up, up ? 2 : 0,
						       up ? LINK_FDR : 0);
}

static void lossy_enable(struct link_end *end, bool on)
{
	struct lossy_end *e = container_of(end, struct lossy_end, end);
	struct lossy *l = e->cable;

	l->on[e->side] = on;
	l->fell |= !on;
	/* the model must not be called from within its own call */
	l->change = true;
	l->host.deadline = l->host.world->now;
}

static void lossy_detach(struct link_end *end)
{
	end->owner_ops = NULL;
}

static const struct link_ops ops = {
	.send = lossy_send,
	.enable = lossy_enable,
	.detach = lossy_detach,
};

static void fire(void *arg)
{
	struct lossy *l = arg;
	struct lossy_packet *p;
	int i;

	if (l->change) {
		l->change = false;
		/* off and on again in one go takes the link down in between */
		if (l->up && l->fell)
			tell(l, false);
		l->fell = false;
		if (l->up != (l->on[0] && l->on[1]))
			tell(l, !l->up);
	}
	while (l->queue && l->queue->at <= l->host.world->now) {
		p = l->queue;
		l->queue = p->next;
		l->queued--;
		if (l->end[p->to].end.owner_ops)
			l->end[p->to].end.owner_ops->rx(l->end[p->to].end.owner, p->bytes, p->len);
		free(p);
	}
	for (i = 0; i < 2; i++) {
		if (!l->busy[i] || l->queued >= l->limit || !l->end[i].end.owner_ops)
			continue;
		l->busy[i] = false;
		l->end[i].end.owner_ops->tx_ready(l->end[i].end.owner);
	}
	if (l->queue)
		l->host.deadline = l->queue->at;
}

/**
 * lossy_init - make a cable
 * @l: the cable
 * @w: clock
 */
void lossy_init(struct lossy *l, struct fake_world *w)
{
	int i;

	memset(l, 0, sizeof(*l));
	fake_host_init(&l->host, w, 0);
	l->host.fire = fire;
	l->host.arg = l;
	l->limit = 1000;
	for (i = 0; i < 2; i++) {
		l->end[i].end.ops = &ops;
		l->end[i].cable = l;
		l->end[i].side = i;
	}
}

/**
 * lossy_fini - free what is under way; the owners are gone
 * @l: the cable
 */
void lossy_fini(struct lossy *l)
{
	while (l->queue) {
		struct lossy_packet *p = l->queue;

		l->queue = p->next;
		free(p);
	}
	fake_host_fini(&l->host);
}
