# SPDX-License-Identifier: GPL-2.0-only
# scenario: either HCA leaves in 20 drawn ways under opensm, queries and pings, also with a silent SM
# kernel: 6.12 6.1 debug
# hcas: 2
# fabric: one
# modules: ours
# image: bzImage
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 60000
# alone: yes
"""The seed is in the name of a point. UMAD_REMOVAL_SEED chooses another, UMAD_REMOVAL_ROUNDS how many rounds
(20; `each` stands for 200 of each way), UMAD_REMOVAL_DOWN how often the machine reboots and powers off (2).

A round draws the HCA that leaves, the way it leaves, the HCA that opensm runs on, and whether opensm
is stopped (silent) meanwhile. On the HCA that leaves run four saquery loops and a flood of ibping; on
the other one a witness that must not fail. At the end the whole machine goes down under the same load,
with opensm at work and with opensm silent in turn.
"""
import os
import random

import ib
import sleep
import umad

PER_WAY_LONG = 200
DRIVERS = '/sys/bus/pci/drivers'
# Seconds of guest time that a removal may take: normally, and where the firmware or the SM is silent.
NORMAL, AT_MOST = 4, 15
UPTIME = 'cut -d" " -f1 /proc/uptime'


def timed(t, command):
    """Guest seconds that a command took."""
    out = t.vm.sh(f'a=$({UPTIME}); {command}; echo $a $({UPTIME})', limit=120).out.split()
    return float(out[-1]) - float(out[-2])


class Hca:
    """One of the two: its slot, its function, the device that is plugged in."""

    def __init__(self, t, number, function):
        self.t, self.number, self.function = t, number, function
        self.id, self.plugged = f'hca{number}', 0

    def name(self):
        return umad.device_of(self.t, self.function)

    def fault(self, rule):
        umad.say(self.t, self.id, 'fault', rule)

    def is_there(self):
        return self.t.vm.sh(f'ls /sys/bus/pci/devices/{self.function}/infiniband', check=False).status == 0

    def gone(self):
        """Wait until it is gone; guest seconds that its removal took, by its folders in sysfs."""
        return timed(self.t, f'f=/sys/bus/pci/devices/{self.function}; for i in $(seq 3000); do '
                             f'[ -d $f/infiniband ] || break; sleep 0.01; done; a=$({UPTIME}); '
                             'for i in $(seq 3000); do [ -d $f ] || break; sleep 0.01; done')


def x1_driver(hca):
    """The protocol driver leaves, with both HCAs, one after the other: for each the mean."""
    took = timed(hca.t, 'rmmod mlx4_ib')
    hca.t.vm.sh('modprobe mlx4_ib')
    return took / 2


def x2_unbind(hca):
    took = timed(hca.t, f'echo {hca.function} >{DRIVERS}/mlx4_core/unbind')
    hca.left_over = umad.ask(hca.t, hca.id, 'audit')
    hca.t.vm.sh(f'echo {hca.function} >{DRIVERS}/mlx4_core/bind')
    return took


def x3_remove(hca):
    took = timed(hca.t, f'echo 1 >/sys/bus/pci/devices/{hca.function}/remove')
    hca.left_over = umad.ask(hca.t, hca.id, 'audit')
    hca.t.vm.sh('echo 1 >/sys/bus/pci/rescan')
    return took


def plug(hca):
    hca.plugged += 1
    hca.id = f'hca{hca.number}again{hca.plugged}'
    text = hca.t.stage.hcas.plug(hca.t.vm, hca.number, hca.id)
    hca.t.ok(not text, f'{hca.id}: plugged in', text)


def unplug(hca):
    mark = hca.t.vm.qmp.mark()
    hca.t.vm.qmp.command('device_del', id=hca.id)
    took = hca.gone()
    if not hca.t.vm.qmp.wait_event('DEVICE_DELETED', mark, 60, device=hca.id):
        raise AssertionError(f'{hca.id} was not let go')
    return took


def x4_button(hca):
    took = unplug(hca)
    plug(hca)
    return took


def x4_surprise(hca):
    umad.say(hca.t, hca.id, 'surprise', True)
    took = hca.gone()
    hca.t.stage.hcas.unplug(hca.t.vm, hca.id)
    plug(hca)
    return took


