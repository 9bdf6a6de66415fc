// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast groups, over the real SA client and MAD service, with a SM in software (sm.h) that
 * knows who is in which group: what it is asked, and what the members are told.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include <ib/multicast.h>

#include "sm.h"

#define TIMEOUT 100
#define GROUPS 500

/**
 * struct joined - a member of a test
 * @member: the membership
 * @ins: how often it was told that it is in
 * @changes: how often that the group has changed
 * @losses: how often that it is out
 * @left: it was left: no call may come
 * @keeps: after a loss the membership is still to be ended
 * @error: of the loss
 * @status: of the loss
 * @record: the group
 */
struct joined {
	struct ib_mcast_member *member;
	int ins;
	int changes;
	int losses;
	bool left;
	bool keeps;
	int error;
	u16 status;
	struct ib_sa_mcmember record;
};

static enum ib_cb_result joined_told(struct ib_mcast_member *member,
				     const struct ib_mcast_report *report, void *context)
{
	struct joined *j = context;

	if (READ_ONCE(j->left))
		fake_breach("a member was told something after it had left");
	if (READ_ONCE(j->member) != member)
		fake_breach("a callback came before the owner knew the member");
	if (j->losses)
		fake_breach("a member was told something after it was lost");
	switch (report->news) {
	case IB_MCAST_JOINED:
		j->ins++;
		j->record = report->record;
		return IB_CB_DONE;
	case IB_MCAST_CHANGED:
		j->changes++;
		j->record = report->record;
		return IB_CB_DONE;
	case IB_MCAST_LOST:
		j->losses++;
		j->error = report->error;
		j->status = report->status;
		return j->keeps ? IB_CB_DONE : IB_CB_DESTROY;
	}
	return IB_CB_DONE;
}

static struct joined *joined_create(struct kunit *test, unsigned int n)
{
	struct joined *j = kvcalloc(n, sizeof(*j), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, j);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, (kunit_action_t *)kvfree, j), 0);
	return j;
}

/* An IPv4 group as IPoIB names it, the n-th. */
static void mgid_fill(union ib_gid *gid, unsigned int n)
{
	*gid = (union ib_gid) { .raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff } };
	gid->raw[14] = n >> 8;
	gid->raw[15] = n;
}

static void request_fill(struct ib_mcast_request *request, struct joined *j, unsigned int n,
			 u8 state)
{
	*request = (struct ib_mcast_request) {
		.port = 1,
		.mask = IB_SA_MCMEMBER_MGID | IB_SA_MCMEMBER_PKEY | IB_SA_MCMEMBER_JOIN_STATE,
		.record = { .pkey = 0xffff, .join_state = state },
		.timeout_ms = TIMEOUT,
		.retries = 3,
		.callback = joined_told,
		.context = j,
	};
	mgid_fill(&request->record.mgid, n);
}

static void join_by(struct sm *sm, struct joined *j, const struct ib_mcast_request *request)
{
	KUNIT_ASSERT_EQ(sm->test, ib_mcast_join(sm->b->attachment, request, &j->member), 0);
}

static void join(struct sm *sm, struct joined *j, unsigned int n, u8 state)
{
	struct ib_mcast_request request;

	request_fill(&request, j, n, state);
	join_by(sm, j, &request);
}

static void leave(struct joined *j)
{
	ib_mcast_leave(j->member);
	WRITE_ONCE(j->left, true);
}

static void settle(struct sm *sm)
{
	fake_settle(sm->b->fake);
}

static void advance(struct sm *sm, unsigned int ms)
{
	fake_advance(sm->b->fake, ms);
}

static void happens(struct sm *sm, enum ib_event_type type)
{
	ib_event_raise(bench_device(sm->b), type, 1);
	settle(sm);
}

static unsigned int sets(struct sm *sm)
{
	return sm_count(sm, IB_SA_SET, IB_SA_MCMEMBER);
}

static unsigned int deletes(struct sm *sm)
{
	return sm_count(sm, IB_SA_DELETE, IB_SA_MCMEMBER);
}

static u8 sm_state(struct sm *sm, unsigned int n)
{
	struct sm_group *group;
	union ib_gid mgid;

	mgid_fill(&mgid, n);
	group = sm_group(sm, mgid.raw);
	return group ? group->joined[0] : 0;
}

