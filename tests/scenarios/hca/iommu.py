# SPDX-License-Identifier: GPL-2.0-only
# scenario: behind an IOMMU that forgets at once, the HCA touches no memory that was unmapped
# kernel: 6.12
# hcas: 2
# fabric: one
# qemu: -device intel-iommu,intremap=off
# append: intel_iommu=on iommu.strict=1
# limit: 300
# alone: yes
"""In-tree modules. Every DMA to an address that the driver has not mapped, or has unmapped, is refused by the IOMMU and is
then a violation of the HCA and a line of the kernel; both are looked for. At the end a DMA of that kind is made on purpose."""
import re

import ib

PORT = 18515
# A reset and then QUERY_FW by hand, its answer to an address that nobody has mapped. No driver is bound.
STRAY = r'''
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
fd = os.open(path + '/resource0', os.O_RDWR | os.O_SYNC)
bar = mmap.mmap(fd, 0x100000)
view = memoryview(bar).cast('I')
view[0xf0010 // 4] = 1 << 24
time.sleep(1.5)
for n, word in enumerate((0, 0, 0, 0, 0x10000000, 0, 0x00800004)):
    view[0x80680 // 4 + n] = int.from_bytes(struct.pack('>I', word), 'little')
time.sleep(0.5)
'''


def complaints(t, position):
    return [x for x in t.vm.log.lines(position) if re.search(r'DMAR:.*(fault|DMA (Read|Write))', x, re.I)]


def pingpong(t, devices):
    base = 'ibv_rc_pingpong -n 200 -c -i 1'
    got, done = ib.pair(t, f'{base} -d {devices[1]}', f'{base} -d {devices[0]} 127.0.0.1', PORT)
    t.ok(not got.status and done and not done.status, 'ibv_rc_pingpong', ib.words(got, done))
    base = 'ib_write_bw -n 100 -s 65536 -i 1'
    got, done = ib.pair(t, f'{base} -d {devices[1]}', f'{base} -d {devices[0]} 127.0.0.1', PORT, 120)
    t.ok(not got.status and done and not done.status, 'ib_write_bw', ib.words(got, done))


def ipoib(t):
    t.vm.sh('modprobe ib_ipoib && udevadm settle')
    ib.namespaces(t)
    got = t.vm.sh('for i in $(seq 30); do ip netns exec a ping -c 1 -W 1 10.1.0.2 >/dev/null && break; done; '
                  'ip netns exec a ping -c 5 -i 0.2 -s 1900 10.1.0.2', check=False)
    t.ok(' 0% packet loss' in got.out, 'ping over IPoIB', got.out + got.err)


def scenario(t):
    position = t.vm.log.position()
    devices = ib.bring_up(t)
    groups = t.vm.sh('ls -d /sys/class/infiniband/*/device/iommu_group | wc -l').out.strip()
    t.equal(groups, '2', 'both HCAs are behind the IOMMU')
    t.equal(t.vm.sh('cat /sys/class/infiniband/*/device/iommu_group/type').out.split(), ['DMA', 'DMA'],
            'in domains that forget a mapping at once')
    pingpong(t, devices)
    ipoib(t)
    t.vm.sh('ip netns del a; ip netns del b; sleep 0.5; killall -9 -w opensm; rmmod ib_ipoib')
    t.vm.sh('rmmod ib_umad mlx4_ib mlx4_core && modprobe mlx4_ib && rmmod mlx4_ib mlx4_core')
    t.vm.settle()
    t.equal(complaints(t, position), [], 'load, use and unload: no fault of the IOMMU')
    t.equal(t.stage.hcas.violations(), [], 'and no violation')
    t.vm.put(STRAY.encode(), '/run/stray.py')
    t.vm.sh('python3 /run/stray.py')
    seen = t.stage.hcas.violations()
    t.ok(len(seen) == 1 and 'dma-fault' in seen[0], 'a DMA to what is not mapped is one violation', '\n'.join(seen))
    t.vm.settle()
    t.ok(complaints(t, position), 'and the kernel hears of it')
