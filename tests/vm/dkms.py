# SPDX-License-Identifier: GPL-2.0-only
"""This repository installed by DKMS in the guests' root file system, natively in a chroot of it.

That saves the emulated CPU's time; what DKMS does there is what it does on a user's machine.
"""
import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile

import ending
import images

WHAT = ('Kbuild', 'Makefile', 'dkms.conf', 'scripts', 'drivers')


def run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@contextlib.contextmanager
def mounted(*arguments, at):
    os.makedirs(at, exist_ok=True)
    run('mount', *arguments, at)
    try:
        yield at
    finally:
        run('umount', '-l', at)


@contextlib.contextmanager
def place():
    """An empty folder for mounts, and a stack to make them on, which is undone also if the program ends in between.
    Only empty folders are removed: whatever a mount that did not go away still shows is not ours."""
    top, stack = tempfile.mkdtemp(), contextlib.ExitStack()

    def undo():
        stack.close()
        for name in (*os.listdir(top), '.'):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.normpath(f'{top}/{name}'))

    with ending.at_the_latest(undo):
        yield top, stack


@contextlib.contextmanager
def furnished(root):
    """What programs in a chroot expect to find, and this repository in /root/lastref."""
    with mounted('-t', 'proc', 'none', at=f'{root}/proc'), \
            mounted('--rbind', '/dev', at=f'{root}/dev'):
        home = f'{root}/root/lastref'
        os.makedirs(home)
        for name in WHAT:
            source = os.path.join(images.REPO, name)
            if os.path.isdir(source):
                shutil.copytree(source, f'{home}/{name}',
                                ignore=shutil.ignore_patterns('*.o', '*.ko', '*.mod*', '.*'))
            else:
                shutil.copy(source, home)
        yield root


@contextlib.contextmanager
def layer():
    """The guest's root file system, writable; what is written is thrown away."""
    with place() as (top, stack):
        above = stack.enter_context(mounted('-t', 'tmpfs', 'none', at=f'{top}/layer'))
        below = stack.enter_context(mounted('-o', 'loop,ro,noload', images.root_image(),
                                            at=f'{top}/lower'))
        for name in ('upper', 'work'):
            os.mkdir(f'{above}/{name}')
        root = stack.enter_context(mounted(
            '-t', 'overlay', '-o', f'lowerdir={below},upperdir={above}/upper,'
            f'workdir={above}/work', 'none', at=f'{top}/root'))
        yield stack.enter_context(furnished(root))


@contextlib.contextmanager
def copy(path):
    """A copy of the guest's root file system at `path`, writable; it is kept."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    run('cp', '--sparse=always', '--reflink=auto', images.root_image(), path)
    with place() as (top, stack):
        root = stack.enter_context(mounted('-o', 'loop', path, at=f'{top}/root'))
        yield stack.enter_context(furnished(root))


def inside(root, script):
    """Run a shell command in the chroot; its output and errors are in .stdout. It ends with this program at the latest,
    and with all that it has started, before the mounts go."""
    argv = ['chroot', root, '/bin/sh', '-c', script]
    with subprocess.Popen(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as job:
        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)

        with ending.at_the_latest(end):
            out = job.communicate()[0]
    return subprocess.CompletedProcess(argv, job.returncode, out)


def found(root, release, module):
    """The path by which modprobe would load a module."""
    return inside(root, f'modinfo -k {release} -n {module}').stdout.strip()


def carry(t, root):
    """What DKMS has installed, and depmod's files, into the guest."""
    tree = f'{root}/lib/modules/{t.vm.kernel.release}'
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode='w') as archive:
        archive.add(f'{tree}/updates', 'updates')
        for name in os.listdir(tree):
            if name.startswith('modules.'):
                archive.add(f'{tree}/{name}', name)
    t.vm.put(data.getvalue(), '/run/lastref/dkms.tar', limit=120)
    t.vm.sh('tar -x -C "/lib/modules/$(uname -r)" --no-same-owner -f /run/lastref/dkms.tar',
            limit=120)


def version(root, text=None):
    """The version in the dkms.conf of the repository in the chroot; with `text`, another is written."""
    path = f'{root}/root/lastref/dkms.conf'
    with open(path, encoding='utf-8') as file:
        conf = file.read()
    if text:
        conf = re.sub('(?m)^PACKAGE_VERSION=.*$', f'PACKAGE_VERSION="{text}"', conf)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(conf)
    return re.search('(?m)^PACKAGE_VERSION="(.*)"$', conf).group(1)
