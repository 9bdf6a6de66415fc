/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_KERNEL_TYPES_H
#define TESTS_KERNEL_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef _Bool bool;
#define true 1
#define false 0

#endif
