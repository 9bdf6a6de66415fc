// SPDX-License-Identifier: GPL-2.0-only
/*
 * MADs, RMPP, the SA client and multicast between two emulated HCAs: what their own suites play
 * with a provider in software goes here through mlx4_ib, its queues and real packets.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include <ib/multicast.h>

#include <lastref/clock.h>
#include <lastref/kunit.h>

#include "../core/fake.h"
#include "../sa/items.h"
#include "stage.h"

#define TIMEOUT 100
#define RETRIES 3
#define PATIENCE 20000
#define REQUESTS 40
#define FLOOD 2000
#define SLOTS 128	/* of QP1's send queue, by default */
#define TABLE 150	/* records: some 9600 bytes, 49 segments */
#define LONG (20 * IB_RMPP_PAYLOAD)

static unsigned int lies = 1000;
module_param(lies, uint, 0400);
MODULE_PARM_DESC(lies, "sequences of segments by which a peer lies");

/**
 * struct asking - requests of a test, and how they ended
 * @agent: whose
 * @ended: calls of done
 * @answered: those with a response of the same class and TID
 * @status: of the last
 * @mad_status: of the last response
 * @length: of the last response
 * @watched: others, ...
 * @seen: ... and how many requests of theirs had ended before the last of these
 */
struct asking {
	struct ib_mad_agent *agent;
	atomic_t ended;
	atomic_t answered;
	int status;
	u16 mad_status;
	u32 length;
	struct asking *watched;
	int seen;
};

static enum ib_cb_result ask_done(struct ib_mad_send *send, int status,
				  struct ib_mad_recv *response)
{
	struct asking *a = send->context;

	a->status = status;
	if (a->watched)
		a->seen = atomic_read(&a->watched->ended);
	if (response) {
		a->mad_status = ib_get(response->mad, IB_MAD_STATUS);
		a->length = response->length;
		if (ib_get(response->mad, IB_MAD_TID) == ib_get(send->mad, IB_MAD_TID) &&
		    ib_get(response->mad, IB_MAD_CLASS) == ib_get(send->mad, IB_MAD_CLASS))
			atomic_inc(&a->answered);
	}
	ib_mad_recv_free(response);
	ib_mad_send_free(send);
	atomic_inc(&a->ended);
	return IB_CB_DONE;
}

static void make_asking(struct wire *w, struct asking *a, u8 class)
{
	struct ib_mad_agent_init init = {
		.port = 1, .qpn = 1, .class = class, .class_version = 1, .oui = WIRE_OUI,
		.rmpp = class >= WIRE_CLASS_LONG,
	};

	*a = (struct asking) { .agent = ib_mad_agent_create(w->near.attachment, &init) };
	KUNIT_ASSERT_FALSE(w->test, IS_ERR(a->agent));
}

