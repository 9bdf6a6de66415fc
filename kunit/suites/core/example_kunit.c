// SPDX-License-Identifier: GPL-2.0-only
/*
 * The examples of docs/teardown.md, complete and run: a driver, a service, a client.
 *
 * What stands between "example:" and "end" is quoted there, line by line; tests/core/doc-examples
 * compares.  The tests below put the three together.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

/* example: driver */
struct toy_hca {
	bool running;
};

static int toy_start(struct ib_hca *hca)
{
	struct toy_hca *toy = hca->priv;

	toy->running = true;
	return 0;
}

static void toy_stop(struct ib_hca *hca)
{
	if (ib_hca_enter(hca))
		return;
	/* here the firmware is told to stop */
	ib_hca_exit(hca);
}

static void toy_abort(struct ib_hca *hca)
{
	/* here every wait for a command ends with -EIO */
}

static int toy_quiet(struct ib_hca *hca)
{
	struct toy_hca *toy = hca->priv;

	toy->running = false;
	return 0;
}

static int toy_reset(struct ib_hca *hca)
{
	return -ENODEV;
}

static void toy_release(struct ib_hca *hca, bool quiet)
{
	/* here memory goes back, but not what hardware that is not quiet knows of */
}

static const struct ib_hca_ops toy_hca_ops = {
	.owner = THIS_MODULE,
	.start = toy_start,
	.stop = toy_stop,
	.abort = toy_abort,
	.quiet = toy_quiet,
	.reset = toy_reset,
	.release = toy_release,
};

struct toy_device {
	struct ib_device ib;
	unsigned int lost;
};

static void toy_flush(struct ib_device *ib)
{
	container_of(ib, struct toy_device, ib)->lost++;
}

static void toy_device_stop(struct ib_device *ib)
{
	/* here events of the HCA are unsubscribed and their handlers waited for */
}

static const struct ib_device_ops toy_device_ops = {
	.owner = THIS_MODULE,
	.flush = toy_flush,
	.stop = toy_device_stop,
};

static struct ib_device *toy_create(struct ib_hca *hca, void *priv)
{
	struct toy_device *toy;

	toy = ib_device_alloc(hca, &toy_device_ops, "toy_%d", struct toy_device, ib);
	if (IS_ERR(toy))
		return ERR_CAST(toy);
	toy->ib.phys_port_cnt = 1;
	return &toy->ib;
}

static const struct ib_provider toy_provider = {
	.owner = THIS_MODULE,
	.name = "toy",
	.create = toy_create,
};

static struct ib_hca *toy_probe(struct device *parent)
{
	struct ib_hca *hca = ib_hca_alloc(parent, &toy_hca_ops, sizeof(struct toy_hca));
	int err;

	if (IS_ERR(hca))
		return hca;
	err = ib_hca_add(hca);
	if (!err)
		err = ib_provider_bind(hca, &toy_provider, NULL);
	if (!err)
		return hca;
	ib_hca_put(hca);
	return ERR_PTR(err);
}

static int toy_remove(struct ib_hca *hca)
{
	int err = ib_hca_remove(hca);

	ib_provider_unbind(hca);
	ib_hca_put(hca);
	return err;
}

/* end */

/* example: service */
struct echo {
	spinlock_t lock; /* protects the list */
	struct list_head agents;
};

struct echo_agent {
	struct ib_agent agent;
	struct list_head node;
	enum ib_cb_result (*reply)(void *context);
	void *context;
};

static int echo_start(struct ib_service_instance *instance)
{
	struct echo *echo = kzalloc(sizeof(*echo), GFP_KERNEL);

	if (!echo)
		return -ENOMEM;
	spin_lock_init(&echo->lock);
	INIT_LIST_HEAD(&echo->agents);
	instance->context = echo;
	return 0;
}

static void echo_stop(struct ib_service_instance *instance)
{
	kfree(instance->context);
}

static const struct ib_service_ops echo_ops = {
	.start = echo_start,
	.stop = echo_stop,
};

static struct ib_service echo_service = {
	.name = "echo",
	.owner = THIS_MODULE,
	.ops = &echo_ops,
};

static void echo_agent_undo(struct ib_agent *agent)
{
	struct echo_agent *ea = container_of(agent, struct echo_agent, agent);
	struct echo *echo = agent->instance->context;

	spin_lock_irq(&echo->lock);
	list_del(&ea->node);
	spin_unlock_irq(&echo->lock);
}

static void echo_agent_free(struct ib_agent *agent)
{
	kfree(container_of(agent, struct echo_agent, agent));
}

static const struct ib_agent_ops echo_agent_ops = {
	.what = "echo agent",
	.destroy = echo_agent_undo,
	.free = echo_agent_free,
};

static struct echo_agent *echo_listen(struct ib_attachment *attachment,
				      enum ib_cb_result (*reply)(void *context), void *context)
{
	struct ib_service_instance *instance = ib_service_enter(attachment, &echo_service);
	struct echo_agent *ea = ERR_PTR(-ENOMEM);
	struct echo *echo;
	int err;

