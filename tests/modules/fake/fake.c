// SPDX-License-Identifier: GPL-2.0-only
/*
 * lastref_fake: HCAs that are nothing but software, for what can only be seen from user space:
 * names, sysfs, netlink. Each is a platform device; binding and unbinding its driver is what
 * plugging and unplugging is for a card. A client makes a few objects, so that there is something
 * to list.
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include <ib/client.h>
#include <ib/compat.h>

#include "fake_verbs.h"
#include "files.h"

#define FAKE_MAX 4

static unsigned int hcas = 1;
module_param(hcas, uint, 0444);
MODULE_PARM_DESC(hcas, "how many HCAs there are");

static unsigned int forget;
module_param(forget, uint, 0644);
MODULE_PARM_DESC(forget, "the client leaves its objects behind");

/**
 * struct fake_card - a card
 * @hca: the framework's
 * @vf: its provider
 */
struct fake_card {
	struct ib_hca *hca;
	struct vfake vf;
};

static int fake_start(struct ib_hca *hca)
{
	return 0;
}

static void fake_nothing(struct ib_hca *hca)
{
}

static int fake_quiet(struct ib_hca *hca)
{
	return 0;
}

static void fake_release(struct ib_hca *hca, bool quiet)
{
}

static const struct ib_hca_ops fake_hca_ops = {
	.owner = THIS_MODULE,
	.start = fake_start,
	.stop = fake_nothing,
	.abort = fake_nothing,
	.quiet = fake_quiet,
	.reset = fake_quiet,
	.release = fake_release,
};

static int fake_probe(struct platform_device *pdev)
{
	struct fake_card *card = kzalloc(sizeof(*card), GFP_KERNEL);
	int err;

	if (!card)
		return -ENOMEM;
	vfake_init(&card->vf);
	card->hca = ib_hca_alloc(&pdev->dev, &fake_hca_ops, 0);
	if (IS_ERR(card->hca)) {
		err = PTR_ERR(card->hca);
		goto free_card;
	}
	err = ib_hca_add(card->hca);
	if (err)
		goto put_hca;
	err = ib_provider_bind(card->hca, &vfake_provider, &card->vf);
	if (err)
		goto remove_hca;
	platform_set_drvdata(pdev, card);
	return 0;

remove_hca:
	ib_hca_remove(card->hca);
put_hca:
	ib_hca_put(card->hca);
free_card:
	kfree(card);
	return err;
}

/* What the provider has seen that must not be is a warning, which fails the scenario. */
static void fake_detach(struct platform_device *pdev)
{
	struct fake_card *card = platform_get_drvdata(pdev);

	ib_hca_remove(card->hca);
	ib_provider_unbind(card->hca);
	WARN_ON(atomic_read(&card->vf.breaches) || atomic_read(&card->vf.buffers));
	ib_hca_put(card->hca);
	kfree(card);
}

/* The value of remove has gone in newer kernels. */
#if IB_KERNEL_6_12
#define fake_remove fake_detach
#else
static int fake_remove(struct platform_device *pdev)
{
	fake_detach(pdev);
	return 0;
}
#endif

static struct platform_driver fake_driver = {
	.driver.name = "lastref_fake",
	.probe = fake_probe,
	.remove = fake_remove,
};

/**
 * struct fake_set - what the client makes on a device
 * @pd: PD
 * @cq: CQ
 * @qp: QP
 */
struct fake_set {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
};

static int fake_make(struct ib_attachment *attachment, struct fake_set *set)
{
	struct ib_cq_init cq = { .cqe = 64, .context = IB_CQ_WORKQUEUE };
	struct ib_qp_init qp = { .type = IB_QPT_UD, .cap = { .max_send_wr = 4 } };

	set->pd = ib_pd_create(attachment, NULL);
	if (IS_ERR(set->pd))
		return PTR_ERR(set->pd);
	set->cq = ib_cq_create(attachment, &cq, NULL);
	if (IS_ERR(set->cq)) {
		ib_pd_destroy(set->pd);
		return PTR_ERR(set->cq);
	}
	qp.send_cq = set->cq;
	qp.recv_cq = set->cq;
	set->qp = ib_qp_create(attachment, set->pd, &qp, NULL);
	if (!IS_ERR(set->qp))
		return 0;
	ib_cq_destroy(set->cq);
	ib_pd_destroy(set->pd);
	return PTR_ERR(set->qp);
}

static int fake_add_one(struct ib_attachment *attachment)
{
	struct fake_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	int err;

	if (!set)
		return -ENOMEM;
	err = fake_make(attachment, set);
	if (err)
		kfree(set);
	else
		ib_attachment_set_context(attachment, set);
	return err;
}

static void fake_remove_one(struct ib_attachment *attachment, enum ib_remove_reason reason)
{
	struct fake_set *set = ib_attachment_context(attachment);

	if (forget)
		return;
	ib_qp_destroy(set->qp);
	ib_cq_destroy(set->cq);
	ib_pd_destroy(set->pd);
}

static void fake_free(void *set)
{
	kfree(set);
}

static struct ib_client fake_client = {
	.name = "fake_client",
	.owner = THIS_MODULE,
	.add_one = fake_add_one,
	.remove_one = fake_remove_one,
	.free = fake_free,
};

static struct platform_device *fake_devices[FAKE_MAX];

static void fake_unplug(void)
{
	unsigned int i;

	for (i = 0; i < FAKE_MAX; i++)
		if (!IS_ERR_OR_NULL(fake_devices[i]))
			platform_device_unregister(fake_devices[i]);
}

static int __init fake_module_init(void)
{
	unsigned int i;
	int err;

	err = ib_client_register(&fake_client);
	if (err)
		return err;
	err = files_register();
	if (err)
		goto leave;
	err = platform_driver_register(&fake_driver);
	if (err)
		goto leave_files;
	for (i = 0; i < min_t(unsigned int, hcas, FAKE_MAX); i++)
		fake_devices[i] = platform_device_register_simple("lastref_fake", i, NULL, 0);
	return 0;

leave_files:
	files_unregister();
leave:
	ib_client_unregister(&fake_client);
	return err;
}

static void __exit fake_module_exit(void)
{
	fake_unplug();
	platform_driver_unregister(&fake_driver);
	files_unregister();
	ib_client_unregister(&fake_client);
}

module_init(fake_module_init);
module_exit(fake_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("HCAs in software, for tests of ib_core from user space");
