// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault rules: their words, and when they strike; see rule.h.
 */
#include "rule.h"

bool rule_word(const char **s, const char *word)
{
	size_t n = strlen(word);
	char c;

	if (strncmp(*s, word, n))
		return false;
	c = (*s)[n];
	if (!rule_end(c) && c != '=' && c != ':' && c != '/')
		return false;
	*s += n;
	return true;
}

bool rule_key(const char **s, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*s, word, n) || (*s)[n] != '=')
		return false;
	*s += n + 1;
	return true;
}

static int digit(char c, unsigned int base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (base == 16 && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool rule_number(const char **s, u64 *v)
{
	const char *p = *s, *first;
	unsigned int base = 10;
	int d;

	if (p[0] == '0' && p[1] == 'x') {
		base = 16;
		p += 2;
	}
	*v = 0;
	for (first = p; (d = digit(*p, base)) >= 0; p++) {
		if (*v > (~0ull - (u64)d) / base)
			return false;
		*v = *v * base + (u64)d;
	}
	if (p == first)
		return false;
	*s = p;
	return true;
}

bool rule_name(const char **s, const char *const *names, unsigned int n, u64 *v)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (rule_word(s, names[i])) {
			*v = i;
			return true;
		}
	}
	return false;
}

static bool parse_args(const char **s, struct rule *r, const struct rule_action *a)
{
	unsigned int i, n = 0;

	for (i = 0; i < a->max && **s == (i ? '/' : '='); i++) {
		++*s;
		if (i == 1 && a->second) {
			for (n = 0; a->second[n]; n++)
				;
			if (!rule_name(s, a->second, n, &r->v[i]))
				return false;
		} else if (!rule_number(s, &r->v[i])) {
			return false;
		}
	}
	return i >= a->min;
}

/* One word; @found is set to the action that it names. */
static bool parse_word(const char **s, struct rule *r, const struct rule_action *actions,
		       unsigned int n, const struct rule_action **found)
{
	unsigned int i;

	if (rule_key(s, "nth"))
		return rule_number(s, &r->nth) && r->nth;
	if (rule_key(s, "times"))
		return rule_number(s, &r->times);
	if (rule_key(s, "at"))
		return rule_number(s, &r->at);
	for (i = 0; i < n; i++) {
		if (!rule_word(s, actions[i].name))
			continue;
		if (*found)
			return false;
		*found = &actions[i];
		return parse_args(s, r, *found);
	}
	return false;
}

/* A timer that is due at once each time would hold the clock. */
#define SHORTEST_PERIOD 100000u

const char *rule_parse(const char *s, struct rule *r, const struct rule_action *actions,
		       unsigned int n, unsigned int point, bool time)
{
	const struct rule_action *found = NULL;

	r->nth = 1;
	r->times = 1;
	while (*s) {
		if (*s == ' ')
			s++;
		else if (!parse_word(&s, r, actions, n, &found) || !rule_end(*s))
			return "unknown word or bad argument";
	}
	if (!found)
		return "the rule has no action";
	if (!(found->points >> point & 1))
		return "this action does nothing at this point";
	if (time != !!r->at)
		return "at=NS goes with time, and only with it";
	if (time && r->nth != 1)
		return "what happens at a time is not counted";
	if (time && r->times != 1 && r->at < SHORTEST_PERIOD)
		return "a repeated rule has a period of at least 100000 ns";
	r->act = found->act;
	return NULL;
}

bool rule_strikes(struct rule *r)
{
	r->hits++;
	return r->hits >= r->nth && (!r->times || r->hits - r->nth < r->times);
}

bool rule_again(struct rule *r)
{
	r->hits++;
	return !r->times || r->hits < r->times;
}
