# SPDX-License-Identifier: GPL-2.0-only
# scenario: an HCA leaves in 20 drawn ways under pings, streams, changing groups and restarts of opensm
# kernel: 6.12 debug
# image: bzImage
# hcas: 3
# fabric: one
# modules: ours
# qemu: -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
# limit: 1500
# alone: yes
"""The seed is in the name of the first point; IPOIB_SEED chooses another, IPOIB_ROUNDS how many rounds.

A round draws the HCA that leaves, the way, when it leaves, and whether opensm is started anew in the
meantime. What takes every HCA (X1, X7, X8) is no trial of the witness, a ping between the other HCA and the
subnet manager's, which else loses nothing.
"""
import os
import random

import ipnet
import ipways

LOOPS = (
    # a stream, a flood, groups that come and go; each begins anew when its interface is back
    ('h0p1', 'iperf3 -t 600 -c 10.1.0.11'), ('h1p1', 'iperf3 -s -1'),
    ('h0p2', 'ping -q -f -c 5000 -W 1 10.1.0.12'), ('h1p2', 'ping -q -f -c 5000 -W 1 10.1.0.2'),
)
CHURNED = ('h0p1', 'h1p1')


def load(t):
    for space, what in LOOPS:
        t.vm.start_sh(f'exec >/dev/null 2>&1; while :; do ip netns exec {space} {what}; sleep 0.3; done')
    for space in CHURNED:
        ipnet.groups(t, space, 'churn', 4)


def restart_sm(t):
    t.sm.kill(9)
    t.sm.wait(60)
    t.sm = ipnet.start_sm(t)


def a_round(t, number, way, drawn):
    hca = drawn.choice((0, 1))
    other = 1 - hca
    what = f'{number}: {way.__name__} of HCA {hca}'
    alone = way not in (ipways.driver, ipways.suspend, ipways.client)
    witness = [ipnet.Stream(t, (other, 1), (ipnet.SM, 1))] if alone else []
    t.vm.sh(f'sleep {drawn.uniform(0.6, 1.6):.3f}')
    became = way(t, hca)
    if way in ipways.ENDS_SM or drawn.random() < 0.3:
        restart_sm(t)
    ipways.back(t, hca, became)
    if witness:
        ipnet.no_loss(t, witness, what)
    for a, b in (((hca, 1), (other, 1)), ((other, 2), (hca, 2))):
        got = ipnet.ping(t, a, b, 3)
        t.ok(ipnet.lossless(got), f'{what}: {ipnet.space(*a)} and {ipnet.space(*b)} talk', got.out + got.err)


def scenario(t):
    seed = int(os.environ.get('IPOIB_SEED') or random.SystemRandom().randrange(10 ** 6))
    rounds = int(os.environ.get('IPOIB_ROUNDS') or 20)
    drawn = random.Random(seed)
    t.sm = ipnet.bring_up(t)
    t.ok(True, f'{rounds} rounds, drawn with IPOIB_SEED={seed}')
    ways = []
    load(t)
    for number in range(1, rounds + 1):
        # each way once before one comes again
        ways = ways or drawn.sample(ipways.EVERY, len(ipways.EVERY))
        a_round(t, number, ways.pop(), drawn)
    for space in CHURNED:
        changed = ipnet.groups_changed(t, space)
        t.ok(changed >= 8 * rounds, f'groups came and went in {space} all the time', f'{changed} changes')
    t.equal(t.vm.sh('cat /sys/kernel/debug/infiniband/quarantine').out, '', 'nobody is in quarantine')
    ipnet.end(t)
