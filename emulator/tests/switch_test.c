// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch: its agents' answers byte by byte as the specification lays them
 * out, directed routes over one and two switches, forwarding, port states,
 * traps, and packets that nobody should send.
 */
#include <stdlib.h>

#include "../fabric/switch.h"
#include "lib/station.h"
#include "lib/tap.h"

enum { STATIONS = 4 };

static struct fake_world world;
static struct fake_host host;
static struct fabric *fab;
static struct fsw *sw;
static struct station st[STATIONS];
static const struct smp_path to_switch = { .hops = 1 };

static void fire(void *arg)
{
	fabric_fire(arg);
}

/* Four ports on a switch, links up. */
static void setup(const char *name)
{
	unsigned int i;

	memset(&world, 0, sizeof(world));
	fake_host_init(&host, &world, 0);
	fab = fabric_create(&host.host, name, true);
	host.fire = fire;
	host.arg = fab;
	for (i = 0; i < STATIONS; i++) {
		station_init(&st[i], fabric_attach(fab));
		link_enable(st[i].end, true);
	}
	fake_run(&world, 2 * LINK_TRAIN_NS);
	sw = fabric_switch(fab);
}

static void teardown(const char *what)
{
	unsigned int i;

	for (i = 0; i < STATIONS; i++)
		station_fini(&st[i]);
	fabric_destroy(fab);
	tap_eq(host.live, 0, "%s: all memory is given back", what);
	fake_host_fini(&host);
}

static const u8 *get(u16 attr, u32 mod)
{
	return smp_ask(&world, &st[0], &to_switch, METHOD_GET, attr, mod, NULL);
}

static const u8 *set(u16 attr, u32 mod, const u8 *data)
{
	return smp_ask(&world, &st[0], &to_switch, METHOD_SET, attr, mod, data);
}

/* MAD status without the direction bit; ~0 if there was no answer. */
static u32 status_of(const u8 *mad)
{
	return mad ? (u32)mad_get(mad, MAD_STATUS) & 0x7fff : ~0u;
}

/* PortInfo that sets the states of an external port and nothing else. */
static u32 set_states(u32 port, u32 state, u32 phys)
{
	u8 data[SMP_DATA_SIZE] = { 0 };

	mad_put(data, PI_PORT_STATE, state);
	mad_put(data, PI_PHYS_STATE, phys);
	return status_of(set(ATTR_PORT_INFO, port, data));
}

static u32 set_lids(u16 lid, u16 sm_lid)
{
	u8 data[SMP_DATA_SIZE] = { 0 };

	mad_put(data, PI_LID, lid);
	mad_put(data, PI_SM_LID, sm_lid);
	mad_put(data, PI_SUBNET_TIMEOUT, 18);
	return status_of(set(ATTR_PORT_INFO, 0, data));
}

/* LIDs 1 to 4 are the stations, 5 is the switch; all ports ACTIVE. */
static void bring_up(void)
{
	u8 lft[SMP_DATA_SIZE], info[SMP_DATA_SIZE] = { 0 };
	unsigned int i;

	memset(lft, FSW_NO_PORT, sizeof(lft));
	lft[5] = 0;
	for (i = 1; i <= STATIONS; i++)
		lft[i] = (u8)i;
	mad_put(info, SI_LINEAR_TOP, 5);
	set_lids(5, 1);
	set(ATTR_SWITCH_INFO, 0, info);
	set(ATTR_LINEAR_FDB, 0, lft);
	for (i = 1; i <= STATIONS; i++) {
		set_states(i, PORT_ARMED, 0);
		set_states(i, PORT_ACTIVE, 0);
	}
	for (i = 0; i < STATIONS; i++)
		station_forget(&st[i]);
}

static bool same(const u8 *mad, const char *hex, const char *what)
{
	u8 want[SMP_DATA_SIZE] = { 0 };
	unsigned int i, n = 0;
	bool good;

	for (; *hex; hex++) {
		unsigned int digit;

		if (*hex == ' ')
			continue;
		digit = *hex <= '9' ? *hex - '0' : *hex - 'a' + 10;
		want[n / 2] = (u8)(want[n / 2] << 4 | digit);
		n++;
	}
	good = tap_ok(mad && !memcmp(mad + SMP_DATA, want, SMP_DATA_SIZE), "%s", what);
	for (i = 0; mad && !good && i < SMP_DATA_SIZE; i++)
		if (mad[SMP_DATA + i] != want[i])
			tap_note("byte %u: got %02x, want %02x", i, mad[SMP_DATA + i], want[i]);
	return good;
}

