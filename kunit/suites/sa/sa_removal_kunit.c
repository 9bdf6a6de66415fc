// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device leaves while queries and groups are under way: in every state of theirs, with the SM
 * answering and silent, with the hardware lost, with clients that clean up and such that do not, in
 * every order of clients and services.  Removal is bounded, each query and join ends at most once
 * and never after remove_one, and what was joined is left, once.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "items.h"
#include "sm.h"

#define POLITE 3000
#define NORMAL 4000
#define STORMS 50

enum scene {
	SCENE_QUERY_WAITS,
	SCENE_QUERY_SENT,
	SCENE_QUERY_ANSWERED,
	SCENE_JOIN_SENT,
	SCENE_JOINED,
	SCENE_LEAVE_SENT,
	SCENE_REJOIN_SENT,
	SCENES,
};

static const char *const scene_names[] = {
	[SCENE_QUERY_WAITS] = "queries wait for a SM",
	[SCENE_QUERY_SENT] = "queries outstanding",
	[SCENE_QUERY_ANSWERED] = "queries just answered",
	[SCENE_JOIN_SENT] = "joins outstanding",
	[SCENE_JOINED] = "groups joined",
	[SCENE_LEAVE_SENT] = "leaves outstanding",
	[SCENE_REJOIN_SENT] = "joins outstanding again",
};

enum mode {
	MODE_ANSWERS,
	MODE_SILENT,
	MODE_GONE,
	MODES,
};

static const char *const mode_names[] = {
	[MODE_ANSWERS] = "SM answers",
	[MODE_SILENT] = "SM silent",
	[MODE_GONE] = "hardware lost",
};

/**
 * struct play - a scene, a mode, and a client
 * @scene: what is under way
 * @mode: who is still there
 * @forgets: the client leaves everything behind
 */
struct play {
	enum scene scene;
	enum mode mode;
	bool forgets;
};

static bool scene_has_queries(enum scene scene)
{
	return scene <= SCENE_QUERY_ANSWERED;
}

static void play_start(struct sm *sm, const struct play *p)
{
	struct kunit *test = sm->test;
	struct ib_device *device = bench_device(sm->b);
	int i;

	memset(items, 0, sizeof(items));
	if (p->scene == SCENE_QUERY_WAITS) {
		sm->b->vf.port[0].state = IB_PORT_INIT;
		ib_event_raise(device, IB_EVENT_PORT_ERR, 1);
		fake_settle(sm->b->fake);
	}
	sm->silent = p->scene == SCENE_QUERY_SENT || p->scene == SCENE_JOIN_SENT;
	sm->keep = p->scene == SCENE_QUERY_ANSWERED;
	for (i = 0; i < ITEMS; i++)
		KUNIT_ASSERT_EQ(test, scene_has_queries(p->scene) ?
				item_ask(sm->b->attachment, &items[i]) :
				item_join(sm->b->attachment, &items[i], i), 0);
	fake_settle(sm->b->fake);
	if (p->scene == SCENE_LEAVE_SENT) {
		sm->silent = true;
		for (i = 0; i < ITEMS; i++)
			ib_mcast_leave(items[i].member);
		for (i = 0; i < ITEMS; i++)
			items[i].member = NULL;
		fake_settle(sm->b->fake);
	}
	if (p->scene == SCENE_REJOIN_SENT) {
		sm->silent = true;
		ib_event_raise(device, IB_EVENT_CLIENT_REREGISTER, 1);
		fake_settle(sm->b->fake);
	}
	sm->silent = p->mode == MODE_SILENT;
	if (p->mode == MODE_GONE)
		bench_gone(sm->b);
	else if (p->scene == SCENE_QUERY_ANSWERED)
		sm_answer(sm);
}

static bool play_is_flushed(const struct play *p)
{
	bool queries = p->scene == SCENE_QUERY_SENT || p->scene == SCENE_QUERY_ANSWERED;
	bool joins = p->scene == SCENE_JOIN_SENT || p->scene == SCENE_REJOIN_SENT;
	int i;

	for (i = 0; i < ITEMS; i++) {
		if (queries && READ_ONCE(items[i].calls) != 1)
			return false;
		if (joins && READ_ONCE(items[i].losses) != 1)
			return false;
		if ((queries || joins) && READ_ONCE(items[i].error) != -ECANCELED)
			return false;
	}
	return true;
}

