// SPDX-License-Identifier: GPL-2.0-only
/* The client, its conductor, and what it tells in debugfs; see traffic.h. */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <ib/hca.h>

#include "traffic.h"

#define LOOK_MS 20

static DEFINE_MUTEX(lock); /* the list, and everything of the conductor in its members */
static LIST_HEAD(hcas);
static struct task_struct *conductor;
static struct dentry *file;
static bool want_cases;

static void hear(struct ib_event_handler *handler, const struct ib_event *event)
{
	struct traffic_hca *hca = handler->context;

	if (event->port)
		atomic_inc(&hca->port_events);
}

static void pair_unmake(struct traffic_port *a, struct traffic_port *b)
{
	/* Both stop before either is drained: nothing that is sent meets a QP that has gone. */
	traffic_port_unmake(a);
	traffic_port_unmake(b);
}

static void pair_make(struct traffic_port *a, struct traffic_port *b)
{
	int err;

	err = traffic_port_make(a);
	if (!err)
		err = traffic_port_make(b);
	if (!err)
		err = traffic_port_connect(a, b);
	if (!err)
		err = traffic_port_connect(b, a);
	if (err) {
		pair_unmake(a, b);
		return;
	}
	atomic_inc(&traffic_totals.pairs);
	traffic_port_start(a);
	traffic_port_start(b);
}

static void pair_look(struct traffic_port *a, struct traffic_port *b)
{
	bool up = a->active && b->active;
	bool well = up && !traffic_port_broken(a) && !traffic_port_broken(b);

	if (well && READ_ONCE(want_cases)) {
		WRITE_ONCE(want_cases, false);
		atomic_add(traffic_cases(a, b), &traffic_totals.cases_failed);
		atomic_inc(&traffic_totals.cases);
	}
	if (a->made && b->made && well)
		return;
	if (a->made || b->made)
		pair_unmake(a, b);
	else if (up)
		pair_make(a, b);
}

static void look(void)
{
	struct traffic_hca *hca, *first = NULL;
	unsigned int i;

	list_for_each_entry(hca, &hcas, node) {
		for (i = 0; i < TRAFFIC_PORTS; i++) {
			if (!hca->ports[i].link_done)
				traffic_port_link(&hca->ports[i]);
			traffic_port_manage(&hca->ports[i]);
		}
		if (first)
			for (i = 0; i < TRAFFIC_PORTS; i++)
				pair_look(&first->ports[i], &hca->ports[i]);
		first = hca;
	}
	/* Whose other half has left stops as well. */
	if (first && list_is_singular(&hcas))
		for (i = 0; i < TRAFFIC_PORTS; i++)
			traffic_port_unmake(&first->ports[i]);
}

static int conduct(void *unused)
{
	while (!kthread_should_stop()) {
		mutex_lock(&lock);
		look();
		mutex_unlock(&lock);
		msleep(LOOK_MS);
	}
	return 0;
}

static void hca_destroy(struct traffic_hca *hca)
{
	unsigned int i;

	for (i = 0; i < TRAFFIC_PORTS; i++) {
		traffic_port_unmake(&hca->ports[i]);
		traffic_port_unlink(&hca->ports[i]);
	}
	if (hca->events)
		ib_event_unsubscribe(hca->events);
	if (hca->mr)
		ib_mr_destroy(hca->mr);
	if (hca->pd)
		ib_pd_destroy(hca->pd);
}

/* LIDs follow from the GUID, so that they are the same after each removal. */
static u16 lid_of(struct ib_device *device, unsigned int port)
{
	return (be64_to_cpu(device->node_guid) >> 8 & 0xff) * 4 + port + 1;
}

static int hca_create(struct traffic_hca *hca)
{
	struct ib_attachment *attachment = hca->attachment;
	unsigned int i;
	int err;

	for (i = 0; i < TRAFFIC_PORTS; i++) {
		hca->ports[i].hca = hca;
		hca->ports[i].number = i + 1;
		hca->ports[i].lid = lid_of(attachment->device, i);
	}
	hca->events = ib_event_subscribe(attachment, hear, hca);
	if (IS_ERR(hca->events)) {
		err = PTR_ERR(hca->events);
		hca->events = NULL;
		return err;
	}
	hca->pd = ib_pd_create(attachment, NULL);
	if (IS_ERR(hca->pd)) {
		err = PTR_ERR(hca->pd);
		hca->pd = NULL;
		return err;
	}
	hca->mr = ib_mr_create_dma(hca->pd, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
					    IB_ACCESS_REMOTE_READ);
	if (IS_ERR(hca->mr)) {
		err = PTR_ERR(hca->mr);
		hca->mr = NULL;
		return err;
	}
	return 0;
}

