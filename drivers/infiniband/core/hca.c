// SPDX-License-Identifier: GPL-2.0-only
/*
 * HCAs: their memory, and the ways in which a flow states what it wants.
 *
 * Nothing here brings hardware up or takes it down.  A flow (probe, remove, an error, sleep, the
 * end of the machine, the protocol driver) writes what it wants under the HCA's lock, wakes the
 * lifecycle thread, and, if it has to, waits until the thread is idle.  So any number of flows at
 * once make one teardown, and the highest goal is the one that is reached.
 */
#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "core.h"
#include "trace.h"

#define IB_SETTLE_SHUTDOWN_MS 3000	/* a reset takes one second and more */

static const char *const ib_goal_names[] = {
	[IB_GOAL_RUN] = "run",
	[IB_GOAL_RESET] = "reset",
	[IB_GOAL_SUSPEND] = "suspend",
	[IB_GOAL_REMOVE] = "remove",
	[IB_GOAL_SHUTDOWN] = "shutdown",
};

/**
 * ib_goal_name() - the word for a goal
 * @goal: the goal
 *
 * Return: a literal.
 */
const char *ib_goal_name(enum ib_goal goal)
{
	return goal < ARRAY_SIZE(ib_goal_names) ? ib_goal_names[goal] : "?";
}

struct ib_hca *ib_hca_alloc(struct device *parent, const struct ib_hca_ops *ops, size_t priv_size)
{
	struct ib_hca *hca;
	int err;

	if (!ops->start || !ops->stop || !ops->abort || !ops->quiet || !ops->reset || !ops->release)
		return ERR_PTR(-EINVAL);
	hca = kzalloc(ALIGN(sizeof(*hca), SMP_CACHE_BYTES) + priv_size, GFP_KERNEL);
	if (!hca)
		return ERR_PTR(-ENOMEM);
	hca->priv = (void *)hca + ALIGN(sizeof(*hca), SMP_CACHE_BYTES);
	hca->parent = parent;
	hca->ops = ops;
	hca->clock = &ib_clock_real;
	hca->quiet = true;
	kref_init(&hca->ref);
	INIT_LIST_HEAD(&hca->node);
	spin_lock_init(&hca->lock);
	init_waitqueue_head(&hca->wait);
	ib_limits_default(&hca->limits);
	ib_watchdog_init(hca);
	err = ib_gate_init(&hca->gate, hca);
	if (err) {
		kfree(hca);
		return ERR_PTR(err);
	}
	get_device(parent);
	return hca;
}
EXPORT_SYMBOL_GPL(ib_hca_alloc);

static void ib_hca_free(struct kref *ref)
{
	struct ib_hca *hca = container_of(ref, struct ib_hca, ref);

	ib_gate_exit_memory(&hca->gate);
	put_device(hca->parent);
	kfree(hca);
}

void ib_hca_get(struct ib_hca *hca)
{
	kref_get(&hca->ref);
}
EXPORT_SYMBOL_GPL(ib_hca_get);

void ib_hca_put(struct ib_hca *hca)
{
	kref_put(&hca->ref, ib_hca_free);
}
EXPORT_SYMBOL_GPL(ib_hca_put);

/* With the lock held. */
static void ib_hca_shut_gates(struct ib_hca *hca)
{
	ib_gate_refuse(&hca->gate, -EIO);
	if (hca->device)
		ib_gate_refuse(&hca->device->gate, -EIO);
}

/*
 * With the lock held.  Returns whether something rose.  SHUTDOWN is kept beside the goal and not
 * above it: a remove() that comes at the same time still needs its teardown (model: mutant
 * M_SWALLOW).
 */
static bool ib_hca_raise_locked(struct ib_hca *hca, enum ib_goal goal)
{
	if (goal == IB_GOAL_SHUTDOWN ? hca->shutdown : goal <= hca->goal)
		return false;
	if (goal == IB_GOAL_SHUTDOWN)
		WRITE_ONCE(hca->shutdown, true);
	else
		hca->goal = goal;
	trace_ib_teardown_goal(hca, ib_goal_name(goal), goal);
	return true;
}

