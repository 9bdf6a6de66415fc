// SPDX-License-Identifier: GPL-2.0-only
/* The stage of stage.h. */
#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <ib/multicast.h>

#include <lastref/clock.h>
#include <lastref/kunit.h>

#include "model/cx3.h"
#include "stage.h"

#define DRIVER "mlx4_ib"
#define PORT_ARMED 3
#define PORT_ACTIVE 4
#define SMP_TIMEOUT 200
#define SMP_RETRIES 10
#define SEGMENT_RETRIES 5
#define PATIENCE 20000
#define SETTLE 100

static struct wire *stage;

/* ---- mlx4_ib: bound to nothing but what stands on a stage ---- */

static struct auxiliary_driver *mlx4_ib;

static void forget_device(struct device *dev)
{
	kfree(to_auxiliary_dev(dev));
}

/* The bus has no name that others may use; a device that is never added knows it. */
static struct device_driver *find_driver(struct device *parent)
{
	struct auxiliary_device *none = kzalloc(sizeof(*none), GFP_KERNEL);
	struct device_driver *driver;

	if (!none)
		return NULL;
	none->name = "none";
	none->dev.parent = parent;
	none->dev.release = forget_device;
	if (auxiliary_device_init(none)) {
		kfree(none);
		return NULL;
	}
	driver = driver_find(DRIVER "." DRIVER, none->dev.bus);
	auxiliary_device_uninit(none);
	return driver;
}

/* After the drivers, before the tests: other suites are about mlx4_core alone. */
static int __init take_driver_off(void)
{
	struct device *parent = root_device_register("lastref_wire");
	struct device_driver *driver;

	if (IS_ERR(parent))
		return PTR_ERR(parent);
	driver = find_driver(parent);
	root_device_unregister(parent);
	if (!driver)
		return -ENOENT;
	mlx4_ib = container_of(driver, struct auxiliary_driver, driver);
	auxiliary_driver_unregister(mlx4_ib);
	return 0;
}
late_initcall(take_driver_off);

static void driver_off(void *arg)
{
	auxiliary_driver_unregister(mlx4_ib);
}

void wire_driver_on(struct kunit *test)
{
	KUNIT_ASSERT_NOT_NULL(test, mlx4_ib);
	KUNIT_ASSERT_EQ(test, __auxiliary_driver_register(mlx4_ib, NULL, DRIVER), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, driver_off, NULL), 0);
}

/* ---- the far end: servers ---- */

static enum ib_cb_result sent(struct ib_mad_send *send, int status, struct ib_mad_recv *response)
{
	ib_mad_recv_free(response);
	ib_mad_send_free(send);
	return IB_CB_DONE;
}

void wire_answer(struct ib_mad_agent *agent, const struct ib_mad_addr *to, const u8 *mad,
		 u32 length, u32 flags)
{
	struct ib_mad_send *send = ib_mad_send_alloc(agent, length, GFP_KERNEL);

	if (IS_ERR(send))
		return;
	memcpy(send->mad, mad, min_t(u32, length, IB_MAD_SIZE));
	send->to = *to;
	send->flags = flags;
	send->retries = SEGMENT_RETRIES;
	send->done = sent;
	if (ib_mad_post(send))
		ib_mad_send_free(send);
}

/* The same again, as a response; the bytes of a long one count from its begin. */
static enum ib_cb_result serve(struct ib_mad_agent *agent, struct ib_mad_recv *recv)
{
	struct wire *w = agent->context;
	u32 length = IB_MAD_SIZE;

	ib_put(recv->mad, IB_MAD_METHOD, ib_get(recv->mad, IB_MAD_METHOD) | IB_METHOD_RESPONSE);
	if (agent->init.rmpp)
		length = ib_get(recv->mad, WIRE_ANSWER_BYTES) ?: IB_MAD_SIZE;
	atomic_inc(&w->served);
	wire_answer(agent, &recv->from, recv->mad, length,
		    length > IB_MAD_SIZE ? IB_MAD_SEND_RMPP : 0);
	ib_mad_recv_free(recv);
	return IB_CB_DONE;
}

/* ---- the far end: the SA ---- */

static void sa_send(struct sm *sm, u8 port, const u8 *mad)
{
	wire_answer(stage->sa, &stage->from[port - 1], mad, IB_MAD_SIZE, 0);
}

static void sa_send_table(struct sm *sm, u8 port, const u8 *mad, size_t len)
{
	struct ib_mad_send *send = ib_mad_send_alloc(stage->sa, IB_SA_DATA + len, GFP_KERNEL);

	if (IS_ERR(send))
		return;
	memcpy(send->mad, mad, IB_SA_DATA);
	memcpy(send->mad + IB_SA_DATA, sm->table, len);
	send->to = stage->from[port - 1];
	send->flags = IB_MAD_SEND_RMPP;
	send->retries = SEGMENT_RETRIES;
	send->done = sent;
	if (ib_mad_post(send))
		ib_mad_send_free(send);
}

