// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fake clock.  It moves when a test says so, and only while everybody stands still.
 *
 * A step of the clock is a claim: so much time went by, and whoever had something to do could do
 * it.  On a machine with other load that claim is false unless the clock waits for the workers. So
 * before each step and after it fake_settle() waits until the lifecycle thread sleeps in one of its
 * own waits and no worker of the machine runs or is about to: what goes on then needs the clock.
 *
 * Two things never come to rest by themselves: a thread that a test keeps inside a callback, and a
 * gate that a test keeps shut by being inside.  They are waited for once, for so many looks.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "fake.h"

/* How often one looks before somebody who does not come to rest is taken for stuck. */
#define FAKE_LOOKS 300
/* At rest is who was found so this many times in a row. */
#define FAKE_CALM 2
/* What ends without the clock (a grace period, a thread's exit) has this long, in milliseconds. */
#define FAKE_LINGER 20000
#define FAKE_STEP 250

static u64 fake_clock_now(const struct ib_clock *clock)
{
	return atomic64_read(&container_of(clock, struct fake_hca, clock)->now);
}

static long fake_clock_sleep(const struct ib_clock *clock, unsigned int ms)
{
	return MAX_SCHEDULE_TIMEOUT;
}

void fake_clock_init(struct fake_hca *fake)
{
	fake->clock.now = fake_clock_now;
	fake->clock.sleep = fake_clock_sleep;
	atomic64_set(&fake->now, 1000000);
	fake->hca->clock = &fake->clock;
}

static bool fake_task_runs(struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

#ifdef CONFIG_SMP
	if (READ_ONCE(task->on_cpu))
		return true;
#endif
	return state == TASK_RUNNING || state == TASK_WAKING;
}

/* Workers, whoever makes new ones, and the lifecycle threads. */
static bool fake_task_works(struct task_struct *task)
{
	if (!(task->flags & PF_KTHREAD) || task == current)
		return false;
	return task->flags & PF_WQ_WORKER || !strcmp(task->comm, "kthreadd") ||
	       !strncmp(task->comm, "ib/", 3) || !strncmp(task->comm, "kworker", 7);
}

static bool fake_workers_run(void)
{
	struct task_struct *group, *task;
	bool run = false;

	rcu_read_lock();
	for_each_process_thread(group, task)
		run |= fake_task_works(task) && fake_task_runs(task);
	rcu_read_unlock();
	return run;
}

/* What keeps the thread from a wait for the clock, or NULL. */
static const char *fake_thread_is_kept(struct fake_hca *fake)
{
	struct ib_hca *hca = fake->hca;
	const char *kept = NULL;

	spin_lock_irq(&hca->lock);
	if (hca->waiting_for && strstr(hca->waiting_for, "gate"))
		kept = "a grace period, or somebody inside the gate";
	else if (hca->thread && !hca->waiting_for && !hca->idle)
		kept = "a callback";
	spin_unlock_irq(&hca->lock);
	return kept;
}

/**
 * fake_settle() - wait until nothing more happens unless the clock moves
 * @fake: the HCA whose clock it is
 */
void fake_settle(struct fake_hca *fake)
{
	unsigned int looks, calm = 0;
	const char *kept = NULL;

	for (looks = 0; calm < FAKE_CALM && looks < FAKE_LOOKS; looks++) {
		if (looks)
			usleep_range(1000, 1001);
		kept = fake_thread_is_kept(fake);
		if (!kept)
			fake->stuck = NULL;
		calm = fake_workers_run() || kept != fake->stuck ? 0 : calm + 1;
	}
	if (calm < FAKE_CALM)
		pr_info("fake: the clock goes on, %s keeps the thread\n", kept ?: "no callback");
	fake->stuck = kept;
}
EXPORT_SYMBOL_GPL(fake_settle);

/**
 * fake_advance() - let time pass, at once
 * @fake: the HCA
 * @ms: how much
 *
 * Whoever had something to do before has done it, and so has whoever was woken.
 */
void fake_advance(struct fake_hca *fake, unsigned int ms)
{
	fake_settle(fake);
	atomic64_add(ms, &fake->now);
	ib_hca_wake(fake->hca);
	fake_settle(fake);
}
EXPORT_SYMBOL_GPL(fake_advance);

/**
 * fake_advance_to() - let time pass in steps until something is done
 * @fake: the HCA
 * @done: completed when it is; it stays so
 * @limit: for at most so many milliseconds of the fake clock
 *
 * Return: whether it was done.
 */
bool fake_advance_to(struct fake_hca *fake, struct completion *done, unsigned int limit)
{
	unsigned int ms;
	bool over;

	fake_settle(fake);
	for (ms = 0; ms < limit && !completion_done(done); ms += FAKE_STEP)
		fake_advance(fake, FAKE_STEP);
	/* The clock stands: what ends now has ended in time. */
	over = wait_for_completion_timeout(done, msecs_to_jiffies(FAKE_LINGER));
	if (over)
		complete(done);
	return over;
}
EXPORT_SYMBOL_GPL(fake_advance_to);
