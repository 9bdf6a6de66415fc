// SPDX-License-Identifier: GPL-2.0-only
/* The bench of mad_bench.h. */
#include <linux/module.h>

#include "mad_bench.h"

#include "mad.h"
#include "objects.h"

/* Queues that lead to one another, and back. */
#define MAD_FLUSHES 4

static atomic_t serial;
/* Whose queues mad_settle() means: the last that was made. */
static struct mad_bench *settling;

static void mad_bench_end(void *arg)
{
	struct mad_bench *mb = arg;

	mad_forget(mb);
	settling = NULL;
	KUNIT_EXPECT_EQ(mb->test, atomic_read(&mb->done) + mb->forgotten,
			atomic_read(&mb->posted));
}

struct mad_bench *mad_bench_create(struct kunit *test, const char *name)
{
	struct mad_bench *mb = kunit_kzalloc(test, sizeof(*mb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mb);
	mb->test = test;
	/* A test may have several, and the devices of all stay to its end. */
	snprintf(mb->name, sizeof(mb->name), "%s.%d", name, atomic_inc_return(&serial));
	mb->b = bench_create(test, mb->name);
	mb->b->vf.mads = true;
	mb->b->vf.max_wr = 600;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mad_bench_end, mb), 0);
	return mb;
}
EXPORT_SYMBOL_GPL(mad_bench_create);

struct mad_bench *mad_bench_up(struct kunit *test, const char *name)
{
	struct mad_bench *mb = mad_bench_create(test, name);

	bench_bind(mb->b);
	settling = mb;
	return mb;
}
EXPORT_SYMBOL_GPL(mad_bench_up);

static void mad_flush(struct ib_device *device)
{
	struct ib_mad_device *mads = NULL;
	struct ib_service_instance *instance;

	spin_lock_irq(&device->hca->lock);
	list_for_each_entry(instance, &device->services, node)
		if (instance->service == &ib_mad_service)
			mads = instance->context;
	spin_unlock_irq(&device->hca->lock);
	if (!mads)
		return;
	flush_workqueue(device->objects->poll_wq);
	flush_workqueue(mads->wq);
	flush_workqueue(device->wq);
}

/*
 * Everything that is queued has run.  Under virtual time a short sleep is enough for that; on the
 * wall clock nothing is, so the queues are flushed: a completion queues the port's work, which
 * sends, which completes, which may queue it again.
 */
void mad_settle(void)
{
	int i;

	if (lr_time_is_virtual() || !settling) {
		usleep_range(3000, 3001);
		return;
	}
	for (i = 0; i < MAD_FLUSHES; i++)
		mad_flush(bench_device(settling->b));
}
EXPORT_SYMBOL_GPL(mad_settle);

void mad_forget(struct mad_bench *mb)
{
	ib_mad_recv_free(xchg(&mb->message, NULL));
}
EXPORT_SYMBOL_GPL(mad_forget);

/* Two ports may call back at once. */
static void mad_keep(struct mad_bench *mb, struct ib_mad_recv *recv)
{
	ib_mad_recv_free(xchg(&mb->message, recv));
}

static void mad_count(struct mad_bench *mb, int status, bool response)
{
	atomic_inc(&mb->done);
	mb->last_status = status;
	if (response)
		atomic_inc(&mb->answered);
	if (!status)
		atomic_inc(&mb->ok);
	else if (status == -ETIMEDOUT)
		atomic_inc(&mb->timed_out);
	else if (status == -ECANCELED)
		atomic_inc(&mb->canceled);
	else
		atomic_inc(&mb->failed);
}

static enum ib_cb_result mad_done(struct ib_mad_send *send, int status,
				  struct ib_mad_recv *response)
{
	struct mad_bench *mb = send->context;

