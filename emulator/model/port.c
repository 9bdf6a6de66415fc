// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports: state machine, tables, packets in and out, and the port commands.
 */
#include "port.h"

#define LRH_BYTES 8u
#define BTH_BYTES 12u
#define VCRC_BYTES 2u
#define MCAST_LID 0xc000u
#define PERMISSIVE_LID 0xffffu
#define MIN_PACKET (LRH_BYTES + BTH_BYTES + 4 + VCRC_BYTES)

struct cx3_port *cx3_port(struct cx3_hca *hca, unsigned int num)
{
	return num >= 1 && num <= hca->cfg.nports ? &hca->port[num - 1] : NULL;
}

bool cx3_port_is_mine(const struct cx3_port *p, u16 dlid)
{
	u16 mask = (u16)((1u << p->lmc) - 1);

	return p->lid && (dlid & ~mask) == (p->lid & ~mask);
}

void cx3_port_gid(const struct cx3_port *p, unsigned int index, u8 *gid)
{
	memset(gid, 0, 16);
	if (index >= p->hca->cfg.gids)
		return;
	put64(gid, p->gid_prefix);
	put64(gid + 8, p->guid[index]);
}

u16 cx3_port_pkey(const struct cx3_port *p, unsigned int index)
{
	return index < p->hca->cfg.pkeys ? p->pkey[index] : 0;
}

int cx3_port_find_pkey(const struct cx3_port *p, u16 pkey)
{
	unsigned int i;

	if (!(pkey & 0x7fff))
		return -1;
	for (i = 0; i < p->hca->cfg.pkeys; i++) {
		/* same partition, and not both limited members (IBA 10.9.3) */
		if (!((p->pkey[i] ^ pkey) & 0x7fff) && ((p->pkey[i] | pkey) & 0x8000))
			return (int)i;
	}
	return -1;
}

u8 cx3_vl_code(unsigned int vls)
{
	return vls >= 15 ? 5 : vls >= 8 ? 4 : vls >= 4 ? 3 : vls >= 2 ? 2 : 1;
}

u8 cx3_port_vl(const struct cx3_port *p, u8 sl)
{
	static const u8 count[] = { 1, 1, 2, 4, 8, 15 };
	u8 vl = sl & 1 ? p->sl2vl[sl / 2 & 7] & 0xf : p->sl2vl[sl / 2 & 7] >> 4;

	return p->vl_op < sizeof(count) && vl < count[p->vl_op] ? vl : 15;
}

static void raise_violations(u16 *counter)
{
	if (*counter != 0xffff)
		++*counter;
}

void cx3_port_bad_pkey(struct cx3_port *p, const u8 *pkt, u32 len)
{
	raise_violations(&p->pkey_violations);
	cx3_trap_bad_key(p, TRAP_BAD_PKEY, pkt, len);
}

void cx3_port_bad_qkey(struct cx3_port *p, const u8 *pkt, u32 len)
{
	raise_violations(&p->qkey_violations);
	cx3_trap_bad_key(p, TRAP_BAD_QKEY, pkt, len);
}

/* -------------------------------------------------------------------- states */

static void port_change_event(struct cx3_port *p, u8 subtype)
{
	u8 data[24] = { 0 };

	put32(data + 8, (u32)p->num << 28);
	cx3_event(p->hca, CX3_EV_PORT_CHANGE, subtype, data);
}

void cx3_port_mgmt_event(struct cx3_port *p, u8 subtype, const u8 *params)
{
	u8 data[24] = { 0 };

	data[3] = p->num;
	memcpy(data + 4, params, 20);
	cx3_event(p->hca, CX3_EV_PORT_MGMT, subtype, data);
}

void cx3_port_set_state(struct cx3_port *p, enum cx3_port_state state)
{
	enum cx3_port_state old = p->state;

	if (old == state)
		return;
	p->state = state;
	if (state == CX3_PORT_ACTIVE)
		port_change_event(p, 4);
	else if (old == CX3_PORT_ACTIVE && state == CX3_PORT_DOWN)
		port_change_event(p, 1);
	cx3_transport_port_change(p);
}

void cx3_port_drive_link(struct cx3_port *p)
{
	link_enable(p->end, p->enabled && !p->sma->disabled && !p->hca->gone);
}

