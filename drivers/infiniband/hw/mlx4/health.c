// SPDX-License-Identifier: GPL-2.0-only
/*
 * The health of the HCA: seen by whoever waits for a command, and once a second by a work item that
 * stays armed until the HCA is stopped, through the whole of a teardown.
 */
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/pci.h>
#include <linux/seq_file.h>

#include <ib/hca.h>

#include "health.h"
#include "mlx4.h"

#define LOOK_PERIOD	HZ

static bool all_ones(struct mlx4_dev *dev)
{
	return ioread32be(dev->cmd.hcr + MLX4_HCR_CTRL) == U32_MAX &&
	       ioread32be(dev->bar0 + MLX4_REG_OWNER) == U32_MAX;
}

int mlx4_health_check(struct mlx4_dev *dev)
{
	unsigned int i;
	u32 word;

	if (pci_channel_offline(dev->pdev)) {
		ib_hca_gone(dev->hca, "PCI channel offline");
		return -EIO;
	}
	if (all_ones(dev)) {
		ib_hca_gone(dev->hca, "all-ones");
		return -EIO;
	}
	if (!dev->err_buf)
		return 0;
	word = ioread32be(dev->err_buf);
	if (!word)
		return 0;
	for (i = 0; i < min(dev->caps.err_words, 16u); i++)
		dev_err(dev->dev, "error buffer %2u: %08x\n", i, ioread32be(dev->err_buf + 4 * i));
	ib_hca_gone(dev->hca, "fatal error");
	return -EIO;
}

void mlx4_health_show(struct seq_file *seq, struct mlx4_dev *dev)
{
	const char *cause = READ_ONCE(dev->hca->gone_cause);
	unsigned int i;

	seq_printf(seq, "looks %u\n", READ_ONCE(dev->health_looks));
	seq_printf(seq, "gone %s\n", ib_hca_is_gone(dev->hca) && cause ? cause : "no");
	seq_printf(seq, "mailboxes kept %u\n", mlx4_cmd_kept(dev));
	/* The registers are read only while they may be. */
	if (ib_hca_enter(dev->hca)) {
		seq_puts(seq, "not up\n");
		return;
	}
	seq_printf(seq, "event queues %u, %s\n", dev->eqs.count,
		   dev->eqs.msix ? "MSI-X" : "one vector");
	for (i = 0; dev->err_buf && i < min(dev->caps.err_words, 16u); i++)
		seq_printf(seq, "error buffer %2u: %08x\n", i, ioread32be(dev->err_buf + 4 * i));
	ib_hca_exit(dev->hca);
}

static void health_look(struct work_struct *work)
{
	struct mlx4_dev *dev = container_of(to_delayed_work(work), struct mlx4_dev, health);
	int err;

	if (ib_hca_enter(dev->hca))
		return;
	WRITE_ONCE(dev->health_looks, dev->health_looks + 1);
	err = mlx4_health_check(dev);
	ib_hca_exit(dev->hca);
	if (err)
		return;
	mlx4_devlink_tell(dev, false);
	queue_delayed_work(system_unbound_wq, &dev->health, LOOK_PERIOD);
}

void mlx4_health_init(struct mlx4_dev *dev)
{
	INIT_DELAYED_WORK(&dev->health, health_look);
}

int mlx4_health_start(struct mlx4_dev *dev)
{
	const struct mlx4_caps *caps = &dev->caps;
	u64 end = caps->err_buf + 4ull * caps->err_words;

	/* The firmware says where its error buffer is; believe it only inside a BAR. */
	if (caps->err_words && end <= pci_resource_len(dev->pdev, caps->err_bar) &&
	    (caps->err_bar == 0 || caps->err_bar == 2))
		dev->err_buf = (caps->err_bar ? dev->uar : dev->bar0) + caps->err_buf;
	else
		dev_warn(dev->dev, "no error buffer\n");
	queue_delayed_work(system_unbound_wq, &dev->health, LOOK_PERIOD);
	return 0;
}

void mlx4_health_stop(struct mlx4_dev *dev)
{
	cancel_delayed_work_sync(&dev->health);
	dev->err_buf = NULL;
}
