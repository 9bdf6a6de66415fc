# SPDX-License-Identifier: GPL-2.0-only
"""An IP network over InfiniBand in one machine: two HCAs with interfaces, each in a net namespace of
its own, and a third HCA for the subnet manager, which so outlives either of the others.

Interface P of HCA H is in namespace `h<H>p<P>` with the addresses 10.1.0.<10 H + P> and
fd01::<10 H + P>. HCAs are found by their root ports: their names and the order of everything may
change whenever one comes back.
"""
import os
import re

import images

SM = 2          # the HCA that opensm uses
PORTS = [(hca, port) for hca in (0, 1, SM) for port in (1, 2)]


def space(hca, port):
    return f'h{hca}p{port}'


def address(hca, port):
    return f'10.1.0.{10 * hca + port}'


def function(t, hca):
    """PCI address of an HCA. Root ports, and so buses, are in the order of the HCAs, all of which
    have to be there at the first call."""
    if not hasattr(t, 'functions'):
        t.functions = t.vm.sh('cd /sys/bus/pci/devices; for f in *; do '
                              '[ "$(cat $f/vendor)" = 0x15b3 ] && echo $f; done; true').out.split()
    return t.functions[hca]


def node(t, hca):
    """The name in QEMU of the card in an HCA's slot; another card has another name."""
    if not hasattr(t, 'nodes'):
        t.nodes = {}
    return t.nodes.get(hca, f'hca{hca}')


def say(t, hca, what, value):
    t.vm.qmp.command('qom-set', path=f'/machine/peripheral/{node(t, hca)}', property=what, value=value)


def audit(t, hca):
    """What the firmware of an HCA still knows of, a line each."""
    return t.vm.qmp.command('qom-get', path=f'/machine/peripheral/{node(t, hca)}', property='audit')


def interfaces(t, hca):
    """Names of an HCA's interfaces in the first namespace: {port: name}. Children are left out, and so is
    what leaves the namespace at this moment."""
    out = t.vm.sh(f'for d in /sys/bus/pci/devices/{function(t, hca)}/net/*; do '
                  '[ -e $d/create_child ] && p=$(cat $d/dev_port) && echo $p ${d##*/}; done; true').out
    return {int(a) + 1: b for a, b in (x.split() for x in out.splitlines())}


def wait_ports(t, want):
    t.vm.sh('for i in $(seq 600); do '
            f'[ "$(cat /sys/class/infiniband/*/ports/*/state | grep -c ACTIVE)" = {want} ] && '
            'exit 0; sleep 0.2; done; exit 1', limit=150)


def wait_interfaces(t, hca, want=2):
    for _ in range(150):
        found = interfaces(t, hca)
        if len(found) == want:
            break
        t.vm.sh('sleep 0.2')
    t.vm.sh('udevadm settle')
    return interfaces(t, hca)


def start_sm(t):
    """opensm on the first port of the third HCA."""
    t.vm.sh('for i in $(seq 600); do [ "$(ls /dev/infiniband/umad* | wc -l)" = 6 ] && exit 0; '
            'sleep 0.1; done; exit 1', limit=90)
    # udev may rename the device between the shell's look and cat's.
    guid = t.vm.sh(f'udevadm settle; for i in $(seq 50); do cat /sys/bus/pci/devices/{function(t, SM)}'
                   '/infiniband/*/ports/1/gids/0 2>/dev/null && exit 0; sleep 0.1; done; exit 1').out
    guid = '0x' + ''.join(guid.strip().split(':')[4:])
    return t.vm.start_sh(f'exec opensm -g {guid} -t 1000 -f /tmp/opensm.log')


def settle_in(t, hca):
    """Put an HCA's interfaces into their namespaces and wait for their carrier."""
    for port, name in sorted(wait_interfaces(t, hca).items()):
        ns = space(hca, port)
        t.vm.sh(f'ip netns add {ns} 2>/dev/null; ip link set {name} netns {ns} && '
                f'ip -n {ns} link set lo up && ip -n {ns} link set {name} up && '
                f'ip -n {ns} addr add {address(hca, port)}/24 dev {name} && '
                f'ip -n {ns} addr add fd01::{10 * hca + port}/64 dev {name} nodad')
    for port in (1, 2):
        carrier(t, hca, port)


def name_in(t, hca, port):
    """Name of an interface in its namespace, or ''."""
    out = t.vm.sh(f'ip -n {space(hca, port)} -br link', check=False).out
    names = [x.split()[0] for x in out.splitlines() if not x.startswith('lo ')]
    return names[0] if names else ''


