# SPDX-License-Identifier: GPL-2.0-only
# scenario: rdma-core's own Python tests on an emulated HCA
# kernel: 6.12
# hcas: 2
# fabric: one
# limit: 900
"""The tests that Debian ships with python3-pyverbs, unmodified, with in-tree modules.

Each test is a point; what skips says why by itself.
"""
import os
import re

import ib

SOURCE = '/usr/share/doc/rdma-core/tests'
# modules about other vendors' devices
LEAVE = 'mlx5|efa|cuda|dmabuf|hns|irdma'
RUNNER = '''
import os, sys, unittest
sys.path[:0] = ['/tmp/pv', '/tmp/pv/tests']
from args_parser import parser
parser.parse_args()
mods = sorted(f[:-3] for f in os.listdir('/tmp/pv/tests')
              if f.startswith('test_') and f.endswith('.py'))
suite = unittest.TestSuite()
for m in mods:
    try:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromName('tests.' + m))
    except Exception as e:
        print('MODULE', m, repr(e))
unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
'''


def prepare(t):
    t.vm.sh(f'mkdir -p /tmp/pv/tests && cp {SOURCE}/* /tmp/pv/tests && cd /tmp/pv/tests && '
            f'gunzip -f *.gz; rm -f $(ls | grep -E "{LEAVE}" | grep -v _base) ; ls')
    t.vm.put(RUNNER.encode(), '/tmp/pv/run.py')


def results(out):
    """(test, result) of each test; the result may stand a few lines behind the name."""
    name = None
    for line in out.splitlines():
        begin = re.match(r'(test_\w+) \(([\w.]+)\)', line)
        if begin:
            test, where = begin.groups()
            name = where if where.endswith(test) else f'{where}.{test}'
        end = re.search(r'\.\.\. (ok|FAIL|ERROR|skipped .*)$', line)
        if name and end:
            yield name.removeprefix('tests.'), end.group(1)
            name = None


def reason(out, name):
    """The traceback of a test that failed."""
    found = re.search(r'^(?:ERROR|FAIL): \w+ \(tests\.' + re.escape(name) + r'\)(.*?)\n\n',
                      out, re.M | re.S)
    return found.group(1) if found else ''


def scenario(t):
    devices = ib.bring_up(t, 'mlx4_ib ib_umad ib_uverbs rdma_ucm ib_ipoib')
    # the tests of rdma_cm want an address, those of huge pages some pages
    t.vm.sh(f'for n in $(ls /sys/class/infiniband/{devices[0]}/device/net); do '
            '[ "$(cat /sys/class/net/$n/dev_port)" != 0 ] || { ip link set $n up && '
            'ip addr add 10.1.0.1/24 dev $n; }; done; echo 16 >/proc/sys/vm/nr_hugepages')
    prepare(t)
    got = t.vm.sh(f'cd /tmp/pv && python3 run.py --dev {devices[0]} --port 1 --gid 0 2>&1',
                  check=False, limit=800)
    with open(os.path.join(t.stage.folder, 'pyverbs.log'), 'w', encoding='utf-8') as log:
        log.write(got.out)
    t.ok(re.search(r'^Ran [1-9]', got.out, re.M), 'the tests ran', got.out[-2000:])
    for name, result in results(got.out):
        if result.startswith('skipped'):
            t.skip(name, result)
        else:
            t.ok(result == 'ok', name, reason(got.out, name))
