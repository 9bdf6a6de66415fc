/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is the hardware still there, and well?
 */
#ifndef MLX4_HEALTH_H
#define MLX4_HEALTH_H

struct mlx4_dev;
struct seq_file;

/**
 * mlx4_health_check() - look once, and say that the HCA is gone if it is
 * @dev: the HCA; the caller is inside its gate
 *
 * Two registers that read all-ones, or a channel that is offline, mean that the function has left;
 * a word in the error buffer that the firmware has failed.
 *
 * Context: may sleep.
 * Return: 0 or -EIO.
 */
int mlx4_health_check(struct mlx4_dev *dev);

/**
 * mlx4_health_start() - look every second from now on
 * @dev: the HCA
 *
 * Return: 0.
 */
int mlx4_health_start(struct mlx4_dev *dev);

/**
 * mlx4_health_stop() - look no more
 * @dev: the HCA
 *
 * Context: may sleep; returns when no look is under way.
 */
void mlx4_health_stop(struct mlx4_dev *dev);

/**
 * mlx4_health_init() - once, in probe
 * @dev: the HCA
 */
void mlx4_health_init(struct mlx4_dev *dev);

/**
 * mlx4_health_show() - how the HCA is: looked at how often, gone and why, its error buffer
 * @seq: where to
 * @dev: the HCA
 */
void mlx4_health_show(struct seq_file *seq, struct mlx4_dev *dev);

#endif /* MLX4_HEALTH_H */
