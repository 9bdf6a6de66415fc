// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program sees of umadN and issmN while the device is there: names, the two headers,
 * registrations and their limits, sends, receives, poll, and issm.
 */
#include <linux/kthread.h>
#include <linux/module.h>

#include "user.h"

/* ---- the header ------------------------------------------------------------------------- */

static const struct ib_user_mad_hdr full_hdr = {
	.id = 3,
	.timeout_ms = 100,
	.qpn = cpu_to_be32(0x123456),
	.qkey = cpu_to_be32(0x11111111),
	.lid = cpu_to_be16(0x1234),
	.sl = 5,
	.path_bits = 2,
	.grh_present = 1,
	.gid_index = 4,
	.hop_limit = 63,
	.traffic_class = 0x81,
	.gid = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
	.flow_label = cpu_to_be32(0xabcde),
	.pkey_index = 9,
};

static void umad_header_goes_both_ways(struct kunit *test)
{
	struct ib_user_mad_hdr want = full_hdr, back;
	struct ib_mad_recv recv = {};
	struct ib_mad_addr addr;

	umad_calls.to_addr(&full_hdr, &addr);
	KUNIT_EXPECT_EQ(test, addr.lid, 0x1234);
	KUNIT_EXPECT_EQ(test, addr.qpn, 0x123456U);
	KUNIT_EXPECT_EQ(test, addr.qkey, 0U);
	KUNIT_EXPECT_EQ(test, addr.pkey_index, 9);
	KUNIT_EXPECT_TRUE(test, addr.has_grh);
	KUNIT_EXPECT_EQ(test, addr.grh.sgid_index, 4);
	KUNIT_EXPECT_EQ(test, addr.grh.flow_label, 0xabcdeU);
	recv.from = addr;
	umad_calls.of_recv(&back, 3, &recv);
	/* Not set on receive. */
	want.timeout_ms = 0;
	want.qkey = 0;
	KUNIT_EXPECT_MEMEQ(test, &back, &want, sizeof(back));
}

static void umad_header_without_grh(struct kunit *test)
{
	struct ib_user_mad_hdr hdr = full_hdr;
	struct ib_mad_recv recv = {};
	struct ib_mad_addr addr;
	static const u8 zero[16];

	hdr.grh_present = 0;
	umad_calls.to_addr(&hdr, &addr);
	KUNIT_EXPECT_FALSE(test, addr.has_grh);
	KUNIT_EXPECT_EQ(test, addr.grh.flow_label, 0U);
	recv.from = addr;
	umad_calls.of_recv(&hdr, 3, &recv);
	KUNIT_EXPECT_EQ(test, hdr.grh_present, 0);
	KUNIT_EXPECT_MEMEQ(test, hdr.gid, zero, sizeof(zero));
}

/* ---- nodes ------------------------------------------------------------------------------ */

/* Attribute number @n of a node, as text. */
static void attribute(struct kunit *test, struct device *node, int n, char *text)
{
	struct attribute *attr = node->groups[0]->attrs[n];
	struct device_attribute *da = container_of(attr, struct device_attribute, attr);

	KUNIT_EXPECT_GT(test, da->show(node, da, text), (ssize_t)0);
}

static void umad_nodes_come_in_pairs(struct kunit *test)
{
	char *text = (char *)get_zeroed_page(GFP_KERNEL);
	struct bench *b = user_bench(test, "lr-umad");
	struct device *umad, *issm;
	int port;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (port = 1; port <= VFAKE_PORTS; port++) {
		char name[16];

		snprintf(name, sizeof(name), "umad%d", port - 1);
		umad = user_node(b, name);
		snprintf(name, sizeof(name), "issm%d", port - 1);
		issm = user_node(b, name);
		KUNIT_ASSERT_TRUE(test, umad && issm);
		KUNIT_EXPECT_EQ(test, MAJOR(umad->devt), MAJOR(issm->devt));
		KUNIT_EXPECT_EQ(test, MINOR(issm->devt), MINOR(umad->devt) + 64);
		KUNIT_EXPECT_STREQ(test, umad->class->name, "infiniband_mad");
		attribute(test, issm, 0, text);
		KUNIT_EXPECT_STREQ(test, text, "vfake_0\n");
		attribute(test, umad, 1, text);
		KUNIT_EXPECT_EQ(test, text[0], '0' + port);
	}
	KUNIT_EXPECT_EQ(test, ib_device_rename(bench_device(b), "vfake_other"), 0);
	attribute(test, umad, 0, text);
	KUNIT_EXPECT_STREQ(test, text, "vfake_other\n");
	free_page((unsigned long)text);
}

