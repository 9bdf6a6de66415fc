// SPDX-License-Identifier: GPL-2.0-only
/*
 * Framing and buffers of a cable between processes; see peer.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"
#include "../../model/crc.h"

enum {
	HEADER = 8,
	HELLO = 1,
	POLL = 2,
	PACKET = 3,
	VERSION = 1,
	IN_SIZE = 128 * 1024,
	OUT_SIZE = 1024 * 1024,
	OUT_ROOM = OUT_SIZE / 2,	/* over this, data packets have to wait */
	MAX_FRAME = HEADER + LINK_MAX_PACKET,
};

static const char magic[] = "IBcable";

/**
 * struct peer - see peer.h
 * @fd: socket
 * @wire: the cable's end in the fabric
 * @kick: output is waiting
 * @arg: its argument
 * @greeted: the other side's HELLO has come
 * @polls: the other side polls
 * @stalled: the fabric took no more; parsing goes on when it has drained
 * @resume: the fabric has drained, and nobody has parsed since
 * @dead: protocol error, final
 * @in: received and not parsed
 * @in_len: bytes of it
 * @out: to be sent
 * @out_len: bytes of it
 */
struct peer {
	int fd;
	struct fabric_wire *wire;
	void (*kick)(void *arg);
	void *arg;
	bool greeted, polls, stalled, resume;
	const char *dead;
	u32 in_len, out_len;
	u8 in[IN_SIZE];
	u8 out[OUT_SIZE];
};

/* SMPs come although the peer said that it has no room; those that do not fit are lost. */
static u8 *frame(struct peer *p, u8 type, u32 body)
{
	u8 *f = p->out + p->out_len;

	if (p->out_len + HEADER + body > OUT_SIZE)
		return NULL;
	put32(f, HEADER + body);
	put32(f + 4, (u32)type << 24);
	p->out_len += HEADER + body;
	return f + HEADER;
}

static void kick(struct peer *p)
{
	if (p->kick)
		p->kick(p->arg);
}

static void wire_send(void *arg, const u8 *pkt, u32 len)
{
	struct peer *p = arg;
	u8 *body = p->dead ? NULL : frame(p, PACKET, len);

	if (!body)
		return;
	memcpy(body, pkt, len);
	packet_put_crcs(body, len);
	kick(p);
}

static bool wire_room(void *arg)
{
	struct peer *p = arg;

	return p->dead || p->out_len < OUT_ROOM;
}

static void wire_poll(void *arg, bool on)
{
	struct peer *p = arg;
	u8 *body = frame(p, POLL, 1);

	if (p->dead)
		return;
	/* A state that cannot be told would leave the two sides with different ideas for ever. */
	if (!body) {
		p->dead = "the other side does not read";
		return;
	}
	*body = on;
	kick(p);
}

static const struct fabric_wire_ops wire_ops = {
	.send = wire_send,
	.room = wire_room,
	.poll = wire_poll,
};

/* Act on one whole frame; false: the fabric cannot take it now. */
static bool take(struct peer *p, const u8 *f, u32 len)
{
	const u8 *body = f + HEADER;
	u32 n = len - HEADER;

	if (f[4] == HELLO && !p->greeted && n == sizeof(magic) &&
	    !memcmp(body, magic, sizeof(magic) - 1) && body[n - 1] == VERSION) {
		p->greeted = true;
	} else if (!p->greeted) {
		p->dead = "the other side does not speak this protocol";
	} else if (f[4] == POLL && n == 1 && body[0] <= 1) {
		p->polls = body[0];
		fabric_wire_poll(p->wire, p->polls);
	} else if (f[4] != PACKET) {
		p->dead = "the other side sent a frame that does not exist";
	} else if (fabric_wire_rx(p->wire, body, n) == LINK_BUSY) {
		return false;
	}
	return true;
}

