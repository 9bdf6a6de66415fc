// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state machine of mlx4_ib's QPs without hardware: which command each transition of the
 * specification is, and every byte of the contexts that are sent, read back by offsets of the
 * hardware's interface.
 *
 * The driver's file is part of this one, under other names: the driver may be there as well.
 */
#define mlx4_cmd		states_cmd
#define mlx4_mailbox_alloc	states_mailbox_alloc
#define mlx4_mailbox_free	states_mailbox_free
#define mlx4_mtt_addr		states_mtt_addr
#define mlx4_ib_closed		states_closed
#define mlx4_ib_port_open	states_port_open
#define mlx4_ib_port_close	states_port_close
#define mlx4_ib_qp_reset	states_qp_reset
#define mlx4_ib_qp_state	states_qp_state
#define mlx4_ib_rate		states_rate
#define mlx4_port_is_ours	states_port_is_ours
#define mlx4_ib_modify_qp	states_modify
#define mlx4_ib_query_qp	states_query

#include "ib_qp_modify.c"

#include <linux/module.h>

#include <ib/client.h>
#include <lastref/kunit.h>

/**
 * struct machine - the hardware, and a QP
 * @op: the last command
 * @in_mod: its modifier
 * @box: its mailbox, kept for a query
 * @fail: what the next command returns
 * @links: ports taken up minus ports taken down
 * @no_link: what taking one up returns
 * @foreign: a port that is not ours
 * @resets: how often the QP's rings were emptied
 * @posters: what who posts saw as the state of the QP during the last command
 * @core: the HCA
 * @dev: the device
 * @attachment: owner of the QP
 * @pd: PD
 * @cq: CQ
 * @qp: QP
 */
struct machine {
	u16 op;
	u32 in_mod;
	u8 box[MLX4_MAILBOX_SIZE];
	int fail;
	int links;
	int no_link;
	u32 foreign;
	int resets;
	enum ib_qp_state posters;
	struct mlx4_dev core;
	struct mlx4_ib_dev dev;
	struct ib_attachment attachment;
	struct mlx4_ib_pd pd;
	struct mlx4_ib_cq cq;
	struct mlx4_ib_qp qp;
};

int states_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	struct machine *m = container_of(dev, struct machine, core);

	m->op = call->op;
	m->in_mod = call->in_mod;
	m->posters = m->qp.state;
	if (call->in)
		memcpy(m->box, call->in->buf, sizeof(m->box));
	if (call->out)
		memcpy(call->out->buf, m->box, sizeof(m->box));
	return m->fail;
}

int states_closed(struct mlx4_ib_dev *dev, struct mlx4_call *call)
{
	return states_cmd(dev->core, call);
}

#include "bare_mailbox.h"

u64 states_mtt_addr(struct mlx4_dev *dev, u32 index)
{
	return 0x1200000000ULL + index * 8;
}

int states_port_open(struct mlx4_ib_dev *dev, u8 port)
{
	struct machine *m = container_of(dev, struct machine, dev);

	m->links += !m->no_link;
	return m->no_link;
}

u8 states_rate(struct mlx4_ib_dev *dev, u8 port, u8 rate)
{
	return rate ? rate + MLX4_RATE_OFFSET : 0;
}

bool states_port_is_ours(const struct mlx4_dev *dev, u32 port)
{
	return port != container_of(dev, const struct machine, core)->foreign;
}

int states_port_close(struct mlx4_ib_dev *dev, u8 port)
{
	container_of(dev, struct machine, dev)->links--;
	return 0;
}

void states_qp_reset(struct mlx4_ib_qp *qp)
{
	container_of(qp, struct machine, qp)->resets++;
}

void states_qp_state(struct mlx4_ib_qp *qp, enum ib_qp_state state)
{
	qp->state = state;
}