def recovered(hca, what):
    """It says what happened, and comes back by itself; the removal is not the caller's to time."""
    if not hca.t.vm.log.wait_line(what, hca.position, 60):
        raise AssertionError(f'the log does not say: {what}')
    state = f'/sys/kernel/debug/infiniband/{hca.function}/state'
    hca.t.vm.sh(f'for i in $(seq 600); do grep -q "^hardware up" {state} && grep -q "^thread idle" {state} && exit 0; '
                'sleep 0.1; done; exit 1', limit=120)
    return 0


def x5_fatal(hca):
    hca.position = hca.t.vm.log.position()
    hca.fault('time at=1 fatal=0x10')
    return recovered(hca, 'the HCA is gone: fatal error')


def x5_silent(hca):
    """The firmware answers nothing; the driver is unbound meanwhile."""
    hca.fault('time at=1 hang')
    took = timed(hca.t, f'sleep 0.1; echo {hca.function} >{DRIVERS}/mlx4_core/unbind')
    hca.fault('clear')
    hca.t.vm.sh(f'echo {hca.function} >{DRIVERS}/mlx4_core/bind')
    return took


def x5_pcie(hca):
    """A PCIe error of the worst kind, and the recovery from it."""
    hca.position = hca.t.vm.log.position()
    umad.say(hca.t, hca.id, 'aer', 'fatal')
    return recovered(hca, 'the HCA is gone: PCI error')


def x7_suspend(hca):
    """The machine sleeps, and both HCAs with it."""
    hca.t.equal(sleep.to_ram(hca.t.vm), '', 'the machine sleeps and wakes')
    return 0


def x8_client(hca):
    """The client's module, once nobody has a node open."""
    hca.load.stop()
    took = timed(hca.t, 'rmmod ib_umad')
    hca.t.vm.sh('modprobe ib_umad')
    return took


# What takes both HCAs' nodes away is no trial of the witness on the other one.
VERBS = (('X1 rmmod mlx4_ib', x1_driver, True), ('X2 unbind', x2_unbind, False),
         ('X3 remove', x3_remove, False), ('X4 unplug', x4_button, False),
         ('X4 surprise', x4_surprise, False), ('X5 fatal error', x5_fatal, False),
         ('X5 silent firmware', x5_silent, False), ('X5 PCIe error', x5_pcie, False),
         ('X7 suspend', x7_suspend, True), ('X8 rmmod ib_umad', x8_client, True))


class Load:
    """opensm, loops on the HCA that leaves, a witness on the other one."""

    def __init__(self, t, sm_on, leaves, stays):
        self.t, self.leaves, self.jobs = t, leaves, []
        guid = t.vm.sh(f'cat /sys/class/infiniband/{sm_on.name()}/ports/1/gids/0').out.strip()
        t.vm.put(b'sweep_interval 1\n', '/run/sm.conf')
        self.sm = umad.start_sm(t, 'sm', '-F /run/sm.conf -g 0x' + ''.join(guid.split(':')[4:]))
        self.active = umad.wait_active(t, check=False)
        gone, there = leaves.name(), stays.name()
        lid = int(t.vm.sh(f'cat /sys/class/infiniband/{there}/ports/1/lid').out, 16)
        self.loop(f'while :; do ibping -S -C {there} -P 1; sleep 0.1; done')
        for _ in range(4):
            self.loop(f'while :; do saquery -C {gone} -P 1 NR; done')
        self.loop(f'while :; do ibping -f -C {gone} -P 1 {lid}; sleep 0.1; done')
        t.vm.sh('rm -f /run/witness')
        self.witness = t.vm.start_sh(
            f'while :; do smpquery -C {there} -P 1 -D nodeinfo 0 >/dev/null 2>&1 && '
            f'perfquery -C {there} -P 1 {lid} 1 >/dev/null 2>&1 && ibstat {there} >/dev/null 2>&1 && '
            'echo good || echo bad; done >/run/witness')

    def loop(self, script):
        self.jobs.append(self.t.vm.start_sh(f'exec >/dev/null 2>&1; {script}'))

    def silence(self):
        self.sm.kill(19)

    def stop(self):
        for job in (*self.jobs, self.witness, self.sm):
            if job.status is None:
                job.kill(18)
                job.kill()
        for job in (*self.jobs, self.witness, self.sm):
            job.wait(60)
        self.jobs = []

    def verdict(self):
        """How often the witness was content, and how often not."""
        said = self.t.vm.sh('cat /run/witness 2>/dev/null').out.split()
        return said.count('good'), said.count('bad')


