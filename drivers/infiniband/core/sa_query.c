// SPDX-License-Identifier: GPL-2.0-only
/*
 * SA client: the life of a query.
 *
 *   WAITING   in the port's queue: for the pump, for room in the MAD service, or for a SM
 *   POSTING   the pump is handing it to the MAD service
 *   POSTED    the MAD service has it, with all its retries
 *   ENDED     the result is there, its work item calls the owner
 *
 * A query lives on two references: its agent, which the owner sees, and its run, from the start to
 * the end of ENDED.  The run also keeps the service open.  Each change of state happens under the
 * port's lock, by one of: the pump, the MAD service's callback, a flush.  What disarms a query
 * (cancel, reaping) only marks it; the run then ends without calling the owner.
 *
 * When another SM takes over, the MAD is cancelled and the query waits again.  The MAD service says
 * exactly whether it had been answered before, so nothing is lost or doubled.  The time that it had
 * from the beginning is not prolonged by that.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "sa_client.h"

/**
 * enum sa_query_state - see above
 * @SA_WAITING: to be sent
 * @SA_POSTING: being sent
 * @SA_POSTED: sent
 * @SA_ENDED: over
 */
enum sa_query_state {
	SA_WAITING,
	SA_POSTING,
	SA_POSTED,
	SA_ENDED,
};

/**
 * struct ib_sa_query - a query
 * @agent: what the owner has
 * @ref: memory: agent and run
 * @port: the port
 * @done: the owner's
 * @context: for @done
 * @method: of the request
 * @attr: of the request
 * @timeout_ms: for one try
 * @retries: tries after the first
 * @send: the MAD; the MAD service's from POSTING until it gives it back
 * @work: calls the owner
 *
 * Under the port's lock:
 * @node: in &sa_port.queries, until the callback begins or the query is disarmed
 * @waiting: in &sa_port.waiting
 * @state: see above
 * @to: where it was sent last
 * @deadline: when all tries would be over, in milliseconds of the HCA's clock
 * @id: for ib_mad_cancel(), in POSTED
 * @gated: the run counts as inside the service
 * @dead: disarmed: nobody is to be called
 * @released: disarmed, and to be sent all the same
 * @readdress: the SM has changed since it was sent
 * @flush: it has to end
 * @early: the MAD service gave it back before the pump had seen it off; with
 * @early_status: this, and what came is in @response
 * @response: the answer
 * @error: how it ended
 */
struct ib_sa_query {
	struct ib_agent agent;
	struct kref ref;
	struct sa_port *port;
	ib_sa_done done;
	void *context;
	enum ib_sa_method method;
	enum ib_sa_attr attr;
	unsigned int timeout_ms;
	unsigned int retries;
	struct ib_mad_send *send;
	struct work_struct work;

	struct list_head node;
	struct list_head waiting;
	enum sa_query_state state;
	struct sa_address to;
	u64 deadline;
	u64 id;
	bool gated;
	bool dead;
	bool released;
	bool readdress;
	bool flush;
	bool early;
	int early_status;
	struct ib_mad_recv *response;
	int error;
};

static struct ib_hca *sa_hca(const struct sa_port *port)
{
	return port->sa->instance->device->hca;
}

static void sa_query_free(struct kref *ref)
{
	struct ib_sa_query *query = container_of(ref, struct ib_sa_query, ref);

	ib_mad_recv_free(query->response);
	ib_mad_send_free(query->send);
	kfree(query);
}

/* The end of the run; without the lock. */
static void sa_query_finish(struct ib_sa_query *query)
{
	struct ib_service_instance *instance = query->gated ? query->port->sa->instance : NULL;

	kref_put(&query->ref, sa_query_free);
	if (instance)
		ib_service_put(instance);
}

/* Finish those that nobody is to hear of; without the lock. */
static void sa_queries_finish(struct list_head *over)
{
	struct ib_sa_query *query, *next;

	list_for_each_entry_safe(query, next, over, waiting)
		sa_query_finish(query);
}

