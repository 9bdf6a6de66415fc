// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing one allocation after the other; see <lastref/fault.h>.
 *
 * The kernel's fault injection has all that is needed, but no interface in the kernel: its
 * switches are static. Their debugfs files are not, and each file's inode carries the address of
 * the switch it shows.
 */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <lastref/fault.h>
#include <lastref/kunit.h>

#include "lib.h"

/* More allocations than this in one operation means that the iteration does not end. */
#define MOST 5000

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
/**
 * struct pool - an allocator that can be made to fail
 * @dir: its folder in debugfs
 * @attr: its switches, once found
 * @spare: the switch that spares allocations which may sleep
 * @min_order: pages only: the least order that fails
 */
struct pool {
	const char *dir;
	struct fault_attr *attr;
	bool *spare;
	u32 *min_order;
};

static struct pool pools[2] = {
	{ .dir = "failslab" },
	{ .dir = "fail_page_alloc" },
};

/* The variable that debugfs file @dir/@name shows, or NULL. */
static void *shown_by(const char *dir, const char *name)
{
	struct dentry *d = debugfs_lookup(dir, NULL), *f;
	void *var = NULL;

	if (!d)
		return NULL;
	f = debugfs_lookup(name, d);
	if (f)
		var = d_inode(f)->i_private;
	dput(f);
	dput(d);
	return var;
}

static bool find_pools(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(pools); i++) {
		struct pool *p = &pools[i];
		unsigned long *probability = shown_by(p->dir, "probability");

		p->spare = shown_by(p->dir, "ignore-gfp-wait");
		p->min_order = shown_by(p->dir, "min-order");
		if (!probability || !p->spare)
			return false;
		p->attr = container_of(probability, struct fault_attr, probability);
	}
	return true;
}

/*
 * Whose allocations fail: the marked tasks'. Threads are marked by their name, when a round begins,
 * and when they begin or are given it; workers while they execute a work item of that name, which
 * the workqueue's trace points tell.
 */
static const char *hunted;

static bool is_hunted(const char *name)
{
	const char *who = READ_ONCE(hunted);

	return who && !strncmp(name, who, strlen(who));
}

static void work_starts(void *data, struct work_struct *work)
{
	char name[KSYM_SYMBOL_LEN];

	if (!READ_ONCE(hunted))
		return;
	sprint_symbol_no_offset(name, (unsigned long)work->func);
	if (is_hunted(name))
		current->make_it_fail = true;
}

static void work_ends(void *data, struct work_struct *work, work_func_t func)
{
	current->make_it_fail = false;
}

/* From 6.12 on a kernel thread has its name from the start: nobody gives it one. */
static void task_made(void *data, struct task_struct *task, unsigned long flags)
{
	if ((task->flags & PF_KTHREAD) && is_hunted(task->comm))
		task->make_it_fail = true;
}

static void task_named(void *data, struct task_struct *task, const char *name)
{
	if (is_hunted(name))
		task->make_it_fail = true;
}

struct probe {
	const char *name;
	void *fn;
	struct tracepoint *tp;
};

static struct probe probes[] = {
	{ .name = "workqueue_execute_start", .fn = work_starts },
	{ .name = "workqueue_execute_end", .fn = work_ends },
	{ .name = "task_newtask", .fn = task_made },
	{ .name = "task_rename", .fn = task_named },
};

static void find_probe(struct tracepoint *tp, void *arg)
{
	struct probe *p = arg;

	if (!strcmp(tp->name, p->name))
		p->tp = tp;
}

/* Once; the probes look at @hunted first, which is NULL nearly always. */
static bool place_probes(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(probes); i++) {
		struct probe *p = &probes[i];

		if (p->tp)
			continue;
		for_each_kernel_tracepoint(find_probe, p);
		if (!p->tp)
			return false;
		if (tracepoint_probe_register(p->tp, p->fn, NULL)) {
			p->tp = NULL;
			return false;
		}
	}
	return true;
}

void lr_fault_exit(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].tp)
			tracepoint_probe_unregister(probes[i].tp, probes[i].fn, NULL);
	tracepoint_synchronize_unregister();
}

static void hunt(const char *who)
{
	struct task_struct *group, *t;

	WRITE_ONCE(hunted, who);
	rcu_read_lock();
	for_each_process_thread(group, t)
		t->make_it_fail = (t->flags & PF_KTHREAD) && !(t->flags & PF_WQ_WORKER) &&
				  is_hunted(t->comm);
	rcu_read_unlock();
}

