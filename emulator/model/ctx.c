// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts of the QP, CQ and SRQ contexts; see ctx.h.
 */
#include "ctx.h"

#define Q(member, byte, msb, lsb) FIELD(struct qpc, member, byte, msb, lsb)
#define A(member, byte, msb, lsb) FIELD(struct qp_path, member, byte, msb, lsb)
#define C(member, byte, msb, lsb) FIELD(struct cqc, member, byte, msb, lsb)
#define S(member, byte, msb, lsb) FIELD(struct srqc, member, byte, msb, lsb)

#define RQ_SIZE 0x09
#define PATH_PRIMARY 0x18
#define PATH_ALTERNATE 0x44

static const struct field path_fields[] = {
	A(force_loop, 0, 31, 31), A(pkey_off, 0, 14, 14), A(pkey_index, 0, 6, 0),
	A(counter, 4, 31, 24), A(grh, 4, 23, 23), A(path_bits, 4, 22, 16), A(rlid, 4, 15, 0),
	A(ack_timeout, 8, 31, 27), A(sgid_index, 8, 22, 16), A(static_rate, 8, 15, 8),
	A(hop_limit, 8, 7, 0), A(tclass, 12, 27, 20), A(flow, 12, 19, 0),
	FIELD_RAW(struct qp_path, rgid, 16), A(sched_hi, 32, 31, 31), A(port, 32, 30, 30),
	A(sl, 32, 29, 26), A(sched, 32, 25, 24),
};

static const struct layout path_layout = LAYOUT(path_fields, 44);

static const struct field qpc_fields[] = {
	Q(state, 0x00, 31, 28), Q(service, 0x00, 23, 16), Q(pm, 0x00, 12, 11),
	Q(pd, 0x04, 23, 0), Q(mtu, 0x08, 31, 29), Q(msg_max, 0x08, 28, 24),
	Q(rq_log, 0x08, 22, 19), Q(rq_stride, 0x08, 18, 16), Q(no_prefetch, 0x08, 15, 15),
	Q(sq_log, 0x08, 14, 11), Q(sq_stride, 0x08, 10, 8), Q(rlkey, 0x08, 4, 4),
	Q(uar, 0x0c, 23, 0), Q(lqpn, 0x10, 23, 0), Q(rqpn, 0x14, 23, 0),
	Q(ack_freq, 0x70, 31, 28), Q(sra, 0x70, 23, 21), Q(retry, 0x70, 18, 16),
	Q(rnr_retry, 0x70, 15, 13), Q(frwr, 0x70, 11, 11), Q(cur_rnr, 0x70, 10, 8),
	Q(cur_retry, 0x70, 7, 5), Q(send_psn, 0x78, 23, 0), Q(scqn, 0x7c, 23, 0),
	Q(acked_psn, 0x88, 23, 0), Q(ssn, 0x8c, 23, 0), Q(rra, 0x90, 23, 21),
	Q(rre, 0x90, 15, 15), Q(rwe, 0x90, 14, 14), Q(rae, 0x90, 13, 13),
	Q(page_off, 0x90, 11, 6), Q(ric, 0x90, 4, 4), Q(min_rnr, 0x94, 28, 24),
	Q(recv_psn, 0x94, 23, 0), Q(xrcd, 0x98, 15, 0), Q(rcqn, 0x9c, 23, 0),
	FIELD64(struct qpc, db, 0xa0), Q(qkey, 0xa8, 31, 0), Q(has_srq, 0xac, 24, 24),
	Q(srqn, 0xac, 23, 0), Q(msn, 0xb0, 23, 0), Q(rq_count, 0xb4, 31, 16),
	Q(sq_count, 0xb4, 15, 0), Q(inline_scatter, 0xc0, 25, 25), Q(log_page, 0xc8, 29, 24),
	Q(mtt_hi, 0xc8, 7, 0), Q(mtt_lo, 0xcc, 31, 0),
};

static const struct layout qpc_layout = LAYOUT(qpc_fields, QPC_BYTES);

static const struct field cqc_fields[] = {
	C(status, 0x00, 31, 28), C(timestamps, 0x00, 19, 19), C(collapsed, 0x00, 18, 18),
	C(overrun_ignore, 0x00, 17, 17),
	C(state, 0x00, 11, 8), C(page_off, 0x08, 11, 5), C(log_size, 0x0c, 28, 24),
	C(uar, 0x0c, 23, 0), C(period, 0x10, 31, 16), C(max_count, 0x10, 15, 0),
	C(eqn, 0x14, 7, 0), C(log_page, 0x18, 29, 24), C(mtt_hi, 0x18, 7, 0),
	C(mtt_lo, 0x1c, 31, 0), C(notified, 0x20, 23, 0), C(solicit, 0x24, 23, 0),
	C(ci, 0x28, 23, 0), C(pi, 0x2c, 23, 0), FIELD64(struct cqc, db, 0x38),
};

const struct layout cqc_layout = LAYOUT(cqc_fields, CQC_BYTES);

static const struct field srqc_fields[] = {
	S(state, 0, 31, 28), S(log_size, 0, 27, 24), S(srqn, 0, 23, 0), S(stride, 4, 26, 24),
	S(xrcd, 4, 15, 0), S(page_off, 8, 29, 24), S(cqn, 8, 23, 0), S(log_page, 16, 29, 24),
	S(mtt_hi, 16, 7, 0), S(mtt_lo, 20, 31, 0), S(pd, 24, 23, 0), S(limit, 28, 31, 16),
	S(wqe_count, 28, 15, 0), S(wqe_counter, 32, 15, 0), FIELD64(struct srqc, db, 40),
};

const struct layout srqc_layout = LAYOUT(srqc_fields, SRQC_BYTES);

/**
 * qpc_unpack - read a QP context
 * @raw: QPC_BYTES bytes
 * @c: filled
 */
void qpc_unpack(const u8 *raw, struct qpc *c)
{
	layout_unpack(&qpc_layout, raw, c);
	layout_unpack(&path_layout, raw + PATH_PRIMARY, &c->path[0]);
	layout_unpack(&path_layout, raw + PATH_ALTERNATE, &c->path[1]);
}

/**
 * qpc_pack - write a QP context
 * @raw: QPC_BYTES bytes, zeroed by the caller
 * @c: the context
 */
void qpc_pack(u8 *raw, const struct qpc *c)
{
	layout_pack(&qpc_layout, raw, c);
	layout_pack(&path_layout, raw + PATH_PRIMARY, &c->path[0]);
	layout_pack(&path_layout, raw + PATH_ALTERNATE, &c->path[1]);
}

/**
 * qpc_first_reserved - where is a bit set that means nothing to an InfiniBand QP?
 * @raw: QPC_BYTES bytes as software wrote them
 *
 * That includes what only Ethernet ports have: VLAN, MAC address, link type.
 *
 * Return: offset of the first such byte, or -1 if there is none.
 */
int qpc_first_reserved(const u8 *raw)
{
	static const u8 paths[] = { PATH_PRIMARY, PATH_ALTERNATE };
	u8 rest[QPC_BYTES];
	int at;
	u32 i;

	memcpy(rest, raw, sizeof(rest));
	/* sizes of an RQ: any value when there is none, as in-tree's -4 */
	rest[RQ_SIZE] = 0;
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		memset(rest + paths[i], 0, path_layout.bytes);
		at = layout_first_reserved(&path_layout, raw + paths[i]);
		if (at >= 0)
			return paths[i] + at;
	}
	return layout_first_reserved(&qpc_layout, rest);
}
