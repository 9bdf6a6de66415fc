/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hardware layouts as tables of named fields, and the one packer and unpacker for them.
 *
 * All that the HCA reads or writes in memory is big-endian.  A field is a run of bits inside an
 * aligned-or-not big-endian word of 8, 16, 32 or 64 bits at a byte offset of its structure; its
 * name stands for one number that holds offset, word, lowest bit and width.  The layouts are in
 * layout.h; no other file of the driver shifts, masks or swaps bytes of a hardware structure.
 */
#ifndef MLX4_FIELDS_H
#define MLX4_FIELDS_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/bug.h>
#include <linux/types.h>

#include <ib/compat.h>

/* Word sizes as log2 of bytes. */
#define MLX4_W8		0
#define MLX4_W16	1
#define MLX4_W32	2
#define MLX4_W64	3

/*
 * MLX4_BITS(byte, word, msb, lsb): bits msb..lsb of the word at a byte offset (below 4096); bit 0
 * is the lowest of the word's value.
 */
#define MLX4_BITS(byte, word, msb, lsb)								\
	((u32)(byte) << 20 | (u32)(word) << 16 | (u32)(lsb) << 8 | (u32)(msb))
#define MLX4_BIT(byte, word, bit)								\
	((u32)(byte) << 20 | (u32)(word) << 16 | (u32)(bit) * 0x0101)

/* The parts of a field's number. */
#define MLX4_FIELD_BYTE(field)	((field) >> 20)
#define MLX4_FIELD_WORD(field)	((field) >> 16 & 0xf)
#define MLX4_FIELD_LSB(field)	((field) >> 8 & 0xff)
#define MLX4_FIELD_MSB(field)	((field) & 0xff)

#define MLX4_U8(byte)			MLX4_BITS(byte, MLX4_W8, 7, 0)
#define MLX4_U16(byte)			MLX4_BITS(byte, MLX4_W16, 15, 0)
#define MLX4_U32(byte)			MLX4_BITS(byte, MLX4_W32, 31, 0)
#define MLX4_U64(byte)			MLX4_BITS(byte, MLX4_W64, 63, 0)

static inline u64 mlx4_word_get(const u8 *at, unsigned int word)
{
	switch (word) {
	case MLX4_W8:
		return *at;
	case MLX4_W16:
		return get_unaligned_be16(at);
	case MLX4_W32:
		return get_unaligned_be32(at);
	default:
		return get_unaligned_be64(at);
	}
}

static inline void mlx4_word_put(u8 *at, unsigned int word, u64 value)
{
	switch (word) {
	case MLX4_W8:
		*at = value;
		break;
	case MLX4_W16:
		put_unaligned_be16(value, at);
		break;
	case MLX4_W32:
		put_unaligned_be32(value, at);
		break;
	default:
		put_unaligned_be64(value, at);
		break;
	}
}

/* The bits of a field within its word; a table entry that makes no sense does not compile. */
static __always_inline u64 mlx4_field_mask(u32 field)
{
	BUILD_BUG_ON(MLX4_FIELD_MSB(field) < MLX4_FIELD_LSB(field) ||
		     MLX4_FIELD_MSB(field) >= 8 << MLX4_FIELD_WORD(field));
	return GENMASK_ULL(MLX4_FIELD_MSB(field), MLX4_FIELD_LSB(field));
}

/**
 * mlx4_get() - read a field of a hardware structure
 * @from: the structure
 * @field: the field's name, from layout.h
 *
 * Return: its value in host order.
 */
static __always_inline u64 mlx4_get(const void *from, u32 field)
{
	u64 word = mlx4_word_get((const u8 *)from + MLX4_FIELD_BYTE(field), MLX4_FIELD_WORD(field));

	return (word & mlx4_field_mask(field)) >> MLX4_FIELD_LSB(field);
}

/**
 * mlx4_put() - write a field of a hardware structure, leaving its neighbours alone
 * @to: the structure
 * @field: the field's name, from layout.h
 * @value: in host order; one that does not fit is a bug of the caller, warned of and cut
 */
static __always_inline void mlx4_put(void *to, u32 field, u64 value)
{
	u8 *at = (u8 *)to + MLX4_FIELD_BYTE(field);
	u64 mask = mlx4_field_mask(field);
	u64 word = mlx4_word_get(at, MLX4_FIELD_WORD(field)) & ~mask;

	WARN_ON_ONCE(value & ~(mask >> MLX4_FIELD_LSB(field)));
	word |= value << MLX4_FIELD_LSB(field) & mask;
	mlx4_word_put(at, MLX4_FIELD_WORD(field), word);
}

#endif /* MLX4_FIELDS_H */
