/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of a device and its ports, and the caches that answer without asking the hardware.
 *
 * The caches hold GID table, P_Key table, LID, LMC and state of each port.  They are filled before
 * the first service starts and refreshed, from the hardware, before any client hears of an event
 * that could have changed them.  Reading them takes no lock and touches no hardware.
 */
#ifndef IB_PORT_H
#define IB_PORT_H

#include <linux/types.h>

struct ib_device;

/**
 * union ib_gid - a GID (IBA 4.1.1), network byte order
 * @raw: as bytes
 * @global: as prefix and interface identifier
 */
union ib_gid {
	u8 raw[16];
	struct {
		__be64 subnet_prefix;
		__be64 interface_id;
	} global;
};

/* The GID prefix of a subnet that no SM has named (IBA 4.1.1). */
#define IB_GID_DEFAULT_PREFIX 0xfe80000000000000ULL

/* P_Key (IBA 10.9.1): partition number and full membership. */
#define IB_PKEY_PARTITION 0x7fff
#define IB_PKEY_FULL_MEMBER 0x8000
#define IB_PKEY_DEFAULT 0xffff

/**
 * enum ib_port_state - PortInfo:PortState (IBA 14.2.5.6)
 * @IB_PORT_NOP: no change; not a state
 * @IB_PORT_DOWN: no link
 * @IB_PORT_INIT: link, no SM yet
 * @IB_PORT_ARMED: configured, only SM traffic
 * @IB_PORT_ACTIVE: all traffic
 * @IB_PORT_ACTIVE_DEFER: active while the link recovers
 */
enum ib_port_state {
	IB_PORT_NOP,
	IB_PORT_DOWN,
	IB_PORT_INIT,
	IB_PORT_ARMED,
	IB_PORT_ACTIVE,
	IB_PORT_ACTIVE_DEFER,
};

/**
 * enum ib_mtu - path and port MTU as the specification encodes it
 * @IB_MTU_256: 256 bytes
 * @IB_MTU_512: 512 bytes
 * @IB_MTU_1024: 1024 bytes
 * @IB_MTU_2048: 2048 bytes
 * @IB_MTU_4096: 4096 bytes
 */
enum ib_mtu {
	IB_MTU_256 = 1,
	IB_MTU_512,
	IB_MTU_1024,
	IB_MTU_2048,
	IB_MTU_4096,
};

/**
 * ib_mtu_bytes() - an encoded MTU in bytes
 * @mtu: IB_MTU_256 ... IB_MTU_4096
 *
 * Return: bytes, or 0 for anything else.
 */
static inline unsigned int ib_mtu_bytes(enum ib_mtu mtu)
{
	return mtu >= IB_MTU_256 && mtu <= IB_MTU_4096 ? 128U << mtu : 0;
}

/* PortInfo:CapabilityMask (IBA 14.2.5.6), those that somebody looks at. */
#define IB_PORT_CAP_SM BIT(1)
#define IB_PORT_CAP_CLIENT_REREGISTER BIT(25)

/* Link widths and speeds, one bit each (IBA 14.2.5.6). */
#define IB_WIDTH_1X 1
#define IB_WIDTH_4X 2
#define IB_WIDTH_8X 4
#define IB_WIDTH_12X 8
#define IB_WIDTH_2X 16
#define IB_SPEED_SDR 1
#define IB_SPEED_DDR 2
#define IB_SPEED_QDR 4
#define IB_SPEED_FDR10 8
#define IB_SPEED_FDR 16
#define IB_SPEED_EDR 32
#define IB_SPEED_HDR 64
#define IB_SPEED_NDR 128

/**
 * ib_width_lanes() - how many lanes a link of this width has
 * @width: IB_WIDTH_*
 *
 * Return: lanes; 0: no such width.
 */
static inline unsigned int ib_width_lanes(u8 width)
{
	switch (width) {
	case IB_WIDTH_1X:
		return 1;
	case IB_WIDTH_2X:
		return 2;
	case IB_WIDTH_4X:
		return 4;
	case IB_WIDTH_8X:
		return 8;
	case IB_WIDTH_12X:
		return 12;
	default:
		return 0;
	}
}

/**
 * ib_lane_rate() - data rate of a lane of this speed (IBA 14.2.5.6)
 * @speed: IB_SPEED_*
 *
 * Return: tenths of Gbit/s; 0: no such speed.
 */
static inline u16 ib_lane_rate(u16 speed)
{
	switch (speed) {
	case IB_SPEED_SDR:
		return 25;
	case IB_SPEED_DDR:
		return 50;
	case IB_SPEED_QDR:
	case IB_SPEED_FDR10:
		return 100;
	case IB_SPEED_FDR:
		return 140;
	case IB_SPEED_EDR:
		return 250;
	case IB_SPEED_HDR:
		return 500;
	case IB_SPEED_NDR:
		return 1000;
	default:
		return 0;
	}
}

