// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry point of the shared object: qemu-system-x86_64 -plugin file=cx3.so
 *
 * A plugin is loaded when QEMU's object model is up and before devices are
 * made, which is the moment to enter new device types. Argument count=insn
 * or count=tb counts guest instructions (exact, or by translation block).
 */
#include "qemu/osdep.h"
#include "qemu/qemu-plugin.h"
#include "plugin.h"
#include "sockfabric.h"

/* The interface version is all that QEMU looks at before it calls install. */
QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	int i;

	cx3_abi_check();
	cx3_fabric_register_types();
	cx3_hca_register();
	cx3_root_port_register();
	cx3_wake_register();
	cx3_fresh_register();
	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "count=insn")) {
			cx3_insns_install(id, true);
		} else if (!strcmp(argv[i], "count=tb")) {
			cx3_insns_install(id, false);
		} else {
			fprintf(stderr, "cx3: unknown plugin argument '%s'\n", argv[i]);
			return 1;
		}
	}
	return 0;
}
