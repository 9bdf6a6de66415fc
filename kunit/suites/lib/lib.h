/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the library call of each other. */
#ifndef LASTREF_LIB_H
#define LASTREF_LIB_H

void lr_fault_exit(void);

#endif