def back(t, hca):
    t.vm.sh(f'for i in $(seq 600); do [ "$(ls /dev/infiniband 2>/dev/null | grep -c umad)" = 4 ] && '
            f'[ -d /sys/bus/pci/devices/{hca.function}/infiniband ] && exec udevadm settle; sleep 0.1; done; exit 1',
            limit=120)


class Draw:
    """What a round draws."""

    def __init__(self, drawn, hcas):
        self.leaves, self.sm_on = drawn.choice(hcas), drawn.choice(hcas)
        self.stays = hcas[1 - self.leaves.number]
        self.silent = drawn.random() < 0.4
        self.before, self.after = drawn.uniform(0.2, 1.5), drawn.uniform(0, 0.3)

    def load(self, t):
        """The load, which has run for a moment, with a SM that is silent or not."""
        load = Load(t, self.sm_on, self.leaves, self.stays)
        t.vm.sh(f'sleep {self.before:.3f}')
        if self.silent:
            load.silence()
            t.vm.sh(f'sleep {self.after:.3f}')
        return load

    def text(self):
        return (f'HCA {self.leaves.number}, SM on {self.sm_on.number}' + (', silent' if self.silent else ''))


def a_round(t, number, draw, way):
    verb, run, both = way
    leaves, what = draw.leaves, f'{number}: {verb}, {draw.text()}'
    leaves.left_over = ''
    leaves.load = load = draw.load(t)
    took = run(leaves)
    back(t, leaves)
    load.stop()
    good, bad = load.verdict()
    bound = AT_MOST if draw.silent or 'silent firmware' in verb else NORMAL
    t.ok(load.active and took <= bound, f'{what}: {took:.2f} s, at most {bound}',
         f'ports active before: {load.active}')
    t.ok(both or (good and not bad), f'{what}: the witness on the other HCA', f'{good} good, {bad} bad')
    t.equal(leaves.left_over, '', f'{what}: nothing is left in it')


def rounds_of(drawn, hcas, rounds):
    """The rounds: each way once before one comes again."""
    if rounds == 'each':
        ways = [way for way in VERBS for _ in range(PER_WAY_LONG)]
    else:
        ways = []
        while len(ways) < int(rounds):
            ways += drawn.sample(VERBS, min(len(VERBS), int(rounds) - len(ways)))
    return [(way, Draw(drawn, hcas)) for way in ways]


def goes_down(t, how, number, draw):
    """X6: the machine goes down under the load; what was there is plugged in when it comes up again."""
    what = f'{how} {number}, {draw.text()}'
    load = draw.load(t)
    if how == 'reboot':
        t.vm.boot_again('exec reboot -f')
    else:
        t.ok(t.vm.power_off(), f'{what}: the power goes off')
    t.ok(load.active, f'{what}: it went down under load, and came up again')
    t.equal(t.stage.hcas.violations(), [], f'{what}: no violation')
    umad.load(t)


def scenario(t):
    seed = int(os.environ.get('UMAD_REMOVAL_SEED', random.randrange(1, 1 << 32)))
    rounds = os.environ.get('UMAD_REMOVAL_ROUNDS', '20')
    umad.load(t)
    drawn = random.Random(seed)
    hcas = [Hca(t, n, f) for n, f in enumerate(umad.functions(t))]
    t.equal(len(hcas), 2, f'seed {seed}: two HCAs')
    # What was written so far outlives the reboots: the modules.
    t.vm.sh('sync')
    for number, (way, draw) in enumerate(rounds_of(drawn, hcas, rounds)):
        a_round(t, number, draw, way)
    for number in range(int(os.environ.get('UMAD_REMOVAL_DOWN', 2))):
        for how in ('reboot', 'poweroff'):
            draw = Draw(drawn, hcas)
            draw.silent = bool(number % 2)
            goes_down(t, how, number, draw)
    sm = umad.start_sm(t)
    t.ok(umad.wait_active(t, check=False), 'in the end opensm makes all ports ACTIVE')
    t.equal(t.vm.sh(ib.PORTS_ACTIVE % 4, check=False).status, 0, 'and they stay so')
    sm.kill(15)
    sm.wait(30)
    t.equal(t.vm.sh('cat /sys/kernel/debug/infiniband/quarantine').out, '', 'nobody is in quarantine')
    umad.unload(t)
    t.equal(umad.audit(t, [x.id for x in hcas]), ['', ''], 'nothing is left in either HCA')
