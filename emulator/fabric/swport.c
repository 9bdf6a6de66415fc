// SPDX-License-Identifier: GPL-2.0-only
/*
 * PortInfo of the switch's ports: what it reads as, what a subnet manager may
 * set, and how link and port state follow (IBA volume 1, 7.2 and 14.2.5.6).
 */
#include "switch.h"

enum {
	VL_ARB_CAP = 8,
	VL_CAP_CODE = 4,		/* VL0 to VL7 */
	SPEED_ALL = 0xf,		/* "enable what is supported" */
	SPEED_EXT_ALL = 0x1f,
	SPEED_EXT_NONE = 0x1e,		/* "no extended speed" */
	WIDTH_ALL = 0xff,
	WIDTHS = WIDTH_1X | WIDTH_4X,
};

static void set_active_speed(u8 *info, enum link_speed speed)
{
	bool fdr = speed == LINK_FDR;

	/* An FDR link reports QDR in the old component and itself in the extended one. */
	mad_put(info, PI_SPEED_ACTIVE, speed > LINK_QDR ? LINK_QDR : speed);
	mad_put(info, PI_SPEED_EXT_ACTIVE, fdr ? SPEED_EXT_FDR : 0);
}

static void init_port0(u8 *info)
{
	mad_put(info, PI_CAPABILITY, CAP_TRAP | CAP_SL_MAPPING | CAP_SYSTEM_GUID |
		CAP_EXTENDED_SPEEDS | CAP_CLIENT_REREGISTER | CAP_MULTICAST_TOP);
	mad_put(info, PI_GID_PREFIX, 0xfe80000000000000ull);
	mad_put(info, PI_GUID_CAP, 1);
	mad_put(info, PI_PORT_STATE, PORT_ACTIVE);
	mad_put(info, PI_PHYS_STATE, PHYS_LINK_UP);
	mad_put(info, PI_WIDTH_ACTIVE, WIDTH_4X);
	mad_put(info, PI_SUBNET_TIMEOUT, 18);
	mad_put(info, PI_RESP_TIME, 16);
	set_active_speed(info, LINK_FDR);
}

void fsw_port_init(struct fsw_port *port)
{
	u8 *info = port->info;
	unsigned int in, sl;

	mad_put(info, PI_WIDTH_SUPPORTED, WIDTHS);
	mad_put(info, PI_WIDTH_ENABLED, WIDTHS);
	mad_put(info, PI_WIDTH_ACTIVE, WIDTH_4X);
	mad_put(info, PI_SPEED_SUPPORTED, SPEED_SDR_DDR_QDR);
	mad_put(info, PI_SPEED_ENABLED, SPEED_SDR_DDR_QDR);
	mad_put(info, PI_SPEED_EXT_SUPPORTED, SPEED_EXT_FDR);
	mad_put(info, PI_SPEED_EXT_ENABLED, SPEED_EXT_FDR);
	mad_put(info, PI_SPEED_ACTIVE, LINK_SDR);
	mad_put(info, PI_PORT_STATE, PORT_DOWN);
	mad_put(info, PI_PHYS_STATE, PHYS_POLLING);
	mad_put(info, PI_DOWN_DEFAULT, PHYS_POLLING);
	mad_put(info, PI_MTU_CAP, MTU_4096);
	mad_put(info, PI_NEIGHBOR_MTU, MTU_2048);
	mad_put(info, PI_VL_CAP, VL_CAP_CODE);
	mad_put(info, PI_OPERATIONAL_VLS, VL_CAP_CODE);
	mad_put(info, PI_VL_ARB_HIGH_CAP, VL_ARB_CAP);
	mad_put(info, PI_VL_ARB_LOW_CAP, VL_ARB_CAP);
	mad_put(info, PI_HOQ_LIFE, 16);
	for (in = 0; in <= FSW_PORTS; in++)
		for (sl = 0; sl < 16; sl += 2)
			port->sl_to_vl[in][sl / 2] =
				(u8)((sl % FSW_DATA_VLS) << 4 | (sl + 1) % FSW_DATA_VLS);
	if (!port->num)
		init_port0(info);
}

