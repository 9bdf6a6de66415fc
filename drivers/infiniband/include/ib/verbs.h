/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs: the operations of a provider and the objects they work on.
 */
#ifndef IB_VERBS_H
#define IB_VERBS_H

#include <ib/device.h>

/**
 * struct ib_verbs_ops - the verbs of a provider, in alphabetical order
 *
 * Called only inside the device's gate.
 */
struct ib_verbs_ops {
};

#endif /* IB_VERBS_H */
