/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One HCA straight out of its box: made, bus mastering on, nothing mapped. For tests of what comes
 * before INIT_HCA; everything later is easier with rig.h, whose command functions work here too.
 */
#ifndef CX3_TESTS_BARE_H
#define CX3_TESTS_BARE_H

#include "rig.h"

#define BARE_RAM (4u << 20)

/* Opcodes, as the programmer's manual names them. */
enum {
	OP_QUERY_DEV_CAP = 0x003,
	OP_QUERY_FW = 0x004,
	OP_QUERY_ADAPTER = 0x006,
	OP_INIT_HCA = 0x007,
	OP_CLOSE_HCA = 0x008,
	OP_INIT_PORT = 0x009,
	OP_CLOSE_PORT = 0x00a,
	OP_QUERY_HCA = 0x00b,
	OP_SET_PORT = 0x00c,
	OP_SW2HW_MPT = 0x00d,
	OP_QUERY_MPT = 0x00e,
	OP_HW2SW_MPT = 0x00f,
	OP_READ_MTT = 0x010,
	OP_WRITE_MTT = 0x011,
	OP_MAP_EQ = 0x012,
	OP_SW2HW_EQ = 0x013,
	OP_HW2SW_EQ = 0x014,
	OP_QUERY_EQ = 0x015,
	OP_CONF_SPECIAL_QP = 0x023,
	OP_MAD_IFC = 0x024,
	OP_READ_MCG = 0x025,
	OP_WRITE_MCG = 0x026,
	OP_MGID_HASH = 0x027,
	OP_SYNC_TPT = 0x02f,
	OP_DIAG_RPRT = 0x030,
	OP_NOP = 0x031,
	OP_MOD_STAT_CFG = 0x034,
	OP_QUERY_PORT = 0x043,
	OP_SET_NODE = 0x05a,
	OP_RUN_FW = 0xff6,
	OP_UNMAP_ICM = 0xff9,
	OP_MAP_ICM = 0xffa,
	OP_UNMAP_ICM_AUX = 0xffb,
	OP_MAP_ICM_AUX = 0xffc,
	OP_SET_ICM_SIZE = 0xffd,
	OP_UNMAP_FA = 0xffe,
	OP_MAP_FA = 0xfff,
};

#define BARE_HCR 0x80680u

/**
 * bare_up() - make a device
 * @w: clock
 * @h: filled
 * @adjust: changes properties before; may be NULL
 */
void bare_up(struct fake_world *w, struct rig_hca *h, void (*adjust)(struct cx3_config *cfg));
/** bare_fw() - MAP_FA and RUN_FW */
void bare_fw(struct rig_hca *h);
/** bare_down() - destroy it; a leak is a failed test point */
void bare_down(struct rig_hca *h);
/** bare_map() - one entry of a MAP command; status */
u8 bare_map(struct rig_hca *h, u16 opcode, u64 va, u64 pa, u32 log_pages);
/** bare_read32() - a register of BAR0 in host order */
u32 bare_read32(struct rig_hca *h, u64 addr);
/** bare_post() - post a command with any control bits, without looking at the answer */
void bare_post(struct rig_hca *h, u32 control, u32 in_mod, u64 in, u64 out, u16 token);
/** bare_violated() - has a violation with this text in it been logged? */
bool bare_violated(struct rig_hca *h, const char *text);

#endif
