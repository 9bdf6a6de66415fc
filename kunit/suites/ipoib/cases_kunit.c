// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failures of other stacks, restated for interfaces on a fake HCA: each test is named for the case.
 * Those of a case that needs no partner at the same time are in iface_kunit.c.
 */
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include "subnet.h"

static bool case_goes_on;

static int calls(struct subnet *s, enum vfake_op op)
{
	return vfake_calls(&s->vf, op);
}

static void set_up(struct ipoib_iface *iface, bool up)
{
	rtnl_lock();
	if (up)
		dev_open(iface->netdev, NULL);
	else
		dev_close(iface->netdev);
	rtnl_unlock();
}

static int up_and_down(void *arg)
{
	while (READ_ONCE(case_goes_on)) {
		set_up(arg, true);
		usleep_range(900, 1000);
		set_up(arg, false);
		usleep_range(100, 200);
	}
	return 0;
}

static struct ipoib_iface *child_of(struct ipoib_iface *parent, u16 pkey)
{
	struct ipoib_iface *child;

	list_for_each_entry(child, &parent->children, sibling)
		if (child->child_pkey == pkey)
			return child;
	return NULL;
}

/* B88: the partition goes and comes while interfaces with children open; lockdep looks. */
static void b88_partitions_change_while_children_open(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1), *child;
	struct fake_flow flow;
	int i;

	rtnl_lock();
	for (i = 1; i <= 8; i++)
		KUNIT_EXPECT_EQ(test, ipoib_child_create(a, 0x1230 + i), 0);
	child = child_of(a, 0x9234);
	KUNIT_ASSERT_NOT_NULL(test, child);
	rtnl_unlock();
	WRITE_ONCE(case_goes_on, true);
	fake_flow_start(&flow, up_and_down, a);
	for (i = 0; i < 60; i++) {
		s->vf.pkeys[0][0] = i % 2 ? IB_PKEY_DEFAULT : 0x8005;
		s->vf.pkeys[0][1] = i % 3 ? 0x1234 : 0;
		ib_event_raise(fake_device(s->fake), IB_EVENT_PKEY_CHANGE, 1);
		set_up(child, i % 2);
		LR_WAIT(false, 1 + i % 4);
	}
	WRITE_ONCE(case_goes_on, false);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
}

/* B90: children come and go while their parent goes up and down, and then the HCA leaves. */
static void b90_children_come_and_go_while_parent_opens(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct fake_flow flow;
	int i, j;

	WRITE_ONCE(case_goes_on, true);
	fake_flow_start(&flow, up_and_down, a);
	for (i = 0; i < 10; i++) {
		for (j = 1; j <= 16; j++) {
			rtnl_lock();
			KUNIT_EXPECT_EQ(test, ipoib_child_create(a, 0x8000 + j), 0);
			rtnl_unlock();
		}
		for (j = 1; j <= 16 && i < 9; j++) {
			rtnl_lock();
			KUNIT_EXPECT_EQ(test, ipoib_child_delete(a, 0x8000 + j), 0);
			rtnl_unlock();
		}
		LR_WAIT(subnet_ifaces(s) == VFAKE_PORTS || i == 9, 10000);
	}
	WRITE_ONCE(case_goes_on, false);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), VFAKE_PORTS + 16);
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->vf.buffers), 0);
}

/* B91: the queue of one interface is kept up for seconds; no other one waits for it. */
static void b91_one_slow_interface_keeps_no_other(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1), *b = subnet_iface(s, 2);
	struct lr_clock clock;
	int i;

	subnet_open(s, a);
	WRITE_ONCE(s->vf.silent, true);
	set_up(a, false);
	KUNIT_EXPECT_GT(test, (int)READ_ONCE(a->rung), (int)IPOIB_MADE);
	WRITE_ONCE(s->vf.silent, false);
	lr_clock_start(&clock);
	for (i = 0; i < 5; i++) {
		subnet_open(s, b);
		subnet_stop(b);
	}
	lr_expect_ms(test, &clock, 0, 1000);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->rung) == IPOIB_MADE, 20000));
}

static bool partition_changed;

static void partition_in_the_window(struct vfake *vf, enum vfake_op op)
{
	if (op == VFAKE_CREATE_CQ && vf->pkeys[0][0] == IB_PKEY_DEFAULT) {
		vf->pkeys[0][0] = 0x8005;
		WRITE_ONCE(partition_changed, true);
	}
}

static int tell_of_partition(void *arg)
{
	struct subnet *s = arg;

	LR_WAIT(READ_ONCE(partition_changed), 10000);
	ib_event_raise(fake_device(s->fake), IB_EVENT_PKEY_CHANGE, 1);
	return 0;
}

