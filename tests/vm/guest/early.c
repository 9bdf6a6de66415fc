// SPDX-License-Identifier: GPL-2.0-only
/*
 * /init of the first file system: loads what the root device and the ports need, mounts the root,
 * and goes on there, as the agent (bare boot) or with systemd (full boot). A program and not a
 * script: on the debug kernel each process that need not be started saves a good part of a second.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent.h"

#define AGENT	"/run/lastref/agent"
#define UNITS	"/run/systemd/system"

static const struct {
	const char *type, *where, *opts;
} mounts[] = {
	{ "proc", "/proc", NULL },
	{ "sysfs", "/sys", NULL },
	{ "devtmpfs", "/dev", NULL },
	{ "tmpfs", "/run", "mode=755" },
};

static void give_up(const char *what)
{
	dprintf(2, "init: %s: %s\n", what, strerror(errno));
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void load_modules(void)
{
	FILE *order = fopen("/modules/order", "r");
	char name[128], path[160];
	int fd;

	while (order && fscanf(order, "%127s", name) == 1) {
		snprintf(path, sizeof(path), "/modules/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
			dprintf(2, "init: %s: %s\n", name, strerror(errno));
		close(fd);
	}
	if (order)
		fclose(order);
}

static void mount_root(void)
{
	mkdir("/root", 0755);
	for (int i = 0; i < 1000 && access("/dev/vda", F_OK); i++)
		usleep(10000);
	if (mount("/dev/vda", "/root", "ext4", MS_NOATIME, NULL))
		give_up("cannot mount the root device");
}

static void copy_to(const char *from, const char *to, int mode)
{
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write_all(out, buf, n))
			break;
	if (n)
		give_up(to);
	close(in);
	close(out);
}

/* A kernel whose modules the image lacks brought them along; this file system stays in memory. */
static void lend_modules(void)
{
	char own[160], there[200];
	struct utsname u;

	uname(&u);
	snprintf(own, sizeof(own), "/lib/modules/%s", u.release);
	snprintf(there, sizeof(there), "/root%s", own);
	if (access(own, F_OK))
		return;
	mkdir(there, 0755);
	if (mount(own, there, NULL, MS_BIND, NULL))
		give_up(there);
}

static void add_unit(void)
{
	mkdir("/run/systemd", 0755);
	mkdir(UNITS, 0755);
	mkdir(UNITS "/multi-user.target.wants", 0755);
	copy_to("/agent.service", UNITS "/agent.service", 0644);
	if (symlink("../agent.service", UNITS "/multi-user.target.wants/agent.service"))
		give_up("agent.service");
}

/**
 * boot_early() - everything before the root file system
 *
 * Does not return: becomes the next program, or ends the machine with a word on its console.
 */
void boot_early(void)
{
	char *const bare[] = { AGENT, NULL };
	char *const full[] = { "/sbin/init", NULL };
	char *const *next = bare;
	char to[32];

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		mkdir(mounts[i].where, 0755);
		mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, mounts[i].opts);
	}
	load_modules();
	mount_root();
	mkdir("/run/lastref", 0755);
	copy_to("/init", AGENT, 0755);
	copy_to("/tap.sh", "/run/lastref/tap.sh", 0644);
	lend_modules();
	if (asked_for("lastref.full")) {
		add_unit();
		next = full;
	}
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(to, sizeof(to), "/root%s", mounts[i].where);
		if (mount(mounts[i].where, to, NULL, MS_MOVE, NULL))
			give_up(to);
	}
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		give_up("cannot change the root");
	execv(next[0], next);
	give_up(next[0]);
}
