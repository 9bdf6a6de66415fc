// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries to the SA, over the real MAD service, to a SM in software (sm.h): what goes out, what
 * comes back, how often the owner is called, and what the clock and another SM make of it.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <ib/sa.h>

#include "sm.h"

#define TIMEOUT 100
#define MANY 5000
#define BATCH 100

/**
 * struct asked - a query of a test
 * @query: the query, while it may be cancelled
 * @calls: how often its owner was called
 * @keeps: the callback returns IB_CB_DONE: the query is still to be ended
 * @ended: it was cancelled: no call may come
 * @error: what the result said
 * @status: the same
 * @count: the same
 * @first: its first record
 * @last: its last
 */
struct asked {
	struct ib_sa_query *query;
	atomic_t calls;
	bool keeps;
	bool ended;
	int error;
	u16 status;
	unsigned int count;
	union ib_sa_record first;
	union ib_sa_record last;
};

static enum ib_cb_result asked_done(struct ib_sa_query *query, const struct ib_sa_result *result,
				    void *context)
{
	struct asked *a = context;

	if (READ_ONCE(a->ended))
		fake_breach("a query was answered after it was cancelled");
	if (READ_ONCE(a->query) != query)
		fake_breach("a callback came before the owner knew the query");
	a->error = result->error;
	a->status = result->status;
	a->count = result->count;
	if (!result->error && result->count) {
		ib_sa_result_record(result, 0, &a->first);
		ib_sa_result_record(result, result->count - 1, &a->last);
		if (!ib_sa_result_record(result, result->count, &a->last))
			fake_breach("there is a record behind the last");
	}
	atomic_inc(&a->calls);
	return a->keeps ? IB_CB_DONE : IB_CB_DESTROY;
}

static struct asked *asked_create(struct kunit *test, unsigned int n)
{
	struct asked *a = kvcalloc(n, sizeof(*a), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, (kunit_action_t *)kvfree, a), 0);
	return a;
}

static void request_path(struct ib_sa_request *request, struct asked *a)
{
	*request = (struct ib_sa_request) {
		.port = 1,
		.method = IB_SA_GET,
		.attr = IB_SA_PATH,
		.mask = IB_SA_PATH_DGID | IB_SA_PATH_SGID | IB_SA_PATH_NUMB_PATH,
		.timeout_ms = TIMEOUT,
		.retries = 3,
		.done = asked_done,
		.context = a,
	};
	request->record.path.numb_path = 1;
}

static void ask(struct sm *sm, struct asked *a)
{
	struct ib_sa_request request;

	request_path(&request, a);
	KUNIT_ASSERT_EQ(sm->test, ib_sa_query_start(sm->b->attachment, &request, &a->query), 0);
}

static void settle(struct sm *sm)
{
	fake_settle(sm->b->fake);
}

static void advance(struct sm *sm, unsigned int ms)
{
	fake_advance(sm->b->fake, ms);
}

static unsigned int paths_seen(struct sm *sm)
{
	return sm_count(sm, IB_SA_GET, IB_SA_PATH);
}

static void expect_ended(struct sm *sm, struct asked *a, int error)
{
	KUNIT_EXPECT_EQ(sm->test, atomic_read(&a->calls), 1);
	KUNIT_EXPECT_EQ(sm->test, a->error, error);
}

/* ---- answers ---- */

static void query_path(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);
	struct ib_ah_attr attr;

	ask(sm, a);
	KUNIT_EXPECT_EQ(test, atomic_read(&a->calls), 0);
	settle(sm);
	expect_ended(sm, a, 0);
	KUNIT_EXPECT_EQ(test, a->count, 1U);
	KUNIT_EXPECT_EQ(test, a->first.path.dlid, 0x40);
	KUNIT_EXPECT_EQ(test, a->first.path.sl, 3);
	KUNIT_EXPECT_EQ(test, (int)a->first.path.mtu, (int)IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, a->first.path.rate, 7);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);
	KUNIT_EXPECT_EQ(test, sm->seen[0].mask,
			IB_SA_PATH_DGID | IB_SA_PATH_SGID | IB_SA_PATH_NUMB_PATH);
	KUNIT_EXPECT_EQ(test, ib_sa_path_to_ah(bench_device(sm->b), 1, &a->first.path, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.dlid, 0x40);
	KUNIT_EXPECT_EQ(test, attr.sl, 3);
	KUNIT_EXPECT_EQ(test, attr.static_rate, 7);
	KUNIT_EXPECT_FALSE(test, attr.has_grh);
}

