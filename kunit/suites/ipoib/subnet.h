/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subnet for IPoIB's tests: it answers path queries and joins in the place of the SA client and
 * the multicast service, at once or when the test says so, and knows what was asked.
 *
 * And the interfaces on it: the client of ib_ipoib without its services, on a fake HCA.
 */
#ifndef SUBNET_H
#define SUBNET_H

#include "../core/fake.h"
#include "../core/fake_verbs.h"
#include "ipoib.h"

#define SUBNET_MLID 0xc000
#define SUBNET_QKEY 0x0b1b
#define SUBNET_JOINS 64

/**
 * struct subnet - see above
 * @test: whose
 * @vf: the provider of the HCA
 * @fake: the HCA
 * @client: the client
 * @registered: it is
 * @bound: the provider is bound
 * @lock: protects the lists
 * @queries: path queries that were not ended by their owner
 * @members: memberships that were not left
 * @held: nothing is answered until subnet_release()
 * @path_error: what path queries end with
 * @join_error: what joins end with, of groups other than the broadcast group if @spare_broadcast
 * @spare_broadcast: see there
 * @asked: path queries, so far
 * @joined: joins, so far
 * @joins: their MGIDs and states
 * @states: the same
 * @left: memberships that were left
 * @lid_shift: added to LIDs of paths, so that another answer can be told from the first
 */
struct subnet {
	struct kunit *test;
	struct vfake vf;
	struct fake_hca *fake;
	struct ib_client client;
	bool registered;
	bool bound;
	spinlock_t lock; /* protects the lists */
	struct list_head queries;
	struct list_head members;
	bool held;
	int path_error;
	int join_error;
	bool spare_broadcast;
	atomic_t asked;
	atomic_t joined;
	union ib_gid joins[SUBNET_JOINS];
	u8 states[SUBNET_JOINS];
	atomic_t left;
	u16 lid_shift;
};

struct subnet *subnet_create(struct kunit *test, const char *name);
void subnet_bind(struct subnet *s);
void subnet_unbind(struct subnet *s);
struct subnet *subnet_up(struct kunit *test, const char *name);
void subnet_unregister(struct subnet *s);
void subnet_hold(struct subnet *s);
void subnet_release(struct subnet *s);
void subnet_lose(struct subnet *s, int error);
int subnet_members(struct subnet *s);
int subnet_queries(struct subnet *s);

struct ipoib_iface *subnet_iface(struct subnet *s, u8 port);
int subnet_ifaces(struct subnet *s);
void subnet_open(struct subnet *s, struct ipoib_iface *iface);
void subnet_stop(struct ipoib_iface *iface);
void subnet_wait_carrier(struct subnet *s, struct ipoib_iface *iface, bool on);
void subnet_send(struct ipoib_iface *iface, const u8 *daddr);
void subnet_send_known(struct subnet *s, struct ipoib_iface *iface, const u8 *daddr);
void subnet_peer(u8 *daddr, u32 number);

#endif
