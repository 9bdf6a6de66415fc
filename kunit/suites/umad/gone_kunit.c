// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program sees of umadN and issmN when the device leaves, and what the device sees of the
 * program: nothing.  The public cases B66, B67 and B68 are here by name.
 */
#include <linux/kthread.h>
#include <linux/module.h>

#include "user.h"

/* ---- each call on a file whose device is gone ------------------------------------------- */

static void expect_dead(struct kunit *test, struct user_file *uf, int id)
{
	struct user_mad m;

	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, 1);
	KUNIT_EXPECT_EQ(test, user_poll(uf), (__poll_t)EPOLLERR);
	KUNIT_EXPECT_EQ(test, user_read(uf, &m, sizeof(m)), (ssize_t)-EIO);
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)-EIO);
	KUNIT_EXPECT_EQ(test, user_register(uf, IB_CLASS_PERF, 1, 0), -EPIPE);
	KUNIT_EXPECT_EQ(test, umad_calls.unregister(user_umad(uf), id), -EINVAL);
}

static void umad_file_survives_its_device(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	struct user_file *fresh = user_must_open(b, "umad0", O_NONBLOCK), *late;
	struct device *node = user_node(b, "umad0");
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);

	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_EQ(test, b->removes, 1);
	expect_dead(test, uf, id);
	/* No device is needed for it. */
	KUNIT_EXPECT_EQ(test, umad_calls.enable_pkey(user_umad(fresh)), 0);
	/* By an inode that had it open before. */
	KUNIT_EXPECT_EQ(test, user_open(test, node, O_NONBLOCK, &late), -ENXIO);
	KUNIT_EXPECT_EQ(test, user_close(uf), 0);
}

/* The framework revokes files some time before remove_one destroys their agents. */
static void umad_revoked_file_is_dead_at_once(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);

	ib_file_revoke(&user_umad(uf)->ib);
	KUNIT_EXPECT_NOT_NULL(test, user_umad(uf)->agents[id]);
	expect_dead(test, uf, id);
}

/* What was received is lost with the device. */
static void umad_queued_packets_go(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad0", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_SA, 2, BIT(IB_METHOD_REPORT));
	struct user_mad m;

	user_fill(&m, 0, IB_CLASS_SA, IB_METHOD_REPORT, 0x99);
	wire_send(b, 1, m.mad, 0x21, 1, false);
	KUNIT_ASSERT_TRUE(test, LR_WAIT(user_poll(uf) & EPOLLIN, 5000));
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	expect_dead(test, uf, id);
}

static void umad_sends_end_with_the_device(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct user_file *uf = user_must_open(b, "umad1", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0), i;
	struct user_mad m;

	wire_hold(b, true);
	for (i = 0; i < 300; i++) {
		user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, i + 1);
		m.hdr.timeout_ms = 1000000;
		KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	}
	bench_gone(b);
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&user_umad(uf)->sends));
	expect_dead(test, uf, id);
}

/* ---- sleepers --------------------------------------------------------------------------- */

struct sleeper {
	struct user_file *uf;
	struct device *node;
	struct kunit *test;
	struct fake_flow flow;
};

static int read_run(void *arg)
{
	struct sleeper *s = arg;
	struct user_mad m;

	return user_read(s->uf, &m, sizeof(m));
}

static int issm_run(void *arg)
{
	struct sleeper *s = arg;

	return user_open(s->test, s->node, 0, &s->uf);
}

static void umad_sleepers_wake(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct sleeper reader = { .uf = user_must_open(b, "umad0", 0) };
	struct sleeper waiter = { .node = user_node(b, "issm0"), .test = test };
	struct user_file *holder = user_must_open(b, "issm0", 0);

	fake_flow_start(&reader.flow, read_run, &reader);
	fake_flow_start(&waiter.flow, issm_run, &waiter);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&reader.flow.done));
	KUNIT_EXPECT_FALSE(test, completion_done(&waiter.flow.done));
	KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&reader.flow), -EIO);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&waiter.flow), -ENXIO);
	KUNIT_EXPECT_EQ(test, user_close(holder), 0);
}

