/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every kind of object and of request between two ports, one case each, with the data checked.
 */
#ifndef LASTREF_CASES_H
#define LASTREF_CASES_H

#include "traffic.h"

#define OBJ_BYTES	(64 * 1024)	/* memory of a side */
#define OBJ_QPS		3
#define OBJ_QKEY	0x0bea

/**
 * struct obj_side - one end of a case
 * @port: the port
 * @attachment: whose objects
 * @pd: protection domain
 * @cq: all completions
 * @mr: all memory, with all rights
 * @qp: QPs; those that are there go at the end of the case
 * @ah: UD: to the other side
 * @srq: of cases that have one
 * @xrcd: the same
 * @fast: the same
 * @mw: the same
 * @buf: memory of this side
 * @dma: its bus address
 * @events: how many of which type came for QPs and SRQs
 */
struct obj_side {
	struct traffic_port *port;
	struct ib_attachment *attachment;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_mr *mr;
	struct ib_qp *qp[OBJ_QPS];
	struct ib_ah *ah;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	struct ib_mr *fast;
	struct ib_mw *mw;
	u8 *buf;
	dma_addr_t dma;
	atomic_t events[32];
};

/**
 * struct obj_pair - both ends
 * @a: who sends
 * @b: who receives
 * @err: what failed, or 0
 * @why: what was not as it should be
 * @line: where
 */
struct obj_pair {
	struct obj_side a;
	struct obj_side b;
	int err;
	const char *why;
	int line;
};

/**
 * obj_wrong() - remember why a case failed
 * @pair: the case
 * @err: what was returned, or 0 for something that was not as it should be
 * @why: the source of it
 * @line: where
 *
 * Return: true.
 */
bool obj_wrong(struct obj_pair *pair, int err, const char *why, int line);

/* Is something not as it must be in a case? */
#define WANT(pair, cond) (!(cond) && obj_wrong(pair, 0, #cond, __LINE__))

/* Did something fail that must succeed in a case? */
#define TRY(pair, call) obj_failed(pair, call, #call, __LINE__)

static inline bool obj_failed(struct obj_pair *pair, int err, const char *why, int line)
{
	return err && obj_wrong(pair, err, why, line);
}

/* A piece of memory of a side. */
static inline struct ib_sge obj_sge(const struct obj_side *side, u32 offset, u32 length)
{
	return (struct ib_sge){
		.addr = side->dma + offset, .length = length, .lkey = side->pd->local_dma_lkey,
	};
}

void obj_fill(u8 *at, u32 seed, u32 bytes);
bool obj_is(const u8 *at, u32 seed, u32 bytes);

int obj_open(struct obj_pair *pair, struct traffic_port *a, struct traffic_port *b);
void obj_close(struct obj_pair *pair);

/** obj_init() - what most cases ask of a QP */
struct ib_qp_init obj_init(struct obj_side *side, enum ib_qp_type type);
int obj_qp(struct obj_side *side, unsigned int i, const struct ib_qp_init *init);
/** obj_pairs() - a QP of the type on each side, connected (UD: ready, with address handles) */
int obj_pairs(struct obj_pair *pair, enum ib_qp_type type);
int obj_connect(struct ib_qp *qp, struct obj_side *from, struct obj_side *to, u32 qpn);
int obj_ready_ud(struct ib_qp *qp, struct obj_side *side);
int obj_address(struct obj_side *from, struct obj_side *to, const union ib_gid *gid, u16 lid);
int obj_move(struct ib_qp *qp, enum ib_qp_state state);

int obj_recv(struct ib_qp *qp, struct obj_side *side, u64 id, u32 offset, u32 length);
int obj_send(struct ib_qp *qp, struct ib_send_wr *wr);
/** obj_poll() - the next completion of a side, or -ETIMEDOUT after a few seconds */
int obj_poll(struct obj_side *side, struct ib_wc *wc);
/** obj_none() - no completion comes for a while */
bool obj_none(struct obj_side *side);
/** obj_good() - the next completion is a good one of that request */
bool obj_good(struct obj_side *side, u64 id, enum ib_wc_opcode opcode, struct ib_wc *wc);
bool obj_event(struct obj_side *side, enum ib_event_type type);

int case_rc_sends(struct obj_pair *pair);
int case_rc_rdma(struct obj_pair *pair);
int case_rc_atomics(struct obj_pair *pair);
int case_rc_errors(struct obj_pair *pair);
int case_rc_wrap(struct obj_pair *pair);
int case_states(struct obj_pair *pair);
int case_uc(struct obj_pair *pair);
int case_ud(struct obj_pair *pair);
int case_lso(struct obj_pair *pair);
int case_mcast(struct obj_pair *pair);
int case_groups(struct obj_pair *pair);
int case_srq(struct obj_pair *pair);
int case_xrc(struct obj_pair *pair);
int case_fast(struct obj_pair *pair);
int case_mw1(struct obj_pair *pair);
int case_mw2(struct obj_pair *pair);

#endif /* LASTREF_CASES_H */
