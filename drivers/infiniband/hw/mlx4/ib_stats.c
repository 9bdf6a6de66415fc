// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostic counters of the HCA, which sysfs shows as hw_counters: errors of its queues by cause.
 *
 * The firmware reports them all by one command, for the whole HCA. The names are those that
 * monitors of these cards look for. A set for each port is an ability of few firmwares, and not
 * used.
 */
#include "mlx4_ib.h"

/* DIAG_RPRT: the report, as opposed to its reset; one page of counters of 32 bits. */
#define MLX4_DIAG_REPORT 2

/* Where each stands in the report (rq: of receive queues, sq: of send queues). */
static const struct ib_stat counters[] = {
	{ "rq_num_lle", 0x000 }, /* local length */
	{ "sq_num_lle", 0x004 },
	{ "rq_num_lqpoe", 0x008 }, /* local operation of a QP */
	{ "sq_num_lqpoe", 0x00c },
	{ "rq_num_lpe", 0x018 }, /* local protection */
	{ "sq_num_lpe", 0x01c },
	{ "rq_num_wrfe", 0x020 }, /* work requests flushed */
	{ "sq_num_wrfe", 0x024 },
	{ "sq_num_mwbe", 0x02c }, /* bind of a memory window */
	{ "sq_num_bre", 0x034 }, /* bad response */
	{ "sq_num_rire", 0x044 }, /* remote invalid request */
	{ "rq_num_rire", 0x048 },
	{ "sq_num_rae", 0x04c }, /* remote access */
	{ "rq_num_rae", 0x050 },
	{ "sq_num_roe", 0x054 }, /* remote operation */
	{ "sq_num_tree", 0x05c }, /* transport retries exceeded */
	{ "sq_num_rree", 0x064 }, /* receiver-not-ready retries exceeded */
	{ "rq_num_rnr", 0x068 }, /* receiver not ready */
	{ "sq_num_rnr", 0x06c },
	{ "rq_num_oos", 0x100 }, /* out of sequence */
	{ "sq_num_oos", 0x104 },
	{ "rq_num_udsdprd", 0x118 }, /* datagrams dropped silently */
	{ "rq_num_dup", 0x130 }, /* duplicates */
	{ "sq_num_to", 0x134 }, /* time-outs */
	{ "num_cqovf", 0x1a0 }, /* overflows of a CQ */
};

static const struct ib_stats_list device_stats = {
	.count = ARRAY_SIZE(counters),
	.stat = counters,
};

const struct ib_stats_list *mlx4_ib_stats(struct ib_device *device, u8 port)
{
	return port ? NULL : &device_stats;
}

int mlx4_ib_read_stats(struct ib_device *device, u8 port, u64 *values)
{
	struct mlx4_dev *core = mlx4_ib_dev(device)->core;
	struct mlx4_call call = { .op = MLX4_DIAG_RPRT, .op_mod = MLX4_DIAG_REPORT };
	unsigned int i;
	int err;

	call.out = mlx4_mailbox_alloc(core);
	if (IS_ERR(call.out))
		return PTR_ERR(call.out);
	err = mlx4_cmd(core, &call);
	for (i = 0; i < ARRAY_SIZE(counters) && !err; i++)
		values[i] = get_unaligned_be32(call.out->buf + counters[i].where);
	mlx4_mailbox_free(core, call.out);
	return err;
}
