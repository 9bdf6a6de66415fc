# SPDX-License-Identifier: GPL-2.0-only
"""The machine goes down under kernel traffic (tests/modules/traffic), and works in the next boot."""
import kexec
import ktraffic
import modules


def boots(t):
    return t.vm.sh('cat /proc/sys/kernel/random/boot_id').out.strip()


def reboot(t):
    t.vm.boot_again('reboot -f')


def poweroff(t):
    t.ok(t.vm.power_off(), 'the machine switches itself off')


WAYS = {'reboot': reboot, 'kexec': kexec.restart, 'poweroff': poweroff}


def go_down(t, ways):
    """One boot after the other, each ended under traffic in one of `ways`."""
    seen = {boots(t)}
    ktraffic.load(t)
    ktraffic.flows(t, ktraffic.zero(), 'first boot')
    for number, way in enumerate(ways, 1):
        what = f'{number}: {way}'
        WAYS[way](t)
        seen.add(boots(t))
        t.equal(t.stage.hcas.violations(), [], f'{what}: no violation of an HCA')
        modules.install(t.vm, modules.ours(t.vm.kernel.name))
        ktraffic.load(t)
        ktraffic.flows(t, ktraffic.zero(), f'after {what}')
    t.equal(len(seen), 1 + len(ways), 'each was a boot of its own')
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal(t.stage.hcas.audits(t.vm), ['', ''], 'nothing is left in either HCA')
