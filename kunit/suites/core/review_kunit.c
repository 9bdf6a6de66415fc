// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interleavings that a reading of the framework against the model (model/teardown.pml) asked about.
 *
 * Each case holds one party still at the one place where it hurts, lets the others go on, and looks
 * at what they did meanwhile.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "fake.h"

/* Long enough for the others to go as far as they can, RCU grace periods included. */
#define REVIEW_LOOK_MS 200

/* Wait a while of real time for something that needs no clock of ours. */
static bool review_soon(bool (*cond)(void *arg), void *arg)
{
	int i;

	for (i = 0; i < 500 && !cond(arg); i++)
		usleep_range(1000, 1001);
	return cond(arg);
}

/* ---- a work item that is asked to go while it runs ---- */

static int review_run_bind(void *arg)
{
	return fake_hca_bind(arg);
}

static void review_item_asked(struct kunit *test, const char *stuck_in)
{
	struct fake_client *fc = fake_client_create(test, "slow");
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct fake_flow flow;

	fc->stuck_in = stuck_in;
	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_add(fake), 0);
	fake_flow_start(&flow, review_run_bind, fake);
	KUNIT_ASSERT_TRUE(test, fake_advance_to(fake, &flow.done, 10000));
	KUNIT_ASSERT_EQ(test, fake_flow_join(&flow), 0);
	/* Asked several times, and at last left behind: the item owns what is left of the pair. */
	fake_flow_start(&flow, fake_run_remove, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 20000));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), -EBUSY);
	complete_all(&fc->hold);
	fake_client_unregister(fc);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->removes), atomic_read(&fc->adds));
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->frees), atomic_read(&fc->adds));
}

static void review_item_asked_in_add_one(struct kunit *test)
{
	review_item_asked(test, "add_one");
}

static void review_item_asked_in_closing(struct kunit *test)
{
	review_item_asked(test, "closing");
}

static bool review_is_asked(void *arg)
{
	struct fake_hca *fake = arg;
	struct ib_attachment *attachment;
	bool asked = false;

	spin_lock_irq(&fake->hca->lock);
	if (fake->hca->device)
		list_for_each_entry(attachment, &fake->hca->device->attachments, device_node)
			asked |= attachment->want_remove;
	spin_unlock_irq(&fake->hca->lock);
	return asked;
}

/* As rmmod does it: what holds the client up stays. */
static int review_run_rmmod(void *arg)
{
	struct fake_client *fc = arg;

	fc->registered = false;
	ib_client_unregister(&fc->client);
	return 0;
}

/* The device and the client's module ask for the same pair while its closing still runs. */
static void review_item_asked_by_two(struct kunit *test)
{
	struct fake_client *fc = fake_client_create(test, "slow");
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct fake_flow unbind, rmmod;

	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	fc->stuck_in = "closing";
	fake_flow_start(&unbind, fake_run_unbind, fake);
	fake_flow_start(&rmmod, review_run_rmmod, fc);
	KUNIT_EXPECT_TRUE(test, review_soon(review_is_asked, fake));
	complete_all(&fc->hold);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &rmmod.done, 20000));
	fake_flow_join(&rmmod);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &unbind.done, 20000));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&unbind), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->removes), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->frees), 1);
}

/* ---- what carries a client's name ends before its module may go ---- */

struct review_pair {
	struct ib_attachment *attachment;
	bool early;
};

static bool review_is_removed(struct review_pair *pair)
{
	struct ib_hca *hca = pair->attachment->device->hca;
	bool removed;

	spin_lock_irq(&hca->lock);
	removed = pair->attachment->state == IB_ATTACHMENT_REMOVED;
	if (removed)
		pair->early = pair->attachment->holder.device;
	spin_unlock_irq(&hca->lock);
	return removed;
}

/*
 * What ib_client_unregister() waits for, and what it may conclude; ahead of everybody else, so that
 * it runs at the very moment when the lock is given back.
 */
static int review_run_watch(void *arg)
{
	struct review_pair *pair = arg;

	sched_set_fifo(current);
	wait_event(pair->attachment->device->hca->wait, review_is_removed(pair));
	sched_set_normal(current, 0);
	return 0;
}

