// SPDX-License-Identifier: GPL-2.0-only
/*
 * umadtool fuzz SECONDS SEED: system calls at random on every umad and issm node, in several
 * processes that share files, for so many seconds, while somebody else makes the devices come and
 * go.  Half of the arguments are nearly right.  Prints how much it did; whether the kernel liked it
 * the caller has to see.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

#define WORKERS 4
#define FILES 8

/* Shared by the workers. */
struct totals {
	unsigned long calls, opens, good_writes, good_reads, gone;
};

static struct totals *totals;
static uint64_t state;
static int files[FILES];

static uint32_t any(void)
{
	/* xorshift; the state is never 0 */
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 32;
}

static uint32_t below(uint32_t limit)
{
	return any() % limit;
}

static void count(unsigned long *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

static void fill(void *at, size_t size)
{
	uint8_t *byte = at;

	while (size--)
		*byte++ = any();
}

static int open_any(void)
{
	char path[300], names[64][64];
	DIR *dir = opendir("/dev/infiniband");
	struct dirent *entry;
	int n = 0, fd;

	while (dir && n < 64 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "umad", 4) || !strncmp(entry->d_name, "issm", 4))
			snprintf(names[n++], sizeof(*names), "%.60s", entry->d_name);
	if (dir)
		closedir(dir);
	if (!n)
		return -1;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", names[below(n)]);
	fd = open(path, O_RDWR | O_CLOEXEC | (below(4) ? O_NONBLOCK : 0));
	if (fd < 0)
		return fd;
	count(&totals->opens);
	/* Most have agents that can send. */
	if (below(4)) {
		add_agent(fd, 0, 0x81, 1, 0, 0);
		add_agent(fd, 1, 3, 2, 0, 1);
	}
	return fd;
}

static void do_register(int fd)
{
	static const uint8_t classes[] = { 0x81, 1, 3, 4, 0x32, 0x21, 6, 0 };
	struct ib_user_mad_reg_req2 req;
	struct ib_user_mad_reg_req old;

	fill(&req, sizeof(req));
	fill(&old, sizeof(old));
	if (below(4)) {
		req.qpn = below(3);
		req.mgmt_class = classes[below(sizeof(classes))];
		req.mgmt_class_version = 1 + below(2);
		req.flags = below(3);
		req.rmpp_version = below(2);
		req.oui &= 0xffffff;
		if (below(2))
			memset(req.method_mask, 0, sizeof(req.method_mask));
		old.qpn = req.qpn;
		old.mgmt_class = req.mgmt_class;
		old.mgmt_class_version = req.mgmt_class_version;
		old.rmpp_version = req.rmpp_version;
		memcpy(old.method_mask, req.method_mask, sizeof(old.method_mask));
	}
	if (below(3))
		ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, below(50) ? &req : nowhere);
	else
		ioctl(fd, IB_USER_MAD_REGISTER_AGENT, below(50) ? &old : nowhere);
}

static void do_ioctl(int fd)
{
	uint32_t id = below(40);

	switch (below(4)) {
	case 0:
		ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id);
		break;
	case 1:
		ioctl(fd, below(2) ? IB_USER_MAD_ENABLE_PKEY : any(), NULL);
		break;
	default:
		do_register(fd);
	}
}

/* Never a Set of a port's attributes: the subnet has to live. */
static void tame(uint8_t *mad)
{
	if ((mad[1] == 0x81 || mad[1] == 1) && mad[3] != 1)
		mad[3] = below(2) ? 1 : 0x81;
}

static void do_write(int fd)
{
	static uint8_t room[HDR + 8192];
	struct packet *p = (struct packet *)room;
	size_t size = sizeof(*p);

	fill(room, sizeof(*p));
	if (below(3)) {
		smp_to_self(p, below(4), below(2) ? 0x11 : 0x15, any());
		p->hdr.timeout_ms = below(50);
		p->hdr.retries = below(3);
		if (!below(3)) {
			p->mad[7] = below(66);
			p->mad[129] = below(3);
		}
		if (!below(4)) {
			p->mad[1] = below(2) ? 3 : 0x32;
			p->mad[3] = any();
			p->mad[26] = any();
			put16((uint8_t *)&p->hdr.lid, below(8));
			put32((uint8_t *)&p->hdr.qpn, 1);
			p->hdr.grh_present = !below(4);
			size = below(2) ? size : sizeof(room) - below(4000);
		}
	}
	tame(p->mad);
	if (!below(8))
		size = below(sizeof(room));
	if (write(fd, below(60) ? room : nowhere, size) == (ssize_t)size)
		count(&totals->good_writes);
	else if (errno == EIO)
		count(&totals->gone);
}

static void do_read(int fd)
{
	static uint8_t room[16384];
	struct iovec parts[2] = {
		{ .iov_base = room, .iov_len = below(100) },
		{ .iov_base = room + 100, .iov_len = below(4000) },
	};
	ssize_t got;

	if (below(4))
		got = read(fd, below(60) ? room : nowhere, below(3) ? sizeof(room) : below(500));
	else
		got = readv(fd, parts, 2);
	if (got > 0)
		count(&totals->good_reads);
}

static void do_fork(int fd)
{
	pid_t pid = fork();

	if (!pid) {
		do_write(fd);
		do_read(fd);
		close(fd);
		_exit(0);
	}
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

static void step(void)
{
	struct pollfd poller = { .events = POLLIN | POLLOUT };
	int *fd = &files[below(FILES)];

	count(&totals->calls);
	if (*fd < 0) {
		*fd = open_any();
		return;
	}
	switch (below(32)) {
	case 0:
		close(*fd);
		*fd = -1;
		break;
	case 1:
		do_fork(*fd);
		break;
	case 2:
		poller.fd = *fd;
		poll(&poller, 1, below(20));
		break;
	case 3:
		if (files[0] >= 0 && fd != files)
			dup2(files[0], *fd);
		break;
	case 4 ... 11:
		do_ioctl(*fd);
		break;
	case 12 ... 21:
		do_read(*fd);
		break;
	default:
		do_write(*fd);
	}
}

/* Ends sleeps that nothing else ends. */
static void alarm_rings(int signal)
{
	(void)signal;
}

static void work(unsigned int seconds, uint64_t seed)
{
	struct itimerval tick = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction act = { .sa_handler = alarm_rings };
	time_t end = time(NULL) + seconds;
	int i;

	state = seed * 0x9e3779b97f4a7c15ULL | 1;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
	for (i = 0; i < FILES; i++)
		files[i] = -1;
	while (time(NULL) < end)
		step();
}

int cmd_fuzz(int argc, char **argv)
{
	unsigned int i, bad = 0;
	int status;

	if (argc != 2)
		return 2;
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (totals == MAP_FAILED)
		fail("mmap");
	for (i = 0; i < WORKERS; i++) {
		if (!fork()) {
			work(atoi(argv[0]), strtoull(argv[1], NULL, 0) + i);
			_exit(0);
		}
	}
	for (i = 0; i < WORKERS; i++)
		bad += wait(&status) < 0 || status;
	printf("calls %lu opens %lu writes %lu reads %lu gone %lu\n", totals->calls, totals->opens,
	       totals->good_writes, totals->good_reads, totals->gone);
	return bad ? 1 : 0;
}
