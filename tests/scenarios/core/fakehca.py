# SPDX-License-Identifier: GPL-2.0-only
# scenario: ib_core alone: the rdma tool, libibverbs, sysfs and udev see HCAs that a test module plays
# kernel: 6.12 6.1 debug
# modules: ours
# limit: 300
# alone: yes
"""The kernel's in-tree ib_core is replaced by ours; nothing but a software provider is on it."""
import fake


def tool(t):
    dev = t.vm.sh('rdma dev show').out
    t.equal(len(dev.splitlines()), 2, 'rdma dev show: two devices')
    t.ok('node_type ca fw 2.42.5000 node_guid 0002:c903:00a1:b2c0 sys_image_guid '
         '0002:c903:00a1:b2c3' in dev, 'rdma dev show: what they are', dev)
    link = t.vm.sh('rdma link show').out
    t.equal(len(link.splitlines()), 4, 'rdma link show: four ports')
    t.ok('subnet_prefix fe80:0000:0000:0000 lid 17 sm_lid 1 lmc 0 state ACTIVE physical_state '
         'LINK_UP' in link, 'rdma link show: what they are like', link)
    res = t.vm.sh('rdma resource show').out
    t.ok(res.count('pd 1 cq 1 qp 1 cm_id 0 mr 1 ctx 0 srq 0') == 2,
         'rdma resource show: what the client made', res)
    qps = t.vm.sh('rdma resource show qp').out
    t.ok(qps.count('type UD state RESET') == 2, 'rdma resource show qp: two QPs', qps)
    t.ok(qps.count('comm [fake_client]') == 2, 'rdma resource show qp: and whose', qps)
    for name in ('cq', 'mr', 'pd'):
        out = t.vm.sh(f'rdma resource show {name}').out
        t.ok(out.count('comm [fake_client]') == 2, f'rdma resource show {name}: two', out)
    for name in ('cm_id', 'ctx', 'srq'):
        out = t.vm.sh(f'rdma resource show {name}').out
        t.equal(out, '', f'rdma resource show {name}: none')
    t.ok('netns shared' in t.vm.sh('rdma system').out, 'rdma system: namespaces are shared')


def names(t):
    t.vm.sh('rdma dev set vfake_0 name ibfake')
    t.equal(sorted(t.vm.sh('ls /sys/class/infiniband').out.split()), ['ibfake', 'vfake_1'],
            'a device is renamed')
    t.ok(t.vm.sh('rdma dev set vfake_1 name ibfake', check=False).status != 0,
         'not to a name that is taken')
    t.vm.sh('rdma dev set ibfake name vfake_0')


def programs(t):
    t.equal(t.vm.sh('ibstat -l').out.split(), ['vfake_0', 'vfake_1'], 'ibstat -l lists both')
    stat = t.vm.sh('ibstat vfake_1').out
    t.ok((stat.count('State: Active'), stat.count('Rate: 56')) == (2, 2),
         'ibstat reads its ports', stat)
    t.ok("CA type: MT4099" in stat, 'ibstat reads its type', stat)
    t.equal(t.vm.sh('ibv_devices').status, 0, 'ibv_devices runs')
    files = t.vm.sh('cd /sys/class/infiniband/vfake_0 && find . -type f | grep -v uevent | '
                    'grep -v power | wc -l').out
    t.ok(int(files) >= 60, 'sysfs has the files of a device and two ports', files)
    t.vm.sh('for f in $(find /sys/class/infiniband/vfake_0/ports -type f '
            '! -path "*/gid_attrs/*"); do cat $f >/dev/null || exit 1; done')
    t.ok(True, 'and each of them can be read')


def comes_and_goes(t):
    """One HCA leaves and comes back under its name while the other stays; readers run meanwhile."""
    loop = t.vm.start_sh('while :; do rdma dev; rdma link; rdma res show qp; ibstat; done '
                         '>/dev/null 2>&1')
    drv = '/sys/bus/platform/drivers/lastref_fake'
    for _ in range(20):
        t.vm.sh(f'echo lastref_fake.0 >{drv}/unbind')
        t.vm.sh(f'echo lastref_fake.0 >{drv}/bind')
    loop.kill()
    t.equal(sorted(t.vm.sh('ls /sys/class/infiniband').out.split()), ['vfake_0', 'vfake_1'],
            'twenty times unbound and bound: the same names')


