// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bare boot: what PID 1 has to do before the first command. The root file system is mounted
 * already, and /proc, /sys, /dev and /run are (early.c). Then udevd, with the rules of the
 * distribution, but no cold plug: which driver is loaded first is the scenario's to say.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <net/if.h>
#include <unistd.h>

#include "agent.h"

static const struct {
	const char *type, *where, *opts;
} mounts[] = {
	{ "devpts", "/dev/pts", "gid=5,mode=620" },
	{ "tmpfs", "/dev/shm", "mode=1777" },
	{ "tmpfs", "/tmp", "mode=1777" },
	{ "cgroup2", "/sys/fs/cgroup", NULL },
	{ "debugfs", "/sys/kernel/debug", NULL },
	{ "tracefs", "/sys/kernel/tracing", NULL },
};

static void mount_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		mkdir(mounts[i].where, 0755);
		mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, mounts[i].opts);
	}
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &ifr)) {
		ifr.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &ifr);
	}
	close(fd);
}

static void run(char *const argv[])
{
	pid_t pid = fork();

	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

/**
 * asked_for() - whether a word stands in the kernel's command line
 * @word: the word
 *
 * Return: 1 if so.
 */
int asked_for(const char *word)
{
	char line[4096] = "";
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	return !!strstr(line, word);
}

/* A login on the console; the machine goes off when it ends. */
static void console_shell(void)
{
	char *const argv[] = { "/bin/login", "-f", "root", NULL };
	int status;
	pid_t pid;

	if (fork())
		return;
	pid = fork();
	if (!pid) {
		int tty;

		setsid();
		tty = open("/dev/console", O_RDWR);
		ioctl(tty, TIOCSCTTY, 1);
		dup2(tty, 0);
		dup2(tty, 1);
		dup2(tty, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	sync();
	reboot(RB_POWER_OFF);
	_exit(0);
}

/**
 * boot_bare() - set the machine up as PID 1
 */
void boot_bare(void)
{
	char *const udevd[] = { "/lib/systemd/systemd-udevd", "--daemon", NULL };

	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "linux", 0);
	setenv("LANG", "C.UTF-8", 1);
	if (chdir("/root"))
		setenv("HOME", "/", 1);
	mount_all();
	loopback_up();
	sethostname("lastref", 7);
	run(udevd);
	if (asked_for("lastref.shell"))
		console_shell();
}