/* Lost hardware ends all that waits for an answer, without the clock. */
static void bench_plays(struct bench *b)
{
	const struct play *p = b->data;

	/* The next incarnation has nothing of it. */
	if (items[0].over)
		return;
	if (p->mode == MODE_GONE)
		KUNIT_EXPECT_TRUE(b->test, LR_WAIT(play_is_flushed(p), 20000));
	if (!p->forgets)
		items_end();
}

static void play_check(struct sm *sm, const struct play *p)
{
	unsigned int deletes = sm_count(sm, IB_SA_DELETE, IB_SA_MCMEMBER);
	struct kunit *test = sm->test;
	int i;

	for (i = 0; i < ITEMS; i++) {
		KUNIT_EXPECT_LE(test, items[i].calls, 1);
		KUNIT_EXPECT_LE(test, items[i].ins, 1);
		KUNIT_EXPECT_LE(test, items[i].losses, 1);
	}
	/* Each that the SM may have is left, once; after a loss nobody can. */
	if (p->mode != MODE_GONE && !scene_has_queries(p->scene))
		KUNIT_EXPECT_EQ(test, deletes, (unsigned int)ITEMS);
	if (p->mode == MODE_GONE && p->scene != SCENE_LEAVE_SENT)
		KUNIT_EXPECT_EQ(test, deletes, 0U);
	/* These joins did not arrive, which nobody but the SM could know. */
	if (p->scene == SCENE_JOIN_SENT)
		sm->bad_leaves = 0;
}

static void removal_in_every_state(struct kunit *test)
{
	const struct play *p = test->param_value;
	struct sm *sm = sm_up(test, "lr-sa-gone");
	struct fake_hca *fake = sm->b->fake;
	struct fake_flow flow;
	s64 start;
	int i;

	/* A leave that the SM did not hear is not repeated when the service closes. */
	sm->deaf = p->mode != MODE_ANSWERS || p->scene == SCENE_LEAVE_SENT;
	sm->b->remove = bench_plays;
	sm->b->data = (void *)p;
	play_start(sm, p);
	if (p->mode == MODE_GONE) {
		/* It goes by itself, and comes back. */
		fake_settle(fake);
		KUNIT_EXPECT_EQ(test, sm->b->removes, 1);
		sm->b->remove = NULL;
	}
	start = atomic64_read(&fake->now);
	fake->bound = false;
	fake_flow_start(&flow, fake_run_unbind, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 20000));
	fake_flow_join(&flow);
	KUNIT_EXPECT_LE(test, atomic64_read(&fake->now) - start, (s64)NORMAL);
	for (i = 0; i < ITEMS; i++)
		WRITE_ONCE(items[i].over, true);
	play_check(sm, p);
	/* What was forgotten are tombstones now, and may be ended. */
	if (p->forgets)
		items_end();
}

static const void *play_next(const void *prev, char *desc)
{
	static struct play play;
	const struct play *last = prev;
	unsigned int n = 0;

	if (last)
		n = (last->scene * MODES + last->mode) * 2 + last->forgets + 1;
	if (n >= SCENES * MODES * 2)
		return NULL;
	play.forgets = n % 2;
	play.mode = n / 2 % MODES;
	play.scene = n / 2 / MODES;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s%s", scene_names[play.scene],
		 mode_names[play.mode], play.forgets ? ", forgotten" : "");
	return &play;
}

/* ---- a client that waits in its remove_one for what the SM will never answer ---- */

static struct item *waited;

static bool waited_ended(void)
{
	return READ_ONCE(waited[0].calls) && READ_ONCE(waited[1].losses);
}

static void bench_waits(struct bench *b)
{
	/* Both begin here, when the device is already leaving. */
	item_ask(b->attachment, &waited[0]);
	item_join(b->attachment, &waited[1], 1);
	KUNIT_EXPECT_TRUE(b->test, LR_WAIT(waited_ended(), 60000));
	items_end();
}

