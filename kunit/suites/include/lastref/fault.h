/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every allocation of an operation fails once: the first, then the second, and so on, until the
 * operation needs fewer than that. The last round so is one without a failure.
 *
 *	struct lr_fault f;
 *
 *	lr_fault_each(&f, test, LR_FAULT_TASK) {
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
 * Not every failure has to fail the operation: the kernel's own helpers (kmemleak, debug objects)
 * allocate too, and fall back. But it must never do more than fail. Slab and page allocations
 * are both covered, sleeping or not, by the kernel's fault injection (CONFIG_FAILSLAB,
 * CONFIG_FAIL_PAGE_ALLOC), whose debugfs files say where its switches are.
 */
#ifndef LASTREF_FAULT_H
#define LASTREF_FAULT_H

#include <linux/types.h>

struct kunit;

/**
 * enum lr_fault_scope - whose allocations are counted and fail
 * @LR_FAULT_TASK: those of the calling task
 * @LR_FAULT_THREADS: those of kernel threads, work items and the caller, in the order in which
 *	they happen; first slab, then pages. The order has to be the same in each round, so this is
 *	for quiet machines: user mode Linux, or a guest that does nothing else.
 */
enum lr_fault_scope {
	LR_FAULT_TASK,
	LR_FAULT_THREADS,
};

/**
 * struct lr_fault - an iteration
 * @test: whose
 * @scope: as given
 * @nth: allocation that fails in this round, from 1
 * @hits: rounds in which it was reached, so far
 * @pool: LR_FAULT_THREADS: which of the two allocators
 * @armed: between the start of a round and lr_fault_stop()
 * @hit: result of the last round
 */
struct lr_fault {
	struct kunit *test;
	enum lr_fault_scope scope;
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
 * @scope: whose allocations
 *
 * Return: @f.
 */
struct lr_fault *lr_fault_begin(struct lr_fault *f, struct kunit *test, enum lr_fault_scope scope);

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
 * Return: whether an allocation failed.
 */
bool lr_fault_stop(struct lr_fault *f);

#define lr_fault_each(f, test, scope) \
	for (struct lr_fault *__f = lr_fault_begin(f, test, scope); lr_fault_next(__f); )

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
