// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs part of a device as a whole: its memory, and the verbs of devices, nodes and ports.
 */
#include <linux/export.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "objects.h"

/* A device of which only the framework is tested has no verbs. */
static const struct ib_verbs_ops ib_no_verbs;

static void ib_objects_sizes(struct ib_objects *objects, const struct ib_verbs_ops *ops)
{
	size_t *size = objects->size;

	ops = ops ?: &ib_no_verbs;
	size[IB_OBJECT_HANDLER] = sizeof(struct ib_event_handler);
	size[IB_OBJECT_PD] = max(ops->size_pd, sizeof(struct ib_pd));
	size[IB_OBJECT_XRCD] = max(ops->size_xrcd, sizeof(struct ib_xrcd));
	size[IB_OBJECT_CQ] = max(ops->size_cq, sizeof(struct ib_cq));
	size[IB_OBJECT_SRQ] = max(ops->size_srq, sizeof(struct ib_srq));
	size[IB_OBJECT_AH] = max(ops->size_ah, sizeof(struct ib_ah));
	size[IB_OBJECT_MR] = max(ops->size_mr, sizeof(struct ib_mr));
	size[IB_OBJECT_MW] = max(ops->size_mw, sizeof(struct ib_mw));
	size[IB_OBJECT_QP] = max(ops->size_qp, sizeof(struct ib_qp));
}

