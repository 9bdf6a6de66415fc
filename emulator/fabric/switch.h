/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A 36-port InfiniBand switch with its own subnet management agent.
 *
 * The switch owns one link end per external port and forwards what arrives:
 * unicast by its linear forwarding table, multicast by its multicast
 * forwarding table, directed-route SMPs by the path they carry. Port 0 is the
 * agent: it answers SMPs and performance MADs and reports changes of link
 * state to the subnet manager. It keeps no packets: what cannot go out at
 * once is either refused before it came in (fsw_ready(), data) or dropped
 * (VL15), as the link layer of the specification has it.
 *
 * Source: IBA volume 1, chapters 7 (link layer), 14 (subnet management) and
 * 18 (switches).
 */
#ifndef FABRIC_SWITCH_H
#define FABRIC_SWITCH_H

#include "../model/host.h"
#include "../model/link.h"
#include "mad.h"

enum {
	FSW_PORTS = 36,
	FSW_ALL_PORTS = FSW_PORTS + 1,	/* with port 0 */
	FSW_LINEAR_CAP = 0xc000,	/* every unicast LID */
	FSW_MULTICAST_CAP = 1024,
	FSW_MULTICAST_POSITIONS = 3,	/* port masks of 16 ports: 0..15, 16..31, 32..36 */
	FSW_DATA_VLS = 8,
	FSW_PKEYS = 32,			/* one block */
	FSW_NO_PORT = 0xff,
	FSW_VENDOR_ID = 0x525400,
	FSW_DEVICE_ID = 0xfab5,
};

/* What a port counts (IBA 16.1.3.5, 16.1.4.11); data in words of 4 octets up to the VCRC. */
enum fsw_count {
	CNT_SYMBOL_ERRORS,	/* wrong CRC */
	CNT_LINK_DOWNED,
	CNT_RCV_ERRORS,		/* malformed */
	CNT_RELAY_ERRORS,	/* no table entry would forward it */
	CNT_XMIT_DISCARDS,	/* output port not ready for it */
	CNT_VL15_DROPPED,	/* SMP without room */
	CNT_XMIT_WORDS,
	CNT_RCV_WORDS,
	CNT_XMIT_PKTS,
	CNT_RCV_PKTS,
	CNT_UNICAST_XMIT,
	CNT_UNICAST_RCV,
	CNT_MULTICAST_XMIT,
	CNT_MULTICAST_RCV,
	CNT_COUNT,
};

struct fsw;

/**
 * struct fsw_port - an external port, or port 0
 * @sw: the switch
 * @end: its end of the cable; NULL for port 0 and for ports without a cable
 * @num: 0 to FSW_PORTS
 * @info: PortInfo as Get() answers it
 * @sl_to_vl: SLtoVLMappingTable per input port
 * @vl_arb: VLArbitrationTable, four blocks
 * @count: performance counters since power-on
 * @base: value of @count that PortCounters ([0]) or PortCountersExtended ([1])
 *	shows as zero: either can be cleared without the other
 */
struct fsw_port {
	struct fsw *sw;
	struct link_end *end;
	u8 num;
	u8 info[SMP_DATA_SIZE];
	u8 sl_to_vl[FSW_ALL_PORTS][8];
	u8 vl_arb[4][SMP_DATA_SIZE];
	u64 count[CNT_COUNT];
	u64 base[2][CNT_COUNT];
};

/**
 * struct fsw - a switch
 * @host: time, memory and log
 * @guid: node GUID, also of port 0
 * @info: SwitchInfo
 * @description: NodeDescription, zero padded
 * @port: port 0 and the external ones
 * @pkeys: P_Key table of port 0; the external ports enforce none and have none
 * @lft: output port by LID
 * @mft: output port mask by multicast LID and position
 * @mute: a fault keeps port 0 from answering
 * @relaying: a packet of somebody else is being forwarded
 * @trap_tid: transaction of the trap being reported, 0 = none
 * @trap_next: virtual time of its next repetition, CX3_NEVER = none
 * @trap_left: repetitions to go
 */
