// SPDX-License-Identifier: GPL-2.0-only
/* Fake services with their agents, and fake clients. */
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

/* ---- services ---- */

static struct fake_service *to_fs(const struct ib_service_instance *instance)
{
	return container_of(instance->service, struct fake_service, service);
}

static void fs_hook(struct ib_service_instance *instance, const char *where)
{
	struct fake_service *fs = to_fs(instance);

	if (fs->hook)
		fs->hook(fs, instance, where);
}

/* What a service needs must be up as long as it is. */
static void fs_check_below(struct ib_service_instance *instance)
{
	struct ib_service *const *need;
	struct ib_service_instance *below;

	for (need = instance->service->needs; need && *need; need++) {
		below = ib_service_enter(instance->attachment, *need);
		if (IS_ERR(below))
			fake_breach("a service runs without one that it needs");
		else
			ib_service_exit(below);
	}
}

static int fs_start(struct ib_service_instance *instance)
{
	struct fake_service *fs = to_fs(instance);

	atomic_inc(&fs->starts);
	fs_hook(instance, "start");
	fs_check_below(instance);
	if (fs->start_fails) {
		fs->start_fails--;
		return -ENOMEM;
	}
	atomic_inc(&fs->up);
	fake_touch(instance->device);
	return 0;
}

static int fs_start_port(struct ib_service_instance *instance, u8 port)
{
	struct fake_service *fs = to_fs(instance);

	fs_hook(instance, "start_port");
	if (port == FAKE_PORTS && fs->port_fails) {
		fs->port_fails--;
		return -ENOSPC;
	}
	atomic_inc(&fs->ports);
	return 0;
}

static void fs_close(struct ib_service_instance *instance)
{
	atomic_inc(&to_fs(instance)->closes);
	fs_hook(instance, "close");
	fs_check_below(instance);
}

static void fs_cancel(struct ib_service_instance *instance)
{
	atomic_inc(&to_fs(instance)->cancels);
	fs_hook(instance, "cancel");
}

static void fs_stop_port(struct ib_service_instance *instance, u8 port)
{
	atomic_dec(&to_fs(instance)->ports);
	fs_hook(instance, "stop_port");
}

static void fs_stop(struct ib_service_instance *instance)
{
	struct fake_service *fs = to_fs(instance);

	atomic_inc(&fs->stops);
	atomic_dec(&fs->up);
	if (instance->inside)
		fake_breach("a service stops with somebody inside");
	if (!list_empty(&instance->agents))
		fake_breach("a service stops with agents left");
	fs_check_below(instance);
	fake_touch(instance->device);
	fs_hook(instance, "stop");
}

static const struct ib_service_ops fs_ops = {
	.start = fs_start,
	.start_port = fs_start_port,
	.close = fs_close,
	.cancel = fs_cancel,
	.stop_port = fs_stop_port,
	.stop = fs_stop,
};

void fake_service_unregister(struct fake_service *fs)
{
	if (!fs->registered)
		return;
	fs->registered = false;
	ib_service_unregister(&fs->service);
	if (atomic_read(&fs->up))
		fake_breach("a service was unregistered and still runs");
}
EXPORT_SYMBOL_GPL(fake_service_unregister);

KUNIT_DEFINE_ACTION_WRAPPER(fs_destroy, fake_service_unregister, struct fake_service *);

struct fake_service *fake_service_create(struct kunit *test, const char *name,
					 struct fake_service *below, struct fake_service *below2)
{
	struct fake_service *fs = kunit_kzalloc(test, sizeof(*fs), GFP_KERNEL);
	unsigned int n = 0;

	KUNIT_ASSERT_NOT_NULL(test, fs);
	/* The core's own services have these names. */
	snprintf(fs->name, sizeof(fs->name), "fake-%s", name);
	fs->service.name = fs->name;
	fs->service.owner = THIS_MODULE;
	fs->service.ops = &fs_ops;
	fs->service.needs = fs->needs;
	if (below)
		fs->needs[n++] = &below->service;
	if (below2)
		fs->needs[n++] = &below2->service;
	spin_lock_init(&fs->lock);
	INIT_LIST_HEAD(&fs->agents);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fs_destroy, fs), 0);
	return fs;
}
EXPORT_SYMBOL_GPL(fake_service_create);

int fake_service_register(struct fake_service *fs)
{
	int err = ib_service_register(&fs->service);

	if (!err)
		fs->registered = true;
	return err;
}
EXPORT_SYMBOL_GPL(fake_service_register);

/* What most tests have below their clients: SA upon MAD, registered. */
void fake_mad_and_sa(struct kunit *test, struct fake_service **mad, struct fake_service **sa)
{
	*mad = fake_service_create(test, "mad", NULL, NULL);
	*sa = fake_service_create(test, "sa", *mad, NULL);
	KUNIT_ASSERT_EQ(test, fake_service_register(*mad), 0);
	KUNIT_ASSERT_EQ(test, fake_service_register(*sa), 0);
}
EXPORT_SYMBOL_GPL(fake_mad_and_sa);