/* A port went to or came from Down by itself: the subnet manager has to look. */
static void note_change(struct fsw_port *port)
{
	mad_put(port->sw->info, SI_PORT_STATE_CHANGE, 1);
	fsw_trap_raise(port->sw);
}

void fsw_port_link(struct fsw_port *port, bool up, u8 width, enum link_speed speed)
{
	bool was_up = fsw_port_state(port) != PORT_DOWN;

	if (up) {
		mad_put(port->info, PI_PHYS_STATE, PHYS_LINK_UP);
		mad_put(port->info, PI_PORT_STATE, PORT_INIT);
		mad_put(port->info, PI_WIDTH_ACTIVE, width);
		set_active_speed(port->info, speed);
		note_change(port);
		return;
	}
	mad_put(port->info, PI_PORT_STATE, PORT_DOWN);
	if (mad_get(port->info, PI_PHYS_STATE) == PHYS_LINK_UP)
		mad_put(port->info, PI_PHYS_STATE, PHYS_POLLING);
	if (was_up) {
		port->count[CNT_LINK_DOWNED]++;
		note_change(port);
	}
}

/* Which logical states may be asked for (IBA 7.2.7)? */
static bool state_allowed(unsigned int now, unsigned int want)
{
	switch (want) {
	case PORT_NO_CHANGE:
	case PORT_DOWN:
		return true;
	case PORT_ARMED:
		return now == PORT_INIT || now == PORT_ARMED;
	case PORT_ACTIVE:
		return now == PORT_ARMED || now == PORT_ACTIVE;
	default:
		return false;
	}
}

/* "1X only" is refused: the cables here are 4X and do not run on one lane. */
static bool width_allowed(u64 want)
{
	return !want || want == WIDTH_ALL || ((want & WIDTH_4X) && !(want & ~(u64)WIDTHS));
}

static bool enable_allowed(u64 want, u64 supported, u64 all)
{
	return !want || want == all || !(want & ~supported);
}

static bool link_fields_valid(const struct fsw_port *port, const u8 *want)
{
	u64 phys = mad_get(want, PI_PHYS_STATE), mtu = mad_get(want, PI_NEIGHBOR_MTU);
	u64 ext = mad_get(want, PI_SPEED_EXT_ENABLED);

	return state_allowed(fsw_port_state(port), (unsigned int)mad_get(want, PI_PORT_STATE)) &&
	       (phys == PHYS_NO_CHANGE || phys == PHYS_POLLING || phys == PHYS_DISABLED) &&
	       mad_get(want, PI_DOWN_DEFAULT) <= PHYS_POLLING &&
	       mtu <= MTU_4096 &&
	       mad_get(want, PI_OPERATIONAL_VLS) <= VL_CAP_CODE &&
	       width_allowed(mad_get(want, PI_WIDTH_ENABLED)) &&
	       enable_allowed(mad_get(want, PI_SPEED_ENABLED), SPEED_SDR_DDR_QDR, SPEED_ALL) &&
	       (ext == SPEED_EXT_NONE || enable_allowed(ext, SPEED_EXT_FDR, SPEED_EXT_ALL));
}

static void copy_fields(u8 *to, const u8 *from, const u32 *fields, unsigned int n)
{
	while (n--) {
		mad_put(to, *fields, mad_get(from, *fields));
		fields++;
	}
}

/* Components where zero means "leave it" and, with @all, "what is supported". */
static void set_unless_zero(u8 *info, u32 field, u64 want, u64 all, u64 supported)
{
	if (want)
		mad_put(info, field, want == all ? supported : want);
}

static enum link_speed fastest_enabled(const u8 *info)
{
	u64 old = mad_get(info, PI_SPEED_ENABLED);

	if (mad_get(info, PI_SPEED_EXT_ENABLED))
		return LINK_FDR;
	return old & LINK_QDR ? LINK_QDR : old & LINK_DDR ? LINK_DDR : LINK_SDR;
}

