// SPDX-License-Identifier: GPL-2.0-only
/*
 * What QP0 and QP1 of mlx4_ib send: the headers are read back by the layouts of the specification
 * (chapters 7.7, 8.3, 9.2 and 9.3.2), the request by that of the hardware.
 *
 * The driver's files are part of this one, under other names: the driver may be there as well.
 */
#include <linux/module.h>

#include <ib/client.h>
#include <lastref/kunit.h>

#define ib_gid_cached			special_gid
#define ib_pkey_cached			special_pkey
#define mlx4_ib_access			special_access
#define mlx4_ib_build_special		special_build
#define mlx4_ib_segment			special_segment
#define mlx4_ib_inline_end		special_inline_end
#define mlx4_ib_put_inline		special_put_inline
#define mlx4_ib_put_data		special_put_data
#define mlx4_ib_build			special_build_other

#include "ib_wqe.c"
#include "ib_mlx.c"

#define PAYLOAD		256
#define SGID_LAST	0x42
#define QKEY1		0x80010000

int special_gid(struct ib_device *device, u8 port, unsigned int index, union ib_gid *gid)
{
	if (index != 3)
		return -EINVAL;
	*gid = (union ib_gid){ .raw = { 0xfe, 0x80, [14] = port, [15] = SGID_LAST } };
	return 0;
}

int special_pkey(struct ib_device *device, u8 port, unsigned int index, u16 *pkey)
{
	*pkey = 0x8000 | index;
	return index < 128 ? 0 : -EINVAL;
}

u32 special_access(u32 access)
{
	return access;
}

/**
 * struct special - what there is in a test
 * @dev: device
 * @attachment: owner of the objects
 * @qp: QP0 or QP1
 * @ah: address
 * @sge: a MAD
 * @wr: the request
 * @packet: all headers, as they would leave
 * @bytes: their length
 */
struct special {
	struct mlx4_ib_dev dev;
	struct ib_attachment attachment;
	struct mlx4_ib_qp qp;
	struct mlx4_ib_ah ah;
	struct ib_sge sge;
	struct ib_send_wr wr;
	u8 packet[128];
	unsigned int bytes;
};

static struct special *special_make(struct kunit *test, enum ib_qp_type type)
{
	struct special *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->attachment.device = &s->dev.ib;
	atomic64_set(&s->dev.sl_to_vl[1], 0x0123456701234567ULL);
	s->qp.ib.object.attachment = &s->attachment;
	s->qp.ib.type = type;
	s->qp.ib.port = 2;
	s->qp.qkey = QKEY1;
	s->qp.psn = 0xfffffe;
	s->qp.sq.log_stride = 8;
	s->qp.sq.max_sge = 4;
	s->ah.ib.attr = (struct ib_ah_attr){ .dlid = 0x1234, .sl = 3, .path_bits = 5, .port = 2 };
	s->sge = (struct ib_sge){ .addr = 0x1000, .length = PAYLOAD, .lkey = 7 };
	s->wr = (struct ib_send_wr){
		.opcode = IB_WR_SEND, .flags = IB_SEND_SIGNALED, .sg_list = &s->sge, .num_sge = 1,
		.ud = { .ah = &s->ah.ib, .qpn = type == IB_QPT_GSI, .qkey = QKEY1,
			.pkey_index = 9 },
	};
	return s;
}

/* Build, and take the request apart: headers, one piece of memory, room for the CRC. */
static void send(struct kunit *test, struct special *s)
{
	unsigned int at = 16;
	int size = special_build(&s->qp, &s->wr);
	u32 head;

	KUNIT_ASSERT_GT(test, size, 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(s->qp.wqe) & 0x1f, 0x0a);
	KUNIT_EXPECT_EQ(test, s->qp.wqe[7] & 0x3f, size / 16);
	s->bytes = 0;
	while ((head = get_unaligned_be32(s->qp.wqe + at)) & BIT(31)) {
		head &= ~BIT(31);
		KUNIT_ASSERT_EQ(test, at / 64, (at + 3 + head) / 64);
		memcpy(s->packet + s->bytes, s->qp.wqe + at + 4, head);
		s->bytes += head;
		at = round_up(at + 4 + head, 16);
	}
	KUNIT_EXPECT_EQ(test, head, PAYLOAD);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(s->qp.wqe + at + 4), 7);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(s->qp.wqe + at + 8), 0x1000ULL);
	at += 16;
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(s->qp.wqe + at), 0x80000004);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(s->qp.wqe + at + 4), 0);
	KUNIT_EXPECT_EQ(test, at + 16, size);
}

