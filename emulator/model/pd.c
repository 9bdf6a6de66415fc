// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection domains. To the device a PD is a number in contexts and keys; no command makes or
 * destroys one. So whoever wants to see the use of a destroyed PD has to say when that was: a test
 * that knows the driver's numbers, through the front-end.
 */
#include "mpt.h"
#include "xport.h"

#define PDS (MPT_PD_MASK + 1)

static bool is_dead(const struct cx3_hca *hca, u32 pd)
{
	const u8 *dead = hca->core->dead_pds;

	pd &= MPT_PD_MASK;
	return dead && dead[pd / 8] >> pd % 8 & 1;
}

/**
 * cx3_pd_use - an object or work request names a PD
 * @hca: device
 * @pd: PD
 * @what: by what, for the log
 * @num: its number
 */
void cx3_pd_use(struct cx3_hca *hca, u32 pd, const char *what, u32 num)
{
	if (is_dead(hca, pd))
		cx3_violation(hca, CX3_V_DEAD_OBJECT, "%s 0x%x uses PD %u, which is destroyed",
			      what, num, pd & MPT_PD_MASK);
}

static u32 pd_of(enum cx3_kind kind, const struct cx3_obj *obj)
{
	if (kind == CX3_QP)
		return ((const struct cx3_qp *)obj)->c.pd;
	if (kind == CX3_SRQ)
		return ((const struct cx3_srq *)obj)->c.pd;
	return container_of(obj, const struct cx3_mpt, obj)->pd;
}

/* Everything that lives in the PD when it is destroyed. */
static void report_users(struct cx3_hca *hca, u32 pd)
{
	static const u8 kinds[] = { CX3_QP, CX3_SRQ, CX3_MPT };
	struct cx3_obj *obj;
	u32 i, slot;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (slot = 0; (obj = cx3_obj_next(hca, kinds[i], &slot));) {
			if (!obj->sw && (pd_of(kinds[i], obj) & MPT_PD_MASK) == pd)
				cx3_pd_use(hca, pd, cx3_kind_name[kinds[i]], obj->num);
		}
	}
}

int cx3_pd_tell(struct cx3_hca *hca, u32 pd, bool alive)
{
	struct cx3_core *core = hca->core;

	if (pd >= PDS)
		return CX3_E_RANGE;
	if (!core->dead_pds)
		core->dead_pds = cx3_alloc(hca, PDS / 8);
	if (!core->dead_pds)
		return CX3_E_NOMEM;
	core->dead_pds[pd / 8] &= ~(1u << pd % 8);
	if (alive)
		return 0;
	core->dead_pds[pd / 8] |= 1u << pd % 8;
	report_users(hca, pd);
	return 0;
}

/**
 * cx3_pd_forget - no PD is known to be destroyed any more
 * @hca: device
 */
void cx3_pd_forget(struct cx3_hca *hca)
{
	cx3_free(hca, hca->core->dead_pds);
	hca->core->dead_pds = NULL;
}
