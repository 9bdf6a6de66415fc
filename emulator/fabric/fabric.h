/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fabric: the cables between ports, and the switch they lead to.
 *
 * Whoever asks for a connection gets a link end (link.h). Two of them on one
 * fabric are cabled back to back; with the third a switch appears, and each
 * gets a cable to a port of its own, in the order of attaching. A fabric may
 * also reach into another process: then the far end of a cable is a wire,
 * through which a front-end moves packets and the polling state.
 *
 * Packets wait in the receiving end's queues, one for VL15 and one for all
 * else, and are delivered by fabric_fire() alone, a bounded number at a time.
 * Nothing here calls a port from inside a call that a port made.
 */
#ifndef FABRIC_FABRIC_H
#define FABRIC_FABRIC_H

#include "../model/host.h"
#include "../model/link.h"

struct fabric;
struct fsw;

/* Packets that one fabric_fire() delivers at most, so that a guest never waits long. */
#define FABRIC_BUDGET 128

/* A packet whose way out stays blocked for so long (virtual ns) is dropped by the switch. */
#define FABRIC_HOQ_NS 500000000ull

/**
 * fabric_create() - an empty fabric
 * @host: time, timer, memory and log; copied
 * @name: copied, at most 63 characters; the switch's GUID derives from it
 * @always_switch: put a switch between the ports even if there are just two
 *
 * Return: the fabric, or NULL for lack of memory.
 */
struct fabric *fabric_create(const struct cx3_host *host, const char *name, bool always_switch);

/**
 * fabric_destroy() - free the fabric and what is left of its cables
 * @fab: fabric or NULL; no port may use its ends any more
 */
void fabric_destroy(struct fabric *fab);

/**
 * fabric_attach() - a link end for one port
 * @fab: fabric
 *
 * Return: the end, to be claimed and in the end detached by the port; NULL
 * when the switch has no free port or for lack of memory.
 */
struct link_end *fabric_attach(struct fabric *fab);

/** fabric_fire() - the timer is due: train links, deliver packets */
void fabric_fire(struct fabric *fab);

/** fabric_ports() - how many ports are attached */
unsigned int fabric_ports(const struct fabric *fab);

/** fabric_switch() - the switch, or NULL while there is none */
struct fsw *fabric_switch(struct fabric *fab);

/**
 * fabric_cable() - two joined ends that belong to no named place
 * @fab: fabric whose queue and timer serve them
 * @a: set to one end
 * @b: set to the other
 *
 * For a second switch and the like. Return: false for lack of memory.
 */
bool fabric_cable(struct fabric *fab, struct link_end **a, struct link_end **b);

/**
 * fabric_tap() - see every packet once, where it enters the fabric
 * @fab: fabric
 * @tap: called with virtual time and the packet, both CRCs right; NULL ends it
 * @arg: first argument of @tap
 */
void fabric_tap(struct fabric *fab, void (*tap)(void *arg, u64 now, const u8 *pkt, u32 len),
		void *arg);

/**
 * fabric_fault_add() - add one fault rule (see fault.c for the language)
 * @fab: fabric
 * @rule: text of one rule
 * @why: set to a constant text on error
 *
 * Return: 0, or negative for a rule that cannot be understood.
 */
int fabric_fault_add(struct fabric *fab, const char *rule, const char **why);

/** fabric_faults_struck() - how often rules have struck */
u64 fabric_faults_struck(const struct fabric *fab);

/**
 * struct fabric_wire_ops - the other process, as the fabric sees it
 * @send: take one packet for the other side; CRC bytes are still to be filled in
 * @room: can @send take a packet now? If not, fabric_wire_ready() follows
 * @poll: the local port began (or ceased) to poll; to be told to the other side
 *
 * None of them may call the fabric.
 */
struct fabric_wire_ops {
	void (*send)(void *arg, const u8 *pkt, u32 len);
	bool (*room)(void *arg);
	void (*poll)(void *arg, bool on);
};

struct fabric_wire;

/**
 * fabric_wire_attach() - a cable whose far end is in another process
 * @fab: fabric
 * @ops: the far end
 * @arg: first argument of @ops
 * @port: set to the near end, for a port to claim; NULL: it is plugged into
 *	the switch, which is made if need be
 *
 * Return: the wire, or NULL (no memory, no free port of the switch).
 */
struct fabric_wire *fabric_wire_attach(struct fabric *fab, const struct fabric_wire_ops *ops,
				       void *arg, struct link_end **port);

/** fabric_wire_detach() - the other side is gone for good; the near end loses its link */
void fabric_wire_detach(struct fabric_wire *wire);

/** fabric_wire_poll() - the other side's port polls, or does not any more */
void fabric_wire_poll(struct fabric_wire *wire, bool on);

/** fabric_wire_polled() - does the near port poll? For a connection just made */
bool fabric_wire_polled(const struct fabric_wire *wire);

/** fabric_wire_has_port() - is there still a near port, or has it been detached? */
bool fabric_wire_has_port(const struct fabric_wire *wire);

/** fabric_wire_ready() - room() is true again */
void fabric_wire_ready(struct fabric_wire *wire);

/** fabric_wire_room() - will fabric_wire_rx() take any packet now? */
bool fabric_wire_room(const struct fabric_wire *wire);

/**
 * fabric_wire_drained() - ask to be told when fabric_wire_rx() is worth trying again
 * @wire: wire
 * @drained: called out of fabric_fire(), after LINK_BUSY or when the link came
 *	up; of the fabric it may call fabric_wire_rx() and _room() only
 */
void fabric_wire_drained(struct fabric_wire *wire, void (*drained)(void *arg));

/**
 * fabric_wire_rx() - a packet came from the other side
 * @wire: wire
 * @pkt: any bytes; checked for size, length field and both CRCs
 * @len: their number
 *
 * Return: LINK_OK also for a bad packet, which is dropped and counted;
 * LINK_BUSY: not taken, try again when drained.
 */
enum link_result fabric_wire_rx(struct fabric_wire *wire, const u8 *pkt, u32 len);

/** fabric_wire_errors() - packets dropped by fabric_wire_rx() as malformed */
u64 fabric_wire_errors(const struct fabric_wire *wire);

/**
 * fabric_end_room() - would link_send() of @len bytes outside VL15 be taken?
 * @end: an end made by a fabric
 * @len: bytes
 *
 * Also true when the link is down: the packet would not wait.
 */
bool fabric_end_room(const struct link_end *end, u32 len);

#endif /* FABRIC_FABRIC_H */
