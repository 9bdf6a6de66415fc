// SPDX-License-Identifier: GPL-2.0-only
/* Sending: one ring under the transmit lock, emptied by a poll function of its own. */
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <linux/tcp.h>

#include "ipoib.h"

/* For both halves of "the ring is full": who stops the queue looks again afterwards. */
static unsigned int ipoib_tx_room(const struct ipoib_queues *q)
{
	return q->tx_size - (READ_ONCE(q->tx_head) - READ_ONCE(q->tx_tail));
}

static void ipoib_tx_unmap(struct ipoib_iface *iface, struct ipoib_tx *slot)
{
	struct device *dma = iface->dev->dma;
	unsigned int i = 0, frag = 0;

	if (slot->linear)
		dma_unmap_single(dma, slot->dma[i++], slot->linear, DMA_TO_DEVICE);
	for (; i < slot->count; i++, frag++)
		dma_unmap_page(dma, slot->dma[i],
			       skb_frag_size(&skb_shinfo(slot->skb)->frags[frag]), DMA_TO_DEVICE);
}

/* Map a packet without the @skip bytes at its beginning, which travel in the request itself. */
static int ipoib_tx_map(struct ipoib_iface *iface, struct ipoib_tx *slot, unsigned int skip)
{
	struct device *dma = iface->dev->dma;
	struct sk_buff *skb = slot->skb;
	dma_addr_t addr;
	int i;

	slot->linear = skb_headlen(skb) - skip;
	slot->count = 0;
	if (slot->linear) {
		addr = dma_map_single(dma, skb->data + skip, slot->linear, DMA_TO_DEVICE);
		if (dma_mapping_error(dma, addr))
			return -EIO;
		slot->dma[slot->count++] = addr;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		addr = skb_frag_dma_map(dma, frag, 0, skb_frag_size(frag), DMA_TO_DEVICE);
		if (dma_mapping_error(dma, addr)) {
			ipoib_tx_unmap(iface, slot);
			return -EIO;
		}
		slot->dma[slot->count++] = addr;
	}
	return 0;
}

static void ipoib_tx_request(struct ipoib_iface *iface, struct ipoib_tx *slot, u32 qpn,
			     unsigned int hlen, struct ib_send_wr *wr, struct ib_sge *sge)
{
	struct ipoib_queues *q = iface->queues;
	struct sk_buff *skb = slot->skb;
	unsigned int i = 0, frag = 0;

	if (slot->linear)
		sge[i++].length = slot->linear;
	for (; i < slot->count; i++, frag++)
		sge[i].length = skb_frag_size(&skb_shinfo(skb)->frags[frag]);
	for (i = 0; i < slot->count; i++) {
		sge[i].addr = slot->dma[i];
		sge[i].lkey = iface->dev->pd->local_dma_lkey;
	}
	wr->next = NULL;
	wr->wr_id = (u64)q->epoch << 32 | (q->tx_head & (q->tx_size - 1));
	wr->sg_list = sge;
	wr->num_sge = slot->count;
	wr->opcode = IB_WR_SEND;
	wr->flags = skb->ip_summed == CHECKSUM_PARTIAL ? IB_SEND_IP_CSUM : 0;
	wr->ud.ah = slot->ah->ah;
	wr->ud.qpn = qpn;
	wr->ud.qkey = READ_ONCE(iface->qkey);
	if (hlen) {
		wr->opcode = IB_WR_LSO;
		wr->ud.header = skb->data;
		wr->ud.hlen = hlen;
		wr->ud.mss = skb_shinfo(skb)->gso_size;
	}
}

/* Make a packet fit into a request.  *@hlen: what a large packet repeats in each piece, else 0. */
static int ipoib_tx_fit(struct ipoib_iface *iface, struct sk_buff *skb, unsigned int *hlen)
{
	unsigned int pieces;

	*hlen = 0;
	if (skb_is_gso(skb)) {
		*hlen = skb_tcp_all_headers(skb);
		if (unlikely(!pskb_may_pull(skb, *hlen)))
			return -EINVAL;
		atomic_long_inc(&iface->counts.tx_tso);
	} else if (unlikely(skb->len > iface->netdev->mtu + IPOIB_ENCAP_LEN)) {
		return -EMSGSIZE;
	}
	pieces = skb_shinfo(skb)->nr_frags + (skb_headlen(skb) > *hlen);
	if (likely(pieces <= iface->queues->max_sge))
		return 0;
	atomic_long_inc(&iface->counts.tx_linearized);
	return skb_linearize(skb);
}

static void ipoib_tx_drop(struct ipoib_iface *iface, struct sk_buff *skb, struct ipoib_ah *ah)
{
	DEV_STATS_INC(iface->netdev, tx_errors);
	dev_core_stats_tx_dropped_inc(iface->netdev);
	dev_kfree_skb_any(skb);
	ipoib_ah_put(ah);
}