static void parse(struct peer *p)
{
	u32 at = 0;

	p->stalled = false;
	p->resume = false;
	while (!p->dead && p->in_len - at >= HEADER) {
		u32 len = get32(p->in + at);

		if (len < HEADER || len > MAX_FRAME) {
			p->dead = "the other side sent a frame of impossible length";
			break;
		}
		if (p->in_len - at < len)
			break;
		if (!take(p, p->in + at, len)) {
			p->stalled = true;
			break;
		}
		at += len;
	}
	memmove(p->in, p->in + at, p->in_len - at);
	p->in_len -= at;
}

/* Out of the fabric's delivery: only what puts packets into it is allowed here. */
static void drained(void *arg)
{
	struct peer *p = arg;

	p->resume = p->stalled;
	p->stalled = false;
}

static void greet(struct peer *p)
{
	u8 *body = frame(p, HELLO, sizeof(magic));

	memcpy(body, magic, sizeof(magic) - 1);
	body[sizeof(magic) - 1] = VERSION;
}

struct peer *peer_create(int fd, void (*kick_fn)(void *arg), void *arg)
{
	struct peer *p = calloc(1, sizeof(*p));

	if (!p || fcntl(fd, F_SETFL, O_NONBLOCK)) {
		free(p);
		close(fd);
		return NULL;
	}
	p->fd = fd;
	p->kick = kick_fn;
	p->arg = arg;
	greet(p);
	return p;
}

bool peer_redial(struct peer *p, int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK)) {
		close(fd);
		return false;
	}
	close(p->fd);
	p->fd = fd;
	p->greeted = false;
	p->polls = false;
	p->stalled = false;
	p->resume = false;
	p->dead = NULL;
	p->in_len = 0;
	p->out_len = 0;
	greet(p);
	if (p->wire && fabric_wire_polled(p->wire))
		wire_poll(p, true);
	return true;
}

bool peer_plug(struct peer *p, struct fabric *fab, struct link_end **port)
{
	p->wire = fabric_wire_attach(fab, &wire_ops, p, port);
	if (!p->wire)
		return false;
	fabric_wire_drained(p->wire, drained);
	return true;
}

void peer_destroy(struct peer *p)
{
	if (!p)
		return;
	if (p->wire)
		fabric_wire_detach(p->wire);
	close(p->fd);
	free(p);
}

int peer_fd(const struct peer *p)
{
	return p->fd;
}

bool peer_greeted(const struct peer *p)
{
	return p->greeted;
}

bool peer_wants_read(const struct peer *p)
{
	return p->wire && !p->stalled && !p->dead;
}

bool peer_resumes(const struct peer *p)
{
	return p->resume && !p->dead;
}

bool peer_wants_write(const struct peer *p)
{
	return p->out_len && !p->dead;
}

const char *peer_read(struct peer *p)
{
	ssize_t n;

	parse(p);
	if (p->dead || p->stalled)
		return p->dead;
	n = read(p->fd, p->in + p->in_len, IN_SIZE - p->in_len);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? NULL : "connection lost";
	if (!n)
		return p->in_len ? "closed by the other side inside a frame" :
				   "closed by the other side";
	p->in_len += (u32)n;
	parse(p);
	return p->dead;
}

const char *peer_flush(struct peer *p)
{
	bool was_full = p->out_len >= OUT_ROOM;
	ssize_t n;

	if (p->dead || !p->out_len)
		return p->dead;
	n = send(p->fd, p->out, p->out_len, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? NULL : "connection lost";
	memmove(p->out, p->out + n, p->out_len - (u32)n);
	p->out_len -= (u32)n;
	if (was_full && p->out_len < OUT_ROOM && p->wire)
		fabric_wire_ready(p->wire);
	return NULL;
}

u64 peer_errors(const struct peer *p)
{
	return p->wire ? fabric_wire_errors(p->wire) : 0;
}

bool peer_alone(const struct peer *p)
{
	return !p->wire || !fabric_wire_has_port(p->wire);
}

void peer_hang_up(struct peer *p)
{
	if (!p->dead)
		p->dead = "hung up";
	if (p->wire)
		fabric_wire_poll(p->wire, false);
}
