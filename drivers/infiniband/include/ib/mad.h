/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The MAD service: management datagrams by QP0 and QP1 (IBA 13).
 *
 * Who wants to send or receive MADs names &ib_mad_service in its needs and makes an agent, for one
 * port and one of the two QPs.  An agent
 *
 *  - sends.  A send is a buffer that the service allocates, the owner fills and posts.  From then
 *    on it belongs to the service, until its done callback gives it back: exactly once for each
 *    post that returned 0.  If a response is expected (&ib_mad_send.timeout_ms), done comes with
 *    the response, or with -ETIMEDOUT after the last retry; else when the MAD has left.
 *  - receives what nobody has asked for, if it was registered for the class and method.
 *
 * The service writes the agent's own number into the upper half of the TID of every MAD that is not
 * a response; that is how responses find their way.  Messages of a class with RMPP may have any
 * length, both ways: with &ib_mad_agent_init.rmpp the service cuts and joins, acknowledges and
 * repeats (IBA 13.6).
 *
 * Callbacks run in process context, on a work item of the port or, when an agent is destroyed, in
 * ib_mad_agent_destroy() itself; under no lock of the core; one at a time for each agent but for
 * those of ib_mad_agent_destroy().  They may sleep shortly (the port waits), post, cancel and make
 * agents.  They destroy none: their own by IB_CB_DESTROY, others from a work item, since two that
 * wait for each other's callbacks would wait for ever.
 */
#ifndef IB_MAD_H
#define IB_MAD_H

#include <ib/agent.h>
#include <ib/mad_defs.h>
#include <ib/verbs.h>

struct ib_mad_agent;
struct ib_mad_port;
struct ib_mad_recv;
struct ib_mad_send;

/* For the needs of clients and services. */
extern struct ib_service ib_mad_service;

/**
 * struct ib_mad_addr - the other side of a MAD; host byte order
 * @lid: its LID; IB_LID_PERMISSIVE for what never left the port
 * @sl: service level
 * @path_bits: low bits of our own LID
 * @pkey_index: index of the P_Key; QP1 only
 * @qpn: its QP number
 * @qkey: received: 0.  Sent: 0 stands for IB_QP1_QKEY, which all QP1s have; QP1 only
 * @has_grh: @grh counts
 * @grh: sent: as of an AH; received: the one that an answer needs, so the other side's GID in dgid
 *	and ours by its index
 *
 * That of a received MAD, as it is, is the one to answer to.
 */
struct ib_mad_addr {
	u16 lid;
	u8 sl;
	u8 path_bits;
	u16 pkey_index;
	u32 qpn;
	u32 qkey;
	bool has_grh;
	struct ib_grh_attr grh;
};

/**
 * struct ib_mad_recv - a received message; memory and nothing else, good for ever
 * @from: the other side
 * @port: where it came in, from 1
 * @qpn: 0 or 1: our QP
 * @length: bytes of @mad: IB_MAD_SIZE; what RMPP has joined: one class header and the data of all
 *	segments behind each other
 * @mad: the message.  The RMPP header of a joined one is that of the first segment.
 *
 * Whoever is given one frees it, with ib_mad_recv_free().
 */
struct ib_mad_recv {
	struct ib_mad_addr from;
	u8 port;
	u8 qpn;
	u32 length;
	u8 mad[] __aligned(8);
};

/**
 * ib_mad_recv_free() - give a received message back
 * @recv: the message or NULL
 *
 * Context: any that may sleep; also when the device and the agent are long gone.
 */
void ib_mad_recv_free(struct ib_mad_recv *recv);

