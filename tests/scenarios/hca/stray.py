# SPDX-License-Identifier: GPL-2.0-only
# scenario: the HCA driven by hand: it never writes to a register of a device, and marks are seen
# kernel: 6.12
# hcas: 1
# fabric: none
# cpus: 1
# limit: 120
# alone: yes
"""No driver is bound. A command's answer is aimed at memory, at the HCA's own BARs, and at no memory: only the first
gets it; each of the others is an error of the command and one violation, and nothing beside: no register hears of it."""
import rawhca

INTERNAL_ERROR = 1
WORK = r'''
import ctypes
page = mmap.mmap(-1, 4096)
page[:] = bytes(4096)
libc = ctypes.CDLL(None)
where = ctypes.addressof(ctypes.c_char.from_buffer(page))
libc.mlock(ctypes.c_void_p(where), 4096)
with open('/proc/self/pagemap', 'rb') as text:
    text.seek(where // 4096 * 8)
    frame = struct.unpack('<Q', text.read(8))[0] & (1 << 55) - 1
print(query_fw(frame * 4096), struct.unpack('>H', page[6:8])[0])
for address in (bars[0] + 0xf0000, bars[2] + 0x3000, 0xfee00000, 1 << 45):
    print(query_fw(address))
store(0xf0ff4, 0x1234)
'''


def ask(t, what):
    return t.vm.qmp.command('qom-get', path='/machine/peripheral/hca0', property=what)


def scenario(t):
    memory, *elsewhere = rawhca.run(t, WORK).splitlines()
    t.equal(memory.split(), ['0', '42'], 'an answer in memory: firmware 42')
    t.equal(elsewhere, [str(INTERNAL_ERROR)] * 4, 'at its BARs, at the interrupt controller, at nothing: it fails')
    seen = t.stage.hcas.violations()
    t.ok(len(seen) == 4 and all('violation dma-fault' in x for x in seen), 'each is one violation', '\n'.join(seen))
    t.ok('dma-fault 4' in ask(t, 'violations'), 'which is counted', ask(t, 'violations'))
    t.ok('mark 1' in ask(t, 'counts').splitlines(), 'so is a mark', ask(t, 'counts'))
    with open(t.stage.hcas.log_path(0, 'hca0'), encoding='utf-8') as log:
        t.ok(any('mark 4660 at' in line for line in log), 'which is a line of the log')
