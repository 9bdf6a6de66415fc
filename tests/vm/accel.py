# SPDX-License-Identifier: GPL-2.0-only
"""Which accelerator of QEMU works here. A /dev/kvm that opens need not run a guest: one is tried."""
import functools
import os
import subprocess
import tempfile
import time

import images

TCG = 'tcg,thread=multi'


def kvm_boots(seconds=20):
    """Boot a kernel under KVM up to its first program."""
    if not os.access('/dev/kvm', os.R_OK | os.W_OK):
        return False
    kernel = images.kernel('6.12')
    with tempfile.TemporaryDirectory(prefix='lastref-kvm-') as folder:
        console = os.path.join(folder, 'console')
        line = ['qemu-system-x86_64', '-M', 'q35', '-accel', 'kvm', '-cpu', 'max', '-m', '512M',
                '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
                '-serial', f'file:{console}', '-kernel', kernel.vmlinux,
                '-initrd', images.initramfs(kernel), '-append',
                'console=ttyS0 panic=-1']
        with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as qemu:
            end = time.monotonic() + seconds
            while qemu.poll() is None and time.monotonic() < end:
                time.sleep(0.1)
            qemu.kill()
        try:
            with open(console, 'rb') as text:
                return b'init: cannot mount the root device' in text.read()
        except OSError:
            return False


@functools.lru_cache(maxsize=None)
def best():
    """The accelerator for machines without plugins; found out once per boot of this host."""
    forced = os.environ.get('LASTREF_ACCEL')
    if forced:
        return forced
    with open('/proc/sys/kernel/random/boot_id', encoding='utf-8') as text:
        boot = text.read().strip()
    note = os.path.join(images.CACHE, 'guest', 'accel-' + boot)
    with images.lock('accel'):
        try:
            with open(note, encoding='utf-8') as text:
                return text.read().strip()
        except OSError:
            pass
        found = 'kvm' if kvm_boots() else TCG
        os.makedirs(os.path.dirname(note), exist_ok=True)
        with open(note, 'w', encoding='utf-8') as text:
            text.write(found + '\n')
    return found
