# SPDX-License-Identifier: GPL-2.0-only
"""Scenarios: small programs that say in their head what they need, and print test points.

A scenario is a file under tests/scenarios: NAME.sh runs in the guest under /bin/sh, NAME.py runs here
and has a function scenario(t) (t is a Run). Its first comment holds `key: value` lines; `scenario:`
is required, all others have a default (see KEYS).
"""
import importlib.util
import os
import re
import shlex
from dataclasses import dataclass, field

import channel
import images
import kmsg
from machine import BOOTS, Spec

FOLDER = os.path.join(images.REPO, 'tests', 'scenarios')
KEYS = {
    'scenario': 'what it shows, in a line',
    'kernel': 'kernels to run it on, each once (6.12)',
    'boot': 'bare or full (bare)',
    'image': 'vmlinux, or bzImage for suspend-to-RAM (vmlinux)',
    'cpus': 'virtual CPUs of each machine (2)',
    'memory': 'MiB of each machine (the kernel\'s usual)',
    'vms': 'number of machines (1)',
    'hcas': 'emulated HCAs in each machine (0)',
    'fabric': 'how their ports are connected; passed on to the emulator',
    'modules': 'ours (this repository\'s) or in-tree (in-tree)',
    'ports': 'PCIe root ports for devices of its own (0)',
    'qemu': 'further arguments of QEMU',
    'append': 'further arguments of the kernel',
    'limit': 'seconds it may take; waiting for a CPU of the host does not count (60)',
    'expect': 'a splat that must come: name of a detector, then an expression for its text',
    'allow': 'a splat that may come, in the same form',
    'alone': 'yes: its machine is not shared, before or after (no)',
}
POINT = re.compile(r'(not )?ok\b *(\d+)? *-? *([^#]*?)(?: *# *(SKIP|TODO)\b *(.*))?$', re.I)
HEAD_LINE = re.compile(r'# ([a-z]+): (.*)$')


class BadScenario(Exception):
    """A scenario that does not say what it has to; one line says where."""


@dataclass
class Point:
    """One test point: what was checked and how it came out."""
    name: str
    good: bool
    skipped: bool = False
    notes: list = field(default_factory=list)


class Expectation:
    """A declared splat: detector name, and an expression that has to be found in its text."""

    def __init__(self, text):
        self.name, _, expression = text.strip().partition(' ')
        if self.name not in kmsg.NAMES:
            raise BadScenario(f"there is no detector '{self.name}'")
        self.expression = re.compile(expression.strip())

    def covers(self, splat):
        return splat.name == self.name and any(self.expression.search(x) for x in splat.lines)

    def __str__(self):
        return f'{self.name} {self.expression.pattern}'.strip()


def read_head(path):
    """The declarations at the head of a scenario: {key: [values]}."""
    found = {}
    with open(path, encoding='utf-8') as text:
        for line in text:
            if not line.startswith('#'):
                break
            match = HEAD_LINE.match(line.rstrip())
            if match and match.group(1) in KEYS:
                found.setdefault(match.group(1), []).append(match.group(2).strip())
            elif match and match.group(1).islower():
                raise BadScenario(f"unknown declaration '{match.group(1)}'")
    if 'scenario' not in found:
        raise BadScenario("its head has no line `# scenario: ...`")
    return found