static void umad_numbers_are_used_again(struct kunit *test)
{
	struct bench *one = user_bench(test, "lr-umad-0"), *two = user_bench(test, "lr-umad-1");

	KUNIT_EXPECT_NOT_NULL(test, user_node(one, "umad1"));
	KUNIT_EXPECT_NOT_NULL(test, user_node(two, "umad2"));
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(one->fake), 0);
	KUNIT_EXPECT_NULL(test, user_node(one, "umad0"));
	KUNIT_EXPECT_NOT_NULL(test, user_node(two, "issm3"));
	bench_bind(one);
	KUNIT_EXPECT_NOT_NULL(test, user_node(one, "umad0"));
	KUNIT_EXPECT_NOT_NULL(test, user_node(one, "issm1"));
}

/* ---- registrations ---------------------------------------------------------------------- */

static void umad_ids_have_a_limit(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int i;

	for (i = 0; i < UMAD_AGENTS; i++)
		KUNIT_EXPECT_EQ(test, user_register(uf, IB_CLASS_PERF, 1, 0), i);
	KUNIT_EXPECT_EQ(test, user_register(uf, IB_CLASS_PERF, 1, 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, umad_calls.unregister(user_umad(uf), 7), 0);
	KUNIT_EXPECT_EQ(test, umad_calls.unregister(user_umad(uf), 7), -EINVAL);
	KUNIT_EXPECT_EQ(test, umad_calls.unregister(user_umad(uf), UMAD_AGENTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, user_register(uf, IB_CLASS_PERF, 1, 0), 7);
}

static void umad_registrations_are_checked(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	struct ib_user_mad_reg_req2 req = { .qpn = 1, .mgmt_class = 0x32, .mgmt_class_version = 1 };
	struct ib_user_mad_reg_req old = { .qpn = 2, .mgmt_class = 4, .mgmt_class_version = 1 };
	struct umad_file *file = user_umad(uf);

	req.flags = 0x82;
	KUNIT_EXPECT_EQ(test, umad_calls.register_new(file, &req), -EINVAL);
	KUNIT_EXPECT_EQ(test, req.flags, 1U);
	req.flags = 0;
	req.oui = 0x1001405;
	KUNIT_EXPECT_EQ(test, umad_calls.register_new(file, &req), -EINVAL);
	req.qpn = 2;
	KUNIT_EXPECT_EQ(test, umad_calls.register_new(file, &req), -EINVAL);
	KUNIT_EXPECT_EQ(test, umad_calls.register_old(file, &old), -EINVAL);
	req.qpn = 1;
	req.oui = 0x1405;
	req.method_mask[0] = ~0ULL;
	req.method_mask[1] = ~0ULL;
	KUNIT_EXPECT_EQ(test, umad_calls.register_new(file, &req), 0);
	KUNIT_EXPECT_EQ(test, umad_calls.register_new(file, &req), -EINVAL);
	KUNIT_EXPECT_EQ(test, umad_calls.unregister(file, req.id), 0);
	/* The old request names the same OUI byte by byte. */
	old.qpn = 1;
	old.mgmt_class = 0x32;
	old.oui[1] = 0x14;
	old.oui[2] = 0x05;
	memset(old.method_mask, 0xff, sizeof(old.method_mask));
	KUNIT_EXPECT_EQ(test, umad_calls.register_old(file, &old), 0);
	KUNIT_EXPECT_EQ(test, umad_calls.register_new(file, &req), -EINVAL);
}

static void umad_first_registration_fixes_the_header(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct ib_user_mad_reg_req old = { .qpn = 1, .mgmt_class = 4, .mgmt_class_version = 1 };
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);

	KUNIT_EXPECT_FALSE(test, user_umad(uf)->pkey);
	KUNIT_EXPECT_EQ(test, umad_calls.register_old(user_umad(uf), &old), 0);
	KUNIT_EXPECT_EQ(test, umad_calls.enable_pkey(user_umad(uf)), -EINVAL);
	KUNIT_EXPECT_EQ(test, user_register(uf, IB_CLASS_PERF, 1, 0), 1);
	KUNIT_EXPECT_FALSE(test, user_umad(uf)->pkey);

	uf = user_must_open(b, "umad0", O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, umad_calls.enable_pkey(user_umad(uf)), 0);
	KUNIT_EXPECT_EQ(test, umad_calls.enable_pkey(user_umad(uf)), 0);
	KUNIT_EXPECT_EQ(test, umad_calls.register_old(user_umad(uf), &old), 0);
	KUNIT_EXPECT_TRUE(test, user_umad(uf)->pkey);

	uf = user_must_open(b, "umad0", O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, user_register(uf, IB_CLASS_PERF, 1, 0), 0);
	KUNIT_EXPECT_TRUE(test, user_umad(uf)->pkey);
}

/* ---- sends and receives ----------------------------------------------------------------- */

static bool is_readable(struct user_file *uf)
{
	return LR_WAIT(user_poll(uf) & EPOLLIN, 5000);
}

static void umad_request_and_response(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct user_mad m, got;
	u8 mad[IB_MAD_SIZE];

	KUNIT_EXPECT_EQ(test, user_poll(uf), (__poll_t)(EPOLLOUT | EPOLLWRNORM));
	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, 0xdeadbeef00000042ULL);
	m.hdr.timeout_ms = 5000;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_ASSERT_TRUE(test, wire_sent(b, 1, mad));
	KUNIT_EXPECT_EQ(test, (u32)ib_get(mad, IB_MAD_TID_LO), 0x42U);
	KUNIT_EXPECT_EQ(test, (u32)ib_get(mad, IB_MAD_TID_HI),
			user_umad(uf)->agents[id]->mad->hi_tid);
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	wire_send(b, 1, mad, 7, 1, false);
	KUNIT_ASSERT_TRUE(test, is_readable(uf));
	KUNIT_EXPECT_EQ(test, user_read(uf, &got, sizeof(got)), (ssize_t)sizeof(got));
	KUNIT_EXPECT_EQ(test, got.hdr.id, (u32)id);
	KUNIT_EXPECT_EQ(test, got.hdr.status, 0U);
	KUNIT_EXPECT_EQ(test, got.hdr.length, (u32)sizeof(got));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(got.hdr.lid), 7);
	KUNIT_EXPECT_MEMEQ(test, got.mad, mad, IB_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, user_read(uf, &got, sizeof(got)), (ssize_t)-EAGAIN);
}

