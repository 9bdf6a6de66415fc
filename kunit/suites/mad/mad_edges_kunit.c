// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where two parts of the MAD service meet: RMPP and its requests, addresses and the tables they
 * point into, agents that leave and what they leave behind.
 */
#include <linux/module.h>

#include "mad_bench.h"

#define EDGE_CLASS 0x32
#define DATA (IB_MAD_SIZE - IB_VENDOR2_DATA)
#define REPEATED (IB_VENDOR2_DATA - IB_RMPP_HEADER)
/* As long as a message may take to come in. */
#define WHOLE_MS 40000
/* What an agent may have under way, and what those who left may leave behind for the device. */
#define CROWD 16384
#define ERRANDS_MAX 4096U

/**
 * struct asking - a request that is answered in segments
 * @mb: the bench
 * @agent: whose request it is; the service does RMPP for it
 * @send: the request
 * @request: as it was seen on the wire
 */
struct asking {
	struct mad_bench *mb;
	struct ib_mad_agent *agent;
	struct ib_mad_send *send;
	u8 request[IB_MAD_SIZE];
};

static struct ib_mad_agent *rmpp_agent(struct mad_bench *mb)
{
	struct ib_mad_agent_init init;

	mad_init_agent(mb, &init, 1, EDGE_CLASS);
	init.rmpp = 1;
	return mad_agent(mb, &init);
}

/* Take the request off the wire; there has to be one. */
static void see_request(struct asking *a)
{
	struct vfake_mad *m;

	mad_settle();
	m = vfake_take(&a->mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(a->mb->test, m);
	memcpy(a->request, m->mad, sizeof(a->request));
	kfree(m);
}

static void ask(struct asking *a, struct mad_bench *mb, u32 timeout, u32 retries, u32 flags)
{
	struct mad_head head = { .class = EDGE_CLASS, .method = IB_METHOD_GET };

	a->mb = mb;
	a->agent = rmpp_agent(mb);
	head.tid = ib_mad_tid(a->agent);
	a->send = mad_send_new(mb, a->agent, IB_MAD_SIZE, &head);
	a->send->timeout_ms = timeout;
	a->send->retries = retries;
	a->send->flags = flags;
	KUNIT_ASSERT_EQ(mb->test, mad_post(mb, a->send), 0);
	see_request(a);
}

/* One segment of an answer of @total, to the path bits @bits of our LID. */
static void answer(struct asking *a, u32 segment, u32 total, u8 bits, u16 status)
{
	struct ib_wc wc = {
		.slid = MAD_PEER_LID, .src_qp = 1, .port = 1, .dlid_path_bits = bits,
	};
	u8 flags = IB_RMPP_ACTIVE, mad[IB_MAD_SIZE];

	if (segment == 1)
		flags |= IB_RMPP_FIRST;
	if (segment == total)
		flags |= IB_RMPP_LAST;
	memcpy(mad, a->request, sizeof(mad));
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	ib_put(mad, IB_MAD_STATUS, status);
	ib_put(mad, IB_RMPP_VERSION, IB_RMPP_VERSION_1);
	ib_put(mad, IB_RMPP_TYPE, IB_RMPP_DATA);
	ib_put(mad, IB_RMPP_FLAGS, flags);
	ib_put(mad, IB_RMPP_SEGMENT, segment);
	ib_put(mad, IB_RMPP_LENGTH, segment == total ? REPEATED + 7 : 0);
	memset(mad + IB_VENDOR2_DATA, segment, DATA);
	KUNIT_EXPECT_TRUE(a->mb->test, vfake_deliver(&a->mb->b->vf, &wc, 1, mad));
	mad_settle();
}

/* What is on the wire is an ACK for so many segments. */
static bool sees_ack(struct asking *a, u32 segment)
{
	struct vfake_mad *m;
	bool right;

	mad_settle();
	m = vfake_take(&a->mb->b->vf);
	right = m && ib_get(m->mad, IB_RMPP_TYPE) == IB_RMPP_ACK &&
		ib_get(m->mad, IB_RMPP_SEGMENT) == segment;
	kfree(m);
	return right;
}

/* ---- RMPP and the request it answers ---- */

static struct mad_bench *bench_with_lmc(struct kunit *test, u8 lmc)
{
	struct mad_bench *mb = mad_bench_create(test, "lr-edge");

	mb->b->vf.port[0].lmc = lmc;
	mb->b->vf.port[0].lid = 0x10;
	bench_bind(mb->b);
	return mb;
}

/* A segment that was sent to another LID of ours than was asked from is not of this answer. */
static void a_segment_for_another_lid_is_none_of_it(struct kunit *test)
{
	struct mad_bench *mb = bench_with_lmc(test, 1);
	struct asking a;

	ask(&a, mb, 1000, 0, 0);
	answer(&a, 1, 2, 0, 0);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1));
	answer(&a, 2, 2, 1, 0);
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	answer(&a, 2, 2, 0, 0);
	KUNIT_ASSERT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == 1, 1000));
	KUNIT_EXPECT_EQ(test, mb->message->length, IB_VENDOR2_DATA + DATA + 7U);
	ib_mad_agent_destroy(a.agent);
}

