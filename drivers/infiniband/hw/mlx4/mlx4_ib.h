/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mlx4_ib: the verbs of a ConnectX-3.
 *
 * struct mlx4_ib_dev is one incarnation of the ib_device.  It takes numbers for its objects, one
 * UAR page and a pool of doorbell records from the HCA in create and gives them back in stop; all
 * else belongs to the object it was made for.
 *
 * Locks, each taken alone or in this order, with interrupts off:
 *   the lock of a table (xarray)	which object has a number
 *   the lock of a CQ			polling, and what belongs to the QPs that complete into it
 *   the lock of a work queue		posting
 * A CQ, QP or SRQ that an event names is looked up in its table and pinned by
 * ib_object_begin_callback() under the lock of the table; nobody is called back under any of these
 * locks.  An object ends in the same order: out of the table, then once through the locks of the
 * CQs it completes into; after that no poll knows it.  For an XRC target these are the CQs of all
 * SRQs of its domain.
 *
 * An owner may still be inside a post, a poll or an arming when it destroys the object: ib_core
 * keeps the object for that long, but not what release frees.  So destroy and detach begin by
 * closing the object under the lock that such a call takes; the call is over by then or finds it
 * closed.  Mutexes come before all these locks: that of an XRC domain before those of CQs.
 */
#ifndef MLX4_IB_H
#define MLX4_IB_H

#include <linux/atomic.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include <ib/device.h>
#include <ib/hca.h>
#include <ib/verbs.h>

#include "cq_layout.h"
#include "mlx4.h"

struct dma_pool;
struct mlx4_ib_srq;

/**
 * struct mlx4_ib_dev - an incarnation
 * @ib: ib_core's part
 * @core: the HCA
 * @sink: where its events come in
 * @uar_index: the UAR page of all kernel objects
 * @uar: where the host sees it
 * @records: pool of doorbell records
 * @kept: memory of objects that could not be made, but that the HCA may have heard of
 * @kept_lock: protects it
 * @cqs: CQs by number; the number is taken from create to release, the pointer stands there from
 *	create to detach
 * @vector_cqs: how many CQs each event queue for completions has been given
 * @qps: QPs the same, by number modulo the number of QPs
 * @srqs: SRQs the same
 * @next_cqn: where to look for the next free number
 * @next_qpn: the same
 * @next_srqn: the same
 * @pdns: numbers of PDs, each with the count of those who name it
 * @next_pdn: where to look for the next free number
 * @xrcdns: numbers of XRC domains
 * @mpts: entries of the MPT table, each with the number of its PD
 * @next_mpt: where to look for the next free entry
 * @node_info: NodeInfo of the HCA, as on the wire
 * @port_lock: one change of a port's capabilities at a time
 * @sl_to_vl: SLtoVLMappingTable of each port: 4 bits for each SL, SL 0 highest
 * @mcg_lock: one change of the multicast table at a time
 * @groups: multicast groups, &mlx4_ib_mcg.node; under @mcg_lock
 * @mcgs: overflow entries of the multicast table that are used
 */
struct mlx4_ib_dev {
	struct ib_device ib;
	struct mlx4_dev *core;
	struct mlx4_sink sink;
	u32 uar_index;
	void __iomem *uar;
	struct dma_pool *records;
	struct list_head kept;
	spinlock_t kept_lock; /* kept */

	struct xarray cqs;
	atomic_t vector_cqs[MLX4_EQ_MAX];
	struct xarray qps;
	struct xarray srqs;
	u32 next_cqn;
	u32 next_qpn;
	u32 next_srqn;
	struct xarray pdns;
	u32 next_pdn;
	struct ida xrcdns;
	struct xarray mpts;
	u32 next_mpt;
	u8 node_info[64];
	struct mutex port_lock; /* the capabilities of ports, across commands */
	atomic64_t sl_to_vl[MLX4_MAX_PORTS];
	struct mutex mcg_lock; /* the multicast table, across commands */
	struct list_head groups;
	struct ida mcgs;
};

static inline struct mlx4_ib_dev *mlx4_ib_dev(const struct ib_device *device)
{
	return container_of(device, struct mlx4_ib_dev, ib);
}

/** mlx4_ib_dev_of() - the incarnation an object belongs to */
static inline struct mlx4_ib_dev *mlx4_ib_dev_of(const struct ib_object *object)
{
	return mlx4_ib_dev(ib_object_device(object));
}

/*
 * ---- memory that the HCA reads and writes ----------------------------------------------------
 */

/**
 * struct mlx4_ib_piece - a piece of a ring
 * @cpu: where the host sees it
 * @dma: where the HCA sees it
 */
struct mlx4_ib_piece {
	void *cpu;
	dma_addr_t dma;
};

