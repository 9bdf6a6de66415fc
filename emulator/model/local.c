// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work requests that send nothing: fast register, local invalidate, window bind.
 */
#include "xport.h"

static u8 fast_register(struct cx3_qp *qp, const struct swqe *w)
{
	struct wqe_freg f;
	struct cx3_fast_reg fr;

	layout_unpack(&wqe_freg_layout, w->raw + w->seg, &f);
	if (!qp->c.frwr || f.log_page < 12 || f.log_page > 31)
		return SYN_LOCAL_QP_OP;
	fr.key = f.key;
	fr.flags = f.flags;
	fr.list = f.list;
	fr.start = f.start;
	fr.len = f.len;
	fr.offset = f.offset;
	fr.log_page = f.log_page;
	return cx3_mpt_fast_reg(qp->hca, qp->c.pd, &fr) ? SYN_LOCAL_QP_OP : SYN_OK;
}

static u8 invalidate(struct cx3_qp *qp, const struct swqe *w)
{
	struct wqe_inval i;

	layout_unpack(&wqe_inval_layout, w->raw + w->seg, &i);
	return cx3_mpt_invalidate(qp->hca, i.key, qp->c.pd, qp->obj.num, false) ?
	       SYN_LOCAL_QP_OP : SYN_OK;
}

static u8 bind(struct cx3_qp *qp, const struct swqe *w)
{
	struct wqe_bind b;
	struct cx3_bind req;

	layout_unpack(&wqe_bind_layout, w->raw + w->seg, &b);
	req.flags1 = b.flags1;
	req.flags2 = b.flags2;
	req.new_rkey = b.new_rkey;
	req.lkey = b.lkey;
	req.addr = b.addr;
	req.len = b.len;
	return cx3_mpt_bind(qp->hca, qp->c.pd, qp->obj.num, &req) ? SYN_MW_BIND : SYN_OK;
}

/**
 * local_execute - do a work request that sends nothing
 * @qp: queue pair
 * @w: WQE
 *
 * Return: SYN_OK or the syndrome to complete with.
 */
u8 local_execute(struct cx3_qp *qp, const struct swqe *w)
{
	switch (w->ctrl.opcode) {
	case WQE_FAST_REG:
		return fast_register(qp, w);
	case WQE_LOCAL_INV:
		return invalidate(qp, w);
	case WQE_BIND_MW:
		return bind(qp, w);
	default:
		return SYN_OK;
	}
}
