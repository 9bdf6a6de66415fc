# SPDX-License-Identifier: GPL-2.0-only
# scenario: a minute of system calls at random on every node while both HCAs come and go
# kernel: 6.12 6.1 debug
# hcas: 2
# fabric: one
# modules: ours
# limit: 1500
# alone: yes
"""The seed is in the name of a point; UMAD_FUZZ_SEED and UMAD_FUZZ_SECONDS choose others."""
import os
import random
import re

import umad

DRIVER = '/sys/bus/pci/drivers/mlx4_core'


def scenario(t):
    seed = int(os.environ.get('UMAD_FUZZ_SEED', random.randrange(1, 1 << 32)))
    seconds = int(os.environ.get('UMAD_FUZZ_SECONDS', 60))
    umad.load(t)
    umad.tool(t)
    drawn = random.Random(seed)
    job = t.vm.start_sh(f'exec {umad.TOOL} fuzz {seconds} {seed} >/run/fuzz')
    functions = umad.functions(t)
    rounds, worst = 0, 0.0
    while job.status is None:
        one = drawn.choice(functions)
        out = t.vm.sh(f'sleep {drawn.uniform(0, 1):.2f}; a=$(cut -d" " -f1 /proc/uptime); '
                      f'echo {one} >{DRIVER}/unbind; b=$(cut -d" " -f1 /proc/uptime); '
                      f'echo {one} >{DRIVER}/bind; echo $a $b', limit=90).out.split()
        worst = max(worst, float(out[1]) - float(out[0]))
        rounds += 1
    t.equal(job.wait(60).status, 0, f'seed {seed}: every process ends by itself')
    said = t.vm.sh('cat /run/fuzz').out
    done = {name: int(n) for name, n in re.findall(r'(\w+) (\d+)', said)}
    t.ok(done['calls'] > 100 * seconds / 6 and all(done.values()), f'it did something: {said.strip()}', said)
    t.ok(rounds >= 5 and worst <= 15, f'{rounds} removals meanwhile, {worst:.2f} s at most')
    umad.wait_nodes(t)
    umad.unload(t)
    t.equal(umad.audit(t), ['', ''], 'nothing is left in either HCA')
