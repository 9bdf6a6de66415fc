// SPDX-License-Identifier: GPL-2.0-only
/* Cases of datagrams: addresses, large sends, multicast groups. */
#include <linux/delay.h>
#include <linux/string.h>

#include <ib/compat.h>

#include "cases.h"

#define HALF		(OBJ_BYTES / 2)
#define MLID		0xc123
#define MANY_GROUPS	96	/* so many that some share a hash */

static struct ib_send_wr datagram(struct obj_side *from, struct ib_sge *sge, u64 id, u32 qpn)
{
	return (struct ib_send_wr){
		.opcode = IB_WR_SEND,
		.flags = IB_SEND_SIGNALED,
		.wr_id = id,
		.sg_list = sge,
		.num_sge = 1,
		.ud = { .ah = from->ah, .qpn = qpn, .qkey = OBJ_QKEY },
	};
}

static int plain(struct obj_pair *p)
{
	struct ib_sge sge = obj_sge(&p->a, 0, 1000);
	struct ib_send_wr wr = datagram(&p->a, &sge, 1, p->b.qp[0]->qpn);
	struct ib_wc wc;

	wr.opcode = IB_WR_SEND_WITH_IMM;
	wr.imm_data = cpu_to_be32(0x12345678);
	obj_fill(p->a.buf, 3, 1000);
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 2, HALF, 40 + 1000)))
		return -EINVAL;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->b, 2, IB_WC_RECV, &wc)))
		return -EINVAL;
	if (WANT(p, wc.byte_len == 1040 && wc.src_qp == p->a.qp[0]->qpn))
		return -EINVAL;
	if (WANT(p, wc.slid == p->a.port->lid && !(wc.flags & IB_WC_GRH)))
		return -EINVAL;
	if (WANT(p, wc.flags & IB_WC_WITH_IMM && wc.imm_data == cpu_to_be32(0x12345678)))
		return -EINVAL;
	if (WANT(p, obj_is(p->b.buf + HALF + 40, 3, 1000)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_SEND, NULL)))
		return -EINVAL;
	return 0;
}

static int with_grh(struct obj_pair *p)
{
	struct ib_sge sge = obj_sge(&p->a, 0, 1000);
	union ib_gid from, to;
	struct ib_send_wr wr;
	struct ib_wc wc;

	if (TRY(p, ib_gid_cached(traffic_device(p->a.port), p->a.port->number, 0, &from)))
		return -EINVAL;
	if (TRY(p, ib_gid_cached(traffic_device(p->b.port), p->b.port->number, 0, &to)))
		return -EINVAL;
	if (TRY(p, obj_address(&p->a, &p->b, &to, 0)))
		return -EINVAL;
	wr = datagram(&p->a, &sge, 1, p->b.qp[0]->qpn);
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 2, HALF, 40 + 1000)))
		return -EINVAL;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->b, 2, IB_WC_RECV, &wc)))
		return -EINVAL;
	if (WANT(p, wc.flags & IB_WC_GRH && !(wc.flags & IB_WC_WITH_IMM)))
		return -EINVAL;
	if (WANT(p, !memcmp(p->b.buf + HALF + 8, &from, 16)))
		return -EINVAL;
	if (WANT(p, !memcmp(p->b.buf + HALF + 24, &to, 16)))
		return -EINVAL;
	if (WANT(p, get_unaligned_be32(p->b.buf + HALF) == 0x67754321))
		return -EINVAL;
	if (WANT(p, obj_is(p->b.buf + HALF + 40, 3, 1000)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_SEND, NULL)))
		return -EINVAL;
	return 0;
}

int case_ud(struct obj_pair *p)
{
	struct ib_sge sge = { .addr = (uintptr_t)p->a.buf, .length = 200 };
	struct ib_send_wr wr;
	struct ib_wc wc;

	if (TRY(p, obj_pairs(p, IB_QPT_UD)))
		return -EINVAL;
	if (TRY(p, plain(p)))
		return -EINVAL;
	if (TRY(p, with_grh(p)))
		return -EINVAL;
	wr = datagram(&p->a, &sge, 1, p->b.qp[0]->qpn);
	wr.flags |= IB_SEND_INLINE;
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 2, HALF, 40 + 1000)))
		return -EINVAL;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->b, 2, IB_WC_RECV, &wc)))
		return -EINVAL;
	if (WANT(p, wc.byte_len == 240 && obj_is(p->b.buf + HALF + 40, 3, 200)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_SEND, NULL)))
		return -EINVAL;
	/* With another Q_Key it goes out and does not come in. */
	wr.ud.qkey++;
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 2, HALF, 40 + 1000)))
		return -EINVAL;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1, IB_WC_SEND, NULL)))
		return -EINVAL;
	if (WANT(p, obj_none(&p->b)))
		return -EINVAL;
	return 0;
}

