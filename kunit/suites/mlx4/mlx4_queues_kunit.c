// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work queues of mlx4_ib without hardware: how a send request is packed, what the hardware would
 * find in the ring around what was posted, and the links of a shared receive queue, which the test
 * follows as the hardware does.
 *
 * The driver's files are part of this one, under other names: the driver may be there as well.
 */
#include <linux/module.h>
#include <linux/prandom.h>

#include <ib/client.h>
#include <lastref/kunit.h>

#define mlx4_cmd			queues_cmd
#define mlx4_mailbox_alloc		queues_mailbox_alloc
#define mlx4_mailbox_free		queues_mailbox_free
#define mlx4_mtt_addr			queues_mtt_addr
#define mlx4_ib_closed			queues_closed
#define mlx4_ib_access			queues_access
#define mlx4_ib_buf_alloc		queues_buf_alloc
#define mlx4_ib_buf_free		queues_buf_free
#define mlx4_ib_buf_end			queues_buf_end
#define mlx4_ib_record_alloc		queues_record_alloc
#define mlx4_ib_record_free		queues_record_free
#define mlx4_ib_number_alloc		queues_number_alloc
#define mlx4_ib_number_free		queues_number_free
#define mlx4_ib_number_publish		queues_number_publish
#define mlx4_ib_number_hide		queues_number_hide
#define mlx4_ib_wq_init			queues_wq_init
#define mlx4_ib_wq_destroy		queues_wq_destroy
#define mlx4_ib_wq_close		queues_wq_close
#define mlx4_ib_cq_clean_srq		queues_cq_clean_srq
#define mlx4_ib_sq_stamp		queues_sq_stamp
#define mlx4_ib_sq_commit		queues_sq_commit
#define mlx4_ib_put_sges		queues_put_sges
#define mlx4_ib_segment			queues_segment
#define mlx4_ib_inline_end		queues_inline_end
#define mlx4_ib_put_inline		queues_put_inline
#define mlx4_ib_put_data		queues_put_data
#define mlx4_ib_build			queues_build
#define mlx4_ib_create_srq		queues_create_srq
#define mlx4_ib_destroy_srq		queues_destroy_srq
#define mlx4_ib_detach_srq		queues_detach_srq
#define mlx4_ib_release_srq		queues_release_srq
#define mlx4_ib_modify_srq		queues_modify_srq
#define mlx4_ib_query_srq		queues_query_srq
#define mlx4_ib_post_srq		queues_post_srq
#define mlx4_ib_srq_find		queues_srq_find
#define mlx4_ib_srq_received		queues_srq_received
#define mlx4_ib_srq_give_back		queues_srq_give_back

#include "ib_wq.c"
#include "ib_wqe.c"
#include "ib_srq.c"

/* ---- what the driver's files call ---- */

int queues_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	return 0;
}

int queues_closed(struct mlx4_ib_dev *dev, struct mlx4_call *call)
{
	return 0;
}

#include "bare_mailbox.h"

u64 queues_mtt_addr(struct mlx4_dev *dev, u32 index)
{
	return index * 8ULL;
}

u32 queues_access(u32 access)
{
	return access & IB_ACCESS_REMOTE_WRITE ? MLX4_ACCESS_REMOTE_WRITE : 0;
}

/* In pieces of 4 KiB, so that a ring of several is put together right. */
int queues_buf_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf, size_t size)
{
	buf->shift = 12;
	buf->count = DIV_ROUND_UP(size, 4096);
	buf->pieces = kcalloc(buf->count, sizeof(*buf->pieces), GFP_KERNEL);
	if (!buf->pieces)
		return -ENOMEM;
	for (unsigned int i = 0; i < buf->count; i++) {
		buf->pieces[i].cpu = kzalloc(4096, GFP_KERNEL);
		if (!buf->pieces[i].cpu)
			return -ENOMEM;
	}
	return 0;
}

void queues_buf_free(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf)
{
	for (unsigned int i = 0; i < buf->count; i++)
		kfree(buf->pieces[i].cpu);
	kfree(buf->pieces);
	memset(buf, 0, sizeof(*buf));
}

int queues_record_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record)
{
	record->at = kzalloc(8, GFP_KERNEL);
	return record->at ? 0 : -ENOMEM;
}

void queues_record_free(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record)
{
	kfree(record->at);
	record->at = NULL;
}

