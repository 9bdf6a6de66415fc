// SPDX-License-Identifier: GPL-2.0-only
/* The provider of fake_verbs.h. */
#include <linux/etherdevice.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake_verbs.h"
#include "fake_offer.h"

/**
 * struct vfake_device - an incarnation
 * @ib: the device
 * @vf: its provider
 */
struct vfake_device {
	struct ib_device ib;
	struct vfake *vf;
};

/**
 * struct vfake_cq - a completion queue
 * @cq: the verbs object
 * @wcs: &vfake_wr.node, oldest first
 * @armed: to be told of the next
 */
struct vfake_cq {
	struct ib_cq cq;
	struct list_head wcs;
	bool armed;
};

/**
 * struct vfake_qp - a queue pair
 * @qp: the verbs object
 * @node: in &vfake.qps
 * @posted: &vfake_wr.node that have not completed, oldest first
 * @error: it is in ERR
 * @stuck: its send queue is in error (SQE)
 * @flushed: the provider's flush has been at it
 */
struct vfake_qp {
	struct ib_qp qp;
	struct list_head node;
	struct list_head posted;
	bool error;
	bool stuck;
	bool flushed;
};

/**
 * struct vfake_wr - a request, then its completion
 * @node: in &vfake_qp.posted or &vfake_cq.wcs
 * @cq: where it completes
 * @memory: QP0 and QP1: where a received MAD goes
 * @room: bytes of all pieces of a receive; the first holds a GRH and a MAD
 * @wc: what is reported
 */
struct vfake_wr {
	struct list_head node;
	struct vfake_cq *cq;
	void *memory;
	u32 room;
	struct ib_wc wc;
};

static struct vfake *vfake_of(const struct ib_device *device)
{
	return container_of(device, struct vfake_device, ib)->vf;
}

static struct vfake *vfake_owner(const struct ib_object *object)
{
	return vfake_of(ib_object_device(object));
}

static struct vfake_cq *to_cq(struct ib_cq *cq)
{
	return container_of(cq, struct vfake_cq, cq);
}

static struct vfake_qp *to_qp(struct ib_qp *qp)
{
	return container_of(qp, struct vfake_qp, qp);
}

/* Every operation begins here; the value is what it has to return, if not 0. */
static int vfake_begin(struct vfake *vf, enum vfake_op op)
{
	atomic_inc(&vf->calls[op]);
	if (vf->stopped) {
		pr_err("vfake: operation %d after stop\n", op);
		atomic_inc(&vf->breaches);
	}
	if (vf->hook)
		vf->hook(vf, op);
	return READ_ONCE(vf->fails[op]);
}

static int vfake_make(const struct ib_object *object, enum vfake_op op)
{
	struct vfake *vf = vfake_owner(object);
	int err = vfake_begin(vf, op);

	if (!err)
		atomic_inc(&vf->buffers);
	return err;
}

static void vfake_give_back(const struct ib_object *object, enum ib_object_type type)
{
	struct vfake *vf = vfake_owner(object);

	if (vf->stopped || atomic_dec_return(&vf->buffers) < 0) {
		pr_err("vfake: a wrong release of type %d\n", type);
		atomic_inc(&vf->breaches);
	}
	if (vf->released < VFAKE_ORDER)
		vf->order[vf->released++] = type;
}

static int vfake_query_device(struct ib_device *device, struct ib_device_attr *attr)
{
	struct vfake *vf = vfake_of(device);
	int err = vfake_begin(vf, VFAKE_QUERY_DEVICE);

	if (err)
		return err;
	attr->sys_image_guid = cpu_to_be64(VFAKE_NODE_GUID + 3);
	attr->vendor_id = 0x2c9;
	attr->vendor_part_id = 0x1003;
	attr->hw_ver = 0x1b;
	strscpy(attr->board_id, "MT_1090120019", sizeof(attr->board_id));
	attr->has_local_dma_lkey = vf->local_key;
	attr->local_dma_lkey = 0x8000;
	attr->max_qp_wr = vf->max_wr ?: 16;
	attr->max_fast_reg_page_list_len = 8;
	return 0;
}

