// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues: commands, writing entries, and the rules of arming. An armed CQ raises one
 * event; arming with completions behind the given consumer index raises it at once, since
 * software that polled before arming would otherwise miss one.
 */
#include "core.h"
#include "xport.h"

#define CQ_ARMED_SOLICITED 6
#define CQ_ARMED 9
#define CQ_FIRED 10
#define CQ_STATUS_OVERFLOW 9
#define CQ_STATUS_WRITE_FAIL 10
#define CQ_EVENT_OVERRUN 1
#define CQ_EVENT_ACCESS 2
#define DB_SOLICITED CX3_BIT(24)
#define DB_ANY CX3_BIT(25)
#define CQ_INDEX 0xffffffu
#define CQE_OWNER 0x80

#define E(member, byte, msb, lsb) FIELD(struct cqe, member, byte, msb, lsb)

static const struct field cqe_fields[] = {
	E(qpn, 0, 23, 0), E(imm, 4, 31, 0), E(grh, 8, 31, 31), E(path_bits, 8, 30, 24),
	E(rqpn, 8, 23, 0), E(sl, 12, 31, 28), E(slid, 12, 15, 0), E(ip_status, 16, 31, 16),
	E(l4_ok, 16, 2, 2), E(bytes, 20, 31, 0), E(wqe, 24, 31, 16), E(checksum, 24, 15, 0),
	E(send, 28, 6, 6), E(inline_scatter, 28, 5, 5), E(opcode, 28, 4, 0),
};

static const struct field error_fields[] = {
	E(qpn, 0, 23, 0), E(rqpn, 8, 23, 0), E(wqe, 24, 31, 16), E(vendor, 24, 15, 8),
	E(syndrome, 24, 7, 0), E(send, 28, 6, 6), E(opcode, 28, 4, 0),
};

const struct layout cqe_layout = LAYOUT(cqe_fields, 32);
const struct layout cqe_error_layout = LAYOUT(error_fields, 32);

/**
 * cq_find - a live CQ
 * @hca: device
 * @cqn: number
 *
 * Return: the CQ or NULL.
 */
struct cx3_cq *cq_find(struct cx3_hca *hca, u32 cqn)
{
	return (struct cx3_cq *)cx3_obj_get(hca, CX3_CQ, cqn);
}

/**
 * cq_consumer - consumer index as software's doorbell record has it
 * @hca: device
 * @cq: queue
 *
 * Return: 24-bit index; the last one known if the record cannot be read.
 */
u32 cq_consumer(struct cx3_hca *hca, struct cx3_cq *cq)
{
	u8 b[4];

	if (!cx3_dma_read(hca, cq->c.db, b, sizeof(b)))
		cq->c.ci = get32(b) & CQ_INDEX;
	return cq->c.ci;
}

static void cq_break(struct cx3_hca *hca, struct cx3_cq *cq, u8 status, u8 event)
{
	cq->broken = true;
	cq->c.status = status;
	cx3_event_cq_err(hca, cq->obj.num, event);
}

static bool cq_full(struct cx3_hca *hca, struct cx3_cq *cq)
{
	u32 size = 1u << cq->c.log_size;

	if (cq->c.overrun_ignore || ((cq->c.pi - cq->c.ci) & CQ_INDEX) < size)
		return false;
	return ((cq->c.pi - cq_consumer(hca, cq)) & CQ_INDEX) >= size;
}

/**
 * cq_write - put one entry into the ring
 * @hca: device
 * @cq: queue
 * @e: entry
 *
 * The owner byte goes last: software on another CPU must not see it before the rest.
 *
 * Return: 0, or negative when the CQ is or went broken (its event was raised).
 */
