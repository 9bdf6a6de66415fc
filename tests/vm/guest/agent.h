/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's side of the VM harness. What goes over a virtio-serial port is a row of frames; the
 * other side of them is tests/vm/channel.py.
 */
#ifndef LASTREF_AGENT_H
#define LASTREF_AGENT_H

#include <stddef.h>
#include <stdint.h>

/* Names of the ports, as QEMU's command line has them. */
#define PORT_COMMANDS	"lastref.commands"
#define PORT_KMSG	"lastref.kmsg"

/**
 * enum frame_type - what a frame is
 * @FRAME_EXEC: host: start a command; the payload is its arguments, each ended by a zero byte
 * @FRAME_STDIN: host: bytes for the command's standard input; an empty one closes it
 * @FRAME_SIGNAL: host: send a signal (one byte) to the command and what it started
 * @FRAME_PUT: host: write a file: its mode in octal, its path, each ended by a zero byte. Then its
 *	contents as FRAME_STDIN. These two need no process, which the debug kernel is slow to start
 * @FRAME_GET: host: read a file; the payload is its path
 * @FRAME_HELLO: guest: the agent is ready; the payload is the kernel's release
 * @FRAME_STDOUT: guest: bytes of the command's standard output
 * @FRAME_STDERR: guest: bytes of the command's standard error
 * @FRAME_EXIT: guest: the command has ended (32-bit wait status, little endian)
 * @FRAME_KMSG: guest: one record of /dev/kmsg
 * @FRAME_LOST: guest: the kernel's log ran over before it was read
 * @FRAME_TICK: guest: its monotonic clock in ns (64 bits, little endian), once a second
 */
enum frame_type {
	FRAME_EXEC = 1,
	FRAME_STDIN = 2,
	FRAME_SIGNAL = 3,
	FRAME_PUT = 4,
	FRAME_GET = 5,
	FRAME_HELLO = 16,
	FRAME_STDOUT = 17,
	FRAME_STDERR = 18,
	FRAME_EXIT = 19,
	FRAME_KMSG = 20,
	FRAME_LOST = 21,
	FRAME_TICK = 22,
};

/**
 * struct frame - header of a frame; both sides are little endian
 * @type: enum frame_type
 * @job: the host's number of the command, 0 where there is none
 * @len: bytes of payload that follow, at most FRAME_MAX
 */
struct frame {
	uint32_t type;
	uint32_t job;
	uint32_t len;
};

#define FRAME_MAX	65536u

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

int port_open(const char *name, int flags);
int frame_send(int fd, enum frame_type type, uint32_t job, const void *data, size_t len);
int write_all(int fd, const void *data, size_t len);

void kmsg_forward(void);
void boot_early(void);
void boot_bare(void);
int asked_for(const char *word);
int serve(int fd);

#endif
