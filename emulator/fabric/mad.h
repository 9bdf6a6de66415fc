/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Management datagrams as the emulator reads them: where each field of a MAD,
 * an SMP and the attributes lies.
 *
 * A field is one constant that holds its first bit (counted from the most
 * significant bit of byte 0, as the specification draws it) and its width, so
 * that a layout is a list of names and nobody shifts or masks by hand.
 * Offsets of attribute fields count from the start of the attribute.
 *
 * Source: InfiniBand Architecture Specification volume 1, chapters 13 (MAD),
 * 14 (subnet management) and 16.1 (performance management).
 */
#ifndef FABRIC_MAD_H
#define FABRIC_MAD_H

#include "../model/types.h"

/* Bit number of the field's first bit, then its width (1 to 64). */
#define MAD_FIELD(byte, bit, width)	(((byte) * 8u + (bit)) << 8 | (width))

/**
 * mad_get() - read a field
 * @base: start of the structure the field belongs to
 * @field: a MAD_FIELD() constant
 *
 * Return: the value, right aligned.
 */
static inline u64 mad_get(const u8 *base, u32 field)
{
	u32 first = field >> 8, width = field & 0xff;
	u32 bit = first, end = first + width;
	u64 v = 0;

	while (bit < end) {
		u32 in_byte = bit & 7, n = 8 - in_byte;

		if (n > end - bit)
			n = end - bit;
		v = v << n | ((base[bit >> 3] >> (8 - in_byte - n)) & ((1u << n) - 1));
		bit += n;
	}
	return v;
}

/**
 * mad_put() - write a field and leave its neighbours alone
 * @base: start of the structure the field belongs to
 * @field: a MAD_FIELD() constant
 * @v: the value; bits above the field's width are dropped
 */
static inline void mad_put(u8 *base, u32 field, u64 v)
{
	u32 first = field >> 8, bit = first + (field & 0xff);

	while (bit > first) {
		u32 last = (bit - 1) & 7, n = last + 1, shift = 7 - last;
		u32 mask;

		if (n > bit - first)
			n = bit - first;
		mask = ((1u << n) - 1) << shift;
		base[(bit - 1) >> 3] = (u8)((base[(bit - 1) >> 3] & ~mask) | ((v << shift) & mask));
		v >>= n;
		bit -= n;
	}
}

enum {
	MAD_SIZE = 256,
	SMP_DATA = 64,			/* attribute of an SMP */
	SMP_DATA_SIZE = 64,
	SMP_INITIAL_PATH = 128,		/* directed route: 64 port numbers each */
	SMP_RETURN_PATH = 192,
	SMP_MAX_HOPS = 64,
	PMA_DATA = 64,			/* attribute of a performance MAD */
	PMA_DATA_SIZE = 192,
	LID_PERMISSIVE = 0xffff,
	LID_FIRST_MULTICAST = 0xc000,
	QKEY_GSI = 0x80010000,
};

/* Common MAD header (13.4.3) and what an SMP adds to it (14.2.1) */
enum {
	MAD_BASE_VERSION = MAD_FIELD(0, 0, 8),
	MAD_CLASS = MAD_FIELD(1, 0, 8),
	MAD_CLASS_VERSION = MAD_FIELD(2, 0, 8),
	MAD_METHOD = MAD_FIELD(3, 0, 8),
	MAD_STATUS = MAD_FIELD(4, 0, 16),
	MAD_TID = MAD_FIELD(8, 0, 64),
	MAD_ATTR_ID = MAD_FIELD(16, 0, 16),
	MAD_ATTR_MOD = MAD_FIELD(20, 0, 32),
	SMP_DIRECTION = MAD_FIELD(4, 0, 1),	/* directed route only */
	SMP_HOP_POINTER = MAD_FIELD(6, 0, 8),
	SMP_HOP_COUNT = MAD_FIELD(7, 0, 8),
	SMP_M_KEY = MAD_FIELD(24, 0, 64),
	SMP_DR_SLID = MAD_FIELD(32, 0, 16),
	SMP_DR_DLID = MAD_FIELD(34, 0, 16),
};