/* Everything between the local route header and the payload. */
static void check_transport(struct kunit *test, const u8 *bth, u16 pkey, u32 qpn, u32 psn,
			    u32 source)
{
	KUNIT_EXPECT_EQ(test, bth[0], 0x64);		/* UD, send only */
	KUNIT_EXPECT_EQ(test, bth[1], 0x40);		/* migrated, no padding */
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(bth + 2), pkey);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(bth + 4), qpn);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(bth + 8), psn);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(bth + 12), QKEY1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(bth + 16), source);
}

/* To a node without a LID, from a port without one. */
static void special_directed(struct kunit *test)
{
	struct special *s = special_make(test, IB_QPT_SMI);

	s->ah.ib.attr.dlid = 0xffff;
	s->ah.ib.attr.sl = 0;
	send(test, s);
	KUNIT_ASSERT_EQ(test, s->bytes, 8 + 12 + 8);
	KUNIT_EXPECT_EQ(test, s->packet[0], 0xf0);	/* virtual lane 15 */
	KUNIT_EXPECT_EQ(test, s->packet[1], 2);		/* a BTH follows */
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->packet + 2), 0xffff);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->packet + 4), (28 + PAYLOAD + 4) / 4);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->packet + 6), 0xffff);
	check_transport(test, s->packet + 8, 0xffff, 0, 0xfffffe, 0);
	/* VL15, source LID as it stands, completion; destination. */
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(s->qp.wqe + 8), 0x3000c);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->qp.wqe + 12), 0xffff);
}

static void special_to_a_lid(struct kunit *test)
{
	struct special *s = special_make(test, IB_QPT_GSI);

	s->wr.flags = 0;
	for (u32 i = 0; i < 4; i++) {
		send(test, s);
		KUNIT_ASSERT_EQ(test, s->bytes, 28);
		KUNIT_EXPECT_EQ(test, s->packet[0], 3 << 4);	/* the lane of service level 3 */
		KUNIT_EXPECT_EQ(test, s->packet[1], 3 << 4 | 2);
		KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->packet + 2), 0x1234);
		KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->packet + 6), 5);
		check_transport(test, s->packet + 8, 0x8009, 1, (0xfffffe + i) & 0xffffff, 1);
		KUNIT_EXPECT_EQ(test, get_unaligned_be32(s->qp.wqe + 8), 3 << 8);
		KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->qp.wqe + 12), 0x1234);
	}
}

static void special_with_grh(struct kunit *test)
{
	struct special *s = special_make(test, IB_QPT_GSI);
	const u8 *grh = s->packet + 8;

	s->ah.ib.attr.has_grh = true;
	s->ah.ib.attr.grh = (struct ib_grh_attr){
		.dgid = { .raw = { 0xff, 0x12, [15] = 1 } }, .flow_label = 0x54321,
		.sgid_index = 3, .hop_limit = 64, .traffic_class = 0x77,
	};
	s->wr.flags |= IB_SEND_SOLICITED;
	send(test, s);
	KUNIT_ASSERT_EQ(test, s->bytes, 8 + 40 + 12 + 8);
	KUNIT_EXPECT_EQ(test, s->packet[1], 3 << 4 | 3);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(s->packet + 4), (68 + PAYLOAD + 4) / 4);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(grh), 0x67754321);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(grh + 4), 12 + 8 + PAYLOAD + 4);
	KUNIT_EXPECT_EQ(test, grh[6], 0x1b);
	KUNIT_EXPECT_EQ(test, grh[7], 64);
	KUNIT_EXPECT_EQ(test, grh[8 + 14], 2);
	KUNIT_EXPECT_EQ(test, grh[8 + 15], SGID_LAST);
	KUNIT_EXPECT_EQ(test, grh[24], 0xff);
	KUNIT_EXPECT_EQ(test, grh[24 + 15], 1);
	KUNIT_EXPECT_EQ(test, grh[40 + 1], 0xc0);	/* a solicited event */
	s->ah.ib.attr.grh.sgid_index = 4;
	KUNIT_EXPECT_EQ(test, special_build(&s->qp, &s->wr), -EINVAL);
}

