// SPDX-License-Identifier: GPL-2.0-only
/*
 * SA records on the wire: each against bytes that were written down by hand from the specification
 * (IBA 13.4.8.1, 15.2.5), and there and back with every bit.
 */
#include <linux/module.h>
#include <linux/random.h>

#include <ib/sa.h>
#include <lastref/kunit.h>

#define WIRE_MAX 200

/* What the packer must not touch is this. */
#define UNTOUCHED 0xa5

static void expect_wire(struct kunit *test, enum ib_sa_attr attr, const union ib_sa_record *record,
			const u8 *expected, size_t len)
{
	union ib_sa_record back;
	u8 wire[WIRE_MAX];
	size_t i;

	KUNIT_ASSERT_EQ(test, ib_sa_record_len(attr), len);
	memset(wire, UNTOUCHED, sizeof(wire));
	ib_sa_record_pack(attr, record, wire);
	for (i = 0; i < len; i++)
		KUNIT_EXPECT_EQ_MSG(test, wire[i], expected[i], "attribute %#x, byte %zu", attr,
				    i);
	for (; i < sizeof(wire); i++)
		KUNIT_EXPECT_EQ(test, wire[i], UNTOUCHED);
	ib_sa_record_unpack(attr, expected, &back);
	KUNIT_EXPECT_EQ(test, memcmp(&back, record, sizeof(back)), 0);
}

static void gid_fill(union ib_gid *gid, u8 first)
{
	int i;

	for (i = 0; i < 16; i++)
		gid->raw[i] = first + i;
}

/* A record without anything in the padding of its structure. */
static union ib_sa_record *record_create(struct kunit *test)
{
	union ib_sa_record *record = kunit_kzalloc(test, sizeof(*record), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, record);
	return record;
}

static void record_path(struct kunit *test)
{
	static const u8 wire[64] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,		/* service ID */
		0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,		/* DGID */
		0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
		0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,		/* SGID */
		0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f,
		0x12, 0x34, 0x56, 0x78,					/* DLID, SLID */
		0x8a, 0xbc, 0xde, 0x3f,		/* raw, reserved, flow label, hop limit */
		0x99, 0xc5, 0x80, 0x01,		/* traffic class, reversible, number, P_Key */
		0xab, 0xc7, 0x84, 0xc7,		/* QoS class, SL; MTU; rate */
		0x52, 0x42, 0, 0, 0, 0, 0, 0,		/* lifetime, preference, reserved */
	};
	union ib_sa_record *record = record_create(test);
	struct ib_sa_path *p = &record->path;

	p->service_id = 0x0102030405060708ULL;
	gid_fill(&p->dgid, 0x10);
	gid_fill(&p->sgid, 0x20);
	p->dlid = 0x1234;
	p->slid = 0x5678;
	p->raw_traffic = 1;
	p->flow_label = 0xabcde;
	p->hop_limit = 0x3f;
	p->traffic_class = 0x99;
	p->reversible = 1;
	p->numb_path = 0x45;
	p->pkey = 0x8001;
	p->qos_class = 0xabc;
	p->sl = 7;
	p->mtu_selector = 2;
	p->mtu = 4;
	p->rate_selector = 3;
	p->rate = 7;
	p->lifetime_selector = 1;
	p->lifetime = 18;
	p->preference = 0x42;
	expect_wire(test, IB_SA_PATH, record, wire, sizeof(wire));
}

static void record_mcmember(struct kunit *test)
{
	static const u8 wire[52] = {
		0xff, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,		/* MGID */
		0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
		0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37,		/* PortGID */
		0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f,
		0x00, 0x00, 0x0b, 0x1b,					/* Q_Key */
		0xc0, 0x01, 0x84, 0x11,			/* MLID, MTU, traffic class */
		0xff, 0xff, 0x83, 0xd2,			/* P_Key, rate, lifetime */
		0x5a, 0xbc, 0xde, 0x40,			/* SL, flow label, hop limit */
		0x21, 0x80, 0x00, 0x00,			/* scope, join state, proxy, reserved */
	};
	union ib_sa_record *record = record_create(test);
	struct ib_sa_mcmember *m = &record->mcmember;

	gid_fill(&m->mgid, 0xff);
	gid_fill(&m->port_gid, 0x30);
	m->qkey = 0xb1b;
	m->mlid = 0xc001;
	m->mtu_selector = 2;
	m->mtu = 4;
	m->traffic_class = 0x11;
	m->pkey = 0xffff;
	m->rate_selector = 2;
	m->rate = 3;
	m->lifetime_selector = 3;
	m->lifetime = 18;
	m->sl = 5;
	m->flow_label = 0xabcde;
	m->hop_limit = 0x40;
	m->scope = 2;
	m->join_state = IB_SA_JOIN_FULL;
	m->proxy_join = 1;
	expect_wire(test, IB_SA_MCMEMBER, record, wire, sizeof(wire));
}

