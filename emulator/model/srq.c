// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared receive queues. Software links free entries into a list; the device starts at entry 0
 * and follows the links. It may take an entry only while fewer were taken than the doorbell
 * record says. The link of an entry is read when it is taken: software never posts the tail of its
 * list, so the link of a posted entry is final, but it rewrites that of one given back, and
 * entries come back in any order.
 */
#include "core.h"
#include "xport.h"

/**
 * srq_find - a live SRQ
 * @hca: device
 * @srqn: number
 *
 * Return: the SRQ or NULL.
 */
struct cx3_srq *srq_find(struct cx3_hca *hca, u32 srqn)
{
	return (struct cx3_srq *)cx3_obj_get(hca, CX3_SRQ, srqn);
}

static u64 slot_pos(const struct cx3_srq *srq, u16 slot)
{
	return (u64)(slot & ((1u << srq->c.log_size) - 1)) << (srq->c.stride + 4);
}

static void srq_break(struct cx3_hca *hca, struct cx3_srq *srq)
{
	srq->broken = true;
	srq->c.state = 0xf;
	cx3_event_num(hca, CX3_EV_SRQ_CATAS, srq->obj.num);
}

/* Entries posted and not taken; negative if the record cannot be read. */
static int srq_left(struct cx3_hca *hca, struct cx3_srq *srq)
{
	u8 b[4];

	if (cx3_dma_read(hca, srq->c.db, b, sizeof(b)))
		return -1;
	srq->c.wqe_count = get32(b);
	return (u16)(srq->c.wqe_count - srq->c.wqe_counter);
}

static void srq_check_limit(struct cx3_hca *hca, struct cx3_srq *srq, int left)
{
	if (!srq->c.limit || left >= srq->c.limit)
		return;
	srq->c.limit = 0;
	cx3_event_num(hca, CX3_EV_SRQ_LIMIT, srq->obj.num);
}

/**
 * srq_take - take the next receive WQE
 * @hca: device
 * @srq: queue
 * @w: filled
 *
 * Return: 0, 1 if there is none, negative if the queue is or went broken.
 */
int srq_take(struct cx3_hca *hca, struct cx3_srq *srq, struct rwqe *w)
{
	u8 raw[CX3_MAX_RQ_DESC];
	u32 bytes = 16u << srq->c.stride;
	struct wqe_next link;
	int left;

	if (srq->broken)
		return -1;
	left = srq_left(hca, srq);
	if (left == 0)
		return 1;
	if (bytes > sizeof(raw))
		bytes = sizeof(raw);
	if (left < 0 || cx3_buf_read(hca, &srq->buf, slot_pos(srq, srq->next), raw, bytes)) {
		srq_break(hca, srq);
		return -1;
	}
	wqe_parse_receive(raw + WQE_SEG, bytes - WQE_SEG, w);
	w->have = true;
	w->index = srq->next;
	w->pd = srq->c.pd;
	layout_unpack(&wqe_next_layout, raw, &link);
	srq->next = link.next & ((1u << srq->c.log_size) - 1);
	srq->c.wqe_counter++;
	cx3_count(hca, CX3_C_WQE_RECV, 1);
	srq_check_limit(hca, srq, left - 1);
	return 0;
}

static enum cx3_status srq_write_context(struct cx3_hca *hca, struct cx3_srq *srq)
{
	u8 raw[SRQC_BYTES] = { 0 };
	u32 index = srq->obj.num & ((1u << hca->geo.log_srqs) - 1);

	layout_pack(&srqc_layout, raw, &srq->c);
	return cx3_icm_write(hca, CX3_ICM_SRQC, index, 0, raw, sizeof(raw)) ? CX3_ICM_ERROR :
									      CX3_OK;
}

/**
 * cx3_srq_cmd_sw2hw - SW2HW_SRQ: the device takes over an SRQ
 * @hca: device
 * @cmd: in_mod = SRQN, mailbox = context
 *
 * Return: command status.
 */
enum cx3_status cx3_srq_cmd_sw2hw(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_srq *srq;
	enum cx3_status st;
	struct srqc c = { 0 };

	if (hca->cfg.strict && !layout_reserved_clear(&srqc_layout, cmd->in))
		cx3_violation(hca, CX3_V_RESERVED, "context of SRQ 0x%06x has reserved bits",
			      cmd->in_mod);
	layout_unpack(&srqc_layout, cmd->in, &c);
	if (c.log_size > CX3_LOG_MAX_SRQ_WQES + 1 || c.stride + 4 < 5 || c.log_page > 31 - 12)
		return CX3_BAD_PARAM;
	srq = cx3_alloc(hca, sizeof(*srq));
	if (!srq)
		return CX3_EXCEED_LIM;
	srq->obj.num = cmd->in_mod & 0xffffff;
	cx3_pd_use(hca, c.pd, "SRQ", srq->obj.num);
	srq->c = c;
	srq->c.state = 0;
	srq->c.srqn = srq->obj.num;
	srq->c.wqe_count = 0;
	srq->c.wqe_counter = 0;
	cx3_buf_init(&srq->buf, (u64)c.mtt_hi << 32 | c.mtt_lo, c.log_page + 12, c.page_off * 64u);
	st = srq_write_context(hca, srq);
	if (st == CX3_OK && cx3_cmpt_touch(hca, CX3_SRQ, srq->obj.num))
		st = CX3_ICM_ERROR;
	if (st == CX3_OK && cx3_obj_add(hca, CX3_SRQ, &srq->obj))
		st = CX3_BAD_RES_STATE;
	if (st != CX3_OK)
		cx3_free(hca, srq);
	return st;
}

/**
 * srq_free - forget an SRQ; no DMA
 * @hca: device
 * @srq: queue, in the table
 */
void srq_free(struct cx3_hca *hca, struct cx3_srq *srq)
{
	cx3_obj_del(hca, CX3_SRQ, &srq->obj);
	cx3_free(hca, srq);
}

/**
 * cx3_srq_cmd_hw2sw - HW2SW_SRQ
 * @hca: device
 * @cmd: in_mod = SRQN; op_mod 0: the context is wanted
 *
 * Return: command status.
 */
enum cx3_status cx3_srq_cmd_hw2sw(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_srq *srq = srq_find(hca, cmd->in_mod & 0xffffff);

	if (!srq)
		return CX3_BAD_RES_STATE;
	layout_pack(&srqc_layout, cmd->out, &srq->c);
	srq_free(hca, srq);
	return CX3_OK;
}

/**
 * cx3_srq_cmd_query - QUERY_SRQ
 * @hca: device
 * @cmd: in_mod = SRQN
 *
 * Return: command status.
 */
enum cx3_status cx3_srq_cmd_query(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_srq *srq = srq_find(hca, cmd->in_mod & 0xffffff);

	if (!srq)
		return CX3_BAD_RES_STATE;
	srq_left(hca, srq);
	layout_pack(&srqc_layout, cmd->out, &srq->c);
	return CX3_OK;
}

/**
 * cx3_srq_cmd_arm - ARM_SRQ: one event when fewer than the limit are left
 * @hca: device
 * @cmd: in_mod = SRQN, low 16 bits of in_param = limit
 *
 * Return: command status.
 */
enum cx3_status cx3_srq_cmd_arm(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_srq *srq = srq_find(hca, cmd->in_mod & 0xffffff);
	int left;

	if (!srq)
		return CX3_BAD_RES_STATE;
	srq->c.limit = cmd->in_param & 0xffff;
	left = srq_left(hca, srq);
	if (left >= 0)
		srq_check_limit(hca, srq, left);
	return CX3_OK;
}
