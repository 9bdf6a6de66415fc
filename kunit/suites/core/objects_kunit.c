// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs objects: made and destroyed, each failure on the way, leftovers of a client, late destroys,
 * and memory that a lost or stubborn HCA may still write to.
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>

#include <lastref/fault.h>

#include "bench.h"
#include "core.h"

static void made_and_destroyed(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;

	bench_make_all(b, &o);
	/* A PD of a device without a key of its own brings a region. */
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 9);
	KUNIT_EXPECT_EQ(test, o.pd->local_dma_lkey, o.pd->internal_mr->lkey);
	KUNIT_EXPECT_TRUE(test, ib_object_is_used(&o.pd->object));
	KUNIT_EXPECT_TRUE(test, ib_object_is_used(&o.cq->object));
	KUNIT_EXPECT_FALSE(test, ib_object_is_used(&o.qp->object));
	bench_destroy_all(&o);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DESTROY_QP), 1);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DESTROY_MR), 2);
}

static void pd_uses_the_devices_own_key(struct kunit *test)
{
	struct bench *b = bench_create(test, "lr-objects");
	struct ib_pd *pd;

	b->vf.local_key = true;
	bench_bind(b);
	pd = ib_pd_create(b->attachment, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, pd->local_dma_lkey, 0x8000U);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_CREATE_MR), 0);
	ib_pd_destroy(pd);
}

/* A create that fails leaves nothing, and nobody counted as a user. */
static void create_fails(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct ib_srq_init srq = { .attr = { .max_wr = 4 } };
	struct ib_qp_init qp = { .type = IB_QPT_UD };
	struct ib_ah_attr ah = { .dlid = 5, .port = 1 };
	struct ib_cq_init cqi = { .cqe = 1, .context = IB_CQ_DIRECT };
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_cq *cq = bench_cq(b, IB_CQ_DIRECT);
	int op;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	qp.send_cq = cq;
	qp.recv_cq = cq;
	for (op = VFAKE_CREATE_PD; op <= VFAKE_CREATE_QP; op++)
		b->vf.fails[op] = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_pd_create(b->attachment, NULL)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_xrcd_create(b->attachment, NULL)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_cq_create(b->attachment, &cqi, NULL)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_srq_create(pd, &srq, NULL)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_ah_create(pd, &ah, GFP_KERNEL)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mr_create_dma(pd, 0)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mr_create_fast(pd, 1)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mw_create(pd, 1, NULL)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_qp_create(b->attachment, pd, &qp, NULL)), -ENOSPC);
	memset(b->vf.fails, 0, sizeof(b->vf.fails));
	KUNIT_EXPECT_EQ(test, pd->object.users, 1U);
	KUNIT_EXPECT_FALSE(test, ib_object_is_used(&cq->object));
	/* The PD's own region cannot be made: no PD. */
	b->vf.fails[VFAKE_CREATE_MR] = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_pd_create(b->attachment, NULL)), -ENOSPC);
	b->vf.fails[VFAKE_CREATE_MR] = 0;
	ib_cq_destroy(cq);
	ib_pd_destroy(pd);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
}

static int make_and_destroy(struct bench *b)
{
	struct ib_qp_init init = { .type = IB_QPT_UD };
	struct ib_cq_init cqi = { .cqe = 1, .context = IB_CQ_DIRECT };
	struct ib_qp *qp = ERR_PTR(-ENOMEM);
	struct ib_mr *mr = ERR_PTR(-ENOMEM);
	struct ib_pd *pd;
	struct ib_cq *cq;

	pd = ib_pd_create(b->attachment, NULL);
	cq = ib_cq_create(b->attachment, &cqi, NULL);
	init.send_cq = cq;
	init.recv_cq = cq;
	if (!IS_ERR(pd))
		mr = ib_mr_create_fast(pd, 2);
	if (!IS_ERR(pd) && !IS_ERR(cq))
		qp = ib_qp_create(b->attachment, pd, &init, NULL);
	if (!IS_ERR(qp))
		ib_qp_destroy(qp);
	if (!IS_ERR(mr))
		ib_mr_destroy(mr);
	if (!IS_ERR(cq))
		ib_cq_destroy(cq);
	if (!IS_ERR(pd))
		ib_pd_destroy(pd);
	return IS_ERR(qp) || IS_ERR(mr) ? -ENOMEM : 0;
}