static void request(struct wire *w, struct asking *a, u8 class, u32 answer)
{
	struct ib_mad_send *send = ib_mad_send_alloc(a->agent, IB_MAD_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_FALSE(w->test, IS_ERR(send));
	ib_put(send->mad, IB_MAD_BASE, IB_MAD_BASE_1);
	ib_put(send->mad, IB_MAD_CLASS, class);
	ib_put(send->mad, IB_MAD_CLASS_VERSION, 1);
	ib_put(send->mad, IB_MAD_METHOD, IB_METHOD_GET);
	ib_put(send->mad, IB_MAD_TID_LO, ib_mad_tid(a->agent));
	if (class >= WIRE_CLASS_LONG) {
		ib_put(send->mad, IB_VENDOR2_OUI, WIRE_OUI);
		ib_put(send->mad, WIRE_ANSWER_BYTES, answer);
	}
	send->to = (struct ib_mad_addr) { .lid = WIRE_SM_LID, .qpn = 1 };
	send->timeout_ms = TIMEOUT;
	send->retries = RETRIES;
	send->done = ask_done;
	send->context = a;
	KUNIT_ASSERT_EQ(w->test, ib_mad_post(send), 0);
}

static bool ended(struct asking *a, int n)
{
	return LR_WAIT(atomic_read(&a->ended) >= n, PATIENCE);
}

static u64 struck(struct wire *w)
{
	return lr_hca_count(w->near.h, "faults");
}

/* ---- MADs ---- */

/* Routes without LIDs have done it, and the answers of both ports. */
static void wire_the_sm_brings_both_up(struct kunit *test)
{
	struct wire *w = wire_up(test);
	struct ib_port_attr attr;

	KUNIT_ASSERT_TRUE(test, LR_WAIT(!ib_port_cached(wire_device(w), 1, &attr) &&
					attr.state == IB_PORT_ACTIVE, PATIENCE));
	KUNIT_EXPECT_EQ(test, attr.lid, WIRE_NEAR_LID);
	KUNIT_EXPECT_EQ(test, attr.sm_lid, WIRE_SM_LID);
}

static void wire_each_agent_hears_its_own(struct kunit *test)
{
	struct wire *w = wire_up(test);
	struct asking a[3];

	make_asking(w, &a[0], WIRE_CLASS_LONG);
	make_asking(w, &a[1], WIRE_CLASS_SHORT);
	/* Another one of the same class, which so asks and does not serve. */
	make_asking(w, &a[2], WIRE_CLASS_SHORT);
	for (unsigned int i = 0; i < 3 * REQUESTS; i++)
		request(w, &a[i % 3], i % 3 ? WIRE_CLASS_SHORT : WIRE_CLASS_LONG, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(a); i++) {
		KUNIT_EXPECT_TRUE(test, ended(&a[i], REQUESTS));
		KUNIT_EXPECT_EQ(test, atomic_read(&a[i].answered), REQUESTS);
		KUNIT_EXPECT_EQ(test, a[i].status, 0);
		KUNIT_EXPECT_EQ(test, a[i].mad_status, 0);
		ib_mad_agent_destroy(a[i].agent);
		KUNIT_EXPECT_EQ(test, atomic_read(&a[i].ended), REQUESTS);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&w->served), 3 * REQUESTS);
}

/* A class that nobody serves is refused; who is not there says nothing, however often one asks. */
static void wire_nobody_answers(struct kunit *test)
{
	struct wire *w = wire_up(test);
	struct lr_clock clock;
	struct asking a;
	u64 before;

	make_asking(w, &a, WIRE_CLASS_SHORT + 1);
	request(w, &a, WIRE_CLASS_SHORT + 1, 0);
	KUNIT_EXPECT_TRUE(test, ended(&a, 1));
	KUNIT_EXPECT_EQ(test, a.mad_status, IB_STATUS_BAD_METHOD_ATTRIBUTE);
	before = struck(w);
	lr_hca_fault(w->near.h, "tx:gmp times=0 drop");
	lr_clock_start(&clock);
	request(w, &a, WIRE_CLASS_SHORT, 0);
	KUNIT_EXPECT_TRUE(test, ended(&a, 2));
	KUNIT_EXPECT_EQ(test, a.status, -ETIMEDOUT);
	lr_expect_ms(test, &clock, TIMEOUT * (RETRIES + 1), TIMEOUT * (RETRIES + 2));
	KUNIT_EXPECT_EQ(test, struck(w) - before, RETRIES + 1ULL);
	ib_mad_agent_destroy(a.agent);
}

/* A packet is lost, doubled, late or broken: the request ends once, with its answer. */
static void wire_lost_and_doubled(struct kunit *test)
{
	static const char *const rules[] = {
		"tx:gmp drop", "rx:gmp drop", "tx:gmp dup", "rx:gmp dup", "tx:gmp corrupt",
		"rx:gmp corrupt", "tx:gmp delay=150000000", "rx:gmp delay=150000000",
		"tx:gmp times=3 drop", "rx:gmp times=3 drop",
	};
	struct wire *w = wire_up(test);
	struct asking a;

	make_asking(w, &a, WIRE_CLASS_SHORT);
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++) {
		u64 before = struck(w);

		lr_hca_fault(w->near.h, rules[i]);
		request(w, &a, WIRE_CLASS_SHORT, 0);
		KUNIT_EXPECT_TRUE_MSG(test, ended(&a, i + 1), "%s", rules[i]);
		KUNIT_EXPECT_EQ_MSG(test, a.status, 0, "%s", rules[i]);
		KUNIT_EXPECT_EQ_MSG(test, a.mad_status, 0, "%s", rules[i]);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&a.answered), (int)i + 1, "%s", rules[i]);
		/* Second answers find nobody. */
		msleep(2 * TIMEOUT);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&a.ended), (int)i + 1, "%s", rules[i]);
		KUNIT_EXPECT_GT_MSG(test, struck(w), before, "%s", rules[i]);
		lr_hca_fault(w->near.h, "clear");
	}
	ib_mad_agent_destroy(a.agent);
}

