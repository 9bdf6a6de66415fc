// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subnet management agent of a port (IBA vol. 1, ch. 14), reached through
 * MAD_IFC: software brings the SMPs that arrived on QP0 here and sends the
 * answers itself.
 */
#include "port.h"

/* PortInfo, byte offsets (IBA vol. 1, 14.2.5.6). */
#define PI_MKEY 0
#define PI_PREFIX 8
#define PI_LID 16
#define PI_SM_LID 18
#define PI_CAP_MASK 20
#define PI_MKEY_LEASE 26
#define PI_LOCAL_PORT 28
#define PI_WIDTH_ENABLED 29
#define PI_WIDTH_SUPPORTED 30
#define PI_WIDTH_ACTIVE 31
#define PI_SPEED_STATE 32
#define PI_PHYS_DOWN 33
#define PI_PROTECT_LMC 34
#define PI_SPEED 35
#define PI_MTU_SM_SL 36
#define PI_VL_CAP 37
#define PI_VL_HIGH 38
#define PI_VLARB_HIGH 39
#define PI_VLARB_LOW 40
#define PI_INIT_MTU_CAP 41
#define PI_HOQ 42
#define PI_OPER_VL 43
#define PI_MKEY_VIOL 44
#define PI_PKEY_VIOL 46
#define PI_QKEY_VIOL 48
#define PI_GUID_CAP 50
#define PI_REREG_TIMEOUT 51
#define PI_RESP_TIME 52
#define PI_ERROR_LIMITS 53
#define PI_EXT_SPEED 62
#define PI_EXT_ENABLED 63

#define REREGISTER 0x80

/* Speeds as PortInfo has them: a basic code, and an extended one for FDR. */
static u8 basic_speed(const struct cx3_port *p)
{
	if (p->link_speed == LINK_FDR || p->link_speed == LINK_FDR10)
		return LINK_QDR;
	return p->link_speed ? (u8)p->link_speed : LINK_SDR;
}

static u8 phys_state(const struct cx3_port *p)
{
	if (p->link_up)
		return 5;
	return p->enabled && !p->sma->disabled ? 2 : 3;
}

static void port_info_get(struct cx3_port *p, u8 *d, bool show_mkey)
{
	const struct cx3_port_sma *s = p->sma;
	const struct cx3_config *cfg = &p->hca->cfg;

	memset(d, 0, SMP_DATA_BYTES);
	put64(d + PI_MKEY, show_mkey ? s->mkey : 0);
	put64(d + PI_PREFIX, p->gid_prefix);
	put16(d + PI_LID, p->lid);
	put16(d + PI_SM_LID, p->sm_lid);
	put32(d + PI_CAP_MASK, p->cap_mask);
	put16(d + PI_MKEY_LEASE, s->mkey_lease);
	d[PI_LOCAL_PORT] = p->num;
	d[PI_WIDTH_ENABLED] = s->width_enabled;
	d[PI_WIDTH_SUPPORTED] = 3;
	d[PI_WIDTH_ACTIVE] = p->link_width ? p->link_width : 2;
	d[PI_SPEED_STATE] = (u8)(7 << 4 | p->state);
	d[PI_PHYS_DOWN] = (u8)(phys_state(p) << 4 | s->down_default);
	d[PI_PROTECT_LMC] = (u8)(s->mkey_protect << 6 | p->lmc);
	d[PI_SPEED] = (u8)(basic_speed(p) << 4 | s->speed_enabled);
	d[PI_MTU_SM_SL] = (u8)(p->mtu << 4 | p->sm_sl);
	d[PI_VL_CAP] = (u8)(s->vl_cap << 4);
	d[PI_VL_HIGH] = s->vl_high_limit;
	d[PI_VLARB_HIGH] = VLARB_ENTRIES;
	d[PI_VLARB_LOW] = VLARB_ENTRIES;
	d[PI_INIT_MTU_CAP] = (u8)(s->init_type << 4 | s->mtu_cap);
	d[PI_HOQ] = s->hoq_life;
	d[PI_OPER_VL] = (u8)(p->vl_op << 4 | s->partition);
	put16(d + PI_MKEY_VIOL, p->mkey_violations);
	put16(d + PI_PKEY_VIOL, p->pkey_violations);
	put16(d + PI_QKEY_VIOL, p->qkey_violations);
	d[PI_GUID_CAP] = (u8)cfg->gids;
	d[PI_REREG_TIMEOUT] = s->subnet_timeout;
	d[PI_RESP_TIME] = 0x10; /* 4.096 us << 16 */
	d[PI_ERROR_LIMITS] = s->error_limits;
	d[PI_EXT_SPEED] = (u8)((p->link_speed == LINK_FDR ? 1 : 0) << 4 | 1);
	d[PI_EXT_ENABLED] = s->ext_speed_enabled;
}

