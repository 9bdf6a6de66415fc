// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams: address vectors, Q_Key and P_Key checks, multicast, the own port, raw QPs, large
 * sends and checksums.
 */
#include "lib/tap.h"
#include "lib/verbs.h"

static struct rig rig;
static struct v_cq cq[3];
static struct v_qp a, a2, b;
static struct v_mr ma, mb;

static void setup(void)
{
	struct v_attr at;

	rig_up(&rig);
	v_cq_init(&cq[0], &rig.h[0], 7);
	v_cq_init(&cq[1], &rig.h[1], 7);
	v_cq_init(&cq[2], &rig.h[0], 7);
	v_mr_init(&ma, &rig.h[0], 100000, V_ACCESS_ALL);
	v_mr_init(&mb, &rig.h[1], 100000, V_ACCESS_ALL);
	v_attr_init(&at, QPT_UD, &cq[0], &cq[0]);
	at.sq_stride = 9;
	v_qp_init(&a, &rig.h[0], &at);
	at.scq = &cq[2];
	at.rcq = &cq[2];
	v_qp_init(&a2, &rig.h[0], &at);
	at.scq = &cq[1];
	at.rcq = &cq[1];
	at.rq_log = 6;
	v_qp_init(&b, &rig.h[1], &at);
	v_qp_rtr(&a, 0, 0, 0);
	v_qp_rtr(&a2, 0, 0, 0);
	v_qp_rtr(&b, 0, 0, 0);
	v_qp_rts(&a, 0);
	v_qp_rts(&a2, 0);
	v_qp_rts(&b, 0);
}

static struct v_wr to(u16 dlid, u32 dqpn, u32 len)
{
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };

	wr.s[0] = v_sge(&ma, 0, len);
	wr.ud.port = 1;
	wr.ud.pd = V_PD;
	wr.ud.dlid = dlid;
	wr.ud.dqpn = dqpn;
	wr.ud.qkey = V_QKEY;
	return wr;
}

static void post(struct v_qp *qp, struct v_mr *mr, u32 off, u32 len)
{
	struct v_sge r = v_sge(mr, off, len);

	v_recv(qp, &r, 1);
}

static void test_plain(void)
{
	struct v_wr wr;
	struct cqe e, f;

	setup();
	v_mr_fill(&ma, 0, 1000, 1);
	wr = to(2, b.qpn, 1000);
	wr.ud.sl = 3;
	post(&b, &mb, 0, 1100);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && e.opcode == WQE_SEND && v_cq_poll(&cq[1], &f) &&
	       f.bytes == 1040 && f.rqpn == a.qpn && f.slid == 1 && f.sl == 3 && !f.grh &&
	       f.opcode == CQE_RECV_SEND && v_mr_holds(&mb, 40, 1000, 1), "datagram");
	wr.op = WQE_SEND_IMM;
	wr.imm = 0x55667788;
	wr.ud.grh = 1;
	wr.ud.hop_limit = 9;
	memset(wr.ud.dgid, 0xfe, 16);
	post(&b, &mb, 2000, 1100);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && v_cq_poll(&cq[1], &f) && f.grh && f.imm == 0x55667788 &&
	       f.opcode == CQE_RECV_SEND_IMM && v_mr_holds(&mb, 2040, 1000, 1),
	       "datagram with GRH and immediate");
	tap_ok(*v_mr_at(&mb, 2000) == 0x60 && *v_mr_at(&mb, 2006) == 0x1b &&
	       *v_mr_at(&mb, 2007) == 9 && *v_mr_at(&mb, 2024) == 0xfe &&
	       *v_mr_at(&mb, 2039) == 0xfe, "the GRH stands in front of the data");
	wr = to(1, a2.qpn, 100);
	post(&a2, &ma, 5000, 200);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[2], &f) && f.bytes == 140 && v_mr_holds(&ma, 5040, 100, 1),
	       "datagram to another QP of the own port");
	rig_down(&rig);
}

