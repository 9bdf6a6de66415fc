# SPDX-License-Identifier: GPL-2.0-only
"""Run unittest cases, print them as TAP and close with `N passed, N failed`.

A test file ends with `tap.main()`, or calls it with the modules whose cases it wants.
"""
import sys
import time
import traceback
import unittest


class TapResult(unittest.TestResult):
    """One line a test, the trace of a failure indented below it."""

    def __init__(self):
        super().__init__()
        self.number = self.passed = self.failed = self.missed = 0
        self.bad = None

    def startTest(self, test):
        super().startTest(test)
        self.bad = None

    def line(self, ok, test, note=''):
        self.number += 1
        print(f'{"ok" if ok else "not ok"} {self.number} - {test.id().split(".", 1)[-1]}{note}',
              flush=True)

    def addSuccess(self, test):
        self.passed += 1
        self.line(True, test)

    def addSkip(self, test, reason):
        self.missed += 1
        self.line(True, test, f' # SKIP {reason}')

    def complain(self, test, err):
        self.failed += 1
        self.line(False, test)
        for text in ''.join(traceback.format_exception(*err)).splitlines():
            print(f'    {text}', flush=True)

    def addFailure(self, test, err):
        self.complain(test, err)

    def addError(self, test, err):
        self.complain(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.complain(subtest, err)

    def close(self):
        missed = f', {self.missed} skipped' if self.missed else ''
        print(f'{self.passed} passed, {self.failed} failed{missed}')
        return 0 if self.passed and not self.failed else 1


def runs(pid, seconds=10):
    """Whether a process still runs after so long; one that only waits to be reaped does not."""
    end = time.monotonic() + seconds
    while True:
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as stat:
                if stat.read().rsplit(')', 1)[1].split()[0] in 'ZX':
                    return False
        except FileNotFoundError:
            return False
        if time.monotonic() > end:
            return True
        time.sleep(0.05)


def main(*modules):
    """Run the cases of the modules (default: the program itself) and exit."""
    loader, result = unittest.TestLoader(), TapResult()
    for module in modules or ('__main__',):
        module = sys.modules[module] if isinstance(module, str) else module
        loader.loadTestsFromModule(module).run(result)
    sys.exit(result.close())
