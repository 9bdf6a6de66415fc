# SPDX-License-Identifier: GPL-2.0-only
# scenario: devlink reloads an HCA under traffic, and tells how healthy it is
# kernel: 6.12 6.1
# hcas: 2
# fabric: two
# modules: ours
# limit: 600
# alone: yes
"""`devlink dev reload` is the goal RESET: clients leave and come back, the other HCA notices nothing.

The health reporter counts losses and the recoveries from them, and tells the cause of the last.
"""
import json

import ktraffic

DEBUG = '/sys/kernel/debug/infiniband'
TRACE = '/sys/kernel/debug/tracing'
STOPS, STARTS, LEAVES = PROBED = 'mlx4_hca_stop', 'mlx4_hca_start', 'mlx4_remove'


class Hca:
    """The first HCA as devlink and debugfs name it; `other` is the address of the second."""

    def __init__(self, t):
        self.t = t
        self.where, self.other = t.vm.sh('ls /sys/bus/pci/drivers/mlx4_core | grep ^0').out.split()

    def devlink(self, verb, words='', check=True):
        return self.t.vm.sh(f'devlink -j {verb} pci/{self.where} {words}', check=check)

    def health(self):
        told = json.loads(self.devlink('health show', 'reporter hca').out)['health']
        return next(iter(told.values()))[0]

    def diagnosis(self):
        return json.loads(self.devlink('health diagnose', 'reporter hca').out)

    def starts(self, where):
        """How often INIT_HCA was sent to an HCA."""
        return int(self.t.vm.sh(f'sed -n "s/^INIT_HCA *//p" {DEBUG}/{where}/commands').out)

    def until(self, what, condition):
        """Waits in the guest, and says whether it came to that."""
        script = f'for i in $(seq 600); do {condition} && exit 0; sleep 0.1; done; exit 1'
        self.t.ok(self.t.vm.sh(script, limit=300, check=False).status == 0, what)

    def fault(self, rule):
        self.t.vm.qmp.command('qom-set', path='/machine/peripheral/hca0', property='fault', value=rule)


def reloads(t, hca):
    names = t.vm.sh('ls /sys/class/infiniband').out
    for number in range(3):
        before, counted = ktraffic.totals(t), hca.starts(hca.where)
        apart = hca.starts(hca.other)
        hca.devlink('dev reload')
        t.equal(hca.starts(hca.where), counted + 1, f'reload {number}: the HCA was started once')
        t.equal(hca.starts(hca.other), apart, f'reload {number}: the other was not')
        now = ktraffic.flows(t, before, f'reload {number}')
        t.equal(now['adds'] - now['removes'], 2, f'reload {number}: two HCAs, each added and removed once')
    t.equal(t.vm.sh('ls /sys/class/infiniband').out, names, 'the devices have kept their names')
    t.equal(hca.health()['error'], 0, 'a reload is no loss')


def refused(t, hca):
    counted = hca.starts(hca.where)
    t.vm.sh('ip netns add elsewhere')
    answer = hca.devlink('dev reload', 'netns elsewhere', check=False)
    t.ok(answer.status and 'network namespace' in answer.err, 'a reload into another namespace is refused',
         answer.err)
    t.equal(hca.starts(hca.where), counted, 'and does nothing')
    t.vm.sh('ip netns del elsewhere')


def losses(t, hca):
    before = ktraffic.totals(t)
    hca.fault('time at=1 fatal=0x10')
    hca.until('a fatal error is recovered from, and the reporter is told',
              f"devlink health show pci/{hca.where} reporter hca | tr '\\n' ' ' | "
              "grep -q 'state healthy error 1 recover 1'")
    told = hca.diagnosis()
    t.equal([told['up'], told['last loss'], told['losses']], [True, 'fatal error', 1], 'its diagnosis')
    ktraffic.flows(t, before, 'after a fatal error')


def failed_start(t, hca):
    before = ktraffic.totals(t)
    hca.fault('cmd:0x007 nth=1 status=0x1')
    answer = hca.devlink('dev reload', check=False)
    t.ok(answer.status and 'did not start' in answer.err, 'a start that fails is a reload that failed',
         answer.err)
    hca.fault('clear')
    ktraffic.flows(t, before, 'after a start that failed, and its repetition')
    hca.devlink('dev reload')
    t.ok(hca.diagnosis()['up'], 'the next reload succeeds')