void queues_buf_end(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf,
		    struct mlx4_ib_record *record, bool unanswered)
{
	queues_buf_free(dev, buf);
	queues_record_free(dev, record);
}

int queues_number_alloc(struct mlx4_ib_dev *dev, struct xarray *table, u32 *next,
			const enum mlx4_table_id *icm, u32 first, u32 *number)
{
	*number = 5;
	return 0;
}

void queues_number_free(struct mlx4_ib_dev *dev, struct xarray *table,
			const enum mlx4_table_id *icm, u32 number)
{
}

void queues_number_publish(struct xarray *table, u32 number, void *object)
{
}

void queues_cq_clean_srq(struct mlx4_ib_cq *cq, u32 srqn)
{
}

void queues_number_hide(struct xarray *table, u32 number)
{
}

/* ---- a QP and an SRQ to try it with ---- */

#define LOG_STRIDE	8
#define ENTRIES		32

/**
 * struct bench - what there is in a test
 * @core: HCA
 * @dev: device
 * @attachment: owner of the objects
 * @qp: QP
 * @srq: SRQ
 * @pd: PD
 */
struct bench {
	struct mlx4_dev core;
	struct mlx4_ib_dev dev;
	struct ib_attachment attachment;
	struct mlx4_ib_qp qp;
	struct mlx4_ib_srq srq;
	struct mlx4_ib_pd pd;
};

static void bench_free(void *data)
{
	struct bench *b = data;

	queues_wq_destroy(&b->qp.sq);
	queues_buf_free(&b->dev, &b->qp.buf);
}

static struct bench *bench_make(struct kunit *test, enum ib_qp_type type)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct mlx4_ib_wq *sq;

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->dev.core = &b->core;
	b->attachment.device = &b->dev.ib;
	b->qp.ib.object.attachment = &b->attachment;
	b->srq.ib.object.attachment = &b->attachment;
	b->srq.ib.pd = &b->pd.ib;
	b->core.caps.log_srq_size = 14;
	b->core.caps.rq_sg = 32;
	b->core.caps.rq_desc = 512;
	b->qp.ib.type = type;
	sq = &b->qp.sq;
	sq->log_stride = LOG_STRIDE;
	sq->count = ENTRIES;
	sq->room = ENTRIES - mlx4_ib_sq_spare(LOG_STRIDE);
	sq->max_sge = 8;
	KUNIT_ASSERT_EQ(test, queues_buf_alloc(&b->dev, &b->qp.buf, ENTRIES << LOG_STRIDE), 0);
	KUNIT_ASSERT_EQ(test, queues_wq_init(sq, &b->qp.buf), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, bench_free, b), 0);
	queues_sq_stamp(sq);
	return b;
}

/* ---- packing ---- */

/* The rule in its plainest form: byte by byte, a header wherever a block or the data begins. */
static unsigned int plain_end(unsigned int at, unsigned int bytes)
{
	bool open = false;

	while (bytes--) {
		if (!open || !(at % 64))
			at += 4;
		open = true;
		at++;
	}
	return (at + 15) / 16 * 16;
}

static void queues_inline_length(struct kunit *test)
{
	for (unsigned int at = 16; at < 256; at += 16)
		for (unsigned int bytes = 0; bytes < 700; bytes++)
			KUNIT_ASSERT_EQ_MSG(test, queues_inline_end(at, bytes),
					    plain_end(at, bytes), "%u bytes at %u", bytes, at);
}

/* What the hardware would send: all inline pieces from @at on; -1: a piece leaves its block. */
static int inline_read(const u8 *wqe, unsigned int at, unsigned int end, u8 *out)
{
	int n = 0;

	while (at < end) {
		u32 head = get_unaligned_be32(wqe + at), bytes = head & ~BIT(31);

		if (!(head & BIT(31)) || at / 64 != (at + 3 + bytes) / 64)
			return -1;
		memcpy(out + n, wqe + at + 4, bytes);
		n += bytes;
		at = (at + 4 + bytes + 15) / 16 * 16;
	}
	return n;
}

