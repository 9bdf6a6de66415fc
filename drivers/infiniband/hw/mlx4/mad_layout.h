/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Management datagrams as far as the driver looks into them (InfiniBand specification, chapters 13
 * and 14), and what goes around them in the hardware's interface.  See fields.h.
 */
#ifndef MLX4_MAD_LAYOUT_H
#define MLX4_MAD_LAYOUT_H

#include "fields.h"

#define MLX4_MAD_SIZE		256

/* Header of a MAD */
#define MLX4_MAD_BASE_VERSION	MLX4_U8(0)
#define MLX4_MAD_CLASS		MLX4_U8(1)
#define MLX4_MAD_CLASS_VERSION	MLX4_U8(2)
#define MLX4_MAD_METHOD		MLX4_U8(3)
#define MLX4_MAD_STATUS		MLX4_U16(4)
#define MLX4_MAD_ATTRIBUTE	MLX4_U16(16)
#define MLX4_MAD_MODIFIER	MLX4_U32(20)
#define MLX4_SMP_DATA		64
#define MLX4_SMP_DATA_SIZE	64

#define MLX4_CLASS_SMP		0x01	/* LID routed */
#define MLX4_CLASS_SMP_DIRECT	0x81
#define MLX4_CLASS_PERF		0x04
#define MLX4_CLASS_VENDOR_9	0x09
#define MLX4_CLASS_VENDOR_A	0x0a
#define MLX4_CLASS_CONGESTION	0x21
#define MLX4_METHOD_GET		0x01
#define MLX4_METHOD_SET		0x02
#define MLX4_METHOD_REPRESS	0x07
#define MLX4_MAD_STATUS_D	0x8000	/* a response that goes back a directed route */

/* Attributes of subnet management */
#define MLX4_ATTR_NODE_DESC	0x10
#define MLX4_ATTR_NODE_INFO	0x11
#define MLX4_ATTR_GUID_INFO	0x14
#define MLX4_ATTR_PORT_INFO	0x15
#define MLX4_ATTR_PKEY_TABLE	0x16
#define MLX4_ATTR_SL_TO_VL	0x17
#define MLX4_ATTR_SM_INFO	0x20
#define MLX4_ATTR_EXT_PORT_INFO	0xff90	/* the vendor's own */
#define MLX4_GUIDS_PER_MAD	8
#define MLX4_PKEYS_PER_MAD	32

/* NodeInfo, within the attribute */
#define MLX4_NODE_SYS_GUID	4	/* 8 bytes */
#define MLX4_NODE_GUID		12	/* 8 bytes */
#define MLX4_NODE_REVISION	MLX4_U32(32)
#define MLX4_NODE_VENDOR	MLX4_BITS(36, MLX4_W32, 23, 0)

/* PortInfo, within the attribute */
#define MLX4_PI_PREFIX		MLX4_U64(8)
#define MLX4_PI_LID		MLX4_U16(16)
#define MLX4_PI_SM_LID		MLX4_U16(18)
#define MLX4_PI_CAP_MASK	MLX4_U32(20)
#define MLX4_PI_WIDTH		MLX4_U8(31)
#define MLX4_PI_STATE		MLX4_BITS(32, MLX4_W8, 3, 0)
#define MLX4_PI_PHYS_STATE	MLX4_BITS(33, MLX4_W8, 7, 4)
#define MLX4_PI_LMC		MLX4_BITS(34, MLX4_W8, 2, 0)
#define MLX4_PI_SPEED		MLX4_BITS(35, MLX4_W8, 7, 4)
#define MLX4_PI_ACTIVE_MTU	MLX4_BITS(36, MLX4_W8, 7, 4)
#define MLX4_PI_SM_SL		MLX4_BITS(36, MLX4_W8, 3, 0)
#define MLX4_PI_VLS		MLX4_BITS(37, MLX4_W8, 7, 4)
#define MLX4_PI_INIT_REPLY	MLX4_BITS(41, MLX4_W8, 7, 4)
#define MLX4_PI_MAX_MTU		MLX4_BITS(41, MLX4_W8, 3, 0)
#define MLX4_PI_BAD_PKEYS	MLX4_U16(46)
#define MLX4_PI_BAD_QKEYS	MLX4_U16(48)
#define MLX4_PI_REREGISTER	MLX4_BIT(51, MLX4_W8, 7)
#define MLX4_PI_TIMEOUT		MLX4_BITS(51, MLX4_W8, 4, 0)
#define MLX4_PI_CAP_MASK2	MLX4_U16(60)
#define MLX4_PI_EXT_SPEED	MLX4_BITS(62, MLX4_W8, 7, 4)

/* The vendor's PortInfo, within the attribute */
#define MLX4_XPI_FDR10		MLX4_BIT(15, MLX4_W8, 0)

/* MAD_IFC: modifiers, and what stands behind the MAD about how it came */
#define MLX4_MAD_IFC_NO_MKEY	BIT(0)
#define MLX4_MAD_IFC_NO_BKEY	BIT(1)
#define MLX4_MAD_IFC_ORIGIN	BIT(2)
#define MLX4_MAD_IFC_PORT	GENMASK(7, 0)
#define MLX4_MAD_IFC_SLID	GENMASK(31, 16)
#define MLX4_ORIGIN_QPN		MLX4_BITS(0x100, MLX4_W32, 23, 0)
#define MLX4_ORIGIN_REMOTE_QPN	MLX4_BITS(0x108, MLX4_W32, 23, 0)
#define MLX4_ORIGIN_SL		MLX4_BITS(0x10c, MLX4_W8, 7, 4)
#define MLX4_ORIGIN_GRH_FLAG	MLX4_BIT(0x10d, MLX4_W8, 7)
#define MLX4_ORIGIN_PATH_BITS	MLX4_BITS(0x10d, MLX4_W8, 6, 0)
#define MLX4_ORIGIN_PKEY_INDEX	MLX4_U16(0x112)
#define MLX4_ORIGIN_GRH		0x140	/* 40 bytes */
#define MLX4_GRH_SIZE		40

/* An event entry that says that the SM has changed a port */
#define MLX4_PME_PORT		MLX4_U8(7)
#define MLX4_PME_GUID_INFO	0x14
#define MLX4_PME_PORT_INFO	0x15
#define MLX4_PME_PKEY_TABLE	0x16
#define MLX4_PME_SL_TO_VL	0x17
#define MLX4_PME_CHANGED	MLX4_U32(12)
#define MLX4_PME_SM_LID		BIT(0)
#define MLX4_PME_PREFIX		BIT(1)
#define MLX4_PME_LID		BIT(2)
#define MLX4_PME_REREGISTER	BIT(3)
#define MLX4_PME_SM_SL		BIT(4)
#define MLX4_PME_SL2VL		MLX4_U64(8)

/* An event entry that says that a port went up or down: subtypes */
#define MLX4_PORT_WENT_DOWN	1
#define MLX4_PORT_WENT_UP	4

#endif /* MLX4_MAD_LAYOUT_H */
