// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports: link and logical states, their events, and the management agents behind MAD_IFC.
 */
#include "../model/port.h"
#include "lib/bare.h"
#include "lib/tap.h"

static struct rig rig;
static struct rig_hca *p;
static u8 mad[256];

/* One MAD through MAD_IFC; the command's status. The answer is in mad[]. */
static u8 ask_raw(u8 op_mod, u8 class, u8 method, u16 attr, u32 mod)
{
	u8 st;

	mad[0] = 1;
	mad[1] = class;
	mad[2] = 1;
	mad[3] = method;
	put16(mad + 4, 0);
	put64(mad + 8, 0x1122334455667788ull);
	put16(mad + 16, attr);
	put32(mad + 20, mod);
	st = rig_cmd_try(p, OP_MAD_IFC, op_mod, 1, mad, sizeof(mad), 0, NULL);
	memcpy(mad, rig_out(p), sizeof(mad));
	return st;
}

static u16 ask(u8 class, u8 method, u16 attr, u32 mod)
{
	u8 st = ask_raw(3, class, method, attr, mod);

	return st ? 0xff00 | st : get16(mad + 4);
}

static u16 get_smp(u16 attr, u32 mod)
{
	memset(mad, 0, sizeof(mad));
	return ask(1, 1, attr, mod);
}

static void test_node(void)
{
	rig_up(&rig);
	p = &rig.h[0];
	tap_eq(get_smp(0x11, 0), 0, "NodeInfo");
	tap_ok(mad[3] == 0x81 && get64(mad + 8) == 0x1122334455667788ull, "is a response to mine");
	tap_ok(mad[66] == 1 && mad[67] == 2, "of a channel adapter with two ports");
	tap_eq(get64(mad + 64 + 20), get64(mad + 64 + 12) + 1, "port 1's GUID follows the node's");
	tap_eq(get16(mad + 64 + 30), 0x1003, "device id");
	tap_eq(get_smp(0x12, 0), 0x000c, "SwitchInfo is refused");
	tap_eq(get_smp(0x20, 0), 0x000c, "SMInfo is not ours to answer");
	tap_eq(ask(1, 2, 0x11, 0), 0x000c, "NodeInfo cannot be set");
	tap_eq(ask(0x81, 1, 0x11, 0), 0, "a directed-route SMP: status without the D bit");
	tap_eq(ask_raw(3, 1, 7, 2, 0), CX3_OK, "TrapRepress is taken and has no answer");
	tap_eq(ask(1, 9, 0x11, 0), 0x0008, "no such method");
	mad[0] = 0;
	memset(mad, 0, sizeof(mad));
	memcpy(mad, "LastRef test node", 17);
	rig_cmd(p, OP_SET_NODE, 0, 1, mad, 64, 0);
	tap_eq(get_smp(0x10, 0), 0, "NodeDescription");
	tap_ok(!strcmp((char *)mad + 64, "LastRef test node"), "as SET_NODE left it");
	tap_eq(get_smp(0xff90, 1), 0, "the vendor's extended PortInfo");
	tap_eq(rig_cmd_try(p, OP_MAD_IFC, 3, 3, mad, 256, 0, NULL), CX3_BAD_INDEX, "port 3");
	rig_down(&rig);
}

static unsigned int port_events(u8 subtype)
{
	unsigned int i, n = 0;

	rig_events(p);
	for (i = 0; i < p->nevents; i++)
		n += p->event[i].type == CX3_EV_PORT_CHANGE && p->event[i].subtype == subtype;
	return n;
}

static u8 state_now(void)
{
	get_smp(0x15, 1);
	return mad[64 + 32] & 0xf;
}

/* Set(PortInfo) with a logical and a physical state, everything else as it is. */
static u16 set_state(u8 state, u8 phys)
{
	get_smp(0x15, 1);
	mad[64 + 32] = (mad[64 + 32] & 0xf0) | state;
	mad[64 + 33] = (u8)(phys << 4 | (mad[64 + 33] & 0xf));
	return ask(1, 2, 0x15, 1);
}

