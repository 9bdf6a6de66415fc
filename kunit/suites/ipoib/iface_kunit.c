// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interfaces of IPoIB on a fake HCA and a fake subnet: their life, their groups and paths, what
 * events do to them, and every way of losing the HCA.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "subnet.h"

static int calls(struct subnet *s, enum vfake_op op)
{
	return vfake_calls(&s->vf, op);
}

static void group_addr(u8 *addr, u8 last)
{
	ipoib_broadcast_pack(addr, IB_PKEY_DEFAULT);
	addr[16] = 0;
	addr[17] = 0;
	addr[18] = 0;
	addr[19] = last;
}

static bool was_joined(struct subnet *s, const union ib_gid *mgid)
{
	int i;

	for (i = 0; i < atomic_read(&s->joined) && i < SUBNET_JOINS; i++)
		if (!memcmp(&s->joins[i], mgid, sizeof(*mgid)))
			return true;
	return false;
}

/* ---- life ---- */

static void a_port_has_an_interface(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1), *b = subnet_iface(s, 2);
	u8 broadcast[INFINIBAND_ALEN];

	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, b);
	KUNIT_EXPECT_EQ(test, ipoib_addr_qpn(a->netdev->dev_addr), a->queues->qp->qpn);
	KUNIT_EXPECT_NE(test, ipoib_addr_qpn(a->netdev->dev_addr), 0U);
	KUNIT_EXPECT_MEMEQ(test, a->netdev->dev_addr + 4, s->vf.gids[0][0].raw, 16);
	KUNIT_EXPECT_MEMEQ(test, b->netdev->dev_addr + 4, s->vf.gids[1][0].raw, 16);
	ipoib_broadcast_pack(broadcast, IB_PKEY_DEFAULT);
	KUNIT_EXPECT_MEMEQ(test, a->netdev->broadcast, broadcast, INFINIBAND_ALEN);
	KUNIT_EXPECT_EQ(test, a->netdev->mtu, 4092U);
	KUNIT_EXPECT_EQ(test, (int)b->netdev->dev_port, 1);
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(a->netdev));
	/* Down: nothing was posted, nothing joined. */
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_POST_RECV), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->joined), 0);
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
}

static void broadcast_group_comes_first(struct kunit *test)
{
	struct subnet *s = subnet_create(test, "lr-ipoib");
	struct ipoib_iface *a;
	u8 addr[INFINIBAND_ALEN];
	union ib_gid mgid;

	subnet_bind(s);
	a = subnet_iface(s, 1);
	group_addr(addr, 7);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_mc_add(a->netdev, addr), 0);
	rtnl_unlock();
	subnet_hold(s);
	subnet_open(s, a);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&s->joined) == 1, 10000));
	KUNIT_EXPECT_MEMEQ(test, s->joins[0].raw, a->netdev->broadcast + 4, 16);
	KUNIT_EXPECT_EQ(test, s->states[0], IB_SA_JOIN_FULL);
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(a->netdev));
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_ATTACH), 0);
	subnet_release(s);
	subnet_wait_carrier(s, a, true);
	ipoib_group_of(&mgid, addr, IB_PKEY_DEFAULT);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_ATTACH) >= 2, 10000));
	KUNIT_EXPECT_TRUE(test, LR_WAIT(was_joined(s, &mgid), 10000));
	KUNIT_EXPECT_EQ(test, a->qkey, (u32)SUBNET_QKEY);
	/* The group's MTU is less than the port's, and shown. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->netdev->mtu) == 2044, 10000));
	rtnl_lock();
	dev_mc_del(a->netdev, addr);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_DETACH) >= 1, 10000));
	subnet_stop(a);
	KUNIT_EXPECT_EQ(test, subnet_members(s), 0);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_ATTACH), calls(s, VFAKE_DETACH));
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(a->netdev));
}

static void down_and_up_keeps_the_address(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 before[INFINIBAND_ALEN];
	int i;

	memcpy(before, a->netdev->dev_addr, sizeof(before));
	for (i = 0; i < 10; i++) {
		subnet_open(s, a);
		subnet_stop(a);
		KUNIT_EXPECT_EQ(test, (int)READ_ONCE(a->rung), (int)IPOIB_MADE);
	}
	KUNIT_EXPECT_MEMEQ(test, a->netdev->dev_addr, before, sizeof(before));
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_CREATE_QP), VFAKE_PORTS);
}

static void mtu_of_user_and_group(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_set_mtu(a->netdev, 71), -EINVAL);
	KUNIT_EXPECT_EQ(test, dev_set_mtu(a->netdev, 4093), -EINVAL);
	KUNIT_EXPECT_EQ(test, dev_set_mtu(a->netdev, 3000), 0);
	KUNIT_EXPECT_EQ(test, a->netdev->mtu, 3000U);
	rtnl_unlock();
	subnet_open(s, a);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->netdev->mtu) == 2044, 10000));
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_set_mtu(a->netdev, 1000), 0);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, a->netdev->mtu, 1000U);
	/* Without the group it is what the user wants. */
	subnet_stop(a);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_set_mtu(a->netdev, 3000), 0);
	rtnl_unlock();
	subnet_open(s, a);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->netdev->mtu) == 2044, 10000));
	subnet_stop(a);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->netdev->mtu) == 3000, 10000));
}

