// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every callback fails once: of the HCA, the provider, a service, a client.  And every allocation.
 *
 * What failed is undone, said in one line, and tried again; nothing else is harmed.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <lastref/fault.h>

#include "fake.h"

struct stage {
	struct fake_service *mad;
	struct fake_service *sa;
	struct fake_client *ipoib;
	struct fake_client *uverbs;
	struct fake_hca *hca;
};

static struct stage *stage_create(struct kunit *test)
{
	struct stage *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	fake_mad_and_sa(test, &s->mad, &s->sa);
	s->ipoib = fake_client_create(test, "ipoib");
	s->uverbs = fake_client_create(test, "uverbs");
	fake_client_needs(s->ipoib, s->sa);
	s->hca = fake_hca_create(test, "lr-failure");
	KUNIT_ASSERT_EQ(test, fake_client_register(s->ipoib), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(s->uverbs), 0);
	return s;
}

/* A limit says that something has not happened by then; when it did is the deadlines' matter. */
#define PASS_UNTIL(fake, cond, limit) FAKE_PASS_UNTIL(fake, cond, 100, limit)

/* The first start fails: so does the probe, and the driver may try again. */
static void failure_first_start(struct kunit *test)
{
	struct stage *s = stage_create(test);

	s->hca->start_fails = 1;
	KUNIT_EXPECT_EQ(test, fake_hca_add(s->hca), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->hca->stops), 0);
	/* What it allocated goes back when the hardware is quiet. */
	KUNIT_EXPECT_EQ(test, atomic_read(&s->hca->releases), 1);
	KUNIT_EXPECT_EQ(test, ib_hca_enter(s->hca->hca), -ENODEV);
}

/* The first device fails: the provider is not bound, the HCA stays. */
static void failure_first_create(struct kunit *test)
{
	struct stage *s = stage_create(test);

	s->hca->create_fails = 1;
	KUNIT_ASSERT_EQ(test, fake_hca_add(s->hca), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_bind(s->hca), -EAGAIN);
	KUNIT_EXPECT_NULL(test, s->hca->hca->provider);
	KUNIT_EXPECT_EQ(test, fake_hca_bind(s->hca), 0);
	KUNIT_EXPECT_TRUE(test, fake_is_live(s->hca));
}

/* In a recovery, start fails twice: tried again after one and after two seconds. */
static void failure_restart(struct kunit *test)
{
	struct stage *s = stage_create(test);

	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	s->hca->start_fails = 2;
	ib_hca_raise(s->hca->hca, IB_GOAL_RESET);
	ib_hca_settle(s->hca->hca);
	KUNIT_EXPECT_FALSE(test, fake_is_live(s->hca));
	KUNIT_EXPECT_TRUE(test, PASS_UNTIL(s->hca, fake_is_live(s->hca), 20000));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->hca->starts), 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->adds), 2);
}

/* It fails for good: three more tries, then silence until somebody asks. It would start now. */
static struct stage *stage_given_up(struct kunit *test)
{
	struct stage *s = stage_create(test);

	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	s->hca->start_fails = 100;
	ib_hca_raise(s->hca->hca, IB_GOAL_RESET);
	PASS_UNTIL(s->hca, false, 60000);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->hca->starts), 5);
	s->hca->start_fails = 0;
	return s;
}

/* A permit is somebody who asks; remove() still works. */
static void failure_restart_for_good(struct kunit *test)
{
	struct stage *s = stage_given_up(test);

	ib_hca_permit(s->hca->hca, IB_HOLD_RESET);
	KUNIT_EXPECT_TRUE(test, PASS_UNTIL(s->hca, fake_is_live(s->hca), 1000));
}

/* So is a wish for a recovery. */
static void failure_given_up_then_reset(struct kunit *test)
{
	struct stage *s = stage_given_up(test);

	ib_hca_raise(s->hca->hca, IB_GOAL_RESET);
	KUNIT_EXPECT_TRUE(test, PASS_UNTIL(s->hca, fake_is_live(s->hca), 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->hca->starts), 6);
}

static void failure_recreate(struct kunit *test)
{
	struct stage *s = stage_create(test);

	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	s->hca->create_fails = 1;
	ib_hca_raise(s->hca->hca, IB_GOAL_RESET);
	ib_hca_settle(s->hca->hca);
	KUNIT_EXPECT_FALSE(test, fake_is_live(s->hca));
	KUNIT_EXPECT_TRUE(test, PASS_UNTIL(s->hca, fake_is_live(s->hca), 20000));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->hca->creates), 3);
}