static void set_pool(struct pool *p, unsigned int nth)
{
	p->attr->count = 0;
	p->attr->interval = nth;
	p->attr->task_filter = true;
	atomic_set(&p->attr->times, 1);
	/* last: nothing fails while it is 0 */
	WRITE_ONCE(p->attr->probability, nth ? 100 : 0);
}

static void open_pools(bool on)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(pools); i++) {
		pools[i].attr->verbose = 0;
		*pools[i].spare = !on;
		if (pools[i].min_order)
			*pools[i].min_order = on ? 0 : 1;
	}
}

/* All switches as they were; also for a test that ended in the middle of a round. */
static void disarm(void *unused)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(pools); i++)
		set_pool(&pools[i], 0);
	hunt(NULL);
	WRITE_ONCE(current->fail_nth, 0);
	open_pools(false);
}

struct lr_fault *lr_fault_begin(struct lr_fault *f, struct kunit *test, const char *who)
{
	*f = (struct lr_fault){ .test = test, .who = who };
	if (!find_pools() || (who && !place_probes()))
		kunit_skip(test, "the kernel has no fault injection to use");
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, disarm, NULL), 0);
	return f;
}
EXPORT_SYMBOL_GPL(lr_fault_begin);

static void arm(struct lr_fault *f)
{
	open_pools(true);
	f->armed = true;
	if (f->who) {
		hunt(f->who);
		set_pool(&pools[f->pool], f->nth);
	} else {
		WRITE_ONCE(current->fail_nth, f->nth);
	}
}

bool lr_fault_stop(struct lr_fault *f)
{
	if (!f->armed)
		return f->hit;
	f->armed = false;
	if (f->who)
		f->hit = !atomic_read(&pools[f->pool].attr->times);
	else
		f->hit = !READ_ONCE(current->fail_nth);
	disarm(NULL);
	f->hits += f->hit;
	return f->hit;
}
EXPORT_SYMBOL_GPL(lr_fault_stop);

/* An iteration that failed nothing has tested nothing. */
static bool over(struct lr_fault *f)
{
	kunit_info(f->test, "%u failures injected\n", f->hits);
	KUNIT_EXPECT_GT(f->test, f->hits, 0U);
	return false;
}

bool lr_fault_next(struct lr_fault *f)
{
	lr_fault_stop(f);
	if (f->nth && !f->hit) {
		if (!f->who || ++f->pool == ARRAY_SIZE(pools))
			return over(f);
		f->nth = 0;
	}
	if (f->nth == MOST) {
		KUNIT_FAIL(f->test, "still allocating after %u rounds", f->nth);
		return false;
	}
	f->nth++;
	arm(f);
	return true;
}
EXPORT_SYMBOL_GPL(lr_fault_next);

void lr_fault_pause(struct lr_fault_hold *hold)
{
	hold->nth = in_task() ? READ_ONCE(current->fail_nth) : 0;
	if (hold->nth)
		WRITE_ONCE(current->fail_nth, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(pools); i++)
		if (pools[i].attr)
			hold->times[i] = atomic_xchg(&pools[i].attr->times, 0);
}
EXPORT_SYMBOL_GPL(lr_fault_pause);

void lr_fault_resume(const struct lr_fault_hold *hold)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(pools); i++)
		if (pools[i].attr)
			atomic_set(&pools[i].attr->times, hold->times[i]);
	if (hold->nth)
		WRITE_ONCE(current->fail_nth, hold->nth);
}
EXPORT_SYMBOL_GPL(lr_fault_resume);
#else
void lr_fault_exit(void)
{
}

struct lr_fault *lr_fault_begin(struct lr_fault *f, struct kunit *test, const char *who)
{
	kunit_skip(test, "the kernel has no fault injection to use");
	return f;
}
EXPORT_SYMBOL_GPL(lr_fault_begin);

bool lr_fault_next(struct lr_fault *f)
{
	return false;
}
EXPORT_SYMBOL_GPL(lr_fault_next);

bool lr_fault_stop(struct lr_fault *f)
{
	return false;
}
EXPORT_SYMBOL_GPL(lr_fault_stop);

void lr_fault_pause(struct lr_fault_hold *hold)
{
}
EXPORT_SYMBOL_GPL(lr_fault_pause);

void lr_fault_resume(const struct lr_fault_hold *hold)
{
}
EXPORT_SYMBOL_GPL(lr_fault_resume);
#endif
