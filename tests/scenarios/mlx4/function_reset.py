# SPDX-License-Identifier: GPL-2.0-only
# scenario: the PCI core resets an HCA, idle, under traffic, and while other things happen to it
# kernel: 6.12 6.1
# hcas: 2
# fabric: two
# modules: ours
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 900
# alone: yes
"""`echo 1 >/sys/bus/pci/devices/ADDRESS/reset`: by each method that the kernel offers for the card.

The function has to be down before the PCI core resets it, and comes back afterwards under its old name; the
other HCA notices nothing but that its neighbour is away.
"""
import ktraffic

DEBUG = '/sys/kernel/debug/infiniband'
PCI = '/sys/bus/pci/devices'
DRIVER = '/sys/bus/pci/drivers/mlx4_core'


class Hca:
    """The first HCA, as `where`, and the name of its device; `other` is the address of the second."""

    def __init__(self, t):
        self.t = t
        self.where, self.other = t.vm.sh(f'ls {DRIVER} | grep ^0').out.split()
        self.names = t.vm.sh('ls /sys/class/infiniband').out

    def sh(self, script, check=True):
        return self.t.vm.sh(script.replace('@', self.where), limit=180, check=check)

    def starts(self, where):
        """How often INIT_HCA was sent to an HCA."""
        return int(self.t.vm.sh(f'sed -n "s/^INIT_HCA *//p" {DEBUG}/{where}/commands').out)

    def methods(self):
        return self.sh(f'cat {PCI}/@/reset_method').out.split()

    def back(self, started, apart, what):
        """It has been started once more, the other has not, and both have their names."""
        self.sh(f'for i in $(seq 600); do [ "$(sed -n "s/^INIT_HCA *//p" {DEBUG}/@/commands)" = {started + 1} ] && '
                '[ $(ls /sys/class/infiniband | wc -l) = 2 ] && exit 0; sleep 0.1; done', check=False)
        self.t.equal([self.starts(self.where), self.starts(self.other)], [started + 1, apart],
                     f'{what}: it is started once, the other is not')
        self.t.equal(self.t.vm.sh('ls /sys/class/infiniband').out, self.names, f'{what}: the same names')


def idle(t, hca, method):
    started, apart = hca.starts(hca.where), hca.starts(hca.other)
    hca.sh(f'echo 1 >{PCI}/@/reset')
    hca.back(started, apart, f'{method}, idle')


def under_traffic(t, hca, method):
    before, started, apart = ktraffic.totals(t), hca.starts(hca.where), hca.starts(hca.other)
    hca.sh(f'echo 1 >{PCI}/@/reset')
    hca.back(started, apart, f'{method}, under traffic')
    now = ktraffic.flows(t, before, f'{method}, under traffic')
    t.equal([now['adds'] - before['adds'], now['removes'] - before['removes']], [1, 1],
            f'{method}, under traffic: one HCA was added and removed, once')


def one_after_the_other(t, hca, method):
    """The next reset does not wait for the start that the last one has permitted."""
    before, apart = ktraffic.totals(t), hca.starts(hca.other)
    for pause in range(8):
        hca.sh(f'echo 1 >{PCI}/@/reset; sleep 0.{pause * 13:02d}')
    ktraffic.flows(t, before, f'{method}, one after the other')
    t.equal(hca.starts(hca.other), apart, f'{method}, one after the other: the other HCA is not started')


def unbound_meanwhile(t, hca, method):
    """Whichever comes first."""
    for number in range(4):
        before = ktraffic.totals(t)
        hca.sh(f'echo 1 >{PCI}/@/reset & sleep 0.{number}; echo @ >{DRIVER}/unbind; wait')
        audit = t.vm.qmp.command('qom-get', path='/machine/peripheral/hca0', property='audit')
        t.equal(audit, '', f'{method}, unbound meanwhile, {number}: nothing is left')
        hca.sh(f'echo @ >{DRIVER}/bind')
        ktraffic.flows(t, before, f'{method}, unbound meanwhile, {number}')


def with_others(t, hca, method):
    """A reload, and a fatal error, at the same moment."""
    for what, script in (('a reload', 'devlink dev reload pci/@'), ('another reset', f'echo 1 >{PCI}/@/reset')):
        before = ktraffic.totals(t)
        hca.sh(f'{script} & echo 1 >{PCI}/@/reset; wait', check=False)
        ktraffic.flows(t, before, f'{method}, with {what}')
    before = ktraffic.totals(t)
    t.vm.qmp.command('qom-set', path='/machine/peripheral/hca0', property='fault', value='time at=1 fatal=0x10')
    hca.sh(f'echo 1 >{PCI}/@/reset')
    ktraffic.flows(t, before, f'{method}, with a fatal error')


def scenario(t):
    ktraffic.load(t)
    hca = Hca(t)
    methods = hca.methods()
    t.ok({'flr', 'bus'} <= set(methods), 'the kernel offers to reset the function, and the bus', ' '.join(methods))
    t.vm.sh('rmmod lastref_traffic')
    for method in methods:
        hca.sh(f'echo {method} >{PCI}/@/reset_method')
        idle(t, hca, method)
    ktraffic.insert(t)
    ktraffic.flows(t, ktraffic.zero(), 'before any reset under traffic')
    for method in methods:
        hca.sh(f'echo {method} >{PCI}/@/reset_method')
        for part in (under_traffic, one_after_the_other, unbound_meanwhile, with_others):
            part(t, hca, method)
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal(t.stage.hcas.audits(t.vm), ['', ''], 'nothing is left in either HCA')