/* ---- paths ---- */

static void packets_wait_for_a_path(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 peer[INFINIBAND_ALEN];
	int i, before;

	subnet_open(s, a);
	before = calls(s, VFAKE_POST_SEND);
	subnet_peer(peer, 1);
	subnet_hold(s);
	for (i = 0; i < IPOIB_PATH_QUEUE + 2; i++)
		subnet_send(a, peer);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&s->asked) == 1, 10000));
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_POST_SEND), before);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&a->counts.tx_dropped_waiting), 2L);
	subnet_release(s);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_POST_SEND) == before + IPOIB_PATH_QUEUE,
					10000));
	/* Now it is known. */
	for (i = 0; i < 10; i++)
		subnet_send(a, peer);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_POST_SEND), before + IPOIB_PATH_QUEUE + 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->asked), 1);
	KUNIT_EXPECT_EQ(test, subnet_queries(s), 0);
}

/* B26: a failed question leaves no black hole; the next packet asks again. */
static void b26_failed_path_is_asked_again(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 peer[INFINIBAND_ALEN];
	int before;

	subnet_open(s, a);
	before = calls(s, VFAKE_POST_SEND);
	subnet_peer(peer, 2);
	s->path_error = -ETIMEDOUT;
	subnet_send(a, peer);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_long_read(&a->counts.path_errors) == 1, 10000));
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!atomic_read(&a->npaths), 10000));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&a->counts.tx_dropped_waiting), 1L);
	s->path_error = 0;
	subnet_send(a, peer);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_POST_SEND) == before + 1, 10000));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->asked), 2);
}

/* The SM wants us to register again: paths are asked for again, and used until then. */
static void stale_paths_are_used_and_asked(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 peer[INFINIBAND_ALEN];
	int before;

	subnet_open(s, a);
	subnet_peer(peer, 3);
	before = calls(s, VFAKE_POST_SEND);
	subnet_send(a, peer);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_POST_SEND) == before + 1, 10000));
	ib_event_raise(fake_device(s->fake), IB_EVENT_CLIENT_REREGISTER, 1);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_long_read(&a->counts.flush_light) == 1, 10000));
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(a->netdev));
	subnet_hold(s);
	subnet_send(a, peer);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_POST_SEND), before + 2);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&s->asked) == 2, 10000));
	/* Asked once; and no answer is no reason to give up the way that is known. */
	s->path_error = -ETIMEDOUT;
	subnet_release(s);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!subnet_queries(s), 10000));
	subnet_send(a, peer);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_POST_SEND), before + 3);
}

/* B92: two hundred peers, and no address handle is left; the provider counts them. */
static void b92_many_peers_leave_no_handle(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 peer[INFINIBAND_ALEN];
	int i, before;

	subnet_open(s, a);
	before = calls(s, VFAKE_POST_SEND);
	for (i = 0; i < 200; i++) {
		subnet_peer(peer, i);
		subnet_send(a, peer);
	}
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_POST_SEND) == before + 200, 60000));
	KUNIT_EXPECT_EQ(test, atomic_read(&a->npaths), 200);
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->vf.buffers), 0);
}

/* ---- groups ---- */

static void send_only_groups(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 addr[INFINIBAND_ALEN];
	int joins, attaches, sends, i;

	subnet_open(s, a);
	LR_WAIT(false, 100);
	joins = atomic_read(&s->joined);
	attaches = calls(s, VFAKE_ATTACH);
	sends = calls(s, VFAKE_POST_SEND);
	group_addr(addr, 9);
	subnet_hold(s);
	for (i = 0; i < IPOIB_GROUP_QUEUE + 1; i++)
		subnet_send(a, addr);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&a->counts.tx_dropped_waiting), 1L);
	subnet_release(s);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_POST_SEND) >= sends + 16, 10000));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->joined), joins + 1);
	KUNIT_EXPECT_EQ(test, s->states[joins], IB_SA_JOIN_SEND_ONLY_FULL);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_ATTACH), attaches);
	/* Somebody listens now: a full member, in the place of the other. */
	rtnl_lock();
	dev_mc_add(a->netdev, addr);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_ATTACH) == attaches + 1, 10000));
	KUNIT_EXPECT_EQ(test, s->states[joins + 1], IB_SA_JOIN_FULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->left), 1);
	rtnl_lock();
	dev_mc_del(a->netdev, addr);
	rtnl_unlock();
}

