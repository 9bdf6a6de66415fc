// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: everything a guest can do to a device. The input is a list of acts: register
 * accesses, commands with any mailbox, work requests, stores to the memory that the device reads,
 * time, resets, faults. The device may refuse, complain and fail, but must stay within its memory,
 * come to an end, and give everything back.
 */
#include "../fabric/mad.h"
#include "bench.h"
#include "input.h"

enum { MOST_ACTS = 64, HCR = 0x80680 };

static const u16 opcodes[] = {
	0x003, 0x004, 0x006, 0x007, 0x008, 0x009, 0x00a, 0x00b, 0x00c, 0x00d, 0x00e, 0x00f, 0x010,
	0x011, 0x012, 0x013, 0x014, 0x015, 0x016, 0x017, 0x018, 0x019, 0x01a, 0x01b, 0x01c, 0x01d,
	0x01e, 0x01f, 0x020, 0x021, 0x022, 0x023, 0x024, 0x025, 0x026, 0x027, 0x02c, 0x02d, 0x02f,
	0x030, 0x031, 0x032, 0x034, 0x035, 0x036, 0x037, 0x038, 0x03a, 0x03b, 0x040, 0x043, 0x04d,
	0x050, 0x054, 0x055, 0x056, 0x059, 0x05a, 0x061, 0x064, 0x065, 0x066, 0x203, 0xff6, 0xff9,
	0xffa, 0xffb, 0xffc, 0xffd, 0xffe, 0xfff,
};

/* A number that means something: of a live object, a small one, or any. */
static u32 number(struct bench *b, struct input *in)
{
	u8 kind = in8(in);

	switch (kind & 7) {
	case 0:
		return b->qp[0][in8(in) % BENCH_QPS].qpn;
	case 1:
		return b->cq[0].cqn;
	case 2:
		return b->srq[0].srqn;
	case 3:
		return b->mr[0].key >> 8 | b->mr[0].key << 24;
	case 4:
		return RIG_EQN;
	case 5:
		return in32(in);
	default:
		return kind >> 3;
	}
}

/* A bus address: of the guest's structures, or any. */
static u64 address(struct bench *b, struct input *in)
{
	struct rig_hca *h = &b->rig.h[0];
	u8 kind = in8(in);

	switch (kind & 7) {
	case 0:
		return h->mbox_in;
	case 1:
		return h->mbox_out;
	case 2:
		return h->icm[in8(in) % CX3_ICM_NTABLES] + in16(in) * 8u;
	case 3:
		return b->qp[0][in8(in) % BENCH_QPS].buf.base + in16(in);
	case 4:
		return in64(in);
	case 5:
		return b->cq[0].db;
	default:
		return h->host.ram_base + in32(in) % h->host.ram_size;
	}
}

/* A store by the guest's CPU, as far as there is memory. */
static void poke(struct bench *b, struct input *in)
{
	struct fake_host *host = &b->rig.h[0].host;
	u64 at = address(b, in) - host->ram_base;
	u8 data[256];
	u32 n = in_bytes(in, data, sizeof(data), 1);

	if (at < host->ram_size && n <= host->ram_size - at)
		memcpy(host->ram + at, data, n);
}

static void command(struct bench *b, struct input *in)
{
	struct rig_hca *h = &b->rig.h[0];
	u16 opcode = opcodes[in8(in) % ARRAY_SIZE(opcodes)];
	u8 control = in8(in);
	u32 mod = number(b, in);
	u64 param = h->mbox_in, out = h->mbox_out;
	u8 *mbox = h->host.ram + (h->mbox_in - h->host.ram_base);

	if (control & 1)
		param = address(b, in);
	if (control & 2)
		out = address(b, in);
	if (control & 4)
		memset(mbox, 0, 4096);
	if (control & 8)
		in_bytes(in, mbox, 512, 2);
	rig_mmio32(h, 0, HCR, (u32)(param >> 32));
	rig_mmio32(h, 0, HCR + 4, (u32)param);
	rig_mmio32(h, 0, HCR + 8, mod);
	rig_mmio32(h, 0, HCR + 0xc, (u32)(out >> 32));
	rig_mmio32(h, 0, HCR + 0x10, (u32)out);
	rig_mmio32(h, 0, HCR + 0x14, (u32)control << 16);
	if (!(control & 0x40))
		h->toggle ^= 1;
	rig_mmio32(h, 0, HCR + 0x18, 1u << 23 | (control & 0x10 ? 1u << 22 : 0) |
		   h->toggle << 21 | (in8(in) & 15u) << 12 | opcode);
}

