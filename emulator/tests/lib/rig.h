/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two HCAs on a cable, driven through their registers as a driver would: bring-up by commands,
 * and the objects of the verbs (memory regions, completion queues, queue pairs, shared receive
 * queues) with their queues in guest memory.
 *
 * Every function that sets something up aborts the test program when the device refuses, with the
 * command and its status; functions that end in "_try" return the status instead.
 */
#ifndef CX3_TESTS_RIG_H
#define CX3_TESTS_RIG_H

#include "../../model/xport.h"
#include "lossy.h"

enum { RIG_HCAS = 2, RIG_EVENTS = 256 };

#define RIG_UAR 200u
#define RIG_EQN 4u
#define RIG_SPECIAL 0x40u
#define RIG_RAM (24u << 20)

/* An event entry, as it was in the EQ. */
struct rig_event {
	u8 type, subtype;
	u32 num;
	u8 syndrome;
};

/**
 * struct rig_buf - a queue's memory: pages in reverse order, so that nobody counts on them
 * being in a row
 * @base: bus address of the lowest page
 * @pages: how many
 * @mtt: offset of its MTT entries
 */
struct rig_buf {
	u64 base;
	u32 pages;
	u64 mtt;
};

struct rig;

/**
 * struct rig_hca - one device and its driver's bookkeeping
 * @rig: both
 * @host: front-end
 * @hca: device
 * @lid: LID of port 1
 * @brk: next free byte of guest memory
 * @mbox_in: input mailbox
 * @mbox_out: output mailbox
 * @toggle: of the command register
 * @icm: bus address of the ICM pages of each table
 * @next_mtt: next free MTT entry
 * @next_key: next free MPT index
 * @next_cqn: next free number
 * @next_qpn: next free number
 * @next_srqn: next free number
 * @eq: event queue
 * @eq_ci: its consumer index
 * @dma_key: key of all memory by bus address, PD 1, all rights
 * @event: asynchronous events collected by rig_events()
 * @nevents: how many
 * @completions: completion events per CQN (low 8 bits)
 */
struct rig_hca {
	struct rig *rig;
	struct fake_host host;
	struct cx3_hca *hca;
	u16 lid;
	u64 brk, mbox_in, mbox_out;
	u32 toggle;
	u64 icm[CX3_ICM_NTABLES];
	u32 next_mtt, next_key, next_cqn, next_qpn, next_srqn;
	struct rig_buf eq;
	u32 eq_ci;
	u32 dma_key;
	struct rig_event event[RIG_EVENTS];
	unsigned int nevents;
	unsigned int completions[256];
};

struct rig {
	struct fake_world world;
	struct lossy cable;
	struct rig_hca h[RIG_HCAS];
};

/* Bytes of a CQE in devices brought up from now on: 32 or 64. */
extern u32 rig_cqe_size;

void rig_up(struct rig *r);
void rig_up_with(struct rig *r, void (*adjust)(struct cx3_config *cfg));
void rig_down(struct rig *r);
void rig_run(struct rig *r, u64 ns);

u8 rig_cmd_try(struct rig_hca *h, u16 opcode, u8 op_mod, u32 in_mod, const u8 *in, u32 in_len,
	       u64 imm, u64 *out_imm);
u64 rig_cmd(struct rig_hca *h, u16 opcode, u8 op_mod, u32 in_mod, const u8 *in, u32 in_len,
	    u64 imm);
u8 *rig_out(struct rig_hca *h);
void rig_mmio32(struct rig_hca *h, unsigned int bar, u64 addr, u32 val);

u64 rig_alloc(struct rig_hca *h, u32 len, u32 align);
u8 *rig_mem(struct rig_hca *h, u64 addr, u32 len);
void rig_buf_init(struct rig_hca *h, struct rig_buf *b, u32 len);
u8 *rig_buf_at(struct rig_hca *h, struct rig_buf *b, u64 pos);
void rig_events(struct rig_hca *h);
unsigned int rig_saw(struct rig_hca *h, u8 type, u32 num);
void rig_set_port(struct rig_hca *h, unsigned int port, u16 lid, u8 state);

#endif
