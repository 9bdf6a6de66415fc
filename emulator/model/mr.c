// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to guest memory through a key: the check (IBA vol. 1, 10.6.3), and
 * the copy through the translation table.
 */
#include "mpt.h"

static void set_translation(struct cx3_mr *mr, const struct cx3_mpt *region, u64 start)
{
	mr->physical = region->flags & MPT_PHYSICAL;
	mr->start = start;
	mr->mtt = region->mtt;
	mr->log_page = region->log_page;
	mr->cached_page = ~0ull;
	if (mr->physical)
		return;
	mr->fbo = region->start & (CX3_BIT(region->log_page) - 1);
	/* for a window: where its first byte lies in the region */
	mr->fbo += start - region->start;
}

static int check_range(const struct cx3_mpt *m, u64 va, u64 len)
{
	if (va < m->start || va - m->start > m->length || len > m->length - (va - m->start))
		return CX3_E_RANGE;
	return 0;
}

static int check_window(struct cx3_hca *hca, struct cx3_mpt *w, u32 qpn, struct cx3_mr *mr)
{
	struct cx3_obj *obj = cx3_obj_get(hca, CX3_MPT, w->lkey & hca->table[CX3_MPT].mask);
	struct cx3_mpt *region = obj ? container_of(obj, struct cx3_mpt, obj) : NULL;

	if ((w->qpn & MPT_QPN_BOUND) && w->qpn >> 8 != qpn)
		return CX3_E_KEY;
	if (!w->lkey || !region || region->obj.sw || region->key != w->lkey)
		return CX3_E_KEY;
	set_translation(mr, region, w->start + w->shift);
	mr->start = w->start;
	if (mr->physical)
		mr->fbo = w->shift;
	return 0;
}

static bool wants_remote(u32 access)
{
	return access & (CX3_ACC_REMOTE_READ | CX3_ACC_REMOTE_WRITE | CX3_ACC_ATOMIC);
}

/* A key of a destroyed region used by its own side: the driver let it go too early. */
static void report_dead(struct cx3_hca *hca, u32 key, u32 access)
{
	u32 index = mpt_rotate(key) & hca->table[CX3_MPT].mask;
	struct cx3_obj *obj = cx3_obj_get(hca, CX3_MPT, index);

	if (obj && obj->sw && !wants_remote(access) &&
	    container_of(obj, struct cx3_mpt, obj)->key == mpt_rotate(key))
		cx3_violation(hca, CX3_V_DEAD_OBJECT, "L_Key %08x of a destroyed region used", key);
}

int cx3_mr_check(struct cx3_hca *hca, u32 key, u32 pd, u32 qpn, u64 va, u64 len, u32 access,
		 bool rlkey, struct cx3_mr *mr)
{
	struct cx3_mpt *m;
	int err = 0;

	memset(mr, 0, sizeof(*mr));
	if (key == CX3_RESERVED_LKEY) {
		mr->physical = true;
		return rlkey && !wants_remote(access) ? 0 : CX3_E_KEY;
	}
	m = cx3_mpt_of(hca, key);
	if (!m) {
		report_dead(hca, key, access);
		return CX3_E_KEY;
	}
	if (m->key != mpt_rotate(key) || m->status != MPT_STATUS_HW ||
	    (m->pd ^ pd) & MPT_PD_MASK)
		return CX3_E_KEY;
	if (access & ~(m->flags >> MPT_ACCESS_SHIFT & MPT_ACCESS_MASK))
		return CX3_E_ACCESS;
	if (m->flags & MPT_REGION)
		set_translation(mr, m, m->start);
	else if (wants_remote(access))
		err = check_window(hca, m, qpn, mr);
	else
		err = CX3_E_KEY;
	return err ? err : check_range(m, va, len);
}

/* Bus address of @va and how many bytes follow it there. */
static int translate(struct cx3_hca *hca, void *what, u64 va, u64 *addr, u32 *room)
{
	struct cx3_mr *mr = what;
	u64 at, page, left;
	int err;

	if (mr->physical) {
		*addr = va + mr->fbo;
		*room = CX3_COPY_PIECE;
		return 0;
	}
	at = va - mr->start + mr->fbo;
	page = at >> mr->log_page;
	if (page != mr->cached_page) {
		err = cx3_mtt_get(hca, mr->mtt + page * CX3_MTT_SIZE, &mr->cached_addr);
		if (err) {
			mr->cached_page = ~0ull;
			return err;
		}
		mr->cached_page = page;
	}
	at &= CX3_BIT(mr->log_page) - 1;
	left = CX3_BIT(mr->log_page) - at;
	*addr = mr->cached_addr + at;
	*room = left > CX3_COPY_PIECE ? CX3_COPY_PIECE : (u32)left;
	return 0;
}

int cx3_mr_read(struct cx3_hca *hca, struct cx3_mr *mr, u64 va, void *dst, u32 len)
{
	return cx3_copy(hca, translate, mr, va, dst, len, false);
}

int cx3_mr_write(struct cx3_hca *hca, struct cx3_mr *mr, u64 va, const void *src, u32 len)
{
	return cx3_copy(hca, translate, mr, va, (u8 *)src, len, true);
}
