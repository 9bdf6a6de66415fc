// SPDX-License-Identifier: GPL-2.0-only
/*
 * Second report: "MAD threads still forwarded MADs to an HCA that was shut down, at stack cleanup
 * and on the shutdown power path". No code of a device touches hardware after STOPPED, by whatever
 * path it was stopped; who tries is refused; who is inside is waited for; the HCA outlives its
 * device.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

static int take_down_by_unbind(struct fake_hca *fake)
{
	return fake_hca_unbind(fake);
}

static int take_down_by_remove(struct fake_hca *fake)
{
	return fake_hca_remove(fake);
}

static int take_down_by_shutdown(struct fake_hca *fake)
{
	ib_hca_shutdown(fake->hca);
	return 0;
}

static int take_down_by_sleep(struct fake_hca *fake)
{
	ib_hca_hold(fake->hca, IB_HOLD_SLEEP);
	ib_hca_raise(fake->hca, IB_GOAL_SUSPEND);
	ib_hca_settle(fake->hca);
	return ib_hca_ensure_stopped(fake->hca);
}

static int take_down_by_loss(struct fake_hca *fake)
{
	ib_hca_hold(fake->hca, IB_HOLD_ERROR);
	ib_hca_gone(fake->hca, "all-ones");
	ib_hca_settle(fake->hca);
	return 0;
}

static int take_down_by_settling(struct fake_hca *fake)
{
	ib_hca_settle(fake->hca);
	return 0;
}

static int take_down_by_late_suspend(struct fake_hca *fake)
{
	ib_hca_hold(fake->hca, IB_HOLD_SLEEP);
	return ib_hca_ensure_stopped(fake->hca) ?: take_down_by_settling(fake);
}

static const struct way {
	const char *name;
	int (*take_down)(struct fake_hca *fake);
	bool keeps_hca;
	bool keeps_device;
} ways[] = {
	{ "unbind", take_down_by_unbind, .keeps_hca = true },
	{ "remove", take_down_by_remove },
	{ "shutdown", take_down_by_shutdown, .keeps_device = true },
	{ "sleep", take_down_by_sleep },
	{ "loss", take_down_by_loss },
	{ "late suspend", take_down_by_late_suspend },
};

static const void *way_gen(const void *prev, char *desc)
{
	const struct way *next = prev ? (const struct way *)prev + 1 : ways;

	if (next == ways + ARRAY_SIZE(ways))
		return NULL;
	strscpy(desc, next->name, KUNIT_PARAM_DESC_SIZE);
	return next;
}

/* Somebody who keeps memory of the device, as an open file does, and tries all the time. */
struct prober {
	struct ib_device *device;
	struct fake_hca *fake;
	struct timer_list timer;
	bool stop;
	unsigned int let_in;
	unsigned int refused;
};

static void probe(struct prober *p)
{
	if (ib_device_enter(p->device)) {
		p->refused++;
		return;
	}
	p->let_in++;
	/* Who was inside when the hardware was lost or the machine went down finds it dead. */
	if (READ_ONCE(p->fake->stopped) ||
	    (!READ_ONCE(p->fake->alive) && !ib_hca_is_over(p->fake->hca)))
		fake_breach("hardware of a stopped device was reached");
	ib_device_exit(p->device);
}

/* From an interrupt too, as a receive does. */
static void probe_timer(struct timer_list *timer)
{
	struct prober *p = container_of(timer, struct prober, timer);

	probe(p);
	if (!READ_ONCE(p->stop))
		mod_timer(&p->timer, jiffies + 1);
}

static void stopped_by(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct fake_service *mad = fake_service_create(test, "mad", NULL, NULL);
	struct fake_client *umad = fake_client_create(test, "umad");
	struct fake_hca *fake = fake_hca_create(test, "lr-stopped");
	struct prober p = { .fake = fake };
	int i;

	fake_client_needs(umad, mad);
	KUNIT_ASSERT_EQ(test, fake_service_register(mad), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(umad), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	p.device = fake_device(fake);
	get_device(&p.device->dev);
	timer_setup_on_stack(&p.timer, probe_timer, 0);
	probe_timer(&p.timer);
	KUNIT_EXPECT_GT(test, p.let_in, 0U);

	KUNIT_EXPECT_EQ(test, way->take_down(fake), 0);
	for (i = 0; i < 20; i++) {
		probe(&p);
		usleep_range(1000, 1001);
	}
	WRITE_ONCE(p.stop, true);
	timer_delete_sync(&p.timer);
	timer_delete_sync(&p.timer);
	destroy_timer_on_stack(&p.timer);

	KUNIT_EXPECT_GE(test, p.refused, 20U);
	KUNIT_EXPECT_NE(test, ib_device_enter(p.device), 0);
	KUNIT_EXPECT_EQ(test, fake->alive, way->keeps_hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), !way->keeps_device);
	KUNIT_EXPECT_EQ(test, atomic_read(&mad->stops), !way->keeps_device);
	if (way->keeps_hca) {
		KUNIT_ASSERT_EQ(test, ib_hca_enter(fake->hca), 0);
		ib_hca_exit(fake->hca);
	} else {
		KUNIT_EXPECT_NE(test, ib_hca_enter(fake->hca), 0);
	}
	put_device(&p.device->dev);
}

/* A section that is inside is waited for, and only it: a second of it is a second of waiting. */
static void stopped_waits_for_inside(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-stopped");
	struct fake_flow flow;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_ASSERT_EQ(test, ib_device_enter(fake_device(fake)), 0);
	fake_flow_start(&flow, fake_run_unbind, fake);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(ib_device_state(fake_device(fake)) == IB_DEVICE_DRAINING,
					1000));
	usleep_range(20000, 20001);
	KUNIT_EXPECT_FALSE(test, completion_done(&flow.done));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 0);
	ib_device_exit(fake_device(fake));
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 1);
}

