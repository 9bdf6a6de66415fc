# SPDX-License-Identifier: GPL-2.0-only
# scenario: faults inside the fabric: lost packets, pulled cables, a switch that is mute or restarts; traps
# kernel: 6.12
# hcas: 2
# fabric: one
# limit: 300
# alone: yes
"""In-tree modules, opensm and the diagnostic programs live through what happens to the switch and its cables. Port n of
the switch is the n-th port of all HCAs: 1 and 3 are the first ports of the two."""
import re

import ib

FABRIC = '/machine/peripheral/a'


def fault(t, rule):
    t.vm.qmp.command('qom-set', path=FABRIC, property='fault', value=rule)


def now(t, what):
    """Something that happens at once."""
    fault(t, 'time at=1 ' + what)


def struck(t):
    return int(t.vm.qmp.command('qom-get', path=FABRIC, property='fault'))


def pings(t, count):
    """How many of so many pings were answered."""
    got = t.vm.sh(f'ip netns exec a ping -c {count} -i 0.2 -W 2 10.1.0.2', check=False).out
    return int(re.search(r'(\d+) received', got).group(1))


def answers(t, what):
    """Pings until one is answered: has the subnet manager made it good again?"""
    got = t.vm.sh('for i in $(seq 60); do ip netns exec a ping -c 1 -W 1 10.1.0.2 && exit 0; done; exit 1',
                  limit=90, check=False)
    t.equal(got.status, 0, f'{what}: ping is answered')


def active(t, count, what):
    got = t.vm.sh(f'for i in $(seq 200); do [ "$(cat /sys/class/infiniband/*/ports/*/state | grep -c ACTIVE)" = {count} ] '
                  '&& exit 0; sleep 0.2; done; exit 1', limit=90, check=False)
    t.equal(got.status, 0, f'{what}: {count} ports are ACTIVE')


def packets(t, devices):
    t.equal(pings(t, 3), 3, 'pings over IPoIB')
    before = struck(t)
    fault(t, 'out:3/ud times=3 drop')
    got = pings(t, 8)
    t.ok(5 <= got < 8 and struck(t) - before == 3, 'three datagrams are lost on their way out of the switch', str(got))
    fault(t, 'in:1/rc nth=20 times=3 drop')
    fault(t, 'out:1/ack nth=50 drop')
    base = 'ibv_rc_pingpong -n 200 -c -i 1'
    got, done = ib.pair(t, f'{base} -d {devices[1]}', f'{base} -d {devices[0]} 127.0.0.1', 18515)
    t.ok(not got.status and done and not done.status and struck(t) - before == 7,
         'ibv_rc_pingpong gets over three lost requests and a lost acknowledge', ib.words(got, done))
    fault(t, 'clear')


def cables(t):
    now(t, 'down=3')
    active(t, 3, 'a pulled cable')
    t.equal(pings(t, 2), 0, 'nobody answers by it')
    now(t, 'up=3')
    active(t, 4, 'plugged in again')
    answers(t, 'plugged in again')


def switch(t):
    lid = re.search(r'lid (\d+) lmc', t.vm.sh('ibswitches').out).group(1)
    ask = f'smpquery -t 200 -e nodeinfo {lid}'
    t.equal(t.vm.sh(ask, check=False).status, 0, 'the switch answers smpquery')
    now(t, 'mute')
    t.ok(t.vm.sh(ask, check=False).status, 'a mute one does not')
    t.equal(pings(t, 2), 2, 'but forwards')
    now(t, 'unmute')
    t.equal(t.vm.sh(ask, check=False).status, 0, 'and answers again')
    now(t, 'error=3/symbol')
    errors = t.vm.sh(f'perfquery {lid} 3').out
    t.ok(re.search(r'SymbolErrorCounter:\.*1$', errors, re.M), 'perfquery: an error on a port of the switch', errors)
    now(t, 'restart')
    t.vm.sh('sleep 1')
    active(t, 4, 'a restart of the switch')
    answers(t, 'a restart of the switch')


def traps(t):
    """Two ports that are limited members both: the device tells its driver, that the subnet manager."""
    for n in (0, 1):
        t.vm.qmp.command('qom-set', path=f'/machine/peripheral/hca{n}', property='fault',
                         value='time at=1 pkey=1/0/0x7fff')
    lids = t.vm.sh('cat /sys/class/infiniband/*/ports/1/lid').out.split()
    t.ok(t.vm.sh(f'perfquery -t 200 {int(lids[1], 16)}', check=False).status, 'a GMP with a P_Key that does not fit is lost')
    got = t.vm.sh('for i in $(seq 50); do grep "num:257" /tmp/opensm.log && exit 0; sleep 0.1; done; exit 1', check=False)
    t.equal(got.status, 0, 'opensm has got trap 257')
    t.note(got.out.strip()[:300])


def scenario(t):
    devices = ib.bring_up(t, 'mlx4_ib ib_umad ib_uverbs ib_ipoib')
    ib.namespaces(t)
    answers(t, 'at first')
    packets(t, devices)
    cables(t)
    switch(t)
    traps(t)