enum {
	CLASS_SMP_LID = 0x01,
	CLASS_SMP_DR = 0x81,
	CLASS_PERF = 0x04,

	METHOD_GET = 0x01,
	METHOD_SET = 0x02,
	METHOD_TRAP = 0x05,
	METHOD_TRAP_REPRESS = 0x07,
	METHOD_GET_RESP = 0x81,

	/* 13.4.7, bits 4:2 of the status */
	MAD_OK = 0x00,
	MAD_BAD_VERSION = 0x04,
	MAD_BAD_METHOD = 0x08,
	MAD_BAD_ATTRIBUTE = 0x0c,
	MAD_BAD_VALUE = 0x1c,

	ATTR_CLASS_PORT_INFO = 0x01,
	ATTR_NOTICE = 0x02,
	ATTR_NODE_DESCRIPTION = 0x10,
	ATTR_NODE_INFO = 0x11,
	ATTR_SWITCH_INFO = 0x12,
	ATTR_GUID_INFO = 0x14,
	ATTR_PORT_INFO = 0x15,
	ATTR_PKEY_TABLE = 0x16,
	ATTR_SL_TO_VL = 0x17,
	ATTR_VL_ARB = 0x18,
	ATTR_LINEAR_FDB = 0x19,
	ATTR_MULTICAST_FDB = 0x1b,
	ATTR_SM_INFO = 0x20,
	ATTR_PERF_COUNTERS = 0x12,
	ATTR_PERF_COUNTERS_EXT = 0x1d,
};

/* NodeInfo (14.2.5.3) */
enum {
	NI_BASE_VERSION = MAD_FIELD(0, 0, 8),
	NI_CLASS_VERSION = MAD_FIELD(1, 0, 8),
	NI_NODE_TYPE = MAD_FIELD(2, 0, 8),	/* 1 channel adapter, 2 switch */
	NI_NUM_PORTS = MAD_FIELD(3, 0, 8),
	NI_SYSTEM_GUID = MAD_FIELD(4, 0, 64),
	NI_NODE_GUID = MAD_FIELD(12, 0, 64),
	NI_PORT_GUID = MAD_FIELD(20, 0, 64),
	NI_PKEY_CAP = MAD_FIELD(28, 0, 16),
	NI_DEVICE_ID = MAD_FIELD(30, 0, 16),
	NI_REVISION = MAD_FIELD(32, 0, 32),
	NI_LOCAL_PORT = MAD_FIELD(36, 0, 8),
	NI_VENDOR_ID = MAD_FIELD(37, 0, 24),
};

/* SwitchInfo (14.2.5.4) */
enum {
	SI_LINEAR_CAP = MAD_FIELD(0, 0, 16),
	SI_RANDOM_CAP = MAD_FIELD(2, 0, 16),
	SI_MULTICAST_CAP = MAD_FIELD(4, 0, 16),
	SI_LINEAR_TOP = MAD_FIELD(6, 0, 16),
	SI_DEFAULT_PORT = MAD_FIELD(8, 0, 8),
	SI_DEFAULT_MC_PRIMARY = MAD_FIELD(9, 0, 8),
	SI_DEFAULT_MC_NOT_PRIMARY = MAD_FIELD(10, 0, 8),
	SI_LIFE_TIME = MAD_FIELD(11, 0, 5),
	SI_PORT_STATE_CHANGE = MAD_FIELD(11, 5, 1),
	SI_LIDS_PER_PORT = MAD_FIELD(12, 0, 16),
	SI_PKEY_ENFORCE_CAP = MAD_FIELD(14, 0, 16),
	SI_ENHANCED_PORT0 = MAD_FIELD(16, 4, 1),
	SI_MULTICAST_TOP = MAD_FIELD(18, 0, 16),
};

