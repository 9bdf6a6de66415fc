/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wire and hardware layouts as tables of named fields, and the one packer and unpacker for them.
 *
 * All that goes over the wire, and all that the HCA reads or writes in memory, is big-endian.  A
 * field is a run of bits inside an aligned-or-not big-endian word of 8, 16, 32 or 64 bits at a byte
 * offset of its structure; its name stands for one number that holds offset, word, lowest bit and
 * width.  The tables are in <ib/mad_defs.h> and the drivers' layout.h; no other file shifts, masks
 * or swaps bytes of such a structure.
 */
#ifndef IB_FIELDS_H
#define IB_FIELDS_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/bug.h>
#include <linux/types.h>

#include <ib/compat.h>

/* Word sizes as log2 of bytes. */
#define IB_W8		0
#define IB_W16		1
#define IB_W32		2
#define IB_W64		3

/*
 * IB_BITS(byte, word, msb, lsb): bits msb..lsb of the word at a byte offset (below 4096); bit 0
 * is the lowest of the word's value.
 */
#define IB_BITS(byte, word, msb, lsb)								\
	((u32)(byte) << 20 | (u32)(word) << 16 | (u32)(lsb) << 8 | (u32)(msb))
#define IB_BIT(byte, word, bit)								\
	((u32)(byte) << 20 | (u32)(word) << 16 | (u32)(bit) * 0x0101)

/* The parts of a field's number. */
#define IB_FIELD_BYTE(field)	((field) >> 20)
#define IB_FIELD_WORD(field)	((field) >> 16 & 0xf)
#define IB_FIELD_LSB(field)	((field) >> 8 & 0xff)
#define IB_FIELD_MSB(field)	((field) & 0xff)

#define IB_U8(byte)			IB_BITS(byte, IB_W8, 7, 0)
#define IB_U16(byte)			IB_BITS(byte, IB_W16, 15, 0)
#define IB_U32(byte)			IB_BITS(byte, IB_W32, 31, 0)
#define IB_U64(byte)			IB_BITS(byte, IB_W64, 63, 0)

static inline u64 ib_word_get(const u8 *at, unsigned int word)
{
	switch (word) {
	case IB_W8:
		return *at;
	case IB_W16:
		return get_unaligned_be16(at);
	case IB_W32:
		return get_unaligned_be32(at);
	default:
		return get_unaligned_be64(at);
	}
}

static inline void ib_word_put(u8 *at, unsigned int word, u64 value)
{
	switch (word) {
	case IB_W8:
		*at = value;
		break;
	case IB_W16:
		put_unaligned_be16(value, at);
		break;
	case IB_W32:
		put_unaligned_be32(value, at);
		break;
	default:
		put_unaligned_be64(value, at);
		break;
	}
}

/* The bits of a field within its word; a table entry that makes no sense does not compile. */
static __always_inline u64 ib_field_mask(u32 field)
{
	BUILD_BUG_ON(IB_FIELD_MSB(field) < IB_FIELD_LSB(field) ||
		     IB_FIELD_MSB(field) >= 8 << IB_FIELD_WORD(field));
	return GENMASK_ULL(IB_FIELD_MSB(field), IB_FIELD_LSB(field));
}

/**
 * ib_get() - read a field of such a structure
 * @from: the structure
 * @field: the field's name, from its table
 *
 * Return: its value in host order.
 */
static __always_inline u64 ib_get(const void *from, u32 field)
{
	u64 word = ib_word_get((const u8 *)from + IB_FIELD_BYTE(field), IB_FIELD_WORD(field));

	return (word & ib_field_mask(field)) >> IB_FIELD_LSB(field);
}

/**
 * ib_put() - write a field of such a structure, leaving its neighbours alone
 * @to: the structure
 * @field: the field's name, from its table
 * @value: in host order; one that does not fit is a bug of the caller, warned of and cut
 */
static __always_inline void ib_put(void *to, u32 field, u64 value)
{
	u8 *at = (u8 *)to + IB_FIELD_BYTE(field);
	u64 mask = ib_field_mask(field);
	u64 word = ib_word_get(at, IB_FIELD_WORD(field)) & ~mask;

	WARN_ON_ONCE(value & ~(mask >> IB_FIELD_LSB(field)));
	word |= value << IB_FIELD_LSB(field) & mask;
	ib_word_put(at, IB_FIELD_WORD(field), word);
}

#endif /* IB_FIELDS_H */
