// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many of each object there may be, and where in the ICM their contexts lie.
 *
 * Tables are backed by memory only where objects exist, so a large limit costs address space and
 * little else.  The limits follow the machine's memory and can be set by module parameters.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sort.h>

#include "mlx4.h"

#define LOG_CMPT_REGION	24	/* entries of each of the four cMPT regions, always */
#define LOG_ALL_ICM	44	/* address space that the hardware could have at most */

static uint log_num_qp = 18;
module_param(log_num_qp, uint, 0444);
MODULE_PARM_DESC(log_num_qp, "log2 of the number of QPs of an HCA (12 to 20, default 18)");
static uint log_num_srq = 16;
module_param(log_num_srq, uint, 0444);
MODULE_PARM_DESC(log_num_srq, "log2 of the number of SRQs of an HCA (10 to 20, default 16)");
static uint log_num_cq = 16;
module_param(log_num_cq, uint, 0444);
MODULE_PARM_DESC(log_num_cq, "log2 of the number of CQs of an HCA (10 to 20, default 16)");
static uint log_num_mpt = 19;
module_param(log_num_mpt, uint, 0444);
MODULE_PARM_DESC(log_num_mpt, "log2 of the number of memory regions and windows (12 to 24, default 19)");
static uint log_num_mtt;
module_param(log_num_mtt, uint, 0444);
MODULE_PARM_DESC(log_num_mtt, "log2 of the number of registered pages (20 to 28, default 0: twice the machine's memory)");
static uint log_num_mcg = 10;
module_param(log_num_mcg, uint, 0444);
MODULE_PARM_DESC(log_num_mcg, "log2 of the number of multicast entries (6 to 13, default 10)");
static uint log_rdmarc_per_qp = 4;
module_param(log_rdmarc_per_qp, uint, 0444);
MODULE_PARM_DESC(log_rdmarc_per_qp, "log2 of the RDMA reads that a QP answers at once (0 to 7, default 4)");

/* A limit as asked for, within what makes sense and what the HCA can do. */
static u32 limit(struct mlx4_dev *dev, const char *what, uint log, uint low, uint high, u64 cap)
{
	uint got = min_t(uint, clamp(log, low, high), cap);

	if (got != log)
		dev_info(dev->dev, "%s=%u is out of range here, using %u\n", what, log, got);
	return 1u << got;
}

static u32 mtt_limit(struct mlx4_dev *dev)
{
	uint log = log_num_mtt;

	if (!log)
		log = clamp_t(uint, ilog2(roundup_pow_of_two(totalram_pages())) + 1, 20, 26);
	return limit(dev, "log_num_mtt", log, 20, 28, 28);
}

static void table(struct mlx4_icm *icm, enum mlx4_table_id id, u32 entry, u32 count, u32 reserved)
{
	icm->tables[id].entry = entry;
	icm->tables[id].count = count;
	icm->tables[id].reserved = reserved;
}