/**
 * ib_hca_stir() - the thread has to look
 * @hca: the HCA, its lock held
 */
void ib_hca_stir(struct ib_hca *hca)
{
	hca->idle = hca->ended;
	wake_up_all(&hca->wait);
}

/*
 * The driver's abort must not run under our lock (it takes its own), nor may it run on after the
 * thread has started the hardware again: so calls under way are counted, and the thread waits.
 */
static void ib_hca_abort(struct ib_hca *hca)
{
	unsigned long flags;

	hca->ops->abort(hca);
	spin_lock_irqsave(&hca->lock, flags);
	hca->aborting--;
	wake_up_all(&hca->wait);
	spin_unlock_irqrestore(&hca->lock, flags);
}

/*
 * With the lock held: whoever wants it anew asks for new tries, also where the thread has given up.
 */
static void ib_hca_begin_anew(struct ib_hca *hca)
{
	hca->tries = 0;
	hca->losses = 0;
	hca->rest_until = 0;
}

void ib_hca_raise(struct ib_hca *hca, enum ib_goal goal)
{
	unsigned long flags;
	bool abort = false;

	spin_lock_irqsave(&hca->lock, flags);
	if (ib_hca_raise_locked(hca, goal) && goal == IB_GOAL_SHUTDOWN) {
		ib_hca_shut_gates(hca);
		abort = hca->active;
		hca->aborting += abort;
	}
	if (goal == IB_GOAL_RESET)
		ib_hca_begin_anew(hca);
	ib_hca_stir(hca);
	spin_unlock_irqrestore(&hca->lock, flags);
	if (abort)
		ib_hca_abort(hca);
}
EXPORT_SYMBOL_GPL(ib_hca_raise);

void ib_hca_gone(struct ib_hca *hca, const char *cause)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&hca->lock, flags);
	first = hca->active && !hca->gone;
	if (first) {
		hca->gone_cause = cause;
		if (ib_hca_now(hca) - hca->started_at >= IB_STEADY_MS)
			hca->losses = 0;
		hca->losses++;
		WRITE_ONCE(hca->gone, true);
		ib_hca_shut_gates(hca);
		hca->aborting++;
		ib_hca_raise_locked(hca, IB_GOAL_RESET);
		trace_ib_teardown_escalate(hca, "gone", 0);
		ib_hca_stir(hca);
	}
	spin_unlock_irqrestore(&hca->lock, flags);
	if (first)
		ib_hca_abort(hca);
}
EXPORT_SYMBOL_GPL(ib_hca_gone);

void ib_hca_hold(struct ib_hca *hca, enum ib_hold hold)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->holds |= hold;
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_hca_hold);

void ib_hca_permit(struct ib_hca *hca, enum ib_hold hold)
{
	unsigned long flags;

	spin_lock_irqsave(&hca->lock, flags);
	hca->holds &= ~hold;
	ib_hca_begin_anew(hca);
	ib_hca_stir(hca);
	spin_unlock_irqrestore(&hca->lock, flags);
}
EXPORT_SYMBOL_GPL(ib_hca_permit);

static bool ib_hca_is_settled(void *arg)
{
	return ((struct ib_hca *)arg)->idle;
}

void ib_hca_settle(struct ib_hca *hca)
{
	ib_assert_may_wait();
	ib_flow_wait(hca, "the lifecycle thread", dev_name(hca->parent), 0, ib_hca_is_settled, hca);
}
EXPORT_SYMBOL_GPL(ib_hca_settle);

