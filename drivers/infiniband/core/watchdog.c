// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time: the clock of a teardown, its thresholds, and the two ways to wait.
 *
 * There is one clock for each teardown, started when the device begins to close, and every wait of
 * that teardown is measured by it, so that the sum is bounded and not each part:
 *
 *   polite       services are told to cancel what is under way
 *   name         what is waited for, and who holds it, is written to the log; again every 10 s
 *   gone         the hardware is declared lost, which ends everything that waits for it
 *   abandon      clients that have not returned are left behind; when the hardware was lost, not
 *                before they have had their time with the flush, which waits for a reset
 *   quarantine   so is the device
 *
 * ib_thread_wait() is how the lifecycle thread waits.  It looks at the thresholds and deals with
 * GONE whenever it wakes, so hardware becomes quiet whatever is being waited for, and it gives up
 * at once when the machine shuts down.  ib_flow_wait() is how everybody else does.  In both the
 * condition is a function that runs under the HCA's lock: the waker changes what it looks at under
 * that lock.
 *
 * While the thread is inside a callback that does not return it looks at nothing.  For that there
 * is a delayed work, which knows the one remedy that works from outside: GONE.
 */
#include <linux/debug_locks.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "core.h"
#include "trace.h"

#define IB_SLICE_MS 5000
#define IB_NAME_AGAIN_MS 10000

static struct ib_limits ib_limits = {
	.polite = 3000,
	.name = 5000,
	.gone = 10000,
	.abandon = 12000,
	.quarantine = 15000,
	.gate = 1000,
};

module_param_named(polite_ms, ib_limits.polite, uint, 0644);
MODULE_PARM_DESC(polite_ms, "teardown: cancel what has not ended by itself after this");
module_param_named(name_ms, ib_limits.name, uint, 0644);
MODULE_PARM_DESC(name_ms, "teardown: name what is waited for after this");
module_param_named(gone_ms, ib_limits.gone, uint, 0644);
MODULE_PARM_DESC(gone_ms, "teardown: declare the hardware lost after this");
module_param_named(abandon_ms, ib_limits.abandon, uint, 0644);
MODULE_PARM_DESC(abandon_ms, "teardown: leave clients behind after this");
module_param_named(quarantine_ms, ib_limits.quarantine, uint, 0644);
MODULE_PARM_DESC(quarantine_ms, "teardown: leave the device behind after this");
module_param_named(gate_ms, ib_limits.gate, uint, 0644);
MODULE_PARM_DESC(gate_ms, "shutdown: stop the hardware even if somebody is inside after this");

/**
 * ib_limits_default() - the thresholds as the module parameters have them
 * @limits: filled in, in ascending order whatever the parameters say
 */
void ib_limits_default(struct ib_limits *limits)
{
	*limits = ib_limits;
	limits->name = max(limits->name, limits->polite);
	limits->gone = max(limits->gone, limits->name);
	limits->abandon = max(limits->abandon, limits->gone);
	limits->quarantine = max(limits->quarantine, limits->abandon);
}

static u64 ib_clock_real_now(const struct ib_clock *clock)
{
	return ktime_get_ns() / NSEC_PER_MSEC;
}

static long ib_clock_real_sleep(const struct ib_clock *clock, unsigned int ms)
{
	return msecs_to_jiffies(ms) + 1;
}

const struct ib_clock ib_clock_real = {
	.now = ib_clock_real_now,
	.sleep = ib_clock_real_sleep,
};
EXPORT_SYMBOL_GPL(ib_clock_real);

/**
 * ib_hca_now() - the HCA's time
 * @hca: the HCA
 *
 * Return: milliseconds since some fixed point.
 */
u64 ib_hca_now(const struct ib_hca *hca)
{
	return hca->clock->now(hca->clock);
}

static u64 ib_teardown_age(const struct ib_hca *hca)
{
	return hca->teardown.timed ? ib_hca_now(hca) - hca->teardown.start : 0;
}