/* PortInfo (14.2.5.6) */
enum {
	PI_M_KEY = MAD_FIELD(0, 0, 64),
	PI_GID_PREFIX = MAD_FIELD(8, 0, 64),
	PI_LID = MAD_FIELD(16, 0, 16),
	PI_SM_LID = MAD_FIELD(18, 0, 16),
	PI_CAPABILITY = MAD_FIELD(20, 0, 32),
	PI_M_KEY_LEASE = MAD_FIELD(26, 0, 16),
	PI_LOCAL_PORT = MAD_FIELD(28, 0, 8),
	PI_WIDTH_ENABLED = MAD_FIELD(29, 0, 8),
	PI_WIDTH_SUPPORTED = MAD_FIELD(30, 0, 8),
	PI_WIDTH_ACTIVE = MAD_FIELD(31, 0, 8),
	PI_SPEED_SUPPORTED = MAD_FIELD(32, 0, 4),
	PI_PORT_STATE = MAD_FIELD(32, 4, 4),
	PI_PHYS_STATE = MAD_FIELD(33, 0, 4),
	PI_DOWN_DEFAULT = MAD_FIELD(33, 4, 4),
	PI_M_KEY_PROTECT = MAD_FIELD(34, 0, 2),
	PI_LMC = MAD_FIELD(34, 5, 3),
	PI_SPEED_ACTIVE = MAD_FIELD(35, 0, 4),
	PI_SPEED_ENABLED = MAD_FIELD(35, 4, 4),
	PI_NEIGHBOR_MTU = MAD_FIELD(36, 0, 4),
	PI_SM_SL = MAD_FIELD(36, 4, 4),
	PI_VL_CAP = MAD_FIELD(37, 0, 4),
	PI_INIT_TYPE = MAD_FIELD(37, 4, 4),
	PI_VL_HIGH_LIMIT = MAD_FIELD(38, 0, 8),
	PI_VL_ARB_HIGH_CAP = MAD_FIELD(39, 0, 8),
	PI_VL_ARB_LOW_CAP = MAD_FIELD(40, 0, 8),
	PI_INIT_REPLY = MAD_FIELD(41, 0, 4),
	PI_MTU_CAP = MAD_FIELD(41, 4, 4),
	PI_VL_STALL_COUNT = MAD_FIELD(42, 0, 3),
	PI_HOQ_LIFE = MAD_FIELD(42, 3, 5),
	PI_OPERATIONAL_VLS = MAD_FIELD(43, 0, 4),
	PI_ENFORCEMENT = MAD_FIELD(43, 4, 4),
	PI_M_KEY_VIOLATIONS = MAD_FIELD(44, 0, 16),
	PI_PKEY_VIOLATIONS = MAD_FIELD(46, 0, 16),
	PI_QKEY_VIOLATIONS = MAD_FIELD(48, 0, 16),
	PI_GUID_CAP = MAD_FIELD(50, 0, 8),
	PI_CLIENT_REREGISTER = MAD_FIELD(51, 0, 1),
	PI_SUBNET_TIMEOUT = MAD_FIELD(51, 3, 5),
	PI_RESP_TIME = MAD_FIELD(52, 3, 5),
	PI_PHY_ERRORS = MAD_FIELD(53, 0, 4),
	PI_OVERRUN_ERRORS = MAD_FIELD(53, 4, 4),
	PI_MAX_CREDIT_HINT = MAD_FIELD(54, 0, 16),
	PI_LINK_LATENCY = MAD_FIELD(57, 0, 24),
	PI_CAPABILITY2 = MAD_FIELD(60, 0, 16),
	PI_SPEED_EXT_ACTIVE = MAD_FIELD(62, 0, 4),
	PI_SPEED_EXT_SUPPORTED = MAD_FIELD(62, 4, 4),
	PI_SPEED_EXT_ENABLED = MAD_FIELD(63, 3, 5),
};

enum {
	PORT_NO_CHANGE = 0,
	PORT_DOWN = 1,
	PORT_INIT = 2,
	PORT_ARMED = 3,
	PORT_ACTIVE = 4,

	PHYS_NO_CHANGE = 0,
	PHYS_SLEEP = 1,
	PHYS_POLLING = 2,
	PHYS_DISABLED = 3,
	PHYS_LINK_UP = 5,

	WIDTH_1X = 1,
	WIDTH_4X = 2,
	SPEED_SDR_DDR_QDR = 7,
	SPEED_QDR = 4,
	SPEED_EXT_FDR = 1,
	MTU_2048 = 4,
	MTU_4096 = 5,

