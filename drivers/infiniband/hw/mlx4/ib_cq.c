// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues: the ring, arming, changing its size.
 *
 * An entry is ours when its owner bit equals the pass of our index over the ring; the HCA fills the
 * ring when it is made over to it.  How far we are is told in the doorbell record, which the HCA
 * reads when it is about to overrun.
 *
 * After GONE nothing comes any more: then, behind what the ring still holds, the requests that are
 * posted to the QPs of this CQ complete by software.  What the ring is found to hold after that is
 * not believed: its requests have completed.
 */
#include <linux/bitfield.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/swab.h>

#include "mlx4_ib.h"
#include "ib_qp.h"

static const enum mlx4_table_id cq_tables[] = { MLX4_CQC, MLX4_CMPT_CQ, MLX4_TABLES };

static void *ring_entry(const struct mlx4_ib_buf *buf, unsigned int log_size, u32 index)
{
	return mlx4_ib_buf_at(buf, (index & (BIT(log_size) - 1)) * MLX4_CQE_SIZE);
}

static bool ring_pass(unsigned int log_size, u32 index)
{
	return index >> log_size & 1;
}

/* The entry with that index, or NULL while it is the HCA's. */
static void *cq_entry(struct mlx4_ib_cq *cq, u32 index)
{
	void *cqe = ring_entry(&cq->buf, cq->log_size, index);

	if (mlx4_get(cqe, MLX4_CQE_OWNER) != ring_pass(cq->log_size, index))
		return NULL;
	dma_rmb(); /* the owner bit was written last */
	return cqe;
}

static void cq_report(struct mlx4_ib_cq *cq)
{
	/* What was read may be overwritten from now on. */
	smp_store_release(&cq->record.at[0], cpu_to_be32(cq->index & MLX4_CQ_INDEX));
}

static const struct {
	u8 syndrome;
	u8 status;
} syndromes[] = {
	{ 0x01, IB_WC_LOC_LEN_ERR },	{ 0x02, IB_WC_LOC_QP_OP_ERR },
	{ 0x04, IB_WC_LOC_PROT_ERR },	{ 0x05, IB_WC_WR_FLUSH_ERR },
	{ 0x06, IB_WC_MW_BIND_ERR },	{ 0x10, IB_WC_BAD_RESP_ERR },
	{ 0x11, IB_WC_LOC_ACCESS_ERR },	{ 0x12, IB_WC_REM_INV_REQ_ERR },
	{ 0x13, IB_WC_REM_ACCESS_ERR },	{ 0x14, IB_WC_REM_OP_ERR },
	{ 0x15, IB_WC_RETRY_EXC_ERR },	{ 0x16, IB_WC_RNR_RETRY_EXC_ERR },
	{ 0x22, IB_WC_REM_ABORT_ERR },
};

static void wc_error(const void *cqe, struct ib_wc *wc)
{
	u8 syndrome = mlx4_get(cqe, MLX4_CQE_SYNDROME);
	unsigned int i;

	wc->vendor_err = mlx4_get(cqe, MLX4_CQE_VENDOR);
	wc->status = IB_WC_GENERAL_ERR;
	for (i = 0; i < ARRAY_SIZE(syndromes); i++)
		if (syndromes[i].syndrome == syndrome)
			wc->status = syndromes[i].status;
}

static void wc_send(const void *cqe, struct ib_wc *wc)
{
	wc->opcode = IB_WC_SEND;
	switch (mlx4_get(cqe, MLX4_CQE_OPCODE)) {
	case MLX4_SEND_WRITE:
	case MLX4_SEND_WRITE_IMM:
		wc->opcode = IB_WC_RDMA_WRITE;
		break;
	case MLX4_SEND_READ:
		wc->opcode = IB_WC_RDMA_READ;
		wc->byte_len = mlx4_get(cqe, MLX4_CQE_BYTES);
		break;
	case MLX4_SEND_CMP_SWAP:
		wc->opcode = IB_WC_COMP_SWAP;
		wc->byte_len = 8;
		break;
	case MLX4_SEND_FETCH_ADD:
		wc->opcode = IB_WC_FETCH_ADD;
		wc->byte_len = 8;
		break;
	case MLX4_SEND_LSO:
		wc->opcode = IB_WC_LSO;
		break;
	case MLX4_SEND_REG_MR:
		wc->opcode = IB_WC_REG_MR;
		break;
	case MLX4_SEND_LOCAL_INV:
		wc->opcode = IB_WC_LOCAL_INV;
		break;
	case MLX4_SEND_BIND_MW:
		wc->opcode = IB_WC_BIND_MW;
		break;
	}
}

