// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariant and variant CRC of InfiniBand packets; see crc.h.
 *
 * The registers shift right, so the polynomials stand reversed: 0xedb88320 for the usual 32-bit
 * one, 0xd008 for x^16 + x^12 + x^3 + x + 1. Four bits are worked off at a time.
 */
#include "crc.h"
#include "wire.h"

static const u32 table32[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
	0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
	0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

static const u16 table16[16] = {
	0x0000, 0x1a01, 0x3402, 0x2e03, 0x6804, 0x7205, 0x5c06, 0x4607,
	0xd008, 0xca09, 0xe40a, 0xfe0b, 0xb80c, 0xa20d, 0x8c0e, 0x960f,
};

/**
 * crc32_ib - feed bytes into the 32-bit CRC register
 * @crc: register; all ones to begin with
 * @data: bytes in wire order
 * @len: how many
 *
 * Return: the register; its complement, least significant byte first, is what goes on the wire.
 */
u32 crc32_ib(u32 crc, const u8 *data, u32 len)
{
	while (len--) {
		crc ^= *data++;
		crc = crc >> 4 ^ table32[crc & 15];
		crc = crc >> 4 ^ table32[crc & 15];
	}
	return crc;
}

/**
 * crc16_ib - feed bytes into the 16-bit CRC register
 * @crc: register; all ones to begin with
 * @data: bytes in wire order
 * @len: how many
 *
 * Return: the register.
 */
u16 crc16_ib(u16 crc, const u8 *data, u32 len)
{
	while (len--) {
		crc ^= *data++;
		crc = crc >> 4 ^ table16[crc & 15];
		crc = crc >> 4 ^ table16[crc & 15];
	}
	return crc;
}

/*
 * Copy the headers with all ones where switches and routers may write: virtual lane, traffic class,
 * flow label, hop limit, and the byte of the BTH that carries congestion marks.
 */
static u32 mask_variant(const u8 *pkt, u32 len, u8 *head)
{
	bool grh = (pkt[1] & 3) == WIRE_LNH_GRH;
	u32 bth = WIRE_LRH_LEN + (grh ? WIRE_GRH_LEN : 0);
	u32 n = bth + WIRE_BTH_LEN;

	if (n > len)
		return 0;
	memcpy(head, pkt, n);
	head[0] |= 0xf0;
	if (grh) {
		head[8] |= 0x0f;
		memset(head + 9, 0xff, 3);
		head[15] = 0xff;
	}
	head[bth + 4] = 0xff;
	return n;
}

/**
 * packet_icrc - invariant CRC of a packet with a transport header
 * @pkt: LRH and all that follows, up to the pad bytes
 * @len: length without both CRCs
 *
 * Return: the value whose least significant byte is sent first; 0 for a packet without a BTH.
 */
u32 packet_icrc(const u8 *pkt, u32 len)
{
	u8 head[WIRE_LRH_LEN + WIRE_GRH_LEN + WIRE_BTH_LEN];
	u32 n;

	if (len < WIRE_LRH_LEN || !(pkt[1] & WIRE_LNH_IBA))
		return 0;
	n = mask_variant(pkt, len, head);
	if (!n)
		return 0;
	return ~crc32_ib(crc32_ib(~0u, head, n), pkt + n, len - n);
}

/**
 * packet_vcrc - variant CRC
 * @pkt: LRH up to and with the invariant CRC
 * @len: length without the variant CRC
 *
 * Return: the value whose least significant byte is sent first.
 */
u16 packet_vcrc(const u8 *pkt, u32 len)
{
	return ~crc16_ib(0xffff, pkt, len);
}

/**
 * packet_put_crcs - fill in both CRCs at the end of a packet
 * @pkt: whole packet
 * @len: its length with both CRCs
 *
 * Raw packets (next header 0 or 1) have no invariant CRC; their last four bytes are left alone.
 */
void packet_put_crcs(u8 *pkt, u32 len)
{
	u32 icrc, i;
	u16 vcrc;

	if (len < WIRE_LRH_LEN + ICRC_LEN + VCRC_LEN)
		return;
	len -= VCRC_LEN;
	if (pkt[1] & WIRE_LNH_IBA) {
		icrc = packet_icrc(pkt, len - ICRC_LEN);
		for (i = 0; i < ICRC_LEN; i++)
			pkt[len - ICRC_LEN + i] = icrc >> 8 * i;
	}
	vcrc = packet_vcrc(pkt, len);
	pkt[len] = vcrc;
	pkt[len + 1] = vcrc >> 8;
}

/**
 * packet_check_crcs - are both CRCs of a whole packet right?
 * @pkt: packet from outside; any bytes
 * @len: its length with both CRCs
 *
 * Return: true if they are.
 */
bool packet_check_crcs(const u8 *pkt, u32 len)
{
	u32 icrc, i;
	u16 vcrc;

	if (len < WIRE_LRH_LEN + ICRC_LEN + VCRC_LEN)
		return false;
	len -= VCRC_LEN;
	vcrc = packet_vcrc(pkt, len);
	if (pkt[len] != (u8)vcrc || pkt[len + 1] != (u8)(vcrc >> 8))
		return false;
	if (!(pkt[1] & WIRE_LNH_IBA))
		return true;
	icrc = packet_icrc(pkt, len - ICRC_LEN);
	for (i = 0; i < ICRC_LEN; i++)
		if (pkt[len - ICRC_LEN + i] != (u8)(icrc >> 8 * i))
			return false;
	return true;
}
