// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues of mlx4_ib without hardware: the suite writes entries as the HCA does and takes
 * them out by polling; cleaning, resizing and flushing are tried in every position of a small ring.
 *
 * The driver's file is part of this one, under other names: the driver may be there as well.
 */
#define BARE(name) cqs_##name
#include "bare.h"

#define mlx4_ib_qp_sent			cqs_qp_sent
#define mlx4_ib_qp_received		cqs_qp_received
#define mlx4_ib_qp_take_flushed		cqs_qp_take_flushed
#define mlx4_ib_srq_find		cqs_srq_find
#define mlx4_ib_srq_received		cqs_srq_received
#define mlx4_ib_srq_give_back		cqs_srq_give_back
#define mlx4_ib_cq_make			cqs_cq_make
#define mlx4_ib_cq_take			cqs_cq_take
#define mlx4_ib_cq_unmake		cqs_cq_unmake
#define mlx4_ib_cq_clean		cqs_cq_clean
#define mlx4_ib_cq_clean_srq		cqs_cq_clean_srq
#define mlx4_ib_cq_flush		cqs_cq_flush
#define mlx4_ib_create_cq		cqs_create_cq
#define mlx4_ib_destroy_cq		cqs_destroy_cq
#define mlx4_ib_detach_cq		cqs_detach_cq
#define mlx4_ib_release_cq		cqs_release_cq
#define mlx4_ib_poll_cq			cqs_poll_cq
#define mlx4_ib_arm_cq			cqs_arm_cq
#define mlx4_ib_resize_cq		cqs_resize_cq
#define mlx4_ib_moderate_cq		cqs_moderate_cq
#define ib_cq_completed			cqs_completed

#include "ib_cq.c"

#include "bare_body.h"

#include <linux/module.h>

#include <ib/client.h>
#include <lastref/kunit.h>

#define LOG_SIZE	3
#define SIZE		BIT(LOG_SIZE)
#define QPS		4
#define FIRST_QPN	0x40

/**
 * struct cqs - what there is in a test
 * @core: HCA
 * @dev: device
 * @attachment: owner of the objects
 * @cq: the CQ, SIZE entries
 * @record: its doorbell record
 * @qps: QPs that complete there
 * @srq: SRQ of those that have one
 * @given_back: how often the SRQ got an entry back, by index
 * @flushes: requests that are left in the queues, to be flushed
 * @produced: entries the HCA has written
 * @mark: the call of MODIFY_CQ that is tried ends the ring
 * @test: for assertions in what the driver calls
 */
struct cqs {
	struct mlx4_dev core;
	struct mlx4_ib_dev dev;
	struct ib_attachment attachment;
	struct mlx4_ib_cq cq;
	__be32 record[2];
	struct mlx4_ib_qp qps[QPS];
	struct mlx4_ib_srq srq;
	unsigned int given_back[16];
	int flushes;
	u32 produced;
	bool mark;
	struct kunit *test;
};

static struct cqs *present; /* the test that runs; there is one at a time */

static void produce(struct cqs *c, u32 qpn, u8 opcode, bool send, u16 counter);

/* ---- what the driver's file calls ---- */

/* As a ring comes from the HCA: owned by it, whatever pass it will be written in @first. */
static void fresh(u32 first, unsigned int log)
{
	for (u32 n = 0; n < BIT(log); n++)
		mlx4_put(bare_ring + ((first + n) & (BIT(log) - 1)) * MLX4_CQE_SIZE,
			 MLX4_CQE_OWNER, !ring_pass(log, first + n));
}

/* MODIFY_CQ: the HCA ends the old ring with a mark; the new one begins behind it. */
int cqs_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	if (call->op_mod == MLX4_MODIFY_CQ_RESIZE)
		fresh(present->produced + 1, mlx4_get(call->in->buf, MLX4_CQC_LOG_SIZE));
	if (present->mark)
		produce(present, 0, MLX4_CQE_RESIZED, false, 0);
	return 0;
}

void cqs_completed(struct ib_cq *cq)
{
}

int cqs_closed(struct mlx4_ib_dev *dev, struct mlx4_call *call)
{
	return 0;
}

u64 cqs_qp_sent(struct mlx4_ib_qp *qp, u16 counter)
{
	return counter;
}

u64 cqs_qp_received(struct mlx4_ib_qp *qp)
{
	return 1000 + qp->rq.tail++;
}

