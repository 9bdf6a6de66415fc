# SPDX-License-Identifier: GPL-2.0-only
"""Kernel modules for a virtual machine, built from a folder of the repository."""
import os
import shutil
import subprocess

import images


def build(source, kernel_name, *arguments):
    """Build the modules of `source` (a folder with a Kbuild) for a kernel.

    The folder is copied to build/modules first, so that one source can be built for several kernels
    and nothing is left beside it. Returns the paths of the modules.
    """
    kernel = images.kernel(kernel_name)
    work = os.path.join(images.REPO, 'build', 'modules', kernel_name,
                        os.path.relpath(source, images.REPO).replace('/', '-'))
    with images.lock('modules-' + os.path.basename(work) + '-' + kernel_name):
        shutil.copytree(source, work, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns('*.o', '*.ko', '*.mod*', '__pycache__'))
        done = subprocess.run(['make', '-s', '-C', kernel.kdir(), f'M={work}', *arguments,
                               'modules'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    if done.returncode:
        first = [x for x in done.stdout.splitlines() if 'error' in x.lower()]
        raise images.Unavailable(f'{os.path.relpath(source, images.REPO)} does not build for '
                                 f'{kernel_name}: {(first or ["see make"])[0]}')
    return sorted(os.path.join(work, f) for f in os.listdir(work) if f.endswith('.ko'))
