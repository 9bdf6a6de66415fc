# SPDX-License-Identifier: GPL-2.0-only
# scenario: whoever sleeps on a node of an HCA wakes when it leaves; nodes go first, come back, in any race
# kernel: 6.12 6.1
# hcas: 2
# fabric: one
# modules: ours
# limit: 400
# alone: yes
"""Revocation of open files, and the three public cases of umad (B66, B67, B68) as they were reported."""
import umad

DRIVER = '/sys/bus/pci/drivers/mlx4_core'


def unbind(t, function):
    """Guest seconds that it took."""
    out = t.vm.sh(f'a=$(cut -d" " -f1 /proc/uptime); echo {function} >{DRIVER}/unbind; '
                  'echo $a $(cut -d" " -f1 /proc/uptime)', limit=90).out.split()
    return float(out[1]) - float(out[0])


def bind(t, function):
    t.vm.sh(f'echo {function} >{DRIVER}/bind')
    umad.wait_nodes(t)


def sleepers(t, function):
    """Whoever is asleep on the nodes of the function that leaves wakes."""
    n = umad.number_of(t, function)
    number = t.vm.sh(f'cat /sys/class/infiniband_mad/umad{n}/dev').out.strip().split(':')
    stale = t.vm.start_sh(f'mknod /run/stale c {number[0]} {number[1]}; exec 8<>/run/stale; exec sleep 1000')
    job = t.vm.start_sh(f'exec {umad.TOOL} wait umad{n} issm{n} >/run/wait')
    t.vm.sh('for i in $(seq 100); do grep -q ready /run/wait && exit 0; sleep 0.1; done; exit 1')
    took = unbind(t, function)
    t.ok(took <= 4, 'the HCA leaves within 4 s, with programs asleep on its nodes', f'{took:.2f} s')
    t.equal(job.wait(20).status, 0, 'all of them end')
    umad.points(t, t.vm.sh('cat /run/wait').out.splitlines())
    left = t.vm.sh('ls /dev/infiniband /sys/class/infiniband_mad').out.split()
    t.ok(f'umad{n}' not in left and f'issm{n + 1}' not in left and f'umad{2 - n}' in left and
         f'issm{3 - n}' in left,
         'its nodes are gone, those of the other HCA are there', str(left))
    said = t.vm.sh('exec 7<>/run/stale', check=False)
    t.ok('No such device or address' in said.err, 'a file that somebody still has open cannot be opened again',
         said.err)
    stale.kill()
    stale.wait(20)
    t.vm.sh('rm /run/stale')
    t.equal(umad.audit(t, ['hca0']), [''], 'nothing is left in the HCA')
    bind(t, function)
    t.equal(umad.number_of(t, function), n, 'it comes back and has its numbers again')


def busy(t):
    """A program keeps the module, and not the HCA."""
    job = t.vm.start_sh('exec 8<>/dev/infiniband/umad2; exec sleep 1000')
    t.vm.sh('sleep 0.3')
    t.ok(t.vm.sh('rmmod ib_umad', check=False).status != 0, 'rmmod refuses while a node is open')
    job.kill()
    job.wait(20)
    t.vm.sh('rmmod ib_umad')
    t.equal(t.vm.sh('ls /dev/infiniband | grep -c umad', check=False).out.strip(), '0',
            'and works when it is not')
    t.vm.sh('modprobe ib_umad')
    umad.wait_nodes(t)


def b66(t, function):
    """Attributes are read while the module and the HCA come and go."""
    loops = [t.vm.start_sh('while :; do cat /sys/class/infiniband_mad/*/ibdev '
                           '/sys/class/infiniband_mad/*/port; done >/dev/null 2>&1') for _ in range(4)]
    for _ in range(20):
        t.vm.sh('rmmod ib_umad && modprobe ib_umad')
    worst = 0
    for _ in range(5):
        worst = max(worst, unbind(t, function))
        t.vm.sh(f'echo {function} >{DRIVER}/bind')
    for job in loops:
        job.kill()
        job.wait(20)
    umad.wait_nodes(t)
    t.ok(worst <= 4, 'B66: 20 reloads and 5 removals while four programs read its attributes',
         f'{worst:.2f} s')


def b67(t, function, other):
    """MADs are written while the HCA leaves; nobody on the other HCA notices."""
    name, there = umad.device_of(t, function), umad.device_of(t, other)
    loops = [t.vm.start_sh(f'while :; do smpquery -C {name} -P 1 -D nodeinfo 0; done >/dev/null 2>&1')
             for _ in range(3)]
    witness = t.vm.start_sh(f'while :; do smpquery -C {there} -P 1 -D nodeinfo 0 >/dev/null 2>&1 && '
                            'echo good || echo bad; done >/run/witness')
    worst = 0
    for round_ in range(10):
        worst = max(worst, unbind(t, function))
        t.vm.sh(f'echo {function} >{DRIVER}/bind; sleep {0.05 * round_:.2f}')
    for job in (*loops, witness):
        job.kill()
        job.wait(20)
    umad.wait_nodes(t)
    said = t.vm.sh('sort /run/witness | uniq -c').out
    t.ok(worst <= 4, 'B67: 10 removals while three programs write MADs', f'{worst:.2f} s')
    t.ok('good' in said and 'bad' not in said, 'B67: the tool on the other HCA never fails', said)


def b68(t, function):
    """Registrations with wrong arguments while the HCA leaves."""
    n = umad.number_of(t, function)
    loops = [t.vm.start_sh(f'while :; do {umad.TOOL} abi umad{n}; done >/dev/null 2>&1') for _ in range(2)]
    for _ in range(5):
        t.vm.sh('sleep 0.2')
        unbind(t, function)
        t.vm.sh(f'echo {function} >{DRIVER}/bind')
    for job in loops:
        job.kill()
        job.wait(20)
    umad.wait_nodes(t)
    t.equal(umad.number_of(t, function), n, 'B68: 5 removals during refused registrations')


def scenario(t):
    umad.load(t)
    umad.tool(t)
    one, two = umad.functions(t)
    sleepers(t, one)
    busy(t)
    b66(t, one)
    b67(t, one, two)
    b68(t, one)
    umad.unload(t)
    t.equal(umad.audit(t), ['', ''], 'nothing is left in either HCA')