static void removal_ends_what_a_client_waits_for(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa-gone");
	struct fake_hca *fake = sm->b->fake;
	struct fake_flow flow;
	s64 start, took;

	memset(items, 0, sizeof(items));
	waited = items;
	sm->silent = true;
	sm->deaf = true;
	sm->b->remove = bench_waits;
	start = atomic64_read(&fake->now);
	fake->bound = false;
	fake_flow_start(&flow, fake_run_unbind, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 20000));
	fake_flow_join(&flow);
	took = atomic64_read(&fake->now) - start;
	KUNIT_EXPECT_GE(test, took, (s64)POLITE);
	KUNIT_EXPECT_LE(test, took, (s64)NORMAL);
	KUNIT_EXPECT_EQ(test, items[0].calls, 1);
	KUNIT_EXPECT_EQ(test, items[0].error, -ECANCELED);
	KUNIT_EXPECT_EQ(test, items[1].losses, 1);
	KUNIT_EXPECT_EQ(test, items[1].error, -ECANCELED);
}

/* Queries and joins of a remove_one go out and are answered. */
static void bench_asks(struct bench *b)
{
	item_ask(b->attachment, &waited[0]);
	item_join(b->attachment, &waited[1], 1);
	KUNIT_EXPECT_TRUE(b->test, LR_WAIT(READ_ONCE(waited[0].calls) && READ_ONCE(waited[1].ins),
					   60000));
	items_end();
}

static void removal_lets_a_client_ask(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa-gone");
	struct fake_flow flow;

	memset(items, 0, sizeof(items));
	waited = items;
	sm->b->remove = bench_asks;
	sm->b->fake->bound = false;
	fake_flow_start(&flow, fake_run_unbind, sm->b->fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(sm->b->fake, &flow.done, 20000));
	fake_flow_join(&flow);
	KUNIT_EXPECT_EQ(test, items[0].error, 0);
	KUNIT_EXPECT_EQ(test, items[1].error, 0);
	KUNIT_EXPECT_EQ(test, sm_count(sm, IB_SA_DELETE, IB_SA_MCMEMBER), 1U);
}

static void bench_cleans(struct bench *b)
{
	items_end();
}

/* ---- B23: the SM changes while the device leaves ---- */

struct storm {
	struct sm *sm;
	struct ib_device *device;
	bool stop;
};

static int run_storm(void *arg)
{
	static const enum ib_event_type types[] = {
		IB_EVENT_SM_CHANGE, IB_EVENT_CLIENT_REREGISTER, IB_EVENT_LID_CHANGE,
		IB_EVENT_PORT_ACTIVE,
	};
	struct storm *storm = arg;
	unsigned int i;

	for (i = 0; !READ_ONCE(storm->stop); i++) {
		WRITE_ONCE(storm->sm->b->vf.port[0].sm_lid, 1 + i % 2);
		WRITE_ONCE(storm->sm->lid, 1 + i % 2);
		ib_event_raise(storm->device, types[i % ARRAY_SIZE(types)], 1);
		usleep_range(20, 40);
	}
	return 0;
}

static void removal_in_a_storm_of_sm_changes(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa-gone");
	struct storm storm = { .sm = sm };
	struct fake_flow events, flow;
	unsigned int round;
	int i;

	sm->deaf = true;
	for (round = 0; round < STORMS; round++) {
		memset(items, 0, sizeof(items));
		storm.device = bench_device(sm->b);
		storm.stop = false;
		get_device(&storm.device->dev);
		fake_flow_start(&events, run_storm, &storm);
		for (i = 0; i < ITEMS; i++)
			KUNIT_EXPECT_EQ(test, i % 2 ? item_ask(sm->b->attachment, &items[i]) :
					item_join(sm->b->attachment, &items[i], i % 8), 0);
		usleep_range(1, 2 + round * 20);
		sm->b->remove = round % 2 ? bench_cleans : NULL;
		fake_flow_start(&flow, fake_run_unbind, sm->b->fake);
		KUNIT_EXPECT_TRUE(test, LR_WAIT(completion_done(&flow.done), 20000));
		fake_flow_join(&flow);
		for (i = 0; i < ITEMS; i++) {
			WRITE_ONCE(items[i].over, true);
			KUNIT_EXPECT_LE(test, items[i].calls, 1);
		}
		WRITE_ONCE(storm.stop, true);
		fake_flow_join(&events);
		put_device(&storm.device->dev);
		items_end();
		sm->lid = 1;
		sm->b->vf.port[0].sm_lid = 1;
		sm_forget(sm);
		sm->bad_leaves = 0;
		sm->nseen = 0;
		bench_bind(sm->b);
	}
}