static void record_service(struct kunit *test)
{
	union ib_sa_record *record = record_create(test);
	struct ib_sa_service *s = &record->service;
	u8 wire[176] = {};
	int i;

	s->id = 0x1000000000000001ULL;
	wire[0] = 0x10;
	wire[7] = 0x01;
	gid_fill(&s->gid, 0x50);
	for (i = 0; i < 16; i++)
		wire[8 + i] = 0x50 + i;
	s->pkey = 0x7fff;
	wire[24] = 0x7f;
	wire[25] = 0xff;
	s->lease = 0x01020304;
	for (i = 0; i < 4; i++)
		wire[28 + i] = i + 1;
	for (i = 0; i < 16; i++)
		wire[32 + i] = 0xe0 + i;
	memcpy(s->key, wire + 32, sizeof(s->key));
	for (i = 0; i < 64; i++)
		wire[48 + i] = 'A' + i % 26;
	memcpy(s->name, wire + 48, sizeof(s->name));
	for (i = 0; i < 16; i++)
		wire[112 + i] = 0x60 + i;
	memcpy(s->data8, wire + 112, sizeof(s->data8));
	for (i = 0; i < 8; i++) {
		s->data16[i] = 0x8000 + i;
		wire[128 + 2 * i] = 0x80;
		wire[129 + 2 * i] = i;
	}
	for (i = 0; i < 4; i++) {
		s->data32[i] = 0x90000000 + i;
		wire[144 + 4 * i] = 0x90;
		wire[147 + 4 * i] = i;
	}
	for (i = 0; i < 2; i++) {
		s->data64[i] = 0xa000000000000000ULL + i;
		wire[160 + 8 * i] = 0xa0;
		wire[167 + 8 * i] = i;
	}
	expect_wire(test, IB_SA_SERVICE, record, wire, sizeof(wire));
}

static void record_class_port_info(struct kunit *test)
{
	static const u8 wire[72] = {
		0x01, 0x02, 0x12, 0x34,			/* versions, capability mask */
		0x00, 0x02, 0x00, 0x14,			/* 0x1000 << 5, response time 20 */
		0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
		0x77, 0x51, 0x23, 0x45,			/* TC, SL, flow label */
		0x00, 0x2a, 0x80, 0x02,			/* LID, P_Key */
		0x00, 0x12, 0x34, 0x56,			/* reserved, QP */
		0x80, 0x01, 0x00, 0x00,			/* Q_Key */
		0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,
		0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f,
		0x66, 0xfa, 0xbc, 0xde,			/* TC, SL, flow label */
		0x00, 0x2b, 0x80, 0x03,			/* LID, P_Key */
		0x3f, 0x65, 0x43, 0x21,			/* hop limit, QP */
		0x11, 0x22, 0x33, 0x44,			/* Q_Key */
	};
	union ib_sa_record *record = record_create(test);
	struct ib_sa_class_port_info *c = &record->class_port_info;

	c->base_version = 1;
	c->class_version = 2;
	c->cap_mask = 0x1234;
	c->cap_mask2 = IB_SA_CAP2_SEND_ONLY_FULL;
	c->resp_time = 20;
	gid_fill(&c->redirect_gid, 0x10);
	c->redirect_tc = 0x77;
	c->redirect_sl = 5;
	c->redirect_fl = 0x12345;
	c->redirect_lid = 0x2a;
	c->redirect_pkey = 0x8002;
	c->redirect_qp = 0x123456;
	c->redirect_qkey = 0x80010000;
	gid_fill(&c->trap_gid, 0x20);
	c->trap_tc = 0x66;
	c->trap_sl = 15;
	c->trap_fl = 0xabcde;
	c->trap_lid = 0x2b;
	c->trap_pkey = 0x8003;
	c->trap_hl = 0x3f;
	c->trap_qp = 0x654321;
	c->trap_qkey = 0x11223344;
	expect_wire(test, IB_SA_CLASS_PORT_INFO, record, wire, sizeof(wire));
}

