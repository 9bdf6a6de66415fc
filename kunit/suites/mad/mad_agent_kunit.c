// SPDX-License-Identifier: GPL-2.0-only
/*
 * MAD agents: what is refused, who gets which unsolicited MAD, what becomes of the rest.
 */
#include <linux/module.h>

#include "mad_bench.h"

struct refusal {
	const char *what;
	void (*spoil)(struct ib_mad_agent_init *init);
	int err;
};

static void no_port(struct ib_mad_agent_init *i)
{
	i->port = 0;
}

static void third_port(struct ib_mad_agent_init *i)
{
	i->port = 3;
}

static void qp_two(struct ib_mad_agent_init *i)
{
	i->qpn = 2;
}

static void smp_on_qp1(struct ib_mad_agent_init *i)
{
	i->class = IB_CLASS_SMP;
}

static void sa_on_qp0(struct ib_mad_agent_init *i)
{
	i->qpn = 0;
}

static void version_too_high(struct ib_mad_agent_init *i)
{
	i->class_version = 0x83;
}

static void class_too_high(struct ib_mad_agent_init *i)
{
	i->class = 0x50;
}

static void rmpp_two(struct ib_mad_agent_init *i)
{
	i->rmpp = 2;
}

static void rmpp_without_header(struct ib_mad_agent_init *i)
{
	i->class = IB_CLASS_PERF;
	i->rmpp = 1;
}

static void own_rmpp_without_header(struct ib_mad_agent_init *i)
{
	i->class = IB_CLASS_PERF;
	i->rmpp = 1;
	i->user_rmpp = true;
}

static void vendor_without_oui(struct ib_mad_agent_init *i)
{
	i->class = 0x32;
}

static void oui_too_long(struct ib_mad_agent_init *i)
{
	i->class = 0x32;
	i->oui = 0x1000000;
}

static void methods_without_class(struct ib_mad_agent_init *i)
{
	i->class = 0;
}

static void methods_without_recv(struct ib_mad_agent_init *i)
{
	i->recv = NULL;
}

static void user_rmpp_without_class(struct ib_mad_agent_init *i)
{
	bitmap_zero(i->methods, IB_METHODS);
	i->class = 0;
	i->user_rmpp = true;
}

static const struct refusal refusals[] = {
	{ "no port", no_port, -EPROTONOSUPPORT },
	{ "third port", third_port, -EPROTONOSUPPORT },
	{ "QP 2", qp_two, -EINVAL },
	{ "SMP on QP1", smp_on_qp1, -EINVAL },
	{ "SA on QP0", sa_on_qp0, -EINVAL },
	{ "class version 0x83", version_too_high, -EINVAL },
	{ "class 0x50", class_too_high, -EINVAL },
	{ "RMPP 2", rmpp_two, -EINVAL },
	{ "RMPP for a class without", rmpp_without_header, -EINVAL },
	{ "one's own RMPP for a class without", own_rmpp_without_header, -EINVAL },
	{ "vendor without OUI", vendor_without_oui, -EINVAL },
	{ "OUI of 25 bits", oui_too_long, -EINVAL },
	{ "methods without a class", methods_without_class, -EINVAL },
	{ "methods without recv", methods_without_recv, -EINVAL },
	{ "user RMPP without a class", user_rmpp_without_class, -EINVAL },
};

static void senseless_agents_are_refused(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent_init init;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		mad_init_agent(mb, &init, 1, IB_CLASS_SA);
		mad_init_methods(&init, IB_METHOD_GET, 0);
		refusals[i].spoil(&init);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(ib_mad_agent_create(mb->b->attachment, &init)),
				    refusals[i].err, "%s", refusals[i].what);
	}
	mad_init_agent(mb, &init, 1, IB_CLASS_SA);
	mad_init_methods(&init, IB_METHOD_GET, 0);
	ib_mad_agent_destroy(mad_agent(mb, &init));
}

