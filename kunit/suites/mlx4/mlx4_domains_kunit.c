// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers of protection domains: nobody gets one that something in the hardware still names, be its
 * PD there or not, and one that is free again is not the next to be given out.
 *
 * The driver's files are part of this one, on no hardware; HW2SW_MPT answers what a test says.
 */
#include <linux/module.h>

#include <ib/client.h>
#include <lastref/kunit.h>

#define BARE(name) domains_##name
#include "bare.h"

#define mlx4_mtt_alloc			domains_mtt_alloc
#define mlx4_mtt_free			domains_mtt_free
#define mlx4_port_is_ours		domains_port_is_ours
#define mlx4_ib_rate			domains_rate
#define mlx4_ib_cq_make			domains_cq_make
#define mlx4_ib_cq_take			domains_cq_take
#define mlx4_ib_cq_unmake		domains_cq_unmake
#define mlx4_ib_create_pd		domains_create_pd
#define mlx4_ib_release_pd		domains_release_pd
#define mlx4_ib_pdn_get			domains_pdn_get
#define mlx4_ib_pdn_put			domains_pdn_put
#define mlx4_ib_create_xrcd		domains_create_xrcd
#define mlx4_ib_destroy_xrcd		domains_destroy_xrcd
#define mlx4_ib_release_xrcd		domains_release_xrcd
#define mlx4_ib_create_ah		domains_create_ah
#define mlx4_ib_mpt_take		domains_mpt_take
#define mlx4_ib_mpt_give_back		domains_mpt_give_back
#define mlx4_ib_mpt_to_hardware		domains_mpt_to_hardware
#define mlx4_ib_mpt_to_software		domains_mpt_to_software
#define mlx4_ib_mpt_fill		domains_mpt_fill
#define mlx4_ib_access			domains_access
#define mlx4_ib_create_dma_mr		domains_create_dma_mr
#define mlx4_ib_create_fast_mr		domains_create_fast_mr
#define mlx4_ib_destroy_mr		domains_destroy_mr
#define mlx4_ib_release_mr		domains_release_mr
#define mlx4_ib_create_mw		domains_create_mw
#define mlx4_ib_destroy_mw		domains_destroy_mw
#define mlx4_ib_release_mw		domains_release_mw

#include "ib_pd.c"
#include "ib_mr.c"
#include "ib_mw.c"
#include "bare_body.h"

#define RESERVED	8U
#define PDS		24U	/* that there are, the reserved ones counted */

/**
 * struct domains - a device that has PDs
 * @core: the HCA
 * @dev: the device
 * @attachment: the owner of all objects
 * @making: what the next SW2HW_MPT gives
 * @closing: what the next HW2SW_MPT gives
 */
static struct domains {
	struct mlx4_dev core;
	struct mlx4_ib_dev dev;
	struct ib_attachment attachment;
	int making;
	int closing;
} *domains;

int mlx4_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	return domains->making;
}

int mlx4_ib_closed(struct mlx4_ib_dev *dev, struct mlx4_call *call)
{
	return domains->closing;
}

int mlx4_mtt_alloc(struct mlx4_dev *dev, const dma_addr_t *list, u32 count, u32 *first)
{
	return 0;
}

void mlx4_mtt_free(struct mlx4_dev *dev, u32 first, u32 count)
{
}

bool mlx4_port_is_ours(const struct mlx4_dev *dev, u32 port)
{
	return true;
}

u8 mlx4_ib_rate(struct mlx4_ib_dev *dev, u8 port, u8 rate)
{
	return 0;
}

int mlx4_ib_cq_make(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq, u32 cqe, u32 vector)
{
	return 0;
}

int mlx4_ib_cq_take(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq)
{
	return 0;
}

void mlx4_ib_cq_unmake(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq)
{
}

static int domains_init(struct kunit *test)
{
	struct domains *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->core.caps.reserved_pds = RESERVED;
	d->core.caps.pds = PDS;
	d->dev.core = &d->core;
	d->attachment.device = &d->dev.ib;
	xa_init_flags(&d->dev.pdns, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&d->dev.mpts, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	domains = d;
	return lr_test_init(test);
}

/* Every number has been given back. */
static void domains_exit(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, xa_empty(&domains->dev.pdns));
	KUNIT_EXPECT_TRUE(test, xa_empty(&domains->dev.mpts));
	xa_destroy(&domains->dev.pdns);
	xa_destroy(&domains->dev.mpts);
	lr_test_exit(test);
}

static struct mlx4_ib_pd *pd_new(struct kunit *test)
{
	struct mlx4_ib_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	pd->ib.object.attachment = &domains->attachment;
	return pd;
}

static struct mlx4_ib_pd *pd_make(struct kunit *test)
{
	struct mlx4_ib_pd *pd = pd_new(test);

	KUNIT_ASSERT_EQ(test, mlx4_ib_create_pd(&pd->ib, NULL), 0);
	return pd;
}