static struct machine *machine_make(struct kunit *test, enum ib_qp_type type)
{
	struct machine *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->dev.core = &m->core;
	m->core.dev = lr_test_device(test, "states");
	m->dev.uar_index = 0x81;
	m->attachment.device = &m->dev.ib;
	m->core.caps.log_msg = 31;
	m->core.caps.log_gso = 17;
	m->core.caps.log_rd_req = 7;
	m->core.caps.ports = 2;
	m->core.caps.flags = MLX4_FLAG_APM;
	m->core.caps.log_pkeys[1] = 7;
	m->core.caps.log_pkeys[2] = 4;
	m->core.caps.mtu[1] = IB_MTU_4096;
	m->core.caps.mtu[2] = IB_MTU_2048;
	m->core.caps.rdmarc_size = 32;
	m->core.icm.tables[MLX4_RDMARC].entry = 32 << 4;
	m->pd.pdn = 0x1234;
	m->cq.cqn = 0x456;
	m->qp.number = 0x12345;
	m->qp.sq.count = 64;
	m->qp.sq.log_stride = 7;
	m->qp.rq.count = 32;
	m->qp.rq.log_stride = 5;
	m->qp.buf.mtt = 4;
	m->qp.record.dma = 0xabcd00112200ULL;
	m->qp.ib.object.attachment = &m->attachment;
	m->qp.ib.type = type;
	m->qp.ib.port = 2;
	m->qp.ib.pd = &m->pd.ib;
	m->qp.ib.send_cq = &m->cq.ib;
	m->qp.ib.recv_cq = &m->cq.ib;
	return m;
}

/* Facts 5.13 of the hardware's interface, in its own order. */
static const struct {
	const char *move;
	u16 op;
} commands[] = {
	{ "RESET INIT", 0x19 }, { "INIT RTR", 0x1a }, { "RTR RTS", 0x1b }, { "RTS RTS", 0x1c },
	{ "SQE RTS", 0x1d }, { "RTS SQD", 0x1f }, { "SQD RTS", 0x20 }, { "INIT INIT", 0x2d },
	{ "SQD SQD", 0x38 },
};

static int command_of(enum ib_qp_state from, enum ib_qp_state to)
{
	char move[32];

	if (to == IB_QPS_RESET)
		return 0x21;
	if (to == IB_QPS_ERR)
		return 0x1e;
	snprintf(move, sizeof(move), "%s %s", ib_qp_state_name(from), ib_qp_state_name(to));
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].move, move))
			return commands[i].op;
	return -EINVAL;
}

static void states_commands(struct kunit *test)
{
	static const enum ib_qp_type types[] = {
		IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_XRC_INI,
		IB_QPT_XRC_TGT,
	};
	unsigned int i, from, to, valid = 0;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (from = 0; from < IB_QP_STATES; from++)
			for (to = 0; to < IB_QP_STATES; to++) {
				if (!ib_qp_rule(types[i], from, to).valid)
					continue;
				valid++;
				KUNIT_EXPECT_EQ_MSG(test, move_op(from, to), command_of(from, to),
						    "%s to %s", ib_qp_state_name(from),
						    ib_qp_state_name(to));
			}
	KUNIT_EXPECT_GT(test, valid, 100);
	KUNIT_EXPECT_EQ(test, move_op(IB_QPS_RESET, IB_QPS_RTS), -EINVAL);
}

static u32 word(struct machine *m, unsigned int offset)
{
	return get_unaligned_be32(m->box + 8 + offset);
}

static const struct ib_qp_attr rc_attr = {
	.path_mtu = IB_MTU_2048,
	.qkey = 0x11223344,
	.rq_psn = 0xabcdef,
	.sq_psn = 0x123456,
	.dest_qpn = 0x654321,
	.access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	.ah = {
		.grh = {
			.dgid = { .raw = { 0xfe, 0x80, [15] = 0x99 } },
			.flow_label = 0x54321, .sgid_index = 3, .hop_limit = 64,
			.traffic_class = 0x77,
		},
		.has_grh = true, .dlid = 0x0102, .sl = 5, .path_bits = 6, .static_rate = 2,
		.port = 2,
	},
	.pkey_index = 9,
	.max_rd_atomic = 3,
	.max_dest_rd_atomic = 16,
	.min_rnr_timer = 12,
	.port = 2,
	.timeout = 18,
	.retry_cnt = 6,
	.rnr_retry = 7,
};

