/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subnet manager in software, as far as the SA class goes: it sits at the wire of a fake provider
 * (core/fake_verbs.h), answers in the very call that posts a request, and does what it is told; or
 * somebody else brings it what came in, and sends what it answers (wire/stage.h).
 * It reads and writes MADs by offsets of its own, so that a mistake in the core's tables shows.
 *
 * It keeps who is in which multicast group and in what way, so that at the end of a test one can
 * ask whether everything was left, and counts leaves of what was never joined.
 */
#ifndef SM_H
#define SM_H

#include "../core/bench.h"

#define SM_LOG 4096
#define SM_GROUPS 600
#define SM_RECORDS 500

/**
 * struct sm_seen - a request that arrived
 * @port: by which port of ours
 * @lid: for which LID
 * @method: method
 * @attr: attribute
 * @mask: component mask
 * @tid: TID
 * @join_state: of a MCMemberRecord
 * @mgid: of a MCMemberRecord
 */
struct sm_seen {
	u8 port;
	u16 lid;
	u8 method;
	u16 attr;
	u64 mask;
	u64 tid;
	u8 join_state;
	u8 mgid[16];
};

/**
 * struct sm_group - a multicast group
 * @mgid: its MGID
 * @exists: it does
 * @joined: the ways in which each port of ours is in it
 * @qkey: its Q_Key
 * @mlid: its LID
 * @pkey: its P_Key
 */
struct sm_group {
	u8 mgid[16];
	bool exists;
	u8 joined[VFAKE_PORTS];
	u32 qkey;
	u16 mlid;
	u16 pkey;
};

/**
 * struct sm - the SM
 * @test: the test
 * @b: the bench whose wire it is at, or NULL
 * @send: sends a MAD to a port; may sleep unless what calls sm_hear() may not
 * @send_table: sends @table, so many bytes, behind the header of a MAD; NULL: @send gets segments
 * @lid: where it lives: what goes to another LID is not for it
 * @deaf: it may not have heard the last leaves: that all was left is not checked in the end
 * @silent: it answers nothing
 * @keep: it does what it is asked, but keeps the answers until sm_answer()
 * @drop: so many of the next requests get lost
 * @busy: so many of the next are answered BUSY
 * @refuse: if not 0, the status that everything is answered with
 * @refuse_joins: the same, for MCMemberRecords alone
 * @mlid_base: the LID of a group is this and the end of its MGID
 * @records: how many paths it knows, for GetTable
 * @stride: what it says is the distance of records, in bytes; 0: the truth
 * @wrong_method: answers have this method; 0: the right one
 * @lock: protects what follows
 * @seen: requests, oldest first
 * @nseen: how many
 * @astray: requests for another LID
 * @bad_leaves: leaves of what was not joined
 * @acks: RMPP acknowledgements that came
 * @segment: the next segment of the table that is being asked for, from 1
 * @asked: the answer's header
 * @table: the table
 * @groups: multicast groups
 * @named: how many MGIDs it has chosen
 * @kept: answers, &struct sm_answer
 */
struct sm {
	struct kunit *test;
	struct bench *b;
	void (*send)(struct sm *sm, u8 port, const u8 *mad);
	void (*send_table)(struct sm *sm, u8 port, const u8 *mad, size_t len);
	u16 lid;
	bool deaf;
	bool silent;
	bool keep;
	unsigned int drop;
	unsigned int busy;
	u16 refuse;
	u16 refuse_joins;
	u16 mlid_base;
	unsigned int records;
	unsigned int stride;
	u8 wrong_method;
	spinlock_t lock; /* protects what follows */
	struct sm_seen seen[SM_LOG];
	unsigned int nseen;
	unsigned int astray;
	unsigned int bad_leaves;
	unsigned int acks;
	unsigned int segment;
	u8 asked[IB_MAD_SIZE];
	u8 table[SM_RECORDS * 64 + 200];
	struct sm_group groups[SM_GROUPS];
	unsigned int named;
	struct list_head kept;
};

struct sm *sm_alone(struct kunit *test);
struct sm *sm_create(struct kunit *test, const char *name);
struct sm *sm_up(struct kunit *test, const char *name);
void sm_hear(struct sm *sm, u8 port, u16 lid, const u8 *heard);
void sm_answer(struct sm *sm);
void sm_forget(struct sm *sm);
unsigned int sm_count(struct sm *sm, u8 method, u16 attr);
unsigned int sm_members(struct sm *sm);
struct sm_group *sm_group(struct sm *sm, const u8 *mgid);

#endif