static void umad_request_without_response(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct user_mad m, got;

	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, 0x43);
	m.hdr.length = 999;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
	fake_advance(b->fake, 200);
	KUNIT_ASSERT_TRUE(test, is_readable(uf));
	/* Too little room: it is still there. */
	KUNIT_EXPECT_EQ(test, user_read(uf, &got, HDR + 23), (ssize_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, user_read(uf, &got, sizeof(got)), (ssize_t)(HDR + 24));
	KUNIT_EXPECT_EQ(test, got.hdr.status, (u32)ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, got.hdr.length, 999U);
	KUNIT_EXPECT_EQ(test, (u32)ib_get(got.mad, IB_MAD_TID_LO), 0x43U);
	/* The TID is free again. */
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
}

static void umad_send_without_timeout_tells_nothing(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct user_mad m;
	u8 mad[IB_MAD_SIZE];

	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_SEND, 1);
	m.hdr.timeout_ms = 0;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_EXPECT_TRUE(test, wire_sent(b, 1, mad));
	KUNIT_EXPECT_TRUE(test, LR_WAIT(list_empty_careful(&user_umad(uf)->sends), 5000));
	KUNIT_EXPECT_FALSE(test, user_poll(uf) & EPOLLIN);
}

static void umad_response_keeps_its_tid(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct user_mad m;
	u8 mad[IB_MAD_SIZE];

	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET_RESP, 0xdeadbeef00000044ULL);
	m.hdr.timeout_ms = 0;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_ASSERT_TRUE(test, wire_sent(b, 1, mad));
	KUNIT_EXPECT_EQ(test, (u64)ib_get(mad, IB_MAD_TID), 0xdeadbeef00000044ULL);
}

