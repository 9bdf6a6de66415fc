# SPDX-License-Identifier: GPL-2.0-only
# scenario: in-tree's probe meets a failing firmware command as docs/in-tree-faults.md says
# kernel: 6.12
# hcas: 1
# fabric: none log-commands=on pkeys=16 gids=8
# cpus: 1
# qemu: -icount shift=6,sleep=off
# limit: 600
# alone: yes
# allow: warning .
# allow: hung .
# allow: oops .
# allow: bug .
"""A sample: every fourth kind of command fails, and two are never answered. make check-long does it with all of them
(tests/long/sweep.py, silence.py). In-tree's warnings are data here, and must be the ones that the table names."""
import sweep

SILENT = ('INIT_HCA 1', 'SW2HW_CQ 1')


def scenario(t):
    s = sweep.Sweep(t)
    t.ok(s.begin(), 'a probe without a fault, and an unbind that leaves nothing')
    failed, silent = sweep.recorded(sweep.FAILS), sweep.recorded(sweep.SILENT)
    t.equal([x for x, _ in s.steps if x not in failed], [], 'the table has every command of the probe')
    for step in [x for x, _ in s.steps if x.endswith(' 1')][::4]:
        t.equal(s.attempt(step, sweep.FAILS), (True, failed.get(step)), f'{step} fails')
    for step in SILENT:
        t.equal(s.attempt(step, sweep.SILENT), (True, silent.get(step)), f'{step} is never answered')
    t.ok(s.ends_well(), 'after all that the HCA works')
