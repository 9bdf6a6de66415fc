# SPDX-License-Identifier: GPL-2.0-only
"""A stage: the machines that some scenarios share, and the judgement of what their kernels said."""
import os
import threading
import traceback

import channel
import modules
import qmp
from machine import Machine
from scenario import BadScenario, Points, Run, run_shell

# Bits of /proc/sys/kernel/tainted that say that the kernel complained of something.
TAINTS = {2: 'forced unload', 5: 'bad page', 7: 'died', 9: 'warned', 14: 'soft lockup'}
KMEMLEAK = '/sys/kernel/debug/kmemleak'


class Stage:
    """The machines of one set of needs. All calls come from one thread."""

    def __init__(self, scenario, folder):
        self.scenario, self.folder = scenario, folder
        self.spec = scenario.spec
        self.vms = []
        self.hcas = None
        self.broken = False         # a scenario failed here: not to be used again
        self.names = []

    def open(self):
        """Boot the machines."""
        try:
            for n in range(self.scenario.vms):
                vm = Machine(self.spec, os.path.join(self.folder, f'vm{n}'), self._devices(n))
                self.vms.append(vm)
                vm.launch()
            for vm in self.vms:
                vm.start()
                if self.scenario.modules == 'ours':
                    modules.install(vm, modules.ours(self.spec.kernel))
                if self.spec.kernel == 'debug':
                    vm.put(b'clear', KMEMLEAK, 0o644, limit=120)
                vm.settle()
        except BaseException:
            self.stop()
            raise

    def _devices(self, n):
        if not self.scenario.hcas:
            return []
        # pylint: disable-next=import-outside-toplevel
        import hca
        if self.hcas is None:
            self.hcas = hca.Hcas(self.scenario, self.folder)
        return self.hcas.arguments(n)

    def boot_times(self):
        """How long the boot took, for the reader: a loaded host shows in the first figure only."""
        return ', '.join(f'booted in {vm.boot_seconds:.1f} s, {vm.boot_cpu:.1f} s of CPU'
                         for vm in self.vms)

    # --- one scenario ---

    def run(self, scenario):
        """Run one scenario; returns its points, those about the kernel's log among them."""
        points = Points()
        self.names.append(scenario.name)
        try:
            marks = [self._mark(vm) for vm in self.vms]
            if scenario.path.endswith('.py'):
                self._run_python(scenario, points)
            else:
                run_shell(scenario, self, points)
        except channel.TimeLimit as why:
            points.add('it ended in time', False, note=str(why))
        except (channel.GuestGone, qmp.QmpError) as why:
            points.add('the virtual machine lives', False, note=str(why))
        except BadScenario as why:
            points.add(str(why), False)
        if not points.all:
            points.add('it printed a test point', False)
        self._judge(scenario, points, marks)
        self.broken |= any(not p.good for p in points.all)
        return points.all

    def _run_python(self, scenario, points):
        """In a thread of its own, so that a program that never returns cannot hold up the rest."""
        trouble = []

        def body():
            try:
                scenario.program()(Run(scenario, self, points))
            except (channel.TimeLimit, channel.GuestGone, qmp.QmpError, BadScenario) as why:
                trouble.append(why)
            except Exception as why:            # the program's own mistake is its failure
                where = traceback.extract_tb(why.__traceback__)[-1]
                points.add('the scenario ran to its end', False,
                           note=f'{type(why).__name__}: {why} (line {where.lineno})')
        thread = threading.Thread(target=body, daemon=True)
        starts = [vm.clock.start() for vm in self.vms]
        thread.start()
        while thread.is_alive() and min(vm.clock.passed(start) for vm, start in zip(
                self.vms, starts)) < scenario.limit + 5:
            thread.join(0.5)
        if thread.is_alive():
            for vm in self.vms:
                self.why_stuck(vm)
            raise channel.TimeLimit(f'over {scenario.limit} s: {scenario.name}')
        if trouble:
            if isinstance(trouble[0], channel.TimeLimit):
                for vm in self.vms:
                    self.why_stuck(vm)
            raise trouble[0]

    def why_stuck(self, vm):
        """Have the kernel write down its blocked tasks and held locks."""
        try:
            vm.sh('echo w >/proc/sysrq-trigger; echo d >/proc/sysrq-trigger', limit=20, check=False)
            vm.settle(20)
        except (channel.TimeLimit, channel.GuestGone):
            pass

    def _mark(self, vm):
        vm.settle()
        return vm.log.position(), self._taint(vm), len(vm.console_splats())

    @staticmethod
    def _taint(vm):
        return int(vm.get('/proc/sys/kernel/tainted'))

    # --- judgement ---

    def _judge(self, scenario, points, marks):
        complaints = []
        for vm, mark in zip(self.vms, marks):
            complaints += self._complaints(vm, scenario, points, *mark)
        if self.hcas is not None:
            for line in self.hcas.violations():
                points.add('the HCA saw no violation', False, note=line)
        for wanted in scenario.expect:
            points.add(f'the expected splat came: {wanted}',
                       any(wanted.covers(s) for s in complaints))
        declared = scenario.expect + scenario.allow
        extra = [s for s in complaints if not any(d.covers(s) for d in declared)]
        points.add('the kernel has nothing to complain of', not extra,
                   note='\n'.join(f'{s}' for s in extra[:12]))
        self.broken |= bool(complaints)
        scenario.complaints = complaints

    def _complaints(self, vm, scenario, points, position, taint, console):
        """What one machine's kernel said since the mark; commands left running are ended first."""
        try:
            self._end_jobs(vm, points)
            vm.settle()
            new = self._taint(vm) & ~taint
        except (channel.GuestGone, channel.TimeLimit) as why:
            points.add('the virtual machine lives', False, note=f'{why}; {vm.last_words()}')
            new = 0
        found = vm.log.splats(position)
        if not vm.alive():
            found += vm.console_splats()[console:]
        elif not found and new & sum(1 << bit for bit in TAINTS):
            names = [name for bit, name in TAINTS.items() if new & 1 << bit]
            points.add(f'the kernel is not tainted ({", ".join(names)})', False)
        return found

    @staticmethod
    def _end_jobs(vm, points):
        left = vm.channel.unfinished()
        for job in left:
            job.kill()
        for job in left:
            try:
                job.wait(10)
            except channel.TimeLimit:
                points.add('its commands can be ended', False, note=f'stuck: {job.text}')

    # --- the end ---

    def leaks(self, vm):
        """What kmemleak finds: two scans, further apart than the age at which it looks at objects."""
        vm.sh(f'echo scan >{KMEMLEAK}; sleep 6; echo scan >{KMEMLEAK}', limit=300)
        return vm.get(KMEMLEAK, limit=120)

    def close(self):
        """End the machines; returns the points that concern them as a whole."""
        points = Points()
        try:
            for vm in self.vms:
                if self.spec.kernel == 'debug' and not self.broken and vm.alive():
                    text = self.leaks(vm)
                    with open(os.path.join(vm.folder, 'kmemleak'), 'w', encoding='utf-8') as out:
                        out.write(text)
                    first = '\n'.join(text.splitlines()[:40])
                    points.add(f'no memory leaked by: {", ".join(self.names)}', not text.strip(),
                               note=first)
        except (channel.GuestGone, channel.TimeLimit, AssertionError) as why:
            points.add('kmemleak can be asked', False, note=str(why))
        finally:
            self.stop()
        return points.all

    def stop(self):
        for vm in self.vms:
            vm.stop()
        if self.hcas is not None:
            self.hcas.stop()