static void record_guid_info(struct kunit *test)
{
	union ib_sa_record *record = record_create(test);
	struct ib_sa_guid_info *g = &record->guid_info;
	u8 wire[72] = { 0x01, 0x02, 0x09 };
	int i;

	g->lid = 0x0102;
	g->block = 9;
	for (i = 0; i < 8; i++) {
		g->guid[i] = 0x0002c90300000000ULL + i;
		wire[8 + 8 * i + 1] = 0x02;
		wire[8 + 8 * i + 2] = 0xc9;
		wire[8 + 8 * i + 3] = 0x03;
		wire[8 + 8 * i + 7] = i;
	}
	expect_wire(test, IB_SA_GUID_INFO, record, wire, sizeof(wire));
}

static const enum ib_sa_attr attrs[] = {
	IB_SA_CLASS_PORT_INFO, IB_SA_GUID_INFO, IB_SA_SERVICE, IB_SA_PATH, IB_SA_MCMEMBER,
};

/* Of random bytes all come back but the reserved ones, which become zero and then stay so. */
static void record_there_and_back(struct kunit *test)
{
	union ib_sa_record *first = record_create(test), *second = record_create(test);
	u8 wire[WIRE_MAX], again[WIRE_MAX];
	unsigned int i, n, len, bits = 0;

	for (n = 0; n < 200; n++) {
		for (i = 0; i < ARRAY_SIZE(attrs); i++) {
			len = ib_sa_record_len(attrs[i]);
			get_random_bytes(wire, sizeof(wire));
			ib_sa_record_unpack(attrs[i], wire, first);
			ib_sa_record_pack(attrs[i], first, again);
			ib_sa_record_unpack(attrs[i], again, second);
			KUNIT_ASSERT_EQ(test, memcmp(first, second, sizeof(*first)), 0);
			while (len--) {
				/* Nothing comes into being. */
				KUNIT_ASSERT_EQ(test, again[len] & ~wire[len], 0);
				bits += hweight8(again[len]);
			}
		}
	}
	KUNIT_EXPECT_GT(test, bits, 0U);
}

/* A value too wide for its field does not reach its neighbours. */
static void record_fields_do_not_spill(struct kunit *test)
{
	union ib_sa_record *record = record_create(test), *back = record_create(test);
	u8 wire[64];

	record->path.flow_label = ~0;
	record->path.sl = 0xff;
	record->path.mtu = 0xff;
	ib_sa_record_pack(IB_SA_PATH, record, wire);
	ib_sa_record_unpack(IB_SA_PATH, wire, back);
	KUNIT_EXPECT_EQ(test, back->path.flow_label, 0xfffffU);
	KUNIT_EXPECT_EQ(test, back->path.sl, 0xf);
	KUNIT_EXPECT_EQ(test, back->path.mtu, 0x3f);
	KUNIT_EXPECT_EQ(test, back->path.raw_traffic, 0);
	KUNIT_EXPECT_EQ(test, back->path.hop_limit, 0);
	KUNIT_EXPECT_EQ(test, back->path.qos_class, 0);
	KUNIT_EXPECT_EQ(test, back->path.mtu_selector, 0);
	KUNIT_EXPECT_EQ(test, back->path.rate, 0);
}

static struct kunit_case sa_record_cases[] = {
	KUNIT_CASE(record_path),
	KUNIT_CASE(record_mcmember),
	KUNIT_CASE(record_service),
	KUNIT_CASE(record_class_port_info),
	KUNIT_CASE(record_guid_info),
	KUNIT_CASE(record_there_and_back),
	KUNIT_CASE(record_fields_do_not_spill),
	{}
};

static struct kunit_suite sa_record_suite = {
	.name = "ib_sa_records_on_the_wire",
	LR_SUITE_HOOKS,
	.test_cases = sa_record_cases,
};

kunit_test_suite(sa_record_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the SA's records");
