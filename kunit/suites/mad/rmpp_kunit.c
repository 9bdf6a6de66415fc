// SPDX-License-Identifier: GPL-2.0-only
/*
 * RMPP: two ends of ours against each other, then each end against a test that plays the other,
 * lies, and keeps silent.
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "mad_bench.h"

#define TEST_CLASS 0x32
#define DATA (IB_MAD_SIZE - IB_VENDOR2_DATA)
#define REPEATED (IB_VENDOR2_DATA - IB_RMPP_HEADER)
#define FUZZ_ROUNDS 10000
#define FUZZ_LIMIT 20000

static struct ib_mad_agent *rmpp_agent(struct mad_bench *mb, u8 port, bool server, u32 limit)
{
	struct ib_mad_agent_init init;

	mad_init_agent(mb, &init, 1, TEST_CLASS);
	init.port = port;
	init.rmpp = 1;
	init.max_message = limit;
	if (server)
		bitmap_fill(init.methods, IB_METHODS);
	return mad_agent(mb, &init);
}

/* What stands at a place of a message, so that each can be told from the others. */
static u8 pattern(u32 at)
{
	return at * 7 + (at >> 8) * 13;
}

static void fill(u8 *data, u32 from, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		data[i] = pattern(from + i);
}

static bool is_filled(const u8 *data, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (data[i] != pattern(i))
			return false;
	return true;
}

static struct ib_mad_send *message(struct mad_bench *mb, struct ib_mad_agent *agent, u32 bytes,
				   u32 timeout)
{
	struct mad_head head = {
		.class = TEST_CLASS, .method = IB_METHOD_GET, .tid = ib_mad_tid(agent),
	};
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_VENDOR2_DATA + bytes, &head);

	fill(send->mad + IB_VENDOR2_DATA, 0, bytes);
	send->flags = IB_MAD_SEND_RMPP;
	send->timeout_ms = timeout;
	return send;
}

/* ---- two ends of ours ---- */

static void long_messages_travel(struct kunit *test)
{
	static const u32 sizes[] = {
		0, 1, DATA - 1, DATA, DATA + 1, 2 * DATA, 5000, 100 * DATA, 100001, 1000000,
	};
	struct mad_bench *mb = mad_bench_up(test, "lr-rmpp");
	struct ib_mad_agent *client = rmpp_agent(mb, 1, false, 0);
	struct ib_mad_agent *server = rmpp_agent(mb, 2, true, 0);
	struct ib_mad_send *send;
	unsigned int i;

	mb->b->vf.loop = true;
	mb->serve = true;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		send = message(mb, client, sizes[i], 1000);
		send->to.lid = mb->b->vf.port[1].lid;
		KUNIT_ASSERT_EQ(test, mad_post(mb, send), 0);
		KUNIT_ASSERT_TRUE_MSG(test, LR_WAIT(atomic_read(&mb->answered) == i + 1, 20000),
				      "%u bytes", sizes[i]);
		KUNIT_EXPECT_EQ(test, mb->message->length, IB_VENDOR2_DATA + sizes[i]);
		KUNIT_EXPECT_TRUE_MSG(test, is_filled(mb->message->mad + IB_VENDOR2_DATA, sizes[i]),
				      "%u bytes", sizes[i]);
	}
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->ok) == 2 * i, 1000));
	KUNIT_EXPECT_EQ(test, mb->b->vf.dropped, 0U);
	ib_mad_agent_destroy(client);
	ib_mad_agent_destroy(server);
}

/* ---- the sender ---- */

/* The next MAD on the wire; its fields are looked at and it is kept in @last. */
struct peer {
	struct mad_bench *mb;
	struct ib_mad_agent *agent;
	u8 last[IB_MAD_SIZE];
};

static bool peer_sees(struct peer *p, u8 type, u32 segment)
{
	struct vfake_mad *m;
	bool right;

	mad_settle();
	m = vfake_take(&p->mb->b->vf);
	if (!m)
		return false;
	memcpy(p->last, m->mad, sizeof(p->last));
	right = ib_get(m->mad, IB_RMPP_TYPE) == type &&
		ib_get(m->mad, IB_RMPP_SEGMENT) == segment &&
		ib_get(m->mad, IB_RMPP_VERSION) == 1 &&
		ib_get(m->mad, IB_RMPP_FLAGS) & IB_RMPP_ACTIVE;
	kfree(m);
	return right;
}

