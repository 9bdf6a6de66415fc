// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work queue entries: layouts of the segments, fetching from the ring, and moving the data that
 * a send WQE names. A WQE is read in two steps, its first word before the rest: software writes
 * that word last, and may be doing so on another CPU at this moment.
 */
#include "wqe.h"
#include "xport.h"

#define CTRL(member, byte, msb, lsb) FIELD(struct wqe_ctrl, member, byte, msb, lsb)
#define MLX(member, byte, msb, lsb) FIELD(struct wqe_mlx, member, byte, msb, lsb)
#define UD(member, byte, msb, lsb) FIELD(struct wqe_dgram, member, byte, msb, lsb)
#define BIND(member, byte, msb, lsb) FIELD(struct wqe_bind, member, byte, msb, lsb)
#define FREG(member, byte, msb, lsb) FIELD(struct wqe_freg, member, byte, msb, lsb)

static const struct field ctrl_fields[] = {
	CTRL(owner, 0, 31, 31), CTRL(blh, 0, 6, 6), CTRL(opcode, 0, 4, 0), CTRL(fence, 4, 6, 6),
	CTRL(size, 4, 5, 0), CTRL(srcrb, 8, 31, 8), CTRL(strong, 8, 7, 7), CTRL(l4_csum, 8, 5, 5),
	CTRL(ip_csum, 8, 4, 4), CTRL(cq_update, 8, 3, 2), CTRL(solicited, 8, 1, 1),
	CTRL(force_loop, 8, 0, 0), CTRL(imm, 12, 31, 0),
};

static const struct field mlx_fields[] = {
	MLX(vl15, 8, 17, 17), MLX(slr, 8, 16, 16), MLX(rate, 8, 15, 12), MLX(sl, 8, 11, 8),
	MLX(icrc, 8, 5, 4), MLX(cq_update, 8, 3, 2), MLX(force_loop, 8, 0, 0),
	MLX(rlid, 12, 31, 16),
};

static const struct field dgram_fields[] = {
	UD(force_loop, 0, 31, 31), UD(port, 0, 25, 24), UD(pd, 0, 23, 0), UD(grh, 4, 23, 23),
	UD(path_bits, 4, 22, 16), UD(dlid, 4, 15, 0), UD(sgid_index, 8, 22, 16),
	UD(rate, 8, 15, 8), UD(hop_limit, 8, 7, 0), UD(sl, 12, 31, 28), UD(tclass, 12, 27, 20),
	UD(flow, 12, 19, 0), FIELD_RAW(struct wqe_dgram, dgid, 16), UD(dqpn, 32, 23, 0),
	UD(qkey, 36, 31, 0),
};

static const struct field raddr_fields[] = {
	FIELD64(struct wqe_raddr, va, 0), FIELD(struct wqe_raddr, rkey, 8, 31, 0),
};

static const struct field masked_fields[] = {
	FIELD64(struct wqe_atomic, swap, 0), FIELD64(struct wqe_atomic, cmp, 8),
	FIELD64(struct wqe_atomic, swap_mask, 16), FIELD64(struct wqe_atomic, cmp_mask, 24),
};

static const struct field data_fields[] = {
	FIELD(struct wqe_data, bytes, 0, 31, 0), FIELD(struct wqe_data, key, 4, 31, 0),
	FIELD64(struct wqe_data, va, 8),
};

static const struct field lso_fields[] = {
	FIELD(struct wqe_lso, mss, 0, 31, 16), FIELD(struct wqe_lso, hdr_len, 0, 10, 0),
};

static const struct field next_fields[] = { FIELD(struct wqe_next, next, 0, 15, 0) };

static const struct field bind_fields[] = {
	BIND(flags1, 0, 31, 0), BIND(flags2, 4, 31, 0), BIND(new_rkey, 8, 31, 0),
	BIND(lkey, 12, 31, 0), FIELD64(struct wqe_bind, addr, 16),
	FIELD64(struct wqe_bind, len, 24),
};

static const struct field freg_fields[] = {
	FREG(flags, 0, 31, 0), FREG(key, 4, 31, 0), FIELD64(struct wqe_freg, list, 8),
	FIELD64(struct wqe_freg, start, 16), FIELD64(struct wqe_freg, len, 24),
	FREG(offset, 32, 31, 0), FREG(log_page, 36, 31, 0),
};

static const struct field inval_fields[] = { FIELD(struct wqe_inval, key, 8, 31, 0) };

