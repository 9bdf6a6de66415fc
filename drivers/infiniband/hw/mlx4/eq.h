/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event queues and interrupts: one queue for asynchronous events and commands, one or more for
 * completions.
 */
#ifndef MLX4_EQ_H
#define MLX4_EQ_H

#include <linux/types.h>

struct mlx4_dev;

#define MLX4_LOG_COMP_EQ	12	/* log2 of the entries of a queue for completions */
/* A CQ has one event at most in its queue; the rest is for those of CQs that have just gone. */
#define MLX4_COMP_EQ_CQS	((1 << MLX4_LOG_COMP_EQ) - 256)
#define MLX4_EQ_MAX	33	/* queues of one HCA: 32 for completions and one for the rest */

/**
 * struct mlx4_eq - an event queue
 * @dev: whose
 * @eqn: its number
 * @buf: the ring, coherent memory
 * @dma: its bus address
 * @log_size: log2 of its entries
 * @mtt: first MTT entry of the ring
 * @index: how many entries have been consumed; written by the handler alone
 * @doorbell: where consumption is reported
 * @irq: the interrupt of its vector
 * @name: of the interrupt
 * @paged: @mtt is valid
 * @made: the HCA owns it, or may do so (SW2HW_EQ was sent)
 * @requested: its handler is installed
 * @silent: its doorbell is not rung any more
 */
struct mlx4_eq {
	struct mlx4_dev *dev;
	u32 eqn;
	void *buf;
	dma_addr_t dma;
	unsigned int log_size;
	u32 mtt;
	u32 index;
	void __iomem *doorbell;
	int irq;
	char name[32];
	bool paged;
	bool made;
	bool requested;
	bool silent;
};

/**
 * struct mlx4_eqs - all of them
 * @eq: the queues; the first one is for asynchronous events
 * @count: how many
 * @vectors: interrupt vectors granted; 0: none
 * @msix: they are MSI-X, each of its own
 * @mapped: asynchronous events have been directed to the first queue
 */
struct mlx4_eqs {
	struct mlx4_eq eq[MLX4_EQ_MAX];
	unsigned int count;
	unsigned int vectors;
	bool msix;
	bool mapped;
};

/**
 * mlx4_interrupts_start() - vectors, event queues, and commands that complete by event
 * @dev: the HCA
 *
 * Tries MSI-X, MSI and INTx in turn until the interrupt of a NOP arrives.
 *
 * Return: 0 or a negative errno; then mlx4_interrupts_stop() and mlx4_interrupts_free() undo what
 * was done.
 */
int mlx4_interrupts_start(struct mlx4_dev *dev);

/**
 * mlx4_interrupts_stop() - tell the firmware, free the interrupts and synchronise with them
 * @dev: the HCA
 */
void mlx4_interrupts_stop(struct mlx4_dev *dev);

/**
 * mlx4_interrupts_free() - free the rings
 * @dev: the HCA, which does not write to them any more
 */
void mlx4_interrupts_free(struct mlx4_dev *dev);

#endif /* MLX4_EQ_H */
