// SPDX-License-Identifier: GPL-2.0-only
/* The SM of sm.h. */
#include <linux/module.h>
#include <linux/slab.h>

#include <ib/compat.h>

#include "sm.h"

/* Methods and attributes, as the specification numbers them. */
#define SM_GET 0x01
#define SM_SET 0x02
#define SM_GET_TABLE 0x12
#define SM_DELETE 0x15
#define SM_PATH 0x35
#define SM_MCMEMBER 0x38

/* Where things stand in a SA MAD; records begin at 56. */
#define SM_AT_METHOD 3
#define SM_AT_STATUS 4
#define SM_AT_TID 8
#define SM_AT_ATTR 16
#define SM_AT_RMPP_VERSION 24
#define SM_AT_RMPP_TYPE 25
#define SM_AT_RMPP_FLAGS 26
#define SM_AT_SEGMENT 28
#define SM_AT_LENGTH 32
#define SM_AT_STRIDE 44
#define SM_AT_MASK 48
#define SM_AT_RECORD 56
#define SM_DATA 200
#define SM_HEADER_IN_PAYLOAD 20
#define SM_PATH_LEN 64

/* In a MCMemberRecord. */
#define SM_MC_QKEY (SM_AT_RECORD + 32)
#define SM_MC_MLID (SM_AT_RECORD + 36)
#define SM_MC_MTU (SM_AT_RECORD + 38)
#define SM_MC_PKEY (SM_AT_RECORD + 40)
#define SM_MC_RATE (SM_AT_RECORD + 42)
#define SM_MC_SL_FLOW_HOP (SM_AT_RECORD + 44)
#define SM_MC_STATE (SM_AT_RECORD + 48)
#define SM_MASK_QKEY BIT_ULL(2)
#define SM_MASK_PKEY BIT_ULL(7)

#define SM_STATUS_BUSY 0x0001
#define SM_STATUS_INVALID 0x0200

/**
 * struct sm_answer - an answer that is kept back
 * @node: in &sm.kept
 * @port: the port it goes to
 * @mad: the answer
 */
struct sm_answer {
	struct list_head node;
	u8 port;
	u8 mad[IB_MAD_SIZE];
};

/* To the wire of a fake provider. */
static void sm_send_fake(struct sm *sm, u8 port, const u8 *mad)
{
	const struct ib_wc wc = { .src_qp = 1, .slid = sm->lid, .port = port };

	vfake_deliver(&sm->b->vf, &wc, 1, mad);
}

static void sm_reply(struct sm *sm, u8 port, const u8 *mad)
{
	struct sm_answer *answer;

	if (!sm->keep) {
		sm->send(sm, port, mad);
		return;
	}
	answer = kzalloc(sizeof(*answer), GFP_ATOMIC);
	if (!answer)
		return;
	answer->port = port;
	memcpy(answer->mad, mad, IB_MAD_SIZE);
	spin_lock_bh(&sm->lock);
	list_add_tail(&answer->node, &sm->kept);
	spin_unlock_bh(&sm->lock);
}

/* Give out what was kept back, in the order in which it was asked for. */
void sm_answer(struct sm *sm)
{
	struct sm_answer *answer;

	for (;;) {
		spin_lock_bh(&sm->lock);
		answer = list_first_entry_or_null(&sm->kept, struct sm_answer, node);
		if (answer)
			list_del(&answer->node);
		spin_unlock_bh(&sm->lock);
		if (!answer)
			return;
		sm->send(sm, answer->port, answer->mad);
		kfree(answer);
	}
}
EXPORT_SYMBOL_GPL(sm_answer);

/* ---- groups ---- */

static struct sm_group *sm_group_find(struct sm *sm, const u8 *mgid)
{
	unsigned int i;

	for (i = 0; i < SM_GROUPS; i++)
		if (sm->groups[i].exists && !memcmp(sm->groups[i].mgid, mgid, 16))
			return &sm->groups[i];
	return NULL;
}

static struct sm_group *sm_group_make(struct sm *sm, const u8 *mad)
{
	const u8 zero[16] = {};
	unsigned int i;

