# SPDX-License-Identifier: GPL-2.0-only
# scenario: kernel traffic between two HCAs; one of them leaves under it in each way and comes back
# kernel: 6.12 6.1
# hcas: 2
# fabric: two
# modules: ours
# image: bzImage
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 900
# alone: yes
"""UD and RC traffic with a check of every byte, and a removal under it, drawn from the ways there are.

TRAFFIC_SEED chooses what is drawn, TRAFFIC_ROUNDS how often (20; `each` stands for 200 of each way).
"""
import os
import random

import modules
import sleep

PER_WAY_LONG = 200
NODE = '/machine/peripheral/'
TOTALS = '/sys/kernel/debug/lastref_traffic'


def totals(t):
    """The counters of the test module."""
    return {k: int(v) for k, v in (x.split() for x in t.vm.sh(f'cat {TOTALS}').out.splitlines())}


def ask(t, name, what):
    return t.vm.qmp.command('qom-get', path=NODE + name, property=what)


def flowing(t, before, ports=2, limit=60):
    """Waits until both flows of `ports` new pairs of ports and the old ones have moved; the counters."""
    want = ' && '.join(f'[ $(get {name}) -ge {before[name] + more} ]' for name, more in
                       (('pairs', ports), ('ud', 200), ('rc', 200), ('rdma', 20)))
    t.vm.sh(f'get() {{ sed -n "s/^$1 //p" {TOTALS}; }}; for i in $(seq {limit * 10}); do {want} && exit 0; '
            'sleep 0.1; done; exit 1', limit=limit * 3, check=False)
    return totals(t)


class Ways:
    """Each way takes the first HCA (its PCI address is `where`, its name in QEMU `name`) away and back."""

    def __init__(self, t):
        self.t, self.name, self.plugged = t, 'hca0', 0
        self.where = t.vm.sh('basename $(for d in /sys/bus/pci/drivers/mlx4_core/0*; do echo $d; done '
                             '| head -n 1)').out.strip()

    def sh(self, script, limit=60):
        return self.t.vm.sh(script.replace('@', self.where), limit=limit)

    def empty(self):
        """Nothing of the driver is left in the HCA."""
        return ask(self.t, self.name, 'audit') == ''

    def protocol(self):
        """X1: the protocol driver is unloaded; the function stays bound, without objects."""
        self.t.vm.sh('rmmod mlx4_ib')
        left = ask(self.t, self.name, 'audit')
        bad = [x for x in left.splitlines() if x.split()[0] in ('QP', 'CQ', 'SRQ', 'MPT', 'MR')]
        self.t.vm.sh('modprobe mlx4_ib')
        return not bad, 4, '\n'.join(bad)

    def unbind(self):
        """X2: the function's driver is unbound."""
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/unbind')
        clean = self.empty()
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/bind')
        return clean, 2, ''

    def sysfs(self):
        """X3: the function is removed by sysfs, and found again."""
        self.sh('echo 1 >/sys/bus/pci/devices/@/remove')
        clean = self.empty()
        self.sh('echo 1 >/sys/bus/pci/rescan')
        return clean, 2, ''

    def button(self):
        """X4: the slot is switched off; another card comes."""
        mark = self.t.vm.qmp.mark()
        self.t.vm.qmp.command('device_del', id=self.name)
        clean = self.t.vm.qmp.wait_event('DEVICE_DELETED', mark, 60, device=self.name)
        self.plug()
        return clean, 2, ''

    def surprise(self):
        """X4 without warning: the card is pulled out."""
        mark = self.t.vm.qmp.mark()
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='surprise', value=True)
        self.sh('for i in $(seq 300); do [ -e /sys/bus/pci/devices/@ ] || exit 0; sleep 0.1; done; exit 1')
        self.t.vm.qmp.command('device_del', id=self.name)
        clean = self.t.vm.qmp.wait_event('DEVICE_DELETED', mark, 60, device=self.name)
        self.plug()
        return clean, 2, ''

    def plug(self):
        # A card that comes while the guest is switching the slot off is let go with it.
        self.t.vm.sh('for i in $(seq 100); do [ "$(cat /sys/bus/pci/slots/64/power)" = 0 ] && sleep 3 && '
                     'exit 0; sleep 0.1; done; exit 1')
        self.plugged += 1
        self.name = f'card{self.plugged}'
        self.t.vm.qmp.hmp('device_add ' + self.t.stage.hcas.device(0, 0, self.name, 'hcaport0'))

    def fatal(self):
        """X5: the firmware fails; the driver resets the HCA by itself."""
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='fault', value='time at=1 fatal=0x10')
        return True, 2, ''

    def silent(self):
        """X5: the firmware answers nothing any more, and the driver is unbound."""
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='fault', value='time at=1 hang')
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/unbind')
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/bind')
        # Only its firmware had stopped: what the cut-off card went on with until its reset was in vain.
        seen = self.t.stage.hcas.beyond_cut_off()
        return not seen, 2, '\n'.join(seen)

    def aer(self):
        """An uncorrectable PCIe error, and the recovery from it."""
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='aer', value='fatal')
        return True, 2, ''

    def suspend(self):
        """X7: the machine sleeps."""
        wrong = sleep.to_ram(self.t.vm)
        return not wrong, 4, wrong

    def client(self):
        """X8: the client leaves first."""
        self.t.vm.sh('rmmod lastref_traffic && insmod /run/lastref/lastref_traffic.ko')
        return True, None, ''

    def all(self):
        return (self.protocol, self.unbind, self.sysfs, self.button, self.surprise, self.fatal, self.silent,
                self.aer, self.suspend, self.client)


