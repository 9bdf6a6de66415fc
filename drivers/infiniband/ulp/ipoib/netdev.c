// SPDX-License-Identifier: GPL-2.0-only
/* The net_device: what the network stack asks of it, and what it shows. */
#include <linux/if_arp.h>
#include <linux/log2.h>
#include <linux/rtnetlink.h>

#include "ipoib.h"

/* The smallest MTU: what IPv4 needs, as the minimum of a datagram, behind the header. */
#define IPOIB_MTU_MIN (68 + IPOIB_ENCAP_LEN)
#define IPOIB_WATCHDOG (10 * HZ)

static int ipoib_open(struct net_device *netdev)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	netif_start_queue(netdev);
	WRITE_ONCE(iface->up, true);
	ipoib_kick(iface);
	return 0;
}

/* Never fails: if the hardware takes its time, the work item goes on. */
static int ipoib_stop(struct net_device *netdev)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	WRITE_ONCE(iface->up, false);
	netif_stop_queue(netdev);
	ipoib_kick(iface);
	if (!ipoib_rtnl_wait(ipoib_settle(iface, IPOIB_BARE, IPOIB_MADE, ipoib_rtnl_left())))
		ipoib_warn(iface, "the HCA needs long to stop, not waiting for it\n");
	return 0;
}

static void ipoib_uninit(struct net_device *netdev)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	ipoib_detach(iface);
	if (!ipoib_rtnl_wait(ipoib_detach_wait(iface, ipoib_rtnl_left())))
		ipoib_warn(iface, "the HCA needs long to stop, its objects go later\n");
	if (!iface->parent)
		return;
	list_del_init(&iface->sibling);
	dev_put(iface->parent->netdev);
	iface->parent = NULL;
}

static void ipoib_set_rx_mode(struct net_device *netdev)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	WRITE_ONCE(iface->list_changed, true);
	ipoib_kick(iface);
}

static unsigned int ipoib_mtu_limit(const struct ipoib_shown *shown)
{
	return shown->group_mtu ? min(shown->group_mtu, shown->max_mtu) : shown->max_mtu;
}

static struct ipoib_shown ipoib_shown_now(struct ipoib_iface *iface)
{
	struct ipoib_shown shown;

	spin_lock_irq(&iface->lock);
	shown = iface->shown;
	spin_unlock_irq(&iface->lock);
	return shown;
}

/* What the user wants is remembered, and granted as far as the broadcast group goes. */
static int ipoib_change_mtu(struct net_device *netdev, int mtu)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	struct ipoib_shown shown = ipoib_shown_now(iface);

	if (!iface->group_limits)
		iface->admin_mtu = mtu;
	WRITE_ONCE(netdev->mtu, min_t(unsigned int, mtu, ipoib_mtu_limit(&shown) ?: mtu));
	return 0;
}

static netdev_features_t ipoib_fix_features(struct net_device *netdev, netdev_features_t features)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	struct ipoib_shown shown = ipoib_shown_now(iface);

	if (!shown.csum)
		features &= ~(NETIF_F_IP_CSUM | NETIF_F_RXCSUM | NETIF_F_TSO);
	if (!shown.lso)
		features &= ~NETIF_F_TSO;
	return features;
}

/* A dead HCA is not restarted: it is on its way out, or the machine is. */
static void ipoib_tx_timeout(struct net_device *netdev, unsigned int txqueue)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	struct ipoib_dev *dev = ipoib_dev_of(iface);

	if (!dev)
		return;
	if (!ib_device_enter(dev->ib)) {
		ib_device_exit(dev->ib);
		ipoib_warn(iface, "sends do not complete, restarting the queues\n");
		ipoib_ask(iface, IPOIB_FLUSH_RESTART);
	}
	ipoib_dev_put(dev);
}

static int ipoib_get_iflink(const struct net_device *netdev)
{
	const struct ipoib_iface *iface = netdev_priv(netdev);

	return iface->parent ? iface->parent->netdev->ifindex : netdev->ifindex;
}

/* Only the interface part of the GID may be chosen, and only while the interface is down. */
static int ipoib_set_mac_address(struct net_device *netdev, void *p)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	const struct sockaddr_storage *ss = p;
	const u8 *addr = (const u8 *)ss->__data;
	__be64 guid;

	if (netif_running(netdev))
		return -EBUSY;
	memcpy(&guid, addr + INFINIBAND_ALEN - sizeof(guid), sizeof(guid));
	if (memcmp(addr, netdev->dev_addr, INFINIBAND_ALEN - sizeof(guid)) || !guid)
		return -EINVAL;
	WRITE_ONCE(iface->user_guid, guid);
	dev_addr_set(netdev, addr);
	ipoib_kick(iface);
	return 0;
}

