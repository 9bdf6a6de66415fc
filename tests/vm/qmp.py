# SPDX-License-Identifier: GPL-2.0-only
"""The QEMU machine protocol: commands and events over a Unix socket."""
import json
import socket
import threading
import time


class QmpError(Exception):
    """QEMU refused a command, or went away."""


class Qmp:
    """A connection to one QEMU. Events are kept until somebody asks for them."""

    def __init__(self, sock):
        self._sock = sock
        self._send_lock = threading.Lock()
        self._change = threading.Condition()
        self._answers = {}
        self._events = []
        self._next = 0
        self._closed = False
        self._file = sock.makefile('r', encoding='utf-8')
        self._file.readline()                        # the greeting
        threading.Thread(target=self._read, daemon=True).start()
        self.command('qmp_capabilities')

    def _read(self):
        try:
            for line in self._file:
                message = json.loads(line)
                with self._change:
                    if 'event' in message:
                        self._events.append(message)
                    else:
                        self._answers[message.get('id')] = message
                    self._change.notify_all()
        except (OSError, ValueError):
            pass
        with self._change:
            self._closed = True
            self._change.notify_all()

    def command(self, name, limit=60, **arguments):
        """Run a command and return what it returns; raises QmpError with QEMU's own words."""
        with self._send_lock:
            self._next += 1
            number = self._next
            text = json.dumps({'execute': name, 'arguments': arguments, 'id': number})
            try:
                self._sock.sendall(text.encode() + b'\n')
            except OSError as why:
                raise QmpError(f'{name}: QEMU is gone ({why})') from why
        with self._change:
            self._change.wait_for(lambda: number in self._answers or self._closed, limit)
            answer = self._answers.pop(number, None)
        if answer is None:
            raise QmpError(f'{name}: no answer from QEMU')
        if 'error' in answer:
            raise QmpError(f"{name}: {answer['error'].get('desc')}")
        return answer.get('return')

    def hmp(self, line):
        """Run a command of the human monitor, for what QMP has no command of its own."""
        return self.command('human-monitor-command', **{'command-line': line})

    def mark(self):
        """Position in the row of events, for wait_event()."""
        with self._change:
            return len(self._events)

    def wait_event(self, name, since=0, limit=30, **fields):
        """The first event of that name after position `since` whose data has these fields."""
        end = time.monotonic() + limit

        def found():
            for event in self._events[since:]:
                data = event.get('data', {})
                if event['event'] == name and all(data.get(k) == v for k, v in fields.items()):
                    return event
            return None
        with self._change:
            while True:
                event = found()
                left = end - time.monotonic()
                if event or self._closed or left <= 0:
                    return event
                self._change.wait(left)

    def close(self):
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._sock.close()
