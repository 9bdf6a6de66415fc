// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts of the InfiniBand packet headers, the table of operations, and the parser and builder of
 * packets; see wire.h. The chain of headers behind the BTH follows from the opcode (IB
 * specification volume 1, chapter 9.2; extended reliable connection: annex A14).
 */
#include "wire.h"

#define P(member, byte, msb, lsb) FIELD(struct wire_pkt, member, byte, msb, lsb)
#define P64(member, byte) FIELD64(struct wire_pkt, member, byte)
#define PRAW(member, byte) FIELD_RAW(struct wire_pkt, member, byte)

static const struct field lrh[] = {
	P(vl, 0, 31, 28), P(lver, 0, 27, 24), P(sl, 0, 23, 20), P(lnh, 0, 17, 16),
	P(dlid, 0, 15, 0), P(words, 4, 26, 16), P(slid, 4, 15, 0),
};

const struct layout wire_lrh_layout = LAYOUT(lrh, WIRE_LRH_LEN);

static const struct field grh[] = {
	P(ipver, 0, 31, 28), P(tclass, 0, 27, 20), P(flow, 0, 19, 0), P(paylen, 4, 31, 16),
	P(nxthdr, 4, 15, 8), P(hoplmt, 4, 7, 0), PRAW(sgid, 8), PRAW(dgid, 24),
};

const struct layout wire_grh_layout = LAYOUT(grh, WIRE_GRH_LEN);

static const struct field bth[] = {
	P(opcode, 0, 31, 24), P(se, 0, 23, 23), P(migreq, 0, 22, 22), P(pad, 0, 21, 20),
	P(tver, 0, 19, 16), P(pkey, 0, 15, 0), P(dqpn, 4, 23, 0), P(ackreq, 8, 31, 31),
	P(psn, 8, 23, 0),
};

const struct layout wire_bth_layout = LAYOUT(bth, WIRE_BTH_LEN);

static const struct field deth[] = { P(qkey, 0, 31, 0), P(sqpn, 4, 23, 0) };

const struct layout wire_deth_layout = LAYOUT(deth, 8);

static const struct field reth[] = { P64(va, 0), P(rkey, 8, 31, 0), P(dmalen, 12, 31, 0) };

const struct layout wire_reth_layout = LAYOUT(reth, 16);

static const struct field aeth[] = { P(syndrome, 0, 31, 24), P(msn, 0, 23, 0) };

const struct layout wire_aeth_layout = LAYOUT(aeth, 4);

static const struct field immdt[] = { P(imm, 0, 31, 0) };
const struct layout wire_imm_layout = LAYOUT(immdt, 4);

static const struct field invalidate[] = { P(ieth, 0, 31, 0) };
const struct layout wire_ieth_layout = LAYOUT(invalidate, 4);

static const struct field xrceth[] = { P(xsrqn, 0, 23, 0) };

const struct layout wire_xrceth_layout = LAYOUT(xrceth, 4);

static const struct field atomic[] = {
	P64(va, 0), P(rkey, 8, 31, 0), P64(swap, 12), P64(cmp, 20),
};

const struct layout wire_atomic_layout = LAYOUT(atomic, 28);

/* Not in the specification: manufacturer opcodes, an AtomicETH with both masks behind it. */
static const struct field masked[] = {
	P64(va, 0), P(rkey, 8, 31, 0), P64(swap, 12), P64(cmp, 20), P64(swap_mask, 28),
	P64(cmp_mask, 36),
};

const struct layout wire_masked_layout = LAYOUT(masked, 44);

static const struct field atomicack[] = { P64(orig, 0) };

const struct layout wire_atomicack_layout = LAYOUT(atomicack, 8);