static int vfake_query_port(struct ib_device *device, u8 port, struct ib_port_attr *attr)
{
	struct vfake *vf = vfake_of(device);
	int err = vfake_begin(vf, VFAKE_QUERY_PORT);

	if (!err)
		*attr = vf->port[port - 1];
	return err;
}

static int vfake_query_gids(struct ib_device *device, u8 port, union ib_gid *gids,
			    unsigned int len)
{
	struct vfake *vf = vfake_of(device);
	int err = vfake_begin(vf, VFAKE_QUERY_GIDS);

	if (!err)
		memcpy(gids, vf->gids[port - 1], len * sizeof(*gids));
	return err;
}

static int vfake_query_pkeys(struct ib_device *device, u8 port, u16 *pkeys, unsigned int len)
{
	struct vfake *vf = vfake_of(device);
	int err = vfake_begin(vf, VFAKE_QUERY_PKEYS);

	if (!err)
		memcpy(pkeys, vf->pkeys[port - 1], len * sizeof(*pkeys));
	return err;
}

static int vfake_modify_node(struct ib_device *device, u32 mask,
			     const struct ib_node_modify *modify)
{
	return vfake_begin(vfake_of(device), VFAKE_MODIFY_NODE);
}

static int vfake_modify_port(struct ib_device *device, u8 port, u32 mask,
			     const struct ib_port_modify *modify)
{
	struct vfake *vf = vfake_of(device);
	int err = vfake_begin(vf, VFAKE_MODIFY_PORT);

	if (err)
		return err;
	vf->port[port - 1].cap_mask |= modify->set_cap_mask;
	vf->port[port - 1].cap_mask &= ~modify->clr_cap_mask;
	return 0;
}

/* An agent whose counters are their own bit offsets, so that each can be told from the others. */
static enum ib_mad_result vfake_process_mad(struct ib_device *device,
					    const struct ib_mad_request *request, void *answer)
{
	struct vfake *vf = vfake_of(device);
	const u8 *query = request->mad;
	u8 *mad = answer;
	unsigned int i;

	if (vfake_begin(vf, VFAKE_PROCESS_MAD))
		return IB_MAD_NOTHING;
	if (vf->local)
		return vf->local(vf, request, answer);
	if (query[1] != 4 || query[3] != 1)
		return IB_MAD_NOTHING;
	memcpy(mad, query, 64);
	mad[3] = 0x81;
	for (i = 0; i < 192; i++)
		mad[64 + i] = i;
	if (query[17] == 1) {
		mad[66] = vf->perf_cap >> 8;
		mad[67] = vf->perf_cap;
	}
	return IB_MAD_ANSWERED;
}

static const struct ib_stats_list *vfake_stats(struct ib_device *device, u8 port)
{
	static const struct ib_stat stat[] = { { "readings" }, { "port" } };
	static const struct ib_stats_list list = { .count = ARRAY_SIZE(stat), .stat = stat };

	return vfake_of(device)->stats ? &list : NULL;
}

static int vfake_read_stats(struct ib_device *device, u8 port, u64 *values)
{
	struct vfake *vf = vfake_of(device);
	int err = vfake_begin(vf, VFAKE_READ_STATS);

	if (err)
		return err;
	values[0] = atomic_read(&vf->calls[VFAKE_READ_STATS]);
	values[1] = port;
	return 0;
}

static int vfake_create_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return vfake_make(&pd->object, VFAKE_CREATE_PD);
}

static int vfake_destroy_pd(struct ib_pd *pd)
{
	return vfake_begin(vfake_owner(&pd->object), VFAKE_DESTROY_PD);
}

static void vfake_release_pd(struct ib_pd *pd)
{
	vfake_give_back(&pd->object, IB_OBJECT_PD);
}

static int vfake_create_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return vfake_make(&xrcd->object, VFAKE_CREATE_XRCD);
}

static int vfake_destroy_xrcd(struct ib_xrcd *xrcd)
{
	return vfake_begin(vfake_owner(&xrcd->object), VFAKE_DESTROY_XRCD);
}