/* ---- B35: a member that nobody ever ends ---- */

/* What was joined names GIDs and groups of the device, and keeps neither it nor its tables. */
static void removal_b35_nobody_ever_leaves(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa-gone");
	struct fake_flow flow;
	unsigned int round;
	int i;

	for (round = 0; round < 3; round++) {
		memset(items, 0, sizeof(items));
		for (i = 0; i < ITEMS; i++)
			KUNIT_ASSERT_EQ(test, item_join(sm->b->attachment, &items[i], i), 0);
		fake_settle(sm->b->fake);
		KUNIT_EXPECT_EQ(test, sm_members(sm), (unsigned int)ITEMS);
		/* Left before, in remove_one, or when all is over. */
		if (round == 1)
			items_end();
		sm->b->remove = round == 2 ? bench_cleans : NULL;
		fake_flow_start(&flow, fake_run_unbind, sm->b->fake);
		KUNIT_EXPECT_TRUE(test, fake_advance_to(sm->b->fake, &flow.done, 20000));
		fake_flow_join(&flow);
		KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
		KUNIT_EXPECT_EQ(test, sm->b->fake->hca->quarantined, 0U);
		KUNIT_EXPECT_EQ(test, atomic_read(&sm->b->vf.buffers), 0);
		items_end();
		bench_bind(sm->b);
	}
}

/* ---- every order of clients and services; the third report ---- */

/**
 * struct sharer - a client that is in one group, and may forget it
 * @client: the framework's
 * @item: its membership
 * @forgets: it does
 * @adds: calls of add_one
 * @removes: calls of remove_one
 */
struct sharer {
	struct ib_client client;
	struct item item;
	bool forgets;
	int adds;
	int removes;
};

static struct sharer *sharer_of(struct ib_attachment *attachment)
{
	return container_of(attachment->client, struct sharer, client);
}

static int sharer_add(struct ib_attachment *attachment)
{
	struct sharer *s = sharer_of(attachment);

	memset(&s->item, 0, sizeof(s->item));
	s->adds++;
	return item_join(attachment, &s->item, 1);
}

static void sharer_remove(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct sharer *s = sharer_of(attachment);

	s->removes++;
	if (!s->forgets)
		ib_mcast_leave(s->item.member);
}

static struct ib_service *const sharer_needs[] = { &ib_multicast, &ib_sa, NULL };

static void sharer_init(struct sharer *s, const char *name, bool forgets)
{
	*s = (struct sharer) {
		.client = {
			.name = name,
			.owner = THIS_MODULE,
			.needs = sharer_needs,
			.add_one = sharer_add,
			.remove_one = sharer_remove,
		},
		.forgets = forgets,
	};
}

static struct sharer sharers[2];

static int run_service_leaves(void *service)
{
	ib_service_unregister(service);
	return 0;
}

static int run_client_leaves(void *client)
{
	ib_client_unregister(client);
	return 0;
}

static void run(struct sm *sm, int (*fn)(void *arg), void *arg)
{
	struct fake_flow flow;

	fake_flow_start(&flow, fn, arg);
	KUNIT_EXPECT_TRUE(sm->test, fake_advance_to(sm->b->fake, &flow.done, 20000));
	fake_flow_join(&flow);
}