static void refused_join_is_tried_again(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 addr[INFINIBAND_ALEN];
	int attaches;

	subnet_open(s, a);
	LR_WAIT(false, 100);
	attaches = calls(s, VFAKE_ATTACH);
	s->join_error = -EINVAL;
	s->spare_broadcast = true;
	group_addr(addr, 11);
	rtnl_lock();
	dev_mc_add(a->netdev, addr);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_long_read(&a->counts.join_errors) >= 3, 60000));
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(a->netdev));
	s->join_error = 0;
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_ATTACH) == attaches + 1, 60000));
	rtnl_lock();
	dev_mc_del(a->netdev, addr);
	rtnl_unlock();
}

static void lost_broadcast_group_takes_the_carrier(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	int joins;

	subnet_open(s, a);
	joins = atomic_read(&s->joined);
	s->join_error = -ETIMEDOUT;
	subnet_lose(s, -ENETRESET);
	subnet_wait_carrier(s, a, false);
	s->join_error = 0;
	subnet_wait_carrier(s, a, true);
	KUNIT_EXPECT_GT(test, atomic_read(&s->joined), joins);
	KUNIT_EXPECT_EQ(test, (int)READ_ONCE(a->rung), (int)IPOIB_UP);
	subnet_stop(a);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_ATTACH), calls(s, VFAKE_DETACH));
}

/* B30, B34: the SM is silent, and going down does not wait for it. */
static void b30_down_does_not_wait_for_the_sm(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct lr_clock clock;
	int i;

	subnet_hold(s);
	for (i = 0; i < 20; i++) {
		subnet_open(s, a);
		if (i % 2)
			LR_WAIT(subnet_members(s) == 1, 10000);
		lr_clock_start(&clock);
		subnet_stop(a);
		lr_expect_ms(test, &clock, 0, 500);
		KUNIT_EXPECT_EQ(test, subnet_members(s), 0);
	}
	subnet_release(s);
	subnet_open(s, a);
	subnet_stop(a);
}

/* B31: reregistrations during joins; attached exactly as often as detached. */
static void b31_attached_as_often_as_detached(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 addr[INFINIBAND_ALEN];
	int i;

	subnet_open(s, a);
	for (i = 0; i < 30; i++) {
		group_addr(addr, 20 + i);
		rtnl_lock();
		dev_mc_add(a->netdev, addr);
		rtnl_unlock();
		ib_event_raise(fake_device(s->fake), IB_EVENT_CLIENT_REREGISTER, 1);
		if (i % 3 == 0)
			subnet_lose(s, -ENETRESET);
		LR_WAIT(false, i % 5);
	}
	subnet_wait_carrier(s, a, true);
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_ATTACH), calls(s, VFAKE_DETACH));
	KUNIT_EXPECT_GT(test, calls(s, VFAKE_ATTACH), 30);
}

/* ---- events ---- */

static void set_port(struct subnet *s, enum ib_port_state state, enum ib_event_type event)
{
	s->vf.port[0].state = state;
	ib_event_raise(fake_device(s->fake), event, 1);
}

static void carrier_follows_the_port(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1), *b = subnet_iface(s, 2);
	int i;

	subnet_open(s, a);
	subnet_open(s, b);
	for (i = 0; i < 5; i++) {
		set_port(s, IB_PORT_INIT, IB_EVENT_PORT_ERR);
		subnet_wait_carrier(s, a, false);
		KUNIT_EXPECT_TRUE(test, LR_WAIT(subnet_members(s) >= 1 &&
						READ_ONCE(a->rung) == IPOIB_RUNNING, 10000));
		set_port(s, IB_PORT_ACTIVE, IB_EVENT_PORT_ACTIVE);
		subnet_wait_carrier(s, a, true);
	}
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(b->netdev));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&b->counts.flush_normal), 0L);
}

