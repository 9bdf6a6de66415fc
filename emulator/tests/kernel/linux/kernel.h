/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_KERNEL_KERNEL_H
#define TESTS_KERNEL_KERNEL_H

/* What model/types.h takes from here in a kernel, and nothing else. */
#include <linux/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - __builtin_offsetof(type, member)))
#define size_t __SIZE_TYPE__
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
int vsnprintf(char *buf, size_t size, const char *fmt, __builtin_va_list ap);

#endif
