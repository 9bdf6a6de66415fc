// SPDX-License-Identifier: GPL-2.0-only
/*
 * umadtool abi UMAD: each promise of ABI 5 to a program, on a port that works.  Prints test points.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

#define NODE_INFO 0x11

static const char *node;

static int readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

/* Ask the port itself; returns whether the answer is right. */
static int ask(int fd, int agent, uint32_t low)
{
	struct packet p, answer;

	smp_to_self(&p, agent, NODE_INFO, 0xdeadbeef00000000ULL | low);
	if (write(fd, &p, sizeof(p)) != sizeof(p) || !readable(fd, 5000))
		return 0;
	memset(&answer, 0, sizeof(answer));
	if (read(fd, &answer, sizeof(answer)) != sizeof(answer))
		return 0;
	return answer.hdr.id == (uint32_t)agent && !answer.hdr.status &&
	       answer.hdr.length == sizeof(answer) && answer.mad[3] == 0x81 &&
	       (uint32_t)get64(answer.mad + 8) == low &&
	       get64(answer.mad + 8) >> 32 != 0xdeadbeef && answer.mad[64 + 2] == 1;
}

static void registrations(void)
{
	struct ib_user_mad_reg_req2 req = { .mgmt_class = 0x81, .mgmt_class_version = 1 };
	struct ib_user_mad_reg_req old = { .mgmt_class = 0x81, .mgmt_class_version = 1 };
	int fd = open_node(node, O_NONBLOCK), i, good;
	uint32_t id = 5;

	req.flags = 6;
	errno = 0;
	good = ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req) && errno == EINVAL && req.flags == 1;
	point(good, "unknown flags: EINVAL, and the known ones are told");
	req.flags = 0;
	req.qpn = 2;
	point(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req) && errno == EINVAL, "QP 2: EINVAL");
	req.qpn = 1;
	point(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req) && errno == EINVAL,
	      "SMPs by QP 1: EINVAL");
	for (i = 0, good = 1; i < 32; i++)
		good &= add_agent(fd, 0, 0x81, 1, 0, 0) == i;
	point(good, "32 agents, with the ids 0 to 31");
	point(add_agent(fd, 0, 0x81, 1, 0, 0) < 0 && errno == ENOMEM, "the 33rd: ENOMEM");
	point(!ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id), "an agent is unregistered");
	point(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id) && errno == EINVAL, "twice: EINVAL");
	point(!ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &old) && old.id == 5,
	      "the old ioctl gets the id that is free");
	point(ioctl(fd, IB_USER_MAD_ENABLE_PKEY) && errno == EINVAL,
	      "the header cannot be changed after a registration: EINVAL");
	point(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, NULL) && errno == EFAULT, "no memory: EFAULT");
	point(ioctl(fd, _IO(0x1b, 99)) && errno == ENOTTY, "no such ioctl: ENOTTY");
	close(fd);
}

static void conflicts(void)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = 1, .mgmt_class = 0x32, .mgmt_class_version = 1, .oui = 0x00b0d5,
		.method_mask = { ~0ULL, ~0ULL },
	};
	int fd = open_node(node, O_NONBLOCK), other = open_node(node, O_NONBLOCK);

	point(!ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req), "a server takes all of an OUI");
	point(ioctl(other, IB_USER_MAD_REGISTER_AGENT2, &req) && errno == EINVAL,
	      "a second one does not: EINVAL");
	req.oui = 0x00b0d6;
	point(!ioctl(other, IB_USER_MAD_REGISTER_AGENT2, &req), "another OUI is free");
	req.oui = 0x1000000;
	point(ioctl(other, IB_USER_MAD_REGISTER_AGENT2, &req) && errno == EINVAL,
	      "an OUI of 25 bits: EINVAL");
	close(fd);
	req.oui = 0x00b0d5;
	point(!ioctl(other, IB_USER_MAD_REGISTER_AGENT2, &req), "free again after close");
	close(other);
}

static void headers(void)
{
	struct ib_user_mad_reg_req old = { .mgmt_class = 0x81, .mgmt_class_version = 1 };
	int fd = open_node(node, O_NONBLOCK);
	uint8_t raw[HDR_OLD + MAD];
	struct packet p;

	point(!ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &old), "an old program registers");
	smp_to_self(&p, old.id, NODE_INFO, 77);
	memcpy(raw, &p.hdr, HDR_OLD);
	memcpy(raw + HDR_OLD, p.mad, MAD);
	point(write(fd, raw, sizeof(raw)) == sizeof(raw), "it writes the header of 56 bytes");
	memset(raw, 0, sizeof(raw));
	point(readable(fd, 5000) && read(fd, raw, sizeof(raw)) == sizeof(raw) &&
	      raw[HDR_OLD + 3] == 0x81 && (uint32_t)get64(raw + HDR_OLD + 8) == 77,
	      "and reads one");
	close(fd);

	fd = open_node(node, O_NONBLOCK);
	point(!ioctl(fd, IB_USER_MAD_ENABLE_PKEY), "a new one asks for the P_Key index");
	point(!ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &old) && ask(fd, old.id, 78),
	      "and has the header of 64 bytes");
	close(fd);
}