/* A service does not start: clients that need it wait, the others do not; a later try succeeds. */
static void failure_service_start(struct kunit *test)
{
	struct stage *s = stage_create(test);
	struct fake_service *other = fake_service_create(test, "other", NULL, NULL);

	s->sa->start_fails = 1;
	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	KUNIT_EXPECT_TRUE(test, fake_is_live(s->hca));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->adds), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->uverbs->adds), 1);
	KUNIT_ASSERT_EQ(test, fake_service_register(other), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&s->ipoib->adds) == 1, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->sa->starts), 2);
}

/* The lifecycle thread is in the middle of a pass, and the registry changes meanwhile. */
static void linger_in_start(struct fake_service *fs, struct ib_service_instance *instance,
			    const char *where)
{
	struct completion *entered = fs->data;

	if (strcmp(where, "start") || completion_done(entered))
		return;
	complete_all(entered);
	msleep(100);
}

static int bring_up(void *arg)
{
	return fake_hca_up(arg);
}

/* A service that cannot start is tried again for a change, not for ever because of one. */
static void failure_service_start_while_registry_changes(struct kunit *test)
{
	struct stage *s = stage_create(test);
	struct fake_service *other = fake_service_create(test, "other", NULL, NULL);
	struct completion *entered = kunit_kzalloc(test, sizeof(*entered), GFP_KERNEL);
	struct fake_flow up;

	KUNIT_ASSERT_NOT_NULL(test, entered);
	init_completion(entered);
	s->mad->data = entered;
	s->mad->hook = linger_in_start;
	s->sa->start_fails = 1000;
	fake_flow_start(&up, bring_up, s->hca);
	wait_for_completion(entered);
	KUNIT_EXPECT_EQ(test, fake_service_register(other), 0);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&up), 0);
	ib_hca_settle(s->hca->hca);
	KUNIT_EXPECT_LE(test, atomic_read(&s->sa->starts), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->starts), 1);
}

/* Its second port does not: the first is stopped again, then the service. */
static void failure_service_port(struct kunit *test)
{
	struct stage *s = stage_create(test);

	s->sa->port_fails = 1;
	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->sa->ports), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->sa->stops), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->adds), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(s->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->sa->stops), 1);
}

/* A client's add_one fails: no remove_one for it; tried again after one second, and two more. */
static void failure_add_one(struct kunit *test)
{
	struct stage *s = stage_create(test);

	s->ipoib->add_fails = 2;
	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->failed_adds), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->uverbs->adds), 1);
	PASS_UNTIL(s->hca, false, 800);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->failed_adds), 1);
	KUNIT_EXPECT_TRUE(test, PASS_UNTIL(s->hca, atomic_read(&s->ipoib->adds) == 1, 4000));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->failed_adds), 2);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(s->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->removes), 1);
}

/* It fails until the device goes. */
static void failure_add_one_for_good(struct kunit *test)
{
	struct stage *s = stage_create(test);

	s->ipoib->add_fails = 1000;
	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	PASS_UNTIL(s->hca, false, 20000);
	KUNIT_EXPECT_GE(test, atomic_read(&s->ipoib->failed_adds), 4);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(s->hca), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->removes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->frees), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->closings), 0);
}

static void failure_bad_client(struct kunit *test)
{
	struct fake_client *fc = fake_client_create(test, "bad");

	fc->client.remove_one = NULL;
	KUNIT_EXPECT_EQ(test, fake_client_register(fc), -EINVAL);
}

static void failure_client_twice(struct kunit *test)
{
	struct fake_client *fc = fake_client_create(test, "twice");

	KUNIT_EXPECT_EQ(test, fake_client_register(fc), 0);
	KUNIT_EXPECT_EQ(test, fake_client_register(fc), -EEXIST);
}

static void failure_service_twice(struct kunit *test)
{
	struct fake_service *fs = fake_service_create(test, "twice", NULL, NULL);

	KUNIT_EXPECT_EQ(test, fake_service_register(fs), 0);
	KUNIT_EXPECT_EQ(test, fake_service_register(fs), -EEXIST);
}

static void failure_service_loop(struct kunit *test)
{
	struct fake_service *a = fake_service_create(test, "a", NULL, NULL);
	struct fake_service *b = fake_service_create(test, "b", a, NULL);

	a->needs[0] = &b->service;
	KUNIT_EXPECT_EQ(test, fake_service_register(a), -ELOOP);
	a->needs[0] = NULL;
}

static void failure_second_provider(struct kunit *test)
{
	struct stage *s = stage_create(test);

	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_bind(s->hca), -EBUSY);
	s->hca->bound = true;
	KUNIT_EXPECT_EQ(test, fake_hca_remove(s->hca), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_bind(s->hca), -ENODEV);
}

/* ---- allocations ---- */

