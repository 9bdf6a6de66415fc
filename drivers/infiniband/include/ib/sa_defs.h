/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Subnet administration (IBA chapter 15): methods, attributes, component masks, record formats.
 *
 * The records here are in host byte order, one member a field; GIDs are in network byte order as
 * everywhere.  What they look like in a MAD is in the field tables of core/sa_record.c, and nowhere
 * else.
 */
#ifndef IB_SA_DEFS_H
#define IB_SA_DEFS_H

#include <linux/bits.h>

#include <ib/port.h>

/* Class version of the SA (IBA 15.2.2). */
#define IB_SA_CLASS_VERSION 2

/**
 * enum ib_sa_method - methods (IBA 15.2.2, table 187)
 * @IB_SA_GET: one record
 * @IB_SA_SET: create or change a record
 * @IB_SA_GET_TABLE: all records that match
 * @IB_SA_DELETE: delete a record
 */
enum ib_sa_method {
	IB_SA_GET = 0x01,
	IB_SA_SET = 0x02,
	IB_SA_GET_TABLE = 0x12,
	IB_SA_DELETE = 0x15,
};

/**
 * enum ib_sa_attr - attributes this file has a record for (IBA 15.2.5)
 * @IB_SA_CLASS_PORT_INFO: what the SA can do; struct ib_sa_class_port_info
 * @IB_SA_GUID_INFO: GUIDs of a port; struct ib_sa_guid_info
 * @IB_SA_SERVICE: a service somebody offers; struct ib_sa_service
 * @IB_SA_PATH: a path; struct ib_sa_path
 * @IB_SA_MCMEMBER: membership of a multicast group; struct ib_sa_mcmember
 */
enum ib_sa_attr {
	IB_SA_CLASS_PORT_INFO = 0x0001,
	IB_SA_GUID_INFO = 0x0030,
	IB_SA_SERVICE = 0x0031,
	IB_SA_PATH = 0x0035,
	IB_SA_MCMEMBER = 0x0038,
};

/* The class specific part of the MAD status, as the SA uses it (IBA 15.2.3). */
#define IB_SA_STATUS_NO_RESOURCES 0x0100
#define IB_SA_STATUS_REQ_INVALID 0x0200
#define IB_SA_STATUS_NO_RECORDS 0x0300
#define IB_SA_STATUS_TOO_MANY_RECORDS 0x0400
#define IB_SA_STATUS_INVALID_GID 0x0500
#define IB_SA_STATUS_INSUF_COMPS 0x0600
#define IB_SA_STATUS_DENIED 0x0700

/**
 * enum ib_sa_selector - how a given MTU, rate or packet lifetime is to be compared
 * @IB_SA_GREATER: the result shall be greater than the given value
 * @IB_SA_LESS: less
 * @IB_SA_EQUAL: the same
 * @IB_SA_LARGEST: the largest there is (packet lifetime: the smallest); the value is ignored
 */
enum ib_sa_selector {
	IB_SA_GREATER,
	IB_SA_LESS,
	IB_SA_EQUAL,
	IB_SA_LARGEST,
};

/* Component mask of a PathRecord (IBA 15.2.5.16). */
#define IB_SA_PATH_SERVICE_ID (BIT_ULL(0) | BIT_ULL(1))
#define IB_SA_PATH_DGID BIT_ULL(2)
#define IB_SA_PATH_SGID BIT_ULL(3)
#define IB_SA_PATH_DLID BIT_ULL(4)
#define IB_SA_PATH_SLID BIT_ULL(5)
#define IB_SA_PATH_RAW_TRAFFIC BIT_ULL(6)
#define IB_SA_PATH_FLOW_LABEL BIT_ULL(8)
#define IB_SA_PATH_HOP_LIMIT BIT_ULL(9)
#define IB_SA_PATH_TRAFFIC_CLASS BIT_ULL(10)
#define IB_SA_PATH_REVERSIBLE BIT_ULL(11)
#define IB_SA_PATH_NUMB_PATH BIT_ULL(12)
#define IB_SA_PATH_PKEY BIT_ULL(13)
#define IB_SA_PATH_QOS_CLASS BIT_ULL(14)
#define IB_SA_PATH_SL BIT_ULL(15)
#define IB_SA_PATH_MTU_SELECTOR BIT_ULL(16)
#define IB_SA_PATH_MTU BIT_ULL(17)
#define IB_SA_PATH_RATE_SELECTOR BIT_ULL(18)
#define IB_SA_PATH_RATE BIT_ULL(19)
#define IB_SA_PATH_LIFETIME_SELECTOR BIT_ULL(20)
#define IB_SA_PATH_LIFETIME BIT_ULL(21)
#define IB_SA_PATH_PREFERENCE BIT_ULL(22)

