/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Multicast: groups that a port is in, shared by everybody who wants them.
 *
 * To the SA a port is in a group or is not.  Here several members, of several clients, share what
 * the port is.  A group is (port, MGID, partition); the SA hears of a join when the first member
 * needs it, and of a leave when the last one has gone, for each way of being in the group (full,
 * non-member, send-only, send-only full member).
 *
 * When the SM has forgotten (it asks clients to register again, or the port has another LID or was
 * down) the groups are joined again without the members' help.  They hear of it if the group is not
 * what it was, or if it could not be joined.  That another SM has taken over, by itself, is no
 * reason for a join.
 *
 * A member is an agent.  What a client leaves behind is left for it.
 */
#ifndef IB_MULTICAST_H
#define IB_MULTICAST_H

#include <ib/sa.h>

struct ib_mcast_member;

/** ib_multicast - the service, for &ib_client.needs */
extern struct ib_service ib_multicast;

/**
 * enum ib_mcast_news - what a member is told
 * @IB_MCAST_JOINED: the join has succeeded; once, and first
 * @IB_MCAST_CHANGED: the group was joined again and has another record (MLID, Q_Key, ...)
 * @IB_MCAST_LOST: the join has failed, or the group was lost later; the last of all
 */
enum ib_mcast_news {
	IB_MCAST_JOINED,
	IB_MCAST_CHANGED,
	IB_MCAST_LOST,
};

/**
 * struct ib_mcast_report - what a member is told
 * @news: what
 * @error: 0, or with IB_MCAST_LOST:
 *	-EINVAL: the SA refused, or the group exists and is not what was asked for;
 *	-ETIMEDOUT: no answer;
 *	-ENETRESET: was joined, the SM forgot it, and joining again did not succeed;
 *	-ECANCELED: flushed, the device goes away;
 *	or another of &ib_sa_result.error
 * @status: MAD status of the SA's answer, if there was one
 * @record: what the group is like; valid unless IB_MCAST_LOST, and during the call
 */
struct ib_mcast_report {
	enum ib_mcast_news news;
	int error;
	u16 status;
	struct ib_sa_mcmember record;
};

/**
 * typedef ib_mcast_callback - something happened to a membership
 * @member: the membership
 * @report: what; valid during the call
 * @context: of the member
 *
 * Process context, under no lock; may sleep, may join other groups, but leave none save its own:
 * two callbacks that each end the other's membership would wait for ever.  One call at a time for
 * each member.  Never called from inside ib_mcast_join().
 *
 * Return: IB_CB_DONE; IB_CB_DESTROY: leave, the owner will not touch the member again.
 */
typedef enum ib_cb_result (*ib_mcast_callback)(struct ib_mcast_member *member,
					       const struct ib_mcast_report *report,
					       void *context);

/**
 * struct ib_mcast_request - a wish to be in a group
 * @port: the port, from 1
 * @mask: IB_SA_MCMEMBER_*: which components of @record count.  MGID and JOIN_STATE must be among
 *	them; PORT_GID is added if it is not.  What else is needed depends on whether the group has
 *	to be created (IBA 15.2.5.17).
 * @record: the components.  An MGID of zero lets the SA choose: such a group is not shared.
 * @timeout_ms: as in struct ib_sa_request; 0: 300 ms, eleven requests
 * @retries: the same
 * @callback: called when the join has ended, and when something happens later
 * @context: handed to @callback
 */
struct ib_mcast_request {
	u8 port;
	u64 mask;
	struct ib_sa_mcmember record;
	unsigned int timeout_ms;
	unsigned int retries;
	ib_mcast_callback callback;
	void *context;
};

/**
 * ib_mcast_join() - join a group
 * @attachment: the owner; needs the service ib_multicast
 * @request: the wish; copied
 * @member: set before the callback can be called
 *
 * Context: process, may sleep; RTNL may be held.
 * Return: 0; -EINVAL: no such port, or the request makes no sense; -ENODEV: attachment or service
 * closed; -ENOMEM.
 */
int ib_mcast_join(struct ib_attachment *attachment, const struct ib_mcast_request *request,
		  struct ib_mcast_member **member);

/**
 * ib_mcast_leave() - end a membership, in whatever state it is
 * @member: the membership; not to be touched afterwards
 *
 * No callback of the member runs when this returns.  Does not wait for the SA: the leave is on its
 * way.  Detach QPs before.
 *
 * Context: process, may sleep; RTNL may be held if the callback does not take it; not in a callback
 * of any agent.
 */
void ib_mcast_leave(struct ib_mcast_member *member);

/**
 * ib_mcast_find() - is the port in a group?
 * @attachment: an attachment to the device; needs the service ib_multicast
 * @port: the port, from 1
 * @mgid: the group
 * @record: filled in with what the group is like; may be NULL
 *
 * Context: any but hard interrupts.
 * Return: 0: somebody has joined it through this service; -ENOENT; -EINVAL; -ENODEV.
 */
int ib_mcast_find(struct ib_attachment *attachment, u8 port, const union ib_gid *mgid,
		  struct ib_sa_mcmember *record);

#endif /* IB_MULTICAST_H */
