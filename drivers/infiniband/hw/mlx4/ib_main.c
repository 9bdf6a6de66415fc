// SPDX-License-Identifier: GPL-2.0-only
/*
 * mlx4_ib: the verbs of a ConnectX-3, on the auxiliary device of mlx4_core.
 *
 * Being bound means to be the provider of the HCA: ib_core asks for an incarnation of the device
 * when the HCA is up, and ends it when the HCA goes, comes back, or when we are unbound.
 */
#include <linux/module.h>

#include "ib_qp.h"
#include "mad_layout.h"

static const struct ib_verbs_ops mlx4_ib_verbs = {
	.size_pd = IB_OBJECT_SIZE(struct mlx4_ib_pd, ib),
	.size_xrcd = IB_OBJECT_SIZE(struct mlx4_ib_xrcd, ib),
	.size_cq = IB_OBJECT_SIZE(struct mlx4_ib_cq, ib),
	.size_srq = IB_OBJECT_SIZE(struct mlx4_ib_srq, ib),
	.size_ah = IB_OBJECT_SIZE(struct mlx4_ib_ah, ib),
	.size_mr = IB_OBJECT_SIZE(struct mlx4_ib_mr, ib),
	.size_mw = IB_OBJECT_SIZE(struct mlx4_ib_mw, ib),
	.size_qp = IB_OBJECT_SIZE(struct mlx4_ib_qp, ib),
	.query_device = mlx4_ib_query_device,
	.query_port = mlx4_ib_query_port,
	.query_gids = mlx4_ib_query_gids,
	.query_pkeys = mlx4_ib_query_pkeys,
	.modify_port = mlx4_ib_modify_port,
	.modify_node = mlx4_ib_modify_node,
	.process_mad = mlx4_ib_process_mad,
	.stats = mlx4_ib_stats,
	.read_stats = mlx4_ib_read_stats,
	.create_pd = mlx4_ib_create_pd,
	.release_pd = mlx4_ib_release_pd,
	.create_xrcd = mlx4_ib_create_xrcd,
	.destroy_xrcd = mlx4_ib_destroy_xrcd,
	.release_xrcd = mlx4_ib_release_xrcd,
	.create_cq = mlx4_ib_create_cq,
	.destroy_cq = mlx4_ib_destroy_cq,
	.detach_cq = mlx4_ib_detach_cq,
	.release_cq = mlx4_ib_release_cq,
	.poll_cq = mlx4_ib_poll_cq,
	.arm_cq = mlx4_ib_arm_cq,
	.resize_cq = mlx4_ib_resize_cq,
	.moderate_cq = mlx4_ib_moderate_cq,
	.create_srq = mlx4_ib_create_srq,
	.destroy_srq = mlx4_ib_destroy_srq,
	.detach_srq = mlx4_ib_detach_srq,
	.release_srq = mlx4_ib_release_srq,
	.modify_srq = mlx4_ib_modify_srq,
	.query_srq = mlx4_ib_query_srq,
	.post_srq = mlx4_ib_post_srq,
	.create_ah = mlx4_ib_create_ah,
	.create_dma_mr = mlx4_ib_create_dma_mr,
	.create_fast_mr = mlx4_ib_create_fast_mr,
	.destroy_mr = mlx4_ib_destroy_mr,
	.release_mr = mlx4_ib_release_mr,
	.create_mw = mlx4_ib_create_mw,
	.destroy_mw = mlx4_ib_destroy_mw,
	.release_mw = mlx4_ib_release_mw,
	.create_qp = mlx4_ib_create_qp,
	.destroy_qp = mlx4_ib_destroy_qp,
	.detach_qp = mlx4_ib_detach_qp,
	.release_qp = mlx4_ib_release_qp,
	.modify_qp = mlx4_ib_modify_qp,
	.query_qp = mlx4_ib_query_qp,
	.post_send = mlx4_ib_post_send,
	.post_recv = mlx4_ib_post_recv,
	.attach_mcast = mlx4_ib_attach_mcast,
	.detach_mcast = mlx4_ib_detach_mcast,
};

static void tables_init(struct mlx4_ib_dev *dev)
{
	xa_init_flags(&dev->cqs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->srqs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->mpts, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->pdns, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	ida_init(&dev->xrcdns);
	mlx4_ib_mcast_init(dev);
	mutex_init(&dev->port_lock);
}

/* What the hardware did not forget in time leaves its numbers here; the tables go all the same. */
static void tables_destroy(struct mlx4_ib_dev *dev)
{
	xa_destroy(&dev->cqs);
	xa_destroy(&dev->qps);
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->mpts);
	xa_destroy(&dev->pdns);
	ida_destroy(&dev->xrcdns);
	mlx4_ib_mcast_exit(dev);
}

