// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and the command interface, from reset to INIT_HCA and back; answers to nonsense.
 */
#include "lib/bare.h"
#include "lib/tap.h"

#define GO 0x800000u
#define EVENT 0x400000u
#define TOGGLE 0x200000u

static struct fake_world world;
static struct rig_hca h;

static void test_registers(void)
{
	bare_up(&world, &h, NULL);
	tap_eq(bare_read32(&h, 0x8069c), 0, "the owner semaphore is free at first");
	tap_eq(bare_read32(&h, 0x8069c), 1, "and taken by reading");
	rig_mmio32(&h, 0, 0x8069c, 0);
	tap_eq(bare_read32(&h, 0x8069c), 0, "writing 0 releases it");
	tap_eq(bare_read32(&h, 0xf03fc), 0, "the reset semaphore is free");
	tap_ok(bare_read32(&h, 0xf03fc), "and taken by reading");
	rig_mmio32(&h, 0, 0xf0010, 1);
	tap_eq(bare_read32(&h, 0xf03fc), 0, "a reset releases it");
	tap_ok(bare_read32(&h, 0x8069c), "and leaves the owner semaphore");
	tap_eq(bare_read32(&h, BARE_HCR + 0x18), 0, "after a reset GO and T are 0");
	tap_eq(bare_read32(&h, 0xf3000), 0, "the error buffer reads 0");
	tap_eq(h.host.violations, 0, "nothing of that is a violation");
	tap_eq(cx3_bar_read(h.hca, 0, 0x1234, 4), 0, "no register there");
	tap_ok(bare_violated(&h, "mmio"), "and it is said so");
	cx3_bar_write(h.hca, 0, BARE_HCR, 1, 8);
	cx3_bar_write(h.hca, 0, BARE_HCR + 1, 1, 4);
	tap_eq(cx3_violations(h.hca, NULL, NULL), 3, "wrong sizes and places count");
	bare_down(&h);
}

static void test_query_fw(void)
{
	u8 *o;

	bare_up(&world, &h, NULL);
	rig_cmd(&h, OP_QUERY_FW, 0, 0, NULL, 0, 0);
	o = rig_out(&h);
	tap_ok(get16(o + 2) == 2 && get16(o + 4) == 5000 && get16(o + 6) == 42,
	       "firmware 2.42.5000, subminor first");
	tap_eq(get16(o), 256, "pages for the firmware area");
	tap_eq(get16(o + 0x0a), 3, "command interface revision 3");
	tap_eq(bare_read32(&h, BARE_HCR + 0x18) & (GO | TOGGLE), TOGGLE, "GO is cleared, T kept");
	rig_cmd(&h, OP_QUERY_FW, 0, 0, NULL, 0, 0);
	tap_eq(bare_read32(&h, BARE_HCR + 0x18) & (GO | TOGGLE), 0, "the other toggle, too");
	bare_down(&h);
}

static void test_phases(void)
{
	bare_up(&world, &h, NULL);
	tap_eq(rig_cmd_try(&h, OP_RUN_FW, 0, 0, NULL, 0, 0, NULL), CX3_BAD_SYS_STATE,
	       "RUN_FW before MAP_FA");
	tap_eq(rig_cmd_try(&h, OP_QUERY_DEV_CAP, 0, 0, NULL, 0, 0, NULL), CX3_BAD_SYS_STATE,
	       "QUERY_DEV_CAP before RUN_FW");
	tap_eq(h.host.violations, 2, "each is a violation");
	tap_eq(bare_map(&h, OP_MAP_FA, 0, 0x2000000, 7), 0, "half of the firmware area");
	tap_eq(rig_cmd_try(&h, OP_RUN_FW, 0, 0, NULL, 0, 0, NULL), CX3_BAD_SYS_STATE,
	       "RUN_FW with too little memory");
	tap_eq(bare_map(&h, OP_MAP_FA, 0, 0x2080000, 7), 0, "the other half");
	tap_eq(rig_cmd_try(&h, OP_RUN_FW, 0, 0, NULL, 0, 0, NULL), 0, "RUN_FW");
	tap_eq(rig_cmd_try(&h, OP_QUERY_DEV_CAP, 0, 0, NULL, 0, 0, NULL), 0, "QUERY_DEV_CAP");
	tap_eq(rig_cmd_try(&h, OP_NOP, 0, 0, NULL, 0, 0, NULL), CX3_BAD_SYS_STATE,
	       "NOP before INIT_HCA");
	tap_eq(rig_cmd_try(&h, 0x0ee, 0, 0, NULL, 0, 0, NULL), CX3_BAD_OP, "no such command");
	tap_eq(rig_cmd_try(&h, OP_MOD_STAT_CFG, 7, 0, NULL, 0, 0, NULL), CX3_BAD_OP,
	       "no such opcode modifier");
	tap_eq(rig_cmd_try(&h, OP_QUERY_PORT, 0, 3, NULL, 0, 0, NULL), CX3_BAD_INDEX, "no port 3");
	tap_eq(rig_cmd_try(&h, OP_UNMAP_FA, 0, 0, NULL, 0, 0, NULL), 0, "UNMAP_FA");
	h.host.violations = 0;
	tap_eq(rig_cmd_try(&h, OP_QUERY_DEV_CAP, 0, 0, NULL, 0, 0, NULL), CX3_BAD_SYS_STATE,
	       "nothing after it");
	tap_ok(bare_violated(&h, "after-end"), "the driver said it was finished");
	bare_down(&h);
}

