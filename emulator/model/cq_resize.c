// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moving a CQ to another ring while completions come in.
 *
 * The device marks the end of the old ring with one entry of a special opcode and goes on in
 * the new ring behind that index. Every entry of the new ring that it has not written must look
 * like the device's for the index that will first use it: slots from the new producer position
 * on are used in the current pass, slots before it in the next one.
 */
#include "xport.h"

#define CQE_OWNER 0x80

static int fill_ring(struct cx3_hca *hca, struct cx3_buf *b, u32 log_size, u32 pi)
{
	u8 *page = hca->xport->bounce;
	u32 size = hca->geo.cqe_size;
	u32 per_page = CX3_PAGE / size, entries = 1u << log_size;
	bool pass = pi >> log_size & 1;
	u32 slot, i, n;

	for (slot = 0; slot < entries; slot += n) {
		n = entries - slot < per_page ? entries - slot : per_page;
		memset(page, 0, n * size);
		for (i = 0; i < n; i++) {
			bool later = slot + i < (pi & (entries - 1));

			if (later == pass)
				page[i * size + size - 1] = CQE_OWNER;
		}
		if (cx3_buf_write(hca, b, (u64)slot * size, page, n * size))
			return -1;
	}
	return 0;
}

/**
 * cq_resize - MODIFY_CQ op 0
 * @hca: device
 * @cq: queue
 * @n: new log size, page size, MTT base
 *
 * Return: BAD_SIZE if the completions not yet consumed would not fit.
 */
enum cx3_status cq_resize(struct cx3_hca *hca, struct cx3_cq *cq, const struct cqc *n)
{
	struct cqe mark = { .opcode = CQE_RESIZE };
	struct cx3_buf ring;
	u32 waiting = (cq->c.pi - cq_consumer(hca, cq)) & 0xffffff;

	if (n->log_size > CX3_LOG_MAX_CQES || n->log_page > 31 - 12)
		return CX3_BAD_PARAM;
	if (waiting + 1 >= 1u << n->log_size)
		return CX3_BAD_SIZE;
	cx3_buf_init(&ring, (u64)n->mtt_hi << 32 | n->mtt_lo, n->log_page + 12, n->page_off * 32u);
	if (fill_ring(hca, &ring, n->log_size, cq->c.pi + 1))
		return CX3_BAD_PARAM;
	if (cq_write(hca, cq, &mark))
		return CX3_BAD_RES_STATE;
	cq->buf = ring;
	cq->c.log_size = n->log_size;
	cq->c.log_page = n->log_page;
	cq->c.page_off = n->page_off;
	cq->c.mtt_hi = n->mtt_hi;
	cq->c.mtt_lo = n->mtt_lo;
	return CX3_OK;
}
