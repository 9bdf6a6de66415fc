/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * InfiniBand packets: every header of the link and transport layers (IB specification volume 1,
 * chapters 5, 7, 8 and 9), as one host-order structure with its layouts, and one parser and one
 * builder for whole packets.
 */
#ifndef CX3_WIRE_H
#define CX3_WIRE_H

#include "fields.h"

#define WIRE_LRH_LEN 8
#define WIRE_GRH_LEN 40
#define WIRE_BTH_LEN 12
#define WIRE_CRC_LEN 6		/* invariant and variant CRC */
#define WIRE_HEADERS_MAX 128	/* more than any legal chain of headers */
#define WIRE_PSN_MASK 0xffffffu
#define WIRE_QPN_MASK 0xffffffu
#define WIRE_QPN_MULTICAST 0xffffffu
#define WIRE_LID_PERMISSIVE 0xffff
#define WIRE_LID_MULTICAST 0xc000	/* first multicast LID */
#define WIRE_VL_SMP 15

/* Link next header; bit 1 says that a BTH follows. */
#define WIRE_LNH_IBA 2
#define WIRE_LNH_GRH 3
#define WIRE_NXTHDR_IBA 0x1b

/* Transport service, bits 7:5 of the opcode. */
enum wire_service {
	WIRE_RC = 0,
	WIRE_UC = 1,
	WIRE_RD = 2,
	WIRE_UD = 3,
	WIRE_XRC = 5,
	WIRE_MASKED = 6,	/* manufacturer space, used for masked atomics */
};

/* Operation, bits 4:0 of the opcode. */
enum wire_op {
	OP_SEND_FIRST = 0x00,
	OP_SEND_MIDDLE = 0x01,
	OP_SEND_LAST = 0x02,
	OP_SEND_LAST_IMM = 0x03,
	OP_SEND_ONLY = 0x04,
	OP_SEND_ONLY_IMM = 0x05,
	OP_WRITE_FIRST = 0x06,
	OP_WRITE_MIDDLE = 0x07,
	OP_WRITE_LAST = 0x08,
	OP_WRITE_LAST_IMM = 0x09,
	OP_WRITE_ONLY = 0x0a,
	OP_WRITE_ONLY_IMM = 0x0b,
	OP_READ_REQUEST = 0x0c,
	OP_READ_FIRST = 0x0d,
	OP_READ_MIDDLE = 0x0e,
	OP_READ_LAST = 0x0f,
	OP_READ_ONLY = 0x10,
	OP_ACK = 0x11,
	OP_ATOMIC_ACK = 0x12,
	OP_CMP_SWAP = 0x13,
	OP_FETCH_ADD = 0x14,
	OP_SEND_LAST_INV = 0x16,
	OP_SEND_ONLY_INV = 0x17,
	OP_COUNT = 0x18,
};

/* What an operation is: properties of the opcode, service left aside. */
#define WOP_VALID	0x0001
#define WOP_FIRST	0x0002	/* begins a message */
#define WOP_LAST	0x0004	/* ends a message */
#define WOP_SEND	0x0008
#define WOP_WRITE	0x0010
#define WOP_READ	0x0020	/* request */
#define WOP_ATOMIC	0x0040	/* request */
#define WOP_RESPONSE	0x0080
#define WOP_IMM		0x0100
#define WOP_INV		0x0200
#define WOP_RETH	0x0400
#define WOP_AETH	0x0800
#define WOP_ATOMICACK	0x1000
#define WOP_PAYLOAD	0x2000	/* may carry payload */

/* AETH syndrome: kind in bits 7:5, value in bits 4:0. */
#define AETH_ACK 0x00
#define AETH_RNR 0x20
#define AETH_NAK 0x60
#define AETH_KIND 0xe0
#define AETH_NO_CREDIT 0x1f
enum aeth_nak {
	NAK_SEQUENCE = 0,
	NAK_INVALID_REQUEST = 1,
	NAK_REMOTE_ACCESS = 2,
	NAK_REMOTE_OPERATION = 3,
	NAK_INVALID_RD = 4,
};

