/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queue pairs, shared receive queues, and the work queues both are made of.
 *
 * A work queue is a ring of entries of one size.  Its head counts what was posted, its tail what
 * has completed; both run freely and are the hardware's own counters as far as 16 bits go.  The
 * head belongs to who posts, under the lock of the queue; the tail to who polls, under the lock of
 * the CQ.  Neither needs the other's lock.
 */
#ifndef MLX4_IB_QP_OBJECTS_H
#define MLX4_IB_QP_OBJECTS_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>

#include "wq_layout.h"
#include "mlx4_ib.h"

#define MLX4_WQE_MAX		1024	/* bytes of the largest entry */
#define MLX4_FETCH_AHEAD	2048	/* bytes of a send queue */
/* Entries of a send queue that stay unposted, at most. */
#define MLX4_IB_SQ_SPARE	(MLX4_FETCH_AHEAD / MLX4_WQE_BLOCK + 1)

/**
 * struct mlx4_ib_wq - a send or receive queue
 * @lock: one poster at a time; protects @head, @flushed and @closed
 * @buf: the memory its entries lie in
 * @offset: where they begin there
 * @log_stride: log2 of the bytes of an entry
 * @count: entries, a power of two; 0: there is no such queue
 * @room: requests that may be outstanding
 * @max_sge: pieces of a request
 * @ids: what the owner calls each request, by entry
 * @head: requests posted
 * @tail: requests completed
 * @flushed: nothing is posted any more: the HCA has gone
 * @closed: nothing is posted any more: its owner destroys it
 */
struct mlx4_ib_wq {
	spinlock_t lock; /* see above */
	struct mlx4_ib_buf *buf;
	size_t offset;
	unsigned int log_stride;
	u32 count;
	u32 room;
	u32 max_sge;
	u64 *ids;
	u32 head;
	u32 tail;
	bool flushed;
	bool closed;
};

/**
 * struct mlx4_ib_qp - a queue pair
 * @ib: ib_core's part
 * @number: what the hardware calls it: special QPs have a number of their own, XRC targets a bit
 * @sq: send queue
 * @rq: receive queue
 * @buf: both rings
 * @record: doorbell record of the receive queue
 * @send_node: in &mlx4_ib_cq.send_qps; under that CQ's lock
 * @recv_node: in &mlx4_ib_cq.recv_qps; under that CQ's lock
 * @hardware: the HCA may know it: it was moved out of RESET; under the QP's mutex
 * @open: QP0: it holds the link of its port up; the same
 * @access: IB_ACCESS_* last set; the same
 * @responders: &ib_qp_attr.max_dest_rd_atomic last set; the same
 * @groups: multicast groups whose entries name it; the same
 * @qkey: last set, for QP1's own headers
 * @state: last set; read by who posts
 * @signal_all: every send is completed
 * @create_flags: IB_QP_CREATE_*
 * @max_inline: bytes inside a request
 * @psn: of the next packet of QP0 or QP1; under the lock of @sq
 * @wqe: where a send is put together before it goes to the ring; the same
 */
struct mlx4_ib_qp {
	struct ib_qp ib;
	u32 number;
	struct mlx4_ib_wq sq;
	struct mlx4_ib_wq rq;
	struct mlx4_ib_buf buf;
	struct mlx4_ib_record record;
	struct list_head send_node;
	struct list_head recv_node;
	bool hardware;
	bool open;
	u32 access;
	u8 responders;
	u32 groups;
	u32 qkey;
	enum ib_qp_state state;
	bool signal_all;
	u32 create_flags;
	u32 max_inline;
	u32 psn;
	u8 wqe[MLX4_WQE_MAX] __aligned(64);
};

/**
 * struct mlx4_ib_srq - a shared receive queue
 * @ib: ib_core's part
 * @wq: its ring; @wq.lock protects the free list too
 * @buf: the ring's memory
 * @record: its doorbell record
 * @free: first free entry
 * @last: last free entry
 * @xrc_node: in &mlx4_ib_xrcd.srqs
 */
struct mlx4_ib_srq {
	struct ib_srq ib;
	struct mlx4_ib_wq wq;
	struct mlx4_ib_buf buf;
	struct mlx4_ib_record record;
	u16 free;
	u16 last;
	struct list_head xrc_node;
};

static inline struct mlx4_ib_qp *mlx4_ib_qp(struct ib_qp *qp)
{
	return container_of(qp, struct mlx4_ib_qp, ib);
}

static inline struct mlx4_ib_srq *mlx4_ib_srq(struct ib_srq *srq)
{
	return container_of(srq, struct mlx4_ib_srq, ib);
}

/** mlx4_ib_wq_at() - where an entry lies; @index may run freely */
static inline void *mlx4_ib_wq_at(const struct mlx4_ib_wq *wq, u32 index)
{
	return mlx4_ib_buf_at(wq->buf, wq->offset +
			      ((size_t)(index & (wq->count - 1)) << wq->log_stride));
}

