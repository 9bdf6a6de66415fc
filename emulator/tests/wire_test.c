// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packet headers and checksums: a published packet with its invariant CRC, round trips of every
 * layout and every opcode, damaged packets, and tshark as a reader that was not written here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../model/crc.h"
#include "../model/wire.h"
#include "lib/tap.h"

#define LINK_MAX 4352

static unsigned long long seed = 88172645463325252ull;

static unsigned long long rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/*
 * The sample packet of the InfiniBand specification (volume 1, chapter 7.8.3): RDMA WRITE Only with
 * 14 bytes of data; its invariant CRC is given there as 0x9625b75a in order of transmission.
 */
static const u8 sample[] = {
	0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87,
	0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c,
	0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e,
	0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69,
	0x0e, 0xd4, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void test_crc(void)
{
	u8 p[sizeof(sample)];
	struct wire_pkt w;
	u32 i, caught = 0;

	tap_eq(~crc32_ib(~0u, (const u8 *)"123456789", 9), 0xcbf43926, "CRC-32 check value");
	memcpy(p, sample, sizeof(p));
	packet_put_crcs(p, sizeof(p));
	tap_eq(get32(p + 52), 0x9625b75a, "invariant CRC of the specification's sample packet");
	tap_eq(get16(p + 56), 0x45fa, "variant CRC of the sample packet, polynomial 0x100b");
	for (i = 0; i < sizeof(p) * 8; i++) {
		p[i / 8] ^= 1 << i % 8;
		caught += !packet_check_crcs(p, sizeof(p));
		p[i / 8] ^= 1 << i % 8;
	}
	tap_eq(caught, sizeof(p) * 8, "every single bit error is caught");
	p[0] = 0x20;
	p[12] = 0xc0;
	packet_put_crcs(p, sizeof(p));
	tap_eq(get32(p + 52), 0x9625b75a, "virtual lane and congestion marks do not count");
	tap_eq(wire_parse(p, sizeof(p), &w), WIRE_OK, "sample packet parses");
	tap_ok(w.len == 14 && w.pad == 2 && w.va == 0x01710a1c015d4002ull && w.rkey == 0x38f27a05 &&
	       w.dmalen == 14 && w.dqpn == 0x87b1b3 && w.psn == 0x0dec2a && w.pkey == 0x2487 &&
	       w.sl == 1 && w.dlid == 0x375c && w.slid == 0x17d2, "fields of the sample packet");
}

/* Every member a layout names, out of random bytes and back. */
static void test_layouts(void)
{
	static const struct {
		const char *name;
		const struct layout *l;
	} all[] = {
		{ "LRH", &wire_lrh_layout }, { "GRH", &wire_grh_layout },
		{ "BTH", &wire_bth_layout }, { "DETH", &wire_deth_layout },
		{ "RETH", &wire_reth_layout }, { "AETH", &wire_aeth_layout },
		{ "ImmDt", &wire_imm_layout }, { "IETH", &wire_ieth_layout },
		{ "XRCETH", &wire_xrceth_layout },
		{ "AtomicETH", &wire_atomic_layout }, { "masked AtomicETH", &wire_masked_layout },
		{ "AtomicAckETH", &wire_atomicack_layout },
	};
	u8 raw[64], again[64], mask[64];
	struct wire_pkt w;
	u32 i, j, round, bad;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		const struct layout *l = all[i].l;

		memset(&w, 0xff, sizeof(w));
		memset(mask, 0, sizeof(mask));
		layout_pack(l, mask, &w);
		for (round = 0, bad = 0; round < 1000; round++) {
			for (j = 0; j < l->bytes; j++)
				raw[j] = rnd() & mask[j];
			memset(again, 0, sizeof(again));
			layout_unpack(l, raw, &w);
			bad += !layout_pack(l, again, &w) || memcmp(raw, again, l->bytes) ||
			       !layout_reserved_clear(l, raw);
		}
		tap_eq(bad, 0, "%s survives unpack and pack", all[i].name);
	}
	memset(raw, 0, sizeof(raw));
	raw[1] = 0x04;
	tap_ok(!layout_reserved_clear(&wire_lrh_layout, raw), "a reserved bit of the LRH is seen");
	w.dqpn = 0x1000000;
	tap_ok(!layout_pack(&wire_bth_layout, raw, &w), "a value too large for its field is told");
}

static void random_packet(struct wire_pkt *w, u8 opcode, bool grh)
{
	memset(w, 0, sizeof(*w));
	w->vl = rnd() & 7;
	w->sl = rnd() & 15;
	w->dlid = rnd() & 0xbfff;
	w->slid = rnd() & 0xbfff;
	w->lnh = grh ? WIRE_LNH_GRH : WIRE_LNH_IBA;
	w->opcode = opcode;
	w->pkey = rnd();
	w->dqpn = rnd() & WIRE_QPN_MASK;
	w->psn = rnd() & WIRE_PSN_MASK;
	w->ackreq = rnd() & 1;
	w->va = rnd();
	w->rkey = rnd();
	w->dmalen = rnd();
	w->qkey = rnd();
	w->sqpn = rnd() & WIRE_QPN_MASK;
	w->imm = rnd();
	w->ieth = rnd();
	w->xsrqn = rnd() & WIRE_QPN_MASK;
	w->syndrome = rnd();
	w->msn = rnd() & WIRE_PSN_MASK;
	w->orig = rnd();
	w->swap = rnd();
	w->cmp = rnd();
	w->hoplmt = rnd();
	w->flow = rnd() & 0xfffff;
	w->tclass = rnd();
	memset(w->sgid, rnd(), 16);
	memset(w->dgid, rnd(), 16);
	if (wire_opcode_info(opcode) & WOP_PAYLOAD)
		w->len = rnd() % 300;
}

