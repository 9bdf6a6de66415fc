// SPDX-License-Identifier: GPL-2.0-only
/*
 * Automatic path migration of connections (IB specification volume 1, 17.2.8).
 *
 * A QP is migrated, rearmed (software has loaded an alternate path) or armed (the peer has too).
 * Every packet says in its MigReq bit whether its sender is migrated. Two rearmed ends hear of each
 * other that way and become armed; an armed one moves to its alternate path when its retries are
 * used up, when software says so, or when the peer's packets come by that path with the bit set.
 */
#include "xport.h"

/**
 * apm_has_alternate - may packets come and go by the alternate path?
 * @qp: queue pair
 */
bool apm_has_alternate(const struct cx3_qp *qp)
{
	const struct qp_path *alt = &qp->c.path[1];

	return (qp_is_reliable(qp) || qp->c.service == QPT_UC) && qp->c.pm != PM_MIGRATED &&
	       alt->rlid && alt->port < qp->hca->cfg.nports;
}

/**
 * apm_migrate - the alternate path becomes the primary one
 * @qp: queue pair
 *
 * Software hears of it, also when an armed QP has no alternate path to go to.
 *
 * Return: false if the QP stays where it is.
 */
bool apm_migrate(struct cx3_qp *qp)
{
	if (qp->c.pm != PM_ARMED)
		return false;
	if (!apm_has_alternate(qp)) {
		qp->c.pm = PM_MIGRATED;
		cx3_event_num(qp->hca, CX3_EV_PATH_MIG_FAIL, qp->obj.num);
		return false;
	}
	qp->c.path[0] = qp->c.path[1];
	qp->c.pm = PM_MIGRATED;
	/* it may have waited for room on the port that it leaves */
	xport_forget(qp);
	xport_ready(qp);
	cx3_event_num(qp->hca, CX3_EV_PATH_MIG, qp->obj.num);
	return true;
}

/**
 * apm_received - what a packet of the peer says about paths
 * @qp: queue pair
 * @alternate: it came by the alternate path
 * @migreq: its MigReq bit
 *
 * Return: false if it has to be dropped.
 */
bool apm_received(struct cx3_qp *qp, bool alternate, bool migreq)
{
	if (alternate)
		return migreq && apm_migrate(qp);
	if (qp->c.pm == PM_REARM && !migreq)
		qp->c.pm = PM_ARMED;
	return true;
}