/* Whoever floods QP1 waits for himself: another one's request is through long before. */
static void wire_a_flood_waits_for_itself(struct kunit *test)
{
	struct wire *w = wire_up(test);
	struct asking flood, other;
	int before;

	make_asking(w, &flood, WIRE_CLASS_SHORT);
	make_asking(w, &other, WIRE_CLASS_SHORT);
	for (unsigned int i = 0; i < FLOOD; i++)
		request(w, &flood, WIRE_CLASS_SHORT, 0);
	other.watched = &flood;
	before = atomic_read(&flood.ended);
	request(w, &other, WIRE_CLASS_SHORT, 0);
	KUNIT_EXPECT_TRUE(test, ended(&other, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&other.answered), 1);
	KUNIT_EXPECT_LT(test, before, FLOOD - 2 * SLOTS);
	KUNIT_EXPECT_LE(test, other.seen - before, 2 * SLOTS);
	KUNIT_EXPECT_TRUE(test, ended(&flood, FLOOD));
	KUNIT_EXPECT_EQ(test, atomic_read(&flood.answered), FLOOD);
	ib_mad_agent_destroy(other.agent);
	ib_mad_agent_destroy(flood.agent);
}

/* ---- RMPP ---- */

/**
 * struct hurt - what happens to a packet of the near HCA
 * @rule: where, and what
 * @least: so many packets of a message it can happen to
 */
struct hurt {
	const char *rule;
	unsigned int least;
};

/* The near one sends the request, and an ACK for each window. */
static const struct hurt hurts[] = {
	{ "rx:gmp nth=%u drop", LONG / IB_RMPP_PAYLOAD },
	{ "rx:gmp nth=%u dup", LONG / IB_RMPP_PAYLOAD },
	{ "rx:gmp nth=%u delay=300000000", LONG / IB_RMPP_PAYLOAD },
	{ "tx:gmp nth=%u drop", 3 },
};

static void hurt_desc(const struct hurt *h, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", h->rule);
}

KUNIT_ARRAY_PARAM(hurt, hurts, hurt_desc);

/* What waits for minutes altogether. */
static void only_in_virtual_time(struct kunit *test)
{
	if (!lr_time_is_virtual())
		kunit_skip(test, "takes minutes on the wall clock");
}

/* Every segment and every ACK is once lost, doubled or late: the message is whole. */
static void wire_segments_over_losses(struct kunit *test)
{
	const struct hurt *h = test->param_value;
	unsigned int hits = 0, nth;
	u64 before, after = 1;
	struct asking a;
	struct wire *w;

	only_in_virtual_time(test);
	w = wire_up(test);
	make_asking(w, &a, WIRE_CLASS_LONG);
	for (nth = 1, before = 0; after != before; nth++) {
		char rule[40];

		before = struck(w);
		snprintf(rule, sizeof(rule), h->rule, nth);
		lr_hca_fault(w->near.h, rule);
		request(w, &a, WIRE_CLASS_LONG, LONG);
		KUNIT_ASSERT_TRUE_MSG(test, ended(&a, nth), "%s", rule);
		KUNIT_EXPECT_EQ_MSG(test, a.status, 0, "%s", rule);
		KUNIT_EXPECT_EQ_MSG(test, a.length, LONG, "%s", rule);
		/* The last ACK is on its way when the message is whole, and may be the one. */
		msleep(20);
		after = struck(w);
		hits += after - before;
		lr_hca_fault(w->near.h, "clear");
	}
	kunit_info(test, "%u packets hurt in %u messages\n", hits, nth - 1);
	KUNIT_EXPECT_GE(test, hits, h->least);
	ib_mad_agent_destroy(a.agent);
}

/* Of the far side: any segments in answer to a request, true ones only by chance. */
static enum ib_cb_result lie(struct ib_mad_agent *agent, struct ib_mad_recv *recv)
{
	unsigned int count = get_random_u32_below(6);

