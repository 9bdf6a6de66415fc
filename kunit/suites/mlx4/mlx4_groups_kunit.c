// SPDX-License-Identifier: GPL-2.0-only
/*
 * The multicast table of mlx4_ib without hardware: a table in memory takes the driver's writes, and
 * after each single one the groups are looked up in it as the hardware does it for a packet that
 * comes at that moment.
 *
 * The driver's file is part of this one, under other names: the driver may be there as well.
 */
#define mlx4_cmd		groups_cmd
#define mlx4_mailbox_alloc	groups_mailbox_alloc
#define mlx4_mailbox_free	groups_mailbox_free
#define mlx4_icm_get		groups_icm_get
#define mlx4_icm_put		groups_icm_put
#define mlx4_ib_attach_mcast	groups_attach
#define mlx4_ib_detach_mcast	groups_detach
#define mlx4_ib_mcast_init	groups_init
#define mlx4_ib_mcast_exit	groups_exit

#include "ib_mcast.c"

#include <linux/module.h>
#include <linux/prandom.h>

#include <ib/client.h>
#include <lastref/kunit.h>

#define HASHED		8	/* entries that are found by hash */
#define ENTRIES		32
#define ENTRY_BYTES	1024
#define ROOM		6	/* members of an entry */
#define GROUPS		20
#define QPS		3

/**
 * struct table - the hardware
 * @entries: its table
 * @mapped: entries that are backed by memory
 * @want: which QPs are members of which group, one bit each
 * @changing: the group that an attach or detach is about
 * @then: what it will be when that has been done
 * @fail: the command that fails, counted down; 0: none
 * @writes: WRITE_MCG commands
 * @wrong: lookups that found something else
 * @core: the HCA
 * @dev: the device
 * @attachment: owner of the QPs
 * @qps: QPs
 */
struct table {
	u8 entries[ENTRIES][ENTRY_BYTES];
	bool mapped[ENTRIES];
	u32 want[GROUPS];
	int changing;
	u32 then;
	unsigned int fail;
	unsigned int writes;
	unsigned int wrong;
	struct mlx4_dev core;
	struct mlx4_ib_dev dev;
	struct ib_attachment attachment;
	struct mlx4_ib_qp qps[QPS];
};

static union ib_gid gid_of(unsigned int group)
{
	return (union ib_gid){ .raw = { [0] = 0xff, [1] = 0x12, [14] = group, [15] = 77 } };
}

/* Few of the hashes are used, so that chains get long. */
static u32 hash_of(const u8 *gid)
{
	return gid[14] % 3;
}

/* The members of a group, as a packet finds them. */
static u32 lookup(struct table *t, unsigned int group)
{
	union ib_gid gid = gid_of(group);
	u32 index = hash_of(gid.raw), members = 0, steps, i;

	for (steps = 0; steps < ENTRIES; steps++) {
		const u8 *entry = t->entries[index];
		u32 count = get_unaligned_be32(entry + 4) & 0xffffff;

		if (index >= HASHED && !t->mapped[index])
			return ~0u;
		if (!memcmp(entry + 16, gid.raw, 16)) {
			for (i = 0; i < count; i++)
				members |= BIT(get_unaligned_be32(entry + 32 + 4 * i) & 0xff);
			return members;
		}
		index = get_unaligned_be32(entry) >> 6;
		if (!index)
			return 0;
	}
	return ~0u;
}

static void look(struct table *t)
{
	for (unsigned int i = 0; i < GROUPS; i++) {
		u32 found = lookup(t, i);

		if (found != t->want[i] && !(t->changing == i && found == t->then)) {
			if (!t->wrong++)
				pr_err("group %u has members %#x, not %#x\n", i, found, t->want[i]);
		}
	}
}

int groups_cmd(struct mlx4_dev *dev, struct mlx4_call *call)
{
	struct table *t = container_of(dev, struct table, core);

	if (t->fail && !--t->fail)
		return -EBUSY;
	if (call->op == MLX4_MGID_HASH) {
		call->result = hash_of(call->in->buf) | 0xabcd0000;
		return 0;
	}
	t->writes++;
	if (call->op != MLX4_WRITE_MCG || call->in_mod >= ENTRIES ||
	    (call->in_mod >= HASHED && !t->mapped[call->in_mod])) {
		t->wrong++;
		return -EINVAL;
	}
	memcpy(t->entries[call->in_mod], call->in->buf, ENTRY_BYTES);
	look(t);
	return 0;
}

#include "bare_mailbox.h"

int groups_icm_get(struct mlx4_dev *dev, enum mlx4_table_id id, u32 first, u32 count)
{
	struct table *t = container_of(dev, struct table, core);

	t->wrong += id != MLX4_MCG || count != 1 || t->mapped[first];
	t->mapped[first] = true;
	return 0;
}

/* What still leads somewhere, or holds members, must not lose its memory. */
void groups_icm_put(struct mlx4_dev *dev, enum mlx4_table_id id, u32 first, u32 count)
{
	struct table *t = container_of(dev, struct table, core);

	t->wrong += !t->mapped[first] || get_unaligned_be32(t->entries[first] + 4) & 0xffffff;
	t->mapped[first] = false;
	look(t);
}

static void table_free(void *data)
{
	struct table *t = data;

	groups_exit(&t->dev);
	kvfree(t);
}

