# SPDX-License-Identifier: GPL-2.0-only
"""What scenarios with HCAs begin with: modules, a subnet manager, active ports, IPoIB in two net
namespaces; and pairs of programs."""
import re

import channel

PORTS_ACTIVE = ('for i in $(seq 300); do '
                '[ "$(cat /sys/class/infiniband/*/ports/*/state | grep -c ACTIVE)" = %d ] '
                '&& exit 0; '
                'sleep 0.2; done; exit 1')


def bring_up(t, modules='mlx4_ib ib_umad ib_uverbs', ports=4):
    """Load modules, start opensm, wait for the ports. Returns the names that udev gave the HCAs."""
    t.vm.sh('for m in %s; do modprobe $m || exit 1; done' % modules)
    t.vm.sh(f'for i in $(seq 100); do [ -e /dev/infiniband/umad{ports - 1} ] && break; '
            'sleep 0.1; done')
    t.vm.start_sh('exec opensm -t 1000 -f /tmp/opensm.log')
    t.vm.sh(PORTS_ACTIVE % ports, limit=90)
    return t.vm.sh('ls /sys/class/infiniband').out.split()


def namespaces(t):
    """Put the first port's IPoIB interface of each HCA into net namespaces a and b, with addresses
    10.1.0.1 and fd01::1, 10.1.0.2 and fd01::2. Returns the names of the interfaces."""
    names = t.vm.sh('for d in $(ls /sys/class/infiniband); do for n in $(ls '
                    '/sys/class/infiniband/$d/device/net); do '
                    '[ "$(cat /sys/class/net/$n/dev_port)" = 0 ] && echo $n; done; done; true'
                    ).out.split()
    for space, name, host in zip('ab', names, (1, 2)):
        t.vm.sh(f'ip netns add {space} && ip link set {name} netns {space} && '
                f'ip -n {space} link set lo up && ip -n {space} link set {name} up && '
                f'ip -n {space} addr add 10.1.0.{host}/24 dev {name} && '
                f'ip -n {space} addr add fd01::{host}/64 dev {name} nodad')
    t.vm.sh('for s in a b; do for i in $(seq 100); do '
            'ip -n $s link show up | grep -q "ib.*LOWER_UP" && break; sleep 0.2; done; done')
    return names


def listening(t, port):
    """Wait until something listens on a TCP port of the guest."""
    # state 0A; a connection of a moment ago, in TIME_WAIT, has the same local port
    t.vm.sh(f'for i in $(seq 200); do grep -q ":{port:04X} 0*:0000 0A" /proc/net/tcp* && break; '
            'sleep 0.1; done')


def pair(t, server, client, port, limit=60):
    """Run `server`, then `client` once it listens. Returns both results; a server that stays is
    killed and has no result."""
    job = t.vm.start_sh('exec ' + server)
    listening(t, port)
    got = t.vm.sh(client, check=False, limit=limit)
    try:
        return got, job.wait(40)
    except channel.TimeLimit:
        job.kill()
        return got, None


def words(*results):
    """What both said, for the note of a point that failed."""
    return '\n'.join(x.out + x.err if x is not None else '(killed)' for x in results)


def figures(out):
    """The last line of perftest's table as a list of words: size, iterations, figures."""
    rows = re.findall(r'^\s+\d+ +\d+ +[\d.].*$', out, re.M)
    return rows[-1].split() if rows else []