	for (i = 0; i < SM_GROUPS && sm->groups[i].exists; i++)
		;
	if (i == SM_GROUPS)
		return NULL;
	memcpy(sm->groups[i].mgid, mad + SM_AT_RECORD, 16);
	if (!memcmp(sm->groups[i].mgid, zero, 16)) {
		sm->groups[i].mgid[0] = 0xff;
		sm->groups[i].mgid[1] = 0x12;
		sm->groups[i].mgid[2] = 0xa0;
		sm->groups[i].mgid[15] = ++sm->named;
	}
	sm->groups[i].exists = true;
	sm->groups[i].mlid = sm->mlid_base + get_unaligned_be16(sm->groups[i].mgid + 14);
	sm->groups[i].qkey = get_unaligned_be64(mad + SM_AT_MASK) & SM_MASK_QKEY ?
			     get_unaligned_be32(mad + SM_MC_QKEY) : 0xb1b;
	sm->groups[i].pkey = get_unaligned_be64(mad + SM_AT_MASK) & SM_MASK_PKEY ?
			     get_unaligned_be16(mad + SM_MC_PKEY) : 0xffff;
	return &sm->groups[i];
}

static void sm_group_write(const struct sm_group *group, u8 port, u8 *mad)
{
	memcpy(mad + SM_AT_RECORD, group->mgid, 16);
	put_unaligned_be32(group->qkey, mad + SM_MC_QKEY);
	put_unaligned_be16(group->mlid, mad + SM_MC_MLID);
	mad[SM_MC_MTU] = 2 << 6 | IB_MTU_2048;
	mad[SM_MC_MTU + 1] = 0;
	put_unaligned_be16(group->pkey, mad + SM_MC_PKEY);
	mad[SM_MC_RATE] = 2 << 6 | 3;
	mad[SM_MC_RATE + 1] = 2 << 6 | 18;
	put_unaligned_be32(0, mad + SM_MC_SL_FLOW_HOP);
	mad[SM_MC_STATE] = 0x20 | group->joined[port - 1];
}

/* With the lock held: a join; the value is the status. */
static u16 sm_join(struct sm *sm, u8 port, u8 *mad)
{
	struct sm_group *group = sm_group_find(sm, mad + SM_AT_RECORD);
	u64 mask = get_unaligned_be64(mad + SM_AT_MASK);

	if (sm->refuse_joins)
		return sm->refuse_joins;
	if (!group)
		group = sm_group_make(sm, mad);
	if (!group)
		return SM_STATUS_INVALID;
	if (mask & SM_MASK_QKEY && get_unaligned_be32(mad + SM_MC_QKEY) != group->qkey)
		return SM_STATUS_INVALID;
	if (mask & SM_MASK_PKEY && (get_unaligned_be16(mad + SM_MC_PKEY) ^ group->pkey) & 0x7fff)
		return SM_STATUS_INVALID;
	group->joined[port - 1] |= mad[SM_MC_STATE] & 0xf;
	sm_group_write(group, port, mad);
	return 0;
}

static u16 sm_leave(struct sm *sm, u8 port, u8 *mad)
{
	struct sm_group *group = sm_group_find(sm, mad + SM_AT_RECORD);
	u8 bits = mad[SM_MC_STATE] & 0xf;

	if (!group || bits & ~group->joined[port - 1]) {
		sm->bad_leaves++;
		return SM_STATUS_INVALID;
	}
	group->joined[port - 1] &= ~bits;
	sm_group_write(group, port, mad);
	if (!group->joined[0] && !group->joined[1])
		group->exists = false;
	return 0;
}

/* ---- other records ---- */

static void sm_path_write(unsigned int n, u8 *record)
{
	put_unaligned_be16(0x40 + n, record + 40);
	put_unaligned_be16(0x11, record + 42);
	record[49] = 0x80 | 1;
	put_unaligned_be16(0xffff, record + 50);
	put_unaligned_be16(3, record + 52);
	record[54] = 2 << 6 | IB_MTU_4096;
	record[55] = 2 << 6 | 7;
	record[56] = 2 << 6 | 18;
	record[57] = n;
}