/**
 * struct mlx4_ib_buf - the ring of a queue: coherent memory and its page table
 * @pieces: pieces of equal size; NULL: none
 * @count: how many
 * @shift: log2 of the bytes of a piece
 * @mtt: first MTT entry; one for each page of 4 KiB
 * @pages: how many
 */
struct mlx4_ib_buf {
	struct mlx4_ib_piece *pieces;
	unsigned int count;
	unsigned int shift;
	u32 mtt;
	u32 pages;
};

/**
 * mlx4_ib_buf_alloc() - memory for a ring, zeroed, and its MTT entries
 * @dev: the device
 * @buf: filled in; empty after an error
 * @size: bytes; rounded up to whole pages
 *
 * One piece if there is one, else smaller ones, none smaller than a page of the host: an entry
 * whose size is a power of two never lies in two pieces.
 *
 * Context: inside the gate; may sleep, may send commands.
 * Return: 0 or a negative errno.
 */
int mlx4_ib_buf_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf, size_t size);

/**
 * mlx4_ib_buf_free() - give it back
 * @dev: the device
 * @buf: the HCA does not know it any more; may be empty
 *
 * Context: may sleep.
 */
void mlx4_ib_buf_free(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf);

/**
 * mlx4_ib_buf_at() - where the host sees a byte of a ring
 * @buf: the ring
 * @offset: below the size asked for
 */
static inline void *mlx4_ib_buf_at(const struct mlx4_ib_buf *buf, size_t offset)
{
	return buf->pieces[offset >> buf->shift].cpu + (offset & (BIT(buf->shift) - 1));
}

/**
 * struct mlx4_ib_record - a doorbell record: 8 bytes that the HCA reads when it wants to know
 * @at: where the host sees it; NULL: none
 * @dma: where the HCA sees it; a multiple of 8
 */
struct mlx4_ib_record {
	__be32 *at;
	dma_addr_t dma;
};

/**
 * mlx4_ib_record_alloc() - a doorbell record, zeroed
 * @dev: the device
 * @record: filled in
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int mlx4_ib_record_alloc(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record);

/** mlx4_ib_record_free() - give it back; one that is empty too */
void mlx4_ib_record_free(struct mlx4_ib_dev *dev, struct mlx4_ib_record *record);

/**
 * mlx4_ib_buf_end() - the end of a ring that was to belong to an object which could not be made
 * @dev: the device
 * @buf: the ring; may be empty
 * @record: the doorbell record; may be empty, or NULL
 * @unanswered: a command that names them got no answer: they are kept until the HCA is quiet
 */
void mlx4_ib_buf_end(struct mlx4_ib_dev *dev, struct mlx4_ib_buf *buf,
		     struct mlx4_ib_record *record, bool unanswered);

int mlx4_ib_memory_init(struct mlx4_ib_dev *dev);
void mlx4_ib_memory_destroy(struct mlx4_ib_dev *dev, bool quiet);

/*
 * ---- numbers ---------------------------------------------------------------------------------
 */

/**
 * mlx4_ib_number_alloc() - take a number of a table, and back the entries it stands for
 * @dev: the device
 * @table: &mlx4_ib_dev.cqs, .qps, .srqs or .mpts
 * @next: the cursor that belongs to it
 * @icm: tables of the ICM, ended by MLX4_TABLES
 * @first: lowest number
 * @number: filled in
 *
 * Numbers go round, so that an event of an object that has gone meets no other of its number soon.
 *
 * Context: inside the gate; may sleep, may send commands.
 * Return: 0; -ENOSPC: all are taken; or a negative errno.
 */
int mlx4_ib_number_alloc(struct mlx4_ib_dev *dev, struct xarray *table, u32 *next,
			 const enum mlx4_table_id *icm, u32 first, u32 *number);

/**
 * mlx4_ib_number_free() - its mirror
 * @dev: the device
 * @table: as above
 * @icm: as above
 * @number: the HCA does not use it any more
 *
 * Context: may sleep, may send commands.
 */
void mlx4_ib_number_free(struct mlx4_ib_dev *dev, struct xarray *table,
			 const enum mlx4_table_id *icm, u32 number);

/** mlx4_ib_number_publish() - let lookups find @object under a number that is taken */
void mlx4_ib_number_publish(struct xarray *table, u32 number, void *object);

/** mlx4_ib_number_hide() - no lookup that begins from now on finds it; the number stays taken */
void mlx4_ib_number_hide(struct xarray *table, u32 number);

/*
 * ---- completion queues (ib_cq.c) -------------------------------------------------------------
 */