int cqs_qp_take_flushed(struct mlx4_ib_qp *qp, bool send, int count, struct ib_wc *wc)
{
	int n = 0;

	for (; n < count && present->flushes; n++, present->flushes--) {
		memset(&wc[n], 0, sizeof(wc[n]));
		wc[n].status = IB_WC_WR_FLUSH_ERR;
		wc[n].qp = &qp->ib;
	}
	return n;
}

struct mlx4_ib_srq *cqs_srq_find(struct mlx4_ib_dev *dev, u32 srqn)
{
	return srqn == 7 ? &present->srq : NULL;
}

u64 cqs_srq_received(struct mlx4_ib_srq *srq, u16 index)
{
	return 2000 + index;
}

void cqs_srq_give_back(struct mlx4_ib_srq *srq, u16 index)
{
	present->given_back[index % ARRAY_SIZE(present->given_back)]++;
}

/* ---- the HCA's side ---- */

static void *next_entry(struct cqs *c)
{
	void *cqe = ring_entry(&c->cq.buf, c->cq.log_size, c->produced);

	memset(cqe, 0, MLX4_CQE_SIZE - 1);
	return cqe;
}

static void give(struct cqs *c, void *cqe, u8 opcode, bool send)
{
	mlx4_put(cqe, MLX4_CQE_OPCODE, opcode);
	mlx4_put(cqe, MLX4_CQE_IS_SEND, send);
	mlx4_put(cqe, MLX4_CQE_OWNER, ring_pass(c->cq.log_size, c->produced));
	c->produced++;
}

static void produce(struct cqs *c, u32 qpn, u8 opcode, bool send, u16 counter)
{
	void *cqe = next_entry(c);

	mlx4_put(cqe, MLX4_CQE_QPN, qpn);
	mlx4_put(cqe, MLX4_CQE_COUNTER, counter);
	give(c, cqe, opcode, send);
}

static void send_done(struct cqs *c, unsigned int qp, u16 counter)
{
	produce(c, FIRST_QPN + qp, MLX4_SEND_SEND, true, counter);
}

static void cqs_free(void *data)
{
	struct cqs *c = data;

	cqs_buf_free(&c->dev, &c->cq.buf);
	xa_destroy(&c->dev.qps);
}

/* A CQ whose index stands at @index, with QPS QPs. */
static struct cqs *make(struct kunit *test, u32 index)
{
	struct cqs *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, c);
	present = c;
	c->test = test;
	c->dev.core = &c->core;
	c->core.caps.log_cq_size = 22;
	c->core.icm.tables[MLX4_QPC].count = 1024;
	c->attachment.device = &c->dev.ib;
	c->cq.ib.object.attachment = &c->attachment;
	c->cq.log_size = LOG_SIZE;
	c->cq.record.at = c->record;
	spin_lock_init(&c->cq.lock);
	mutex_init(&c->cq.resizing);
	INIT_LIST_HEAD(&c->cq.send_qps);
	INIT_LIST_HEAD(&c->cq.recv_qps);
	KUNIT_ASSERT_EQ(test, cqs_buf_alloc(&c->dev, &c->cq.buf, MLX4_CQE_SIZE << LOG_SIZE), 0);
	fresh(index, LOG_SIZE);
	c->cq.index = index;
	c->produced = index;
	c->record[0] = cpu_to_be32(index & MLX4_CQ_INDEX);
	xa_init_flags(&c->dev.qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, cqs_free, c), 0);
	for (i = 0; i < QPS; i++) {
		c->qps[i].ib.qpn = FIRST_QPN + i;
		c->qps[i].number = FIRST_QPN + i;
		c->qps[i].ib.port = 1;
		KUNIT_ASSERT_EQ(test, xa_err(xa_store_irq(&c->dev.qps, FIRST_QPN + i, &c->qps[i],
							  GFP_KERNEL)), 0);
	}
	list_add_tail(&c->qps[0].send_node, &c->cq.send_qps);
	return c;
}

static int poll(struct cqs *c, int count, struct ib_wc *wc)
{
	int n = cqs_poll_cq(&c->cq.ib, count, wc);

	KUNIT_EXPECT_EQ(c->test, be32_to_cpu(c->record[0]), c->cq.index & MLX4_CQ_INDEX);
	return n;
}