#define TO_INIT	(IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)
#define TO_RTR	(IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN | \
		 IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define TO_RTS	(IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | \
		 IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC)

static void states_contexts(struct kunit *test)
{
	struct machine *m = machine_make(test, IB_QPT_RC);
	struct ib_qp *qp = &m->qp.ib;

	KUNIT_ASSERT_EQ(test, states_modify(qp, &rc_attr, TO_INIT, IB_QPS_RESET, IB_QPS_INIT,
					    NULL), 0);
	KUNIT_EXPECT_EQ(test, m->op, 0x19);
	KUNIT_EXPECT_EQ(test, m->in_mod, 0x12345);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(m->box), 0x1e);	/* RRE RAE RWE P_Key */
	KUNIT_EXPECT_EQ(test, word(m, 0x00), 0x10001800);	/* INIT, RC, migrated */
	KUNIT_EXPECT_EQ(test, word(m, 0x04), 0x1234);
	KUNIT_EXPECT_EQ(test, word(m, 0x08) & 0xffff, 0x3310);	/* 64 of 128 bytes, own L_Key */
	KUNIT_EXPECT_EQ(test, word(m, 0x08) >> 16 & 0xff, 0x29);	/* 32 of 32 bytes */
	KUNIT_EXPECT_EQ(test, word(m, 0x0c), 0x81);
	KUNIT_EXPECT_EQ(test, word(m, 0x10), 0x12345);
	KUNIT_EXPECT_EQ(test, word(m, 0x18) & 0x7f, 9);
	KUNIT_EXPECT_EQ(test, word(m, 0x70), 0x80000800);	/* ACK frequency, fast register */
	KUNIT_EXPECT_EQ(test, word(m, 0x7c), 0x456);
	/* No reads before some can be answered. */
	KUNIT_EXPECT_EQ(test, word(m, 0x90), BIT(14));
	KUNIT_EXPECT_EQ(test, word(m, 0x9c), 0x456);
	KUNIT_EXPECT_EQ(test, word(m, 0xa0), 0xabcd);
	KUNIT_EXPECT_EQ(test, word(m, 0xa4), 0x00112200);
	KUNIT_EXPECT_EQ(test, word(m, 0xc8) & 0xff, 0x12);
	KUNIT_EXPECT_EQ(test, word(m, 0xcc), 32);

	KUNIT_ASSERT_EQ(test, states_modify(qp, &rc_attr, TO_RTR, IB_QPS_INIT, IB_QPS_RTR, NULL),
			0);
	KUNIT_EXPECT_EQ(test, m->op, 0x1a);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(m->box), 0x102ce);
	KUNIT_EXPECT_EQ(test, word(m, 0x00) >> 28, 2);
	KUNIT_EXPECT_EQ(test, word(m, 0x08) >> 24, 0x9f);	/* MTU 4, messages of 2^31 */
	KUNIT_EXPECT_EQ(test, word(m, 0x14), 0x654321);
	KUNIT_EXPECT_EQ(test, word(m, 0x18 + 4), 0xff860102);	/* GRH, path bits, LID */
	KUNIT_EXPECT_EQ(test, word(m, 0x18 + 8), 0x00030740);	/* GID index, rate, hops */
	KUNIT_EXPECT_EQ(test, word(m, 0x18 + 12), 0x07754321);
	KUNIT_EXPECT_EQ(test, m->box[8 + 0x18 + 16], 0xfe);
	KUNIT_EXPECT_EQ(test, m->box[8 + 0x18 + 31], 0x99);
	KUNIT_EXPECT_EQ(test, m->box[8 + 0x18 + 32], 0x83 | BIT(6) | 5 << 2);
	KUNIT_EXPECT_EQ(test, word(m, 0x90), 4 << 21 | BIT(15) | BIT(14));
	KUNIT_EXPECT_EQ(test, word(m, 0x94), 12 << 24 | 0xabcdef);

	KUNIT_ASSERT_EQ(test, states_modify(qp, &rc_attr, TO_RTS, IB_QPS_RTR, IB_QPS_RTS, NULL), 0);
	KUNIT_EXPECT_EQ(test, m->op, 0x1b);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(m->box), 0x7100);
	KUNIT_EXPECT_EQ(test, m->box[8 + 0x18 + 8], 18 << 3);
	KUNIT_EXPECT_EQ(test, word(m, 0x70), 0x80000800 | 2 << 21 | 6 << 16 | 7 << 13);
	KUNIT_EXPECT_EQ(test, word(m, 0x78), 0x123456);
}

