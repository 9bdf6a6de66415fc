// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the switch and the socket between processes. Three ports send SMPs and packets of
 * any kind into a switch; a fourth cable leads to a socket, whose other side says any bytes at all.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../fabric/host/peer.h"
#include "../fabric/switch.h"
#include "../tests/lib/station.h"
#include "input.h"

enum { STATIONS = 3, MOST_ACTS = 64 };

struct scene {
	struct fake_world world;
	struct fake_host host;
	struct fabric *fab;
	struct station st[STATIONS];
	struct peer *peer;
	int other;
};

static void fire(void *arg)
{
	fabric_fire(arg);
}

static void scene_up(struct scene *s)
{
	unsigned int i;
	int fd[2];

	memset(s, 0, sizeof(*s));
	fake_host_init(&s->host, &s->world, 0);
	s->fab = fabric_create(&s->host.host, "fuzz", true);
	s->host.fire = fire;
	s->host.arg = s->fab;
	for (i = 0; i < STATIONS; i++) {
		station_init(&s->st[i], fabric_attach(s->fab));
		link_enable(s->st[i].end, true);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		abort();
	s->other = fd[1];
	s->peer = peer_create(fd[0], NULL, NULL);
	if (!s->peer || !peer_plug(s->peer, s->fab, NULL))
		abort();
	fake_run(&s->world, 2 * LINK_TRAIN_NS);
}

static void scene_down(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < STATIONS; i++)
		station_fini(&s->st[i]);
	peer_destroy(s->peer);
	close(s->other);
	fabric_destroy(s->fab);
	if (s->host.live)
		abort();
	fake_host_fini(&s->host);
}

static void say(struct scene *s, struct input *in)
{
	u8 bytes[1024];
	u32 n = in_bytes(in, bytes, sizeof(bytes), 4);

	if (write(s->other, bytes, n) < 0 && in8(in) & 1)
		shutdown(s->other, SHUT_WR);
}

static void serve(struct scene *s)
{
	static u8 sink[65536];
	const char *why = NULL;

	if (peer_wants_read(s->peer) || peer_resumes(s->peer))
		why = peer_read(s->peer);
	if (!why)
		why = peer_flush(s->peer);
	if (why)
		peer_hang_up(s->peer);
	while (read(s->other, sink, sizeof(sink)) > 0)
		;
}

static void smp(struct scene *s, struct input *in)
{
	struct smp_path path = { .hops = 1 };
	u8 mad[MAD_SIZE], pkt[LINK_MAX_PACKET];
	u8 bits = in8(in);
	u32 len, n;

	if (bits & 1) {
		path.dlid = 5;
		path.slid = in8(in);
	}
	build_mad(mad, bits & 2 ? CLASS_SMP_LID : CLASS_SMP_DR, in8(in) & 7,
		  (u16)(0x10 + in8(in) % 18), bits & 4 ? in32(in) : in8(in), in8(in));
	in_bytes(in, mad + SMP_DATA, SMP_DATA_SIZE, 1);
	len = build_smp(pkt, &path, mad);
	for (n = in8(in) % 8; n; n--)
		pkt[in16(in) % len] = in8(in);
	link_send(s->st[bits >> 3 & 1].end, pkt, len);
}

static void data(struct scene *s, struct input *in)
{
	u8 pkt[LINK_MAX_PACKET], slid = in8(in), bits = in8(in);
	u16 dlid = bits & 1 ? in16(in) : bits >> 1;
	u32 len = build_ud(pkt, slid, dlid, bits * 8u, slid), n;

	for (n = in8(in) % 4; n; n--)
		pkt[in16(in) % len] = in8(in);
	if (in8(in) % 8 == 0)
		len = 14 + in16(in) % 4096;
	link_send(s->st[in8(in) % STATIONS].end, pkt, len);
}

static void rule(struct scene *s, struct input *in)
{
	static const char *const rules[] = {
		"in:0 times=0 dup", "out:0/ud drop", "in:1 delay=1000",
		"out:2 times=0 delay=30000000", "in:2/smp corrupt", "time at=1 flap=1",
		"time at=500000 times=0 flap=2", "time at=1 down=1", "time at=1 up=1",
		"time at=1 mute", "time at=1 unmute", "time at=1 restart", "in:1 nth=3 restart",
		"time at=1 route=5/2", "time at=1 error=3/rcv", "clear",
	};
	const char *why;
	u8 text[65];
	u32 n;

	if (in8(in) & 3) {
		fabric_fault_add(s->fab, rules[in8(in) % ARRAY_SIZE(rules)], &why);
		return;
	}
	n = in_bytes(in, text, sizeof(text) - 1, 1);
	text[n] = 0;
	fabric_fault_add(s->fab, (char *)text, &why);
}

static void act(struct scene *s, struct input *in)
{
	static const u8 hello[] = { 0, 0, 0, 16, 1, 0, 0, 0, 'I', 'B', 'c', 'a', 'b', 'l', 'e', 1,
				    0, 0, 0, 9, 2, 0, 0, 0, 1 };

	switch (in8(in) % 8) {
	case 0:
		say(s, in);
		break;
	case 1:
		if (write(s->other, hello, sizeof(hello)) < 0)
			break;
		serve(s);
		break;
	case 2:
		serve(s);
		break;
	case 3:
		fake_run(&s->world, 1ull << in8(in) % 34);
		break;
	case 4:
		link_enable(s->st[in8(in) % STATIONS].end, in8(in) & 1);
		break;
	case 5:
		data(s, in);
		break;
	case 6:
		rule(s, in);
		break;
	default:
		smp(s, in);
	}
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size);

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size)
{
	static struct scene s;
	struct input in = { .at = bytes, .left = size };
	unsigned int acts = 0;

	scene_up(&s);
	while (in.left && acts++ < MOST_ACTS) {
		act(&s, &in);
		if (acts % 8 == 0)
			serve(&s);
	}
	fake_run(&s.world, 10 * LINK_TRAIN_NS);
	serve(&s);
	scene_down(&s);
	return 0;
}