static void test_checks(void)
{
	struct v_wr wr;
	struct cqe e;
	struct qpc c;

	setup();
	post(&b, &mb, 0, 1100);
	wr = to(2, b.qpn, 10);
	wr.ud.qkey++;
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && !v_cq_poll(&cq[1], &e), "bad Q_Key: sent, not received");
	tap_eq(rig.h[1].hca->port[0].qkey_violations, 1, "and counted");
	wr = to(2, b.qpn, 10);
	wr.ud.qkey = 1u << 31;
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && v_cq_poll(&cq[1], &e), "Q_Key bit 31: that of the QP");
	rig.h[0].hca->port[0].pkey[3] = 0x9234;
	a.c.path[0].pkey_index = 3;
	v_qp_modify_try(&a, 0x1c, 1 << 4, 0);
	post(&b, &mb, 0, 1100);
	wr = to(2, b.qpn, 10);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && !v_cq_poll(&cq[1], &e), "bad P_Key: not received");
	tap_eq(rig.h[1].hca->port[0].pkey_violations, 1, "and counted");
	a.c.path[0].pkey_index = 0;
	v_qp_modify_try(&a, 0x1c, 1 << 4, 0);
	wr = to(2, b.qpn, 10);
	wr.ud.port = 2;
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && e.syndrome == SYN_LOCAL_QP_OP,
	       "address vector of another port: local QP operation error");
	v_qp_query(&a, &c);
	tap_eq(c.state, QPS_SQER, "datagram QP in SQER");
	wr = to(2, b.qpn, 10);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && e.syndrome == SYN_FLUSH, "sends are flushed in SQER");
	tap_eq(v_qp_modify_try(&a, 0x1d, 0, 0), 0, "SQERR2RTS");
	post(&b, &mb, 0, 1100);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && e.opcode == WQE_SEND && v_cq_poll(&cq[1], &e),
	       "and it sends again");
	wr = to(2, b.qpn, 5000);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && e.syndrome == SYN_LOCAL_LENGTH, "longer than the MTU");
	v_qp_modify_try(&a, 0x1d, 0, 0);
	post(&b, &mb, 0, 60);
	post(&b, &mb, 0, 60);
	wr = to(2, b.qpn, 21);
	/* the first one gets the receive that the bad P_Key left */
	v_send(&a, &wr);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	while (v_cq_poll(&cq[1], &e) && e.opcode != CQE_ERROR)
		;
	tap_ok(e.opcode == CQE_ERROR && e.syndrome == SYN_LOCAL_LENGTH,
	       "no room for 40 more bytes: local length error of the receive");
	tap_eq(v_qp_state(&b), QPS_ERR, "and the QP in ERR");
	rig_down(&rig);
}

static void attach(struct rig_hca *h, const u8 *mgid, u32 *qps, u32 n)
{
	u8 e[256] = { 0 };
	u32 i, hash;

	hash = (u32)rig_cmd(h, 0x027, 0, 0, mgid, 16, 0);
	put32(e + 4, n);
	memcpy(e + 16, mgid, 16);
	for (i = 0; i < n; i++)
		put32(e + 32 + i * 4, qps[i]);
	rig_cmd(h, 0x026, 0, hash, e, sizeof(e), 0);
}

static void test_multicast(void)
{
	static const u8 mgid[16] = { 0xff, 0x12, 0x40, 0x1b, [15] = 7 };
	u32 here[2], there[1];
	struct v_wr wr;
	struct cqe e;

	setup();
	here[0] = a.qpn | 1u << 30;
	here[1] = a2.qpn;
	there[0] = b.qpn;
	attach(&rig.h[0], mgid, here, 2);
	attach(&rig.h[1], mgid, there, 1);
	v_mr_fill(&ma, 0, 300, 4);
	post(&a, &ma, 1000, 400);
	post(&a2, &ma, 2000, 400);
	post(&b, &mb, 3000, 400);
	wr = to(0xc005, WIRE_QPN_MULTICAST, 300);
	wr.ud.grh = 1;
	memcpy(wr.ud.dgid, mgid, 16);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[1], &e) && e.grh && e.bytes == 340 && v_mr_holds(&mb, 3040, 300, 4),
	       "multicast reaches the other HCA");
	tap_ok(v_cq_poll(&cq[2], &e) && v_mr_holds(&ma, 2040, 300, 4),
	       "and another QP of the own port");
	tap_ok(v_cq_poll(&cq[0], &e) && e.send && !v_cq_poll(&cq[0], &e),
	       "not the sender, whose entry blocks loopback");
	v_send(&a2, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && !e.send, "but another sender's packet reaches it");
	rig_down(&rig);
}

/* QP0 to QP0 with a directed route, QP1 to QP1; software builds all headers. */
static void test_special(void)
{
	struct v_attr at;
	struct v_qp q[2];
	struct wire_pkt p = { .opcode = WIRE_UD << 5 | OP_SEND_ONLY, .len = 256 };
	struct v_wr wr = { .op = WQE_SEND };
	u8 head[80];
	struct cqe e;
	u32 i, k;

	setup();
	for (k = 0; k < 2; k++) {
		for (i = 0; i < 2; i++) {
			v_attr_init(&at, QPT_MLX, &cq[i], &cq[i]);
			at.sq_stride = 9;
			at.qpn = RIG_SPECIAL + 2 * k;
			v_qp_init(&q[i], &rig.h[i], &at);
			v_qp_rtr(&q[i], 0, 0, 0);
			v_qp_rts(&q[i], 0);
			post(&q[i], i ? &mb : &ma, 8000, 400);
		}
		v_mr_fill(&ma, 0, 256, k);
		p.lnh = WIRE_LNH_IBA;
		p.dlid = k ? 2 : 0xffff;
		p.slid = k ? 0 : 0xffff;
		p.vl = k ? 0 : 15;
		p.dqpn = k;
		p.sqpn = k;
		p.pkey = 0xffff;
		p.qkey = k ? 0x80010000 : 0;
		wire_build(head, &p);
		memset(&wr, 0, sizeof(wr));
		wr.op = WQE_SEND;
		wr.s[0] = v_sge(&ma, 0, 256);
		wr.mlx.vl15 = !k;
		wr.mlx.slr = !k;
		wr.mlx.icrc = 1;
		wr.mlx.cq_update = 3;
		wr.mlx.rlid = p.dlid;
		wr.data = head;
		wr.data_len = p.hdr;
		wr.n = 2;
		/* four bytes for the invariant CRC */
		wr.s[1] = v_sge(&ma, 9000, 4);
		v_send(&q[0], &wr);
		rig_run(&rig, 100000);
		tap_ok(v_cq_poll(&cq[0], &e) && e.opcode == WQE_SEND && e.send,
		       "QP%u sends a packet made by software", k);
		if (!tap_ok(v_cq_poll(&cq[1], &e) && e.bytes == 296 && e.rqpn == k &&
			    e.qpn == RIG_SPECIAL + 2 * k && e.slid == (k ? 1 : 0xffff) &&
			    v_mr_holds(&mb, 8040, 256, k), "QP%u receives it", k))
			tap_note("bytes %u slid 0x%x", e.bytes, e.slid);
	}
	rig_down(&rig);
}

