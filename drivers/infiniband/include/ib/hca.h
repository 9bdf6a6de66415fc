/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct ib_hca: one PCI function with an InfiniBand HCA on it, as long as its driver is bound.
 *
 * The driver of the function (mlx4_core) makes one in probe and removes it in remove.  Between the
 * two it states goals (something is wrong; the machine goes to sleep; the function leaves) and
 * answers the callbacks of struct ib_hca_ops.  When to bring the hardware up, tear a device down,
 * stop, come back or give up is decided by the HCA's one lifecycle thread.
 *
 * The protocol driver (mlx4_ib) attaches to the HCA as its provider: it makes one struct ib_device
 * (<ib/device.h>) per incarnation when the thread asks it to.
 */
#ifndef IB_HCA_H
#define IB_HCA_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <ib/clock.h>
#include <ib/gate.h>

struct dentry;
struct device;
struct ib_device;
struct ib_hca;
struct module;
struct task_struct;

/**
 * enum ib_goal - what an HCA is to become; a higher goal replaces a lower one, never the reverse
 * @IB_GOAL_RUN: up, with a device on it if there is a provider
 * @IB_GOAL_RESET: down, and up again as soon as nobody holds it down
 * @IB_GOAL_SUSPEND: like RESET, for a machine going to sleep
 * @IB_GOAL_REMOVE: down for good
 * @IB_GOAL_SHUTDOWN: stop the hardware at once; no teardown, nothing is freed, nobody is called.
 *	Kept beside the others (&ib_hca.shutdown), so that a remove() at the same time gets its
 *	teardown after the stop.
 */
enum ib_goal {
	IB_GOAL_RUN,
	IB_GOAL_RESET,
	IB_GOAL_SUSPEND,
	IB_GOAL_REMOVE,
	IB_GOAL_SHUTDOWN,
};

/**
 * enum ib_hold - reasons for which an HCA that is down must stay down
 * @IB_HOLD_ERROR: PCI error recovery between error_detected and resume
 * @IB_HOLD_RESET: function level reset between reset_prepare and reset_done
 * @IB_HOLD_SLEEP: between PM_*_PREPARE and PM_POST_*; set and dropped by ib_core itself
 */
enum ib_hold {
	IB_HOLD_ERROR = 1,
	IB_HOLD_RESET = 2,
	IB_HOLD_SLEEP = 4,
};

/**
 * struct ib_hca_ops - what the driver of the PCI function does for the framework
 * @owner: the driver's module
 * @start: bring the hardware from any condition (cold, after a fatal error, after sleep) to running
 *	firmware with interrupts; the gate is open, so commands enter it as always.  On an error
 *	it has undone what it did, memory excepted that the hardware may know of: @stop is not
 *	called, but @quiet and @release are.  May sleep.
 * @stop: orderly end.  Talks to the firmware only as far as ib_hca_enter() still lets it (after
 *	GONE it does not), frees the interrupts and synchronises with their handlers.  May sleep,
 *	cannot fail, called exactly once for each successful @start, no device is there any more.
 * @abort: end every wait for a command or another answer of the hardware with -EIO, now and until
 *	the next @start.  Mailboxes of commands the firmware may still answer are kept until @quiet
 *	has succeeded.  Any context; must not sleep; may be called several times.
 * @quiet: bus mastering off and read back.  Never talks to the firmware.  May sleep, at most for a
 *	second; called after GONE, at shutdown (with clients still there) and after @stop.
 *	Gives 0 when the hardware can no longer write to memory.
 * @reset: function reset, or proof of absence; bus mastering is off afterwards.  Called where
 *	@quiet could not confirm, and once after GONE and at a shutdown, since a function that its
 *	firmware has not stopped goes on with what it was at.  May sleep, as long as a function
 *	takes for it: a second or two, four at most.  Clients whose requests are flushed wait for
 *	it.  Gives 0 when the function was reset or is absent: it can no longer write to memory.
 * @release: free what @start allocated, however far it got; once for each @start, also for one
 *	that failed.  @quiet false: neither @quiet nor @reset could prove that the hardware no
 *	longer writes to memory, so what it knows the address of is left alone, for ever and on
 *	purpose, DMA mappings included.
 *
 * All are called by the lifecycle thread of that HCA, one at a time, except @abort.
 */
struct ib_hca_ops {
	struct module *owner;
	int (*start)(struct ib_hca *hca);
	void (*stop)(struct ib_hca *hca);
	void (*abort)(struct ib_hca *hca);
	int (*quiet)(struct ib_hca *hca);
	int (*reset)(struct ib_hca *hca);
	void (*release)(struct ib_hca *hca, bool quiet);
};