static void sm_segment(struct sm *sm, u8 port, const u8 *request, const u8 *data, size_t len,
		       unsigned int n)
{
	unsigned int segments = max_t(size_t, 1, DIV_ROUND_UP(len, SM_DATA));
	size_t left = len - min_t(size_t, len, (n - 1) * SM_DATA);
	u8 mad[IB_MAD_SIZE] = {};

	memcpy(mad, request, SM_AT_RECORD);
	mad[SM_AT_RMPP_VERSION] = 1;
	mad[SM_AT_RMPP_TYPE] = 1;
	mad[SM_AT_RMPP_FLAGS] = 0x1f << 3 | 1 | (n == 1 ? 2 : 0) | (n == segments ? 4 : 0);
	mad[SM_AT_RMPP_FLAGS + 1] = 0;
	put_unaligned_be32(n, mad + SM_AT_SEGMENT);
	if (n == segments)
		put_unaligned_be32(SM_HEADER_IN_PAYLOAD + left, mad + SM_AT_LENGTH);
	else if (n == 1)
		put_unaligned_be32(segments * SM_HEADER_IN_PAYLOAD + len, mad + SM_AT_LENGTH);
	memcpy(mad + SM_AT_RECORD, data + (n - 1) * SM_DATA, min_t(size_t, left, SM_DATA));
	sm_reply(sm, port, mad);
}

/* Send what the other side lets us of the table that is being asked for. */
static void sm_table_go(struct sm *sm, u8 port, unsigned int window)
{
	size_t len = sm->records * SM_PATH_LEN;
	unsigned int n;

	for (;;) {
		spin_lock_bh(&sm->lock);
		n = sm->segment;
		if (n > window || (n > 1 && (n - 1) * SM_DATA >= len))
			n = 0;
		else
			sm->segment++;
		spin_unlock_bh(&sm->lock);
		if (!n)
			return;
		sm_segment(sm, port, sm->asked, sm->table, len, n);
	}
}

static void sm_table(struct sm *sm, u8 port, u8 *mad)
{
	unsigned int i;

	for (i = 0; i < sm->records; i++)
		sm_path_write(i, sm->table + i * SM_PATH_LEN);
	put_unaligned_be16((sm->stride ?: SM_PATH_LEN) / 8, mad + SM_AT_STRIDE);
	memcpy(sm->asked, mad, IB_MAD_SIZE);
	if (sm->send_table) {
		sm->send_table(sm, port, mad, sm->records * SM_PATH_LEN);
		return;
	}
	sm->segment = 1;
	sm_table_go(sm, port, 1);
}

/* ---- requests ---- */

/* With the lock held: note it; false: it is not answered. */
static bool sm_note(struct sm *sm, u8 port, u16 lid, const u8 *mad)
{
	struct sm_seen *seen = &sm->seen[sm->nseen % SM_LOG];

	*seen = (struct sm_seen) {
		.port = port,
		.lid = lid,
		.method = mad[SM_AT_METHOD],
		.attr = get_unaligned_be16(mad + SM_AT_ATTR),
		.mask = get_unaligned_be64(mad + SM_AT_MASK),
		.tid = get_unaligned_be64(mad + SM_AT_TID),
		.join_state = mad[SM_MC_STATE] & 0xf,
	};
	memcpy(seen->mgid, mad + SM_AT_RECORD, 16);
	sm->nseen++;
	if (lid != sm->lid) {
		sm->astray++;
		return false;
	}
	if (sm->drop) {
		sm->drop--;
		return false;
	}
	return !sm->silent;
}

static u16 sm_serve(struct sm *sm, u8 port, u8 *mad)
{
	u16 attr = get_unaligned_be16(mad + SM_AT_ATTR);

	if (sm->busy) {
		sm->busy--;
		return SM_STATUS_BUSY;
	}
	if (sm->refuse)
		return sm->refuse;
	if (attr == SM_MCMEMBER && mad[SM_AT_METHOD] == SM_SET)
		return sm_join(sm, port, mad);
	if (attr == SM_MCMEMBER && mad[SM_AT_METHOD] == SM_DELETE)
		return sm_leave(sm, port, mad);
	if (attr == SM_PATH && mad[SM_AT_METHOD] == SM_GET)
		sm_path_write(0, mad + SM_AT_RECORD);
	return 0;
}

/* A MAD of class SA has come from a port, for a LID. */
void sm_hear(struct sm *sm, u8 port, u16 lid, const u8 *heard)
{
	u8 mad[IB_MAD_SIZE];
	bool answer, table;
	u16 status = 0;

	memcpy(mad, heard, IB_MAD_SIZE);
	spin_lock_bh(&sm->lock);
	if (mad[SM_AT_RMPP_VERSION] == 1 && mad[SM_AT_RMPP_TYPE] == 2) {
		sm->acks++;
		spin_unlock_bh(&sm->lock);
		sm_table_go(sm, port, get_unaligned_be32(mad + SM_AT_LENGTH));
		return;
	}
	answer = sm_note(sm, port, lid, mad);
	if (answer)
		status = sm_serve(sm, port, mad);
	spin_unlock_bh(&sm->lock);
	if (!answer)
		return;
	table = mad[SM_AT_METHOD] == SM_GET_TABLE && !status;
	put_unaligned_be16(status, mad + SM_AT_STATUS);
	mad[SM_AT_METHOD] = mad[SM_AT_METHOD] == SM_SET ? 0x81 : mad[SM_AT_METHOD] | 0x80;
	if (sm->wrong_method)
		mad[SM_AT_METHOD] = sm->wrong_method;
	if (table)
		sm_table(sm, port, mad);
	else
		sm_reply(sm, port, mad);
}
EXPORT_SYMBOL_GPL(sm_hear);

