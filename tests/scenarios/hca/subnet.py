# SPDX-License-Identifier: GPL-2.0-only
# scenario: opensm makes a subnet of four ports and a switch, and the diagnostic programs see it
# kernel: 6.12 6.1
# hcas: 2
# fabric: one pcap
# limit: 180
# alone: yes
"""In-tree modules and unmodified programs on the emulated HCAs; the capture is read by tshark."""
import subnet


def scenario(t):
    t.vm.sh('modprobe mlx4_ib && modprobe ib_umad')
    t.vm.sh('for i in $(seq 100); do [ -e /dev/infiniband/umad3 ] && break; sleep 0.1; done; '
            'udevadm settle')
    sm = subnet.whole(t)
    sm.kill(15)
    sm.wait(30)
    t.vm.sh('rmmod ib_umad mlx4_ib mlx4_core')
    t.ok(t.vm.sh('lsmod').out.find('mlx4') < 0, 'the modules unload')
    subnet.capture(t)
