// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words of a fault rule; see rule.h.
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