static u16 ones(const u8 *p, u32 len, u32 sum)
{
	for (; len > 1; p += 2, len -= 2)
		sum += get16(p);
	if (len)
		sum += *p << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* A large send of IPv4 and TCP: headers, sums and data of each packet, as the receiver has them. */
static void test_lso(void)
{
	enum { MSS = 1000, TOTAL = 3500, HDR = 4 + 20 + 20 };
	u8 hdr[HDR] = { 0x08, 0x00 }, pkt[2000], *ip = hdr + 4, *tcp = hdr + 24;
	struct v_wr wr;
	struct cqe e;
	u32 i, j, n = 0, good = 0, got = 0;

	setup();
	ip[0] = 0x45;
	ip[8] = 64;
	ip[9] = 6;
	put16(ip + 4, 0x1000);
	put32(ip + 12, 0x0a000001);
	put32(ip + 16, 0x0a000002);
	put32(tcp + 4, 0xffffff00);
	tcp[12] = 0x50;
	tcp[13] = 0x19;
	v_mr_fill(&ma, 0, TOTAL, 8);
	wr = to(2, b.qpn, TOTAL);
	wr.op = WQE_LSO;
	wr.mss = MSS;
	wr.data = hdr;
	wr.data_len = HDR;
	wr.ip_csum = true;
	wr.l4_csum = true;
	for (i = 0; i < 4; i++)
		post(&b, &mb, i * 4000, 2048);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[0], &e) && e.opcode == WQE_LSO && !v_cq_poll(&cq[0], &e),
	       "one completion for a large send");
	while (v_cq_poll(&cq[1], &e)) {
		u32 len = e.bytes - 40, data = len - HDR;

		for (j = 0; j < len; j++)
			pkt[j] = *v_mr_at(&mb, n * 4000 + 40 + j);
		good += e.ip_status == (1 << 6 | 1 << 10 | 1 << 12) && e.l4_ok &&
			e.checksum == 0xffff && data == (n < 3 ? MSS : 500) &&
			get16(pkt + 6) == 40 + data && get16(pkt + 8) == 0x1000 + n &&
			ones(pkt + 4, 20, 0) == 0xffff &&
			ones(pkt + 24, len - 24, ones(pkt + 16, 8, 6 + len - 24)) == 0xffff &&
			get32(pkt + 28) == (u32)(0xffffff00u + n * MSS) &&
			pkt[37] == (n == 3 ? 0x19 : 0x10);
		for (j = 0; j < data; j++)
			got += pkt[HDR + j] == *v_mr_at(&ma, n * MSS + j);
		n++;
	}
	tap_eq(good, 4, "four packets with lengths, ids, sequence numbers, flags, sums right");
	tap_eq(got, TOTAL, "and all data");
	rig_down(&rig);
}

/* A checksum that is wrong is told so. */
static void test_bad_sum(void)
{
	static const u8 ip[48] = {
		0x08, 0, 0, 0, 0x45, 0, 0, 44, 0, 1, 0, 0, 64, 17, 0x12, 0x34, 10, 0, 0, 1,
		10, 0, 0, 2, 0, 7, 0, 7, 0, 24, 0xab, 0xcd,
	};
	struct v_wr wr;
	struct cqe e;

	setup();
	wr = to(2, b.qpn, 0);
	wr.n = 0;
	wr.data = ip;
	wr.data_len = sizeof(ip);
	post(&b, &mb, 0, 200);
	v_send(&a, &wr);
	rig_run(&rig, 100000);
	tap_ok(v_cq_poll(&cq[1], &e) && e.ip_status == (1 << 6 | 1 << 11) && !e.l4_ok &&
	       e.checksum != 0xffff, "bad IP and UDP sums are not called good");
	rig_down(&rig);
}

int main(void)
{
	test_plain();
	test_checks();
	test_multicast();
	test_special();
	test_lso();
	test_bad_sum();
	return tap_done();
}