static void ports_without_qps_have_no_agents(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_create(test, "lr-mad");
	struct ib_mad_agent_init init;

	mb->b->vf.mads = false;
	bench_bind(mb->b);
	mad_init_agent(mb, &init, 1, IB_CLASS_SA);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mad_agent_create(mb->b->attachment, &init)),
			-EPROTONOSUPPORT);
	KUNIT_EXPECT_EQ(test, vfake_calls(&mb->b->vf, VFAKE_CREATE_QP), 0);
}

/* B22: every port of a host offers SMI agents, and a refusal of one method refuses all. */
static void a_method_has_one_agent(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *a, *b, *c, *d;
	struct ib_mad_agent_init init;

	mad_init_agent(mb, &init, 0, IB_CLASS_SMP_DR);
	mad_init_methods(&init, IB_METHOD_GET, IB_METHOD_SET, IB_METHOD_TRAP,
			 IB_METHOD_TRAP_REPRESS, 0);
	a = mad_agent(mb, &init);
	/* The other SMI class and the other port are others' places. */
	init.class = IB_CLASS_SMP;
	b = mad_agent(mb, &init);
	init.class = IB_CLASS_SMP_DR;
	init.port = 2;
	c = mad_agent(mb, &init);
	init.port = 1;
	bitmap_zero(init.methods, IB_METHODS);
	mad_init_methods(&init, IB_METHOD_REPORT, IB_METHOD_TRAP, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_mad_agent_create(mb->b->attachment, &init)), -EINVAL);
	/* What could be had of it was given back. */
	bitmap_zero(init.methods, IB_METHODS);
	mad_init_methods(&init, IB_METHOD_REPORT, 0);
	d = mad_agent(mb, &init);
	ib_mad_agent_destroy(a);
	mad_init_methods(&init, IB_METHOD_TRAP, 0);
	ib_mad_agent_destroy(d);
	d = mad_agent(mb, &init);
	ib_mad_agent_destroy(b);
	ib_mad_agent_destroy(c);
	ib_mad_agent_destroy(d);
}

static void agents_that_only_ask_never_conflict(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agents[64];
	struct ib_mad_agent_init init;
	unsigned int i, j;

	mad_init_agent(mb, &init, 1, IB_CLASS_SA);
	for (i = 0; i < ARRAY_SIZE(agents); i++)
		agents[i] = mad_agent(mb, &init);
	for (i = 0; i < ARRAY_SIZE(agents); i++) {
		KUNIT_EXPECT_GT(test, agents[i]->hi_tid, 0U);
		KUNIT_EXPECT_LE(test, agents[i]->hi_tid, 0xffffffU);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, agents[i]->hi_tid, agents[j]->hi_tid);
	}
	for (i = 0; i < ARRAY_SIZE(agents); i++)
		ib_mad_agent_destroy(agents[i]);
}

static void expect_at(struct mad_bench *mb, struct ib_mad_agent *agent, const u8 *mad, int count)
{
	atomic_set(&mb->received, 0);
	mb->received_by = NULL;
	mad_arrive(mb, agent->init.qpn, mad);
	KUNIT_EXPECT_TRUE(mb->test, LR_WAIT(atomic_read(&mb->received) == count, 1000));
	KUNIT_EXPECT_PTR_EQ(mb->test, mb->received_by, agent);
}

/* All 128 methods of a class, for two vendors at once. */
static void a_server_gets_every_method(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct mad_head head = { .class = 0x32 };
	struct ib_mad_agent_init init;
	struct ib_mad_agent *one, *two;
	u8 mad[IB_MAD_SIZE] = {};
	unsigned int method;

	mad_init_agent(mb, &init, 1, 0x32);
	bitmap_fill(init.methods, IB_METHODS);
	one = mad_agent(mb, &init);
	init.oui = MAD_OUI_2;
	two = mad_agent(mb, &init);
	for (method = 0; method < IB_METHODS; method++) {
		/* That one is a response, whoever wants it. */
		if (method == IB_METHOD_TRAP_REPRESS)
			continue;
		head.method = method;
		mad_write_head(mad, &head);
		expect_at(mb, one, mad, 1);
		ib_put(mad, IB_VENDOR2_OUI, MAD_OUI_2);
		expect_at(mb, two, mad, 1);
	}
	ib_mad_agent_destroy(one);
	ib_mad_agent_destroy(two);
	KUNIT_EXPECT_EQ(test, mad_on_wire(mb), 0U);
}

