// SPDX-License-Identifier: GPL-2.0-only
/*
 * devlink: a reload takes the HCA down politely and brings it up again; the health reporter "hca"
 * says whether it counts as lost, and why.
 *
 * A reload is the goal RESET like any other: the lifecycle thread does all of it, and the caller,
 * who holds devlink's lock (and in 6.12 that of the PCI device), waits for the thread, which takes
 * neither.  Recovery after a loss is the thread's own, so the reporter has none to offer; it counts
 * losses, and the recoveries that followed them.
 */
#include <linux/pci.h>
#include <net/devlink.h>

#include <ib/compat.h>
#include <ib/hca.h>

#include "mlx4.h"

static struct mlx4_dev *dev_of(struct devlink *devlink)
{
	return *(struct mlx4_dev **)devlink_priv(devlink);
}

/* Up, with what its provider makes of it. */
static bool works(struct ib_hca *hca)
{
	return READ_ONCE(hca->up) && !READ_ONCE(hca->start_error) && !ib_hca_is_over(hca);
}

static int reload_down(struct devlink *devlink, bool netns_change,
		       enum devlink_reload_action action, enum devlink_reload_limit limit,
		       struct netlink_ext_ack *extack)
{
	struct ib_hca *hca = dev_of(devlink)->hca;

	if (netns_change) {
		NL_SET_ERR_MSG_MOD(extack, "an HCA stays in its network namespace");
		return -EOPNOTSUPP;
	}
	/* Down and up again, unless somebody else wants it down. */
	ib_hca_raise(hca, IB_GOAL_RESET);
	ib_hca_settle(hca);
	return 0;
}

static int reload_up(struct devlink *devlink, enum devlink_reload_action action,
		     enum devlink_reload_limit limit, u32 *actions_performed,
		     struct netlink_ext_ack *extack)
{
	*actions_performed = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	if (works(dev_of(devlink)->hca))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the HCA is down and did not start again");
	return -EIO;
}

static const struct devlink_ops devlink_ops = {
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = reload_down,
	.reload_up = reload_up,
};

static int diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
		    struct netlink_ext_ack *extack)
{
	struct mlx4_dev *dev = devlink_health_reporter_priv(reporter);
	const char *cause = READ_ONCE(dev->hca->gone_cause);

	devlink_fmsg_bool_pair_put(fmsg, "up", works(dev->hca));
	devlink_fmsg_string_pair_put(fmsg, "last loss", cause ?: "none");
	devlink_fmsg_u32_pair_put(fmsg, "losses", READ_ONCE(dev->reporter.losses));
	devlink_fmsg_u32_pair_put(fmsg, "mailboxes kept", mlx4_cmd_kept(dev));
	return 0;
}

static const struct devlink_health_reporter_ops reporter_ops = {
	.name = "hca",
	.diagnose = diagnose,
};

static void tell(struct work_struct *work)
{
	struct mlx4_reporter *r = container_of(work, struct mlx4_reporter, work);
	struct mlx4_dev *dev = container_of(r, struct mlx4_dev, reporter);
	struct devlink_health_reporter *reporter;
	unsigned int losses;

	/* Who takes it away waits for this item before it goes. */
	spin_lock_irq(&r->lock);
	reporter = r->reporter;
	losses = r->losses;
	spin_unlock_irq(&r->lock);
	if (!reporter)
		return;
	for (; r->told != losses; r->told++) {
		devlink_health_report(reporter, READ_ONCE(dev->hca->gone_cause), dev);
		WRITE_ONCE(r->ill, true);
	}
	if (!r->ill || !works(dev->hca))
		return;
	WRITE_ONCE(r->ill, false);
	devlink_health_reporter_recovery_done(reporter);
	devlink_health_reporter_state_update(reporter, DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
}

void mlx4_devlink_tell(struct mlx4_dev *dev, bool lost)
{
	struct mlx4_reporter *r = &dev->reporter;
	unsigned long flags;

	spin_lock_irqsave(&r->lock, flags);
	r->losses += lost;
	if (r->reporter && (lost || READ_ONCE(r->ill)))
		queue_work(system_unbound_wq, &r->work);
	spin_unlock_irqrestore(&r->lock, flags);
}

void mlx4_devlink_init(struct mlx4_dev *dev)
{
	spin_lock_init(&dev->reporter.lock);
	INIT_WORK(&dev->reporter.work, tell);
}

static void reporter_set(struct mlx4_reporter *r, struct devlink_health_reporter *reporter)
{
	spin_lock_irq(&r->lock);
	r->reporter = reporter;
	spin_unlock_irq(&r->lock);
}

int mlx4_devlink_add(struct mlx4_dev *dev)
{
	struct mlx4_reporter *r = &dev->reporter;
	struct devlink_health_reporter *reporter;
	struct devlink *devlink;

	devlink = devlink_alloc(&devlink_ops, sizeof(dev), dev->dev);
	if (!devlink)
		return -ENOMEM;
	*(struct mlx4_dev **)devlink_priv(devlink) = dev;
	reporter = devlink_health_reporter_create(devlink, &reporter_ops, 0, dev);
	if (IS_ERR(reporter)) {
		devlink_free(devlink);
		return PTR_ERR(reporter);
	}
	ib_devlink_may_reload(devlink);
	devlink_register(devlink);
	r->devlink = devlink;
	reporter_set(r, reporter);
	/* It may have been lost meanwhile. */
	queue_work(system_unbound_wq, &r->work);
	return 0;
}

void mlx4_devlink_del(struct mlx4_dev *dev)
{
	struct mlx4_reporter *r = &dev->reporter;
	struct devlink_health_reporter *reporter = r->reporter;

	/* Nothing may be reported to an instance that is not registered any more. */
	reporter_set(r, NULL);
	cancel_work_sync(&r->work);
	devlink_unregister(r->devlink);
	devlink_health_reporter_destroy(reporter);
	devlink_free(r->devlink);
	r->devlink = NULL;
}