/**
 * struct ib_sa_path - PathRecord (IBA 15.2.5.16)
 * @service_id: service the path is for
 * @dgid: destination
 * @sgid: source
 * @dlid: its LID, in this subnet
 * @slid: our LID, path bits included
 * @raw_traffic: for raw packets
 * @flow_label: of the GRH, 20 bits
 * @hop_limit: of the GRH; above 1 the path leaves the subnet
 * @traffic_class: of the GRH
 * @reversible: the way back is the same
 * @numb_path: in a GetTable: at most so many, 7 bits
 * @pkey: partition
 * @qos_class: 12 bits
 * @sl: service level
 * @mtu_selector: enum ib_sa_selector
 * @mtu: enum ib_mtu
 * @rate_selector: enum ib_sa_selector
 * @rate: encoded as in the specification (2: 2.5 Gb/s, 3: 10, 6: 20, 7: 40, ...)
 * @lifetime_selector: enum ib_sa_selector
 * @lifetime: packet lifetime, 4.096 us * 2^lifetime
 * @preference: 0 is the best of those returned
 */
struct ib_sa_path {
	u64 service_id;
	union ib_gid dgid;
	union ib_gid sgid;
	u16 dlid;
	u16 slid;
	u8 raw_traffic;
	u32 flow_label;
	u8 hop_limit;
	u8 traffic_class;
	u8 reversible;
	u8 numb_path;
	u16 pkey;
	u16 qos_class;
	u8 sl;
	u8 mtu_selector;
	u8 mtu;
	u8 rate_selector;
	u8 rate;
	u8 lifetime_selector;
	u8 lifetime;
	u8 preference;
};

/* Component mask of a MCMemberRecord (IBA 15.2.5.17). */
#define IB_SA_MCMEMBER_MGID BIT_ULL(0)
#define IB_SA_MCMEMBER_PORT_GID BIT_ULL(1)
#define IB_SA_MCMEMBER_QKEY BIT_ULL(2)
#define IB_SA_MCMEMBER_MLID BIT_ULL(3)
#define IB_SA_MCMEMBER_MTU_SELECTOR BIT_ULL(4)
#define IB_SA_MCMEMBER_MTU BIT_ULL(5)
#define IB_SA_MCMEMBER_TRAFFIC_CLASS BIT_ULL(6)
#define IB_SA_MCMEMBER_PKEY BIT_ULL(7)
#define IB_SA_MCMEMBER_RATE_SELECTOR BIT_ULL(8)
#define IB_SA_MCMEMBER_RATE BIT_ULL(9)
#define IB_SA_MCMEMBER_LIFETIME_SELECTOR BIT_ULL(10)
#define IB_SA_MCMEMBER_LIFETIME BIT_ULL(11)
#define IB_SA_MCMEMBER_SL BIT_ULL(12)
#define IB_SA_MCMEMBER_FLOW_LABEL BIT_ULL(13)
#define IB_SA_MCMEMBER_HOP_LIMIT BIT_ULL(14)
#define IB_SA_MCMEMBER_SCOPE BIT_ULL(15)
#define IB_SA_MCMEMBER_JOIN_STATE BIT_ULL(16)
#define IB_SA_MCMEMBER_PROXY_JOIN BIT_ULL(17)

/* JoinState: a port may be in a group in several ways at once (IBA 15.2.5.17). */
#define IB_SA_JOIN_FULL BIT(0)
#define IB_SA_JOIN_NON_MEMBER BIT(1)
#define IB_SA_JOIN_SEND_ONLY BIT(2)
#define IB_SA_JOIN_SEND_ONLY_FULL BIT(3)
#define IB_SA_JOIN_ALL 0xf

/**
 * struct ib_sa_mcmember - MCMemberRecord (IBA 15.2.5.17)
 * @mgid: the group; zero in a request lets the SA choose one
 * @port_gid: the member
 * @qkey: Q_Key
 * @mlid: LID of the group
 * @mtu_selector: enum ib_sa_selector
 * @mtu: enum ib_mtu
 * @traffic_class: of the GRH
 * @pkey: partition
 * @rate_selector: enum ib_sa_selector
 * @rate: encoded as in struct ib_sa_path
 * @lifetime_selector: enum ib_sa_selector
 * @lifetime: as in struct ib_sa_path
 * @sl: service level
 * @flow_label: of the GRH, 20 bits
 * @hop_limit: of the GRH
 * @scope: 4 bits, as in the MGID
 * @join_state: IB_SA_JOIN_*
 * @proxy_join: set by somebody else
 */
struct ib_sa_mcmember {
	union ib_gid mgid;
	union ib_gid port_gid;
	u32 qkey;
	u16 mlid;
	u8 mtu_selector;
	u8 mtu;
	u8 traffic_class;
	u16 pkey;
	u8 rate_selector;
	u8 rate;
	u8 lifetime_selector;
	u8 lifetime;
	u8 sl;
	u32 flow_label;
	u8 hop_limit;
	u8 scope;
	u8 join_state;
	u8 proxy_join;
};

