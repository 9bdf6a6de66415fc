// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICM: the context memory that the driver lends to the device, page by page,
 * under virtual addresses of its own. Here are the commands that map and
 * unmap it and the accessors of the tables in it.
 */
#include "core.h"

/* Fields of one entry of a MAP mailbox: virtual, physical | log2(pages). */
#define MAP_ENTRY 16u
#define MAP_MAX_ENTRIES (CX3_MBOX_SIZE / MAP_ENTRY)
#define MAP_LOG_MASK 0x3fu

const char *const cx3_icm_name[CX3_ICM_NTABLES] = {
	[CX3_ICM_QPC] = "QPC",	     [CX3_ICM_AUXC] = "AUXC", [CX3_ICM_ALTC] = "ALTC",
	[CX3_ICM_RDMARC] = "RDMARC", [CX3_ICM_SRQC] = "SRQC", [CX3_ICM_CQC] = "CQC",
	[CX3_ICM_EQC] = "EQC",	     [CX3_ICM_DMPT] = "dMPT", [CX3_ICM_CMPT] = "cMPT",
	[CX3_ICM_MTT] = "MTT",	     [CX3_ICM_MCG] = "MCG",
};

static const u16 entry_size[CX3_ICM_NTABLES] = {
	[CX3_ICM_QPC] = CX3_QPC_SIZE,	  [CX3_ICM_AUXC] = CX3_AUXC_SIZE,
	[CX3_ICM_ALTC] = CX3_ALTC_SIZE,	  [CX3_ICM_RDMARC] = CX3_RDMARC_SIZE,
	[CX3_ICM_SRQC] = CX3_SRQC_SIZE,	  [CX3_ICM_CQC] = CX3_CQC_SIZE,
	[CX3_ICM_EQC] = CX3_EQC_SIZE,	  [CX3_ICM_DMPT] = CX3_MPT_SIZE,
	[CX3_ICM_CMPT] = CX3_CMPT_SIZE,	  [CX3_ICM_MTT] = CX3_MTT_SIZE,
	[CX3_ICM_MCG] = 0, /* from INIT_HCA */
};

u32 cx3_icm_entry_size(struct cx3_hca *hca, enum cx3_icm_table table)
{
	return table == CX3_ICM_MCG ? 1u << hca->geo.log_mcg_size : entry_size[table];
}

/* ------------------------------------------------------------- the page map */

static u64 *page_slot(struct cx3_hca *hca, u64 page, bool make)
{
	struct cx3_icm *icm = &hca->core->icm;
	struct cx3_icm_mid **mid = &icm->mid[page >> 16 & 0xff];
	struct cx3_icm_leaf **leaf;

	if (!*mid && make)
		*mid = cx3_alloc(hca, sizeof(**mid));
	if (!*mid)
		return NULL;
	leaf = &(*mid)->leaf[page >> 8 & 0xff];
	if (!*leaf && make) {
		*leaf = cx3_alloc(hca, sizeof(**leaf));
		if (*leaf)
			(*mid)->used++;
	}
	return *leaf ? &(*leaf)->page[page & 0xff] : NULL;
}

static void page_map(struct cx3_hca *hca, u64 page, u64 *slot, u64 addr)
{
	struct cx3_icm *icm = &hca->core->icm;

	if (!*slot) {
		icm->mid[page >> 16 & 0xff]->leaf[page >> 8 & 0xff]->used++;
		icm->pages++;
	}
	*slot = addr | 1;
}

static void page_unmap(struct cx3_hca *hca, u64 page)
{
	struct cx3_icm *icm = &hca->core->icm;
	struct cx3_icm_mid **mid = &icm->mid[page >> 16 & 0xff];
	u64 *slot = page_slot(hca, page, false);
	struct cx3_icm_leaf **leaf;

	if (!slot || !*slot)
		return;
	*slot = 0;
	icm->pages--;
	leaf = &(*mid)->leaf[page >> 8 & 0xff];
	if (--(*leaf)->used)
		return;
	cx3_free(hca, *leaf);
	*leaf = NULL;
	if (--(*mid)->used)
		return;
	cx3_free(hca, *mid);
	*mid = NULL;
}

void cx3_icm_clear(struct cx3_hca *hca)
{
	struct cx3_icm *icm = &hca->core->icm;
	unsigned int i, j;

	for (i = 0; i < CX3_ICM_FAN; i++) {
		for (j = 0; icm->mid[i] && j < CX3_ICM_FAN; j++)
			cx3_free(hca, icm->mid[i]->leaf[j]);
		cx3_free(hca, icm->mid[i]);
	}
	memset(icm, 0, sizeof(*icm));
	icm->last_va = ~0ull;
}

u64 cx3_icm_addr(struct cx3_hca *hca, u64 va)
{
	struct cx3_icm *icm = &hca->core->icm;
	u64 page = va / CX3_PAGE;
	u64 *slot;

	if (page == icm->last_va)
		return icm->last_pa + va % CX3_PAGE;
	if (va >> CX3_ICM_LOG_BYTES)
		return 0;
	slot = page_slot(hca, page, false);
	if (!slot || !*slot)
		return 0;
	icm->last_va = page;
	icm->last_pa = *slot & ~1ull;
	return icm->last_pa + va % CX3_PAGE;
}

