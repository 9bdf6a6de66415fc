# SPDX-License-Identifier: GPL-2.0-only
# scenario: iPXE's own driver opens the HCA and gets an address by DHCP over IPoIB from another machine
# kernel: 6.12
# hcas: 1
# fabric: none
# ports: 1
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# cpus: 1
# limit: 300
# alone: yes
"""The server runs opensm and dnsmasq. Debian's iPXE of 2019 knows the ConnectX-2 (15b3:673c), which has the same
programming interface; so that is what the client's HCA says it is."""
import os
import re
import subprocess
import time

KERNEL = '/usr/lib/ipxe/ipxe.lkrn'
SCRIPT = '''#!ipxe
ifopen net0
sleep 10
ifstat net0
dhcp net0 || dhcp net0 || dhcp net0
show net0.dhcp/ip
ifstat net0
echo TEST-END
shell
'''


class Switch:
    """A switch of its own, to which both machines connect."""

    def __init__(self, folder, plugin):
        self.path = f'/tmp/lastref-{os.getpid()}-ipxe'
        self._log = open(os.path.join(folder, 'switchd-ipxe.log'), 'wb')
        self._child = subprocess.Popen(
            [os.path.join(os.path.dirname(plugin), 'switchd'), '-n', 'ipxe',
             '-p', os.path.join(folder, 'ipxe.pcap'), self.path],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)

    def wait(self):
        for _ in range(500):
            if os.path.exists(self.path):
                return True
            time.sleep(0.02)
        return False

    def close(self):
        self._child.terminate()
        self._child.wait(10)
        self._log.close()


class Client:
    """A machine without disk or kernel: iPXE, its script, its serial console."""

    def __init__(self, folder, plugin, path):
        script, self._console = (os.path.join(folder, n) for n in ('script.ipxe', 'ipxe.console'))
        self.log = os.path.join(folder, 'hca-ipxe.log')
        with open(script, 'w', encoding='utf-8') as text:
            text.write(SCRIPT)
        self._child = subprocess.Popen(
            ['qemu-system-x86_64', '-M', 'q35,graphics=off', '-accel', 'tcg', '-cpu', 'max', '-m', '256M',
             '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
             '-serial', f'file:{self._console}', '-kernel', KERNEL, '-initrd', script,
             '-plugin', f'file={plugin}', '-device', 'cx3-root-port,id=rp0,slot=1,chassis=1',
             '-device', f'cx3-hca,id=client,bus=rp0,devid=0x673c,port1={path},'
                        f'guid=0x0002c90300bb0000,log={self.log},log-commands=on'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def text(self):
        try:
            with open(self._console, encoding='utf-8', errors='replace') as text:
                return re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', text.read())
        except OSError:
            return ''

    def wait(self, what, seconds):
        end = time.monotonic() + seconds
        while what not in self.text() and time.monotonic() < end and self._child.poll() is None:
            time.sleep(0.2)
        return what in self.text()

    def close(self):
        self._child.kill()
        self._child.wait()


def serve(t, path):
    text = t.vm.qmp.hmp(f'device_add cx3-hca,id=server,bus=rp0,port1={path},guid=0x0002c90300aa0000')
    t.ok(not text.strip(), 'the server gets an HCA with a cable to it', text)
    t.vm.sh('modprobe mlx4_ib && modprobe ib_umad && modprobe ib_ipoib && '
            'for i in $(seq 200); do [ -e /sys/class/infiniband/*1/ports/2/state ] && break; sleep 0.1; done; '
            'udevadm settle')
    # the other HCA has no cable: opensm has to be told which port is meant
    t.vm.start_sh('exec opensm -t 1000 -g 0x0002c90300aa0001 -f /tmp/opensm.log')
    active = t.vm.sh('for i in $(seq 300); do grep -l ACTIVE /sys/class/infiniband/*/ports/*/state && '
                     'exit 0; sleep 0.2; done; exit 1', limit=120, check=False)
    t.ok(active.status == 0, "opensm makes the server's port ACTIVE")
    dev = t.vm.sh('for n in /sys/class/net/ib*; do case $(cat $n/address) in '
                  '*:00:02:c9:03:00:aa:00:01) basename $n;; esac; done').out.strip()
    t.vm.sh(f'ip addr add 10.9.0.1/24 dev {dev} && ip link set {dev} up && '
            f'for i in $(seq 100); do [ "$(cat /sys/class/net/{dev}/carrier)" = 1 ] && exit 0; sleep 0.1; done')
    return t.vm.start_sh(f'exec dnsmasq -d -i {dev} --port=0 --dhcp-range=10.9.0.100,10.9.0.150,1h '
                         '--dhcp-broadcast --no-ping --dhcp-authoritative --leasefile-ro')


def scenario(t):
    if not os.path.exists(KERNEL):
        t.skip('iPXE', f'{KERNEL} is not installed (package ipxe)')
        return
    folder, plugin = t.stage.folder, t.stage.hcas.plugin
    switch = Switch(folder, plugin)
    client = None
    try:
        t.ok(switch.wait(), 'the switch runs')
        serve(t, switch.path)
        client = Client(folder, plugin, switch.path)
        t.ok(client.wait('TEST-END', 200), 'iPXE runs its script to the end', client.text()[-800:])
        text = client.text()
        t.ok('using mt26428' in text, "iPXE's ConnectX driver has taken the HCA", text[-800:])
        t.ok('Link:up' in text, 'its link is up: a LID, and the broadcast group joined', text[-800:])
        t.ok(re.search(r'net0\.dhcp/ip:ipv4 = 10\.9\.0\.1[0-5]\d', text), 'DHCP over IPoIB gave it an address',
             text[-800:])
        with open(client.log, encoding='utf-8', errors='replace') as log:
            strange = [x for x in log if 'violation' in x and 'CLOSE_HCA with 1 objects' not in x]
        t.ok(not strange, 'no violation but the memory key that iPXE never takes back', ''.join(strange))
    finally:
        if client:
            client.close()
        switch.close()