struct fsw {
	struct cx3_host host;
	u64 guid;
	u8 info[SMP_DATA_SIZE];
	u8 description[SMP_DATA_SIZE];
	struct fsw_port port[FSW_ALL_PORTS];
	u8 pkeys[SMP_DATA_SIZE];
	u8 lft[FSW_LINEAR_CAP];
	u16 mft[FSW_MULTICAST_CAP][FSW_MULTICAST_POSITIONS];
	bool mute;
	bool relaying;
	u64 trap_tid;
	u64 trap_next;
	unsigned int trap_left;
};

/**
 * fsw_create() - a switch in its power-on state, no cable plugged in
 * @host: copied
 * @guid: node GUID
 * @name: goes into the node description
 *
 * Return: the switch, or NULL for lack of memory.
 */
struct fsw *fsw_create(const struct cx3_host *host, u64 guid, const char *name);

/**
 * fsw_destroy() - detach every cable and free
 * @sw: switch or NULL
 */
void fsw_destroy(struct fsw *sw);

/**
 * fsw_restart() - power off and on again: everything but the cables is forgotten
 * @sw: switch
 */
void fsw_restart(struct fsw *sw);

/**
 * fsw_plug() - give a port its cable and let it poll
 * @sw: switch
 * @port: 1 to FSW_PORTS, without a cable so far
 * @end: the switch claims it
 */
void fsw_plug(struct fsw *sw, unsigned int port, struct link_end *end);

/**
 * fsw_unplug() - the cable of a port is pulled; the port detaches its end
 * @sw: switch
 * @port: 1 to FSW_PORTS
 */
void fsw_unplug(struct fsw *sw, unsigned int port);

/**
 * fsw_ready() - is there room wherever this packet would go?
 * @owner: struct fsw_port it would come in by
 * @pkt: packet
 * @len: its length
 *
 * SMPs are never held back; a packet that would be dropped is not either.
 */
bool fsw_ready(void *owner, const u8 *pkt, u32 len);

/**
 * fsw_relays() - is this switch forwarding a packet of somebody else right now?
 * @sw: switch
 */
bool fsw_relays(const struct fsw *sw);

/**
 * fsw_deadline() - virtual time at which fsw_fire() has work, or CX3_NEVER
 * @sw: switch
 */
u64 fsw_deadline(const struct fsw *sw);

/**
 * fsw_fire() - send the trap that is due
 * @sw: switch
 */
void fsw_fire(struct fsw *sw);

/*
 * Between the switch's own files.
 */

/** fsw_output() - send a packet out of a port, or count why not */
void fsw_output(struct fsw *sw, unsigned int port, const u8 *pkt, u32 len);

/** fsw_route() - output port for a unicast LID, FSW_NO_PORT if there is none */
unsigned int fsw_route(const struct fsw *sw, u16 dlid);

/** fsw_lid() - LID of port 0 */
static inline u16 fsw_lid(const struct fsw *sw)
{
	return (u16)mad_get(sw->port[0].info, PI_LID);
}

/** fsw_port_state() - logical state (PORT_DOWN ...) */
static inline unsigned int fsw_port_state(const struct fsw_port *port)
{
	return (unsigned int)mad_get(port->info, PI_PORT_STATE);
}

/** fsw_local() - a packet for port 0 came in by @in: SMP, or MAD for QP1 */
void fsw_local(struct fsw *sw, unsigned int in, const u8 *pkt, u32 len);

/**
 * fsw_sma() - execute an SMP
 * @sw: switch
 * @in: port it came in by
 * @mad: becomes the response
 *
 * Return: false if there is none.
 */
bool fsw_sma(struct fsw *sw, unsigned int in, u8 *mad);

/** fsw_pma() - execute a performance MAD; as fsw_sma() */
bool fsw_pma(struct fsw *sw, u8 *mad);

/** fsw_port_init() - PortInfo and tables of a port at power-on */
void fsw_port_init(struct fsw_port *port);

/** fsw_port_set() - Set(PortInfo) of one port; returns a MAD status */
u16 fsw_port_set(struct fsw_port *port, const u8 *want);

/** fsw_port_link() - the physical link of a port came or went */
void fsw_port_link(struct fsw_port *port, bool up, u8 width, enum link_speed speed);

/** fsw_trap_raise() - a link changed state: tell the subnet manager */
void fsw_trap_raise(struct fsw *sw);

/** fsw_trap_repress() - the subnet manager has seen trap @tid */
void fsw_trap_repress(struct fsw *sw, u64 tid);

#endif /* FABRIC_SWITCH_H */
