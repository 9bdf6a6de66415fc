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
 * ACTION  drop dup corrupt delay=NS        for packets, completions, events;
 *                                          drop at "reset": it does not happen
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
#define MAX_DELAYED 256u

enum effect {
	EF_NONE,	/* answered to the caller: act, arg */
	EF_FATAL,
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
 * struct rule - one rule
 * @timer: for time rules, and for effects that must not happen in mid-call
 * @next: list in the order they were added
 * @point: where
 * @key: filter or ANY_KEY
 * @nth: first match that strikes
 * @times: how many strike, 0 = all
 * @at: period or time of a time rule
 * @hits: matches so far
 * @act: what the caller is told
 * @effect: what is done beside
 * @v: arguments
 */
struct rule {
	struct cx3_timer timer;
	struct rule *next;
	enum cx3_fault_point point;
	u32 key;
	u64 nth;
	u64 times;
	u64 at;
	u64 hits;
	enum cx3_fault_act act;
	enum effect effect;
	u64 v[3];
};

/**
 * struct delayed - a packet kept back
 * @timer: when it goes on
 * @next: list
 * @port: whose
 * @len: bytes
 * @data: the packet
 */
struct delayed {
	struct cx3_timer timer;
	struct delayed *next;
	struct cx3_port *port;
	u32 len;
	u8 data[];
};

struct cx3_faults {
	struct rule *rules;
	u32 nrules;
	struct delayed *delayed;
	u32 ndelayed;
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
	switch (r->effect) {
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
		as_sm(p, r->effect, r->v);
	}
}

static void take_effect(struct cx3_hca *hca, const struct rule *r)
{
	switch (r->effect) {
	case EF_NONE:
		break;
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
	struct rule *r = container_of(t, struct rule, timer);

	if (r->point == CX3_FP_TIME) {
		r->hits++;
		if (!r->times || r->hits < r->times)
			cx3_timer_arm(hca, t, t->deadline + r->at);
	}
	hca->core->fault->struck++;
	cx3_log(hca, CX3_LOG_INFO, "fault: rule strikes at %llu", cx3_now(hca));
	take_effect(hca, r);
}

static bool strikes(struct rule *r, enum cx3_fault_point point, u32 key)
{
	if (r->point != point || (r->key != ANY_KEY && r->key != key))
		return false;
	r->hits++;
	return r->hits >= r->nth && (!r->times || r->hits - r->nth < r->times);
}

enum cx3_fault_act cx3_fault(struct cx3_hca *hca, enum cx3_fault_point point, u32 key, u64 *arg)
{
	struct cx3_faults *f = hca->core->fault;
	enum cx3_fault_act act = CX3_FA_NONE;
	struct rule *r;

	for (r = f ? f->rules : NULL; r; r = r->next) {
		if (!strikes(r, point, key))
			continue;
		if (r->effect != EF_NONE) {
			/* commands are posted from a clean state; elsewhere wait for one */
			if (point == CX3_FP_CMD || point == CX3_FP_RESET)
				rule_timer(hca, &r->timer);
			else
				cx3_timer_arm(hca, &r->timer, cx3_now(hca));
			continue;
		}
		if (act != CX3_FA_NONE)
			continue;
		act = r->act;
		*arg = r->v[0];
		f->struck++;
		cx3_log(hca, CX3_LOG_INFO, "fault: point %u key %x action %u arg %llu", point, key,
			act, *arg);
	}
	return act;
}

/* ------------------------------------------------------------- delayed packets */

static void drop_delayed(struct cx3_hca *hca, struct delayed *d)
{
	struct delayed **p = &hca->core->fault->delayed;

	while (*p != d)
		p = &(*p)->next;
	*p = d->next;
	hca->core->fault->ndelayed--;
	cx3_timer_cancel(hca, &d->timer);
	cx3_free(hca, d);
}

static void delayed_timer(struct cx3_hca *hca, struct cx3_timer *t)
{
	struct delayed *d = container_of(t, struct delayed, timer);

	link_send(d->port->end, d->data, d->len);
	drop_delayed(hca, d);
}

void cx3_fault_delay_tx(struct cx3_port *p, const u8 *pkt, u32 len, u64 ns)
{
	struct cx3_faults *f = p->hca->core->fault;
	struct delayed *d;

	if (f->ndelayed >= MAX_DELAYED)
		return;
	d = cx3_alloc(p->hca, sizeof(*d) + len);
	if (!d)
		return;
	d->port = p;
	d->len = len;
	memcpy(d->data, pkt, len);
	d->timer.fn = delayed_timer;
	d->next = f->delayed;
	f->delayed = d;
	f->ndelayed++;
	cx3_timer_arm(p->hca, &d->timer, cx3_now(p->hca) + ns);
}

void cx3_fault_reset(struct cx3_hca *hca)
{
	while (hca->core->fault && hca->core->fault->delayed)
		drop_delayed(hca, hca->core->fault->delayed);
}

static void clear_rules(struct cx3_hca *hca)
{
	struct cx3_faults *f = hca->core->fault;

	while (f && f->rules) {
		struct rule *r = f->rules;

		f->rules = r->next;
		cx3_timer_cancel(hca, &r->timer);
		cx3_free(hca, r);
	}
	if (f)
		f->nrules = 0;
}

void cx3_fault_free(struct cx3_hca *hca)
{
	cx3_fault_reset(hca);
	clear_rules(hca);
	cx3_free(hca, hca->core->fault);
	hca->core->fault = NULL;
}

u64 cx3_faults_struck(struct cx3_hca *hca)
{
	return hca->core->fault ? hca->core->fault->struck : 0;
}

/* -------------------------------------------------------------------- parsing */

static const char *const error_name[] = { "symbol", "recover", "rcv", "discard", "vl15" };

static bool parse_point(const char **s, struct rule *r)
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

/* Actions by name: what the caller is told or what is done, and the arguments. */
static const struct {
	const char *name;
	enum cx3_fault_act act;
	enum effect effect;
	u8 min_args;
	u8 max_args;
} actions[] = {
	{ "drop", CX3_FA_DROP, EF_NONE, 0, 0 },
	{ "dup", CX3_FA_DUP, EF_NONE, 0, 0 },
	{ "delay", CX3_FA_DELAY, EF_NONE, 1, 1 },
	{ "corrupt", CX3_FA_CORRUPT, EF_NONE, 0, 0 },
	{ "status", CX3_FA_STATUS, EF_NONE, 1, 1 },
	{ "silent", CX3_FA_SILENT, EF_NONE, 0, 0 },
	{ "fatal", CX3_FA_NONE, EF_FATAL, 0, 1 },
	{ "hang", CX3_FA_NONE, EF_HANG, 0, 0 },
	{ "gone", CX3_FA_NONE, EF_GONE, 0, 0 },
	{ "linkdown", CX3_FA_NONE, EF_LINK_DOWN, 1, 1 },
	{ "linkup", CX3_FA_NONE, EF_LINK_UP, 1, 1 },
	{ "flap", CX3_FA_NONE, EF_FLAP, 1, 1 },
	{ "event", CX3_FA_NONE, EF_EVENT, 2, 2 },
	{ "qperr", CX3_FA_NONE, EF_QP_ERROR, 1, 1 },
	{ "cqerr", CX3_FA_NONE, EF_CQ_ERROR, 1, 1 },
	{ "srqerr", CX3_FA_NONE, EF_SRQ_ERROR, 1, 1 },
	{ "lid", CX3_FA_NONE, EF_LID, 2, 2 },
	{ "smlid", CX3_FA_NONE, EF_SM_LID, 2, 2 },
	{ "prefix", CX3_FA_NONE, EF_PREFIX, 2, 2 },
	{ "pkey", CX3_FA_NONE, EF_PKEY, 3, 3 },
	{ "guid", CX3_FA_NONE, EF_GUID, 3, 3 },
	{ "rereg", CX3_FA_NONE, EF_REREGISTER, 1, 1 },
	{ "error", CX3_FA_NONE, EF_ERROR, 2, 2 },
};

static bool parse_args(const char **s, struct rule *r, unsigned int min, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && (n ? **s == '/' : **s == '=')) {
		++*s;
		if (r->effect == EF_ERROR && n == 1) {
			if (!rule_name(s, error_name, ARRAY_SIZE(error_name), &r->v[n]))
				return false;
		} else if (!rule_number(s, &r->v[n])) {
			return false;
		}
		n++;
	}
	return n >= min && rule_end(**s);
}

static bool parse_word(const char **s, struct rule *r)
{
	unsigned int i;

	if (rule_key(s, "nth"))
		return rule_number(s, &r->nth) && r->nth;
	if (rule_key(s, "times"))
		return rule_number(s, &r->times);
	if (rule_key(s, "at"))
		return rule_number(s, &r->at);
	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		if (!rule_word(s, actions[i].name))
			continue;
		if (r->act != CX3_FA_NONE || r->effect != EF_NONE)
			return false;
		r->act = actions[i].act;
		r->effect = actions[i].effect;
		return parse_args(s, r, actions[i].min_args, actions[i].max_args);
	}
	return false;
}

static const char *parse(const char *s, struct rule *r)
{
	r->nth = 1;
	r->times = 1;
	if (!parse_point(&s, r))
		return "the rule does not begin with POINT or POINT:KEY";
	while (*s) {
		if (*s == ' ') {
			s++;
			continue;
		}
		if (!parse_word(&s, r) || !rule_end(*s))
			return "unknown word or bad argument";
	}
	if (r->act == CX3_FA_NONE && r->effect == EF_NONE)
		return "the rule has no action";
	if (r->point == CX3_FP_TIME ? !r->at : r->at)
		return "at=NS goes with time, and only with it";
	if (r->point == CX3_FP_TIME && r->effect == EF_NONE)
		return "nothing can be dropped or delayed at a time";
	return NULL;
}

int cx3_fault_add(struct cx3_hca *hca, const char *text, const char **why)
{
	struct cx3_faults *f = hca->core->fault;
	struct rule *r, **tail;

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
		cx3_timer_arm(hca, &r->timer, r->at > now ? r->at : now);
		cx3_leave(hca);
	}
	return 0;
}