/* What was sent, all of it at once, comes back from a query. */
static void states_query_reads_it(struct kunit *test)
{
	struct machine *m = machine_make(test, IB_QPT_RC);
	struct ib_qp_attr attr = {};

	KUNIT_ASSERT_EQ(test, states_query(&m->qp.ib, &attr, ~0u), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, m->op, 0);	/* the HCA was not asked */
	KUNIT_ASSERT_EQ(test, states_modify(&m->qp.ib, &rc_attr,
					    TO_INIT | TO_RTR | TO_RTS | IB_QP_QKEY, IB_QPS_RTR,
					    IB_QPS_RTS, NULL), 0);
	KUNIT_ASSERT_EQ(test, states_query(&m->qp.ib, &attr, ~0u), 0);
	KUNIT_EXPECT_EQ(test, m->op, 0x22);
	KUNIT_EXPECT_EQ(test, attr.state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, rc_attr.path_mtu);
	KUNIT_EXPECT_EQ(test, attr.qkey, rc_attr.qkey);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, rc_attr.rq_psn);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, rc_attr.sq_psn);
	KUNIT_EXPECT_EQ(test, attr.dest_qpn, rc_attr.dest_qpn);
	KUNIT_EXPECT_EQ(test, attr.access_flags, rc_attr.access_flags);
	KUNIT_EXPECT_EQ(test, attr.pkey_index, rc_attr.pkey_index);
	KUNIT_EXPECT_EQ(test, attr.port, rc_attr.port);
	KUNIT_EXPECT_EQ(test, attr.timeout, rc_attr.timeout);
	KUNIT_EXPECT_EQ(test, attr.retry_cnt, rc_attr.retry_cnt);
	KUNIT_EXPECT_EQ(test, attr.rnr_retry, rc_attr.rnr_retry);
	KUNIT_EXPECT_EQ(test, attr.min_rnr_timer, rc_attr.min_rnr_timer);
	KUNIT_EXPECT_EQ(test, attr.max_dest_rd_atomic, rc_attr.max_dest_rd_atomic);
	KUNIT_EXPECT_EQ(test, attr.max_rd_atomic, 4);	/* rounded up to a power of two */
	KUNIT_EXPECT_EQ(test, attr.path_mig_state, IB_MIG_MIGRATED);
	KUNIT_EXPECT_EQ(test, attr.ah.dlid, rc_attr.ah.dlid);
	KUNIT_EXPECT_EQ(test, attr.ah.sl, rc_attr.ah.sl);
	KUNIT_EXPECT_EQ(test, attr.ah.path_bits, rc_attr.ah.path_bits);
	KUNIT_EXPECT_EQ(test, attr.ah.static_rate, rc_attr.ah.static_rate);
	KUNIT_EXPECT_EQ(test, memcmp(&attr.ah.grh, &rc_attr.ah.grh, sizeof(attr.ah.grh)), 0);
	m->box[8] = 0x70;
	KUNIT_ASSERT_EQ(test, states_query(&m->qp.ib, &attr, ~0u), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_QPS_SQD);
	KUNIT_EXPECT_TRUE(test, attr.sq_draining);
}