int cq_write(struct cx3_hca *hca, struct cx3_cq *cq, const struct cqe *e)
{
	u8 raw[32] = { 0 };
	u32 size = hca->geo.cqe_size;
	u32 slot = cq->c.pi & ((1u << cq->c.log_size) - 1);
	u64 pos = cq->c.collapsed ? 0 : (u64)slot * size;

	if (cq->broken)
		return -1;
	if (cq_full(hca, cq)) {
		cq_break(hca, cq, CQ_STATUS_OVERFLOW, CQ_EVENT_OVERRUN);
		return -1;
	}
	layout_pack(e->opcode == CQE_ERROR ? &cqe_error_layout : &cqe_layout, raw, e);
	if (cq->c.pi >> cq->c.log_size & 1)
		raw[31] |= CQE_OWNER;
	pos += size - sizeof(raw);
	if (cx3_buf_write(hca, &cq->buf, pos, raw, 31) ||
	    cx3_buf_write(hca, &cq->buf, pos + 31, raw + 31, 1)) {
		cq_break(hca, cq, CQ_STATUS_WRITE_FAIL, CQ_EVENT_ACCESS);
		return -1;
	}
	cq->c.pi++;
	cx3_count(hca, e->opcode == CQE_ERROR ? CX3_C_CQE_ERROR : CX3_C_CQE, 1);
	return 0;
}

static void cq_fire(struct cx3_hca *hca, struct cx3_cq *cq)
{
	cx3_timer_cancel(hca, &cq->timer);
	cq->held = 0;
	cq->fire = false;
	cq->c.state = CQ_FIRED;
	cx3_eq_comp(hca, cq->c.eqn, cq->obj.num);
}

static void cq_timer(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct cx3_cq *cq = container_of(t, struct cx3_cq, timer);

	if (cq->fire)
		cq_fire(hca, cq);
}

static void cq_hold(struct cx3_hca *hca, struct cx3_cq *cq, u64 ns)
{
	cq->fire = true;
	if (!cq->timer.armed)
		cx3_timer_arm(hca, &cq->timer, cx3_now(hca) + ns);
}

/* An entry was written: raise the event if the CQ is armed for it, now or moderated. */
static void cq_notify(struct cx3_hca *hca, struct cx3_cq *cq, bool solicited)
{
	if (cq->c.state != CQ_ARMED && !(cq->c.state == CQ_ARMED_SOLICITED && solicited))
		return;
	cq->held++;
	if (cq->c.period && cq->c.max_count > 1 && cq->held < cq->c.max_count)
		cq_hold(hca, cq, cq->c.period * 1000ull);
	else
		cq_fire(hca, cq);
}

/* An entry, @twice by a fault, and what it may raise. */
static int cq_take(struct cx3_hca *hca, struct cx3_cq *cq, const struct cqe *e, bool solicited,
		   bool twice)
{
	int err = cq_write(hca, cq, e);

	if (!err && twice)
		err = cq_write(hca, cq, e);
	if (err)
		return err;
	if (e->opcode == CQE_ERROR)
		solicited = true;
	if (solicited)
		cq->c.solicit = cq->c.pi & CQ_INDEX;
	cq_notify(hca, cq, solicited);
	return 0;
}

/* A completion that a fault keeps back. */
struct late_cqe {
	struct cqe e;
	bool solicited;
};

static void late_cqe(struct cx3_hca *hca, u32 num, const void *data, u32 len)
{
	struct cx3_cq *cq = cq_find(hca, num);
	struct late_cqe late;
	struct cx3_qp *qp;

	memcpy(&late, data, sizeof(late));
	if (!cq || !cq_take(hca, cq, &late.e, late.solicited, false))
		return;
	qp = qp_find(hca, late.e.qpn);
	if (qp)
		qp_error(qp, CX3_EV_WQ_CATAS);
}

/* Nothing overtakes a late completion in its CQ. Return: false if @e is not to be late. */
static bool cq_keep(struct cx3_hca *hca, struct cx3_cq *cq, const struct cqe *e, bool solicited,
		    u64 delay)
{
	struct late_cqe late = { *e, solicited };
	u64 until = cx3_keep_until(hca, late_cqe, cq->obj.num);

	if (!until && delay)
		until = cx3_now(hca) + delay;
	return until && cx3_keep(hca, until, late_cqe, cq->obj.num, &late, sizeof(late));
}

/**
 * cq_hurry - what a fault keeps back is written now: a QP is about to end
 * @hca: device
 */
void cq_hurry(struct cx3_hca *hca)
{
	cx3_keep_give(hca, late_cqe, CX3_KEPT_ANY);
}

