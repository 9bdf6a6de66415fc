// SPDX-License-Identifier: GPL-2.0-only
/*
 * SA client: requests and answers as MADs, where the SA is, and addresses made of its answers.
 */
#include <linux/export.h>

#include "sa_client.h"

/* Multicast LIDs begin here, so the LID of a port is below (IBA 4.1.3). */
#define SA_LID_MULTICAST 0xc000

/**
 * sa_address_read() - where the SA is now
 * @port: the port
 * @address: filled in; LID 0: nowhere
 *
 * Context: any; reads the port's cache.
 */
void sa_address_read(struct sa_port *port, struct sa_address *address)
{
	struct ib_device *device = port->sa->instance->device;
	struct ib_port_attr attr;

	*address = (struct sa_address) {};
	if (ib_port_cached(device, port->number, &attr))
		return;
	if (attr.state != IB_PORT_ACTIVE && attr.state != IB_PORT_ACTIVE_DEFER)
		return;
	if (!attr.sm_lid || attr.sm_lid >= SA_LID_MULTICAST)
		return;
	address->lid = attr.sm_lid;
	address->sl = attr.sm_sl;
	/* The SA is in the default partition; without that index 0 is all there is. */
	if (ib_pkey_find(device, port->number, IB_PKEY_DEFAULT, &address->pkey_index))
		address->pkey_index = 0;
}

/**
 * sa_request_build() - write a request
 * @port: the port it will leave by
 * @request: its method and attribute have been checked
 *
 * Return: the send, without address, timeouts and callback; or ERR_PTR(-ENOMEM).
 */
struct ib_mad_send *sa_request_build(struct sa_port *port, const struct ib_sa_request *request)
{
	struct ib_mad_send *send = ib_mad_send_alloc(port->mad, IB_MAD_SIZE, GFP_KERNEL);

	if (IS_ERR(send))
		return send;
	ib_put(send->mad, IB_MAD_BASE, IB_MAD_BASE_1);
	ib_put(send->mad, IB_MAD_CLASS, IB_CLASS_SA);
	ib_put(send->mad, IB_MAD_CLASS_VERSION, IB_SA_CLASS_VERSION);
	ib_put(send->mad, IB_MAD_METHOD, request->method);
	ib_put(send->mad, IB_MAD_ATTRIBUTE, request->attr);
	ib_put(send->mad, IB_SA_COMP_MASK, request->mask);
	ib_sa_record_pack(request->attr, &request->record, send->mad + IB_SA_DATA);
	return send;
}

/**
 * sa_request_address() - write where a request goes, and a fresh TID
 * @send: the request
 * @address: where the SA is
 */
void sa_request_address(struct ib_mad_send *send, const struct sa_address *address)
{
	send->to = (struct ib_mad_addr) {
		.lid = address->lid,
		.sl = address->sl,
		.pkey_index = address->pkey_index,
		.qpn = 1,
	};
	ib_put(send->mad, IB_MAD_TID_LO, ib_mad_tid(send->agent));
}

static int sa_status_error(u16 status)
{
	if (!status)
		return 0;
	if (status & IB_STATUS_BUSY)
		return -EBUSY;
	return status == IB_SA_STATUS_NO_RECORDS ? -ENOENT : -EINVAL;
}

/*
 * The answer to a GetTable has any number of records, at distances that it says itself (IBA
 * 15.2.1.1).  None of this is to be believed unseen.
 */
static int sa_judge_table(const struct ib_mad_recv *response, struct ib_sa_result *result)
{
	size_t stride = 8 * ib_get(response->mad, IB_SA_ATTR_OFFSET);

	if (!(ib_get(response->mad, IB_RMPP_FLAGS) & IB_RMPP_ACTIVE))
		return -EINVAL;
	if (!result->len)
		return 0;
	if (stride < ib_sa_record_len(result->attr))
		return -EINVAL;
	result->stride = stride;
	/* The last record may lack what pads it. */
	result->count = (result->len + stride - ib_sa_record_len(result->attr)) / stride;
	return 0;
}

/**
 * sa_judge() - what an answer says
 * @method: of the request
 * @attr: of the request
 * @response: a MAD of the SA class, with the TID of the request, and nothing else known of it
 * @result: all but &ib_sa_result.error is filled in; points into the response
 *
 * Return: what belongs into &ib_sa_result.error.
 */
