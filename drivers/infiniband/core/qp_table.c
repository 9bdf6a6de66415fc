// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state table of queue pairs (IBA 10.3.1, and the modifiers of 11.2.5.2).
 *
 * One line is a transition for some kinds of QP: which attributes have to be given and which may.
 * Two transitions exist for every kind and need no line: to RESET from every state, and to ERR from
 * every state but RESET.
 *
 * The names in a line are the last words of IB_QP_*.
 */
#include <linux/export.h>

#include "objects.h"

#define QPT_RC BIT(IB_QPT_RC)
#define QPT_UC BIT(IB_QPT_UC)
#define QPT_UD BIT(IB_QPT_UD)
#define QPT_SPECIAL (BIT(IB_QPT_SMI) | BIT(IB_QPT_GSI))
#define QPT_RAW BIT(IB_QPT_RAW_PACKET)
#define QPT_INI BIT(IB_QPT_XRC_INI)
#define QPT_TGT BIT(IB_QPT_XRC_TGT)
#define QPT_XRC (QPT_INI | QPT_TGT)
#define QPT_RELIABLE (QPT_RC | QPT_XRC)
#define QPT_CONNECTED (QPT_RELIABLE | QPT_UC)
#define QPT_ALL (QPT_CONNECTED | QPT_UD | QPT_SPECIAL | QPT_RAW)

/* What moves a connection, what a responder and what a requester needs. */
#define QP_ADDRESS (IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define QP_RESPONDER (IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define QP_REQUESTER (IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC)
#define QP_PATH (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_ACCESS_FLAGS)

/**
 * struct ib_qp_line - a line of the table
 * @types: kinds of QP, one bit each
 * @from: present state
 * @to: next state
 * @required: have to be given
 * @optional: may be given
 */
struct ib_qp_line {
	u16 types;
	u8 from;
	u8 to;
	u32 required;
	u32 optional;
};

#define LINE(types_, from_, to_, required_, optional_)						\
	{ .types = (types_), .from = IB_QPS_##from_, .to = IB_QPS_##to_,			\
	  .required = (required_), .optional = (optional_) }

