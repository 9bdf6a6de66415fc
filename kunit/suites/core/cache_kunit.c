// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caches: filled before clients come, refreshed before they are told, kept when a refresh fails,
 * and answering without the hardware.
 */
#include <linux/module.h>

#include "bench.h"

static void filled_before_clients(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-cache");
	struct ib_device *device = bench_device(b);
	struct ib_port_attr attr;
	union ib_gid gid;
	u16 pkey;

	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_QUERY_PORT), VFAKE_PORTS);
	KUNIT_EXPECT_EQ(test, ib_port_cached(device, 2, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.lid, 0x12);
	KUNIT_EXPECT_EQ(test, attr.subnet_prefix, IB_GID_DEFAULT_PREFIX);
	KUNIT_EXPECT_EQ(test, ib_lmc_cached(device, 2), 1);
	KUNIT_EXPECT_EQ(test, ib_gid_cached(device, 1, 0, &gid), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.interface_id), VFAKE_NODE_GUID + 1);
	KUNIT_EXPECT_EQ(test, ib_pkey_cached(device, 1, 1, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0x1234);
	/* None of that asked the hardware. */
	KUNIT_EXPECT_EQ(test, vfake_calls(&b->vf, VFAKE_QUERY_GIDS), VFAKE_PORTS);
}

static void borders(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-cache");
	struct ib_device *device = bench_device(b);
	struct ib_port_attr attr;
	union ib_gid gid;
	u16 pkey;

	KUNIT_EXPECT_EQ(test, ib_port_cached(device, 0, &attr), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_port_cached(device, 3, &attr), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_port_query(device, 3, &attr), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_gid_cached(device, 1, VFAKE_GIDS - 1, &gid), 0);
	KUNIT_EXPECT_EQ(test, ib_gid_cached(device, 1, VFAKE_GIDS, &gid), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_pkey_cached(device, 1, VFAKE_PKEYS, &pkey), -EINVAL);
}

