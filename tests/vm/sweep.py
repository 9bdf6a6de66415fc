# SPDX-License-Identifier: GPL-2.0-only
"""Fails the firmware commands of a driver's probe, one in each attempt, and says what became of it.

The machine runs under `-icount ...,sleep=off`: the minute that in-tree sleeps for an answer passes at once. Before it
has interrupts it does not sleep but polls, so an instruction takes long (64 ns): a minute is then a thousand million.
A step of the probe has a name like `SW2HW_EQ 3`: the third command of that name.
"""
import os
import re
import time

import images

NODE = '/machine/peripheral/hca0'
DRIVER = '/sys/bus/pci/drivers/mlx4_core'
TABLE = os.path.join(images.REPO, 'docs', 'in-tree-faults.md')
COMMAND = re.compile(r'hca0: (\w+) ([0-9a-f]{3})\.')
# What our driver says of itself in debugfs; the in-tree one has done everything when a probe returns.
STATE = '/sys/kernel/debug/infiniband/*/state'
ROW = re.compile(r'^\| (\w+) (\d+)(?:-(\d+))? \| (.+) \|$', re.M)
FAILS, SILENT = 'status=0x01', 'silent'


def recorded(action):
    """What docs/in-tree-faults.md says of an action (FAILS or SILENT): {step: outcome}."""
    with open(TABLE, encoding='utf-8') as text:
        fails, _, silent = text.read().partition('\n## Never answered')
    rows = ROW.findall(fails if action == FAILS else silent)
    return {f'{name} {n}': outcome for name, first, last, outcome in rows
            for n in range(int(first), int(last or first) + 1)}


def rows_of(found):
    """{step: outcome} as rows of the table; steps that follow each other and end alike share one."""
    lines = []
    for step, outcome in found.items():
        name, number = step.split()
        if lines and lines[-1][0] == name and lines[-1][3] == outcome:
            lines[-1][2] = number
        else:
            lines.append([name, number, number, outcome])
    return ''.join(f'| {name} {first}{"" if first == last else "-" + last} | {outcome} |\n'
                   for name, first, last, outcome in lines)


