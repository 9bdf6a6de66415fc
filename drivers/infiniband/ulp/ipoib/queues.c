// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues of an interface: one UD QP with a CQ each for receives and sends.
 *
 * Made once, so that the QPN, which is part of the interface's address, stays while the interface
 * goes down and up; started and stopped as often as needed.  No buffer is given back before the
 * hardware has provably done with it: either it has completed it, or the QP is in RESET, or the HCA
 * is quiet.  A flush by software is no proof: it comes whether the lost HCA was silenced or not.
 * Without a proof the queues' buffers are kept for ever, in a list, and the log says so.
 *
 * All of it is the work item's, which may wait as long as it takes: nobody waits for it under RTNL
 * for longer than IPOIB_RTNL_WAIT.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <ib/hca.h>

#include "ipoib.h"

/* A QP in ERR has completed everything within this, or is asked no longer. */
#define IPOIB_FLUSH_WAIT (5 * HZ)
#define IPOIB_WAIT_SLICE (5 * HZ)

static void ipoib_rx_notify(struct ib_cq *cq)
{
	struct ipoib_iface *iface = cq->priv;

	napi_schedule(&iface->rx_napi);
}

static void ipoib_tx_notify(struct ib_cq *cq)
{
	struct ipoib_iface *iface = cq->priv;

	napi_schedule(&iface->tx_napi);
}

/* Of the CQs too, whose error nothing but new ones can mend. */
static void ipoib_cq_failed(struct ib_cq *cq, enum ib_event_type type)
{
	ipoib_ask(cq->priv, IPOIB_FLUSH_REBUILD);
}

static void ipoib_qp_failed(struct ib_qp *qp, enum ib_event_type type)
{
	ipoib_ask(qp->priv, IPOIB_FLUSH_RESTART);
}

static struct ib_cq *ipoib_cq_make(struct ipoib_iface *iface, unsigned int cqe,
				   void (*notify)(struct ib_cq *cq))
{
	struct ib_cq_init init = {
		.cqe = cqe,
		.context = IB_CQ_OWNER,
		.notify = notify,
		.event = ipoib_cq_failed,
		.priv = iface,
	};

	return ib_cq_create(iface->dev->attachment, &init, NULL);
}

static struct ib_qp *ipoib_qp_make(struct ipoib_iface *iface, struct ipoib_queues *q, u32 flags)
{
	struct ib_qp_init init = {
		.type = IB_QPT_UD,
		.cap = {
			.max_send_wr = q->tx_size,
			.max_recv_wr = q->rx_size,
			.max_send_sge = q->max_sge,
			.max_recv_sge = 1,
		},
		.send_cq = q->tx_cq,
		.recv_cq = q->rx_cq,
		.signal_all = true,
		.create_flags = IB_QP_CREATE_BLOCK_LOOPBACK | flags,
		.event = ipoib_qp_failed,
		.priv = iface,
	};

	return ib_qp_create(iface->dev->attachment, iface->dev->pd, &init, NULL);
}

/* Large sends are what a QP has or has not; there is no bit that says so beforehand. */
static int ipoib_queues_verbs(struct ipoib_iface *iface, struct ipoib_queues *q)
{
	q->rx_cq = ipoib_cq_make(iface, q->rx_size + 1, ipoib_rx_notify);
	if (IS_ERR(q->rx_cq))
		return PTR_ERR(q->rx_cq);
	q->tx_cq = ipoib_cq_make(iface, q->tx_size + 1, ipoib_tx_notify);
	if (IS_ERR(q->tx_cq))
		goto destroy_rx_cq;
	q->lso = true;
	q->qp = ipoib_qp_make(iface, q, IB_QP_CREATE_IPOIB_LSO);
	if (PTR_ERR_OR_ZERO(q->qp) == -EINVAL || PTR_ERR_OR_ZERO(q->qp) == -EOPNOTSUPP) {
		q->lso = false;
		q->qp = ipoib_qp_make(iface, q, 0);
	}
	if (IS_ERR(q->qp))
		goto destroy_tx_cq;
	return 0;

destroy_tx_cq:
	ib_cq_destroy(q->tx_cq);
	ib_cq_destroy(q->rx_cq);
	return PTR_ERR(q->qp);
destroy_rx_cq:
	ib_cq_destroy(q->rx_cq);
	return PTR_ERR(q->tx_cq);
}

/* Those whose buffers the hardware may still use; only ever added to. */
static LIST_HEAD(ipoib_queues_kept);
static DEFINE_SPINLOCK(ipoib_queues_kept_lock);