/**
 * typedef ib_mad_done_fn - a send has ended
 * @send: the send; the owner's again, to be freed or posted again
 * @status: 0: the MAD has left, or its response is here (whatever its MAD status);
 *	-ETIMEDOUT: no response; -ECANCELED: ib_mad_cancel() or ib_mad_agent_destroy(), or
 *	the polite time of a teardown is over;
 *	-EIO: the hardware is gone, or did not take it;
 *	-EINVAL: the address does not make sense any more (a GID index, say);
 *	-ECONNABORTED: the other side ended RMPP (ABORT or STOP), or does not know how to speak it;
 *	-EMSGSIZE, -ENOMEM: the response was longer than the agent takes, or memory is
 * @response: the response, the owner's now; NULL if there is none
 *
 * Return: IB_CB_DESTROY: destroy the agent; see &enum ib_cb_result.
 */
typedef enum ib_cb_result (*ib_mad_done_fn)(struct ib_mad_send *send, int status,
					    struct ib_mad_recv *response);

/**
 * typedef ib_mad_recv_fn - a MAD that nobody had asked for
 * @agent: the agent
 * @recv: the message; the owner's now
 *
 * Return: IB_CB_DESTROY: destroy the agent; see &enum ib_cb_result.
 */
typedef enum ib_cb_result (*ib_mad_recv_fn)(struct ib_mad_agent *agent, struct ib_mad_recv *recv);

/* Flags of a send. */
#define IB_MAD_SEND_RMPP	BIT(0)	/* a message for RMPP to cut; may be one segment only */
#define IB_MAD_SEND_BUSY	BIT(1)	/* a BUSY answer is no answer, save to the last try */
#define IB_MAD_SEND_REDIRECT	BIT(2)	/* follow a redirection, once */

/**
 * struct ib_mad_send - a message to be sent
 * @agent: whose
 * @to: where to
 * @timeout_ms: milliseconds to wait for the response to each try; 0: there will be none
 * @retries: how often it is sent again when there was none
 * @flags: IB_MAD_SEND_*
 * @done: called when it has ended; required
 * @context: the owner's
 * @id: set by ib_mad_post(), for ib_mad_cancel()
 * @length: bytes of @mad; constant: what ib_mad_send_alloc() was asked for
 * @mad: the message, zeroed; without RMPP there are always IB_MAD_SIZE bytes.  With it: one class
 *	header and the data behind each other; the RMPP header is the service's to fill.
 */
struct ib_mad_send {
	struct ib_mad_agent *agent;
	struct ib_mad_addr to;
	u32 timeout_ms;
	u32 retries;
	u32 flags;
	ib_mad_done_fn done;
	void *context;
	u64 id;
	u32 length;
	u8 *mad;
};

/**
 * ib_mad_send_alloc() - make a buffer for a message
 * @agent: the agent that will send it
 * @length: bytes; without RMPP at most IB_MAD_SIZE
 * @gfp: how to allocate
 *
 * Return: the send, or ERR_PTR(-ENOMEM), ERR_PTR(-EINVAL).
 */
struct ib_mad_send *ib_mad_send_alloc(struct ib_mad_agent *agent, u32 length, gfp_t gfp);

/**
 * ib_mad_send_free() - give it back
 * @send: one that is not posted, or NULL
 *
 * Context: any that may sleep; also after the end of the agent.
 */
void ib_mad_send_free(struct ib_mad_send *send);

/**
 * ib_mad_post() - send a message
 * @send: filled in
 *
 * What goes to the port itself (an SMP by a directed route without hops, say) is handed to the
 * device, on the port's work item; the answer comes as any other.
 *
 * Context: process; may sleep.  Also in callbacks.
 * Return: 0: done will be called, exactly once, not from here; -EINVAL: a directed route that does
 * not begin here, an address that makes no sense (SL, P_Key or GID index), RMPP where there is
 * none, a class without RMPP from an agent with it, or no done; -EAGAIN: the agent has 16384 under
 * way; -ENODEV: destroyed, or the service is closing; -EIO: the hardware is gone.
 */
int ib_mad_post(struct ib_mad_send *send);

