# SPDX-License-Identifier: GPL-2.0-only
# scenario: IPoIB with our modules: addresses, ping of all sizes, TCP, children, ethtool, groups
# kernel: 6.12 6.1
# hcas: 3
# fabric: one
# modules: ours
# limit: 400
"""What users see of an interface and send over it, while nothing goes wrong."""
import re

import ipnet

A, B = (0, 1), (1, 1)
SIZES = (8, 56, 1000, 1900, 4000, 20000)


def shows(t):
    name = ipnet.name_in(t, *A)
    link = t.vm.sh(f'ip -n h0p1 -d link show {name}').out
    t.ok(re.search(r'link/infiniband 00:..:..:..:fe:80(:00){6}(:..){8} '
                   r'brd 00:ff:ff:ff:ff:12:40:1b:ff:ff(:00){6}:ff:ff:ff:ff', link),
         'the address has flags, QPN and GID; broadcast has the partition', link)
    t.ok('mtu 2044' in link and 'ipoib pkey 0xffff mode datagram umcast 0' in link.replace('  ', ' '),
         'MTU of the broadcast group; ip -d shows partition, mode and umcast', link)
    inside = f'ip netns exec h0p1 sh -c "mount -t sysfs s /sys; cd /sys/class/net/{name}; %s"'
    files = t.vm.sh(inside % 'cat mode pkey umcast dev_port dev_id').out.split()
    t.equal(files, ['datagram', '0xffff', '0', '0', '0x0'],
            'sysfs: mode, pkey, umcast, dev_port, dev_id')
    mode = t.vm.sh(inside % 'echo connected >mode && echo taken; cat mode', check=False).out.split()
    t.equal(mode, ['datagram'], 'connected mode is refused')
    t.ok('connected mode is not supported' in t.vm.sh('dmesg | tail -n 20').out, 'and the log says so')
    t.vm.sh(inside % 'echo datagram >mode')


def tools(t):
    name = ipnet.name_in(t, *A)
    inside = f'ip netns exec h0p1 ethtool %s {name}'
    info = t.vm.sh(inside % '-i').out
    t.ok('driver: ib_ipoib' in info and f'bus-info: {ipnet.function(t, 0)}' in info, 'ethtool -i', info)
    stats = t.vm.sh(inside % '-S').out
    t.ok(all(x in stats for x in ('rx_packets', 'tx_packets', 'path_queries', 'joins')),
         'ethtool -S', stats)
    ring = t.vm.sh(f'{inside % "-g"}').out
    t.ok(re.search(r'RX:\s+256', ring) and re.search(r'TX:\s+128', ring), 'ethtool -g', ring)
    t.vm.sh(f'ip netns exec h0p1 ethtool -C {name} rx-usecs 20 rx-frames 8')
    t.ok(re.search(r'rx-usecs:\s+20', t.vm.sh(inside % '-c').out), 'ethtool -C and -c')
    t.vm.sh(f'ip netns exec h0p1 ethtool -G {name} rx 512 tx 256')
    t.ok(ipnet.carrier(t, *A), 'ethtool -G: the carrier is back')
    t.ok(re.search(r'RX:\s+512', t.vm.sh(inside % '-g').out), 'ethtool -G: other sizes')
    # The address is another one: a request that arrives tells the peer.
    t.ok(ipnet.lossless(ipnet.ping(t, A, B, 5)), 'ethtool -G: traffic goes on')
    t.ok('Link detected: yes' in t.vm.sh(f'ip netns exec h0p1 ethtool {name}').out, 'ethtool: link')


PACKET = ('import socket; s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0); '
          's.bind(("{name}", 0x0800)); s.send(bytes(50))')


def packet_socket_without_an_address(t):
    """It has nowhere to send to, and used to be a NULL pointer."""
    name = ipnet.name_in(t, *A)
    got = t.vm.sh(f"ip netns exec h0p1 python3 -c '{PACKET.format(name=name)}'", check=False)
    t.ok(got.status and 'Errno 22' in got.err, 'a packet socket without an address is refused', got.err)


def sends(t):
    for size in SIZES:
        for v6 in (False, True):
            got = ipnet.ping(t, A, B, 3, size, v6)
            t.ok(ipnet.lossless(got), f'ping{6 if v6 else 4}, {size} bytes', got.out + got.err)
    for extra in ('', '-R', '-u -b 20M'):
        got = ipnet.iperf(t, A, B, 3, extra)
        t.ok(not got.status and 'receiver' in got.out, f'iperf3 {extra}', got.out + got.err)
        rate = re.findall(r'([\d.]+ [MGK]?bits/sec)', got.out)
        t.note(rate[-1] if rate else '')
    name = ipnet.name_in(t, *A)
    stats = t.vm.sh(f'ip netns exec h0p1 ethtool -S {name}').out
    t.ok(int(re.search(r'tx_tso: (\d+)', stats).group(1)) > 0, 'large packets are cut by the HCA', stats)
    link = t.vm.sh(f'ip -n h0p1 -s link show {name}').out
    t.ok(re.search(r'RX:.*\n\s+[1-9]\d+ +[1-9]\d+ +0 ', link), 'ip -s: packets and no error', link)