static bool peer_sees_nothing(struct peer *p)
{
	return !mad_on_wire(p->mb);
}

static bool peer_sees_abort(struct peer *p, u8 type, u8 status)
{
	return peer_sees(p, type, 0) && ib_get(p->last, IB_RMPP_STATUS) == status;
}

static void peer_says(struct peer *p, u8 type, u8 status, u32 segment, u32 window)
{
	u8 mad[IB_MAD_SIZE];

	memcpy(mad, p->last, sizeof(mad));
	ib_put(mad, IB_MAD_METHOD, ib_get(mad, IB_MAD_METHOD) ^ IB_METHOD_RESPONSE);
	ib_put(mad, IB_RMPP_TYPE, type);
	ib_put(mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE);
	ib_put(mad, IB_RMPP_STATUS, status);
	ib_put(mad, IB_RMPP_SEGMENT, segment);
	ib_put(mad, IB_RMPP_WINDOW, window);
	mad_arrive(p->mb, 1, mad);
	mad_settle();
}

static void peer_acks(struct peer *p, u32 segment, u32 window)
{
	peer_says(p, IB_RMPP_ACK, 0, segment, window);
}

/* A sender of ten segments and its peer, who has seen the first. */
static void begin_sender(struct kunit *test, struct peer *p, u32 timeout, u32 retries)
{
	struct ib_mad_send *send;

	p->mb = mad_bench_up(test, "lr-rmpp");
	p->agent = rmpp_agent(p->mb, 1, false, 0);
	send = message(p->mb, p->agent, 10 * DATA - 5, timeout);
	send->retries = retries;
	KUNIT_ASSERT_EQ(test, mad_post(p->mb, send), 0);
	KUNIT_ASSERT_TRUE(test, peer_sees(p, IB_RMPP_DATA, 1));
}

static void the_sender_keeps_to_the_window(struct kunit *test)
{
	struct peer p;
	u32 i;

	begin_sender(test, &p, 0, 3);
	KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_RMPP_FLAGS), IB_RMPP_ACTIVE | IB_RMPP_FIRST);
	KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_RMPP_LENGTH), 10 * IB_RMPP_PAYLOAD - 5);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&p));
	peer_acks(&p, 1, 4);
	for (i = 2; i <= 4; i++) {
		KUNIT_EXPECT_TRUE(test, peer_sees(&p, IB_RMPP_DATA, i));
		KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_RMPP_FLAGS), IB_RMPP_ACTIVE);
		KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_RMPP_LENGTH), 0U);
		KUNIT_EXPECT_EQ(test, p.last[IB_VENDOR2_DATA], pattern((i - 1) * DATA));
	}
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&p));
	/* An old ACK, with a window that was larger: nothing. */
	peer_acks(&p, 0, 9);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&p));
	peer_acks(&p, 4, 1000);
	for (i = 5; i <= 10; i++)
		KUNIT_EXPECT_TRUE(test, peer_sees(&p, IB_RMPP_DATA, i));
	KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_RMPP_FLAGS), IB_RMPP_ACTIVE | IB_RMPP_LAST);
	KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_RMPP_LENGTH), IB_RMPP_PAYLOAD - 5);
	KUNIT_EXPECT_EQ(test, atomic_read(&p.mb->done), 0);
	peer_acks(&p, 10, 10);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&p.mb->ok) == 1, 1000));
	ib_mad_agent_destroy(p.agent);
}

static void the_sender_repeats_from_the_last_ack(struct kunit *test)
{
	struct peer p;
	u32 i;

	begin_sender(test, &p, 0, 2);
	peer_acks(&p, 1, 5);
	for (i = 2; i <= 5; i++)
		KUNIT_EXPECT_TRUE(test, peer_sees(&p, IB_RMPP_DATA, i));
	peer_acks(&p, 3, 5);
	fake_advance(p.mb->b->fake, 1999);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&p));
	fake_advance(p.mb->b->fake, 1);
	KUNIT_EXPECT_TRUE(test, peer_sees(&p, IB_RMPP_DATA, 4));
	KUNIT_EXPECT_TRUE(test, peer_sees(&p, IB_RMPP_DATA, 5));
	/* Each ACK that gets on gives new tries. */
	peer_acks(&p, 5, 5);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&p));
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&p.mb->done), 0);
		fake_advance(p.mb->b->fake, 2000);
		mad_settle();
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&p.mb->timed_out), 1);
	KUNIT_EXPECT_TRUE(test, peer_sees_abort(&p, IB_RMPP_ABORT, IB_RMPP_TMR));
	KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_MAD_METHOD), IB_METHOD_GET);
	ib_mad_agent_destroy(p.agent);
}

