# SPDX-License-Identifier: GPL-2.0-only
"""One virtual machine: its QEMU, commands in its guest, its kernel's log.

    with Machine(Spec(kernel='6.12'), 'build/vm/mine') as vm:
        print(vm.sh('uname -r').out)
"""
import ctypes
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

import accel
import channel
import images
import kmsg
import qmp

# tsc and timer: the guest need not calibrate. watchdog: a busy host is no soft lockup (60 s instead of
# 20). The rest saves boot time and says nothing about us.
ARGUMENTS = ('console=ttyS0 loglevel=4 log_buf_len=4M printk.devkmsg=on panic=-1 tsc=reliable '
             'no_timer_check mitigations=off nokaslr cryptomgr.notests '
             'initcall_blacklist=jent_mod_init watchdog_thresh=30')
BOOTS = ('bare', 'full')
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Spec:
    """What a machine is like. Equal specs can share a machine.

    kernel   one of images.KERNELS
    boot     bare (own PID 1 and udevd) or full (systemd)
    image    vmlinux, or bzImage for what has to come back from suspend-to-RAM (under TCG its CPUs then
             take turns, see sleep.py)
    cpus     virtual CPUs
    memory   MiB, 0 for the kernel's usual amount
    ports    PCIe root ports rp0, rp1, ... made for the scenario's devices
    port     their QEMU type
    qemu     further arguments of QEMU, as one shell-quoted string
    append   further arguments of the kernel
    root     image of another root file system, '' for the usual one
    """
    kernel: str = '6.12'
    boot: str = 'bare'
    image: str = 'vmlinux'
    cpus: int = 2
    memory: int = 0
    ports: int = 0
    port: str = 'pcie-root-port'
    qemu: str = ''
    append: str = ''
    root: str = ''

    def accelerator(self, plugins):
        if '-icount' in self.qemu:
            return 'tcg,thread=single'
        best = 'tcg,thread=multi' if plugins else accel.best()
        return 'tcg,thread=single' if best.startswith('tcg') and self.image == 'bzImage' else best

    def megabytes(self):
        return self.memory or (1280 if self.kernel == 'debug' else 1024)

    def boot_limit(self):
        """Seconds until it must have answered: several times what it takes."""
        return {'bare': 60, 'full': 180}[self.boot] * (3 if self.kernel == 'debug' else 1)


def _die_with_parent():
    _libc.prctl(1, signal.SIGKILL)                   # PR_SET_PDEATHSIG


