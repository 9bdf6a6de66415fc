// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on demand: the language of the rules, and what each does.
 */
#include "../model/port.h"
#include "lib/bare.h"
#include "lib/tap.h"
#include "lib/verbs.h"

static struct rig rig;
static struct rig_hca *p;

static unsigned int saw_type(u8 type)
{
	unsigned int i, n = 0;

	rig_events(p);
	for (i = 0; i < p->nevents; i++)
		n += p->event[i].type == type;
	return n;
}

static unsigned int port_downs(void)
{
	unsigned int i, n = 0;

	rig_events(p);
	for (i = 0; i < p->nevents; i++)
		n += p->event[i].type == CX3_EV_PORT_CHANGE && p->event[i].subtype == 1;
	return n;
}

static void add_rule(const char *text)
{
	const char *why = "";

	if (cx3_fault_add(p->hca, text, &why))
		tap_ok(false, "rule '%s': %s", text, why);
}

static void test_faults(void)
{
	static const char *const bad[] = {
		"", "cmd", "nowhere drop", "cmd:zz drop", "cmd drop dup", "time fatal",
		"cmd at=5 drop", "tx:blue drop", "cmd nth=0 drop", "time at=5 drop",
		"cmd status", "cmd lid=1", "time at=99999999999999999999 fatal",
		"cmd nth drop", "cmd:1:2 drop", "cmd drop", "reset delay=5", "eqe corrupt",
		"cqe status=1", "time at=5 times=0 flap=1", "time at=500000 nth=2 flap=1",
	};
	const char *why;
	u32 i, refused = 0;

	rig_up(&rig);
	p = &rig.h[0];
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		refused += cx3_fault_add(p->hca, bad[i], &why) < 0;
	tap_eq(refused, ARRAY_SIZE(bad), "rules that make no sense are refused");
	add_rule("time at=20000000 times=2 flap=1");
	add_rule("cmd:0x43 nth=2 times=2 status=5");
	add_rule("time at=90000000 smlid=1/9");
	add_rule("time at=90000000 pkey=1/3/0x8055");
	add_rule("time at=90000000 error=1/symbol");
	add_rule("time at=90000000 event=5/0x44");
	tap_eq(rig_cmd_try(p, OP_QUERY_PORT, 0, 1, NULL, 0, 0, NULL), 0, "the first passes");
	tap_eq(rig_cmd_try(p, OP_QUERY_PORT, 0, 1, NULL, 0, 0, NULL), 5, "the second fails");
	tap_eq(rig_cmd_try(p, OP_QUERY_PORT, 0, 1, NULL, 0, 0, NULL), 5, "so does the third");
	tap_eq(rig_cmd_try(p, OP_QUERY_PORT, 0, 1, NULL, 0, 0, NULL), 0, "not the fourth");
	rig_run(&rig, 60000000);
	tap_eq(p->hca->port[0].cnt.link_downed, 2, "the link flapped twice");
	tap_eq(port_downs(), 1, "but was active only the first time");
	rig_run(&rig, 60000000);
	tap_eq(p->hca->port[0].sm_lid, 9, "SM LID as an SM would set it");
	tap_ok(saw_type(CX3_EV_PORT_MGMT), "with its event");
	tap_eq(p->hca->port[0].pkey[3], 0x8055, "a P_Key");
	tap_eq(p->hca->port[0].cnt.symbol, 1, "an error counter");
	tap_eq(rig_saw(p, CX3_EV_WQ_CATAS, 0x44), 1, "an event");
	add_rule("eqe:0x2 nth=2 drop");
	add_rule("eqe:0x2 nth=3 dup");
	for (i = 1; i < 4; i++)
		cx3_event_num(p->hca, CX3_EV_COMM_EST, i);
	tap_eq(rig_saw(p, CX3_EV_COMM_EST, 1), 1, "the first event comes");
	tap_eq(rig_saw(p, CX3_EV_COMM_EST, 2), 0, "the second is lost");
	tap_eq(rig_saw(p, CX3_EV_COMM_EST, 3), 2, "the third comes twice");
	add_rule("eqe:0x2 delay=5000000");
	for (i = 5; i < 7; i++)
		cx3_event_num(p->hca, CX3_EV_COMM_EST, i);
	tap_eq(rig_saw(p, CX3_EV_COMM_EST, 5), 0, "a late event is not there at once");
	tap_eq(rig_saw(p, CX3_EV_COMM_EST, 6), 1, "the next one is");
	rig_run(&rig, 6000000);
	tap_eq(rig_saw(p, CX3_EV_COMM_EST, 5), 1, "and then it comes");
	add_rule("eqe:0x2 times=0 drop");
	add_rule("clear");
	cx3_event_num(p->hca, CX3_EV_COMM_EST, 9);
	tap_eq(rig_saw(p, CX3_EV_COMM_EST, 9), 1, "cleared rules strike no more");
	tap_eq(p->host.violations, 0, "none of it is the driver's fault");
	rig_down(&rig);
}

