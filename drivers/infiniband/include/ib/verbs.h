/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs: the objects, what is done with them, and what a provider does for each.
 *
 * Names and numbers of states, types, masks and flags are those of the InfiniBand specification and
 * of the kernel's user interface.  See <ib/object.h> for what all objects have in common: the
 * owner, the parents (of the same owner), the end.
 *
 * Every function here that takes an object returns -ENODEV when the object was reaped or its device
 * is stopped, and -EIO when the hardware is gone; those that create return such errors as
 * ERR_PTR(). Unless said otherwise they may sleep.
 *
 * Posting, polling and arming need no lock against destroying: a call that has begun before the
 * destroy returns is in time or gets -ENODEV, and touches neither memory nor hardware that was
 * given back.  It is the owner's part not to begin one later, and not to destroy what a request
 * names (an AH, an MR, a window) before the request is through.
 */
#ifndef IB_VERBS_H
#define IB_VERBS_H

#include <linux/atomic.h>
#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include <ib/device.h>
#include <ib/event.h>
#include <ib/object.h>
#include <ib/port.h>
#include <ib/wr.h>

struct scatterlist;

/**
 * struct ib_udata - the provider's part of a user's call, already copied into the kernel
 * @in: what the user sent
 * @inlen: its length in bytes
 * @out: room for the answer, copied to the user after the gate has been left
 * @outlen: its size in bytes
 */
struct ib_udata {
	const void *in;
	size_t inlen;
	void *out;
	size_t outlen;
};

/* Access to memory and by a QP. */
#define IB_ACCESS_LOCAL_WRITE BIT(0)
#define IB_ACCESS_REMOTE_WRITE BIT(1)
#define IB_ACCESS_REMOTE_READ BIT(2)
#define IB_ACCESS_REMOTE_ATOMIC BIT(3)
#define IB_ACCESS_MW_BIND BIT(4)

/**
 * struct ib_device_attr - what a device is and can do; host byte order unless said otherwise
 * @sys_image_guid: network byte order
 * @fw_ver: firmware version as the user interface packs it
 * @vendor_id: IEEE company identifier
 * @vendor_part_id: PCI device number
 * @hw_ver: hardware revision
 * @board_id: board identity (PSID) as text, may be empty
 * @local_dma_lkey: an L_Key that is good for all memory, if @has_local_dma_lkey
 * @has_local_dma_lkey: see there
 * @max_mr_size: bytes
 * @page_size_cap: page sizes, one bit each
 * @max_qp: number of QPs
 * @max_qp_wr: work requests in a queue
 * @device_cap_flags: as the user interface has them
 * @max_send_sge: pieces of a send
 * @max_recv_sge: pieces of a receive
 * @max_sge_rd: pieces of an RDMA read
 * @max_cq: number of CQs
 * @max_cqe: entries of a CQ
 * @max_mr: number of MRs
 * @max_pd: number of PDs
 * @max_qp_rd_atom: RDMA reads and atomics towards a QP
 * @max_res_rd_atom: the same towards the HCA
 * @max_qp_init_rd_atom: the same from a QP
 * @max_ah: number of AHs
 * @max_mcast_grp: multicast groups
 * @max_mcast_qp_attach: QPs in a group
 * @max_total_mcast_qp_attach: QPs in all groups together
 * @max_srq: number of SRQs
 * @max_srq_wr: work requests of an SRQ
 * @max_srq_sge: pieces of an SRQ's receive
 * @max_pkeys: P_Keys of a port
 * @max_fast_reg_page_list_len: pages of a fast-register MR
 * @local_ca_ack_delay: encoded
 */
struct ib_device_attr {
	__be64 sys_image_guid;
	u64 fw_ver;
	u32 vendor_id;
	u32 vendor_part_id;
	u32 hw_ver;
	char board_id[64];
	u32 local_dma_lkey;
	bool has_local_dma_lkey;
	u64 max_mr_size;
	u64 page_size_cap;
	u32 max_qp;
	u32 max_qp_wr;
	u64 device_cap_flags;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_sge_rd;
	u32 max_cq;
	u32 max_cqe;
	u32 max_mr;
	u32 max_pd;
	u32 max_qp_rd_atom;
	u32 max_res_rd_atom;
	u32 max_qp_init_rd_atom;
	u32 max_ah;
	u32 max_mcast_grp;
	u32 max_mcast_qp_attach;
	u32 max_total_mcast_qp_attach;
	u32 max_srq;
	u32 max_srq_wr;
	u32 max_srq_sge;
	u16 max_pkeys;
	u32 max_fast_reg_page_list_len;
	u8 local_ca_ack_delay;
};

/**
 * ib_device_attr() - what the device said when it was registered
 * @device: a device between ib_cache_start() and the end of its memory
 *
 * Context: any.
 * Return: constant for the life of the device.
 */
const struct ib_device_attr *ib_device_attr(const struct ib_device *device);

/*
 * ---- protection domains, XRC domains
 * --------------------------------------------------------------
 */

/**
 * struct ib_pd - a protection domain
 * @object: common part
 * @local_dma_lkey: an L_Key that is good for all memory the device can reach, for the kernel's own
 * @internal_mr: what it belongs to, where the device has no such key of its own
 */
struct ib_pd {
	struct ib_object object;
	u32 local_dma_lkey;
	struct ib_mr *internal_mr;
};