static void queues_inline_data(struct kunit *test)
{
	struct bench *b = bench_make(test, IB_QPT_RC);
	u8 *data = kunit_kzalloc(test, 256, GFP_KERNEL);
	u8 *got = kunit_kzalloc(test, 256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_NULL(test, got);
	for (unsigned int i = 0; i < 256; i++)
		data[i] = i * 3 + 1;
	for (unsigned int bytes = 1; bytes < 220; bytes++) {
		/* In three pieces of memory, which the request does not show. */
		struct ib_sge sge[3] = {
			{ (uintptr_t)data, bytes / 4 },
			{ (uintptr_t)data + bytes / 4, 0 },
			{ (uintptr_t)data + bytes / 4, bytes - bytes / 4 },
		};
		struct ib_send_wr wr = {
			.opcode = IB_WR_SEND, .flags = IB_SEND_INLINE, .sg_list = sge, .num_sge = 3,
		};
		int size = queues_build(&b->qp, &wr);

		KUNIT_ASSERT_EQ(test, size, (int)plain_end(16, bytes));
		KUNIT_ASSERT_EQ(test, inline_read(b->qp.wqe, 16, size, got), (int)bytes);
		KUNIT_ASSERT_EQ(test, memcmp(got, data, bytes), 0);
	}
}

/* An operation as bytes, from the hardware's tables. */
static const struct {
	const char *name;
	enum ib_qp_type type;
	struct ib_send_wr wr;
	int size;
	u32 words[20];
} packed[] = {
	{ "send", IB_QPT_RC,
	  { .opcode = IB_WR_SEND, .num_sge = 1, .flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED },
	  32, { 0x0a, 2, 0x0e, 0, 100, 0x1234, 0x11, 0x22 } },
	{ "send with immediate", IB_QPT_UC,
	  { .opcode = IB_WR_SEND_WITH_IMM, .num_sge = 1, .imm_data = cpu_to_be32(0xabcd) },
	  32, { 0x0b, 2, 0, 0xabcd, 100, 0x1234, 0x11, 0x22 } },
	{ "send and invalidate", IB_QPT_RC,
	  { .opcode = IB_WR_SEND_WITH_INV, .invalidate_rkey = 0x777 },
	  16, { 0x01, 1, 0, 0x777 } },
	{ "write", IB_QPT_RC,
	  { .opcode = IB_WR_RDMA_WRITE, .num_sge = 1, .flags = IB_SEND_FENCE,
	    .rdma = { 0x0000000100000002, 0x99 } },
	  48, { 0x08, 0x43, 0, 0, 1, 2, 0x99, 0, 100, 0x1234, 0x11, 0x22 } },
	{ "read", IB_QPT_XRC_INI,
	  { .opcode = IB_WR_RDMA_READ, .num_sge = 1, .xrc_srqn = 0x5a,
	    .rdma = { 0x0000000100000002, 0x99 } },
	  48, { 0x10, 3, 0x5a00, 0, 1, 2, 0x99, 0, 100, 0x1234, 0x11, 0x22 } },
	{ "compare and swap", IB_QPT_RC,
	  { .opcode = IB_WR_ATOMIC_CMP_AND_SWP, .num_sge = 1,
	    .atomic = { .addr = 0x10, .compare_add = 0x20, .swap = 0x30, .rkey = 0x40 } },
	  64, { 0x11, 4, 0, 0, 0, 0x10, 0x40, 0, 0, 0x30, 0, 0x20, 100, 0x1234, 0x11, 0x22 } },
	{ "fetch and add", IB_QPT_RC,
	  { .opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .num_sge = 1,
	    .atomic = { .addr = 0x10, .compare_add = 0x20, .rkey = 0x40 } },
	  64, { 0x12, 4, 0, 0, 0, 0x10, 0x40, 0, 0, 0x20, 0, 0, 100, 0x1234, 0x11, 0x22 } },
	{ "invalidate", IB_QPT_RC,
	  { .opcode = IB_WR_LOCAL_INV, .invalidate_rkey = 0x777 },
	  48, { 0x1b, 3, 0x80, 0, 0, 0, 0x777, 0, 0, 0, 0, 0 } },
	{ "drain", IB_QPT_UD, { .opcode = IB_WR_DRAIN, .flags = IB_SEND_SIGNALED },
	  16, { 0x00, 1, 0x0c, 0 } },
};

static void queues_packed(struct kunit *test)
{
	struct ib_sge sge = { .addr = 0x0000001100000022, .length = 100, .lkey = 0x1234 };

	for (unsigned int n = 0; n < ARRAY_SIZE(packed); n++) {
		struct bench *b = bench_make(test, packed[n].type);
		struct ib_send_wr wr = packed[n].wr;

		wr.sg_list = &sge;
		memset(b->qp.wqe, 0xee, sizeof(b->qp.wqe));
		KUNIT_EXPECT_EQ_MSG(test, queues_build(&b->qp, &wr), packed[n].size, "%s",
				    packed[n].name);
		for (int i = 0; i < packed[n].size / 4; i++)
			KUNIT_EXPECT_EQ_MSG(test, get_unaligned_be32(b->qp.wqe + 4 * i),
					    packed[n].words[i], "%s, word %d", packed[n].name, i);
	}
}

static void queues_datagram(struct kunit *test)
{
	struct bench *b = bench_make(test, IB_QPT_UD);
	struct ib_sge sge = { .addr = 0x22, .length = 100, .lkey = 0x1234 };
	struct mlx4_ib_ah ah = {};
	u8 header[70];
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1, .flags = IB_SEND_IP_CSUM,
		.ud = { .ah = &ah.ib, .qpn = 0xff123456, .qkey = 0x80010000,
			.header = header, .hlen = sizeof(header), .mss = 1500 },
	};

	memset(ah.av, 0x5a, sizeof(ah.av));
	memset(header, 0xa5, sizeof(header));
	KUNIT_ASSERT_EQ(test, queues_build(&b->qp, &wr), 80);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(b->qp.wqe + 8), 0x30);
	KUNIT_EXPECT_EQ(test, memcmp(b->qp.wqe + 16, ah.av, 32), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(b->qp.wqe + 48), 0x123456);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(b->qp.wqe + 52), 0x80010000);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(b->qp.wqe + 64), 100);
	/* A header with its length is more than a block: a bit says so. */
	wr.opcode = IB_WR_LSO;
	KUNIT_ASSERT_EQ(test, queues_build(&b->qp, &wr), 64 + 80 + 16);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(b->qp.wqe), 0x4e);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(b->qp.wqe + 64), 1500 << 16 | 70);
	KUNIT_EXPECT_EQ(test, memcmp(b->qp.wqe + 68, header, 70), 0);
	wr.ud.hlen = 60;
	KUNIT_ASSERT_EQ(test, queues_build(&b->qp, &wr), 64 + 64 + 16);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(b->qp.wqe), 0x0e);
}

