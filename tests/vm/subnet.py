# SPDX-License-Identifier: GPL-2.0-only
"""A subnet of two HCAs with two ports each and a switch: what opensm makes of it and what the
diagnostic programs say, with the in-tree modules and with ours."""
import os
import re
import subprocess


def ports(t):
    """State of each port as sysfs has it."""
    return t.vm.sh('cat /sys/class/infiniband/*/ports/*/state').out.split('\n')[:-1]


def lids(t):
    return [int(x, 16) for x in t.vm.sh('cat /sys/class/infiniband/*/ports/*/lid').out.split()]


def wait_active(t):
    """opensm's work is done when all ports are active; it says so in its log as well."""
    t.vm.sh('for i in $(seq 300); do '
            '[ "$(cat /sys/class/infiniband/*/ports/*/state | grep -c ACTIVE)" = 4 ] && exit 0; '
            'sleep 0.2; done', limit=90)


def bring_up(t):
    t.equal(ports(t), ['2: INIT'] * 4, 'four ports are in INIT without a subnet manager')
    sm = t.vm.start_sh('exec opensm -t 1000 -f /tmp/opensm.log')
    wait_active(t)
    t.equal(ports(t), ['4: ACTIVE'] * 4, 'opensm makes all four ACTIVE')
    have = lids(t)
    t.ok(len(set(have)) == 4 and 0 not in have, 'each with a LID of its own', str(have))
    return sm


def discovery(t):
    net = t.vm.sh('ibnetdiscover').out
    t.equal(len(re.findall(r'^Switch\s+36 ', net, re.M)), 1, 'ibnetdiscover: one switch of 36 ports')
    t.equal(len(re.findall(r'^Ca\s+2 ', net, re.M)), 2, 'ibnetdiscover: two HCAs of two ports')
    t.equal(len(re.findall(r'4xFDR', net)), 8, 'ibnetdiscover: four links from both sides, 4x FDR')
    info = t.vm.sh('iblinkinfo --line').out
    up = [x for x in info.splitlines() if re.search(r'Active/\s*LinkUp', x)]
    t.ok(len(up) == 8 and all('14.0625 Gbps' in x for x in up),
         'iblinkinfo: four links, Active and LinkUp, 14.0625 Gbps', info)
    stat = t.vm.sh('ibstat').out
    t.equal((stat.count('State: Active'), stat.count('Physical state: LinkUp'),
             stat.count('Rate: 56')), (4, 4, 4), 'ibstat: four ports, Active, LinkUp, 56')
    switch = t.vm.sh('ibswitches').out
    t.ok('emulated switch' in switch, 'ibswitches: its description', switch)
    return int(re.search(r'lid (\d+) lmc', switch).group(1))


def queries(t, switch, mine):
    for name, lid, want in (('nodeinfo', mine[0], 'NodeType:.*Channel Adapter'),
                            ('nodeinfo', switch, 'NodeType:.*Switch'),
                            ('portinfo', mine[3], 'LinkState:.*Active'),
                            ('switchinfo', switch, 'LinearFdbCap:.*49152'),
                            ('pkeys', mine[1], '0xffff'),
                            ('nodedesc', mine[2], 'Node Description:')):
        out = t.vm.sh(f'smpquery {name} {lid} {2 if lid in (mine[1], mine[3]) else ""}').out
        t.ok(re.search(want, out), f'smpquery {name} of LID {lid}', out)
    route = t.vm.sh(f'ibroute {switch}').out
    t.ok(all(f'0x{lid:04x}' in route for lid in mine), 'ibroute: a route to each LID', route)
    trace = t.vm.sh(f'ibtracert {mine[0]} {mine[3]}').out
    t.ok('From ca' in trace and 'To ca' in trace and '-> switch port' in trace,
         'ibtracert: from HCA to HCA through the switch', trace)
    nodes = t.vm.sh('saquery NR').out
    t.equal(nodes.count('NodeRecord dump'), 5, 'saquery: a record for each port and the switch')
    paths = t.vm.sh(f'saquery -p --slid {mine[0]} --dlid {mine[2]}').out
    t.ok('PathRecord' in paths, 'saquery: a path between the HCAs', paths)
    t.ok('sminfo: sm lid' in t.vm.sh('sminfo').out, 'sminfo: the manager answers')


def counters(t, switch, mine):
    def packets(lid, port):
        out = t.vm.sh(f'perfquery -x {lid} {port}').out
        return {k: int(v) for k, v in re.findall(r'(Port\w+):\.+(\d+)', out)}
    before = packets(mine[2], 1), packets(switch, 3)
    one, two = t.vm.sh('ls /sys/class/infiniband').out.split()     # names are udev's
    pong = t.vm.start_sh(f'exec ibping -S -C {two} -P 1')
    t.vm.sh('sleep 1')
    out = t.vm.sh(f'ibping -C {one} -P 1 -c 10 -f {mine[2]}').out
    pong.kill()
    t.ok(re.search(r'10 packets transmitted, 10 received, 0% packet loss', out),
         'ibping: ten answers of ten', out)
    after = packets(mine[2], 1), packets(switch, 3)
    for name, i in (('an HCA port', 0), ('a switch port', 1)):
        grown = {k: after[i][k] - before[i][k] for k in after[i]}
        t.ok(grown['PortRcvPkts'] >= 10 and grown['PortXmitPkts'] >= 10 and
             grown['PortXmitData'] >= 10 * 70, f'perfquery: {name} counts packets and data', str(grown))
    t.vm.sh(f'perfquery -x -R {switch} 3')
    left = packets(switch, 3)['PortXmitPkts']
    t.ok(left < 10, 'perfquery -R: resets the counters', f'{left} packets')


def flap(t, switch, sm):
    """The switch loses a link by the manager's hand; its trap brings the port back."""
    t.vm.sh(f'ibportstate {switch} 4 reset')
    wait_active(t)
    t.equal(ports(t), ['4: ACTIVE'] * 4, 'a link that was reset comes back to ACTIVE')
    t.ok(sm.status is None, 'opensm lives')
    log = t.vm.sh('cat /tmp/opensm.log').out
    t.ok(re.search(r'[Tt]rap.*128', log) or 'num:128' in log, 'the switch has sent trap 128',
         log[-600:])


def capture(t):
    file = os.path.join(t.stage.folder, 'fabric-a.pcap')

    def count(*filters):
        done = subprocess.run(['tshark', '-r', file, *filters], capture_output=True, text=True,
                              check=True)
        return len(done.stdout.splitlines())
    every = count()
    t.ok(every > 200, f'the capture has {every} packets')
    t.equal(count('-Y', 'infiniband'), every, 'all of them InfiniBand to tshark')
    t.equal(count('-Y', '_ws.malformed'), 0, 'none of them malformed')
    asked = count('-Y', 'infiniband.mad.mgmtclass == 0x81 && infiniband.mad.method == 1')
    told = count('-Y', 'infiniband.mad.mgmtclass == 0x81 && infiniband.mad.method == 0x81')
    t.ok(asked > 50 and told > 50, f'{asked} Get and {told} GetResp on directed routes')
    t.ok(count('-Y', 'infiniband.mad.method == 5') >= 1, 'a Trap among them')


def whole(t):
    """All of the above, from ports in INIT to the end of opensm; the capture is yet to be read."""
    sm = bring_up(t)
    switch = discovery(t)
    mine = lids(t)
    queries(t, switch, mine)
    counters(t, switch, mine)
    flap(t, switch, sm)
    return sm
