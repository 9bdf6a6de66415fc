// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subnet management agent of the switch: one pair of functions per attribute
 * (IBA volume 1, 14.2.5). Transport of SMPs is in smi.c.
 */
#include "switch.h"

/**
 * struct sma_request - one SMP being executed
 * @sw: the switch
 * @in: port it came in by
 * @mod: attribute modifier
 * @data: the attribute, 64 bytes, in the SMP
 */
struct sma_request {
	struct fsw *sw;
	unsigned int in;
	u32 mod;
	u8 *data;
};

/**
 * struct sma_attribute - what can be done with an attribute
 * @id: attribute id
 * @get: fill in the data, which is zero before; returns a MAD status
 * @set: act on the data; @get follows it. NULL: read only
 */
struct sma_attribute {
	u16 id;
	u16 (*get)(struct sma_request *r);
	u16 (*set)(struct sma_request *r);
};

static u16 get_description(struct sma_request *r)
{
	memcpy(r->data, r->sw->description, SMP_DATA_SIZE);
	return MAD_OK;
}

static u16 get_node_info(struct sma_request *r)
{
	u8 *d = r->data;

	mad_put(d, NI_BASE_VERSION, 1);
	mad_put(d, NI_CLASS_VERSION, 1);
	mad_put(d, NI_NODE_TYPE, NODE_SWITCH);
	mad_put(d, NI_NUM_PORTS, FSW_PORTS);
	mad_put(d, NI_SYSTEM_GUID, r->sw->guid);
	mad_put(d, NI_NODE_GUID, r->sw->guid);
	mad_put(d, NI_PORT_GUID, r->sw->guid);
	mad_put(d, NI_PKEY_CAP, FSW_PKEYS);
	mad_put(d, NI_DEVICE_ID, FSW_DEVICE_ID);
	mad_put(d, NI_REVISION, 1);
	mad_put(d, NI_LOCAL_PORT, r->in);
	mad_put(d, NI_VENDOR_ID, FSW_VENDOR_ID);
	return MAD_OK;
}

static u16 get_switch_info(struct sma_request *r)
{
	memcpy(r->data, r->sw->info, SMP_DATA_SIZE);
	return MAD_OK;
}

static u16 set_switch_info(struct sma_request *r)
{
	static const u32 copied[] = {
		SI_LINEAR_TOP, SI_DEFAULT_PORT, SI_DEFAULT_MC_PRIMARY, SI_DEFAULT_MC_NOT_PRIMARY,
		SI_LIFE_TIME, SI_MULTICAST_TOP,
	};
	unsigned int i;

	if (mad_get(r->data, SI_LINEAR_TOP) >= FSW_LINEAR_CAP)
		return MAD_BAD_VALUE;
	for (i = 0; i < ARRAY_SIZE(copied); i++)
		mad_put(r->sw->info, copied[i], mad_get(r->data, copied[i]));
	/* Writing a one acknowledges the change. */
	if (mad_get(r->data, SI_PORT_STATE_CHANGE))
		mad_put(r->sw->info, SI_PORT_STATE_CHANGE, 0);
	return MAD_OK;
}

static u16 get_guid_info(struct sma_request *r)
{
	if (r->mod)
		return MAD_BAD_VALUE;
	put64(r->data, r->sw->guid);
	return MAD_OK;
}

/* Entry 0 cannot be changed and there is no other (PortInfo:GUIDCap is 1). */
static u16 set_guid_info(struct sma_request *r)
{
	return r->mod ? MAD_BAD_VALUE : MAD_OK;
}

static struct fsw_port *port_by_number(struct sma_request *r, u32 num)
{
	return num <= FSW_PORTS ? &r->sw->port[num] : NULL;
}

static u16 get_port_info(struct sma_request *r)
{
	struct fsw_port *port = port_by_number(r, r->mod & 0xff);

	if (!port)
		return MAD_BAD_VALUE;
	memcpy(r->data, port->info, SMP_DATA_SIZE);
	mad_put(r->data, PI_LOCAL_PORT, r->in);
	return MAD_OK;
}