/* Those of whoever registers and adds. */
static void failure_nth_alloc(struct kunit *test)
{
	struct stage *s = stage_create(test);
	unsigned int round = 0;
	struct lr_fault f;
	char name[32];
	int err;

	lr_fault_each(&f, test) {
		err = ib_hca_add(s->hca->hca);
		if (lr_fault_stop(&f) && err) {
			KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		} else {
			KUNIT_EXPECT_EQ(test, err, 0);
			s->hca->added = true;
			KUNIT_EXPECT_EQ(test, fake_hca_remove(s->hca), 0);
		}
		/* An HCA lives once; the next round gets the memory of another. */
		snprintf(name, sizeof(name), "lr-failure-%u", round++);
		s->hca = fake_hca_create(test, name);
	}
}

/* Those of the lifecycle thread: devices, service instances, attachments. */
static void failure_nth_alloc_of_thread(struct kunit *test)
{
	struct stage *s = stage_create(test);
	struct lr_fault f;

	KUNIT_ASSERT_EQ(test, fake_hca_add(s->hca), 0);
	lr_fault_each_in(&f, test, "ib/") {
		int err = fake_hca_bind(s->hca);

		lr_fault_stop(&f);
		if (!err)
			KUNIT_EXPECT_EQ(test, fake_hca_unbind(s->hca), 0);
		KUNIT_EXPECT_NULL(test, fake_device(s->hca));
		KUNIT_EXPECT_EQ(test, atomic_read(&s->mad->up), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->adds),
				atomic_read(&s->ipoib->removes));
	}
	KUNIT_EXPECT_GT(test, f.hits, 5U);
	KUNIT_EXPECT_EQ(test, fake_hca_bind(s->hca), 0);
}

/* Those of the items in which clients run. */
static void failure_nth_alloc_of_item(struct kunit *test)
{
	struct stage *s = stage_create(test);
	struct lr_fault f;

	KUNIT_ASSERT_EQ(test, fake_hca_add(s->hca), 0);
	lr_fault_each_in(&f, test, "ib_attachment") {
		KUNIT_EXPECT_EQ(test, fake_hca_bind(s->hca), 0);
		lr_fault_stop(&f);
		KUNIT_EXPECT_EQ(test, fake_hca_unbind(s->hca), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->adds),
				atomic_read(&s->ipoib->removes));
	}
	KUNIT_EXPECT_GT(test, f.hits, 2U);
}

/*
 * Those of the thread while it takes a device down, which nothing may keep from going.  Whoever
 * asks for that allocates nothing.
 */
static void failure_nth_alloc_of_removal(struct kunit *test)
{
	struct stage *s = stage_create(test);
	struct lr_fault f;

	KUNIT_ASSERT_EQ(test, fake_hca_up(s->hca), 0);
	lr_fault_each_in(&f, test, "ib/") {
		int err = fake_hca_unbind(s->hca);

		lr_fault_stop(&f);
		KUNIT_EXPECT_EQ(test, err, 0);
		KUNIT_EXPECT_NULL(test, fake_device(s->hca));
		KUNIT_EXPECT_EQ(test, atomic_read(&s->mad->up), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&s->ipoib->adds),
				atomic_read(&s->ipoib->removes));
		KUNIT_ASSERT_EQ(test, fake_hca_bind(s->hca), 0);
	}
}

static struct kunit_case failure_cases[] = {
	KUNIT_CASE(failure_first_start),
	KUNIT_CASE(failure_first_create),
	KUNIT_CASE(failure_restart),
	KUNIT_CASE(failure_restart_for_good),
	KUNIT_CASE(failure_given_up_then_reset),
	KUNIT_CASE(failure_recreate),
	KUNIT_CASE(failure_service_start),
	KUNIT_CASE(failure_service_start_while_registry_changes),
	KUNIT_CASE(failure_service_port),
	KUNIT_CASE(failure_add_one),
	KUNIT_CASE(failure_add_one_for_good),
	KUNIT_CASE(failure_bad_client),
	KUNIT_CASE(failure_client_twice),
	KUNIT_CASE(failure_service_twice),
	KUNIT_CASE(failure_service_loop),
	KUNIT_CASE(failure_second_provider),
	KUNIT_CASE(failure_nth_alloc),
	KUNIT_CASE(failure_nth_alloc_of_thread),
	KUNIT_CASE(failure_nth_alloc_of_item),
	KUNIT_CASE(failure_nth_alloc_of_removal),
	{}
};

static struct kunit_suite failure_suite = {
	.name = "ib_failure_of_each_step",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = failure_cases,
};

kunit_test_suite(failure_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Failure of each callback and allocation");