static void query_every_attribute_and_method(struct kunit *test)
{
	static const struct {
		enum ib_sa_method method;
		enum ib_sa_attr attr;
	} kinds[] = {
		{ IB_SA_GET, IB_SA_CLASS_PORT_INFO }, { IB_SA_GET, IB_SA_PATH },
		{ IB_SA_SET, IB_SA_SERVICE }, { IB_SA_GET, IB_SA_SERVICE },
		{ IB_SA_DELETE, IB_SA_SERVICE }, { IB_SA_SET, IB_SA_GUID_INFO },
		{ IB_SA_DELETE, IB_SA_GUID_INFO }, { IB_SA_GET, IB_SA_MCMEMBER },
	};
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, ARRAY_SIZE(kinds));
	struct ib_sa_request request;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		request_path(&request, &a[i]);
		request.method = kinds[i].method;
		request.attr = kinds[i].attr;
		request.mask = BIT_ULL(i);
		KUNIT_ASSERT_EQ(test, ib_sa_query_start(sm->b->attachment, &request, &a[i].query),
				0);
		settle(sm);
		expect_ended(sm, &a[i], 0);
		KUNIT_EXPECT_EQ(test, sm->seen[i].method, (u8)kinds[i].method);
		KUNIT_EXPECT_EQ(test, sm->seen[i].attr, (u16)kinds[i].attr);
		KUNIT_EXPECT_EQ(test, sm->seen[i].mask, BIT_ULL(i));
	}
}

/* Nothing is remembered: what was asked once is asked again. */
static void query_is_not_cached(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 2);

	ask(sm, &a[0]);
	settle(sm);
	sm->refuse = IB_SA_STATUS_NO_RECORDS;
	ask(sm, &a[1]);
	settle(sm);
	expect_ended(sm, &a[0], 0);
	expect_ended(sm, &a[1], -ENOENT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 2U);
}

static void ask_table(struct sm *sm, struct asked *a)
{
	struct ib_sa_request request;

	request_path(&request, a);
	request.method = IB_SA_GET_TABLE;
	KUNIT_ASSERT_EQ(sm->test, ib_sa_query_start(sm->b->attachment, &request, &a->query), 0);
	settle(sm);
}

static void query_table(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	static const unsigned int sizes[] = { 0, 1, 3, 4, 50, SM_RECORDS };
	struct asked *a = asked_create(test, ARRAY_SIZE(sizes));
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		sm->records = sizes[i];
		ask_table(sm, &a[i]);
		expect_ended(sm, &a[i], 0);
		KUNIT_EXPECT_EQ(test, a[i].count, sizes[i]);
		if (sizes[i])
			KUNIT_EXPECT_EQ(test, a[i].first.path.dlid, 0x40);
		if (sizes[i] > 1)
			KUNIT_EXPECT_EQ(test, a[i].last.path.dlid, 0x40 + sizes[i] - 1);
	}
	KUNIT_EXPECT_GT(test, sm->acks, 0U);
}

/* What a SM says of its records is not to be believed. */
static void query_table_with_lies(struct kunit *test)
{
	static const unsigned int strides[] = { 8, 56, 72, 2032 };
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, ARRAY_SIZE(strides));
	unsigned int i;

	sm->records = 20;
	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		sm->stride = strides[i];
		ask_table(sm, &a[i]);
		expect_ended(sm, &a[i], strides[i] < 64 ? -EINVAL : 0);
		if (strides[i] >= 64)
			KUNIT_EXPECT_EQ(test, a[i].count,
					(1280 + strides[i] - 64) / strides[i]);
	}
}

static void query_refused(struct kunit *test)
{
	static const struct {
		u16 status;
		int error;
	} kinds[] = {
		{ IB_SA_STATUS_NO_RECORDS, -ENOENT }, { IB_SA_STATUS_REQ_INVALID, -EINVAL },
		{ IB_SA_STATUS_DENIED, -EINVAL }, { IB_SA_STATUS_TOO_MANY_RECORDS, -EINVAL },
		{ 0x000c, -EINVAL },
	};
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, ARRAY_SIZE(kinds) + 1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		sm->refuse = kinds[i].status;
		ask(sm, &a[i]);
		settle(sm);
		expect_ended(sm, &a[i], kinds[i].error);
		KUNIT_EXPECT_EQ(test, a[i].status, kinds[i].status);
	}
	sm->refuse = 0;
	sm->wrong_method = 0x92;
	ask(sm, &a[i]);
	settle(sm);
	expect_ended(sm, &a[i], -EINVAL);
}