def seen(t):
    """debugfs and the trace: guarantee 10."""
    top = '/sys/kernel/debug/infiniband'
    trace = '/sys/kernel/tracing'
    t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug; '
            f'mountpoint -q {trace} || mount -t tracefs none {trace}')

    def read(name):
        return t.vm.sh(f'cat {top}/lastref_fake.0/vfake_0/{name}').out

    t.equal(read('state'), 'LIVE\n', 'debugfs: state')
    holders = [x.split()[0] for x in read('holders').splitlines()]
    t.equal([x for x in ('framework', 'fake_client', 'files') if x not in holders], [], 'holders, by name')
    t.ok('client fake_client ATTACHED' in read('attachments'), 'attachments', read('attachments'))
    t.equal([x for x in ('PD', 'CQ', 'QP', 'MR') if x not in read('objects')], [], 'objects')
    t.equal((read('agents'), read('waits'), read('quarantine')), ('', '', ''),
            'no agents without a MAD service, nobody waits, nothing is in quarantine')
    t.vm.sh(f'echo 1 >{trace}/events/ib_teardown/enable; echo >{trace}/trace')
    fake.unbind(t, 0)
    log = t.vm.sh(f'echo 0 >{trace}/events/ib_teardown/enable; cat {trace}/trace').out
    states = [x for x in ('CLOSING', 'DRAINING', 'STOPPED', 'RELEASED') if f' {x} value' in log]
    where = [log.find(f' {x} value') for x in states]
    t.ok(len(states) == 4 and where == sorted(where), 'the trace has each state in its order', log[-3000:])
    t.equal([x for x in ('remove_begin', 'remove_end', 'drop', 'wait_begin', 'wait_end', 'hardware', 'goal')
             if f'ib_teardown_{x}:' not in log], [], 'and every wait, holder, client and goal')
    fake.bind(t, 0)


def strangers(t):
    """Modules that were built for the in-tree ib_core: what they need of it is not there, or of another version."""
    before = t.vm.sh('cut -d" " -f1 /proc/modules').out
    for name in ('ib_uverbs', 'ib_cm'):
        mark = t.vm.log.position()
        done = t.vm.sh(f'modprobe {name}', check=False)
        t.ok(done.status != 0, f"the kernel's own {name} is refused", done.out + done.err)
        t.vm.settle()
        said = [x for x in t.vm.log.lines(mark) if x.startswith(f'{name}: ')]
        t.ok(any('disagrees about version of symbol ib_' in x or 'Unknown symbol ib_' in x for x in said),
             'because ib_core has not the symbols that it was built for', '\n'.join(said[:20]))
    t.equal(t.vm.sh('cut -d" " -f1 /proc/modules').out, before, 'no module came in on the way')


def leftovers(t):
    t.vm.sh('echo 1 >/sys/module/lastref_fake/parameters/forget; '
            'echo lastref_fake.1 >/sys/bus/platform/drivers/lastref_fake/unbind')
    log = t.vm.sh('dmesg').out
    t.equal(log.count('was left behind by fake_client, destroying it'), 4,
            'four forgotten objects are named in the log')
    where = [log.find(f'vfake_1: {x} ') for x in ('QP', 'MR', 'CQ', 'PD')]
    t.ok(-1 not in where and where == sorted(where), 'children before parents', str(where))
    fake.unbind(t, 0)
    t.equal(t.vm.sh('ls /sys/class/infiniband').out, '', 'nothing is left')
    fake.unload(t)
    t.ok(True, 'and the modules leave')


def scenario(t):
    fake.load(t)
    tool(t)
    names(t)
    programs(t)
    comes_and_goes(t)
    seen(t)
    strangers(t)
    leftovers(t)
