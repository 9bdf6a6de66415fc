// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events: in order, none lost before the device is ready or when too many come at
 * once, and no call after a subscription has ended.
 */
#include <linux/module.h>

#include "bench.h"

#define FLOOD 1000

struct heard {
	struct ib_event event[256];
	int count;
	struct completion *hold;
};

static void hear(struct ib_event_handler *handler, const struct ib_event *event)
{
	struct heard *heard = handler->context;

	if (heard->hold)
		wait_for_completion(heard->hold);
	if (heard->count < ARRAY_SIZE(heard->event))
		heard->event[heard->count] = *event;
	WRITE_ONCE(heard->count, heard->count + 1);
}

static struct heard *heard_create(struct kunit *test)
{
	struct heard *heard = kunit_kzalloc(test, sizeof(*heard), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, heard);
	return heard;
}

static void delivered_in_order(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-event");
	struct heard *first = heard_create(test), *second = heard_create(test);
	struct ib_event_handler *h1 = ib_event_subscribe(b->attachment, hear, first);
	struct ib_event_handler *h2 = ib_event_subscribe(b->attachment, hear, second);
	int i;

	for (i = 0; i < 100; i++)
		ib_event_raise(bench_device(b), i % 3 ? IB_EVENT_PORT_ERR : IB_EVENT_PORT_ACTIVE,
			       1 + i % 2);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(second->count) == 100, 10000));
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, first->event[i].port, 1 + i % 2);
		KUNIT_EXPECT_EQ(test, (int)second->event[i].type,
				(int)(i % 3 ? IB_EVENT_PORT_ERR : IB_EVENT_PORT_ACTIVE));
	}
	ib_event_unsubscribe(h1);
	ib_event_raise(bench_device(b), IB_EVENT_SM_CHANGE, 1);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(second->count) == 101, 10000));
	KUNIT_EXPECT_EQ(test, first->count, 100);
	ib_event_unsubscribe(h2);
}

/* More than the queue holds, while nobody can be told: what was merged still comes. */
static void flood_loses_no_kind_of_event(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-event");
	struct heard *heard = heard_create(test);
	DECLARE_COMPLETION_ONSTACK(hold);
	struct ib_event_handler *handler;
	bool sm = false, gid = false;
	int i;

	heard->hold = &hold;
	handler = ib_event_subscribe(b->attachment, hear, heard);
	for (i = 0; i < FLOOD; i++)
		ib_event_raise(bench_device(b), IB_EVENT_LID_CHANGE, 1);
	ib_event_raise(bench_device(b), IB_EVENT_GID_CHANGE, 2);
	ib_event_raise(bench_device(b), IB_EVENT_SM_CHANGE, 1);
	complete_all(&hold);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(heard->count && heard->event[heard->count - 1].port == 2,
					10000));
	KUNIT_EXPECT_LT(test, heard->count, 256);
	for (i = 0; i < heard->count && i < 256; i++) {
		sm |= heard->event[i].type == IB_EVENT_SM_CHANGE;
		gid |= heard->event[i].type == IB_EVENT_GID_CHANGE;
	}
	KUNIT_EXPECT_TRUE(test, sm);
	KUNIT_EXPECT_TRUE(test, gid);
	ib_event_unsubscribe(handler);
}

static struct heard *early;

static int subscribe_in_add(struct ib_attachment *attachment)
{
	struct ib_event_handler *handler = ib_event_subscribe(attachment, hear, early);

	if (IS_ERR(handler))
		return PTR_ERR(handler);
	ib_attachment_set_context(attachment, handler);
	/* Between the registration of the client and LIVE. */
	ib_event_raise(attachment->device, IB_EVENT_PORT_ACTIVE, 1);
	ib_event_raise(attachment->device, IB_EVENT_LID_CHANGE, 2);
	return 0;
}

static void unsubscribe_in_remove(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	ib_event_unsubscribe(ib_attachment_context(attachment));
}

/* One that comes while the ports are read: what was read may be old already. */
static void raise_at_port_query(struct vfake *vf, enum vfake_op op)
{
	struct fake_hca *fake = vf->data;

	if (op == VFAKE_QUERY_PKEYS && fake->hca->device &&
	    ib_device_state(fake->hca->device) == IB_DEVICE_REGISTERING)
		ib_event_raise(fake->hca->device, IB_EVENT_PKEY_CHANGE, 1);
}

