// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues.
 *
 * The HCA fills a ring when it is made over to it, so that no entry looks valid before it is
 * written; an entry is ours when its owner bit equals the pass of our consumer index over the ring.
 * A handler consumes what is there, reports the index at least every REPORT entries so that the
 * ring cannot overrun, and arms the queue at the end: an event that came in between raises the
 * interrupt again at once.
 *
 * Handlers touch registers inside the HCA's gate only; what they call is called outside, so that a
 * stop waits for no callback.  After GONE an entry is still read, since the ring is memory of ours
 * until the interrupts are freed, and nothing is reported.
 */
#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/pci.h>

#include <ib/hca.h>

#include "mlx4.h"

#define LOG_ASYNC_SIZE	9	/* commands outstanding and a burst of port and QP events */
#define REPORT		128	/* entries consumed between two reports */

#define ASYNC_EVENTS									\
	(BIT_ULL(MLX4_EVENT_PATH_MIG) | BIT_ULL(MLX4_EVENT_COMM_EST) |			\
	 BIT_ULL(MLX4_EVENT_SQ_DRAINED) | BIT_ULL(MLX4_EVENT_CQ_ERROR) |		\
	 BIT_ULL(MLX4_EVENT_WQ_CATAS) | BIT_ULL(MLX4_EVENT_MIG_FAILED) |		\
	 BIT_ULL(MLX4_EVENT_PORT_CHANGE) | BIT_ULL(MLX4_EVENT_CMD) |			\
	 BIT_ULL(MLX4_EVENT_ECC) | BIT_ULL(MLX4_EVENT_WQ_INVAL) |			\
	 BIT_ULL(MLX4_EVENT_WQ_ACCESS) | BIT_ULL(MLX4_EVENT_SRQ_CATAS) |		\
	 BIT_ULL(MLX4_EVENT_LAST_WQE) | BIT_ULL(MLX4_EVENT_SRQ_LIMIT) |			\
	 BIT_ULL(MLX4_EVENT_FATAL_WARN))

static void eq_report(struct mlx4_eq *eq, bool arm)
{
	rcu_read_lock();
	if (!READ_ONCE(eq->silent) && !ib_gate_pass(&eq->dev->hca->gate))
		iowrite32be((arm ? MLX4_EQ_DB_ARM : 0) | (eq->index & MLX4_EQ_DB_INDEX),
			    eq->doorbell);
	rcu_read_unlock();
}

static void *eq_next(struct mlx4_eq *eq)
{
	u32 size = 1u << eq->log_size;
	void *eqe = eq->buf + (eq->index & (size - 1)) * MLX4_EQE_SIZE;

	if (mlx4_get(eqe, MLX4_EQE_OWNER) != !!(eq->index & size))
		return NULL;
	dma_rmb(); /* the owner bit was written last */
	return eqe;
}

static void eq_event(struct mlx4_dev *dev, const void *eqe)
{
	struct mlx4_sink *sink = READ_ONCE(dev->sink);

	switch (mlx4_get(eqe, MLX4_EQE_TYPE)) {
	case MLX4_EVENT_COMP:
		if (sink)
			sink->completed(sink, mlx4_get(eqe, MLX4_EQE_NUMBER));
		break;
	case MLX4_EVENT_CMD:
		mlx4_cmd_event(dev, mlx4_get(eqe, MLX4_EQE_TOKEN),
			       mlx4_get(eqe, MLX4_EQE_CMD_STATUS),
			       mlx4_get(eqe, MLX4_EQE_OUT_PARAM));
		break;
	case MLX4_EVENT_FATAL_WARN:
		dev_warn_ratelimited(dev->dev, "the HCA warns of its temperature\n");
		break;
	case MLX4_EVENT_ECC:
		dev_warn_ratelimited(dev->dev, "the HCA found an error in its memory\n");
		break;
	default:
		if (sink)
			sink->event(sink, eqe);
		break;
	}
}

/* Consume what is there.  Gives whether there was something. */
static bool eq_handle(struct mlx4_eq *eq)
{
	unsigned int unreported = 0;
	bool some = false;
	void *eqe;

	while ((eqe = eq_next(eq))) {
		eq_event(eq->dev, eqe);
		eq->index++;
		some = true;
		if (++unreported == REPORT) {
			eq_report(eq, false);
			unreported = 0;
		}
	}
	eq_report(eq, true);
	return some;
}

