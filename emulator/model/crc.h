/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two packet checksums of InfiniBand (IB specification volume 1, chapter 7.8).
 *
 * Both are reflected CRCs with an all-ones start value and a complemented result, stored least
 * significant byte first. The invariant CRC covers what no switch may change, the variant CRC the
 * whole packet with the invariant CRC.
 */
#ifndef CX3_CRC_H
#define CX3_CRC_H

#include "types.h"

#define ICRC_LEN 4
#define VCRC_LEN 2

u32 crc32_ib(u32 crc, const u8 *data, u32 len);
u16 crc16_ib(u16 crc, const u8 *data, u32 len);
u32 packet_icrc(const u8 *pkt, u32 len);
u16 packet_vcrc(const u8 *pkt, u32 len);
void packet_put_crcs(u8 *pkt, u32 len);
bool packet_check_crcs(const u8 *pkt, u32 len);

#endif