/* -------------------------------------------------------------- the tables */

static u64 entry_va(struct cx3_hca *hca, enum cx3_icm_table table, u32 index, u32 off)
{
	return hca->core->base[table] + (u64)index * cx3_icm_entry_size(hca, table) + off;
}

static int icm_copy(struct cx3_hca *hca, enum cx3_icm_table table, u32 index, u32 off, u8 *buf,
		    u32 len, bool write)
{
	u64 va = entry_va(hca, table, index, off);

	while (len) {
		u64 addr = cx3_icm_addr(hca, va);
		u32 n = CX3_PAGE - va % CX3_PAGE;
		int err;

		if (n > len)
			n = len;
		if (!addr) {
			cx3_violation(hca, CX3_V_ICM_UNMAPPED, "%s entry %u: ICM page %llx",
				      cx3_icm_name[table], index, va & ~0xfffull);
			return CX3_E_ICM;
		}
		err = write ? cx3_dma_write(hca, addr, buf, n) : cx3_dma_read(hca, addr, buf, n);
		if (err)
			return err;
		va += n;
		buf += n;
		len -= n;
	}
	return 0;
}

int cx3_icm_read(struct cx3_hca *hca, enum cx3_icm_table table, u32 index, u32 off, void *buf,
		 u32 len)
{
	int err = icm_copy(hca, table, index, off, buf, len, false);

	if (err)
		memset(buf, 0, len);
	return err;
}

int cx3_icm_write(struct cx3_hca *hca, enum cx3_icm_table table, u32 index, u32 off,
		  const void *buf, u32 len)
{
	return icm_copy(hca, table, index, off, (u8 *)buf, len, true);
}

int cx3_cmpt_touch(struct cx3_hca *hca, enum cx3_kind kind, u32 num)
{
	/* Four regions of 2^24 entries, one for each kind. */
	static const u8 region[CX3_NKINDS] = { [CX3_QP] = 0, [CX3_SRQ] = 1, [CX3_CQ] = 2,
					       [CX3_EQ] = 3 };
	u8 mark[4];

	put32(mark, num);
	return cx3_icm_write(hca, CX3_ICM_CMPT, (u32)region[kind] << 24 | (num & 0xffffff), 0,
			     mark, sizeof(mark));
}

bool cx3_icm_mapped(struct cx3_hca *hca, enum cx3_icm_table table, u32 index)
{
	u64 va = entry_va(hca, table, index, 0);
	u64 end = va + cx3_icm_entry_size(hca, table);

	for (; va < end; va = (va / CX3_PAGE + 1) * CX3_PAGE)
		if (!cx3_icm_addr(hca, va))
			return false;
	return true;
}

/* ------------------------------------------------------------- the commands */

enum cx3_status cx3_cmd_set_icm_size(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_core *core = hca->core;

	if (!cmd->in_param || cmd->in_param > CX3_BIT(CX3_ICM_LOG_BYTES))
		return CX3_EXCEED_LIM;
	core->icm_size = cmd->in_param;
	/* The device's own page tables: a page for each 256 KiB of space. */
	core->aux_needed = 4 + (u32)(cmd->in_param >> 24);
	cmd->out_imm = core->aux_needed;
	return CX3_OK;
}

/* One entry of a MAP mailbox; *pages is what it covers, 0 if it is bad. */
static u32 map_entry(const u8 *e, u64 *va, u64 *pa)
{
	u32 log = e[15] & MAP_LOG_MASK;

	*va = get64(e);
	*pa = get64(e + 8) & ~0xfffull;
	if (log > 18 || *va % CX3_PAGE || (get64(e + 8) & 0xfc0))
		return 0;
	return 1u << log;
}

static enum cx3_status map_pages(struct cx3_hca *hca, u64 va, u64 pa, u32 pages)
{
	u64 page = va / CX3_PAGE;
	u32 i;

	if (va >> CX3_ICM_LOG_BYTES ||
	    va + (u64)pages * CX3_PAGE > CX3_BIT(CX3_ICM_LOG_BYTES))
		return CX3_BAD_PARAM;
	for (i = 0; i < pages; i++) {
		u64 *slot = page_slot(hca, page + i, true);

		if (!slot)
			return CX3_EXCEED_LIM;
		if (*slot)
			cx3_violation(hca, CX3_V_ICM_BUSY, "ICM page %llx mapped twice",
				      va + (u64)i * CX3_PAGE);
		page_map(hca, page + i, slot, pa + (u64)i * CX3_PAGE);
	}
	return CX3_OK;
}

