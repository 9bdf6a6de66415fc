/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test Anything Protocol for host test programs: numbered lines and a closing line with counts.
 */
#ifndef CX3_TESTS_TAP_H
#define CX3_TESTS_TAP_H

#include <stdbool.h>

#ifndef __printf
#define __printf(a, b) __attribute__((format(printf, a, b)))
#endif

bool tap_ok(bool good, const char *fmt, ...) __printf(2, 3);
bool tap_eq(unsigned long long got, unsigned long long want, const char *fmt, ...)
	__printf(3, 4);
void tap_note(const char *fmt, ...) __printf(1, 2);
void tap_skip(const char *fmt, ...) __printf(1, 2);
int tap_done(void);

#endif