/**
 * ib_pd_create() - make a protection domain
 * @attachment: the owner
 * @udata: for a user's, else NULL; without it the PD has a local DMA key
 *
 * Return: the PD or an ERR_PTR().
 */
struct ib_pd *ib_pd_create(struct ib_attachment *attachment, struct ib_udata *udata);

/** ib_pd_destroy() - its mirror; a PD that is still used is said so in the log and reaped later */
void ib_pd_destroy(struct ib_pd *pd);

/**
 * struct ib_xrcd - an XRC domain
 * @object: common part
 */
struct ib_xrcd {
	struct ib_object object;
};

/** ib_xrcd_create() - make an XRC domain; see ib_pd_create() */
struct ib_xrcd *ib_xrcd_create(struct ib_attachment *attachment, struct ib_udata *udata);

/** ib_xrcd_destroy() - its mirror */
void ib_xrcd_destroy(struct ib_xrcd *xrcd);

/*
 * ---- completion queues
 * ----------------------------------------------------------------------------
 */

/**
 * enum ib_cq_context - who polls a CQ
 * @IB_CQ_OWNER: its owner, with ib_cq_poll(), told by &ib_cq_init.notify; never anybody else
 * @IB_CQ_DIRECT: its owner, with ib_cq_process()
 * @IB_CQ_SOFTIRQ: ib_core in softirq
 * @IB_CQ_WORKQUEUE: ib_core on a work item of the device
 */
enum ib_cq_context {
	IB_CQ_OWNER,
	IB_CQ_DIRECT,
	IB_CQ_SOFTIRQ,
	IB_CQ_WORKQUEUE,
};

/* For ib_cq_arm(). */
#define IB_CQ_NEXT_COMP BIT(0)
#define IB_CQ_SOLICITED BIT(1)

/**
 * struct ib_cq_init - how a CQ shall be
 * @cqe: entries, at least
 * @vector: completion vector
 * @flags: as the user interface has them
 * @context: who polls it
 * @notify: IB_CQ_OWNER: called once for each time it was armed; in interrupts
 * @event: called for errors of the CQ; any context; optional
 * @priv: kept in &ib_cq.priv
 */
struct ib_cq_init {
	u32 cqe;
	u32 vector;
	u32 flags;
	enum ib_cq_context context;
	void (*notify)(struct ib_cq *cq);
	void (*event)(struct ib_cq *cq, enum ib_event_type type);
	void *priv;
};

/**
 * struct ib_cq - a completion queue
 * @object: common part
 * @cqe: entries; filled in by the provider
 * @context: who polls it
 * @notify: see &struct ib_cq_init
 * @event: see &struct ib_cq_init
 * @priv: the owner's
 * @stopped: its polling context was ended; private to cq.c
 * @work: IB_CQ_WORKQUEUE; private to cq.c
 * @iop: IB_CQ_SOFTIRQ; private to cq.c
 */
struct ib_cq {
	struct ib_object object;
	u32 cqe;
	enum ib_cq_context context;
	void (*notify)(struct ib_cq *cq);
	void (*event)(struct ib_cq *cq, enum ib_event_type type);
	void *priv;
	bool stopped;
	struct work_struct work;
	struct irq_poll iop;
};

/**
 * ib_cq_create() - make a completion queue
 * @attachment: the owner
 * @init: how it shall be
 * @udata: for a user's, else NULL
 *
 * Return: the CQ or an ERR_PTR().
 */
struct ib_cq *ib_cq_create(struct ib_attachment *attachment, const struct ib_cq_init *init,
			   struct ib_udata *udata);

/** ib_cq_destroy() - its mirror; no callback of the CQ runs when it returns */
void ib_cq_destroy(struct ib_cq *cq);

/**
 * ib_cq_poll() - take completions
 * @cq: a CQ with context IB_CQ_OWNER
 * @count: room in @wc
 * @wc: filled in
 *
 * Works after GONE: there the completions are those of flushed requests.
 *
 * Context: any.
 * Return: how many, or a negative error.
 */
int ib_cq_poll(struct ib_cq *cq, int count, struct ib_wc *wc);

/**
 * ib_cq_process() - take completions and call their &ib_cqe.done
 * @cq: a CQ with context IB_CQ_DIRECT
 * @budget: at most so many; -1 for all there are
 *
 * A destroy waits for it, so that none of them runs afterwards.
 *
 * Context: that of the caller; one at a time.
 * Return: how many; 0 also when the CQ was destroyed or reaped.
 */
int ib_cq_process(struct ib_cq *cq, int budget);

/**
 * ib_cq_arm() - ask for a call of &ib_cq_init.notify
 * @cq: the CQ
 * @flags: IB_CQ_NEXT_COMP or IB_CQ_SOLICITED
 *
 * Context: any.
 * Return: 0; 1: there may already be something, poll again; -EIO: gone, notify will come when the
 * requests have been flushed.
 */
int ib_cq_arm(struct ib_cq *cq, u32 flags);

/** ib_cq_resize() - change the number of entries; -EOPNOTSUPP if the provider cannot */
int ib_cq_resize(struct ib_cq *cq, u32 cqe, struct ib_udata *udata);

/** ib_cq_moderate() - one event for @count completions or @period microseconds */
int ib_cq_moderate(struct ib_cq *cq, u16 count, u16 period);