	if (ib_get(recv->mad, IB_RMPP_FLAGS) & IB_RMPP_ACTIVE)
		count = 0;
	ib_put(recv->mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	while (count--) {
		ib_put(recv->mad, IB_RMPP_VERSION, get_random_u32_below(20) ? 1 : 2);
		ib_put(recv->mad, IB_RMPP_TYPE, get_random_u32_below(8) ? IB_RMPP_DATA :
						get_random_u32_below(6));
		ib_put(recv->mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE | get_random_u32_below(8));
		ib_put(recv->mad, IB_RMPP_SEGMENT, get_random_u32_below(6));
		ib_put(recv->mad, IB_RMPP_LENGTH, get_random_u32_below(5 * IB_RMPP_PAYLOAD));
		wire_answer(agent, &recv->from, recv->mad, IB_MAD_SIZE, 0);
	}
	ib_mad_recv_free(recv);
	return IB_CB_DONE;
}

/* Whatever it says: each request ends once, and those behind them are answered. */
static void wire_segments_of_a_liar(struct kunit *test)
{
	struct ib_mad_agent_init init = {
		.port = 1, .qpn = 1, .class = WIRE_CLASS_LONG + 1, .class_version = 1,
		.oui = WIRE_OUI, .rmpp = 1, .user_rmpp = true, .recv = lie,
	};
	struct ib_mad_agent *liar;
	struct asking a, b;
	struct wire *w;

	only_in_virtual_time(test);
	w = wire_up(test);
	__set_bit(IB_METHOD_GET, init.methods);
	liar = ib_mad_agent_create(w->far.attachment, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(liar));
	make_asking(w, &a, WIRE_CLASS_LONG + 1);
	make_asking(w, &b, WIRE_CLASS_LONG);
	for (unsigned int i = 0; i < lies; i++)
		request(w, &a, WIRE_CLASS_LONG + 1, 0);
	/* A message in the making has 40 s. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&a.ended) == (int)lies, 3 * PATIENCE));
	request(w, &b, WIRE_CLASS_LONG, LONG);
	KUNIT_EXPECT_TRUE(test, ended(&b, 1));
	KUNIT_EXPECT_EQ(test, b.status, 0);
	KUNIT_EXPECT_EQ(test, b.length, LONG);
	KUNIT_EXPECT_EQ(test, atomic_read(&a.ended), (int)lies);
	kunit_info(test, "%d of %u requests had an answer\n", atomic_read(&a.answered), lies);
	ib_mad_agent_destroy(b.agent);
	ib_mad_agent_destroy(a.agent);
	ib_mad_agent_destroy(liar);
}

/* ---- SA ---- */

static void items_begin(struct wire *w)
{
	memset(items, 0, sizeof(items));
}

static bool all_called(void)
{
	for (unsigned int i = 0; i < ITEMS; i++)
		if (!READ_ONCE(items[i].calls) && !READ_ONCE(items[i].ins))
			return false;
	return true;
}

static void wire_queries(struct kunit *test)
{
	struct wire *w = wire_up(test);

	items_begin(w);
	for (unsigned int i = 0; i < ITEMS; i++)
		KUNIT_ASSERT_EQ(test, item_ask(w->near.attachment, &items[i]), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(all_called(), PATIENCE));
	for (unsigned int i = 0; i < ITEMS; i++) {
		KUNIT_EXPECT_EQ(test, items[i].calls, 1);
		KUNIT_EXPECT_EQ(test, items[i].error, 0);
	}
	items_end();
	/* Cancelled while the SM thinks: exactly, although the answers come. */
	w->sm->keep = true;
	items_begin(w);
	for (unsigned int i = 0; i < ITEMS; i++)
		KUNIT_ASSERT_EQ(test, item_ask(w->near.attachment, &items[i]), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(sm_count(w->sm, IB_SA_GET, IB_SA_PATH) == 2 * ITEMS,
					PATIENCE));
	items_end();
	sm_answer(w->sm);
	msleep(TIMEOUT);
	for (unsigned int i = 0; i < ITEMS; i++)
		KUNIT_EXPECT_EQ(test, items[i].calls, 0);
}

/**
 * struct table - a question for a table
 * @ended: it has ended
 * @error: how
 * @count: records
 * @right: those that are where they belong
 */
struct table {
	struct completion ended;
	int error;
	unsigned int count;
	unsigned int right;
};

static enum ib_cb_result table_done(struct ib_sa_query *query, const struct ib_sa_result *result,
				    void *context)
{
	struct table *t = context;
	union ib_sa_record record;

	t->error = result->error;
	t->count = result->count;
	for (unsigned int i = 0; i < t->count; i++)
		t->right += !ib_sa_result_record(result, i, &record) &&
			    record.path.preference == (u8)i;
	complete(&t->ended);
	return IB_CB_DESTROY;
}

/* More records than 128, in segments, with every tenth of those lost. */
static void wire_a_table_in_segments(struct kunit *test)
{
	struct wire *w = wire_up(test);
	struct table t = {};
	struct ib_sa_request request = {
		.port = 1, .method = IB_SA_GET_TABLE, .attr = IB_SA_PATH, .timeout_ms = 1000,
		.retries = 3, .done = table_done, .context = &t,
	};
	struct ib_sa_query *query;
	char rule[40];

	init_completion(&t.ended);
	w->sm->records = TABLE;
	for (unsigned int n = 10; n < 60; n += 10) {
		snprintf(rule, sizeof(rule), "rx:gmp nth=%u drop", n);
		lr_hca_fault(w->near.h, rule);
	}
	KUNIT_ASSERT_EQ(test, ib_sa_query_start(w->near.attachment, &request, &query), 0);
	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&t.ended, 60 * HZ), 0UL);
	KUNIT_EXPECT_EQ(test, t.error, 0);
	KUNIT_EXPECT_EQ(test, t.count, TABLE);
	KUNIT_EXPECT_EQ(test, t.right, TABLE);
	KUNIT_EXPECT_GE(test, struck(w), 4ULL);
}

