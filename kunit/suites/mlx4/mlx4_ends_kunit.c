// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the objects of mlx4_ib end while others use them: a QP that is reset or destroyed while its
 * CQ changes its ring, queues that are posted to while they are destroyed, the CQs that an XRC
 * target completes into.
 *
 * Memory is freed as the driver frees it, so that KASAN sees who looks there afterwards.  That the
 * object's own memory stays for who is inside a call is ib_core's part, and the test's here.
 */
#include <linux/completion.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#include <ib/client.h>
#include <lastref/kunit.h>

#define BARE(name) ends_##name
#include "bare.h"

#define mlx4_ib_cq_clean		ends_cq_clean
#define mlx4_ib_cq_clean_srq		ends_cq_clean_srq
#define mlx4_ib_cq_make			ends_cq_make
#define mlx4_ib_cq_take			ends_cq_take
#define mlx4_ib_cq_unmake		ends_cq_unmake
#define mlx4_ib_cq_flush		ends_cq_flush
#define mlx4_ib_create_cq		ends_create_cq
#define mlx4_ib_destroy_cq		ends_destroy_cq
#define mlx4_ib_detach_cq		ends_detach_cq
#define mlx4_ib_release_cq		ends_release_cq
#define mlx4_ib_poll_cq			ends_poll_cq
#define mlx4_ib_arm_cq			ends_arm_cq
#define mlx4_ib_resize_cq		ends_resize_cq
#define mlx4_ib_moderate_cq		ends_moderate_cq
#define mlx4_ib_create_qp		ends_create_qp
#define mlx4_ib_destroy_qp		ends_destroy_qp
#define mlx4_ib_detach_qp		ends_detach_qp
#define mlx4_ib_release_qp		ends_release_qp
#define mlx4_ib_qp_reset		ends_qp_reset
#define mlx4_ib_qp_state		ends_qp_state
#define mlx4_ib_port_close		ends_port_close
#define mlx4_ib_create_srq		ends_create_srq
#define mlx4_ib_destroy_srq		ends_destroy_srq
#define mlx4_ib_detach_srq		ends_detach_srq
#define mlx4_ib_release_srq		ends_release_srq
#define mlx4_ib_modify_srq		ends_modify_srq
#define mlx4_ib_query_srq		ends_query_srq
#define mlx4_ib_post_srq		ends_post_srq
#define mlx4_ib_srq_find		ends_srq_find
#define mlx4_ib_srq_received		ends_srq_received
#define mlx4_ib_srq_give_back		ends_srq_give_back
#define mlx4_ib_wq_init			ends_wq_init
#define mlx4_ib_wq_destroy		ends_wq_destroy
#define mlx4_ib_wq_close		ends_wq_close
#define mlx4_ib_sq_stamp		ends_sq_stamp
#define mlx4_ib_sq_commit		ends_sq_commit
#define mlx4_ib_put_sges		ends_put_sges
#define mlx4_ib_post_send		ends_post_send
#define mlx4_ib_post_recv		ends_post_recv
#define mlx4_ib_build			ends_build
#define mlx4_ib_build_special		ends_build_special
#define mlx4_ib_inline_end		ends_inline_end
#define mlx4_ib_qp_sent			ends_qp_sent
#define mlx4_ib_qp_received		ends_qp_received
#define mlx4_ib_qp_flush		ends_qp_flush
#define mlx4_ib_srq_flush		ends_srq_flush
#define mlx4_ib_qp_take_flushed		ends_qp_take_flushed
#define ib_cq_completed			ends_cq_completed
/* Doorbells. */
#undef iowrite32be
#undef writeq
#define iowrite32be			ends_doorbell
#define writeq				ends_doorbell

static void ends_doorbell(u64 value, const void __iomem *at);

#include "ib_cq.c"
#include "ib_qp.c"
#include "ib_srq.c"
#include "ib_wq.c"
#include "ib_post.c"
#include "ib_flush.c"

#include "bare_body.h"

#define RING	16
#define ROUNDS	50

