/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words of a fault rule, for the rules of a device and those of a fabric. Each function looks at
 * the text at *s and moves *s past what it took; when it takes nothing *s stays.
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

#endif
