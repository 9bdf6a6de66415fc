// SPDX-License-Identifier: GPL-2.0-only
/*
 * IPoIB's pure parts: addresses and headers as RFC 4391 has them, and the state machine of an
 * interface: which event takes what, and which rung follows from which facts.
 */
#include <linux/if_ether.h>
#include <linux/module.h>
#include <linux/skbuff.h>

#include <ib/compat.h>
#include <lastref/kunit.h>

#include "addr.h"
#include "ladder.h"

/* ---- addresses ---- */

static const union ib_gid gid = {
	.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x00, 0x02, 0xc9, 0x03, 0x00, 0xa1, 0xb2, 0xc3 },
};

static void address_is_flags_qpn_gid(struct kunit *test)
{
	static const u8 want[INFINIBAND_ALEN] = {
		0x00, 0x12, 0x34, 0x56, 0xfe, 0x80, 0, 0, 0, 0, 0, 0,
		0x00, 0x02, 0xc9, 0x03, 0x00, 0xa1, 0xb2, 0xc3,
	};
	u8 addr[INFINIBAND_ALEN];

	memset(addr, 0xa5, sizeof(addr));
	ipoib_addr_pack(addr, 0xff123456, &gid);
	KUNIT_EXPECT_MEMEQ(test, addr, want, sizeof(want));
	KUNIT_EXPECT_EQ(test, ipoib_addr_qpn(addr), 0x123456U);
	KUNIT_EXPECT_FALSE(test, ipoib_addr_is_group(addr));
	/* What a peer has in the flags is none of the QPN. */
	addr[0] = 0x80;
	KUNIT_EXPECT_EQ(test, ipoib_addr_qpn(addr), 0x123456U);
}

static void broadcast_has_the_partition(struct kunit *test)
{
	static const u8 want[INFINIBAND_ALEN] = {
		0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, 0, 0,
		0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};
	u8 addr[INFINIBAND_ALEN];

	ipoib_broadcast_pack(addr, 0x0001);
	KUNIT_EXPECT_MEMEQ(test, addr, want, sizeof(want));
	KUNIT_EXPECT_TRUE(test, ipoib_addr_is_group(addr));
	KUNIT_EXPECT_EQ(test, ipoib_addr_qpn(addr), IPOIB_QPN_MULTICAST);
}

static void group_gets_the_interface_partition(struct kunit *test)
{
	u8 addr[INFINIBAND_ALEN];
	union ib_gid mgid;

	/* 224.0.0.1, with a partition that somebody made up. */
	ipoib_broadcast_pack(addr, 0x7fff);
	put_unaligned_be32(0x00000001, addr + 16);
	ipoib_group_of(&mgid, addr, 0x8005);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(mgid.raw + 4), 0x8005);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(mgid.raw + 12), 1U);
	KUNIT_EXPECT_EQ(test, mgid.raw[0], 0xff);
}

static void only_groups_of_the_partition_fit(struct kunit *test)
{
	u8 broadcast[INFINIBAND_ALEN], addr[INFINIBAND_ALEN];

	ipoib_broadcast_pack(broadcast, 0xffff);
	KUNIT_EXPECT_TRUE(test, ipoib_group_fits(broadcast, broadcast));
	/* IPv6's signature is another, and as good. */
	memcpy(addr, broadcast, sizeof(addr));
	addr[6] = 0x60;
	KUNIT_EXPECT_TRUE(test, ipoib_group_fits(addr, broadcast));
	addr[9] ^= 1;
	KUNIT_EXPECT_FALSE(test, ipoib_group_fits(addr, broadcast));
	ipoib_addr_pack(addr, 0x48, &gid);
	KUNIT_EXPECT_FALSE(test, ipoib_group_fits(addr, broadcast));
	memcpy(addr, broadcast, sizeof(addr));
	addr[5] = 0x15;
	KUNIT_EXPECT_FALSE(test, ipoib_group_fits(addr, broadcast));
}