/* After the last ACK a request waits for its response, and says that it is ready. */
static void a_long_request_waits_for_its_response(struct kunit *test)
{
	struct peer p;
	u32 i;

	begin_sender(test, &p, 1000, 1);
	peer_acks(&p, 1, 10);
	for (i = 2; i <= 10; i++)
		KUNIT_EXPECT_TRUE(test, peer_sees(&p, IB_RMPP_DATA, i));
	peer_acks(&p, 10, 74);
	KUNIT_EXPECT_TRUE(test, peer_sees(&p, IB_RMPP_ACK, 0));
	KUNIT_EXPECT_EQ(test, ib_get(p.last, IB_RMPP_WINDOW), 1U);
	fake_advance(p.mb->b->fake, 1000);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&p));
	KUNIT_EXPECT_EQ(test, atomic_read(&p.mb->done), 0);
	fake_advance(p.mb->b->fake, 1000);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&p.mb->timed_out) == 1, 1000));
	ib_mad_agent_destroy(p.agent);
}

struct bad_ack {
	u8 status;
	u32 segment;
	u32 window;
	u8 answer;
};

static void acks_that_lie_end_it(struct kunit *test)
{
	static const struct bad_ack bad[] = {
		{ 1, 1, 4, IB_RMPP_BAD_STATUS },
		{ 0, 1, 0, IB_RMPP_W2S },
		{ 0, 2, 9, IB_RMPP_S2B },
		{ 0, 0xffffffff, 0xffffffff, IB_RMPP_S2B },
	};
	unsigned int i;
	struct peer p;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin_sender(test, &p, 1000, 3);
		peer_says(&p, IB_RMPP_ACK, bad[i].status, bad[i].segment, bad[i].window);
		KUNIT_EXPECT_TRUE_MSG(test, peer_sees_abort(&p, IB_RMPP_ABORT, bad[i].answer),
				      "ACK %u", i);
		KUNIT_EXPECT_EQ(test, p.mb->last_status, -ECONNABORTED);
		ib_mad_agent_destroy(p.agent);
		KUNIT_EXPECT_EQ(test, fake_hca_remove(p.mb->b->fake), 0);
		bench_unregister(p.mb->b);
	}
}

static void the_other_side_gives_up(struct kunit *test)
{
	static const u8 types[] = { IB_RMPP_ABORT, IB_RMPP_STOP };
	unsigned int i;
	struct peer p;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		begin_sender(test, &p, 1000, 3);
		peer_says(&p, types[i], types[i] == IB_RMPP_STOP ? IB_RMPP_RESX : IB_RMPP_UNSPEC,
			  0, 0);
		KUNIT_EXPECT_EQ(test, p.mb->last_status, -ECONNABORTED);
		KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&p));
		ib_mad_agent_destroy(p.agent);
		KUNIT_EXPECT_EQ(test, fake_hca_remove(p.mb->b->fake), 0);
		bench_unregister(p.mb->b);
	}
}

/* A window that never opens is no reason to wait for ever. */
static void a_closed_window(struct kunit *test)
{
	struct peer p;
	int i;

	begin_sender(test, &p, 0, 3);
	peer_acks(&p, 1, 1);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&p.mb->done), 0);
		fake_advance(p.mb->b->fake, 2000);
		mad_settle();
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&p.mb->timed_out), 1);
	ib_mad_agent_destroy(p.agent);
}

/* ---- the receiver ---- */

/* A segment as a peer sends it; @method says whether it is a response. */
static void write_segment(u8 *mad, u8 method, u64 tid, u32 segment, u8 flags, u32 length)
{
	struct mad_head head = { .class = TEST_CLASS, .method = method, .tid = tid };

	memset(mad, 0, IB_MAD_SIZE);
	mad_write_head(mad, &head);
	ib_put(mad, IB_RMPP_VERSION, 1);
	ib_put(mad, IB_RMPP_TYPE, IB_RMPP_DATA);
	ib_put(mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE | flags);
	ib_put(mad, IB_RMPP_SEGMENT, segment);
	ib_put(mad, IB_RMPP_LENGTH, length);
	fill(mad + IB_VENDOR2_DATA, (segment - 1) * DATA, DATA);
}

