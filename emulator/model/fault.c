// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on demand. A rule is one line of text:
 *
 *   POINT[:KEY] [nth=N] [times=N] [at=NS] ACTION[=ARG]
 *
 * POINT   cmd    a command is posted; KEY its opcode
 *         tx rx  a packet leaves or arrives; KEY its class: smp gmp ud mcast
 *                rc ack uc xrc other
 *         cqe    a completion is about to be written; KEY its CQN
 *         eqe    an event is about to be written; KEY its type
 *         reset  the reset register is written
 *         time   virtual time at=NS is reached (repeated each at=NS if times > 1)
 * nth     strike at the Nth match (default 1) and at the times - 1 that
 *         follow (default 1 in all; 0 = for ever)
 * ACTION  drop dup delay=NS                for packets, completions, events; what completes
 *                                          to a CQ behind a late completion is late with it
 *         corrupt                          for packets; drop for reset: it does not happen
 *         status=N silent delay=NS         for commands
 *         fatal[=CODE]   fatal internal error: error buffer, no command answered
 *         hang           firmware answers no command from now on
 *         gone           surprise removal
 *         linkdown=P linkup=P flap=P       cable of port P
 *         event=TYPE/NUM                   an event about object NUM
 *         qperr=N cqerr=N srqerr=N         that object breaks
 *         lid=P/V smlid=P/V prefix=P/V pkey=P/I/V guid=P/I/V rereg=P
 *                                          what an SM would set on port P
 *         error=P/NAME                     count an error: symbol, recover,
 *                                          rcv, discard, vl15
 *
 * The single word "clear" takes all rules away. Numbers are decimal, or
 * hexadecimal with 0x.
 */
#include "port.h"
#include "rule.h"

#define ANY_KEY 0xffffffffu
#define MAX_RULES 64u

/* What is done beside the caller's work; smaller numbers are answered to the caller. */
enum effect {
	EF_FATAL = CX3_NFAULTACTS,
	EF_HANG,
	EF_GONE,
	EF_LINK_DOWN,
	EF_LINK_UP,
	EF_FLAP,
	EF_EVENT,
	EF_QP_ERROR,
	EF_CQ_ERROR,
	EF_SRQ_ERROR,
	EF_LID,
	EF_SM_LID,
	EF_PREFIX,
	EF_PKEY,
	EF_GUID,
	EF_REREGISTER,
	EF_ERROR,
};

/**
 * struct cx3_rule - one rule
 * @timer: for time rules, and for effects that must not happen in mid-call
 * @next: list in the order they were added
 * @point: where
 * @key: filter or ANY_KEY
 * @rule: when else, and what: an enum cx3_fault_act for the caller, or an enum effect
 */
struct cx3_rule {
	struct cx3_timer timer;
	struct cx3_rule *next;
	enum cx3_fault_point point;
	u32 key;
	struct rule rule;
};

struct cx3_faults {
	struct cx3_rule *rules;
	u32 nrules;
	u64 struck;
};

/* ----------------------------------------------------------------- the effects */

/* Do to the port what an SM would: read PortInfo, change a field, set it. */
static void as_sm(struct cx3_port *p, enum effect effect, const u64 *v)
{
	static const struct {
		u16 attr;
		u8 len;
	} what[] = {
		[EF_LID] = { 0x15, 2 },	  [EF_SM_LID] = { 0x15, 2 }, [EF_PREFIX] = { 0x15, 8 },
		[EF_PKEY] = { 0x16, 2 },  [EF_GUID] = { 0x14, 8 },   [EF_REREGISTER] = { 0x15, 0 },
	};
	u8 *mad = cx3_alloc(p->hca, MAD_BYTES);
	u8 *d = mad + MAD_DATA;

	if (!mad)
		return;
	mad[0] = 1;
	mad[MAD_CLASS] = MAD_CLASS_SMP;
	mad[2] = 1;
	mad[MAD_METHOD] = MAD_GET;
	put16(mad + MAD_ATTR, what[effect].attr);
	if (effect == EF_PKEY)
		put32(mad + MAD_MOD, (u32)(v[1] / 32));
	else if (effect == EF_GUID)
		put32(mad + MAD_MOD, (u32)(v[1] / 8));
	if (!cx3_sma(p, mad, false, 0)) {
		mad[MAD_METHOD] = MAD_SET;
		if (what[effect].attr == 0x15) {
			d[32] &= 0xf0;	/* no change of the port's states */
			d[33] &= 0x0f;
		}
		if (effect == EF_LID)
			put16(d + 16, (u16)v[1]);
		else if (effect == EF_SM_LID)
			put16(d + 18, (u16)v[1]);
		else if (effect == EF_PREFIX)
			put64(d + 8, v[1]);
		else if (effect == EF_PKEY)
			put16(d + 2 * (v[1] % 32), (u16)v[2]);
		else if (effect == EF_GUID)
			put64(d + 8 * (v[1] % 8), v[2]);
		else
			d[51] |= 0x80;
		cx3_sma(p, mad, false, 0);
	}
	cx3_free(p->hca, mad);
}

