// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fabric for several processes: the switch model behind a Unix socket.
 *
 * usage: switchd [-p CAPTURE.pcap] [-n NAME] SOCKET
 *
 * Each connection is a cable to a free port of the switch. One line "ready
 * SOCKET" on stdout says that clients may come. SIGTERM or SIGINT ends it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../switch.h"
#include "pcap.h"
#include "peer.h"

enum { MAX_PEERS = FSW_PORTS };

/**
 * struct daemon - the whole program
 * @host: what the fabric sees
 * @fab: the fabric
 * @deadline: of its timer
 * @listener: listening socket
 * @signals: descriptor that is readable when it is time to go
 * @path: where
 * @peer: connections
 * @npeers: how many
 */
struct daemon {
	struct cx3_host host;
	struct fabric *fab;
	u64 deadline;
	int listener;
	int signals;
	const char *path;
	struct peer *peer[MAX_PEERS];
	unsigned int npeers;
};

static void __printf(1, 2) say(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "switchd: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
}

static u64 host_now(void *ctx)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void host_timer(void *ctx, u64 deadline)
{
	struct daemon *d = ctx;

	d->deadline = deadline;
}

static void *host_alloc(void *ctx, size_t size)
{
	return calloc(1, size);
}

static void host_free(void *ctx, void *p)
{
	free(p);
}

static void host_log(void *ctx, enum cx3_log_level level, const char *fmt, va_list ap)
{
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

static const struct cx3_host_ops host_ops = {
	.now = host_now,
	.timer = host_timer,
	.alloc = host_alloc,
	.free = host_free,
	.log = host_log,
};

/* A socket file that nobody serves any more is left over from a killed run. */
static bool remove_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd, status;

	if (lstat(addr->sun_path, &st))
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		say("%s is there already and is not a socket", addr->sun_path);
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	status = connect(fd, (const struct sockaddr *)addr, sizeof(*addr));
	close(fd);
	if (!status) {
		say("%s is served by another switchd already", addr->sun_path);
		return false;
	}
	return !unlink(addr->sun_path);
}

static bool listen_at(struct daemon *d)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (strlen(d->path) >= sizeof(addr.sun_path)) {
		say("the path %s is too long for a socket", d->path);
		return false;
	}
	memcpy(addr.sun_path, d->path, strlen(d->path));
	if (!remove_stale(&addr))
		return false;
	d->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (d->listener < 0 ||
	    bind(d->listener, (const struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(d->listener, MAX_PEERS)) {
		say("cannot listen at %s: %s", d->path, strerror(errno));
		return false;
	}
	return true;
}

static void peer_gone(struct daemon *d, unsigned int i, const char *why)
{
	say("connection %d: %s", peer_fd(d->peer[i]), why);
	if (peer_errors(d->peer[i]))
		say("%llu bad packets came by it", peer_errors(d->peer[i]));
	peer_destroy(d->peer[i]);
	d->peer[i] = d->peer[--d->npeers];
}

static void accept_one(struct daemon *d)
{
	int fd = accept(d->listener, NULL, NULL);
	struct peer *p;

	if (fd < 0)
		return;
	if (d->npeers == MAX_PEERS) {
		say("no free port for another connection");
		close(fd);
		return;
	}
	p = peer_create(fd, NULL, NULL);
	if (!p || !peer_plug(p, d->fab, NULL)) {
		say("no memory for another connection");
		peer_destroy(p);
		return;
	}
	d->peer[d->npeers++] = p;
	say("connection %d: cable plugged in", fd);
}

/* Milliseconds until the fabric's timer, rounded up; -1: for ever. */
static int patience(const struct daemon *d)
{
	u64 now = host_now(NULL), ms;

	if (d->deadline == CX3_NEVER)
		return -1;
	if (d->deadline <= now)
		return 0;
	ms = (d->deadline - now + 999999) / 1000000;
	return ms > 60000 ? 60000 : (int)ms;
}

static void serve_peer(struct daemon *d, unsigned int i, short events)
{
	const char *why = NULL;

	if (events & POLLOUT)
		why = peer_flush(d->peer[i]);
	if (!why && peer_wants_read(d->peer[i]))
		why = peer_read(d->peer[i]);
	else if (!why && events & (POLLHUP | POLLERR))
		why = "closed by the other side";
	if (why)
		peer_gone(d, i, why);
}

/* After the fabric ran: what it wants to send, and what it now can take. */
static void settle_peers(struct daemon *d)
{
	unsigned int i;

	for (i = d->npeers; i--;) {
		const char *why = peer_flush(d->peer[i]);

		if (!why && peer_resumes(d->peer[i]))
			why = peer_read(d->peer[i]);
		if (why)
			peer_gone(d, i, why);
	}
}

/* Wait for something and act on it. False: a signal came. */
static bool turn(struct daemon *d)
{
	struct pollfd set[MAX_PEERS + 2];
	unsigned int i, n = d->npeers;

	set[0].fd = d->listener;
	set[1].fd = d->signals;
	set[0].events = POLLIN;
	set[1].events = POLLIN;
	for (i = 0; i < n; i++) {
		set[i + 2].fd = peer_fd(d->peer[i]);
		set[i + 2].events = (peer_wants_read(d->peer[i]) ? POLLIN : 0) |
				    (peer_wants_write(d->peer[i]) ? POLLOUT : 0);
	}
	if (poll(set, n + 2, patience(d)) < 0)
		return true;
	for (i = n; i--;)
		if (set[i + 2].revents)
			serve_peer(d, i, set[i + 2].revents);
	if (set[0].revents & POLLIN)
		accept_one(d);
	if (d->deadline <= host_now(NULL)) {
		d->deadline = CX3_NEVER;
		fabric_fire(d->fab);
	}
	settle_peers(d);
	return !set[1].revents;
}

/* SIGTERM and SIGINT become readable on a descriptor. */
static int signal_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int how_to_call(void)
{
	fprintf(stderr, "switchd [-p CAPTURE.pcap] [-n NAME] SOCKET\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct daemon d = { .deadline = CX3_NEVER };
	const char *name = NULL, *capture = NULL;
	struct pcap *pcap = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "n:p:")) != -1) {
		if (opt == 'n')
			name = optarg;
		else if (opt == 'p')
			capture = optarg;
		else
			return how_to_call();
	}
	if (optind + 1 != argc)
		return how_to_call();
	d.path = argv[optind];
	d.host.ops = &host_ops;
	d.host.ctx = &d;
	d.fab = fabric_create(&d.host, name ? name : d.path, true);
	if (!d.fab)
		return 1;
	if (capture) {
		pcap = pcap_open(capture);
		if (!pcap) {
			say("cannot write %s: %s", capture, strerror(errno));
			return 1;
		}
		fabric_tap(d.fab, pcap_packet, pcap);
	}
	if (!listen_at(&d))
		return 1;
	d.signals = signal_fd();
	printf("ready %s\n", d.path);
	fflush(stdout);
	while (turn(&d))
		;
	unlink(d.path);
	close(d.listener);
	while (d.npeers)
		peer_gone(&d, 0, "the switch goes away");
	fabric_destroy(d.fab);
	pcap_close(pcap);
	return 0;
}
