# SPDX-License-Identifier: GPL-2.0-only
# scenario: opensm starts on each port in turn, again and again, and after the HCA has left and come back
# kernel: 6.12 6.1
# hcas: 2
# fabric: one
# modules: ours
# limit: 3000
# alone: yes
"""B22: every port of an HCA offers what a subnet manager registers, and an issm node, whatever was before.

UMAD_AGAIN says how often it starts on each port (2; 50 for the whole trial).
"""
import os
import re

import umad

DRIVER = '/sys/bus/pci/drivers/mlx4_core'


def guids(t):
    """Port GUIDs, as opensm wants them."""
    out = t.vm.sh('cat /sys/class/infiniband/*/ports/*/gids/0').out.split()
    return ['0x' + ''.join(x.split(':')[4:]) for x in out]


def starts(t, guid):
    """opensm on a port: it becomes the master that the others know. Returns what is wrong, or nothing."""
    sm = umad.start_sm(t, 'again', f'-g {guid}')
    seen = None
    for _ in range(60):
        out = t.vm.sh('sminfo -C $(ls /sys/class/infiniband | tail -n 1) -P 2', check=False).out
        seen = re.search(r'sm guid (0x[0-9a-f]+).* state 3', out)
        if seen and int(seen.group(1), 16) == int(guid, 16):
            break
        t.vm.sh('sleep 0.2')
    active = umad.wait_active(t, check=False)
    sm.kill(15)
    status = sm.wait(30).status
    if seen and int(seen.group(1), 16) == int(guid, 16) and active and not status:
        return ''
    return f'master {seen and seen.group(1)}, ports active: {active}, opensm ended with {status}'


def each(t, when, times=1):
    wrong = [x for _ in range(times) for x in (starts(t, guid) for guid in guids(t)) if x]
    t.ok(not wrong, f'{when}: opensm starts {times} times on each of four ports, all become ACTIVE', '\n'.join(wrong))


def scenario(t):
    umad.load(t)
    each(t, 'first', int(os.environ.get('UMAD_AGAIN', 2)))
    t.vm.sh('rmmod mlx4_ib && modprobe mlx4_ib')
    umad.wait_nodes(t)
    each(t, 'after the driver was loaded again')
    one = umad.functions(t)[0]
    t.vm.sh(f'echo 1 >/sys/bus/pci/devices/{one}/remove; echo 1 >/sys/bus/pci/rescan')
    umad.wait_nodes(t)
    each(t, 'after an HCA was removed and found again')
    t.vm.sh(f'echo {one} >{DRIVER}/unbind; echo {one} >{DRIVER}/bind')
    umad.wait_nodes(t)
    each(t, 'after an HCA was unbound and bound')
    said = t.vm.sh('dmesg | grep -c "is refused class"', check=False).out.strip()
    t.equal(said, '0', 'no registration was refused')
    umad.unload(t)
    t.equal(umad.audit(t), ['', ''], 'nothing is left in either HCA')
