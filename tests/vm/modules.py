# SPDX-License-Identifier: GPL-2.0-only
"""Kernel modules for a virtual machine: built from a folder of the repository, put into a guest.

Users get the modules by DKMS, and the scenarios of installation do it that way. This is the short
way, for the debug kernel and for whoever changes one file and wants to see it run.
"""
import io
import os
import shutil
import subprocess
import tarfile

import images


def _copy(source, work, names):
    """Copy what is built from; what did not change keeps its time, so that make does little."""
    for name in names:
        there, here = os.path.join(source, name), os.path.join(work, name)
        if os.path.isdir(there):
            _copy(there, here, [n for n in os.listdir(there) if n[0] != '.'])
        elif os.path.splitext(name)[1] in ('', '.c', '.h', '.S'):
            os.makedirs(work, exist_ok=True)
            with open(there, 'rb') as file:
                data = file.read()
            if os.path.exists(here):
                with open(here, 'rb') as file:
                    if file.read() == data:
                        continue
            shutil.copyfile(there, here)


def build(source, kernel_name, *arguments, only=None):
    """Build the modules of `source` (a folder with a Kbuild) for a kernel.

    The folder (or `only` some names of it) is copied to build/modules first, so that one source can
    be built for several kernels and nothing is left beside it. Returns the paths of the modules.
    """
    kernel = images.kernel(kernel_name)
    name = os.path.relpath(source, images.REPO).replace('/', '-')
    work = os.path.join(images.REPO, 'build', 'modules', kernel_name, name)
    with images.lock(f'modules-{kernel_name}-{name}'):
        _copy(source, work, only or os.listdir(source))
        done = subprocess.run(['nice', '-n', '5', 'make', '-s', f'-j{os.cpu_count()}', '-C',
                               kernel.kdir(), f'M={work}', *arguments, 'modules'],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
    if done.returncode:
        first = [x for x in done.stdout.splitlines() if 'error' in x.lower()]
        raise images.Unavailable(f'{os.path.relpath(source, images.REPO)} does not build for '
                                 f'{kernel_name}: {(first or ["see make"])[0]}')
    return sorted(os.path.join(folder, f) for folder, _, names in os.walk(work) for f in names
                  if f.endswith('.ko'))


def ours(kernel_name):
    """Build this repository's modules for a kernel."""
    if not os.path.exists(os.path.join(images.REPO, 'Kbuild')):
        raise images.Unavailable('this tree has no module yet')
    return build(images.REPO, kernel_name, only=('Kbuild', 'drivers'))


def needs(path):
    """The names of the modules that a module needs."""
    done = subprocess.run(['modinfo', '-F', 'depends', path], stdout=subprocess.PIPE, text=True, check=True)
    return [name for name in done.stdout.strip().split(',') if name]


def test_module(kernel_name, name, also=()):
    """Build the test module of tests/modules/`name` beside ours, in the copy they were built in.

    `also` names what else of the repository it is built from. Returns the path of the module.
    """
    work = os.path.join(images.REPO, 'build', 'modules', kernel_name)
    where = os.path.join(work, 'tests', 'modules', name)
    # make does not see that the symbols of ib_core changed, and would keep their old versions
    if os.path.exists(os.path.join(where, 'Module.symvers')):
        os.remove(os.path.join(where, 'Module.symvers'))
    built = build(images.REPO, kernel_name, f'M={where}', f'KBUILD_EXTRA_SYMBOLS={work}/Module.symvers',
                  only=(f'tests/modules/{name}', *also))
    return next(x for x in built if x.endswith(f'/lastref_{name}.ko'))


def _indexed(kernel, paths):
    """A module tree of the kernel with these modules before its own, and depmod's files for it."""
    def make(folder):
        tree = os.path.join(folder, 'lib', 'modules', kernel.release)
        os.makedirs(os.path.join(tree, 'updates', 'lastref'))
        for path in paths:
            shutil.copy(path, os.path.join(tree, 'updates', 'lastref'))
        for name in os.listdir(kernel.modules):
            there = os.path.join(kernel.modules, name)
            if name == 'kernel':
                os.symlink(there, os.path.join(tree, name))
            elif name in ('modules.order', 'modules.builtin', 'modules.builtin.modinfo'):
                shutil.copy(there, tree)
        subprocess.run(['depmod', '-b', folder, kernel.release], check=True)
    key = images.digest(paths, kernel.folder)
    return os.path.join(images.made('depmod-' + key, make), 'lib', 'modules', kernel.release)


def install(vm, paths):
    """Put modules into a guest, where modprobe and udev prefer them to the kernel's own."""
    tree = _indexed(vm.kernel, paths)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode='w') as archive:
        for name in sorted(os.listdir(tree)):
            if name != 'kernel':
                archive.add(os.path.join(tree, name), name)
    vm.put(data.getvalue(), '/run/lastref/modules.tar', limit=120)
    vm.sh('tar -x -C "/lib/modules/$(uname -r)" --no-same-owner -f /run/lastref/modules.tar && '
          'rm /run/lastref/modules.tar', limit=120)
