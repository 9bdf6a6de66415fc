// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that break on demand: a QP, CQ or SRQ goes to its error state as if
 * the device had found something wrong with it.
 */
#include "core.h"
#include "xport.h"

#define SYNDROME_ACCESS 2	/* of a CQ error event: ring not writable */
#define CQ_WRITE_FAIL 10	/* status in the CQ context */
#define SRQ_ERROR 0xf		/* state in the SRQ context */

static bool fail_cq(struct cx3_hca *hca, u32 num)
{
	struct cx3_cq *cq = cq_find(hca, num);

	if (!cq)
		return false;
	cq->broken = true;
	cq->c.status = CQ_WRITE_FAIL;
	cx3_event_cq_err(hca, num, SYNDROME_ACCESS);
	return true;
}

static bool fail_srq(struct cx3_hca *hca, u32 num)
{
	struct cx3_srq *srq = srq_find(hca, num);

	if (!srq)
		return false;
	srq->broken = true;
	srq->c.state = SRQ_ERROR;
	cx3_event_num(hca, CX3_EV_SRQ_CATAS, num);
	return true;
}

bool cx3_fail_object(struct cx3_hca *hca, enum cx3_kind kind, u32 num)
{
	struct cx3_qp *qp;

	switch (kind) {
	case CX3_CQ:
		return fail_cq(hca, num);
	case CX3_SRQ:
		return fail_srq(hca, num);
	case CX3_QP:
		qp = qp_find(hca, num);
		if (qp)
			qp_error(qp, CX3_EV_WQ_CATAS);
		return qp;
	default:
		return false;
	}
}