/* B95: the SM writes the table while the interface is being made; the event is not missed. */
static void b95_partition_changes_while_binding(struct kunit *test)
{
	struct subnet *s = subnet_create(test, "lr-ipoib");
	u8 broadcast[INFINIBAND_ALEN];
	struct fake_flow flow;
	struct ipoib_iface *a;

	WRITE_ONCE(partition_changed, false);
	s->vf.hook = partition_in_the_window;
	fake_flow_start(&flow, tell_of_partition, s);
	subnet_bind(s);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	a = subnet_iface(s, 1);
	ipoib_broadcast_pack(broadcast, 0x8005);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!memcmp(a->netdev->broadcast, broadcast,
						INFINIBAND_ALEN), 10000));
	subnet_open(s, a);
	KUNIT_EXPECT_EQ(test, a->facts.pkey, 0x8005);
}

/* B96: another SM writes the same partitions in another order; the QP is moved to the new place. */
static void b96_partitions_in_another_order(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1), *child;
	int i, modifies;

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, ipoib_child_create(a, 0x1234), 0);
	child = child_of(a, 0x9234);
	rtnl_unlock();
	KUNIT_ASSERT_NOT_NULL(test, child);
	subnet_open(s, child);
	for (i = 0; i < 16; i++) {
		KUNIT_EXPECT_EQ(test, (int)child->facts.pkey_index, i % 2 ? 2 : 1);
		modifies = calls(s, VFAKE_MODIFY_QP);
		s->vf.pkeys[0][1] = i % 2 ? 0x1234 : 0x0777;
		s->vf.pkeys[0][2] = i % 2 ? 0x0777 : 0x1234;
		ib_event_raise(fake_device(s->fake), IB_EVENT_PKEY_CHANGE, 1);
		KUNIT_EXPECT_TRUE(test, LR_WAIT(child->facts.pkey_index == (i % 2 ? 1 : 2) &&
						READ_ONCE(child->rung) == IPOIB_UP, 20000));
		KUNIT_EXPECT_GE(test, calls(s, VFAKE_MODIFY_QP), modifies + 4);
	}
}

static int send_to_many(void *arg)
{
	u8 peer[INFINIBAND_ALEN];
	int i;

	for (i = 0; READ_ONCE(case_goes_on); i++) {
		subnet_peer(peer, i % 40);
		subnet_send(arg, peer);
		if (i % 8 == 0)
			usleep_range(50, 100);
	}
	return 0;
}

/* B98, B99: paths are looked up while they are flushed, aged and made anew: our table, our lock. */
static void b98_b99_paths_flushed_under_senders(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct fake_flow flow[3];
	int i;

	subnet_open(s, a);
	WRITE_ONCE(case_goes_on, true);
	for (i = 0; i < 3; i++)
		fake_flow_start(&flow[i], send_to_many, a);
	for (i = 0; i < 60; i++) {
		ib_event_raise(fake_device(s->fake), i % 3 ? IB_EVENT_LID_CHANGE :
			       IB_EVENT_CLIENT_REREGISTER, 1);
		s->path_error = i % 7 ? 0 : -EINVAL;
		LR_WAIT(false, 1 + i % 5);
	}
	s->path_error = 0;
	WRITE_ONCE(case_goes_on, false);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, fake_flow_join(&flow[i]), 0);
	KUNIT_EXPECT_LE(test, atomic_read(&a->npaths), 40);
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, atomic_read(&a->npaths), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->vf.buffers), 0);
}

/* Let a ring fill up that byte queue limits would stop before. */
static void no_byte_limit(struct net_device *netdev)
{
#ifdef CONFIG_BQL
	struct dql *dql = &netdev_get_tx_queue(netdev, 0)->dql;

	dql->adj_limit = dql->num_queued + (1 << 20);
#endif
}

/* B103: multicast and streams in a ring of sixteen that is full when the HCA is lost. */
static void b103_small_ring_is_full_when_lost(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct ib_device *before = fake_device(s->fake);
	u8 peer[INFINIBAND_ALEN];
	int i;

	WRITE_ONCE(a->tx_wanted, IPOIB_RING_MIN);
	ipoib_ask(a, IPOIB_FLUSH_REBUILD);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(a->queues && a->queues->tx_size == IPOIB_RING_MIN, 10000));
	subnet_open(s, a);
	subnet_peer(peer, 1);
	subnet_send_known(s, a, peer);
	WRITE_ONCE(s->vf.silent, true);
	no_byte_limit(a->netdev);
	for (i = 0; i < 3 * IPOIB_RING_MIN; i++)
		subnet_send(a, i % 2 ? peer : a->netdev->broadcast);
	KUNIT_EXPECT_EQ(test, a->queues->tx_head - a->queues->tx_tail, IPOIB_RING_MIN + 0U);
	KUNIT_EXPECT_TRUE(test, netif_queue_stopped(a->netdev));
	WRITE_ONCE(s->vf.silent, false);
	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, fake_is_live(s->fake) && fake_device(s->fake) != before, 100,
			600000);
	subnet_wait_carrier(s, a, true);
	KUNIT_EXPECT_FALSE(test, netif_queue_stopped(a->netdev));
	i = calls(s, VFAKE_POST_SEND);
	subnet_send(a, a->netdev->broadcast);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(calls(s, VFAKE_POST_SEND) > i, 10000));
}