static void umad_old_header_works(struct kunit *test)
{
	struct ib_user_mad_reg_req req = { .qpn = 1, .mgmt_class = 4, .mgmt_class_version = 1 };
	const size_t old = sizeof(struct ib_user_mad_hdr_old);
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	u8 raw[sizeof(struct ib_user_mad_hdr_old) + IB_MAD_SIZE], mad[IB_MAD_SIZE];
	struct user_mad m;

	KUNIT_ASSERT_EQ(test, umad_calls.register_old(user_umad(uf), &req), 0);
	user_fill(&m, req.id, IB_CLASS_PERF, IB_METHOD_GET, 5);
	m.hdr.timeout_ms = 5000;
	memcpy(raw, &m.hdr, old);
	memcpy(raw + old, m.mad, IB_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, user_write(uf, raw, sizeof(raw)), (ssize_t)sizeof(raw));
	KUNIT_ASSERT_TRUE(test, wire_sent(b, 1, mad));
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	wire_send(b, 1, mad, 7, 1, false);
	KUNIT_ASSERT_TRUE(test, is_readable(uf));
	KUNIT_EXPECT_EQ(test, user_read(uf, raw, sizeof(raw)), (ssize_t)sizeof(raw));
	KUNIT_EXPECT_MEMEQ(test, raw + old, mad, IB_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, ((struct ib_user_mad_hdr_old *)raw)->length, (u32)sizeof(raw));
}

static void umad_unsolicited_goes_to_its_agent(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int other = user_register(uf, IB_CLASS_SA, 2, 0);
	int id = user_register(uf, IB_CLASS_SA, 2, BIT(IB_METHOD_REPORT));
	struct user_mad m, got;

	KUNIT_EXPECT_EQ(test, other, 0);
	user_fill(&m, 0, IB_CLASS_SA, IB_METHOD_REPORT, 0x99);
	wire_send(b, 1, m.mad, 0x21, 1, true);
	KUNIT_ASSERT_TRUE(test, is_readable(uf));
	KUNIT_EXPECT_EQ(test, user_read(uf, &got, sizeof(got)), (ssize_t)sizeof(got));
	KUNIT_EXPECT_EQ(test, got.hdr.id, (u32)id);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(got.hdr.lid), 0x21);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(got.hdr.qpn), 1U);
	KUNIT_EXPECT_EQ(test, got.hdr.grh_present, 1);
	/* What was received for an agent outlives it. */
	wire_send(b, 1, m.mad, 0x21, 1, false);
	KUNIT_ASSERT_TRUE(test, is_readable(uf));
	KUNIT_EXPECT_EQ(test, umad_calls.unregister(user_umad(uf), id), 0);
	KUNIT_EXPECT_EQ(test, user_read(uf, &got, sizeof(got)), (ssize_t)sizeof(got));
}

/* Three segments of an RMPP message that nobody had asked for. */
static void send_segments(struct bench *b)
{
	struct user_mad m;
	int i;

	for (i = 1; i <= 3; i++) {
		user_fill(&m, 0, IB_CLASS_SA, IB_METHOD_GET_MULTI, 0x7700);
		ib_put(m.mad, IB_RMPP_VERSION, 1);
		ib_put(m.mad, IB_RMPP_TYPE, IB_RMPP_DATA);
		ib_put(m.mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE | (i == 1 ? IB_RMPP_FIRST : 0) |
		       (i == 3 ? IB_RMPP_LAST : 0));
		ib_put(m.mad, IB_RMPP_SEGMENT, i);
		ib_put(m.mad, IB_RMPP_LENGTH, i == 1 ? 3 * 220 : i == 3 ? 220 : 0);
		memset(m.mad + IB_SA_DATA, i, IB_SA_DATA_SIZE);
		wire_send(b, 1, m.mad, 0x21, 1, false);
	}
}