class Scenario:
    """One scenario file, on one kernel."""

    def __init__(self, path, kernel, head):
        def one(key, default):
            return head.get(key, [default])[-1]

        def number(key, default):
            if not one(key, default).isdigit():
                raise BadScenario(f"{key}: '{one(key, default)}' is not a number")
            return int(one(key, default))
        self.path, self.kernel = path, kernel
        self.short = os.path.splitext(os.path.relpath(path, FOLDER))[0]
        if self.short.startswith('..'):
            self.short = os.path.splitext(os.path.basename(path))[0]
        self.name = f'{kernel}/{self.short}'
        self.title = one('scenario', '')
        self.spec = Spec(kernel=kernel, boot=one('boot', 'bare'), image=one('image', 'vmlinux'),
                         cpus=number('cpus', '2'), memory=number('memory', '0'),
                         ports=number('ports', '0'), qemu=one('qemu', ''),
                         append=one('append', ''))
        if self.spec.boot not in BOOTS:
            raise BadScenario(f"boot: '{self.spec.boot}' is neither bare nor full")
        self.vms = number('vms', '1')
        self.hcas, self.fabric = number('hcas', '0'), one('fabric', '')
        self.modules = one('modules', 'in-tree')
        if self.modules not in ('ours', 'in-tree'):
            raise BadScenario(f"modules: '{self.modules}' is neither ours nor in-tree")
        self.limit = number('limit', '60')
        self.alone = one('alone', 'no') == 'yes'
        self.expect = [Expectation(x) for x in head.get('expect', [])]
        self.allow = [Expectation(x) for x in head.get('allow', [])]

    def needs(self):
        """What it needs to have; scenarios with equal needs share their machines."""
        own = self.name if self.alone or self.expect else ''
        return self.spec, self.vms, self.hcas, self.fabric, self.modules, own

    def program(self):
        """The function of a Python scenario."""
        spec = importlib.util.spec_from_file_location(self.short.replace('/', '_'), self.path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if not hasattr(module, 'scenario'):
            raise BadScenario('it has no function scenario(t)')
        return module.scenario


def load(path):
    """All scenarios of a file: one for each kernel it names."""
    try:
        head = read_head(path)
        kernels = ' '.join(head.get('kernel', ['6.12'])).split()
        for kernel in kernels:
            if kernel not in images.KERNELS:
                raise BadScenario(f"kernel: there is no '{kernel}'")
        return [Scenario(path, kernel, head) for kernel in kernels]
    except (BadScenario, re.error) as why:
        raise BadScenario(f'{os.path.relpath(path, images.REPO)}: {why}') from why


def load_all():
    """Every scenario of the repository, in the order of their names."""
    found = []
    for folder, folders, names in os.walk(FOLDER):
        folders.sort()
        for name in sorted(names):
            if name.endswith(('.sh', '.py')) and not name.startswith('_'):
                found += load(os.path.join(folder, name))
    return found


class Points:
    """Collects test points: from TAP text, or from calls."""

    def __init__(self):
        self.all = []
        self._rest = ''
        self.plan = None

    def feed(self, data):
        """A piece of TAP text."""
        lines = (self._rest + data.decode('utf-8', 'replace')).split('\n')
        self._rest = lines.pop()
        for line in lines:
            self.line(line.rstrip())

    def line(self, line):
        match = POINT.match(line)
        plan = re.match(r'1\.\.(\d+)', line)
        if match:
            self.add(match.group(3).strip(), not match.group(1),
                     skipped=(match.group(4) or '').upper() == 'SKIP', note=match.group(5))
        elif plan:
            self.plan = int(plan.group(1))
        elif line and self.all:
            self.all[-1].notes.append(line.removeprefix('# '))

    def add(self, name, good, skipped=False, note=None):
        self.all.append(Point(name or f'point {len(self.all) + 1}', bool(good), skipped,
                              [note] if note else []))


class Run:
    """What a scenario in Python gets: the machines, and a way to state test points."""

    def __init__(self, scenario, stage, points):
        self.scenario, self.stage, self._points = scenario, stage, points
        self.vms = stage.vms
        self.vm = stage.vms[0]

    def ok(self, good, name, note=None):
        """A test point; returns whether it held."""
        self._points.add(name, good, note=None if good else note)
        return bool(good)

    def equal(self, have, want, name):
        return self.ok(have == want, name, f'have {have!r}, want {want!r}')

    def skip(self, name, why):
        self._points.add(name, True, skipped=True, note=why)

    def note(self, text):
        """A remark on the last point."""
        if self._points.all:
            self._points.all[-1].notes.append(text)


def run_shell(scenario, stage, points):
    """Run a shell scenario in the first machine."""
    vm = stage.vms[0]
    inside = '/run/lastref/' + os.path.basename(scenario.path)
    vm.put_file(scenario.path, inside)
    job = vm.start_sh(f'cd /root && exec sh {shlex.quote(inside)}', watch=points.feed)
    try:
        done = job.wait(scenario.limit)
    except channel.TimeLimit:
        stage.why_stuck(vm)
        job.kill()
        raise
    if done.status:
        points.add('the scenario ran to its end', False,
                   note=f'exit status {done.status}: {done.err.strip()[-400:]}')
    if points.plan is not None and points.plan != len(points.all):
        points.add('it printed as many points as planned', False,
                   note=f'{len(points.all)} of {points.plan}')
