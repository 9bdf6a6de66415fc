/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fabrics of a QEMU process: by name within the process, or by the path of a
 * Unix socket that switchd serves. Call with the big lock held.
 */
#ifndef EMULATOR_QEMU_SOCKFABRIC_H
#define EMULATOR_QEMU_SOCKFABRIC_H

#include "../model/link.h"

struct Error;

/**
 * cx3_fabric_connect() - a link end for one port
 * @name: name of a fabric, made on first use; with a slash in it: the path of
 *	a switchd socket, to which this port gets a connection of its own
 * @errp: set on failure
 *
 * Return: the end, which the port detaches when it goes; NULL on failure.
 */
struct link_end *cx3_fabric_connect(const char *name, struct Error **errp);

/**
 * cx3_fabric_register_types() - call it in qemu_plugin_install()
 *
 * Adds the device type cx3-fabric: "-device cx3-fabric,id=NAME[,switch=on]
 * [,pcap=FILE]", before the HCAs that use NAME. Without it a fabric has no
 * capture and no switch until a third port comes.
 */
void cx3_fabric_register_types(void);

#endif