/* PortInfo: what differs between ports, and around it what does not. */
static void same_port(const u8 *mad, const char *key_prefix, const char *caps, const char *states,
		      const char *speed, const char *guids_times, const char *ext, const char *what)
{
	char text[256];

	/* LIDs; capability, lease; local port, widths; states; LMC, speeds; MTU, SL, VLs */
	snprintf(text, sizeof(text), "%s %s %s %s %s %s %s %s %s %s %s 01", key_prefix, "00000000",
		 caps, "0000 0000 01 03 03 02", states, "00", speed,
		 "40 40 00 08 08 05 10 40 0000 0000 0000", guids_times, "00 0000 00000000 0000",
		 ext);
	same(mad, text, what);
}

static void test_bytes(void)
{
	const u8 *mad;
	char text[129];
	unsigned int i;
	u64 guid;

	setup("bytes");
	guid = sw->guid;
	mad = get(ATTR_NODE_INFO, 0);
	tap_ok(mad && mad_get(mad, MAD_METHOD) == METHOD_GET_RESP && status_of(mad) == 0 &&
	       mad_get(mad, SMP_DIRECTION) == 1 && mad_get(mad, SMP_HOP_POINTER) == 1,
	       "the answer comes back along the path, direction bit set");
	/* base 1, class 1, switch, 36 ports, three GUIDs, 32 P_Keys, device, revision, port, OUI */
	snprintf(text, sizeof(text), "01010224 %016llx%016llx%016llx 0020 fab5 00000001 01 525400",
		 guid, guid, guid);
	same(mad, text, "NodeInfo");
	same(get(ATTR_NODE_DESCRIPTION, 0),
	     "656d756c617465642073776974636820 6279746573", "NodeDescription");
	/* caps c000 0 0400, top 0, defaults 0, life time 18 << 3 | port state change 1 << 2 */
	same(get(ATTR_SWITCH_INFO, 0), "c000 0000 0400 0000 00 00 00 94", "SwitchInfo");
	same_port(get(ATTR_PORT_INFO, 0), "0000000000000000 fe80000000000000",
		  "42004848", "74 52", "47", "01 12 10", "11",
		  "PortInfo of port 0: active, 4X, FDR");
	same_port(get(ATTR_PORT_INFO, 2), "0000000000000000 0000000000000000",
		  "00000000", "72 52", "47", "00 00 00", "11",
		  "PortInfo of a port with a link: INIT, LinkUp");
	same_port(get(ATTR_PORT_INFO, 36), "0000000000000000 0000000000000000",
		  "00000000", "71 22", "17", "00 00 00", "01",
		  "PortInfo of a port without cable: DOWN, Polling");
	snprintf(text, sizeof(text), "%016llx", guid);
	same(get(ATTR_GUID_INFO, 0), text, "GUIDInfo");
	same(get(ATTR_PKEY_TABLE, 0), "ffff", "P_KeyTable");
	same(get(ATTR_SL_TO_VL, 0x0102), "01234567 01234567", "SLtoVLMappingTable");
	for (i = 0; i < 128; i++)
		text[i] = 'f';
	text[128] = 0;
	same(get(ATTR_LINEAR_FDB, 3), text, "LinearForwardingTable: no route at power-on");
	same(get(ATTR_MULTICAST_FDB, 0x10000001), "", "MulticastForwardingTable: nobody");
	teardown("bytes");
}

