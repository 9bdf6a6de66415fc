// SPDX-License-Identifier: GPL-2.0-only
/*
 * The QP state machine: which command moves a QP from where to where, which parameters a move
 * takes, and what the error state does with the work that is posted.
 *
 * A mailbox holds a whole context, but absent attributes are zero in it. So each move copies
 * what it always needs, and beyond that only what the mask of optional parameters names.
 */
#include "xport.h"

#define B(n) (1ull << (n))

/* Optional parameter bits of the hardware interface; from 32 on bits of our own. */
enum {
	PAR_ALT_PATH = 0,
	PAR_RRE = 1,
	PAR_RAE = 2,
	PAR_RWE = 3,
	PAR_PKEY = 4,
	PAR_QKEY = 5,
	PAR_RNR_TIMER = 6,
	PAR_PATH = 7,
	PAR_SRA = 8,
	PAR_RRA = 9,
	PAR_PM = 10,
	PAR_RETRY = 12,
	PAR_RNR_RETRY = 13,
	PAR_ACK_TIMEOUT = 14,
	PAR_SCHED = 16,
	PAR_MTU = 32,
	PAR_REMOTE_QPN = 33,
	PAR_RECV_PSN = 34,
	PAR_SEND_PSN = 35,
};

#define PAR_OPTIONAL (B(17) - 1)
#define PAR_TO_RTR (B(PAR_MTU) | B(PAR_REMOTE_QPN) | B(PAR_RECV_PSN) | B(PAR_PATH) | \
		    B(PAR_SCHED) | B(PAR_RRA) | B(PAR_RNR_TIMER))
#define PAR_TO_RTS (B(PAR_SEND_PSN) | B(PAR_ACK_TIMEOUT) | B(PAR_RETRY) | B(PAR_RNR_RETRY) | \
		    B(PAR_SRA))

#define S(state) (1u << QPS_##state)

static const struct {
	u16 opcode;
	u8 from, to;
	u64 always;
} moves[] = {
	{ 0x19, S(RST), QPS_INIT, 0 },
	{ 0x2d, S(INIT), QPS_INIT, 0 },
	{ 0x1a, S(INIT), QPS_RTR, PAR_TO_RTR },
	{ 0x1b, S(RTR), QPS_RTS, PAR_TO_RTS },
	{ 0x1c, S(RTS), QPS_RTS, 0 },
	{ 0x1d, S(SQER), QPS_RTS, 0 },
	{ 0x1f, S(RTS), QPS_SQD, 0 },
	{ 0x38, S(SQD), QPS_SQD, 0 },
	{ 0x20, S(SQD), QPS_RTS, 0 },
	{ 0x1e, 0xff, QPS_ERR, 0 },
};

#define PAR(bit, member) { bit, sizeof(((struct qpc *)0)->member), offsetof(struct qpc, member) }

static const struct {
	u8 bit, size;
	u16 off;
} params[] = {
	PAR(PAR_ALT_PATH, path[1]), PAR(PAR_RRE, rre), PAR(PAR_RAE, rae), PAR(PAR_RWE, rwe),
	PAR(PAR_PKEY, path[0].pkey_index), PAR(PAR_QKEY, qkey), PAR(PAR_RNR_TIMER, min_rnr),
	PAR(PAR_PATH, path[0].force_loop), PAR(PAR_PATH, path[0].pkey_off),
	PAR(PAR_PATH, path[0].grh), PAR(PAR_PATH, path[0].path_bits),
	PAR(PAR_PATH, path[0].rlid), PAR(PAR_PATH, path[0].sgid_index),
	PAR(PAR_PATH, path[0].static_rate), PAR(PAR_PATH, path[0].hop_limit),
	PAR(PAR_PATH, path[0].tclass), PAR(PAR_PATH, path[0].flow), PAR(PAR_PATH, path[0].rgid),
	PAR(PAR_SRA, sra), PAR(PAR_RRA, rra), PAR(PAR_PM, pm), PAR(PAR_RETRY, retry),
	PAR(PAR_RNR_RETRY, rnr_retry), PAR(PAR_ACK_TIMEOUT, path[0].ack_timeout),
	PAR(PAR_SCHED, path[0].port), PAR(PAR_SCHED, path[0].sl), PAR(PAR_SCHED, path[0].sched),
	PAR(PAR_SCHED, path[0].sched_hi), PAR(PAR_MTU, mtu), PAR(PAR_MTU, msg_max),
	PAR(PAR_REMOTE_QPN, rqpn), PAR(PAR_RECV_PSN, recv_psn), PAR(PAR_SEND_PSN, send_psn),
};

