# SPDX-License-Identifier: GPL-2.0-only
# scenario: ports that come up as Ethernet are set to InfiniBand, or left alone; the others work all the same
# kernel: 6.12
# hcas: 2
# fabric: one eth-ports=3
# modules: ours
# limit: 300
"""Two cards whose ports come up as Ethernet. Left alone is what the user (port_type_array) or the card (SET_PORT
is refused) says: such a port keeps its number and is shown as an Ethernet port, but has no MAD node, no subnet
manager sees it, and traffic goes by the other one."""
import re

HCAS = ('hca0', 'hca1')


def load(t, types='', refuse=0):
    """Load the driver; the first HCA's SET_PORT number `refuse` is refused. Gives its log lines."""
    t.vm.sh('dmesg -C')
    if refuse:
        t.vm.qmp.command('qom-set', path='/machine/peripheral/hca0', property='fault',
                         value=f'cmd:0x00c nth={refuse} status=3')
    t.vm.sh(f'modprobe mlx4_core {types} && modprobe mlx4_ib && modprobe ib_umad && udevadm settle')
    return t.vm.sh('dmesg').out


def unload(t, what):
    t.vm.sh('rmmod ib_umad mlx4_ib mlx4_core')
    held = [t.vm.qmp.command('qom-get', path=f'/machine/peripheral/{x}', property='audit') for x in HCAS]
    t.equal(held, ['', ''], f'{what}: nothing is left in either HCA')


def read(t, name):
    return t.vm.sh(f'cat /sys/class/infiniband/*/ports/*/{name}').out.split('\n')[:-1]


def nodes(t):
    """Port numbers of the umad nodes, one for each port that can have MADs."""
    return t.vm.sh('cat /sys/class/infiniband_mad/umad*/port').out.split()


def bring_up(t, want, what):
    """opensm makes the InfiniBand ports ACTIVE, and a MAD and its answer go from one card to the other."""
    sm = t.vm.start_sh('exec opensm -t 1000 -f /tmp/opensm.log -g '
                       '"$(cat /sys/class/infiniband/*/ports/%s/gids/0 | head -1 | '
                       'sed s/^fe80:0000:0000:0000:/0x/\\;s/://g)"' % want[0])
    t.vm.sh('for i in $(seq 300); do '
            f'[ "$(cat /sys/class/infiniband/*/ports/*/state | grep -c ACTIVE)" = {len(want)} ] && exit 0; '
            'sleep 0.2; done; cat /tmp/opensm.log >&2', limit=90)
    t.equal(read(t, 'state').count('4: ACTIVE'), len(want), f'{what}: the InfiniBand ports become ACTIVE')
    net = t.vm.sh(f'ibnetdiscover -P {want[0]}', check=False).out
    t.equal(len(re.findall(r'^Ca\s+2 ', net, re.M)), 2, f'{what}: ibnetdiscover finds both HCAs')
    sm.kill()
    sm.wait(30)


def both(t):
    log = load(t)
    t.equal(log.count('came up as Ethernet and is set to InfiniBand'), 4, 'four ports are set to InfiniBand')
    t.equal(read(t, 'link_layer'), ['InfiniBand'] * 4, 'and are InfiniBand ports')
    t.equal(nodes(t), ['1', '2', '1', '2'], 'with a MAD node each')
    bring_up(t, ['1', '2', '1', '2'], 'all set')
    unload(t, 'all set')


def first_is_ethernet(t):
    log = load(t, 'port_type_array=2,1')
    t.equal(log.count('port 1 is an Ethernet port and is left alone'), 2, 'port_type_array=2: port 1 is left alone')
    t.equal(read(t, 'link_layer'), ['Ethernet', 'InfiniBand'] * 2, 'port 1 is shown as an Ethernet port')
    t.equal(read(t, 'state')[::2], ['1: DOWN'] * 2, 'that is down')
    t.equal(nodes(t), ['2', '2'], 'the MAD nodes are those of the second ports')
    stat = t.vm.sh('ibstat').out
    t.equal((stat.count('Link layer: Ethernet'), stat.count('Link layer: InfiniBand')), (2, 2),
            'ibstat shows all four')
    bring_up(t, ['2', '2'], 'the second ports')
    unload(t, 'the second ports')


def refused(t):
    log = load(t, refuse=2)
    line = 'port 2 comes up as Ethernet, cannot be set to InfiniBand'
    t.equal((log.count(line), log.count('is set to InfiniBand')), (1, 3), 'the card refuses: one line, and left alone')
    t.equal(sorted(read(t, 'link_layer')), ['Ethernet'] + ['InfiniBand'] * 3, 'the other three are InfiniBand')
    t.equal(sorted(nodes(t)), ['1', '1', '2'], 'and have their MAD nodes')
    bring_up(t, ['1', '1', '2'], 'one refused')
    unload(t, 'one refused')


def none(t):
    log = load(t, 'port_type_array=2,2')
    t.equal(log.count('no port is an InfiniBand port'), 2, 'without an InfiniBand port a card is not driven')
    t.equal(t.vm.sh('ls /sys/class/infiniband').out, '', 'and there is no device')
    unload(t, 'none')


def scenario(t):
    both(t)
    first_is_ethernet(t)
    refused(t)
    none(t)