/* The HCA checks headers; of what it could not parse it gives the checksum of all of it. */
static bool checksum_is_good(const void *cqe)
{
	return mlx4_get(cqe, MLX4_CQE_L4_OK) ||
	       (mlx4_get(cqe, MLX4_CQE_IP_OK) && mlx4_get(cqe, MLX4_CQE_TCP_UDP) &&
		mlx4_get(cqe, MLX4_CQE_CHECKSUM) == 0xffff);
}

static void wc_recv(const void *cqe, const struct ib_qp *qp, struct ib_wc *wc)
{
	wc->opcode = IB_WC_RECV;
	switch (mlx4_get(cqe, MLX4_CQE_OPCODE)) {
	case MLX4_RECV_WRITE_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case MLX4_RECV_SEND_IMM:
		wc->imm_data = cpu_to_be32(mlx4_get(cqe, MLX4_CQE_IMM));
		wc->flags |= IB_WC_WITH_IMM;
		break;
	case MLX4_RECV_SEND_INVAL:
		wc->invalidate_rkey = mlx4_get(cqe, MLX4_CQE_IMM);
		wc->flags |= IB_WC_WITH_INVALIDATE;
		break;
	}
	wc->byte_len = mlx4_get(cqe, MLX4_CQE_BYTES);
	wc->src_qp = mlx4_get(cqe, MLX4_CQE_REMOTE);
	wc->slid = mlx4_get(cqe, MLX4_CQE_SLID);
	wc->sl = mlx4_get(cqe, MLX4_CQE_SL);
	wc->dlid_path_bits = mlx4_get(cqe, MLX4_CQE_PATH_BITS);
	wc->pkey_index = mlx4_get(cqe, MLX4_CQE_PKEY_INDEX);
	wc->port = qp->port;
	if (mlx4_get(cqe, MLX4_CQE_GRH))
		wc->flags |= IB_WC_GRH;
	if (checksum_is_good(cqe))
		wc->flags |= IB_WC_IP_CSUM_OK;
}

/*
 * Whose completion is it?  NULL: the QP has been detached, whoever has its place now.  Mostly it is
 * the one of the completion before; a QP that leaves the CQ is forgotten, and others (XRC targets,
 * which complete where their SRQs do) are not remembered.
 */
static struct mlx4_ib_qp *cqe_qp(struct mlx4_ib_cq *cq, const void *cqe)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&cq->ib.object);
	u32 mask = dev->core->icm.tables[MLX4_QPC].count - 1, number = mlx4_get(cqe, MLX4_CQE_QPN);
	struct mlx4_ib_qp *qp = cq->last;

	if (qp && qp->number == number)
		return qp;
	qp = xa_load(&dev->qps, number & mask);
	if (!qp || qp->number != number)
		return NULL;
	if (qp->ib.send_cq == &cq->ib || qp->ib.recv_cq == &cq->ib)
		cq->last = qp;
	return qp;
}

/* Which receive has been used up; gives false for one that nobody waits for any more. */
static bool wc_recv_id(struct mlx4_ib_dev *dev, struct mlx4_ib_qp *qp, const void *cqe,
		       struct ib_wc *wc)
{
	struct mlx4_ib_srq *srq = mlx4_ib_qp_srq(qp);

	if (qp->ib.type == IB_QPT_XRC_TGT) {
		srq = mlx4_ib_srq_find(dev, mlx4_get(cqe, MLX4_CQE_REMOTE));
		if (!srq)
			return false;
	}
	wc->wr_id = srq ? mlx4_ib_srq_received(srq, mlx4_get(cqe, MLX4_CQE_COUNTER)) :
			  mlx4_ib_qp_received(qp);
	return true;
}

