/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the QEMU front-end share.
 */
#ifndef EMULATOR_QEMU_PLUGIN_H
#define EMULATOR_QEMU_PLUGIN_H

#include "hw/pci/pci.h"

/* QEMU's address_space_memory users pull in linux types; the model's are the same. */
#include "../model/cx3.h"

#define TYPE_CX3_HCA "cx3-hca"
#define TYPE_CX3_ROOT_PORT "cx3-root-port"

/** cx3_abi_check() - leave QEMU with a message if its structures are not ours */
void cx3_abi_check(void);

/** cx3_hca_register() - enter the type cx3-hca */
void cx3_hca_register(void);
/** cx3_hca_is_gone() - was @dev a cx3-hca that has been removed by surprise? */
bool cx3_hca_is_gone(PCIDevice *dev);

/** cx3_root_port_register() - enter the type cx3-root-port */
void cx3_root_port_register(void);
/**
 * cx3_root_port_surprise() - presence lost and link down at the port above
 * @dev: the device that is gone
 *
 * Return: false if there is no port that could say so.
 */
bool cx3_root_port_surprise(PCIDevice *dev);

/**
 * cx3_aer_inject() - let @dev report an error by AER
 * @dev: device with AER capability below a cx3-root-port
 * @text: "correctable", "nonfatal" or "fatal", with ":0xBIT" for a status bit
 * @errp: set on failure
 */
void cx3_aer_inject(PCIDevice *dev, const char *text, Error **errp);

/** cx3_wake_register() - finish the firmware's work when the machine wakes from suspend-to-RAM */
void cx3_wake_register(void);

/** cx3_fresh_register() - forget the translated code of before when the machine is reset */
void cx3_fresh_register(void);

/** cx3_insns_install() - count guest instructions through the plugin interface */
void cx3_insns_install(uint64_t id, bool each);
/** cx3_insns() - instructions counted so far, -1 when nobody counts */
int64_t cx3_insns(void);

#endif