static void query_makes_no_sense(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);
	struct ib_sa_request request;

	request_path(&request, a);
	request.port = 3;
	KUNIT_EXPECT_EQ(test, ib_sa_query_start(sm->b->attachment, &request, &a->query), -EINVAL);
	request_path(&request, a);
	request.port = 0;
	KUNIT_EXPECT_EQ(test, ib_sa_query_start(sm->b->attachment, &request, &a->query), -EINVAL);
	request_path(&request, a);
	request.method = 0x14;
	KUNIT_EXPECT_EQ(test, ib_sa_query_start(sm->b->attachment, &request, &a->query), -EINVAL);
	request_path(&request, a);
	request.attr = 0x11;
	KUNIT_EXPECT_EQ(test, ib_sa_query_start(sm->b->attachment, &request, &a->query), -EINVAL);
	request_path(&request, a);
	request.done = NULL;
	KUNIT_EXPECT_EQ(test, ib_sa_query_start(sm->b->attachment, &request, &a->query), -EINVAL);
	KUNIT_EXPECT_EQ(test, sm->nseen, 0U);
}

/* ---- time ---- */

static void query_times_out(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);
	unsigned int i;

	sm->silent = true;
	ask(sm, a);
	settle(sm);
	for (i = 1; i <= 4; i++) {
		KUNIT_EXPECT_EQ(test, paths_seen(sm), i);
		KUNIT_EXPECT_EQ(test, atomic_read(&a->calls), 0);
		/* A late answer to any of them will do. */
		KUNIT_EXPECT_EQ(test, sm->seen[i - 1].tid, sm->seen[0].tid);
		advance(sm, TIMEOUT);
	}
	expect_ended(sm, a, -ETIMEDOUT);
	advance(sm, 100 * TIMEOUT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 4U);
	expect_ended(sm, a, -ETIMEDOUT);
}

static void query_lost_is_asked_again(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);

	sm->drop = 2;
	ask(sm, a);
	settle(sm);
	advance(sm, TIMEOUT);
	advance(sm, TIMEOUT);
	expect_ended(sm, a, 0);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 3U);
}

static void query_late_answer(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);

	sm->keep = true;
	ask(sm, a);
	settle(sm);
	advance(sm, TIMEOUT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 2U);
	/* Both tries are answered: the first counts, the second finds nobody. */
	sm_answer(sm);
	settle(sm);
	expect_ended(sm, a, 0);
}

static void query_busy(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 2);

	sm->busy = 2;
	ask(sm, &a[0]);
	settle(sm);
	advance(sm, TIMEOUT);
	advance(sm, TIMEOUT);
	expect_ended(sm, &a[0], 0);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 3U);
	sm->busy = 100;
	ask(sm, &a[1]);
	settle(sm);
	advance(sm, TIMEOUT);
	advance(sm, TIMEOUT);
	advance(sm, TIMEOUT);
	advance(sm, TIMEOUT);
	expect_ended(sm, &a[1], -EBUSY);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 7U);
}

/* B19: thousands that expire in the same moment. */
static void query_thousands_expire_at_once(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, MANY);
	unsigned int i, errors = 0;

	sm->silent = true;
	for (i = 0; i < MANY; i++)
		ask(sm, &a[i]);
	for (i = 0; i < 6; i++)
		advance(sm, TIMEOUT);
	for (i = 0; i < MANY; i++)
		errors += atomic_read(&a[i].calls) != 1 || a[i].error != -ETIMEDOUT;
	KUNIT_EXPECT_EQ(test, errors, 0U);
}

/* B24: the answer is there before the call that sends has returned. */
static void query_answered_in_the_call_that_sends(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, MANY);
	unsigned int i, errors = 0;

	for (i = 0; i < MANY; i++) {
		ask(sm, &a[i]);
		if (i % BATCH == BATCH - 1)
			KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&a[i].calls) == 1, 10000));
	}
	settle(sm);
	for (i = 0; i < MANY; i++)
		errors += atomic_read(&a[i].calls) != 1 || a[i].error;
	KUNIT_EXPECT_EQ(test, errors, 0U);
	KUNIT_EXPECT_EQ(test, sm->nseen, (unsigned int)MANY);
}