static u8 flags_of(u32 segment, u32 total)
{
	return (segment == 1 ? IB_RMPP_FIRST : 0) | (segment == total ? IB_RMPP_LAST : 0);
}

/* A request that waits for a long answer. */
struct asker {
	struct peer p;
	u64 tid;
};

static void begin_receiver(struct kunit *test, struct asker *a, u32 limit)
{
	struct mad_head head = { .class = TEST_CLASS, .method = IB_METHOD_GET };
	struct ib_mad_send *send;

	a->p.mb = mad_bench_up(test, "lr-rmpp");
	a->p.agent = rmpp_agent(a->p.mb, 1, false, limit);
	head.tid = ib_mad_tid(a->p.agent);
	send = mad_send_new(a->p.mb, a->p.agent, IB_MAD_SIZE, &head);
	send->timeout_ms = 1000;
	KUNIT_ASSERT_EQ(test, mad_post(a->p.mb, send), 0);
	a->tid = ib_get(send->mad, IB_MAD_TID);
	KUNIT_ASSERT_EQ(test, mad_on_wire(a->p.mb), 1U);
}

static void end_receiver(struct kunit *test, struct asker *a)
{
	ib_mad_agent_destroy(a->p.agent);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(a->p.mb->b->fake), 0);
	bench_unregister(a->p.mb->b);
}

static void answer_segment(struct asker *a, u32 segment, u32 total, u32 length)
{
	u8 mad[IB_MAD_SIZE];

	write_segment(mad, IB_METHOD_GET_RESP, a->tid, segment, flags_of(segment, total), length);
	mad_arrive(a->p.mb, 1, mad);
	mad_settle();
}

static bool sees_ack(struct asker *a, u32 segment, u32 window)
{
	return peer_sees(&a->p, IB_RMPP_ACK, segment) &&
	       ib_get(a->p.last, IB_RMPP_WINDOW) == window &&
	       ib_get(a->p.last, IB_MAD_METHOD) == IB_METHOD_GET;
}

static void segments_in_any_order(struct kunit *test)
{
	static const u32 order[] = { 5, 3, 2, 2, 9, 8, 10, 7, 4, 4, 6 };
	struct asker a;
	unsigned int i;

	begin_receiver(test, &a, 0);
	/* Before the first there is nothing to be kept. */
	answer_segment(&a, 2, 10, 0);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&a.p));
	answer_segment(&a, 1, 10, 0);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1, 65));
	/* The segments keep the time now, not the request. */
	fake_advance(a.p.mb->b->fake, 5000);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&a.p.mb->done), 0);
		answer_segment(&a, order[i], 10, REPEATED + 11);
	}
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&a.p.mb->answered) == 1, 1000));
	KUNIT_EXPECT_EQ(test, a.p.mb->message->length, IB_VENDOR2_DATA + 9U * DATA + 11);
	KUNIT_EXPECT_TRUE(test, is_filled(a.p.mb->message->mad + IB_VENDOR2_DATA, 9 * DATA + 11));
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 10, 74));
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&a.p));
	/* The last ACK was lost: it is said again, for ten seconds. */
	answer_segment(&a, 10, 10, REPEATED + 11);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 10, 74));
	fake_advance(a.p.mb->b->fake, 10000);
	mad_settle();
	answer_segment(&a, 10, 10, REPEATED + 11);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&a.p));
	KUNIT_EXPECT_EQ(test, atomic_read(&a.p.mb->done), 1);
	end_receiver(test, &a);
}

static void the_window_moves_when_it_is_full(struct kunit *test)
{
	struct asker a;
	u32 i;

	begin_receiver(test, &a, 0);
	answer_segment(&a, 1, 200, 0);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1, 65));
	/* Beyond the window: as if it had not come. */
	answer_segment(&a, 66, 200, 0);
	for (i = 2; i < 65; i++)
		answer_segment(&a, i, 200, 0);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&a.p));
	answer_segment(&a, 65, 200, 0);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 65, 129));
	/* What was confirmed is confirmed again, what was not is not. */
	answer_segment(&a, 64, 200, 0);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 65, 129));
	answer_segment(&a, 66, 200, 0);
	answer_segment(&a, 66, 200, 0);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&a.p));
	end_receiver(test, &a);
}

