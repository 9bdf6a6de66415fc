// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is cabled to whom; see fabric.h.
 */
#include "cable.h"
#include "fault.h"

/* GUID of the switch: our vendor id and 40 bits of a hash of the fabric's name. */
static u64 guid_of(const char *name)
{
	u64 h = 0xcbf29ce484222325ull;

	while (*name)
		h = (h ^ (u8)*name++) * 0x100000001b3ull;
	return (u64)FSW_VENDOR_ID << 40 | (h & 0xffffffff00ull);
}

static bool switch_appear(struct fabric *fab)
{
	if (!fab->sw)
		fab->sw = fsw_create(&fab->host, guid_of(fab->name), fab->name);
	return fab->sw;
}

/* Plug a station into the first free port of the switch. */
static bool switch_join(struct fabric *fab, struct station *st)
{
	struct fab_end *far;
	unsigned int port = 1;

	while (port <= FSW_PORTS && fab->sw->port[port].end)
		port++;
	if (port > FSW_PORTS)
		return false;
	far = end_create(fab);
	if (!far)
		return false;
	far->is_switch = true;
	far->ready = fsw_ready;
	st->switch_port = (u8)port;
	st->end->num = (u8)port;
	far->num = (u8)port;
	cable_join(st->end, far);
	fsw_plug(fab->sw, port, &far->link);
	return true;
}

/* Two back-to-back ports become two ports of a switch. */
static bool switch_recable(struct fabric *fab)
{
	unsigned int i;

	if (!switch_appear(fab))
		return false;
	for (i = 0; i < fab->nstations; i++) {
		struct fab_end *end = fab->station[i].end;

		if (fab->station[i].switch_port)
			continue;
		if (end->peer)
			cable_unjoin(end);
		if (!switch_join(fab, &fab->station[i]))
			return false;
	}
	return true;
}

bool fabric_plug(struct fabric *fab, struct fab_end *end, bool want_switch)
{
	struct station *st = &fab->station[fab->nstations];

	if (fab->nstations == FSW_PORTS)
		return false;
	st->end = end;
	st->switch_port = 0;
	if (fab->sw || want_switch || fab->nstations >= 2) {
		if (!switch_recable(fab) || !switch_join(fab, st))
			return false;
	} else if (fab->nstations == 1) {
		fab->station[0].end->num = 1;
		end->num = 2;
		cable_join(fab->station[0].end, end);
	}
	fab->nstations++;
	return true;
}

void fabric_unplug(struct fabric *fab, struct fab_end *end)
{
	unsigned int i;

	for (i = 0; i < fab->nstations; i++) {
		if (fab->station[i].end != end)
			continue;
		if (fab->station[i].switch_port)
			fsw_unplug(fab->sw, fab->station[i].switch_port);
		fab->station[i] = fab->station[--fab->nstations];
		return;
	}
}

struct link_end *fabric_attach(struct fabric *fab)
{
	struct fab_end *end = end_create(fab);

	if (!end)
		return NULL;
	if (!fabric_plug(fab, end, fab->always_switch)) {
		end_free(end);
		return NULL;
	}
	return &end->link;
}

unsigned int fabric_ports(const struct fabric *fab)
{
	return fab->nstations;
}

struct fsw *fabric_switch(struct fabric *fab)
{
	return fab->sw;
}

struct fabric *fabric_create(const struct cx3_host *host, const char *name, bool always_switch)
{
	struct fabric *fab = cx3_host_alloc(host, sizeof(*fab));

	if (!fab)
		return NULL;
	fab->host = *host;
	snprintf(fab->name, sizeof(fab->name), "%s", name);
	fab->always_switch = always_switch;
	fab->armed = CX3_NEVER;
	return fab;
}

void fabric_destroy(struct fabric *fab)
{
	if (!fab)
		return;
	fab_fault_free(fab);
	fsw_destroy(fab->sw);
	while (fab->nends)
		end_free(fab->end[fab->nends - 1]);
	fab->host.ops->timer(fab->host.ctx, CX3_NEVER);
	cx3_host_free(&fab->host, fab);
}