/**
 * struct ends - what there is in a test
 * @hca: HCA, as ib_core sees it
 * @core: HCA
 * @dev: device
 * @attachment: owner of the objects
 * @pd: PD
 * @xrcd: XRC domain
 * @cq: a CQ
 * @doorbells: rung so far
 * @at_end: how many were, when the command came that takes an object away
 * @slow: a MODIFY_CQ is executed and not answered before @answer
 * @asked: it has been executed
 * @answer: see there
 * @ring: where the HCA writes completions
 * @log_size: log2 of its entries
 * @produced: entries that it has written, marks too
 * @test: for assertions
 */
struct ends {
	struct ib_hca hca;
	struct mlx4_dev core;
	struct mlx4_ib_dev dev;
	struct ib_attachment attachment;
	struct mlx4_ib_pd pd;
	struct mlx4_ib_xrcd xrcd;
	struct mlx4_ib_cq cq;
	atomic_t doorbells;
	int at_end;
	bool slow;
	struct completion asked;
	struct completion answer;
	void *ring;
	unsigned int log_size;
	u32 produced;
	struct kunit *test;
};

static struct ends *present; /* the test that runs; there is one at a time */

static void ends_doorbell(u64 value, const void __iomem *at)
{
	atomic_inc(&present->doorbells);
}

void ends_cq_completed(struct ib_cq *cq)
{
}

int ends_port_close(struct mlx4_ib_dev *dev, u8 port)
{
	return 0;
}

/* Requests of one block. */
unsigned int ends_inline_end(unsigned int at, unsigned int bytes)
{
	return at;
}

int ends_build(struct mlx4_ib_qp *qp, const struct ib_send_wr *wr)
{
	memset(qp->wqe, 0, MLX4_WQE_BLOCK);
	return MLX4_WQE_BLOCK;
}

int ends_build_special(struct mlx4_ib_qp *qp, const struct ib_send_wr *wr)
{
	return -EINVAL;
}

/* ---- the HCA's side ---- */

static void produce(struct ends *e, u8 opcode, bool send, u32 number, u32 srqn, u16 counter)
{
	void *cqe = e->ring + (e->produced & (BIT(e->log_size) - 1)) * MLX4_CQE_SIZE;

	mlx4_put(cqe, MLX4_CQE_QPN, number);
	mlx4_put(cqe, MLX4_CQE_REMOTE, srqn);
	mlx4_put(cqe, MLX4_CQE_COUNTER, counter);
	mlx4_put(cqe, MLX4_CQE_IS_SEND, send);
	mlx4_put(cqe, MLX4_CQE_OPCODE, opcode);
	mlx4_put(cqe, MLX4_CQE_OWNER, ring_pass(e->log_size, e->produced));
	e->produced++;
}

static void sent(struct ends *e, struct mlx4_ib_qp *qp, u16 counter)
{
	produce(e, MLX4_SEND_SEND, true, qp->number, 0, counter);
}

static void received(struct ends *e, struct mlx4_ib_qp *qp, struct mlx4_ib_srq *srq, u16 entry)
{
	produce(e, MLX4_RECV_SEND, false, qp->number, srq->ib.srqn, entry);
}

/* The ring that was made last is the HCA's: no entry looks written before it is. */
static void take_ring(struct ends *e, const void *context)
{
	u32 i;

	e->ring = bare_ring;
	e->log_size = mlx4_get(context, MLX4_CQC_LOG_SIZE);
	for (i = e->produced; i < e->produced + BIT(e->log_size); i++)
		mlx4_put(e->ring + (i & (BIT(e->log_size) - 1)) * MLX4_CQE_SIZE, MLX4_CQE_OWNER,
			 !ring_pass(e->log_size, i));
}

int ends_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	struct ends *e = present;

	if (call->op == MLX4_2RST_QP)
		e->at_end = atomic_read(&e->doorbells);
	if (call->op == MLX4_SW2HW_CQ)
		take_ring(e, call->in->buf);
	if (call->op != MLX4_MODIFY_CQ)
		return 0;
	produce(e, MLX4_CQE_RESIZED, false, 0, 0, 0);
	take_ring(e, call->in->buf);
	if (e->slow) {
		complete(&e->asked);
		wait_for_completion(&e->answer);
	}
	return 0;
}

/* ---- what there is ---- */