/**
 * struct wire_pkt - a packet taken apart, all values in host order
 * @vl: virtual lane
 * @lver: link version, 0
 * @sl: service level
 * @lnh: link next header, WIRE_LNH_*
 * @dlid: destination LID
 * @words: packet length in 32-bit words from the LRH to before the variant CRC
 * @slid: source LID
 * @ipver: GRH: 6
 * @tclass: GRH
 * @flow: GRH
 * @paylen: GRH: bytes from behind the GRH to the end of the invariant CRC
 * @nxthdr: GRH: WIRE_NXTHDR_IBA
 * @hoplmt: GRH
 * @sgid: GRH
 * @dgid: GRH
 * @opcode: BTH: service << 5 | operation
 * @se: BTH: solicited event
 * @migreq: BTH: migration state
 * @pad: BTH: pad bytes behind the payload, 0 to 3
 * @tver: BTH: 0
 * @pkey: BTH
 * @dqpn: BTH: destination QPN
 * @ackreq: BTH: acknowledge request
 * @psn: BTH
 * @xsrqn: XRCETH: SRQN of the target
 * @qkey: DETH
 * @sqpn: DETH: source QPN
 * @va: RETH, AtomicETH
 * @rkey: RETH, AtomicETH
 * @dmalen: RETH
 * @swap: AtomicETH: swap or add operand
 * @cmp: AtomicETH
 * @swap_mask: masked atomics
 * @cmp_mask: masked atomics
 * @syndrome: AETH
 * @msn: AETH
 * @orig: AtomicAckETH
 * @imm: ImmDt
 * @ieth: IETH: key to invalidate
 * @info: WOP_* of the opcode
 * @hdr: bytes of all headers
 * @len: bytes of payload, pad not counted
 */
struct wire_pkt {
	u8 vl, lver, sl, lnh;
	u16 dlid, words, slid;
	u8 ipver, tclass, nxthdr, hoplmt;
	u32 flow;
	u16 paylen;
	u8 sgid[16], dgid[16];
	u8 opcode, se, migreq, pad, tver, ackreq;
	u16 pkey;
	u32 dqpn, psn;
	u32 xsrqn;
	u32 qkey, sqpn;
	u64 va;
	u32 rkey, dmalen;
	u64 swap, cmp, swap_mask, cmp_mask;
	u8 syndrome;
	u32 msn;
	u64 orig;
	u32 imm, ieth;
	u16 info;
	u16 hdr;
	u32 len;
};

static inline enum wire_service wire_service(u8 opcode)
{
	return opcode >> 5;
}

static inline enum wire_op wire_op(u8 opcode)
{
	return opcode & 0x1f;
}

static inline u32 psn_add(u32 psn, u32 n)
{
	return (psn + n) & WIRE_PSN_MASK;
}

/* Signed distance from @b to @a in the 24-bit circle of packet sequence numbers. */
static inline s32 psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

enum wire_error {
	WIRE_OK = 0,
	WIRE_SHORT = -1,	/* ends inside a header, or length fields disagree */
	WIRE_RAW = -2,		/* no transport header: only the LRH was read */
	WIRE_BAD_HEADER = -3,	/* a version, next header or pad count that cannot be */
	WIRE_BAD_OPCODE = -4,	/* transport headers up to the BTH were read */
};

extern const struct layout wire_lrh_layout, wire_grh_layout, wire_bth_layout;
extern const struct layout wire_deth_layout, wire_reth_layout, wire_aeth_layout;
extern const struct layout wire_imm_layout, wire_ieth_layout, wire_xrceth_layout;
extern const struct layout wire_atomic_layout, wire_masked_layout, wire_atomicack_layout;

u16 wire_opcode_info(u8 opcode);
enum wire_error wire_parse(const u8 *pkt, u32 len, struct wire_pkt *w);
u32 wire_header_len(const struct wire_pkt *w);
u32 wire_build(u8 *pkt, struct wire_pkt *w);

#endif
