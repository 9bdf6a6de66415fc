# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine sleeps under kernel traffic between two HCAs, which goes on afterwards
# kernel: 6.12
# image: bzImage
# hcas: 2
# fabric: two
# modules: ours
# limit: 300
# alone: yes
"""X7 under the traffic of mlx4/traffic. TRAFFIC_SLEEPS is how often it sleeps (3)."""
import os

import ktraffic
import sleep


def scenario(t):
    hcas = t.stage.hcas
    ktraffic.load(t)
    ktraffic.flows(t, ktraffic.zero(), 'before any sleep')
    for number in range(1, int(os.environ.get('TRAFFIC_SLEEPS') or '3') + 1):
        before, left = ktraffic.totals(t), []
        slept = sleep.to_ram(t.vm, lambda left=left: left.extend(hcas.audits(t.vm)))
        t.equal(slept, '', f'{number}: the machine sleeps and is woken')
        t.equal(left, ['', ''], f'{number}: asleep, neither HCA has anything of the driver')
        now = ktraffic.flows(t, before, f'{number}')
        t.equal(now['adds'] - now['removes'], 2, f'{number}: two HCAs, each added and removed once')
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal(hcas.audits(t.vm), ['', ''], 'nothing is left in either HCA')