/* The LMC changes, and what came so far does not belong to the request any more: it ends. */
static void a_request_that_lost_its_answer_ends(struct kunit *test)
{
	struct mad_bench *mb = bench_with_lmc(test, 0);
	struct asking a;

	ask(&a, mb, 1000, 3, 0);
	answer(&a, 1, 3, 1, 0);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1));
	mb->b->vf.port[0].lmc = 1;
	ib_event_raise(bench_device(mb->b), IB_EVENT_LID_CHANGE, 1);
	KUNIT_ASSERT_TRUE(test, LR_WAIT(ib_lmc_cached(bench_device(mb->b), 1) == 1, 1000));
	answer(&a, 2, 3, 1, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	fake_advance(mb->b->fake, WHOLE_MS);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->timed_out) == 1, 1000));
	ib_mad_agent_destroy(a.agent);
}

/* A BUSY answer may come in segments: it counts as none, and the next has the same TID. */
static void a_busy_answer_in_segments(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct asking a;

	ask(&a, mb, 100, 2, IB_MAD_SEND_BUSY);
	answer(&a, 1, 1, 0, IB_STATUS_BUSY);
	KUNIT_EXPECT_TRUE(test, sees_ack(&a, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	fake_advance(mb->b->fake, 100);
	see_request(&a);
	answer(&a, 1, 1, 0, 0);
	KUNIT_ASSERT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == 1, 1000));
	KUNIT_EXPECT_EQ(test, mb->message->length, IB_VENDOR2_DATA + 7U);
	KUNIT_EXPECT_EQ(test, ib_get(mb->message->mad, IB_MAD_STATUS), 0U);
	ib_mad_agent_destroy(a.agent);
}

/* As it is with programs: who does RMPP himself names a version as well. */
static void who_does_rmpp_himself_may_name_a_version(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct ib_mad_agent_init init;
	struct asking a = { .mb = mb };

	mad_init_agent(mb, &init, 1, EDGE_CLASS);
	init.rmpp = 1;
	init.user_rmpp = true;
	a.agent = mad_agent(mb, &init);
	ib_put(a.request, IB_MAD_BASE, IB_MAD_BASE_1);
	ib_put(a.request, IB_MAD_CLASS, EDGE_CLASS);
	ib_put(a.request, IB_MAD_CLASS_VERSION, 1);
	ib_put(a.request, IB_MAD_TID_HI, a.agent->hi_tid);
	answer(&a, 2, 9, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->received), 1);
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 0U);
	ib_mad_agent_destroy(a.agent);
}

static void an_agent_with_rmpp_sends_classes_with_rmpp(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct mad_head head = { .class = IB_CLASS_PERF, .method = IB_METHOD_GET, .tid = 1 };
	struct ib_mad_agent *agent = rmpp_agent(mb);
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);

	KUNIT_EXPECT_EQ(test, mad_post(mb, send), -EINVAL);
	ib_put(send->mad, IB_MAD_CLASS, EDGE_CLASS);
	KUNIT_EXPECT_EQ(test, mad_post(mb, send), 0);
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 1U);
	ib_mad_agent_destroy(agent);
}

/* ---- addresses ---- */

/**
 * struct place - an address, and what a post to it says
 * @to: the address
 * @err: the answer
 */
struct place {
	struct ib_mad_addr to;
	int err;
};

