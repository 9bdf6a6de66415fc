# SPDX-License-Identifier: GPL-2.0-only
# scenario: attributes, children, namespaces, up and down, groups, in loops against unbind, unload, port events
# kernel: 6.12
# hcas: 3
# fabric: one
# modules: ours
# limit: 400
# alone: yes
"""B87, B90, B91, B104, B107: everything that takes RTNL or an attribute, at once, while HCAs come and go; the
network configuration answers all the time."""
import ipnet

ROUNDS = 6

# For each interface of an HCA that is in the first namespace, what users may do with it.
LOOPS = (
    'for m in datagram connected; do echo $m >$n/mode; done; cat $n/pkey $n/umcast $n/mode',
    'for k in 0x8001 0x8002 0x8003; do echo $k >$n/create_child; done; '
    'for k in 0x8003 0x8001 0x8002; do echo $k >$n/delete_child; done',
    'ip link set ${n##*/} up; sleep 0.1; ip link set ${n##*/} down',
    'echo 1 >$n/umcast; echo 0 >$n/umcast',
    # a namespace with an interface and its child in it ends: the child with it, the interface comes back
    'ip link add link ${n##*/} name storm type ipoib pkey 0x8007; ip netns add storm; '
    'ip link set ${n##*/} netns storm; ip link set storm netns storm; sleep 0.05; ip netns del storm; sleep 0.2',
)


def loops(t, hca):
    where = f'/sys/bus/pci/devices/{ipnet.function(t, hca)}/net'
    return [t.vm.start_sh(f'while :; do for n in {where}/*; do [ -e $n/create_child ] || continue; '
                          f'{what}; done; sleep 0.05; done >/dev/null 2>&1') for what in LOOPS]


def both_seen(t):
    """Both interfaces of HCA 0, seen at one moment: a loop takes them to another namespace now and then."""
    return any(len(ipnet.interfaces(t, 0)) == 2 for _ in range(200))


def answers(t, what):
    """`ip link` takes RTNL: it answers within what a second's wait and a slow machine need."""
    got = t.vm.sh('timeout 20 ip -br link >/dev/null && timeout 20 ip -s link >/dev/null', check=False,
                  limit=60)
    t.equal(got.status, 0, f'{what}: ip link answers')


def scenario(t):
    t.vm.sh('for m in mlx4_ib ib_umad ib_ipoib; do modprobe $m || exit 1; done')
    sm = ipnet.start_sm(t)
    ipnet.wait_ports(t, 6)
    ipnet.settle_in(t, ipnet.SM)
    ipnet.settle_in(t, 1)
    going = [ipnet.Stream(t, (1, port), (ipnet.SM, port)) for port in (1, 2)]
    jobs = [*loops(t, 0), ipnet.groups(t, '', 'churn', 3)]
    where = ipnet.function(t, 0)
    for n in range(ROUNDS):
        t.vm.sh('sleep 1')
        t.vm.sh(f'echo {where} >/sys/bus/pci/drivers/mlx4_core/unbind', limit=60)
        t.equal(ipnet.audit(t, 0), '', f'round {n}: nothing is left in the HCA')
        answers(t, f'round {n}, unbound')
        t.vm.sh(f'echo {where} >/sys/bus/pci/drivers/mlx4_core/bind', limit=60)
        t.ok(both_seen(t), f'round {n}: the interfaces are back')
    ipnet.no_loss(t, going, 'the other HCA')
    for n in range(3):
        t.vm.sh('sleep 1; rmmod ib_ipoib', limit=60)
        answers(t, f'unload {n}')
        t.vm.sh('modprobe ib_ipoib', limit=60)
        t.ok(both_seen(t), f'unload {n}: the interfaces are back')
    changed = ipnet.groups_changed(t, '')
    t.ok(changed > 20, 'groups came and went all the time', f'{changed} changes')
    for job in jobs:
        job.kill()
    t.vm.sh('rmmod ib_ipoib', limit=60)
    sm.kill(15)
    t.vm.sh('for i in $(seq 50); do pgrep opensm >/dev/null || break; sleep 0.1; done; '
            'modprobe -r ib_umad mlx4_ib mlx4_core', limit=90)
    t.equal([ipnet.audit(t, hca) for hca in range(3)], ['', '', ''], 'nothing is left in any HCA')