/**
 * ib_cq_completed() - for providers: an armed CQ has something
 * @cq: a CQ that the provider has found in its own tables, under a lock that its detach takes
 *
 * Also to be called, armed or not, when the provider has flushed by software.
 *
 * Context: any.
 */
void ib_cq_completed(struct ib_cq *cq);

/**
 * ib_cq_tell() - the same, of a CQ that is pinned
 * @cq: between ib_object_begin_callback() and ib_object_end_callback()
 *
 * Context: any.
 */
void ib_cq_tell(struct ib_cq *cq);

/*
 * ---- shared receive queues
 * ------------------------------------------------------------------------
 */

/* For ib_srq_modify(). */
#define IB_SRQ_MAX_WR BIT(0)
#define IB_SRQ_LIMIT BIT(1)

/**
 * struct ib_srq_attr - size of an SRQ
 * @max_wr: work requests
 * @max_sge: pieces of each
 * @limit: event when fewer are left; 0: none
 */
struct ib_srq_attr {
	u32 max_wr;
	u32 max_sge;
	u32 limit;
};

/**
 * struct ib_srq_init - how an SRQ shall be
 * @attr: sizes
 * @event: called for its events; any context; optional
 * @priv: kept in &ib_srq.priv
 * @xrcd: makes it an XRC SRQ, with @cq; else NULL
 * @cq: completions of an XRC SRQ
 */
struct ib_srq_init {
	struct ib_srq_attr attr;
	void (*event)(struct ib_srq *srq, enum ib_event_type type);
	void *priv;
	struct ib_xrcd *xrcd;
	struct ib_cq *cq;
};

/**
 * struct ib_srq - a shared receive queue
 * @object: common part
 * @pd: its protection domain
 * @xrcd: see &struct ib_srq_init
 * @cq: see &struct ib_srq_init
 * @srqn: its number; filled in by the provider
 * @event: see &struct ib_srq_init
 * @priv: the owner's
 */
struct ib_srq {
	struct ib_object object;
	struct ib_pd *pd;
	struct ib_xrcd *xrcd;
	struct ib_cq *cq;
	u32 srqn;
	void (*event)(struct ib_srq *srq, enum ib_event_type type);
	void *priv;
};

/** ib_srq_create() - make a shared receive queue in a PD */
struct ib_srq *ib_srq_create(struct ib_pd *pd, const struct ib_srq_init *init,
			     struct ib_udata *udata);

/** ib_srq_destroy() - its mirror */
void ib_srq_destroy(struct ib_srq *srq);

/** ib_srq_modify() - change what @mask (IB_SRQ_*) names */
int ib_srq_modify(struct ib_srq *srq, const struct ib_srq_attr *attr, u32 mask,
		  struct ib_udata *udata);

/** ib_srq_query() - ask for its sizes */
int ib_srq_query(struct ib_srq *srq, struct ib_srq_attr *attr);

/** ib_srq_post() - post receives; *@bad is the first that was not.  Any context */
int ib_srq_post(struct ib_srq *srq, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);

/*
 * ---- address handles
 * ------------------------------------------------------------------------------
 */

/**
 * struct ib_grh_attr - what a GRH needs
 * @dgid: destination
 * @flow_label: 20 bits
 * @sgid_index: our GID
 * @hop_limit: hops
 * @traffic_class: traffic class
 */
struct ib_grh_attr {
	union ib_gid dgid;
	u32 flow_label;
	u16 sgid_index;
	u8 hop_limit;
	u8 traffic_class;
};

/**
 * ib_rate() - what the code of a rate stands for (IBA 15.2.5.16)
 * @code: as in &ib_ah_attr.static_rate
 *
 * Return: in units of 100 Mbit/s; 0: no such code.
 */
u16 ib_rate(u8 code);

/**
 * struct ib_ah_attr - an address (IBA 11.2.2.1)
 * @grh: counts if @has_grh
 * @has_grh: the packet has a GRH
 * @dlid: destination LID
 * @sl: service level
 * @path_bits: low bits of our LID
 * @static_rate: encoded, see ib_rate(); 0: as fast as the port
 * @port: our port, from 1
 */
struct ib_ah_attr {
	struct ib_grh_attr grh;
	bool has_grh;
	u16 dlid;
	u8 sl;
	u8 path_bits;
	u8 static_rate;
	u8 port;
};

/**
 * struct ib_ah - an address handle
 * @object: common part
 * @pd: its protection domain
 * @attr: the address; constant
 */
struct ib_ah {
	struct ib_object object;
	struct ib_pd *pd;
	struct ib_ah_attr attr;
};

/**
 * ib_ah_create() - make an address handle
 * @pd: its protection domain
 * @attr: the address
 * @gfp: GFP_KERNEL, or GFP_ATOMIC for callers that must not sleep
 *
 * Context: any but hard interrupts, with GFP_ATOMIC.
 * Return: the AH or an ERR_PTR(); -EINVAL: no such port or GID index.
 */
struct ib_ah *ib_ah_create(struct ib_pd *pd, const struct ib_ah_attr *attr, gfp_t gfp);

/** ib_ah_destroy() - its mirror; no send that uses it is under way.  Any but hard interrupts */
void ib_ah_destroy(struct ib_ah *ah);

/*
 * ---- memory regions and windows
 * -------------------------------------------------------------------
 */