static void umad_long_message_needs_room(struct kunit *test)
{
	struct ib_user_mad_reg_req2 req = { .qpn = 1, .mgmt_class = IB_CLASS_SA,
					    .mgmt_class_version = 2, .rmpp_version = 1 };
	const size_t whole = HDR + IB_SA_DATA + 3 * IB_SA_DATA_SIZE;
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	u8 *room = kunit_kzalloc(test, 4096, GFP_KERNEL);
	struct ib_user_mad_hdr *hdr = (void *)room;

	KUNIT_ASSERT_NOT_NULL(test, room);
	req.method_mask[0] = BIT(IB_METHOD_GET_MULTI);
	KUNIT_ASSERT_EQ(test, umad_calls.register_new(user_umad(uf), &req), 0);
	send_segments(b);
	KUNIT_ASSERT_TRUE(test, is_readable(uf));
	KUNIT_EXPECT_EQ(test, user_read(uf, room, HDR + 255), (ssize_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, user_read(uf, room, whole - 1), (ssize_t)-ENOSPC);
	KUNIT_EXPECT_EQ(test, hdr->length, (u32)whole);
	KUNIT_EXPECT_EQ(test, room[HDR + IB_SA_DATA], 1);
	KUNIT_EXPECT_EQ(test, room[HDR + IB_MAD_SIZE], 0);
	KUNIT_EXPECT_EQ(test, user_read(uf, room, 4096), (ssize_t)whole);
	KUNIT_EXPECT_EQ(test, room[whole - 1], 3);
	KUNIT_EXPECT_EQ(test, room[HDR + IB_SA_DATA + IB_SA_DATA_SIZE], 2);
	KUNIT_EXPECT_EQ(test, user_read(uf, room, 4096), (ssize_t)-EAGAIN);
}

static void umad_writes_are_checked(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct {
		struct user_mad m;
		u8 more[8];
	} big = {};
	struct user_mad *m = &big.m;

	user_fill(m, id, IB_CLASS_PERF, IB_METHOD_GET, 1);
	KUNIT_EXPECT_EQ(test, user_write(uf, m, HDR + 35), (ssize_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, user_write(uf, m, sizeof(big)), (ssize_t)-EINVAL);
	user_fill(m, id, IB_CLASS_SA, IB_METHOD_GET, 1);
	KUNIT_EXPECT_EQ(test, user_write(uf, m, HDR + 55), (ssize_t)-EINVAL);
	KUNIT_EXPECT_EQ(test, user_write(uf, m, HDR + 56), (ssize_t)(HDR + 56));
	user_fill(m, UMAD_AGENTS, IB_CLASS_PERF, IB_METHOD_GET, 1);
	KUNIT_EXPECT_EQ(test, user_write(uf, m, sizeof(*m)), (ssize_t)-EINVAL);
	user_fill(m, id + 1, IB_CLASS_PERF, IB_METHOD_GET, 1);
	KUNIT_EXPECT_EQ(test, user_write(uf, m, sizeof(*m)), (ssize_t)-EIO);
}

static void umad_addresses_are_checked(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct user_mad m;

	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, 1);
	m.hdr.sl = 16;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
	m.hdr.sl = 0;
	m.hdr.pkey_index = VFAKE_PKEYS;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
	m.hdr.pkey_index = 0;
	m.hdr.grh_present = 1;
	m.hdr.gid_index = VFAKE_GIDS;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
	m.hdr.gid_index = 0;
	/* Nothing of the refused ones is under way: the TID is free. */
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
}

/* The program's own RMPP, and a version for it; and no class without RMPP by such an agent. */
static void umad_own_rmpp_may_name_a_version(struct kunit *test)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = 1,
		.mgmt_class = IB_CLASS_SA,
		.mgmt_class_version = 2,
		.rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
	};
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	u8 mad[IB_MAD_SIZE];
	struct user_mad m;

	KUNIT_ASSERT_EQ(test, umad_calls.register_new(user_umad(uf), &req), 0);
	user_fill(&m, req.id, IB_CLASS_SA, IB_METHOD_GET_RESP, 1);
	m.hdr.timeout_ms = 0;
	ib_put(m.mad, IB_RMPP_VERSION, 1);
	ib_put(m.mad, IB_RMPP_TYPE, IB_RMPP_DATA);
	ib_put(m.mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE);
	ib_put(m.mad, IB_RMPP_SEGMENT, 7);
	/* Twice the same TID: segments share it. They leave as they are. */
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_ASSERT_TRUE(test, wire_sent(b, 1, mad));
	KUNIT_EXPECT_MEMEQ(test, mad, m.mad, IB_MAD_SIZE);
	KUNIT_EXPECT_TRUE(test, wire_sent(b, 1, mad));
	user_fill(&m, req.id, IB_CLASS_PERF, IB_METHOD_GET, 2);
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
}