static void test_mailboxes(void)
{
	u64 dummy;

	bare_up(&world, &h, NULL);
	tap_eq(rig_cmd_try(&h, OP_QUERY_FW, 0, 0, NULL, 0, 0, &dummy), CX3_BAD_PARAM,
	       "no output mailbox");
	bare_fw(&h);
	tap_eq(rig_cmd_try(&h, OP_INIT_HCA, 0, 0, NULL, 0, 0, NULL), CX3_BAD_PARAM,
	       "no input mailbox");
	bare_post(&h, GO | OP_INIT_HCA, 0, 0x10, 0, 0);
	tap_eq(bare_read32(&h, BARE_HCR + 0x18) >> 24, CX3_INTERNAL_ERR,
	       "a mailbox outside of memory");
	tap_ok(bare_violated(&h, "dma-fault"), "is a fault");
	cx3_set_bus_master(h.hca, false);
	tap_eq(rig_cmd_try(&h, OP_QUERY_FW, 0, 0, NULL, 0, 0, NULL), CX3_INTERNAL_ERR,
	       "no bus mastering");
	tap_ok(bare_violated(&h, "dma-no-master"), "is a violation");
	tap_eq(h.host.bad_dma, 1, "and nothing went to the bus");
	bare_down(&h);
}

static void test_dev_cap(void)
{
	static const u8 size_at[] = { 0x82, 0x84, 0x86, 0x88, 0x8a, 0x8c, 0x8e, 0x90, 0x92 };
	u32 i, v, good = 0;
	u64 flags;
	u8 *o;

	bare_up(&world, &h, NULL);
	bare_fw(&h);
	rig_cmd(&h, OP_QUERY_DEV_CAP, 0, 0, NULL, 0, 0);
	o = rig_out(&h);
	for (i = 0; i < ARRAY_SIZE(size_at); i++) {
		v = get16(o + size_at[i]);
		good += v >= 8 && !(v & (v - 1));
	}
	tap_eq(good, ARRAY_SIZE(size_at), "entry sizes are powers of two");
	tap_eq(o[0x37], 0x82, "two ports, eight VLs");
	flags = get64(o + 0x40);
	tap_ok(flags & 1 && flags & 8 && flags >> 59 & 1, "RC, XRC and the port event");
	tap_eq(get16(o + 0x26) & 0xfff, 0, "no system EQs");
	tap_eq(get64(o + 0xa0), CX3_BIT(36), "ICM space");
	tap_eq(1u << o[0x49] << 20, cx3_bar2_size(&h.hca->cfg) / 2,
	       "BAR2 has UARs and as many BlueFlame pages");
	bare_down(&h);
}

static void clear_caps(struct cx3_config *cfg)
{
	cfg->caps_clear = 8;
	cfg->caps_set = CX3_BIT(48);
	cfg->nports = 1;
	cfg->blueflame = false;
}

static void test_properties(void)
{
	struct cx3_config cfg;
	const char *why = NULL;
	u64 flags;

	bare_up(&world, &h, clear_caps);
	bare_fw(&h);
	rig_cmd(&h, OP_QUERY_DEV_CAP, 0, 0, NULL, 0, 0);
	flags = get64(rig_out(&h) + 0x40);
	tap_ok(!(flags & 8) && flags >> 48 & 1, "flags follow the properties");
	tap_eq(rig_out(&h)[0x37] & 0xf, 1, "one port");
	tap_eq(rig_out(&h)[0x4c], 0, "no BlueFlame");
	cx3_config_init(&cfg);
	cfg.pkeys = 17;
	tap_ok(!cx3_create(&h.host.host, &cfg, &why), "a bad property is refused");
	tap_ok(why && strstr(why, "P_Key"), "with the reason");
	bare_down(&h);
}