/**
 * enum ib_mr_type - kinds of memory regions
 * @IB_MR_DMA: everything the device can reach; the kernel's own
 * @IB_MR_FAST: registered by a work request
 * @IB_MR_USER: pinned memory of a user
 */
enum ib_mr_type {
	IB_MR_DMA,
	IB_MR_FAST,
	IB_MR_USER,
};

/**
 * struct ib_mr - a memory region
 * @object: common part
 * @pd: its protection domain
 * @type: kind
 * @lkey: L_Key; filled in by the provider
 * @rkey: R_Key; filled in by the provider
 * @iova: where it begins, as its keys count
 * @length: bytes
 * @page_size: IB_MR_FAST: bytes of each page
 * @max_pages: IB_MR_FAST: room of @pages
 * @npages: IB_MR_FAST: pages mapped
 * @pages: IB_MR_FAST: their DMA addresses
 */
struct ib_mr {
	struct ib_object object;
	struct ib_pd *pd;
	enum ib_mr_type type;
	u32 lkey;
	u32 rkey;
	u64 iova;
	u64 length;
	u32 page_size;
	u32 max_pages;
	u32 npages;
	u64 *pages;
};

/** ib_mr_create_dma() - a region of all memory, with IB_ACCESS_* @access */
struct ib_mr *ib_mr_create_dma(struct ib_pd *pd, u32 access);

/** ib_mr_create_fast() - a region for IB_WR_REG_MR, of at most @max_pages pages */
struct ib_mr *ib_mr_create_fast(struct ib_pd *pd, u32 max_pages);

/**
 * ib_mr_map() - say what a fast-register region shall cover
 * @mr: of type IB_MR_FAST, not valid at the moment
 * @sg: DMA-mapped list
 * @count: entries of it
 * @offset: bytes of the first entry to leave out; moved on; may be NULL
 * @page_size: a power of two, at least 4096
 *
 * Takes as many entries as one region can cover without holes.  Context: any; touches no hardware.
 *
 * Return: how many entries are covered in full (the last one may be in part), or -EINVAL.
 */
int ib_mr_map(struct ib_mr *mr, struct scatterlist *sg, int count, unsigned int *offset,
	      unsigned int page_size);

/** ib_mr_destroy() - the mirror of all of them */
void ib_mr_destroy(struct ib_mr *mr);

/**
 * struct ib_mw - a memory window
 * @object: common part
 * @pd: its protection domain
 * @rkey: R_Key; filled in by the provider
 * @type: 1 or 2, as in the specification
 */
struct ib_mw {
	struct ib_object object;
	struct ib_pd *pd;
	u32 rkey;
	u8 type;
};

/** ib_mw_create() - make a memory window of @type 1 or 2 */
struct ib_mw *ib_mw_create(struct ib_pd *pd, u8 type, struct ib_udata *udata);

/** ib_mw_destroy() - its mirror */
void ib_mw_destroy(struct ib_mw *mw);

/*
 * ---- queue pairs
 * ----------------------------------------------------------------------------------
 */

/**
 * enum ib_qp_type - kinds of queue pairs; the numbers are those of the user interface
 * @IB_QPT_SMI: QP0
 * @IB_QPT_GSI: QP1
 * @IB_QPT_RC: reliable connection
 * @IB_QPT_UC: unreliable connection
 * @IB_QPT_UD: unreliable datagram
 * @IB_QPT_RAW_PACKET: raw packets
 * @IB_QPT_XRC_INI: XRC initiator
 * @IB_QPT_XRC_TGT: XRC target
 * @IB_QPT_COUNT: one more than the highest number
 */
enum ib_qp_type {
	IB_QPT_SMI,
	IB_QPT_GSI,
	IB_QPT_RC,
	IB_QPT_UC,
	IB_QPT_UD,
	IB_QPT_RAW_PACKET = 8,
	IB_QPT_XRC_INI = 9,
	IB_QPT_XRC_TGT,
	IB_QPT_COUNT,
};

/**
 * enum ib_qp_state - states of a queue pair (IBA 10.3.1)
 * @IB_QPS_RESET: just made
 * @IB_QPS_INIT: receives can be posted
 * @IB_QPS_RTR: receives
 * @IB_QPS_RTS: sends too
 * @IB_QPS_SQD: the send queue is being, or is, drained
 * @IB_QPS_SQE: the send queue is in error
 * @IB_QPS_ERR: everything is flushed
 * @IB_QP_STATES: how many there are
 */
enum ib_qp_state {
	IB_QPS_RESET,
	IB_QPS_INIT,
	IB_QPS_RTR,
	IB_QPS_RTS,
	IB_QPS_SQD,
	IB_QPS_SQE,
	IB_QPS_ERR,
	IB_QP_STATES,
};

/**
 * enum ib_mig_state - path migration
 * @IB_MIG_MIGRATED: done
 * @IB_MIG_REARM: to be armed
 * @IB_MIG_ARMED: armed
 */
enum ib_mig_state {
	IB_MIG_MIGRATED,
	IB_MIG_REARM,
	IB_MIG_ARMED,
};