/* B26: that a query failed is no reason for the next one to fail. */
static void query_works_again_when_the_sm_does(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 2);

	sm->silent = true;
	ask(sm, &a[0]);
	advance(sm, 5 * TIMEOUT);
	advance(sm, 5 * TIMEOUT);
	advance(sm, 5 * TIMEOUT);
	advance(sm, 5 * TIMEOUT);
	expect_ended(sm, &a[0], -ETIMEDOUT);
	sm->silent = false;
	ask(sm, &a[1]);
	settle(sm);
	expect_ended(sm, &a[1], 0);
}

/* ---- another SM ---- */

static void sm_moves(struct sm *sm, u16 lid)
{
	sm->b->vf.port[0].sm_lid = lid;
	ib_event_raise(bench_device(sm->b), IB_EVENT_SM_CHANGE, 1);
	settle(sm);
}

static void query_follows_the_sm(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 10);
	unsigned int i;

	sm->silent = true;
	for (i = 0; i < 10; i++)
		ask(sm, &a[i]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 10U);
	sm->silent = false;
	sm->lid = 5;
	sm_moves(sm, 5);
	/* Without the clock having moved. */
	for (i = 0; i < 10; i++)
		expect_ended(sm, &a[i], 0);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 20U);
	KUNIT_EXPECT_EQ(test, sm->astray, 0U);
	for (i = 10; i < 20; i++)
		KUNIT_EXPECT_EQ(test, sm->seen[i].lid, 5);
}

/* B27: an event is no reason to send anything again, another address is. */
static void query_event_without_another_address(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);

	sm->keep = true;
	ask(sm, a);
	settle(sm);
	ib_event_raise(bench_device(sm->b), IB_EVENT_SM_CHANGE, 1);
	ib_event_raise(bench_device(sm->b), IB_EVENT_CLIENT_REREGISTER, 1);
	ib_event_raise(bench_device(sm->b), IB_EVENT_LID_CHANGE, 1);
	ib_event_raise(bench_device(sm->b), IB_EVENT_SM_CHANGE, 2);
	settle(sm);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);
	sm_answer(sm);
	settle(sm);
	expect_ended(sm, a, 0);
}

static void query_time_is_not_prolonged(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);
	unsigned int i;

	sm->silent = true;
	ask(sm, a);
	settle(sm);
	for (i = 0; i < 20 && !atomic_read(&a->calls); i++) {
		sm->lid = 2 + i % 2;
		sm_moves(sm, sm->lid);
		advance(sm, TIMEOUT / 2);
	}
	/* Four tries of 100 ms; the last may begin at the end. */
	KUNIT_EXPECT_GE(test, i, 8U);
	KUNIT_EXPECT_LE(test, i, 11U);
	expect_ended(sm, a, -ETIMEDOUT);
}

static void port_becomes(struct sm *sm, enum ib_port_state state, enum ib_event_type event)
{
	sm->b->vf.port[0].state = state;
	ib_event_raise(bench_device(sm->b), event, 1);
	settle(sm);
}

static void query_waits_for_a_sm(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 3);

	port_becomes(sm, IB_PORT_INIT, IB_EVENT_PORT_ERR);
	ask(sm, &a[0]);
	settle(sm);
	advance(sm, TIMEOUT);
	KUNIT_EXPECT_EQ(test, sm->nseen, 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&a[0].calls), 0);
	port_becomes(sm, IB_PORT_ACTIVE, IB_EVENT_PORT_ACTIVE);
	expect_ended(sm, &a[0], 0);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);

	/* For as long as it would wait for answers. */
	port_becomes(sm, IB_PORT_INIT, IB_EVENT_PORT_ERR);
	ask(sm, &a[1]);
	advance(sm, 3 * TIMEOUT);
	ask(sm, &a[2]);
	KUNIT_EXPECT_EQ(test, atomic_read(&a[1].calls), 0);
	advance(sm, TIMEOUT);
	expect_ended(sm, &a[1], -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, atomic_read(&a[2].calls), 0);
	advance(sm, 3 * TIMEOUT);
	expect_ended(sm, &a[2], -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);
}

/* What was outstanding when the port went down is sent when it comes back. */
static void query_survives_a_port_that_bounces(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);

	sm->silent = true;
	ask(sm, a);
	settle(sm);
	port_becomes(sm, IB_PORT_DOWN, IB_EVENT_PORT_ERR);
	sm->silent = false;
	advance(sm, TIMEOUT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);
	port_becomes(sm, IB_PORT_ACTIVE, IB_EVENT_PORT_ACTIVE);
	expect_ended(sm, a, 0);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 2U);
}

