/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work requests and work completions (IBA 11.4): what is posted to a queue, and what comes back.
 */
#ifndef IB_WR_H
#define IB_WR_H

#include <linux/types.h>

struct ib_ah;
struct ib_cq;
struct ib_mr;
struct ib_mw;
struct ib_qp;
struct ib_wc;

/**
 * struct ib_sge - a piece of memory
 * @addr: address as its memory region counts
 * @length: bytes
 * @lkey: the region's L_Key
 */
struct ib_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/**
 * struct ib_cqe - how a completion finds its way back to who posted
 * @done: called for the completion by the CQ's polling context; not called for CQs whose owner
 *	polls with ib_cq_poll() itself.  Must not destroy the CQ, and in SOFTIRQ context not sleep.
 *
 * Embedded in the owner's request; must stay until the completion has come.
 */
struct ib_cqe {
	void (*done)(struct ib_cq *cq, struct ib_wc *wc);
};

/**
 * enum ib_wr_opcode - what a send work request asks for
 * @IB_WR_RDMA_WRITE: write to remote memory
 * @IB_WR_RDMA_WRITE_WITH_IMM: and consume a receive there
 * @IB_WR_SEND: send
 * @IB_WR_SEND_WITH_IMM: send with immediate data
 * @IB_WR_RDMA_READ: read remote memory
 * @IB_WR_ATOMIC_CMP_AND_SWP: compare and swap 8 bytes
 * @IB_WR_ATOMIC_FETCH_AND_ADD: fetch and add 8 bytes
 * @IB_WR_LOCAL_INV: make a local key invalid
 * @IB_WR_SEND_WITH_INV: send, and make a key of the receiver invalid
 * @IB_WR_LSO: send a large packet cut to pieces by the HCA (IPoIB)
 * @IB_WR_REG_MR: make a fast-register MR valid
 * @IB_WR_BIND_MW: bind a memory window to a part of a memory region
 * @IB_WR_DRAIN: nothing: a marker that only ever comes back flushed; ib_core posts it to a QP in
 *	ERR
 * @IB_WR_OPCODES: how many there are
 */
enum ib_wr_opcode {
	IB_WR_RDMA_WRITE,
	IB_WR_RDMA_WRITE_WITH_IMM,
	IB_WR_SEND,
	IB_WR_SEND_WITH_IMM,
	IB_WR_RDMA_READ,
	IB_WR_ATOMIC_CMP_AND_SWP,
	IB_WR_ATOMIC_FETCH_AND_ADD,
	IB_WR_LOCAL_INV,
	IB_WR_SEND_WITH_INV,
	IB_WR_LSO,
	IB_WR_REG_MR,
	IB_WR_BIND_MW,
	IB_WR_DRAIN,
	IB_WR_OPCODES,
};

/* Flags of a send work request. */
#define IB_SEND_FENCE BIT(0)
#define IB_SEND_SIGNALED BIT(1)
#define IB_SEND_SOLICITED BIT(2)
#define IB_SEND_INLINE BIT(3)
#define IB_SEND_IP_CSUM BIT(4)

/**
 * struct ib_send_wr - a send work request
 * @next: the next one of a chain, or NULL
 * @wr_id: the owner's, unless @cqe is used
 * @cqe: where the completion goes, on CQs with a polling context
 * @sg_list: pieces of memory
 * @num_sge: how many
 * @opcode: what to do; says which member of the union counts
 * @flags: IB_SEND_*
 * @imm_data: immediate data, network byte order
 * @invalidate_rkey: for SEND_WITH_INV and LOCAL_INV
 * @xrc_srqn: XRC initiators: the SRQ at the other side that the request is for
 * @rdma: for RDMA
 * @rdma.addr: remote address
 * @rdma.rkey: its R_Key
 * @atomic: for atomics
 * @atomic.addr: remote address, a multiple of 8
 * @atomic.compare_add: what to compare with, or to add
 * @atomic.swap: what to store
 * @atomic.rkey: R_Key
 * @ud: for datagrams (and LSO)
 * @ud.ah: address handle
 * @ud.header: LSO: the headers that each piece repeats
 * @ud.hlen: LSO: their length
 * @ud.mss: LSO: payload of a piece
 * @ud.qpn: destination QP number
 * @ud.qkey: Q_Key
 * @ud.pkey_index: QP1 only
 * @ud.port: QP0 and QP1 only
 * @reg: for REG_MR
 * @reg.mr: the region, after ib_mr_map()
 * @reg.key: the key it shall have
 * @reg.access: IB_ACCESS_*
 * @bind: for BIND_MW
 * @bind.mw: the window
 * @bind.mr: the region, made with IB_ACCESS_MW_BIND
 * @bind.addr: where the window begins, as the region counts
 * @bind.length: bytes; 0: the window is unbound
 * @bind.rkey: the key that the window shall have
 * @bind.access: IB_ACCESS_REMOTE_*
 */
