// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of live objects, and the device's virtual timers.
 *
 * The device must not believe what happens to lie in a fresh ICM page, so
 * which numbers are alive is its own knowledge. A table is an array of
 * leaves that are allocated when a first object needs them.
 */
#include "core.h"

const char *const cx3_kind_name[CX3_NKINDS] = {
	[CX3_QP] = "QP",   [CX3_SRQ] = "SRQ", [CX3_CQ] = "CQ",
	[CX3_EQ] = "EQ",   [CX3_MPT] = "MPT", [CX3_MCG] = "MCG",
};

int cx3_table_init(struct cx3_hca *hca, enum cx3_kind kind, u8 log_slots)
{
	struct cx3_table *t = &hca->table[kind];
	u32 slots = 1u << log_slots;

	t->nleaf = (slots + CX3_LEAF - 1) / CX3_LEAF;
	t->mask = slots - 1;
	t->count = 0;
	t->leaf = cx3_alloc(hca, t->nleaf * sizeof(*t->leaf));
	if (t->leaf)
		return 0;
	t->nleaf = 0;
	return CX3_E_NOMEM;
}

void cx3_table_fini(struct cx3_hca *hca, enum cx3_kind kind)
{
	struct cx3_table *t = &hca->table[kind];
	u32 i;

	for (i = 0; i < t->nleaf; i++)
		cx3_free(hca, t->leaf[i]);
	cx3_free(hca, t->leaf);
	memset(t, 0, sizeof(*t));
}

static struct cx3_obj **slot_of(struct cx3_table *t, u32 num)
{
	u32 slot = num & t->mask;

	if (!t->nleaf || !t->leaf[slot / CX3_LEAF])
		return NULL;
	return &t->leaf[slot / CX3_LEAF][slot % CX3_LEAF];
}

int cx3_obj_add(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj)
{
	struct cx3_table *t = &hca->table[kind];
	u32 slot = obj->num & t->mask;
	struct cx3_obj **p;

	if (!t->nleaf)
		return CX3_E_NOMEM;
	if (!t->leaf[slot / CX3_LEAF]) {
		t->leaf[slot / CX3_LEAF] = cx3_alloc(hca, CX3_LEAF * sizeof(struct cx3_obj *));
		if (!t->leaf[slot / CX3_LEAF])
			return CX3_E_NOMEM;
	}
	p = slot_of(t, obj->num);
	if (*p)
		return CX3_E_EXIST;
	*p = obj;
	t->count++;
	return 0;
}

struct cx3_obj *cx3_obj_get(struct cx3_hca *hca, enum cx3_kind kind, u32 num)
{
	struct cx3_obj **p = slot_of(&hca->table[kind], num);

	return p && *p && (*p)->num == num ? *p : NULL;
}

void cx3_obj_del(struct cx3_hca *hca, enum cx3_kind kind, struct cx3_obj *obj)
{
	struct cx3_obj **p = slot_of(&hca->table[kind], obj->num);

	if (p && *p == obj) {
		*p = NULL;
		hca->table[kind].count--;
	}
}

struct cx3_obj *cx3_obj_next(struct cx3_hca *hca, enum cx3_kind kind, u32 *slot)
{
	struct cx3_table *t = &hca->table[kind];

	while (t->nleaf && *slot <= t->mask) {
		struct cx3_obj **leaf = t->leaf[*slot / CX3_LEAF];
		struct cx3_obj *obj;

		if (!leaf) {
			*slot = (*slot / CX3_LEAF + 1) * CX3_LEAF;
			continue;
		}
		obj = leaf[*slot % CX3_LEAF];
		++*slot;
		if (obj)
			return obj;
	}
	return NULL;
}

/* ------------------------------------------------------------------- timers */

void cx3_timer_cancel(struct cx3_hca *hca, struct cx3_timer *t)
{
	if (!t->armed)
		return;
	if (t->prev)
		t->prev->next = t->next;
	else
		hca->timers = t->next;
	if (t->next)
		t->next->prev = t->prev;
	else
		hca->timers_last = t->prev;
	t->armed = false;
	t->next = NULL;
	t->prev = NULL;
}

void cx3_timer_arm(struct cx3_hca *hca, struct cx3_timer *t, u64 deadline)
{
	struct cx3_timer *after;

	cx3_timer_cancel(hca, t);
	t->deadline = deadline;
	/* from the tail: most deadlines are later than all others */
	after = hca->timers_last;
	while (after && after->deadline > deadline)
		after = after->prev;
	t->prev = after;
	t->next = after ? after->next : hca->timers;
	if (t->prev)
		t->prev->next = t;
	else
		hca->timers = t;
	if (t->next)
		t->next->prev = t;
	else
		hca->timers_last = t;
	t->armed = true;
}

void cx3_timer_fire(struct cx3_hca *hca)
{
	/* Timers armed for "now" by a handler wait for the next round. */
	u64 now = cx3_now(hca);
	unsigned int budget = 64;

	cx3_enter(hca);
	hca->core->deadline = CX3_NEVER;
	while (budget-- && hca->timers && hca->timers->deadline <= now) {
		struct cx3_timer *t = hca->timers;

		cx3_timer_cancel(hca, t);
		t->fn(hca, t);
	}
	cx3_leave(hca);
}
