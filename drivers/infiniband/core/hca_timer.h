/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One-shot timers on the clock of an HCA (<ib/clock.h>), so that the clock of a test drives them.
 */
#ifndef IB_HCA_TIMER_H
#define IB_HCA_TIMER_H

#include <linux/wait.h>
#include <linux/workqueue.h>

struct ib_device;
struct ib_hca_timer;

typedef void (*ib_hca_timer_fn)(struct ib_hca_timer *timer);

/**
 * struct ib_hca_timer - a timer
 * @device: whose HCA has the clock, and whose queue @fn runs on
 * @fn: called when it is due; process context, one call at a time
 * @wake: in &ib_hca.wait: somebody may have moved the clock
 * @work: runs @fn
 * @lock: protects @at
 * @at: when it is due, in milliseconds of the HCA's clock; 0: not set
 */
struct ib_hca_timer {
	struct ib_device *device;
	ib_hca_timer_fn fn;
	struct wait_queue_entry wake;
	struct delayed_work work;
	spinlock_t lock; /* protects @at */
	u64 at;
};

/**
 * ib_hca_timer_init() - make a timer, not set
 * @timer: zeroed memory
 * @device: the device
 * @fn: its function
 *
 * Context: any.
 */
void ib_hca_timer_init(struct ib_hca_timer *timer, struct ib_device *device, ib_hca_timer_fn fn);

/**
 * ib_hca_timer_exit() - its mirror; the function does not run when this returns
 * @timer: the timer; nobody sets it any more
 *
 * Context: may sleep; not in the function.
 */
void ib_hca_timer_exit(struct ib_hca_timer *timer);

/**
 * ib_hca_timer_set() - let it run at a time, or not at all
 * @timer: the timer
 * @at: milliseconds of the HCA's clock; 0: not at all.  What was set before is forgotten.
 *
 * Context: any, also with the HCA's lock held.
 */
void ib_hca_timer_set(struct ib_hca_timer *timer, u64 at);

#endif /* IB_HCA_TIMER_H */