static u8 qp_state(u32 qpn)
{
	rig_cmd(p, 0x022, 0, qpn, NULL, 0, 0);
	return rig_out(p)[8] >> 4;
}

static void test_objects(void)
{
	struct v_attr at;
	struct v_cq cq;
	struct v_qp a, b;
	char text[32];

	rig_up(&rig);
	p = &rig.h[0];
	v_cq_init(&cq, p, 4);
	v_attr_init(&at, QPT_RC, &cq, &cq);
	v_qp_init(&a, p, &at);
	v_qp_init(&b, p, &at);
	v_connect(&a, &b, 1);
	tap_eq(qp_state(a.qpn), QPS_RTS, "two QPs, ready to send");
	snprintf(text, sizeof(text), "cmd:0x31 qperr=%u", a.qpn);
	add_rule(text);
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	tap_eq(qp_state(a.qpn), QPS_ERR, "one breaks");
	tap_eq(rig_saw(p, CX3_EV_WQ_CATAS, a.qpn), 1, "and says so");
	tap_eq(qp_state(b.qpn), QPS_RTS, "the other does not");
	snprintf(text, sizeof(text), "cmd:0x31 cqerr=%u", cq.cqn);
	add_rule(text);
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	tap_eq(rig_saw(p, CX3_EV_CQ_ERR, cq.cqn), 1, "a CQ breaks");
	add_rule("cmd:0x31 qperr=0x777777");
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	tap_eq(p->host.violations, 0, "a number that is not alive does no harm");
	rig_down(&rig);
}

/* SMPs between the two HCAs, sent by hand: the nth is lost, doubled, late. */
static void test_packets(void)
{
	struct cx3_port *port;
	u8 pkt[290] = { 0xf0, 2, 0, 2, 0, 72, 0, 1 };
	u64 *rx;

	rig_up(&rig);
	p = &rig.h[0];
	port = &p->hca->port[0];
	rx = &rig.h[1].hca->count[CX3_C_RX + CX3_PKT_SMP];
	add_rule("tx:smp nth=2 drop");
	add_rule("tx:smp nth=3 dup");
	add_rule("tx:smp nth=4 delay=5000000");
	cx3_port_tx(port, pkt, sizeof(pkt));
	rig_run(&rig, 1000000);
	tap_eq(*rx, 1, "the first arrives");
	cx3_port_tx(port, pkt, sizeof(pkt));
	rig_run(&rig, 1000000);
	tap_eq(*rx, 1, "the second is lost");
	cx3_port_tx(port, pkt, sizeof(pkt));
	rig_run(&rig, 1000000);
	tap_eq(*rx, 3, "the third comes twice");
	cx3_enter(p->hca);
	cx3_port_tx(port, pkt, sizeof(pkt));
	cx3_leave(p->hca);
	rig_run(&rig, 1000000);
	tap_eq(*rx, 3, "the fourth is late");
	rig_run(&rig, 5000000);
	tap_eq(*rx, 4, "and comes");
	tap_eq(port->cnt.xmit_pkts, 4, "the sender has sent four");
	rig_down(&rig);
}

static const struct cx3_port *port1(void)
{
	return &p->hca->port[0];
}

/* What an SM does to a port, and what befalls a device; each by a rule. */
static void test_effects(void)
{
	struct v_srq srq;
	char text[32];

	rig_up(&rig);
	p = &rig.h[0];
	rig_events(p);
	add_rule("cmd:0x31 lid=1/77");
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	tap_ok(port1()->lid == 77 && saw_type(CX3_EV_PORT_MGMT), "a LID, with its event");
	add_rule("cmd:0x31 prefix=1/0xfec0000000000000");
	add_rule("cmd:0x31 guid=1/3/0x1234");
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	tap_ok(port1()->gid_prefix == 0xfec0000000000000ull && port1()->guid[3] == 0x1234,
	       "a GID prefix and a GUID");
	rig_events(p);
	p->nevents = 0;
	add_rule("cmd:0x31 rereg=1");
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	tap_eq(saw_type(CX3_EV_PORT_MGMT), 1, "a wish that clients register again");
	add_rule("cmd:0x31 linkdown=1");
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	rig_run(&rig, 60000000);
	tap_ok(!port1()->link_up, "a link that goes down stays down");
	add_rule("cmd:0x31 linkup=1");
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	rig_run(&rig, 60000000);
	tap_ok(port1()->link_up, "until it may come up");
	v_srq_init(&srq, p, 4, 0, NULL);
	snprintf(text, sizeof(text), "cmd:0x31 srqerr=%u", srq.srqn);
	add_rule(text);
	rig_cmd(p, OP_NOP, 0, 0, NULL, 0, 0);
	tap_eq(rig_saw(p, CX3_EV_SRQ_CATAS, srq.srqn), 1, "an SRQ breaks, and says so");
	add_rule("reset drop");
	rig_mmio32(p, 0, 0xf0010, 1);
	tap_eq(p->hca->phase, CX3_PH_RUN, "a reset that does not happen");
	add_rule("cmd:0x31 hang");
	bare_post(p, 0x800000u | OP_NOP, 0, 0, 0, 0);
	rig_run(&rig, 60000000);
	bare_post(p, 0x800000u | OP_NOP, 0, 0, 0, 0);
	rig_run(&rig, 60000000);
	tap_ok(bare_read32(p, BARE_HCR + 0x18) & 0x800000u, "firmware that answers nothing");
	rig_mmio32(p, 0, 0xf0010, 1);
	tap_ok(p->hca->phase == CX3_PH_RESET && !(bare_read32(p, BARE_HCR + 0x18) & 0x800000u),
	       "until its reset");
	rig_down(&rig);
}

