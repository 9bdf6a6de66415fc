# SPDX-License-Identifier: GPL-2.0-only
# scenario: each allocation of ib_core fails once while an HCA comes and goes; nothing worse than an error follows
# kernel: debug
# modules: ours
# limit: 600
# alone: yes
"""The kernel's own fault injection, failslab and fail_page_alloc, aimed at ib_core by the stack filter.

A round binds one HCA and unbinds it, and one allocation with ib_core on its stack fails on the way: of the task that
asks, of the lifecycle thread, of an item. The next round fails the next one, until a round has none left to fail. The
kernel counts the allocations that pass the filter and fails those whose number is a multiple of `interval`; that count
cannot be set back, but it is known: it begins at 0, and after each failure it is the interval (which 1 skips).

FAILSLAB_EVERY fails only each of so many slab allocations; 1 is all of them, and takes minutes.
"""
import json
import os

import fake

PROGRAM = r'''
import json, os, sys

TOP, EVERY = '/sys/kernel/debug/', int(sys.argv[1])
DRIVER = '/sys/bus/platform/drivers/lastref_fake/'
CARD = 'lastref_fake.0'


def put(path, value):
    """One write(2): a buffered file that fails to flush writes again when it is closed."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def get(path):
    with open(path) as file:
        return file.read().strip()


def text_of(module):
    """First and last address of the module's functions."""
    found = [int(line.split()[0], 16) for line in open('/proc/kallsyms')
             if line.endswith(f'[{module}]\n') and line.split()[1] in 'tT']
    return min(found), max(found)


def attempt(name):
    """Write the card to the driver's file; the error's name, or none."""
    try:
        put(DRIVER + name, CARD)
        return ''
    except OSError as error:
        return os.strerror(error.errno)


def is_bound():
    return os.path.exists(DRIVER + CARD)


def sweep(pool):
    """Fail one allocation after the other; what came of it."""
    way, count, nth, step = TOP + pool + '/', 0, 1, EVERY if pool == 'failslab' else 1
    seen = dict(failures=0, refused=0, errors=[], wrong=[])
    first, last = text_of('ib_core')
    for name, value in (('ignore-gfp-wait', 'N'), ('task-filter', 'N'), ('verbose', 0), ('space', 0),
                        ('stacktrace-depth', 32), ('require-start', first), ('require-end', last)):
        put(way + name, value)
    if pool == 'fail_page_alloc':
        put(way + 'min-order', 0)
    while True:
        interval = count + nth
        put(way + 'interval', interval)
        put(way + 'times', 1)
        put(way + 'probability', 100)
        error = attempt('bind')
        if error:
            seen['refused'] += 1
            seen['errors'] = sorted({*seen['errors'], error})
        if bool(error) == is_bound():
            seen['wrong'].append(f'{nth}: bind said {error!r}, bound: {is_bound()}')
        if is_bound() and attempt('unbind'):
            seen['wrong'].append(f'{nth}: unbind failed')
        put(way + 'probability', 0)
        if os.listdir('/sys/class/infiniband'):
            seen['wrong'].append(f'{nth}: a device is left')
        if get(way + 'times') != '0':
            break
        seen['failures'] += 1
        count = interval if interval > 1 else 0
        nth += step
    seen['of'] = nth - 1
    put(way + 'times', 0)
    return seen


print(json.dumps({pool: sweep(pool) for pool in ('failslab', 'fail_page_alloc')}))
'''


def scenario(t):
    every = int(os.environ.get('FAILSLAB_EVERY', 16))
    t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug')
    fake.load(t, hcas=1)
    fake.unbind(t, 0)
    t.vm.put(PROGRAM.encode(), '/run/failslab.py')
    told = json.loads(t.vm.sh(f'python3 /run/failslab.py {every}', limit=540).out)
    for pool, seen in told.items():
        t.ok(seen['failures'] > 0, f'{pool}: {seen["failures"]} failures injected, of about {seen["of"]} '
             f'allocations; {seen["refused"]} of them refused the bind')
        t.equal(seen['wrong'], [], f'{pool}: bound or not, but nothing between')
        t.ok(set(seen['errors']) <= {'Cannot allocate memory', 'Resource temporarily unavailable'},
             f'{pool}: a bind that fails says why', str(seen['errors']))
    t.equal(t.vm.sh('cat /sys/kernel/debug/infiniband/quarantine').out, '', 'nothing is in quarantine')
    fake.bind(t, 0)
    t.equal(t.vm.sh('ls /sys/class/infiniband').out.split(), ['vfake_0'], 'then the HCA comes up as ever')
    fake.unload(t)
