// SPDX-License-Identifier: GPL-2.0-only
/*
 * What IPoIB must not exceed, and what it must not give away: memory of hardware that was never
 * proven quiet, the time under RTNL, what senders can make it keep.
 */
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include "subnet.h"

#include <lastref/clock.h>

#define SENT_GROUPS_MAX 512	/* of the interfaces here */

/* Ageing takes minutes, which cost nothing in virtual time. */
static void skip_in_real_time(struct kunit *test)
{
	if (!lr_time_is_virtual())
		kunit_skip(test, "waits for minutes");
}

static void group_number(u8 *addr, unsigned int number)
{
	ipoib_broadcast_pack(addr, IB_PKEY_DEFAULT);
	addr[16] = 0x0a;
	addr[17] = 0;
	addr[18] = number >> 8;
	addr[19] = number;
}

/* ---- memory ---- */

/* The test's own references show whether somebody has given the others back. */
static void unproven_hardware_keeps_its_buffers(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct sk_buff *skb[4];
	unsigned int i;

	subnet_open(s, a);
	for (i = 0; i < ARRAY_SIZE(skb); i++)
		skb[i] = skb_get(a->queues->rx[i].skb);
	s->fake->quiet_fails = 1;
	s->fake->reset_fails = 1;
	ib_hca_hold(s->fake->hca, IB_HOLD_ERROR);
	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, !fake_device(s->fake), 100, 600000);
	for (i = 0; i < ARRAY_SIZE(skb); i++) {
		KUNIT_EXPECT_EQ(test, refcount_read(&skb[i]->users), 2U);
		kfree_skb(skb[i]);
	}
	KUNIT_EXPECT_GT(test, atomic_read(&s->vf.buffers), 0);
	atomic_set(&s->vf.buffers, 0);
	ib_hca_permit(s->fake->hca, IB_HOLD_ERROR);
	FAKE_PASS_UNTIL(s->fake, fake_is_live(s->fake), 100, 600000);
	/* What comes next is not concerned. */
	KUNIT_ASSERT_PTR_EQ(test, subnet_iface(s, 1), a);
	subnet_wait_carrier(s, a, true);
}

/* The other side of it: proven quiet, by whatever means, everything goes. */
static void proven_hardware_gives_its_buffers_back(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct sk_buff *skb;

	subnet_open(s, a);
	skb = skb_get(a->queues->rx[0].skb);
	s->fake->quiet_fails = 1;
	ib_hca_hold(s->fake->hca, IB_HOLD_ERROR);
	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, !fake_device(s->fake), 100, 600000);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->fake->resets), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&skb->users), 1U);
	kfree_skb(skb);
	ib_hca_permit(s->fake->hca, IB_HOLD_ERROR);
}

/* Sends as well; and what hangs from a packet (its socket, its route) is let go all the same. */
static void unproven_hardware_keeps_sends(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct ipoib_queues *q;
	struct sk_buff *skb;
	u8 peer[INFINIBAND_ALEN];

	subnet_open(s, a);
	subnet_peer(peer, 1);
	subnet_send_known(s, a, peer);
	s->vf.mute |= BIT(VFAKE_POST_SEND);
	subnet_send(a, peer);
	q = a->queues;
	skb = q->tx[(q->tx_head - 1) & (q->tx_size - 1)].skb;
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_get(skb);
	s->fake->quiet_fails = 1;
	s->fake->reset_fails = 1;
	ib_hca_hold(s->fake->hca, IB_HOLD_ERROR);
	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, !fake_device(s->fake), 100, 600000);
	KUNIT_EXPECT_EQ(test, refcount_read(&skb->users), 2U);
	KUNIT_EXPECT_NULL(test, skb->sk);
	kfree_skb(skb);
	atomic_set(&s->vf.buffers, 0);
	ib_hca_permit(s->fake->hca, IB_HOLD_ERROR);
}

static unsigned int refusals;

static void refusing_hook(struct vfake *vf, enum vfake_op op)
{
	if (op != VFAKE_MODIFY_QP)
		return;
	WRITE_ONCE(vf->fails[op], refusals ? -EIO : 0);
	refusals -= !!refusals;
}

