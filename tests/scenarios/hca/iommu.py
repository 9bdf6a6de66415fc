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
import rawhca

PORT = 18515


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
    rawhca.run(t, 'query_fw(0x10000000)')       # an address that nobody has mapped
    seen = t.stage.hcas.violations()
    t.ok(len(seen) == 1 and 'dma-fault' in seen[0], 'a DMA to what is not mapped is one violation', '\n'.join(seen))
    t.vm.settle()
    t.ok(complaints(t, position), 'and the kernel hears of it')
