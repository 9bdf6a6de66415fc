// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cables, training, queues and the places of ports on a fabric.
 */
#include <stdlib.h>

#include "../fabric/ring.h"
#include "../fabric/switch.h"
#include "../model/crc.h"
#include "lib/station.h"
#include "lib/tap.h"

static struct fake_world world;
static struct fake_host host;
static struct fabric *fab;

static void fire(void *arg)
{
	fabric_fire(arg);
}

static void setup(const char *name, bool always_switch)
{
	memset(&world, 0, sizeof(world));
	fake_host_init(&host, &world, 0);
	fab = fabric_create(&host.host, name, always_switch);
	host.fire = fire;
	host.arg = fab;
}

static void teardown(const char *what)
{
	fabric_destroy(fab);
	tap_eq(host.live, 0, "%s: all memory is given back", what);
	fake_host_fini(&host);
}

/* A ring against a plain list of what should be in it. */
static void test_ring(void)
{
	enum { SIZE = 1000, MOST = 300 };
	static u8 want[128][MOST];
	u32 len[128], first = 0, n = 0, rounds, bad = 0, refused = 0, moved = 0, got;
	u8 *buf = malloc(SIZE), pkt[MOST];
	struct packet_ring r;

	ring_init(&r, buf, SIZE);
	srand(1);
	for (rounds = 0; rounds < 200000; rounds++) {
		if (rand() % 2) {
			u32 l = 1 + rand() % MOST;

			memset(pkt, rand(), l);
			if (ring_room(&r, l) != ring_push(&r, pkt, l)) {
				bad++;
			} else if (r.packets == n + 1) {
				memcpy(want[(first + n) % 128], pkt, l);
				len[(first + n++) % 128] = l;
			} else {
				refused++;
			}
		} else if (n) {
			const u8 *p = ring_peek(&r, &got);

			bad += !p || got != len[first % 128] || memcmp(p, want[first % 128], got);
			ring_pop(&r);
			first++;
			n--;
			moved++;
		}
		bad += r.packets != n || r.used > SIZE;
	}
	tap_eq(bad, 0, "ring: %u packets come out as they went in", moved);
	tap_ok(refused > 1000, "ring: %u refused for want of room", refused);
	free(buf);
}

static void test_training(void)
{
	struct station a, b;
	u8 pkt[LINK_MAX_PACKET];
	u32 len = build_ud(pkt, 1, 2, 64, 0x5a);

	setup("pair", false);
	station_init(&a, fabric_attach(fab));
	link_enable(a.end, true);
	fake_run(&world, 1000000000);
	tap_eq(a.ups, 0, "a port alone gets no link");
	station_init(&b, fabric_attach(fab));
	fake_run(&world, 1000000000);
	tap_eq(a.ups, 0, "no link while the other end does not poll");
	tap_eq(link_send(a.end, pkt, len), LINK_DOWN, "no packet is taken without a link");
	link_enable(b.end, true);
	link_enable(b.end, true);
	tap_ok(!a.ups && !b.ups, "nobody is told inside enable()");
	fake_run(&world, LINK_TRAIN_NS - 1);
	tap_eq(a.ups, 0, "the link is still training");
	fake_run(&world, 1);
	tap_ok(a.ups == 1 && b.ups == 1, "both ends come up after the training time");
	tap_ok(a.width == WIDTH_4X && a.speed == LINK_FDR, "4X FDR");
	link_send(a.end, pkt, len);
	tap_eq(b.count, 0, "a packet is not delivered inside send()");
	link_enable(b.end, false);
	fake_run(&world, 10);
	tap_ok(a.downs == 1 && !b.downs, "the other end is told, not the one that did it");
	tap_eq(b.count, 0, "a packet in flight is lost with the link");
	b.end->max_speed = LINK_DDR;
	link_enable(b.end, true);
	fake_run(&world, LINK_TRAIN_NS);
	tap_ok(a.ups == 2 && a.speed == LINK_DDR, "retrains, at the slower end's speed");
	link_enable(a.end, false);
	link_enable(a.end, true);
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_ok(a.ups == 3 && b.ups == 3 && b.downs == 1, "off and on at once: down, then up");
	station_fini(&b);
	fake_run(&world, 10);
	tap_eq(a.downs, 2, "detaching takes the link down");
	station_fini(&a);
	tap_eq(fabric_ports(fab), 0, "no port is left");
	teardown("pair");
}

static void test_flow(void)
{
	enum { PACKETS = 400 };
	struct station a, b;
	u8 pkt[LINK_MAX_PACKET];
	unsigned int sent = 0, i, disorder = 0;
	u32 len;

	setup("flow", false);
	station_init(&a, fabric_attach(fab));
	station_init(&b, fabric_attach(fab));
	link_enable(a.end, true);
	link_enable(b.end, true);
	fake_run(&world, LINK_TRAIN_NS);
	len = build_ud(pkt, 1, 2, 2048, 0);
	while (link_send(a.end, pkt, len) == LINK_OK)
		sent++;
	tap_ok(sent > 16 && sent < 256, "the queue is bounded: %u packets of 2 KiB", sent);
	tap_eq(link_send(a.end, pkt, len), LINK_BUSY, "then the sender is told to wait");
	fake_run(&world, 0);
	tap_eq(b.count, sent, "all that was taken arrives");
	tap_eq(a.ready, 1, "the waiting sender is told once");
	station_forget(&b);
	for (i = 0; i < PACKETS;) {
		len = build_ud(pkt, 1, 2, 4 * (i % 7), (u8)i);
		put24(pkt + 17, i);
		if (link_send(a.end, pkt, len) == LINK_OK)
			i++;
		else
			fake_next(&world, 0);
	}
	fake_run(&world, 0);
	for (i = 0; i < PACKETS && i < b.nkept; i++)
		disorder += get24(b.kept[i].pkt + 17) != i;
	tap_eq(b.nkept, PACKETS, "nothing is lost");
	tap_eq(disorder, 0, "nothing changes places");
	station_fini(&a);
	station_fini(&b);
	teardown("flow");
}