static void test_refusals(void)
{
	static const struct {
		u8 method;
		u16 attr;
		u32 mod;
		u32 status;
		const char *what;
	} bad[] = {
		{ METHOD_GET, ATTR_SM_INFO, 0, 0x0c, "SMInfo: there is no manager here" },
		{ METHOD_GET, ATTR_NOTICE, 0, 0x0c, "Notice" },
		{ METHOD_GET, 0xff90, 0, 0x0c, "an attribute of a vendor" },
		{ METHOD_SET, ATTR_NODE_INFO, 0, 0x0c, "Set(NodeInfo)" },
		{ 0x03, ATTR_NODE_INFO, 0, 0x08, "a method that SMPs do not have" },
		{ METHOD_GET, ATTR_PORT_INFO, 37, 0x1c, "PortInfo of port 37" },
		{ METHOD_GET, ATTR_LINEAR_FDB, 768, 0x1c, "linear block 768" },
		{ METHOD_GET, ATTR_MULTICAST_FDB, 32, 0x1c, "multicast block 32" },
		{ METHOD_GET, ATTR_MULTICAST_FDB, 0x30000000, 0x1c, "multicast position 3" },
		{ METHOD_GET, ATTR_GUID_INFO, 1, 0x1c, "GUID block 1" },
		{ METHOD_GET, ATTR_PKEY_TABLE, 1, 0x1c, "P_Key block 1" },
		{ METHOD_GET, ATTR_PKEY_TABLE, 0x10000, 0x1c, "P_Key table of an external port" },
		{ METHOD_GET, ATTR_SL_TO_VL, 0x2501, 0x1c, "SL to VL from port 37" },
		{ METHOD_GET, ATTR_VL_ARB, 0x00000001, 0x1c, "VL arbitration block 0" },
		{ METHOD_GET, ATTR_VL_ARB, 0x00050001, 0x1c, "VL arbitration block 5" },
		{ METHOD_GET, ATTR_VL_ARB, 0x00010025, 0x1c, "VL arbitration of port 37" },
	};
	u8 mad[MAD_SIZE], pkt[LINK_MAX_PACKET];
	unsigned int i, before;

	setup("refusals");
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		tap_eq(status_of(smp_ask(&world, &st[0], &to_switch, bad[i].method, bad[i].attr,
					 bad[i].mod, NULL)), bad[i].status, "%s", bad[i].what);
	build_mad(mad, CLASS_SMP_DR, METHOD_GET, ATTR_NODE_INFO, 0, 1);
	mad_put(mad, MAD_CLASS_VERSION, 2);
	before = st[0].nkept;
	link_send(st[0].end, pkt, build_smp(pkt, &to_switch, mad));
	fake_run(&world, 1000);
	tap_ok(st[0].nkept == before + 1 && status_of(smp_of(&st[0].kept[before])) == 0x04,
	       "class version 2: bad version");
	teardown("refusals");
}

