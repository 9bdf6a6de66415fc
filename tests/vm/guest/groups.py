#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""groups.py hold|churn NUMBER FILE: groups in the multicast lists of all IPoIB interfaces of a namespace.

`hold` adds them; `churn` adds and takes them away until it is killed. `ip maddr` cannot: it knows six bytes,
and the address of a group is the interface's twenty. FILE says how many times a list was changed so far.
"""
import fcntl
import os
import socket
import struct
import sys
import time

SIOCADDMULTI, SIOCDELMULTI = 0x8931, 0x8932
LENGTH = 20


def address(number):
    """The broadcast address of the default partition, but for the group: 10.0.x.x in IPv4's notation."""
    return bytes.fromhex('00ffffff ff12401b ffff0000 00000000 0a00') + struct.pack('>H', number)


def interfaces():
    for _, name in socket.if_nameindex():
        try:
            with open(f'/sys/class/net/{name}/addr_len', encoding='ascii') as file:
                if int(file.read()) == LENGTH:
                    yield name
        except OSError:
            pass    # it has gone meanwhile


def change(sock, request, name, number):
    """Whether it was; an interface may go at any moment."""
    try:
        fcntl.ioctl(sock, request, struct.pack('16sH20s', name.encode(), socket.AF_UNSPEC, address(number)) + bytes(2))
        return True
    except OSError:
        return False


def main(how, number, path):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    done = 0
    while True:
        for request in (SIOCADDMULTI, SIOCDELMULTI)[:1 if how == 'hold' else 2]:
            done += sum(change(sock, request, name, n) for name in list(interfaces()) for n in range(number))
            with open(path + '.new', 'w', encoding='ascii') as file:
                print(done, file=file)
            os.rename(path + '.new', path)
            if how == 'hold':
                return
            time.sleep(0.1)


if __name__ == '__main__':
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