/* Which members of struct ib_qp_attr count; the numbers are those of the user interface. */
#define IB_QP_STATE BIT(0)
#define IB_QP_CUR_STATE BIT(1)
#define IB_QP_EN_SQD_ASYNC_NOTIFY BIT(2)
#define IB_QP_ACCESS_FLAGS BIT(3)
#define IB_QP_PKEY_INDEX BIT(4)
#define IB_QP_PORT BIT(5)
#define IB_QP_QKEY BIT(6)
#define IB_QP_AV BIT(7)
#define IB_QP_PATH_MTU BIT(8)
#define IB_QP_TIMEOUT BIT(9)
#define IB_QP_RETRY_CNT BIT(10)
#define IB_QP_RNR_RETRY BIT(11)
#define IB_QP_RQ_PSN BIT(12)
#define IB_QP_MAX_QP_RD_ATOMIC BIT(13)
#define IB_QP_ALT_PATH BIT(14)
#define IB_QP_MIN_RNR_TIMER BIT(15)
#define IB_QP_SQ_PSN BIT(16)
#define IB_QP_MAX_DEST_RD_ATOMIC BIT(17)
#define IB_QP_PATH_MIG_STATE BIT(18)
#define IB_QP_CAP BIT(19)
#define IB_QP_DEST_QPN BIT(20)
#define IB_QP_RATE_LIMIT BIT(25)

/**
 * struct ib_qp_cap - sizes of a queue pair
 * @max_send_wr: send work requests
 * @max_recv_wr: receive work requests
 * @max_send_sge: pieces of a send
 * @max_recv_sge: pieces of a receive
 * @max_inline_data: bytes inside a work request
 */
struct ib_qp_cap {
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_inline_data;
};

/**
 * struct ib_qp_attr - what can be modified or queried (IBA 11.2.5.2)
 * @state: next (modify) or present (query) state
 * @cur_state: the state it is assumed to be in
 * @path_mtu: MTU of the path
 * @path_mig_state: path migration
 * @qkey: Q_Key
 * @rq_psn: first PSN to receive
 * @sq_psn: first PSN to send
 * @dest_qpn: the other QP
 * @access_flags: IB_ACCESS_*
 * @cap: sizes
 * @ah: primary path
 * @alt_ah: alternate path
 * @pkey_index: P_Key of the primary path
 * @alt_pkey_index: P_Key of the alternate path
 * @en_sqd_async_notify: event when drained
 * @sq_draining: query: in SQD and not yet drained
 * @max_rd_atomic: outstanding as initiator
 * @max_dest_rd_atomic: outstanding as responder
 * @min_rnr_timer: encoded
 * @port: port of the primary path
 * @timeout: ACK timeout, encoded
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries; 7 for ever
 * @alt_port: port of the alternate path
 * @alt_timeout: its ACK timeout
 * @rate_limit: kbit/s; 0: none
 */
struct ib_qp_attr {
	enum ib_qp_state state;
	enum ib_qp_state cur_state;
	enum ib_mtu path_mtu;
	enum ib_mig_state path_mig_state;
	u32 qkey;
	u32 rq_psn;
	u32 sq_psn;
	u32 dest_qpn;
	u32 access_flags;
	struct ib_qp_cap cap;
	struct ib_ah_attr ah;
	struct ib_ah_attr alt_ah;
	u16 pkey_index;
	u16 alt_pkey_index;
	bool en_sqd_async_notify;
	bool sq_draining;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	u8 min_rnr_timer;
	u8 port;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 alt_port;
	u8 alt_timeout;
	u32 rate_limit;
};

/* Wishes of who creates a QP. */
#define IB_QP_CREATE_IPOIB_LSO BIT(0)
#define IB_QP_CREATE_BLOCK_LOOPBACK BIT(1)

/**
 * struct ib_qp_init - how a QP shall be
 * @type: kind
 * @cap: sizes, at least; those it got are in &ib_qp.cap.  The provider finds one more in it than a
 *	kernel owner asked for: room for the marker of ib_qp_drain().
 * @send_cq: completions of sends; not for XRC_TGT
 * @recv_cq: completions of receives; not for XRC
 * @srq: takes the place of the receive queue; or NULL
 * @xrcd: XRC_TGT only
 * @signal_all: every send is completed, flagged or not
 * @create_flags: IB_QP_CREATE_*
 * @port: SMI and GSI only
 * @event: called for its events; any context; optional.  IB_EVENT_QP_LAST_WQE_REACHED comes once
 *	for a QP with an SRQ that has left RESET: from the hardware when the QP is in error, else
 *	when the HCA is gone
 * @priv: kept in &ib_qp.priv
 */
struct ib_qp_init {
	enum ib_qp_type type;
	struct ib_qp_cap cap;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	bool signal_all;
	u32 create_flags;
	u8 port;
	void (*event)(struct ib_qp *qp, enum ib_event_type type);
	void *priv;
};

struct ib_drain;

/**
 * struct ib_qp - a queue pair
 * @object: common part
 * @pd: its protection domain; NULL for XRC_TGT
 * @send_cq: see &struct ib_qp_init
 * @recv_cq: see &struct ib_qp_init
 * @srq: see &struct ib_qp_init
 * @xrcd: see &struct ib_qp_init
 * @qpn: its number; filled in by the provider
 * @type: kind
 * @port: SMI and GSI: its port; else that of the primary path, once set
 * @cap: sizes
 * @event: see &struct ib_qp_init
 * @priv: the owner's
 * @lock: one modify, drain, attach or detach at a time
 * @known: what was set last, to be shown when the hardware cannot be asked; under @lock
 * @groups: multicast groups it is attached to; under @lock
 * @last_wqe: since it left RESET it was told that it takes nothing more from @srq
 * @drains: send and receive queue; private to drain.c
 */
