// SPDX-License-Identifier: GPL-2.0-only
/*
 * An emulated HCA leaves while queries, groups and MADs of its port are under way: in every state
 * of theirs, politely, with a silent SM, by surprise; and at one step after the other, counted in
 * packets, completions and events.  Removal is bounded, everything ends exactly once, nothing is
 * told after remove_one, and the hardware sees no rule broken (the end of a stage looks).
 */
#include <linux/module.h>

#include <lastref/clock.h>
#include <lastref/kunit.h>

#include "../core/fake.h"
#include "../sa/items.h"
#include "stage.h"

#define PATIENCE 20000
#define NORMAL_MS 4000	/* issue: normally a removal takes no longer */
#define BOUND_MS 15000	/* and never longer than this */

enum scene {
	QUERY_WAITS,
	QUERY_SENT,
	QUERY_ANSWERED,
	JOIN_SENT,
	JOINED,
	LEAVE_SENT,
	REJOIN_SENT,
	SCENES,
};

static const char *const scene_names[] = {
	[QUERY_WAITS] = "queries wait for a SM", [QUERY_SENT] = "queries outstanding",
	[QUERY_ANSWERED] = "queries being answered", [JOIN_SENT] = "joins outstanding",
	[JOINED] = "groups joined", [LEAVE_SENT] = "leaves outstanding",
	[REJOIN_SENT] = "joins outstanding again",
};

enum mode {
	SM_ANSWERS,
	SM_SILENT,
	VANISHES,
	MODES,
};

static const char *const mode_names[] = {
	[SM_ANSWERS] = "SM answers", [SM_SILENT] = "SM silent", [VANISHES] = "by surprise",
};

/**
 * struct play - a scene and its end
 * @scene: what is under way
 * @mode: how the HCA leaves
 * @forgets: the client ends nothing in its remove_one
 */
struct play {
	enum scene scene;
	enum mode mode;
	bool forgets;
};

static bool asks(enum scene scene)
{
	return scene <= QUERY_ANSWERED;
}

static unsigned int in_groups(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ITEMS; i++)
		n += READ_ONCE(items[i].ins);
	return n;
}

static bool heard(struct wire *w, unsigned int n)
{
	return LR_WAIT(READ_ONCE(w->sm->nseen) >= n, PATIENCE);
}

static void begin(struct wire *w, const struct play *p)
{
	struct kunit *test = w->test;

	w->sm->nseen = 0;
	w->sm->silent = p->scene == QUERY_SENT || p->scene == JOIN_SENT;
	w->sm->keep = p->scene == QUERY_ANSWERED;
	memset(items, 0, sizeof(items));
	for (unsigned int i = 0; i < ITEMS; i++)
		KUNIT_ASSERT_EQ(test, asks(p->scene) ?
				item_ask(w->near.attachment, &items[i]) :
				item_join(w->near.attachment, &items[i], i), 0);
	if (p->scene != QUERY_WAITS)
		KUNIT_ASSERT_TRUE(test, heard(w, ITEMS));
	if (p->scene < JOINED)
		return;
	KUNIT_ASSERT_TRUE(test, LR_WAIT(in_groups() == ITEMS, PATIENCE));
	w->sm->silent = p->scene != JOINED;
	if (p->scene == LEAVE_SENT) {
		for (unsigned int i = 0; i < ITEMS; i++) {
			ib_mcast_leave(items[i].member);
			items[i].member = NULL;
		}
	}
	if (p->scene == REJOIN_SENT)
		wire_reregister(w);
	if (p->scene != JOINED)
		KUNIT_ASSERT_TRUE(test, heard(w, 2 * ITEMS));
}

/* Of hardware that is lost all that waits for an answer has ended without a clock. */
static bool flushed(const struct play *p)
{
	for (unsigned int i = 0; i < ITEMS; i++) {
		if (asks(p->scene) && READ_ONCE(items[i].calls) != 1)
			return false;
		if ((p->scene == JOIN_SENT || p->scene == REJOIN_SENT) &&
		    READ_ONCE(items[i].losses) != 1)
			return false;
	}
	return true;
}