/* Each operation on each kind of QP: only what the specification has (IBA 11.4, table 92). */
static void queues_refused(struct kunit *test)
{
	static const struct {
		enum ib_qp_type type;
		u32 knows;
	} kinds[] = {
		{ IB_QPT_UD, BIT(IB_WR_SEND) | BIT(IB_WR_SEND_WITH_IMM) | BIT(IB_WR_LSO) |
			     BIT(IB_WR_DRAIN) },
		{ IB_QPT_UC, BIT(IB_WR_SEND) | BIT(IB_WR_SEND_WITH_IMM) | BIT(IB_WR_RDMA_WRITE) |
			     BIT(IB_WR_RDMA_WRITE_WITH_IMM) | BIT(IB_WR_LOCAL_INV) |
			     BIT(IB_WR_REG_MR) | BIT(IB_WR_BIND_MW) | BIT(IB_WR_DRAIN) },
		{ IB_QPT_RC, GENMASK(IB_WR_OPCODES - 1, 0) & ~BIT(IB_WR_LSO) },
		{ IB_QPT_XRC_INI, GENMASK(IB_WR_OPCODES - 1, 0) & ~BIT(IB_WR_LSO) },
	};
	u64 pages[2] = { 0x1000, 0x5000 };
	__be64 list[2] = {};
	struct mlx4_ib_mr mr = { .list = list };
	struct ib_mw mw = { .type = 2 };
	struct mlx4_ib_ah ah = {};

	mr.ib.pages = pages;
	mr.ib.npages = 2;
	mr.ib.page_size = 4096;
	for (unsigned int n = 0; n < ARRAY_SIZE(kinds); n++) {
		struct bench *b = bench_make(test, kinds[n].type);

		for (unsigned int op = 0; op <= IB_WR_OPCODES; op++) {
			struct ib_send_wr wr = { .opcode = op };
			bool knows = kinds[n].knows >> op & 1;

			if (kinds[n].type == IB_QPT_UD) {
				wr.ud.ah = &ah.ib;
				wr.ud.mss = 1000;
				wr.ud.hlen = 4;
				wr.ud.header = ah.av;
			} else if (op == IB_WR_REG_MR) {
				wr.reg.mr = &mr.ib;
			} else if (op == IB_WR_BIND_MW) {
				wr.bind.mw = &mw;
				wr.bind.mr = &mr.ib;
			}
			KUNIT_EXPECT_EQ_MSG(test, queues_build(&b->qp, &wr) > 0, knows,
					    "kind %u, operation %u", kinds[n].type, op);
		}
	}
	KUNIT_EXPECT_EQ(test, be64_to_cpu(list[1]), 0x5001);
}

