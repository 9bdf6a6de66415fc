// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMPs: directed routes at both ends, what the device answers itself, and the events that follow
 * from what an SM sets.
 */
#include <linux/module.h>

#include "mad_bench.h"

/* ---- directed routes ---- */

/* Where an SMP is expected to end up. */
enum end { DROPPED, WIRE, DEVICE, AGENT };

/**
 * struct route - an SMP and what becomes of it
 * @count: hop count
 * @pointer: hop pointer
 * @back: bit D
 * @by_lid: DrSLID (out) or DrDLID (back) is a LID
 * @far_by_lid: the other one is
 * @port: in the entry of the path that is looked at; 0: ours
 * @end: where it goes
 * @moved: the hop pointer then
 */
struct route {
	u8 count;
	u8 pointer;
	bool back;
	bool by_lid;
	bool far_by_lid;
	u8 port;
	enum end end;
	u8 moved;
};

static const struct route sent[] = {
	{ .count = 2, .pointer = 0, .end = WIRE, .moved = 1 },
	{ .count = 2, .pointer = 0, .port = 2, .end = DROPPED },
	{ .count = 63, .pointer = 0, .end = WIRE, .moved = 1 },
	{ .count = 64, .pointer = 0, .end = DROPPED },
	{ .count = 255, .pointer = 0, .end = DROPPED },
	{ .count = 0, .pointer = 0, .end = DEVICE, .moved = 1 },
	{ .count = 0, .pointer = 0, .far_by_lid = true, .end = DROPPED },
	{ .count = 2, .pointer = 2, .end = DEVICE, .moved = 3 },
	{ .count = 2, .pointer = 3, .end = DEVICE, .moved = 3 },
	{ .count = 0, .pointer = 1, .end = DEVICE, .moved = 1 },
	{ .count = 2, .pointer = 1, .end = DROPPED },
	{ .count = 2, .pointer = 4, .end = DROPPED },
	{ .count = 2, .pointer = 1, .by_lid = true, .end = WIRE, .moved = 1 },
	{ .back = true, .count = 2, .pointer = 3, .end = WIRE, .moved = 2 },
	{ .back = true, .count = 2, .pointer = 3, .port = 2, .end = DROPPED },
	{ .back = true, .count = 2, .pointer = 2, .end = DROPPED },
	{ .back = true, .count = 2, .pointer = 1, .far_by_lid = true, .end = DROPPED },
	{ .back = true, .count = 2, .pointer = 2, .by_lid = true, .end = WIRE, .moved = 2 },
	{ .back = true, .count = 2, .pointer = 1, .end = AGENT },
	{ .back = true, .count = 0, .pointer = 0, .end = AGENT },
};

static const struct route received[] = {
	{ .count = 2, .pointer = 0, .end = DROPPED },
	{ .count = 2, .pointer = 1, .end = DROPPED },
	{ .count = 2, .pointer = 4, .end = DROPPED },
	{ .count = 64, .pointer = 64, .end = DROPPED },
	{ .count = 2, .pointer = 2, .end = DEVICE, .moved = 3 },
	{ .count = 2, .pointer = 2, .far_by_lid = true, .end = DROPPED },
	{ .count = 2, .pointer = 3, .end = DEVICE, .moved = 3 },
	{ .count = 0, .pointer = 0, .end = DEVICE, .moved = 1 },
	{ .back = true, .count = 2, .pointer = 1, .end = AGENT },
	{ .back = true, .count = 2, .pointer = 0, .end = AGENT },
	{ .back = true, .count = 2, .pointer = 3, .end = AGENT },
	{ .back = true, .count = 2, .pointer = 3, .port = 2, .end = DROPPED },
	{ .back = true, .count = 2, .pointer = 2, .end = DROPPED },
	{ .back = true, .count = 2, .pointer = 1, .far_by_lid = true, .end = DROPPED },
};

