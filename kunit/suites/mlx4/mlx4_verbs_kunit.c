// SPDX-License-Identifier: GPL-2.0-only
/*
 * mlx4_ib on the emulated HCA: a script that makes one of each object, uses them and ends them, and
 * one command after the other of it at which the HCA leaves, the firmware fails or falls silent.
 * The same for the commands of a removal that finds the objects still there.
 *
 * Whatever happens, each request that was posted completes once, the removal is bounded, the HCA
 * holds nothing afterwards, no rule of the hardware is broken, and the next round works.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>

#include <ib/client.h>

#include <lastref/clock.h>
#include <lastref/hca.h>
#include <lastref/kunit.h>

#include "../wire/stage.h"

static unsigned int every = 4;
module_param(every, uint, 0400);
MODULE_PARM_DESC(every, "strike at every so manieth command (1: at each)");

#define RECVS		4
#define REMOVAL_MS	15000	/* design: a removal returns by then, whatever happens */
#define PATIENCE_MS	40000
#define MOST		400	/* commands; the script has fewer */

/**
 * struct request - a receive
 * @cqe: its completion
 * @posted: it was
 * @done: how often it completed
 */
struct request {
	struct ib_cqe cqe;
	bool posted;
	int done;
};

/**
 * struct objects - what the script makes; NULL or an error: not
 * @pd: PD
 * @xrcd: XRC domain
 * @cq: CQ, polled on a work item
 * @srq: SRQ
 * @mr: region for fast registration
 * @dma: region of all memory
 * @mw: window
 * @ah: address
 * @ud: UD QP with a receive queue, in a group
 * @rc: RC QP on the SRQ
 * @recvs: posted to @ud
 * @stuck: @ud could not be drained: the firmware refused to move it to ERR, and stays
 */
struct objects {
	struct ib_pd *pd;
	struct ib_xrcd *xrcd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_mr *mr;
	struct ib_mr *dma;
	struct ib_mw *mw;
	struct ib_ah *ah;
	struct ib_qp *ud;
	struct ib_qp *rc;
	struct request recvs[RECVS];
	bool stuck;
};

/**
 * struct script - the client that runs it
 * @test: whose
 * @h: the HCA
 * @attachment: while it is attached; its memory is kept longer
 * @attached: it is
 * @idle: the script does not run: remove_one waits for that
 * @o: its objects
 */
static struct script {
	struct kunit *test;
	struct lr_hca *h;
	struct ib_attachment *attachment;
	bool attached;
	struct completion idle;
	struct objects o;
} script;

/* ---- the client ---- */

static int script_add_one(struct ib_attachment *attachment)
{
	if (script.attachment)
		ib_attachment_put(script.attachment);
	ib_attachment_get(attachment);
	script.attachment = attachment;
	WRITE_ONCE(script.attached, true);
	return 0;
}

static void script_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	WRITE_ONCE(script.attached, false);
	wait_for_completion(&script.idle);
}

static struct ib_client script_client = {
	.name = "script",
	.owner = THIS_MODULE,
	.add_one = script_add_one,
	.remove_one = script_remove_one,
};

static void client_off(void *unused)
{
	ib_client_unregister(&script_client);
	if (script.attachment)
		ib_attachment_put(script.attachment);
	script.attachment = NULL;
}

/* ---- the script ---- */

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *request = container_of(wc->cqe, struct request, cqe);

	WRITE_ONCE(request->done, request->done + 1);
}

static int make_memory(struct objects *o)
{
	struct ib_ah_attr ah = { .dlid = 1, .port = 1 };
	int err;

	o->pd = ib_pd_create(script.attachment, NULL);
	err = PTR_ERR_OR_ZERO(o->pd);
	if (err)
		return err;
	o->mr = ib_mr_create_fast(o->pd, 4);
	err = PTR_ERR_OR_ZERO(o->mr);
	if (!err) {
		o->dma = ib_mr_create_dma(o->pd, IB_ACCESS_LOCAL_WRITE);
		err = PTR_ERR_OR_ZERO(o->dma);
	}
	if (!err) {
		o->mw = ib_mw_create(o->pd, 2, NULL);
		err = PTR_ERR_OR_ZERO(o->mw);
	}
	if (!err) {
		o->ah = ib_ah_create(o->pd, &ah, GFP_KERNEL);
		err = PTR_ERR_OR_ZERO(o->ah);
	}
	return err;
}

