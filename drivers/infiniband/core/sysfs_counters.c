// SPDX-License-Identifier: GPL-2.0-only
/*
 * Port counters in sysfs, as the HCA's own performance agent counts them (IBA 16.1).
 *
 * Each read is a MAD to the agent. Which counters there are is decided once, by what the agent says
 * of itself: 64-bit ones with unicast and multicast apart, 64-bit data and packets only, or the old
 * 32-bit ones, which stop at their maximum.
 */
#include "sysfs_port.h"

/* MAD header and performance class (IBA 13.4.2, 16.1). */
#define IB_MAD_BASE_VERSION 1
#define IB_MAD_CLASS_PERF 4
#define IB_MAD_CLASS_VERSION 1
#define IB_MAD_METHOD_GET 1
#define IB_MAD_OFFSET_ATTR 16
#define IB_MAD_OFFSET_STATUS 4
#define IB_PERF_DATA 64
#define IB_PERF_CLASS_PORT_INFO 0x01
#define IB_PERF_COUNTERS 0x12
#define IB_PERF_COUNTERS_EXT 0x1d
#define IB_PERF_CAP_EXT BIT(9)
#define IB_PERF_CAP_EXT_NO_CAST BIT(10)

/**
 * struct ib_counter - where a counter stands in the data of its attribute
 * @attribute: IB_PERF_COUNTERS or IB_PERF_COUNTERS_EXT
 * @offset: first bit
 * @width: bits
 */
struct ib_counter {
	u16 attribute;
	u16 offset;
	u16 width;
};

#define OLD(offset_, width_) { IB_PERF_COUNTERS, offset_, width_ }
#define EXT(offset_) { IB_PERF_COUNTERS_EXT, offset_, 64 }

enum ib_counter_id {
	SYMBOL_ERROR, LINK_ERROR_RECOVERY, LINK_DOWNED, PORT_RCV_ERRORS,
	PORT_RCV_REMOTE_PHYSICAL_ERRORS, PORT_RCV_SWITCH_RELAY_ERRORS, PORT_XMIT_DISCARDS,
	PORT_XMIT_CONSTRAINT_ERRORS, PORT_RCV_CONSTRAINT_ERRORS, LOCAL_LINK_INTEGRITY_ERRORS,
	EXCESSIVE_BUFFER_OVERRUN_ERRORS, VL15_DROPPED, PORT_XMIT_WAIT,
	PORT_XMIT_DATA, PORT_RCV_DATA, PORT_XMIT_PACKETS, PORT_RCV_PACKETS,
	EXT_XMIT_DATA, EXT_RCV_DATA, EXT_XMIT_PACKETS, EXT_RCV_PACKETS,
	EXT_UNICAST_XMIT, EXT_UNICAST_RCV, EXT_MULTICAST_XMIT, EXT_MULTICAST_RCV,
};

static const struct ib_counter ib_counters[] = {
	[SYMBOL_ERROR] = OLD(32, 16),
	[LINK_ERROR_RECOVERY] = OLD(48, 8),
	[LINK_DOWNED] = OLD(56, 8),
	[PORT_RCV_ERRORS] = OLD(64, 16),
	[PORT_RCV_REMOTE_PHYSICAL_ERRORS] = OLD(80, 16),
	[PORT_RCV_SWITCH_RELAY_ERRORS] = OLD(96, 16),
	[PORT_XMIT_DISCARDS] = OLD(112, 16),
	[PORT_XMIT_CONSTRAINT_ERRORS] = OLD(128, 8),
	[PORT_RCV_CONSTRAINT_ERRORS] = OLD(136, 8),
	[LOCAL_LINK_INTEGRITY_ERRORS] = OLD(152, 4),
	[EXCESSIVE_BUFFER_OVERRUN_ERRORS] = OLD(156, 4),
	[VL15_DROPPED] = OLD(176, 16),
	[PORT_XMIT_WAIT] = OLD(320, 32),
	[PORT_XMIT_DATA] = OLD(192, 32),
	[PORT_RCV_DATA] = OLD(224, 32),
	[PORT_XMIT_PACKETS] = OLD(256, 32),
	[PORT_RCV_PACKETS] = OLD(288, 32),
	[EXT_XMIT_DATA] = EXT(64),
	[EXT_RCV_DATA] = EXT(128),
	[EXT_XMIT_PACKETS] = EXT(192),
	[EXT_RCV_PACKETS] = EXT(256),
	[EXT_UNICAST_XMIT] = EXT(320),
	[EXT_UNICAST_RCV] = EXT(384),
	[EXT_MULTICAST_XMIT] = EXT(448),
	[EXT_MULTICAST_RCV] = EXT(512),
};

