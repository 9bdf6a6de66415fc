# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine sleeps in suspend-to-RAM, three times, and comes back with everything that ran
# kernel: 6.12
# image: bzImage
# limit: 60
"""Suspend-to-RAM. Waking resets a guest that was booted from the uncompressed kernel, hence bzImage."""
import sleep


def scenario(t):
    vm = t.vm
    vm.sh('sleep 1000 & echo $! >/run/sleeper')
    for when in ('once', 'again', 'and again'):
        position = vm.log.position()
        t.equal(sleep.to_ram(vm), '', f'the machine sleeps and is woken, {when}')
        t.ok(vm.log.wait_line('PM: suspend exit', position, 10), 'the kernel says that it is back')
        t.ok(vm.sh('kill -0 $(cat /run/sleeper)', check=False), 'what ran before runs still')
        t.ok(vm.sh('touch /var/tmp/after && sync', check=False), 'the disk works')
    vm.sh('kill $(cat /run/sleeper)')
