# SPDX-License-Identifier: GPL-2.0-only
# scenario: each firmware command of our own probe fails, or is never answered, and it ends cleanly
# kernel: 6.12
# hcas: 1
# fabric: none log-commands=on pkeys=16 gids=8
# modules: ours
# cpus: 1
# qemu: -icount shift=6,sleep=off
# limit: 3000
# alone: yes
"""What tests/long/sweep.py and silence.py do to in-tree's driver, done to ours."""
import sweep


def scenario(t):
    sweep.clean(t)