struct ib_send_wr {
	struct ib_send_wr *next;
	union {
		u64 wr_id;
		struct ib_cqe *cqe;
	};
	struct ib_sge *sg_list;
	int num_sge;
	enum ib_wr_opcode opcode;
	u32 flags;
	union {
		__be32 imm_data;
		u32 invalidate_rkey;
	};
	u32 xrc_srqn;
	union {
		struct {
			u64 addr;
			u32 rkey;
		} rdma;
		struct {
			u64 addr;
			u64 compare_add;
			u64 swap;
			u32 rkey;
		} atomic;
		struct {
			struct ib_ah *ah;
			void *header;
			u32 hlen;
			u32 mss;
			u32 qpn;
			u32 qkey;
			u16 pkey_index;
			u8 port;
		} ud;
		struct {
			struct ib_mr *mr;
			u32 key;
			u32 access;
		} reg;
		struct {
			struct ib_mw *mw;
			struct ib_mr *mr;
			u64 addr;
			u64 length;
			u32 rkey;
			u32 access;
		} bind;
	};
};

/**
 * struct ib_recv_wr - a receive work request
 * @next: the next one of a chain, or NULL
 * @wr_id: the owner's, unless @cqe is used
 * @cqe: where the completion goes, on CQs with a polling context
 * @sg_list: pieces of memory; a UD QP puts 40 bytes of GRH first
 * @num_sge: how many
 */
struct ib_recv_wr {
	struct ib_recv_wr *next;
	union {
		u64 wr_id;
		struct ib_cqe *cqe;
	};
	struct ib_sge *sg_list;
	int num_sge;
};

/**
 * enum ib_wc_status - how a work request ended; the numbers are those of the user interface
 * @IB_WC_SUCCESS: well
 * @IB_WC_LOC_LEN_ERR: local length error
 * @IB_WC_LOC_QP_OP_ERR: local QP operation error
 * @IB_WC_LOC_EEC_OP_ERR: local EE context operation error
 * @IB_WC_LOC_PROT_ERR: local protection error
 * @IB_WC_WR_FLUSH_ERR: flushed: the QP was in error, or the HCA was gone
 * @IB_WC_MW_BIND_ERR: memory window bind error
 * @IB_WC_BAD_RESP_ERR: bad response
 * @IB_WC_LOC_ACCESS_ERR: local access error
 * @IB_WC_REM_INV_REQ_ERR: remote invalid request error
 * @IB_WC_REM_ACCESS_ERR: remote access error
 * @IB_WC_REM_OP_ERR: remote operation error
 * @IB_WC_RETRY_EXC_ERR: transport retry counter exceeded
 * @IB_WC_RNR_RETRY_EXC_ERR: RNR retry counter exceeded
 * @IB_WC_LOC_RDD_VIOL_ERR: local RDD violation
 * @IB_WC_REM_INV_RD_REQ_ERR: remote invalid RD request
 * @IB_WC_REM_ABORT_ERR: remote aborted
 * @IB_WC_INV_EECN_ERR: invalid EE context number
 * @IB_WC_INV_EEC_STATE_ERR: invalid EE context state
 * @IB_WC_FATAL_ERR: fatal error
 * @IB_WC_RESP_TIMEOUT_ERR: response timeout
 * @IB_WC_GENERAL_ERR: any other error
 */