/*
 * With the lock held: the run is over but for the callback.  Who is disarmed goes to @over, for
 * sa_queries_finish().
 */
static void sa_query_end(struct ib_sa_query *query, int error, struct list_head *over)
{
	list_del_init(&query->waiting);
	query->state = SA_ENDED;
	query->error = error;
	if (query->dead || query->released)
		list_add_tail(&query->waiting, over);
	else
		queue_work(query->agent.attachment->device->wq, &query->work);
}

static void sa_query_work(struct work_struct *work)
{
	struct ib_sa_query *query = container_of(work, struct ib_sa_query, work);
	struct sa_port *port = query->port;
	struct ib_sa_result result = { .attr = query->attr };
	bool begun;
	int err;

	spin_lock_bh(&port->lock);
	begun = !query->dead && ib_agent_begin(&query->agent);
	if (begun)
		list_del_init(&query->node);
	spin_unlock_bh(&port->lock);
	if (begun) {
		if (query->response) {
			err = sa_judge(query->method, query->attr, query->response, &result);
			query->error = query->error ?: err;
		}
		result.error = query->error;
		ib_agent_end(&query->agent, query->done(query, &result, query->context));
	}
	sa_query_finish(query);
}

/* ---- sending ---- */

/* With the lock held: end those that wait and have no time left; when is the next one's time? */
static u64 sa_queries_expire(struct sa_port *port, struct list_head *over)
{
	u64 next = 0, now = ib_hca_now(sa_hca(port));
	struct ib_sa_query *query, *after;

	list_for_each_entry_safe(query, after, &port->waiting, waiting) {
		if (now >= query->deadline)
			sa_query_end(query, -ETIMEDOUT, over);
		else if (!next || query->deadline < next)
			next = query->deadline;
	}
	return next;
}

/* With the lock held: there is no SM, and no time to wait for one, or no hardware to ask it by. */
static void sa_queries_drop(struct sa_port *port, struct list_head *over)
{
	struct ib_sa_query *query, *after;

	list_for_each_entry_safe(query, after, &port->waiting, waiting)
		sa_query_end(query, -ECANCELED, over);
}

/* The next one to be sent, or NULL: none, no room, or no SM; then the timer is set. */
static struct ib_sa_query *sa_queries_next(struct sa_port *port)
{
	struct ib_sa_query *query = NULL;
	struct sa_address to;
	LIST_HEAD(over);
	u64 next;

	spin_lock_bh(&port->lock);
	/* Read under the lock: who changes it looks at the queries afterwards. */
	sa_address_read(port, &to);
	next = sa_queries_expire(port, &over);
	if (ib_hca_is_gone(sa_hca(port)) || (!to.lid && port->sa->hurry))
		sa_queries_drop(port, &over);
	else if (to.lid && !port->full)
		query = list_first_entry_or_null(&port->waiting, struct ib_sa_query, waiting);
	if (query) {
		list_del_init(&query->waiting);
		query->state = SA_POSTING;
		query->to = to;
		query->readdress = false;
		port->posted++;
	} else {
		ib_hca_timer_set(&port->timer, next);
	}
	spin_unlock_bh(&port->lock);
	sa_queries_finish(&over);
	return query;
}

static int sa_query_error(struct sa_port *port, int status)
{
	switch (status) {
	case -EIO:
		return ib_hca_is_gone(sa_hca(port)) ? -ECANCELED : -EIO;
	case -ENODEV:
		return -ECANCELED;
	case -ECONNABORTED:
	case -EMSGSIZE:
		return -EINVAL;
	default:
		return status;
	}
}