/*
 * Work requests end after the reset that follows GONE, and a reset takes seconds.  A client that
 * waited for nothing else is not late.
 */
static unsigned int ib_abandon_ms(const struct ib_hca *hca)
{
	const struct ib_limits *l = &hca->limits;
	const struct ib_teardown *t = &hca->teardown;
	u64 ms = l->abandon;

	if (t->flushed)
		ms = max(ms, t->flushed - t->start + l->abandon - l->gone);
	return min_t(u64, ms, l->quarantine);
}

static unsigned int ib_until_ms(const struct ib_hca *hca, enum ib_until until)
{
	switch (until) {
	case IB_UNTIL_POLITE:
	case IB_UNTIL_ADDED:
		return hca->limits.polite;
	case IB_UNTIL_ABANDON:
		return ib_abandon_ms(hca);
	case IB_UNTIL_QUARANTINE:
		return hca->limits.quarantine;
	case IB_UNTIL_GOAL:
	case IB_UNTIL_NEVER:
		break;
	}
	return UINT_MAX;
}

/**
 * ib_teardown_past() - has this teardown reached a threshold?
 * @hca: the HCA
 * @until: which
 *
 * Return: yes, if so.
 */
bool ib_teardown_past(struct ib_hca *hca, enum ib_until until)
{
	return ib_teardown_age(hca) >= ib_until_ms(hca, until);
}

/**
 * ib_teardown_begin() - start the clock
 * @hca: the HCA
 * @timed: of what
 *
 * Context: the lifecycle thread.
 */
void ib_teardown_begin(struct ib_hca *hca, enum ib_timed timed)
{
	struct ib_teardown *t = &hca->teardown;
	long sleep;

	spin_lock_irq(&hca->lock);
	t->start = ib_hca_now(hca);
	t->timed = timed;
	t->flushed = 0;
	t->cancelled = false;
	t->named = 0;
	spin_unlock_irq(&hca->lock);
	sleep = hca->clock->sleep(hca->clock, hca->limits.gone);
	if (timed == IB_TIMED_DEVICE && sleep < MAX_SCHEDULE_TIMEOUT)
		queue_delayed_work(system_unbound_wq, &hca->watchdog, sleep);
}

/**
 * ib_teardown_end() - stop the clock
 * @hca: the HCA
 */
void ib_teardown_end(struct ib_hca *hca)
{
	spin_lock_irq(&hca->lock);
	hca->teardown.timed = IB_TIMED_NOTHING;
	spin_unlock_irq(&hca->lock);
	cancel_delayed_work_sync(&hca->watchdog);
}

/* The thread has not looked at the clock in time: it is inside a callback. */
static void ib_watchdog_bite(struct work_struct *work)
{
	struct ib_hca *hca = container_of(to_delayed_work(work), struct ib_hca, watchdog);

	if (hca->teardown.timed == IB_TIMED_DEVICE && ib_teardown_age(hca) >= hca->limits.gone)
		ib_hca_gone(hca, "the teardown's deadline");
}

void ib_watchdog_init(struct ib_hca *hca)
{
	INIT_DELAYED_WORK(&hca->watchdog, ib_watchdog_bite);
}

void ib_watchdog_stop(struct ib_hca *hca)
{
	cancel_delayed_work_sync(&hca->watchdog);
}

static void ib_name_wait(struct ib_hca *hca, const char *what)
{
	struct ib_device *device = hca->device;

	dev_warn(hca->parent, "%s: waiting for %s, %llu ms since the teardown began\n",
		 device ? device->name : "HCA", what, ib_teardown_age(hca));
	trace_ib_teardown_escalate(hca, "named", ib_teardown_age(hca));
	if (device)
		ib_holders_log(device);
}