def unbound_meanwhile(t, hca):
    """Whichever comes first: both return, and the HCA is left alone."""
    for number in range(3):
        both = t.vm.sh(f'devlink dev reload pci/{hca.where} & sleep 0.{number}; '
                       f'echo {hca.where} >/sys/bus/pci/drivers/mlx4_core/unbind; unbound=$?; wait; exit $unbound',
                       check=False, limit=120)
        t.equal(both.status, 0, f'a reload and an unbind at once, {number}: both return')
        empty(t, f'a reload and an unbind at once, {number}')
        t.vm.sh(f'echo {hca.where} >/sys/bus/pci/drivers/mlx4_core/bind')


class Order:
    """In which order mlx4_core's functions are entered; each in PROBED."""

    def __init__(self, t):
        self.t = t
        for name in PROBED:
            t.vm.sh(f"echo 'p:lastref/{name} mlx4_core:{name}' >>{TRACE}/kprobe_events")
        t.vm.sh(f'echo 1 >{TRACE}/events/lastref/enable')

    def begin(self):
        self.t.vm.sh(f'echo >{TRACE}/trace')

    def no_start_after(self, what):
        """The function is not started once more when its driver's removal has begun."""
        found = self.t.vm.sh(f"sed -n 's/.*(\\(mlx4_[a-z_]*\\)+0x.*/\\1/p' {TRACE}/trace").out.split()
        good = LEAVES in found and STARTS not in found[found.index(LEAVES):]
        self.t.ok(good, f'{what}: nothing is started once the removal has begun', ' '.join(found))

    def end(self):
        self.t.vm.sh(f'echo 0 >{TRACE}/events/lastref/enable; echo >{TRACE}/kprobe_events')


def empty(t, what):
    audit = t.vm.qmp.command('qom-get', path='/machine/peripheral/hca0', property='audit')
    t.equal(audit, '', f'{what}: nothing is left')


def unbound_in_teardown(t, hca, order):
    """The unbind comes while the reload's teardown waits for the firmware."""
    order.begin()
    hca.fault('cmd:0x008 times=0 delay=1000000000')
    t.vm.sh(f'devlink dev reload pci/{hca.where} & until grep -q {STOPS} {TRACE}/trace; do sleep 0.05; done; '
            f'echo {hca.where} >/sys/bus/pci/drivers/mlx4_core/unbind; wait', limit=120)
    hca.fault('clear')
    order.no_start_after('an unbind in the teardown of a reload')
    empty(t, 'an unbind in the teardown of a reload')
    t.vm.sh(f'echo {hca.where} >/sys/bus/pci/drivers/mlx4_core/bind')


def unbound_under_reloads(t, hca, order):
    """One reload follows the other all the time."""
    before = ktraffic.totals(t)
    loop = t.vm.start_sh(f'until [ -e /run/enough ]; do devlink dev reload pci/{hca.where}; sleep 0.02; done; :')
    for number in range(8):
        what = f'unbind {number} under reloads'
        order.begin()
        t.vm.sh(f'sleep {0.3 * number:.1f}; echo {hca.where} >/sys/bus/pci/drivers/mlx4_core/unbind', limit=120)
        order.no_start_after(what)
        empty(t, what)
        t.vm.sh(f'echo {hca.where} >/sys/bus/pci/drivers/mlx4_core/bind', limit=120)
    t.vm.sh('touch /run/enough')
    loop.wait(120)
    ktraffic.flows(t, before, 'after unbinds under reloads')


def scenario(t):
    ktraffic.load(t)
    ktraffic.flows(t, ktraffic.zero(), 'before any reload')
    hca = Hca(t)
    shown = json.loads(t.vm.sh('devlink -j dev show').out)['dev']
    t.equal(sorted(shown), [f'pci/{x}' for x in (hca.where, hca.other)], 'devlink shows both functions')
    state = hca.health()
    t.equal([state['state'], state['error'], state['recover']], ['healthy', 0, 0], 'the reporter: healthy')
    t.equal([hca.diagnosis()[x] for x in ('up', 'last loss')], [True, 'none'], 'the diagnosis: up, never lost')
    reloads(t, hca)
    refused(t, hca)
    losses(t, hca)
    failed_start(t, hca)
    unbound_meanwhile(t, hca)
    order = Order(t)
    unbound_in_teardown(t, hca, order)
    unbound_under_reloads(t, hca, order)
    order.end()
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal(t.stage.hcas.audits(t.vm), ['', ''], 'nothing is left in either HCA')