static void ipoib_queues_free(struct ipoib_queues *q)
{
	if (q->kept) {
		spin_lock(&ipoib_queues_kept_lock);
		list_add_tail(&q->kept_node, &ipoib_queues_kept);
		spin_unlock(&ipoib_queues_kept_lock);
		return;
	}
	kvfree(q->rx);
	kvfree(q->tx);
	kfree(q);
}

static struct ipoib_queues *ipoib_queues_alloc(struct ipoib_iface *iface, unsigned int port_mtu)
{
	const struct ib_device_attr *attr = ib_device_attr(iface->dev->ib);
	struct ipoib_queues *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!q)
		return NULL;
	q->rx_size = READ_ONCE(iface->rx_wanted);
	q->tx_size = READ_ONCE(iface->tx_wanted);
	if (attr->max_qp_wr) {
		q->rx_size = min(q->rx_size, attr->max_qp_wr);
		q->tx_size = min_t(unsigned int, q->tx_size, rounddown_pow_of_two(attr->max_qp_wr));
	}
	q->max_sge = MAX_SKB_FRAGS + 1;
	if (attr->max_send_sge)
		q->max_sge = min(q->max_sge, attr->max_send_sge);
	q->buf_size = IPOIB_GRH_LEN + port_mtu;
	q->rx = kvcalloc(q->rx_size, sizeof(*q->rx), GFP_KERNEL);
	q->tx = kvcalloc(q->tx_size, sizeof(*q->tx), GFP_KERNEL);
	if (q->rx && q->tx)
		return q;
	ipoib_queues_free(q);
	return NULL;
}

/**
 * ipoib_queues_make() - from BARE to MADE
 * @iface: the interface
 *
 * Context: the work item, as all that follow.
 * Return: 0 or an error, and nothing was done.
 */
int ipoib_queues_make(struct ipoib_iface *iface)
{
	struct ib_port_attr attr;
	struct ipoib_queues *q;
	unsigned int port_mtu;
	int err;

	err = ib_port_cached(iface->dev->ib, iface->port, &attr);
	if (err)
		return err;
	port_mtu = ib_mtu_bytes(attr.max_mtu) ?: ib_mtu_bytes(IB_MTU_2048);
	q = ipoib_queues_alloc(iface, port_mtu);
	if (!q)
		return -ENOMEM;
	err = ipoib_queues_verbs(iface, q);
	if (err) {
		ipoib_queues_free(q);
		return err;
	}
	iface->max_mtu = port_mtu - IPOIB_ENCAP_LEN;
	iface->queues = q;
	/* New CQs know nothing of what the user wants. */
	if (iface->rx_moderation.usecs || iface->rx_moderation.frames ||
	    iface->tx_moderation.usecs || iface->tx_moderation.frames)
		WRITE_ONCE(iface->moderate, true);
	return 0;
}

/**
 * ipoib_queues_unmake() - from MADE to BARE
 * @iface: the interface
 */
void ipoib_queues_unmake(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;

	ib_qp_destroy(q->qp);
	ib_cq_destroy(q->tx_cq);
	ib_cq_destroy(q->rx_cq);
	q->qp = NULL;
	q->tx_cq = NULL;
	q->rx_cq = NULL;
	iface->queues = NULL;
	ipoib_queues_free(q);
}

static int ipoib_qp_to_init(struct ipoib_iface *iface)
{
	struct ib_qp_attr attr = {
		.state = IB_QPS_INIT,
		.pkey_index = iface->facts.pkey_index,
		.port = iface->port,
	};

	return ib_qp_modify(iface->queues->qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY, NULL);
}

static int ipoib_qp_to(struct ipoib_iface *iface, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .state = state };
	u32 mask = IB_QP_STATE;

	if (state == IB_QPS_RTS)
		mask |= IB_QP_SQ_PSN;
	return ib_qp_modify(iface->queues->qp, &attr, mask, NULL);
}

static int ipoib_qp_up(struct ipoib_iface *iface)
{
	int err;

	err = ipoib_qp_to_init(iface);
	if (!err)
		err = ipoib_rx_fill(iface);
	if (!err)
		err = ipoib_qp_to(iface, IB_QPS_RTR);
	if (!err)
		err = ipoib_qp_to(iface, IB_QPS_RTS);
	return err;
}

/**
 * ipoib_queues_start() - from MADE to RUNNING
 * @iface: the interface
 *
 * Return: 0 or an error, and nothing was done.
 */