/* The manager took the link down; with @phys Polling it trains anew. */
static void retrain(struct fsw_port *port, unsigned int phys)
{
	mad_put(port->info, PI_PORT_STATE, PORT_DOWN);
	mad_put(port->info, PI_PHYS_STATE, phys);
	if (!port->end)
		return;
	port->end->max_speed = fastest_enabled(port->info);
	link_enable(port->end, false);
	if (phys == PHYS_POLLING)
		link_enable(port->end, true);
}

static void apply_states(struct fsw_port *port, const u8 *want)
{
	unsigned int state = (unsigned int)mad_get(want, PI_PORT_STATE);
	unsigned int phys = (unsigned int)mad_get(want, PI_PHYS_STATE);

	set_unless_zero(port->info, PI_DOWN_DEFAULT, mad_get(want, PI_DOWN_DEFAULT), 0, 0);
	if (phys)
		retrain(port, phys);
	else if (state == PORT_DOWN)
		retrain(port, (unsigned int)mad_get(port->info, PI_DOWN_DEFAULT));
	else if (state)
		mad_put(port->info, PI_PORT_STATE, state);
}

static u16 set_external(struct fsw_port *port, const u8 *want)
{
	static const u32 copied[] = {
		PI_VL_HIGH_LIMIT, PI_VL_STALL_COUNT, PI_HOQ_LIFE, PI_ENFORCEMENT,
		PI_PHY_ERRORS, PI_OVERRUN_ERRORS,
	};
	u64 ext = mad_get(want, PI_SPEED_EXT_ENABLED);
	u8 *info = port->info;

	if (!link_fields_valid(port, want))
		return MAD_BAD_VALUE;
	copy_fields(info, want, copied, ARRAY_SIZE(copied));
	set_unless_zero(info, PI_NEIGHBOR_MTU, mad_get(want, PI_NEIGHBOR_MTU), 0, 0);
	set_unless_zero(info, PI_OPERATIONAL_VLS, mad_get(want, PI_OPERATIONAL_VLS), 0, 0);
	set_unless_zero(info, PI_WIDTH_ENABLED, mad_get(want, PI_WIDTH_ENABLED), WIDTH_ALL,
			WIDTHS);
	set_unless_zero(info, PI_SPEED_ENABLED, mad_get(want, PI_SPEED_ENABLED), SPEED_ALL,
			SPEED_SDR_DDR_QDR);
	if (ext == SPEED_EXT_NONE)
		mad_put(info, PI_SPEED_EXT_ENABLED, 0);
	else
		set_unless_zero(info, PI_SPEED_EXT_ENABLED, ext, SPEED_EXT_ALL, SPEED_EXT_FDR);
	apply_states(port, want);
	return MAD_OK;
}

static u16 set_port0(struct fsw_port *port, const u8 *want)
{
	static const u32 copied[] = {
		PI_M_KEY, PI_GID_PREFIX, PI_LID, PI_SM_LID, PI_M_KEY_LEASE, PI_M_KEY_PROTECT,
		PI_SM_SL, PI_SUBNET_TIMEOUT,
	};
	u64 lid = mad_get(want, PI_LID), sm = mad_get(want, PI_SM_LID);

	/* A base port 0 has one LID (LMC 0), and LIDs are unicast ones. */
	if (!lid || lid >= LID_FIRST_MULTICAST || sm >= LID_FIRST_MULTICAST ||
	    mad_get(want, PI_LMC))
		return MAD_BAD_VALUE;
	copy_fields(port->info, want, copied, ARRAY_SIZE(copied));
	set_unless_zero(port->info, PI_NEIGHBOR_MTU, mad_get(want, PI_NEIGHBOR_MTU), 0, 0);
	return MAD_OK;
}

u16 fsw_port_set(struct fsw_port *port, const u8 *want)
{
	return port->num ? set_external(port, want) : set_port0(port, want);
}
