// SPDX-License-Identifier: GPL-2.0-only
/* See subnet.h. */
#include <linux/dma-mapping.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "subnet.h"

/* The subnet of the test that runs. */
static struct subnet *subnet_now;
static const struct ipoib_sa_ops *ipoib_sa_before;

/* What the two services keep private; here it is ours. */
struct ib_sa_query {
	struct subnet *s;
	struct list_head node;
	struct work_struct work;
	struct ib_sa_request request;
	bool started;
};

struct ib_mcast_member {
	struct subnet *s;
	struct list_head node;
	struct work_struct work;
	struct ib_mcast_request request;
	struct ib_mcast_report report;
	bool started;
};

static void subnet_answer_query(struct work_struct *work)
{
	struct ib_sa_query *q = container_of(work, struct ib_sa_query, work);
	struct ib_sa_result result = {
		.error = q->s->path_error, .attr = IB_SA_PATH, .count = 1, .data = (const u8 *)q,
	};

	KUNIT_EXPECT_EQ(q->s->test, (int)q->request.done(q, &result, q->request.context),
			(int)IB_CB_DONE);
}

static int subnet_query_start(struct ib_attachment *attachment,
			      const struct ib_sa_request *request, struct ib_sa_query **query)
{
	struct subnet *s = subnet_now;
	struct ib_sa_query *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!q)
		return -ENOMEM;
	KUNIT_EXPECT_EQ(s->test, (int)request->attr, (int)IB_SA_PATH);
	q->s = s;
	q->request = *request;
	INIT_WORK(&q->work, subnet_answer_query);
	atomic_inc(&s->asked);
	*query = q;
	spin_lock_irq(&s->lock);
	list_add_tail(&q->node, &s->queries);
	q->started = !s->held;
	if (q->started)
		queue_work(system_unbound_wq, &q->work);
	spin_unlock_irq(&s->lock);
	return 0;
}

static void subnet_query_cancel(struct ib_sa_query *q)
{
	spin_lock_irq(&q->s->lock);
	list_del(&q->node);
	spin_unlock_irq(&q->s->lock);
	cancel_work_sync(&q->work);
	kfree(q);
}

static int subnet_result_record(const struct ib_sa_result *result, unsigned int index,
				union ib_sa_record *record)
{
	const struct ib_sa_query *q = (const struct ib_sa_query *)result->data;

	memset(record, 0, sizeof(*record));
	record->path = q->request.record.path;
	record->path.dlid = 0x100 + q->request.record.path.dgid.raw[15] + q->s->lid_shift;
	record->path.slid = 0x11;
	record->path.mtu = IB_MTU_2048;
	record->path.rate = 3;
	return 0;
}

static bool subnet_is_broadcast(const union ib_gid *mgid)
{
	return mgid->raw[3] == 0x1b && mgid->raw[2] == 0x40 && !memchr_inv(mgid->raw + 12, 0xff, 4);
}

static void subnet_answer_join(struct work_struct *work)
{
	struct ib_mcast_member *m = container_of(work, struct ib_mcast_member, work);

	KUNIT_EXPECT_EQ(m->s->test, (int)m->request.callback(m, &m->report, m->request.context),
			(int)IB_CB_DONE);
}

static void subnet_make_report(struct subnet *s, struct ib_mcast_member *m)
{
	struct ib_sa_mcmember *record = &m->report.record;
	int err = s->join_error;

	if (err && s->spare_broadcast && subnet_is_broadcast(&m->request.record.mgid))
		err = 0;
	m->report.news = err ? IB_MCAST_LOST : IB_MCAST_JOINED;
	m->report.error = err;
	*record = m->request.record;
	record->mlid = SUBNET_MLID + record->mgid.raw[15];
	record->qkey = SUBNET_QKEY;
	record->mtu = IB_MTU_2048;
	record->rate = 3;
}

static int subnet_join(struct ib_attachment *attachment, const struct ib_mcast_request *request,
		       struct ib_mcast_member **member)
{
	struct ib_mcast_member *m = kzalloc(sizeof(*m), GFP_KERNEL);
	struct subnet *s = subnet_now;
	int n;

	if (!m)
		return -ENOMEM;
	m->s = s;
	m->request = *request;
	INIT_WORK(&m->work, subnet_answer_join);
	n = atomic_inc_return(&s->joined) - 1;
	if (n < SUBNET_JOINS) {
		s->joins[n] = request->record.mgid;
		s->states[n] = request->record.join_state;
	}
	*member = m;
	spin_lock_irq(&s->lock);
	list_add_tail(&m->node, &s->members);
	m->started = !s->held;
	if (m->started) {
		subnet_make_report(s, m);
		queue_work(system_unbound_wq, &m->work);
	}
	spin_unlock_irq(&s->lock);
	return 0;
}