/* Nothing comes from the hardware any more.  Who is in a table has not been detached. */
static void mlx4_ib_device_flush(struct ib_device *device)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev(device);
	struct mlx4_ib_srq *srq;
	struct mlx4_ib_qp *qp;
	struct mlx4_ib_cq *cq;
	unsigned long i;

	xa_lock_irq(&dev->qps);
	xa_for_each(&dev->qps, i, qp)
		mlx4_ib_qp_flush(qp);
	xa_unlock_irq(&dev->qps);
	xa_lock_irq(&dev->srqs);
	xa_for_each(&dev->srqs, i, srq)
		mlx4_ib_srq_flush(srq);
	xa_unlock_irq(&dev->srqs);
	/* ib_core lets whoever polls them look once more. */
	xa_lock_irq(&dev->cqs);
	xa_for_each(&dev->cqs, i, cq)
		mlx4_ib_cq_flush(cq);
	xa_unlock_irq(&dev->cqs);
	ib_event_raise(device, IB_EVENT_DEVICE_FATAL, 0);
}

static void mlx4_ib_device_stop(struct ib_device *device)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev(device);
	struct ib_hca *hca = dev->core->hca;

	mlx4_sink_set(dev->core, NULL);
	mlx4_ib_memory_destroy(dev, !ib_hca_is_gone(hca) || READ_ONCE(hca->quiet));
	tables_destroy(dev);
}

static const struct ib_device_ops mlx4_ib_device_ops = {
	.owner = THIS_MODULE,
	.verbs = &mlx4_ib_verbs,
	.flush = mlx4_ib_device_flush,
	.stop = mlx4_ib_device_stop,
};

/* What is asked of the HCA once, through its first port of ours. */
static int read_node(struct mlx4_ib_dev *dev)
{
	struct ib_device *device = &dev->ib;
	u8 desc[MLX4_SMP_DATA_SIZE];
	unsigned int port, first = __ffs(dev->core->ib_ports);
	int err;

	static_assert(sizeof(device->node_desc) == MLX4_SMP_DATA_SIZE);
	err = mlx4_smp_get(dev->core, first, MLX4_ATTR_NODE_DESC, 0, desc);
	if (!err)
		err = mlx4_smp_get(dev->core, first, MLX4_ATTR_NODE_INFO, 0, dev->node_info);
	for (port = first; !err && port <= device->phys_port_cnt; port++)
		if (ib_device_has_port(device, port))
			err = mlx4_ib_read_vls(dev, port);
	if (err)
		return err;
	memcpy(device->node_desc, desc, sizeof(device->node_desc));
	memcpy(&device->node_guid, dev->node_info + MLX4_NODE_GUID, sizeof(device->node_guid));
	return 0;
}

static struct ib_device *mlx4_ib_create(struct ib_hca *hca, void *priv)
{
	struct mlx4_dev *core = priv;
	u64 fw = core->caps.fw_ver;
	struct mlx4_ib_dev *dev;
	int err;

	dev = ib_device_alloc(hca, &mlx4_ib_device_ops, "mlx4_%d", struct mlx4_ib_dev, ib);
	if (IS_ERR(dev))
		return ERR_CAST(dev);
	dev->core = core;
	dev->ib.phys_port_cnt = core->caps.ports;
	dev->ib.away = ~core->ib_ports;
	dev->ib.has_mads = true;
	dev->ib.raises_port_events = core->caps.flags & MLX4_FLAG_PORT_MGMT;
	snprintf(dev->ib.fw_ver, sizeof(dev->ib.fw_ver), "%llu.%llu.%llu", fw >> 32,
		 fw >> 16 & 0xffff, fw & 0xffff);
	dev->uar_index = core->caps.reserved_uars;
	dev->uar = core->uar + (size_t)dev->uar_index * MLX4_UAR_SIZE;
	dev->sink.completed = mlx4_ib_completed;
	dev->sink.event = mlx4_ib_event;
	tables_init(dev);
	err = read_node(dev);
	if (!err)
		err = mlx4_ib_memory_init(dev);
	if (err) {
		dev_err(core->dev, "cannot make the InfiniBand device: %d\n", err);
		tables_destroy(dev);
		ib_device_free(&dev->ib);
		return ERR_PTR(err);
	}
	mlx4_sink_set(core, &dev->sink);
	return &dev->ib;
}

static const struct ib_provider mlx4_ib_provider = {
	.owner = THIS_MODULE,
	.name = "mlx4_ib",
	.create = mlx4_ib_create,
};

static int mlx4_ib_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct mlx4_dev *core = container_of(adev, struct mlx4_dev, adev);

	return ib_provider_bind(core->hca, &mlx4_ib_provider, core);
}

static void mlx4_ib_remove(struct auxiliary_device *adev)
{
	struct mlx4_dev *core = container_of(adev, struct mlx4_dev, adev);

	ib_provider_unbind(core->hca);
}

static const struct auxiliary_device_id mlx4_ib_ids[] = {
	{ .name = "mlx4_core.ib" },
	{}
};
MODULE_DEVICE_TABLE(auxiliary, mlx4_ib_ids);

static struct auxiliary_driver mlx4_ib_driver = {
	.name = "mlx4_ib",
	.id_table = mlx4_ib_ids,
	.probe = mlx4_ib_probe,
	.remove = mlx4_ib_remove,
};
module_auxiliary_driver(mlx4_ib_driver);

MODULE_DESCRIPTION("LastRef: ConnectX-3 verbs");
MODULE_LICENSE("GPL");
#ifdef LASTREF_VERSION
MODULE_VERSION(LASTREF_VERSION);
#endif
