// SPDX-License-Identifier: GPL-2.0-only
/* Time, timers, memory and log of the models in the kernel. */
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include <lastref/pci.h>

#include "host.h"

/* Stack traces of the first violations show which line of the driver did it. */
#define TRACES 3

static enum hrtimer_restart timer_due(struct hrtimer *timer)
{
	struct model_host *h = container_of(timer, struct model_host, timer);
	unsigned long flags = fake_pci_lock();

	h->fire(h->ctx);
	fake_pci_unlock(flags);
	return HRTIMER_NORESTART;
}

void model_host_init(struct model_host *h, void (*fire)(void *ctx), void *ctx)
{
	hrtimer_init(&h->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	h->timer.function = timer_due;
	h->fire = fire;
	h->ctx = ctx;
	h->traces = TRACES;
}

void model_host_stop(struct model_host *h)
{
	hrtimer_cancel(&h->timer);
}

u64 host_now(void *ctx)
{
	return ktime_get_ns();
}

void host_timer(void *ctx, u64 deadline)
{
	struct model_host *h = ctx;

	if (deadline == CX3_NEVER)
		hrtimer_try_to_cancel(&h->timer);
	else
		hrtimer_start(&h->timer, ns_to_ktime(min_t(u64, deadline, KTIME_MAX)),
			      HRTIMER_MODE_ABS);
}

void *host_alloc(void *ctx, size_t size)
{
	return kzalloc(size, GFP_ATOMIC | __GFP_NOWARN);
}

void host_free(void *ctx, void *p)
{
	kfree(p);
}

void host_log(void *ctx, enum cx3_log_level level, const char *fmt, va_list ap)
{
	struct va_format text = { .fmt = fmt };
	struct model_host *h = ctx;
	va_list copy;

	va_copy(copy, ap);
	text.va = &copy;
	if (level == CX3_LOG_DEBUG)
		pr_debug("cx3: %pV\n", &text);
	else
		pr_info("# cx3: %pV\n", &text);
	va_end(copy);
	if (level == CX3_LOG_VIOLATION && h->traces) {
		h->traces--;
		dump_stack();
	}
}
