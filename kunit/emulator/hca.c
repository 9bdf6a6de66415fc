// SPDX-License-Identifier: GPL-2.0-only
/*
 * The front-end between the device model (emulator/model) and the fake PCI bridge: what QEMU is
 * to the model elsewhere. See <lastref/hca.h>.
 */
#include <linux/pci.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <lastref/hca.h>
#include <lastref/kunit.h>
#include <lastref/pci.h>

#include "host.h"
#include "model/cx3.h"
#include "plug.h"

/**
 * struct lr_hca - a device and its place
 * @host: its time and memory
 * @test: owner
 * @model: the device
 * @slot: where it is
 * @fabric: by port, where it is connected, or NULL
 * @forgiven: violations are part of the test
 * @powered: plugged at least once
 */
struct lr_hca {
	struct model_host host;
	struct kunit *test;
	struct cx3_hca *model;
	struct fake_pci *slot;
	struct lr_fabric *fabric[CX3_MAX_PORTS];
	bool forgiven;
	bool powered;
};

/* ---- what the model asks of its host; all under fake_pci_lock() ---- */

static int host_dma_read(void *ctx, u64 addr, void *buf, u32 len)
{
	return fake_pci_dma_read(((struct lr_hca *)ctx)->slot, addr, buf, len);
}

static int host_dma_write(void *ctx, u64 addr, const void *buf, u32 len)
{
	return fake_pci_dma_write(((struct lr_hca *)ctx)->slot, addr, buf, len);
}

static void host_msix(void *ctx, unsigned int vector)
{
	fake_pci_raise(((struct lr_hca *)ctx)->slot, vector);
}

static void host_intx(void *ctx, bool level)
{
	fake_pci_intx(((struct lr_hca *)ctx)->slot, level);
}

static void host_unplug(void *ctx)
{
	fake_pci_vanish_locked(((struct lr_hca *)ctx)->slot);
}

static const struct cx3_host_ops host_ops = {
	.dma_read = host_dma_read,
	.dma_write = host_dma_write,
	.msix = host_msix,
	.intx = host_intx,
	.now = host_now,
	.timer = host_timer,
	.alloc = host_alloc,
	.free = host_free,
	.log = host_log,
	.unplug = host_unplug,
};

static void fire(void *ctx)
{
	struct lr_hca *h = ctx;

	if (h->model)
		cx3_timer_fire(h->model);
}

/* ---- what the bridge asks of the device ---- */

static u64 hca_read(void *ctx, unsigned int bar, u64 off, unsigned int size)
{
	return cx3_bar_read(((struct lr_hca *)ctx)->model, bar, off, size);
}

static void hca_write(void *ctx, unsigned int bar, u64 off, u64 val, unsigned int size)
{
	cx3_bar_write(((struct lr_hca *)ctx)->model, bar, off, val, size);
}

static void hca_bus_master(void *ctx, bool on)
{
	cx3_set_bus_master(((struct lr_hca *)ctx)->model, on);
}

static void hca_msix(void *ctx, bool on)
{
	cx3_set_msix(((struct lr_hca *)ctx)->model, on);
}

static void hca_reset(void *ctx)
{
	cx3_function_reset(((struct lr_hca *)ctx)->model);
}

static const struct fake_pci_ops hca_ops = {
	.read = hca_read,
	.write = hca_write,
	.bus_master = hca_bus_master,
	.msix = hca_msix,
	.reset = hca_reset,
};

/* ---- for the suites ---- */

/* A line of the model's reports becomes a line of the log. */
static void emit(void *arg, const char *line)
{
	pr_info("# cx3 %s: %s\n", (const char *)arg, line);
}

u64 lr_hca_violations(struct lr_hca *h)
{
	unsigned long flags = fake_pci_lock();
	u64 n = cx3_violations(h->model, NULL, NULL);

	fake_pci_unlock(flags);
	return n;
}
EXPORT_SYMBOL_GPL(lr_hca_violations);

unsigned int lr_hca_live(struct lr_hca *h)
{
	unsigned long flags = fake_pci_lock();
	unsigned int n = cx3_audit(h->model, emit, "live");

	fake_pci_unlock(flags);
	return n;
}
EXPORT_SYMBOL_GPL(lr_hca_live);

/**
 * struct wanted - a counter to pick out of the model's report
 * @name: which
 * @value: result
 */
struct wanted {
	const char *name;
	u64 value;
};

static void pick(void *arg, const char *line)
{
	struct wanted *w = arg;
	size_t len = strlen(w->name);

	if (!strncmp(line, w->name, len) && line[len] == ' ' &&
	    kstrtou64(line + len + 1, 0, &w->value))
		w->value = 0;
}

u64 lr_hca_count(struct lr_hca *h, const char *name)
{
	struct wanted w = { .name = name };
	unsigned long flags = fake_pci_lock();

	cx3_counts(h->model, pick, &w);
	fake_pci_unlock(flags);
	return w.value;
}
EXPORT_SYMBOL_GPL(lr_hca_count);

void lr_hca_expect_violations(struct lr_hca *h)
{
	h->forgiven = true;
	h->host.traces = 0;
}
EXPORT_SYMBOL_GPL(lr_hca_expect_violations);

void lr_hca_fault(struct lr_hca *h, const char *rule)
{
	const char *why = "";
	unsigned long flags = fake_pci_lock();
	int err = cx3_fault_add(h->model, rule, &why);

	fake_pci_unlock(flags);
	KUNIT_ASSERT_EQ_MSG(h->test, err, 0, "fault rule '%s': %s", rule, why);
}
EXPORT_SYMBOL_GPL(lr_hca_fault);

