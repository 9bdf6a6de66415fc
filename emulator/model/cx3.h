/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ConnectX-3 HCA in software: the interface for front-ends.
 *
 * A front-end creates a device with its properties and a struct cx3_host,
 * joins its ports to link ends, forwards register accesses and the timer,
 * and tells about bus-master enable, function reset and the device's end.
 * Calls are serialised by the front-end and never nested (see host.h).
 */
#ifndef CX3_MODEL_CX3_H
#define CX3_MODEL_CX3_H

#include "host.h"
#include "link.h"

struct cx3_hca;

/* BAR0, and the part of it that is the front-end's: MSI-X table and PBA. */
#define CX3_BAR0_SIZE 0x100000u
#define CX3_MSIX_TABLE 0x7c000u
#define CX3_MSIX_PBA 0x7d000u
#define CX3_MAX_VECTORS 128
#define CX3_MAX_PORTS 2

/* Vendor space of BAR0: a write is logged with time and counts as a mark. */
#define CX3_REG_MARK 0xf0ff4u

/**
 * struct cx3_config - properties of a device; cx3_config_init() sets defaults
 * @device_id: 0x1003, or the id of a card with the same interface
 * @revision: PCI revision, told by NodeInfo
 * @fw_major: firmware version, default 2.42.5000
 * @fw_minor: see @fw_major
 * @fw_sub: see @fw_major
 * @node_guid: node GUID; port p has node_guid + p, the system image +3
 * @nports: 1 or 2
 * @eth_ports: ports that come up as Ethernet and can be set to InfiniBand, bit 0 the first
 * @eth_only: ports that can only be Ethernet
 * @nvectors: MSI-X vectors, 0 = INTx only
 * @log_uar_bytes: log2 of the UAR area; BAR2 is twice that when @blueflame
 * @blueflame: report BlueFlame registers
 * @caps_set: 64-bit device flags (QUERY_DEV_CAP 0x40) to report in addition
 * @caps_clear: device flags not to report
 * @bmme_clear: BMME flags (QUERY_DEV_CAP 0x94) not to report
 * @max_vl: number of data VLs, 1, 2, 4 or 8
 * @pkeys: P_Key table entries (power of two, 16..128)
 * @gids: GID table entries (power of two, 8..128)
 * @strict: violations are logged as such (they always count)
 * @log_commands: one debug line for each command
 * @ack_timeout_min: least RC ACK timeout in ns (links that leave the process)
 * @board_id: text shown as board id, at most 16 characters
 * @name: name in log lines
 */
struct cx3_config {
	u16 device_id;
	u8 revision;
	u16 fw_major;
	u16 fw_minor;
	u16 fw_sub;
	u64 node_guid;
	u8 nports;
	u8 eth_ports;
	u8 eth_only;
	u16 nvectors;
	u8 log_uar_bytes;
	bool blueflame;
	u64 caps_set;
	u64 caps_clear;
	u32 bmme_clear;
	u8 max_vl;
	u16 pkeys;
	u16 gids;
	bool strict;
	bool log_commands;
	u64 ack_timeout_min;
	char board_id[17];
	char name[16];
};

/**
 * cx3_config_init() - defaults of every property
 * @cfg: filled
 */
void cx3_config_init(struct cx3_config *cfg);

/**
 * cx3_create() - make a device in its reset state, ports unconnected
 * @host: front-end; copied
 * @cfg: properties; copied
 * @why: set to a constant text when NULL is returned
 *
 * Return: device, or NULL for a bad property or lack of memory.
 */
struct cx3_hca *cx3_create(const struct cx3_host *host, const struct cx3_config *cfg,
			   const char **why);

/**
 * cx3_destroy() - free everything; detaches the ports from their links
 * @hca: device or NULL
 */
void cx3_destroy(struct cx3_hca *hca);

/** cx3_bar2_size() - size of BAR2 in bytes for these properties */
u64 cx3_bar2_size(const struct cx3_config *cfg);

/**
 * cx3_port_attach() - join a port to its cable
 * @hca: device
 * @port: 1 based
 * @end: link end; the device claims it and detaches it in cx3_destroy()
 *
 * A port without a link end never leaves DOWN.
 */
void cx3_port_attach(struct cx3_hca *hca, unsigned int port, struct link_end *end);

/**
 * cx3_function_reset() - PCI reset (bus, function level, power)
 * @hca: device
 *
 * Unlike a write to the reset register this is not the driver's act; objects
 * that are still alive are not violations.
 */
void cx3_function_reset(struct cx3_hca *hca);

/**
 * cx3_bar_read() - a load from BAR0 or BAR2
 * @hca: device
 * @bar: 0 or 2
 * @addr: offset in the BAR; any value
 * @size: 1 to 8 bytes
 *
 * Return: the bytes as a little-endian integer, as PCI gives them (a
 * big-endian register appears byte swapped).
 */
u64 cx3_bar_read(struct cx3_hca *hca, unsigned int bar, u64 addr, unsigned int size);

/** cx3_bar_write() - a store; arguments as in cx3_bar_read() */
void cx3_bar_write(struct cx3_hca *hca, unsigned int bar, u64 addr, u64 val,
		   unsigned int size);

/**
 * cx3_excuse_reset() - an error was injected from outside the model (PCIe error)
 * @hca: device
 *
 * The driver may now reset the device with objects alive; not a violation.
 */
void cx3_excuse_reset(struct cx3_hca *hca);

/** cx3_timer_fire() - the timer armed by host->timer() is due */
void cx3_timer_fire(struct cx3_hca *hca);

/** cx3_set_bus_master() - PCI command register bit 2 changed to @on */
void cx3_set_bus_master(struct cx3_hca *hca, bool on);

/** cx3_set_msix() - MSI-X was enabled or disabled; without it INTx is used */
void cx3_set_msix(struct cx3_hca *hca, bool on);

/**
 * cx3_set_gone() - surprise removal: all-ones from now on, no DMA, no interrupt
 * @hca: device
 *
 * Final: only cx3_destroy() follows in earnest; other calls do nothing.
 */
void cx3_set_gone(struct cx3_hca *hca);

/**
 * cx3_audit() - list every live object and mapped page
 * @hca: device
 * @emit: called with one line of text each
 * @arg: its argument
 *
 * Return: number of live things; 0 after a clean unload.
 */
unsigned int cx3_audit(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg);

/**
 * cx3_pd_tell() - software made or destroyed a protection domain
 * @hca: device
 * @pd: its number
 * @alive: true: made; false: destroyed
 *
 * The device has no command for it, so only a test that knows the driver can say so. From then on
 * what still names a destroyed PD, or comes to name it, is a violation. Reset forgets all.
 *
 * Return: 0, or negative for a number that cannot be or lack of memory.
 */
int cx3_pd_tell(struct cx3_hca *hca, u32 pd, bool alive);

/** cx3_violations() - how many violations so far; @emit gets "name count" lines, may be NULL */
u64 cx3_violations(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg);

/** cx3_counts() - every counter as a "name value" line */
void cx3_counts(struct cx3_hca *hca, void (*emit)(void *arg, const char *line), void *arg);

/**
 * cx3_fault_add() - add one fault rule (see fault.c for the language)
 * @hca: device
 * @rule: text of one rule
 * @why: set to a constant text on error
 *
 * Return: 0, or negative for a rule that cannot be understood.
 */
int cx3_fault_add(struct cx3_hca *hca, const char *rule, const char **why);

#endif
