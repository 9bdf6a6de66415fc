// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of umadN, and the agents that they make.
 *
 * An agent is in its file's table from the end of its registration until somebody takes it out; who
 * takes it out destroys it.  A system call that sends keeps its agent by a count of users, which
 * the destroyer waits for: a user is inside the MAD service and never in user memory.
 */
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "umad.h"

/**
 * umad_agent_get() - keep an agent for the length of a send
 * @file: the file
 * @id: what the user calls it
 *
 * Return: the agent, to be given back with umad_agent_put(); -EINVAL: there are no such ids; -EIO:
 * none is registered by that, or the device is gone.
 */
struct umad_agent *umad_agent_get(struct umad_file *file, u32 id)
{
	struct umad_agent *agent;

	if (id >= UMAD_AGENTS)
		return ERR_PTR(-EINVAL);
	/* The agents of a revoked file are there until remove_one comes for them. */
	if (ib_file_revoked(&file->ib))
		return ERR_PTR(-EIO);
	spin_lock(&file->lock);
	agent = file->agents[id];
	if (agent)
		agent->users++;
	spin_unlock(&file->lock);
	return agent ?: ERR_PTR(-EIO);
}

/**
 * umad_agent_put() - its mirror
 * @agent: the agent; not to be touched afterwards
 */
void umad_agent_put(struct umad_agent *agent)
{
	struct umad_file *file = agent->file;

	spin_lock(&file->lock);
	if (!--agent->users && file->agents[agent->id] != agent)
		complete(&agent->gone);
	spin_unlock(&file->lock);
}

/**
 * umad_agent_end() - take an agent out of its file and destroy it
 * @file: the file
 * @id: what the user calls it; below UMAD_AGENTS
 *
 * Every send of it has ended when this returns true.
 *
 * Context: may sleep; not in a callback of the agent.
 * Return: there was one, and it was ours to destroy.
 */
bool umad_agent_end(struct umad_file *file, u32 id)
{
	struct umad_agent *agent;
	bool users;

	spin_lock(&file->lock);
	agent = file->agents[id];
	file->agents[id] = NULL;
	users = agent && agent->users;
	spin_unlock(&file->lock);
	if (!agent)
		return false;
	if (users)
		wait_for_completion(&agent->gone);
	ib_mad_agent_destroy(agent->mad);
	kfree(agent);
	return true;
}

/* Return: the lowest free id; -ENOMEM: they are all taken; -EPIPE: the device is gone. */
static int umad_id_choose(struct umad_file *file)
{
	int id = 0;

	spin_lock(&file->lock);
	while (id < UMAD_AGENTS && file->agents[id])
		id++;
	if (file->dead || ib_file_revoked(&file->ib))
		id = -EPIPE;
	else if (id == UMAD_AGENTS)
		id = -ENOMEM;
	spin_unlock(&file->lock);
	return id;
}

/* The first registration decides upon the header for good. */
static bool umad_agent_publish(struct umad_agent *agent, bool pkey)
{
	struct umad_file *file = agent->file;
	bool old = false;

	spin_lock(&file->lock);
	file->agents[agent->id] = agent;
	if (!file->used) {
		if (pkey)
			WRITE_ONCE(file->pkey, true);
		old = !file->pkey;
		file->used = true;
	}
	spin_unlock(&file->lock);
	return old;
}

/* With the file's mutex held, so that nobody else takes the id. */
static int umad_agent_add(struct umad_file *file, struct ib_mad_agent_init *init, bool pkey)
{
	int id = umad_id_choose(file);
	struct umad_agent *agent;
	int err;

	if (id < 0)
		return id;
	agent = kzalloc(sizeof(*agent), GFP_KERNEL_ACCOUNT);
	if (!agent)
		return -ENOMEM;
	agent->file = file;
	agent->id = id;
	init_completion(&agent->gone);
	init->port = file->umad->port;
	init->recv = umad_received;
	init->context = agent;
	agent->mad = ib_mad_agent_create(file->attachment, init);
	if (IS_ERR(agent->mad)) {
		err = PTR_ERR(agent->mad);
		kfree(agent);
		return err == -ENODEV ? -EPIPE : err;
	}
	if (umad_agent_publish(agent, pkey))
		dev_info_once(&file->umad->cdev.dev, "%s cannot choose P_Keys (it is an old program)\n",
			      current->comm);
	return id;
}

static int umad_agent_make(struct umad_file *file, struct ib_mad_agent_init *init, bool pkey)
{
	int id;

	mutex_lock(&file->mutex);
	id = umad_agent_add(file, init, pkey);
	mutex_unlock(&file->mutex);
	return id;
}

/**
 * umad_register_old() - IB_USER_MAD_REGISTER_AGENT
 * @file: the file
 * @req: what the user wants; its id is filled in
 *
 * Return: 0; -EPIPE: the device is gone; -ENOMEM: a 33rd agent; or what the MAD service says.
 */
