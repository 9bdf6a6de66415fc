/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the library call of each other. */
#ifndef LASTREF_LIB_H
#define LASTREF_LIB_H

void lr_fault_exit(void);

/* Of libgcov and the C library, which user mode Linux is linked with. */
void __gcov_dump(void);
int atexit(void (*fn)(void));

#endif
