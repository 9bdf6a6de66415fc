// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent's main loop: starts the host's commands, carries their input and output, reports how
 * they ended. A command is a process group of its own session, so that all of it can be signalled.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

#define JOBS	64
#define ARGS	256

/**
 * struct job - a command of the host
 * @id: the host's number
 * @pid: of its leader; 0 after that was reaped, then only its output is still open
 * @in: write end of its standard input, or -1
 * @out: read ends of its standard output and error, or -1
 * @todo: input for it
 * @len: bytes of @todo
 * @fed: of these it has taken so many
 * @eof: close @in when @todo is gone
 * @used: the slot is taken
 * @file: no command: @in is a file that the host writes
 */
struct job {
	uint32_t id;
	pid_t pid;
	int in;
	int out[2];
	char *todo;
	size_t len;
	size_t fed;
	int eof;
	int used;
	int file;
};

static struct job jobs[JOBS];
static int host;

static struct job *job_find(uint32_t id)
{
	for (int i = 0; i < JOBS; i++)
		if (jobs[i].used && jobs[i].id == id)
			return &jobs[i];
	return NULL;
}

static void job_put(struct job *job)
{
	if (job->pid || job->out[0] >= 0 || job->out[1] >= 0)
		return;
	if (job->in >= 0)
		close(job->in);
	free(job->todo);
	memset(job, 0, sizeof(*job));
}

static void report_exit(uint32_t id, int status)
{
	frame_send(host, FRAME_EXIT, id, &status, sizeof(int32_t));
}

static void run_child(char **argv, int in, int out, int err)
{
	sigset_t none;

	setsid();
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int pipes(int p[3][2])
{
	for (int i = 0; i < 3; i++) {
		if (pipe2(p[i], O_CLOEXEC)) {
			while (i--) {
				close(p[i][0]);
				close(p[i][1]);
			}
			return -1;
		}
	}
	return 0;
}

static int job_start(struct job *job, uint32_t id, char **argv)
{
	int p[3][2];
	pid_t pid;

	if (pipes(p))
		return -1;
	pid = fork();
	if (!pid)
		run_child(argv, p[0][0], p[1][1], p[2][1]);
	close(p[0][0]);
	close(p[1][1]);
	close(p[2][1]);
	*job = (struct job) {
		.id = id, .pid = pid, .in = p[0][1], .out = { p[1][0], p[2][0] }, .used = 1,
	};
	fcntl(job->in, F_SETFL, O_NONBLOCK);
	fcntl(job->out[0], F_SETFL, O_NONBLOCK);
	fcntl(job->out[1], F_SETFL, O_NONBLOCK);
	return pid < 0 ? -1 : 0;
}

static struct job *job_free(void)
{
	for (int i = 0; i < JOBS; i++)
		if (!jobs[i].used)
			return &jobs[i];
	return NULL;
}

static void on_exec(uint32_t id, char *data, size_t len)
{
	struct job *job = job_free();
	char *argv[ARGS + 1];
	int n = 0;

	for (size_t at = 0; at < len && n < ARGS; at += strlen(data + at) + 1)
		argv[n++] = data + at;
	argv[n] = NULL;
	if (!job || !n || job_start(job, id, argv)) {
		frame_send(host, FRAME_STDERR, id, "agent: cannot start it\n", 23);
		report_exit(id, 126 << 8);
	}
}

static void feed(struct job *job)
{
	while (job->fed < job->len) {
		ssize_t n = write(job->in, job->todo + job->fed, job->len - job->fed);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {		/* it does not read any more; a file: no space */
			job->eof |= !job->file;
			job->file = -!!job->file;
			break;
		}
		job->fed += n;
	}
	job->len = 0;
	job->fed = 0;
	if (job->eof) {
		int bad = close(job->in);

		job->in = -1;
		if (job->file) {
			report_exit(job->id, bad || job->file < 0 ? 1 << 8 : 0);
			job_put(job);
		}
	}
}

static void on_stdin(struct job *job, const char *data, size_t len)
{
	char *more;

	if (job->in < 0)
		return;
	if (!len) {
		job->eof = 1;
	} else {
		more = realloc(job->todo, job->len + len);
		if (!more)
			return;
		memcpy(more + job->len, data, len);
		job->todo = more;
		job->len += len;
	}
	feed(job);
}

static void refuse(uint32_t id, const char *path)
{
	char why[512];

	frame_send(host, FRAME_STDERR, id, why,
		   snprintf(why, sizeof(why), "%.400s: %s\n", path, strerror(errno)));
	report_exit(id, 1 << 8);
}

static void on_put(uint32_t id, const char *data)
{
	const char *path = data + strlen(data) + 1;
	int mode = strtol(data, NULL, 8);
	struct job *job = job_free();
	int fd = job ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode) : -1;

	if (fd < 0) {
		refuse(id, path);
		return;
	}
	fchmod(fd, mode);
	*job = (struct job) { .id = id, .in = fd, .out = { -1, -1 }, .used = 1, .file = 1 };
}