/* ---- tests ---- */

/* Every entry comes out once and in order, in every pass and across the wrap of the index. */
static void cqs_order(struct kunit *test)
{
	static const u32 starts[] = { 0, 5, SIZE - 1, 0xfffffd, U32_MAX - 3 };
	struct ib_wc wc[SIZE];
	unsigned int i, round, n, got;
	u16 sent, seen;
	struct cqs *c;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		c = make(test, starts[i]);
		for (round = 0, sent = 0, seen = 0; round < 5 * SIZE; round++) {
			for (n = 0; n < round % SIZE; n++)
				send_done(c, n % QPS, sent++);
			got = poll(c, SIZE, wc);
			KUNIT_EXPECT_EQ(test, got, round % SIZE);
			for (n = 0; n < got; n++) {
				KUNIT_EXPECT_EQ(test, wc[n].wr_id, seen++);
				KUNIT_EXPECT_PTR_EQ(test, wc[n].qp, &c->qps[n % QPS].ib);
				KUNIT_EXPECT_EQ(test, wc[n].status, IB_WC_SUCCESS);
			}
		}
	}
}

static void cqs_errors(struct kunit *test)
{
	static const struct { u8 syndrome; enum ib_wc_status status; } table[] = {
		{ 0x01, IB_WC_LOC_LEN_ERR }, { 0x04, IB_WC_LOC_PROT_ERR },
		{ 0x05, IB_WC_WR_FLUSH_ERR }, { 0x13, IB_WC_REM_ACCESS_ERR },
		{ 0x15, IB_WC_RETRY_EXC_ERR }, { 0x16, IB_WC_RNR_RETRY_EXC_ERR },
		{ 0x22, IB_WC_REM_ABORT_ERR }, { 0x77, IB_WC_GENERAL_ERR },
	};
	struct cqs *c = make(test, 0);
	struct ib_wc wc;
	unsigned int i;
	void *cqe;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		cqe = next_entry(c);
		mlx4_put(cqe, MLX4_CQE_QPN, FIRST_QPN);
		mlx4_put(cqe, MLX4_CQE_COUNTER, i);
		mlx4_put(cqe, MLX4_CQE_VENDOR, 0x5a);
		mlx4_put(cqe, MLX4_CQE_SYNDROME, table[i].syndrome);
		give(c, cqe, MLX4_CQE_ERROR, true);
		KUNIT_EXPECT_EQ(test, poll(c, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.status, table[i].status);
		KUNIT_EXPECT_EQ(test, wc.vendor_err, 0x5a);
		KUNIT_EXPECT_EQ(test, wc.wr_id, i);
	}
}

static void cqs_receive(struct kunit *test)
{
	struct cqs *c = make(test, 0);
	struct ib_wc wc;
	void *cqe = next_entry(c);

	mlx4_put(cqe, MLX4_CQE_QPN, FIRST_QPN + 1);
	mlx4_put(cqe, MLX4_CQE_IMM, 0x01020304);
	mlx4_put(cqe, MLX4_CQE_GRH, 1);
	mlx4_put(cqe, MLX4_CQE_PATH_BITS, 3);
	mlx4_put(cqe, MLX4_CQE_REMOTE, 0x123456);
	mlx4_put(cqe, MLX4_CQE_SL, 5);
	mlx4_put(cqe, MLX4_CQE_SLID, 0x11);
	mlx4_put(cqe, MLX4_CQE_BYTES, 296);
	mlx4_put(cqe, MLX4_CQE_IP_OK, 1);
	mlx4_put(cqe, MLX4_CQE_TCP_UDP, 1);
	mlx4_put(cqe, MLX4_CQE_CHECKSUM, 0xffff);
	give(c, cqe, MLX4_RECV_SEND_IMM, false);
	KUNIT_EXPECT_EQ(test, poll(c, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.flags, IB_WC_WITH_IMM | IB_WC_GRH | IB_WC_IP_CSUM_OK);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.imm_data), 0x01020304);
	KUNIT_EXPECT_EQ(test, wc.byte_len, 296);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 0x123456);
	KUNIT_EXPECT_EQ(test, wc.slid, 0x11);
	KUNIT_EXPECT_EQ(test, wc.sl, 5);
	KUNIT_EXPECT_EQ(test, wc.dlid_path_bits, 3);
	KUNIT_EXPECT_EQ(test, wc.pkey_index, 4);
	KUNIT_EXPECT_EQ(test, wc.port, 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1000);

	/* A checksum that the HCA has not found right is none. */
	cqe = next_entry(c);
	mlx4_put(cqe, MLX4_CQE_QPN, FIRST_QPN + 1);
	mlx4_put(cqe, MLX4_CQE_IP_OK, 1);
	mlx4_put(cqe, MLX4_CQE_CHECKSUM, 0xffff);
	give(c, cqe, MLX4_RECV_SEND, false);
	KUNIT_EXPECT_EQ(test, poll(c, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.flags, 0);
}

