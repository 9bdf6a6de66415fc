# SPDX-License-Identifier: GPL-2.0-only
# scenario: report 3: reboot and poweroff with interfaces up, groups joined, traffic flowing, modules in any order
# kernel: 6.12 debug
# hcas: 3
# fabric: one
# modules: ours
# limit: 500
# alone: yes
"""What was reported: a machine with IPoIB in use hung when it was to go down, depending on which module had
been loaded first. Nothing is told to go before: the machine goes down with everything in use."""
import ipnet

ORDERS = ('ib_ipoib mlx4_ib ib_umad', 'mlx4_ib ib_umad ib_ipoib', 'ib_umad ib_ipoib mlx4_ib')

GROUPS = 8


def work(t, order):
    ipnet.bring_up(t, order)
    t.ok(ipnet.lossless(ipnet.ping(t, (0, 1), (1, 1))), f'{order}: traffic')
    before = [joined(t, hca) for hca in (0, 1)]
    for a, b in (((0, 1), (1, 1)), ((1, 2), (0, 2))):
        t.vm.start_sh(f'exec ip netns exec {ipnet.space(*b)} iperf3 -s')
        t.vm.start_sh(f'sleep 1; exec ip netns exec {ipnet.space(*a)} iperf3 -t 600 -c '
                      f'{ipnet.address(*b)}')
        t.vm.start_sh(f'exec ip netns exec {ipnet.space(*a)} ping -f {ipnet.address(*b)}')
        held = ipnet.groups(t, ipnet.space(*a), 'hold', GROUPS).wait(60)
        t.equal((held.status, ipnet.groups_changed(t, ipnet.space(*a))), (0, GROUPS),
                f'{order}: {GROUPS} groups are in the list of {ipnet.space(*a)}')
    for hca in (0, 1):
        have = joined(t, hca, before[hca] + GROUPS)
        t.ok(have >= before[hca] + GROUPS, f'{order}: HCA {hca} is in these groups, too', f'{before[hca]}, then {have}')


def joined(t, hca, want=0):
    """Groups of which an HCA knows members, once they are so many as is wanted, or for long not."""
    for _ in range(50):
        have = ipnet.audit(t, hca).count('MCG')
        if have >= want:
            break
        t.vm.sh('sleep 0.2')
    return have


def scenario(t):
    t.vm.sh('sync')
    for n, order in enumerate(ORDERS):
        work(t, order)
        if n == len(ORDERS) - 1:
            t.ok(t.vm.power_off(), f'{order}: the power goes off')
        else:
            t.vm.boot_again('exec reboot -f')
            t.ok(True, f'{order}: it reboots')
        t.equal(t.stage.hcas.violations(), [], f'{order}: no violation')
    t.equal(t.vm.sh('ls /sys/class/net | grep -c ^ib', check=False).out.strip(), '0',
            'the machine is up again')
