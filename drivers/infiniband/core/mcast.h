/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the multicast service tell each other: mcast_service.c (instance, ports,
 * close), mcast_group.c (what the SA knows of a group), mcast_member.c (who wants to be in it),
 * mcast_wish.c (is it what he wants?).
 */
#ifndef IB_MCAST_H
#define IB_MCAST_H

#include <ib/event.h>
#include <ib/multicast.h>

#include "core.h"

#define MCAST_BUCKETS 64

struct mcast;

/**
 * struct mcast_port - a port
 * @mcast: the instance
 * @number: from 1
 * @lock: protects what follows, the groups and the members; taken before the HCA's lock
 * @closing: nobody joins any more
 * @groups: by MGID; &mcast_group.node
 */
struct mcast_port {
	struct mcast *mcast;
	u8 number;
	spinlock_t lock; /* protects what follows */
	bool closing;
	struct hlist_head groups[MCAST_BUCKETS];
};

/**
 * struct mcast - the service on a device
 * @instance: the framework's
 * @events: tells when the SM has forgotten
 * @ports: how many
 * @port: the ports, from index 0
 */
struct mcast {
	struct ib_service_instance *instance;
	struct ib_event_handler *events;
	unsigned int ports;
	struct mcast_port port[];
};

/**
 * struct mcast_wish - how somebody wants to be in a group
 * @mask: components of @record that count
 * @record: the request; its join state says in which ways
 * @timeout_ms: for each try
 * @retries: tries after the first
 */
struct mcast_wish {
	u64 mask;
	struct ib_sa_mcmember record;
	unsigned int timeout_ms;
	unsigned int retries;
};

/**
 * enum mcast_op - what the SA is being asked
 * @MCAST_IDLE: nothing
 * @MCAST_JOIN: a way of being in the group that is new
 * @MCAST_REJOIN: those it may have forgotten
 * @MCAST_LEAVE: those that nobody wants any more
 */
enum mcast_op {
	MCAST_IDLE,
	MCAST_JOIN,
	MCAST_REJOIN,
	MCAST_LEAVE,
};

/**
 * struct mcast_group - a group
 * @ref: memory: @node, each member, each work and each query that is under way
 * @port: the port
 * @work: decides what to ask the SA next
 * @node: in &mcast_port.groups; it is there while anybody may still be interested
 * @mgid: the group; zero until the SA has chosen
 * @partition: P_Key without the membership bit; 0: nobody has said
 * @port_gid: what the port was called when it joined last
 * @members: those that wait or are in; &ib_mcast_member.node
 * @joined: the ways in which the SA has us in the group; IB_SA_JOIN_*
 * @unsure: ways for which a request was not answered
 * @stale: the SA may have forgotten @joined
 * @farewell: the service is closing and has left it
 * @record: the group, as the SA described it last
 * @again: the fullest wish that was granted: how to join again
 * @op: what is under way
 * @op_bits: the ways it is about
 * @op_wish: in MCAST_JOIN, whose
 * @starting: it is being started, @query is not known yet
 * @query: the query
 */
struct mcast_group {
	struct kref ref;
	struct mcast_port *port;
	struct work_struct work;

	struct hlist_node node;
	union ib_gid mgid;
	u16 partition;
	union ib_gid port_gid;
	struct list_head members;
	u8 joined;
	u8 unsure;
	bool stale;
	bool farewell;
	struct ib_sa_mcmember record;
	struct mcast_wish again;
	enum mcast_op op;
	u8 op_bits;
	struct mcast_wish op_wish;
	bool starting;
	struct ib_sa_query *query;
};

/**
 * enum mcast_member_state - where a member stands
 * @MCAST_MEMBER_WAITS: for the group to be joined
 * @MCAST_MEMBER_IN: it is in
 * @MCAST_MEMBER_OUT: left, failed, or lost
 */
enum mcast_member_state {
	MCAST_MEMBER_WAITS,
	MCAST_MEMBER_IN,
	MCAST_MEMBER_OUT,
};

/**
 * struct ib_mcast_member - a membership
 * @agent: what the owner has
 * @ref: memory: the agent, and a report that is under way
 * @port: the port
 * @wish: what it asked for
 * @callback: the owner's
 * @context: for it
 * @work: delivers @report
 *
 * Under the port's lock:
 * @group: the group, unless it is out
 * @node: in &mcast_group.members
 * @state: see above
 * @news: @report is to be delivered
 * @report: what to tell; later news replace earlier ones that were not delivered
 */
struct ib_mcast_member {
	struct ib_agent agent;
	struct kref ref;
	struct mcast_port *port;
	struct mcast_wish wish;
	ib_mcast_callback callback;
	void *context;
	struct work_struct work;

	struct mcast_group *group;
	struct list_head node;
	enum mcast_member_state state;
	bool news;
	struct ib_mcast_report report;
};

static inline struct ib_service_instance *mcast_instance(const struct mcast_port *port)
{
	return port->mcast->instance;
}

static inline bool mcast_gid_is_zero(const union ib_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

/* mcast_wish.c */
bool mcast_wish_granted(const struct mcast_wish *wish, const struct ib_sa_mcmember *record);
bool mcast_wish_same(const struct mcast_wish *a, const struct mcast_wish *b);
bool mcast_record_differs(const struct ib_sa_mcmember *a, const struct ib_sa_mcmember *b);

/* mcast_group.c; with the port's lock held unless said otherwise */
struct mcast_group *mcast_group_alloc(struct mcast_port *port);
void mcast_group_free(struct kref *ref);
struct mcast_group *mcast_group_find(struct mcast_port *port, const union ib_gid *mgid,
				     u16 partition);
void mcast_group_add(struct mcast_group *group, const union ib_gid *mgid, u16 partition);
void mcast_group_kick(struct mcast_group *group);
u8 mcast_group_wanted(const struct mcast_group *group);
void mcast_group_put_op(struct mcast_group *group);
int mcast_group_tell(struct mcast_group *group, u8 bits);
void mcast_group_farewell(struct mcast_group *group);

/* mcast_member.c; with the port's lock held */
void mcast_member_tell(struct ib_mcast_member *member, enum ib_mcast_news news, int error,
		       u16 status);
void mcast_member_lose(struct ib_mcast_member *member, int error, u16 status);

#endif /* IB_MCAST_H */