static u16 set_port_info(struct sma_request *r)
{
	struct fsw_port *port = port_by_number(r, r->mod & 0xff);

	return port ? fsw_port_set(port, r->data) : MAD_BAD_VALUE;
}

/* Block in the low half, port in the high half of the modifier. */
static u16 get_pkeys(struct sma_request *r)
{
	if (r->mod)
		return MAD_BAD_VALUE;
	memcpy(r->data, r->sw->pkeys, SMP_DATA_SIZE);
	return MAD_OK;
}

static u16 set_pkeys(struct sma_request *r)
{
	if (r->mod)
		return MAD_BAD_VALUE;
	memcpy(r->sw->pkeys, r->data, SMP_DATA_SIZE);
	return MAD_OK;
}

/* Output port in bits 7:0, input port in bits 15:8 of the modifier. */
static u8 *sl_to_vl(struct sma_request *r)
{
	struct fsw_port *out = port_by_number(r, r->mod & 0xff);
	u32 in = r->mod >> 8;

	return out && in <= FSW_PORTS ? out->sl_to_vl[in] : NULL;
}

static u16 get_sl_to_vl(struct sma_request *r)
{
	u8 *table = sl_to_vl(r);

	if (!table)
		return MAD_BAD_VALUE;
	memcpy(r->data, table, 8);
	return MAD_OK;
}

static u16 set_sl_to_vl(struct sma_request *r)
{
	u8 *table = sl_to_vl(r);

	if (!table)
		return MAD_BAD_VALUE;
	memcpy(table, r->data, 8);
	return MAD_OK;
}

/* Output port in the low half, block 1 to 4 in the high half of the modifier. */
static u8 *vl_arb(struct sma_request *r)
{
	struct fsw_port *port = port_by_number(r, r->mod & 0xffff);
	u32 block = r->mod >> 16;

	return port && block >= 1 && block <= 4 ? port->vl_arb[block - 1] : NULL;
}

static u16 get_vl_arb(struct sma_request *r)
{
	u8 *table = vl_arb(r);

	if (!table)
		return MAD_BAD_VALUE;
	memcpy(r->data, table, SMP_DATA_SIZE);
	return MAD_OK;
}

static u16 set_vl_arb(struct sma_request *r)
{
	u8 *table = vl_arb(r);

	if (!table)
		return MAD_BAD_VALUE;
	memcpy(table, r->data, SMP_DATA_SIZE);
	return MAD_OK;
}

static u16 get_linear(struct sma_request *r)
{
	if (r->mod >= FSW_LINEAR_CAP / SMP_DATA_SIZE)
		return MAD_BAD_VALUE;
	memcpy(r->data, r->sw->lft + r->mod * SMP_DATA_SIZE, SMP_DATA_SIZE);
	return MAD_OK;
}

static u16 set_linear(struct sma_request *r)
{
	if (r->mod >= FSW_LINEAR_CAP / SMP_DATA_SIZE)
		return MAD_BAD_VALUE;
	memcpy(r->sw->lft + r->mod * SMP_DATA_SIZE, r->data, SMP_DATA_SIZE);
	return MAD_OK;
}

/* 32 LIDs per block in bits 8:0, position of the 16 ports in bits 31:28. */
static u16 (*multicast(struct sma_request *r))[FSW_MULTICAST_POSITIONS]
{
	u32 block = r->mod & 0x1ff, position = r->mod >> 28;

	if (block >= FSW_MULTICAST_CAP / 32 || position >= FSW_MULTICAST_POSITIONS)
		return NULL;
	return r->sw->mft + block * 32;
}

static u16 get_multicast(struct sma_request *r)
{
	u16 (*entry)[FSW_MULTICAST_POSITIONS] = multicast(r);
	unsigned int i;

	if (!entry)
		return MAD_BAD_VALUE;
	for (i = 0; i < 32; i++)
		put16(r->data + 2 * i, entry[i][r->mod >> 28]);
	return MAD_OK;
}