static void a_message_takes_too_long(struct kunit *test)
{
	struct asker a;

	begin_receiver(test, &a, 0);
	answer_segment(&a, 1, 10, 0);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1, 65));
	fake_advance(a.p.mb->b->fake, 39999);
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&a.p.mb->done), 0);
	fake_advance(a.p.mb->b->fake, 1);
	mad_settle();
	KUNIT_EXPECT_TRUE(test, peer_sees_abort(&a.p, IB_RMPP_ABORT, IB_RMPP_T2L));
	KUNIT_EXPECT_EQ(test, a.p.mb->last_status, -ETIMEDOUT);
	end_receiver(test, &a);
}

static void a_message_is_too_long(struct kunit *test)
{
	struct asker a;
	u32 i;

	begin_receiver(test, &a, 10000);
	for (i = 1; i < 100 && !atomic_read(&a.p.mb->done); i++)
		answer_segment(&a, i, 1000, 0);
	KUNIT_EXPECT_EQ(test, i, 10000U / DATA + 3);
	KUNIT_EXPECT_EQ(test, a.p.mb->last_status, -EMSGSIZE);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1, 65));
	KUNIT_EXPECT_TRUE(test, peer_sees_abort(&a.p, IB_RMPP_STOP, IB_RMPP_RESX));
	end_receiver(test, &a);
}

/* A segment that cannot be, after a good first one of ten. */
struct lie {
	const char *what;
	u8 version;
	u8 type;
	u8 status;
	u32 segment;
	u8 flags;
	u32 length;
	u8 answer;
};

static const struct lie lies[] = {
	{ "version 2", 2, IB_RMPP_DATA, 0, 2, 0, 0, IB_RMPP_UNV },
	{ "type 0", 1, 0, 0, 2, 0, 0, IB_RMPP_BADT },
	{ "type 9", 1, 9, 0, 2, 0, 0, IB_RMPP_BADT },
	{ "status 1", 1, IB_RMPP_DATA, 1, 2, 0, 0, IB_RMPP_BAD_STATUS },
	{ "segment 0", 1, IB_RMPP_DATA, 0, 0, 0, 0, IB_RMPP_BAD_SEG },
	{ "first 2", 1, IB_RMPP_DATA, 0, 2, IB_RMPP_FIRST, 0, IB_RMPP_BAD_SEG },
	{ "1 not first", 1, IB_RMPP_DATA, 0, 1, 0, 0, IB_RMPP_BAD_SEG },
	{ "last of 0 bytes", 1, IB_RMPP_DATA, 0, 2, IB_RMPP_LAST, 0, IB_RMPP_BAD_LEN },
	{ "last of 3 bytes", 1, IB_RMPP_DATA, 0, 2, IB_RMPP_LAST, 3, IB_RMPP_BAD_LEN },
	{ "last of 221 bytes", 1, IB_RMPP_DATA, 0, 2, IB_RMPP_LAST, 221, IB_RMPP_BAD_LEN },
	{ "last of 4 GiB", 1, IB_RMPP_DATA, 0, 2, IB_RMPP_LAST, 0xffffffff, IB_RMPP_BAD_LEN },
};

static void segments_that_lie_end_it(struct kunit *test)
{
	u8 mad[IB_MAD_SIZE];
	struct asker a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		const struct lie *l = &lies[i];

		begin_receiver(test, &a, 0);
		answer_segment(&a, 1, 10, 0);
		KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1, 65));
		write_segment(mad, IB_METHOD_GET_RESP, a.tid, l->segment, l->flags, l->length);
		ib_put(mad, IB_RMPP_VERSION, l->version);
		ib_put(mad, IB_RMPP_TYPE, l->type);
		ib_put(mad, IB_RMPP_STATUS, l->status);
		mad_arrive(a.p.mb, 1, mad);
		mad_settle();
		KUNIT_EXPECT_TRUE_MSG(test, peer_sees_abort(&a.p, IB_RMPP_ABORT, l->answer), "%s",
				      l->what);
		KUNIT_EXPECT_EQ_MSG(test, a.p.mb->last_status, -ECONNABORTED, "%s", l->what);
		end_receiver(test, &a);
	}
}