static int traffic_add(struct ib_attachment *attachment)
{
	struct traffic_hca *hca;
	int err;

	if (attachment->device->phys_port_cnt < TRAFFIC_PORTS)
		return -EOPNOTSUPP;
	hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	if (!hca)
		return -ENOMEM;
	hca->attachment = attachment;
	err = hca_create(hca);
	if (err) {
		hca_destroy(hca);
		kfree(hca);
		return err;
	}
	ib_attachment_set_context(attachment, hca);
	atomic_inc(&traffic_totals.adds);
	mutex_lock(&lock);
	list_add_tail(&hca->node, &hcas);
	mutex_unlock(&lock);
	return 0;
}

static void traffic_remove(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct traffic_hca *hca = ib_attachment_context(attachment);

	mutex_lock(&lock);
	list_del(&hca->node);
	hca_destroy(hca);
	mutex_unlock(&lock);
	atomic_inc(&traffic_totals.removes);
	if (reason == IB_RESET)
		atomic_inc(&traffic_totals.resets);
}

static void traffic_free(void *context)
{
	kfree(context);
}

static struct ib_client traffic_client = {
	.name = "lastref_traffic",
	.owner = THIS_MODULE,
	.add_one = traffic_add,
	.remove_one = traffic_remove,
	.free = traffic_free,
};

static int totals_show(struct seq_file *seq, void *unused)
{
	const struct traffic_totals *t = &traffic_totals;

	seq_printf(seq, "ud %lld\nrc %lld\nrdma %lld\n", atomic64_read(&t->messages[0]),
		   atomic64_read(&t->messages[1]), atomic64_read(&t->rdma));
	seq_printf(seq, "bad %d\nflushed %d\nerrors %d\nlost %d\ndouble %d\n",
		   atomic_read(&t->bad), atomic_read(&t->flushed), atomic_read(&t->errors),
		   atomic_read(&t->lost), atomic_read(&t->double_));
	seq_printf(seq, "cases %d\ncases_failed %d\n", atomic_read(&t->cases),
		   atomic_read(&t->cases_failed));
	seq_printf(seq, "adds %d\nremoves %d\nresets %d\npairs %d\nactives %d\n",
		   atomic_read(&t->adds), atomic_read(&t->removes), atomic_read(&t->resets),
		   atomic_read(&t->pairs), atomic_read(&t->actives));
	return 0;
}

static int totals_open(struct inode *inode, struct file *opened)
{
	return single_open(opened, totals_show, NULL);
}

/* Whatever is written: run the cases once, as soon as there are two ports that face each other. */
static ssize_t totals_write(struct file *opened, const char __user *text, size_t size, loff_t *at)
{
	WRITE_ONCE(want_cases, true);
	return size;
}

static const struct file_operations totals_fops = {
	.owner = THIS_MODULE,
	.open = totals_open,
	.read = seq_read,
	.write = totals_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init traffic_init(void)
{
	int err;

	conductor = kthread_run(conduct, NULL, "lastref_traffic");
	if (IS_ERR(conductor))
		return PTR_ERR(conductor);
	err = ib_client_register(&traffic_client);
	if (err) {
		kthread_stop(conductor);
		return err;
	}
	file = debugfs_create_file("lastref_traffic", 0644, NULL, NULL, &totals_fops);
	return 0;
}

static void __exit traffic_exit(void)
{
	debugfs_remove(file);
	ib_client_unregister(&traffic_client);
	kthread_stop(conductor);
}

module_init(traffic_init);
module_exit(traffic_exit);
MODULE_DESCRIPTION("LastRef: kernel traffic between two HCAs, for tests");
MODULE_LICENSE("GPL");
