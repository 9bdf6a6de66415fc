# SPDX-License-Identifier: GPL-2.0-only
"""Another kernel by kexec: the kernel and the first file system of this very machine, with its command line."""
import os
import shutil

import images

# kexec_file_load(), or reboot() into what it has loaded.
CALL = r'''
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
line = open('/proc/cmdline', 'rb').read().strip() + b'\0'
fds = [os.open('/share/' + name, os.O_RDONLY) for name in ('vmlinuz', 'initramfs')]
if libc.syscall(320, fds[0], fds[1], ctypes.c_ulong(len(line)), line, ctypes.c_ulong(0)):
    raise OSError(ctypes.get_errno(), 'kexec_file_load')
if %d:
    libc.sync()
    libc.reboot(0x45584543)
'''


def put(t):
    """Both where this boot of the guest can read them."""
    folder = t.vm.share()
    kern = images.kernel(t.scenario.spec.kernel)
    shutil.copy(kern.bzimage, os.path.join(folder, 'vmlinuz'))
    shutil.copy(images.initramfs(kern), os.path.join(folder, 'initramfs'))


def restart(t):
    """As one test point, that they can be loaded; then into them, whatever runs."""
    put(t)
    t.vm.put((CALL % 0).encode(), '/run/load.py')
    got = t.vm.sh('python3 /run/load.py', check=False)
    t.equal((got.status, got.err), (0, ''), 'a kernel is loaded for kexec')
    t.vm.put((CALL % 1).encode(), '/run/kexec.py')
    t.vm.boot_again('exec python3 /run/kexec.py')
