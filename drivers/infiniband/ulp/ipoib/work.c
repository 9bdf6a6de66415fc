// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine of ladder.h, run.
 *
 * One work item for each interface, on the queue of the device it stands on.  It reads the facts,
 * goes down as far as they or an event want it, deals with what the data path left, and climbs as
 * far as it can.  It takes no RTNL, so that whoever holds that may wait for it; and since it is the
 * only one that touches IB objects, nothing else has to wait for anything.
 *
 * While an interface stands on a device it is in the device's list and has a reference to its own
 * net_device.  The item gives both up itself, last of all, when it has come down to BARE and is not
 * to stand there any more.
 */
#include <linux/export.h>

#include "ipoib.h"

static void ipoib_work_run(struct work_struct *work);

/**
 * ipoib_work_init() - prepare the machine of a new interface
 * @iface: the interface
 */
void ipoib_work_init(struct ipoib_iface *iface)
{
	spin_lock_init(&iface->lock);
	spin_lock_init(&iface->note_lock);
	INIT_LIST_HEAD(&iface->path_notes);
	INIT_LIST_HEAD(&iface->group_notes);
	INIT_LIST_HEAD(&iface->path_list);
	INIT_LIST_HEAD(&iface->group_list);
	iface->sent_groups_max = IPOIB_SENT_GROUPS_MAX;
	INIT_LIST_HEAD(&iface->dev_node);
	init_waitqueue_head(&iface->moved);
	init_waitqueue_head(&iface->drained);
	INIT_DELAYED_WORK(&iface->work, ipoib_work_run);
}

/**
 * ipoib_kick() - have the machine look, soon
 * @iface: the interface
 *
 * Context: any.
 */
void ipoib_kick(struct ipoib_iface *iface)
{
	unsigned long flags;

	spin_lock_irqsave(&iface->lock, flags);
	if (iface->dev)
		mod_delayed_work(iface->dev->wq, &iface->work, 0);
	spin_unlock_irqrestore(&iface->lock, flags);
}
EXPORT_SYMBOL_GPL(ipoib_kick);

/**
 * ipoib_ask() - have something flushed
 * @iface: the interface
 * @flush: what; the highest that was asked for counts
 *
 * Context: any.
 */
void ipoib_ask(struct ipoib_iface *iface, enum ipoib_flush flush)
{
	int old = atomic_read(&iface->flush);

	while (old < flush && !atomic_try_cmpxchg(&iface->flush, &old, flush))
		;
	ipoib_kick(iface);
}
EXPORT_SYMBOL_GPL(ipoib_ask);

/**
 * ipoib_attach() - stand on a device
 * @iface: an interface that stands on none
 * @dev: the device; the caller keeps its memory
 *
 * Context: may sleep; RTNL may be held.
 * Return: 0; -ENODEV: the device is on its way out.
 */
int ipoib_attach(struct ipoib_iface *iface, struct ipoib_dev *dev)
{
	mutex_lock(&dev->lock);
	if (dev->closed) {
		mutex_unlock(&dev->lock);
		return -ENODEV;
	}
	kref_get(&dev->ref);
	netdev_hold(iface->netdev, &iface->tracker, GFP_KERNEL);
	list_add_tail(&iface->dev_node, &dev->ifaces);
	spin_lock_irq(&iface->lock);
	iface->dev = dev;
	WRITE_ONCE(iface->present, true);
	spin_unlock_irq(&iface->lock);
	mutex_unlock(&dev->lock);
	ipoib_kick(iface);
	return 0;
}

/**
 * ipoib_detach() - stop standing on a device; not waited for
 * @iface: the interface
 *
 * Context: any.
 */
void ipoib_detach(struct ipoib_iface *iface)
{
	WRITE_ONCE(iface->present, false);
	ipoib_kick(iface);
}

/**
 * ipoib_detach_wait() - wait until no IB object is left
 * @iface: the interface, after ipoib_detach()
 * @timeout: in jiffies
 *
 * Return: true, or false: it takes longer, and the item goes on without the caller.
 */
bool ipoib_detach_wait(struct ipoib_iface *iface, unsigned long timeout)
{
	return wait_event_timeout(iface->moved, !READ_ONCE(iface->dev), timeout);
}

/**
 * ipoib_settle() - wait until the interface stands where it should
 * @iface: the interface
 * @lowest: on this rung or higher
 * @highest: on this rung or lower
 * @timeout: in jiffies
 *
 * Ends early if something failed, or if there is no device to stand on.
 *
 * Return: yes, it does.
 */
bool ipoib_settle(struct ipoib_iface *iface, enum ipoib_rung lowest, enum ipoib_rung highest,
		  unsigned long timeout)
{
	enum ipoib_rung rung;

	wait_event_timeout(iface->moved,
			   ((rung = READ_ONCE(iface->rung)) >= lowest && rung <= highest) ||
			   READ_ONCE(iface->error) || !READ_ONCE(iface->dev), timeout);
	rung = READ_ONCE(iface->rung);
	return rung >= lowest && rung <= highest;
}