/* IPoIB, IPv4 and TCP, as the stack hands it to a device that segments and sums. */
#define HEADERS	(4 + 20 + 20)

static void put_headers(u8 *at)
{
	memset(at, 0, HEADERS);
	put_unaligned_be16(0x0800, at);
	at[4] = 0x45;
	put_unaligned_be16(777, at + 8);	/* identification */
	at[12] = 64;
	at[13] = 6;
	put_unaligned_be32(0x0a000001, at + 16);
	put_unaligned_be32(0x0a000002, at + 20);
	put_unaligned_be32(5000, at + 28);	/* sequence number */
	at[36] = 0x50;
	at[37] = 0x18;				/* PSH, ACK */
}

#define MSS	1000
#define PAYLOAD	2500

int case_lso(struct obj_pair *p)
{
	struct ib_qp_init a = obj_init(&p->a, IB_QPT_UD), b = obj_init(&p->b, IB_QPT_UD);
	struct ib_sge sge = obj_sge(&p->a, 0, PAYLOAD);
	u8 headers[HEADERS], *at = p->b.buf + HALF;
	struct ib_send_wr wr;
	struct ib_wc wc;
	u32 i, bytes;

	a.create_flags = IB_QP_CREATE_IPOIB_LSO;
	if (TRY(p, obj_qp(&p->a, 0, &a)))
		return -EINVAL;
	if (TRY(p, obj_qp(&p->b, 0, &b)))
		return -EINVAL;
	if (TRY(p, obj_ready_ud(p->a.qp[0], &p->a)))
		return -EINVAL;
	if (TRY(p, obj_ready_ud(p->b.qp[0], &p->b)))
		return -EINVAL;
	if (TRY(p, obj_address(&p->a, &p->b, NULL, 0)))
		return -EINVAL;
	obj_fill(p->a.buf, 9, PAYLOAD);
	put_headers(headers);
	wr = datagram(&p->a, &sge, 1, p->b.qp[0]->qpn);
	wr.opcode = IB_WR_LSO;
	wr.flags |= IB_SEND_IP_CSUM;
	wr.ud.header = headers;
	wr.ud.hlen = HEADERS;
	wr.ud.mss = MSS;
	for (i = 0; i < 3; i++)
		if (TRY(p, obj_recv(p->b.qp[0], &p->b, i, HALF + i * 2048, 2048)))
			return -EINVAL;
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	for (i = 0; i < 3; i++, at += 2048) {
		bytes = min(PAYLOAD - i * MSS, (u32)MSS);
		if (WANT(p, obj_good(&p->b, i, IB_WC_RECV, &wc)))
			return -EINVAL;
		if (WANT(p, wc.byte_len == 40 + HEADERS + bytes && wc.flags & IB_WC_IP_CSUM_OK))
			return -EINVAL;
		if (WANT(p, get_unaligned_be16(at + 40 + 6) == HEADERS - 4 + bytes))
			return -EINVAL;
		if (WANT(p, get_unaligned_be32(at + 40 + 28) == 5000 + i * MSS))
			return -EINVAL;
		if (WANT(p, !memcmp(at + 40 + HEADERS, p->a.buf + i * MSS, bytes)))
			return -EINVAL;
	}
	if (WANT(p, obj_good(&p->a, 1, IB_WC_LSO, NULL)))
		return -EINVAL;
	return 0;
}

static union ib_gid group_gid(u32 n)
{
	union ib_gid gid = {};

	put_unaligned_be16(0xff12, gid.raw);
	put_unaligned_be16(0xa01b, gid.raw + 2);
	put_unaligned_be32(n * 0x01000193, gid.raw + 12);
	return gid;
}

static int to_group(struct obj_pair *p, u32 n)
{
	struct ib_sge sge = obj_sge(&p->a, 0, 100);
	union ib_gid gid = group_gid(n);
	struct ib_send_wr wr;

	obj_fill(p->a.buf, n, 100);
	if (TRY(p, obj_address(&p->a, &p->b, &gid, MLID)))
		return -EINVAL;
	wr = datagram(&p->a, &sge, 1000 + n, 0xffffff);
	if (TRY(p, obj_send(p->a.qp[0], &wr)))
		return -EINVAL;
	return 0;
}

