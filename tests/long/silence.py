# SPDX-License-Identifier: GPL-2.0-only
# scenario: in-tree's probe gets no answer to a firmware command, as docs/in-tree-faults.md says
# kernel: 6.12
# hcas: 1
# fabric: none log-commands=on pkeys=16 gids=8
# cpus: 1
# qemu: -icount shift=6,sleep=off
# limit: 3000
# alone: yes
# allow: warning .
# allow: hung .
# allow: oops .
# allow: bug .
"""The first command of each kind is never answered."""
import sweep


def scenario(t):
    sweep.whole(t, sweep.SILENT, lambda step: step.endswith(' 1'))