/**
 * struct mlx4_ib_cq - a completion queue
 * @ib: ib_core's part
 * @lock: protects all below, and the consuming ends of the work queues that complete here
 * @cqn: its number
 * @vector: which of the event queues for completions it reports to, from 0
 * @buf: the ring
 * @log_size: log2 of its entries
 * @record: word 0: what has been consumed; word 1: how it was armed
 * @index: entries consumed
 * @arm_sn: counts the events it had; the HCA wants it repeated in arming
 * @flushed: posted requests complete by software, after what the ring holds
 * @ended: the ring has been read to its end after @flushed: it is not looked at any more
 * @closed: its owner destroys it: it is neither polled nor armed any more
 * @resizing: one change of the ring at a time; who takes completions out of the ring holds it too,
 *	since between the mark and the switch some of them are in the next ring
 * @send_qps: &mlx4_ib_qp.send_node of those whose sends complete here
 * @recv_qps: &mlx4_ib_qp.recv_node of those whose receives do, SRQs not counted
 * @last: of one of these the last completion was; NULL: not known
 */
struct mlx4_ib_cq {
	struct ib_cq ib;
	spinlock_t lock; /* see above */
	u32 cqn;
	unsigned int vector;
	struct mlx4_ib_buf buf;
	unsigned int log_size;
	struct mlx4_ib_record record;
	u32 index;
	u32 arm_sn;
	bool flushed;
	bool ended;
	bool closed;
	struct mutex resizing; /* one change of the ring at a time */
	struct list_head send_qps;
	struct list_head recv_qps;
	struct mlx4_ib_qp *last;
};

static inline struct mlx4_ib_cq *mlx4_ib_cq(struct ib_cq *cq)
{
	return container_of(cq, struct mlx4_ib_cq, ib);
}

/**
 * mlx4_ib_cq_clean() - take the completions of a QP out of a CQ
 * @cq: the CQ; its lock and its mutex are held
 * @qpn: number of the QP; the QP has been reset, or its HCA has gone
 * @srq: receives of the QP are given back to this SRQ; NULL: those of an XRC target to theirs
 *
 * The order of the others is kept.
 */
void mlx4_ib_cq_clean(struct mlx4_ib_cq *cq, u32 qpn, struct mlx4_ib_srq *srq);

/** mlx4_ib_cq_clean_srq() - the same for an XRC SRQ whose CQ it is; nothing is given back */
void mlx4_ib_cq_clean_srq(struct mlx4_ib_cq *cq, u32 srqn);

/**
 * mlx4_ib_cq_make() - a CQ of the hardware, which no lookup finds yet
 * @dev: the device
 * @cq: zeroed
 * @cqe: entries, at least; &ib_cq.cqe says how many there are
 * @vector: completion vector
 *
 * Context: inside the gate; may sleep.
 * Return: 0 or a negative errno.
 */
int mlx4_ib_cq_make(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq, u32 cqe, u32 vector);

/** mlx4_ib_cq_take() - take it from the hardware; 0: the hardware has forgotten it */
int mlx4_ib_cq_take(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq);

/** mlx4_ib_cq_unmake() - free what the hardware knew of it */
void mlx4_ib_cq_unmake(struct mlx4_ib_dev *dev, struct mlx4_ib_cq *cq);

int mlx4_ib_create_cq(struct ib_cq *cq, const struct ib_cq_init *init, struct ib_udata *udata);
int mlx4_ib_destroy_cq(struct ib_cq *cq);
void mlx4_ib_detach_cq(struct ib_cq *cq);
void mlx4_ib_release_cq(struct ib_cq *cq);
int mlx4_ib_poll_cq(struct ib_cq *cq, int count, struct ib_wc *wc);
int mlx4_ib_arm_cq(struct ib_cq *cq, u32 flags);
int mlx4_ib_resize_cq(struct ib_cq *cq, u32 cqe, struct ib_udata *udata);
int mlx4_ib_moderate_cq(struct ib_cq *cq, u16 count, u16 period);

/** mlx4_ib_cq_flush() - from now on requests complete by software; any context */
void mlx4_ib_cq_flush(struct mlx4_ib_cq *cq);

/*
 * ---- small objects (ib_pd.c) -----------------------------------------------------------------
 */

/**
 * struct mlx4_ib_pd - a protection domain
 * @ib: ib_core's part
 * @pdn: its number
 */
struct mlx4_ib_pd {
	struct ib_pd ib;
	u32 pdn;
};

/**
 * struct mlx4_ib_xrcd - an XRC domain
 * @ib: ib_core's part
 * @xrcdn: its number
 * @hidden: a CQ that its targets name, though nothing ever completes there
 * @cqn: its number
 * @lock: protects @srqs
 * @srqs: &mlx4_ib_srq.xrc_node: into their CQs go the receives of the domain's targets
 */
struct mlx4_ib_xrcd {
	struct ib_xrcd ib;
	u32 xrcdn;
	struct mlx4_ib_cq hidden;
	u32 cqn;
	struct mutex lock; /* srqs */
	struct list_head srqs;
};

