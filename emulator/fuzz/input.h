/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a fuzz target reads its decisions from: the fuzzer's bytes, then zeroes.
 */
#ifndef EMULATOR_FUZZ_INPUT_H
#define EMULATOR_FUZZ_INPUT_H

#include "../model/types.h"

/**
 * struct input - the fuzzer's bytes
 * @at: next one
 * @left: how many there are
 */
struct input {
	const u8 *at;
	size_t left;
};

static inline u8 in8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline u16 in16(struct input *in)
{
	u16 high = in8(in);

	return (u16)(high << 8 | in8(in));
}

static inline u32 in32(struct input *in)
{
	u32 high = in16(in);

	return high << 16 | in16(in);
}

static inline u64 in64(struct input *in)
{
	u64 high = in32(in);

	return high << 32 | in32(in);
}

/* Up to @max bytes, as many as a length byte (in units of @unit) says. */
static inline u32 in_bytes(struct input *in, u8 *to, u32 max, u32 unit)
{
	u32 n = in8(in) * unit;

	if (n > max)
		n = max;
	if (n > in->left)
		n = (u32)in->left;
	memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
	return n;
}

#endif
