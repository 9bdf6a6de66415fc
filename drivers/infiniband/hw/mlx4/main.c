// SPDX-License-Identifier: GPL-2.0-only
/*
 * mlx4_core: the driver of the PCI function.
 *
 * Probe maps the BARs, makes the ib_hca and starts it; remove is its mirror.  Everything that can
 * happen to the function in between states a goal and returns; the HCA's lifecycle thread acts.
 */
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/seq_file.h>

#include <ib/hca.h>

#include "health.h"
#include "mlx4.h"

#define BAR0_MIN	SZ_1M

static int commands_show(struct seq_file *seq, void *unused)
{
	mlx4_cmd_show(seq, seq->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(commands);

static int health_show(struct seq_file *seq, void *unused)
{
	mlx4_health_show(seq, seq->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(health);

static int bars_map(struct mlx4_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int err;

	if (!(pci_resource_flags(pdev, 0) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, 0) < BAR0_MIN ||
	    !(pci_resource_flags(pdev, 2) & IORESOURCE_MEM)) {
		dev_err(dev->dev, "BAR 0 or BAR 2 is missing or too small\n");
		return -ENODEV;
	}
	err = pci_request_regions(pdev, "mlx4_core");
	if (err)
		return err;
	dev->bar0 = pci_ioremap_bar(pdev, 0);
	dev->uar = pci_ioremap_bar(pdev, 2);
	if (dev->bar0 && dev->uar)
		return 0;
	if (dev->bar0)
		iounmap(dev->bar0);
	if (dev->uar)
		iounmap(dev->uar);
	pci_release_regions(pdev);
	return -ENOMEM;
}

static void bars_unmap(struct mlx4_dev *dev)
{
	iounmap(dev->uar);
	iounmap(dev->bar0);
	pci_release_regions(dev->pdev);
}

/* Reading takes the card; writing zero gives it back. */
static int card_take(struct mlx4_dev *dev)
{
	u32 owner = ioread32be(dev->bar0 + MLX4_REG_OWNER);

	if (!owner)
		return 0;
	if (owner == U32_MAX)
		dev_err(dev->dev, "the function does not answer\n");
	else
		dev_err(dev->dev, "another function owns the card (%#x)\n", owner);
	return -ENODEV;
}

static void card_give_back(struct mlx4_dev *dev)
{
	if (!mlx4_is_absent(dev))
		iowrite32be(0, dev->bar0 + MLX4_REG_OWNER);
}

static void adev_release(struct device *device)
{
	struct mlx4_dev *dev = container_of(device, struct mlx4_dev, adev.dev);

	ib_hca_put(dev->hca);
}

/* What mlx4_ib binds to.  It keeps the memory of the HCA. */
static int adev_add(struct mlx4_dev *dev)
{
	struct auxiliary_device *adev = &dev->adev;
	int err;

	adev->name = "ib";
	adev->id = pci_domain_nr(dev->pdev->bus) << 16 | pci_dev_id(dev->pdev);
	adev->dev.parent = dev->dev;
	adev->dev.release = adev_release;
	ib_hca_get(dev->hca);
	err = auxiliary_device_init(adev);
	if (err) {
		ib_hca_put(dev->hca);
		return err;
	}
	err = auxiliary_device_add(adev);
	if (err)
		auxiliary_device_uninit(adev);
	return err;
}

static void adev_remove(struct mlx4_dev *dev)
{
	auxiliary_device_delete(&dev->adev);
	auxiliary_device_uninit(&dev->adev);
}

static int function_enable(struct pci_dev *pdev)
{
	int err;

	err = pci_enable_device(pdev);
	if (err)
		return err;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(32));
	if (err)
		pci_disable_device(pdev);
	else
		dma_set_max_seg_size(&pdev->dev, SZ_1G);
	return err;
}

static int mlx4_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct mlx4_dev *dev;
	struct ib_hca *hca;
	int err;

	hca = ib_hca_alloc(&pdev->dev, &mlx4_hca_ops, sizeof(*dev));
	if (IS_ERR(hca))
		return PTR_ERR(hca);
	dev = hca->priv;
	dev->hca = hca;
	dev->pdev = pdev;
	dev->dev = &pdev->dev;
	mlx4_health_init(dev);
	mlx4_devlink_init(dev);

	err = function_enable(pdev);
	if (err)
		goto put;
	err = bars_map(dev);
	if (err)
		goto disable;
	err = card_take(dev);
	if (err)
		goto unmap;
	err = mlx4_cmd_init(dev);
	if (err)
		goto give_back;
	pci_set_drvdata(pdev, dev);
	err = ib_hca_add(hca);
	if (err)
		goto destroy_cmd;
	err = adev_add(dev);
	if (err)
		goto remove;
	err = mlx4_devlink_add(dev);
	if (err)
		goto remove_adev;
	dev->debugfs[0] = debugfs_create_file("commands", 0444, hca->debugfs, dev, &commands_fops);
	dev->debugfs[1] = debugfs_create_file("health", 0444, hca->debugfs, dev, &health_fops);
	return 0;

remove_adev:
	adev_remove(dev);
remove:
	ib_hca_remove(hca);
destroy_cmd:
	mlx4_cmd_destroy(dev, hca->quiet);
give_back:
	card_give_back(dev);
unmap:
	bars_unmap(dev);
disable:
	pci_disable_device(pdev);
put:
	ib_hca_put(hca);
	return err;
}

static void mlx4_remove(struct pci_dev *pdev)
{
	struct mlx4_dev *dev = pci_get_drvdata(pdev);
	int err;

	/* First: a reload that is under way, and is waited for below, brings nothing up again. */
	ib_hca_raise(dev->hca, IB_GOAL_REMOVE);
	debugfs_remove(dev->debugfs[0]);
	debugfs_remove(dev->debugfs[1]);
	mlx4_devlink_del(dev);
	err = ib_hca_remove(dev->hca);
	adev_remove(dev);
	mlx4_cmd_destroy(dev, err != -EIO);
	card_give_back(dev);
	bars_unmap(dev);
	pci_disable_device(pdev);
	ib_hca_put(dev->hca);
}

static void mlx4_shutdown(struct pci_dev *pdev)
{
	struct mlx4_dev *dev = pci_get_drvdata(pdev);

	ib_hca_shutdown(dev->hca);
	/*
	 * The kernel that kexec starts has no power cycle before it, and would leave it alone.
	 * Hardware that has not been stopped in time may be in its reset: nothing may touch it.
	 */
	if (READ_ONCE(dev->hca->halted) && !pci_channel_offline(pdev))
		card_give_back(dev);
}

static int mlx4_suspend(struct device *device)
{
	struct mlx4_dev *dev = dev_get_drvdata(device);
	int err = ib_hca_ensure_stopped(dev->hca);

	/*
	 * A reset on the way saves the configuration for itself.  Left so, the PCI core would take
	 * it for a driver that sees to its power state on its own, and leave the function awake.
	 */
	dev->pdev->state_saved = false;
	return err;
}

static int mlx4_resume(struct device *device)
{
	return 0;	/* ib_core's PM notifier permits the start when tasks run again */
}

static DEFINE_SIMPLE_DEV_PM_OPS(mlx4_pm_ops, mlx4_suspend, mlx4_resume);

static pci_ers_result_t mlx4_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct mlx4_dev *dev = pci_get_drvdata(pdev);

	ib_hca_hold(dev->hca, IB_HOLD_ERROR);
	/* GONE is for what is up; a start that is only about to begin is undone by the goal. */
	ib_hca_raise(dev->hca, IB_GOAL_RESET);
	ib_hca_gone(dev->hca, "PCI error");
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t mlx4_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return pci_device_is_present(pdev) ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_DISCONNECT;
}

static void mlx4_error_resume(struct pci_dev *pdev)
{
	struct mlx4_dev *dev = pci_get_drvdata(pdev);

	ib_hca_permit(dev->hca, IB_HOLD_ERROR);
}

/*
 * When this returns the PCI core saves the configuration, resets the function and restores what it
 * has saved.  A start or a stop at the same time would have its own writes undone, save for its own
 * reset what the other has cleared, and touch registers that are not there.  So the lifecycle
 * thread, which takes no lock that the PCI core holds here, has to be through with the function.
 */
static void mlx4_reset_prepare(struct pci_dev *pdev)
{
	struct mlx4_dev *dev = pci_get_drvdata(pdev);

	ib_hca_hold(dev->hca, IB_HOLD_RESET);
	ib_hca_raise(dev->hca, IB_GOAL_RESET);
	ib_hca_gone(dev->hca, "function reset");
	ib_hca_settle(dev->hca);
}

static void mlx4_reset_done(struct pci_dev *pdev)
{
	struct mlx4_dev *dev = pci_get_drvdata(pdev);

	ib_hca_permit(dev->hca, IB_HOLD_RESET);
}

static const struct pci_error_handlers mlx4_error_handlers = {
	.error_detected = mlx4_error_detected,
	.slot_reset = mlx4_slot_reset,
	.resume = mlx4_error_resume,
	.reset_prepare = mlx4_reset_prepare,
	.reset_done = mlx4_reset_done,
};

static const struct pci_device_id mlx4_ids[] = {
	/* ConnectX and ConnectX-2 */
	{ PCI_VDEVICE(MELLANOX, 0x6340) }, { PCI_VDEVICE(MELLANOX, 0x634a) },
	{ PCI_VDEVICE(MELLANOX, 0x6354) }, { PCI_VDEVICE(MELLANOX, 0x6732) },
	{ PCI_VDEVICE(MELLANOX, 0x673c) }, { PCI_VDEVICE(MELLANOX, 0x6746) },
	/* ConnectX-3 and ConnectX-3 Pro */
	{ PCI_VDEVICE(MELLANOX, 0x1003) }, { PCI_VDEVICE(MELLANOX, 0x1007) },
	{}
};
MODULE_DEVICE_TABLE(pci, mlx4_ids);

static struct pci_driver mlx4_driver = {
	.name = "mlx4_core",
	.id_table = mlx4_ids,
	.probe = mlx4_probe,
	.remove = mlx4_remove,
	.shutdown = mlx4_shutdown,
	.driver.pm = pm_sleep_ptr(&mlx4_pm_ops),
	.err_handler = &mlx4_error_handlers,
};
module_pci_driver(mlx4_driver);

MODULE_DESCRIPTION("LastRef: ConnectX-3 PCI function");
MODULE_LICENSE("GPL");
#ifdef LASTREF_VERSION
MODULE_VERSION(LASTREF_VERSION);
#endif
