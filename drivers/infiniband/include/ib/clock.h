/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the framework takes its time from, so that tests can let seconds pass at once.
 */
#ifndef IB_CLOCK_H
#define IB_CLOCK_H

#include <linux/types.h>

struct ib_hca;

/**
 * struct ib_clock - a source of time
 * @now: milliseconds since some fixed point; never goes back.  Any context.
 * @sleep: how long, in jiffies, a waiter may sleep when it wants to look again in @ms milliseconds.
 *	The clock of a test returns MAX_SCHEDULE_TIMEOUT and wakes the waiters itself, with
 *	ib_hca_wake(), when it moves its hands.
 */
struct ib_clock {
	u64 (*now)(const struct ib_clock *clock);
	long (*sleep)(const struct ib_clock *clock, unsigned int ms);
};

/** ib_clock_real - the kernel's monotonic clock; what an HCA has unless told otherwise */
extern const struct ib_clock ib_clock_real;

#endif /* IB_CLOCK_H */
