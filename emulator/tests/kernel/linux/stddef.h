/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_KERNEL_STDDEF_H
#define TESTS_KERNEL_STDDEF_H

#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define size_t __SIZE_TYPE__

#endif
