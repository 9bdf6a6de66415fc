// SPDX-License-Identifier: GPL-2.0-only
/*
 * umadtool wait UMAD ISSM: sleeps in each way there is to sleep on the two nodes of a port, says
 * "ready", and prints how each sleep ended when the device left.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tool.h"

static const char *umad_node, *issm_node;
static pthread_barrier_t ready;

static void *sleep_in_read(void *arg)
{
	int fd = open_node(umad_node, 0), got;
	struct packet p;

	(void)arg;
	add_agent(fd, 1, 3, 2, 0, 1);
	pthread_barrier_wait(&ready);
	got = read(fd, &p, sizeof(p));
	point(got < 0 && errno == EIO, "a sleeping reader wakes: EIO");
	got = read(fd, &p, sizeof(p));
	point(got < 0 && errno == EIO, "and reads EIO ever after");
	point(!close(fd), "close works");
	return NULL;
}

static void *sleep_in_poll(void *arg)
{
	int fd = open_node(umad_node, O_NONBLOCK), id, got;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct packet out;

	(void)arg;
	id = add_agent(fd, 0, 0x81, 1, 0, 0);
	pthread_barrier_wait(&ready);
	got = poll(&p, 1, -1);
	point(got == 1 && p.revents == POLLERR, "a poller wakes: POLLERR alone");
	smp_to_self(&out, id, 0x11, 1);
	got = write(fd, &out, sizeof(out));
	point(got < 0 && errno == EIO, "write: EIO");
	point(add_agent(fd, 0, 0x81, 1, 0, 0) < 0 && errno == EPIPE, "register: EPIPE");
	got = ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id);
	point(got < 0 && errno == EINVAL, "unregister: EINVAL");
	close(fd);
	return NULL;
}

static void *sleep_in_epoll(void *arg)
{
	int fd = open_node(umad_node, O_NONBLOCK), set = epoll_create1(0), got;
	struct epoll_event event = { .events = EPOLLIN };

	(void)arg;
	epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
	pthread_barrier_wait(&ready);
	got = epoll_wait(set, &event, 1, -1);
	point(got == 1 && event.events == EPOLLERR, "an epoll set wakes");
	close(set);
	close(fd);
	return NULL;
}

/* The first holds the node, the second waits for it. */
static void *sleep_in_open(void *arg)
{
	int fd = open_node(issm_node, O_NONBLOCK);
	char path[64];

	(void)arg;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", issm_node);
	point(open(path, O_RDWR | O_NONBLOCK) < 0 && errno == EAGAIN, "a busy issm: EAGAIN");
	pthread_barrier_wait(&ready);
	point(open(path, O_RDWR) < 0 && errno == ENXIO, "who waits for issm wakes: ENXIO");
	point(!close(fd), "and its holder can close it");
	return NULL;
}

int cmd_wait(int argc, char **argv)
{
	void *(*sleepers[])(void *arg) = { sleep_in_read, sleep_in_poll, sleep_in_epoll,
					     sleep_in_open };
	enum { COUNT = sizeof(sleepers) / sizeof(*sleepers) };
	pthread_t threads[COUNT];
	unsigned int i;

	if (argc != 2)
		return 2;
	umad_node = argv[0];
	issm_node = argv[1];
	pthread_barrier_init(&ready, NULL, COUNT + 1);
	for (i = 0; i < COUNT; i++)
		if (pthread_create(&threads[i], NULL, sleepers[i], NULL))
			fail("pthread_create");
	pthread_barrier_wait(&ready);
	usleep(300000);
	printf("ready\n");
	fflush(stdout);
	for (i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