/* --------------------------------------------------------------- Set(PortInfo) */

/* Is every field of this Set allowed? Nothing is changed if one is not. */
static bool port_info_valid(struct cx3_port *p, const u8 *d)
{
	u8 state = d[PI_SPEED_STATE] & 0xf, phys = d[PI_PHYS_DOWN] >> 4;
	u16 lid = get16(d + PI_LID);
	u8 mtu = d[PI_MTU_SM_SL] >> 4, vls = d[PI_OPER_VL] >> 4;

	if (!lid || lid >= 0xc000 || get16(d + PI_SM_LID) >= 0xc000)
		return false;
	if (state == CX3_PORT_INIT || state > CX3_PORT_ACTIVE || phys > 3)
		return false;
	if (state == CX3_PORT_ARMED && p->state != CX3_PORT_INIT && p->state != CX3_PORT_ARMED)
		return false;
	if (state == CX3_PORT_ACTIVE && p->state != CX3_PORT_ARMED && p->state != CX3_PORT_ACTIVE)
		return false;
	/* the physical state can be moved only on the way down (IBA 14.2.5.6) */
	if (phys && state > CX3_PORT_DOWN)
		return false;
	if (mtu > p->sma->mtu_cap || vls > p->sma->vl_cap)
		return false;
	return true;
}

static u32 set_addresses(struct cx3_port *p, const u8 *d)
{
	u32 changed = 0;

	if (p->gid_prefix != get64(d + PI_PREFIX))
		changed |= CHANGED_PREFIX;
	if (p->lid != get16(d + PI_LID) || p->lmc != (d[PI_PROTECT_LMC] & 7))
		changed |= CHANGED_LID;
	if (p->sm_lid != get16(d + PI_SM_LID))
		changed |= CHANGED_SM_LID;
	if (p->sm_sl != (d[PI_MTU_SM_SL] & 0xf))
		changed |= CHANGED_SM_SL;
	if (d[PI_REREG_TIMEOUT] & REREGISTER)
		changed |= CHANGED_REREGISTER;
	p->gid_prefix = get64(d + PI_PREFIX);
	p->lid = get16(d + PI_LID);
	p->lmc = d[PI_PROTECT_LMC] & 7;
	p->sm_lid = get16(d + PI_SM_LID);
	p->sm_sl = d[PI_MTU_SM_SL] & 0xf;
	return changed;
}

static void set_rest(struct cx3_port *p, const u8 *d)
{
	struct cx3_port_sma *s = p->sma;

	s->mkey = get64(d + PI_MKEY);
	s->mkey_lease = get16(d + PI_MKEY_LEASE);
	s->mkey_protect = d[PI_PROTECT_LMC] >> 6;
	if (d[PI_WIDTH_ENABLED] == 0xff)
		s->width_enabled = 3;
	else if (d[PI_WIDTH_ENABLED])
		s->width_enabled = d[PI_WIDTH_ENABLED] & 3;
	if ((d[PI_SPEED] & 0xf) == 0xf)
		s->speed_enabled = 7;
	else if (d[PI_SPEED] & 0xf)
		s->speed_enabled = d[PI_SPEED] & 7;
	if ((d[PI_EXT_ENABLED] & 0x1f) == 0x1f)
		s->ext_speed_enabled = 1;
	else if (d[PI_EXT_ENABLED] & 0x1f)
		s->ext_speed_enabled = d[PI_EXT_ENABLED] & 1;
	if (d[PI_PHYS_DOWN] & 0xf)
		s->down_default = d[PI_PHYS_DOWN] & 0xf;
	if (d[PI_MTU_SM_SL] >> 4)
		p->mtu = d[PI_MTU_SM_SL] >> 4;
	if (d[PI_OPER_VL] >> 4)
		p->vl_op = d[PI_OPER_VL] >> 4;
	s->partition = d[PI_OPER_VL] & 0xf;
	s->vl_high_limit = d[PI_VL_HIGH];
	s->init_type = d[PI_INIT_MTU_CAP] >> 4;
	s->hoq_life = d[PI_HOQ];
	s->error_limits = d[PI_ERROR_LIMITS];
	s->subnet_timeout = d[PI_REREG_TIMEOUT] & 0x1f;
	/* violation counters can only be written to zero, by any value */
	if (!get16(d + PI_MKEY_VIOL))
		p->mkey_violations = 0;
	if (!get16(d + PI_PKEY_VIOL))
		p->pkey_violations = 0;
	if (!get16(d + PI_QKEY_VIOL))
		p->qkey_violations = 0;
}

