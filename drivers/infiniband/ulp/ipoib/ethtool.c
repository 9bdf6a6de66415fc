// SPDX-License-Identifier: GPL-2.0-only
/* ethtool -i, -S, -g/-G, -c/-C, and the link's speed. */
#include <linux/ethtool.h>
#include <linux/log2.h>

#include <ib/hca.h>

#include "ipoib.h"

static void ipoib_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	struct ipoib_dev *dev = ipoib_dev_of(iface);

	strscpy(info->driver, "ib_ipoib", sizeof(info->driver));
#ifdef LASTREF_VERSION
	strscpy(info->version, LASTREF_VERSION, sizeof(info->version));
#endif
	if (netdev->dev.parent)
		strscpy(info->bus_info, dev_name(netdev->dev.parent), sizeof(info->bus_info));
	if (!dev)
		return;
	strscpy(info->fw_version, dev->ib->fw_ver, sizeof(info->fw_version));
	ipoib_dev_put(dev);
}

/**
 * struct ipoib_stat - a line of `ethtool -S`
 * @name: its name
 * @offset: of the counter in struct ipoib_counts
 */
struct ipoib_stat {
	char name[ETH_GSTRING_LEN];
	size_t offset;
};

#define IPOIB_STAT(counter) { #counter, offsetof(struct ipoib_counts, counter) }

static const struct ipoib_stat ipoib_stats[] = {
	IPOIB_STAT(path_queries),
	IPOIB_STAT(path_errors),
	IPOIB_STAT(joins),
	IPOIB_STAT(join_errors),
	IPOIB_STAT(flush_light),
	IPOIB_STAT(flush_normal),
	IPOIB_STAT(flush_heavy),
	IPOIB_STAT(restarts),
	IPOIB_STAT(tx_dropped_unknown),
	IPOIB_STAT(tx_dropped_waiting),
	IPOIB_STAT(tx_linearized),
	IPOIB_STAT(tx_tso),
	IPOIB_STAT(rx_copied),
};

/* Shown by the names users know from the in-tree module, before our own. */
static const char ipoib_known_stats[][ETH_GSTRING_LEN] = {
	"rx_packets", "rx_bytes", "rx_errors", "rx_dropped",
	"tx_packets", "tx_bytes", "tx_errors", "tx_dropped",
};

static int ipoib_get_sset_count(struct net_device *netdev, int sset)
{
	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(ipoib_known_stats) + ARRAY_SIZE(ipoib_stats);
}

static void ipoib_get_strings(struct net_device *netdev, u32 sset, u8 *data)
{
	unsigned int i;

	if (sset != ETH_SS_STATS)
		return;
	memcpy(data, ipoib_known_stats, sizeof(ipoib_known_stats));
	data += sizeof(ipoib_known_stats);
	for (i = 0; i < ARRAY_SIZE(ipoib_stats); i++)
		memcpy(data + i * ETH_GSTRING_LEN, ipoib_stats[i].name, ETH_GSTRING_LEN);
}

static void ipoib_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats,
				    u64 *data)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	struct rtnl_link_stats64 s;
	const u8 *counts = (const u8 *)&iface->counts;
	unsigned int i;

	dev_get_stats(netdev, &s);
	*data++ = s.rx_packets;
	*data++ = s.rx_bytes;
	*data++ = s.rx_errors;
	*data++ = s.rx_dropped;
	*data++ = s.tx_packets;
	*data++ = s.tx_bytes;
	*data++ = s.tx_errors;
	*data++ = s.tx_dropped;
	for (i = 0; i < ARRAY_SIZE(ipoib_stats); i++)
		*data++ = atomic_long_read((const atomic_long_t *)(counts + ipoib_stats[i].offset));
}

static void ipoib_get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	ring->rx_max_pending = IPOIB_RING_MAX;
	ring->tx_max_pending = IPOIB_RING_MAX;
	ring->rx_pending = iface->rx_wanted;
	ring->tx_pending = iface->tx_wanted;
}

