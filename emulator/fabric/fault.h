/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the fault rules of a fabric and its cables; fault.c has the language of the rules.
 */
#ifndef FABRIC_FAULT_H
#define FABRIC_FAULT_H

#include "cable.h"

/**
 * fab_fault_copies() - a packet is about to be taken from the owner of an end
 * @from: that end, with a link
 * @pkt: packet
 * @len: its length
 *
 * Return: how often the other side gets it now: 0 for a packet that is lost, or kept back.
 */
unsigned int fab_fault_copies(struct fab_end *from, const u8 *pkt, u32 len);

/** fab_fault_deadline() - when fab_fault_fire() has work, CX3_NEVER if not */
u64 fab_fault_deadline(const struct fabric *fab);

/** fab_fault_fire() - do what is due */
void fab_fault_fire(struct fabric *fab, u64 now);

/** fab_fault_forget() - drop what is kept back for an end that is freed */
void fab_fault_forget(struct fab_end *end);

/** fab_fault_free() - drop everything */
void fab_fault_free(struct fabric *fab);

#endif /* FABRIC_FAULT_H */
