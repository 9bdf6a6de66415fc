/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_KERNEL_STRING_H
#define TESTS_KERNEL_STRING_H

#define size_t __SIZE_TYPE__
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);

#endif