static void addresses_are_looked_at_when_posted(struct kunit *test)
{
	static const struct place places[] = {
		{ { .lid = 5, .qpn = 1 }, 0 },
		{ { .qpn = 1 }, -EINVAL },
		{ { .lid = 5, .qpn = 1, .sl = 15 }, 0 },
		{ { .lid = 5, .qpn = 1, .sl = 16 }, -EINVAL },
		{ { .lid = 5, .qpn = 1, .pkey_index = VFAKE_PKEYS - 1 }, 0 },
		{ { .lid = 5, .qpn = 1, .pkey_index = VFAKE_PKEYS }, -EINVAL },
		{ { .lid = 5, .qpn = 1, .has_grh = true }, 0 },
		{ { .lid = 5, .qpn = 1, .has_grh = true, .grh.sgid_index = VFAKE_GIDS - 1 },
		  -EINVAL },
		{ { .lid = 5, .qpn = 1, .has_grh = true, .grh.sgid_index = VFAKE_GIDS },
		  -EINVAL },
	};
	struct mad_bench *mb = mad_bench_create(test, "lr-edge");
	struct mad_head head = { .class = IB_CLASS_PERF, .method = IB_METHOD_GET };
	struct ib_mad_agent *agent;
	struct ib_mad_send *send;
	unsigned int i, good = 0;

	/* The last place of the table is free. */
	memset(&mb->b->vf.gids[0][VFAKE_GIDS - 1], 0, sizeof(union ib_gid));
	bench_bind(mb->b);
	agent = mad_agent_simple(mb, 1, 0);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		head.tid = i + 1;
		send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);
		send->to = places[i].to;
		KUNIT_EXPECT_EQ_MSG(test, mad_post(mb, send), places[i].err, "place %u", i);
		if (places[i].err)
			ib_mad_send_free(send);
		else
			good++;
	}
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->ok) == good, 1000));
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), good);
	ib_mad_agent_destroy(agent);
}

/* What is longer than a MAD has room, is dropped, and stops nothing. */
static void a_datagram_longer_than_a_mad(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, EDGE_CLASS);
	struct ib_wc wc = { .slid = MAD_PEER_LID, .src_qp = 1, .port = 1 };
	struct mad_head head = { .class = EDGE_CLASS, .method = IB_METHOD_GET, .tid = 1 };
	u8 mad[IB_MAD_SIZE] = {};
	int i;

	mad_write_head(mad, &head);
	for (i = 0; i < 1000; i++) {
		wc.byte_len = IB_GRH_SIZE + (i & 1 ? IB_MAD_SIZE + 1 : 4096);
		KUNIT_EXPECT_TRUE(test, vfake_deliver(&mb->b->vf, &wc, 1, mad));
		if (!(i % 16))
			mad_settle();
	}
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->received), 0);
	mad_arrive(mb, 1, mad);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->received) == 1, 1000));
	mad_request(mb, agent, 0, 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->ok) == 1, 1000));
	ib_mad_agent_destroy(agent);
}

/* ---- those who leave ---- */

static void remove_says_goodbye(struct bench *b)
{
	struct mad_bench *mb = b->data;
	int i;

	if (!mb->received_by)
		return;
	/* One of them fails, and takes those behind it along. */
	b->vf.fail_sends = 1;
	for (i = 0; i < 200; i++)
		mad_try(mb, mb->received_by, 1000, 0);
	ib_mad_agent_destroy(mb->received_by);
	mb->received_by = NULL;
}

static void farewells_behind_a_failure_go_out(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");

	mb->received_by = mad_agent_simple(mb, 1, 0);
	mb->b->data = mb;
	mb->b->remove = remove_says_goodbye;
	KUNIT_EXPECT_EQ(test, fake_hca_remove(mb->b->fake), 0);
	KUNIT_EXPECT_EQ(test, mb->b->vf.sent, 199U);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 200);
}

static enum ib_mad_result consume(struct vfake *vf, const struct ib_mad_request *request,
				  u8 *answer)
{
	return IB_MAD_CONSUMED;
}

static void set_own_port(struct mad_bench *mb, struct ib_mad_agent *agent, u32 modifier)
{
	struct mad_head head = {
		.class = IB_CLASS_SMP_DR,
		.method = IB_METHOD_SET,
		.attribute = IB_ATTR_PORT_INFO,
		.tid = ib_mad_tid(agent),
	};
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);

	ib_put(send->mad, IB_MAD_MODIFIER, modifier);
	ib_put(send->mad, IB_SMP_DR_SLID, IB_LID_PERMISSIVE);
	ib_put(send->mad, IB_SMP_DR_DLID, IB_LID_PERMISSIVE);
	send->to.lid = IB_LID_PERMISSIVE;
	send->timeout_ms = 1000;
	KUNIT_EXPECT_EQ(mb->test, mad_post(mb, send), 0);
}

/* What an agent has told its own port to do is done, although it has gone meanwhile. */
static void the_port_hears_those_who_left(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 0, 0);
	int i, asks = vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD);

	mb->b->vf.local = consume;
	for (i = 0; i < 10; i++)
		set_own_port(mb, agent, 0);
	ib_mad_agent_destroy(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 10);
	mad_settle();
	KUNIT_EXPECT_EQ(test, vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD) - asks, 10);
}

