// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults inside a fabric. A rule is one line of text:
 *
 *   POINT [nth=N] [times=N] [at=NS] ACTION[=ARG]
 *
 * POINT   in:P[/CLASS]   a packet enters the fabric by port P
 *         out:P[/CLASS]  one leaves it by port P (only where there is a switch); P = 0 is any port;
 *                        CLASS is smp gmp ud mcast rc ack uc xrc other
 *         time           virtual time at=NS is reached (repeated each at=NS if times > 1)
 * nth, times             as in the rules of a device
 * ACTION  drop dup delay=NS
 *         corrupt        the far side finds a bad CRC: dropped, and counted by a port of the switch
 *         down=P up=P    the cable of port P is pulled, and plugged in again
 *         flap=P         pulled and plugged in at once
 *         mute unmute    the switch's agents answer nothing
 *         restart        the switch loses its power for a moment: tables, LIDs and counters
 *         route=LID/P    an entry of the linear forwarding table changes
 *         error=P/NAME   a port of the switch counts an error: symbol, downed, rcv, relay, discard,
 *                        vl15
 *
 * Ports are numbered as the switch's are, in the order of attaching; two that are cabled back to
 * back are 1 and 2. The single word "clear" takes all rules away.
 */
#include "cable.h"
#include "fault.h"
#include "../model/pktclass.h"
#include "../model/rule.h"

enum { MAX_RULES = 64, MAX_DELAYED = 256 };

enum point { AT_IN, AT_OUT, AT_TIME };

enum action {
	DO_NOTHING, DO_DROP, DO_DUP, DO_DELAY, DO_CORRUPT,	/* to a packet */
	DO_DOWN, DO_UP, DO_FLAP, DO_MUTE, DO_UNMUTE, DO_RESTART, DO_ROUTE, DO_ERROR,
};

#define ANY_CLASS CX3_NPKT

/**
 * struct fab_rule - one rule
 * @next: list in the order they were added
 * @point: where
 * @port: which port, 0 = any
 * @class: which packets, ANY_CLASS = all
 * @due: time rules: when it strikes next, CX3_NEVER = no more
 * @rule: when else it strikes, and what happens (enum action)
 */
struct fab_rule {
	struct fab_rule *next;
	enum point point;
	u64 port, class, due;
	struct rule rule;
};

/* A packet kept back, and the end whose owner will get it. */
struct fab_delayed {
	struct fab_delayed *next;
	struct fab_end *to;
	u64 due;
	u32 len;
	u8 data[];
};

struct fab_faults {
	struct fab_rule *rules;
	struct fab_delayed *delayed;
	unsigned int nrules, ndelayed;
	u64 struck;
};

/* Effects */

static void set_error(struct fabric *fab, u64 num, u64 which)
{
	static const u8 counter[] = {
		CNT_SYMBOL_ERRORS, CNT_LINK_DOWNED, CNT_RCV_ERRORS, CNT_RELAY_ERRORS,
		CNT_XMIT_DISCARDS, CNT_VL15_DROPPED,
	};

	if (fab->sw && num <= FSW_PORTS)
		fab->sw->port[num].count[counter[which]]++;
}

static void pull(struct fabric *fab, u64 num, bool pulled)
{
	unsigned int i;

	for (i = 0; i < fab->nends; i++)
		if (num && fab->end[i]->num == num && !fab->end[i]->dead)
			cable_pull(fab->end[i], pulled);
}

static void strike(struct fabric *fab, const struct rule *r)
{
	switch (r->act) {
	case DO_DOWN:
	case DO_FLAP:
		pull(fab, r->v[0], true);
		if (r->act == DO_FLAP)
			pull(fab, r->v[0], false);
		break;
	case DO_UP:
		pull(fab, r->v[0], false);
		break;
	case DO_MUTE:
	case DO_UNMUTE:
		if (fab->sw)
			fab->sw->mute = r->act == DO_MUTE;
		break;
	case DO_RESTART:
		if (fab->sw)
			fsw_restart(fab->sw);
		break;
	case DO_ROUTE:
		if (fab->sw && r->v[0] < FSW_LINEAR_CAP)
			fab->sw->lft[r->v[0]] = (u8)r->v[1];
		break;
	case DO_ERROR:
		set_error(fab, r->v[0], r->v[1]);
		break;
	default:
		break;
	}
}

