// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does on request what no driver may do, so that the test harness can be seen to notice it. Built
 * and loaded by the self-test of the detectors only; never a part of the package.
 *
 * Write a word of the table at the end to /sys/kernel/debug/lastref_selftest/trigger. The words
 * "let-go" and "wake-up" end what "hold" and "hang" began.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/nmi.h>
#include <linux/platform_device.h>
#include <linux/refcount.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

static struct dentry *folder;
static struct platform_device *pdev;
static struct net_device *held;
static struct workqueue_struct *queue;
static DECLARE_COMPLETION(wake_up);
static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);
static DEFINE_SPINLOCK(lock_s);

static void do_inversion(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);
	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

/* In a work item: a report there belongs to no test's own thread. */
static void freed_work(struct work_struct *work)
{
	char *p = kmalloc(64, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	kfree(p);
	WRITE_ONCE(p[8], 1);
}

static DECLARE_WORK(use_freed, freed_work);

static void do_freed(void)
{
	queue_work(queue, &use_freed);
	flush_workqueue(queue);
}

static void do_atomic(void)
{
	void *p;

	spin_lock(&lock_s);
	p = kmalloc(64, GFP_KERNEL);
	spin_unlock(&lock_s);
	kfree(p);
}

static noinline void do_leak(void)
{
	int i;

	/* several: a stale pointer on a stack may hide one of them */
	for (i = 0; i < 8; i++) {
		void *p = kmalloc(512, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
		memset(p, 0, p ? 512 : 0);
	}
}

static void unregister_work(struct work_struct *work)
{
	unregister_netdev(held);
	free_netdev(held);
	held = NULL;
}

static DECLARE_WORK(unregister_held, unregister_work);

static const struct net_device_ops no_ops;

static void plain_setup(struct net_device *dev)
{
	dev->netdev_ops = &no_ops;
}

static void do_hold(void)
{
	if (held)
		return;
	held = alloc_netdev(0, "selftest%d", NET_NAME_ENUM, plain_setup);
	if (!held)
		return;
	if (register_netdev(held)) {
		free_netdev(held);
		held = NULL;
		return;
	}
	dev_hold(held);
	queue_work(queue, &unregister_held);
}

static void do_let_go(void)
{
	if (held)
		dev_put(held);
	flush_workqueue(queue);
}

static int hang_thread(void *unused)
{
	wait_for_completion(&wake_up);
	return 0;
}

static void do_hang(void)
{
	kthread_run(hang_thread, NULL, "selftest_hang");
}

static void do_wake_up(void)
{
	complete_all(&wake_up);
	msleep(100);
	reinit_completion(&wake_up);
}

static void do_oops(void)
{
	int *p = NULL;

	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(*p, 1);
}

static void do_warn(void)
{
	WARN(1, "asked for by the self-test\n");
}

static void do_refcount(void)
{
	refcount_t r = REFCOUNT_INIT(1);

	refcount_dec(&r);
}

static void do_list(void)
{
	LIST_HEAD(head);
	struct list_head one, two;

	list_add(&one, &head);
	list_add(&two, &head);
	one.prev = &one;	/* somebody wrote over it */
	list_del(&one);
}

static void timer_fn(struct timer_list *unused)
{
}

/* Freed with a timer in it that still runs. */
static void do_object(void)
{
	struct timer_list *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	timer_setup(t, timer_fn, 0);
	mod_timer(t, jiffies + 3600 * HZ);
	kfree(t);
}

static void do_dma(void)
{
	struct device *dev = &pdev->dev;
	void *p = kmalloc(512, GFP_KERNEL);
	dma_addr_t at;

	if (!p)
		return;
	at = dma_map_single(dev, p, 512, DMA_TO_DEVICE);
	if (!dma_mapping_error(dev, at))
		dma_unmap_single(dev, at, 256, DMA_TO_DEVICE);
	kfree(p);
}

static void do_stall(void)
{
	unsigned long end = jiffies + 12 * HZ;

	rcu_read_lock();
	preempt_disable();
	while (time_before(jiffies, end)) {
		touch_softlockup_watchdog();
		cpu_relax();
	}
	preempt_enable();
	rcu_read_unlock();
}

/* More than the log holds. */
static void do_flood(void)
{
	static char line[800];
	int i;

	memset(line, '.', sizeof(line) - 1);
	for (i = 0; i < 8000; i++)
		pr_info("flood %d %s\n", i, line);
}

static const struct {
	const char *word;
	void (*fn)(void);
} tricks[] = {
	{ "inversion", do_inversion },
	{ "freed", do_freed },
	{ "atomic", do_atomic },
	{ "leak", do_leak },
	{ "hold", do_hold },
	{ "let-go", do_let_go },
	{ "hang", do_hang },
	{ "wake-up", do_wake_up },
	{ "oops", do_oops },
	{ "warn", do_warn },
	{ "refcount", do_refcount },
	{ "list", do_list },
	{ "object", do_object },
	{ "dma", do_dma },
	{ "stall", do_stall },
	{ "flood", do_flood },
};

static ssize_t trigger_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char word[16] = "";
	size_t i;

	if (len >= sizeof(word) || copy_from_user(word, buf, len))
		return -EINVAL;
	strim(word);
	for (i = 0; i < ARRAY_SIZE(tricks); i++) {
		if (sysfs_streq(word, tricks[i].word)) {
			tricks[i].fn();
			return len;
		}
	}
	return -EINVAL;
}

static const struct file_operations trigger_fops = {
	.owner = THIS_MODULE,
	.write = trigger_write,
};

static int __init selftest_init(void)
{
	queue = alloc_workqueue("lastref_selftest", 0, 0);
	if (!queue)
		return -ENOMEM;
	pdev = platform_device_register_simple("lastref_selftest", -1, NULL, 0);
	if (IS_ERR(pdev)) {
		destroy_workqueue(queue);
		return PTR_ERR(pdev);
	}
	dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	folder = debugfs_create_dir("lastref_selftest", NULL);
	debugfs_create_file("trigger", 0200, folder, NULL, &trigger_fops);
	return 0;
}

static void __exit selftest_exit(void)
{
	debugfs_remove(folder);
	platform_device_unregister(pdev);
	destroy_workqueue(queue);
}

module_init(selftest_init);
module_exit(selftest_exit);
MODULE_DESCRIPTION("Breaks rules on request, to test the detectors of the test harness");
MODULE_LICENSE("GPL");
