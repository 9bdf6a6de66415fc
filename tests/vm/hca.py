# SPDX-License-Identifier: GPL-2.0-only
"""The emulated HCAs of a stage's machines: their QEMU arguments, their fabric, their violations.

Which cables there are, the `fabric:` of a scenario says:

    one     every port of every HCA on one fabric (the default)
    two     all first ports on one fabric, all second ports on another
    none    no cables

and after it, if wanted, `pcap` (capture in the stage's folder) and properties of every HCA as
name=value. In one machine the fabric lives in its QEMU; several machines meet at a switch of their own.
"""
import os
import re
import subprocess
import time

import images

FIRST_SLOT = 64                     # of HCA 0's root port
FABRICS = {'one': ('a', 'a'), 'two': ('a', 'b'), 'none': ('', '')}
VIOLATION = re.compile(r'\bviolation\b')


class Hcas:
    """All HCAs of a stage. HCA n of a machine is device `hca<n>` below root port `hcaport<n>`."""

    def __init__(self, scenario, folder):
        self.folder = folder
        self.count, self.vms = scenario.hcas, getattr(scenario, 'vms', 1)
        words = getattr(scenario, 'fabric', '').split() or ['one']
        if words[0] not in FABRICS:
            raise images.Unavailable(f"there is no fabric '{words[0]}'")
        self.names = FABRICS[words[0]]
        self.capture = 'pcap' in words
        self.properties = [w for w in words if '=' in w]
        self.plugin = images.tool('emulator/build.sh')
        self._switches = {}
        self._seen = {}
        os.makedirs(os.path.join(folder, 'hca'), exist_ok=True)
        if self.vms > 1:
            for name in sorted(set(self.names) - {''}):
                self._start_switch(name)

    def _start_switch(self, name):
        program = os.path.join(os.path.dirname(self.plugin), 'switchd')
        if not os.path.exists(program):
            raise images.Unavailable('the emulator has no switchd to connect several machines')
        path = self._socket(name)
        capture = ['-p', os.path.join(self.folder, f'fabric-{name}.pcap')] if self.capture else []
        with open(os.path.join(self.folder, f'switchd-{name}.log'), 'wb') as log:
            # pylint: disable-next=consider-using-with
            child = subprocess.Popen([program, '-n', f'fabric-{name}', *capture, path], stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log)
        self._switches[name] = child, path
        self._wait_socket(child, path)

    def kill_switches(self):
        """The switches of the machines' fabrics die; they leave their sockets behind."""
        for child, _ in self._switches.values():
            child.kill()
            child.wait()

    def restart_switches(self):
        """Others take their places; a capture begins anew."""
        for name, (_, path) in list(self._switches.items()):
            if os.path.exists(path):
                os.unlink(path)
            self._start_switch(name)

    def _socket(self, name):
        # a socket's path has to be short
        return f'/tmp/lastref-{os.getpid()}-{abs(hash(self.folder)) % 10 ** 8}-{name}'

    @staticmethod
    def _wait_socket(child, path):
        end = time.monotonic() + 20
        while child.poll() is None and time.monotonic() < end:
            if os.path.exists(path):
                return
            time.sleep(0.02)
        raise images.Unavailable('switchd did not start')

    def log_path(self, vm, name):
        return os.path.join(self.folder, 'hca', f'vm{vm}-{name}.log')

    def device(self, vm, number, name=None):
        """The argument of -device (and of HMP's device_add) for an HCA of machine `vm`."""
        name = name or f'hca{number}'
        text = (f'cx3-hca,id={name},bus=hcaport{number},'
                f'guid={0x0002c90300000000 + (vm << 16) + ((number + 1) << 8):#x},'
                f'log={self.log_path(vm, name)}')
        for end, fabric in enumerate(self.names, 1):
            if fabric:
                text += f',port{end}={self._socket(fabric) if self.vms > 1 else fabric}'
        return ','.join([text, *self.properties])

    def arguments(self, vm):
        """Arguments of QEMU for machine number `vm`."""
        line = ['-plugin', f'file={self.plugin}']
        if self.vms == 1:
            for name in sorted(set(self.names) - {''}):
                capture = f',pcap={self.folder}/fabric-{name}.pcap' if self.capture else ''
                line += ['-device', f'cx3-fabric,id={name}{capture}']
        for n in range(self.count):
            line += ['-device', f'cx3-root-port,id=hcaport{n},bus=pcie.0,slot={FIRST_SLOT + n},'
                                f'chassis={FIRST_SLOT + n}', '-device', self.device(vm, n)]
        return line

    @staticmethod
    def unplug(vm, name):
        """The button of the slot is pressed; the event that tells that the guest has let go of it, or None."""
        mark = vm.qmp.mark()
        vm.qmp.command('device_del', id=name)
        return vm.qmp.wait_event('DEVICE_DELETED', mark, 60, device=name)

    def plug(self, vm, number, name, extra=''):
        """Put card `name` in the slot of HCA `number`; what QEMU has to say against it, '' if nothing.

        Where the native hot-plug driver has the slot, a card that comes while the guest is switching it off is
        let go with the one before, and from "power off" to "indicator off" the guest takes a second. ACPI's way
        of hot-plug knows no such state.
        """
        vm.sh(f's=/sys/bus/pci/slots/{FIRST_SLOT + number}/power; [ -e $s ] || exit 0; '
              'for i in $(seq 100); do [ "$(cat $s)" = 0 ] && sleep 3 && exit 0; sleep 0.1; done; exit 1')
        return vm.qmp.hmp('device_add ' + self.device(0, number, name) + extra).strip()

    def audits(self, vm):
        """What each HCA that a machine began with holds; all empty after a clean removal."""
        return [vm.qmp.command('qom-get', path=f'/machine/peripheral/hca{n}', property='audit')
                for n in range(self.count)]

    def violations(self):
        """What the HCAs have complained of since the last call, a line each."""
        found = []
        folder = os.path.join(self.folder, 'hca')
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding='utf-8', errors='replace') as text:
                text.seek(self._seen.get(name, 0))
                new = text.read()
                self._seen[name] = text.tell()
            found += [f'{name}: {line}' for line in new.splitlines() if VIOLATION.search(line)]
        return found

    def stop(self):
        for child, path in self._switches.values():
            child.terminate()
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if os.path.exists(path):
                os.unlink(path)
        self._switches = {}