int ipoib_queues_start(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;
	int err;

	q->epoch++;
	q->tx_head = 0;
	q->tx_done = 0;
	q->tx_tail = 0;
	WRITE_ONCE(q->posting, true);
	napi_enable(&iface->rx_napi);
	napi_enable(&iface->tx_napi);
	err = ipoib_qp_up(iface);
	if (err) {
		ipoib_queues_stop(iface);
		return err;
	}
	/* The first look arms. */
	napi_schedule(&iface->rx_napi);
	napi_schedule(&iface->tx_napi);
	return 0;
}

bool ipoib_is_drained(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;

	return !atomic_read(&q->rx_posted) && READ_ONCE(q->tx_head) == READ_ONCE(q->tx_done);
}

/*
 * The completions of everything that was posted: from a QP in ERR soon, from a HCA that is gone
 * when its thread has made it quiet.  Only the latter is waited for without an end, since it comes.
 */
static bool ipoib_wait_drained(struct ipoib_iface *iface, bool in_error)
{
	struct ib_hca *hca = iface->dev->ib->hca;
	unsigned int slices = 0;

	if (in_error && wait_event_timeout(iface->drained, ipoib_is_drained(iface),
					   IPOIB_FLUSH_WAIT))
		return true;
	while (ib_hca_is_gone(hca)) {
		if (wait_event_timeout(iface->drained, ipoib_is_drained(iface), IPOIB_WAIT_SLICE))
			return true;
		if (++slices % 2 == 0)
			ipoib_warn(iface, "waiting for the flush of a lost HCA, %d receives left\n",
				   atomic_read(&iface->queues->rx_posted));
	}
	return ipoib_is_drained(iface);
}

/*
 * Has the hardware provably done with what was posted?  All of it has completed: by the hardware,
 * or, once the HCA's thread has dealt with GONE, perhaps by software.
 */
static bool ipoib_is_proven(struct ipoib_iface *iface)
{
	struct ib_hca *hca = iface->dev->ib->hca;

	return !ib_hca_is_gone(hca) || !READ_ONCE(hca->gone_done) || READ_ONCE(hca->quiet);
}

/* These are of no use any more: the interface gets others if the HCA lives (&ipoib_facts.worn). */
static void ipoib_queues_keep(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;
	unsigned int sends = ipoib_tx_keep(iface);

	q->kept = true;
	ipoib_err(iface, "not proven that the HCA has done with its buffers: %u receives and %u sends are kept for ever\n",
		  q->rx_size, sends);
	ipoib_kick(iface);
}

/**
 * ipoib_queues_stop() - from RUNNING to MADE, also after half a start
 * @iface: the interface; nothing is sent any more
 */
void ipoib_queues_stop(struct ipoib_iface *iface)
{
	bool in_error, done;

	WRITE_ONCE(iface->queues->posting, false);
	in_error = !ipoib_qp_to(iface, IB_QPS_ERR);
	/* Those that completed before, too: the poll functions look once more. */
	napi_schedule(&iface->rx_napi);
	napi_schedule(&iface->tx_napi);
	done = ipoib_wait_drained(iface, in_error);
	if (!ipoib_qp_to(iface, IB_QPS_RESET))
		done = true;
	else if (done)
		done = ipoib_is_proven(iface);
	napi_disable(&iface->rx_napi);
	napi_disable(&iface->tx_napi);
	if (!done) {
		ipoib_queues_keep(iface);
		return;
	}
	ipoib_rx_release(iface);
	ipoib_tx_release(iface);
}

/**
 * ipoib_queues_set_qkey() - the Q_Key of the interface's packets
 * @iface: the interface; stands on RUNNING or higher
 * @qkey: the key
 *
 * Return: 0 or an error.
 */
int ipoib_queues_set_qkey(struct ipoib_iface *iface, u32 qkey)
{
	struct ib_qp_attr attr = { .state = IB_QPS_RTS, .qkey = qkey };
	int err;

	err = ib_qp_modify(iface->queues->qp, &attr, IB_QP_STATE | IB_QP_QKEY, NULL);
	if (!err)
		WRITE_ONCE(iface->qkey, qkey);
	return err;
}

/**
 * ipoib_queues_moderate() - interrupt moderation as the user wants it
 * @iface: the interface; stands on MADE or higher
 */
void ipoib_queues_moderate(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;
	int err;

	WRITE_ONCE(iface->moderate, false);
	err = ib_cq_moderate(q->rx_cq, READ_ONCE(iface->rx_moderation.frames),
			     READ_ONCE(iface->rx_moderation.usecs));
	if (!err)
		err = ib_cq_moderate(q->tx_cq, READ_ONCE(iface->tx_moderation.frames),
				     READ_ONCE(iface->tx_moderation.usecs));
	if (err)
		ipoib_warn(iface, "interrupts are not moderated (%d)\n", err);
}