static void queues_too_long(struct kunit *test)
{
	struct bench *b = bench_make(test, IB_QPT_RC);
	static u8 data[512];
	struct ib_sge sge[9] = { { (uintptr_t)data, 230 } };
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 9 };

	KUNIT_EXPECT_EQ(test, queues_build(&b->qp, &wr), -EINVAL);
	wr.num_sge = 1;
	wr.flags = IB_SEND_INLINE;
	for (u32 bytes = 0; bytes < 512; bytes++) {
		int want = plain_end(16, bytes) <= 1 << LOG_STRIDE ? plain_end(16, bytes) : -EINVAL;

		sge[0].length = bytes;
		KUNIT_ASSERT_EQ(test, queues_build(&b->qp, &wr), want);
	}
}

/* ---- the ring ---- */

/* Would the hardware take this block for something to execute? */
static bool looks_valid(struct mlx4_ib_wq *sq, u32 index, unsigned int block)
{
	const u8 *entry = mlx4_ib_wq_at(sq, index);
	u32 word = get_unaligned_be32(entry + 64 * block);

	if (block)
		return word != MLX4_WQE_STAMP;
	return word >> 31 == !!(index & sq->count);
}

static void queues_stamps(struct kunit *test)
{
	struct bench *b = bench_make(test, IB_QPT_RC);
	struct mlx4_ib_wq *sq = &b->qp.sq;
	struct rnd_state rnd;
	u8 wqe[256] = {};

	prandom_seed_state(&rnd, 42);
	for (u32 i = 0; i < 5 * ENTRIES; i++) {
		unsigned int bytes = 16 * (1 + prandom_u32_state(&rnd) % 16);

		/* All that is fetched ahead is invalid. */
		for (u32 ahead = 0; ahead < mlx4_ib_sq_spare(LOG_STRIDE); ahead++)
			for (unsigned int block = 0; block < 4; block++)
				KUNIT_ASSERT_FALSE_MSG(test, looks_valid(sq, i + ahead, block),
						       "block %u, %u ahead of %u", block, ahead, i);
		memset(wqe, 0x11 + i % 64, sizeof(wqe));
		mlx4_put(wqe, MLX4_CTRL_OWNER, 0);
		mlx4_put(wqe, MLX4_CTRL_SIZE, bytes / 16);
		queues_sq_commit(sq, wqe, bytes);
		KUNIT_ASSERT_EQ(test, sq->head, i + 1);
		for (unsigned int block = 0; block < DIV_ROUND_UP(bytes, 64); block++)
			KUNIT_ASSERT_TRUE(test, looks_valid(sq, i, block));
		KUNIT_ASSERT_EQ(test, memcmp(mlx4_ib_wq_at(sq, i) + 4, wqe + 4, bytes - 4), 0);
	}
}

static void queues_counters(struct kunit *test)
{
	struct bench *b = bench_make(test, IB_QPT_RC);
	struct mlx4_ib_wq *sq = &b->qp.sq;

	/* Both counters pass 16 and 32 bits. */
	sq->head = 0xfffffff0;
	sq->tail = sq->head;
	for (u32 i = 0; i < 200; i++) {
		u32 first = sq->head, n;

		for (n = 0; !mlx4_ib_wq_full(sq); n++)
			sq->ids[sq->head++ & (sq->count - 1)] = 1000 + first + n;
		KUNIT_ASSERT_EQ(test, n, sq->room);
		/* The completion of the third speaks for the first two. */
		mlx4_ib_wq_skip(sq, (first + 2) & U16_MAX);
		KUNIT_ASSERT_EQ(test, mlx4_ib_wq_retire(sq), (u64)(1000 + first + 2));
		mlx4_ib_wq_skip(sq, (first + n - 1) & U16_MAX);
		KUNIT_ASSERT_EQ(test, mlx4_ib_wq_retire(sq), (u64)(1000 + first + n - 1));
		KUNIT_ASSERT_EQ(test, sq->tail, sq->head);
	}
}