const struct layout wqe_ctrl_layout = LAYOUT(ctrl_fields, 16);
const struct layout wqe_mlx_layout = LAYOUT(mlx_fields, 16);
const struct layout wqe_dgram_layout = LAYOUT(dgram_fields, 48);
const struct layout wqe_raddr_layout = LAYOUT(raddr_fields, 16);
const struct layout wqe_atomic_layout = { masked_fields, 2, 16 };
const struct layout wqe_masked_layout = LAYOUT(masked_fields, 32);
const struct layout wqe_data_layout = LAYOUT(data_fields, 16);
const struct layout wqe_lso_layout = LAYOUT(lso_fields, 4);
const struct layout wqe_next_layout = LAYOUT(next_fields, 16);
const struct layout wqe_bind_layout = LAYOUT(bind_fields, 32);
const struct layout wqe_freg_layout = LAYOUT(freg_fields, 48);
const struct layout wqe_inval_layout = LAYOUT(inval_fields, 32);

static u64 wqe_pos(const struct cx3_qp *qp, u16 index)
{
	u32 slot = index & ((1u << qp->c.sq_log) - 1);

	return qp->sq_at + ((u64)slot << (qp->c.sq_stride + 4));
}

/**
 * wqe_peek - look at the control segment of a send WQE
 * @qp: whose
 * @index: free-running WQE counter
 * @ctrl: filled with WQE_OK
 *
 * Return: WQE_OK if the WQE is the hardware's, WQE_NONE or WQE_UNREADABLE.
 */
enum wqe_result wqe_peek(struct cx3_qp *qp, u16 index, struct wqe_ctrl *ctrl)
{
	u8 raw[16];

	if (cx3_buf_read(qp->hca, &qp->buf, wqe_pos(qp, index), raw, 4))
		return WQE_UNREADABLE;
	if (raw[0] >> 7 != (index >> qp->c.sq_log & 1))
		return WQE_NONE;
	if (cx3_buf_read(qp->hca, &qp->buf, wqe_pos(qp, index), raw, sizeof(raw)))
		return WQE_UNREADABLE;
	layout_unpack(&wqe_ctrl_layout, raw, ctrl);
	return WQE_OK;
}

/* Takes the parser past @bytes of @w at @*at; false at the end of the WQE. */
static bool segment(const struct swqe *w, u32 *at, u32 bytes, const struct layout *l, void *obj)
{
	if (*at + bytes > w->bytes)
		return false;
	if (l)
		layout_unpack(l, w->raw + *at, obj);
	*at += bytes;
	return true;
}

static bool parse_data(struct swqe *w, u32 at)
{
	struct wqe_data d;

	while (at + WQE_SEG <= w->bytes && w->n < ARRAY_SIZE(w->s)) {
		struct sge *s = &w->s[w->n];

		layout_unpack(&wqe_data_layout, w->raw + at, &d);
		s->inl = d.bytes & WQE_INLINE;
		s->len = d.bytes & ~WQE_INLINE;
		if (s->inl) {
			s->va = at + 4;
			if (s->len > w->bytes - at - 4)
				return false;
			at += (4 + s->len + WQE_SEG - 1) & ~(WQE_SEG - 1);
		} else {
			s->va = d.va;
			s->key = d.key;
			at += WQE_SEG;
		}
		w->len += s->len;
		w->n++;
	}
	return at >= w->bytes;
}

static bool parse_lso(struct swqe *w, u32 *at)
{
	if (*at + 4 > w->bytes)
		return false;
	layout_unpack(&wqe_lso_layout, w->raw + *at, &w->lso);
	w->hdr = *at + 4;
	if (!w->lso.mss || w->lso.hdr_len > w->bytes - w->hdr)
		return false;
	*at += (4 + w->lso.hdr_len + WQE_SEG - 1) & ~(WQE_SEG - 1);
	return true;
}

/* Segments behind the control segment; what there are depends on service and opcode. */
static bool parse_body(const struct cx3_qp *qp, struct swqe *w)
{
	u32 at = WQE_SEG;

	if (qp->c.service == QPT_MLX) {
		layout_unpack(&wqe_mlx_layout, w->raw, &w->mlx);
		return parse_data(w, at);
	}
	w->seg = at;
	switch (w->ctrl.opcode) {
	case WQE_NOP:
		return true;
	case WQE_BIND_MW:
		return segment(w, &at, wqe_bind_layout.bytes, NULL, NULL);
	case WQE_FAST_REG:
		return segment(w, &at, wqe_freg_layout.bytes, NULL, NULL);
	case WQE_LOCAL_INV:
		return segment(w, &at, wqe_inval_layout.bytes, NULL, NULL);
	case WQE_WRITE:
	case WQE_WRITE_IMM:
	case WQE_READ:
		if (!segment(w, &at, WQE_SEG, &wqe_raddr_layout, &w->raddr))
			return false;
		break;
	case WQE_CMP_SWAP:
	case WQE_FETCH_ADD:
	case WQE_MASKED_FA:
		if (!segment(w, &at, WQE_SEG, &wqe_raddr_layout, &w->raddr) ||
		    !segment(w, &at, WQE_SEG, &wqe_atomic_layout, &w->atomic))
			return false;
		break;
	case WQE_MASKED_CS:
		if (!segment(w, &at, WQE_SEG, &wqe_raddr_layout, &w->raddr) ||
		    !segment(w, &at, 2 * WQE_SEG, &wqe_masked_layout, &w->atomic))
			return false;
		break;
	default:
		if (qp->c.service == QPT_UD &&
		    !segment(w, &at, wqe_dgram_layout.bytes, &wqe_dgram_layout, &w->ud))
			return false;
		if (w->ctrl.opcode == WQE_LSO && !parse_lso(w, &at))
			return false;
	}
	return parse_data(w, at);
}

