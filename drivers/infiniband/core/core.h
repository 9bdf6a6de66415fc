/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of ib_core tell each other, and nobody else.
 */
#ifndef IB_CORE_H
#define IB_CORE_H

#include <linux/mutex.h>
#include <linux/xarray.h>

#include <ib/agent.h>
#include <ib/client.h>
#include <ib/compat.h>
#include <ib/device.h>
#include <ib/hca.h>
#include <ib/revoke.h>
#include <ib/service.h>

struct seq_file;

/* Hardware that was up for so many milliseconds has come up for good; what was is forgotten. */
#define IB_STEADY_MS 10000

/* ---- the registry (main.c) ---- */

/**
 * struct ib_registry - all HCAs, clients and services
 * @lock: protects the lists and what <ib/client.h> and <ib/service.h> say; held for list work only,
 *	never over a callback or a wait, so that no device waits for another's.  Taken before the
 *	lock of an HCA.
 * @hcas: &ib_hca.node
 * @clients: &ib_client.node
 * @services: &ib_service.node, lowest first
 * @wait: for those who wait for a service's last instance
 * @serial: of the last HCA
 * @gen: counts the changes of the lists of clients and services
 * @holds: what an HCA that is added now is held down by
 * @shutdown: the machine is going down
 * @devices: devices that have a name, by &ib_device.index
 * @next_index: where the search for the next index begins
 */
struct ib_registry {
	struct mutex lock; /* protects the members */
	struct list_head hcas;
	struct list_head clients;
	struct list_head services;
	wait_queue_head_t wait;
	u64 serial;
	unsigned long gen;
	unsigned int holds;
	bool shutdown;
	struct xarray devices;
	u32 next_index;
};

extern struct ib_registry ib_registry;

/** ib_registry_changed() - a client or service came or went; with the registry's lock held */
void ib_registry_changed(void);

/** ib_registry_attended() - wait until every HCA's thread has seen the present generation */
void ib_registry_attended(void);

/** ib_registry_next_hca() - the HCA after @hca or the first, memory kept; @hca is put */
struct ib_hca *ib_registry_next_hca(struct ib_hca *hca);

/* ---- waiting (watchdog.c) ---- */

/**
 * enum ib_until - when a wait of the lifecycle thread gives up
 * @IB_UNTIL_POLITE: when the polite time of the teardown is over
 * @IB_UNTIL_ADDED: the same, or like IB_UNTIL_GOAL, whichever comes first
 * @IB_UNTIL_ABANDON: when clients are left behind
 * @IB_UNTIL_QUARANTINE: when the device is left behind
 * @IB_UNTIL_GOAL: when the HCA gets another goal, or its provider wants to go
 * @IB_UNTIL_NEVER: it does not; what is waited for is our own code
 */
enum ib_until {
	IB_UNTIL_POLITE,
	IB_UNTIL_ADDED,
	IB_UNTIL_ABANDON,
	IB_UNTIL_QUARANTINE,
	IB_UNTIL_GOAL,
	IB_UNTIL_NEVER,
};

/* A condition to wait for; called with the HCA's lock held. */
typedef bool (*ib_condition)(void *arg);

void ib_limits_default(struct ib_limits *limits);
u64 ib_hca_now(const struct ib_hca *hca);
void ib_teardown_begin(struct ib_hca *hca, enum ib_timed timed);
void ib_teardown_end(struct ib_hca *hca);
bool ib_teardown_past(struct ib_hca *hca, enum ib_until until);
void ib_watchdog_init(struct ib_hca *hca);
void ib_watchdog_stop(struct ib_hca *hca);
int ib_thread_wait(struct ib_hca *hca, const char *what, enum ib_until until, ib_condition cond,
		   void *arg);
int ib_flow_wait(struct ib_hca *hca, const char *what, const char *who, unsigned int limit,
		 ib_condition cond, void *arg);
int ib_halt_wait(struct ib_hca *hca, const char *what, ib_condition cond);
void ib_assert_may_wait(void);

/* ---- lifecycle (lifecycle.c, bringup.c, teardown.c) ---- */
void ib_hca_stir(struct ib_hca *hca);
int ib_life_begin(struct ib_hca *hca);
void ib_life_end(struct ib_hca *hca);
void ib_life_attend(struct ib_hca *hca);
void ib_life_retry_later(struct ib_hca *hca, int error);
bool ib_aborts_over(void *arg);
bool ib_life_hca_goes(const struct ib_hca *hca);
bool ib_life_disturbed(const struct ib_hca *hca);
bool __must_check ib_device_move(struct ib_device *device, enum ib_device_state to);
const char *ib_goal_name(enum ib_goal goal);
void ib_bringup_hca(struct ib_hca *hca);
void ib_bringup_device(struct ib_hca *hca);
int ib_teardown_device(struct ib_hca *hca);
int ib_teardown_hca(struct ib_hca *hca);
void ib_teardown_cut_off(struct ib_hca *hca);
void ib_halt(struct ib_hca *hca);