static int make_queues(struct objects *o)
{
	struct ib_srq_init srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ib_cq_init cq = { .cqe = 30, .context = IB_CQ_WORKQUEUE };
	struct ib_qp_init qp = {
		.type = IB_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = RECVS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int err;

	o->cq = ib_cq_create(script.attachment, &cq, NULL);
	err = PTR_ERR_OR_ZERO(o->cq);
	if (err)
		return err;
	o->xrcd = ib_xrcd_create(script.attachment, NULL);
	err = PTR_ERR_OR_ZERO(o->xrcd);
	if (!err) {
		o->srq = ib_srq_create(o->pd, &srq, NULL);
		err = PTR_ERR_OR_ZERO(o->srq);
	}
	if (err)
		return err;
	qp.send_cq = o->cq;
	qp.recv_cq = o->cq;
	o->ud = ib_qp_create(script.attachment, o->pd, &qp, NULL);
	err = PTR_ERR_OR_ZERO(o->ud);
	if (err)
		return err;
	qp.type = IB_QPT_RC;
	qp.srq = o->srq;
	o->rc = ib_qp_create(script.attachment, o->pd, &qp, NULL);
	return PTR_ERR_OR_ZERO(o->rc);
}

static int start_ud(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .state = IB_QPS_INIT, .port = 1, .qkey = 1 };
	int err;

	err = ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_QKEY | IB_QP_PKEY_INDEX,
			   NULL);
	attr.state = IB_QPS_RTR;
	err = err ?: ib_qp_modify(qp, &attr, IB_QP_STATE, NULL);
	attr.state = IB_QPS_RTS;
	return err ?: ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN, NULL);
}

static int start_rc(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.state = IB_QPS_INIT,
		.port = 1,
		.ah = { .dlid = 1, .port = 1 },
		.path_mtu = IB_MTU_1024,
		.dest_qpn = qp->qpn,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 1,
		.rnr_retry = 1,
	};
	int err;

	err = ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX |
			   IB_QP_ACCESS_FLAGS, NULL);
	attr.state = IB_QPS_RTR;
	err = err ?: ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
				  IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				  IB_QP_MIN_RNR_TIMER, NULL);
	attr.state = IB_QPS_RTS;
	return err ?: ib_qp_modify(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |
				   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC,
				   NULL);
}

static int post_recvs(struct objects *o)
{
	int err = 0;

	for (unsigned int i = 0; i < RECVS && !err; i++) {
		struct ib_recv_wr wr = { .cqe = &o->recvs[i].cqe };
		const struct ib_recv_wr *bad;

		o->recvs[i].cqe.done = received;
		err = ib_qp_post_recv(o->ud, &wr, &bad);
		o->recvs[i].posted = !err;
	}
	return err;
}

static int use(struct objects *o)
{
	static const union ib_gid group = { .raw = { 0xff, 0x12, [15] = 7 } };
	struct ib_srq_attr limit = { .limit = 2 };
	struct ib_qp_attr attr;
	int err;

	err = ib_qp_attach(o->ud, &group, 0xc001);
	err = err ?: ib_cq_resize(o->cq, 60, NULL);
	err = err ?: ib_cq_moderate(o->cq, 4, 10);
	err = err ?: ib_srq_modify(o->srq, &limit, IB_SRQ_LIMIT, NULL);
	err = err ?: ib_srq_query(o->srq, &limit);
	err = err ?: ib_qp_query(o->ud, &attr, IB_QP_STATE);
	return err ?: ib_qp_detach(o->ud, &group, 0xc001) ?: ib_qp_attach(o->ud, &group, 0xc001);
}

static int make(struct objects *o)
{
	return make_memory(o) ?: make_queues(o) ?: start_ud(o->ud) ?: start_rc(o->rc) ?:
	       post_recvs(o) ?: use(o);
}

static void end(struct objects *o)
{
	if (!IS_ERR_OR_NULL(o->ud)) {
		ib_qp_drain(o->ud);
		o->stuck = READ_ONCE(o->ud->known.state) != IB_QPS_ERR &&
			   !ib_hca_is_gone(script.attachment->device->hca);
		ib_qp_destroy(o->ud);
	}
	if (!IS_ERR_OR_NULL(o->rc))
		ib_qp_destroy(o->rc);
	if (!IS_ERR_OR_NULL(o->srq))
		ib_srq_destroy(o->srq);
	if (!IS_ERR_OR_NULL(o->cq))
		ib_cq_destroy(o->cq);
	if (!IS_ERR_OR_NULL(o->xrcd))
		ib_xrcd_destroy(o->xrcd);
	if (!IS_ERR_OR_NULL(o->ah))
		ib_ah_destroy(o->ah);
	if (!IS_ERR_OR_NULL(o->mw))
		ib_mw_destroy(o->mw);
	if (!IS_ERR_OR_NULL(o->dma))
		ib_mr_destroy(o->dma);
	if (!IS_ERR_OR_NULL(o->mr))
		ib_mr_destroy(o->mr);
	if (!IS_ERR_OR_NULL(o->pd))
		ib_pd_destroy(o->pd);
}

