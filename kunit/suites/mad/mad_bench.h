/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bench of core/bench.h with QP0 and QP1, and a test in the role of the rest of the fabric: it
 * sees what leaves (vfake_take()) and decides what arrives (mad_arrive()).
 */
#ifndef MAD_BENCH_H
#define MAD_BENCH_H

#include <ib/mad.h>

#include "../core/bench.h"

/* A LID that is none of ours, and the OUIs of two vendors. */
#define MAD_PEER_LID 0x33
#define MAD_OUI 0x001405
#define MAD_OUI_2 0x0002c9

/**
 * struct mad_bench - see above
 * @b: the bench under it
 * @test: whose
 * @name: of its HCA
 * @posted: sends that were accepted
 * @done: calls of done
 * @ok: those with status 0
 * @answered: those with a response
 * @timed_out: those that were not answered
 * @canceled: those that were cancelled
 * @failed: all others
 * @last_status: of the last done
 * @received: unsolicited messages
 * @received_by: the agent of the last of them
 * @message: the last message, response or not, that came
 * @again: done posts again so many times
 * @serve: recv answers what it gets
 * @forgotten: sends that the test leaves behind, whose done is not to be called
 */
struct mad_bench {
	struct bench *b;
	struct kunit *test;
	char name[24];
	atomic_t posted;
	atomic_t done;
	atomic_t ok;
	atomic_t answered;
	atomic_t timed_out;
	atomic_t canceled;
	atomic_t failed;
	int last_status;
	atomic_t received;
	struct ib_mad_agent *received_by;
	struct ib_mad_recv *message;
	int again;
	bool serve;
	int forgotten;
};

/**
 * struct mad_head - what a MAD of a test begins with
 * @class: class
 * @version: class version
 * @method: method
 * @attribute: attribute
 * @tid: TID
 */
struct mad_head {
	u8 class;
	u8 version;
	u8 method;
	u16 attribute;
	u64 tid;
};

struct mad_bench *mad_bench_create(struct kunit *test, const char *name);
struct mad_bench *mad_bench_up(struct kunit *test, const char *name);
void mad_settle(void);
void mad_forget(struct mad_bench *mb);

void mad_init_agent(struct mad_bench *mb, struct ib_mad_agent_init *init, u8 qpn, u8 class);
void mad_init_methods(struct ib_mad_agent_init *init, ...);
struct ib_mad_agent *mad_agent(struct mad_bench *mb, const struct ib_mad_agent_init *init);
struct ib_mad_agent *mad_agent_simple(struct mad_bench *mb, u8 qpn, u8 class);

void mad_write_head(u8 *mad, const struct mad_head *head);
struct ib_mad_send *mad_send_new(struct mad_bench *mb, struct ib_mad_agent *agent, u32 length,
				 const struct mad_head *head);
int mad_post(struct mad_bench *mb, struct ib_mad_send *send);
int mad_try(struct mad_bench *mb, struct ib_mad_agent *agent, u32 timeout, u32 retries);
struct ib_mad_send *mad_request(struct mad_bench *mb, struct ib_mad_agent *agent, u32 timeout,
				u32 retries);

void mad_arrive(struct mad_bench *mb, u8 qpn, const u8 *mad);
void mad_answer(struct mad_bench *mb, const struct vfake_mad *m, u16 status);
unsigned int mad_on_wire(struct mad_bench *mb);

#endif