/* The other side gives its long answer up: who waits for it hears so. */
static void umad_given_up_answer_is_told(struct kunit *test)
{
	struct ib_user_mad_reg_req2 req = { .qpn = 1, .mgmt_class = IB_CLASS_SA,
					    .mgmt_class_version = 2, .rmpp_version = 1 };
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	struct user_mad m, got;
	u8 mad[IB_MAD_SIZE];

	KUNIT_ASSERT_EQ(test, umad_calls.register_new(user_umad(uf), &req), 0);
	user_fill(&m, req.id, IB_CLASS_SA, IB_METHOD_GET_TABLE, 0x51);
	m.hdr.timeout_ms = 5000;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_ASSERT_TRUE(test, wire_sent(b, 1, mad));
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_GET_TABLE | IB_METHOD_RESPONSE);
	ib_put(mad, IB_RMPP_VERSION, 1);
	ib_put(mad, IB_RMPP_TYPE, IB_RMPP_DATA);
	ib_put(mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE | IB_RMPP_FIRST);
	ib_put(mad, IB_RMPP_SEGMENT, 1);
	wire_send(b, 1, mad, 7, 1, false);
	ib_put(mad, IB_RMPP_TYPE, IB_RMPP_ABORT);
	ib_put(mad, IB_RMPP_FLAGS, IB_RMPP_ACTIVE);
	ib_put(mad, IB_RMPP_STATUS, IB_RMPP_UNSPEC);
	ib_put(mad, IB_RMPP_SEGMENT, 0);
	wire_send(b, 1, mad, 7, 1, false);
	KUNIT_ASSERT_TRUE(test, is_readable(uf));
	KUNIT_EXPECT_EQ(test, user_read(uf, &got, sizeof(got)), (ssize_t)(HDR + 24));
	KUNIT_EXPECT_EQ(test, got.hdr.status, (u32)ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, (u32)ib_get(got.mad, IB_MAD_TID_LO), 0x51U);
}

static void umad_duplicates_are_refused(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	int two = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct user_mad m;

	wire_hold(b, true);
	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, 5);
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	/* The upper half is not the program's: it is the same TID. */
	ib_put(m.mad, IB_MAD_TID_HI, 77);
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
	m.hdr.id = two;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	/* Responses are told apart by where they go to. */
	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET_RESP, 6);
	m.hdr.timeout_ms = 0;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
	m.hdr.lid = cpu_to_be16(8);
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	m.hdr.grh_present = 1;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	m.hdr.lid = cpu_to_be16(9);
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EINVAL);
	wire_hold(b, false);
}

static void umad_out_of_memory(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = kunit_kzalloc(test, sizeof(*uf), GFP_KERNEL);
	struct device *node = user_node(b, "umad0");
	struct user_mad m;
	struct lr_fault f;
	ssize_t err;
	int id;

	KUNIT_ASSERT_TRUE(test, uf && node);
	lr_fault_each(&f, test) {
		memset(uf, 0, sizeof(*uf));
		err = user_attach(uf, node, O_NONBLOCK);
		id = err ?: user_register(uf, IB_CLASS_PERF, 1, 0);
		if (id >= 0) {
			user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, 1);
			err = user_write(uf, &m, sizeof(m));
		}
		if (!lr_fault_stop(&f))
			KUNIT_EXPECT_EQ(test, err, (ssize_t)sizeof(m));
		user_close(uf);
	}
	KUNIT_EXPECT_GT(test, f.hits, 3U);
}