static void plays(struct wire *w)
{
	const struct play *p = w->data;

	if (p->mode == VANISHES && p->scene != QUERY_WAITS)
		KUNIT_EXPECT_TRUE_MSG(w->test, LR_WAIT(flushed(p), PATIENCE), "%s, %s",
				      scene_names[p->scene], mode_names[p->mode]);
	if (!p->forgets)
		items_end();
}

static void check(struct wire *w, const struct play *p)
{
	unsigned int deletes = sm_count(w->sm, IB_SA_DELETE, IB_SA_MCMEMBER);
	const char *scene = scene_names[p->scene], *mode = mode_names[p->mode];
	struct kunit *test = w->test;

	for (unsigned int i = 0; i < ITEMS; i++) {
		KUNIT_EXPECT_LE_MSG(test, items[i].calls, 1, "%s, %s", scene, mode);
		KUNIT_EXPECT_LE_MSG(test, items[i].ins, 1, "%s, %s", scene, mode);
		KUNIT_EXPECT_LE_MSG(test, items[i].losses, 1, "%s, %s", scene, mode);
	}
	if (p->mode != VANISHES && !asks(p->scene))
		KUNIT_EXPECT_EQ_MSG(test, deletes, (unsigned int)ITEMS, "%s, %s", scene, mode);
	if (p->mode == VANISHES && p->scene != LEAVE_SENT)
		KUNIT_EXPECT_EQ_MSG(test, deletes, 0U, "%s, %s", scene, mode);
}

/* The near HCA leaves, in the time that is allowed. */
static void leaves(struct wire *w, const char *what, s64 bound)
{
	int removes = w->near.removes;
	struct lr_clock clock;

	lr_clock_start(&clock);
	lr_hca_unplug(w->near.h);
	if (lr_time_is_virtual())
		KUNIT_EXPECT_LE_MSG(w->test, lr_clock_ms(&clock), bound, "%s", what);
	KUNIT_EXPECT_LE_MSG(w->test, w->near.removes - removes, 1, "%s", what);
	KUNIT_EXPECT_FALSE_MSG(w->test, w->near.attached, "%s", what);
	for (unsigned int i = 0; i < ITEMS; i++)
		WRITE_ONCE(items[i].over, true);
}

static void play(struct wire *w, struct play *p)
{
	wire_plug(w);
	if (p->scene != QUERY_WAITS)
		wire_activate(w);
	begin(w, p);
	w->data = p;
	w->remove = plays;
	w->sm->silent = p->mode == SM_SILENT;
	if (p->mode == VANISHES)
		lr_hca_vanish(w->near.h);
	else if (p->scene == QUERY_ANSWERED)
		sm_answer(w->sm);
	leaves(w, scene_names[p->scene], NORMAL_MS);
	check(w, p);
	/* What was forgotten are tombstones now, and may be ended. */
	items_end();
	w->remove = NULL;
	w->sm->silent = false;
	w->sm->keep = false;
	sm_answer(w->sm);
	sm_forget(w->sm);
	w->sm->bad_leaves = 0;
}

static void wire_removal_in_every_state(struct kunit *test)
{
	const struct play *of = test->param_value;
	struct wire *w = wire_up(test);
	struct play p = { .mode = of->mode };

	for (p.scene = 0; p.scene < SCENES; p.scene++)
		for (unsigned int forgets = 0; forgets < 2; forgets++) {
			p.forgets = forgets;
			play(w, &p);
		}
}

static const void *mode_next(const void *prev, char *desc)
{
	static struct play p;

	p.mode = prev ? p.mode + 1 : SM_ANSWERS;
	if (p.mode >= MODES)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", mode_names[p.mode]);
	return &p;
}

/* ---- step by step ---- */

/**
 * struct point - where the HCA vanishes
 * @rule: the rule's begin
 * @stride: from one trial to the next
 * @least: trials that are expected at least
 */
struct point {
	const char *rule;
	unsigned int stride;
	unsigned int least;
};

static const struct point points[] = {
	{ "tx:gmp", 15, 5 }, { "rx:gmp", 15, 5 }, { "cqe", 31, 4 }, { "eqe", 1, 2 },
};

