// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cable that leads into another process; see fabric.h.
 *
 * The far end is owned by the wire: what is delivered to it goes to the
 * front-end, what the front-end brings is sent by it. The link trains on both
 * sides independently, as soon as each knows that the other polls; a packet
 * that arrives earlier proves that the other side is up already.
 */
#include "cable.h"
#include "../model/crc.h"
#include "../model/wire.h"

struct fabric_wire {
	const struct fabric_wire_ops *ops;
	void *arg;
	struct fab_end *far;
	void (*drained)(void *arg);
	u64 errors;
};

static void wire_rx(void *owner, const u8 *pkt, u32 len)
{
	struct fabric_wire *wire = owner;

	wire->ops->send(wire->arg, pkt, len);
}

static void wire_resume(void *owner)
{
	struct fabric_wire *wire = owner;

	if (wire->drained)
		wire->drained(wire->arg);
}

static void wire_state(void *owner, bool up, u8 width, enum link_speed speed)
{
	if (up)
		wire_resume(owner);
}

static const struct link_owner_ops wire_owner = {
	.rx = wire_rx,
	.state = wire_state,
	.tx_ready = wire_resume,
};

static bool wire_ready(void *owner, const u8 *pkt, u32 len)
{
	struct fabric_wire *wire = owner;

	return wire->ops->room(wire->arg);
}

static void wire_polled(void *owner, bool on)
{
	struct fabric_wire *wire = owner;

	wire->ops->poll(wire->arg, on);
}

static bool wire_place(struct fabric *fab, struct fab_end *far, struct link_end **port)
{
	struct fab_end *near;

	if (!port)
		return fabric_plug(fab, far, true);
	near = end_create(fab);
	if (!near)
		return false;
	cable_join(far, near);
	*port = &near->link;
	return true;
}

struct fabric_wire *fabric_wire_attach(struct fabric *fab, const struct fabric_wire_ops *ops,
				       void *arg, struct link_end **port)
{
	struct fabric_wire *wire = cx3_host_alloc(&fab->host, sizeof(*wire));
	struct fab_end *far;

	if (!wire)
		return NULL;
	far = end_create(fab);
	if (!far) {
		cx3_host_free(&fab->host, wire);
		return NULL;
	}
	wire->ops = ops;
	wire->arg = arg;
	wire->far = far;
	link_claim(&far->link, &wire_owner, wire, LINK_FDR);
	far->ready = wire_ready;
	far->polled = wire_polled;
	if (!wire_place(fab, far, port)) {
		end_free(far);
		cx3_host_free(&fab->host, wire);
		return NULL;
	}
	return wire;
}

void fabric_wire_detach(struct fabric_wire *wire)
{
	struct fabric *fab = wire->far->fab;

	wire->far->polled = NULL;
	link_detach(&wire->far->link);
	cx3_host_free(&fab->host, wire);
}

void fabric_wire_poll(struct fabric_wire *wire, bool on)
{
	link_enable(&wire->far->link, on);
}

bool fabric_wire_polled(const struct fabric_wire *wire)
{
	return wire->far->peer && wire->far->peer->polling;
}

bool fabric_wire_has_port(const struct fabric_wire *wire)
{
	return wire->far->peer;
}

void fabric_wire_ready(struct fabric_wire *wire)
{
	fabric_kick(wire->far->fab);
}

bool fabric_wire_room(const struct fabric_wire *wire)
{
	const struct fab_end *near = wire->far->peer;

	return !near || (ring_room(&near->data, LINK_MAX_PACKET) &&
			 ring_room(&near->smp, LINK_MAX_PACKET));
}

void fabric_wire_drained(struct fabric_wire *wire, void (*drained)(void *arg))
{
	wire->drained = drained;
}

/* Is this a whole packet with the length it claims and the CRCs it should have? */
static bool packet_sound(const u8 *pkt, u32 len)
{
	struct wire_pkt w;

	if (len < WIRE_LRH_LEN + WIRE_CRC_LEN || len > LINK_MAX_PACKET)
		return false;
	layout_unpack(&wire_lrh_layout, pkt, &w);
	return w.words * 4u + 2 == len && packet_check_crcs(pkt, len);
}

enum link_result fabric_wire_rx(struct fabric_wire *wire, const u8 *pkt, u32 len)
{
	struct fab_end *far = wire->far;

	if (!packet_sound(pkt, len)) {
		wire->errors++;
		return LINK_OK;
	}
	if (!far->up && fabric_wire_polled(wire) && far->polling) {
		cable_train_now(far);
		return LINK_BUSY;
	}
	return link_send(&far->link, pkt, len);
}

u64 fabric_wire_errors(const struct fabric_wire *wire)
{
	return wire->errors;
}
