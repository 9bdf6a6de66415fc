// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one place where the trace events of trace.h are defined.
 */
#include <linux/module.h>

#include <ib/compat.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