enum ib_wc_status {
	IB_WC_SUCCESS,
	IB_WC_LOC_LEN_ERR,
	IB_WC_LOC_QP_OP_ERR,
	IB_WC_LOC_EEC_OP_ERR,
	IB_WC_LOC_PROT_ERR,
	IB_WC_WR_FLUSH_ERR,
	IB_WC_MW_BIND_ERR,
	IB_WC_BAD_RESP_ERR,
	IB_WC_LOC_ACCESS_ERR,
	IB_WC_REM_INV_REQ_ERR,
	IB_WC_REM_ACCESS_ERR,
	IB_WC_REM_OP_ERR,
	IB_WC_RETRY_EXC_ERR,
	IB_WC_RNR_RETRY_EXC_ERR,
	IB_WC_LOC_RDD_VIOL_ERR,
	IB_WC_REM_INV_RD_REQ_ERR,
	IB_WC_REM_ABORT_ERR,
	IB_WC_INV_EECN_ERR,
	IB_WC_INV_EEC_STATE_ERR,
	IB_WC_FATAL_ERR,
	IB_WC_RESP_TIMEOUT_ERR,
	IB_WC_GENERAL_ERR,
};

/**
 * enum ib_wc_opcode - what has been completed; the numbers are those of the user interface
 * @IB_WC_SEND: a send
 * @IB_WC_RDMA_WRITE: an RDMA write
 * @IB_WC_RDMA_READ: an RDMA read
 * @IB_WC_COMP_SWAP: a compare and swap
 * @IB_WC_FETCH_ADD: a fetch and add
 * @IB_WC_BIND_MW: a memory window was bound
 * @IB_WC_LOCAL_INV: an invalidation
 * @IB_WC_LSO: a large send
 * @IB_WC_REG_MR: a registration; kernel only
 * @IB_WC_RECV: a receive
 * @IB_WC_RECV_RDMA_WITH_IMM: a receive that an RDMA write with immediate data has consumed
 */
enum ib_wc_opcode {
	IB_WC_SEND,
	IB_WC_RDMA_WRITE,
	IB_WC_RDMA_READ,
	IB_WC_COMP_SWAP,
	IB_WC_FETCH_ADD,
	IB_WC_BIND_MW,
	IB_WC_LOCAL_INV,
	IB_WC_LSO,
	IB_WC_REG_MR,
	IB_WC_RECV = 128,
	IB_WC_RECV_RDMA_WITH_IMM,
};

/* Flags of a completion. */
#define IB_WC_GRH BIT(0)
#define IB_WC_WITH_IMM BIT(1)
#define IB_WC_WITH_INVALIDATE BIT(2)
#define IB_WC_IP_CSUM_OK BIT(3)

/**
 * struct ib_wc - a work completion
 * @wr_id: of the request
 * @cqe: of the request
 * @status: how it ended; if not well, only @wr_id, @vendor_err and @qp count
 * @opcode: what it was
 * @vendor_err: the HCA's own code
 * @byte_len: bytes received
 * @qp: the QP
 * @imm_data: immediate data, network byte order
 * @invalidate_rkey: the key that was made invalid
 * @src_qp: the sender's QP number
 * @slid: the sender's LID
 * @flags: IB_WC_*
 * @pkey_index: QP1 only
 * @sl: service level
 * @dlid_path_bits: path bits of our LID that it was sent to
 * @port: QP0 and QP1 only
 */
struct ib_wc {
	union {
		u64 wr_id;
		struct ib_cqe *cqe;
	};
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
	u32 vendor_err;
	u32 byte_len;
	struct ib_qp *qp;
	union {
		__be32 imm_data;
		u32 invalidate_rkey;
	};
	u32 src_qp;
	u16 slid;
	u16 flags;
	u16 pkey_index;
	u8 sl;
	u8 dlid_path_bits;
	u8 port;
};

/**
 * ib_wc_status_name() - the words for a status, for the log
 * @status: the status
 *
 * Return: a literal.
 */
const char *ib_wc_status_name(enum ib_wc_status status);

#endif /* IB_WR_H */