static void queued_until_ready(struct kunit *test)
{
	struct bench *b = bench_create(test, "lr-event");
	struct ib_client client = {
		.name = "early",
		.owner = THIS_MODULE,
		.add_one = subscribe_in_add,
		.remove_one = unsubscribe_in_remove,
	};

	early = heard_create(test);
	b->vf.hook = raise_at_port_query;
	b->vf.data = b->fake;
	KUNIT_ASSERT_EQ(test, ib_client_register(&client), 0);
	bench_bind(b);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(early->count) == 4, 10000));
	/* Two while the ports were read, then the two of the client, in that order. */
	KUNIT_EXPECT_EQ(test, (int)early->event[0].type, (int)IB_EVENT_PKEY_CHANGE);
	KUNIT_EXPECT_EQ(test, (int)early->event[1].type, (int)IB_EVENT_PKEY_CHANGE);
	KUNIT_EXPECT_EQ(test, (int)early->event[2].type, (int)IB_EVENT_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, (int)early->event[3].type, (int)IB_EVENT_LID_CHANGE);
	b->vf.hook = NULL;
	ib_client_unregister(&client);
}

static int run_unsubscribe(void *handler)
{
	ib_event_unsubscribe(handler);
	return 0;
}

static void unsubscribing_waits_for_the_call(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-event");
	struct heard *heard = heard_create(test);
	DECLARE_COMPLETION_ONSTACK(hold);
	struct ib_event_handler *handler;
	struct fake_flow flow;

	heard->hold = &hold;
	handler = ib_event_subscribe(b->attachment, hear, heard);
	ib_event_raise(bench_device(b), IB_EVENT_SM_CHANGE, 1);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&handler->object.running) == 1, 10000));
	fake_flow_start(&flow, run_unsubscribe, handler);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&flow.done, 2), 0UL);
	complete_all(&hold);
	fake_flow_join(&flow);
	KUNIT_EXPECT_EQ(test, heard->count, 1);
	ib_event_raise(bench_device(b), IB_EVENT_SM_CHANGE, 1);
}

static void forgotten_subscription_is_reaped(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-event");
	struct ib_device *device = bench_device(b);
	struct heard *heard = heard_create(test);
	struct ib_event_handler *handler = ib_event_subscribe(b->attachment, hear, heard);

	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	ib_event_raise(device, IB_EVENT_SM_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, heard->count, 0);
	KUNIT_EXPECT_EQ(test, (int)handler->object.state, (int)IB_OBJECT_TOMBSTONE);
	ib_event_unsubscribe(handler);
}

static void events_of_objects_and_ports_do_not_mix(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-event");
	struct heard *heard = heard_create(test);
	struct ib_event_handler *handler = ib_event_subscribe(b->attachment, hear, heard);

	ib_event_raise(bench_device(b), IB_EVENT_QP_FATAL, 1);
	ib_event_raise(bench_device(b), IB_EVENT_LID_CHANGE, 3);
	ib_event_raise(bench_device(b), IB_EVENT_DEVICE_FATAL, 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(heard->count) == 1, 10000));
	KUNIT_EXPECT_EQ(test, (int)heard->event[0].type, (int)IB_EVENT_DEVICE_FATAL);
	ib_event_unsubscribe(handler);
}

static int qp_events;

static void count_qp_event(struct ib_qp *qp, enum ib_event_type type)
{
	qp_events++;
}

static void fatal_event_moves_the_qp_to_err(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-event");
	struct bench_objects o;

	bench_make_all(b, &o);
	KUNIT_ASSERT_EQ(test, bench_to_rts(o.qp), 0);
	qp_events = 0;
	o.qp->event = count_qp_event;
	ib_qp_event(o.qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, (int)o.qp->known.state, (int)IB_QPS_RTS);
	ib_qp_event(o.qp, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, (int)o.qp->known.state, (int)IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, qp_events, 2);
	bench_destroy_all(&o);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(delivered_in_order),
	KUNIT_CASE(flood_loses_no_kind_of_event),
	KUNIT_CASE(queued_until_ready),
	KUNIT_CASE(unsubscribing_waits_for_the_call),
	KUNIT_CASE(forgotten_subscription_is_reaped),
	KUNIT_CASE(events_of_objects_and_ports_do_not_mix),
	KUNIT_CASE(fatal_event_moves_the_qp_to_err),
	{}
};

static struct kunit_suite event_suite = {
	.name = "event",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of asynchronous events");