void lr_hca_pd(struct lr_hca *h, u32 pd, bool alive)
{
	unsigned long flags = fake_pci_lock();
	int err = cx3_pd_tell(h->model, pd, alive);

	fake_pci_unlock(flags);
	KUNIT_ASSERT_EQ_MSG(h->test, err, 0, "PD %u", pd);
}
EXPORT_SYMBOL_GPL(lr_hca_pd);

int lr_hca_plug(struct lr_hca *h)
{
	h->powered = true;
	return fake_pci_plug(h->slot);
}
EXPORT_SYMBOL_GPL(lr_hca_plug);

void lr_hca_unplug(struct lr_hca *h)
{
	fake_pci_unplug(h->slot);
}
EXPORT_SYMBOL_GPL(lr_hca_unplug);

void lr_hca_vanish(struct lr_hca *h)
{
	unsigned long flags = fake_pci_lock();

	fake_pci_vanish_locked(h->slot);
	cx3_set_gone(h->model);
	fake_pci_unlock(flags);
}
EXPORT_SYMBOL_GPL(lr_hca_vanish);

struct pci_dev *lr_hca_pdev(struct lr_hca *h)
{
	return fake_pci_dev(h->slot);
}
EXPORT_SYMBOL_GPL(lr_hca_pdev);

bool lr_hca_bound(struct lr_hca *h)
{
	struct pci_dev *pdev = lr_hca_pdev(h);

	return pdev && pdev->dev.driver;
}
EXPORT_SYMBOL_GPL(lr_hca_bound);

/* The verdict at the end: the driver is unbound. A device that vanished keeps its objects. */
static void judge(struct lr_hca *h, bool gone)
{
	struct fake_pci_stats s;

	fake_pci_stats(h->slot, &s);
	if (s.stray || s.bad_dma || s.bad_msi)
		KUNIT_FAIL(h->test, "%lu accesses to nothing, %lu bad DMA, %lu bad interrupts",
			   s.stray, s.bad_dma, s.bad_msi);
	if (!h->forgiven && lr_hca_violations(h)) {
		unsigned long flags = fake_pci_lock();

		cx3_violations(h->model, emit, "violations");
		fake_pci_unlock(flags);
		KUNIT_FAIL(h->test, "the driver broke the hardware's rules, see above");
	}
	if (!gone && lr_hca_live(h))
		KUNIT_FAIL(h->test, "the driver left objects behind, see above");
}

static void hca_free(void *arg)
{
	struct lr_hca *h = arg;
	struct cx3_hca *model = h->model;
	unsigned long flags;

	if (h->slot) {
		bool gone = fake_pci_gone(h->slot);

		fake_pci_unplug(h->slot);
		if (h->powered)
			judge(h, gone);
		fake_pci_destroy(h->slot);
	}
	flags = fake_pci_lock();
	h->model = NULL;
	cx3_destroy(model);
	fake_pci_unlock(flags);
	model_host_stop(&h->host);
	for (unsigned int i = 0; i < CX3_MAX_PORTS; i++)
		if (h->fabric[i])
			lr_fabric_put(h->fabric[i]);
	kfree(h);
}

void lr_hca_free(struct lr_hca *h)
{
	kunit_release_action(h->test, hca_free, h);
}
EXPORT_SYMBOL_GPL(lr_hca_free);

void lr_hca_connect(struct lr_hca *h, unsigned int port, struct lr_fabric *f)
{
	struct link_end *end = NULL;
	unsigned long flags;

	KUNIT_ASSERT_TRUE(h->test, port && port <= CX3_MAX_PORTS && !h->fabric[port - 1]);
	flags = fake_pci_lock();
	end = lr_fabric_attach(f);
	if (end) {
		h->fabric[port - 1] = f;
		cx3_port_attach(h->model, port, end);
	}
	fake_pci_unlock(flags);
	KUNIT_ASSERT_NOT_NULL_MSG(h->test, end, "the fabric has no room");
}
EXPORT_SYMBOL_GPL(lr_hca_connect);

static const struct fake_pci_desc hca_desc = {
	.vendor = 0x15b3,
	.class = 0x028000,
	.prefetch = BIT(1),
	.msix_table = CX3_MSIX_TABLE,
	.msix_pba = CX3_MSIX_PBA,
};

struct lr_hca *lr_hca_new(struct kunit *test, const struct cx3_config *cfg)
{
	struct lr_hca *h = kzalloc(sizeof(*h), GFP_KERNEL);
	const struct cx3_host host = { .ops = &host_ops, .ctx = h };
	struct fake_pci_desc desc = hca_desc;
	const char *why = "no memory";
	struct cx3_config own;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, h);
	h->test = test;
	model_host_init(&h->host, fire, h);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, hca_free, h), 0);
	if (cfg) {
		own = *cfg;
	} else {
		cx3_config_init(&own);
		own.nvectors = 4;
	}
	flags = fake_pci_lock();
	h->model = cx3_create(&host, &own, &why);
	fake_pci_unlock(flags);
	KUNIT_ASSERT_NOT_NULL_MSG(test, h->model, "no HCA: %s", why);
	desc.device = own.device_id;
	desc.revision = own.revision;
	desc.bar_size[0] = CX3_BAR0_SIZE;
	desc.bar_size[1] = cx3_bar2_size(&own);
	desc.vectors = own.nvectors;
	h->slot = fake_pci_create(&desc, &hca_ops, h);
	if (IS_ERR(h->slot)) {
		long err = PTR_ERR(h->slot);

		h->slot = NULL;
		KUNIT_ASSERT_EQ_MSG(test, err, 0L, "no slot for the HCA");
	}
	return h;
}
EXPORT_SYMBOL_GPL(lr_hca_new);
