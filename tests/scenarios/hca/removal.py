# SPDX-License-Identifier: GPL-2.0-only
# scenario: an HCA leaves in each way there is, and another one comes back in its place
# kernel: 6.12
# hcas: 1
# fabric: one
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 400
# alone: yes
"""In-tree modules: unload, unbind, unplug by the slot's button, surprise removal, and in the middle of probe."""

COUNT = 'ls /sys/class/infiniband 2>/dev/null | wc -l'
NODE = '/machine/peripheral/'


def devices(t, want):
    """Waits until there are so many InfiniBand devices; returns how many there are."""
    return int(t.vm.sh(f'for i in $(seq 200); do [ "$({COUNT})" = {want} ] && break; sleep 0.1; done; '
                       f'{COUNT}', limit=60).out)


def ask(t, name, what):
    return t.vm.qmp.command('qom-get', path=NODE + name, property=what)


def plug(t, name, extra=''):
    text = t.stage.hcas.plug(t.vm, 0, name, extra)
    t.ok(not text, f'{name}: plugged in', text)


def plug_and_see(t, name, extra=''):
    plug(t, name, extra)
    t.equal(devices(t, 1), 1, f'{name}: is there after it was plugged in')


def unplug(t, name):
    return t.stage.hcas.unplug(t.vm, name)


def first(t):
    """The first probe, in guest seconds from modprobe to a registered device."""
    took = t.vm.sh(f'now() {{ cut -d" " -f1 /proc/uptime; }}; a=$(now); modprobe mlx4_ib; while [ "$({COUNT})" != 1 ]; do '
                   'sleep 0.01; done; b=$(now); modprobe ib_umad; echo $b $a').out.split()
    t.equal(devices(t, 1), 1, 'one HCA')
    t.note(f'probe to registered device: {float(took[0]) - float(took[1]):.2f} s of guest time')


def polite(t):
    t.ok('QP' in ask(t, 'hca0', 'audit'), 'the audit of a running HCA names its QPs')
    t.vm.sh('rmmod mlx4_ib mlx4_core')
    t.equal(ask(t, 'hca0', 'audit'), '', 'rmmod: nothing is left in the HCA')
    t.vm.sh('modprobe mlx4_ib')
    t.equal(devices(t, 1), 1, 'modprobe: it is back')
    t.vm.sh('cd /sys/bus/pci/drivers/mlx4_core && for f in 0*; do echo $f >/run/hca; echo $f >unbind; done')
    t.equal(ask(t, 'hca0', 'audit'), '', 'unbind: nothing is left in the HCA')
    t.vm.sh('cat /run/hca >/sys/bus/pci/drivers/mlx4_core/bind')
    t.equal(devices(t, 1), 1, 'bind: it is back')


def scenario(t):
    first(t)
    polite(t)
    t.ok(unplug(t, 'hca0'), 'the button: the HCA is let go')
    t.equal(devices(t, 0), 0, 'and gone')
    plug_and_see(t, 'second')
    t.vm.qmp.command('qom-set', path=NODE + 'second', property='surprise', value=True)
    t.equal(devices(t, 0), 0, 'surprise removal: the driver notices')
    t.ok(unplug(t, 'second'), 'the slot is empty')
    plug_and_see(t, 'third', ',vectors=3')
    lines = int(t.vm.sh('grep -c mlx4 /proc/interrupts', check=False).out)
    t.ok(0 < lines <= 3, 'third: the driver makes do with three vectors', str(lines))
    t.ok(unplug(t, 'third'), 'and the button works again')
    t.equal(devices(t, 0), 0, 'nobody is left')
    position = t.vm.log.position()
    plug(t, 'fourth', ',faults=cmd:0x13+gone')
    # in-tree looks for the answer to its command for 60 s, and holds up the slot's thread meanwhile
    t.ok(t.vm.log.wait_line('Card not present', position, 150), 'it is pulled out during probe')
    t.ok(unplug(t, 'fourth'), 'the slot is empty again')
    plug_and_see(t, 'fifth')