/* ---- issm ------------------------------------------------------------------------------- */

static void issm_sets_the_bit(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct device *node = user_node(b, "issm1");
	struct user_file *first, *second;

	KUNIT_EXPECT_EQ(test, user_open(test, node, O_NONBLOCK, &first), 0);
	KUNIT_EXPECT_TRUE(test, b->vf.port[1].cap_mask & IB_PORT_CAP_SM);
	KUNIT_EXPECT_FALSE(test, b->vf.port[0].cap_mask & IB_PORT_CAP_SM);
	KUNIT_EXPECT_EQ(test, user_open(test, node, O_NONBLOCK, &second), -EAGAIN);
	KUNIT_EXPECT_EQ(test, user_close(first), 0);
	KUNIT_EXPECT_FALSE(test, b->vf.port[1].cap_mask & IB_PORT_CAP_SM);
	KUNIT_EXPECT_EQ(test, user_open(test, node, 0, &second), 0);
}

static void issm_open_fails_with_the_port(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct device *node = user_node(b, "issm0");
	struct user_file *uf;

	b->vf.fails[VFAKE_MODIFY_PORT] = -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, user_open(test, node, O_NONBLOCK, &uf), -EOPNOTSUPP);
	b->vf.fails[VFAKE_MODIFY_PORT] = 0;
	KUNIT_EXPECT_EQ(test, user_open(test, node, O_NONBLOCK, &uf), 0);
}

struct issm_opener {
	struct kunit *test;
	struct device *node;
	struct user_file *uf;
	struct fake_flow flow;
};

static int issm_run(void *arg)
{
	struct issm_opener *o = arg;

	return user_open(o->test, o->node, 0, &o->uf);
}

static void issm_is_handed_on(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct issm_opener o = { .test = test, .node = user_node(b, "issm0") };
	struct user_file *first;

	KUNIT_ASSERT_EQ(test, user_open(test, o.node, 0, &first), 0);
	fake_flow_start(&o.flow, issm_run, &o);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&o.flow.done));
	KUNIT_EXPECT_EQ(test, user_close(first), 0);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&o.flow), 0);
	KUNIT_EXPECT_TRUE(test, b->vf.port[0].cap_mask & IB_PORT_CAP_SM);
}

static struct kunit_case umad_file_cases[] = {
	KUNIT_CASE(umad_header_goes_both_ways),
	KUNIT_CASE(umad_header_without_grh),
	KUNIT_CASE(umad_nodes_come_in_pairs),
	KUNIT_CASE(umad_numbers_are_used_again),
	KUNIT_CASE(umad_ids_have_a_limit),
	KUNIT_CASE(umad_registrations_are_checked),
	KUNIT_CASE(umad_first_registration_fixes_the_header),
	KUNIT_CASE(umad_request_and_response),
	KUNIT_CASE(umad_request_without_response),
	KUNIT_CASE(umad_send_without_timeout_tells_nothing),
	KUNIT_CASE(umad_response_keeps_its_tid),
	KUNIT_CASE(umad_old_header_works),
	KUNIT_CASE(umad_unsolicited_goes_to_its_agent),
	KUNIT_CASE(umad_long_message_needs_room),
	KUNIT_CASE(umad_writes_are_checked),
	KUNIT_CASE(umad_addresses_are_checked),
	KUNIT_CASE(umad_own_rmpp_may_name_a_version),
	KUNIT_CASE(umad_given_up_answer_is_told),
	KUNIT_CASE(umad_duplicates_are_refused),
	KUNIT_CASE(umad_out_of_memory),
	KUNIT_CASE(issm_sets_the_bit),
	KUNIT_CASE(issm_open_fails_with_the_port),
	KUNIT_CASE(issm_is_handed_on),
	{}
};

static struct kunit_suite umad_file_suite = {
	.name = "umad_file",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = umad_file_cases,
};

kunit_test_suite(umad_file_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of ib_umad");