static int move(struct machine *m, enum ib_qp_state from, enum ib_qp_state to)
{
	static const struct ib_qp_attr attr = { .qkey = 5 };

	return states_modify(&m->qp.ib, &attr, IB_QP_STATE, from, to, NULL);
}

/* QP0 takes the link up and down, once each; a command that fails changes nothing. */
static void states_link(struct kunit *test)
{
	struct machine *m = machine_make(test, IB_QPT_SMI);

	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_RESET, IB_QPS_INIT), 0);
	KUNIT_EXPECT_EQ(test, word(m, 0x00) >> 16 & 0xff, 7);
	KUNIT_EXPECT_EQ(test, m->links, 0);
	m->fail = -EIO;
	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_INIT, IB_QPS_RTR), -EIO);
	KUNIT_EXPECT_EQ(test, m->links, 0);
	m->fail = 0;
	m->no_link = -EBUSY;
	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_INIT, IB_QPS_RTR), 0);
	KUNIT_EXPECT_EQ(test, m->box[8 + 0x18 + 32], 0x3f | BIT(6));
	KUNIT_EXPECT_EQ(test, word(m, 0x08) >> 24, 5 << 5 | 11);
	/* The link did not come up, which is not the QP's fault, and does with the next step. */
	KUNIT_EXPECT_EQ(test, m->qp.state, IB_QPS_RTR);
	KUNIT_EXPECT_EQ(test, m->links, 0);
	m->no_link = 0;
	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_RTR, IB_QPS_RTS), 0);
	KUNIT_EXPECT_EQ(test, m->links, 1);
	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_RTS, IB_QPS_ERR), 0);
	KUNIT_EXPECT_EQ(test, m->links, 0);
	m->fail = -EIO;
	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_ERR, IB_QPS_RESET), -EIO);
	KUNIT_EXPECT_EQ(test, m->resets, 0);
	/* Nobody posts to a QP that is being reset, and all may when it was not. */
	KUNIT_EXPECT_EQ(test, m->posters, IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, m->qp.state, IB_QPS_ERR);
	m->fail = 0;
	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_ERR, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, m->op, 0x21);
	KUNIT_EXPECT_EQ(test, m->resets, 1);
	/* What the HCA does not know need not be taken from it. */
	m->op = 0;
	KUNIT_EXPECT_EQ(test, move(m, IB_QPS_RESET, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, m->op, 0);
}

/**
 * struct offer - one value too many, or the last that is allowed
 * @mask: IB_QP_*
 * @attr: the value
 * @err: what comes of it
 */
struct offer {
	u32 mask;
	struct ib_qp_attr attr;
	int err;
};

