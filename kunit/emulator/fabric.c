// SPDX-License-Identifier: GPL-2.0-only
/* A fabric of emulator/fabric between emulated HCAs; see <lastref/hca.h>. */
#include <linux/slab.h>

#include <lastref/hca.h>
#include <lastref/kunit.h>
#include <lastref/pci.h>

#include "fabric/fabric.h"
#include "host.h"
#include "plug.h"

/**
 * struct lr_fabric - a fabric and its users
 * @host: its time and memory
 * @fab: the fabric
 * @users: connected HCAs, and the test while it runs; under fake_pci_lock()
 */
struct lr_fabric {
	struct model_host host;
	struct fabric *fab;
	unsigned int users;
};

static const struct cx3_host_ops fabric_ops = {
	.now = host_now,
	.timer = host_timer,
	.alloc = host_alloc,
	.free = host_free,
	.log = host_log,
};

static void fire(void *ctx)
{
	struct lr_fabric *f = ctx;

	if (f->fab)
		fabric_fire(f->fab);
}

void lr_fabric_put(struct lr_fabric *f)
{
	unsigned long flags = fake_pci_lock();
	bool last = !--f->users;
	struct fabric *fab = f->fab;

	if (last) {
		f->fab = NULL;
		fabric_destroy(fab);
	}
	fake_pci_unlock(flags);
	if (!last)
		return;
	model_host_stop(&f->host);
	kfree(f);
}

struct link_end *lr_fabric_attach(struct lr_fabric *f)
{
	struct link_end *end = fabric_attach(f->fab);

	if (end)
		f->users++;
	return end;
}

KUNIT_DEFINE_ACTION_WRAPPER(put_fabric, lr_fabric_put, struct lr_fabric *);

struct lr_fabric *lr_fabric_new(struct kunit *test, bool always_switch)
{
	struct lr_fabric *f = kzalloc(sizeof(*f), GFP_KERNEL);
	const struct cx3_host host = { .ops = &fabric_ops, .ctx = f };
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, f);
	model_host_init(&f->host, fire, f);
	f->users = 1;
	flags = fake_pci_lock();
	f->fab = fabric_create(&host, test->name, always_switch);
	fake_pci_unlock(flags);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_fabric, f), 0);
	KUNIT_ASSERT_NOT_NULL(test, f->fab);
	return f;
}
EXPORT_SYMBOL_GPL(lr_fabric_new);

void lr_fabric_fault(struct kunit *test, struct lr_fabric *f, const char *rule)
{
	unsigned long flags = fake_pci_lock();
	const char *why = "";
	int err = fabric_fault_add(f->fab, rule, &why);

	fake_pci_unlock(flags);
	KUNIT_ASSERT_EQ_MSG(test, err, 0, "fault rule '%s': %s", rule, why);
}
EXPORT_SYMBOL_GPL(lr_fabric_fault);
