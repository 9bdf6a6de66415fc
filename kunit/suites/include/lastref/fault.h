/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every allocation of an operation fails once: the first, then the second, and so on, until the
 * operation needs fewer than that. The last round so is one without a failure.
 *
 *	struct lr_fault f;
 *
 *	lr_fault_each(&f, test) {
 *		err = operation();
 *		if (lr_fault_stop(&f)) {
 *			... the allocation number f.nth failed: expect err, and nothing left behind
 *		} else {
 *			... none did: expect success
 *		}
 *		... undo
 *	}
 *	KUNIT_EXPECT_GT(test, f.hits, 3U);
 *
 * How many there were is printed when the iteration ends; none at all fails the test.
 *
 * Not every failure has to fail the operation: the kernel's own helpers (kmemleak, debug objects)
 * allocate too, and fall back. But it must never do more than fail. And a slab asks for a page of
 * its own now and then, so how many rounds there are is not the same each time.
 *
 * Slab and page allocations are both covered, sleeping or not, by the kernel's fault injection
 * (CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC), whose debugfs files say where its switches are.
 */
#ifndef LASTREF_FAULT_H
#define LASTREF_FAULT_H

#include <linux/types.h>

struct kunit;

/**
 * struct lr_fault - an iteration
 * @test: whose
 * @who: NULL for the allocations of the calling task, or a prefix: those of work items whose
 *	function, and of kernel threads whose name, begins so
 * @nth: allocation that fails in this round, from 1
 * @hits: rounds in which it was reached, so far
 * @pool: with @who: which of the two allocators, slab or pages, is being failed
 * @armed: between the start of a round and lr_fault_stop()
 * @hit: result of the last round
 */
struct lr_fault {
	struct kunit *test;
	const char *who;
	unsigned int nth;
	unsigned int hits;
	unsigned int pool;
	bool armed;
	bool hit;
};

/**
 * lr_fault_begin() - prepare an iteration; the test is skipped where the kernel cannot do it
 * @f: filled
 * @test: owner
 * @who: see struct lr_fault; lives as long as the iteration
 *
 * Return: @f.
 */
struct lr_fault *lr_fault_begin(struct lr_fault *f, struct kunit *test, const char *who);

/**
 * lr_fault_next() - start the next round
 * @f: the iteration
 *
 * Return: false when the last round met no failure, so that there is nothing more to fail.
 */
bool lr_fault_next(struct lr_fault *f);

/**
 * lr_fault_stop() - end the round's injection, before expectations allocate messages
 * @f: the iteration
 *
 * With @who: call it when the work or the threads have done what the round is about.
 *
 * Return: whether an allocation failed.
 */
bool lr_fault_stop(struct lr_fault *f);

/* Rounds over the caller's own allocations. */
#define lr_fault_each(f, test) lr_fault_each_in(f, test, NULL)

/* Rounds over those of work items and threads called @who and something. */
#define lr_fault_each_in(f, test, who) \
	for (struct lr_fault *__f = lr_fault_begin(f, test, who); lr_fault_next(__f); )

/**
 * struct lr_fault_hold - what lr_fault_pause() set aside
 * @nth: the task's countdown
 * @times: of each allocator
 */
struct lr_fault_hold {
	unsigned int nth;
	int times[2];
};

/**
 * lr_fault_pause() - no injection until lr_fault_resume(), neither counted nor failing
 * @hold: filled
 *
 * For a device model whose memory is not the driver's. Interrupts are off from one to the other,
 * on a machine with one processor.
 */
void lr_fault_pause(struct lr_fault_hold *hold);
/** lr_fault_resume() - the end of it */
void lr_fault_resume(const struct lr_fault_hold *hold);

#endif