/* A work request of any bytes, with the owner bit as it has to be; then the doorbell. */
static void post(struct bench *b, struct input *in)
{
	struct v_qp *q = &b->qp[0][in8(in) % BENCH_QPS];
	struct rig_hca *h = &b->rig.h[0];
	u32 stride = 1u << q->a.sq_stride, at = q->sq_head & ((1u << q->a.sq_log) - 1);
	u8 wqe[256], *to = rig_buf_at(h, &q->buf, q->sq_at + at * stride);
	u32 n;

	memset(wqe, 0, sizeof(wqe));
	n = in_bytes(in, wqe, stride < sizeof(wqe) ? stride : sizeof(wqe), 1);
	if (n > 4) {
		wqe[0] = (u8)((wqe[0] & 0x7f) | (q->sq_head >> q->a.sq_log & 1) << 7);
		memcpy(to, wqe, n);
		q->sq_head++;
	}
	cx3_bar_write(h->hca, 2, RIG_UAR * 4096ull + 0x14, __builtin_bswap32(q->qpn << 8), 4);
}

/* A work request as a driver would write it, of any operation and with any numbers. */
static void work_request(struct bench *b, struct input *in)
{
	static const u8 ops[] = {
		WQE_NOP, WQE_SEND_INVAL, WQE_WRITE, WQE_WRITE_IMM, WQE_SEND, WQE_SEND_IMM, WQE_LSO,
		WQE_READ, WQE_CMP_SWAP, WQE_FETCH_ADD, WQE_MASKED_CS, WQE_MASKED_FA, WQE_BIND_MW,
		WQE_FAST_REG, WQE_LOCAL_INV, 0x1f,
	};
	struct v_wr wr = { .op = ops[in8(in) % ARRAY_SIZE(ops)], .n = in8(in) % 3 };
	u8 flags = in8(in), data[64];

	wr.unsignaled = flags & 1;
	wr.solicited = flags & 2;
	wr.fence = flags & 4;
	wr.force_loop = flags & 8;
	wr.imm = in8(in);
	wr.s[0] = v_sge(&b->mr[0], in16(in), in16(in));
	wr.s[1] = v_sge(&b->mr[0], in16(in), flags & 16 ? in32(in) : in8(in));
	wr.raddr = b->mr[1].va + in16(in);
	wr.rkey = flags & 32 ? in32(in) : b->mr[1].key;
	wr.srqn = b->srq[1].srqn;
	wr.inval = number(b, in);
	wr.ud = (struct wqe_dgram) {
		.port = 1, .pd = V_PD, .dlid = b->rig.h[in8(in) & 1].lid, .qkey = V_QKEY,
		.dqpn = b->qp[1][2].qpn, .grh = in8(in) & 1,
	};
	wr.ip_csum = flags & 16;
	wr.l4_csum = flags & 32;
	if (wr.op == WQE_LSO)
		wr.mss = in16(in) % 5000;
	if (flags & 64 || wr.mss) {
		wr.data = data;
		wr.data_len = in_bytes(in, data, sizeof(data), 1);
	} else {
		in_bytes(in, (u8 *)&wr.bind, sizeof(wr.bind), 1);
		in_bytes(in, (u8 *)&wr.freg, sizeof(wr.freg), 1);
		in_bytes(in, (u8 *)&wr.ud, sizeof(wr.ud), 1);
	}
	v_send(&b->qp[0][in8(in) % BENCH_QPS], &wr);
}

/* A QP transition with a context that was right before a few of its members were changed. */
static void transition(struct bench *b, struct input *in)
{
	static const u16 to[] = {
		0x019, 0x01a, 0x01b, 0x01c, 0x01d, 0x01e, 0x01f, 0x020, 0x021, 0x02d, 0x038,
	};
	struct v_qp *q = &b->qp[0][in8(in) % BENCH_QPS];
	struct qpc saved = q->c;
	u32 n;

	for (n = in8(in) % 4; n; n--)
		((u8 *)&q->c)[in16(in) % sizeof(q->c)] = in8(in);
	v_qp_modify_try(q, to[in8(in) % ARRAY_SIZE(to)], in32(in), in8(in) & 1 ? 1u << 31 : 0);
	q->c = saved;
}