def carrier(t, hca, port, limit=60):
    """Wait for carrier; returns whether it came."""
    return not t.vm.sh(f'for i in $(seq {limit * 5}); do ip -n {space(hca, port)} link show up | '
                       'grep -q LOWER_UP.*mtu.*20[0-9][0-9] && exit 0; sleep 0.2; done; exit 1',
                       check=False, limit=limit + 20).status


def bring_up(t, modules='mlx4_ib ib_umad ib_ipoib'):
    t.vm.sh('for m in %s; do modprobe $m || exit 1; done' % modules, limit=120)
    sm = start_sm(t)
    wait_ports(t, 6)
    for hca in (0, 1, SM):
        settle_in(t, hca)
    return sm


def ping(t, a, b, count=3, size=56, v6=False):
    """Ping from one interface to another, each (hca, port), until one is lost; returns the result.

    One at a time: once a reply has come, ping waits for the next ones no longer than two round trips or
    an interval, and a machine that waits for a CPU of the host takes longer.
    """
    to = f'fd01::{10 * b[0] + b[1]}' if v6 else address(*b)
    return t.vm.sh(f'for i in $(seq {count}); do ip netns exec {space(*a)} ping -c 1 -W 5 -s {size} {to} || '
                   'exit 1; done', check=False, limit=60)


def lossless(result):
    return not result.status and ' 0% packet loss' in result.out


class Stream:
    """A ping that goes on until it is ended. The two know each other before it begins: what waits
    for the first answer of ARP and of the SA is not what it is about."""

    def __init__(self, t, a, b):
        self.name = f'{space(*a)} to {space(*b)}'
        t.vm.sh(f'for i in $(seq 20); do ip netns exec {space(*a)} ping -c 3 -i 0.2 -W 5 '
                f'{address(*b)} | grep -q " 0% packet loss" && exit 0; done; exit 1', limit=120)
        self.job = t.vm.start_sh(f'exec ip netns exec {space(*a)} '
                                 f'ping -i 0.05 -W 5 {address(*b)}')

    def last(self):
        """The last sequence number that was answered."""
        seen = re.findall(r'icmp_seq=(\d+)', self.job.out[-4000:])
        return int(seen[-1]) if seen else 0

    def goes_on(self, t, more=3):
        """Wait until more packets are answered than were; returns whether they are."""
        at = self.last()
        for _ in range(200):
            if self.last() >= at + more:
                return True
            t.vm.sh('sleep 0.1')
        return False

    def end(self):
        """The last sequence number that was answered, and those before it that were not."""
        self.job.kill(2)
        self.job.wait(30)
        seen = {int(x) for x in re.findall(r'icmp_seq=(\d+)', self.job.out)}
        last = max(seen, default=0)
        return last, sorted(set(range(1, last + 1)) - seen)


def no_loss(t, streams, what):
    """The streams are answered still, and end. What was sent behind the last answer was under way; everything before
    it was answered."""
    for stream in streams:
        on = stream.goes_on(t)
        last, lost = stream.end()
        t.ok(on and last > 20 and not lost, f'{what}: {stream.name} loses nothing',
             f'{last} is the last answer, {"others come" if on else "no other comes"}, not answered: {lost}')


def groups(t, where, how, number):
    """Groups in the lists of all interfaces of a namespace ('': the first); see guest/groups.py. Returns the job."""
    t.vm.put_file(os.path.join(images.REPO, 'tests', 'vm', 'guest', 'groups.py'), '/run/lastref/groups.py')
    enter = f'ip netns exec {where} ' if where else ''
    return t.vm.start_sh(f'exec {enter}python3 /run/lastref/groups.py {how} {number} /run/groups-{where}')


def groups_changed(t, where):
    """How often that has changed a list so far."""
    return int(t.vm.sh(f'cat /run/groups-{where} 2>/dev/null || echo 0').out)


def iperf(t, a, b, seconds=3, extra=''):
    server = t.vm.start_sh(f'exec ip netns exec {space(*b)} iperf3 -s -1')
    t.vm.sh(f'for i in $(seq 100); do ip netns exec {space(*b)} grep -q ":1451 0" /proc/net/tcp* '
            '&& break; sleep 0.1; done')
    got = t.vm.sh(f'ip netns exec {space(*a)} iperf3 -c {address(*b)} -t {seconds} {extra}',
                  check=False, limit=90)
    server.kill()
    return got


def end(t):
    """Everything is unloaded, the manager first, since it holds umad; nothing is left in any HCA."""
    t.vm.sh('killall opensm; for i in $(seq 100); do pidof opensm >/dev/null || break; sleep 0.1; done; '
            'modprobe -r ib_ipoib && modprobe -r ib_umad mlx4_ib mlx4_core', limit=120)
    t.equal([audit(t, hca) for hca in (0, 1, SM)], ['', '', ''], 'nothing is left in any HCA')