/* ---- multicast ---- */

static unsigned int joined(struct wire *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SM_GROUPS; i++)
		n += w->sm->groups[i].exists && w->sm->groups[i].joined[0];
	return n;
}

static void wire_groups(struct kunit *test)
{
	struct wire *w = wire_up(test);

	items_begin(w);
	/* Two members each. */
	for (unsigned int i = 0; i < ITEMS; i++)
		KUNIT_ASSERT_EQ(test, item_join(w->near.attachment, &items[i], i / 2), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(all_called(), PATIENCE));
	KUNIT_EXPECT_EQ(test, joined(w), ITEMS / 2U);
	KUNIT_EXPECT_EQ(test, sm_count(w->sm, IB_SA_SET, IB_SA_MCMEMBER), ITEMS / 2U);
	/* It has forgotten, and says so. */
	sm_forget(w->sm);
	wire_reregister(w);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(joined(w) == ITEMS / 2, PATIENCE));
	for (unsigned int i = 0; i < ITEMS; i++) {
		KUNIT_EXPECT_EQ(test, items[i].ins, 1);
		KUNIT_EXPECT_EQ(test, items[i].losses, 0);
	}
	items_end();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!joined(w), PATIENCE));
	KUNIT_EXPECT_EQ(test, sm_count(w->sm, IB_SA_DELETE, IB_SA_MCMEMBER), ITEMS / 2U);
	KUNIT_EXPECT_EQ(test, w->sm->bad_leaves, 0U);
}

static struct kunit_case services_cases[] = {
	KUNIT_CASE(wire_the_sm_brings_both_up),
	KUNIT_CASE(wire_each_agent_hears_its_own),
	KUNIT_CASE(wire_nobody_answers),
	KUNIT_CASE(wire_lost_and_doubled),
	KUNIT_CASE(wire_a_flood_waits_for_itself),
	KUNIT_CASE_PARAM(wire_segments_over_losses, hurt_gen_params),
	KUNIT_CASE(wire_segments_of_a_liar),
	KUNIT_CASE(wire_queries),
	KUNIT_CASE(wire_a_table_in_segments),
	KUNIT_CASE(wire_groups),
	{}
};

static struct kunit_suite services_suite = {
	.name = "mlx4_wire_services",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = services_cases,
};

kunit_test_suite(services_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The services of ib_core over mlx4_ib on emulated HCAs");