/* B27, seen from the subnet: no join, no question. */
static void b27_sm_change_asks_nothing(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	int joins, i;

	subnet_open(s, a);
	/* IPv6 looks for routers for a while. */
	LR_WAIT(false, 30000);
	joins = atomic_read(&s->joined);
	for (i = 0; i < 10; i++)
		ib_event_raise(fake_device(s->fake), IB_EVENT_SM_CHANGE, 1);
	LR_WAIT(false, 2000);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->joined), joins);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->left), 0);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(a->netdev));
}

/* B94: the partition goes and comes back. */
static void b94_partition_goes_and_returns(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	int i;

	subnet_open(s, a);
	for (i = 0; i < 20; i++) {
		s->vf.pkeys[0][0] = 0;
		ib_event_raise(fake_device(s->fake), IB_EVENT_PKEY_CHANGE, 1);
		KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->rung) == IPOIB_MADE, 20000));
		KUNIT_EXPECT_FALSE(test, netif_carrier_ok(a->netdev));
		if (i == 10)
			KUNIT_EXPECT_EQ(test, subnet_members(s), 0);
		s->vf.pkeys[0][0] = IB_PKEY_DEFAULT;
		ib_event_raise(fake_device(s->fake), IB_EVENT_PKEY_CHANGE, 1);
		subnet_wait_carrier(s, a, true);
	}
	s->vf.pkeys[0][0] = 0;
	ib_event_raise(fake_device(s->fake), IB_EVENT_PKEY_CHANGE, 1);
	subnet_unbind(s);
}

/* Another partition at index 0: other addresses, other groups. */
static void another_partition(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 broadcast[INFINIBAND_ALEN];

	subnet_open(s, a);
	s->vf.pkeys[0][0] = 0x0005;
	ib_event_raise(fake_device(s->fake), IB_EVENT_PKEY_CHANGE, 1);
	ipoib_broadcast_pack(broadcast, 0x8005);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!memcmp(a->netdev->broadcast, broadcast,
						INFINIBAND_ALEN), 10000));
	subnet_wait_carrier(s, a, true);
	KUNIT_EXPECT_EQ(test, a->facts.pkey, 0x8005);
	KUNIT_EXPECT_MEMEQ(test, a->broadcast->mgid.raw, broadcast + 4, 16);
}

/* A change of the GID between two looks is not missed (B95), nor is another prefix. */
static void another_prefix(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);

	subnet_open(s, a);
	s->vf.gids[0][0].global.subnet_prefix = cpu_to_be64(0xfec0000000000001ULL);
	ib_event_raise(fake_device(s->fake), IB_EVENT_GID_CHANGE, 1);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!memcmp(a->netdev->dev_addr + 4, s->vf.gids[0][0].raw, 16),
					10000));
	subnet_wait_carrier(s, a, true);
}

/* ---- the HCA is lost ---- */

static void lose_and_wait(struct subnet *s)
{
	struct ib_device *before = fake_device(s->fake);

	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, fake_is_live(s->fake) && fake_device(s->fake) != before, 100,
			600000);
}

/* What users see stays: the same net_device, up as it was, with another QP. */
static void reset_keeps_the_interface(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1), *b = subnet_iface(s, 2);
	u8 peer[INFINIBAND_ALEN];
	int ifindex, i, sends;
	u32 qpn;

	subnet_open(s, a);
	ifindex = a->netdev->ifindex;
	subnet_peer(peer, 1);
	for (i = 0; i < 3; i++) {
		subnet_send(a, peer);
		qpn = ipoib_addr_qpn(a->netdev->dev_addr);
		lose_and_wait(s);
		KUNIT_ASSERT_PTR_EQ(test, subnet_iface(s, 1), a);
		KUNIT_ASSERT_PTR_EQ(test, subnet_iface(s, 2), b);
		KUNIT_EXPECT_EQ(test, a->netdev->ifindex, ifindex);
		subnet_wait_carrier(s, a, true);
		KUNIT_EXPECT_TRUE(test, LR_WAIT(ipoib_addr_qpn(a->netdev->dev_addr) != qpn &&
						ipoib_addr_qpn(a->netdev->dev_addr), 10000));
	}
	sends = calls(s, VFAKE_POST_SEND);
	subnet_send(a, peer);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_POST_SEND) == sends + 1, 10000));
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
}

static void never_comes_back(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);

	subnet_open(s, a);
	s->fake->start_fails = INT_MAX;
	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, !fake_device(s->fake), 100, 600000);
	/* Parked: there, without carrier, and can be set down and up. */
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), VFAKE_PORTS);
	subnet_wait_carrier(s, a, false);
	subnet_stop(a);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_open(a->netdev, NULL), 0);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!subnet_ifaces(s), 70000));
	s->fake->start_fails = 0;
}

