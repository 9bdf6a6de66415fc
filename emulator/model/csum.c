// SPDX-License-Identifier: GPL-2.0-only
/*
 * IP, TCP and UDP checksums of IPoIB datagrams: filled in for the sender, checked for the
 * receiver. A datagram begins with four bytes of IPoIB header, an Ethernet type and two
 * reserved ones (RFC 4391).
 */
#include "xport.h"

#define IPOIB_LEN 4
#define ETH_IP 0x0800
#define ETH_IP6 0x86dd
#define PROTO_TCP 6
#define PROTO_UDP 17
#define IP6_LEN 40

#define ST_IPV4 CX3_BIT(6)
#define ST_FRAG CX3_BIT(7)
#define ST_IPV6 CX3_BIT(8)
#define ST_OPTIONS CX3_BIT(9)
#define ST_TCP CX3_BIT(10)
#define ST_UDP CX3_BIT(11)
#define ST_IP_OK CX3_BIT(12)

/**
 * struct l3 - where things are in a datagram
 * @ip: IP header
 * @v6: version 6
 * @ip_len: its length
 * @frag: fragment of an IPv4 packet
 * @proto: protocol of what follows
 * @l4: TCP or UDP header
 * @l4_len: with payload
 * @sum: its checksum field, NULL if there is none
 */
struct l3 {
	u8 *ip;
	bool v6;
	u32 ip_len;
	bool frag;
	u8 proto;
	u8 *l4;
	u32 l4_len;
	u8 *sum;
};

static u32 add_bytes(u32 sum, const u8 *p, u32 len)
{
	for (; len > 1; p += 2, len -= 2)
		sum += get16(p);
	return len ? sum + (*p << 8) : sum;
}

static u16 fold(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Finds the headers; false if this is no whole IP packet. */
static bool dissect(u8 *payload, u32 len, struct l3 *l)
{
	u32 room, total;

	memset(l, 0, sizeof(*l));
	if (len < IPOIB_LEN + 20)
		return false;
	room = len - IPOIB_LEN;
	l->ip = payload + IPOIB_LEN;
	l->v6 = get16(payload) == ETH_IP6;
	if (l->v6) {
		if (room < IP6_LEN)
			return false;
		l->ip_len = IP6_LEN;
		total = IP6_LEN + get16(l->ip + 4);
		l->proto = l->ip[6];
	} else {
		if (get16(payload) != ETH_IP)
			return false;
		l->ip_len = (l->ip[0] & 15) * 4;
		total = get16(l->ip + 2);
		l->proto = l->ip[9];
		l->frag = get16(l->ip + 6) & 0x3fff;
	}
	if (l->ip_len < 20 || total < l->ip_len || total > room)
		return false;
	l->l4 = l->ip + l->ip_len;
	l->l4_len = total - l->ip_len;
	if (l->proto == PROTO_TCP && l->l4_len >= 20)
		l->sum = l->l4 + 16;
	else if (l->proto == PROTO_UDP && l->l4_len >= 8)
		l->sum = l->l4 + 6;
	return true;
}

static u16 l4_sum(const struct l3 *l)
{
	u32 sum = l->proto + (l->l4_len & 0xffff) + (l->l4_len >> 16);

	if (l->v6)
		sum = add_bytes(sum, l->ip + 8, 32);
	else
		sum = add_bytes(sum, l->ip + 12, 8);
	return fold(add_bytes(sum, l->l4, l->l4_len));
}

/**
 * csum_fill - put checksums into a datagram about to be sent
 * @payload: IPoIB header and packet
 * @len: bytes
 * @ip_csum: IPv4 header checksum
 * @l4_csum: TCP or UDP checksum; not in fragments
 */
void csum_fill(u8 *payload, u32 len, bool ip_csum, bool l4_csum)
{
	struct l3 l;
	u16 sum;

	if (!dissect(payload, len, &l))
		return;
	if (ip_csum && !l.v6) {
		put16(l.ip + 10, 0);
		put16(l.ip + 10, ~fold(add_bytes(0, l.ip, l.ip_len)));
	}
	if (l4_csum && l.sum && !l.frag) {
		put16(l.sum, 0);
		sum = ~l4_sum(&l);
		put16(l.sum, sum || l.proto == PROTO_TCP ? sum : 0xffff);
	}
}

/**
 * csum_report - tell in a completion what was found right
 * @payload: IPoIB header and packet
 * @len: bytes
 * @e: completion
 */
void csum_report(const u8 *payload, u32 len, struct cqe *e)
{
	struct l3 l;

	/* dissect() only looks; its pointers are not written through here */
	if (!dissect((u8 *)payload, len, &l))
		return;
	e->ip_status = l.v6 ? ST_IPV6 | ST_IP_OK : ST_IPV4;
	if (!l.v6 && fold(add_bytes(0, l.ip, l.ip_len)) == 0xffff)
		e->ip_status |= ST_IP_OK;
	if (!l.v6 && l.ip_len > 20)
		e->ip_status |= ST_OPTIONS;
	if (l.frag)
		e->ip_status |= ST_FRAG;
	if (!l.sum || l.frag)
		return;
	e->ip_status |= l.proto == PROTO_TCP ? ST_TCP : ST_UDP;
	/* a UDP sender may leave the checksum out */
	if (l4_sum(&l) == 0xffff || (l.proto == PROTO_UDP && !l.v6 && !get16(l.sum))) {
		e->l4_ok = 1;
		e->checksum = 0xffff;
	}
}
