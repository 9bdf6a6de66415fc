// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function as a PCI device: reset, presence, bus mastering.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/pci.h>

#include "mlx4.h"

#define SETTLE_MS	1000	/* the card does not answer during this */
#define ANSWER_MS	2000	/* it has this long to answer after that */

bool mlx4_is_absent(struct mlx4_dev *dev)
{
	return !pci_device_is_present(dev->pdev);
}

int mlx4_bus_master(struct mlx4_dev *dev, bool on)
{
	u16 command;

	if (on)
		pci_set_master(dev->pdev);
	else
		pci_clear_master(dev->pdev);
	pci_read_config_word(dev->pdev, PCI_COMMAND, &command);
	if (PCI_POSSIBLE_ERROR(command) && mlx4_is_absent(dev))
		return on ? -EIO : 0;
	if (!(command & PCI_COMMAND_MASTER) == on)
		return -EIO;
	/* What was posted before it was switched off still arrives. */
	if (!on && !pci_wait_for_pending_transaction(dev->pdev))
		return -EIO;
	return 0;
}

/* Reading the semaphore takes it; the reset gives it back. */
static int take_reset_semaphore(struct mlx4_dev *dev, unsigned int tries)
{
	unsigned int i;

	for (i = 0; i < tries; i++) {
		if (!ioread32(dev->bar0 + MLX4_REG_RESET_SEM))
			return 0;
		if (mlx4_is_absent(dev))
			return -ENODEV;
		usleep_range(1000, 2000);
	}
	return -EAGAIN;
}

/* Wait until it is there again. */
static int settle(struct mlx4_dev *dev)
{
	unsigned long end;

	msleep(SETTLE_MS);
	end = jiffies + msecs_to_jiffies(ANSWER_MS);
	while (mlx4_is_absent(dev)) {
		if (time_after(jiffies, end)) {
			dev_err(dev->dev, "the function did not come back after its reset\n");
			return -ENODEV;
		}
		usleep_range(1000, 2000);
	}
	return 0;
}

int mlx4_reset(struct mlx4_dev *dev, unsigned int patience_ms)
{
	int err;

	err = take_reset_semaphore(dev, patience_ms);
	if (err) {
		dev_err(dev->dev, "cannot take the reset semaphore: %d\n", err);
		return err;
	}
	err = pci_save_state(dev->pdev);
	if (err)
		return err;
	iowrite32be(MLX4_RESET_VALUE, dev->bar0 + MLX4_REG_RESET);
	err = settle(dev);
	if (err)
		return err;
	pci_restore_state(dev->pdev);
	/* The slot reset of PCI error recovery restores what was saved last, and that only once. */
	pci_save_state(dev->pdev);
	mlx4_cmd_reset(dev);
	return 0;
}
