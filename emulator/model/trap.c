// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traps of an HCA port (IB specification volume 1, 13.4.8 and 14.3.4): a bad M_Key, P_Key or Q_Key,
 * and a changed capability mask.
 *
 * The device does not send them itself. It puts a MAD into QP0's receive queue as if it had come
 * from LID 0; software that finds one there sends it to the subnet manager. One of a kind is told
 * in each subnet timeout, and not again: there is no repetition to repress.
 */
#include "port.h"
#include "xport.h"

#define CAP_TRAPS 0x00000008u
#define METHOD_TRAP 0x05
#define ATTR_NOTICE 0x02

/* Notice: byte offsets in the attribute; details begin at 10. */
#define N_TYPE 0
#define N_PRODUCER 1
#define N_NUMBER 4
#define N_ISSUER 6
#define N_DETAILS 10
#define N_GENERIC 0x80
#define TYPE_SECURITY 2
#define TYPE_INFO 4
#define PRODUCER_CA 1

/* A received UD packet whose payload is the MAD at @mad, for QP0. */
static void deliver(struct cx3_port *p, const u8 *mad)
{
	struct wire_pkt w = {
		.vl = WIRE_VL_SMP, .lnh = WIRE_LNH_IBA, .opcode = WIRE_UD << 5 | OP_SEND_ONLY,
		.dlid = p->lid, .pkey = 0xffff, .len = MAD_BYTES,
	};
	struct cx3_qp *qp0;

	if (!p->hca->special_base)
		return;
	qp0 = qp_find(p->hca, p->hca->special_base + p->num - 1u);
	if (qp0 && qp_receives(qp0))
		ud_receive(qp0, &w, mad, 0);
}

/* May this trap be told now? If so the next of its kind has to wait. */
static bool may_tell(struct cx3_port *p, u16 number)
{
	struct cx3_port_sma *s = p->sma;
	u64 *next = &s->trap_next[number == TRAP_CAPABILITY ? 3 : number - TRAP_BAD_MKEY];

	if (!p->lid || !p->sm_lid || p->state < CX3_PORT_INIT || !(p->cap_mask & CAP_TRAPS))
		return false;
	if (cx3_now(p->hca) < *next)
		return false;
	*next = cx3_now(p->hca) + (4096ull << s->subnet_timeout);
	return true;
}

static void tell(struct cx3_port *p, u8 type, u16 number, const u8 *details)
{
	u8 *mad = cx3_alloc(p->hca, MAD_BYTES);
	u8 *n = mad + MAD_DATA;

	if (!mad)
		return;
	mad[0] = 1;
	mad[MAD_CLASS] = MAD_CLASS_SMP;
	mad[2] = 1;
	mad[MAD_METHOD] = METHOD_TRAP;
	put64(mad + 8, ++p->sma->trap_tid);
	put16(mad + MAD_ATTR, ATTR_NOTICE);
	n[N_TYPE] = N_GENERIC | type;
	put24(n + N_PRODUCER, PRODUCER_CA);
	put16(n + N_NUMBER, number);
	put16(n + N_ISSUER, p->lid);
	memcpy(n + N_DETAILS, details, TRAP_DETAILS);
	deliver(p, mad);
	cx3_free(p->hca, mad);
}

/**
 * cx3_trap_bad_key - a packet came with a P_Key or Q_Key that does not fit
 * @p: port
 * @number: TRAP_BAD_PKEY or TRAP_BAD_QKEY
 * @pkt: the packet
 * @len: its length
 */
void cx3_trap_bad_key(struct cx3_port *p, u16 number, const u8 *pkt, u32 len)
{
	u8 d[TRAP_DETAILS] = { 0 };
	struct wire_pkt w;

	if (wire_parse(pkt, len, &w) != WIRE_OK || !may_tell(p, number))
		return;
	put16(d + 2, w.slid);
	put16(d + 4, w.dlid);
	put32(d + 6, number == TRAP_BAD_PKEY ? w.pkey : w.qkey);
	d[10] = (u8)(w.sl << 4);
	put24(d + 11, wire_service(w.opcode) == WIRE_UD ? w.sqpn : 0);
	put24(d + 15, w.dqpn);
	if (w.lnh == WIRE_LNH_GRH) {
		memcpy(d + 18, w.sgid, sizeof(w.sgid));
		memcpy(d + 34, w.dgid, sizeof(w.dgid));
	}
	tell(p, TYPE_SECURITY, number, d);
}

/**
 * cx3_trap_bad_mkey - an SMP came with an M_Key that does not fit
 * @p: port
 * @mad: the SMP
 * @slid: who sent it
 */
void cx3_trap_bad_mkey(struct cx3_port *p, const u8 *mad, u16 slid)
{
	u8 d[TRAP_DETAILS] = { 0 };

	if (!may_tell(p, TRAP_BAD_MKEY))
		return;
	put16(d + 2, slid);
	d[6] = mad[MAD_METHOD];
	put16(d + 8, get16(mad + MAD_ATTR));
	put32(d + 10, get32(mad + MAD_MOD));
	put64(d + 14, get64(mad + SMP_MKEY));
	tell(p, TYPE_SECURITY, TRAP_BAD_MKEY, d);
}

/**
 * cx3_trap_capability - software changed the capability mask of a port
 * @p: port, with the new mask
 */
void cx3_trap_capability(struct cx3_port *p)
{
	u8 d[TRAP_DETAILS] = { 0 };

	if (!may_tell(p, TRAP_CAPABILITY))
		return;
	put16(d + 2, p->lid);
	put32(d + 6, p->cap_mask);
	tell(p, TYPE_INFO, TRAP_CAPABILITY, d);
}