static const u16 op_info[OP_COUNT] = {
	[OP_SEND_FIRST] = WOP_SEND | WOP_FIRST | WOP_PAYLOAD,
	[OP_SEND_MIDDLE] = WOP_SEND | WOP_PAYLOAD,
	[OP_SEND_LAST] = WOP_SEND | WOP_LAST | WOP_PAYLOAD,
	[OP_SEND_LAST_IMM] = WOP_SEND | WOP_LAST | WOP_IMM | WOP_PAYLOAD,
	[OP_SEND_ONLY] = WOP_SEND | WOP_FIRST | WOP_LAST | WOP_PAYLOAD,
	[OP_SEND_ONLY_IMM] = WOP_SEND | WOP_FIRST | WOP_LAST | WOP_IMM | WOP_PAYLOAD,
	[OP_WRITE_FIRST] = WOP_WRITE | WOP_FIRST | WOP_RETH | WOP_PAYLOAD,
	[OP_WRITE_MIDDLE] = WOP_WRITE | WOP_PAYLOAD,
	[OP_WRITE_LAST] = WOP_WRITE | WOP_LAST | WOP_PAYLOAD,
	[OP_WRITE_LAST_IMM] = WOP_WRITE | WOP_LAST | WOP_IMM | WOP_PAYLOAD,
	[OP_WRITE_ONLY] = WOP_WRITE | WOP_FIRST | WOP_LAST | WOP_RETH | WOP_PAYLOAD,
	[OP_WRITE_ONLY_IMM] = WOP_WRITE | WOP_FIRST | WOP_LAST | WOP_RETH | WOP_IMM | WOP_PAYLOAD,
	[OP_READ_REQUEST] = WOP_READ | WOP_FIRST | WOP_LAST | WOP_RETH,
	[OP_READ_FIRST] = WOP_RESPONSE | WOP_FIRST | WOP_AETH | WOP_PAYLOAD,
	[OP_READ_MIDDLE] = WOP_RESPONSE | WOP_PAYLOAD,
	[OP_READ_LAST] = WOP_RESPONSE | WOP_LAST | WOP_AETH | WOP_PAYLOAD,
	[OP_READ_ONLY] = WOP_RESPONSE | WOP_FIRST | WOP_LAST | WOP_AETH | WOP_PAYLOAD,
	[OP_ACK] = WOP_RESPONSE | WOP_AETH,
	[OP_ATOMIC_ACK] = WOP_RESPONSE | WOP_AETH | WOP_ATOMICACK,
	[OP_CMP_SWAP] = WOP_ATOMIC | WOP_FIRST | WOP_LAST,
	[OP_FETCH_ADD] = WOP_ATOMIC | WOP_FIRST | WOP_LAST,
	[OP_SEND_LAST_INV] = WOP_SEND | WOP_LAST | WOP_INV | WOP_PAYLOAD,
	[OP_SEND_ONLY_INV] = WOP_SEND | WOP_FIRST | WOP_LAST | WOP_INV | WOP_PAYLOAD,
};

/**
 * wire_opcode_info - what an opcode stands for
 * @opcode: BTH opcode
 *
 * Return: WOP_* bits; 0 for an opcode that the service does not have.
 */
u16 wire_opcode_info(u8 opcode)
{
	u8 op = wire_op(opcode);
	u16 info = op < OP_COUNT ? op_info[op] : 0;

	if (!info)
		return 0;
	switch (wire_service(opcode)) {
	case WIRE_RC:
	case WIRE_XRC:
		return info | WOP_VALID;
	case WIRE_UC:
		return info & (WOP_SEND | WOP_WRITE) && !(info & WOP_INV) ? info | WOP_VALID : 0;
	case WIRE_UD:
		return op == OP_SEND_ONLY || op == OP_SEND_ONLY_IMM ? info | WOP_VALID : 0;
	case WIRE_MASKED:
		return info & WOP_ATOMIC ? info | WOP_VALID : 0;
	default:
		return 0;
	}
}

/* The headers behind the BTH in wire order; ends at the first NULL. */
static void header_chain(const struct wire_pkt *w, const struct layout **chain)
{
	u32 n = 0;

	if (wire_service(w->opcode) == WIRE_XRC && !(w->info & WOP_RESPONSE))
		chain[n++] = &wire_xrceth_layout;
	if (wire_service(w->opcode) == WIRE_UD)
		chain[n++] = &wire_deth_layout;
	if (w->info & WOP_RETH)
		chain[n++] = &wire_reth_layout;
	if (w->info & WOP_ATOMIC)
		chain[n++] = wire_service(w->opcode) == WIRE_MASKED ? &wire_masked_layout :
								      &wire_atomic_layout;
	if (w->info & WOP_AETH)
		chain[n++] = &wire_aeth_layout;
	if (w->info & WOP_ATOMICACK)
		chain[n++] = &wire_atomicack_layout;
	if (w->info & WOP_IMM)
		chain[n++] = &wire_imm_layout;
	if (w->info & WOP_INV)
		chain[n++] = &wire_ieth_layout;
	chain[n] = NULL;
}

#define CHAIN_MAX 8

static enum wire_error parse_transport(const u8 *pkt, u32 len, struct wire_pkt *w)
{
	const struct layout *chain[CHAIN_MAX], **l;

