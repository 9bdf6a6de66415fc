/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the verbs part tell each other: how objects are made and ended, and what the
 * device keeps for them.
 */
#ifndef IB_CORE_OBJECTS_H
#define IB_CORE_OBJECTS_H

#include <linux/xarray.h>

#include <ib/verbs.h>

#include "core.h"

struct ib_stats;
struct kobject;

/**
 * struct ib_object_class - what the objects of one type have in common
 * @name: the specification's word
 * @type: see enum ib_object_type
 * @numbered: it has an id and can be found
 * @destroy: the provider's; NULL: there is nothing to take from the hardware
 * @detach: the provider's; NULL: nothing
 * @release: the provider's; NULL: nothing
 * @disarm: end polling contexts and the like, after callbacks were stopped; may be NULL
 * @free: free what ib_core keeps for it beside the object itself; may be NULL
 * @describe: what tells this one from others, for the log; may be NULL
 */
struct ib_object_class {
	const char *name;
	enum ib_object_type type;
	bool numbered;
	int (*destroy)(const struct ib_verbs_ops *ops, struct ib_object *object);
	void (*detach)(const struct ib_verbs_ops *ops, struct ib_object *object);
	void (*release)(const struct ib_verbs_ops *ops, struct ib_object *object);
	void (*disarm)(struct ib_object *object);
	void (*free)(struct ib_object *object);
	void (*describe)(const struct ib_object *object, char *text, size_t size);
};

/**
 * struct ib_objects - what a device keeps for its objects; under the HCA's lock
 * @device: the device
 * @soft: the software gate: sections that run the provider's code but touch no hardware.  Open from
 *	ib_verbs_begin() until just before the provider's stop, GONE or not.
 * @ids: objects by number, for each type; its own lock nests in the HCA's
 * @next: where the search for the next number begins
 * @count: live objects of each type
 * @size: bytes of an object of each type
 * @zombies: &ib_object.zombie_node: not proven to be forgotten by the hardware
 * @flushed: GONE was dealt with
 * @dead: the provider is about to stop
 * @poll_wq: what CQs are polled on: not the queue of the attachments' items, which wait for it
 * @naming: the driver core leaves it to us to keep renaming and removing apart
 * @sysfs: ports in sysfs; of the lifecycle thread
 */
struct ib_objects {
	struct ib_device *device;
	struct ib_gate soft;
	struct xarray ids[IB_OBJECT_TYPES];
	u32 next[IB_OBJECT_TYPES];
	unsigned int count[IB_OBJECT_TYPES];
	size_t size[IB_OBJECT_TYPES];
	struct list_head zombies;
	bool flushed;
	bool dead;
	struct workqueue_struct *poll_wq;
	struct mutex naming; /* renaming against removing the class device */
	struct ib_sysfs *sysfs;
};

/**
 * struct ib_object_label - room for ib_object_label()
 * @text: device, class, number and more
 */
struct ib_object_label {
	char text[160];
};

/* ---- objects.c: the life of one object ---- */
void ib_objects_init(void);
struct ib_object *ib_object_new(struct ib_attachment *attachment,
				const struct ib_object_class *class, gfp_t gfp);
void ib_object_parent(struct ib_object *object, struct ib_object *parent);
int __must_check ib_object_begin(struct ib_object *object, gfp_t gfp);
int __must_check ib_object_finish(struct ib_object *object, int err);
void ib_object_destroy(struct ib_object *object);
int __must_check ib_object_disarm(struct ib_object *object);
int __must_check ib_object_fence(struct ib_object *object);
int __must_check ib_object_enter(struct ib_object *object);
void ib_object_exit(struct ib_object *object);
bool __must_check ib_object_pin(struct ib_object *object);
void ib_object_unpin(struct ib_object *object);
struct ib_object *ib_object_next(struct ib_device *device, enum ib_object_type type, u32 *id);
struct ib_object *ib_object_find(struct ib_device *device, enum ib_object_type type, u32 id);
int ib_object_wait(struct ib_object *object, const char *what, ib_condition cond, void *arg);
void ib_object_describe(const struct ib_object *object, char *text, size_t size);
const char *ib_object_label(const struct ib_object *object, struct ib_object_label *label);
void ib_object_retire(struct ib_object *object);

