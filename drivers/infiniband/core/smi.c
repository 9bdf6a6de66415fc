// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directed routes, as far as a channel adapter has to do with them (IBA 14.2.2).
 *
 * An SMP carries the list of ports it leaves by, a count of hops and a pointer into the list.  On
 * the way out the pointer grows from 0 to count + 1, on the way back (bit D) it shrinks to 0.  The
 * way at either end may be routed by LID in part (DrSLID, DrDLID); a host sends neither.  A host is
 * an end of every route: it sends the first hop, receives the last, and forwards nothing.
 */
#include <ib/compat.h>
#include <ib/mad_defs.h>

#include "smi.h"

static bool smi_is_permissive(const u8 *mad, u32 field)
{
	return ib_get(mad, field) == IB_LID_PERMISSIVE;
}

static enum ib_smi smi_send_out(u8 *mad, u8 port)
{
	unsigned int pointer = ib_get(mad, IB_SMP_HOP_POINTER);
	unsigned int count = ib_get(mad, IB_SMP_HOP_COUNT);

	if (!smi_is_permissive(mad, IB_SMP_DR_SLID))
		return IB_SMI_WIRE;
	if (count && !pointer) {
		ib_put(mad, IB_SMP_HOP_POINTER, 1);
		return mad[IB_SMP_INITIAL_PATH + 1] == port ? IB_SMI_WIRE : IB_SMI_DROP;
	}
	if (pointer == count) {
		ib_put(mad, IB_SMP_HOP_POINTER, count + 1);
		return smi_is_permissive(mad, IB_SMP_DR_DLID) ? IB_SMI_DEVICE : IB_SMI_DROP;
	}
	return pointer == count + 1 ? IB_SMI_DEVICE : IB_SMI_DROP;
}

static enum ib_smi smi_send_back(u8 *mad, u8 port)
{
	unsigned int pointer = ib_get(mad, IB_SMP_HOP_POINTER);
	unsigned int count = ib_get(mad, IB_SMP_HOP_COUNT);

	if (!smi_is_permissive(mad, IB_SMP_DR_DLID))
		return IB_SMI_WIRE;
	if (count && pointer == count + 1) {
		ib_put(mad, IB_SMP_HOP_POINTER, count);
		return mad[IB_SMP_RETURN_PATH + count] == port ? IB_SMI_WIRE : IB_SMI_DROP;
	}
	if (pointer == 1) {
		ib_put(mad, IB_SMP_HOP_POINTER, 0);
		return smi_is_permissive(mad, IB_SMP_DR_SLID) ? IB_SMI_AGENT : IB_SMI_DROP;
	}
	return pointer ? IB_SMI_DROP : IB_SMI_AGENT;
}

/**
 * ib_smi_send() - an SMP by a directed route is about to be sent
 * @mad: the SMP; its hop pointer is moved
 * @port: the port
 *
 * Return: what to do.
 */
enum ib_smi ib_smi_send(u8 *mad, u8 port)
{
	if (ib_get(mad, IB_SMP_HOP_COUNT) >= IB_SMP_HOPS)
		return IB_SMI_DROP;
	return ib_get(mad, IB_SMP_D) ? smi_send_back(mad, port) : smi_send_out(mad, port);
}

static enum ib_smi smi_receive_out(u8 *mad, u8 port)
{
	unsigned int pointer = ib_get(mad, IB_SMP_HOP_POINTER);
	unsigned int count = ib_get(mad, IB_SMP_HOP_COUNT);

	if (pointer == count) {
		if (count)
			mad[IB_SMP_RETURN_PATH + count] = port;
		ib_put(mad, IB_SMP_HOP_POINTER, count + 1);
		return smi_is_permissive(mad, IB_SMP_DR_DLID) ? IB_SMI_DEVICE : IB_SMI_DROP;
	}
	return pointer == count + 1 ? IB_SMI_DEVICE : IB_SMI_DROP;
}

static enum ib_smi smi_receive_back(u8 *mad, u8 port)
{
	unsigned int pointer = ib_get(mad, IB_SMP_HOP_POINTER);
	unsigned int count = ib_get(mad, IB_SMP_HOP_COUNT);

	if (pointer == 1 && smi_is_permissive(mad, IB_SMP_DR_SLID)) {
		ib_put(mad, IB_SMP_HOP_POINTER, 0);
		return IB_SMI_AGENT;
	}
	if (!pointer)
		return IB_SMI_AGENT;
	if (count && pointer == count + 1) {
		ib_put(mad, IB_SMP_HOP_POINTER, count);
		return mad[IB_SMP_RETURN_PATH + count] == port ? IB_SMI_AGENT : IB_SMI_DROP;
	}
	return IB_SMI_DROP;
}

/**
 * ib_smi_receive() - an SMP by a directed route came in
 * @mad: the SMP; its hop pointer is moved and the port noted
 * @port: the port
 *
 * Return: IB_SMI_DROP, IB_SMI_DEVICE or IB_SMI_AGENT.
 */
enum ib_smi ib_smi_receive(u8 *mad, u8 port)
{
	if (ib_get(mad, IB_SMP_HOP_COUNT) >= IB_SMP_HOPS)
		return IB_SMI_DROP;
	return ib_get(mad, IB_SMP_D) ? smi_receive_back(mad, port) : smi_receive_out(mad, port);
}