/* The device is busy with a first MAD until the test lets it go on; it counts those of both. */
#define STAYER 0x5000

static struct {
	struct completion begun;
	struct completion go_on;
	unsigned int errands;
	unsigned int errands_first;
	unsigned int stayers;
} slow;

static enum ib_mad_result consume_slowly(struct vfake *vf, const struct ib_mad_request *request,
					 u8 *answer)
{
	complete(&slow.begun);
	wait_for_completion(&slow.go_on);
	if (ib_get(request->mad, IB_MAD_MODIFIER) == STAYER) {
		slow.stayers++;
		return IB_MAD_CONSUMED;
	}
	slow.errands++;
	if (!slow.stayers)
		slow.errands_first++;
	return IB_MAD_CONSUMED;
}

/* An agent asks its own port so often, and is destroyed while the first is dealt with. */
static void ask_and_leave(struct mad_bench *mb, unsigned int times)
{
	struct ib_mad_agent *agent = mad_agent_simple(mb, 0, 0);
	unsigned int i;

	for (i = 0; i < times; i++)
		set_own_port(mb, agent, 0);
	wait_for_completion(&slow.begun);
	ib_mad_agent_destroy(agent);
}

static void be_slow(struct mad_bench *mb)
{
	memset(&slow, 0, sizeof(slow));
	init_completion(&slow.begun);
	init_completion(&slow.go_on);
	mb->b->vf.local = consume_slowly;
}

/* Whoever asks and leaves, again and again, fills no memory: the firmware may take its time. */
static void those_who_left_are_bounded(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	int i;

	be_slow(mb);
	ask_and_leave(mb, CROWD);
	for (i = 0; i < 3; i++) {
		complete(&slow.begun);
		ask_and_leave(mb, 100);
	}
	complete_all(&slow.go_on);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(slow.errands > ERRANDS_MAX, 10000));
	mad_settle();
	/* The first was no errand yet. */
	KUNIT_EXPECT_EQ(test, slow.errands, 1 + ERRANDS_MAX);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), CROWD + 300);
}

/* An agent that is there does not wait for all that others have left behind. */
static void those_who_left_do_not_go_first(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct ib_mad_agent *stays;

	be_slow(mb);
	ask_and_leave(mb, 1000);
	stays = mad_agent_simple(mb, 0, 0);
	set_own_port(mb, stays, STAYER);
	complete_all(&slow.go_on);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(slow.errands == 1000, 10000));
	KUNIT_EXPECT_EQ(test, slow.stayers, 1U);
	/* The one that was being dealt with, and at most one more. */
	KUNIT_EXPECT_LE(test, slow.errands_first, 2U);
	ib_mad_agent_destroy(stays);
}

static void remove_sets_own_port(struct bench *b)
{
	struct mad_bench *mb = b->data;

	if (!mb->received_by)
		return;
	set_own_port(mb, mb->received_by, 0);
	ib_mad_agent_destroy(mb->received_by);
	mb->received_by = NULL;
}

static void the_port_hears_them_in_a_teardown(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	int asks = vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD);

	mb->b->vf.local = consume;
	mb->received_by = mad_agent_simple(mb, 0, 0);
	mb->b->data = mb;
	mb->b->remove = remove_sets_own_port;
	KUNIT_EXPECT_EQ(test, fake_hca_remove(mb->b->fake), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD) - asks, 1);
}

/* ---- receives until the end ---- */

/**
 * struct flood - MADs that arrive for ever
 * @mb: where
 * @stop: until then
 * @arrived: how many found a receive
 */
struct flood {
	struct mad_bench *mb;
	bool stop;
	unsigned int arrived;
};

static int run_flood(void *arg)
{
	struct flood *f = arg;
	struct ib_wc wc = { .slid = MAD_PEER_LID, .src_qp = 1, .port = 1 };
	struct mad_head head = { .class = EDGE_CLASS, .method = IB_METHOD_GET };
	u8 mad[IB_MAD_SIZE] = {};

	while (!READ_ONCE(f->stop)) {
		head.tid++;
		mad_write_head(mad, &head);
		f->arrived += vfake_deliver(&f->mb->b->vf, &wc, 1, mad);
		usleep_range(5, 10);
	}
	return 0;
}