/**
 * struct ib_port_attr - what a port is like at a moment; host byte order
 * @subnet_prefix: GID prefix; host byte order
 * @is_ethernet: it is another protocol's port: all else says that it is down
 * @state: logical state
 * @max_mtu: largest MTU of the port
 * @active_mtu: the MTU in force
 * @phys_mtu: that in bytes
 * @gid_tbl_len: number of GIDs
 * @pkey_tbl_len: number of P_Keys
 * @cap_mask: PortInfo:CapabilityMask
 * @cap_mask2: PortInfo:CapabilityMask2
 * @max_msg_sz: longest message, in bytes
 * @bad_pkey_cntr: P_Key violations
 * @qkey_viol_cntr: Q_Key violations
 * @lid: base LID; 0: none yet
 * @sm_lid: LID of the master SM
 * @lmc: the low @lmc bits of a LID are path bits
 * @max_vl_num: VLs, encoded
 * @sm_sl: SL to reach the SM by
 * @subnet_timeout: encoded
 * @init_type_reply: see IBA 14.2.5.6
 * @active_width: IB_WIDTH_*
 * @active_speed: IB_SPEED_*
 * @phys_state: PortInfo:PortPhysicalState
 * @grh_required: every packet needs a GRH
 */
struct ib_port_attr {
	u64 subnet_prefix;
	bool is_ethernet;
	enum ib_port_state state;
	enum ib_mtu max_mtu;
	enum ib_mtu active_mtu;
	u32 phys_mtu;
	int gid_tbl_len;
	u16 pkey_tbl_len;
	u32 cap_mask;
	u16 cap_mask2;
	u32 max_msg_sz;
	u32 bad_pkey_cntr;
	u32 qkey_viol_cntr;
	u16 lid;
	u16 sm_lid;
	u8 lmc;
	u8 max_vl_num;
	u8 sm_sl;
	u8 subnet_timeout;
	u8 init_type_reply;
	u8 active_width;
	u16 active_speed;
	u8 phys_state;
	bool grh_required;
};

/**
 * ib_link_rate() - how fast the link of a port is
 * @attr: the port
 *
 * Return: tenths of Gbit/s, as ib_rate() gives them; 0: not known.
 */
static inline u16 ib_link_rate(const struct ib_port_attr *attr)
{
	return ib_lane_rate(attr->active_speed) * ib_width_lanes(attr->active_width);
}

/* What a port can be asked to change. */
#define IB_PORT_MODIFY_SHUTDOWN BIT(0)
#define IB_PORT_MODIFY_INIT_TYPE BIT(2)
#define IB_PORT_MODIFY_RESET_QKEY_CNTR BIT(3)

/**
 * struct ib_port_modify - a change of a port
 * @set_cap_mask: bits of the capability mask to set
 * @clr_cap_mask: bits to clear
 * @init_type: see IBA 14.2.5.6
 */
struct ib_port_modify {
	u32 set_cap_mask;
	u32 clr_cap_mask;
	u8 init_type;
};

/**
 * ib_port_query() - ask the hardware about a port
 * @device: the device
 * @port: from 1
 * @attr: filled in
 *
 * Context: may sleep; inside the gate for the length of the provider's call.
 * Return: 0, -EINVAL: no such port, -EIO: gone, -ENODEV: stopped, or the provider's error.
 */
int ib_port_query(struct ib_device *device, u8 port, struct ib_port_attr *attr);

/**
 * ib_port_modify() - change a port
 * @device: the device
 * @port: from 1
 * @mask: IB_PORT_MODIFY_*
 * @modify: the change
 *
 * Return: as ib_port_query().
 */
int ib_port_modify(struct ib_device *device, u8 port, u32 mask,
		   const struct ib_port_modify *modify);

/**
 * ib_port_cached() - what the port was like when it was last asked
 * @device: a device between ib_cache_start() and the end of its memory
 * @port: from 1
 * @attr: filled in
 *
 * Context: any, as all that follow.
 * Return: 0; -EINVAL: no such port; -ENODEV: the cache has been closed.
 */
int ib_port_cached(struct ib_device *device, u8 port, struct ib_port_attr *attr);

/**
 * ib_gid_cached() - an entry of a GID table
 * @device: as above
 * @port: from 1
 * @index: from 0
 * @gid: filled in; zero for an empty entry
 *
 * Return: 0; -EINVAL: no such port or index; -ENODEV: closed.
 */
int ib_gid_cached(struct ib_device *device, u8 port, unsigned int index, union ib_gid *gid);

/**
 * ib_gid_find() - where a GID stands
 * @device: as above
 * @port: from 1, or 0 for any
 * @gid: not zero
 * @found_port: the port it was found on; may be NULL
 * @index: its index; may be NULL
 *
 * Return: 0; -ENOENT: nowhere; -EINVAL; -ENODEV.
 */
int ib_gid_find(struct ib_device *device, u8 port, const union ib_gid *gid, u8 *found_port,
		u16 *index);

/**
 * ib_pkey_cached() - an entry of a P_Key table
 * @device: as above
 * @port: from 1
 * @index: from 0
 * @pkey: filled in; host byte order
 *
 * Return: 0; -EINVAL: no such port or index; -ENODEV: closed.
 */
int ib_pkey_cached(struct ib_device *device, u8 port, unsigned int index, u16 *pkey);

/**
 * ib_pkey_find() - where a partition stands
 * @device: as above
 * @port: from 1
 * @pkey: only the partition number counts; full membership is preferred where both exist
 * @index: filled in
 *
 * Return: 0; -ENOENT; -EINVAL; -ENODEV.
 */
int ib_pkey_find(struct ib_device *device, u8 port, u16 pkey, u16 *index);

/**
 * ib_lmc_cached() - LID mask count of a port
 * @device: as above
 * @port: from 1
 *
 * Return: 0 to 7; 0 also when the port or the cache is not there.
 */
u8 ib_lmc_cached(struct ib_device *device, u8 port);

#endif /* IB_PORT_H */