/* ---- sharing ---- */

static void mcast_shared_by_members(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 3);
	struct ib_sa_mcmember record;
	union ib_gid mgid;
	int i;

	mgid_fill(&mgid, 1);
	KUNIT_EXPECT_EQ(test, ib_mcast_find(sm->b->attachment, 1, &mgid, &record), -ENOENT);
	join(sm, &j[0], 1, IB_SA_JOIN_FULL);
	KUNIT_EXPECT_EQ(test, j[0].ins, 0);
	settle(sm);
	join(sm, &j[1], 1, IB_SA_JOIN_FULL);
	join(sm, &j[2], 1, IB_SA_JOIN_FULL);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 1U);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, j[i].ins, 1);
		KUNIT_EXPECT_EQ(test, j[i].record.mlid, 0xc011);
		KUNIT_EXPECT_EQ(test, j[i].record.qkey, 0xb1bU);
		KUNIT_EXPECT_EQ(test, (int)j[i].record.mtu, (int)IB_MTU_2048);
		KUNIT_EXPECT_EQ(test, j[i].record.join_state, IB_SA_JOIN_FULL);
	}
	KUNIT_EXPECT_EQ(test, ib_mcast_find(sm->b->attachment, 1, &mgid, &record), 0);
	KUNIT_EXPECT_EQ(test, record.mlid, 0xc011);
	KUNIT_EXPECT_EQ(test, ib_mcast_find(sm->b->attachment, 2, &mgid, NULL), -ENOENT);
	leave(&j[1]);
	leave(&j[0]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, deletes(sm), 0U);
	leave(&j[2]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, deletes(sm), 1U);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
	KUNIT_EXPECT_EQ(test, ib_mcast_find(sm->b->attachment, 1, &mgid, NULL), -ENOENT);
}

/* Each way of being in a group has its own last member. */
static void mcast_ways_of_being_in(struct kunit *test)
{
	static const u8 ways[] = {
		IB_SA_JOIN_FULL, IB_SA_JOIN_NON_MEMBER, IB_SA_JOIN_SEND_ONLY,
		IB_SA_JOIN_SEND_ONLY_FULL,
	};
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 5);
	u8 state = 0;
	int i;

	for (i = 0; i < 4; i++) {
		join(sm, &j[i], 1, ways[i]);
		settle(sm);
		state |= ways[i];
		KUNIT_EXPECT_EQ(test, j[i].ins, 1);
		KUNIT_EXPECT_EQ(test, sm_state(sm, 1), state);
		KUNIT_EXPECT_EQ(test, sets(sm), i + 1U);
	}
	/* Two of them at once, which are there already. */
	join(sm, &j[4], 1, IB_SA_JOIN_FULL | IB_SA_JOIN_SEND_ONLY);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[4].ins, 1);
	KUNIT_EXPECT_EQ(test, sets(sm), 4U);
	leave(&j[0]);
	leave(&j[1]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm_state(sm, 1), state & ~IB_SA_JOIN_NON_MEMBER);
	leave(&j[4]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm_state(sm, 1), IB_SA_JOIN_SEND_ONLY | IB_SA_JOIN_SEND_ONLY_FULL);
	leave(&j[2]);
	leave(&j[3]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm_state(sm, 1), 0);
}

static void mcast_groups_are_apart(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 4);
	struct ib_mcast_request request;

	join(sm, &j[0], 1, IB_SA_JOIN_FULL);
	join(sm, &j[1], 2, IB_SA_JOIN_FULL);
	request_fill(&request, &j[2], 1, IB_SA_JOIN_FULL);
	request.port = 2;
	join_by(sm, &j[2], &request);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 3U);
	/* Another partition is another group, and this SM does not have it. */
	request_fill(&request, &j[3], 1, IB_SA_JOIN_FULL);
	request.record.pkey = 0x9234;
	join_by(sm, &j[3], &request);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 4U);
	KUNIT_EXPECT_EQ(test, j[3].losses, 1);
	KUNIT_EXPECT_EQ(test, j[3].error, -EINVAL);
	KUNIT_EXPECT_EQ(test, j[3].status, IB_SA_STATUS_REQ_INVALID);
	KUNIT_EXPECT_EQ(test, deletes(sm), 0U);
	leave(&j[0]);
	leave(&j[1]);
	leave(&j[2]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, deletes(sm), 3U);
}