/* Unused bits of a control segment are zero; for BlueFlame software puts index and QPN there. */
static bool ctrl_clear(const struct cx3_qp *qp, const struct swqe *w, u16 index)
{
	u8 raw[WQE_SEG];

	memcpy(raw, w->raw, sizeof(raw));
	if (get24(raw + 4) == (qp->obj.num & 0xffffff) && get16(raw + 1) == index) {
		memset(raw + 1, 0, 2);
		memset(raw + 4, 0, 3);
	}
	if (qp->c.service != QPT_MLX)
		return layout_reserved_clear(&wqe_ctrl_layout, raw);
	memset(raw, 0, 8);
	return layout_reserved_clear(&wqe_mlx_layout, raw);
}

/* Likewise what follows; MAC address and VLAN of a datagram segment are for Ethernet only. */
static bool segments_clear(const struct cx3_qp *qp, const struct swqe *w)
{
	const u8 *seg = w->raw + WQE_SEG;
	u8 raw[48];

	if (qp->c.service == QPT_MLX)
		return true;
	switch (w->ctrl.opcode) {
	case WQE_LOCAL_INV:
		return layout_reserved_clear(&wqe_inval_layout, seg);
	case WQE_WRITE:
	case WQE_WRITE_IMM:
	case WQE_READ:
	case WQE_CMP_SWAP:
	case WQE_FETCH_ADD:
	case WQE_MASKED_CS:
	case WQE_MASKED_FA:
		return layout_reserved_clear(&wqe_raddr_layout, seg);
	case WQE_SEND:
	case WQE_SEND_IMM:
	case WQE_LSO:
		if (qp->c.service != QPT_UD)
			return true;
		memcpy(raw, seg, sizeof(raw));
		memset(raw + 40, 0, 8);
		return layout_reserved_clear(&wqe_dgram_layout, raw);
	default:
		return true;
	}
}

static void audit_reserved(const struct cx3_qp *qp, const struct swqe *w, u16 index)
{
	if (!ctrl_clear(qp, w, index))
		cx3_violation(qp->hca, CX3_V_RESERVED,
			      "QP 0x%06x WQE opcode 0x%02x: reserved bits in control %08x %08x %08x",
			      qp->obj.num, w->ctrl.opcode, get32(w->raw), get32(w->raw + 4),
			      get32(w->raw + 8));
	else if (!segments_clear(qp, w))
		cx3_violation(qp->hca, CX3_V_RESERVED,
			      "QP 0x%06x WQE opcode 0x%02x: reserved bits behind the control segment",
			      qp->obj.num, w->ctrl.opcode);
}

/**
 * wqe_fetch - read and take apart a send WQE
 * @qp: whose
 * @index: free-running WQE counter
 * @wqe: set to the one parsed WQE there is; the next call for another WQE overwrites it
 *
 * Return: WQE_OK, or why there is nothing to execute.
 */
enum wqe_result wqe_fetch(struct cx3_qp *qp, u16 index, struct swqe **wqe)
{
	struct swqe *w = &qp->hca->xport->swqe;
	u32 stride = 16u << qp->c.sq_stride;
	enum wqe_result r;

	*wqe = w;
	if (w->gen == qp->gen && w->qpn == qp->obj.num && w->index == index)
		return WQE_OK;
	w->gen = 0;
	r = wqe_peek(qp, index, &w->ctrl);
	if (r != WQE_OK)
		return r;
	w->bytes = w->ctrl.size * WQE_SEG;
	w->n = 0;
	w->len = 0;
	if (w->bytes < WQE_SEG || w->bytes > stride) {
		cx3_violation(qp->hca, CX3_V_WQE, "QP 0x%06x WQE %u: size %u of stride %u",
			      qp->obj.num, index, w->bytes, stride);
		return WQE_MALFORMED;
	}
	if (cx3_buf_read(qp->hca, &qp->buf, wqe_pos(qp, index), w->raw, w->bytes))
		return WQE_UNREADABLE;
	layout_unpack(&wqe_ctrl_layout, w->raw, &w->ctrl);
	if (w->ctrl.size * WQE_SEG != w->bytes || !parse_body(qp, w)) {
		cx3_violation(qp->hca, CX3_V_WQE, "QP 0x%06x WQE %u: opcode 0x%02x, bad segments",
			      qp->obj.num, index, w->ctrl.opcode);
		return WQE_MALFORMED;
	}
	if (qp->hca->cfg.strict)
		audit_reserved(qp, w, index);
	w->qpn = qp->obj.num;
	w->index = index;
	w->gen = qp->gen;
	return WQE_OK;
}