/* ---- agents ---- */

static struct fake_agent *to_fa(struct ib_agent *agent)
{
	return container_of(agent, struct fake_agent, agent);
}

static void fa_destroy(struct ib_agent *agent)
{
	struct fake_agent *fa = to_fa(agent);

	spin_lock_irq(&fa->fs->lock);
	list_del_init(&fa->node);
	spin_unlock_irq(&fa->fs->lock);
	atomic_inc(&fa->fs->destroyed);
}

static void fa_describe(struct ib_agent *agent, char *text, size_t size)
{
	snprintf(text, size, "of %s", to_fa(agent)->fs->service.name);
}

static void fa_free(struct ib_agent *agent)
{
	struct fake_agent *fa = to_fa(agent);

	atomic_inc(&fa->fs->freed);
	if (!list_empty(&fa->node))
		fake_breach("an agent was freed that its service still knows");
	kfree(fa);
}

static const struct ib_agent_ops fa_ops = {
	.what = "fake agent",
	.destroy = fa_destroy,
	.describe = fa_describe,
	.free = fa_free,
};

struct fake_agent *fake_agent_create(struct ib_attachment *attachment, struct fake_service *fs,
				     enum ib_cb_result (*callback)(struct fake_agent *agent),
				     void *context)
{
	struct ib_service_instance *instance = ib_service_enter(attachment, &fs->service);
	struct fake_agent *fa;
	int err;

	if (IS_ERR(instance))
		return ERR_CAST(instance);
	fa = kzalloc(sizeof(*fa), GFP_KERNEL);
	if (!fa) {
		ib_service_exit(instance);
		return ERR_PTR(-ENOMEM);
	}
	fa->fs = fs;
	fa->callback = callback;
	fa->context = context;
	INIT_LIST_HEAD(&fa->node);
	err = ib_agent_init(&fa->agent, attachment, instance, &fa_ops);
	if (err) {
		kfree(fa);
		fa = ERR_PTR(err);
	} else {
		spin_lock_irq(&fs->lock);
		list_add_tail(&fa->node, &fs->agents);
		spin_unlock_irq(&fs->lock);
	}
	ib_service_exit(instance);
	return fa;
}
EXPORT_SYMBOL_GPL(fake_agent_create);

/* What a receive does: call every agent back that may be.  Returns how many were. */
unsigned int fake_service_deliver(struct fake_service *fs)
{
	struct fake_agent *fa, *armed;
	unsigned int called = 0;
	enum ib_cb_result result;
	LIST_HEAD(seen);

	for (;;) {
		armed = NULL;
		spin_lock_irq(&fs->lock);
		list_for_each_entry(fa, &fs->agents, node) {
			if (!ib_agent_begin(&fa->agent))
				continue;
			armed = fa;
			list_move_tail(&fa->node, &seen);
			break;
		}
		spin_unlock_irq(&fs->lock);
		if (!armed)
			break;
		result = armed->callback ? armed->callback(armed) : IB_CB_DONE;
		called++;
		ib_agent_end(&armed->agent, result);
	}
	spin_lock_irq(&fs->lock);
	list_splice_tail(&seen, &fs->agents);
	spin_unlock_irq(&fs->lock);
	return called;
}
EXPORT_SYMBOL_GPL(fake_service_deliver);

/* ---- clients ---- */

static struct fake_client *to_fc(const struct ib_attachment *attachment)
{
	return container_of(attachment->client, struct fake_client, client);
}

static void fc_enter(struct ib_attachment *attachment, const char *where)
{
	struct fake_client *fc = to_fc(attachment);

	atomic_inc(&fc->entered);
	if (fc->hook)
		fc->hook(fc, attachment, where);
	if (fc->stuck_in && !strcmp(fc->stuck_in, where))
		wait_for_completion(&fc->hold);
}

static enum ib_cb_result fc_callback(struct fake_agent *fa)
{
	struct fake_context *ctx = fa->context;

	if (READ_ONCE(ctx->removed))
		fake_breach("a callback after remove_one returned");
	atomic_inc(&ctx->callbacks);
	atomic_inc(&ctx->fc->callbacks);
	return IB_CB_DONE;
}

static void fc_drop_agents(struct fake_context *ctx)
{
	int i;

	for (i = 0; i < FAKE_NEEDS; i++)
		if (ctx->agents[i])
			ib_agent_destroy(&ctx->agents[i]->agent);
}