static void write_route(u8 *mad, const struct route *r, u64 tid)
{
	struct mad_head head = {
		.class = IB_CLASS_SMP_DR,
		.method = r->back ? IB_METHOD_GET_RESP : IB_METHOD_GET,
		.attribute = IB_ATTR_NODE_INFO,
		.tid = tid,
	};
	u8 port = r->port ?: 1;

	mad_write_head(mad, &head);
	ib_put(mad, IB_SMP_D, r->back);
	ib_put(mad, IB_SMP_HOP_COUNT, r->count);
	ib_put(mad, IB_SMP_HOP_POINTER, r->pointer);
	ib_put(mad, r->back ? IB_SMP_DR_DLID : IB_SMP_DR_SLID, r->by_lid ? 5 : IB_LID_PERMISSIVE);
	ib_put(mad, r->back ? IB_SMP_DR_SLID : IB_SMP_DR_DLID,
	       r->far_by_lid ? 5 : IB_LID_PERMISSIVE);
	mad[IB_SMP_INITIAL_PATH + 1] = port;
	if (r->count && r->count < IB_SMP_HOPS)
		mad[IB_SMP_RETURN_PATH + r->count] = port;
}

/* What the device was asked last. */
static u8 asked[IB_MAD_SIZE];

static enum ib_mad_result take_note(struct vfake *vf, const struct ib_mad_request *request,
				    u8 *answer)
{
	memcpy(asked, request->mad, sizeof(asked));
	return IB_MAD_CONSUMED;
}

static void send_route(struct mad_bench *mb, struct ib_mad_agent *agent, unsigned int i)
{
	const struct route *r = &sent[i];
	struct mad_head head = { .class = IB_CLASS_SMP_DR };
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);
	int asks = vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD);
	int err, before = atomic_read(&mb->done);
	struct vfake_mad *m;

	send->to.lid = IB_LID_PERMISSIVE;
	write_route(send->mad, r, 7);
	err = mad_post(mb, send);
	KUNIT_EXPECT_EQ_MSG(mb->test, err, r->end == DROPPED ? -EINVAL : 0, "route %u", i);
	if (err)
		ib_mad_send_free(send);
	else
		KUNIT_EXPECT_TRUE(mb->test, LR_WAIT(atomic_read(&mb->done) == before + 1, 1000));
	mad_settle();
	m = vfake_take(&mb->b->vf);
	KUNIT_EXPECT_EQ_MSG(mb->test, !!m, r->end == WIRE, "route %u", i);
	if (m)
		KUNIT_EXPECT_EQ_MSG(mb->test, ib_get(m->mad, IB_SMP_HOP_POINTER), r->moved,
				    "route %u", i);
	kfree(m);
	KUNIT_EXPECT_EQ_MSG(mb->test, vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD) - asks,
			    r->end == DEVICE, "route %u", i);
	if (r->end == DEVICE)
		KUNIT_EXPECT_EQ_MSG(mb->test, ib_get(asked, IB_SMP_HOP_POINTER), r->moved,
				    "route %u", i);
}

static void routes_begin_here(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 0, IB_CLASS_SMP_DR);
	unsigned int i;

	mb->b->vf.local = take_note;
	for (i = 0; i < ARRAY_SIZE(sent); i++)
		send_route(mb, agent, i);
	ib_mad_agent_destroy(agent);
}

static void receive_route(struct mad_bench *mb, struct ib_mad_agent *agent, unsigned int i)
{
	const struct route *r = &received[i];
	int asks = vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD);
	int answered = atomic_read(&mb->answered);
	u8 mad[IB_MAD_SIZE] = {};
	struct ib_mad_send *send;
	u64 id;

	/* One that waits, for the answers. */
	send = mad_request(mb, agent, 1000, 0);
	id = send->id;
	write_route(mad, r, ib_get(send->mad, IB_MAD_TID));
	mad_settle();
	mad_arrive(mb, 0, mad);
	mad_settle();
	KUNIT_EXPECT_EQ_MSG(mb->test, vfake_calls(&mb->b->vf, VFAKE_PROCESS_MAD) - asks,
			    r->end == DEVICE, "route %u", i);
	KUNIT_EXPECT_EQ_MSG(mb->test, atomic_read(&mb->answered) - answered, r->end == AGENT,
			    "route %u", i);
	if (r->end == DEVICE) {
		KUNIT_EXPECT_EQ_MSG(mb->test, ib_get(asked, IB_SMP_HOP_POINTER), r->moved,
				    "route %u", i);
		if (r->count && r->pointer == r->count)
			KUNIT_EXPECT_EQ(mb->test, asked[IB_SMP_RETURN_PATH + r->count], 1);
	}
	ib_mad_cancel(agent, id);
	vfake_wire_clear(&mb->b->vf);
}

