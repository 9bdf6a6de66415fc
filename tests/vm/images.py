# SPDX-License-Identifier: GPL-2.0-only
"""What a virtual machine is made of: kernels, the root file system, the first file system in memory.

Everything is made once and kept in the cache, under a hash of what went into it.
"""
import fcntl
import functools
import hashlib
import lzma
import os
import shutil
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get('LASTREF_CACHE') or os.path.expanduser('~/.cache/lastref')
GUEST = os.path.join(HERE, 'guest')
KERNELS = ('6.12', '6.1', 'debug')
# Loaded before the root is mounted; names that are built into a kernel are skipped.
EARLY = ('crc32c_generic', 'virtio_pci', 'virtio_blk', 'virtio_console', 'ext4')


class Unavailable(Exception):
    """Something a virtual machine needs cannot be had; one clear line says what."""


def tool(*argv):
    """Run a program of the repository and return what it prints: a path."""
    done = subprocess.run([os.path.join(REPO, argv[0]), *argv[1:]], stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        raise Unavailable(f'{os.path.basename(argv[0])} failed (its own line is above)')
    return done.stdout.strip()


class lock:                                          # used as `with lock(name):`
    """A lock of the cache, as `locked` of scripts/lib.sh takes it."""

    def __init__(self, name):
        os.makedirs(os.path.join(CACHE, 'lock'), exist_ok=True)
        self.file = open(os.path.join(CACHE, 'lock', name), 'w', encoding='utf-8')

    def __enter__(self):
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


class Kernel:
    """One of KERNELS: where its files are."""

    def __init__(self, name):
        self.name = name
        if name == 'debug':
            folder = tool('tests/vm/build-debug-kernel')
            self.bzimage = os.path.join(folder, 'bzImage')
            self.headers = os.path.join(folder, 'build')
        elif name in KERNELS:
            folder = tool('scripts/kernel', 'image', name)
            self.bzimage = os.path.join(folder, 'vmlinuz')
            self.headers = None
        else:
            raise Unavailable(f'there is no kernel {name}; there are {", ".join(KERNELS)}')
        self.folder = folder
        self.vmlinux = os.path.join(folder, 'vmlinux')
        with open(os.path.join(folder, 'release'), encoding='utf-8') as text:
            self.release = text.read().strip()
        self.modules = os.path.join(folder, 'lib', 'modules', self.release)

    def kdir(self):
        """The folder to build modules against."""
        return self.headers or tool('scripts/kernel', 'headers', self.name)

    def has_root_modules(self):
        """True if the root file system has this kernel's modules, so that none need to come along."""
        return self.name != 'debug'


@functools.lru_cache(maxsize=None)
def kernel(name):
    """The kernel of a name; looked up once, since that asks apt."""
    return Kernel(name)


class Cpio:
    """Writer of the `newc` archives that the kernel takes as its first file system."""

    def __init__(self, path):
        self.file, self.inode, self.folders = open(path, 'wb'), 0, set()

    def _entry(self, name, mode, data=b''):
        self.inode += 1
        name = name.encode()
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b'070701' + b''.join(b'%08x' % f for f in fields) + name + b'\0'
        self.file.write(head + b'\0' * (-len(head) % 4) + data + b'\0' * (-len(data) % 4))

    def folder(self, name):
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self._entry(name, stat.S_IFDIR | 0o755)

    def add(self, name, data, mode=0o644):
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFREG | mode, data)

    def add_file(self, name, path):
        with open(path, 'rb') as file:
            self.add(name, file.read(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def close(self):
        self._entry('TRAILER!!!', 0)
        self.file.close()


def digest(paths, *words):
    """A short hash of files and words."""
    total = hashlib.sha256('\0'.join(words).encode())
    for path in paths:
        with open(path, 'rb') as file:
            total.update(b'%s\0%o\0' % (path.encode(), os.stat(path).st_mode) + file.read())
    return total.hexdigest()[:16]


def guest_files():
    return sorted(os.path.join(GUEST, f) for f in os.listdir(GUEST) if not f.startswith('.'))


def made(name, make):
    """A folder of the cache: made by make(folder) if it is not there, under a lock."""
    path = os.path.join(CACHE, 'guest', name)
    if not os.path.isdir(path):
        with lock('guest-' + name):
            if not os.path.isdir(path):
                shutil.rmtree(path + '.part', ignore_errors=True)
                os.makedirs(path + '.part')
                make(path + '.part')
                os.rename(path + '.part', path)
    return path


def program(name, files, *options):
    """A small C program of the harness, compiled from files of it."""
    def make(folder):
        sources = [f for f in files if f.endswith('.c')]
        done = subprocess.run(['gcc', '-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', *options,
                               '-o', os.path.join(folder, name), *sources],
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise Unavailable(f'{name} does not compile: ' + done.stderr.strip().split('\n')[0])
    return os.path.join(made(f'{name}-{digest(files)}', make), name)


def agent():
    """The guest's agent, a static program."""
    return program('agent', guest_files(), '-static')


@functools.lru_cache(maxsize=None)
def tsc_khz():
    """Frequency of the host's time stamp counter, which a guest under TCG sees as its own."""
    tool_path = program('tsc', [os.path.join(HERE, 'host', 'tsc.c')])
    return int(subprocess.run([tool_path], stdout=subprocess.PIPE, text=True, check=True).stdout)


def early_modules(kern):
    """Files of the modules to load first, in the order to load them."""
    files = []
    root = os.path.dirname(os.path.dirname(os.path.dirname(kern.modules)))
    for name in EARLY:
        done = subprocess.run(['modprobe', '-d', root, '-S', kern.release, '--show-depends', name],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        for line in done.stdout.splitlines():
            verb, _, path = line.partition(' ')
            path = path.split(' ')[0]
            if verb == 'insmod' and path not in files:
                files.append(path)
    return files


def module_bytes(path):
    opener = lzma.open if path.endswith('.xz') else open
    with opener(path, 'rb') as file:
        return file.read()


def fill_initramfs(archive, kern):
    archive.add_file('init', agent())
    archive.add_file('agent.service', os.path.join(GUEST, 'agent.service'))
    archive.add_file('tap.sh', os.path.join(GUEST, 'tap.sh'))
    order = []
    for path in early_modules(kern):
        name = os.path.basename(path).removesuffix('.xz')
        archive.add('modules/' + name, module_bytes(path))
        order.append(name + '\n')
    archive.add('modules/order', ''.join(order).encode())
    if kern.has_root_modules():
        return
    for folder, _, names in os.walk(kern.modules):
        for name in names:
            path = os.path.join(folder, name)
            archive.add_file(os.path.join('lib/modules', kern.release,
                                          os.path.relpath(path, kern.modules)), path)


@functools.lru_cache(maxsize=None)
def initramfs(kern):
    """The first file system of this kernel's machines."""
    def make(folder):
        archive = Cpio(os.path.join(folder, 'initramfs'))
        fill_initramfs(archive, kern)
        archive.close()
    key = digest([*guest_files(), __file__, os.path.join(kern.folder, 'config')],
                 kern.folder, ' '.join(EARLY))
    return os.path.join(made(f'initramfs-{kern.name}-{key}', make), 'initramfs')


@functools.lru_cache(maxsize=None)
def root_image():
    """The root file system; never written to."""
    return os.path.join(tool('tests/vm/build-rootfs'), 'root.ext4')


if __name__ == '__main__':
    for kernel_name in sys.argv[1:]:
        print(initramfs(kernel(kernel_name)))
