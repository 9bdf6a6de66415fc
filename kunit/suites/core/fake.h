/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A provider, clients and services in software, that do what a test tells them, count what is done
 * to them, and know when something is done to them that must not be.
 *
 * Whatever breaks a promise of the framework (a second remove_one, a callback after it, hardware
 * touched when it is stopped, a service stopped under its clients) is counted in fake_breaches and
 * fails the test in fake_exit(), whatever else the test looks at.
 */
#ifndef FAKE_H
#define FAKE_H

#include <linux/completion.h>
#include <linux/workqueue.h>

#include <ib/agent.h>
#include <ib/hca.h>
#include <ib/revoke.h>
#include <lastref/clock.h>
#include <lastref/kunit.h>

#define FAKE_PORTS 2
#define FAKE_NEEDS 5
#define FAKE_TIMES 8

struct fake_client;
struct fake_hca;

/**
 * struct fake_provider_device - an incarnation on a fake HCA
 * @ib: the device
 * @fake: the HCA
 */
struct fake_provider_device {
	struct ib_device ib;
	struct fake_hca *fake;
};

/**
 * struct fake_hca - an HCA
 * @hca: the framework's
 * @parent: what it has for a PCI function
 * @dma_mask: of @parent: the fake hardware reaches all memory
 * @clock: its time; moves by fake_advance() alone
 * @now: what the clock shows, in milliseconds
 * @stuck: what the lifecycle thread is kept by and has been waited for, or NULL
 * @alive: between start and quiet: hardware may be touched
 * @tried: since its start somebody has tried to make it quiet
 * @stopped: the present device has been stopped: its verbs must not come
 * @bound: its provider is bound
 * @added: it has been added and not removed
 * @starts: calls of start
 * @stops: calls of stop
 * @aborts: calls of abort
 * @quiets: calls of quiet
 * @resets: calls of reset
 * @releases: calls of release
 * @creates: calls of the provider's create
 * @flushes: calls of a device's flush
 * @device_stops: calls of a device's stop
 * @released_quiet: what the last release was told
 * @start_fails: how many of the next starts fail
 * @create_fails: how many of the next creates fail
 * @quiet_fails: how many of the next quiets fail
 * @reset_fails: how many of the next resets fail
 * @result: of the last fake_hca_remove()
 * @hook: called at the beginning of each callback, with its name
 * @data: for @hook
 */
struct fake_hca {
	struct ib_hca *hca;
	struct device *parent;
	u64 dma_mask;
	struct ib_clock clock;
	atomic64_t now;
	const char *stuck;
	bool alive;
	bool tried;
	bool stopped;
	bool bound;
	bool added;
	atomic_t starts;
	atomic_t stops;
	atomic_t aborts;
	atomic_t quiets;
	atomic_t resets;
	atomic_t releases;
	atomic_t creates;
	atomic_t flushes;
	atomic_t device_stops;
	bool released_quiet;
	int start_fails;
	int create_fails;
	int quiet_fails;
	int reset_fails;
	int result;
	void (*hook)(struct fake_hca *fake, const char *where);
	void *data;
};

/**
 * struct fake_service - a service
 * @service: the framework's
 * @name: of the service
 * @needs: what it needs
 * @lock: protects @agents
 * @agents: of all devices
 * @starts: calls of start
 * @stops: calls of stop
 * @closes: calls of close
 * @cancels: calls of cancel
 * @ports: ports that are started
 * @destroyed: agents that were destroyed
 * @freed: agents that were freed
 * @up: devices on which it is started
 * @registered: it is
 * @start_fails: how many of the next starts fail
 * @port_fails: how many of the next starts of the last port fail
 * @hook: called at the beginning of each callback, with its name
 * @data: for @hook
 */
struct fake_service {
	struct ib_service service;
	char name[24];
	struct ib_service *needs[FAKE_NEEDS + 1];
	spinlock_t lock; /* protects agents */
	struct list_head agents;
	atomic_t starts;
	atomic_t stops;
	atomic_t closes;
	atomic_t cancels;
	atomic_t ports;
	atomic_t destroyed;
	atomic_t freed;
	atomic_t up;
	bool registered;
	int start_fails;
	int port_fails;
	void (*hook)(struct fake_service *fs, struct ib_service_instance *instance,
		     const char *where);
	void *data;
};

/**
 * struct fake_agent - what a fake service hands out
 * @agent: the framework's
 * @fs: the service
 * @node: in &fake_service.agents
 * @callback: the owner's
 * @context: for it
 */
struct fake_agent {
	struct ib_agent agent;
	struct fake_service *fs;
	struct list_head node;
	enum ib_cb_result (*callback)(struct fake_agent *agent);
	void *context;
};

/**
 * struct fake_context - what a client keeps for one device
 * @fc: the client
 * @attachment: the pair
 * @agents: one for each service it needs
 * @removed: remove_one has returned
 * @callbacks: how often it was called back
 */