static void test_port_states(void)
{
	u8 data[SMP_DATA_SIZE] = { 0 };
	const u8 *mad;

	setup("states");
	tap_eq(set_states(2, PORT_ACTIVE, 0), 0x1c, "INIT to ACTIVE is refused");
	tap_eq(set_states(2, PORT_INIT, 0), 0x1c, "INIT cannot be asked for");
	tap_eq(set_states(2, 5, 0), 0x1c, "state 5 does not exist");
	tap_eq(set_states(2, 0, PHYS_LINK_UP), 0x1c, "LinkUp cannot be asked for");
	tap_eq(fsw_port_state(&sw->port[2]), PORT_INIT, "a refused Set changes nothing");
	tap_eq(set_states(2, PORT_ARMED, 0), 0, "INIT to ARMED");
	tap_eq(set_states(2, PORT_ACTIVE, 0), 0, "ARMED to ACTIVE");
	tap_eq(set_states(2, PORT_ARMED, 0), 0x1c, "ACTIVE to ARMED is refused");
	tap_eq(set_states(2, PORT_DOWN, 0), 0, "Set to DOWN");
	fake_run(&world, LINK_TRAIN_NS / 2);
	tap_ok(!st[1].up && fsw_port_state(&sw->port[2]) == PORT_DOWN, "takes the link away");
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_ok(st[1].up && fsw_port_state(&sw->port[2]) == PORT_INIT, "which trains again to INIT");
	tap_eq(set_states(2, 0, PHYS_DISABLED), 0, "physical state Disabled");
	fake_run(&world, 10 * LINK_TRAIN_NS);
	mad = get(ATTR_PORT_INFO, 2);
	tap_ok(!st[1].up && mad && mad_get(mad + SMP_DATA, PI_PHYS_STATE) == PHYS_DISABLED,
	       "stays down");
	set_states(2, 0, PHYS_POLLING);
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_ok(st[1].up, "Polling brings it back");
	mad_put(data, PI_SPEED_EXT_ENABLED, 0x1e);
	mad_put(data, PI_SPEED_ENABLED, 3);
	mad_put(data, PI_NEIGHBOR_MTU, MTU_4096);
	set(ATTR_PORT_INFO, 2, data);
	set_states(2, 0, PHYS_POLLING);
	fake_run(&world, 2 * LINK_TRAIN_NS);
	mad = get(ATTR_PORT_INFO, 2);
	tap_ok(mad && mad_get(mad + SMP_DATA, PI_SPEED_ACTIVE) == LINK_DDR &&
	       mad_get(mad + SMP_DATA, PI_SPEED_EXT_ACTIVE) == 0 && st[1].speed == LINK_DDR,
	       "a slower enabled speed is what the link comes up with");
	tap_eq(mad_get(mad + SMP_DATA, PI_NEIGHBOR_MTU), MTU_4096, "NeighborMTU is kept");
	memset(data, 0, sizeof(data));
	mad_put(data, PI_WIDTH_ENABLED, WIDTH_1X);
	tap_eq(status_of(set(ATTR_PORT_INFO, 2, data)), 0x1c, "1X only is refused");
	tap_eq(set_lids(0xc000, 1), 0x1c, "a multicast LID for port 0 is refused");
	tap_eq(set_lids(5, 1), 0, "a unicast LID is taken");
	teardown("states");
}

/* Port 3 of the station's path is another station: it gets the SMP with the way back in it. */
static void test_route_through(void)
{
	struct smp_path path = { .hops = 2, .port = { 0, 1, 3 } };
	u8 mad[MAD_SIZE], pkt[LINK_MAX_PACKET];
	const u8 *m;

	setup("through");
	build_mad(mad, CLASS_SMP_DR, METHOD_GET, ATTR_NODE_INFO, 0, 0x77);
	link_send(st[0].end, pkt, build_smp(pkt, &path, mad));
	fake_run(&world, 1000);
	m = st[2].nkept == 1 ? smp_of(&st[2].kept[0]) : NULL;
	tap_ok(m && mad_get(m, SMP_HOP_POINTER) == 2 && m[SMP_RETURN_PATH + 1] == 1,
	       "a neighbour's SMP passes, hop pointer 2, return port noted");
	tap_ok(m && get16(st[2].kept[0].pkt + 2) == LID_PERMISSIVE &&
	       get16(st[2].kept[0].pkt + 6) == LID_PERMISSIVE,
	       "both LIDs permissive");
	if (!m)
		return;
	/* The neighbour's answer: direction bit, hop pointer as the host's stack leaves it. */
	memcpy(pkt, st[2].kept[0].pkt, st[2].kept[0].len);
	memcpy(mad, m, MAD_SIZE);
	mad_put(mad, MAD_METHOD, METHOD_GET_RESP);
	mad_put(mad, SMP_DIRECTION, 1);
	mad[SMP_RETURN_PATH + 2] = 1;
	mad_put(mad, SMP_HOP_POINTER, 2);
	memcpy(pkt + (m - st[2].kept[0].pkt), mad, MAD_SIZE);
	link_send(st[2].end, pkt, st[2].kept[0].len);
	fake_run(&world, 1000);
	m = st[0].nkept == 1 ? smp_of(&st[0].kept[0]) : NULL;
	tap_ok(m && mad_get(m, SMP_HOP_POINTER) == 1 && mad_get(m, MAD_TID) == 0x77,
	       "the answer finds its way back, hop pointer 1");
	teardown("through");
}

