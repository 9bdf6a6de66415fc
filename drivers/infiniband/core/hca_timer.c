// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers on the clock of an HCA.
 *
 * With the kernel's clock this is a delayed work.  The clock of a test does not run by itself: it
 * says that one may sleep for ever, and wakes the waiters of the HCA when it moves.  So a timer is
 * one of these waiters, too, with a function in the place of a task.
 */
#include "core.h"
#include "hca_timer.h"

static bool ib_hca_timer_is_due(struct ib_hca_timer *timer, u64 now)
{
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&timer->lock, flags);
	due = timer->at && now >= timer->at;
	spin_unlock_irqrestore(&timer->lock, flags);
	return due;
}

/* Somebody has woken the HCA's waiters.  They are woken for many reasons, most of them not time. */
static int ib_hca_timer_wake(struct wait_queue_entry *entry, unsigned int mode, int flags,
			     void *key)
{
	struct ib_hca_timer *timer = container_of(entry, struct ib_hca_timer, wake);

	if (ib_hca_timer_is_due(timer, ib_hca_now(timer->device->hca)))
		mod_delayed_work(timer->device->wq, &timer->work, 0);
	return 0;
}

/*
 * Let the work run when the time has come.  The clock is read after @at was stored: if it moves
 * later, who moves it sees @at.
 */
static void ib_hca_timer_arm(struct ib_hca_timer *timer, u64 at)
{
	const struct ib_clock *clock = timer->device->hca->clock;
	u64 now = clock->now(clock);
	long sleep = now >= at ? 0 : clock->sleep(clock, min_t(u64, at - now, UINT_MAX));

	if (sleep < MAX_SCHEDULE_TIMEOUT)
		mod_delayed_work(timer->device->wq, &timer->work, sleep);
}

static void ib_hca_timer_work(struct work_struct *work)
{
	struct ib_hca_timer *timer = container_of(to_delayed_work(work), struct ib_hca_timer,
						  work);
	u64 at, now = ib_hca_now(timer->device->hca);
	bool due;

	spin_lock_irq(&timer->lock);
	at = timer->at;
	due = at && now >= at;
	if (due)
		timer->at = 0;
	spin_unlock_irq(&timer->lock);
	if (due)
		timer->fn(timer);
	else if (at)
		ib_hca_timer_arm(timer, at);
}

void ib_hca_timer_init(struct ib_hca_timer *timer, struct ib_device *device, ib_hca_timer_fn fn)
{
	timer->device = device;
	timer->fn = fn;
	spin_lock_init(&timer->lock);
	INIT_DELAYED_WORK(&timer->work, ib_hca_timer_work);
	init_waitqueue_func_entry(&timer->wake, ib_hca_timer_wake);
	INIT_LIST_HEAD(&timer->wake.entry);
	add_wait_queue(&device->hca->wait, &timer->wake);
}

void ib_hca_timer_exit(struct ib_hca_timer *timer)
{
	remove_wait_queue(&timer->device->hca->wait, &timer->wake);
	ib_hca_timer_set(timer, 0);
	cancel_delayed_work_sync(&timer->work);
}

void ib_hca_timer_set(struct ib_hca_timer *timer, u64 at)
{
	unsigned long flags;

	spin_lock_irqsave(&timer->lock, flags);
	timer->at = at;
	spin_unlock_irqrestore(&timer->lock, flags);
	if (at)
		ib_hca_timer_arm(timer, at);
}
