# SPDX-License-Identifier: GPL-2.0-only
# scenario: IPoIB beside in-tree: instructions for each packet, down and up and unload with 64 groups, memory
# kernel: 6.12
# hcas: 2
# fabric: one
# cpus: 1
# qemu: -icount shift=3,sleep=off
# append: iomem=relaxed
# limit: 1200
# alone: yes
"""Both stacks in turn on the same two HCAs of one machine, each freshly loaded. Sender and receiver are on one
CPU, so that a packet's instructions are those of both ends. IPOIB_COMPARE_PACKETS chooses another number.
"""
import glob
import os
import re

import beside
import images
import umad

PACKETS = int(os.environ.get('IPOIB_COMPARE_PACKETS') or 5000)
STREAM = 8 << 20
SEGMENT = 2044 - 52                                     # of a stream, at the broadcast group's MTU
GROUPS = 64
CHILDREN = 8
FLOW = '/run/lastref/flow'
# What costs more than in-tree: beginning of a figure's name, largest ratio, reason (docs/performance.md).
REASONS = (('instructions for each segment', 1.15, 'the kernel clears pages, and how many a stream finds free again is chance'),
           ('up until carrier', 1.15, 'the SM has the same CPU, a trip to it is more than the difference'))


def flow_tool(t):
    files = sorted(glob.glob(os.path.join(images.REPO, 'tests', 'ipoib', '*.c')))
    t.vm.put_file(images.program('flow', files, '-static'), FLOW)
    t.vm.sh(f'chmod 755 {FLOW}')


class Stack(beside.Ipoib):
    """What is measured, one method each."""

    def least(self, command):
        """Instructions between the marks of the cheapest of three runs: what else goes on, and packets that happen
        to come one by one, can only add."""
        counts = []
        for _ in range(3):
            self.t.vm.sh(command, limit=300)
            counts.append(self.took()[1])
        return min(counts)

    def packets(self):
        for a, b, host in (('a', 'b', 2), ('b', 'a', 1)):
            sink = self.t.vm.start_sh(f'exec ip netns exec {b} {FLOW} sink 7000')
            self.t.vm.sh(f'for i in $(seq 100); do ip netns exec {b} grep -q ":1B58 0*:0000 0A" /proc/net/tcp && '
                         'exit 0; sleep 0.1; done; exit 1')
            inside = f'ip netns exec {a} {FLOW}'
            self.figures[f'instructions for each datagram of 64 bytes, {a} to {b}'] = self.least(
                f'{inside} udp {self.resource} 10.1.0.{host} 7000 {PACKETS} 64') // PACKETS
            # Once for the code and the windows, then counted.
            self.t.vm.sh(f'{inside} tcp - 10.1.0.{host} 7000 {STREAM // 8}')
            self.figures[f'instructions for each segment of a stream, {a} to {b}'] = self.least(
                f'{inside} tcp {self.resource} 10.1.0.{host} 7000 {STREAM}') * SEGMENT // STREAM
            sink.kill()
            sink.wait(30)

    def down_up(self):
        name = self.names['a']
        before = self.commands()
        took = self.between(f'ip -n a link set {name} down')
        self.figures[f'down with {GROUPS} groups, virtual ms'] = took[0] // 10 ** 6
        self.figures[f'down with {GROUPS} groups, firmware commands'] = self.commands() - before
        # Its program answers leaves that one stack waits for and the other does not: it is to have done so.
        self.forgotten()
        before = self.commands()
        took = self.between(f'ip -n a link set {name} up; {self.has_carrier("a")}')
        self.figures['up until carrier, virtual ms'] = took[0] // 10 ** 6
        self.joined(GROUPS)
        self.figures[f'up with {GROUPS} groups, firmware commands'] = self.commands() - before

    def unload(self):
        before = self.commands()
        took = self.between('rmmod ib_ipoib', 120)
        self.figures[f'rmmod with {GROUPS} groups, virtual ms'] = took[0] // 10 ** 6
        self.figures[f'rmmod with {GROUPS} groups, firmware commands'] = self.commands() - before
        self.figures[f'rmmod with {GROUPS} groups, thousands of instructions'] = took[1] // 1000

    def free_kib(self):
        out = self.t.vm.sh('sync; echo 3 >/proc/sys/vm/drop_caches; sleep 0.5; echo 3 >/proc/sys/vm/drop_caches; '
                           'cat /proc/meminfo').out
        return int(re.search(r'MemFree:\s+(\d+)', out).group(1))

    def memory(self):
        """Children that are up, on the first interface."""
        self.interfaces()
        name = self.names['a']
        before = self.free_kib()
        self.t.vm.sh(f'for i in $(seq {CHILDREN}); do ip -n a link add link {name} name kid$i type ipoib && '
                     'ip -n a link set kid$i up || exit 1; done; for i in $(seq 300); do '
                     f'[ "$(ip -n a link show up | grep -c "kid.*LOWER_UP")" = {CHILDREN} ] && exit 0; sleep 0.1; '
                     'done; exit 1', limit=120)
        self.figures['memory of an interface that is up, KiB'] = (before - self.free_kib()) // CHILDREN

    def measure(self):
        self.begin()
        self.packets()
        self.join_groups(GROUPS, 'a')
        self.down_up()
        self.unload()
        self.memory()
        self.end()


def scenario(t):
    umad.tool(t)
    flow_tool(t)
    beside.compare(t, Stack, REASONS)
