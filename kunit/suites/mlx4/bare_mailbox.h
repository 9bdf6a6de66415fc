/* SPDX-License-Identifier: GPL-2.0-only */
/* Mailboxes of kmalloc() for suites that are the driver's own files; see bare.h. */
#include <linux/slab.h>

struct mlx4_mailbox *mlx4_mailbox_alloc(struct mlx4_dev *dev)
{
	struct mlx4_mailbox *box = kzalloc(sizeof(*box) + MLX4_MAILBOX_SIZE, GFP_KERNEL);

	if (!box)
		return ERR_PTR(-ENOMEM);
	box->buf = box + 1;
	return box;
}

void mlx4_mailbox_free(struct mlx4_dev *dev, struct mlx4_mailbox *box)
{
	kfree(box);
}