static void set_states(struct cx3_port *p, u8 state, u8 phys)
{
	if (phys == 3)
		p->sma->disabled = true;
	else if (phys)
		p->sma->disabled = false;
	if (state == CX3_PORT_DOWN || phys)
		cx3_port_retrain(p);
	else if (state)
		cx3_port_set_state(p, state);
}

static int port_info_set(struct cx3_port *p, u8 *d)
{
	u8 params[20] = { 0 };
	u32 changed;

	if (!port_info_valid(p, d))
		return MAD_BAD_FIELD;
	changed = set_addresses(p, d);
	set_rest(p, d);
	set_states(p, d[PI_SPEED_STATE] & 0xf, d[PI_PHYS_DOWN] >> 4);
	if (changed) {
		put16(params, p->sm_lid);
		put16(params + 2, p->lid);
		put32(params + 4, changed);
		params[11] = p->sm_sl;
		put64(params + 12, p->gid_prefix);
		cx3_port_mgmt_event(p, MGMT_PORT_INFO, params);
	}
	return MAD_OK;
}

/* ----------------------------------------------------------------- attributes */

static int node_info(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	const struct cx3_config *cfg = &p->hca->cfg;

	(void)mod;
	if (set)
		return MAD_BAD_ATTR;
	d[0] = 1; /* base version */
	d[1] = 1; /* class version */
	d[2] = 1; /* channel adapter */
	d[3] = cfg->nports;
	put64(d + 4, cfg->node_guid + 3);
	put64(d + 12, cfg->node_guid);
	put64(d + 20, p->guid[0]);
	put16(d + 28, cfg->pkeys);
	put16(d + 30, cfg->device_id);
	put32(d + 32, cfg->revision);
	d[36] = p->num;
	put24(d + 37, 0x0002c9);
	return MAD_OK;
}

static int node_description(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	(void)mod;
	if (set)
		return MAD_BAD_ATTR;
	memcpy(d, cx3_node_desc(p->hca), NODE_DESC_BYTES);
	return MAD_OK;
}

static int guid_info(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	unsigned int first = mod * 8, i;
	u8 params[20] = { 0 };
	u32 mask = 0;

	if (mod >= p->hca->cfg.gids / 8u)
		return MAD_BAD_FIELD;
	for (i = 0; i < 8; i++) {
		/* the first GUID of a port is not the SM's to give */
		if (set && first + i && p->guid[first + i] != get64(d + 8 * i)) {
			p->guid[first + i] = get64(d + 8 * i);
			mask |= 1u << i;
		}
		put64(d + 8 * i, p->guid[first + i]);
	}
	if (mask) {
		put32(params, mod);
		put32(params + 4, mask);
		cx3_port_mgmt_event(p, MGMT_GUID_INFO, params);
	}
	return MAD_OK;
}

static int pkey_table(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	unsigned int block = mod & 0xffff, i;
	u8 params[20] = { 0 };
	u32 mask = 0;

	if (block >= p->hca->cfg.pkeys / 32u)
		return MAD_BAD_FIELD;
	for (i = 0; i < 32; i++) {
		u16 *entry = &p->pkey[block * 32 + i];

		if (set && *entry != get16(d + 2 * i)) {
			*entry = get16(d + 2 * i);
			mask |= 1u << i;
		}
		put16(d + 2 * i, *entry);
	}
	if (mask) {
		put32(params, block);
		put32(params + 4, mask);
		cx3_port_mgmt_event(p, MGMT_PKEY_TABLE, params);
	}
	return MAD_OK;
}