/* Who does not name the partition shares the group with those who do. */
static void mcast_partition_not_named(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 3);
	struct ib_mcast_request request;
	int i;

	request_fill(&request, &j[0], 1, IB_SA_JOIN_FULL);
	request.mask &= ~IB_SA_MCMEMBER_PKEY;
	join_by(sm, &j[0], &request);
	settle(sm);
	join(sm, &j[1], 1, IB_SA_JOIN_FULL);
	request.context = &j[2];
	join_by(sm, &j[2], &request);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 1U);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, j[i].ins, 1);
		KUNIT_EXPECT_EQ(test, deletes(sm), 0U);
		leave(&j[i]);
		settle(sm);
	}
	KUNIT_EXPECT_EQ(test, deletes(sm), 1U);
}

static void mcast_not_what_was_asked_for(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 6);
	struct ib_mcast_request request;
	int i;

	join(sm, &j[0], 1, IB_SA_JOIN_FULL);
	settle(sm);
	for (i = 1; i < 6; i++) {
		request_fill(&request, &j[i], 1, IB_SA_JOIN_FULL);
		request.mask |= i == 1 ? IB_SA_MCMEMBER_QKEY :
				i == 2 ? IB_SA_MCMEMBER_MTU_SELECTOR | IB_SA_MCMEMBER_MTU :
				i == 3 ? IB_SA_MCMEMBER_SL :
				i == 4 ? IB_SA_MCMEMBER_MTU_SELECTOR | IB_SA_MCMEMBER_MTU :
					 IB_SA_MCMEMBER_MTU;
		request.record.qkey = 0x1234;
		request.record.mtu_selector = i == 4 ? IB_SA_GREATER : IB_SA_EQUAL;
		request.record.mtu = i == 4 ? IB_MTU_1024 : IB_MTU_4096;
		request.record.sl = 5;
		join_by(sm, &j[i], &request);
		settle(sm);
		/* 2048 is more than 1024; a value without a selector means nothing. */
		KUNIT_EXPECT_EQ(test, j[i].ins, i >= 4);
		KUNIT_EXPECT_EQ(test, j[i].losses, i < 4);
		KUNIT_EXPECT_EQ(test, j[i].error, i < 4 ? -EINVAL : 0);
	}
	KUNIT_EXPECT_EQ(test, sets(sm), 1U);
	KUNIT_EXPECT_EQ(test, j[0].losses, 0);
	leave(&j[0]);
	leave(&j[4]);
	leave(&j[5]);
	settle(sm);
}

static void mcast_sa_chooses_the_group(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 3);
	struct ib_mcast_request request;
	int i;

	for (i = 0; i < 2; i++) {
		request_fill(&request, &j[i], 0, IB_SA_JOIN_FULL);
		memset(&request.record.mgid, 0, sizeof(request.record.mgid));
		join_by(sm, &j[i], &request);
	}
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 2U);
	KUNIT_EXPECT_EQ(test, j[0].record.mgid.raw[0], 0xff);
	KUNIT_EXPECT_NE(test, j[0].record.mgid.raw[15], j[1].record.mgid.raw[15]);
	/* Now that it has a name it is shared. */
	request.record.mgid = j[1].record.mgid;
	request.context = &j[2];
	join_by(sm, &j[2], &request);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 2U);
	KUNIT_EXPECT_EQ(test, j[2].ins, 1);
	for (i = 0; i < 3; i++)
		leave(&j[i]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, deletes(sm), 2U);
}

static void mcast_makes_no_sense(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 1);
	struct ib_mcast_request good, request;

	request_fill(&good, j, 1, IB_SA_JOIN_FULL);
	request = good;
	request.port = 3;
	KUNIT_EXPECT_EQ(test, ib_mcast_join(sm->b->attachment, &request, &j->member), -EINVAL);
	request = good;
	request.record.join_state = 0;
	KUNIT_EXPECT_EQ(test, ib_mcast_join(sm->b->attachment, &request, &j->member), -EINVAL);
	request = good;
	request.record.join_state = 0x10;
	KUNIT_EXPECT_EQ(test, ib_mcast_join(sm->b->attachment, &request, &j->member), -EINVAL);
	request = good;
	request.mask &= ~IB_SA_MCMEMBER_MGID;
	KUNIT_EXPECT_EQ(test, ib_mcast_join(sm->b->attachment, &request, &j->member), -EINVAL);
	request = good;
	request.callback = NULL;
	KUNIT_EXPECT_EQ(test, ib_mcast_join(sm->b->attachment, &request, &j->member), -EINVAL);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm->nseen, 0U);
}

