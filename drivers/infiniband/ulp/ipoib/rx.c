// SPDX-License-Identifier: GPL-2.0-only
/* Receiving: buffers, completions, and what the network stack gets. */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "ipoib.h"

/* Packets of at most so many bytes are copied, and their buffer is used again. */
#define IPOIB_COPY_MAX 256
#define IPOIB_RX_MIN (IPOIB_GRH_LEN + IPOIB_ENCAP_LEN)

static u64 ipoib_rx_id(const struct ipoib_queues *q, unsigned int index)
{
	return (u64)q->epoch << 32 | index;
}

static int ipoib_rx_alloc(struct ipoib_iface *iface, struct ipoib_rx *slot, gfp_t gfp)
{
	struct device *dma = iface->dev->dma;
	unsigned int size = iface->queues->buf_size;
	struct sk_buff *skb = __netdev_alloc_skb(iface->netdev, size, gfp);
	dma_addr_t addr;

	if (!skb)
		return -ENOMEM;
	addr = dma_map_single(dma, skb->data, size, DMA_FROM_DEVICE);
	if (dma_mapping_error(dma, addr)) {
		dev_kfree_skb_any(skb);
		return -ENOMEM;
	}
	slot->skb = skb;
	slot->dma = addr;
	return 0;
}

static void ipoib_rx_unmap(struct ipoib_iface *iface, struct ipoib_rx *slot)
{
	dma_unmap_single(iface->dev->dma, slot->dma, iface->queues->buf_size, DMA_FROM_DEVICE);
}

static void ipoib_rx_free(struct ipoib_iface *iface, struct ipoib_rx *slot)
{
	if (!slot->skb)
		return;
	ipoib_rx_unmap(iface, slot);
	dev_kfree_skb_any(slot->skb);
	slot->skb = NULL;
}

/**
 * struct ipoib_rx_chain - receives that are posted at once
 * @count: how many
 * @index: their slots
 * @wr: the requests
 * @sge: their pieces
 */
struct ipoib_rx_chain {
	unsigned int count;
	unsigned int index[IPOIB_BATCH];
	struct ib_recv_wr wr[IPOIB_BATCH];
	struct ib_sge sge[IPOIB_BATCH];
};

static void ipoib_rx_chain_add(struct ipoib_iface *iface, struct ipoib_rx_chain *chain,
			       unsigned int index)
{
	struct ipoib_queues *q = iface->queues;
	struct ib_recv_wr *wr = &chain->wr[chain->count];
	struct ib_sge *sge = &chain->sge[chain->count];

	sge->addr = q->rx[index].dma;
	sge->length = q->buf_size;
	sge->lkey = iface->dev->pd->local_dma_lkey;
	wr->next = NULL;
	wr->wr_id = ipoib_rx_id(q, index);
	wr->sg_list = sge;
	wr->num_sge = 1;
	if (chain->count)
		wr[-1].next = wr;
	chain->index[chain->count++] = index;
}

/* Post a chain; what is not taken is freed. */
static int ipoib_rx_chain_post(struct ipoib_iface *iface, struct ipoib_rx_chain *chain)
{
	struct ipoib_queues *q = iface->queues;
	const struct ib_recv_wr *bad = NULL;
	unsigned int i;
	int err;

	if (!chain->count)
		return 0;
	/* Counted before the completion can come. */
	atomic_add(chain->count, &q->rx_posted);
	err = ib_qp_post_recv(q->qp, chain->wr, &bad);
	if (err) {
		i = bad ? bad - chain->wr : 0;
		atomic_sub(chain->count - i, &q->rx_posted);
		for (; i < chain->count; i++)
			ipoib_rx_free(iface, &q->rx[chain->index[i]]);
	}
	chain->count = 0;
	return err;
}

/**
 * ipoib_rx_fill() - post a buffer for each slot
 * @iface: the interface; its QP is in INIT
 *
 * Return: 0; -ENOMEM or the verb's error: what was posted is to be drained.
 */
