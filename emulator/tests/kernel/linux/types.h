/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_KERNEL_TYPES_H
#define TESTS_KERNEL_TYPES_H

#define u8 unsigned char
#define u16 unsigned short
#define u32 unsigned int
#define u64 unsigned long long
#define s8 signed char
#define s16 short
#define s32 int
#define s64 long long
#define true 1
#define false 0

#endif
