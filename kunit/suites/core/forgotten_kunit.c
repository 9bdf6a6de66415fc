// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a client forgets is found, named and ended; no callback comes after remove_one; late calls
 * of the owner are harmless. And what callbacks of agents may do.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

struct bench {
	struct fake_service *mad;
	struct fake_service *sa;
	struct fake_client *fc;
	struct fake_hca *hca;
};

static struct bench *bench_create(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	fake_mad_and_sa(test, &b->mad, &b->sa);
	b->fc = fake_client_create(test, "ipoib");
	fake_client_needs(b->fc, b->mad);
	fake_client_needs(b->fc, b->sa);
	b->hca = fake_hca_create(test, "lr-forgotten");
	KUNIT_ASSERT_EQ(test, fake_client_register(b->fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(b->hca), 0);
	KUNIT_ASSERT_EQ(test, atomic_read(&b->fc->adds), 1);
	return b;
}

static void forgotten_agents_are_reaped(struct kunit *test)
{
	struct bench *b = bench_create(test);

	b->fc->forgets = true;
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->destroyed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->sa->destroyed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->fc->frees), 1);
	/* The memory waits for the owner. */
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 0);
	KUNIT_EXPECT_EQ(test, fake_service_deliver(b->mad), 0U);
	fake_client_unregister(b->fc);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->sa->freed), 1);
}

static void forgotten_agent_destroyed_late(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_agent *fa = b->fc->context->agents[0];

	b->fc->forgets = true;
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->hca), 0);
	KUNIT_EXPECT_EQ(test, ib_agent_enter(&fa->agent), -ENODEV);
	KUNIT_EXPECT_FALSE(test, ib_agent_begin(&fa->agent));
	KUNIT_EXPECT_EQ(test, (int)fa->agent.state, (int)IB_AGENT_TOMBSTONE);
	ib_agent_destroy(&fa->agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->destroyed), 1);
	fake_client_unregister(b->fc);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 1);
}

/* Long after, when the HCA itself has gone too. */
static void forgotten_agent_outlives_hca(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_agent *fa = b->fc->context->agents[1];

	b->fc->forgets = true;
	KUNIT_EXPECT_EQ(test, fake_hca_remove(b->hca), 0);
	KUNIT_EXPECT_EQ(test, ib_agent_enter(&fa->agent), -ENODEV);
	ib_agent_destroy(&fa->agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->sa->freed), 1);
}

/* Created in an add_one that fails and does not clean up. */
static int careless_add(struct ib_attachment *attachment)
{
	struct fake_client *fc = container_of(attachment->client, struct fake_client, client);
	struct fake_agent *fa;

	fa = fake_agent_create(attachment, container_of(fc->needs[0], struct fake_service, service),
			       NULL, NULL);
	fc->data = IS_ERR(fa) ? NULL : fa;
	return -EPROTO;
}

static void forgotten_by_failed_add(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_client *fc = fake_client_create(test, "careless");

	fake_client_needs(fc, b->mad);
	fc->client.add_one = careless_add;
	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	KUNIT_EXPECT_NOT_NULL(test, fc->data);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->destroyed), 1);
	fake_client_unregister(fc);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->removes), 0);
}

/* After remove_one nothing can be created. */
static void forgotten_attachment_is_closed(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct ib_attachment *attachment = b->fc->context->attachment;
	struct ib_service_instance *instance;

	ib_attachment_get(attachment);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->hca), 0);
	instance = ib_service_enter(attachment, &b->mad->service);
	KUNIT_EXPECT_TRUE(test, IS_ERR(instance));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(instance), -ENODEV);
	ib_attachment_put(attachment);
}

/* ---- callbacks ---- */

struct slow {
	struct completion begun;
	struct completion go_on;
	bool over;
};

static enum ib_cb_result slow_callback(struct fake_agent *fa)
{
	struct slow *s = fa->context;

	complete(&s->begun);
	wait_for_completion(&s->go_on);
	WRITE_ONCE(s->over, true);
	return IB_CB_DONE;
}

static int run_deliver(void *fs)
{
	return fake_service_deliver(fs);
}

static struct fake_agent *extra_agent(struct kunit *test, struct bench *b,
				      enum ib_cb_result (*callback)(struct fake_agent *fa),
				      void *context)
{
	struct fake_agent *fa = fake_agent_create(b->fc->context->attachment, b->mad, callback,
						  context);

	KUNIT_ASSERT_FALSE(test, IS_ERR(fa));
	return fa;
}