void cx3_port_retrain(struct cx3_port *p)
{
	if (p->link_up)
		p->cnt.link_downed++;
	p->link_up = false;
	cx3_port_set_state(p, CX3_PORT_DOWN);
	link_enable(p->end, false);
	cx3_port_drive_link(p);
}

static void link_state(void *owner, bool up, u8 width, enum link_speed speed)
{
	struct cx3_port *p = owner;

	cx3_enter(p->hca);
	if (p->link_up && !up)
		p->cnt.link_downed++;
	p->link_up = up;
	p->link_width = width;
	p->link_speed = speed;
	cx3_port_set_state(p, up && p->enabled ? CX3_PORT_INIT : CX3_PORT_DOWN);
	cx3_leave(p->hca);
}

/* ------------------------------------------------------------------- packets */

static void count_tx(struct cx3_port *p, const u8 *pkt, u32 len, enum cx3_pkt_class class)
{
	p->cnt.xmit_data += (len - VCRC_BYTES) / 4;
	p->cnt.xmit_pkts++;
	if (cx3_pkt_is_multicast(pkt))
		p->cnt.multi_xmit++;
	else
		p->cnt.uni_xmit++;
	cx3_count(p->hca, CX3_C_TX + class, 1);
}

static void late_tx(struct cx3_hca *hca, u32 num, const void *pkt, u32 len)
{
	link_send(cx3_port(hca, num)->end, pkt, len);
}

enum link_result cx3_port_tx(struct cx3_port *p, const u8 *pkt, u32 len)
{
	bool smp = pkt[0] >> 4 == 15;
	enum cx3_pkt_class class;
	enum link_result res;
	u64 arg = 0;

	if (!p->link_up || (!smp && p->state != CX3_PORT_ACTIVE)) {
		p->cnt.xmit_discards++;
		return LINK_DOWN;
	}
	class = cx3_pkt_class(pkt, len);
	switch (cx3_fault(p->hca, CX3_FP_TX, class, &arg)) {
	case CX3_FA_DROP:
	case CX3_FA_CORRUPT:
		/* lost on the cable; a corrupted one fails the peer's CRC check */
		count_tx(p, pkt, len, class);
		return LINK_OK;
	case CX3_FA_DELAY:
		count_tx(p, pkt, len, class);
		cx3_keep(p->hca, cx3_now(p->hca) + arg, late_tx, p->num, pkt, len);
		return LINK_OK;
	case CX3_FA_DUP:
		link_send(p->end, pkt, len);
		break;
	default:
		break;
	}
	res = link_send(p->end, pkt, len);
	if (res == LINK_OK)
		count_tx(p, pkt, len, class);
	else if (res == LINK_DOWN)
		p->cnt.xmit_discards++;
	return res;
}

/* May this packet come in? Counts what is wrong with it. */
static bool rx_acceptable(struct cx3_port *p, const u8 *pkt, u32 len)
{
	u16 dlid;

	if (!p->link_up || !p->enabled || p->hca->phase != CX3_PH_RUN)
		return false;
	if (len < MIN_PACKET || len > LINK_MAX_PACKET ||
	    (get16(pkt + 4) & 0x7ffu) * 4 + VCRC_BYTES != len) {
		p->cnt.rcv_errors++;
		return false;
	}
	if (pkt[0] >> 4 != 15) {
		if (p->state != CX3_PORT_ACTIVE && p->state != CX3_PORT_ARMED)
			return false;
		/* a neighbour that sends data is active already (IBA 7.2.7) */
		cx3_port_set_state(p, CX3_PORT_ACTIVE);
	}
	dlid = get16(pkt + 2);
	if (dlid >= MCAST_LID || cx3_port_is_mine(p, dlid))
		return true;
	p->cnt.rcv_errors++;
	return false;
}

void cx3_port_late_rx(struct cx3_hca *hca, u32 num, const void *pkt, u32 len)
{
	struct cx3_port *p = cx3_port(hca, num);

	if (p->link_up && p->enabled && hca->phase == CX3_PH_RUN)
		cx3_transport_rx(p, pkt, len);
}