/* Of one that nobody will see: the SRQ gets its request back; that of an XRC target is named. */
static void give_back(struct mlx4_ib_cq *cq, const void *cqe, struct mlx4_ib_srq *srq)
{
	if (mlx4_get(cqe, MLX4_CQE_IS_SEND))
		return;
	if (!srq && mlx4_get(cqe, MLX4_CQE_QPN) & MLX4_QPN_XRC)
		srq = mlx4_ib_srq_find(mlx4_ib_dev_of(&cq->ib.object),
				       mlx4_get(cqe, MLX4_CQE_REMOTE));
	if (srq)
		mlx4_ib_srq_give_back(srq, mlx4_get(cqe, MLX4_CQE_COUNTER));
}

/* Turn an entry into a completion; gives false for one that nobody waits for any more. */
static bool wc_fill(struct mlx4_ib_cq *cq, const void *cqe, struct ib_wc *wc)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&cq->ib.object);
	bool send = mlx4_get(cqe, MLX4_CQE_IS_SEND);
	struct mlx4_ib_qp *qp = cqe_qp(cq, cqe);

	if (!qp) {
		give_back(cq, cqe, NULL);
		return false;
	}
	memset(wc, 0, sizeof(*wc));
	wc->qp = &qp->ib;
	if (send)
		wc->wr_id = mlx4_ib_qp_sent(qp, mlx4_get(cqe, MLX4_CQE_COUNTER));
	else if (!wc_recv_id(dev, qp, cqe, wc))
		return false;
	if (mlx4_get(cqe, MLX4_CQE_OPCODE) == MLX4_CQE_ERROR)
		wc_error(cqe, wc);
	else if (send)
		wc_send(cqe, wc);
	else
		wc_recv(cqe, &qp->ib, wc);
	return true;
}

/* From the ring, as far as it goes. */
static int take_hardware(struct mlx4_ib_cq *cq, int count, struct ib_wc *wc)
{
	u32 index = cq->index;
	void *cqe;
	int n = 0;

	while (n < count && (cqe = cq_entry(cq, cq->index))) {
		/* The resize that is under way goes on from here. */
		if (mlx4_get(cqe, MLX4_CQE_OPCODE) == MLX4_CQE_RESIZED)
			break;
		n += wc_fill(cq, cqe, &wc[n]);
		cq->index++;
	}
	if (cq->index != index)
		cq_report(cq);
	return n;
}

/* What is left in the work queues. */
static int take_flushed(struct mlx4_ib_cq *cq, int count, struct ib_wc *wc)
{
	struct mlx4_ib_qp *qp;
	int n = 0;

	cq->ended = true;
	list_for_each_entry(qp, &cq->send_qps, send_node)
		n += mlx4_ib_qp_take_flushed(qp, true, count - n, wc + n);
	list_for_each_entry(qp, &cq->recv_qps, recv_node)
		n += mlx4_ib_qp_take_flushed(qp, false, count - n, wc + n);
	return n;
}