/* With room for one more at the end, as ipoib_xmit() has found it. */
static void ipoib_tx_stop_when_full(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;

	if (likely(ipoib_tx_room(q)))
		return;
	netif_stop_queue(iface->netdev);
	/* Pairs with the barrier of ipoib_tx_poll(): one of the two sees what the other did. */
	smp_mb();
	if (ipoib_tx_room(q))
		netif_start_queue(iface->netdev);
}

/**
 * ipoib_post() - hand a packet to the hardware
 * @iface: the interface; packets may be posted
 * @skb: the packet, from its struct ipoib_header on
 * @ah: where to; the reference is taken over
 * @qpn: the queue pair there
 *
 * Whatever comes of it, the packet is dealt with.  Context: under the transmit lock.
 */
void ipoib_post(struct ipoib_iface *iface, struct sk_buff *skb, struct ipoib_ah *ah, u32 qpn)
{
	struct ipoib_queues *q = iface->queues;
	struct ipoib_tx *slot = &q->tx[q->tx_head & (q->tx_size - 1)];
	struct ib_sge sge[MAX_SKB_FRAGS + 1];
	const struct ib_send_wr *bad;
	struct ib_send_wr wr;
	unsigned int hlen, len;

	skb_pull(skb, INFINIBAND_ALEN);
	slot->skb = skb;
	slot->ah = ah;
	if (unlikely(ipoib_tx_fit(iface, skb, &hlen) || ipoib_tx_map(iface, slot, hlen))) {
		ipoib_tx_drop(iface, skb, ah);
		return;
	}
	ipoib_tx_request(iface, slot, qpn, hlen, &wr, sge);
	len = skb->len;
	skb_tx_timestamp(skb);
	/* Everything that the poll function looks at is set before the completion can come. */
	netdev_sent_queue(iface->netdev, len);
	/* Pairs with the load in ipoib_tx_one(). */
	smp_store_release(&q->tx_head, q->tx_head + 1);
	if (unlikely(ib_qp_post_send(q->qp, &wr, &bad))) {
		WRITE_ONCE(q->tx_head, q->tx_head - 1);
		netdev_completed_queue(iface->netdev, 1, len);
		ipoib_tx_unmap(iface, slot);
		ipoib_tx_drop(iface, skb, ah);
		return;
	}
	ipoib_tx_stop_when_full(iface);
}

/**
 * ipoib_xmit() - &net_device_ops.ndo_start_xmit
 * @skb: the packet
 * @netdev: the interface
 *
 * Return: NETDEV_TX_OK, or NETDEV_TX_BUSY: the ring is full.
 */
