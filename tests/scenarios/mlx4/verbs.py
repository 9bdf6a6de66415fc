# SPDX-License-Identifier: GPL-2.0-only
# scenario: every kind of object and of request of our mlx4_ib, between two HCAs
# kernel: 6.12 6.1 debug
# hcas: 2
# fabric: two
# modules: ours
# limit: 400
"""The cases of tests/modules/traffic, then HCAs whose QPs cannot be taken back.

A line a case: UD, large sends, multicast, RC, UC, SRQ, XRC, fast registration, windows, errors, states.
"""
import ktraffic

TOTALS = ktraffic.TOTALS
CASES = 16


def ask(t, hca, what):
    return t.vm.qmp.command('qom-get', path=f'/machine/peripheral/{hca}', property=what)


def load(t):
    t.vm.sh('modprobe mlx4_ib && udevadm settle')
    ktraffic.put(t)
    ktraffic.insert(t)


def cases(t):
    """Runs all cases; one result each."""
    t.vm.sh(f'echo 1 >{TOTALS}; for i in $(seq 1200); do [ "$(sed -n "s/^cases //p" {TOTALS})" -ge 1 ] && '
            'exit 0; sleep 0.1; done; exit 1', limit=300, check=False)
    lines = t.vm.sh("dmesg | sed -n 's/^.*verbs: //p'").out.splitlines()
    for line in lines:
        name, _, what = line.partition(': ')
        t.equal(what, 'ok', f'case {name}')
    t.equal(len(lines), CASES, 'every case has been run')
    now = ktraffic.totals(t)
    t.equal((now['cases_failed'], now['bad'], now['lost'], now['double']), (0, 0, 0, 0),
            'nothing failed, was wrong, was lost or came twice')


def never_reset(t, rule, what):
    """QPs whose reset fails for ever: their HCA ends, keeps nothing of ours, and works again."""
    where = t.vm.sh('basename $(ls -d /sys/bus/pci/drivers/mlx4_core/0* | head -n 1)').out.strip()
    t.vm.qmp.command('qom-set', path='/machine/peripheral/hca0', property='fault', value=rule)
    start = float(t.vm.sh('cut -d" " -f1 /proc/uptime').out)
    t.vm.sh(f'echo {where} >/sys/bus/pci/drivers/mlx4_core/unbind', limit=60)
    took = float(t.vm.sh('cut -d" " -f1 /proc/uptime').out) - start
    t.ok(took <= 15, f'the removal ends within 15 s of guest time when {what}', f'{took:.1f} s')
    t.equal(ask(t, 'hca0', 'audit'), '', f'the HCA has been reset and holds nothing when {what}')
    now = ktraffic.totals(t)
    t.equal((now['lost'], now['double']), (0, 0), f'every request completed once when {what}')
    t.vm.qmp.command('qom-set', path='/machine/peripheral/hca0', property='fault', value='clear')
    before = now['rc']
    t.vm.sh(f'echo {where} >/sys/bus/pci/drivers/mlx4_core/bind')
    t.vm.sh(f'for i in $(seq 600); do [ "$(sed -n "s/^rc //p" {TOTALS})" -ge {before + 50} ] && exit 0; '
            'sleep 0.1; done; exit 1', limit=120, check=False)
    t.ok(ktraffic.totals(t)['rc'] >= before + 50, f'the next probe works, and traffic flows, after {what}')
    t.equal(t.stage.hcas.violations(), [], f'no violation of an HCA when {what}')


def scenario(t):
    load(t)
    cases(t)
    never_reset(t, 'cmd:0x21 times=0 status=0x01', '2RST_QP always fails')
    never_reset(t, 'cmd:0x21 times=0 silent', '2RST_QP is never answered')
    t.vm.sh('rmmod lastref_traffic mlx4_ib mlx4_core')
    t.equal([ask(t, x, 'audit') for x in ('hca0', 'hca1')], ['', ''], 'nothing is left in either HCA')
