// SPDX-License-Identifier: GPL-2.0-only
/*
 * Up and down: what the HCA's lifecycle thread asks of this driver.
 *
 * A start is a table of steps, each with its undo (the firmware is told) and its free (the
 * hardware is quiet).  Unwinding a start that failed and stopping an HCA that ran are the same walk
 * backwards over the steps that were begun; an undo copes with a step that did not get far.
 */
#include <linux/cache.h>
#include <linux/log2.h>
#include <linux/pci.h>

#include <ib/hca.h>

#include "health.h"
#include "mlx4.h"

#define INIT_HCA_VERSION	2
#define FLAG_IPOIB_CSUM		BIT_ULL(7)
#define FLAG_WINDOWS		BIT_ULL(16)
#define RESET_PATIENCE_MS	10000	/* of a start */
#define CUT_OFF_PATIENCE_MS	500	/* of an end */
#define SPECIAL_QPS		8	/* QP0 and QP1 of two ports, and four unused ones */

static int function_start(struct mlx4_dev *dev)
{
	int err;

	/* Nothing may be written to memory by what ran on the card before. */
	err = mlx4_bus_master(dev, false);
	if (!err)
		err = mlx4_reset(dev, RESET_PATIENCE_MS);
	if (!err)
		err = mlx4_bus_master(dev, true);
	return err;
}

static u64 base(struct mlx4_dev *dev, enum mlx4_table_id id)
{
	return dev->icm.tables[id].virt;
}

static unsigned int log_count(struct mlx4_dev *dev, enum mlx4_table_id id)
{
	return ilog2(dev->icm.tables[id].count);
}

static void fill_init_hca(struct mlx4_dev *dev, void *in)
{
	const struct mlx4_table *rdmarc = &dev->icm.tables[MLX4_RDMARC];

	mlx4_put(in, MLX4_INIT_VERSION, INIT_HCA_VERSION);
	mlx4_put(in, MLX4_INIT_CACHE_LINE, (ilog2(cache_line_size()) - 4) << 5 | BIT(4));
	mlx4_put(in, MLX4_INIT_AV_PORT, 1);
	mlx4_put(in, MLX4_INIT_BIG_ENDIAN, IS_ENABLED(CONFIG_CPU_BIG_ENDIAN));
	mlx4_put(in, MLX4_INIT_IPOIB_CSUM, !!(dev->caps.flags & FLAG_IPOIB_CSUM));
	mlx4_put(in, MLX4_INIT_QPC, base(dev, MLX4_QPC));
	mlx4_put(in, MLX4_INIT_LOG_QP, log_count(dev, MLX4_QPC));
	mlx4_put(in, MLX4_INIT_SRQC, base(dev, MLX4_SRQC));
	mlx4_put(in, MLX4_INIT_LOG_SRQ, log_count(dev, MLX4_SRQC));
	mlx4_put(in, MLX4_INIT_CQC, base(dev, MLX4_CQC));
	mlx4_put(in, MLX4_INIT_LOG_CQ, log_count(dev, MLX4_CQC));
	mlx4_put(in, MLX4_INIT_ALTC, base(dev, MLX4_ALTC));
	mlx4_put(in, MLX4_INIT_AUXC, base(dev, MLX4_AUXC));
	mlx4_put(in, MLX4_INIT_EQC, base(dev, MLX4_EQC));
	mlx4_put(in, MLX4_INIT_LOG_EQ, log_count(dev, MLX4_EQC));
	mlx4_put(in, MLX4_INIT_RDMARC, base(dev, MLX4_RDMARC));
	mlx4_put(in, MLX4_INIT_LOG_RDMARC, ilog2(rdmarc->entry / dev->caps.rdmarc_size));
	mlx4_put(in, MLX4_INIT_MCG, base(dev, MLX4_MCG));
	mlx4_put(in, MLX4_INIT_LOG_MCG_SIZE, ilog2(dev->icm.tables[MLX4_MCG].entry));
	mlx4_put(in, MLX4_INIT_LOG_MCG_HASH, ilog2(dev->icm.mcg_hash));
	mlx4_put(in, MLX4_INIT_LOG_MCG, log_count(dev, MLX4_MCG));
	mlx4_put(in, MLX4_INIT_DMPT, base(dev, MLX4_DMPT));
	mlx4_put(in, MLX4_INIT_WINDOWS, !!(dev->caps.flags & FLAG_WINDOWS));
	mlx4_put(in, MLX4_INIT_LOG_MPT, log_count(dev, MLX4_DMPT));
	mlx4_put(in, MLX4_INIT_MTT, base(dev, MLX4_MTT));
	mlx4_put(in, MLX4_INIT_CMPT, base(dev, MLX4_CMPT_QP));
	mlx4_put(in, MLX4_INIT_LOG_UAR, ilog2(dev->caps.uars));
	mlx4_put(in, MLX4_INIT_UAR_PAGE, 0);
}