	if (response && status)
		fake_breach("a response to a send that failed");
	mad_count(mb, status, response);
	if (response)
		mad_keep(mb, response);
	if (mb->again > 0) {
		mb->again--;
		if (!mad_post(mb, send))
			return IB_CB_DONE;
	}
	ib_mad_send_free(send);
	return IB_CB_DONE;
}

/* The same back to where it came from, as a response. */
static void mad_serve(struct mad_bench *mb, struct ib_mad_agent *agent,
		      const struct ib_mad_recv *recv)
{
	struct ib_mad_send *send = ib_mad_send_alloc(agent, recv->length, GFP_KERNEL);

	if (IS_ERR(send))
		return;
	memcpy(send->mad, recv->mad, recv->length);
	ib_put(send->mad, IB_MAD_METHOD, ib_get(recv->mad, IB_MAD_METHOD) | IB_METHOD_RESPONSE);
	if (ib_get(recv->mad, IB_MAD_CLASS) == IB_CLASS_SMP_DR)
		ib_put(send->mad, IB_SMP_D, 1);
	send->to = recv->from;
	send->done = mad_done;
	send->context = mb;
	if (agent->init.rmpp)
		send->flags = IB_MAD_SEND_RMPP;
	if (mad_post(mb, send))
		ib_mad_send_free(send);
}

static enum ib_cb_result mad_recv(struct ib_mad_agent *agent, struct ib_mad_recv *recv)
{
	struct mad_bench *mb = agent->context;

	mb->received_by = agent;
	if (mb->serve)
		mad_serve(mb, agent, recv);
	mad_keep(mb, recv);
	atomic_inc(&mb->received);
	return IB_CB_DONE;
}

void mad_init_agent(struct mad_bench *mb, struct ib_mad_agent_init *init, u8 qpn, u8 class)
{
	*init = (struct ib_mad_agent_init) {
		.port = 1,
		.qpn = qpn,
		.class = class,
		.class_version = class == IB_CLASS_SA ? 2 : 1,
		.oui = ib_class_has_oui(class) ? MAD_OUI : 0,
		.recv = mad_recv,
		.context = mb,
	};
}
EXPORT_SYMBOL_GPL(mad_init_agent);

/* Ended by 0. */
void mad_init_methods(struct ib_mad_agent_init *init, ...)
{
	va_list args;
	int method;

	va_start(args, init);
	while ((method = va_arg(args, int)))
		__set_bit(method, init->methods);
	va_end(args);
}
EXPORT_SYMBOL_GPL(mad_init_methods);

struct ib_mad_agent *mad_agent(struct mad_bench *mb, const struct ib_mad_agent_init *init)
{
	struct ib_mad_agent *agent = ib_mad_agent_create(mb->b->attachment, init);

	KUNIT_ASSERT_FALSE_MSG(mb->test, IS_ERR(agent), "%ld", PTR_ERR(agent));
	return agent;
}
EXPORT_SYMBOL_GPL(mad_agent);

/* Receives Get and Set. */
struct ib_mad_agent *mad_agent_simple(struct mad_bench *mb, u8 qpn, u8 class)
{
	struct ib_mad_agent_init init;

	mad_init_agent(mb, &init, qpn, class);
	if (class)
		mad_init_methods(&init, IB_METHOD_GET, IB_METHOD_SET, 0);
	return mad_agent(mb, &init);
}
EXPORT_SYMBOL_GPL(mad_agent_simple);

void mad_write_head(u8 *mad, const struct mad_head *head)
{
	ib_put(mad, IB_MAD_BASE, IB_MAD_BASE_1);
	ib_put(mad, IB_MAD_CLASS, head->class);
	ib_put(mad, IB_MAD_CLASS_VERSION, head->version ?: 1);
	ib_put(mad, IB_MAD_METHOD, head->method);
	ib_put(mad, IB_MAD_ATTRIBUTE, head->attribute);
	ib_put(mad, IB_MAD_TID, head->tid);
	if (ib_class_has_oui(head->class))
		ib_put(mad, IB_VENDOR2_OUI, MAD_OUI);
}
EXPORT_SYMBOL_GPL(mad_write_head);

