// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory protection table: the commands, and the check of a key.
 *
 * The entries live in dMPT pages that the CPU may edit: re-registration takes
 * an entry to software, changes it in place, marks it valid by a store and
 * says SYNC_TPT. So a record is kept for every entry that ever was the
 * device's, and read again from memory when SYNC_TPT was seen since.
 */
#include "mpt.h"

static struct cx3_mpt *record(struct cx3_hca *hca, u32 index)
{
	struct cx3_obj *obj = cx3_obj_get(hca, CX3_MPT, index);

	return obj ? container_of(obj, struct cx3_mpt, obj) : NULL;
}

static void forget(struct cx3_hca *hca, struct cx3_obj *obj)
{
	cx3_obj_del(hca, CX3_MPT, obj);
	cx3_free(hca, container_of(obj, struct cx3_mpt, obj));
}

void cx3_mpt_reset(struct cx3_hca *hca)
{
	struct cx3_obj *obj;
	u32 slot = 0;

	while ((obj = cx3_obj_next(hca, CX3_MPT, &slot)))
		forget(hca, obj);
}

void cx3_mpt_unmapped(struct cx3_hca *hca, u64 va, u64 end)
{
	u64 base = hca->core->base[CX3_ICM_DMPT];
	u32 slot = va > base ? (u32)((va - base) / CX3_MPT_SIZE) : 0;
	struct cx3_obj *obj;

	if (hca->phase != CX3_PH_RUN || end <= base || va - base >= 1ull << 32)
		return;
	while ((obj = cx3_obj_next(hca, CX3_MPT, &slot))) {
		if (base + (u64)obj->num * CX3_MPT_SIZE >= end)
			return;
		if (obj->sw)
			forget(hca, obj);
	}
}

static void decode(struct cx3_mpt *m, const u8 *e)
{
	u32 flags = get32(e + MPT_FLAGS);

	m->status = flags >> MPT_STATUS_SHIFT;
	m->flags = flags & 0x0fffffffu;
	m->qpn = get32(e + MPT_QPN);
	m->key = get32(e + MPT_KEY);
	m->pd = get32(e + MPT_PD);
	m->start = get64(e + MPT_START);
	m->length = e[MPT_LEN64] & 0x40 ? ~0ull : get64(e + MPT_LENGTH);
	m->lkey = get32(e + MPT_LKEY);
	m->mtt = get64(e + MPT_MTT) & 0xfffffffff8ull;
	m->mtt_size = get32(e + MPT_MTT_SIZE);
	m->log_page = get32(e + MPT_ENTITY) & 0x3f;
	m->shift = 0;
}

void cx3_mpt_refresh(struct cx3_hca *hca, struct cx3_obj *obj)
{
	struct cx3_mpt *m = container_of(obj, struct cx3_mpt, obj);
	u8 e[CX3_MPT_SIZE];

	if (m->gen == hca->core->tpt_gen)
		return;
	m->gen = hca->core->tpt_gen;
	if (!(m->flags & MPT_REGION))
		return;	/* windows are not edited in place */
	if (cx3_icm_read(hca, CX3_ICM_DMPT, m->obj.num, 0, e, sizeof(e)))
		return;
	decode(m, e);
	m->obj.sw = m->status != MPT_STATUS_HW && m->status != MPT_STATUS_FREE;
}

int cx3_mpt_store(struct cx3_hca *hca, struct cx3_mpt *m)
{
	u8 e[CX3_MPT_SIZE];
	int err = cx3_icm_read(hca, CX3_ICM_DMPT, m->obj.num, 0, e, sizeof(e));

	if (err)
		return err;
	put32(e + MPT_FLAGS, (u32)m->status << MPT_STATUS_SHIFT | m->flags);
	put32(e + MPT_QPN, m->qpn);
	put32(e + MPT_KEY, m->key);
	put32(e + MPT_PD, m->pd);
	put64(e + MPT_START, m->start);
	put64(e + MPT_LENGTH, m->length);
	put32(e + MPT_LKEY, m->lkey);
	put32(e + MPT_WINDOWS, m->windows);
	put32(e + MPT_ENTITY, m->log_page);
	return cx3_icm_write(hca, CX3_ICM_DMPT, m->obj.num, 0, e, sizeof(e));
}

/* ------------------------------------------------------------- the commands */

static enum cx3_status check_entry(const struct cx3_mpt *m)
{
	if (m->status != MPT_STATUS_SW && m->status != MPT_STATUS_HW &&
	    m->status != MPT_STATUS_FREE)
		return CX3_BAD_PARAM;
	/* translated regions need a page size that exists */
	if ((m->flags & MPT_REGION) && !(m->flags & MPT_PHYSICAL) &&
	    m->status != MPT_STATUS_FREE && (m->log_page < 12 || m->log_page > 31))
		return CX3_BAD_PARAM;
	return CX3_OK;
}

/* Bits of the flags, PD and page size words that have a meaning; the word of windows is ours. */
static void audit_reserved(struct cx3_hca *hca, u32 index, const u8 *e)
{
	if (get32(e + MPT_FLAGS) & ~0xf002ff00u || get32(e + MPT_PD) & ~0x1bffffffu ||
	    get32(e + MPT_WINDOWS) || get32(e + MPT_ENTITY) & ~0x3fu)
		cx3_violation(hca, CX3_V_RESERVED, "entry of MPT %u has reserved bits", index);
}