/* With the lock held: the MAD service has given a query back, or did not take it. */
static void sa_query_back(struct ib_sa_query *query, int status, struct list_head *over)
{
	struct sa_port *port = query->port;
	bool again;

	port->posted--;
	port->full = false;
	again = query->readdress && (status == -ECANCELED || status == -ETIMEDOUT);
	if (again && !query->flush && !query->dead && !query->released) {
		query->state = SA_WAITING;
		list_add_tail(&query->waiting, &port->waiting);
		return;
	}
	/* Without an answer there is none to be judged. */
	if (!status && !query->response)
		status = -ECANCELED;
	sa_query_end(query, sa_query_error(port, status), over);
}

static enum ib_cb_result sa_query_sent(struct ib_mad_send *send, int status,
				       struct ib_mad_recv *response)
{
	struct ib_sa_query *query = send->context;
	struct sa_port *port = query->port;
	LIST_HEAD(over);

	spin_lock_bh(&port->lock);
	query->response = response;
	if (query->state == SA_POSTING) {
		query->early = true;
		query->early_status = status;
	} else {
		sa_query_back(query, status, &over);
	}
	if (!list_empty(&port->waiting))
		queue_work(port->sa->instance->device->wq, &port->pump);
	spin_unlock_bh(&port->lock);
	sa_queries_finish(&over);
	return IB_CB_DONE;
}

/* With the lock held: what happened to a query while it was being posted. */
static void sa_query_posted(struct ib_sa_query *query, struct list_head *over)
{
	struct sa_port *port = query->port;

	query->state = SA_POSTED;
	query->id = query->send->id;
	if (query->early) {
		query->early = false;
		sa_query_back(query, query->early_status, over);
		return;
	}
	if (query->flush || query->readdress || (query->dead && !query->released))
		ib_mad_cancel(port->mad, query->id);
}

/* With the lock held: the MAD service has too many of ours. */
static void sa_query_refused(struct ib_sa_query *query, struct list_head *over)
{
	struct sa_port *port = query->port;

	port->posted--;
	if (query->flush || (query->dead && !query->released)) {
		sa_query_end(query, -ECANCELED, over);
		return;
	}
	query->state = SA_WAITING;
	list_add(&query->waiting, &port->waiting);
	/* The pump goes on when one comes back; so one has to be there. */
	port->full = port->posted;
	if (!port->full)
		sa_query_end(query, -EIO, over);
}

/* Hand it to the MAD service, with the tries there is still time for. */
static void sa_query_post(struct ib_sa_query *query)
{
	struct sa_port *port = query->port;
	bool hurry = READ_ONCE(port->sa->hurry);
	u64 now = ib_hca_now(sa_hca(port));
	struct ib_mad_send *send = query->send;
	u64 left = query->deadline > now ? query->deadline - now : 1;
	LIST_HEAD(over);
	int err;

	sa_request_address(send, &query->to);
	send->timeout_ms = hurry ? 0 : query->timeout_ms;
	send->retries = hurry ? 0 : DIV64_U64_ROUND_UP(left, query->timeout_ms) - 1;
	send->flags = IB_MAD_SEND_BUSY | IB_MAD_SEND_REDIRECT;
	send->done = sa_query_sent;
	send->context = query;
	err = ib_mad_post(send);
	spin_lock_bh(&port->lock);
	if (!err)
		sa_query_posted(query, &over);
	else if (err == -EAGAIN)
		sa_query_refused(query, &over);
	else
		sa_query_back(query, err, &over);
	spin_unlock_bh(&port->lock);
	sa_queries_finish(&over);
}

/**
 * sa_queries_pump() - send what waits, as far as it can be sent
 * @port: the port
 *
 * Context: process, may sleep.
 */
void sa_queries_pump(struct sa_port *port)
{
	struct ib_sa_query *query;

	while ((query = sa_queries_next(port)))
		sa_query_post(query);
}

static void sa_pump_work(struct work_struct *work)
{
	sa_queries_pump(container_of(work, struct sa_port, pump));
}

static void sa_timer(struct ib_hca_timer *timer)
{
	sa_queries_pump(container_of(timer, struct sa_port, timer));
}

/**
 * sa_port_init() - make what queries need of a port
 * @port: its instance and number are set
 */
