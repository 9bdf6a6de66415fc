# SPDX-License-Identifier: GPL-2.0-only
# scenario: HCAs leave and come back under IPoIB traffic, and the others lose no packet
# kernel: 6.12 6.1
# hcas: 3
# fabric: one
# modules: ours
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 500
# alone: yes
"""Two HCAs with two interfaces each, a third with the subnet manager: unbind and bind, fatal error,
surprise removal and another card in its place, and all modules unloaded under traffic."""
import ipnet

COUNT = 'ls /sys/class/infiniband | wc -l'


def load(t):
    """Traffic between the two HCAs that will be disturbed: a stream each way."""
    jobs = []
    for a, b in (((0, 1), (1, 1)), ((1, 2), (0, 2))):
        server = t.vm.start_sh(f'while :; do ip netns exec {ipnet.space(*b)} iperf3 -s -1 '
                               '>/dev/null 2>&1 || sleep 0.3; done')
        client = t.vm.start_sh(f'while :; do ip netns exec {ipnet.space(*a)} iperf3 -t 600 -c '
                               f'{ipnet.address(*b)} >/dev/null 2>&1; sleep 0.5; done')
        jobs += [server, client]
    return jobs


def streams(t, hca):
    """Pings between an HCA that stays and the one of the subnet manager, both ports."""
    return [ipnet.Stream(t, (hca, port), (ipnet.SM, port)) for port in (1, 2)]


def devices(t, want):
    return int(t.vm.sh(f'for i in $(seq 300); do [ "$({COUNT})" = {want} ] && break; sleep 0.1; done; '
                       f'{COUNT}', limit=60).out)


def talk(t, what):
    for a, b in (((0, 1), (1, 1)), ((0, 2), (1, 2)), ((1, 1), (0, 2))):
        got = ipnet.ping(t, a, b, 5)
        t.ok(ipnet.lossless(got), f'{what}: {ipnet.space(*a)} and {ipnet.space(*b)} talk',
             got.out + got.err)


def unbind(t, hca, other):
    going = streams(t, other)
    t.vm.sh('sleep 2')
    where = ipnet.function(t, hca)
    t.vm.sh(f'echo {where} >/sys/bus/pci/drivers/mlx4_core/unbind', limit=40)
    t.equal(ipnet.audit(t, hca), '', f'unbind of HCA {hca}: nothing is left in it')
    t.equal([ipnet.name_in(t, hca, p) for p in (1, 2)], ['', ''], 'its interfaces are gone')
    t.ok(all(ipnet.name_in(t, other, p) for p in (1, 2)), 'those of the other are there')
    t.equal(devices(t, 2), 2, 'two devices are left')
    t.vm.sh('sleep 2')
    ipnet.no_loss(t, going, f'unbind of HCA {hca}')
    going = streams(t, other)
    t.vm.sh(f'echo {where} >/sys/bus/pci/drivers/mlx4_core/bind', limit=40)
    ipnet.wait_ports(t, 6)
    ipnet.settle_in(t, hca)
    ipnet.no_loss(t, going, f'bind of HCA {hca}')
    talk(t, f'HCA {hca} is back')


def fatal(t, hca, other):
    """A fatal error: the interfaces stay what they are, and carry traffic again by themselves."""
    going = streams(t, other)
    before = [t.vm.sh(f'ip -n {ipnet.space(hca, p)} -o link | grep -v " lo:" | cut -d: -f1,2; '
                      f'ip -n {ipnet.space(hca, p)} -o addr | grep -c 10.1').out for p in (1, 2)]
    t.vm.qmp.command('qom-set', path=f'/machine/peripheral/hca{hca}', property='fault',
                      value='time at=1 fatal=0x10')
    t.vm.sh('sleep 3')
    ipnet.wait_ports(t, 6)
    t.ok(all(ipnet.carrier(t, hca, p) for p in (1, 2)), f'fatal error of HCA {hca}: carrier is back')
    after = [t.vm.sh(f'ip -n {ipnet.space(hca, p)} -o link | grep -v " lo:" | cut -d: -f1,2; '
                     f'ip -n {ipnet.space(hca, p)} -o addr | grep -c 10.1').out for p in (1, 2)]
    t.equal(after, before, 'the interfaces are the same, with their addresses')
    ipnet.no_loss(t, going, f'fatal error of HCA {hca}')
    talk(t, f'after the fatal error of HCA {hca}')


def surprise(t, hca, other):
    going = streams(t, other)
    t.vm.sh('sleep 1')
    t.vm.qmp.command('qom-set', path=f'/machine/peripheral/hca{hca}', property='surprise', value=True)
    t.equal(devices(t, 2), 2, f'surprise removal of HCA {hca}: its device is gone')
    t.equal([ipnet.name_in(t, hca, p) for p in (1, 2)], ['', ''], 'so are its interfaces')
    t.ok(t.stage.hcas.unplug(t.vm, f'hca{hca}'), 'the slot is empty')
    ipnet.no_loss(t, going, f'surprise removal of HCA {hca}')
    text = t.stage.hcas.plug(t.vm, hca, f'hca{hca}')
    t.ok(not text, 'another card is plugged in', text)
    t.equal(devices(t, 3), 3, 'its device is there')
    ipnet.wait_ports(t, 6)
    ipnet.settle_in(t, hca)
    talk(t, f'the card in the place of HCA {hca}')


def unload(t, jobs):
    """Everything, client first, under traffic; opensm is asked to go, since it holds umad."""
    got = t.vm.sh('modprobe -r ib_ipoib', check=False, limit=60)
    t.equal(got.status, 0, 'ib_ipoib is unloaded under traffic')
    for job in jobs:
        job.kill()
    t.vm.sh('pkill opensm; for i in $(seq 50); do pgrep opensm >/dev/null || break; sleep 0.1; done; '
            'modprobe -r ib_umad mlx4_ib mlx4_core', limit=90)
    t.equal([ipnet.audit(t, hca) for hca in range(3)], ['', '', ''], 'nothing is left in any HCA')
    t.equal(t.vm.sh('udevadm settle; rmmod ib_core', check=False).status, 0, 'ib_core goes, too')


def scenario(t):
    ipnet.bring_up(t)
    talk(t, 'at the beginning')
    jobs = load(t)
    unbind(t, 0, 1)
    unbind(t, 1, 0)
    fatal(t, 0, 1)
    surprise(t, 1, 0)
    unload(t, jobs)
