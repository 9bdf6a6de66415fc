// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write gcov's counters when the user mode Linux process ends.
 *
 * gcc registers the dump as a destructor in a section that UML's linker script leaves out, so it
 * would never run; the C library, which is linked in, can be asked instead.
 */
#include <linux/init.h>

#include "lib.h"

static int __init gcov_init(void)
{
	return atexit(__gcov_dump);
}
late_initcall(gcov_init);