static u16 set_multicast(struct sma_request *r)
{
	u16 (*entry)[FSW_MULTICAST_POSITIONS] = multicast(r);
	unsigned int i;

	if (!entry)
		return MAD_BAD_VALUE;
	for (i = 0; i < 32; i++)
		entry[i][r->mod >> 28] = get16(r->data + 2 * i);
	return MAD_OK;
}

static const struct sma_attribute attributes[] = {
	{ ATTR_NODE_DESCRIPTION, get_description, NULL },
	{ ATTR_NODE_INFO, get_node_info, NULL },
	{ ATTR_SWITCH_INFO, get_switch_info, set_switch_info },
	{ ATTR_GUID_INFO, get_guid_info, set_guid_info },
	{ ATTR_PORT_INFO, get_port_info, set_port_info },
	{ ATTR_PKEY_TABLE, get_pkeys, set_pkeys },
	{ ATTR_SL_TO_VL, get_sl_to_vl, set_sl_to_vl },
	{ ATTR_VL_ARB, get_vl_arb, set_vl_arb },
	{ ATTR_LINEAR_FDB, get_linear, set_linear },
	{ ATTR_MULTICAST_FDB, get_multicast, set_multicast },
};

static const struct sma_attribute *find_attribute(u64 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].id == id)
			return &attributes[i];
	return NULL;
}

static u16 execute(struct fsw *sw, unsigned int in, u8 *mad, bool set)
{
	const struct sma_attribute *a = find_attribute(mad_get(mad, MAD_ATTR_ID));
	struct sma_request r = {
		.sw = sw,
		.in = in,
		.mod = (u32)mad_get(mad, MAD_ATTR_MOD),
		.data = mad + SMP_DATA,
	};
	u16 status;

	if (!a || (set && !a->set))
		return MAD_BAD_ATTRIBUTE;
	if (set) {
		status = a->set(&r);
		if (status)
			return status;
	}
	memset(r.data, 0, SMP_DATA_SIZE);
	return a->get(&r);
}

/*
 * The M_Key check (IBA 14.2.4.2). A request that fails is dropped and counted.
 * *@hide is set when a Get is let through, but must not show the key.
 */
static bool key_passes(struct fsw *sw, const u8 *mad, bool set, bool *hide)
{
	u8 *info = sw->port[0].info;
	u64 key = mad_get(info, PI_M_KEY), protect = mad_get(info, PI_M_KEY_PROTECT), count;

	*hide = false;
	if (!key || mad_get(mad, SMP_M_KEY) == key)
		return true;
	if (!set && protect <= 1) {
		*hide = protect == 1;
		return true;
	}
	count = mad_get(info, PI_M_KEY_VIOLATIONS);
	if (count < 0xffff)
		mad_put(info, PI_M_KEY_VIOLATIONS, count + 1);
	return false;
}

bool fsw_sma(struct fsw *sw, unsigned int in, u8 *mad)
{
	u64 method = mad_get(mad, MAD_METHOD);
	bool set = method == METHOD_SET, hide;
	u16 status;

	if (mad_get(mad, MAD_BASE_VERSION) != 1 || method >= 0x80)
		return false;
	if (method == METHOD_TRAP_REPRESS) {
		fsw_trap_repress(sw, mad_get(mad, MAD_TID));
		return false;
	}
	if (mad_get(mad, MAD_CLASS_VERSION) != 1)
		status = MAD_BAD_VERSION;
	else if (!set && method != METHOD_GET)
		status = MAD_BAD_METHOD;
	else if (key_passes(sw, mad, set, &hide))
		status = execute(sw, in, mad, set);
	else
		return false;
	if (!status && hide && mad_get(mad, MAD_ATTR_ID) == ATTR_PORT_INFO)
		mad_put(mad + SMP_DATA, PI_M_KEY, 0);
	mad_put(mad, MAD_METHOD, METHOD_GET_RESP);
	mad_put(mad, MAD_STATUS, status);
	return true;
}
