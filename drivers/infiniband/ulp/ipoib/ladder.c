// SPDX-License-Identifier: GPL-2.0-only
/* See ladder.h. */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "ladder.h"

#define IPOIB_BACKOFF_MAX 16

/* A change of the SM alone changes nothing for us: whoever asks it finds it. */
static const enum ipoib_flush ipoib_flushes[IB_EVENT_TYPES] = {
	[IB_EVENT_CLIENT_REREGISTER] = IPOIB_FLUSH_LIGHT,
	[IB_EVENT_GID_CHANGE] = IPOIB_FLUSH_LIGHT,
	[IB_EVENT_PORT_ERR] = IPOIB_FLUSH_NORMAL,
	[IB_EVENT_PORT_ACTIVE] = IPOIB_FLUSH_NORMAL,
	[IB_EVENT_LID_CHANGE] = IPOIB_FLUSH_NORMAL,
	[IB_EVENT_PKEY_CHANGE] = IPOIB_FLUSH_HEAVY,
};

static const char *const ipoib_rung_names[IPOIB_RUNGS] = {
	[IPOIB_BARE] = "bare",
	[IPOIB_MADE] = "made",
	[IPOIB_RUNNING] = "running",
	[IPOIB_JOINING] = "joining",
	[IPOIB_UP] = "up",
};

enum ipoib_flush ipoib_flush_of(enum ib_event_type type)
{
	return type < IB_EVENT_TYPES ? ipoib_flushes[type] : IPOIB_FLUSH_NONE;
}
EXPORT_SYMBOL_GPL(ipoib_flush_of);

enum ipoib_rung ipoib_reach(const struct ipoib_facts *facts)
{
	if (!facts->present || facts->worn)
		return IPOIB_BARE;
	if (!facts->up || !facts->has_pkey)
		return IPOIB_MADE;
	if (!facts->active || !facts->has_gid)
		return IPOIB_RUNNING;
	return facts->joined ? IPOIB_UP : IPOIB_JOINING;
}
EXPORT_SYMBOL_GPL(ipoib_reach);

enum ipoib_rung ipoib_fall(enum ipoib_flush flush, const struct ipoib_facts *then,
			   const struct ipoib_facts *now)
{
	if (flush == IPOIB_FLUSH_REBUILD)
		return IPOIB_BARE;
	if (flush == IPOIB_FLUSH_RESTART || then->pkey != now->pkey ||
	    then->pkey_index != now->pkey_index)
		return IPOIB_MADE;
	if (memcmp(&then->gid, &now->gid, sizeof(now->gid)))
		return IPOIB_RUNNING;
	return flush >= IPOIB_FLUSH_NORMAL ? IPOIB_JOINING : IPOIB_UP;
}
EXPORT_SYMBOL_GPL(ipoib_fall);

unsigned int ipoib_backoff(unsigned int failures)
{
	return failures > 4 ? IPOIB_BACKOFF_MAX : 1U << (failures - !!failures);
}
EXPORT_SYMBOL_GPL(ipoib_backoff);

const char *ipoib_rung_name(enum ipoib_rung rung)
{
	return rung < IPOIB_RUNGS ? ipoib_rung_names[rung] : "unknown";
}
EXPORT_SYMBOL_GPL(ipoib_rung_name);