static struct mlx4_ib_mr *mr_new(struct kunit *test, struct mlx4_ib_pd *pd)
{
	struct mlx4_ib_mr *mr = kunit_kzalloc(test, sizeof(*mr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	mr->ib.object.attachment = &domains->attachment;
	mr->ib.pd = &pd->ib;
	mr->ib.type = IB_MR_DMA;
	return mr;
}

/* All numbers that can be had, given back again; gives whether @pdn was among them. */
static bool can_be_had(struct kunit *test, u32 pdn, unsigned int *count)
{
	struct mlx4_ib_pd *pds[PDS];
	bool found = false;
	unsigned int n = 0;
	int err;

	for (; n < PDS; n++) {
		pds[n] = pd_new(test);
		err = mlx4_ib_create_pd(&pds[n]->ib, NULL);
		if (err)
			break;
		found |= pds[n]->pdn == pdn;
		KUNIT_EXPECT_GE(test, pds[n]->pdn, RESERVED);
		KUNIT_EXPECT_LT(test, pds[n]->pdn, PDS);
	}
	KUNIT_EXPECT_EQ(test, err, -ENOSPC);
	*count = n;
	while (n--)
		mlx4_ib_release_pd(&pds[n]->ib);
	return found;
}

/* One that is free again is the last to be given out. */
static void numbers_go_round(struct kunit *test)
{
	struct mlx4_ib_pd *pd = pd_make(test);
	unsigned int i, count;
	u32 first = pd->pdn;

	mlx4_ib_release_pd(&pd->ib);
	for (i = RESERVED + 1; i < PDS; i++) {
		pd = pd_make(test);
		KUNIT_EXPECT_NE(test, pd->pdn, first);
		mlx4_ib_release_pd(&pd->ib);
	}
	pd = pd_make(test);
	KUNIT_EXPECT_EQ(test, pd->pdn, first);
	mlx4_ib_release_pd(&pd->ib);
	KUNIT_EXPECT_TRUE(test, can_be_had(test, first, &count));
	KUNIT_EXPECT_EQ(test, count, PDS - RESERVED);
}

/* The hardware keeps a region, since windows are bound to it; its PD goes. */
static void region_keeps_the_number(struct kunit *test)
{
	struct mlx4_ib_pd *pd = pd_make(test);
	struct mlx4_ib_mr *mr = mr_new(test, pd);
	unsigned int count;
	u32 pdn = pd->pdn;

	KUNIT_ASSERT_EQ(test, mlx4_ib_create_dma_mr(&mr->ib, 0), 0);
	domains->closing = -EBUSY;
	KUNIT_EXPECT_EQ(test, mlx4_ib_destroy_mr(&mr->ib), -EBUSY);
	mlx4_ib_release_pd(&pd->ib);
	/* What is left of it may be anybody's. */
	memset(pd, 0x6b, sizeof(*pd));
	KUNIT_EXPECT_FALSE(test, can_be_had(test, pdn, &count));
	KUNIT_EXPECT_EQ(test, count, PDS - RESERVED - 1);
	/* The HCA is quiet. */
	mlx4_ib_release_mr(&mr->ib);
	KUNIT_EXPECT_TRUE(test, can_be_had(test, pdn, &count));
	KUNIT_EXPECT_EQ(test, count, PDS - RESERVED);
}

/* The same for a window, and for two that name one PD. */
static void each_window_keeps_it(struct kunit *test)
{
	struct mlx4_ib_pd *pd = pd_make(test);
	unsigned int i, count;
	struct mlx4_ib_mw *mw;
	u32 pdn = pd->pdn;

	mw = kunit_kcalloc(test, 2, sizeof(*mw), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mw);
	for (i = 0; i < 2; i++) {
		mw[i].ib.object.attachment = &domains->attachment;
		mw[i].ib.pd = &pd->ib;
		mw[i].ib.type = 2;
		KUNIT_ASSERT_EQ(test, mlx4_ib_create_mw(&mw[i].ib, NULL), 0);
	}
	mlx4_ib_release_pd(&pd->ib);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, can_be_had(test, pdn, &count));
		mlx4_ib_release_mw(&mw[i].ib);
	}
	KUNIT_EXPECT_TRUE(test, can_be_had(test, pdn, &count));
}

/* A region that could not be made names nobody. */
static void failure_leaves_nothing(struct kunit *test)
{
	struct mlx4_ib_pd *pd = pd_make(test);
	struct mlx4_ib_mr *mr = mr_new(test, pd);
	unsigned int count;
	u32 pdn = pd->pdn;

	domains->making = -EINVAL;
	KUNIT_EXPECT_EQ(test, mlx4_ib_create_dma_mr(&mr->ib, 0), -EINVAL);
	mlx4_ib_release_pd(&pd->ib);
	KUNIT_EXPECT_TRUE(test, can_be_had(test, pdn, &count));
	KUNIT_EXPECT_EQ(test, count, PDS - RESERVED);
}

static struct kunit_case domains_cases[] = {
	KUNIT_CASE(numbers_go_round),
	KUNIT_CASE(region_keeps_the_number),
	KUNIT_CASE(each_window_keeps_it),
	KUNIT_CASE(failure_leaves_nothing),
	{}
};

static struct kunit_suite domains_suite = {
	.name = "mlx4_domains",
	.init = domains_init,
	.exit = domains_exit,
	.test_cases = domains_cases,
};

kunit_test_suite(domains_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Numbers of protection domains");
