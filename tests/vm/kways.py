# SPDX-License-Identifier: GPL-2.0-only
"""The ways in which an HCA leaves and comes back under kernel traffic (tests/modules/traffic).

X6 is mlx4/reboot, X7 is suspend/traffic.
"""
import os
import random

import ktraffic

NODE = '/machine/peripheral/'


def ask(t, name, what):
    return t.vm.qmp.command('qom-get', path=NODE + name, property=what)


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
        return not bad, False, '\n'.join(bad)

    def unbind(self):
        """X2: the function's driver is unbound."""
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/unbind')
        clean = self.empty()
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/bind')
        return clean, False, ''

    def sysfs(self):
        """X3: the function is removed by sysfs, and found again."""
        self.sh('echo 1 >/sys/bus/pci/devices/@/remove')
        clean = self.empty()
        self.sh('echo 1 >/sys/bus/pci/rescan')
        return clean, False, ''

    def button(self):
        """X4: the slot is switched off; another card comes."""
        clean = self.t.stage.hcas.unplug(self.t.vm, self.name)
        self.plug()
        return clean, False, ''

    def surprise(self):
        """X4 without warning: the card is pulled out."""
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='surprise', value=True)
        self.sh('for i in $(seq 300); do [ -e /sys/bus/pci/devices/@ ] || exit 0; sleep 0.1; done; exit 1')
        clean = self.t.stage.hcas.unplug(self.t.vm, self.name)
        self.plug()
        return clean, False, ''

    def plug(self):
        self.plugged += 1
        self.name = f'card{self.plugged}'
        self.t.stage.hcas.plug(self.t.vm, 0, self.name)

    def fatal(self):
        """X5: the firmware fails; the driver resets the HCA by itself."""
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='fault', value='time at=1 fatal=0x10')
        return True, False, ''

    def silent(self):
        """X5: the firmware answers nothing any more, and the driver is unbound."""
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='fault', value='time at=1 hang')
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/unbind')
        clean = self.empty()
        self.sh('echo @ >/sys/bus/pci/drivers/mlx4_core/bind')
        return clean, False, ''

    def aer(self):
        """An uncorrectable PCIe error, and the recovery from it."""
        self.t.vm.qmp.command('qom-set', path=NODE + self.name, property='aer', value='fatal')
        return True, False, ''

    def client(self):
        """X8: the client leaves first."""
        self.t.vm.sh('rmmod lastref_traffic')
        ktraffic.insert(self.t)
        return True, True, ''

    def all(self):
        return (self.protocol, self.unbind, self.sysfs, self.button, self.surprise, self.fatal, self.silent,
                self.aer, self.client)


def one(t, ways, way, number, delay):
    t.vm.sh(f'sleep {delay:.3f}')
    before = ktraffic.totals(t)
    clean, fresh, note = way()
    what = f'{number}: {way.__name__}'
    t.ok(clean, f'{what}: {way.__doc__.splitlines()[0]}', note)
    # a pair of ports that was lost is made anew; a module that was loaded again counts from zero
    now = ktraffic.flows(t, ktraffic.zero() if fresh else before, what)
    t.equal(now['adds'] - now['removes'], 2, f'{what}: two HCAs, each added and removed once')


def drawn(ways, seed, rounds):
    """The rounds: each way once if there are enough, the rest by chance."""
    chance = random.Random(seed)
    every = list(ways.all())
    chosen = (every + chance.choices(every, k=rounds))[:rounds]
    chance.shuffle(chosen)
    return [(way, chance.uniform(0, 0.4)) for way in chosen]


def of_each(ways, seed, rounds, names=()):
    """So many rounds of each way, or of those with that name, in a drawn order."""
    chance = random.Random(seed)
    chosen = [w for w in ways.all() if not names or w.__name__ in names for _ in range(rounds)]
    chance.shuffle(chosen)
    return [(way, chance.uniform(0, 0.4)) for way in chosen]


def leave(t, seed, choose):
    """The traffic, the rounds that `choose(ways, seed)` gives under it, and nothing left at the end."""
    ktraffic.load(t)
    ktraffic.flows(t, ktraffic.zero(), 'before any removal')
    ways = Ways(t)
    rounds = choose(ways, seed)
    t.ok(rounds, f'{len(rounds)} removals, drawn with TRAFFIC_SEED={seed}')
    for number, (way, delay) in enumerate(rounds, 1):
        one(t, ways, way, number, delay)
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal([ask(t, x, 'audit') for x in (ways.name, 'hca1')], ['', ''], 'nothing is left in either HCA')


def seed():
    """TRAFFIC_SEED, or one by chance."""
    return int(os.environ.get('TRAFFIC_SEED') or random.SystemRandom().randrange(10 ** 6))
