/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A port for fabric tests: keeps what arrives, and a subnet manager's hands:
 * building SMPs and waiting for their answers.
 */
#ifndef CX3_TESTS_STATION_H
#define CX3_TESTS_STATION_H

#include "../../fabric/fabric.h"
#include "../../fabric/mad.h"
#include "../../model/wire.h"
#include "fake.h"

enum { STATION_KEEP = 512 };

/**
 * struct station_packet - one packet that arrived
 * @len: its length
 * @pkt: its bytes
 */
struct station_packet {
	u32 len;
	u8 pkt[LINK_MAX_PACKET];
};

/**
 * struct station - owner of a link end
 * @end: the end
 * @up: link state as told
 * @ups: times it came up
 * @downs: times it went down
 * @width: as told
 * @speed: as told
 * @ready: tx_ready() calls
 * @count: packets that arrived
 * @kept: the first of them (and of those since station_forget())
 * @nkept: how many are kept
 * @on_rx: called for each packet, may be NULL
 * @arg: for the test
 */
struct station {
	struct link_end *end;
	bool up;
	unsigned int ups, downs;
	u8 width;
	enum link_speed speed;
	unsigned int ready;
	unsigned int count;
	struct station_packet *kept;
	unsigned int nkept;
	void (*on_rx)(struct station *s, const u8 *pkt, u32 len);
	void *arg;
};

/** station_init() - claim @end, which may be NULL */
void station_init(struct station *s, struct link_end *end);

/** station_fini() - detach and free */
void station_fini(struct station *s);

/** station_forget() - drop what was kept */
void station_forget(struct station *s);

/**
 * build_ud() - a UD packet with a payload of one repeated byte
 * @pkt: room for a whole packet
 * @slid: source
 * @dlid: destination
 * @len: payload bytes
 * @fill: their value
 *
 * Return: its length.
 */
u32 build_ud(u8 *pkt, u16 slid, u16 dlid, u32 len, u8 fill);

/**
 * struct smp_path - where an SMP goes
 * @dlid: LID routed if not 0
 * @slid: source LID of the request
 * @hops: else length of the directed route
 * @port: its output ports, [1] to [@hops]
 */
struct smp_path {
	u16 dlid, slid;
	u8 hops;
	u8 port[SMP_MAX_HOPS];
};

/** build_mad() - header of a MAD; the attribute is left zero */
void build_mad(u8 *mad, u8 class, u8 method, u16 attr, u32 mod, u64 tid);

/** build_smp() - the packet of an SMP as a requester sends it (directed route: hop pointer 1) */
u32 build_smp(u8 *pkt, const struct smp_path *path, const u8 *mad);

/** smp_of() - the MAD in a management packet, or NULL if it is none */
const u8 *smp_of(const struct station_packet *p);

/**
 * smp_ask() - send an SMP and let time pass until the answer is there
 * @w: clock
 * @s: requester
 * @path: destination
 * @method: METHOD_GET or METHOD_SET
 * @attr: attribute
 * @mod: modifier
 * @data: 64 bytes to be sent (zero if NULL)
 *
 * Return: the whole answering MAD, valid until station_forget(); NULL if none
 * came within 10 ms.
 */
const u8 *smp_ask(struct fake_world *w, struct station *s, const struct smp_path *path,
		  u8 method, u16 attr, u32 mod, const u8 *data);

#endif