/* ---- lockdep (lockmap.c) ---- */

/**
 * enum ib_lockmap - the lock classes of the framework
 * @IB_LOCKMAP_HARDWARE_GATE: a section inside a hardware gate
 * @IB_LOCKMAP_SERVICE_GATE: a call inside a service
 * @IB_LOCKMAP_REFERENCE: a section of one task that holds a device reference
 * @IB_LOCKMAP_CLIENT: a callback of a client
 * @IB_LOCKMAP_AGENT: a callback of an agent
 * @IB_LOCKMAPS: how many there are
 */
enum ib_lockmap {
	IB_LOCKMAP_HARDWARE_GATE,
	IB_LOCKMAP_SERVICE_GATE,
	IB_LOCKMAP_REFERENCE,
	IB_LOCKMAP_CLIENT,
	IB_LOCKMAP_AGENT,
	IB_LOCKMAPS,
};

void ib_lockmap_init(struct lockdep_map *map, enum ib_lockmap which);
void ib_lockmaps_init(void);
void ib_lockmap_wait(struct lockdep_map *map);
void ib_lockmaps_wait(void);

/* ---- gates (gate.c), references (holder.c), devices (device.c, quarantine.c) ---- */
int ib_gate_init(struct ib_gate *gate, struct ib_hca *hca);
void ib_gate_exit_memory(struct ib_gate *gate);
void ib_gate_open(struct ib_gate *gate);
void ib_gate_refuse(struct ib_gate *gate, int error);
void ib_gate_close(struct ib_gate *gate);
bool ib_gate_drained(void *gate);

/** ib_gate_sync() - tell lockdep that this gate is going to be drained here */
static inline void ib_gate_sync(struct ib_gate *gate)
{
	ib_lockmap_wait(&gate->map);
}

void ib_holder_init(struct ib_device *device);
void ib_holder_take(struct ib_device *device, struct ib_holder *holder, const char *name);
void ib_holder_drop(struct ib_holder *holder);
void ib_holders_log(struct ib_device *device);
bool ib_device_unheld(void *device);
int ib_device_name_assign(struct ib_device *device);
void ib_device_name_release(struct ib_device *device);
void ib_device_kill(struct ib_device *device);
void ib_quarantine_add(struct ib_device *device, const char *cause);
void ib_quarantine_keep(struct ib_device *device, const struct list_head *objects);
void ib_quarantine_exit(void);
void ib_quarantine_show(struct seq_file *seq, const struct ib_hca *only);

/* ---- clients and services on a device (roster.c, attachment.c, service.c, agent.c) ---- */
void ib_roster_update(struct ib_device *device);
struct ib_attachment *ib_attachment_create(struct ib_device *device, struct ib_client *client);
struct ib_attachment *ib_attachment_of_service(struct ib_device *device,
					       struct ib_service *service);
int ib_attachment_close_service(struct ib_attachment *attachment);
void ib_attachment_retry(struct ib_attachment *attachment);
void ib_attachment_go(struct ib_attachment *attachment, enum ib_remove_reason reason);
bool ib_attachment_is_removed(void *attachment);
bool ib_attachments_none_adding(void *device);
int ib_attachments_close(struct ib_device *device);
int ib_attachments_remove(struct ib_device *device);
bool ib_needs(struct ib_service *const *needs, const struct ib_service *service);
bool ib_services_up(struct ib_device *device, struct ib_service *const *needs);
struct ib_service_instance *ib_service_find(struct ib_device *device,
					    const struct ib_service *service);
struct ib_service_instance *ib_service_create(struct ib_device *device,
					      struct ib_service *service);
void ib_service_start(struct ib_service_instance *instance);
unsigned int ib_service_depth(const struct ib_service *service);
int ib_service_stop(struct ib_service_instance *instance, enum ib_until until);
int ib_services_stop(struct ib_device *device);
void ib_services_cancel(struct ib_device *device);
int ib_agents_reap_owner(struct ib_attachment *attachment);
int ib_agents_reap_service(struct ib_service_instance *instance, enum ib_until until);
void ib_graveyard_init(struct ib_graveyard *graveyard);
void ib_graveyard_clear(struct ib_graveyard *graveyard);

/* ---- user files (revoke.c), machine events (power.c), display (debugfs.c) ---- */
struct ib_revoke_list *ib_revoke_list_alloc(void);
void ib_revoke_list_free(struct ib_revoke_list *list);
void ib_revoke_all(struct ib_device *device);
void ib_revoke_zap(struct ib_device *device);
int ib_power_init(void);
void ib_power_exit(void);
void ib_debugfs_init(void);
void ib_debugfs_exit(void);
void ib_debugfs_add_hca(struct ib_hca *hca);
void ib_debugfs_del_hca(struct ib_hca *hca);
void ib_debugfs_add_device(struct ib_device *device);
void ib_debugfs_del_device(struct ib_device *device);

