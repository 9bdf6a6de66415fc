# SPDX-License-Identifier: GPL-2.0-only
# scenario: report 1: one HCA leaves, comes back, or both at once; the other's interfaces stay and lose nothing
# kernel: 6.12 6.1 debug
# hcas: 3
# fabric: one
# modules: ours
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 500
# alone: yes
"""What was reported: two HCAs with two ports each; HCA 0 was disabled, the interfaces of HCA 1 vanished
too, and tools that were bound to the first HCA stopped. Devices are known by their GUIDs: udev names them."""
import re

import ipnet
import ipways


def guid(hca):
    return f'{0x0002c90300000000 + ((hca + 1) << 8):016x}'


def tools(t, hcas, what):
    """ibstat and rdma answer, and show the HCAs that are there."""
    want = sorted(guid(hca) for hca in hcas)
    stat = t.vm.sh('timeout 30 ibstat', check=False)
    found = sorted(re.findall(r'Node GUID: 0x([0-9a-f]{16})', stat.out))
    t.equal(found, want, f'{what}: ibstat shows HCAs {hcas}')
    rdma = t.vm.sh('timeout 30 rdma dev', check=False)
    found = sorted(x.replace(':', '') for x in re.findall(r'node_guid ([0-9a-f:]{19})', rdma.out))
    t.equal(found, want, f'{what}: rdma dev shows HCAs {hcas}')


def there(t, hcas, what):
    """These HCAs have their interfaces, the others have none."""
    have = [hca for hca in (0, 1, ipnet.SM) if all(ipnet.name_in(t, hca, port) for port in (1, 2))]
    some = [hca for hca in (0, 1, ipnet.SM) if any(ipnet.name_in(t, hca, port) for port in (1, 2))]
    t.equal((have, some), (list(hcas), list(hcas)), f'{what}: interfaces of HCAs {hcas}, no others')


def talk(t, what):
    for a, b in (((0, 1), (1, 1)), ((1, 2), (0, 2)), ((0, 1), (ipnet.SM, 1))):
        got = ipnet.ping(t, a, b, 5)
        t.ok(ipnet.lossless(got), f'{what}: {ipnet.space(*a)} and {ipnet.space(*b)} talk', got.out + got.err)


def one(t, hca, other):
    """One leaves and comes back; the other one's packets go on all the time."""
    what = f'HCA {hca} leaves'
    going = [ipnet.Stream(t, (other, port), (ipnet.SM, port)) for port in (1, 2)]
    ipways.unbind_only(t, hca)
    ipways.audited(t, hca, what)
    there(t, [other, ipnet.SM], what)
    tools(t, [other, ipnet.SM], what)
    ipways.bind(t, hca)
    ipways.back(t, hca, ipways.NEW)
    ipnet.no_loss(t, going, what)
    there(t, [0, 1, ipnet.SM], f'HCA {hca} is back')
    tools(t, [0, 1, ipnet.SM], f'HCA {hca} is back')


def both(t):
    """Both leave in the same moment, and come back in the same moment."""
    where = [ipnet.function(t, hca) for hca in (0, 1)]
    for verb in ('unbind', 'bind'):
        jobs = [t.vm.start_sh(f'echo {f} >{ipways.DRIVER}/{verb}') for f in where]
        t.equal([job.wait(60).status for job in jobs], [0, 0], f'both at once: {verb}')
        if verb == 'unbind':
            t.equal([ipnet.audit(t, hca) for hca in (0, 1)], ['', ''], 'both at once: nothing is left')
            there(t, [ipnet.SM], 'both have left')
            tools(t, [ipnet.SM], 'both have left')
    for hca in (0, 1):
        ipways.back(t, hca, ipways.NEW)
    talk(t, 'both are back')


def three_flows(t):
    """rmmod, unbind and hot-unplug in the same moment: all of HCA 0, then of one HCA each."""
    for module, unbound, unplugged in (('mlx4_ib', 0, 0), ('ib_ipoib', 0, 1)):
        what = f'rmmod {module}, unbind of HCA {unbound}, unplug of HCA {unplugged} at once'
        if module == 'mlx4_ib':
            t.sm.kill(15)
            t.sm.wait(60)
        mark = ipways.press(t, unplugged)
        # The button is heard after its five seconds; the other two are to come then.
        jobs = [t.vm.start_sh(f'sleep 4.9; rmmod {module}'),
                t.vm.start_sh(f'sleep 5; echo {ipnet.function(t, unbound)} >{ipways.DRIVER}/unbind')]
        t.equal(jobs[0].wait(90).status, 0, f'{what}: rmmod ends')
        jobs[1].wait(90)
        ipways.let_go(t, unplugged, mark)
        t.vm.sh(f'modprobe {module}', limit=60)
        ipways.plug(t, unplugged)
        if unbound != unplugged:
            ipways.audited(t, unbound, what)
            ipways.bind(t, unbound)
        if module == 'mlx4_ib':
            t.sm = ipnet.start_sm(t)
        for hca in (0, 1, ipnet.SM):
            ipways.back(t, hca, ipways.NEW)
        there(t, [0, 1, ipnet.SM], what)
        tools(t, [0, 1, ipnet.SM], what)
        talk(t, what)


def scenario(t):
    t.sm = ipnet.bring_up(t)
    ipnet.function(t, 0)
    talk(t, 'at the beginning')
    one(t, 0, 1)
    one(t, 1, 0)
    both(t)
    three_flows(t)
    ipnet.end(t)