static void each_allocation_fails(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct lr_fault f;
	bool failed;
	int err;

	lr_fault_each(&f, test) {
		err = make_and_destroy(b);
		failed = lr_fault_stop(&f);
		if (!failed)
			KUNIT_EXPECT_EQ(test, err, 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
	}
	KUNIT_EXPECT_GT(test, f.hits, 5U);
}

static void parents_of_another_owner_are_refused(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench *other = bench_up(test, "lr-objects-b");
	struct ib_qp_init init = { .type = IB_QPT_UD };
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);

	init.send_cq = bench_cq(other, IB_CQ_DIRECT);
	init.recv_cq = init.send_cq;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_qp_create(b->attachment, pd, &init, NULL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_CREATE_QP), 0);
	ib_cq_destroy(init.send_cq);
	ib_pd_destroy(pd);
}

static void wrong_arguments_are_refused(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_ah_attr no_port = { .dlid = 1 }, no_lid = { .port = 1 };
	struct ib_ah_attr far = { .port = 1, .dlid = 1, .has_grh = true };
	struct ib_cq_init no_notify = { .cqe = 1 }, no_cqe = { .context = IB_CQ_DIRECT };
	struct ib_qp_init no_cq = { .type = IB_QPT_RC }, bad_type = { .type = 5 };

	far.grh.sgid_index = VFAKE_GIDS;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_ah_create(pd, &no_port, GFP_KERNEL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_ah_create(pd, &no_lid, GFP_KERNEL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_ah_create(pd, &far, GFP_KERNEL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_cq_create(b->attachment, &no_notify, NULL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_cq_create(b->attachment, &no_cqe, NULL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_qp_create(b->attachment, pd, &no_cq, NULL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_qp_create(b->attachment, pd, &bad_type, NULL)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mr_create_fast(pd, 9)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mw_create(pd, 3, NULL)), -EINVAL);
	ib_pd_destroy(pd);
}

/* What a client leaves is destroyed children first; nothing can be made afterwards. */
static void leftovers_are_reaped_in_order(struct kunit *test)
{
	static const enum ib_object_type order[] = {
		IB_OBJECT_MW, IB_OBJECT_QP, IB_OBJECT_AH, IB_OBJECT_SRQ, IB_OBJECT_MR,
		IB_OBJECT_MR, IB_OBJECT_CQ, IB_OBJECT_XRCD, IB_OBJECT_PD,
	};
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;
	const struct ib_send_wr *bad_send;
	struct ib_send_wr send = {};
	struct ib_qp_attr attr;
	struct ib_wc wc;
	int i;

	bench_make_all(b, &o);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
	KUNIT_ASSERT_EQ(test, b->vf.released, (unsigned int)ARRAY_SIZE(order));
	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_EXPECT_EQ(test, (int)b->vf.order[i], (int)order[i]);
	/* Late calls of the owner. */
	KUNIT_EXPECT_EQ(test, (int)o.qp->object.state, (int)IB_OBJECT_TOMBSTONE);
	KUNIT_EXPECT_EQ(test, ib_qp_post_send(o.qp, &send, &bad_send), -ENODEV);
	KUNIT_EXPECT_EQ(test, ib_qp_query(o.qp, &attr, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, ib_cq_poll(o.cq, 1, &wc), -ENODEV);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_pd_create(b->attachment, NULL)), -ENODEV);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mw_create(o.pd, 1, NULL)), -ENODEV);
	/* Late destroys: only memory is left to free. */
	bench_destroy_all(&o);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DESTROY_QP), 1);
}

/* Tombstones that nobody destroys go with the client. */
static void tombstones_go_with_the_client(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;

	bench_make_all(b, &o);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(b->fake), 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&b->client.graveyard.objects));
	bench_unregister(b);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->client.graveyard.objects));
}

static void parent_destroyed_first_stays(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_mw *mw = ib_mw_create(pd, 1, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mw));
	ib_pd_destroy(pd);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DESTROY_PD), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mw_create(pd, 1, NULL)), -ENODEV);
	ib_mw_destroy(mw);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DESTROY_PD), 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->client.graveyard.objects));
}

/* Between GONE and the proof that it is quiet no memory is given back; then all of it. */
static void gone_hca_gives_memory_when_quiet(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;
	int i;

	bench_make_all(b, &o);
	bench_gone(b);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(b->removes == 1, 10000));
	ib_hca_settle(b->fake->hca);
	for (i = VFAKE_CREATE_PD; i <= VFAKE_DESTROY_QP; i++)
		if (i == VFAKE_DESTROY_PD || i == VFAKE_DESTROY_CQ || i == VFAKE_DESTROY_QP)
			KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, i), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
	bench_destroy_all(&o);
}

static void gone_and_never_quiet_keeps_memory(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;

	b->fake->quiet_fails = 1;
	b->fake->reset_fails = 1;
	bench_make_all(b, &o);
	bench_gone(b);
	ib_hca_settle(b->fake->hca);
	/* The address handle is nothing the hardware knows. */
	b->kept = 8;
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 8);
	bench_destroy_all(&o);
}