static void expect_refused(struct mad_bench *mb, u8 qpn, const u8 *mad, u16 status)
{
	struct vfake_mad *m;

	mad_arrive(mb, qpn, mad);
	mad_settle();
	m = vfake_take(&mb->b->vf);
	if (!status) {
		KUNIT_EXPECT_PTR_EQ(mb->test, m, NULL);
		kfree(m);
		return;
	}
	KUNIT_ASSERT_NOT_NULL(mb->test, m);
	KUNIT_EXPECT_EQ(mb->test, ib_get(m->mad, IB_MAD_METHOD), IB_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(mb->test, ib_get(m->mad, IB_MAD_STATUS), status);
	KUNIT_EXPECT_EQ(mb->test, ib_get(m->mad, IB_MAD_TID), ib_get(mad, IB_MAD_TID));
	KUNIT_EXPECT_EQ(mb->test, m->to.dlid, MAD_PEER_LID);
	KUNIT_EXPECT_EQ(mb->test, m->dqpn, qpn);
	kfree(m);
}

static void what_nobody_wants_is_refused(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, IB_CLASS_PERF);
	struct mad_head head = { .class = IB_CLASS_DM, .tid = 0x1234567800000009ULL };
	u8 mad[IB_MAD_SIZE] = {};

	head.method = IB_METHOD_GET;
	mad_write_head(mad, &head);
	expect_refused(mb, 1, mad, IB_STATUS_BAD_METHOD_ATTRIBUTE);
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_SET);
	expect_refused(mb, 1, mad, IB_STATUS_BAD_METHOD_ATTRIBUTE);
	/* Nobody waits for an answer to these. */
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_SEND);
	expect_refused(mb, 1, mad, 0);
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	expect_refused(mb, 1, mad, 0);
	/* Wrong base version; an SMP by QP1; another class by QP0; CM that is no Send. */
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_GET);
	ib_put(mad, IB_MAD_BASE, 2);
	expect_refused(mb, 1, mad, 0);
	ib_put(mad, IB_MAD_BASE, 1);
	expect_refused(mb, 0, mad, 0);
	ib_put(mad, IB_MAD_CLASS, IB_CLASS_SMP);
	expect_refused(mb, 1, mad, 0);
	expect_refused(mb, 0, mad, IB_STATUS_BAD_METHOD_ATTRIBUTE);
	ib_put(mad, IB_MAD_CLASS, IB_CLASS_CM);
	expect_refused(mb, 1, mad, 0);
	/* The agent's class, but not its version. */
	ib_put(mad, IB_MAD_CLASS, 0x0a);
	expect_refused(mb, 1, mad, IB_STATUS_BAD_METHOD_ATTRIBUTE);
	KUNIT_EXPECT_EQ(test, atomic_read(&mb->received), 0);
	ib_mad_agent_destroy(agent);
}