/* Take the actions whose time has come. */
static void ib_thresholds(struct ib_hca *hca, const char *what)
{
	struct ib_teardown *t = &hca->teardown;
	u64 age = ib_teardown_age(hca);
	u64 now = ib_hca_now(hca);

	if (!t->timed)
		return;
	if (age >= hca->limits.polite && t->timed >= IB_TIMED_SERVICE && !t->cancelled) {
		t->cancelled = true;
		trace_ib_teardown_escalate(hca, "cancel", age);
		if (hca->device)
			ib_services_cancel(hca->device);
	}
	if (age >= hca->limits.name && (!t->named || now - t->named >= IB_NAME_AGAIN_MS)) {
		t->named = now;
		ib_name_wait(hca, what);
	}
	if (t->timed == IB_TIMED_DEVICE && age >= hca->limits.gone && !ib_hca_is_gone(hca))
		ib_hca_gone(hca, "the teardown's deadline");
}

/* How long the thread may sleep before a threshold needs it. */
static unsigned int ib_next_look(struct ib_hca *hca, enum ib_until until)
{
	const struct ib_limits *l = &hca->limits;
	unsigned int next[] = { l->polite, l->name, l->gone, ib_until_ms(hca, until) };
	unsigned int ms = IB_SLICE_MS;
	u64 age = ib_teardown_age(hca);
	int i;

	if (!hca->teardown.timed)
		return ms;
	for (i = 0; i < ARRAY_SIZE(next); i++)
		if (next[i] > age)
			ms = min_t(u64, ms, next[i] - age);
	return ms;
}

static bool ib_condition_holds(struct ib_hca *hca, ib_condition cond, void *arg)
{
	bool holds;

	spin_lock_irq(&hca->lock);
	holds = cond(arg);
	spin_unlock_irq(&hca->lock);
	return holds;
}

static int ib_thread_gives_up(struct ib_hca *hca, enum ib_until until)
{
	if (READ_ONCE(hca->shutdown) && !hca->halted)
		return -ESHUTDOWN;
	if ((until == IB_UNTIL_GOAL || until == IB_UNTIL_ADDED) && ib_life_disturbed(hca))
		return -EINTR;
	return ib_teardown_past(hca, until) ? -ETIME : 0;
}

/**
 * struct ib_waiting - a wait of the thread, for those who look on
 * @what: what for
 * @since: since when
 *
 * What they read under the lock is there as long as they have it.  Waits nest: inside each of them
 * the thread may have to deal with GONE, which waits too.
 */
struct ib_waiting {
	const char *what;
	u64 since;
};

/* Show @new; the return is what was shown before. */
static struct ib_waiting ib_show_wait(struct ib_hca *hca, struct ib_waiting new)
{
	struct ib_waiting old;

	spin_lock_irq(&hca->lock);
	old.what = hca->waiting_for;
	old.since = hca->waiting_since;
	hca->waiting_for = new.what;
	hca->waiting_since = new.since;
	spin_unlock_irq(&hca->lock);
	return old;
}

static struct ib_waiting ib_show_wait_for(struct ib_hca *hca, const char *what)
{
	struct ib_waiting new = { .what = what, .since = ib_hca_now(hca) };

	return ib_show_wait(hca, new);
}

/**
 * ib_thread_wait() - the lifecycle thread waits
 * @hca: its HCA
 * @what: what for, for the log, the trace and debugfs; there as long as this waits
 * @until: when to give up
 * @cond: the condition; whoever makes it true does so under the HCA's lock and wakes &ib_hca.wait
 * @arg: for @cond
 *
 * Return: 0: it holds; -ETIME: the threshold @until was reached; -EINTR: the HCA has another goal
 * (for IB_UNTIL_GOAL and IB_UNTIL_ADDED); -ESHUTDOWN: the machine is going down, return to the main
 * loop and free nothing.
 */