static int sl_to_vl(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	(void)mod;
	if (set)
		memcpy(p->sl2vl, d, sizeof(p->sl2vl));
	memset(d, 0, SMP_DATA_BYTES);
	memcpy(d, p->sl2vl, sizeof(p->sl2vl));
	return MAD_OK;
}

static int vl_arbitration(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	u8 *table;

	/* two blocks each for low (1, 2) and high (3, 4); ours fit the first */
	if (mod >> 16 == 1)
		table = p->sma->vlarb_low;
	else if (mod >> 16 == 3)
		table = p->sma->vlarb_high;
	else
		return MAD_BAD_FIELD;
	if (set)
		memcpy(table, d, 2 * VLARB_ENTRIES);
	memcpy(d, table, VLARB_BYTES);
	return MAD_OK;
}

static int notice(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	(void)p;
	(void)mod;
	/* No notice is ever kept: Get tells an empty one, Set has none to clear. */
	memset(d, 0, SMP_DATA_BYTES);
	(void)set;
	return MAD_OK;
}

static int led_info(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	(void)mod;
	if (set)
		p->sma->led = d[0] & 0x80;
	memset(d, 0, SMP_DATA_BYTES);
	d[0] = p->sma->led;
	return MAD_OK;
}

/* Vendor attribute that tells FDR10 from QDR. */
static int ext_port_info(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	(void)mod;
	(void)set;
	d[15] = p->link_speed == LINK_FDR10;
	return MAD_OK;
}

static int port_info(struct cx3_port *p, u32 mod, u8 *d, bool set)
{
	(void)mod;
	return set ? port_info_set(p, d) : MAD_OK;
}

static const struct {
	u16 attr;
	bool of_port;	/* the modifier names a port */
	int (*fn)(struct cx3_port *p, u32 mod, u8 *d, bool set);
} attributes[] = {
	{ 0x0002, false, notice },	   { 0x0010, false, node_description },
	{ 0x0011, false, node_info },	   { 0x0014, false, guid_info },
	{ 0x0015, true, port_info },	   { 0x0016, false, pkey_table },
	{ 0x0017, false, sl_to_vl },	   { 0x0018, false, vl_arbitration },
	{ 0x0031, false, led_info },	   { 0xff90, true, ext_port_info },
};

/* --------------------------------------------------------------------- M_Key */

/* May this SMP pass (IBA vol. 1, 14.2.4)? *show: the M_Key may be told. */
static bool mkey_passes(struct cx3_port *p, const u8 *mad, bool check, u16 slid, bool *show)
{
	const struct cx3_port_sma *s = p->sma;
	bool match = !check || !s->mkey || get64(mad + SMP_MKEY) == s->mkey;

	*show = match || s->mkey_protect == 0;
	if (match || (mad[MAD_METHOD] == MAD_GET && s->mkey_protect < 2))
		return true;
	if (p->mkey_violations != 0xffff)
		p->mkey_violations++;
	cx3_trap_bad_mkey(p, mad, slid);
	return false;
}

int cx3_sma(struct cx3_port *p, u8 *mad, bool check_mkey, u16 slid)
{
	bool set = mad[MAD_METHOD] == MAD_SET, show = true;
	u32 mod = get32(mad + MAD_MOD);
	u8 *d = mad + MAD_DATA;
	struct cx3_port *target = p;
	unsigned int i;
	int status = MAD_BAD_ATTR;

	if (mad[2] != 1)
		return MAD_BAD_VERSION;
	if (mad[MAD_METHOD] == MAD_TRAP_REPRESS)
		return -1;
	if (!set && mad[MAD_METHOD] != MAD_GET)
		return MAD_BAD_METHOD;
	if (!mkey_passes(p, mad, check_mkey, slid, &show))
		return -1;
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (attributes[i].attr != get16(mad + MAD_ATTR))
			continue;
		if (attributes[i].of_port && mod) {
			target = cx3_port(p->hca, mod);
			if (!target)
				return MAD_BAD_FIELD;
		}
		if (!set)
			memset(d, 0, SMP_DATA_BYTES);
		status = attributes[i].fn(target, mod, d, set);
		if (attributes[i].fn == port_info)
			port_info_get(target, d, show);
		break;
	}
	return status;
}
