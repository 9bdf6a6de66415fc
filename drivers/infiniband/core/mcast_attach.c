// SPDX-License-Identifier: GPL-2.0-only
/*
 * QPs in multicast groups (IBA 10.5.2).
 *
 * The count for (QP, group) is exact: the hardware hears of the first attach and of the last
 * detach. What is left is detached when the QP is destroyed.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "objects.h"

/* Multicast LIDs (IBA 4.1.2). */
#define IB_MLID_FIRST 0xc000
#define IB_MLID_LAST 0xfffe

/**
 * struct ib_qp_group - a group that a QP is attached to
 * @node: in &ib_qp.groups
 * @gid: MGID
 * @lid: MLID
 * @count: attaches minus detaches
 */
struct ib_qp_group {
	struct list_head node;
	union ib_gid gid;
	u16 lid;
	unsigned int count;
};

static struct ib_qp_group *ib_qp_find_group(struct ib_qp *qp, const union ib_gid *gid, u16 lid)
{
	struct ib_qp_group *group;

	lockdep_assert_held(&qp->lock);
	list_for_each_entry(group, &qp->groups, node)
		if (group->lid == lid && !memcmp(&group->gid, gid, sizeof(*gid)))
			return group;
	return NULL;
}

/* A multicast GID begins with 0xff (IBA 4.1.1). */
static bool ib_qp_may_attach(const struct ib_qp *qp, const union ib_gid *gid, u16 lid)
{
	return qp->type == IB_QPT_UD && gid->raw[0] == 0xff && lid >= IB_MLID_FIRST &&
	       lid <= IB_MLID_LAST;
}

static int ib_qp_attach_first(struct ib_qp *qp, const union ib_gid *gid, u16 lid)
{
	struct ib_qp_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	int err;

	if (!group)
		return -ENOMEM;
	err = ib_object_call(&qp->object, ops->attach_mcast, qp, gid, lid);
	if (err) {
		kfree(group);
		return err;
	}
	group->gid = *gid;
	group->lid = lid;
	group->count = 1;
	list_add_tail(&group->node, &qp->groups);
	return 0;
}

int ib_qp_attach(struct ib_qp *qp, const union ib_gid *gid, u16 lid)
{
	struct ib_qp_group *group;
	int err = 0;

	if (!ib_qp_may_attach(qp, gid, lid))
		return -EINVAL;
	mutex_lock(&qp->lock);
	group = ib_qp_find_group(qp, gid, lid);
	if (group)
		group->count++;
	else
		err = ib_qp_attach_first(qp, gid, lid);
	mutex_unlock(&qp->lock);
	return err;
}
EXPORT_SYMBOL_GPL(ib_qp_attach);

/* A hardware that is gone has detached it already. */
static int ib_qp_detach_last(struct ib_qp *qp, struct ib_qp_group *group)
{
	int err = ib_object_call(&qp->object, ops->detach_mcast, qp, &group->gid, group->lid);

	if (err && err != -EIO && err != -ENODEV)
		return err;
	list_del(&group->node);
	kfree(group);
	return 0;
}

int ib_qp_detach(struct ib_qp *qp, const union ib_gid *gid, u16 lid)
{
	struct ib_qp_group *group;
	int err = 0;

	mutex_lock(&qp->lock);
	group = ib_qp_find_group(qp, gid, lid);
	if (!group)
		err = -EINVAL;
	else if (group->count > 1)
		group->count--;
	else
		err = ib_qp_detach_last(qp, group);
	mutex_unlock(&qp->lock);
	return err;
}
EXPORT_SYMBOL_GPL(ib_qp_detach);

/**
 * ib_qp_leave_groups() - detach a QP that is being destroyed from what it is attached to
 * @ops: the provider's; the caller is inside the gate
 * @qp: the QP
 */
void ib_qp_leave_groups(const struct ib_verbs_ops *ops, struct ib_qp *qp)
{
	struct ib_qp_group *group;

	mutex_lock(&qp->lock);
	list_for_each_entry(group, &qp->groups, node)
		ops->detach_mcast(qp, &group->gid, group->lid);
	mutex_unlock(&qp->lock);
}

/** ib_qp_free_groups() - forget them, with the QP's memory */
void ib_qp_free_groups(struct ib_qp *qp)
{
	struct ib_qp_group *group, *next;

	list_for_each_entry_safe(group, next, &qp->groups, node)
		kfree(group);
}