static void test_two_switches(void)
{
	struct smp_path far = { .hops = 2, .port = { 0, 1, 36 } };
	struct link_end *a, *b;
	const u8 *mad;
	struct fsw *second;

	setup("two");
	second = fsw_create(&host.host, 0x5254000000002222ull, "second");
	if (!second || !fabric_cable(fab, &a, &b))
		exit(1);
	fsw_plug(sw, 36, a);
	fsw_plug(second, 7, b);
	fake_run(&world, 2 * LINK_TRAIN_NS);
	tap_eq(fsw_port_state(&second->port[7]), PORT_INIT, "two switches have a link");
	mad = smp_ask(&world, &st[0], &far, METHOD_GET, ATTR_NODE_INFO, 0, NULL);
	tap_ok(mad && mad_get(mad + SMP_DATA, NI_NODE_GUID) == second->guid &&
	       mad_get(mad + SMP_DATA, NI_LOCAL_PORT) == 7, "two hops: NodeInfo of the second");
	tap_ok(mad && mad[SMP_RETURN_PATH + 1] == 1 && mad[SMP_RETURN_PATH + 2] == 7,
	       "with both return ports");
	fsw_destroy(second);
	fake_run(&world, 1000);
	tap_eq(fsw_port_state(&sw->port[36]), PORT_DOWN, "a switch that goes takes the link down");
	teardown("two");
}

/* LID routed to the switch, then directed, then LID routed again (14.2.2, combined routes). */
static void test_combined(void)
{
	struct smp_path lid = { .dlid = 5, .slid = 1 };
	u8 mad[MAD_SIZE], pkt[LINK_MAX_PACKET];
	const u8 *m;
	u32 len;

	setup("combined");
	bring_up();
	build_mad(mad, CLASS_SMP_DR, METHOD_GET, ATTR_NODE_INFO, 0, 0x91);
	mad_put(mad, SMP_DR_SLID, 1);
	mad_put(mad, SMP_DR_DLID, LID_PERMISSIVE);
	mad_put(mad, SMP_HOP_COUNT, 1);
	mad_put(mad, SMP_HOP_POINTER, 1);
	len = build_smp(pkt, &lid, mad);
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	m = st[0].nkept ? smp_of(&st[0].kept[0]) : NULL;
	tap_ok(m && mad_get(m, MAD_TID) == 0x91 && status_of(m) == 0,
	       "LID routed to the switch, answered along the path");
	station_forget(&st[0]);
	mad_put(mad, SMP_HOP_COUNT, 0);
	mad_put(mad, SMP_HOP_POINTER, 0);
	mad_put(mad, MAD_TID, 0x92);
	link_send(st[0].end, pkt, build_smp(pkt, &lid, mad));
	fake_run(&world, 1000);
	m = st[0].nkept ? smp_of(&st[0].kept[0]) : NULL;
	tap_ok(m && mad_get(m, MAD_TID) == 0x92 && mad_get(m, SMP_HOP_POINTER) == 0 &&
	       get16(st[0].kept[0].pkt + 2) == 1 && get16(st[0].kept[0].pkt + 6) == 5,
	       "no directed hop at all: answered by LID");
	station_forget(&st[0]);
	mad_put(mad, SMP_DR_SLID, LID_PERMISSIVE);
	mad_put(mad, SMP_DR_DLID, 3);
	mad_put(mad, SMP_HOP_COUNT, 1);
	mad_put(mad, SMP_HOP_POINTER, 1);
	lid.dlid = 0;
	len = build_smp(pkt, &lid, mad);
	memcpy(pkt + len - WIRE_CRC_LEN - MAD_SIZE, mad, MAD_SIZE);
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	m = st[2].nkept ? smp_of(&st[2].kept[0]) : NULL;
	tap_ok(m && mad_get(m, SMP_HOP_POINTER) == 2 && get16(st[2].kept[0].pkt + 2) == 3 &&
	       get16(st[2].kept[0].pkt + 6) == 5, "the route ends and goes on by LID");
	teardown("combined");
}