/**
 * cq_post - complete a work request
 * @qp: whose; goes to error if the CQ cannot take the entry
 * @cqn: its CQ
 * @e: entry; @e->qpn is filled in here
 * @solicited: the packet asked for an event, or the entry tells an error
 */
void cq_post(struct cx3_qp *qp, u32 cqn, struct cqe *e, bool solicited)
{
	struct cx3_hca *hca = qp->hca;
	struct cx3_cq *cq = cq_find(hca, cqn);
	enum cx3_fault_act act;
	u64 arg = 0;

	if (!cq) {
		cx3_violation(hca, CX3_V_DEAD_OBJECT, "QP 0x%06x completes to dead CQ 0x%06x",
			      qp->obj.num, cqn);
		qp_error(qp, CX3_EV_WQ_CATAS);
		return;
	}
	act = cx3_fault(hca, CX3_FP_CQE, cqn, &arg);
	if (act == CX3_FA_DROP)
		return;
	e->qpn = qp->obj.num;
	if (cq_keep(hca, cq, e, solicited, act == CX3_FA_DELAY ? arg : 0))
		return;
	if (cq_take(hca, cq, e, solicited, act == CX3_FA_DUP))
		qp_error(qp, CX3_EV_WQ_CATAS);
}

/**
 * cq_doorbell - arm a CQ
 * @hca: device
 * @page: UAR page written to
 * @high: sequence number, command, CQN
 * @low: consumer index
 */
void cq_doorbell(struct cx3_hca *hca, u32 page, u32 high, u32 low)
{
	u32 cqn = high & 0xffffff, ci = low & CQ_INDEX;
	struct cx3_cq *cq = cq_find(hca, cqn);
	bool due;

	cx3_count(hca, CX3_C_DB_CQ, 1);
	if (!cq) {
		cx3_violation(hca, CX3_V_DB_DEAD, "arm of dead CQ 0x%06x", cqn);
		return;
	}
	if (page != cq->c.uar) {
		cx3_violation(hca, CX3_V_DB_BAD, "arm of CQ 0x%06x through UAR %u, not %u", cqn,
			      page, cq->c.uar);
		return;
	}
	cq->c.ci = ci;
	cq->c.notified = ci;
	if (high & DB_ANY) {
		cq->c.state = CQ_ARMED;
		due = ((cq->c.pi - ci) & CQ_INDEX) != 0;
	} else if (high & DB_SOLICITED) {
		cq->c.state = CQ_ARMED_SOLICITED;
		due = psn_diff(cq->c.solicit, ci) > 0;
	} else {
		return;
	}
	if (due)
		cq_fire(hca, cq);
}

static enum cx3_status cq_write_context(struct cx3_hca *hca, struct cx3_cq *cq)
{
	u8 raw[CQC_BYTES] = { 0 };
	u32 index = cq->obj.num & ((1u << hca->geo.log_cqs) - 1);

	layout_pack(&cqc_layout, raw, &cq->c);
	return cx3_icm_write(hca, CX3_ICM_CQC, index, 0, raw, sizeof(raw)) ? CX3_ICM_ERROR : CX3_OK;
}

static void cq_output(struct cx3_cq *cq, u8 *out)
{
	struct cqc c = cq->c;

	c.pi &= CQ_INDEX;
	layout_pack(&cqc_layout, out, &c);
}

static enum cx3_status cq_check(struct cx3_hca *hca, const struct cqc *c)
{
	if (c->log_size > CX3_LOG_MAX_CQES || c->log_page > 31 - 12 || c->uar >= hca->geo.num_uars)
		return CX3_BAD_PARAM;
	if (!cx3_eq_alive(hca, c->eqn))
		return CX3_BAD_RESOURCE;
	return CX3_OK;
}

/**
 * cx3_cq_cmd_sw2hw - SW2HW_CQ: the device takes over a CQ
 * @hca: device
 * @cmd: in_mod = CQN, mailbox = context; op_mod 1: software has filled the ring itself
 *
 * Return: command status.
 */