static void vfake_release_xrcd(struct ib_xrcd *xrcd)
{
	vfake_give_back(&xrcd->object, IB_OBJECT_XRCD);
}

static int vfake_create_cq(struct ib_cq *cq, const struct ib_cq_init *init,
			   struct ib_udata *udata)
{
	INIT_LIST_HEAD(&to_cq(cq)->wcs);
	cq->cqe = init->cqe;
	return vfake_make(&cq->object, VFAKE_CREATE_CQ);
}

static int vfake_destroy_cq(struct ib_cq *cq)
{
	return vfake_begin(vfake_owner(&cq->object), VFAKE_DESTROY_CQ);
}

static void vfake_free_wrs(struct list_head *list, const struct ib_qp *qp)
{
	struct vfake_wr *wr, *next;

	list_for_each_entry_safe(wr, next, list, node) {
		if (qp && wr->wc.qp != qp)
			continue;
		list_del(&wr->node);
		kfree(wr);
	}
}

static void vfake_release_cq(struct ib_cq *cq)
{
	vfake_free_wrs(&to_cq(cq)->wcs, NULL);
	vfake_give_back(&cq->object, IB_OBJECT_CQ);
}

static int vfake_poll_cq(struct ib_cq *cq, int count, struct ib_wc *wc)
{
	struct vfake *vf = vfake_owner(&cq->object);
	struct vfake_wr *wr, *next;
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&vf->lock, flags);
	list_for_each_entry_safe(wr, next, &to_cq(cq)->wcs, node) {
		if (n == count)
			break;
		wc[n++] = wr->wc;
		list_del(&wr->node);
		kfree(wr);
	}
	spin_unlock_irqrestore(&vf->lock, flags);
	return n;
}

static int vfake_arm_cq(struct ib_cq *cq, u32 flags)
{
	struct vfake *vf = vfake_owner(&cq->object);
	int err = vfake_begin(vf, VFAKE_ARM_CQ);
	unsigned long irq;

	if (err)
		return err;
	spin_lock_irqsave(&vf->lock, irq);
	to_cq(cq)->armed = true;
	err = !list_empty(&to_cq(cq)->wcs);
	spin_unlock_irqrestore(&vf->lock, irq);
	return err;
}

static int vfake_create_srq(struct ib_srq *srq, const struct ib_srq_init *init,
			    struct ib_udata *udata)
{
	srq->srqn = vfake_owner(&srq->object)->next_number++;
	return vfake_make(&srq->object, VFAKE_CREATE_SRQ);
}

static int vfake_destroy_srq(struct ib_srq *srq)
{
	return vfake_begin(vfake_owner(&srq->object), VFAKE_DESTROY_SRQ);
}

static void vfake_release_srq(struct ib_srq *srq)
{
	vfake_give_back(&srq->object, IB_OBJECT_SRQ);
}

static int vfake_create_ah(struct ib_ah *ah)
{
	return vfake_make(&ah->object, VFAKE_CREATE_AH);
}

static void vfake_release_ah(struct ib_ah *ah)
{
	vfake_give_back(&ah->object, IB_OBJECT_AH);
}

static int vfake_create_mr(struct ib_mr *mr)
{
	mr->lkey = vfake_owner(&mr->object)->next_number++ << 8;
	mr->rkey = mr->lkey;
	return vfake_make(&mr->object, VFAKE_CREATE_MR);
}

static int vfake_create_dma_mr(struct ib_mr *mr, u32 access)
{
	return vfake_create_mr(mr);
}

static int vfake_destroy_mr(struct ib_mr *mr)
{
	return vfake_begin(vfake_owner(&mr->object), VFAKE_DESTROY_MR);
}

static void vfake_release_mr(struct ib_mr *mr)
{
	vfake_give_back(&mr->object, IB_OBJECT_MR);
}

static int vfake_create_mw(struct ib_mw *mw, struct ib_udata *udata)
{
	return vfake_make(&mw->object, VFAKE_CREATE_MW);
}

