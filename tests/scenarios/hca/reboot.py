# SPDX-License-Identifier: GPL-2.0-only
# scenario: the guest reboots, and starts another kernel by kexec: the HCA comes back each time
# kernel: 6.12 6.1
# hcas: 1
# fabric: one
# limit: 300
# alone: yes
"""In-tree modules, loaded and in use when the machine goes down: an IPoIB interface is up, a ping-pong runs."""
import re

import ib
import kexec


def work(t, when):
    devices = ib.bring_up(t, 'mlx4_ib ib_umad ib_uverbs ib_ipoib', ports=2)
    base = f'ibv_rc_pingpong -n 100 -c -d {devices[0]}'
    got, done = ib.pair(t, f'{base} -i 2', f'{base} -i 1 127.0.0.1', 18515)
    t.ok(not got.status and done and not done.status, f'{when}: ibv_rc_pingpong, port to port', ib.words(got, done))
    t.vm.sh('udevadm settle; for n in /sys/class/net/ib*; do ip link set $(basename $n) up; done')
    # something that is still at it when the machine goes down
    t.vm.start_sh(f'exec ibv_rc_pingpong -n 100000000 -d {devices[0]} -i 2')
    ib.listening(t, 18515)
    t.vm.start_sh(f'exec ibv_rc_pingpong -n 100000000 -d {devices[0]} -i 1 127.0.0.1')
    t.vm.sh('sleep 1')
    audit = t.vm.qmp.command('qom-get', path='/machine/peripheral/hca0', property='audit')
    t.ok('QP' in audit, f'{when}: the HCA is in use')


# In-tree destroys a process's queue pairs before it takes the doorbell page from it (docs/emulator.md): a
# program that runs on meanwhile may ring for one of the dead, from user space.
LATE_PROGRAM = re.compile(r'violation doorbell-dead: send doorbell for dead QP .* ip=[0-7]?[0-9a-f]{1,11}\)')


def clean(t, when):
    seen = [line for line in t.stage.hcas.violations() if not LATE_PROGRAM.search(line)]
    t.equal(seen, [], f'{when}: no violation of the HCA but a late program\'s')


def boots(t):
    return t.vm.sh('cat /proc/sys/kernel/random/boot_id').out.strip()


def scenario(t):
    seen = {boots(t)}
    work(t, 'first boot')
    t.vm.boot_again('reboot -f')
    seen.add(boots(t))
    clean(t, 'reboot')
    work(t, 'after the reboot')
    kexec.restart(t)
    seen.add(boots(t))
    clean(t, 'kexec')
    work(t, 'after kexec')
    t.equal(len(seen), 3, 'it was three boots')
    t.vm.sh('killall -9 ibv_rc_pingpong opensm; for n in /sys/class/net/ib*; do ip link set $(basename $n) down; done; '
            'rmmod ib_ipoib ib_umad mlx4_ib mlx4_core')
    t.equal(t.vm.qmp.command('qom-get', path='/machine/peripheral/hca0', property='audit'), '',
            'nothing is left in the HCA after an unload')