	if (len < (u32)w->hdr + WIRE_BTH_LEN)
		return WIRE_SHORT;
	layout_unpack(&wire_bth_layout, pkt + w->hdr, w);
	w->hdr += WIRE_BTH_LEN;
	w->info = wire_opcode_info(w->opcode);
	if (!w->info)
		return WIRE_BAD_OPCODE;
	if (w->tver)
		return WIRE_BAD_HEADER;
	header_chain(w, chain);
	for (l = chain; *l; l++) {
		if (w->hdr + (*l)->bytes > len)
			return WIRE_SHORT;
		layout_unpack(*l, pkt + w->hdr, w);
		w->hdr += (*l)->bytes;
	}
	if (w->hdr + w->pad > len)
		return WIRE_SHORT;
	w->len = len - w->hdr - w->pad;
	if (w->len && !(w->info & WOP_PAYLOAD))
		return WIRE_BAD_HEADER;
	return WIRE_OK;
}

/**
 * wire_parse - take a packet apart
 * @pkt: packet with room for both CRCs, which are not looked at; any bytes
 * @len: its length
 * @w: filled; fields of headers the packet does not have are zero
 *
 * Length fields of LRH and GRH are checked against @len, so the payload stands at @pkt + @w->hdr
 * and is @w->len bytes long.
 *
 * Return: WIRE_OK, or what is wrong with it.
 */
enum wire_error wire_parse(const u8 *pkt, u32 len, struct wire_pkt *w)
{
	memset(w, 0, sizeof(*w));
	if (len < WIRE_LRH_LEN + WIRE_CRC_LEN)
		return WIRE_SHORT;
	layout_unpack(&wire_lrh_layout, pkt, w);
	w->hdr = WIRE_LRH_LEN;
	if (w->words * 4u + 2 != len)
		return WIRE_SHORT;
	if (w->lver)
		return WIRE_BAD_HEADER;
	if (!(w->lnh & WIRE_LNH_IBA))
		return WIRE_RAW;
	len -= WIRE_CRC_LEN;
	if (w->lnh == WIRE_LNH_GRH) {
		if (len < (u32)w->hdr + WIRE_GRH_LEN)
			return WIRE_SHORT;
		layout_unpack(&wire_grh_layout, pkt + w->hdr, w);
		w->hdr += WIRE_GRH_LEN;
		if (w->ipver != 6 || w->nxthdr != WIRE_NXTHDR_IBA)
			return WIRE_BAD_HEADER;
		if (w->paylen != len - w->hdr + 4)
			return WIRE_SHORT;
	}
	return parse_transport(pkt, len, w);
}

/**
 * wire_header_len - bytes that wire_build() will put before the payload
 * @w: @opcode and @lnh are looked at
 *
 * Return: bytes.
 */
u32 wire_header_len(const struct wire_pkt *w)
{
	const struct layout *chain[CHAIN_MAX], **l;
	struct wire_pkt probe = { .opcode = w->opcode, .info = wire_opcode_info(w->opcode) };
	u32 len = WIRE_LRH_LEN + WIRE_BTH_LEN;

	if (w->lnh == WIRE_LNH_GRH)
		len += WIRE_GRH_LEN;
	header_chain(&probe, chain);
	for (l = chain; *l; l++)
		len += (*l)->bytes;
	return len;
}

/**
 * wire_build - write the headers of a packet and the pad behind the payload
 * @pkt: room for headers, @w->len bytes of payload (which the caller puts at wire_header_len()
 *	before or after), three of pad and six of CRC
 * @w: all of the packet; @info, @hdr, @pad, @words, @paylen, @ipver, @nxthdr are computed here
 *
 * Return: length of the whole packet with its (unset) CRCs.
 */
u32 wire_build(u8 *pkt, struct wire_pkt *w)
{
	const struct layout *chain[CHAIN_MAX], **l;
	u32 at = WIRE_LRH_LEN;

	w->info = wire_opcode_info(w->opcode);
	w->hdr = wire_header_len(w);
	w->pad = -w->len & 3;
	w->words = (w->hdr + w->len + w->pad + 4) / 4;
	memset(pkt, 0, w->hdr);
	layout_pack(&wire_lrh_layout, pkt, w);
	if (w->lnh == WIRE_LNH_GRH) {
		w->ipver = 6;
		w->nxthdr = WIRE_NXTHDR_IBA;
		w->paylen = w->words * 4 - WIRE_LRH_LEN - WIRE_GRH_LEN;
		layout_pack(&wire_grh_layout, pkt + at, w);
		at += WIRE_GRH_LEN;
	}
	layout_pack(&wire_bth_layout, pkt + at, w);
	at += WIRE_BTH_LEN;
	header_chain(w, chain);
	for (l = chain; *l; l++) {
		layout_pack(*l, pkt + at, w);
		at += (*l)->bytes;
	}
	memset(pkt + at + w->len, 0, w->pad);
	return w->words * 4 + 2;
}
