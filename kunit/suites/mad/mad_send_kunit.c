// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends: responses, retries, cancel, floods, failures of the queue, and the end of agent, hardware
 * and device at any moment. Each done is counted.
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include <lastref/fault.h>

#include "mad_bench.h"

#define CROWD 5000
#define RACES 20000

static void a_response_finds_its_request(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct vfake_mad *m;
	u64 tid;

	mad_request(mb, agent, 1000, 3);
	mad_settle();
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, ib_get(m->mad, IB_MAD_TID_HI), agent->hi_tid);
	KUNIT_EXPECT_EQ(test, m->qkey, (u32)IB_QP1_QKEY);
	tid = ib_get(m->mad, IB_MAD_TID);
	/* Another TID, another class: nobody's. */
	ib_put(m->mad, IB_MAD_TID, tid + 1);
	mad_answer(mb, m, 0);
	ib_put(m->mad, IB_MAD_TID, tid);
	ib_put(m->mad, IB_MAD_CLASS, 0x0b);
	mad_answer(mb, m, 0);
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	ib_put(m->mad, IB_MAD_CLASS, IB_CLASS_PERF);
	mad_answer(mb, m, IB_STATUS_BAD_METHOD);
	KUNIT_ASSERT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == 1, 1000));
	KUNIT_EXPECT_EQ(test, ib_get(mb->message->mad, IB_MAD_STATUS), IB_STATUS_BAD_METHOD);
	KUNIT_EXPECT_EQ(test, mb->message->length, (u32)IB_MAD_SIZE);
	/* A second one is nobody's any more. */
	mad_answer(mb, m, 0);
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 1);
	kfree(m);
	ib_mad_agent_destroy(agent);
}

/* From port 1 to port 2 and back, over the wire. */
static void two_ports_talk(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *client, *server;
	struct ib_mad_agent_init init;
	struct ib_mad_send *send;
	int i;

	mb->b->vf.loop = true;
	mb->serve = true;
	mad_init_agent(mb, &init, 1, 0x32);
	client = mad_agent(mb, &init);
	init.port = 2;
	bitmap_fill(init.methods, IB_METHODS);
	server = mad_agent(mb, &init);
	for (i = 1; i <= 100; i++) {
		struct mad_head head = { .class = 0x32, .method = IB_METHOD_GET, .tid = i };

		send = mad_send_new(mb, client, IB_MAD_SIZE, &head);
		send->to.lid = mb->b->vf.port[1].lid;
		send->timeout_ms = 1000;
		KUNIT_ASSERT_EQ(test, mad_post(mb, send), 0);
		KUNIT_ASSERT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == i, 1000));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->received), 100);
	ib_mad_agent_destroy(client);
	ib_mad_agent_destroy(server);
}

static void what_expects_no_response_ends_when_it_has_left(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct vfake_mad *m;

	mb->b->vf.hold = true;
	mad_request(mb, agent, 0, 0);
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	/* Then an answer is nobody's, before and after. */
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	mad_answer(mb, m, 0);
	vfake_release_held(&mb->b->vf);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->ok) == 1, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->answered), 0);
	kfree(m);
	ib_mad_agent_destroy(agent);
}

/* A response may be here before the hardware says that the request has left. */
static void a_response_overtakes(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct vfake_mad *m;

	mb->b->vf.hold = true;
	mad_request(mb, agent, 100, 0);
	mad_settle();
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	mad_answer(mb, m, 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == 1, 1000));
	vfake_release_held(&mb->b->vf);
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 1);
	kfree(m);
	ib_mad_agent_destroy(agent);
}

static void retries_are_counted(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	int i;

	mad_request(mb, agent, 100, 3);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 1U);
		fake_advance(mb->b->fake, 99);
		KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 0U);
		KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
		fake_advance(mb->b->fake, 1);
	}
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 0U);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->timed_out) == 1, 1000));
	ib_mad_agent_destroy(agent);
}

/* The time for an answer begins when the request has left, not when it was posted. */
static void the_timer_starts_when_it_has_left(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);

	mb->b->vf.hold = true;
	mad_request(mb, agent, 100, 0);
	fake_advance(mb->b->fake, 500);
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	vfake_release_held(&mb->b->vf);
	mad_settle();
	fake_advance(mb->b->fake, 100);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->timed_out) == 1, 1000));
	ib_mad_agent_destroy(agent);
}