static void test_forwarding(void)
{
	u8 pkt[LINK_MAX_PACKET], block[SMP_DATA_SIZE] = { 0 };
	u64 *drops, before;
	u32 len;

	setup("forwarding");
	drops = &sw->port[1].count[CNT_RELAY_ERRORS];
	len = build_ud(pkt, 1, 3, 100, 0x33);
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	tap_eq(st[2].count, 0, "no data passes before the ports are active");
	bring_up();
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	tap_ok(st[2].nkept == 1 && st[2].kept[0].len == len &&
	       !memcmp(st[2].kept[0].pkt, pkt, len - WIRE_CRC_LEN), "unicast arrives unchanged");
	tap_ok(!st[1].nkept && !st[3].nkept, "and nowhere else");
	before = *drops;
	link_send(st[0].end, pkt, build_ud(pkt, 1, 6, 100, 0));
	link_send(st[0].end, pkt, build_ud(pkt, 1, 0, 100, 0));
	link_send(st[0].end, pkt, build_ud(pkt, 1, LID_PERMISSIVE, 100, 0));
	fake_run(&world, 1000);
	tap_eq(*drops, before + 3, "no entry, LID 0, permissive data: dropped and counted");
	/* Group c001 to ports 1, 2 and 4: position 0, entry 1. */
	put16(block + 2, 1 << 1 | 1 << 2 | 1 << 4);
	tap_eq(status_of(set(ATTR_MULTICAST_FDB, 0, block)), 0, "multicast entry set");
	station_forget(&st[0]);
	len = build_ud(pkt, 1, 0xc001, 64, 0x44);
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	tap_ok(st[1].nkept == 1 && st[3].nkept == 1 && st[2].nkept == 1,
	       "a multicast packet goes to its group");
	tap_eq(st[0].nkept, 0, "and not back");
	set_states(3, PORT_DOWN, 0);
	fake_run(&world, 2 * LINK_TRAIN_NS);
	before = sw->port[3].count[CNT_XMIT_DISCARDS];
	link_send(st[0].end, pkt, build_ud(pkt, 1, 3, 100, 0));
	fake_run(&world, 1000);
	tap_eq(sw->port[3].count[CNT_XMIT_DISCARDS], before + 1,
	       "a packet for a port that is only in INIT is discarded");
	set_states(3, PORT_ARMED, 0);
	link_send(st[2].end, pkt, build_ud(pkt, 3, 1, 100, 0));
	fake_run(&world, 1000);
	tap_eq(fsw_port_state(&sw->port[3]), PORT_ACTIVE, "data that comes in activates ARMED");
	teardown("forwarding");
}

/* The switch holds nothing and loses nothing: senders wait when a port is slow. */
static void test_no_loss(void)
{
	u8 pkt[LINK_MAX_PACKET];
	unsigned int sent = 0, rounds = 0, busy = 0, i;
	u64 lost = 0;

	setup("no loss");
	bring_up();
	while (sent < 900 && rounds++ < 100000) {
		for (i = 0; i < 3; i++) {
			u32 len = build_ud(pkt, (u16)(i + 1), 4, 2048, (u8)sent);

			if (link_send(st[i].end, pkt, len) == LINK_OK)
				sent++;
			else
				busy++;
		}
		if (rounds % 200 == 0)
			fake_next(&world, 0);
	}
	fake_run(&world, 1000000);
	for (i = 1; i <= STATIONS; i++)
		lost += sw->port[i].count[CNT_XMIT_DISCARDS];
	tap_eq(st[3].count, sent, "three senders, one receiver: all %u packets arrive", sent);
	tap_ok(busy > 100, "although they had to wait %u times", busy);
	tap_eq(lost, 0, "nothing was discarded");
	teardown("no loss");
}

