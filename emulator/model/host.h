/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The world outside the model: what a front-end (QEMU, KUnit, a test program)
 * supplies. Devices and fabrics use the same interface, each with its own
 * struct cx3_host.
 *
 * Rules for both sides:
 *  - The front-end serialises all calls into the model (QEMU's big lock, a
 *    spinlock in the kernel). The model has no locks and no threads.
 *  - Nothing that a host operation does may call back into the model. The
 *    model calls msix() and intx() last, after its state is consistent; a
 *    front-end still has to make sure that the interrupt runs later.
 *  - No operation sleeps. alloc() may fail; the model then drops a packet or
 *    answers EXCEED_LIM, and stays consistent.
 *  - Time is virtual nanoseconds from one clock shared by all models.
 */
#ifndef CX3_MODEL_HOST_H
#define CX3_MODEL_HOST_H

#include "types.h"

/* Deadline that means "no timer". */
#define CX3_NEVER (~0ull)

enum cx3_log_level {
	CX3_LOG_DEBUG,
	CX3_LOG_INFO,
	CX3_LOG_WARN,
	CX3_LOG_VIOLATION,
};

/**
 * struct cx3_host_ops - services of a front-end
 * @dma_read: copy @len bytes from bus address @addr of the guest; 0, or
 *	negative if any byte is not plain memory (nothing is promised about
 *	@buf then). Never reaches a BAR. NULL for a fabric.
 * @dma_write: the other direction.
 * @msix: raise MSI-X vector (masking and pending bits are the front-end's)
 * @intx: set the level of the INTx line
 * @now: virtual time in ns, never going back
 * @timer: arm the one timer of this model for absolute time @deadline, which
 *	replaces the former deadline; CX3_NEVER disarms it. When it is due (or
 *	already past) the front-end calls the model's fire function, from the
 *	outside, never from inside this call.
 * @alloc: @size zeroed bytes or NULL
 * @free: give them back; NULL is allowed
 * @log: one line without newline; the format knows %s %d %u %x %llu %llx %c
 * @guest_ip: instruction pointer of the vCPU that makes the access being
 *	served, 0 if unknown. May be NULL.
 * @unplug: a fault rule asks for surprise removal: make the slot say so. The
 *	device itself is gone already. May be NULL.
 */
struct cx3_host_ops {
	int (*dma_read)(void *ctx, u64 addr, void *buf, u32 len);
	int (*dma_write)(void *ctx, u64 addr, const void *buf, u32 len);
	void (*msix)(void *ctx, unsigned int vector);
	void (*intx)(void *ctx, bool level);
	u64 (*now)(void *ctx);
	void (*timer)(void *ctx, u64 deadline);
	void *(*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, void *p);
	void (*log)(void *ctx, enum cx3_log_level level, const char *fmt, va_list ap);
	u64 (*guest_ip)(void *ctx);
	void (*unplug)(void *ctx);
};

/**
 * struct cx3_host - one front-end object as the model sees it
 * @ops: its operations
 * @ctx: first argument of each of them
 */
struct cx3_host {
	const struct cx3_host_ops *ops;
	void *ctx;
};

static inline u64 cx3_host_now(const struct cx3_host *h)
{
	return h->ops->now(h->ctx);
}

static inline void *cx3_host_alloc(const struct cx3_host *h, size_t size)
{
	return h->ops->alloc(h->ctx, size);
}

static inline void cx3_host_free(const struct cx3_host *h, void *p)
{
	if (p)
		h->ops->free(h->ctx, p);
}

static inline void __printf(3, 4)
cx3_host_log(const struct cx3_host *h, enum cx3_log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	h->ops->log(h->ctx, level, fmt, ap);
	va_end(ap);
}

#endif