/*
 * ---- what the framework asks of the verbs part (objects.c, cache.c, event.c, sysfs.c) ----
 *
 * Order over the life of a device, all on the lifecycle thread:
 *   ib_verbs_begin (allocation), ib_cache_start, [services, clients], ib_sysfs_add, LIVE,
 *   ib_events_ready, ib_sysfs_del, [clients leave: ib_objects_reap(attachment) each], [services
 *   stop, the same], ib_events_stop, ib_cache_stop, gate closed, provider's stop, STOPPED, ...,
 *   ib_verbs_end (memory).
 * After GONE: ib_objects_flush once, when the hardware is quiet or was given up on.
 */

/**
 * ib_verbs_begin() - allocate &ib_device.objects, .cache and .events
 * @device: being allocated; only its HCA, its callbacks and its gate are there, shut
 *
 * Return: 0 or an error, nothing left behind.
 */
int ib_verbs_begin(struct ib_device *device);

/**
 * ib_verbs_end() - free what ib_verbs_begin() allocated
 * @device: its last memory reference was dropped, or ib_verbs_begin() was the last thing that
 *	worked
 *
 * Context: process.  Nobody knows the device any more.
 */
void ib_verbs_end(struct ib_device *device);

/** ib_cache_start() - read ports, GID, P_Key and LMC tables; events are queued from here on */
int ib_cache_start(struct ib_device *device);

/** ib_cache_stop() - mirror; no event is handled after the return */
void ib_cache_stop(struct ib_device *device);

/** ib_events_ready() - the device is LIVE: deliver what was queued, and from now on at once */
void ib_events_ready(struct ib_device *device);

/** ib_events_stop() - refuse and forget events; the handler that runs is waited for */
void ib_events_stop(struct ib_device *device);

/** ib_sysfs_add() - device_add() of the class device, ports and attributes, then the uevent */
int ib_sysfs_add(struct ib_device *device);

/**
 * ib_sysfs_rename() - tell the driver core of another name
 * @device: the device
 * @name: the name
 *
 * Does not wait for a removal that is under way.
 *
 * Return: 0, -ENODEV: it is not there or is being removed, or what device_rename() says.
 */
int ib_sysfs_rename(struct ib_device *device, const char *name);

/**
 * ib_nldev_notify() - tell user programs that listen to netlink
 * @device: it has a name and an index
 * @there: it has become LIVE, or it is about to go
 *
 * Context: may sleep.
 */
void ib_nldev_notify(struct ib_device *device, bool there);

/** ib_sysfs_del() - mirror; also right if ib_sysfs_add() failed half-way or never ran */
void ib_sysfs_del(struct ib_device *device);

/**
 * ib_objects_reap() - destroy every verbs object left in an attachment
 * @attachment: closed: nothing is added any more, and no callback of its owner runs
 *
 * In the order that their references to each other ask for, with one line of the log for each that
 * names owner and object.  Objects become tombstones for a late destroy of their owner.  Works
 * after GONE too.
 *
 * Return: how many there were.
 */
unsigned int ib_objects_reap(struct ib_attachment *attachment);

/**
 * ib_objects_disarm() - no completion or event callback of these objects from now on
 * @attachment: the attachment
 *
 * Waits for the callbacks that run.
 */
void ib_objects_disarm(struct ib_attachment *attachment);

/** ib_objects_flush() - GONE: end the drains that wait for completions; the provider has flushed */
void ib_objects_flush(struct ib_device *device);

/** ib_objects_bury() - free the objects in a graveyard whose owner no longer has any code */
void ib_objects_bury(struct ib_graveyard *graveyard);

void ib_verbs_close(struct ib_device *device);

/** ib_verbs_owed() - did the hardware not give back an object of a device that has ended? */
bool ib_verbs_owed(struct ib_device *device);

/**
 * ib_verbs_quiesce() - no code of the provider runs for an object from now on
 * @device: its gate is drained; its provider is about to stop
 *
 * Return: 0 or -ESHUTDOWN.
 */
int ib_verbs_quiesce(struct ib_device *device);

/** ib_objects_show() - for debugfs: a line for each object of the device */
void ib_objects_show(struct ib_device *device, struct seq_file *seq);

/** ib_verbs_init() - sysfs class, netlink; from ib_core's module init */
int ib_verbs_init(void);

/** ib_verbs_exit() - mirror of ib_verbs_init() */
void ib_verbs_exit(void);

/* ---- the SA client and multicast (sa_service.c) ---- */
int ib_sa_init(void);
void ib_sa_exit(void);

#endif /* IB_CORE_H */
