// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MAD service on a device and its ports; what the parts are stands in mad.h.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "mad.h"

/**
 * ib_mad_kick() - let the work item look
 * @port: the port
 *
 * Context: any.
 */
void ib_mad_kick(struct ib_mad_port *port)
{
	if (!READ_ONCE(port->stopping))
		queue_work(port->wq, &port->work);
}

static void ib_mad_empty_trash(struct ib_mad_port *port)
{
	struct ib_mad_rx *rx, *next;
	LIST_HEAD(trash);

	if (list_empty(&port->trash))
		return;
	spin_lock_bh(&port->lock);
	list_splice_init(&port->trash, &trash);
	spin_unlock_bh(&port->lock);
	list_for_each_entry_safe(rx, next, &trash, node)
		ib_mad_rx_free(rx);
}

/* The hardware has given everything back: nothing that is under way will be answered. */
static bool ib_mad_bury(struct ib_mad_port *port)
{
	if (!READ_ONCE(port->dead) || port->buried)
		return false;
	spin_lock_bh(&port->lock);
	ib_mad_agents_end_sends(port, -EIO);
	/* None is added to the dead, so once is enough: there may be thousands. */
	port->buried = true;
	spin_unlock_bh(&port->lock);
	return false;
}

/* One of each, so that none has to wait for all of another. */
static bool ib_mad_work_once(struct ib_mad_port *port)
{
	bool more = false;

	more |= ib_mad_bury(port);
	more |= ib_mad_repair(&port->qps[0]);
	more |= ib_mad_repair(&port->qps[1]);
	more |= ib_mad_rx_run(port);
	more |= ib_mad_local_run(port);
	more |= ib_mad_timers_run(port);
	more |= ib_mad_done_run(port);
	return more;
}

static void ib_mad_work(struct work_struct *work)
{
	struct ib_mad_port *port = container_of(work, struct ib_mad_port, work);
	int n = 0;

	while (!READ_ONCE(port->stopping) && ib_mad_work_once(port)) {
		if (++n == IB_MAD_BATCH) {
			ib_mad_kick(port);
			break;
		}
	}
	ib_mad_empty_trash(port);
}

static struct ib_mad_port *ib_mad_port_alloc(struct ib_service_instance *instance, u8 num)
{
	struct ib_mad_device *mads = instance->context;
	struct ib_mad_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->instance = instance;
	port->device = instance->device;
	port->num = num;
	port->wq = mads->wq;
	spin_lock_init(&port->lock);
	mutex_init(&port->registering);
	ib_mad_match_init(&port->match);
	xa_init_flags(&port->hi_tids, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	port->next_hi_tid = get_random_u32() & 0xffffff;
	INIT_LIST_HEAD(&port->agents);
	hash_init(port->sends);
	hash_init(port->ids);
	INIT_WORK(&port->work, ib_mad_work);
	INIT_LIST_HEAD(&port->rx);
	INIT_LIST_HEAD(&port->local);
	INIT_LIST_HEAD(&port->errands);
	INIT_LIST_HEAD(&port->done);
	INIT_LIST_HEAD(&port->trash);
	ib_mad_timers_init(port);
	return port;
}

/* Its QPs are stopped. */
static void ib_mad_port_free(struct ib_mad_port *port)
{
	ib_mad_timers_stop(port);
	cancel_work_sync(&port->work);
	spin_lock_bh(&port->lock);
	list_splice_init(&port->rx, &port->trash);
	WARN_ON_ONCE(!list_empty(&port->done) || !list_empty(&port->local) ||
		     !list_empty(&port->errands) ||
		     !list_empty(&port->agents) || timerqueue_getnext(&port->timers));
	spin_unlock_bh(&port->lock);
	ib_mad_empty_trash(port);
	ib_mad_match_exit(&port->match);
	WARN_ON_ONCE(!xa_empty(&port->hi_tids));
	xa_destroy(&port->hi_tids);
	mutex_destroy(&port->registering);
	kfree(port);
}

static int ib_mad_start_port(struct ib_service_instance *instance, u8 num)
{
	struct ib_mad_device *mads = instance->context;
	struct ib_mad_port *port;
	int err;

	if (!instance->device->has_mads)
		return 0;
	port = ib_mad_port_alloc(instance, num);
	if (!port)
		return -ENOMEM;
	err = ib_mad_qps_start(port);
	if (err) {
		ib_mad_qps_stop(port);
		ib_mad_port_free(port);
		return err;
	}
	mads->ports[num - 1] = port;
	return 0;
}

static void ib_mad_stop_port(struct ib_service_instance *instance, u8 num)
{
	struct ib_mad_device *mads = instance->context;
	struct ib_mad_port *port = mads->ports[num - 1];

	if (!port)
		return;
	mads->ports[num - 1] = NULL;
	ib_mad_qps_stop(port);
	ib_mad_port_free(port);
}

static int ib_mad_start(struct ib_service_instance *instance)
{
	unsigned int nports = instance->device->phys_port_cnt;
	struct ib_mad_device *mads;
	char name[IB_DEVICE_NAME_MAX];

	mads = kzalloc(struct_size(mads, ports, nports), GFP_KERNEL);
	if (!mads)
		return -ENOMEM;
	mads->nports = nports;
	/*
	 * The kind of queue that completions are polled on (verbs.c), so that one worker does both
	 * in turn, and no thread is woken for what the other has found. Callbacks may take long.
	 */
	mads->wq = alloc_workqueue("ib-mad/%s", WQ_HIGHPRI | WQ_CPU_INTENSIVE | WQ_MEM_RECLAIM, 0,
				   ib_device_name(instance->device, name));
	if (!mads->wq) {
		kfree(mads);
		return -ENOMEM;
	}
	instance->context = mads;
	return 0;
}

static void ib_mad_stop(struct ib_service_instance *instance)
{
	struct ib_mad_device *mads = instance->context;

	instance->context = NULL;
	destroy_workqueue(mads->wq);
	kfree(mads);
}

/* The polite time is over, or nobody comes from above any more. */
static void ib_mad_cancel_all(struct ib_service_instance *instance)
{
	struct ib_mad_device *mads = instance->context;
	unsigned int i;

	for (i = 0; i < mads->nports; i++) {
		struct ib_mad_port *port = mads->ports[i];

		if (!port)
			continue;
		spin_lock_bh(&port->lock);
		ib_mad_agents_end_sends(port, -ECANCELED);
		spin_unlock_bh(&port->lock);
	}
}

static const struct ib_service_ops ib_mad_ops = {
	.start = ib_mad_start,
	.start_port = ib_mad_start_port,
	.cancel = ib_mad_cancel_all,
	.stop_port = ib_mad_stop_port,
	.stop = ib_mad_stop,
};

struct ib_service ib_mad_service = {
	.name = "MAD",
	.owner = THIS_MODULE,
	.ops = &ib_mad_ops,
};
EXPORT_SYMBOL_GPL(ib_mad_service);

/** ib_mad_init() - offer the service; before the first device */
int ib_mad_init(void)
{
	return ib_service_register(&ib_mad_service);
}

/** ib_mad_exit() - its mirror; after the last device */
void ib_mad_exit(void)
{
	ib_service_unregister(&ib_mad_service);
}
