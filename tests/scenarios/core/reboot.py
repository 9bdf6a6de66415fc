# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine reboots under HCAs in use: their hardware is stopped first, and nothing else is done
# kernel: 6.12
# append: tp_printk
# hcas: 2
# fabric: one
# modules: ours
# limit: 400
# alone: yes
"""The reboot notifier, seen in the trace on the console: goal SHUTDOWN, quiet, reset, and no client is called."""
import os
import re

import fake
import modules


def scenario(t):
    t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug; '
            'mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing; modprobe mlx4_core')
    fake.load(t)
    hcas = t.vm.sh('ls -d /sys/kernel/debug/infiniband/*/ | xargs -n 1 basename').out.split()
    t.equal(len(hcas), 4, 'two emulated HCAs and two in software')
    t.vm.start_sh('exec 3<>/dev/lastref_vfake_0; read line <&3')
    t.vm.sh('dmesg -n 8; echo 1 >/sys/kernel/tracing/events/ib_teardown/enable')
    console = os.path.join(t.vm.folder, 'console.log')
    start = os.path.getsize(console)
    t.vm.boot_again('sync; reboot -f')
    with open(console, encoding='utf-8', errors='replace') as text:
        text.seek(start)
        said = text.read()
    for hca in hcas:
        mine = re.findall(rf'ib_teardown_(\w+): hca={re.escape(hca)} (.*)', said)
        what = [f'{event} {word.split()[-2]}' for event, word in mine]
        t.equal([x for x in what if x.startswith(('goal', 'hardware'))],
                ['goal shutdown', 'hardware quiet', 'hardware reset'], f'{hca}: stopped, proven quiet, reset')
        t.equal([x for x in what if x.startswith(('remove', 'state', 'drop'))], [], f'{hca}: nobody is called')
    modules.install(t.vm, modules.ours(t.vm.kernel.name))
    t.vm.sh('modprobe mlx4_core')
    fake.load(t)
    t.vm.sh('rmmod lastref_fake; rmmod mlx4_ib 2>/dev/null; rmmod mlx4_core')
    t.equal(t.stage.hcas.audits(t.vm), ['', ''],
            'the next boot finds HCAs that work, and leaves nothing in them')