/* B19: thousands expire at once. */
static void a_crowd_expires(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	int i;

	for (i = 0; i < CROWD; i++)
		mad_request(mb, agent, 1000, 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(mb->b->vf.sent) == CROWD, 10000));
	mad_settle();
	fake_advance(mb->b->fake, 1000);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->timed_out) == CROWD, 10000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), CROWD);
	ib_mad_agent_destroy(agent);
}

static void an_agent_has_a_limit(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct mad_head head = { .class = IB_CLASS_PERF, .method = IB_METHOD_GET };
	struct ib_mad_send *send;
	int n = 0, err;

	do {
		head.tid = n + 1;
		send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);
		send->timeout_ms = 1000;
		err = mad_post(mb, send);
		n += !err;
	} while (!err && n < 100000);
	ib_mad_send_free(send);
	KUNIT_EXPECT_EQ(test, err, -EAGAIN);
	KUNIT_EXPECT_EQ(test, n, 16384);
	ib_mad_agent_destroy(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->canceled), n);
}

/* A flood of one agent does not keep another from its turn. */
static void agents_take_turns(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *flood = mad_agent_simple(mb, 1, 0);
	struct ib_mad_agent *polite = mad_agent_simple(mb, 1, 0);
	unsigned int i, slots, seen = 0, found = 0;
	struct vfake_mad *m;

	mb->b->vf.hold = true;
	for (i = 0; i < 2000; i++)
		mad_request(mb, flood, 0, 0);
	for (i = 0; i < 3; i++)
		mad_request(mb, polite, 0, 0);
	mad_settle();
	slots = mb->b->vf.sent;
	KUNIT_EXPECT_EQ(test, slots, 128U);
	vfake_release_held(&mb->b->vf);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->ok) == 2003, 5000));
	while ((m = vfake_take(&mb->b->vf))) {
		seen++;
		if (ib_get(m->mad, IB_MAD_TID_HI) == polite->hi_tid) {
			found++;
			/* Its turn comes with every second slot that becomes free. */
			KUNIT_EXPECT_LE(test, seen, slots + 2 * found);
		}
		kfree(m);
	}
	KUNIT_EXPECT_EQ(test, found, 3U);
	ib_mad_agent_destroy(flood);
	ib_mad_agent_destroy(polite);
}

/* SQE: those behind a failed send are sent again. */
static void a_failed_send_fails_alone(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	int modified = vfake_calls(&mb->b->vf, VFAKE_MODIFY_QP);
	int i;

	mb->b->vf.fail_sends = 1;
	for (i = 0; i < 10; i++)
		mad_request(mb, agent, 0, 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->done) == 10, 2000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->failed), 1);
	KUNIT_EXPECT_EQ(test, mb->b->vf.sent, 9U);
	KUNIT_EXPECT_EQ(test, vfake_calls(&mb->b->vf, VFAKE_MODIFY_QP), modified + 1);
	mad_request(mb, agent, 0, 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->ok) == 10, 2000));
	ib_mad_agent_destroy(agent);
}

static void a_busy_one_is_asked_again(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct mad_head head = { .class = IB_CLASS_PERF, .method = IB_METHOD_GET, .tid = 1 };
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);
	struct vfake_mad *m;
	int i;

	send->timeout_ms = 100;
	send->retries = 2;
	send->flags = IB_MAD_SEND_BUSY;
	KUNIT_ASSERT_EQ(test, mad_post(mb, send), 0);
	for (i = 0; i < 3; i++) {
		mad_settle();
		m = vfake_take(&mb->b->vf);
		KUNIT_ASSERT_NOT_NULL(test, m);
		mad_answer(mb, m, IB_STATUS_BUSY);
		kfree(m);
		mad_settle();
		/* The last of them is as good an answer as any. */
		KUNIT_EXPECT_EQ(test, atomic_read(&mb->answered), i == 2);
		fake_advance(mb->b->fake, 100);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 1);
	ib_mad_agent_destroy(agent);
}

