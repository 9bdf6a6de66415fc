// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the frequency of this machine's time stamp counter in kHz. Under TCG the guest sees the
 * same counter, and is told its frequency: on a busy host its own calibration can be far off.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct instant {
	uint64_t tsc;
	double seconds;
};

/* Both clocks at once: of several tries the one that was interrupted least. */
static struct instant now(void)
{
	struct instant best = { 0, 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t before = __rdtsc();
		struct timespec t;
		uint64_t after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		after = __rdtsc();
		if (after - before < shortest) {
			shortest = after - before;
			best.tsc = before + shortest / 2;
			best.seconds = t.tv_sec + t.tv_nsec / 1e9;
		}
	}
	return best;
}

int main(void)
{
	struct timespec pause = { 0, 200000000 };
	struct instant a, b;

	a = now();
	nanosleep(&pause, NULL);
	b = now();
	printf("%.0f\n", (b.tsc - a.tsc) / (b.seconds - a.seconds) / 1000);
	return 0;
}