static void test_states(void)
{
	rig_up(&rig);
	p = &rig.h[0];
	tap_eq(state_now(), 4, "the rig's port is active");
	tap_eq(mad[64 + 33] >> 4, 5, "its link is up");
	tap_ok(mad[64 + 31] == 2 && mad[64 + 62] >> 4 == 1, "4X FDR");
	tap_eq(set_state(1, 0), 0, "set to DOWN");
	tap_eq(state_now(), 1, "is down");
	tap_eq(port_events(1), 1, "and says so");
	rig_run(&rig, 5 * LINK_TRAIN_NS);
	tap_eq(state_now(), 2, "comes back to INIT by itself");
	tap_eq(port_events(4), 0, "without an event");
	tap_eq(set_state(4, 0), 0x001c, "not from INIT to ACTIVE");
	tap_eq(state_now(), 2, "nothing changed");
	tap_eq(set_state(3, 0), 0, "ARMED");
	tap_eq(set_state(3, 0), 0, "again");
	tap_eq(set_state(4, 0), 0, "ACTIVE");
	tap_eq(port_events(4), 1, "one event");
	tap_eq(set_state(0, 3), 0, "physically disabled");
	rig_run(&rig, 5 * LINK_TRAIN_NS);
	tap_eq(state_now(), 1, "stays down");
	tap_eq(mad[64 + 33] >> 4, 3, "disabled");
	tap_eq(set_state(0, 2), 0, "polling");
	rig_run(&rig, 5 * LINK_TRAIN_NS);
	tap_eq(state_now(), 2, "up again");
	rig_cmd(p, OP_CLOSE_PORT, 0, 1, NULL, 0, 0);
	rig_cmd(p, OP_CLOSE_PORT, 0, 1, NULL, 0, 0);
	tap_eq(state_now(), 1, "CLOSE_PORT, twice");
	rig_cmd(p, OP_INIT_PORT, 0, 1, NULL, 0, 0);
	rig_run(&rig, 5 * LINK_TRAIN_NS);
	tap_eq(state_now(), 2, "INIT_PORT");
	rig_down(&rig);
}

/* The last event 0x1d: its parameters start at byte 8 of the entry. */
static u8 *last_mgmt(u8 subtype)
{
	u32 i;

	for (i = p->eq_ci + 64; i-- > 0;) {
		u8 *e = rig_buf_at(p, &p->eq, (i & 1023) * 32);

		if (e[1] == CX3_EV_PORT_MGMT && e[3] == subtype && e[7] == 1)
			return e;
	}
	return NULL;
}

