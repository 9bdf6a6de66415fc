// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lifecycle thread: one for each HCA, the only one that moves states.
 *
 * Flows state a goal (hca.c); the thread compares what is wanted with what is, takes the one step
 * that is next (ib_life_next(), under the HCA's lock), and looks again.  It calls no code of
 * clients, takes no lock that a waiting flow may hold, and is not freezable, since a machine that
 * goes to sleep waits for it.
 *
 *                bring up                    tear down                 stop
 *    [down] ---------------> [device LIVE] ------------> [no device] ------> [down]
 *       ^                                                                       |
 *       +----------- goal RESET or SUSPEND, and nobody holds it down ----------+
 *
 * A device moves through its states by the table below, and by ib_device_move() alone.
 */
#include <linux/export.h>
#include <linux/kthread.h>

#include "core.h"
#include "trace.h"

#define IB_TRIES_MAX 3
#define IB_IDLE_SLICE_MS 60000
/* How often in a row lost hardware comes back at once; then it rests before it does. */
#define IB_LOSSES_AT_ONCE 3
#define IB_REST_FIRST_MS 1000
#define IB_REST_LAST_MS 32000

static const char *const ib_device_state_names[IB_DEVICE_STATES] = {
	[IB_DEVICE_NEW] = "NEW",
	[IB_DEVICE_REGISTERING] = "REGISTERING",
	[IB_DEVICE_LIVE] = "LIVE",
	[IB_DEVICE_CLOSING] = "CLOSING",
	[IB_DEVICE_DRAINING] = "DRAINING",
	[IB_DEVICE_STOPPED] = "STOPPED",
	[IB_DEVICE_RELEASED] = "RELEASED",
	[IB_DEVICE_QUARANTINED] = "QUARANTINED",
};

/* From each state, the ones that may follow. */
static const u8 ib_device_moves[IB_DEVICE_STATES] = {
	[IB_DEVICE_NEW] = BIT(IB_DEVICE_REGISTERING),
	[IB_DEVICE_REGISTERING] = BIT(IB_DEVICE_LIVE) | BIT(IB_DEVICE_CLOSING),
	[IB_DEVICE_LIVE] = BIT(IB_DEVICE_CLOSING),
	[IB_DEVICE_CLOSING] = BIT(IB_DEVICE_DRAINING),
	[IB_DEVICE_DRAINING] = BIT(IB_DEVICE_STOPPED),
	[IB_DEVICE_STOPPED] = BIT(IB_DEVICE_RELEASED) | BIT(IB_DEVICE_QUARANTINED),
};

const char *ib_device_state_name(enum ib_device_state state)
{
	return state < IB_DEVICE_STATES ? ib_device_state_names[state] : "?";
}
EXPORT_SYMBOL_GPL(ib_device_state_name);

/**
 * ib_device_may_move() - is a move in the table?
 * @from: the present state
 * @to: another
 *
 * Return: yes, if so.
 */
bool ib_device_may_move(enum ib_device_state from, enum ib_device_state to)
{
	return from < IB_DEVICE_STATES && to < IB_DEVICE_STATES &&
	       (ib_device_moves[from] & BIT(to));
}
EXPORT_SYMBOL_GPL(ib_device_may_move);

/**
 * ib_device_move() - the one writer of &ib_device.state
 * @device: the device
 * @to: its next state
 *
 * Context: the lifecycle thread.
 * Return: whether it moved; a move that the table does not have is a bug and is reported.
 */
bool ib_device_move(struct ib_device *device, enum ib_device_state to)
{
	struct ib_hca *hca = device->hca;
	enum ib_device_state from;
	bool legal;

	spin_lock_irq(&hca->lock);
	from = device->state;
	legal = ib_device_may_move(from, to);
	if (legal) {
		WRITE_ONCE(device->state, to);
		trace_ib_teardown_state(device, ib_device_state_name(to), to);
		wake_up_all(&hca->wait);
	}
	spin_unlock_irq(&hca->lock);
	WARN(!legal, "ib_core: %s may not go from %s to %s\n", device->name,
	     ib_device_state_name(from), ib_device_state_name(to));
	return legal;
}

/* A shutdown is no teardown: only a flow that waits for one gets it. */
static bool ib_life_device_goes(const struct ib_hca *hca)
{
	enum ib_goal goal = READ_ONCE(hca->goal);

	if (READ_ONCE(hca->provider_leaving))
		return true;
	return READ_ONCE(hca->shutdown) ? goal == IB_GOAL_REMOVE : goal != IB_GOAL_RUN;
}

/**
 * ib_life_hca_goes() - is the hardware to be stopped when there is no device any more?
 * @hca: the HCA
 *
 * Context: the lifecycle thread.
 * Return: yes, if so.
 */
bool ib_life_hca_goes(const struct ib_hca *hca)
{
	enum ib_goal goal = READ_ONCE(hca->goal);

	if (!hca->active)
		return false;
	return READ_ONCE(hca->shutdown) ? goal == IB_GOAL_REMOVE : goal != IB_GOAL_RUN;
}

/**
 * ib_life_disturbed() - is something wanted that a bring-up is in the way of?
 * @hca: the HCA
 *
 * Context: the lifecycle thread.
 * Return: yes, if it should stop what it is doing and look again.
 */
bool ib_life_disturbed(const struct ib_hca *hca)
{
	return ib_life_device_goes(hca) || (READ_ONCE(hca->shutdown) && !hca->halted);
}

/**
 * ib_aborts_over() - has every call of &ib_hca_ops.abort returned?
 * @arg: struct ib_hca *; its lock is held
 *
 * Return: yes, if so.
 */
bool ib_aborts_over(void *arg)
{
	return !((struct ib_hca *)arg)->aborting;
}

static void ib_life_quiet(struct ib_hca *hca)
{
	dev_err(hca->parent, "the HCA is gone: %s\n", hca->gone_cause);
	ib_thread_wait(hca, "command waiters to be told", IB_UNTIL_NEVER, ib_aborts_over, hca);
	ib_teardown_cut_off(hca);
	WRITE_ONCE(hca->gone_done, true);
	ib_hca_wake(hca);
}

/*
 * What is posted by a section that is inside the gate must be flushed too, so the gate of this
 * incarnation, which will not open again, drains first.
 */
static void ib_life_flush(struct ib_hca *hca, struct ib_device *device)
{
	ib_gate_close(&device->gate);
	if (ib_thread_wait(hca, "sections inside the device's gate", IB_UNTIL_NEVER,
			   ib_gate_drained, &device->gate))
		return;
	device->flushed = true;
	device->ops->flush(device);
	ib_objects_flush(device);
	hca->teardown.flushed = ib_hca_now(hca);
}

/**
 * ib_life_attend() - deal with GONE, once
 * @hca: the HCA
 *
 * In this order, since a completed work request lets its owner free memory: no command waits any
 * more; the hardware cannot write to memory any more, proven, and is reset; only then work requests
 * end by software. If it cannot be proven they end all the same, since their owners wait, but what
 * the hardware may still write to is not given back (&ib_hca.quiet).
 *
 * Context: the lifecycle thread, from every wait and every turn of its loop.
 */
void ib_life_attend(struct ib_hca *hca)
{
	struct ib_device *device = hca->device;

	/* This is called from every wait, those below it included. */
	if (!ib_hca_is_gone(hca) || !hca->active || hca->attending ||
	    (READ_ONCE(hca->shutdown) && !hca->halted))
		return;
	hca->attending = true;
	if (!hca->gone_done)
		ib_life_quiet(hca);
	if (device && !device->flushed && !device->stop_done)
		ib_life_flush(hca, device);
	hca->attending = false;
}

/* What the thread does next. */
enum ib_step {
	IB_STEP_NONE,
	IB_STEP_HALT,
	IB_STEP_TEARDOWN,
	IB_STEP_DETACH,
	IB_STEP_STOP,
	IB_STEP_TURN,
	IB_STEP_START,
	IB_STEP_CREATE,
	IB_STEP_ROSTER,
};

/* Is it time for another try, or the first? */
static bool ib_life_may_try(const struct ib_hca *hca)
{
	u64 now = ib_hca_now(hca);

	if (now < hca->rest_until)
		return false;
	return !hca->tries || (hca->retry_at && now >= hca->retry_at);
}

static bool ib_roster_is_due(const struct ib_hca *hca)
{
	return hca->roster_dirty || hca->seen_gen != READ_ONCE(ib_registry.gen) ||
	       (hca->retry_at && ib_hca_now(hca) >= hca->retry_at);
}

/* With the lock held: what is wanted against what is. */
static enum ib_step ib_life_next(struct ib_hca *hca)
{
	if (hca->shutdown && !hca->halted)
		return IB_STEP_HALT;
	if (hca->device && ib_life_device_goes(hca))
		return IB_STEP_TEARDOWN;
	if (hca->provider_leaving)
		return IB_STEP_DETACH;
	if (hca->device)
		return ib_roster_is_due(hca) ? IB_STEP_ROSTER : IB_STEP_NONE;
	if (ib_life_hca_goes(hca))
		return IB_STEP_STOP;
	if (hca->shutdown || hca->goal == IB_GOAL_REMOVE || hca->holds)
		return IB_STEP_NONE;
	if (hca->goal != IB_GOAL_RUN)
		return IB_STEP_TURN;
	if (!ib_life_may_try(hca))
		return IB_STEP_NONE;
	if (!hca->up)
		return IB_STEP_START;
	return hca->provider ? IB_STEP_CREATE : IB_STEP_NONE;
}

/*
 * With the lock held: hardware that starts well and is lost again and again would keep the machine
 * busy for ever.  The longest rest is shorter than what clients keep for the next incarnation is
 * kept (&enum ib_remove_reason).
 */
static u64 ib_life_rest(const struct ib_hca *hca)
{
	unsigned int more = hca->losses - IB_LOSSES_AT_ONCE;

	if (!hca->gone || hca->losses <= IB_LOSSES_AT_ONCE)
		return 0;
	return min_t(u64, IB_REST_FIRST_MS << min(more - 1, 10u), IB_REST_LAST_MS);
}

/* With the lock held: the HCA is down and is to come up again.  A new life has lost nothing. */
static void ib_life_turn(struct ib_hca *hca)
{
	u64 rest = ib_life_rest(hca);

	hca->rest_until = rest ? ib_hca_now(hca) + rest : 0;
	hca->goal = IB_GOAL_RUN;
	WRITE_ONCE(hca->gone, false);
	hca->gone_done = false;
	trace_ib_teardown_goal(hca, ib_goal_name(hca->goal), hca->goal);
}

static enum ib_step ib_life_look(struct ib_hca *hca)
{
	enum ib_step step;

	spin_lock_irq(&hca->lock);
	step = ib_life_next(hca);
	/* It may have woken by the clock alone: who waits for it to settle waits for this, too. */
	if (step != IB_STEP_NONE)
		hca->idle = false;
	switch (step) {
	case IB_STEP_TURN:
		ib_life_turn(hca);
		break;
	case IB_STEP_DETACH:
		hca->provider = NULL;
		hca->provider_leaving = false;
		wake_up_all(&hca->wait);
		break;
	case IB_STEP_NONE:
		/* Waking wakes this thread too, so only when there is something new to see. */
		if (hca->idle && !kthread_should_stop())
			break;
		hca->idle = true;
		hca->ended = kthread_should_stop();
		wake_up_all(&hca->wait);
		break;
	default:
		break;
	}
	spin_unlock_irq(&hca->lock);
	return step;
}

static void ib_life_step(struct ib_hca *hca, enum ib_step step)
{
	switch (step) {
	case IB_STEP_HALT:
		ib_halt(hca);
		break;
	case IB_STEP_TEARDOWN:
		ib_teardown_device(hca);
		break;
	case IB_STEP_STOP:
		ib_teardown_hca(hca);
		break;
	case IB_STEP_START:
		ib_bringup_hca(hca);
		break;
	case IB_STEP_CREATE:
		ib_bringup_device(hca);
		break;
	case IB_STEP_ROSTER:
		ib_roster_update(hca->device);
		break;
	case IB_STEP_TURN:
		if (hca->rest_until)
			dev_warn(hca->parent, "lost %u times in a row, it rests before it starts\n",
				 hca->losses);
		break;
	case IB_STEP_DETACH:
	case IB_STEP_NONE:
		break;
	}
}

static long ib_life_sleep(struct ib_hca *hca)
{
	u64 now = ib_hca_now(hca);
	unsigned int ms = IB_IDLE_SLICE_MS;

	if (hca->retry_at > now)
		ms = min_t(u64, ms, hca->retry_at - now);
	if (hca->rest_until > now)
		ms = min_t(u64, ms, hca->rest_until - now);
	return hca->clock->sleep(hca->clock, ms);
}

static int ib_life(void *arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct ib_hca *hca = arg;
	enum ib_step step;

	add_wait_queue(&hca->wait, &wait);
	for (;;) {
		ib_life_attend(hca);
		step = ib_life_look(hca);
		if (hca->ended)
			break;
		if (step != IB_STEP_NONE)
			ib_life_step(hca, step);
		else
			wait_woken(&wait, TASK_IDLE, ib_life_sleep(hca));
	}
	remove_wait_queue(&hca->wait, &wait);
	return 0;
}

/**
 * ib_life_begin() - start the thread
 * @hca: the HCA
 *
 * Return: 0 or an error.
 */
int ib_life_begin(struct ib_hca *hca)
{
	struct task_struct *thread;

	thread = kthread_create(ib_life, hca, "ib/%s", dev_name(hca->parent));
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	hca->thread = get_task_struct(thread);
	wake_up_process(thread);
	return 0;
}

/**
 * ib_life_end() - end the thread
 * @hca: the HCA; its goal is REMOVE, it is idle, and no flow comes any more but the provider's
 *	unbind
 */
void ib_life_end(struct ib_hca *hca)
{
	kthread_stop(hca->thread);
	put_task_struct(hca->thread);
	hca->thread = NULL;
}

/**
 * ib_life_retry_later() - something did not start: when will it be tried again?
 * @hca: the HCA
 * @error: what it returned
 *
 * After one, two and four seconds; then only when somebody asks.  The first failure of a probe is
 * not retried: the probe fails.
 *
 * Context: the lifecycle thread.
 */
void ib_life_retry_later(struct ib_hca *hca, int error)
{
	spin_lock_irq(&hca->lock);
	hca->start_error = error;
	hca->tries++;
	hca->retry_at = 0;
	if (hca->incarnations && hca->tries <= IB_TRIES_MAX)
		hca->retry_at = ib_hca_now(hca) + (MSEC_PER_SEC << (hca->tries - 1));
	spin_unlock_irq(&hca->lock);
	dev_err(hca->parent, "bring-up failed: %d%s\n", error,
		hca->retry_at ? ", will be tried again" : "");
}
