/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the fabric: cables with their queues. See fabric.h for what others see.
 *
 * A cable is two struct fab_end that point to each other. Whatever one port
 * does (send, poll, stop polling) changes fields only; fabric_fire() acts on
 * them later: first links, then the switch's timer, then packets.
 */
#ifndef FABRIC_CABLE_H
#define FABRIC_CABLE_H

#include "fabric.h"
#include "ring.h"
#include "switch.h"

enum {
	DATA_RING = 128 * 1024,
	SMP_RING = 32 * 1024,
	MAX_ENDS = 2 * FSW_PORTS + 16,
	NAME_SIZE = 64,
};

/* How long to wait before a blocked queue is looked at again if nobody says so earlier. */
#define BLOCKED_RETRY_NS 1000000ull

/**
 * struct fab_end - one end of a cable
 * @link: what its owner sees
 * @fab: the fabric
 * @peer: other end; NULL for a port that is alone on its fabric
 * @ready: asks the owner whether a packet may be delivered; NULL: always
 * @polled: tells the owner about the peer's polling; NULL: not wanted
 * @data: packets on their way to this end
 * @smp: the same on VL15
 * @train_at: time at which the link comes up, CX3_NEVER if it is not training
 * @blocked_since: time at which @ready first refused the head of @data
 * @polling: the owner wants a link
 * @up: link is up
 * @tell_down: the owner has still to hear that the link went down
 * @starved: the owner got LINK_BUSY
 * @is_switch: the owner is a port of the fabric's switch
 * @pulled: a fault has pulled the cable
 * @num: port number that fault rules know its cable by, 0 = none
 * @dead: detached while packets were being delivered; freed afterwards
 */
struct fab_end {
	struct link_end link;
	struct fabric *fab;
	struct fab_end *peer;
	bool (*ready)(void *owner, const u8 *pkt, u32 len);
	void (*polled)(void *owner, bool on);
	struct packet_ring data;
	struct packet_ring smp;
	u64 train_at;
	u64 blocked_since;
	bool polling, up, tell_down, starved, is_switch, pulled, dead;
	u8 num;
};

/* A port that asked for a connection, and the switch port it is cabled to. */
struct station {
	struct fab_end *end;
	u8 switch_port;
};

struct fab_faults;

struct fabric {
	struct cx3_host host;
	char name[NAME_SIZE];
	bool always_switch;
	bool firing;
	u64 armed;
	struct fsw *sw;
	struct fab_end *end[MAX_ENDS];
	unsigned int nends;
	struct station station[FSW_PORTS];
	unsigned int nstations;
	void (*tap)(void *arg, u64 now, const u8 *pkt, u32 len);
	void *tap_arg;
	u8 scratch[LINK_MAX_PACKET];
	struct fab_faults *faults;
};

/** end_create() - an unclaimed end without a peer; NULL for lack of memory */
struct fab_end *end_create(struct fabric *fab);

/** end_free() - free an end whose cable is cut, at once or after the delivery that is going on */
void end_free(struct fab_end *end);

/** cable_join() - @a and @b become the ends of one cable */
void cable_join(struct fab_end *a, struct fab_end *b);

/** cable_cut() - both ends lose their link and each other; @end stops polling */
void cable_cut(struct fab_end *end);

/** cable_unjoin() - take a cable away from two ports that go on polling */
void cable_unjoin(struct fab_end *end);

/** cable_train_now() - the far side says that the link is up: do not wait any longer */
void cable_train_now(struct fab_end *end);

/** cable_pull() - a fault takes the cable of an end away, or gives it back */
void cable_pull(struct fab_end *end, bool pulled);

/** end_arrive() - a packet reaches an end; it is lost if there is no link or no room */
void end_arrive(struct fab_end *end, const u8 *pkt, u32 len);

/** fabric_kick() - something is to be done: come to fabric_fire() soon */
void fabric_kick(struct fabric *fab);

/** fabric_plug() - take a new end into the topology; @want_switch: not back to back */
bool fabric_plug(struct fabric *fab, struct fab_end *end, bool want_switch);

/** fabric_unplug() - forget an end whose cable was cut */
void fabric_unplug(struct fabric *fab, struct fab_end *end);

static inline struct fab_end *to_end(struct link_end *link)
{
	return container_of(link, struct fab_end, link);
}

#endif /* FABRIC_CABLE_H */