int sa_judge(enum ib_sa_method method, enum ib_sa_attr attr, const struct ib_mad_recv *response,
	     struct ib_sa_result *result)
{
	u8 answer = method == IB_SA_SET ? IB_METHOD_GET_RESP : method | IB_METHOD_RESPONSE;

	*result = (struct ib_sa_result) { .attr = attr };
	if (response->length < IB_SA_DATA)
		return -EINVAL;
	result->status = ib_get(response->mad, IB_MAD_STATUS);
	if (ib_get(response->mad, IB_MAD_METHOD) != answer ||
	    ib_get(response->mad, IB_MAD_ATTRIBUTE) != attr)
		return -EINVAL;
	if (result->status)
		return sa_status_error(result->status);
	result->data = response->mad + IB_SA_DATA;
	result->len = response->length - IB_SA_DATA;
	if (method == IB_SA_GET_TABLE)
		return sa_judge_table(response, result);
	if (result->len < ib_sa_record_len(attr))
		return -EINVAL;
	result->stride = ib_sa_record_len(attr);
	result->count = 1;
	return 0;
}

int ib_sa_result_record(const struct ib_sa_result *result, unsigned int index,
			union ib_sa_record *record)
{
	if (result->error || index >= result->count)
		return -EINVAL;
	ib_sa_record_unpack(result->attr, result->data + index * result->stride, record);
	return 0;
}
EXPORT_SYMBOL_GPL(ib_sa_result_record);

static enum ib_cb_result sa_told(struct ib_mad_send *send, int status,
				 struct ib_mad_recv *response)
{
	ib_mad_recv_free(response);
	ib_mad_send_free(send);
	return IB_CB_DONE;
}

static int sa_tell(struct sa_port *port, const struct ib_sa_request *request)
{
	struct sa_address address;
	struct ib_mad_send *send;
	int err;

	if (!port || !ib_sa_record_len(request->attr))
		return -EINVAL;
	sa_address_read(port, &address);
	if (!address.lid)
		return -EAGAIN;
	send = sa_request_build(port, request);
	if (IS_ERR(send))
		return PTR_ERR(send);
	sa_request_address(send, &address);
	send->done = sa_told;
	err = ib_mad_post(send);
	if (err)
		ib_mad_send_free(send);
	return err;
}

int ib_sa_tell(struct ib_attachment *attachment, const struct ib_sa_request *request)
{
	struct ib_service_instance *instance = ib_service_enter(attachment, &ib_sa);
	int err;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	err = sa_tell(sa_port_of(instance, request->port), request);
	ib_service_exit(instance);
	return err;
}
EXPORT_SYMBOL_GPL(ib_sa_tell);

/* ---- addresses ---- */

static u8 sa_path_bits(struct ib_device *device, u8 port, u16 slid)
{
	return slid & ((1 << ib_lmc_cached(device, port)) - 1);
}

int ib_sa_path_to_ah(struct ib_device *device, u8 port, const struct ib_sa_path *path,
		     struct ib_ah_attr *attr)
{
	*attr = (struct ib_ah_attr) {
		.dlid = path->dlid,
		.sl = path->sl,
		.path_bits = sa_path_bits(device, port, path->slid),
		.static_rate = path->rate,
		.port = port,
		/* A packet that no router will see needs none (IBA 8.3). */
		.has_grh = path->hop_limit > 1,
		.grh = {
			.dgid = path->dgid,
			.flow_label = path->flow_label,
			.hop_limit = path->hop_limit,
			.traffic_class = path->traffic_class,
		},
	};
	if (!attr->has_grh)
		return 0;
	return ib_gid_find(device, port, &path->sgid, NULL, &attr->grh.sgid_index);
}
EXPORT_SYMBOL_GPL(ib_sa_path_to_ah);

int ib_sa_mcmember_to_ah(struct ib_device *device, u8 port, const struct ib_sa_mcmember *member,
			 struct ib_ah_attr *attr)
{
	*attr = (struct ib_ah_attr) {
		.dlid = member->mlid,
		.sl = member->sl,
		.static_rate = member->rate,
		.port = port,
		.has_grh = true,
		.grh = {
			.dgid = member->mgid,
			.flow_label = member->flow_label,
			.hop_limit = member->hop_limit,
			.traffic_class = member->traffic_class,
		},
	};
	return ib_gid_find(device, port, &member->port_gid, NULL, &attr->grh.sgid_index);
}
EXPORT_SYMBOL_GPL(ib_sa_mcmember_to_ah);