static const struct net_device_ops ipoib_netdev_ops = {
	.ndo_uninit = ipoib_uninit,
	.ndo_open = ipoib_open,
	.ndo_stop = ipoib_stop,
	.ndo_start_xmit = ipoib_xmit,
	.ndo_set_rx_mode = ipoib_set_rx_mode,
	.ndo_change_mtu = ipoib_change_mtu,
	.ndo_fix_features = ipoib_fix_features,
	.ndo_tx_timeout = ipoib_tx_timeout,
	.ndo_get_iflink = ipoib_get_iflink,
	.ndo_get_stats64 = dev_get_tstats64,
	.ndo_set_mac_address = ipoib_set_mac_address,
};

static int ipoib_header_create(struct sk_buff *skb, struct net_device *netdev, unsigned short type,
			       const void *daddr, const void *saddr, unsigned int len)
{
	/* A packet socket that was bound, and sends without an address, gives none. */
	if (!daddr)
		return -EINVAL;
	return ipoib_header_push(skb, daddr, type);
}

static const struct header_ops ipoib_header_ops = {
	.create = ipoib_header_create,
};

/**
 * ipoib_is_ours() - is a net_device one of this module?
 * @netdev: the net_device
 *
 * Return: yes, if so.
 */
bool ipoib_is_ours(const struct net_device *netdev)
{
	return netdev->netdev_ops == &ipoib_netdev_ops;
}

/* What ipoib_iface_prepare() has done; as often as you like. */
static void ipoib_destructor(struct net_device *netdev)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	if (!iface->ready)
		return;
	iface->ready = false;
	ipoib_paths_exit(iface);
	ipoib_groups_exit(iface);
	free_percpu(netdev->tstats);
	netdev->tstats = NULL;
}

/**
 * ipoib_setup() - what all interfaces have in common, for alloc_netdev() and rtnetlink
 * @netdev: the net_device
 */
void ipoib_setup(struct net_device *netdev)
{
	netdev->netdev_ops = &ipoib_netdev_ops;
	netdev->header_ops = &ipoib_header_ops;
	netdev->ethtool_ops = &ipoib_ethtool_ops;
	netdev->rtnl_link_ops = &ipoib_link_ops;
	netdev->needs_free_netdev = true;
	netdev->priv_destructor = ipoib_destructor;
	netdev->watchdog_timeo = IPOIB_WATCHDOG;
	netdev->flags |= IFF_BROADCAST | IFF_MULTICAST;
	netdev->type = ARPHRD_INFINIBAND;
	netdev->addr_len = INFINIBAND_ALEN;
	netdev->hard_header_len = IPOIB_HARD_HEADER_LEN;
	netdev->tx_queue_len = 2 * ipoib_send_queue_size;
	netdev->features = NETIF_F_SG | NETIF_F_HIGHDMA | NETIF_F_VLAN_CHALLENGED;
	netdev->min_mtu = IPOIB_MTU_MIN;
	/* The addresses of ARP come from the route. */
	netif_keep_dst(netdev);
}

static void ipoib_netdev_work(struct work_struct *work)
{
	struct ipoib_iface *iface = container_of(work, struct ipoib_iface, netdev_work);
	struct net_device *netdev = iface->netdev;

	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED)
		ipoib_netdev_sync(iface);
	rtnl_unlock();
	dev_put(netdev);
}

/**
 * ipoib_netdev_tell() - what is to be shown has changed
 * @iface: the interface
 */
void ipoib_netdev_tell(struct ipoib_iface *iface)
{
	dev_hold(iface->netdev);
	if (!queue_work(ipoib_rtnl_wq, &iface->netdev_work))
		dev_put(iface->netdev);
}

static void ipoib_iface_init(struct ipoib_iface *iface, struct net_device *netdev)
{
	iface->netdev = netdev;
	INIT_LIST_HEAD(&iface->children);
	INIT_LIST_HEAD(&iface->sibling);
	INIT_WORK(&iface->netdev_work, ipoib_netdev_work);
	ipoib_reap_prepare(iface);
	ipoib_parking_prepare(iface);
	ipoib_work_init(iface);
	iface->rx_wanted = ipoib_recv_queue_size;
	iface->tx_wanted = ipoib_send_queue_size;
}

/* What the port looks like at this moment, so that the interface begins with its address. */
static void ipoib_iface_first_look(struct ipoib_iface *iface, struct ipoib_dev *dev)
{
	struct ib_port_attr attr;
	struct ipoib_facts facts;

	iface->dev = dev;
	ipoib_look(iface, &facts);
	iface->dev = NULL;
	iface->facts = facts;
	iface->shown.pkey = facts.pkey;
	iface->shown.gid = facts.gid;
	if (!ib_port_cached(dev->ib, iface->port, &attr))
		iface->max_mtu = ib_mtu_bytes(attr.max_mtu) - IPOIB_ENCAP_LEN;
	iface->shown.max_mtu = iface->max_mtu;
	iface->admin_mtu = iface->max_mtu;
	iface->shown.lso = true;
	iface->shown.csum = ib_device_attr(dev->ib)->device_cap_flags & IPOIB_CAP_UD_CSUM;
}

/**
 * ipoib_iface_prepare() - make an interface of a new net_device
 * @netdev: after ipoib_setup(), not registered
 * @dev: the device it will stand on
 * @port: the port
 * @child_pkey: partition of a child, with the full member bit; 0: a port's own interface
 * @kind: how it came to be
 *
 * Return: 0 or -ENOMEM, and free_netdev() is all that is owed.
 */