struct ib_qp {
	struct ib_object object;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	u32 qpn;
	enum ib_qp_type type;
	u8 port;
	struct ib_qp_cap cap;
	void (*event)(struct ib_qp *qp, enum ib_event_type type);
	void *priv;
	struct mutex lock; /* one modify, drain, attach or detach at a time */
	struct ib_qp_attr known;
	struct list_head groups;
	atomic_t last_wqe;
	struct ib_drain *drains;
};

/**
 * ib_qp_create() - make a queue pair, in state RESET
 * @attachment: the owner
 * @pd: its protection domain; NULL for XRC_TGT
 * @init: how it shall be
 * @udata: for a user's, else NULL
 *
 * Return: the QP or an ERR_PTR().
 */
struct ib_qp *ib_qp_create(struct ib_attachment *attachment, struct ib_pd *pd,
			   const struct ib_qp_init *init, struct ib_udata *udata);

/** ib_qp_destroy() - its mirror; leaves its multicast groups */
void ib_qp_destroy(struct ib_qp *qp);

/**
 * ib_qp_modify() - change a queue pair
 * @qp: the QP
 * @attr: the new values
 * @mask: IB_QP_* that count; checked against the table of the specification
 * @udata: for a user's call, else NULL
 *
 * Return: 0; -EINVAL: no such transition, or an attribute is missing or not allowed in it, or a
 * value is none that the specification or the HCA knows.
 */
int ib_qp_modify(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
		 struct ib_udata *udata);

/**
 * ib_qp_query() - ask the hardware about a queue pair
 * @qp: the QP
 * @attr: filled in
 * @mask: IB_QP_* that are wanted, at least
 *
 * Return: 0 or an error.
 */
int ib_qp_query(struct ib_qp *qp, struct ib_qp_attr *attr, u32 mask);

/** ib_qp_post_send() - post sends; *@bad is the first that was not.  Any context */
int ib_qp_post_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);

/** ib_qp_post_recv() - post receives; *@bad is the first that was not.  Any context */
int ib_qp_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);

/**
 * ib_qp_attach() - receive the packets of a multicast group
 * @qp: a UD QP
 * @gid: MGID
 * @lid: MLID; host byte order
 *
 * Counted: as many detaches as attaches; the hardware hears of the first and of the last.
 *
 * Return: 0; -EINVAL: not a group, or not a UD QP.
 */
int ib_qp_attach(struct ib_qp *qp, const union ib_gid *gid, u16 lid);

/** ib_qp_detach() - its mirror; -EINVAL: not attached */
int ib_qp_detach(struct ib_qp *qp, const union ib_gid *gid, u16 lid);

/**
 * ib_qp_drain() - move a QP to the error state and wait until every posted request has completed
 * @qp: the QP; its owner posts nothing meanwhile
 *
 * When the HCA is gone, or leaves meanwhile, this ends when the requests have been flushed by
 * software and their completions were processed.  A CQ needs an entry more for each queue that is
 * drained; the queues themselves have room for the marker.
 *
 * Context: may sleep; not in a completion callback.  CQs of context IB_CQ_OWNER are not possible.
 */
void ib_qp_drain(struct ib_qp *qp);

/** ib_qp_drain_send() - the send queue alone */
void ib_qp_drain_send(struct ib_qp *qp);

/** ib_qp_drain_recv() - the receive queue alone */
void ib_qp_drain_recv(struct ib_qp *qp);

/**
 * struct ib_qp_rule - what the specification says of one transition of one kind of QP
 * @valid: it exists
 * @required: IB_QP_* that have to be given
 * @optional: IB_QP_* that may be given
 *
 * IB_QP_STATE is in neither: it is what makes a modify a transition.
 */
struct ib_qp_rule {
	bool valid;
	u32 required;
	u32 optional;
};

/**
 * ib_qp_rule() - look a transition up (IBA 10.3.1, 11.2.5.2)
 * @type: kind of QP
 * @from: present state
 * @to: next state
 *
 * Return: the rule; not valid for numbers out of range.
 */
struct ib_qp_rule ib_qp_rule(enum ib_qp_type type, enum ib_qp_state from, enum ib_qp_state to);

/**
 * ib_qp_may() - is this modify allowed?
 * @type: kind of QP
 * @from: present state
 * @to: next state
 * @mask: IB_QP_* given
 *
 * Return: yes, if so.
 */
bool ib_qp_may(enum ib_qp_type type, enum ib_qp_state from, enum ib_qp_state to, u32 mask);

/** ib_qp_state_name() - the specification's word for a state */
const char *ib_qp_state_name(enum ib_qp_state state);

/*
 * ---- what a provider does
 * -------------------------------------------------------------------------
 */

/* For &ib_verbs_ops.process_mad. */
#define IB_MAD_SIZE 256
#define IB_MAD_IGNORE_MKEY BIT(0)
#define IB_MAD_IGNORE_BKEY BIT(1)

/**
 * struct ib_mad_request - a MAD for the device itself
 * @mad: IB_MAD_SIZE bytes
 * @wc: how it came, or NULL if it is our own
 * @grh: its GRH of 40 bytes, or NULL
 * @port: the port it is for
 * @flags: IB_MAD_IGNORE_*
 */
