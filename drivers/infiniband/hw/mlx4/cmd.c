// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine behind mlx4_cmd(): post, wait, judge.
 *
 * A wait looks every tenth of a second whether there is still somebody to wait for: the gate may
 * have been shut by anybody (GONE), the function may read all-ones, the error buffer may have been
 * filled.  Whoever gives a command up must assume that the firmware answers later.  Its mailboxes
 * are therefore marked as kept and are not freed before the hardware has been proven quiet, and its
 * token is never used again by this boot of the firmware.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/dmapool.h>
#include <linux/export.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <ib/hca.h>

#include "health.h"
#include "mlx4.h"

#define LOOK_MS		100	/* how often a wait looks whether it still has a point */
#define SPIN_US		50	/* most commands are answered within this */
#define POST_MS		10000	/* the firmware takes a command off the HCR within this */
#define STATUS_BOUND	0x21	/* a region stays, since memory windows are bound to it */

static const unsigned int patience_ms[MLX4_PATIENCE_CLASSES] = {
	[MLX4_QUICK] = 5000,
	[MLX4_NORMAL] = 10000,
	[MLX4_SLOW] = 60000,
};

static const struct mlx4_cmd_info *cmd_info(enum mlx4_op op)
{
	unsigned int i;

	for (i = 0; i < mlx4_cmd_table_size; i++)
		if (mlx4_cmd_table[i].op == op)
			return &mlx4_cmd_table[i];
	return NULL;
}

const char *mlx4_cmd_name(enum mlx4_op op)
{
	const struct mlx4_cmd_info *info = cmd_info(op);

	return info ? info->name : "unknown command";
}

/* What a status of the firmware means to a caller. */
static int cmd_errno(u8 status)
{
	static const struct {
		u8 status;
		int error;
	} table[] = {
		{ 0x00, 0 },		/* done */
		{ 0x01, -EIO },		/* internal error */
		{ 0x02, -EPERM },	/* no such command */
		{ 0x03, -EINVAL },	/* parameter out of range */
		{ 0x04, -ENXIO },	/* not in this state of the system */
		{ 0x05, -EBADF },	/* access to a reserved resource */
		{ 0x06, -EBUSY },	/* resource in use */
		{ 0x08, -ENOMEM },	/* limit exceeded */
		{ 0x09, -EBADF },	/* resource in the wrong state */
		{ 0x0a, -EBADF },	/* index out of range */
		{ 0x0b, -EFAULT },	/* non-volatile memory */
		{ 0x0c, -ENFILE },	/* ICM not mapped or out of range */
		{ 0x10, -EINVAL },	/* QP in the wrong state */
		{ 0x20, -EFAULT },	/* segment parameters */
		{ 0x21, -EBUSY },	/* memory windows are bound to the region */
		{ 0x22, -EAGAIN },	/* local address mapping not present */
		{ 0x30, -EINVAL },	/* malformed packet, discarded */
		{ 0x40, -ENOMEM },	/* more entries outstanding than the new size holds */
		{ 0x50, -EACCES },	/* only for the function that owns the card */
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].status == status)
			return table[i].error;
	return -EIO;
}

/* What is left to wait for?  -EIO when nothing is. */
static int cmd_look(struct mlx4_dev *dev)
{
	if (ib_hca_is_over(dev->hca))
		return -EIO;
	return mlx4_health_check(dev);
}

static u32 hcr_read(struct mlx4_cmd *cmd, unsigned int reg)
{
	return ioread32be(cmd->hcr + reg);
}

/* Still owned by the firmware?  The T bit tells the last command from the one before. */
static bool hcr_busy(struct mlx4_cmd *cmd)
{
	u32 ctrl = hcr_read(cmd, MLX4_HCR_CTRL);

	return ctrl & MLX4_HCR_GO || (ctrl & MLX4_HCR_TOGGLE) == cmd->toggle;
}

/* Wait until the firmware has given the HCR back. */
static int hcr_wait(struct mlx4_dev *dev, unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms), look = jiffies;
	unsigned int spins;
	int err;

	for (spins = 0; hcr_busy(&dev->cmd); spins++) {
		if (time_after_eq(jiffies, look)) {
			err = cmd_look(dev);
			if (err)
				return err;
			look = jiffies + msecs_to_jiffies(LOOK_MS);
		}
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		if (spins < SPIN_US)
			udelay(1);
		else
			usleep_range(200, 1000);
	}
	return 0;
}