/* Rule 11: unloading takes the parked along. */
static void unload_while_parked(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");

	s->fake->start_fails = INT_MAX;
	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, !fake_device(s->fake), 100, 600000);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), VFAKE_PORTS);
	subnet_unregister(s);
	s->fake->start_fails = 0;
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!subnet_ifaces(s), 70000));
}

/* Rule 15: somebody keeps a reference to the net_device; the removal does not wait for him. */
static void foreign_reference_keeps_nobody(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct net_device *netdev = a->netdev;
	struct lr_clock clock;

	subnet_open(s, a);
	dev_hold(netdev);
	lr_clock_start(&clock);
	subnet_unbind(s);
	lr_expect_ms(test, &clock, 0, 3000);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->vf.buffers), 0);
	/* It may bind again, and gets the names again. */
	subnet_bind(s);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), VFAKE_PORTS);
	dev_put(netdev);
	subnet_unbind(s);
}

/* Posted requests never complete: nobody waits under RTNL for longer than a second. */
static void silent_hardware_keeps_rtnl_for_a_second(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct lr_clock clock;

	subnet_open(s, a);
	s->vf.silent = true;
	lr_clock_start(&clock);
	subnet_stop(a);
	lr_expect_ms(test, &clock, 0, 1100);
	/* The QP is reset in the end, which is proof enough. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->rung) == IPOIB_MADE, 20000));
	s->vf.silent = false;
	subnet_open(s, a);
	subnet_unbind(s);
}

/* B104: port events up to the very end. */
static void b104_events_until_the_end(struct kunit *test)
{
	struct subnet *s = subnet_create(test, "lr-ipoib");
	int i, j;

	for (i = 0; i < 20; i++) {
		subnet_bind(s);
		subnet_open(s, subnet_iface(s, 1));
		for (j = 0; j < 50; j++)
			ib_event_raise(fake_device(s->fake), j % 2 ? IB_EVENT_PORT_ERR :
				       IB_EVENT_PORT_ACTIVE, 1);
		subnet_unbind(s);
		KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
	}
}

/* The client leaves while the SM is silent and packets wait. */
static void leaves_with_everything_outstanding(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 addr[INFINIBAND_ALEN];
	int i;

	subnet_open(s, a);
	subnet_open(s, subnet_iface(s, 2));
	subnet_hold(s);
	for (i = 0; i < 20; i++) {
		subnet_peer(addr, i);
		subnet_send(a, addr);
		group_addr(addr, 100 + i);
		subnet_send(a, addr);
	}
	LR_WAIT(subnet_queries(s) == 20, 10000);
	subnet_unregister(s);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
	KUNIT_EXPECT_EQ(test, subnet_queries(s), 0);
	KUNIT_EXPECT_EQ(test, subnet_members(s), 0);
}

static struct kunit_case iface_cases[] = {
	KUNIT_CASE(a_port_has_an_interface),
	KUNIT_CASE(broadcast_group_comes_first),
	KUNIT_CASE(down_and_up_keeps_the_address),
	KUNIT_CASE(mtu_of_user_and_group),
	KUNIT_CASE(packets_wait_for_a_path),
	KUNIT_CASE(b26_failed_path_is_asked_again),
	KUNIT_CASE(stale_paths_are_used_and_asked),
	KUNIT_CASE(b92_many_peers_leave_no_handle),
	KUNIT_CASE(send_only_groups),
	KUNIT_CASE(refused_join_is_tried_again),
	KUNIT_CASE(lost_broadcast_group_takes_the_carrier),
	KUNIT_CASE(b30_down_does_not_wait_for_the_sm),
	KUNIT_CASE(b31_attached_as_often_as_detached),
	KUNIT_CASE(carrier_follows_the_port),
	KUNIT_CASE(b27_sm_change_asks_nothing),
	KUNIT_CASE(b94_partition_goes_and_returns),
	KUNIT_CASE(another_partition),
	KUNIT_CASE(another_prefix),
	KUNIT_CASE(reset_keeps_the_interface),
	KUNIT_CASE(never_comes_back),
	KUNIT_CASE(unload_while_parked),
	KUNIT_CASE(foreign_reference_keeps_nobody),
	KUNIT_CASE(silent_hardware_keeps_rtnl_for_a_second),
	KUNIT_CASE(b104_events_until_the_end),
	KUNIT_CASE(leaves_with_everything_outstanding),
	{}
};

static struct kunit_suite iface_suite = {
	.name = "ipoib_iface",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = iface_cases,
};

kunit_test_suite(iface_suite);

MODULE_DESCRIPTION("KUnit: IPoIB interfaces");
MODULE_LICENSE("GPL");
