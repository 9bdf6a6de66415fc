// SPDX-License-Identifier: GPL-2.0-only
/* The suites' own library does what it promises, on both kernels. */
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <lastref/clock.h>
#include <lastref/fault.h>
#include <lastref/kunit.h>

/* ---- actions ---- */

static char order[8];

static void note(void *c)
{
	char one[2] = { (char)(uintptr_t)c };

	strlcat(order, one, sizeof(order));
}

static void library_action_register(struct kunit *test)
{
	order[0] = '\0';
	for (const char *c = "abcd"; *c; c++)
		KUNIT_ASSERT_EQ(test, kunit_add_action(test, note, (void *)(uintptr_t)*c), 0);
	kunit_release_action(test, note, (void *)'b');
	KUNIT_EXPECT_STREQ(test, order, "b");
	kunit_remove_action(test, note, (void *)'c');
	KUNIT_EXPECT_STREQ(test, order, "b");
}

/* What the test before left registered ran when it ended: last in, first out. */
static void library_action_ran(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, order, "bda");
}

/* ---- allocation failures ---- */

#define STEPS 3

/**
 * struct chain - memory got in steps: by slab, slab, page
 * @part: what each step got
 * @work: runs the steps in a work item
 * @done: they are over
 * @err: 0 or -ENOMEM
 * @failed: bit n: step n has failed
 */
struct chain {
	void *part[STEPS];
	struct work_struct work;
	struct completion done;
	int err;
	unsigned int failed;
};

static void chain_free(struct chain *c)
{
	free_page((unsigned long)c->part[2]);
	kfree(c->part[1]);
	kfree(c->part[0]);
	memset(c->part, 0, sizeof(c->part));
}

static int chain_get(struct chain *c)
{
	unsigned int i;

	c->part[0] = kzalloc(100, GFP_KERNEL);
	c->part[1] = c->part[0] ? kzalloc(200, GFP_ATOMIC) : NULL;
	c->part[2] = c->part[1] ? (void *)__get_free_page(GFP_KERNEL) : NULL;
	for (i = 0; i < STEPS; i++) {
		if (!c->part[i]) {
			c->failed |= BIT(i);
			chain_free(c);
			return -ENOMEM;
		}
	}
	return 0;
}

static void chain_work(struct work_struct *work)
{
	struct chain *c = container_of(work, struct chain, work);

	c->err = chain_get(c);
	complete(&c->done);
}

/* How the chain begins. */
typedef void (*begin_fn)(struct kunit *test, struct chain *c);

static void begin_here(struct kunit *test, struct chain *c)
{
	chain_work(&c->work);
}

static void begin_work(struct kunit *test, struct chain *c)
{
	queue_work(system_unbound_wq, &c->work);
}

static int chain_thread(void *arg)
{
	struct chain *c = arg;

	c->err = chain_get(c);
	kthread_complete_and_exit(&c->done, 0);
}

static void begin_thread(struct kunit *test, struct chain *c)
{
	struct task_struct *thread = kthread_run(chain_thread, c, "chain/%u", 1);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, thread);
}

/*
 * Each of the three steps fails in some round, and nothing fails that was not asked to.
 *
 * A slab that needs a page asks for it, now and then, which shifts what is counted behind it: one
 * iteration may skip a step, several in a row do not.
 */
static void fail_steps(struct kunit *test, const char *who, begin_fn begin)
{
	struct chain *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct lr_fault f;

	KUNIT_ASSERT_NOT_NULL(test, c);
	INIT_WORK(&c->work, chain_work);
	init_completion(&c->done);
	for (unsigned int i = 0; i < 10 && c->failed != BIT(STEPS) - 1; i++) {
		unsigned int rounds = 0;

		lr_fault_each_in(&f, test, who) {
			rounds++;
			reinit_completion(&c->done);
			begin(test, c);
			wait_for_completion(&c->done);
			if (!lr_fault_stop(&f))
				KUNIT_EXPECT_EQ(test, c->err, 0);
			chain_free(c);
		}
		/* one round without a failure ends the iteration over each allocator */
		KUNIT_EXPECT_EQ(test, rounds, f.hits + (who ? 2 : 1));
		KUNIT_EXPECT_GE(test, f.hits, STEPS - 1);
	}
	KUNIT_EXPECT_EQ(test, c->failed, BIT(STEPS) - 1);
}

static void library_fault_task(struct kunit *test)
{
	fail_steps(test, NULL, begin_here);
}

/* The same in a work item, whose allocations are not the test's own. */
static void library_fault_work(struct kunit *test)
{
	fail_steps(test, "chain_", begin_work);
}

/* And in a thread that begins in the round. */
static void library_fault_thread(struct kunit *test)
{
	fail_steps(test, "chain/", begin_thread);
}

/* A pause neither counts nor fails. */
static void library_fault_pause(struct kunit *test)
{
	struct lr_fault_hold hold;
	struct lr_fault f;
	unsigned int inside = 0, after = 0;

	lr_fault_each(&f, test) {
		unsigned long flags;
		void *p, *q;

		local_irq_save(flags);
		lr_fault_pause(&hold);
		p = kmalloc(64, GFP_ATOMIC);
		lr_fault_resume(&hold);
		local_irq_restore(flags);
		q = kmalloc(64, GFP_ATOMIC);
		lr_fault_stop(&f);
		inside += !p;
		after += !q;
		kfree(p);
		kfree(q);
	}
	KUNIT_EXPECT_EQ(test, inside, 0U);
	KUNIT_EXPECT_EQ(test, after, 1U);
}

/* ---- time ---- */

static void library_clock(struct kunit *test)
{
	struct lr_clock c;

	lr_clock_start(&c);
	/* msleep() counts ticks, which an emulated processor that was late gets in one go */
	if (lr_time_is_virtual())
		msleep(60000);
	else
		usleep_range(20000, 30000);
	/* the timer wheel rounds long sleeps up, by an eighth at most */
	lr_expect_ms(test, &c, 60000, 67500);
	KUNIT_EXPECT_GE(test, lr_clock_ms(&c), 20LL);
}

static void set_flag(struct work_struct *work);
static DECLARE_DELAYED_WORK(flag_work, set_flag);
static bool flag;

static void set_flag(struct work_struct *work)
{
	flag = true;
}

static void library_wait(struct kunit *test)
{
	flag = false;
	KUNIT_EXPECT_FALSE(test, LR_WAIT(flag, 20));
	schedule_delayed_work(&flag_work, msecs_to_jiffies(50));
	KUNIT_EXPECT_TRUE(test, LR_WAIT(flag, 10000));
	cancel_delayed_work_sync(&flag_work);
}

static void library_device(struct kunit *test)
{
	struct device *dev = lr_test_device(test, "lr-library");

	KUNIT_EXPECT_STREQ(test, dev_name(dev), "lr-library");
}

static struct kunit_case library_cases[] = {
	KUNIT_CASE(library_action_register),
	KUNIT_CASE(library_action_ran),
	KUNIT_CASE(library_fault_task),
	KUNIT_CASE(library_fault_work),
	KUNIT_CASE(library_fault_thread),
	KUNIT_CASE(library_fault_pause),
	KUNIT_CASE(library_clock),
	KUNIT_CASE(library_wait),
	KUNIT_CASE(library_device),
	KUNIT_CASE(library_device),	/* again: the first one's device is gone */
	{}
};

static struct kunit_suite library_suite = {
	.name = "library",
	LR_SUITE_HOOKS,
	.test_cases = library_cases,
};

kunit_test_suite(library_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the library of LastRef's suites");
