/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QP, CQ and SRQ contexts of the hardware interface: host-order structures and their layouts.
 */
#ifndef CX3_MODEL_CTX_H
#define CX3_MODEL_CTX_H

#include "fields.h"

enum qp_state {
	QPS_RST = 0,
	QPS_INIT = 1,
	QPS_RTR = 2,
	QPS_RTS = 3,
	QPS_SQER = 4,
	QPS_SQD = 5,
	QPS_ERR = 6,
	QPS_DRAINING = 7,
};

enum qp_service {
	QPT_RC = 0,
	QPT_UC = 1,
	QPT_UD = 3,
	QPT_XRC = 6,
	QPT_MLX = 7,
};

enum qp_pm_state {
	PM_ARMED = 0,
	PM_REARM = 1,
	PM_MIGRATED = 3,
};

/**
 * struct qp_path - address path of a QP context, 44 bytes
 * @force_loop: deliver to the own port whatever the DLID
 * @pkey_off: P_Key check off
 * @pkey_index: P_Key table index
 * @counter: flow counter, not used
 * @grh: packets carry a GRH
 * @path_bits: low bits of the source LID
 * @rlid: remote LID
 * @ack_timeout: local ACK timeout, 4.096 us << value, 0 = never
 * @sgid_index: source GID index
 * @static_rate: not used
 * @hop_limit: GRH
 * @tclass: GRH
 * @flow: GRH
 * @rgid: remote GID
 * @port: port number - 1
 * @sl: service level
 * @sched: bits 1:0 of the scheduling queue byte
 * @sched_hi: bit 7 of it
 */
struct qp_path {
	u8 force_loop, pkey_off, pkey_index, counter, grh, path_bits;
	u16 rlid;
	u8 ack_timeout, sgid_index, static_rate, hop_limit, tclass;
	u32 flow;
	u8 rgid[16];
	u8 port, sl, sched, sched_hi;
};

/**
 * struct qpc - a QP context; field names follow the hardware facts, units as there
 * @state: enum qp_state
 * @service: enum qp_service
 * @pm: path migration state, enum qp_pm_state
 * @pd: protection domain
 * @mtu: IBA MTU code
 * @msg_max: log2 of the longest message
 * @rq_log: log2 of RQ entries
 * @rq_stride: log2 of the RQ entry size, minus 4
 * @sq_log: see @rq_log
 * @sq_stride: see @rq_stride
 * @no_prefetch: SQ
 * @rlkey: may use the reserved L_Key
 * @uar: UAR page
 * @lqpn: local QPN
 * @rqpn: remote QPN
 * @path: primary and alternate
 * @ack_freq: log2 of packets between acknowledge requests
 * @sra: log2 of outstanding reads and atomics as requester
 * @retry: retry count
 * @rnr_retry: RNR retry count, 7 = for ever
 * @frwr: fast register and local invalidate allowed
 * @cur_rnr: retries left
 * @cur_retry: retries left
 * @send_psn: next PSN to send
 * @scqn: CQ of sends
 * @acked_psn: last acknowledged PSN
 * @ssn: send sequence number
 * @rra: log2 of outstanding reads and atomics as responder
 * @rre: remote read enable
 * @rwe: remote write enable
 * @rae: remote atomic enable
 * @page_off: buffer offset, 64-byte units
 * @ric: no flow control credits
 * @min_rnr: RNR timer code
 * @recv_psn: next PSN expected
 * @xrcd: XRC domain
 * @rcqn: CQ of receives
 * @db: doorbell record of the RQ, in units of 4 bytes
 * @qkey: Q_Key
 * @has_srq: receives come from an SRQ
 * @srqn: that SRQ
 * @msn: message sequence number
 * @rq_count: receives taken
 * @sq_count: sends taken
 * @inline_scatter: short payload goes into the receive WQE
 * @log_page: log2 page size - 12
 * @mtt_hi: MTT base
 * @mtt_lo: MTT base
 */
struct qpc {
	u8 state, service, pm;
	u32 pd;
	u8 mtu, msg_max, rq_log, rq_stride, sq_log, sq_stride, no_prefetch, rlkey;
	u32 uar, lqpn, rqpn;
	struct qp_path path[2];
	u8 ack_freq, sra, retry, rnr_retry, frwr, cur_rnr, cur_retry;
	u32 send_psn, scqn, acked_psn, ssn;
	u8 rra, rre, rwe, rae, page_off, ric, min_rnr;
	u32 recv_psn, xrcd, rcqn;
	u64 db;
	u32 qkey;
	u8 has_srq;
	u32 srqn, msn;
	u16 rq_count, sq_count;
	u8 inline_scatter, log_page, mtt_hi;
	u32 mtt_lo;
};

#define QPC_BYTES 248
#define QPC_MBOX_OFF 8		/* the context's place in a mailbox, behind the parameter mask */

/**
 * struct cqc - a CQ context
 * @status: 0 ok, 9 overflow, 10 write failure
 * @timestamps: not used
 * @collapsed: every CQE goes to entry 0
 * @overrun_ignore: no overrun check
 * @state: 6 armed for solicited, 9 armed, 10 fired
 * @page_off: byte offset of entry 0, 32-byte units
 * @log_size: log2 entries
 * @uar: UAR page
 * @period: moderation, us
 * @max_count: moderation, CQEs
 * @eqn: completion EQ
 * @log_page: log2 page size - 12
 * @mtt_hi: MTT base
 * @mtt_lo: MTT base
 * @notified: consumer index of the last arm
 * @solicit: index behind the last solicited CQE
 * @ci: consumer index
 * @pi: producer index
 * @db: doorbell record
 */
struct cqc {
	u8 status, timestamps, collapsed, overrun_ignore, state, page_off, log_size;
	u32 uar;
	u16 period, max_count;
	u8 eqn, log_page, mtt_hi;
	u32 mtt_lo, notified, solicit, ci, pi;
	u64 db;
};

#define CQC_BYTES 64

/**
 * struct srqc - an SRQ context
 * @state: 0 ok, 0xf error
 * @log_size: log2 entries
 * @srqn: number
 * @stride: log2 entry size - 4
 * @xrcd: XRC domain
 * @page_off: buffer offset, 64-byte units
 * @cqn: CQ of an XRC SRQ
 * @log_page: log2 page size - 12
 * @mtt_hi: MTT base
 * @mtt_lo: MTT base
 * @pd: protection domain
 * @limit: limit watermark
 * @wqe_count: receives posted
 * @wqe_counter: receives taken
 * @db: doorbell record
 */
struct srqc {
	u8 state, log_size;
	u32 srqn;
	u8 stride;
	u16 xrcd;
	u8 page_off;
	u32 cqn;
	u8 log_page, mtt_hi;
	u32 mtt_lo, pd;
	u16 limit, wqe_count, wqe_counter;
	u64 db;
};

#define SRQC_BYTES 48

void qpc_unpack(const u8 *raw, struct qpc *c);
void qpc_pack(u8 *raw, const struct qpc *c);
int qpc_first_reserved(const u8 *raw);

extern const struct layout cqc_layout, srqc_layout;

#endif