int ipoib_iface_prepare(struct net_device *netdev, struct ipoib_dev *dev, u8 port, u16 child_pkey,
			enum ipoib_kind kind)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	int err;

	ipoib_iface_init(iface, netdev);
	iface->kind = kind;
	iface->peers_know = true;
	iface->port = port;
	iface->child_pkey = child_pkey;
	netdev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!netdev->tstats)
		return -ENOMEM;
	err = ipoib_paths_init(iface);
	if (err)
		goto free_stats;
	err = ipoib_groups_init(iface);
	if (err)
		goto exit_paths;
	iface->ready = true;
	netif_napi_add(netdev, &iface->rx_napi, ipoib_rx_poll);
	netif_napi_add_tx(netdev, &iface->tx_napi, ipoib_tx_poll);
	ipoib_iface_first_look(iface, dev);
	netif_carrier_off(netdev);
	SET_NETDEV_DEV(netdev, dev->dma);
	netdev->dev_port = port - 1;
	netdev->dev_id = port - 1;
	ipoib_netdev_sync(iface);
	return 0;

exit_paths:
	ipoib_paths_exit(iface);
free_stats:
	free_percpu(netdev->tstats);
	netdev->tstats = NULL;
	return err;
}

/**
 * ipoib_iface_discard() - free an interface that is not registered
 * @iface: the interface; stands on no device
 *
 * Context: may sleep; no RTNL.
 */
void ipoib_iface_discard(struct ipoib_iface *iface)
{
	struct net_device *netdev = iface->netdev;

	if (cancel_work_sync(&iface->netdev_work))
		dev_put(netdev);
	ipoib_destructor(netdev);
	free_netdev(netdev);
}

static void ipoib_sync_address(struct ipoib_iface *iface, const struct ipoib_shown *shown)
{
	u8 addr[INFINIBAND_ALEN], broadcast[INFINIBAND_ALEN];
	struct net_device *netdev = iface->netdev;

	ipoib_addr_pack(addr, shown->qpn, &shown->gid);
	ipoib_broadcast_pack(broadcast, shown->pkey);
	if (!memcmp(addr, netdev->dev_addr, sizeof(addr)) &&
	    !memcmp(broadcast, netdev->broadcast, sizeof(broadcast)))
		return;
	memcpy(netdev->broadcast, broadcast, sizeof(broadcast));
	dev_addr_set(netdev, addr);
	iface->peers_know = netdev->reg_state != NETREG_REGISTERED;
	if (!iface->peers_know)
		call_netdevice_notifiers(NETDEV_CHANGEADDR, netdev);
}

/* Those who talk to us have another QPN in their tables: ARP and neighbour discovery tell them. */
static void ipoib_sync_peers(struct ipoib_iface *iface, const struct ipoib_shown *shown)
{
	if (iface->peers_know || !shown->up)
		return;
	iface->peers_know = true;
	call_netdevice_notifiers(NETDEV_NOTIFY_PEERS, iface->netdev);
}

static void ipoib_sync_mtu(struct ipoib_iface *iface, const struct ipoib_shown *shown)
{
	struct net_device *netdev = iface->netdev;
	unsigned int mtu;

	if (!shown->max_mtu)
		return;
	netdev->max_mtu = shown->max_mtu;
	mtu = min(iface->admin_mtu, ipoib_mtu_limit(shown));
	if (mtu == netdev->mtu)
		return;
	if (netdev->reg_state != NETREG_REGISTERED) {
		netdev->mtu = mtu;
		return;
	}
	iface->group_limits = true;
	if (dev_set_mtu(netdev, mtu))
		ipoib_warn(iface, "the MTU stays at %u, the broadcast group has %u\n", netdev->mtu,
			   mtu);
	iface->group_limits = false;
}

/* What may be switched on is settled with the registration; what the HCA lost goes later, too. */
static void ipoib_sync_features(struct net_device *netdev, const struct ipoib_shown *shown)
{
	netdev_features_t can = NETIF_F_SG;

	if (netdev->reg_state == NETREG_REGISTERED) {
		netdev_update_features(netdev);
		return;
	}
	if (shown->csum)
		can |= NETIF_F_IP_CSUM | NETIF_F_RXCSUM;
	if (shown->csum && shown->lso)
		can |= NETIF_F_TSO;
	netdev->hw_features = can;
	netdev->features |= can;
}

/**
 * ipoib_netdev_sync() - show what there is
 * @iface: the interface; registered, or not yet
 *
 * Context: RTNL, if it is registered.
 */
void ipoib_netdev_sync(struct ipoib_iface *iface)
{
	struct ipoib_shown shown = ipoib_shown_now(iface);

	ipoib_sync_address(iface, &shown);
	ipoib_sync_mtu(iface, &shown);
	ipoib_sync_features(iface->netdev, &shown);
	ipoib_sync_peers(iface, &shown);
}