static enum ib_cb_result sa_heard(struct ib_mad_agent *agent, struct ib_mad_recv *recv)
{
	struct wire *w = agent->context;
	u8 port = recv->from.lid == WIRE_NEAR_LID ? 1 : 2;

	w->from[port - 1] = recv->from;
	sm_hear(w->sm, port, WIRE_SM_LID, recv->mad);
	if (w->sm->nseen == w->stop_at)
		complete(&w->reached);
	ib_mad_recv_free(recv);
	return IB_CB_DONE;
}

/* ---- the far end: the SM ---- */

/**
 * struct asked - a packet that waits for its answer
 * @done: it has ended
 * @status: how
 * @data: the answer's data
 */
struct asked {
	struct completion done;
	int status;
	u8 data[IB_SMP_DATA_SIZE];
};

static enum ib_cb_result smp_done(struct ib_mad_send *send, int status,
				  struct ib_mad_recv *response)
{
	struct asked *asked = send->context;

	asked->status = status;
	if (response) {
		if (ib_get(response->mad, IB_MAD_STATUS) & ~IB_STATUS_SMP_D)
			asked->status = -EPROTO;
		memcpy(asked->data, response->mad + IB_SMP_DATA, IB_SMP_DATA_SIZE);
	}
	complete(&asked->done);
	return sent(send, status, response);
}

int wire_smp(struct wire *w, u8 hops, u8 method, u16 attr, u32 modifier, u8 *data)
{
	struct ib_mad_send *send = ib_mad_send_alloc(w->smi, IB_MAD_SIZE, GFP_KERNEL);
	struct asked asked = {};
	int err;

	if (IS_ERR(send))
		return PTR_ERR(send);
	init_completion(&asked.done);
	ib_put(send->mad, IB_MAD_BASE, IB_MAD_BASE_1);
	ib_put(send->mad, IB_MAD_CLASS, IB_CLASS_SMP_DR);
	ib_put(send->mad, IB_MAD_CLASS_VERSION, 1);
	ib_put(send->mad, IB_MAD_METHOD, method);
	ib_put(send->mad, IB_MAD_TID_LO, ib_mad_tid(w->smi));
	ib_put(send->mad, IB_MAD_ATTRIBUTE, attr);
	ib_put(send->mad, IB_MAD_MODIFIER, modifier);
	ib_put(send->mad, IB_SMP_HOP_COUNT, hops);
	ib_put(send->mad, IB_SMP_DR_SLID, IB_LID_PERMISSIVE);
	ib_put(send->mad, IB_SMP_DR_DLID, IB_LID_PERMISSIVE);
	send->mad[IB_SMP_INITIAL_PATH + 1] = hops;
	memcpy(send->mad + IB_SMP_DATA, data, IB_SMP_DATA_SIZE);
	send->to.lid = IB_LID_PERMISSIVE;
	send->timeout_ms = SMP_TIMEOUT;
	send->retries = SMP_RETRIES;
	send->done = smp_done;
	send->context = &asked;
	err = ib_mad_post(send);
	if (err) {
		ib_mad_send_free(send);
		return err;
	}
	wait_for_completion(&asked.done);
	memcpy(data, asked.data, IB_SMP_DATA_SIZE);
	return asked.status;
}

/* Fields of PortInfo are named by where they are in a MAD. */
static void change_port(struct wire *w, u8 hops, u16 lid, unsigned int state, bool reregister)
{
	u8 mad[IB_MAD_SIZE] = {};
	u8 *data = mad + IB_SMP_DATA;

	KUNIT_ASSERT_EQ(w->test, wire_smp(w, hops, IB_METHOD_GET, IB_ATTR_PORT_INFO, 1, data), 0);
	ib_put(mad, IB_PORT_INFO_LID, lid);
	ib_put(mad, IB_PORT_INFO_SM_LID, WIRE_SM_LID);
	/* Zero is no change, as it is for the state of the link. */
	ib_put(mad, IB_PORT_INFO_STATE, state);
	ib_put(mad, IB_PORT_INFO_REREGISTER, reregister);
	mad[IB_SMP_DATA + 33] &= 0x0f;
	KUNIT_ASSERT_EQ(w->test, wire_smp(w, hops, IB_METHOD_SET, IB_ATTR_PORT_INFO, 1, data), 0);
}

void wire_reregister(struct wire *w)
{
	change_port(w, 1, WIRE_NEAR_LID, 0, true);
}

/* From INIT on both sides, each step on both. */
void wire_activate(struct wire *w)
{
	static const unsigned int states[] = { 0, PORT_ARMED, PORT_ACTIVE };

	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++) {
		change_port(w, 0, WIRE_SM_LID, states[i], false);
		change_port(w, 1, WIRE_NEAR_LID, states[i], false);
	}
	msleep(SETTLE);
}

static void agent_init(struct ib_mad_agent_init *init, struct wire *w, u8 qpn, u8 class)
{
	*init = (struct ib_mad_agent_init) {
		.port = 1, .qpn = qpn, .class = class, .class_version = 1, .context = w,
	};
}