/** mlx4_ib_is_special() - is it QP0 or QP1? */
static inline bool mlx4_ib_is_special(const struct mlx4_ib_qp *qp)
{
	return qp->ib.type == IB_QPT_SMI || qp->ib.type == IB_QPT_GSI;
}

/*
 * ---- work queues (ib_wq.c) ----------------------------------------------------------------------
 */

/**
 * mlx4_ib_wq_init() - a ring that was laid out gets its lock and its list of names
 * @wq: &mlx4_ib_wq.count, offset, log_stride and room are set
 * @buf: the memory
 *
 * Return: 0 or -ENOMEM.
 */
int mlx4_ib_wq_init(struct mlx4_ib_wq *wq, struct mlx4_ib_buf *buf);

/** mlx4_ib_wq_destroy() - its mirror; also of one that was never laid out */
void mlx4_ib_wq_destroy(struct mlx4_ib_wq *wq);

/** mlx4_ib_wq_close() - who posts has finished, or finds that nothing can be posted; any context */
void mlx4_ib_wq_close(struct mlx4_ib_wq *wq);

/** mlx4_ib_wq_refuses() - 0, or why nothing can be posted; under the lock of the queue */
static inline int mlx4_ib_wq_refuses(const struct mlx4_ib_wq *wq)
{
	if (wq->closed)
		return -ENODEV;
	return wq->flushed ? -EIO : 0;
}

/** mlx4_ib_wq_full() - is there no room for one more?  Under the lock of the queue */
static inline bool mlx4_ib_wq_full(const struct mlx4_ib_wq *wq)
{
	/* Pairs with the release in mlx4_ib_wq_retire(): the name was read before it changes. */
	return wq->head - smp_load_acquire(&wq->tail) >= wq->room;
}

/**
 * mlx4_ib_wq_retire() - the oldest request has completed
 * @wq: the queue; the CQ's lock is held
 *
 * Return: what its owner calls it.
 */
static inline u64 mlx4_ib_wq_retire(struct mlx4_ib_wq *wq)
{
	u64 id = wq->ids[wq->tail & (wq->count - 1)];

	/* Pairs with the acquire in mlx4_ib_wq_full(). */
	smp_store_release(&wq->tail, wq->tail + 1);
	return id;
}

/**
 * mlx4_ib_wq_skip() - a completion speaks for all requests up to its own
 * @wq: a send queue; the CQ's lock is held
 * @counter: what the completion names, 16 bits
 */
static inline void mlx4_ib_wq_skip(struct mlx4_ib_wq *wq, u16 counter)
{
	/* Pairs with the acquire in mlx4_ib_wq_full(). */
	smp_store_release(&wq->tail, wq->tail + (u16)(counter - wq->tail));
}

/** mlx4_ib_sq_stamp() - make all entries of an empty send queue look invalid */
void mlx4_ib_sq_stamp(struct mlx4_ib_wq *sq);

/** mlx4_ib_sq_spare() - entries that stay unposted, so that what is fetched ahead is invalid */
static inline u32 mlx4_ib_sq_spare(unsigned int log_stride)
{
	return (MLX4_FETCH_AHEAD >> log_stride) + 1;
}

/**
 * mlx4_ib_sq_commit() - hand a send over to the hardware; the doorbell is the caller's
 * @sq: the queue; its lock is held; its head is moved on
 * @wqe: the request, with all but the owner bit
 * @bytes: its length, a multiple of a segment
 */
void mlx4_ib_sq_commit(struct mlx4_ib_wq *sq, const u8 *wqe, unsigned int bytes);

/**
 * mlx4_ib_put_sges() - describe the memory of a receive
 * @at: the first segment
 * @wq: the queue
 * @wr: the request, no longer than the queue allows
 */
void mlx4_ib_put_sges(u8 *at, const struct mlx4_ib_wq *wq, const struct ib_recv_wr *wr);

/*
 * ---- what a send request is made of (ib_wqe.c, ib_mlx.c) -------------------------------------
 */

/**
 * mlx4_ib_inline_end() - where inline data ends
 * @at: offset of the first segment in the request
 * @bytes: of data; 0: there is no segment
 *
 * Data is cut at the borders of blocks, each piece with a header of its own.
 *
 * Return: offset behind the last segment.
 */
unsigned int mlx4_ib_inline_end(unsigned int at, unsigned int bytes);

/**
 * mlx4_ib_build() - put a send together in &mlx4_ib_qp.wqe
 * @qp: the QP; the lock of its send queue is held
 * @wr: the request
 *
 * Return: its length, or -EINVAL: not for this kind of QP, or too long.
 */
int mlx4_ib_build(struct mlx4_ib_qp *qp, const struct ib_send_wr *wr);