int mlx4_ib_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc)
{
	struct mlx4_ib_cq *cq = mlx4_ib_cq(ib);
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->closed) {
		n = -ENODEV;
	} else {
		if (!cq->ended)
			n = take_hardware(cq, count, wc);
		if (cq->flushed && n < count)
			n += take_flushed(cq, count - n, wc + n);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/* Who polls or arms it has finished, or will find it closed. */
static void cq_close(struct mlx4_ib_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->closed = true;
	spin_unlock_irqrestore(&cq->lock, flags);
}

void mlx4_ib_cq_flush(struct mlx4_ib_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->flushed = true;
	spin_unlock_irqrestore(&cq->lock, flags);
}

static bool is_of_qp(const void *cqe, u32 qpn)
{
	return mlx4_get(cqe, MLX4_CQE_QPN) == qpn;
}

static bool is_of_srq(const void *cqe, u32 srqn)
{
	return !mlx4_get(cqe, MLX4_CQE_IS_SEND) && mlx4_get(cqe, MLX4_CQE_QPN) & MLX4_QPN_XRC &&
	       mlx4_get(cqe, MLX4_CQE_REMOTE) == srqn;
}

/* Newest first, so that each entry moves once, over those that went. */
static void cq_clean(struct mlx4_ib_cq *cq, bool (*is_his)(const void *cqe, u32 number),
		     u32 number, struct mlx4_ib_srq *srq)
{
	u32 end = cq->index, index, gone = 0;
	void *cqe, *to;
	bool owner;

	while (end - cq->index < BIT(cq->log_size) && cq_entry(cq, end))
		end++;
	for (index = end; index != cq->index;) {
		cqe = ring_entry(&cq->buf, cq->log_size, --index);
		if (mlx4_get(cqe, MLX4_CQE_OPCODE) != MLX4_CQE_RESIZED && is_his(cqe, number)) {
			gone++;
			give_back(cq, cqe, srq);
		} else if (gone) {
			to = ring_entry(&cq->buf, cq->log_size, index + gone);
			owner = mlx4_get(to, MLX4_CQE_OWNER);
			memcpy(to, cqe, MLX4_CQE_SIZE);
			mlx4_put(to, MLX4_CQE_OWNER, owner);
		}
	}
	if (gone) {
		cq->index += gone;
		cq_report(cq);
	}
}

void mlx4_ib_cq_clean(struct mlx4_ib_cq *cq, u32 qpn, struct mlx4_ib_srq *srq)
{
	cq_clean(cq, is_of_qp, qpn, srq);
}

void mlx4_ib_cq_clean_srq(struct mlx4_ib_cq *cq, u32 srqn)
{
	cq_clean(cq, is_of_srq, srqn, NULL);
}

static void cq_arm(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq, u32 flags)
{
	u32 index = cq->index & MLX4_CQ_INDEX;
	u32 command;

	command = FIELD_PREP(MLX4_CQ_DB_SN, READ_ONCE(cq->arm_sn) & 3) |
		  (flags & IB_CQ_SOLICITED ? MLX4_CQ_DB_SOLICITED : MLX4_CQ_DB_ANY);
	WRITE_ONCE(cq->record.at[1], cpu_to_be32(command | index));
	/* The doorbell's write is ordered after the record's; what is there already fires it. */
	writeq(swab64((u64)(command | cq->cqn) << 32 | index), dev->uar + MLX4_UAR_CQ_DB);
}

int mlx4_ib_arm_cq(struct ib_cq *ib, u32 flags)
{
	struct mlx4_ib_cq *cq = mlx4_ib_cq(ib);
	unsigned long irqs;
	int err = 0;

	spin_lock_irqsave(&cq->lock, irqs);
	if (cq->closed)
		err = -ENODEV;
	else
		cq_arm(mlx4_ib_dev_of(&ib->object), cq, flags);
	spin_unlock_irqrestore(&cq->lock, irqs);
	return err;
}

static void cq_fill_ring(struct mlx4_ib_dev *dev, void *context, const struct mlx4_ib_buf *buf,
			 unsigned int log_size)
{
	u64 mtt = mlx4_mtt_addr(dev->core, buf->mtt);

	mlx4_put(context, MLX4_CQC_LOG_SIZE, log_size);
	mlx4_put(context, MLX4_CQC_UAR, dev->uar_index);
	mlx4_put(context, MLX4_CQC_MTT_HI, mtt >> 32);
	mlx4_put(context, MLX4_CQC_MTT_LO, mtt & U32_MAX);
}

static int cq_to_hardware(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq, bool *unanswered)
{
	struct mlx4_call call = { .op = MLX4_SW2HW_CQ, .in_mod = cq->cqn };
	int err;

	call.in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	cq_fill_ring(dev, call.in->buf, &cq->buf, cq->log_size);
	mlx4_put(call.in->buf, MLX4_CQC_EQN, mlx4_comp_eqn(dev->core, cq->vector));
	mlx4_put(call.in->buf, MLX4_CQC_RECORD, cq->record.dma);
	err = mlx4_cmd(dev->core, &call);
	*unanswered = err && !call.status;
	mlx4_mailbox_free(dev->core, call.in);
	return err;
}

/*
 * An event queue must not overrun, so it is given only as many CQs as it has entries for; who comes
 * later gets the next one that has room.
 */
static int cq_vector_take(struct mlx4_ib_dev *dev, u32 wanted)
{
	unsigned int queues = dev->core->eqs.count - 1, i, vector;

	for (i = 0; i < queues; i++) {
		vector = (wanted % queues + i) % queues;
		if (atomic_add_unless(&dev->vector_cqs[vector], 1, MLX4_COMP_EQ_CQS))
			return vector;
	}
	return -ENOMEM;
}

/* One entry more than asked for stays free: a resize needs it. */
static int cq_log_size(struct mlx4_ib_dev *dev, u32 cqe)
{
	if (cqe >= BIT(dev->core->caps.log_cq_size))
		return -EINVAL;
	return ilog2(roundup_pow_of_two(cqe + 1));
}

int mlx4_ib_cq_make(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq, u32 cqe, u32 vector)
{
	bool unanswered = false;
	int err;

	err = cq_log_size(dev, cqe);
	if (err < 0)
		return err;
	cq->log_size = err;
	cq->ib.cqe = BIT(cq->log_size) - 1;
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resizing);
	INIT_LIST_HEAD(&cq->send_qps);
	INIT_LIST_HEAD(&cq->recv_qps);
	cq->arm_sn = 1;

	err = cq_vector_take(dev, vector);
	if (err < 0)
		return err;
	cq->vector = err;
	err = mlx4_ib_number_alloc(dev, &dev->cqs, &dev->next_cqn, cq_tables,
				   dev->core->icm.tables[MLX4_CQC].reserved, &cq->cqn);
	if (err)
		goto put_vector;
	err = mlx4_ib_buf_alloc(dev, &cq->buf, MLX4_CQE_SIZE << cq->log_size);
	if (!err)
		err = mlx4_ib_record_alloc(dev, &cq->record);
	if (!err)
		err = cq_to_hardware(dev, cq, &unanswered);
	if (!err)
		return 0;
	mlx4_ib_buf_end(dev, &cq->buf, &cq->record, unanswered);
	mlx4_ib_number_free(dev, &dev->cqs, cq_tables, cq->cqn);
put_vector:
	atomic_dec(&dev->vector_cqs[cq->vector]);
	return err;
}

