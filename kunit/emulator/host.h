/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every model asks of its host, be it an HCA or a fabric: time, one timer, memory, a log.
 */
#ifndef KUNIT_EMULATOR_HOST_H
#define KUNIT_EMULATOR_HOST_H

#include <linux/hrtimer.h>

#include "model/host.h"

/**
 * struct model_host - the host of one model
 * @timer: the model's one timer
 * @fire: called when it is due, under fake_pci_lock()
 * @ctx: argument of @fire, and of every operation of the model
 * @traces: violations that still get a stack trace in the log
 *
 * The first member of the structure that is the model's context, so that host_*() find it.
 */
struct model_host {
	struct hrtimer timer;
	void (*fire)(void *ctx);
	void *ctx;
	unsigned int traces;
};

void model_host_init(struct model_host *h, void (*fire)(void *ctx), void *ctx);
/** model_host_stop() - after it @h->fire is not called any more. Context: may sleep. */
void model_host_stop(struct model_host *h);

u64 host_now(void *ctx);
void host_timer(void *ctx, u64 deadline);
void *host_alloc(void *ctx, size_t size);
void host_free(void *ctx, void *p);
void host_log(void *ctx, enum cx3_log_level level, const char *fmt, va_list ap);

#endif
