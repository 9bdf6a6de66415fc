// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test Anything Protocol output; see tap.h.
 */
#include <stdarg.h>
#include <stdio.h>

#include "tap.h"

static unsigned int passed, failed, skipped;

static bool line(bool good, const char *fmt, va_list ap)
{
	unsigned int n = passed + failed + skipped + 1;

	if (good)
		passed++;
	else
		failed++;
	printf("%sok %u - ", good ? "" : "not ", n);
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	return good;
}

/**
 * tap_ok - one result
 * @good: passed?
 * @fmt: name of the test
 *
 * Return: @good, so that details can be printed on failure.
 */
bool tap_ok(bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(good, fmt, ap);
	va_end(ap);
	return good;
}

/**
 * tap_eq - one result that compares two numbers and prints both when they differ
 * @got: what came out
 * @want: what should have
 * @fmt: name of the test
 */
bool tap_eq(unsigned long long got, unsigned long long want, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(got == want, fmt, ap);
	va_end(ap);
	if (got != want)
		tap_note("got %llu (0x%llx), want %llu (0x%llx)", got, got, want, want);
	return got == want;
}

/**
 * tap_note - a line of detail
 * @fmt: text
 */
void tap_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

/**
 * tap_skip - a test that could not be run
 * @fmt: its name and the reason
 */
void tap_skip(const char *fmt, ...)
{
	va_list ap;

	printf("ok %u - ", passed + failed + ++skipped);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(" # SKIP\n");
}

/**
 * tap_done - closing line
 *
 * Return: exit status of the program.
 */
int tap_done(void)
{
	printf("%u passed, %u failed", passed, failed);
	if (skipped)
		printf(", %u skipped", skipped);
	printf("\n");
	return failed || !passed;
}
