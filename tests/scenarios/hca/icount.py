# SPDX-License-Identifier: GPL-2.0-only
# scenario: under -icount two runs of one workload are equal, to the instruction
# kernel: 6.12
# hcas: 1
# fabric: none
# cpus: 1
# limit: 600
# alone: yes
"""In-tree mlx4 is loaded, used and unloaded in a machine of its own."""
import os

import alone
import images
from alone import B

# The fifth MAD_IFC answers 20 ms late: a fault script is as much part of a run as the workload.
SCRIPT = ',faults=cmd:0x24+nth=5+delay=20000000'
MODULES = ('mlx4_core', 'mlx4_ib', 'ib_umad', 'ib_uverbs', 'ib_ipoib')


def workload(t, kern):
    paths = alone.stock_modules(kern, MODULES)
    names = [os.path.basename(path).split('.')[0] for path in paths]
    return alone.first_file_system(t.stage.folder, 'icount', paths, [
        *(f'{B} insmod /m/{n}.ko' for n in names),
        f'{B} cat /sys/class/infiniband/mlx4_0/ports/*/gids/0 /sys/class/infiniband/mlx4_0/hw_counters/*',
        *(f'{B} rmmod {n}' for n in reversed(names)),
        f'{B} echo {alone.DONE}', f'{B} poweroff -f'])


def scenario(t):
    kern = images.kernel('6.12')
    initrd = workload(t, kern)

    def run(number, extra=''):
        return alone.Run(t, kern, initrd, f'icount{number}', SCRIPT + extra, 'reboot: Power down')
    first, second = run(1), run(2)
    log = first.log
    t.ok(alone.DONE in first.text, 'the workload ran to its end', first.text[-800:])
    t.ok('icount=' in log and 'UNMAP_FA' in log, 'the log has every command with its instruction count', log[-400:])
    t.ok('cmd.MAD_IFC ' in first.counts, 'the counts can be read afterwards', first.counts)
    t.equal(log.count('fault: '), 1, 'the fault that was given at the start struck once')
    t.equal(first.audit, '', 'nothing is left in the HCA')
    t.ok(second.log == log, 'the second run gives the same log, to the instruction',
         next((f'{a}\n{b}' for a, b in zip(log.splitlines(), second.log.splitlines()) if a != b), 'length'))
    t.equal(second.counts, first.counts, 'and the same counts')
    lax = run(3, ',strict=off')
    t.ok(lax.log == log and lax.counts == first.counts, 'without strict mode the guest does exactly the same')
    t.note(f'cost of strict mode: {first.cpu:.1f} and {second.cpu:.1f} s of CPU with it, {lax.cpu:.1f} s without')
    t.note(f'instructions up to the last command: {log.splitlines()[-1].split()[1]}')