enum cx3_status cx3_cmd_sw2hw_mpt(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_mpt *m = record(hca, cmd->in_mod);
	enum cx3_status st;

	if (m) {
		cx3_mpt_refresh(hca, &m->obj);
		if (!m->obj.sw)
			return CX3_BAD_RES_STATE;
	} else {
		m = cx3_alloc(hca, sizeof(*m));
		if (!m)
			return CX3_EXCEED_LIM;
		m->obj.num = cmd->in_mod;
		m->obj.sw = true;
		if (cx3_obj_add(hca, CX3_MPT, &m->obj)) {
			cx3_free(hca, m);
			return CX3_EXCEED_LIM;
		}
	}
	if (hca->cfg.strict)
		audit_reserved(hca, cmd->in_mod, cmd->in);
	decode(m, cmd->in);
	cx3_pd_use(hca, m->pd, "MPT", cmd->in_mod);
	m->windows = 0;
	m->gen = hca->core->tpt_gen;
	st = check_entry(m);
	if (!st && (m->key & hca->table[CX3_MPT].mask) != cmd->in_mod)
		st = CX3_BAD_PARAM;
	if (!st && cx3_icm_write(hca, CX3_ICM_DMPT, cmd->in_mod, 0, cmd->in, CX3_MPT_SIZE))
		st = CX3_ICM_ERROR;
	if (m->status != MPT_STATUS_FREE)
		m->status = MPT_STATUS_HW;
	if (!st && cx3_mpt_store(hca, m))
		st = CX3_ICM_ERROR;
	if (st)
		forget(hca, &m->obj);
	else
		m->obj.sw = false;
	return st;
}

/* A window that goes away no longer holds its region. */
static void unbind(struct cx3_hca *hca, struct cx3_mpt *w)
{
	struct cx3_mpt *region;

	if ((w->flags & MPT_REGION) || !w->lkey)
		return;
	region = record(hca, w->lkey & hca->table[CX3_MPT].mask);
	if (region && region->key == w->lkey && region->windows) {
		region->windows--;
		cx3_mpt_store(hca, region);
	}
	w->lkey = 0;
	w->length = 0;
}

enum cx3_status cx3_cmd_hw2sw_mpt(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_mpt *m = record(hca, cmd->in_mod);

	if (m)
		cx3_mpt_refresh(hca, &m->obj);
	if (!m || m->obj.sw)
		return CX3_BAD_RES_STATE;
	if (m->windows)
		return CX3_REG_BOUND;
	unbind(hca, m);
	m->status = MPT_STATUS_SW;
	m->obj.sw = true;
	if (cx3_mpt_store(hca, m))
		return CX3_ICM_ERROR;
	if (cmd->has_out &&
	    cx3_icm_read(hca, CX3_ICM_DMPT, cmd->in_mod, 0, cmd->out, CX3_MPT_SIZE))
		return CX3_ICM_ERROR;
	return CX3_OK;
}

enum cx3_status cx3_cmd_query_mpt(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	if (!record(hca, cmd->in_mod))
		return CX3_BAD_RES_STATE;
	if (cx3_icm_read(hca, CX3_ICM_DMPT, cmd->in_mod, 0, cmd->out, CX3_MPT_SIZE))
		return CX3_ICM_ERROR;
	return CX3_OK;
}

enum cx3_status cx3_cmd_sync_tpt(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	(void)cmd;
	hca->core->tpt_gen++;
	return CX3_OK;
}

/* --------------------------------------------------------- work requests */

struct cx3_mpt *cx3_mpt_of(struct cx3_hca *hca, u32 key)
{
	struct cx3_mpt *m = record(hca, mpt_rotate(key) & hca->table[CX3_MPT].mask);

	if (!m)
		return NULL;
	cx3_mpt_refresh(hca, &m->obj);
	return m->obj.sw ? NULL : m;
}

#define FR_MAX_PAGES 512u
#define FR_CHUNK 32u

static int copy_page_list(struct cx3_hca *hca, struct cx3_mpt *m, u64 list, u32 pages)
{
	u8 chunk[FR_CHUNK * CX3_MTT_SIZE];
	u32 i, n;
	int err;

	for (i = 0; i < pages; i += n) {
		n = pages - i < FR_CHUNK ? pages - i : FR_CHUNK;
		err = cx3_dma_read(hca, list + i * CX3_MTT_SIZE, chunk, n * CX3_MTT_SIZE);
		if (!err)
			err = cx3_icm_write(hca, CX3_ICM_MTT, (u32)(m->mtt / CX3_MTT_SIZE) + i, 0,
					    chunk, n * CX3_MTT_SIZE);
		if (err)
			return err;
	}
	return 0;
}