static irqreturn_t eq_interrupt(int irq, void *data)
{
	eq_handle(data);
	return IRQ_HANDLED;
}

/* One vector for all queues: INTx, which others may share, or a single MSI. */
static irqreturn_t shared_interrupt(int irq, void *data)
{
	struct mlx4_dev *dev = data;
	bool some = false;
	unsigned int i;

	if (ib_hca_enter(dev->hca))
		return IRQ_NONE;
	if (dev->clr_int)
		iowrite32be(dev->clr_int_mask, dev->clr_int);
	ib_hca_exit(dev->hca);
	for (i = 0; i < dev->eqs.count; i++)
		/* Pairs with eq_give(): one that is made has a ring. */
		if (smp_load_acquire(&dev->eqs.eq[i].made))
			some |= eq_handle(&dev->eqs.eq[i]);
	return some ? IRQ_HANDLED : IRQ_NONE;
}

void mlx4_sink_set(struct mlx4_dev *dev, struct mlx4_sink *sink)
{
	unsigned int i;

	WRITE_ONCE(dev->sink, sink);
	if (sink)
		return;
	/* A handler that has read the old value is one that runs. */
	for (i = 0; i < dev->eqs.count; i++)
		if (dev->eqs.eq[i].requested)
			synchronize_irq(dev->eqs.eq[i].irq);
}
EXPORT_SYMBOL_GPL(mlx4_sink_set);

u32 mlx4_comp_eqn(const struct mlx4_dev *dev, u32 vector)
{
	return dev->eqs.eq[1 + vector % (dev->eqs.count - 1)].eqn;
}
EXPORT_SYMBOL_GPL(mlx4_comp_eqn);

/* How interrupts come, best first. */
static const struct {
	unsigned int flags;
	const char *name;
} vector_kinds[] = {
	{ PCI_IRQ_MSIX, "MSI-X" },
	{ PCI_IRQ_MSI, "MSI" },
	{ PCI_IRQ_INTX, "INTx" },
};

static int vectors_start(struct mlx4_dev *dev, unsigned int kind)
{
	struct mlx4_eqs *eqs = &dev->eqs;
	u32 free = dev->icm.tables[MLX4_EQC].count - dev->caps.reserved_eqs;
	unsigned int want = min3(num_online_cpus() + 1, (unsigned int)MLX4_EQ_MAX, free);
	bool msix = vector_kinds[kind].flags == PCI_IRQ_MSIX;
	int got;

	got = pci_alloc_irq_vectors(dev->pdev, msix ? 2 : 1, msix ? want : 1,
				    vector_kinds[kind].flags);
	if (got < 0)
		return got;
	eqs->vectors = got;
	eqs->msix = msix;
	eqs->count = msix ? got : 2;
	if (vector_kinds[kind].flags == PCI_IRQ_INTX) {
		unsigned int pin = dev->caps.inta_pin;

		dev->clr_int_mask = BIT(pin & 31);
		dev->clr_int = (dev->caps.clr_int_bar ? dev->uar : dev->bar0) + dev->caps.clr_int +
			       (pin < 32 ? 4 : 0);
	}
	return 0;
}

static void vectors_stop(struct mlx4_dev *dev)
{
	if (!dev->eqs.vectors)
		return;
	pci_free_irq_vectors(dev->pdev);
	dev->eqs.vectors = 0;
	dev->clr_int = NULL;
}

static u32 eq_pages(const struct mlx4_eq *eq)
{
	return MLX4_EQE_SIZE << eq->log_size >> MLX4_PAGE_SHIFT;
}

/* The ring and its page table. */
static int eq_alloc(struct mlx4_dev *dev, struct mlx4_eq *eq, unsigned int log_size)
{
	dma_addr_t *list;
	u32 pages, i;
	int err;

	eq->log_size = log_size;
	pages = eq_pages(eq);
	eq->buf = dma_alloc_coherent(dev->dev, MLX4_EQE_SIZE << log_size, &eq->dma, GFP_KERNEL);
	list = kcalloc(pages, sizeof(*list), GFP_KERNEL);
	if (!eq->buf || !list) {
		kfree(list);
		return -ENOMEM;
	}
	for (i = 0; i < pages; i++)
		list[i] = eq->dma + ((dma_addr_t)i << MLX4_PAGE_SHIFT);
	err = mlx4_mtt_alloc(dev, list, pages, &eq->mtt);
	kfree(list);
	eq->paged = !err;
	return err;
}