static void ends_free(void *data)
{
	struct ends *e = data;

	ends_detach_cq(&e->cq.ib);
	ends_release_cq(&e->cq.ib);
	xa_destroy(&e->dev.cqs);
	xa_destroy(&e->dev.qps);
	xa_destroy(&e->dev.srqs);
}

static struct ends *make(struct kunit *test)
{
	struct ends *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct ib_cq_init init = { .cqe = RING - 1 };

	KUNIT_ASSERT_NOT_NULL(test, e);
	present = e;
	e->test = test;
	e->dev.core = &e->core;
	e->core.hca = &e->hca;
	e->attachment.device = &e->dev.ib;
	e->core.special_qpn = 64;
	e->core.icm.tables[MLX4_QPC].count = 1024;
	e->core.caps = (struct mlx4_caps){
		.log_cq_size = 10, .log_qp_size = 14, .log_srq_size = 14, .sq_sg = 8, .rq_sg = 8,
		.sq_desc = 1008, .rq_desc = 512,
	};
	xa_init_flags(&e->dev.cqs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&e->dev.qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&e->dev.srqs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	mutex_init(&e->xrcd.lock);
	INIT_LIST_HEAD(&e->xrcd.srqs);
	init_completion(&e->asked);
	init_completion(&e->answer);
	e->cq.ib.object.attachment = &e->attachment;
	KUNIT_ASSERT_EQ(test, ends_create_cq(&e->cq.ib, &init, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, ends_free, e), 0);
	return e;
}

static struct mlx4_ib_srq *new_srq(struct ends *e, bool xrc)
{
	struct ib_srq_init init = { .attr = { .max_wr = RING - 1, .max_sge = 1 } };
	struct mlx4_ib_srq *srq = kunit_kzalloc(e->test, sizeof(*srq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(e->test, srq);
	srq->ib.object.attachment = &e->attachment;
	srq->ib.pd = &e->pd.ib;
	if (xrc) {
		srq->ib.xrcd = &e->xrcd.ib;
		srq->ib.cq = &e->cq.ib;
	}
	KUNIT_ASSERT_EQ(e->test, ends_create_srq(&srq->ib, &init, NULL), 0);
	return srq;
}

static struct mlx4_ib_qp *new_qp(struct ends *e, enum ib_qp_type type, struct mlx4_ib_srq *srq)
{
	struct ib_qp_init init = {
		.type = type, .srq = srq ? &srq->ib : NULL,
		.cap = { .max_send_wr = RING, .max_recv_wr = RING, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct mlx4_ib_qp *qp = kunit_kzalloc(e->test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(e->test, qp);
	qp->ib.object.attachment = &e->attachment;
	qp->ib.type = type;
	qp->ib.srq = init.srq;
	if (type == IB_QPT_XRC_TGT) {
		qp->ib.xrcd = &e->xrcd.ib;
	} else {
		qp->ib.pd = &e->pd.ib;
		qp->ib.send_cq = &e->cq.ib;
		qp->ib.recv_cq = &e->cq.ib;
	}
	KUNIT_ASSERT_EQ(e->test, ends_create_qp(&qp->ib, &init, NULL), 0);
	qp->hardware = true;
	qp->state = IB_QPS_RTS;
	return qp;
}

static int post_send(struct mlx4_ib_qp *qp, u64 id)
{
	struct ib_send_wr wr = { .wr_id = id, .opcode = IB_WR_SEND };
	const struct ib_send_wr *bad;

	return ends_post_send(&qp->ib, &wr, &bad);
}

static int post_recv(struct mlx4_ib_qp *qp, u64 id)
{
	struct ib_recv_wr wr = { .wr_id = id };
	const struct ib_recv_wr *bad;

	return ends_post_recv(&qp->ib, &wr, &bad);
}

static int post_srq(struct mlx4_ib_srq *srq, u64 id)
{
	struct ib_recv_wr wr = { .wr_id = id };
	const struct ib_recv_wr *bad;

	return ends_post_srq(&srq->ib, &wr, &bad);
}

/* Entries that can be posted once more. */
static unsigned int free_entries(struct mlx4_ib_srq *srq)
{
	unsigned int n = 0;
	u16 at;

	for (at = srq->free; at != srq->last && n < RING; at = link_get(srq, at))
		n++;
	return n;
}

static void end_qp(struct mlx4_ib_qp *qp)
{
	ends_destroy_qp(&qp->ib);
	ends_detach_qp(&qp->ib);
	ends_release_qp(&qp->ib);
}

static void end_srq(struct mlx4_ib_srq *srq)
{
	ends_destroy_srq(&srq->ib);
	ends_detach_srq(&srq->ib);
	ends_release_srq(&srq->ib);
}

/**
 * struct side - something that is done at the same time
 * @e: see there
 * @qp: a QP
 * @srq: an SRQ
 * @act: what is done
 * @result: what came out
 * @over: it has been done
 */
struct side {
	struct ends *e;
	struct mlx4_ib_qp *qp;
	struct mlx4_ib_srq *srq;
	int (*act)(struct side *side);
	int result;
	struct completion over;
};

static int side_run(void *data)
{
	struct side *side = data;

	side->result = side->act(side);
	complete(&side->over);
	return 0;
}

static void side_start(struct side *side)
{
	struct task_struct *task;

	init_completion(&side->over);
	task = kthread_run(side_run, side, "ends");
	KUNIT_ASSERT_FALSE(side->e->test, IS_ERR(task));
}

/* ---- a QP leaves its CQ while that changes its ring ---- */

static int resize(struct side *side)
{
	return ends_resize_cq(&side->e->cq.ib, 4 * RING - 1, NULL);
}

static int leave_reset(struct side *side)
{
	ends_qp_reset(side->qp);
	return 0;
}

static int leave_for_good(struct side *side)
{
	ends_detach_qp(&side->qp->ib);
	return 0;
}

static void leave_in_resize(struct kunit *test, int (*leave)(struct side *side))
{
	struct ends *e = make(test);
	struct mlx4_ib_srq *srq = new_srq(e, false);
	struct mlx4_ib_qp *goes = new_qp(e, IB_QPT_RC, srq), *stays = new_qp(e, IB_QPT_RC, NULL);
	struct side resizer = { .e = e, .act = resize };
	struct side leaver = { .e = e, .act = leave, .qp = goes };
	struct ib_wc wc[4];
	unsigned int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, post_srq(srq, i), 0);
	KUNIT_ASSERT_EQ(test, post_send(stays, 77), 0);
	e->slow = true;
	received(e, goes, srq, 0);
	side_start(&resizer);
	wait_for_completion(&e->asked);
	/* These are in the new ring, of which the driver does not know yet that it is used. */
	received(e, goes, srq, 1);
	sent(e, stays, 0);
	received(e, goes, srq, 2);
	side_start(&leaver);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&leaver.over, HZ / 20), 0);
	complete(&e->answer);
	wait_for_completion(&resizer.over);
	wait_for_completion(&leaver.over);
	KUNIT_EXPECT_EQ(test, resizer.result, 0);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, 4, wc), 1);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &stays->ib);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 77);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, 4, wc), 0);
	KUNIT_EXPECT_EQ(test, free_entries(srq), RING - 1);
	end_qp(goes);
	end_qp(stays);
	end_srq(srq);
}