/* Ask the agent of a port for an attribute; @mad is overwritten with the answer. */
static int ib_perf_get(struct ib_device *device, u8 port, u16 attribute, u8 *mad)
{
	struct ib_mad_request request = { .port = port, .flags = IB_MAD_IGNORE_MKEY };
	u8 query[IB_MAD_SIZE] = {
		IB_MAD_BASE_VERSION, IB_MAD_CLASS_PERF, IB_MAD_CLASS_VERSION, IB_MAD_METHOD_GET,
	};
	enum ib_mad_result result = IB_MAD_NOTHING;
	int err;

	put_unaligned_be16(attribute, query + IB_MAD_OFFSET_ATTR);
	query[IB_PERF_DATA + 1] = port;
	request.mad = query;
	memset(mad, 0, IB_MAD_SIZE);
	err = ib_device_enter(device);
	if (err)
		return err;
	if (ib_verbs_of(device)->process_mad)
		result = ib_verbs_of(device)->process_mad(device, &request, mad);
	ib_device_exit(device);
	if (result != IB_MAD_ANSWERED || get_unaligned_be16(mad + IB_MAD_OFFSET_STATUS))
		return -EINVAL;
	return 0;
}

static u64 ib_counter_unpack(const struct ib_counter *counter, const u8 *data)
{
	const u8 *at = data + counter->offset / 8;

	switch (counter->width) {
	case 4:
		return counter->offset % 8 ? *at & 0xf : *at >> 4;
	case 8:
		return *at;
	case 16:
		return get_unaligned_be16(at);
	case 32:
		return get_unaligned_be32(at);
	default:
		return get_unaligned_be64(at);
	}
}

static ssize_t ib_counter_show(struct ib_sysfs_port *port, struct ib_port_file *file, char *buf)
{
	const struct ib_counter *counter = &ib_counters[file->index];
	u8 mad[IB_MAD_SIZE];
	int err;

	err = ib_perf_get(port->device, port->port, counter->attribute, mad);
	if (err)
		return err;
	return sysfs_emit(buf, "%llu\n", ib_counter_unpack(counter, mad + IB_PERF_DATA));
}

#define COUNTER(file_, name_, id_)								\
	static struct ib_port_file ib_counter_##file_ = {					\
		.attr = { .name = #name_, .mode = 0444 },					\
		.show = ib_counter_show,							\
		.index = id_,									\
	}

COUNTER(symbol_error, symbol_error, SYMBOL_ERROR);
COUNTER(link_error_recovery, link_error_recovery, LINK_ERROR_RECOVERY);
COUNTER(link_downed, link_downed, LINK_DOWNED);
COUNTER(rcv_errors, port_rcv_errors, PORT_RCV_ERRORS);
COUNTER(rcv_remote, port_rcv_remote_physical_errors, PORT_RCV_REMOTE_PHYSICAL_ERRORS);
COUNTER(rcv_relay, port_rcv_switch_relay_errors, PORT_RCV_SWITCH_RELAY_ERRORS);
COUNTER(xmit_discards, port_xmit_discards, PORT_XMIT_DISCARDS);
COUNTER(xmit_constraint, port_xmit_constraint_errors, PORT_XMIT_CONSTRAINT_ERRORS);
COUNTER(rcv_constraint, port_rcv_constraint_errors, PORT_RCV_CONSTRAINT_ERRORS);
COUNTER(integrity, local_link_integrity_errors, LOCAL_LINK_INTEGRITY_ERRORS);
COUNTER(overrun, excessive_buffer_overrun_errors, EXCESSIVE_BUFFER_OVERRUN_ERRORS);
COUNTER(vl15, VL15_dropped, VL15_DROPPED);
COUNTER(xmit_wait, port_xmit_wait, PORT_XMIT_WAIT);
COUNTER(xmit_data, port_xmit_data, PORT_XMIT_DATA);
COUNTER(rcv_data, port_rcv_data, PORT_RCV_DATA);
COUNTER(xmit_packets, port_xmit_packets, PORT_XMIT_PACKETS);
COUNTER(rcv_packets, port_rcv_packets, PORT_RCV_PACKETS);
COUNTER(ext_xmit_data, port_xmit_data, EXT_XMIT_DATA);
COUNTER(ext_rcv_data, port_rcv_data, EXT_RCV_DATA);
COUNTER(ext_xmit_packets, port_xmit_packets, EXT_XMIT_PACKETS);
COUNTER(ext_rcv_packets, port_rcv_packets, EXT_RCV_PACKETS);
COUNTER(unicast_xmit, unicast_xmit_packets, EXT_UNICAST_XMIT);
COUNTER(unicast_rcv, unicast_rcv_packets, EXT_UNICAST_RCV);
COUNTER(multicast_xmit, multicast_xmit_packets, EXT_MULTICAST_XMIT);
COUNTER(multicast_rcv, multicast_rcv_packets, EXT_MULTICAST_RCV);