static int vfake_destroy_mw(struct ib_mw *mw)
{
	return vfake_begin(vfake_owner(&mw->object), VFAKE_DESTROY_MW);
}

static void vfake_release_mw(struct ib_mw *mw)
{
	vfake_give_back(&mw->object, IB_OBJECT_MW);
}

static int vfake_create_qp(struct ib_qp *qp, const struct ib_qp_init *init, struct ib_udata *udata)
{
	struct vfake *vf = vfake_owner(&qp->object);
	unsigned long flags;
	int err;

	INIT_LIST_HEAD(&to_qp(qp)->posted);
	err = vfake_make(&qp->object, VFAKE_CREATE_QP);
	if (err)
		return err;
	spin_lock_irqsave(&vf->lock, flags);
	qp->qpn = vf->next_number++;
	list_add_tail(&to_qp(qp)->node, &vf->qps);
	spin_unlock_irqrestore(&vf->lock, flags);
	return 0;
}

static int vfake_destroy_qp(struct ib_qp *qp)
{
	return vfake_begin(vfake_owner(&qp->object), VFAKE_DESTROY_QP);
}

static void vfake_detach_qp(struct ib_qp *qp)
{
	struct vfake *vf = vfake_owner(&qp->object);
	unsigned long flags;

	spin_lock_irqsave(&vf->lock, flags);
	list_del_init(&to_qp(qp)->node);
	vfake_free_wrs(&to_qp(qp)->posted, NULL);
	if (qp->send_cq)
		vfake_free_wrs(&to_cq(qp->send_cq)->wcs, qp);
	if (qp->recv_cq)
		vfake_free_wrs(&to_cq(qp->recv_cq)->wcs, qp);
	spin_unlock_irqrestore(&vf->lock, flags);
}

static void vfake_release_qp(struct ib_qp *qp)
{
	vfake_give_back(&qp->object, IB_OBJECT_QP);
}

/* Complete everything that was posted; the CQs are told afterwards, without the lock. */
static void vfake_flush_qp(struct vfake *vf, struct vfake_qp *qp)
{
	struct vfake_wr *wr, *next;
	unsigned long flags;

	spin_lock_irqsave(&vf->lock, flags);
	list_for_each_entry_safe(wr, next, &qp->posted, node) {
		wr->wc.status = IB_WC_WR_FLUSH_ERR;
		list_move_tail(&wr->node, &wr->cq->wcs);
	}
	spin_unlock_irqrestore(&vf->lock, flags);
	if (qp->qp.send_cq)
		ib_cq_completed(qp->qp.send_cq);
	if (qp->qp.recv_cq)
		ib_cq_completed(qp->qp.recv_cq);
}

static int vfake_modify_qp(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
			   enum ib_qp_state from, enum ib_qp_state to, struct ib_udata *udata)
{
	struct vfake *vf = vfake_owner(&qp->object);
	int err = vfake_begin(vf, VFAKE_MODIFY_QP);

	if (err)
		return err;
	to_qp(qp)->error = to == IB_QPS_ERR;
	to_qp(qp)->stuck = false;
	if (to == IB_QPS_ERR && !vf->silent)
		vfake_flush_qp(vf, to_qp(qp));
	return 0;
}

static int vfake_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, u32 mask)
{
	int err = vfake_begin(vfake_owner(&qp->object), VFAKE_QUERY_QP);

	if (err)
		return err;
	attr->state = qp->known.state;
	attr->sq_psn = 0x123456;
	attr->rq_psn = 0x654321;
	attr->dest_qpn = qp->known.dest_qpn;
	return 0;
}

/* ---- QP0 and QP1 ---- */

static bool vfake_is_special(const struct ib_qp *qp)
{
	return qp->type == IB_QPT_SMI || qp->type == IB_QPT_GSI;
}

static u8 vfake_qpn(const struct ib_qp *qp)
{
	return qp->type == IB_QPT_GSI;
}

