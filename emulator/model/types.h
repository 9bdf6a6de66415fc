/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types and the handful of functions the device model may use.
 *
 * The model is compiled three times: into a shared object for QEMU, into
 * host test programs, and into a kernel for KUnit. Nothing but this header
 * and host.h may know which of them it is. Allowed beside them: memcpy,
 * memmove, memset, memcmp, strlen, strcmp, strncmp, snprintf and vsnprintf, which
 * all three worlds have (no %f, no %p; u64 is printed with %llu or %llx).
 */
#ifndef CX3_MODEL_TYPES_H
#define CX3_MODEL_TYPES_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/stdarg.h>
#include <linux/stddef.h>
#include <linux/string.h>
#else
#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#ifndef __printf
#define __printf(a, b) __attribute__((__format__(__printf__, a, b)))
#endif
#ifndef container_of
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#endif
#endif /* __KERNEL__ */

#define CX3_BIT(n) (1ull << (n))

/*
 * Hardware structures are arrays of bytes here; a field is fetched and stored
 * by its byte offset, always big-endian, at any alignment.
 */
static inline u16 get16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

static inline u32 get24(const u8 *p)
{
	return (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];
}

static inline u32 get32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

static inline u64 get64(const u8 *p)
{
	return (u64)get32(p) << 32 | get32(p + 4);
}

static inline void put16(u8 *p, u16 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static inline void put24(u8 *p, u32 v)
{
	p[0] = (u8)(v >> 16);
	p[1] = (u8)(v >> 8);
	p[2] = (u8)v;
}

static inline void put32(u8 *p, u32 v)
{
	put16(p, (u16)(v >> 16));
	put16(p + 2, (u16)v);
}

static inline void put64(u8 *p, u64 v)
{
	put32(p, (u32)(v >> 32));
	put32(p + 4, (u32)v);
}

#endif
