/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The notation of layout.h: that of <ib/fields.h>, under the names of this driver.  No file of the
 * driver but these shifts, masks or swaps bytes of a hardware structure.
 */
#ifndef MLX4_FIELDS_H
#define MLX4_FIELDS_H

#include <ib/fields.h>

#define MLX4_W8			IB_W8
#define MLX4_W16		IB_W16
#define MLX4_W32		IB_W32
#define MLX4_W64		IB_W64
#define MLX4_BITS		IB_BITS
#define MLX4_BIT		IB_BIT
#define MLX4_FIELD_BYTE		IB_FIELD_BYTE
#define MLX4_FIELD_WORD		IB_FIELD_WORD
#define MLX4_FIELD_LSB		IB_FIELD_LSB
#define MLX4_FIELD_MSB		IB_FIELD_MSB
#define MLX4_U8			IB_U8
#define MLX4_U16		IB_U16
#define MLX4_U32		IB_U32
#define MLX4_U64		IB_U64
#define mlx4_word_get		ib_word_get
#define mlx4_word_put		ib_word_put
#define mlx4_field_mask		ib_field_mask
#define mlx4_get		ib_get
#define mlx4_put		ib_put

#endif /* MLX4_FIELDS_H */