/* ---- failures ---- */

/* All who asked for the same hear of it at once; who asked for something else is asked for. */
static void mcast_refused_to_all(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 5);
	struct ib_mcast_request request;
	int i;

	sm->refuse_joins = IB_SA_STATUS_INSUF_COMPS;
	sm->keep = true;
	for (i = 0; i < 4; i++)
		join(sm, &j[i], 1, IB_SA_JOIN_FULL);
	request_fill(&request, &j[4], 1, IB_SA_JOIN_FULL);
	request.mask |= IB_SA_MCMEMBER_SL;
	join_by(sm, &j[4], &request);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 1U);
	sm->refuse_joins = 0;
	sm->keep = false;
	sm_answer(sm);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 2U);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, j[i].losses, 1);
		KUNIT_EXPECT_EQ(test, j[i].error, -EINVAL);
		KUNIT_EXPECT_EQ(test, j[i].status, IB_SA_STATUS_INSUF_COMPS);
	}
	KUNIT_EXPECT_EQ(test, j[4].ins, 1);
	leave(&j[4]);
	settle(sm);
}

/* A join that was not answered may have arrived. */
static void mcast_join_times_out(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 2);

	sm->keep = true;
	join(sm, &j[0], 1, IB_SA_JOIN_FULL);
	join(sm, &j[1], 1, IB_SA_JOIN_FULL);
	settle(sm);
	while (sets(sm) < 4)
		advance(sm, TIMEOUT);
	KUNIT_EXPECT_EQ(test, j[0].losses, 0);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 1U);
	advance(sm, TIMEOUT);
	KUNIT_EXPECT_EQ(test, j[0].losses, 1);
	KUNIT_EXPECT_EQ(test, j[0].error, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, j[1].error, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, sets(sm), 4U);
	KUNIT_EXPECT_EQ(test, deletes(sm), 1U);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
}

static void mcast_lost_member_is_ended_later(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 2);

	sm->refuse_joins = IB_SA_STATUS_DENIED;
	j[0].keeps = true;
	join(sm, &j[0], 1, IB_SA_JOIN_FULL);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[0].losses, 1);
	sm->refuse_joins = 0;
	join(sm, &j[1], 1, IB_SA_JOIN_FULL);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[1].ins, 1);
	leave(&j[0]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, deletes(sm), 0U);
	leave(&j[1]);
	settle(sm);
}

/* B30, B34: to leave waits for nobody, in whatever state the join is. */
static void mcast_leave_does_not_wait(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 3);

	/* The clock stands, so whoever waited for the SM would wait for ever. */
	sm->silent = true;
	join(sm, &j[0], 1, IB_SA_JOIN_FULL);
	leave(&j[0]);
	join(sm, &j[1], 1, IB_SA_JOIN_FULL);
	settle(sm);
	leave(&j[1]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[0].ins + j[0].losses + j[1].ins + j[1].losses, 0);
	sm->silent = false;
	advance(sm, TIMEOUT);
	advance(sm, TIMEOUT);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
	sm->keep = true;
	join(sm, &j[2], 2, IB_SA_JOIN_FULL);
	settle(sm);
	leave(&j[2]);
	settle(sm);
	sm->keep = false;
	sm_answer(sm);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[2].ins, 0);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
}

/* Who leaves and comes back at once has not left. */
static void mcast_left_and_joined_again(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 100);
	int i;

	sm->keep = true;
	for (i = 0; i < 100; i++) {
		join(sm, &j[i], 1, IB_SA_JOIN_FULL);
		if (i % 3 == 0)
			settle(sm);
		if (i % 2)
			sm_answer(sm);
		if (i != 99)
			leave(&j[i]);
		if (i % 7 == 0)
			settle(sm);
	}
	sm->keep = false;
	sm_answer(sm);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[99].ins, 1);
	KUNIT_EXPECT_EQ(test, sm_state(sm, 1), IB_SA_JOIN_FULL);
	leave(&j[99]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm_state(sm, 1), 0);
}