/* The requests that wait for these answers go by LID, but the class is that of the answers. */
static void routes_end_here(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 0, IB_CLASS_SMP_DR);
	unsigned int i;

	mb->b->vf.local = take_note;
	for (i = 0; i < ARRAY_SIZE(received); i++)
		receive_route(mb, agent, i);
	ib_mad_agent_destroy(agent);
}

/* ---- the device answers ---- */

static enum ib_mad_result answer_smp(struct vfake *vf, const struct ib_mad_request *request,
				     u8 *answer)
{
	const u8 *mad = request->mad;

	if (ib_get(mad, IB_MAD_ATTRIBUTE) == IB_ATTR_SM_INFO)
		return IB_MAD_NOTHING;
	memcpy(answer, mad, IB_MAD_SIZE);
	ib_put(answer, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	if (ib_get(mad, IB_MAD_CLASS) == IB_CLASS_SMP_DR)
		ib_put(answer, IB_SMP_D, 1);
	return IB_MAD_ANSWERED;
}

/* Hop count 0: to the port itself. */
static struct ib_mad_send *local_new(struct mad_bench *mb, struct ib_mad_agent *agent, u8 method,
				     u16 attribute)
{
	struct route r = {};
	struct mad_head head = { .class = IB_CLASS_SMP_DR };
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);

	write_route(send->mad, &r, ib_mad_tid(agent));
	ib_put(send->mad, IB_MAD_METHOD, method);
	ib_put(send->mad, IB_MAD_ATTRIBUTE, attribute);
	send->to.lid = IB_LID_PERMISSIVE;
	send->timeout_ms = 1000;
	return send;
}

static void the_port_itself_answers(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 0, IB_CLASS_SMP_DR);

	mb->b->vf.local = answer_smp;
	KUNIT_ASSERT_EQ(test, mad_post(mb, local_new(mb, agent, IB_METHOD_GET,
						     IB_ATTR_NODE_INFO)), 0);
	KUNIT_ASSERT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == 1, 1000));
	KUNIT_EXPECT_EQ(test, mb->message->from.lid, IB_LID_PERMISSIVE);
	KUNIT_EXPECT_EQ(test, mb->message->from.qpn, 0U);
	KUNIT_EXPECT_EQ(test, ib_get(mb->message->mad, IB_SMP_HOP_POINTER), 0U);
	KUNIT_EXPECT_EQ(test, ib_get(mb->message->mad, IB_SMP_D), 1U);
	KUNIT_EXPECT_EQ(test, mb->b->vf.sent, 0U);
	ib_mad_agent_destroy(agent);
}

/* SMInfo is an agent's, and an agent here may ask another here. */
static void an_agent_here_answers(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *server = mad_agent_simple(mb, 0, IB_CLASS_SMP_DR);
	struct ib_mad_agent *client = mad_agent_simple(mb, 0, 0);

	mb->b->vf.local = answer_smp;
	mb->serve = true;
	KUNIT_ASSERT_EQ(test, mad_post(mb, local_new(mb, client, IB_METHOD_GET,
						     IB_ATTR_SM_INFO)), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->answered) == 1, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->received), 1);
	KUNIT_EXPECT_EQ(test, ib_get(mb->message->mad, IB_MAD_METHOD), IB_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, mb->b->vf.sent, 0U);
	ib_mad_agent_destroy(server);
	/* Without a server the question is not answered, and ends. */
	KUNIT_ASSERT_EQ(test, mad_post(mb, local_new(mb, client, IB_METHOD_GET,
						     IB_ATTR_SM_INFO)), 0);
	mad_settle();
	fake_advance(mb->b->fake, 1000);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->timed_out) == 1, 1000));
	ib_mad_agent_destroy(client);
}

static void the_device_answers_the_wire(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct route r = { .count = 2, .pointer = 2 };
	u8 mad[IB_MAD_SIZE] = {};
	struct vfake_mad *m;

	mb->b->vf.local = answer_smp;
	write_route(mad, &r, 99);
	mad_arrive(mb, 0, mad);
	mad_settle();
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, ib_get(m->mad, IB_SMP_HOP_POINTER), 2U);
	KUNIT_EXPECT_EQ(test, ib_get(m->mad, IB_MAD_STATUS), IB_STATUS_SMP_D);
	KUNIT_EXPECT_EQ(test, m->qkey, 0U);
	KUNIT_EXPECT_EQ(test, m->to.dlid, MAD_PEER_LID);
	kfree(m);
}