/* Receives of an SRQ, and of XRC targets that are there and that are not. */
static void cqs_shared(struct kunit *test)
{
	struct cqs *c = make(test, 0);
	struct ib_wc wc[2];
	void *cqe;

	c->qps[1].ib.srq = &c->srq.ib;
	produce(c, FIRST_QPN + 1, MLX4_RECV_SEND, false, 9);
	KUNIT_EXPECT_EQ(test, poll(c, 2, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 2009);

	c->qps[2].ib.type = IB_QPT_XRC_TGT;
	c->qps[2].number |= MLX4_QPN_XRC;
	cqe = next_entry(c);
	mlx4_put(cqe, MLX4_CQE_QPN, (FIRST_QPN + 2) | MLX4_QPN_XRC);
	mlx4_put(cqe, MLX4_CQE_REMOTE, 7);
	mlx4_put(cqe, MLX4_CQE_COUNTER, 3);
	give(c, cqe, MLX4_RECV_SEND, false);
	KUNIT_EXPECT_EQ(test, poll(c, 2, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 2003);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &c->qps[2].ib);

	/* Nobody hears of it, and the SRQ gets its entry back. */
	cqe = next_entry(c);
	mlx4_put(cqe, MLX4_CQE_QPN, 0x99 | MLX4_QPN_XRC);
	mlx4_put(cqe, MLX4_CQE_REMOTE, 7);
	mlx4_put(cqe, MLX4_CQE_COUNTER, 5);
	give(c, cqe, MLX4_RECV_SEND, false);
	KUNIT_EXPECT_EQ(test, poll(c, 2, wc), 0);
	KUNIT_EXPECT_EQ(test, c->given_back[5], 1);
}

/* Every choice of entries that go, at every position: the others stay, in order. */
static void cqs_clean(struct kunit *test)
{
	struct ib_wc wc[SIZE];
	unsigned int start, choice, i, n;
	struct cqs *c;

	for (start = 0; start < 2 * SIZE; start += 3) {
		for (choice = 0; choice < 64; choice++) {
			c = make(test, start);
			for (i = 0; i < 6; i++)
				send_done(c, choice >> i & 1, i);
			cqs_cq_clean(&c->cq, FIRST_QPN + 1, NULL);
			n = poll(c, SIZE, wc);
			KUNIT_EXPECT_EQ(test, n, 6 - hweight32(choice));
			for (i = 0, n = 0; i < 6; i++)
				if (!(choice >> i & 1))
					KUNIT_EXPECT_EQ(test, wc[n++].wr_id, i);
			/* The ring is whole: what comes next is found. */
			send_done(c, 2, 77);
			KUNIT_EXPECT_EQ(test, poll(c, SIZE, wc), 1);
			KUNIT_EXPECT_EQ(test, wc[0].wr_id, 77);
		}
	}
}

static void cqs_clean_srq(struct kunit *test)
{
	struct cqs *c = make(test, SIZE - 2);
	struct ib_wc wc[SIZE];
	unsigned int i;

	for (i = 0; i < SIZE; i++)
		produce(c, FIRST_QPN + (i & 1), MLX4_RECV_SEND, i == 3, i);
	cqs_cq_clean(&c->cq, FIRST_QPN + 1, &c->srq);
	for (i = 0; i < SIZE; i++)
		KUNIT_EXPECT_EQ(test, c->given_back[i], (i & 1) && i != 3);
	KUNIT_EXPECT_EQ(test, poll(c, SIZE, wc), SIZE / 2);
}

/* To a larger and to a smaller ring, with any number of entries left, wherever the index stands. */
static void cqs_resize(struct kunit *test)
{
	struct ib_wc *wc = kunit_kcalloc(test, 4 * SIZE, sizeof(*wc), GFP_KERNEL);
	unsigned int start, left, log, i, n;
	struct cqs *c;

	KUNIT_ASSERT_NOT_NULL(test, wc);

	for (start = 0; start < 3 * SIZE; start++)
		for (left = 0; left < SIZE; left++)
			for (log = LOG_SIZE - 1; log <= LOG_SIZE + 2; log++) {
				if (log == LOG_SIZE)
					continue;
				c = make(test, start);
				for (i = 0; i < left; i++)
					send_done(c, 0, i);
				if (left >= BIT(log)) {
					KUNIT_EXPECT_EQ(test, cqs_resize_cq(&c->cq.ib, BIT(log) - 1,
									    NULL), -EINVAL);
					continue;
				}
				c->mark = true;
				KUNIT_EXPECT_EQ(test, cqs_resize_cq(&c->cq.ib, BIT(log) - 1, NULL),
						0);
				c->mark = false;
				KUNIT_EXPECT_EQ(test, c->cq.ib.cqe, BIT(log) - 1);
				send_done(c, 1, left);
				n = poll(c, 4 * SIZE, wc);
				KUNIT_EXPECT_EQ(test, n, left + 1);
				for (i = 0; i < n; i++)
					KUNIT_EXPECT_EQ(test, wc[i].wr_id, i);
			}
}

/* Poll meets the mark before the new ring is there: it waits. */
static void cqs_mark(struct kunit *test)
{
	struct cqs *c = make(test, 0);
	struct ib_wc wc[4];

	send_done(c, 0, 1);
	produce(c, 0, MLX4_CQE_RESIZED, false, 0);
	KUNIT_EXPECT_EQ(test, poll(c, 4, wc), 1);
	KUNIT_EXPECT_EQ(test, poll(c, 4, wc), 0);
	KUNIT_EXPECT_EQ(test, c->cq.index, 1);
}

/* First what the hardware had written, then the rest once; what it writes later is not believed. */
static void cqs_flush(struct kunit *test)
{
	struct cqs *c = make(test, 6);
	struct ib_wc wc[4];

	send_done(c, 0, 1);
	send_done(c, 0, 2);
	c->flushes = 5;
	KUNIT_EXPECT_EQ(test, poll(c, 1, wc), 1);
	cqs_cq_flush(&c->cq);
	KUNIT_EXPECT_EQ(test, poll(c, 4, wc), 4);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 2);
	KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc[1].status, IB_WC_WR_FLUSH_ERR);
	send_done(c, 0, 3);
	KUNIT_EXPECT_EQ(test, poll(c, 4, wc), 2);
	KUNIT_EXPECT_EQ(test, wc[1].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, poll(c, 4, wc), 0);
}

