// SPDX-License-Identifier: GPL-2.0-only
/* The user of user.h. */
#include <linux/module.h>
#include <linux/slab.h>

#include "user.h"

/* What is left open is closed when the HCA has been removed: that has to be right as well. */
static void user_end(void *arg)
{
	user_close(arg);
}

static void wire_clear(void *arg)
{
	vfake_wire_clear(arg);
}

struct bench *user_bench(struct kunit *test, const char *name)
{
	struct bench *b = bench_create(test, name);
	int port;

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, wire_clear, &b->vf), 0);
	b->vf.mads = true;
	for (port = 0; port < VFAKE_PORTS; port++)
		b->vf.port[port].cap_mask &= ~IB_PORT_CAP_SM;
	bench_bind(b);
	return b;
}

/* The reference is given back when the test ends. */
static void user_put_node(void *arg)
{
	put_device(arg);
}

struct device *user_node(struct bench *b, const char *name)
{
	struct device *node = device_find_child_by_name(b->fake->parent, name);

	if (!node)
		return NULL;
	KUNIT_ASSERT_EQ(b->test, kunit_add_action_or_reset(b->test, user_put_node, node), 0);
	return node;
}

/* Open a node into @uf, which is zeroed; nothing closes it but user_close(). */
int user_attach(struct user_file *uf, struct device *node, unsigned int flags)
{
	struct ib_cdev *cdev = container_of(node, struct ib_cdev, dev);
	int err;

	uf->inode.i_cdev = &cdev->cdev;
	uf->filp.f_flags = flags;
	uf->filp.f_op = cdev->cdev.ops;
	/* An open file keeps its node, as it does by way of the kernel's char devices. */
	get_device(node);
	err = uf->filp.f_op->open(&uf->inode, &uf->filp);
	if (err)
		put_device(node);
	uf->open = !err;
	return err;
}

int user_open(struct kunit *test, struct device *node, unsigned int flags, struct user_file **out)
{
	struct user_file *uf = kunit_kzalloc(test, sizeof(*uf), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, uf);
	err = user_attach(uf, node, flags);
	if (err)
		return err;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, user_end, uf), 0);
	*out = uf;
	return 0;
}

struct user_file *user_must_open(struct bench *b, const char *name, unsigned int flags)
{
	struct device *node = user_node(b, name);
	struct user_file *uf = NULL;

	KUNIT_ASSERT_NOT_NULL(b->test, node);
	KUNIT_ASSERT_EQ(b->test, user_open(b->test, node, flags, &uf), 0);
	return uf;
}

int user_close(struct user_file *uf)
{
	struct ib_cdev *cdev = container_of(uf->inode.i_cdev, struct ib_cdev, cdev);
	int err;

	if (!uf->open)
		return -EBADF;
	uf->open = false;
	err = uf->filp.f_op->release(&uf->inode, &uf->filp);
	put_device(&cdev->dev);
	return err;
}

ssize_t user_read(struct user_file *uf, void *data, size_t size)
{
	struct kiocb iocb = { .ki_filp = &uf->filp };
	struct kvec vec = { data, size };
	struct iov_iter to;

	iov_iter_kvec(&to, ITER_DEST, &vec, 1, size);
	return uf->filp.f_op->read_iter(&iocb, &to);
}

ssize_t user_write(struct user_file *uf, const void *data, size_t size)
{
	struct kiocb iocb = { .ki_filp = &uf->filp };
	struct kvec vec = { (void *)data, size };
	struct iov_iter from;

	iov_iter_kvec(&from, ITER_SOURCE, &vec, 1, size);
	return uf->filp.f_op->write_iter(&iocb, &from);
}

__poll_t user_poll(struct user_file *uf)
{
	return uf->filp.f_op->poll(&uf->filp, NULL);
}

/* Return: the id of the new agent, or an error. */
int user_register(struct user_file *uf, u8 class, u8 version, u64 methods)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = !ib_class_is_smp(class),
		.mgmt_class = class,
		.mgmt_class_version = version,
		.method_mask = { methods },
	};
	int err = umad_calls.register_new(user_umad(uf), &req);

	return err ?: req.id;
}

/* A MAD to LID 7, QP 1 (or 0), that is answered within a tenth of a second or not at all. */
void user_fill(struct user_mad *m, u32 agent, u8 class, u8 method, u64 tid)
{
	memset(m, 0, sizeof(*m));
	m->hdr.id = agent;
	m->hdr.timeout_ms = 100;
	m->hdr.lid = cpu_to_be16(7);
	m->hdr.qpn = cpu_to_be32(!ib_class_is_smp(class));
	ib_put(m->mad, IB_MAD_BASE, 1);
	ib_put(m->mad, IB_MAD_CLASS, class);
	ib_put(m->mad, IB_MAD_CLASS_VERSION, class == IB_CLASS_SA ? 2 : 1);
	ib_put(m->mad, IB_MAD_METHOD, method);
	ib_put(m->mad, IB_MAD_TID, tid);
	ib_put(m->mad, IB_MAD_ATTRIBUTE, IB_ATTR_CLASS_PORT_INFO);
}

/* Wait for the next MAD that leaves; false: none does, or by the other QP. */
bool wire_sent(struct bench *b, u8 qpn, u8 *mad)
{
	struct vfake_mad *m;
	bool right;

	LR_WAIT(!list_empty_careful(&b->vf.wire), 5000);
	m = vfake_take(&b->vf);
	if (!m)
		return false;
	right = m->qpn == qpn;
	memcpy(mad, m->mad, IB_MAD_SIZE);
	kfree(m);
	return right;
}

/* A MAD arrives at the first port. */
void wire_send(struct bench *b, u8 qpn, const u8 *mad, u16 slid, u32 src_qp, bool grh)
{
	struct ib_wc wc = {
		.src_qp = src_qp,
		.slid = slid,
		.port = 1,
		.flags = grh ? IB_WC_GRH : 0,
	};
	u8 packet[IB_GRH_SIZE + IB_MAD_SIZE] = {};

	ib_put(packet, IB_GRH_HOP_LIMIT, 1);
	memcpy(packet + IB_GRH_DGID, b->vf.gids[0][0].raw, sizeof(union ib_gid));
	memcpy(packet + IB_GRH_SIZE, mad, IB_MAD_SIZE);
	KUNIT_EXPECT_TRUE(b->test, vfake_deliver(&b->vf, &wc, qpn,
						 grh ? packet : packet + IB_GRH_SIZE));
}

/* What is sent does not complete for the time being. */
void wire_hold(struct bench *b, bool hold)
{
	if (hold)
		b->vf.hold = true;
	else
		vfake_release_held(&b->vf);
}