static void ends_reset_in_resize(struct kunit *test)
{
	leave_in_resize(test, leave_reset);
}

static void ends_detach_in_resize(struct kunit *test)
{
	leave_in_resize(test, leave_for_good);
}

/* ---- posting to what is being destroyed ---- */

/* Who was inside a post when the owner destroyed: the call goes on at any later point. */
static void ends_late_post(struct kunit *test)
{
	struct ends *e = make(test);
	struct mlx4_ib_srq *srq = new_srq(e, false);
	struct mlx4_ib_qp *qp;
	int gone, rung;

	for (gone = 0; gone < 2; gone++) {
		qp = new_qp(e, IB_QPT_RC, NULL);
		KUNIT_EXPECT_EQ(test, post_send(qp, 1), 0);
		KUNIT_EXPECT_EQ(test, post_recv(qp, 2), 0);
		rung = atomic_read(&e->doorbells);
		/* When the HCA has gone destroy is left out. */
		if (!gone) {
			ends_destroy_qp(&qp->ib);
			KUNIT_EXPECT_EQ(test, post_send(qp, 3), -ENODEV);
			KUNIT_EXPECT_EQ(test, post_recv(qp, 4), -ENODEV);
		}
		ends_detach_qp(&qp->ib);
		KUNIT_EXPECT_EQ(test, post_send(qp, 5), -ENODEV);
		KUNIT_EXPECT_EQ(test, post_recv(qp, 6), -ENODEV);
		ends_release_qp(&qp->ib);
		KUNIT_EXPECT_EQ(test, post_send(qp, 7), -ENODEV);
		KUNIT_EXPECT_EQ(test, post_recv(qp, 8), -ENODEV);
		KUNIT_EXPECT_EQ(test, atomic_read(&e->doorbells), rung);
	}
	KUNIT_EXPECT_EQ(test, post_srq(srq, 1), 0);
	ends_destroy_srq(&srq->ib);
	KUNIT_EXPECT_EQ(test, post_srq(srq, 2), -ENODEV);
	ends_detach_srq(&srq->ib);
	ends_release_srq(&srq->ib);
	KUNIT_EXPECT_EQ(test, post_srq(srq, 3), -ENODEV);
}

