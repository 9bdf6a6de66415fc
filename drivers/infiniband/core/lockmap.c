// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lockdep takes the counts and the callbacks for.
 *
 * Each is a lock class: a section that counts holds it for reading (by a try, since nobody waits to
 * get in), a callback of a client holds it as a whole.  Whoever waits for a teardown waits for all
 * of them, although it is the lifecycle thread that looks at the counts: ib_lockmaps_wait() says so
 * on the waiter's behalf.  So a caller that holds something which a section or a callback needs is
 * reported when the code first runs, and not when it first hangs.
 */
#include "core.h"

static struct lock_class_key ib_lockmap_keys[IB_LOCKMAPS];
static struct lockdep_map ib_lockmaps[IB_LOCKMAPS];

/* Names must be literals: lockdep keeps the pointers. */
static const char *const ib_lockmap_names[IB_LOCKMAPS] = {
	[IB_LOCKMAP_HARDWARE_GATE] = "ib_hardware_gate",
	[IB_LOCKMAP_SERVICE_GATE] = "ib_service_gate",
	[IB_LOCKMAP_REFERENCE] = "ib_device_reference",
	[IB_LOCKMAP_CLIENT] = "ib_client_callback",
	[IB_LOCKMAP_AGENT] = "ib_agent_callback",
};

/**
 * ib_lockmap_init() - make the map of one count or callback
 * @map: where
 * @which: of which class
 */
void ib_lockmap_init(struct lockdep_map *map, enum ib_lockmap which)
{
	lockdep_init_map(map, ib_lockmap_names[which], &ib_lockmap_keys[which], 0);
}

/**
 * ib_lockmaps_init() - make the maps of the waiters
 *
 * Context: module init.
 */
void ib_lockmaps_init(void)
{
	int i;

	for (i = 0; i < IB_LOCKMAPS; i++)
		ib_lockmap_init(&ib_lockmaps[i], i);
}

/**
 * ib_lockmap_wait() - tell lockdep that what this map stands for is waited for here
 * @map: the map
 */
void ib_lockmap_wait(struct lockdep_map *map)
{
	lock_map_acquire(map);
	lock_map_release(map);
}

/**
 * ib_lockmaps_wait() - the caller is going to wait for a teardown
 */
void ib_lockmaps_wait(void)
{
	int i;

	for (i = 0; i < IB_LOCKMAPS; i++)
		ib_lockmap_wait(&ib_lockmaps[i]);
}