/* The sender is a member that does not want its own packets. */
int case_mcast(struct obj_pair *p)
{
	struct ib_qp_init a = obj_init(&p->a, IB_QPT_UD), b = obj_init(&p->b, IB_QPT_UD);
	union ib_gid gid = group_gid(5);
	struct ib_wc wc[2];
	unsigned int i;

	a.create_flags = IB_QP_CREATE_BLOCK_LOOPBACK;
	if (TRY(p, obj_qp(&p->a, 0, &a)))
		return -EINVAL;
	if (TRY(p, obj_ready_ud(p->a.qp[0], &p->a)))
		return -EINVAL;
	if (TRY(p, ib_qp_attach(p->a.qp[0], &gid, MLID)))
		return -EINVAL;
	if (TRY(p, obj_recv(p->a.qp[0], &p->a, 9, HALF, 2048)))
		return -EINVAL;
	for (i = 0; i < 2; i++) {
		if (TRY(p, obj_qp(&p->b, i, &b)))
			return -EINVAL;
		if (TRY(p, obj_ready_ud(p->b.qp[i], &p->b)))
			return -EINVAL;
		if (TRY(p, ib_qp_attach(p->b.qp[i], &gid, MLID)))
			return -EINVAL;
		if (TRY(p, obj_recv(p->b.qp[i], &p->b, i, HALF + i * 2048, 2048)))
			return -EINVAL;
		if (TRY(p, obj_recv(p->b.qp[i], &p->b, i, HALF + i * 2048, 2048)))
			return -EINVAL;
	}
	if (TRY(p, to_group(p, 5)))
		return -EINVAL;
	for (i = 0; i < 2; i++) {
		if (TRY(p, obj_poll(&p->b, &wc[i])))
			return -EINVAL;
		if (WANT(p, wc[i].status == IB_WC_SUCCESS && wc[i].byte_len == 140))
			return -EINVAL;
		if (WANT(p, wc[i].flags & IB_WC_GRH))
			return -EINVAL;
		if (WANT(p, obj_is(p->b.buf + HALF + wc[i].wr_id * 2048 + 40, 5, 100)))
			return -EINVAL;
	}
	if (WANT(p, wc[0].qp != wc[1].qp))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1005, IB_WC_SEND, NULL)))
		return -EINVAL;
	if (WANT(p, obj_none(&p->a)))
		return -EINVAL;
	if (TRY(p, ib_qp_detach(p->b.qp[0], &gid, MLID)))
		return -EINVAL;
	if (TRY(p, to_group(p, 5)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->b, 1, IB_WC_RECV, NULL)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1005, IB_WC_SEND, NULL)))
		return -EINVAL;
	if (WANT(p, obj_none(&p->b)))
		return -EINVAL;
	/* The rest is detached when the QPs go. */
	return 0;
}

/* Waits long for what must come, and a while for what must not. */
static int group_hears(struct obj_pair *p, u32 n, bool want, bool *heard)
{
	struct ib_wc wc;
	u32 i;

	if (TRY(p, to_group(p, n)))
		return -EINVAL;
	if (WANT(p, obj_good(&p->a, 1000 + n, IB_WC_SEND, NULL)))
		return -EINVAL;
	*heard = false;
	for (i = 0; i < (want ? 100000 : 100) && !*heard; i++) {
		*heard = ib_cq_poll(p->b.cq, 1, &wc) == 1;
		if (!*heard)
			usleep_range(20, 50);
	}
	if (*heard) {
		if (WANT(p, wc.status == IB_WC_SUCCESS && obj_is(p->b.buf + HALF + 40, n, 100)))
			return -EINVAL;
		if (TRY(p, obj_recv(p->b.qp[0], &p->b, 1, HALF, 2048)))
			return -EINVAL;
	}
	return 0;
}

/* Chains in the table of groups: made, and taken apart from head, middle and tail. */
int case_groups(struct obj_pair *p)
{
	union ib_gid gid;
	bool heard;
	u32 n;

	if (TRY(p, obj_pairs(p, IB_QPT_UD)))
		return -EINVAL;
	if (TRY(p, obj_recv(p->b.qp[0], &p->b, 1, HALF, 2048)))
		return -EINVAL;
	for (n = 0; n < MANY_GROUPS; n++) {
		gid = group_gid(n);
		if (TRY(p, ib_qp_attach(p->b.qp[0], &gid, MLID)))
			return -EINVAL;
	}
	for (n = 0; n < MANY_GROUPS; n++) {
		if (TRY(p, group_hears(p, n, true, &heard)))
			return -EINVAL;
		if (WANT(p, heard))
			return -EINVAL;
	}
	for (n = 0; n < MANY_GROUPS; n += 2) {
		gid = group_gid(n);
		if (TRY(p, ib_qp_detach(p->b.qp[0], &gid, MLID)))
			return -EINVAL;
	}
	for (n = 0; n < MANY_GROUPS; n++) {
		if (TRY(p, group_hears(p, n, n % 2, &heard)))
			return -EINVAL;
		if (WANT(p, heard == n % 2))
			return -EINVAL;
	}
	for (n = MANY_GROUPS; n--;) {
		gid = group_gid(n);
		if (WANT(p, ib_qp_detach(p->b.qp[0], &gid, MLID) == (n % 2 ? 0 : -EINVAL)))
			return -EINVAL;
	}
	return 0;
}
