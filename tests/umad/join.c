// SPDX-License-Identifier: GPL-2.0-only
/*
 * umadtool join UMAD SM-LID GROUPS: makes and joins so many multicast groups at the SM, says
 * "joined N", waits for the end of its input, and leaves them.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define SA_SET 2
#define SA_DELETE 0x15
#define MCMEMBER 0x38

/* Component mask: MGID, PORT_GID, Q_KEY, TCLASS, P_KEY, SL, FLOW_LABEL, JOIN_STATE. */
#define JOIN_MASK 0x130c7ULL
#define LEAVE_MASK 0x10003ULL

static void port_gid(const char *node, uint8_t *gid)
{
	char path[128], device[64], port[8], text[64];
	unsigned int part[8], i;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/ibdev", node);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%63s", device) != 1)
		fail(path);
	fclose(file);
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/port", node);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%7s", port) != 1)
		fail(path);
	fclose(file);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%s/gids/0", device, port);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%63s", text) != 1)
		fail(path);
	fclose(file);
	if (sscanf(text, "%x:%x:%x:%x:%x:%x:%x:%x", &part[0], &part[1], &part[2], &part[3],
		   &part[4], &part[5], &part[6], &part[7]) != 8)
		fail(text);
	for (i = 0; i < 8; i++)
		put16(gid + 2 * i, part[i]);
}

static void build(struct packet *p, int agent, int lid, int method, int group, const uint8_t *gid)
{
	uint8_t *data = p->mad + 56;

	memset(p, 0, sizeof(*p));
	p->hdr.id = agent;
	p->hdr.timeout_ms = 1000;
	p->hdr.retries = 5;
	put16((uint8_t *)&p->hdr.lid, lid);
	put32((uint8_t *)&p->hdr.qpn, 1);
	p->mad[0] = 1;
	p->mad[1] = 3;
	p->mad[2] = 2;
	p->mad[3] = method;
	put64(p->mad + 8, group + 1);
	put16(p->mad + 16, MCMEMBER);
	put64(p->mad + 48, method == SA_SET ? JOIN_MASK : LEAVE_MASK);
	/* A transient group of the local scope, one of this program's own. */
	memcpy(data, "\xff\x12\x1a\x57", 4);
	put32(data + 12, group + 1);
	memcpy(data + 16, gid, 16);
	put32(data + 32, 0xb1b);
	put16(data + 40, 0xffff);
	data[48] = 1;
}

/* One after the other; returns how many the SM answered with success. */
static int all(int fd, int agent, int lid, int method, int groups, const uint8_t *gid)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	struct packet p;
	int i, done = 0;

	for (i = 0; i < groups; i++) {
		build(&p, agent, lid, method, i, gid);
		if (write(fd, &p, sizeof(p)) != sizeof(p))
			fail("write");
		if (poll(&poller, 1, 20000) != 1 || read(fd, &p, sizeof(p)) < 0)
			fail("read");
		done += !p.hdr.status && !p.mad[4] && !p.mad[5];
	}
	return done;
}

int cmd_join(int argc, char **argv)
{
	int fd, agent, lid, groups;
	uint8_t gid[16];

	if (argc != 3)
		return 2;
	lid = atoi(argv[1]);
	groups = atoi(argv[2]);
	port_gid(argv[0], gid);
	fd = open_node(argv[0], O_NONBLOCK);
	agent = add_agent(fd, 1, 3, 2, 0, 1);
	if (agent < 0)
		fail("register");
	printf("joined %d\n", all(fd, agent, lid, SA_SET, groups, gid));
	fflush(stdout);
	while (getchar() != EOF)
		;
	printf("left %d\n", all(fd, agent, lid, SA_DELETE, groups, gid));
	close(fd);
	return 0;
}
