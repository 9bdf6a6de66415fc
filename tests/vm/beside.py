# SPDX-License-Identifier: GPL-2.0-only
"""Ours beside in-tree, in one machine with virtual time (-icount) on the same emulated HCAs.

What is counted lies between two marks, stores to a register of the second HCA, which never leaves: executed
instructions and virtual nanoseconds are in that HCA's log, firmware commands are counted by each HCA.
"""
import re

import ipnet
import modules
import umad

MARK = re.compile(r'^(\d+) icount=(\d+) .*\bmark (\d+) at')


class Stack:
    """One of the two, and its figures: name -> number."""

    def __init__(self, t, name):
        self.t, self.name, self.figures = t, name, {}
        self.functions = umad.functions(t)
        self.resource = f'/sys/bus/pci/devices/{self.functions[1]}/resource0'
        self.mark = f'{umad.TOOL} mark {self.resource}'

    def marks(self):
        """(virtual ns, instructions) of the last mark 1 and the last mark 2."""
        last = {}
        with open(self.t.stage.hcas.log_path(0, 'hca1'), encoding='utf-8', errors='replace') as log:
            for line in log:
                found = MARK.match(line)
                if found:
                    last[int(found.group(3))] = int(found.group(1)), int(found.group(2))
        return last[1], last[2]

    def took(self):
        """Virtual ns and instructions between the two."""
        begin, end = self.marks()
        return end[0] - begin[0], end[1] - begin[1]

    def between(self, script, limit=120):
        """Run a script between two marks."""
        self.t.vm.sh(f'{self.mark} 1; {script}\n{self.mark} 2', limit=limit)
        return self.took()

    def commands(self, device='hca0'):
        """Firmware commands that an HCA has been given."""
        return sum(int(n) for name, n in re.findall(r'^(\S+) (\d+)', umad.ask(self.t, device, 'counts'), re.M)
                   if name.startswith('cmd.'))

    def interface(self, function):
        """The name of an HCA's interface on its first port, in the first namespace."""
        return self.t.vm.sh(f'for n in /sys/bus/pci/devices/{function}/net/*; do '
                            '[ "$(cat $n/dev_port)" = 0 ] && basename $n; done; true').out.split()[0]

    def join_groups(self, count, space=''):
        """So many groups are in the lists of a namespace's interfaces, and those that are up have joined."""
        ipnet.groups(self.t, space, 'hold', count).wait(60)
        self.joined(count)

    def known(self, test):
        """How many of them the SM knows of, once `test` holds for $n or it has been waited for in vain."""
        return self.t.vm.sh('for i in $(seq 600); do n=$(saquery MCMR 2>/dev/null | grep -ci "ff1.:401b:.*:a00:"); '
                            f'[ "$n" {test} ] && break; sleep 0.2; done; echo $n', limit=300).out.strip()

    def joined(self, count):
        """Wait until the SM knows of so many of them."""
        self.t.equal(self.known(f'-ge {count}'), str(count), f'{self.name}: {count} groups are joined')

    def forgotten(self):
        """Wait until it knows of none."""
        self.t.equal(self.known('= 0'), '0', f'{self.name}: all groups are left')

    def leave(self):
        """Unload everything; udev has loaded more than was asked for, and in-tree has needs of its own."""
        self.t.vm.sh('for i in 1 2 3; do rmmod ib_ipoib rdma_ucm rdma_cm iw_cm ib_cm ib_umad mlx4_ib mlx4_en '
                     'mlx4_core ib_uverbs ib_core; done 2>/dev/null; ! grep ^ib_core /proc/modules', limit=180)


class Ipoib(Stack):
    """Interfaces of the first ports, a and b, each in a namespace of its name: 10.1.0.1 and 10.1.0.2."""

    def begin(self):
        umad.load(self.t)
        self.sm = umad.start_sm(self.t, self.name)
        self.t.ok(umad.wait_active(self.t), f'{self.name}: four ports are ACTIVE')
        self.interfaces()

    def interfaces(self):
        self.t.vm.sh('modprobe ib_ipoib && udevadm settle')
        self.names = {}
        for space, function, host in zip('ab', self.functions, (1, 2)):
            self.names[space] = name = self.interface(function)
            self.t.vm.sh(f'ip netns add {space} 2>/dev/null; ip link set {name} netns {space} && '
                         f'ip -n {space} link set lo up && ip -n {space} link set {name} up && '
                         f'ip -n {space} addr add 10.1.0.{host}/24 dev {name} && {self.has_carrier(space)}',
                         limit=120)

    def has_carrier(self, space):
        return (f'for i in $(seq 3000); do ip -n {space} link show {self.names[space]} | grep -q "LOWER_UP.*mtu 2044" '
                '&& break; sleep 0.01; done')

    def end(self):
        self.sm.kill()
        self.sm.wait(60)
        self.leave()


def measured(t, kind, name):
    stack = kind(t, name)
    stack.measure()
    return stack.figures


def compare(t, kind, reasons):
    """A point for each figure that `kind`, a Stack with a method measure(), takes of in-tree and then of ours: at
    most in-tree's, or a larger bound that has a reason.

    reasons  (beginning of the figure's name, largest ratio, reason)
    """
    theirs = measured(t, kind, 'in-tree')
    modules.install(t.vm, modules.ours(t.vm.kernel.name))
    ours = measured(t, kind, 'ours')
    for name, before in theirs.items():
        bound, reason = next((r[1:] for r in reasons if name.startswith(r[0])), (1, ''))
        t.ok(ours[name] <= bound * before,
             f'{name}: in-tree {before}, ours {ours[name]}, ratio {ours[name] / max(before, 1):.2f}, '
             f'at most {bound}{reason and ", since "}{reason}')