static void hcr_post(struct mlx4_cmd *cmd, const struct mlx4_call *call, u16 token, bool event)
{
	u64 in = call->in ? call->in->dma : call->in_imm;
	u64 out = call->out ? call->out->dma : 0;

	iowrite32be(upper_32_bits(in), cmd->hcr + MLX4_HCR_IN_HI);
	iowrite32be(lower_32_bits(in), cmd->hcr + MLX4_HCR_IN_LO);
	iowrite32be(call->in_mod, cmd->hcr + MLX4_HCR_IN_MOD);
	iowrite32be(upper_32_bits(out), cmd->hcr + MLX4_HCR_OUT_HI);
	iowrite32be(lower_32_bits(out), cmd->hcr + MLX4_HCR_OUT_LO);
	iowrite32be((u32)token << 16, cmd->hcr + MLX4_HCR_TOKEN);
	wmb(); /* the mailbox and the words above are there before the command starts */
	iowrite32be(MLX4_HCR_GO | cmd->toggle | (event ? MLX4_HCR_EVENT : 0) |
		    FIELD_PREP(MLX4_HCR_OP_MOD, call->op_mod) | FIELD_PREP(MLX4_HCR_OP, call->op),
		    cmd->hcr + MLX4_HCR_CTRL);
	cmd->toggle ^= MLX4_HCR_TOGGLE;
}

/* The firmware did not answer: it may do so at any later time, or never. */
static int cmd_give_up(struct mlx4_dev *dev, const struct mlx4_call *call, int err)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	unsigned long flags;

	spin_lock_irqsave(&cmd->lock, flags);
	if (call->in)
		list_add(&call->in->node, &cmd->kept);
	if (call->out && call->out != call->in)
		list_add(&call->out->node, &cmd->kept);
	spin_unlock_irqrestore(&cmd->lock, flags);
	if (err == -ETIMEDOUT) {
		dev_err(dev->dev, "the firmware does not answer %s\n", mlx4_cmd_name(call->op));
		ib_hca_gone(dev->hca, "no answer to a command");
	}
	return -EIO;
}

static int cmd_poll(struct mlx4_dev *dev, struct mlx4_call *call, unsigned int ms)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	int err;

	guard(mutex)(&cmd->post);
	err = hcr_wait(dev, POST_MS);
	if (err) {
		if (err == -ETIMEDOUT)
			ib_hca_gone(dev->hca, "command register stays busy");
		return -EIO;
	}
	if (ib_hca_is_over(dev->hca))
		return -EIO;
	hcr_post(cmd, call, U16_MAX, false);
	err = hcr_wait(dev, ms);
	if (err)
		return cmd_give_up(dev, call, err);
	call->status = FIELD_GET(MLX4_HCR_STATUS, hcr_read(cmd, MLX4_HCR_CTRL));
	if (!call->out)
		call->result = (u64)hcr_read(cmd, MLX4_HCR_OUT_HI) << 32 |
			       hcr_read(cmd, MLX4_HCR_OUT_LO);
	return cmd_errno(call->status);
}

static struct mlx4_cmd_slot *slot_take(struct mlx4_cmd *cmd)
{
	struct mlx4_cmd_slot *slot = NULL;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&cmd->lock, flags);
	for (i = 0; i < cmd->slot_count && !slot; i++)
		if (!cmd->slots[i].busy)
			slot = &cmd->slots[i];
	if (slot) {
		slot->busy = true;
		slot->error = 0;
		/* The low bits name the slot, the others tell its commands apart. */
		slot->token += MLX4_CMD_SLOTS;
		reinit_completion(&slot->done);
	}
	spin_unlock_irqrestore(&cmd->lock, flags);
	return slot;
}

static void slot_put(struct mlx4_cmd *cmd, struct mlx4_cmd_slot *slot)
{
	unsigned long flags;

	spin_lock_irqsave(&cmd->lock, flags);
	slot->busy = false;
	spin_unlock_irqrestore(&cmd->lock, flags);
}