static void test_budget(void)
{
	struct station a, b;
	u8 pkt[LINK_MAX_PACKET];
	unsigned int i;
	u32 len = build_ud(pkt, 1, 2, 4, 0);

	setup("budget", false);
	station_init(&a, fabric_attach(fab));
	station_init(&b, fabric_attach(fab));
	link_enable(a.end, true);
	link_enable(b.end, true);
	fake_run(&world, LINK_TRAIN_NS);
	for (i = 0; i < 2 * FABRIC_BUDGET + 10; i++)
		link_send(a.end, pkt, len);
	fake_next(&world, 0);
	tap_eq(b.count, FABRIC_BUDGET, "one turn of the timer delivers a bounded number");
	fake_run(&world, 0);
	tap_eq(b.count, 2 * FABRIC_BUDGET + 10, "and the next ones the rest, at once");
	station_fini(&a);
	station_fini(&b);
	teardown("budget");
}

static void test_places(void)
{
	struct station s[FSW_PORTS];
	unsigned int i, up = 0;
	struct fsw *sw;

	setup("places", false);
	for (i = 0; i < 2; i++) {
		station_init(&s[i], fabric_attach(fab));
		link_enable(s[i].end, true);
	}
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_ok(s[0].up && s[1].up && !fabric_switch(fab), "two ports are cabled back to back");
	station_init(&s[2], fabric_attach(fab));
	link_enable(s[2].end, true);
	fake_run(&world, 10);
	sw = fabric_switch(fab);
	tap_ok(sw && s[0].downs == 1 && s[1].downs == 1, "the third brings a switch: links break");
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_ok(s[0].up && s[1].up && s[2].up, "and come up again");
	for (i = 1; i <= 3; i++)
		tap_eq(fsw_port_state(&sw->port[i]), PORT_INIT, "switch port %u is in INIT", i);
	for (i = 3; i < FSW_PORTS; i++) {
		station_init(&s[i], fabric_attach(fab));
		link_enable(s[i].end, true);
	}
	fake_run(&world, 2 * LINK_TRAIN_NS);
	for (i = 0; i < FSW_PORTS; i++)
		up += s[i].up;
	tap_eq(up, FSW_PORTS, "36 ports are up");
	tap_ok(!fabric_attach(fab), "the 37th is refused");
	station_fini(&s[4]);
	tap_eq(fsw_port_state(&sw->port[5]), PORT_DOWN, "a port that left is DOWN on the switch");
	station_init(&s[4], fabric_attach(fab));
	link_enable(s[4].end, true);
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_ok(s[4].up && fsw_port_state(&sw->port[5]) == PORT_INIT, "a newcomer takes its place");
	for (i = 0; i < FSW_PORTS; i++)
		station_fini(&s[i]);
	teardown("places");
}

struct tapped {
	unsigned int count, wrong;
	u64 last;
};

static void on_tap(void *arg, u64 now, const u8 *pkt, u32 len)
{
	struct tapped *t = arg;

	t->count++;
	t->wrong += !packet_check_crcs(pkt, len) || now < t->last;
	t->last = now;
}

static void test_tap(void)
{
	struct station s[3];
	struct smp_path one = { .hops = 1 };
	struct tapped t = { 0 };
	unsigned int i;

	setup("tap", true);
	fabric_tap(fab, on_tap, &t);
	for (i = 0; i < 3; i++) {
		station_init(&s[i], fabric_attach(fab));
		link_enable(s[i].end, true);
	}
	fake_run(&world, 2 * LINK_TRAIN_NS);
	smp_ask(&world, &s[0], &one, METHOD_GET, ATTR_NODE_INFO, 0, NULL);
	tap_eq(t.count, 2, "request and answer are seen once each");
	tap_eq(t.wrong, 0, "with both CRCs right");
	for (i = 0; i < 3; i++)
		station_fini(&s[i]);
	teardown("tap");
}

/* Whatever allocation fails, attaching says so and nothing is lost. */
static void test_memory(void)
{
	unsigned int n, refused = 0, attached = 0, i;
	struct link_end *end[4];

	for (n = 0; n < 12; n++) {
		memset(&world, 0, sizeof(world));
		fake_host_init(&host, &world, 0);
		host.fail_at = n;
		fab = fabric_create(&host.host, "memory", false);
		if (!fab) {
			refused++;
			fake_host_fini(&host);
			continue;
		}
		host.fire = fire;
		host.arg = fab;
		for (i = 0; i < 4; i++) {
			end[i] = fabric_attach(fab);
			if (end[i]) {
				attached++;
				link_enable(end[i], true);
			} else {
				refused++;
			}
		}
		fake_run(&world, 4 * LINK_TRAIN_NS);
		for (i = 0; i < 4; i++)
			link_detach(end[i]);
		fabric_destroy(fab);
		if (host.live)
			break;
		fake_host_fini(&host);
	}
	tap_eq(n, 12, "no memory is lost whichever allocation fails");
	tap_ok(refused >= 8 && attached > 30, "%u refusals, %u successes", refused, attached);
}

int main(void)
{
	test_ring();
	test_training();
	test_flow();
	test_budget();
	test_places();
	test_tap();
	test_memory();
	return tap_done();
}
