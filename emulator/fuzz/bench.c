// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up for the fuzz targets; see bench.h.
 */
#include <stdlib.h>

#include "bench.h"

enum { RECEIVES = 8, MOST_TIMERS = 3000 };

static void make_qp(struct bench *b, unsigned int h, unsigned int i, u8 service, bool srq)
{
	struct rig_hca *hca = &b->rig.h[h];
	struct v_attr at;

	v_attr_init(&at, service, &b->cq[h], &b->cq[h]);
	if (srq)
		at.srq = &b->srq[h];
	v_qp_init(&b->qp[h][i], hca, &at);
}

static void make_objects(struct bench *b, unsigned int h)
{
	struct rig_hca *hca = &b->rig.h[h];
	struct v_sge s;
	unsigned int i;

	v_cq_init(&b->cq[h], hca, 8);
	v_mr_init(&b->mr[h], hca, 65536, V_ACCESS_ALL);
	v_srq_init(&b->srq[h], hca, 6, 0, &b->cq[h]);
	make_qp(b, h, 0, QPT_RC, false);
	make_qp(b, h, 1, QPT_UC, false);
	make_qp(b, h, 2, QPT_UD, false);
	make_qp(b, h, 3, QPT_RC, true);
	make_qp(b, h, 4, QPT_XRC, true);
	s = v_sge(&b->mr[h], 0, 8192);
	for (i = 0; i < RECEIVES; i++)
		v_srq_post(&b->srq[h], &s, 1);
}

void bench_up(struct bench *b)
{
	unsigned int h, i, n;

	rig_up(&b->rig);
	for (h = 0; h < RIG_HCAS; h++)
		make_objects(b, h);
	for (i = 0; i < BENCH_QPS; i++) {
		if (i != 2) {
			v_connect(&b->qp[0][i], &b->qp[1][i], 0x100 * i);
			continue;
		}
		for (h = 0; h < RIG_HCAS; h++) {
			v_qp_rtr(&b->qp[h][i], 0, 0, 0);
			v_qp_rts(&b->qp[h][i], 0);
		}
	}
	for (h = 0; h < RIG_HCAS; h++) {
		struct v_sge s = v_sge(&b->mr[h], 16384, 8192);

		for (i = 0; i < 3; i++)
			for (n = 0; n < RECEIVES; n++)
				v_recv(&b->qp[h][i], &s, 1);
	}
}

void bench_run(struct bench *b, u64 ns)
{
	u64 end = b->rig.world.now + ns;
	unsigned int left = MOST_TIMERS;

	while (left-- && fake_next(&b->rig.world, end - b->rig.world.now))
		;
	if (b->rig.world.now < end)
		b->rig.world.now = end;
}

void bench_down(struct bench *b)
{
	unsigned int h;

	rig_down(&b->rig);
	for (h = 0; h < RIG_HCAS; h++)
		if (b->rig.h[h].host.live)
			abort();
}