static void test_adapter(void)
{
	char id[17] = { 0 };
	u32 i;

	bare_up(&world, &h, NULL);
	bare_fw(&h);
	rig_cmd(&h, OP_QUERY_ADAPTER, 0, 0, NULL, 0, 0);
	tap_ok(get16(rig_out(&h) + 0x20) != 0x5ad, "not signed by the maker whose layout differs");
	for (i = 0; i < 16; i += 4)
		put32((u8 *)id + i, __builtin_bswap32(get32(rig_out(&h) + 0xf0 + i)));
	tap_ok(!strcmp(id, "MT_1100120019"), "board id in swapped words: %s", id);
	bare_down(&h);
}

static void test_event_mode(void)
{
	static struct rig r;
	struct rig_hca *p = &r.h[0];
	u8 *e;

	rig_up(&r);
	rig_cmd(p, OP_MAP_EQ, 0, RIG_EQN, NULL, 0, CX3_BIT(CX3_EV_CMD));
	rig_events(p);
	p->nevents = 0;
	e = rig_buf_at(p, &p->eq, (p->eq_ci & 1023) * 32);
	bare_post(p, GO | EVENT | OP_NOP, 0, 0, 0, 0x1234);
	tap_eq(bare_read32(p, BARE_HCR + 0x18) & GO, 0, "GO clears at once");
	tap_eq(e[1], CX3_EV_CMD, "the answer is an event");
	tap_eq(get16(e + 6), 0x1234, "with the token");
	tap_eq(e[15], 0, "and the status");
	e = rig_buf_at(p, &p->eq, ((p->eq_ci + 1) & 1023) * 32);
	bare_post(p, GO | EVENT | 0x0ee, 0, 0, 0, 7);
	tap_ok(e[1] == CX3_EV_CMD && get16(e + 6) == 7 && e[15] == CX3_BAD_OP,
	       "a bad command is answered the same way");
	e = rig_buf_at(p, &p->eq, ((p->eq_ci + 2) & 1023) * 32);
	memset(rig_mem(p, p->mbox_in, 16), 0x5a, 16);
	bare_post(p, GO | EVENT | OP_MGID_HASH, 0, p->mbox_in, 0, 8);
	tap_ok(e[1] == CX3_EV_CMD && get64(e + 16) < 32, "an immediate comes in the event");
	rig_down(&r);
}

static void test_late_and_silent(void)
{
	const char *why = "";
	u32 word;

	bare_up(&world, &h, NULL);
	tap_ok(!cx3_fault_add(h.hca, "cmd:0x4 nth=2 delay=5000", &why), "a late command");
	tap_ok(!cx3_fault_add(h.hca, "cmd:0x4 nth=3 silent", &why), "a rule for a silent one");
	rig_cmd(&h, OP_QUERY_FW, 0, 0, NULL, 0, 0);
	bare_post(&h, GO | OP_QUERY_FW, 0, 0, h.mbox_out, 0);
	word = bare_read32(&h, BARE_HCR + 0x18);
	tap_ok(word & GO, "a late command keeps GO");
	rig_mmio32(&h, 0, BARE_HCR + 8, 1);
	tap_ok(bare_violated(&h, "command-busy"), "touching the register then is a violation");
	fake_run(&world, 4000);
	tap_ok(bare_read32(&h, BARE_HCR + 0x18) & GO, "not yet");
	fake_run(&world, 2000);
	tap_ok(!(bare_read32(&h, BARE_HCR + 0x18) & GO), "now it is done");
	bare_post(&h, GO | OP_QUERY_FW, 0, 0, h.mbox_out, 0);
	fake_run(&world, 100000000000ull);
	tap_ok(bare_read32(&h, BARE_HCR + 0x18) & GO, "a silent one never is");
	rig_mmio32(&h, 0, 0xf0010, 1);
	tap_eq(bare_read32(&h, BARE_HCR + 0x18), 0, "until a reset");
	bare_down(&h);
}

static void test_fatal(void)
{
	static struct rig r;
	struct rig_hca *p = &r.h[0];
	const char *why = "";

	rig_up(&r);
	cx3_fault_add(p->hca, "cmd:0x31 fatal=0x77", &why);
	bare_post(p, GO | OP_NOP, 0, 0, 0, 0);
	tap_ok(bare_read32(p, BARE_HCR + 0x18) & GO, "after a fatal error no command is answered");
	tap_eq(bare_read32(p, 0xf3000), 0x77, "the error buffer says why");
	rig_mmio32(p, 2, RIG_UAR * 4096 + 0x14, 0x80 << 8);
	tap_eq(p->host.violations, 0, "doorbells are swallowed");
	rig_mmio32(p, 0, 0xf0010, 1);
	tap_eq(bare_read32(p, 0xf3000), 0, "a reset clears it");
	tap_eq(p->host.violations, 0, "and may leave objects behind");
	rig_cmd(p, OP_QUERY_FW, 0, 0, NULL, 0, 0);
	tap_ok(true, "the device works again");
	rig_down(&r);
}