/* Begins with the client attached, and keeps its remove_one waiting until act_over(). */
static int act(struct objects *o)
{
	memset(o, 0, sizeof(*o));
	reinit_completion(&script.idle);
	return make(o);
}

static void act_over(void)
{
	complete_all(&script.idle);
}

/* ---- around it ---- */

static bool attached(void)
{
	return LR_WAIT(READ_ONCE(script.attached), PATIENCE_MS);
}

static void plug(struct kunit *test)
{
	script.h = lr_hca_new(test, NULL);
	KUNIT_ASSERT_EQ(test, lr_hca_plug(script.h), 0);
	KUNIT_ASSERT_TRUE(test, lr_hca_bound(script.h));
	KUNIT_ASSERT_TRUE(test, attached());
}

static int verbs_init(struct kunit *test)
{
	int err = lr_test_init(test);

	if (err)
		return err;
	memset(&script, 0, sizeof(script));
	script.test = test;
	init_completion(&script.idle);
	complete_all(&script.idle);
	wire_driver_on(test);
	err = ib_client_register(&script_client);
	return err ?: kunit_add_action_or_reset(test, client_off, NULL);
}

static void expect_once(struct kunit *test, const char *action, unsigned int nth)
{
	const struct objects *o = &script.o;

	for (unsigned int i = 0; i < RECVS; i++)
		KUNIT_EXPECT_EQ_MSG(test, o->recvs[i].done, o->recvs[i].posted && !o->stuck,
				    "receive %u, %s at %u", i, action, nth);
}

static void expect_clean(struct kunit *test, const char *action, unsigned int nth)
{
	KUNIT_EXPECT_EQ_MSG(test, lr_hca_live(script.h), 0U, "%s at %u", action, nth);
	KUNIT_EXPECT_EQ_MSG(test, lr_hca_violations(script.h), 0ULL, "%s at %u", action, nth);
}

static void set_rule(unsigned int nth, const char *action)
{
	char rule[48];

	snprintf(rule, sizeof(rule), "cmd nth=%u %s", nth, action);
	lr_hca_fault(script.h, rule);
}

/* Was it struck?  If not the script has fewer commands. */
static bool struck(u64 before)
{
	bool yes = lr_hca_count(script.h, "faults") != before;

	lr_hca_fault(script.h, "clear");
	return yes;
}

static void unbind(struct kunit *test, const char *action, unsigned int nth)
{
	struct lr_clock clock;

	lr_clock_start(&clock);
	device_release_driver(&lr_hca_pdev(script.h)->dev);
	if (lr_time_is_virtual())
		KUNIT_EXPECT_LE_MSG(test, lr_clock_ms(&clock), (s64)REMOVAL_MS, "%s at %u",
				    action, nth);
}

static void bind(struct kunit *test)
{
	struct device_driver *driver = driver_find("mlx4_core", &pci_bus_type);

	KUNIT_ASSERT_NOT_NULL(test, driver);
	KUNIT_ASSERT_EQ(test, device_driver_attach(driver, &lr_hca_pdev(script.h)->dev), 0);
	KUNIT_ASSERT_TRUE(test, attached());
}

static void play(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, act(&script.o), 0);
	end(&script.o);
	act_over();
	expect_once(test, "nothing", 0);
}

/* Undisturbed, twice, and gone again. */
static void script_runs(struct kunit *test)
{
	unsigned int live;

	plug(test);
	live = lr_hca_live(script.h);
	play(test);
	KUNIT_EXPECT_EQ(test, lr_hca_live(script.h), live);
	play(test);
	unbind(test, "nothing", 0);
	expect_clean(test, "nothing", 0);
}

/* Pulled out at a command of the script; the owner goes on with what it has. */
static void lost_at_each_command(struct kunit *test)
{
	unsigned int nth;
	bool more = true;

	for (nth = 1; more && nth < MOST; nth += every) {
		u64 before;
		int err;

		plug(test);
		before = lr_hca_count(script.h, "faults");
		set_rule(nth, "gone");
		err = act(&script.o);
		end(&script.o);
		act_over();
		more = lr_hca_count(script.h, "faults") != before;
		KUNIT_EXPECT_TRUE_MSG(test, more || !err, "no fault, but %d at %u", err, nth);
		expect_once(test, "gone", nth);
		lr_hca_unplug(script.h);
		KUNIT_EXPECT_EQ_MSG(test, lr_hca_violations(script.h), 0ULL, "gone at %u", nth);
		lr_hca_free(script.h);
	}
	KUNIT_EXPECT_GT(test, nth, 30U);
	KUNIT_EXPECT_LT(test, nth, (unsigned int)MOST);
}

