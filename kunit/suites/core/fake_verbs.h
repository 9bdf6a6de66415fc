/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider with verbs in software: it counts calls, fails those it is told to, completes what is
 * posted at once (or, when silent, never), and notes in which order objects give their memory back.
 *
 * What must not happen to a provider (a verb or a release after stop, a release of what was never
 * made, an event after it) is counted in &vfake.breaches.  Not tied to KUnit: the test module for
 * virtual machines is made of it too.
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include <ib/hca.h>
#include <ib/verbs.h>

#define VFAKE_PORTS 2
#define VFAKE_GIDS 4
#define VFAKE_PKEYS 3
#define VFAKE_ORDER 64
#define VFAKE_NODE_GUID 0x0002c90300a1b2c0ULL

enum vfake_op {
	VFAKE_QUERY_DEVICE, VFAKE_QUERY_PORT, VFAKE_QUERY_GIDS, VFAKE_QUERY_PKEYS,
	VFAKE_MODIFY_NODE, VFAKE_MODIFY_PORT, VFAKE_PROCESS_MAD, VFAKE_READ_STATS,
	VFAKE_CREATE_PD, VFAKE_DESTROY_PD, VFAKE_CREATE_XRCD, VFAKE_DESTROY_XRCD,
	VFAKE_CREATE_CQ, VFAKE_DESTROY_CQ, VFAKE_ARM_CQ, VFAKE_CREATE_SRQ, VFAKE_DESTROY_SRQ,
	VFAKE_CREATE_AH, VFAKE_CREATE_MR, VFAKE_DESTROY_MR, VFAKE_CREATE_MW, VFAKE_DESTROY_MW,
	VFAKE_CREATE_QP, VFAKE_DESTROY_QP, VFAKE_MODIFY_QP, VFAKE_QUERY_QP,
	VFAKE_POST_SEND, VFAKE_POST_RECV, VFAKE_ATTACH, VFAKE_DETACH,
	VFAKE_FLUSH, VFAKE_STOP,
	VFAKE_OPS,
};

/**
 * struct vfake_mad - a MAD on the wire
 * @node: in &vfake.wire
 * @to: where to
 * @port: the port it left by
 * @qpn: by which QP, 0 or 1
 * @dqpn: to which QP
 * @qkey: Q_Key
 * @pkey_index: P_Key index
 * @mad: what it says
 */
struct vfake_mad {
	struct list_head node;
	struct ib_ah_attr to;
	u8 port;
	u8 qpn;
	u32 dqpn;
	u32 qkey;
	u16 pkey_index;
	u8 mad[IB_MAD_SIZE];
};

/**
 * struct vfake - a provider on one HCA
 * @calls: how often each operation was called
 * @fails: what each returns instead of doing its work; 0: nothing
 * @port: what the ports are like
 * @gids: their GID tables
 * @pkeys: their P_Key tables
 * @perf_cap: capability mask of the performance agent
 * @stats: it offers statistics: two figures of the device and of each port
 * @local_key: the device has a local DMA key of its own
 * @silent: the hardware has stopped to answer: nothing posted completes
 * @mute: BIT() of VFAKE_POST_SEND, VFAKE_POST_RECV: what that posts waits for ERR
 * @stopped: &ib_device_ops.stop has been called
 * @buffers: objects whose memory has not been given back
 * @order: types of objects, in the order in which they gave it back
 * @released: how many are in @order
 * @breaches: what must not happen and did
 * @lock: protects @qps and what hangs from it
 * @qps: &struct vfake_qp, those that were not detached
 * @next_number: of QPs and keys
 * @mads: its ports have QP0 and QP1, and there is a wire: what they send is kept in @wire, or, if
 *	@loop, received by the port whose LID it is for; receives wait for vfake_deliver()
 * @loop: see there
 * @hold: sends of QP0 and QP1 do not complete for the time being
 * @max_wr: if not 0, what the device says of the length of queues
 * @last_qpn: where the last send of a UD QP was for
 * @fail_sends: so many of the next sends of QP0 and QP1 fail, which stops the send queue
 * @on_wire: called for each MAD that leaves, in the call that posts it, instead of keeping it
 * @wire_data: for @on_wire
 * @wire: &vfake_mad.node, oldest first; under @lock
 * @sent: how many MADs have left
 * @dropped: MADs for which no receive was posted
 * @local: answers MADs for the device; NULL: the performance agent alone
 * @hook: called at the beginning of each operation
 * @data: for @hook
 */
struct vfake {
	atomic_t calls[VFAKE_OPS];
	int fails[VFAKE_OPS];
	struct ib_port_attr port[VFAKE_PORTS];
	union ib_gid gids[VFAKE_PORTS][VFAKE_GIDS];
	u16 pkeys[VFAKE_PORTS][VFAKE_PKEYS];
	u16 perf_cap;
	bool stats;
	bool local_key;
	bool silent;
	unsigned long mute;
	bool stopped;
	atomic_t buffers;
	enum ib_object_type order[VFAKE_ORDER];
	unsigned int released;
	atomic_t breaches;
	spinlock_t lock; /* protects qps */
	struct list_head qps;
	u32 next_number;
	bool mads;
	bool loop;
	bool hold;
	u32 max_wr;
	u32 last_qpn;
	unsigned int fail_sends;
	void (*on_wire)(struct vfake *vf, const struct vfake_mad *mad);
	void *wire_data;
	struct list_head wire;
	unsigned int sent;
	unsigned int dropped;
	enum ib_mad_result (*local)(struct vfake *vf, const struct ib_mad_request *request,
				    u8 *answer);
	void (*hook)(struct vfake *vf, enum vfake_op op);
	void *data;
};

extern const struct ib_provider vfake_provider;

void vfake_init(struct vfake *vf);
struct vfake_mad *vfake_take(struct vfake *vf);
bool vfake_deliver(struct vfake *vf, const struct ib_wc *wc, u8 qpn, const u8 *mad);
void vfake_release_held(struct vfake *vf);
void vfake_wire_clear(struct vfake *vf);

static inline int vfake_calls(struct vfake *vf, enum vfake_op op)
{
	return atomic_read(&vf->calls[op]);
}

#endif
