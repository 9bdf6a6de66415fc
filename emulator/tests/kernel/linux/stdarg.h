/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_KERNEL_STDARG_H
#define TESTS_KERNEL_STDARG_H

#define va_list __builtin_va_list
#define va_start(ap, last) __builtin_va_start(ap, last)
#define va_end(ap) __builtin_va_end(ap)
#define va_copy(to, from) __builtin_va_copy(to, from)
#define va_arg(ap, type) __builtin_va_arg(ap, type)

#endif