/* A QP goes neither to ERR nor to RESET: its queues stay as they are, others take their place. */
static void kept_queues_are_replaced_at_once(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	struct ipoib_queues *old;

	subnet_open(s, a);
	old = a->queues;
	refusals = 2;
	s->vf.hook = refusing_hook;
	ipoib_ask(a, IPOIB_FLUSH_RESTART);
	/* Whatever has failed is tried again after a second: nothing has. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->queues) != old &&
					READ_ONCE(a->rung) == IPOIB_UP, 500));
	KUNIT_EXPECT_TRUE(test, old->kept);
	KUNIT_EXPECT_EQ(test, refusals, 0U);
	KUNIT_ASSERT_NOT_NULL(test, a->queues);
	KUNIT_EXPECT_FALSE(test, a->queues->kept);
	s->vf.hook = NULL;
}

/* ---- RTNL ---- */

/* Many interfaces go at once while the hardware is silent: one second for all of them. */
static void rtnl_is_held_for_one_second_by_many(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1), *b = subnet_iface(s, 2), *child, *next;
	struct lr_clock clock;
	LIST_HEAD(gone);

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, ipoib_child_create(a, 0x1234), 0);
	KUNIT_EXPECT_EQ(test, ipoib_child_create(b, 0x1234), 0);
	list_for_each_entry(child, &a->children, sibling)
		KUNIT_EXPECT_EQ(test, dev_open(child->netdev, NULL), 0);
	list_for_each_entry(child, &b->children, sibling)
		KUNIT_EXPECT_EQ(test, dev_open(child->netdev, NULL), 0);
	rtnl_unlock();
	subnet_open(s, a);
	subnet_open(s, b);
	s->vf.silent = true;
	lr_clock_start(&clock);
	rtnl_lock();
	list_for_each_entry_safe(child, next, &a->children, sibling)
		unregister_netdevice_queue(child->netdev, &gone);
	list_for_each_entry_safe(child, next, &b->children, sibling)
		unregister_netdevice_queue(child->netdev, &gone);
	dev_close(a->netdev);
	dev_close(b->netdev);
	unregister_netdevice_many(&gone);
	lr_expect_ms(test, &clock, 0, 1200);
	rtnl_unlock();
	/* The next who takes RTNL has a second of his own again. */
	LR_WAIT(false, 100);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, ipoib_rtnl_left(), IPOIB_RTNL_WAIT);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(a->rung) == IPOIB_MADE, 60000));
	subnet_unbind(s);
}

/* ---- senders ---- */

static void send_to_groups(struct ipoib_iface *iface, int first, int number)
{
	u8 addr[INFINIBAND_ALEN];

	while (number--) {
		group_number(addr, first++);
		subnet_send(iface, addr);
	}
}

/* Whoever may send may send to any group; that makes no more of them than the limit says. */
static void senders_make_so_many_groups(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	int before, i, groups = SENT_GROUPS_MAX + 50;
	u8 addr[INFINIBAND_ALEN];

	skip_in_real_time(test);
	WRITE_ONCE(a->sent_groups_max, SENT_GROUPS_MAX);
	subnet_open(s, a);
	LR_WAIT(false, 30000);
	before = subnet_members(s);
	send_to_groups(a, 0, groups);
	LR_WAIT(false, 1000);
	KUNIT_EXPECT_LE(test, subnet_members(s), before + SENT_GROUPS_MAX);
	KUNIT_EXPECT_GT(test, subnet_members(s), SENT_GROUPS_MAX / 2);
	KUNIT_EXPECT_GE(test, atomic_long_read(&a->counts.tx_dropped_waiting), 50L);
	/* A listener's groups are his own affair. */
	group_number(addr, groups + 1);
	rtnl_lock();
	dev_mc_add(a->netdev, addr);
	rtnl_unlock();
	i = subnet_members(s);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(subnet_members(s) == i + 1, 10000));
	/* And those that nobody sends to make room. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(subnet_members(s) <= before + 1, 200000));
	i = subnet_members(s);
	group_number(addr, groups);
	subnet_send(a, addr);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(subnet_members(s) == i + 1, 10000));
	rtnl_lock();
	group_number(addr, groups + 1);
	dev_mc_del(a->netdev, addr);
	rtnl_unlock();
}

/* An interface with room for so many senders' groups. */
static struct ipoib_iface *open_with_places(struct kunit *test, unsigned int places)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *iface = subnet_iface(s, 1);

	skip_in_real_time(test);
	WRITE_ONCE(iface->sent_groups_max, places);
	subnet_open(s, iface);
	return iface;
}