/* A trap of the device's own goes to the SM. */
static void a_trap_goes_to_the_sm(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct mad_head head = { .class = IB_CLASS_SMP, .method = IB_METHOD_TRAP, .tid = 3 };
	struct ib_wc wc = { .port = 1 };
	u8 mad[IB_MAD_SIZE] = {};
	struct vfake_mad *m;

	mad_write_head(mad, &head);
	KUNIT_ASSERT_TRUE(test, vfake_deliver(&mb->b->vf, &wc, 0, mad));
	mad_settle();
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, m->to.dlid, mb->b->vf.port[0].sm_lid);
	KUNIT_EXPECT_EQ(test, m->dqpn, 0U);
	KUNIT_EXPECT_EQ(test, ib_get(m->mad, IB_MAD_TID), 3U);
	kfree(m);
}

/* ---- events ---- */

struct events {
	atomic_t seen[IB_EVENT_TYPES];
	u16 lid;
};

static void note_event(struct ib_event_handler *handler, const struct ib_event *event)
{
	struct events *e = handler->context;
	struct ib_port_attr attr;

	if (!ib_port_cached(ib_object_device(&handler->object), 1, &attr))
		e->lid = attr.lid;
	if (event->port == 1)
		atomic_inc(&e->seen[event->type]);
}

/* An SMA: what is set becomes so. */
static enum ib_mad_result set_port(struct vfake *vf, const struct ib_mad_request *request,
				   u8 *answer)
{
	const u8 *mad = request->mad;

	answer_smp(vf, request, answer);
	if (ib_get(mad, IB_MAD_ATTRIBUTE) == IB_ATTR_PORT_INFO) {
		vf->port[0].lid = ib_get(mad, IB_PORT_INFO_LID);
		vf->port[0].sm_lid = ib_get(mad, IB_PORT_INFO_SM_LID);
	}
	if (ib_get(mad, IB_SMP_MKEY))
		ib_put(answer, IB_MAD_STATUS, IB_STATUS_SMP_D | IB_STATUS_BAD_VALUE);
	return IB_MAD_ANSWERED;
}

static void expect_events(struct mad_bench *mb, struct events *e, struct ib_mad_send *send,
			  int lid, int sm, int gid, int pkey, int again)
{
	int expected[] = { lid, sm, gid, pkey, again }, i;
	enum ib_event_type types[] = {
		IB_EVENT_LID_CHANGE, IB_EVENT_SM_CHANGE, IB_EVENT_GID_CHANGE,
		IB_EVENT_PKEY_CHANGE, IB_EVENT_CLIENT_REREGISTER,
	};
	int before = atomic_read(&mb->answered);

	memset(e, 0, sizeof(*e));
	KUNIT_ASSERT_EQ(mb->test, mad_post(mb, send), 0);
	KUNIT_EXPECT_TRUE(mb->test, LR_WAIT(atomic_read(&mb->answered) == before + 1, 1000));
	mad_settle();
	for (i = 0; i < ARRAY_SIZE(types); i++)
		KUNIT_EXPECT_EQ_MSG(mb->test, atomic_read(&e->seen[types[i]]), expected[i], "%s",
				    ib_event_name(types[i]));
}

static struct ib_mad_send *set_info(struct mad_bench *mb, struct ib_mad_agent *agent, u16 lid,
				    u16 sm_lid)
{
	struct ib_mad_send *send = local_new(mb, agent, IB_METHOD_SET, IB_ATTR_PORT_INFO);

	ib_put(send->mad, IB_PORT_INFO_PREFIX, IB_GID_DEFAULT_PREFIX);
	ib_put(send->mad, IB_PORT_INFO_LID, lid);
	ib_put(send->mad, IB_PORT_INFO_SM_LID, sm_lid);
	return send;
}

