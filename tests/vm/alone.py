# SPDX-License-Identifier: GPL-2.0-only
"""A machine of its own under -icount, in which every instruction counts.

One CPU, everything in its first file system, no disk, no console input, nothing asked before the end; so two runs
of one workload are equal to the instruction. SeaBIOS, not qboot: with that one boots differ.
"""
import os
import socket
import subprocess
import time

import images
import qmp

ICOUNT = ('-icount', 'shift=3,sleep=off', '-seed', '1',
          '-rtc', 'base=2024-01-01T00:00:00,clock=vm', '-cpu', 'max,rdrand=off,rdseed=off')
NS_PER_INSN = 8
LINE = ('console=ttyS0 panic=-1 quiet nokaslr mitigations=off tsc=reliable no_timer_check '
        'initcall_blacklist=jent_mod_init iomem=relaxed rdinit=/bin/busybox -- sh /work')
DONE = 'WORK-DONE'
B = '/bin/busybox'


def stock_modules(kern, names):
    """Modules of the kernel and what they need, as paths below its module folder, in the order to load them."""
    needs = {}
    with open(os.path.join(kern.modules, 'modules.dep'), encoding='utf-8') as text:
        for line in text:
            path, _, rest = line.partition(':')
            needs[os.path.basename(path).split('.')[0]] = [path] + rest.split()
    order = []
    for name in names:
        for path in reversed(needs[name]):
            if path not in order:
                order.append(path)
    return [os.path.join(kern.modules, path) for path in order]


def first_file_system(folder, name, paths, script):
    """An archive with busybox, the modules and `script`, whose lines find them as /m/NAME.ko; its path."""
    where = os.path.join(folder, f'{name}.cpio')
    archive = images.Cpio(where)
    archive.add_file('bin/busybox', '/bin/busybox')
    for path in paths:
        archive.add(f'm/{os.path.basename(path).split(".")[0]}.ko', images.module_bytes(path))
    for empty in ('proc', 'sys', 'dev'):
        archive.folder(empty)
    archive.add('work', '\n'.join([f'{B} mount -t proc p /proc', f'{B} mount -t sysfs s /sys',
                                   f'{B} mount -t devtmpfs d /dev', *script, '']).encode())
    archive.close()
    return where


class Run:
    """One run of such a machine with one HCA, called hca: its console, its HCA's log and what QMP says at the end."""

    def __init__(self, t, kern, initrd, name, extra='', until=DONE):
        base = os.path.join(t.stage.folder, name)
        path = f'/tmp/lastref-{os.getpid()}-{name}'
        line = ['qemu-system-x86_64', '-M', 'q35', '-smp', '1', '-accel', 'tcg,thread=single', '-m', '512M',
                *ICOUNT, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-no-shutdown',
                '-serial', f'file:{base}.console', '-qmp', f'unix:{path},server=on,wait=off',
                '-kernel', kern.vmlinux, '-initrd', initrd, '-append', LINE,
                '-plugin', f'file={t.stage.hcas.plugin}', '-device', 'cx3-root-port,id=rp0,slot=1,chassis=1',
                '-device', f'cx3-hca,id=hca,bus=rp0,port1=a,port2=a,log={base}.log,log-commands=on{extra}']
        with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            try:
                self._finish(child, base, path, until)
            finally:
                child.kill()

    def _finish(self, child, base, path, until):
        end = time.monotonic() + 280
        self.text = ''
        while until not in self.text and time.monotonic() < end and child.poll() is None:
            time.sleep(0.5)
            try:
                with open(f'{base}.console', encoding='utf-8', errors='replace') as console:
                    self.text = console.read()
            except OSError:
                pass
        time.sleep(1)
        with open(f'/proc/{child.pid}/stat', encoding='ascii') as stat:
            words = stat.read().rsplit(')', 1)[1].split()
        self.cpu = sum(int(x) for x in words[11:13]) / os.sysconf('SC_CLK_TCK')
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(path)
        monitor = qmp.Qmp(sock)
        self.counts, self.audit = (monitor.command('qom-get', path='/machine/peripheral/hca', property=what)
                                   for what in ('counts', 'audit'))
        monitor.close()
        os.unlink(path)
        with open(f'{base}.log', encoding='utf-8') as log:
            self.log = log.read()
