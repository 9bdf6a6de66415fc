/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Management datagrams on the wire (IBA 13, 14, 15.2, 16): tables of fields in the notation of
 * <ib/fields.h>, and the numbers that go into them.  Offsets are in bytes from the begin of the
 * MAD.  Read with ib_get(mad, IB_MAD_...), written with ib_put().
 */
#ifndef IB_MAD_DEFS_H
#define IB_MAD_DEFS_H

#include <ib/fields.h>

/* The header of every MAD (IBA 13.4.2). */
#define IB_MAD_HEADER		24
#define IB_MAD_BASE		IB_U8(0)
#define IB_MAD_CLASS		IB_U8(1)
#define IB_MAD_CLASS_VERSION	IB_U8(2)
#define IB_MAD_METHOD		IB_U8(3)
#define IB_MAD_RESPONSE		IB_BIT(3, IB_W8, 7)	/* the response bit of the method */
#define IB_MAD_STATUS		IB_U16(4)		/* all bits, as received */
#define IB_MAD_TID		IB_U64(8)
#define IB_MAD_TID_HI		IB_U32(8)		/* whose request it is */
#define IB_MAD_TID_LO		IB_U32(12)
#define IB_MAD_ATTRIBUTE	IB_U16(16)
#define IB_MAD_MODIFIER		IB_U32(20)
#define IB_MAD_DATA		64		/* of classes without a header of their own */

#define IB_MAD_BASE_1		1

/* Classes (IBA 13.4.4). */
#define IB_CLASS_SMP		0x01	/* subnet management, by LID */
#define IB_CLASS_SMP_DR		0x81	/* subnet management, by directed route */
#define IB_CLASS_SA		0x03
#define IB_CLASS_PERF		0x04
#define IB_CLASS_BM		0x05
#define IB_CLASS_DM		0x06
#define IB_CLASS_CM		0x07
#define IB_CLASS_SNMP		0x08
#define IB_CLASS_VENDOR1	0x09	/* ... 0x0f: vendors, without an OUI */
#define IB_CLASS_VENDOR1_END	0x0f
#define IB_CLASS_DEV_ADMIN	0x10
#define IB_CLASS_BIS		0x12
#define IB_CLASS_CC		0x21
#define IB_CLASS_VENDOR2	0x30	/* ... 0x4f: vendors, with an OUI */
#define IB_CLASS_VENDOR2_END	0x4f

/* Methods (IBA 13.4.5); those of a response have bit 7. */
#define IB_METHOD_GET		0x01
#define IB_METHOD_SET		0x02
#define IB_METHOD_SEND		0x03
#define IB_METHOD_TRAP		0x05
#define IB_METHOD_REPORT	0x06
#define IB_METHOD_TRAP_REPRESS	0x07
#define IB_METHOD_GET_TABLE	0x12
#define IB_METHOD_GET_TRACE	0x13
#define IB_METHOD_GET_MULTI	0x14
#define IB_METHOD_DELETE	0x15
#define IB_METHOD_RESPONSE	0x80
#define IB_METHOD_GET_RESP	0x81
#define IB_METHODS		128	/* without the response bit */

/* Status (IBA 13.4.7): two flags, a code, and the class's own bits above. */
#define IB_STATUS_BUSY		0x0001
#define IB_STATUS_REDIRECT	0x0002
#define IB_STATUS_BAD_VERSION	0x0004
#define IB_STATUS_BAD_METHOD	0x0008
#define IB_STATUS_BAD_METHOD_ATTRIBUTE	0x000c
#define IB_STATUS_BAD_VALUE	0x001c
#define IB_STATUS_SMP_D		0x8000	/* directed route: on the way back */

/* Attributes that the core itself looks at (IBA 13.4.8, 14.2.5). */
#define IB_ATTR_CLASS_PORT_INFO	0x0001
#define IB_ATTR_NOTICE		0x0002
#define IB_ATTR_NODE_DESC	0x0010
#define IB_ATTR_NODE_INFO	0x0011
#define IB_ATTR_GUID_INFO	0x0014
#define IB_ATTR_PORT_INFO	0x0015
#define IB_ATTR_PKEY_TABLE	0x0016
#define IB_ATTR_SL_TO_VL	0x0017
#define IB_ATTR_VL_ARB		0x0018
#define IB_ATTR_SM_INFO		0x0020