/* Two that call themselves the last, and one behind the last, in both orders. */
static void there_is_one_last_segment(struct kunit *test)
{
	static const u32 orders[][2][2] = {
		/* segment, total */
		{ { 5, 5 }, { 6, 6 } }, { { 6, 6 }, { 5, 5 } }, { { 5, 5 }, { 6, 0 } },
		{ { 6, 0 }, { 5, 5 } }, { { 5, 5 }, { 5, 0 } },
	};
	struct asker a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		begin_receiver(test, &a, 0);
		answer_segment(&a, 1, 10, 0);
		KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1, 65));
		answer_segment(&a, orders[i][0][0], orders[i][0][1], IB_RMPP_PAYLOAD);
		answer_segment(&a, orders[i][1][0], orders[i][1][1], IB_RMPP_PAYLOAD);
		if (i == 4) /* the same again: not looked at */
			KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&a.p));
		else
			KUNIT_EXPECT_TRUE_MSG(test, peer_sees_abort(&a.p, IB_RMPP_ABORT,
								    IB_RMPP_BAD_SEG), "%u", i);
		end_receiver(test, &a);
	}
}

static void a_response_nobody_waits_for(struct kunit *test)
{
	struct asker a;

	begin_receiver(test, &a, 0);
	a.tid++;
	answer_segment(&a, 1, 10, 0);
	answer_segment(&a, 1, 1, REPEATED);
	KUNIT_EXPECT_TRUE(test, peer_sees_nothing(&a.p));
	KUNIT_EXPECT_EQ(test, atomic_read(&a.p.mb->done), 0);
	end_receiver(test, &a);
}

/* Strangers begin messages and never end them: there is a bound, and room for others later. */
static void strangers_begin_and_never_end(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-rmpp");
	struct ib_mad_agent *server = rmpp_agent(mb, 1, true, 0);
	unsigned int acks = 0, stops = 0;
	u8 mad[IB_MAD_SIZE];
	struct vfake_mad *m;
	int i;

	for (i = 1; i <= 1000; i++) {
		write_segment(mad, IB_METHOD_SET, i, 1, IB_RMPP_FIRST, 0);
		mad_arrive(mb, 1, mad);
		mad_settle();
	}
	while ((m = vfake_take(&mb->b->vf))) {
		acks += ib_get(m->mad, IB_RMPP_TYPE) == IB_RMPP_ACK;
		stops += ib_get(m->mad, IB_RMPP_TYPE) == IB_RMPP_STOP;
		kfree(m);
	}
	KUNIT_EXPECT_EQ(test, acks, 256U);
	KUNIT_EXPECT_EQ(test, stops, 744U);
	fake_advance(mb->b->fake, 40000);
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 256U);
	/* Finished ones are no obstacle. */
	for (i = 1; i <= 1000; i++) {
		write_segment(mad, IB_METHOD_SET, i, 1, IB_RMPP_FIRST | IB_RMPP_LAST,
			      REPEATED + 7);
		mad_arrive(mb, 1, mad);
		mad_settle();
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->received), 1000);
	KUNIT_EXPECT_EQ(test, mb->message->length, IB_VENDOR2_DATA + 7U);
	ib_mad_agent_destroy(server);
}

/* Who does RMPP himself gets each segment, asked for or not. */
static void users_may_do_it_themselves(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-rmpp");
	struct ib_mad_agent_init init;
	struct ib_mad_agent *agent;
	u8 mad[IB_MAD_SIZE];
	u32 i;

	mad_init_agent(mb, &init, 1, TEST_CLASS);
	init.user_rmpp = true;
	agent = mad_agent(mb, &init);
	for (i = 1; i <= 3; i++) {
		write_segment(mad, IB_METHOD_GET_RESP, (u64)agent->hi_tid << 32 | 5, i,
			      flags_of(i, 3), IB_RMPP_PAYLOAD);
		mad_arrive(mb, 1, mad);
		mad_settle();
		KUNIT_EXPECT_EQ(test, atomic_read(&mb->received), i);
		KUNIT_EXPECT_MEMEQ(test, mb->message->mad, mad, IB_MAD_SIZE);
	}
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 0U);
	ib_mad_agent_destroy(agent);
}

/* ---- by chance ---- */

struct fuzz {
	struct mad_bench *mb;
	struct ib_mad_agent *agent;
	struct rnd_state rnd;
	u64 tids[8];
	unsigned int wrong;
	unsigned int messages;
};