/* The address of a received MAD is the one that an answer needs. */
static void an_answer_finds_its_way(struct kunit *test)
{
	struct mad_bench *mb = mad_bench_up(test, "lr-mad");
	struct ib_mad_agent *agent = mad_agent_simple(mb, 1, 0x0a);
	struct ib_wc wc = {
		.slid = 0x77, .src_qp = 0x1234, .sl = 3, .pkey_index = 1, .port = 1,
		.flags = IB_WC_GRH,
	};
	struct mad_head head = { .class = 0x0a, .method = IB_METHOD_GET, .tid = 5 };
	union ib_gid peer = { .raw = { 0xfe, 0x80, [15] = 9 } };
	u8 packet[IB_GRH_SIZE + IB_MAD_SIZE] = {};
	struct vfake_mad *m;

	mb->serve = true;
	memcpy(packet + IB_GRH_SGID, &peer, sizeof(peer));
	memcpy(packet + IB_GRH_DGID, &mb->b->vf.gids[0][0], sizeof(peer));
	ib_put(packet, IB_GRH_FLOW_LABEL, 0x12345);
	ib_put(packet, IB_GRH_TCLASS, 0x67);
	mad_write_head(packet + IB_GRH_SIZE, &head);
	KUNIT_ASSERT_TRUE(test, vfake_deliver(&mb->b->vf, &wc, 1, packet));
	KUNIT_ASSERT_TRUE(test, LR_WAIT(atomic_read(&mb->done) == 1, 1000));
	m = vfake_take(&mb->b->vf);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, m->to.dlid, 0x77);
	KUNIT_EXPECT_EQ(test, m->to.sl, 3);
	KUNIT_EXPECT_EQ(test, m->dqpn, 0x1234U);
	KUNIT_EXPECT_EQ(test, m->qkey, (u32)IB_QP1_QKEY);
	KUNIT_EXPECT_EQ(test, m->pkey_index, 1);
	KUNIT_EXPECT_TRUE(test, m->to.has_grh);
	KUNIT_EXPECT_MEMEQ(test, &m->to.grh.dgid, &peer, sizeof(peer));
	KUNIT_EXPECT_EQ(test, m->to.grh.sgid_index, 0);
	KUNIT_EXPECT_EQ(test, m->to.grh.flow_label, 0x12345U);
	KUNIT_EXPECT_EQ(test, m->to.grh.traffic_class, 0x67);
	KUNIT_EXPECT_EQ(test, ib_get(m->mad, IB_MAD_TID), 5U);
	kfree(m);
	ib_mad_agent_destroy(agent);
}

/* Round trips of the packer over the layouts' own bounds. */
static void fields_leave_their_neighbours_alone(struct kunit *test)
{
	u8 mad[IB_MAD_SIZE];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		memset(mad, i ? 0xff : 0, sizeof(mad));
		ib_put(mad, IB_RMPP_FLAGS, 5);
		ib_put(mad, IB_RMPP_RESP_TIME, 0x12);
		KUNIT_EXPECT_EQ(test, mad[26], 0x12 << 3 | 5);
		KUNIT_EXPECT_EQ(test, mad[25], i ? 0xff : 0);
		KUNIT_EXPECT_EQ(test, mad[27], i ? 0xff : 0);
		ib_put(mad, IB_VENDOR2_OUI, 0x123456);
		KUNIT_EXPECT_EQ(test, mad[36], i ? 0xff : 0);
		KUNIT_EXPECT_EQ(test, mad[37], 0x12);
		KUNIT_EXPECT_EQ(test, mad[39], 0x56);
		ib_put(mad, IB_MAD_TID, 0x0102030405060708ULL);
		KUNIT_EXPECT_EQ(test, ib_get(mad, IB_MAD_TID_HI), 0x01020304U);
		KUNIT_EXPECT_EQ(test, ib_get(mad, IB_MAD_TID_LO), 0x05060708U);
	}
}

static struct kunit_case agent_cases[] = {
	KUNIT_CASE(senseless_agents_are_refused),
	KUNIT_CASE(ports_without_qps_have_no_agents),
	KUNIT_CASE(a_method_has_one_agent),
	KUNIT_CASE(agents_that_only_ask_never_conflict),
	KUNIT_CASE(a_server_gets_every_method),
	KUNIT_CASE(what_nobody_wants_is_refused),
	KUNIT_CASE(an_answer_finds_its_way),
	KUNIT_CASE(fields_leave_their_neighbours_alone),
	{}
};

static struct kunit_suite agent_suite = {
	.name = "ib_mad_agents",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = agent_cases,
};

kunit_test_suite(agent_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Who gets which MAD");