static void test_changes(void)
{
	u8 *e;

	rig_up(&rig);
	p = &rig.h[0];
	get_smp(0x15, 1);
	put16(mad + 64 + 16, 77);
	put16(mad + 64 + 18, 5);
	mad[64 + 32] &= 0xf0;
	mad[64 + 33] &= 0x0f;
	mad[64 + 51] |= 0x80;
	tap_eq(ask(1, 2, 0x15, 1), 0, "Set(PortInfo) with LID, SM LID and reregister");
	e = last_mgmt(MGMT_PORT_INFO);
	tap_ok(e && get16(e + 8) == 5 && get16(e + 10) == 77, "an event tells both");
	tap_eq(e ? get32(e + 12) : 0, CHANGED_LID | CHANGED_SM_LID | CHANGED_REREGISTER,
	       "and what changed");
	tap_ok(cx3_port_is_mine(&p->hca->port[0], 77), "the port has the LID");
	get_smp(0x15, 1);
	tap_eq(mad[64 + 51] & 0x80, 0, "the reregister bit does not stay");
	put16(mad + 64 + 16, 0xc001);
	tap_eq(ask(1, 2, 0x15, 1), 0x001c, "a multicast LID is refused");
	get_smp(0x16, 0);
	tap_eq(get16(mad + 64), 0xffff, "the default P_Key");
	put16(mad + 64 + 2 * 7, 0x8123);
	tap_eq(ask(1, 2, 0x16, 0), 0, "Set(P_KeyTable)");
	e = last_mgmt(MGMT_PKEY_TABLE);
	tap_ok(e && !get32(e + 8) && get32(e + 12) == 1 << 7, "an event names the entry");
	tap_eq(cx3_port_find_pkey(&p->hca->port[0], 0x0123), 7, "a limited member is let in");
	tap_eq(cx3_port_find_pkey(&p->hca->port[0], 0x8124), -1, "a stranger is not");
	tap_eq(get_smp(0x16, 4), 0x001c, "no fifth block");
	get_smp(0x14, 0);
	put64(mad + 64, 0x666);
	put64(mad + 72, 0x777);
	tap_eq(ask(1, 2, 0x14, 0), 0, "Set(GUIDInfo)");
	tap_ok(p->hca->port[0].guid[0] != 0x666 && p->hca->port[0].guid[1] == 0x777,
	       "changes all but the first");
	e = last_mgmt(MGMT_GUID_INFO);
	tap_ok(e && get32(e + 12) == 2, "an event names the entry");
	get_smp(0x17, 0);
	memset(mad + 64, 0x33, 8);
	tap_eq(ask(1, 2, 0x17, 0), 0, "Set(SLtoVL)");
	tap_eq(cx3_port_vl(&p->hca->port[0], 5), 3, "SL 5 goes to VL 3");
	get_smp(0x18, 3 << 16);
	mad[65] = 9;
	ask(1, 2, 0x18, 3 << 16);
	get_smp(0x18, 3 << 16);
	tap_eq(mad[65], 9, "VLArbitration keeps what was set");
	tap_eq(get_smp(0x18, 2 << 16), 0x001c, "it has no upper half");
	rig_down(&rig);
}

static void test_mkey(void)
{
	rig_up(&rig);
	p = &rig.h[0];
	get_smp(0x15, 1);
	put64(mad + 64, 0xabc);
	mad[64 + 32] &= 0xf0;
	mad[64 + 33] &= 0x0f;
	mad[64 + 34] = 0x80 | (mad[64 + 34] & 7);
	tap_eq(ask(1, 2, 0x15, 1), 0, "an M_Key with protection 2");
	memset(mad, 0, sizeof(mad));
	tap_eq(ask_raw(2, 1, 1, 0x15, 1), CX3_BAD_PKT, "without it a Get is dropped");
	tap_eq(p->hca->port[0].mkey_violations, 1, "and counted");
	memset(mad, 0, sizeof(mad));
	put64(mad + 24, 0xabc);
	tap_eq(ask_raw(2, 1, 1, 0x15, 1), 0, "with it one passes");
	memset(mad, 0, sizeof(mad));
	tap_eq(ask_raw(3, 1, 1, 0x15, 1), 0, "the node's own driver needs none");
	rig_down(&rig);
}

static void test_counters(void)
{
	struct cx3_port_counters *c;

	rig_up(&rig);
	p = &rig.h[0];
	c = &p->hca->port[0].cnt;
	memset(c, 0, sizeof(*c));
	c->xmit_data = 0x123456789ull;
	c->rcv_pkts = 1000;
	c->symbol = 70000;
	c->multi_rcv = 5;
	memset(mad, 0, sizeof(mad));
	mad[65] = 1;
	tap_eq(ask(4, 1, 0x12, 0), 0, "PortCounters");
	tap_eq(get32(mad + 64 + 24), 0xffffffff, "a counter stops at its largest value");
	tap_eq(get16(mad + 64 + 4), 0xffff, "a short one, too");
	tap_eq(get32(mad + 64 + 36), 1000, "packets");
	memset(mad, 0, sizeof(mad));
	mad[65] = 1;
	put16(mad + 66, 1 << 12);
	tap_eq(ask(4, 2, 0x12, 0), 0, "one counter is cleared");
	c->xmit_data += 3;
	memset(mad, 0, sizeof(mad));
	mad[65] = 1;
	ask(4, 1, 0x12, 0);
	tap_eq(get32(mad + 64 + 24), 3, "counts from 0");
	tap_eq(get32(mad + 64 + 36), 1000, "the others stay");
	memset(mad, 0, sizeof(mad));
	mad[65] = 1;
	tap_eq(ask(4, 1, 0x1d, 0), 0, "PortCountersExtended");
	tap_eq(get64(mad + 64 + 8), 0x12345678cull, "have all bits, and a life of their own");
	tap_eq(get64(mad + 64 + 64), 5, "multicast");
	mad[65] = 2;
	tap_eq(ask(4, 1, 0x12, 0), 0x001c, "another port");
	tap_eq(ask(4, 1, 1, 0), 0, "ClassPortInfo");
	tap_ok(get16(mad + 66) & 0x200, "says that there are extended counters");
	tap_eq(ask(4, 1, 0x99, 0), 0x000c, "no such attribute");
	rig_down(&rig);
}