/**
 * qp_move_allowed - does the state machine have this move?
 * @opcode: command
 * @from: state the QP is in
 * @to: set to the state it leads to, if the command is known
 *
 * Return: true if it has.
 */
bool qp_move_allowed(u16 opcode, u8 from, u8 *to)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(moves); i++) {
		if (moves[i].opcode != opcode)
			continue;
		*to = moves[i].to;
		return moves[i].from >> from & 1;
	}
	return false;
}

/**
 * qp_take - copy the parameters of a move
 * @c: the QP's context
 * @opcode: command; not the one out of RESET, which takes everything
 * @mask: optional parameters named by software
 * @n: context from the mailbox
 */
void qp_take(struct qpc *c, u16 opcode, u32 mask, const struct qpc *n)
{
	u64 take = mask & PAR_OPTIONAL;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].opcode == opcode)
			take |= moves[i].always;
	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (take & B(params[i].bit))
			memcpy((u8 *)c + params[i].off, (const u8 *)n + params[i].off,
			       params[i].size);
}

/**
 * qp_enter_error - to the error state, whoever wants it
 * @qp: queue pair
 *
 * What was in flight is flushed like what was never started: the SQ goes back to its oldest WQE
 * that was not completed. Responses already owed still go out, a NAK among them.
 */
void qp_enter_error(struct cx3_qp *qp)
{
	struct requester *sq = &qp->sq;

	qp->c.state = QPS_ERR;
	if (sq->req && sq->head != sq->tail)
		sq->next = sq_req(qp, sq->head)->wqe;
	sq->head = sq->tail;
	sq->cur = sq->tail;
	sq->reads = 0;
	sq->timing = false;
	sq->rnr_wait = false;
	cx3_timer_cancel(qp->hca, &sq->timer);
	cx3_timer_cancel(qp->hca, &sq->rnr_timer);
	qp->rs.poll_ns = FLUSH_POLL_NS;
	xport_ready(qp);
}

/**
 * qp_error - the device itself found an error
 * @qp: queue pair
 * @event: asynchronous event to raise, 0 for none
 */
void qp_error(struct cx3_qp *qp, u8 event)
{
	if (qp->c.state == QPS_ERR)
		return;
	if (event)
		cx3_event_num(qp->hca, event, qp->obj.num);
	qp_enter_error(qp);
}

/**
 * qp_flush - complete a few posted WQEs with "flushed"
 * @qp: queue pair in ERR (both queues) or SQER (send queue)
 *
 * There is no doorbell for receives, so in ERR a timer looks for ones posted later.
 *
 * Return: true if there may be more right now.
 */
bool qp_flush(struct cx3_qp *qp)
{
	bool more = true;
	u32 n;

	for (n = 0; n < STEP_PACKETS && more; n++) {
		more = sq_flush_one(qp);
		if (qp->c.state == QPS_ERR && rq_flush_one(qp))
			more = true;
	}
	if (more || qp->c.state != QPS_ERR)
		return more;
	if (!qp->has_rq && !qp->last_wqe_told && (qp->c.has_srq || qp->c.service == QPT_XRC)) {
		qp->last_wqe_told = true;
		if (qp->c.has_srq)
			cx3_event_num(qp->hca, CX3_EV_SRQ_LAST_WQE, qp->obj.num);
	}
	if (qp->has_rq && !qp->rs.poll.armed)
		cx3_timer_arm(qp->hca, &qp->rs.poll, cx3_now(qp->hca) + qp->rs.poll_ns);
	return false;
}

/**
 * qp_check_drained - a QP asked to drain has nothing in flight any more?
 * @qp: queue pair in any state
 */
void qp_check_drained(struct cx3_qp *qp)
{
	if (qp->c.state != QPS_DRAINING || qp->sq.head != qp->sq.tail || qp->sq.ud_off)
		return;
	qp->c.state = QPS_SQD;
	if (qp->sq.drain_event)
		cx3_event_num(qp->hca, CX3_EV_SQ_DRAINED, qp->obj.num);
	qp->sq.drain_event = false;
}