/* With the lock held: does a request have to wait for something to happen? */
static bool vfake_must_wait(struct vfake *vf, struct vfake_qp *qp, enum ib_wc_opcode opcode)
{
	enum vfake_op op = opcode == IB_WC_RECV ? VFAKE_POST_RECV : VFAKE_POST_SEND;

	if (vf->silent || vf->mute & BIT(op))
		return true;
	if (!vf->mads || !vfake_is_special(&qp->qp) || qp->error)
		return false;
	return opcode == IB_WC_RECV || (vf->hold && !qp->stuck);
}

/* With the lock held: how a request ends that does not wait. */
static enum ib_wc_status vfake_status(struct vfake *vf, struct vfake_qp *qp,
				      enum ib_wc_opcode opcode)
{
	if (qp->error || (qp->stuck && opcode == IB_WC_SEND))
		return IB_WC_WR_FLUSH_ERR;
	if (opcode == IB_WC_SEND && vfake_is_special(&qp->qp) && vf->fail_sends) {
		vf->fail_sends--;
		qp->stuck = true;
		return IB_WC_LOC_QP_OP_ERR;
	}
	return IB_WC_SUCCESS;
}

static struct vfake_wr *vfake_first_recv(struct vfake *vf, u8 port, u8 qpn)
{
	struct vfake_qp *qp;
	struct vfake_wr *wr;

	list_for_each_entry(qp, &vf->qps, node) {
		if (!vfake_is_special(&qp->qp) || vfake_qpn(&qp->qp) != qpn ||
		    qp->qp.port != port)
			continue;
		list_for_each_entry(wr, &qp->posted, node)
			if (wr->wc.opcode == IB_WC_RECV)
				return wr;
	}
	return NULL;
}

/**
 * vfake_deliver() - a MAD arrives
 * @vf: the provider
 * @wc: who sent it, and the port it comes in by
 * @qpn: 0 or 1
 * @mad: IB_MAD_SIZE bytes; with IB_WC_GRH, 40 bytes of GRH stand before them
 *
 * &ib_wc.byte_len may say that there was more behind, which nobody sees. What has no room stops the
 * QP (IBA 10.3.1.1).
 *
 * Return: false: there was no receive for it.
 */
bool vfake_deliver(struct vfake *vf, const struct ib_wc *wc, u8 qpn, const u8 *mad)
{
	struct ib_cq *tell = NULL;
	struct vfake_wr *wr;
	unsigned long flags;

	spin_lock_irqsave(&vf->lock, flags);
	wr = vf->silent ? NULL : vfake_first_recv(vf, wc->port, qpn);
	if (wr) {
		u64 id = wr->wc.wr_id;
		struct ib_qp *qp = wr->wc.qp;

		memset(wr->memory, 0xcc, 40);
		if (wc->flags & IB_WC_GRH)
			memcpy(wr->memory, mad, 40 + IB_MAD_SIZE);
		else
			memcpy(wr->memory + 40, mad, IB_MAD_SIZE);
		wr->wc = *wc;
		wr->wc.wr_id = id;
		wr->wc.qp = qp;
		wr->wc.status = IB_WC_SUCCESS;
		wr->wc.opcode = IB_WC_RECV;
		wr->wc.byte_len = wc->byte_len ?: 40 + IB_MAD_SIZE;
		if (wr->wc.byte_len > wr->room) {
			wr->wc.status = IB_WC_LOC_LEN_ERR;
			to_qp(qp)->error = true;
		}
		list_move_tail(&wr->node, &wr->cq->wcs);
		if (wr->cq->armed)
			tell = &wr->cq->cq;
		wr->cq->armed = false;
	} else {
		vf->dropped++;
	}
	spin_unlock_irqrestore(&vf->lock, flags);
	if (tell)
		ib_cq_completed(tell);
	return wr;
}
EXPORT_SYMBOL_GPL(vfake_deliver);

static unsigned int vfake_port_of_lid(struct vfake *vf, u16 lid)
{
	unsigned int i;

	for (i = 0; i < VFAKE_PORTS; i++)
		if (lid >> vf->port[i].lmc == vf->port[i].lid >> vf->port[i].lmc)
			return i + 1;
	return 0;
}

