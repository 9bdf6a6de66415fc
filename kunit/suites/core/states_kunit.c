// SPDX-License-Identifier: GPL-2.0-only
/*
 * States, gates, references, names: the small promises the large ones stand on.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake.h"

/* ---- the move table ---- */

/* The picture of docs/teardown.md, written down a second time. */
static const struct {
	enum ib_device_state from;
	enum ib_device_state to;
} moves[] = {
	{ IB_DEVICE_NEW, IB_DEVICE_REGISTERING },
	{ IB_DEVICE_REGISTERING, IB_DEVICE_LIVE },
	{ IB_DEVICE_REGISTERING, IB_DEVICE_CLOSING },
	{ IB_DEVICE_LIVE, IB_DEVICE_CLOSING },
	{ IB_DEVICE_CLOSING, IB_DEVICE_DRAINING },
	{ IB_DEVICE_DRAINING, IB_DEVICE_STOPPED },
	{ IB_DEVICE_STOPPED, IB_DEVICE_RELEASED },
	{ IB_DEVICE_STOPPED, IB_DEVICE_QUARANTINED },
};

static const void *state_gen(const void *prev, char *desc)
{
	unsigned int n = (uintptr_t)prev;

	if (n == IB_DEVICE_STATES)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "from %s", ib_device_state_name(n));
	return (void *)(uintptr_t)(n + 1);
}

static void states_moves(struct kunit *test)
{
	unsigned int from = (uintptr_t)test->param_value - 1, to, i;

	for (to = 0; to <= IB_DEVICE_STATES; to++) {
		bool expected = false;

		for (i = 0; i < ARRAY_SIZE(moves); i++)
			expected |= moves[i].from == from && moves[i].to == to;
		KUNIT_EXPECT_EQ_MSG(test, ib_device_may_move(from, to), expected, "to %s",
				    ib_device_state_name(to));
	}
}

static void states_names(struct kunit *test)
{
	int a, b;

	for (a = 0; a < IB_DEVICE_STATES; a++) {
		KUNIT_EXPECT_STRNEQ(test, ib_device_state_name(a), "?");
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_STRNEQ(test, ib_device_state_name(a),
					    ib_device_state_name(b));
	}
	KUNIT_EXPECT_STREQ(test, ib_device_state_name(IB_DEVICE_STATES), "?");
}

/* What a client sees of the states from its callbacks. */
static void state_hook(struct fake_client *fc, struct ib_attachment *attachment, const char *where)
{
	enum ib_device_state want = !strcmp(where, "add_one") ? IB_DEVICE_REGISTERING :
				    IB_DEVICE_CLOSING;

	if (ib_device_state(attachment->device) != want)
		fake_breach("a callback in the wrong state");
}

static void states_in_callbacks(struct kunit *test)
{
	struct fake_client *fc = fake_client_create(test, "watcher");
	struct fake_hca *fake = fake_hca_create(test, "lr-states");

	fc->hook = state_hook;
	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(fake), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->removes), 1);
}

/* closing() of every client comes before the first remove_one. */
static atomic_t closed_clients;

static void two_phase_hook(struct fake_client *fc, struct ib_attachment *attachment,
			   const char *where)
{
	if (!strcmp(where, "closing"))
		atomic_inc(&closed_clients);
	if (!strcmp(where, "remove_one") && atomic_read(&closed_clients) != 3)
		fake_breach("a client is removed before all were told");
}

static void states_two_phases(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-states");
	struct fake_client *fc;
	int i;

	atomic_set(&closed_clients, 0);
	for (i = 0; i < 3; i++) {
		fc = fake_client_create(test, "phase");
		fc->hook = two_phase_hook;
		KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	}
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(fake), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&closed_clients), 3);
}

/* The reason: REMOVED for a removal, RESET for what is followed by another incarnation. */
static void states_reasons(struct kunit *test)
{
	struct fake_client *fc = fake_client_create(test, "reasons");
	struct fake_hca *fake = fake_hca_create(test, "lr-states");

	KUNIT_ASSERT_EQ(test, fake_client_register(fc), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	ib_hca_raise(fake->hca, IB_GOAL_RESET);
	ib_hca_settle(fake->hca);
	KUNIT_EXPECT_EQ(test, (int)fc->last_reason, (int)IB_RESET);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->adds), 2);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(fake), 0);
	KUNIT_EXPECT_EQ(test, (int)fc->last_reason, (int)IB_REMOVED);
	KUNIT_EXPECT_EQ(test, atomic_read(&fc->removes), 2);
}

/* ---- goals ---- */