struct ib_mad_request {
	const void *mad;
	const struct ib_wc *wc;
	const void *grh;
	u8 port;
	u32 flags;
};

/**
 * enum ib_mad_result - what became of it
 * @IB_MAD_NOTHING: it is not for the device
 * @IB_MAD_CONSUMED: dealt with, there is no answer
 * @IB_MAD_ANSWERED: the answer was written
 */
enum ib_mad_result {
	IB_MAD_NOTHING,
	IB_MAD_CONSUMED,
	IB_MAD_ANSWERED,
};

/* What ib_node_modify() can change. */
#define IB_NODE_MODIFY_DESC BIT(0)
#define IB_NODE_MODIFY_SYS_IMAGE_GUID BIT(1)

/**
 * struct ib_node_modify - a change of a node
 * @desc: NodeDescription
 * @sys_image_guid: network byte order
 */
struct ib_node_modify {
	char desc[IB_NODE_DESC_MAX];
	__be64 sys_image_guid;
};

/**
 * ib_node_modify() - change a node
 * @device: the device
 * @mask: IB_NODE_MODIFY_*
 * @modify: the change
 *
 * Return: 0; -EOPNOTSUPP: the provider cannot; -EIO; -ENODEV; or the provider's error.
 */
int ib_node_modify(struct ib_device *device, u32 mask, const struct ib_node_modify *modify);

/**
 * IB_OBJECT_SIZE() - for the size members of struct ib_verbs_ops
 * @type: the provider's structure
 * @member: ib_core's object in it, which must be its first member
 */
#define IB_OBJECT_SIZE(type, member)								\
	(sizeof(type) + BUILD_BUG_ON_ZERO(offsetof(type, member)))

/**
 * struct ib_stat - a figure that a provider offers, a file of hw_counters in sysfs
 * @name: its name
 * @where: the provider's own
 */
struct ib_stat {
	const char *name;
	unsigned int where;
};

/**
 * struct ib_stats_list - all that a provider offers
 * @count: how many
 * @stat: the figures
 */
struct ib_stats_list {
	unsigned int count;
	const struct ib_stat *stat;
};

/**
 * struct ib_verbs_ops - the verbs of a provider
 *
 * Memory of objects is ib_core's: zeroed, of the size given, the common part filled in before
 * create. Of an operation that is NULL the verb returns -EOPNOTSUPP, unless it says "optional".
 *
 * Three steps end an object:
 *   destroy  takes it from the hardware.  Inside the gate; skipped when the gate refuses.  Returns
 *            0 when the hardware has provably forgotten it.
 *   detach   the owner has left: take it out of the tables that completions and events look it up
 *            in, and its completions out of its CQs.  Touches no hardware.  Optional.
 *            Destroy and detach close the object first: posts, polls and armings that ib_core has
 *            let in may be under way, or on their way.  Those that find it closed return -ENODEV;
 *            when detach returns none is inside the object's queues.
 *   release  give back the memory that the hardware knew of.  Touches no hardware.  Called when
 *            destroy has returned 0 or the HCA is quiet; otherwise never.  Optional.
 * create, modify, query, destroy, post, arm, attach are called inside the device's gate only;
 * poll_cq, detach and release not, since they must work when the hardware is gone.  None is called
 * after &ib_device_ops.stop has begun.
 *
 * @size_pd: bytes; 0 for the bare object; as all that follow
 * @size_xrcd: XRC domain
 * @size_cq: CQ
 * @size_srq: SRQ
 * @size_ah: AH
 * @size_mr: MR
 * @size_mw: MW
 * @size_qp: QP
 *
 * @query_device: fill in what the device is; once, at registration; required
 * @query_port: fill in what a port is like; required
 * @query_gids: fill in @len entries of the GID table; required if ports have GIDs
 * @query_pkeys: fill in @len entries of the P_Key table, host byte order; required if there are any
 * @modify_port: see ib_port_modify()
 * @modify_node: see ib_node_modify()
 * @process_mad: answer a MAD for the device; optional: without it there are no port counters
 * @stats: which statistics there are of a port, or, for port 0, of the device; NULL: none; the list
 *	stays until &ib_device_ops.stop; optional
 * @read_stats: fill in these, in their order; required with @stats
 *
 * @create_pd: make a PD
 * @destroy_pd: see above
 * @release_pd: see above
 * @create_xrcd: make an XRC domain
 * @destroy_xrcd: see above
 * @release_xrcd: see above
 *
 * @create_cq: make a CQ; fills in &ib_cq.cqe
 * @destroy_cq: see above
 * @detach_cq: see above
 * @release_cq: see above
 * @poll_cq: take up to @count completions; those of detached QPs are left out; any context
 * @arm_cq: see ib_cq_arm(); any context
 * @resize_cq: see ib_cq_resize()
 * @moderate_cq: see ib_cq_moderate()
 *
 * @create_srq: make an SRQ; fills in &ib_srq.srqn
 * @destroy_srq: see above
 * @detach_srq: see above
 * @release_srq: see above
 * @modify_srq: see ib_srq_modify()
 * @query_srq: see ib_srq_query()
 * @post_srq: see ib_srq_post(); any context
 *
 * @create_ah: make an AH, from &ib_ah.attr, which was checked; must not sleep; no hardware
 * @release_ah: must not sleep; no hardware
 *
 * @create_dma_mr: make a region of all memory; fills in the keys
 * @create_fast_mr: make a region of at most &ib_mr.max_pages pages; fills in the keys
 * @destroy_mr: see above
 * @release_mr: see above
 * @create_mw: make a memory window; fills in the key
 * @destroy_mw: see above
 * @release_mw: see above
 *
 * @create_qp: make a QP; fills in &ib_qp.qpn and &ib_qp.cap
 * @destroy_qp: see above
 * @detach_qp: see above
 * @release_qp: see above
 * @modify_qp: the transition was checked; @from and @to are its states (equal without IB_QP_STATE)
 * @query_qp: see ib_qp_query()
 * @post_send: see ib_qp_post_send(); any context. When &ib_device_ops.flush has been at the QP:
 *	-EIO
 * @post_recv: see ib_qp_post_recv(); any context
 * @attach_mcast: see ib_qp_attach(); once for a group
 * @detach_mcast: its mirror
 */