static void test_set_port(void)
{
	u8 m[256] = { 0 };

	rig_up(&rig);
	p = &rig.h[0];
	put32(m, 1 << 21 | 15 << 4);
	tap_eq(rig_cmd_try(p, OP_SET_PORT, 0, 1, m, 256, 0, NULL), CX3_EXCEED_LIM, "15 VLs");
	put32(m, 1 << 22 | 1 << 21 | 4 << 12 | 4 << 4);
	put32(m + 4, 0x02514868 | 2);
	p->hca->port[0].qkey_violations = 3;
	tap_eq(rig_cmd_try(p, OP_SET_PORT, 0, 1, m, 256, 0, NULL), 0, "4 VLs, MTU 2048, IsSM");
	get_smp(0x15, 1);
	tap_ok(mad[64 + 37] >> 4 == 3 && (mad[64 + 41] & 0xf) == 4, "PortInfo shows them");
	tap_eq(get32(mad + 64 + 20), 0x0251486a, "and the mask");
	tap_eq(get16(mad + 64 + 48), 3, "violations stay");
	put32(m, 1);
	rig_cmd(p, OP_SET_PORT, 0, 1, m, 256, 0);
	get_smp(0x15, 1);
	tap_eq(get16(mad + 64 + 48), 0, "until they are cleared");
	tap_eq(rig_cmd_try(p, OP_SET_PORT, 1, 1, m, 256, 0, NULL), CX3_BAD_OP, "not for Ethernet");
	rig_down(&rig);
}

/* Port 1 comes up as Ethernet, port 2 can be nothing else. */
static void test_ethernet(void)
{
	u8 m[256] = { 0 };

	rig_up(&rig);
	p = &rig.h[0];
	p->hca->cfg.eth_ports = 1;
	p->hca->cfg.eth_only = 2;
	p->hca->port[0].ethernet = true;
	p->hca->port[1].ethernet = true;
	rig_cmd(p, OP_QUERY_PORT, 0, 1, NULL, 0, 0);
	tap_eq(rig_out(p)[0] & 0x1f, 0x0b, "it can be both, and is Ethernet");
	rig_cmd(p, OP_QUERY_PORT, 0, 2, NULL, 0, 0);
	tap_eq(rig_out(p)[0] & 0x1f, 0x0a, "the other one can only be that");
	tap_eq(get_smp(0x15, 1), 0xff00 | CX3_BAD_PARAM, "an Ethernet port has no agent");
	tap_eq(rig_cmd_try(p, OP_INIT_PORT, 0, 1, NULL, 0, 0, NULL), CX3_BAD_PARAM,
	       "nor an InfiniBand link");
	tap_eq(rig_cmd_try(p, OP_SET_PORT, 0, 2, m, 256, 0, NULL), CX3_BAD_PARAM,
	       "it stays what it is");
	tap_eq(rig_cmd_try(p, OP_SET_PORT, 0, 1, m, 256, 0, NULL), 0, "or is set to InfiniBand");
	tap_eq(get_smp(0x15, 1), 0, "and has one then");
	rig_down(&rig);
}

int main(void)
{
	test_node();
	test_states();
	test_changes();
	test_mkey();
	test_counters();
	test_set_port();
	test_ethernet();
	return tap_done();
}