netdev_tx_t ipoib_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	const struct ipoib_header *header = (const struct ipoib_header *)skb->data;
	struct ipoib_iface *iface = netdev_priv(netdev);

	if (unlikely(!iface->running || !pskb_may_pull(skb, sizeof(*header)))) {
		dev_core_stats_tx_dropped_inc(netdev);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	header = (const struct ipoib_header *)skb->data;
	if (unlikely(!ipoib_tx_room(iface->queues))) {
		netif_stop_queue(netdev);
		/* As in ipoib_tx_stop_when_full(): the last completions may have come. */
		smp_mb();
		if (!ipoib_tx_room(iface->queues))
			return NETDEV_TX_BUSY;
		netif_start_queue(netdev);
	}
	if (unlikely(!ipoib_proto_known(header->proto))) {
		atomic_long_inc(&iface->counts.tx_dropped_unknown);
		dev_core_stats_tx_dropped_inc(netdev);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	rcu_read_lock();
	if (ipoib_addr_is_group(header->daddr))
		ipoib_group_xmit(iface, skb);
	else
		ipoib_path_xmit(iface, skb);
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

static void ipoib_tx_free(struct ipoib_iface *iface, struct ipoib_tx *slot, int budget)
{
	ipoib_tx_unmap(iface, slot);
	napi_consume_skb(slot->skb, budget);
	ipoib_ah_put(slot->ah);
	slot->skb = NULL;
}

static void ipoib_tx_bad(struct ipoib_iface *iface, const struct ib_wc *wc)
{
	DEV_STATS_INC(iface->netdev, tx_errors);
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	net_warn_ratelimited("%s: a send ended with %s (0x%x)\n", netdev_name(iface->netdev),
			     ib_wc_status_name(wc->status), wc->vendor_err);
	ipoib_ask(iface, IPOIB_FLUSH_RESTART);
}

/**
 * struct ipoib_tx_sum - what a poll has found completed
 * @packets: requests
 * @wire: packets on the wire
 * @bytes: bytes
 */
struct ipoib_tx_sum {
	unsigned int packets;
	unsigned int wire;
	unsigned int bytes;
};

static void ipoib_tx_one(struct ipoib_iface *iface, const struct ib_wc *wc, int budget,
			 struct ipoib_tx_sum *sum)
{
	struct ipoib_queues *q = iface->queues;
	struct ipoib_tx *slot = &q->tx[q->tx_done & (q->tx_size - 1)];

	/* In order, as the queue is; another epoch's are no longer ours. */
	if (unlikely(upper_32_bits(wc->wr_id) != q->epoch))
		return;
	/* Pairs with the store in ipoib_post(). */
	if (unlikely(smp_load_acquire(&q->tx_head) == q->tx_done))
		return;
	WRITE_ONCE(q->tx_done, q->tx_done + 1);
	if (unlikely(wc->status != IB_WC_SUCCESS))
		ipoib_tx_bad(iface, wc);
	else
		sum->wire += skb_is_gso(slot->skb) ? skb_shinfo(slot->skb)->gso_segs : 1;
	/* As with receives: what was flushed is given back, or not, when the queues stop. */
	if (unlikely(wc->status == IB_WC_WR_FLUSH_ERR || q->tx_done != q->tx_tail + 1))
		return;
	sum->packets++;
	sum->bytes += slot->skb->len;
	ipoib_tx_free(iface, slot, budget);
	WRITE_ONCE(q->tx_tail, q->tx_tail + 1);
}

static void ipoib_tx_done(struct ipoib_iface *iface, const struct ipoib_tx_sum *sum)
{
	struct net_device *netdev = iface->netdev;
	struct netdev_queue *txq = netdev_get_tx_queue(netdev, 0);
	struct ipoib_queues *q = iface->queues;

	/* What a post refused is taken back under this lock, and BQL has none of its own. */
	__netif_tx_lock(txq, smp_processor_id());
	netdev_completed_queue(netdev, sum->packets, sum->bytes);
	__netif_tx_unlock(txq);
	if (sum->wire)
		dev_sw_netstats_tx_add(netdev, sum->wire, sum->bytes);
	/* Pairs with ipoib_tx_stop_when_full(). */
	smp_mb();
	if (netif_queue_stopped(netdev) && ipoib_tx_room(q) >= q->tx_size / 2 &&
	    netif_running(netdev))
		netif_wake_queue(netdev);
}

/**
 * ipoib_tx_poll() - take what was sent
 * @napi: &ipoib_iface.tx_napi
 * @budget: at most so many
 *
 * Return: how many.
 */
int ipoib_tx_poll(struct napi_struct *napi, int budget)
{
	struct ipoib_iface *iface = container_of(napi, struct ipoib_iface, tx_napi);
	struct ipoib_queues *q = iface->queues;
	struct ipoib_tx_sum sum = {};
	int done = 0, want, n, i;

	do {
		want = min(budget - done, IPOIB_BATCH);
		n = want > 0 ? ib_cq_poll(q->tx_cq, want, q->tx_wc) : 0;
		for (i = 0; i < n; i++)
			ipoib_tx_one(iface, &q->tx_wc[i], budget, &sum);
		done += max(n, 0);
	} while (n > 0 && n == want);
	if (sum.packets)
		ipoib_tx_done(iface, &sum);
	if (unlikely(!READ_ONCE(q->posting)))
		wake_up(&iface->drained);
	if (done < budget && napi_complete_done(napi, done) &&
	    ib_cq_arm(q->tx_cq, IB_CQ_NEXT_COMP) > 0)
		napi_schedule(napi);
	return done;
}

/**
 * ipoib_tx_release() - the end of the sends that are left
 * @iface: the interface; nothing polls, nothing is sent, the hardware has provably done with them
 */
void ipoib_tx_release(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;

	for (; q->tx_tail != q->tx_head; q->tx_tail++)
		ipoib_tx_free(iface, &q->tx[q->tx_tail & (q->tx_size - 1)], 0);
	netdev_reset_queue(iface->netdev);
}

/**
 * ipoib_tx_keep() - the hardware may read the sends that are left for ever
 * @iface: the interface; nothing polls, nothing is sent
 *
 * What hangs from the packets is let go: neither a socket nor a route is to wait for them.
 *
 * Return: how many they are.
 */
unsigned int ipoib_tx_keep(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;
	unsigned int i;

	for (i = q->tx_tail; i != q->tx_head; i++) {
		struct ipoib_tx *slot = &q->tx[i & (q->tx_size - 1)];

		/* Its fragments hold their pages by themselves. */
		skb_zcopy_clear(slot->skb, false);
		skb_orphan(slot->skb);
		skb_dst_drop(slot->skb);
		nf_reset_ct(slot->skb);
		skb_ext_reset(slot->skb);
		ipoib_ah_put(slot->ah);
		slot->ah = NULL;
	}
	netdev_reset_queue(iface->netdev);
	return q->tx_head - q->tx_tail;
}