/* A MAD leaves: it comes round, or is kept for the test. */
static void vfake_wire_put(struct vfake *vf, struct ib_qp *qp, const struct ib_send_wr *wr)
{
	struct vfake_mad *m = kzalloc(sizeof(*m), GFP_ATOMIC);
	unsigned long flags;
	struct ib_wc wc;

	if (!m)
		return;
	memcpy(m->mad, phys_to_virt(wr->sg_list->addr), IB_MAD_SIZE);
	m->to = wr->ud.ah->attr;
	m->port = wr->ud.port;
	m->qpn = vfake_qpn(qp);
	m->dqpn = wr->ud.qpn;
	m->qkey = wr->ud.qkey;
	m->pkey_index = wr->ud.pkey_index;
	wc = (struct ib_wc) {
		.src_qp = m->qpn,
		.slid = vf->port[m->port - 1].lid | m->to.path_bits,
		.sl = m->to.sl,
		.port = vfake_port_of_lid(vf, m->to.dlid),
	};
	if (wc.port)
		wc.dlid_path_bits = m->to.dlid & (BIT(vf->port[wc.port - 1].lmc) - 1);
	spin_lock_irqsave(&vf->lock, flags);
	vf->sent++;
	if (!vf->on_wire && (!vf->loop || !wc.port))
		list_add_tail(&m->node, &vf->wire);
	spin_unlock_irqrestore(&vf->lock, flags);
	if (vf->on_wire)
		vf->on_wire(vf, m);
	else if (vf->loop && wc.port)
		vfake_deliver(vf, &wc, m->qpn, m->mad);
	if (vf->on_wire || (vf->loop && wc.port))
		kfree(m);
}

/** vfake_take() - the oldest MAD on the wire, to be freed with kfree(), or NULL */
struct vfake_mad *vfake_take(struct vfake *vf)
{
	struct vfake_mad *m;

	spin_lock_irq(&vf->lock);
	m = list_first_entry_or_null(&vf->wire, struct vfake_mad, node);
	if (m)
		list_del(&m->node);
	spin_unlock_irq(&vf->lock);
	return m;
}
EXPORT_SYMBOL_GPL(vfake_take);

/** vfake_wire_clear() - nothing is on the wire */
void vfake_wire_clear(struct vfake *vf)
{
	struct vfake_mad *m;

	while ((m = vfake_take(vf)))
		kfree(m);
}
EXPORT_SYMBOL_GPL(vfake_wire_clear);

/** vfake_release_held() - sends that were held complete */
void vfake_release_held(struct vfake *vf)
{
	struct vfake_wr *wr, *next;
	struct vfake_qp *qp;
	struct ib_cq *tell[2 * VFAKE_PORTS];
	unsigned int n = 0;

	spin_lock_irq(&vf->lock);
	vf->hold = false;
	list_for_each_entry(qp, &vf->qps, node) {
		if (!vfake_is_special(&qp->qp))
			continue;
		list_for_each_entry_safe(wr, next, &qp->posted, node) {
			if (wr->wc.opcode != IB_WC_SEND)
				continue;
			wr->wc.status = IB_WC_SUCCESS;
			list_move_tail(&wr->node, &wr->cq->wcs);
		}
		to_cq(qp->qp.send_cq)->armed = false;
		if (n < ARRAY_SIZE(tell))
			tell[n++] = qp->qp.send_cq;
	}
	spin_unlock_irq(&vf->lock);
	while (n)
		ib_cq_completed(tell[--n]);
}
EXPORT_SYMBOL_GPL(vfake_release_held);

