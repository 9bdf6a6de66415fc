/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bench for the suites of verbs: one fake HCA whose provider has verbs, one client that keeps its
 * attachment and does in remove_one what the test says.
 */
#ifndef BENCH_H
#define BENCH_H

#include <ib/client.h>

#include "fake.h"
#include "fake_verbs.h"

/**
 * struct bench - see above
 * @test: whose
 * @vf: the provider
 * @fake: the HCA
 * @client: the client
 * @attachment: its attachment, while it is attached; memory is kept until the end of the test
 * @remove: called in remove_one; NULL: leave everything behind
 * @data: for @remove
 * @removes: calls of remove_one
 * @kept: objects whose memory the test expects to be kept for ever
 * @registered: the client is registered
 */
struct bench {
	struct kunit *test;
	struct vfake vf;
	struct fake_hca *fake;
	struct ib_client client;
	struct ib_attachment *attachment;
	void (*remove)(struct bench *b);
	void *data;
	int removes;
	int kept;
	bool registered;
};

/**
 * struct bench_objects - one of each
 * @pd: PD
 * @xrcd: XRC domain
 * @cq: CQ, polled by ib_core on a work item unless said otherwise
 * @srq: SRQ
 * @mr: fast-register MR
 * @mw: MW
 * @ah: AH
 * @qp: UD QP
 */
struct bench_objects {
	struct ib_pd *pd;
	struct ib_xrcd *xrcd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_mr *mr;
	struct ib_mw *mw;
	struct ib_ah *ah;
	struct ib_qp *qp;
};

struct bench *bench_create(struct kunit *test, const char *name);
void bench_bind(struct bench *b);
struct bench *bench_up(struct kunit *test, const char *name);
struct ib_device *bench_device(struct bench *b);
void bench_unregister(struct bench *b);
void bench_gone(struct bench *b);
struct ib_cq *bench_cq(struct bench *b, enum ib_cq_context context);
struct ib_qp *bench_qp(struct bench *b, struct ib_pd *pd, struct ib_cq *cq, enum ib_qp_type type);
void bench_make_all(struct bench *b, struct bench_objects *o);
void bench_destroy_all(struct bench_objects *o);
int bench_to_rts(struct ib_qp *qp);

#endif
