# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine sleeps in suspend-to-RAM and comes back with everything that ran
# kernel: 6.12
# image: bzImage
# limit: 60
"""Suspend-to-RAM. Waking resets a guest that was booted from the uncompressed kernel, hence bzImage."""


def scenario(t):
    vm = t.vm
    vm.sh('sleep 1000 & echo $! >/run/sleeper')
    mark = vm.qmp.mark()
    position = vm.log.position()
    job = vm.start_sh('echo mem >/sys/power/state')
    t.ok(vm.qmp.wait_event('SUSPEND', mark), 'the machine sleeps')
    vm.qmp.command('system_wakeup')
    t.ok(vm.qmp.wait_event('WAKEUP', mark), 'it is woken')
    t.equal(job.wait(30).status, 0, 'the write to /sys/power/state returns success')
    t.ok(vm.log.wait_line('PM: suspend exit', position, 10), 'the kernel says that it is back')
    t.ok(vm.sh('kill $(cat /run/sleeper)', check=False), 'what ran before runs still')
    t.ok(vm.sh('touch /var/tmp/after && sync', check=False), 'the disk works')
