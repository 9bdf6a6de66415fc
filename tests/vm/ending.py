# SPDX-License-Identifier: GPL-2.0-only
"""What is undone when this program ends, also if a signal ends it: make check ends its parts by SIGTERM.

Python runs nothing of atexit then, and a program in a session of its own hears nothing of it.
"""
import atexit
import contextlib
import os
import signal

_UNDO = []


def _undo_all():
    while _UNDO:
        with contextlib.suppress(Exception):
            _UNDO.pop()()


@contextlib.contextmanager
def at_the_latest(call):
    """Call it at the end of the block, or of the program if that comes first; the last one before the others."""
    _UNDO.append(call)
    try:
        yield
    finally:
        if call in _UNDO:                         # else the program is ending, and has called it
            _UNDO.remove(call)
            call()


def _ended(number, _frame):
    _undo_all()
    os._exit(128 + number)


def heed():
    """For the main thread, before it begins."""
    signal.signal(signal.SIGTERM, _ended)


atexit.register(_undo_all)