static void subnet_leave(struct ib_mcast_member *m)
{
	spin_lock_irq(&m->s->lock);
	list_del(&m->node);
	spin_unlock_irq(&m->s->lock);
	cancel_work_sync(&m->work);
	atomic_inc(&m->s->left);
	kfree(m);
}

static int subnet_find(struct ib_attachment *attachment, u8 port, const union ib_gid *mgid,
		       struct ib_sa_mcmember *record)
{
	return -ENOENT;
}

static const struct ipoib_sa_ops subnet_ops = {
	.query_start = subnet_query_start,
	.query_cancel = subnet_query_cancel,
	.result_record = subnet_result_record,
	.join = subnet_join,
	.leave = subnet_leave,
	.find = subnet_find,
};

/** subnet_hold() - answer nothing any more: the SM is silent */
void subnet_hold(struct subnet *s)
{
	spin_lock_irq(&s->lock);
	s->held = true;
	spin_unlock_irq(&s->lock);
}

/** subnet_release() - answer, also what was asked meanwhile */
void subnet_release(struct subnet *s)
{
	struct ib_mcast_member *m;
	struct ib_sa_query *q;

	spin_lock_irq(&s->lock);
	s->held = false;
	list_for_each_entry(q, &s->queries, node) {
		if (!q->started)
			queue_work(system_unbound_wq, &q->work);
		q->started = true;
	}
	list_for_each_entry(m, &s->members, node) {
		if (m->started)
			continue;
		m->started = true;
		subnet_make_report(s, m);
		queue_work(system_unbound_wq, &m->work);
	}
	spin_unlock_irq(&s->lock);
}

/** subnet_lose() - tell every member that its group is lost */
void subnet_lose(struct subnet *s, int error)
{
	struct ib_mcast_member *m;

	spin_lock_irq(&s->lock);
	list_for_each_entry(m, &s->members, node) {
		m->report.news = IB_MCAST_LOST;
		m->report.error = error;
		queue_work(system_unbound_wq, &m->work);
	}
	spin_unlock_irq(&s->lock);
}

static int subnet_count(const struct list_head *list)
{
	const struct list_head *at;
	int n = 0;

	list_for_each(at, list)
		n++;
	return n;
}

/** subnet_members() - memberships at this moment */
int subnet_members(struct subnet *s)
{
	int n;

	spin_lock_irq(&s->lock);
	n = subnet_count(&s->members);
	spin_unlock_irq(&s->lock);
	return n;
}

/** subnet_queries() - queries at this moment */
int subnet_queries(struct subnet *s)
{
	int n;

	spin_lock_irq(&s->lock);
	n = subnet_count(&s->queries);
	spin_unlock_irq(&s->lock);
	return n;
}

/*
 * Receives wait for a packet, which never comes; sends complete at once; and a QP in ERR flushes
 * both.
 */
static void subnet_wire(struct subnet *s)
{
	s->vf.hook = NULL;
	s->vf.silent = false;
	s->vf.mute = BIT(VFAKE_POST_RECV);
}

void subnet_unbind(struct subnet *s)
{
	if (s->bound)
		fake_hca_unbind(s->fake);
	s->bound = false;
}

void subnet_unregister(struct subnet *s)
{
	if (s->registered)
		ib_client_unregister(&s->client);
	s->registered = false;
}

/* Whatever the test has left goes in an order that always works; then nothing may be left. */
static void subnet_end(void *arg)
{
	struct subnet *s = arg;

	subnet_wire(s);
	subnet_unbind(s);
	subnet_unregister(s);
	LR_WAIT(!subnet_ifaces(s), 100000);
	KUNIT_EXPECT_EQ(s->test, subnet_ifaces(s), 0);
	KUNIT_EXPECT_EQ(s->test, subnet_members(s), 0);
	KUNIT_EXPECT_EQ(s->test, subnet_queries(s), 0);
	ipoib_sa = ipoib_sa_before;
	subnet_now = NULL;
	KUNIT_EXPECT_EQ(s->test, ib_client_register(&ipoib_client), 0);
}

static void subnet_check(void *arg)
{
	struct subnet *s = arg;

	KUNIT_EXPECT_EQ(s->test, atomic_read(&s->vf.breaches), 0);
	KUNIT_EXPECT_EQ(s->test, atomic_read(&s->vf.buffers), 0);
}

