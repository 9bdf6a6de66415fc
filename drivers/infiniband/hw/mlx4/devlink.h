/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The function as users of devlink see it: a reload, and how healthy it is.
 */
#ifndef MLX4_DEVLINK_H
#define MLX4_DEVLINK_H

#include <linux/kconfig.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct devlink;
struct devlink_health_reporter;
struct mlx4_dev;

/**
 * struct mlx4_reporter - what devlink is told of the health of an HCA
 * @devlink: the function's instance; from probe to remove
 * @lock: protects @reporter
 * @reporter: the reporter "hca"; NULL: nobody is told
 * @work: tells it
 * @losses: how often the HCA was lost since its probe
 * @told: how many of these it has heard of; of @work alone
 * @ill: the last that it has heard was a loss; written by @work alone
 */
struct mlx4_reporter {
	struct devlink *devlink;
	spinlock_t lock; /* reporter */
	struct devlink_health_reporter *reporter;
	struct work_struct work;
	unsigned int losses;
	unsigned int told;
	bool ill;
};

#if IS_ENABLED(CONFIG_NET_DEVLINK)
/**
 * mlx4_devlink_add() - let users of devlink see the function
 * @dev: the HCA, after mlx4_devlink_init(); it has been started
 *
 * Context: probe.
 * Return: 0 or a negative errno; then nothing is left to undo.
 */
int mlx4_devlink_add(struct mlx4_dev *dev);

/**
 * mlx4_devlink_del() - its mirror
 * @dev: the HCA; no call of devlink runs, and none begins, when this returns
 *
 * Context: remove, with the goal REMOVE already stated, so that a reload that is under way, which
 * this waits for, is not one more start; before the BARs go.
 */
void mlx4_devlink_del(struct mlx4_dev *dev);

/**
 * mlx4_devlink_tell() - the HCA was lost, or answers
 * @dev: the HCA, after mlx4_devlink_init()
 * @lost: which
 *
 * What is said goes by a work item, since devlink calls the driver with a lock held that the
 * lifecycle thread must not wait for.
 *
 * Context: any.
 */
void mlx4_devlink_tell(struct mlx4_dev *dev, bool lost);

/**
 * mlx4_devlink_init() - once, before the HCA may be lost
 * @dev: the HCA
 */
void mlx4_devlink_init(struct mlx4_dev *dev);
#else
static inline int mlx4_devlink_add(struct mlx4_dev *dev)
{
	return 0;
}

static inline void mlx4_devlink_del(struct mlx4_dev *dev)
{
}

static inline void mlx4_devlink_tell(struct mlx4_dev *dev, bool lost)
{
}

static inline void mlx4_devlink_init(struct mlx4_dev *dev)
{
}
#endif

#endif /* MLX4_DEVLINK_H */
