// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware gates.
 *
 * A gate has two locks, one behind the other.  The outer one is the word "refuse": it can be set
 * from any context and takes effect at once for everybody who comes later, which is what GONE
 * needs.  It cannot tell who is inside.  The inner one is the percpu_ref: closing it costs one RCU
 * grace period and tells when the last section has left.  Only the lifecycle thread closes and
 * opens it.
 *
 * What cannot sleep need not be counted (ib_gate_pass()): the grace period that closing costs is
 * one for it, too.
 *
 * While a gate is open entering it reads that word and increments a counter of this CPU.  The rare
 * half of each function stands apart, out of line, so that the object code of the frequent half can
 * be seen to contain no locked instruction (tests/core/gate-objcode looks).
 */
#include <linux/export.h>

#include "core.h"

/* The gate is closing or changing over: ask the shared counter. */
static noinline int ib_gate_enter_slowly(struct ib_gate *gate)
{
	if (percpu_ref_tryget_live(&gate->ref))
		return 0;
	return READ_ONCE(gate->refuse) ?: -ENODEV;
}

static noinline void ib_gate_exit_slowly(struct ib_gate *gate)
{
	percpu_ref_put(&gate->ref);
}

/*
 * Nothing can be taken from the caller between reading the word and counting: the gate is drained
 * only after a grace period, and this is one read-side section.
 */
static __always_inline int ib_gate_try(struct ib_gate *gate)
{
	unsigned long __percpu *count;
	int err = READ_ONCE(gate->refuse);

	if (unlikely(err))
		return err;
	rcu_read_lock();
	if (likely(__ref_is_percpu(&gate->ref, &count)))
		this_cpu_inc(*count);
	else
		err = ib_gate_enter_slowly(gate);
	rcu_read_unlock();
	if (likely(!err))
		rwsem_acquire_read(&gate->map, 0, 1, _RET_IP_);
	return err;
}

static __always_inline void ib_gate_leave(struct ib_gate *gate)
{
	unsigned long __percpu *count;

	rwsem_release(&gate->map, _RET_IP_);
	rcu_read_lock();
	if (likely(__ref_is_percpu(&gate->ref, &count)))
		this_cpu_dec(*count);
	else
		ib_gate_exit_slowly(gate);
	rcu_read_unlock();
}

int ib_gate_enter(struct ib_gate *gate)
{
	return ib_gate_try(gate);
}
EXPORT_SYMBOL_GPL(ib_gate_enter);

void ib_gate_exit(struct ib_gate *gate)
{
	ib_gate_leave(gate);
}
EXPORT_SYMBOL_GPL(ib_gate_exit);

int ib_hca_enter(struct ib_hca *hca)
{
	return ib_gate_try(&hca->gate);
}
EXPORT_SYMBOL_GPL(ib_hca_enter);

void ib_hca_exit(struct ib_hca *hca)
{
	ib_gate_leave(&hca->gate);
}
EXPORT_SYMBOL_GPL(ib_hca_exit);

int ib_device_enter(struct ib_device *device)
{
	return ib_gate_try(&device->gate);
}
EXPORT_SYMBOL_GPL(ib_device_enter);

void ib_device_exit(struct ib_device *device)
{
	ib_gate_leave(&device->gate);
}
EXPORT_SYMBOL_GPL(ib_device_exit);

/* The last section has left a closed gate.  Any context; the HCA's lock is not held in a gate. */
static void ib_gate_emptied(struct percpu_ref *ref)
{
	struct ib_gate *gate = container_of(ref, struct ib_gate, ref);
	unsigned long flags;

	spin_lock_irqsave(&gate->hca->lock, flags);
	gate->drained = true;
	wake_up_all(&gate->hca->wait);
	spin_unlock_irqrestore(&gate->hca->lock, flags);
}

/**
 * ib_gate_init() - make a closed gate
 * @gate: its memory
 * @hca: whose waiters are told when it has drained
 *
 * Return: 0 or -ENOMEM.
 */
int ib_gate_init(struct ib_gate *gate, struct ib_hca *hca)
{
	gate->hca = hca;
	gate->refuse = -ENODEV;
	gate->open = false;
	gate->drained = true;
	ib_lockmap_init(&gate->map, IB_LOCKMAP_HARDWARE_GATE);
	return percpu_ref_init(&gate->ref, ib_gate_emptied,
			       PERCPU_REF_INIT_DEAD | PERCPU_REF_ALLOW_REINIT, GFP_KERNEL);
}

/**
 * ib_gate_exit_memory() - undo ib_gate_init()
 * @gate: closed and drained, or never opened
 */
void ib_gate_exit_memory(struct ib_gate *gate)
{
	percpu_ref_exit(&gate->ref);
}

/**
 * ib_gate_open() - let sections in
 * @gate: closed and drained
 *
 * If the hardware has been lost meanwhile, the word keeps refusing.
 *
 * Context: the lifecycle thread.
 */
void ib_gate_open(struct ib_gate *gate)
{
	struct ib_hca *hca = gate->hca;

	gate->open = true;
	gate->drained = false;
	percpu_ref_reinit(&gate->ref);
	spin_lock_irq(&hca->lock);
	WRITE_ONCE(gate->refuse, hca->gone || hca->shutdown ? -EIO : 0);
	spin_unlock_irq(&hca->lock);
}

/**
 * ib_gate_refuse() - let nobody in from now on
 * @gate: a gate
 * @error: what entering returns; -EIO is not replaced by anything milder
 *
 * Context: any, with the HCA's lock held.
 */
void ib_gate_refuse(struct ib_gate *gate, int error)
{
	lockdep_assert_held(&gate->hca->lock);
	if (gate->refuse != -EIO)
		WRITE_ONCE(gate->refuse, error);
}

/**
 * ib_gate_close() - let nobody in and begin to count out who is inside; idempotent
 * @gate: a gate
 *
 * One RCU grace period goes by before it can be drained; nobody waits for it here.
 *
 * Context: the lifecycle thread.
 */
void ib_gate_close(struct ib_gate *gate)
{
	spin_lock_irq(&gate->hca->lock);
	ib_gate_refuse(gate, -ENODEV);
	spin_unlock_irq(&gate->hca->lock);
	if (!gate->open)
		return;
	gate->open = false;
	percpu_ref_kill(&gate->ref);
}

/**
 * ib_gate_drained() - is nobody inside a closed gate?
 * @gate: struct ib_gate *; its HCA's lock is held
 *
 * Return: yes, if so.
 */
bool ib_gate_drained(void *gate)
{
	return ((struct ib_gate *)gate)->drained;
}
