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


def work(t, order):
    ipnet.bring_up(t, order)
    t.ok(ipnet.lossless(ipnet.ping(t, (0, 1), (1, 1))), f'{order}: traffic')
    for a, b in (((0, 1), (1, 1)), ((1, 2), (0, 2))):
        t.vm.start_sh(f'exec ip netns exec {ipnet.space(*b)} iperf3 -s')
        t.vm.start_sh(f'sleep 1; exec ip netns exec {ipnet.space(*a)} iperf3 -t 600 -c '
                      f'{ipnet.address(*b)}')
        t.vm.start_sh(f'exec ip netns exec {ipnet.space(*a)} ping -f {ipnet.address(*b)}')
        name = ipnet.name_in(t, *a)
        t.vm.sh(f'for i in 1 2 3 4 5 6 7 8; do ip -n {ipnet.space(*a)} maddr add '
                f'00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:0a:00:00:0$i dev {name}; done')
    t.vm.sh('sleep 3')
    t.ok('MCG' in ipnet.audit(t, 0), f'{order}: groups are joined', ipnet.audit(t, 0))


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
