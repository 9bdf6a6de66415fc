/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layouts of what moves data: contexts of QPs and SRQs, memory protection entries, multicast
 * entries, and the segments that work queue entries are made of.  See fields.h for the notation.
 *
 * Source: the hardware's interface.
 */
#ifndef MLX4_WQ_LAYOUT_H
#define MLX4_WQ_LAYOUT_H

#include "fields.h"

/* BAR 2, in each UAR page: "there is something in the send queue of this QP" */
#define MLX4_UAR_SEND_DB	0x14

/* The mailbox of a QP command: which optional parameters count, then the context */
#define MLX4_QP_OPT_MASK	MLX4_U32(0x00)
#define MLX4_QP_CONTEXT		8

/* Bits of that mask */
#define MLX4_OPT_ALT_PATH	BIT(0)
#define MLX4_OPT_RRE		BIT(1)
#define MLX4_OPT_RAE		BIT(2)
#define MLX4_OPT_RWE		BIT(3)
#define MLX4_OPT_PKEY_INDEX	BIT(4)
#define MLX4_OPT_QKEY		BIT(5)
#define MLX4_OPT_RNR_TIMER	BIT(6)
#define MLX4_OPT_PATH		BIT(7)
#define MLX4_OPT_SRA		BIT(8)
#define MLX4_OPT_RRA		BIT(9)
#define MLX4_OPT_PM_STATE	BIT(10)
#define MLX4_OPT_RETRY		BIT(12)
#define MLX4_OPT_RNR_RETRY	BIT(13)
#define MLX4_OPT_ACK_TIMEOUT	BIT(14)
#define MLX4_OPT_SCHED		BIT(16)

/* QP context */
#define MLX4_QPC_STATE		MLX4_BITS(0x00, MLX4_W32, 31, 28)
#define MLX4_QPC_SERVICE	MLX4_BITS(0x00, MLX4_W32, 23, 16)
#define MLX4_QPC_PM_STATE	MLX4_BITS(0x00, MLX4_W32, 12, 11)
#define MLX4_QPC_PD		MLX4_BITS(0x04, MLX4_W32, 23, 0)
#define MLX4_QPC_MTU		MLX4_BITS(0x08, MLX4_W8, 7, 5)
#define MLX4_QPC_LOG_MSG	MLX4_BITS(0x08, MLX4_W8, 4, 0)
#define MLX4_QPC_RQ_LOG_SIZE	MLX4_BITS(0x09, MLX4_W8, 6, 3)
#define MLX4_QPC_RQ_LOG_STRIDE	MLX4_BITS(0x09, MLX4_W8, 2, 0)	/* minus 4 */
#define MLX4_QPC_SQ_LOG_SIZE	MLX4_BITS(0x0a, MLX4_W8, 6, 3)
#define MLX4_QPC_SQ_LOG_STRIDE	MLX4_BITS(0x0a, MLX4_W8, 2, 0)	/* minus 4 */
#define MLX4_QPC_RESERVED_LKEY	MLX4_BIT(0x0b, MLX4_W8, 4)
#define MLX4_QPC_UAR		MLX4_BITS(0x0c, MLX4_W32, 23, 0)
#define MLX4_QPC_LOCAL_QPN	MLX4_BITS(0x10, MLX4_W32, 23, 0)
#define MLX4_QPC_REMOTE_QPN	MLX4_BITS(0x14, MLX4_W32, 23, 0)
#define MLX4_QPC_PATH		0x18
#define MLX4_QPC_ALT_PATH	0x44
#define MLX4_QPC_ACK_FREQ	MLX4_BITS(0x70, MLX4_W32, 31, 28)
#define MLX4_QPC_SRA_MAX	MLX4_BITS(0x70, MLX4_W32, 23, 21)	/* log2 */
#define MLX4_QPC_RETRY		MLX4_BITS(0x70, MLX4_W32, 18, 16)
#define MLX4_QPC_RNR_RETRY	MLX4_BITS(0x70, MLX4_W32, 15, 13)
#define MLX4_QPC_FAST_REG	MLX4_BIT(0x70, MLX4_W32, 11)
#define MLX4_QPC_SEND_PSN	MLX4_BITS(0x78, MLX4_W32, 23, 0)
#define MLX4_QPC_SEND_CQN	MLX4_BITS(0x7c, MLX4_W32, 23, 0)
#define MLX4_QPC_RRA_MAX	MLX4_BITS(0x90, MLX4_W32, 23, 21)	/* log2 */
#define MLX4_QPC_RRE		MLX4_BIT(0x90, MLX4_W32, 15)
#define MLX4_QPC_RWE		MLX4_BIT(0x90, MLX4_W32, 14)
#define MLX4_QPC_RAE		MLX4_BIT(0x90, MLX4_W32, 13)
#define MLX4_QPC_NO_CREDIT	MLX4_BIT(0x90, MLX4_W32, 4)
#define MLX4_QPC_RNR_TIMER	MLX4_BITS(0x94, MLX4_W32, 28, 24)
#define MLX4_QPC_RECV_PSN	MLX4_BITS(0x94, MLX4_W32, 23, 0)
#define MLX4_QPC_XRCD		MLX4_BITS(0x98, MLX4_W32, 15, 0)
#define MLX4_QPC_RECV_CQN	MLX4_BITS(0x9c, MLX4_W32, 23, 0)
#define MLX4_QPC_RQ_RECORD	MLX4_U64(0xa0)
#define MLX4_QPC_QKEY		MLX4_U32(0xa8)
#define MLX4_QPC_SRQ		MLX4_BIT(0xac, MLX4_W32, 24)
#define MLX4_QPC_SRQN		MLX4_BITS(0xac, MLX4_W32, 23, 0)
#define MLX4_QPC_LOG_PAGE	MLX4_BITS(0xc8, MLX4_W8, 5, 0)	/* minus 12 */
#define MLX4_QPC_MTT_HI		MLX4_U8(0xcb)
#define MLX4_QPC_MTT_LO		MLX4_U32(0xcc)