static const void *goal_gen(const void *prev, char *desc)
{
	unsigned int n = (uintptr_t)prev;

	if (n == 16)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "goal %u then %u", n / 4 + 1, n % 4 + 1);
	return (void *)(uintptr_t)(n + 1);
}

/* A goal only rises while there is something to do for it. */
static void states_goals(struct kunit *test)
{
	unsigned int n = (uintptr_t)test->param_value - 1;
	enum ib_goal first = n / 4 + 1, second = n % 4 + 1;
	struct fake_hca *fake = fake_hca_create(test, "lr-goals");

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	ib_hca_hold(fake->hca, IB_HOLD_RESET);
	ib_hca_raise(fake->hca, first);
	ib_hca_raise(fake->hca, second);
	ib_hca_settle(fake->hca);
	if (first == IB_GOAL_SHUTDOWN || second == IB_GOAL_SHUTDOWN) {
		KUNIT_EXPECT_TRUE(test, fake->hca->halted);
		KUNIT_EXPECT_EQ(test, (int)fake->hca->goal, (int)min(first, second) % 4);
	} else {
		KUNIT_EXPECT_EQ(test, (int)fake->hca->goal, (int)max(first, second));
	}
	KUNIT_EXPECT_FALSE(test, fake->alive);
}

/* Held down twice, permitted twice. */
static void states_holds(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-goals");

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	ib_hca_hold(fake->hca, IB_HOLD_RESET);
	ib_hca_hold(fake->hca, IB_HOLD_SLEEP);
	ib_hca_raise(fake->hca, IB_GOAL_RESET);
	ib_hca_settle(fake->hca);
	ib_hca_permit(fake->hca, IB_HOLD_RESET);
	ib_hca_settle(fake->hca);
	KUNIT_EXPECT_NULL(test, fake_device(fake));
	ib_hca_permit(fake->hca, IB_HOLD_SLEEP);
	ib_hca_settle(fake->hca);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

/* Brought up while the machine is going to sleep: comes up when that is over. */
static void states_added_while_held(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-goals");

	ib_hca_hold(fake->hca, IB_HOLD_SLEEP);
	KUNIT_ASSERT_EQ(test, fake_hca_add(fake), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->starts), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_bind(fake), 0);
	ib_hca_permit(fake->hca, IB_HOLD_SLEEP);
	ib_hca_settle(fake->hca);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

/* ---- gates ---- */

static void states_gate_nests(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gate");
	struct ib_device *device;

	KUNIT_EXPECT_EQ(test, ib_hca_enter(fake->hca), -ENODEV);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	device = fake_device(fake);
	KUNIT_ASSERT_EQ(test, ib_device_enter(device), 0);
	KUNIT_ASSERT_EQ(test, ib_device_enter(device), 0);
	KUNIT_ASSERT_EQ(test, ib_hca_enter(fake->hca), 0);
	ib_hca_exit(fake->hca);
	ib_device_exit(device);
	ib_device_exit(device);
}

/* From inside the gate: GONE is said, and what is nested inside is refused. */
static void states_gone_inside_gate(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-gate");
	struct ib_device *device;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	device = fake_device(fake);
	KUNIT_ASSERT_EQ(test, ib_device_enter(device), 0);
	ib_hca_gone(fake->hca, "from inside");
	KUNIT_EXPECT_EQ(test, ib_device_enter(device), -EIO);
	KUNIT_EXPECT_EQ(test, ib_hca_enter(fake->hca), -EIO);
	/* Quiet does not wait for those inside. */
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&fake->quiets) == 1, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 0);
	ib_device_exit(device);
	ib_hca_settle(fake->hca);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
}

/**
 * struct short_section - one on another processor
 * @gate: what it passes
 * @passed: what ib_gate_pass() said to it
 * @again: what it said at the end
 * @inside: it has passed; set by the section
 * @leave: it may end; set by the test
 */
struct short_section {
	struct ib_gate *gate;
	int passed;
	int again;
	bool inside;
	bool leave;
};

static int run_short_section(void *arg)
{
	struct short_section *section = arg;

	rcu_read_lock();
	section->passed = ib_gate_pass(section->gate);
	WRITE_ONCE(section->inside, true);
	while (!READ_ONCE(section->leave))
		cpu_relax();
	section->again = ib_gate_pass(section->gate);
	rcu_read_unlock();
	return 0;
}

static bool states_refuses(struct ib_gate *gate)
{
	int err;

	rcu_read_lock();
	err = ib_gate_pass(gate);
	rcu_read_unlock();
	return err;
}