static void sm_on_wire(struct vfake *vf, const struct vfake_mad *m)
{
	if (m->qpn == 1 && m->mad[1] == 3)
		sm_hear(vf->wire_data, m->port, m->to.dlid, m->mad);
}

/* All memberships are gone; the groups, too. */
void sm_forget(struct sm *sm)
{
	spin_lock_bh(&sm->lock);
	memset(sm->groups, 0, sizeof(sm->groups));
	spin_unlock_bh(&sm->lock);
}
EXPORT_SYMBOL_GPL(sm_forget);

/* How many requests of a kind it has seen. */
unsigned int sm_count(struct sm *sm, u8 method, u16 attr)
{
	unsigned int i, n = 0;

	spin_lock_bh(&sm->lock);
	for (i = 0; i < min_t(unsigned int, sm->nseen, SM_LOG); i++)
		n += sm->seen[i].method == method && sm->seen[i].attr == attr;
	spin_unlock_bh(&sm->lock);
	return n;
}
EXPORT_SYMBOL_GPL(sm_count);

/* In how many groups is a port of ours, by what the SM knows? */
unsigned int sm_members(struct sm *sm)
{
	unsigned int i, n = 0;

	spin_lock_bh(&sm->lock);
	for (i = 0; i < SM_GROUPS; i++)
		n += sm->groups[i].exists &&
		     (sm->groups[i].joined[0] || sm->groups[i].joined[1]);
	spin_unlock_bh(&sm->lock);
	return n;
}
EXPORT_SYMBOL_GPL(sm_members);

struct sm_group *sm_group(struct sm *sm, const u8 *mgid)
{
	struct sm_group *group;

	spin_lock_bh(&sm->lock);
	group = sm_group_find(sm, mgid);
	spin_unlock_bh(&sm->lock);
	return group;
}
EXPORT_SYMBOL_GPL(sm_group);

/* The last of the test: the HCA has been removed. */
static void sm_destroy(void *arg)
{
	struct sm *sm = arg;
	struct sm_answer *answer, *next;

	if (!sm->deaf)
		KUNIT_EXPECT_EQ(sm->test, sm_members(sm), 0U);
	KUNIT_EXPECT_EQ(sm->test, sm->bad_leaves, 0U);
	list_for_each_entry_safe(answer, next, &sm->kept, node)
		kfree(answer);
	kvfree(sm);
}

/* A SM at no wire yet.  It is there to the end of all HCAs that are made after it. */
struct sm *sm_alone(struct kunit *test)
{
	struct sm *sm = kvzalloc(sizeof(*sm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sm);
	sm->test = test;
	sm->lid = 1;
	sm->mlid_base = 0xc010;
	spin_lock_init(&sm->lock);
	INIT_LIST_HEAD(&sm->kept);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, sm_destroy, sm), 0);
	return sm;
}
EXPORT_SYMBOL_GPL(sm_alone);

/* A bench at whose wire a SM sits; its provider is still to be bound, with bench_bind(). */
struct sm *sm_create(struct kunit *test, const char *name)
{
	struct sm *sm = sm_alone(test);

	sm->send = sm_send_fake;
	sm->b = bench_create(test, name);
	sm->b->vf.mads = true;
	sm->b->vf.max_wr = 1024;
	sm->b->vf.on_wire = sm_on_wire;
	sm->b->vf.wire_data = sm;
	return sm;
}
EXPORT_SYMBOL_GPL(sm_create);

/* The same, with the device LIVE. */
struct sm *sm_up(struct kunit *test, const char *name)
{
	struct sm *sm = sm_create(test, name);

	bench_bind(sm->b);
	fake_settle(sm->b->fake);
	return sm;
}
EXPORT_SYMBOL_GPL(sm_up);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A subnet manager for tests");
