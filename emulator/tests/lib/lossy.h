/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cable between two ports whose packets a test may lose, repeat or hold back.
 */
#ifndef CX3_TESTS_LOSSY_H
#define CX3_TESTS_LOSSY_H

#include "../../model/link.h"
#include "../../model/wire.h"
#include "fake.h"

#define LOSSY_DELAY_NS 1000ull

/**
 * struct lossy_verdict - what happens to a packet
 * @copies: how often it arrives; 0 = lost
 * @delay: more time than others take, ns
 */
struct lossy_verdict {
	unsigned int copies;
	u64 delay;
};

struct lossy_packet;
struct lossy;

/* One end: what a port claims, and where it belongs. */
struct lossy_end {
	struct link_end end;
	struct lossy *cable;
	int side;
};

/**
 * struct lossy - the cable
 * @end: its ends; @end[0] is A's
 * @host: clock
 * @on: what each owner said by enable()
 * @change: enable() was called
 * @fell: with false at least once
 * @up: link state
 * @queue: packets under way, by time of arrival
 * @queued: how many
 * @limit: at most so many are taken, the next gets LINK_BUSY
 * @busy: an end was refused
 * @judge: asked about each packet, may be NULL; @from is 0 for A
 * @arg: its argument
 * @sent: packets taken
 */
struct lossy {
	struct lossy_end end[2];
	struct fake_host host;
	bool on[2];
	bool change, fell;
	bool up;
	struct lossy_packet *queue;
	unsigned int queued, limit;
	bool busy[2];
	struct lossy_verdict (*judge)(void *arg, int from, const struct wire_pkt *w);
	void *arg;
	unsigned int sent;
};

void lossy_init(struct lossy *l, struct fake_world *w);
void lossy_fini(struct lossy *l);

#endif
