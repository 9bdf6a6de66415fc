/* SPDX-License-Identifier: GPL-2.0-only */
/* Directed routes; see smi.c. */
#ifndef IB_CORE_SMI_H
#define IB_CORE_SMI_H

#include <linux/types.h>

/**
 * enum ib_smi - what is to be done with an SMP
 * @IB_SMI_DROP: it makes no sense here
 * @IB_SMI_WIRE: send it by QP0
 * @IB_SMI_DEVICE: it is for this port: the device answers, or an agent
 * @IB_SMI_AGENT: it is an answer that has come home
 */
enum ib_smi {
	IB_SMI_DROP,
	IB_SMI_WIRE,
	IB_SMI_DEVICE,
	IB_SMI_AGENT,
};

enum ib_smi ib_smi_send(u8 *mad, u8 port);
enum ib_smi ib_smi_receive(u8 *mad, u8 port);

#endif /* IB_CORE_SMI_H */