static void set_tables(struct mlx4_dev *dev, const void *cap)
{
	struct mlx4_icm *icm = &dev->icm;
	u32 qps = limit(dev, "log_num_qp", log_num_qp, 12, 20, mlx4_get(cap, MLX4_CAP_LOG_QP));
	u32 srqs = limit(dev, "log_num_srq", log_num_srq, 10, 20, mlx4_get(cap, MLX4_CAP_LOG_SRQ));
	u32 cqs = limit(dev, "log_num_cq", log_num_cq, 10, 20, mlx4_get(cap, MLX4_CAP_LOG_CQ));
	u32 mpts = limit(dev, "log_num_mpt", log_num_mpt, 12, 24, mlx4_get(cap, MLX4_CAP_LOG_MPT));
	u32 mcgs = limit(dev, "log_num_mcg", log_num_mcg, 6, 13, mlx4_get(cap, MLX4_CAP_LOG_MCG));
	u32 rdmarcs = limit(dev, "log_rdmarc_per_qp", log_rdmarc_per_qp, 0, 7, 7);
	u32 rsvd_qp = 1u << mlx4_get(cap, MLX4_CAP_LOG_RSVD_QP);
	u32 rsvd_srq = 1u << mlx4_get(cap, MLX4_CAP_LOG_RSVD_SRQ);
	u32 rsvd_cq = 1u << mlx4_get(cap, MLX4_CAP_LOG_RSVD_CQ);
	u32 cmpt = mlx4_get(cap, MLX4_CAP_CMPT_SIZE);
	u32 eqs = 1u << mlx4_get(cap, MLX4_CAP_LOG_EQ);

	eqs = max(eqs, roundup_pow_of_two(dev->caps.reserved_eqs + MLX4_EQ_MAX));
	table(icm, MLX4_QPC, mlx4_get(cap, MLX4_CAP_QPC_SIZE), qps, rsvd_qp);
	table(icm, MLX4_AUXC, mlx4_get(cap, MLX4_CAP_AUXC_SIZE), qps, rsvd_qp);
	table(icm, MLX4_ALTC, mlx4_get(cap, MLX4_CAP_ALTC_SIZE), qps, rsvd_qp);
	table(icm, MLX4_RDMARC, mlx4_get(cap, MLX4_CAP_RDMARC_SIZE) * rdmarcs, qps, rsvd_qp);
	table(icm, MLX4_SRQC, mlx4_get(cap, MLX4_CAP_SRQC_SIZE), srqs, rsvd_srq);
	table(icm, MLX4_CQC, mlx4_get(cap, MLX4_CAP_CQC_SIZE), cqs, rsvd_cq);
	table(icm, MLX4_EQC, mlx4_get(cap, MLX4_CAP_EQC_SIZE), eqs, dev->caps.reserved_eqs);
	table(icm, MLX4_DMPT, mlx4_get(cap, MLX4_CAP_DMPT_SIZE), mpts,
	      1u << mlx4_get(cap, MLX4_CAP_LOG_RSVD_MRW));
	table(icm, MLX4_CMPT_QP, cmpt, qps, rsvd_qp);
	table(icm, MLX4_CMPT_SRQ, cmpt, srqs, rsvd_srq);
	table(icm, MLX4_CMPT_CQ, cmpt, cqs, rsvd_cq);
	table(icm, MLX4_CMPT_EQ, cmpt, eqs, dev->caps.reserved_eqs);
	table(icm, MLX4_MTT, mlx4_get(cap, MLX4_CAP_MTT_SIZE), mtt_limit(dev),
	      1u << mlx4_get(cap, MLX4_CAP_LOG_RSVD_MTT));
	/* Each multicast packet looks into the hashed half, so that half is always backed. */
	table(icm, MLX4_MCG, 1u << MLX4_LOG_MCG_ENTRY, mcgs, mcgs / 2);
	icm->mcg_hash = mcgs / 2;
}

/* A piece of address space to be placed: one table, or the four cMPT regions as one. */
struct place {
	enum mlx4_table_id id;
	u64 size;
};

static int by_size(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return (int)x->id - (int)y->id;
}

/* Largest first: each then lies at a multiple of its size, as the hardware wants it. */
static u64 place_tables(struct mlx4_icm *icm)
{
	struct place places[MLX4_TABLES];
	unsigned int n = 0, id, i;
	u64 at = 0;

	for (id = 0; id < MLX4_TABLES; id++) {
		struct mlx4_table *t = &icm->tables[id];

		if (id > MLX4_CMPT_QP && id <= MLX4_CMPT_EQ)
			continue;
		places[n].id = id;
		places[n].size = max_t(u64, MLX4_PAGE, (u64)t->entry * t->count);
		if (id == MLX4_CMPT_QP)
			places[n].size = (u64)t->entry << (LOG_CMPT_REGION + 2);
		n++;
	}
	sort(places, n, sizeof(places[0]), by_size, NULL);
	for (i = 0; i < n; i++) {
		icm->tables[places[i].id].virt = at;
		at += places[i].size;
	}
	for (id = MLX4_CMPT_SRQ; id <= MLX4_CMPT_EQ; id++)
		icm->tables[id].virt = icm->tables[MLX4_CMPT_QP].virt +
			((u64)(id - MLX4_CMPT_QP) * icm->tables[id].entry << LOG_CMPT_REGION);
	return at;
}

int mlx4_icm_layout(struct mlx4_dev *dev, const void *cap)
{
	u64 max_icm = mlx4_get(cap, MLX4_CAP_MAX_ICM);
	unsigned int id;

	memset(&dev->icm, 0, sizeof(dev->icm));
	set_tables(dev, cap);
	for (id = 0; id < MLX4_TABLES; id++) {
		struct mlx4_table *t = &dev->icm.tables[id];

		if (!is_power_of_2(t->entry) || t->entry > 1u << MLX4_CHUNK_SHIFT ||
		    t->reserved > t->count) {
			dev_err(dev->dev, "table %u of %u entries of %u bytes makes no sense\n",
				id, t->count, t->entry);
			return -EIO;
		}
	}
	dev->icm.size = place_tables(&dev->icm);
	if (dev->icm.size > max_icm || dev->icm.size > BIT_ULL(LOG_ALL_ICM)) {
		dev_err(dev->dev, "contexts need %#llx bytes of address space, the HCA has %#llx\n",
			dev->icm.size, max_icm);
		return -ENOSPC;
	}
	return 0;
}