int ipoib_rx_fill(struct ipoib_iface *iface)
{
	struct ipoib_rx_chain *chain = kzalloc(sizeof(*chain), GFP_KERNEL);
	struct ipoib_queues *q = iface->queues;
	unsigned int i;
	int err = 0;

	if (!chain)
		return -ENOMEM;
	for (i = 0; i < q->rx_size && !err; i++) {
		err = ipoib_rx_alloc(iface, &q->rx[i], GFP_KERNEL);
		if (!err)
			ipoib_rx_chain_add(iface, chain, i);
		if (chain->count == IPOIB_BATCH)
			err = ipoib_rx_chain_post(iface, chain);
	}
	if (!err)
		err = ipoib_rx_chain_post(iface, chain);
	while (chain->count)
		ipoib_rx_free(iface, &q->rx[chain->index[--chain->count]]);
	kfree(chain);
	return err;
}

/**
 * ipoib_rx_release() - the end of the buffers that are left
 * @iface: the interface; nothing polls, and the hardware has provably done with them
 */
void ipoib_rx_release(struct ipoib_iface *iface)
{
	struct ipoib_queues *q = iface->queues;
	unsigned int i;

	for (i = 0; i < q->rx_size; i++)
		ipoib_rx_free(iface, &q->rx[i]);
	atomic_set(&q->rx_posted, 0);
}

static void ipoib_rx_type(struct ipoib_iface *iface, struct sk_buff *skb, const struct ib_wc *wc,
			  const u8 *grh)
{
	const u8 *dgid = grh + IPOIB_GRH_DGID;

	skb->pkt_type = PACKET_HOST;
	if (!(wc->flags & IB_WC_GRH) || dgid[0] != 0xff)
		return;
	if (memcmp(dgid, iface->netdev->broadcast + IPOIB_ADDR_GID, sizeof(union ib_gid)))
		skb->pkt_type = PACKET_MULTICAST;
	else
		skb->pkt_type = PACKET_BROADCAST;
}

/* A packet of our own to a group we are in, from an HCA that cannot keep it back. */
static bool ipoib_rx_is_own(struct ipoib_iface *iface, const struct ib_wc *wc, const u8 *grh)
{
	return (wc->flags & IB_WC_GRH) && wc->src_qp == iface->queues->qp->qpn &&
	       !memcmp(grh + IPOIB_GRH_DGID - sizeof(union ib_gid), &iface->facts.gid,
		       sizeof(union ib_gid));
}

/* @skb begins with a GRH, whose place the header of the network stack takes. */
static void ipoib_rx_deliver(struct ipoib_iface *iface, struct sk_buff *skb,
			     const struct ib_wc *wc)
{
	struct net_device *netdev = iface->netdev;

	ipoib_rx_type(iface, skb, wc, skb->data);
	skb_pull(skb, IPOIB_GRH_LEN);
	skb->protocol = ((struct ipoib_header *)(skb->data - INFINIBAND_ALEN))->proto;
	memset(skb_push(skb, INFINIBAND_ALEN), 0, INFINIBAND_ALEN);
	skb_reset_mac_header(skb);
	skb_pull(skb, IPOIB_HARD_HEADER_LEN);
	skb->dev = netdev;
	if ((netdev->features & NETIF_F_RXCSUM) && (wc->flags & IB_WC_IP_CSUM_OK))
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	dev_sw_netstats_rx_add(netdev, skb->len);
	if (skb->pkt_type == PACKET_MULTICAST)
		DEV_STATS_INC(netdev, multicast);
	napi_gro_receive(&iface->rx_napi, skb);
}

/*
 * Memory for a copy.  napi_alloc_skb() takes a quarter of a page for it, whatever its length, which
 * a kernel that clears what it hands out (init_on_alloc) clears first; a head of a slab is smaller.
 */
static struct sk_buff *ipoib_rx_small(struct ipoib_iface *iface, unsigned int len)
{
	struct sk_buff *skb = __alloc_skb(NET_SKB_PAD + len, GFP_ATOMIC | __GFP_NOWARN,
					  SKB_ALLOC_RX | SKB_ALLOC_NAPI, NUMA_NO_NODE);

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb->dev = iface->netdev;
	return skb;
}

/* A copy of a small packet; the buffer stays where it is. */
static struct sk_buff *ipoib_rx_copy(struct ipoib_iface *iface, struct ipoib_rx *slot,
				     unsigned int len)
{
	struct sk_buff *skb = ipoib_rx_small(iface, len);

	if (!skb)
		return NULL;
	dma_sync_single_for_cpu(iface->dev->dma, slot->dma, len, DMA_FROM_DEVICE);
	skb_put_data(skb, slot->skb->data, len);
	dma_sync_single_for_device(iface->dev->dma, slot->dma, len, DMA_FROM_DEVICE);
	atomic_long_inc(&iface->counts.rx_copied);
	return skb;
}

