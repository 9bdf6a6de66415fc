// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of addresses and of QP attributes that no HCA can accept (IBA 10.3.1, 11.2.2.1, 11.2.5.2).
 *
 * What depends on the HCA (how many reads, which P_Keys, which MTU) is its provider's to check.
 * PSNs, Q_Keys and flow labels are taken as they are: a PSN counts modulo 2^24.
 */
#include <linux/export.h>

#include "objects.h"

#define IB_SL_MAX 15
#define IB_PATH_BITS_MAX 127
#define IB_QPN_MAX 0xffffff
#define IB_TIMER_MAX 31	/* RNR NAK timer, ACK timeout */
#define IB_RETRY_MAX 7

/* By the encoding of IBA 15.2.5.16, with the codes that later link speeds added. */
static const u16 ib_rates[] = {
	[2] = 25, [3] = 100, [4] = 300, [5] = 50, [6] = 200, [7] = 400, [8] = 600, [9] = 800,
	[10] = 1200, [11] = 140, [12] = 560, [13] = 1120, [14] = 1680, [15] = 250, [16] = 1000,
	[17] = 2000, [18] = 3000, [19] = 280, [20] = 500, [21] = 4000, [22] = 6000, [23] = 8000,
};

u16 ib_rate(u8 code)
{
	return code < ARRAY_SIZE(ib_rates) ? ib_rates[code] : 0;
}
EXPORT_SYMBOL_GPL(ib_rate);

/**
 * ib_address_check() - can this be an address?
 * @device: the device
 * @attr: the address
 *
 * Context: any; reads the port's cache.
 * Return: 0; -EINVAL: no such port, SL, path bits, rate or GID; -ENODEV: the cache has been closed.
 */
int ib_address_check(struct ib_device *device, const struct ib_ah_attr *attr)
{
	union ib_gid gid;
	int err;

	if (!ib_device_has_port(device, attr->port))
		return -EINVAL;
	if (attr->sl > IB_SL_MAX || attr->path_bits > IB_PATH_BITS_MAX)
		return -EINVAL;
	if (attr->static_rate && !ib_rate(attr->static_rate))
		return -EINVAL;
	if (!attr->has_grh)
		return 0;
	err = ib_gid_cached(device, attr->port, attr->grh.sgid_index, &gid);
	/* An entry may be empty. */
	if (!err && !gid.global.subnet_prefix && !gid.global.interface_id)
		err = -EINVAL;
	return err;
}

#define IB_AT(member_) offsetof(struct ib_qp_attr, member_)
#define IB_LEN(member_) sizeof_field(struct ib_qp_attr, member_)

/**
 * struct ib_limit - the largest value of a member
 * @mask: IB_QP_*
 * @max: see above
 * @offset: where it is in struct ib_qp_attr
 * @size: its bytes
 */
struct ib_limit {
	u32 mask;
	u32 max;
	u16 offset;
	u8 size;
};

static const struct ib_limit ib_limits[] = {
	{ IB_QP_PATH_MIG_STATE, IB_MIG_ARMED, IB_AT(path_mig_state), IB_LEN(path_mig_state) },
	{ IB_QP_DEST_QPN, IB_QPN_MAX, IB_AT(dest_qpn), IB_LEN(dest_qpn) },
	{ IB_QP_MIN_RNR_TIMER, IB_TIMER_MAX, IB_AT(min_rnr_timer), IB_LEN(min_rnr_timer) },
	{ IB_QP_TIMEOUT, IB_TIMER_MAX, IB_AT(timeout), IB_LEN(timeout) },
	{ IB_QP_ALT_PATH, IB_TIMER_MAX, IB_AT(alt_timeout), IB_LEN(alt_timeout) },
	{ IB_QP_RETRY_CNT, IB_RETRY_MAX, IB_AT(retry_cnt), IB_LEN(retry_cnt) },
	{ IB_QP_RNR_RETRY, IB_RETRY_MAX, IB_AT(rnr_retry), IB_LEN(rnr_retry) },
};

/* Members are of one byte or of four. */
static bool ib_within_limits(const struct ib_qp_attr *attr, u32 mask)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ib_limits); i++) {
		const void *member = (const void *)attr + ib_limits[i].offset;
		u32 value;

		value = ib_limits[i].size == 1 ? *(const u8 *)member : *(const u32 *)member;
		if (mask & ib_limits[i].mask && value > ib_limits[i].max)
			return false;
	}
	return true;
}

/**
 * ib_qp_port() - the port of a QP's primary path, as a modify leaves it
 * @qp: the QP
 * @attr: the new values
 * @mask: IB_QP_* that count
 * @from: its state before
 *
 * After a migration nobody but who gives a new path knows the port any more.
 *
 * Return: the port, which may not exist.
 */
u8 ib_qp_port(const struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
	      enum ib_qp_state from)
{
	if (mask & IB_QP_PORT)
		return attr->port;
	return mask & IB_QP_AV && from == IB_QPS_SQD ? attr->ah.port : qp->port;
}

/**
 * ib_qp_check_values() - values that no HCA can accept
 * @qp: the QP
 * @attr: the new values
 * @mask: IB_QP_* that count
 * @from: its state before
 *
 * Return: 0; -EINVAL; or what ib_gid_cached() says.
 */
int ib_qp_check_values(struct ib_qp *qp, const struct ib_qp_attr *attr, u32 mask,
		       enum ib_qp_state from)
{
	struct ib_device *device = ib_object_device(&qp->object);
	int err = 0;

	if (!ib_within_limits(attr, mask))
		return -EINVAL;
	if (mask & IB_QP_PORT && !ib_device_has_port(device, attr->port))
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU && !ib_mtu_bytes(attr->path_mtu))
		return -EINVAL;
	/* A path begins at a port, which both name. */
	if (mask & IB_QP_AV && attr->ah.port != ib_qp_port(qp, attr, mask, from))
		return -EINVAL;
	if (mask & IB_QP_ALT_PATH && attr->alt_ah.port != attr->alt_port)
		return -EINVAL;
	if (mask & IB_QP_AV)
		err = ib_address_check(device, &attr->ah);
	if (!err && mask & IB_QP_ALT_PATH)
		err = ib_address_check(device, &attr->alt_ah);
	return err;
}