/* ---- the SM forgets ---- */

static void mcast_joined_again_when_asked(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 30);
	unsigned int i;

	for (i = 0; i < 30; i++)
		join(sm, &j[i], i / 3, i % 3 ? IB_SA_JOIN_FULL : IB_SA_JOIN_SEND_ONLY_FULL);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sets(sm), 20U);
	sm_forget(sm);
	happens(sm, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_EQ(test, sets(sm), 30U);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 10U);
	KUNIT_EXPECT_EQ(test, sm_state(sm, 4), IB_SA_JOIN_FULL | IB_SA_JOIN_SEND_ONLY_FULL);
	for (i = 0; i < 30; i++) {
		KUNIT_EXPECT_EQ(test, j[i].ins, 1);
		KUNIT_EXPECT_EQ(test, j[i].changes, 0);
		KUNIT_EXPECT_EQ(test, j[i].losses, 0);
		leave(&j[i]);
	}
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
}

/* B27: that another SM has taken over is no reason to join anything. */
static void mcast_sm_change_is_no_reason(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 1);

	join(sm, j, 1, IB_SA_JOIN_FULL);
	settle(sm);
	sm->lid = 9;
	sm->b->vf.port[0].sm_lid = 9;
	happens(sm, IB_EVENT_SM_CHANGE);
	happens(sm, IB_EVENT_PKEY_CHANGE);
	happens(sm, IB_EVENT_GID_CHANGE);
	happens(sm, IB_EVENT_PORT_ERR);
	KUNIT_EXPECT_EQ(test, sets(sm), 1U);
	/* The leave goes to the new one. */
	leave(j);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm->astray, 0U);
}

static void mcast_group_is_another_one(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 2);
	struct ib_mcast_request request;

	join(sm, &j[0], 1, IB_SA_JOIN_FULL);
	request_fill(&request, &j[1], 1, IB_SA_JOIN_FULL);
	request.mask |= IB_SA_MCMEMBER_MLID;
	request.record.mlid = 0xc011;
	settle(sm);
	join_by(sm, &j[1], &request);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[1].ins, 1);
	sm_forget(sm);
	sm->mlid_base = 0xc200;
	happens(sm, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_EQ(test, j[0].changes, 1);
	KUNIT_EXPECT_EQ(test, j[0].record.mlid, 0xc201);
	/* The second had said which it must be. */
	KUNIT_EXPECT_EQ(test, j[1].losses, 1);
	KUNIT_EXPECT_EQ(test, j[1].error, -ENETRESET);
	leave(&j[0]);
	settle(sm);
}

static void mcast_cannot_be_joined_again(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 4);
	int i;

	for (i = 0; i < 3; i++)
		join(sm, &j[i], 1, IB_SA_JOIN_FULL);
	settle(sm);
	sm_forget(sm);
	sm->refuse_joins = IB_SA_STATUS_REQ_INVALID;
	happens(sm, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_EQ(test, sets(sm), 2U);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, j[i].losses, 1);
		KUNIT_EXPECT_EQ(test, j[i].error, -ENETRESET);
	}
	/* It might not have forgotten at all. */
	KUNIT_EXPECT_EQ(test, deletes(sm), 1U);
	sm->bad_leaves = 0;
	sm->refuse_joins = 0;
	join(sm, &j[3], 1, IB_SA_JOIN_FULL);
	settle(sm);
	KUNIT_EXPECT_EQ(test, j[3].ins, 1);
	leave(&j[3]);
	settle(sm);
}

/* B31: the SM forgets while joins and leaves are under way, again and again. */
static void mcast_forgotten_in_between(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, 200);
	unsigned int i;

	for (i = 0; i < 200; i++) {
		sm->keep = i % 5;
		j[i].keeps = true;
		join(sm, &j[i], i % 10, i % 2 ? IB_SA_JOIN_FULL : IB_SA_JOIN_SEND_ONLY_FULL);
		if (i >= 20)
			leave(&j[i - 20]);
		if (i % 4 == 0) {
			sm_answer(sm);
			sm_forget(sm);
			ib_event_raise(bench_device(sm->b), IB_EVENT_CLIENT_REREGISTER, 1);
		}
		if (i % 3 == 0)
			settle(sm);
	}
	sm->keep = false;
	sm_answer(sm);
	settle(sm);
	advance(sm, TIMEOUT);
	/* What was forgotten is asked to be left, which the SM does not understand. */
	sm->bad_leaves = 0;
	happens(sm, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 10U);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, sm_state(sm, i),
				i % 2 ? IB_SA_JOIN_FULL : IB_SA_JOIN_SEND_ONLY_FULL);
	for (i = 180; i < 200; i++) {
		KUNIT_EXPECT_EQ(test, j[i].ins, 1);
		KUNIT_EXPECT_EQ(test, j[i].losses, 0);
		leave(&j[i]);
	}
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
}

