# SPDX-License-Identifier: GPL-2.0-only
# scenario: reboot and poweroff with interfaces up, groups joined and traffic flowing
# kernel: 6.12
# hcas: 3
# fabric: one
# modules: ours
# limit: 400
# alone: yes
"""The machine goes down with everything in use, with modules loaded in other orders each time."""
import ipnet

ORDERS = ('ib_ipoib mlx4_ib ib_umad', 'mlx4_ib ib_umad ib_ipoib', 'ib_umad ib_ipoib mlx4_ib')


def work(t, order):
    ipnet.bring_up(t, order)
    t.ok(ipnet.lossless(ipnet.ping(t, (0, 1), (1, 1))), f'{order}: traffic')
    for a, b in (((0, 1), (1, 1)), ((1, 2), (0, 2))):
        t.vm.start_sh(f'exec ip netns exec {ipnet.space(*b)} iperf3 -s')
        t.vm.start_sh(f'sleep 1; exec ip netns exec {ipnet.space(*a)} iperf3 -t 600 -c '
                      f'{ipnet.address(*b)}')
        t.vm.start_sh(f'exec ip netns exec {ipnet.space(*a)} ping -f {ipnet.address(*b)}')
    t.vm.sh('sleep 3')


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