int mlx4_ib_cq_take(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq)
{
	struct mlx4_call call = {
		.op = MLX4_HW2SW_CQ,
		.op_mod = MLX4_HW2SW_CQ_DISCARD,
		.in_mod = cq->cqn,
	};

	return mlx4_ib_closed(dev, &call);
}

void mlx4_ib_cq_unmake(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq)
{
	mlx4_ib_buf_free(dev, &cq->buf);
	mlx4_ib_record_free(dev, &cq->record);
	mlx4_ib_number_free(dev, &dev->cqs, cq_tables, cq->cqn);
	atomic_dec(&dev->vector_cqs[cq->vector]);
}

int mlx4_ib_create_cq(struct ib_cq *ib, const struct ib_cq_init *init, struct ib_udata *udata)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_cq *cq = mlx4_ib_cq(ib);
	int err;

	if (udata || init->flags)
		return -EOPNOTSUPP;
	err = mlx4_ib_cq_make(dev, cq, init->cqe, init->vector);
	if (!err)
		mlx4_ib_number_publish(&dev->cqs, cq->cqn, cq);
	return err;
}

int mlx4_ib_destroy_cq(struct ib_cq *ib)
{
	cq_close(mlx4_ib_cq(ib));
	return mlx4_ib_cq_take(mlx4_ib_dev_of(&ib->object), mlx4_ib_cq(ib));
}

void mlx4_ib_detach_cq(struct ib_cq *ib)
{
	cq_close(mlx4_ib_cq(ib));
	mlx4_ib_number_hide(&mlx4_ib_dev_of(&ib->object)->cqs, mlx4_ib_cq(ib)->cqn);
}