static int make_agent(struct ib_attachment *attachment, const struct ib_mad_agent_init *init,
		      struct ib_mad_agent **agent)
{
	*agent = ib_mad_agent_create(attachment, init);
	return PTR_ERR_OR_ZERO(*agent);
}

/* What fails is reaped by ib_core. */
static int far_agents(struct wire *w, struct ib_attachment *attachment)
{
	struct ib_mad_agent_init init;
	int err;

	agent_init(&init, w, 0, 0);
	err = make_agent(attachment, &init, &w->smi);
	agent_init(&init, w, 1, IB_CLASS_SA);
	init.class_version = IB_SA_CLASS_VERSION;
	__set_bit(IB_SA_GET, init.methods);
	__set_bit(IB_SA_SET, init.methods);
	__set_bit(IB_SA_GET_TABLE, init.methods);
	__set_bit(IB_SA_DELETE, init.methods);
	init.rmpp = 1;
	init.recv = sa_heard;
	err = err ?: make_agent(attachment, &init, &w->sa);
	agent_init(&init, w, 1, WIRE_CLASS_LONG);
	init.oui = WIRE_OUI;
	init.rmpp = 1;
	init.recv = serve;
	__set_bit(IB_METHOD_GET, init.methods);
	err = err ?: make_agent(attachment, &init, &w->servers[0]);
	agent_init(&init, w, 1, WIRE_CLASS_SHORT);
	init.recv = serve;
	__set_bit(IB_METHOD_GET, init.methods);
	return err ?: make_agent(attachment, &init, &w->servers[1]);
}

/* ---- the client ---- */

static struct wire_end *end_of(struct wire *w, struct ib_attachment *attachment)
{
	struct wire_end *ends[] = { &w->near, &w->far };

	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++) {
		struct pci_dev *pdev = ends[i]->h ? lr_hca_pdev(ends[i]->h) : NULL;

		if (pdev && attachment->device->hca->parent == &pdev->dev)
			return ends[i];
	}
	return NULL;
}

static int wire_add_one(struct ib_attachment *attachment)
{
	struct wire_end *end = end_of(stage, attachment);
	int err;

	if (!end)
		return 0;
	if (end == &stage->far) {
		err = far_agents(stage, attachment);
		if (err)
			return err;
	}
	if (end->attachment)
		ib_attachment_put(end->attachment);
	ib_attachment_get(attachment);
	end->attachment = attachment;
	ib_attachment_set_context(attachment, end);
	WRITE_ONCE(end->attached, true);
	return 0;
}

static void wire_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct wire_end *end = ib_attachment_context(attachment);
	struct wire *w = stage;

	if (!end)
		return;
	if (end == &w->far) {
		for (unsigned int i = 0; i < ARRAY_SIZE(w->servers); i++)
			ib_mad_agent_destroy(w->servers[i]);
		ib_mad_agent_destroy(w->sa);
		ib_mad_agent_destroy(w->smi);
	} else if (w->remove) {
		w->remove(w);
	}
	WRITE_ONCE(end->attached, false);
	WRITE_ONCE(end->removes, end->removes + 1);
}

static struct ib_service *const wire_needs[] = { &ib_multicast, &ib_sa, &ib_mad_service, NULL };

static struct ib_client wire_client = {
	.name = "wire",
	.owner = THIS_MODULE,
	.needs = wire_needs,
	.add_one = wire_add_one,
	.remove_one = wire_remove_one,
};

static void client_off(void *arg)
{
	struct wire *w = arg;

	ib_client_unregister(&wire_client);
	if (w->near.attachment)
		ib_attachment_put(w->near.attachment);
	if (w->far.attachment)
		ib_attachment_put(w->far.attachment);
	stage = NULL;
}

struct ib_device *wire_device(struct wire *w)
{
	return w->near.attachment->device;
}

static void plug(struct wire *w, struct wire_end *end)
{
	struct cx3_config config;

	cx3_config_init(&config);
	config.nvectors = 4;
	config.nports = 1;
	end->h = lr_hca_new(w->test, &config);
	lr_hca_connect(end->h, 1, w->fabric);
	KUNIT_ASSERT_EQ(w->test, lr_hca_plug(end->h), 0);
	KUNIT_ASSERT_TRUE(w->test, lr_hca_bound(end->h));
	KUNIT_ASSERT_TRUE(w->test, LR_WAIT(READ_ONCE(end->attached), PATIENCE));
}

void wire_plug(struct wire *w)
{
	lr_hca_free(w->near.h);
	plug(w, &w->near);
}

/* What is made first goes last: driver, memory of the SM, client, far HCA, near HCA. */
struct wire *wire_up(struct kunit *test)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	wire_driver_on(test);
	w->test = test;
	init_completion(&w->reached);
	w->sm = sm_alone(test);
	w->sm->deaf = true;
	w->sm->send = sa_send;
	w->sm->send_table = sa_send_table;
	stage = w;
	KUNIT_ASSERT_EQ(test, ib_client_register(&wire_client), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, client_off, w), 0);
	w->fabric = lr_fabric_new(test, false);
	plug(w, &w->far);
	plug(w, &w->near);
	wire_activate(w);
	return w;
}
