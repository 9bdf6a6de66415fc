# SPDX-License-Identifier: GPL-2.0-only
# scenario: rdma_cm between two net namespaces on different HCAs: rping, ucmatose, mckey
# kernel: 6.12 6.1
# hcas: 2
# fabric: one pcap
# limit: 240
"""In-tree modules and unmodified programs; tshark finds the handshake in the capture."""
import os
import re
import subprocess

import channel
import ib


def connect(t, server, client, good, name):
    """Server in namespace b, client in a; the client's status and, if given, its words decide."""
    job = t.vm.start_sh(f'exec ip netns exec b {server}')
    t.vm.sh('sleep 2')
    got = t.vm.sh(f'ip netns exec a {client}', check=False, limit=60)
    try:
        done = job.wait(20)
    except channel.TimeLimit:
        job.kill()
        done = None
    t.ok(not got.status and (not good or re.search(good, got.out)), name, ib.words(got, done))


def multicast(t):
    """A group of rdma_cm: what one HCA sends the other receives."""
    job = t.vm.start_sh('exec ip netns exec b mckey -m 224.0.0.77 -b 10.1.0.2 -C 5')
    t.vm.sh('sleep 3')
    got = t.vm.sh('ip netns exec a mckey -m 224.0.0.77 -b 10.1.0.1 -s -C 5', check=False, limit=60)
    try:
        done = job.wait(40)
    except channel.TimeLimit:
        job.kill()
        done = None
    t.ok(not got.status and done and not done.status, 'mckey: five datagrams to a group',
         ib.words(got, done))


def handshake(t):
    file = os.path.join(t.stage.folder, 'fabric-a.pcap')

    def count(expression):
        done = subprocess.run(['tshark', '-r', file, '-Y', expression], capture_output=True,
                              text=True, check=True)
        return len(done.stdout.splitlines())
    t.equal(count('_ws.malformed'), 0, 'tshark finds no malformed packet')
    for attribute, name in ((0x10, 'ConnectRequest'), (0x13, 'ConnectReply'), (0x14, 'ReadyToUse'),
                            (0x15, 'DisconnectRequest'), (0x16, 'DisconnectReply')):
        t.ok(count(f'infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == {attribute}'),
             f'the capture has a {name}')


def scenario(t):
    ib.bring_up(t, 'mlx4_ib ib_umad ib_uverbs rdma_ucm ib_ipoib')
    ib.namespaces(t)
    t.vm.sh('ip netns exec a ping -c 1 -W 5 10.1.0.2')
    connect(t, 'rping -s -a 10.1.0.2 -C 20 -V', 'rping -c -a 10.1.0.2 -C 20 -V', '',
            'rping: 20 rounds, verified')
    connect(t, 'ucmatose -b 10.1.0.2', 'ucmatose -s 10.1.0.2', 'return status 0',
            'ucmatose: connections and data')
    multicast(t)
    handshake(t)