/* SMPs (IBA 14.2.1); the upper part of the status of a directed route is D. */
#define IB_SMP_D		IB_BIT(4, IB_W16, 15)
#define IB_SMP_HOP_POINTER	IB_U8(6)
#define IB_SMP_HOP_COUNT	IB_U8(7)
#define IB_SMP_MKEY		IB_U64(24)
#define IB_SMP_DR_SLID		IB_U16(32)
#define IB_SMP_DR_DLID		IB_U16(34)
#define IB_SMP_DATA		64
#define IB_SMP_DATA_SIZE	64
#define IB_SMP_INITIAL_PATH	128	/* bytes, one for a hop; entry 0 is not used */
#define IB_SMP_RETURN_PATH	192
#define IB_SMP_HOPS		64
#define IB_LID_PERMISSIVE	0xffff

/* PortInfo (IBA 14.2.5.6), as far as the core follows it; offsets in the MAD. */
#define IB_PORT_INFO_PREFIX	IB_U64(IB_SMP_DATA + 8)
#define IB_PORT_INFO_LID	IB_U16(IB_SMP_DATA + 16)
#define IB_PORT_INFO_SM_LID	IB_U16(IB_SMP_DATA + 18)
#define IB_PORT_INFO_STATE	IB_BITS(IB_SMP_DATA + 32, IB_W8, 3, 0)
#define IB_PORT_INFO_LMC	IB_BITS(IB_SMP_DATA + 34, IB_W8, 2, 0)
#define IB_PORT_INFO_SM_SL	IB_BITS(IB_SMP_DATA + 36, IB_W8, 3, 0)
#define IB_PORT_INFO_REREGISTER	IB_BIT(IB_SMP_DATA + 51, IB_W8, 7)

/* RMPP (IBA 13.6.2). */
#define IB_RMPP_VERSION		IB_U8(24)
#define IB_RMPP_TYPE		IB_U8(25)
#define IB_RMPP_RESP_TIME	IB_BITS(26, IB_W8, 7, 3)
#define IB_RMPP_FLAGS		IB_BITS(26, IB_W8, 2, 0)
#define IB_RMPP_STATUS		IB_U8(27)
#define IB_RMPP_SEGMENT		IB_U32(28)
#define IB_RMPP_LENGTH		IB_U32(32)	/* DATA: payload length */
#define IB_RMPP_WINDOW		IB_U32(32)	/* ACK: last segment that may be sent */
#define IB_RMPP_HEADER		36		/* bytes until the payload begins */
#define IB_RMPP_PAYLOAD		220		/* bytes of payload in a MAD */
#define IB_RMPP_VERSION_1	1

#define IB_RMPP_DATA		1
#define IB_RMPP_ACK		2
#define IB_RMPP_STOP		3
#define IB_RMPP_ABORT		4

#define IB_RMPP_ACTIVE		1
#define IB_RMPP_FIRST		2
#define IB_RMPP_LAST		4
#define IB_RMPP_NO_RESP_TIME	0x1f

/* Why a transaction ends early; STOP has the first, ABORT the others. */
#define IB_RMPP_NORMAL		0
#define IB_RMPP_RESX		1	/* resources exhausted */
#define IB_RMPP_ABORT_MIN	118
#define IB_RMPP_T2L		118	/* took too long */
#define IB_RMPP_BAD_LEN		119	/* Last and payload length disagree */
#define IB_RMPP_BAD_SEG		120	/* First and segment number disagree */
#define IB_RMPP_BADT		121	/* no such type */
#define IB_RMPP_W2S		122	/* window before the segment */
#define IB_RMPP_S2B		123	/* segment beyond what was sent */
#define IB_RMPP_BAD_STATUS	124
#define IB_RMPP_UNV		125	/* no such version */
#define IB_RMPP_TMR		126	/* too many retries */
#define IB_RMPP_UNSPEC		127
#define IB_RMPP_ABORT_MAX	127

/* SA (IBA 15.2.1.1). */
#define IB_SA_SM_KEY		IB_U64(36)
#define IB_SA_ATTR_OFFSET	IB_U16(44)	/* bytes of a record, in units of 8 */
#define IB_SA_COMP_MASK		IB_U64(48)
#define IB_SA_DATA		56
#define IB_SA_DATA_SIZE		200

