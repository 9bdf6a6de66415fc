/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two emulated HCAs on one cable, each driven by mlx4_core and mlx4_ib, for suites of the services
 * above them.  The near one is the one under test.  On the far one an SM sits, made of ib_core's
 * own MAD agents: it gives both ports their LIDs by directed routes, makes them ACTIVE, and answers
 * for the SA (sa/sm.h); beside it there are servers that answer other classes.
 *
 * mlx4_ib is bound to emulated HCAs only while a stage stands, or after wire_driver_on().
 */
#ifndef STAGE_H
#define STAGE_H

#include <linux/completion.h>

#include <ib/mad.h>

#include <lastref/hca.h>

#include "../sa/sm.h"

#define WIRE_SM_LID 1
#define WIRE_NEAR_LID 2
/*
 * Classes of the two servers: a vendor's with RMPP and an OUI, and one without either.  Of those
 * the firmware has 0x09 and 0x0a for itself.
 */
#define WIRE_CLASS_LONG 0x32
#define WIRE_CLASS_SHORT 0x0c
#define WIRE_OUI 0x0002c9
/* In the data of a request to the first: how long the answer shall be; 0: as long as itself. */
#define WIRE_ANSWER_BYTES IB_U32(IB_VENDOR2_DATA)

/**
 * struct wire_end - one of the two
 * @h: the HCA
 * @attachment: our client's, while it is attached; its memory is kept longer
 * @attached: it is
 * @removes: calls of remove_one
 */
struct wire_end {
	struct lr_hca *h;
	struct ib_attachment *attachment;
	bool attached;
	int removes;
};

/**
 * struct wire - the stage
 * @test: whose
 * @fabric: the cable
 * @near: the one under test
 * @far: the SM's
 * @sm: what it knows; the near port is its port 1, and it never hears who leaves with @far
 * @smi: its agent at QP0
 * @sa: its agent at QP1
 * @servers: agents that answer
 * @from: where the last request of each of its ports came from
 * @served: requests that a server has answered
 * @stop_at: the SA says that it has been asked so often (since 0 was written to &sm.nseen), ...
 * @reached: ... here
 * @remove: what the client does in remove_one of the near one; NULL: nothing
 * @data: for @remove
 */
struct wire {
	struct kunit *test;
	struct lr_fabric *fabric;
	struct wire_end near;
	struct wire_end far;
	struct sm *sm;
	struct ib_mad_agent *smi;
	struct ib_mad_agent *sa;
	struct ib_mad_agent *servers[2];
	struct ib_mad_addr from[VFAKE_PORTS];
	atomic_t served;
	unsigned int stop_at;
	struct completion reached;
	void (*remove)(struct wire *w);
	void *data;
};

/**
 * wire_driver_on() - until the test ends mlx4_ib binds to whatever mlx4_core does
 * @test: owner; HCAs that it makes afterwards go before the driver
 */
void wire_driver_on(struct kunit *test);

/**
 * wire_up() - set the stage: both HCAs attached, both ports ACTIVE
 * @test: owner; all of it goes when the test ends
 *
 * Return: the stage; the test ends here if there is none.
 */
struct wire *wire_up(struct kunit *test);

/** wire_plug() - another near HCA in place of the one that is there or was; its port is in INIT */
void wire_plug(struct wire *w);

/** wire_activate() - the SM makes both ports ACTIVE; when this returns everybody has heard of it */
void wire_activate(struct wire *w);

/**
 * wire_smp() - a subnet management packet of the SM, by directed route
 * @w: the stage
 * @hops: 0: to its own port; 1: to the near one
 * @method: IB_METHOD_GET or IB_METHOD_SET
 * @attr: attribute
 * @modifier: its modifier
 * @data: 64 bytes; taken, and overwritten by the answer
 *
 * Return: 0, or an error of the MAD service; -EPROTO: the answer has a status.
 */
int wire_smp(struct wire *w, u8 hops, u8 method, u16 attr, u32 modifier, u8 *data);

/**
 * wire_reregister() - the SM asks the near port to register again
 * @w: the stage
 */
void wire_reregister(struct wire *w);

/**
 * wire_answer() - send a MAD for which no answer is expected
 * @agent: the agent
 * @to: where to
 * @mad: what; at least %IB_MAD_SIZE bytes, of which those are taken
 * @length: how long it shall be
 * @flags: IB_MAD_SEND_*
 *
 * What cannot be sent is lost, as on a wire.
 */
void wire_answer(struct ib_mad_agent *agent, const struct ib_mad_addr *to, const u8 *mad,
		 u32 length, u32 flags);

/** wire_device() - the near device */
struct ib_device *wire_device(struct wire *w);

#endif