static void special_refused(struct kunit *test)
{
	struct special *s = special_make(test, IB_QPT_GSI);

	s->sge.length = 255;
	KUNIT_EXPECT_EQ(test, special_build(&s->qp, &s->wr), -EINVAL);
	s->sge.length = 8192;
	KUNIT_EXPECT_EQ(test, special_build(&s->qp, &s->wr), -EINVAL);
	s->sge.length = PAYLOAD;
	s->wr.ud.pkey_index = 200;
	KUNIT_EXPECT_EQ(test, special_build(&s->qp, &s->wr), -EINVAL);
	s->wr.ud.pkey_index = 0;
	s->wr.opcode = IB_WR_SEND_WITH_IMM;
	KUNIT_EXPECT_EQ(test, special_build(&s->qp, &s->wr), -EINVAL);
	s->wr.opcode = IB_WR_SEND;
	s->wr.flags = IB_SEND_INLINE;
	KUNIT_EXPECT_EQ(test, special_build(&s->qp, &s->wr), -EINVAL);
	s->wr.flags = 0;
	s->ah.ib.attr.port = 1;
	KUNIT_EXPECT_EQ(test, special_build(&s->qp, &s->wr), -EINVAL);
	s->ah.ib.attr.port = 2;
	KUNIT_EXPECT_EQ(test, s->qp.psn, 0xfffffe);
	KUNIT_EXPECT_GT(test, special_build(&s->qp, &s->wr), 0);
}

/* Lane 15 is QP0's, on every service level; QP1 has the lanes of the table, and never that one. */
static void special_lanes(struct kunit *test)
{
	struct special *zero = special_make(test, IB_QPT_SMI);
	struct special *one = special_make(test, IB_QPT_GSI);
	u64 table = 0x0123456f01234f67ULL;
	unsigned int sl, lane;

	atomic64_set(&zero->dev.sl_to_vl[1], table);
	atomic64_set(&one->dev.sl_to_vl[1], table);
	for (sl = 0; sl < 16; sl++) {
		lane = table >> (60 - 4 * sl) & 0xf;
		zero->ah.ib.attr.sl = sl;
		send(test, zero);
		KUNIT_EXPECT_EQ(test, zero->packet[0] >> 4, 15);
		KUNIT_EXPECT_EQ(test, get_unaligned_be32(zero->qp.wqe + 8) & BIT(17), BIT(17));
		one->ah.ib.attr.sl = sl;
		if (lane == 15) {
			KUNIT_EXPECT_EQ(test, special_build(&one->qp, &one->wr), -EINVAL);
			continue;
		}
		send(test, one);
		KUNIT_EXPECT_EQ(test, one->packet[0] >> 4, lane);
		KUNIT_EXPECT_EQ(test, get_unaligned_be32(one->qp.wqe + 8) & BIT(17), 0);
	}
}

static struct kunit_case special_cases[] = {
	KUNIT_CASE(special_directed),
	KUNIT_CASE(special_to_a_lid),
	KUNIT_CASE(special_with_grh),
	KUNIT_CASE(special_lanes),
	KUNIT_CASE(special_refused),
	{}
};

static struct kunit_suite special_suite = {
	.name = "mlx4_special",
	LR_SUITE_HOOKS,
	.test_cases = special_cases,
};

kunit_test_suite(special_suite);

MODULE_DESCRIPTION("LastRef: KUnit tests of mlx4_ib's special QPs");
MODULE_LICENSE("GPL");
