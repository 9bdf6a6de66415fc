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
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include <lastref/fault.h>
#include <lastref/kunit.h>

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

/* Mark kernel threads and the caller. New kernel threads inherit the mark from kthreadd. */
static void mark_threads(bool on)
{
	struct task_struct *group, *t;

	rcu_read_lock();
	for_each_process_thread(group, t)
		if (!on || (t->flags & PF_KTHREAD))
			t->make_it_fail = on;
	rcu_read_unlock();
	current->make_it_fail = on;
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

struct lr_fault *lr_fault_begin(struct lr_fault *f, struct kunit *test,
				enum lr_fault_scope scope)
{
	*f = (struct lr_fault){ .test = test, .scope = scope };
	if (!find_pools())
		kunit_skip(test, "the kernel has no fault injection to use");
	return f;
}
EXPORT_SYMBOL_GPL(lr_fault_begin);

static void arm(struct lr_fault *f)
{
	open_pools(true);
	f->armed = true;
	if (f->scope == LR_FAULT_THREADS) {
		mark_threads(true);
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
	if (f->scope == LR_FAULT_THREADS) {
		f->hit = !atomic_read(&pools[f->pool].attr->times);
		set_pool(&pools[f->pool], 0);
		mark_threads(false);
	} else {
		f->hit = !READ_ONCE(current->fail_nth);
		WRITE_ONCE(current->fail_nth, 0);
	}
	open_pools(false);
	f->hits += f->hit;
	return f->hit;
}
EXPORT_SYMBOL_GPL(lr_fault_stop);

bool lr_fault_next(struct lr_fault *f)
{
	lr_fault_stop(f);
	if (f->nth && !f->hit) {
		if (f->scope == LR_FAULT_TASK || ++f->pool == ARRAY_SIZE(pools))
			return false;
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
struct lr_fault *lr_fault_begin(struct lr_fault *f, struct kunit *test,
				enum lr_fault_scope scope)
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
