# SPDX-License-Identifier: GPL-2.0-only
# scenario: IPoIB between net namespaces on different HCAs: ARP, ping of all sizes, TCP both ways
# kernel: 6.12 6.1
# hcas: 2
# fabric: one
# limit: 240
"""In-tree modules; datagram and connected mode, IPv4 and IPv6, iperf3 noted, not judged."""
import json
import re

import ib

SIZES = (8, 56, 1000, 1900, 4000, 20000)


def dropped(t, names):
    """Packets that the driver itself has dropped so far, at both ends: by its count, or with a line in the log."""
    found = sum('failed to re-queue packet' in x for x in t.vm.log.lines())
    for space, name in zip('ab', names):
        link = json.loads(t.vm.sh(f'ip -n {space} -s -j link show dev {name}').out)[0]
        found += link['stats64']['tx']['dropped']
    return found


def pings(t, mode, names):
    """None is lost but what in-tree counts as dropped: while it looks for a path or makes a connection it keeps three
    packets, and on a busy host that may take longer than three pings and a neighbour probe."""
    for address in ('10.1.0.2', 'fd01::2'):
        for size in SIZES:
            before = dropped(t, names)
            got = t.vm.sh(f'ip netns exec a ping -c 3 -i 0.2 -W 5 -s {size} {address}', check=False)
            received = int((re.findall(r'(\d+) received', got.out) or ['0'])[0])
            gone = dropped(t, names) - before if received < 3 else 0
            t.ok(received and received + gone >= 3, f'{mode}: ping {address}, {size} bytes',
                 f'in-tree dropped {gone}\n{got.out}{got.err}')
            if gone:
                t.note(f'{received} of 3, the driver dropped {gone}')


def iperf(t, mode):
    server = t.vm.start_sh('exec ip netns exec b iperf3 -s')
    t.vm.sh('for i in $(seq 50); do ip netns exec b grep -q ":1451 0*:0000 0A" /proc/net/tcp* && break; '
            'sleep 0.1; done')
    for way in ('', ' -R'):
        got = t.vm.sh(f'ip netns exec a iperf3 -c 10.1.0.2 -t 10{way}', check=False, limit=60)
        rates = re.findall(r'([\d.]+ [MGK]?bits/sec)\s+(?:\d+\s+)?(?:sender|receiver)', got.out)
        t.ok(rates and not got.status, f'{mode}: iperf3{way}', got.out + got.err)
        if rates:
            t.note(f'{mode}: iperf3{way}: {rates[-1]}')
    server.kill()


def scenario(t):
    ib.bring_up(t, 'mlx4_ib ib_umad ib_ipoib')
    names = ib.namespaces(t)
    t.equal(len(names), 2, 'an interface for the first port of each HCA')
    pings(t, 'datagram', names)
    neighbours = t.vm.sh('ip -n a neigh').out
    t.ok('10.1.0.2' in neighbours and 'lladdr' in neighbours, 'ARP has the neighbour', neighbours)
    groups = t.vm.sh(f'ip -n a maddr show dev {names[0]}').out
    t.ok('ff:12:40:1b' in groups and '224.0.0.1' in groups, 'multicast groups are joined', groups)
    iperf(t, 'datagram')
    for space, name in zip('ab', names):
        t.vm.sh(f'ip netns exec {space} sh -c "mount -t sysfs s /sys; '
                f'echo connected >/sys/class/net/{name}/mode" && '
                f'ip -n {space} link set {name} mtu 65520')
    pings(t, 'connected', names)
    iperf(t, 'connected')
