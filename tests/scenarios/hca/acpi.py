# SPDX-License-Identifier: GPL-2.0-only
# scenario: an HCA in use is unplugged and plugged in again by ACPI, and works each time
# kernel: 6.12 6.1
# hcas: 1
# fabric: one
# limit: 300
# alone: yes
"""In-tree modules. QEMU's own way of hot-plug on this machine is ACPI; scenario hca/removal has the native one."""
import ib


def driver_of_slots(t):
    """Who drives the hot-plug slots: the ACPI driver has no slot control in the port for itself."""
    return t.vm.sh('ls /sys/bus/pci_express/drivers/pciehp 2>/dev/null | grep -c pcie || true').out.strip()


def work(t, name, devices):
    base = f'ibv_rc_pingpong -n 100 -c -d {devices[0]}'
    got, done = ib.pair(t, f'{base} -i 2', f'{base} -i 1 127.0.0.1', 18515)
    t.ok(not got.status and done and not done.status, f'{name}: ibv_rc_pingpong, port to port', ib.words(got, done))


def unplug(t, name):
    t.ok(t.stage.hcas.unplug(t.vm, name), f'{name}: is let go')
    t.equal(t.vm.sh('ls /sys/class/infiniband | wc -l').out.strip(), '0', f'{name}: and gone')


def plug(t, name):
    text = t.stage.hcas.plug(t.vm, 0, name)
    t.ok(not text, f'{name}: plugged in', text)
    # A subnet manager stays with the port it began with, and with the name that port's HCA had then: udev
    # gives it another.
    t.vm.sh('killall -9 -w opensm; for i in $(seq 200); do [ -e /dev/infiniband/umad1 ] && break; sleep 0.1; done; '
            'udevadm settle; for i in $(seq 100); do [ "$(cat /sys/class/infiniband/*/ports/*/state | '
            'grep -c INIT)" = 2 ] && exit 0; sleep 0.1; done; exit 1')
    t.vm.start_sh('exec opensm -t 1000 -f /tmp/opensm.log')
    got = t.vm.sh(ib.PORTS_ACTIVE % 2, limit=90, check=False)
    t.equal(got.status, 0, f'{name}: opensm makes its ports ACTIVE')


def scenario(t):
    t.equal(driver_of_slots(t), '0', 'the native hot-plug driver has no slot: it is ACPI')
    ib.bring_up(t, 'mlx4_ib ib_umad ib_uverbs ib_ipoib', ports=2)
    name = 'hca0'
    for after in ('second', 'third', None):
        t.vm.sh('udevadm settle; for n in /sys/class/net/ib*; do ip link set $(basename $n) up; done')
        work(t, name, t.vm.sh('ls /sys/class/infiniband').out.split())
        unplug(t, name)
        name = after
        if name:
            plug(t, name)