/* A path in a QP context, at MLX4_QPC_PATH or MLX4_QPC_ALT_PATH */
#define MLX4_PATH_SIZE		44
#define MLX4_PATH_PKEY_INDEX	MLX4_BITS(3, MLX4_W8, 6, 0)
#define MLX4_PATH_COUNTER	MLX4_U8(4)
#define MLX4_PATH_GRH		MLX4_BIT(5, MLX4_W8, 7)
#define MLX4_PATH_BITS		MLX4_BITS(5, MLX4_W8, 6, 0)
#define MLX4_PATH_DLID		MLX4_U16(6)
#define MLX4_PATH_ACK_TIMEOUT	MLX4_BITS(8, MLX4_W8, 7, 3)
#define MLX4_PATH_SGID_INDEX	MLX4_BITS(9, MLX4_W8, 6, 0)
#define MLX4_PATH_RATE		MLX4_U8(10)	/* plus MLX4_RATE_OFFSET, or 0 */
#define MLX4_PATH_HOP_LIMIT	MLX4_U8(11)
#define MLX4_PATH_TCLASS	MLX4_BITS(12, MLX4_W32, 27, 20)
#define MLX4_PATH_FLOW		MLX4_BITS(12, MLX4_W32, 19, 0)
#define MLX4_PATH_DGID		16
#define MLX4_PATH_SCHED		MLX4_U8(32)
#define MLX4_SCHED_DEFAULT	0x83
#define MLX4_SCHED_QP0		0x3f
#define MLX4_SCHED_PORT		BIT(6)
#define MLX4_SCHED_SL_SHIFT	2
#define MLX4_RATE_OFFSET	5
#define MLX4_COUNTER_NONE	0xff

/* Services and states of a QP */
#define MLX4_SERVICE_RC		0
#define MLX4_SERVICE_UC		1
#define MLX4_SERVICE_UD		3
#define MLX4_SERVICE_XRC	6
#define MLX4_SERVICE_MLX	7
#define MLX4_STATE_RESET	0
#define MLX4_STATE_INIT		1
#define MLX4_STATE_RTR		2
#define MLX4_STATE_RTS		3
#define MLX4_STATE_SQE		4
#define MLX4_STATE_SQD		5
#define MLX4_STATE_ERR		6
#define MLX4_STATE_DRAINING	7
#define MLX4_PM_ARMED		0
#define MLX4_PM_REARM		1
#define MLX4_PM_MIGRATED	3
#define MLX4_2RST_DESTROY	2		/* opcode modifier */
#define MLX4_SQD_EVENT		BIT(31)		/* input modifier: tell when drained */

