// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a fault keeps back for a while: packets, events and completions.
 *
 * Each is a copy with the function that takes it in the end. What is kept for one number and is due
 * at the same time comes in the order in which it was given.
 */
#include "core.h"

#define MAX_KEPT 256u

/**
 * struct cx3_kept - one of them
 * @timer: when it goes on
 * @next: list, oldest first
 * @fn: who takes it
 * @num: number of the port, EQ or CQ
 * @len: bytes
 * @data: the copy
 */
struct cx3_kept {
	struct cx3_timer timer;
	struct cx3_kept *next;
	cx3_keep_fn fn;
	u32 num;
	u32 len;
	u8 data[];
};

static void take_out(struct cx3_hca *hca, struct cx3_kept *k)
{
	struct cx3_kept **p = &hca->core->kept;

	while (*p != k)
		p = &(*p)->next;
	*p = k->next;
	hca->core->nkept--;
	cx3_timer_cancel(hca, &k->timer);
}

static void due(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct cx3_kept *k = container_of(t, struct cx3_kept, timer);

	take_out(hca, k);
	k->fn(hca, k->num, k->data, k->len);
	cx3_free(hca, k);
}

bool cx3_keep(struct cx3_hca *hca, u64 deadline, cx3_keep_fn fn, u32 num, const void *data, u32 len)
{
	struct cx3_kept *k, **tail = &hca->core->kept;

	if (hca->core->nkept == MAX_KEPT)
		return false;
	k = cx3_alloc(hca, sizeof(*k) + len);
	if (!k)
		return false;
	k->timer.fn = due;
	k->fn = fn;
	k->num = num;
	k->len = len;
	memcpy(k->data, data, len);
	while (*tail)
		tail = &(*tail)->next;
	*tail = k;
	hca->core->nkept++;
	cx3_timer_arm(hca, &k->timer, deadline);
	return true;
}

static struct cx3_kept *first(struct cx3_hca *hca, cx3_keep_fn fn, u32 num)
{
	struct cx3_kept *k = hca->core->kept;

	while (k && fn && (k->fn != fn || (num != CX3_KEPT_ANY && k->num != num)))
		k = k->next;
	return k;
}

u64 cx3_keep_until(struct cx3_hca *hca, cx3_keep_fn fn, u32 num)
{
	struct cx3_kept *k = first(hca, fn, num);

	return k ? k->timer.deadline : 0;
}

void cx3_keep_give(struct cx3_hca *hca, cx3_keep_fn fn, u32 num)
{
	struct cx3_kept *k;

	while ((k = first(hca, fn, num)))
		due(hca, &k->timer);
}

void cx3_keep_drop(struct cx3_hca *hca, cx3_keep_fn fn, u32 num)
{
	struct cx3_kept *k;

	while ((k = first(hca, fn, num))) {
		take_out(hca, k);
		cx3_free(hca, k);
	}
}
