# SPDX-License-Identifier: GPL-2.0-only
"""What the scenarios of ib_umad have in common: our modules on emulated HCAs, umadtool, an SM."""
import glob
import os

import ib
import images

TOOL = '/run/lastref/umadtool'
NODE = '/machine/peripheral/'
MODULES = 'mlx4_ib ib_umad'


def tool(t):
    """Put umadtool into the guest."""
    files = sorted(glob.glob(os.path.join(images.REPO, 'tests', 'umad', '*.[ch]')))
    path = images.program('umadtool', files, '-static', '-pthread')
    t.vm.put_file(path, TOOL)
    t.vm.sh(f'chmod 755 {TOOL}')


def points(t, lines):
    """Test points that umadtool printed."""
    for line in lines:
        if line.startswith(('ok - ', 'not ok - ')):
            t.ok(line.startswith('ok'), line.split(' - ', 1)[1])


def load(t, ports=4):
    """Load our modules and wait for the nodes of every port."""
    t.vm.sh(f'for m in {MODULES}; do modprobe $m || exit 1; done')
    wait_nodes(t, ports)


def wait_nodes(t, ports=4):
    t.vm.sh('for i in $(seq 300); do [ "$(ls /dev/infiniband | grep -c umad)" = %d ] && exit 0; '
            'sleep 0.1; done; exit 1' % ports, limit=60)
    t.vm.sh('udevadm settle')


def unload(t):
    t.vm.sh('rmmod ib_umad mlx4_ib mlx4_core ib_core', limit=90)


def start_sm(t, name='opensm', options=''):
    """Start opensm with files of its own; the job."""
    t.vm.sh(f'mkdir -p /tmp/{name}')
    return t.vm.start_sh(f'exec env OSM_TMP_DIR=/tmp/{name} OSM_CACHE_DIR=/tmp/{name} '
                         f'opensm -t 1000 -f /tmp/{name}/log {options}')


def wait_active(t, ports=4, check=True):
    return t.vm.sh(ib.PORTS_ACTIVE % ports, limit=120, check=check).status == 0


def ask(t, hca, what):
    return t.vm.qmp.command('qom-get', path=NODE + hca, property=what)


def say(t, hca, what, value):
    t.vm.qmp.command('qom-set', path=NODE + hca, property=what, value=value)


def audit(t, hcas=('hca0', 'hca1')):
    """What the HCAs hold; all empty after a clean removal."""
    return [ask(t, x, 'audit') for x in hcas]


def functions(t):
    """PCI addresses of the HCAs, in the order of their slots."""
    return t.vm.sh('cd /sys/bus/pci/devices && for f in *; do [ "$(cat $f/vendor)" = 0x15b3 ] && '
                   'echo $f; done; true').out.split()


def device_of(t, function):
    """Name of the InfiniBand device on a PCI function."""
    return t.vm.sh(f'ls /sys/bus/pci/devices/{function}/infiniband').out.strip()


def number_of(t, function, port=1):
    """N of the nodes umadN and issmN of a port."""
    name = device_of(t, function)
    return int(t.vm.sh(f'cd /sys/class/infiniband_mad && for d in umad*; do [ "$(cat $d/ibdev)" = {name} ] && '
                       f'[ "$(cat $d/port)" = {port} ] && echo ${{d#umad}}; done; true').out)