static void writes(void)
{
	int fd = open_node(node, O_NONBLOCK), agent = add_agent(fd, 0, 0x81, 1, 0, 0);
	struct packet p;
	char more[sizeof(p) + 8] = "";

	point(ask(fd, agent, 1), "a port answers its own program");
	point(read(fd, &p, sizeof(p)) < 0 && errno == EAGAIN, "nothing to read: EAGAIN");
	smp_to_self(&p, agent, NODE_INFO, 2);
	point(write(fd, &p, HDR + 35) < 0 && errno == EINVAL, "35 bytes of a MAD: EINVAL");
	memcpy(more, &p, sizeof(p));
	point(write(fd, more, sizeof(more)) < 0 && errno == EINVAL, "more than a MAD: EINVAL");
	p.hdr.id = 32;
	point(write(fd, &p, sizeof(p)) < 0 && errno == EINVAL, "agent 32: EINVAL");
	p.hdr.id = 31;
	point(write(fd, &p, sizeof(p)) < 0 && errno == EIO, "an agent that is not there: EIO");
	point(write(fd, nowhere, sizeof(p)) < 0 && errno == EFAULT, "no memory: EFAULT");
	point(lseek(fd, 0, SEEK_SET) < 0 && errno == ESPIPE, "it has no position: ESPIPE");
	smp_to_self(&p, agent, NODE_INFO, 3);
	point(write(fd, &p, HDR + 64) == HDR + 64 && readable(fd, 5000) &&
	      read(fd, &p, HDR + 10) < 0 && errno == EINVAL &&
	      read(fd, &p, sizeof(p)) == sizeof(p) && (uint32_t)get64(p.mad + 8) == 3,
	      "a short MAD is filled up; what did not fit is read again");
	close(fd);
}

/* To a route that leads nowhere: the switch or the other HCA has no such port. */
static void timeouts(void)
{
	int fd = open_node(node, O_NONBLOCK), agent = add_agent(fd, 0, 0x81, 1, 0, 0);
	struct packet p, back;

	smp_to_self(&p, agent, NODE_INFO, 9);
	p.hdr.timeout_ms = 100;
	p.hdr.retries = 1;
	p.hdr.length = 12345;
	p.mad[7] = 3;
	p.mad[129] = 1;
	p.mad[130] = 35;
	p.mad[131] = 1;
	if (write(fd, &p, sizeof(p)) != sizeof(p))
		fail("write");
	point(write(fd, &p, sizeof(p)) < 0 && errno == EINVAL, "the same TID twice: EINVAL");
	memset(&back, 0, sizeof(back));
	point(readable(fd, 5000) && read(fd, &back, sizeof(back)) == HDR + 24 &&
	      back.hdr.status == ETIMEDOUT && (uint32_t)get64(back.mad + 8) == 9 &&
	      back.hdr.length == 12345 && back.hdr.id == (uint32_t)agent,
	      "nobody answers: ETIMEDOUT with the begin of the MAD");
	point(write(fd, &p, sizeof(p)) == sizeof(p), "then the TID is free");
	close(fd);
}

static int child_asks(int fd, int agent)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(ask(fd, agent, 20) ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static int send_fd(int socket, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct iovec one = { .iov_base = "", .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control.room) };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(socket, &msg, 0);
}

static int receive_fd(int socket)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control;
	char byte;
	struct iovec one = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control.room) };
	int fd = -1;

	if (recvmsg(socket, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void processes(void)
{
	int fd = open_node(node, O_NONBLOCK), agent = add_agent(fd, 0, 0x81, 1, 0, 0);
	int pair[2], passed;

	point(child_asks(fd, agent), "a child uses its parent's file");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || send_fd(pair[0], fd) < 0)
		fail("sendmsg");
	close(fd);
	passed = receive_fd(pair[1]);
	point(passed >= 0 && ask(passed, agent, 21),
	      "a file that was passed on works when the sender has closed his");
	close(passed);
}

int cmd_abi(int argc, char **argv)
{
	if (argc != 1)
		return 2;
	node = argv[0];
	registrations();
	conflicts();
	headers();
	writes();
	timeouts();
	processes();
	return 0;
}
