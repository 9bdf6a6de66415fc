# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's log of a guest: its records in order, and what in them means that a test failed."""
import re
import threading
import time

# What a clean run never says: name, and the expression that finds it. The first match names it.
DETECTORS = [(name, re.compile(expression)) for name, expression in (
    ('kasan', r'BUG: KASAN:|KASAN: (null-ptr|maybe|probably)'),
    ('kcsan', r'BUG: KCSAN:'),
    ('ubsan', r'\bUBSAN:'),
    ('atomic', r'sleeping function called from invalid context|scheduling while atomic'
               r'|BUG: using .* in preemptible'),
    ('lockdep', r'WARNING: (possible|inconsistent|bad unlock|held lock|lock held|Nested lock'
                r'|suspicious RCU|bad contention|nested)|possible (circular|recursive|irq lock)'
                r'|Invalid wait context|trying to register non-static key'
                r'|turning off the locking correctness|DEBUG_LOCKS_WARN_ON'
                r'|BUG: MAX_(LOCKDEP|LOCK|STACK)'
                r'|lock held at (task exit|return)|process still has locks held'),
    ('refcount', r'refcount_t:'),
    ('list', r'list_(add|del)\w*( double add| corruption)|list_\w+ corruption|plist .* BUG'),
    ('dma-api', r'DMA-API: (?!preallocated|debugging (enabled|disabled)|dma_debug_entry pool grown'
                r'|driver filter)'),
    ('objects', r'ODEBUG: (?!selftest passed)'),
    ('netdev', r'unregister_netdevice: waiting'),
    ('reference', r'ref_tracker: '),
    ('hung', r'INFO: task .* blocked|blocked for more than'),
    ('stall', r'rcu.*(detected stalls|self-detected stall|kthread starved|expedited stalls)'),
    ('lockup', r'BUG: (soft|hard) lockup|BUG: workqueue lockup|hard LOCKUP'),
    ('slab', r'still has objects|Objects remaining in|Redzone overwritten|Poison overwritten'
             r'|Object already free|Wrong object count|Invalid object pointer'),
    ('memory', r'BUG: Bad (page|rss-counter)|page dumped because: (?!kasan)'),
    ('kmemleak', r'kmemleak: .*(suspected memory leak|disabled|Cannot|unknown object|Not scanning)'),
    ('oops', r'Oops: |general protection fault|BUG: unable to handle|BUG: kernel NULL pointer'
             r'|Kernel panic|stack-protector|double fault|Unable to handle kernel'),
    ('bug', r'kernel BUG at|\bBUG[: ]'),
    ('warning', r'\bWARNING: |^WARNING\b'),
)]
NAMES = {name for name, _ in DETECTORS} | {'gap', 'taint', 'leak', 'task', 'died'}
CUT = re.compile(r'-+\[ cut here \]-+')
END = re.compile(r'---\[ end (trace|Kernel panic)')
WEAK = ('warning', 'bug')           # what a block is called when nothing in it says it better
ESCAPE = re.compile(r'\\x([0-9a-f]{2})')


def classify(line):
    """Name of the detector that this line of the kernel sets off, or None."""
    for name, expression in DETECTORS:
        if expression.search(line):
            return name
    return None


class Splat:
    """One complaint of the kernel: the detector's name, and the lines that set it off."""

    def __init__(self, name, lines):
        self.name, self.lines = name, lines

    def __str__(self):
        return f'{self.name}: {self.lines[0]}'


def splats(lines):
    """The complaints among some lines. What stands between `cut here` and `end trace` is one."""
    found, block = [], None
    for line in lines:
        if CUT.search(line):
            block = Splat('warning', [])
            found.append(block)
            continue
        if END.search(line):
            block = None
        name = classify(line)
        if name is None:
            if block is not None and not block.lines:
                block.lines.append(line)             # the words of a WARN() come first
            continue
        if block is None or len(block.lines) > 8:
            found.append(Splat(name, [line]))
            continue
        if block.name in WEAK and name not in WEAK:
            block.name = name
            block.lines.insert(0, line)
        else:
            block.lines.append(line)
    for splat in found:
        if not splat.lines:
            splat.lines.append('[ cut here ]')
    return found


class KernelLog:
    """Records of /dev/kmsg as they come in. Every method may be called from any thread."""

    def __init__(self, path):
        self._file = open(path, 'w', encoding='utf-8', buffering=1)
        self._change = threading.Condition()
        self._lines = []            # (from the kernel itself?, text)
        self._seq = None
        self._gaps = []
        self._boots = 0             # boots to come: records that may begin at 0 again
        self.guest_ns = 0           # the guest's monotonic clock, about a second old at most
        self.heard = time.monotonic()

    def record(self, data):
        """One record as read(2) gave it: prio,seq,us,flags;text and then lines of fields."""
        head, _, text = data.decode('utf-8', 'replace').partition(';')
        prio, seq, stamp = (int(n) for n in head.split(',')[:3])
        text = text.split('\n', 1)[0]
        text = ESCAPE.sub(lambda m: chr(int(m.group(1), 16)), text)
        with self._change:
            if seq == 0 and self._boots:
                self._boots -= 1
            elif self._seq is not None and seq != self._seq + 1:
                self._gap(f'the kernel log jumps from record {self._seq} to {seq}')
            self._seq = seq
            for line in text.split('\n'):
                self._lines.append((prio >> 3 == 0, line))
                self._file.write(f'<{prio & 7}>[{stamp / 1e6:12.6f}] {line}\n')
            self._change.notify_all()

    def expect_boot(self):
        """The guest is about to start anew: its records will be counted from 0 once more."""
        with self._change:
            self._boots += 1

    def lost(self):
        """The guest was told that records were overwritten before it read them."""
        with self._change:
            self._gap(f'the kernel log ran over after record {self._seq}')
            self._change.notify_all()

    def _gap(self, text):
        self._gaps.append((len(self._lines), text))
        self._file.write(f'*** {text}\n')

    def tick(self, nanoseconds):
        with self._change:
            self.guest_ns = nanoseconds
            self.heard = time.monotonic()

    def position(self):
        with self._change:
            return len(self._lines)

    def lines(self, since=0):
        """The kernel's own lines from a position on."""
        with self._change:
            return [text for kernel, text in self._lines[since:] if kernel]

    def gaps(self, since=0):
        with self._change:
            return [text for at, text in self._gaps if at >= since]

    def splats(self, since=0):
        """All complaints from a position on, gaps among them."""
        return [Splat('gap', [g]) for g in self.gaps(since)] + splats(self.lines(since))

    def wait_line(self, text, since=0, limit=60):
        """Wait until a line holds this text, whoever wrote it. True if one does."""
        at = since
        end = time.monotonic() + limit
        with self._change:
            while True:
                for _, line in self._lines[at:]:
                    if text in line:
                        return True
                at = len(self._lines)
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self._change.wait(left)

    def close(self):
        with self._change:
            if not self._file.closed:
                self._file.close()