void sa_port_init(struct sa_port *port)
{
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->queries);
	INIT_LIST_HEAD(&port->waiting);
	INIT_WORK(&port->pump, sa_pump_work);
	ib_hca_timer_init(&port->timer, port->sa->instance->device, sa_timer);
}

static bool sa_address_differs(const struct sa_address *a, const struct sa_address *b)
{
	return a->lid != b->lid || a->sl != b->sl || a->pkey_index != b->pkey_index;
}

/**
 * sa_queries_readdress() - the SM may have changed
 * @port: the port, whose cache is right again
 *
 * What was sent to another address than would be used now is taken back and waits.
 *
 * Context: process.
 */
void sa_queries_readdress(struct sa_port *port)
{
	struct ib_sa_query *query;
	struct sa_address now;

	spin_lock_bh(&port->lock);
	sa_address_read(port, &now);
	list_for_each_entry(query, &port->queries, node) {
		if (query->state != SA_POSTING && query->state != SA_POSTED)
			continue;
		if (!sa_address_differs(&query->to, &now))
			continue;
		query->readdress = true;
		if (query->state == SA_POSTED)
			ib_mad_cancel(port->mad, query->id);
	}
	queue_work(port->sa->instance->device->wq, &port->pump);
	spin_unlock_bh(&port->lock);
}

/**
 * sa_queries_flush() - end all queries whose owners wait
 * @port: the port; &sa.hurry is set
 *
 * They complete with -ECANCELED, unless their answer is already here.  Does not wait.
 */
void sa_queries_flush(struct sa_port *port)
{
	struct ib_sa_query *query;
	LIST_HEAD(over);

	spin_lock_bh(&port->lock);
	list_for_each_entry(query, &port->queries, node) {
		query->flush = true;
		if (query->state == SA_WAITING)
			sa_query_end(query, -ECANCELED, &over);
		else if (query->state == SA_POSTED)
			ib_mad_cancel(port->mad, query->id);
	}
	spin_unlock_bh(&port->lock);
	sa_queries_finish(&over);
}

/**
 * sa_queries_forget() - drop what was released and could not be sent
 * @port: the port; nobody is inside the service
 *
 * Context: process.
 */
void sa_queries_forget(struct sa_port *port)
{
	LIST_HEAD(over);

	spin_lock_bh(&port->lock);
	sa_queries_drop(port, &over);
	spin_unlock_bh(&port->lock);
	sa_queries_finish(&over);
}

/* ---- the agent ---- */

static void sa_agent_destroy(struct ib_agent *agent)
{
	struct ib_sa_query *query = container_of(agent, struct ib_sa_query, agent);
	struct sa_port *port = query->port;
	bool release, put = false;
	LIST_HEAD(over);

	spin_lock_bh(&port->lock);
	list_del_init(&query->node);
	query->dead = true;
	release = query->released && query->state != SA_ENDED;
	if (release) {
		put = query->gated;
		query->gated = false;
	} else if (query->state == SA_WAITING) {
		sa_query_end(query, -ECANCELED, &over);
	} else if (query->state == SA_POSTED) {
		ib_mad_cancel(port->mad, query->id);
	}
	spin_unlock_bh(&port->lock);
	sa_queries_finish(&over);
	if (put)
		ib_service_put(agent->instance);
}

static void sa_agent_describe(struct ib_agent *agent, char *text, size_t size)
{
	struct ib_sa_query *query = container_of(agent, struct ib_sa_query, agent);

	scnprintf(text, size, "for attribute 0x%04x on port %u", query->attr,
		  query->port->number);
}

static void sa_agent_free(struct ib_agent *agent)
{
	kref_put(&container_of(agent, struct ib_sa_query, agent)->ref, sa_query_free);
}

static const struct ib_agent_ops sa_agent_ops = {
	.what = "SA query",
	.destroy = sa_agent_destroy,
	.describe = sa_agent_describe,
	.free = sa_agent_free,
};

