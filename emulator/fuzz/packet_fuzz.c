// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: packets that reach a port whose queue pairs are at work. Each is a proper packet to
 * one of the queue pairs with some of its fields and bytes changed, or plain bytes; the answers
 * come from a peer that is at work too.
 */
#include "bench.h"
#include "input.h"

enum { MOST_PACKETS = 48 };

static const u8 services[BENCH_QPS] = { WIRE_RC, WIRE_UC, WIRE_UD, WIRE_RC, WIRE_XRC };

/* What a sender would have put into the headers, then the fuzzer's changes. */
static void headers(struct bench *b, struct input *in, struct wire_pkt *w, u8 *payload)
{
	u32 i = in8(in) % BENCH_QPS;
	u8 changes = in8(in);

	memset(w, 0, sizeof(*w));
	w->lnh = changes & 1 ? WIRE_LNH_GRH : WIRE_LNH_IBA;
	w->dlid = b->rig.h[0].lid;
	w->slid = b->rig.h[1].lid;
	w->opcode = (u8)(services[i] << 5 | in8(in) % OP_COUNT);
	w->pkey = 0xffff;
	w->dqpn = b->qp[0][i].qpn;
	w->sqpn = b->qp[1][i].qpn;
	w->qkey = V_QKEY;
	w->psn = 0x100 * i + in8(in);
	w->va = b->mr[0].va + in8(in);
	w->rkey = b->mr[0].key;
	w->dmalen = in16(in);
	w->xsrqn = b->srq[0].srqn;
	w->syndrome = in8(in);
	w->msn = in8(in);
	w->ackreq = changes >> 1 & 1;
	w->len = in_bytes(in, payload, 1024, 4);
	if (changes & 4)
		w->dmalen = w->len;
	if (changes & 8)
		w->psn = in32(in) & WIRE_PSN_MASK;
	if (changes & 16)
		w->dqpn = in32(in) & WIRE_QPN_MASK;
	if (changes & 32)
		w->opcode = in8(in);
	if (changes & 64) {
		w->dlid = in16(in);
		w->vl = in8(in) & 15;
	}
}

static void packet(struct bench *b, struct input *in)
{
	struct link_end *end = &b->rig.cable.end[0].end;
	u8 pkt[LINK_MAX_PACKET], payload[1024];
	struct wire_pkt w;
	u32 len, n;

	memset(pkt, 0, sizeof(pkt));
	if (in8(in) % 16 == 0) {
		len = in_bytes(in, pkt, sizeof(pkt), 8);
	} else {
		headers(b, in, &w, payload);
		memcpy(pkt + wire_header_len(&w), payload, w.len);
		len = wire_build(pkt, &w);
		for (n = in8(in) % 4; n; n--)
			pkt[in16(in) % len] ^= in8(in);
	}
	if (len)
		end->owner_ops->rx(end->owner, pkt, len);
}

/* Something of the device's own, so that answers have something to answer. */
static void request(struct bench *b, struct input *in)
{
	static const u8 ops[] = {
		WQE_SEND, WQE_SEND_IMM, WQE_WRITE, WQE_WRITE_IMM, WQE_READ, WQE_CMP_SWAP,
		WQE_FETCH_ADD,
	};
	struct v_wr wr = { .op = ops[in8(in) % ARRAY_SIZE(ops)], .n = 1 };
	u32 i = in8(in) % 2 ? 0 : 3;

	bool atomic = wr.op == WQE_CMP_SWAP || wr.op == WQE_FETCH_ADD;

	wr.s[0] = v_sge(&b->mr[0], 0, atomic ? 8 : in16(in));
	wr.raddr = b->mr[1].va;
	wr.rkey = b->mr[1].key;
	v_send(&b->qp[0][i], &wr);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct bench b;
	struct input in = { .at = data, .left = size };
	unsigned int packets = 0;

	bench_up(&b);
	while (in.left && packets++ < MOST_PACKETS) {
		u8 what = in8(&in);

		if (what % 8 == 0)
			bench_run(&b, 1ull << in8(&in) % 32);
		else if (what % 8 == 1)
			request(&b, &in);
		else
			packet(&b, &in);
	}
	bench_run(&b, 100000000);
	bench_down(&b);
	return 0;
}
