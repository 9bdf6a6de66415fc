/* SPDX-License-Identifier: GPL-2.0-only */
/* What hca.c and fabric.c call of each other. */
#ifndef KUNIT_EMULATOR_PLUG_H
#define KUNIT_EMULATOR_PLUG_H

struct link_end;
struct lr_fabric;

/**
 * lr_fabric_attach() - a cable into the fabric; it then lives until lr_fabric_put()
 * @f: fabric
 *
 * Context: under fake_pci_lock(). Return: the near end, or NULL.
 */
struct link_end *lr_fabric_attach(struct lr_fabric *f);
/** lr_fabric_put() - one user less. Context: may sleep. */
void lr_fabric_put(struct lr_fabric *f);

#endif