static void link_rx(void *owner, const u8 *pkt, u32 len)
{
	struct cx3_port *p = owner;
	enum cx3_fault_act act;
	enum cx3_pkt_class class;
	u64 arg = 0;

	cx3_enter(p->hca);
	if (rx_acceptable(p, pkt, len)) {
		class = cx3_pkt_class(pkt, len);
		p->cnt.rcv_data += (len - VCRC_BYTES) / 4;
		p->cnt.rcv_pkts++;
		if (cx3_pkt_is_multicast(pkt))
			p->cnt.multi_rcv++;
		else
			p->cnt.uni_rcv++;
		cx3_count(p->hca, CX3_C_RX + class, 1);
		act = cx3_fault(p->hca, CX3_FP_RX, class, &arg);
		if (act == CX3_FA_CORRUPT)
			p->cnt.symbol++;
		else if (act == CX3_FA_DELAY)
			cx3_keep(p->hca, cx3_now(p->hca) + arg, cx3_port_late_rx, p->num, pkt, len);
		else if (act != CX3_FA_DROP)
			cx3_transport_rx(p, pkt, len);
		if (act == CX3_FA_DUP)
			cx3_transport_rx(p, pkt, len);
	}
	cx3_leave(p->hca);
}

static void link_tx_ready(void *owner)
{
	struct cx3_port *p = owner;

	cx3_enter(p->hca);
	if (!p->hca->gone)
		cx3_transport_tx_ready(p);
	cx3_leave(p->hca);
}

static const struct link_owner_ops port_link_ops = {
	.rx = link_rx,
	.state = link_state,
	.tx_ready = link_tx_ready,
};

void cx3_port_attach(struct cx3_hca *hca, unsigned int num, struct link_end *end)
{
	struct cx3_port *p = cx3_port(hca, num);

	if (!p || p->end || !end)
		return;
	p->end = end;
	link_claim(end, &port_link_ops, p, LINK_FDR);
}

/* ---------------------------------------------------------- create and reset */

/* Capability mask of the card at rest (as ibstat shows it). */
#define DEFAULT_CAP_MASK 0x02514868u

static void port_defaults(struct cx3_port *p)
{
	struct cx3_hca *hca = p->hca;
	unsigned int i;

	p->lid = 0;
	p->lmc = 0;
	p->sm_lid = 0;
	p->sm_sl = 0;
	p->cap_mask = DEFAULT_CAP_MASK;
	p->gid_prefix = 0xfe80000000000000ull;
	memset(p->guid, 0, sizeof(p->guid));
	p->guid[0] = hca->cfg.node_guid + p->num;
	memset(p->pkey, 0, sizeof(p->pkey));
	p->pkey[0] = 0xffff;
	for (i = 0; i < 8; i++)
		p->sl2vl[i] = (u8)(((2 * i) & (hca->cfg.max_vl - 1)) << 4 |
				   ((2 * i + 1) & (hca->cfg.max_vl - 1)));
	p->mtu = 5;
	p->vl_op = cx3_vl_code(hca->cfg.max_vl);
	p->qkey_violations = 0;
	p->pkey_violations = 0;
	p->mkey_violations = 0;
	memset(p->sma, 0, sizeof(*p->sma));
	p->sma->subnet_timeout = 0;
	p->sma->width_enabled = 3;
	p->sma->speed_enabled = 7;
	p->sma->ext_speed_enabled = 1;
	p->sma->down_default = 2;
	p->sma->error_limits = 0x88;
	p->sma->vl_cap = p->vl_op;
	p->sma->mtu_cap = 5;
	for (i = 0; i < VLARB_ENTRIES; i++) {
		p->sma->vlarb_low[2 * i] = (u8)(i & (hca->cfg.max_vl - 1));
		p->sma->vlarb_low[2 * i + 1] = 1;
	}
}

int cx3_ports_create(struct cx3_hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->cfg.nports; i++) {
		struct cx3_port *p = &hca->port[i];

		p->hca = hca;
		p->num = (u8)(i + 1);
		p->state = CX3_PORT_DOWN;
		p->sma = cx3_alloc(hca, sizeof(*p->sma));
		if (!p->sma)
			return CX3_E_NOMEM;
	}
	return 0;
}