static struct ib_sa_query *sa_query_make(struct sa_port *port,
					 const struct ib_sa_request *request)
{
	struct ib_sa_query *query = kzalloc(sizeof(*query), GFP_KERNEL);

	if (!query)
		return ERR_PTR(-ENOMEM);
	query->send = sa_request_build(port, request);
	if (IS_ERR(query->send)) {
		struct ib_mad_send *failed = query->send;

		kfree(query);
		return ERR_CAST(failed);
	}
	kref_init(&query->ref);
	query->port = port;
	query->done = request->done;
	query->context = request->context;
	query->method = request->method;
	query->attr = request->attr;
	query->timeout_ms = request->timeout_ms ?: IB_SA_TIMEOUT_MS;
	query->retries = request->timeout_ms ? request->retries : IB_SA_RETRIES;
	query->deadline = ib_hca_now(sa_hca(port)) +
			  (u64)query->timeout_ms * ((u64)query->retries + 1);
	INIT_LIST_HEAD(&query->node);
	INIT_LIST_HEAD(&query->waiting);
	INIT_WORK(&query->work, sa_query_work);
	return query;
}

/* It can be answered, cancelled or reaped as soon as the lock is given back. */
static int sa_query_launch(struct sa_port *port, struct ib_attachment *attachment,
			   struct ib_sa_query *query)
{
	struct ib_service_instance *instance = port->sa->instance;
	int err;

	spin_lock_bh(&port->lock);
	err = ib_agent_init(&query->agent, attachment, instance, &sa_agent_ops);
	if (!err) {
		kref_get(&query->ref);
		query->gated = true;
		ib_service_get(instance);
		list_add_tail(&query->node, &port->queries);
		list_add_tail(&query->waiting, &port->waiting);
		queue_work(instance->device->wq, &port->pump);
	}
	spin_unlock_bh(&port->lock);
	return err;
}

static bool sa_request_is_valid(const struct ib_sa_request *request)
{
	switch (request->method) {
	case IB_SA_GET:
	case IB_SA_SET:
	case IB_SA_GET_TABLE:
	case IB_SA_DELETE:
		return request->done && ib_sa_record_len(request->attr);
	}
	return false;
}

static int sa_query_start(struct ib_service_instance *instance, struct ib_attachment *attachment,
			  const struct ib_sa_request *request, struct ib_sa_query **query)
{
	struct sa_port *port = sa_port_of(instance, request->port);
	struct ib_sa_query *made;
	int err;

	if (!port || !sa_request_is_valid(request))
		return -EINVAL;
	made = sa_query_make(port, request);
	if (IS_ERR(made))
		return PTR_ERR(made);
	WRITE_ONCE(*query, made);
	err = sa_query_launch(port, attachment, made);
	if (err) {
		WRITE_ONCE(*query, NULL);
		kref_put(&made->ref, sa_query_free);
	}
	return err;
}

int ib_sa_query_start(struct ib_attachment *attachment, const struct ib_sa_request *request,
		      struct ib_sa_query **query)
{
	struct ib_service_instance *instance = ib_service_enter(attachment, &ib_sa);
	int err;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	err = sa_query_start(instance, attachment, request, query);
	ib_service_exit(instance);
	return err;
}
EXPORT_SYMBOL_GPL(ib_sa_query_start);

void ib_sa_query_cancel(struct ib_sa_query *query)
{
	ib_agent_destroy(&query->agent);
}
EXPORT_SYMBOL_GPL(ib_sa_query_cancel);

void ib_sa_query_release(struct ib_sa_query *query)
{
	/* Of a tombstone there is nothing to be sent any more. */
	if (!ib_agent_enter(&query->agent)) {
		spin_lock_bh(&query->port->lock);
		query->released = query->state != SA_ENDED;
		spin_unlock_bh(&query->port->lock);
		ib_agent_exit(&query->agent);
	}
	ib_agent_destroy(&query->agent);
}
EXPORT_SYMBOL_GPL(ib_sa_query_release);