/* Packets */

static void delay(struct fab_faults *f, struct fab_end *to, const u8 *pkt, u32 len, u64 ns)
{
	const struct cx3_host *host = &to->fab->host;
	struct fab_delayed *d;

	if (f->ndelayed == MAX_DELAYED)
		return;
	d = cx3_host_alloc(host, sizeof(*d) + len);
	if (!d)
		return;
	d->to = to;
	d->due = cx3_host_now(host) + ns;
	d->len = len;
	memcpy(d->data, pkt, len);
	d->next = f->delayed;
	f->delayed = d;
	f->ndelayed++;
	fabric_kick(to->fab);
}

static bool matches(struct fab_rule *r, const struct fab_end *from, enum cx3_pkt_class class)
{
	enum point point = from->is_switch ? AT_OUT : AT_IN;

	if (r->point != point || (r->port && r->port != from->num) ||
	    (r->class != ANY_CLASS && r->class != class))
		return false;
	return rule_strikes(&r->rule);
}

unsigned int fab_fault_copies(struct fab_end *from, const u8 *pkt, u32 len)
{
	struct fab_faults *f = from->fab->faults;
	enum action act = DO_NOTHING;
	enum cx3_pkt_class class;
	struct fab_rule *r;
	u64 arg = 0;

	if (!f || !f->rules)
		return 1;
	class = cx3_pkt_class(pkt, len);
	for (r = f->rules; r; r = r->next) {
		if (!matches(r, from, class) || act != DO_NOTHING)
			continue;
		f->struck++;
		if (r->rule.act >= DO_DOWN) {
			/* not now: the sender is in the middle of something */
			r->due = cx3_host_now(&from->fab->host);
			fabric_kick(from->fab);
			continue;
		}
		act = (enum action)r->rule.act;
		arg = r->rule.v[0];
	}
	if (act == DO_CORRUPT && !from->is_switch && from->peer && from->peer->is_switch)
		set_error(from->fab, from->num, 0);
	if (act == DO_DELAY)
		delay(f, from->peer, pkt, len, arg);
	return act == DO_NOTHING ? 1 : act == DO_DUP ? 2 : 0;
}

/* Time */

u64 fab_fault_deadline(const struct fabric *fab)
{
	const struct fab_faults *f = fab->faults;
	const struct fab_delayed *d;
	const struct fab_rule *r;
	u64 due = CX3_NEVER;

	for (r = f ? f->rules : NULL; r; r = r->next)
		due = r->due < due ? r->due : due;
	for (d = f ? f->delayed : NULL; d; d = d->next)
		due = d->due < due ? d->due : due;
	return due;
}

static void rules_fire(struct fabric *fab, u64 now)
{
	struct fab_rule *r;

	for (r = fab->faults->rules; r; r = r->next) {
		if (r->due > now)
			continue;
		r->due = CX3_NEVER;
		if (r->point == AT_TIME) {
			fab->faults->struck++;
			if (rule_again(&r->rule))
				r->due = now + r->rule.at;
		}
		cx3_host_log(&fab->host, CX3_LOG_INFO, "fabric %s: a fault strikes", fab->name);
		strike(fab, &r->rule);
	}
}

void fab_fault_fire(struct fabric *fab, u64 now)
{
	struct fab_faults *f = fab->faults;
	struct fab_delayed **p;

	if (!f)
		return;
	rules_fire(fab, now);
	for (p = &f->delayed; *p;) {
		struct fab_delayed *d = *p;

		if (d->due > now) {
			p = &d->next;
			continue;
		}
		*p = d->next;
		f->ndelayed--;
		end_arrive(d->to, d->data, d->len);
		cx3_host_free(&fab->host, d);
	}
}

void fab_fault_forget(struct fab_end *end)
{
	struct fab_faults *f = end->fab->faults;
	struct fab_delayed **p = f ? &f->delayed : NULL;

	while (p && *p) {
		struct fab_delayed *d = *p;

		if (d->to != end) {
			p = &d->next;
			continue;
		}
		*p = d->next;
		f->ndelayed--;
		cx3_host_free(&end->fab->host, d);
	}
}