/* A completion of a QP that has been detached reaches nobody. */
static void cqs_stranger(struct kunit *test)
{
	struct cqs *c = make(test, 0);
	struct ib_wc wc[4];

	xa_store_irq(&c->dev.qps, FIRST_QPN + 2, NULL, GFP_KERNEL);
	send_done(c, 2, 1);
	send_done(c, 1, 2);
	KUNIT_EXPECT_EQ(test, poll(c, 4, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 2);
	/* Nor does that of an XRC target whose place another QP has. */
	produce(c, (FIRST_QPN + 1) | MLX4_QPN_XRC, MLX4_RECV_SEND, false, 1);
	KUNIT_EXPECT_EQ(test, poll(c, 4, wc), 0);
}

static struct kunit_case cqs_cases[] = {
	KUNIT_CASE(cqs_order),
	KUNIT_CASE(cqs_errors),
	KUNIT_CASE(cqs_receive),
	KUNIT_CASE(cqs_shared),
	KUNIT_CASE(cqs_clean),
	KUNIT_CASE(cqs_clean_srq),
	KUNIT_CASE(cqs_resize),
	KUNIT_CASE(cqs_mark),
	KUNIT_CASE(cqs_flush),
	KUNIT_CASE(cqs_stranger),
	{}
};

static struct kunit_suite cqs_suite = {
	.name = "mlx4_cq",
	LR_SUITE_HOOKS,
	.test_cases = cqs_cases,
};

kunit_test_suite(cqs_suite);

MODULE_DESCRIPTION("LastRef: tests of mlx4_ib's completion queues");
MODULE_LICENSE("GPL");