static u32 dice(struct fuzz *f, u32 sides)
{
	return prandom_u32_state(&f->rnd) % sides;
}

static void fuzz_check(struct fuzz *f, struct ib_mad_recv *recv)
{
	u32 bytes = recv->length - IB_VENDOR2_DATA;

	f->messages++;
	if (recv->length > FUZZ_LIMIT || recv->length < IB_VENDOR2_DATA)
		f->wrong++;
	else if (ib_get(recv->mad, IB_RMPP_FLAGS) & IB_RMPP_ACTIVE &&
		 ib_get(recv->mad, IB_RMPP_TYPE) == IB_RMPP_DATA &&
		 !is_filled(recv->mad + IB_VENDOR2_DATA, bytes))
		f->wrong++;
	ib_mad_recv_free(recv);
}

static enum ib_cb_result fuzz_recv(struct ib_mad_agent *agent, struct ib_mad_recv *recv)
{
	fuzz_check(agent->context, recv);
	return IB_CB_DONE;
}

static enum ib_cb_result fuzz_done(struct ib_mad_send *send, int status,
				   struct ib_mad_recv *response)
{
	struct fuzz *f = send->context;

	atomic_inc(&f->mb->done);
	if (!!response != !status && send->timeout_ms)
		f->wrong++;
	if (response)
		fuzz_check(f, response);
	ib_mad_send_free(send);
	return IB_CB_DONE;
}

