// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands this driver sends, one line each.
 */
#include <linux/kernel.h>

#include "cmd.h"

#define COMMAND(op, patience, closing) { MLX4_##op, #op, patience, closing }

const struct mlx4_cmd_info mlx4_cmd_table[] = {
	COMMAND(QUERY_DEV_CAP, MLX4_QUICK, false),
	COMMAND(QUERY_FW, MLX4_QUICK, false),
	COMMAND(QUERY_ADAPTER, MLX4_QUICK, false),
	COMMAND(INIT_HCA, MLX4_SLOW, false),
	COMMAND(CLOSE_HCA, MLX4_SLOW, true),
	COMMAND(INIT_PORT, MLX4_NORMAL, false),
	COMMAND(CLOSE_PORT, MLX4_NORMAL, true),
	COMMAND(SET_PORT, MLX4_NORMAL, false),
	COMMAND(MAP_EQ, MLX4_NORMAL, false),
	COMMAND(SW2HW_EQ, MLX4_NORMAL, false),
	COMMAND(HW2SW_EQ, MLX4_NORMAL, true),
	COMMAND(CONF_SPECIAL_QP, MLX4_NORMAL, false),
	COMMAND(MAD_IFC, MLX4_NORMAL, false),
	COMMAND(NOP, MLX4_QUICK, false),
	COMMAND(QUERY_PORT, MLX4_QUICK, false),
	COMMAND(RUN_FW, MLX4_SLOW, false),
	COMMAND(UNMAP_ICM, MLX4_NORMAL, true),
	COMMAND(MAP_ICM, MLX4_NORMAL, false),
	COMMAND(UNMAP_ICM_AUX, MLX4_NORMAL, true),
	COMMAND(MAP_ICM_AUX, MLX4_NORMAL, false),
	COMMAND(SET_ICM_SIZE, MLX4_NORMAL, false),
	COMMAND(UNMAP_FA, MLX4_SLOW, true),
	COMMAND(MAP_FA, MLX4_SLOW, false),
};

const unsigned int mlx4_cmd_table_size = ARRAY_SIZE(mlx4_cmd_table);