static int hca_init(struct mlx4_dev *dev)
{
	struct mlx4_call call = { .op = MLX4_INIT_HCA };
	int err;

	call.in = mlx4_mailbox_alloc(dev);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	fill_init_hca(dev, call.in->buf);
	err = mlx4_cmd(dev, &call);
	mlx4_mailbox_free(dev, call.in);
	dev->inited = !err;
	return err;
}

static void hca_close(struct mlx4_dev *dev)
{
	struct mlx4_call call = { .op = MLX4_CLOSE_HCA };

	if (dev->inited)
		mlx4_cmd(dev, &call);
	dev->inited = false;
}

static int special_qps_start(struct mlx4_dev *dev)
{
	u32 base = round_up(dev->icm.tables[MLX4_QPC].reserved, SPECIAL_QPS);
	struct mlx4_call call = { .op = MLX4_CONF_SPECIAL_QP, .in_mod = base };
	int err;

	err = mlx4_cmd(dev, &call);
	if (!err)
		dev->special_qpn = base;
	return err;
}

static void special_qps_stop(struct mlx4_dev *dev)
{
	struct mlx4_call call = { .op = MLX4_CONF_SPECIAL_QP, .closing = true };

	if (dev->special_qpn)
		mlx4_cmd(dev, &call);
	dev->special_qpn = 0;
}

/**
 * struct mlx4_step - a step of the start
 * @name: for the log
 * @start: do it
 * @stop: undo it while the firmware may still run; also after @start failed half-way
 * @free: give back the memory that the firmware knew; the hardware is quiet
 */
struct mlx4_step {
	const char *name;
	int (*start)(struct mlx4_dev *dev);
	void (*stop)(struct mlx4_dev *dev);
	void (*free)(struct mlx4_dev *dev);
};

static const struct mlx4_step steps[] = {
	{ "reset", function_start },
	{ "firmware", mlx4_fw_start, mlx4_fw_stop, mlx4_fw_free },
	{ "health", mlx4_health_start, mlx4_health_stop },
	{ "capabilities", mlx4_caps_read },
	{ "ICM", mlx4_icm_start, mlx4_icm_stop, mlx4_icm_aux_free },
	{ "tables", mlx4_icm_reserve, mlx4_icm_unreserve, mlx4_icm_free },
	{ "INIT_HCA", hca_init, hca_close },
	{ "MTTs", mlx4_mtt_start, mlx4_mtt_stop },
	{ "adapter", mlx4_adapter_read },
	{ "interrupts", mlx4_interrupts_start, mlx4_interrupts_stop, mlx4_interrupts_free },
	{ "special QPs", special_qps_start, special_qps_stop },
	{ "ports", mlx4_ports_start, mlx4_ports_stop },
};

static void stop_steps(struct mlx4_dev *dev)
{
	unsigned int i = dev->steps;

	while (i--)
		if (steps[i].stop)
			steps[i].stop(dev);
}

static int mlx4_hca_start(struct ib_hca *hca)
{
	struct mlx4_dev *dev = hca->priv;
	int err;

	for (dev->steps = 0; dev->steps < ARRAY_SIZE(steps);) {
		const struct mlx4_step *step = &steps[dev->steps++];

		err = step->start(dev);
		if (!err)
			continue;
		dev_err(dev->dev, "start failed at %s: %d\n", step->name, err);
		stop_steps(dev);
		return err;
	}
	return 0;
}

static void mlx4_hca_stop(struct ib_hca *hca)
{
	stop_steps(hca->priv);
}

static void mlx4_hca_abort(struct ib_hca *hca)
{
	struct mlx4_dev *dev = hca->priv;

	mlx4_cmd_abort(dev);
	if (ib_hca_is_gone(hca))
		mlx4_devlink_tell(dev, true);
}

static int mlx4_hca_quiet(struct ib_hca *hca)
{
	return mlx4_bus_master(hca->priv, false);
}

static int mlx4_hca_reset(struct ib_hca *hca)
{
	struct mlx4_dev *dev = hca->priv;

	if (mlx4_is_absent(dev))
		return 0;
	/* Its registers do not answer before the PCI core has reset the slot. */
	if (pci_channel_offline(dev->pdev))
		return -EIO;
	return mlx4_reset(dev, CUT_OFF_PATIENCE_MS) ?: mlx4_bus_master(dev, false);
}

static void mlx4_hca_release(struct ib_hca *hca, bool quiet)
{
	struct mlx4_dev *dev = hca->priv;
	unsigned int i = dev->steps;

	dev->steps = 0;
	if (!quiet) {
		dev_err(dev->dev, "not proven quiet: memory that it knows is left alone\n");
		return;
	}
	mlx4_cmd_release_kept(dev);
	while (i--)
		if (steps[i].free)
			steps[i].free(dev);
}

const struct ib_hca_ops mlx4_hca_ops = {
	.owner = THIS_MODULE,
	.start = mlx4_hca_start,
	.stop = mlx4_hca_stop,
	.abort = mlx4_hca_abort,
	.quiet = mlx4_hca_quiet,
	.reset = mlx4_hca_reset,
	.release = mlx4_hca_release,
};
