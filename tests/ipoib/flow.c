// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets between two marks. A mark is a store to a register of an emulated HCA, whose log keeps it
 * with the count of executed instructions.
 *
 *   flow sink PORT                               leaves UDP unread, reads TCP until it ends
 *   flow udp RESOURCE ADDRESS PORT COUNT SIZE    so many datagrams
 *   flow tcp RESOURCE ADDRESS PORT BYTES         a stream, up to the end of the other side
 *
 * RESOURCE is resource0 of a PCI function, or - for no marks.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MARK_REGISTER 0xf0ff4
#define CHUNK 65536

static uint32_t *marks;

static void open_marks(const char *resource)
{
	int fd;
	void *page;

	if (!strcmp(resource, "-"))
		return;
	fd = open(resource, O_RDWR | O_SYNC);
	if (fd < 0)
		err(1, "%s", resource);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, MARK_REGISTER & ~0xfff);
	if (page == MAP_FAILED)
		err(1, "mmap %s", resource);
	marks = (uint32_t *)((char *)page + (MARK_REGISTER & 0xfff));
}

static void mark(uint32_t number)
{
	if (marks)
		__atomic_store_n(marks, htonl(number), __ATOMIC_SEQ_CST);
}

static int connected(int type, const char *address, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int s = socket(AF_INET, type, 0);

	if (s < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
		err(1, "socket to %s", address);
	if (connect(s, (struct sockaddr *)&to, sizeof(to)))
		err(1, "connect to %s", address);
	return s;
}

static void udp(char **arg)
{
	static char data[CHUNK];
	int s = connected(SOCK_DGRAM, arg[1], atoi(arg[2]));
	int count = atoi(arg[3]), size = atoi(arg[4]), i;

	/* The path is known, and the code has run once. */
	for (i = 0; i < 200; i++) {
		send(s, data, size, 0);
		if (i < 5)
			usleep(200000);
	}
	usleep(100000);
	mark(1);
	for (i = 0; i < count; i++)
		if (send(s, data, size, 0) != size)
			err(1, "send");
	mark(2);
	printf("sent %d\n", count);
}

static void tcp(char **arg)
{
	static char data[CHUNK];
	int s = connected(SOCK_STREAM, arg[1], atoi(arg[2]));
	long long left = atoll(arg[3]), all = left;

	mark(1);
	while (left > 0) {
		ssize_t n = write(s, data, left < CHUNK ? left : CHUNK);

		if (n <= 0)
			err(1, "write");
		left -= n;
	}
	shutdown(s, SHUT_WR);
	while (read(s, data, CHUNK) > 0)
		;
	mark(2);
	printf("sent %lld\n", all);
}

static void sink(int port)
{
	static char data[CHUNK];
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int u = socket(AF_INET, SOCK_DGRAM, 0), l = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(u, (struct sockaddr *)&at, sizeof(at)) ||
	    bind(l, (struct sockaddr *)&at, sizeof(at)) || listen(l, 4))
		err(1, "port %d", port);
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		int s = accept(l, NULL, NULL);

		while (read(s, data, CHUNK) > 0)
			;
		close(s);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sink")) {
		sink(atoi(argv[2]));
	} else if (argc == 7 && !strcmp(argv[1], "udp")) {
		open_marks(argv[2]);
		udp(argv + 2);
	} else if (argc == 6 && !strcmp(argv[1], "tcp")) {
		open_marks(argv[2]);
		tcp(argv + 2);
	} else {
		errx(1, "see the head of flow.c");
	}
	return 0;
}