static void a_redirection_is_followed_once(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct mad_head head = { .class = IB_CLASS_PERF, .method = IB_METHOD_GET, .tid = 1 };
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);
	struct vfake_mad *m;
	u8 *info;

	send->timeout_ms = 100;
	send->flags = IB_MAD_SEND_REDIRECT;
	KUNIT_ASSERT_EQ(test, mad_post(mb, send), 0);
	mad_settle();
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	info = m->mad + IB_MAD_DATA;
	ib_put(info, IB_CPI_REDIRECT_LID, 0x99);
	ib_put(info, IB_CPI_REDIRECT_PKEY, 0x1234);
	ib_put(info, IB_CPI_REDIRECT_QPN, 0x777);
	ib_put(info, IB_CPI_REDIRECT_QKEY, IB_QP1_QKEY);
	ib_put(info, IB_CPI_REDIRECT_SL, 2);
	mad_answer(mb, m, IB_STATUS_REDIRECT);
	mad_settle();
	kfree(m);
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, m->to.dlid, 0x99);
	KUNIT_EXPECT_EQ(test, m->to.sl, 2);
	KUNIT_EXPECT_EQ(test, m->dqpn, 0x777U);
	KUNIT_EXPECT_EQ(test, m->pkey_index, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	mad_answer(mb, m, IB_STATUS_REDIRECT);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == 1, 1000));
	kfree(m);
	ib_mad_agent_destroy(agent);
}

/* ---- the end of sends ---- */

static void cancel_is_exact(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct vfake_mad *m;
	u64 id;

	id = mad_request(mb, agent, 1000, 3)->id;
	mad_settle();
	KUNIT_EXPECT_FALSE(test, ib_mad_cancel(agent, id + 1));
	KUNIT_EXPECT_TRUE(test, ib_mad_cancel(agent, id));
	KUNIT_EXPECT_FALSE(test, ib_mad_cancel(agent, id));
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->canceled) == 1, 1000));
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	mad_answer(mb, m, 0);
	fake_advance(mb->b->fake, 10000);
	mad_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 1);
	KUNIT_EXPECT_FALSE(test, ib_mad_cancel(agent, id));
	kfree(m);
	ib_mad_agent_destroy(agent);
}

/* The last that left; those before it are lost. */
static struct vfake_mad *mad_newest(struct mad_bench *mb)
{
	struct vfake_mad *m, *last = NULL;

	while ((m = vfake_take(&mb->b->vf))) {
		kfree(last);
		last = m;
	}
	return last;
}

/* B18: responses, timeouts, cancels by chance: a done for each post, and a cancel is true */
static void cancel_against_completion(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct rnd_state rnd;
	u64 seed = get_random_u64();
	int i, canceled = 0;
	u64 ids[16] = {};

	kunit_info(test, "seed %llu\n", seed);
	prandom_seed_state(&rnd, seed);
	for (i = 0; i < RACES; i++) {
		u32 dice = prandom_u32_state(&rnd);
		struct vfake_mad *m;

		ids[i % ARRAY_SIZE(ids)] = mad_request(mb, agent, 1 + dice % 64, 0)->id;
		m = mad_newest(mb);
		if (dice & 2 && m)
			mad_answer(mb, m, 0);
		kfree(m);
		if (dice & 4)
			canceled += ib_mad_cancel(agent, ids[(dice >> 8) % ARRAY_SIZE(ids)]);
		if (dice & 8)
			fake_advance(mb->b->fake, 1);
		if (!(dice & 0x70))
			cond_resched();
		if (!(i % 16))
			mad_settle();
	}
	mad_settle();
	fake_advance(mb->b->fake, 100);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->done) == RACES, 10000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->canceled), canceled);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->failed), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&mb->answered), RACES / 100);
	KUNIT_EXPECT_GT(test, atomic_read(&mb->timed_out), RACES / 100);
	KUNIT_EXPECT_GT(test, canceled, RACES / 100);
	ib_mad_agent_destroy(agent);
}

static void an_agent_takes_its_sends_along(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	struct ib_mad_agent *other = mad_agent_simple(mb, 1, 0);
	int i;

	mad_request(mb, other, 1000, 0);
	for (i = 0; i < 500; i++)
		mad_request(mb, agent, 1000, 3);
	/* Even what done posts again is refused now. */
	mb->again = 3;
	ib_mad_agent_destroy(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->canceled), 500);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 500);
	KUNIT_EXPECT_EQ(test, mb->again, 0);
	mad_settle();
	fake_advance(mb->b->fake, 1000);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->timed_out) == 1, 1000));
	ib_mad_agent_destroy(other);
}