static bool each;
module_param(each, bool, 0400);
MODULE_PARM_DESC(each, "Vanish at each packet, completion and event, not only at some");

static void point_desc(const struct point *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->rule);
}

KUNIT_ARRAY_PARAM(point, points, point_desc);

static void cleans(struct wire *w)
{
	items_end();
}

static bool ended(unsigned int i)
{
	return READ_ONCE(items[i].calls) || READ_ONCE(items[i].ins) || READ_ONCE(items[i].losses);
}

static bool all_ended(void)
{
	for (unsigned int i = 0; i < ITEMS; i++)
		if (!ended(i))
			return false;
	return true;
}

/* Queries and joins in turn. */
static void start(struct wire *w)
{
	memset(items, 0, sizeof(items));
	w->sm->nseen = 0;
	for (unsigned int i = 0; i < ITEMS; i++) {
		int err = i % 2 ? item_join(w->near.attachment, &items[i], i) :
				  item_ask(w->near.attachment, &items[i]);

		/* Some may find it gone already. */
		if (err)
			items[i].losses = 1;
		if (err)
			KUNIT_EXPECT_EQ(w->test, err, -ENODEV);
	}
}

static void once_each(struct wire *w, const char *what, unsigned int nth)
{
	for (unsigned int i = 0; i < ITEMS; i++) {
		KUNIT_EXPECT_LE_MSG(w->test, items[i].calls, 1, "%s %u", what, nth);
		KUNIT_EXPECT_LE_MSG(w->test, items[i].ins, 1, "%s %u", what, nth);
		KUNIT_EXPECT_LE_MSG(w->test, items[i].losses, 1, "%s %u", what, nth);
	}
}

/* Pulled out at the first packet, the tenth, ...: until there are no more of them. */
static void wire_vanishes_at_each_step(struct kunit *test)
{
	const struct point *p = test->param_value;
	struct wire *w = wire_up(test);
	unsigned int nth, trials = 0;
	u64 hit = 1;

	for (nth = 1; hit; nth += each ? 1 : p->stride) {
		char rule[40];

		wire_plug(w);
		wire_activate(w);
		w->remove = cleans;
		snprintf(rule, sizeof(rule), "%s nth=%u gone", p->rule, nth);
		lr_hca_fault(w->near.h, rule);
		start(w);
		/* By answers until it goes, by software afterwards. */
		KUNIT_EXPECT_TRUE_MSG(test, LR_WAIT(all_ended(), PATIENCE), "%s", rule);
		hit = lr_hca_count(w->near.h, "faults");
		trials += hit;
		leaves(w, rule, BOUND_MS);
		once_each(w, rule, nth);
		items_end();
		sm_forget(w->sm);
	}
	kunit_info(test, "%u times\n", trials);
	KUNIT_EXPECT_GE(test, trials, p->least);
}

/* Taken out in order when the SM hears the first request, the tenth, ... of the same. */
static void wire_unplugged_at_each_request(struct kunit *test)
{
	struct wire *w = wire_up(test);

	for (unsigned int nth = 1; nth <= ITEMS; nth += 7) {
		wire_plug(w);
		wire_activate(w);
		w->remove = cleans;
		reinit_completion(&w->reached);
		w->stop_at = nth;
		start(w);
		KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&w->reached, 20 * HZ), 0UL);
		leaves(w, "request", NORMAL_MS);
		once_each(w, "request", nth);
		/* Each group that the SM has put it into was left. */
		for (unsigned int i = 0; i < SM_GROUPS; i++)
			KUNIT_EXPECT_FALSE_MSG(test, w->sm->groups[i].exists &&
					       w->sm->groups[i].joined[0], "request %u", nth);
		w->sm->bad_leaves = 0;
	}
}

static struct kunit_case removal_cases[] = {
	KUNIT_CASE_PARAM(wire_removal_in_every_state, mode_next),
	KUNIT_CASE_PARAM(wire_vanishes_at_each_step, point_gen_params),
	KUNIT_CASE(wire_unplugged_at_each_request),
	{}
};

static struct kunit_suite removal_suite = {
	.name = "mlx4_wire_removal",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = removal_cases,
};

kunit_test_suite(removal_suite);