/* ---- the end of a query ---- */

static void cancel(struct asked *a)
{
	ib_sa_query_cancel(a->query);
	WRITE_ONCE(a->ended, true);
}

static void query_cancelled_while_outstanding(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 2);

	sm->keep = true;
	ask(sm, &a[0]);
	ask(sm, &a[1]);
	settle(sm);
	cancel(&a[0]);
	sm_answer(sm);
	settle(sm);
	KUNIT_EXPECT_EQ(test, atomic_read(&a[0].calls), 0);
	expect_ended(sm, &a[1], 0);
	advance(sm, 10 * TIMEOUT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 2U);
}

static void query_cancelled_before_it_is_sent(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 2);

	port_becomes(sm, IB_PORT_INIT, IB_EVENT_PORT_ERR);
	ask(sm, &a[0]);
	ask(sm, &a[1]);
	settle(sm);
	cancel(&a[0]);
	port_becomes(sm, IB_PORT_ACTIVE, IB_EVENT_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);
	expect_ended(sm, &a[1], 0);
	/* At once, not seen off by anybody. */
	ask(sm, &a[0]);
	cancel(&a[0]);
	settle(sm);
	KUNIT_EXPECT_LE(test, paths_seen(sm), 2U);
}

static void query_kept_after_its_end(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 1);

	a->keeps = true;
	ask(sm, a);
	settle(sm);
	expect_ended(sm, a, 0);
	cancel(a);
}

static int run_answer(void *sm)
{
	sm_answer(sm);
	return 0;
}

/* Cancelled in the moment of the answer: called once before, or never. */
static void query_cancel_against_answer(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 500);
	unsigned int i, called = 0;
	struct fake_flow flow;

	sm->keep = true;
	for (i = 0; i < 500; i++) {
		a[i].keeps = true;
		ask(sm, &a[i]);
		settle(sm);
		fake_flow_start(&flow, run_answer, sm);
		if (i % 3)
			usleep_range(1, 2 + i % 50);
		cancel(&a[i]);
		fake_flow_join(&flow);
		called += atomic_read(&a[i].calls);
		KUNIT_EXPECT_LE(test, atomic_read(&a[i].calls), 1);
	}
	settle(sm);
	KUNIT_EXPECT_GT(test, called, 0U);
}

static void query_answers_in_any_order(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 64);
	unsigned int i;

	sm->keep = true;
	for (i = 0; i < 64; i++)
		ask(sm, &a[i]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 64U);
	for (i = 0; i < 64; i += 2)
		cancel(&a[i]);
	list_rotate_left(&sm->kept);
	sm_answer(sm);
	settle(sm);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&a[i].calls), (int)(i % 2));
}

static struct asked *chained;
static struct sm *chained_sm;

static enum ib_cb_result chain_done(struct ib_sa_query *query, const struct ib_sa_result *result,
				    void *context)
{
	ask(chained_sm, chained);
	return IB_CB_DESTROY;
}

static void query_started_in_a_callback(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct ib_sa_query *query;
	struct ib_sa_request request;

	chained = asked_create(test, 1);
	chained_sm = sm;
	request_path(&request, NULL);
	request.done = chain_done;
	KUNIT_ASSERT_EQ(test, ib_sa_query_start(sm->b->attachment, &request, &query), 0);
	settle(sm);
	expect_ended(sm, chained, 0);
}

/* ---- requests that nobody waits for ---- */

static void query_released_is_sent(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct asked *a = asked_create(test, 2);

	ask(sm, &a[0]);
	ib_sa_query_release(a[0].query);
	WRITE_ONCE(a[0].ended, true);
	settle(sm);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);
	sm->silent = true;
	ask(sm, &a[1]);
	settle(sm);
	ib_sa_query_release(a[1].query);
	WRITE_ONCE(a[1].ended, true);
	sm->silent = false;
	advance(sm, TIMEOUT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 3U);
	KUNIT_EXPECT_EQ(test, atomic_read(&a[1].calls), 0);
}