/**
 * mlx4_ib_build_special() - the same for QP0 and QP1, whose packets software heads itself
 * @qp: a special QP
 * @wr: the request
 *
 * Return: see there.
 */
int mlx4_ib_build_special(struct mlx4_ib_qp *qp, const struct ib_send_wr *wr);

/**
 * struct mlx4_ib_cursor - where a request is being written
 * @wqe: its beginning
 * @at: the next byte
 * @end: as long as it may get
 * @overrun: it would have got longer; nothing more is written
 */
struct mlx4_ib_cursor {
	u8 *wqe;
	unsigned int at;
	unsigned int end;
	bool overrun;
};

/** mlx4_ib_segment() - @bytes more, zeroed; NULL on an overrun */
static inline void *mlx4_ib_segment(struct mlx4_ib_cursor *c, unsigned int bytes)
{
	u8 *segment = c->wqe + c->at;

	if (unlikely(c->overrun || bytes > c->end - c->at)) {
		c->overrun = true;
		return NULL;
	}
	memset(segment, 0, bytes);
	c->at += bytes;
	return segment;
}

/** mlx4_ib_put_inline() - copy data into the request; may be called once in a request */
void mlx4_ib_put_inline(struct mlx4_ib_cursor *c, const struct ib_sge *sge, int count);

/** mlx4_ib_put_data() - a segment for each piece of memory that is not empty */
void mlx4_ib_put_data(struct mlx4_ib_cursor *c, const struct ib_sge *sge, int count);

#define MLX4_UD_HEADERS	82	/* LRH, GRH, BTH, DETH, immediate data and two bytes to spare */

/*
 * ---- for polling and flushing (ib_flush.c); the CQ's lock is held unless said otherwise ------
 */

/**
 * mlx4_ib_qp_sent() - a send has completed
 * @qp: the QP
 * @counter: as the completion has it; it speaks for all sends before it too
 *
 * Return: what the owner calls it.
 */
u64 mlx4_ib_qp_sent(struct mlx4_ib_qp *qp, u16 counter);

/** mlx4_ib_qp_received() - a receive of the QP's own queue has completed; gives its name */
u64 mlx4_ib_qp_received(struct mlx4_ib_qp *qp);

/** mlx4_ib_qp_srq() - where a QP takes its receives from; NULL: its own queue, or an XRC target */
static inline struct mlx4_ib_srq *mlx4_ib_qp_srq(const struct mlx4_ib_qp *qp)
{
	return qp->ib.srq ? mlx4_ib_srq(qp->ib.srq) : NULL;
}

/**
 * mlx4_ib_qp_flush() - nothing can be posted to a QP any more
 * @qp: the QP
 *
 * Context: any, with the lock of the table of QPs.
 */
void mlx4_ib_qp_flush(struct mlx4_ib_qp *qp);

/**
 * mlx4_ib_qp_take_flushed() - complete what is left in a queue by software
 * @qp: the QP, after mlx4_ib_qp_flush()
 * @send: which queue
 * @count: room in @wc
 * @wc: filled in, oldest first
 *
 * Return: how many.
 */
int mlx4_ib_qp_take_flushed(struct mlx4_ib_qp *qp, bool send, int count, struct ib_wc *wc);

/** mlx4_ib_srq_find() - the SRQ of a number, good as long as the lock of its CQ is held; or NULL */
struct mlx4_ib_srq *mlx4_ib_srq_find(struct mlx4_ib_dev *dev, u32 srqn);

/**
 * mlx4_ib_srq_received() - a receive of an SRQ has completed
 * @srq: the SRQ
 * @index: its entry; free again
 *
 * Context: any.
 * Return: what the owner calls it.
 */
u64 mlx4_ib_srq_received(struct mlx4_ib_srq *srq, u16 index);

/** mlx4_ib_srq_give_back() - the same for a completion that nobody will see */
void mlx4_ib_srq_give_back(struct mlx4_ib_srq *srq, u16 index);

/** mlx4_ib_srq_flush() - nothing can be posted to an SRQ any more; as mlx4_ib_qp_flush() */
void mlx4_ib_srq_flush(struct mlx4_ib_srq *srq);

/** mlx4_ib_closed() - execute a closing command; 0 only if the firmware has really executed it */
int mlx4_ib_closed(struct mlx4_ib_dev *dev, struct mlx4_call *call);

/*
 * ---- verbs (ib_qp.c, ib_qp_modify.c, ib_post.c, ib_srq.c, ib_mr.c, ib_mw.c, ib_mcast.c) ------
 */

