/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Firmware commands: one at a time through the HCR while polling, several at once with events.
 */
#ifndef MLX4_CMD_H
#define MLX4_CMD_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct dma_pool;
struct mlx4_dev;
struct seq_file;

#define MLX4_MAILBOX_SIZE 4096

/* Opcodes; what each carries stands in the table of cmd_table.c. */
enum mlx4_op {
	MLX4_QUERY_DEV_CAP	= 0x003,
	MLX4_QUERY_FW		= 0x004,
	MLX4_QUERY_ADAPTER	= 0x006,
	MLX4_INIT_HCA		= 0x007,
	MLX4_CLOSE_HCA		= 0x008,
	MLX4_INIT_PORT		= 0x009,
	MLX4_CLOSE_PORT		= 0x00a,
	MLX4_SET_PORT		= 0x00c,
	MLX4_SW2HW_MPT		= 0x00d,
	MLX4_HW2SW_MPT		= 0x00f,
	MLX4_MAP_EQ		= 0x012,
	MLX4_SW2HW_EQ		= 0x013,
	MLX4_HW2SW_EQ		= 0x014,
	MLX4_SW2HW_CQ		= 0x016,
	MLX4_HW2SW_CQ		= 0x017,
	MLX4_RST2INIT_QP	= 0x019,
	MLX4_INIT2RTR_QP	= 0x01a,
	MLX4_RTR2RTS_QP		= 0x01b,
	MLX4_RTS2RTS_QP		= 0x01c,
	MLX4_SQERR2RTS_QP	= 0x01d,
	MLX4_2ERR_QP		= 0x01e,
	MLX4_RTS2SQD_QP		= 0x01f,
	MLX4_SQD2RTS_QP		= 0x020,
	MLX4_2RST_QP		= 0x021,
	MLX4_QUERY_QP		= 0x022,
	MLX4_CONF_SPECIAL_QP	= 0x023,
	MLX4_MAD_IFC		= 0x024,
	MLX4_WRITE_MCG		= 0x026,
	MLX4_MGID_HASH		= 0x027,
	MLX4_MODIFY_CQ		= 0x02c,
	MLX4_INIT2INIT_QP	= 0x02d,
	MLX4_DIAG_RPRT		= 0x030,
	MLX4_NOP		= 0x031,
	MLX4_SW2HW_SRQ		= 0x035,
	MLX4_HW2SW_SRQ		= 0x036,
	MLX4_QUERY_SRQ		= 0x037,
	MLX4_SQD2SQD_QP		= 0x038,
	MLX4_ARM_SRQ		= 0x040,
	MLX4_QUERY_PORT		= 0x043,
	MLX4_SET_NODE		= 0x05a,
	MLX4_RUN_FW		= 0xff6,
	MLX4_UNMAP_ICM		= 0xff9,
	MLX4_MAP_ICM		= 0xffa,
	MLX4_UNMAP_ICM_AUX	= 0xffb,
	MLX4_MAP_ICM_AUX	= 0xffc,
	MLX4_SET_ICM_SIZE	= 0xffd,
	MLX4_UNMAP_FA		= 0xffe,
	MLX4_MAP_FA		= 0xfff,
};

/* How long the firmware may take; beyond it the HCA counts as lost. */
enum mlx4_patience {
	MLX4_QUICK,		/* looks something up */
	MLX4_NORMAL,		/* changes the state of one object */
	MLX4_SLOW,		/* starts or stops the HCA, maps memory */
	MLX4_PATIENCE_CLASSES,
};

/**
 * struct mlx4_cmd_info - what the driver knows of one command
 * @op: opcode
 * @name: for the log and debugfs
 * @patience: how long it may take
 * @closing: it gives something back; once the HCA is gone there is nothing to give back, and it
 *	succeeds without being sent
 */
struct mlx4_cmd_info {
	u16 op;
	const char *name;
	enum mlx4_patience patience;
	bool closing;
};

/**
 * struct mlx4_mailbox - a page that carries the input or the output of a command
 * @node: in the list of those kept for a command that was given up
 * @buf: the page
 * @dma: its bus address, aligned to its size
 * @orphan: freed by its user while it was kept
 */
struct mlx4_mailbox {
	struct list_head node;
	bool orphan;
	void *buf;
	dma_addr_t dma;
};

/**
 * struct mlx4_call - one command to be executed
 * @op: opcode
 * @op_mod: opcode modifier
 * @in_mod: input modifier
 * @in_imm: input parameter, when there is no input mailbox
 * @in: input mailbox or NULL
 * @out: output mailbox or NULL
 * @closing: as &mlx4_cmd_info.closing, for a command that opens or closes by its parameters
 * @result: output parameter, when there is no output mailbox; filled in
 * @status: what the firmware said; filled in when the firmware answered
 */
struct mlx4_call {
	enum mlx4_op op;
	u8 op_mod;
	u32 in_mod;
	u64 in_imm;
	struct mlx4_mailbox *in;
	struct mlx4_mailbox *out;
	bool closing;
	u64 result;
	u8 status;
};

#define MLX4_CMD_SLOTS 16

