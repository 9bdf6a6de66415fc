// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is measured on an emulated HCA.  A mark is a store to a register of the HCA's BAR that the
 * emulator logs with the time and the number of guest instructions so far.
 *
 *   umadtool mark RESOURCE NUMBER           a mark; RESOURCE is resource0 of a PCI function
 *   umadtool active COUNT                   waits until so many ports are ACTIVE
 *   umadtool gets RESOURCE UMAD LID COUNT   so many queries of the port's counters, one after the
 *                                           other, between marks 1 and 2
 *   umadtool hold UMAD LID COUNT            so many queries to the SA that nobody answers; says
 *                                           "asked COUNT" and keeps the file open
 */
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tool.h"

#define MARK_PAGE 0xf0000
#define MARK_WORD (0xff4 / 4)
#define PERF 4
#define SA 3

static void mark(const char *resource, uint32_t number)
{
	int fd = open(resource, O_RDWR | O_SYNC);
	uint32_t *page;

	if (fd < 0)
		fail(resource);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, MARK_PAGE);
	if (page == MAP_FAILED)
		fail("mmap");
	/* Registers are big endian. */
	__atomic_store_n(&page[MARK_WORD], __builtin_bswap32(number), __ATOMIC_RELAXED);
	munmap(page, 4096);
	close(fd);
}

int cmd_mark(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	mark(argv[0], atoi(argv[1]));
	return 0;
}

static int count_active(void)
{
	char text[32] = "";
	int n = 0, fd;
	glob_t found;
	size_t i;

	if (glob("/sys/class/infiniband/*/ports/*/state", 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc; i++) {
		fd = open(found.gl_pathv[i], O_RDONLY);
		if (fd < 0)
			continue;
		n += read(fd, text, sizeof(text) - 1) > 0 && strstr(text, "4: ACTIVE");
		close(fd);
	}
	globfree(&found);
	return n;
}

/* In virtual time a sleep costs nothing, and this much accuracy. */
int cmd_active(int argc, char **argv)
{
	int tries;

	if (argc != 1)
		return 2;
	for (tries = 0; tries < 60000; tries++) {
		if (count_active() >= atoi(argv[0]))
			return 0;
		usleep(1000);
	}
	return 1;
}

static void get(struct packet *p, int agent, int class, int lid, uint64_t tid)
{
	memset(p, 0, sizeof(*p));
	p->hdr.id = agent;
	p->hdr.timeout_ms = 1000;
	put16((uint8_t *)&p->hdr.lid, lid);
	put32((uint8_t *)&p->hdr.qpn, 1);
	p->mad[0] = 1;
	p->mad[1] = class;
	p->mad[2] = class == SA ? 2 : 1;
	p->mad[3] = 1;
	put64(p->mad + 8, tid);
}

int cmd_gets(int argc, char **argv)
{
	struct pollfd poller = { .events = POLLIN };
	int fd, agent, lid, count, i;
	struct packet p;

	if (argc != 4)
		return 2;
	fd = open_node(argv[1], O_NONBLOCK);
	lid = atoi(argv[2]);
	count = atoi(argv[3]);
	agent = add_agent(fd, 1, PERF, 1, 0, 0);
	if (agent < 0)
		fail("register");
	poller.fd = fd;
	mark(argv[0], 1);
	for (i = 1; i <= count; i++) {
		get(&p, agent, PERF, lid, i);
		/* PortCounters of port 1. */
		put16(p.mad + 16, 0x12);
		p.mad[64 + 1] = 1;
		if (write(fd, &p, sizeof(p)) != sizeof(p))
			fail("write");
		if (poll(&poller, 1, 20000) != 1 || read(fd, &p, sizeof(p)) != sizeof(p))
			fail("read");
		if (p.hdr.status || p.mad[3] != 0x81)
			return 1;
	}
	mark(argv[0], 2);
	printf("answered %d\n", count);
	return 0;
}

int cmd_hold(int argc, char **argv)
{
	int fd, agent, count, i;
	struct packet p;

	if (argc != 3)
		return 2;
	fd = open_node(argv[0], 0);
	count = atoi(argv[2]);
	agent = add_agent(fd, 1, SA, 2, 0, 1);
	if (agent < 0)
		fail("register");
	for (i = 1; i <= count; i++) {
		get(&p, agent, SA, atoi(argv[1]), i);
		/* A PathRecord; nobody will tell. */
		p.hdr.timeout_ms = 600000;
		put16(p.mad + 16, 0x35);
		if (write(fd, &p, sizeof(p)) != sizeof(p))
			fail("write");
	}
	printf("asked %d\n", count);
	fflush(stdout);
	pause();
	return 0;
}