/* Other sizes are another QP, so the interface gets another address; ARP tells the peers. */
static int ipoib_set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			       struct kernel_ethtool_ringparam *kernel_ring,
			       struct netlink_ext_ack *extack)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	unsigned int rx, tx;

	if (ring->rx_mini_pending || ring->rx_jumbo_pending)
		return -EINVAL;
	rx = roundup_pow_of_two(max_t(u32, ring->rx_pending, IPOIB_RING_MIN));
	tx = roundup_pow_of_two(max_t(u32, ring->tx_pending, IPOIB_RING_MIN));
	if (rx == iface->rx_wanted && tx == iface->tx_wanted)
		return 0;
	WRITE_ONCE(iface->rx_wanted, rx);
	WRITE_ONCE(iface->tx_wanted, tx);
	ipoib_ask(iface, IPOIB_FLUSH_REBUILD);
	return 0;
}

static int ipoib_get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coal,
			      struct kernel_ethtool_coalesce *kernel_coal,
			      struct netlink_ext_ack *extack)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	coal->rx_coalesce_usecs = iface->rx_moderation.usecs;
	coal->rx_max_coalesced_frames = iface->rx_moderation.frames;
	coal->tx_coalesce_usecs = iface->tx_moderation.usecs;
	coal->tx_max_coalesced_frames = iface->tx_moderation.frames;
	return 0;
}

static int ipoib_set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coal,
			      struct kernel_ethtool_coalesce *kernel_coal,
			      struct netlink_ext_ack *extack)
{
	struct ipoib_iface *iface = netdev_priv(netdev);

	if (coal->rx_coalesce_usecs > U16_MAX || coal->rx_max_coalesced_frames > U16_MAX ||
	    coal->tx_coalesce_usecs > U16_MAX || coal->tx_max_coalesced_frames > U16_MAX) {
		NL_SET_ERR_MSG(extack, "at most 65535");
		return -EINVAL;
	}
	WRITE_ONCE(iface->rx_moderation.usecs, coal->rx_coalesce_usecs);
	WRITE_ONCE(iface->rx_moderation.frames, coal->rx_max_coalesced_frames);
	WRITE_ONCE(iface->tx_moderation.usecs, coal->tx_coalesce_usecs);
	WRITE_ONCE(iface->tx_moderation.frames, coal->tx_max_coalesced_frames);
	/* A command to the HCA, which is not given under RTNL. */
	WRITE_ONCE(iface->moderate, true);
	ipoib_kick(iface);
	return 0;
}

static int ipoib_get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *cmd)
{
	struct ipoib_iface *iface = netdev_priv(netdev);
	struct ipoib_dev *dev = ipoib_dev_of(iface);
	struct ib_port_attr attr = {};
	unsigned int speed = 0;

	if (dev) {
		if (!ib_port_cached(dev->ib, iface->port, &attr))
			speed = ib_link_rate(&attr) * 100; /* Mbit/s */
		ipoib_dev_put(dev);
	}
	cmd->base.speed = netif_carrier_ok(netdev) && speed ? speed : SPEED_UNKNOWN;
	cmd->base.duplex = cmd->base.speed == SPEED_UNKNOWN ? DUPLEX_UNKNOWN : DUPLEX_FULL;
	cmd->base.port = PORT_OTHER;
	cmd->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

const struct ethtool_ops ipoib_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES,
	.get_drvinfo = ipoib_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = ipoib_get_link_ksettings,
	.get_sset_count = ipoib_get_sset_count,
	.get_strings = ipoib_get_strings,
	.get_ethtool_stats = ipoib_get_ethtool_stats,
	.get_ringparam = ipoib_get_ringparam,
	.set_ringparam = ipoib_set_ringparam,
	.get_coalesce = ipoib_get_coalesce,
	.set_coalesce = ipoib_set_coalesce,
};
