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
#include "devlink.h"
#include "eq.h"
#include "icm.h"
#include "layout.h"

struct dentry;
struct device;
struct gen_pool;
struct pci_dev;

#define MLX4_MAX_PORTS	2

struct mlx4_sink;

/**
 * struct mlx4_sink - where the events of an HCA go that are not mlx4_core's own
 * @completed: a CQ that was armed has something; its number may be stale
 * @event: any other event; the entry is the HCA's memory, valid during the call
 *
 * Both are called in interrupts, outside the HCA's gate, for one queue at a time but for several
 * queues at once.
 */
struct mlx4_sink {
	void (*completed)(struct mlx4_sink *sink, u32 cqn);
	void (*event)(struct mlx4_sink *sink, const void *eqe);
};

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
 * @reserved_pds: PDs that belong to the firmware
 * @pds: PDs there are
 * @reserved_xrcds: XRC domains that belong to the firmware
 * @xrcds: XRC domains there are
 * @log_qp_size: work requests of a queue, log2
 * @log_srq_size: work requests of an SRQ, log2
 * @log_cq_size: entries of a CQ, log2
 * @log_msg: longest message, log2
 * @log_gso: longest message of a large send, log2; 0: none
 * @log_rd_req: RDMA reads and atomics that a QP may have outstanding, log2
 * @log_rd_resp: RDMA reads and atomics that a QP can answer at once, log2
 * @sq_sg: pieces of a send
 * @rq_sg: pieces of a receive
 * @sq_desc: bytes of a send work request
 * @rq_desc: bytes of a receive work request
 * @rates: static rates of paths, one bit for each of the hardware's codes
 * @ack_delay: local ACK delay, encoded
 * @mcg_qps: QPs of a multicast entry
 * @log_gids: GIDs of a port, log2
 * @log_pkeys: P_Keys of a port, log2
 * @port_type: supported types of a port, MLX4_PORT_TYPE_*
 * @port_eth: it comes up as an Ethernet port, or may
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
	u32 reserved_pds;
	u32 pds;
	u32 reserved_xrcds;
	u32 xrcds;
	u8 log_qp_size;
	u8 log_srq_size;
	u8 log_cq_size;
	u8 log_msg;
	u8 log_gso;
	u8 log_rd_req;
	u8 log_rd_resp;
	u8 sq_sg;
	u8 rq_sg;
	u16 sq_desc;
	u16 rq_desc;
	u16 rates;
	u8 ack_delay;
	u32 mcg_qps;

	u8 log_gids[MLX4_MAX_PORTS + 1];
	u8 log_pkeys[MLX4_MAX_PORTS + 1];
	u8 port_type[MLX4_MAX_PORTS + 1];
	bool port_eth[MLX4_MAX_PORTS + 1];
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
 * @sink: where events go; read in interrupts
 * @health: looks at the error buffer every second while the HCA is up
 * @health_looks: how often it has done so
 * @steps: how many steps of the start have been begun
 * @inited: INIT_HCA has succeeded
 * @special_qpn: the first of the eight special QPs; 0: the firmware was not told
 * @ib_ports: ports that are ours, one bit each from bit 1 on; set by each start
 * @reporter: what devlink is told of its health
 * @adev: the auxiliary device that mlx4_ib binds to
 * @adev_added: it has been added
 * @debugfs: this driver's files in the HCA's folder: commands, health
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
	struct mlx4_sink *sink;
	struct delayed_work health;
	unsigned int health_looks;
	unsigned int steps;
	bool inited;
	u32 special_qpn;
	u32 ib_ports;

	struct mlx4_reporter reporter;
	struct auxiliary_device adev;
	bool adev_added;
	struct dentry *debugfs[2];
};

extern const struct ib_hca_ops mlx4_hca_ops;

/* The steps of a start, each a file's own: do, undo (the firmware is told), free (quiet). */

/**
 * mlx4_reset() - reset the function and wait until it answers again
 * @dev: the HCA
 * @patience_ms: how long to wait for somebody else who may be resetting it
 *
 * Saves and restores the configuration space.  Sleeps a second and more.
 *
 * Return: 0; -EAGAIN: somebody holds the reset semaphore; -ENODEV: it did not come back.
 */
int mlx4_reset(struct mlx4_dev *dev, unsigned int patience_ms);

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

/**
 * mlx4_sink_set() - say where events go
 * @dev: the HCA
 * @sink: where; NULL: nowhere, and no call of the sink there was runs when this returns
 *
 * Context: may sleep.
 */
void mlx4_sink_set(struct mlx4_dev *dev, struct mlx4_sink *sink);

/**
 * mlx4_comp_eqn() - the event queue that a completion vector stands for
 * @dev: the HCA
 * @vector: any number; they go round
 *
 * Return: its number.
 */
u32 mlx4_comp_eqn(const struct mlx4_dev *dev, u32 vector);

/**
 * mlx4_smp_get() - ask the subnet management agent of a port
 * @dev: the HCA
 * @port: from 1
 * @attribute: which
 * @modifier: which part of it; host byte order
 * @data: MLX4_SMP_DATA_SIZE bytes: the attribute as it is on the wire
 *
 * Needs no key and answers in every state of the port.
 *
 * Context: may sleep.
 * Return: 0; -EIO: the agent knows no such thing, or the HCA is gone; or what mlx4_cmd() says.
 */
int mlx4_smp_get(struct mlx4_dev *dev, u32 port, u16 attribute, u32 modifier, void *data);

/**
 * mlx4_port_is_ours() - is it an InfiniBand port?  If not it is left alone
 * @dev: the HCA, started
 * @port: from 1
 */
bool mlx4_port_is_ours(const struct mlx4_dev *dev, u32 port);

int mlx4_fw_start(struct mlx4_dev *dev);
void mlx4_fw_stop(struct mlx4_dev *dev);
void mlx4_fw_free(struct mlx4_dev *dev);
int mlx4_caps_read(struct mlx4_dev *dev);
int mlx4_adapter_read(struct mlx4_dev *dev);
int mlx4_ports_start(struct mlx4_dev *dev);
void mlx4_ports_stop(struct mlx4_dev *dev);

#endif /* MLX4_H */