/* SRQ context */
#define MLX4_SRQC_LOG_SIZE	MLX4_BITS(0x00, MLX4_W32, 27, 24)
#define MLX4_SRQC_SRQN		MLX4_BITS(0x00, MLX4_W32, 23, 0)
#define MLX4_SRQC_LOG_STRIDE	MLX4_BITS(0x04, MLX4_W8, 2, 0)	/* minus 4 */
#define MLX4_SRQC_XRCD		MLX4_U16(0x06)
#define MLX4_SRQC_CQN		MLX4_BITS(0x08, MLX4_W32, 23, 0)
#define MLX4_SRQC_LOG_PAGE	MLX4_BITS(0x10, MLX4_W8, 5, 0)	/* minus 12 */
#define MLX4_SRQC_MTT_HI	MLX4_U8(0x13)
#define MLX4_SRQC_MTT_LO	MLX4_U32(0x14)
#define MLX4_SRQC_PD		MLX4_BITS(0x18, MLX4_W32, 23, 0)
#define MLX4_SRQC_LIMIT		MLX4_U16(0x1c)
#define MLX4_SRQC_RECORD	MLX4_U64(0x28)

/* Memory protection entry */
#define MLX4_MPT_STATUS		MLX4_BITS(0x00, MLX4_W32, 31, 28)
#define MLX4_MPT_SOFTWARE	0xf
#define MLX4_MPT_FREE		0x3
#define MLX4_MPT_MIO		MLX4_BIT(0x00, MLX4_W32, 17)
#define MLX4_MPT_ACCESS		MLX4_BITS(0x00, MLX4_W32, 15, 10)
#define MLX4_MPT_PHYSICAL	MLX4_BIT(0x00, MLX4_W32, 9)
#define MLX4_MPT_REGION		MLX4_BIT(0x00, MLX4_W32, 8)
#define MLX4_MPT_BOUND_TO_QP	MLX4_BIT(0x04, MLX4_W32, 7)
#define MLX4_MPT_KEY		MLX4_U32(0x08)
#define MLX4_MPT_PD		MLX4_BITS(0x0c, MLX4_W32, 16, 0)
#define MLX4_MPT_FAST_REG	MLX4_BIT(0x0c, MLX4_W32, 27)
#define MLX4_MPT_RAE		MLX4_BIT(0x0c, MLX4_W32, 28)
#define MLX4_MPT_INVALIDATE	MLX4_BITS(0x0c, MLX4_W32, 25, 24)
#define MLX4_MPT_START		MLX4_U64(0x10)
#define MLX4_MPT_LENGTH		MLX4_U64(0x18)
#define MLX4_MPT_MTT		MLX4_U64(0x2c)
#define MLX4_MPT_MTT_SIZE	MLX4_U32(0x34)
#define MLX4_MPT_LOG_PAGE	MLX4_U32(0x38)

/* Access rights: as numbers of the field above, and as bits of a word in a WQE */
#define MLX4_ACCESS_LOCAL_READ		BIT(0)
#define MLX4_ACCESS_LOCAL_WRITE		BIT(1)
#define MLX4_ACCESS_REMOTE_READ		BIT(2)
#define MLX4_ACCESS_REMOTE_WRITE	BIT(3)
#define MLX4_ACCESS_ATOMIC		BIT(4)
#define MLX4_ACCESS_BIND		BIT(5)

/* Multicast entry */
#define MLX4_MCG_NEXT		MLX4_BITS(0x00, MLX4_W32, 31, 6)	/* index; 0: none */
#define MLX4_MCG_MEMBERS	MLX4_BITS(0x04, MLX4_W32, 23, 0)
#define MLX4_MCG_GID		16
#define MLX4_MCG_LIST		32	/* a word for each member */
#define MLX4_MCG_QPN		MLX4_BITS(0, MLX4_W32, 23, 0)
#define MLX4_MCG_NO_LOOPBACK	MLX4_BIT(0, MLX4_W32, 30)

/* Control segment of a send WQE */
#define MLX4_WQE_SEG		16
#define MLX4_WQE_BLOCK		64	/* what the hardware fetches at a time */
#define MLX4_WQE_STAMP		0xffffffff
#define MLX4_CTRL_OWNER		MLX4_BIT(0, MLX4_W32, 31)
#define MLX4_CTRL_BIG_LSO	MLX4_BIT(0, MLX4_W32, 6)
#define MLX4_CTRL_OPCODE	MLX4_BITS(0, MLX4_W32, 4, 0)
#define MLX4_CTRL_FENCE		MLX4_BIT(4, MLX4_W32, 6)
#define MLX4_CTRL_SIZE		MLX4_BITS(4, MLX4_W32, 5, 0)	/* in segments */
#define MLX4_CTRL_XRC_SRQN	MLX4_BITS(8, MLX4_W32, 31, 8)
#define MLX4_CTRL_STRONG_ORDER	MLX4_BIT(8, MLX4_W32, 7)
#define MLX4_CTRL_L4_CSUM	MLX4_BIT(8, MLX4_W32, 5)
#define MLX4_CTRL_IP_CSUM	MLX4_BIT(8, MLX4_W32, 4)
#define MLX4_CTRL_CQ_UPDATE	MLX4_BITS(8, MLX4_W32, 3, 2)
#define MLX4_CQ_ALWAYS		3	/* else only for errors */
#define MLX4_CTRL_SOLICITED	MLX4_BIT(8, MLX4_W32, 1)
#define MLX4_CTRL_IMM		MLX4_U32(12)

