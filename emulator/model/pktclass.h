/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classes of packets, for counts and for the fault rules of devices and fabrics.
 */
#ifndef CX3_MODEL_PKTCLASS_H
#define CX3_MODEL_PKTCLASS_H

#include "types.h"

enum cx3_pkt_class {
	CX3_PKT_SMP,		/* VL15 */
	CX3_PKT_GMP,		/* QP1 */
	CX3_PKT_UD,
	CX3_PKT_MCAST,
	CX3_PKT_RC,
	CX3_PKT_RC_ACK,
	CX3_PKT_UC,
	CX3_PKT_XRC,
	CX3_PKT_OTHER,
	CX3_NPKT,
};

/* Their names in rules and counts. */
extern const char *const cx3_pkt_name[CX3_NPKT];

/** cx3_pkt_class() - class of a packet of @len bytes, at least an LRH */
enum cx3_pkt_class cx3_pkt_class(const u8 *pkt, u32 len);
/** cx3_pkt_is_multicast() - is its DLID a multicast one? */
bool cx3_pkt_is_multicast(const u8 *pkt);

#endif
