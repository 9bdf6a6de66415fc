# SPDX-License-Identifier: GPL-2.0-only
# scenario: iperf3 over IPoIB, ours and in-tree in turn on the same HCAs; the median of the ratios of 5
# kernel: 6.12
# hcas: 2
# fabric: one
# limit: 1200
# alone: yes
"""On a host that does other things as well: a figure, not a proof. IPOIB_THROUGHPUT_SECONDS is the length of a run."""
import json
import os
import statistics

import beside
import modules
import umad

SECONDS = int(os.environ.get('IPOIB_THROUGHPUT_SECONDS') or 5)
RUNS = 5


def rate(t, name):
    """Mbit/s that arrive."""
    stack = beside.Ipoib(t, name)
    stack.begin()
    server = t.vm.start_sh('exec ip netns exec b iperf3 -s -1')
    t.vm.sh('for i in $(seq 100); do ip netns exec b grep -q ":1451 0" /proc/net/tcp* && break; sleep 0.1; done')
    got = t.vm.sh(f'ip netns exec a iperf3 -J -c 10.1.0.2 -t {SECONDS}', limit=120)
    server.kill()
    stack.end()
    return json.loads(got.out)['end']['sum_received']['bits_per_second'] / 1e6


def scenario(t):
    umad.tool(t)
    mine = modules.ours(t.vm.kernel.name)
    ratios = []
    for number in range(1, RUNS + 1):
        theirs = rate(t, f'in-tree{number}')
        modules.install(t.vm, mine)
        ours = rate(t, f'ours{number}')
        t.vm.sh('rm -rf /lib/modules/$(uname -r)/updates; depmod')
        ratios.append(ours / theirs)
        t.ok(ours > 0, f'run {number}: both carry a stream')
        t.note(f'run {number}: in-tree {theirs:.0f}, ours {ours:.0f} Mbit/s, ratio {ratios[-1]:.2f}')
    t.ok(len(ratios) == RUNS, f'iperf3: the median of {RUNS} alternating runs is {statistics.median(ratios):.2f}')
