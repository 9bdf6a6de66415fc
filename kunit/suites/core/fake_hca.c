// SPDX-License-Identifier: GPL-2.0-only
/* The fake HCA and its provider, and flows that run beside the test. */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"
#include "fake_offer.h"

atomic_t fake_breaches;
EXPORT_SYMBOL_GPL(fake_breaches);

void fake_breach(const char *what)
{
	pr_err("fake: a promise was broken: %s\n", what);
	atomic_inc(&fake_breaches);
}
EXPORT_SYMBOL_GPL(fake_breach);

int fake_init(struct kunit *test)
{
	atomic_set(&fake_breaches, 0);
	return lr_test_init(test);
}
EXPORT_SYMBOL_GPL(fake_init);

void fake_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&fake_breaches), 0);
	lr_test_exit(test);
}
EXPORT_SYMBOL_GPL(fake_exit);

static struct fake_hca *to_fake(struct ib_hca *hca)
{
	return *(struct fake_hca **)hca->priv;
}

static void fake_hook(struct fake_hca *fake, const char *where)
{
	if (fake->hook)
		fake->hook(fake, where);
}

/* A verb: the hardware must be there and the device must not have been stopped. */
void fake_touch(struct ib_device *device)
{
	struct fake_hca *fake = to_fake(device->hca);

	if (ib_device_enter(device))
		return;
	if (READ_ONCE(fake->stopped))
		fake_breach("a verb of a stopped device");
	if (!READ_ONCE(fake->alive) && !ib_hca_is_over(device->hca))
		fake_breach("hardware touched while it is down");
	ib_device_exit(device);
}
EXPORT_SYMBOL_GPL(fake_touch);

static int fake_start(struct ib_hca *hca)
{
	struct fake_hca *fake = to_fake(hca);

	atomic_inc(&fake->starts);
	fake_hook(fake, "start");
	if (fake->start_fails) {
		fake->start_fails--;
		return -EIO;
	}
	if (ib_hca_is_gone(hca))
		return -EIO;
	WRITE_ONCE(fake->tried, false);
	WRITE_ONCE(fake->alive, true);
	return 0;
}

static void fake_stop(struct ib_hca *hca)
{
	struct fake_hca *fake = to_fake(hca);

	atomic_inc(&fake->stops);
	if (hca->device)
		fake_breach("the HCA stops under its device");
	fake_hook(fake, "stop");
}

static void fake_abort(struct ib_hca *hca)
{
	atomic_inc(&to_fake(hca)->aborts);
}

static int fake_quiet(struct ib_hca *hca)
{
	struct fake_hca *fake = to_fake(hca);

	atomic_inc(&fake->quiets);
	WRITE_ONCE(fake->tried, true);
	fake_hook(fake, "quiet");
	if (fake->quiet_fails) {
		fake->quiet_fails--;
		return -EBUSY;
	}
	WRITE_ONCE(fake->alive, false);
	return 0;
}

static int fake_reset(struct ib_hca *hca)
{
	struct fake_hca *fake = to_fake(hca);

	atomic_inc(&fake->resets);
	fake_hook(fake, "reset");
	if (fake->reset_fails) {
		fake->reset_fails--;
		return -ENODEV;
	}
	WRITE_ONCE(fake->alive, false);
	return 0;
}

static void fake_release(struct ib_hca *hca, bool quiet)
{
	struct fake_hca *fake = to_fake(hca);

	atomic_inc(&fake->releases);
	fake->released_quiet = quiet;
	if (quiet && READ_ONCE(fake->alive))
		fake_breach("memory is given back while the hardware may write to it");
	fake_hook(fake, "release");
}

static const struct ib_hca_ops fake_hca_ops = {
	.owner = THIS_MODULE,
	.start = fake_start,
	.stop = fake_stop,
	.abort = fake_abort,
	.quiet = fake_quiet,
	.reset = fake_reset,
	.release = fake_release,
};

static void fake_device_flush(struct ib_device *device)
{
	struct fake_hca *fake = to_fake(device->hca);

	atomic_inc(&fake->flushes);
	if (READ_ONCE(fake->alive) && !READ_ONCE(fake->tried))
		fake_breach("work requests flushed before the hardware was quiet");
	if (READ_ONCE(fake->stopped))
		fake_breach("flush after stop");
	fake_hook(fake, "flush");
}

static void fake_device_stop(struct ib_device *device)
{
	struct fake_hca *fake = to_fake(device->hca);

	if (READ_ONCE(fake->stopped))
		fake_breach("a device stopped twice");
	WRITE_ONCE(fake->stopped, true);
	atomic_inc(&fake->device_stops);
	if (!ib_device_enter(device)) {
		fake_breach("the device's gate is open while the provider stops");
		ib_device_exit(device);
	}
	fake_hook(fake, "device_stop");
}

static const struct ib_device_ops fake_device_ops = {
	.owner = THIS_MODULE,
	.flush = fake_device_flush,
	.stop = fake_device_stop,
	.offer = fake_offer,
};

static struct ib_device *fake_create(struct ib_hca *hca, void *priv)
{
	struct fake_provider_device *device;
	struct fake_hca *fake = priv;