static void fuzz_post(struct fuzz *f)
{
	u32 bytes = dice(f, 3) ? dice(f, 200) : dice(f, 3000);
	struct ib_mad_send *send = message(f->mb, f->agent, bytes, 1 + dice(f, 3000));
	u64 tid = ib_get(send->mad, IB_MAD_TID);

	send->done = fuzz_done;
	send->context = f;
	send->retries = dice(f, 2);
	/* Some are responses, which expect ACKs from requests. */
	if (!dice(f, 4)) {
		ib_put(send->mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
		send->timeout_ms = 0;
	} else {
		/* What the service makes of it; once posted it may be freed. */
		tid |= (u64)f->agent->hi_tid << 32;
	}
	if (mad_post(f->mb, send))
		ib_mad_send_free(send);
	else
		f->tids[dice(f, ARRAY_SIZE(f->tids))] = tid;
}

/* Mostly what could be, so that the deeper places are reached, and then a field that could not. */
static void fuzz_segment(struct fuzz *f, u64 tid, u8 method, u32 segment, u32 total)
{
	u8 mad[IB_MAD_SIZE];

	write_segment(mad, method, tid, segment, flags_of(segment, total),
		      segment == total ? REPEATED + dice(f, DATA + 1) : 0);
	switch (dice(f, 24)) {
	case 0:
		ib_put(mad, IB_RMPP_VERSION, dice(f, 3));
		break;
	case 1:
		ib_put(mad, IB_RMPP_TYPE, dice(f, 6));
		break;
	case 2:
		ib_put(mad, IB_RMPP_FLAGS, dice(f, 8));
		break;
	case 3:
		ib_put(mad, IB_RMPP_STATUS, dice(f, 256));
		break;
	case 4:
		ib_put(mad, IB_RMPP_LENGTH, prandom_u32_state(&f->rnd));
		break;
	case 5:
		/* Its data are where it says they are, all the same. */
		segment = dice(f, 2) ? prandom_u32_state(&f->rnd) : dice(f, 80);
		ib_put(mad, IB_RMPP_SEGMENT, segment);
		fill(mad + IB_VENDOR2_DATA, (segment - 1) * DATA, DATA);
		break;
	case 6:
		ib_put(mad, IB_RMPP_TYPE, IB_RMPP_ACK);
		ib_put(mad, IB_RMPP_WINDOW, segment + dice(f, 20));
		break;
	case 7:
		ib_put(mad, IB_MAD_METHOD, dice(f, 256));
		break;
	default:
		break;
	}
	mad_arrive(f->mb, 1, mad);
}

static void fuzz_sequence(struct fuzz *f)
{
	u8 method = dice(f, 3) ? IB_METHOD_GET_RESP : IB_METHOD_GET;
	u64 tid = dice(f, 8) ? f->tids[dice(f, ARRAY_SIZE(f->tids))] : dice(f, 100);
	u32 total = 1 + (dice(f, 4) ? dice(f, 6) : dice(f, 150));
	u32 n = min(total, 20U), i, segment = 1;

	for (i = 0; i < n; i++) {
		fuzz_segment(f, tid, method, segment, total);
		/* Lost, twice, out of order. */
		switch (dice(f, 10)) {
		case 0:
			segment += 2;
			break;
		case 1:
			break;
		case 2:
			segment = 1 + dice(f, total);
			break;
		default:
			segment++;
			break;
		}
	}
}

/* What we have sent is answered now and then, so that our sender gets on as well. */
static void fuzz_acks(struct fuzz *f)
{
	struct vfake_mad *m;
	u8 mad[IB_MAD_SIZE];

	while ((m = vfake_take(&f->mb->b->vf))) {
		memcpy(mad, m->mad, sizeof(mad));
		kfree(m);
		if (ib_get(mad, IB_RMPP_TYPE) != IB_RMPP_DATA || !dice(f, 4))
			continue;
		ib_put(mad, IB_MAD_METHOD, ib_get(mad, IB_MAD_METHOD) ^ IB_METHOD_RESPONSE);
		ib_put(mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE);
		ib_put(mad, IB_RMPP_TYPE, dice(f, 20) ? IB_RMPP_ACK : dice(f, 6));
		ib_put(mad, IB_RMPP_WINDOW, ib_get(mad, IB_RMPP_SEGMENT) + dice(f, 5));
		mad_arrive(f->mb, 1, mad);
	}
}

static void fuzzed_segments(struct kunit *test)
{
	struct fuzz *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct ib_mad_agent_init init;
	u64 seed = get_random_u64();
	int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	kunit_info(test, "seed %llu\n", seed);
	prandom_seed_state(&f->rnd, seed);
	f->mb = mad_bench_up(test, "lr-rmpp");
	mad_init_agent(f->mb, &init, 1, TEST_CLASS);
	init.rmpp = 1;
	init.max_message = FUZZ_LIMIT;
	init.recv = fuzz_recv;
	init.context = f;
	bitmap_fill(init.methods, IB_METHODS);
	f->agent = mad_agent(f->mb, &init);
	for (i = 0; i < FUZZ_ROUNDS; i++) {
		if (!dice(f, 3))
			fuzz_post(f);
		fuzz_sequence(f);
		mad_settle();
		fuzz_acks(f);
		if (!dice(f, 4))
			fake_advance(f->mb->b->fake, dice(f, 20) ? dice(f, 1000) : 50000);
		mad_settle();
	}
	kunit_info(test, "%u messages, %d sends\n", f->messages, atomic_read(&f->mb->posted));
	KUNIT_EXPECT_GT(test, f->messages, FUZZ_ROUNDS / 10U);
	KUNIT_EXPECT_GT(test, atomic_read(&f->mb->posted), FUZZ_ROUNDS / 10);
	ib_mad_agent_destroy(f->agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->mb->done), atomic_read(&f->mb->posted));
	KUNIT_EXPECT_EQ(test, f->wrong, 0U);
}

static struct kunit_case rmpp_cases[] = {
	KUNIT_CASE(long_messages_travel),
	KUNIT_CASE(the_sender_keeps_to_the_window),
	KUNIT_CASE(the_sender_repeats_from_the_last_ack),
	KUNIT_CASE(a_long_request_waits_for_its_response),
	KUNIT_CASE(acks_that_lie_end_it),
	KUNIT_CASE(the_other_side_gives_up),
	KUNIT_CASE(a_closed_window),
	KUNIT_CASE(segments_in_any_order),
	KUNIT_CASE(the_window_moves_when_it_is_full),
	KUNIT_CASE(a_message_takes_too_long),
	KUNIT_CASE(a_message_is_too_long),
	KUNIT_CASE(segments_that_lie_end_it),
	KUNIT_CASE(there_is_one_last_segment),
	KUNIT_CASE(a_response_nobody_waits_for),
	KUNIT_CASE(strangers_begin_and_never_end),
	KUNIT_CASE(users_may_do_it_themselves),
	KUNIT_CASE(fuzzed_segments),
	{}
};

static struct kunit_suite rmpp_suite = {
	.name = "ib_mad_rmpp",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = rmpp_cases,
};

kunit_test_suite(rmpp_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Long messages");