/* What was posted before the agent was destroyed leaves, although all slots were taken. */
static void a_farewell_goes_out(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	int i;

	mb->b->vf.hold = true;
	for (i = 0; i < 200; i++)
		mad_request(mb, agent, 1000, 0);
	ib_mad_agent_destroy(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->canceled), 200);
	KUNIT_EXPECT_EQ(test, mb->b->vf.sent, 128U);
	vfake_release_held(&mb->b->vf);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(mb->b->vf.sent) == 200, 2000));
}

static void remove_destroys(struct bench *b)
{
	struct mad_bench *mb = b->data;

	/* Only the first incarnation has one. */
	if (!mb->received_by)
		return;
	/* Posted in remove_one, and gone. */
	mad_try(mb, mb->received_by, 1000, 0);
	ib_mad_agent_destroy(mb->received_by);
	mb->received_by = NULL;
}

static void what_remove_one_sends_goes_out(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	int i;

	mb->received_by = mad_agent_simple(mb, 1, 0);
	mb->b->data = mb;
	mb->b->remove = remove_destroys;
	for (i = 0; i < 100; i++)
		mad_request(mb, mb->received_by, 1000, 0);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(mb->b->fake), 0);
	KUNIT_EXPECT_EQ(test, mb->b->vf.sent, 101U);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->canceled), 101);
}

static void a_forgotten_agent_is_reaped(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0x0a);
	struct ib_mad_send *send;
	int i;

	for (i = 0; i < 50; i++)
		mad_request(mb, agent, 1000, 0);
	mb->forgotten = 50;
	KUNIT_EXPECT_EQ(test, fake_hca_remove(mb->b->fake), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), 0);
	/* The handle is good for being refused, and for its late destroy. */
	send = ib_mad_send_alloc(agent, IB_MAD_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(send));
	KUNIT_EXPECT_EQ(test, ib_mad_post(send), -ENODEV);
	KUNIT_EXPECT_FALSE(test, ib_mad_cancel(agent, 1));
	ib_mad_send_free(send);
	ib_mad_agent_destroy(agent);
}

/* The hardware is lost: everything comes back by software, once. */
static void gone_ends_everything(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0);
	int i;

	for (i = 0; i < 100; i++)
		mad_request(mb, agent, 100000, 3);
	mb->b->vf.hold = true;
	for (i = 0; i < 300; i++)
		mad_request(mb, agent, 100000, 3);
	mb->b->data = mb;
	mb->b->remove = remove_destroys;
	mb->received_by = agent;
	bench_gone(mb->b);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->done) >= 400, 5000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->failed) + atomic_read(&mb->canceled),
			atomic_read(&mb->done));
}

/* Hardware that says nothing any more holds nobody up. */
static void silent_hardware(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct fake_flow flow;
	int i;

	mb->received_by = mad_agent_simple(mb, 1, 0);
	mb->b->data = mb;
	mb->b->remove = remove_destroys;
	mb->b->vf.silent = true;
	for (i = 0; i < 300; i++)
		mad_request(mb, mb->received_by, 1000, 0);
	fake_flow_start(&flow, fake_run_remove, mb->b->fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(mb->b->fake, &flow.done, 15000));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ(test, mb->b->fake->hca->quarantined, 0U);
}

/* ---- begin and end of the service ---- */

static void start_fails_at_each_step(struct kunit *test)
{
	static const enum vfake_op ops[] = {
		VFAKE_CREATE_PD, VFAKE_CREATE_CQ, VFAKE_CREATE_MR, VFAKE_CREATE_QP,
		VFAKE_MODIFY_QP, VFAKE_POST_RECV,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		struct mad_bench *mb = mad_bench_create(test, "lr-mad");
		struct ib_mad_agent_init init;

		mb->b->vf.fails[ops[i]] = -ENOSPC;
		bench_bind(mb->b);
		mad_init_agent(mb, &init, 1, 0);
		KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mad_agent_create(mb->b->attachment, &init)),
				-ENODEV);
		KUNIT_EXPECT_EQ(test, atomic_read(&mb->b->vf.buffers), 0);
		KUNIT_EXPECT_EQ(test, fake_hca_remove(mb->b->fake), 0);
		bench_unregister(mb->b);
	}
}