/* ---- reap.c: leftovers and what the hardware did not give back ---- */
bool ib_object_is_tombstone(void *object);
int __must_check ib_object_end(struct ib_object *object);
void ib_object_put(struct ib_object *object);

/* ---- cq.c, drain.c, qp.c, qp_values.c ---- */
int ib_ah_check(struct ib_device *device, const struct ib_ah_attr *attr);
void ib_cq_kick(struct ib_cq *cq);
void ib_cq_settle(struct ib_cq *cq);
int ib_drains_alloc(struct ib_qp *qp);
void ib_qp_last_wqe(struct ib_qp *qp);
int ib_address_check(struct ib_device *device, const struct ib_ah_attr *attr);
u8 ib_qp_port(const struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
	      enum ib_qp_state from);
int ib_qp_check_values(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
		       enum ib_qp_state from);
void ib_qp_leave_groups(const struct ib_verbs_ops *ops, struct ib_qp *qp);
void ib_qp_free_groups(struct ib_qp *qp);

/* ---- cache.c, event.c ---- */
void ib_cache_refresh(struct ib_device *device, const struct ib_event *event);
int ib_cache_alloc(struct ib_device *device);
void ib_cache_free(struct ib_device *device);
int ib_event_queue_alloc(struct ib_device *device);
void ib_event_queue_free(struct ib_device *device);
void ib_event_queue_open(struct ib_device *device);

/* ---- sysfs.c, sysfs_port.c, sysfs_counters.c, sysfs_stats.c, nldev.c, netlink.c ---- */
extern struct class *ib_class;
int ib_sysfs_init(void);
void ib_sysfs_exit(void);
int ib_sysfs_add_ports(struct ib_device *device);
void ib_sysfs_del_ports(struct ib_device *device);
int ib_stats_add(struct ib_device *device, u8 port, struct kobject *parent,
		 struct ib_stats **stats);
void ib_stats_del(struct ib_stats *stats);
int ib_netlink_init(void);
void ib_netlink_exit(void);

/** ib_verbs_of() - the provider's verbs; inside a gate of the device */
static inline const struct ib_verbs_ops *ib_verbs_of(const struct ib_device *device)
{
	return device->ops->verbs;
}

/** ib_object_hca() - the HCA whose lock protects an object */
static inline struct ib_hca *ib_object_hca(const struct ib_object *object)
{
	return ib_object_device(object)->hca;
}

/** ib_object_is_live() - on the data path, under RCU; the answer holds until the section ends */
static inline bool ib_object_is_live(const struct ib_object *object)
{
	return READ_ONCE(object->state) == IB_OBJECT_LIVE;
}

/*
 * The provider's create of one class: enter the gate, call, leave, publish.  @verb is written as
 * "ops->create_..."; ops are the provider's.  The value is 0 or an error, after which the object is
 * gone.
 */
#define ib_object_make(object, gfp, verb, ...)							\
({												\
	struct ib_object *__object = (object);							\
	int __err = ib_object_begin(__object, gfp);						\
												\
	if (!__err) {										\
		const struct ib_verbs_ops *ops = ib_verbs_of(ib_object_device(__object));	\
		__auto_type __verb = (verb);							\
												\
		__err = __verb ? __verb(__VA_ARGS__) : -EOPNOTSUPP;				\
		__err = ib_object_finish(__object, __err);					\
	}											\
	__err;											\
})

/* Any other verb of a live object, in the same way. */
#define ib_object_call(object, verb, ...)							\
({												\
	struct ib_object *__object = (object);							\
	int __err = ib_object_enter(__object);							\
												\
	if (!__err) {										\
		const struct ib_verbs_ops *ops = ib_verbs_of(ib_object_device(__object));	\
		__auto_type __verb = (verb);							\
												\
		__err = __verb ? __verb(__VA_ARGS__) : -EOPNOTSUPP;				\
		ib_object_exit(__object);							\
	}											\
	__err;											\
})

#endif /* IB_CORE_OBJECTS_H */