/* ---- the rungs: how to get on each, and off it ---- */

static void ipoib_set_running(struct ipoib_iface *iface, bool running)
{
	/* Whoever sends now has finished, or sees it. */
	netif_tx_lock_bh(iface->netdev);
	iface->running = running;
	netif_tx_unlock_bh(iface->netdev);
}

static int ipoib_join_begin(struct ipoib_iface *iface)
{
	int err = ipoib_groups_begin(iface);

	if (err)
		return err;
	WRITE_ONCE(iface->pkey, iface->facts.pkey);
	iface->gc_last = jiffies;
	ipoib_set_running(iface, true);
	return 0;
}

static void ipoib_join_end(struct ipoib_iface *iface)
{
	ipoib_set_running(iface, false);
	ipoib_paths_flush(iface);
	ipoib_groups_flush(iface);
	WRITE_ONCE(iface->group_mtu, 0);
}

static int ipoib_carrier_on(struct ipoib_iface *iface)
{
	if (netif_running(iface->netdev))
		netif_wake_queue(iface->netdev);
	netif_carrier_on(iface->netdev);
	return 0;
}

static void ipoib_carrier_off(struct ipoib_iface *iface)
{
	netif_carrier_off(iface->netdev);
}

/**
 * struct ipoib_step - what is done for a rung
 * @climb: get on it from the one below
 * @leave: get off it
 */
struct ipoib_step {
	int (*climb)(struct ipoib_iface *iface);
	void (*leave)(struct ipoib_iface *iface);
};

static const struct ipoib_step ipoib_steps[IPOIB_RUNGS] = {
	[IPOIB_MADE] = { ipoib_queues_make, ipoib_queues_unmake },
	[IPOIB_RUNNING] = { ipoib_queues_start, ipoib_queues_stop },
	[IPOIB_JOINING] = { ipoib_join_begin, ipoib_join_end },
	[IPOIB_UP] = { ipoib_carrier_on, ipoib_carrier_off },
};

static void ipoib_set_rung(struct ipoib_iface *iface, enum ipoib_rung rung)
{
	ipoib_dbg(iface, "from %s to %s\n", ipoib_rung_name(iface->rung), ipoib_rung_name(rung));
	WRITE_ONCE(iface->rung, rung);
	wake_up_all(&iface->moved);
}

static void ipoib_descend(struct ipoib_iface *iface, enum ipoib_rung to)
{
	while (iface->rung > to) {
		ipoib_steps[iface->rung].leave(iface);
		ipoib_set_rung(iface, iface->rung - 1);
	}
}

/* What a rung is reached with is remembered: a change of it is what the next run looks for. */
static void ipoib_remember(struct ipoib_iface *iface, const struct ipoib_facts *now)
{
	if (iface->rung < IPOIB_RUNNING) {
		iface->facts.pkey = now->pkey;
		iface->facts.pkey_index = now->pkey_index;
	}
	if (iface->rung < IPOIB_JOINING)
		iface->facts.gid = now->gid;
}

static void ipoib_failed(struct ipoib_iface *iface, int err)
{
	iface->failures++;
	iface->retry_at = jiffies + ipoib_backoff(iface->failures) * HZ;
	if (iface->failures == 1)
		ipoib_err(iface, "cannot go from %s to %s (%d), will try again\n",
			  ipoib_rung_name(iface->rung), ipoib_rung_name(iface->rung + 1), err);
	WRITE_ONCE(iface->error, err);
	wake_up_all(&iface->moved);
}

/* One rung higher, if the facts allow. */
static bool ipoib_climb(struct ipoib_iface *iface)
{
	struct ipoib_facts facts;
	int err;

	if (iface->failures && time_before(jiffies, iface->retry_at))
		return false;
	ipoib_look(iface, &facts);
	ipoib_remember(iface, &facts);
	if (iface->rung >= ipoib_reach(&facts))
		return false;
	err = ipoib_steps[iface->rung + 1].climb(iface);
	if (err) {
		ipoib_failed(iface, err);
		return false;
	}
	iface->failures = 0;
	WRITE_ONCE(iface->error, 0);
	ipoib_set_rung(iface, iface->rung + 1);
	return true;
}

/* ---- the item ---- */

static void ipoib_flush_paths(struct ipoib_iface *iface, enum ipoib_flush flush)
{
	if (flush == IPOIB_FLUSH_LIGHT)
		atomic_long_inc(&iface->counts.flush_light);
	else if (flush == IPOIB_FLUSH_NORMAL)
		atomic_long_inc(&iface->counts.flush_normal);
	else if (flush == IPOIB_FLUSH_HEAVY)
		atomic_long_inc(&iface->counts.flush_heavy);
	else if (flush)
		atomic_long_inc(&iface->counts.restarts);
	if (iface->rung < IPOIB_JOINING)
		return;
	if (flush >= IPOIB_FLUSH_NORMAL)
		ipoib_paths_flush(iface);
	else if (flush)
		ipoib_paths_stale(iface);
}

