# SPDX-License-Identifier: GPL-2.0-only
# scenario: report 2: unbind, sleep, fatal error and shutdown under a flood of MADs; interfaces come back as they were
# kernel: 6.12 debug
# image: bzImage
# hcas: 3
# fabric: one
# modules: ours
# limit: 500
# alone: yes
"""What was reported: MADs still arriving while an HCA left, slept or failed reached memory that was free.

The flood: ibping as fast as it goes from the subnet manager's HCA to both ports of HCA 0, whose end
answers, and queries of the subnet from HCA 0 itself. All of it begins anew when its device comes back.
"""
import ipnet
import ipways

ECHO = ('while :; do for d in $(ls {where}/infiniband 2>/dev/null); do ibping -S -C $d -P {port}; done; '
        'sleep 0.3; done')
FLOOD = ('while :; do lid=$(cat {where}/infiniband/*/ports/{port}/lid 2>/dev/null); for d in $(ls {sm}/infiniband '
         '2>/dev/null); do [ -n "$lid" ] && timeout 20 ibping -f -c 100000 -C $d -P {port} $(($lid)); done; '
         'sleep 0.3; done')
QUERY = ('while :; do for d in $(ls {where}/infiniband 2>/dev/null); do timeout 10 saquery -C $d -P 1 NR; '
         'timeout 10 smpquery -C $d -P 2 nodeinfo -D 0; done; sleep 0.1; done')


def flood(t):
    where, sm = (f'/sys/bus/pci/devices/{ipnet.function(t, hca)}' for hca in (0, ipnet.SM))
    for script, ports in ((ECHO, (1, 2)), (FLOOD, (1, 2)), (QUERY, (1,))):
        for port in ports:
            t.vm.start_sh('exec >/dev/null 2>&1; ' + script.format(where=where, sm=sm, port=port))


def received(t):
    """Packets that HCA 0's ports have received so far."""
    where = f'/sys/bus/pci/devices/{ipnet.function(t, 0)}/infiniband/*/ports/*/counters/port_rcv_packets'
    return sum(int(x) for x in t.vm.sh(f'cat {where}').out.split())


def flows(t, what):
    """The flood arrives: at least a hundred more."""
    before = received(t)
    for _ in range(100):
        now = received(t)
        if now >= before + 100 or now < before:
            break
        t.vm.sh('sleep 0.2')
    t.ok(now >= before + 100, f'{what}: MADs arrive', f'{before} packets, then {now}')


def looks(t, hca):
    """Index, name, address and users' IP addresses of an HCA's interfaces: what stays when they are the same."""
    return [t.vm.sh(f'ip -n {ipnet.space(hca, port)} -o link | grep -v " lo:" | cut -d: -f1,2; '
                    f'ip -n {ipnet.space(hca, port)} -o -4 addr | grep -o "10.1.0[^ ]*"; '
                    f'ip -n {ipnet.space(hca, port)} -o -6 addr | grep -o "fd01[^ ]*"').out for port in (1, 2)]


def comes_back(t, way, job):
    """The interfaces of HCA 0 are the same afterwards, and a ping that was going on goes on."""
    what = way.__doc__.split(':')[0] + ' ' + way.__name__
    before = looks(t, 0)
    flows(t, what)
    way(t, 0)
    if way in ipways.ENDS_SM:
        job.kill(9)
        job.wait(60)
        job = ipnet.start_sm(t)
    ipways.back(t, 0, ipways.SAME)
    t.equal(looks(t, 0), before, f'{what}: the interfaces are the same, with their addresses')
    flows(t, f'after {what}')
    return job


def scenario(t):
    sm = ipnet.bring_up(t)
    flood(t)
    flows(t, 'at the beginning')
    ipways.unbind(t, 0)
    ipways.back(t, 0, ipways.NEW)
    flows(t, 'bound again')
    stream = ipnet.Stream(t, (0, 1), (1, 1))
    for way in (ipways.fatal, ipways.suspend):
        sm = comes_back(t, way, sm)
        t.ok(stream.goes_on(t, 6), f'{way.__name__}: the ping of before goes on', f'last answer {stream.last()}')
    stream.end()
    t.equal(t.vm.sh('cat /sys/kernel/debug/infiniband/quarantine').out, '', 'nobody is in quarantine')
    flows(t, 'right before the end')
    gone = t.vm.power_off()
    t.equal(gone and gone['data'].get('reason'), 'guest-shutdown', 'shut down under the flood, the power goes off')
    t.equal(t.stage.hcas.violations(), [], 'and the HCAs saw nothing that is forbidden')
