# SPDX-License-Identifier: GPL-2.0-only
# scenario: the machine reboots under kernel traffic; no DMA afterwards, and the HCAs work in the next boot
# kernel: 6.12 6.1
# hcas: 2
# fabric: two
# modules: ours
# limit: 300
# alone: yes
"""X6: a forced reboot, twice: no task is asked, only the reboot notifier and .shutdown run."""
import modules
import ktraffic


def boots(t):
    return t.vm.sh('cat /proc/sys/kernel/random/boot_id').out.strip()


def scenario(t):
    seen = {boots(t)}
    ktraffic.load(t)
    ktraffic.flows(t, ktraffic.zero(), 'first boot')
    for number in range(2):
        t.vm.boot_again('reboot -f')
        seen.add(boots(t))
        t.equal(t.stage.hcas.violations(), [], f'reboot {number + 1}: no violation of an HCA')
        modules.install(t.vm, modules.ours(t.vm.kernel.name))
        ktraffic.load(t)
        ktraffic.flows(t, ktraffic.zero(), f'after reboot {number + 1}')
    t.equal(len(seen), 3, 'it was three boots')
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal(t.stage.hcas.audits(t.vm), ['', ''], 'nothing is left in either HCA')
