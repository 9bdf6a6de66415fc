# SPDX-License-Identifier: GPL-2.0-only
# scenario: our modules: opensm brings up four ports, every diagnostic program works, ABI 5 is kept
# kernel: 6.12 6.1
# hcas: 2
# fabric: one pcap
# modules: ours
# limit: 400
# alone: yes
"""The unmodified programs of Debian on ib_core, mlx4_core, mlx4_ib and ib_umad of this repository."""
import re

import subnet
import umad

GROUPS = 128


def nodes(t):
    """What there is in /dev and sysfs."""
    modes = t.vm.sh("stat -c '%n %a %F' /dev/infiniband/*").out.split('\n')[:-1]
    want = [f'/dev/infiniband/{kind}{n} 600 character special file'
            for kind in ('issm', 'umad') for n in range(4)]
    t.equal([x for x in modes if 'umad' in x or 'issm' in x], want, 'umad0-3 and issm0-3, for root alone')
    where = '/sys/class/infiniband_mad'
    t.equal(t.vm.sh(f'cat {where}/abi_version').out, '5\n', 'ABI 5')
    for n in range(4):
        told = t.vm.sh(f'cd {where} && cat umad{n}/ibdev umad{n}/port issm{n}/ibdev issm{n}/port').out.split()
        t.ok(told[:2] == told[2:] and told[1] == str(n % 2 + 1), f'umad{n} and issm{n} are of one port',
             str(told))
        parent = t.vm.sh(f'readlink -f {where}/umad{n}/device /sys/class/infiniband/{told[0]}/device').out
        t.ok(len(set(parent.split())) == 1, f'umad{n} is below the PCI function', parent)
    for kind in ('umad', 'issm'):
        t.ok('ib_umad' in t.vm.sh(f'modprobe -R rdma-client-{kind}').out, f'rdma-client-{kind} is ib_umad')


def caps(t):
    """Which ports say that they have an SM, in the order of umadN."""
    masks = t.vm.sh('for n in 0 1 2 3; do d=/sys/class/infiniband_mad/umad$n; '
                    'cat /sys/class/infiniband/$(cat $d/ibdev)/ports/$(cat $d/port)/cap_mask; done').out
    return [bool(int(x, 16) & 2) for x in masks.split()]


def records(t, mine):
    """More than a hundred records in one answer: some forty segments of the kernel's RMPP."""
    job = t.vm.start_sh(f'exec {umad.TOOL} join umad2 {mine[0]} {GROUPS} >/run/joined')
    t.vm.sh('for i in $(seq 600); do grep -q joined /run/joined && break; sleep 0.1; done', limit=90)
    t.equal(t.vm.sh('cat /run/joined').out, f'joined {GROUPS}\n', f'{GROUPS} groups are joined')
    out = t.vm.sh('saquery MCMR', limit=60).out
    t.ok(out.count('MGID') > GROUPS, f'saquery reads more than {GROUPS} records at once', out[:600])
    t.equal(len(re.findall(r'ff12:1a57:[0-9a-f:]*', out)), GROUPS, 'each of the groups is there once')
    job.stdin(b'')
    job.wait(60)
    t.ok(f'left {GROUPS}' in t.vm.sh('cat /run/joined').out, 'and all are left')


def names(t):
    """The device is renamed under open files and while attributes are read."""
    old = t.vm.sh('cat /sys/class/infiniband_mad/umad0/ibdev').out.strip()
    t.vm.sh(f'rdma dev set {old} name lrname')
    t.equal(t.vm.sh('cat /sys/class/infiniband_mad/umad0/ibdev').out.strip(), 'lrname',
            'ibdev follows a new name')
    t.ok('Active' in t.vm.sh('ibstat lrname 1').out, 'ibstat knows it')
    t.ok('sm lid' in t.vm.sh('sminfo -C lrname -P 1').out, 'sminfo, too')
    t.vm.sh(f'rdma dev set lrname name {old}')


def programs(t):
    link = t.vm.sh('rdma link').out
    t.equal((len(link.splitlines()), link.count('state ACTIVE physical_state LINK_UP')), (4, 4),
            'rdma link: four ports, ACTIVE')
    status = t.vm.sh('ibstatus').out
    t.equal((status.count('4: ACTIVE'), status.count('InfiniBand')), (4, 4), 'ibstatus: four ports')
    # its exit status tells whether there are errors, and the reset of a link has counted some
    errors = t.vm.sh('ibqueryerrors', check=False).out
    t.ok(re.search(r'3 nodes checked', errors), 'ibqueryerrors: two HCAs and a switch', errors)


def scenario(t):
    umad.load(t)
    umad.tool(t)
    nodes(t)
    t.equal(caps(t), [False] * 4, 'no port has an SM')
    sm = subnet.whole(t)
    t.equal(caps(t).count(True), 1, 'opensm has issm of its port open: the port says so')
    umad.points(t, t.vm.sh(f'{umad.TOOL} abi umad0', limit=60).out.splitlines())
    programs(t)
    records(t, subnet.lids(t))
    names(t)
    sm.kill(15)
    sm.wait(30)
    t.equal(caps(t), [False] * 4, 'and no more when opensm has ended')
    umad.unload(t)
    t.equal(umad.audit(t), ['', ''], 'nothing is left in either HCA')
    subnet.capture(t)