static void header_goes_before_the_packet(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(128, GFP_KERNEL);
	const struct ipoib_header *header;
	u8 daddr[INFINIBAND_ALEN];

	KUNIT_ASSERT_NOT_NULL(test, skb);
	ipoib_addr_pack(daddr, 0x48, &gid);
	skb_reserve(skb, IPOIB_HARD_HEADER_LEN);
	skb_put_u8(skb, 0x45);
	KUNIT_EXPECT_EQ(test, ipoib_header_push(skb, daddr, ETH_P_IP), 24);
	KUNIT_EXPECT_EQ(test, skb->len, 25U);
	header = (const struct ipoib_header *)skb->data;
	KUNIT_EXPECT_MEMEQ(test, header->daddr, daddr, sizeof(daddr));
	KUNIT_EXPECT_EQ(test, ntohs(header->proto), ETH_P_IP);
	KUNIT_EXPECT_EQ(test, header->reserved, 0);
	/* What is left when the destination has been taken off begins with the encapsulation. */
	KUNIT_EXPECT_EQ(test, skb->data[20], 0x08);
	KUNIT_EXPECT_EQ(test, skb->data[24], 0x45);
	kfree_skb(skb);
}

static void protocols(struct kunit *test)
{
	static const u16 good[] = { ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, ETH_P_RARP, ETH_P_TIPC };
	unsigned int i, known = 0;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_TRUE(test, ipoib_proto_known(htons(good[i])));
	for (i = 0; i < 65536; i++)
		known += ipoib_proto_known(htons(i));
	KUNIT_EXPECT_EQ(test, known, (unsigned int)ARRAY_SIZE(good));
}

static void partitions_of_users(struct kunit *test)
{
	u16 pkey = 0;

	KUNIT_EXPECT_EQ(test, ipoib_pkey_of_user(0, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_pkey_of_user(0x8000, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_pkey_of_user(0x10001, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_pkey_of_user(1, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0x8001);
	KUNIT_EXPECT_EQ(test, ipoib_pkey_of_user(0x8001, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0x8001);
}

/* ---- events ---- */

/* B27: that the SM moved takes nothing from us. */
static void b27_sm_change_flushes_nothing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, (int)ipoib_flush_of(IB_EVENT_SM_CHANGE), (int)IPOIB_FLUSH_NONE);
}

static void events_and_what_they_take(struct kunit *test)
{
	unsigned int i, some = 0;

	KUNIT_EXPECT_EQ(test, (int)ipoib_flush_of(IB_EVENT_CLIENT_REREGISTER),
			(int)IPOIB_FLUSH_LIGHT);
	KUNIT_EXPECT_EQ(test, (int)ipoib_flush_of(IB_EVENT_GID_CHANGE), (int)IPOIB_FLUSH_LIGHT);
	KUNIT_EXPECT_EQ(test, (int)ipoib_flush_of(IB_EVENT_PORT_ERR), (int)IPOIB_FLUSH_NORMAL);
	KUNIT_EXPECT_EQ(test, (int)ipoib_flush_of(IB_EVENT_PORT_ACTIVE), (int)IPOIB_FLUSH_NORMAL);
	KUNIT_EXPECT_EQ(test, (int)ipoib_flush_of(IB_EVENT_LID_CHANGE), (int)IPOIB_FLUSH_NORMAL);
	KUNIT_EXPECT_EQ(test, (int)ipoib_flush_of(IB_EVENT_PKEY_CHANGE), (int)IPOIB_FLUSH_HEAVY);
	for (i = 0; i < 256; i++)
		some += ipoib_flush_of(i) != IPOIB_FLUSH_NONE;
	KUNIT_EXPECT_EQ(test, some, 6U);
}

/* ---- the ladder ---- */

static struct ipoib_facts all_good(void)
{
	return (struct ipoib_facts){
		.present = true, .up = true, .has_pkey = true, .has_gid = true, .active = true,
		.joined = true, .pkey = 0xffff, .gid = gid,
	};
}

/* Every combination: a rung needs what it needs and everything below it. */
static void facts_allow_a_rung(struct kunit *test)
{
	unsigned int bits;

	for (bits = 0; bits < 64; bits++) {
		struct ipoib_facts f = {
			.present = bits & 1, .up = bits & 2, .has_pkey = bits & 4,
			.has_gid = bits & 8, .active = bits & 16, .joined = bits & 32,
		};
		enum ipoib_rung rung = ipoib_reach(&f);

		KUNIT_EXPECT_EQ(test, rung >= IPOIB_MADE, f.present);
		KUNIT_EXPECT_EQ(test, rung >= IPOIB_RUNNING, f.present && f.up && f.has_pkey);
		KUNIT_EXPECT_EQ(test, rung >= IPOIB_JOINING, (bits & 31) == 31);
		KUNIT_EXPECT_EQ(test, rung >= IPOIB_UP, bits == 63);
	}
}

static void nothing_new_takes_nothing(struct kunit *test)
{
	struct ipoib_facts f = all_good();

	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_NONE, &f, &f), (int)IPOIB_UP);
	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_LIGHT, &f, &f), (int)IPOIB_UP);
	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_NORMAL, &f, &f), (int)IPOIB_JOINING);
	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_HEAVY, &f, &f), (int)IPOIB_JOINING);
	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_RESTART, &f, &f), (int)IPOIB_MADE);
	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_REBUILD, &f, &f), (int)IPOIB_BARE);
}