struct ib_mad_send *mad_send_new(struct mad_bench *mb, struct ib_mad_agent *agent, u32 length,
				 const struct mad_head *head)
{
	struct ib_mad_send *send = ib_mad_send_alloc(agent, length, GFP_KERNEL);

	KUNIT_ASSERT_FALSE(mb->test, IS_ERR(send));
	mad_write_head(send->mad, head);
	send->to = (struct ib_mad_addr) { .lid = MAD_PEER_LID, .qpn = agent->init.qpn };
	send->done = mad_done;
	send->context = mb;
	return send;
}
EXPORT_SYMBOL_GPL(mad_send_new);

int mad_post(struct mad_bench *mb, struct ib_mad_send *send)
{
	int err;

	/* Counted before: done may be faster. */
	atomic_inc(&mb->posted);
	err = ib_mad_post(send);
	if (err)
		atomic_dec(&mb->posted);
	return err;
}
EXPORT_SYMBOL_GPL(mad_post);

static struct ib_mad_send *mad_get_new(struct mad_bench *mb, struct ib_mad_agent *agent,
				       u32 timeout, u32 retries)
{
	struct mad_head head = {
		.class = agent->init.class ?: IB_CLASS_PERF,
		.version = agent->init.class_version,
		.method = IB_METHOD_GET,
		.tid = ib_mad_tid(agent),
	};
	struct ib_mad_send *send = mad_send_new(mb, agent, IB_MAD_SIZE, &head);

	send->timeout_ms = timeout;
	send->retries = retries;
	return send;
}

/* A Get of the agent's class to the peer; gives what ib_mad_post() said. */
int mad_try(struct mad_bench *mb, struct ib_mad_agent *agent, u32 timeout, u32 retries)
{
	struct ib_mad_send *send = mad_get_new(mb, agent, timeout, retries);
	int err = mad_post(mb, send);

	if (err)
		ib_mad_send_free(send);
	return err;
}
EXPORT_SYMBOL_GPL(mad_try);

/* The same where it has to succeed. */
struct ib_mad_send *mad_request(struct mad_bench *mb, struct ib_mad_agent *agent, u32 timeout,
				u32 retries)
{
	struct ib_mad_send *send = mad_get_new(mb, agent, timeout, retries);

	KUNIT_ASSERT_EQ(mb->test, mad_post(mb, send), 0);
	return send;
}
EXPORT_SYMBOL_GPL(mad_request);

/* From the peer, to port 1. */
void mad_arrive(struct mad_bench *mb, u8 qpn, const u8 *mad)
{
	struct ib_wc wc = { .slid = MAD_PEER_LID, .src_qp = qpn, .port = 1 };

	KUNIT_EXPECT_TRUE(mb->test, vfake_deliver(&mb->b->vf, &wc, qpn, mad));
}
EXPORT_SYMBOL_GPL(mad_arrive);

/* The peer answers a request. */
void mad_answer(struct mad_bench *mb, const struct vfake_mad *m, u16 status)
{
	u8 mad[IB_MAD_SIZE];

	memcpy(mad, m->mad, sizeof(mad));
	ib_put(mad, IB_MAD_METHOD, ib_get(mad, IB_MAD_METHOD) | IB_METHOD_RESPONSE);
	ib_put(mad, IB_MAD_STATUS, status);
	mad_arrive(mb, m->qpn, mad);
}
EXPORT_SYMBOL_GPL(mad_answer);

/* How many MADs are on the wire; they are taken off it. */
unsigned int mad_on_wire(struct mad_bench *mb)
{
	struct vfake_mad *m;
	unsigned int n = 0;

	mad_settle();
	for (; (m = vfake_take(&mb->b->vf)); n++)
		kfree(m);
	return n;
}
EXPORT_SYMBOL_GPL(mad_on_wire);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A bench for tests of the MAD service");
