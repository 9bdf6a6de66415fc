/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state machine of an interface, as pure functions.
 *
 * An interface stands on one rung of a ladder.  What it wants and what it finds (the facts) say up
 * to which rung it may stand; events say down to which rung it has to go first.  Whoever runs the
 * machine (work.c, and nobody else) goes rung by rung, so that each thing is done by one function
 * and undone by one other.
 *
 *   BARE      no IB object
 *   MADE      CQs and QP exist, so there is an address
 *   RUNNING   the QP receives and sends
 *   JOINING   the port is active: groups are joined, broadcast first, and paths looked up
 *   UP        in the broadcast group: carrier
 */
#ifndef IPOIB_LADDER_H
#define IPOIB_LADDER_H

#include <ib/event.h>
#include <ib/port.h>

/**
 * enum ipoib_rung - see above
 * @IPOIB_BARE: no IB object
 * @IPOIB_MADE: queues exist
 * @IPOIB_RUNNING: the QP is in RTS
 * @IPOIB_JOINING: the subnet is there
 * @IPOIB_UP: carrier
 * @IPOIB_RUNGS: how many there are
 */
enum ipoib_rung {
	IPOIB_BARE,
	IPOIB_MADE,
	IPOIB_RUNNING,
	IPOIB_JOINING,
	IPOIB_UP,
	IPOIB_RUNGS,
};

/**
 * enum ipoib_flush - what an event takes from an interface
 * @IPOIB_FLUSH_NONE: nothing
 * @IPOIB_FLUSH_LIGHT: paths are asked for again, and used until the answer is there
 * @IPOIB_FLUSH_NORMAL: paths are forgotten, carrier goes until the facts are known to be right
 * @IPOIB_FLUSH_HEAVY: the QP is set up again if its partition or its place in the table changed
 * @IPOIB_FLUSH_RESTART: the QP is set up again
 * @IPOIB_FLUSH_REBUILD: all queues are made anew
 */
enum ipoib_flush {
	IPOIB_FLUSH_NONE,
	IPOIB_FLUSH_LIGHT,
	IPOIB_FLUSH_NORMAL,
	IPOIB_FLUSH_HEAVY,
	IPOIB_FLUSH_RESTART,
	IPOIB_FLUSH_REBUILD,
};

/**
 * struct ipoib_facts - what an interface wants and finds at a moment
 * @present: there is an HCA for it
 * @up: its user wants it up
 * @has_pkey: its partition is in the port's table
 * @has_gid: its GID is in the port's table
 * @active: the port is active
 * @joined: it is in the broadcast group
 * @worn: its queues are of no use any more, and others are to be made
 * @pkey: partition, with the full member bit
 * @pkey_index: where it stands in the table
 * @gid: its GID
 */
struct ipoib_facts {
	bool present;
	bool up;
	bool has_pkey;
	bool has_gid;
	bool active;
	bool joined;
	bool worn;
	u16 pkey;
	u16 pkey_index;
	union ib_gid gid;
};

/**
 * ipoib_flush_of() - what an event asks for
 * @type: the event
 *
 * Return: the level.
 */
enum ipoib_flush ipoib_flush_of(enum ib_event_type type);

/**
 * ipoib_reach() - the highest rung that the facts allow
 * @facts: the facts
 *
 * Return: the rung.
 */
enum ipoib_rung ipoib_reach(const struct ipoib_facts *facts);

/**
 * ipoib_fall() - the rung to go down to before anything else
 * @flush: the highest level that was asked for
 * @then: the facts that the present rung was reached with
 * @now: the facts
 *
 * A partition or GID that is not what it was counts, whatever was asked for: an event may come late
 * or be merged with another.
 *
 * Return: the rung; IPOIB_UP if nothing has to go.
 */
enum ipoib_rung ipoib_fall(enum ipoib_flush flush, const struct ipoib_facts *then,
			   const struct ipoib_facts *now);

/**
 * ipoib_backoff() - how long to wait before something that failed is tried again
 * @failures: how often it has failed in a row, from 1
 *
 * Return: seconds: 1, 2, 4, 8, then 16.
 */
unsigned int ipoib_backoff(unsigned int failures);

/**
 * ipoib_rung_name() - the word for a rung
 * @rung: the rung
 *
 * Return: a literal.
 */
const char *ipoib_rung_name(enum ipoib_rung rung);

#endif /* IPOIB_LADDER_H */