/**
 * struct ib_provider - what makes the ib_device of an HCA
 * @owner: the module
 * @name: short name for messages, such as "mlx4_ib"
 * @create: make the next incarnation with ib_device_alloc(), fill it in and return it unregistered;
 *	may send commands; may sleep.  The framework registers it, tears it down and frees it.  On
 *	an error nothing is left behind.  Return: the device or an ERR_PTR().
 */
struct ib_provider {
	struct module *owner;
	const char *name;
	struct ib_device *(*create)(struct ib_hca *hca, void *priv);
};

/**
 * struct ib_limits - how long a teardown takes its steps, in milliseconds since CLOSING
 * @polite: until then clients leave one by one and services finish what is under way; then it is
 *	cancelled, and the clients that are left are asked all at once
 * @name: what is waited for is named in the log, and again every ten seconds
 * @gone: the hardware is declared lost
 * @abandon: clients that still have not returned are left behind; after a loss of the hardware they
 *	have as long, from the flush, as there is between @gone and this, but not past @quarantine
 * @quarantine: the device is left behind
 * @gate: how long a shutdown waits for the gates; not since CLOSING
 *
 * Module parameters of ib_core, copied when an HCA is allocated; a test changes the copy.
 */
struct ib_limits {
	unsigned int polite;
	unsigned int name;
	unsigned int gone;
	unsigned int abandon;
	unsigned int quarantine;
	unsigned int gate;
};

/**
 * enum ib_timed - what is being timed
 * @IB_TIMED_NOTHING: the clock stands
 * @IB_TIMED_BRINGUP: clients are being added: nothing but names in the log
 * @IB_TIMED_SERVICE: a service leaves a device that stays: it is told to cancel, no more
 * @IB_TIMED_DEVICE: a device leaves: every threshold applies
 */
enum ib_timed {
	IB_TIMED_NOTHING,
	IB_TIMED_BRINGUP,
	IB_TIMED_SERVICE,
	IB_TIMED_DEVICE,
};

/**
 * struct ib_teardown - the clock of one teardown; see watchdog.c
 * @start: when it began, in milliseconds of the HCA's clock
 * @timed: what is being timed
 * @flushed: when GONE had been dealt with during it; 0: it was not lost since it began
 * @cancelled: the polite time is over and services have been told
 * @named: when what is waited for was last named in the log
 */
struct ib_teardown {
	u64 start;
	u64 flushed;
	enum ib_timed timed;
	bool cancelled;
	u64 named;
};

/**
 * struct ib_hca - an HCA
 * @parent: the PCI function (or what a test has for one)
 * @ops: the driver's callbacks
 * @priv: the driver's, behind this structure in the same allocation
 * @ref: memory of this structure only; see ib_hca_get()
 * @gate: the hardware gate
 * @node: in the registry's list of HCAs; under the registry's mutex
 * @serial: position in that list
 * @lock: the one lock of an HCA: protects everything below, and the state of the device, of its
 *	attachments, service instances and holders.  Taken in interrupts (ib_hca_gone()); a leaf but
 *	for the wait queue's own lock.
 * @wait: everybody who waits for anything of this HCA or its device
 * @thread: the lifecycle thread
 * @clock: source of time
 * @goal: see enum ib_goal
 * @holds: bits of enum ib_hold
 * @shutdown: SHUTDOWN: the machine is going down; for ever
 * @active: between the beginning of @start and the end of @stop
 * @gone: GONE: the hardware does not answer or may not be asked any more
 * @gone_cause: why, a literal, for the log
 * @gone_done: the thread has dealt with GONE: quiet or not, and flushed
 * @attending: the thread is dealing with GONE; its own
 * @aborting: how many calls of &ib_hca_ops.abort are under way
 * @quiet: the hardware has been proven unable to write to memory
 * @subdued: a reset was tried since it was last started; the thread's own
 * @up: @start has succeeded and @stop has not run
 * @halted: goal SHUTDOWN has been reached
 * @idle: the thread has nothing to do
 * @ended: the thread has ended
 * @tries: how often @start failed since it last succeeded
 * @losses: how often in a row it was lost within IB_STEADY_MS of its start, or of its device's
 * @started_at: when that was
 * @rest_until: not to be started before, since it was lost too often
 * @start_error: what the last @start or create returned
 * @retry_at: when the thread wants to try again what failed; 0: never
 * @provider: who makes devices, and @provider_priv for it
 * @provider_priv: handed to &ib_provider.create
 * @provider_leaving: the provider wants to go
 * @device: the current incarnation
 * @incarnations: how many there have been
 * @seen_gen: the generation of the registry that the thread last brought the device in line with
 * @roster_dirty: something of the device changed that may let a service or a client start or go
 * @limits: when a teardown takes which step
 * @teardown: its clock
 * @watchdog: looks at the thresholds while the thread is busy elsewhere
 * @waiting_for: what the thread waits for, a literal or NULL; for debugfs and the log
 * @waiting_since: since when
 * @quarantined: number of devices of this HCA that are in quarantine
 * @debugfs: the HCA's folder
 */