static void removal_in_every_order_of_clients(struct kunit *test)
{
	unsigned long n = (unsigned long)test->param_value - 1;
	unsigned int bind = n % 3, first = n / 3 % 2, end = n / 6;
	struct sm *sm = sm_create(test, "lr-sa-order");
	int i;

	for (i = 0; i < 2; i++)
		sharer_init(&sharers[i], i ? "second" : "first", i == 0);
	for (i = 0; i < 3; i++) {
		if (i == bind)
			bench_bind(sm->b);
		if (i < 2)
			KUNIT_ASSERT_EQ(test, ib_client_register(&sharers[i ^ first].client), 0);
		fake_settle(sm->b->fake);
	}
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, sharers[i].item.ins, 1);
	KUNIT_EXPECT_EQ(test, sm_count(sm, IB_SA_SET, IB_SA_MCMEMBER), 1U);
	if (end == 0) {
		sm->b->fake->bound = false;
		run(sm, fake_run_unbind, sm->b->fake);
	}
	run(sm, run_client_leaves, &sharers[end == 1].client);
	KUNIT_EXPECT_EQ(test, sm_count(sm, IB_SA_DELETE, IB_SA_MCMEMBER), end == 0);
	run(sm, run_client_leaves, &sharers[end != 1].client);
	fake_settle(sm->b->fake);
	KUNIT_EXPECT_EQ(test, sm_count(sm, IB_SA_DELETE, IB_SA_MCMEMBER), 1U);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, sharers[i].adds, 1);
		KUNIT_EXPECT_EQ(test, sharers[i].removes, 1);
	}
}

static const void *order_next(const void *prev, char *desc)
{
	unsigned long n = (unsigned long)prev;

	if (n == 18)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "bound as %lu, first %lu, end %lu", n % 3, n / 3 % 2,
		 n / 6);
	return (const void *)(n + 1);
}

/* The service goes while clients hold groups that they will not give back. */
static void removal_of_the_service_before_its_clients(struct kunit *test)
{
	static struct ib_service *const services[] = { &ib_multicast, &ib_sa };
	struct sm *sm = sm_up(test, "lr-sa-order");
	int i, n;

	for (i = 0; i < 2; i++) {
		sharer_init(&sharers[i], i ? "second" : "first", i == 0);
		KUNIT_ASSERT_EQ(test, ib_client_register(&sharers[i].client), 0);
	}
	fake_settle(sm->b->fake);
	for (n = 0; n < 2; n++) {
		KUNIT_EXPECT_EQ(test, sm_members(sm), 1U);
		run(sm, run_service_leaves, services[n]);
		KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
		KUNIT_EXPECT_EQ(test, sm_count(sm, IB_SA_DELETE, IB_SA_MCMEMBER), n + 1U);
		for (i = 0; i < 2; i++)
			KUNIT_EXPECT_EQ(test, sharers[i].removes, n + 1);
		/* It comes back, and with it the clients. */
		KUNIT_EXPECT_EQ(test, ib_service_register(services[n]), 0);
		fake_settle(sm->b->fake);
		for (i = 0; i < 2; i++) {
			KUNIT_EXPECT_EQ(test, sharers[i].adds, n + 2);
			KUNIT_EXPECT_EQ(test, sharers[i].item.ins, 1);
		}
	}
	for (i = 0; i < 2; i++)
		run(sm, run_client_leaves, &sharers[i].client);
}

static struct kunit_case sa_removal_cases[] = {
	KUNIT_CASE_PARAM(removal_in_every_state, play_next),
	KUNIT_CASE(removal_ends_what_a_client_waits_for),
	KUNIT_CASE(removal_lets_a_client_ask),
	KUNIT_CASE(removal_in_a_storm_of_sm_changes),
	KUNIT_CASE(removal_b35_nobody_ever_leaves),
	KUNIT_CASE_PARAM(removal_in_every_order_of_clients, order_next),
	KUNIT_CASE(removal_of_the_service_before_its_clients),
	{}
};

static struct kunit_suite sa_removal_suite = {
	.name = "ib_sa_and_multicast_at_removal",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = sa_removal_cases,
};

kunit_test_suite(sa_removal_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the SA client and multicast at the removal of a device");