static int slot_wait(struct mlx4_dev *dev, struct mlx4_cmd_slot *slot, unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	int err;

	while (!wait_for_completion_timeout(&slot->done, msecs_to_jiffies(LOOK_MS))) {
		err = cmd_look(dev);
		if (err)
			return err;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	return slot->error;
}

static int cmd_by_event(struct mlx4_dev *dev, struct mlx4_call *call, unsigned int ms)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	struct mlx4_cmd_slot *slot;
	int err;

	slot = slot_take(cmd);
	if (WARN_ON_ONCE(!slot))
		return -EIO;
	scoped_guard(mutex, &cmd->post) {
		err = hcr_wait(dev, POST_MS);
		/* Who is inside the gate may have been overtaken by an end without the firmware. */
		if (!err && ib_hca_is_over(dev->hca))
			err = -EIO;
		if (!err)
			hcr_post(cmd, call, slot->token, true);
	}
	if (err) {
		if (err == -ETIMEDOUT)
			ib_hca_gone(dev->hca, "command register stays busy");
		err = -EIO;
		goto out;
	}
	err = slot_wait(dev, slot, ms);
	if (err == -ETIMEDOUT && call->op == MLX4_NOP) {
		/* The interrupt test: it is the interrupt that did not come. */
		cmd_give_up(dev, call, 0);
		err = -EBUSY;
	} else if (err) {
		err = cmd_give_up(dev, call, err);
	} else {
		call->status = slot->status;
		call->result = slot->result;
		err = cmd_errno(call->status);
	}
out:
	slot_put(cmd, slot);
	return err;
}

int mlx4_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	const struct mlx4_cmd_info *info = cmd_info(call->op);
	struct mlx4_cmd *cmd = &dev->cmd;
	bool closing;
	int err;

	if (WARN_ON_ONCE(!info))
		return -EINVAL;
	closing = info->closing || call->closing;
	err = ib_hca_enter(dev->hca);
	if (err)
		return closing && err == -EIO ? 0 : err;
	atomic_inc(&cmd->count[info - mlx4_cmd_table]);
	if (READ_ONCE(cmd->events)) {
		down(&cmd->limit);
		err = cmd_by_event(dev, call, patience_ms[info->patience]);
		up(&cmd->limit);
	} else {
		err = cmd_poll(dev, call, patience_ms[info->patience]);
	}
	ib_hca_exit(dev->hca);
	if (!err)
		return 0;
	dev_dbg(dev->dev, "%s: %d, status %#x\n", info->name, err, call->status);
	/* Whether the HCA still uses what it did not give back, only its end can tell. */
	if (closing && call->status != STATUS_BOUND && !ib_hca_is_over(dev->hca)) {
		dev_err(dev->dev, "%s failed: status %#x\n", info->name, call->status);
		ib_hca_gone(dev->hca, "a closing command failed");
	}
	return err;
}
EXPORT_SYMBOL_GPL(mlx4_cmd);

void mlx4_cmd_event(struct mlx4_dev *dev, u16 token, u8 status, u64 result)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	struct mlx4_cmd_slot *slot = &cmd->slots[token % MLX4_CMD_SLOTS];
	unsigned long flags;

	spin_lock_irqsave(&cmd->lock, flags);
	if (slot->busy && slot->token == token) {
		slot->status = status;
		slot->result = result;
		complete(&slot->done);
	}
	spin_unlock_irqrestore(&cmd->lock, flags);
}

void mlx4_cmd_abort(struct mlx4_dev *dev)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&cmd->lock, flags);
	for (i = 0; i < cmd->slot_count; i++) {
		struct mlx4_cmd_slot *slot = &cmd->slots[i];

		if (!slot->busy || completion_done(&slot->done))
			continue;
		slot->error = -EIO;
		complete(&slot->done);
	}
	spin_unlock_irqrestore(&cmd->lock, flags);
}

void mlx4_cmd_use_events(struct mlx4_dev *dev, bool events)
{
	struct mlx4_cmd *cmd = &dev->cmd;

	WRITE_ONCE(cmd->events, events);
}

