/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test devices and the clients of the running system.  Where a suite runs with IPoIB built in, each
 * HCA that it makes would get interfaces, which join groups and hold what the suite counts.
 */
#ifndef FAKE_OFFER_H
#define FAKE_OFFER_H

#include <linux/string.h>

#include <ib/client.h>

/** fake_offer() - for &ib_device_ops.offer: IPoIB's own client is not to meet the device */
static inline bool fake_offer(const struct ib_device *device, const struct ib_client *client)
{
	return strcmp(client->name, "ib_ipoib");
}

#endif