/* Component mask of a ServiceRecord (IBA 15.2.5.14); @n counts from 0. */
#define IB_SA_SERVICE_ID BIT_ULL(0)
#define IB_SA_SERVICE_GID BIT_ULL(1)
#define IB_SA_SERVICE_PKEY BIT_ULL(2)
#define IB_SA_SERVICE_LEASE BIT_ULL(4)
#define IB_SA_SERVICE_KEY BIT_ULL(5)
#define IB_SA_SERVICE_NAME BIT_ULL(6)
#define IB_SA_SERVICE_DATA8(n) BIT_ULL(7 + (n))
#define IB_SA_SERVICE_DATA16(n) BIT_ULL(23 + (n))
#define IB_SA_SERVICE_DATA32(n) BIT_ULL(31 + (n))
#define IB_SA_SERVICE_DATA64(n) BIT_ULL(35 + (n))

/**
 * struct ib_sa_service - ServiceRecord (IBA 15.2.5.14)
 * @id: service ID
 * @gid: the port that offers it
 * @pkey: partition
 * @lease: how long it is valid, in seconds; all ones: for ever
 * @key: who knows it may change the record
 * @name: in UTF-8, not necessarily with a NUL
 * @data8: the service's own
 * @data16: the service's own
 * @data32: the service's own
 * @data64: the service's own
 */
struct ib_sa_service {
	u64 id;
	union ib_gid gid;
	u16 pkey;
	u32 lease;
	u8 key[16];
	u8 name[64];
	u8 data8[16];
	u16 data16[8];
	u32 data32[4];
	u64 data64[2];
};

/* ClassPortInfo:CapabilityMask2 of the SA: joins as send-only full member are understood. */
#define IB_SA_CAP2_SEND_ONLY_FULL BIT(12)

/**
 * struct ib_sa_class_port_info - ClassPortInfo (IBA 13.4.8.1)
 * @base_version: of MADs
 * @class_version: of the class
 * @cap_mask: CapabilityMask
 * @cap_mask2: CapabilityMask2, 27 bits
 * @resp_time: how long an answer may take, 4.096 us * 2^resp_time
 * @redirect_gid: where else to ask
 * @redirect_tc: traffic class
 * @redirect_sl: service level
 * @redirect_fl: flow label
 * @redirect_lid: LID
 * @redirect_pkey: P_Key
 * @redirect_qp: QP number
 * @redirect_qkey: Q_Key
 * @trap_gid: where traps go
 * @trap_tc: traffic class
 * @trap_sl: service level
 * @trap_fl: flow label
 * @trap_lid: LID
 * @trap_pkey: P_Key
 * @trap_hl: hop limit
 * @trap_qp: QP number
 * @trap_qkey: Q_Key
 */
struct ib_sa_class_port_info {
	u8 base_version;
	u8 class_version;
	u16 cap_mask;
	u32 cap_mask2;
	u8 resp_time;
	union ib_gid redirect_gid;
	u8 redirect_tc;
	u8 redirect_sl;
	u32 redirect_fl;
	u16 redirect_lid;
	u16 redirect_pkey;
	u32 redirect_qp;
	u32 redirect_qkey;
	union ib_gid trap_gid;
	u8 trap_tc;
	u8 trap_sl;
	u32 trap_fl;
	u16 trap_lid;
	u16 trap_pkey;
	u8 trap_hl;
	u32 trap_qp;
	u32 trap_qkey;
};

/* Component mask of a GUIDInfoRecord (IBA 15.2.5.18); @n counts from 0. */
#define IB_SA_GUID_INFO_LID BIT_ULL(0)
#define IB_SA_GUID_INFO_BLOCK BIT_ULL(1)
#define IB_SA_GUID_INFO_GUID(n) BIT_ULL(4 + (n))

/**
 * struct ib_sa_guid_info - GUIDInfoRecord (IBA 15.2.5.18)
 * @lid: the port
 * @block: which eight of its GUIDs
 * @guid: the GUIDs, host byte order
 */
struct ib_sa_guid_info {
	u16 lid;
	u8 block;
	u64 guid[8];
};

/**
 * union ib_sa_record - a record of any attribute
 * @path: IB_SA_PATH
 * @mcmember: IB_SA_MCMEMBER
 * @service: IB_SA_SERVICE
 * @class_port_info: IB_SA_CLASS_PORT_INFO
 * @guid_info: IB_SA_GUID_INFO
 */
union ib_sa_record {
	struct ib_sa_path path;
	struct ib_sa_mcmember mcmember;
	struct ib_sa_service service;
	struct ib_sa_class_port_info class_port_info;
	struct ib_sa_guid_info guid_info;
};

#endif /* IB_SA_DEFS_H */