static void clear_rules(struct fabric *fab)
{
	struct fab_faults *f = fab->faults;

	while (f && f->rules) {
		struct fab_rule *r = f->rules;

		f->rules = r->next;
		cx3_host_free(&fab->host, r);
	}
	if (f)
		f->nrules = 0;
}

void fab_fault_free(struct fabric *fab)
{
	clear_rules(fab);
	while (fab->faults && fab->faults->delayed) {
		struct fab_delayed *d = fab->faults->delayed;

		fab->faults->delayed = d->next;
		cx3_host_free(&fab->host, d);
	}
	cx3_host_free(&fab->host, fab->faults);
	fab->faults = NULL;
}

u64 fabric_faults_struck(const struct fabric *fab)
{
	return fab->faults ? fab->faults->struck : 0;
}

/* Parsing */

static const char *const error_name[] = {
	"symbol", "downed", "rcv", "relay", "discard", "vl15", NULL,
};

#define ON_PACKET (CX3_BIT(AT_IN) | CX3_BIT(AT_OUT))
#define ANYWHERE (ON_PACKET | CX3_BIT(AT_TIME))

static const struct rule_action actions[] = {
	{ "drop", DO_DROP, ON_PACKET, 0, 0, NULL },
	{ "dup", DO_DUP, ON_PACKET, 0, 0, NULL },
	{ "delay", DO_DELAY, ON_PACKET, 1, 1, NULL },
	{ "corrupt", DO_CORRUPT, ON_PACKET, 0, 0, NULL },
	{ "down", DO_DOWN, ANYWHERE, 1, 1, NULL },
	{ "up", DO_UP, ANYWHERE, 1, 1, NULL },
	{ "flap", DO_FLAP, ANYWHERE, 1, 1, NULL },
	{ "mute", DO_MUTE, ANYWHERE, 0, 0, NULL },
	{ "unmute", DO_UNMUTE, ANYWHERE, 0, 0, NULL },
	{ "restart", DO_RESTART, ANYWHERE, 0, 0, NULL },
	{ "route", DO_ROUTE, ANYWHERE, 2, 2, NULL },
	{ "error", DO_ERROR, ANYWHERE, 2, 2, error_name },
};

static bool parse_point(const char **s, struct fab_rule *r)
{
	static const char *const names[] = { [AT_IN] = "in", [AT_OUT] = "out", [AT_TIME] = "time" };
	u64 v;

	if (!rule_name(s, names, ARRAY_SIZE(names), &v))
		return false;
	r->point = (enum point)v;
	r->class = ANY_CLASS;
	if (r->point == AT_TIME)
		return rule_end(**s);
	if (**s != ':')
		return false;
	++*s;
	if (!rule_number(s, &r->port) || r->port > FSW_PORTS)
		return false;
	if (**s == '/') {
		++*s;
		if (!rule_name(s, cx3_pkt_name, CX3_NPKT, &r->class))
			return false;
	}
	return rule_end(**s);
}

static const char *parse(const char *s, struct fab_rule *r)
{
	r->due = CX3_NEVER;
	if (!parse_point(&s, r))
		return "the rule does not begin with in:PORT, out:PORT or time";
	return rule_parse(s, &r->rule, actions, ARRAY_SIZE(actions), r->point,
			  r->point == AT_TIME);
}

int fabric_fault_add(struct fabric *fab, const char *text, const char **why)
{
	struct fab_faults *f = fab->faults;
	struct fab_rule *r, **tail;
	u64 now = cx3_host_now(&fab->host);

	if (!strcmp(text, "clear")) {
		clear_rules(fab);
		return 0;
	}
	*why = "out of memory";
	if (!f)
		f = cx3_host_alloc(&fab->host, sizeof(*f));
	if (!f)
		return -1;
	fab->faults = f;
	r = cx3_host_alloc(&fab->host, sizeof(*r));
	if (!r)
		return -1;
	*why = f->nrules == MAX_RULES ? "too many rules" : parse(text, r);
	if (*why) {
		cx3_host_free(&fab->host, r);
		return -1;
	}
	if (r->point == AT_TIME)
		r->due = r->rule.at > now ? r->rule.at : now;
	for (tail = &f->rules; *tail; tail = &(*tail)->next)
		;
	*tail = r;
	f->nrules++;
	fabric_kick(fab);
	return 0;
}