	/* PortInfo:CapabilityMask */
	CAP_TRAP = 1 << 3,
	CAP_SL_MAPPING = 1 << 6,
	CAP_SYSTEM_GUID = 1 << 11,
	CAP_EXTENDED_SPEEDS = 1 << 14,
	CAP_CLIENT_REREGISTER = 1 << 25,
	CAP_MULTICAST_TOP = 1 << 30,
};

/* Notice (13.4.8.2) */
enum {
	NOTICE_GENERIC = MAD_FIELD(0, 0, 1),
	NOTICE_TYPE = MAD_FIELD(0, 1, 7),
	NOTICE_PRODUCER = MAD_FIELD(1, 0, 24),
	NOTICE_TRAP = MAD_FIELD(4, 0, 16),
	NOTICE_ISSUER = MAD_FIELD(6, 0, 16),
	NOTICE_LID = MAD_FIELD(10, 0, 16),	/* first detail of trap 128 */

	NOTICE_URGENT = 1,
	TRAP_LINK_STATE = 128,
	NODE_CHANNEL_ADAPTER = 1,
	NODE_SWITCH = 2,
};

/* ClassPortInfo (13.4.8.1) */
enum {
	CPI_BASE_VERSION = MAD_FIELD(0, 0, 8),
	CPI_CLASS_VERSION = MAD_FIELD(1, 0, 8),
	CPI_CAPABILITY = MAD_FIELD(2, 0, 16),
	CPI_RESP_TIME = MAD_FIELD(7, 3, 5),

	PERF_CAP_EXT_WIDTH = 1 << 9,	/* 64-bit counters, multicast among them */
};

/* PortCounters (16.1.3.5) */
enum {
	PC_PORT = MAD_FIELD(1, 0, 8),
	PC_SELECT = MAD_FIELD(2, 0, 16),
	PC_SYMBOL_ERRORS = MAD_FIELD(4, 0, 16),
	PC_LINK_RECOVERY = MAD_FIELD(6, 0, 8),
	PC_LINK_DOWNED = MAD_FIELD(7, 0, 8),
	PC_RCV_ERRORS = MAD_FIELD(8, 0, 16),
	PC_RCV_REMOTE_ERRORS = MAD_FIELD(10, 0, 16),
	PC_RCV_SWITCH_ERRORS = MAD_FIELD(12, 0, 16),
	PC_XMIT_DISCARDS = MAD_FIELD(14, 0, 16),
	PC_XMIT_CONSTRAINT = MAD_FIELD(16, 0, 8),
	PC_RCV_CONSTRAINT = MAD_FIELD(17, 0, 8),
	PC_INTEGRITY = MAD_FIELD(19, 0, 4),
	PC_OVERRUN = MAD_FIELD(19, 4, 4),
	PC_VL15_DROPPED = MAD_FIELD(22, 0, 16),
	PC_XMIT_DATA = MAD_FIELD(24, 0, 32),
	PC_RCV_DATA = MAD_FIELD(28, 0, 32),
	PC_XMIT_PKTS = MAD_FIELD(32, 0, 32),
	PC_RCV_PKTS = MAD_FIELD(36, 0, 32),
	PC_XMIT_WAIT = MAD_FIELD(40, 0, 32),
};

/* PortCountersExtended (16.1.4.11) */
enum {
	PCX_PORT = MAD_FIELD(1, 0, 8),
	PCX_SELECT = MAD_FIELD(2, 0, 16),
	PCX_XMIT_DATA = MAD_FIELD(8, 0, 64),
	PCX_RCV_DATA = MAD_FIELD(16, 0, 64),
	PCX_XMIT_PKTS = MAD_FIELD(24, 0, 64),
	PCX_RCV_PKTS = MAD_FIELD(32, 0, 64),
	PCX_UNICAST_XMIT = MAD_FIELD(40, 0, 64),
	PCX_UNICAST_RCV = MAD_FIELD(48, 0, 64),
	PCX_MULTICAST_XMIT = MAD_FIELD(56, 0, 64),
	PCX_MULTICAST_RCV = MAD_FIELD(64, 0, 64),
};

#endif /* FABRIC_MAD_H */