/* A section that nobody counts keeps the device from being stopped, too. */
static void states_short_section(struct kunit *test)
{
	struct short_section section = { .passed = -1 };
	struct fake_flow inside, removal;
	struct fake_hca *fake;

	if (num_online_cpus() < 2)
		kunit_skip(test, "a section that spins needs a processor of its own");
	fake = fake_hca_create(test, "lr-gate");
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	section.gate = &fake_device(fake)->gate;
	fake_flow_start(&inside, run_short_section, &section);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(READ_ONCE(section.inside), 10000));
	fake_flow_start(&removal, fake_run_remove, fake);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(states_refuses(section.gate), 10000));
	msleep(100);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 0);
	WRITE_ONCE(section.leave, true);
	fake_flow_join(&inside);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&removal), 0);
	KUNIT_EXPECT_EQ(test, section.passed, 0);
	KUNIT_EXPECT_EQ(test, section.again, -ENODEV);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 1);
}

/* ---- references and names ---- */

static unsigned int count_holders(struct ib_device *device)
{
	struct ib_holder *holder;
	unsigned int n = 0;

	spin_lock_irq(&device->hca->lock);
	list_for_each_entry(holder, &device->holders, node)
		n++;
	spin_unlock_irq(&device->hca->lock);
	return n;
}

static void states_lookup(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-names");
	struct ib_holder holder = {};
	struct ib_device *device;
	unsigned int before;
	u32 index;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	index = fake_device(fake)->index;
	device = ib_device_find(index);
	KUNIT_ASSERT_PTR_EQ(test, device, fake_device(fake));
	/* The framework's own, and those of the services that ib_core itself brings. */
	before = count_holders(device);
	KUNIT_ASSERT_EQ(test, ib_device_lookup_begin(device, &holder, "a lookup"), 0);
	KUNIT_EXPECT_EQ(test, count_holders(device), before + 1);
	ib_device_lookup_end(&holder);
	KUNIT_EXPECT_EQ(test, count_holders(device), before);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(fake), 0);
	KUNIT_EXPECT_NULL(test, ib_device_find(index));
	KUNIT_EXPECT_EQ(test, ib_device_hold(device, &holder, "late"), -ENODEV);
	KUNIT_EXPECT_EQ(test, (int)ib_device_state(device), (int)IB_DEVICE_RELEASED);
	put_device(&device->dev);
}

static int count_device(struct ib_device *device, void *data)
{
	++*(int *)data;
	return 0;
}

static void states_for_each(struct kunit *test)
{
	struct fake_hca *a = fake_hca_create(test, "lr-each-a");
	struct fake_hca *b = fake_hca_create(test, "lr-each-b");
	int before = 0, count = 0;

	ib_device_for_each(count_device, &before);
	KUNIT_ASSERT_EQ(test, fake_hca_up(a), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(b), 0);
	ib_device_for_each(count_device, &count);
	KUNIT_EXPECT_EQ(test, count, before + 2);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(a), 0);
	count = 0;
	ib_device_for_each(count_device, &count);
	KUNIT_EXPECT_EQ(test, count, before + 1);
}