/* B94, B96: a partition that moved in the table, or another one, sets the QP up again. */
static void b96_moved_partition_restarts(struct kunit *test)
{
	struct ipoib_facts then = all_good(), now = all_good();
	enum ipoib_flush flush;

	now.pkey_index = 3;
	for (flush = IPOIB_FLUSH_NONE; flush <= IPOIB_FLUSH_RESTART; flush++)
		KUNIT_EXPECT_EQ(test, (int)ipoib_fall(flush, &then, &now), (int)IPOIB_MADE);
	now = then;
	now.pkey = 0x8001;
	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_HEAVY, &then, &now), (int)IPOIB_MADE);
}

static void another_gid_joins_again(struct kunit *test)
{
	struct ipoib_facts then = all_good(), now = all_good();

	now.gid.raw[7] = 1;
	KUNIT_EXPECT_EQ(test, (int)ipoib_fall(IPOIB_FLUSH_LIGHT, &then, &now), (int)IPOIB_RUNNING);
}

static void backoff_doubles_up_to_sixteen(struct kunit *test)
{
	static const unsigned int want[] = { 1, 1, 2, 4, 8, 16, 16, 16 };
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_EQ(test, ipoib_backoff(i), want[i]);
	KUNIT_EXPECT_EQ(test, ipoib_backoff(UINT_MAX), 16U);
}

static void rungs_have_names(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < IPOIB_RUNGS; i++)
		KUNIT_EXPECT_STRNEQ(test, ipoib_rung_name(i), "unknown");
	KUNIT_EXPECT_STREQ(test, ipoib_rung_name(IPOIB_RUNGS), "unknown");
}

static struct kunit_case ladder_cases[] = {
	KUNIT_CASE(address_is_flags_qpn_gid),
	KUNIT_CASE(broadcast_has_the_partition),
	KUNIT_CASE(group_gets_the_interface_partition),
	KUNIT_CASE(only_groups_of_the_partition_fit),
	KUNIT_CASE(header_goes_before_the_packet),
	KUNIT_CASE(protocols),
	KUNIT_CASE(partitions_of_users),
	KUNIT_CASE(b27_sm_change_flushes_nothing),
	KUNIT_CASE(events_and_what_they_take),
	KUNIT_CASE(facts_allow_a_rung),
	KUNIT_CASE(nothing_new_takes_nothing),
	KUNIT_CASE(b96_moved_partition_restarts),
	KUNIT_CASE(another_gid_joins_again),
	KUNIT_CASE(backoff_doubles_up_to_sixteen),
	KUNIT_CASE(rungs_have_names),
	{}
};

static struct kunit_suite ladder_suite = {
	.name = "ipoib_ladder",
	LR_SUITE_HOOKS,
	.test_cases = ladder_cases,
};

kunit_test_suite(ladder_suite);

MODULE_DESCRIPTION("KUnit: IPoIB addresses and state machine");
MODULE_LICENSE("GPL");
