// SPDX-License-Identifier: GPL-2.0-only
/*
 * ib_umad: the module, the client, and the two nodes of each port.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <ib/netlink.h>

#include "umad.h"

/**
 * struct umad_port - a port
 * @index: N, or -1
 * @nodes: umadN and issmN
 */
struct umad_port {
	int index;
	struct umad_node *nodes[2];
};

/**
 * struct umad_device - what the client keeps for a device
 * @count: how many ports
 * @ports: the ports
 */
struct umad_device {
	unsigned int count;
	struct umad_port ports[];
};

static DEFINE_MUTEX(umad_indexes_lock); /* so that the ports of a device follow each other */
static DEFINE_IDA(umad_indexes);
static dev_t umad_fixed;
static dev_t umad_more;

static DEFINE_MUTEX(umad_nodes_lock); /* protects the list */
static LIST_HEAD(umad_nodes); /* &umad_node.all, those that are visible */

static struct umad_node *umad_node_of(struct device *dev)
{
	return container_of(dev, struct umad_node, cdev.dev);
}

static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr, char *text)
{
	char name[IB_DEVICE_NAME_MAX];

	return sysfs_emit(text, "%s\n", ib_device_name(umad_node_of(dev)->cdev.device, name));
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t port_show(struct device *dev, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%u\n", umad_node_of(dev)->port);
}
static DEVICE_ATTR_RO(port);

static struct attribute *umad_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_port.attr,
	NULL
};
ATTRIBUTE_GROUPS(umad);

static CLASS_ATTR_STRING(abi_version, 0444, __stringify(IB_USER_MAD_ABI_VERSION));

/* The mode stays what devtmpfs gives: root's alone. */
static char *umad_devnode(ib_const_device *dev, umode_t *mode)
{
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

#define UMAD_CLASS "infiniband_mad"

/* Not a variable of ours: the driver core may look at it after this module left, see ib_class. */
static struct class *umad_class;

static int umad_class_make(void)
{
	int err;

	umad_class = ib_class_create(UMAD_CLASS);
	if (IS_ERR(umad_class))
		return PTR_ERR(umad_class);
	umad_class->devnode = umad_devnode;
	err = class_create_file(umad_class, &class_attr_abi_version.attr);
	if (err)
		class_destroy(umad_class);
	return err;
}

static void umad_class_end(void)
{
	class_remove_file(umad_class, &class_attr_abi_version.attr);
	class_destroy(umad_class);
}

/* The two nodes of a port have the same index, each kind its own half of a region. */
static dev_t umad_number(unsigned int index, bool issm)
{
	if (index < UMAD_FIXED)
		return umad_fixed + index + (issm ? UMAD_FIXED : 0);
	return umad_more + index - UMAD_FIXED + (issm ? UMAD_NODES - UMAD_FIXED : 0);
}

static void umad_node_list(struct umad_node *node)
{
	mutex_lock(&umad_nodes_lock);
	list_add_tail(&node->all, &umad_nodes);
	mutex_unlock(&umad_nodes_lock);
}

static int umad_node_add(struct ib_attachment *attachment, struct umad_port *port, u8 number,
			 bool issm)
{
	struct umad_node *node = ib_cdev_alloc(attachment->device, struct umad_node, cdev);
	char name[16];
	int err;

	if (!node)
		return -ENOMEM;
	node->attachment = attachment;
	node->port = number;
	node->issm = issm;
	mutex_init(&node->lock);
	INIT_LIST_HEAD(&node->files);
	INIT_LIST_HEAD(&node->all);
	init_waitqueue_head(&node->wait);
	snprintf(name, sizeof(name), "%s%d", issm ? "issm" : "umad", port->index);
	err = ib_cdev_add(&node->cdev, umad_class, umad_groups, umad_number(port->index, issm),
			  issm ? &issm_fops : &umad_fops, name);
	if (err) {
		ib_cdev_put(&node->cdev);
		return err;
	}
	port->nodes[issm] = node;
	umad_node_list(node);
	return 0;
}

static int umad_indexes_take(struct umad_device *umad)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&umad_indexes_lock);
	for (i = 0; i < umad->count; i++) {
		umad->ports[i].index = err ? -1 : ida_alloc_max(&umad_indexes, UMAD_NODES - 1,
								 GFP_KERNEL);
		err = err ?: min(umad->ports[i].index, 0);
	}
	mutex_unlock(&umad_indexes_lock);
	return err;
}

/* Nobody finds the node any more, and nobody waits to open it.  Idempotent. */
static void umad_node_hide(struct umad_node *node)
{
	bool hidden;

	mutex_lock(&node->lock);
	hidden = node->dead;
	node->dead = true;
	mutex_unlock(&node->lock);
	if (hidden)
		return;
	wake_up_all(&node->wait);
	mutex_lock(&umad_nodes_lock);
	list_del_init(&node->all);
	mutex_unlock(&umad_nodes_lock);
	ib_cdev_del(&node->cdev);
}

/* The index is the next device's when both nodes are gone. */
static void umad_port_hide(struct umad_port *port)
{
	int kind;

	for (kind = 1; kind >= 0; kind--)
		if (port->nodes[kind])
			umad_node_hide(port->nodes[kind]);
	if (port->index >= 0)
		ida_free(&umad_indexes, port->index);
	port->index = -1;
}

