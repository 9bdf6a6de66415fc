/* SPDX-License-Identifier: GPL-2.0-only */
/* The client of files.c. */
#ifndef FILES_H
#define FILES_H

int files_register(void);
void files_unregister(void);

#endif