static int fc_make_agents(struct fake_context *ctx)
{
	struct ib_service *const *need;
	struct fake_agent *fa;
	int i = 0;

	for (need = ctx->fc->needs; *need; need++) {
		fa = fake_agent_create(ctx->attachment,
				       container_of(*need, struct fake_service, service),
				       fc_callback, ctx);
		if (IS_ERR(fa))
			return PTR_ERR(fa);
		ctx->agents[i++] = fa;
	}
	return 0;
}

static int fc_add_one(struct ib_attachment *attachment)
{
	struct fake_client *fc = to_fc(attachment);
	struct fake_context *ctx;
	int err;

	fc_enter(attachment, "add_one");
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;
	ctx->fc = fc;
	ctx->attachment = attachment;
	err = fc_make_agents(ctx);
	fake_touch(attachment->device);
	if (!err && fc->add_fails) {
		fc->add_fails--;
		err = -EBUSY;
	}
	if (err) {
		fc_drop_agents(ctx);
		kfree(ctx);
		atomic_inc(&fc->failed_adds);
		return err;
	}
	ib_attachment_set_context(attachment, ctx);
	fc->context = ctx;
	atomic_inc(&fc->adds);
	return 0;
}

static void fc_closing(struct ib_attachment *attachment)
{
	struct fake_context *ctx = ib_attachment_context(attachment);

	if (!ctx || ctx->removed)
		fake_breach("closing without an add_one before it");
	atomic_inc(&to_fc(attachment)->closings);
	fc_enter(attachment, "closing");
}

static void fc_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct fake_context *ctx = ib_attachment_context(attachment);
	struct fake_client *fc = to_fc(attachment);
	struct ib_service_instance *instance;
	struct ib_service *const *need;

	if (!ctx || ctx->removed) {
		fake_breach("remove_one without an add_one before it");
		return;
	}
	atomic_inc(&fc->removes);
	fc->last_reason = reason;
	fc_enter(attachment, "remove_one");
	for (need = fc->needs; *need; need++) {
		instance = ib_service_enter(attachment, *need);
		atomic_inc(IS_ERR(instance) ? &fc->refused : &fc->usable);
		if (!IS_ERR(instance))
			ib_service_exit(instance);
	}
	fake_touch(attachment->device);
	if (!fc->forgets) {
		fc_drop_agents(ctx);
		WRITE_ONCE(ctx->removed, true);
	}
}

static void fc_free(void *context)
{
	struct fake_context *ctx = context;

	atomic_inc(&ctx->fc->frees);
	if (ctx->fc->context == ctx)
		ctx->fc->context = NULL;
	kfree(ctx);
}

void fake_client_unregister(struct fake_client *fc)
{
	if (!fc->registered)
		return;
	fc->registered = false;
	complete_all(&fc->hold);
	ib_client_unregister(&fc->client);
	if (atomic_read(&fc->adds) != atomic_read(&fc->removes) ||
	    atomic_read(&fc->adds) != atomic_read(&fc->frees))
		fake_breach("a client left without being removed everywhere");
}
EXPORT_SYMBOL_GPL(fake_client_unregister);

KUNIT_DEFINE_ACTION_WRAPPER(fc_destroy, fake_client_unregister, struct fake_client *);

struct fake_client *fake_client_create(struct kunit *test, const char *name)
{
	struct fake_client *fc = kunit_kzalloc(test, sizeof(*fc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fc);
	fc->client.name = name;
	fc->client.owner = THIS_MODULE;
	fc->client.needs = fc->needs;
	fc->client.add_one = fc_add_one;
	fc->client.closing = fc_closing;
	fc->client.remove_one = fc_remove_one;
	fc->client.free = fc_free;
	init_completion(&fc->hold);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fc_destroy, fc), 0);
	return fc;
}
EXPORT_SYMBOL_GPL(fake_client_create);

void fake_client_needs(struct fake_client *fc, struct fake_service *fs)
{
	int i = 0;

	while (fc->needs[i])
		i++;
	fc->needs[i] = &fs->service;
}
EXPORT_SYMBOL_GPL(fake_client_needs);

int fake_client_register(struct fake_client *fc)
{
	int err = ib_client_register(&fc->client);

	if (!err)
		fc->registered = true;
	return err;
}
EXPORT_SYMBOL_GPL(fake_client_register);

int fake_run_client_unregister(void *fc)
{
	fake_client_unregister(fc);
	return 0;
}
EXPORT_SYMBOL_GPL(fake_run_client_unregister);

int fake_run_client_register(void *fc)
{
	return fake_client_register(fc);
}
EXPORT_SYMBOL_GPL(fake_run_client_register);

int fake_run_service_unregister(void *fs)
{
	fake_service_unregister(fs);
	return 0;
}
EXPORT_SYMBOL_GPL(fake_run_service_unregister);

int fake_run_service_register(void *fs)
{
	return fake_service_register(fs);
}
EXPORT_SYMBOL_GPL(fake_run_service_register);
