// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's agent: runs the host's commands and hands it the kernel's log, over two
 * virtio-serial ports. As PID 1 (the bare boot) it first sets the machine up.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent.h"

/**
 * write_all() - write every byte, whatever the kernel takes at a time
 * @fd: where to
 * @data: what
 * @len: how much
 *
 * Return: 0, or -1 with errno.
 */
int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

/**
 * frame_send() - send one frame
 * @fd: the port
 * @type: what it is
 * @job: the command it belongs to, or 0
 * @data: payload
 * @len: its length, at most FRAME_MAX
 *
 * Return: 0, or -1 with errno.
 */
int frame_send(int fd, enum frame_type type, uint32_t job, const void *data, size_t len)
{
	static char buf[sizeof(struct frame) + FRAME_MAX];
	struct frame head = { .type = type, .job = job, .len = len };

	memcpy(buf, &head, sizeof(head));
	memcpy(buf + sizeof(head), data, len);
	return write_all(fd, buf, sizeof(head) + len);
}

/* The file in /sys that names a port, compared with the name wanted. */
static int port_is(const char *entry, const char *name)
{
	char path[320], have[64] = "";
	int fd, n;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", entry);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, have, sizeof(have) - 1);
	close(fd);
	if (n > 0 && have[n - 1] == '\n')
		have[n - 1] = '\0';
	return !strcmp(have, name);
}

/**
 * port_open() - open the virtio-serial port of a name
 * @name: PORT_COMMANDS or PORT_KMSG
 * @flags: for open(2)
 *
 * Does not need udev: it looks the port up in sysfs and opens the device node of that number.
 *
 * Return: file descriptor, or -1 when there is no such port.
 */
int port_open(const char *name, int flags)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *e;
	char path[300];
	int fd = -1;

	while (dir && fd < 0 && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || !port_is(e->d_name, name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		fd = open(path, flags | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return fd;
}

static int port_wait(const char *name, int flags)
{
	for (int i = 0; i < 600; i++) {
		int fd = port_open(name, flags);

		if (fd >= 0)
			return fd;
		usleep(100000);
	}
	dprintf(2, "agent: no port %s\n", name);
	return -1;
}

int main(int argc, char **argv)
{
	struct utsname u;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	if (argc && !strcmp(argv[0], "/init"))
		boot_early();
	if (getpid() == 1)
		boot_bare();
	if (!fork())
		kmsg_forward();
	fd = port_wait(PORT_COMMANDS, O_RDWR);
	if (fd < 0)
		return 1;
	uname(&u);
	if (frame_send(fd, FRAME_HELLO, 0, u.release, strlen(u.release)))
		return 1;
	return serve(fd);
}
