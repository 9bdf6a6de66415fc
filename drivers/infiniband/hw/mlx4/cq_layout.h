/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What completion queues and address vectors look like to the hardware.  See fields.h.
 */
#ifndef MLX4_CQ_LAYOUT_H
#define MLX4_CQ_LAYOUT_H

#include "fields.h"

/* CQ context */
#define MLX4_CQC_LOG_SIZE	MLX4_BITS(0x0c, MLX4_W32, 28, 24)
#define MLX4_CQC_UAR		MLX4_BITS(0x0c, MLX4_W32, 23, 0)
#define MLX4_CQC_PERIOD		MLX4_U16(0x10)	/* moderation, in microseconds */
#define MLX4_CQC_COUNT		MLX4_U16(0x12)	/* moderation, in completions */
#define MLX4_CQC_EQN		MLX4_U8(0x17)
#define MLX4_CQC_LOG_PAGE	MLX4_U8(0x18)	/* minus 12 */
#define MLX4_CQC_MTT_HI		MLX4_U8(0x1b)
#define MLX4_CQC_MTT_LO		MLX4_U32(0x1c)
#define MLX4_CQC_RECORD		MLX4_U64(0x38)

/* Opcode modifiers */
#define MLX4_MODIFY_CQ_RESIZE	0
#define MLX4_MODIFY_CQ_RATE	1
#define MLX4_HW2SW_CQ_DISCARD	1	/* nobody wants to see the context */

/* Doorbell of a CQ in its UAR page, and word 1 of its record: command, then CQN or index */
#define MLX4_UAR_CQ_DB		0x20
#define MLX4_CQ_DB_SN		GENMASK(29, 28)
#define MLX4_CQ_DB_SOLICITED	BIT(24)
#define MLX4_CQ_DB_ANY		BIT(25)
#define MLX4_CQ_INDEX		GENMASK(23, 0)

/* Completion queue entry */
#define MLX4_CQE_SIZE		32
#define MLX4_CQE_QPN		MLX4_BITS(0, MLX4_W32, 23, 0)
#define MLX4_CQE_IMM		MLX4_U32(4)
#define MLX4_CQE_PKEY_INDEX	MLX4_BITS(4, MLX4_W32, 6, 0)
#define MLX4_CQE_GRH		MLX4_BIT(8, MLX4_W32, 31)
#define MLX4_CQE_PATH_BITS	MLX4_BITS(8, MLX4_W32, 30, 24)
#define MLX4_CQE_REMOTE		MLX4_BITS(8, MLX4_W32, 23, 0)	/* QPN, or SRQN of XRC */
#define MLX4_CQE_SL		MLX4_BITS(12, MLX4_W16, 15, 12)
#define MLX4_CQE_SLID		MLX4_U16(14)
#define MLX4_CQE_IP_OK		MLX4_BIT(16, MLX4_W16, 12)
#define MLX4_CQE_TCP_UDP	MLX4_BITS(16, MLX4_W16, 11, 10)
#define MLX4_CQE_L4_OK		MLX4_BIT(19, MLX4_W8, 2)
#define MLX4_CQE_BYTES		MLX4_U32(20)
#define MLX4_CQE_COUNTER	MLX4_U16(24)
#define MLX4_CQE_CHECKSUM	MLX4_U16(26)
#define MLX4_CQE_VENDOR		MLX4_U8(26)	/* of an error */
#define MLX4_CQE_SYNDROME	MLX4_U8(27)	/* of an error */
#define MLX4_CQE_OWNER		MLX4_BIT(31, MLX4_W8, 7)
#define MLX4_CQE_IS_SEND	MLX4_BIT(31, MLX4_W8, 6)
#define MLX4_CQE_OPCODE		MLX4_BITS(31, MLX4_W8, 4, 0)

/* Opcodes of completions that are neither a send's nor a receive's */
#define MLX4_CQE_RESIZED	0x16	/* the last entry of a ring that has been replaced */
#define MLX4_CQE_ERROR		0x1e

/* A QP number with this bit is that of an XRC target */
#define MLX4_QPN_XRC		BIT(23)

/* Opcodes of receives */
#define MLX4_RECV_WRITE_IMM	0
#define MLX4_RECV_SEND		1
#define MLX4_RECV_SEND_IMM	2
#define MLX4_RECV_SEND_INVAL	3

/* Opcodes of sends, in completions as in work requests */
#define MLX4_SEND_NOP		0x00
#define MLX4_SEND_SEND_INVAL	0x01
#define MLX4_SEND_WRITE		0x08
#define MLX4_SEND_WRITE_IMM	0x09
#define MLX4_SEND_SEND		0x0a
#define MLX4_SEND_SEND_IMM	0x0b
#define MLX4_SEND_LSO		0x0e
#define MLX4_SEND_READ		0x10
#define MLX4_SEND_CMP_SWAP	0x11
#define MLX4_SEND_FETCH_ADD	0x12
#define MLX4_SEND_BIND_MW	0x18
#define MLX4_SEND_REG_MR	0x19
#define MLX4_SEND_LOCAL_INV	0x1b

/* Address vector */
#define MLX4_AV_SIZE		32
#define MLX4_AV_LOOPBACK	MLX4_BIT(0, MLX4_W32, 31)
#define MLX4_AV_PORT		MLX4_BITS(0, MLX4_W32, 25, 24)
#define MLX4_AV_PD		MLX4_BITS(0, MLX4_W32, 23, 0)
#define MLX4_AV_GRH		MLX4_BIT(5, MLX4_W8, 7)
#define MLX4_AV_PATH_BITS	MLX4_BITS(5, MLX4_W8, 6, 0)
#define MLX4_AV_DLID		MLX4_U16(6)
#define MLX4_AV_GID_INDEX	MLX4_BITS(9, MLX4_W8, 6, 0)
#define MLX4_AV_RATE		MLX4_U8(10)
#define MLX4_AV_HOP_LIMIT	MLX4_U8(11)
#define MLX4_AV_SL		MLX4_BITS(12, MLX4_W32, 31, 28)
#define MLX4_AV_TCLASS		MLX4_BITS(12, MLX4_W32, 27, 20)
#define MLX4_AV_FLOW		MLX4_BITS(12, MLX4_W32, 19, 0)
#define MLX4_AV_DGID		16	/* 16 bytes */

/* A static rate is the user interface's code plus this; 0: as fast as the port. */
#define MLX4_RATE_OFFSET	5

#endif /* MLX4_CQ_LAYOUT_H */
