# SPDX-License-Identifier: GPL-2.0-only
"""The host's side of the agent's protocol (see guest/agent.h): commands in the guest."""
import os
import signal
import struct
import threading
import time

EXEC, STDIN, SIGNAL, PUT, GET = range(1, 6)
HELLO, STDOUT, STDERR, EXIT, KMSG, LOST, TICK = range(16, 23)
HEAD = struct.Struct('<III')
FRAME_MAX = 65536


class GuestGone(Exception):
    """The guest or its agent does not answer any more."""


class TimeLimit(Exception):
    """A command took longer than it may."""


def frames(sock):
    """Every frame that comes: (type, job, payload); ends with the connection."""
    stream = sock.makefile('rb')
    while True:
        head = stream.read(HEAD.size)
        if len(head) < HEAD.size:
            return
        kind, job, size = HEAD.unpack(head)
        yield kind, job, stream.read(size)


class Result:
    """How a command ended: exit status (128 + signal as the shell has it), output, errors."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __bool__(self):
        return self.status == 0


class Job:
    """A command in the guest. Collects what it writes."""

    def __init__(self, channel, number, text):
        self._channel, self.number, self.text = channel, number, text
        self._out, self._err = [], []
        self.status = None
        self.watch = None               # called with each piece of standard output

    def _take(self, kind, data):
        if kind == STDOUT:
            self._out.append(data)
            if self.watch:
                self.watch(data)
        elif kind == STDERR:
            self._err.append(data)
        else:
            status = struct.unpack('<i', data)[0]
            self.status = os.waitstatus_to_exitcode(status)
            if self.status < 0:
                self.status = 128 - self.status

    @property
    def out(self):
        return b''.join(self._out).decode('utf-8', 'replace')

    @property
    def err(self):
        return b''.join(self._err).decode('utf-8', 'replace')

    def stdin(self, data):
        """Give it input; an empty piece closes it."""
        self._channel.send(STDIN, self.number, data)

    def kill(self, number=signal.SIGKILL):
        """Send a signal to the command and to what it started."""
        if self.status is None:
            self._channel.send(SIGNAL, self.number, bytes([number]))

    def wait(self, limit=60):
        """Wait for its end, at most `limit` seconds of the machine's Clock."""
        return self._channel.wait(self, limit)


class Clock:
    """Time as a machine could have used it: what its threads spent waiting for a CPU of the host does
    not count, so that a host with other work to do does not fail a test."""

    def __init__(self, pid):
        self._tasks = f'/proc/{pid}/task'

    def _waited(self):
        found = {}
        try:
            for task in os.listdir(self._tasks):
                with open(f'{self._tasks}/{task}/schedstat', encoding='ascii') as text:
                    found[task] = int(text.read().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            pass                                     # it is gone, or the host does not count this
        return found

    def start(self):
        """Begin to measure; the result is for passed()."""
        return time.monotonic(), self._waited()

    def passed(self, start):
        """Seconds since start(), without the longest time that a thread waited for a CPU."""
        begin, waited = start
        lost = [now - waited[task] for task, now in self._waited().items() if task in waited]
        return time.monotonic() - begin - max(lost, default=0.0)


class Channel:
    """Commands over one port. May be used from several threads."""

    def __init__(self, sock, clock):
        self._sock, self._clock = sock, clock
        self._send_lock = threading.Lock()
        self._change = threading.Condition()
        self._jobs = {}
        self._next = 0
        self.release = None
        self.gone = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for kind, number, data in frames(self._sock):
                with self._change:
                    if kind == HELLO:
                        self._jobs.clear()           # of the kernel before, if it is not the first
                        self.release = data.decode()
                    elif number in self._jobs:
                        self._jobs[number]._take(kind, data)
                    self._change.notify_all()
        except OSError:
            pass
        with self._change:
            self.gone = True
            self._change.notify_all()

    def send(self, kind, number, data):
        with self._send_lock:
            try:
                self._sock.sendall(HEAD.pack(kind, number, len(data)) + data)
            except OSError as why:
                raise GuestGone(str(why)) from why

    def expect_boot(self):
        """The guest is about to start anew: what runs in it ends unheard, and hello comes again."""
        with self._change:
            self.release = None

    def wait_hello(self, limit, alive):
        """Wait for the agent's first word; `alive` tells whether it can still come."""
        start = self._clock.start()
        with self._change:
            while self.release is None:
                if self.gone or not alive():
                    raise GuestGone('the virtual machine ended before its first command')
                if self._clock.passed(start) > limit:
                    raise GuestGone(f'the virtual machine was not up after {limit} s')
                self._change.wait(0.5)

    def start(self, argv, watch=None):
        """Start a command; does not wait."""
        return self._begin(EXEC, argv, argv[-1], watch)

    def _begin(self, kind, words, text, watch=None):
        payload = b''.join(os.fsencode(w) + b'\0' for w in words)
        if len(payload) > FRAME_MAX:
            raise ValueError('the command is too long')
        with self._change:
            self._next += 1
            job = Job(self, self._next, text)
            job.watch = watch
            self._jobs[job.number] = job
        self.send(kind, job.number, payload)
        return job

    def put(self, data, path, mode=0o644, limit=60):
        """Write a file; no process is started for it."""
        job = self._begin(PUT, [f'{mode:o}', path], f'writing {path}')
        for at in range(0, len(data), 32768):
            job.stdin(data[at:at + 32768])
        job.stdin(b'')
        return job.wait(limit)

    def get(self, path, limit=60):
        """Read a file; no process is started for it."""
        return self._begin(GET, [path], f'reading {path}').wait(limit)

    def wait(self, job, limit):
        """Wait for the end of a command, at most `limit` seconds of the machine's Clock."""
        start = self._clock.start()
        with self._change:
            while job.status is None:
                if self.gone:
                    raise GuestGone(f'the virtual machine ended during: {job.text}')
                if self._clock.passed(start) > limit:
                    raise TimeLimit(f'over {limit} s: {job.text}')
                self._change.wait(0.5)
        return Result(job.status, job.out, job.err)

    def unfinished(self):
        """The commands that have not ended."""
        with self._change:
            return [j for j in self._jobs.values() if j.status is None]