int cx3_mpt_fast_reg(struct cx3_hca *hca, u32 pd, const struct cx3_fast_reg *fr)
{
	struct cx3_mpt *m = cx3_mpt_of(hca, fr->key);
	u64 span, pages;
	int err;

	/* index must agree; the variant byte is what the request renews */
	if (!m || (m->key ^ mpt_rotate(fr->key)) & 0xffffffu || !(m->flags & MPT_REGION))
		return CX3_E_KEY;
	if ((m->pd ^ pd) & MPT_PD_MASK)
		return CX3_E_KEY;
	if (!(m->pd & MPT_PD_FAST_REG) || m->status != MPT_STATUS_FREE)
		return CX3_E_ACCESS;
	if (fr->log_page < 12 || fr->log_page > 31 || fr->len > CX3_BIT(40))
		return CX3_E_RANGE;
	span = fr->len + (fr->start & (CX3_BIT(fr->log_page) - 1));
	pages = (span + CX3_BIT(fr->log_page) - 1) >> fr->log_page;
	if (pages > m->mtt_size || pages > FR_MAX_PAGES)
		return CX3_E_RANGE;
	err = copy_page_list(hca, m, fr->list, (u32)pages);
	if (err)
		return err;
	m->key = mpt_rotate(fr->key);
	m->flags = (m->flags & ~(MPT_ACCESS_MASK << MPT_ACCESS_SHIFT)) |
		   fr->flags >> 27 << MPT_ACCESS_SHIFT;
	m->start = fr->start;
	m->length = fr->len;
	m->log_page = fr->log_page;
	m->status = MPT_STATUS_HW;
	return cx3_mpt_store(hca, m);
}

int cx3_mpt_invalidate(struct cx3_hca *hca, u32 key, u32 pd, u32 qpn, bool remote)
{
	struct cx3_mpt *m = cx3_mpt_of(hca, key);

	(void)remote;
	if (!m || m->key != mpt_rotate(key) || m->status != MPT_STATUS_HW)
		return CX3_E_KEY;
	if ((m->pd ^ pd) & MPT_PD_MASK)
		return CX3_E_KEY;
	if ((m->pd & MPT_PD_INVALIDATE) != MPT_PD_INVALIDATE || m->windows)
		return CX3_E_ACCESS;
	if (!(m->flags & MPT_REGION) && m->qpn >> 8 != qpn)
		return CX3_E_ACCESS;
	unbind(hca, m);
	m->status = MPT_STATUS_FREE;
	return cx3_mpt_store(hca, m);
}

/* The region a window may be bound to, or NULL. */
static struct cx3_mpt *bindable(struct cx3_hca *hca, u32 pd, const struct cx3_bind *b)
{
	struct cx3_mpt *r = cx3_mpt_of(hca, b->lkey);
	u32 access;

	if (!r || r->key != mpt_rotate(b->lkey) || !(r->flags & MPT_REGION) ||
	    r->status != MPT_STATUS_HW || (r->pd ^ pd) & MPT_PD_MASK)
		return NULL;
	access = r->flags >> MPT_ACCESS_SHIFT & MPT_ACCESS_MASK;
	if (!(access & CX3_ACC_BIND))
		return NULL;
	/* remote write and atomic need local write on the region (IBA 10.6.7.2) */
	if ((b->flags1 >> 27 & (CX3_ACC_REMOTE_WRITE | CX3_ACC_ATOMIC)) &&
	    !(access & CX3_ACC_LOCAL_WRITE))
		return NULL;
	if (b->addr < r->start || b->addr - r->start > r->length ||
	    b->len > r->length - (b->addr - r->start))
		return NULL;
	return r;
}

int cx3_mpt_bind(struct cx3_hca *hca, u32 pd, u32 qpn, const struct cx3_bind *b)
{
	struct cx3_mpt *w = cx3_mpt_of(hca, b->new_rkey), *r = NULL;
	bool type2 = b->flags2 >> 31, zero_based = b->flags2 >> 30 & 1;

	if (!w || (w->flags & MPT_REGION) || (w->pd ^ pd) & MPT_PD_MASK ||
	    (w->key ^ mpt_rotate(b->new_rkey)) & 0xffffffu)
		return CX3_E_KEY;
	if (type2 != !!(w->qpn & MPT_QPN_BOUND))
		return CX3_E_ACCESS;
	if (type2 && (w->status != MPT_STATUS_FREE || !b->len))
		return CX3_E_ACCESS;
	if (b->len) {
		r = bindable(hca, pd, b);
		if (!r)
			return CX3_E_ACCESS;
	}
	unbind(hca, w);
	w->key = mpt_rotate(b->new_rkey);
	w->flags = (w->flags & ~(MPT_ACCESS_MASK << MPT_ACCESS_SHIFT)) |
		   (b->flags1 >> 27 & 0x1c) << MPT_ACCESS_SHIFT;
	w->start = zero_based ? 0 : b->addr;
	w->shift = b->addr - w->start;
	w->length = b->len;
	w->status = MPT_STATUS_HW;
	if (type2)
		w->qpn = qpn << 8 | MPT_QPN_BOUND;
	if (r) {
		w->lkey = r->key;
		r->windows++;
		if (cx3_mpt_store(hca, r))
			return CX3_E_ICM;
	}
	return cx3_mpt_store(hca, w);
}