static void count_error(struct cx3_port *p, u64 which)
{
	u64 *counter[] = { &p->cnt.symbol, &p->cnt.link_recovers, &p->cnt.rcv_errors,
			   &p->cnt.xmit_discards, &p->cnt.vl15_dropped };

	if (which < ARRAY_SIZE(counter))
		++*counter[which];
}

static void port_effect(struct cx3_hca *hca, const struct rule *r)
{
	struct cx3_port *p = cx3_port(hca, (unsigned int)r->v[0]);

	if (!p)
		return;
	switch (r->act) {
	case EF_LINK_DOWN:
		p->sma->disabled = true;
		cx3_port_retrain(p);
		break;
	case EF_LINK_UP:
		p->sma->disabled = false;
		cx3_port_drive_link(p);
		break;
	case EF_FLAP:
		cx3_port_retrain(p);
		break;
	case EF_ERROR:
		count_error(p, r->v[1]);
		break;
	default:
		as_sm(p, (enum effect)r->act, r->v);
	}
}

static void take_effect(struct cx3_hca *hca, const struct rule *r)
{
	switch (r->act) {
	case EF_FATAL:
		cx3_fatal(hca, (u32)r->v[0]);
		break;
	case EF_HANG:
		hca->core->silent = true;
		hca->core->excused = true;
		break;
	case EF_GONE:
		cx3_set_gone(hca);
		if (hca->host.ops->unplug)
			hca->host.ops->unplug(hca->host.ctx);
		break;
	case EF_EVENT:
		cx3_event_num(hca, (u8)r->v[0], (u32)r->v[1]);
		break;
	case EF_QP_ERROR:
		cx3_fail_object(hca, CX3_QP, (u32)r->v[0]);
		break;
	case EF_CQ_ERROR:
		cx3_fail_object(hca, CX3_CQ, (u32)r->v[0]);
		break;
	case EF_SRQ_ERROR:
		cx3_fail_object(hca, CX3_SRQ, (u32)r->v[0]);
		break;
	default:
		port_effect(hca, r);
	}
}

static void rule_timer(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct cx3_rule *r = container_of(t, struct cx3_rule, timer);

	if (r->point == CX3_FP_TIME && rule_again(&r->rule))
		cx3_timer_arm(hca, t, t->deadline + r->rule.at);
	hca->core->fault->struck++;
	cx3_log(hca, CX3_LOG_INFO, "fault: rule strikes at %llu", cx3_now(hca));
	take_effect(hca, &r->rule);
}

static bool strikes(struct cx3_rule *r, enum cx3_fault_point point, u32 key)
{
	return r->point == point && (r->key == ANY_KEY || r->key == key) &&
	       rule_strikes(&r->rule);
}

enum cx3_fault_act cx3_fault(struct cx3_hca *hca, enum cx3_fault_point point, u32 key, u64 *arg)
{
	struct cx3_faults *f = hca->core->fault;
	enum cx3_fault_act act = CX3_FA_NONE;
	struct cx3_rule *r;

	for (r = f ? f->rules : NULL; r; r = r->next) {
		if (!strikes(r, point, key))
			continue;
		if (r->rule.act >= CX3_NFAULTACTS) {
			/* commands are posted from a clean state; elsewhere wait for one */
			if (point == CX3_FP_CMD || point == CX3_FP_RESET)
				rule_timer(hca, &r->timer);
			else
				cx3_timer_arm(hca, &r->timer, cx3_now(hca));
			continue;
		}
		if (act != CX3_FA_NONE)
			continue;
		act = (enum cx3_fault_act)r->rule.act;
		*arg = r->rule.v[0];
		f->struck++;
		cx3_log(hca, CX3_LOG_INFO, "fault: point %u key %x action %u arg %llu", point, key,
			act, *arg);
	}
	return act;
}

static void clear_rules(struct cx3_hca *hca)
{
	struct cx3_faults *f = hca->core->fault;

	while (f && f->rules) {
		struct cx3_rule *r = f->rules;

		f->rules = r->next;
		cx3_timer_cancel(hca, &r->timer);
		cx3_free(hca, r);
	}
	if (f)
		f->nrules = 0;
}

void cx3_fault_free(struct cx3_hca *hca)
{
	cx3_keep_drop(hca, NULL, 0);
	clear_rules(hca);
	cx3_free(hca, hca->core->fault);
	hca->core->fault = NULL;
}

u64 cx3_faults_struck(struct cx3_hca *hca)
{
	return hca->core->fault ? hca->core->fault->struck : 0;
}

/* -------------------------------------------------------------------- parsing */

static const char *const error_name[] = { "symbol", "recover", "rcv", "discard", "vl15", NULL };

#define ON_PACKET (CX3_BIT(CX3_FP_TX) | CX3_BIT(CX3_FP_RX))
#define ON_ENTRY (CX3_BIT(CX3_FP_CQE) | CX3_BIT(CX3_FP_EQE))
#define ON_CMD CX3_BIT(CX3_FP_CMD)
#define ANYWHERE (CX3_BIT(CX3_NFAULTPOINTS) - 1)