/* A MAD for the firmware: any attribute of a class that it answers. */
static void mad_ifc(struct bench *b, struct input *in)
{
	static const u8 classes[] = { CLASS_SMP_LID, CLASS_SMP_DR, CLASS_PERF, 9 };
	u8 mad[320] = { 0 };
	u8 bits = in8(in);

	mad_put(mad, MAD_BASE_VERSION, 1);
	mad_put(mad, MAD_CLASS, classes[bits & 3]);
	mad_put(mad, MAD_CLASS_VERSION, 1);
	mad_put(mad, MAD_METHOD, bits & 4 ? METHOD_SET : METHOD_GET);
	mad_put(mad, MAD_ATTR_ID, bits & 8 ? in8(in) : 0x10 + in8(in) % 16);
	mad_put(mad, MAD_ATTR_MOD, bits & 16 ? in32(in) : in8(in) & 3);
	in_bytes(in, mad + SMP_DATA, 192, 1);
	rig_cmd_try(&b->rig.h[0], 0x024, bits >> 5, 1 + (in8(in) & 1), mad, sizeof(mad), 0, NULL);
}

/* What a well-behaved driver does, with odd numbers; it needs a device that answers. */
static void drive(struct bench *b, struct input *in)
{
	struct v_sge s = v_sge(&b->mr[0], in16(in), in16(in));
	struct qpc c;

	switch (in8(in) % 7) {
	case 0:
		transition(b, in);
		break;
	case 1:
		v_cq_resize_try(&b->cq[0], in8(in) % 12);
		break;
	case 2:
		v_recv(&b->qp[0][in8(in) % 3], &s, 1);
		break;
	case 3:
		rig_cmd_try(&b->rig.h[0], 0x022, 0, number(b, in), NULL, 0, 0, NULL);
		qpc_unpack(rig_out(&b->rig.h[0]) + 8, &c);
		break;
	case 4:
		mad_ifc(b, in);
		break;
	default:
		work_request(b, in);
	}
}

static void nobody(void *arg, const char *line)
{
	*(size_t *)arg += strlen(line);
}

static void look(struct rig_hca *h)
{
	size_t chars = 0;

	cx3_audit(h->hca, nobody, &chars);
	cx3_violations(h->hca, nobody, &chars);
	cx3_counts(h->hca, nobody, &chars);
}

/* True: the device may not answer a command any more. */
static bool rare(struct bench *b, struct input *in)
{
	struct rig_hca *h = &b->rig.h[0];
	char rule[97];
	const char *why;
	u32 n;

	switch (in8(in) % 10) {
	case 0:
		cx3_set_bus_master(h->hca, in8(in) & 1);
		break;
	case 1:
		cx3_set_msix(h->hca, in8(in) & 1);
		break;
	case 2:
		cx3_function_reset(h->hca);
		return true;
	case 3:
		cx3_set_gone(h->hca);
		return true;
	case 4:
		n = in_bytes(in, (u8 *)rule, sizeof(rule) - 1, 1);
		rule[n] = 0;
		cx3_fault_add(h->hca, rule, &why);
		return true;
	case 5:
		look(h);
		break;
	case 6:
		h->host.fail_at = in8(in);
		break;
	case 7:
		link_enable(&b->rig.cable.end[1].end, in8(in) & 1);
		break;
	case 8:
		rig_mmio32(h, 0, 0xf0010, 1);
		return true;
	default:
		h->host.bus_master = in8(in) & 1;
	}
	return false;
}

static bool act(struct bench *b, struct input *in, bool tame)
{
	struct rig_hca *h = &b->rig.h[0];
	u8 what = in8(in), size;
	u64 addr;

	if (what & 0x80 && tame) {
		drive(b, in);
		return true;
	}
	switch (what % 10) {
	case 0:
		addr = in32(in);
		size = (u8)(1 + in8(in) % 8);
		cx3_bar_write(h->hca, 0, addr & 0x1fffff, in64(in), size);
		break;
	case 1:
		addr = in32(in);
		cx3_bar_read(h->hca, in8(in) & 2, addr & 0x1ffffff, 1 + in8(in) % 8);
		break;
	case 2:
		addr = (in8(in) & 1 ? RIG_UAR : in16(in)) * 4096ull;
		size = (u8)(1 + in8(in) % 8);
		cx3_bar_write(h->hca, 2, addr + in16(in) % 4096, in64(in), size);
		break;
	case 3:
		addr = RIG_UAR * 4096ull + 0x20;
		cx3_bar_write(h->hca, 2, addr, in64(in), 8);
		break;
	case 4:
	case 5:
		command(b, in);
		break;
	case 6:
		post(b, in);
		break;
	case 7:
		poke(b, in);
		break;
	case 8:
		bench_run(b, 1ull << in8(in) % 34);
		break;
	default:
		if (rare(b, in))
			return false;
	}
	return tame;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct bench b;
	struct input in = { .at = data, .left = size };
	unsigned int acts = 0;
	bool tame = true;

	bench_up(&b);
	while (in.left && acts++ < MOST_ACTS)
		tame = act(&b, &in, tame);
	bench_run(&b, 100000000);
	bench_down(&b);
	return 0;
}