enum cx3_status cx3_cmd_map_icm(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 total = 0, i, pages;
	enum cx3_status st;
	u64 va, pa;

	if (!cmd->in_mod || cmd->in_mod > MAP_MAX_ENTRIES)
		return CX3_BAD_PARAM;
	for (i = 0; i < cmd->in_mod; i++) {
		pages = map_entry(cmd->in + i * MAP_ENTRY, &va, &pa);
		if (!pages || pages > CX3_ICM_MAX_PAGES - total)
			return CX3_BAD_PARAM;
		total += pages;
	}
	hca->core->icm.last_va = ~0ull;
	for (i = 0; i < cmd->in_mod; i++) {
		pages = map_entry(cmd->in + i * MAP_ENTRY, &va, &pa);
		st = map_pages(hca, va, pa, pages);
		if (st)
			return st;
	}
	return CX3_OK;
}

/* Which table of contexts holds the objects of a kind; MTT and the rest hold none. */
static const struct {
	enum cx3_kind kind;
	enum cx3_icm_table table;
} homes[] = {
	{ CX3_QP, CX3_ICM_QPC }, { CX3_SRQ, CX3_ICM_SRQC }, { CX3_CQ, CX3_ICM_CQC },
	{ CX3_EQ, CX3_ICM_EQC }, { CX3_MPT, CX3_ICM_DMPT },
};

/* Are live objects kept in [va, end)? Looks at those slots only. */
static void check_busy(struct cx3_hca *hca, u64 va, u64 end)
{
	unsigned int i;

	for (i = 0; hca->phase == CX3_PH_RUN && i < ARRAY_SIZE(homes); i++) {
		u64 base = hca->core->base[homes[i].table];
		u32 size = entry_size[homes[i].table];
		struct cx3_table *t = &hca->table[homes[i].kind];
		u64 top = base + ((u64)t->mask + 1) * size;
		struct cx3_obj *obj;
		u32 slot;

		if (!t->count || va >= top || end <= base)
			continue;
		slot = va > base ? (u32)((va - base) / size) : 0;
		do {
			obj = cx3_obj_next(hca, homes[i].kind, &slot);
		} while (obj && obj->sw);
		if (obj && base + (u64)(slot - 1) * size < end)
			cx3_violation(hca, CX3_V_ICM_BUSY, "ICM %llx unmapped below live %s %u",
				      va, cx3_kind_name[homes[i].kind], obj->num);
	}
}

enum cx3_status cx3_cmd_unmap_icm(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u64 va = cmd->in_param, page = va / CX3_PAGE;
	u32 i;

	/* The range may be partly unmapped already: the driver counts in chunks. */
	if (va % CX3_PAGE || !cmd->in_mod || cmd->in_mod > CX3_ICM_MAX_PAGES ||
	    va >> CX3_ICM_LOG_BYTES)
		return CX3_BAD_PARAM;
	check_busy(hca, va, va + (u64)cmd->in_mod * CX3_PAGE);
	cx3_mpt_unmapped(hca, va, va + (u64)cmd->in_mod * CX3_PAGE);
	hca->core->icm.last_va = ~0ull;
	for (i = 0; i < cmd->in_mod && !((page + i) >> (CX3_ICM_LOG_BYTES - 12)); i++)
		page_unmap(hca, page + i);
	return CX3_OK;
}

/* FA and AUX pages are only counted: this firmware needs no memory. */
static u32 count_pages(struct cx3_cmd *cmd)
{
	u32 total = 0, i, pages;
	u64 va, pa;

	if (!cmd->in_mod || cmd->in_mod > MAP_MAX_ENTRIES)
		return 0;
	for (i = 0; i < cmd->in_mod; i++) {
		pages = map_entry(cmd->in + i * MAP_ENTRY, &va, &pa);
		if (!pages || pages > CX3_ICM_MAX_PAGES - total)
			return 0;
		total += pages;
	}
	return total;
}

enum cx3_status cx3_cmd_map_icm_aux(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 pages = count_pages(cmd);

	if (!pages)
		return CX3_BAD_PARAM;
	hca->core->aux_pages += pages;
	return CX3_OK;
}

enum cx3_status cx3_cmd_unmap_icm_aux(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	(void)cmd;
	if (hca->core->icm.pages)
		cx3_violation(hca, CX3_V_LEFT_OVER, "UNMAP_ICM_AUX with %u ICM pages mapped",
			      hca->core->icm.pages);
	hca->core->aux_pages = 0;
	return CX3_OK;
}

enum cx3_status cx3_cmd_map_fa(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 pages = count_pages(cmd);

	if (!pages)
		return CX3_BAD_PARAM;
	hca->core->fa_pages += pages;
	if (hca->phase == CX3_PH_RESET)
		hca->phase = CX3_PH_FA;
	return CX3_OK;
}

enum cx3_status cx3_cmd_unmap_fa(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_core *core = hca->core;

	(void)cmd;
	if (hca->phase == CX3_PH_RUN || core->icm.pages || core->aux_pages)
		cx3_violation(hca, CX3_V_LEFT_OVER, "UNMAP_FA: %u ICM and %u auxiliary pages left",
			      core->icm.pages, core->aux_pages);
	cx3_forget(hca);
	core->finished = true;
	hca->phase = CX3_PH_RESET;
	return CX3_OK;
}