void mlx4_ib_release_cq(struct ib_cq *ib)
{
	mlx4_ib_cq_unmake(mlx4_ib_dev_of(&ib->object), mlx4_ib_cq(ib));
}

/*
 * The HCA has ended the old ring with a mark, which took an index, and goes on in the new one
 * behind it.  What is still unread in the old ring is moved up to where the mark would be.
 */
static void cq_switch(struct mlx4_ib_cq *cq, struct mlx4_ib_buf *buf, unsigned int log_size)
{
	u32 index = cq->index;
	void *from, *to;

	while ((from = cq_entry(cq, index)) &&
	       mlx4_get(from, MLX4_CQE_OPCODE) != MLX4_CQE_RESIZED) {
		to = ring_entry(buf, log_size, ++index);
		memcpy(to, from, MLX4_CQE_SIZE);
		mlx4_put(to, MLX4_CQE_OWNER, ring_pass(log_size, index));
	}
	swap(cq->buf, *buf);
	cq->log_size = log_size;
	cq->ib.cqe = BIT(log_size) - 1;
	cq->index++;
	cq_report(cq);
}

static int cq_modify(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq, struct mlx4_call *call)
{
	call->op = MLX4_MODIFY_CQ;
	call->in_mod = cq->cqn;
	return mlx4_cmd(dev->core, call);
}

static int cq_resize(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq, unsigned int log_size)
{
	struct mlx4_call call = { .op_mod = MLX4_MODIFY_CQ_RESIZE };
	struct mlx4_ib_buf buf;
	int err;

	call.in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	err = mlx4_ib_buf_alloc(dev, &buf, MLX4_CQE_SIZE << log_size);
	if (err)
		goto out;
	cq_fill_ring(dev, call.in->buf, &buf, log_size);
	err = cq_modify(dev, cq, &call);
	if (!err) {
		spin_lock_irq(&cq->lock);
		cq_switch(cq, &buf, log_size);
		spin_unlock_irq(&cq->lock);
	}
	/* Without an answer the HCA may use the new ring: it is kept until that cannot be. */
	mlx4_ib_buf_end(dev, &buf, NULL, err && !call.status);
out:
	mlx4_mailbox_free(dev->core, call.in);
	return err;
}

/* Do the completions that wait fit a ring of that size, and its mark behind them (IBA 11.2.8.3)? */
static bool cq_fits(struct mlx4_ib_cq *cq, unsigned int log_size)
{
	unsigned int n = 0, look = min(BIT(log_size), BIT(cq->log_size));

	spin_lock_irq(&cq->lock);
	while (n < look && cq_entry(cq, cq->index + n))
		n++;
	spin_unlock_irq(&cq->lock);
	return n < BIT(log_size);
}

int mlx4_ib_resize_cq(struct ib_cq *ib, u32 cqe, struct ib_udata *udata)
{
	struct mlx4_ib_cq *cq = mlx4_ib_cq(ib);
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	int log_size = cq_log_size(dev, cqe);
	int err = 0;

	if (udata)
		return -EOPNOTSUPP;
	if (log_size < 0)
		return log_size;
	mutex_lock(&cq->resizing);
	if (!cq_fits(cq, log_size))
		err = -EINVAL;
	else if (log_size != cq->log_size)
		err = cq_resize(dev, cq, log_size);
	mutex_unlock(&cq->resizing);
	/* Somebody may have met the mark and gone away. */
	if (!err)
		ib_cq_completed(ib);
	return err;
}

int mlx4_ib_moderate_cq(struct ib_cq *ib, u16 count, u16 period)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_call call = { .op_mod = MLX4_MODIFY_CQ_RATE };
	int err;

	call.in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	mlx4_put(call.in->buf, MLX4_CQC_COUNT, count);
	mlx4_put(call.in->buf, MLX4_CQC_PERIOD, period);
	err = cq_modify(dev, mlx4_ib_cq(ib), &call);
	mlx4_mailbox_free(dev->core, call.in);
	return err;
}
