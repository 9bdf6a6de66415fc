# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine sleeps; no HCA has anything left in it then, and all are back afterwards
# kernel: 6.12
# image: bzImage
# hcas: 2
# fabric: one
# modules: ours
# limit: 120
# alone: yes
"""Suspend-to-RAM, twice, with two emulated HCAs and two in software, by the notifier."""
import fake
import sleep as ram

STATE = '/sys/kernel/debug/infiniband/*/state'


def count(t, line):
    return t.vm.sh(f'cat {STATE} | grep -c "^{line}$"; true').out.strip()


def names(t):
    return sorted(t.vm.sh('ls /sys/class/infiniband').out.split())


def sleep(t, times):
    before, devices = names(t), t.vm.sh(f'cat {STATE} | grep "^provider" | grep -vc none; true').out.strip()
    left = []
    t.equal(ram.to_ram(t.vm, lambda: left.extend(t.stage.hcas.audits(t.vm))), '', f'{times}: the machine sleeps and is woken')
    t.equal(left, ['', ''], 'nothing is left in the sleeping HCAs')
    t.vm.sh(f'for i in $(seq 300); do [ "$(cat {STATE} | grep -c "^thread idle$")" = 4 ] && exit 0; sleep 0.1; done')
    t.equal(count(t, 'hardware up'), '4', 'four HCAs are up')
    t.equal(count(t, 'thread idle'), '4', 'and at rest')
    t.equal(count(t, f'incarnations {times + 1}'), devices, 'those with a provider have a new device')
    t.equal(names(t), before, 'under their names')
    t.ok(all('EQ' in x.upper() for x in t.stage.hcas.audits(t.vm)), 'the emulated HCAs run')


def scenario(t):
    t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug; modprobe mlx4_core')
    fake.load(t)
    trace = '/sys/kernel/tracing'
    t.vm.sh(f'mountpoint -q {trace} || mount -t tracefs none {trace}; '
            f'echo 1 >{trace}/events/ib_teardown/ib_teardown_goal/enable')
    sleep(t, 1)
    sleep(t, 2)
    log = t.vm.sh(f'cat {trace}/trace').out
    t.equal((log.count(' suspend value='), log.count(' run value=')), (8, 8),
            'each of the four was told to suspend, and to run again, twice')
    t.vm.sh('rmmod lastref_fake; rmmod mlx4_ib 2>/dev/null; rmmod mlx4_core')
    t.equal(t.stage.hcas.audits(t.vm), ['', ''], 'nothing is left when the module has gone')
