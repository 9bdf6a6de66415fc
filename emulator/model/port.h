/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a port's management agents keep beside the fields of struct cx3_port.
 */
#ifndef CX3_MODEL_PORT_H
#define CX3_MODEL_PORT_H

#include "core.h"

/* MAD header and SMP layout (IBA vol. 1, 13.4 and 14.2). */
#define MAD_BYTES 256u
#define MAD_CLASS 1
#define MAD_METHOD 3
#define MAD_STATUS 4
#define MAD_ATTR 16
#define MAD_MOD 20
#define SMP_MKEY 24
#define MAD_DATA 64
#define SMP_DATA_BYTES 64u

#define MAD_GET 0x01
#define MAD_SET 0x02
#define MAD_TRAP_REPRESS 0x07
#define MAD_GET_RESP 0x81

#define MAD_CLASS_SMP 0x01
#define MAD_CLASS_SMP_DR 0x81
#define MAD_CLASS_PMA 0x04

/* MAD status codes (IBA vol. 1, table 112). */
#define MAD_OK 0x0000
#define MAD_BAD_VERSION 0x0004
#define MAD_BAD_METHOD 0x0008
#define MAD_BAD_ATTR 0x000c
#define MAD_BAD_FIELD 0x001c

/* Numbers of the traps that an HCA has (IBA vol. 1, table 131), and the bytes of their details. */
#define TRAP_CAPABILITY 144
#define TRAP_BAD_MKEY 256
#define TRAP_BAD_PKEY 257
#define TRAP_BAD_QKEY 258
#define TRAP_DETAILS 54u

#define VLARB_BYTES 64u
#define VLARB_ENTRIES 8u
#define NODE_DESC_BYTES 64u

/**
 * struct cx3_port_sma - state of the subnet and performance agents of a port
 * @mkey: M_Key
 * @mkey_protect: M_Key protect bits
 * @mkey_lease: lease period
 * @subnet_timeout: SubnetTimeOut
 * @width_enabled: LinkWidthEnabled
 * @speed_enabled: LinkSpeedEnabled
 * @ext_speed_enabled: LinkSpeedExtEnabled
 * @down_default: LinkDownDefaultState
 * @vl_high_limit: Limit of High Priority
 * @hoq_life: VLStallCount and HOQLife byte
 * @error_limits: LocalPhyErrors and OverrunErrors byte
 * @init_type: InitTypeReply
 * @partition: partition enforcement and raw filter bits
 * @disabled: SM set the physical state to Disabled
 * @vl_cap: VLs by SET_PORT, IBA code
 * @mtu_cap: MTU by SET_PORT, IBA code
 * @led: LedInfo mask
 * @vlarb_low: low priority arbitration table
 * @vlarb_high: high priority arbitration table
 * @trap_tid: transaction of the last trap
 * @trap_next: time at which the next trap of each kind may be told
 * @base: PortCounters: what to subtract from each counter
 * @base_ext: PortCountersExtended: likewise
 */
struct cx3_port_sma {
	u64 mkey;
	u8 mkey_protect;
	u16 mkey_lease;
	u8 subnet_timeout;
	u8 width_enabled;
	u8 speed_enabled;
	u8 ext_speed_enabled;
	u8 down_default;
	u8 vl_high_limit;
	u8 hoq_life;
	u8 error_limits;
	u8 init_type;
	u8 partition;
	bool disabled;
	u8 vl_cap;
	u8 mtu_cap;
	u8 led;
	u8 vlarb_low[VLARB_BYTES];
	u8 vlarb_high[VLARB_BYTES];
	u64 trap_tid;
	u64 trap_next[4];
	struct cx3_port_counters base;
	struct cx3_port_counters base_ext;
};

/* Event 0x1d: subtypes, and the mask of changed PortInfo fields. */
#define MGMT_GUID_INFO 0x14
#define MGMT_PORT_INFO 0x15
#define MGMT_PKEY_TABLE 0x16
#define CHANGED_SM_LID 0x01u
#define CHANGED_PREFIX 0x02u
#define CHANGED_LID 0x04u
#define CHANGED_REREGISTER 0x08u
#define CHANGED_SM_SL 0x10u

/** cx3_vl_code() - IBA code of a number of VLs (1, 2, 4, 8, 15) */
u8 cx3_vl_code(unsigned int vls);
/** cx3_port_set_state() - change the logical state; raises the port change event */
/** cx3_port_late_rx() - a packet that a fault has kept back arrives at port @num */
void cx3_port_late_rx(struct cx3_hca *hca, u32 num, const void *pkt, u32 len);
void cx3_port_set_state(struct cx3_port *p, enum cx3_port_state state);
/** cx3_port_retrain() - take the link down and up again */
void cx3_port_retrain(struct cx3_port *p);
/** cx3_port_drive_link() - tell the fabric whether this port wants a link */
void cx3_port_drive_link(struct cx3_port *p);

/**
 * cx3_sma() - answer an SMP in place
 * @p: port it came in by
 * @mad: becomes the answer
 * @check_mkey: its M_Key counts
 * @slid: who sent it, as software says
 *
 * Return: the MAD status, or -1 to drop it.
 */
int cx3_sma(struct cx3_port *p, u8 *mad, bool check_mkey, u16 slid);
/** cx3_pma() - answer a performance management MAD in place; MAD status */
int cx3_pma(struct cx3_port *p, u8 *mad);
void cx3_trap_bad_key(struct cx3_port *p, u16 number, const u8 *pkt, u32 len);
void cx3_trap_bad_mkey(struct cx3_port *p, const u8 *mad, u16 slid);
void cx3_trap_capability(struct cx3_port *p);
/** cx3_node_desc() - the device's node description, 64 bytes */
u8 *cx3_node_desc(struct cx3_hca *hca);

#endif