static void few_groups_may_rest(struct kunit *test)
{
	struct ipoib_iface *a = open_with_places(test, 100);

	send_to_groups(a, 0, 20);
	LR_WAIT(false, 50000);
	KUNIT_EXPECT_GE(test, atomic_read(&a->sent_groups), 20);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&a->sent_groups) < 20, 50000));
}

/* When all places are taken some are soon free again, and the others have time. */
static void the_more_groups_the_sooner_they_go(struct kunit *test)
{
	struct ipoib_iface *a = open_with_places(test, 100);

	send_to_groups(a, 0, 120);
	KUNIT_EXPECT_EQ(test, atomic_read(&a->sent_groups), 100);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&a->sent_groups) < 95, 12000));
	send_to_groups(a, 300, 5);
	KUNIT_EXPECT_GT(test, atomic_read(&a->sent_groups), 80);
	LR_WAIT(false, 20000);
	KUNIT_EXPECT_GT(test, atomic_read(&a->sent_groups), 50);
}

/* A group that the SM refuses ages like any other. */
static void refused_groups_age(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);
	int before;

	skip_in_real_time(test);
	subnet_open(s, a);
	LR_WAIT(false, 30000);
	before = atomic_read(&a->sent_groups);
	s->join_error = -EINVAL;
	s->spare_broadcast = true;
	send_to_groups(a, 0, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&a->sent_groups), before + 20);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&a->sent_groups) <= before, 200000));
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(a->netdev));
}

/* ---- parking ---- */

/* The clock of an earlier parking goes off late: it is not the clock of this one. */
static void parked_again_has_its_own_time(struct kunit *test)
{
	struct subnet *s = subnet_up(test, "lr-ipoib");
	struct ipoib_iface *a = subnet_iface(s, 1);

	skip_in_real_time(test);
	s->fake->start_fails = INT_MAX;
	ib_hca_gone(s->fake->hca, "the test says so");
	FAKE_PASS_UNTIL(s->fake, !fake_device(s->fake), 100, 600000);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), VFAKE_PORTS);
	dev_hold(a->netdev);
	a->parked_work.work.func(&a->parked_work.work);
	LR_WAIT(false, 100);
	KUNIT_EXPECT_EQ(test, subnet_ifaces(s), VFAKE_PORTS);
	/* Its own goes off in time. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(!subnet_ifaces(s), 70000));
	s->fake->start_fails = 0;
}

/* ---- the queue of the machines ---- */

static bool kick_on;

static int kicker(void *arg)
{
	struct ipoib_iface *iface = arg;

	while (READ_ONCE(kick_on)) {
		ipoib_kick(iface);
		usleep_range(10, 20);
	}
	return 0;
}

/* A machine is kicked up to the end of its queue, and beyond. */
static void kicked_until_the_queue_is_gone(struct kunit *test)
{
	struct subnet *s = subnet_create(test, "lr-ipoib");
	struct fake_flow flow;
	struct ipoib_iface *a;
	int i;

	for (i = 0; i < 50; i++) {
		subnet_bind(s);
		a = subnet_iface(s, 1);
		dev_hold(a->netdev);
		WRITE_ONCE(kick_on, true);
		fake_flow_start(&flow, kicker, a);
		subnet_unbind(s);
		WRITE_ONCE(kick_on, false);
		KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
		dev_put(a->netdev);
	}
}

static struct kunit_case bounds_cases[] = {
	KUNIT_CASE(unproven_hardware_keeps_its_buffers),
	KUNIT_CASE(unproven_hardware_keeps_sends),
	KUNIT_CASE(proven_hardware_gives_its_buffers_back),
	KUNIT_CASE(kept_queues_are_replaced_at_once),
	KUNIT_CASE(rtnl_is_held_for_one_second_by_many),
	KUNIT_CASE(senders_make_so_many_groups),
	KUNIT_CASE(few_groups_may_rest),
	KUNIT_CASE(the_more_groups_the_sooner_they_go),
	KUNIT_CASE(refused_groups_age),
	KUNIT_CASE(parked_again_has_its_own_time),
	KUNIT_CASE(kicked_until_the_queue_is_gone),
	{}
};

static struct kunit_suite bounds_suite = {
	.name = "ipoib_bounds",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = bounds_cases,
};

kunit_test_suite(bounds_suite);