/**
 * struct mlx4_cmd_slot - a command that waits for its event
 * @done: the event came, or nobody will send it
 * @token: what the firmware repeats; a stale one belongs to nobody
 * @busy: a command waits here
 * @error: 0 or -EIO from mlx4_cmd_abort()
 * @status: of the firmware
 * @result: output parameter
 */
struct mlx4_cmd_slot {
	struct completion done;
	u16 token;
	bool busy;
	int error;
	u8 status;
	u64 result;
};

/**
 * struct mlx4_cmd - the command interface of one HCA
 * @hcr: the registers; NULL before mlx4_cmd_init()
 * @post: serialises the use of @hcr
 * @toggle: the T bit of the next command; under @post
 * @events: commands complete by event; changed while no command is under way
 * @limit: as many commands as may be outstanding with events
 * @lock: protects @slots and @kept
 * @slots: commands waiting for an event
 * @slot_count: how many of them are used
 * @pool: where mailboxes come from
 * @kept: mailboxes of commands that were given up: the firmware may still write to them
 * @count: commands sent, by place in the table, for debugfs
 */
struct mlx4_cmd {
	void __iomem *hcr;
	struct mutex post; /* the HCR */
	u32 toggle;
	bool events;
	struct semaphore limit;
	spinlock_t lock; /* slots, kept */
	struct mlx4_cmd_slot slots[MLX4_CMD_SLOTS];
	unsigned int slot_count;
	struct dma_pool *pool;
	struct list_head kept;
	atomic_t *count;
};

extern const struct mlx4_cmd_info mlx4_cmd_table[];
extern const unsigned int mlx4_cmd_table_size;

/**
 * mlx4_cmd_name() - the name of a command
 * @op: its opcode
 *
 * Return: a literal.
 */
const char *mlx4_cmd_name(enum mlx4_op op);

/**
 * mlx4_cmd() - execute a firmware command
 * @dev: the HCA
 * @call: the command; @call->result and @call->status are filled in
 *
 * Enters the HCA's gate for as long as it takes.  A command that the firmware does not answer in
 * time makes the HCA count as gone; its mailboxes then stay out of use until the hardware is quiet,
 * even after mlx4_mailbox_free().  So does a closing command that fails: what it was to end may go
 * on.
 *
 * Context: may sleep; no lock that an interrupt of this HCA needs.
 * Return: 0; -EIO: no answer, or the HCA is gone (closing commands that are not even sent give 0
 * then); -ENODEV: not up; else the errno for the status of the firmware.
 */
int mlx4_cmd(struct mlx4_dev *dev, struct mlx4_call *call);

/**
 * mlx4_cmd_event() - the event of a command has come
 * @dev: the HCA
 * @token: which command
 * @status: of the firmware
 * @result: output parameter
 *
 * Context: interrupt.
 */
void mlx4_cmd_event(struct mlx4_dev *dev, u16 token, u8 status, u64 result);

/**
 * mlx4_cmd_abort() - end every wait for a command with -EIO
 * @dev: the HCA, whose gate has been closed
 *
 * Context: any.
 */
void mlx4_cmd_abort(struct mlx4_dev *dev);

/**
 * mlx4_cmd_use_events() - complete commands by events, or by polling again
 * @dev: the HCA; no command is under way
 * @events: which
 *
 * Context: may sleep.
 */
void mlx4_cmd_use_events(struct mlx4_dev *dev, bool events);

/**
 * mlx4_cmd_init() - prepare the command interface of a bound function
 * @dev: the HCA
 *
 * Context: probe.
 * Return: 0 or -ENOMEM.
 */
int mlx4_cmd_init(struct mlx4_dev *dev);

/**
 * mlx4_cmd_reset() - start anew with hardware that has just been reset
 * @dev: the HCA
 */
void mlx4_cmd_reset(struct mlx4_dev *dev);

/**
 * mlx4_cmd_release_kept() - free the mailboxes of commands that were given up
 * @dev: the HCA, whose hardware has been proven quiet
 */
void mlx4_cmd_release_kept(struct mlx4_dev *dev);

/**
 * mlx4_cmd_destroy() - undo mlx4_cmd_init()
 * @dev: the HCA
 * @quiet: the hardware is quiet; if not, mailboxes that it may still write to are leaked
 */
void mlx4_cmd_destroy(struct mlx4_dev *dev, bool quiet);

/**
 * mlx4_mailbox_alloc() - a zeroed mailbox
 * @dev: the HCA
 *
 * Context: may sleep.
 * Return: the mailbox or an ERR_PTR().
 */
struct mlx4_mailbox *mlx4_mailbox_alloc(struct mlx4_dev *dev);

/**
 * mlx4_mailbox_free() - give a mailbox back
 * @dev: the HCA
 * @box: from mlx4_mailbox_alloc(), or NULL, or an ERR_PTR()
 */
void mlx4_mailbox_free(struct mlx4_dev *dev, struct mlx4_mailbox *box);

/** mlx4_cmd_kept() - how many mailboxes are out of use until the hardware is quiet */
unsigned int mlx4_cmd_kept(struct mlx4_dev *dev);

/**
 * mlx4_cmd_show() - how often each command has been sent
 * @seq: where to
 * @dev: the HCA
 */
void mlx4_cmd_show(struct seq_file *seq, struct mlx4_dev *dev);

#endif /* MLX4_CMD_H */