static void test_counters(void)
{
	u8 mad[MAD_SIZE], pkt[LINK_MAX_PACKET];
	struct wire_pkt w = {
		.lnh = WIRE_LNH_IBA, .dlid = 5, .slid = 1, .opcode = WIRE_UD << 5 | OP_SEND_ONLY,
		.pkey = 0xffff, .dqpn = 1, .sqpn = 1, .qkey = (u32)QKEY_GSI, .len = MAD_SIZE,
	};
	const u8 *m;
	unsigned int i;
	u32 len;

	setup("counters");
	bring_up();
	for (i = 0; i < 10; i++)
		link_send(st[1].end, pkt, build_ud(pkt, 2, 3, 100, 0));
	fake_run(&world, 1000);
	station_forget(&st[0]);
	build_mad(mad, CLASS_PERF, METHOD_GET, ATTR_PERF_COUNTERS_EXT, 0, 5);
	mad_put(mad + PMA_DATA, PCX_PORT, 3);
	len = wire_build(pkt, &w);
	memcpy(pkt + w.hdr, mad, MAD_SIZE);
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	m = st[0].nkept ? smp_of(&st[0].kept[0]) : NULL;
	tap_ok(m && status_of(m) == 0 && mad_get(m + PMA_DATA, PCX_XMIT_PKTS) == 10 &&
	       mad_get(m + PMA_DATA, PCX_UNICAST_XMIT) == 10, "PortCountersExtended: 10 packets");
	/* LRH 8, BTH 12, DETH 8, 100 bytes, ICRC 4: 132 octets, 33 words */
	tap_eq(m ? mad_get(m + PMA_DATA, PCX_XMIT_DATA) : 0, 330, "33 words each");
	station_forget(&st[0]);
	build_mad(mad, CLASS_PERF, METHOD_SET, ATTR_PERF_COUNTERS, 0, 6);
	mad_put(mad + PMA_DATA, PC_PORT, 3);
	mad_put(mad + PMA_DATA, PC_SELECT, 1 << 14);
	memcpy(pkt + w.hdr, mad, MAD_SIZE);
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	m = st[0].nkept ? smp_of(&st[0].kept[0]) : NULL;
	tap_ok(m && mad_get(m + PMA_DATA, PC_XMIT_PKTS) == 0 &&
	       mad_get(m + PMA_DATA, PC_XMIT_DATA) == 330, "Set clears what it selects, no more");
	tap_eq(sw->port[3].count[CNT_XMIT_PKTS] - sw->port[3].base[1][CNT_XMIT_PKTS], 10,
	       "the extended counter runs on");
	station_forget(&st[0]);
	put32(pkt + 20, 0x12345678);
	link_send(st[0].end, pkt, len);
	fake_run(&world, 1000);
	tap_eq(st[0].nkept, 0, "a wrong Q_Key gets no answer");
	teardown("counters");
}

static unsigned int traps(const struct station *s, u64 *tid)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->nkept; i++) {
		const u8 *m = smp_of(&s->kept[i]);

		if (!m || mad_get(m, MAD_METHOD) != METHOD_TRAP ||
		    mad_get(m, MAD_ATTR_ID) != ATTR_NOTICE)
			continue;
		n += mad_get(m + SMP_DATA, NOTICE_TRAP) == 128 &&
		     mad_get(m + SMP_DATA, NOTICE_GENERIC) == 1 &&
		     mad_get(m + SMP_DATA, NOTICE_LID) == 5 &&
		     mad_get(m + SMP_DATA, NOTICE_PRODUCER) == 2;
		*tid = mad_get(m, MAD_TID);
	}
	return n;
}

static void test_trap(void)
{
	struct smp_path lid = { .dlid = 5, .slid = 1 };
	u8 mad[MAD_SIZE], pkt[LINK_MAX_PACKET], info[SMP_DATA_SIZE] = { 0 };
	const u8 *m;
	u64 tid = 0;

	setup("trap");
	tap_eq(traps(&st[0], &tid), 0, "no trap without a manager's LID");
	bring_up();
	mad_put(info, SI_LINEAR_TOP, 5);
	mad_put(info, SI_PORT_STATE_CHANGE, 1);
	m = set(ATTR_SWITCH_INFO, 0, info);
	tap_eq(m ? mad_get(m + SMP_DATA, SI_PORT_STATE_CHANGE) : 9, 0,
	       "writing one to PortStateChange clears it");
	station_forget(&st[0]);
	link_enable(st[1].end, false);
	fake_run(&world, 1000);
	tap_eq(traps(&st[0], &tid), 1, "a lost link: trap 128");
	m = get(ATTR_SWITCH_INFO, 0);
	tap_eq(m ? mad_get(m + SMP_DATA, SI_PORT_STATE_CHANGE) : 9, 1, "and PortStateChange");
	fake_run(&world, 3ull * (4096ull << 18));
	tap_eq(traps(&st[0], &tid), 4, "repeated after each subnet timeout");
	build_mad(mad, CLASS_SMP_LID, METHOD_TRAP_REPRESS, ATTR_NOTICE, 0, tid);
	link_send(st[0].end, pkt, build_smp(pkt, &lid, mad));
	fake_run(&world, 20ull * (4096ull << 18));
	tap_eq(traps(&st[0], &tid), 4, "until it is repressed");
	station_forget(&st[0]);
	link_enable(st[1].end, true);
	fake_run(&world, 100ull * (4096ull << 18));
	tap_eq(traps(&st[0], &tid), 8, "a manager that never answers: eight times in all");
	tap_ok(tid == 2, "the second trap has its own transaction");
	teardown("trap");
}

