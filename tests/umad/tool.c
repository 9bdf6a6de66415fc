// SPDX-License-Identifier: GPL-2.0-only
/* What the commands of umadtool have in common, and its main(). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tool.h"

void *nowhere = (void *)16;

void fail(const char *what)
{
	fprintf(stderr, "umadtool: %s: %s\n", what, strerror(errno));
	exit(1);
}

int open_node(const char *node, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", node);
	fd = open(path, O_RDWR | O_CLOEXEC | flags);
	if (fd < 0)
		fail(path);
	return fd;
}

/* Returns the id, or -1 with errno. */
int add_agent(int fd, int qpn, int class, int version, uint32_t flags, int rmpp)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = qpn, .mgmt_class = class, .mgmt_class_version = version, .flags = flags,
		.rmpp_version = rmpp,
	};

	return ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req) ? -1 : (int)req.id;
}

void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

void put64(uint8_t *at, uint64_t value)
{
	put32(at, value >> 32);
	put32(at + 4, value);
}

uint64_t get64(const uint8_t *at)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < 8; i++)
		value = value << 8 | at[i];
	return value;
}

/* A Get by a directed route without hops: the port answers itself. */
void smp_to_self(struct packet *p, uint32_t agent, uint16_t attribute, uint64_t tid)
{
	memset(p, 0, sizeof(*p));
	p->hdr.id = agent;
	p->hdr.timeout_ms = 1000;
	p->hdr.lid = 0xffff;
	p->mad[0] = 1;
	p->mad[1] = 0x81;
	p->mad[2] = 1;
	p->mad[3] = 1;
	put64(p->mad + 8, tid);
	put16(p->mad + 16, attribute);
	put16(p->mad + 32, 0xffff);
	put16(p->mad + 34, 0xffff);
}

int point(int good, const char *name)
{
	printf("%sok - %s\n", good ? "" : "not ", name);
	fflush(stdout);
	return good;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{ "abi", cmd_abi },
		{ "join", cmd_join },
		{ "wait", cmd_wait },
		{ "fuzz", cmd_fuzz },
		{ "mark", cmd_mark },
		{ "active", cmd_active },
		{ "gets", cmd_gets },
		{ "hold", cmd_hold },
	};
	unsigned int i;

	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 2, argv + 2);
	fprintf(stderr, "usage: umadtool abi UMAD | join UMAD SM-LID GROUPS | wait UMAD ISSM |\n"
			"                fuzz SECONDS SEED | mark RESOURCE NUMBER | active COUNT |\n"
			"                gets RESOURCE UMAD LID COUNT | hold UMAD LID COUNT\n");
	return 2;
}
