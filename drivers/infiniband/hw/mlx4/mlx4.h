/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct mlx4_dev: one PCI function of the ConnectX-3 family, as mlx4_core sees it.
 *
 * Three things end at three times.  What probe made (BARs, command interface) ends in remove.  What
 * the start of the HCA made (firmware area, ICM, EQs, interrupts) is taken down by the lifecycle
 * thread of ib_core, in the reverse order of the table in hca.c: first the firmware is told, then,
 * when the hardware has been proven quiet, the memory it knew is freed.  The structure itself lives
 * until the last reference to the ib_hca is dropped.
 */
#ifndef MLX4_H
#define MLX4_H

#include <linux/auxiliary_bus.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <ib/hca.h>

#include "cmd.h"
#include "eq.h"
#include "icm.h"
#include "layout.h"

struct dentry;
struct device;
struct gen_pool;
struct pci_dev;

#define MLX4_MAX_PORTS	2

/**
 * struct mlx4_caps - what the HCA can do and what of it is used; sizes in bytes, the rest counts
 * @fw_ver: firmware version, major << 32 | minor << 16 | subminor
 * @fw_pages: pages of 4 KiB that the firmware itself wants
 * @cmd_rev: revision of the command interface
 * @clr_int: register that clears the level of INTx, offset in its BAR
 * @clr_int_bar: that BAR
 * @err_buf: error buffer, offset in its BAR
 * @err_bar: that BAR
 * @err_words: its size in words of 32 bits
 * @inta_pin: the pin INTx comes from
 * @board_id: the board's name
 * @ports: number of ports
 * @flags: capability bits
 * @bmme: capability bits of memory management extensions
 * @reserved_lkey: key for physical addresses
 * @reserved_uars: UARs that belong to the firmware and to event queues
 * @uars: UARs there are
 * @rdmarc_size: bytes for one RDMA read that a QP answers
 * @reserved_eqs: event queues that belong to the firmware
 * @log_gids: GIDs of a port, log2
 * @log_pkeys: P_Keys of a port, log2
 * @port_type: supported types of a port, MLX4_PORT_TYPE_*
 * @mtu: largest MTU of a port, as the code of the specification
 * @vls: virtual lanes of a port
 */
struct mlx4_caps {
	u64 fw_ver;
	u32 fw_pages;
	u16 cmd_rev;
	u64 clr_int;
	u8 clr_int_bar;
	u64 err_buf;
	u8 err_bar;
	u32 err_words;
	u8 inta_pin;
	char board_id[MLX4_BOARD_ID_LEN + 1];

	u8 ports;
	u64 flags;
	u32 bmme;
	u32 reserved_lkey;
	u32 reserved_uars;
	u32 uars;
	u32 rdmarc_size;
	u32 reserved_eqs;

	u8 log_gids[MLX4_MAX_PORTS + 1];
	u8 log_pkeys[MLX4_MAX_PORTS + 1];
	u8 port_type[MLX4_MAX_PORTS + 1];
	u8 mtu[MLX4_MAX_PORTS + 1];
	u8 vls[MLX4_MAX_PORTS + 1];
};

/**
 * struct mlx4_dev - an HCA
 * @hca: its teardown framework half; this structure is the HCA's private part
 * @pdev: the function
 * @dev: its struct device
 * @bar0: registers; mapped from probe to remove
 * @uar: all UAR pages, BAR 2; mapped from probe to remove
 * @clr_int: INTx clear register, NULL with MSI or MSI-X
 * @clr_int_mask: what to write there, in host order
 * @err_buf: the error buffer, NULL before QUERY_FW
 * @cmd: command interface
 * @caps: capabilities
 * @fa: the firmware area
 * @aux: auxiliary ICM
 * @icm: tables of contexts
 * @mtts: allocator of the MTT table
 * @eqs: event queues
 * @health: looks at the error buffer every second while the HCA is up
 * @steps: how many steps of the start have been begun
 * @inited: INIT_HCA has succeeded
 * @special_qpn: the first of the eight special QPs; 0: the firmware was not told
 * @adev: the auxiliary device that mlx4_ib binds to
 * @adev_added: it has been added
 * @debugfs: this driver's files in the HCA's folder
 */
struct mlx4_dev {
	struct ib_hca *hca;
	struct pci_dev *pdev;
	struct device *dev;
	void __iomem *bar0;
	void __iomem *uar;
	void __iomem *clr_int;
	u32 clr_int_mask;
	void __iomem *err_buf;

	struct mlx4_cmd cmd;
	struct mlx4_caps caps;
	struct mlx4_chunk fa;
	struct mlx4_chunk aux;
	struct mlx4_icm icm;
	struct gen_pool *mtts;
	struct mlx4_eqs eqs;
	struct delayed_work health;
	unsigned int steps;
	bool inited;
	u32 special_qpn;

	struct auxiliary_device adev;
	bool adev_added;
	struct dentry *debugfs;
};

extern const struct ib_hca_ops mlx4_hca_ops;

/* The steps of a start, each a file's own: do, undo (the firmware is told), free (quiet). */

/**
 * mlx4_reset() - reset the function and wait until it answers again
 * @dev: the HCA
 *
 * Saves and restores the configuration space.  Sleeps a second and more.
 *
 * Return: 0; -EAGAIN: somebody holds the reset semaphore; -ENODEV: it did not come back.
 */
int mlx4_reset(struct mlx4_dev *dev);

/**
 * mlx4_is_absent() - does the function not answer at all?
 * @dev: the HCA
 *
 * Context: may sleep (configuration space).
 */
bool mlx4_is_absent(struct mlx4_dev *dev);

/**
 * mlx4_bus_master() - let the function write to memory, or not
 * @dev: the HCA
 * @on: which
 *
 * Return: 0 when the function was read back to be in that state (or, off, is absent), else -EIO.
 */
int mlx4_bus_master(struct mlx4_dev *dev, bool on);

int mlx4_fw_start(struct mlx4_dev *dev);
void mlx4_fw_stop(struct mlx4_dev *dev);
void mlx4_fw_free(struct mlx4_dev *dev);
int mlx4_caps_read(struct mlx4_dev *dev);
int mlx4_adapter_read(struct mlx4_dev *dev);
int mlx4_ports_start(struct mlx4_dev *dev);
void mlx4_ports_stop(struct mlx4_dev *dev);

#endif /* MLX4_H */