/* The name is freed with the module, so KASAN looks as well. */
static void review_holder_ends_with_its_client(struct kunit *test)
{
	char *name = kstrdup("leaving", GFP_KERNEL);
	struct fake_client *fc = fake_client_create(test, name);
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct review_pair pair = {};
	struct fake_flow watch;

	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	pair.attachment = fc->context->attachment;
	ib_attachment_get(pair.attachment);
	fake_flow_start(&watch, review_run_watch, &pair);
	fake_settle(fake);
	fake_client_unregister(fc);
	kfree(name);
	fake_flow_join(&watch);
	KUNIT_EXPECT_FALSE_MSG(test, pair.early, "the device is held in the name of a client gone");
	KUNIT_EXPECT_STREQ(test, pair.attachment->name, "leaving");
	ib_attachment_put(pair.attachment);
}

/* ---- the last memory reference is dropped by an item of the device's own queue ---- */

struct slow_agent {
	struct ib_agent agent;
	struct completion *freeing;
	struct completion *go;
};

static void slow_agent_destroy(struct ib_agent *agent)
{
}

static void slow_agent_free(struct ib_agent *agent)
{
	struct slow_agent *slow = container_of(agent, struct slow_agent, agent);

	complete(slow->freeing);
	wait_for_completion(slow->go);
	kfree(slow);
}

static const struct ib_agent_ops slow_agent_ops = {
	.what = "slow agent",
	.destroy = slow_agent_destroy,
	.free = slow_agent_free,
};

static struct slow_agent *slow_agent_create(struct kunit *test, struct fake_client *fc,
					    struct fake_service *fs)
{
	struct ib_attachment *attachment = fc->context->attachment;
	struct ib_service_instance *instance = ib_service_enter(attachment, &fs->service);
	struct slow_agent *slow = kzalloc(sizeof(*slow), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, slow);
	KUNIT_ASSERT_FALSE(test, IS_ERR(instance));
	KUNIT_EXPECT_EQ(test, ib_agent_init(&slow->agent, attachment, instance, &slow_agent_ops),
			0);
	ib_service_exit(instance);
	return slow;
}

struct review_refs {
	struct ib_hca *hca;
	unsigned int wanted;
};

static bool review_refs_back(void *arg)
{
	struct review_refs *refs = arg;

	return kref_read(&refs->hca->ref) == refs->wanted;
}

/*
 * An agent that destroyed itself is freed by an item, in code of its service.  Nobody finds the
 * agent any more, but its service stays until that code has returned, and the device's memory ends
 * with the item.
 */
static void review_free_is_inside_the_service(struct kunit *test)
{
	struct fake_service *mad = fake_service_create(test, "mad", NULL, NULL);
	struct fake_client *fc = fake_client_create(test, "umad");
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	DECLARE_COMPLETION_ONSTACK(freeing);
	DECLARE_COMPLETION_ONSTACK(go);
	struct review_refs refs;
	struct slow_agent *slow;
	struct fake_flow flow;

	fake_client_needs(fc, mad);
	KUNIT_ASSERT_EQ(test, fake_service_register(mad), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_add(fake), 0);
	refs.hca = fake->hca;
	refs.wanted = kref_read(&fake->hca->ref);
	KUNIT_ASSERT_EQ(test, fake_hca_bind(fake), 0);
	slow = slow_agent_create(test, fc, mad);
	slow->freeing = &freeing;
	slow->go = &go;
	KUNIT_ASSERT_TRUE(test, ib_agent_begin(&slow->agent));
	ib_agent_end(&slow->agent, IB_CB_DESTROY);
	wait_for_completion(&freeing);

	fake_flow_start(&flow, fake_run_unbind, fake);
	wait_for_completion_timeout(&flow.done, msecs_to_jiffies(REVIEW_LOOK_MS));
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->frees), 1);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&mad->stops), 0, "stopped with its code running");
	KUNIT_EXPECT_FALSE(test, completion_done(&flow.done));
	complete(&go);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mad->stops), 1);
	KUNIT_EXPECT_TRUE_MSG(test, review_soon(review_refs_back, &refs),
			      "the device's memory is never freed");
}

/* ---- GONE ---- */

struct review_section {
	struct fake_hca *fake;
	struct ib_device *device;
	struct completion inside;
	struct completion leave;
	bool until_gone;
	int flushes;
};

static void review_section_init(struct review_section *section, struct fake_hca *fake)
{
	section->fake = fake;
	section->device = NULL;
	init_completion(&section->inside);
	init_completion(&section->leave);
	section->until_gone = false;
	section->flushes = -1;
}