static const struct rule_action actions[] = {
	{ "drop", CX3_FA_DROP, ON_PACKET | ON_ENTRY | CX3_BIT(CX3_FP_RESET), 0, 0, NULL },
	{ "dup", CX3_FA_DUP, ON_PACKET | ON_ENTRY, 0, 0, NULL },
	{ "delay", CX3_FA_DELAY, ON_PACKET | ON_ENTRY | ON_CMD, 1, 1, NULL },
	{ "corrupt", CX3_FA_CORRUPT, ON_PACKET, 0, 0, NULL },
	{ "status", CX3_FA_STATUS, ON_CMD, 1, 1, NULL },
	{ "silent", CX3_FA_SILENT, ON_CMD, 0, 0, NULL },
	{ "fatal", EF_FATAL, ANYWHERE, 0, 1, NULL },
	{ "hang", EF_HANG, ANYWHERE, 0, 0, NULL },
	{ "gone", EF_GONE, ANYWHERE, 0, 0, NULL },
	{ "linkdown", EF_LINK_DOWN, ANYWHERE, 1, 1, NULL },
	{ "linkup", EF_LINK_UP, ANYWHERE, 1, 1, NULL },
	{ "flap", EF_FLAP, ANYWHERE, 1, 1, NULL },
	{ "event", EF_EVENT, ANYWHERE, 2, 2, NULL },
	{ "qperr", EF_QP_ERROR, ANYWHERE, 1, 1, NULL },
	{ "cqerr", EF_CQ_ERROR, ANYWHERE, 1, 1, NULL },
	{ "srqerr", EF_SRQ_ERROR, ANYWHERE, 1, 1, NULL },
	{ "lid", EF_LID, ANYWHERE, 2, 2, NULL },
	{ "smlid", EF_SM_LID, ANYWHERE, 2, 2, NULL },
	{ "prefix", EF_PREFIX, ANYWHERE, 2, 2, NULL },
	{ "pkey", EF_PKEY, ANYWHERE, 3, 3, NULL },
	{ "guid", EF_GUID, ANYWHERE, 3, 3, NULL },
	{ "rereg", EF_REREGISTER, ANYWHERE, 1, 1, NULL },
	{ "error", EF_ERROR, ANYWHERE, 2, 2, error_name },
};

static bool parse_point(const char **s, struct cx3_rule *r)
{
	static const char *const names[CX3_NFAULTPOINTS] = {
		[CX3_FP_CMD] = "cmd", [CX3_FP_TX] = "tx",	[CX3_FP_RX] = "rx",
		[CX3_FP_CQE] = "cqe", [CX3_FP_EQE] = "eqe",	[CX3_FP_RESET] = "reset",
		[CX3_FP_TIME] = "time",
	};
	u64 v;

	if (!rule_name(s, names, ARRAY_SIZE(names), &v))
		return false;
	r->point = (enum cx3_fault_point)v;
	r->key = ANY_KEY;
	if (**s != ':')
		return rule_end(**s);
	++*s;
	if (r->point == CX3_FP_TX || r->point == CX3_FP_RX) {
		if (!rule_name(s, cx3_pkt_name, ARRAY_SIZE(cx3_pkt_name), &v))
			return false;
	} else if (!rule_number(s, &v)) {
		return false;
	}
	r->key = (u32)v;
	return rule_end(**s);
}

static const char *parse(const char *s, struct cx3_rule *r)
{
	if (!parse_point(&s, r))
		return "the rule does not begin with POINT or POINT:KEY";
	return rule_parse(s, &r->rule, actions, ARRAY_SIZE(actions), r->point,
			  r->point == CX3_FP_TIME);
}

int cx3_fault_add(struct cx3_hca *hca, const char *text, const char **why)
{
	struct cx3_faults *f = hca->core->fault;
	struct cx3_rule *r, **tail;

	if (!strcmp(text, "clear")) {
		cx3_enter(hca);
		clear_rules(hca);
		cx3_leave(hca);
		return 0;
	}
	*why = "out of memory";
	if (!f) {
		f = cx3_alloc(hca, sizeof(*f));
		if (!f)
			return -1;
		hca->core->fault = f;
	}
	r = cx3_alloc(hca, sizeof(*r));
	if (!r)
		return -1;
	r->timer.fn = rule_timer;
	*why = f->nrules >= MAX_RULES ? "too many rules" : parse(text, r);
	if (*why) {
		cx3_free(hca, r);
		return -1;
	}
	for (tail = &f->rules; *tail; tail = &(*tail)->next)
		;
	*tail = r;
	f->nrules++;
	if (r->point == CX3_FP_TIME) {
		u64 now = cx3_now(hca);

		cx3_enter(hca);
		cx3_timer_arm(hca, &r->timer, r->rule.at > now ? r->rule.at : now);
		cx3_leave(hca);
	}
	return 0;
}