static u8 copy_one(const struct sge_list *l, const struct sge *s, u64 skip, u8 *dst,
		   const u8 *src, u32 len)
{
	struct cx3_hca *hca = l->qp->hca;
	u64 va = s->va + skip;
	struct cx3_mr mr;

	if (s->inl && src)
		return SYN_LOCAL_QP_OP;
	if (s->inl) {
		memcpy(dst, l->raw + va, len);
		return SYN_OK;
	}
	if (cx3_mr_check(hca, s->key, l->pd, l->qp->obj.num, va, len,
			 src ? CX3_ACC_LOCAL_WRITE : CX3_ACC_LOCAL_READ, l->qp->c.rlkey, &mr))
		return SYN_LOCAL_PROT;
	if (src ? cx3_mr_write(hca, &mr, va, src, len) : cx3_mr_read(hca, &mr, va, dst, len))
		return SYN_LOCAL_PROT;
	return SYN_OK;
}

/**
 * sge_copy - copy between a buffer and the memory a list of elements names
 * @l: the list
 * @off: offset in the message
 * @dst: gather to here, or NULL
 * @src: scatter from here, or NULL
 * @len: bytes
 *
 * Return: SYN_OK or the syndrome to complete with; local length if the list is too short.
 */
u8 sge_copy(const struct sge_list *l, u64 off, u8 *dst, const u8 *src, u32 len)
{
	const struct sge *s;
	u32 n;
	u8 syndrome;

	for (s = l->s; s < l->s + l->n && len; s++) {
		if (off >= s->len) {
			off -= s->len;
			continue;
		}
		n = s->len - (u32)off < len ? s->len - (u32)off : len;
		syndrome = copy_one(l, s, off, dst, src, n);
		if (syndrome)
			return syndrome;
		if (dst)
			dst += n;
		else
			src += n;
		len -= n;
		off = 0;
	}
	return len ? SYN_LOCAL_LENGTH : SYN_OK;
}

/**
 * wqe_gather - copy message bytes out of the memory a WQE names
 * @qp: whose
 * @w: the WQE
 * @off: offset in the message
 * @dst: destination
 * @len: bytes
 *
 * Return: SYN_OK or the syndrome to complete with.
 */
u8 wqe_gather(struct cx3_qp *qp, const struct swqe *w, u64 off, u8 *dst, u32 len)
{
	struct sge_list l = { qp, qp->c.pd, w->s, w->n, w->raw };

	return sge_copy(&l, off, dst, NULL, len);
}

/**
 * wqe_scatter - copy response data into the memory a read or atomic WQE names
 * @qp: whose
 * @w: the WQE
 * @off: offset in the message
 * @src: data
 * @len: bytes
 *
 * Return: SYN_OK or the syndrome to complete with.
 */
u8 wqe_scatter(struct cx3_qp *qp, const struct swqe *w, u64 off, const u8 *src, u32 len)
{
	struct sge_list l = { qp, qp->c.pd, w->s, w->n, w->raw };

	return sge_copy(&l, off, NULL, src, len);
}

/**
 * wqe_parse_receive - data segments of a receive WQE
 * @raw: segments
 * @bytes: room for them
 * @w: @n, @room and @s are filled
 *
 * The list ends with the WQE or at a segment with the invalid L_Key and no bytes.
 */
void wqe_parse_receive(const u8 *raw, u32 bytes, struct rwqe *w)
{
	struct wqe_data d;
	u32 at;

	w->n = 0;
	w->room = 0;
	for (at = 0; at + WQE_SEG <= bytes && w->n < ARRAY_SIZE(w->s); at += WQE_SEG) {
		layout_unpack(&wqe_data_layout, raw + at, &d);
		if (d.key == CX3_INVALID_LKEY)
			break;
		w->s[w->n].va = d.va;
		w->s[w->n].len = d.bytes & ~WQE_INLINE;
		w->s[w->n].key = d.key;
		w->s[w->n].inl = false;
		w->room += w->s[w->n].len;
		w->n++;
	}
}