/* Be inside the device's gate, then post something. */
static int review_run_post(void *arg)
{
	struct review_section *section = arg;

	if (ib_device_enter(section->device)) {
		complete(&section->inside);
		return -EIO;
	}
	complete(&section->inside);
	wait_for_completion(&section->leave);
	section->flushes = atomic_read(&section->fake->flushes);
	ib_device_exit(section->device);
	return 0;
}

/* Who is inside the gate when the hardware is lost can still post; the flush has to come later. */
static void review_flush_waits_for_the_gate(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct review_section section;
	struct fake_flow flow;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	review_section_init(&section, fake);
	section.device = fake_device(fake);
	fake_flow_start(&flow, review_run_post, &section);
	wait_for_completion(&section.inside);
	ib_hca_gone(fake->hca, "the test says so");
	msleep(REVIEW_LOOK_MS);
	complete(&section.leave);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ_MSG(test, section.flushes, 0, "what is posted now is never completed");
	ib_hca_settle(fake->hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->flushes), 1);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

/* At a shutdown too the hardware stops first, and then those who are inside it are waited for. */
static void review_shutdown_bus_off_first(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct review_section section;
	struct fake_flow inside, flow;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	review_section_init(&section, fake);
	section.device = fake_device(fake);
	fake_flow_start(&inside, review_run_post, &section);
	wait_for_completion(&section.inside);
	fake_flow_start(&flow, fake_run_shutdown, fake);
	/* The clock stands, so nobody has been given up on. */
	KUNIT_EXPECT_TRUE_MSG(test, LR_WAIT(!READ_ONCE(fake->alive), REVIEW_LOOK_MS),
			      "somebody inside keeps the hardware running");
	KUNIT_EXPECT_FALSE(test, completion_done(&flow.done));
	complete(&section.leave);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&inside), 0);
	fake_flow_join(&flow);
	KUNIT_EXPECT_TRUE(test, fake->hca->halted);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->quiets), 1);
}

/* ---- a user's file ---- */

struct review_call {
	struct ib_file file;
	struct completion inside;
	struct completion leave;
};

static int review_run_call(void *arg)
{
	struct review_call *call = arg;
	int err = ib_file_enter(&call->file);

	complete(&call->inside);
	if (err)
		return err;
	wait_for_completion(&call->leave);
	ib_file_exit(&call->file);
	return 0;
}

static int review_run_revoke(void *arg)
{
	ib_file_revoke(&((struct review_call *)arg)->file);
	return 0;
}

/* What a call inside uses is there until it has left: a revocation waits for it, and only it. */
static void review_revoke_waits_for_calls(struct kunit *test)
{
	struct review_call *call = kunit_kzalloc(test, 2 * sizeof(*call), GFP_KERNEL);
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct fake_flow inside, other, revoke;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, call);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	for (i = 0; i < 2; i++) {
		init_completion(&call[i].inside);
		init_completion(&call[i].leave);
		KUNIT_ASSERT_EQ(test, ib_file_open(&call[i].file, fake_device(fake), NULL, NULL),
				0);
	}
	fake_flow_start(&inside, review_run_call, &call[0]);
	fake_flow_start(&other, review_run_call, &call[1]);
	wait_for_completion(&call[0].inside);
	wait_for_completion(&call[1].inside);
	fake_flow_start(&revoke, review_run_revoke, &call[0]);
	wait_for_completion_timeout(&revoke.done, msecs_to_jiffies(REVIEW_LOOK_MS));
	KUNIT_EXPECT_TRUE(test, ib_file_revoked(&call[0].file));
	KUNIT_EXPECT_EQ(test, ib_file_enter(&call[0].file), -EIO);
	KUNIT_EXPECT_FALSE_MSG(test, completion_done(&revoke.done), "revoked under a call");
	complete(&call[0].leave);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&inside), 0);
	fake_flow_join(&revoke);
	KUNIT_EXPECT_FALSE(test, completion_done(&other.done));
	complete(&call[1].leave);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&other), 0);
	for (i = 0; i < 2; i++)
		ib_file_close(&call[i].file);
}

/* Be inside the HCA's gate like a command that only the loss of the hardware ends. */
static int review_run_command(void *arg)
{
	struct review_section *section = arg;
	struct ib_hca *hca = section->fake->hca;

	if (ib_hca_enter(hca))
		return -EIO;
	complete(&section->inside);
	while (!ib_hca_is_gone(hca) && !try_wait_for_completion(&section->leave))
		usleep_range(1000, 1001);
	section->until_gone = ib_hca_is_gone(hca);
	ib_hca_exit(hca);
	return 0;
}