def load(t):
    t.vm.sh('modprobe mlx4_ib && udevadm settle')
    t.equal(t.vm.sh('ls /sys/class/infiniband | wc -l').out.strip(), '2', 'two InfiniBand devices')
    path = modules.test_module(t.vm.kernel.name, 'traffic')
    with open(path, 'rb') as module:
        t.vm.put(module.read(), '/run/lastref/lastref_traffic.ko')
    t.vm.sh('insmod /run/lastref/lastref_traffic.ko')


def check(t, what, now):
    wrong = {k: now[k] for k in ('bad', 'lost', 'double') if now[k]}
    t.ok(not wrong, f'{what}: every byte right, every request completed once', str(now))


def one(t, ways, way, number, delay):
    t.vm.sh(f'sleep {delay:.3f}')
    before = totals(t)
    clean, pairs, note = way()
    t.ok(clean, f'{number}: {way.__name__}: {way.__doc__.splitlines()[0]}', note)
    if pairs is None:
        before, pairs = dict.fromkeys(before, 0), 2
    # A pair that was lost is at least as many as those of the HCA that left.
    now = flowing(t, before, min(pairs, 2))
    moved = all(now[x] >= before[x] + 20 for x in ('ud', 'rc', 'rdma')) and now['pairs'] >= before['pairs'] + 2
    t.ok(moved, f'{number}: {way.__name__}: traffic flows again on both ports', f'{before}\n{now}')
    check(t, f'{number}: {way.__name__}', now)
    t.equal(now['adds'] - now['removes'], 2, f'{number}: two HCAs, each added and removed once')


def drawn(ways, seed, rounds):
    """The rounds: each way once if there are enough, the rest by chance."""
    chance = random.Random(seed)
    every = list(ways.all())
    if rounds == 'each':
        chosen = [w for w in every for _ in range(PER_WAY_LONG)]
    else:
        chosen = (every + chance.choices(every, k=int(rounds)))[:int(rounds)]
    chance.shuffle(chosen)
    return [(way, chance.uniform(0, 0.4)) for way in chosen]


def scenario(t):
    seed = int(os.environ.get('TRAFFIC_SEED') or random.SystemRandom().randrange(10 ** 6))
    load(t)
    start = flowing(t, dict.fromkeys(('pairs', 'ud', 'rc', 'rdma'), 0))
    t.ok(start['pairs'] >= 2 and min(start[x] for x in ('ud', 'rc', 'rdma')) >= 20,
         'both pairs of ports are ACTIVE and traffic flows', str(start))
    check(t, 'before any removal', start)
    ways = Ways(t)
    rounds = drawn(ways, seed, os.environ.get('TRAFFIC_ROUNDS') or '20')
    t.ok(rounds, f'{len(rounds)} removals, drawn with TRAFFIC_SEED={seed}')
    for number, (way, delay) in enumerate(rounds, 1):
        one(t, ways, way, number, delay)
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal([ask(t, x, 'audit') for x in (ways.name, 'hca1')], ['', ''], 'nothing is left in either HCA')