/* When the tables are to be looked through: twice in the time after which something goes. */
static unsigned long ipoib_gc_at(struct ipoib_iface *iface)
{
	return iface->gc_last + ipoib_groups_age(iface) / 2;
}

/* What the data path and the services have left; may change the facts. */
static void ipoib_serve(struct ipoib_iface *iface)
{
	if (iface->rung >= IPOIB_MADE && READ_ONCE(iface->moderate))
		ipoib_queues_moderate(iface);
	if (iface->rung < IPOIB_JOINING)
		return;
	ipoib_groups_work(iface);
	if (iface->broadcast->joined)
		ipoib_paths_work(iface);
	if (time_after_eq(jiffies, ipoib_gc_at(iface))) {
		ipoib_paths_gc(iface);
		ipoib_groups_gc(iface);
		iface->gc_last = jiffies;
	}
}

static void ipoib_earlier(unsigned long *delay, unsigned long at)
{
	unsigned long left = time_after(at, jiffies) ? at - jiffies : 0;

	*delay = min(*delay, left);
}

/* A kick that has come meanwhile is not put off: the item is queued already. */
static void ipoib_sleep(struct ipoib_iface *iface)
{
	unsigned long delay = MAX_JIFFY_OFFSET;

	if (iface->failures)
		ipoib_earlier(&delay, iface->retry_at);
	if (iface->rung >= IPOIB_JOINING) {
		ipoib_earlier(&delay, ipoib_gc_at(iface));
		if (iface->groups_at)
			ipoib_earlier(&delay, iface->groups_at);
	}
	if (delay != MAX_JIFFY_OFFSET)
		queue_delayed_work(iface->dev->wq, &iface->work, delay);
}

static void ipoib_show(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;
	struct ipoib_shown now;
	bool changed;

	/* Compared as bytes. */
	memset(&now, 0, sizeof(now));
	spin_lock_irq(&iface->lock);
	now.qpn = q ? q->qp->qpn : 0;
	now.pkey = iface->facts.pkey;
	now.gid = iface->facts.gid;
	now.group_mtu = iface->group_mtu;
	now.max_mtu = iface->max_mtu;
	now.lso = q ? q->lso : iface->shown.lso;
	now.csum = ib_device_attr(iface->dev->ib)->device_cap_flags & IPOIB_CAP_UD_CSUM;
	now.up = iface->rung == IPOIB_UP;
	changed = memcmp(&now, &iface->shown, sizeof(now));
	memcpy(&iface->shown, &now, sizeof(now));
	spin_unlock_irq(&iface->lock);
	if (changed)
		ipoib_netdev_tell(iface);
}

/* The last thing the item does for an interface: neither is to be touched afterwards. */
static void ipoib_unlink(struct ipoib_iface *iface)
{
	struct ipoib_dev *dev = iface->dev;
	netdevice_tracker tracker = iface->tracker;
	struct net_device *netdev = iface->netdev;

	iface->failures = 0;
	WRITE_ONCE(iface->error, 0);
	mutex_lock(&dev->lock);
	spin_lock_irq(&iface->lock);
	WRITE_ONCE(iface->dev, NULL);
	/* It runs here, and nobody queues it until it stands on a device again. */
	cancel_delayed_work(&iface->work);
	spin_unlock_irq(&iface->lock);
	wake_up_all(&iface->moved);
	/* Whoever finds the list empty may destroy the queue. */
	list_del_init(&iface->dev_node);
	if (list_empty(&dev->ifaces))
		wake_up_all(&dev->empty);
	mutex_unlock(&dev->lock);
	netdev_put(netdev, &tracker);
	ipoib_dev_put(dev);
}

static void ipoib_work_run(struct work_struct *work)
{
	struct ipoib_iface *iface = container_of(to_delayed_work(work), struct ipoib_iface, work);
	enum ipoib_flush flush = atomic_xchg(&iface->flush, IPOIB_FLUSH_NONE);
	struct ipoib_facts facts;

	if (!iface->dev)
		return;
	ipoib_look(iface, &facts);
	ipoib_flush_paths(iface, flush);
	ipoib_descend(iface, min(ipoib_fall(flush, &iface->facts, &facts), ipoib_reach(&facts)));
	do {
		ipoib_serve(iface);
		/* The broadcast group may have been lost in there. */
		ipoib_look(iface, &facts);
		ipoib_descend(iface, ipoib_reach(&facts));
	} while (ipoib_climb(iface));
	ipoib_show(iface);
	if (iface->rung == IPOIB_BARE && !READ_ONCE(iface->present))
		ipoib_unlink(iface);
	else
		ipoib_sleep(iface);
}
