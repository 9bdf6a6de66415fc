/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segments of work queue entries as host-order structures with their layouts.
 */
#ifndef CX3_MODEL_WQE_H
#define CX3_MODEL_WQE_H

#include "fields.h"

#define WQE_SEG 16u
#define WQE_INLINE 0x80000000u	/* byte count of a segment that is followed by its data */

/**
 * struct wqe_ctrl - control segment of a send WQE
 * @owner: toggles with each pass of the ring
 * @blh: LSO header is long
 * @opcode: enum wqe_opcode
 * @fence: wait for reads and atomics
 * @size: of the WQE in 16-byte units
 * @srcrb: high bits of the remote buffer; XRC: remote SRQN
 * @strong: strong order
 * @l4_csum: TCP and UDP checksum
 * @ip_csum: IP header checksum
 * @cq_update: 3 = CQE, 0 = only on error
 * @solicited: solicited event
 * @force_loop: deliver to the own port
 * @imm: immediate or key
 */
struct wqe_ctrl {
	u8 owner, blh, opcode, fence, size;
	u32 srcrb;
	u8 strong, l4_csum, ip_csum, cq_update, solicited, force_loop;
	u32 imm;
};

/**
 * struct wqe_mlx - control segment of a raw (QP0, QP1) send WQE behind its first two words
 * @vl15: send on virtual lane 15
 * @slr: source LID is the permissive one
 * @rate: static rate
 * @sl: service level
 * @icrc: bit 0: the device computes the invariant CRC
 * @cq_update: as above
 * @force_loop: as above
 * @rlid: destination LID
 */
struct wqe_mlx {
	u8 vl15, slr, rate, sl, icrc, cq_update, force_loop;
	u16 rlid;
};

/**
 * struct wqe_dgram - datagram segment: address vector, destination QPN, Q_Key
 * @force_loop: deliver to the own port
 * @port: port number
 * @pd: protection domain of the address handle
 * @grh: GRH wanted
 * @path_bits: low bits of the source LID
 * @dlid: destination LID
 * @sgid_index: GRH
 * @rate: static rate
 * @hop_limit: GRH
 * @sl: service level
 * @tclass: GRH
 * @flow: GRH
 * @dgid: GRH
 * @dqpn: destination QPN
 * @qkey: Q_Key; bit 31 asks for that of the QP
 */
struct wqe_dgram {
	u8 force_loop, port;
	u32 pd;
	u8 grh, path_bits;
	u16 dlid;
	u8 sgid_index, rate, hop_limit, sl, tclass;
	u32 flow;
	u8 dgid[16];
	u32 dqpn, qkey;
};

/* Remote address. */
struct wqe_raddr {
	u64 va;
	u32 rkey;
};

/* Operands of an atomic; masked compare-and-swap has all four, the others the first two. */
struct wqe_atomic {
	u64 swap, cmp, swap_mask, cmp_mask;
};

/* Data segment. */
struct wqe_data {
	u32 bytes, key;
	u64 va;
};

/* LSO segment: payload bytes per packet, and the length of the header that follows. */
struct wqe_lso {
	u16 mss, hdr_len;
};

/* Next segment of an SRQ WQE. */
struct wqe_next {
	u16 next;
};

/* Bind memory window. */
struct wqe_bind {
	u32 flags1, flags2, new_rkey, lkey;
	u64 addr, len;
};

/* Fast register. */
struct wqe_freg {
	u32 flags, key;
	u64 list, start, len;
	u32 offset, log_page;
};

/* Local invalidate. */
struct wqe_inval {
	u32 key;
};

extern const struct layout wqe_ctrl_layout, wqe_mlx_layout, wqe_dgram_layout, wqe_raddr_layout;
extern const struct layout wqe_atomic_layout, wqe_masked_layout, wqe_data_layout, wqe_lso_layout;
extern const struct layout wqe_next_layout, wqe_bind_layout, wqe_freg_layout, wqe_inval_layout;

#endif