/* ---- other devices ---------------------------------------------------------------------- */

static void umad_other_device_works_on(struct kunit *test)
{
	struct bench *one = user_bench(test, "lr-umad-0"), *two = user_bench(test, "lr-umad-1");
	struct user_file *uf = user_must_open(two, "umad2", O_NONBLOCK);
	int id = user_register(uf, IB_CLASS_PERF, 1, 0);
	struct user_file *issm = user_must_open(two, "issm2", O_NONBLOCK);
	struct user_mad m;
	u8 mad[IB_MAD_SIZE];

	KUNIT_EXPECT_EQ(test, fake_hca_unbind(one->fake), 0);
	user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, 1);
	m.hdr.timeout_ms = 5000;
	KUNIT_EXPECT_EQ(test, user_write(uf, &m, sizeof(m)), (ssize_t)sizeof(m));
	KUNIT_ASSERT_TRUE(test, wire_sent(two, 1, mad));
	ib_put(mad, IB_MAD_METHOD, IB_METHOD_GET_RESP);
	wire_send(two, 1, mad, 7, 1, false);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(user_poll(uf) & EPOLLIN, 5000));
	KUNIT_EXPECT_TRUE(test, two->vf.port[0].cap_mask & IB_PORT_CAP_SM);
	KUNIT_EXPECT_EQ(test, user_close(issm), 0);
}

/* ---- races ------------------------------------------------------------------------------ */

/* Programs that do one thing for ever, on whatever node there is. */
struct program {
	struct kunit *test;
	struct device *node;
	void (*run)(struct program *p);
	struct task_struct *task;
	struct user_file uf;
	unsigned long turns;
};

static int program_open(struct program *p)
{
	memset(&p->uf, 0, sizeof(p->uf));
	return user_attach(&p->uf, p->node, O_NONBLOCK);
}

static int program_thread(void *arg)
{
	struct program *p = arg;

	while (!kthread_should_stop()) {
		p->run(p);
		p->turns++;
		usleep_range(10, 20);
	}
	return 0;
}

static void program_start(struct kunit *test, struct program *p, struct device *node,
			  void (*run)(struct program *p))
{
	p->test = test;
	p->node = node;
	p->run = run;
	p->task = kthread_run(program_thread, p, "lr-program");
	KUNIT_ASSERT_FALSE(test, IS_ERR(p->task));
}

static void program_end(struct program *p)
{
	kthread_stop(p->task);
	KUNIT_EXPECT_GT(p->test, p->turns, 0UL);
}

static void reads_attributes(struct program *p)
{
	char *text = (char *)get_zeroed_page(GFP_KERNEL);
	int i;

	/* The driver core calls show() of a device only until device_del() has returned. */
	for (i = 0; text && i < 2 && device_is_registered(p->node); i++) {
		struct attribute *attr = p->node->groups[0]->attrs[i];
		struct device_attribute *da = container_of(attr, struct device_attribute, attr);

		if (da->show(p->node, da, text) <= 0)
			KUNIT_FAIL(p->test, "an attribute says nothing");
	}
	free_page((unsigned long)text);
}

static void writes_mads(struct program *p)
{
	struct user_mad m;
	int id, i;

	if (program_open(p))
		return;
	id = user_register(&p->uf, IB_CLASS_PERF, 1, 0);
	for (i = 0; id >= 0 && i < 5; i++) {
		user_fill(&m, id, IB_CLASS_PERF, IB_METHOD_GET, i + 1);
		user_write(&p->uf, &m, sizeof(m));
		usleep_range(5, 10);
	}
	user_close(&p->uf);
}

static void registers_wrongly(struct program *p)
{
	struct ib_user_mad_reg_req2 req = { .qpn = 1, .mgmt_class = IB_CLASS_SMP_DR,
					    .mgmt_class_version = 1 };

	if (program_open(p))
		return;
	KUNIT_EXPECT_LT(p->test, umad_calls.register_new(user_umad(&p->uf), &req), 0);
	req.qpn = 7;
	KUNIT_EXPECT_EQ(p->test, umad_calls.register_new(user_umad(&p->uf), &req), -EINVAL);
	user_close(&p->uf);
}

