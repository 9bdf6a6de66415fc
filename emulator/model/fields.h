/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layout tables. Everything the HCA shares with the outside (packet headers, contexts in ICM,
 * work queue and completion queue entries) is big-endian and described by a table that ties each
 * member of a host-order C structure to the bits it occupies. One packer and one unpacker serve all
 * tables, so that a layout is written down once and no shift or byte swap stands at a call site.
 *
 * Positions are given the way the hardware interface is documented: byte offset of a 32-bit
 * big-endian word, then the highest and the lowest bit within that word.
 */
#ifndef CX3_FIELDS_H
#define CX3_FIELDS_H

#include "types.h"

/**
 * struct field - one member of a layout
 * @start: position of the most significant bit, counted from bit 7 of byte 0
 * @width: width in bits: 1 to 32 within one word, 64 for two whole words, 0 for raw bytes
 * @size: size of the C member in bytes (1, 2, 4, 8; any number for raw bytes)
 * @off: offset of the C member
 */
struct field {
	u16 start;
	u8 width;
	u8 size;
	u16 off;
};

#define FIELD(type, member, byte, msb, lsb) \
	{ (byte) * 8 + 31 - (msb), (msb) - (lsb) + 1, \
	  sizeof(((type *)0)->member), __builtin_offsetof(type, member) }
#define FIELD64(type, member, byte) \
	{ (byte) * 8, 64, sizeof(((type *)0)->member), __builtin_offsetof(type, member) }
#define FIELD_RAW(type, member, byte) \
	{ (byte) * 8, 0, sizeof(((type *)0)->member), __builtin_offsetof(type, member) }

/**
 * struct layout - a table with its length
 * @field: the members, in any order
 * @count: how many
 * @bytes: size of the described area
 */
struct layout {
	const struct field *field;
	u16 count;
	u16 bytes;
};

#define LAYOUT(table, len) { (table), sizeof(table) / sizeof((table)[0]), (len) }

void layout_unpack(const struct layout *l, const void *raw, void *obj);
bool layout_pack(const struct layout *l, void *raw, const void *obj);
int layout_first_reserved(const struct layout *l, const void *raw);
bool layout_reserved_clear(const struct layout *l, const void *raw);

#endif