int ib_hca_add(struct ib_hca *hca)
{
	int err;

	mutex_lock(&ib_registry.lock);
	hca->holds |= ib_registry.holds;
	if (ib_registry.shutdown) {
		mutex_unlock(&ib_registry.lock);
		return -ESHUTDOWN;
	}
	hca->serial = ++ib_registry.serial;
	err = ib_life_begin(hca);
	if (!err)
		list_add_tail(&hca->node, &ib_registry.hcas);
	mutex_unlock(&ib_registry.lock);
	if (err)
		return err;
	ib_debugfs_add_hca(hca);
	ib_hca_settle(hca);
	if (hca->up || hca->holds)
		return 0;
	err = hca->shutdown ? -ESHUTDOWN : hca->start_error;
	ib_hca_remove(hca);
	return err ?: -EIO;
}
EXPORT_SYMBOL_GPL(ib_hca_add);

int ib_hca_remove(struct ib_hca *hca)
{
	ib_hca_raise(hca, IB_GOAL_REMOVE);
	ib_hca_settle(hca);
	mutex_lock(&ib_registry.lock);
	list_del_init(&hca->node);
	mutex_unlock(&ib_registry.lock);
	ib_life_end(hca);
	ib_watchdog_stop(hca);
	ib_debugfs_del_hca(hca);
	if (hca->quarantined)
		return -EBUSY;
	return hca->quiet ? 0 : -EIO;
}
EXPORT_SYMBOL_GPL(ib_hca_remove);

static bool ib_hca_is_halted(void *arg)
{
	struct ib_hca *hca = arg;

	return hca->halted || hca->ended;
}

void ib_hca_shutdown(struct ib_hca *hca)
{
	ib_hca_raise(hca, IB_GOAL_SHUTDOWN);
	if (ib_flow_wait(hca, "the hardware's end", dev_name(hca->parent),
			 hca->limits.gate + IB_SETTLE_SHUTDOWN_MS, ib_hca_is_halted, hca))
		dev_err(hca->parent, "the hardware has not been stopped in time\n");
}
EXPORT_SYMBOL_GPL(ib_hca_shutdown);

static bool ib_hca_is_down(void *arg)
{
	struct ib_hca *hca = arg;

	return !hca->active || (hca->gone_done && hca->quiet) || hca->halted || hca->ended;
}

int ib_hca_ensure_stopped(struct ib_hca *hca)
{
	ib_hca_raise(hca, IB_GOAL_SUSPEND);
	ib_hca_gone(hca, "still up when the machine went to sleep");
	return ib_flow_wait(hca, "the hardware's end", dev_name(hca->parent),
			    hca->limits.gate + IB_SETTLE_SHUTDOWN_MS, ib_hca_is_down, hca);
}
EXPORT_SYMBOL_GPL(ib_hca_ensure_stopped);

int ib_provider_bind(struct ib_hca *hca, const struct ib_provider *provider, void *priv)
{
	int err = 0;

	spin_lock_irq(&hca->lock);
	if (hca->provider)
		err = -EBUSY;
	else if (hca->goal >= IB_GOAL_REMOVE || hca->ended)
		err = -ENODEV;
	if (!err) {
		hca->provider = provider;
		hca->provider_priv = priv;
		hca->start_error = 0;
		ib_hca_begin_anew(hca);
		ib_hca_stir(hca);
	}
	spin_unlock_irq(&hca->lock);
	if (err)
		return err;
	ib_hca_settle(hca);
	if (hca->device || !hca->start_error)
		return 0;
	err = hca->start_error;
	ib_provider_unbind(hca);
	return err;
}
EXPORT_SYMBOL_GPL(ib_provider_bind);

static bool ib_provider_is_gone(void *arg)
{
	return !((struct ib_hca *)arg)->provider;
}

int ib_provider_unbind(struct ib_hca *hca)
{
	unsigned int before;

	ib_assert_may_wait();
	spin_lock_irq(&hca->lock);
	before = hca->quarantined;
	if (hca->ended)
		hca->provider = NULL;
	else if (hca->provider)
		hca->provider_leaving = true;
	ib_hca_stir(hca);
	spin_unlock_irq(&hca->lock);
	ib_flow_wait(hca, "the provider's device", dev_name(hca->parent), 0, ib_provider_is_gone,
		     hca);
	return hca->quarantined > before ? -EBUSY : 0;
}
EXPORT_SYMBOL_GPL(ib_provider_unbind);
