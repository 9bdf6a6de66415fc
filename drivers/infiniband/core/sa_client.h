/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the SA client tell each other: sa_service.c (instance and ports), sa_query.c
 * (the life of a query), sa_mad.c (requests, answers and where the SA is).
 */
#ifndef IB_SA_CLIENT_H
#define IB_SA_CLIENT_H

#include <ib/event.h>
#include <ib/mad.h>
#include <ib/sa.h>

#include "core.h"
#include "hca_timer.h"

struct sa;

/**
 * struct sa_address - where the SA of a port is
 * @lid: LID of the SM; 0: none is known, or the port is not ACTIVE
 * @sl: service level
 * @pkey_index: of the default partition
 */
struct sa_address {
	u16 lid;
	u8 sl;
	u16 pkey_index;
};

/**
 * struct sa_port - a port
 * @sa: the instance
 * @number: from 1
 * @mad: sends the requests; NULL: the port has no QP1
 * @lock: protects what follows, and the state of the port's queries; taken before the HCA's lock
 *	and those of the MAD service
 * @queries: whose callback is to come; &ib_sa_query.node
 * @waiting: those to be sent, oldest first; &ib_sa_query.waiting
 * @posted: how many the MAD service has
 * @full: it does not take more at present
 * @pump: sends what waits
 * @timer: some of them will have waited long enough
 */
struct sa_port {
	struct sa *sa;
	u8 number;
	struct ib_mad_agent *mad;
	spinlock_t lock; /* protects what follows */
	struct list_head queries;
	struct list_head waiting;
	unsigned int posted;
	bool full;
	struct work_struct pump;
	struct ib_hca_timer timer;
};

/**
 * struct sa - the service on a device
 * @instance: the framework's
 * @events: tells of another SM
 * @hurry: nobody waits for answers any more
 * @ports: how many
 * @port: the ports, from index 0
 */
struct sa {
	struct ib_service_instance *instance;
	struct ib_event_handler *events;
	bool hurry;
	unsigned int ports;
	struct sa_port port[];
};

/**
 * sa_port_of() - a port by its number
 * @instance: the instance
 * @number: from 1
 *
 * Return: the port, or NULL: there is none of that number, or it cannot send.
 */
static inline struct sa_port *sa_port_of(struct ib_service_instance *instance, u8 number)
{
	struct sa *sa = instance->context;

	if (!number || number > sa->ports || !sa->port[number - 1].mad)
		return NULL;
	return &sa->port[number - 1];
}

/* sa_mad.c */
void sa_address_read(struct sa_port *port, struct sa_address *address);
struct ib_mad_send *sa_request_build(struct sa_port *port, const struct ib_sa_request *request);
void sa_request_address(struct ib_mad_send *send, const struct sa_address *address);
int sa_judge(enum ib_sa_method method, enum ib_sa_attr attr, const struct ib_mad_recv *response,
	     struct ib_sa_result *result);

/* sa_query.c */
void sa_queries_pump(struct sa_port *port);
void sa_queries_readdress(struct sa_port *port);
void sa_queries_flush(struct sa_port *port);
void sa_queries_forget(struct sa_port *port);
void sa_port_init(struct sa_port *port);

#endif /* IB_SA_CLIENT_H */