class Sweep:
    """The attempts on one machine, whose scenario has one HCA and `log-commands=on`."""

    def __init__(self, t):
        self.t = t
        self.address = ''
        self.steps = []                  # (name of the step, opcode)

    def _set(self, name, value):
        self.t.vm.qmp.command('qom-set', path=NODE, property=name, value=value)

    def _get(self, name):
        return self.t.vm.qmp.command('qom-get', path=NODE, property=name)

    def _log(self):
        with open(self.t.stage.hcas.log_path(0, 'hca0'), encoding='utf-8') as text:
            return text.read()

    def _struck(self):
        return int(re.search(r'^faults (\d+)', self._get('counts'), re.M).group(1))

    def _write(self, what):
        return self.t.vm.sh(f'echo {self.address} >{DRIVER}/{what}; udevadm settle; {self.rest()}', check=False,
                            limit=200)

    @staticmethod
    def rest():
        """A shell command that waits until nothing is going on."""
        return (f'for i in $(seq 1200); do case "$(cat {STATE} 2>/dev/null)" in ""|*"thread idle"*) break;; esac; '
                'sleep 0.1; done')

    def _there(self):
        """(bound?, InfiniBand devices)"""
        got = self.t.vm.sh(f'ls -d {DRIVER}/0* 2>/dev/null | wc -l; ls /sys/class/infiniband | wc -l').out.split()
        return int(got[0]), int(got[1])

    def load(self):
        self.t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug; '
                     f'modprobe mlx4_ib; udevadm settle; {self.rest()}')

    def begin(self):
        """A probe in which nothing fails: learns the steps."""
        self.load()
        self.address = self.t.vm.sh(f'basename {DRIVER}/0*').out.strip()
        self._write('unbind')
        at = len(self._log())
        self._write('bind')
        seen = {}
        for name, opcode in COMMAND.findall(self._log()[at:]):
            seen[name] = seen.get(name, 0) + 1
            self.steps.append((f'{name} {seen[name]}', opcode))
        there = self._there()
        self._write('unbind')
        return there == (1, 1) and not self._get('audit')

    def _outcome(self, there, left, position):
        words = [{(0, 0): 'probe fails', (1, 0): 'bound, but no InfiniBand device',
                  (1, 1): 'goes on'}.get(there, f'{there[0]} bound, {there[1]} devices')]
        if left:
            kinds = sorted({re.split(r'[ :]', x)[0] for x in left.splitlines()})
            words.append('leaves ' + ', '.join(kinds))
        broken = sorted({re.search(r'violation ([a-z-]+)', x).group(1) for x in self.t.stage.hcas.violations()})
        if broken:
            words.append('violates ' + ', '.join(broken))
        self.t.vm.settle()
        words += sorted({x.name for x in self.t.vm.log.splats(position)})
        return '; '.join(words)

    def attempt(self, step, action):
        """(the fault struck, what became of it) for one step of the probe."""
        name, number = step.split()
        opcode = next(op for have, op in self.steps if have == step)
        position = self.t.vm.log.position()
        before = self._struck()
        self._set('fault', 'clear')
        self._set('fault', f'cmd:0x{opcode} nth={number} {action}')
        self._write('bind')
        there = self._there()
        self._set('fault', 'clear')
        if there[0]:
            self._write('unbind')
        outcome = self._outcome(there, self._get('audit'), position)
        if any(word in outcome for word in ('oops', 'bug', 'kasan')):
            self.again()
        return self._struck() > before, outcome

    def again(self):
        """The kernel is not to be used any more: start anew."""
        self.t.vm.boot_again('echo b >/proc/sysrq-trigger')
        self.load()
        self._write('unbind')

    def ends_well(self):
        """After all that the HCA can be used, and holds nothing after it was."""
        self._write('bind')
        there = self._there()
        self._write('unbind')
        return there == (1, 1) and not self._get('audit')


def whole(t, action, wanted):
    """A scenario of make check-long: every step that `wanted` accepts, held against the table. What is found is
    written to a file in the folder of the run, as rows for the table."""
    s = Sweep(t)
    t.ok(s.begin(), 'a probe without a fault, and an unbind that leaves nothing')
    table, found, start = recorded(action), {}, time.monotonic()
    for step, _ in s.steps:
        if not wanted(step):
            continue
        hit, found[step] = s.attempt(step, action)
        t.equal((hit, found[step]), (True, table.get(step, 'not in the table')), f'{step}: {action}')
        with open(os.path.join(t.stage.folder, 'rows.md'), 'w', encoding='utf-8') as out:
            out.write(rows_of(found))
    t.note(f'{len(found)} of {len(s.steps)} commands of a probe: {time.monotonic() - start:.0f} s')
    t.ok(s.ends_well(), 'after all that the HCA works')


CLEAN = {'probe fails', 'bound, but no InfiniBand device', 'goes on'}


def clean(t):
    """A scenario of make check-long with our own modules: every step of the probe fails, and the first of each kind
    is never answered. Whatever becomes of it, nothing is left, nothing is violated, and the kernel does not complain."""
    s = Sweep(t)
    t.ok(s.begin(), 'a probe without a fault, and an unbind that leaves nothing')
    start, found = time.monotonic(), {}
    for action in (FAILS, SILENT):
        for step, _ in s.steps:
            if action == SILENT and not step.endswith(' 1'):
                continue
            hit, outcome = s.attempt(step, action)
            t.ok(hit and outcome in CLEAN, f'{step}: {action}: {outcome}', '' if hit else 'the fault did not strike')
            found[outcome] = found.get(outcome, 0) + 1
    t.note(f'{len(s.steps)} commands of a probe: {found}, {time.monotonic() - start:.0f} s')
    t.ok(s.ends_well(), 'after all that the HCA works')
