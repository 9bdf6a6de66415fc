/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IPoIB on the wire and in a net_device: hardware address, encapsulation header, group addresses
 * (RFC 4391).  Pure functions of their arguments.
 */
#ifndef IPOIB_ADDR_H
#define IPOIB_ADDR_H

#include <linux/if_infiniband.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include <ib/port.h>

/* A hardware address: flags (1), QPN (3), GID (16); RFC 4391 9.1.1. */
#define IPOIB_ADDR_FLAGS 0
#define IPOIB_ADDR_QPN 1
#define IPOIB_ADDR_GID 4

/* Offset of the P_Key in an MGID (RFC 4391 4): in a hardware address it is at 8. */
#define IPOIB_MGID_PKEY 4

/* The QPN of all multicast packets (IBA 9.6.1.1). */
#define IPOIB_QPN_MULTICAST 0xffffff

/* The encapsulation header (RFC 4391 6): protocol (2), reserved (2). */
#define IPOIB_ENCAP_LEN 4

/* Bytes of a GRH at the start of each buffer that a UD QP receives into (IBA 8.3). */
#define IPOIB_GRH_LEN 40
#define IPOIB_GRH_DGID 24

/* What a packet of the network stack begins with here: the destination, then the header. */
#define IPOIB_HARD_HEADER_LEN (INFINIBAND_ALEN + IPOIB_ENCAP_LEN)

/**
 * struct ipoib_header - what stands before a packet between the network stack and the interface
 * @daddr: hardware address of the destination; never on the wire
 * @proto: ethertype, network byte order
 * @reserved: zero
 */
struct ipoib_header {
	u8 daddr[INFINIBAND_ALEN];
	__be16 proto;
	__be16 reserved;
} __packed;

/**
 * ipoib_addr_pack() - make a hardware address
 * @addr: INFINIBAND_ALEN bytes, filled in
 * @qpn: queue pair, 24 bits
 * @gid: of the port
 *
 * The flags are zero: connected mode is not offered.
 */
void ipoib_addr_pack(u8 *addr, u32 qpn, const union ib_gid *gid);

/**
 * ipoib_addr_qpn() - the queue pair in a hardware address
 * @addr: INFINIBAND_ALEN bytes
 *
 * Return: 24 bits.
 */
static inline u32 ipoib_addr_qpn(const u8 *addr)
{
	return addr[IPOIB_ADDR_QPN] << 16 | addr[IPOIB_ADDR_QPN + 1] << 8 |
	       addr[IPOIB_ADDR_QPN + 2];
}

/**
 * ipoib_addr_is_group() - is it the address of a multicast group?
 * @addr: INFINIBAND_ALEN bytes
 *
 * Return: yes, if so (IBA 4.1.1: the first byte of an MGID is 0xff).
 */
static inline bool ipoib_addr_is_group(const u8 *addr)
{
	return addr[IPOIB_ADDR_GID] == 0xff;
}

/**
 * ipoib_broadcast_pack() - the broadcast address of a partition (RFC 4391 4)
 * @addr: INFINIBAND_ALEN bytes, filled in
 * @pkey: partition; the full member bit is set in it
 */
void ipoib_broadcast_pack(u8 *addr, u16 pkey);

/**
 * ipoib_group_of() - the group that packets to a hardware address go to
 * @mgid: filled in
 * @addr: a group's hardware address; what it says of the partition is not trusted
 * @pkey: the interface's partition
 */
void ipoib_group_of(union ib_gid *mgid, const u8 *addr, u16 pkey);

/**
 * ipoib_group_fits() - may the interface join the group of this address?
 * @addr: hardware address from the interface's multicast list
 * @broadcast: the interface's broadcast address
 *
 * Return: no, if it is no group or one of another scope or partition.
 */
bool ipoib_group_fits(const u8 *addr, const u8 *broadcast);

/**
 * ipoib_header_push() - &header_ops.create: put destination and encapsulation before a packet
 * @skb: the packet; has IPOIB_HARD_HEADER_LEN bytes of headroom
 * @daddr: INFINIBAND_ALEN bytes
 * @proto: ethertype, host byte order
 *
 * Return: IPOIB_HARD_HEADER_LEN.
 */
int ipoib_header_push(struct sk_buff *skb, const u8 *daddr, u16 proto);

/**
 * ipoib_proto_known() - is this a protocol that IPoIB carries?
 * @proto: ethertype, network byte order
 *
 * Return: yes for IPv4, IPv6, ARP, RARP and TIPC.
 */
bool ipoib_proto_known(__be16 proto);

/**
 * ipoib_pkey_of_user() - check a P_Key that a user wants a child interface for
 * @value: what the user gave
 * @pkey: filled in, with the full member bit
 *
 * Return: 0, or -EINVAL: no partition, or more than 16 bits.
 */
int ipoib_pkey_of_user(unsigned long value, u16 *pkey);

#endif /* IPOIB_ADDR_H */
