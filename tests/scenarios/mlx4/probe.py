# SPDX-License-Identifier: GPL-2.0-only
# scenario: our mlx4_core and mlx4_ib start two HCAs, stop them, and leave nothing behind
# kernel: 6.12 6.1 debug
# hcas: 2
# fabric: one
# modules: ours
# limit: 300
"""Probe and remove, five rounds, by module and by bind; the emulator's audit is empty each time."""


def bound(t):
    return t.vm.sh('ls -d /sys/bus/pci/drivers/mlx4_core/0* | wc -l').out.strip()


def devices(t):
    """What user space sees: a device of two ports for each HCA, and what ib_core asked it."""
    link = t.vm.sh('rdma link show').out
    t.equal(len(link.splitlines()), 4, 'rdma link show: four ports')
    dev = t.vm.sh('rdma dev show').out
    t.equal(dev.count('node_type ca fw 2.42.5000'), 2, 'rdma dev show: two HCAs with their firmware')
    def read(name):
        return t.vm.sh(f'cat /sys/class/infiniband/*/{name}').out.split()
    t.equal(read('board_id') + read('hca_type'), ['MT_1100120019'] * 2 + ['MT4099'] * 2,
            'sysfs: board and type')
    t.equal(read('ports/*/pkeys/0'), ['0xffff'] * 4, 'sysfs: the default P_Key')
    guids = read('ports/*/gids/0')
    t.ok(len(set(guids)) == 4 and all(x.startswith('fe80:0000:0000:0000:') for x in guids),
         'sysfs: the first GID of each port is a GUID in the default subnet', str(guids))


def statistics(t):
    """hw_counters: what the firmware counts for the whole HCA, by the names that monitors know."""
    top = t.vm.sh('ls -d /sys/class/infiniband/* | head -n 1').out.strip()     # udev has its own names
    names = t.vm.sh(f'ls {top}/hw_counters').out.split()
    t.ok(len(names) == 26 and {'lifespan', 'rq_num_lle', 'sq_num_wrfe', 'num_cqovf'} <= set(names),
         'sysfs: hw_counters has the counters of the HCA', str(names))
    values = t.vm.sh(f'cd {top}/hw_counters && for f in *; do [ $f = lifespan ] || cat $f; done').out.split()
    t.ok(len(values) == 25 and all(x.isdigit() for x in values), 'sysfs: each can be read, and is a number',
         str(values))
    t.equal(t.vm.sh(f'cat {top}/hw_counters/num_cqovf').out, '0\n', 'sysfs: no CQ has overflowed')
    t.equal(t.vm.sh(f'ls -d {top}/ports/*/hw_counters', check=False).out, '', 'sysfs: the ports have none')


def scenario(t):
    t.vm.sh('modprobe mlx4_ib && udevadm settle')
    devices(t)
    statistics(t)
    held = t.stage.hcas.audits(t.vm)
    t.ok(all('EQ' in x.upper() for x in held), 'the audit of a running HCA names its event queues',
         str(held)[:400])
    t.vm.sh('rmmod mlx4_ib mlx4_core')
    for round_ in range(3):
        t.vm.sh('modprobe mlx4_ib')
        t.equal(bound(t), '2', f'round {round_}: both functions are bound')
        t.vm.sh('rmmod mlx4_ib mlx4_core')
        t.equal(t.stage.hcas.audits(t.vm), ['', ''], f'round {round_}: nothing is left in either HCA')
    t.vm.sh('modprobe mlx4_ib')
    for round_ in range(3):
        t.vm.sh('cd /sys/bus/pci/drivers/mlx4_core && for f in 0*; do echo $f > unbind; done')
        t.equal(t.stage.hcas.audits(t.vm), ['', ''], f'unbind {round_}: nothing is left in either HCA')
        t.vm.sh('cd /sys/bus/pci/devices && for f in *; do '
                '[ "$(cat $f/vendor)" = 0x15b3 ] && echo $f > ../drivers/mlx4_core/bind; done; true')
        t.equal(bound(t), '2', f'bind {round_}: both functions are bound')
    t.vm.sh('rmmod mlx4_ib mlx4_core; udevadm settle')
    gone = t.vm.sh('rmmod ib_core', check=False)
    t.equal(gone.status, 0, 'ib_core can be unloaded afterwards')
