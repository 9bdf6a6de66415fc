# SPDX-License-Identifier: GPL-2.0-only
# scenario: what our mlx4 and the kernel's own cost on the same HCA, from bind to registered and from unbind to gone
# kernel: 6.12
# hcas: 1
# fabric: none
# modules: ours
# cpus: 1
# limit: 600
# alone: yes
"""Two runs of the same stock kernel under -icount, one driver in each, the other things equal.

One CPU, two vectors, no mlx4_en, the same limits. The modules are loaded and have bound and unbound once before
anything is counted; marks in the HCA's log stand at the write to bind and at its return, and so for unbind.
"""
import os
import re

import alone
import images
import modules
from alone import B

# What in-tree, which has no parameters for them any more, starts with on a machine of this size.
LIMITS = 'log_num_qp=18 log_num_srq=16 log_num_cq=16 log_num_mpt=19 log_num_mtt=20'
ORDER = ('ib_core', 'mlx4_core', 'mlx4_ib')
MARK = 0xf0ff4
REST = 60  # seconds: what boot and loading have left running must not be counted with a driver


def script(names, parameters=''):
    """Load, unbind; then bind and unbind between marks 1 and 2, 3 and 4; then bind and stay."""
    def mark(number):
        word = int.from_bytes(number.to_bytes(4, 'big'), 'little')
        return f'{B} devmem $(( $(bar) + {MARK} )) 32 {word:#x}'

    def free(name):
        return [f'{B} sync; echo 3 >/proc/sys/vm/drop_caches; {B} sleep 1; echo 3 >/proc/sys/vm/drop_caches',
                f'echo {name} $({B} sed -n "s/MemFree: *//p" /proc/meminfo)']
    driver = '/sys/bus/pci/drivers/mlx4_core'
    return ['bar() { read -r first rest </sys/bus/pci/devices/$d/resource; echo $first; }',
            *(f'{B} insmod /m/{n}.ko {parameters if n == "mlx4_core" else ""}' for n in names),
            f'd=$({B} basename {driver}/0*)',
            f'echo $d >{driver}/unbind', f'{B} sleep {REST}', *free('before'),
            mark(1), f'echo $d >{driver}/bind', mark(2),
            f'echo registered $({B} ls /sys/class/infiniband)', *free('after'),
            mark(3), f'echo $d >{driver}/unbind', mark(4),
            f'echo gone $({B} ls /sys/class/infiniband)', f'echo $d >{driver}/bind',
            f'echo {alone.DONE}', f'while :; do {B} sleep 1000; done']


def machine(t, name, paths, parameters=''):
    names = [os.path.basename(path).split('.')[0] for path in paths]
    return alone.first_file_system(t.stage.folder, name, paths, script(names, parameters))


def in_tree(t, kern):
    return machine(t, 'in-tree', alone.stock_modules(kern, ('mlx4_core', 'mlx4_ib')))


def ours(t, kern):
    built = {os.path.basename(path).split('.')[0]: path for path in modules.ours('6.12')}
    needs = [n for name in ORDER for n in modules.needs(built[name]) if n not in built]
    return machine(t, 'ours', alone.stock_modules(kern, needs) + [built[name] for name in ORDER], LIMITS)


class Cost:
    """What one run says between its marks."""

    def __init__(self, run):
        self.run, self.marks, commands = run, {}, []
        for line in run.log.splitlines():
            found = re.match(r'(\d+) icount=(\d+) hca: (?:mark (\d+) at|(\w+) \w+\.\w+ mod )', line)
            if not found:
                continue
            ns, insns = int(found[1]), int(found[2])
            if found[3]:
                self.marks[int(found[3])] = (ns, insns, len(commands))
            else:
                commands.append(found[4])
        self.commands = commands

    def between(self, first, last):
        """Commands, instructions and seconds asleep."""
        a, b = self.marks[first], self.marks[last]
        insns = b[1] - a[1]
        return b[2] - a[2], insns, (b[0] - a[0] - insns * alone.NS_PER_INSN) / 1e9

    def free(self, when):
        return int(re.search(rf'^{when} (\d+) kB', self.run.text, re.M)[1])

    def icm_pages(self):
        """What the audit of the bound HCA names as mapped to its ICM."""
        return sum(int(x) for x in re.findall(r'^ICM.*?(\d+) pages', self.run.audit, re.M))


def whole(t, cost, who):
    text = cost.run.text
    t.ok(alone.DONE in text, f'{who}: the run came to its end', text[-800:])
    t.ok(re.search(r'^registered mlx4_0', text, re.M) and re.search(r'^gone\s*$', text, re.M),
         f'{who}: registered after bind, gone after unbind', text[-800:])
    t.equal(sorted(cost.marks), [1, 2, 3, 4], f'{who}: all marks')


def compare(t, what, mine, theirs, most=1.0):
    ratio = mine / theirs if theirs else float(mine > 0)
    t.note(f'{what}: ours {mine:,}, in-tree {theirs:,}, ratio {ratio:.2f}')
    t.ok(ratio <= most, f'{what}: at most {most:g} of in-tree', f'{ratio:.3f}')


def scenario(t):
    kern = images.kernel('6.12')
    costs = []
    for name, make in (('in-tree', in_tree), ('ours', ours)):
        costs.append(Cost(alone.Run(t, kern, make(t, kern), f'compare-{name}', ',vectors=2')))
        whole(t, costs[-1], name)
    theirs, mine = costs
    (c0, i0, s0), (c1, i1, s1) = (x.between(1, 2) for x in (theirs, mine))
    compare(t, 'firmware commands from bind to registered', c1, c0)
    compare(t, 'guest instructions from bind to registered', i1, i0)
    compare(t, 'seconds asleep from bind to registered', round(s1, 3), round(s0, 3))
    (c0, i0, s0), (c1, i1, s1) = (x.between(3, 4) for x in (theirs, mine))
    compare(t, 'firmware commands from unbind to gone', c1, c0)
    compare(t, 'guest instructions from unbind to gone', i1, i0)
    compare(t, 'memory in use after bind, KiB', mine.free('before') - mine.free('after'),
            theirs.free('before') - theirs.free('after'), 0.5)
    compare(t, 'ICM pages of that', mine.icm_pages(), theirs.icm_pages(), 0.5)
