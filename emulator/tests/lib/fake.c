// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clock, memory and log of the tests' front-end; see fake.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fake.h"
#include "tap.h"

#define RAM_BASE 0x1000000ull

static bool in_ram(const struct fake_host *h, u64 addr, u64 len)
{
	return h->ram && addr >= h->ram_base && len <= h->ram_size &&
	       addr - h->ram_base <= h->ram_size - len;
}

void *fake_ram(struct fake_host *h, u64 addr, u64 len)
{
	if (in_ram(h, addr, len))
		return h->ram + (addr - h->ram_base);
	tap_note("test reaches beyond guest memory: %llx + %llx", addr, len);
	abort();
}

static int dma(struct fake_host *h, u64 addr, void *buf, u32 len, bool to_ram)
{
	if (!h->bus_master || !in_ram(h, addr, len)) {
		h->bad_dma++;
		return -1;
	}
	if (to_ram)
		memcpy(h->ram + (addr - h->ram_base), buf, len);
	else
		memcpy(buf, h->ram + (addr - h->ram_base), len);
	return 0;
}

static int host_read(void *ctx, u64 addr, void *buf, u32 len)
{
	return dma(ctx, addr, buf, len, false);
}

static int host_write(void *ctx, u64 addr, const void *buf, u32 len)
{
	return dma(ctx, addr, (void *)buf, len, true);
}

static void host_msix(void *ctx, unsigned int vector)
{
	struct fake_host *h = ctx;

	if (vector < FAKE_VECTORS)
		h->msix[vector]++;
}

static void host_intx(void *ctx, bool level)
{
	struct fake_host *h = ctx;

	h->intx = level;
}

static u64 host_now(void *ctx)
{
	struct fake_host *h = ctx;

	return h->world->now;
}

static void host_timer(void *ctx, u64 deadline)
{
	struct fake_host *h = ctx;

	h->deadline = deadline;
}

static void *host_alloc(void *ctx, size_t size)
{
	struct fake_host *h = ctx;
	void *p;

	if (h->fail_at != ~0u && !h->fail_at--) {
		h->fail_at = ~0u;
		return NULL;
	}
	p = calloc(1, size);
	if (p)
		h->live++;
	return p;
}

static void host_free(void *ctx, void *p)
{
	struct fake_host *h = ctx;

	if (p)
		h->live--;
	free(p);
}

static void host_log(void *ctx, enum cx3_log_level level, const char *fmt, va_list ap)
{
	struct fake_host *h = ctx;
	char line[160];

	vsnprintf(line, sizeof(line), fmt, ap);
	if (level == CX3_LOG_VIOLATION) {
		if (h->violations < FAKE_VIOLATIONS)
			memcpy(h->violation[h->violations], line, sizeof(line));
		h->violations++;
	}
	if (h->verbose)
		tap_note("%s", line);
}

static const struct cx3_host_ops ops = {
	.dma_read = host_read,
	.dma_write = host_write,
	.msix = host_msix,
	.intx = host_intx,
	.now = host_now,
	.timer = host_timer,
	.alloc = host_alloc,
	.free = host_free,
	.log = host_log,
};

void fake_host_init(struct fake_host *h, struct fake_world *w, u64 ram_size)
{
	memset(h, 0, sizeof(*h));
	h->host.ops = &ops;
	h->host.ctx = h;
	h->world = w;
	h->deadline = CX3_NEVER;
	h->fail_at = ~0u;
	h->bus_master = true;
	h->ram_base = RAM_BASE;
	h->ram_size = ram_size;
	/* Pages come into being when they are touched: a fuzz target makes this host very often. */
	if (ram_size)
		h->ram = mmap(NULL, ram_size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (h->ram == MAP_FAILED || w->nhosts == FAKE_HOSTS)
		abort();
	w->host[w->nhosts++] = h;
}

void fake_host_fini(struct fake_host *h)
{
	struct fake_world *w = h->world;
	unsigned int i;

	for (i = 0; i < w->nhosts && w->host[i] != h; i++)
		;
	if (i < w->nhosts)
		w->host[i] = w->host[--w->nhosts];
	if (h->ram)
		munmap(h->ram, h->ram_size);
	h->ram = NULL;
}

bool fake_next(struct fake_world *w, u64 within)
{
	struct fake_host *first = NULL;
	unsigned int i;

	for (i = 0; i < w->nhosts; i++)
		if (w->host[i]->fire && (!first || w->host[i]->deadline < first->deadline))
			first = w->host[i];
	if (!first || first->deadline == CX3_NEVER || first->deadline > w->now + within)
		return false;
	if (first->deadline > w->now)
		w->now = first->deadline;
	first->deadline = CX3_NEVER;
	first->fire(first->arg);
	return true;
}

unsigned int fake_run(struct fake_world *w, u64 ns)
{
	u64 end = w->now + ns;
	unsigned int fired = 0;

	while (fake_next(w, end - w->now))
		fired++;
	w->now = end;
	return fired;
}
