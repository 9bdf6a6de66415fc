/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The gate: what a section of code passes before it touches something that can be taken away.
 *
 * Two kinds exist, for two of the four counts of the teardown protocol (docs/teardown.md):
 *
 *   hardware gate   struct ib_gate, a percpu_ref.  Entering writes a per-CPU counter only, so it
 *   may
 *                   stand on the data path, in any context, interrupts included.  One per HCA, for
 *                   the driver of the PCI function, and one per device incarnation, for its verbs.
 *   service gate    a plain counter in struct ib_service_instance (<ib/service.h>), control path.
 *
 * A section inside a hardware gate may wait only for completions of its own driver (which GONE
 * ends).  It touches no user memory, takes no RTNL, calls no callback of somebody else and waits
 * for no other count: the order of waits is service gate, hardware gate, device reference.  Lockdep
 * knows the gate as a lock: entering is a try for reading, draining is a write, so a drain that
 * could wait for itself is reported the first time the code runs.
 */
#ifndef IB_GATE_H
#define IB_GATE_H

#include <linux/lockdep.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct ib_hca;

/**
 * struct ib_gate - a hardware gate
 * @ref: the count of sections inside
 * @refuse: 0 while the gate lets in, else the negative errno that entering returns.  Written by the
 *	framework only, read without a lock: an answer may be old, but after ib_gate_close() and a
 *	drain nobody is inside and nobody gets in.
 * @open: ib_gate_open() was the last thing done to it; of the lifecycle thread
 * @drained: the count has been zero after the gate was closed; under the HCA's lock
 * @hca: whose wait queue is woken when the last section leaves
 * @map: what lockdep takes the gate for
 *
 * The members are private to gate.c.
 */
struct ib_gate {
	struct percpu_ref ref;
	int refuse;
	bool open;
	bool drained;
	struct ib_hca *hca;
	struct lockdep_map map;
};

/**
 * ib_gate_enter() - enter a hardware gate
 * @gate: the gate
 *
 * Context: any.  Sections nest.
 * Return: 0, and the caller owes ib_gate_exit(); -EIO when the hardware is gone or the machine is
 * shutting down; -ENODEV when the gate has been closed or was never opened.
 */
int __must_check ib_gate_enter(struct ib_gate *gate);

/**
 * ib_gate_pass() - may a short section touch the hardware?
 * @gate: the gate
 *
 * For what cannot sleep.  The caller is in an RCU read-side section, and that is the section:
 * nothing is counted, nothing is owed.  A gate is drained a grace period after its word was set at
 * the earliest, and whoever has read the word before has left by then.
 *
 * Context: any, under rcu_read_lock().
 * Return: 0; else as ib_gate_enter().
 */
static inline int __must_check ib_gate_pass(struct ib_gate *gate)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a short section without RCU");
	return READ_ONCE(gate->refuse);
}

/**
 * ib_gate_exit() - leave a hardware gate
 * @gate: the gate; may be freed memory when this returns, if the caller has no reference of its own
 *
 * Context: any, in the same task or interrupt that entered.
 */
void ib_gate_exit(struct ib_gate *gate);

#endif /* IB_GATE_H */
