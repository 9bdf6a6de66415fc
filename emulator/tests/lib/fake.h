/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A front-end for tests: one virtual clock for all models, guest memory with
 * bounds, and everything a model tells its host kept for the test to look at.
 */
#ifndef CX3_TESTS_FAKE_H
#define CX3_TESTS_FAKE_H

#include "../../model/host.h"

enum { FAKE_HOSTS = 16, FAKE_VECTORS = 128, FAKE_VIOLATIONS = 32 };

struct fake_host;

/**
 * struct fake_world - the clock
 * @now: virtual ns
 * @host: whose timers it drives
 * @nhosts: how many
 */
struct fake_world {
	u64 now;
	struct fake_host *host[FAKE_HOSTS];
	unsigned int nhosts;
};

/**
 * struct fake_host - what one model (device or fabric) sees as its host
 * @host: to be given to the model
 * @world: its clock
 * @deadline: of the armed timer, CX3_NEVER if none
 * @fire: called when it is due
 * @arg: argument of @fire
 * @ram: guest memory; addresses below @ram_base or beyond are bus errors
 * @ram_base: bus address of @ram
 * @ram_size: bytes
 * @bus_master: DMA fails while this is false
 * @bad_dma: DMA that failed
 * @msix: times each vector was raised
 * @intx: level of the line
 * @live: allocations not given back
 * @fail_at: this many more allocations succeed, then one fails; ~0 = never
 * @violations: how many were logged
 * @violation: text of the first ones
 * @verbose: print log lines as TAP comments
 */
struct fake_host {
	struct cx3_host host;
	struct fake_world *world;
	u64 deadline;
	void (*fire)(void *arg);
	void *arg;
	u8 *ram;
	u64 ram_base;
	u64 ram_size;
	bool bus_master;
	unsigned int bad_dma;
	unsigned int msix[FAKE_VECTORS];
	bool intx;
	unsigned int live;
	unsigned int fail_at;
	unsigned int violations;
	char violation[FAKE_VIOLATIONS][160];
	bool verbose;
};

/**
 * fake_host_init() - join a world
 * @h: host, zeroed or not
 * @w: clock
 * @ram_size: bytes of guest memory at bus address 0x1000000, may be 0
 *
 * Set @fire and @arg once the model exists.
 */
void fake_host_init(struct fake_host *h, struct fake_world *w, u64 ram_size);

/** fake_host_fini() - leave the world and free the memory */
void fake_host_fini(struct fake_host *h);

/** fake_ram() - guest memory at a bus address; aborts when [@addr, @addr + @len) is not in it */
void *fake_ram(struct fake_host *h, u64 addr, u64 len);

/** fake_run() - let @ns pass, firing every timer on the way; returns how many fired */
unsigned int fake_run(struct fake_world *w, u64 ns);

/** fake_next() - fire the next timer due in @within ns at most; false: there is none */
bool fake_next(struct fake_world *w, u64 within);

#endif