/* Each PD outlives the CQ of its port, and that the QPs whose completions it has. */
static void expect_mirrored(struct mad_bench *mb)
{
	unsigned int i, qps = 0, cqs = 0, pds = 0;

	for (i = 0; i < mb->b->vf.released && i < VFAKE_ORDER; i++) {
		qps += mb->b->vf.order[i] == IB_OBJECT_QP;
		cqs += mb->b->vf.order[i] == IB_OBJECT_CQ;
		pds += mb->b->vf.order[i] == IB_OBJECT_PD;
		KUNIT_EXPECT_GE(mb->test, qps, 2 * cqs);
		KUNIT_EXPECT_GE(mb->test, cqs, pds);
	}
	KUNIT_EXPECT_EQ(mb->test, pds, (unsigned int)VFAKE_PORTS);
}

/* The PD was freed before the CQ whose work posted receives with its key. */
static void b16_receives_until_the_end(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct flood flood = { .mb = mb };
	struct fake_flow flow;
	int i;

	for (i = 0; i < 20; i++) {
		struct ib_mad_agent *agent = mad_agent_simple(mb, 1, EDGE_CLASS);

		mb->b->vf.released = 0;
		flood.stop = false;
		fake_flow_start(&flow, run_flood, &flood);
		usleep_range(100 + 50 * i, 200 + 50 * i);
		ib_mad_agent_destroy(agent);
		KUNIT_EXPECT_EQ(test, fake_hca_unbind(mb->b->fake), 0);
		WRITE_ONCE(flood.stop, true);
		fake_flow_join(&flow);
		expect_mirrored(mb);
		KUNIT_EXPECT_EQ(test, atomic_read(&mb->b->vf.breaches), 0);
		bench_bind(mb->b);
	}
	KUNIT_EXPECT_GT(test, flood.arrived, 100U);
	KUNIT_EXPECT_GT(test, atomic_read(&mb->received), 10);
}

/* ---- crowds ---- */

static void a_crowd_is_cancelled(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct ib_mad_agent *other = mad_agent_simple(mb, 1, 0);
	u64 *ids = kvcalloc(CROWD, sizeof(*ids), GFP_KERNEL);
	int i, canceled = 0;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < CROWD; i++)
		ids[i] = mad_request(mb, agent, 100000, 0)->id;
	/* An id is its agent's alone. */
	KUNIT_EXPECT_FALSE(test, ib_mad_cancel(other, ids[0]));
	for (i = CROWD - 1; i >= 0; i--)
		canceled += ib_mad_cancel(agent, ids[i]);
	for (i = 0; i < CROWD; i++)
		canceled += ib_mad_cancel(agent, ids[i]);
	KUNIT_EXPECT_EQ(test, canceled, CROWD);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->canceled) == CROWD, 10000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), CROWD);
	kvfree(ids);
	ib_mad_agent_destroy(agent);
	ib_mad_agent_destroy(other);
}

static void a_crowd_is_buried(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-edge");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	int i;

	for (i = 0; i < CROWD; i++)
		mad_request(mb, agent, 1000000, 0);
	mb->b->data = mb;
	bench_gone(mb->b);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->done) == CROWD, 10000));
	KUNIT_EXPECT_EQ(test, mad_try(mb, agent, 1000, 0), -ENODEV);
	ib_mad_agent_destroy(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), CROWD);
}

static struct kunit_case edge_cases[] = {
	KUNIT_CASE(a_segment_for_another_lid_is_none_of_it),
	KUNIT_CASE(a_request_that_lost_its_answer_ends),
	KUNIT_CASE(a_busy_answer_in_segments),
	KUNIT_CASE(who_does_rmpp_himself_may_name_a_version),
	KUNIT_CASE(an_agent_with_rmpp_sends_classes_with_rmpp),
	KUNIT_CASE(addresses_are_looked_at_when_posted),
	KUNIT_CASE(a_datagram_longer_than_a_mad),
	KUNIT_CASE(farewells_behind_a_failure_go_out),
	KUNIT_CASE(the_port_hears_those_who_left),
	KUNIT_CASE(the_port_hears_them_in_a_teardown),
	KUNIT_CASE(those_who_left_are_bounded),
	KUNIT_CASE(those_who_left_do_not_go_first),
	KUNIT_CASE(b16_receives_until_the_end),
	KUNIT_CASE(a_crowd_is_cancelled),
	KUNIT_CASE(a_crowd_is_buried),
	{}
};

static struct kunit_suite edge_suite = {
	.name = "ib_mad_edges",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = edge_cases,
};

kunit_test_suite(edge_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Where two parts of the MAD service meet");
