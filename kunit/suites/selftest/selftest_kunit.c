// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on request, one per boot: kunit/selftest asks for each in turn and passes when kunit/run
 * fails. Without a request the test passes and does nothing wrong.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/if_arp.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

#include <lastref/kunit.h>

static char *inject = "none";
module_param(inject, charp, 0400);
MODULE_PARM_DESC(inject, "the fault to commit");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

/* Two orders of two locks, never at the same time: only lockdep can know. */
static void inversion(struct kunit *test)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void read_freed(void)
{
	int *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	(void)READ_ONCE(*p);
}

static void uaf(struct kunit *test)
{
	read_freed();
}

static int uaf_main(void *done)
{
	read_freed();
	complete(done);
	return 0;
}

/* KASAN knows nothing of the test that this thread belongs to. */
static void uaf_thread(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *t = kthread_run(uaf_main, &done, "selftest");

	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	wait_for_completion(&done);
}

static void sleep_atomic(struct kunit *test)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

static void warn(struct kunit *test)
{
	WARN(1, "selftest: on request\n");
}

static void leak(struct kunit *test)
{
	char *p = kmalloc(1111, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	OPTIMIZER_HIDE_VAR(p);
	memset(p, 0x5a, 1111);
}

static void hang(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(never);

	wait_for_completion(&never);
}

static void expectation(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1, 2);
}

static void timer_nothing(struct timer_list *t)
{
}

/* Freeing what holds a running timer: debug objects. */
static void timer_freed(struct kunit *test)
{
	struct timer_list *t = kzalloc(sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	timer_setup(t, timer_nothing, 0);
	mod_timer(t, jiffies + 1000 * HZ);
	kfree(t);
}

static void list_twice(struct kunit *test)
{
	LIST_HEAD(head);
	LIST_HEAD(entry);

	list_add(&entry, &head);
	list_add(&entry, &head);
}

static void refcount(struct kunit *test)
{
	refcount_t r = REFCOUNT_INIT(1);

	if (refcount_dec_and_test(&r))
		refcount_inc(&r);
}

static void oops(struct kunit *test)
{
	int *p = NULL;

	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(*p, 1);
}

static void hold_setup(struct net_device *dev)
{
	dev->type = ARPHRD_NONE;
	dev->mtu = 1500;
}

static netdev_tx_t hold_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops hold_ops = {
	.ndo_start_xmit = hold_xmit,
};

static int hold_let_go(void *dev)
{
	ssleep(15);
	dev_put(dev);
	return 0;
}

/* Somebody keeps a network device that is being unregistered, longer than the kernel is patient. */
static void hold(struct kunit *test)
{
	struct net_device *dev = alloc_netdev(0, "selftest%d", NET_NAME_ENUM, hold_setup);
	struct task_struct *t;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev->netdev_ops = &hold_ops;
	KUNIT_ASSERT_EQ(test, register_netdev(dev), 0);
	dev_hold(dev);
	t = kthread_run(hold_let_go, dev, "selftest");
	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	unregister_netdev(dev);
	free_netdev(dev);
}

static const struct {
	const char *name;
	void (*commit)(struct kunit *test);
} faults[] = {
	{ "none", NULL },
	{ "inversion", inversion },
	{ "uaf", uaf },
	{ "uaf_thread", uaf_thread },
	{ "atomic", sleep_atomic },
	{ "warn", warn },
	{ "leak", leak },
	{ "hang", hang },
	{ "hold", hold },
	{ "expectation", expectation },
	{ "timer", timer_freed },
	{ "list", list_twice },
	{ "refcount", refcount },
	{ "oops", oops },
};

static void selftest_commit(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(inject, faults[i].name))
			continue;
		if (faults[i].commit)
			faults[i].commit(test);
		return;
	}
	KUNIT_FAIL(test, "there is no fault called %s", inject);
}

static struct kunit_case selftest_cases[] = {
	KUNIT_CASE(selftest_commit),
	{}
};

static struct kunit_suite selftest_suite = {
	.name = "selftest",
	LR_SUITE_HOOKS,
	.test_cases = selftest_cases,
};

kunit_test_suite(selftest_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Faults on request, to prove the detectors");