static void what_an_sm_sets_is_told(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 0, 0);
	struct ib_event_handler *handler;
	struct ib_mad_send *send;
	struct events e = {};

	mb->b->vf.local = set_port;
	handler = ib_event_subscribe(mb->b->attachment, note_event, &e);
	KUNIT_ASSERT_FALSE(test, IS_ERR(handler));
	expect_events(mb, &e, set_info(mb, agent, 0x11, 1), 0, 0, 0, 0, 0);
	expect_events(mb, &e, set_info(mb, agent, 0x44, 1), 1, 0, 0, 0, 0);
	/* The cache had been refreshed before anybody heard. */
	KUNIT_EXPECT_EQ(test, e.lid, 0x44);
	expect_events(mb, &e, set_info(mb, agent, 0x44, 1), 0, 0, 0, 0, 0);
	expect_events(mb, &e, set_info(mb, agent, 0x44, 2), 0, 1, 0, 0, 0);
	send = set_info(mb, agent, 0x44, 2);
	ib_put(send->mad, IB_PORT_INFO_REREGISTER, 1);
	expect_events(mb, &e, send, 0, 0, 0, 0, 1);
	send = set_info(mb, agent, 0x44, 2);
	ib_put(send->mad, IB_PORT_INFO_PREFIX, 0xfec0000000000000ULL);
	expect_events(mb, &e, send, 0, 0, 1, 0, 0);
	/* What is refused changes nothing; what is asked neither. */
	send = set_info(mb, agent, 0x55, 3);
	ib_put(send->mad, IB_SMP_MKEY, 1);
	expect_events(mb, &e, send, 0, 0, 0, 0, 0);
	send = set_info(mb, agent, 0x55, 3);
	ib_put(send->mad, IB_MAD_METHOD, IB_METHOD_GET);
	expect_events(mb, &e, send, 0, 0, 0, 0, 0);
	send = local_new(mb, agent, IB_METHOD_SET, IB_ATTR_PKEY_TABLE);
	expect_events(mb, &e, send, 0, 0, 0, 1, 0);
	send = local_new(mb, agent, IB_METHOD_SET, IB_ATTR_GUID_INFO);
	expect_events(mb, &e, send, 0, 0, 1, 0, 0);
	/* Where the firmware tells, nobody tells twice. */
	bench_device(mb->b)->raises_port_events = true;
	send = local_new(mb, agent, IB_METHOD_SET, IB_ATTR_GUID_INFO);
	expect_events(mb, &e, send, 0, 0, 0, 0, 0);
	ib_event_unsubscribe(handler);
	ib_mad_agent_destroy(agent);
}

/* The device is asked under no lock: others go on meanwhile, and a cancel does. */
static struct completion in_device, let_go;

static enum ib_mad_result answer_late(struct vfake *vf, const struct ib_mad_request *request,
				      u8 *answer)
{
	complete(&in_device);
	wait_for_completion(&let_go);
	return answer_smp(vf, request, answer);
}

static void a_slow_device_holds_nobody(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 0, 0);
	struct ib_mad_agent *other = mad_agent_simple(mb, 1, 0);
	struct ib_mad_send *send;

	init_completion(&in_device);
	init_completion(&let_go);
	mb->b->vf.local = answer_late;
	send = local_new(mb, agent, IB_METHOD_GET, IB_ATTR_NODE_INFO);
	KUNIT_ASSERT_EQ(test, mad_post(mb, send), 0);
	wait_for_completion(&in_device);
	/* Others send, agents come and go, and the asker himself may leave. */
	mad_request(mb, other, 0, 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(mb->b->vf.sent) == 1, 1000));
	ib_mad_agent_destroy(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->canceled), 1);
	complete(&let_go);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mb->ok) == 1, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->answered), 0);
	ib_mad_agent_destroy(other);
}

static struct kunit_case local_cases[] = {
	KUNIT_CASE(routes_begin_here),
	KUNIT_CASE(routes_end_here),
	KUNIT_CASE(the_port_itself_answers),
	KUNIT_CASE(an_agent_here_answers),
	KUNIT_CASE(the_device_answers_the_wire),
	KUNIT_CASE(a_trap_goes_to_the_sm),
	KUNIT_CASE(what_an_sm_sets_is_told),
	KUNIT_CASE(a_slow_device_holds_nobody),
	{}
};

static struct kunit_suite local_suite = {
	.name = "ib_mad_smps",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = local_cases,
};

kunit_test_suite(local_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Directed routes and what the device answers");
