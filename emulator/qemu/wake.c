// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wake from suspend-to-RAM, where the firmware stumbles.
 *
 * A sleep resets the host bridge, and with it the window through which the
 * configuration registers from 0x100 on are reached (PCIEXBAR). The PCI firmware
 * specification (4.1.2) wants it where the MCFG table says as long as an
 * operating system runs. SeaBIOS 1.16 means to open it again, and to set up the
 * power management of ICH9, but does so through that very window: nothing of it
 * arrives. After a sleep every extended capability reads as zero then, the
 * writes that restore AER go nowhere, and no error is ever reported again.
 *
 * So the window is open before the first instruction after a sleep, and stays:
 * SeaBIOS, which now reaches everything, would close it by its first write to
 * the register, and lose the next one.
 */
#include "qemu/osdep.h"
#include "qemu/notify.h"
#include "sysemu/reset.h"
#include "sysemu/runstate.h"
#include "hw/pci-host/q35.h"
#include "plugin.h"

static u64 window;

/* NULL on a machine of another kind. */
static PCIDevice *host_bridge(void)
{
	Object *found = object_resolve_path_type("", TYPE_MCH_PCI_DEVICE, NULL);

	return found ? PCI_DEVICE(found) : NULL;
}

static void set_writable(PCIDevice *bridge, bool writable)
{
	pci_set_quad(bridge->wmask + MCH_HOST_BRIDGE_PCIEXBAR, writable ? ~0ull : 0);
}

/* A boot begins with this, and so does a wake. */
static void on_reset(void *arg)
{
	PCIDevice *bridge = host_bridge();

	if (bridge)
		set_writable(bridge, true);
}

static void on_suspend(Notifier *n, void *data)
{
	PCIDevice *bridge = host_bridge();

	window = bridge ? pci_get_quad(bridge->config + MCH_HOST_BRIDGE_PCIEXBAR) : 0;
}

/* Called after the machine's reset and before its first instruction. */
static void on_wake(Notifier *n, void *data)
{
	PCIDevice *bridge = host_bridge();

	if (!bridge || !(window & MCH_HOST_BRIDGE_PCIEXBAREN))
		return;
	bridge->config_write(bridge, MCH_HOST_BRIDGE_PCIEXBAR + 4, window >> 32, 4);
	bridge->config_write(bridge, MCH_HOST_BRIDGE_PCIEXBAR, (u32)window, 4);
	set_writable(bridge, false);
}

void cx3_wake_register(void)
{
	static Notifier suspend = { .notify = on_suspend };
	static Notifier wake = { .notify = on_wake };

	qemu_register_reset(on_reset, NULL);
	qemu_register_suspend_notifier(&suspend);
	qemu_register_wakeup_notifier(&wake);
}