def groups(t):
    """Multicast, received by one who has joined, sent by one who has not."""
    name = ipnet.name_in(t, *B)
    maddr = t.vm.sh(f'ip -n h1p1 maddr show dev {name}').out
    t.ok('12:40:1b' in maddr and '224.0.0.1' in maddr, 'groups are in the list', maddr)
    t.vm.sh('ip netns exec h1p1 sysctl -q net.ipv4.icmp_echo_ignore_broadcasts=0')
    sender = ipnet.name_in(t, *A)
    got = t.vm.sh(f'ip netns exec h0p1 ping -c 3 -i 0.3 -W 5 -I {sender} 224.0.0.1', check=False)
    t.ok('bytes from 10.1.0.11' in got.out, 'ping 224.0.0.1 is answered by the other', got.out)
    got = t.vm.sh('ip netns exec h0p1 ping -b -c 3 -i 0.3 -W 5 10.1.0.255', check=False)
    t.ok('bytes from 10.1.0.11' in got.out, 'broadcast ping is answered', got.out)


def children(t):
    name = ipnet.name_in(t, *A)
    t.vm.sh(f'ip -n h0p1 link add link {name} name kid type ipoib pkey 0x8001')
    out = t.vm.sh('ip -n h0p1 -d link show kid').out
    t.ok('pkey 0x8001' in out and f'kid@{name}' in out, 'ip link add ... type ipoib', out)
    again = t.vm.sh('ip -n h0p1 link add link kid name grandkid type ipoib pkey 0x8002', check=False)
    t.ok(again.status and 'child' in again.err, 'no child of a child', again.err)
    zero = t.vm.sh(f'ip -n h0p1 link add link {name} name z type ipoib pkey 0x8000', check=False)
    t.ok(zero.status, 'no partition 0', zero.err)
    conn = t.vm.sh(f'ip -n h0p1 link add link {name} name c type ipoib mode connected', check=False)
    t.ok(conn.status and 'connected mode is not supported' in conn.err, 'no connected child', conn.err)
    t.vm.sh('ip -n h0p1 link set kid up; ip -n h0p1 link del kid')
    # A second interface in the same partition, which is there: it carries traffic.
    for (hca, port), host in ((A, 1), (B, 2)):
        space, parent = ipnet.space(hca, port), ipnet.name_in(t, hca, port)
        t.vm.sh(f'ip -n {space} link add link {parent} name kid type ipoib && '
                f'ip -n {space} link set kid up && ip -n {space} addr add 10.9.0.{host}/24 dev kid')
    got = t.vm.sh('for i in $(seq 100); do ip -n h0p1 link show kid | grep -q LOWER_UP && '
                  'ip -n h1p1 link show kid | grep -q LOWER_UP && break; sleep 0.2; done; '
                  'ip netns exec h0p1 ping -c 3 -i 1 -W 5 10.9.0.2', check=False)
    t.ok(ipnet.lossless(got), 'children carry traffic', got.out + got.err)
    t.vm.sh('ip -n h0p1 link del kid; ip -n h1p1 link del kid')
    inside = f'ip netns exec h0p1 sh -c "mount -t sysfs s /sys; cd /sys/class/net/{name}; %s"'
    t.vm.sh(inside % 'echo 0x8003 >create_child')
    child = f'{name[:10]}.8003'
    t.equal(t.vm.sh(f'ip netns exec h0p1 sh -c "mount -t sysfs s /sys; '
                    f'cat /sys/class/net/{child}/parent"').out.strip(), name, 'create_child')
    twice = t.vm.sh(inside % 'echo 0x8003 >create_child', check=False)
    t.ok(twice.status, 'create_child: once only', twice.err)
    t.vm.sh(inside % 'echo 0x8003 >delete_child')
    gone = t.vm.sh(f'for i in $(seq 50); do ip -n h0p1 link show {child} >/dev/null 2>&1 || exit 0; '
                   'sleep 0.1; done; exit 1', check=False)
    t.ok(not gone.status, 'delete_child')


def namespaces(t):
    """B107: the namespace of an interface ends; the interface is back in the first, its child is not."""
    name = ipnet.name_in(t, 1, 2)
    t.vm.sh(f'ip -n h1p2 link add link {name} name orphan type ipoib; ip netns del h1p2')
    back = t.vm.sh(f'for i in $(seq 100); do [ -e /sys/class/net/{name} ] && exit 0; sleep 0.1; done; '
                   'exit 1', check=False)
    t.ok(not back.status, 'B107: the interface is back in the first namespace')
    t.ok(not t.vm.sh('ip -br link').out.count('orphan'), 'B107: its child is gone')


def scenario(t):
    ipnet.bring_up(t)
    shows(t)
    sends(t)
    packet_socket_without_an_address(t)
    tools(t)
    groups(t)
    children(t)
    namespaces(t)
    gone = t.vm.sh('modprobe -r ib_ipoib', check=False, limit=60)
    t.equal(gone.status, 0, 'rmmod ib_ipoib under nobody\'s nose')
    left = t.vm.sh('for n in $(ip netns list | cut -d" " -f1); do ip -n $n -br link; done; '
                   'ip -br link').out
    t.ok('infiniband' not in left and not re.search(r'^ib', left, re.M), 'no interface is left', left)
    t.vm.sh('pkill opensm; for i in $(seq 50); do pgrep opensm >/dev/null || break; sleep 0.1; done; '
            'modprobe -r ib_umad mlx4_ib mlx4_core', limit=90)
    t.equal([ipnet.audit(t, hca) for hca in range(3)], ['', '', ''], 'nothing is left in any HCA')
