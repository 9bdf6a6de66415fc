// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large send: one WQE with a header and much TCP payload becomes many datagrams, each with its
 * own copy of the header, changed where the packets of a stream differ.
 */
#include "xport.h"

#define IPOIB_LEN 4
#define ETH_IP6 0x86dd
#define IP6_LEN 40
#define TCP_FIN_PSH 0x09
#define TCP_CWR 0x80

/**
 * lso_header - the header of one packet of a large send
 * @w: WQE
 * @off: payload bytes before this packet
 * @len: payload bytes in it
 * @dst: @w->lso.hdr_len bytes
 *
 * Checksums are not touched here.
 */
void lso_header(const struct swqe *w, u64 off, u32 len, u8 *dst)
{
	u32 hdr_len = w->lso.hdr_len, ip_len;
	u8 *ip = dst + IPOIB_LEN, *tcp;

	memcpy(dst, w->raw + w->hdr, hdr_len);
	if (hdr_len < IPOIB_LEN + 20)
		return;
	if (get16(dst) == ETH_IP6) {
		ip_len = IP6_LEN;
		put16(ip + 4, hdr_len - IPOIB_LEN - IP6_LEN + len);
	} else {
		ip_len = (ip[0] & 15) * 4;
		put16(ip + 2, hdr_len - IPOIB_LEN + len);
		put16(ip + 4, get16(ip + 4) + (u32)off / w->lso.mss);
	}
	if (hdr_len < IPOIB_LEN + ip_len + 20)
		return;
	tcp = ip + ip_len;
	put32(tcp + 4, get32(tcp + 4) + (u32)off);
	if (off + len < w->len)
		tcp[13] &= ~TCP_FIN_PSH;
	if (off)
		tcp[13] &= ~TCP_CWR;
}
