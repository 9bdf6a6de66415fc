// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast groups: which QPs get the packets of an MGID.
 *
 * The HCA hashes an MGID to an entry in the first half of its table and follows links from there
 * into the second half until it meets the MGID.  Nobody else writes that table, so the driver keeps
 * what stands there in memory and never asks: a chain for each hash, in the order of the links, the
 * first of them in the hashed half.  An entry is written before anything points to it, and nothing
 * points to one that goes: a packet that comes meanwhile finds a chain as it was or as it will be.
 */
#include <linux/slab.h>

#include "ib_qp.h"

#define MGID_HASH_BITS	GENMASK(15, 0)	/* of the answer of MGID_HASH */

/**
 * struct mlx4_ib_mcg - an entry of the table
 * @node: in &mlx4_ib_dev.groups, entries of one hash behind each other in the order of their links
 * @hash: the hash of its MGID
 * @index: where it stands
 * @gid: MGID
 * @count: members
 * @members: a word for each, as the HCA has it
 */
struct mlx4_ib_mcg {
	struct list_head node;
	u32 hash;
	u32 index;
	union ib_gid gid;
	u32 count;
	__be32 members[];
};

static u32 mcg_room(const struct mlx4_ib_dev *dev)
{
	return dev->core->caps.mcg_qps;
}

/* The next one of the same hash. */
static struct mlx4_ib_mcg *mcg_next(struct mlx4_ib_dev *dev, struct mlx4_ib_mcg *mcg)
{
	struct mlx4_ib_mcg *next;

	if (list_is_last(&mcg->node, &dev->groups))
		return NULL;
	next = list_next_entry(mcg, node);
	return next->hash == mcg->hash ? next : NULL;
}

static int mcg_write(struct mlx4_ib_dev *dev, u32 index, const struct mlx4_ib_mcg *mcg, u32 next)
{
	struct mlx4_call call = { .op = MLX4_WRITE_MCG, .in_mod = index };
	int err;

	call.in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	if (mcg) {
		mlx4_put(call.in->buf, MLX4_MCG_NEXT, next);
		mlx4_put(call.in->buf, MLX4_MCG_MEMBERS, mcg->count);
		memcpy(call.in->buf + MLX4_MCG_GID, mcg->gid.raw, sizeof(mcg->gid.raw));
		memcpy(call.in->buf + MLX4_MCG_LIST, mcg->members,
		       mcg->count * sizeof(mcg->members[0]));
	}
	err = mlx4_cmd(dev->core, &call);
	mlx4_mailbox_free(dev->core, call.in);
	return err;
}

/* As it is now, its link included. */
static int mcg_update(struct mlx4_ib_dev *dev, struct mlx4_ib_mcg *mcg)
{
	struct mlx4_ib_mcg *next = mcg_next(dev, mcg);

	return mcg_write(dev, mcg->index, mcg, next ? next->index : 0);
}

static int mcg_hash(struct mlx4_ib_dev *dev, const union ib_gid *gid, u32 *hash)
{
	struct mlx4_call call = { .op = MLX4_MGID_HASH };
	int err;

	call.in = mlx4_mailbox_alloc(dev->core);
	if (IS_ERR(call.in))
		return PTR_ERR(call.in);
	memcpy(call.in->buf, gid->raw, sizeof(gid->raw));
	err = mlx4_cmd(dev->core, &call);
	mlx4_mailbox_free(dev->core, call.in);
	*hash = call.result & MGID_HASH_BITS & (dev->core->icm.mcg_hash - 1);
	return err;
}

static struct mlx4_ib_mcg *mcg_find(struct mlx4_ib_dev *dev, const union ib_gid *gid)
{
	struct mlx4_ib_mcg *mcg;

	list_for_each_entry(mcg, &dev->groups, node)
		if (!memcmp(&mcg->gid, gid, sizeof(*gid)))
			return mcg;
	return NULL;
}

/* The last one of the chain of a hash. */
static struct mlx4_ib_mcg *mcg_tail(struct mlx4_ib_dev *dev, u32 hash)
{
	struct mlx4_ib_mcg *mcg, *tail = NULL;

	list_for_each_entry(mcg, &dev->groups, node)
		if (mcg->hash == hash)
			tail = mcg;
	return tail;
}

/* A place in the second half. */
static int overflow_take(struct mlx4_ib_dev *dev, u32 *index)
{
	const struct mlx4_table *table = &dev->core->icm.tables[MLX4_MCG];
	int got, err;

	got = ida_alloc_range(&dev->mcgs, dev->core->icm.mcg_hash, table->count - 1, GFP_KERNEL);
	if (got < 0)
		return got == -ENOSPC ? -ENOMEM : got;
	err = mlx4_icm_get(dev->core, MLX4_MCG, got, 1);
	if (err)
		ida_free(&dev->mcgs, got);
	*index = got;
	return err;
}

static void overflow_put(struct mlx4_ib_dev *dev, u32 index)
{
	mlx4_icm_put(dev->core, MLX4_MCG, index, 1);
	ida_free(&dev->mcgs, index);
}

static struct mlx4_ib_mcg *mcg_new(struct mlx4_ib_dev *dev, const union ib_gid *gid, u32 hash)
{
	struct mlx4_ib_mcg *mcg = kzalloc(struct_size(mcg, members, mcg_room(dev)), GFP_KERNEL);

	if (!mcg)
		return NULL;
	mcg->hash = hash;
	mcg->index = hash;
	mcg->gid = *gid;
	return mcg;
}