static int eq_icm_get(struct mlx4_dev *dev, struct mlx4_eq *eq)
{
	int err;

	err = mlx4_icm_get(dev, MLX4_EQC, eq->eqn, 1);
	if (err)
		return err;
	err = mlx4_icm_get(dev, MLX4_CMPT_EQ, eq->eqn, 1);
	if (err)
		mlx4_icm_put(dev, MLX4_EQC, eq->eqn, 1);
	return err;
}

static void eq_icm_put(struct mlx4_dev *dev, struct mlx4_eq *eq)
{
	mlx4_icm_put(dev, MLX4_CMPT_EQ, eq->eqn, 1);
	mlx4_icm_put(dev, MLX4_EQC, eq->eqn, 1);
}

/* Make the ring over to the HCA. */
static int eq_give(struct mlx4_dev *dev, struct mlx4_eq *eq, unsigned int vector)
{
	struct mlx4_call call = { .op = MLX4_SW2HW_EQ, .in_mod = eq->eqn };
	u64 mtt = mlx4_mtt_addr(dev, eq->mtt);
	int err;

	call.in = mlx4_mailbox_alloc(dev);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	mlx4_put(call.in->buf, MLX4_EQC_STATE, MLX4_EQ_ARMED);
	mlx4_put(call.in->buf, MLX4_EQC_LOG_SIZE, eq->log_size);
	mlx4_put(call.in->buf, MLX4_EQC_VECTOR, vector);
	mlx4_put(call.in->buf, MLX4_EQC_MTT_HI, mtt >> 32);
	mlx4_put(call.in->buf, MLX4_EQC_MTT_LO, mtt & U32_MAX);
	err = mlx4_cmd(dev, &call);
	mlx4_mailbox_free(dev, call.in);
	/* No answer may be a late yes.  Other queues' handlers look at this one from now on. */
	smp_store_release(&eq->made, !call.status);
	return err;
}

static int eq_start(struct mlx4_dev *dev, unsigned int i)
{
	struct mlx4_eq *eq = &dev->eqs.eq[i];
	unsigned int vector = dev->eqs.msix ? i : 0;
	int err;

	memset(eq, 0, sizeof(*eq));
	eq->dev = dev;
	eq->eqn = dev->caps.reserved_eqs + i;
	eq->doorbell = dev->uar + eq->eqn / MLX4_EQS_PER_UAR * MLX4_UAR_SIZE + MLX4_UAR_EQ_DB +
		       eq->eqn % MLX4_EQS_PER_UAR * 8;
	err = eq_alloc(dev, eq, i ? MLX4_LOG_COMP_EQ : LOG_ASYNC_SIZE);
	if (err)
		return err;
	err = eq_icm_get(dev, eq);
	if (err)
		return err;
	err = eq_give(dev, eq, vector);
	if (!eq->made)
		eq_icm_put(dev, eq);
	if (err || (i && !dev->eqs.msix))
		return err;

	eq->irq = pci_irq_vector(dev->pdev, vector);
	snprintf(eq->name, sizeof(eq->name), "mlx4-%u@%s", i, pci_name(dev->pdev));
	if (dev->eqs.msix)
		err = request_irq(eq->irq, eq_interrupt, 0, eq->name, eq);
	else
		err = request_irq(eq->irq, shared_interrupt, IRQF_SHARED, eq->name, dev);
	eq->requested = !err;
	return err;
}

/* Direct asynchronous events to the first queue, or away from it. */
static int map_events(struct mlx4_dev *dev, bool map)
{
	u64 mask = ASYNC_EVENTS;
	struct mlx4_call call = {
		.op = MLX4_MAP_EQ,
		.in_mod = dev->eqs.eq[0].eqn | (map ? 0 : MLX4_MAP_EQ_UNMAP),
		.closing = !map,
	};

	if (dev->caps.flags & MLX4_FLAG_PORT_MGMT)
		mask |= BIT_ULL(MLX4_EVENT_PORT_MGMT);
	call.in_imm = mask;
	return mlx4_cmd(dev, &call);
}