/* B108: bound, used, unbound, over and over: each time takes as long as the first. */
static void b108_restarts_take_the_same_time(struct kunit *test)
{
	struct subnet *s = subnet_create(test, "lr-ipoib");
	u8 peer[INFINIBAND_ALEN];
	struct lr_clock clock;
	s64 first = 0;
	int i;

	subnet_peer(peer, 1);
	for (i = 0; i < 60; i++) {
		struct ipoib_iface *a;

		lr_clock_start(&clock);
		subnet_bind(s);
		a = subnet_iface(s, 1);
		subnet_open(s, a);
		subnet_send(a, peer);
		subnet_unbind(s);
		KUNIT_EXPECT_EQ(test, subnet_ifaces(s), 0);
		if (i == 1)
			first = lr_clock_ms(&clock);
	}
	lr_expect_ms(test, &clock, first * 8 / 10 - 5, first * 12 / 10 + 5);
	KUNIT_EXPECT_EQ(test, subnet_members(s), 0);
}

/* B110: a peer's address changes and changes back: each packet goes where its own address says. */
static void b110_peer_changes_there_and_back(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 peer[2][INFINIBAND_ALEN];
	int i, sent;

	subnet_open(s, a);
	for (i = 0; i < 2; i++) {
		subnet_peer(peer[i], i);
		subnet_send_known(s, a, peer[i]);
	}
	/* The GID of the first, on another QP. */
	memcpy(peer[1] + IPOIB_ADDR_GID, peer[0] + IPOIB_ADDR_GID, sizeof(union ib_gid));
	for (i = 0; i < 10; i++) {
		sent = calls(s, VFAKE_POST_SEND);
		subnet_send(a, peer[i % 2]);
		KUNIT_EXPECT_EQ(test, calls(s, VFAKE_POST_SEND), sent + 1);
		KUNIT_EXPECT_EQ(test, s->vf.last_qpn, ipoib_addr_qpn(peer[i % 2]));
	}
	KUNIT_EXPECT_NE(test, ipoib_addr_qpn(peer[0]), ipoib_addr_qpn(peer[1]));
}

/* B32: hundreds of groups, whose joins fail now and then, are walked while they are flushed. */
static void b32_many_groups_fail_while_flushed(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	u8 addr[INFINIBAND_ALEN];
	int i;

	subnet_open(s, a);
	s->spare_broadcast = true;
	ipoib_broadcast_pack(addr, IB_PKEY_DEFAULT);
	addr[16] = 0x0c;
	for (i = 0; i < 500; i++) {
		addr[18] = i >> 8;
		addr[19] = i;
		rtnl_lock();
		dev_mc_add(a->netdev, addr);
		rtnl_unlock();
		s->join_error = i % 3 ? 0 : -EINVAL;
		if (i % 20 == 0)
			ib_event_raise(fake_device(s->fake), i % 40 ? IB_EVENT_LID_CHANGE :
				       IB_EVENT_CLIENT_REREGISTER, 1);
		if (i % 50 == 0)
			subnet_lose(s, -ENETRESET);
	}
	s->join_error = 0;
	KUNIT_EXPECT_TRUE(test, LR_WAIT(subnet_members(s) >= 501, 120000));
	subnet_wait_carrier(s, a, true);
	subnet_unbind(s);
	KUNIT_EXPECT_EQ(test, calls(s, VFAKE_ATTACH), calls(s, VFAKE_DETACH));
	KUNIT_EXPECT_EQ(test, subnet_members(s), 0);
}

static struct kunit_case cases_cases[] = {
	KUNIT_CASE(b32_many_groups_fail_while_flushed),
	KUNIT_CASE(b88_partitions_change_while_children_open),
	KUNIT_CASE(b90_children_come_and_go_while_parent_opens),
	KUNIT_CASE(b91_one_slow_interface_keeps_no_other),
	KUNIT_CASE(b95_partition_changes_while_binding),
	KUNIT_CASE(b96_partitions_in_another_order),
	KUNIT_CASE(b98_b99_paths_flushed_under_senders),
	KUNIT_CASE(b103_small_ring_is_full_when_lost),
	KUNIT_CASE(b108_restarts_take_the_same_time),
	KUNIT_CASE(b110_peer_changes_there_and_back),
	{}
};

static struct kunit_suite cases_suite = {
	.name = "ipoib_cases",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases_cases,
};

kunit_test_suite(cases_suite);