void mlx4_cmd_reset(struct mlx4_dev *dev)
{
	struct mlx4_cmd *cmd = &dev->cmd;

	/* A reset HCA shows T = 0, and "not busy" means that T differs from ours. */
	cmd->toggle = MLX4_HCR_TOGGLE;
	cmd->events = false;
}

int mlx4_cmd_init(struct mlx4_dev *dev)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	unsigned int i;

	mutex_init(&cmd->post);
	spin_lock_init(&cmd->lock);
	INIT_LIST_HEAD(&cmd->kept);
	cmd->slot_count = MLX4_CMD_SLOTS;
	sema_init(&cmd->limit, cmd->slot_count);
	for (i = 0; i < MLX4_CMD_SLOTS; i++) {
		init_completion(&cmd->slots[i].done);
		cmd->slots[i].token = i;
	}
	cmd->count = kcalloc(mlx4_cmd_table_size, sizeof(*cmd->count), GFP_KERNEL);
	if (!cmd->count)
		return -ENOMEM;
	cmd->pool = dma_pool_create("mlx4_mailbox", dev->dev, MLX4_MAILBOX_SIZE,
				    MLX4_MAILBOX_SIZE, 0);
	if (!cmd->pool) {
		kfree(cmd->count);
		return -ENOMEM;
	}
	cmd->hcr = dev->bar0 + MLX4_REG_HCR;
	mlx4_cmd_reset(dev);
	return 0;
}

static void mailbox_give_back(struct mlx4_cmd *cmd, struct mlx4_mailbox *box)
{
	dma_pool_free(cmd->pool, box->buf, box->dma);
	kfree(box);
}

void mlx4_cmd_release_kept(struct mlx4_dev *dev)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	struct mlx4_mailbox *box, *next;
	unsigned long flags;

	spin_lock_irqsave(&cmd->lock, flags);
	list_for_each_entry_safe(box, next, &cmd->kept, node) {
		list_del_init(&box->node);
		if (box->orphan)
			mailbox_give_back(cmd, box);
	}
	spin_unlock_irqrestore(&cmd->lock, flags);
}

void mlx4_cmd_destroy(struct mlx4_dev *dev, bool quiet)
{
	struct mlx4_cmd *cmd = &dev->cmd;

	cmd->hcr = NULL;
	kfree(cmd->count);
	cmd->count = NULL;
	if (quiet) {
		mlx4_cmd_release_kept(dev);
		dma_pool_destroy(cmd->pool);
	}
	cmd->pool = NULL;
}

struct mlx4_mailbox *mlx4_mailbox_alloc(struct mlx4_dev *dev)
{
	struct mlx4_mailbox *box = kzalloc(sizeof(*box), GFP_KERNEL);

	if (!box)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&box->node);
	box->buf = dma_pool_zalloc(dev->cmd.pool, GFP_KERNEL, &box->dma);
	if (!box->buf) {
		kfree(box);
		return ERR_PTR(-ENOMEM);
	}
	return box;
}
EXPORT_SYMBOL_GPL(mlx4_mailbox_alloc);

void mlx4_mailbox_free(struct mlx4_dev *dev, struct mlx4_mailbox *box)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	unsigned long flags;
	bool kept;

	if (IS_ERR_OR_NULL(box))
		return;
	spin_lock_irqsave(&cmd->lock, flags);
	kept = !list_empty(&box->node);
	box->orphan = kept;
	spin_unlock_irqrestore(&cmd->lock, flags);
	if (!kept)
		mailbox_give_back(cmd, box);
}
EXPORT_SYMBOL_GPL(mlx4_mailbox_free);

unsigned int mlx4_cmd_kept(struct mlx4_dev *dev)
{
	struct mlx4_cmd *cmd = &dev->cmd;
	unsigned long flags;
	unsigned int n;

	spin_lock_irqsave(&cmd->lock, flags);
	n = list_count_nodes(&cmd->kept);
	spin_unlock_irqrestore(&cmd->lock, flags);
	return n;
}

void mlx4_cmd_show(struct seq_file *seq, struct mlx4_dev *dev)
{
	unsigned int i;

	for (i = 0; i < mlx4_cmd_table_size; i++)
		seq_printf(seq, "%-16s %d\n", mlx4_cmd_table[i].name,
			   atomic_read(&dev->cmd.count[i]));
}