static struct table *table_make(struct kunit *test)
{
	struct table *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->changing = -1;
	t->core.caps.mcg_qps = ROOM;
	t->core.icm.mcg_hash = HASHED;
	t->core.icm.tables[MLX4_MCG].count = ENTRIES;
	t->dev.core = &t->core;
	t->attachment.device = &t->dev.ib;
	for (unsigned int i = 0; i < QPS; i++) {
		t->qps[i].ib.object.attachment = &t->attachment;
		t->qps[i].number = i + 1;
	}
	groups_init(&t->dev);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, table_free, t), 0);
	return t;
}

/* One attach or detach, right or not; gives what the driver said. */
static int change(struct table *t, unsigned int group, unsigned int qp)
{
	union ib_gid gid = gid_of(group);
	bool add = !(t->want[group] & BIT(qp + 1));
	int err;

	t->changing = group;
	t->then = t->want[group] ^ BIT(qp + 1);
	err = add ? groups_attach(&t->qps[qp].ib, &gid, 0xc000) :
		    groups_detach(&t->qps[qp].ib, &gid, 0xc000);
	if (!err)
		t->want[group] = t->then;
	t->changing = -1;
	look(t);
	return err;
}

static void groups_by_chance(struct kunit *test)
{
	struct table *t = table_make(test);
	unsigned int i, members = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 3000; i++) {
		KUNIT_ASSERT_EQ(test, change(t, prandom_u32_state(&rnd) % GROUPS,
					     prandom_u32_state(&rnd) % QPS), 0);
		KUNIT_ASSERT_EQ(test, t->wrong, 0);
	}
	for (i = 0; i < GROUPS * QPS; i++)
		if (t->want[i / QPS] & BIT(i % QPS + 1))
			KUNIT_ASSERT_EQ(test, change(t, i / QPS, i % QPS), 0);
	for (i = 0; i < QPS; i++)
		members += t->qps[i].groups;
	KUNIT_EXPECT_EQ(test, members, 0);
	for (i = 0; i < ENTRIES; i++)
		KUNIT_EXPECT_FALSE(test, t->mapped[i]);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->dev.groups));
	KUNIT_EXPECT_EQ(test, t->wrong, 0);
}

/* Whichever command fails: the group is as it was or was to be, the others are as they were. */
static void groups_failures(struct kunit *test)
{
	struct table *t = table_make(test);
	unsigned int i, failed = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 2);
	for (i = 0; i < 3000; i++) {
		t->fail = prandom_u32_state(&rnd) % 5;
		failed += change(t, prandom_u32_state(&rnd) % GROUPS,
				 prandom_u32_state(&rnd) % QPS) != 0;
		KUNIT_ASSERT_EQ(test, t->wrong, 0);
	}
	KUNIT_EXPECT_GT(test, failed, 200);
	KUNIT_EXPECT_LT(test, failed, 2800);
}

static void groups_full(struct kunit *test)
{
	struct table *t = table_make(test);
	union ib_gid gid = gid_of(4);
	unsigned int i;

	for (i = 0; i < ROOM; i++) {
		t->qps[0].number = i + 1;
		t->changing = 4;
		t->then = t->want[4] | BIT(i + 1);
		KUNIT_ASSERT_EQ(test, groups_attach(&t->qps[0].ib, &gid, 0xc000), 0);
		t->want[4] = t->then;
	}
	t->qps[0].number = 30;
	KUNIT_EXPECT_EQ(test, groups_attach(&t->qps[0].ib, &gid, 0xc000), -ENOMEM);
	KUNIT_EXPECT_EQ(test, groups_detach(&t->qps[0].ib, &gid, 0xc000), -EINVAL);
	KUNIT_EXPECT_EQ(test, t->qps[0].groups, ROOM);
	KUNIT_EXPECT_EQ(test, lookup(t, 4), GENMASK(ROOM, 1));
	KUNIT_EXPECT_EQ(test, t->wrong, 0);
}

/* A QP that does not want its own packets says so in its word. */
static void groups_loopback(struct kunit *test)
{
	struct table *t = table_make(test);
	union ib_gid gid = gid_of(0);

	t->changing = 0;
	t->then = BIT(1);
	t->qps[0].create_flags = IB_QP_CREATE_BLOCK_LOOPBACK;
	KUNIT_ASSERT_EQ(test, groups_attach(&t->qps[0].ib, &gid, 0xc000), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(t->entries[0] + 32), BIT(30) | 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(t->entries[0] + 4), 1);
	KUNIT_ASSERT_EQ(test, groups_detach(&t->qps[0].ib, &gid, 0xc000), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(t->entries[0] + 4), 0);
}

static struct kunit_case groups_cases[] = {
	KUNIT_CASE(groups_by_chance),
	KUNIT_CASE(groups_failures),
	KUNIT_CASE(groups_full),
	KUNIT_CASE(groups_loopback),
	{}
};

static struct kunit_suite groups_suite = {
	.name = "mlx4_groups",
	LR_SUITE_HOOKS,
	.test_cases = groups_cases,
};

kunit_test_suite(groups_suite);

MODULE_DESCRIPTION("LastRef: KUnit tests of mlx4_ib's multicast table");
MODULE_LICENSE("GPL");
