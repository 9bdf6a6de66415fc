# SPDX-License-Identifier: GPL-2.0-only
# scenario: after a sleep the machine still reaches extended registers, and PCIe errors are reported
# kernel: 6.12
# image: bzImage
# hcas: 1
# fabric: none
# modules: ours
# limit: 120
# alone: yes
"""Suspend-to-RAM, and then an error of each severity. Before that sleep one correctable error shows how it is.

Registers from 0x100 on (AER among them) are reached through a window of the host bridge that a sleep closes.
"""
import sleep

NODE = '/machine/peripheral/hca0'
STATE = '/sys/kernel/debug/infiniband/*/state'
AER = '/sys/bus/pci/devices/$(basename /sys/bus/pci/drivers/mlx4_core/0*)'
ROUNDS = (('correctable', 'Correctable error message received'),
          ('nonfatal', 'device recovery successful'),
          ('fatal', 'device recovery successful'))


def report(t, kind, line, when):
    position = t.vm.log.position()
    t.vm.qmp.command('qom-set', path=NODE, property='aer', value=kind)
    t.ok(t.vm.log.wait_line(line, position, 60), f'{when}, {kind}: {line}')


def registers(t):
    """The AER capabilities of the HCA and of its port, without status."""
    return t.vm.sh(f'd={AER}; for x in $d $(dirname $(readlink -f $d)); do '
                   's=$(basename $x); setpci -s $s ECAP_AER+8.L ECAP_AER+c.L ECAP_AER+14.L ECAP_AER+18.L; done').out


def up(t):
    """The HCA runs, and nothing is going on with it."""
    return t.vm.sh(f'for i in $(seq 300); do [ "$(cat {STATE} | grep -cx -e "hardware up" -e "thread idle")" = 2 ] && '
                   'exit 0; sleep 0.1; done; exit 1', check=False).status == 0


def scenario(t):
    t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug; modprobe mlx4_core')
    t.ok(up(t), 'the HCA runs')
    report(t, *ROUNDS[0], 'before')
    before = registers(t)
    t.equal(sleep.to_ram(t.vm), '', 'the machine sleeps, and is woken')
    t.equal(registers(t), before, 'masks and severities of the HCA and its port are what they were')
    t.ok(up(t), 'the HCA runs again')
    for kind, line in ROUNDS:
        report(t, kind, line, 'after')
        t.ok(up(t), f'after, {kind}: the HCA runs')