static int use_an_agent(struct mad_bench *mb)
{
	struct mad_head head = { .class = IB_CLASS_PERF, .method = IB_METHOD_GET, .tid = 1 };
	struct ib_mad_agent_init init;
	struct ib_mad_agent *agent;
	struct ib_mad_send *send;
	int err = -ENOMEM;

	mad_init_agent(mb, &init, 1, 0x32);
	mad_init_methods(&init, IB_METHOD_GET, IB_METHOD_TRAP, 0);
	agent = ib_mad_agent_create(mb->b->attachment, &init);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	send = ib_mad_send_alloc(agent, IB_MAD_SIZE, GFP_KERNEL);
	if (!IS_ERR(send)) {
		mad_write_head(send->mad, &head);
		ib_mad_send_free(send);
		err = 0;
	}
	ib_mad_agent_destroy(agent);
	return err;
}

static void each_allocation_fails(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct lr_fault f;
	bool failed;
	int err;

	lr_fault_each(&f, test) {
		err = use_an_agent(mb);
		failed = lr_fault_stop(&f);
		if (!failed)
			KUNIT_EXPECT_EQ(test, err, 0);
	}
	KUNIT_EXPECT_GT(test, f.hits, 2U);
}

struct step {
	struct mad_bench *mb;
	unsigned int left;
	enum vfake_op op;
	bool armed;
};

/* The hardware is lost in the middle of the n-th operation of the provider. */
static void gone_in_operation(struct vfake *vf, enum vfake_op op)
{
	struct step *step = vf->data;

	if (step->armed && !step->left--) {
		step->armed = false;
		step->op = op;
		ib_hca_gone(step->mb->b->fake->hca, "the test says so");
	}
}

static void run_until_gone(struct kunit *test, unsigned int n)
{
	struct mad_bench *mb = mad_bench_create(test, "lr-mad");
	struct step step = { .mb = mb, .left = n };
	struct fake_flow flow;
	int i;

	bench_bind(mb->b);
	mb->received_by = mad_agent_simple(mb, 1, 0);
	mb->b->data = mb;
	mb->b->remove = remove_destroys;
	mb->b->vf.data = &step;
	mb->b->vf.hook = gone_in_operation;
	step.armed = true;
	for (i = 0; i < 5; i++)
		mad_try(mb, mb->received_by, 1000, 1);
	fake_flow_start(&flow, fake_run_remove, mb->b->fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(mb->b->fake, &flow.done, 15000));
	fake_flow_join(&flow);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->done), atomic_read(&mb->posted));
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&mb->b->vf.buffers), 0, "step %u, operation %d", n,
			    step.op);
	mb->b->vf.hook = NULL;
	bench_unregister(mb->b);
}

static void gone_at_each_operation(struct kunit *test)
{
	unsigned int n;

	for (n = 0; n < 40; n++)
		run_until_gone(test, n);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE(a_response_finds_its_request),
	KUNIT_CASE(two_ports_talk),
	KUNIT_CASE(what_expects_no_response_ends_when_it_has_left),
	KUNIT_CASE(a_response_overtakes),
	KUNIT_CASE(retries_are_counted),
	KUNIT_CASE(the_timer_starts_when_it_has_left),
	KUNIT_CASE(a_crowd_expires),
	KUNIT_CASE(an_agent_has_a_limit),
	KUNIT_CASE(agents_take_turns),
	KUNIT_CASE(a_failed_send_fails_alone),
	KUNIT_CASE(a_busy_one_is_asked_again),
	KUNIT_CASE(a_redirection_is_followed_once),
	KUNIT_CASE(cancel_is_exact),
	KUNIT_CASE(cancel_against_completion),
	KUNIT_CASE(an_agent_takes_its_sends_along),
	KUNIT_CASE(a_farewell_goes_out),
	KUNIT_CASE(what_remove_one_sends_goes_out),
	KUNIT_CASE(a_forgotten_agent_is_reaped),
	KUNIT_CASE(gone_ends_everything),
	KUNIT_CASE(silent_hardware),
	KUNIT_CASE(start_fails_at_each_step),
	KUNIT_CASE(each_allocation_fails),
	KUNIT_CASE(gone_at_each_operation),
	{}
};

static struct kunit_suite send_suite = {
	.name = "ib_mad_sends",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = send_cases,
};

kunit_test_suite(send_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("From post to done");