/**
 * ib_mad_cancel() - end a send early
 * @agent: the agent
 * @id: &ib_mad_send.id after ib_mad_post(); good for ever, never used twice
 *
 * Exact: true says that done comes with -ECANCELED and no response (not from here); false that done
 * comes, or came, as if nobody had cancelled.
 *
 * Context: any but hard interrupts.
 * Return: see above.
 */
bool ib_mad_cancel(struct ib_mad_agent *agent, u64 id);

/**
 * ib_mad_tid() - a number for the lower half of a TID that this agent has not used lately
 * @agent: the agent
 *
 * For the kernel's own requests.  Context: any.
 * Return: never 0.
 */
u32 ib_mad_tid(struct ib_mad_agent *agent);

/**
 * struct ib_mad_agent_init - how an agent shall be
 * @port: from 1
 * @qpn: 0 or 1
 * @class: class to receive requests of; 0: none, it only sends
 * @class_version: of @class; below 0x83
 * @oui: of the vendor, 24 bits; for classes 0x30 ... 0x4f that receive
 * @methods: methods (without the response bit) it wants; all or none of them are given.  Those of
 *	responses may be named and mean nothing.
 * @rmpp: 1: the service does RMPP for it; 0: not
 * @user_rmpp: the owner does it himself, whatever @rmpp says: each segment is handed through,
 *	both ways
 * @recv: called for unsolicited MADs; required if @methods is not empty, or @user_rmpp
 * @max_message: with @rmpp, most bytes of a received message; 0: 16 MiB
 * @context: kept in &ib_mad_agent.context
 */
struct ib_mad_agent_init {
	u8 port;
	u8 qpn;
	u8 class;
	u8 class_version;
	u32 oui;
	DECLARE_BITMAP(methods, IB_METHODS);
	u8 rmpp;
	bool user_rmpp;
	ib_mad_recv_fn recv;
	u32 max_message;
	void *context;
};

/**
 * struct ib_mad_agent - a MAD agent
 * @agent: what all agents have
 * @context: the owner's
 * @hi_tid: upper half of the TIDs of its requests: 1 ... 0xffffff
 * @port: its port, see @init
 * @init: as it was asked for
 *
 * The rest is private to the service (drivers/infiniband/core/mad.h).
 */
struct ib_mad_agent {
	struct ib_agent agent;
	void *context;
	u32 hi_tid;
	struct ib_mad_port *port;
	struct ib_mad_agent_init init;
};

/**
 * ib_mad_agent_create() - make an agent
 * @attachment: the owner
 * @init: how it shall be
 *
 * Context: process; may sleep.
 * Return: the agent or ERR_PTR(): -ENODEV: the attachment or the service is closed;
 * -EPROTONOSUPPORT: no such port, or one without QPs; -EINVAL: class and QP do not fit, RMPP for a
 * class without, a method that somebody else has (which is logged), ...; -ENOMEM.
 */
struct ib_mad_agent *ib_mad_agent_create(struct ib_attachment *attachment,
					 const struct ib_mad_agent_init *init);

/**
 * ib_mad_agent_destroy() - its mirror
 * @agent: the agent; not to be touched afterwards
 *
 * Ends every send first: done is called for each with -ECANCELED, here, and none after this has
 * returned.  What was posted goes out all the same, once, and is not waited for: so an agent may
 * post a farewell and leave.  What was for the port itself is dealt with as well.
 *
 * Context: process; may sleep; not in a callback of the same agent.
 */
void ib_mad_agent_destroy(struct ib_mad_agent *agent);

/**
 * ib_mad_addr_attr() - the AH attributes of an address
 * @addr: the address
 * @port: our port
 * @attr: filled in
 */
static inline void ib_mad_addr_attr(const struct ib_mad_addr *addr, u8 port,
				    struct ib_ah_attr *attr)
{
	*attr = (struct ib_ah_attr) {
		.grh = addr->grh,
		.has_grh = addr->has_grh,
		.dlid = addr->lid,
		.sl = addr->sl,
		.path_bits = addr->path_bits,
		.port = port,
	};
}

#endif /* IB_MAD_H */
