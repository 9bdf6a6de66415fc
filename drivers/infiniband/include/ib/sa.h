/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SA client: questions to the subnet administrator (IBA chapter 15).
 *
 * A query is an agent.  It is started with one call, ends with exactly one callback, and can be
 * cancelled at any moment between.  Nothing is remembered: every query goes to the SA, and every
 * answer comes from it.
 *
 * Where the SA is, is read from the cache of the port when a request is sent.  If another SM takes
 * over, what is outstanding is sent again to that one.  A query that is started while the port
 * knows no SM waits for one, as long as it would wait for an answer.
 */
#ifndef IB_SA_H
#define IB_SA_H

#include <ib/agent.h>
#include <ib/sa_defs.h>
#include <ib/verbs.h>

struct ib_sa_query;
struct ib_sa_result;

/** ib_sa - the service, for &ib_client.needs */
extern struct ib_service ib_sa;

/**
 * typedef ib_sa_done - a query has ended
 * @query: the query
 * @result: valid during the call
 * @context: from the request
 *
 * Process context, under no lock; may sleep, may start other queries, but end none: two callbacks
 * that each end the other's query would wait for ever.  Never called from inside
 * ib_sa_query_start().
 *
 * Return: IB_CB_DESTROY: the owner will not touch the query again; or IB_CB_DONE: he will call
 * ib_sa_query_cancel(), not from here.
 */
typedef enum ib_cb_result (*ib_sa_done)(struct ib_sa_query *query,
					const struct ib_sa_result *result, void *context);

/* For those who have no opinion: eleven requests, one in 100 ms. */
#define IB_SA_TIMEOUT_MS 100
#define IB_SA_RETRIES 10

/**
 * struct ib_sa_request - a question
 * @port: the port to ask through, from 1
 * @method: enum ib_sa_method
 * @attr: enum ib_sa_attr
 * @mask: which components of @record count; bits of @attr
 * @record: the member for @attr is filled in
 * @timeout_ms: how long to wait for an answer before asking again; 0: IB_SA_TIMEOUT_MS
 * @retries: how often to ask again; ignored if @timeout_ms is 0: IB_SA_RETRIES
 * @done: called once, when the query has ended
 * @context: handed to @done
 */
struct ib_sa_request {
	u8 port;
	enum ib_sa_method method;
	enum ib_sa_attr attr;
	u64 mask;
	union ib_sa_record record;
	unsigned int timeout_ms;
	unsigned int retries;
	ib_sa_done done;
	void *context;
};

/**
 * struct ib_sa_result - how a query has ended
 * @error: 0;
 *	-ENOENT: the SA has no such record;
 *	-EINVAL: the SA refused (@status says why), or its answer makes no sense;
 *	-EBUSY: it was busy each time;
 *	-ETIMEDOUT: no answer, or no SM;
 *	-ECANCELED: flushed: the device goes away, or the teardown has no time left;
 *	-ENOMEM: there was none for the answer;
 *	-EIO: the request could not be sent
 * @status: of the answer, host byte order; 0 if there was none
 * @attr: of the request
 * @count: number of records
 * @data: private to the SA service
 * @len: private to the SA service
 * @stride: private to the SA service
 */
struct ib_sa_result {
	int error;
	u16 status;
	enum ib_sa_attr attr;
	unsigned int count;
	const u8 *data;
	size_t len;
	size_t stride;
};

/**
 * ib_sa_query_start() - ask the SA
 * @attachment: the owner; needs the service ib_sa
 * @request: the question; copied
 * @query: set before @request->done can be called
 *
 * Context: process, may sleep; RTNL may be held.
 * Return: 0, and @request->done is called once unless the query is cancelled first; -EINVAL: no
 * such port, method or attribute; -ENODEV: attachment or service closed; -ENOMEM.
 */
int ib_sa_query_start(struct ib_attachment *attachment, const struct ib_sa_request *request,
		      struct ib_sa_query **query);

