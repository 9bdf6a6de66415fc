// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hands every record of /dev/kmsg to the host, from the first one of the boot. Its own process, so
 * that no command can hold it up.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

static int tick(int port)
{
	struct timespec t;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = t.tv_sec * 1000000000ull + t.tv_nsec;
	return frame_send(port, FRAME_TICK, 0, &ns, sizeof(ns));
}

/* Everything that is there now. Returns 0 when the log is empty, -1 when the port is gone. */
static int drain(int log, int port)
{
	static char record[8192];

	for (;;) {
		ssize_t n = read(log, record, sizeof(record));

		if (n < 0 && errno == EPIPE) {
			/* overwritten before we came; the sequence numbers tell how much */
			if (frame_send(port, FRAME_LOST, 0, "", 0))
				return -1;
			continue;
		}
		if (n <= 0)
			return 0;
		if (frame_send(port, FRAME_KMSG, 0, record, n))
			return -1;
	}
}

/**
 * kmsg_forward() - hand the kernel's log to the host, for ever
 *
 * Does not return: ends its process when the port is gone.
 */
void kmsg_forward(void)
{
	struct sched_param rt = { .sched_priority = 1 };
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int port = -1;
	struct pollfd p = { .fd = log, .events = POLLIN };

	prctl(PR_SET_NAME, "agent-kmsg");
	for (int i = 0; i < 600 && port < 0; i++) {
		port = port_open(PORT_KMSG, O_WRONLY);
		if (port < 0)
			usleep(100000);
	}
	if (log < 0 || port < 0)
		_exit(1);
	/* ahead of a command that keeps all CPUs busy */
	sched_setscheduler(0, SCHED_RR, &rt);
	for (;;) {
		if (drain(log, port) || tick(port))
			_exit(1);
		poll(&p, 1, 1000);
		/* a busy log would be polled record by record: let some gather */
		usleep(20000);
	}
}