class Machine:
    """A running virtual machine. Everything it writes goes to `folder`.

    The QEMU process ends with the thread that started it, however that ends. `device_args` are
    arguments of QEMU that need plugins (and so TCG).
    """

    def __init__(self, spec, folder, device_args=()):
        self.spec, self.folder = spec, os.path.realpath(folder)
        self.device_args = list(device_args)
        self.kernel = images.kernel(spec.kernel)
        self.name = os.path.basename(self.folder)
        self.process = self.qmp = self.channel = self.log = self.clock = None
        self.boot_seconds = self.boot_cpu = 0.0
        self._begin = 0.0
        self._sockets = None

    # --- life ---

    def command_line(self, accelerator):
        spec, folder = self.spec, self._sockets
        image = self.kernel.vmlinux if spec.image == 'vmlinux' else self.kernel.bzimage
        append = ARGUMENTS + (' lastref.full' if spec.boot == 'full' else '')
        if '-icount' in spec.qemu:
            append += ' tsc_early_khz=1000000'       # it counts the nanoseconds of virtual time
        elif accelerator.startswith('tcg'):
            append += f' tsc_early_khz={images.tsc_khz()}'
        line = ['qemu-system-x86_64', '-name', self.name, '-M', 'q35', '-accel', accelerator,
                '-cpu', 'max', '-smp', str(spec.cpus), '-m', f'{spec.megabytes()}M',
                '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
                '-kernel', image, '-initrd', images.initramfs(self.kernel),
                '-append', f'{append} {spec.append}'.strip(),
                '-drive', f'file={spec.root or images.root_image()},format=raw,if=none,id=root,snapshot=on',
                '-device', 'virtio-blk-pci,drive=root',
                '-device', 'virtio-serial-pci,id=serial',
                '-device', 'virtio-rng-pci']
        for port in ('commands', 'kmsg'):
            line += ['-chardev', f'socket,id={port},path={folder}/{port},server=on,wait=off',
                     '-device', f'virtserialport,bus=serial.0,chardev={port},name=lastref.{port}']
        line += self.console() + ['-qmp', f'unix:{folder}/qmp,server=on,wait=off']
        line += ['-fsdev', f'local,id=share,path={self.folder}/share,security_model=none',
                 '-device', 'virtio-9p-pci,fsdev=share,mount_tag=share']
        for n in range(spec.ports):
            line += ['-device', f'{spec.port},id=rp{n},slot={n + 1},chassis={n + 1},bus=pcie.0']
        return line + shlex.split(spec.qemu) + self.device_args

    def console(self):
        return ['-serial', f'file:{self.folder}/console.log']

    def launch(self):
        """Start QEMU; does not wait for the guest."""
        os.makedirs(os.path.join(self.folder, 'share'), exist_ok=True)
        self._sockets = tempfile.mkdtemp(prefix='lastref-vm-')   # a socket's path must be short
        self._begin = time.monotonic()
        try:
            self._launch()
        except (channel.GuestGone, qmp.QmpError) as why:
            self.stop()
            raise channel.GuestGone(f'{why}; {self.last_words()}') from why
        except BaseException:
            self.stop()
            raise

    def start(self):
        """Boot it (launch() may have been called already); returns when it takes commands.

        Now and then QEMU's emulation runs a half-patched instruction of the kernel on a second CPU, and
        the kernel dies of int3 before its first program; nothing of ours is there yet. It boots again.
        """
        for last in (False, False, True):
            if self.process is None:
                self.launch()
            try:
                self.channel.wait_hello(self.spec.boot_limit(), lambda: self.process.poll() is None)
                break
            except (channel.GuestGone, qmp.QmpError) as why:
                self.stop()
                if last or 'Oops: int3' not in self.console_text():
                    raise channel.GuestGone(f'{why}; {self.last_words()}') from why
                self.process = None
            except BaseException:
                self.stop()
                raise
        self.boot_seconds = time.monotonic() - self._begin
        self.boot_cpu = self.cpu_seconds()
        return self

    def _launch(self):
        plugins = any('-plugin' in a for a in [*self.device_args, self.spec.qemu])
        line = self.command_line(self.spec.accelerator(plugins))
        with open(os.path.join(self.folder, 'command'), 'w', encoding='utf-8') as text:
            text.write(shlex.join(line) + '\n')
        with open(os.path.join(self.folder, 'qemu.log'), 'wb') as errors:
            # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
            self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=errors,
                                            stderr=errors, preexec_fn=_die_with_parent)
        self.log = kmsg.KernelLog(os.path.join(self.folder, 'kmsg.log'))
        self.qmp = qmp.Qmp(self._connect('qmp'))
        sock = self._connect('kmsg')
        threading.Thread(target=self._listen, args=(sock,), daemon=True).start()
        self.clock = channel.Clock(self.process.pid)
        self.channel = channel.Channel(self._connect('commands'), self.clock)

    def _connect(self, name):
        end = time.monotonic() + 30
        path = os.path.join(self._sockets, name)
        while True:
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.connect(path)
                return sock
            except OSError:
                sock.close()
                if self.process.poll() is not None or time.monotonic() > end:
                    raise channel.GuestGone('QEMU did not start') from None
                time.sleep(0.02)

    def _listen(self, sock):
        try:
            for kind, _, data in channel.frames(sock):
                if kind == channel.KMSG:
                    self.log.record(data)
                elif kind == channel.LOST:
                    self.log.lost()
                elif kind == channel.TICK:
                    self.log.tick(int.from_bytes(data, 'little'))
        except (OSError, ValueError):
            pass

    def cpu_seconds(self):
        """CPU time that the machine has used, all its threads together."""
        with open(f'/proc/{self.process.pid}/stat', encoding='ascii') as text:
            fields = text.read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def last_words(self):
        """What QEMU or the console said last, for a machine that died."""
        for name in ('qemu.log', 'console.log'):
            try:
                with open(os.path.join(self.folder, name), errors='replace',
                          encoding='utf-8') as text:
                    lines = [line.strip() for line in text if line.strip()]
            except OSError:
                continue
            if lines:
                return f'{name}: {lines[-1]}'
        return f'nothing on its console; see {self.folder}'

    def console_text(self):
        """What the console said, '' if there is none."""
        try:
            with open(os.path.join(self.folder, 'console.log'), errors='replace',
                      encoding='utf-8') as text:
                return text.read()
        except OSError:
            return ''

    def console_splats(self):
        """Complaints on the console: a panic gets no further than there."""
        return kmsg.splats([line.rstrip() for line in self.console_text().splitlines()])

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        """End it, at once: nothing of its disk is kept."""
        if self.process is not None:
            if self.qmp and self.alive():
                try:
                    self.qmp.command('quit', limit=5)
                except qmp.QmpError:
                    pass
            for end in (lambda: None, self.process.terminate, self.process.kill):
                end()
                try:
                    self.process.wait(5)
                    break
                except subprocess.TimeoutExpired:
                    continue
        if self.qmp:
            self.qmp.close()
        if self.log:
            self.log.close()
        if self._sockets:
            shutil.rmtree(self._sockets, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def boot_again(self, script):
        """Run a shell command that makes the guest start anew (reboot, kexec -e); returns when the next
        kernel takes commands. The commands that ran are gone, and so is what was written to its disk
        by nobody's sync."""
        self.qmp.command('set-action', reboot='reset')
        self.log.expect_boot()
        self.channel.expect_boot()
        self.start_sh(script)
        self.channel.wait_hello(self.spec.boot_limit(), self.alive)

    def power_off(self):
        """The guest switches itself off under whatever it does; it is switched on again. Returns the event
        by which QEMU tells off from a hang, or none."""
        mark = self.qmp.mark()
        self.qmp.command('set-action', shutdown='pause', reboot='reset')
        self.log.expect_boot()
        self.channel.expect_boot()
        self.start_sh('exec poweroff -f')
        gone = self.qmp.wait_event('SHUTDOWN', mark, 60)
        self.qmp.command('system_reset')
        self.qmp.command('cont')
        self.channel.wait_hello(self.spec.boot_limit(), self.alive)
        return gone

    # --- in the guest ---

    def start_sh(self, script, watch=None):
        """Start a shell command in the guest; returns a channel.Job."""
        return self.channel.start(['/bin/sh', '-c', script], watch)

    def sh(self, script, limit=60, check=True):
        """Run a shell command in the guest and return its channel.Result."""
        done = self.start_sh(script).wait(limit)
        if check and done.status:
            words = (done.err or done.out).strip().split('\n')[-1]
            raise AssertionError(f'exit status {done.status}: {script}: {words}')
        return done

    def put(self, data, path, mode=0o644, limit=60):
        """Write a file in the guest."""
        done = self.channel.put(data, path, mode, limit)
        if done.status:
            raise AssertionError(f'cannot write {path}: {done.err.strip()}')

    def get(self, path, limit=60):
        """Text of a file in the guest (of sysfs, say); quicker than starting a program there."""
        done = self.channel.get(path, limit)
        if done.status:
            raise AssertionError(f'cannot read {done.err.strip()}')
        return done.out

    def put_file(self, source, path, limit=60):
        """Copy a file of the host into the guest, with its permissions."""
        with open(source, 'rb') as file:
            self.put(file.read(), path, os.stat(source).st_mode & 0o777, limit)

    def share(self):
        """Mount the folder `share` of this machine at /share in the guest; returns its host path."""
        self.sh('mountpoint -q /share || { mkdir -p /share && modprobe -qa 9pnet_virtio 9p; '
                'mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share /share; }')
        return os.path.join(self.folder, 'share')

    def say(self, text):
        """A line in the kernel's log, from user space: no detector looks at it."""
        self.put(text.encode() + b'\n', '/dev/kmsg', 0o600)

    def settle(self, limit=60):
        """Wait until everything the kernel has logged so far has arrived here."""
        mark = f'lastref: mark {time.monotonic_ns()}'
        at = self.log.position()
        self.say(mark)
        if not self.log.wait_line(mark, at, limit):
            raise channel.GuestGone('the kernel log does not arrive any more')

    def hmp(self, line):
        return self.qmp.hmp(line)