static void on_get(uint32_t id, const char *path)
{
	static char buf[FRAME_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		n = read(fd, buf, sizeof(buf));
		if (n > 0)
			frame_send(host, FRAME_STDOUT, id, buf, n);
	}
	if (n < 0)
		refuse(id, path);
	else
		report_exit(id, 0);
	if (fd >= 0)
		close(fd);
}

static int read_all(int fd, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -1;
		if (!n) {		/* the host has not connected yet, or has gone */
			usleep(50000);
			continue;
		}
		p += n;
		len -= n;
	}
	return 0;
}

static int on_frame(void)
{
	static char data[FRAME_MAX + 1];
	struct frame head;
	struct job *job;

	if (read_all(host, &head, sizeof(head)) || head.len > FRAME_MAX ||
	    read_all(host, data, head.len))
		return -1;
	data[head.len] = '\0';
	job = job_find(head.job);
	if (head.type == FRAME_EXEC)
		on_exec(head.job, data, head.len);
	else if (head.type == FRAME_PUT)
		on_put(head.job, data);
	else if (head.type == FRAME_GET)
		on_get(head.job, data);
	else if (head.type == FRAME_STDIN && job)
		on_stdin(job, data, head.len);
	else if (head.type == FRAME_SIGNAL && job && job->pid && kill(-job->pid, data[0]))
		kill(job->pid, data[0]);	/* it has no session of its own yet */
	return 0;
}

/* Output of one stream, until the pipe is empty. */
static void carry(struct job *job, int stream)
{
	static char buf[FRAME_MAX];
	ssize_t n;

	while (job->out[stream] >= 0) {
		n = read(job->out[stream], buf, sizeof(buf));
		if (n < 0)
			return;
		if (!n) {
			close(job->out[stream]);
			job->out[stream] = -1;
			return;
		}
		frame_send(host, stream ? FRAME_STDERR : FRAME_STDOUT, job->id, buf, n);
	}
}

/* PID 1 reaps what is nobody's, too. What a command wrote comes before the news of its end. */
static void reap(int fd)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(fd, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (int i = 0; i < JOBS; i++) {
			if (!jobs[i].used || jobs[i].pid != pid)
				continue;
			carry(&jobs[i], 0);
			carry(&jobs[i], 1);
			jobs[i].pid = 0;
			report_exit(jobs[i].id, status);
			job_put(&jobs[i]);
		}
	}
}

static void turn(struct pollfd *p, int *owner, int n, int sig)
{
	for (int i = 2; i < n; i++) {
		struct job *job = &jobs[owner[i] / 4];

		if (!p[i].revents || !job->used)
			continue;
		if (owner[i] % 4 == 2 && job->in >= 0)
			feed(job);
		else if (owner[i] % 4 < 2)
			carry(job, owner[i] % 4);
		job_put(job);
	}
	if (p[1].revents)
		reap(sig);
}

/**
 * serve() - carry out what the host asks for, until its port fails
 * @fd: the port of commands
 *
 * Return: 1; it only ends when something is broken.
 */
int serve(int fd)
{
	struct pollfd p[2 + 3 * JOBS];
	int owner[2 + 3 * JOBS];
	sigset_t chld;
	int sig;

	host = fd;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	sig = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	p[0] = (struct pollfd) { .fd = host, .events = POLLIN };
	p[1] = (struct pollfd) { .fd = sig, .events = POLLIN };
	for (;;) {
		int n = 2;

		for (int i = 0; i < JOBS; i++) {
			for (int s = 0; s < 2; s++) {
				if (!jobs[i].used || jobs[i].out[s] < 0)
					continue;
				owner[n] = i * 4 + s;
				p[n++] = (struct pollfd) { jobs[i].out[s], POLLIN, 0 };
			}
			if (jobs[i].used && jobs[i].in >= 0 && jobs[i].len) {
				owner[n] = i * 4 + 2;
				p[n++] = (struct pollfd) { jobs[i].in, POLLOUT, 0 };
			}
		}
		if (poll(p, n, 1000) <= 0) {
			reap(sig);	/* children from before the signal was blocked */
			continue;
		}
		turn(p, owner, n, sig);
		if (p[0].revents & POLLIN) {
			if (on_frame())
				return 1;
		} else if (p[0].revents) {
			usleep(50000);	/* the host is not there (yet) */
		}
	}
}
