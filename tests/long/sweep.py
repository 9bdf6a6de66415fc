# SPDX-License-Identifier: GPL-2.0-only
# scenario: in-tree's probe meets each failing firmware command as docs/in-tree-faults.md says
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
"""Every command of the probe fails in its turn."""
import sweep


def scenario(t):
    sweep.whole(t, sweep.FAILS, lambda step: True)