struct fake_context {
	struct fake_client *fc;
	struct ib_attachment *attachment;
	struct fake_agent *agents[FAKE_NEEDS];
	bool removed;
	atomic_t callbacks;
};

/**
 * struct fake_client - a client
 * @client: the framework's
 * @needs: the services it needs
 * @entered: callbacks of any kind that have begun
 * @adds: add_ones that succeeded
 * @failed_adds: add_ones that failed
 * @closings: calls of closing
 * @removes: calls of remove_one
 * @frees: calls of free
 * @callbacks: how often its agents were called back
 * @add_fails: how many of the next add_ones fail
 * @registered: it is
 * @forgets: leave the agents to the framework in remove_one
 * @hold: what a stuck callback waits for
 * @stuck_in: the callback that is stuck ("add_one", "closing", "remove_one"), or NULL
 * @last_reason: of the last remove_one
 * @usable: services that could be entered from remove_one
 * @refused: services that could not
 * @context: of the device added last
 * @hook: called at the beginning of each callback, with its name
 * @data: for @hook
 */
struct fake_client {
	struct ib_client client;
	struct ib_service *needs[FAKE_NEEDS + 1];
	atomic_t entered;
	atomic_t adds;
	atomic_t failed_adds;
	atomic_t closings;
	atomic_t removes;
	atomic_t frees;
	atomic_t callbacks;
	int add_fails;
	bool forgets;
	bool registered;
	struct completion hold;
	const char *stuck_in;
	enum ib_remove_reason last_reason;
	atomic_t usable;
	atomic_t refused;
	struct fake_context *context;
	void (*hook)(struct fake_client *fc, struct ib_attachment *attachment, const char *where);
	void *data;
};

/**
 * struct fake_flow - something that blocks, run beside the test
 * @work: runs it
 * @run: what
 * @arg: for it
 * @done: it has returned
 * @result: what it returned
 */
struct fake_flow {
	struct work_struct work;
	int (*run)(void *arg);
	void *arg;
	struct completion done;
	int result;
};

extern atomic_t fake_breaches;

int fake_init(struct kunit *test);
void fake_exit(struct kunit *test);
void fake_breach(const char *what);

struct fake_hca *fake_hca_create(struct kunit *test, const char *name);
int fake_hca_add(struct fake_hca *fake);
int fake_hca_bind(struct fake_hca *fake);
int fake_hca_up(struct fake_hca *fake);
int fake_hca_unbind(struct fake_hca *fake);
int fake_hca_remove(struct fake_hca *fake);
struct ib_device *fake_device(struct fake_hca *fake);
bool fake_is_live(struct fake_hca *fake);
void fake_touch(struct ib_device *device);

/* The fake clock (fake_clock.c). */
void fake_clock_init(struct fake_hca *fake);
void fake_settle(struct fake_hca *fake);
void fake_advance(struct fake_hca *fake, unsigned int ms);
bool fake_advance_to(struct fake_hca *fake, struct completion *done, unsigned int limit);

/*
 * Let time pass in steps of @step until a condition holds, for at most @limit milliseconds; the
 * value says whether it does.
 */
#define FAKE_PASS_UNTIL(fake, cond, step, limit) \
	({ \
		unsigned int __ms, __step = (step); \
		struct fake_hca *__fake = (fake); \
		bool __ok; \
		\
		fake_settle(__fake); \
		for (__ms = 0; !(__ok = (cond)) && __ms < (limit); __ms += __step) \
			fake_advance(__fake, __step); \
		__ok; \
	})

struct fake_service *fake_service_create(struct kunit *test, const char *name,
					 struct fake_service *below, struct fake_service *below2);
int fake_service_register(struct fake_service *fs);
void fake_mad_and_sa(struct kunit *test, struct fake_service **mad, struct fake_service **sa);
void fake_service_unregister(struct fake_service *fs);
unsigned int fake_service_deliver(struct fake_service *fs);
struct fake_agent *fake_agent_create(struct ib_attachment *attachment, struct fake_service *fs,
				     enum ib_cb_result (*callback)(struct fake_agent *agent),
				     void *context);

struct fake_client *fake_client_create(struct kunit *test, const char *name);
void fake_client_needs(struct fake_client *fc, struct fake_service *fs);
int fake_client_register(struct fake_client *fc);
void fake_client_unregister(struct fake_client *fc);

void fake_flow_start(struct fake_flow *flow, int (*run)(void *arg), void *arg);
int fake_flow_join(struct fake_flow *flow);
int fake_run_remove(void *fake);
int fake_run_unbind(void *fake);
int fake_run_settle(void *fake);
int fake_run_shutdown(void *fake);
int fake_run_client_unregister(void *fc);
int fake_run_client_register(void *fc);
int fake_run_service_unregister(void *fs);
int fake_run_service_register(void *fs);

#endif