static void states_rename_refusals(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-names");
	char too_long[IB_DEVICE_NAME_MAX + 2];

	memset(too_long, 'x', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_EXPECT_EQ(test, ib_device_rename(fake_device(fake), ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_rename(fake_device(fake), "a/b"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_rename(fake_device(fake), "a%d"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_rename(fake_device(fake), too_long), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_rename(fake_device(fake), fake_device(fake)->name), 0);
}

static void states_rename_taken(struct kunit *test)
{
	struct fake_hca *a = fake_hca_create(test, "lr-names-a");
	struct fake_hca *b = fake_hca_create(test, "lr-names-b");

	KUNIT_ASSERT_EQ(test, fake_hca_up(a), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(b), 0);
	KUNIT_EXPECT_STRNEQ(test, fake_device(a)->name, fake_device(b)->name);
	KUNIT_EXPECT_EQ(test, ib_device_rename(fake_device(a), fake_device(b)->name), -EEXIST);
}

/* The memory of a device outlives device and HCA, for an open file, and refuses. */
static void states_memory_outlives(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-memory");
	char name[IB_DEVICE_NAME_MAX];
	struct ib_device *device;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	device = fake_device(fake);
	get_device(&device->dev);
	KUNIT_EXPECT_EQ(test, fake_hca_remove(fake), 0);
	KUNIT_EXPECT_NE(test, ib_device_enter(device), 0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ib_device_name(device, name), "fake_"));
	put_device(&device->dev);
}

/* ---- user files ---- */

static bool told;

static void told_hook(struct ib_file *file)
{
	told = true;
}

static int run_reader(void *file)
{
	struct ib_file *f = file;

	return wait_event_interruptible(f->wait, ib_file_revoked(f));
}

static void states_file_is_revoked(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-files");
	struct ib_file file = {}, late = {};
	struct ib_device *device;
	struct fake_flow reader;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	device = fake_device(fake);
	get_device(&device->dev);
	told = false;
	KUNIT_ASSERT_EQ(test, ib_file_open(&file, device, NULL, told_hook), 0);
	KUNIT_ASSERT_EQ(test, ib_file_enter(&file), 0);
	ib_file_exit(&file);
	fake_flow_start(&reader, run_reader, &file);
	usleep_range(2000, 2001);
	KUNIT_EXPECT_FALSE(test, completion_done(&reader.done));

	KUNIT_EXPECT_EQ(test, fake_hca_unbind(fake), 0);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&reader), 0);
	KUNIT_EXPECT_TRUE(test, told);
	KUNIT_EXPECT_TRUE(test, ib_file_revoked(&file));
	KUNIT_EXPECT_NE(test, ib_file_enter(&file), 0);
	KUNIT_EXPECT_EQ(test, ib_file_open(&late, device, NULL, NULL), -ENODEV);
	ib_file_close(&file);
	put_device(&device->dev);
}

/* One file is revoked, its neighbour is not. */
static void states_one_file_is_revoked(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-files");
	struct ib_file one = {}, two = {};

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_ASSERT_EQ(test, ib_file_open(&one, fake_device(fake), NULL, told_hook), 0);
	KUNIT_ASSERT_EQ(test, ib_file_open(&two, fake_device(fake), NULL, NULL), 0);
	ib_file_revoke(&one);
	ib_file_revoke(&one);
	KUNIT_EXPECT_EQ(test, ib_file_enter(&one), -EIO);
	KUNIT_ASSERT_EQ(test, ib_file_enter(&two), 0);
	ib_file_exit(&two);
	ib_file_close(&one);
	ib_file_close(&two);
}

/* ---- services ---- */

/* A service leaves: the clients and services that need it leave first, the others stay. */
static void states_service_leaves(struct kunit *test)
{
	struct fake_service *mad = fake_service_create(test, "mad", NULL, NULL);
	struct fake_service *sa = fake_service_create(test, "sa", mad, NULL);
	struct fake_client *ipoib = fake_client_create(test, "ipoib");
	struct fake_client *uverbs = fake_client_create(test, "uverbs");
	struct fake_hca *fake = fake_hca_create(test, "lr-services");

	fake_client_needs(ipoib, sa);
	KUNIT_ASSERT_EQ(test, fake_service_register(mad), 0);
	KUNIT_ASSERT_EQ(test, fake_service_register(sa), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(ipoib), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(uverbs), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	/* The lowest one: everything above it goes too. */
	fake_service_unregister(mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&ipoib->removes), 1);
	KUNIT_EXPECT_EQ(test, (int)ipoib->last_reason, (int)IB_REMOVED);
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->stops), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&uverbs->removes), 0);
	KUNIT_EXPECT_TRUE(test, fake_is_live(fake));
	/* And comes back. */
	KUNIT_ASSERT_EQ(test, fake_service_register(mad), 0);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&ipoib->adds) == 2, 1000));
	KUNIT_EXPECT_EQ(test, atomic_read(&sa->starts), 2);
}

static struct kunit_case states_cases[] = {
	KUNIT_CASE_PARAM(states_moves, state_gen),
	KUNIT_CASE(states_names),
	KUNIT_CASE(states_in_callbacks),
	KUNIT_CASE(states_two_phases),
	KUNIT_CASE(states_reasons),
	KUNIT_CASE_PARAM(states_goals, goal_gen),
	KUNIT_CASE(states_holds),
	KUNIT_CASE(states_added_while_held),
	KUNIT_CASE(states_gate_nests),
	KUNIT_CASE(states_gone_inside_gate),
	KUNIT_CASE(states_short_section),
	KUNIT_CASE(states_lookup),
	KUNIT_CASE(states_for_each),
	KUNIT_CASE(states_rename_refusals),
	KUNIT_CASE(states_rename_taken),
	KUNIT_CASE(states_memory_outlives),
	KUNIT_CASE(states_file_is_revoked),
	KUNIT_CASE(states_one_file_is_revoked),
	KUNIT_CASE(states_service_leaves),
	{}
};

static struct kunit_suite states_suite = {
	.name = "ib_states_gates_references",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = states_cases,
};

kunit_test_suite(states_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("States, gates, references, names, user files");
