// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts: what a device has done so far, by name; marks; work requests by BlueFlame.
 */
#include <stdlib.h>

#include "lib/bare.h"
#include "lib/tap.h"
#include "lib/verbs.h"

static struct rig rig;
static struct v_cq scq, rcq;
static struct v_qp a, b;
static struct v_mr ma, mb;
static const struct v_pair pair = { &scq, &rcq, &a, &b, &ma, &mb };

/* One line wanted of all that cx3_counts() tells. */
struct wanted {
	const char *name;
	char value[48];
};

static void pick(void *arg, const char *line)
{
	struct wanted *w = arg;
	size_t n = strlen(w->name);

	if (!strncmp(line, w->name, n) && line[n] == ' ')
		snprintf(w->value, sizeof(w->value), "%s", line + n + 1);
}

static const char *told(const char *name)
{
	static struct wanted w;

	w.name = name;
	w.value[0] = 0;
	cx3_counts(rig.h[0].hca, pick, &w);
	return w.value;
}

static unsigned long long count(const char *name)
{
	const char *value = told(name);

	return *value ? strtoull(value, NULL, 10) : ~0ull;
}

/* A write of 16 bytes; the doorbell comes as a store of its second word to the BlueFlame page. */
static void by_blueflame(void)
{
	struct v_wr wr = { .op = WQE_WRITE, .n = 1, .raddr = mb.va, .rkey = mb.key };
	u32 page = rig.h[0].hca->geo.num_uars + RIG_UAR;
	u8 *wqe;

	wr.s[0] = v_sge(&ma, 0, 16);
	v_put_send(&a, &wr);
	wqe = rig_buf_at(&rig.h[0], &a.buf, a.sq_at);
	put24(wqe + 4, a.qpn);
	cx3_bar_write(rig.h[0].hca, 2, page * 4096ull, __builtin_bswap64(get64(wqe)), 8);
	rig_run(&rig, 1000000);
}

static void test_commands(void)
{
	const char *why;

	tap_ok(!*told("cmd.NOP"), "no NOP yet");
	rig_cmd(&rig.h[0], OP_NOP, 0, 0, NULL, 0, 0);
	rig_cmd(&rig.h[0], OP_NOP, 0, 0, NULL, 0, 0);
	tap_ok(count("cmd.NOP") == 2 && !*told("cmd-ns.NOP"), "two, which took no time");
	cx3_fault_add(rig.h[0].hca, "cmd:0x31 delay=7000", &why);
	bare_post(&rig.h[0], 0x800000u | OP_NOP, 0, 0, 0, 0);
	rig_run(&rig, 10000);
	tap_ok(count("cmd.NOP") == 3 && count("cmd-ns.NOP") == 7000,
	       "a late one takes its time");
	tap_eq(count("faults"), 1, "by one fault");
}

static void test_data(void)
{
	unsigned long long writes = count("dma-write-bytes"), reads = count("dma-read-bytes");
	struct cqe e;

	tap_eq(count("blueflame"), 0, "no BlueFlame yet");
	by_blueflame();
	tap_ok(v_cq_poll(&scq, &e) && e.opcode == WQE_WRITE, "a write by BlueFlame completes");
	tap_eq(count("blueflame"), 1, "it is counted");
	tap_eq(count("doorbell-send"), 0, "and is no doorbell of the other kind");
	tap_eq(count("tx.rc"), 1, "one request");
	tap_eq(count("rx.ack"), 1, "one acknowledge");
	tap_eq(count("cqe"), 1, "one completion");
	tap_eq(count("dma-write-bytes") - writes, 32, "of 32 bytes");
	tap_ok(count("dma-read-bytes") - reads >= 64 + 16, "the request and its data are read");
	tap_eq(cx3_violations(rig.h[0].hca, NULL, NULL), 0, "and nobody complains");
}

static void test_registers(void)
{
	unsigned long long writes = count("mmio-write"), reads = count("mmio-read");
	unsigned long long irqs = count("irq"), events = count("eqe");

	bare_read32(&rig.h[0], 0x8069c);
	tap_eq(count("mmio-read") - reads, 1, "a read of a register");
	rig_mmio32(&rig.h[0], 0, CX3_REG_MARK, 99);
	tap_eq(count("mmio-write") - writes, 1, "a write of one");
	tap_eq(count("mark"), 1, "which was a mark");
	cx3_event_num(rig.h[0].hca, CX3_EV_COMM_EST, 1);
	tap_ok(count("eqe") == events + 1 && count("irq") <= irqs + 1, "an event");
}

int main(void)
{
	struct v_attr at;

	v_attr_init(&at, QPT_RC, NULL, NULL);
	v_pair_up(&rig, &pair, &at, 20000, 6, 1);
	test_commands();
	test_data();
	test_registers();
	rig_down(&rig);
	return tap_done();
}