/*
 * What goes wrong, at which commands.  Those that are never answered cost ten seconds of virtual
 * time each, and a test that takes two minutes counts as hung.
 */
static const struct trouble {
	const char *action;
	unsigned int first;
	unsigned int last;
} troubles[] = {
	{ "status=0x1", 1, MOST },
	{ "silent", 1, 8 }, { "silent", 9, 16 }, { "silent", 17, 24 }, { "silent", 25, 32 },
	{ "silent", 33, 40 }, { "silent", 41, 48 }, { "silent", 49, 56 }, { "silent", 57, 64 },
};

static void trouble_desc(const struct trouble *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s from %u", t->action, t->first);
}

KUNIT_ARRAY_PARAM(trouble, troubles, trouble_desc);

/* A command of the script fails or is never answered; the HCA stays, or comes back by itself. */
static void script_goes_wrong(struct kunit *test)
{
	const struct trouble *t = test->param_value;
	const char *action = t->action;
	bool more = true;
	unsigned int nth;

	plug(test);
	for (nth = t->first; more && nth <= t->last; nth += every) {
		u64 before = lr_hca_count(script.h, "faults");
		int err;

		KUNIT_ASSERT_TRUE(test, attached());
		set_rule(nth, action);
		err = act(&script.o);
		end(&script.o);
		act_over();
		more = struck(before);
		KUNIT_EXPECT_TRUE_MSG(test, more || !err, "no fault, but %d at %u", err, nth);
		expect_once(test, action, nth);
		ib_hca_settle(script.attachment->device->hca);
		KUNIT_EXPECT_EQ_MSG(test, lr_hca_violations(script.h), 0ULL, "%s at %u", action,
				    nth);
	}
	KUNIT_EXPECT_GT(test, nth, min(t->last, 30U));
	KUNIT_ASSERT_TRUE(test, attached());
	play(test);
	unbind(test, action, nth);
	expect_clean(test, action, nth);
}

/* The objects are still there when the driver is unbound, and one command of that goes wrong. */
static void removal_goes_wrong(struct kunit *test)
{
	const struct trouble *t = test->param_value;
	const char *action = t->action;
	bool more = true;
	unsigned int nth;

	plug(test);
	for (nth = t->first; more && nth <= t->last; nth += every) {
		u64 before = lr_hca_count(script.h, "faults");

		KUNIT_ASSERT_EQ(test, act(&script.o), 0);
		act_over();
		set_rule(nth, action);
		unbind(test, action, nth);
		more = struck(before);
		/* Those that nobody drained are dropped with their queue, or come once. */
		for (unsigned int i = 0; i < RECVS; i++)
			KUNIT_EXPECT_LE(test, script.o.recvs[i].done, 1);
		end(&script.o);
		expect_clean(test, action, nth);
		bind(test);
	}
	KUNIT_EXPECT_GT(test, nth, min(t->last, 30U));
	play(test);
	unbind(test, action, nth);
	expect_clean(test, action, nth);
}

/*
 * The hardware keeps the regions, since windows are bound to them, so it says.  That alone is no
 * loss; but the device that leaves with them leaves by a reset, and nothing is left in the HCA.
 */
static void regions_that_stay_end_with_a_reset(struct kunit *test)
{
	struct ib_hca *hca;

	plug(test);
	hca = script.attachment->device->hca;
	ib_hca_get(hca);
	KUNIT_EXPECT_EQ(test, act(&script.o), 0);
	lr_hca_fault(script.h, "cmd:0xf times=0 status=0x21");
	end(&script.o);
	act_over();
	lr_hca_fault(script.h, "clear");
	KUNIT_EXPECT_FALSE(test, ib_hca_is_gone(hca));
	KUNIT_EXPECT_GT(test, lr_hca_live(script.h), 0U);
	unbind(test, "regions that stay", 1);
	KUNIT_EXPECT_TRUE(test, ib_hca_is_gone(hca));
	ib_hca_put(hca);
	expect_clean(test, "regions that stay", 1);
	bind(test);
	play(test);
	unbind(test, "regions that stay", 2);
	expect_clean(test, "regions that stay", 2);
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE(script_runs),
	KUNIT_CASE(lost_at_each_command),
	KUNIT_CASE(regions_that_stay_end_with_a_reset),
	KUNIT_CASE_PARAM(script_goes_wrong, trouble_gen_params),
	KUNIT_CASE_PARAM(removal_goes_wrong, trouble_gen_params),
	{}
};

static struct kunit_suite verbs_suite = {
	.name = "mlx4_verbs",
	.init = verbs_init,
	.exit = lr_test_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(verbs_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("mlx4_ib on the emulated HCA");