static void test_mkey(void)
{
	u8 data[SMP_DATA_SIZE] = { 0 };
	const u8 *m;

	setup("mkey");
	mad_put(data, PI_LID, 5);
	mad_put(data, PI_M_KEY, 0x1234);
	mad_put(data, PI_M_KEY_PROTECT, 1);
	tap_eq(status_of(set(ATTR_PORT_INFO, 0, data)), 0, "an M_Key is set");
	m = get(ATTR_PORT_INFO, 0);
	tap_eq(m ? mad_get(m + SMP_DATA, PI_M_KEY) : 9, 0, "protection 1: Get hides it");
	tap_ok(!set(ATTR_PORT_INFO, 0, data), "a Set without the key gets no answer");
	m = get(ATTR_PORT_INFO, 0);
	tap_eq(m ? mad_get(m + SMP_DATA, PI_M_KEY_VIOLATIONS) : 9, 1, "and is counted");
	mad_put(sw->port[0].info, PI_M_KEY_PROTECT, 2);
	tap_ok(!get(ATTR_NODE_INFO, 0), "protection 2: Get without the key gets no answer");
	teardown("mkey");
}

/* Whatever comes in: no crash, no write beyond a table, and the switch goes on working. */
static void test_hostile(void)
{
	u8 pkt[LINK_MAX_PACKET], mad[MAD_SIZE];
	unsigned int i, j, round;
	const u8 *m;
	u32 len;

	setup("hostile");
	bring_up();
	srand(7);
	for (round = 0; round < 200000; round++) {
		build_mad(mad, round & 1 ? CLASS_SMP_DR : CLASS_SMP_LID, (u8)(rand() % 8),
			  (u16)(0x10 + rand() % 18), (u32)rand() & (round & 2 ? 0xffffffff : 0xff),
			  round);
		for (j = MAD_SIZE / 4; j < MAD_SIZE; j++)
			mad[j] = (u8)rand();
		len = build_smp(pkt, &to_switch, mad);
		if (round % 3 == 0)
			for (j = 0; j < 4; j++)
				pkt[rand() % len] = (u8)rand();
		if (round % 5 == 0)
			pkt[len - WIRE_CRC_LEN - MAD_SIZE + 6 + rand() % 2] = (u8)rand();
		if (round % 7 == 0)
			len = 14 + rand() % 600;
		link_send(st[rand() % STATIONS].end, pkt, len);
		if (round % 32 == 0)
			fake_run(&world, 1000);
	}
	fake_run(&world, 1000000);
	for (i = 0; i <= FSW_PORTS; i++)
		mad_put(sw->port[i].info, PI_PHYS_STATE, PHYS_POLLING);
	mad_put(sw->port[0].info, PI_M_KEY, 0);
	for (i = 0; i < STATIONS; i++) {
		link_enable(sw->port[i + 1].end, false);
		link_enable(sw->port[i + 1].end, true);
		station_forget(&st[i]);
	}
	fake_run(&world, 10 * LINK_TRAIN_NS);
	m = get(ATTR_NODE_INFO, 0);
	tap_ok(m && mad_get(m + SMP_DATA, NI_NUM_PORTS) == FSW_PORTS,
	       "after 200000 hostile SMPs the switch still answers");
	teardown("hostile");
}

int main(void)
{
	test_bytes();
	test_refusals();
	test_port_states();
	test_route_through();
	test_two_switches();
	test_combined();
	test_forwarding();
	test_no_loss();
	test_counters();
	test_trap();
	test_mkey();
	test_hostile();
	return tap_done();
}