struct ib_hca {
	struct device *parent;
	const struct ib_hca_ops *ops;
	void *priv;
	struct kref ref;
	struct ib_gate gate;
	struct list_head node;
	u64 serial;

	spinlock_t lock; /* protects what follows, see above */
	wait_queue_head_t wait;
	struct task_struct *thread;
	const struct ib_clock *clock;
	enum ib_goal goal;
	unsigned int holds;
	bool shutdown;
	bool active;
	bool gone;
	const char *gone_cause;
	bool gone_done;
	bool attending;
	unsigned int aborting;
	bool quiet;
	bool subdued;
	bool up;
	bool halted;
	bool idle;
	bool ended;
	unsigned int tries;
	unsigned int losses;
	u64 started_at;
	u64 rest_until;
	int start_error;
	u64 retry_at;
	const struct ib_provider *provider;
	void *provider_priv;
	bool provider_leaving;
	struct ib_device *device;
	unsigned int incarnations;
	unsigned long seen_gen;
	bool roster_dirty;
	struct ib_limits limits;
	struct ib_teardown teardown;
	struct delayed_work watchdog;
	const char *waiting_for;
	u64 waiting_since;
	unsigned int quarantined;
	struct dentry *debugfs;
};

/**
 * ib_hca_alloc() - make an HCA that is not yet alive
 * @parent: the PCI function; a reference to its struct device is kept as long as the HCA's memory
 * @ops: the driver's callbacks, all of them present
 * @priv_size: bytes the driver wants behind it (&ib_hca.priv), zeroed
 *
 * Return: the HCA, with one reference for the driver, or an ERR_PTR().
 */
struct ib_hca *ib_hca_alloc(struct device *parent, const struct ib_hca_ops *ops, size_t priv_size);

/**
 * ib_hca_add() - start the lifecycle thread and the hardware
 * @hca: from ib_hca_alloc()
 *
 * Context: probe of the PCI driver; may sleep; no RTNL.
 * Return: 0, and the hardware runs; else what &ib_hca_ops.start returned (everything undone, the
 * thread gone), or -ESHUTDOWN.  After an error the driver only has to call ib_hca_put().
 */
int ib_hca_add(struct ib_hca *hca);

/**
 * ib_hca_remove() - take an HCA down for good
 * @hca: added with ib_hca_add()
 *
 * Raises the goal to REMOVE and returns when the thread is idle and has ended: at most 15 seconds
 * later, whatever clients, holders and the subnet manager do.  The PCI driver calls this before it
 * removes the provider's auxiliary device (whose ib_provider_unbind() then finds nothing to do) and
 * before it gives vectors, BARs and regions back.
 *
 * Context: remove of the PCI driver; may sleep; no RTNL.
 * Return: 0; -EBUSY: a device is in quarantine, its memory stays; -EIO: the hardware could not be
 * proven quiet, DMA memory stays.
 */
int ib_hca_remove(struct ib_hca *hca);

/**
 * ib_hca_get() - keep the memory of an HCA
 * @hca: the HCA
 *
 * Keeps struct ib_hca and nothing else: not the hardware, not the driver.
 */
void ib_hca_get(struct ib_hca *hca);

/**
 * ib_hca_put() - give such a reference back
 * @hca: the HCA
 *
 * Context: any.
 */
void ib_hca_put(struct ib_hca *hca);

/**
 * ib_hca_enter() - begin a section that touches the hardware
 * @hca: the HCA
 *
 * See <ib/gate.h> for what may be done inside.
 *
 * Context: any.
 * Return: 0, and the caller owes ib_hca_exit(); -EIO: gone or shutting down; -ENODEV: not up.
 */
int __must_check ib_hca_enter(struct ib_hca *hca);

/**
 * ib_hca_exit() - end a section begun with ib_hca_enter()
 * @hca: the HCA
 */
void ib_hca_exit(struct ib_hca *hca);

