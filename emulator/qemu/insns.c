// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest instruction counts without -icount, by QEMU's plugin interface.
 * Exact with one vCPU or thread=single only: the adds are not atomic.
 */
#include "qemu/osdep.h"
#include "plugin.h"

/* Of the plugin interface, as its documentation names them. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translate_fn)(uint64_t id, struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translate_fn fn);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *ptr,
					      uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op, void *ptr,
						uint64_t imm);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);

#define INLINE_ADD 0

static uint64_t executed;
static bool counting;

static void count_each(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	for (i = 0; i < n; i++)
		qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(tb, i),
							   INLINE_ADD, &executed, 1);
}

static void count_block(uint64_t id, struct qemu_plugin_tb *tb)
{
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD, &executed,
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
