/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two HCAs at work for the fuzz targets: brought up, with a connected RC pair, a UC pair,
 * datagram QPs, an SRQ and an XRC target, so that hostile input meets live objects.
 */
#ifndef EMULATOR_FUZZ_BENCH_H
#define EMULATOR_FUZZ_BENCH_H

#include "../tests/lib/verbs.h"

enum { BENCH_QPS = 5 };

/**
 * struct bench - the machines and their objects; index 0 is the one under fire
 * @rig: HCAs and cable
 * @cq: one for each HCA
 * @mr: 64 KiB each
 * @srq: of HCA 0
 * @qp: [0] RC, [1] UC, [2] UD, [3] RC on the SRQ, [4] XRC target on it, of each HCA
 */
struct bench {
	struct rig rig;
	struct v_cq cq[RIG_HCAS];
	struct v_mr mr[RIG_HCAS];
	struct v_srq srq[RIG_HCAS];
	struct v_qp qp[RIG_HCAS][BENCH_QPS];
};

/** bench_up() - make it all, receives posted */
void bench_up(struct bench *b);

/** bench_run() - let time pass, but fire no more than a bounded number of timers */
void bench_run(struct bench *b, u64 ns);

/** bench_down() - free it all; a leak ends the program */
void bench_down(struct bench *b);

#endif
