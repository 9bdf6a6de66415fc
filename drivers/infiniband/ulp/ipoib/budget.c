// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long RTNL is held for hardware: IPOIB_RTNL_WAIT, however many interfaces go in one hold.
 *
 * Nothing tells when a hold ends, but an item that has to take RTNL itself cannot run before: so
 * the first who spends time has such an item queued, which fills the budget up again.  Whoever
 * takes RTNL between the two has less than the whole; he waits less, that is all: what he waits for
 * is done without him.
 */
#include <linux/export.h>
#include <linux/rtnetlink.h>

#include "ipoib.h"

/* In jiffies; under RTNL. */
static long ipoib_budget = IPOIB_RTNL_WAIT;

static void ipoib_budget_refill(struct work_struct *work)
{
	rtnl_lock();
	ipoib_budget = IPOIB_RTNL_WAIT;
	rtnl_unlock();
}

static DECLARE_WORK(ipoib_budget_work, ipoib_budget_refill);

/**
 * ipoib_rtnl_left() - how long may be waited in this hold of RTNL
 *
 * Context: RTNL.
 * Return: jiffies; 0: not at all.
 */
long ipoib_rtnl_left(void)
{
	ASSERT_RTNL();
	return ipoib_budget;
}
EXPORT_SYMBOL_GPL(ipoib_rtnl_left);

/**
 * ipoib_rtnl_spent() - so long was waited
 * @spent: jiffies
 *
 * Context: RTNL.
 */
void ipoib_rtnl_spent(long spent)
{
	ASSERT_RTNL();
	if (!spent)
		return;
	ipoib_budget = max(0L, ipoib_budget - spent);
	queue_work(ipoib_rtnl_wq, &ipoib_budget_work);
}
