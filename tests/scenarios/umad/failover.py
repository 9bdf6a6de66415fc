# SPDX-License-Identifier: GPL-2.0-only
# scenario: of two opensm on two HCAs one is the master; when it goes, the other takes over
# kernel: 6.12 6.1 debug
# hcas: 2
# fabric: one
# modules: ours
# limit: 300
# alone: yes
"""Polling by SMInfo between two user programs on our MAD service; the ports stay up meanwhile."""
import re

import umad

OPTIONS = 'sminfo_polling_timeout 1000\npolling_retry_number 2\nsweep_interval 2\n'


def start(t, name, guid, priority):
    t.vm.put(OPTIONS.encode(), f'/run/{name}.conf')
    return umad.start_sm(t, name, f'-F /run/{name}.conf -g {guid} -p {priority}')


def guids(t):
    """Port GUIDs of the first port of each HCA, as opensm wants them."""
    out = t.vm.sh('for d in /sys/class/infiniband/*; do cat $d/ports/1/gids/0; done').out.split()
    return ['0x' + ''.join(x.split(':')[4:]) for x in out]


def master(t):
    """(GUID, state) of the SM that the first port of the second HCA knows."""
    out = t.vm.sh('sminfo -C $(ls /sys/class/infiniband | tail -n 1) -P 1', check=False).out
    found = re.search(r'sm guid (0x[0-9a-f]+).* state (\d)', out)
    return (int(found.group(1), 16), found.group(2)) if found else None


def wait_master(t, guid):
    for _ in range(60):
        if master(t) == (int(guid, 16), '3'):
            return True
        t.vm.sh('sleep 1')
    return False


def scenario(t):
    umad.load(t)
    one, two = guids(t)
    first = start(t, 'first', one, 10)
    t.ok(umad.wait_active(t, check=False), 'the first makes all ports ACTIVE')
    second = start(t, 'second', two, 5)
    t.ok(wait_master(t, one), 'and stays the master when the second comes')
    t.vm.sh('for i in $(seq 200); do grep -q STANDBY /tmp/second/log && break; sleep 0.1; done')
    t.ok('STANDBY' in t.vm.sh('cat /tmp/second/log').out, 'the second stands by')
    first.kill(9)
    first.wait(20)
    t.ok(wait_master(t, two), 'the first is killed: the second becomes master')
    t.ok(umad.wait_active(t, check=False), 'all ports are ACTIVE')
    t.equal(t.vm.sh('saquery NR').out.count('NodeRecord dump'), 5, 'and it answers queries')
    again = start(t, 'first', one, 10)
    t.ok(wait_master(t, one), 'the first comes back: with its priority it is master again')
    for job in (again, second):
        job.kill(15)
        job.wait(30)
    umad.unload(t)
    t.equal(umad.audit(t), ['', ''], 'nothing is left in either HCA')
