/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time in tests. Under UML's time travel the clock is virtual: sleeping is free, and how long
 * something took is a fact that may be asserted. Elsewhere it is wall clock and may not.
 */
#ifndef LASTREF_CLOCK_H
#define LASTREF_CLOCK_H

#include <linux/delay.h>
#include <linux/ktime.h>

struct kunit;

/** lr_time_is_virtual() - may this run assert durations? */
bool lr_time_is_virtual(void);

/**
 * struct lr_clock - a stop watch
 * @start: when lr_clock_start() was called
 */
struct lr_clock {
	ktime_t start;
};

/** lr_clock_start() - set @c to zero */
static inline void lr_clock_start(struct lr_clock *c)
{
	c->start = ktime_get();
}

/** lr_clock_ms() - milliseconds since lr_clock_start(), rounded down */
static inline s64 lr_clock_ms(const struct lr_clock *c)
{
	return ktime_ms_delta(ktime_get(), c->start);
}

/**
 * lr_expect_ms() - expect that a stop watch shows @lo to @hi ms
 * @test: fails if not; on a wall clock nothing can be said, and nothing is
 * @c: the stop watch
 * @lo: least
 * @hi: most
 */
void lr_expect_ms(struct kunit *test, const struct lr_clock *c, s64 lo, s64 hi);

/*
 * Wait until @cond holds, for at most @ms milliseconds; the value says whether it does. For what
 * has no completion to wait for, in tests only. The bound is a net, not an assertion.
 */
#define LR_WAIT(cond, ms) \
	({ \
		unsigned int __left = (ms); \
		bool __ok; \
		\
		while (!(__ok = (cond)) && __left--) \
			usleep_range(1000, 1001); \
		__ok; \
	})

#endif