/**
 * ib_sa_query_cancel() - end a query, or free one that has ended with IB_CB_DONE
 * @query: the query; not to be touched afterwards
 *
 * When this returns the callback has either returned or will never be called.  Waits for a callback
 * that runs, for nothing else.
 *
 * Owner and callback have to agree who ends a query: whoever takes the owner's pointer, under the
 * owner's lock, does.  A callback that finds it taken returns IB_CB_DONE.
 *
 * Context: process, may sleep; RTNL may be held if the callback does not take it; not in a callback
 * of any agent.
 */
void ib_sa_query_cancel(struct ib_sa_query *query);

/**
 * ib_sa_result_record() - a record of an answer
 * @result: the result
 * @index: from 0
 * @record: filled in, the member for &ib_sa_result.attr
 *
 * Return: 0, or -EINVAL: there are not so many.
 */
int ib_sa_result_record(const struct ib_sa_result *result, unsigned int index,
			union ib_sa_record *record);

/**
 * ib_sa_query_release() - let a query go its way
 * @query: the query; not to be touched afterwards
 *
 * As ib_sa_query_cancel() for the owner: no callback from now on.  But the request stays under way,
 * and if it has not been sent yet it will be, also when the SA service closes right afterwards.
 *
 * Context: as ib_sa_query_cancel().
 */
void ib_sa_query_release(struct ib_sa_query *query);

/**
 * ib_sa_tell() - send a request once and do not wait for the answer
 * @attachment: on whose behalf
 * @request: the request; timeouts, callback and context are ignored
 *
 * For services that close.  The request reaches the wire if the hardware and a SM are there: also
 * when the SA service closes right afterwards.
 *
 * Context: process, may sleep.
 * Return: 0: sent; -ENODEV; -EINVAL; -ENOMEM; -EAGAIN: no SM is known; or the MAD service's error.
 */
int ib_sa_tell(struct ib_attachment *attachment, const struct ib_sa_request *request);

/**
 * ib_sa_record_len() - how long a record is in a MAD
 * @attr: the attribute
 *
 * Return: bytes, or 0: not one of enum ib_sa_attr.
 */
size_t ib_sa_record_len(enum ib_sa_attr attr);

/**
 * ib_sa_record_pack() - write a record as it stands in a MAD
 * @attr: the attribute
 * @record: the record; what does not fit into a field is cut
 * @wire: ib_sa_record_len() bytes
 */
void ib_sa_record_pack(enum ib_sa_attr attr, const union ib_sa_record *record, u8 *wire);

/**
 * ib_sa_record_unpack() - its mirror
 * @attr: the attribute
 * @wire: ib_sa_record_len() bytes
 * @record: filled in; what the attribute does not have is zero
 */
void ib_sa_record_unpack(enum ib_sa_attr attr, const u8 *wire, union ib_sa_record *record);

/**
 * ib_sa_path_to_ah() - the address of a path
 * @device: the device
 * @port: our port, from 1
 * @path: an answer of the SA
 * @attr: filled in; with a GRH if the path leaves the subnet
 *
 * Context: any.
 * Return: 0; -ENOENT: the source GID is not one of the port; -EINVAL; -ENODEV.
 */
int ib_sa_path_to_ah(struct ib_device *device, u8 port, const struct ib_sa_path *path,
		     struct ib_ah_attr *attr);

/**
 * ib_sa_mcmember_to_ah() - the address of a multicast group
 * @device: the device
 * @port: our port, from 1
 * @member: an answer of the SA
 * @attr: filled in; always with a GRH
 *
 * Context: any.
 * Return: as ib_sa_path_to_ah().
 */
int ib_sa_mcmember_to_ah(struct ib_device *device, u8 port, const struct ib_sa_mcmember *member,
			 struct ib_ah_attr *attr);

#endif /* IB_SA_H */