static void opens_issm(struct program *p)
{
	if (!program_open(p))
		user_close(&p->uf);
}

/* One device comes and goes under two such programs; how often. */
static void race(struct kunit *test, const char *name, void (*run)(struct program *p),
		 unsigned int rounds)
{
	struct bench *b = user_bench(test, "lr-umad");
	struct program *p = kunit_kzalloc(test, 2 * sizeof(*p), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < rounds; i++) {
		struct device *node = user_node(b, name);

		KUNIT_ASSERT_NOT_NULL(test, node);
		program_start(test, &p[0], node, run);
		program_start(test, &p[1], node, run);
		usleep_range(50 + 37 * i % 1000, 100 + 37 * i % 1000);
		if (i % 3 == 2)
			ib_hca_gone(b->fake->hca, "the test says so");
		KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
		program_end(&p[0]);
		program_end(&p[1]);
		bench_bind(b);
	}
	KUNIT_EXPECT_GE(test, b->removes, (int)rounds);
}

static void umad_b66_attributes_during_removal(struct kunit *test)
{
	race(test, "umad0", reads_attributes, 20);
}

static void umad_b67_writes_during_removal(struct kunit *test)
{
	race(test, "umad0", writes_mads, 40);
}

static void umad_b68_refused_registrations_during_removal(struct kunit *test)
{
	race(test, "umad1", registers_wrongly, 20);
}

static void umad_issm_during_removal(struct kunit *test)
{
	race(test, "issm0", opens_issm, 20);
}

/* ---- close against removal -------------------------------------------------------------- */

static int close_run(void *arg)
{
	struct sleeper *s = arg;

	return user_close(s->uf);
}

static void umad_close_during_removal(struct kunit *test)
{
	struct bench *b = user_bench(test, "lr-umad");
	int i, j;

	for (i = 0; i < 20; i++) {
		struct sleeper s = { .uf = user_must_open(b, "umad0", O_NONBLOCK) };
		struct user_mad m;

		wire_hold(b, true);
		for (j = 0; j < 4; j++)
			KUNIT_EXPECT_EQ(test, user_register(s.uf, IB_CLASS_PERF, 1, 0), j);
		for (j = 0; j < 8; j++) {
			user_fill(&m, j % 4, IB_CLASS_PERF, IB_METHOD_GET, j + 1);
			m.hdr.timeout_ms = 100000;
			user_write(s.uf, &m, sizeof(m));
		}
		wire_hold(b, false);
		fake_flow_start(&s.flow, close_run, &s);
		if (i % 2)
			usleep_range(1, 3 * i);
		KUNIT_EXPECT_EQ(test, fake_hca_unbind(b->fake), 0);
		KUNIT_EXPECT_EQ(test, fake_flow_join(&s.flow), 0);
		bench_bind(b);
	}
}

static struct kunit_case umad_gone_cases[] = {
	KUNIT_CASE(umad_file_survives_its_device),
	KUNIT_CASE(umad_revoked_file_is_dead_at_once),
	KUNIT_CASE(umad_queued_packets_go),
	KUNIT_CASE(umad_sends_end_with_the_device),
	KUNIT_CASE(umad_sleepers_wake),
	KUNIT_CASE(umad_other_device_works_on),
	KUNIT_CASE(umad_b66_attributes_during_removal),
	KUNIT_CASE(umad_b67_writes_during_removal),
	KUNIT_CASE(umad_b68_refused_registrations_during_removal),
	KUNIT_CASE(umad_issm_during_removal),
	KUNIT_CASE(umad_close_during_removal),
	{}
};

static struct kunit_suite umad_gone_suite = {
	.name = "umad_gone",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = umad_gone_cases,
};

kunit_test_suite(umad_gone_suite);
