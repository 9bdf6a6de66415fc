# SPDX-License-Identifier: GPL-2.0-only
"""Kernel traffic between two HCAs (tests/modules/traffic): start it in a guest, see what it counts."""
import modules

TOTALS = '/sys/kernel/debug/lastref_traffic'
MODULE = '/run/lastref/lastref_traffic.ko'
FLOWS = ('ud', 'rc', 'rdma')
PACE = {'debug': 100}       # milliseconds; elsewhere as fast as it goes


def load(t):
    """Our mlx4_ib and the test module; two HCAs have to be there."""
    t.vm.sh('mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug; '
            'modprobe mlx4_ib && udevadm settle')
    t.equal(t.vm.sh('ls /sys/class/infiniband | wc -l').out.strip(), '2', 'two InfiniBand devices')
    put(t)
    insert(t)


def put(t):
    """Brings the test module into the guest."""
    with open(modules.test_module(t.vm.kernel.name, 'traffic'), 'rb') as module:
        t.vm.put(module.read(), MODULE)


def insert(t):
    """Loads it, at the pace that the kernel can keep."""
    t.vm.sh(f'insmod {MODULE} pace={PACE.get(t.vm.kernel.name, 0)}')


def totals(t):
    """The counters of the test module."""
    return {k: int(v) for k, v in (x.split() for x in t.vm.sh(f'cat {TOTALS}').out.splitlines())}


def zero():
    """The counters of a module that was just loaded, as far as flowing() looks at them."""
    return dict.fromkeys(('pairs', *FLOWS), 0)


def flowing(t, before, limit=60):
    """Waits until two pairs of ports more have been connected and all flows have moved.

    Returns the counters, whether or not it came to that in time.
    """
    want = ' && '.join(f'[ $(get {name}) -ge {before[name] + more} ]' for name, more in
                       (('pairs', 2), ('ud', 200), ('rc', 200), ('rdma', 20)))
    t.vm.sh(f'get() {{ sed -n "s/^$1 //p" {TOTALS}; }}; end=$(($(cut -d. -f1 /proc/uptime) + {limit})); '
            f'until {want}; do [ $(cut -d. -f1 /proc/uptime) -lt $end ] || exit 1; sleep 0.1; done',
            limit=limit * 5, check=False)
    return totals(t)


def flows(t, before, what):
    """The same, as two test points: it flows, and nothing was wrong, lost or came twice."""
    now = flowing(t, before)
    t.ok(all(now[x] >= before[x] + 20 for x in FLOWS) and now['pairs'] >= before['pairs'] + 2,
         f'{what}: traffic flows on both pairs of ports', f'{before}\n{now}')
    wrong = {k: now[k] for k in ('bad', 'lost', 'double') if now[k]}
    t.ok(not wrong, f'{what}: every byte right, every request completed once', str(now))
    return now