static void umad_hide(struct umad_device *umad)
{
	unsigned int i = umad->count;

	while (i--)
		umad_port_hide(&umad->ports[i]);
}

static void umad_port_end(struct umad_port *port)
{
	int kind;

	for (kind = 1; kind >= 0; kind--) {
		if (!port->nodes[kind])
			continue;
		umad_node_kill(port->nodes[kind]);
		ib_cdev_put(&port->nodes[kind]->cdev);
		port->nodes[kind] = NULL;
	}
}

static void umad_end(struct umad_device *umad)
{
	unsigned int i = umad->count;

	umad_hide(umad);
	while (i--)
		umad_port_end(&umad->ports[i]);
}

static int umad_add_one(struct ib_attachment *attachment)
{
	unsigned int i, count = attachment->device->phys_port_cnt;
	struct umad_device *umad;
	int err;

	umad = kzalloc(struct_size(umad, ports, count), GFP_KERNEL);
	if (!umad)
		return -ENOMEM;
	umad->count = count;
	err = umad_indexes_take(umad);
	for (i = 0; !err && i < count; i++) {
		if (!ib_device_has_port(attachment->device, i + 1))
			continue;
		err = umad_node_add(attachment, &umad->ports[i], i + 1, false) ?:
		      umad_node_add(attachment, &umad->ports[i], i + 1, true);
	}
	if (err) {
		/* Somebody may have opened those that were there already. */
		umad_end(umad);
		kfree(umad);
		return err;
	}
	ib_attachment_set_context(attachment, umad);
	return 0;
}

static void umad_closing(struct ib_attachment *attachment)
{
	umad_hide(ib_attachment_context(attachment));
}

static void umad_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	umad_end(ib_attachment_context(attachment));
}

static void umad_free(void *context)
{
	kfree(context);
}

static struct ib_service *const umad_needs[] = { &ib_mad_service, NULL };

static struct ib_client umad_client = {
	.name = "ib_umad",
	.owner = THIS_MODULE,
	.needs = umad_needs,
	.add_one = umad_add_one,
	.closing = umad_closing,
	.remove_one = umad_remove_one,
	.free = umad_free,
};

static int umad_find(struct ib_device *device, u8 port, bool issm, struct ib_chardev_info *info)
{
	struct umad_node *node;
	int err = -ENODEV;

	mutex_lock(&umad_nodes_lock);
	list_for_each_entry(node, &umad_nodes, all) {
		if (node->cdev.device != device || node->port != port || node->issm != issm)
			continue;
		info->dev = get_device(&node->cdev.dev);
		info->abi = IB_USER_MAD_ABI_VERSION;
		err = 0;
		break;
	}
	mutex_unlock(&umad_nodes_lock);
	return err;
}

static int umad_find_umad(struct ib_device *device, u8 port, struct ib_chardev_info *info)
{
	return umad_find(device, port, false, info);
}

static int umad_find_issm(struct ib_device *device, u8 port, struct ib_chardev_info *info)
{
	return umad_find(device, port, true, info);
}

static struct ib_chardev umad_chardev = {
	.type = "umad",
	.owner = THIS_MODULE,
	.per_port = true,
	.find = umad_find_umad,
};

static struct ib_chardev issm_chardev = {
	.type = "issm",
	.owner = THIS_MODULE,
	.per_port = true,
	.find = umad_find_issm,
};

static int __init umad_regions_take(void)
{
	int err;

	umad_fixed = MKDEV(UMAD_MAJOR, 0);
	err = register_chrdev_region(umad_fixed, 2 * UMAD_FIXED, UMAD_CLASS);
	if (err)
		err = alloc_chrdev_region(&umad_fixed, 0, 2 * UMAD_FIXED, UMAD_CLASS);
	if (err)
		return err;
	err = alloc_chrdev_region(&umad_more, 0, 2 * (UMAD_NODES - UMAD_FIXED), UMAD_CLASS);
	if (err)
		unregister_chrdev_region(umad_fixed, 2 * UMAD_FIXED);
	return err;
}

static void umad_regions_give(void)
{
	unregister_chrdev_region(umad_more, 2 * (UMAD_NODES - UMAD_FIXED));
	unregister_chrdev_region(umad_fixed, 2 * UMAD_FIXED);
}

static int __init umad_init(void)
{
	int err = umad_regions_take();

	if (err)
		return err;
	err = umad_class_make();
	if (err)
		goto give_regions;
	ib_chardev_register(&umad_chardev);
	ib_chardev_register(&issm_chardev);
	err = ib_client_register(&umad_client);
	if (!err)
		return 0;

	ib_chardev_unregister(&issm_chardev);
	ib_chardev_unregister(&umad_chardev);
	umad_class_end();
give_regions:
	umad_regions_give();
	return err;
}

static void __exit umad_exit(void)
{
	ib_client_unregister(&umad_client);
	ib_chardev_unregister(&issm_chardev);
	ib_chardev_unregister(&umad_chardev);
	umad_class_end();
	umad_regions_give();
	ida_destroy(&umad_indexes);
}

module_init(umad_init);
module_exit(umad_exit);

MODULE_ALIAS("rdma-client-umad");
MODULE_ALIAS("rdma-client-issm");
MODULE_DESCRIPTION("LastRef InfiniBand MADs for user programs");
MODULE_LICENSE("GPL");
#ifdef LASTREF_VERSION
MODULE_VERSION(LASTREF_VERSION);
#endif