/* The packet of a slot, with what the slot needs to be posted again; NULL: no memory, drop it. */
static struct sk_buff *ipoib_rx_take(struct ipoib_iface *iface, struct ipoib_rx *slot,
				     unsigned int len)
{
	struct ipoib_rx old = *slot;

	if (len <= IPOIB_RX_MIN + IPOIB_COPY_MAX)
		return ipoib_rx_copy(iface, slot, len);
	if (ipoib_rx_alloc(iface, slot, GFP_ATOMIC))
		return NULL;
	ipoib_rx_unmap(iface, &old);
	skb_put(old.skb, len);
	return old.skb;
}

static void ipoib_rx_good(struct ipoib_iface *iface, struct ipoib_rx *slot, const struct ib_wc *wc)
{
	struct net_device *netdev = iface->netdev;
	struct sk_buff *skb;

	if (unlikely(wc->byte_len < IPOIB_RX_MIN || wc->byte_len > iface->queues->buf_size)) {
		DEV_STATS_INC(netdev, rx_length_errors);
		DEV_STATS_INC(netdev, rx_errors);
		return;
	}
	skb = ipoib_rx_take(iface, slot, wc->byte_len);
	if (unlikely(!skb))
		dev_core_stats_rx_dropped_inc(netdev);
	else if (unlikely(ipoib_rx_is_own(iface, wc, skb->data)))
		dev_kfree_skb_any(skb);
	else
		ipoib_rx_deliver(iface, skb, wc);
}

/*
 * A flush may be one by software, for hardware that is lost: whether the buffer is to be given back
 * is known when the queues stop.
 */
static void ipoib_rx_bad(struct ipoib_iface *iface, struct ipoib_rx *slot, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	ipoib_rx_free(iface, slot);
	DEV_STATS_INC(iface->netdev, rx_errors);
	net_warn_ratelimited("%s: a receive ended with %s (0x%x)\n", netdev_name(iface->netdev),
			     ib_wc_status_name(wc->status), wc->vendor_err);
	ipoib_ask(iface, IPOIB_FLUSH_RESTART);
}

static void ipoib_rx_one(struct ipoib_iface *iface, const struct ib_wc *wc,
			 struct ipoib_rx_chain *chain)
{
	struct ipoib_queues *q = iface->queues;
	unsigned int index = lower_32_bits(wc->wr_id);
	struct ipoib_rx *slot = &q->rx[index];

	if (unlikely(upper_32_bits(wc->wr_id) != q->epoch || index >= q->rx_size || !slot->skb))
		return;
	atomic_dec(&q->rx_posted);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		ipoib_rx_bad(iface, slot, wc);
		return;
	}
	ipoib_rx_good(iface, slot, wc);
	if (likely(READ_ONCE(q->posting)))
		ipoib_rx_chain_add(iface, chain, index);
	else
		ipoib_rx_free(iface, slot);
}

/**
 * ipoib_rx_poll() - take what was received
 * @napi: &ipoib_iface.rx_napi
 * @budget: at most so many
 *
 * Return: how many.
 */
int ipoib_rx_poll(struct napi_struct *napi, int budget)
{
	struct ipoib_iface *iface = container_of(napi, struct ipoib_iface, rx_napi);
	struct ipoib_queues *q = iface->queues;
	struct ipoib_rx_chain chain;
	int done = 0, want, n, i;

	do {
		want = min(budget - done, IPOIB_BATCH);
		n = want > 0 ? ib_cq_poll(q->rx_cq, want, q->wc) : 0;
		chain.count = 0;
		for (i = 0; i < n; i++)
			ipoib_rx_one(iface, &q->wc[i], &chain);
		ipoib_rx_chain_post(iface, &chain);
		done += max(n, 0);
	} while (n > 0 && n == want);
	if (unlikely(!READ_ONCE(q->posting)))
		wake_up(&iface->drained);
	if (done < budget && napi_complete_done(napi, done) &&
	    ib_cq_arm(q->rx_cq, IB_CQ_NEXT_COMP) > 0)
		napi_schedule(napi);
	return done;
}