static int vfake_post(struct ib_qp *ib_qp, struct ib_cq *cq, u64 wr_id, enum ib_wc_opcode opcode,
		      const struct ib_recv_wr *recv, enum ib_wc_status *status)
{
	struct vfake *vf = vfake_owner(&ib_qp->object);
	struct vfake_wr *wr = kzalloc(sizeof(*wr), GFP_ATOMIC);
	struct vfake_qp *qp = to_qp(ib_qp);
	unsigned long flags;
	bool tell = false, wait;
	int i;

	if (!wr)
		return -ENOMEM;
	wr->cq = to_cq(cq);
	wr->wc.wr_id = wr_id;
	wr->wc.qp = ib_qp;
	wr->wc.opcode = opcode;
	spin_lock_irqsave(&vf->lock, flags);
	if (qp->flushed) {
		spin_unlock_irqrestore(&vf->lock, flags);
		kfree(wr);
		return -EIO;
	}
	/* A drain has no room for anything. */
	if (recv && recv->num_sge && vfake_is_special(ib_qp))
		wr->memory = phys_to_virt(recv->sg_list->addr);
	for (i = 0; recv && i < recv->num_sge; i++)
		wr->room += recv->sg_list[i].length;
	wait = vfake_must_wait(vf, qp, opcode);
	wr->wc.status = vfake_status(vf, qp, opcode);
	*status = wr->wc.status;
	list_add_tail(&wr->node, wait ? &qp->posted : &wr->cq->wcs);
	if (!wait) {
		tell = wr->cq->armed;
		wr->cq->armed = false;
	}
	spin_unlock_irqrestore(&vf->lock, flags);
	if (tell)
		ib_cq_completed(cq);
	return 0;
}

static int vfake_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			   const struct ib_send_wr **bad)
{
	struct vfake *vf = vfake_owner(&qp->object);
	int err = vfake_begin(vf, VFAKE_POST_SEND);
	enum ib_wc_status status;

	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		err = vfake_post(qp, qp->send_cq, wr->wr_id, IB_WC_SEND, NULL, &status);
		if (qp->type == IB_QPT_UD)
			vf->last_qpn = wr->ud.qpn;
		if (!err && status == IB_WC_SUCCESS && vf->mads && wr->opcode == IB_WR_SEND &&
		    vfake_is_special(qp) && !vf->silent)
			vfake_wire_put(vf, qp, wr);
	}
	return err;
}

static int vfake_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad)
{
	int err = vfake_begin(vfake_owner(&qp->object), VFAKE_POST_RECV);
	enum ib_wc_status status;

	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		err = vfake_post(qp, qp->recv_cq, wr->wr_id, IB_WC_RECV, wr, &status);
	}
	return err;
}

static int vfake_attach(struct ib_qp *qp, const union ib_gid *gid, u16 lid)
{
	return vfake_begin(vfake_owner(&qp->object), VFAKE_ATTACH);
}

static int vfake_detach(struct ib_qp *qp, const union ib_gid *gid, u16 lid)
{
	return vfake_begin(vfake_owner(&qp->object), VFAKE_DETACH);
}

static const struct ib_verbs_ops vfake_verbs = {
	.size_cq = IB_OBJECT_SIZE(struct vfake_cq, cq),
	.size_qp = IB_OBJECT_SIZE(struct vfake_qp, qp),
	.query_device = vfake_query_device,
	.query_port = vfake_query_port,
	.query_gids = vfake_query_gids,
	.query_pkeys = vfake_query_pkeys,
	.modify_node = vfake_modify_node,
	.modify_port = vfake_modify_port,
	.process_mad = vfake_process_mad,
	.stats = vfake_stats,
	.read_stats = vfake_read_stats,
	.create_pd = vfake_create_pd,
	.destroy_pd = vfake_destroy_pd,
	.release_pd = vfake_release_pd,
	.create_xrcd = vfake_create_xrcd,
	.destroy_xrcd = vfake_destroy_xrcd,
	.release_xrcd = vfake_release_xrcd,
	.create_cq = vfake_create_cq,
	.destroy_cq = vfake_destroy_cq,
	.release_cq = vfake_release_cq,
	.poll_cq = vfake_poll_cq,
	.arm_cq = vfake_arm_cq,
	.create_srq = vfake_create_srq,
	.destroy_srq = vfake_destroy_srq,
	.release_srq = vfake_release_srq,
	.create_ah = vfake_create_ah,
	.release_ah = vfake_release_ah,
	.create_dma_mr = vfake_create_dma_mr,
	.create_fast_mr = vfake_create_mr,
	.destroy_mr = vfake_destroy_mr,
	.release_mr = vfake_release_mr,
	.create_mw = vfake_create_mw,
	.destroy_mw = vfake_destroy_mw,
	.release_mw = vfake_release_mw,
	.create_qp = vfake_create_qp,
	.destroy_qp = vfake_destroy_qp,
	.detach_qp = vfake_detach_qp,
	.release_qp = vfake_release_qp,
	.modify_qp = vfake_modify_qp,
	.query_qp = vfake_query_qp,
	.post_send = vfake_post_send,
	.post_recv = vfake_post_recv,
	.attach_mcast = vfake_attach,
	.detach_mcast = vfake_detach,
};

