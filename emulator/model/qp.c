// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pair objects and their commands. A QP object exists in every state but RESET; the
 * command out of RESET makes it, the command to RESET frees it.
 */
#include "core.h"
#include "xport.h"

#define OP_RST2INIT 0x19
#define OP_INIT2RTR 0x1a
#define OP_RTR2RTS 0x1b
#define OP_2ERR 0x1e
#define OP_RTS2SQD 0x1f
#define XRC_TARGET 0x800000u
#define SQD_EVENT CX3_BIT(31)

/**
 * qp_find - a live QP
 * @hca: device
 * @qpn: all 24 bits
 *
 * Return: the QP or NULL.
 */
struct cx3_qp *qp_find(struct cx3_hca *hca, u32 qpn)
{
	return (struct cx3_qp *)cx3_obj_get(hca, CX3_QP, qpn);
}

/**
 * qp_free - forget a QP; no DMA, no completion follows
 * @hca: device
 * @qp: queue pair, in the table
 */
void qp_free(struct cx3_hca *hca, struct cx3_qp *qp)
{
	xport_forget(qp);
	cx3_timer_cancel(hca, &qp->sq.timer);
	cx3_timer_cancel(hca, &qp->sq.rnr_timer);
	cx3_timer_cancel(hca, &qp->rs.poll);
	cx3_obj_del(hca, CX3_QP, &qp->obj);
	cx3_free(hca, qp->sq.req);
	cx3_free(hca, qp->rs.owed);
	cx3_free(hca, qp->rs.old);
	cx3_free(hca, qp);
}

static enum cx3_status qp_write_context(struct cx3_qp *qp)
{
	u8 raw[QPC_BYTES] = { 0 };

	qpc_pack(raw, &qp->c);
	if (cx3_icm_write(qp->hca, CX3_ICM_QPC, cx3_qpc_index(qp->hca, qp->obj.num), 0, raw,
			  sizeof(raw)))
		return CX3_ICM_ERROR;
	return CX3_OK;
}

/* Besides the context a QP has entries in four more tables; software must have mapped them all. */
static enum cx3_status touch_tables(struct cx3_hca *hca, u32 qpn)
{
	u32 index = cx3_qpc_index(hca, qpn);
	u8 b[4];

	if (cx3_cmpt_touch(hca, CX3_QP, index) ||
	    cx3_icm_read(hca, CX3_ICM_AUXC, index, 0, b, sizeof(b)) ||
	    cx3_icm_read(hca, CX3_ICM_ALTC, index, 0, b, sizeof(b)) ||
	    cx3_icm_read(hca, CX3_ICM_RDMARC, index << hca->geo.log_rdmarc, 0, b, sizeof(b)))
		return CX3_ICM_ERROR;
	return CX3_OK;
}

/*
 * Both work queues are in one buffer, the one with the larger entries first. XRC QPs and those
 * on an SRQ have no RQ, XRC targets no SQ either; the size fields of a queue that is not there
 * mean nothing.
 */
static void place_queues(struct cx3_qp *qp)
{
	struct qpc *c = &qp->c;

	qp->has_sq = c->service != QPT_XRC || !(qp->obj.num & XRC_TARGET);
	qp->has_rq = c->service != QPT_XRC && !c->has_srq;
	qp->sq_at = 0;
	qp->rq_at = 0;
	if (!qp->has_rq)
		return;
	if (c->rq_stride > c->sq_stride)
		qp->sq_at = 1u << (c->rq_log + c->rq_stride + 4);
	else
		qp->rq_at = 1u << (c->sq_log + c->sq_stride + 4);
}

static enum cx3_status check_new(struct cx3_hca *hca, const struct qpc *c)
{
	switch (c->service) {
	case QPT_RC:
	case QPT_UC:
	case QPT_UD:
	case QPT_XRC:
	case QPT_MLX:
		break;
	default:
		return CX3_BAD_PARAM;
	}
	if (c->log_page > 31 - 12 || c->sq_log > CX3_LOG_MAX_QP_WQES + 1)
		return CX3_BAD_PARAM;
	if (!c->has_srq && c->service != QPT_XRC && c->rq_log > CX3_LOG_MAX_QP_WQES + 1)
		return CX3_BAD_PARAM;
	if (c->uar >= hca->geo.num_uars)
		return CX3_BAD_PARAM;
	if (!cq_find(hca, c->scqn) || (c->service != QPT_XRC && !cq_find(hca, c->rcqn)))
		return CX3_BAD_RESOURCE;
	if (c->has_srq && !srq_find(hca, c->srqn))
		return CX3_BAD_RESOURCE;
	return CX3_OK;
}