/** subnet_create() - a HCA that is added, and the client registered; the provider is not bound */
struct subnet *subnet_create(struct kunit *test, const char *name)
{
	struct subnet *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->queries);
	INIT_LIST_HEAD(&s->members);
	vfake_init(&s->vf);
	subnet_wire(s);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, subnet_check, s), 0);
	s->fake = fake_hca_create(test, name);
	dma_coerce_mask_and_coherent(s->fake->parent, DMA_BIT_MASK(64));
	/* The module's own client, which would ask real services, is not to meet these devices. */
	ib_client_unregister(&ipoib_client);
	subnet_now = s;
	ipoib_sa_before = ipoib_sa;
	ipoib_sa = &subnet_ops;
	s->client.name = "ipoib_test";
	s->client.owner = THIS_MODULE;
	s->client.add_one = ipoib_client.add_one;
	s->client.remove_one = ipoib_client.remove_one;
	s->client.free = ipoib_client.free;
	KUNIT_ASSERT_EQ(test, ib_client_register(&s->client), 0);
	s->registered = true;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, subnet_end, s), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_add(s->fake), 0);
	return s;
}

void subnet_bind(struct subnet *s)
{
	KUNIT_ASSERT_EQ(s->test, ib_provider_bind(s->fake->hca, &vfake_provider, &s->vf), 0);
	s->fake->bound = true;
	s->bound = true;
	KUNIT_ASSERT_EQ(s->test, subnet_ifaces(s), VFAKE_PORTS);
}

/** subnet_up() - a HCA with an interface for each port */
struct subnet *subnet_up(struct kunit *test, const char *name)
{
	struct subnet *s = subnet_create(test, name);

	subnet_bind(s);
	return s;
}

static bool subnet_has(struct subnet *s, struct net_device *netdev)
{
	return netdev->type == ARPHRD_INFINIBAND && netdev->dev.parent == s->fake->parent;
}

/** subnet_iface() - the interface of a port, or NULL */
struct ipoib_iface *subnet_iface(struct subnet *s, u8 port)
{
	struct ipoib_iface *found = NULL;
	struct net_device *netdev;

	rtnl_lock();
	for_each_netdev(&init_net, netdev)
		if (subnet_has(s, netdev) && netdev->dev_port == port - 1)
			found = netdev_priv(netdev);
	rtnl_unlock();
	return found;
}

/** subnet_ifaces() - interfaces that are listed */
int subnet_ifaces(struct subnet *s)
{
	struct net_device *netdev;
	int n = 0;

	rtnl_lock();
	for_each_netdev(&init_net, netdev)
		n += subnet_has(s, netdev);
	rtnl_unlock();
	return n;
}

void subnet_wait_carrier(struct subnet *s, struct ipoib_iface *iface, bool on)
{
	KUNIT_EXPECT_TRUE(s->test, LR_WAIT(netif_carrier_ok(iface->netdev) == on, 60000));
}

/** subnet_open() - set an interface up, and wait for its carrier unless the SM is silent */
void subnet_open(struct subnet *s, struct ipoib_iface *iface)
{
	rtnl_lock();
	KUNIT_EXPECT_EQ(s->test, dev_open(iface->netdev, NULL), 0);
	rtnl_unlock();
	if (!s->held)
		subnet_wait_carrier(s, iface, true);
}

void subnet_stop(struct ipoib_iface *iface)
{
	rtnl_lock();
	dev_close(iface->netdev);
	rtnl_unlock();
}

/** subnet_peer() - the address of a peer that is not there */
void subnet_peer(u8 *daddr, u32 number)
{
	union ib_gid gid = {};

	gid.global.subnet_prefix = cpu_to_be64(IB_GID_DEFAULT_PREFIX);
	gid.global.interface_id = cpu_to_be64(0x0002c90300900000ULL + number);
	ipoib_addr_pack(daddr, 0x400 + number, &gid);
}

/** subnet_send() - a packet by way of the network stack */
void subnet_send(struct ipoib_iface *iface, const u8 *daddr)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);

	if (!skb)
		return;
	skb_reserve(skb, 64);
	skb_reset_network_header(skb);
	skb_put_zero(skb, 100);
	skb->dev = iface->netdev;
	skb->protocol = htons(ETH_P_IP);
	dev_hard_header(skb, iface->netdev, ETH_P_IP, daddr, NULL, skb->len);
	dev_queue_xmit(skb);
}

/** subnet_send_known() - the same, and wait until it has left: the way is known from then on */
void subnet_send_known(struct subnet *s, struct ipoib_iface *iface, const u8 *daddr)
{
	int before = vfake_calls(&s->vf, VFAKE_POST_SEND);

	subnet_send(iface, daddr);
	KUNIT_EXPECT_TRUE(s->test, LR_WAIT(vfake_calls(&s->vf, VFAKE_POST_SEND) > before, 10000));
}
