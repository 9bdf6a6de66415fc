# SPDX-License-Identifier: GPL-2.0-only
# scenario: rdma_cm between two net namespaces on different HCAs: rping, ucmatose, mckey
# kernel: 6.12 6.1
# hcas: 2
# fabric: one pcap
# limit: 240
"""In-tree modules and unmodified programs; tshark says what each packet of the capture is."""
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


# What each packet of the capture may be: opcode of the base transport header, what tshark found behind it.
RC = {**dict.fromkeys((0, 1, 2, 4), 'send'), **dict.fromkeys((6, 7, 8, 10), 'RDMA write'), 12: 'RDMA read',
      **dict.fromkeys((13, 14, 15, 16), 'read response'), 17: 'acknowledge'}
UD, UD_IMMEDIATE = 100, 101
CM = {0x10: 'ConnectRequest', 0x13: 'ConnectReply', 0x14: 'ReadyToUse', 0x15: 'DisconnectRequest',
      0x16: 'DisconnectReply'}


def kind(row):
    """What tshark takes a packet for; None if it is nothing that was sent here."""
    layers, opcode, bad, management, attribute = row
    names = layers.split(':')
    if names[:2] != ['erf', 'infiniband'] or bad or not opcode:
        return None
    if management:
        return CM.get(int(attribute, 0), 'CM') if int(management, 0) == 7 else 'MAD'
    if int(opcode) == UD and 'ethertype' in names:
        return names[names.index('ethertype') + 1] + (' ping' if 'icmp' in names else '')
    return RC.get(int(opcode)) or ('mckey' if int(opcode) == UD_IMMEDIATE else None)


def capture(t):
    """Every packet is to tshark what it was to who sent it."""
    fields = ('frame.protocols', 'infiniband.bth.opcode', '_ws.malformed', 'infiniband.mad.mgmtclass',
              'infiniband.mad.attributeid')
    done = subprocess.run(['tshark', '-r', os.path.join(t.stage.folder, 'fabric-a.pcap'), '-T', 'fields',
                           *(x for f in fields for x in ('-e', f))], capture_output=True, text=True, check=True)
    rows = [line.split('\t') for line in done.stdout.splitlines()]
    found = {}
    for number, row in enumerate(rows, 1):
        found.setdefault(kind(row), []).append(number)
    strange = [f'packet {n}: {rows[n - 1]}' for n in found.get(None, [])]
    t.equal(strange[:10], [], f'tshark knows what each of {len(rows)} packets is, and finds none malformed')
    t.note(', '.join(f'{len(n)} {name}' for name, n in found.items()))
    for name, least in (('MAD', 100), ('arp', 2), ('ip ping', 2), *((x, 20) for x in dict.fromkeys(RC.values())),
                        *((x, 1) for x in CM.values())):
        t.ok(len(found.get(name, [])) >= least, f'the capture has {name}: {len(found.get(name, []))}')


def scenario(t):
    ib.bring_up(t, 'mlx4_ib ib_umad ib_uverbs rdma_ucm ib_ipoib')
    ib.namespaces(t)
    t.vm.sh('ip netns exec a ping -c 1 -W 5 10.1.0.2')
    connect(t, 'rping -s -a 10.1.0.2 -C 20 -V', 'rping -c -a 10.1.0.2 -C 20 -V', '',
            'rping: 20 rounds, verified')
    connect(t, 'ucmatose -b 10.1.0.2', 'ucmatose -s 10.1.0.2', 'return status 0',
            'ucmatose: connections and data')
    multicast(t)
    capture(t)