int ib_thread_wait(struct ib_hca *hca, const char *what, enum ib_until until, ib_condition cond,
		   void *arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct ib_waiting outer;
	int err = 0;

	if (ib_condition_holds(hca, cond, arg))
		return 0;
	trace_ib_teardown_wait_begin(hca, what, until);
	outer = ib_show_wait_for(hca, what);
	add_wait_queue(&hca->wait, &wait);
	while (!ib_condition_holds(hca, cond, arg)) {
		ib_thresholds(hca, what);
		ib_life_attend(hca);
		err = ib_thread_gives_up(hca, until);
		if (err) {
			/* Dealing with GONE takes seconds, in which it may have come true. */
			if (err == -ETIME && ib_condition_holds(hca, cond, arg))
				err = 0;
			break;
		}
		wait_woken(&wait, TASK_UNINTERRUPTIBLE,
			   hca->clock->sleep(hca->clock, ib_next_look(hca, until)));
	}
	remove_wait_queue(&hca->wait, &wait);
	ib_show_wait(hca, outer);
	trace_ib_teardown_wait_end(hca, what, err);
	return err;
}

/**
 * ib_flow_wait() - a caller of the framework waits
 * @hca: the HCA whose state @cond looks at
 * @what: what for; a literal
 * @who: whose, for the log
 * @limit: milliseconds of the HCA's clock after which to give up; 0: never
 * @cond: as for ib_thread_wait()
 * @arg: for @cond
 *
 * Named in the log every ten seconds.  Code that both items and the lifecycle thread run may call
 * it on either: the thread waits in its own way, until IB_UNTIL_QUARANTINE.
 *
 * Return: 0; -ETIME; on the thread also -ESHUTDOWN.
 */
int ib_flow_wait(struct ib_hca *hca, const char *what, const char *who, unsigned int limit,
		 ib_condition cond, void *arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	u64 start = ib_hca_now(hca);
	u64 named = start;
	int err = 0;

	if (current == hca->thread)
		return ib_thread_wait(hca, what, IB_UNTIL_QUARANTINE, cond, arg);
	add_wait_queue(&hca->wait, &wait);
	while (!ib_condition_holds(hca, cond, arg)) {
		u64 now = ib_hca_now(hca);

		if (limit && now - start >= limit) {
			err = -ETIME;
			break;
		}
		if (now - named >= IB_NAME_AGAIN_MS) {
			named = now;
			dev_warn(hca->parent, "waiting %llu ms for %s of %s\n", now - start, what,
				 who);
		}
		wait_woken(&wait, TASK_UNINTERRUPTIBLE,
			   hca->clock->sleep(hca->clock, IB_SLICE_MS));
	}
	remove_wait_queue(&hca->wait, &wait);
	return err;
}

/**
 * ib_halt_wait() - the thread's last wait, on the way to a stop of the machine
 * @hca: its HCA
 * @what: what for
 * @cond: the condition
 *
 * Looks at no threshold but its own, &ib_limits.gate.
 *
 * Return: 0 or -ETIME.
 */
int ib_halt_wait(struct ib_hca *hca, const char *what, ib_condition cond)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	u64 start = ib_hca_now(hca);
	struct ib_waiting outer;
	int err = 0;

	outer = ib_show_wait_for(hca, what);
	add_wait_queue(&hca->wait, &wait);
	while (!ib_condition_holds(hca, cond, hca)) {
		u64 age = ib_hca_now(hca) - start;

		if (age >= hca->limits.gate) {
			err = -ETIME;
			break;
		}
		wait_woken(&wait, TASK_UNINTERRUPTIBLE,
			   hca->clock->sleep(hca->clock, hca->limits.gate - age));
	}
	remove_wait_queue(&hca->wait, &wait);
	ib_show_wait(hca, outer);
	return err;
}

void ib_hca_wake(struct ib_hca *hca)
{
	wake_up_all(&hca->wait);
}
EXPORT_SYMBOL_GPL(ib_hca_wake);

/**
 * ib_assert_may_wait() - the caller is about to wait for a teardown
 *
 * Clients take RTNL in their remove_one, so nobody may hold it who waits for them.
 */
void ib_assert_may_wait(void)
{
	might_sleep();
	/* Lockdep says that everything is held once it has switched itself off. */
	if (IS_ENABLED(CONFIG_PROVE_LOCKING) && debug_locks)
		WARN_ON_ONCE(lockdep_rtnl_is_held());
	ib_lockmaps_wait();
}