/* Builds @opcode, parses it, builds the parsed one: the bytes must agree; then cuts it. */
static bool round_trip(u8 opcode, bool grh)
{
	u8 one[LINK_MAX], two[LINK_MAX];
	struct wire_pkt w, r;
	u32 len, cut;

	random_packet(&w, opcode, grh);
	memset(one, 0x5a, sizeof(one));
	memset(two, 0x5a, sizeof(two));
	len = wire_build(one, &w);
	if (wire_parse(one, len, &r) != WIRE_OK || r.len != w.len || r.hdr != wire_header_len(&w))
		return false;
	if (wire_build(two, &r) != len || memcmp(one, two, len - WIRE_CRC_LEN))
		return false;
	for (cut = 0; cut < len; cut++)
		if (wire_parse(one, cut, &r) == WIRE_OK)
			return false;
	return true;
}

static void test_packets(void)
{
	u32 op, good = 0, valid = 0, i;
	u8 junk[LINK_MAX];
	struct wire_pkt w;
	u32 ok = 0;

	for (op = 0; op < 256; op++) {
		if (!wire_opcode_info(op))
			continue;
		valid += 2;
		good += round_trip(op, false) + round_trip(op, true);
	}
	/* RC and XRC 23, UC 12, UD 2, masked atomics 2; each without and with GRH */
	tap_eq(valid, 2 * (23 + 23 + 12 + 2 + 2), "number of valid opcodes");
	tap_eq(good, valid, "each opcode survives build and parse, and every cut is refused");
	for (i = 0; i < 200000; i++) {
		u32 len = rnd() % 200, j;

		for (j = 0; j < len; j++)
			junk[j] = rnd();
		if (len >= 8 && len >= 14)
			put16(junk + 4, (len - 2) / 4);
		if (wire_parse(junk, len, &w) == WIRE_OK)
			ok += w.hdr + w.len + w.pad + WIRE_CRC_LEN != len;
	}
	tap_eq(ok, 0, "accepted junk has lengths that add up");
}

static void put_le32(FILE *f, u32 v)
{
	u8 b[4] = { v, v >> 8, v >> 16, v >> 24 };

	fwrite(b, 1, 4, f);
}

static void put_record(FILE *f, u32 second, const u8 *pkt, u32 len)
{
	u8 erf[16] = { 0, 0, 0, 0, second, 0, 0, 0, 21, 4 };

	put_le32(f, second);
	put_le32(f, 0);
	put_le32(f, len + sizeof(erf));
	put_le32(f, len + sizeof(erf));
	put16(erf + 10, len + sizeof(erf));
	put16(erf + 14, len);
	fwrite(erf, 1, sizeof(erf), f);
	fwrite(pkt, 1, len, f);
}

/*
 * Writes each opcode into a capture and compares what tshark reads with what was meant. tshark 4.0
 * does not know link type 247 (InfiniBand), so the records are ERF ones (link type 197, type 21).
 */
static void test_tshark(void)
{
	static const u8 ops[] = {
		0x04, 0x0a, 0x0c, 0x10, 0x11, 0x12, 0x13, 0x14, 0x05, 0x0b, 0x16, 0x17, 0x0d, 0x0f,
		0x24, 0x2a, 0x64, 0x65,
	};
	char name[] = "/tmp/wire_testXXXXXX", cmd[400], line[200], want[200];
	struct wire_pkt w[ARRAY_SIZE(ops)];
	u8 pkt[LINK_MAX];
	u32 i, len, good = 0, malformed = 0;
	int fd = mkstemp(name);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

	if (!f || system("command -v tshark >/dev/null 2>&1")) {
		tap_skip("tshark reads the packets");
		return;
	}
	put_le32(f, 0xa1b2c3d4);
	put_le32(f, 4 << 16 | 2);
	for (i = 0; i < 2; i++)
		put_le32(f, 0);
	put_le32(f, 65535);
	put_le32(f, 197);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		random_packet(&w[i], ops[i], i & 1);
		w[i].vl = 0;
		memset(pkt, 0xee, sizeof(pkt));
		len = wire_build(pkt, &w[i]);
		packet_put_crcs(pkt, len);
		put_record(f, i, pkt, len);
	}
	fclose(f);
	/* what the payload of a SEND looks like is not the question here */
	snprintf(cmd, sizeof(cmd), "tshark -r %s%s%s%s%s%s%s%s 2>/dev/null", name,
		 " --disable-protocol rpcordma -T fields",
		 " -e infiniband.bth.opcode", " -e infiniband.lrh.dlid",
		 " -e infiniband.bth.destqp", " -e infiniband.bth.psn",
		 " -e infiniband.invariant.crc", " -e _ws.malformed");
	f = popen(cmd, "r");
	for (i = 0; f && i < ARRAY_SIZE(ops) && fgets(line, sizeof(line), f); i++) {
		memset(pkt, 0xee, sizeof(pkt));
		len = wire_build(pkt, &w[i]);
		packet_put_crcs(pkt, len);
		snprintf(want, sizeof(want), "%u\t%u\t0x%06x\t%u\t0x%08x", ops[i], w[i].dlid,
			 w[i].dqpn, w[i].psn, get32(pkt + len - 6));
		malformed += !!strstr(line, "alformed");
		if (!strncmp(line, want, strlen(want)))
			good++;
		else
			tap_note("opcode 0x%02x: tshark %s, meant %s", ops[i], line, want);
	}
	if (f)
		pclose(f);
	unlink(name);
	tap_eq(good, ARRAY_SIZE(ops), "tshark reads each opcode as what it is");
	tap_eq(malformed, 0, "tshark finds no malformed packet");
}

int main(void)
{
	test_crc();
	test_layouts();
	test_packets();
	test_tshark();
	return tap_done();
}
