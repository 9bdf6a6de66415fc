// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packer and the unpacker of all layout tables; see fields.h.
 */
#include "fields.h"

static u64 member_get(const u8 *obj, const struct field *f)
{
	const u8 *m = obj + f->off;

	switch (f->size) {
	case 1:
		return *m;
	case 2:
		return *(const u16 *)m;
	case 4:
		return *(const u32 *)m;
	default:
		return *(const u64 *)m;
	}
}

static void member_set(u8 *obj, const struct field *f, u64 val)
{
	u8 *m = obj + f->off;

	switch (f->size) {
	case 1:
		*m = val;
		break;
	case 2:
		*(u16 *)m = val;
		break;
	case 4:
		*(u32 *)m = val;
		break;
	default:
		*(u64 *)m = val;
	}
}

static u32 member_mask(const struct field *f)
{
	return f->width == 32 ? ~0u : (1u << f->width) - 1;
}

static u32 field_shift(const struct field *f)
{
	return 32 - f->width - f->start % 32;
}

/**
 * layout_unpack - read big-endian bytes into a host-order structure
 * @l: the layout
 * @raw: @l->bytes bytes, any alignment
 * @obj: members named by the table are set, others stay as they are
 */
void layout_unpack(const struct layout *l, const void *raw, void *obj)
{
	const struct field *f = l->field;
	u32 i;

	for (i = 0; i < l->count; i++, f++) {
		const u8 *p = (const u8 *)raw + f->start / 32 * 4;

		if (!f->width)
			memcpy((u8 *)obj + f->off, (const u8 *)raw + f->start / 8, f->size);
		else if (f->width == 64)
			member_set(obj, f, get64(p));
		else
			member_set(obj, f, get32(p) >> field_shift(f) & member_mask(f));
	}
}

/**
 * layout_pack - write a host-order structure as big-endian bytes
 * @l: the layout
 * @raw: @l->bytes bytes; only the bits named by the table change, so the caller zeroes the rest
 * @obj: the structure
 *
 * Return: false if a value was too large for its field; its low bits were then written.
 */
bool layout_pack(const struct layout *l, void *raw, const void *obj)
{
	const struct field *f = l->field;
	bool fits = true;
	u32 i;

	for (i = 0; i < l->count; i++, f++) {
		u8 *p = (u8 *)raw + f->start / 32 * 4;
		u64 val;
		u32 mask;

		if (!f->width) {
			memcpy((u8 *)raw + f->start / 8, (const u8 *)obj + f->off, f->size);
			continue;
		}
		val = member_get(obj, f);
		if (f->width == 64) {
			put64(p, val);
			continue;
		}
		mask = member_mask(f);
		if (val & ~(u64)mask)
			fits = false;
		mask <<= field_shift(f);
		put32(p, (get32(p) & ~mask) | ((u32)val << field_shift(f) & mask));
	}
	return fits;
}

/**
 * layout_first_reserved - where is a bit set that the table does not name?
 * @l: the layout; at most 256 bytes
 * @raw: @l->bytes bytes
 *
 * Return: offset of the first such byte, or -1 if all those bits are zero.
 */
int layout_first_reserved(const struct layout *l, const void *raw)
{
	const u8 *p = raw;
	u8 named[256];
	u32 i, bit;

	memset(named, 0, sizeof(named));
	for (i = 0; i < l->count; i++) {
		const struct field *f = &l->field[i];
		u32 width = f->width ? f->width : f->size * 8u;

		for (bit = f->start; bit < f->start + width; bit++)
			named[bit / 8 % sizeof(named)] |= 0x80 >> bit % 8;
	}
	for (i = 0; i < l->bytes && i < sizeof(named); i++)
		if (p[i] & ~named[i])
			return (int)i;
	return -1;
}

/**
 * layout_reserved_clear - do all bits outside the table read as zero?
 * @l: the layout; at most 256 bytes
 * @raw: @l->bytes bytes
 *
 * Return: true if they do.
 */
bool layout_reserved_clear(const struct layout *l, const void *raw)
{
	return layout_first_reserved(l, raw) < 0;
}