struct loop {
	struct v_cq scq, rcq;
	struct v_qp a, b;
	struct v_mr mr;
};

/* Two QPs of one HCA, so that their packets never see a cable. */
static void loop_up(struct loop *l)
{
	struct v_attr at;

	rig_up(&rig);
	p = &rig.h[0];
	v_cq_init(&l->scq, p, 4);
	v_cq_init(&l->rcq, p, 4);
	v_mr_init(&l->mr, p, 4096, V_ACCESS_ALL);
	v_attr_init(&at, QPT_RC, &l->scq, &l->rcq);
	v_qp_init(&l->a, p, &at);
	v_qp_init(&l->b, p, &at);
	v_connect(&l->a, &l->b, 1);
}

static void loop_send(struct loop *l)
{
	struct v_sge to = v_sge(&l->mr, 2048, 16);
	struct v_wr wr = { .op = WQE_SEND, .n = 1 };

	wr.s[0] = v_sge(&l->mr, 0, 16);
	v_recv(&l->b, &to, 1);
	v_send(&l->a, &wr);
	rig_run(&rig, 100000);
}

static unsigned int polled(struct v_cq *cq)
{
	unsigned int n = 0;
	struct cqe e;

	while (v_cq_poll(cq, &e))
		n++;
	return n;
}

static void late_rule(const struct v_cq *cq, u64 ns)
{
	char text[48];

	snprintf(text, sizeof(text), "cqe:%u delay=%llu", cq->cqn, (unsigned long long)ns);
	add_rule(text);
}

static void test_late_completions(void)
{
	struct loop l = { 0 };

	loop_up(&l);
	v_cq_arm(&l.rcq, false);
	rig_events(p);
	late_rule(&l.rcq, 5000000);
	loop_send(&l);
	loop_send(&l);
	rig_events(p);
	tap_eq(polled(&l.scq), 2, "two sends complete");
	tap_eq(polled(&l.rcq), 0, "a late receive, and the one behind it, do not");
	tap_eq(p->completions[l.rcq.cqn & 0xff], 0, "nor is there an event");
	rig_run(&rig, 6000000);
	rig_events(p);
	tap_eq(polled(&l.rcq), 2, "then both do");
	tap_eq(p->completions[l.rcq.cqn & 0xff], 1, "with the event");
	late_rule(&l.rcq, 5000000);
	loop_send(&l);
	v_qp_reset(&l.b);
	tap_eq(polled(&l.rcq), 1, "a QP that ends leaves no completion behind");
	tap_eq(p->host.violations, 0, "none of it is the driver's fault");
	rig_down(&rig);
}

static void test_loopback(void)
{
	struct loop l = { 0 };
	u64 *sent;

	loop_up(&l);
	sent = &p->hca->count[CX3_C_TX + CX3_PKT_RC];
	add_rule("tx:rc dup");
	loop_send(&l);
	tap_eq(polled(&l.rcq), 1, "a packet that comes twice is received once");
	add_rule("tx:rc delay=3000000");
	loop_send(&l);
	tap_eq(polled(&l.rcq), 0, "a late one not yet");
	rig_run(&rig, 4000000);
	tap_eq(polled(&l.rcq), 1, "then it is");
	tap_eq(*sent, 2, "neither was sent again");
	add_rule("tx:rc corrupt");
	loop_send(&l);
	tap_eq(polled(&l.rcq), 0, "a broken one is lost");
	rig_run(&rig, 5000000000ull);
	tap_eq(polled(&l.rcq), 1, "until it is sent again");
	tap_eq(*sent, 3, "which is counted once: the broken one never went");
	rig_down(&rig);
}

int main(void)
{
	test_faults();
	test_effects();
	test_late_completions();
	test_loopback();
	test_objects();
	test_packets();
	return tap_done();
}
