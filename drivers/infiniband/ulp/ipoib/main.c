// SPDX-License-Identifier: GPL-2.0-only
/* ib_ipoib: parameters, and the module's beginning and end. */
#include <linux/log2.h>
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "ipoib.h"

unsigned int ipoib_send_queue_size = IPOIB_TX_DEFAULT;
unsigned int ipoib_recv_queue_size = IPOIB_RX_DEFAULT;
static int ipoib_debug_level;
static int ipoib_mcast_debug_level;
static int ipoib_max_nonsrq_conn_qp = 128;

module_param_named(send_queue_size, ipoib_send_queue_size, uint, 0444);
MODULE_PARM_DESC(send_queue_size, "Packets in the send queue (2 to 8192)");
module_param_named(recv_queue_size, ipoib_recv_queue_size, uint, 0444);
MODULE_PARM_DESC(recv_queue_size, "Packets in the receive queue (2 to 8192)");
/* Known to users' configuration files; nothing depends on them. */
module_param_named(max_nonsrq_conn_qp, ipoib_max_nonsrq_conn_qp, int, 0444);
MODULE_PARM_DESC(max_nonsrq_conn_qp, "Of connected mode; has no effect");
module_param_named(debug_level, ipoib_debug_level, int, 0644);
MODULE_PARM_DESC(debug_level, "Has no effect: use dynamic debug");
module_param_named(mcast_debug_level, ipoib_mcast_debug_level, int, 0644);
MODULE_PARM_DESC(mcast_debug_level, "Has no effect: use dynamic debug");

static unsigned int ipoib_ring_size(unsigned int wanted)
{
	wanted = clamp_t(unsigned int, wanted, IPOIB_RING_MIN, IPOIB_RING_MAX);
	return roundup_pow_of_two(wanted);
}

static int __init ipoib_init(void)
{
	int err;

	ipoib_send_queue_size = ipoib_ring_size(ipoib_send_queue_size);
	ipoib_recv_queue_size = ipoib_ring_size(ipoib_recv_queue_size);
	err = ipoib_reaper_init();
	if (err)
		return err;
	err = ipoib_parking_init();
	if (err)
		goto exit_reaper;
	err = ipoib_netlink_init();
	if (err)
		goto exit_parking;
	err = ib_client_register(&ipoib_client);
	if (err)
		goto exit_netlink;
	return 0;

exit_netlink:
	ipoib_netlink_exit();
exit_parking:
	ipoib_parking_exit();
exit_reaper:
	ipoib_reaper_exit();
	return err;
}

/* Interfaces are created by devices alone, so none comes after the client has left. */
static void __exit ipoib_exit(void)
{
	ipoib_netlink_exit();
	ib_client_unregister(&ipoib_client);
	ipoib_parking_exit();
	ipoib_reaper_exit();
}

module_init(ipoib_init);
module_exit(ipoib_exit);

MODULE_DESCRIPTION("LastRef IP over InfiniBand");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK("ipoib");
#ifdef LASTREF_VERSION
MODULE_VERSION(LASTREF_VERSION);
#endif