static void lookups(struct kunit *test)
{
	struct bench *b = bench_create(test, "lr-cache");
	union ib_gid gid, zero = {};
	struct ib_device *device;
	u16 index;
	u8 port;

	b->vf.pkeys[0][0] = 0x7fff;
	b->vf.pkeys[0][2] = 0xffff;
	bench_bind(b);
	device = bench_device(b);
	gid = b->vf.gids[1][0];
	KUNIT_EXPECT_EQ(test, ib_gid_find(device, 0, &gid, &port, &index), 0);
	KUNIT_EXPECT_EQ(test, port, 2);
	KUNIT_EXPECT_EQ(test, index, 0);
	KUNIT_EXPECT_EQ(test, ib_gid_find(device, 1, &gid, NULL, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, ib_gid_find(device, 0, &zero, NULL, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_gid_find(device, 3, &gid, NULL, NULL), -EINVAL);
	/* Full membership is preferred, limited is found. */
	KUNIT_EXPECT_EQ(test, ib_pkey_find(device, 1, 0x7fff, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 2);
	KUNIT_EXPECT_EQ(test, ib_pkey_find(device, 1, 0x9234, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 1);
	KUNIT_EXPECT_EQ(test, ib_pkey_find(device, 1, 0x8001, &index), -ENOENT);
	KUNIT_EXPECT_EQ(test, ib_pkey_find(device, 1, 0x8000, &index), -EINVAL);
}

/* What a subscriber found in the caches when it was called. */
struct seen {
	u64 prefix;
	u16 lid;
	u16 pkey;
	int calls;
};

static void look(struct ib_event_handler *handler, const struct ib_event *event)
{
	struct ib_device *device = ib_object_device(&handler->object);
	struct seen *seen = handler->context;
	struct ib_port_attr attr;

	if (!ib_port_cached(device, event->port, &attr)) {
		seen->prefix = attr.subnet_prefix;
		seen->lid = attr.lid;
	}
	ib_pkey_cached(device, event->port, 0, &seen->pkey);
	WRITE_ONCE(seen->calls, seen->calls + 1);
}

static const enum ib_event_type refreshing[] = {
	IB_EVENT_PORT_ACTIVE, IB_EVENT_PORT_ERR, IB_EVENT_LID_CHANGE, IB_EVENT_PKEY_CHANGE,
	IB_EVENT_SM_CHANGE, IB_EVENT_CLIENT_REREGISTER, IB_EVENT_GID_CHANGE,
};

static void event_name(const enum ib_event_type *type, char *desc)
{
	strscpy(desc, ib_event_name(*type), KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refreshing, refreshing, event_name);

/* Whatever event it was: LID, P_Key and the subnet prefix are new when the client hears of it. */
static void refreshed_before_clients_are_told(struct kunit *test)
{
	const enum ib_event_type *type = test->param_value;
	struct bench *b = bench_up(test, "lr-cache");
	struct ib_event_handler *handler;
	struct seen seen = {};

	handler = ib_event_subscribe(b->attachment, look, &seen);
	KUNIT_ASSERT_FALSE(test, IS_ERR(handler));
	b->vf.port[1].lid = 0x77;
	b->vf.pkeys[1][0] = 0x8123;
	b->vf.gids[1][0].global.subnet_prefix = cpu_to_be64(0xfec0000000000001ULL);
	ib_event_raise(bench_device(b), *type, 2);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(seen.calls) == 1, 10000));
	KUNIT_EXPECT_EQ(test, seen.lid, 0x77);
	KUNIT_EXPECT_EQ(test, seen.pkey, 0x8123);
	KUNIT_EXPECT_EQ(test, seen.prefix, 0xfec0000000000001ULL);
	ib_event_unsubscribe(handler);
}

static void failed_refresh_keeps_what_was_known(struct kunit *test)
{
	struct bench *b = bench_up(test, "lr-cache");
	struct ib_event_handler *handler;
	struct seen seen = {};

	handler = ib_event_subscribe(b->attachment, look, &seen);
	b->vf.port[1].lid = 0x77;
	b->vf.fails[VFAKE_QUERY_PKEYS] = -ETIMEDOUT;
	ib_event_raise(bench_device(b), IB_EVENT_LID_CHANGE, 2);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(seen.calls) == 1, 10000));
	KUNIT_EXPECT_EQ(test, seen.lid, 0x12);
	b->vf.fails[VFAKE_QUERY_PKEYS] = 0;
	ib_event_unsubscribe(handler);
}

static const enum vfake_op queries[] = {
	VFAKE_QUERY_DEVICE, VFAKE_QUERY_PORT, VFAKE_QUERY_GIDS, VFAKE_QUERY_PKEYS,
};

/* A port that cannot be read while the device is registered: a clean error, and a good next try. */
static void registration_fails_cleanly(struct kunit *test)
{
	struct bench *b = bench_create(test, "lr-cache");
	int i;

	for (i = 0; i < ARRAY_SIZE(queries); i++) {
		b->vf.fails[queries[i]] = -ENODEV;
		KUNIT_EXPECT_LT(test, ib_provider_bind(b->fake->hca, &vfake_provider, &b->vf), 0);
		KUNIT_EXPECT_NULL(test, b->attachment);
		b->vf.fails[queries[i]] = 0;
	}
	bench_bind(b);
}

static struct kunit_case cache_cases[] = {
	KUNIT_CASE(filled_before_clients),
	KUNIT_CASE(borders),
	KUNIT_CASE(lookups),
	KUNIT_CASE_PARAM(refreshed_before_clients_are_told, refreshing_gen_params),
	KUNIT_CASE(failed_refresh_keeps_what_was_known),
	KUNIT_CASE(registration_fails_cleanly),
	{}
};

static struct kunit_suite cache_suite = {
	.name = "cache",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cache_cases,
};

kunit_test_suite(cache_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of the caches");
