// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults inside a fabric: the language of the rules, and what each does to packets, cables and the
 * switch.
 */
#include "../fabric/switch.h"
#include "lib/station.h"
#include "lib/tap.h"

enum { MOST = 4, MS = 1000000 };

static struct fake_world world;
static struct fake_host host;
static struct fabric *fab;
static struct station st[MOST];
static unsigned int stations;
static const struct smp_path to_switch = { .hops = 1 };

static void fire(void *arg)
{
	fabric_fire(arg);
}

static void setup(unsigned int n)
{
	unsigned int i;

	memset(&world, 0, sizeof(world));
	fake_host_init(&host, &world, 0);
	fab = fabric_create(&host.host, "faulty", false);
	host.fire = fire;
	host.arg = fab;
	stations = n;
	for (i = 0; i < n; i++) {
		station_init(&st[i], fabric_attach(fab));
		link_enable(st[i].end, true);
	}
	fake_run(&world, 2 * LINK_TRAIN_NS);
}

static void teardown(const char *what)
{
	unsigned int i;

	for (i = 0; i < stations; i++)
		station_fini(&st[i]);
	fabric_destroy(fab);
	tap_eq(host.live, 0, "%s: all memory is given back", what);
	fake_host_fini(&host);
}

static void give(const char *text)
{
	const char *why = "";

	if (fabric_fault_add(fab, text, &why))
		tap_ok(false, "'%s': %s", text, why);
}

/* Send @n datagrams from the first station; how many have arrived at the second @ns later. */
static unsigned int arrive(unsigned int n, u64 ns)
{
	unsigned int before = st[1].count, i;
	u8 pkt[LINK_MAX_PACKET];

	for (i = 0; i < n; i++)
		link_send(st[0].end, pkt, build_ud(pkt, 1, 2, 100, (u8)i));
	fake_run(&world, ns);
	return st[1].count - before;
}

static void test_language(void)
{
	static const char *const bad[] = {
		"", "in drop", "in:1", "in:99 drop", "in:1/blue drop", "time drop at=5",
		"time down=1", "in:1 drop dup", "in:1 at=5 drop", "in:1 nth=0 drop", "in:1 delay",
		"time at=5 error=1", "time at=5 error=1/blue", "time at=5 route=1", "in:1 drop=5",
		"over:1 drop", "time at=5 times=0 flap=1",
	};
	const char *why;
	unsigned int i, refused = 0;

	setup(2);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		why = NULL;
		refused += fabric_fault_add(fab, bad[i], &why) < 0 && why;
	}
	tap_eq(refused, ARRAY_SIZE(bad), "rules that make no sense are refused");
	for (i = 0; i < 64; i++)
		give("in:1 nth=1000 drop");
	tap_ok(fabric_fault_add(fab, "in:1 drop", &why) < 0, "there are at most 64");
	give("clear");
	give("in:1 drop");
	tap_eq(arrive(2, MS), 1, "one word takes all away");
	teardown("language");
}

static void test_packets(void)
{
	setup(2);
	tap_eq(arrive(3, MS), 3, "three packets over a cable");
	give("in:1/ud nth=2 times=2 drop");
	tap_eq(arrive(5, MS), 3, "the second and third are lost");
	give("in:2/ud drop");
	tap_eq(arrive(2, MS), 2, "a rule for the other side is not theirs");
	give("in:1/rc drop");
	tap_eq(arrive(2, MS), 2, "nor one for another class");
	give("in:0 dup");
	tap_eq(arrive(2, MS), 3, "one comes twice");
	give("in:1 delay=5000000");
	tap_eq(arrive(2, MS), 1, "one is kept back");
	fake_run(&world, 5 * MS);
	tap_eq(arrive(0, MS), 0, "(all has arrived)");
	tap_eq(st[1].count, 3 + 3 + 2 + 2 + 3 + 2, "and comes 5 ms later");
	give("in:1 corrupt");
	tap_eq(arrive(1, MS), 0, "a corrupted one does not arrive");
	tap_eq(fabric_faults_struck(fab), 5, "strikes are counted");
	give("in:1 delay=50000000");
	arrive(1, MS);
	teardown("packets");
}