	atomic_inc(&fake->creates);
	fake_hook(fake, "create");
	if (fake->create_fails) {
		fake->create_fails--;
		return ERR_PTR(-EAGAIN);
	}
	device = ib_device_alloc(hca, &fake_device_ops, "fake_%d", struct fake_provider_device, ib);
	if (IS_ERR(device))
		return ERR_CAST(device);
	device->fake = fake;
	device->ib.phys_port_cnt = FAKE_PORTS;
	device->ib.node_guid = cpu_to_be64(0x0002c90300001000ULL);
	strscpy(device->ib.fw_ver, "2.42.5000", sizeof(device->ib.fw_ver));
	WRITE_ONCE(fake->stopped, false);
	return &device->ib;
}

static const struct ib_provider fake_provider = {
	.owner = THIS_MODULE,
	.name = "fake",
	.create = fake_create,
};

/* Whatever the test leaves is taken down; with the clock running, so that nothing can block it. */
static void fake_hca_destroy(void *arg)
{
	struct fake_hca *fake = arg;
	struct fake_flow flow;

	if (fake->added) {
		fake_flow_start(&flow, fake_run_remove, fake);
		fake_advance_to(fake, &flow.done, 60000);
		fake_flow_join(&flow);
	}
	root_device_unregister(fake->parent);
	ib_hca_put(fake->hca);
}

struct fake_hca *fake_hca_create(struct kunit *test, const char *name)
{
	struct fake_hca *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->parent = root_device_register(name);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->parent));
	fake->dma_mask = DMA_BIT_MASK(64);
	fake->parent->dma_mask = &fake->dma_mask;
	fake->parent->coherent_dma_mask = fake->dma_mask;
	fake->hca = ib_hca_alloc(fake->parent, &fake_hca_ops, sizeof(fake));
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->hca));
	*(struct fake_hca **)fake->hca->priv = fake;
	fake_clock_init(fake);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fake_hca_destroy, fake), 0);
	return fake;
}
EXPORT_SYMBOL_GPL(fake_hca_create);

int fake_hca_add(struct fake_hca *fake)
{
	int err = ib_hca_add(fake->hca);

	fake->added = !err;
	return err;
}
EXPORT_SYMBOL_GPL(fake_hca_add);

int fake_hca_bind(struct fake_hca *fake)
{
	int err = ib_provider_bind(fake->hca, &fake_provider, fake);

	fake->bound = !err;
	return err;
}
EXPORT_SYMBOL_GPL(fake_hca_bind);

int fake_hca_up(struct fake_hca *fake)
{
	return fake_hca_add(fake) ?: fake_hca_bind(fake);
}
EXPORT_SYMBOL_GPL(fake_hca_up);

int fake_hca_unbind(struct fake_hca *fake)
{
	fake->bound = false;
	return ib_provider_unbind(fake->hca);
}
EXPORT_SYMBOL_GPL(fake_hca_unbind);

/* As a PCI driver does it: the HCA first, then what the auxiliary device's removal brings. */
int fake_hca_remove(struct fake_hca *fake)
{
	int err = ib_hca_remove(fake->hca);

	fake->added = false;
	if (fake->bound)
		fake_hca_unbind(fake);
	fake->result = err;
	return err;
}
EXPORT_SYMBOL_GPL(fake_hca_remove);

struct ib_device *fake_device(struct fake_hca *fake)
{
	return READ_ONCE(fake->hca->device);
}
EXPORT_SYMBOL_GPL(fake_device);

bool fake_is_live(struct fake_hca *fake)
{
	bool live;

	spin_lock_irq(&fake->hca->lock);
	live = fake->hca->device && fake->hca->device->state == IB_DEVICE_LIVE;
	spin_unlock_irq(&fake->hca->lock);
	return live;
}
EXPORT_SYMBOL_GPL(fake_is_live);

static void fake_flow_work(struct work_struct *work)
{
	struct fake_flow *flow = container_of(work, struct fake_flow, work);

	flow->result = flow->run(flow->arg);
	complete_all(&flow->done);
}

void fake_flow_start(struct fake_flow *flow, int (*run)(void *arg), void *arg)
{
	INIT_WORK_ONSTACK(&flow->work, fake_flow_work);
	init_completion(&flow->done);
	flow->run = run;
	flow->arg = arg;
	queue_work(system_unbound_wq, &flow->work);
}
EXPORT_SYMBOL_GPL(fake_flow_start);

int fake_flow_join(struct fake_flow *flow)
{
	flush_work(&flow->work);
	destroy_work_on_stack(&flow->work);
	return flow->result;
}
EXPORT_SYMBOL_GPL(fake_flow_join);

int fake_run_remove(void *fake)
{
	return fake_hca_remove(fake);
}
EXPORT_SYMBOL_GPL(fake_run_remove);

int fake_run_unbind(void *fake)
{
	return fake_hca_unbind(fake);
}
EXPORT_SYMBOL_GPL(fake_run_unbind);

int fake_run_settle(void *fake)
{
	ib_hca_settle(((struct fake_hca *)fake)->hca);
	return 0;
}
EXPORT_SYMBOL_GPL(fake_run_settle);

int fake_run_shutdown(void *fake)
{
	ib_hca_shutdown(((struct fake_hca *)fake)->hca);
	return 0;
}
EXPORT_SYMBOL_GPL(fake_run_shutdown);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A provider, clients and services for tests of ib_core");