static void query_told_once(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct ib_sa_request request;

	request_path(&request, NULL);
	sm->silent = true;
	KUNIT_EXPECT_EQ(test, ib_sa_tell(sm->b->attachment, &request), 0);
	settle(sm);
	advance(sm, 10 * TIMEOUT);
	KUNIT_EXPECT_EQ(test, paths_seen(sm), 1U);
	port_becomes(sm, IB_PORT_INIT, IB_EVENT_PORT_ERR);
	KUNIT_EXPECT_EQ(test, ib_sa_tell(sm->b->attachment, &request), -EAGAIN);
}

/* ---- addresses ---- */

static void query_addresses(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-sa");
	struct ib_device *device = bench_device(sm->b);
	struct ib_sa_path path = {
		.dlid = 0x77, .slid = 0x13, .sl = 9, .rate = 3, .hop_limit = 64,
		.flow_label = 0x12345, .traffic_class = 0x55, .sgid = sm->b->vf.gids[1][0],
	};
	struct ib_sa_mcmember member = {
		.mlid = 0xc00a, .sl = 4, .rate = 6, .hop_limit = 1, .flow_label = 7,
		.port_gid = sm->b->vf.gids[0][0],
	};
	struct ib_ah_attr attr;

	path.dgid.raw[3] = 0x99;
	member.mgid.raw[0] = 0xff;
	KUNIT_EXPECT_EQ(test, ib_sa_path_to_ah(device, 2, &path, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.path_bits, 1);
	KUNIT_EXPECT_TRUE(test, attr.has_grh);
	KUNIT_EXPECT_EQ(test, attr.grh.dgid.raw[3], 0x99);
	KUNIT_EXPECT_EQ(test, attr.grh.flow_label, 0x12345U);
	KUNIT_EXPECT_EQ(test, attr.grh.traffic_class, 0x55);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, ib_sa_path_to_ah(device, 1, &path, &attr), -ENOENT);
	path.hop_limit = 1;
	KUNIT_EXPECT_EQ(test, ib_sa_path_to_ah(device, 1, &path, &attr), 0);
	KUNIT_EXPECT_FALSE(test, attr.has_grh);
	KUNIT_EXPECT_EQ(test, attr.path_bits, 0);

	KUNIT_EXPECT_EQ(test, ib_sa_mcmember_to_ah(device, 1, &member, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.dlid, 0xc00a);
	KUNIT_EXPECT_TRUE(test, attr.has_grh);
	KUNIT_EXPECT_EQ(test, attr.grh.dgid.raw[0], 0xff);
	KUNIT_EXPECT_EQ(test, attr.static_rate, 6);
	KUNIT_EXPECT_EQ(test, ib_sa_mcmember_to_ah(device, 2, &member, &attr), -ENOENT);
}

static struct kunit_case sa_query_cases[] = {
	KUNIT_CASE(query_path),
	KUNIT_CASE(query_every_attribute_and_method),
	KUNIT_CASE(query_is_not_cached),
	KUNIT_CASE(query_table),
	KUNIT_CASE(query_table_with_lies),
	KUNIT_CASE(query_refused),
	KUNIT_CASE(query_makes_no_sense),
	KUNIT_CASE(query_times_out),
	KUNIT_CASE(query_lost_is_asked_again),
	KUNIT_CASE(query_late_answer),
	KUNIT_CASE(query_busy),
	KUNIT_CASE(query_thousands_expire_at_once),
	KUNIT_CASE(query_answered_in_the_call_that_sends),
	KUNIT_CASE(query_works_again_when_the_sm_does),
	KUNIT_CASE(query_follows_the_sm),
	KUNIT_CASE(query_event_without_another_address),
	KUNIT_CASE(query_time_is_not_prolonged),
	KUNIT_CASE(query_waits_for_a_sm),
	KUNIT_CASE(query_survives_a_port_that_bounces),
	KUNIT_CASE(query_cancelled_while_outstanding),
	KUNIT_CASE(query_cancelled_before_it_is_sent),
	KUNIT_CASE(query_kept_after_its_end),
	KUNIT_CASE(query_cancel_against_answer),
	KUNIT_CASE(query_answers_in_any_order),
	KUNIT_CASE(query_started_in_a_callback),
	KUNIT_CASE(query_released_is_sent),
	KUNIT_CASE(query_told_once),
	KUNIT_CASE(query_addresses),
	{}
};

static struct kunit_suite sa_query_suite = {
	.name = "ib_sa_queries_end_exactly_once",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = sa_query_cases,
};

kunit_test_suite(sa_query_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of queries to the SA");