static void test_cable(void)
{
	setup(2);
	give("time at=20000000 down=1");
	give("time at=40000000 up=1");
	give("time at=100000000 times=2 flap=2");
	fake_run(&world, 30 * MS - world.now);
	tap_ok(!st[0].up && !st[1].up, "a pulled cable: both sides lose their link");
	link_enable(st[0].end, false);
	link_enable(st[0].end, true);
	fake_run(&world, 5 * MS);
	tap_ok(!st[0].up, "training anew does not help");
	fake_run(&world, 60 * MS - world.now);
	tap_ok(st[0].up && st[1].up, "it is plugged in again");
	st[0].downs = 0;
	st[1].downs = 0;
	fake_run(&world, 250 * MS - world.now);
	tap_ok(st[0].up && st[0].downs == 2 && st[1].downs == 2, "two flaps");
	teardown("cable");
}

static void route(u16 lid, u8 port)
{
	u8 block[SMP_DATA_SIZE], info[SMP_DATA_SIZE] = { 0 };

	memset(block, FSW_NO_PORT, sizeof(block));
	block[lid] = port;
	mad_put(info, SI_LINEAR_TOP, 20);
	smp_ask(&world, &st[0], &to_switch, METHOD_SET, ATTR_LINEAR_FDB, 0, block);
	smp_ask(&world, &st[0], &to_switch, METHOD_SET, ATTR_SWITCH_INFO, 0, info);
}

static void activate(unsigned int port)
{
	mad_put(fabric_switch(fab)->port[port].info, PI_PORT_STATE, PORT_ACTIVE);
}

static void test_switch(void)
{
	struct fsw *sw;
	unsigned int i;

	setup(3);
	sw = fabric_switch(fab);
	route(2, 2);
	for (i = 1; i <= 3; i++)
		activate(i);
	tap_eq(arrive(2, MS), 2, "two packets through the switch");
	give("out:2 drop");
	tap_eq(arrive(2, MS), 1, "one is lost on its way out");
	give("in:1 corrupt");
	tap_eq(arrive(1, MS), 0, "a corrupted one");
	tap_eq(sw->port[1].count[CNT_SYMBOL_ERRORS], 1, "counts at the port of the switch");
	give("time at=1 error=3/rcv");
	give("time at=1 mute");
	fake_run(&world, MS);
	tap_eq(sw->port[3].count[CNT_RCV_ERRORS], 1, "an error as asked for");
	tap_ok(!smp_ask(&world, &st[0], &to_switch, METHOD_GET, ATTR_NODE_INFO, 0, NULL),
	       "a mute agent does not answer");
	tap_eq(arrive(1, MS), 1, "but the switch forwards");
	give("time at=1 unmute");
	give("time at=1 route=2/3");
	fake_run(&world, MS);
	tap_ok(smp_ask(&world, &st[0], &to_switch, METHOD_GET, ATTR_NODE_INFO, 0, NULL),
	       "it answers again");
	tap_eq(arrive(1, MS), 0, "a wrong route leads elsewhere");
	for (i = 0; i < 3; i++)
		st[i].downs = 0;
	give("time at=1 restart");
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_ok(st[0].up && st[0].downs == 1 && st[2].up && st[2].downs == 1,
	       "a restart takes every link down and up");
	tap_ok(fsw_route(sw, 2) == FSW_NO_PORT && fsw_port_state(&sw->port[1]) == PORT_INIT,
	       "and the tables and states are gone");
	teardown("switch");
}

int main(void)
{
	test_language();
	test_packets();
	test_cable();
	test_switch();
	return tap_done();
}