/* The errors, which every agent counts; then one of the sets of data and packets. */
static struct attribute *ib_counters_errors[] = {
	&ib_counter_symbol_error.attr,
	&ib_counter_link_error_recovery.attr,
	&ib_counter_link_downed.attr,
	&ib_counter_rcv_errors.attr,
	&ib_counter_rcv_remote.attr,
	&ib_counter_rcv_relay.attr,
	&ib_counter_xmit_discards.attr,
	&ib_counter_xmit_constraint.attr,
	&ib_counter_rcv_constraint.attr,
	&ib_counter_integrity.attr,
	&ib_counter_overrun.attr,
	&ib_counter_vl15.attr,
	&ib_counter_xmit_wait.attr,
	NULL,
};

static struct attribute *ib_counters_old[] = {
	&ib_counter_xmit_data.attr,
	&ib_counter_rcv_data.attr,
	&ib_counter_xmit_packets.attr,
	&ib_counter_rcv_packets.attr,
	NULL,
};

static struct attribute *ib_counters_ext[] = {
	&ib_counter_ext_xmit_data.attr,
	&ib_counter_ext_rcv_data.attr,
	&ib_counter_ext_xmit_packets.attr,
	&ib_counter_ext_rcv_packets.attr,
	NULL,
};

static struct attribute *ib_counters_cast[] = {
	&ib_counter_unicast_xmit.attr,
	&ib_counter_unicast_rcv.attr,
	&ib_counter_multicast_xmit.attr,
	&ib_counter_multicast_rcv.attr,
	NULL,
};

#define IB_COUNTER_FOLDER "counters"

static const struct attribute_group ib_counter_errors = {
	.name = IB_COUNTER_FOLDER, .attrs = ib_counters_errors,
};

static const struct attribute_group ib_counter_old = {
	.name = IB_COUNTER_FOLDER, .attrs = ib_counters_old,
};

static const struct attribute_group ib_counter_ext = {
	.name = IB_COUNTER_FOLDER, .attrs = ib_counters_ext,
};

static const struct attribute_group ib_counter_cast = {
	.name = IB_COUNTER_FOLDER, .attrs = ib_counters_cast,
};

/* What the agent says it can do; nothing if it does not answer. */
static u16 ib_counters_ask(struct ib_sysfs_port *port)
{
	u8 mad[IB_MAD_SIZE];

	if (ib_perf_get(port->device, port->port, IB_PERF_CLASS_PORT_INFO, mad))
		return 0;
	return get_unaligned_be16(mad + IB_PERF_DATA + 2);
}

static int ib_counters_add_data(struct ib_sysfs_port *port)
{
	u16 cap = ib_counters_ask(port);
	int err;

	if (!(cap & (IB_PERF_CAP_EXT | IB_PERF_CAP_EXT_NO_CAST)))
		return sysfs_merge_group(&port->kobj, &ib_counter_old);
	err = sysfs_merge_group(&port->kobj, &ib_counter_ext);
	if (!err && (cap & IB_PERF_CAP_EXT))
		err = sysfs_merge_group(&port->kobj, &ib_counter_cast);
	return err;
}

/**
 * ib_port_counters_add() - the folder "counters" of a port, if its provider answers MADs
 * @port: its directory has been added, and takes the folder with it
 *
 * Return: 0 or an error.
 */
int ib_port_counters_add(struct ib_sysfs_port *port)
{
	int err;

	err = ib_device_enter(port->device);
	if (err)
		return err;
	err = ib_verbs_of(port->device)->process_mad ? 0 : -EOPNOTSUPP;
	ib_device_exit(port->device);
	if (err)
		return 0;
	err = sysfs_create_group(&port->kobj, &ib_counter_errors);
	return err ?: ib_counters_add_data(port);
}
