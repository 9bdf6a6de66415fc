// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine that starts again starts without translated code.
 *
 * QEMU 7.2 keeps what TCG has translated across a reset. Every store to a page
 * of which it has translations looks at all of them, and a kernel that boots
 * clears its pages with single bytes: a page of a library that many programs had
 * run then takes a good part of a second, and the boot minutes, in which the
 * guest complains of stalls. Forgetting everything is one list.
 */
#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "sysemu/reset.h"
#include "plugin.h"

/* From exec/exec-all.h, which is for code that knows its target. */
void tb_flush(struct CPUState *cpu);

/* By any way to a reset, with the CPUs at rest; does nothing without TCG. */
static void on_reset(void *arg)
{
	if (first_cpu)
		tb_flush(first_cpu);
}

void cx3_fresh_register(void)
{
	qemu_register_reset(on_reset, NULL);
}