static int ib_objects_alloc(struct ib_device *device)
{
	struct ib_objects *objects = kzalloc(sizeof(*objects), GFP_KERNEL);
	int i, err;

	if (!objects)
		return -ENOMEM;
	objects->poll_wq = alloc_workqueue("ib-poll/%s", WQ_HIGHPRI | WQ_MEM_RECLAIM, 0,
					   dev_name(device->hca->parent));
	if (!objects->poll_wq) {
		kfree(objects);
		return -ENOMEM;
	}
	err = ib_gate_init(&objects->soft, device->hca);
	if (err) {
		destroy_workqueue(objects->poll_wq);
		kfree(objects);
		return err;
	}
	objects->device = device;
	mutex_init(&objects->naming);
	INIT_LIST_HEAD(&objects->zombies);
	for (i = 0; i < IB_OBJECT_TYPES; i++)
		xa_init_flags(&objects->ids[i], XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	ib_objects_sizes(objects, device->ops->verbs);
	device->objects = objects;
	return 0;
}

static void ib_objects_free(struct ib_device *device)
{
	struct ib_objects *objects = device->objects;
	int i;

	device->objects = NULL;
	for (i = 0; i < IB_OBJECT_TYPES; i++) {
		WARN_ON_ONCE(!xa_empty(&objects->ids[i]));
		xa_destroy(&objects->ids[i]);
	}
	ib_gate_exit_memory(&objects->soft);
	destroy_workqueue(objects->poll_wq);
	kfree(objects);
}

int ib_verbs_begin(struct ib_device *device)
{
	int err;

	err = ib_event_queue_alloc(device);
	if (err)
		return err;
	err = ib_cache_alloc(device);
	if (err)
		goto free_events;
	err = ib_objects_alloc(device);
	if (err)
		goto free_cache;
	return 0;

free_cache:
	ib_cache_free(device);
free_events:
	ib_event_queue_free(device);
	return err;
}

void ib_verbs_end(struct ib_device *device)
{
	if (!device->objects)
		return;
	ib_objects_free(device);
	ib_cache_free(device);
	ib_event_queue_free(device);
}

static const char *const ib_object_words[IB_OBJECT_TYPES] = {
	[IB_OBJECT_HANDLER] = "event subscriptions",
	[IB_OBJECT_MW] = "MWs",
	[IB_OBJECT_QP] = "QPs",
	[IB_OBJECT_AH] = "AHs",
	[IB_OBJECT_SRQ] = "SRQs",
	[IB_OBJECT_MR] = "MRs",
	[IB_OBJECT_CQ] = "CQs",
	[IB_OBJECT_XRCD] = "XRC domains",
	[IB_OBJECT_PD] = "PDs",
};

void ib_objects_show(struct ib_device *device, struct seq_file *seq)
{
	struct ib_object *object;
	char text[96];
	int type;
	u32 id;

	if (!device->objects)
		return;
	for (type = 0; type < IB_OBJECT_TYPES; type++) {
		seq_printf(seq, "%u %s\n", READ_ONCE(device->objects->count[type]),
			   ib_object_words[type]);
		for (id = 0; (object = ib_object_next(device, type, &id)); id++) {
			ib_object_describe(object, text, sizeof(text));
			seq_printf(seq, "  %s of %s, %u users\n", text, object->attachment->name,
				   READ_ONCE(object->users));
			ib_object_unpin(object);
		}
	}
}

static bool ib_port_is_valid(const struct ib_device *device, u8 port)
{
	return port && port <= device->phys_port_cnt;
}

int ib_port_query(struct ib_device *device, u8 port, struct ib_port_attr *attr)
{
	int err;

	if (!ib_port_is_valid(device, port))
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	err = ib_device_enter(device);
	if (err)
		return err;
	err = ib_verbs_of(device)->query_port(device, port, attr);
	ib_device_exit(device);
	return err;
}
EXPORT_SYMBOL_GPL(ib_port_query);

int ib_port_modify(struct ib_device *device, u8 port, u32 mask,
		   const struct ib_port_modify *modify)
{
	int err;

	if (!ib_port_is_valid(device, port))
		return -EINVAL;
	err = ib_device_enter(device);
	if (err)
		return err;
	err = -EOPNOTSUPP;
	if (ib_verbs_of(device)->modify_port)
		err = ib_verbs_of(device)->modify_port(device, port, mask, modify);
	ib_device_exit(device);
	return err;
}
EXPORT_SYMBOL_GPL(ib_port_modify);

int ib_node_modify(struct ib_device *device, u32 mask, const struct ib_node_modify *modify)
{
	int err;

	err = ib_device_enter(device);
	if (err)
		return err;
	err = -EOPNOTSUPP;
	if (ib_verbs_of(device)->modify_node)
		err = ib_verbs_of(device)->modify_node(device, mask, modify);
	ib_device_exit(device);
	if (err || !(mask & IB_NODE_MODIFY_DESC))
		return err;
	spin_lock_irq(&device->hca->lock);
	memcpy(device->node_desc, modify->desc, sizeof(device->node_desc));
	spin_unlock_irq(&device->hca->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(ib_node_modify);

static const char *const ib_wc_status_names[] = {
	[IB_WC_SUCCESS] = "success",
	[IB_WC_LOC_LEN_ERR] = "local length error",
	[IB_WC_LOC_QP_OP_ERR] = "local QP operation error",
	[IB_WC_LOC_EEC_OP_ERR] = "local EE context operation error",
	[IB_WC_LOC_PROT_ERR] = "local protection error",
	[IB_WC_WR_FLUSH_ERR] = "flushed",
	[IB_WC_MW_BIND_ERR] = "memory window bind error",
	[IB_WC_BAD_RESP_ERR] = "bad response",
	[IB_WC_LOC_ACCESS_ERR] = "local access error",
	[IB_WC_REM_INV_REQ_ERR] = "remote invalid request error",
	[IB_WC_REM_ACCESS_ERR] = "remote access error",
	[IB_WC_REM_OP_ERR] = "remote operation error",
	[IB_WC_RETRY_EXC_ERR] = "transport retries exceeded",
	[IB_WC_RNR_RETRY_EXC_ERR] = "RNR retries exceeded",
	[IB_WC_LOC_RDD_VIOL_ERR] = "local RDD violation",
	[IB_WC_REM_INV_RD_REQ_ERR] = "remote invalid RD request",
	[IB_WC_REM_ABORT_ERR] = "remote aborted",
	[IB_WC_INV_EECN_ERR] = "invalid EE context number",
	[IB_WC_INV_EEC_STATE_ERR] = "invalid EE context state",
	[IB_WC_FATAL_ERR] = "fatal error",
	[IB_WC_RESP_TIMEOUT_ERR] = "response timeout",
	[IB_WC_GENERAL_ERR] = "general error",
};

const char *ib_wc_status_name(enum ib_wc_status status)
{
	return status < ARRAY_SIZE(ib_wc_status_names) ? ib_wc_status_names[status] : "unknown";
}
EXPORT_SYMBOL_GPL(ib_wc_status_name);

int ib_verbs_init(void)
{
	int err;

	ib_objects_init();
	err = ib_sysfs_init();
	if (err)
		return err;
	err = ib_netlink_init();
	if (err)
		ib_sysfs_exit();
	return err;
}

void ib_verbs_exit(void)
{
	ib_netlink_exit();
	ib_sysfs_exit();
}