	if (IS_ERR(instance))
		return ERR_CAST(instance);
	echo = instance->context;
	ea = kzalloc(sizeof(*ea), GFP_KERNEL);
	if (!ea)
		goto exit;
	ea->reply = reply;
	ea->context = context;
	spin_lock_irq(&echo->lock);
	err = ib_agent_init(&ea->agent, attachment, instance, &echo_agent_ops);
	if (!err)
		list_add(&ea->node, &echo->agents);
	spin_unlock_irq(&echo->lock);
	if (err) {
		kfree(ea);
		ea = ERR_PTR(err);
	}
exit:
	ib_service_exit(instance);
	return ea ?: ERR_PTR(-ENOMEM);
}

static int echo_shout(struct echo_agent *ea)
{
	int err = ib_agent_enter(&ea->agent);

	if (err)
		return err;
	if (ib_agent_begin(&ea->agent))
		ib_agent_end(&ea->agent, ea->reply(ea->context));
	ib_agent_exit(&ea->agent);
	return 0;
}

/* end */

/* example: client */
struct listener {
	struct echo_agent *ea;
	unsigned int heard;
};

static enum ib_cb_result listener_reply(void *context)
{
	struct listener *l = context;

	l->heard++;
	return IB_CB_DONE;
}

static int listener_add(struct ib_attachment *attachment)
{
	struct listener *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return -ENOMEM;
	l->ea = echo_listen(attachment, listener_reply, l);
	if (IS_ERR(l->ea)) {
		int err = PTR_ERR(l->ea);

		kfree(l);
		return err;
	}
	ib_attachment_set_context(attachment, l);
	return 0;
}

static void listener_remove(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct listener *l = ib_attachment_context(attachment);

	ib_agent_destroy(&l->ea->agent);
}

static void listener_free(void *context)
{
	kfree(context);
}

static struct ib_service *const listener_needs[] = { &echo_service, NULL };

static struct ib_client listener_client = {
	.name = "listener",
	.owner = THIS_MODULE,
	.needs = listener_needs,
	.add_one = listener_add,
	.remove_one = listener_remove,
	.free = listener_free,
};

/* end */

static void toy_undo(void *hca)
{
	toy_remove(hca);
}

static struct ib_hca *toy_up(struct kunit *test)
{
	struct ib_hca *hca = toy_probe(lr_test_device(test, "lr-example"));

	KUNIT_ASSERT_FALSE(test, IS_ERR(hca));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, toy_undo, hca), 0);
	return hca;
}

/* Names that two suites share must not clash, so nothing else may be up. */
static void example_driver(struct kunit *test)
{
	struct ib_hca *hca = toy_up(test);
	struct toy_hca *toy = hca->priv;

	KUNIT_EXPECT_TRUE(test, toy->running);
	KUNIT_EXPECT_EQ(test, (int)ib_device_state(hca->device), (int)IB_DEVICE_LIVE);
	KUNIT_ASSERT_EQ(test, ib_device_enter(hca->device), 0);
	ib_device_exit(hca->device);
	kunit_remove_action(test, toy_undo, hca);
	ib_hca_get(hca);
	KUNIT_EXPECT_EQ(test, toy_remove(hca), 0);
	KUNIT_EXPECT_FALSE(test, toy->running);
	ib_hca_put(hca);
}

static void service_undo(void *unused)
{
	ib_service_unregister(&echo_service);
}

static void client_undo(void *unused)
{
	ib_client_unregister(&listener_client);
}

static struct listener *find_listener(struct ib_hca *hca)
{
	struct ib_attachment *attachment;

	attachment = list_first_entry_or_null(&listener_client.attachments, struct ib_attachment,
					      client_node);
	return attachment ? ib_attachment_context(attachment) : NULL;
}

static void example_all_three(struct kunit *test)
{
	struct ib_hca *hca = toy_up(test);
	struct listener *l;

	KUNIT_ASSERT_EQ(test, ib_service_register(&echo_service), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, service_undo, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_client_register(&listener_client), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, client_undo, NULL), 0);
	l = find_listener(hca);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_EXPECT_EQ(test, echo_shout(l->ea), 0);
	KUNIT_EXPECT_EQ(test, l->heard, 1U);
	/* The client is added again after a loss of the hardware. */
	ib_hca_gone(hca, "the example says so");
	KUNIT_EXPECT_TRUE(test, LR_WAIT(hca->incarnations == 2 && hca->idle, 5000));
	l = find_listener(hca);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_EXPECT_EQ(test, l->heard, 0U);
	KUNIT_EXPECT_EQ(test, echo_shout(l->ea), 0);
	KUNIT_EXPECT_EQ(test, l->heard, 1U);
}

static struct kunit_case example_cases[] = {
	KUNIT_CASE(example_driver),
	KUNIT_CASE(example_all_three),
	{}
};

static struct kunit_suite example_suite = {
	.name = "ib_examples_of_the_documentation",
	LR_SUITE_HOOKS,
	.test_cases = example_cases,
};

kunit_test_suite(example_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The examples of docs/teardown.md");