static struct cx3_qp *qp_new(struct cx3_hca *hca, u32 qpn, const struct qpc *c)
{
	struct cx3_qp *qp = cx3_alloc(hca, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->obj.num = qpn;
	qp->hca = hca;
	qp->c = *c;
	qp->c.lqpn = qpn;
	if (!++hca->xport->gen)
		hca->xport->gen = 1;
	qp->gen = hca->xport->gen;
	qp->sq.timer.fn = sq_timeout;
	qp->sq.rnr_timer.fn = sq_rnr_over;
	qp->rs.poll.fn = resp_poll;
	qp->rs.poll_ns = FLUSH_POLL_NS;
	cx3_buf_init(&qp->buf, (u64)c->mtt_hi << 32 | c->mtt_lo, c->log_page + 12,
		     c->page_off * 64u);
	if (cx3_obj_add(hca, CX3_QP, &qp->obj)) {
		cx3_free(hca, qp);
		return NULL;
	}
	return qp;
}

/* What a responder needs: room for all responses it may owe, and results for repeated atomics. */
static enum cx3_status start_responder(struct cx3_qp *qp)
{
	struct responder *rs = &qp->rs;

	rs->epsn = qp->c.recv_psn;
	if (!qp_is_reliable(qp))
		return CX3_OK;
	rs->nold = 1u << qp->c.rra;
	/* between any two reads or atomics one merged ACK, and a NAK at the end */
	rs->nowed = rs->nold * 2 + 2;
	rs->owed = cx3_alloc(qp->hca, rs->nowed * sizeof(*rs->owed));
	rs->old = cx3_alloc(qp->hca, rs->nold * sizeof(*rs->old));
	return rs->owed && rs->old ? CX3_OK : CX3_EXCEED_LIM;
}

static enum cx3_status start_requester(struct cx3_qp *qp)
{
	struct requester *sq = &qp->sq;

	sq->psn = qp->c.send_psn;
	sq->una = sq->psn;
	sq->top = sq->psn;
	qp->c.cur_retry = qp->c.retry;
	qp->c.cur_rnr = qp->c.rnr_retry;
	if (!qp_is_reliable(qp))
		return CX3_OK;
	sq->req = cx3_alloc(qp->hca, SQ_WINDOW * sizeof(*sq->req));
	return sq->req ? CX3_OK : CX3_EXCEED_LIM;
}

static enum cx3_status check_move(struct cx3_qp *qp, u16 opcode, const struct qpc *n)
{
	if (opcode != OP_INIT2RTR)
		return CX3_OK;
	if (n->mtu < 1 || n->mtu > 5)
		return CX3_BAD_PARAM;
	if (n->path[0].port >= qp->hca->cfg.nports)
		return CX3_BAD_PARAM;
	return CX3_OK;
}

/* Bits of the mask of optional parameters that stand for one (hardware interface). */
#define PARAMETERS 0x0037f7ffu

/* The driver's mailbox: mask, a word of nothing, context. */
static void audit_mailbox(struct cx3_hca *hca, u32 qpn, const u8 *in)
{
	const u8 *context = in + QPC_MBOX_OFF;
	int at = qpc_first_reserved(context);

	if (get32(in) & ~PARAMETERS || get32(in + 4))
		cx3_violation(hca, CX3_V_RESERVED, "QP 0x%06x: parameter mask %08x %08x", qpn,
			      get32(in), get32(in + 4));
	if (at >= 0)
		cx3_violation(hca, CX3_V_RESERVED, "context of QP 0x%06x: 0x%02x at 0x%02x", qpn,
			      context[at], at);
}

/* The QP takes on @to; everything that may fail comes before the state changes. */
static enum cx3_status enter(struct cx3_qp *qp, struct cx3_cmd *cmd, u8 to)
{
	enum cx3_status st = CX3_OK;