static void vfake_device_flush(struct ib_device *device)
{
	struct vfake *vf = vfake_of(device);
	struct vfake_qp *qp;

	vfake_begin(vf, VFAKE_FLUSH);
	/* Nothing is created or detached any more by the tests when this runs. */
	list_for_each_entry(qp, &vf->qps, node) {
		unsigned long flags;

		spin_lock_irqsave(&vf->lock, flags);
		qp->flushed = true;
		spin_unlock_irqrestore(&vf->lock, flags);
		vfake_flush_qp(vf, qp);
	}
}

static void vfake_device_stop(struct ib_device *device)
{
	struct vfake *vf = vfake_of(device);

	vfake_begin(vf, VFAKE_STOP);
	vf->stopped = true;
}

static const struct ib_device_ops vfake_device_ops = {
	.owner = THIS_MODULE,
	.verbs = &vfake_verbs,
	.flush = vfake_device_flush,
	.stop = vfake_device_stop,
	.offer = fake_offer,
};

static struct ib_device *vfake_create(struct ib_hca *hca, void *priv)
{
	struct vfake_device *device;

	device = ib_device_alloc(hca, &vfake_device_ops, "vfake_%d", struct vfake_device, ib);
	if (IS_ERR(device))
		return ERR_CAST(device);
	device->vf = priv;
	device->vf->stopped = false;
	device->ib.phys_port_cnt = VFAKE_PORTS;
	device->ib.has_mads = device->vf->mads;
	device->ib.node_guid = cpu_to_be64(VFAKE_NODE_GUID);
	strscpy(device->ib.fw_ver, "2.42.5000", sizeof(device->ib.fw_ver));
	strscpy_pad(device->ib.node_desc, "LastRef fake HCA", sizeof(device->ib.node_desc));
	return &device->ib;
}

const struct ib_provider vfake_provider = {
	.owner = THIS_MODULE,
	.name = "vfake",
	.create = vfake_create,
};
EXPORT_SYMBOL_GPL(vfake_provider);

/* A port that an SM has brought up. */
static void vfake_init_port(struct vfake *vf, unsigned int i)
{
	struct ib_port_attr *attr = &vf->port[i];

	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = 5;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = VFAKE_GIDS;
	attr->pkey_tbl_len = VFAKE_PKEYS;
	attr->cap_mask = 0x0251486a;
	attr->lid = 0x11 + i;
	attr->sm_lid = 1;
	attr->lmc = i;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_FDR;
	vf->gids[i][0].global.subnet_prefix = cpu_to_be64(IB_GID_DEFAULT_PREFIX);
	vf->gids[i][0].global.interface_id = cpu_to_be64(VFAKE_NODE_GUID + 1 + i);
	vf->pkeys[i][0] = IB_PKEY_DEFAULT;
	vf->pkeys[i][1] = 0x1234;
}

/** vfake_init() - a provider whose ports are up; @vf is zeroed */
void vfake_init(struct vfake *vf)
{
	spin_lock_init(&vf->lock);
	INIT_LIST_HEAD(&vf->qps);
	INIT_LIST_HEAD(&vf->wire);
	vf->next_number = 0x48;
	vfake_init_port(vf, 0);
	vfake_init_port(vf, 1);
}
EXPORT_SYMBOL_GPL(vfake_init);
