# SPDX-License-Identifier: GPL-2.0-only
# scenario: two machines are two hosts of one subnet: a switch in a process of its own joins them
# kernel: 6.12
# vms: 2
# hcas: 1
# cpus: 1
# fabric: one pcap
# limit: 240
# alone: yes
"""In-tree modules; opensm runs on the first machine only."""
import os
import re
import subprocess

ACTIVE = ('for i in $(seq 300); do [ "$(cat /sys/class/infiniband/*/ports/*/state | '
          'grep -c ACTIVE)" = 2 ] && exit 0; sleep 0.2; done; exit 1')


def lid(vm):
    return int(vm.sh('cat /sys/class/infiniband/*/ports/1/lid').out, 16)


def name(vm):
    return vm.sh('ls /sys/class/infiniband').out.strip()


def bring_up(t):
    for vm in t.vms:
        vm.sh('modprobe mlx4_ib && modprobe ib_umad && modprobe ib_uverbs && '
              'for i in $(seq 100); do [ -e /dev/infiniband/umad1 ] && break; sleep 0.1; done; '
              'udevadm settle', limit=60)
    sm = t.vm.start_sh('exec opensm -t 1000 -f /tmp/opensm.log')
    for n, vm in enumerate(t.vms):
        t.ok(vm.sh(ACTIVE, limit=120, check=False).status == 0,
             f'both ports of machine {n} become ACTIVE',
             vm.sh('cat /sys/class/infiniband/*/ports/*/state').out)
    net = t.vm.sh('ibnetdiscover').out
    t.equal((len(re.findall(r'^Switch\s+36 ', net, re.M)), len(re.findall(r'^Ca\s+2 ', net, re.M))),
            (1, 2), 'ibnetdiscover: one switch and both HCAs')
    return sm


def mads(t):
    one, two = t.vms
    pong = two.start_sh(f'exec ibping -S -C {name(two)} -P 1')
    two.sh('sleep 1')
    out = one.sh(f'ibping -C {name(one)} -P 1 -c 5 {lid(two)}', check=False).out
    pong.kill()
    t.ok('5 packets transmitted, 5 received, 0% packet loss' in out, 'ibping: five of five', out)


def ip(t):
    for n, vm in enumerate(t.vms):
        vm.sh('modprobe ib_ipoib && udevadm settle')
        dev = vm.sh('ls -d /sys/class/net/ib* | head -1 | xargs basename').out.strip()
        vm.sh(f'ip addr add 10.9.0.{n + 1}/24 dev {dev} && ip link set {dev} up')
    out = t.vm.sh('for i in $(seq 60); do ping -c 1 -W 1 10.9.0.2 >/dev/null && break; done; '
                  'ping -c 5 -s 1400 10.9.0.2', limit=90, check=False).out
    t.ok(' 0% packet loss' in out, 'ping over IPoIB between the machines', out)


def bandwidth(t):
    one, two = t.vms
    size, count = 65536, 200
    server = two.start_sh(f'exec ib_send_bw -d {name(two)} -i 1 -F -s {size} -n {count}')
    two.sh('sleep 2')
    out = one.sh(f'ib_send_bw -d {name(one)} -i 1 -F -s {size} -n {count} 10.9.0.2',
                 limit=120, check=False)
    served = server.wait(60)
    t.ok(re.search(rf'^\s*{size}\s+{count}\s', out.out, re.M) and served.status == 0,
         f'ib_send_bw: {count} messages of {size} bytes', out.out + out.err)


def connection(t):
    one, two = t.vms
    for vm in t.vms:
        vm.sh('modprobe rdma_ucm && udevadm settle')
    server = two.start_sh('exec rping -s -a 10.9.0.2 -C 10 -V')
    two.sh('sleep 1')
    out = one.sh('rping -c -a 10.9.0.2 -C 10 -V', limit=60, check=False)
    served = server.wait(30)
    t.ok(out.status == 0 and served.status == 0, 'rping: a connection by rdma_cm, ten rounds',
         out.out + out.err + served.err)


def death(t):
    """The switch dies: the machines see their links go and go on living."""
    t.stage.hcas.kill_switches()
    down = ('for i in $(seq 100); do [ "$(cat /sys/class/infiniband/*/ports/*/state | '
            'grep -c DOWN)" = 2 ] && exit 0; sleep 0.1; done; exit 1')
    for n, vm in enumerate(t.vms):
        t.equal(vm.sh(down, limit=30, check=False).status, 0,
                f'the switch is killed: the links of machine {n} are DOWN')


def revival(t):
    """Another switch takes its place: the machines find it, and a subnet manager brings the ports up."""
    t.stage.hcas.restart_switches()
    t.vm.start_sh('exec opensm -t 1000 -f /tmp/opensm.log')
    for n, vm in enumerate(t.vms):
        t.ok(vm.sh(ACTIVE, limit=120, check=False).status == 0, f'a new switch: both ports of machine {n} are ACTIVE again')
    out = t.vm.sh('for i in $(seq 60); do ping -c 1 -W 1 10.9.0.2 >/dev/null && exit 0; done; exit 1', limit=90, check=False)
    t.equal(out.status, 0, 'ping over IPoIB works again')


def capture(t):
    file = os.path.join(t.stage.folder, 'fabric-a.pcap')

    def count(what):
        done = subprocess.run(['tshark', '-r', file, '-Y', what], capture_output=True, text=True,
                              check=False)
        return len(done.stdout.splitlines())
    t.ok(count('infiniband.lrh') > 500, 'the switch has captured their packets')
    t.equal(count('_ws.malformed'), 0, 'none of them malformed')
    t.ok(count('arp') >= 2 and count('icmp') >= 10, 'ARP and ICMP among them')
    t.ok(count('infiniband.bth.opcode <= 4') >= 3200 and count('infiniband.bth.opcode == 17') > 100,
         'RC: the messages of 64 KiB and their acknowledgements')
    for number, what in ((0x10, 'request'), (0x13, 'reply'), (0x14, 'ready to use')):
        t.ok(count(f'infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == {number}'),
             f'the connection manager\'s {what}')


def scenario(t):
    sm = bring_up(t)
    mads(t)
    ip(t)
    bandwidth(t)
    connection(t)
    sm.kill(15)
    sm.wait(30)
    death(t)
    capture(t)
    revival(t)
    t.vm.sh('killall -9 -w opensm')
    for vm in t.vms:
        vm.sh('rmmod ib_ipoib rdma_ucm ib_umad mlx4_ib mlx4_core')