enum cx3_status cx3_cq_cmd_sw2hw(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_cq *cq;
	enum cx3_status st;
	struct cqc c = { 0 };

	if (hca->cfg.strict && !layout_reserved_clear(&cqc_layout, cmd->in))
		cx3_violation(hca, CX3_V_RESERVED, "context of CQ 0x%06x has reserved bits",
			      cmd->in_mod);
	layout_unpack(&cqc_layout, cmd->in, &c);
	st = cq_check(hca, &c);
	if (st != CX3_OK)
		return st;
	cq = cx3_alloc(hca, sizeof(*cq));
	if (!cq)
		return CX3_EXCEED_LIM;
	cq->obj.num = cmd->in_mod & 0xffffff;
	cq->c = c;
	cq->c.status = 0;
	cq->c.state = 0;
	cq->c.ci = 0;
	cq->c.pi = 0;
	cq->c.solicit = 0;
	cq->c.notified = 0;
	cq->timer.fn = cq_timer;
	cx3_buf_init(&cq->buf, (u64)c.mtt_hi << 32 | c.mtt_lo, c.log_page + 12, c.page_off * 32u);
	st = cq_write_context(hca, cq);
	if (st == CX3_OK && cx3_cmpt_touch(hca, CX3_CQ, cq->obj.num))
		st = CX3_ICM_ERROR;
	if (st == CX3_OK && !cmd->op_mod &&
	    cx3_buf_fill_owner(hca, &cq->buf, 1u << c.log_size, hca->geo.cqe_size))
		st = CX3_BAD_PARAM;
	if (st == CX3_OK && cx3_obj_add(hca, CX3_CQ, &cq->obj))
		st = CX3_BAD_RES_STATE;
	if (st != CX3_OK)
		cx3_free(hca, cq);
	return st;
}

/**
 * cq_free - forget a CQ; no DMA
 * @hca: device
 * @cq: queue, in the table
 */
void cq_free(struct cx3_hca *hca, struct cx3_cq *cq)
{
	cx3_timer_cancel(hca, &cq->timer);
	cx3_keep_drop(hca, late_cqe, cq->obj.num);
	cx3_obj_del(hca, CX3_CQ, &cq->obj);
	cx3_free(hca, cq);
}

/**
 * cx3_cq_cmd_hw2sw - HW2SW_CQ: after it neither entry nor event of this CQ
 * @hca: device
 * @cmd: in_mod = CQN; op_mod 0: the context is wanted
 *
 * Return: command status.
 */
enum cx3_status cx3_cq_cmd_hw2sw(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_cq *cq = cq_find(hca, cmd->in_mod & 0xffffff);

	if (!cq)
		return CX3_BAD_RES_STATE;
	cq_output(cq, cmd->out);
	cq_free(hca, cq);
	return CX3_OK;
}

/**
 * cx3_cq_cmd_query - QUERY_CQ
 * @hca: device
 * @cmd: in_mod = CQN
 *
 * Return: command status.
 */
enum cx3_status cx3_cq_cmd_query(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_cq *cq = cq_find(hca, cmd->in_mod & 0xffffff);

	if (!cq)
		return CX3_BAD_RES_STATE;
	cq_output(cq, cmd->out);
	return CX3_OK;
}

/**
 * cx3_cq_cmd_modify - MODIFY_CQ: resize (op_mod 0) or moderation (op_mod 1)
 * @hca: device
 * @cmd: in_mod = CQN, mailbox = context with the fields to take
 *
 * Return: command status.
 */
enum cx3_status cx3_cq_cmd_modify(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_cq *cq = cq_find(hca, cmd->in_mod & 0xffffff);
	struct cqc n = { 0 };

	if (!cq)
		return CX3_BAD_RES_STATE;
	layout_unpack(&cqc_layout, cmd->in, &n);
	if (cmd->op_mod == 0)
		return cq_resize(hca, cq, &n);
	if (cmd->op_mod != 1)
		return CX3_BAD_OP;
	cq->c.period = n.period;
	cq->c.max_count = n.max_count;
	if (cq->fire)
		cq_fire(hca, cq);
	return cq_write_context(hca, cq);
}