/* A callback that runs is waited for before the context is freed. */
static void forgotten_callback_is_waited_for(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_flow deliver, unbind;
	struct slow s = {};

	init_completion(&s.begun);
	init_completion(&s.go_on);
	extra_agent(test, b, slow_callback, &s);
	fake_flow_start(&deliver, run_deliver, b->mad);
	wait_for_completion(&s.begun);
	fake_flow_start(&unbind, fake_run_unbind, b->hca);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&b->fc->removes) == 1, 1000));
	usleep_range(5000, 5001);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->fc->frees), 0);
	KUNIT_EXPECT_FALSE(test, completion_done(&unbind.done));
	complete(&s.go_on);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&unbind), 0);
	KUNIT_EXPECT_TRUE(test, s.over);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->fc->frees), 1);
	fake_flow_join(&deliver);
}

/* The owner's own destroy is the same fence. */
static int run_destroy(void *fa)
{
	ib_agent_destroy(&((struct fake_agent *)fa)->agent);
	return 0;
}

static void forgotten_destroy_waits_for_callback(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_flow deliver, destroy;
	struct fake_agent *fa;
	struct slow s = {};

	init_completion(&s.begun);
	init_completion(&s.go_on);
	fa = extra_agent(test, b, slow_callback, &s);
	fake_flow_start(&deliver, run_deliver, b->mad);
	wait_for_completion(&s.begun);
	fake_flow_start(&destroy, run_destroy, fa);
	usleep_range(5000, 5001);
	KUNIT_EXPECT_FALSE(test, completion_done(&destroy.done));
	complete(&s.go_on);
	fake_flow_join(&destroy);
	KUNIT_EXPECT_TRUE(test, s.over);
	fake_flow_join(&deliver);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 1);
}

/* ---- callbacks that outlast the device ---- */

/* A forgotten agent whose callback runs, of a client that does not return either.  On the stack. */
struct outlast {
	struct bench *b;
	struct fake_agent *fa;
	struct slow slow;
	struct fake_flow deliver;
	struct fake_flow unbind;
};

static void outlast_begin(struct kunit *test, struct outlast *o)
{
	o->b = bench_create(test);
	o->slow.over = false;
	init_completion(&o->slow.begun);
	init_completion(&o->slow.go_on);
	o->fa = extra_agent(test, o->b, slow_callback, &o->slow);
	o->b->fc->forgets = true;
	o->b->fc->stuck_in = "remove_one";
	fake_flow_start(&o->deliver, run_deliver, o->b->mad);
	wait_for_completion(&o->slow.begun);
	fake_flow_start(&o->unbind, fake_run_unbind, o->b->hca);
}

/* The device is given up in time; nothing of the service was undone under the callback. */
static void outlast_deadline(struct kunit *test, struct outlast *o)
{
	KUNIT_EXPECT_TRUE(test, fake_advance_to(o->b->hca, &o->unbind.done, 15500));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&o->unbind), -EBUSY);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&o->b->mad->stops), 0, "stopped under a callback");
	KUNIT_EXPECT_EQ(test, atomic_read(&o->b->mad->destroyed), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&o->b->sa->stops), 1);
	/* It is left behind: its stop will not come. */
	atomic_dec(&o->b->mad->up);
}

static void forgotten_callback_outlasts_device(struct kunit *test)
{
	struct fake_client *fc;
	struct outlast o;

	outlast_begin(test, &o);
	fc = o.b->fc;
	outlast_deadline(test, &o);
	KUNIT_EXPECT_FALSE(test, ib_agent_begin(&o.fa->agent));
	/* The client returns first: what the callback uses is there until that returns, too. */
	fc->stuck_in = NULL;
	complete_all(&fc->hold);
	usleep_range(5000, 5001);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->frees), 0);
	complete(&o.slow.go_on);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&fc->frees) == 1, 1000));
	KUNIT_EXPECT_TRUE(test, o.slow.over);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.b->mad->destroyed), 2);
	fake_flow_join(&o.deliver);
	fake_client_unregister(fc);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.b->mad->freed), 2);
}

/* The owner's destroy has met the thread at work, which then gives up. */
static void forgotten_destroy_outlasts_device(struct kunit *test)
{
	struct fake_flow destroy;
	struct outlast o;

	outlast_begin(test, &o);
	FAKE_PASS_UNTIL(o.b->hca, o.fa->agent.state == IB_AGENT_DYING, 250, 14500);
	KUNIT_ASSERT_EQ(test, (int)o.fa->agent.state, (int)IB_AGENT_DYING);
	fake_flow_start(&destroy, run_destroy, o.fa);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(o.fa->agent.owner_waits), 1000));
	outlast_deadline(test, &o);
	KUNIT_EXPECT_FALSE(test, completion_done(&destroy.done));
	complete(&o.slow.go_on);
	fake_flow_join(&destroy);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.b->mad->destroyed), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.b->mad->freed), 1);
	fake_flow_join(&o.deliver);
	complete_all(&o.b->fc->hold);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&o.b->fc->frees) == 1, 1000));
}