static const struct ib_qp_line ib_qp_lines[] = {
	/* The port of a special QP was given when it was made. */
	LINE(QPT_SPECIAL, RESET, INIT, IB_QP_PKEY_INDEX | IB_QP_QKEY, 0),
	LINE(QPT_UD, RESET, INIT, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY, 0),
	LINE(QPT_CONNECTED, RESET, INIT, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS, 0),
	LINE(QPT_RAW, RESET, INIT, IB_QP_PORT, 0),

	LINE(QPT_SPECIAL, INIT, INIT, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY),
	LINE(QPT_UD, INIT, INIT, 0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY),
	LINE(QPT_CONNECTED, INIT, INIT, 0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
	LINE(QPT_RAW, INIT, INIT, 0, IB_QP_PORT),

	LINE(QPT_UD | QPT_SPECIAL, INIT, RTR, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY),
	LINE(QPT_RAW, INIT, RTR, 0, 0),
	LINE(QPT_UC | QPT_INI, INIT, RTR, QP_ADDRESS,
	     IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX),
	LINE(QPT_RC | QPT_TGT, INIT, RTR, QP_ADDRESS | QP_RESPONDER,
	     IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX),

	LINE(QPT_UD | QPT_SPECIAL, RTR, RTS, IB_QP_SQ_PSN, IB_QP_CUR_STATE | IB_QP_QKEY),
	LINE(QPT_RAW, RTR, RTS, 0, IB_QP_RATE_LIMIT),
	LINE(QPT_UC, RTR, RTS, IB_QP_SQ_PSN, IB_QP_CUR_STATE | QP_PATH | IB_QP_RATE_LIMIT),
	LINE(QPT_RC, RTR, RTS, IB_QP_SQ_PSN | IB_QP_TIMEOUT | QP_REQUESTER,
	     IB_QP_CUR_STATE | QP_PATH | IB_QP_MIN_RNR_TIMER | IB_QP_RATE_LIMIT),
	LINE(QPT_INI, RTR, RTS, IB_QP_SQ_PSN | IB_QP_TIMEOUT | QP_REQUESTER,
	     IB_QP_CUR_STATE | QP_PATH),
	LINE(QPT_TGT, RTR, RTS, IB_QP_SQ_PSN | IB_QP_TIMEOUT,
	     IB_QP_CUR_STATE | QP_PATH | IB_QP_MIN_RNR_TIMER),

	LINE(QPT_UD | QPT_SPECIAL, RTS, RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY),
	LINE(QPT_RAW, RTS, RTS, 0, IB_QP_RATE_LIMIT),
	LINE(QPT_UC, RTS, RTS, 0, IB_QP_CUR_STATE | QP_PATH | IB_QP_RATE_LIMIT),
	LINE(QPT_RC, RTS, RTS, 0,
	     IB_QP_CUR_STATE | QP_PATH | IB_QP_MIN_RNR_TIMER | IB_QP_RATE_LIMIT),
	LINE(QPT_INI, RTS, RTS, 0, IB_QP_CUR_STATE | QP_PATH),
	LINE(QPT_TGT, RTS, RTS, 0, IB_QP_CUR_STATE | QP_PATH | IB_QP_MIN_RNR_TIMER),

	LINE(QPT_ALL, RTS, SQD, 0, IB_QP_EN_SQD_ASYNC_NOTIFY),

	LINE(QPT_UD | QPT_SPECIAL, SQD, RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY),
	LINE(QPT_UC | QPT_INI, SQD, RTS, 0, IB_QP_CUR_STATE | QP_PATH),
	LINE(QPT_RC | QPT_TGT, SQD, RTS, 0, IB_QP_CUR_STATE | QP_PATH | IB_QP_MIN_RNR_TIMER),
	LINE(QPT_RAW, SQD, RTS, 0, 0),

	LINE(QPT_UD | QPT_SPECIAL, SQD, SQD, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY),
	LINE(QPT_UC, SQD, SQD, 0, IB_QP_AV | IB_QP_PKEY_INDEX | QP_PATH),
	LINE(QPT_RC, SQD, SQD, 0,
	     IB_QP_PORT | IB_QP_AV | IB_QP_PKEY_INDEX | IB_QP_TIMEOUT | QP_REQUESTER |
	     QP_RESPONDER | QP_PATH),
	LINE(QPT_INI, SQD, SQD, 0,
	     IB_QP_PORT | IB_QP_AV | IB_QP_PKEY_INDEX | IB_QP_TIMEOUT | QP_REQUESTER | QP_PATH),
	LINE(QPT_TGT, SQD, SQD, 0,
	     IB_QP_PORT | IB_QP_AV | IB_QP_PKEY_INDEX | IB_QP_TIMEOUT | QP_RESPONDER | QP_PATH),

	/* A send error leaves a reliable QP in ERR, never in SQE. */
	LINE(QPT_UD | QPT_SPECIAL, SQE, RTS, 0, IB_QP_CUR_STATE | IB_QP_QKEY),
	LINE(QPT_UC, SQE, RTS, 0, IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS),
	LINE(QPT_RAW, SQE, RTS, 0, 0),
};

struct ib_qp_rule ib_qp_rule(enum ib_qp_type type, enum ib_qp_state from, enum ib_qp_state to)
{
	struct ib_qp_rule rule = {};
	unsigned int i;

	if (type >= IB_QPT_COUNT || !(BIT(type) & QPT_ALL))
		return rule;
	if (from >= IB_QP_STATES || to >= IB_QP_STATES)
		return rule;
	if (to == IB_QPS_RESET || to == IB_QPS_ERR) {
		rule.valid = to == IB_QPS_RESET || from != IB_QPS_RESET;
		return rule;
	}
	for (i = 0; i < ARRAY_SIZE(ib_qp_lines); i++) {
		const struct ib_qp_line *line = &ib_qp_lines[i];

		if (line->from != from || line->to != to || !(line->types & BIT(type)))
			continue;
		rule.valid = true;
		rule.required = line->required;
		rule.optional = line->optional;
		break;
	}
	return rule;
}
EXPORT_SYMBOL_GPL(ib_qp_rule);

bool ib_qp_may(enum ib_qp_type type, enum ib_qp_state from, enum ib_qp_state to, u32 mask)
{
	struct ib_qp_rule rule = ib_qp_rule(type, from, to);

	mask &= ~IB_QP_STATE;
	return rule.valid && (mask & rule.required) == rule.required &&
	       !(mask & ~(rule.required | rule.optional));
}
EXPORT_SYMBOL_GPL(ib_qp_may);

static const char *const ib_qp_state_names[] = {
	[IB_QPS_RESET] = "RESET",
	[IB_QPS_INIT] = "INIT",
	[IB_QPS_RTR] = "RTR",
	[IB_QPS_RTS] = "RTS",
	[IB_QPS_SQD] = "SQD",
	[IB_QPS_SQE] = "SQE",
	[IB_QPS_ERR] = "ERR",
};

const char *ib_qp_state_name(enum ib_qp_state state)
{
	return state < ARRAY_SIZE(ib_qp_state_names) ? ib_qp_state_names[state] : "?";
}
EXPORT_SYMBOL_GPL(ib_qp_state_name);
