# SPDX-License-Identifier: GPL-2.0-only
# scenario: the verbs examples move checked data between two HCAs, polling and by events
# kernel: 6.12 6.1
# hcas: 2
# fabric: one
# limit: 180
"""In-tree modules and unmodified programs: RC, UC, UD, SRQ and XRC between the two HCAs."""
import re

import ib

PROGRAMS = ('rc', 'uc', 'ud', 'srq', 'xsrq')
PORT = 18515


def pingpong(t, devices, name, options):
    """Server on the second HCA, client on the first; both say what was moved."""
    base = f'ibv_{name}_pingpong {options} -i 1'
    got, done = ib.pair(t, f'{base} -d {devices[1]}', f'{base} -d {devices[0]} 127.0.0.1', PORT)
    moved = re.search(r'\d+ iters in [\d.]+ seconds|^success', got.out, re.M)
    t.ok(moved and not got.status and done and not done.status, f'ibv_{name}_pingpong {options}',
         ib.words(got, done))
    if moved:
        t.note(f'ibv_{name}_pingpong {options}: {moved.group(0)}')


def scenario(t):
    devices = ib.bring_up(t)
    for name in PROGRAMS:
        for events in ('', ' -e'):
            check = '' if name == 'xsrq' else ' -c'      # it has no such option
            pingpong(t, devices, name, f'-n 200{check}{events}')
    pingpong(t, devices, 'rc', '-n 1000 -s 4096')
