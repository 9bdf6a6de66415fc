# SPDX-License-Identifier: GPL-2.0-only
# scenario: programs that have a device open, mapped, polled and read lose it at once, and nobody waits
# kernel: 6.12 6.1 debug
# modules: ours
# limit: 120
# alone: yes
"""Revocation of user files as a program sees it: fd, poll, sleeping read, mmap, fork, late calls."""
import json

import fake

PROGRAM = r'''
import errno, json, mmap, os, select, threading

DEVICE, OTHER = '/dev/lastref_vfake_0', '/dev/lastref_vfake_1'
UNBIND, BIND = ('/sys/bus/platform/drivers/lastref_fake/' + x for x in ('unbind', 'bind'))
seen = {}


def what(call, *args):
    """The result of a call, or the name of its error."""
    try:
        return call(*args)
    except OSError as error:
        return errno.errorcode[error.errno]


def mapped(path):
    fd = os.open(path, os.O_RDWR)
    return fd, mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)


def write(path, text):
    with open(path, 'w') as file:
        file.write(text)


fd, page = mapped(DEVICE)
fd2, page2 = mapped(DEVICE)
other, page3 = mapped(OTHER)
untouched = mmap.mmap(fd, 4096, mmap.MAP_SHARED)
seen['private'] = what(lambda: mmap.mmap(fd, 4096, mmap.MAP_PRIVATE))
seen['before'] = [page[0], page[4095], page2[0], page3[0]]
seen['write'] = [what(os.write, fd, b'\x5a'), page[0], page2[0]]
poll = select.poll()
poll.register(fd, select.POLLIN)
seen['poll before'] = poll.poll(0)

# a sleeper in read() and one in poll()
ended = {}
sleepers = [threading.Thread(target=lambda: ended.update(read=what(os.read, fd2, 1))),
            threading.Thread(target=lambda: ended.update(poll=poll.poll()[0][1]))]
for thread in sleepers:
    thread.start()

# a child with the same mapping, which looks when it is told to
ask, answer = os.pipe(), os.pipe()
child = os.fork()
if not child:
    os.read(ask[0], 1)
    os.write(answer[1], bytes([page[0], page2[0]]))
    os._exit(0)

write(UNBIND, 'lastref_fake.0')
seen['device'] = os.path.exists(DEVICE)
for thread in sleepers:
    thread.join(20)
seen['alive'] = [thread.is_alive() for thread in sleepers]
seen['ended'] = ended
seen['after'] = [page[0], page[4095], page2[0], untouched[0], page3[0]]
page[0] = 7
seen['own'] = [page[0], page2[0]]
os.write(ask[1], b'x')
seen['child'] = list(os.read(answer[0], 2))
os.waitpid(child, 0)
seen['late'] = [what(os.write, fd, b'x'), what(os.read, fd, 1),
                what(lambda: mmap.mmap(fd, 4096, mmap.MAP_SHARED))]
seen['other'] = what(os.write, other, b'\x11'), page3[0]

# the next incarnation, beside what is left of the last
write(BIND, 'lastref_fake.0')
fd4, page4 = mapped(DEVICE)
seen['again'] = [page4[0], page[0], page2[0], what(os.write, fd, b'x'), what(os.write, fd4, b'\x22'), page4[0]]
print(json.dumps(seen))
'''

HUNG = 0x19         # POLLIN, POLLERR, POLLHUP


def scenario(t):
    fake.load(t)
    t.vm.put(PROGRAM.encode(), '/run/files.py')
    seen = json.loads(t.vm.sh('python3 /run/files.py', limit=90).out)
    t.equal(seen['private'], 'EINVAL', 'a private mapping is refused')
    t.equal(seen['before'], [0xa5] * 4, 'the page of the hardware is mapped')
    t.equal(seen['write'], [1, 0x5a, 0x5a], 'a call reaches it, and all mappings show it')
    t.equal(seen['poll before'], [], 'nothing to read')
    t.equal(seen['device'], False, 'the char device is gone when unbind has returned')
    t.equal(seen['alive'], [False, False], 'who slept in read() and in poll() has woken')
    t.equal(seen['ended'].get('read'), 'EIO', 'read() says EIO')
    t.ok(seen['ended'].get('poll', 0) & HUNG == HUNG, 'poll() says POLLERR and POLLHUP', str(seen['ended']))
    t.equal(seen['after'], [0, 0, 0, 0, 0xa5], 'zeros in every mapping of this device, none of the other')
    t.equal(seen['own'], [7, 0], 'what is written then is seen through that mapping alone')
    t.equal(seen['child'], [7, 0], 'a child that was forked before has lost it too')
    t.equal(seen['late'], ['EIO', 'EIO', 'EIO'], 'late calls say EIO')
    t.equal(seen['other'], [1, 0x11], 'the other HCA works')
    t.equal(seen['again'], [0xa5, 7, 0, 'EIO', 1, 0x22], 'the next incarnation is another device')
    fake.unload(t)
    t.ok(True, 'the modules leave')
