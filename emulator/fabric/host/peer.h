/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One end of a cable between two processes: a connected stream socket on one
 * side, a struct fabric_wire on the other. Used by the switch program and by
 * the QEMU front-end.
 *
 * Frames are 8 bytes (whole length BE32, type, three zero bytes) and a body:
 *
 *   HELLO   "IBcable" and a version byte; the first frame of each side
 *   POLL    one byte: this side's port polls (1) or does not (0)
 *   PACKET  one InfiniBand packet, LRH to VCRC
 *
 * The end of the stream means that the cable was pulled. Bytes that cannot be
 * such a stream do too, with a reason. A packet with bad CRCs is dropped.
 * Nothing here blocks: what the socket does not take waits in a bounded
 * buffer, and the wire refuses data packets while it is over half full.
 */
#ifndef FABRIC_HOST_PEER_H
#define FABRIC_HOST_PEER_H

#include "../fabric.h"

struct peer;

/**
 * peer_create() - take over a connected socket
 * @fd: made non-blocking; closed by peer_destroy(), or here on failure
 * @kick: called when there is something to write, from inside the fabric: it
 *	may do no more than peer_flush() or remember to. May be NULL
 * @arg: argument of @kick
 *
 * Return: the peer, without a cable so far; NULL for lack of memory.
 */
struct peer *peer_create(int fd, void (*kick)(void *arg), void *arg);

/**
 * peer_plug() - join it to a fabric
 * @p: peer
 * @fab: fabric
 * @port: as for fabric_wire_attach()
 *
 * Return: false if the fabric has no place for it.
 */
bool peer_plug(struct peer *p, struct fabric *fab, struct link_end **port);

/**
 * peer_redial() - the other side is there again: go on with a new socket
 * @p: peer that was hung up
 * @fd: as in peer_create()
 *
 * The near port keeps its cable, whose link trains anew.
 *
 * Return: false if the socket cannot be used; it is closed then, and @p stays as it is.
 */
bool peer_redial(struct peer *p, int fd);

/** peer_greeted() - has the other side said that it speaks this protocol? */
bool peer_greeted(const struct peer *p);

/** peer_destroy() - pull the cable, close the socket, free; NULL is allowed */
void peer_destroy(struct peer *p);

/** peer_fd() - its socket */
int peer_fd(const struct peer *p);

/** peer_wants_read() - is there room for what the other side may have sent? */
bool peer_wants_read(const struct peer *p);

/** peer_resumes() - after fabric_fire(): must peer_read() be called for what came earlier? */
bool peer_resumes(const struct peer *p);

/** peer_wants_write() - is something waiting for the socket? */
bool peer_wants_write(const struct peer *p);

/**
 * peer_read() - the socket is readable, or peer_wants_read() became true
 * @p: peer
 *
 * Return: NULL, or why the connection is over (a constant text; an orderly
 * end is "closed by the other side").
 */
const char *peer_read(struct peer *p);

/** peer_flush() - write what the socket takes; as peer_read() */
const char *peer_flush(struct peer *p);

/** peer_hang_up() - the connection is over: take the link down, keep the near port's cable */
void peer_hang_up(struct peer *p);

/** peer_alone() - has the port at this side of the cable gone? */
bool peer_alone(const struct peer *p);

/** peer_errors() - packets dropped since their CRC or length was wrong */
u64 peer_errors(const struct peer *p);

#endif