/* Vendor classes with an OUI (IBA 16.5.2). */
#define IB_VENDOR2_OUI		IB_BITS(36, IB_W32, 23, 0)
#define IB_VENDOR2_DATA		40

/* BM: the R bit of the attribute modifier says that it is a response (IBA 16.2.1). */
#define IB_BM_MODIFIER_R	IB_BIT(20, IB_W32, 0)

/* ClassPortInfo (IBA 13.4.8.1); offsets in the attribute's data. */
#define IB_CPI_CAP_MASK		IB_U16(2)
#define IB_CPI_CAP_MASK2	IB_BITS(4, IB_W32, 31, 5)
#define IB_CPI_RESP_TIME	IB_BITS(4, IB_W32, 4, 0)
#define IB_CPI_REDIRECT_GID	8
#define IB_CPI_REDIRECT_TC	IB_U8(24)
#define IB_CPI_REDIRECT_SL	IB_BITS(25, IB_W8, 7, 4)
#define IB_CPI_REDIRECT_FL	IB_BITS(24, IB_W32, 19, 0)
#define IB_CPI_REDIRECT_LID	IB_U16(28)
#define IB_CPI_REDIRECT_PKEY	IB_U16(30)
#define IB_CPI_REDIRECT_QPN	IB_BITS(32, IB_W32, 23, 0)
#define IB_CPI_REDIRECT_QKEY	IB_U32(36)

/* GRH (IBA 8.3), which stands before a received MAD. */
#define IB_GRH_SIZE		40
#define IB_GRH_TCLASS		IB_BITS(0, IB_W32, 27, 20)
#define IB_GRH_FLOW_LABEL	IB_BITS(0, IB_W32, 19, 0)
#define IB_GRH_HOP_LIMIT	IB_U8(7)
#define IB_GRH_SGID		8
#define IB_GRH_DGID		24

/* QP1's Q_Key, and the bit that makes a Q_Key a privileged one (IBA 10.2.5). */
#define IB_QP1_QKEY		0x80010000
#define IB_QKEY_CONTROLLED	0x80000000

/**
 * ib_class_header() - where the data of a class begin
 * @class: the class
 *
 * Return: bytes before the data: the class's own header, for classes that know RMPP; else 64 for
 * SMPs and 24 for the rest.
 */
static inline unsigned int ib_class_header(u8 class)
{
	switch (class) {
	case IB_CLASS_SA:
		return IB_SA_DATA;
	case IB_CLASS_DM:
	case IB_CLASS_DEV_ADMIN:
	case IB_CLASS_BIS:
		return 64;
	case IB_CLASS_VENDOR2 ... IB_CLASS_VENDOR2_END:
		return IB_VENDOR2_DATA;
	default:
		return IB_MAD_HEADER;
	}
}

/**
 * ib_class_has_rmpp() - does a class have an RMPP header?
 * @class: the class
 *
 * Return: yes, if so.
 */
static inline bool ib_class_has_rmpp(u8 class)
{
	return ib_class_header(class) != IB_MAD_HEADER;
}

/**
 * ib_class_is_smp() - does it travel between QP0s?
 * @class: the class
 *
 * Return: yes, if so.
 */
static inline bool ib_class_is_smp(u8 class)
{
	return class == IB_CLASS_SMP || class == IB_CLASS_SMP_DR;
}

/**
 * ib_class_has_oui() - is it a class that several vendors share?
 * @class: the class
 *
 * Return: yes, if so.
 */
static inline bool ib_class_has_oui(u8 class)
{
	return class >= IB_CLASS_VENDOR2 && class <= IB_CLASS_VENDOR2_END;
}

/**
 * ib_mad_is_response() - does a MAD answer another?
 * @mad: at least its header
 *
 * Such a one finds its way by the TID of what it answers.
 *
 * Return: yes, if so (IBA 13.4.5; BM has a bit of its own).
 */
static inline bool ib_mad_is_response(const void *mad)
{
	return ib_get(mad, IB_MAD_RESPONSE) ||
	       ib_get(mad, IB_MAD_METHOD) == IB_METHOD_TRAP_REPRESS ||
	       (ib_get(mad, IB_MAD_CLASS) == IB_CLASS_BM && ib_get(mad, IB_BM_MODIFIER_R));
}

#endif /* IB_MAD_DEFS_H */
