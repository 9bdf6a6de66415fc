// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cables between processes: the real switch program with two fabrics of this process as its
 * clients, with strangers on its socket, killed, and started again.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fabric/host/peer.h"
#include "../fabric/switch.h"
#include "../model/crc.h"
#include "lib/station.h"
#include "lib/tap.h"

/* A process that is a client: its fabric, its connection, its port. */
struct client {
	struct fake_host host;
	struct fabric *fab;
	struct peer *peer;
	struct station st;
	const char *over;
};

static struct fake_world world;
static struct client a, b;
static char dir[32];
static char path[64], capture[64];
static pid_t child;

static void fire(void *arg)
{
	fabric_fire(arg);
}

/* Start the switch program and wait for its line. */
static bool start_switch(void)
{
	const char *bin = getenv("LASTREF_BIN");
	char program[512], line[128] = "";
	int out[2];
	FILE *f;

	snprintf(program, sizeof(program), "%s/switchd", bin ? bin : ".");
	if (pipe(out))
		return false;
	child = fork();
	if (!child) {
		dup2(out[1], 1);
		close(out[0]);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		execl(program, program, "-p", capture, path, NULL);
		_exit(127);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return !strncmp(line, "ready ", 6);
}

static int stop_switch(int sig)
{
	int status = -1;

	kill(child, sig);
	waitpid(child, &status, 0);
	return status;
}

static int stranger(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool client_start(struct client *c)
{
	struct link_end *end;
	int fd = stranger();

	memset(c, 0, sizeof(*c));
	fake_host_init(&c->host, &world, 0);
	c->fab = fabric_create(&c->host.host, "client", false);
	c->host.fire = fire;
	c->host.arg = c->fab;
	c->peer = fd < 0 ? NULL : peer_create(fd, NULL, NULL);
	if (!c->peer || !peer_plug(c->peer, c->fab, &end))
		return false;
	station_init(&c->st, end);
	link_enable(end, true);
	return true;
}

static void client_stop(struct client *c)
{
	station_fini(&c->st);
	peer_destroy(c->peer);
	fabric_destroy(c->fab);
	tap_eq(c->host.live, 0, "a client gives back all memory");
	fake_host_fini(&c->host);
}

static void client_turn(struct client *c, int wait_ms)
{
	struct pollfd p;

	if (c->over) {
		fake_run(&world, 1000000);
		return;
	}
	p.fd = peer_fd(c->peer);
	p.events = (peer_wants_read(c->peer) ? POLLIN : 0) |
		   (peer_wants_write(c->peer) ? POLLOUT : 0);
	poll(&p, 1, wait_ms);
	if (p.revents & POLLOUT)
		c->over = peer_flush(c->peer);
	if (!c->over && p.revents & (POLLIN | POLLHUP))
		c->over = peer_read(c->peer);
	fake_run(&world, 1000000);
	if (!c->over && peer_resumes(c->peer))
		c->over = peer_read(c->peer);
	if (c->over)
		peer_hang_up(c->peer);
}

/* Let both clients run until @done, at most so many turns of a millisecond. */
static bool until(bool (*done)(void), unsigned int turns)
{
	while (turns--) {
		if (done())
			return true;
		client_turn(&a, 1);
		client_turn(&b, 1);
	}
	return done();
}

static bool both_up(void)
{
	return a.st.up && b.st.up;
}

static bool both_down(void)
{
	return !a.st.up && !b.st.up;
}

static bool b_down(void)
{
	return !b.st.up;
}

static bool never(void)
{
	return false;
}

/* Ask the switch through the socket; NULL when no answer came in 200 turns. */
static const u8 *ask(struct client *c, u8 method, u16 attr, u32 mod, const u8 *data)
{
	static const struct smp_path path1 = { .hops = 1 };
	unsigned int turns = 200, from = c->st.nkept;
	u8 mad[MAD_SIZE], pkt[LINK_MAX_PACKET];

	build_mad(mad, CLASS_SMP_DR, method, attr, mod, 1);
	if (data)
		memcpy(mad + SMP_DATA, data, SMP_DATA_SIZE);
	link_send(c->st.end, pkt, build_smp(pkt, &path1, mad));
	while (turns-- && c->st.nkept == from) {
		client_turn(&a, 1);
		client_turn(&b, 1);
	}
	return c->st.nkept == from ? NULL : smp_of(&c->st.kept[from]);
}

static u64 port_state(unsigned int port)
{
	const u8 *mad = ask(&a, METHOD_GET, ATTR_PORT_INFO, port, NULL);

	return mad ? mad_get(mad + SMP_DATA, PI_PORT_STATE) : 99;
}

static void activate(void)
{
	u8 data[SMP_DATA_SIZE] = { 0 };
	unsigned int port;

	mad_put(data, SI_LINEAR_TOP, 2);
	ask(&a, METHOD_SET, ATTR_SWITCH_INFO, 0, data);
	memset(data, 0xff, sizeof(data));
	data[1] = 1;
	data[2] = 2;
	ask(&a, METHOD_SET, ATTR_LINEAR_FDB, 0, data);
	for (port = 1; port <= 2; port++) {
		memset(data, 0, sizeof(data));
		mad_put(data, PI_PORT_STATE, PORT_ARMED);
		ask(&a, METHOD_SET, ATTR_PORT_INFO, port, data);
		mad_put(data, PI_PORT_STATE, PORT_ACTIVE);
		ask(&a, METHOD_SET, ATTR_PORT_INFO, port, data);
	}
}

static void test_service(void)
{
	const u8 *mad;

	tap_ok(start_switch(), "the switch program says that it is ready");
	tap_ok(client_start(&a) && client_start(&b), "two clients connect");
	tap_ok(until(both_up, 2000), "both links come up");
	mad = ask(&a, METHOD_GET, ATTR_NODE_INFO, 0, NULL);
	tap_ok(mad && mad_get(mad + SMP_DATA, NI_NUM_PORTS) == FSW_PORTS &&
	       mad_get(mad + SMP_DATA, NI_LOCAL_PORT) == 1, "an SMP is answered over the socket");
	tap_eq(port_state(2), PORT_INIT, "the switch has both links in INIT");
	tap_eq(port_state(3), PORT_DOWN, "and no third");
}

/* Many more packets than all buffers hold: nobody loses one. */
static void test_flow(void)
{
	enum { PACKETS = 3000 };
	unsigned int sent = 0, turns = 30000, busy = 0;
	u8 pkt[LINK_MAX_PACKET];

	activate();
	tap_eq(port_state(2), PORT_ACTIVE, "ports are activated through the socket");
	b.st.count = 0;
	while (b.st.count < PACKETS && turns--) {
		while (sent < PACKETS) {
			u32 len = build_ud(pkt, 1, 2, 2048, (u8)sent);

			if (link_send(a.st.end, pkt, len) != LINK_OK) {
				busy++;
				break;
			}
			sent++;
		}
		client_turn(&a, 0);
		if (turns % 4 == 0)
			client_turn(&b, 1);
	}
	tap_eq(b.st.count, PACKETS, "%u packets pass two sockets and a switch", PACKETS);
	tap_ok(busy > 10, "the sender had to wait %u times", busy);
}

/* What a stranger says first, and what it says after a proper greeting. */
static void test_strangers(void)
{
	static const u8 hello[] = {
		0, 0, 0, 16, 1, 0, 0, 0, 'I', 'B', 'c', 'a', 'b', 'l', 'e', 1,
	};
	static const u8 huge[] = { 0x7f, 0xff, 0xff, 0xff, 3, 0, 0, 0 };
	static const u8 tiny[] = { 0, 0, 0, 7, 3, 0, 0, 0 };
	static const u8 poll2[] = { 0, 0, 0, 9, 2, 0, 0, 0, 2 };
	static const u8 kind9[] = { 0, 0, 0, 9, 9, 0, 0, 0, 0 };
	static const u8 half[] = { 0, 0, 0, 100, 3, 0, 0, 0, 1, 2, 3 };
	static const u8 http[] = "GET / HTTP/1.0\r\n\r\n";
	static const struct {
		const u8 *bytes;
		u32 len;
		bool greet;
		const char *what;
	} say[] = {
		{ http, sizeof(http) - 1, false, "another protocol" },
		{ poll2, sizeof(poll2), false, "no greeting" },
		{ huge, sizeof(huge), true, "a frame of two gigabytes" },
		{ tiny, sizeof(tiny), true, "a frame shorter than its header" },
		{ poll2, sizeof(poll2), true, "a state that is neither on nor off" },
		{ kind9, sizeof(kind9), true, "an unknown kind of frame" },
		{ hello, sizeof(hello), true, "a second greeting" },
		{ half, sizeof(half), true, "half a frame and the end" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(say); i++) {
		int fd = stranger();
		char end[64];
		ssize_t n;

		if (say[i].greet && write(fd, hello, sizeof(hello)) < 0)
			break;
		if (write(fd, say[i].bytes, say[i].len) < 0)
			break;
		if (say[i].bytes == half)
			shutdown(fd, SHUT_WR);
		while ((n = read(fd, end, sizeof(end))) > 0)
			;
		close(fd);
		tap_ok(n <= 0 && ask(&a, METHOD_GET, ATTR_NODE_INFO, 0, NULL),
		       "%s: connection closed, service goes on", say[i].what);
	}
}

/* Packets that are damaged, or claim another length, are dropped; the connection stays. */
static void test_bad_packets(void)
{
	static const u8 hello[] = { 0, 0, 0, 16, 1, 0, 0, 0, 'I', 'B', 'c', 'a', 'b', 'l', 'e', 1,
				    0, 0, 0, 9, 2, 0, 0, 0, 1 };
	u8 frame[8 + LINK_MAX_PACKET], mad[MAD_SIZE];
	static const struct smp_path path1 = { .hops = 1 };
	unsigned int i, answers = 0;
	int fd = stranger();
	u8 buf[4096];
	ssize_t n;
	u32 len;

	build_mad(mad, CLASS_SMP_DR, METHOD_GET, ATTR_NODE_INFO, 0, 1);
	len = build_smp(frame + 8, &path1, mad);
	packet_put_crcs(frame + 8, len);
	put32(frame, 8 + len);
	put32(frame + 4, 3u << 24);
	tap_ok(write(fd, hello, sizeof(hello)) == sizeof(hello), "a client by hand");
	usleep(20000);
	for (i = 0; i < 200; i++) {
		u32 bit = 1u << i % 8, at = 8 + i * 7 % len;

		frame[at] ^= (u8)bit;
		if (write(fd, frame, 8 + len) < 0)
			break;
		frame[at] ^= (u8)bit;
	}
	tap_eq(i, 200, "200 packets with one wrong bit do not end the connection");
	if (write(fd, frame, 8 + len) < 0)
		answers = 99;
	shutdown(fd, SHUT_WR);
	for (i = 0; (n = read(fd, buf + i, sizeof(buf) - i)) > 0;)
		i += (u32)n;
	while (i >= 8 && get32(buf) >= 8 && get32(buf) <= i) {
		u32 l = get32(buf);

		answers += buf[4] == 3;
		memmove(buf, buf + l, i - l);
		i -= l;
	}
	close(fd);
	tap_eq(answers, 1, "only the good one is answered");
}

/* Both clients have lost their connections, and find another switch at the same place. */
static void test_redial(void)
{
	tap_ok(start_switch(), "a new switch takes its place");
	a.over = NULL;
	b.over = NULL;
	tap_ok(peer_redial(a.peer, stranger()) && peer_redial(b.peer, stranger()),
	       "the clients call again");
	tap_ok(until(both_up, 2000), "their ports have their links back");
	tap_ok(peer_greeted(a.peer) && port_state(1) == PORT_INIT, "the switch answers");
	stop_switch(SIGKILL);
	tap_ok(until(both_down, 2000), "this one dies too");
}

static void test_death(void)
{
	int status;

	peer_hang_up(b.peer);
	b.over = "test";
	until(b_down, 200);
	tap_ok(!b.st.up && a.st.up, "hanging up takes one link down, not the other");
	status = stop_switch(SIGKILL);
	tap_ok(WIFSIGNALED(status), "the switch is killed");
	tap_ok(until(both_down, 2000), "its death is link down");
	tap_ok(a.over && strstr(a.over, "closed"), "with a reason: %s", a.over ? a.over : "none");
	tap_ok(!access(path, F_OK) && stranger() < 0, "a stale socket is left");
	test_redial();
	client_stop(&a);
	client_stop(&b);
	tap_ok(start_switch(), "a new switch takes its place");
	tap_ok(client_start(&a) && client_start(&b) && until(both_up, 2000), "and serves");
	until(never, 10);
	client_stop(&b);
	memset(&b, 0, sizeof(b));
	b.over = "gone";
	until(never, 50);
	tap_eq(port_state(2), PORT_DOWN, "a client that leaves is link down at the switch");
	status = stop_switch(SIGTERM);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status), "SIGTERM: a clean end");
	tap_ok(access(path, F_OK), "which removes the socket");
	client_stop(&a);
}

int main(void)
{
	snprintf(dir, sizeof(dir), "/tmp/peer_testXXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/socket", dir);
	snprintf(capture, sizeof(capture), "%s/pcap", dir);
	test_service();
	test_flow();
	test_strangers();
	test_bad_packets();
	test_death();
	unlink(capture);
	unlink(path);
	rmdir(dir);
	return tap_done();
}
