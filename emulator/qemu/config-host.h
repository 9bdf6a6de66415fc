/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The facts about QEMU's build that its headers ask for. They are those of
 * Debian's binary; abi.c checks at load that they lead to the same layouts.
 */
#ifndef EMULATOR_QEMU_CONFIG_HOST_H
#define EMULATOR_QEMU_CONFIG_HOST_H

#define CONFIG_LINUX 1
#define CONFIG_POSIX 1
#define CONFIG_INT128 1 /* decides the alignment of MemoryRegion */
#define CONFIG_ATOMIC64 1
#define CONFIG_BYTESWAP_H 1
#define CONFIG_IOVEC 1
#define CONFIG_SYSMACROS 1
#define CONFIG_MODULES 1
#define CONFIG_PLUGIN 1
#define CONFIG_TCG 1
#define HAVE_SYSTEM_FUNCTION 1
#define HOST_X86_64 1

/* QEMU_VERSION comes from the command line of the build. */

#endif