static enum ib_cb_result ending_callback(struct fake_agent *fa)
{
	return IB_CB_DESTROY;
}

/* A callback destroys its agent by its result; once, though two callbacks ask. */
static void forgotten_callback_destroys(struct kunit *test)
{
	struct bench *b = bench_create(test);

	extra_agent(test, b, ending_callback, NULL);
	KUNIT_EXPECT_EQ(test, fake_service_deliver(b->mad), 2U);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&b->mad->freed) == 1, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->destroyed), 1);
	KUNIT_EXPECT_EQ(test, fake_service_deliver(b->mad), 1U);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 2);
}

/* Delivery goes on all the time while the device comes and goes. */
static int run_flood(void *arg)
{
	struct bench *b = arg;
	int i, called = 0;

	for (i = 0; i < 300; i++) {
		called += fake_service_deliver(b->mad);
		called += fake_service_deliver(b->sa);
		usleep_range(100, 101);
	}
	return called;
}

static void forgotten_flood(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_flow flood;
	int i;

	fake_flow_start(&flood, run_flood, b);
	for (i = 0; i < 20; i++) {
		b->fc->forgets = i & 1;
		KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->hca), 0);
		KUNIT_ASSERT_EQ(test, fake_hca_bind(b->hca), 0);
	}
	KUNIT_EXPECT_GT(test, fake_flow_join(&flood), 0);
	fake_client_unregister(b->fc);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->destroyed), atomic_read(&b->mad->freed));
}

/* An agent of an upper service on a lower one, forgotten by the upper one's stop. */
static struct fake_agent *upper_agent;

static void upper_hook(struct fake_service *fs, struct ib_service_instance *instance,
		       const char *where)
{
	if (!strcmp(where, "start"))
		upper_agent = fake_agent_create(instance->attachment, fs->data, NULL, NULL);
}

static void forgotten_by_service(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_service *cm = fake_service_create(test, "cm", b->mad, NULL);

	cm->hook = upper_hook;
	cm->data = b->mad;
	KUNIT_ASSERT_EQ(test, fake_service_register(cm), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(upper_agent));
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->destroyed), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->stops), 1);
	fake_service_unregister(cm);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->freed), 2);
}

/* And its callback, code of that service, does not return: neither of the two is freed under it. */
static void forgotten_by_service_in_callback(struct kunit *test)
{
	struct bench *b = bench_create(test);
	struct fake_service *cm = fake_service_create(test, "cm", b->mad, NULL);
	struct fake_flow deliver, unbind;
	struct slow s = {};

	init_completion(&s.begun);
	init_completion(&s.go_on);
	cm->hook = upper_hook;
	cm->data = b->mad;
	KUNIT_ASSERT_EQ(test, fake_service_register(cm), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(upper_agent));
	upper_agent->context = &s;
	upper_agent->callback = slow_callback;
	fake_flow_start(&deliver, run_deliver, b->mad);
	wait_for_completion(&s.begun);
	fake_flow_start(&unbind, fake_run_unbind, b->hca);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(b->hca, &unbind.done, 15500));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&unbind), -EBUSY);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&cm->stops), 0, "stopped under its own callback");
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&b->mad->stops), 0, "stopped under a callback");
	KUNIT_EXPECT_EQ(test, atomic_read(&b->mad->destroyed), 1);
	complete(&s.go_on);
	fake_flow_join(&deliver);
	/* They are left behind: their stops will not come. */
	atomic_dec(&cm->up);
	atomic_dec(&b->mad->up);
}

static struct kunit_case forgotten_cases[] = {
	KUNIT_CASE(forgotten_agents_are_reaped),
	KUNIT_CASE(forgotten_agent_destroyed_late),
	KUNIT_CASE(forgotten_agent_outlives_hca),
	KUNIT_CASE(forgotten_by_failed_add),
	KUNIT_CASE(forgotten_attachment_is_closed),
	KUNIT_CASE(forgotten_callback_is_waited_for),
	KUNIT_CASE(forgotten_destroy_waits_for_callback),
	KUNIT_CASE(forgotten_callback_outlasts_device),
	KUNIT_CASE(forgotten_destroy_outlasts_device),
	KUNIT_CASE(forgotten_callback_destroys),
	KUNIT_CASE(forgotten_flood),
	KUNIT_CASE(forgotten_by_service),
	KUNIT_CASE(forgotten_by_service_in_callback),
	{}
};

static struct kunit_suite forgotten_suite = {
	.name = "ib_forgotten_agents_are_reaped",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = forgotten_cases,
};

kunit_test_suite(forgotten_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Forgotten agents and their callbacks");
