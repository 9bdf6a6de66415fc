/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The border between a port and the fabric: one end of a cable.
 *
 * A port (of an HCA, or of a switch) is the owner of a link end. The fabric
 * creates ends, joins them, and carries packets between them.
 *
 * Rules:
 *  - link_send() copies the packet and queues it. Delivery to the other end
 *    happens later, out of the fabric's virtual timer, never inside
 *    link_send() or inside any owner callback: nothing recurses.
 *  - A packet is a whole InfiniBand packet: LRH .. payload, 4 bytes ICRC,
 *    2 bytes VCRC (IBA vol. 1, ch. 5 to 7); LRH.PktLen is right. Inside the
 *    process the CRC bytes are *space only*, their content is undefined: the
 *    fabric fills them in where a packet is captured or leaves the process,
 *    and checks them (then drops, or counts a symbol error) where one comes in.
 *  - Packets of one end arrive in order. A link that is up does not lose any,
 *    except by an injected fault or by the peer going down.
 *  - Speed and width are those of IBA PortInfo: width 1 = 1X, 2 = 4X; speed
 *    is an enum below.
 */
#ifndef CX3_MODEL_LINK_H
#define CX3_MODEL_LINK_H

#include "types.h"

/* Longest packet: LRH 8 + GRH 40 + headers + 4096 payload + CRCs, rounded up. */
#define LINK_MAX_PACKET 4352

enum link_speed {
	LINK_SDR = 1,
	LINK_DDR = 2,
	LINK_QDR = 4,
	LINK_FDR10 = 8,
	LINK_FDR = 16,
};

enum link_result {
	LINK_OK = 0,		/* taken; will be delivered */
	LINK_BUSY = -1,		/* no room: not taken, tx_ready() follows */
	LINK_DOWN = -2,		/* no link: not taken, to be dropped */
};

struct link_end;

/**
 * struct link_ops - what a port asks of the fabric
 * @send: queue one packet (see above)
 * @enable: the port's physical state machine: true = polling (wants a link),
 *	false = disabled. When both ends of a cable poll, the fabric trains the
 *	link and calls state(up) on both after LINK_TRAIN_NS; when one stops,
 *	state(down) on the other. Calling it twice with the same value is fine;
 *	false then true retrains.
 * @detach: the owner goes away; no callback after it. The end is freed by the
 *	fabric and the pointer is dead afterwards.
 */
struct link_ops {
	enum link_result (*send)(struct link_end *end, const u8 *pkt, u32 len);
	void (*enable)(struct link_end *end, bool on);
	void (*detach)(struct link_end *end);
};

/* Virtual time from "both ends polling" to "up". */
#define LINK_TRAIN_NS 1000000ull

/**
 * struct link_owner_ops - what the fabric tells a port
 * @rx: a packet arrived; @pkt is the fabric's, valid during the call only
 * @state: physical link came up or went down; @width and @speed are the
 *	negotiated ones (0 when down)
 * @tx_ready: there is room again after LINK_BUSY
 */
struct link_owner_ops {
	void (*rx)(void *owner, const u8 *pkt, u32 len);
	void (*state)(void *owner, bool up, u8 width, enum link_speed speed);
	void (*tx_ready)(void *owner);
};

/**
 * struct link_end - one end of a cable; embedded in an object of the fabric
 * @ops: the fabric's side, set by the fabric
 * @owner_ops: the port's side, set by link_claim()
 * @owner: argument of @owner_ops
 * @max_speed: fastest the owner supports (set before the first enable)
 */
struct link_end {
	const struct link_ops *ops;
	const struct link_owner_ops *owner_ops;
	void *owner;
	enum link_speed max_speed;
};

/* Called by a port that was given @end: from now on it gets the callbacks. */
static inline void link_claim(struct link_end *end, const struct link_owner_ops *ops,
			      void *owner, enum link_speed max_speed)
{
	end->owner_ops = ops;
	end->owner = owner;
	end->max_speed = max_speed;
}

static inline enum link_result link_send(struct link_end *end, const u8 *pkt, u32 len)
{
	return end ? end->ops->send(end, pkt, len) : LINK_DOWN;
}

static inline void link_enable(struct link_end *end, bool on)
{
	if (end)
		end->ops->enable(end, on);
}

static inline void link_detach(struct link_end *end)
{
	if (end)
		end->ops->detach(end);
}

#endif