struct ib_verbs_ops {
	size_t size_pd;
	size_t size_xrcd;
	size_t size_cq;
	size_t size_srq;
	size_t size_ah;
	size_t size_mr;
	size_t size_mw;
	size_t size_qp;

	int (*query_device)(struct ib_device *device, struct ib_device_attr *attr);
	int (*query_port)(struct ib_device *device, u8 port, struct ib_port_attr *attr);
	int (*query_gids)(struct ib_device *device, u8 port, union ib_gid *gids, unsigned int len);
	int (*query_pkeys)(struct ib_device *device, u8 port, u16 *pkeys, unsigned int len);
	int (*modify_port)(struct ib_device *device, u8 port, u32 mask,
			   const struct ib_port_modify *modify);
	int (*modify_node)(struct ib_device *device, u32 mask, const struct ib_node_modify *modify);
	enum ib_mad_result (*process_mad)(struct ib_device *device,
					  const struct ib_mad_request *request, void *answer);
	const struct ib_stats_list *(*stats)(struct ib_device *device, u8 port);
	int (*read_stats)(struct ib_device *device, u8 port, u64 *values);

	int (*create_pd)(struct ib_pd *pd, struct ib_udata *udata);
	int (*destroy_pd)(struct ib_pd *pd);
	void (*release_pd)(struct ib_pd *pd);
	int (*create_xrcd)(struct ib_xrcd *xrcd, struct ib_udata *udata);
	int (*destroy_xrcd)(struct ib_xrcd *xrcd);
	void (*release_xrcd)(struct ib_xrcd *xrcd);

	int (*create_cq)(struct ib_cq *cq, const struct ib_cq_init *init, struct ib_udata *udata);
	int (*destroy_cq)(struct ib_cq *cq);
	void (*detach_cq)(struct ib_cq *cq);
	void (*release_cq)(struct ib_cq *cq);
	int (*poll_cq)(struct ib_cq *cq, int count, struct ib_wc *wc);
	int (*arm_cq)(struct ib_cq *cq, u32 flags);
	int (*resize_cq)(struct ib_cq *cq, u32 cqe, struct ib_udata *udata);
	int (*moderate_cq)(struct ib_cq *cq, u16 count, u16 period);

	int (*create_srq)(struct ib_srq *srq, const struct ib_srq_init *init,
			  struct ib_udata *udata);
	int (*destroy_srq)(struct ib_srq *srq);
	void (*detach_srq)(struct ib_srq *srq);
	void (*release_srq)(struct ib_srq *srq);
	int (*modify_srq)(struct ib_srq *srq, const struct ib_srq_attr *attr, u32 mask,
			  struct ib_udata *udata);
	int (*query_srq)(struct ib_srq *srq, struct ib_srq_attr *attr);
	int (*post_srq)(struct ib_srq *srq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad);

	int (*create_ah)(struct ib_ah *ah);
	void (*release_ah)(struct ib_ah *ah);

	int (*create_dma_mr)(struct ib_mr *mr, u32 access);
	int (*create_fast_mr)(struct ib_mr *mr);
	int (*destroy_mr)(struct ib_mr *mr);
	void (*release_mr)(struct ib_mr *mr);
	int (*create_mw)(struct ib_mw *mw, struct ib_udata *udata);
	int (*destroy_mw)(struct ib_mw *mw);
	void (*release_mw)(struct ib_mw *mw);

	int (*create_qp)(struct ib_qp *qp, const struct ib_qp_init *init, struct ib_udata *udata);
	int (*destroy_qp)(struct ib_qp *qp);
	void (*detach_qp)(struct ib_qp *qp);
	void (*release_qp)(struct ib_qp *qp);
	int (*modify_qp)(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
			 enum ib_qp_state from, enum ib_qp_state to, struct ib_udata *udata);
	int (*query_qp)(struct ib_qp *qp, struct ib_qp_attr *attr, u32 mask);
	int (*post_send)(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad);
	int (*post_recv)(struct ib_qp *qp, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad);
	int (*attach_mcast)(struct ib_qp *qp, const union ib_gid *gid, u16 lid);
	int (*detach_mcast)(struct ib_qp *qp, const union ib_gid *gid, u16 lid);
};

#endif /* IB_VERBS_H */
