# SPDX-License-Identifier: GPL-2.0-only
"""An HCA that no driver is bound to, driven by hand: a program for the guest's Python."""

# The HCA's memory and bus mastering are switched on, then it is reset. `bars` are the addresses of its BARs.
OPEN = r'''
import glob, mmap, os, struct, time

for path in glob.glob('/sys/bus/pci/devices/*'):
    if open(path + '/vendor').read().strip() == '0x15b3' and open(path + '/device').read().strip() == '0x1003':
        break
open(path + '/enable', 'w').write('1')
with open(path + '/config', 'r+b', buffering=0) as config:
    config.seek(4)
    word = struct.unpack('<H', config.read(2))[0]
    config.seek(4)
    config.write(struct.pack('<H', word | 6))
bars = [int(line.split()[0], 16) for line in open(path + '/resource')]
bar = mmap.mmap(os.open(path + '/resource0', os.O_RDWR | os.O_SYNC), 0x100000)
view = memoryview(bar).cast('I')


def store(register, value):
    view[register // 4] = int.from_bytes(struct.pack('>I', value), 'little')


def query_fw(address):
    """QUERY_FW, its answer to an address on the bus; the status of the command."""
    for n, word in enumerate((0, 0, 0, address >> 32, address & 0xffffffff, 0, 0x00800004)):
        store(0x80680 + 4 * n, word)
    time.sleep(0.5)
    return struct.unpack('>I', struct.pack('<I', view[0x80698 // 4]))[0] >> 24


store(0xf0010, 1)
time.sleep(1.5)
'''


def run(t, what):
    """Open the HCA in the guest and do what the Python text says; what it printed."""
    t.vm.put((OPEN + what).encode(), '/run/lastref/rawhca.py')
    return t.vm.sh('python3 /run/lastref/rawhca.py').out