	if (cmd->opcode == OP_INIT2RTR)
		st = start_responder(qp);
	else if (cmd->opcode == OP_RTR2RTS)
		st = start_requester(qp);
	if (st != CX3_OK)
		return st;
	switch (to) {
	case QPS_ERR:
		qp->rs.ohead = qp->rs.otail;
		qp->rs.reading = 0;
		qp_enter_error(qp);
		break;
	case QPS_SQD:
		if (cmd->opcode != OP_RTS2SQD)
			break;
		qp->c.state = QPS_DRAINING;
		qp->sq.drain_event = cmd->in_mod & SQD_EVENT;
		qp_check_drained(qp);
		xport_ready(qp);
		break;
	default:
		qp->c.state = to;
		if (to == QPS_RTS)
			xport_ready(qp);
	}
	return qp_write_context(qp);
}

/* Software that says "migrated" to an armed QP wants it to go now. */
static void take(struct cx3_qp *qp, u16 opcode, u32 mask, const struct qpc *n)
{
	bool armed = qp->c.pm == PM_ARMED;

	qp_take(&qp->c, opcode, mask, n);
	if (!armed || qp->c.pm != PM_MIGRATED)
		return;
	qp->c.pm = PM_ARMED;
	apm_migrate(qp);
}

/**
 * cx3_qp_cmd_modify - all transitions but the one to RESET
 * @hca: device
 * @cmd: in_mod = QPN (bit 31: event when drained), mailbox = mask and context
 *
 * Return: command status.
 */
enum cx3_status cx3_qp_cmd_modify(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	u32 qpn = cmd->in_mod & 0xffffff;
	struct cx3_qp *qp = qp_find(hca, qpn);
	struct qpc n = { 0 };
	enum cx3_status st;
	u8 to = QPS_RST;

	if (!qp_move_allowed(cmd->opcode, qp ? qp->c.state : QPS_RST, &to))
		return CX3_BAD_QP_STATE;
	if (cmd->opcode != OP_2ERR) {
		qpc_unpack(cmd->in + QPC_MBOX_OFF, &n);
		if (hca->cfg.strict)
			audit_mailbox(hca, qpn, cmd->in);
	}
	if (!qp) {
		st = cmd->opcode == OP_RST2INIT ? check_new(hca, &n) : CX3_OK;
		if (st == CX3_OK)
			st = touch_tables(hca, qpn);
		if (st != CX3_OK)
			return st;
		qp = qp_new(hca, qpn, &n);
		if (!qp)
			return CX3_EXCEED_LIM;
		if (cmd->opcode == OP_RST2INIT)
			cx3_pd_use(hca, n.pd, "QP", qpn);
		if (cmd->opcode == OP_RST2INIT)
			place_queues(qp);
	} else if (cmd->opcode != OP_2ERR) {
		st = check_move(qp, cmd->opcode, &n);
		if (st != CX3_OK)
			return st;
		take(qp, cmd->opcode, get32(cmd->in), &n);
	}
	st = enter(qp, cmd, to);
	if (st != CX3_OK && cmd->opcode == OP_RST2INIT)
		qp_free(hca, qp);
	else
		xport_run(hca);
	return st;
}

/**
 * cx3_qp_cmd_reset - 2RST_QP: from any state, RESET included
 * @hca: device
 * @cmd: in_mod = QPN
 *
 * Return: command status.
 */
enum cx3_status cx3_qp_cmd_reset(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_qp *qp = qp_find(hca, cmd->in_mod & 0xffffff);

	cq_hurry(hca);
	if (qp)
		qp_free(hca, qp);
	return CX3_OK;
}

/**
 * cx3_qp_cmd_query - QUERY_QP: the context as it is now, at byte 8 of the mailbox
 * @hca: device
 * @cmd: in_mod = QPN
 *
 * Return: command status.
 */
enum cx3_status cx3_qp_cmd_query(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_qp *qp = qp_find(hca, cmd->in_mod & 0xffffff);
	struct qpc c;

	if (!qp)
		return CX3_BAD_RES_STATE;
	c = qp->c;
	c.msn = qp->rs.msn;
	c.rq_count = qp->rs.taken;
	c.sq_count = qp->sq.next;
	if (c.state >= QPS_RTR && c.state != QPS_ERR)
		c.recv_psn = qp->rs.epsn;
	if (qp->sq.req) {
		c.send_psn = qp->sq.psn;
		c.acked_psn = psn_add(qp->sq.una, WIRE_PSN_MASK);
	}
	qpc_pack(cmd->out + QPC_MBOX_OFF, &c);
	return CX3_OK;
}