static void test_gone(void)
{
	static struct rig r;
	struct rig_hca *p = &r.h[0];
	const char *why = "";

	rig_up(&r);
	cx3_fault_add(p->hca, "cmd:0x31 gone", &why);
	bare_post(p, GO | OP_NOP, 0, 0, 0, 0);
	tap_eq(cx3_bar_read(p->hca, 0, BARE_HCR, 4), 0xffffffff, "all-ones");
	tap_eq(cx3_bar_read(p->hca, 2, 0, 8), ~0ull, "8 bytes wide, too");
	cx3_bar_write(p->hca, 0, 0xf0010, 1, 4);
	cx3_function_reset(p->hca);
	tap_eq(cx3_bar_read(p->hca, 0, 0xf3000, 1), 0xff, "for ever");
	tap_eq(p->host.violations, 0, "and no complaint");
	rig_down(&r);
}

/* The device has something to say by itself. */
static void say(struct rig_hca *p)
{
	cx3_enter(p->hca);
	cx3_event_num(p->hca, CX3_EV_COMM_EST, 1);
	cx3_leave(p->hca);
}

static void test_cut_off(void)
{
	static struct rig r;
	struct rig_hca *p = &r.h[0], *late = &r.h[1];

	rig_up(&r);
	cx3_set_bus_master(p->hca, false);
	cx3_set_bus_master(late->hca, false);
	fake_run(&r.world, 1900000000);
	say(p);
	tap_eq(p->host.violations, 0, "cut off, it may try in vain for a moment");
	tap_eq(p->host.bad_dma, 0, "and nothing goes to the bus");
	fake_run(&r.world, 200000000);
	say(late);
	tap_ok(bare_violated(late, "dma-no-master"), "then it should have been reset");
	cx3_set_bus_master(p->hca, true);
	cx3_set_bus_master(p->hca, false);
	rig_cmd_try(p, OP_QUERY_FW, 0, 0, NULL, 0, 0, NULL);
	tap_ok(bare_violated(p, "dma-no-master"), "a command asks for more: a violation at once");
	p->host.violations = 0;
	cx3_set_bus_master(p->hca, true);
	cx3_set_bus_master(p->hca, false);
	rig_mmio32(p, 0, 0xf0010, 1);
	tap_eq(p->host.violations, 0, "the reset of a device that has just been cut off is none");
	tap_eq(cx3_audit(p->hca, NULL, NULL), 0, "and ends everything");
	late->host.violations = 0;
	rig_mmio32(late, 0, 0xf0010, 1);
	tap_ok(bare_violated(late, "left-over"), "one that ran on for long was forgotten");
	rig_down(&r);
}

static void test_close(void)
{
	static struct rig r;
	struct rig_hca *p = &r.h[0];

	rig_up(&r);
	tap_eq(rig_cmd_try(p, OP_CLOSE_HCA, 0, 0, NULL, 0, 0, NULL), 0, "CLOSE_HCA");
	tap_ok(bare_violated(p, "left-over"), "with an EQ and a key alive is a violation");
	tap_ok(bare_violated(p, "left: EQ 4"), "that names them");
	p->host.violations = 0;
	rig_mmio32(p, 2, RIG_UAR * 4096 + 0x14, 0x80 << 8);
	tap_ok(bare_violated(p, "after-end"), "so is a doorbell afterwards");
	p->host.violations = 0;
	tap_eq(rig_cmd_try(p, OP_UNMAP_FA, 0, 0, NULL, 0, 0, NULL), 0, "UNMAP_FA");
	tap_ok(bare_violated(p, "ICM and"), "with ICM mapped is one");
	tap_eq(cx3_audit(p->hca, NULL, NULL), 0, "nothing is left then");
	rig_down(&r);
}

/* Every allocation of creating and bringing up fails once: no crash, no leak. */
static void test_no_memory(void)
{
	unsigned int n, refused = 0;

	for (n = 0; n < 200; n++) {
		struct cx3_config cfg;
		const char *why;

		memset(&h, 0, sizeof(h));
		fake_host_init(&h.host, &world, BARE_RAM);
		h.host.fail_at = n;
		cx3_config_init(&cfg);
		h.hca = cx3_create(&h.host.host, &cfg, &why);
		if (h.hca) {
			bare_down(&h);
			break;
		}
		refused++;
		if (h.host.live)
			tap_ok(false, "allocation %u failed: %u left", n, h.host.live);
		fake_host_fini(&h.host);
	}
	tap_ok(refused > 5 && n < 200, "creation without memory is refused %u times", refused);
}

int main(void)
{
	test_registers();
	test_query_fw();
	test_phases();
	test_mailboxes();
	test_dev_cap();
	test_properties();
	test_adapter();
	test_event_mode();
	test_late_and_silent();
	test_fatal();
	test_gone();
	test_cut_off();
	test_close();
	test_no_memory();
	return tap_done();
}
