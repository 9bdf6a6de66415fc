# SPDX-License-Identifier: GPL-2.0-only
# scenario: PCIe errors of every severity reach the driver, and recovery brings the HCA back
# kernel: 6.12
# hcas: 1
# fabric: one
# limit: 240
# alone: yes
"""In-tree modules. An HCA that was there at boot and one that was plugged in later behave alike."""

ROUNDS = (
    ('correctable', 'Correctable error message received', None),
    ('nonfatal', 'mlx4_pci_err_detected was called', 'device recovery successful'),
    ('fatal', 'Root Port link has been reset', 'device recovery successful'),
)


def back(t):
    return t.vm.sh('for i in $(seq 200); do [ -e /sys/class/infiniband/*/ports/2/state ] && exit 0; '
                   'sleep 0.1; done; exit 1', limit=60, check=False).status == 0


def errors(t, name):
    for kind, first, last in ROUNDS:
        position = t.vm.log.position()
        t.vm.qmp.command('qom-set', path=f'/machine/peripheral/{name}', property='aer', value=kind)
        t.ok(t.vm.log.wait_line(first, position, 60), f'{name}, {kind}: {first}')
        if last:
            t.ok(t.vm.log.wait_line(last, position, 60), f'{name}, {kind}: {last}')
        t.ok(back(t), f'{name}, {kind}: both ports are there')


def scenario(t):
    t.vm.sh('modprobe mlx4_ib')
    t.ok(back(t), 'the HCA of the boot works')
    errors(t, 'hca0')
    t.ok(t.stage.hcas.unplug(t.vm, 'hca0'), 'it is unplugged')
    t.stage.hcas.plug(t.vm, 0, 'later')
    t.ok(back(t), 'an HCA that was plugged in works')
    errors(t, 'later')
    # In-tree's interrupt handler arms its CQs once more after it has reset the device.
    seen = t.stage.hcas.violations()
    t.ok(all('violation doorbell-dead' in line for line in seen),
         'no violation but the one that in-tree is known for', '\n'.join(seen))