static void ends_late_poll(struct kunit *test)
{
	struct ib_cq_init init = { .cqe = RING - 1 };
	struct ends *e = make(test);
	struct mlx4_ib_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct ib_wc wc;

	KUNIT_ASSERT_NOT_NULL(test, cq);
	cq->ib.object.attachment = &e->attachment;
	KUNIT_ASSERT_EQ(test, ends_create_cq(&cq->ib, &init, NULL), 0);
	KUNIT_EXPECT_EQ(test, ends_arm_cq(&cq->ib, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&e->doorbells), 1);
	ends_destroy_cq(&cq->ib);
	KUNIT_EXPECT_EQ(test, ends_arm_cq(&cq->ib, IB_CQ_NEXT_COMP), -ENODEV);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&cq->ib, 1, &wc), -ENODEV);
	ends_detach_cq(&cq->ib);
	ends_release_cq(&cq->ib);
	KUNIT_EXPECT_EQ(test, ends_arm_cq(&cq->ib, IB_CQ_NEXT_COMP), -ENODEV);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&cq->ib, 1, &wc), -ENODEV);
	KUNIT_EXPECT_EQ(test, atomic_read(&e->doorbells), 1);
}

/* Until it is told that there is nothing to post to any more. */
static int post_until_refused(struct side *side)
{
	unsigned int n = 0;
	int err;

	do {
		if (side->srq)
			err = post_srq(side->srq, n);
		else if (n & 1)
			err = post_send(side->qp, n);
		else
			err = post_recv(side->qp, n);
		/* On one processor and in virtual time nobody else runs before this sleeps. */
		if (!(++n % 8))
			schedule_timeout_uninterruptible(1);
	} while (!err || err == -ENOMEM);
	return err;
}

static void ends_posters(struct kunit *test)
{
	struct ends *e = make(test);
	unsigned int round, i;

	for (round = 0; round < ROUNDS; round++) {
		struct mlx4_ib_srq *srq = new_srq(e, false);
		struct mlx4_ib_qp *qp = new_qp(e, IB_QPT_RC, NULL);
		struct side sides[] = {
			{ .e = e, .act = post_until_refused, .qp = qp },
			{ .e = e, .act = post_until_refused, .qp = qp },
			{ .e = e, .act = post_until_refused, .srq = srq },
		};

		for (i = 0; i < ARRAY_SIZE(sides); i++)
			side_start(&sides[i]);
		schedule_timeout_uninterruptible(round % 8);
		end_qp(qp);
		KUNIT_EXPECT_EQ(test, atomic_read(&e->doorbells), e->at_end);
		end_srq(srq);
		for (i = 0; i < ARRAY_SIZE(sides); i++) {
			wait_for_completion(&sides[i].over);
			KUNIT_EXPECT_EQ(test, sides[i].result, -ENODEV);
		}
	}
}

/* ---- XRC ---- */