/**
 * struct mlx4_ib_ah - an address handle
 * @ib: ib_core's part
 * @av: the address vector as a datagram segment holds it, in its first bytes
 */
struct mlx4_ib_ah {
	struct ib_ah ib;
	u8 av[MLX4_AV_SIZE];
};

static inline struct mlx4_ib_pd *mlx4_ib_pd(struct ib_pd *pd)
{
	return container_of(pd, struct mlx4_ib_pd, ib);
}

static inline struct mlx4_ib_xrcd *mlx4_ib_xrcd(struct ib_xrcd *xrcd)
{
	return container_of(xrcd, struct mlx4_ib_xrcd, ib);
}

static inline struct mlx4_ib_ah *mlx4_ib_ah(struct ib_ah *ah)
{
	return container_of(ah, struct mlx4_ib_ah, ib);
}

/**
 * mlx4_ib_pdn_get() - something in the hardware names a PD
 * @dev: the device
 * @pdn: the PD's number; taken
 *
 * Nobody else is given that number before mlx4_ib_pdn_put(), be the PD there or not.
 *
 * Context: interrupts on.
 */
void mlx4_ib_pdn_get(struct mlx4_ib_dev *dev, u32 pdn);

/** mlx4_ib_pdn_put() - its mirror: the hardware has forgotten it */
void mlx4_ib_pdn_put(struct mlx4_ib_dev *dev, u32 pdn);

int mlx4_ib_create_pd(struct ib_pd *pd, struct ib_udata *udata);
void mlx4_ib_release_pd(struct ib_pd *pd);
int mlx4_ib_create_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);
int mlx4_ib_destroy_xrcd(struct ib_xrcd *xrcd);
void mlx4_ib_release_xrcd(struct ib_xrcd *xrcd);
int mlx4_ib_create_ah(struct ib_ah *ah);

/**
 * mlx4_ib_rate() - the hardware's code of a static rate
 * @dev: the device
 * @port: the port of the path
 * @rate: code of the specification, valid; 0: as fast as the port
 *
 * Context: any.
 * Return: 0 if the port is not faster than that now; else, of the rates that the HCA can keep, the
 * fastest that is not faster, or the slowest there is.
 */
u8 mlx4_ib_rate(struct mlx4_ib_dev *dev, u8 port, u8 rate);

/*
 * ---- ports (ib_port.c) -----------------------------------------------------------------------
 */

int mlx4_ib_query_device(struct ib_device *device, struct ib_device_attr *attr);
int mlx4_ib_query_port(struct ib_device *device, u8 port, struct ib_port_attr *attr);
int mlx4_ib_query_gids(struct ib_device *device, u8 port, union ib_gid *gids, unsigned int len);
int mlx4_ib_query_pkeys(struct ib_device *device, u8 port, u16 *pkeys, unsigned int len);
int mlx4_ib_modify_port(struct ib_device *device, u8 port, u32 mask,
			const struct ib_port_modify *modify);
int mlx4_ib_modify_node(struct ib_device *device, u32 mask, const struct ib_node_modify *modify);
enum ib_mad_result mlx4_ib_process_mad(struct ib_device *device,
				       const struct ib_mad_request *request, void *answer);
const struct ib_stats_list *mlx4_ib_stats(struct ib_device *device, u8 port);
int mlx4_ib_read_stats(struct ib_device *device, u8 port, u64 *values);

/** mlx4_ib_vl() - the virtual lane of a service level on a port; any context */
static inline u8 mlx4_ib_vl(const struct mlx4_ib_dev *dev, u8 port, u8 sl)
{
	return atomic64_read(&dev->sl_to_vl[port - 1]) >> (60 - 4 * (sl & 0xf)) & 0xf;
}

void mlx4_ib_set_vls(struct mlx4_ib_dev *dev, u8 port, u64 table);
int mlx4_ib_read_vls(struct mlx4_ib_dev *dev, u8 port);

/**
 * mlx4_ib_port_open() - bring up the link of a port: its QP0 is ready to receive
 * @dev: the device
 * @port: from 1
 *
 * Context: inside the gate; may sleep; sends INIT_PORT.
 * Return: 0 or what mlx4_cmd() says.
 */
int mlx4_ib_port_open(struct mlx4_ib_dev *dev, u8 port);

/** mlx4_ib_port_close() - take it down; its QP0 left RTR or RTS, or is about to */
int mlx4_ib_port_close(struct mlx4_ib_dev *dev, u8 port);

/*
 * ---- events (ib_event.c) ---------------------------------------------------------------------
 */

void mlx4_ib_completed(struct mlx4_sink *sink, u32 cqn);
void mlx4_ib_event(struct mlx4_sink *sink, const void *eqe);

#endif /* MLX4_IB_H */