/* What the file "quarantine" says of an HCA. */
static char *quarantine_of(struct kunit *test, const struct ib_hca *hca)
{
	struct seq_file *seq = kunit_kzalloc(test, sizeof(*seq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seq);
	seq->size = PAGE_SIZE;
	seq->buf = kunit_kzalloc(test, seq->size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq->buf);
	mutex_init(&seq->lock);
	ib_quarantine_show(seq, hca);
	KUNIT_ASSERT_FALSE(test, seq_has_overflowed(seq));
	return seq->buf;
}

/*
 * A QP that the hardware never gives back, and is not proven quiet either: removal ends, its memory
 * is listed, the next works.
 */
static void kept_memory_is_listed(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_cq *cq = bench_cq(b, IB_CQ_WORKQUEUE);
	struct ib_qp *qp = bench_qp(b, pd, cq, IB_QPT_UD);
	char want[200], name[IB_DEVICE_NAME_MAX];

	snprintf(want, sizeof(want),
		 "%s on %s: memory of 1 objects, which the hardware may use\n  QP ",
		 ib_device_name(fake_device(b->fake), name), dev_name(b->fake->hca->parent));
	b->vf.fails[VFAKE_DESTROY_QP] = -EBUSY;
	ib_qp_destroy(qp);
	b->vf.fails[VFAKE_DESTROY_QP] = 0;
	ib_cq_destroy(cq);
	ib_pd_destroy(pd);
	KUNIT_EXPECT_STREQ(test, quarantine_of(test, b->fake->hca), "");
	b->kept = 1;
	b->fake->quiet_fails = 1;
	b->fake->reset_fails = 1;
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_TRUE(test, strstarts(quarantine_of(test, b->fake->hca), want));
	bench_bind(b);
	KUNIT_EXPECT_TRUE(test, fake_is_live(b->fake));
}

/* What the hardware has not given back is not left to a polite stop: a reset makes it quiet. */
static void stubborn_hardware_is_reset(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;

	bench_make_all(b, &o);
	b->vf.fails[VFAKE_DESTROY_QP] = -EBUSY;
	bench_destroy_all(&o);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 1);
	KUNIT_EXPECT_FALSE(test, ib_hca_is_gone(b->fake->hca));
	KUNIT_EXPECT_EQ(test, fake_hca_remove(b->fake), 0);
	KUNIT_EXPECT_TRUE(test, ib_hca_is_gone(b->fake->hca));
	KUNIT_EXPECT_EQ(test, atomic_read(&b->fake->resets), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
}

/*
 * The hardware keeps a region because windows are bound to it.  When the protocol driver alone
 * leaves, the function stays, and is reset before the device is STOPPED.
 */
static void region_with_windows_is_ended_by_a_reset(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_mr *mr = ib_mr_create_fast(pd, 2);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	b->vf.fails[VFAKE_DESTROY_MR] = -EBUSY;
	ib_mr_destroy(mr);
	b->vf.fails[VFAKE_DESTROY_MR] = 0;
	ib_pd_destroy(pd);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 1);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->fake->resets), 1);
	KUNIT_EXPECT_STREQ(test, quarantine_of(test, b->fake->hca), "");
	ib_hca_settle(b->fake->hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->fake->starts), 2);
	bench_bind(b);
	KUNIT_EXPECT_TRUE(test, fake_is_live(b->fake));
}

/* Nothing is owed: nothing is reset. */
static void polite_end_resets_nothing(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;

	bench_make_all(b, &o);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(b->fake), 0);
	KUNIT_EXPECT_FALSE(test, ib_hca_is_gone(b->fake->hca));
	KUNIT_EXPECT_EQ(test, atomic_read(&b->fake->resets), 0);
	bench_destroy_all(&o);
}

/* The same, but the HCA is lost before it leaves. */
static void stubborn_object_is_freed_by_gone(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	struct bench_objects o;

	bench_make_all(b, &o);
	b->vf.fails[VFAKE_DESTROY_QP] = -EBUSY;
	bench_destroy_all(&o);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 1);
	bench_gone(b);
	ib_hca_settle(b->fake->hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->vf.buffers), 0);
}

static const union ib_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff } };

static void groups_are_counted(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-objects");
	static const union ib_gid unicast = { .raw = { 0xfe, 0x80 } };
	struct bench_objects o;

	bench_make_all(b, &o);
	KUNIT_EXPECT_EQ(test, ib_qp_attach(o.qp, &unicast, 0xc001), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_qp_attach(o.qp, &group, 0xbfff), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_qp_detach(o.qp, &group, 0xc001), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_qp_attach(o.qp, &group, 0xc001), 0);
	KUNIT_EXPECT_EQ(test, ib_qp_attach(o.qp, &group, 0xc001), 0);
	KUNIT_EXPECT_EQ(test, ib_qp_attach(o.qp, &group, 0xc002), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_ATTACH), 2);
	KUNIT_EXPECT_EQ(test, ib_qp_detach(o.qp, &group, 0xc001), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DETACH), 0);
	KUNIT_EXPECT_EQ(test, ib_qp_detach(o.qp, &group, 0xc001), 0);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DETACH), 1);
	KUNIT_EXPECT_EQ(test, ib_qp_detach(o.qp, &group, 0xc001), -EINVAL);
	b->vf.fails[VFAKE_ATTACH] = -ENOMEM;
	KUNIT_EXPECT_EQ(test, ib_qp_attach(o.qp, &group, 0xc001), -ENOMEM);
	/* The one that is left goes with the QP. */
	bench_destroy_all(&o);
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_DETACH), 2);
}

static void map_one(struct kunit *test, struct ib_mr *mr, const u64 (*piece)[2], int count,
		    int covered, u32 pages, u64 length)
{
	struct scatterlist sg[4];
	int i;

	sg_init_table(sg, 4);
	for (i = 0; i < count; i++) {
		sg_dma_address(&sg[i]) = piece[i][0];
		sg[i].length = piece[i][1];
#ifdef CONFIG_NEED_SG_DMA_LENGTH
		sg[i].dma_length = piece[i][1];
#endif
	}
	KUNIT_EXPECT_EQ(test, ib_mr_map(mr, sg, count, NULL, 4096), covered);
	KUNIT_EXPECT_EQ(test, mr->npages, pages);
	KUNIT_EXPECT_EQ(test, mr->length, length);
	KUNIT_EXPECT_EQ(test, mr->iova, piece[0][0]);
}

static void fast_registration_maps_pages(struct kunit *test)
{
	static const u64 whole[][2] = { { 0x10000, 4096 }, { 0x30000, 8192 } };
	static const u64 odd_ends[][2] = { { 0x10800, 0x800 }, { 0x30000, 0x10 } };
	static const u64 hole[][2] = { { 0x10000, 0x800 }, { 0x30000, 4096 } };
	static const u64 joined[][2] = { { 0x10000, 0x800 }, { 0x10800, 0x800 }, { 0x20000, 1 } };
	static const u64 too_long[][2] = { { 0x10000, 4096 }, { 0x30000, 4 * 4096 } };
	struct bench *b = bench_up(test, "lr-objects");
	struct ib_pd *pd = ib_pd_create(b->attachment, NULL);
	struct ib_mr *mr = ib_mr_create_fast(pd, 4);

	map_one(test, mr, whole, 2, 2, 3, 3 * 4096);
	KUNIT_EXPECT_EQ(test, mr->pages[2], 0x31000ULL);
	map_one(test, mr, odd_ends, 2, 2, 2, 0x810);
	KUNIT_EXPECT_EQ(test, mr->pages[0], 0x10000ULL);
	map_one(test, mr, hole, 2, 1, 1, 0x800);
	map_one(test, mr, joined, 3, 3, 2, 0x1001);
	map_one(test, mr, too_long, 2, 1, 4, 4 * 4096);
	ib_mr_destroy(mr);
	ib_pd_destroy(pd);
}

static struct kunit_case objects_cases[] = {
	KUNIT_CASE(made_and_destroyed),
	KUNIT_CASE(pd_uses_the_devices_own_key),
	KUNIT_CASE(create_fails),
	KUNIT_CASE(each_allocation_fails),
	KUNIT_CASE(parents_of_another_owner_are_refused),
	KUNIT_CASE(wrong_arguments_are_refused),
	KUNIT_CASE(leftovers_are_reaped_in_order),
	KUNIT_CASE(tombstones_go_with_the_client),
	KUNIT_CASE(parent_destroyed_first_stays),
	KUNIT_CASE(gone_hca_gives_memory_when_quiet),
	KUNIT_CASE(gone_and_never_quiet_keeps_memory),
	KUNIT_CASE(kept_memory_is_listed),
	KUNIT_CASE(stubborn_hardware_is_reset),
	KUNIT_CASE(region_with_windows_is_ended_by_a_reset),
	KUNIT_CASE(polite_end_resets_nothing),
	KUNIT_CASE(stubborn_object_is_freed_by_gone),
	KUNIT_CASE(groups_are_counted),
	KUNIT_CASE(fast_registration_maps_pages),
	{}
};

static struct kunit_suite objects_suite = {
	.name = "objects",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = objects_cases,
};

kunit_test_suite(objects_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of verbs objects");
