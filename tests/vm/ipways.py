# SPDX-License-Identifier: GPL-2.0-only
"""The ways in which an HCA leaves and comes back, for scenarios on the network of ipnet.py.

Each is a function of (t, hca). What it returns says what became of the interfaces: SAME if they are
those of before, NEW if they came anew (with the HCA alone), ALL if those of every HCA did, the one
of the subnet manager included.
"""
import ipnet
import sleep

SAME, NEW, ALL = 'same', 'new', 'all'
DRIVER = '/sys/bus/pci/drivers/mlx4_core'


def audited(t, hca, what):
    t.equal(ipnet.audit(t, hca), '', f'{what}: nothing is left in HCA {hca}')


def unbind_only(t, hca):
    t.vm.sh(f'echo {ipnet.function(t, hca)} >{DRIVER}/unbind', limit=60)


def bind(t, hca):
    t.vm.sh(f'echo {ipnet.function(t, hca)} >{DRIVER}/bind', limit=60)


def unbind(t, hca):
    """X2: the driver is unbound from the function, and bound again."""
    unbind_only(t, hca)
    audited(t, hca, 'unbind')
    bind(t, hca)
    return NEW


def remove(t, hca):
    """X3: the function is removed by sysfs, and found again."""
    t.vm.sh(f'echo 1 >/sys/bus/pci/devices/{ipnet.function(t, hca)}/remove', limit=60)
    audited(t, hca, 'remove')
    t.vm.sh('echo 1 >/sys/bus/pci/rescan', limit=60)
    return NEW


def let_go(t, hca, mark):
    """Wait until the guest has let go of a card that was asked for."""
    name = ipnet.node(t, hca)
    t.ok(t.vm.qmp.wait_event('DEVICE_DELETED', mark, 60, device=name), f'{name} is let go')


def plug(t, hca):
    """Another card in the slot, once the guest has switched it off and its lamp is out."""
    t.plugged = getattr(t, 'plugged', 0) + 1
    t.nodes[hca] = f'card{t.plugged}'
    text = t.stage.hcas.plug(t.vm, hca, t.nodes[hca])
    t.ok(not text, f'{t.nodes[hca]} is plugged in', text)


def press(t, hca):
    """The slot's button is pressed; returns the mark to wait from."""
    mark = t.vm.qmp.mark()
    t.vm.qmp.command('device_del', id=ipnet.node(t, hca))
    return mark


def unplug(t, hca):
    """X4: the slot is switched off, and another card comes."""
    let_go(t, hca, press(t, hca))
    plug(t, hca)
    return NEW


def surprise(t, hca):
    """X4 without a word: the card is pulled out, and another comes."""
    ipnet.say(t, hca, 'surprise', True)
    t.vm.sh(f'for i in $(seq 300); do [ -e /sys/bus/pci/devices/{ipnet.function(t, hca)} ] || exit 0; '
            'sleep 0.1; done; exit 1')
    unplug(t, hca)
    return NEW


def recovered(t, hca, position, what):
    """It says what happened to it, and comes back by itself."""
    t.ok(t.vm.log.wait_line(what, position, 60), f'HCA {hca}: the log says: {what}')
    state = f'/sys/kernel/debug/infiniband/{ipnet.function(t, hca)}/state'
    t.vm.sh(f'for i in $(seq 300); do grep -q "^hardware up" {state} && grep -q "^thread idle" {state} && '
            'exit 0; sleep 0.1; done; exit 1', check=False)


def fatal(t, hca):
    """X5: the firmware fails; the driver resets the HCA by itself."""
    position = t.vm.log.position()
    ipnet.say(t, hca, 'fault', 'time at=1 fatal=0x10')
    recovered(t, hca, position, 'the HCA is gone: fatal error')
    return SAME


def silent(t, hca):
    """X5: the firmware answers nothing any more, and the driver is unbound."""
    ipnet.say(t, hca, 'fault', 'time at=1 hang')
    unbind_only(t, hca)
    ipnet.say(t, hca, 'fault', 'clear')
    bind(t, hca)
    return NEW


def aer(t, hca):
    """X5: an uncorrectable PCIe error, and the recovery from it."""
    position = t.vm.log.position()
    ipnet.say(t, hca, 'aer', 'fatal')
    recovered(t, hca, position, 'the HCA is gone: PCI error')
    return SAME


def driver(t, hca):
    """X1: the protocol driver is unloaded, with all its HCAs."""
    t.vm.sh('rmmod mlx4_ib', limit=60)
    t.vm.sh('modprobe mlx4_ib', limit=60)
    return ALL


def client(t, hca):
    """X8: the client's module is unloaded, with all its interfaces."""
    t.vm.sh('rmmod ib_ipoib', limit=60)
    t.vm.sh('modprobe ib_ipoib', limit=60)
    return ALL


def suspend(t, hca):
    """X7: the machine sleeps, and all HCAs with it."""
    t.equal(sleep.to_ram(t.vm), '', 'the machine sleeps and wakes')
    return SAME


# Those that end what opensm has open: it is to be started again.
ENDS_SM = (driver, suspend)
EVERY = (driver, unbind, remove, unplug, surprise, fatal, silent, aer, suspend, client)


def back(t, hca, became):
    """Wait until the ports are active and the interfaces of what left carry packets again."""
    ipnet.wait_ports(t, 6)
    if became == ALL:
        for each in (0, 1, ipnet.SM):
            ipnet.settle_in(t, each)
    elif became == NEW:
        ipnet.settle_in(t, hca)
    for port in (1, 2):
        t.ok(ipnet.carrier(t, hca, port), f'{ipnet.space(hca, port)} has carrier')