int mlx4_ib_create_qp(struct ib_qp *qp, const struct ib_qp_init *init, struct ib_udata *udata);
int mlx4_ib_destroy_qp(struct ib_qp *qp);
void mlx4_ib_detach_qp(struct ib_qp *qp);
void mlx4_ib_release_qp(struct ib_qp *qp);
int mlx4_ib_modify_qp(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
		      enum ib_qp_state from, enum ib_qp_state to, struct ib_udata *udata);
int mlx4_ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, u32 mask);
int mlx4_ib_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		      const struct ib_send_wr **bad);
int mlx4_ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);
int mlx4_ib_attach_mcast(struct ib_qp *qp, const union ib_gid *gid, u16 lid);
int mlx4_ib_detach_mcast(struct ib_qp *qp, const union ib_gid *gid, u16 lid);

int mlx4_ib_create_srq(struct ib_srq *srq, const struct ib_srq_init *init,
		       struct ib_udata *udata);
int mlx4_ib_destroy_srq(struct ib_srq *srq);
void mlx4_ib_detach_srq(struct ib_srq *srq);
void mlx4_ib_release_srq(struct ib_srq *srq);
int mlx4_ib_modify_srq(struct ib_srq *srq, const struct ib_srq_attr *attr, u32 mask,
		       struct ib_udata *udata);
int mlx4_ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr);
int mlx4_ib_post_srq(struct ib_srq *srq, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad);

int mlx4_ib_create_dma_mr(struct ib_mr *mr, u32 access);
int mlx4_ib_create_fast_mr(struct ib_mr *mr);
int mlx4_ib_destroy_mr(struct ib_mr *mr);
void mlx4_ib_release_mr(struct ib_mr *mr);
int mlx4_ib_create_mw(struct ib_mw *mw, struct ib_udata *udata);
int mlx4_ib_destroy_mw(struct ib_mw *mw);
void mlx4_ib_release_mw(struct ib_mw *mw);

/** mlx4_ib_qp_reset() - an empty QP as it was made: rings, counters, completions; may sleep */
void mlx4_ib_qp_reset(struct mlx4_ib_qp *qp);

/** mlx4_ib_qp_state() - who posts from now on sees this state; who has seen another has finished */
void mlx4_ib_qp_state(struct mlx4_ib_qp *qp, enum ib_qp_state state);

/**
 * struct mlx4_ib_mr - a memory region
 * @ib: ib_core's part
 * @index: its entry in the MPT table
 * @mtt: fast registration: its first MTT entry
 * @list: fast registration: where the HCA reads the pages from
 * @list_dma: its bus address
 * @list_bytes: its size
 */
struct mlx4_ib_mr {
	struct ib_mr ib;
	u32 index;
	u32 mtt;
	__be64 *list;
	dma_addr_t list_dma;
	size_t list_bytes;
};

/**
 * struct mlx4_ib_mw - a memory window
 * @ib: ib_core's part
 * @index: its entry in the MPT table
 */
struct mlx4_ib_mw {
	struct ib_mw ib;
	u32 index;
};

static inline struct mlx4_ib_mr *mlx4_ib_mr(struct ib_mr *mr)
{
	return container_of(mr, struct mlx4_ib_mr, ib);
}

static inline struct mlx4_ib_mw *mlx4_ib_mw(struct ib_mw *mw)
{
	return container_of(mw, struct mlx4_ib_mw, ib);
}

/**
 * mlx4_ib_mpt_take() - an entry of the memory protection table
 * @dev: the device
 * @pd: whose it is; the PD's number stays taken as long as the entry
 * @index: its number; filled in
 * @key: the key that opens it; filled in
 *
 * Context: inside the gate; may sleep, may send commands.
 * Return: 0 or a negative errno.
 */
int mlx4_ib_mpt_take(struct mlx4_ib_dev *dev, struct ib_pd *pd, u32 *index, u32 *key);

/** mlx4_ib_mpt_give_back() - its mirror */
void mlx4_ib_mpt_give_back(struct mlx4_ib_dev *dev, u32 index);

/** mlx4_ib_mpt_fill() - what all entries have in common; @status is MLX4_MPT_* */
void mlx4_ib_mpt_fill(void *entry, u32 key, u32 pdn, u32 status);

/** mlx4_ib_mpt_to_hardware() - make an entry over to the HCA */
int mlx4_ib_mpt_to_hardware(struct mlx4_ib_dev *dev, u32 index, struct mlx4_mailbox *entry);

/** mlx4_ib_mpt_to_software() - take it back; -EBUSY: windows are bound to it */
int mlx4_ib_mpt_to_software(struct mlx4_ib_dev *dev, u32 index);

void mlx4_ib_mcast_init(struct mlx4_ib_dev *dev);
void mlx4_ib_mcast_exit(struct mlx4_ib_dev *dev);

/** mlx4_ib_access() - IB_ACCESS_* as the hardware's rights; the owner may always read */
u32 mlx4_ib_access(u32 access);

#endif /* MLX4_IB_QP_OBJECTS_H */