/**
 * ib_hca_gone() - say that the hardware is lost
 * @hca: the HCA
 * @cause: a literal for the log: "fatal error", "all-ones", "no answer to a command", ...
 *
 * Sets GONE (idempotent; the first cause counts), shuts the gates with -EIO, calls
 * &ib_hca_ops.abort, raises the goal to RESET and wakes the thread.  Waits for nothing.
 *
 * Context: any, inside the gate and in interrupts too; not in NMI.
 */
void ib_hca_gone(struct ib_hca *hca, const char *cause);

/**
 * ib_hca_is_gone() - has ib_hca_gone() been called?
 * @hca: the HCA
 *
 * Return: yes, if so.  "No" is old when it arrives: enter the gate instead.
 */
static inline bool ib_hca_is_gone(const struct ib_hca *hca)
{
	return READ_ONCE(hca->gone);
}

/**
 * ib_hca_is_over() - is there nothing left to wait for?
 * @hca: the HCA
 *
 * For the driver's own waiting loops: they end on GONE and on SHUTDOWN alike, since after either
 * the bus is off and no answer comes.
 *
 * Return: yes, if so.
 */
static inline bool ib_hca_is_over(const struct ib_hca *hca)
{
	return ib_hca_is_gone(hca) || READ_ONCE(hca->shutdown);
}

/**
 * ib_hca_hold() - keep an HCA down once it is down
 * @hca: the HCA
 * @hold: the reason
 *
 * Does not take it down.  Context: any.
 */
void ib_hca_hold(struct ib_hca *hca, enum ib_hold hold);

/**
 * ib_hca_permit() - drop a reason of ib_hca_hold(); with the last one the HCA may come up again
 * @hca: the HCA
 * @hold: the reason
 *
 * Context: any.  Does not wait.
 */
void ib_hca_permit(struct ib_hca *hca, enum ib_hold hold);

/**
 * ib_hca_raise() - state a goal, do not wait for it
 * @hca: the HCA
 * @goal: at least this; a lower one than the present goal changes nothing
 *
 * IB_GOAL_RESET also begins the tries anew where starting was given up, and ends a rest.
 *
 * Context: any.
 */
void ib_hca_raise(struct ib_hca *hca, enum ib_goal goal);

/**
 * ib_hca_settle() - wait until the thread has done all it can do for the present goal
 * @hca: the HCA
 *
 * Context: may sleep; no RTNL; at most 15 seconds unless code of ours does not leave the gate.
 */
void ib_hca_settle(struct ib_hca *hca);

/**
 * ib_hca_shutdown() - stop the hardware, now
 * @hca: the HCA
 *
 * Goal SHUTDOWN: no teardown, nothing freed, no client called.  Waits at most a second or two.
 * ib_core calls it from a reboot notifier for all HCAs at once; the driver calls it again from its
 * .shutdown.  Idempotent.
 */
void ib_hca_shutdown(struct ib_hca *hca);

/**
 * ib_hca_ensure_stopped() - for the driver's .suspend: is it down?
 * @hca: the HCA
 *
 * The work has been done by then, in the PM notifier, while tasks still ran.  If it has not been
 * (a driver bound in between), the hardware is stopped the short way (GONE).
 *
 * Return: 0 when the hardware is down.
 */
int ib_hca_ensure_stopped(struct ib_hca *hca);

/**
 * ib_hca_wake() - let everybody who waits for something of this HCA look again
 * @hca: the HCA
 *
 * For clocks (<ib/clock.h>) and for services whose own conditions changed.  Context: any.
 */
void ib_hca_wake(struct ib_hca *hca);

/**
 * ib_provider_bind() - attach the protocol driver
 * @hca: the HCA
 * @provider: what makes devices; must live until ib_provider_unbind() has returned
 * @priv: handed to &ib_provider.create
 *
 * Context: probe of the protocol driver; may sleep; no RTNL.
 * Return: 0 when the first device is LIVE, or when the HCA is down and will call later; -EBUSY:
 * there is a provider; -ENODEV: the HCA is leaving; else the error of the first device, and the
 * provider is not bound.
 */
int ib_provider_bind(struct ib_hca *hca, const struct ib_provider *provider, void *priv);

/**
 * ib_provider_unbind() - detach the protocol driver
 * @hca: the HCA
 *
 * Tears the device down (reason REMOVED) and leaves the hardware up.  Merges with whatever is under
 * way.  No callback of the provider or of its device runs after the return.
 *
 * Context: remove of the protocol driver; may sleep; no RTNL; at most 15 seconds.
 * Return: 0, or -EBUSY: the device went to quarantine.
 */
int ib_provider_unbind(struct ib_hca *hca);

#endif /* IB_HCA_H */
