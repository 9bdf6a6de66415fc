// SPDX-License-Identifier: GPL-2.0-only
/* See addr.h. */
#include <linux/export.h>
#include <linux/if_ether.h>
#include <linux/string.h>

#include <ib/compat.h>

#include "addr.h"

/* Signatures in bytes 2 and 3 of the MGID (RFC 4391 4), and link-local scope. */
static const u8 ipoib_broadcast_head[] = { 0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b };

static_assert(sizeof(struct ipoib_header) == IPOIB_HARD_HEADER_LEN);

void ipoib_addr_pack(u8 *addr, u32 qpn, const union ib_gid *gid)
{
	put_unaligned_be32(qpn & 0xffffff, addr);
	memcpy(addr + IPOIB_ADDR_GID, gid->raw, sizeof(gid->raw));
}
EXPORT_SYMBOL_GPL(ipoib_addr_pack);

void ipoib_broadcast_pack(u8 *addr, u16 pkey)
{
	memset(addr, 0, INFINIBAND_ALEN);
	memcpy(addr, ipoib_broadcast_head, sizeof(ipoib_broadcast_head));
	put_unaligned_be16(pkey | IB_PKEY_FULL_MEMBER,
			   addr + IPOIB_ADDR_GID + IPOIB_MGID_PKEY);
	memset(addr + INFINIBAND_ALEN - 4, 0xff, 4);
}
EXPORT_SYMBOL_GPL(ipoib_broadcast_pack);

void ipoib_group_of(union ib_gid *mgid, const u8 *addr, u16 pkey)
{
	memcpy(mgid->raw, addr + IPOIB_ADDR_GID, sizeof(mgid->raw));
	put_unaligned_be16(pkey | IB_PKEY_FULL_MEMBER, mgid->raw + IPOIB_MGID_PKEY);
}
EXPORT_SYMBOL_GPL(ipoib_group_of);

bool ipoib_group_fits(const u8 *addr, const u8 *broadcast)
{
	/* Flags, QPN, 0xff and scope; then what follows the signature's first byte, and P_Key. */
	return ipoib_addr_is_group(addr) && !memcmp(addr, broadcast, 6) &&
	       !memcmp(addr + 7, broadcast + 7, 3);
}
EXPORT_SYMBOL_GPL(ipoib_group_fits);

int ipoib_header_push(struct sk_buff *skb, const u8 *daddr, u16 proto)
{
	struct ipoib_header *header = skb_push(skb, sizeof(*header));

	memcpy(header->daddr, daddr, sizeof(header->daddr));
	header->proto = htons(proto);
	header->reserved = 0;
	return sizeof(*header);
}
EXPORT_SYMBOL_GPL(ipoib_header_push);

bool ipoib_proto_known(__be16 proto)
{
	switch (proto) {
	case htons(ETH_P_IP):
	case htons(ETH_P_IPV6):
	case htons(ETH_P_ARP):
	case htons(ETH_P_RARP):
	case htons(ETH_P_TIPC):
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_GPL(ipoib_proto_known);

int ipoib_pkey_of_user(unsigned long value, u16 *pkey)
{
	if (value > 0xffff || !(value & IB_PKEY_PARTITION))
		return -EINVAL;
	*pkey = value | IB_PKEY_FULL_MEMBER;
	return 0;
}
EXPORT_SYMBOL_GPL(ipoib_pkey_of_user);
