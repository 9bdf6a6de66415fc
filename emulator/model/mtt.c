// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory translation table: the list of pages behind a queue or a memory
 * region. The entries are written by the CPU straight into ICM pages, so they
 * are always read from there.
 */
#include "core.h"

#define MTT_PRESENT 1u

int cx3_mtt_get(struct cx3_hca *hca, u64 off, u64 *addr)
{
	u64 va = hca->core->base[CX3_ICM_MTT] + (off & ~7ull);
	u64 pa = cx3_icm_addr(hca, va);
	u8 e[CX3_MTT_SIZE];
	int err;

	if (!pa) {
		cx3_violation(hca, CX3_V_ICM_UNMAPPED, "MTT offset %llx: ICM page %llx", off,
			      va & ~0xfffull);
		return CX3_E_ICM;
	}
	err = cx3_dma_read(hca, pa, e, sizeof(e));
	if (err)
		return err;
	if (!(e[7] & MTT_PRESENT)) {
		cx3_violation(hca, CX3_V_DEAD_OBJECT, "MTT offset %llx: entry not present", off);
		return CX3_E_MTT;
	}
	*addr = get64(e) & ~7ull;
	return 0;
}

void cx3_buf_init(struct cx3_buf *b, u64 mtt, u8 log_page, u32 offset)
{
	memset(b, 0, sizeof(*b));
	b->mtt = mtt;
	b->log_page = log_page;
	b->offset = offset;
	b->cached_page = ~0ull;
}

int cx3_copy(struct cx3_hca *hca, cx3_translate_fn translate, void *what, u64 at, u8 *p, u32 len,
	     bool write)
{
	while (len) {
		u64 addr;
		u32 n;
		int err = translate(hca, what, at, &addr, &n);

		if (err)
			return err;
		if (n > len)
			n = len;
		err = write ? cx3_dma_write(hca, addr, p, n) : cx3_dma_read(hca, addr, p, n);
		if (err)
			return err;
		at += n;
		p += n;
		len -= n;
	}
	return 0;
}

static int buf_addr(struct cx3_hca *hca, void *what, u64 pos, u64 *addr, u32 *room)
{
	struct cx3_buf *b = what;
	u64 page_size = CX3_BIT(b->log_page);
	u64 at = pos + b->offset, page = at >> b->log_page;
	u64 left = page_size - (at & (page_size - 1));
	int err;

	if (page != b->cached_page) {
		err = cx3_mtt_get(hca, b->mtt + page * CX3_MTT_SIZE, &b->cached_addr);
		if (err) {
			b->cached_page = ~0ull;
			return err;
		}
		b->cached_page = page;
	}
	*addr = b->cached_addr + (at & (page_size - 1));
	*room = left > CX3_COPY_PIECE ? CX3_COPY_PIECE : (u32)left;
	return 0;
}

int cx3_buf_read(struct cx3_hca *hca, struct cx3_buf *b, u64 pos, void *dst, u32 len)
{
	return cx3_copy(hca, buf_addr, b, pos, dst, len, false);
}

int cx3_buf_write(struct cx3_hca *hca, struct cx3_buf *b, u64 pos, const void *src, u32 len)
{
	return cx3_copy(hca, buf_addr, b, pos, (u8 *)src, len, true);
}

int cx3_buf_fill_owner(struct cx3_hca *hca, struct cx3_buf *b, u32 entries, u32 size)
{
	u8 *page = cx3_alloc(hca, CX3_PAGE);
	u64 pos = 0, end = (u64)entries * size;
	int err = 0;
	u32 i;

	if (!page)
		return CX3_E_NOMEM;
	for (i = size - 1; i < CX3_PAGE; i += size)
		page[i] = 0x80;
	while (pos < end && !err) {
		u32 n = end - pos < CX3_PAGE ? (u32)(end - pos) : CX3_PAGE;

		err = cx3_buf_write(hca, b, pos, page, n);
		pos += n;
	}
	cx3_free(hca, page);
	return err;
}

/*
 * READ_MTT and WRITE_MTT: offset from the MTT base at byte 0 of the mailbox,
 * entries from byte 16 on. Only small drivers use them; the others write the
 * pages themselves.
 */
#define MTT_CMD_HEAD 16u
#define MTT_CMD_MAX ((CX3_MBOX_SIZE - MTT_CMD_HEAD) / CX3_MTT_SIZE)

enum cx3_status cx3_cmd_write_mtt(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u64 off = get64(cmd->in);

	if (!cmd->in_mod || cmd->in_mod > MTT_CMD_MAX || off % CX3_MTT_SIZE ||
	    off >> CX3_ICM_LOG_BYTES)
		return CX3_BAD_PARAM;
	if (cx3_icm_write(hca, CX3_ICM_MTT, (u32)(off / CX3_MTT_SIZE), 0, cmd->in + MTT_CMD_HEAD,
			  cmd->in_mod * CX3_MTT_SIZE))
		return CX3_ICM_ERROR;
	return CX3_OK;
}

enum cx3_status cx3_cmd_read_mtt(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u64 off = cmd->in_param;

	if (!cmd->in_mod || cmd->in_mod > CX3_MBOX_SIZE / CX3_MTT_SIZE || off % CX3_MTT_SIZE ||
	    off >> CX3_ICM_LOG_BYTES)
		return CX3_BAD_PARAM;
	if (cx3_icm_read(hca, CX3_ICM_MTT, (u32)(off / CX3_MTT_SIZE), 0, cmd->out,
			 cmd->in_mod * CX3_MTT_SIZE))
		return CX3_ICM_ERROR;
	return CX3_OK;
}