void cx3_ports_destroy(struct cx3_hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->cfg.nports; i++) {
		link_detach(hca->port[i].end);
		hca->port[i].end = NULL;
		cx3_free(hca, hca->port[i].sma);
	}
}

void cx3_ports_reset(struct cx3_hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->cfg.nports; i++) {
		struct cx3_port *p = &hca->port[i];

		p->enabled = false;
		p->link_up = false;
		p->ethernet = (hca->cfg.eth_ports | hca->cfg.eth_only) >> i & 1;
		p->state = CX3_PORT_DOWN;
		link_enable(p->end, false);
		port_defaults(p);
	}
	snprintf((char *)cx3_node_desc(hca), NODE_DESC_BYTES,
		 "MT25408 ConnectX Mellanox Technologies");
}

/* ------------------------------------------------------------- the commands */

enum cx3_status cx3_cmd_init_port(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_port *p = cx3_port(hca, cmd->in_mod);

	if (!p)
		return CX3_BAD_INDEX;
	/* Ethernet is beyond this model. */
	if (p->ethernet)
		return CX3_BAD_PARAM;
	if (p->enabled)
		return CX3_OK;
	p->enabled = true;
	cx3_port_drive_link(p);
	return CX3_OK;
}

enum cx3_status cx3_cmd_close_port(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_port *p = cx3_port(hca, cmd->in_mod);

	if (!p)
		return CX3_BAD_INDEX;
	p->enabled = false;
	p->link_up = false;
	cx3_port_set_state(p, CX3_PORT_DOWN);
	link_enable(p->end, false);
	return CX3_OK;
}

/* First word of the SET_PORT mailbox. */
#define SP_MTU 0x00400000u
#define SP_VL 0x00200000u
#define SP_SYSTEM_GUID 0x00040000u
#define SP_NODE_GUID 0x00020000u
#define SP_PORT_GUID 0x00010000u

enum cx3_status cx3_cmd_set_port(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	struct cx3_port *p = cx3_port(hca, cmd->in_mod & 0xff);
	u32 what = get32(cmd->in);
	u32 vls = what >> 4 & 0xf, mtu = what >> 12 & 0xf;

	if (!p)
		return CX3_BAD_INDEX;
	if (cmd->op_mod)
		return CX3_BAD_OP;
	if (hca->cfg.eth_only >> (p->num - 1) & 1)
		return CX3_BAD_PARAM;
	if ((what & SP_VL) && (!vls || vls > hca->cfg.max_vl))
		return CX3_EXCEED_LIM;
	if ((what & SP_MTU) && (!mtu || mtu > 5))
		return CX3_BAD_PARAM;
	/* That it was the InfiniBand form of the command makes it an InfiniBand port. */
	p->ethernet = false;
	if (what & SP_VL) {
		p->sma->vl_cap = cx3_vl_code(vls);
		p->vl_op = p->sma->vl_cap;
	}
	if (what & SP_MTU)
		p->sma->mtu_cap = (u8)mtu;
	if (what & SP_PORT_GUID)
		p->guid[0] = get64(cmd->in + 16);
	if (cmd->in[3] & 1)
		p->qkey_violations = 0;
	if (p->cap_mask == get32(cmd->in + 4))
		return CX3_OK;
	p->cap_mask = get32(cmd->in + 4);
	cx3_trap_capability(p);
	return CX3_OK;
}

u8 *cx3_node_desc(struct cx3_hca *hca)
{
	return hca->core->node_desc;
}

enum cx3_status cx3_cmd_set_node(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	if (cmd->in_mod != 1)
		return CX3_BAD_PARAM;
	memcpy(cx3_node_desc(hca), cmd->in, NODE_DESC_BYTES);
	return CX3_OK;
}

enum cx3_status cx3_cmd_diag_rprt(struct cx3_hca *hca, struct cx3_cmd *cmd)
{
	unsigned int i;

	if (cmd->op_mod != 2)
		return CX3_BAD_OP;
	/* The per-port set is an ability that is not reported. */
	if (cmd->in_mod)
		return CX3_BAD_PARAM;
	for (i = 0; i < ARRAY_SIZE(hca->diag); i++)
		put32(cmd->out + 4 * i, hca->diag[i]);
	return CX3_OK;
}