static void ends_target(struct kunit *test)
{
	struct ends *e = make(test);
	struct mlx4_ib_srq *one = new_srq(e, true), *two = new_srq(e, true);
	struct mlx4_ib_qp *goes = new_qp(e, IB_QPT_XRC_TGT, NULL);
	struct mlx4_ib_qp *stays = new_qp(e, IB_QPT_XRC_TGT, NULL);
	struct side leaver = { .e = e, .act = leave_for_good, .qp = goes };
	struct ib_wc wc[4];

	KUNIT_ASSERT_EQ(test, post_srq(one, 10), 0);
	KUNIT_ASSERT_EQ(test, post_srq(one, 11), 0);
	KUNIT_ASSERT_EQ(test, post_srq(two, 20), 0);
	KUNIT_ASSERT_EQ(test, post_srq(two, 21), 0);
	received(e, goes, one, 0);
	received(e, stays, one, 1);
	received(e, goes, two, 0);
	/* It goes through the CQs of its domain: who is there is waited for. */
	mutex_lock(&e->cq.resizing);
	side_start(&leaver);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&leaver.over, HZ / 20), 0);
	mutex_unlock(&e->cq.resizing);
	wait_for_completion(&leaver.over);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, 4, wc), 1);
	KUNIT_EXPECT_PTR_EQ(test, wc[0].qp, &stays->ib);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 11);
	KUNIT_EXPECT_EQ(test, free_entries(one), RING - 1);
	KUNIT_EXPECT_EQ(test, free_entries(two), RING - 2);

	/* An SRQ that goes takes its completions along: another may get its number. */
	received(e, stays, two, 1);
	ends_detach_srq(&two->ib);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, 4, wc), 0);
	KUNIT_EXPECT_EQ(test, e->cq.index, e->produced);
	ends_release_srq(&two->ib);
	ends_release_qp(&goes->ib);
	end_qp(stays);
	end_srq(one);
	KUNIT_EXPECT_TRUE(test, list_empty(&e->xrcd.srqs));
}

/* ---- GONE ---- */

/* What was flushed once is not when the QP is reset, nor after it. */
static void ends_flush_and_reset(struct kunit *test)
{
	struct ends *e = make(test);
	struct mlx4_ib_qp *qp = new_qp(e, IB_QPT_RC, NULL);
	struct ib_wc wc[RING];
	unsigned int i;

	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_EQ(test, post_send(qp, i), 0);
		KUNIT_ASSERT_EQ(test, post_recv(qp, 100 + i), 0);
	}
	sent(e, qp, 1);
	ends_qp_flush(qp);
	ends_cq_flush(&e->cq);
	KUNIT_EXPECT_EQ(test, post_send(qp, 9), -EIO);
	KUNIT_EXPECT_EQ(test, post_recv(qp, 9), -EIO);
	/* The one completion speaks for two sends. */
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, 2, wc), 2);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 1);
	KUNIT_EXPECT_EQ(test, wc[0].status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc[1].wr_id, 2);
	KUNIT_EXPECT_EQ(test, wc[1].status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, RING, wc), 7);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, wc[i].wr_id, 3 + i);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, wc[2 + i].wr_id, 100 + i);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, RING, wc), 0);
	ends_qp_reset(qp);
	KUNIT_EXPECT_EQ(test, ends_poll_cq(&e->cq.ib, RING, wc), 0);
	end_qp(qp);
}

static struct kunit_case ends_cases[] = {
	KUNIT_CASE(ends_reset_in_resize),
	KUNIT_CASE(ends_detach_in_resize),
	KUNIT_CASE(ends_late_post),
	KUNIT_CASE(ends_late_poll),
	KUNIT_CASE(ends_posters),
	KUNIT_CASE(ends_target),
	KUNIT_CASE(ends_flush_and_reset),
	{}
};

static struct kunit_suite ends_suite = {
	.name = "mlx4_ends",
	LR_SUITE_HOOKS,
	.test_cases = ends_cases,
};

kunit_test_suite(ends_suite);

MODULE_DESCRIPTION("LastRef: KUnit tests of how mlx4_ib's objects end");
MODULE_LICENSE("GPL");