/* The same segment of QP0 and QP1 */
#define MLX4_MLX_VL15		MLX4_BIT(8, MLX4_W32, 17)
#define MLX4_MLX_SLR		MLX4_BIT(8, MLX4_W32, 16)	/* source LID 0xffff */
#define MLX4_MLX_RATE		MLX4_BITS(8, MLX4_W32, 15, 12)
#define MLX4_MLX_SL		MLX4_BITS(8, MLX4_W32, 11, 8)
#define MLX4_MLX_DLID		MLX4_U16(12)

#define MLX4_WQE_NOP		0x00
#define MLX4_WQE_SEND_INVAL	0x01
#define MLX4_WQE_WRITE		0x08
#define MLX4_WQE_WRITE_IMM	0x09
#define MLX4_WQE_SEND		0x0a
#define MLX4_WQE_SEND_IMM	0x0b
#define MLX4_WQE_LSO		0x0e
#define MLX4_WQE_READ		0x10
#define MLX4_WQE_CMP_SWAP	0x11
#define MLX4_WQE_FETCH_ADD	0x12
#define MLX4_WQE_BIND_MW	0x18
#define MLX4_WQE_FAST_REG	0x19
#define MLX4_WQE_LOCAL_INV	0x1b

/* Datagram segment: 32 bytes of address vector, then */
#define MLX4_UD_SIZE		48
#define MLX4_UD_AV_SIZE		32
#define MLX4_UD_QPN		MLX4_BITS(32, MLX4_W32, 23, 0)
#define MLX4_UD_QKEY		MLX4_U32(36)

/* Remote address and atomics */
#define MLX4_RADDR_VA		MLX4_U64(0)
#define MLX4_RADDR_RKEY		MLX4_U32(8)
#define MLX4_ATOMIC_SWAP_ADD	MLX4_U64(0)
#define MLX4_ATOMIC_COMPARE	MLX4_U64(8)

/* Data, by reference or inline */
#define MLX4_DATA_BYTES		MLX4_U32(0)
#define MLX4_DATA_LKEY		MLX4_U32(4)
#define MLX4_DATA_VA		MLX4_U64(8)
#define MLX4_INLINE		BIT(31)
#define MLX4_INLINE_HEADER	4
#define MLX4_INVALID_LKEY	0x100

/* LSO: the header of each packet follows */
#define MLX4_LSO_MSS		MLX4_BITS(0, MLX4_W32, 31, 16)
#define MLX4_LSO_HEADER		MLX4_BITS(0, MLX4_W32, 10, 0)

/* Fast registration, invalidation, window bind */
#define MLX4_REG_SIZE		48
#define MLX4_REG_ACCESS		MLX4_BITS(0, MLX4_W32, 31, 27)
#define MLX4_REG_KEY		MLX4_U32(4)
#define MLX4_REG_LIST		MLX4_U64(8)
#define MLX4_REG_START		MLX4_U64(16)
#define MLX4_REG_LENGTH		MLX4_U64(24)
#define MLX4_REG_LOG_PAGE	MLX4_U32(36)
#define MLX4_INVAL_SIZE		32
#define MLX4_INVAL_KEY		MLX4_U32(8)
#define MLX4_BIND_SIZE		32
#define MLX4_BIND_ACCESS	MLX4_BITS(0, MLX4_W32, 31, 27)
#define MLX4_BIND_TYPE2		MLX4_BIT(4, MLX4_W32, 31)
#define MLX4_BIND_RKEY		MLX4_U32(8)
#define MLX4_BIND_LKEY		MLX4_U32(12)
#define MLX4_BIND_ADDR		MLX4_U64(16)
#define MLX4_BIND_LENGTH	MLX4_U64(24)

/* First segment of a receive in an SRQ */
#define MLX4_SRQ_NEXT		MLX4_U16(2)

#endif /* MLX4_WQ_LAYOUT_H */
