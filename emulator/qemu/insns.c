// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest instruction counts without -icount, by QEMU's plugin interface.
 * Exact with one vCPU or thread=single only: the adds are not atomic.
 */
#include "qemu/osdep.h"
#include "qemu/qemu-plugin.h"
#include "plugin.h"

static uint64_t executed;
static bool counting;

static void count_each(uint64_t id, struct qemu_plugin_tb *tb)
{
	const enum qemu_plugin_op add = QEMU_PLUGIN_INLINE_ADD_U64;
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	for (i = 0; i < n; i++)
		qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(tb, i), add,
							   &executed, 1);
}

static void count_block(uint64_t id, struct qemu_plugin_tb *tb)
{
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &executed,
						 qemu_plugin_tb_n_insns(tb));
}

void cx3_insns_install(uint64_t id, bool each)
{
	counting = true;
	qemu_plugin_register_vcpu_tb_trans_cb(id, each ? count_each : count_block);
}

int64_t cx3_insns(void)
{
	return counting ? (int64_t)executed : -1;
}