/* The clock also ends what keeps the HCA itself, after its device or without one. */
static void review_silent_firmware(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct fake_flow command, flow;
	struct review_section section;
	u64 start;

	KUNIT_ASSERT_EQ(test, fake_hca_add(fake), 0);
	review_section_init(&section, fake);
	fake_flow_start(&command, review_run_command, &section);
	wait_for_completion(&section.inside);
	start = atomic64_read(&fake->now);
	fake_flow_start(&flow, fake_run_remove, fake);
	KUNIT_EXPECT_TRUE_MSG(test, fake_advance_to(fake, &flow.done, 16000),
			      "remove() waits for silent firmware");
	complete(&section.leave);
	fake_flow_join(&command);
	fake_flow_join(&flow);
	KUNIT_EXPECT_TRUE(test, section.until_gone);
	KUNIT_EXPECT_LE(test, atomic64_read(&fake->now) - start, 15500ULL);
}

/* ---- abort() against release() ---- */

struct review_abort {
	const struct ib_hca_ops *ops;
	struct ib_hca_ops slow;
	struct completion begun;
	struct completion go;
	struct work_struct gone;
	struct ib_hca *hca;
	bool started;
	bool running;
};

static struct review_abort *the_abort;

static void review_slow_abort(struct ib_hca *hca)
{
	struct review_abort *a = the_abort;

	a->ops->abort(hca);
	WRITE_ONCE(a->running, true);
	complete_all(&a->begun);
	wait_for_completion(&a->go);
	WRITE_ONCE(a->running, false);
}

static void review_gone_work(struct work_struct *work)
{
	ib_hca_gone(container_of(work, struct review_abort, gone)->hca, "the test says so");
}

/* The hardware is said to be lost at the last moment, and the caller's abort takes its time. */
static void review_gone_in_quiet(struct fake_hca *fake, const char *where)
{
	struct review_abort *a = fake->data;

	if (!strcmp(where, "release") && READ_ONCE(a->running))
		fake_breach("release under a running abort");
	if (strcmp(where, "quiet") || a->started)
		return;
	a->started = true;
	queue_work(system_unbound_wq, &a->gone);
	wait_for_completion(&a->begun);
}

static void review_release_waits_for_abort(struct kunit *test)
{
	struct review_abort *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct fake_hca *fake = fake_hca_create(test, "lr-review");
	struct fake_flow flow;

	KUNIT_ASSERT_NOT_NULL(test, a);
	the_abort = a;
	a->ops = fake->hca->ops;
	a->slow = *a->ops;
	a->slow.abort = review_slow_abort;
	init_completion(&a->begun);
	init_completion(&a->go);
	INIT_WORK(&a->gone, review_gone_work);
	a->hca = fake->hca;
	fake->hca->ops = &a->slow;
	KUNIT_ASSERT_EQ(test, fake_hca_add(fake), 0);
	fake->data = a;
	fake->hook = review_gone_in_quiet;
	fake_flow_start(&flow, fake_run_remove, fake);
	wait_for_completion(&a->begun);
	wait_for_completion_timeout(&flow.done, msecs_to_jiffies(REVIEW_LOOK_MS));
	complete_all(&a->go);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_ASSERT_TRUE(test, a->started);
	flush_work(&a->gone);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->releases), 1);
	fake->hook = NULL;
	fake->hca->ops = a->ops;
}

static struct kunit_case review_cases[] = {
	KUNIT_CASE(review_item_asked_in_add_one),
	KUNIT_CASE(review_item_asked_in_closing),
	KUNIT_CASE(review_item_asked_by_two),
	KUNIT_CASE(review_holder_ends_with_its_client),
	KUNIT_CASE(review_free_is_inside_the_service),
	KUNIT_CASE(review_flush_waits_for_the_gate),
	KUNIT_CASE(review_shutdown_bus_off_first),
	KUNIT_CASE(review_revoke_waits_for_calls),
	KUNIT_CASE(review_silent_firmware),
	KUNIT_CASE(review_release_waits_for_abort),
	{}
};

static struct kunit_suite review_suite = {
	.name = "ib_teardown_review",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = review_cases,
};

kunit_test_suite(review_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Interleavings that a review of ib_core asked about");
