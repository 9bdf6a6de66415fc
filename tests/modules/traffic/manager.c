// SPDX-License-Identifier: GPL-2.0-only
/*
 * The subnet manager of two ports that are cabled to each other: all it has to do is to set each
 * port's own PortInfo, by the agent in the HCA, without a packet (IBA 14.2.5.6).
 */
#include <linux/string.h>

#include <ib/compat.h>

#include "traffic.h"

#define MAD_SIZE	256
#define SMP_DATA	64
#define ATTR_PORT_INFO	0x15
#define METHOD_GET	1
#define METHOD_SET	2

/* Within PortInfo */
#define PI_PREFIX	8
#define PI_LID		16
#define PI_SM_LID	18
#define PI_STATE	32	/* low nibble */
#define PI_PHYS		33	/* high nibble; 0: no change */
#define PI_MTU_SM_SL	36
#define PI_MTU_MAX	41	/* low nibble */
#define PI_SUBNET	51

static int port_info(struct traffic_port *port, u8 method, u8 *info)
{
	struct ib_device *device = traffic_device(port);
	enum ib_mad_result result;
	u8 mad[MAD_SIZE] = {}, answer[MAD_SIZE];
	struct ib_mad_request request = {
		.mad = mad, .port = port->number,
		.flags = IB_MAD_IGNORE_MKEY | IB_MAD_IGNORE_BKEY,
	};
	int err;

	mad[0] = 1;
	mad[1] = 1;
	mad[2] = 1;
	mad[3] = method;
	put_unaligned_be16(ATTR_PORT_INFO, mad + 16);
	put_unaligned_be32(port->number, mad + 20);
	memcpy(mad + SMP_DATA, info, 64);
	err = ib_device_enter(device);
	if (err)
		return err;
	result = device->ops->verbs->process_mad(device, &request, answer);
	ib_device_exit(device);
	if (result != IB_MAD_ANSWERED || get_unaligned_be16(answer + 4) & 0x7fff)
		return -EIO;
	memcpy(info, answer + SMP_DATA, 64);
	return 0;
}

static void set_state(struct traffic_port *port, u8 *info, enum ib_port_state state)
{
	info[PI_STATE] = (info[PI_STATE] & 0xf0) | state;
	info[PI_PHYS] &= 0x0f;
	put_unaligned_be64(IB_GID_DEFAULT_PREFIX, info + PI_PREFIX);
	put_unaligned_be16(port->lid, info + PI_LID);
	put_unaligned_be16(port->lid, info + PI_SM_LID);
	info[PI_MTU_SM_SL] = (info[PI_MTU_MAX] & 0xf) << 4;
	info[PI_SUBNET] = 18;
	port_info(port, METHOD_SET, info);
}

void traffic_port_manage(struct traffic_port *port)
{
	struct ib_port_attr attr;
	u8 info[64] = {};
	bool was = port->active;

	/* Leaving ACTIVE is an event, which the cache follows; coming up to INIT is none. */
	if (was && !ib_port_cached(traffic_device(port), port->number, &attr) &&
	    attr.state == IB_PORT_ACTIVE)
		return;
	port->active = false;
	if (port_info(port, METHOD_GET, info))
		return;
	switch (info[PI_STATE] & 0xf) {
	case IB_PORT_INIT:
		set_state(port, info, IB_PORT_ARMED);
		break;
	case IB_PORT_ARMED:
		set_state(port, info, IB_PORT_ACTIVE);
		break;
	case IB_PORT_ACTIVE:
		port->active = true;
		if (!was)
			atomic_inc(&traffic_totals.actives);
		break;
	}
}

static int qp0_to(struct traffic_port *port, enum ib_qp_state state, u32 mask)
{
	struct ib_qp_attr attr = { .state = state };

	return ib_qp_modify(port->qp0, &attr, IB_QP_STATE | mask, NULL);
}

void traffic_port_link(struct traffic_port *port)
{
	struct ib_cq_init cq_init = { .cqe = 16, .context = IB_CQ_DIRECT };
	struct ib_qp_init init = {
		.type = IB_QPT_SMI,
		.cap = { 4, 4, 1, 1, 0 },
		.port = port->number,
	};
	int err;

	port->link_done = true;
	port->qp0_cq = ib_cq_create(port->hca->attachment, &cq_init, NULL);
	if (IS_ERR(port->qp0_cq)) {
		port->qp0_cq = NULL;
		return;
	}
	init.send_cq = port->qp0_cq;
	init.recv_cq = port->qp0_cq;
	port->qp0 = ib_qp_create(port->hca->attachment, port->hca->pd, &init, NULL);
	if (IS_ERR(port->qp0)) {
		/* The MAD service has it, and the link up. */
		port->qp0 = NULL;
		return;
	}
	err = qp0_to(port, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_QKEY);
	if (!err)
		err = qp0_to(port, IB_QPS_RTR, 0);
	if (!err)
		err = qp0_to(port, IB_QPS_RTS, IB_QP_SQ_PSN);
	if (err)
		pr_err("lastref_traffic: QP0 of port %u: %d\n", port->number, err);
}

void traffic_port_unlink(struct traffic_port *port)
{
	if (port->qp0)
		ib_qp_destroy(port->qp0);
	if (port->qp0_cq)
		ib_cq_destroy(port->qp0_cq);
	port->qp0 = NULL;
	port->qp0_cq = NULL;
}
