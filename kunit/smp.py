# SPDX-License-Identifier: GPL-2.0-only
# scenario: the KUnit suites as modules, on two processors
# kernel: debug
# cpus: 2
# limit: 1800
# alone: yes
"""The smp lane of kunit/run: a scenario of tests/vm.

Suites and our modules are built against the debug kernel from a copy of their folders, loaded one
suite at a time, and read back from KUnit's debugfs files, one KTAP document a suite, so that none
can be missed. The harness looks for the kernel's complaints. KUNIT_GLOB selects suites by name, several
with commas between.
"""
import fnmatch
import os
import re
import shutil
import subprocess

import images

HERE = os.path.dirname(os.path.realpath(__file__))
FOLDERS = ('kunit', 'drivers', 'emulator')
OURS = ('drivers/infiniband/core/', 'drivers/infiniband/ulp/ipoib/')
OPTION = re.compile(r'^config (\w+)\n\ttristate', re.M)
RESULT = re.compile(r'^ {4}(not )?ok \d+ (.*?)(?: # SKIP *(.*))?$')
INJECTED = re.compile(r'^\s*# (\w+): (\d+ failures injected)$', re.M)
PLAN = re.compile(r'^ {4}1\.\.(\d+)$', re.M)
RESULTS = '/sys/kernel/debug/kunit'
# What takes as long as one likes is done at length on user mode Linux; here it is two processors
# that count.
PARAMETERS = {'order_kunit': 'rounds=20 every=24'}


def build():
    """Build everything that can be a module; returns {module name: path}."""
    kernel = images.kernel('debug')
    work = os.path.join(images.REPO, 'build', 'kunit-smp')
    options = []
    for folder, _, names in os.walk(HERE):
        for name in names:
            if name == 'Kconfig':
                with open(os.path.join(folder, name), encoding='utf-8') as text:
                    options += [f'CONFIG_{o}=m' for o in OPTION.findall(text.read())]
    with images.lock('kunit-smp'):
        for folder in FOLDERS:
            if os.path.isdir(os.path.join(images.REPO, folder)):
                shutil.copytree(os.path.join(images.REPO, folder), os.path.join(work, folder),
                                dirs_exist_ok=True, symlinks=True)
        with open(os.path.join(work, 'Kbuild'), 'w', encoding='utf-8') as text:
            text.write(f'subdir-ccflags-y += -I{work}/drivers/infiniband/include\n'
                       f"obj-m += {' '.join(OURS)} kunit/suites/\n")
        done = subprocess.run(['make', '-s', '-C', kernel.kdir(), f'M={work}',
                               f'-j{os.cpu_count() or 1}', *options, 'modules'],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
    if done.returncode:
        raise images.Unavailable('the suites do not build for the debug kernel:\n' + done.stdout)
    with open(os.path.join(work, 'modules.order'), encoding='utf-8') as text:
        paths = [os.path.join(work, re.sub(r'^.*kunit-smp/', '', line.strip())
                              .removesuffix('.o').removesuffix('.ko') + '.ko') for line in text]
    return {os.path.basename(p).removesuffix('.ko'): p for p in paths}


def depends(path):
    """The modules that a module needs."""
    done = subprocess.run(['modinfo', '-F', 'depends', path], stdout=subprocess.PIPE, text=True,
                          check=True)
    return [name for name in done.stdout.strip().split(',') if name]


def load(t, modules, name, loaded):
    """Load a module and what it needs, each once."""
    if name in loaded:
        return
    loaded.add(name)
    if name not in modules:
        t.vm.sh(f'modprobe {name}')
        return
    for other in depends(modules[name]):
        load(t, modules, other, loaded)
    t.vm.put_file(modules[name], f'/run/{name}.ko')
    t.vm.sh(f'insmod /run/{name}.ko {PARAMETERS.get(name, "")}', limit=240)


def read(t, suite):
    """One KTAP document into test points."""
    text = t.vm.sh(f'cat {RESULTS}/{suite}/results').out
    plan = PLAN.search(text)
    found = [RESULT.match(line) for line in text.splitlines()]
    found = [m for m in found if m]
    injected = dict(INJECTED.findall(text))
    for bad, name, why in (m.groups() for m in found):
        told = f' ({injected[name]})' if name in injected else ''
        if why is not None:
            t.skip(f'{suite}: {name}', why)
        elif not t.ok(not bad, f'{suite}: {name}{told}'):
            t.note('\n'.join(x for x in text.splitlines() if f'# {name}' in x or 'xpect' in x))
    t.ok(plan and len(found) == int(plan[1]), f'{suite}: every test of the plan has a result')


def suites(t):
    return set(t.vm.sh(f'ls {RESULTS} 2>/dev/null || true').out.split())


def scenario(t):
    """Load, read, unload."""
    modules = build()
    globs = (os.environ.get('KUNIT_GLOB') or '*').split(',')
    loaded, seen = {'kunit'}, set()
    t.vm.sh('modprobe kunit enable=1')
    # insmod waits for the tests of its module; one may take two minutes, as on user mode Linux
    t.vm.sh('echo 120 >/proc/sys/kernel/hung_task_timeout_secs')
    t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug')
    for name in [n for n in modules if n.endswith('_kunit') and n != 'lastref_kunit']:
        if not any(fnmatch.fnmatch(name, glob) for glob in globs):
            continue
        load(t, modules, name, loaded)
        new = suites(t) - seen
        if not t.ok(new, f'{name} ran'):
            continue
        for suite in sorted(new):
            read(t, suite)
        seen |= new
        t.vm.sh(f'rmmod {name}')
        seen &= suites(t)
    t.ok(len(loaded) > 1, 'a suite was selected')
