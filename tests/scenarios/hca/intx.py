# SPDX-License-Identifier: GPL-2.0-only
# scenario: an HCA without MSI-X works by its interrupt line
# kernel: 6.12 6.1
# hcas: 1
# fabric: one vectors=0
# limit: 180
"""In-tree modules; the card has no MSI-X capability, so the driver can only use INTx. Completion events, asynchronous
events and command completions all come by that line."""
import re

import ib

PORT = 18515


def line_count(t):
    """Interrupts so far of the driver's line; None if it has none, or something else than a line."""
    rows = [r for r in t.vm.get('/proc/interrupts').splitlines() if 'mlx4' in r]
    if len(rows) != 1 or 'IO-APIC' not in rows[0]:
        return None
    return sum(int(x) for x in re.findall(r'\s(\d+)(?=\s)', rows[0].split(':', 1)[1].split('IO-APIC')[0]))


def scenario(t):
    devices = ib.bring_up(t, ports=2)
    t.equal(len(devices), 1, 'the HCA is there, and a subnet manager made its ports ACTIVE')
    first = line_count(t)
    t.ok(first, 'its one interrupt is a line of the IO-APIC, and it came', t.vm.get('/proc/interrupts'))
    base = f'ibv_rc_pingpong -n 200 -c -e -d {devices[0]}'
    got, done = ib.pair(t, f'{base} -i 2', f'{base} -i 1 127.0.0.1', PORT)
    t.ok(not got.status and done and not done.status, 'ibv_rc_pingpong by completion events, port to port',
         ib.words(got, done))
    more = line_count(t) - first
    t.ok(more >= 200, 'at least one interrupt for each of 200 rounds', str(more))
    t.vm.sh('killall -9 -w opensm; rmmod ib_umad mlx4_ib mlx4_core')
    t.equal(t.vm.qmp.command('qom-get', path='/machine/peripheral/hca0', property='audit'), '',
            'nothing is left in the HCA after an unload')