static void queues_receive(struct kunit *test)
{
	struct bench *b = bench_make(test, IB_QPT_RC);
	struct ib_sge sge[3] = { { 0x100, 10, 1 }, { 0x200, 0, 2 }, { 0x300, 30, 3 } };
	struct ib_recv_wr wr = { .sg_list = sge, .num_sge = 3 };
	u8 raw[64];

	b->qp.rq.max_sge = 4;
	memset(raw, 0xee, sizeof(raw));
	queues_put_sges(raw, &b->qp.rq, &wr);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(raw), 10);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(raw + 4), 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(raw + 8), 0x100ULL);
	/* What is empty is left out.  The list ends with no bytes, and a key that nobody has. */
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(raw + 16), 30);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(raw + 32), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(raw + 36), MLX4_INVALID_LKEY);
	KUNIT_EXPECT_EQ(test, raw[48], 0xee);
}

/* ---- the shared receive queue, as the hardware sees it ---- */

#define SRQ_WRS 30

static int srq_post(struct bench *b, u64 id)
{
	struct ib_sge sge = { .addr = id, .length = 8, .lkey = 3 };
	struct ib_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	return queues_post_srq(&b->srq.ib, &wr, &bad);
}

/* The request of an entry: its address says which. */
static u64 srq_id(struct bench *b, u16 slot)
{
	return get_unaligned_be64(mlx4_ib_wq_at(&b->srq.wq, slot) + 24);
}

static void srq_end(void *data)
{
	struct bench *b = data;

	queues_release_srq(&b->srq.ib);
}

static void queues_srq(struct kunit *test)
{
	struct bench *b = bench_make(test, IB_QPT_RC);
	struct ib_srq_init init = { .attr = { .max_wr = SRQ_WRS, .max_sge = 2 } };
	u64 posted = 0, taken = 0, freed = 0;
	u16 held[64], at = 0;
	unsigned int n = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_EQ(test, queues_create_srq(&b->srq.ib, &init, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, srq_end, b), 0);
	prandom_seed_state(&rnd, 7);
	for (unsigned int step = 0; step < 20000; step++) {
		u32 what = prandom_u32_state(&rnd) % 3;

		if (what == 0) {
			bool full = posted - freed == b->srq.wq.room;

			KUNIT_ASSERT_EQ(test, srq_post(b, posted), full ? -ENOMEM : 0);
			posted += !full;
			KUNIT_ASSERT_EQ(test, be32_to_cpu(*b->srq.record.at),
					(u32)posted & U16_MAX);
		} else if (what == 1 && taken != posted) {
			/*
			 * The hardware: entry 0 first, then by the link of the one before, which
			 * it reads together with that one: it may be free again by now.
			 */
			KUNIT_ASSERT_EQ(test, srq_id(b, at), taken);
			held[n++] = at;
			at = get_unaligned_be16(mlx4_ib_wq_at(&b->srq.wq, at) + 2);
			taken++;
		} else if (what == 2 && n) {
			/* It completes them in any order. */
			unsigned int i = prandom_u32_state(&rnd) % n;
			u16 slot = held[i];
			u64 id = srq_id(b, slot);

			KUNIT_ASSERT_EQ(test, queues_srq_received(&b->srq, slot), id);
			held[i] = held[--n];
			freed++;
		}
	}
	KUNIT_EXPECT_GT(test, posted, 2000ULL);
	b->srq.wq.flushed = true;
	KUNIT_EXPECT_EQ(test, srq_post(b, 1), -EIO);
}

static struct kunit_case queues_cases[] = {
	KUNIT_CASE(queues_inline_length),
	KUNIT_CASE(queues_inline_data),
	KUNIT_CASE(queues_packed),
	KUNIT_CASE(queues_datagram),
	KUNIT_CASE(queues_refused),
	KUNIT_CASE(queues_too_long),
	KUNIT_CASE(queues_stamps),
	KUNIT_CASE(queues_counters),
	KUNIT_CASE(queues_receive),
	KUNIT_CASE(queues_srq),
	{}
};

static struct kunit_suite queues_suite = {
	.name = "mlx4_queues",
	LR_SUITE_HOOKS,
	.test_cases = queues_cases,
};

kunit_test_suite(queues_suite);

MODULE_DESCRIPTION("LastRef: KUnit tests of mlx4_ib's work queues");
MODULE_LICENSE("GPL");