/* From here commands complete by event; the first one proves that interrupts arrive. */
static int events_start(struct mlx4_dev *dev)
{
	struct mlx4_call nop = { .op = MLX4_NOP, .in_mod = 0x1f };
	int err;

	err = map_events(dev, true);
	if (err)
		return err;
	dev->eqs.mapped = true;
	mlx4_cmd_use_events(dev, true);
	return mlx4_cmd(dev, &nop);
}

/* A late interrupt must not ring for a queue that has been taken back. */
static void eqs_silence(struct mlx4_dev *dev)
{
	unsigned int i;

	for (i = 0; i < dev->eqs.count; i++)
		WRITE_ONCE(dev->eqs.eq[i].silent, true);
	for (i = 0; i < dev->eqs.count; i++)
		if (dev->eqs.eq[i].requested)
			synchronize_irq(dev->eqs.eq[i].irq);
}

/* Undo vectors, queues and events as far as they got; memory stays with the queues. */
void mlx4_interrupts_stop(struct mlx4_dev *dev)
{
	unsigned int i = dev->eqs.count;

	mlx4_cmd_use_events(dev, false);
	if (dev->eqs.mapped)
		map_events(dev, false);
	dev->eqs.mapped = false;
	eqs_silence(dev);
	while (i--) {
		struct mlx4_eq *eq = &dev->eqs.eq[i];
		struct mlx4_call call = { .op = MLX4_HW2SW_EQ, .op_mod = 1, .in_mod = eq->eqn };

		if (eq->made && !mlx4_cmd(dev, &call)) {
			eq_icm_put(dev, eq);
			eq->made = false;
		}
		if (eq->requested)
			free_irq(eq->irq, dev->eqs.msix ? (void *)eq : (void *)dev);
		eq->requested = false;
		if (eq->paged && eq->made)
			mlx4_mtt_forget(dev, eq->mtt, eq_pages(eq));
		else if (eq->paged)
			mlx4_mtt_free(dev, eq->mtt, eq_pages(eq));
		eq->paged = false;
	}
	vectors_stop(dev);
}

void mlx4_interrupts_free(struct mlx4_dev *dev)
{
	unsigned int i;

	for (i = 0; i < MLX4_EQ_MAX; i++) {
		struct mlx4_eq *eq = &dev->eqs.eq[i];

		if (eq->buf)
			dma_free_coherent(dev->dev, MLX4_EQE_SIZE << eq->log_size, eq->buf,
					  eq->dma);
		memset(eq, 0, sizeof(*eq));
	}
	dev->eqs.count = 0;
}

/* Only what the HCA has given back for certain may be freed while it runs. */
static bool all_taken_back(struct mlx4_dev *dev)
{
	unsigned int i;

	for (i = 0; i < dev->eqs.count; i++)
		if (dev->eqs.eq[i].made)
			return false;
	return !ib_hca_is_over(dev->hca);
}

static int try_kind(struct mlx4_dev *dev, unsigned int kind)
{
	unsigned int i;
	int err;

	err = vectors_start(dev, kind);
	for (i = 0; !err && i < dev->eqs.count; i++)
		err = eq_start(dev, i);
	if (!err)
		err = events_start(dev);
	return err;
}

int mlx4_interrupts_start(struct mlx4_dev *dev)
{
	unsigned int kind;
	int err = -ENODEV;

	for (kind = 0; kind < ARRAY_SIZE(vector_kinds); kind++) {
		err = try_kind(dev, kind);
		if (!err) {
			dev_info(dev->dev, "%u event queues, %s\n", dev->eqs.count,
				 vector_kinds[kind].name);
			return 0;
		}
		/* Only an interrupt that is not granted or does not come is a reason to go on. */
		if (dev->eqs.vectors && err != -EBUSY)
			return err;
		dev_info(dev->dev, "no interrupts by %s: %d\n", vector_kinds[kind].name, err);
		mlx4_interrupts_stop(dev);
		if (!all_taken_back(dev))
			return -EIO;
		mlx4_interrupts_free(dev);
	}
	return err;
}
