# SPDX-License-Identifier: GPL-2.0-only
# scenario: perftest moves all sizes by all operations between two HCAs, multicast too
# kernel: 6.12 6.1
# hcas: 2
# fabric: one
# limit: 400
"""In-tree modules and unmodified programs; figures are noted, not judged."""
import ib

RUNS = (
    ('ib_send_bw', '-a -n 50'), ('ib_write_bw', '-a -n 50'), ('ib_read_bw', '-a -n 50'),
    ('ib_atomic_bw', '-n 50'), ('ib_send_lat', '-n 50 -s 64'), ('ib_write_lat', '-n 50 -s 64'),
    ('ib_read_lat', '-n 50 -s 64'), ('ib_send_bw', '-n 50 -c UC -s 4096'),
    ('ib_send_bw', '-n 50 -c UD -s 1024'), ('ib_send_bw', '-n 50 -c UD -g -s 1024'),
    ('ib_write_bw', '-n 50 -q 4 -s 16384'), ('ib_send_bw', '-n 50 -e -s 4096'),
    ('ib_send_bw', '-n 50 -b -s 4096'), ('ib_write_bw', '-n 1000 -s 65536'),
)
PORT = 18515


def run(t, devices, name, options):
    base = f'{name} {options} -i 1'
    got, done = ib.pair(t, f'{base} -d {devices[1]}', f'{base} -d {devices[0]} 127.0.0.1', PORT,
                        120)
    row = ib.figures(got.out)
    t.ok(row and not got.status and done and not done.status, f'{name} {options}',
         ib.words(got, done))
    if row:
        t.note(f'{name} {options}: ' + ' '.join(row))


def scenario(t):
    devices = ib.bring_up(t)
    for name, options in RUNS:
        run(t, devices, name, options)
