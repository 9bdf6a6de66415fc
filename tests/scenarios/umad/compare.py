# SPDX-License-Identifier: GPL-2.0-only
# scenario: MAD round trips, opensm's first ACTIVE and a teardown with 64 groups and queries, beside in-tree
# kernel: 6.12
# hcas: 2
# fabric: one
# cpus: 1
# qemu: -icount shift=3,sleep=off
# append: iomem=relaxed
# limit: 1500
# alone: yes
"""Both stacks in turn on the same two HCAs of one machine: in-tree first, then ours, modules freshly loaded.

The machine has one CPU and virtual time, so that what is counted depends on nothing but the guest: instructions
and virtual nanoseconds between two marks (a register of the second HCA, which never leaves), and firmware
commands. A shell runs between two marks as well, the same for both. UMAD_COMPARE_TRIPS chooses another number of
round trips.
"""
import os

import beside
import umad

TRIPS = int(os.environ.get('UMAD_COMPARE_TRIPS') or 1000)
GROUPS = QUERIES = 64
# What costs more than in-tree: beginning of a figure's name, largest ratio, reason (docs/umad.md).
ITEMS = 'what completes and what has been received are two work items, and each owner is counted on the way'
REASONS = (('instructions for each query of counters', 1.45, ITEMS),
           ('instructions for each ibping', 1.3, ITEMS),
           ('instructions for each perfquery', 1.1, ITEMS))


class Stack(beside.Stack):
    """What is measured, one method each."""

    def port(self, hca):
        """The path of the first port of an HCA."""
        return f'/sys/class/infiniband/{umad.device_of(self.t, self.functions[hca])}/ports/1'

    def lid(self, hca):
        return int(self.t.vm.sh(f'cat {self.port(hca)}/lid').out, 16)

    def subnet(self):
        """Load, start opensm; virtual time until the first port is ACTIVE, and all."""
        umad.load(self.t)
        guid = self.t.vm.sh(f'cat {self.port(1)}/gids/0').out.strip().split(':')[4:]
        self.t.vm.sh(f'mkdir -p /tmp/{self.name}')
        self.t.vm.put(b'sweep_interval 0\n', '/run/sm.conf')
        self.t.vm.sh(f'{self.mark} 1')
        self.sm = self.t.vm.start_sh(
            f'exec env OSM_TMP_DIR=/tmp/{self.name} OSM_CACHE_DIR=/tmp/{self.name} opensm -t 1000 '
            f'-f /tmp/{self.name}/log -F /run/sm.conf -g 0x{"".join(guid)}')
        self.t.vm.sh(f'{umad.TOOL} active 1 && {self.mark} 2', limit=120)
        self.figures['opensm to the first ACTIVE, virtual ms'] = self.took()[0] // 10 ** 6
        self.t.vm.sh(f'{umad.TOOL} active 4 && {self.mark} 2', limit=120)
        self.figures['opensm to the fourth ACTIVE, virtual ms'] = self.took()[0] // 10 ** 6

    def trips(self):
        """Round trips from the first HCA to the second."""
        here, there = self.port(0).split('/')[4], self.port(1).split('/')[4]
        lid, node = self.lid(1), umad.number_of(self.t, self.functions[0])
        out = self.t.vm.sh(f'{umad.TOOL} gets {self.resource} umad{node} {lid} {TRIPS}', limit=300).out
        self.t.equal(out, f'answered {TRIPS}\n', f'{self.name}: {TRIPS} queries of counters are answered')
        self.figures['instructions for each query of counters'] = self.took()[1] // TRIPS
        server = self.t.vm.start_sh(f'exec ibping -S -C {there} -P 1')
        self.t.vm.sh('sleep 1')
        ping = f'ibping -f -c {TRIPS} -C {here} -P 1 {lid} >/run/ibping'
        self.figures['instructions for each ibping'] = self.between(ping, 300)[1] // TRIPS
        said = self.t.vm.sh('cat /run/ibping').out
        self.t.ok(f'{TRIPS} packets transmitted, {TRIPS} received' in said, f'{self.name}: all pings are answered',
                  said[-300:])
        server.kill(15)
        server.wait(30)
        loop = f'for i in $(seq 20); do perfquery -C {here} -P 1 {lid} 1 >/dev/null || exit 1; done'
        # Whatever else runs in the machine at the time can only add to it.
        self.figures['instructions for each perfquery, the program and all'] = min(
            self.between(loop)[1] for _ in range(3)) // 20

    def teardown(self):
        """The first HCA is unbound: 64 groups joined by its IPoIB, 64 queries outstanding, the SM silent."""
        node = umad.number_of(self.t, self.functions[0])
        self.t.vm.sh('modprobe ib_ipoib && udevadm settle')
        name = self.interface(self.functions[0])
        self.t.vm.sh(f'ip link set {name} up && ip addr add 10.1.0.1/24 dev {name} && '
                     f'for i in $(seq 300); do ip link show up {name} | grep -q LOWER_UP && exit 0; sleep 0.1; '
                     'done; exit 1', limit=120)
        self.join_groups(GROUPS)
        self.sm.kill(19)
        lid = self.lid(1)
        holder = self.t.vm.start_sh(f'exec {umad.TOOL} hold umad{node} {lid} {QUERIES} >/run/held')
        self.t.vm.sh('for i in $(seq 100); do grep -q asked /run/held && exit 0; sleep 0.1; done; exit 1')
        before = self.commands()
        ns, instructions = self.between(
            f'echo {self.functions[0]} >/sys/bus/pci/drivers/mlx4_core/unbind', 120)
        self.figures['teardown, firmware commands'] = self.commands() - before
        self.figures['teardown, thousands of instructions'] = instructions // 1000
        self.figures['teardown, virtual ms'] = ns // 10 ** 6
        self.t.equal(umad.audit(self.t)[0], '', f'{self.name}: nothing is left in the HCA')
        for job in (holder, self.sm):
            job.kill(18)
            job.kill()
            job.wait(60)
        self.t.vm.sh(f'echo {self.functions[0]} >/sys/bus/pci/drivers/mlx4_core/bind')

    def measure(self):
        self.subnet()
        self.trips()
        self.teardown()
        self.leave()


def scenario(t):
    umad.tool(t)
    beside.compare(t, Stack, REASONS)