/* At a shutdown a section that does not end is given a second, no more. */
static void stopped_shutdown_is_bounded(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-stopped");
	struct fake_flow flow;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_ASSERT_EQ(test, ib_device_enter(fake_device(fake)), 0);
	fake_flow_start(&flow, fake_run_shutdown, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &flow.done, 2000));
	KUNIT_EXPECT_FALSE(test, fake->alive);
	KUNIT_EXPECT_TRUE(test, fake->hca->halted);
	KUNIT_EXPECT_EQ(test, ib_device_enter(fake_device(fake)), -EIO);
	/* The shutdown is over by now; to join it from inside the gate is what lockdep forbids. */
	ib_device_exit(fake_device(fake));
	fake_flow_join(&flow);
}

/* A shutdown calls no client, stops no service and frees nothing; twice is once. */
static void stopped_shutdown_frees_nothing(struct kunit *test)
{
	struct fake_service *mad = fake_service_create(test, "mad", NULL, NULL);
	struct fake_client *umad = fake_client_create(test, "umad");
	struct fake_hca *fake = fake_hca_create(test, "lr-stopped");

	fake_client_needs(umad, mad);
	KUNIT_ASSERT_EQ(test, fake_service_register(mad), 0);
	KUNIT_ASSERT_EQ(test, fake_client_register(umad), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	ib_hca_shutdown(fake->hca);
	ib_hca_shutdown(fake->hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&umad->closings) + atomic_read(&umad->removes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mad->closes) + atomic_read(&mad->stops), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->stops) + atomic_read(&fake->releases), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->aborts), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->quiets), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->resets), 1);
	KUNIT_EXPECT_FALSE(test, fake->alive);
}

/* In the middle of a teardown that hangs on a client: the machine still goes down. */
static void stopped_shutdown_during_teardown(struct kunit *test)
{
	struct fake_client *umad = fake_client_create(test, "umad");
	struct fake_hca *fake = fake_hca_create(test, "lr-stopped");
	struct fake_flow flow;

	umad->stuck_in = "remove_one";
	KUNIT_ASSERT_EQ(test, fake_client_register(umad), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	fake_flow_start(&flow, fake_run_unbind, fake);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&umad->removes) == 1, 1000));
	ib_hca_shutdown(fake->hca);
	KUNIT_EXPECT_FALSE(test, fake->alive);
	KUNIT_EXPECT_FALSE(test, completion_done(&flow.done));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 0);
	/* The flow that waited for a teardown still gets it, without hardware. */
	complete_all(&umad->hold);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&flow), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->flushes), 1);
}

/*
 * A shutdown that comes while remove() waits for a section inside the HCA's gate, after the
 * driver's orderly end: when the section has left, remove() gets its teardown, and the driver is
 * not stopped a second time.
 */
static void stopped_once_with_shutdown(struct kunit *test)
{
	struct fake_hca *fake = fake_hca_create(test, "lr-stopped");
	struct fake_flow off, down;

	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	KUNIT_ASSERT_EQ(test, ib_hca_enter(fake->hca), 0);
	fake_flow_start(&down, fake_run_remove, fake);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&fake->stops) == 1, 1000));
	fake_flow_start(&off, fake_run_shutdown, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &off.done, 2000));
	KUNIT_EXPECT_TRUE(test, fake->hca->halted);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->releases), 0);
	ib_hca_exit(fake->hca);
	fake_flow_join(&off);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&down), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->stops), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->releases), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 1);
}

/* The same while the device's gate drains: the device, too, is stopped once. */
static void stopped_once_with_device_inside(struct kunit *test)
{
	struct fake_service *mad = fake_service_create(test, "mad", NULL, NULL);
	struct fake_hca *fake = fake_hca_create(test, "lr-stopped");
	struct fake_flow off, down;
	struct ib_device *device;

	KUNIT_ASSERT_EQ(test, fake_service_register(mad), 0);
	KUNIT_ASSERT_EQ(test, fake_hca_up(fake), 0);
	device = fake_device(fake);
	get_device(&device->dev);
	KUNIT_ASSERT_EQ(test, ib_device_enter(device), 0);
	fake_flow_start(&down, fake_run_remove, fake);
	KUNIT_EXPECT_TRUE(test, LR_WAIT(atomic_read(&mad->stops) == 1, 1000));
	fake_flow_start(&off, fake_run_shutdown, fake);
	KUNIT_EXPECT_TRUE(test, fake_advance_to(fake, &off.done, 2000));
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 0);
	ib_device_exit(device);
	fake_flow_join(&off);
	KUNIT_EXPECT_EQ(test, fake_flow_join(&down), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->device_stops), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->flushes), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->stops), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&mad->stops), 1);
	put_device(&device->dev);
}

static struct kunit_case stopped_cases[] = {
	KUNIT_CASE_PARAM(stopped_by, way_gen),
	KUNIT_CASE(stopped_waits_for_inside),
	KUNIT_CASE(stopped_shutdown_is_bounded),
	KUNIT_CASE(stopped_shutdown_frees_nothing),
	KUNIT_CASE(stopped_shutdown_during_teardown),
	KUNIT_CASE(stopped_once_with_shutdown),
	KUNIT_CASE(stopped_once_with_device_inside),
	{}
};

static struct kunit_suite stopped_suite = {
	.name = "ib_no_hardware_after_stopped",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = stopped_cases,
};

kunit_test_suite(stopped_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("No hardware access after STOPPED");
