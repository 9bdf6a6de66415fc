/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ib_core does when the machine goes down or to sleep.  Its own notifiers call these; a test
 * that wants to see what they do to all HCAs calls them too, and nobody else.
 */
#ifndef IB_POWER_H
#define IB_POWER_H

/**
 * ib_power_down() - the machine goes down: stop the hardware of every HCA, all at once
 *
 * No HCA is added afterwards.  Context: may sleep; a second or two at most.
 */
void ib_power_down(void);

/**
 * ib_power_down_undone() - it did not go down after all, since it was a test
 *
 * HCAs may be added again; those that were stopped stay so until they are removed.
 */
void ib_power_down_undone(void);

/**
 * ib_power_sleep() - the machine is about to sleep: take every device and HCA down and keep it down
 *
 * Context: may sleep, tasks still run; no RTNL.
 */
void ib_power_sleep(void);

/**
 * ib_power_wake() - it has slept: every HCA may come up again
 *
 * Waits for none of them.
 */
void ib_power_wake(void);

#endif /* IB_POWER_H */