/* ---- callbacks ---- */

static struct joined *chained;
static struct sm *chained_sm;

static enum ib_cb_result chain_told(struct ib_mcast_member *member,
				    const struct ib_mcast_report *report, void *context)
{
	/* One more, and itself. */
	join(chained_sm, &chained[0], 8, IB_SA_JOIN_FULL);
	return IB_CB_DESTROY;
}

static void mcast_joined_and_left_in_a_callback(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct ib_mcast_request request;
	struct ib_mcast_member *member;

	chained = joined_create(test, 1);
	chained_sm = sm;
	request_fill(&request, NULL, 7, IB_SA_JOIN_FULL);
	request.callback = chain_told;
	KUNIT_ASSERT_EQ(test, ib_mcast_join(sm->b->attachment, &request, &member), 0);
	settle(sm);
	KUNIT_EXPECT_EQ(test, chained[0].ins, 1);
	KUNIT_EXPECT_EQ(test, sm_state(sm, 7), 0);
	leave(&chained[0]);
	settle(sm);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
}

/* B32: many groups, whose joins fail here and there while they are being left. */
static void mcast_many_groups(struct kunit *test)
{
	struct sm *sm = sm_up(test, "lr-mcast");
	struct joined *j = joined_create(test, GROUPS);
	unsigned int i, in = 0;

	for (i = 0; i < GROUPS; i++) {
		j[i].keeps = true;
		sm->refuse_joins = i % 7 ? 0 : IB_SA_STATUS_NO_RESOURCES;
		join(sm, &j[i], i, IB_SA_JOIN_FULL);
		if (i >= 50)
			leave(&j[i - 50]);
		if (i % 16 == 0)
			ib_event_raise(bench_device(sm->b), IB_EVENT_CLIENT_REREGISTER, 1);
	}
	settle(sm);
	for (i = GROUPS - 50; i < GROUPS; i++) {
		KUNIT_EXPECT_EQ(test, j[i].ins + j[i].losses, 1 + (j[i].ins && j[i].losses));
		in += j[i].ins && !j[i].losses;
		leave(&j[i]);
	}
	settle(sm);
	KUNIT_EXPECT_GT(test, in, 0U);
	KUNIT_EXPECT_EQ(test, sm_members(sm), 0U);
	sm->bad_leaves = 0;
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE(mcast_shared_by_members),
	KUNIT_CASE(mcast_ways_of_being_in),
	KUNIT_CASE(mcast_groups_are_apart),
	KUNIT_CASE(mcast_partition_not_named),
	KUNIT_CASE(mcast_not_what_was_asked_for),
	KUNIT_CASE(mcast_sa_chooses_the_group),
	KUNIT_CASE(mcast_makes_no_sense),
	KUNIT_CASE(mcast_refused_to_all),
	KUNIT_CASE(mcast_join_times_out),
	KUNIT_CASE(mcast_lost_member_is_ended_later),
	KUNIT_CASE(mcast_leave_does_not_wait),
	KUNIT_CASE(mcast_left_and_joined_again),
	KUNIT_CASE(mcast_joined_again_when_asked),
	KUNIT_CASE(mcast_sm_change_is_no_reason),
	KUNIT_CASE(mcast_group_is_another_one),
	KUNIT_CASE(mcast_cannot_be_joined_again),
	KUNIT_CASE(mcast_forgotten_in_between),
	KUNIT_CASE(mcast_joined_and_left_in_a_callback),
	KUNIT_CASE(mcast_many_groups),
	{}
};

static struct kunit_suite mcast_suite = {
	.name = "ib_multicast_groups_are_shared",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(mcast_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of multicast groups");