/* An entry that nothing points to any more. */
static void mcg_clear(struct mlx4_ib_dev *dev, u32 index)
{
	/* Where the HCA still sees members it keeps the memory; the place is lost. */
	if (!mcg_write(dev, index, NULL, 0))
		overflow_put(dev, index);
}

/* The first member of a group brings its entry: behind @tail, or as the first of its chain. */
static int mcg_add(struct mlx4_ib_dev *dev, struct mlx4_ib_mcg *mcg, struct mlx4_ib_mcg *tail)
{
	int err;

	if (tail) {
		err = overflow_take(dev, &mcg->index);
		if (err)
			return err;
	}
	err = mcg_write(dev, mcg->index, mcg, 0);
	if (!err && tail)
		err = mcg_write(dev, tail->index, tail, mcg->index);
	if (!err) {
		list_add(&mcg->node, tail ? &tail->node : &dev->groups);
		return 0;
	}
	if (tail)
		mcg_clear(dev, mcg->index);
	return err;
}

static int group_add(struct mlx4_ib_dev *dev, const union ib_gid *gid, __be32 member)
{
	struct mlx4_ib_mcg *mcg;
	u32 hash;
	int err;

	err = mcg_hash(dev, gid, &hash);
	if (err)
		return err;
	mcg = mcg_new(dev, gid, hash);
	if (!mcg)
		return -ENOMEM;
	mcg->members[mcg->count++] = member;
	err = mcg_add(dev, mcg, mcg_tail(dev, hash));
	if (err)
		kfree(mcg);
	return err;
}

static int attach(struct mlx4_ib_dev *dev, const union ib_gid *gid, __be32 member)
{
	struct mlx4_ib_mcg *mcg = mcg_find(dev, gid);
	int err;

	if (!mcg)
		return group_add(dev, gid, member);
	if (mcg->count == mcg_room(dev))
		return -ENOMEM;
	mcg->members[mcg->count++] = member;
	err = mcg_update(dev, mcg);
	if (err)
		mcg->count--;
	return err;
}

/* The last member has gone. */
static int mcg_del(struct mlx4_ib_dev *dev, struct mlx4_ib_mcg *mcg)
{
	struct mlx4_ib_mcg *next = mcg_next(dev, mcg), *after, *before;
	int err;

	if (mcg->index != mcg->hash) {
		before = list_prev_entry(mcg, node);
		err = mcg_write(dev, before->index, before, next ? next->index : 0);
	} else if (next) {
		/* The head of a chain cannot go: the second one moves there. */
		after = mcg_next(dev, next);
		err = mcg_write(dev, mcg->index, next, after ? after->index : 0);
		if (!err)
			swap(mcg->index, next->index);
	} else {
		err = mcg_write(dev, mcg->index, NULL, 0);
	}
	if (err)
		return err;
	list_del(&mcg->node);
	if (mcg->index != mcg->hash)
		mcg_clear(dev, mcg->index);
	kfree(mcg);
	return 0;
}

static int detach(struct mlx4_ib_dev *dev, const union ib_gid *gid, u32 number)
{
	struct mlx4_ib_mcg *mcg = mcg_find(dev, gid);
	__be32 member;
	u32 i;
	int err;

	for (i = 0; mcg && i < mcg->count; i++)
		if (mlx4_get(&mcg->members[i], MLX4_MCG_QPN) == number)
			break;
	if (!mcg || i == mcg->count)
		return -EINVAL;
	if (mcg->count == 1)
		return mcg_del(dev, mcg);
	member = mcg->members[i];
	mcg->members[i] = mcg->members[--mcg->count];
	err = mcg_update(dev, mcg);
	if (err) {
		mcg->members[mcg->count++] = mcg->members[i];
		mcg->members[i] = member;
	}
	return err;
}

int mlx4_ib_attach_mcast(struct ib_qp *ib, const union ib_gid *gid, u16 lid)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib);
	__be32 member = 0;
	int err;

	mlx4_put(&member, MLX4_MCG_QPN, qp->number);
	mlx4_put(&member, MLX4_MCG_NO_LOOPBACK,
		 !!(qp->create_flags & IB_QP_CREATE_BLOCK_LOOPBACK));
	mutex_lock(&dev->mcg_lock);
	err = attach(dev, gid, member);
	if (!err)
		qp->groups++;
	mutex_unlock(&dev->mcg_lock);
	return err;
}

int mlx4_ib_detach_mcast(struct ib_qp *ib, const union ib_gid *gid, u16 lid)
{
	struct mlx4_ib_dev *dev = mlx4_ib_dev_of(&ib->object);
	struct mlx4_ib_qp *qp = mlx4_ib_qp(ib);
	int err;

	mutex_lock(&dev->mcg_lock);
	err = detach(dev, gid, qp->number);
	if (!err)
		qp->groups--;
	mutex_unlock(&dev->mcg_lock);
	return err;
}

void mlx4_ib_mcast_init(struct mlx4_ib_dev *dev)
{
	mutex_init(&dev->mcg_lock);
	INIT_LIST_HEAD(&dev->groups);
	ida_init(&dev->mcgs);
}

void mlx4_ib_mcast_exit(struct mlx4_ib_dev *dev)
{
	struct mlx4_ib_mcg *mcg, *next;

	list_for_each_entry_safe(mcg, next, &dev->groups, node) {
		list_del(&mcg->node);
		kfree(mcg);
	}
	ida_destroy(&dev->mcgs);
}