int umad_register_old(struct umad_file *file, struct ib_user_mad_reg_req *req)
{
	struct ib_mad_agent_init init = {
		.qpn = req->qpn,
		.class = req->mgmt_class,
		.rmpp = req->rmpp_version,
	};
	int id;

	if (req->qpn > 1)
		return -EINVAL;
	if (init.class) {
		init.class_version = req->mgmt_class_version;
		init.oui = req->oui[0] << 16 | req->oui[1] << 8 | req->oui[2];
		memcpy(init.methods, req->method_mask, sizeof(init.methods));
	}
	id = umad_agent_make(file, &init, false);
	if (id < 0)
		return id;
	req->id = id;
	return 0;
}

/**
 * umad_register() - IB_USER_MAD_REGISTER_AGENT2
 * @file: the file
 * @req: what the user wants; its id is filled in; for unknown flags (-EINVAL) the known ones are
 *
 * Return: as umad_register_old().
 */
int umad_register(struct umad_file *file, struct ib_user_mad_reg_req2 *req)
{
	struct ib_mad_agent_init init = {
		.qpn = req->qpn,
		.class = req->mgmt_class,
		.rmpp = req->rmpp_version,
		.user_rmpp = req->flags & IB_USER_MAD_USER_RMPP,
	};
	int id;

	if (req->qpn > 1)
		return -EINVAL;
	if (req->flags & ~IB_USER_MAD_REG_FLAGS_CAP) {
		req->flags = IB_USER_MAD_REG_FLAGS_CAP;
		return -EINVAL;
	}
	if (init.class) {
		if (req->oui >> 24)
			return -EINVAL;
		init.class_version = req->mgmt_class_version;
		init.oui = req->oui;
		bitmap_from_arr64(init.methods, req->method_mask, IB_METHODS);
	}
	id = umad_agent_make(file, &init, true);
	if (id < 0)
		return id;
	req->id = id;
	return 0;
}

/**
 * umad_unregister() - IB_USER_MAD_UNREGISTER_AGENT
 * @file: the file
 * @id: the agent
 *
 * What was received for it can still be read.
 *
 * Return: 0; -EINVAL: there is none (or no more, as the device is gone).
 */
int umad_unregister(struct umad_file *file, u32 id)
{
	if (id >= UMAD_AGENTS || ib_file_revoked(&file->ib))
		return -EINVAL;
	return umad_agent_end(file, id) ? 0 : -EINVAL;
}

/**
 * umad_enable_pkey() - IB_USER_MAD_ENABLE_PKEY
 * @file: the file
 *
 * Return: 0; -EINVAL: it has been used already.
 */
int umad_enable_pkey(struct umad_file *file)
{
	int err = -EINVAL;

	spin_lock(&file->lock);
	if (!file->used) {
		WRITE_ONCE(file->pkey, true);
		err = 0;
	}
	spin_unlock(&file->lock);
	return err;
}

/* An id that the user was not told of is taken back. */
static int umad_tell_id(struct umad_file *file, u32 id, u32 __user *where)
{
	if (!put_user(id, where))
		return 0;
	umad_agent_end(file, id);
	return -EFAULT;
}

static int umad_ioctl_register_old(struct umad_file *file, struct ib_user_mad_reg_req __user *arg)
{
	struct ib_user_mad_reg_req req;
	int err;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	err = umad_register_old(file, &req);
	return err ?: umad_tell_id(file, req.id, &arg->id);
}

static int umad_ioctl_register(struct umad_file *file, struct ib_user_mad_reg_req2 __user *arg)
{
	struct ib_user_mad_reg_req2 req;
	u32 flags;
	int err;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	flags = req.flags;
	err = umad_register(file, &req);
	if (req.flags != flags && put_user(req.flags, &arg->flags))
		return -EFAULT;
	return err ?: umad_tell_id(file, req.id, &arg->id);
}

/**
 * umad_ioctl() - of umadN
 * @filp: the kernel's
 * @command: IB_USER_MAD_*
 * @arg: its argument
 *
 * Return: 0 or an error.
 */
long umad_ioctl(struct file *filp, unsigned int command, unsigned long arg)
{
	struct umad_file *file = filp->private_data;
	void __user *user = (void __user *)arg;
	u32 id;

	switch (command) {
	case IB_USER_MAD_REGISTER_AGENT:
		return umad_ioctl_register_old(file, user);
	case IB_USER_MAD_REGISTER_AGENT2:
		return umad_ioctl_register(file, user);
	case IB_USER_MAD_UNREGISTER_AGENT:
		if (get_user(id, (u32 __user *)user))
			return -EFAULT;
		return umad_unregister(file, id);
	case IB_USER_MAD_ENABLE_PKEY:
		return umad_enable_pkey(file);
	default:
		return -ENOIOCTLCMD;
	}
}

#if IS_ENABLED(CONFIG_KUNIT)
const struct umad_calls umad_calls = {
	.register_old = umad_register_old,
	.register_new = umad_register,
	.unregister = umad_unregister,
	.enable_pkey = umad_enable_pkey,
	.to_addr = umad_hdr_to_addr,
	.of_recv = umad_hdr_of_recv,
};
EXPORT_SYMBOL_GPL(umad_calls);
#endif