/* Port 1 has 128 P_Keys and an MTU of 4096, port 2, where the QP is, 16 and 2048. */
static const struct offer offers[] = {
	{ IB_QP_MAX_DEST_RD_ATOMIC, { .max_dest_rd_atomic = 16 } },
	{ IB_QP_MAX_DEST_RD_ATOMIC, { .max_dest_rd_atomic = 17 }, -EINVAL },
	{ IB_QP_MAX_QP_RD_ATOMIC, { .max_rd_atomic = 128 } },
	{ IB_QP_MAX_QP_RD_ATOMIC, { .max_rd_atomic = 129 }, -EINVAL },
	{ IB_QP_PKEY_INDEX, { .pkey_index = 15 } },
	{ IB_QP_PKEY_INDEX, { .pkey_index = 16 }, -EINVAL },
	{ IB_QP_PKEY_INDEX, { .pkey_index = 128 }, -EINVAL },	/* as long as the field */
	{ IB_QP_PKEY_INDEX, { .pkey_index = 0x8000 }, -EINVAL },
	{ IB_QP_PKEY_INDEX | IB_QP_PORT, { .pkey_index = 127, .port = 1 } },
	{ IB_QP_PKEY_INDEX | IB_QP_PORT, { .pkey_index = 128, .port = 1 }, -EINVAL },
	{ IB_QP_PKEY_INDEX | IB_QP_AV, { .pkey_index = 127, .ah = { .port = 1 } } },
	{ IB_QP_PORT, { .port = 0 }, -EINVAL },
	{ IB_QP_PORT, { .port = 3 }, -EINVAL },
	{ IB_QP_PATH_MTU, { .path_mtu = IB_MTU_2048 } },
	{ IB_QP_PATH_MTU, { .path_mtu = IB_MTU_4096 }, -EINVAL },
	{ IB_QP_PATH_MTU | IB_QP_AV, { .path_mtu = IB_MTU_4096, .ah = { .port = 1 } } },
	{ IB_QP_ALT_PATH, { .alt_port = 1, .alt_pkey_index = 127, .alt_ah = { .port = 1 } } },
	{ IB_QP_ALT_PATH, { .alt_port = 1, .alt_pkey_index = 128, .alt_ah = { .port = 1 } },
	  -EINVAL },
	{ IB_QP_ALT_PATH, { .alt_port = 2, .alt_pkey_index = 16, .alt_ah = { .port = 2 } },
	  -EINVAL },
	{ IB_QP_ALT_PATH, { .alt_port = 3 }, -EINVAL },
	{ IB_QP_RATE_LIMIT, { .rate_limit = 1 }, -EOPNOTSUPP },
};

static int offer(struct machine *m, const struct offer *o)
{
	m->op = 0;
	return states_modify(&m->qp.ib, &o->attr, o->mask, IB_QPS_SQD, IB_QPS_SQD, NULL);
}

/* What is refused is not sent. */
static void states_refused(struct kunit *test)
{
	struct machine *m = machine_make(test, IB_QPT_RC);
	struct offer o;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offers); i++) {
		KUNIT_EXPECT_EQ_MSG(test, offer(m, &offers[i]), offers[i].err, "line %u", i);
		KUNIT_EXPECT_EQ_MSG(test, !m->op, !!offers[i].err, "line %u", i);
	}
	/* A port that is another protocol's, and an HCA whose QPs cannot move. */
	m->foreign = 1;
	o = (struct offer){ IB_QP_PORT, { .port = 1 } };
	KUNIT_EXPECT_EQ(test, offer(m, &o), -EINVAL);
	o = (struct offer){ IB_QP_ALT_PATH, { .alt_port = 2, .alt_ah = { .port = 2 } } };
	KUNIT_EXPECT_EQ(test, offer(m, &o), 0);
	m->core.caps.flags = 0;
	KUNIT_EXPECT_EQ(test, offer(m, &o), -EOPNOTSUPP);
	o = (struct offer){ IB_QP_PATH_MIG_STATE, { .path_mig_state = IB_MIG_REARM } };
	KUNIT_EXPECT_EQ(test, offer(m, &o), -EOPNOTSUPP);
}

static struct kunit_case states_cases[] = {
	KUNIT_CASE(states_commands),
	KUNIT_CASE(states_contexts),
	KUNIT_CASE(states_query_reads_it),
	KUNIT_CASE(states_link),
	KUNIT_CASE(states_refused),
	{}
};

static struct kunit_suite states_suite = {
	.name = "mlx4_states",
	LR_SUITE_HOOKS,
	.test_cases = states_cases,
};

kunit_test_suite(states_suite);

MODULE_DESCRIPTION("LastRef: KUnit tests of mlx4_ib's QP states");
MODULE_LICENSE("GPL");
