/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault rules: what those of a device and those of a fabric have in common. Each function that
 * gets a text at *s moves *s past what it took; when it takes nothing *s stays.
 *
 * A rule is POINT [nth=N] [times=N] [at=NS] ACTION[=ARG[/ARG...]]. The points are the owner's,
 * and so are the actions, of which it has a table.
 */
#ifndef CX3_MODEL_RULE_H
#define CX3_MODEL_RULE_H

#include "types.h"

/** rule_end() - does a word end before this character? */
static inline bool rule_end(char c)
{
	return !c || c == ' ';
}

/** rule_word() - this word and a delimiter behind it; the delimiter is left */
bool rule_word(const char **s, const char *word);
/** rule_key() - this word with an equals sign, which is taken too */
bool rule_key(const char **s, const char *word);
/** rule_number() - a decimal number, or a hexadecimal one with 0x */
bool rule_number(const char **s, u64 *v);
/** rule_name() - one of @n words; @v is set to its index */
bool rule_name(const char **s, const char *const *names, unsigned int n, u64 *v);

#define RULE_ARGS 3

/**
 * struct rule_action - an action by its name
 * @name: word in the rule
 * @act: what it is, the owner's number
 * @points: bit mask of the owner's points where it does something
 * @min: least number of arguments
 * @max: most, up to RULE_ARGS
 * @second: names that the second argument may have, ended by NULL; else it is a number
 */
struct rule_action {
	const char *name;
	u8 act;
	u8 points;
	u8 min, max;
	const char *const *second;
};

/**
 * struct rule - when a rule strikes, and what it does then
 * @nth: first match that strikes
 * @times: how many strike, 0 = all
 * @at: rules about time: period or time in ns; else 0
 * @hits: matches so far
 * @act: the action's number
 * @v: its arguments
 */
struct rule {
	u64 nth, times, at, hits;
	u8 act;
	u64 v[RULE_ARGS];
};

/**
 * rule_parse() - everything behind the point
 * @s: the text
 * @r: filled in
 * @actions: what the owner can do
 * @n: number of actions
 * @point: the owner's number of the point
 * @time: it is the point that stands for a time
 *
 * Return: NULL, or what is wrong with the text.
 */
const char *rule_parse(const char *s, struct rule *r, const struct rule_action *actions,
		       unsigned int n, unsigned int point, bool time);

/** rule_strikes() - one more match; does the rule strike at it? */
bool rule_strikes(struct rule *r);
/** rule_again() - its time has come; will it come again, @at later? */
bool rule_again(struct rule *r);

#endif
