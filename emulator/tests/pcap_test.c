// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures: the packets of a small sweep by a pretended subnet manager, read by tshark, which was
 * not written here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fabric/host/pcap.h"
#include "../fabric/switch.h"
#include "lib/station.h"
#include "lib/tap.h"

static struct fake_world world;
static struct fake_host host;

static void fire(void *arg)
{
	fabric_fire(arg);
}

/* What a manager asks a switch, a data packet, and a trap. */
static void sweep(struct fabric *fab, struct station *a, struct station *b)
{
	static const u16 attrs[] = {
		ATTR_NODE_INFO, ATTR_NODE_DESCRIPTION, ATTR_SWITCH_INFO, ATTR_PORT_INFO,
		ATTR_GUID_INFO, ATTR_PKEY_TABLE, ATTR_SL_TO_VL, ATTR_LINEAR_FDB, ATTR_MULTICAST_FDB,
	};
	struct smp_path path = { .hops = 1 }, lid = { .dlid = 5, .slid = 1 };
	u8 info[SMP_DATA_SIZE] = { 0 }, pkt[LINK_MAX_PACKET];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		smp_ask(&world, a, &path, METHOD_GET, attrs[i], 0, NULL);
	mad_put(info, PI_LID, 5);
	mad_put(info, PI_SM_LID, 1);
	smp_ask(&world, a, &path, METHOD_SET, ATTR_PORT_INFO, 0, info);
	memset(info, 0, sizeof(info));
	info[1] = 1;
	smp_ask(&world, a, &path, METHOD_SET, ATTR_LINEAR_FDB, 0, info);
	memset(info, 0, sizeof(info));
	mad_put(info, SI_LINEAR_TOP, 5);
	smp_ask(&world, a, &path, METHOD_SET, ATTR_SWITCH_INFO, 0, info);
	smp_ask(&world, a, &lid, METHOD_GET, ATTR_NODE_INFO, 0, NULL);
	link_send(a->end, pkt, build_ud(pkt, 1, 2, 100, 0));
	link_enable(b->end, false);
	fake_run(&world, 1000);
}

/* Lines that tshark prints with these arguments. */
static unsigned int lines(const char *file, const char *args)
{
	char cmd[512], line[512];
	unsigned int n = 0;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "tshark -r %s %s 2>/dev/null", file, args);
	f = popen(cmd, "r");
	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		pclose(f);
	return n;
}

int main(void)
{
	char name[] = "/tmp/pcap_testXXXXXX";
	struct station a, b;
	struct fabric *fab;
	struct pcap *pcap;

	if (system("command -v tshark >/dev/null 2>&1")) {
		tap_skip("tshark is not installed");
		return tap_done();
	}
	close(mkstemp(name));
	pcap = pcap_open(name);
	fake_host_init(&host, &world, 0);
	fab = fabric_create(&host.host, "capture", true);
	fabric_tap(fab, pcap_packet, pcap);
	host.fire = fire;
	host.arg = fab;
	station_init(&a, fabric_attach(fab));
	station_init(&b, fabric_attach(fab));
	link_enable(a.end, true);
	link_enable(b.end, true);
	fake_run(&world, 2 * LINK_TRAIN_NS);
	sweep(fab, &a, &b);
	pcap_close(pcap);
	tap_eq(lines(name, ""), 28, "13 requests, 13 answers, a data packet and a trap");
	tap_eq(lines(name, "-Y infiniband.lrh"), 28, "all of them InfiniBand");
	tap_eq(lines(name, "-Y _ws.malformed"), 0, "none of them malformed");
	tap_eq(lines(name, "-Y 'infiniband.mad.method == 0x81'"), 13, "13 GetResp");
	tap_eq(lines(name, "-Y 'infiniband.mad.method == 0x05'"), 1, "one Trap");
	tap_eq(lines(name, "-Y 'infiniband.nodeinfo.nodetype == 2'"), 2,
	       "NodeInfo of a switch, twice");
	tap_eq(lines(name, "-Y 'infiniband.switchinfo.linearfdbtop == 5'"), 2,
	       "SwitchInfo with the forwarding table's top, set and answered");
	tap_eq(lines(name, "-Y 'infiniband.portinfo.lid == 5'"), 2, "PortInfo with the LID");
	tap_eq(lines(name, "-Y 'infiniband.notice.trapnumberdeviceid == 128'"),
	       1, "trap 128");
	station_fini(&a);
	station_fini(&b);
	fabric_destroy(fab);
	fake_host_fini(&host);
	if (!getenv("KEEP"))
		unlink(name);
	return tap_done();
}
