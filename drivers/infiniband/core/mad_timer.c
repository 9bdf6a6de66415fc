// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one timer of a port: responses, ACKs and segments that do not come.
 *
 * Times are of the HCA's clock.  The earliest stands first in a tree, and a delayed work wakes the
 * port's work item for it, which takes what has expired in one hold of the lock, a batch at a time:
 * thousands that expire at once are no more than a list.  The delayed work is not moved when the
 * earliest is taken away, as nearly every one is since its response comes: it then wakes the port
 * for nothing, once in the time that a response may take.  A test's clock wakes nobody by itself;
 * whoever moves it wakes the HCA's waiters, of which the port is one.
 */
#include "mad.h"

static struct ib_mad_timer *ib_mad_timer_first(struct ib_mad_port *port)
{
	struct timerqueue_node *node = timerqueue_getnext(&port->timers);

	return node ? container_of(node, struct ib_mad_timer, node) : NULL;
}

/* With the lock held: let the work item be woken for the earliest, unless it is woken before. */
static void ib_mad_timers_arm(struct ib_mad_port *port)
{
	struct ib_mad_timer *first = ib_mad_timer_first(port);
	struct ib_hca *hca = port->device->hca;
	u64 now = ib_hca_now(hca);
	u64 at;
	long delay;

	if (!first || port->stopping)
		return;
	at = first->node.expires;
	if (port->tick_at && port->tick_at <= at)
		return;
	delay = hca->clock->sleep(hca->clock, at > now ? min_t(u64, at - now, INT_MAX) : 0);
	if (delay == MAX_SCHEDULE_TIMEOUT)
		return;
	port->tick_at = at;
	mod_delayed_work(port->wq, &port->tick, delay);
}

/**
 * ib_mad_timer_set() - let something happen later; one that is set already is moved
 * @port: the port; its lock is held
 * @timer: &ib_mad_timer.fn is filled in
 * @ms: in how many milliseconds
 */
void ib_mad_timer_set(struct ib_mad_port *port, struct ib_mad_timer *timer, u32 ms)
{
	ib_mad_timer_clear(port, timer);
	timerqueue_init(&timer->node);
	timer->node.expires = ib_hca_now(port->device->hca) + ms;
	timer->armed = true;
	if (timerqueue_add(&port->timers, &timer->node))
		ib_mad_timers_arm(port);
}

/** ib_mad_timer_clear() - let it not happen; with the lock held */
void ib_mad_timer_clear(struct ib_mad_port *port, struct ib_mad_timer *timer)
{
	if (!timer->armed)
		return;
	timer->armed = false;
	timerqueue_del(&port->timers, &timer->node);
}

/**
 * ib_mad_timers_run() - do what has become due
 * @port: the port
 *
 * Context: the work item.
 * Return: true if there was something.
 */
bool ib_mad_timers_run(struct ib_mad_port *port)
{
	u64 now = ib_hca_now(port->device->hca);
	struct ib_mad_timer *timer;
	int n;

	spin_lock_bh(&port->lock);
	for (n = 0; n < IB_MAD_BATCH; n++) {
		timer = ib_mad_timer_first(port);
		if (!timer || (u64)timer->node.expires > now)
			break;
		ib_mad_timer_clear(port, timer);
		timer->fn(port, timer);
	}
	ib_mad_timers_arm(port);
	spin_unlock_bh(&port->lock);
	return n;
}

static void ib_mad_tick(struct work_struct *work)
{
	struct ib_mad_port *port = container_of(to_delayed_work(work), struct ib_mad_port, tick);

	spin_lock_bh(&port->lock);
	port->tick_at = 0;
	spin_unlock_bh(&port->lock);
	ib_mad_kick(port);
}

/* A test has moved its clock. */
static int ib_mad_clock_moved(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	ib_mad_kick(container_of(wait, struct ib_mad_port, clock_wait));
	return 0;
}

/** ib_mad_timers_init() - no timer is set */
void ib_mad_timers_init(struct ib_mad_port *port)
{
	struct ib_hca *hca = port->device->hca;

	timerqueue_init_head(&port->timers);
	INIT_DELAYED_WORK(&port->tick, ib_mad_tick);
	init_waitqueue_func_entry(&port->clock_wait, ib_mad_clock_moved);
	INIT_LIST_HEAD(&port->clock_wait.entry);
	if (hca->clock != &ib_clock_real)
		add_wait_queue(&hca->wait, &port->clock_wait);
}

/** ib_mad_timers_stop() - none will run; &ib_mad_port.stopping is set */
void ib_mad_timers_stop(struct ib_mad_port *port)
{
	if (!list_empty(&port->clock_wait.entry))
		remove_wait_queue(&port->device->hca->wait, &port->clock_wait);
	cancel_delayed_work_sync(&port->tick);
}
